/*-------------------------------------------------------------------------
 *
 * cuckoo_union.c
 *		Union, intersection and overlap of filters, and union as aggregates.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"

#include "../core/cuckoo_merge.h"
#include "cuckoo_datum.h"
#include "cuckoo_error.h"
#include "cuckoo_expanded.h"
#include "cuckoo_hasher.h"

PG_FUNCTION_INFO_V1(cf_union);
PG_FUNCTION_INFO_V1(cf_union_all);
PG_FUNCTION_INFO_V1(cf_intersection);
PG_FUNCTION_INFO_V1(cf_overlap);
PG_FUNCTION_INFO_V1(cf_union_agg_transition);
PG_FUNCTION_INFO_V1(cf_union_all_agg_transition);
PG_FUNCTION_INFO_V1(cf_union_agg_final);

/*
 * The most that may be pending, whatever work_mem is: then and with a filter on
 * top there are less than 2^32 entries in a part of a pool.
 */
#define MAX_PENDING_BYTES	(UINT64_C(1) << 33)

/*
 * union_require_mergeable
 *		Refuse filters whose entries mean different things.
 */
static void
union_require_mergeable(const CuckooFilter *a, const CuckooFilter *b)
{
	if (a->family != b->family &&
		a->family != CUCKOO_FAMILY_NONE && b->family != CUCKOO_FAMILY_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot merge cuckoo filters of %s and %s values",
						cuckoo_family_name(a->family),
						cuckoo_family_name(b->family)),
				 errdetail("One value has different bytes as a value of either family."),
				 errhint("Build both filters of values of one type.")));

	switch (cuckoo_merge_compatible(a, b))
	{
		case CUCKOO_OK:
			break;
		case CUCKOO_SEEDS_DIFFER:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot merge cuckoo filters with different seeds"),
					 errdetail("The seeds are %lld and %lld.",
							   (long long) a->seed, (long long) b->seed),
					 errhint(CUCKOO_MERGEABLE_HINT)));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot merge cuckoo filters with different numbers of columns"),
					 errdetail("Capacities of %llu and %llu gave them %u and %u columns.",
							   (unsigned long long) a->capacity,
							   (unsigned long long) b->capacity,
							   a->geometry.ncolumns, b->geometry.ncolumns),
					 errhint(CUCKOO_MERGEABLE_HINT)));
			break;
	}
}

/*
 * union_merge_error
 *		Say why two filters could not be merged after all.
 */
cuckoo_noreturn static void
union_merge_error(CuckooStatus status, const CuckooFilter *a,
				  const CuckooFilter *b)
{
	if (status == CUCKOO_TOO_COARSE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot merge cuckoo filters whose false positive rates differ too much"),
				 errdetail("The entries of one keep %d bits, too few for the size of the other.",
						   Min(a->geometry.prefix_bits,
							   b->geometry.prefix_bits)),
				 errhint(CUCKOO_MERGEABLE_HINT)));
	cuckoo_error_merge(status, a);
}

/*
 * union_merge
 *		Make filter the union of itself and another one.
 */
static void
union_merge(CuckooFilter *filter, const CuckooFilter *other, bool add_copies)
{
	CuckooStatus status;

	union_require_mergeable(filter, other);
	status = cuckoo_merge_into(filter, other, add_copies, &cuckoo_host);
	if (status != CUCKOO_OK)
		union_merge_error(status, filter, other);
}

/*
 * union_merge_arguments
 *		The union of both arguments.
 */
static Datum
union_merge_arguments(FunctionCallInfo fcinfo, bool add_copies)
{
	CuckooFilter filter;
	CuckooFilter other;

	cuckoo_datum_open_copy(&filter, PG_GETARG_DATUM(0));
	cuckoo_datum_open(&other, PG_GETARG_CUCKOOFILTER_P(1));
	union_merge(&filter, &other, add_copies);
	PG_RETURN_CUCKOOFILTER_P(&filter);
}

/*
 * cf_union(a, b)
 *		A filter of the values of both, with the larger number of copies.
 */
Datum
cf_union(PG_FUNCTION_ARGS)
{
	return union_merge_arguments(fcinfo, false);
}

/*
 * cf_union_all(a, b)
 *		A filter of the values of both, with the copies of both.
 */
Datum
cf_union_all(PG_FUNCTION_ARGS)
{
	return union_merge_arguments(fcinfo, true);
}

/*
 * cf_intersection(a, b)
 *		A filter of the values that both may contain.
 */
Datum
cf_intersection(PG_FUNCTION_ARGS)
{
	CuckooFilter a;
	CuckooFilter b;
	CuckooFilter common;
	CuckooStatus status;

	cuckoo_datum_open(&a, PG_GETARG_CUCKOOFILTER_P(0));
	cuckoo_datum_open(&b, PG_GETARG_CUCKOOFILTER_P(1));
	union_require_mergeable(&a, &b);
	status = cuckoo_merge_intersection(&a, &b, &common, &cuckoo_host);
	if (status != CUCKOO_OK)
		union_merge_error(status, &a, &b);
	PG_RETURN_CUCKOOFILTER_P(&common);
}

/*
 * cf_overlap(a, b)
 *		The estimated number of values that were added to both.
 */
Datum
cf_overlap(PG_FUNCTION_ARGS)
{
	CuckooFilter a;
	CuckooFilter b;
	CuckooStatus status;
	double		nvalues;

	cuckoo_datum_open(&a, PG_GETARG_CUCKOOFILTER_P(0));
	cuckoo_datum_open(&b, PG_GETARG_CUCKOOFILTER_P(1));
	union_require_mergeable(&a, &b);
	status = cuckoo_merge_overlap(&a, &b, &nvalues, &cuckoo_host);
	if (status != CUCKOO_OK)
		union_merge_error(status, &a, &b);
	PG_RETURN_FLOAT8(nvalues);
}

/*
 * union_pending_limit
 *		Bytes that may be pending for the state of an aggregate.
 *
 * With hashing there is a state for each group at the same time, so that what
 * each has pending must not be many times what it has.
 */
static Size
union_pending_limit(FunctionCallInfo fcinfo, const ExpandedCuckooFilter *state)
{
	const Size	limit = Min((Size) work_mem * 1024, MAX_PENDING_BYTES);

	if (IsA(fcinfo->context, AggState) &&
		((AggState *) fcinfo->context)->aggstrategy != AGG_PLAIN &&
		((AggState *) fcinfo->context)->aggstrategy != AGG_SORTED)
		return Min(limit, 2 * state->filter.image_bytes);
	return limit;
}

/*
 * union_merge_later
 *		Let a filter be merged into a state together with others.
 *
 * Returns false if it had better be merged at once: if it is too large, or not
 * of the same parameters, or if the state fits the cache anyway; or if its
 * table is the larger one, which the state then goes on with.
 */
static bool
union_merge_later(ExpandedCuckooFilter *state, const CuckooFilter *other,
				  bool add_copies, Size limit)
{
	CuckooPending *pending = state->pending;

	if (!cuckoo_merge_by_keys(&state->filter, other) ||
		state->filter.geometry.index_bits < CUCKOO_SUPERBLOCK_BITS ||
		state->filter.geometry.index_bits < other->geometry.index_bits ||
		other->nentries > limit / sizeof(uint64))
		return false;

	union_require_mergeable(&state->filter, other);
	if (pending == NULL)
		pending = state->pending =
			cuckoo_pending_new(state->header.eoh_context, &state->filter,
							   add_copies);

	cuckoo_pending_add(pending, other);
	cuckoo_merge_header(&state->filter, other);
	if (cuckoo_pending_bytes(pending) > limit)
		cuckoo_expanded_flush(state);
	return true;
}

/*
 * union_merge_transition
 *		Merge a filter into the state of an aggregate.
 *
 * The state is an expanded filter that lives in the aggregate's context and is
 * changed in place.  A state that comes from another process is flat; the
 * first thing done with it is to expand it.
 */
static Datum
union_merge_transition(FunctionCallInfo fcinfo, bool add_copies)
{
	MemoryContext context;
	ExpandedCuckooFilter *state;
	struct varlena *datum;
	CuckooFilter other;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("transition function of an aggregate cannot be called directly")));

	if (PG_ARGISNULL(0))
	{
		if (PG_ARGISNULL(1))
			PG_RETURN_NULL();
		state = cuckoo_expanded_new(PG_GETARG_DATUM(1), context);
		return EOHPGetRWDatum(&state->header);
	}
	if (PG_ARGISNULL(1))
		return PG_GETARG_DATUM(0);

	state = cuckoo_expanded_with_pending(PG_GETARG_DATUM(0));
	if (state == NULL)
		state = cuckoo_expanded_new(PG_GETARG_DATUM(0), context);
	if (state->pending != NULL && cuckoo_pending_is_of_hashes(state->pending))
		cuckoo_expanded_flush(state);
	datum = PG_GETARG_CUCKOOFILTER_P(1);
	cuckoo_datum_open(&other, datum);
	if (!union_merge_later(state, &other, add_copies,
						   union_pending_limit(fcinfo, state)))
	{
		const MemoryContext old =
			MemoryContextSwitchTo(state->header.eoh_context);

		cuckoo_expanded_flush(state);
		union_merge(&state->filter, &other, add_copies);
		MemoryContextSwitchTo(old);
	}
	PG_FREE_IF_COPY(datum, 1);
	return EOHPGetRWDatum(&state->header);
}

/*
 * cf_union_agg_transition(state, filter)
 *		Transition function of cf_union_agg; combine function of cf_union_agg
 *		and cf_hash_agg.
 */
Datum
cf_union_agg_transition(PG_FUNCTION_ARGS)
{
	return union_merge_transition(fcinfo, false);
}

/*
 * cf_union_all_agg_transition(state, filter)
 *		Transition and combine function of cf_union_all_agg.
 */
Datum
cf_union_all_agg_transition(PG_FUNCTION_ARGS)
{
	return union_merge_transition(fcinfo, true);
}

/*
 * cf_union_agg_final(state)
 *		The union, now that all filters are there.
 */
Datum
cf_union_agg_final(PG_FUNCTION_ARGS)
{
	/* to be read, it is flushed */
	if (VARATT_IS_EXTERNAL_EXPANDED(PG_GETARG_POINTER(0)))
		(void) cuckoo_expanded_filter(PG_GETARG_DATUM(0));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
