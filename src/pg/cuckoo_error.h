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

/* What a value is used for, to say it in an error. */
typedef enum CuckooUse
{
	CUCKOO_USE_ADD,
	CUCKOO_USE_PROBE,
	CUCKOO_USE_REMOVE
} CuckooUse;

extern void cuckoo_error_image(CuckooStatus status, const uint8 *image,
							   int sqlerrcode, const char *message,
							   struct Node *escontext);
cuckoo_noreturn extern void cuckoo_error_add(CuckooStatus status,
											 const CuckooFilter *filter);
cuckoo_noreturn extern void cuckoo_error_build(CuckooStatus status,
											   uint64 nentries,
											   uint64 capacity,
											   bool may_be_fitted);
cuckoo_noreturn extern void cuckoo_error_family(CuckooFamily held,
												CuckooFamily given,
												CuckooUse use);
extern void cuckoo_error_unless_removable(const CuckooFilter *filter);

#endif							/* CUCKOO_ERROR_H */
