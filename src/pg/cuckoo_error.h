/*-------------------------------------------------------------------------
 *
 * cuckoo_error.h
 *		Results of the core to errors of the server.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ERROR_H
#define CUCKOO_ERROR_H

#include "../core/cuckoo_filter.h"
#include "pg_compat.h"

#define CUCKOO_MERGEABLE_HINT \
	"Build filters that are to be merged with one capacity, that of all their values together, and with the same false positive rate and seed.  Without a capacity, cf_agg() takes the number of the values it gets, or 1 if there are none."

extern void cuckoo_error_image(CuckooStatus status, const uint8 *image,
							   int sqlerrcode, const char *message,
							   struct Node *escontext);
cuckoo_noreturn extern void cuckoo_error_add(CuckooStatus status,
											 const CuckooFilter *filter);
cuckoo_noreturn extern void cuckoo_error_merge(CuckooStatus status,
											   const CuckooFilter *filter);
cuckoo_noreturn extern void cuckoo_error_build(CuckooStatus status,
											   uint64 nentries,
											   uint64 capacity,
											   bool may_be_fitted);
extern void cuckoo_error_unless_removable(const CuckooFilter *filter);

#endif							/* CUCKOO_ERROR_H */
