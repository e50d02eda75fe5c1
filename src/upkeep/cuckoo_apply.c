/*-------------------------------------------------------------------------
 *
 * cuckoo_apply.c
 *		Changing the filters of a target.
 *
 * A batch becomes one UPDATE for each filter that it touches.  That filters
 * stay right when several write is left to what the server knows of rows.  An
 * UPDATE waits for whoever else has changed the row, and then sees what that
 * one has committed (READ COMMITTED) or fails (REPEATABLE READ and above), so
 * no change is lost; a rollback takes the filter back along with the rows.
 * Adding and removing commute, but for saturated copies, which stay: however
 * transactions interleave, a value that is in the table is in its filter.
 *
 * Filters are taken in the order of their keys, so that two statements do not
 * wait for each other.
 *
 * Statements run with the rights of the owner of the source, who has to have
 * them on the target, and with pg_catalog alone in the search_path where others
 * could have made what they run: who writes to the source needs no rights on the
 * filters, and leads nobody astray.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "cuckoo_apply.h"
#include "cuckoo_source.h"
#include "cuckoo_sql.h"
#include "cuckoo_write.h"

/*
 * apply_prepare
 *		Plan a statement, to be kept.
 *
 * Its parameters are the key.  The plan is made once: a custom plan could not
 * be better, the key being unique.  A key is no value of the target's domain
 * before it is stored, and checked.
 */
static SPIPlanPtr
apply_prepare(const CuckooUpkeep *upkeep, const char *sql)
{
	const int	nkeys = upkeep->attachment.ntarget_keys;
	Oid		   *types = palloc(Max(nkeys, 1) * sizeof(Oid));
	SPIPlanPtr	plan;

	for (int i = 0; i < nkeys; i++)
		types[i] = getBaseType(upkeep->columns.keys[i].target_type);
	plan = SPI_prepare_cursor(sql, nkeys, types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	return plan;
}

/*
 * apply_returning
 *		Whether the row is the tenant's, and the filter, as they are stored; where
 *		nobody's code has run there is nothing to ask.
 */
static const char *
apply_returning(const CuckooUpkeep *upkeep, const char *match)
{
	return upkeep->is_plain ? "" :
		psprintf(" RETURNING %s, t.%s", match,
				 quote_identifier(upkeep->attachment.filter));
}

/* UPDATE of the filter of a tenant. */
static SPIPlanPtr
apply_prepare_update(const CuckooUpkeep *upkeep)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const char *filter = quote_identifier(attachment->filter);
	const char *match = cuckoo_sql_match(attachment, &upkeep->columns,
										 CUCKOO_TARGET, CUCKOO_PARAMETER);

	return apply_prepare(upkeep,
						 psprintf("UPDATE %s SET %s = %s(t.%s) WHERE %s%s",
								  cuckoo_sql_target(attachment), filter,
								  cuckoo_sql_function(attachment->function,
													  "cf_upkeep_apply"),
								  filter, match,
								  apply_returning(upkeep, match)));
}

/*
 * INSERT of the first filter of a tenant.  Somebody else may insert it first:
 * then that one is changed.
 *
 * The conflict can be one of another unique index of the same columns, with
 * the row of another key.  That row is none to change.
 */
static SPIPlanPtr
apply_prepare_insert(const CuckooUpkeep *upkeep)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const char *filter = quote_identifier(attachment->filter);
	const char *columns = cuckoo_sql_target_columns(attachment);
	const char *apply = cuckoo_sql_function(attachment->function,
											"cf_upkeep_apply");
	const char *match = cuckoo_sql_match(attachment, &upkeep->columns,
										 CUCKOO_TARGET, CUCKOO_PARAMETER);

	return apply_prepare(upkeep,
						 psprintf("INSERT INTO %s AS t (%s, %s) OVERRIDING SYSTEM VALUE"
								  " VALUES (%s%s(NULL))"
								  " ON CONFLICT (%s) DO UPDATE SET %s = %s(t.%s) WHERE %s%s",
								  cuckoo_sql_relation(attachment->target),
								  columns, filter,
								  cuckoo_sql_keys(attachment,
												  CUCKOO_PARAMETER, "%s, "),
								  apply, columns, filter, apply, filter,
								  match, apply_returning(upkeep, match)));
}

/* The row of a tenant, locked. */
static SPIPlanPtr
apply_prepare_lock(const CuckooUpkeep *upkeep)
{
	return apply_prepare(upkeep,
						 psprintf("SELECT FROM %s WHERE %s FOR NO KEY UPDATE OF t",
								  cuckoo_sql_target(&upkeep->attachment),
								  cuckoo_sql_match(&upkeep->attachment,
												   &upkeep->columns,
												   CUCKOO_TARGET,
												   CUCKOO_PARAMETER)));
}

/*
 * apply_execute
 *		Run one of the plans that write; returns the number of rows it changed:
 *		none if a rule has made something else of it.
 *
 * What was stored has to be the filter that was made, in the row of the tenant.
 */
static uint64
apply_execute(CuckooUpkeep *upkeep, SPIPlanPtr plan,
			  const CuckooTenant *tenant, CuckooWrite *write, int expected)
{
	uint64		nrows = 0;
	int			result;

	cuckoo_write_begin(write, upkeep->key.target);
	write->upkeep = upkeep;
	write->tenant = tenant;
	PG_TRY();
	{
		result = SPI_execute_plan(plan, tenant->keys, NULL, false, 0);
	}
	PG_FINALLY();
	{
		cuckoo_write_end(write);
	}
	PG_END_TRY();

	if (result == SPI_OK_REWRITTEN)
		return 0;
	if (result != expected)
		elog(ERROR, "SPI_execute_plan returned %s",
			 SPI_result_code_string(result));
	nrows = SPI_processed;
	if (upkeep->is_plain)
		return nrows;
	for (uint64 row = 0; row < nrows; row++)
	{
		const HeapTuple tuple = SPI_tuptable->vals[row];
		const TupleDesc desc = SPI_tuptable->tupdesc;
		bool		isnull[2];
		const Datum is_right = SPI_getbinval(tuple, desc, 1, &isnull[0]);
		const Datum stored = SPI_getbinval(tuple, desc, 2, &isnull[1]);

		/* several rows have several filters: that is refused by the caller */
		if (isnull[0] || isnull[1] || !DatumGetBool(is_right) ||
			(nrows == 1 && cuckoo_write_checksum(stored) != write->made))
			cuckoo_not_stored_error(upkeep->key.target);
	}
	SPI_freetuptable(SPI_tuptable);
	return nrows;
}

/* Lock the row of a tenant; returns whether there is one. */
static bool
apply_lock(CuckooUpkeep *upkeep, const CuckooTenant *tenant)
{
	if (upkeep->lock == NULL)
		upkeep->lock = apply_prepare_lock(upkeep);
	if (SPI_execute_plan(upkeep->lock, tenant->keys, NULL, false, 0) !=
		SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan failed");
	return SPI_processed > 0;
}

/* One filter of all rows is in a table of one row. */
static void
apply_require_one_row(const CuckooUpkeep *upkeep, uint64 nrows)
{
	if (nrows == 1)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("table %s must have one row, with the filter of all rows of table %s",
					cuckoo_sql_relation(upkeep->attachment.target),
					cuckoo_sql_relation(upkeep->attachment.source)),
			 errdetail("The table has %s.",
					   nrows == 0 ? "none" : "several"),
			 errhint("See that it has one or none, then use cf_rebuild().")));
}

/*
 * apply_tenant
 *		Change the filter of a tenant, or make one.
 *
 * A tenant without a filter from which values are only removed gets none: it
 * has been removed itself.
 */
static void
apply_tenant(CuckooUpkeep *upkeep, const CuckooTenant *tenant)
{
	CuckooWrite write;
	uint64		nrows;

	/*
	 * An old snapshot may show a filter as it was before it was rebuilt with
	 * other parameters.  Applying the changes to that one could fail in ways
	 * that make no sense; finding out first that it is old is what counts.
	 */
	if (IsolationUsesXactSnapshot())
		(void) apply_lock(upkeep, tenant);

	if (upkeep->update == NULL)
		upkeep->update = apply_prepare_update(upkeep);
	nrows = apply_execute(upkeep, upkeep->update, tenant, &write,
						  upkeep->is_plain ? SPI_OK_UPDATE :
						  SPI_OK_UPDATE_RETURNING);

	/* a trigger may suppress an UPDATE that changes nothing */
	if (nrows == 0 && write.was_made && !write.is_changed &&
		apply_lock(upkeep, tenant))
		return;
	if (upkeep->attachment.ntarget_keys == 0 &&
		(nrows > 1 || tenant->nadded > 0))
	{
		if (nrows == 0 && write.was_made)
			cuckoo_not_stored_error(upkeep->key.target);
		apply_require_one_row(upkeep, nrows);
	}
	if (nrows > 0 || tenant->nadded == 0)
		return;

	if (upkeep->insert == NULL)
		upkeep->insert = apply_prepare_insert(upkeep);
	if (apply_execute(upkeep, upkeep->insert, tenant, &write,
					  upkeep->is_plain ? SPI_OK_INSERT :
					  SPI_OK_INSERT_RETURNING) == 0 &&
		(!write.was_made || write.is_changed))
		cuckoo_not_stored_error(upkeep->key.target);
}

/* Context of an error: which filter was to be changed. */
static void
apply_error_context(void *arg)
{
	const CuckooUpkeep *upkeep = ((const CuckooBatch *) arg)->upkeep;
	const CuckooTenant *tenant = ((const CuckooBatch *) arg)->last;

	if (tenant == NULL)
		return;
	if (upkeep->attachment.ntarget_keys == 0)
		errcontext("filter \"%s\" of table \"%s\"", upkeep->attachment.filter,
				   get_rel_name(upkeep->key.target));
	else
		errcontext("filter \"%s\" of table \"%s\" where %s",
				   upkeep->attachment.filter,
				   get_rel_name(upkeep->key.target),
				   cuckoo_sql_key_text(&upkeep->attachment, &upkeep->columns,
									   tenant->keys));
}

/* Change the filters of all tenants of a batch, in the order of their keys. */
static void
apply_batch(CuckooBatch *taken)
{
	CuckooUpkeep *upkeep = taken->upkeep;
	CuckooRole	before;
	RBTreeIterator iterator;
	CuckooTenant *tenant;
	ErrorContextCallback callback;

	taken->last = NULL;
	callback.callback = apply_error_context;
	callback.arg = taken;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	SPI_connect();
	if (upkeep->is_plain)
		cuckoo_role_become_plain(&before, upkeep->owner, SECURITY_NOFORCE_RLS);
	else
		cuckoo_role_become(&before, upkeep->owner, SECURITY_NOFORCE_RLS);
	rbt_begin_iterate(taken->tenants, LeftRightWalk, &iterator);
	while ((tenant = (CuckooTenant *) rbt_iterate(&iterator)) != NULL)
	{
		taken->last = tenant;
		if (tenant->nremoved > 0 || tenant->nadded > 0)
			apply_tenant(upkeep, tenant);
	}
	cuckoo_role_return(&before);
	SPI_finish();
	error_context_stack = callback.previous;
}

/*
 * apply_truncate
 *		Make all filters empty, unless the source has rows, which triggers have
 *		inserted since it was truncated.
 */
static void
apply_truncate(const CuckooUpkeep *upkeep)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const char *filter = quote_identifier(attachment->filter);
	const char *store = cuckoo_sql_function(attachment->function,
											"cf_upkeep_store");
	CuckooRole	before;

	SPI_connect();
	cuckoo_role_become(&before, upkeep->owner, SECURITY_NOFORCE_RLS);
	if (cuckoo_sql_run(psprintf("SELECT FROM %s LIMIT 1",
								cuckoo_sql_source(attachment)),
					   SPI_OK_SELECT) == 0)
		cuckoo_write_run(attachment->target,
						 psprintf("WITH stored AS (UPDATE %s SET %s = %s(%s(%s), false)"
								  " WHERE %s(t.%s) OPERATOR(pg_catalog.>) 0"
								  " RETURNING %s(t.%s, true) IS NOT NULL AS is_stored)"
								  " SELECT pg_catalog.count(*) FROM stored WHERE is_stored",
								  cuckoo_sql_target(attachment), filter, store,
								  cuckoo_sql_function(attachment->function,
													  "cf_new"),
								  cuckoo_sql_parameters(attachment),
								  cuckoo_sql_function(attachment->function,
													  "cf_count"), filter,
								  store, filter));
	cuckoo_role_return(&before);
	SPI_finish();
}

/* Do one of these with the attachment as it is now. */
static void
apply_locked(CuckooUpkeep *upkeep, CuckooBatch *taken)
{
	upkeep->nusers++;
	upkeep = cuckoo_upkeep_lock(upkeep);
	PG_TRY();
	{
		cuckoo_source_require_no_policies(upkeep->owner, upkeep->key.target,
										  upkeep->attachment.source);
		if (taken != NULL)
		{
			taken->upkeep = upkeep;
			apply_batch(taken);
		}
		else
			apply_truncate(upkeep);
	}
	PG_FINALLY();
	{
		cuckoo_upkeep_close(upkeep);
	}
	PG_END_TRY();
}

/*
 * cuckoo_flush
 *		Put what was collected into the filters.
 */
void
cuckoo_flush(CuckooUpkeep *upkeep)
{
	CuckooBatch taken;

	if (!cuckoo_batch_take(upkeep->batch, &taken))
		return;
	apply_locked(upkeep, &taken);
	MemoryContextDelete(taken.context);
}

/*
 * cuckoo_flush_truncate
 *		The source was truncated.
 */
void
cuckoo_flush_truncate(CuckooUpkeep *upkeep)
{
	apply_locked(upkeep, NULL);
}
