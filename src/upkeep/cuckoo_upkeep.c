/*-------------------------------------------------------------------------
 *
 * cuckoo_upkeep.c
 *		What a session keeps of attachments from one statement to the next.
 *
 * An attachment is known by its target and filter column, and read again when
 * one of its tables has changed.  The triggers of the source and of each of its
 * partitions lead to it; the columns are found by name in each relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/partition.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "cuckoo_batch.h"
#include "cuckoo_sql.h"
#include "cuckoo_upkeep.h"

typedef struct UpkeepSlot
{
	CuckooUpkeepKey key;
	CuckooUpkeep *upkeep;		/* the newest, or NULL */
	struct CuckooBatch *batch;
} UpkeepSlot;

static HTAB *upkeep_slots = NULL;
static HTAB *upkeep_triggers = NULL;

/* Calls of the callbacks below, to notice one while something is read. */
static uint64 upkeep_ninvalidations = 0;

/* Relcache callback: a table has changed.  InvalidOid is all of them. */
static void
upkeep_forget(Datum arg, Oid relation)
{
	HASH_SEQ_STATUS status;
	UpkeepSlot *slot;
	CuckooTrigger *trigger;

	upkeep_ninvalidations++;
	hash_seq_init(&status, upkeep_slots);
	while ((slot = hash_seq_search(&status)) != NULL)
	{
		CuckooUpkeep *upkeep = slot->upkeep;

		if (upkeep != NULL &&
			(relation == InvalidOid || relation == upkeep->key.target ||
			 relation == upkeep->attachment.source))
			upkeep->is_valid = false;
	}
	hash_seq_init(&status, upkeep_triggers);
	while ((trigger = hash_seq_search(&status)) != NULL)
	{
		if (relation == InvalidOid || relation == trigger->relation)
			trigger->is_valid = false;
	}
}

/* Syscache callback: the names in the plans may mean something else. */
static void
upkeep_forget_all(Datum arg, cuckoo_syscache_id cacheid, uint32 hashvalue)
{
	upkeep_forget(arg, InvalidOid);
}

static void
upkeep_initialize(void)
{
	HASHCTL		control = {0};

	if (upkeep_triggers != NULL)
		return;
	control.keysize = sizeof(CuckooUpkeepKey);
	control.entrysize = sizeof(UpkeepSlot);
	upkeep_slots = hash_create("cuckoo filter upkeep", 16, &control,
							   HASH_ELEM | HASH_BLOBS);
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(CuckooTrigger);
	upkeep_triggers = hash_create("cuckoo filter triggers", 64, &control,
								  HASH_ELEM | HASH_BLOBS);
	CacheRegisterRelcacheCallback(upkeep_forget, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, upkeep_forget_all, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, upkeep_forget_all, (Datum) 0);
	CacheRegisterSyscacheCallback(OPEROID, upkeep_forget_all, (Datum) 0);
	cuckoo_batch_initialize();
}

static void
upkeep_free_plan(SPIPlanPtr plan)
{
	if (plan != NULL)
		SPI_freeplan(plan);
}

/*
 * upkeep_discard
 *		Free an attachment that is out of date and that nobody works with.
 */
static void
upkeep_discard(CuckooUpkeep *upkeep)
{
	HASH_SEQ_STATUS status;
	CuckooTrigger *trigger;

	hash_seq_init(&status, upkeep_triggers);
	while ((trigger = hash_seq_search(&status)) != NULL)
	{
		if (trigger->upkeep == upkeep)
		{
			trigger->upkeep = NULL;
			trigger->is_valid = false;
		}
	}
	upkeep_free_plan(upkeep->update);
	upkeep_free_plan(upkeep->insert);
	upkeep_free_plan(upkeep->lock);
	upkeep_free_plan(upkeep->check);
	MemoryContextDelete(upkeep->context);
}

/* Are an index and its comparisons the server's own? */
static bool
upkeep_is_plain_index(Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);
	bool		is_plain = index->rd_rel->relam < FirstNormalObjectId &&
		RelationGetIndexExpressions(index) == NIL &&
		RelationGetIndexPredicate(index) == NIL;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		is_plain = is_plain && index->rd_opfamily[i] < FirstNormalObjectId &&
			index->rd_opcintype[i] < FirstNormalObjectId;
	index_close(index, AccessShareLock);
	return is_plain;
}

/*
 * upkeep_is_plain
 *		Does changing the filters of a target run only what is ours, or the
 *		server's?
 *
 * Then no search_path can lead it astray, and none is set, which would be a
 * twelfth of a statement of one row.  Policies are looked at although whom they
 * apply to is refused before, by cuckoo_source_require_no_policies(): another
 * session can take away his privilege to bypass them between the two.
 */
static bool
upkeep_is_plain(const CuckooUpkeep *upkeep, Relation target)
{
	const TriggerDesc *triggers = target->trigdesc;
	const TupleDesc desc = RelationGetDescr(target);
	const TupleConstr *constraints = desc->constr;
	ListCell   *cell;

	if (target->rd_rel->relkind != RELKIND_RELATION ||
		target->rd_rel->relispartition || target->rd_rules != NULL ||
		target->rd_rel->relrowsecurity ||
		(constraints != NULL &&
		 (constraints->num_check > 0 || constraints->num_defval > 0)))
		return false;
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		if (!triggers->triggers[i].tgisinternal &&
			triggers->triggers[i].tgfoid !=
			cuckoo_attachment_function(upkeep->attachment.function,
									   "cf_guard"))
			return false;
	}

	/*
	 * a domain is checked for NULL, too, which a new row has where we say
	 * none
	 */
	for (int i = 0; i < desc->natts; i++)
	{
		const Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped &&
			getBaseType(attribute->atttypid) != attribute->atttypid)
			return false;
	}
	/* "=" of the key, if there is no index */
	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
	{
		if (upkeep->columns.keys[i].target_type >= FirstNormalObjectId)
			return false;
	}
	foreach(cell, RelationGetIndexList(target))
	{
		if (!upkeep_is_plain_index(lfirst_oid(cell)))
			return false;
	}
	return true;
}

/*
 * upkeep_make
 *		Find out what an attachment is.
 */
static CuckooUpkeep *
upkeep_make(const CuckooAttachment *attachment, const CuckooUpkeepKey *key,
			Relation target)
{
	const MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "cuckoo filter upkeep",
							  ALLOCSET_SMALL_SIZES);
	const MemoryContext caller = MemoryContextSwitchTo(context);
	CuckooUpkeep *upkeep = palloc0(sizeof(CuckooUpkeep));
	const uint64 before = upkeep_ninvalidations;
	Relation	source = table_open(attachment->source, AccessShareLock);
	bool		is_found;

	upkeep->key = *key;
	upkeep->context = context;
	/* once more, now in this context, with lasting locks on both tables */
	is_found = cuckoo_attachment_find(&upkeep->attachment,
									  attachment->function, target,
									  attachment->filter);
	if (!is_found)
		elog(ERROR, "triggers of table \"%s\" are gone",
			 RelationGetRelationName(source));
	upkeep->owner = source->rd_rel->relowner;
	cuckoo_columns_resolve(&upkeep->columns, &upkeep->attachment, source,
						   target);
	table_close(source, NoLock);
	upkeep->is_plain = upkeep_is_plain(upkeep, target);

	upkeep->order = palloc(Max(upkeep->attachment.ntarget_keys, 1) *
						   sizeof(FmgrInfo));
	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
		fmgr_info_cxt(upkeep->columns.keys[i].order, &upkeep->order[i],
					  context);
	upkeep->hasher = cuckoo_hasher_for_type(upkeep->columns.value_type,
											upkeep->columns.value_collation,
											context);
	cuckoo_parameters_check(&upkeep->parameters,
							cuckoo_attachment_share(&upkeep->attachment),
							upkeep->attachment.fpr,
							upkeep->attachment.max_copies,
							upkeep->attachment.seed);
	upkeep->is_valid = upkeep_ninvalidations == before;
	MemoryContextSwitchTo(caller);
	return upkeep;
}

/*
 * upkeep_get
 *		The attachment of a filter column, made if need be; NULL if none.
 */
static CuckooUpkeep *
upkeep_get(Relation target, Oid function, const char *filter)
{
	const AttrNumber attnum = get_attnum(RelationGetRelid(target), filter);
	CuckooUpkeepKey key = {RelationGetRelid(target), attnum};
	CuckooAttachment attachment;
	UpkeepSlot *slot;
	CuckooUpkeep *upkeep;
	bool		is_found;

	if (attnum == InvalidAttrNumber)
		(void) cuckoo_columns_find(target, filter);
	slot = hash_search(upkeep_slots, &key, HASH_ENTER, &is_found);
	if (!is_found)
	{
		slot->upkeep = NULL;
		slot->batch = NULL;
	}
	if (slot->batch == NULL)
		slot->batch = cuckoo_batch_new();
	if (slot->upkeep != NULL && slot->upkeep->is_valid)
		return slot->upkeep;

	if (!cuckoo_attachment_find(&attachment, function, target, filter))
		return NULL;
	upkeep = upkeep_make(&attachment, &key, target);
	/* reading it may have made the table of slots grow */
	slot = hash_search(upkeep_slots, &key, HASH_FIND, NULL);
	upkeep->batch = slot->batch;
	if (slot->upkeep != NULL && slot->upkeep->nusers == 0)
		upkeep_discard(slot->upkeep);
	MemoryContextSetParent(upkeep->context, CacheMemoryContext);
	slot->upkeep = upkeep;
	return upkeep;
}

/*
 * cuckoo_upkeep_of_target
 *		The same for one of the triggers of the target, for use until
 *		cuckoo_upkeep_close().
 */
CuckooUpkeep *
cuckoo_upkeep_of_target(Relation target, Oid function, const char *filter)
{
	CuckooUpkeep *upkeep;

	upkeep_initialize();
	upkeep = upkeep_get(target, function, filter);
	if (upkeep != NULL)
		upkeep->nusers++;
	return upkeep;
}

/*
 * upkeep_look_up
 *		Is a relation the source, or a partition of it?
 *
 * One that is being detached concurrently still is to statements that have
 * begun before, but not to a rebuild.
 */
static void
upkeep_look_up(CuckooTrigger *known, Relation relation)
{
	const Oid	source = known->upkeep->attachment.source;
	Oid			ancestor = known->relation;

	known->is_detached =
		!list_member_oid(get_partition_ancestors(ancestor), source);
	while (ancestor != source && get_rel_relispartition(ancestor))
		ancestor = get_partition_parent(ancestor, true);
	known->is_followed = ancestor == source;
	if (known->relation == source)
		known->is_detached = false;
}

/*
 * upkeep_read_trigger
 *		Find out what a trigger is to do.
 */
static void
upkeep_read_trigger(CuckooTrigger *known, const TriggerData *trigdata,
					Oid function)
{
	const Trigger *trigger = trigdata->tg_trigger;
	const Relation relation = trigdata->tg_relation;
	const Oid	target_oid = cuckoo_trigger_target(relation, trigger);
	const uint64 before = upkeep_ninvalidations;
	const CuckooAttachment *attachment;
	Relation	target;

	known->relation = RelationGetRelid(relation);
	known->upkeep = NULL;
	known->is_followed = false;
	if (!OidIsValid(target_oid))
		return;
	target = table_open(target_oid, RowExclusiveLock);
	known->upkeep = upkeep_get(target, function, trigger->tgargs[0]);
	table_close(target, NoLock);
	if (known->upkeep == NULL)
		return;
	attachment = &known->upkeep->attachment;
	upkeep_look_up(known, relation);
	if (!known->is_followed)
		return;

	known->has_open = cuckoo_trigger_find(relation, CUCKOO_TRIGGER_OPEN,
										  attachment) != NULL;
	known->values = MemoryContextAlloc(known->upkeep->context,
									   attachment->nvalues * sizeof(AttrNumber));
	known->keys = MemoryContextAlloc(known->upkeep->context,
									 Max(attachment->nkeys, 1) *
									 sizeof(AttrNumber));
	for (int i = 0; i < attachment->nvalues; i++)
		known->values[i] =
			cuckoo_columns_find(relation, attachment->values[i])->attnum;
	for (int i = 0; i < attachment->nkeys; i++)
		known->keys[i] =
			cuckoo_columns_find(relation, attachment->keys[i])->attnum;
	known->is_valid = upkeep_ninvalidations == before;
}

/*
 * cuckoo_upkeep_open
 *		What is known of the trigger that fires, for use until
 *		cuckoo_upkeep_close() if it has an attachment.
 */
CuckooTrigger *
cuckoo_upkeep_open(const TriggerData *trigdata, Oid function)
{
	const Oid	trigger = trigdata->tg_trigger->tgoid;
	CuckooTrigger read = {0};
	CuckooTrigger *known;

	upkeep_initialize();
	known = hash_search(upkeep_triggers, &trigger, HASH_FIND, NULL);
	if (likely(known != NULL && known->is_valid && known->upkeep->is_valid))
	{
		known->upkeep->nusers++;
		return known;
	}

	upkeep_read_trigger(&read, trigdata, function);
	known = hash_search(upkeep_triggers, &trigger, HASH_ENTER, NULL);
	read.trigger = trigger;
	*known = read;
	if (known->upkeep != NULL)
		known->upkeep->nusers++;
	return known;
}

/*
 * cuckoo_upkeep_lock
 *		Lock the target, as the UPDATE that is to come does, and return the
 *		attachment as it is now, instead of the one given.
 *
 * Waiting for the lock may bring news of the target.
 */
CuckooUpkeep *
cuckoo_upkeep_lock(CuckooUpkeep *upkeep)
{
	CuckooUpkeep *now = upkeep;
	Relation	target;

	LockRelationOid(upkeep->key.target, RowExclusiveLock);
	if (likely(upkeep->is_valid))
		return upkeep;

	target = table_open(upkeep->key.target, NoLock);
	now = upkeep_get(target, upkeep->attachment.function,
					 upkeep->attachment.filter);
	table_close(target, NoLock);
	if (now == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("column \"%s\" of table %s was detached while a statement changes its filters",
						upkeep->attachment.filter,
						cuckoo_sql_relation(upkeep->key.target))));
	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
	{
		if (now->attachment.ntarget_keys != upkeep->attachment.ntarget_keys ||
			now->columns.keys[i].target_type != upkeep->columns.keys[i].target_type)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("the key of table %s was changed while a statement changes its filters",
							cuckoo_sql_relation(upkeep->key.target))));
	}
	now->nusers++;
	cuckoo_upkeep_close(upkeep);
	return now;
}

/* The end of that use. */
void
cuckoo_upkeep_close(CuckooUpkeep *upkeep)
{
	const UpkeepSlot *slot = hash_search(upkeep_slots, &upkeep->key,
										 HASH_FIND, NULL);

	if (--upkeep->nusers == 0 && slot->upkeep != upkeep)
		upkeep_discard(upkeep);
}
