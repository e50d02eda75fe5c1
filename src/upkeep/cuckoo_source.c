/*-------------------------------------------------------------------------
 *
 * cuckoo_source.c
 *		Which tables filters can follow, and where they can be kept.
 *
 * A trigger knows what the server tells it.  What is refused here is what the
 * server would not tell, or what others could make wrong later: a filter that
 * lacks a value is worse than none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_subscription_rel.h"
#include "commands/tablecmds.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_source.h"
#include "cuckoo_sql.h"

static void
source_require_owner(Oid relation)
{
	if (!cuckoo_owns_table(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   get_rel_name(relation));
}

/*
 * source_require_root
 *		Refuse a partition without the table above it.
 *
 * Statements on that one are not counted by triggers of the partition.
 */
static void
source_require_root(Relation source)
{
	if (source->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("filters cannot follow partition \"%s\" by itself",
						RelationGetRelationName(source)),
				 errhint("Let filters follow the table at the root.")));
	if (source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		return;
	if (has_subclass(RelationGetRelid(source)) &&
		find_inheritance_children(RelationGetRelid(source), NoLock) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot follow table \"%s\", which has children that inherit from it",
						RelationGetRelationName(source)),
				 errhint("Use a partitioned table.")));
	if (has_superclass(RelationGetRelid(source)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot follow table \"%s\", which inherits from another one",
						RelationGetRelationName(source)),
				 errhint("Use a partitioned table.")));
}

/*
 * source_require_local
 *		Refuse a table whose rows are elsewhere, where no trigger tells of them.
 */
static void
source_require_local(Relation source)
{
	const Oid	catalog = get_relname_relid("pg_dist_partition",
											PG_CATALOG_NAMESPACE);
	bool		is_distributed;

	if (!OidIsValid(catalog) ||
		get_attnum(catalog, "logicalrelid") == InvalidAttrNumber)
		return;
	SPI_connect();
	is_distributed =
		cuckoo_sql_run(psprintf("SELECT FROM pg_catalog.pg_dist_partition"
								" WHERE logicalrelid = %u::pg_catalog.oid",
								RelationGetRelid(source)), SPI_OK_SELECT) > 0;
	SPI_finish();
	if (is_distributed)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot follow distributed table \"%s\"",
						RelationGetRelationName(source)),
				 errdetail("Its rows are written on other nodes, where its triggers do not fire."),
				 errhint("Build filters from it with cf_hash_agg(), again and again.")));
}

/*
 * cuckoo_source_lock
 *		Keep writers out of a source and all its partitions.
 *
 * Returns their OIDs, the source's first.  In a transaction that keeps its
 * first snapshot it would be of no use: that may be older than the lock.  Nor
 * would it in the middle of a statement on one of the tables: the filters would
 * have what that has done, and then its triggers would do it again.
 */
List *
cuckoo_source_lock(Oid source)
{
	List	   *relations;
	ListCell   *cell;

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters can be built at isolation level READ COMMITTED only"),
				 errdetail("This transaction does not see what others have committed while it waited for its lock.")));

	source_require_owner(source);
	/* find_all_inheritors() locks the others only */
	LockRelationOid(source, CUCKOO_SOURCE_LOCK);
	relations = get_rel_relkind(source) == RELKIND_PARTITIONED_TABLE ?
		find_all_inheritors(source, CUCKOO_SOURCE_LOCK, NULL) :
		list_make1_oid(source);
	foreach(cell, relations)
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		/* its owner may have changed while we waited */
		source_require_owner(lfirst_oid(cell));
		CheckTableNotInUse(relation, "build filters of");
		table_close(relation, NoLock);
	}
	return relations;
}

/* Does a crash leave the rows of a table, or of one of several, alone? */
static bool
source_any_is_permanent(List *relations)
{
	ListCell   *cell;

	foreach(cell, relations)
	{
		if (get_rel_persistence(lfirst_oid(cell)) == RELPERSISTENCE_PERMANENT)
			return true;
	}
	return false;
}

/* Does a crash empty a target, or a partition of it? */
static bool
source_target_may_be_emptied(Relation target)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(RelationGetRelid(target), NoLock, NULL))
	{
		if (get_rel_persistence(lfirst_oid(cell)) != RELPERSISTENCE_PERMANENT)
			return true;
	}
	return false;
}

/*
 * cuckoo_source_require
 *		Refuse sources that fire no triggers of ours, or not for all rows, and
 *		targets that a crash can empty.
 */
void
cuckoo_source_require(Relation source, List *relations, Relation target)
{
	const char	source_kind = source->rd_rel->relpersistence;
	const char	target_kind = target->rd_rel->relpersistence;
	ListCell   *cell;

	source_require_root(source);
	source_require_local(source);
	cuckoo_source_require_rights(source, RelationGetRelid(target));
	foreach(cell, relations)
	{
		const char	kind = get_rel_relkind(lfirst_oid(cell));

		if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
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
		(source_any_is_permanent(relations) &&
		 source_target_may_be_emptied(target)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("filters must be kept as safely as table \"%s\"",
						RelationGetRelationName(source)),
				 errdetail("A table that is permanent, or has permanent partitions, needs a permanent table of filters, of permanent partitions; a temporary one needs a temporary one.")));
}

/*
 * cuckoo_source_require_rights
 *		The owner of a source must be allowed to do to the target what the
 *		triggers do, since they do it for everybody.
 */
void
cuckoo_source_require_rights(Relation source, Oid target)
{
	static const AclMode rights[] = {ACL_SELECT, ACL_INSERT, ACL_UPDATE};
	const Oid	owner = source->rd_rel->relowner;

	for (int i = 0; i < lengthof(rights); i++)
	{
		if (pg_class_aclcheck(target, owner, rights[i]) != ACLCHECK_OK)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for table %s",
							get_rel_name(target)),
					 errdetail("The owner of table \"%s\" needs the privileges SELECT, INSERT and UPDATE on it to keep its filters.",
							   RelationGetRelationName(source))));
	}
	cuckoo_source_require_no_policies(owner, target, RelationGetRelid(source));
}

/*
 * cuckoo_source_require_no_policies
 *		Row-level security of the target must not apply to the owner of the
 *		source, who changes its filters: none may be hidden from him.
 */
void
cuckoo_source_require_no_policies(Oid owner, Oid target, Oid source)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(target));
	bool		has_policies;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", target);
	has_policies = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	if (has_policies && !cuckoo_owns_table(target, owner) &&
		!has_bypassrls_privilege(owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s",
						get_rel_name(target)),
				 errdetail("Its row-level security applies to the owner of table \"%s\", who keeps its filters.",
						   get_rel_name(source)),
				 errhint("Let one role own both tables.")));
}

/*
 * cuckoo_source_warn_if_replicated
 *		Say what a table needs that gets its rows by logical replication.
 */
void
cuckoo_source_warn_if_replicated(Relation source)
{
	Relation	subscriptions = table_open(SubscriptionRelRelationId,
										   AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(subscriptions, 0, NULL);
	bool		is_replicated = false;
	HeapTuple	tuple;

	while (!is_replicated &&
		   (tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
		is_replicated =
			((Form_pg_subscription_rel) GETSTRUCT(tuple))->srrelid ==
			RelationGetRelid(source);
	table_endscan(scan);
	table_close(subscriptions, AccessShareLock);
	if (is_replicated)
		ereport(WARNING,
				(errmsg("table \"%s\" gets rows by logical replication, for which triggers do not fire",
						RelationGetRelationName(source)),
				 errhint("Replicate the table of filters, too, or use ALTER TABLE ... ENABLE ALWAYS TRIGGER for the triggers whose names end in cf_rows, cf_update and cf_truncate.")));
}
