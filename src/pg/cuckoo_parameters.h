/*-------------------------------------------------------------------------
 *
 * cuckoo_parameters.h
 *		Parameters of filters as users give them, and what is wrong with them.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PARAMETERS_H
#define CUCKOO_PARAMETERS_H

#include "../core/cuckoo_filter.h"
#include "pg_compat.h"

/* Defaults of the parameters of a filter, in SQL and in aggregates. */
#define CUCKOO_DEFAULT_FPR			0.01
#define CUCKOO_DEFAULT_MAX_COPIES	CUCKOO_MAX_COPIES
#define CUCKOO_DEFAULT_SEED			0

extern uint64 cuckoo_parameters_capacity(float8 capacity);
extern uint64 cuckoo_parameters_rate(float8 fpr);
extern float8 cuckoo_parameters_fpr_of(const CuckooFilter *filter);
extern void cuckoo_parameters_check(CuckooParameters *parameters,
									float8 capacity, float8 fpr,
									int32 max_copies, int64 seed);
extern void cuckoo_parameters_new_filter(CuckooFilter *filter,
										 const CuckooParameters *parameters);
cuckoo_noreturn extern void cuckoo_parameters_error(CuckooStatus status,
													float8 capacity,
													float8 fpr);
cuckoo_noreturn extern void cuckoo_parameters_resize_error(CuckooStatus status,
														   const CuckooFilter *filter,
														   uint64 capacity,
														   float8 fpr);

#endif							/* CUCKOO_PARAMETERS_H */
