/*-------------------------------------------------------------------------
 *
 * cuckoo_func.c
 *		Making, changing and probing filters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/arrayaccess.h"
#include "utils/datum.h"

#include "cuckoo_pg.h"
#include "cuckoo_reader.h"

PG_FUNCTION_INFO_V1(cf_new);
PG_FUNCTION_INFO_V1(cf_add);
PG_FUNCTION_INFO_V1(cf_add_all);
PG_FUNCTION_INFO_V1(cf_add_hash);
PG_FUNCTION_INFO_V1(cf_add_hashes);
PG_FUNCTION_INFO_V1(cf_remove);
PG_FUNCTION_INFO_V1(cf_remove_all);
PG_FUNCTION_INFO_V1(cf_remove_hash);
PG_FUNCTION_INFO_V1(cf_remove_hashes);
PG_FUNCTION_INFO_V1(cf_contains);
PG_FUNCTION_INFO_V1(cf_contained);
PG_FUNCTION_INFO_V1(cf_contains_hash);
PG_FUNCTION_INFO_V1(cf_contains_hashes);
PG_FUNCTION_INFO_V1(cf_contains_any);
PG_FUNCTION_INFO_V1(cf_contains_all);
PG_FUNCTION_INFO_V1(cf_contains_each);
PG_FUNCTION_INFO_V1(cf_count);
PG_FUNCTION_INFO_V1(cf_count_value);
PG_FUNCTION_INFO_V1(cf_hash);
PG_FUNCTION_INFO_V1(cf_clear);
PG_FUNCTION_INFO_V1(cf_resize);

/*
 * What a call site that probes by value remembers from one call to the next.
 */
typedef struct FuncProbe
{
	CuckooReader reader;
	CuckooHasher *hasher;		/* of its value argument, or of the elements */

	/* the hash of a constant or a parameter, see func_stable_value_hash() */
	bool		remembers_value;
	bool		has_value;
	Datum		value;			/* a copy of the last one */
	CuckooFamily value_family;	/* of the filter it was hashed for, */
	uint64		value_seed;		/* and its seed */
	uint64		value_hash;
} FuncProbe;

/*
 * func_value_hasher
 *		The hasher of a call site's value argument, made at its first call.
 */
static inline CuckooHasher *
func_value_hasher(FunctionCallInfo fcinfo, int argno)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		fcinfo->flinfo->fn_extra = cuckoo_hasher_for_argument(fcinfo, argno);
	return fcinfo->flinfo->fn_extra;
}

/* Likewise of the elements of an array argument. */
static inline CuckooHasher *
func_element_hasher(FunctionCallInfo fcinfo, int argno)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		fcinfo->flinfo->fn_extra = cuckoo_hasher_for_elements(fcinfo, argno);
	return fcinfo->flinfo->fn_extra;
}

/*
 * func_new_probe
 *		A call site that remembers nothing yet.
 */
static FuncProbe *
func_new_probe(FunctionCallInfo fcinfo, CuckooHasher *hasher)
{
	const MemoryContext mcxt = fcinfo->flinfo->fn_mcxt;
	FuncProbe  *const probe = MemoryContextAllocZero(mcxt, sizeof(FuncProbe));

	cuckoo_reader_init(&probe->reader, mcxt);
	probe->hasher = hasher;
	return fcinfo->flinfo->fn_extra = probe;
}

/*
 * func_value_probe
 *		The call site of a probe by value.
 */
static inline FuncProbe *
func_value_probe(FunctionCallInfo fcinfo, int argno)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
	{
		CuckooHasher *const hasher = cuckoo_hasher_for_argument(fcinfo, argno);

		func_new_probe(fcinfo, hasher)->remembers_value =
			get_fn_expr_arg_stable(fcinfo->flinfo, argno) &&
			!cuckoo_hasher_follows_catalogs(hasher);
	}
	return fcinfo->flinfo->fn_extra;
}

/* Likewise of a probe by the elements of an array, or by hashes in one. */
static inline FuncProbe *
func_element_probe(FunctionCallInfo fcinfo, int argno, bool are_hashes)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		func_new_probe(fcinfo, are_hashes ? NULL :
					   cuckoo_hasher_for_elements(fcinfo, argno));
	return fcinfo->flinfo->fn_extra;
}

/*
 * func_stable_value_hash
 *		The hash of a constant or a parameter, made once.
 *
 * A call site in PL/pgSQL gets other values of one parameter from one call to
 * the next, so the value is compared with the one before.  That cannot be done
 * with one that is not here: an expanded array may have changed behind the
 * same pointer.  And it says nothing where the same bytes can come to mean
 * another value, so there nothing is remembered in the first place.
 */
static uint64
func_stable_value_hash(FuncProbe *probe, Datum value,
					   const CuckooFilter *filter)
{
	MemoryContext caller;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	cuckoo_hasher_storage(probe->hasher, &typlen, &typbyval, &typalign);
	if (typlen == -1 && VARATT_IS_EXTERNAL(DatumGetPointer(value)))
		return cuckoo_hash_value_for(probe->hasher, value, filter);

	if (probe->has_value && probe->value_seed == filter->seed &&
		probe->value_family == filter->family &&
		datumIsEqual(value, probe->value, typbyval, typlen))
		return probe->value_hash;

	if (probe->has_value && !typbyval)
		pfree(DatumGetPointer(probe->value));
	probe->has_value = false;
	probe->value_hash = cuckoo_hash_value_for(probe->hasher, value, filter);
	probe->value_family = filter->family;
	probe->value_seed = filter->seed;
	caller = MemoryContextSwitchTo(probe->reader.mcxt);
	probe->value = datumCopy(value, typbyval, typlen);
	MemoryContextSwitchTo(caller);
	probe->has_value = true;
	return probe->value_hash;
}

/*
 * func_probe_hash
 *		The hash of the value that a filter is probed with.
 */
static inline uint64
func_probe_hash(FuncProbe *probe, Datum value, const CuckooFilter *filter)
{
	if (unlikely(probe->remembers_value))
		return func_stable_value_hash(probe, value, filter);
	return cuckoo_hash_value_for(probe->hasher, value, filter);
}

/*
 * func_require_family
 *		Refuse values of another kind than the filter holds.
 *
 * A filter without a kind whose entries came in as hashes may hold anything.
 */
static inline void
func_require_family(const CuckooFilter *filter, const CuckooHasher *hasher,
					CuckooUse use, bool are_elements)
{
	const CuckooFamily family = cuckoo_hasher_family(hasher);

	if (unlikely(filter->family != CUCKOO_FAMILY_NONE &&
				 !cuckoo_family_accepts(filter->family, family)))
		cuckoo_family_error(filter->family, family, cuckoo_hasher_type(hasher),
							use, are_elements);
}

/*
 * func_may_hold
 *		Can values of this kind be in the filter?
 *
 * False for an empty filter, whatever kind it is of.  Another kind than it
 * holds is an error.
 */
static inline bool
func_may_hold(const CuckooFilter *filter, const CuckooHasher *hasher,
			  CuckooUse use, bool are_elements)
{
	if (filter->nentries == 0)
		return false;
	func_require_family(filter, hasher, use, are_elements);
	return true;
}

/*
 * func_may_change
 *		Is the filter in argument 0 to be changed for what argument 1 says?
 *
 * Not if that is NULL: the filter stays as it is.  A NULL filter is an error,
 * since the result would be NULL, and the value lost.
 */
static bool
func_may_change(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("cuckoo filter must not be null"),
				 errhint("Make an empty filter with cf_new(capacity), for example COALESCE(filter, cf_new(1000)).")));
	return !PG_ARGISNULL(1);
}

/*
 * func_element_hashes
 *		Hash the elements of an array argument that are not NULL.
 *
 * Without a hasher they are hashes already: those of a bigint[].
 *
 * Returns how many there are; *hashes is palloc'd.  If positions is not NULL,
 * *positions is set to the place of each among all elements.
 */
static int
func_element_hashes(Datum array, CuckooHasher *hasher,
					const CuckooFilter *filter,
					uint64 **hashes,
					int **positions)
{
	AnyArrayType *const elements = DatumGetAnyArrayP(array);
	const int	nelements = ArrayGetNItems(AARR_NDIM(elements),
										   AARR_DIMS(elements));
	array_iter	iterator;
	int16		typlen = sizeof(int64);
	bool		typbyval = FLOAT8PASSBYVAL;
	char		typalign = TYPALIGN_DOUBLE;
	int			nhashes = 0;

	if (hasher != NULL)
		cuckoo_hasher_storage(hasher, &typlen, &typbyval, &typalign);
	cuckoo_array_iter_setup(&iterator, elements, typlen, typbyval, typalign);

	*hashes = palloc(Max(nelements, 1) * sizeof(uint64));
	if (positions != NULL)
		*positions = palloc(Max(nelements, 1) * sizeof(int));
	for (int i = 0; i < nelements; i++)
	{
		Datum		element;
		bool		isnull;

		if (i % CUCKOO_POLL_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
		element = cuckoo_array_iter_next(&iterator, &isnull, i, typlen,
										 typbyval, typalign);
		if (isnull)
			continue;
		if (positions != NULL)
			(*positions)[nhashes] = i;
		(*hashes)[nhashes++] = hasher != NULL ?
			cuckoo_hash_value_for(hasher, element, filter) :
			(uint64) DatumGetInt64(element);
	}
	return nhashes;
}

/*
 * func_add_hashes
 *		Add hashes to the filter in argument 0.
 *
 * hasher is the one that made them, NULL if they came in as hashes.
 */
static Datum
func_add_hashes(FunctionCallInfo fcinfo, CuckooChange *change,
				const CuckooHasher *hasher, bool are_elements,
				const uint64 *hashes, int nhashes)
{
	CuckooFilter *const filter = change->filter;
	const bool	stamps = hasher != NULL &&
		filter->family == CUCKOO_FAMILY_NONE;
	bool		changed;

	if (hasher != NULL)
		func_require_family(filter, hasher, CUCKOO_USE_ADD, are_elements);
	changed = cuckoo_change_add(change, hashes, nhashes);
	if (stamps)
		filter->family = cuckoo_hasher_family(hasher);
	return cuckoo_change_end(change, fcinfo, changed || stamps);
}

/*
 * cf_new(capacity float8, fpr float8, max_copies int, seed bigint)
 *		An empty filter.
 */
Datum
cf_new(PG_FUNCTION_ARGS)
{
	CuckooParameters parameters;
	CuckooFilter filter;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("capacity must not be null"),
				 errhint("Capacity is the largest number of values the filter is meant to hold.")));

	cuckoo_parameters_check(&parameters, PG_GETARG_FLOAT8(0),
							PG_ARGISNULL(1) ? CUCKOO_DEFAULT_FPR :
							PG_GETARG_FLOAT8(1),
							PG_ARGISNULL(2) ? CUCKOO_DEFAULT_MAX_COPIES :
							PG_GETARG_INT32(2),
							PG_ARGISNULL(3) ? CUCKOO_DEFAULT_SEED :
							PG_GETARG_INT64(3));
	cuckoo_parameters_new_filter(&filter, &parameters);
	PG_RETURN_CUCKOOFILTER_P(&filter);
}

/*
 * cf_add(filter, value)
 *		The filter with one more copy of a value.
 *
 * Not STRICT: a NULL value leaves the filter as it is.
 */
Datum
cf_add(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	CuckooHasher *hasher;
	uint64		hash;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	hasher = func_value_hasher(fcinfo, 1);
	hash = cuckoo_hash_value_for(hasher, PG_GETARG_DATUM(1), change.filter);
	return func_add_hashes(fcinfo, &change, hasher, false, &hash, 1);
}

/*
 * cf_add_all(filter, elements)
 *		The filter with one more copy of each element that is not NULL.
 *
 * Not STRICT: a NULL array leaves the filter as it is.
 */
Datum
cf_add_all(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	CuckooHasher *hasher;
	uint64	   *hashes;
	int			nhashes;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	hasher = func_element_hasher(fcinfo, 1);
	nhashes = func_element_hashes(PG_GETARG_DATUM(1), hasher,
								  change.filter, &hashes, NULL);
	return func_add_hashes(fcinfo, &change, nhashes > 0 ? hasher : NULL, true,
						   hashes, nhashes);
}

/*
 * cf_add_hash(filter, hash bigint)
 *		The filter with one more copy of what cf_hash() has hashed.
 *
 * A hash does not tell what kind of value it is of, so it neither stamps the
 * filter nor is checked against it.
 */
Datum
cf_add_hash(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	uint64		hash;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	hash = (uint64) PG_GETARG_INT64(1);
	return func_add_hashes(fcinfo, &change, NULL, false, &hash, 1);
}

/*
 * cf_add_hashes(filter, hashes bigint[])
 *		cf_add_hash() of each hash that is not NULL.
 */
Datum
cf_add_hashes(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	uint64	   *hashes;
	int			nhashes;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	nhashes = func_element_hashes(PG_GETARG_DATUM(1), NULL, change.filter, &hashes, NULL);
	return func_add_hashes(fcinfo, &change, NULL, true, hashes, nhashes);
}

/*
 * cf_remove(filter, value)
 *		The filter with one copy of a value less, if it has one.
 *
 * Not STRICT: a NULL value leaves the filter as it is, where STRICT would
 * lose it.
 */
Datum
cf_remove(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	CuckooHasher *hasher;
	uint64		hash;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	hasher = func_value_hasher(fcinfo, 1);
	cuckoo_error_unless_removable(change.filter);
	if (!func_may_hold(change.filter, hasher, CUCKOO_USE_REMOVE, false))
		return cuckoo_change_end(&change, fcinfo, false);
	hash = cuckoo_hash_value_for(hasher, PG_GETARG_DATUM(1), change.filter);
	return cuckoo_change_end(&change, fcinfo,
							 cuckoo_change_remove(&change, &hash, 1));
}

/*
 * cf_remove_all(filter, elements)
 *		The filter with one copy less of each element that is not NULL.
 */
Datum
cf_remove_all(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	CuckooHasher *hasher;
	uint64	   *hashes;
	int			nhashes;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	hasher = func_element_hasher(fcinfo, 1);
	cuckoo_error_unless_removable(change.filter);
	nhashes = func_element_hashes(PG_GETARG_DATUM(1), hasher,
								  change.filter, &hashes, NULL);
	if (nhashes == 0 ||
		!func_may_hold(change.filter, hasher, CUCKOO_USE_REMOVE, true))
		return cuckoo_change_end(&change, fcinfo, false);
	return cuckoo_change_end(&change, fcinfo,
							 cuckoo_change_remove(&change, hashes, nhashes));
}

/*
 * cf_remove_hash(filter, hash bigint)
 *		The filter with one copy less of what cf_hash() has hashed.
 */
Datum
cf_remove_hash(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	uint64		hash;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	cuckoo_error_unless_removable(change.filter);
	hash = (uint64) PG_GETARG_INT64(1);
	return cuckoo_change_end(&change, fcinfo,
							 cuckoo_change_remove(&change, &hash, 1));
}

/*
 * cf_remove_hashes(filter, hashes bigint[])
 *		cf_remove_hash() of each hash that is not NULL.
 */
Datum
cf_remove_hashes(PG_FUNCTION_ARGS)
{
	CuckooChange change;
	uint64	   *hashes;
	int			nhashes;

	if (!func_may_change(fcinfo))
		return PG_GETARG_DATUM(0);
	cuckoo_change_begin(&change, fcinfo);

	cuckoo_error_unless_removable(change.filter);
	nhashes = func_element_hashes(PG_GETARG_DATUM(1), NULL, change.filter, &hashes, NULL);
	return cuckoo_change_end(&change, fcinfo,
							 cuckoo_change_remove(&change, hashes, nhashes));
}

/*
 * func_contains
 *		Probe a filter argument with a value argument.
 */
static inline bool
func_contains(FunctionCallInfo fcinfo, int filter_argno, int value_argno)
{
	FuncProbe  *const probe = func_value_probe(fcinfo, value_argno);
	const CuckooFilter *const filter =
		cuckoo_reader_open(&probe->reader, PG_GETARG_DATUM(filter_argno));
	bool		result;

	result = func_may_hold(filter, probe->hasher, CUCKOO_USE_PROBE, false) &&
		cuckoo_reader_contains(&probe->reader,
							   func_probe_hash(probe,
											   PG_GETARG_DATUM(value_argno),
											   filter));
	cuckoo_reader_close(&probe->reader);
	return result;
}

/*
 * cf_contains(filter, value)
 *		May the value be in the filter?  False is certain.
 */
Datum
cf_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(func_contains(fcinfo, 0, 1));
}

/*
 * cf_contained(value, filter)
 *		The same with the arguments exchanged, for the operator <@.
 */
Datum
cf_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(func_contains(fcinfo, 1, 0));
}

/*
 * cf_contains_hash(filter, hash bigint)
 *		May what cf_hash() has hashed be in the filter?
 */
Datum
cf_contains_hash(PG_FUNCTION_ARGS)
{
	CuckooReader *const reader = cuckoo_reader(fcinfo);
	bool		result;

	cuckoo_reader_open(reader, PG_GETARG_DATUM(0));
	result = cuckoo_reader_contains(reader, (uint64) PG_GETARG_INT64(1));
	cuckoo_reader_close(reader);
	PG_RETURN_BOOL(result);
}

/*
 * func_probe_elements
 *		Probe the filter in argument 0 with the elements of argument 1.
 *
 * are_hashes says that these are hashes, not values.  Returns the number of
 * elements that are not NULL; *results is palloc'd and has their answers,
 * *positions, if not NULL, their places in the array.
 */
static int
func_probe_elements(FunctionCallInfo fcinfo, bool are_hashes, bool **results,
					int **positions)
{
	FuncProbe  *const probe = func_element_probe(fcinfo, 1, are_hashes);
	const CuckooFilter *filter;
	uint64	   *hashes;
	int			nhashes;

	filter = cuckoo_reader_open(&probe->reader, PG_GETARG_DATUM(0));
	nhashes = func_element_hashes(PG_GETARG_DATUM(1), probe->hasher,
								  filter, &hashes, positions);
	*results = palloc0(Max(nhashes, 1) * sizeof(bool));
	if (nhashes > 0 &&
		(are_hashes ||
		 func_may_hold(filter, probe->hasher, CUCKOO_USE_PROBE, true)))
		cuckoo_reader_contains_batch(&probe->reader, hashes, nhashes,
									 *results);

	pfree(hashes);
	cuckoo_reader_close(&probe->reader);
	return nhashes;
}

/*
 * cf_contains_any(filter, elements)
 *		May any of the elements be in the filter?  NULL ones are not.
 */
Datum
cf_contains_any(PG_FUNCTION_ARGS)
{
	bool	   *results;
	const int	nresults = func_probe_elements(fcinfo, false, &results, NULL);

	PG_RETURN_BOOL(memchr(results, true, nresults) != NULL);
}

/*
 * cf_contains_all(filter, elements)
 *		May all elements that are not NULL be in the filter?
 */
Datum
cf_contains_all(PG_FUNCTION_ARGS)
{
	bool	   *results;
	const int	nresults = func_probe_elements(fcinfo, false, &results, NULL);

	PG_RETURN_BOOL(memchr(results, false, nresults) == NULL);
}

/*
 * func_contains_each
 *		The answers for the elements of argument 1, in an array of the same
 *		shape.
 */
static Datum
func_contains_each(FunctionCallInfo fcinfo, bool are_hashes)
{
	ArrayType  *const array = PG_GETARG_ARRAYTYPE_P(1);
	const int	nelements = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Datum	   *const answers = palloc0(Max(nelements, 1) * sizeof(Datum));
	bool	   *const nulls = palloc(Max(nelements, 1) * sizeof(bool));
	bool	   *results;
	int		   *positions;
	int			nresults;

	nresults = func_probe_elements(fcinfo, are_hashes, &results, &positions);
	memset(nulls, true, nelements);
	for (int i = 0; i < nresults; i++)
	{
		answers[positions[i]] = BoolGetDatum(results[i]);
		nulls[positions[i]] = false;
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(answers, nulls, ARR_NDIM(array),
											 ARR_DIMS(array),
											 ARR_LBOUND(array), BOOLOID,
											 sizeof(bool), true,
											 TYPALIGN_CHAR));
}

/*
 * cf_contains_each(filter, elements)
 *		cf_contains() of each element, as an array of the same shape.
 */
Datum
cf_contains_each(PG_FUNCTION_ARGS)
{
	return func_contains_each(fcinfo, false);
}

/*
 * cf_contains_hashes(filter, hashes bigint[])
 *		cf_contains_hash() of each hash, as an array of the same shape.
 */
Datum
cf_contains_hashes(PG_FUNCTION_ARGS)
{
	return func_contains_each(fcinfo, true);
}

/*
 * cf_count(filter)
 *		Entries held: copies of values, all together.
 */
Datum
cf_count(PG_FUNCTION_ARGS)
{
	CuckooReader *const reader = cuckoo_reader(fcinfo);
	const int64 nentries = (int64)
		cuckoo_reader_open_header(reader, PG_GETARG_DATUM(0))->nentries;

	cuckoo_reader_close(reader);
	PG_RETURN_INT64(nentries);
}

/*
 * cf_count(filter, value)
 *		Copies of one value, from 0 to max_copies.
 */
Datum
cf_count_value(PG_FUNCTION_ARGS)
{
	FuncProbe  *const probe = func_value_probe(fcinfo, 1);
	const CuckooFilter *const filter =
		cuckoo_reader_open(&probe->reader, PG_GETARG_DATUM(0));
	int			ncopies = 0;

	if (func_may_hold(filter, probe->hasher, CUCKOO_USE_PROBE, false))
		ncopies = cuckoo_reader_count(&probe->reader,
									  func_probe_hash(probe,
													  PG_GETARG_DATUM(1),
													  filter));
	cuckoo_reader_close(&probe->reader);
	PG_RETURN_INT32(ncopies);
}

/*
 * cf_hash(value, seed bigint)
 *		The hash that a filter with that seed takes of a value.
 *
 * Not STRICT: a NULL seed stands for the default.
 */
Datum
cf_hash(PG_FUNCTION_ARGS)
{
	const int64 seed = PG_ARGISNULL(1) ? CUCKOO_DEFAULT_SEED :
		PG_GETARG_INT64(1);

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) cuckoo_hash_value(func_value_hasher(fcinfo, 0),
											  PG_GETARG_DATUM(0),
											  (uint64) seed));
}

/*
 * cf_clear(filter)
 *		An empty filter of the same parameters.
 */
Datum
cf_clear(PG_FUNCTION_ARGS)
{
	CuckooReader *const reader = cuckoo_reader(fcinfo);
	CuckooFilter empty;

	if (cuckoo_filter_clear(cuckoo_reader_open_header(reader,
													  PG_GETARG_DATUM(0)),
							&empty, &cuckoo_host) != CUCKOO_OK)
		elog(ERROR, "empty cuckoo filter could not be made");
	cuckoo_reader_close(reader);
	PG_RETURN_CUCKOOFILTER_P(&empty);
}

/*
 * cf_resize(filter, capacity float8, fpr float8)
 *		A filter of the same values for another capacity or rate.
 *
 * Not STRICT: a NULL capacity or rate is left as it is.
 */
Datum
cf_resize(PG_FUNCTION_ARGS)
{
	CuckooFilter filter;
	CuckooFilter resized;
	CuckooStatus status;
	uint64		capacity = 0;
	uint64		rate = 0;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	cuckoo_datum_open(&filter, cuckoo_expanded_flat(PG_GETARG_DATUM(0)));
	if (!PG_ARGISNULL(1))
		capacity = cuckoo_parameters_capacity(PG_GETARG_FLOAT8(1));
	if (!PG_ARGISNULL(2))
		rate = cuckoo_parameters_rate(PG_GETARG_FLOAT8(2));

	status = cuckoo_filter_resize(&filter, &resized, capacity, rate,
								  &cuckoo_host);
	if (status != CUCKOO_OK)
		cuckoo_parameters_resize_error(status, &filter, capacity,
									   PG_ARGISNULL(2) ? 0.0 : PG_GETARG_FLOAT8(2));
	PG_RETURN_CUCKOOFILTER_P(&resized);
}
