/*-------------------------------------------------------------------------
 *
 * cuckoo_attachment.c
 *		Reading, writing and finding attachments in triggers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/relation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/shortest_dec.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_attachment.h"

const int16 cuckoo_trigger_types[CUCKOO_NTRIGGERS] = {
	TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE |
	TRIGGER_TYPE_DELETE,
	TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_DELETE,
	TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE,
	TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE,
	TRIGGER_TYPE_TRUNCATE
};

const int16 cuckoo_guard_types[CUCKOO_NGUARDS] = {
	TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_UPDATE,
	TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE,
	TRIGGER_TYPE_ROW | TRIGGER_TYPE_DELETE,
	TRIGGER_TYPE_TRUNCATE
};

/*
 * cuckoo_attachment_names
 *		The elements of an array of texts.
 */
char **
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
	/* room for the column of the shard */
	names = palloc((*nnames + 1) * sizeof(char *));
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
attachment_read_names(const char *text, const char *what, int *nnames)
{
	const Datum array = OidFunctionCall3(F_ARRAY_IN, CStringGetDatum(text),
										 ObjectIdGetDatum(TEXTOID),
										 Int32GetDatum(-1));

	return cuckoo_attachment_names(DatumGetArrayTypeP(array), what, nnames);
}

/* And the text of names. */
char *
cuckoo_attachment_names_text(char *const *names, int nnames)
{
	Datum	   *elements = palloc(Max(nnames, 1) * sizeof(Datum));
	ArrayType  *array;

	for (int i = 0; i < nnames; i++)
		elements[i] = CStringGetTextDatum(names[i]);
	array = nnames == 0 ? construct_empty_array(TEXTOID) :
		construct_array(elements, nnames, TEXTOID, -1, false, TYPALIGN_INT);
	return OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(array));
}

/*
 * cuckoo_attachment_read
 *		Read the arguments of a trigger of a source.
 *
 * All is copied.
 */
void
cuckoo_attachment_read(CuckooAttachment *attachment, Oid source, Oid target,
					   const Trigger *trigger)
{
	char	  **args = trigger->tgargs;
	int			ntarget_keys = -1;

	memset(attachment, 0, sizeof(*attachment));
	attachment->function = trigger->tgfoid;
	attachment->source = source;
	attachment->target = target;
	if (trigger->tgnargs == CUCKOO_ATTACHMENT_NARGS)
	{
		attachment->filter = pstrdup(args[0]);
		attachment->values = attachment_read_names(args[1], "columns",
												   &attachment->nvalues);
		attachment->keys = attachment_read_names(args[2], "key",
												 &attachment->nkeys);
		attachment->target_keys = attachment_read_names(args[3], "target_key",
														&ntarget_keys);
		attachment->capacity = DatumGetFloat8(DirectFunctionCall1(float8in,
																  CStringGetDatum(args[4])));
		attachment->fpr = DatumGetFloat8(DirectFunctionCall1(float8in,
															 CStringGetDatum(args[5])));
		attachment->max_copies = pg_strtoint32(args[6]);
		attachment->seed = DatumGetInt64(DirectFunctionCall1(int8in,
															 CStringGetDatum(args[7])));
		attachment->nshards = pg_strtoint32(args[8]);
		attachment->number = pg_strtoint32(args[10]);
	}
	if (attachment->nvalues == 0 || ntarget_keys != attachment->nkeys ||
		!OidIsValid(attachment->target) || attachment->nshards < 0)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("invalid arguments or condition of a trigger of \"%s\"",
						"cf_upkeep"),
				 errhint("Let cf_attach() make the triggers.")));

	attachment->ntarget_keys = attachment->nkeys;
	if (attachment->nshards > 0)
		attachment->target_keys[attachment->ntarget_keys++] = pstrdup(args[9]);
}

/*
 * The arguments, as they stand in CREATE TRIGGER.  Numbers are the same again
 * when they are read, whatever is set.
 */
char *
cuckoo_attachment_write(const CuckooAttachment *attachment)
{
	return psprintf("%s, %s, %s, %s, '%s', '%s', '%d', '%lld', '%d', %s, '%d'",
					quote_literal_cstr(attachment->filter),
					quote_literal_cstr(cuckoo_attachment_names_text(attachment->values,
																	attachment->nvalues)),
					quote_literal_cstr(cuckoo_attachment_names_text(attachment->keys,
																	attachment->nkeys)),
					quote_literal_cstr(cuckoo_attachment_names_text(attachment->target_keys,
																	attachment->nkeys)),
					double_to_shortest_decimal(attachment->capacity),
					double_to_shortest_decimal(attachment->fpr),
					attachment->max_copies, (long long) attachment->seed,
					attachment->nshards,
					attachment->nshards == 0 ? "''" :
					quote_literal_cstr(attachment->target_keys[attachment->nkeys]),
					attachment->number);
}

/*
 * cuckoo_attachment_share
 *		The capacity of one filter.
 *
 * Values are spread over the shards by their hashes, and not quite evenly: a
 * shard has room for six standard deviations more than its share, and some more
 * where that is a handful, so that none is full before all of them are.
 */
float8
cuckoo_attachment_share(const CuckooAttachment *attachment)
{
	const float8 share = attachment->nshards > 0 ?
		attachment->capacity / attachment->nshards : attachment->capacity;

	if (attachment->nshards <= 1)
		return attachment->capacity;
	return Min(attachment->capacity,
			   ceil(share + 6.0 * sqrt(share)) + 12.0);
}

/* A function of the extension without arguments, by its name. */
Oid
cuckoo_attachment_function(Oid sibling, const char *name)
{
	const Oid	schema = get_func_namespace(sibling);
	oidvector  *none = buildoidvector(NULL, 0);
	const Oid	function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum(name),
										   PointerGetDatum(none),
										   ObjectIdGetDatum(schema));

	if (!OidIsValid(function))
		elog(ERROR, "function %s() is missing", name);
	return function;
}

/* Find a constant of type regclass. */
static bool
attachment_regclass_walker(Node *node, void *relation)
{
	if (node == NULL)
		return false;
	if (IsA(node, Const) && ((Const *) node)->consttype == REGCLASSOID &&
		!((Const *) node)->constisnull)
	{
		*(Oid *) relation =
			DatumGetObjectId(((Const *) node)->constvalue);
		return true;
	}
	return cuckoo_expression_tree_walker(node, attachment_regclass_walker,
										 relation);
}

/* The table that the condition of a trigger names, or InvalidOid. */
Oid
cuckoo_trigger_relation(const Trigger *trigger)
{
	Oid			relation = InvalidOid;

	if (trigger->tgqual != NULL)
		attachment_regclass_walker(stringToNode(trigger->tgqual), &relation);
	return relation;
}

/* Is this one of the triggers of cf_upkeep() for a filter column? */
static bool
attachment_is_trigger(const Trigger *trigger, Oid function, const char *filter)
{
	return trigger->tgfoid == function &&
		trigger->tgnargs == CUCKOO_ATTACHMENT_NARGS &&
		(filter == NULL || strcmp(trigger->tgargs[0], filter) == 0);
}

/*
 * cuckoo_trigger_target
 *		The target of a trigger of a relation: its own, or that of the triggers
 *		it goes with.  InvalidOid if there is none.
 */
Oid
cuckoo_trigger_target(Relation relation, const Trigger *trigger)
{
	const TriggerDesc *triggers = relation->trigdesc;
	Oid			target = cuckoo_trigger_relation(trigger);

	if (trigger->tgnargs != CUCKOO_ATTACHMENT_NARGS)
		return InvalidOid;
	for (int i = 0; !OidIsValid(target) && triggers != NULL &&
		 i < triggers->numtriggers; i++)
	{
		const Trigger *other = &triggers->triggers[i];

		if (attachment_is_trigger(other, trigger->tgfoid,
								  trigger->tgargs[0]) &&
			strcmp(other->tgargs[10], trigger->tgargs[10]) == 0)
			target = cuckoo_trigger_relation(other);
	}
	return target;
}

/*
 * cuckoo_trigger_find
 *		A trigger of a source or a partition, or NULL.
 */
const Trigger *
cuckoo_trigger_find(Relation relation, int which,
					const CuckooAttachment *attachment)
{
	const TriggerDesc *triggers = relation->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgtype == cuckoo_trigger_types[which] &&
			attachment_is_trigger(trigger, attachment->function,
								  attachment->filter) &&
			pg_strtoint32(trigger->tgargs[10]) == attachment->number)
			return trigger;
	}
	return NULL;
}

/* A number for an attachment that no other one of the source has. */
int32
cuckoo_trigger_free_number(Relation source, Oid function)
{
	const TriggerDesc *triggers = source->trigdesc;
	int32		number = 1;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (attachment_is_trigger(trigger, function, NULL))
			number = Max(number, pg_strtoint32(trigger->tgargs[10]) + 1);
	}
	return number;
}

/*
 * cuckoo_guard_find
 *		A trigger of a target or a partition, or NULL.
 */
const Trigger *
cuckoo_guard_find(Relation target, int which, Oid function, const char *filter)
{
	const TriggerDesc *triggers = target->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgfoid == function &&
			trigger->tgtype == cuckoo_guard_types[which] &&
			trigger->tgnargs == 1 && strcmp(trigger->tgargs[0], filter) == 0)
			return trigger;
	}
	return NULL;
}

/*
 * cuckoo_guard_source
 *		The table that a filter column says it follows, or InvalidOid.
 */
Oid
cuckoo_guard_source(Relation target, Oid sibling, const char *filter)
{
	const Trigger *guard =
		cuckoo_guard_find(target, CUCKOO_GUARD_TRUNCATE,
						  cuckoo_attachment_function(sibling, "cf_guard"),
						  filter);

	return guard == NULL ? InvalidOid : cuckoo_trigger_relation(guard);
}

/*
 * cuckoo_attachment_find
 *		The attachment of a filter column, if it has one.
 *
 * The source is locked against changes of its definition until the end of the
 * transaction, and must be there.
 */
bool
cuckoo_attachment_find(CuckooAttachment *attachment, Oid sibling,
					   Relation target, const char *filter)
{
	const Oid	function = cuckoo_attachment_function(sibling, "cf_upkeep");
	const Oid	source_oid = cuckoo_guard_source(target, sibling, filter);
	const Trigger *trigger = NULL;
	Relation	source;

	if (!OidIsValid(source_oid))
		return false;
	source = try_relation_open(source_oid, AccessShareLock);
	if (source == NULL)
		return false;
	for (int i = 0; trigger == NULL && source->trigdesc != NULL &&
		 i < source->trigdesc->numtriggers; i++)
	{
		const Trigger *other = &source->trigdesc->triggers[i];

		if (attachment_is_trigger(other, function, filter) &&
			cuckoo_trigger_relation(other) == RelationGetRelid(target))
			trigger = other;
	}
	if (trigger != NULL)
		cuckoo_attachment_read(attachment, source_oid,
							   RelationGetRelid(target), trigger);
	relation_close(source, NoLock);
	return trigger != NULL;
}
