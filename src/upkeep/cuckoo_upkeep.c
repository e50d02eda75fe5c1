/*-------------------------------------------------------------------------
 *
 * cuckoo_upkeep.c
 *		The trigger that keeps filters in step with a table.
 *
 * It fires once for each statement, and makes one batch of each tenant (the
 * rows of one key) that the statement touched: so many copies of so many
 * values less, so many more.  A batch is one UPDATE of the tenant's filter.
 *
 * That the filters stay right is left to what the server knows of rows.  An
 * UPDATE waits for whoever else has changed the row, and then sees what that
 * one has committed (READ COMMITTED) or fails (REPEATABLE READ and above), so
 * no change is lost; a rollback takes the filter back along with the rows.
 * Adding and removing commute, but for saturated copies, which stay: however
 * transactions interleave, a value that is in the table is in its filter.
 *
 * Tenants are taken in the order of their keys, so that two statements do not
 * wait for each other.
 *
 * As the queries of foreign keys do, the UPDATE runs with the rights of the
 * owner of the table it changes: who may write to the source need not have
 * any rights on the filters, and row-level security does not hide them.  The
 * owner of the source must have them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "lib/rbtree.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "cuckoo_upkeep.h"

PG_FUNCTION_INFO_V1(cf_upkeep);
PG_FUNCTION_INFO_V1(cf_upkeep_apply);

/* Hashes in one UPDATE at most: 32 MB. */
#define MAX_BATCH_HASHES	(4 * 1024 * 1024)

/* Rows read at a time of a table that is going to be truncated. */
#define FETCH_ROWS			10000

/*
 * What is known of a trigger, kept from one statement to the next until one of
 * its tables changes.
 */
typedef struct Upkeep
{
	Oid			trigger;		/* key in the table of them */
	bool		is_valid;
	int			nusers;			/* calls that work with it */
	MemoryContext context;		/* of all that follows */

	Oid			source;
	Oid			target;
	Oid			root;			/* source of the attachment; differs in a part */
	List	   *relatives;		/* of a part: all above it, and itself; and
								 * what has partitions below it */
	bool		is_followed;	/* false: a part that has been taken off */
	bool		is_leaving;		/* a part that is being detached */
	CuckooAttachment attachment;
	CuckooColumns columns;
	FmgrInfo   *order;			/* of the key columns */
	CuckooHasher *key;
	CuckooParameters parameters;
	char	   *apply;			/* name of cf_upkeep_apply(), for SQL */
	SPIPlanPtr	lock;			/* NULL until it is needed, as are the others */
	SPIPlanPtr	update;
	SPIPlanPtr	insert;
} Upkeep;

typedef struct UpkeepSlot
{
	Oid			trigger;
	Upkeep	   *upkeep;
} UpkeepSlot;

static HTAB *upkeeps = NULL;

/* Calls of the callbacks below, to notice one while an entry is made. */
static uint64 ninvalidations = 0;

/* Hashes, in the order in which they came. */
typedef struct Hashes
{
	uint64	   *hashes;
	size_t		nhashes;
	size_t		room;
} Hashes;

/* What a statement does to the filter of one key. */
typedef struct Tenant
{
	RBTNode		node;
	Datum	   *keys;
	Hashes		removed;
	Hashes		added;
} Tenant;

typedef struct Batch
{
	Upkeep	   *upkeep;
	MemoryContext context;
	MemoryContext row_context;	/* reset after each row */
	RBTree	   *tenants;
	Tenant	   *last;			/* of the row before */
	Datum	   *keys;			/* of a row, as the three following */
	bool	   *key_nulls;
	Datum	   *values;
	bool	   *value_nulls;
} Batch;

/* What cf_upkeep_apply() is given: this and the hashes, first those removed. */
typedef struct ChangesHeader
{
	float8		capacity;
	float8		fpr;
	int64		seed;
	int32		max_copies;
	int32		family;
	uint64		nremoved;
	uint64		nadded;
} ChangesHeader;

/*
 * forget
 *		Relcache callback: a table has changed.  InvalidOid is all of them.
 */
static void
forget(Datum arg, Oid relation)
{
	HASH_SEQ_STATUS status;
	UpkeepSlot *slot;

	ninvalidations++;
	hash_seq_init(&status, upkeeps);
	while ((slot = hash_seq_search(&status)) != NULL)
	{
		Upkeep	   *const upkeep = slot->upkeep;

		if (relation == InvalidOid || relation == upkeep->source ||
			relation == upkeep->target ||
			list_member_oid(upkeep->relatives, relation))
			upkeep->is_valid = false;
	}
}

/* Syscache callback: the names in the plans may mean something else. */
static void
forget_all(Datum arg, cuckoo_syscache_id cacheid, uint32 hashvalue)
{
	forget(arg, InvalidOid);
}

/*
 * discard
 *		Free what is known of a trigger.
 */
static void
discard(Upkeep *upkeep)
{
	if (upkeep->lock != NULL)
		SPI_freeplan(upkeep->lock);
	if (upkeep->update != NULL)
		SPI_freeplan(upkeep->update);
	if (upkeep->insert != NULL)
		SPI_freeplan(upkeep->insert);
	MemoryContextDelete(upkeep->context);
}

/*
 * discard_outdated
 *		Take what is no longer valid out of the table, and free it unless an
 *		outer call works with it; that call frees it then.
 */
static void
discard_outdated(void)
{
	HASH_SEQ_STATUS status;
	UpkeepSlot *slot;

	hash_seq_init(&status, upkeeps);
	while ((slot = hash_seq_search(&status)) != NULL)
	{
		Upkeep	   *const upkeep = slot->upkeep;

		if (upkeep->is_valid)
			continue;
		hash_search(upkeeps, &upkeep->trigger, HASH_REMOVE, NULL);
		if (upkeep->nusers == 0)
			discard(upkeep);
	}
}

/*
 * find_root
 *		Set the root of a part: its ancestor with a trigger for the whole.
 *
 * A part may have been taken off since, or an ancestor from what is above it,
 * and come back.  No lock is taken on ancestors: what makes or ends a child
 * also locks it, and tells us by the relcache.  So all of them are looked at.
 *
 * A statement through the root that has begun before a partition is detached
 * concurrently may still remove what we add here.  A rebuild no longer sees
 * such a partition, though, so nothing may be removed from its filters.
 */
static void
find_root(Upkeep *upkeep, Oid function)
{
	int			next = 0;

	upkeep->root = upkeep->source;
	upkeep->is_followed = !upkeep->attachment.is_part;
	if (upkeep->is_followed)
		return;

	upkeep->relatives = list_make1_oid(upkeep->source);
	while (next < list_length(upkeep->relatives))
	{
		const Oid	child = list_nth_oid(upkeep->relatives, next++);
		ListCell   *cell;

		foreach(cell, cuckoo_parents_of(child, &upkeep->is_leaving))
		{
			const Oid	parent = lfirst_oid(cell);
			ListCell   *other;

			upkeep->relatives = list_append_unique_oid(upkeep->relatives,
													   parent);
			foreach(other, cuckoo_triggers_of(function, parent,
											  upkeep->target,
											  upkeep->attachment.filter))
			{
				if (!((CuckooTrigger *) lfirst(other))->is_part)
				{
					upkeep->root = parent;
					upkeep->is_followed = true;
				}
			}
		}
	}
}

/*
 * check_partitions
 *		Refuse generated columns of partitions that were attached later.
 *
 * To attach one to a partition is no news of the table at the top, so all that
 * have partitions are looked at.
 */
static void
check_partitions(Upkeep *upkeep, Relation source)
{
	List	   *below;
	ListCell   *cell;

	if (!CUCKOO_PARTS_MAY_GENERATE ||
		source->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return;

	below = find_all_inheritors(RelationGetRelid(source), NoLock, NULL);
	foreach(cell, below)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_PARTITIONED_TABLE)
			upkeep->relatives = list_append_unique_oid(upkeep->relatives,
													   lfirst_oid(cell));
	}
	cuckoo_require_told(&upkeep->attachment, source, below);
}

/*
 * make_upkeep
 *		Find out what a trigger is to do.
 */
static Upkeep *
make_upkeep(TriggerData *trigdata, Oid function)
{
	Trigger    *const trigger = trigdata->tg_trigger;
	const MemoryContext context =
		AllocSetContextCreate(CurrentMemoryContext, "cuckoo filter upkeep",
							  ALLOCSET_SMALL_SIZES);
	const MemoryContext caller = MemoryContextSwitchTo(context);
	Upkeep	   *const upkeep = palloc0(sizeof(Upkeep));
	CuckooAttachment *const attachment = &upkeep->attachment;
	const uint64 before = ninvalidations;
	Relation	target;

	upkeep->trigger = trigger->tgoid;
	upkeep->context = context;
	upkeep->source = RelationGetRelid(trigdata->tg_relation);
	cuckoo_attachment_read(attachment, trigger->tgnargs, trigger->tgargs);

	upkeep->target = cuckoo_attachment_target(attachment->target);
	if (!OidIsValid(upkeep->target))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table %s, whose filters follow table \"%s\", does not exist",
						attachment->target,
						RelationGetRelationName(trigdata->tg_relation)),
				 errhint("If it was renamed or dropped, drop the trigger \"%s\" and the others that call cf_upkeep() for it, and use cf_attach() again.",
						 trigger->tgname)));
	find_root(upkeep, function);

	target = table_open(upkeep->target, RowExclusiveLock);
	cuckoo_columns_resolve(&upkeep->columns, attachment,
						   trigdata->tg_relation, target);
	table_close(target, NoLock);
	check_partitions(upkeep, trigdata->tg_relation);

	upkeep->order = palloc(Max(attachment->nkeys, 1) * sizeof(FmgrInfo));
	for (int i = 0; i < attachment->nkeys; i++)
		fmgr_info_cxt(upkeep->columns.keys[i].order, &upkeep->order[i],
					  context);
	upkeep->key = cuckoo_hasher_for_type(upkeep->columns.value_type,
										 upkeep->columns.value_collation,
										 context);
	cuckoo_parameters_check(&upkeep->parameters, attachment->capacity,
							attachment->fpr, attachment->max_copies,
							attachment->seed);
	upkeep->apply = cuckoo_function_sql(function, "cf_upkeep_apply");
	upkeep->is_valid = ninvalidations == before;
	MemoryContextSwitchTo(caller);
	return upkeep;
}

/*
 * open_upkeep
 *		What is known of the trigger that fires, for use until close_upkeep().
 *
 * The target is locked, as by the UPDATE that is to come.
 */
static Upkeep *
open_upkeep(TriggerData *trigdata, Oid function)
{
	const Oid	trigger = trigdata->tg_trigger->tgoid;
	UpkeepSlot *slot;
	Upkeep	   *upkeep;

	if (upkeeps == NULL)
	{
		HASHCTL		control = {0};

		control.keysize = sizeof(Oid);
		control.entrysize = sizeof(UpkeepSlot);
		upkeeps = hash_create("cuckoo filter upkeep", 16, &control,
							  HASH_ELEM | HASH_BLOBS);
		CacheRegisterRelcacheCallback(forget, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_all, (Datum) 0);
		CacheRegisterSyscacheCallback(PROCOID, forget_all, (Datum) 0);
		CacheRegisterSyscacheCallback(OPEROID, forget_all, (Datum) 0);
	}

	/* waiting for the lock may bring news of the target */
	while ((slot = hash_search(upkeeps, &trigger, HASH_FIND, NULL)) != NULL &&
		   slot->upkeep->is_valid)
	{
		upkeep = slot->upkeep;
		LockRelationOid(upkeep->target, RowExclusiveLock);
		if (upkeep->is_valid)
		{
			upkeep->nusers++;
			return upkeep;
		}
	}

	upkeep = make_upkeep(trigdata, function);
	discard_outdated();
	slot = hash_search(upkeeps, &trigger, HASH_ENTER, NULL);
	slot->upkeep = upkeep;
	MemoryContextSetParent(upkeep->context, CacheMemoryContext);
	upkeep->nusers++;
	return upkeep;
}

static void
close_upkeep(Upkeep *upkeep)
{
	const UpkeepSlot *const slot = hash_search(upkeeps, &upkeep->trigger,
											   HASH_FIND, NULL);

	if (--upkeep->nusers == 0 && (slot == NULL || slot->upkeep != upkeep))
		discard(upkeep);
}

/*
 * become_owner
 *		Run what follows with the rights of a table's owner, to whom its
 *		row-level security does not apply.
 */
static void
become_owner(Oid relation, Oid *user, int *context)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relation);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);

	GetUserIdAndSecContext(user, context);
	SetUserIdAndSecContext(owner, *context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
}

static int
compare_tenants(const RBTNode *a, const RBTNode *b, void *arg)
{
	const Upkeep *const upkeep = ((Batch *) arg)->upkeep;
	const Tenant *const left = (const Tenant *) a;
	const Tenant *const right = (const Tenant *) b;

	for (int i = 0; i < upkeep->attachment.nkeys; i++)
	{
		const int	result =
			DatumGetInt32(FunctionCall2Coll(&upkeep->order[i],
											upkeep->columns.keys[i].collation,
											left->keys[i], right->keys[i]));

		if (result != 0)
			return result;
	}
	return 0;
}

/* Tenants are looked up before they are inserted. */
static void
combine_tenants(RBTNode *existing, const RBTNode *newdata, void *arg)
{
	elog(ERROR, "tenant is in the batch already");
}

static RBTNode *
alloc_tenant(void *arg)
{
	return MemoryContextAllocZero(((Batch *) arg)->context, sizeof(Tenant));
}

static void
start_batch(Batch *batch, Upkeep *upkeep)
{
	const CuckooAttachment *const attachment = &upkeep->attachment;
	MemoryContext caller;

	batch->upkeep = upkeep;
	batch->context = AllocSetContextCreate(CurrentMemoryContext,
										   "cuckoo filter batch",
										   ALLOCSET_DEFAULT_SIZES);
	batch->row_context = AllocSetContextCreate(batch->context,
											   "cuckoo filter row",
											   ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(batch->context);
	batch->tenants = rbt_create(sizeof(Tenant), compare_tenants,
								combine_tenants, alloc_tenant, NULL, batch);
	batch->last = NULL;
	batch->keys = palloc(Max(attachment->nkeys, 1) * sizeof(Datum));
	batch->key_nulls = palloc(Max(attachment->nkeys, 1) * sizeof(bool));
	batch->values = palloc(attachment->nvalues * sizeof(Datum));
	batch->value_nulls = palloc(attachment->nvalues * sizeof(bool));
	MemoryContextSwitchTo(caller);
}

static void
end_batch(Batch *batch)
{
	MemoryContextDelete(batch->context);
}

static void
append_hash(MemoryContext context, Hashes *list, uint64 hash)
{
	if (list->nhashes == list->room)
	{
		list->room = Max(2 * list->room, 4);
		list->hashes = list->hashes == NULL ?
			MemoryContextAlloc(context, list->room * sizeof(uint64)) :
			repalloc_huge(list->hashes, list->room * sizeof(uint64));
	}
	list->hashes[list->nhashes++] = hash;
}

/*
 * tenant_of_row
 *		The tenant of the key in batch->keys.
 */
static Tenant *
tenant_of_row(Batch *batch)
{
	const Upkeep *const upkeep = batch->upkeep;
	Tenant		wanted;
	MemoryContext caller;
	bool		is_new;

	wanted.keys = batch->keys;
	if (batch->last != NULL &&
		compare_tenants(&batch->last->node, &wanted.node, batch) == 0)
		return batch->last;

	batch->last = (Tenant *) rbt_find(batch->tenants, &wanted.node);
	if (batch->last != NULL)
		return batch->last;

	caller = MemoryContextSwitchTo(batch->context);
	memset(&wanted, 0, sizeof(wanted));
	wanted.keys = palloc(Max(upkeep->attachment.nkeys, 1) * sizeof(Datum));
	for (int i = 0; i < upkeep->attachment.nkeys; i++)
		wanted.keys[i] = datumCopy(batch->keys[i],
								   upkeep->columns.keys[i].typbyval,
								   upkeep->columns.keys[i].typlen);
	MemoryContextSwitchTo(caller);
	batch->last = (Tenant *) rbt_insert(batch->tenants, &wanted.node,
										&is_new);
	return batch->last;
}

/*
 * collect
 *		Note the row in batch->keys and batch->values as added or removed.
 *
 * A row with a NULL in its key belongs to no filter.  A NULL value is in none;
 * a record is a value whatever its fields are.  Of a part that is being
 * detached nothing is removed.
 */
static void
collect(Batch *batch, bool is_added)
{
	const Upkeep *const upkeep = batch->upkeep;
	MemoryContext caller;
	Datum		value;
	uint64		hash;
	Tenant	   *tenant;

	if (upkeep->is_leaving && !is_added)
		return;
	for (int i = 0; i < upkeep->attachment.nkeys; i++)
	{
		if (batch->key_nulls[i])
			return;
	}

	if (upkeep->columns.value_desc == NULL)
	{
		if (batch->value_nulls[0])
			return;
		hash = cuckoo_hash_value(upkeep->key, batch->values[0],
								 upkeep->parameters.seed);
	}
	else
	{
		caller = MemoryContextSwitchTo(batch->row_context);
		value = HeapTupleGetDatum(heap_form_tuple(upkeep->columns.value_desc,
												  batch->values,
												  batch->value_nulls));
		hash = cuckoo_hash_value(upkeep->key, value, upkeep->parameters.seed);
		MemoryContextSwitchTo(caller);
	}

	/* comparing keys may leave detoasted copies behind */
	caller = MemoryContextSwitchTo(batch->row_context);
	tenant = tenant_of_row(batch);
	MemoryContextSwitchTo(caller);
	append_hash(batch->context, is_added ? &tenant->added : &tenant->removed,
				hash);
	if (!MemoryContextIsEmpty(batch->row_context))
		MemoryContextReset(batch->row_context);
}

/* Note the row in a slot. */
static void
collect_slot(Batch *batch, TupleTableSlot *slot, bool is_added)
{
	const Upkeep *const upkeep = batch->upkeep;

	for (int i = 0; i < upkeep->attachment.nkeys; i++)
		batch->keys[i] = slot_getattr(slot,
									  upkeep->columns.keys[i].source_attnum,
									  &batch->key_nulls[i]);
	for (int i = 0; i < upkeep->attachment.nvalues; i++)
		batch->values[i] = slot_getattr(slot, upkeep->columns.values[i],
										&batch->value_nulls[i]);
	collect(batch, is_added);
}

/*
 * attribute_is_same
 *		Is a column the same, to the byte, in two rows?
 *
 * What is out of line is the same if it is the same pointer.
 */
static bool
attribute_is_same(TupleTableSlot *a, TupleTableSlot *b, AttrNumber attnum)
{
	const Form_pg_attribute attribute =
		TupleDescAttr(a->tts_tupleDescriptor, attnum - 1);
	bool		a_isnull;
	bool		b_isnull;
	const Datum a_value = slot_getattr(a, attnum, &a_isnull);
	const Datum b_value = slot_getattr(b, attnum, &b_isnull);

	if (a_isnull || b_isnull)
		return a_isnull && b_isnull;
	return datumIsEqual(a_value, b_value, attribute->attbyval,
						attribute->attlen);
}

static bool
row_is_same(const Upkeep *upkeep, TupleTableSlot *a, TupleTableSlot *b)
{
	for (int i = 0; i < upkeep->attachment.nvalues; i++)
	{
		if (!attribute_is_same(a, b, upkeep->columns.values[i]))
			return false;
	}
	for (int i = 0; i < upkeep->attachment.nkeys; i++)
	{
		if (!attribute_is_same(a, b, upkeep->columns.keys[i].source_attnum))
			return false;
	}
	return true;
}

/* A slot for the rows of a transition table, and the table at its start. */
static TupleTableSlot *
start_reading(Tuplestorestate *table, TupleDesc desc, int *pointer)
{
	*pointer = tuplestore_alloc_read_pointer(table, EXEC_FLAG_REWIND);
	tuplestore_select_read_pointer(table, *pointer);
	tuplestore_rescan(table);
	return MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

static bool
read_row(Tuplestorestate *table, int pointer, TupleTableSlot *slot)
{
	if (slot == NULL)
		return false;
	tuplestore_select_read_pointer(table, pointer);
	return tuplestore_gettupleslot(table, true, false, slot);
}

/*
 * collect_transition
 *		Note all rows that a statement has removed and added.
 *
 * An UPDATE writes old and new rows in the same order, as a rule: rows whose
 * key and value stayed as they are are passed over two at a time.  Where that
 * is not so, they cancel each other out later.
 */
static void
collect_transition(Batch *batch, TriggerData *trigdata)
{
	const TupleDesc desc = RelationGetDescr(trigdata->tg_relation);
	Tuplestorestate *const old_table = trigdata->tg_oldtable;
	Tuplestorestate *const new_table = trigdata->tg_newtable;
	TupleTableSlot *old_slot = NULL;
	TupleTableSlot *new_slot = NULL;
	int			old_pointer = 0;
	int			new_pointer = 0;

	if (old_table != NULL)
		old_slot = start_reading(old_table, desc, &old_pointer);
	if (new_table != NULL)
		new_slot = start_reading(new_table, desc, &new_pointer);

	for (;;)
	{
		const bool	has_old = read_row(old_table, old_pointer, old_slot);
		const bool	has_new = read_row(new_table, new_pointer, new_slot);

		CHECK_FOR_INTERRUPTS();
		if (!has_old && !has_new)
			break;
		if (has_old && has_new &&
			row_is_same(batch->upkeep, old_slot, new_slot))
			continue;
		if (has_old)
			collect_slot(batch, old_slot, false);
		if (has_new)
			collect_slot(batch, new_slot, true);
	}

	if (old_slot != NULL)
		ExecDropSingleTupleTableSlot(old_slot);
	if (new_slot != NULL)
		ExecDropSingleTupleTableSlot(new_slot);
}

static int
compare_hashes(const void *a, const void *b, void *unused)
{
	const uint64 left = *(const uint64 *) a;
	const uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right ? 1 : 0;
}

/*
 * cancel_out
 *		Forget hashes that were both removed and added, as often as both.
 */
static void
cancel_out(Hashes *removed, Hashes *added)
{
	size_t		nremoved = 0;
	size_t		nadded = 0;
	size_t		i = 0;
	size_t		j = 0;

	if (removed->nhashes == 0 || added->nhashes == 0)
		return;

	qsort_interruptible(removed->hashes, removed->nhashes, sizeof(uint64),
						compare_hashes, NULL);
	qsort_interruptible(added->hashes, added->nhashes, sizeof(uint64),
						compare_hashes, NULL);
	while (i < removed->nhashes || j < added->nhashes)
	{
		if (i < removed->nhashes && j < added->nhashes &&
			removed->hashes[i] == added->hashes[j])
		{
			i++;
			j++;
		}
		else if (j == added->nhashes ||
				 (i < removed->nhashes &&
				  removed->hashes[i] < added->hashes[j]))
			removed->hashes[nremoved++] = removed->hashes[i++];
		else
			added->hashes[nadded++] = added->hashes[j++];
	}
	removed->nhashes = nremoved;
	added->nhashes = nadded;
}

/*
 * prepare
 *		Plan a statement, to be kept.
 *
 * Its parameters are the key and the changes.  The plan is made once: a custom
 * plan could not be better, the key being unique.  A key is no value of the
 * target's domain before it is stored, and checked.
 */
static SPIPlanPtr
prepare(const Upkeep *upkeep, const char *sql)
{
	const int	nkeys = upkeep->attachment.nkeys;
	Oid		   *const types = palloc((nkeys + 1) * sizeof(Oid));
	SPIPlanPtr	plan;

	for (int i = 0; i < nkeys; i++)
		types[i] = getBaseType(upkeep->columns.keys[i].target_type);
	types[nkeys] = BYTEAOID;
	plan = SPI_prepare_cursor(sql, nkeys + 1, types, CURSOR_OPT_GENERIC_PLAN);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	if (SPI_keepplan(plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	return plan;
}

/* That a row t of the target is that of a tenant, after a keyword. */
static void
append_tenant_condition(StringInfo sql, const char *keyword,
						const Upkeep *upkeep)
{
	const CuckooAttachment *const attachment = &upkeep->attachment;

	for (int i = 0; i < attachment->nkeys; i++)
	{
		const CuckooKeyColumn *const key = &upkeep->columns.keys[i];
		Oid			type = key->target_type;
		char	   *column;
		char		parameter[16];

		appendStringInfo(sql, " %s ", i == 0 ? keyword : "AND");
		snprintf(parameter, sizeof(parameter), "$%d", i + 1);
		column = cuckoo_operand_sql(psprintf("t.%s", quote_identifier(attachment->target_keys[i])),
									&type);
		generate_operator_clause(sql, column, type, key->equality,
								 parameter, type);
	}
}

/* SELECT FOR UPDATE of the row of a tenant. */
static SPIPlanPtr
prepare_lock(const Upkeep *upkeep)
{
	Relation	target = table_open(upkeep->target, NoLock);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT FROM %s%s AS t", cuckoo_only_sql(target),
					 cuckoo_relation_sql(upkeep->target));
	append_tenant_condition(&sql, "WHERE", upkeep);
	appendStringInfoString(&sql, " FOR NO KEY UPDATE OF t");
	table_close(target, NoLock);
	return prepare(upkeep, sql.data);
}

/*
 * UPDATE of the filter of a tenant.
 *
 * Returns whether the row has the key still, which a trigger of the target may
 * change.
 */
static SPIPlanPtr
prepare_update(const Upkeep *upkeep)
{
	const CuckooAttachment *const attachment = &upkeep->attachment;
	Relation	target = table_open(upkeep->target, NoLock);
	const char *const filter = quote_identifier(attachment->filter);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "UPDATE %s%s AS t SET %s = %s(t.%s, $%d)",
					 cuckoo_only_sql(target),
					 cuckoo_relation_sql(upkeep->target), filter,
					 upkeep->apply, filter, attachment->nkeys + 1);
	append_tenant_condition(&sql, "WHERE", upkeep);
	append_tenant_condition(&sql, "RETURNING", upkeep);
	if (attachment->nkeys == 0)
		appendStringInfoString(&sql, " RETURNING true");
	table_close(target, NoLock);
	return prepare(upkeep, sql.data);
}

/*
 * INSERT of the first filter of a tenant.  Somebody else may insert it first:
 * then that one is changed.
 *
 * The conflict can be one of another unique index of the same columns, with
 * the row of another key.  That row is none to change.
 *
 * Returns whether the row has got the key.
 */
static SPIPlanPtr
prepare_insert(const Upkeep *upkeep)
{
	const CuckooAttachment *const attachment = &upkeep->attachment;
	const char *const filter = quote_identifier(attachment->filter);
	StringInfoData columns;
	StringInfoData sql;

	initStringInfo(&columns);
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&columns, "%s%s", i == 0 ? "" : ", ",
						 quote_identifier(attachment->target_keys[i]));
	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s AS t (%s, %s) OVERRIDING SYSTEM VALUE VALUES (",
					 cuckoo_relation_sql(upkeep->target), columns.data,
					 filter);
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&sql, "$%d, ", i + 1);
	appendStringInfo(&sql, "%s(NULL, $%d)) ON CONFLICT (%s) DO UPDATE SET %s = %s(t.%s, $%d)",
					 upkeep->apply, attachment->nkeys + 1, columns.data,
					 filter, upkeep->apply, filter, attachment->nkeys + 1);
	append_tenant_condition(&sql, "WHERE", upkeep);
	append_tenant_condition(&sql, "RETURNING", upkeep);
	return prepare(upkeep, sql.data);
}

/*
 * execute
 *		Run one of the plans; returns the number of rows it changed: none if
 *		a rule has made something else of it.
 *
 * What returns something says of each row whether it is the tenant's.
 */
static uint64
execute(const Upkeep *upkeep, SPIPlanPtr plan, Datum *values, int expected)
{
	const int	result = SPI_execute_plan(plan, values, NULL, false, 0);

	if (result == SPI_OK_REWRITTEN)
		return 0;
	if (result != expected)
		elog(ERROR, "SPI_execute_plan returned %s",
			 SPI_result_code_string(result));
	for (uint64 row = 0; expected != SPI_OK_SELECT && row < SPI_processed;
		 row++)
	{
		bool		isnull;
		const Datum is_right = SPI_getbinval(SPI_tuptable->vals[row],
											 SPI_tuptable->tupdesc, 1,
											 &isnull);

		if (isnull || !DatumGetBool(is_right))
			cuckoo_not_stored_error(upkeep->target);
	}
	SPI_freetuptable(SPI_tuptable);
	return SPI_processed;
}

/*
 * apply_changes
 *		Change the filter of a tenant, or make one.
 *
 * A tenant without a filter from which values are only removed gets none: it
 * has been removed itself.
 */
static void
apply_changes(Upkeep *upkeep, const Tenant *tenant, const ChangesHeader *header)
{
	const CuckooAttachment *const attachment = &upkeep->attachment;
	const size_t hashes_bytes =
		(size_t) (header->nremoved + header->nadded) * sizeof(uint64);
	const size_t bytes = VARHDRSZ + sizeof(*header) + hashes_bytes;
	bytea	   *const changes = palloc(bytes);
	Datum	   *const values = palloc((attachment->nkeys + 1) * sizeof(Datum));
	char	   *to = VARDATA(changes);
	uint64		nrows;

	SET_VARSIZE(changes, bytes);
	memcpy(to, header, sizeof(*header));
	to += sizeof(*header);
	if (header->nremoved > 0)
		memcpy(to, tenant->removed.hashes, header->nremoved * sizeof(uint64));
	to += header->nremoved * sizeof(uint64);
	if (header->nadded > 0)
		memcpy(to, tenant->added.hashes, header->nadded * sizeof(uint64));

	memcpy(values, tenant->keys, attachment->nkeys * sizeof(Datum));
	values[attachment->nkeys] = PointerGetDatum(changes);

	/*
	 * An old snapshot may show a filter as it was before it was rebuilt with
	 * other parameters.  Applying the changes to that one could fail in ways
	 * that make no sense; finding out first that it is old is what counts.
	 */
	if (IsolationUsesXactSnapshot())
	{
		if (upkeep->lock == NULL)
			upkeep->lock = prepare_lock(upkeep);
		execute(upkeep, upkeep->lock, values, SPI_OK_SELECT);
	}
	if (upkeep->update == NULL)
		upkeep->update = prepare_update(upkeep);
	nrows = execute(upkeep, upkeep->update, values, SPI_OK_UPDATE_RETURNING);

	if (attachment->nkeys == 0 &&
		(nrows > 1 || (nrows == 0 && header->nadded > 0)))
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("table %s must have one row, with the filter of all rows of table %s",
						cuckoo_relation_sql(upkeep->target),
						cuckoo_relation_sql(upkeep->root)),
				 errdetail("It has %s.",
						   nrows == 0 ? "none" : "more"),
				 errhint("See that it has one or none, then use cf_rebuild().")));

	if (nrows == 0 && header->nadded > 0)
	{
		if (upkeep->insert == NULL)
			upkeep->insert = prepare_insert(upkeep);
		if (execute(upkeep, upkeep->insert, values,
					SPI_OK_INSERT_RETURNING) == 0)
			cuckoo_not_stored_error(upkeep->target);
	}
	pfree(changes);
	pfree(values);
}

/*
 * apply_batch
 *		Change the filters of all tenants of a batch, in the order of their
 *		keys.
 *
 * Called with the owner's rights and connected to SPI.
 */
static void
apply_batch(Batch *batch)
{
	Upkeep	   *const upkeep = batch->upkeep;
	ChangesHeader header = {0};
	RBTreeIterator iterator;
	Tenant	   *tenant;

	header.capacity = upkeep->attachment.capacity;
	header.fpr = upkeep->attachment.fpr;
	header.max_copies = upkeep->attachment.max_copies;
	header.seed = upkeep->attachment.seed;
	header.family = cuckoo_hasher_family(upkeep->key);

	rbt_begin_iterate(batch->tenants, LeftRightWalk, &iterator);
	while ((tenant = (Tenant *) rbt_iterate(&iterator)) != NULL)
	{
		cancel_out(&tenant->removed, &tenant->added);
		while (tenant->removed.nhashes > 0 || tenant->added.nhashes > 0)
		{
			header.nremoved = Min(tenant->removed.nhashes, MAX_BATCH_HASHES);
			header.nadded = Min(tenant->added.nhashes,
								MAX_BATCH_HASHES - header.nremoved);
			apply_changes(upkeep, tenant, &header);
			tenant->removed.hashes += header.nremoved;
			tenant->removed.nhashes -= header.nremoved;
			tenant->added.hashes += header.nadded;
			tenant->added.nhashes -= header.nadded;
		}
	}
}

/*
 * reset_filters
 *		Make all filters empty that are not.
 */
static void
reset_filters(const Upkeep *upkeep, Oid function)
{
	const char *const filter = quote_identifier(upkeep->attachment.filter);
	Relation	target = table_open(upkeep->target, NoLock);

	cuckoo_run_sql(psprintf("UPDATE %s%s AS t SET %s = %s(%s) WHERE %s(t.%s) OPERATOR(pg_catalog.>) 0",
							cuckoo_only_sql(target),
							cuckoo_relation_sql(upkeep->target), filter,
							cuckoo_function_sql(function, "cf_new"),
							cuckoo_parameters_sql(&upkeep->attachment),
							cuckoo_function_sql(function, "cf_count"), filter),
				   SPI_OK_UPDATE);
	table_close(target, NoLock);
}

/* Is there a filter to remove anything from? */
static bool
any_filter_holds(const Upkeep *upkeep, Oid function)
{
	return cuckoo_run_sql(psprintf("SELECT FROM %s AS t WHERE %s(t.%s) OPERATOR(pg_catalog.>) 0 LIMIT 1",
								   cuckoo_relation_sql(upkeep->target),
								   cuckoo_function_sql(function, "cf_count"),
								   quote_identifier(upkeep->attachment.filter)),
						  SPI_OK_SELECT) > 0;
}

/*
 * collect_table
 *		Note all rows of a part as removed.
 *
 * Those are rows of now, not of the transaction's snapshot: one that was moved
 * to another part since then is not going to be truncated, and may not have
 * changed its filter.  The table is locked, so the rows of now are all.
 */
static void
collect_table(Batch *batch, Relation source)
{
	const CuckooAttachment *const attachment = &batch->upkeep->attachment;
	StringInfoData sql;
	SPIPlanPtr	plan;
	Portal		portal;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT ");
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&sql, "s.%s, ", quote_identifier(attachment->keys[i]));
	for (int i = 0; i < attachment->nvalues; i++)
		appendStringInfo(&sql, "%ss.%s", i == 0 ? "" : ", ",
						 quote_identifier(attachment->values[i]));
	appendStringInfo(&sql, " FROM ONLY %s AS s",
					 cuckoo_relation_sql(RelationGetRelid(source)));

	plan = SPI_prepare(sql.data, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	for (;;)
	{
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		for (uint64 row = 0; row < SPI_processed; row++)
		{
			const HeapTuple tuple = SPI_tuptable->vals[row];
			const TupleDesc desc = SPI_tuptable->tupdesc;
			int			column = 0;

			CHECK_FOR_INTERRUPTS();
			for (int i = 0; i < attachment->nkeys; i++)
				batch->keys[i] = SPI_getbinval(tuple, desc, ++column,
											   &batch->key_nulls[i]);
			for (int i = 0; i < attachment->nvalues; i++)
				batch->values[i] = SPI_getbinval(tuple, desc, ++column,
												 &batch->value_nulls[i]);
			collect(batch, false);
		}
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	PopActiveSnapshot();
}

/*
 * before_truncate
 *		A table is about to be truncated.
 *
 * A source that is no parent loses all rows.  So does a partitioned one, and
 * its partitions fire after it and find nothing left to do.  A partition or
 * child that is truncated by itself has its rows removed one by one; so has a
 * parent of children, which may keep theirs.
 */
static void
before_truncate(Batch *batch, TriggerData *trigdata, Oid function)
{
	Upkeep	   *const upkeep = batch->upkeep;
	const Relation source = trigdata->tg_relation;
	const bool	is_all = !upkeep->attachment.is_part &&
		(source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		 !has_subclass(RelationGetRelid(source)));
	Oid			user;
	int			context;

	SPI_connect();
	become_owner(upkeep->target, &user, &context);
	if (is_all)
		reset_filters(upkeep, function);
	else if (any_filter_holds(upkeep, function))
	{
		SetUserIdAndSecContext(user, context);
		become_owner(RelationGetRelid(source), &user, &context);
		collect_table(batch, source);
		SetUserIdAndSecContext(user, context);
		become_owner(upkeep->target, &user, &context);
		apply_batch(batch);
	}
	SetUserIdAndSecContext(user, context);
	SPI_finish();
}

/*
 * follow
 *		Do what a statement has done to the source to its filters.
 */
static void
follow(Upkeep *upkeep, TriggerData *trigdata, Oid function)
{
	Batch		batch;
	Oid			user;
	int			context;

	if (!upkeep->is_followed)
		return;

	cuckoo_require_target_rights(trigdata->tg_relation, upkeep->target);

	start_batch(&batch, upkeep);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigdata->tg_event))
		before_truncate(&batch, trigdata, function);
	else
	{
		collect_transition(&batch, trigdata);
		SPI_connect();
		become_owner(upkeep->target, &user, &context);
		apply_batch(&batch);
		SetUserIdAndSecContext(user, context);
		SPI_finish();
	}
	end_batch(&batch);
}

/*
 * require_trigger
 *		Refuse to be called in any other way than cf_attach() arranges for.
 */
static void
require_trigger(FunctionCallInfo fcinfo)
{
	const TriggerData *const trigdata = (TriggerData *) fcinfo->context;
	bool		is_right;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"cf_upkeep")));

	is_right = TRIGGER_FIRED_FOR_STATEMENT(trigdata->tg_event);
	if (TRIGGER_FIRED_BY_TRUNCATE(trigdata->tg_event))
		is_right = is_right && TRIGGER_FIRED_BEFORE(trigdata->tg_event);
	else
		is_right = is_right && TRIGGER_FIRED_AFTER(trigdata->tg_event) &&
			(TRIGGER_FIRED_BY_INSERT(trigdata->tg_event) ||
			 trigdata->tg_oldtable != NULL) &&
			(TRIGGER_FIRED_BY_DELETE(trigdata->tg_event) ||
			 trigdata->tg_newtable != NULL);
	if (!is_right)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" cannot keep filters in step with table \"%s\"",
						trigdata->tg_trigger->tgname,
						RelationGetRelationName(trigdata->tg_relation)),
				 errdetail("cf_upkeep() must be called once for each statement, before TRUNCATE or after INSERT, UPDATE or DELETE with transition tables for old and new rows."),
				 errhint("Let cf_attach() make the triggers.")));
}

/*
 * cf_upkeep()
 *		Trigger: keep the filters of a table in step with this one.
 */
Datum
cf_upkeep(PG_FUNCTION_ARGS)
{
	TriggerData *const trigdata = (TriggerData *) fcinfo->context;
	Upkeep	   *upkeep;

	require_trigger(fcinfo);

	/* a statement that did nothing */
	if (!TRIGGER_FIRED_BY_TRUNCATE(trigdata->tg_event) &&
		(trigdata->tg_oldtable == NULL ||
		 tuplestore_tuple_count(trigdata->tg_oldtable) == 0) &&
		(trigdata->tg_newtable == NULL ||
		 tuplestore_tuple_count(trigdata->tg_newtable) == 0))
		return PointerGetDatum(NULL);

	upkeep = open_upkeep(trigdata, fcinfo->flinfo->fn_oid);
	PG_TRY();
	{
		follow(upkeep, trigdata, fcinfo->flinfo->fn_oid);
	}
	PG_FINALLY();
	{
		close_upkeep(upkeep);
	}
	PG_END_TRY();
	return PointerGetDatum(NULL);
}

/*
 * read_changes
 *		Check what cf_upkeep_apply() is given; returns where its hashes are.
 *
 * It comes from apply_changes(), but anybody can call the function.
 */
static const char *
read_changes(const bytea *bytes, ChangesHeader *header,
			 CuckooParameters *parameters)
{
	const size_t size = VARSIZE_ANY_EXHDR(bytes);
	uint64		nhashes;

	if (size < sizeof(*header))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid changes of a cuckoo filter")));
	memcpy(header, VARDATA_ANY(bytes), sizeof(*header));
	nhashes = (size - sizeof(*header)) / sizeof(uint64);
	if ((size - sizeof(*header)) % sizeof(uint64) != 0 ||
		header->nremoved > nhashes ||
		header->nadded != nhashes - header->nremoved ||
		header->family <= CUCKOO_FAMILY_NONE ||
		header->family > CUCKOO_FAMILY_LAST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid changes of a cuckoo filter")));
	cuckoo_parameters_check(parameters, header->capacity, header->fpr,
							header->max_copies, header->seed);
	return (const char *) VARDATA_ANY(bytes) + sizeof(*header);
}

/*
 * cf_upkeep_apply(filter, changes bytea)
 *		The filter with the changes of a statement.
 *
 * Not STRICT: where there is no filter, one is made as the changes say.
 * Nothing is removed from a filter that cannot tell what that would do to
 * other values: it keeps what it need not keep.
 */
Datum
cf_upkeep_apply(PG_FUNCTION_ARGS)
{
	ChangesHeader header;
	CuckooParameters parameters;
	CuckooFilter filter;
	const char *hashes;
	uint64		hash;
	bool		is_changed = PG_ARGISNULL(0);
	bool		is_removable;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("changes of a cuckoo filter must not be null")));
	hashes = read_changes(PG_GETARG_BYTEA_PP(1), &header, &parameters);

	if (PG_ARGISNULL(0))
		cuckoo_parameters_new_filter(&filter, &parameters);
	else
		cuckoo_datum_open_copy(&filter, PG_GETARG_DATUM(0));
	if (filter.seed != parameters.seed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cuckoo filter has another seed than its table was attached with"),
				 errdetail("It has seed %lld, and should have %lld.",
						   (long long) filter.seed,
						   (long long) parameters.seed),
				 errhint("Use cf_rebuild().")));
	if (filter.family != header.family)
	{
		if (filter.family != CUCKOO_FAMILY_NONE)
			cuckoo_error_family(filter.family, header.family,
								header.nadded > 0 ? CUCKOO_USE_ADD :
								CUCKOO_USE_REMOVE);
		filter.family = header.family;
		is_changed = true;
	}

	is_removable = !filter.is_merged && filter.max_copies > 1;
	for (uint64 i = 0; i < header.nremoved + header.nadded; i++)
	{
		CuckooStatus status;

		memcpy(&hash, hashes + i * sizeof(hash), sizeof(hash));
		if (i < header.nremoved)
			status = is_removable ? cuckoo_filter_remove(&filter, hash) :
				CUCKOO_SATURATED;
		else
		{
			status = cuckoo_filter_add(&filter, hash, &cuckoo_host);
			if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
				cuckoo_error_add(status, &filter);
		}
		if (status == CUCKOO_OK)
			is_changed = true;
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
	}

	if (!is_changed)
	{
		cuckoo_filter_release(&filter, &cuckoo_host);
		return PG_GETARG_DATUM(0);
	}
	PG_RETURN_CUCKOOFILTER_P(&filter);
}
