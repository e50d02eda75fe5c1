/*-------------------------------------------------------------------------
 *
 * cuckoo_collector.h
 *		A growing set of hashes, in the order in which a filter is built.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COLLECTOR_H
#define CUCKOO_COLLECTOR_H

#include "utils/tuplesort.h"

#include "../core/cuckoo_build.h"
#include "../core/cuckoo_order.h"

/*
 * An array of keys: sorted ones, of which there are not too many equal, and
 * behind them what has come since, as it came.
 */
typedef struct CuckooRun
{
	uint64	   *keys;
	size_t		nsorted;
	size_t		nkeys;
	size_t		room;			/* for so many keys */
} CuckooRun;

/*
 * What a collector of many keys has: a run for each part of them.
 */
typedef struct CuckooParts
{
	CuckooRun	runs[CUCKOO_ORDER_PARTS];
	uint64	   *scratch;		/* to sort a run in, or NULL */
	size_t		scratch_room;	/* for so many keys */
} CuckooParts;

/*
 * A set, or if max_equal is above 1 a multiset, of 64-bit keys.
 *
 * Keys are hashes turned by cuckoo_order_hash(), and so are spread evenly.
 * They are appended to a run, which is sorted when it is full: then it loses
 * what is there too often, and grows if that is not enough.  Many keys make
 * one run for each cuckoo_order_part(), of which one at a time fits the cache.
 *
 * There can be one collector for each of very many groups, so that it is kept
 * small.  Memory follows the number of different keys.  Once that exceeds
 * work_mem, keys go to a tuplesort, which writes them to disk and has as much
 * again.
 */
typedef struct CuckooCollector
{
	MemoryContext context;		/* of all that is allocated here */
	int			max_equal;		/* equal keys kept, 1 to CUCKOO_MAX_COPIES */
	bool		may_spill;		/* else memory is the only limit */
	bool		is_sorted;		/* reading what was spilled has begun: no more
								 * can be spilled */

	CuckooRun	whole;			/* the only run, until there are parts */
	CuckooParts *parts;			/* or NULL */
	size_t		room;			/* of all runs together */
	Tuplesortstate *sort;		/* keys spilled, or NULL */
	const uint8 *view;			/* where the keys of the whole run are, of
								 * which this is a view, or NULL */
} CuckooCollector;

extern void cuckoo_collector_init(CuckooCollector *collector,
								  MemoryContext context, int max_equal,
								  bool may_spill);
extern bool cuckoo_collector_view(CuckooCollector *collector,
								  const void *keys, uint64 nkeys);
extern void cuckoo_collector_add(CuckooCollector *collector, uint64 hash);
extern void cuckoo_collector_add_hashes(CuckooCollector *collector,
										const uint64 *keys, size_t nkeys);
extern void cuckoo_collector_add_from(CuckooCollector *collector,
									  CuckooCollector *from);
extern uint64 cuckoo_collector_count(CuckooCollector *collector);
extern void cuckoo_collector_end(CuckooCollector *collector);

/* Memory that the keys take. */
static inline Size
cuckoo_collector_bytes(const CuckooCollector *collector)
{
	return collector->room * sizeof(uint64);
}

/*
 * Reading all keys, in ascending order.  No key may be added meanwhile; once
 * a collector that has spilled is read, none may be added at all.
 */
typedef struct CuckooCollectorReader
{
	CuckooCollector *collector;
	int			run;			/* the one being read */
	size_t		position;		/* of the next key in it */
	uint64		last;			/* of a tuplesort: the key read last, */
	int			nequal;			/* and how often */
} CuckooCollectorReader;

extern CuckooHashSource cuckoo_collector_source(CuckooCollectorReader *reader,
												CuckooCollector *collector);

#endif							/* CUCKOO_COLLECTOR_H */
