/*-------------------------------------------------------------------------
 *
 * cuckoo_rebuild.c
 *		Building all filters of an attachment.
 *
 * Filters are built under a lock that keeps writers of the source out, and
 * waits for those that are at work, until the transaction ends.  Readers are
 * not hindered: they see the filters from before, which are right for what they
 * see of the source.
 *
 * The statements run with the rights of the owner of the source, like those of
 * the triggers: what the two tables make the server run is nobody else's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "cuckoo_rebuild.h"
#include "cuckoo_sql.h"
#include "cuckoo_write.h"

/* The filter as it is stored, counted if it is. */
static char *
rebuild_stored(const CuckooAttachment *attachment)
{
	return psprintf("%s(t.%s, true) IS NOT NULL AS is_stored",
					cuckoo_sql_function(attachment->function,
										"cf_upkeep_store"),
					quote_identifier(attachment->filter));
}

/* A filter that is going to be stored. */
static char *
rebuild_made(const CuckooAttachment *attachment, const char *function,
			 const char *value)
{
	return psprintf("%s(%s(%s%s), false)",
					cuckoo_sql_function(attachment->function,
										"cf_upkeep_store"),
					cuckoo_sql_function(attachment->function, function),
					value, cuckoo_sql_parameters(attachment));
}

static char *
rebuild_aggregate(const CuckooAttachment *attachment)
{
	return rebuild_made(attachment, "cf_bag_agg",
						psprintf("%s, ", cuckoo_sql_value(attachment)));
}

/* One filter of all rows. */
static int64
rebuild_one(const CuckooAttachment *attachment)
{
	const char *target = cuckoo_sql_relation(attachment->target);
	const char *filter = quote_identifier(attachment->filter);
	int64		nrows;

	nrows = cuckoo_write_run(attachment->target,
							 psprintf("WITH stored AS (UPDATE %s SET %s = (SELECT %s FROM %s)"
									  " RETURNING %s)"
									  " SELECT pg_catalog.count(*) FROM stored",
									  cuckoo_sql_target(attachment), filter,
									  rebuild_aggregate(attachment),
									  cuckoo_sql_source(attachment),
									  rebuild_stored(attachment)));
	if (nrows == 0)
		nrows = cuckoo_write_run(attachment->target,
								 psprintf("WITH stored AS (INSERT INTO %s AS t (%s) SELECT %s FROM %s"
										  " RETURNING %s)"
										  " SELECT pg_catalog.count(*) FROM stored",
										  target, filter,
										  rebuild_aggregate(attachment),
										  cuckoo_sql_source(attachment),
										  rebuild_stored(attachment)));
	return nrows;
}

/*
 * rebuild_require_insertable
 *		Refuse to make the one row where other columns want a value.
 */
static void
rebuild_require_insertable(const CuckooAttachment *attachment)
{
	Relation	target = table_open(attachment->target, NoLock);
	const TupleDesc desc = RelationGetDescr(target);

	for (int i = 0; i < desc->natts; i++)
	{
		const Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attnotnull && !attribute->atthasdef &&
			attribute->attidentity == '\0' && !attribute->attisdropped &&
			strcmp(NameStr(attribute->attname), attachment->filter) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("table %s has no row for the filter of all rows of table %s",
							cuckoo_sql_relation(attachment->target),
							cuckoo_sql_relation(attachment->source)),
					 errdetail("Column \"%s\" must not be null, and has no default.",
							   NameStr(attribute->attname)),
					 errhint("Insert the row first, or name key columns to have a filter for each key.")));
	}
	table_close(target, NoLock);
}

/* More rows than one are refused before they are written. */
static void
rebuild_require_one_row(const CuckooAttachment *attachment)
{
	const uint64 nrows = cuckoo_sql_run(psprintf("SELECT FROM %s LIMIT 2",
												 cuckoo_sql_target(attachment)),
										SPI_OK_SELECT);

	if (nrows > 1)
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("table %s must have one row, with the filter of all rows of table %s",
						cuckoo_sql_relation(attachment->target),
						cuckoo_sql_relation(attachment->source)),
				 errdetail("The table has several."),
				 errhint("Name key columns to have a filter for each key.")));
	if (nrows == 0)
		rebuild_require_insertable(attachment);
}

/*
 * rebuild_keys
 *		A filter for each key, and an empty one for keys without rows.
 *
 * A row that got another key while it was stored is not found afterwards.
 */
static int64
rebuild_keys(const CuckooAttachment *attachment, const CuckooColumns *columns)
{
	const char *filter = quote_identifier(attachment->filter);
	const char *target_columns = cuckoo_sql_target_columns(attachment);
	const char *keys = cuckoo_sql_keys(attachment, CUCKOO_SOURCE, "%s, ");
	const char *followed = cuckoo_sql_followed(attachment);
	int64		nfilters;

	nfilters = cuckoo_write_run(attachment->target,
								psprintf("WITH stored AS (INSERT INTO %s AS t (%s, %s) OVERRIDING SYSTEM VALUE"
										 " SELECT %s%s FROM %s WHERE %s GROUP BY %.*s"
										 " ON CONFLICT (%s) DO UPDATE SET %s = EXCLUDED.%s"
										 " RETURNING %s)"
										 " SELECT pg_catalog.count(*) FROM stored WHERE is_stored",
										 cuckoo_sql_relation(attachment->target),
										 target_columns, filter, keys,
										 rebuild_aggregate(attachment),
										 cuckoo_sql_source(attachment),
										 followed, (int) strlen(keys) - 2, keys,
										 target_columns, filter, filter,
										 rebuild_stored(attachment)));
	nfilters += cuckoo_write_run(attachment->target,
								 psprintf("WITH stored AS (UPDATE %s SET %s = %s"
										  " WHERE %s AND NOT EXISTS (SELECT FROM %s WHERE %s AND %s)"
										  " RETURNING %s)"
										  " SELECT pg_catalog.count(*) FROM stored WHERE is_stored",
										  cuckoo_sql_target(attachment), filter,
										  rebuild_made(attachment, "cf_new", ""),
										  psprintf("%strue",
												   cuckoo_sql_keys(attachment, CUCKOO_TARGET,
																   "%s IS DISTINCT FROM NULL AND ")),
										  cuckoo_sql_source(attachment), followed,
										  cuckoo_sql_match(attachment, columns, CUCKOO_TARGET,
														   CUCKOO_SOURCE),
										  rebuild_stored(attachment)));
	if (cuckoo_sql_run(psprintf("SELECT FROM %s WHERE %s AND NOT EXISTS (SELECT FROM %s WHERE %s) LIMIT 1",
								cuckoo_sql_source(attachment), followed,
								cuckoo_sql_target(attachment),
								cuckoo_sql_match(attachment, columns,
												 CUCKOO_TARGET, CUCKOO_SOURCE)),
					   SPI_OK_SELECT) > 0)
		cuckoo_not_stored_error(attachment->target);
	return nfilters;
}

/*
 * cuckoo_rebuild
 *		Build all filters from the source.  Returns their number.
 *
 * Called under locks of both tables and connected to SPI.  What others than the
 * caller own leaves nothing to be done later, when it would be done as him.
 */
int64
cuckoo_rebuild(const CuckooAttachment *attachment,
			   const CuckooColumns *columns, Oid owner)
{
	CuckooRole	before;
	int64		nfilters;

	cuckoo_role_become(&before, owner,
					   owner == GetUserId() ?
					   SECURITY_NOFORCE_RLS :
					   SECURITY_NOFORCE_RLS |
					   SECURITY_RESTRICTED_OPERATION);
	if (attachment->ntarget_keys == 0)
	{
		rebuild_require_one_row(attachment);
		nfilters = rebuild_one(attachment);
		if (nfilters == 0)
			cuckoo_not_stored_error(attachment->target);
	}
	else
		nfilters = rebuild_keys(attachment, columns);
	cuckoo_role_return(&before);
	return nfilters;
}
