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

/*
 * Filters that have yet to be merged into the state of an aggregate, as keys.
 *
 * Adding them one by one would miss the cache with each entry.  As keys they
 * come to their superblocks together, many filters at a time.
 */
typedef struct CuckooPending
{
	MemoryContext context;		/* of this, below the state's */
	CuckooCollector collector;
	bool		add_copies;
	uint64		nadded;			/* keys so far, equal ones counted */
} CuckooPending;

extern CuckooPending *cuckoo_pending_new(MemoryContext parent, int max_copies,
										 bool add_copies);
extern void cuckoo_pending_add(CuckooPending *pending,
							   const CuckooFilter *filter);
extern void cuckoo_pending_flush(CuckooPending *pending, CuckooFilter *filter);

#endif							/* CUCKOO_PENDING_H */
