/*-------------------------------------------------------------------------
 *
 * cuckoo_pool.h
 *		The entries of many tables, to make one of them.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_POOL_H
#define CUCKOO_POOL_H

#include "../core/cuckoo_build.h"
#include "../core/cuckoo_entry.h"

/* Entries of one part: sorted once they are read, or the array was full. */
typedef struct CuckooPoolPart
{
	uint32	   *entries;
	size_t		nentries;
	size_t		room;			/* for so many */
} CuckooPoolPart;

/*
 * A set, or if max_equal is above 1 a multiset, of entries.
 *
 * It takes half the memory of a CuckooCollector of their keys.  One part at a
 * time fits the cache.
 */
typedef struct CuckooPool
{
	MemoryContext context;		/* of all that is allocated here */
	CuckooEntryCode code;
	int			max_equal;		/* equal entries kept */
	bool		has_equal;		/* did the last sample lose much by sorting? */
	size_t		nentries;		/* of all parts together */
	uint32	   *scratch;		/* to sort a part in, or NULL */
	size_t		scratch_room;
	CuckooPoolPart parts[CUCKOO_ORDER_PARTS];
} CuckooPool;

/* Memory that the entries take. */
static inline Size
cuckoo_pool_bytes(const CuckooPool *pool)
{
	return pool->nentries * sizeof(uint32);
}

/* Reading the keys of all entries, in ascending order.  None may be added. */
typedef struct CuckooPoolReader
{
	const CuckooPool *pool;
	int			part;			/* the one being read */
	size_t		position;		/* of the next entry in it */
} CuckooPoolReader;

extern CuckooPool *cuckoo_pool_new(MemoryContext context,
								   const CuckooEntryCode *code, int max_equal);
extern void cuckoo_pool_add(CuckooPool *pool, const uint64 *keys,
							size_t nkeys);
extern uint64 cuckoo_pool_count(CuckooPool *pool);
extern CuckooHashSource cuckoo_pool_source(CuckooPoolReader *reader,
										   const CuckooPool *pool);

#endif							/* CUCKOO_POOL_H */
