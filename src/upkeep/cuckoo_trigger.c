/*-------------------------------------------------------------------------
 *
 * cuckoo_trigger.c
 *		The trigger function that keeps filters in step with a table.
 *
 * Before each statement on the source, its root or a partition one trigger
 * counts it as open, after it another one as closed.  In between those of the
 * rows collect what is removed and added; the close that leaves nothing open
 * puts it into the filters.  Rows that are told while nothing is open are put
 * there at once: by replication, which fires no triggers of statements, and by
 * statements on partitions that came after cf_attach().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"

#include "cuckoo_apply.h"
#include "cuckoo_batch.h"

PG_FUNCTION_INFO_V1(cf_upkeep);

/*
 * trigger_error
 *		Refuse to be called in any other way than cf_attach() arranges for.
 */
static void
trigger_error(const TriggerData *trigdata)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("trigger \"%s\" cannot keep filters in step with table \"%s\"",
					trigdata->tg_trigger->tgname,
					RelationGetRelationName(trigdata->tg_relation)),
			 errdetail("The table of filters does not name this table, or the trigger fires for other events than it should."),
			 errhint("Let cf_attach() make the triggers, or cf_rebuild() after they were changed.")));
}

/* Which of the triggers fires? */
static CuckooSourceTrigger
trigger_which(const TriggerData *trigdata)
{
	for (int i = 0; i < CUCKOO_NTRIGGERS; i++)
	{
		if (trigdata->tg_trigger->tgtype == cuckoo_trigger_types[i])
			return i;
	}
	trigger_error(trigdata);
	return CUCKOO_NTRIGGERS;	/* keep compiler quiet */
}

/*
 * trigger_may_remove
 *		Is what is removed in the filter?
 *
 * What is in a partition that is being detached is not in filters that were
 * built since.  And within a trigger, on a partition that came later: the statement around it may
 * be on the same partition, and its rows are told after this one.  Values that
 * are not removed are stale until the next cf_rebuild().
 */
static bool
trigger_may_remove(const CuckooTrigger *known)
{
	if (known->is_detached)
		return false;
	return known->upkeep->batch->nopen > 0 || known->has_open ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA ||
		DatumGetInt32(pg_trigger_depth(NULL)) <= 1;
}

/*
 * trigger_may_be_left
 *		May a trigger be there although its table is not followed?
 *
 * A partition that was detached keeps those of statements.  They do not name
 * the target, nor does that of updates: a source that was restored has them on
 * when its target is dropped.
 */
static bool
trigger_may_be_left(const TriggerData *trigdata, CuckooSourceTrigger which)
{
	return which == CUCKOO_TRIGGER_OPEN || which == CUCKOO_TRIGGER_CLOSE ||
		(which == CUCKOO_TRIGGER_UPDATE &&
		 !OidIsValid(cuckoo_trigger_target(trigdata->tg_relation,
										   trigdata->tg_trigger)));
}

/* A row was inserted, deleted, or has another value or key. */
static void
trigger_row(const CuckooTrigger *known, const TriggerData *trigdata)
{
	CuckooBatch *batch = known->upkeep->batch;
	const bool	is_update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);

	if ((is_update || TRIGGER_FIRED_BY_DELETE(trigdata->tg_event)) &&
		trigger_may_remove(known))
		cuckoo_batch_add_row(batch, known, trigdata->tg_trigslot, false);
	if (is_update || TRIGGER_FIRED_BY_INSERT(trigdata->tg_event))
		cuckoo_batch_add_row(batch, known,
							 is_update ? trigdata->tg_newslot :
							 trigdata->tg_trigslot, true);
	if (batch->nopen == 0)
		cuckoo_flush(known->upkeep);
}

/*
 * trigger_fired
 *		Do what a trigger of a table that is followed has to.
 */
static void
trigger_fired(const CuckooTrigger *known, const TriggerData *trigdata,
			  CuckooSourceTrigger which)
{
	CuckooUpkeep *upkeep = known->upkeep;
	const CuckooStatement statement = {
		known->relation, trigdata->tg_event & TRIGGER_EVENT_OPMASK,
		DatumGetInt32(pg_trigger_depth(NULL)), InNoForceRLSOperation()
	};

	if (which == CUCKOO_TRIGGER_OPEN)
		cuckoo_batch_open(upkeep->batch, &statement);
	else if (which == CUCKOO_TRIGGER_TRUNCATE)
		cuckoo_flush_truncate(upkeep);
	else if (which != CUCKOO_TRIGGER_CLOSE)
		trigger_row(known, trigdata);
	else if (cuckoo_batch_close(upkeep->batch, &statement))
		cuckoo_flush(upkeep);
}

/*
 * cf_upkeep()
 *		Trigger: keep the filters of a table in step with this one.
 */
Datum
cf_upkeep(PG_FUNCTION_ARGS)
{
	const TriggerData *trigdata = (TriggerData *) fcinfo->context;
	CuckooSourceTrigger which;
	CuckooTrigger *known;
	CuckooUpkeep *upkeep;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"cf_upkeep")));
	which = trigger_which(trigdata);
	known = cuckoo_upkeep_open(trigdata, fcinfo->flinfo->fn_oid);
	upkeep = known->upkeep;

	if (!known->is_followed && !trigger_may_be_left(trigdata, which))
	{
		if (upkeep != NULL)
			cuckoo_upkeep_close(upkeep);
		trigger_error(trigdata);
	}
	if (upkeep == NULL)
		return PointerGetDatum(NULL);

	PG_TRY();
	{
		if (known->is_followed)
			trigger_fired(known, trigdata, which);
	}
	PG_FINALLY();
	{
		cuckoo_upkeep_close(upkeep);
	}
	PG_END_TRY();
	return PointerGetDatum(NULL);
}
