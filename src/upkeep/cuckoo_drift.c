/*-------------------------------------------------------------------------
 *
 * cuckoo_drift.c
 *		cf_drift(): how far filters are from the table that they follow.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/tuplestore.h"

#include "cuckoo_sql.h"
#include "cuckoo_write.h"

PG_FUNCTION_INFO_V1(cf_drift);

/* Share of stale entries from which on a rebuild pays. */
#define DRIFT_STALE_SHARE	"0.2"

/* The numbers of the key's columns and of one more, as GROUP BY takes them. */
static char *
drift_ordinals(int n)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 1; i <= n; i++)
		appendStringInfo(&sql, "%s%d", i == 1 ? "" : ", ", i);
	return sql.data;
}

/*
 * drift_rows_sql
 *		For each key the rows, those that are missing, and the entries that one
 *		to four copies of each value make: "held".
 *
 * Values are probed before they are grouped by key (OFFSET 0), or a sort would
 * carry a filter with each of them.
 */
static char *
drift_rows_sql(const CuckooAttachment *attachment,
			   const CuckooColumns *columns)
{
	const int	nkeys = attachment->ntarget_keys;
	const char *keys = cuckoo_sql_keys(attachment, CUCKOO_GROUP, "%s, ");

	return psprintf("WITH counted AS ("
					"SELECT %s%s AS v, count(*) AS n FROM %s WHERE %s GROUP BY %s"
					"), probed AS NOT MATERIALIZED ("
					"SELECT %sg.n, %s(t.%s, g.v) IS NOT TRUE AS is_missing"
					" FROM counted AS g LEFT JOIN %s ON %s OFFSET 0"
					"), held AS ("
					"SELECT %ssum(g.n) AS nrows,"
					" sum(g.n) FILTER (WHERE g.is_missing) AS missing,"
					" ARRAY[sum(LEAST(g.n, 1)), sum(LEAST(g.n, 2)),"
					" sum(LEAST(g.n, 3)), sum(LEAST(g.n, 4))] AS wanted"
					" FROM probed AS g%s%s)",
					cuckoo_sql_keys(attachment, CUCKOO_SOURCE, "%s AS k%d, "),
					cuckoo_sql_value(attachment),
					cuckoo_sql_source(attachment),
					cuckoo_sql_followed(attachment), drift_ordinals(nkeys + 1),
					keys,
					cuckoo_sql_function(attachment->function, "cf_contains"),
					quote_identifier(attachment->filter),
					cuckoo_sql_target(attachment),
					cuckoo_sql_match(attachment, columns, CUCKOO_TARGET,
									 CUCKOO_GROUP),
					keys, nkeys == 0 ? "" : " GROUP BY ",
					drift_ordinals(nkeys));
}

/* The key of a filter, or of rows without one, as an array of text. */
static char *
drift_key_sql(const CuckooAttachment *attachment)
{
	char	   *target;
	char	   *group;

	if (attachment->ntarget_keys == 0)
		return "NULL::text[]";
	target = cuckoo_sql_keys(attachment, CUCKOO_TARGET, "%s::text, ");
	group = cuckoo_sql_keys(attachment, CUCKOO_GROUP, "%s::text, ");
	target[strlen(target) - 2] = group[strlen(group) - 2] = '\0';
	return psprintf("CASE WHEN %strue THEN ARRAY[%s] ELSE ARRAY[%s] END",
					cuckoo_sql_keys(attachment, CUCKOO_TARGET,
									"%s IS DISTINCT FROM NULL AND "),
					target, group);
}

/*
 * drift_sql
 *		One query, so that filters and rows are of one moment.
 *
 * A rebuild mends what is missing, makes room, or keeps the promise.  Only
 * pg_catalog is in the search_path.
 */
static char *
drift_sql(const CuckooAttachment *attachment, const CuckooColumns *columns)
{
	return psprintf("%s, drift AS ("
					"SELECT %s AS key, COALESCE(g.nrows, 0)::int8 AS nrows,"
					" COALESCE(g.missing, 0)::int8 AS missing, i.entries,"
					" GREATEST(i.entries - COALESCE(g.wanted[i.current_copies], 0), 0)::int8 AS stale,"
					" i.capacity, i.fpr, i.promised_fpr, i.bytes"
					" FROM %s FULL JOIN held AS g ON %s"
					" LEFT JOIN LATERAL %s(t.%s) AS i ON true)"
					" SELECT key, nrows, missing, entries, stale,"
					" stale::float8 / NULLIF(entries, 0)::float8,"
					" fpr, promised_fpr, bytes,"
					" missing > 0 OR (stale > 0 AND"
					" (stale::float8 >= " DRIFT_STALE_SHARE " * entries::float8 OR"
					" (entries > capacity AND entries - stale <= capacity)))"
					" FROM drift ORDER BY key",
					drift_rows_sql(attachment, columns),
					drift_key_sql(attachment),
					cuckoo_sql_target(attachment),
					cuckoo_sql_match(attachment, columns, CUCKOO_TARGET,
									 CUCKOO_GROUP),
					cuckoo_sql_function(attachment->function, "cf_info"),
					quote_identifier(attachment->filter));
}

/* The caller has to be allowed to read a table, and all of its rows. */
static void
drift_require_readable(Oid relation)
{
	const AclResult result = pg_class_aclcheck(relation, GetUserId(),
											   ACL_SELECT);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, get_rel_name(relation));
	/* row_security is off: an error where rows would be hidden */
	(void) check_enable_rls(relation, InvalidOid, false);
}

/*
 * cf_drift(target, filter)
 *		How far the filters of a column are from their source: one row each.
 *
 * What a filter should hold is what one built anew would.  The query is planned
 * and run as the owner of the source: a caller with more rights lends them to
 * nobody.
 */
Datum
cf_drift(PG_FUNCTION_ARGS)
{
	const Oid	target_oid = PG_GETARG_OID(0);
	char	   *filter = text_to_cstring(PG_GETARG_TEXT_PP(1));
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	CuckooAttachment attachment;
	CuckooColumns columns;
	CuckooRole	before;
	Relation	source;
	Relation	target;

	InitMaterializedSRF(fcinfo, 0);
	(void) cuckoo_sql_relation(target_oid);
	target = relation_open(target_oid, AccessShareLock);
	drift_require_readable(target_oid);
	if (!cuckoo_attachment_find(&attachment, fcinfo->flinfo->fn_oid, target,
								filter))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of table %s follows no table",
						filter, cuckoo_sql_relation(target_oid)),
				 errhint("Use cf_attach() first.")));
	drift_require_readable(attachment.source);
	source = table_open(attachment.source, AccessShareLock);
	cuckoo_columns_resolve(&columns, &attachment, source, target);

	SPI_connect();
	cuckoo_role_become(&before, source->rd_rel->relowner,
					   source->rd_rel->relowner == GetUserId() ?
					   SECURITY_NOFORCE_RLS :
					   SECURITY_NOFORCE_RLS |
					   SECURITY_RESTRICTED_OPERATION);
	if (SPI_execute(drift_sql(&attachment, &columns), true, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute failed");
	for (uint64 row = 0; row < SPI_processed; row++)
		tuplestore_puttuple(rsinfo->setResult, SPI_tuptable->vals[row]);
	cuckoo_role_return(&before);
	SPI_finish();
	table_close(source, NoLock);
	relation_close(target, NoLock);
	return (Datum) 0;
}
