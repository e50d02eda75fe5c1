/*-------------------------------------------------------------------------
 *
 * cuckoo_install.c
 *		Making and dropping the triggers of an attachment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_install.h"
#include "cuckoo_source.h"
#include "cuckoo_sql.h"
#include "cuckoo_write.h"

/* How CREATE TRIGGER says what each of them is. */
typedef struct InstallTrigger
{
	const char *label;
	const char *event;
	const char *each;
	bool		is_on_partitions;	/* rows: cloned to them by the server */
} InstallTrigger;

static const InstallTrigger install_triggers[CUCKOO_NTRIGGERS] = {
	{"cf_open", "BEFORE INSERT OR UPDATE OR DELETE", "STATEMENT", true},
	{"cf_rows", "AFTER INSERT OR DELETE", "ROW", false},
	{"cf_update", "AFTER UPDATE", "ROW", false},
	{"cf_close", "AFTER INSERT OR UPDATE OR DELETE", "STATEMENT", true},
	{"cf_truncate", "AFTER TRUNCATE", "STATEMENT", false}
};

static const InstallTrigger install_guards[CUCKOO_NGUARDS] = {
	{"assign", "BEFORE UPDATE OF", "STATEMENT", true},
	{"update", "AFTER UPDATE", "ROW", false},
	{"delete", "AFTER DELETE", "ROW", false},
	{"truncate", "AFTER TRUNCATE", "STATEMENT", true}
};

/*
 * install_free_name
 *		A name for a trigger of a relation that has none of it.
 */
static const char *
install_free_name(Oid relation, const char *first, const char *second,
				  const char *label)
{
	char		numbered[NAMEDATALEN];

	strlcpy(numbered, label, sizeof(numbered));
	for (int i = 1;; i++)
	{
		char	   *name = makeObjectName(first, second, numbered);

		if (!OidIsValid(get_trigger_oid(relation, name, true)))
			return name;
		snprintf(numbered, sizeof(numbered), "%s%d", label, i);
	}
}

/*
 * install_distinct_sql
 *		That a column is another one in the new row than in the old.
 *
 * Where "=" is not in pg_catalog the condition could not be restored from a
 * dump, and that of all enums does not take a domain: then rows of the one
 * column are compared, to the byte.
 */
static char *
install_distinct_sql(const char *name, Oid type)
{
	const char *column = quote_identifier(name);

	if (getBaseType(type) == type && cuckoo_columns_has_plain_equality(type))
		return psprintf("OLD.%s IS DISTINCT FROM NEW.%s", column, column);
	return psprintf("pg_catalog.record_image_ne(ROW(OLD.%s), ROW(NEW.%s))",
					column, column);
}

/*
 * install_condition
 *		The condition of a trigger of the source: that there is the target, or
 *		that the row has another value or key.
 *
 * It is parsed anew for each statement, so no trigger has more of it than it
 * needs.
 */
static char *
install_condition(const CuckooAttachment *attachment, int which)
{
	StringInfoData sql;

	if (which == CUCKOO_TRIGGER_ROWS || which == CUCKOO_TRIGGER_TRUNCATE)
		return psprintf("WHEN (%s IS NOT NULL)",
						cuckoo_sql_regclass(attachment->target));
	if (which != CUCKOO_TRIGGER_UPDATE)
		return "";
	initStringInfo(&sql);
	for (int i = 0; i < attachment->nvalues + attachment->nkeys; i++)
	{
		const char *name = i < attachment->nvalues ?
			attachment->values[i] :
			attachment->keys[i - attachment->nvalues];

		appendStringInfo(&sql, "%s%s", i == 0 ? "WHEN (" : " OR ",
						 install_distinct_sql(name,
											  get_atttype(attachment->source,
														  get_attnum(attachment->source, name))));
	}
	appendStringInfoChar(&sql, ')');
	return sql.data;
}

/*
 * install_depend
 *		Let a trigger go with a table, or keep that from being dropped.
 *
 * A dump does not say so: what was restored learns it by cf_rebuild().  In
 * place of the dependency that a condition has made there is one, too.
 */
static void
install_depend(Oid relation, const char *name, Oid table,
			   DependencyType behavior)
{
	static const DependencyType before[] = {
		DEPENDENCY_NORMAL, DEPENDENCY_AUTO
	};
	const ObjectAddress trigger = {
		TriggerRelationId, get_trigger_oid(relation, name, false), 0
	};
	const ObjectAddress referenced = {RelationRelationId, table, 0};

	for (int i = 0; i < lengthof(before); i++)
		(void) deleteDependencyRecordsForSpecific(trigger.classId,
												  trigger.objectId, before[i],
												  RelationRelationId, table);
	recordDependencyOn(&trigger, &referenced, behavior);
}

/*
 * install_source_trigger
 *		Make a trigger of the source or a partition, or make it anew.
 *
 * One that fires always, also for what is replicated, goes on to do so.
 */
static void
install_source_trigger(const CuckooAttachment *attachment, Oid relation_oid,
					   int which, bool is_changed)
{
	const InstallTrigger *made = &install_triggers[which];
	Relation	relation = table_open(relation_oid, NoLock);
	const Trigger *existing = cuckoo_trigger_find(relation, which, attachment);
	const char	fires = existing == NULL ? TRIGGER_FIRES_ON_ORIGIN :
		existing->tgenabled;
	const char *name = existing != NULL ? pstrdup(existing->tgname) :
		install_free_name(relation_oid, get_rel_name(attachment->target),
						  attachment->filter, made->label);

	if (existing == NULL || is_changed ||
		(fires != TRIGGER_FIRES_ON_ORIGIN && fires != TRIGGER_FIRES_ALWAYS))
	{
		cuckoo_sql_run(psprintf("CREATE OR REPLACE TRIGGER %s %s ON %s FOR EACH %s %s EXECUTE FUNCTION %s(%s)",
								quote_identifier(name), made->event,
								cuckoo_sql_relation(relation_oid), made->each,
								install_condition(attachment, which),
								cuckoo_sql_function(attachment->function,
													"cf_upkeep"),
								cuckoo_attachment_write(attachment)),
					   SPI_OK_UTILITY);
		cuckoo_enable_trigger(relation, name,
							  fires == TRIGGER_FIRES_ALWAYS ? fires :
							  TRIGGER_FIRES_ON_ORIGIN, CUCKOO_SOURCE_LOCK);
	}
	/* the others have it by their conditions, also after a restore */
	if (which != CUCKOO_TRIGGER_ROWS && which != CUCKOO_TRIGGER_TRUNCATE)
		install_depend(relation_oid, name, attachment->target,
					   DEPENDENCY_NORMAL);
	table_close(relation, NoLock);
}

/*
 * install_guard
 *		Make a trigger of the target or a partition, or make it anew.
 *
 * Names begin with a letter that comes after that of the triggers of foreign
 * keys, so that those have cascaded.
 */
static void
install_guard(const CuckooAttachment *attachment, Oid relation_oid, int which)
{
	const InstallTrigger *made = &install_guards[which];
	const bool	is_truncate = which == CUCKOO_GUARD_TRUNCATE;
	const Oid	function = cuckoo_attachment_function(attachment->function,
													  "cf_guard");
	Relation	relation = table_open(relation_oid, NoLock);
	const Trigger *existing = cuckoo_guard_find(relation, which, function,
												attachment->filter);
	const char *name = existing != NULL ? pstrdup(existing->tgname) :
		install_free_name(relation_oid, "cf_guard", attachment->filter,
						  made->label);

	if (existing == NULL || existing->tgenabled != TRIGGER_FIRES_ON_ORIGIN ||
		(is_truncate &&
		 cuckoo_trigger_relation(existing) != attachment->source))
	{
		cuckoo_sql_run(psprintf("CREATE OR REPLACE TRIGGER %s %s %s ON %s FOR EACH %s %s EXECUTE FUNCTION %s(%s)",
								quote_identifier(name), made->event,
								which == CUCKOO_GUARD_ASSIGN ?
								quote_identifier(attachment->filter) : "",
								cuckoo_sql_relation(relation_oid), made->each,
								is_truncate ?
								psprintf("WHEN (%s IS NOT NULL)",
										 cuckoo_sql_regclass(attachment->source)) :
								"",
								cuckoo_sql_function(function, "cf_guard"),
								quote_literal_cstr(attachment->filter)),
					   SPI_OK_UTILITY);
		cuckoo_enable_trigger(relation, name, TRIGGER_FIRES_ON_ORIGIN,
							  CUCKOO_SOURCE_LOCK);
	}
	install_depend(relation_oid, name, attachment->source, DEPENDENCY_AUTO);
	table_close(relation, NoLock);
}

/*
 * cuckoo_install
 *		Make the triggers that an attachment lacks; all, if it has changed.
 *
 * relations are the source and its partitions.  The caller owns these, and has
 * locked both tables.  Those of the target are made for its owner.
 */
void
cuckoo_install(const CuckooAttachment *attachment, List *relations,
			   bool is_changed)
{
	Relation	target = table_open(attachment->target, NoLock);
	CuckooRole	before;
	ListCell   *cell;

	foreach(cell, relations)
	{
		for (int i = 0; i < CUCKOO_NTRIGGERS; i++)
		{
			if (lfirst_oid(cell) == attachment->source ||
				install_triggers[i].is_on_partitions)
				install_source_trigger(attachment, lfirst_oid(cell), i,
									   is_changed);
		}
	}

	cuckoo_role_become(&before, target->rd_rel->relowner, 0);
	foreach(cell, find_all_inheritors(attachment->target, CUCKOO_SOURCE_LOCK,
									  NULL))
	{
		const bool	is_root = lfirst_oid(cell) == attachment->target;

		if (!is_root && target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
			continue;
		for (int i = 0; i < CUCKOO_NGUARDS; i++)
		{
			if (is_root || install_guards[i].is_on_partitions)
				install_guard(attachment, lfirst_oid(cell), i);
		}
	}
	cuckoo_role_return(&before);
	table_close(target, NoLock);
}

/*
 * install_drop
 *		Drop a trigger, as the owner of its table.
 */
static void
install_drop(Oid relation_oid, const char *name)
{
	Relation	relation = table_open(relation_oid, AccessExclusiveLock);
	CuckooRole	before;

	cuckoo_role_become(&before, relation->rd_rel->relowner, 0);
	cuckoo_sql_run(psprintf("DROP TRIGGER IF EXISTS %s ON %s",
							quote_identifier(name),
							cuckoo_sql_relation(relation_oid)),
				   SPI_OK_UTILITY);
	cuckoo_role_return(&before);
	table_close(relation, NoLock);
}

/*
 * install_sql_of_tree
 *		That a trigger t is on a table or on a partition of it.
 */
static char *
install_sql_of_tree(Oid relation)
{
	return psprintf("(t.tgrelid = %u OR t.tgrelid IN (SELECT relid FROM pg_partition_tree(%u)))",
					relation, relation);
}

/*
 * install_drop_where
 *		Drop triggers t of a function for a filter column where a condition
 *		holds.  Returns their number.
 *
 * Clones go along with the trigger that they were made of, and are none here.
 * Those of other tables than the source, which may be InvalidOid, and its
 * partitions, such as those that a detached partition has kept, are dropped if
 * they are the caller's.
 */
static int
install_drop_where(Oid sibling, const char *function, const char *filter,
				   Oid source, const char *condition)
{
	const uint64 nfound =
		cuckoo_sql_run(psprintf("SELECT t.tgrelid, t.tgname::text FROM pg_trigger AS t"
								" WHERE t.tgfoid = %u AND t.tgparentid = 0 AND"
								" convert_from(substring(t.tgargs FROM 1 FOR"
								" position(decode('00', 'hex') IN t.tgargs) - 1),"
								" getdatabaseencoding()) = %s AND (%s) AND (%s OR"
								" pg_has_role((SELECT relowner FROM pg_class AS c WHERE c.oid = t.tgrelid), 'USAGE'))"
								" ORDER BY 1, 2",
								cuckoo_attachment_function(sibling, function),
								quote_literal_cstr(filter), condition,
								install_sql_of_tree(source)), SPI_OK_SELECT);
	SPITupleTable *found = SPI_tuptable;

	for (uint64 i = 0; i < nfound; i++)
	{
		bool		isnull;
		const Datum relation = SPI_getbinval(found->vals[i], found->tupdesc,
											 1, &isnull);

		install_drop(DatumGetObjectId(relation),
					 SPI_getvalue(found->vals[i], found->tupdesc, 2));
	}
	return (int) nfound;
}

/*
 * cuckoo_uninstall
 *		Drop the triggers of an attachment.  Returns their number.
 *
 * source is the table that the target names, or InvalidOid.  Those of the source
 * depend on the target or, in a copy that was restored, have the arguments of
 * one that does.
 */
int
cuckoo_uninstall(Oid sibling, Oid source, Oid target, const char *filter)
{
	return install_drop_where(sibling, "cf_upkeep", filter, source,
							  psprintf("t.tgrelid <> %u AND t.tgargs IN ("
									   "SELECT o.tgargs FROM pg_depend AS d, pg_trigger AS o"
									   " WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = %u"
									   " AND d.classid = 'pg_trigger'::regclass AND d.objid = o.oid"
									   " AND o.tgfoid = t.tgfoid AND (o.oid = t.oid OR %s))",
									   target, target,
									   install_sql_of_tree(source))) +
		install_drop_where(sibling, "cf_guard", filter, target,
						   install_sql_of_tree(target));
}
