/*-------------------------------------------------------------------------
 *
 * cuckoo_agg.c
 *		cf_agg: a filter from the different values of a column.
 *
 * The state collects hashes, removes duplicates whenever its array is full,
 * and lets it grow only when that has not helped: memory follows the number
 * of different values.  The filter is built at the end, when their number is
 * known, so that it depends on the set of values and the parameters only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/memutils.h"

#include "cuckoo_pg.h"

/* Room for the first hashes of a state; there can be one state per group. */
#define INITIAL_ROOM		16

/* Arguments of cf_agg after the value. */
#define NPARAMETERS			4

typedef struct CuckooAggState
{
	MemoryContext context;		/* of the state and all it points to */
	CuckooKey  *key;			/* how values are hashed */

	/* the arguments after the value, as first seen */
	int			nparameters;
	bool		isnull[NPARAMETERS];
	float8		capacity;
	float8		fpr;
	int32		max_copies;
	int64		seed;

	uint64	   *keys;			/* build keys of the hashes collected */
	size_t		nkeys;
	size_t		nsorted;		/* the first so many are ascending, each once */
	size_t		room;
} CuckooAggState;

PG_FUNCTION_INFO_V1(cf_agg_transition);
PG_FUNCTION_INFO_V1(cf_agg_final);

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) > *(b)) - (*(a) < *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * sort_and_compact
 *		Sort the hashes collected and leave each once.
 */
static void
sort_and_compact(CuckooAggState *state)
{
	uint64	   *const keys = state->keys;
	size_t		nunique = 0;

	if (state->nsorted == state->nkeys)
		return;
	sort_keys(keys, state->nkeys);
	for (size_t i = 0; i < state->nkeys; i++)
	{
		if (nunique == 0 || keys[i] != keys[nunique - 1])
			keys[nunique++] = keys[i];
	}
	state->nkeys = nunique;
	state->nsorted = nunique;
}

/*
 * collect
 *		Add one hash to the state.
 */
static void
collect(CuckooAggState *state, uint64 hash)
{
	if (state->nkeys == state->room)
	{
		sort_and_compact(state);
		if (state->nkeys > state->room / 2)
		{
			state->room *= 2;
			state->keys = repalloc_huge(state->keys,
										state->room * sizeof(uint64));
		}
	}
	state->keys[state->nkeys++] = cuckoo_build_key(hash);
}

/*
 * read_parameters
 *		Set the parameters of a state from nparameters given as Datums.
 */
static void
read_parameters(CuckooAggState *state, int nparameters,
				const NullableDatum *arguments)
{
	CuckooParameters checked;

	state->nparameters = nparameters;
	for (int i = 0; i < NPARAMETERS; i++)
		state->isnull[i] = i >= nparameters || arguments[i].isnull;
	state->capacity = state->isnull[0] ? 1.0 :
		DatumGetFloat8(arguments[0].value);
	state->fpr = state->isnull[1] ? CUCKOO_DEFAULT_FPR :
		DatumGetFloat8(arguments[1].value);
	state->max_copies = state->isnull[2] ? CUCKOO_DEFAULT_MAX_COPIES :
		DatumGetInt32(arguments[2].value);
	state->seed = state->isnull[3] ? CUCKOO_DEFAULT_SEED :
		DatumGetInt64(arguments[3].value);

	/* before the first row is consumed */
	cuckoo_parameters(&checked, state->capacity, state->fpr,
					  state->max_copies, state->seed);
}

/*
 * require_same_parameters
 *		Refuse arguments that vary between the rows of a group.
 */
static void
require_same_parameters(const CuckooAggState *state,
						const NullableDatum *arguments)
{
	static const char *const names[NPARAMETERS] = {
		"capacity", "fpr", "max_copies", "seed"
	};

	for (int i = 0; i < state->nparameters; i++)
	{
		bool		same = arguments[i].isnull == state->isnull[i];

		if (same && !state->isnull[i])
		{
			switch (i)
			{
				case 0:
					same = DatumGetFloat8(arguments[i].value) == state->capacity;
					break;
				case 1:
					same = DatumGetFloat8(arguments[i].value) == state->fpr;
					break;
				case 2:
					same = DatumGetInt32(arguments[i].value) == state->max_copies;
					break;
				case 3:
					same = DatumGetInt64(arguments[i].value) == state->seed;
					break;
			}
		}
		if (!same)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"%s\" of cf_agg must be the same for all rows of a group",
							names[i])));
	}
}

/*
 * build_filter
 *		The filter of what a state has collected.
 *
 * Without a capacity it is declared for just the values there are.
 */
static Datum
build_filter(CuckooAggState *state)
{
	CuckooParameters parameters;
	CuckooFilter filter;
	CuckooStatus status;

	sort_and_compact(state);
	cuckoo_parameters(&parameters,
					  state->isnull[0] ? (float8) Max(state->nkeys, 1) :
					  state->capacity,
					  state->fpr, state->max_copies, state->seed);
	status = cuckoo_set_build(&filter, &parameters, state->keys, state->nkeys,
							  &cuckoo_host);
	if (status != CUCKOO_OK)
		cuckoo_build_error(status, state->nkeys, parameters.capacity);
	if (state->key != NULL && state->nkeys > 0)
		filter.family = cuckoo_key_family(state->key);
	PG_RETURN_CUCKOOFILTER_P(&filter);
}

/*
 * cf_agg_transition(state, value, capacity, fpr, max_copies, seed)
 *		Collect one value; NULL is none.
 *
 * The arities of cf_agg differ in how many of the arguments there are.
 */
Datum
cf_agg_transition(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	CuckooAggState *state;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "cf_agg_transition called in non-aggregate context");

	if (PG_ARGISNULL(0))
	{
		state = MemoryContextAllocZero(context, sizeof(CuckooAggState));
		state->context = context;
		read_parameters(state, PG_NARGS() - 2, &fcinfo->args[2]);
		state->room = INITIAL_ROOM;
		state->keys = MemoryContextAlloc(context,
										 state->room * sizeof(uint64));
	}
	else
	{
		state = (CuckooAggState *) PG_GETARG_POINTER(0);
		require_same_parameters(state, &fcinfo->args[2]);
	}

	if (!PG_ARGISNULL(1))
	{
		/* the call site has a key for all groups; a state keeps it for good */
		if (unlikely(state->key == NULL))
		{
			if (fcinfo->flinfo->fn_extra == NULL)
				fcinfo->flinfo->fn_extra = cuckoo_key_for_argument(fcinfo, 1);
			state->key = fcinfo->flinfo->fn_extra;
		}
		collect(state, cuckoo_key_hash(state->key, PG_GETARG_DATUM(1),
									   (uint64) state->seed));
	}
	PG_RETURN_POINTER(state);
}

/*
 * empty_state
 *		A state for a group without rows.
 *
 * There was no row to evaluate the arguments for; those that are constants
 * are in the plan.
 */
static void
empty_state(FunctionCallInfo fcinfo, CuckooAggState *state)
{
	static const Oid types[NPARAMETERS] = {
		FLOAT8OID, FLOAT8OID, INT4OID, INT8OID
	};
	NullableDatum arguments[NPARAMETERS];
	Aggref	   *const aggref = AggGetAggref(fcinfo);
	ListCell   *lc;
	int			i = -1;

	for (int j = 0; j < NPARAMETERS; j++)
		arguments[j].isnull = true;
	if (aggref != NULL && !DO_AGGSPLIT_COMBINE(aggref->aggsplit))
	{
		foreach(lc, aggref->args)
		{
			Node	   *const argument =
				(Node *) lfirst_node(TargetEntry, lc)->expr;

			if (i >= 0 && i < NPARAMETERS && IsA(argument, Const) &&
				((Const *) argument)->consttype == types[i])
			{
				arguments[i].value = ((Const *) argument)->constvalue;
				arguments[i].isnull = ((Const *) argument)->constisnull;
			}
			i++;
		}
	}

	memset(state, 0, sizeof(*state));
	read_parameters(state, NPARAMETERS, arguments);
}

/*
 * cf_agg_final(state)
 *		The filter; an empty one if there were no rows.
 *
 * The state stays good for more rows: it is only sorted.
 */
Datum
cf_agg_final(PG_FUNCTION_ARGS)
{
	CuckooAggState state;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "cf_agg_final called in non-aggregate context");

	if (!PG_ARGISNULL(0))
		return build_filter((CuckooAggState *) PG_GETARG_POINTER(0));
	empty_state(fcinfo, &state);
	return build_filter(&state);
}
