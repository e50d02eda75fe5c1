/*-------------------------------------------------------------------------
 *
 * cuckoo_attach.c
 *		Making, ending, renewing and judging what keeps filters in step.
 *
 * cf_attach() and cf_rebuild() build filters under a lock that keeps writers
 * of the source out, and waits for those that are at work, until the
 * transaction ends.  Readers are not hindered: they see the filters from
 * before, which are right for what they see of the source.
 *
 * The functions run with the rights of the caller, with a search_path of
 * pg_catalog alone and row_security off (see the SQL script): where rows would
 * be hidden from the caller they fail, rather than build filters of some.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "cuckoo_upkeep.h"

PG_FUNCTION_INFO_V1(cf_attach);
PG_FUNCTION_INFO_V1(cf_detach);
PG_FUNCTION_INFO_V1(cf_rebuild);
PG_FUNCTION_INFO_V1(cf_drift);

/* Share of stale entries from which on a rebuild pays. */
#define STALE_SHARE		"0.2"

/*
 * What the functions have in common
 */

/* The trigger function, in the schema of the function that is called. */
static Oid
trigger_function(FunctionCallInfo fcinfo)
{
	const Oid	schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	oidvector  *const none = buildoidvector(NULL, 0);
	const Oid	function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum("cf_upkeep"),
										   PointerGetDatum(none),
										   ObjectIdGetDatum(schema));

	if (!OidIsValid(function))
		elog(ERROR, "function cf_upkeep() is missing");
	return function;
}

/*
 * may_keep
 *		May the owner of a table keep the filters of the target?
 *
 * A trigger on a table of somebody else changes nothing, whatever it names.
 */
static bool
may_keep(Oid relation, Oid target)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return false;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return !cuckoo_lacks_rights(owner, target) &&
		!cuckoo_is_restricted(owner, target);
}

/*
 * find_attachment
 *		All triggers of the attachment of a filter column.
 *
 * Those that somebody made for a view, or for a foreign table, never fire.  To
 * read what is below them would be to run what their owner likes.
 */
static List *
find_attachment(Oid function, Oid target, const char *filter)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, cuckoo_triggers_of(function, InvalidOid, target, filter))
	{
		CuckooTrigger *const trigger = lfirst(cell);

		if (cuckoo_is_table(trigger->relation) &&
			may_keep(trigger->relation, target))
			found = lappend(found, trigger);
	}
	return found;
}

/*
 * source_of
 *		The source of an attachment, and what its triggers say of it.
 */
static Oid
source_of(List *triggers, Oid target, const char *filter,
		  CuckooAttachment *attachment)
{
	CuckooTrigger *found = NULL;
	ListCell   *cell;

	foreach(cell, triggers)
	{
		CuckooTrigger *const trigger = lfirst(cell);

		if (trigger->is_part)
			continue;
		if (found != NULL && found->relation != trigger->relation)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("column \"%s\" of table %s follows more than one table",
							filter, cuckoo_relation_sql(target)),
					 errdetail("There are triggers on tables %s and %s.",
							   cuckoo_relation_sql(found->relation),
							   cuckoo_relation_sql(trigger->relation)),
					 errhint("Use cf_detach(), then cf_attach().")));
		found = trigger;
	}
	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of table %s follows no table",
						filter, cuckoo_relation_sql(target)),
				 errhint("Use cf_attach() first.")));
	cuckoo_attachment_read(attachment, CUCKOO_UPKEEP_NARGS, found->args);
	return found->relation;
}

/* What a trigger fires on, and how CREATE TRIGGER says it. */
static const struct
{
	int16		type;
	const char *label;
	const char *timing;
	const char *tables;
}			events[] =

{
	{
		TRIGGER_TYPE_INSERT, "cf_insert", "AFTER INSERT",
		"REFERENCING NEW TABLE AS new_rows"
	},
	{
		TRIGGER_TYPE_UPDATE, "cf_update", "AFTER UPDATE",
		"REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows"
	},
	{
		TRIGGER_TYPE_DELETE, "cf_delete", "AFTER DELETE",
		"REFERENCING OLD TABLE AS old_rows"
	},
	{
		TRIGGER_TYPE_TRUNCATE, "cf_truncate", "BEFORE TRUNCATE", ""
	}
};

/* The trigger of a relation for an event, or NULL. */
static const CuckooTrigger *
find_trigger(Oid relation, int event, List *triggers)
{
	ListCell   *cell;

	foreach(cell, triggers)
	{
		const CuckooTrigger *const trigger = lfirst(cell);

		if (trigger->relation == relation &&
			(trigger->type & events[event].type) != 0)
			return trigger;
	}
	return NULL;
}

/*
 * free_name
 *		A name for the trigger of a relation for an event that has none.
 */
static const char *
free_name(Oid relation, int event, const CuckooAttachment *attachment,
		  Oid target)
{
	char	   *name;
	char		label[NAMEDATALEN];

	strlcpy(label, events[event].label, sizeof(label));
	for (int i = 1;; i++)
	{
		name = makeObjectName(get_rel_name(target), attachment->filter, label);
		if (!OidIsValid(get_trigger_oid(relation, name, true)))
			return name;
		snprintf(label, sizeof(label), "%s%d", events[event].label, i);
	}
}

/*
 * create_trigger
 *		Make the trigger of a relation for an event, or replace what there is.
 *
 * One that fires always, also for what is replicated, goes on to do so.
 */
static void
create_trigger(Oid function, const CuckooAttachment *attachment, Oid target,
			   Oid relation, bool is_part, int event,
			   const CuckooTrigger *existing)
{
	const char *const name = existing != NULL ? existing->name :
		free_name(relation, event, attachment, target);

	cuckoo_run_sql(psprintf("CREATE OR REPLACE TRIGGER %s %s ON %s %s FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)",
							quote_identifier(name), events[event].timing,
							cuckoo_relation_sql(relation),
							events[event].tables,
							cuckoo_function_sql(function, "cf_upkeep"),
							cuckoo_attachment_write(attachment, is_part)),
				   SPI_OK_UTILITY);
	if (existing != NULL && existing->is_always)
	{
		Relation	altered = table_open(relation, NoLock);

		cuckoo_enable_trigger(altered, name, TRIGGER_FIRES_ALWAYS,
							  CUCKOO_UPKEEP_LOCK);
		table_close(altered, NoLock);
	}
}

/*
 * has_event
 *		Does a relation have a trigger for an event?
 *
 * Parts that have no rows of their own are not truncated: their partitions are.
 */
static bool
has_event(Oid relation, bool is_part, int event)
{
	return !is_part || events[event].type != TRIGGER_TYPE_TRUNCATE ||
		get_rel_relkind(relation) != RELKIND_PARTITIONED_TABLE;
}

/*
 * create_triggers
 *		Make the triggers of an attachment, or make them anew.
 *
 * relations are the source and its parts.
 */
static void
create_triggers(Oid function, const CuckooAttachment *attachment, Oid target,
				Oid source, List *relations, List *existing)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		const Oid	relation = lfirst_oid(cell);
		const bool	is_part = relation != source;

		for (int i = 0; i < lengthof(events); i++)
		{
			if (has_event(relation, is_part, i))
				create_trigger(function, attachment, target, relation,
							   is_part, i, find_trigger(relation, i, existing));
		}
	}
}

/* Where a key column stands in a query, and so what it is called. */
typedef enum KeySide
{
	KEY_OF_SOURCE,
	KEY_OF_TARGET,
	KEY_OF_GROUP				/* k1, k2 ...: the source's, grouped */
} KeySide;

/* A key column, with the alias of its table unless that is empty. */
static char *
key_sql(const CuckooAttachment *attachment, const char *alias, KeySide side,
		int i)
{
	return psprintf("%s%s%s", alias, alias[0] == '\0' ? "" : ".",
					side == KEY_OF_GROUP ? psprintf("k%d", i + 1) :
					quote_identifier(side == KEY_OF_SOURCE ?
									 attachment->keys[i] :
									 attachment->target_keys[i]));
}

/*
 * All key columns, separated and each followed by a cast or a condition.
 *
 * IS DISTINCT FROM NULL is what the trigger asks; IS NOT NULL is not true of a
 * composite value with a field that is NULL.
 */
static char *
keys_sql(const CuckooAttachment *attachment, const char *alias, KeySide side,
		 const char *suffix, const char *separator)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&sql, "%s%s%s", i == 0 ? "" : separator,
						 key_sql(attachment, alias, side, i), suffix);
	return sql.data;
}

/* The key columns of the source s, with their names in a group. */
static char *
group_sql(const CuckooAttachment *attachment)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&sql, "%s AS k%d, ",
						 key_sql(attachment, "s", KEY_OF_SOURCE, i), i + 1);
	return sql.data;
}

/* That the keys of two sides are the same in terms of the unique index. */
static char *
match_sql(const CuckooAttachment *attachment, const CuckooColumns *columns,
		  const char *left, KeySide left_side,
		  const char *right, KeySide right_side)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->nkeys; i++)
	{
		const CuckooKeyColumn *const key = &columns->keys[i];
		Oid			left_type = left_side == KEY_OF_TARGET ?
			key->target_type : key->source_type;
		Oid			right_type = right_side == KEY_OF_TARGET ?
			key->target_type : key->source_type;
		char	   *const left_sql =
			cuckoo_operand_sql(key_sql(attachment, left, left_side, i),
							   &left_type);
		char	   *const right_sql =
			cuckoo_operand_sql(key_sql(attachment, right, right_side, i),
							   &right_type);

		if (i > 0)
			appendStringInfoString(&sql, " AND ");
		generate_operator_clause(&sql, left_sql, left_type, key->equality,
								 right_sql, right_type);
	}
	if (attachment->nkeys == 0)
		appendStringInfoString(&sql, "true");
	return sql.data;
}

/* The value of a row of the source. */
static char *
value_sql(const CuckooAttachment *attachment)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (attachment->nvalues > 1)
		appendStringInfoString(&sql, "ROW(");
	for (int i = 0; i < attachment->nvalues; i++)
		appendStringInfo(&sql, "%ss.%s", i == 0 ? "" : ", ",
						 quote_identifier(attachment->values[i]));
	if (attachment->nvalues > 1)
		appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * build
 *		Build all filters from the source, and empty ones for keys without
 *		rows.  Returns the number of filters.
 *
 * Called under locks of both tables and connected to SPI.  Stored is what has
 * the key it was made for.
 */
static int64
build(Oid function, const CuckooAttachment *attachment,
	  const CuckooColumns *columns, Relation source, Relation target)
{
	const char *const only = cuckoo_only_sql(target);
	const char *const source_sql =
		cuckoo_relation_sql(RelationGetRelid(source));
	const char *const target_sql =
		cuckoo_relation_sql(RelationGetRelid(target));
	const char *const filter = quote_identifier(attachment->filter);
	const char *const parameters = cuckoo_parameters_sql(attachment);
	const char *const aggregate =
		psprintf("%s(%s, %s)", cuckoo_function_sql(function, "cf_bag_agg"),
				 value_sql(attachment), parameters);
	uint64		nrows;
	int64		nstored;
	int64		nwanted;
	bool		isnull;

	if (attachment->nkeys == 0)
	{
		nrows = cuckoo_run_sql(psprintf("UPDATE %s%s AS t SET %s = (SELECT %s FROM %s AS s)",
										only, target_sql, filter, aggregate,
										source_sql),
							   SPI_OK_UPDATE);
		if (nrows > 1)
			ereport(ERROR,
					(errcode(ERRCODE_CARDINALITY_VIOLATION),
					 errmsg("table %s must have one row, with the filter of all rows of table %s",
							target_sql, source_sql),
					 errdetail("It has %llu rows.",
							   (unsigned long long) nrows),
					 errhint("Name key columns to have a filter for each key.")));
		if (nrows == 0)
			nrows = cuckoo_run_sql(psprintf("INSERT INTO %s (%s) SELECT %s FROM %s AS s",
											target_sql, filter, aggregate,
											source_sql),
								   SPI_OK_INSERT);
		if (nrows == 0)
			cuckoo_not_stored_error(RelationGetRelid(target));
		return (int64) nrows;
	}

	cuckoo_run_sql(psprintf("WITH built AS MATERIALIZED ("
							"SELECT %s%s AS f FROM %s AS s WHERE %s GROUP BY %s"
							"), updated AS ("
							"UPDATE %s%s AS t SET %s = COALESCE(b.f, %s(%s))"
							" FROM %s%s AS o LEFT JOIN built AS b ON %s WHERE %s"
							" RETURNING %s AS is_right"
							"), fresh AS MATERIALIZED ("
							"SELECT b.* FROM built AS b"
							" WHERE NOT EXISTS (SELECT FROM %s%s AS t WHERE %s)"
							"), inserted AS ("
							"INSERT INTO %s (%s, %s) OVERRIDING SYSTEM VALUE"
							" SELECT %s, b.f FROM fresh AS b"
							" RETURNING %s"
							") SELECT (SELECT pg_catalog.count(*) FROM updated WHERE is_right)"
							" OPERATOR(pg_catalog.+)"
							" (SELECT pg_catalog.count(*) FROM inserted AS n"
							" JOIN fresh AS b ON %s),"
							" (SELECT pg_catalog.count(*) FROM %s%s AS t WHERE %s)"
							" OPERATOR(pg_catalog.+)"
							" (SELECT pg_catalog.count(*) FROM fresh)",
							group_sql(attachment), aggregate, source_sql,
							keys_sql(attachment, "s", KEY_OF_SOURCE, " IS DISTINCT FROM NULL",
									 " AND "),
							keys_sql(attachment, "s", KEY_OF_SOURCE, "", ", "),
							only, target_sql, filter,
							cuckoo_function_sql(function, "cf_new"), parameters,
							only, target_sql,
							match_sql(attachment, columns, "o", KEY_OF_TARGET, "b", KEY_OF_GROUP),
							match_sql(attachment, columns, "t", KEY_OF_TARGET, "o", KEY_OF_TARGET),
							match_sql(attachment, columns, "t", KEY_OF_TARGET, "o", KEY_OF_TARGET),
							only, target_sql,
							match_sql(attachment, columns, "t", KEY_OF_TARGET, "b", KEY_OF_GROUP),
							target_sql,
							keys_sql(attachment, "", KEY_OF_TARGET, "", ", "), filter,
							keys_sql(attachment, "b", KEY_OF_GROUP, "", ", "),
							keys_sql(attachment, "", KEY_OF_TARGET, "", ", "),
							match_sql(attachment, columns, "n", KEY_OF_TARGET, "b", KEY_OF_GROUP),
							only, target_sql,
							keys_sql(attachment, "t", KEY_OF_TARGET,
									 " IS DISTINCT FROM NULL", " AND ")),
				   SPI_OK_SELECT);
	nstored = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										  SPI_tuptable->tupdesc, 1, &isnull));
	nwanted = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										  SPI_tuptable->tupdesc, 2, &isnull));
	if (nstored != nwanted)
		cuckoo_not_stored_error(RelationGetRelid(target));
	return nstored;
}

/* An argument that has to be there. */
static void
require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

/*
 * cf_attach(source, columns, target, filter, key, capacity, fpr, max_copies,
 *			 seed, target_key)
 *		Let a filter column follow a table.  Returns the number of filters.
 *
 * Not STRICT: NULL stands for the defaults.
 */
Datum
cf_attach(PG_FUNCTION_ARGS)
{
	const Oid	function = trigger_function(fcinfo);
	CuckooAttachment attachment = {0};
	CuckooParameters checked;
	CuckooColumns columns;
	Oid			source_oid;
	Oid			target_oid;
	List	   *relations;
	Relation	source;
	Relation	target;
	int			ntarget_keys;
	int64		nfilters;

	require_argument(fcinfo, 0, "source");
	require_argument(fcinfo, 1, "columns");
	require_argument(fcinfo, 2, "target");
	require_argument(fcinfo, 3, "filter");
	require_argument(fcinfo, 4, "key");
	require_argument(fcinfo, 5, "capacity");

	source_oid = PG_GETARG_OID(0);
	target_oid = PG_GETARG_OID(2);
	attachment.values = cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(1), "columns",
												&attachment.nvalues);
	if (attachment.nvalues == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"columns\" must name a column")));
	attachment.filter = text_to_cstring(PG_GETARG_TEXT_PP(3));
	attachment.keys = cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(4), "key",
											  &attachment.nkeys);
	attachment.target_keys = PG_ARGISNULL(9) ? attachment.keys :
		cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(9), "target_key", &ntarget_keys);
	if (!PG_ARGISNULL(9) && ntarget_keys != attachment.nkeys)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arguments \"key\" and \"target_key\" must name as many columns")));
	attachment.capacity = PG_GETARG_FLOAT8(5);
	attachment.fpr = PG_ARGISNULL(6) ? CUCKOO_DEFAULT_FPR :
		PG_GETARG_FLOAT8(6);
	attachment.max_copies = PG_ARGISNULL(7) ? CUCKOO_DEFAULT_MAX_COPIES :
		PG_GETARG_INT32(7);
	attachment.seed = PG_ARGISNULL(8) ? CUCKOO_DEFAULT_SEED :
		PG_GETARG_INT64(8);
	cuckoo_parameters_check(&checked, attachment.capacity, attachment.fpr,
							attachment.max_copies, attachment.seed);

	attachment.target = cuckoo_relation_sql(target_oid);
	(void) cuckoo_relation_sql(source_oid);
	relations = cuckoo_lock_source(source_oid);
	source = table_open(source_oid, NoLock);

	/* first, or anybody could keep others from writing to any table */
	cuckoo_require_rights(relations, target_oid);
	target = table_open(target_oid, CUCKOO_UPKEEP_LOCK);
	cuckoo_require_followable(source, relations, target);
	cuckoo_columns_resolve(&columns, &attachment, source, target);
	cuckoo_require_told(&attachment, source, relations);
	cuckoo_require_full_rows(&attachment, relations);
	cuckoo_hasher_require_type(columns.value_type, columns.value_collation,
							   columns.value_desc);
	if (find_attachment(function, target_oid, attachment.filter) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of table %s follows a table already",
						attachment.filter, attachment.target),
				 errhint("Use cf_detach() first, or cf_rebuild() to build the filters anew.")));

	SPI_connect();
	create_triggers(function, &attachment, target_oid, source_oid, relations,
					NIL);
	nfilters = build(function, &attachment, &columns, source, target);
	SPI_finish();
	table_close(target, NoLock);
	table_close(source, NoLock);
	PG_RETURN_INT64(nfilters);
}

/*
 * cf_detach(target, filter)
 *		Let a filter column follow its table no longer.  It keeps its filters.
 */
Datum
cf_detach(PG_FUNCTION_ARGS)
{
	const Oid	target = PG_GETARG_OID(0);
	char	   *const filter = text_to_cstring(PG_GETARG_TEXT_PP(1));
	const Oid	function = trigger_function(fcinfo);
	List	   *triggers = NIL;
	ListCell   *cell;

	/* those that do nothing for lack of rights only for who owns their table */
	foreach(cell, cuckoo_triggers_of(function, InvalidOid, target, filter))
	{
		const CuckooTrigger *const trigger = lfirst(cell);

		if (may_keep(trigger->relation, target) ||
			cuckoo_owns_table(trigger->relation, GetUserId()))
			triggers = lappend(triggers, lfirst(cell));
	}
	if (triggers == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of table %s follows no table",
						filter, cuckoo_relation_sql(target))));

	/* DROP TRIGGER asks for the rights of the owner */
	SPI_connect();
	foreach(cell, triggers)
	{
		const CuckooTrigger *const trigger = lfirst(cell);

		cuckoo_run_sql(psprintf("DROP TRIGGER IF EXISTS %s ON %s",
								quote_identifier(trigger->name),
								cuckoo_relation_sql(trigger->relation)),
					   SPI_OK_UTILITY);
	}
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * same_arguments
 *		Do two triggers say the same, but for whether they are of a part?
 */
static bool
same_arguments(const CuckooTrigger *a, const CuckooTrigger *b)
{
	for (int i = 0; i < CUCKOO_UPKEEP_NARGS - 1; i++)
	{
		if (strcmp(a->args[i], b->args[i]) != 0)
			return false;
	}
	return true;
}

/*
 * lacks_triggers
 *		Has the source, a partition or a child not all of its triggers, or are
 *		they disabled or of other parameters?
 *
 * A part that was taken off and has come back has those that it had.
 */
static bool
lacks_triggers(Oid source, List *relations, List *triggers)
{
	const CuckooTrigger *known = NULL;
	ListCell   *cell;

	/* the source comes first */
	foreach(cell, relations)
	{
		const Oid	relation = lfirst_oid(cell);

		for (int i = 0; i < lengthof(events); i++)
		{
			const CuckooTrigger *const trigger =
				find_trigger(relation, i, triggers);

			if (!has_event(relation, relation != source, i))
				continue;
			if (trigger == NULL || !trigger->is_enabled ||
				(known != NULL && !same_arguments(trigger, known)))
				return true;
			known = trigger;
		}
	}
	return false;
}

/*
 * cf_rebuild(target, filter, capacity, fpr, max_copies, seed)
 *		Build all filters of a column anew.  Returns their number.
 *
 * Not STRICT: a NULL parameter stays as it is.  Partitions that have come
 * since get their triggers, and so does what has lost one, has it disabled, or
 * has one of other parameters.
 */
Datum
cf_rebuild(PG_FUNCTION_ARGS)
{
	const Oid	function = trigger_function(fcinfo);
	CuckooAttachment attachment;
	CuckooParameters checked;
	CuckooColumns columns;
	Oid			target_oid;
	Oid			source_oid;
	char	   *filter;
	List	   *triggers;
	List	   *relations;
	Relation	source;
	Relation	target;
	int64		nfilters;

	require_argument(fcinfo, 0, "target");
	require_argument(fcinfo, 1, "filter");
	target_oid = PG_GETARG_OID(0);
	filter = text_to_cstring(PG_GETARG_TEXT_PP(1));

	source_oid = source_of(find_attachment(function, target_oid, filter),
						   target_oid, filter, &attachment);
	relations = cuckoo_lock_source(source_oid);
	source = table_open(source_oid, NoLock);
	target = table_open(target_oid, CUCKOO_UPKEEP_LOCK);

	/* once more, now that nobody can change it */
	triggers = find_attachment(function, target_oid, filter);
	if (source_of(triggers, target_oid, filter, &attachment) != source_oid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("column \"%s\" of table %s was attached to another table meanwhile",
						filter, cuckoo_relation_sql(target_oid))));
	cuckoo_columns_resolve(&columns, &attachment, source, target);
	/* parts may have come, and either table may be logged or not by now */
	cuckoo_require_followable(source, relations, target);
	cuckoo_require_told(&attachment, source, relations);
	cuckoo_require_full_rows(&attachment, relations);

	if (!PG_ARGISNULL(2))
		attachment.capacity = PG_GETARG_FLOAT8(2);
	if (!PG_ARGISNULL(3))
		attachment.fpr = PG_GETARG_FLOAT8(3);
	if (!PG_ARGISNULL(4))
		attachment.max_copies = PG_GETARG_INT32(4);
	if (!PG_ARGISNULL(5))
		attachment.seed = PG_GETARG_INT64(5);
	cuckoo_parameters_check(&checked, attachment.capacity, attachment.fpr,
							attachment.max_copies, attachment.seed);

	SPI_connect();
	if (!PG_ARGISNULL(2) || !PG_ARGISNULL(3) || !PG_ARGISNULL(4) ||
		!PG_ARGISNULL(5) || lacks_triggers(source_oid, relations, triggers))
		create_triggers(function, &attachment, target_oid, source_oid,
						relations, triggers);
	nfilters = build(function, &attachment, &columns, source, target);
	SPI_finish();
	table_close(target, NoLock);
	table_close(source, NoLock);
	PG_RETURN_INT64(nfilters);
}

/*
 * cf_drift(target, filter)
 *		How far the filters of a column are from their source: one row each.
 *
 * One query, so that filters and rows are of one moment.  What a filter should
 * hold is what one built anew would.
 */
Datum
cf_drift(PG_FUNCTION_ARGS)
{
	const Oid	function = trigger_function(fcinfo);
	const Oid	target_oid = PG_GETARG_OID(0);
	char	   *const filter = text_to_cstring(PG_GETARG_TEXT_PP(1));
	ReturnSetInfo *const rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	CuckooAttachment attachment;
	CuckooColumns columns;
	Oid			source_oid;
	Relation	source;
	Relation	target;
	StringInfoData sql;
	const char *column;
	const char *value;

	InitMaterializedSRF(fcinfo, 0);
	source_oid = source_of(find_attachment(function, target_oid, filter),
						   target_oid, filter, &attachment);
	source = table_open(source_oid, AccessShareLock);
	target = table_open(target_oid, AccessShareLock);
	cuckoo_columns_resolve(&columns, &attachment, source, target);

	column = quote_identifier(filter);
	value = value_sql(&attachment);
	initStringInfo(&sql);

	/*
	 * The rows of each key against its filter, and how many entries one built
	 * now would have.  It has the capacity that is declared, since crowded
	 * filters hold fewer copies, but can be built of more.  The rows are
	 * probed before they are grouped (OFFSET 0), or a sort would carry a
	 * filter with each of them.
	 */
	appendStringInfo(&sql, "WITH counts AS (SELECT %spg_catalog.count(%s) AS n FROM %s AS s",
					 group_sql(&attachment), value,
					 cuckoo_relation_sql(source_oid));
	if (attachment.nkeys > 0)
		appendStringInfo(&sql, " WHERE %s GROUP BY %s",
						 keys_sql(&attachment, "s", KEY_OF_SOURCE,
								  " IS DISTINCT FROM NULL", " AND "),
						 keys_sql(&attachment, "s", KEY_OF_SOURCE, "", ", "));
	appendStringInfo(&sql,
					 "), probed AS NOT MATERIALIZED (SELECT %sc.n, %s AS v,"
					 " %s%s(t.%s, %s) IS NOT TRUE AS is_missing"
					 " FROM counts AS c JOIN %s AS s ON %s"
					 " LEFT JOIN %s%s AS t ON %s OFFSET 0",
					 group_sql(&attachment), value,
					 attachment.nvalues > 1 ? "" :
					 psprintf("%s IS DISTINCT FROM NULL AND ", value),
					 cuckoo_function_sql(function, "cf_contains"), column,
					 value, cuckoo_relation_sql(source_oid),
					 match_sql(&attachment, &columns, "s", KEY_OF_SOURCE, "c",
							   KEY_OF_GROUP),
					 cuckoo_only_sql(target), cuckoo_relation_sql(target_oid),
					 match_sql(&attachment, &columns, "t", KEY_OF_TARGET, "s",
							   KEY_OF_SOURCE));
	appendStringInfo(&sql,
					 "), held AS (SELECT %sp.n AS nrows,"
					 " pg_catalog.count(*) FILTER (WHERE p.is_missing) AS missing,"
					 " %s(%s(p.v, GREATEST('%s'::float8, p.n::float8), %s)) AS wanted"
					 " FROM probed AS p GROUP BY %sp.n",
					 keys_sql(&attachment, "p", KEY_OF_GROUP, ", ", ""),
					 cuckoo_function_sql(function, "cf_count"),
					 cuckoo_function_sql(function, "cf_bag_agg"),
					 cuckoo_float8_text(attachment.capacity),
					 cuckoo_rate_sql(&attachment),
					 keys_sql(&attachment, "p", KEY_OF_GROUP, ", ", ""));

	/* and what the filters say of themselves */
	appendStringInfo(&sql,
					 "), drift AS (SELECT %s AS key,"
					 " COALESCE(h.nrows, 0) AS nrows,"
					 " COALESCE(h.missing, 0) AS missing,"
					 " i.entries,"
					 " GREATEST(i.entries OPERATOR(pg_catalog.-)"
					 " COALESCE(h.wanted, 0), 0) AS stale,"
					 " i.capacity, i.fpr, i.promised_fpr, i.bytes"
					 " FROM %s%s AS t FULL JOIN held AS h ON %s"
					 " LEFT JOIN LATERAL %s(t.%s) AS i ON true)",
					 attachment.nkeys == 0 ? "NULL::pg_catalog.text[]" :
					 psprintf("CASE WHEN %s THEN ARRAY[%s] ELSE ARRAY[%s] END",
							  keys_sql(&attachment, "t", KEY_OF_TARGET,
									   " IS DISTINCT FROM NULL", " AND "),
							  keys_sql(&attachment, "t", KEY_OF_TARGET,
									   "::pg_catalog.text", ", "),
							  keys_sql(&attachment, "h", KEY_OF_GROUP,
									   "::pg_catalog.text", ", ")),
					 cuckoo_only_sql(target), cuckoo_relation_sql(target_oid),
					 match_sql(&attachment, &columns, "t", KEY_OF_TARGET, "h", KEY_OF_GROUP),
					 cuckoo_function_sql(function, "cf_info"), column);

	/*
	 * A rebuild mends what is missing, makes room, or keeps the promise. Only
	 * pg_catalog is in the search_path.
	 */
	appendStringInfoString(&sql,
						   " SELECT key, nrows, missing, entries, stale,"
						   " stale::float8 / NULLIF(entries, 0)::float8,"
						   " fpr, promised_fpr, bytes,"
						   " missing > 0 OR (stale > 0 AND"
						   " (stale::float8 >= " STALE_SHARE " * entries::float8 OR"
						   " (entries > capacity AND entries - stale <= capacity)))"
						   " FROM drift ORDER BY key");

	SPI_connect();
	if (SPI_execute(sql.data, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed");
	for (uint64 row = 0; row < SPI_processed; row++)
		tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[row]);
	SPI_finish();
	table_close(target, AccessShareLock);
	table_close(source, AccessShareLock);
	return (Datum) 0;
}
