/*-------------------------------------------------------------------------
 *
 * cuckoo_columns.c
 *		Finding the columns of an attachment in its tables.
 *
 * Keys are told apart as the unique index of the target does, and that has to
 * be as queries do: by the collations and by the equality of the columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_columns.h"

/*
 * cuckoo_columns_find
 *		The attribute of a table by its name.
 */
Form_pg_attribute
cuckoo_columns_find(Relation relation, const char *name)
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
			 errhint("Names are taken as they are written, and are not folded to lower case. If a column was renamed, use cf_detach() on the source, then cf_attach().")));
	return NULL;				/* keep compiler quiet */
}

/* A column of the source, where the value has to be stored. */
static Form_pg_attribute
columns_find_source(Relation source, const char *name)
{
	const Form_pg_attribute attribute = cuckoo_columns_find(source, name);

	if (attribute->attgenerated != '\0' &&
		attribute->attgenerated != ATTRIBUTE_GENERATED_STORED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot follow virtual generated column \"%s\"",
						name),
				 errdetail("The server does not compute such a column for triggers."),
				 errhint("Use a stored generated column.")));
	return attribute;
}

/* The operator that says of values of a type whether they are equal. */
static Oid
columns_equality(Oid type)
{
	return lookup_type_cache(getBaseType(type), TYPECACHE_EQ_OPR)->eq_opr;
}

/*
 * cuckoo_columns_has_plain_equality
 *		Does IS DISTINCT FROM find the equality of a type in pg_catalog?
 *
 * A condition of a trigger must not depend on the search_path when it is
 * restored.
 */
bool
cuckoo_columns_has_plain_equality(Oid type)
{
	const Oid	equality = columns_equality(type);

	return OidIsValid(equality) && equality < FirstNormalObjectId;
}

/* The position of an attribute in the target's key, or -1. */
static int
columns_key_position(const CuckooColumns *columns, int nkeys,
					 AttrNumber attnum)
{
	for (int i = 0; i < nkeys; i++)
	{
		if (columns->keys[i].target_attnum == attnum)
			return i;
	}
	return -1;
}

/*
 * columns_is_unique
 *		Is an index unique on just the columns of the key?
 */
static bool
columns_is_unique(const CuckooColumns *columns, int nkeys, Relation index)
{
	const Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisunique ||
		!form->indisvalid || form->indnkeyatts != nkeys ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		if (columns_key_position(columns, nkeys, form->indkey.values[i]) < 0)
			return false;
		for (int j = 0; j < i; j++)
		{
			if (form->indkey.values[i] == form->indkey.values[j])
				return false;
		}
	}
	return true;
}

/*
 * columns_use_index
 *		Take the comparison of keys from such an index, if it compares them as
 *		the columns do.
 */
static bool
columns_use_index(CuckooColumns *columns, int nkeys, Relation index)
{
	for (int i = 0; i < nkeys; i++)
	{
		CuckooKeyColumn *key =
			&columns->keys[columns_key_position(columns, nkeys,
												index->rd_index->indkey.values[i])];
		const Oid	family = index->rd_opfamily[i];
		const Oid	type = index->rd_opcintype[i];

		key->equality = get_opfamily_member(family, type, type,
											BTEqualStrategyNumber);
		key->order = get_opfamily_proc(family, type, type, BTORDER_PROC);
		if (!OidIsValid(key->equality) || !OidIsValid(key->order) ||
			index->rd_indcollation[i] != key->collation ||
			key->equality != columns_equality(key->target_type))
			return false;
	}
	return true;
}

/*
 * columns_resolve_keys
 *		How filters are told apart: as the unique index of the target does.
 *
 * INSERT ... ON CONFLICT takes all unique indexes of the columns into account,
 * and does not take deferrable ones.
 */
static void
columns_resolve_keys(CuckooColumns *columns,
					 const CuckooAttachment *attachment, Relation target)
{
	const int	nkeys = attachment->ntarget_keys;
	bool		is_found = false;
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(target))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		if (columns_is_unique(columns, nkeys, index))
		{
			if (!index->rd_index->indimmediate)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("the key of filters must not have a deferrable unique constraint"),
						 errdetail("Constraint \"%s\" of table \"%s\" is deferrable.",
								   RelationGetRelationName(index),
								   RelationGetRelationName(target)),
						 errhint("Make it NOT DEFERRABLE, or drop it.")));
			if (!is_found)
				is_found = columns_use_index(columns, nkeys, index);
		}
		index_close(index, AccessShareLock);
	}
	if (!is_found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("there is no unique index of just the key columns of table \"%s\"",
						RelationGetRelationName(target)),
				 errdetail("The key is %s.",
						   cuckoo_attachment_names_text(attachment->target_keys,
														nkeys)),
				 errhint("A key needs a primary key or a unique constraint that is not deferrable, of the collations and the equality of its columns.")));
}

/*
 * columns_same_type
 *		Are keys of the source also keys of the target, as they are?
 *
 * They are stored there without a change, so the target may not cut, round or
 * pad them; and the same of them are equal, whichever table is asked.  Domains
 * are looked through: those of the target are checked when a key is stored.
 */
static bool
columns_same_type(Form_pg_attribute from, Form_pg_attribute to)
{
	int32		from_typmod = from->atttypmod;
	int32		to_typmod = to->atttypmod;
	const Oid	from_type = getBaseTypeAndTypmod(from->atttypid, &from_typmod);
	const Oid	to_type = getBaseTypeAndTypmod(to->atttypid, &to_typmod);

	return IsBinaryCoercible(from_type, to_type) &&
		(to_typmod < 0 || to_typmod == from_typmod) &&
		columns_equality(from_type) == columns_equality(to_type);
}

/* The column of the target that a key column of the source is matched with. */
static Form_pg_attribute
columns_find_target(const CuckooAttachment *attachment, Relation target, int i)
{
	const char *name = attachment->target_keys[i];

	if (i < attachment->nkeys &&
		strcmp(name, attachment->keys[i]) == 0 &&
		get_attnum(RelationGetRelid(target), name) == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(target)),
				 errhint("If the key has another name there, say so with target_key => '{...}'.")));
	return cuckoo_columns_find(target, name);
}

/* One column of the key. */
static void
columns_resolve_key(CuckooColumns *columns, const CuckooAttachment *attachment,
					Relation source, Relation target, int i)
{
	const Form_pg_attribute to = columns_find_target(attachment, target, i);
	CuckooKeyColumn *key = &columns->keys[i];

	key->target_attnum = to->attnum;
	key->target_type = to->atttypid;
	key->collation = to->attcollation;
	key->typlen = to->attlen;
	key->typbyval = to->attbyval;
	if (i == attachment->nkeys)
	{
		key->source_type = INT4OID;
		if (getBaseType(to->atttypid) != INT4OID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of table \"%s\" is of type %s, and has to be integer for the number of the shard",
							attachment->target_keys[i],
							RelationGetRelationName(target),
							format_type_be(to->atttypid))));
	}
	else
	{
		const Form_pg_attribute from =
			columns_find_source(source, attachment->keys[i]);

		key->source_type = from->atttypid;
		if (!columns_same_type(from, to))
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
	}
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
	Form_pg_attribute filter;

	if (target->rd_rel->relkind != RELKIND_RELATION &&
		target->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table",
						RelationGetRelationName(target))));
	filter = cuckoo_columns_find(target, attachment->filter);
	if (!cuckoo_datum_is_filter_type(filter->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" is of type %s, not cuckoofilter",
						attachment->filter, RelationGetRelationName(target),
						format_type_be(filter->atttypid))));
	columns->filter = filter->attnum;

	columns->value_desc = nvalues == 1 ? NULL :
		CreateTemplateTupleDesc(nvalues);
	for (int i = 0; i < nvalues; i++)
	{
		const Form_pg_attribute attribute =
			columns_find_source(source, attachment->values[i]);

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

	columns->keys = palloc0(Max(attachment->ntarget_keys, 1) *
							sizeof(CuckooKeyColumn));
	for (int i = 0; i < attachment->ntarget_keys; i++)
		columns_resolve_key(columns, attachment, source, target, i);
	if (attachment->ntarget_keys > 0)
		columns_resolve_keys(columns, attachment, target);
}
