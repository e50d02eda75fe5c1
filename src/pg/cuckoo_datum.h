/*-------------------------------------------------------------------------
 *
 * cuckoo_datum.h
 *		A datum to a filter and back, in the memory of the server.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_DATUM_H
#define CUCKOO_DATUM_H

#include "fmgr.h"

#include "../core/cuckoo_filter.h"

/* Detoasted, but perhaps with a short header and unaligned. */
#define DatumGetCuckooFilterP(d)	PG_DETOAST_DATUM_PACKED(d)
#define PG_GETARG_CUCKOOFILTER_P(n) DatumGetCuckooFilterP(PG_GETARG_DATUM(n))

/* A filter whose image came from cuckoo_host, as the result of a call. */
#define PG_RETURN_CUCKOOFILTER_P(x) PG_RETURN_POINTER(cuckoo_datum_of_filter(x))

extern const CuckooHost cuckoo_host;

/* The input function, which tells that a type is ours. */
extern PGDLLEXPORT Datum cuckoofilter_in(PG_FUNCTION_ARGS);

extern void cuckoo_datum_open(CuckooFilter *filter,
							  const struct varlena *datum);
extern void cuckoo_datum_open_copy(CuckooFilter *filter, Datum datum);
extern struct varlena *cuckoo_datum_of_filter(CuckooFilter *filter);
extern bool cuckoo_datum_is_filter_type(Oid type);

#endif							/* CUCKOO_DATUM_H */
