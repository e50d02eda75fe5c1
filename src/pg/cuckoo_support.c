/*-------------------------------------------------------------------------
 *
 * cuckoo_support.c
 *		What the planner is told of a probe: how many rows pass, and the cost;
 *		and PL/pgSQL of a change: that it can be made in place.
 *
 * The functions have support functions, the operators @> and <@ have
 * restriction and join estimators (the planner does not ask the support
 * function of an operator's function for a selectivity); both come to the
 * same estimate.
 *
 * If the filter is known when the query is planned, it says how many
 * different values it holds.  As for a semi-join, they are taken to be among
 * the values of the column, each as frequent as any other, except for the most
 * common ones, which are probed.  Of the values that are not in the filter,
 * the false positive rate gets through as well.  If the filter is the result
 * of an uncorrelated subquery that builds one, such as (SELECT cf_agg(id) FROM
 * small), the plan of the subquery says about how many values it will hold.
 *
 * If nothing is known, a probe is taken to let a fixed part of the rows pass,
 * see DEFAULT_CONTAINS_SEL.
 *
 * No function here raises an error for what the query would be wrong about,
 * such as a filter of another kind of values: the executor will say so, if it
 * comes to that.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parse_coerce.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "cuckoo_agg.h"
#include "cuckoo_cost.h"
#include "cuckoo_pg.h"

PG_FUNCTION_INFO_V1(cf_contains_support);
PG_FUNCTION_INFO_V1(cf_contains_any_support);
PG_FUNCTION_INFO_V1(cf_contains_all_support);
PG_FUNCTION_INFO_V1(cf_change_support);
PG_FUNCTION_INFO_V1(cf_contains_sel);
PG_FUNCTION_INFO_V1(cf_contains_joinsel);

/*
 * The part of the rows that pass a filter of which nothing is known.
 *
 * A filter is asked because most rows are expected to fail, so this is less
 * than the third that the server assumes of any function.  It is not far less,
 * since too few rows expected do more harm than too many: they make a nested
 * loop of what had better be a hash join.
 */
#define DEFAULT_CONTAINS_SEL	0.1

/* cf_agg(value, capacity, fpr, ...), cf_hash_agg(hash, capacity, fpr, ...) */
#define AGG_FPR_ARGNO			2

/* What is known of a filter when the query is planned. */
typedef struct FilterKnowledge
{
	double		nvalues;		/* different values in it */
	double		max_nvalues;	/* nvalues, or more if that is but a guess */
	double		fpr;
	bool		is_open;
	CuckooFilter filter;		/* if is_open */
} FilterKnowledge;

/*
 * support_is_filter
 *		Is this expression a filter?
 *
 * Anybody can make an operator for other types that names our estimator.
 */
static bool
support_is_filter(Node *expression)
{
	return cuckoo_datum_is_filter_type(exprType(expression));
}

/*
 * support_probe_of_call
 *		Tell the arguments of a call apart by the declared ones.
 *
 * kind is PROBE_VALUE unless the caller knows better.  Returns false if this
 * is no probe of a filter.
 */
static bool
support_probe_of_call(Probe *probe, ProbeKind kind, Oid funcid, List *args,
					  Oid collation)
{
	Oid		   *declared;
	int			nargs;
	bool		value_first;

	if (list_length(args) != 2)
		return false;
	(void) get_func_signature(funcid, &declared, &nargs);
	if (nargs != 2)
		return false;

	/* cf_contained() has the value first */
	value_first = declared[0] == ANYCOMPATIBLEOID;
	probe->args = args;
	probe->kind = declared[1] == INT8OID ? PROBE_HASH : kind;
	probe->funcid = funcid;
	probe->collation = collation;
	probe->value = value_first ? linitial(args) : lsecond(args);
	probe->filter = value_first ? lsecond(args) : linitial(args);
	if ((kind == PROBE_ANY || kind == PROBE_ALL) &&
		!OidIsValid(get_base_element_type(exprType(probe->value))))
		return false;
	return support_is_filter(probe->filter);
}

/*-------------------------------------------------------------------------
 * What is known of the filter
 *-------------------------------------------------------------------------
 */

/*
 * support_know_constant
 *		Open a filter that is there when the query is planned.
 *
 * It is in memory whole: the planner makes no Const of anything toasted.
 */
static bool
support_know_constant(const Const *constant, FilterKnowledge *knowledge)
{
	CuckooFilter *filter = &knowledge->filter;
	const struct varlena *datum;

	if (constant->constisnull)
		return false;

	datum = PG_DETOAST_DATUM_PACKED(constant->constvalue);
	if (cuckoo_image_open(filter, (const uint8 *) VARDATA_ANY(datum),
						  VARSIZE_ANY_EXHDR(datum)) != CUCKOO_OK)
		return false;
	knowledge->is_open = true;
	knowledge->nvalues = cuckoo_filter_estimate_values(filter);
	knowledge->max_nvalues = knowledge->nvalues;
	knowledge->fpr = cuckoo_filter_fpr(filter);
	return true;
}

/*
 * support_find_building_aggregate
 *		Find the call of cf_agg, cf_bag_agg or cf_hash_agg in a target list;
 *		NULL unless there is just one.
 *
 * Of an aggregate of other people nothing is known, whatever its arguments
 * look like: they can be direct ones, which are not in args.
 */
static Aggref *
support_find_building_aggregate(List *targetlist)
{
	List	   *leaves =
		pull_var_clause((Node *) targetlist,
						PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
						PVC_INCLUDE_PLACEHOLDERS);
	Aggref	   *found = NULL;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		Aggref	   *aggref = lfirst(cell);

		if (!IsA(aggref, Aggref) || aggref->args == NIL ||
			!(cuckoo_agg_is_ours(aggref->aggfnoid) ||
			  cuckoo_agg_is_of_hashes(aggref->aggfnoid)))
			continue;
		if (found != NULL && !equal(found, aggref))
			return NULL;
		found = aggref;
	}
	return found;
}

/*
 * support_declared_fpr
 *		The rate that an aggregate call asks for.
 */
static double
support_declared_fpr(const Aggref *aggref)
{
	/* behind the arguments, args has what is in ORDER BY only */
	if (list_length(aggref->aggargtypes) > AGG_FPR_ARGNO &&
		list_length(aggref->args) > AGG_FPR_ARGNO)
	{
		const TargetEntry *entry = list_nth(aggref->args, AGG_FPR_ARGNO);
		const Const *argument = (const Const *) entry->expr;

		if (IsA(argument, Const) && argument->consttype == FLOAT8OID &&
			!argument->constisnull)
		{
			const float8 fpr = DatumGetFloat8(argument->constvalue);

			/* or else the aggregate will raise an error */
			if (fpr > 0.0 && fpr < 1.0)
				return fpr;
		}
	}
	return CUCKOO_DEFAULT_FPR;
}

/*
 * support_know_subplan
 *		Estimate how many values a subquery puts into the filter it builds.
 *
 * Only of a subquery that makes one filter of all its rows.
 */
static bool
support_know_subplan(PlannerInfo *root, const SubPlan *subplan,
					 FilterKnowledge *knowledge)
{
	PlannerInfo *subroot = list_nth(root->glob->subroots,
									subplan->plan_id - 1);
	Plan	   *plan = planner_subplan_get_plan(root, subplan);
	int			nprocesses = 1;
	Aggref	   *aggref;
	TargetEntry *value;
	double		nrows;
	EstimationInfo info;

	/* down to where the rows come in, also through a parallel plan */
	while (!IsA(plan, Agg) || DO_AGGSPLIT_COMBINE(((Agg *) plan)->aggsplit))
	{
		if (IsA(plan, SubqueryScan))
		{
			SubqueryScan *scan = (SubqueryScan *) plan;

			subroot = find_base_rel(subroot, scan->scan.scanrelid)->subroot;
			plan = scan->subplan;
			continue;
		}
		if (IsA(plan, CteScan))
		{
			const int	cte_id = ((CteScan *) plan)->ctePlanId;

			subroot = list_nth(root->glob->subroots, cte_id - 1);
			plan = list_nth(root->glob->subplans, cte_id - 1);
			continue;
		}
		if (IsA(plan, Gather))
			nprocesses = ((Gather *) plan)->num_workers + 1;
		else if (!IsA(plan, Agg) && !IsA(plan, Result))
			return false;
		plan = outerPlan(plan);
		if (plan == NULL)
			return false;
	}

	aggref = support_find_building_aggregate(plan->targetlist);
	if (aggref == NULL || ((Agg *) plan)->numCols > 0)
		return false;

	value = linitial_node(TargetEntry, aggref->args);
	nrows = outerPlan(plan)->plan_rows * nprocesses;
	knowledge->nvalues = estimate_num_groups(subroot, list_make1(value->expr),
											 nrows, NULL, &info);
	knowledge->max_nvalues = (info.flags & SELFLAG_USED_DEFAULT) != 0 ?
		nrows : knowledge->nvalues;
	knowledge->fpr = support_declared_fpr(aggref);
	return true;
}

/*
 * support_know_param
 *		Find the subquery whose result a parameter is, and look at it.
 *
 * It can belong to any of the queries around this one.
 */
static bool
support_know_param(PlannerInfo *root, const Param *param,
				   FilterKnowledge *knowledge)
{
	for (PlannerInfo *outer = root; outer != NULL; outer = outer->parent_root)
	{
		ListCell   *cell;

		foreach(cell, outer->init_plans)
		{
			const SubPlan *subplan = lfirst_node(SubPlan, cell);

			if (list_length(subplan->setParam) == 1 &&
				linitial_int(subplan->setParam) == param->paramid)
				return support_know_subplan(outer, subplan, knowledge);
		}
	}
	return false;
}

/*
 * support_know_filter
 *		Find out what can be known of the filter of a probe.
 *
 * Returns false if that is nothing.
 */
static bool
support_know_filter(PlannerInfo *root, Node *filter, FilterKnowledge *knowledge)
{
	memset(knowledge, 0, sizeof(*knowledge));

	/* estimating a constant would only copy it, and it can be large */
	if (!IsA(filter, Const))
		filter = estimate_expression_value(root, filter);
	if (IsA(filter, Const))
		return support_know_constant((Const *) filter, knowledge);
	if (IsA(filter, Param) && ((Param *) filter)->paramkind == PARAM_EXEC)
		return support_know_param(root, (Param *) filter, knowledge);
	return false;
}

/*-------------------------------------------------------------------------
 * Selectivity
 *-------------------------------------------------------------------------
 */

/*
 * support_probe_common_values
 *		Probe the filter with the most common values of a column.
 *
 * Adds up the frequencies of those it contains in *passed, of all in *all,
 * and counts them in *npassed and *nall.  Leaves these at 0 if there are no
 * statistics, or they may not be used.
 */
static void
support_probe_common_values(const Probe *probe,
							const FilterKnowledge *knowledge,
							CuckooHasher *hasher, VariableStatData *variable,
							double *passed, double *all, int *npassed,
							int *nall)
{
	const CuckooFilter *filter = &knowledge->filter;
	AttStatsSlot slot;

	*passed = *all = 0;
	*npassed = *nall = 0;
	if (!knowledge->is_open ||
		(probe->kind != PROBE_HASH && hasher == NULL) ||
		!HeapTupleIsValid(variable->statsTuple) ||
		!statistic_proc_security_check(variable, probe->funcid) ||
		!get_attstatsslot(&slot, variable->statsTuple, STATISTIC_KIND_MCV,
						  InvalidOid,
						  ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		return;

	/* values are hashed by the type of the expression */
	if (!IsBinaryCoercible(slot.valuetype, probe->kind == PROBE_HASH ?
						   INT8OID : cuckoo_hasher_type(hasher)))
	{
		free_attstatsslot(&slot);
		return;
	}

	for (int i = 0; i < slot.nvalues; i++)
	{
		const uint64 hash = probe->kind == PROBE_HASH ?
			(uint64) DatumGetInt64(slot.values[i]) :
			cuckoo_hash_value_for(hasher, slot.values[i], filter);

		if (cuckoo_filter_contains(filter, hash))
		{
			*passed += slot.numbers[i];
			(*npassed)++;
		}
		*all += slot.numbers[i];
	}
	*nall = slot.nvalues;
	free_attstatsslot(&slot);
}

/*
 * support_variable_selectivity
 *		The part of the values of an expression that a filter contains.
 */
static double
support_variable_selectivity(PlannerInfo *root, const Probe *probe,
							 const FilterKnowledge *knowledge, Node *value,
							 int varRelid)
{
	VariableStatData variable;
	CuckooHasher *hasher = NULL;
	double		ndistinct;
	bool		is_default;
	double		null_frac = 0;
	double		passed;
	double		all;
	int			npassed;
	int			nall;
	double		share;
	double		selectivity;

	if (probe->kind != PROBE_HASH)
	{
		hasher = cuckoo_hasher_for_estimate(exprType(value), probe->collation,
											CurrentMemoryContext);

		/* the executor will not like this */
		if (knowledge->is_open && hasher != NULL &&
			knowledge->filter.family != CUCKOO_FAMILY_NONE &&
			!cuckoo_family_accepts(knowledge->filter.family,
								   cuckoo_hasher_family(hasher)))
			return DEFAULT_CONTAINS_SEL;
	}

	examine_variable(root, value, varRelid, &variable);
	ndistinct = get_variable_numdistinct(&variable, &is_default);
	if (HeapTupleIsValid(variable.statsTuple))
		null_frac =
			((Form_pg_statistic) GETSTRUCT(variable.statsTuple))->stanullfrac;
	support_probe_common_values(probe, knowledge, hasher, &variable,
								&passed, &all, &npassed, &nall);

	if (is_default)
	{
		/*
		 * Nothing is known of the values: they could be a few or all
		 * different.  Do as for so many comparisons with "=", but do not take
		 * what was made up for a reason to let more pass than without it.
		 * Values that are there have a row each.
		 */
		share = Min(knowledge->nvalues / ndistinct, DEFAULT_CONTAINS_SEL);
		if (variable.rel != NULL && variable.rel->tuples > 0)
			share = Max(share, knowledge->nvalues / variable.rel->tuples);
	}
	else
		share = Max(knowledge->nvalues - npassed, 0) /
			Max(ndistinct - nall, 1);
	ReleaseVariableStats(variable);

	share = Min(share, 1);
	share += (1 - share) * knowledge->fpr;
	selectivity = passed + Max(1 - null_frac - all, 0) * share;
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * support_array_selectivity
 *		The part of the rows whose array has any or all elements in a filter.
 *
 * Only an array of single expressions can be looked into.
 */
static double
support_array_selectivity(PlannerInfo *root, const Probe *probe,
						  const FilterKnowledge *knowledge, int varRelid)
{
	const ArrayExpr *array = (ArrayExpr *) probe->value;
	double		none = 1;
	double		all = 1;
	ListCell   *cell;

	if (!IsA(array, ArrayExpr) || array->multidims)
		return DEFAULT_CONTAINS_SEL;

	foreach(cell, array->elements)
	{
		Node	   *element = lfirst(cell);
		double		selectivity;

		/* the functions leave NULL out */
		if (IsA(element, Const) && ((Const *) element)->constisnull)
			continue;
		selectivity = support_variable_selectivity(root, probe, knowledge,
												   element,
												   varRelid);
		none *= 1 - selectivity;
		all *= selectivity;
	}
	return probe->kind == PROBE_ANY ? 1 - none : all;
}

/*
 * support_is_probe
 *		Does this condition take a filter?
 */
static bool
support_is_probe(const Expr *clause)
{
	const List *args = IsA(clause, OpExpr) ? ((OpExpr *) clause)->args :
		IsA(clause, FuncExpr) ? ((FuncExpr *) clause)->args : NIL;
	ListCell   *cell;

	foreach(cell, args)
	{
		if (support_is_filter(lfirst(cell)))
			return true;
	}
	return false;
}

/*
 * support_is_condition
 *		Is the call with these arguments a condition of a relation as it is,
 *		and not a part of one, such as the negated one?
 */
static bool
support_is_condition(const RelOptInfo *rel, const List *args)
{
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		const Expr *clause = lfirst_node(RestrictInfo, cell)->clause;

		if ((IsA(clause, OpExpr) && ((OpExpr *) clause)->args == args) ||
			(IsA(clause, FuncExpr) && ((FuncExpr *) clause)->args == args))
			return true;
	}
	return false;
}

/*
 * support_strip
 *		An expression without what does not change its bytes; a column of a
 *		partition as that of the table it belongs to.
 */
static Node *
support_strip(PlannerInfo *root, Node *node)
{
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;

	while (IsA(node, Var) && root->append_rel_array != NULL &&
		   cuckoo_cost_rel(root, ((Var *) node)->varno) != NULL &&
		   root->append_rel_array[((Var *) node)->varno] != NULL)
	{
		Var		   *var = copyObject((Var *) node);
		const AppendRelInfo *appinfo = root->append_rel_array[var->varno];

		if (var->varattno < 1 || var->varattno > appinfo->num_child_cols ||
			appinfo->parent_colnos[var->varattno - 1] == 0)
			break;
		var->varno = appinfo->parent_relid;
		var->varattno = appinfo->parent_colnos[var->varattno - 1];
		node = (Node *) var;
	}
	return node;
}

/*
 * support_partner_values
 *		How many different values an expression of another relation has there
 *		when that is scanned; 0 if it is not known.
 *
 * Relations are sized one after the other, and this one's turn may not have
 * come.
 */
static double
support_partner_values(PlannerInfo *root, const EquivalenceMember *member)
{
	int			varno;
	RelOptInfo *rel;
	double		nrows;
	VariableStatData variable;
	double		ndistinct;
	bool		is_default;
	ListCell   *cell;

	if (!bms_get_singleton_member(member->em_relids, &varno) ||
		(rel = cuckoo_cost_rel(root, varno)) == NULL)
		return 0;

	nrows = rel->rows;
	if (nrows <= 0)
	{
		if (rel->rtekind != RTE_RELATION || rel->tuples <= 0)
			return 0;
		foreach(cell, rel->baserestrictinfo)
		{
			/* it could be the turn of that to ask for this one */
			if (support_is_probe(lfirst_node(RestrictInfo, cell)->clause))
				return 0;
		}
		nrows = rel->tuples *
			clauselist_selectivity(root, rel->baserestrictinfo, 0, JOIN_INNER,
								   NULL);
	}

	examine_variable(root, (Node *) member->em_expr, 0, &variable);
	ndistinct = get_variable_numdistinct(&variable, &is_default);
	ReleaseVariableStats(variable);
	return Max(Min(ndistinct, nrows), 1);
}

/*
 * support_joined_with
 *		The least number of different values that an expression is joined with
 *		by "=": 0 if one is not known, and infinity if there are none.
 */
static double
support_joined_with(PlannerInfo *root, Node *value, const Relids relids)
{
	double		least = get_float8_infinity();
	ListCell   *class_cell;
	ListCell   *cell;

	foreach(class_cell, root->eq_classes)
	{
		const EquivalenceClass *class = lfirst(class_cell);
		bool		has_value = false;

		if (class->ec_has_volatile)
			continue;
		foreach(cell, class->ec_members)
		{
			const EquivalenceMember *member = lfirst(cell);

			has_value = has_value ||
				(!member->em_is_child && bms_equal(member->em_relids, relids) &&
				 equal(support_strip(root, (Node *) member->em_expr), value));
		}
		if (!has_value)
			continue;
		foreach(cell, class->ec_members)
		{
			const EquivalenceMember *member = lfirst(cell);

			if (!member->em_is_const && !member->em_is_child &&
				!bms_overlap(member->em_relids, relids))
				least = Min(least, support_partner_values(root, member));
		}
	}
	return least;
}

/*
 * support_own_selectivity
 *		The part of the values of a column that other conditions on nothing but
 *		that column let pass; they hold for what it is joined with, too.
 */
static double
support_own_selectivity(PlannerInfo *root, const RelOptInfo *rel,
						const Node *column)
{
	List	   *own = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		List	   *vars = pull_var_clause((Node *) rinfo->clause,
										   PVC_RECURSE_PLACEHOLDERS);

		if (list_length(vars) == 1 && equal(linitial(vars), column) &&
			!support_is_probe(rinfo->clause))
			own = lappend(own, rinfo);
	}
	return clauselist_selectivity(root, own, 0, JOIN_INNER, NULL);
}

/*
 * support_joined_selectivity
 *		The part of the rows that pass a filter, of those that a join leaves.
 *
 * A filter mostly stands beside the join that it is made for.  What it lets
 * pass is what the join would leave anyway: taken as independent, they would
 * count twice, and far too few rows would be expected.  As the join's estimate
 * is not ours to change, the filter's is.  With n values in the filter and m
 * that the column is joined with, n / m of the rows are taken to pass: all of
 * them, if n is not clearly less or is not known.
 *
 * Returns 0 if the value is not joined.  knowledge is NULL for a filter of
 * which nothing is known.
 */
static double
support_joined_selectivity(PlannerInfo *root, const Probe *probe,
						   const FilterKnowledge *knowledge)
{
	List	   *vars = pull_var_clause(probe->value,
									   PVC_RECURSE_AGGREGATES |
									   PVC_RECURSE_WINDOWFUNCS |
									   PVC_RECURSE_PLACEHOLDERS);
	Node	   *value;
	int			varno;
	const RelOptInfo *rel;
	double		nvalues;

	/* a function of one column has no more values than that */
	if (vars == NIL)
		return 0;
	value = linitial(vars);
	varno = ((Var *) value)->varno;
	rel = cuckoo_cost_rel(root, varno);
	if (list_length(vars) > 1 || rel == NULL ||
		!support_is_condition(rel, probe->args))
		return 0;

	value = support_strip(root, value);
	nvalues = support_joined_with(root, value,
								  bms_make_singleton(((Var *) value)->varno));
	if (isinf(nvalues))
		return 0;
	nvalues *= support_own_selectivity(root, rel, linitial(vars));
	if (knowledge == NULL || knowledge->max_nvalues >= nvalues / 2)
		return 1;
	return Min(knowledge->max_nvalues / nvalues + knowledge->fpr, 1);
}

/*
 * support_probe_selectivity
 *		The part of the rows for which a probe is true.
 */
static double
support_probe_selectivity(PlannerInfo *root, const Probe *probe, int varRelid)
{
	FilterKnowledge knowledge;
	const bool	is_known = support_know_filter(root, probe->filter, &knowledge);
	double		selectivity = DEFAULT_CONTAINS_SEL;

	if (probe->kind == PROBE_ANY || probe->kind == PROBE_ALL)
		return is_known ? support_array_selectivity(root, probe, &knowledge,
													varRelid) : selectivity;
	if (is_known)
		selectivity = support_variable_selectivity(root, probe, &knowledge,
												   probe->value, varRelid);
	return Max(selectivity,
			   support_joined_selectivity(root, probe,
										  is_known ? &knowledge : NULL));
}

/*
 * cf_contains_sel
 *		Restriction estimator of @> and <@.
 */
Datum
cf_contains_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	const Oid	operator = PG_GETARG_OID(1);
	List	   *args = (List *) PG_GETARG_POINTER(2);
	const int	varRelid = PG_GETARG_INT32(3);
	Probe		probe;

	if (!support_probe_of_call(&probe, PROBE_VALUE, get_opcode(operator), args,
							   PG_GET_COLLATION()))
		PG_RETURN_FLOAT8(DEFAULT_CONTAINS_SEL);
	PG_RETURN_FLOAT8(support_probe_selectivity(root, &probe, varRelid));
}

/*
 * cf_contains_joinsel
 *		Join estimator of @> and <@.
 *
 * Whatever is joined by a probe, the filters come from a table and are not
 * known.
 */
Datum
cf_contains_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(DEFAULT_CONTAINS_SEL);
}

/*-------------------------------------------------------------------------
 * Support functions
 *-------------------------------------------------------------------------
 */

/*
 * support_selectivity
 *		Answer a request for the selectivity of a call.
 */
static Node *
support_selectivity(SupportRequestSelectivity *request, ProbeKind kind)
{
	Probe		probe;

	if (!support_probe_of_call(&probe, kind, request->funcid, request->args,
							   request->inputcollid))
		return NULL;
	request->selectivity = request->is_join ? DEFAULT_CONTAINS_SEL :
		support_probe_selectivity(request->root, &probe, request->varRelid);
	return (Node *) request;
}

/*
 * support_cost
 *		Answer a request for the cost of a call.
 */
static Node *
support_cost(SupportRequestCost *request, ProbeKind kind)
{
	Node	   *node = request->node;
	List	   *args;
	Probe		probe;

	if (node != NULL && IsA(node, FuncExpr))
		args = ((FuncExpr *) node)->args;
	else if (node != NULL && IsA(node, OpExpr))
		args = ((OpExpr *) node)->args;
	else
		return NULL;
	if (!support_probe_of_call(&probe, kind, request->funcid, args, InvalidOid))
		return NULL;

	request->startup = 0;
	request->per_tuple = cuckoo_cost_probe(request->root,
										   &probe) * cpu_operator_cost;
	return (Node *) request;
}

/*
 * support_answer
 *		Answer the planner about a function of the given kind, NULL if it asks
 *		for anything else.
 */
static Datum
support_answer(FunctionCallInfo fcinfo, ProbeKind kind)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestSelectivity))
		answer = support_selectivity((SupportRequestSelectivity *) request,
									 kind);
	else if (IsA(request, SupportRequestCost))
		answer = support_cost((SupportRequestCost *) request, kind);
	PG_RETURN_POINTER(answer);
}

/*
 * cf_contains_support
 *		Support function of cf_contains(), cf_contained() and
 *		cf_contains_hash().
 */
Datum
cf_contains_support(PG_FUNCTION_ARGS)
{
	return support_answer(fcinfo, PROBE_VALUE);
}

Datum
cf_contains_any_support(PG_FUNCTION_ARGS)
{
	return support_answer(fcinfo, PROBE_ANY);
}

Datum
cf_contains_all_support(PG_FUNCTION_ARGS)
{
	return support_answer(fcinfo, PROBE_ALL);
}

/*
 * cf_change_support(request internal)
 *		Support function of the functions that change a filter.
 *
 * In an assignment f := cf_add(f, x), PL/pgSQL may pass f with a read-write
 * pointer.  If the function fails, f is as it was, see cuckoo_expanded.c.  If
 * the other argument refers to f too, it has been hashed before f is changed.
 */
Datum
cf_change_support(PG_FUNCTION_ARGS)
{
#ifdef CUCKOO_HAVE_MODIFY_IN_PLACE
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestModifyInPlace))
	{
		const SupportRequestModifyInPlace *modify =
			(SupportRequestModifyInPlace *) request;
		Param	   *filter = modify->args != NIL ? linitial(modify->args) : NULL;

		if (filter != NULL && IsA(filter, Param) && filter->paramkind == PARAM_EXTERN &&
			filter->paramid == modify->paramid)
			PG_RETURN_POINTER(filter);
	}
#endif
	PG_RETURN_POINTER(NULL);
}
