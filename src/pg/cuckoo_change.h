/*-------------------------------------------------------------------------
 *
 * cuckoo_change.h
 *		Changing the filter that a function was given, to return it.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_CHANGE_H
#define CUCKOO_CHANGE_H

#include "fmgr.h"

#include "cuckoo_expanded.h"

/*
 * A filter that a function has been given to return it changed: an expanded
 * object that may be changed in place, or a copy.
 */
typedef struct CuckooChange
{
	CuckooFilter *filter;		/* of one of the following */
	ExpandedCuckooFilter *expanded; /* NULL if it is a flat copy */
	CuckooFilter flat;
	bool		is_copy;		/* nobody else has it */
} CuckooChange;

extern void cuckoo_change_begin(CuckooChange *change,
								FunctionCallInfo fcinfo);
extern bool cuckoo_change_add(CuckooChange *change, const uint64 *hashes,
							  size_t nhashes);
extern bool cuckoo_change_remove(CuckooChange *change, const uint64 *hashes,
								 size_t nhashes);
extern Datum cuckoo_change_end(CuckooChange *change, FunctionCallInfo fcinfo,
							   bool changed);

#endif							/* CUCKOO_CHANGE_H */
