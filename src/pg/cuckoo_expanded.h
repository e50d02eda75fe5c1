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

/*
 * A filter in memory that is changed in place.
 *
 * Its image is in the object's context, or, after it had to grow, in one of
 * its own below that.
 */
#define ECF_MAGIC		0x43754669

typedef struct ExpandedCuckooFilter
{
	ExpandedObjectHeader header;
	int			magic;			/* ECF_MAGIC */
	CuckooFilter filter;
	MemoryContext image_mcxt;	/* the one that the image has grown into */
	CuckooPending *pending;		/* what it lacks yet, or NULL */
} ExpandedCuckooFilter;

extern ExpandedCuckooFilter *cuckoo_expanded_new(Datum datum,
												 MemoryContext parent);
extern ExpandedCuckooFilter *cuckoo_expanded_for_write(Datum datum);
extern ExpandedCuckooFilter *cuckoo_expanded_with_pending(Datum datum);
extern void cuckoo_expanded_flush(ExpandedCuckooFilter *expanded);
extern const CuckooFilter *cuckoo_expanded_filter(Datum datum);
extern struct varlena *cuckoo_expanded_flat(Datum datum);
extern void cuckoo_expanded_flat_release(struct varlena *flat, Datum datum);

#endif							/* CUCKOO_EXPANDED_H */
