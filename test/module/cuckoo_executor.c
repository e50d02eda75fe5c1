/*-------------------------------------------------------------------------
 *
 * cuckoo_executor.c
 *		Calls aggregates as an executor that splits them over servers does.
 *
 * Such an executor is itself a set of aggregates.  On each server one of them
 * runs the transition function of the aggregate that the user wrote, and gives
 * the state as text: by the output function of its type, or, if that is
 * internal, the bytes of the serialization function.  Another one, elsewhere,
 * reads the states, combines them and calls the final function.
 *
 * What is different from the server's own executor, on purpose: every call
 * goes through a FmgrInfo made for it, which has no expression, or that of the
 * executor's own call; and the aggregate call that the context knows is that
 * of the executor's aggregate, with other arguments.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(part_transition);
PG_FUNCTION_INFO_V1(flat_part_transition);
PG_FUNCTION_INFO_V1(lent_part_transition);
PG_FUNCTION_INFO_V1(part_final);
PG_FUNCTION_INFO_V1(whole_transition);
PG_FUNCTION_INFO_V1(mixed_transition);
PG_FUNCTION_INFO_V1(whole_final);

/* An aggregate that is run, and its state. */
typedef struct SplitState
{
	Oid			transition;
	Oid			combine;
	Oid			final;
	Oid			serialize;
	Oid			deserialize;
	Oid			type;			/* of the state */
	bool		keeps_flat;		/* no expanded object outlives a call */
	MemoryContext context;
	Datum		value;
	bool		isnull;
	int16		typlen;
	bool		typbyval;
} SplitState;

/*
 * executor_call
 *		Call a function through a FmgrInfo of its own, with an expression or
 *		NULL.
 *
 * A strict function gives NULL if an argument is NULL.
 */
static Datum
executor_call(FunctionCallInfo outer, Oid function, Node *expression,
			  int nargs, const NullableDatum *args, bool *isnull)
{
	LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
	FmgrInfo	info;
	Datum		result;

	fmgr_info(function, &info);
	fmgr_info_set_expr(expression, &info);
	InitFunctionCallInfoData(*inner, &info, nargs, outer->fncollation,
							 outer->context, outer->resultinfo);
	for (int i = 0; i < nargs; i++)
	{
		inner->args[i] = args[i];
		if (info.fn_strict && args[i].isnull)
		{
			*isnull = true;
			return (Datum) 0;
		}
	}
	result = FunctionCallInvoke(inner);
	*isnull = inner->isnull;
	return result;
}

/*
 * executor_keep
 *		Let a value be the state, in the memory of the aggregate.
 *
 * As in the server, an expanded object that a function has made there is kept
 * as it is.
 */
static void
executor_keep(SplitState *state, Datum value, bool isnull)
{
	if (!isnull && !state->typbyval)
	{
		const bool	is_object = state->typlen == -1 &&
			VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(value));
		const bool	is_ours = is_object && !state->keeps_flat &&
			MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) ==
			state->context;

		/* the copy of an expanded object is flat */
		if (!is_ours && (state->isnull || value != state->value))
		{
			const MemoryContext old = MemoryContextSwitchTo(state->context);

			value = datumCopy(value, false, state->typlen);
			MemoryContextSwitchTo(old);
		}
	}
	state->value = value;
	state->isnull = isnull;
}

/*
 * executor_new_state
 *		An aggregate to run, before its first row.
 */
static SplitState *
executor_new_state(Oid aggregate, MemoryContext context, bool keeps_flat)
{
	SplitState *const state =
		MemoryContextAllocZero(context, sizeof(SplitState));
	const HeapTuple tuple =
		SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	Datum		initial;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "function %u is no aggregate", aggregate);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	state->transition = form->aggtransfn;
	state->combine = form->aggcombinefn;
	state->final = form->aggfinalfn;
	state->serialize = form->aggserialfn;
	state->deserialize = form->aggdeserialfn;
	state->type = form->aggtranstype;
	state->context = context;
	state->keeps_flat = keeps_flat;
	get_typlenbyval(state->type, &state->typlen, &state->typbyval);

	initial = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval,
							  &state->isnull);
	if (!state->isnull)
	{
		const MemoryContext old = MemoryContextSwitchTo(context);
		Oid			input;
		Oid			parameter;

		getTypeInputInfo(state->type, &input, &parameter);
		state->value = OidInputFunctionCall(input, TextDatumGetCString(initial),
											parameter, -1);
		MemoryContextSwitchTo(old);
	}
	ReleaseSysCache(tuple);
	return state;
}

/*
 * executor_state
 *		The state of the running aggregate, made at its first row.
 */
static SplitState *
executor_state(FunctionCallInfo fcinfo, bool keeps_flat)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	if (!PG_ARGISNULL(0))
		return (SplitState *) PG_GETARG_POINTER(0);
	return executor_new_state(PG_GETARG_OID(1), context, keeps_flat);
}

/*
 * executor_step
 *		One row: the state and the arguments from the given one on.
 */
static Datum
executor_step(FunctionCallInfo fcinfo, int argno, bool keeps_flat,
			  Node *expression)
{
	SplitState *const state = executor_state(fcinfo, keeps_flat);
	const int	nargs = PG_NARGS() - argno + 1;
	NullableDatum args[FUNC_MAX_ARGS];
	Datum		value;
	bool		isnull;

	args[0].value = state->value;
	args[0].isnull = state->isnull;
	for (int i = 1; i < nargs; i++)
		args[i] = fcinfo->args[argno + i - 1];

	if (func_strict(state->transition))
	{
		for (int i = 1; i < nargs; i++)
		{
			if (args[i].isnull)
				PG_RETURN_POINTER(state);
		}
		if (state->isnull)
		{
			executor_keep(state, args[1].value, false);
			PG_RETURN_POINTER(state);
		}
	}
	value = executor_call(fcinfo, state->transition, expression, nargs, args,
						  &isnull);
	executor_keep(state, value, isnull);
	PG_RETURN_POINTER(state);
}

Datum
part_transition(PG_FUNCTION_ARGS)
{
	return executor_step(fcinfo, 2, false, NULL);
}

Datum
flat_part_transition(PG_FUNCTION_ARGS)
{
	return executor_step(fcinfo, 2, true, NULL);
}

Datum
lent_part_transition(PG_FUNCTION_ARGS)
{
	return executor_step(fcinfo, 2, false, fcinfo->flinfo->fn_expr);
}

/*
 * part_final
 *		The state as text.
 */
Datum
part_final(PG_FUNCTION_ARGS)
{
	SplitState *state;
	NullableDatum arg;
	Datum		value;
	Oid			output;
	bool		isnull;
	bool		is_varlena;
	Oid			type;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (SplitState *) PG_GETARG_POINTER(0);
	if (state->isnull)
		PG_RETURN_NULL();
	value = state->value;
	type = state->type;
	if (OidIsValid(state->serialize))
	{
		arg.value = value;
		arg.isnull = false;
		value = executor_call(fcinfo, state->serialize, NULL, 1, &arg, &isnull);
		type = BYTEAOID;
	}
	getTypeOutputInfo(type, &output, &is_varlena);
	PG_RETURN_TEXT_P(cstring_to_text(OidOutputFunctionCall(output, value)));
}

/*
 * whole_transition
 *		Combine the state with one that comes as text.
 */
Datum
whole_transition(PG_FUNCTION_ARGS)
{
	SplitState *const state = executor_state(fcinfo, false);
	NullableDatum args[2];
	Datum		value;
	Oid			input;
	Oid			parameter;
	bool		isnull;

	args[0].value = state->value;
	args[0].isnull = state->isnull;
	args[1].value = (Datum) 0;
	args[1].isnull = PG_ARGISNULL(2);
	if (!args[1].isnull)
	{
		const bool	is_internal = OidIsValid(state->deserialize);

		getTypeInputInfo(is_internal ? BYTEAOID : state->type, &input,
						 &parameter);
		args[1].value =
			OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(2)),
								 parameter, -1);
		if (is_internal)
		{
			NullableDatum bytes[2];

			bytes[0] = args[1];
			bytes[1].value = (Datum) 0;
			bytes[1].isnull = false;
			args[1].value = executor_call(fcinfo, state->deserialize, NULL, 2,
										  bytes, &isnull);
		}
	}

	if (func_strict(state->combine))
	{
		if (args[1].isnull)
			PG_RETURN_POINTER(state);
		if (state->isnull)
		{
			executor_keep(state, args[1].value, false);
			PG_RETURN_POINTER(state);
		}
	}
	value = executor_call(fcinfo, state->combine, NULL, 2, args, &isnull);
	executor_keep(state, value, isnull);
	PG_RETURN_POINTER(state);
}

/*
 * mixed_transition
 *		A row that is a part, or, if that is NULL, the arguments behind it.
 */
Datum
mixed_transition(PG_FUNCTION_ARGS)
{
	return PG_ARGISNULL(2) ? executor_step(fcinfo, 3, false, NULL) :
		whole_transition(fcinfo);
}

/*
 * whole_final
 *		What the final function makes of the state.
 */
Datum
whole_final(PG_FUNCTION_ARGS)
{
	SplitState *state;
	NullableDatum arg;
	Datum		value;
	bool		isnull;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (SplitState *) PG_GETARG_POINTER(0);
	if (!OidIsValid(state->final))
	{
		if (state->isnull)
			PG_RETURN_NULL();
		PG_RETURN_DATUM(state->value);
	}
	arg.value = state->value;
	arg.isnull = state->isnull;
	value = executor_call(fcinfo, state->final, NULL, 1, &arg, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value);
}
