/*-------------------------------------------------------------------------
 *
 * cuckoo_search.h
 *		The search for the free slot nearest to two full buckets.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SEARCH_H
#define CUCKOO_SEARCH_H

#include "cuckoo_header.h"

/*
 * The most buckets that the search for a free slot looks at.  At the load
 * factors the sizing allows a few dozen do; the bound is what an add that
 * fails costs.
 */
#define CUCKOO_MAX_SEARCH		2048

/*
 * The search for a free slot: the buckets reached so far, in the order in
 * which they were reached.  A bucket was reached by moving the fingerprint
 * in one slot of its parent; the two roots have none.
 *
 * All of them are in one superblock.  That is a table by itself, of the same
 * columns and at most CUCKOO_SUPERBLOCK_BITS index bits, and within it buckets
 * are numbered from its first one.
 */
typedef struct CuckooSearchNode
{
	uint16_t	bucket;
	uint16_t	parent;			/* index of a node, or CUCKOO_NO_PARENT */
	uint16_t	slot;			/* of the parent's bucket */
} CuckooSearchNode;

#define CUCKOO_NO_PARENT		UINT16_MAX

#define CUCKOO_MAX_BLOCK_BUCKETS \
	(CUCKOO_MAX_COLUMNS << CUCKOO_SUPERBLOCK_BITS)

typedef struct CuckooSearch
{
	CuckooGeometry block;		/* the superblock as a table */
	uint64_t	first_bucket;	/* of it in the whole table */
	int			nnodes;
	CuckooSearchNode nodes[CUCKOO_MAX_SEARCH];
	uint64_t	visited[CUCKOO_MAX_BLOCK_BUCKETS / 64]; /* a bit per bucket */
} CuckooSearch;

extern int	cuckoo_search_free_slot(CuckooSearch *search,
									const CuckooFilter *filter,
									const CuckooPlace *places);

/* The bucket of a node in the whole table. */
static inline uint64_t
cuckoo_search_bucket(const CuckooSearch *search, int node)
{
	return search->first_bucket + search->nodes[node].bucket;
}

#endif							/* CUCKOO_SEARCH_H */
