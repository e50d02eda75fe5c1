/*-------------------------------------------------------------------------
 *
 * cuckoo_pg.h
 *		What the files of the PostgreSQL glue share.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PG_H
#define CUCKOO_PG_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

#include "../core/cuckoo_filter.h"
#include "cuckoo_hasher.h"
#include "pg_compat.h"

/* Detoasted, but perhaps with a short header and unaligned. */
#define DatumGetCuckooFilterP(d)	PG_DETOAST_DATUM_PACKED(d)
#define PG_GETARG_CUCKOOFILTER_P(n) DatumGetCuckooFilterP(PG_GETARG_DATUM(n))

/* A filter whose image came from cuckoo_host, as the result of a call. */
#define PG_RETURN_CUCKOOFILTER_P(x) PG_RETURN_POINTER(cuckoo_datum_of_filter(x))

/* Defaults of the parameters of a filter, in SQL and in aggregates. */
#define CUCKOO_DEFAULT_FPR			0.01
#define CUCKOO_DEFAULT_MAX_COPIES	CUCKOO_MAX_COPIES
#define CUCKOO_DEFAULT_SEED			0

/* What a value is used for, to say it in an error. */
typedef enum CuckooUse
{
	CUCKOO_USE_ADD,
	CUCKOO_USE_PROBE,
	CUCKOO_USE_REMOVE
} CuckooUse;

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
	struct CuckooPending *pending;	/* what it lacks yet, or NULL */
} ExpandedCuckooFilter;

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

/* cuckoo_io.c: what tells that a type is ours */
extern PGDLLEXPORT Datum cuckoofilter_in(PG_FUNCTION_ARGS);

/* cuckoo_support.c */
extern bool cuckoo_datum_is_filter_type(Oid type);

/* cuckoo_expanded.c */
extern ExpandedCuckooFilter *cuckoo_expanded_new(Datum datum,
												 MemoryContext parent);
extern ExpandedCuckooFilter *cuckoo_expanded_for_write(Datum datum);
extern ExpandedCuckooFilter *cuckoo_expanded_with_pending(Datum datum);
extern const CuckooFilter *cuckoo_expanded_filter(Datum datum);
extern void cuckoo_change_begin(CuckooChange *change,
								FunctionCallInfo fcinfo);
extern bool cuckoo_change_add(CuckooChange *change, const uint64 *hashes,
							  size_t nhashes);
extern bool cuckoo_change_remove(CuckooChange *change, const uint64 *hashes,
								 size_t nhashes);
extern Datum cuckoo_change_end(CuckooChange *change, FunctionCallInfo fcinfo,
							   bool changed);
extern struct varlena *cuckoo_expanded_flat(Datum datum);
extern void cuckoo_expanded_flat_release(struct varlena *flat, Datum datum);

/* cuckoo_union.c */
extern void cuckoo_union_settle(ExpandedCuckooFilter *expanded);

/* cuckoo_module.c */
extern const CuckooHost cuckoo_host;
extern void cuckoo_datum_open(CuckooFilter *filter,
							  const struct varlena *datum);
extern void cuckoo_datum_open_copy(CuckooFilter *filter, Datum datum);
extern struct varlena *cuckoo_datum_of_filter(CuckooFilter *filter);
extern void cuckoo_parameters_check(CuckooParameters *parameters,
									float8 capacity,
									float8 fpr, int32 max_copies, int64 seed);
extern void cuckoo_parameters_new_filter(CuckooFilter *filter,
										 const CuckooParameters *parameters);
extern uint64 cuckoo_parameters_capacity(float8 capacity);
extern uint64 cuckoo_parameters_rate(float8 fpr);

/* cuckoo_error.c */
extern void cuckoo_error_image(CuckooStatus status, const uint8 *image,
							   int sqlerrcode, const char *message,
							   struct Node *escontext);
cuckoo_noreturn extern void cuckoo_error_add(CuckooStatus status,
											 const CuckooFilter *filter);
cuckoo_noreturn extern void cuckoo_error_build(CuckooStatus status,
											   uint64 nentries,
											   uint64 capacity);
cuckoo_noreturn extern void cuckoo_error_parameters(CuckooStatus status,
													float8 capacity,
													float8 fpr);
cuckoo_noreturn extern void cuckoo_error_resize(CuckooStatus status,
												const CuckooFilter *filter,
												uint64 capacity, float8 fpr);
cuckoo_noreturn extern void cuckoo_error_family(CuckooFamily held,
												CuckooFamily given,
												CuckooUse use);
extern void cuckoo_error_unless_removable(const CuckooFilter *filter);

#endif							/* CUCKOO_PG_H */
