/*-------------------------------------------------------------------------
 *
 * cuckoo_cost.c
 *		What the planner is told of costs: of a probe, and of the functions that
 *		go through whole filters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "cuckoo_cost.h"
#include "cuckoo_pg.h"

PG_FUNCTION_INFO_V1(cf_whole_support);

/*
 * Costs in units of cpu_operator_cost, that is of comparing two integers,
 * as measured by bench/cost.sql.
 *
 * COST_PROBE is a look into a filter that the CPU has in its caches, COST_MISS
 * is added for one that is larger.  COST_STORED is added for one in a table,
 * out of line, of which a probe reads slices from cached pages; but where one
 * is probed many times it is read whole, once, for COST_WHOLE.  COST_KEY is
 * hashing a value of a simple type, COST_BUILT_KEY one whose key bytes have to
 * be put together.  COST_ARRAY is taking an array apart; the probes of its
 * elements overlap, so that they cost no more than their keys.
 */
#define COST_PROBE				3
#define COST_KEY				3
#define COST_BUILT_KEY			20
#define COST_ARRAY				15
#define COST_MISS				20
#define COST_STORED				800
#define COST_WHOLE				7000
#define CACHED_BYTES			(1024 * 1024)

/* Elements of an array of which nothing is known, as the server assumes. */
#define DEFAULT_ELEMENTS		10

/* Probes of each filter by a subquery that runs for each row of another query. */
#define DEFAULT_RUNS			1000

/*
 * The COST of functions that go through whole filters is that of filters of
 * this size; with less it is less, down to COST_CALL.  A filter of unknown size
 * is taken for one of some hundred values.
 */
#define MEASURED_BYTES			12500
#define DEFAULT_BYTES			500
#define COST_CALL				250

/*
 * cuckoo_cost_rel
 *		The relation of this number that is scanned, or NULL.
 */
RelOptInfo *
cuckoo_cost_rel(PlannerInfo *root, int varno)
{
	return varno > 0 && varno < root->simple_rel_array_size ?
		root->simple_rel_array[varno] : NULL;
}

/*
 * cost_key_cost
 *		What it costs to hash a value of a type.
 */
static double
cost_key_cost(Oid type)
{
	const CuckooHasher *hasher =
		cuckoo_hasher_for_estimate(type, DEFAULT_COLLATION_OID,
								   CurrentMemoryContext);

	return hasher == NULL || cuckoo_hasher_type(hasher) == NUMERICOID ?
		COST_BUILT_KEY : COST_KEY;
}

/*
 * cost_is_init_plan
 *		Is this parameter the result of a subquery that runs once?
 */
static bool
cost_is_init_plan(PlannerInfo *root, int paramid)
{
	for (; root != NULL; root = root->parent_root)
	{
		ListCell   *cell;

		foreach(cell, root->init_plans)
		{
			if (list_member_int(lfirst_node(SubPlan, cell)->setParam, paramid))
				return true;
		}
	}
	return false;
}

/*
 * cost_probes_of_filter
 *		How many values each filter of a column is probed with: those of other
 *		relations, or of the queries around this one.
 */
static double
cost_probes_of_filter(PlannerInfo *root, int varno, Node *value)
{
	Relids		relids = pull_varnos(root, value);
	Bitmapset  *params = pull_paramids((Expr *) value);
	double		nprobes = 1;
	int			i;

	i = -1;
	while ((i = bms_next_member(relids, i)) >= 0)
	{
		const RelOptInfo *rel = cuckoo_cost_rel(root, i);

		if (i != varno && rel != NULL)
			nprobes = Max(nprobes, rel->rows > 0 ? rel->rows : rel->tuples);
	}
	i = -1;
	while ((i = bms_next_member(params, i)) >= 0)
	{
		if (!cost_is_init_plan(root, i))
			nprobes = Max(nprobes, DEFAULT_RUNS);
	}
	return nprobes;
}

/*
 * cost_filter_cost
 *		What it costs to reach the bytes of a filter that a probe looks at.
 *
 * The pages of stored filters are taken to be cached, as they are from the
 * second probe on; filters that are probed again and again, to fit into the
 * memory that is kept for them, or to be probed one after the other.
 */
static double
cost_filter_cost(PlannerInfo *root, Node *filter, Node *value)
{
	if (IsA(filter, Const) && !((Const *) filter)->constisnull &&
		toast_raw_datum_size(((Const *) filter)->constvalue) > CACHED_BYTES)
		return COST_MISS;

	if (IsA(filter, Var) && root != NULL && ((Var *) filter)->varlevelsup == 0)
	{
		const Var  *var = (Var *) filter;
		const RangeTblEntry *rte = planner_rt_fetch(var->varno, root);

		/* the average counts a value out of line as the pointer to it */
		if (rte->rtekind == RTE_RELATION &&
			get_attavgwidth(rte->relid, var->varattno) >
			(int32) TOAST_POINTER_SIZE)
			return 0;
		return Min(COST_STORED,
				   COST_WHOLE / cost_probes_of_filter(root, var->varno,
														 value));
	}
	return 0;
}

/*
 * cost_filter_bytes
 *		How large the filters are that an expression gives.
 */
static double
cost_filter_bytes(PlannerInfo *root, Node *filter)
{
	if (IsA(filter, Const) && !((Const *) filter)->constisnull)
		return toast_raw_datum_size(((Const *) filter)->constvalue);

	if (IsA(filter, Var) && root != NULL && ((Var *) filter)->varlevelsup == 0)
	{
		const Var  *var = (Var *) filter;
		const RangeTblEntry *rte = planner_rt_fetch(var->varno, root);
		const RelOptInfo *rel = cuckoo_cost_rel(root, var->varno);
		const int32 width = rte->rtekind == RTE_RELATION ?
			get_attavgwidth(rte->relid, var->varattno) : 0;

		if (width > (int32) TOAST_POINTER_SIZE)
			return width;
		if (width > 0)
			return MEASURED_BYTES;

		/* without statistics, no more than the whole row */
		if (rte->rtekind == RTE_RELATION && rel != NULL && rel->tuples > 0)
			return Min(DEFAULT_BYTES,
					   (double) rel->pages * BLCKSZ / rel->tuples);
	}
	return DEFAULT_BYTES;
}

/*
 * cost_bytes_of_args
 *		How large the filters among the arguments of a call are, taken together.
 */
static double
cost_bytes_of_args(PlannerInfo *root, const List *args)
{
	double		nbytes = 0;
	ListCell   *cell;

	foreach(cell, args)
	{
		Node	   *arg = lfirst(cell);

		if (IsA(arg, TargetEntry))
			arg = (Node *) ((TargetEntry *) arg)->expr;
		if (cuckoo_datum_is_filter_type(exprType(arg)))
			nbytes += cost_filter_bytes(root, arg);
	}
	return nbytes;
}

/*
 * cost_number_of_elements
 *		How many elements an array will have.
 */
static double
cost_number_of_elements(Node *array)
{
	if (IsA(array, Const) && !((Const *) array)->constisnull)
	{
		const ArrayType *value =
			DatumGetArrayTypeP(((Const *) array)->constvalue);

		return ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	}
	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
		return list_length(((ArrayExpr *) array)->elements);
	return DEFAULT_ELEMENTS;
}

/*
 * cuckoo_cost_probe
 *		What a probe costs, in units of cpu_operator_cost.
 */
double
cuckoo_cost_probe(PlannerInfo *root, const Probe *probe)
{
	const double cost = cost_filter_cost(root, probe->filter, probe->value);

	switch (probe->kind)
	{
		case PROBE_HASH:
			return cost + COST_PROBE;

		case PROBE_ANY:
		case PROBE_ALL:
			return cost + COST_ARRAY +
				cost_number_of_elements(probe->value) *
				cost_key_cost(get_base_element_type(exprType(probe->value)));

		case PROBE_VALUE:
			break;
	}
	return cost + COST_PROBE + cost_key_cost(exprType(probe->value));
}

/*
 * cost_declared_cost
 *		The COST of a function.
 */
static double
cost_declared_cost(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	double		cost;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	cost = ((Form_pg_proc) GETSTRUCT(tuple))->procost;
	ReleaseSysCache(tuple);
	return cost;
}

/*
 * cost_whole_cost
 *		Answer a request for the cost of a function that goes through whole
 *		filters.
 *
 * Of the functions of an aggregate the planner asks without a call; its calls
 * are those of the query.
 */
static Node *
cost_whole_cost(SupportRequestCost *request)
{
	PlannerInfo *root = request->root;
	double		nbytes = 0;
	ListCell   *cell;

	if (request->node != NULL && IsA(request->node, FuncExpr))
	{
		const List *args = ((FuncExpr *) request->node)->args;

		nbytes = cost_bytes_of_args(root, args) / Max(list_length(args), 1);
	}
	else if (request->node == NULL && root != NULL)
	{
		foreach(cell, root->aggtransinfos)
		{
			const AggTransInfo *transition = lfirst(cell);

			if (transition->transfn_oid == request->funcid ||
				transition->combinefn_oid == request->funcid)
				nbytes = Max(nbytes,
							 cost_bytes_of_args(root, transition->args));
		}
	}
	if (nbytes <= 0)
		nbytes = DEFAULT_BYTES;

	request->startup = 0;
	request->per_tuple = cpu_operator_cost *
		Max(cost_declared_cost(request->funcid) * nbytes / MEASURED_BYTES,
			COST_CALL);
	return (Node *) request;
}

/*
 * cf_whole_support
 *		Support function of those that go through whole filters.
 */
Datum
cf_whole_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	PG_RETURN_POINTER(IsA(request, SupportRequestCost) ?
					  cost_whole_cost((SupportRequestCost *) request) :
					  NULL);
}
