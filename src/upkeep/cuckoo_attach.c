/*-------------------------------------------------------------------------
 *
 * cuckoo_attach.c
 *		cf_attach(), cf_detach() and cf_rebuild().
 *
 * The functions run with the rights of the caller, with a search_path of
 * pg_catalog alone and row_security off (see the SQL script): where rows would
 * be hidden they fail, rather than build filters of some.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_install.h"
#include "cuckoo_rebuild.h"
#include "cuckoo_source.h"
#include "cuckoo_sql.h"

PG_FUNCTION_INFO_V1(cf_attach);
PG_FUNCTION_INFO_V1(cf_detach);
PG_FUNCTION_INFO_V1(cf_rebuild);

/* Most shards of a key. */
#define ATTACH_MAX_SHARDS	65536

/* An argument that has to be there. */
static void
attach_require_argument(FunctionCallInfo fcinfo, int argno, const char *name)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 strcmp(name, "capacity") != 0 ? 0 :
				 errhint("Give the largest number of values that one key will have.")));
}

/* Parameters of filters that can be made, and as many shards as there may be. */
static void
attach_require_parameters(const CuckooAttachment *attachment)
{
	CuckooParameters checked;

	if (attachment->nshards < 0 || attachment->nshards > ATTACH_MAX_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be between 1 and %d",
						ATTACH_MAX_SHARDS),
				 errdetail("It is %d.", attachment->nshards)));
	cuckoo_parameters_check(&checked, cuckoo_attachment_share(attachment),
							attachment->fpr, attachment->max_copies,
							attachment->seed);
}

/* The key of the target: the names given, and the column of the shard. */
static void
attach_read_key(CuckooAttachment *attachment, FunctionCallInfo fcinfo)
{
	int			ntarget_keys;

	attachment->keys = cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(4), "key",
											   &attachment->nkeys);
	attachment->target_keys =
		cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(PG_ARGISNULL(9) ? 4 : 9),
								"target_key", &ntarget_keys);
	if (ntarget_keys != attachment->nkeys)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arguments \"key\" and \"target_key\" must name as many columns")));
	attachment->ntarget_keys = attachment->nkeys;
	if (!PG_ARGISNULL(10))
	{
		char	   *column = PG_ARGISNULL(11) ? pstrdup("shard") :
			text_to_cstring(PG_GETARG_TEXT_PP(11));

		attachment->nshards = PG_GETARG_INT32(10);
		if (attachment->nshards < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number of shards must be between 1 and %d",
							ATTACH_MAX_SHARDS),
					 errdetail("It is %d.", attachment->nshards)));
		attachment->target_keys[attachment->ntarget_keys++] = column;
	}
}

/* The arguments of cf_attach(). */
static void
attach_read(CuckooAttachment *attachment, FunctionCallInfo fcinfo)
{
	static const char *const required[] = {
		"source", "columns", "target", "filter", "key", "capacity"
	};

	for (int i = 0; i < lengthof(required); i++)
		attach_require_argument(fcinfo, i, required[i]);
	memset(attachment, 0, sizeof(*attachment));
	attachment->function =
		cuckoo_attachment_function(fcinfo->flinfo->fn_oid, "cf_upkeep");
	attachment->source = PG_GETARG_OID(0);
	attachment->target = PG_GETARG_OID(2);
	attachment->values = cuckoo_attachment_names(PG_GETARG_ARRAYTYPE_P(1),
												 "columns",
												 &attachment->nvalues);
	if (attachment->nvalues == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"columns\" must name a column")));
	attachment->filter = text_to_cstring(PG_GETARG_TEXT_PP(3));
	attach_read_key(attachment, fcinfo);
	attachment->capacity = PG_GETARG_FLOAT8(5);
	attachment->fpr = PG_ARGISNULL(6) ? CUCKOO_DEFAULT_FPR :
		PG_GETARG_FLOAT8(6);
	attachment->max_copies = PG_ARGISNULL(7) ? CUCKOO_DEFAULT_MAX_COPIES :
		PG_GETARG_INT32(7);
	attachment->seed = PG_ARGISNULL(8) ? CUCKOO_DEFAULT_SEED :
		PG_GETARG_INT64(8);
	attach_require_parameters(attachment);
}

/* A filter column follows one table. */
static void
attach_require_free(const CuckooAttachment *attachment, Relation target)
{
	CuckooAttachment other;

	if (cuckoo_attachment_find(&other, attachment->function, target,
							   attachment->filter))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of table %s already follows table %s",
						attachment->filter,
						cuckoo_sql_relation(attachment->target),
						cuckoo_sql_relation(other.source)),
				 errhint("Use cf_detach() first, or cf_rebuild() to build the filters anew.")));
}

/*
 * attach_require_types
 *		Refuse values that cannot be hashed, with the way to follow them.
 */
static void
attach_require_types(const CuckooColumns *columns)
{
	PG_TRY();
	{
		cuckoo_hasher_require_type(columns->value_type,
								   columns->value_collation,
								   columns->value_desc);
	}
	PG_CATCH();
	{
		errhint("Follow a stored generated column that has the value in another type, for example GENERATED ALWAYS AS (value::text) STORED.");
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * cf_attach(source, columns, target, filter, key, capacity, fpr, max_copies,
 *			 seed, target_key, shards, shard_column)
 *		Let a filter column follow a table.  Returns the number of filters.
 *
 * Not STRICT: NULL stands for the defaults.
 */
Datum
cf_attach(PG_FUNCTION_ARGS)
{
	CuckooAttachment attachment;
	CuckooColumns columns;
	List	   *relations;
	Relation	source;
	Relation	target;
	int64		nfilters;

	attach_read(&attachment, fcinfo);
	(void) cuckoo_sql_relation(attachment.target);
	(void) cuckoo_sql_relation(attachment.source);
	relations = cuckoo_source_lock(attachment.source);
	source = table_open(attachment.source, NoLock);

	/* first, or anybody could keep others from writing to any table */
	cuckoo_source_require_rights(source, attachment.target);
	target = table_open(attachment.target, CUCKOO_SOURCE_LOCK);
	cuckoo_source_require(source, relations, target);
	attach_require_free(&attachment, target);
	attachment.number = cuckoo_trigger_free_number(source,
												   attachment.function);
	cuckoo_columns_resolve(&columns, &attachment, source, target);
	attach_require_types(&columns);
	cuckoo_source_warn_if_replicated(source);

	SPI_connect();
	cuckoo_install(&attachment, relations, true);
	nfilters = cuckoo_rebuild(&attachment, &columns,
							  source->rd_rel->relowner);
	SPI_finish();
	table_close(target, NoLock);
	table_close(source, NoLock);
	PG_RETURN_INT64(nfilters);
}

/* Drop the triggers of one attachment, which the caller may own on either side. */
static int
attach_detach(Oid sibling, Oid source, Oid target, const char *filter)
{
	const Oid	user = GetUserId();

	if (!cuckoo_owns_table(target, user) &&
		!(OidIsValid(source) && cuckoo_owns_table(source, user)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   get_rel_name(OidIsValid(source) ? source : target));
	return cuckoo_uninstall(sibling, source, target, filter);
}

/*
 * attach_detach_source
 *		The same of all attachments of a source, or of those of one name.
 */
static int
attach_detach_source(Oid sibling, Oid source_oid, const char *filter)
{
	const Oid	function = cuckoo_attachment_function(sibling, "cf_upkeep");
	Relation	source = table_open(source_oid, AccessShareLock);
	const TriggerDesc *triggers = source->trigdesc;
	List	   *found = NIL;
	int			ndropped = 0;
	ListCell   *cell;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == function &&
			trigger->tgnargs == CUCKOO_ATTACHMENT_NARGS &&
			(filter == NULL || strcmp(trigger->tgargs[0], filter) == 0) &&
			get_rel_name(cuckoo_trigger_relation(trigger)) != NULL)
		{
			CuckooAttachment *attachment = palloc(sizeof(CuckooAttachment));

			cuckoo_attachment_read(attachment, source_oid,
								   cuckoo_trigger_relation(trigger), trigger);
			found = lappend(found, attachment);
		}
	}
	table_close(source, NoLock);

	/* one of several triggers takes the others along */
	foreach(cell, found)
	{
		const CuckooAttachment *attachment = lfirst(cell);

		ndropped += attach_detach(sibling, source_oid, attachment->target,
								  attachment->filter);
	}
	return ndropped;
}

/*
 * cf_detach(relation, filter)
 *		Let a filter column follow its table no longer.  It keeps its filters.
 *
 * The relation is the target or the source; of a source NULL stands for all
 * filter columns.
 */
Datum
cf_detach(PG_FUNCTION_ARGS)
{
	const Oid	sibling = fcinfo->flinfo->fn_oid;
	char	   *filter = NULL;
	Oid			relation_oid;
	Relation	relation;
	int			ndropped = 0;

	attach_require_argument(fcinfo, 0, "relation");
	relation_oid = PG_GETARG_OID(0);
	if (!PG_ARGISNULL(1))
		filter = text_to_cstring(PG_GETARG_TEXT_PP(1));
	(void) cuckoo_sql_relation(relation_oid);

	SPI_connect();
	if (filter != NULL)
	{
		const char *known = filter;
		Oid			source;

		relation = relation_open(relation_oid, AccessShareLock);
		source = cuckoo_guard_source(relation, sibling, known);
		relation_close(relation, NoLock);
		if (OidIsValid(source) ||
			cuckoo_owns_table(relation_oid, GetUserId()))
			ndropped = attach_detach(sibling,
									 OidIsValid(source) &&
									 get_rel_name(source) != NULL ? source :
									 InvalidOid, relation_oid, known);
	}
	if (ndropped == 0)
		ndropped = attach_detach_source(sibling, relation_oid, filter);
	SPI_finish();
	if (ndropped == 0 && filter != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of table %s follows no table",
						filter, cuckoo_sql_relation(relation_oid)),
				 errhint("View cf_attachments shows what follows what.")));
	if (ndropped == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no filters follow table %s",
						cuckoo_sql_relation(relation_oid)),
				 errhint("For the table of the filters, give the filter column, too.")));
	PG_RETURN_VOID();
}

/* The new parameters of cf_rebuild(); returns whether there are any. */
static bool
attach_read_changes(CuckooAttachment *attachment, FunctionCallInfo fcinfo)
{
	bool		is_changed = false;

	if (!PG_ARGISNULL(2))
		attachment->capacity = PG_GETARG_FLOAT8(2);
	if (!PG_ARGISNULL(3))
		attachment->fpr = PG_GETARG_FLOAT8(3);
	if (!PG_ARGISNULL(4))
		attachment->max_copies = PG_GETARG_INT32(4);
	if (!PG_ARGISNULL(5))
		attachment->seed = PG_GETARG_INT64(5);
	if (!PG_ARGISNULL(6))
	{
		if (attachment->nshards == 0 || PG_GETARG_INT32(6) < 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("number of shards cannot be changed from %d to %d",
							attachment->nshards, PG_GETARG_INT32(6)),
					 errhint("Filters get or lose shards with cf_detach() and cf_attach(), since their key is another one then.")));
		attachment->nshards = PG_GETARG_INT32(6);
	}
	for (int i = 2; i <= 6; i++)
		is_changed = is_changed || !PG_ARGISNULL(i);
	attach_require_parameters(attachment);
	return is_changed;
}

/* What a filter column follows, or an error. */
static void
attach_find(CuckooAttachment *attachment, Oid sibling, Relation target,
			const char *filter)
{
	if (!cuckoo_attachment_find(attachment, sibling, target, filter))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of table %s follows no table",
						filter, cuckoo_sql_relation(RelationGetRelid(target))),
				 errhint("Use cf_attach() first.")));
}

/* Are there triggers of the attachment that say something else, or are disabled? */
static bool
attach_any_differs(const CuckooAttachment *attachment, List *relations)
{
	const char *wanted = cuckoo_attachment_write(attachment);
	bool		differs = false;
	ListCell   *cell;

	foreach(cell, relations)
	{
		Relation	relation = table_open(lfirst_oid(cell), NoLock);

		for (int i = 0; i < CUCKOO_NTRIGGERS; i++)
		{
			CuckooAttachment other;
			const Trigger *trigger =
				cuckoo_trigger_find(relation, i, attachment);

			if (trigger == NULL)
				continue;
			cuckoo_attachment_read(&other, attachment->source,
								   attachment->target, trigger);
			differs = differs ||
				(trigger->tgenabled != TRIGGER_FIRES_ON_ORIGIN &&
				 trigger->tgenabled != TRIGGER_FIRES_ALWAYS) ||
				strcmp(cuckoo_attachment_write(&other), wanted) != 0;
		}
		table_close(relation, NoLock);
	}
	return differs;
}

/*
 * cf_rebuild(target, filter, capacity, fpr, max_copies, seed, shards)
 *		Build all filters of a column anew.  Returns their number.
 *
 * Not STRICT: a NULL parameter stays as it is.  Partitions that have come
 * since get their triggers, and so does what has lost one, has it disabled, or
 * has one of other parameters.
 */
Datum
cf_rebuild(PG_FUNCTION_ARGS)
{
	const Oid	sibling = fcinfo->flinfo->fn_oid;
	CuckooAttachment attachment;
	CuckooColumns columns;
	Oid			source_oid;
	Oid			target_oid;
	char	   *filter;
	List	   *relations;
	Relation	source;
	Relation	target;
	bool		is_changed;
	int64		nfilters;

	attach_require_argument(fcinfo, 0, "target");
	attach_require_argument(fcinfo, 1, "filter");
	target_oid = PG_GETARG_OID(0);
	filter = text_to_cstring(PG_GETARG_TEXT_PP(1));
	(void) cuckoo_sql_relation(target_oid);

	target = relation_open(target_oid, AccessShareLock);
	attach_find(&attachment, sibling, target, filter);
	relation_close(target, NoLock);
	source_oid = attachment.source;
	relations = cuckoo_source_lock(source_oid);
	source = table_open(source_oid, NoLock);
	cuckoo_source_require_rights(source, target_oid);
	target = table_open(target_oid, CUCKOO_SOURCE_LOCK);

	/* once more, now that nobody can change it */
	attach_find(&attachment, sibling, target, filter);
	if (attachment.source != source_oid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("column \"%s\" of table %s was attached to another table meanwhile",
						filter, cuckoo_sql_relation(target_oid))));
	cuckoo_source_require(source, relations, target);
	is_changed = attach_read_changes(&attachment, fcinfo) ||
		attach_any_differs(&attachment, relations);
	cuckoo_columns_resolve(&columns, &attachment, source, target);

	SPI_connect();
	cuckoo_install(&attachment, relations, is_changed);
	nfilters = cuckoo_rebuild(&attachment, &columns,
							  source->rd_rel->relowner);
	SPI_finish();
	table_close(target, NoLock);
	table_close(source, NoLock);
	PG_RETURN_INT64(nfilters);
}
