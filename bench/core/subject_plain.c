/*-------------------------------------------------------------------------
 *
 * subject_plain.c
 *		A plain cuckoo filter of four slots to a bucket: what ours is measured
 *		against.
 *
 * It has the geometry and addressing of our filter, from the same functions,
 * hence the same false positive rate, the same load and the same distances in
 * memory; and, as ours, up to max_copies copies of a value, breadth-first
 * insertion and growth by doubling.  What differs is the bucket: four
 * fingerprints of fp_bits, packed without gaps, in no order.  A slot costs one
 * bit more than ours and nothing is ever decoded.
 *
 * Meant to be as fast as portable C makes it.  A bucket of up to 64 bits is
 * searched as one word, one of up to 116 as two; beyond that slot by slot.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "core/cuckoo_search.h"
#include "core/cuckoo_table.h"
#include "subject.h"

#define SLOTS			CUCKOO_BUCKET_SLOTS
#define MAX_WORD_BITS	16		/* fp_bits up to which a bucket is one word */
#define MAX_PAIR_BITS	29		/* and two words of two slots each */

typedef struct Plain
{
	CuckooGeometry geometry;
	int			fp_bits;
	uint64_t	fp_mask;
	uint64_t	lane_low;		/* lowest bit of each slot of a word */
	uint64_t	lane_high;		/* highest bit of each slot of a word */
	uint64_t	nentries;
	size_t		table_bytes;
	uint8_t    *table;
} Plain;

static void
make_table(Plain *plain)
{
	const int	fp_bits = cuckoo_geometry_fp_bits(&plain->geometry);
	const int	nlanes = fp_bits <= MAX_WORD_BITS ? 4 : 2;

	plain->fp_bits = fp_bits;
	plain->fp_mask = cuckoo_low_bits(fp_bits);
	plain->lane_low = 0;
	if (fp_bits <= MAX_PAIR_BITS)
	{
		for (int i = 0; i < nlanes; i++)
			plain->lane_low |= UINT64_C(1) << (i * fp_bits);
	}
	plain->lane_high = plain->lane_low << (fp_bits - 1);
	plain->table_bytes = (size_t)
		((cuckoo_geometry_nbuckets(&plain->geometry) *
		  (uint64_t) (SLOTS * fp_bits) + 7) / 8 + CUCKOO_PAD_BYTES);
	plain->table = malloc(plain->table_bytes);
	if (plain->table == NULL)
		abort();
	memset(plain->table, 0, plain->table_bytes);
}

/* First bit of a bucket. */
static inline uint64_t
bucket_bit(const Plain *plain, uint64_t bucket)
{
	return bucket * (uint64_t) (SLOTS * plain->fp_bits);
}

/* The bits from the given one on, at least 57 of them. */
static inline uint64_t
load_bits(const Plain *plain, uint64_t bit)
{
	return cuckoo_load_le64(plain->table + bit / 8) >> (bit & 7);
}

/* High bits of the slots of a word that equal fp, exact for the lowest. */
static inline uint64_t
match_word(const Plain *plain, uint64_t word, uint64_t fp)
{
	const uint64_t differ = word ^ fp * plain->lane_low;

	return (differ - plain->lane_low) & ~differ & plain->lane_high;
}

/*
 * Offset of the first bit of a slot that holds fp, or -1.
 */
static inline int
find_slot_bit(const Plain *plain, uint64_t bucket, uint64_t fp)
{
	const uint64_t bit = bucket_bit(plain, bucket);
	uint64_t	match;

	if (cuckoo_likely(plain->fp_bits <= MAX_PAIR_BITS))
	{
		match = match_word(plain, load_bits(plain, bit), fp);
		if (match != 0)
			return __builtin_ctzll(match) - (plain->fp_bits - 1);
		if (plain->fp_bits <= MAX_WORD_BITS)
			return -1;
		match = match_word(plain,
						   load_bits(plain,
									 bit + 2 * (uint64_t) plain->fp_bits),
						   fp);
		if (match != 0)
			return __builtin_ctzll(match) + plain->fp_bits + 1;
		return -1;
	}
	for (int i = 0; i < SLOTS; i++)
	{
		const int	offset = i * plain->fp_bits;

		if ((load_bits(plain, bit + (uint64_t) offset) & plain->fp_mask) == fp)
			return offset;
	}
	return -1;
}

/*
 * Is fp in one of two buckets?  Both are looked at before anything branches.
 */
static inline bool
plain_contains(const Plain *plain, uint64_t hash)
{
	CuckooPlace places[2];

	cuckoo_table_places(&plain->geometry,
						cuckoo_hash_address(hash, plain->geometry.ncolumns,
											plain->geometry.prefix_bits),
						places);
	if (cuckoo_likely(plain->fp_bits <= MAX_PAIR_BITS))
	{
		const uint64_t bit0 = bucket_bit(plain, places[0].bucket);
		const uint64_t bit1 = bucket_bit(plain, places[1].bucket);
		uint64_t	match =
			match_word(plain, load_bits(plain, bit0), places[0].fp) |
			match_word(plain, load_bits(plain, bit1), places[1].fp);

		if (plain->fp_bits > MAX_WORD_BITS)
		{
			const uint64_t half = 2 * (uint64_t) plain->fp_bits;

			match |=
				match_word(plain, load_bits(plain, bit0 + half), places[0].fp) |
				match_word(plain, load_bits(plain, bit1 + half), places[1].fp);
		}
		return match != 0;
	}
	return find_slot_bit(plain, places[0].bucket, places[0].fp) >= 0 ||
		find_slot_bit(plain, places[1].bucket, places[1].fp) >= 0;
}

static inline uint64_t
get_slot(const Plain *plain, uint64_t bucket, int slot)
{
	return load_bits(plain, bucket_bit(plain, bucket) +
					 (uint64_t) (slot * plain->fp_bits)) & plain->fp_mask;
}

/* Write fp over the slot that starts at an offset in the bucket. */
static inline void
put_slot(Plain *plain, uint64_t bucket, int offset, uint64_t fp)
{
	const uint64_t bit = bucket_bit(plain, bucket) + (uint64_t) offset;
	uint8_t    *const p = plain->table + bit / 8;
	const int	shift = (int) (bit & 7);

	cuckoo_store_le64(p, (cuckoo_load_le64(p) & ~(plain->fp_mask << shift)) |
					  fp << shift);
}

static inline int
count_copies(const Plain *plain, const CuckooPlace *place)
{
	int			ncopies = 0;

	for (int slot = 0; slot < SLOTS; slot++)
		ncopies += get_slot(plain, place->bucket, slot) == place->fp;
	return ncopies;
}

/*
 * Breadth-first search for a free slot, as in cuckoo_table.c.  All buckets
 * that can be reached are in one superblock, so they are numbered from its
 * first on and one bit each tells which were visited.
 */
typedef struct Node
{
	uint16_t	bucket;			/* within the superblock */
	uint16_t	parent;
	uint16_t	slot;
} Node;

#define NO_PARENT				UINT16_MAX
#define SUPERBLOCK_BUCKETS		(CUCKOO_MAX_COLUMNS << CUCKOO_SUPERBLOCK_BITS)

typedef struct Search
{
	int			nnodes;
	Node		nodes[CUCKOO_MAX_SEARCH];
	uint64_t	visited[SUPERBLOCK_BUCKETS / 64 + 1];
} Search;

static inline bool
visit(Search *search, uint64_t bucket, int parent, int slot)
{
	uint64_t   *const visited = &search->visited[bucket / 64];
	const uint64_t bit = UINT64_C(1) << (bucket % 64);
	Node	   *node;

	if ((*visited & bit) != 0)
		return false;
	*visited |= bit;
	node = &search->nodes[search->nnodes++];
	node->bucket = (uint16_t) bucket;
	node->parent = (uint16_t) parent;
	node->slot = (uint16_t) slot;
	return true;
}

/* Insert where both buckets are full. */
static bool
relocate(Plain *plain, const CuckooPlace *places)
{
	const CuckooGeometry *const geometry = &plain->geometry;
	const uint64_t ncolumns = geometry->ncolumns;
	const bool	one_block = geometry->index_bits <= CUCKOO_SUPERBLOCK_BITS;
	const uint64_t block_buckets = one_block ?
		cuckoo_geometry_nbuckets(geometry) : ncolumns << CUCKOO_SUPERBLOCK_BITS;
	const uint64_t first = one_block ? 0 :
		places[0].bucket - places[0].bucket % block_buckets;
	Search		search;
	CuckooPlace place;
	CuckooPlace next;
	int			free_offset = -1;
	int			node;

	search.nnodes = 0;
	memset(search.visited, 0, (block_buckets + 63) / 64 * 8);
	visit(&search, places[0].bucket - first, NO_PARENT, 0);
	visit(&search, places[1].bucket - first, NO_PARENT, 0);
	for (int i = 0; i < search.nnodes && free_offset < 0; i++)
	{
		place.bucket = first + search.nodes[i].bucket;
		for (int slot = 0; slot < SLOTS && free_offset < 0; slot++)
		{
			if (search.nnodes == CUCKOO_MAX_SEARCH)
				return false;
			place.fp = get_slot(plain, place.bucket, slot);
			next = cuckoo_table_alternate(geometry, place);
			if (visit(&search, next.bucket - first, i, slot))
				free_offset = find_slot_bit(plain, next.bucket, 0);
		}
	}
	if (free_offset < 0)
		return false;

	node = search.nnodes - 1;
	while (search.nodes[node].parent != NO_PARENT)
	{
		const int	parent = search.nodes[node].parent;
		const int	slot = search.nodes[node].slot;

		place.bucket = first + search.nodes[parent].bucket;
		place.fp = get_slot(plain, place.bucket, slot);
		next = cuckoo_table_alternate(geometry, place);
		put_slot(plain, next.bucket, free_offset, next.fp);
		free_offset = slot * plain->fp_bits;
		node = parent;
	}
	place = places[first + search.nodes[node].bucket != places[0].bucket];
	put_slot(plain, place.bucket, free_offset, place.fp);
	return true;
}

/* Add one more copy; false if there is no room. */
static inline bool
plain_add(Plain *plain, uint64_t hash)
{
	CuckooPlace places[2];

	cuckoo_table_places(&plain->geometry,
						cuckoo_hash_address(hash, plain->geometry.ncolumns,
											plain->geometry.prefix_bits),
						places);
	if (cuckoo_unlikely(find_slot_bit(plain, places[0].bucket,
									  places[0].fp) >= 0 ||
						find_slot_bit(plain, places[1].bucket,
									  places[1].fp) >= 0) &&
		count_copies(plain, &places[0]) + count_copies(plain, &places[1]) >=
		CUCKOO_MAX_COPIES)
		return true;

	for (int i = 0; i < 2; i++)
	{
		const int	offset = find_slot_bit(plain, places[i].bucket, 0);

		if (offset >= 0)
		{
			put_slot(plain, places[i].bucket, offset, places[i].fp);
			plain->nentries++;
			return true;
		}
	}
	if (!relocate(plain, places))
		return false;
	plain->nentries++;
	return true;
}

/* Take out one copy; false if there is none, or as many as can be counted. */
static inline bool
plain_remove(Plain *plain, uint64_t hash)
{
	CuckooPlace places[2];
	int			ncopies;

	cuckoo_table_places(&plain->geometry,
						cuckoo_hash_address(hash, plain->geometry.ncolumns,
											plain->geometry.prefix_bits),
						places);
	ncopies = count_copies(plain, &places[0]) + count_copies(plain, &places[1]);
	if (ncopies == 0 || ncopies >= CUCKOO_MAX_COPIES)
		return false;
	for (int i = 0; i < 2; i++)
	{
		const int	offset = find_slot_bit(plain, places[i].bucket,
										   places[i].fp);

		if (offset >= 0)
		{
			put_slot(plain, places[i].bucket, offset, 0);
			plain->nentries--;
			break;
		}
	}
	return true;
}

static void *
create(uint64_t capacity, uint64_t rate, bool full_size)
{
	Plain	   *const plain = calloc(1, sizeof(*plain));

	if (plain == NULL ||
		cuckoo_geometry_choose(&plain->geometry, capacity, rate) != CUCKOO_OK)
		abort();
	if (!full_size)
		plain->geometry.index_bits = 0;
	make_table(plain);
	return plain;
}

static void
destroy(void *filter)
{
	free(((Plain *) filter)->table);
	free(filter);
}

static void *
create_doubled(const void *filter)
{
	Plain	   *const doubled = malloc(sizeof(*doubled));

	if (doubled == NULL)
		abort();
	*doubled = *(const Plain *) filter;
	doubled->geometry.index_bits++;
	make_table(doubled);
	return doubled;
}

static void
fill_doubled(const void *filter, void *doubled)
{
	const Plain *const plain = filter;
	Plain	   *const twice = doubled;
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&plain->geometry);

	memset(twice->table, 0, twice->table_bytes);
	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		/* a child's bucket follows from the address of any of its entries */
		uint64_t	child_buckets[2];
		int			offsets[2] = {0, 0};

		for (int child = 0; child < 2; child++)
		{
			const CuckooPlace first_slot = {
				bucket, (uint64_t) child << twice->fp_bits
			};

			child_buckets[child] =
				cuckoo_table_place(&twice->geometry,
								   cuckoo_table_address(&plain->geometry,
														first_slot)).bucket;
		}
		for (int slot = 0; slot < SLOTS; slot++)
		{
			const uint64_t fp = get_slot(plain, bucket, slot);
			const int	child = (int) (fp >> twice->fp_bits);

			if (fp == 0)
				continue;
			put_slot(twice, child_buckets[child], offsets[child],
					 fp & twice->fp_mask);
			offsets[child] += twice->fp_bits;
		}
	}
}

static size_t
add(void *filter, const uint64_t *hashes, size_t nhashes)
{
	Plain	   *const plain = filter;
	size_t		nrefused = 0;

	for (size_t i = 0; i < nhashes; i++)
	{
		while (cuckoo_unlikely(!plain_add(plain, hashes[i])))
		{
			Plain	   *doubled;

			if (plain->fp_bits == CUCKOO_MIN_FP_BITS)
			{
				nrefused++;
				break;
			}
			doubled = create_doubled(plain);
			fill_doubled(plain, doubled);
			free(plain->table);
			*plain = *doubled;
			free(doubled);
		}
	}
	return nrefused;
}

static size_t
remove_all(void *filter, const uint64_t *hashes, size_t nhashes)
{
	Plain	   *const plain = filter;
	size_t		nmissing = 0;

	for (size_t i = 0; i < nhashes; i++)
		nmissing += !plain_remove(plain, hashes[i]);
	return nmissing;
}

static size_t
count_hits(const void *filter, const uint64_t *hashes, size_t nhashes)
{
	size_t		nhits = 0;

	for (size_t i = 0; i < nhashes; i++)
		nhits += plain_contains(filter, hashes[i]);
	return nhits;
}

static bool
contains(const void *filter, uint64_t hash)
{
	return plain_contains(filter, hash);
}

static void
describe(const void *filter, int *fp_bits, double *load_factor, size_t *bytes)
{
	const Plain *const plain = filter;

	*fp_bits = plain->fp_bits;
	*load_factor = (double) plain->nentries /
		(double) (cuckoo_geometry_nbuckets(&plain->geometry) * SLOTS);
	*bytes = plain->table_bytes;
}

const Subject plain_subject = {
	create, destroy, add, remove_all, count_hits, contains, NULL,
	create_doubled, fill_doubled, NULL, NULL, describe
};
