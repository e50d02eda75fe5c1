/*-------------------------------------------------------------------------
 *
 * cuckoo_pending.h
 *		What has yet to be merged into a filter.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PENDING_H
#define CUCKOO_PENDING_H

#include "cuckoo_collector.h"
#include "cuckoo_pool.h"

/* Parameters as the user gave them, each checked and none of them NULL. */
typedef struct CuckooHashArguments
{
	float8		capacity;
	float8		fpr;
	int64		seed;
	int32		max_copies;
} CuckooHashArguments;

/*
 * What has yet to be merged into the state of an aggregate: filters, as keys,
 * or hashes.
 *
 * Adding filters one by one would miss the cache with each entry.  As keys they
 * come to their superblocks together, many filters at a time.
 *
 * Hashes are made a filter of their own first, each hash once: two of them
 * with the same entry can still be told apart here.
 */
typedef struct CuckooPending
{
	MemoryContext context;		/* of this, below the state's */
	CuckooCollector collector;	/* of hashes, or of keys without a pool */
	CuckooPool *pool;			/* of keys, if they fit one, else NULL */
	bool		add_copies;
	uint64		nadded;			/* keys so far, equal ones counted */

	/* of hashes only */
	CuckooParameters parameters;	/* capacity 0: these are filters */
	CuckooHashArguments arguments;	/* what they were made of */
	bool		is_watched;		/* the files of the collector will be closed */
} CuckooPending;

static inline bool
cuckoo_pending_is_of_hashes(const CuckooPending *pending)
{
	return pending->parameters.capacity > 0;
}

static inline Size
cuckoo_pending_bytes(const CuckooPending *pending)
{
	return pending->pool != NULL ? cuckoo_pool_bytes(pending->pool) :
		cuckoo_collector_bytes(&pending->collector);
}

extern CuckooPending *cuckoo_pending_new(MemoryContext parent,
										 const CuckooFilter *filter,
										 bool add_copies);
extern CuckooPending *cuckoo_pending_new_hashes(MemoryContext parent,
												const CuckooHashArguments *arguments,
												const CuckooParameters *parameters,
												bool may_spill);
extern void cuckoo_pending_add(CuckooPending *pending,
							   const CuckooFilter *filter);
extern void cuckoo_pending_flush(CuckooPending *pending, CuckooFilter *filter);

#endif							/* CUCKOO_PENDING_H */
