/*-------------------------------------------------------------------------
 *
 * cuckoo_collect.h
 *		A growing set of hashes, in the order in which a filter is built.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COLLECT_H
#define CUCKOO_COLLECT_H

#include "utils/tuplesort.h"

#include "../core/cuckoo_build.h"

/*
 * A set, or if max_equal is above 1 a multiset, of 64-bit keys.
 *
 * Keys are hashes turned by cuckoo_build_key(), and so are spread evenly.  A
 * key's home is its share of the range of all keys times the number of home
 * slots; it stands there or behind, after all smaller keys: linear probing
 * that keeps the slots in ascending order (Amble and Knuth, "Ordered Hash
 * Tables", 1974).  Reading them out is a walk over the array, with no sort.
 *
 * Memory follows the number of different keys.  Once that exceeds work_mem,
 * keys go to a tuplesort, which writes them to disk and has as much again.
 */
typedef struct CuckooCollector
{
	MemoryContext context;		/* of all that is allocated here */
	int			max_equal;		/* equal keys kept, 1 to CUCKOO_MAX_COPIES */
	bool		may_spill;		/* else memory is the only limit */

	uint64	   *slots;			/* 0 is a free slot; the last always is */
	size_t		nhomes;			/* 1 in a sorted array, 0 if only to be read */
	size_t		nslots;			/* nhomes and some behind */
	size_t		capacity;		/* keys to have in slots at most */
	size_t		nkeys;			/* in slots */
	int			nzeros;			/* keys that are 0, kept apart */
	bool		is_crowded;		/* keys were chosen to have one home: spill */

	uint64	   *pending;		/* keys to insert next, once slots is large */
	int			npending;

	Tuplesortstate *sort;		/* keys spilled, or NULL */
	bool		is_sorted;		/* reading has begun: no more can be spilled */
} CuckooCollector;

extern void cuckoo_collector_init(CuckooCollector *collector,
								  MemoryContext context, int max_equal,
								  bool may_spill);
extern bool cuckoo_collector_load(CuckooCollector *collector,
								  const void *keys, uint64 nkeys);
extern void cuckoo_collector_add(CuckooCollector *collector, uint64 hash);
extern void cuckoo_collector_add_from(CuckooCollector *collector,
									  CuckooCollector *from);
extern uint64 cuckoo_collector_count(CuckooCollector *collector);
extern void cuckoo_collector_end(CuckooCollector *collector);

/*
 * Reading all keys, in ascending order.  No key may be added meanwhile; once
 * a collector that has spilled is read, none may be added at all.
 */
typedef struct CuckooCollectorReader
{
	CuckooCollector *collector;
	size_t		slot;			/* next one to look at */
	int			nzeros;			/* zeros still to give */
	uint64		last;			/* of a tuplesort: the key read last, */
	int			nequal;			/* and how often */
} CuckooCollectorReader;

extern CuckooKeySource cuckoo_collector_source(CuckooCollectorReader *reader,
											   CuckooCollector *collector);

#endif							/* CUCKOO_COLLECT_H */
