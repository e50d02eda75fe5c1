/*-------------------------------------------------------------------------
 *
 * cuckoo_info.c
 *		Describing filters: what one is, will be, and what is wrong with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "cuckoo_pg.h"
#include "cuckoo_reader.h"

PG_FUNCTION_INFO_V1(cf_fpr);
PG_FUNCTION_INFO_V1(cf_info);
PG_FUNCTION_INFO_V1(cf_plan);
PG_FUNCTION_INFO_V1(cf_check);

/* Columns of the row that cf_info() returns. */
#define INFO_COLUMNS	24

/*
 * cf_fpr(filter)
 *		The false positive rate of a filter as it is.
 */
Datum
cf_fpr(PG_FUNCTION_ARGS)
{
	CuckooReader *const reader = cuckoo_reader(fcinfo);
	const float8 fpr =
		cuckoo_filter_fpr(cuckoo_reader_open_header(reader, PG_GETARG_DATUM(0)));

	cuckoo_reader_close(reader);
	PG_RETURN_FLOAT8(fpr);
}

/*
 * cf_info(filter)
 *		One row of all that the header says, and what follows from it.
 */
Datum
cf_info(PG_FUNCTION_ARGS)
{
	CuckooReader *const reader = cuckoo_reader(fcinfo);
	const CuckooFilter *filter;
	TupleDesc	tupdesc;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {false};
	int			i = 0;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	filter = cuckoo_reader_open_header(reader, PG_GETARG_DATUM(0));

	values[i++] = CStringGetTextDatum(filter->is_table ? "table" : "list");
	nulls[i] = filter->family == CUCKOO_FAMILY_NONE;
	values[i++] = CStringGetTextDatum(cuckoo_family_name(filter->family));
	values[i++] = Int64GetDatum((int64) filter->capacity);
	values[i++] = Int64GetDatum((int64) filter->nentries);
	values[i++] = Float8GetDatum(cuckoo_filter_load_factor(filter));
	values[i++] = Float8GetDatum(cuckoo_filter_fpr(filter));
	values[i++] = Float8GetDatum(cuckoo_filter_declared_fpr(filter));
	values[i++] = Float8GetDatum(cuckoo_parameters_fpr_of(filter));
	values[i++] = Int64GetDatum((int64) (VARHDRSZ + filter->image_bytes));
	nulls[i] = filter->nentries == 0;
	values[i++] = Float8GetDatum(filter->nentries == 0 ? 0.0 :
								 8.0 * (VARHDRSZ + filter->image_bytes) /
								 filter->nentries);
	values[i++] = Int32GetDatum(filter->declared_copies);
	values[i++] = Int32GetDatum(filter->max_copies);
	values[i++] = BoolGetDatum(filter->is_merged);
	values[i++] = Int64GetDatum((int64) filter->seed);
	values[i++] = Int32GetDatum((int32) filter->geometry.ncolumns);
	values[i++] = Int32GetDatum(filter->geometry.index_bits);
	values[i++] = Int32GetDatum(filter->geometry.prefix_bits);
	nulls[i] = !filter->is_table;
	values[i++] = Int32GetDatum(cuckoo_geometry_fp_bits(&filter->geometry));
	values[i++] = Int64GetDatum((int64) filter->nkicks);
	values[i++] = Int32GetDatum(filter->longest_path);
	values[i++] = Int32GetDatum(filter->ngrowths);
	nulls[i] = filter->ngrowths == 0;
	values[i++] = Float8GetDatum((float8) filter->growth_load /
								 CUCKOO_GROWTH_LOAD_UNIT);
	values[i++] = Int32GetDatum(CUCKOO_FORMAT_VERSION);
	values[i++] = Int32GetDatum(CUCKOO_HASH_VERSION);
	Assert(i == lengthof(values) && i == tupdesc->natts);

	cuckoo_reader_close(reader);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}

/*
 * info_put_plan
 *		One row of cf_plan().
 *
 * Returns CUCKOO_OK, or what cuckoo_filter_new() says of capacity and rate.
 */
static CuckooStatus
info_put_plan(ReturnSetInfo *rsinfo, uint64 capacity, float8 fpr)
{
	const CuckooParameters parameters = {
		capacity, cuckoo_parameters_rate(fpr), CUCKOO_DEFAULT_MAX_COPIES,
		CUCKOO_DEFAULT_SEED
	};
	CuckooFilter filter;
	CuckooStatus status = cuckoo_filter_new(&filter, &parameters, NULL);
	uint64		bytes;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (status != CUCKOO_OK)
		return status;

	bytes = VARHDRSZ + cuckoo_filter_full_bytes(&filter);
	values[0] = Float8GetDatum(fpr);
	values[1] = Float8GetDatum(cuckoo_filter_declared_fpr(&filter));
	nulls[2] = !cuckoo_filter_full_is_table(&filter);
	values[2] = Int32GetDatum(cuckoo_geometry_fp_bits(&filter.geometry));
	values[3] = Float8GetDatum(8.0 * bytes / capacity);
	values[4] = Int64GetDatum((int64) bytes);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return CUCKOO_OK;
}

/*
 * cf_plan(capacity float8, fpr float8)
 *		What filters of a capacity cost: one row for the rate, or, if that is
 *		NULL, one for each of some usual rates that is possible.
 */
Datum
cf_plan(PG_FUNCTION_ARGS)
{
	static const float8 usual_rates[] = {
		0.01, 0.001, 0.0001, 0.00001, 0.000001
	};
	uint64		capacity;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;

	capacity = cuckoo_parameters_capacity(PG_GETARG_FLOAT8(0));
	if (!PG_ARGISNULL(1))
	{
		const CuckooStatus status =
			info_put_plan((ReturnSetInfo *) fcinfo->resultinfo, capacity,
						  PG_GETARG_FLOAT8(1));

		if (status != CUCKOO_OK)
			cuckoo_parameters_error(status, PG_GETARG_FLOAT8(0),
									PG_GETARG_FLOAT8(1));
		return (Datum) 0;
	}

	for (int i = 0; i < lengthof(usual_rates); i++)
	{
		const CuckooStatus status =
			info_put_plan((ReturnSetInfo *) fcinfo->resultinfo, capacity,
						  usual_rates[i]);

		/* the coarsest is the smallest */
		if (status != CUCKOO_OK && i == 0)
			cuckoo_parameters_error(status, PG_GETARG_FLOAT8(0),
									usual_rates[i]);
	}
	return (Datum) 0;
}

/*
 * cf_check(filter)
 *		What is wrong with a stored filter: no row if it is sound.
 */
Datum
cf_check(PG_FUNCTION_ARGS)
{
	struct varlena *const datum = cuckoo_expanded_flat(PG_GETARG_DATUM(0));
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	CuckooFilter filter;
	CuckooStatus status;
	char	   *problem;
	Datum		value;
	bool		isnull = false;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);

	status = cuckoo_image_open(&filter, (const uint8 *) VARDATA_ANY(datum),
							   VARSIZE_ANY_EXHDR(datum));
	if (status != CUCKOO_OK)
		problem = psprintf("header: %s", cuckoo_status_reason(status));
	else
	{
		uint64		position;

		status = cuckoo_image_check(&filter, &cuckoo_host, &position);
		if (status == CUCKOO_OK)
			return (Datum) 0;
		if (!filter.is_table)
			problem = psprintf("hash at position %llu: %s",
							   (unsigned long long) position,
							   cuckoo_status_reason(status));
		else if (status == CUCKOO_BAD_BUCKET || status == CUCKOO_BAD_COPIES)
			problem = psprintf("bucket %llu: %s",
							   (unsigned long long) position,
							   cuckoo_status_reason(status));
		else
			problem = psprintf("table: %s", cuckoo_status_reason(status));
	}

	value = CStringGetTextDatum(problem);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value, &isnull);
	return (Datum) 0;
}
