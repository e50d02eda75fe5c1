/*-------------------------------------------------------------------------
 *
 * cuckoo_agg.c
 *		cf_agg and cf_bag_agg: a filter from the values of a column.
 *
 * The state collects hashes, cf_agg each once, cf_bag_agg up to max_copies
 * times.  The filter is built at the end, when their number is known, so that
 * its bytes depend on the values and the parameters only: not on the order of
 * rows, the plan, or the number of workers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "cuckoo_agg.h"
#include "cuckoo_collector.h"
#include "cuckoo_pg.h"

/* Arguments of the aggregates after the value. */
#define NPARAMETERS			4

/*
 * There is one state for each of very many groups: members are in an order
 * that leaves few holes, so that it is allocated as 128 bytes, not as 256.
 */
typedef struct CuckooAggState
{
	/* the arguments after the value, the defaults where they are NULL */
	bool		isnull[NPARAMETERS];
	int32		max_copies;
	float8		capacity;
	float8		fpr;
	int64		seed;

	CuckooFamily family;		/* of the values so far */
	bool		is_watched;		/* the files of the collector will be closed */
	CuckooHasher *hasher;		/* if no call site has one for us */
	CuckooCollector collector;
} CuckooAggState;

StaticAssertDecl(sizeof(CuckooAggState) <= 128,
				 "a state takes more than 128 bytes");

PG_FUNCTION_INFO_V1(cf_agg_transition);
PG_FUNCTION_INFO_V1(cf_bag_agg_transition);
PG_FUNCTION_INFO_V1(cf_agg_combine);
PG_FUNCTION_INFO_V1(cf_agg_serialize);
PG_FUNCTION_INFO_V1(cf_agg_deserialize);
PG_FUNCTION_INFO_V1(cf_agg_final);

/*
 * agg_read_parameters
 *		Set the parameters of a state from the arguments after the value.
 *
 * An error is raised if there is no filter of such parameters.
 */
static void
agg_read_parameters(CuckooAggState *state, int narguments,
					const NullableDatum *arguments)
{
	CuckooParameters checked;

	for (int i = 0; i < NPARAMETERS; i++)
		state->isnull[i] = i >= narguments || arguments[i].isnull;
	state->capacity = state->isnull[0] ? 1.0 :
		DatumGetFloat8(arguments[0].value);
	state->fpr = state->isnull[1] ? CUCKOO_DEFAULT_FPR :
		DatumGetFloat8(arguments[1].value);
	state->max_copies = state->isnull[2] ? CUCKOO_DEFAULT_MAX_COPIES :
		DatumGetInt32(arguments[2].value);
	state->seed = state->isnull[3] ? CUCKOO_DEFAULT_SEED :
		DatumGetInt64(arguments[3].value);
	cuckoo_parameters_check(&checked, state->capacity, state->fpr,
							state->max_copies, state->seed);
}

/*
 * agg_state_arguments
 *		The arguments that a state was made with.
 */
static void
agg_state_arguments(const CuckooAggState *state, NullableDatum *arguments)
{
	for (int i = 0; i < NPARAMETERS; i++)
		arguments[i].isnull = state->isnull[i];
	arguments[0].value = Float8GetDatum(state->capacity);
	arguments[1].value = Float8GetDatum(state->fpr);
	arguments[2].value = Int32GetDatum(state->max_copies);
	arguments[3].value = Int64GetDatum(state->seed);
}

/*
 * agg_new_state
 *		A state without values, in the context of the aggregate.
 */
static CuckooAggState *
agg_new_state(MemoryContext context)
{
	return MemoryContextAllocZero(context, sizeof(CuckooAggState));
}

/* Temporary files are not memory: give them back when the query is done. */
static void
agg_end_state(Datum arg)
{
	cuckoo_collector_end(&((CuckooAggState *) DatumGetPointer(arg))->collector);
}

/*
 * agg_start_collecting
 *		Make the collector of a state whose parameters are known.
 *
 * A window aggregate goes on after it has been read, and has nobody to tell
 * that it is done, so it keeps to memory.
 */
static void
agg_start_collecting(FunctionCallInfo fcinfo, CuckooAggState *state,
					 MemoryContext context, bool is_bag)
{
	const bool	is_window = AggCheckCallContext(fcinfo, NULL) ==
		AGG_CONTEXT_WINDOW;

	cuckoo_collector_init(&state->collector, context,
						  is_bag ? state->max_copies : 1, !is_window);
}

/*
 * agg_watch_files
 *		See to it that files are closed at the end, once there are any.
 *
 * Not from the start: that would take memory for each of many small groups.
 */
static inline void
agg_watch_files(FunctionCallInfo fcinfo, CuckooAggState *state)
{
	if (unlikely(state->collector.sort != NULL) && !state->is_watched)
	{
		AggRegisterCallback(fcinfo, agg_end_state, PointerGetDatum(state));
		state->is_watched = true;
	}
}

/*
 * agg_require_same_parameters
 *		Refuse arguments that vary between the rows of a group.
 *
 * arguments are those of a row, narguments of them; NaN never gets here.
 */
static void
agg_require_same_parameters(const CuckooAggState *state, int narguments,
							const NullableDatum *arguments)
{
	static const char *const names[NPARAMETERS] = {
		"capacity", "fpr", "max_copies", "seed"
	};

	for (int i = 0; i < narguments; i++)
	{
		const Datum value = arguments[i].value;
		bool		same = arguments[i].isnull == state->isnull[i];

		if (same && !state->isnull[i])
			same = i == 0 ? DatumGetFloat8(value) == state->capacity :
				i == 1 ? DatumGetFloat8(value) == state->fpr :
				i == 2 ? DatumGetInt32(value) == state->max_copies :
				DatumGetInt64(value) == state->seed;
		if (unlikely(!same))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" must be the same for all rows of a group",
							names[i]),
					 errdetail("It makes one filter of all rows of a group."),
					 errhint("Give a constant, or an expression of the GROUP BY columns.")));
	}
}

/*
 * agg_transition
 *		Collect the value of a row.
 */
static Datum
agg_transition(FunctionCallInfo fcinfo, bool is_bag)
{
	const int	narguments = PG_NARGS() - 2;
	const NullableDatum *arguments = fcinfo->args + 2;
	MemoryContext context;
	CuckooAggState *state;
	CuckooHasher *hasher;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");

	if (PG_ARGISNULL(0))
	{
		state = agg_new_state(context);
		agg_read_parameters(state, narguments, arguments);
		agg_start_collecting(fcinfo, state, context, is_bag);
	}
	else
	{
		state = (CuckooAggState *) PG_GETARG_POINTER(0);
		agg_require_same_parameters(state, narguments, arguments);
	}

	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(state);

	/*
	 * The hasher of the values is the call site's.  Without a call expression
	 * the FmgrInfo may be one made for this row, and the state has to keep a
	 * hasher of its own.
	 */
	if (likely(fcinfo->flinfo->fn_expr != NULL))
	{
		if (unlikely(fcinfo->flinfo->fn_extra == NULL))
			fcinfo->flinfo->fn_extra = cuckoo_hasher_for_argument(fcinfo, 1);
		hasher = fcinfo->flinfo->fn_extra;
	}
	else
	{
		if (state->hasher == NULL)
		{
			Oid			type;
			Oid			collation;

			cuckoo_hasher_argument_type(fcinfo, 1, &type, &collation);
			state->hasher = cuckoo_hasher_for_type(type, collation, context);
		}
		hasher = state->hasher;
	}
	state->family = cuckoo_hasher_family(hasher);
	cuckoo_collector_add(&state->collector,
						 cuckoo_hash_value(hasher, PG_GETARG_DATUM(1),
										   (uint64) state->seed));
	agg_watch_files(fcinfo, state);
	PG_RETURN_POINTER(state);
}

/*
 * cf_agg_transition(state, value, capacity, fpr, max_copies, seed)
 *		Collect one value, which counts once however often it comes.
 *
 * The arities of the aggregate differ in how many of the arguments there are.
 */
Datum
cf_agg_transition(PG_FUNCTION_ARGS)
{
	return agg_transition(fcinfo, false);
}

/*
 * cf_bag_agg_transition(state, value, capacity, fpr, max_copies, seed)
 *		Collect one value, which counts as often as it comes.
 */
Datum
cf_bag_agg_transition(PG_FUNCTION_ARGS)
{
	return agg_transition(fcinfo, true);
}

/*
 * cf_agg_combine(state, other)
 *		Add what another state has collected.
 */
Datum
cf_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	CuckooAggState *state;
	CuckooAggState *other;
	NullableDatum arguments[NPARAMETERS];

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "cf_agg_combine called in non-aggregate context");

	if (PG_ARGISNULL(1))
	{
		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		return PG_GETARG_DATUM(0);
	}

	other = (CuckooAggState *) PG_GETARG_POINTER(1);
	agg_state_arguments(other, arguments);
	if (PG_ARGISNULL(0))
	{
		state = agg_new_state(context);
		agg_read_parameters(state, NPARAMETERS, arguments);
		agg_start_collecting(fcinfo, state, context,
							 other->collector.max_equal > 1);
	}
	else
	{
		state = (CuckooAggState *) PG_GETARG_POINTER(0);
		agg_require_same_parameters(state, NPARAMETERS, arguments);
	}

	if (other->family != CUCKOO_FAMILY_NONE)
		state->family = other->family;
	cuckoo_collector_add_from(&state->collector, &other->collector);
	agg_watch_files(fcinfo, state);
	PG_RETURN_POINTER(state);
}

/*
 * cf_agg_serialize(state)
 *		A state as bytes, for another process of the same server.
 */
Datum
cf_agg_serialize(PG_FUNCTION_ARGS)
{
	CuckooAggState *state = (CuckooAggState *) PG_GETARG_POINTER(0);
	const uint64 nkeys = cuckoo_collector_count(&state->collector);
	CuckooCollectorReader reader;
	CuckooHashSource source;
	StringInfoData buffer;
	uint64		keys[1024];
	size_t		nnext;

	pq_begintypsend(&buffer);
	for (int i = 0; i < NPARAMETERS; i++)
		pq_sendbyte(&buffer, state->isnull[i]);
	pq_sendfloat8(&buffer, state->capacity);
	pq_sendfloat8(&buffer, state->fpr);
	pq_sendint32(&buffer, state->max_copies);
	pq_sendint64(&buffer, state->seed);
	pq_sendbyte(&buffer, state->family);
	pq_sendbyte(&buffer, state->collector.max_equal);
	pq_sendint64(&buffer, nkeys);

	if (nkeys > (MaxAllocSize - 1 - buffer.len) / sizeof(uint64))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many values for one process of a parallel aggregate"),
				 errdetail("%llu different values are more than can be sent to another process.",
						   (unsigned long long) nkeys),
				 errhint("Set max_parallel_workers_per_gather to 0.")));
	enlargeStringInfo(&buffer, (int) (nkeys * sizeof(uint64)));
	source = cuckoo_collector_source(&reader, &state->collector);
	source.rewind(source.context);
	while ((nnext = source.next(source.context, keys, lengthof(keys))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < nnext; i++)
			cuckoo_store_le64((uint8 *) &keys[i], keys[i]);
		appendBinaryStringInfo(&buffer, (char *) keys, nnext * sizeof(uint64));
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/*
 * cf_agg_deserialize(bytes, internal)
 *		A state from bytes.
 *
 * They come from cf_agg_serialize() but are checked all the same.  The state
 * is a view of them, for cf_agg_combine(): the server calls both for one input
 * row, while that and the memory that its values are unpacked in stay.
 */
Datum
cf_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	CuckooAggState *state = agg_new_state(CurrentMemoryContext);
	NullableDatum arguments[NPARAMETERS];
	StringInfoData buffer;
	int			max_equal;
	uint64		nkeys;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "cf_agg_deserialize called in non-aggregate context");

	/* a view of the bytes, which stay */
	buffer.data = VARDATA_ANY(bytes);
	buffer.len = VARSIZE_ANY_EXHDR(bytes);
	buffer.maxlen = buffer.len;
	buffer.cursor = 0;

	for (int i = 0; i < NPARAMETERS; i++)
		state->isnull[i] = pq_getmsgbyte(&buffer) != 0;
	state->capacity = pq_getmsgfloat8(&buffer);
	state->fpr = pq_getmsgfloat8(&buffer);
	state->max_copies = pq_getmsgint(&buffer, 4);
	state->seed = pq_getmsgint64(&buffer);
	state->family = (CuckooFamily) pq_getmsgbyte(&buffer);
	max_equal = pq_getmsgbyte(&buffer);
	nkeys = (uint64) pq_getmsgint64(&buffer);

	/* with the defaults for those that are NULL, whatever else was sent */
	agg_state_arguments(state, arguments);
	agg_read_parameters(state, NPARAMETERS, arguments);
	cuckoo_collector_init(&state->collector, CurrentMemoryContext, max_equal,
						  false);
	if (state->family > CUCKOO_FAMILY_LAST ||
		(max_equal != 1 && max_equal != state->max_copies) ||
		(size_t) (buffer.len - buffer.cursor) % sizeof(uint64) != 0 ||
		nkeys != (size_t) (buffer.len - buffer.cursor) / sizeof(uint64) ||
		!cuckoo_collector_view(&state->collector,
							   buffer.data + buffer.cursor, nkeys))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid state of a cuckoo filter aggregate")));
	PG_RETURN_POINTER(state);
}

/*
 * agg_is_function
 *		Is this SQL function the C function of that name and address?
 *
 * Functions with other names are not looked up: that would load the libraries
 * of other people.
 */
static bool
agg_is_function(Oid function, const char *name, PGFunction address)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		is_named = false;
	FmgrInfo	flinfo;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		const Datum symbol = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &isnull);

		is_named = !isnull && strcmp(TextDatumGetCString(symbol), name) == 0;
	}
	ReleaseSysCache(tuple);
	if (!is_named)
		return false;
	fmgr_info(function, &flinfo);
	return flinfo.fn_addr == address;
}

/*
 * agg_find_functions
 *		The functions of an aggregate that is neither ordered-set nor
 *		hypothetical-set; false if it is, or is gone.
 */
static bool
agg_find_functions(Oid aggregate, Oid *transition, Oid *final)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	bool		is_normal;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	is_normal = form->aggkind == AGGKIND_NORMAL;
	*transition = form->aggtransfn;
	*final = form->aggfinalfn;
	ReleaseSysCache(tuple);
	return is_normal;
}

/*
 * cuckoo_agg_is_ours
 *		Is this aggregate cf_agg or cf_bag_agg?
 */
bool
cuckoo_agg_is_ours(Oid aggregate)
{
	Oid			transition;
	Oid			final;

	return agg_find_functions(aggregate, &transition, &final) &&
		agg_is_function(final, "cf_agg_final", cf_agg_final) &&
		(agg_is_function(transition, "cf_agg_transition", cf_agg_transition) ||
		 agg_is_function(transition, "cf_bag_agg_transition",
						 cf_bag_agg_transition));
}

/*
 * cuckoo_agg_is_of_hashes
 *		Is this aggregate cf_hash_agg?
 */
bool
cuckoo_agg_is_of_hashes(Oid aggregate)
{
	Oid			transition;
	Oid			final;

	return agg_find_functions(aggregate, &transition, &final) &&
		agg_is_function(transition, "cf_hash_agg_transition",
						cf_hash_agg_transition);
}

/*
 * agg_input
 *		The plan node that a column of another one comes from, or NULL.
 */
static Plan *
agg_input(Plan *plan, int varno)
{
	if (varno == INNER_VAR)
		return innerPlan(plan);
	if (IsA(plan, SubqueryScan))
		return ((SubqueryScan *) plan)->subplan;
	if (varno != OUTER_VAR)
		return NULL;
	if (IsA(plan, Append))
		return linitial(((Append *) plan)->appendplans);
	if (IsA(plan, MergeAppend))
		return linitial(((MergeAppend *) plan)->mergeplans);
	return outerPlan(plan);
}

/*
 * agg_partial_of
 *		The partial aggregate call that another one combines the states of, or
 *		NULL if it is not found.
 *
 * It is in a node below plan, where a column of its input comes from: below
 * sorts, gathers and appends, and also below joins, on either side.
 */
static Aggref *
agg_partial_of(const Aggref *aggref, Plan **plan)
{
	Expr	   *expression = linitial_node(TargetEntry, aggref->args)->expr;

	while (IsA(expression, Var))
	{
		const Var  *var = (Var *) expression;

		*plan = agg_input(*plan, var->varno);
		if (*plan == NULL || var->varattno < 1 ||
			var->varattno > list_length((*plan)->targetlist))
			return NULL;
		expression = list_nth_node(TargetEntry, (*plan)->targetlist,
								   var->varattno - 1)->expr;
	}
	if (!IsA(expression, Aggref) ||
		((Aggref *) expression)->aggfnoid != aggref->aggfnoid)
		return NULL;
	return (Aggref *) expression;
}

/*
 * agg_no_parameters
 *		Raise the error for an empty filter of unknown parameters.
 */
cuckoo_noreturn static void
agg_no_parameters(const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not determine the parameters of an empty filter"),
			 errdetail("There was no row that told the arguments of the aggregate."),
			 errhint("%s", hint)));
}

/*
 * agg_parameters_of_group
 *		The arguments after the value of the aggregate call that this call ends.
 *
 * The current aggregate can be that of a distributed engine, which calls the
 * final functions of others: nothing is known then.
 */
static List *
agg_parameters_of_group(FunctionCallInfo fcinfo)
{
	Plan	   *plan = ((AggState *) fcinfo->context)->ss.ps.plan;
	Aggref	   *aggref = AggGetAggref(fcinfo);
	List	   *parameters = NIL;

	if (aggref != NULL && !cuckoo_agg_is_ours(aggref->aggfnoid))
		aggref = NULL;
	while (aggref != NULL && DO_AGGSPLIT_COMBINE(aggref->aggsplit))
		aggref = agg_partial_of(aggref, &plan);
	if (aggref == NULL)
		agg_no_parameters("Let the rows come from a subquery with OFFSET 0, so that they are aggregated in one place.");

	/* behind the arguments, args has what is in ORDER BY only */
	for (int i = 1; i < list_length(aggref->aggargtypes); i++)
		parameters = lappend(parameters,
							 list_nth_node(TargetEntry, aggref->args, i)->expr);
	return parameters;
}

/*
 * agg_parameters_of_window
 *		The arguments after the value of the window call that this call ends.
 *
 * The server does not say which of a window's calls that is, so they have to
 * have the same ones.
 */
static List *
agg_parameters_of_window(const WindowAggState *state)
{
	const WindowFunc *found = NULL;
	List	   *parameters = NIL;
	ListCell   *cell;

	foreach(cell, state->funcs)
	{
		const WindowFunc *call = ((WindowFuncExprState *) lfirst(cell))->wfunc;

		if (!cuckoo_agg_is_ours(call->winfnoid))
			continue;
		if (found == NULL)
			parameters = list_copy_tail(call->args, 1);
		else if (!equal(parameters, list_copy_tail(call->args, 1)))
			agg_no_parameters("Give calls over one window the same arguments after the value.");
		found = call;
	}
	if (found == NULL)
		agg_no_parameters("Call cf_agg() or cf_bag_agg() as they are.");
	return parameters;
}

/*
 * agg_evaluate
 *		The value of an argument that is the same for all rows, or NULL if it
 *		is not: one that refers to no column.
 */
static NullableDatum
agg_evaluate(PlanState *planstate, Expr *argument)
{
	NullableDatum result = {(Datum) 0, true};

	if (!contain_var_clause((Node *) argument) &&
		!contain_subplans((Node *) argument))
		result.value =
			ExecEvalExprSwitchContext(ExecInitExpr(argument, planstate),
									  planstate->ps_ExprContext,
									  &result.isnull);
	return result;
}

/*
 * agg_empty_state
 *		A state for a group without rows.
 *
 * There was no row to evaluate the arguments for.  Constants and parameters
 * need none.
 */
static void
agg_empty_state(FunctionCallInfo fcinfo, CuckooAggState *state)
{
	PlanState  *planstate = (PlanState *) fcinfo->context;
	const List *parameters = IsA(planstate, WindowAggState) ?
		agg_parameters_of_window((WindowAggState *) planstate) :
		agg_parameters_of_group(fcinfo);
	const int	narguments = Min(list_length(parameters), NPARAMETERS);
	NullableDatum arguments[NPARAMETERS];

	for (int i = 0; i < narguments; i++)
		arguments[i] = agg_evaluate(planstate, list_nth(parameters, i));

	memset(state, 0, sizeof(*state));
	agg_read_parameters(state, narguments, arguments);
	cuckoo_collector_init(&state->collector, CurrentMemoryContext, 1, false);
}

/*
 * agg_fitting_capacity
 *		The capacity of a filter for just the keys that there are.
 *
 * Copies of a value are in the same two buckets, so that repeated values fill
 * a table less well: with 1/32 more than there are, most bags keep their
 * copies; pairs, if there are many, want 1/8 more.
 */
static uint64
agg_fitting_capacity(CuckooCollector *collector, uint64 nkeys)
{
	CuckooCollectorReader reader;
	CuckooHashSource source;
	uint64		keys[1024];
	uint64		last = 0;
	uint64		nread = 0;
	uint64		nrepeats = 0;
	size_t		nnext;

	if (nkeys == 0)
		return 1;
	if (collector->max_equal == 1)
		return nkeys;

	source = cuckoo_collector_source(&reader, collector);
	source.rewind(source.context);
	while ((nnext = source.next(source.context, keys, lengthof(keys))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < nnext; i++)
		{
			nrepeats += nread > 0 && keys[i] == last;
			last = keys[i];
			nread++;
		}
	}
	if (nrepeats == 0)
		return nkeys;
	return nkeys + nkeys / (4 * nrepeats < nkeys ? 32 : 8);
}

/*
 * cf_agg_final(state)
 *		The filter; an empty one if there were no rows.
 *
 * Without a capacity it is declared for what there is.  The state stays as it
 * is, but for one that has spilled, to which nothing can be added any more;
 * those of window aggregates never spill.
 */
Datum
cf_agg_final(PG_FUNCTION_ARGS)
{
	CuckooAggState empty;
	CuckooAggState *state = &empty;
	CuckooParameters parameters;
	CuckooCollectorReader reader;
	CuckooHashSource source;
	CuckooFilter filter;
	CuckooStatus status;
	uint64		nkeys;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "cf_agg_final called in non-aggregate context");

	if (PG_ARGISNULL(0))
		agg_empty_state(fcinfo, &empty);
	else
		state = (CuckooAggState *) PG_GETARG_POINTER(0);

	nkeys = cuckoo_collector_count(&state->collector);
	cuckoo_parameters_check(&parameters,
							state->isnull[0] ?
							(float8) agg_fitting_capacity(&state->collector,
														  nkeys) :
							state->capacity,
							state->fpr, state->max_copies, state->seed);
	source = cuckoo_collector_source(&reader, &state->collector);
	status = cuckoo_build(&filter, &parameters, &source, nkeys,
						  &cuckoo_host);
	if (status != CUCKOO_OK)
		cuckoo_error_build(status, nkeys, parameters.capacity, true);
	filter.family = state->family;
	PG_RETURN_CUCKOOFILTER_P(&filter);
}
