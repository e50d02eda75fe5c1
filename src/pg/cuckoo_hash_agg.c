/*-------------------------------------------------------------------------
 *
 * cuckoo_hash_agg.c
 *		cf_hash_agg: a filter from a column of hashes.
 *
 * For engines that split an aggregate over servers (Citus, for one).  They
 * call its functions through a FmgrInfo of their own, without the expression
 * that tells the types of the arguments, and send a state to another server
 * in its text or binary form.  So nothing here asks for the expression, and
 * the state is a filter.
 *
 * The state is an expanded filter that is changed in place.  Its hashes wait
 * in a collector, and the filter is built from all of them at once when
 * somebody reads it.  In one process this gives the entries that cf_agg gives.
 * States from several processes are merged as by cf_union_agg.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cuckoo_agg.h"
#include "cuckoo_pg.h"

PG_FUNCTION_INFO_V1(cf_hash_agg_transition);

/*
 * hash_agg_arguments
 *		The parameters of a row, with the defaults of those that are NULL or
 *		left out.
 */
static void
hash_agg_arguments(FunctionCallInfo fcinfo, CuckooHashArguments *arguments)
{
	const int	nargs = PG_NARGS();

	if (PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("capacity must not be null"),
				 errhint("Give the largest number of hashes that you expect in all parts together.")));
	arguments->capacity = PG_GETARG_FLOAT8(2);
	arguments->fpr = nargs > 3 && !PG_ARGISNULL(3) ?
		PG_GETARG_FLOAT8(3) : CUCKOO_DEFAULT_FPR;
	arguments->max_copies = nargs > 4 && !PG_ARGISNULL(4) ?
		PG_GETARG_INT32(4) : CUCKOO_DEFAULT_MAX_COPIES;
	arguments->seed = nargs > 5 && !PG_ARGISNULL(5) ?
		PG_GETARG_INT64(5) : CUCKOO_DEFAULT_SEED;
}

/*
 * hash_agg_error
 *		Refuse an argument that differs from that of the rows before.
 */
cuckoo_noreturn static void
hash_agg_error(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" must be the same for all rows of a group",
					name),
			 errdetail("It makes one filter of all rows of a group."),
			 errhint("Give a constant, or an expression of the GROUP BY columns.")));
}

/*
 * hash_agg_require_same
 *		Refuse arguments that vary between the rows of a group.
 */
static inline void
hash_agg_require_same(const CuckooHashArguments *a,
					  const CuckooHashArguments *b)
{
	if (unlikely(a->capacity != b->capacity))
		hash_agg_error("capacity");
	if (unlikely(a->fpr != b->fpr))
		hash_agg_error("fpr");
	if (unlikely(a->max_copies != b->max_copies))
		hash_agg_error("max_copies");
	if (unlikely(a->seed != b->seed))
		hash_agg_error("seed");
}

/*
 * hash_agg_require_fitting
 *		Refuse arguments that a state, read meanwhile, was not made with.
 *
 * The state no longer has its arguments, but what they make of a filter.
 */
static void
hash_agg_require_fitting(const CuckooFilter *state, const CuckooFilter *empty)
{
	if (state->capacity != empty->capacity)
		hash_agg_error("capacity");
	if (state->geometry.prefix_bits != empty->geometry.prefix_bits)
		hash_agg_error("fpr");
	if (state->declared_copies != empty->declared_copies)
		hash_agg_error("max_copies");
	if (state->seed != empty->seed)
		hash_agg_error("seed");
}

/* Temporary files are not memory: give them back when the query is done. */
static void
hash_agg_end(Datum arg)
{
	ExpandedCuckooFilter *state =
		(ExpandedCuckooFilter *) DatumGetPointer(arg);

	if (state->pending != NULL)
		cuckoo_collector_end(&state->pending->collector);
}

/*
 * hash_agg_state
 *		The state as it is to be changed, ready to collect.
 *
 * It is made in context, that of the aggregate, if there is none yet, or if
 * it comes in its flat form.
 */
static ExpandedCuckooFilter *
hash_agg_state(FunctionCallInfo fcinfo, const CuckooHashArguments *arguments,
			   MemoryContext context)
{
	const bool	is_window =
		AggCheckCallContext(fcinfo, NULL) == AGG_CONTEXT_WINDOW;
	ExpandedCuckooFilter *state;
	CuckooParameters parameters;
	CuckooFilter empty;

	cuckoo_parameters_check(&parameters, arguments->capacity, arguments->fpr,
							arguments->max_copies, arguments->seed);
	cuckoo_parameters_new_filter(&empty, &parameters);
	if (PG_ARGISNULL(0))
	{
		struct varlena *datum = cuckoo_datum_of_filter(&empty);

		state = cuckoo_expanded_new(PointerGetDatum(datum), context);
	}
	else
	{
		state = cuckoo_expanded_for_write(PG_GETARG_DATUM(0));
		if (state == NULL)
			state = cuckoo_expanded_new(PG_GETARG_DATUM(0), context);
		hash_agg_require_fitting(&state->filter, &empty);
	}
	state->pending = cuckoo_pending_new_hashes(state->header.eoh_context,
											   arguments, &parameters,
											   !is_window);
	return state;
}

/*
 * cf_hash_agg_transition(state, hash, capacity, fpr, max_copies, seed)
 *		Collect one hash, which counts once however often it comes.
 *
 * The arities of the aggregate differ in how many of the arguments there are.
 */
Datum
cf_hash_agg_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	CuckooHashArguments arguments;
	ExpandedCuckooFilter *state = NULL;
	CuckooPending *pending;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("transition function of an aggregate cannot be called directly")));

	hash_agg_arguments(fcinfo, &arguments);
	if (likely(!PG_ARGISNULL(0)))
		state = cuckoo_expanded_with_pending(PG_GETARG_DATUM(0));
	if (state != NULL && state->pending != NULL &&
		cuckoo_pending_is_of_hashes(state->pending))
		hash_agg_require_same(&state->pending->arguments, &arguments);
	else
		state = hash_agg_state(fcinfo, &arguments, context);

	pending = state->pending;
	if (!PG_ARGISNULL(1))
		cuckoo_collector_add(&pending->collector,
							 (uint64) PG_GETARG_INT64(1));

	/* not from the start: that takes memory for each of many small groups */
	if (unlikely(pending->collector.sort != NULL) && !pending->is_watched)
	{
		AggRegisterCallback(fcinfo, hash_agg_end, PointerGetDatum(state));
		pending->is_watched = true;
	}
	return EOHPGetRWDatum(&state->header);
}
