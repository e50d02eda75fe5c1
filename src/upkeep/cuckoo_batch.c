/*-------------------------------------------------------------------------
 *
 * cuckoo_batch.c
 *		What the open statements of a transaction have done to a source.
 *
 * Rows are collected while a statement is open, and come in an order that may
 * have little to do with the one in which they were written: what a trigger of
 * a row does is told before the row itself, a nested statement before the one
 * around it.  So nothing is done before the last open statement ends, when
 * additions and removals of the same value have cancelled each other out.
 *
 * What a subtransaction has added is always at the end: if it fails, that is
 * cut off, along with the statements that it has begun.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cuckoo_batch.h"
#include "cuckoo_shard.h"

/* All batches of the session. */
static List *batch_all = NIL;

/* Is there a batch that the end of a transaction has to look at? */
static bool batch_any_used = false;

static void batch_at_end(XactEvent event, void *arg);
static void batch_at_subend(SubXactEvent event, SubTransactionId subid,
							SubTransactionId parent, void *arg);

void
cuckoo_batch_initialize(void)
{
	RegisterXactCallback(batch_at_end, NULL);
	RegisterSubXactCallback(batch_at_subend, NULL);
}

/* An empty batch, for the rest of the session. */
CuckooBatch *
cuckoo_batch_new(void)
{
	const MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
	CuckooBatch *batch = palloc0(sizeof(CuckooBatch));

	batch_all = lappend(batch_all, batch);
	MemoryContextSwitchTo(caller);
	return batch;
}

static void
batch_reset(CuckooBatch *batch)
{
	if (batch->context != NULL)
		MemoryContextDelete(batch->context);
	batch->context = NULL;
	batch->nentries = 0;
	batch->nopen = 0;
	batch->nmarks = 0;
}

/*
 * batch_at_end
 *		A transaction ends.
 *
 * Nothing is open or collected at its end, as far as we know: but if there is,
 * filters would lack values.  They cannot be changed any more here, since the
 * deferred triggers of their table have been fired.
 */
static void
batch_at_end(XactEvent event, void *arg)
{
	ListCell   *cell;

	if (!batch_any_used)
		return;
	foreach(cell, batch_all)
	{
		CuckooBatch *batch = lfirst(cell);

		if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		{
			if (batch->nopen > 0 || batch->nentries > 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
						 errmsg("a statement on a table that filters follow did not come to its end"),
						 errdetail("Its changes are not in the filters."),
						 errhint("Let such statements run to their end, without a limit on the rows that they return.")));
		}
		else if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
				 event == XACT_EVENT_PREPARE)
			batch_reset(batch);
	}
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		batch_any_used = false;
}

/*
 * batch_at_subend
 *		A subtransaction ends: what it has done is its parent's, or nothing.
 */
static void
batch_at_subend(SubXactEvent event, SubTransactionId subid,
				SubTransactionId parent, void *arg)
{
	ListCell   *cell;

	if (!batch_any_used ||
		(event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB))
		return;
	foreach(cell, batch_all)
	{
		CuckooBatch *batch = lfirst(cell);
		CuckooMark *mark;

		if (batch->nmarks == 0)
			continue;
		mark = &batch->marks[batch->nmarks - 1];
		if (mark->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_ABORT_SUB)
		{
			batch->nopen = mark->nopen;
			batch->nentries = mark->nentries;
			batch->nmarks--;
		}
		else if (batch->nmarks > 1 && mark[-1].subid == parent)
			batch->nmarks--;
		else
			mark->subid = parent;
	}
}

/* Remember where the current subtransaction begins, before it changes anything. */
static void
batch_mark(CuckooBatch *batch)
{
	const SubTransactionId subid = GetCurrentSubTransactionId();
	CuckooMark *mark;

	batch_any_used = true;
	if (batch->nmarks > 0 && batch->marks[batch->nmarks - 1].subid == subid)
		return;
	if (batch->nmarks == batch->marks_room)
	{
		batch->marks_room = Max(2 * batch->marks_room, 8);
		batch->marks = batch->marks == NULL ?
			MemoryContextAlloc(TopMemoryContext,
							   batch->marks_room * sizeof(CuckooMark)) :
			repalloc(batch->marks, batch->marks_room * sizeof(CuckooMark));
	}
	mark = &batch->marks[batch->nmarks++];
	mark->subid = subid;
	mark->nopen = batch->nopen;
	mark->nentries = batch->nentries;
}

/* A statement begins. */
void
cuckoo_batch_open(CuckooBatch *batch, const CuckooStatement *open)
{
	batch_mark(batch);
	if (batch->nopen == batch->opens_room)
	{
		batch->opens_room = Max(2 * batch->opens_room, 8);
		batch->opens = batch->opens == NULL ?
			MemoryContextAlloc(TopMemoryContext,
							   batch->opens_room * sizeof(CuckooStatement)) :
			repalloc(batch->opens, batch->opens_room * sizeof(CuckooStatement));
	}
	batch->opens[batch->nopen++] = *open;
}

/*
 * batch_is_same_statement
 *		Is this the end of that statement?
 *
 * A statement ends as many triggers deep as it has begun.  One that the trigger
 * of a foreign key runs is part of the statement that has fired it, ends with
 * that, one trigger less deep, and has the flag when it begins.  Statements
 * that triggers run within that one have the flag as long as they take.
 */
static bool
batch_is_same_statement(const CuckooStatement *open,
						const CuckooStatement *close)
{
	return open->relation == close->relation && open->event == close->event &&
		((open->depth == close->depth &&
		  open->is_flagged == close->is_flagged) ||
		 (open->depth == close->depth + 1 && open->is_flagged));
}

/*
 * cuckoo_batch_close
 *		A statement ends; returns whether it was the last one.
 *
 * One that has not begun is nothing unusual: a table that is changed twice by
 * one statement, once through a foreign key, is told of one beginning and two
 * ends.  It must not be taken for the end of the statement around it, whose
 * rows are still to come; least of all of one that has begun before the current
 * subtransaction: what that has collected would be flushed, and lost if the
 * subtransaction fails.
 */
bool
cuckoo_batch_close(CuckooBatch *batch, const CuckooStatement *close)
{
	int			first;

	batch_mark(batch);
	first = batch->marks[batch->nmarks - 1].nopen;
	for (int i = batch->nopen - 1; i >= first; i--)
	{
		if (batch_is_same_statement(&batch->opens[i], close))
		{
			memmove(&batch->opens[i], &batch->opens[i + 1],
					(batch->nopen - i - 1) * sizeof(CuckooStatement));
			return --batch->nopen == 0;
		}
	}
	return false;
}

/*
 * Rows
 */

static int
batch_compare_tenants(const RBTNode *a, const RBTNode *b, void *arg)
{
	const CuckooUpkeep *upkeep = ((CuckooBatch *) arg)->upkeep;
	const CuckooTenant *left = (const CuckooTenant *) a;
	const CuckooTenant *right = (const CuckooTenant *) b;

	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
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
batch_combine_tenants(RBTNode *existing, const RBTNode *newdata, void *arg)
{
	elog(ERROR, "key is in the batch already");
}

static RBTNode *
batch_alloc_tenant(void *arg)
{
	return MemoryContextAllocZero(((CuckooBatch *) arg)->context,
								  sizeof(CuckooTenant));
}

/* Make room for the first row. */
static void
batch_start(CuckooBatch *batch, const CuckooAttachment *attachment)
{
	MemoryContext caller;

	batch->context = AllocSetContextCreate(TopMemoryContext,
										   "cuckoo filter batch",
										   ALLOCSET_DEFAULT_SIZES);
	batch->row_context = AllocSetContextCreate(batch->context,
											   "cuckoo filter row",
											   ALLOCSET_SMALL_SIZES);
	caller = MemoryContextSwitchTo(batch->context);
	batch->tenants = rbt_create(sizeof(CuckooTenant), batch_compare_tenants,
								batch_combine_tenants, batch_alloc_tenant,
								NULL, batch);
	batch->ntenants = 0;
	batch->last = NULL;
	batch->entries = NULL;
	batch->nentries = 0;
	batch->room = 0;
	batch->keys = palloc(Max(attachment->ntarget_keys, 1) * sizeof(Datum));
	batch->key_nulls = palloc(Max(attachment->ntarget_keys, 1) * sizeof(bool));
	batch->values = palloc(attachment->nvalues * sizeof(Datum));
	batch->value_nulls = palloc(attachment->nvalues * sizeof(bool));
	MemoryContextSwitchTo(caller);
}

/*
 * batch_tenant_of_row
 *		The tenant of the key in batch->keys.
 */
static CuckooTenant *
batch_tenant_of_row(CuckooBatch *batch)
{
	const CuckooUpkeep *upkeep = batch->upkeep;
	CuckooTenant wanted;
	MemoryContext caller;
	bool		is_new;

	wanted.keys = batch->keys;
	if (batch->last != NULL &&
		batch_compare_tenants(&batch->last->node, &wanted.node, batch) == 0)
		return batch->last;

	batch->last = (CuckooTenant *) rbt_find(batch->tenants, &wanted.node);
	if (batch->last != NULL)
		return batch->last;

	caller = MemoryContextSwitchTo(batch->context);
	memset(&wanted, 0, sizeof(wanted));
	wanted.number = batch->ntenants++;
	wanted.keys = palloc(Max(upkeep->attachment.ntarget_keys, 1) *
						 sizeof(Datum));
	for (int i = 0; i < upkeep->attachment.ntarget_keys; i++)
		wanted.keys[i] = datumCopy(batch->keys[i],
								   upkeep->columns.keys[i].typbyval,
								   upkeep->columns.keys[i].typlen);
	MemoryContextSwitchTo(caller);
	batch->last = (CuckooTenant *) rbt_insert(batch->tenants, &wanted.node,
											  &is_new);
	return batch->last;
}

static void
batch_append(CuckooBatch *batch, uint64 hash, uint32 tenant, bool is_added)
{
	CuckooEntry *entry;

	if (batch->nentries == batch->room)
	{
		batch->room = Max(2 * batch->room, 16);
		batch->entries = batch->entries == NULL ?
			MemoryContextAlloc(batch->context,
							   batch->room * sizeof(CuckooEntry)) :
			repalloc_huge(batch->entries, batch->room * sizeof(CuckooEntry));
	}
	entry = &batch->entries[batch->nentries++];
	entry->hash = hash;
	entry->tenant = tenant;
	entry->is_added = is_added;
}

/*
 * batch_add
 *		Note the row in batch->keys and batch->values as added or removed.
 *
 * A row with a NULL in its key belongs to no filter.  A NULL value is in none;
 * a record is a value whatever its fields are.
 */
static void
batch_add(CuckooBatch *batch, bool is_added)
{
	const CuckooUpkeep *upkeep = batch->upkeep;
	const CuckooAttachment *attachment = &upkeep->attachment;
	Datum		value = batch->values[0];
	uint64		hash;

	for (int i = 0; i < attachment->nkeys; i++)
	{
		if (batch->key_nulls[i])
			return;
	}
	if (upkeep->columns.value_desc == NULL)
	{
		if (batch->value_nulls[0])
			return;
	}
	else
		value = HeapTupleGetDatum(heap_form_tuple(upkeep->columns.value_desc,
												  batch->values,
												  batch->value_nulls));
	hash = cuckoo_hash_value(upkeep->hasher, value, upkeep->parameters.seed);
	if (attachment->nshards > 0)
		batch->keys[attachment->nkeys] =
			Int32GetDatum(cuckoo_shard_of(upkeep->hasher, value,
										  attachment->nshards));
	batch_append(batch, hash, batch_tenant_of_row(batch)->number, is_added);
}

/*
 * cuckoo_batch_add_row
 *		Note the row in a slot as added or removed.
 */
void
cuckoo_batch_add_row(CuckooBatch *batch, const CuckooTrigger *trigger,
					 TupleTableSlot *slot, bool is_added)
{
	CuckooUpkeep *upkeep = trigger->upkeep;
	MemoryContext caller;

	batch_mark(batch);
	batch->upkeep = upkeep;
	if (batch->context == NULL)
		batch_start(batch, &upkeep->attachment);
	for (int i = 0; i < upkeep->attachment.nkeys; i++)
		batch->keys[i] = slot_getattr(slot, trigger->keys[i],
									  &batch->key_nulls[i]);
	for (int i = 0; i < upkeep->attachment.nvalues; i++)
		batch->values[i] = slot_getattr(slot, trigger->values[i],
										&batch->value_nulls[i]);

	/* comparing keys may leave detoasted copies behind */
	caller = MemoryContextSwitchTo(batch->row_context);
	batch_add(batch, is_added);
	MemoryContextSwitchTo(caller);
	if (!MemoryContextIsEmpty(batch->row_context))
		MemoryContextReset(batch->row_context);
}

/*
 * Flushing
 */

static int
batch_compare_hashes(const void *a, const void *b, void *unused)
{
	const uint64 left = *(const uint64 *) a;
	const uint64 right = *(const uint64 *) b;

	return left < right ? -1 : left > right ? 1 : 0;
}

/*
 * batch_cancel_out
 *		Forget hashes that were both removed and added, as often as both.
 */
static void
batch_cancel_out(CuckooTenant *tenant)
{
	uint64	   *removed = tenant->removed;
	uint64	   *added = tenant->added;
	size_t		nremoved = 0;
	size_t		nadded = 0;
	size_t		i = 0;
	size_t		j = 0;

	if (tenant->nremoved == 0 || tenant->nadded == 0)
		return;

	qsort_interruptible(removed, tenant->nremoved, sizeof(uint64),
						batch_compare_hashes, NULL);
	qsort_interruptible(added, tenant->nadded, sizeof(uint64),
						batch_compare_hashes, NULL);
	while (i < tenant->nremoved || j < tenant->nadded)
	{
		if (i < tenant->nremoved && j < tenant->nadded &&
			removed[i] == added[j])
		{
			i++;
			j++;
		}
		else if (j == tenant->nadded ||
				 (i < tenant->nremoved && removed[i] < added[j]))
			removed[nremoved++] = removed[i++];
		else
			added[nadded++] = added[j++];
	}
	tenant->nremoved = nremoved;
	tenant->nadded = nadded;
}

/*
 * batch_sort_out
 *		Give each tenant its entries.
 */
static void
batch_sort_out(CuckooBatch *batch)
{
	CuckooTenant **tenants =
		MemoryContextAllocHuge(batch->context,
							   batch->ntenants * sizeof(CuckooTenant *));
	uint64	   *hashes =
		MemoryContextAllocHuge(batch->context,
							   batch->nentries * sizeof(uint64));
	RBTreeIterator iterator;
	CuckooTenant *tenant;

	rbt_begin_iterate(batch->tenants, LeftRightWalk, &iterator);
	while ((tenant = (CuckooTenant *) rbt_iterate(&iterator)) != NULL)
	{
		tenant->nremoved = tenant->nadded = 0;
		tenants[tenant->number] = tenant;
	}
	for (size_t i = 0; i < batch->nentries; i++)
	{
		tenant = tenants[batch->entries[i].tenant];
		if (batch->entries[i].is_added)
			tenant->nadded++;
		else
			tenant->nremoved++;
	}
	for (uint32 i = 0; i < batch->ntenants; i++)
	{
		tenant = tenants[i];
		tenant->removed = hashes;
		tenant->added = hashes + tenant->nremoved;
		hashes += tenant->nremoved + tenant->nadded;
		tenant->nremoved = tenant->nadded = 0;
	}
	for (size_t i = 0; i < batch->nentries; i++)
	{
		const CuckooEntry *entry = &batch->entries[i];

		tenant = tenants[entry->tenant];
		if (entry->is_added)
			tenant->added[tenant->nadded++] = entry->hash;
		else
			tenant->removed[tenant->nremoved++] = entry->hash;
	}
	for (uint32 i = 0; i < batch->ntenants; i++)
		batch_cancel_out(tenants[i]);
}

/*
 * cuckoo_batch_take
 *		Take all that was collected out of a batch, sorted by tenants, since
 *		what is done with it may lead to more.  Returns false if there is none.
 *
 * Its context is one of the current memory context then.
 */
bool
cuckoo_batch_take(CuckooBatch *batch, CuckooBatch *taken)
{
	if (batch->nentries == 0)
		return false;
	*taken = *batch;
	batch->context = NULL;
	batch->nentries = 0;
	MemoryContextSetParent(taken->context, CurrentMemoryContext);
	batch_sort_out(taken);
	return true;
}
