/*-------------------------------------------------------------------------
 *
 * cuckoo_guard.c
 *		The trigger function that keeps others from changing followed filters.
 *
 * A followed filter is like a generated column: no statement but ours assigns
 * it.  Its row is like one that a foreign key refers to: it is not deleted, nor
 * does it get another key, as long as the source has rows of the key.  This is
 * asked after foreign keys have cascaded, since their triggers come first by
 * name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cuckoo_source.h"
#include "cuckoo_sql.h"
#include "cuckoo_upkeep.h"
#include "cuckoo_write.h"

PG_FUNCTION_INFO_V1(cf_guard);

/* A statement assigns filters. */
static void
guard_assign_error(const CuckooAttachment *attachment)
{
	const char *target = cuckoo_sql_relation(attachment->target);

	ereport(ERROR,
			(errcode(ERRCODE_GENERATED_ALWAYS),
			 errmsg("column \"%s\" of table %s can only be changed by the triggers of table %s",
					attachment->filter, target,
					cuckoo_sql_relation(attachment->source)),
			 errdetail("It has filters that follow that table."),
			 errhint("Leave the column out; use cf_rebuild(%s, %s) to build the filters anew, or cf_detach(%s, %s) to change them by hand.",
					 quote_literal_cstr(target),
					 quote_literal_cstr(attachment->filter),
					 quote_literal_cstr(target),
					 quote_literal_cstr(attachment->filter))));
}

/* Rows would be without a filter. */
static void
guard_rows_error(const CuckooAttachment *attachment, const char *key)
{
	const char *target = cuckoo_sql_relation(attachment->target);

	ereport(ERROR,
			(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
			 errmsg("filter \"%s\" of table %s still has rows in table %s",
					attachment->filter, target,
					cuckoo_sql_relation(attachment->source)),
			 key == NULL ? 0 : errdetail("Its key is %s.", key),
			 errhint("Delete these rows first, or use cf_detach(%s, %s).",
					 quote_literal_cstr(target),
					 quote_literal_cstr(attachment->filter))));
}

/* The column of a row of the target or a partition, by its name. */
static Datum
guard_column(Relation relation, TupleTableSlot *slot, const char *name,
			 bool *isnull)
{
	return slot_getattr(slot, cuckoo_columns_find(relation, name)->attnum,
						isnull);
}

/* Have the old and the new row the same filter, to the byte? */
static bool
guard_is_same_filter(const CuckooUpkeep *upkeep, const TriggerData *trigdata)
{
	bool		isnull[2];
	const Datum old = guard_column(trigdata->tg_relation,
								   trigdata->tg_trigslot,
								   upkeep->attachment.filter, &isnull[0]);
	const Datum new = guard_column(trigdata->tg_relation,
								   trigdata->tg_newslot,
								   upkeep->attachment.filter, &isnull[1]);

	if (isnull[0] || isnull[1])
		return isnull[0] && isnull[1];
	if (datumIsEqual(old, new, false, -1))
		return true;
	return cuckoo_write_checksum(old) == cuckoo_write_checksum(new);
}

/*
 * guard_is_same_key
 *		Have the old and the new row the same key, to their index?
 */
static bool
guard_is_same_key(const CuckooUpkeep *upkeep, const TriggerData *trigdata)
{
	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
	{
		bool		isnull[2];
		const Datum old = guard_column(trigdata->tg_relation,
									   trigdata->tg_trigslot,
									   upkeep->attachment.target_keys[i],
									   &isnull[0]);
		const Datum new = guard_column(trigdata->tg_relation,
									   trigdata->tg_newslot,
									   upkeep->attachment.target_keys[i],
									   &isnull[1]);

		if (isnull[0] || isnull[1] ||
			DatumGetInt32(FunctionCall2Coll(&upkeep->order[i],
											upkeep->columns.keys[i].collation,
											old, new)) != 0)
			return false;
	}
	return true;
}

/*
 * guard_prepare_check
 *		A query for rows of the source that have this key.
 */
static SPIPlanPtr
guard_prepare_check(const CuckooUpkeep *upkeep)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const int	nkeys = attachment->ntarget_keys;
	Oid		   *types = palloc(Max(nkeys, 1) * sizeof(Oid));
	SPIPlanPtr	plan;

	for (int i = 0; i < nkeys; i++)
		types[i] = getBaseType(upkeep->columns.keys[i].target_type);
	plan = SPI_prepare(psprintf("SELECT FROM %s WHERE %s AND %s LIMIT 1",
								cuckoo_sql_source(attachment),
								cuckoo_sql_match(attachment, &upkeep->columns,
												 CUCKOO_SOURCE,
												 CUCKOO_PARAMETER),
								cuckoo_sql_followed(attachment)),
					   nkeys, types);
	if (plan == NULL || SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	return plan;
}

/*
 * guard_require_no_rows
 *		The filter of the old row of the target is gone: are there rows of its
 *		key?
 *
 * Whether there is another row of the target by now is no matter: its filter
 * was not made by us.  The rows are those of now, whatever the transaction's
 * snapshot is: as for foreign keys, what others have committed since counts.
 */
static void
guard_require_no_rows(CuckooUpkeep *upkeep, const TriggerData *trigdata)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const int	nkeys = attachment->ntarget_keys;
	Datum	   *keys = palloc(Max(nkeys, 1) * sizeof(Datum));
	bool		isnull;

	(void) guard_column(trigdata->tg_relation, trigdata->tg_trigslot,
						attachment->filter, &isnull);
	if (isnull)
		return;
	for (int i = 0; i < nkeys; i++)
	{
		keys[i] = guard_column(trigdata->tg_relation, trigdata->tg_trigslot,
							   attachment->target_keys[i], &isnull);
		if (isnull)
			return;
	}
	if (upkeep->check == NULL)
		upkeep->check = guard_prepare_check(upkeep);
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_execute_snapshot(upkeep->check, keys, NULL, GetActiveSnapshot(),
							 InvalidSnapshot, false, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_snapshot failed");
	PopActiveSnapshot();
	if (SPI_processed > 0)
		guard_rows_error(attachment,
						 nkeys == 0 ? NULL :
						 cuckoo_sql_key_text(attachment, &upkeep->columns,
											 keys));
}

/*
 * guard_require_filters
 *		The target or a partition was truncated: are there rows whose values are
 *		in no filter?
 */
static void
guard_require_filters(const CuckooUpkeep *upkeep)
{
	const CuckooAttachment *attachment = &upkeep->attachment;

	if (cuckoo_sql_run(psprintf("SELECT FROM %s WHERE %s AND NOT EXISTS (SELECT FROM %s WHERE %s AND %s(t.%s, %s)) LIMIT 1",
								cuckoo_sql_source(attachment),
								cuckoo_sql_followed(attachment),
								cuckoo_sql_target(attachment),
								cuckoo_sql_match(attachment, &upkeep->columns,
												 CUCKOO_TARGET,
												 CUCKOO_SOURCE),
								cuckoo_sql_function(attachment->function,
													"cf_contains"),
								quote_identifier(attachment->filter),
								cuckoo_sql_value(attachment)),
					   SPI_OK_SELECT) > 0)
		guard_rows_error(attachment, NULL);
}

/*
 * guard_row
 *		A row of the target was deleted, or has another key or filter.
 */
static void
guard_row(CuckooUpkeep *upkeep, const TriggerData *trigdata)
{
	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
	{
		if (!guard_is_same_filter(upkeep, trigdata))
			guard_assign_error(&upkeep->attachment);
		if (guard_is_same_key(upkeep, trigdata))
			return;
	}
	guard_require_no_rows(upkeep, trigdata);
}

/* The same for what needs queries, which run as those of the source's triggers. */
static void
guard_ask(CuckooUpkeep *upkeep, const TriggerData *trigdata)
{
	CuckooRole	before;

	SPI_connect();
	cuckoo_role_become(&before, upkeep->owner, SECURITY_NOFORCE_RLS);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigdata->tg_event))
		guard_require_filters(upkeep);
	else
		guard_row(upkeep, trigdata);
	cuckoo_role_return(&before);
	SPI_finish();
}

/* The target of a trigger, which may be on a partition of it. */
static Oid
guard_root(Relation relation)
{
	const Oid	oid = RelationGetRelid(relation);

	return relation->rd_rel->relispartition ?
		llast_oid(get_partition_ancestors(oid)) : oid;
}

/*
 * cf_guard()
 *		Trigger: keep others from changing the filters of a table that follow
 *		another one.
 *
 * Without an attachment, as when the source was dropped, there is nothing to
 * guard.
 */
Datum
cf_guard(PG_FUNCTION_ARGS)
{
	const TriggerData *trigdata = (TriggerData *) fcinfo->context;
	const Trigger *trigger;
	Relation	target;
	Oid			target_oid;
	CuckooUpkeep *upkeep;

	if (!CALLED_AS_TRIGGER(fcinfo) || trigdata->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by a trigger of cf_attach()",
						"cf_guard")));
	trigger = trigdata->tg_trigger;
	target_oid = guard_root(trigdata->tg_relation);
	if (trigger->tgtype == cuckoo_guard_types[CUCKOO_GUARD_ASSIGN] ?
		cuckoo_write_is_ours(target_oid) :
		trigger->tgtype == cuckoo_guard_types[CUCKOO_GUARD_UPDATE] &&
		cuckoo_write_is_row_of_ours(target_oid))
		return PointerGetDatum(NULL);

	target = table_open(target_oid, AccessShareLock);
	upkeep = cuckoo_upkeep_of_target(target, fcinfo->flinfo->fn_oid,
									 trigger->tgargs[0]);
	table_close(target, NoLock);
	if (upkeep == NULL)
		return PointerGetDatum(NULL);
	PG_TRY();
	{
		if (trigger->tgtype == cuckoo_guard_types[CUCKOO_GUARD_ASSIGN])
			guard_assign_error(&upkeep->attachment);
		guard_ask(upkeep, trigdata);
	}
	PG_FINALLY();
	{
		cuckoo_upkeep_close(upkeep);
	}
	PG_END_TRY();
	return PointerGetDatum(NULL);
}
