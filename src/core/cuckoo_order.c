/*-------------------------------------------------------------------------
 *
 * cuckoo_order.c
 *		Sorting and merging 64-bit keys, and sorting 32-bit entries.
 *
 * The keys are hashes, which nearly always are spread evenly: then their first
 * bits tell where each belongs but for a few places.  Ones that were chosen
 * not to be are sorted digit by digit, so that the time is linear whatever
 * they are.
 *
 * Reference: Knuth, The Art of Computer Programming 3, sections 5.2.1
 * (straight insertion, distribution counting) and 5.2.5 (radix sorting).
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_order.h"

/* So few keys are sorted by insertion at once. */
#define MAX_INSERTION_KEYS	24

/* The counters of so many groups stay in the first two caches. */
#define MAX_GROUP_BITS		13

/*
 * What a key may have to pass on average within its group, before digits are
 * the faster way.
 */
#define MAX_PASSED_KEYS		64

/*
 * From so many keys on they are distributed twice, by fewer bits each: what
 * one distribution of so many groups writes to would not stay in the cache.
 */
#define MIN_TWICE_KEYS		12288
#define TWICE_BITS			11

#define DIGIT_BITS			8
#define NDIGITS				(64 / DIGIT_BITS)

/* Entries are sorted by digits of so many bits, a few by shorter ones. */
#define ENTRY_DIGIT_BITS	12
#define FEW_ENTRIES			4096
#define FEW_DIGIT_BITS		8

static inline size_t
order_digit_of(uint64_t key, int digit)
{
	return key >> (digit * DIGIT_BITS) & cuckoo_low_bits(DIGIT_BITS);
}

/*
 * order_sort_by_insertion
 *		Sort keys that are near their places.
 */
static void
order_sort_by_insertion(uint64_t *keys, size_t nkeys)
{
	for (size_t i = 1; i < nkeys; i++)
	{
		const uint64_t key = keys[i];
		size_t		place = i;

		for (; place > 0 && keys[place - 1] > key; place--)
			keys[place] = keys[place - 1];
		keys[place] = key;
	}
}

/*
 * order_sort_by_digits
 *		Sort any keys, in place, with room for as many as help.
 *
 * From the last digit to the first; one that all keys have in common is
 * passed over.
 */
static void
order_sort_by_digits(uint64_t *keys, uint64_t *help, size_t nkeys)
{
	uint64_t   *from = keys;
	uint64_t   *to = help;

	for (int digit = 0; digit < NDIGITS; digit++)
	{
		size_t		ends[1 << DIGIT_BITS] = {0};
		size_t		place = 0;
		uint64_t   *const swap = from;

		for (size_t i = 0; i < nkeys; i++)
			ends[order_digit_of(from[i], digit)]++;
		if (ends[order_digit_of(from[0], digit)] == nkeys)
			continue;

		for (size_t i = 0; i < 1 << DIGIT_BITS; i++)
		{
			const size_t count = ends[i];

			ends[i] = place;
			place += count;
		}
		for (size_t i = 0; i < nkeys; i++)
			to[ends[order_digit_of(from[i], digit)]++] = from[i];
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, nkeys * sizeof(uint64_t));
}

/*
 * order_distribute
 *		Put each key into another array, within its group.
 *
 * A group is what has the same first bits, after the first_bit that all have
 * in common.  Returns false, with nothing done, if the keys are so uneven that
 * sorting the groups by insertion would be slow.
 */
static bool
order_distribute(const uint64_t *keys, uint64_t *sorted, size_t nkeys,
				 int first_bit)
{
	uint32_t	ends[1 << MAX_GROUP_BITS];
	int			group_bits = 1;
	int			shift;
	uint32_t	place = 0;
	uint64_t	npassed = 0;

	if (nkeys > UINT32_MAX)
		return false;

	/* two to four keys in each, if there are counters for so many groups */
	while (group_bits < MAX_GROUP_BITS && nkeys >> (group_bits + 2) > 0)
		group_bits++;
	shift = 64 - first_bit - group_bits;

	memset(ends, 0, sizeof(ends[0]) << group_bits);
	for (size_t i = 0; i < nkeys; i++)
		ends[keys[i] >> shift & cuckoo_low_bits(group_bits)]++;
	for (size_t i = 0; i < (size_t) 1 << group_bits; i++)
	{
		const uint32_t count = ends[i];

		npassed += (uint64_t) count * count;
		ends[i] = place;
		place += count;
	}
	if (npassed / MAX_PASSED_KEYS > nkeys)
		return false;

	for (size_t i = 0; i < nkeys; i++)
		sorted[ends[keys[i] >> shift & cuckoo_low_bits(group_bits)]++] =
			keys[i];
	return true;
}

/*
 * order_insert_all
 *		Copy keys that are near their places to an array, each into its place.
 *
 * Returns false if they are not near; the array then has all of them, in any
 * order.
 */
static bool
order_insert_all(const uint64_t *keys, uint64_t *sorted, size_t nkeys)
{
	size_t		npassed = 0;

	for (size_t i = 0; i < nkeys; i++)
	{
		const uint64_t key = keys[i];
		size_t		place = i;

		for (; place > 0 && sorted[place - 1] > key; place--)
			sorted[place] = sorted[place - 1];
		sorted[place] = key;
		npassed += i - place;
		if (cuckoo_unlikely(npassed / MAX_PASSED_KEYS > nkeys))
		{
			memcpy(sorted + i + 1, keys + i + 1,
				   (nkeys - i - 1) * sizeof(uint64_t));
			return false;
		}
	}
	return true;
}

/*
 * order_sort_twice
 *		Sort many keys into another array: by the second of two digits, by the
 *		first, and at last by insertion.
 *
 * The digits follow the first_bit that all keys have in common.  Returns false
 * if the keys are so uneven that sorting by insertion would be slow; the array
 * then has all of them, in any order.
 */
static bool
order_sort_twice(uint64_t *keys, uint64_t *sorted, size_t nkeys, int first_bit)
{
	const int	shift = 64 - first_bit - TWICE_BITS;
	const int	second_shift = shift - TWICE_BITS;
	const uint64_t mask = cuckoo_low_bits(TWICE_BITS);
	uint32_t	first[1 << TWICE_BITS] = {0};
	uint32_t	second[1 << TWICE_BITS] = {0};
	uint32_t	place = 0;
	uint32_t	second_place = 0;

	for (size_t i = 0; i < nkeys; i++)
	{
		first[keys[i] >> shift & mask]++;
		second[keys[i] >> second_shift & mask]++;
	}
	for (size_t i = 0; i < (size_t) 1 << TWICE_BITS; i++)
	{
		const uint32_t count = first[i];
		const uint32_t second_count = second[i];

		first[i] = place;
		place += count;
		second[i] = second_place;
		second_place += second_count;
	}
	for (size_t i = 0; i < nkeys; i++)
		sorted[second[keys[i] >> second_shift & mask]++] = keys[i];
	for (size_t i = 0; i < nkeys; i++)
		keys[first[sorted[i] >> shift & mask]++] = sorted[i];
	return order_insert_all(keys, sorted, nkeys);
}

/*
 * cuckoo_order_sort
 *		Sort keys into another array.
 *
 * What is in keys is lost.  With are_of_one_part all have the same
 * cuckoo_order_part(), so that it is no use to tell them apart by that.
 */
void
cuckoo_order_sort(uint64_t *keys, uint64_t *sorted, size_t nkeys,
				  bool are_of_one_part)
{
	const int	first_bit = are_of_one_part ? CUCKOO_ORDER_PART_BITS : 0;

	if (nkeys <= MAX_INSERTION_KEYS)
	{
		memcpy(sorted, keys, nkeys * sizeof(uint64_t));
		order_sort_by_insertion(sorted, nkeys);
	}
	else if (nkeys >= MIN_TWICE_KEYS && nkeys <= UINT32_MAX)
	{
		if (!order_sort_twice(keys, sorted, nkeys, first_bit))
			order_sort_by_digits(sorted, keys, nkeys);
	}
	else if (order_distribute(keys, sorted, nkeys, first_bit))
		order_sort_by_insertion(sorted, nkeys);
	else
	{
		memcpy(sorted, keys, nkeys * sizeof(uint64_t));
		order_sort_by_digits(sorted, keys, nkeys);
	}
}

/*
 * The end of an array that is filled from there, with at most so many of each.
 */
typedef struct Tail
{
	uint64_t   *keys;
	size_t		begin;			/* of what has been filled */
	uint64_t	last;			/* the key put last, */
	int			nequal;			/* and how often it came */
	int			max_equal;
} Tail;

static inline void
order_tail_put(Tail *tail, uint64_t key)
{
	tail->nequal = tail->nequal * (key == tail->last) + 1;
	tail->last = key;
	tail->keys[tail->begin - 1] = key;
	tail->begin -= tail->nequal <= tail->max_equal;
}

/*
 * cuckoo_order_merge
 *		Merge sorted keys into an array of sorted keys.
 *
 * keys has room for nkeys + nmore.  Of equal ones at most max_equal are kept,
 * as is the case in keys already.  Returns how many there are then.
 *
 * From the last to the first, so that nothing is written where something is
 * still to be read; which array the next one comes from is not a branch, as
 * that would go either way.
 */
size_t
cuckoo_order_merge(uint64_t *keys, size_t nkeys,
				   const uint64_t *more, size_t nmore, int max_equal)
{
	const size_t end = nkeys + nmore;
	Tail		tail = {keys, end, 0, 0, max_equal};
	size_t		nmerged;

	while (nkeys > 0 && nmore > 0)
	{
		const uint64_t key = keys[nkeys - 1];
		const uint64_t other = more[nmore - 1];
		const uint64_t is_other = 0 - (uint64_t) (other > key);

		order_tail_put(&tail, (key & ~is_other) | (other & is_other));
		nkeys -= 1 - (is_other & 1);
		nmore -= is_other & 1;
	}
	for (; nmore > 0; nmore--)
		order_tail_put(&tail, more[nmore - 1]);

	/* of equal keys, those of the array itself came first: the rest differ */
	nmerged = end - tail.begin;
	memmove(keys + nkeys, keys + tail.begin, nmerged * sizeof(uint64_t));
	return nkeys + nmerged;
}

/*
 * order_limit_entries
 *		Copy sorted entries, at most so many of each.
 *
 * In place, too.  Returns how many there are then.
 */
static size_t
order_limit_entries(uint32_t *entries, const uint32_t *sorted, size_t nentries,
					int max_equal)
{
	size_t		nkept = 0;
	uint64_t	last = UINT64_MAX;	/* no entry */
	int			nequal = 0;

	for (size_t i = 0; i < nentries; i++)
	{
		const uint32_t entry = sorted[i];

		nequal = nequal * (entry == last) + 1;
		last = entry;
		entries[nkept] = entry;
		nkept += nequal <= max_equal;
	}
	return nkept;
}

/*
 * order_entries_by_digit
 *		Copy entries in the order of some of their bits, equal ones as they come.
 */
static void
order_entries_by_digit(const uint32_t *restrict entries,
					   uint32_t *restrict sorted, size_t nentries,
					   int first_bit, int nbits)
{
	const uint32_t mask = (uint32_t) cuckoo_low_bits(nbits);
	uint32_t	ends[1 << ENTRY_DIGIT_BITS];
	uint32_t	place = 0;

	memset(ends, 0, sizeof(ends[0]) << nbits);
	for (size_t i = 0; i < nentries; i++)
		ends[entries[i] >> first_bit & mask]++;
	for (size_t i = 0; i <= mask; i++)
	{
		const uint32_t count = ends[i];

		ends[i] = place;
		place += count;
	}
	for (size_t i = 0; i < nentries; i++)
		sorted[ends[entries[i] >> first_bit & mask]++] = entries[i];
}

/*
 * cuckoo_order_entries
 *		Sort entries of so many bits, and keep at most max_equal of each.
 *
 * There are less than 2^32, and help has room for as many.  Returns how many
 * there are then.
 *
 * From the last digit to the first, so that the time does not depend on what
 * the entries are.
 */
size_t
cuckoo_order_entries(uint32_t *entries, uint32_t *help, size_t nentries,
					 int entry_bits, int max_equal)
{
	const int	most_bits = nentries <= FEW_ENTRIES ? FEW_DIGIT_BITS :
		ENTRY_DIGIT_BITS;
	const int	ndigits = (entry_bits + most_bits - 1) / most_bits;
	const int	digit_bits = (entry_bits + ndigits - 1) / ndigits;
	uint32_t   *from = entries;
	uint32_t   *to = help;

	CuckooAssert(nentries <= UINT32_MAX);
	for (int digit = 0; digit < ndigits; digit++)
	{
		uint32_t   *const swap = from;

		order_entries_by_digit(from, to, nentries, digit * digit_bits,
							   digit_bits);
		from = to;
		to = swap;
	}
	return order_limit_entries(entries, from, nentries, max_equal);
}
