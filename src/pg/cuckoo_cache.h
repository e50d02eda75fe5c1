/*-------------------------------------------------------------------------
 *
 * cuckoo_cache.h
 *		Stored filters that are kept in memory while a query probes them.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CACHE_H
#define CUCKOO_CACHE_H

#include "lib/ilist.h"

#include "../core/cuckoo_header.h"
#include "cuckoo_toast.h"
#include "pg_compat.h"

/*
 * A stored filter that was probed: at first only its header, in the end, if
 * it is probed often enough, all of it.
 */
typedef struct CuckooCached
{
	struct varatt_external pointer; /* hash key */
	dlist_node	lru;
	CuckooFilter filter;		/* has an image only if it is kept whole */
	MemoryContext mcxt;			/* of the image, else NULL */
	double		spent;			/* on reading parts of it */
	CuckooToastPlace place;		/* where it is stored */
} CuckooCached;

/* GUC, in kB */
extern int	cuckoo_cache_size;

/* Goes up whenever a CuckooCached is gone. */
extern uint64 cuckoo_cache_generation;

extern void cuckoo_cache_attach(MemoryContext user);
extern CuckooCached *cuckoo_cache_find(const struct varatt_external *pointer);
extern CuckooCached *cuckoo_cache_enter(const struct varatt_external *pointer,
										const CuckooFilter *header,
										const CuckooToastPlace *place);
extern void cuckoo_cache_touch(CuckooCached *cached);
extern bool cuckoo_cache_would_keep(uint64 image_bytes);
extern void cuckoo_cache_keep(CuckooCached *cached, MemoryContext mcxt,
							  const CuckooFilter *filter);

#endif							/* CUCKOO_CACHE_H */
