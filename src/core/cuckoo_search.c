/*-------------------------------------------------------------------------
 *
 * cuckoo_search.c
 *		The search for the free slot nearest to two full buckets.
 *
 * Reference: Li, Andersen, Kaminsky, Freedman, "Algorithmic Improvements for
 * Fast Concurrent Cuckoo Hashing", EuroSys 2014.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_bytes.h"
#include "cuckoo_hash.h"
#include "cuckoo_search.h"

/*
 * search_start
 *		Begin a search in the superblock of a bucket.
 */
static void
search_start(CuckooSearch *search, const CuckooGeometry *geometry,
			 uint64_t bucket)
{
	uint64_t	nbuckets;

	search->block = *geometry;
	if (geometry->index_bits > CUCKOO_SUPERBLOCK_BITS)
	{
		search->block.index_bits = CUCKOO_SUPERBLOCK_BITS;
		search->block.prefix_bits -=
			geometry->index_bits - CUCKOO_SUPERBLOCK_BITS;
	}
	nbuckets = cuckoo_geometry_nbuckets(&search->block);
	search->first_bucket = bucket - (uint32_t) bucket % (uint32_t) nbuckets;
	search->nnodes = 0;
	memset(search->visited, 0, (nbuckets + 63) / 64 * sizeof(uint64_t));
}

/*
 * search_visit
 *		Append a bucket to the nodes unless it is among them.
 *
 * Returns false if it was.
 */
static inline bool
search_visit(CuckooSearch *search, uint64_t bucket, int parent, int slot)
{
	uint64_t   *const word = &search->visited[bucket / 64];
	const uint64_t bit = UINT64_C(1) << (bucket % 64);
	CuckooSearchNode *node;

	CuckooAssert(bucket < cuckoo_geometry_nbuckets(&search->block));
	CuckooAssert(search->nnodes < CUCKOO_MAX_SEARCH);
	if ((*word & bit) != 0)
		return false;
	*word |= bit;

	node = &search->nodes[search->nnodes++];
	node->bucket = (uint16_t) bucket;
	node->parent = (uint16_t) parent;
	node->slot = (uint16_t) slot;
	return true;
}

/*
 * search_other_bucket
 *		The bucket that the alternate of a fingerprint is in.
 *
 * bucket is where it stands, in the superblock; of the fingerprint no more is
 * needed than the permanent bits.  See cuckoo_alternate_address().
 */
static inline uint64_t
search_other_bucket(const CuckooSearch *search, uint64_t bucket, uint64_t perm)
{
	const uint32_t ncolumns = search->block.ncolumns;
	const int	q = search->block.index_bits;
	const uint64_t mixed = perm * perm * CUCKOO_GOLDEN;
	const uint64_t column_sum = ((mixed >> 48) * ncolumns) >> 16;
	const uint64_t flip = 0x80 | (mixed >> 40 & 0x7F);
	const uint64_t column = bucket >> q;
	const uint64_t other_column = column_sum - column +
		(column_sum < column ? ncolumns : 0);

	/* the first bits of the index flip, all of those in a superblock */
	return other_column << q |
		((bucket & cuckoo_low_bits(q)) ^ flip >> (CUCKOO_SUPERBLOCK_BITS - q));
}

/*
 * cuckoo_search_free_slot
 *		Find the nearest bucket with a free slot, breadth first.
 *
 * Starts from the two places of an address, both full.  Changes nothing.
 * Returns the index of its node, or -1 if none of the CUCKOO_MAX_SEARCH
 * nearest buckets has a free slot.
 */
int
cuckoo_search_free_slot(CuckooSearch *search, const CuckooFilter *filter,
						const CuckooPlace *places)
{
	const CuckooPacking *const packing = &filter->packing;
	const uint8_t *const table = cuckoo_header_body(filter);

	search_start(search, &filter->geometry, places[0].bucket);
	for (int i = 0; i < 2; i++)
		search_visit(search, places[i].bucket - search->first_bucket,
					 CUCKOO_NO_PARENT, 0);

	for (int i = 0; i < search->nnodes; i++)
	{
		const uint64_t bucket = search->nodes[i].bucket;
		uint32_t	perms = cuckoo_bucket_perms(packing, table,
												search->first_bucket + bucket);

		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++, perms >>= 8)
		{
			uint64_t	next;

			if (search->nnodes == CUCKOO_MAX_SEARCH)
				return -1;
			/* a bucket of a damaged table may have such slots and no room */
			if (cuckoo_unlikely((perms & 0xFF) == 0))
				continue;
			next = search_other_bucket(search, bucket, perms & 0xFF);
			if (search_visit(search, next, i, slot) &&
				cuckoo_bucket_has_room(packing, table,
									   search->first_bucket + next))
				return search->nnodes - 1;
		}
	}
	return -1;
}
