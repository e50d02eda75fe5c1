/*-------------------------------------------------------------------------
 *
 * cuckoo_views.c
 *		What the views cf_attachments and cf_filters show.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/tuplestore.h"

#include "cuckoo_sql.h"
#include "cuckoo_write.h"

PG_FUNCTION_INFO_V1(cf_attachment_list);
PG_FUNCTION_INFO_V1(cf_filter_list);

#define VIEWS_ATTACHMENT_COLUMNS	13

/* A filter column that may be followed or read. */
typedef struct ViewsColumn
{
	Oid			relation;
	AttrNumber	attnum;
	char	   *name;
} ViewsColumn;

/*
 * views_columns
 *		All columns of the database of the type of filters, but for those of
 *		temporary tables of other sessions.
 */
static List *
views_columns(void)
{
	Relation	attributes = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(attributes, InvalidOid, false, NULL,
										  0, NULL);
	List	   *found = NIL;
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		const Form_pg_attribute form = (Form_pg_attribute) GETSTRUCT(tuple);
		ViewsColumn *column;

		if (form->attisdropped || form->attnum <= 0 ||
			form->atttypid < FirstNormalObjectId ||
			!cuckoo_datum_is_filter_type(form->atttypid) ||
			isOtherTempNamespace(get_rel_namespace(form->attrelid)))
			continue;
		column = palloc(sizeof(ViewsColumn));
		column->relation = form->attrelid;
		column->attnum = form->attnum;
		column->name = pstrdup(NameStr(form->attname));
		found = lappend(found, column);
	}
	systable_endscan(scan);
	table_close(attributes, AccessShareLock);
	return found;
}

/* The attachment of a column, or false. */
static bool
views_find_attachment(CuckooAttachment *attachment, Oid sibling,
					  const ViewsColumn *column)
{
	Relation	target = try_relation_open(column->relation, AccessShareLock);
	bool		is_found;

	if (target == NULL)
		return false;
	is_found = !target->rd_rel->relispartition &&
		cuckoo_attachment_find(attachment, sibling, target, column->name);
	relation_close(target, NoLock);
	return is_found;
}

/* Are all triggers of an attachment there, and enabled? */
static bool
views_is_complete(const CuckooAttachment *attachment)
{
	bool		is_complete = true;
	ListCell   *cell;

	foreach(cell, find_all_inheritors(attachment->source, AccessShareLock,
									  NULL))
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		for (int i = 0; i < CUCKOO_NTRIGGERS; i++)
		{
			const Trigger *trigger =
				cuckoo_trigger_find(relation, i, attachment);

			if (i == CUCKOO_TRIGGER_TRUNCATE &&
				lfirst_oid(cell) != attachment->source)
				continue;
			is_complete = is_complete && trigger != NULL &&
				(trigger->tgenabled == TRIGGER_FIRES_ON_ORIGIN ||
				 trigger->tgenabled == TRIGGER_FIRES_ALWAYS);
		}
		table_close(relation, NoLock);
	}
	return is_complete;
}

/* Names as a value of type text[]. */
static Datum
views_names(char *const *names, int nnames)
{
	return OidFunctionCall3(F_ARRAY_IN,
							CStringGetDatum(cuckoo_attachment_names_text(names,
																		 nnames)),
							ObjectIdGetDatum(TEXTOID), Int32GetDatum(-1));
}

/*
 * cf_attachment_list()
 *		All attachments of the database.
 */
Datum
cf_attachment_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, views_columns())
	{
		Datum		values[VIEWS_ATTACHMENT_COLUMNS];
		bool		nulls[VIEWS_ATTACHMENT_COLUMNS] = {0};
		CuckooAttachment attachment;
		int			i = 0;

		if (!views_find_attachment(&attachment, fcinfo->flinfo->fn_oid,
								   lfirst(cell)))
			continue;
		values[i++] = ObjectIdGetDatum(attachment.source);
		values[i++] = views_names(attachment.values, attachment.nvalues);
		values[i++] = ObjectIdGetDatum(attachment.target);
		values[i++] = CStringGetTextDatum(attachment.filter);
		values[i++] = views_names(attachment.keys, attachment.nkeys);
		values[i++] = views_names(attachment.target_keys, attachment.nkeys);
		values[i++] = Float8GetDatum(attachment.capacity);
		values[i++] = Float8GetDatum(attachment.fpr);
		values[i++] = Int32GetDatum(attachment.max_copies);
		values[i++] = Int64GetDatum(attachment.seed);
		nulls[i] = nulls[i + 1] = attachment.nshards == 0;
		values[i++] = Int32GetDatum(attachment.nshards);
		values[i++] = attachment.nshards == 0 ? (Datum) 0 :
			CStringGetTextDatum(attachment.target_keys[attachment.nkeys]);
		values[i++] = BoolGetDatum(views_is_complete(&attachment));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* What a query of the filters of a column calls each of them. */
static char *
views_key_sql(Oid sibling, const ViewsColumn *column, bool *is_followed)
{
	CuckooAttachment attachment;
	char	   *keys;

	*is_followed = views_find_attachment(&attachment, sibling, column);
	if (!*is_followed)
		return "t.ctid::text";
	if (attachment.ntarget_keys == 0)
		return "NULL::text";
	keys = cuckoo_sql_keys(&attachment, CUCKOO_TARGET, "%s::text, ");
	keys[strlen(keys) - 2] = '\0';
	return psprintf("ARRAY[%s]::text", keys);
}

/*
 * views_filters_sql
 *		One row of what the filters of a column say of themselves.
 *
 * A rebuild pays where filters have more entries than they are meant for, or
 * hold fewer copies than they were declared with.
 */
static char *
views_filters_sql(Oid sibling, const ViewsColumn *column)
{
	bool		is_followed;
	const char *key = views_key_sql(sibling, column, &is_followed);

	return psprintf("WITH f AS MATERIALIZED (SELECT %s AS key, i.entries, i.capacity,"
					" i.entries::float8 / i.capacity::float8 AS load,"
					" i.fpr, i.promised_fpr, i.bytes,"
					" i.entries > i.capacity OR i.current_copies < i.max_copies AS is_crowded"
					" FROM %s%s AS t, LATERAL %s(t.%s) AS i WHERE i.capacity IS NOT NULL)"
					" SELECT %u::regclass, %s::text, %s, count(*),"
					" sum(entries)::int8, sum(capacity)::int8, max(load),"
					" (SELECT key FROM f ORDER BY load DESC, key LIMIT 1),"
					" max(fpr), max(promised_fpr), sum(bytes)::int8,"
					" count(*) FILTER (WHERE entries > capacity),"
					" COALESCE(bool_or(is_crowded), false) FROM f",
					key,
					get_rel_relkind(column->relation) == RELKIND_RELATION ?
					"ONLY " : "",
					cuckoo_sql_relation(column->relation),
					cuckoo_sql_function(sibling, "cf_info"),
					quote_identifier(column->name), column->relation,
					quote_literal_cstr(column->name),
					is_followed ? "true" : "false");
}

/*
 * views_may_read
 *		May the caller read all filters of a column?
 *
 * Partitions are part of the table at their root.
 */
static bool
views_may_read(Relation relation, AttrNumber attnum)
{
	const Oid	oid = RelationGetRelid(relation);
	const char	kind = relation->rd_rel->relkind;

	return (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
			(kind == RELKIND_MATVIEW && RelationIsPopulated(relation))) &&
		!relation->rd_rel->relispartition &&
		(pg_class_aclcheck(oid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		 pg_attribute_aclcheck(oid, attnum, GetUserId(), ACL_SELECT) ==
		 ACLCHECK_OK) &&
		check_enable_rls(oid, InvalidOid, true) != RLS_ENABLED;
}

/*
 * cf_filter_list()
 *		All columns with filters that the caller may read.
 *
 * Each is read as the owner of its table: a caller with more rights lends them
 * to nobody.
 */
Datum
cf_filter_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	SPI_connect();
	foreach(cell, views_columns())
	{
		const ViewsColumn *column = lfirst(cell);
		Relation	relation = try_relation_open(column->relation,
												 AccessShareLock);
		CuckooRole	before;

		if (relation == NULL)
			continue;
		if (views_may_read(relation, column->attnum))
		{
			cuckoo_role_become(&before, relation->rd_rel->relowner,
							   relation->rd_rel->relowner == GetUserId() ?
							   SECURITY_NOFORCE_RLS :
							   SECURITY_NOFORCE_RLS |
							   SECURITY_RESTRICTED_OPERATION);
			if (SPI_execute(views_filters_sql(fcinfo->flinfo->fn_oid, column),
							true, 0) != SPI_OK_SELECT)
				elog(ERROR, "SPI_execute failed");
			tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[0]);
			SPI_freetuptable(SPI_tuptable);
			cuckoo_role_return(&before);
		}
		relation_close(relation, NoLock);
	}
	SPI_finish();
	return (Datum) 0;
}
