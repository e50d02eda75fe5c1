/*-------------------------------------------------------------------------
 *
 * cuckoo_cost.h
 *		A probe as the planner sees it, and what it costs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COST_H
#define CUCKOO_COST_H

#include "nodes/pathnodes.h"

/* What the value argument of a probe is. */
typedef enum ProbeKind
{
	PROBE_VALUE,
	PROBE_HASH,
	PROBE_ANY,
	PROBE_ALL
} ProbeKind;

/* A call of one of the functions, or of an operator. */
typedef struct Probe
{
	const List *args;
	ProbeKind	kind;
	Oid			funcid;
	Oid			collation;
	Node	   *filter;
	Node	   *value;
} Probe;

/* What a probe costs, in units of cpu_operator_cost. */
extern double cuckoo_cost_probe(PlannerInfo *root, const Probe *probe);

/* The relation of this number that is scanned, or NULL. */
extern RelOptInfo *cuckoo_cost_rel(PlannerInfo *root, int varno);

#endif							/* CUCKOO_COST_H */
