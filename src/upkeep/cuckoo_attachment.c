/*-------------------------------------------------------------------------
 *
 * cuckoo_attachment.c
 *		What keeps filters in step, as the arguments of its triggers say it.
 *
 * Reading and writing these, finding the triggers, the columns they name and
 * what the owner of the source may do, and the pieces of SQL that all who
 * change filters need.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "cuckoo_upkeep.h"

/*
 * Pieces of SQL
 */

/* The name of a table, qualified and quoted. */
char *
cuckoo_relation_sql(Oid relation)
{
	char	   *const name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  name);
}

/* What stands before the name of a target: children have their own rows. */
char *
cuckoo_only_sql(Relation target)
{
	return target->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ";
}

/* The name of a function of the extension: in the schema of any other one. */
char *
cuckoo_function_sql(Oid sibling, const char *name)
{
	return quote_qualified_identifier(get_namespace_name(get_func_namespace(sibling)),
									  name);
}

/* A number that is the same again when it is read, whatever is set. */
char *
cuckoo_float8_text(float8 number)
{
	return double_to_shortest_decimal(number);
}

/* Arguments for the aggregates but for the capacity. */
char *
cuckoo_rate_sql(const CuckooAttachment *attachment)
{
	return psprintf("'%s'::pg_catalog.float8, %d, '%lld'::pg_catalog.int8",
					cuckoo_float8_text(attachment->fpr),
					attachment->max_copies, (long long) attachment->seed);
}

/* Four arguments for cf_new() and the aggregates. */
char *
cuckoo_parameters_sql(const CuckooAttachment *attachment)
{
	return psprintf("'%s'::pg_catalog.float8, %s",
					cuckoo_float8_text(attachment->capacity),
					cuckoo_rate_sql(attachment));
}

/*
 * cuckoo_operand_sql
 *		A key as an operand, of the type that its domain is of.
 *
 * An operator of all enums does not take a domain of one.
 */
char *
cuckoo_operand_sql(char *sql, Oid *type)
{
	const Oid	base = getBaseType(*type);
	HeapTuple	tuple;
	Form_pg_type form;

	if (base == *type)
		return sql;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(base));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", base);
	form = (Form_pg_type) GETSTRUCT(tuple);
	sql = psprintf("%s::%s", sql,
				   quote_qualified_identifier(get_namespace_name(form->typnamespace),
											  NameStr(form->typname)));
	ReleaseSysCache(tuple);
	*type = base;
	return sql;
}

/*
 * cuckoo_run_sql
 *		Run a statement that is not worth keeping; returns the rows it had or
 *		changed.
 */
uint64
cuckoo_run_sql(const char *sql, int expected)
{
	const int	result = SPI_execute(sql, false, 0);

	if (result != expected)
		elog(ERROR, "SPI_execute returned %s", SPI_result_code_string(result));
	return SPI_processed;
}

/*
 * Arguments of triggers
 */

/*
 * cuckoo_attachment_names
 *		The elements of an array of texts.
 */
char	  **
cuckoo_attachment_names(ArrayType *array, const char *what, int *nnames)
{
	Datum	   *elements;
	bool	   *nulls;
	char	  **names;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be a one-dimensional array",
						what)));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, nnames);
	names = palloc(Max(*nnames, 1) * sizeof(char *));
	for (int i = 0; i < *nnames; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain null", what)));
		names[i] = TextDatumGetCString(elements[i]);
		for (int j = 0; j < i; j++)
		{
			if (strcmp(names[i], names[j]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" specified more than once",
								names[i])));
		}
	}
	return names;
}

/* The same from the text of an array. */
static char **
read_names_text(char *text, const char *what, int *nnames)
{
	const Datum array = OidFunctionCall3(F_ARRAY_IN, CStringGetDatum(text),
										 ObjectIdGetDatum(TEXTOID),
										 Int32GetDatum(-1));

	return cuckoo_attachment_names(DatumGetArrayTypeP(array), what, nnames);
}

/* And the text of names. */
static char *
write_names(char *const *names, int nnames)
{
	Datum	   *const elements = palloc(Max(nnames, 1) * sizeof(Datum));
	ArrayType  *array;

	for (int i = 0; i < nnames; i++)
		elements[i] = CStringGetTextDatum(names[i]);
	array = nnames == 0 ? construct_empty_array(TEXTOID) :
		construct_array(elements, nnames, TEXTOID, -1, false, TYPALIGN_INT);
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(array));
}

/*
 * cuckoo_attachment_read
 *		Read the arguments of a trigger.
 */
void
cuckoo_attachment_read(CuckooAttachment *attachment, int nargs, char **args)
{
	int			ntarget_keys;

	if (nargs != CUCKOO_UPKEEP_NARGS)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger function \"%s\" must have %d arguments",
						"cf_upkeep", CUCKOO_UPKEEP_NARGS),
				 errhint("Let cf_attach() make the triggers.")));
	attachment->target = pstrdup(args[0]);
	attachment->filter = pstrdup(args[1]);
	attachment->values = read_names_text(args[2], "columns",
										 &attachment->nvalues);
	attachment->keys = read_names_text(args[3], "key", &attachment->nkeys);
	attachment->target_keys = read_names_text(args[4], "target_key",
											  &ntarget_keys);
	attachment->capacity = DatumGetFloat8(DirectFunctionCall1(float8in,
															  CStringGetDatum(args[5])));
	attachment->fpr = DatumGetFloat8(DirectFunctionCall1(float8in,
														 CStringGetDatum(args[6])));
	attachment->max_copies = DatumGetInt32(DirectFunctionCall1(int4in,
															   CStringGetDatum(args[7])));
	attachment->seed = DatumGetInt64(DirectFunctionCall1(int8in,
														 CStringGetDatum(args[8])));
	attachment->is_part = strcmp(args[9], "part") == 0;
	if (attachment->nvalues == 0 || ntarget_keys != attachment->nkeys ||
		(!attachment->is_part && strcmp(args[9], "whole") != 0))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("invalid arguments of trigger function \"%s\"",
						"cf_upkeep"),
				 errhint("Let cf_attach() make the triggers.")));
}

/* The arguments, as they stand in CREATE TRIGGER. */
char *
cuckoo_attachment_write(const CuckooAttachment *attachment, bool is_part)
{
	return psprintf("%s, %s, %s, %s, %s, '%s', '%s', '%d', '%lld', '%s'",
					quote_literal_cstr(attachment->target),
					quote_literal_cstr(attachment->filter),
					quote_literal_cstr(write_names(attachment->values,
												   attachment->nvalues)),
					quote_literal_cstr(write_names(attachment->keys,
												   attachment->nkeys)),
					quote_literal_cstr(write_names(attachment->target_keys,
												   attachment->nkeys)),
					cuckoo_float8_text(attachment->capacity),
					cuckoo_float8_text(attachment->fpr),
					attachment->max_copies, (long long) attachment->seed,
					is_part ? "part" : "whole");
}

/*
 * cuckoo_attachment_target
 *		The table that a trigger names, or InvalidOid.
 *
 * No right on its schema is asked for, and no error is raised: this may be the
 * argument of anybody's trigger.  A name without a schema is none, since it
 * would depend on the search_path.
 */
Oid
cuckoo_attachment_target(const char *name)
{
	List	   *names;
	Oid			schema;

	if (!SplitIdentifierString(pstrdup(name), '.', &names) ||
		list_length(names) != 2)
		return InvalidOid;
	schema = get_namespace_oid(linitial(names), true);
	return OidIsValid(schema) ? get_relname_relid(lsecond(names), schema) :
		InvalidOid;
}

/*
 * cuckoo_triggers_of
 *		The triggers for a filter column: CuckooTriggers, on one table, or with
 *		InvalidOid on all.
 */
List *
cuckoo_triggers_of(Oid function, Oid relation, Oid target, const char *filter)
{
	Relation	triggers = table_open(TriggerRelationId, AccessShareLock);
	List	   *found = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(triggers, TriggerRelidNameIndexId,
							  OidIsValid(relation), NULL,
							  OidIsValid(relation) ? 1 : 0, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		const Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(tuple);
		CuckooTrigger *trigger;
		bytea	   *args;
		char	   *next;
		bool		isnull;

		/* one with other arguments was not made by us, and does nothing */
		if (form->tgfoid != function || form->tgnargs != CUCKOO_UPKEEP_NARGS)
			continue;

		trigger = palloc(sizeof(CuckooTrigger));
		args = DatumGetByteaPCopy(heap_getattr(tuple, Anum_pg_trigger_tgargs,
											   RelationGetDescr(triggers),
											   &isnull));
		next = VARDATA_ANY(args);
		for (int i = 0; i < CUCKOO_UPKEEP_NARGS; i++)
		{
			trigger->args[i] = next;
			next += strlen(next) + 1;
		}
		if (strcmp(trigger->args[1], filter) != 0 ||
			cuckoo_attachment_target(trigger->args[0]) != target)
			continue;

		trigger->relation = form->tgrelid;
		trigger->name = pstrdup(NameStr(form->tgname));
		trigger->type = form->tgtype;
		trigger->is_part = strcmp(trigger->args[9], "part") == 0;
		trigger->is_enabled = form->tgenabled == TRIGGER_FIRES_ON_ORIGIN ||
			form->tgenabled == TRIGGER_FIRES_ALWAYS;
		trigger->is_always = form->tgenabled == TRIGGER_FIRES_ALWAYS;
		found = lappend(found, trigger);
	}
	systable_endscan(scan);
	table_close(triggers, AccessShareLock);
	return found;
}

/*
 * cuckoo_parents_of
 *		The tables of which this one is a partition or a child.
 *
 * A partition that is being detached concurrently still is one, to what has
 * begun before; is_leaving is set to true then.
 */
List *
cuckoo_parents_of(Oid relation, bool *is_leaving)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *parents = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(inherits, InheritsRelidSeqnoIndexId, true, NULL,
							  1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		const Form_pg_inherits link = (Form_pg_inherits) GETSTRUCT(tuple);

		parents = lappend_oid(parents, link->inhparent);
		if (link->inhdetachpending)
			*is_leaving = true;
	}
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return parents;
}

/*
 * Columns
 */

/*
 * find_column
 *		The attribute of a table by its name.
 */
static Form_pg_attribute
find_column(Relation relation, const char *name)
{
	const TupleDesc desc = RelationGetDescr(relation);

	for (int i = 0; i < desc->natts; i++)
	{
		const Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped &&
			strcmp(NameStr(attribute->attname), name) == 0)
			return attribute;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist",
					name, RelationGetRelationName(relation)),
			 errhint("Names are taken as they are written, and are not folded to lower case. If a column was renamed, detach the filters and attach them again.")));
	return NULL;				/* keep compiler quiet */
}

/*
 * cuckoo_generated_error
 *		A column of a partitioned source, or of a partition, is generated.
 *
 * A row that is inserted into a partition whose columns are in another order is
 * in the transition table as it was before they were generated.
 */
void
cuckoo_generated_error(Oid relation, const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("filters of a partitioned table cannot follow generated column \"%s\" of table \"%s\"",
					column, get_rel_name(relation)),
			 errdetail("The server does not always tell triggers what such a column holds."),
			 errhint("Use a column that is set by those who insert, or by a trigger before each row.")));
}

/* A column of the source, where the value has to be stored. */
static Form_pg_attribute
find_source_column(Relation source, const char *name)
{
	const Form_pg_attribute attribute = find_column(source, name);

	if (attribute->attgenerated != '\0' &&
		attribute->attgenerated != ATTRIBUTE_GENERATED_STORED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot follow virtual generated column \"%s\"",
						name),
				 errhint("Use a stored generated column.")));
	if (attribute->attgenerated != '\0' &&
		source->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		cuckoo_generated_error(RelationGetRelid(source), name);
	return attribute;
}

/* The operator that says of values of a type whether they are equal. */
static Oid
equality_of(Oid type)
{
	return lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;
}

/* The position of an attribute in the target's key, or -1. */
static int
key_position(const CuckooColumns *columns, int nkeys, AttrNumber attnum)
{
	for (int i = 0; i < nkeys; i++)
	{
		if (columns->keys[i].target_attnum == attnum)
			return i;
	}
	return -1;
}

/*
 * use_index
 *		Take the comparison of keys from an index of the target, if that is a
 *		unique one of just these columns.
 *
 * Since queries compare and group keys by the columns' collations and by the
 * equality of their types, an index that does otherwise is none of ours.
 */
static bool
use_index(CuckooColumns *columns, int nkeys, Relation index)
{
	const Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID ||
		!form->indisunique || !form->indisvalid || !form->indimmediate ||
		form->indnkeyatts != nkeys ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		if (key_position(columns, nkeys, form->indkey.values[i]) < 0)
			return false;
		for (int j = 0; j < i; j++)
		{
			if (form->indkey.values[i] == form->indkey.values[j])
				return false;
		}
	}

	for (int i = 0; i < nkeys; i++)
	{
		CuckooKeyColumn *const key =
			&columns->keys[key_position(columns, nkeys,
										form->indkey.values[i])];
		const Oid	family = index->rd_opfamily[i];
		const Oid	type = index->rd_opcintype[i];

		key->equality = get_opfamily_member(family, type, type,
											BTEqualStrategyNumber);
		key->order = get_opfamily_proc(family, type, type, BTORDER_PROC);
		if (!OidIsValid(key->equality) || !OidIsValid(key->order) ||
			index->rd_indcollation[i] != key->collation ||
			key->equality != equality_of(key->target_type))
			return false;
	}
	return true;
}

/*
 * resolve_keys
 *		How tenants are told apart: as the unique index of the target does.
 */
static void
resolve_keys(CuckooColumns *columns, const CuckooAttachment *attachment,
			 Relation target)
{
	List	   *const indexes = RelationGetIndexList(target);
	bool		is_found = false;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		is_found = use_index(columns, attachment->nkeys, index);
		index_close(index, AccessShareLock);
		if (is_found)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
			 errmsg("there is no unique index of just the key columns of table \"%s\"",
					RelationGetRelationName(target)),
			 errdetail("The key is %s.",
					   write_names(attachment->target_keys,
								   attachment->nkeys)),
			 errhint("A key needs a primary key or a unique constraint that is not deferrable, of the collations and the equality of its columns.")));
}

/*
 * same_type
 *		Are keys of the source also keys of the target, as they are?
 *
 * They are stored there without a change, so the target may not cut, round or
 * pad them; and the same of them are equal, whichever table is asked.  Domains
 * are looked through: those of the target are checked when a key is stored.
 */
static bool
same_type(Form_pg_attribute from, Form_pg_attribute to)
{
	int32		from_typmod = from->atttypmod;
	int32		to_typmod = to->atttypmod;
	const Oid	from_type = getBaseTypeAndTypmod(from->atttypid, &from_typmod);
	const Oid	to_type = getBaseTypeAndTypmod(to->atttypid, &to_typmod);

	return IsBinaryCoercible(from_type, to_type) &&
		(to_typmod < 0 || to_typmod == from_typmod) &&
		equality_of(from_type) == equality_of(to_type);
}

/*
 * cuckoo_columns_resolve
 *		Find the columns of an attachment in its tables, or raise an error.
 *
 * The result is in the current memory context.
 */
void
cuckoo_columns_resolve(CuckooColumns *columns,
					   const CuckooAttachment *attachment,
					   Relation source, Relation target)
{
	const int	nvalues = attachment->nvalues;
	const int	nkeys = attachment->nkeys;
	Form_pg_attribute filter;

	if (target->rd_rel->relkind != RELKIND_RELATION &&
		target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table",
						RelationGetRelationName(target))));
	filter = find_column(target, attachment->filter);
	if (!cuckoo_datum_is_filter_type(filter->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" is of type %s, not cuckoofilter",
						attachment->filter, RelationGetRelationName(target),
						format_type_be(filter->atttypid))));

	columns->values = palloc(nvalues * sizeof(AttrNumber));
	columns->value_desc = nvalues == 1 ? NULL :
		CreateTemplateTupleDesc(nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		const Form_pg_attribute attribute =
			find_source_column(source, attachment->values[i]);

		columns->values[i] = attribute->attnum;
		columns->value_type = attribute->atttypid;
		columns->value_collation = attribute->attcollation;
		if (nvalues > 1)
		{
			TupleDescInitEntry(columns->value_desc, i + 1,
							   attachment->values[i], attribute->atttypid,
							   attribute->atttypmod, 0);
			TupleDescInitEntryCollation(columns->value_desc, i + 1,
										attribute->attcollation);
		}
	}
	if (nvalues > 1)
	{
		cuckoo_finish_tupdesc(columns->value_desc);
		columns->value_desc = BlessTupleDesc(columns->value_desc);
		columns->value_type = RECORDOID;
		columns->value_collation = InvalidOid;
	}

	columns->keys = palloc0(Max(nkeys, 1) * sizeof(CuckooKeyColumn));
	for (int i = 0; i < nkeys; i++)
	{
		const Form_pg_attribute from =
			find_source_column(source, attachment->keys[i]);
		const Form_pg_attribute to =
			find_column(target, attachment->target_keys[i]);
		CuckooKeyColumn *const key = &columns->keys[i];

		if (!same_type(from, to))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("key columns \"%s\" and \"%s\" are of different types",
							attachment->keys[i], attachment->target_keys[i]),
					 errdetail("Column \"%s\" of table \"%s\" is of type %s, column \"%s\" of table \"%s\" is of type %s.",
							   attachment->keys[i],
							   RelationGetRelationName(source),
							   format_type_with_typemod(from->atttypid,
														from->atttypmod),
							   attachment->target_keys[i],
							   RelationGetRelationName(target),
							   format_type_with_typemod(to->atttypid,
														to->atttypmod))));
		if (from->attcollation != to->attcollation)
			ereport(ERROR,
					(errcode(ERRCODE_COLLATION_MISMATCH),
					 errmsg("key columns \"%s\" and \"%s\" have different collations",
							attachment->keys[i], attachment->target_keys[i])));
		key->source_attnum = from->attnum;
		key->target_attnum = to->attnum;
		key->source_type = from->atttypid;
		key->target_type = to->atttypid;
		key->collation = to->attcollation;
		key->typlen = to->attlen;
		key->typbyval = to->attbyval;
	}
	if (nkeys > 0)
		resolve_keys(columns, attachment, target);
}

/*
 * cuckoo_lacks_rights
 *		Is a role not allowed to do to the target what the triggers do?
 */
bool
cuckoo_lacks_rights(Oid role, Oid target)
{
	static const AclMode rights[] = {ACL_SELECT, ACL_INSERT, ACL_UPDATE};

	for (int i = 0; i < lengthof(rights); i++)
	{
		if (pg_class_aclcheck(target, role, rights[i]) != ACLCHECK_OK)
			return true;
	}
	return false;
}

/*
 * cuckoo_is_restricted
 *		Does row-level security of the target apply to a role?
 *
 * As the target's owner the triggers would get past policies that were made
 * for the role.
 */
bool
cuckoo_is_restricted(Oid role, Oid target)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(target));
	bool		has_policies;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", target);
	has_policies = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	return has_policies && !cuckoo_owns_table(target, role) &&
		!has_bypassrls_privilege(role);
}

/*
 * cuckoo_require_target_rights
 *		The owner of a source must be allowed to do to the target what the
 *		triggers do, since they do it for everybody.
 */
void
cuckoo_require_target_rights(Relation source, Oid target)
{
	const Oid	owner = source->rd_rel->relowner;

	if (cuckoo_lacks_rights(owner, target))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s",
						get_rel_name(target)),
				 errdetail("The owner of table \"%s\" needs the privileges SELECT, INSERT and UPDATE on it to keep its filters.",
						   RelationGetRelationName(source))));
	if (cuckoo_is_restricted(owner, target))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s",
						get_rel_name(target)),
				 errdetail("Its row-level security applies to the owner of table \"%s\", who keeps its filters.",
						   RelationGetRelationName(source)),
				 errhint("Let one role own both tables.")));
}

/* Filters that are not stored would soon be asked for what they lack. */
void
cuckoo_not_stored_error(Oid target)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			 errmsg("filter was not stored in table %s",
					cuckoo_relation_sql(target)),
			 errdetail("A trigger, a rule or another unique index of the table prevented it.")));
}
