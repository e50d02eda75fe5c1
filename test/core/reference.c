/*-------------------------------------------------------------------------
 *
 * reference.c
 *		Sections 5 to 7 of docs/format.md once more: written to be read, not
 *		to be fast.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

static uint64_t
power_of_two(int n)
{
	uint64_t	power = 1;

	while (n-- > 0)
		power *= 2;
	return power;
}

/* v with all but the top P - 8 of its 40 bits taken as zero */
static uint64_t
cut_v(uint64_t v, int P)
{
	return v - v % power_of_two(48 - P);
}

RefEntry
ref_primary(uint64_t hash, int k, int P)
{
	RefEntry	entry;

	entry.a = hash / power_of_two(48) * (uint64_t) k / 65536;
	entry.perm = hash % 256;
	if (entry.perm == 0)
		entry.perm = 1;
	entry.v = cut_v(hash / 256 % power_of_two(40), P);
	return entry;
}

RefEntry
ref_alternate(RefEntry entry, int k, int P)
{
	const uint64_t m = entry.perm * entry.perm * UINT64_C(11400714819323198485);
	const uint64_t H = m / power_of_two(48) * (uint64_t) k / 65536;
	const uint64_t D = m / power_of_two(40) % 128 + 128;
	RefEntry	alternate = entry;

	alternate.a = (H + (uint64_t) k - entry.a) % (uint64_t) k;
	alternate.v = cut_v(entry.v ^ D * power_of_two(32), P);
	return alternate;
}

uint64_t
ref_prefix(RefEntry entry, int P)
{
	return entry.v / power_of_two(48 - P) * 256 + entry.perm;
}

uint64_t
ref_bucket(RefEntry entry, int k, int q, int P)
{
	const uint64_t index = ref_prefix(entry, P) / power_of_two(P - q);
	uint64_t	s;

	if (q <= 8)
		return entry.a * power_of_two(q) + index;
	s = index % power_of_two(q - 8);
	return (s * (uint64_t) k + entry.a) * 256 + index / power_of_two(q - 8);
}

uint64_t
ref_fingerprint(RefEntry entry, int q, int P)
{
	return ref_prefix(entry, P) % power_of_two(P - q);
}

uint64_t
ref_class_of_entry(RefEntry entry, int k, int P)
{
	const RefEntry other = ref_alternate(entry, k, P);
	const uint64_t one = entry.a * power_of_two(48) + ref_prefix(entry, P);
	const uint64_t two = other.a * power_of_two(48) + ref_prefix(other, P);

	return one < two ? one : two;
}

uint64_t
ref_class(uint64_t hash, int k, int P)
{
	return ref_class_of_entry(ref_primary(hash, k, P), k, P);
}

uint64_t
ref_class_cut(uint64_t class, int k, int P, int new_P)
{
	RefEntry	entry;

	entry.a = class / power_of_two(48);
	entry.perm = class % 256;
	entry.v = class % power_of_two(48) / 256 * power_of_two(48 - P);
	entry.v = cut_v(entry.v, new_P);
	return ref_class_of_entry(entry, k, new_P);
}

uint64_t
ref_hash_of(RefEntry entry, int k, int P, uint64_t noise)
{
	/* the hashes of column a begin at the smallest that scales down to it */
	uint64_t	top = (entry.a * 65536 + (uint64_t) k - 1) / (uint64_t) k;
	const uint64_t next = ((entry.a + 1) * 65536 + (uint64_t) k - 1) /
		(uint64_t) k;

	top += noise / power_of_two(48) % (next - top);
	return top * power_of_two(48) +
		(entry.v + noise % power_of_two(48 - P)) * 256 + entry.perm;
}

uint64_t
ref_get_bits(const uint8_t *bytes, uint64_t first, int nbits)
{
	uint64_t	value = 0;

	for (int i = nbits - 1; i >= 0; i--)
	{
		const uint64_t bit = first + (uint64_t) i;

		value = value * 2 + (bytes[bit / 8] >> bit % 8 & 1);
	}
	return value;
}

void
ref_set_bits(uint8_t *bytes, uint64_t first, int nbits, uint64_t value)
{
	for (int i = 0; i < nbits; i++)
	{
		const uint64_t bit = first + (uint64_t) i;

		if (value >> i & 1)
			bytes[bit / 8] = (uint8_t) (bytes[bit / 8] | 1 << bit % 8);
		else
			bytes[bit / 8] = (uint8_t) (bytes[bit / 8] & ~(1 << bit % 8));
	}
}

/* n over r */
static unsigned
choose(unsigned n, unsigned r)
{
	unsigned	result = 1;

	if (n < r)
		return 0;
	for (unsigned i = 1; i <= r; i++)
		result = result * (n - r + i) / i;
	return result;
}

/* The nibbles of each code, by the formula of section 5.3: 3,876 rows. */
const uint8_t (*ref_nibbles(void))[4]
{
	static uint8_t nibbles[3876][4];
	static bool is_filled = false;

	for (unsigned n0 = 0; !is_filled && n0 < 16; n0++)
	{
		for (unsigned n1 = n0; n1 < 16; n1++)
		{
			for (unsigned n2 = n1; n2 < 16; n2++)
			{
				for (unsigned n3 = n2; n3 < 16; n3++)
				{
					uint8_t    *const entry =
						nibbles[n0 + choose(n1 + 1, 2) + choose(n2 + 2, 3) +
								choose(n3 + 3, 4)];

					entry[0] = (uint8_t) n0;
					entry[1] = (uint8_t) n1;
					entry[2] = (uint8_t) n2;
					entry[3] = (uint8_t) n3;
				}
			}
		}
	}
	is_filled = true;
	return (const uint8_t (*)[4]) nibbles;
}

/* The code must be one of the 3,876. */
void
ref_read_bucket(const uint8_t *table, uint64_t bucket, int f, uint64_t *fps)
{
	const uint64_t first = bucket * (uint64_t) (4 * (f - 1));
	const uint64_t code = ref_get_bits(table, first, 12);

	for (int i = 0; i < 4; i++)
		fps[i] = ref_get_bits(table, first + 12 + (uint64_t) (i * (f - 4)),
							  f - 4) * 16 + ref_nibbles()[code][i];
}

void
ref_write_bucket(uint8_t *table, uint64_t bucket, int f, const uint64_t *fps)
{
	const uint64_t first = bucket * (uint64_t) (4 * (f - 1));
	uint64_t	code = 0;

	for (int i = 0; i < 4; i++)
	{
		code += choose((unsigned) (fps[i] % 16) + (unsigned) i,
					   (unsigned) i + 1);
		ref_set_bits(table, first + 12 + (uint64_t) (i * (f - 4)), f - 4,
					 fps[i] / 16);
	}
	ref_set_bits(table, first, 12, code);
}

/* m n / d without the product, which may be too large; exact. */
static int64_t
scaled(int64_t n, int64_t m, int64_t d)
{
	return n / d * m + n % d * m / d;
}

int64_t
ref_usable(int64_t nslots)
{
	const int64_t small = scaled(nslots, 24, 25) - 10;
	const int64_t large = scaled(nslots, 959, 1000);

	return small < large ? small : large;
}

/* Buckets that n entries need. */
uint64_t
ref_buckets(uint64_t n)
{
	const uint64_t small = ((n + 10) * 25 + 23) / 24;
	const uint64_t large = (n * 1000 + 958) / 959;

	return ((small > large ? small : large) + 3) / 4;
}

uint64_t
ref_table_bytes(int k, int q, int P)
{
	const uint64_t nbits = (uint64_t) k * power_of_two(q) * 4 *
		(uint64_t) (P - q - 1);

	return (nbits + 7) / 8 + 7;
}

/* The k and P of a capacity at a rate of e / 2^62. */
void
ref_shape(uint64_t capacity, uint64_t e, int *k, int *P)
{
	const uint64_t nbuckets = ref_buckets(capacity);
	int			Q = 0;

	while ((nbuckets + power_of_two(Q) - 1) / power_of_two(Q) > 127)
		Q++;
	*k = (int) ((nbuckets + power_of_two(Q) - 1) / power_of_two(Q));
	if (*k < 8)
		*k = 8;
	if (e > power_of_two(56))
		e = power_of_two(56);
	for (*P = Q + 9; *P <= 48; (*P)++)
	{
		if (129 * capacity <= e * (uint64_t) *k / power_of_two(56 - *P))
			break;
	}
}

void
ref_bag_free(RefBag *bag)
{
	free(bag->keys);
	free(bag->counts);
	memset(bag, 0, sizeof(*bag));
}

/* The slot of a key, or the empty one where it would go. */
static size_t
bag_slot(const RefBag *bag, uint64_t key)
{
	size_t		i = (size_t) (key * UINT64_C(0xD6E8FEB86659FD93) >> 32) &
		(bag->nslots - 1);

	while (bag->counts[i] != 0 && bag->keys[i] != key)
		i = (i + 1) & (bag->nslots - 1);
	return i;
}

int
ref_bag_count(const RefBag *bag, uint64_t key)
{
	return bag->nkeys == 0 ? 0 : bag->counts[bag_slot(bag, key)];
}

static void
bag_grow(RefBag *bag)
{
	RefBag		larger = {0};

	larger.nslots = bag->nslots == 0 ? 16 : 2 * bag->nslots;
	larger.keys = calloc(larger.nslots, sizeof(larger.keys[0]));
	larger.counts = calloc(larger.nslots, sizeof(larger.counts[0]));
	if (larger.keys == NULL || larger.counts == NULL)
		abort();
	for (size_t i = 0; i < bag->nslots; i++)
	{
		if (bag->counts[i] != 0)
			ref_bag_set(&larger, bag->keys[i], bag->counts[i]);
	}
	ref_bag_free(bag);
	*bag = larger;
}

void
ref_bag_set(RefBag *bag, uint64_t key, int count)
{
	size_t		i;

	if (2 * (bag->nkeys + 1) > bag->nslots)
		bag_grow(bag);
	i = bag_slot(bag, key);
	bag->total += (uint64_t) count - (uint64_t) bag->counts[i];
	if (bag->counts[i] == 0 && count > 0)
		bag->nkeys++;
	if (bag->counts[i] > 0 && count == 0)
		bag->nkeys--;
	bag->keys[i] = key;
	bag->counts[i] = count;

	/* put those behind an emptied slot in place again */
	while (count == 0)
	{
		size_t		place;
		int			moved;

		i = (i + 1) & (bag->nslots - 1);
		moved = bag->counts[i];
		if (moved == 0)
			break;
		bag->counts[i] = 0;
		place = bag_slot(bag, bag->keys[i]);
		bag->keys[place] = bag->keys[i];
		bag->counts[place] = moved;
	}
}

bool
ref_bag_equal(const RefBag *a, const RefBag *b)
{
	if (a->nkeys != b->nkeys || a->total != b->total)
		return false;
	for (size_t i = 0; i < a->nslots; i++)
	{
		if (a->counts[i] != 0 && ref_bag_count(b, a->keys[i]) != a->counts[i])
			return false;
	}
	return true;
}
