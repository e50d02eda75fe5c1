/*-------------------------------------------------------------------------
 *
 * cuckoo_followable.c
 *		Which tables filters can follow, and where they can be kept.
 *
 * A trigger knows what the server tells it.  What is refused here is what the
 * server would not tell, or would tell wrong, or what others could make wrong
 * later: a filter that lacks a value is worse than none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "commands/tablecmds.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cuckoo_upkeep.h"

static void
require_owner(Oid relation)
{
	if (!cuckoo_owns_table(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   get_rel_name(relation));
}

/*
 * require_whole
 *		Refuse a source that is also written to through a table above it.
 *
 * What a statement on a parent does to its partitions and children is told to
 * the triggers of the parent alone.
 */
static void
require_whole(List *relations)
{
	ListCell   *cell;
	ListCell   *other;
	bool		is_leaving = false;

	foreach(cell, relations)
	{
		foreach(other, cuckoo_parents_of(lfirst_oid(cell), &is_leaving))
		{
			if (!list_member_oid(relations, lfirst_oid(other)))
				ereport(ERROR,
						(errcode(ERRCODE_WRONG_OBJECT_TYPE),
						 errmsg("filters cannot follow table %s without table %s",
								cuckoo_relation_sql(lfirst_oid(cell)),
								cuckoo_relation_sql(lfirst_oid(other))),
						 errdetail("Table %s is a partition or child of table %s, and triggers do not fire for what is written through that one.",
								   cuckoo_relation_sql(lfirst_oid(cell)),
								   cuckoo_relation_sql(lfirst_oid(other))),
						 errhint("Let filters follow the table at the top.")));
		}
	}
}

/*
 * cuckoo_lock_source
 *		Keep writers out of a source and all its partitions and children.
 *
 * Returns their OIDs, the source's first.  In a transaction that keeps its
 * first snapshot it would be of no use: that may be older than the lock.  Nor
 * would it in the middle of a statement on one of the tables: the filters would
 * have what that has done, and then its triggers would do it again.
 */
List *
cuckoo_lock_source(Oid source)
{
	List	   *relations;
	ListCell   *cell;

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters can be built at isolation level READ COMMITTED only"),
				 errdetail("This transaction does not see what others have committed while it waited for its lock.")));

	require_owner(source);
	/* find_all_inheritors() locks the others only */
	LockRelationOid(source, CUCKOO_UPKEEP_LOCK);
	relations = find_all_inheritors(source, CUCKOO_UPKEEP_LOCK, NULL);
	foreach(cell, relations)
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		/* its owner may have changed while we waited */
		require_owner(lfirst_oid(cell));
		CheckTableNotInUse(relation, "build filters of");
		if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP &&
			get_rel_persistence(source) != RELPERSISTENCE_TEMP)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("filters of table \"%s\" cannot follow its temporary child \"%s\"",
							get_rel_name(source),
							RelationGetRelationName(relation)),
					 errdetail("The rows of a temporary table are seen by one session only, and filters by all.")));
		table_close(relation, NoLock);
	}
	require_whole(relations);
	return relations;
}

/* Does a crash leave the rows of a table, or of one of several, alone? */
static bool
any_is_permanent(List *relations)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		if (get_rel_persistence(lfirst_oid(cell)) == RELPERSISTENCE_PERMANENT)
			return true;
	}
	return false;
}

/*
 * may_be_emptied
 *		Does a crash empty a target, or a partition of it?
 */
static bool
may_be_emptied(Relation target)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(RelationGetRelid(target), NoLock, NULL))
	{
		if (get_rel_persistence(lfirst_oid(cell)) != RELPERSISTENCE_PERMANENT)
			return true;
	}
	return false;
}

/* Are there rows of its own in a relation, or in partitions of it? */
bool
cuckoo_is_table(Oid relation)
{
	const char	kind = get_rel_relkind(relation);

	return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE;
}

/*
 * cuckoo_require_rights
 *		The owners of a source and of its parts must be allowed to keep filters.
 *
 * Else a part could not be written to by itself, and its triggers would not be
 * found to be there.
 */
void
cuckoo_require_rights(List *relations, Oid target)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		cuckoo_require_target_rights(relation, target);
		table_close(relation, NoLock);
	}
}

/*
 * cuckoo_require_followable
 *		Refuse sources that fire no triggers of ours, or not for all rows, and
 *		targets that their owners have no rights on or a crash can empty.
 */
void
cuckoo_require_followable(Relation source, List *relations, Relation target)
{
	const char	source_kind = source->rd_rel->relpersistence;
	const char	target_kind = target->rd_rel->relpersistence;
	ListCell   *cell;

	/* they may have changed while we waited for a lock */
	cuckoo_require_rights(relations, RelationGetRelid(target));
	foreach(cell, relations)
	{
		if (!cuckoo_is_table(lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is not a table",
							get_rel_name(lfirst_oid(cell))),
					 errdetail("Filters can follow tables and partitioned tables only, without foreign ones among their partitions.")));
		if (lfirst_oid(cell) == RelationGetRelid(target))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a table cannot have filters of itself")));
	}
	/* filters must not be gone while the table is still there */
	if ((source_kind == RELPERSISTENCE_TEMP) !=
		(target_kind == RELPERSISTENCE_TEMP) ||
		(any_is_permanent(relations) && may_be_emptied(target)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("filters must be kept as safely as table \"%s\"",
						RelationGetRelationName(source)),
				 errdetail("A table that is permanent, or has permanent partitions or children, needs a permanent table of filters, of permanent partitions; a temporary one needs a temporary one.")));
}

/* The followed columns: those of the values, then those of the key. */
static const char *
followed_column(const CuckooAttachment *attachment, int i)
{
	return i < attachment->nvalues ? attachment->values[i] :
		attachment->keys[i - attachment->nvalues];
}

/*
 * cuckoo_require_told
 *		Refuse generated columns of partitions.
 *
 * The relations are those below the source.  Without a lock one of them may
 * have been dropped.
 */
void
cuckoo_require_told(const CuckooAttachment *attachment, Relation source,
					List *relations)
{
	ListCell   *cell;

	if (source->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return;
	foreach(cell, relations)
	{
		const Oid	relation = lfirst_oid(cell);

		for (int i = 0; i < attachment->nvalues + attachment->nkeys; i++)
		{
			const char *const column = followed_column(attachment, i);
			const AttrNumber attnum = get_attnum(relation, column);

			if (attnum != InvalidAttrNumber &&
				get_attgenerated(relation, attnum) != '\0')
				cuckoo_generated_error(relation, column);
		}
	}
}

/* Does a column have a value in rows from before it was added? */
static bool
has_missing_value(Relation relation, AttrNumber attnum)
{
	return attnum != InvalidAttrNumber &&
		TupleDescAttr(RelationGetDescr(relation), attnum - 1)->atthasmissing;
}

/*
 * has_short_rows
 *		Are there rows from before a column was added?
 *
 * Called under a lock that keeps writers out.
 */
static bool
has_short_rows(Relation relation, AttrNumber attnum)
{
	TupleTableSlot *const slot = table_slot_create(relation, NULL);
	bool		is_found = false;
	Snapshot	snapshot;
	TableScanDesc scan;

	/* what the transaction has written itself is to be seen, too */
	CommandCounterIncrement();
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = table_beginscan_strat(relation, snapshot, 0, NULL, true, true);
	while (!is_found &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		is_copy;
		const HeapTuple tuple = ExecFetchSlotHeapTuple(slot, false, &is_copy);

		CHECK_FOR_INTERRUPTS();
		is_found = HeapTupleHeaderGetNatts(tuple->t_data) < attnum;
		if (is_copy)
			heap_freetuple(tuple);
	}
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	return is_found;
}

/*
 * cuckoo_require_full_rows
 *		Refuse rows that triggers of a table above would be told wrong.
 *
 * A row from before a column was added without a default does not hold it.  The
 * server hands such a row of a child to the triggers of its parent as it is,
 * where the column is read as what the parent's own old rows have in it.
 */
void
cuckoo_require_full_rows(const CuckooAttachment *attachment, List *relations)
{
	const int	ncolumns = attachment->nvalues + attachment->nkeys;
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, relations)
	{
		Relation	parent = table_open(lfirst_oid(cell), NoLock);
		List	   *below = NIL;

		for (int i = 0; i < ncolumns; i++)
		{
			const char *const column = followed_column(attachment, i);

			if (!has_missing_value(parent,
								   get_attnum(lfirst_oid(cell), column)))
				continue;
			if (below == NIL)
				below = find_all_inheritors(lfirst_oid(cell), NoLock, NULL);
			foreach(other, below)
			{
				Relation	child = table_open(lfirst_oid(other), NoLock);
				const AttrNumber attnum = get_attnum(lfirst_oid(other),
													 column);

				if (!has_missing_value(child, attnum) &&
					has_short_rows(child, attnum))
					ereport(ERROR,
							(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
							 errmsg("filters cannot follow column \"%s\" of child table \"%s\"",
									column, RelationGetRelationName(child)),
							 errdetail("The server would tell triggers of table \"%s\" that its rows from before the column was added hold the default.",
									   RelationGetRelationName(parent)),
							 errhint("Use VACUUM FULL to write the rows anew.")));
				table_close(child, NoLock);
			}
		}
		table_close(parent, NoLock);
	}
}
