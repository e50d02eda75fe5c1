/*-------------------------------------------------------------------------
 *
 * cuckoo_expanded.h
 *		A filter in memory that is changed in place: an expanded object.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_EXPANDED_H
#define CUCKOO_EXPANDED_H

#include "utils/expandeddatum.h"

#include "cuckoo_pending.h"

#define ECF_MAGIC		0x43754669

/*
 * An image that several versions of a filter share.  It is that of the newest;
 * the others lack what was changed since, which can be undone in a copy.
 */
#define CUCKOO_SHARED_UNDOS	256

typedef struct CuckooShared
{
	MemoryContext context;		/* of this and of the image */
	int			nversions;		/* objects that share it */
	CuckooJournal journal;		/* of all changes since the oldest of them */
	CuckooUndo	undos[CUCKOO_SHARED_UNDOS];
} CuckooShared;

/*
 * A filter in memory that is changed in place.
 *
 * Its image is in the object's context, or, after it had to grow, in one of
 * its own below that, or is shared.
 */
typedef struct ExpandedCuckooFilter
{
	ExpandedObjectHeader header;
	int			magic;			/* ECF_MAGIC */
	CuckooFilter filter;
	MemoryContext image_mcxt;	/* the one that the image has grown into */
	CuckooPending *pending;		/* what it lacks yet, or NULL */
	CuckooShared *shared;		/* NULL if nobody else has the image */
	size_t		nundos;			/* the journal's when this was the newest */
	MemoryContextCallback leave;	/* what is shared when this goes */
} ExpandedCuckooFilter;

/* cuckoo_filter_add_all() or cuckoo_filter_remove_all() */
typedef CuckooStatus (*CuckooNotingChange) (CuckooFilter *filter,
											const uint64 *hashes,
											size_t nhashes,
											CuckooJournal *journal,
											bool *changed);

extern ExpandedCuckooFilter *cuckoo_expanded_new(Datum datum,
												 MemoryContext parent);
extern ExpandedCuckooFilter *cuckoo_expanded_new_version(Datum datum,
														 MemoryContext parent);
extern ExpandedCuckooFilter *cuckoo_expanded_for_write(Datum datum);
extern ExpandedCuckooFilter *cuckoo_expanded_for_change(Datum datum);
extern ExpandedCuckooFilter *cuckoo_expanded_with_pending(Datum datum);
extern bool cuckoo_expanded_change_shared(ExpandedCuckooFilter *expanded,
										  CuckooNotingChange change,
										  const uint64 *hashes,
										  size_t nhashes, bool *changed);
extern void cuckoo_expanded_flush(ExpandedCuckooFilter *expanded);
extern const CuckooFilter *cuckoo_expanded_filter(Datum datum);
extern struct varlena *cuckoo_expanded_flat(Datum datum);
extern void cuckoo_expanded_flat_release(struct varlena *flat, Datum datum);

#endif							/* CUCKOO_EXPANDED_H */
