/*-------------------------------------------------------------------------
 *
 * cuckoo_module.c
 *		The module, and how the core meets the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <math.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "cuckoo_pg.h"
#include "cuckoo_reader.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("cuckoo_filter.cache_size",
							"Sets the maximum memory to be used for stored filters that are probed again and again.",
							"Filters are kept until the end of the query. 0 keeps none.",
							&cuckoo_cache_size,
							64 * 1024, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("cuckoo_filter.enable_slices",
							 "Lets probes of stored filters read no more than they need.",
							 "Otherwise they read filters whole.",
							 &cuckoo_enable_slices,
							 true,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("cuckoo_filter");
}

/*
 * Images are allocated with a varlena length before them, in the current
 * memory context: what the core returns is a datum without further copying.
 */
static void *
module_host_alloc(void *context, size_t bytes)
{
	return (char *) palloc(VARHDRSZ + bytes) + VARHDRSZ;
}

static void
module_host_release(void *context, void *memory)
{
	pfree((char *) memory - VARHDRSZ);
}

static void
module_host_poll(void *context)
{
	CHECK_FOR_INTERRUPTS();
}

const CuckooHost cuckoo_host = {
	module_host_alloc, module_host_release, module_host_poll, NULL
};

/*
 * cuckoo_datum_open
 *		Open a detoasted filter for reading.
 *
 * filter refers to the bytes of datum, which must not be changed through it.
 */
void
cuckoo_datum_open(CuckooFilter *filter, const struct varlena *datum)
{
	const uint8 *const image = (const uint8 *) VARDATA_ANY(datum);
	const CuckooStatus status =
		cuckoo_image_open(filter, image, VARSIZE_ANY_EXHDR(datum));

	if (unlikely(status != CUCKOO_OK))
		cuckoo_error_image(status, image, ERRCODE_DATA_CORRUPTED,
						   "cuckoo filter is corrupted", NULL);
}

/*
 * cuckoo_datum_open_copy
 *		Open a copy of a filter that may be changed.
 */
void
cuckoo_datum_open_copy(CuckooFilter *filter, Datum datum)
{
	cuckoo_datum_open(filter, PG_DETOAST_DATUM_COPY(datum));
}

/*
 * cuckoo_datum_of_filter
 *		Make a datum of a filter whose image came from cuckoo_host.
 */
struct varlena *
cuckoo_datum_of_filter(CuckooFilter *filter)
{
	struct varlena *const datum =
		(struct varlena *) (filter->image - VARHDRSZ);

	cuckoo_header_store(filter);
	SET_VARSIZE(datum, VARHDRSZ + filter->image_bytes);
	return datum;
}

/*
 * cuckoo_parameters_capacity
 *		A capacity as users give it: at least 1, a fraction rounded up.
 */
uint64
cuckoo_parameters_capacity(float8 capacity)
{
	if (!(capacity > 0.0 && capacity <= (float8) CUCKOO_MAX_CAPACITY))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be between 1 and %llu",
						(unsigned long long) CUCKOO_MAX_CAPACITY),
				 errdetail("The capacity given is %g.", capacity),
				 errhint("The capacity is how many values the filter will hold one day.")));
	return (uint64) ceil(capacity);
}

/*
 * cuckoo_parameters_rate
 *		A false positive rate as users give it, as the core takes it.
 *
 * Scaling by a power of two and cutting off the fraction round nothing that
 * another machine could round differently.  Never 0, which is no rate.
 */
uint64
cuckoo_parameters_rate(float8 fpr)
{
	if (!(fpr > 0.0 && fpr < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false positive rate must be greater than 0 and less than 1"),
				 errdetail("The rate given is %g.", fpr),
				 errhint("The rate is a fraction: 1 %% is 0.01.")));
	return Max((uint64) ldexp(fpr, CUCKOO_RATE_BITS), 1);
}

/*
 * cuckoo_parameters_check
 *		Check the parameters of a new filter.
 *
 * An error is raised if any is out of range, or if no filter can have them
 * together.
 */
void
cuckoo_parameters_check(CuckooParameters *parameters, float8 capacity,
						float8 fpr,
						int32 max_copies, int64 seed)
{
	CuckooFilter filter;
	CuckooStatus status;

	parameters->capacity = cuckoo_parameters_capacity(capacity);
	parameters->rate = cuckoo_parameters_rate(fpr);
	if (max_copies < 1 || max_copies > CUCKOO_MAX_COPIES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_copies must be between 1 and %d",
						CUCKOO_MAX_COPIES),
				 errdetail("The max_copies given is %d.", max_copies),
				 errhint("A value can be added more often than that; only so many adds of it are counted.")));
	parameters->max_copies = max_copies;
	parameters->seed = (uint64) seed;

	status = cuckoo_filter_new(&filter, parameters, NULL);
	if (status != CUCKOO_OK)
		cuckoo_error_parameters(status, capacity, fpr);
}

/*
 * cuckoo_parameters_new_filter
 *		An empty filter of parameters that have been checked.
 */
void
cuckoo_parameters_new_filter(CuckooFilter *filter,
							 const CuckooParameters *parameters)
{
	const CuckooStatus status = cuckoo_filter_new(filter, parameters,
												  &cuckoo_host);

	if (status != CUCKOO_OK)
		elog(ERROR, "unexpected result of making a cuckoo filter: %s",
			 cuckoo_status_reason(status));
}
