/*-------------------------------------------------------------------------
 *
 * cuckoo_hasher.c
 *		Which types can be keys, and how: families, collations, equality.
 *
 * A type is resolved once for each call site.  One that is not known to hash
 * as it compares is refused, never guessed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "cuckoo_datum.h"
#include "cuckoo_hasher.h"
#include "pg_compat.h"

/* The built-in types that can be keys; the rest goes by typtype. */
typedef struct KeyType
{
	Oid			type;
	KeyKind		kind;
	CuckooFamily family;
	bool		is_collatable;
} KeyType;

static const KeyType key_types[] = {
	{INT4OID, KEY_INT4, CUCKOO_FAMILY_NUMBER, false},
	{INT8OID, KEY_INT8, CUCKOO_FAMILY_NUMBER, false},
	{INT2OID, KEY_INT2, CUCKOO_FAMILY_NUMBER, false},
	{NUMERICOID, KEY_NUMERIC, CUCKOO_FAMILY_NUMBER, false},
	{FLOAT4OID, KEY_FLOAT4, CUCKOO_FAMILY_FLOAT, false},
	{FLOAT8OID, KEY_FLOAT8, CUCKOO_FAMILY_FLOAT, false},
	{TEXTOID, KEY_TEXT, CUCKOO_FAMILY_TEXT, true},
	{VARCHAROID, KEY_TEXT, CUCKOO_FAMILY_TEXT, true},
	{BPCHAROID, KEY_BPCHAR, CUCKOO_FAMILY_CHAR, true},
	{NAMEOID, KEY_NAME, CUCKOO_FAMILY_TEXT, true},
	{CHAROID, KEY_CHAR, CUCKOO_FAMILY_TEXT, false},
	{UNKNOWNOID, KEY_CSTRING, CUCKOO_FAMILY_TEXT, false},
	{BYTEAOID, KEY_VARLENA, CUCKOO_FAMILY_BYTES, false},
	{BOOLOID, KEY_BOOL, CUCKOO_FAMILY_BOOL, false},
	{UUIDOID, KEY_FIXED, CUCKOO_FAMILY_UUID, false},
	{OIDOID, KEY_OID, CUCKOO_FAMILY_OID, false},
	{MACADDROID, KEY_FIXED, CUCKOO_FAMILY_MACADDR, false},
	{MACADDR8OID, KEY_FIXED, CUCKOO_FAMILY_MACADDR8, false},
	{INETOID, KEY_INET, CUCKOO_FAMILY_INET, false},
	{CIDROID, KEY_INET, CUCKOO_FAMILY_INET, false},
	{BITOID, KEY_BIT, CUCKOO_FAMILY_BIT, false},
	{VARBITOID, KEY_BIT, CUCKOO_FAMILY_BIT, false},
	{PG_LSNOID, KEY_INT8, CUCKOO_FAMILY_PG_LSN, false},
	{DATEOID, KEY_INT4, CUCKOO_FAMILY_DATE, false},
	{TIMESTAMPOID, KEY_INT8, CUCKOO_FAMILY_TIMESTAMP, false},
	{TIMESTAMPTZOID, KEY_INT8, CUCKOO_FAMILY_TIMESTAMPTZ, false},
	{TIMEOID, KEY_INT8, CUCKOO_FAMILY_TIME, false},
	{TIMETZOID, KEY_TIMETZ, CUCKOO_FAMILY_TIMETZ, false},
	{INTERVALOID, KEY_INTERVAL, CUCKOO_FAMILY_INTERVAL, false},
	{JSONBOID, KEY_JSONB, CUCKOO_FAMILY_JSONB, false}
};

/*
 * hasher_refusal_hint
 *		What to do with a value of a type that cannot be a key.
 *
 * A cast is named only where equal values are equal after it, too.  The text
 * of most types does not promise that: of citext it differs in case, of box it
 * is another one for the same area, of regclass it changes with search_path.
 */
static const char *
hasher_refusal_hint(Oid type)
{
	if (cuckoo_datum_is_filter_type(type))
		return "Filters are put together by cf_union() and cf_union_agg(), compared by cf_overlap().";

	switch (type)
	{
		case JSONOID:
			return "Cast the value: \"value::jsonb\".";
		case MONEYOID:
			return "Cast the value: \"value::numeric\".";
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGNAMESPACEOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGROLEOID:
		case REGTYPEOID:
			return "Cast the value: \"value::oid\".";
		case CIDOID:
		case TIDOID:
		case TSQUERYOID:
		case TSVECTOROID:
		case XIDOID:
		case XID8OID:
			return "Cast the value: \"value::text\".";
		default:
			return "Use an expression of another type that is the same for all values that \"=\" calls equal, such as lower(value::text) for citext.";
	}
}

/*
 * hasher_refuse_type
 *		Raise the error for a type that cannot be a key.
 *
 * detail is a whole sentence, or NULL for a type that is not known.
 */
static void
hasher_refuse_type(Oid type, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot use values of type %s as filter keys",
					format_type_be(type)),
			 detail != NULL ? errdetail_internal("%s", detail) : 0,
			 errhint("%s", hasher_refusal_hint(getBaseType(type)))));
}

/*
 * hasher_check_collation
 *		Refuse a collation under which equal texts can have different bytes.
 */
static void
hasher_check_collation(Oid collation)
{
	if (!OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for filter keys"),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));

	if (!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for filter keys"),
				 errdetail("Under collation \"%s\", strings of different bytes can be equal.",
						   get_collation_name(collation)),
				 errhint("Add and look for a form that is the same for all strings that the collation calls equal, for example lower(value) COLLATE \"C\" if it ignores case only.")));
}

/*
 * hasher_check_equality
 *		Refuse a user's type whose "=" is not the generic one.
 *
 * An operator class can give an enum, composite or range type an equality of
 * its own, of which nothing is known here.  A type without any equality has
 * parts that will be refused for that.
 */
static void
hasher_check_equality(Oid type, Oid generic_equality)
{
	const TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR);

	if (OidIsValid(entry->eq_opr) && entry->eq_opr != generic_equality)
		hasher_refuse_type(type, "The type has an equality operator of its own.");
}

/*
 * hasher_check_range_equality
 *		Refuse a range type that compares its bounds by another equality than
 *		the subtype's own.
 *
 * An operator class in another family that has the same "=", such as
 * text_pattern_ops, is fine.
 */
static void
hasher_check_range_equality(Oid type, Oid subtype)
{
	const Oid	equality = lookup_type_cache(subtype,
											 TYPECACHE_EQ_OPR)->eq_opr;
	HeapTuple	tuple;
	Oid			opclass;
	Oid			left;
	Oid			right;

	tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for range type %u", type);
	opclass = ((Form_pg_range) GETSTRUCT(tuple))->rngsubopc;
	ReleaseSysCache(tuple);

	if (OidIsValid(equality))
	{
		op_input_types(equality, &left, &right);
		if (get_opfamily_member(get_opclass_family(opclass), left, right,
								BTEqualStrategyNumber) == equality)
			return;
	}
	hasher_refuse_type(type,
					   "The range type does not use the default equality of its subtype.");
}

/*
 * hasher_resolve_builtin
 *		Fill in a hasher for one of key_types, false if it is for another type.
 */
static bool
hasher_resolve_builtin(CuckooHasher *hasher, Oid collation)
{
	for (size_t i = 0; i < lengthof(key_types); i++)
	{
		if (key_types[i].type != hasher->type)
			continue;

		hasher->kind = key_types[i].kind;
		hasher->family = key_types[i].family;
		if (key_types[i].is_collatable)
			hasher_check_collation(collation);

		/* where nothing can need conversion, a text is just its bytes */
		if (hasher->kind == KEY_TEXT &&
			(GetDatabaseEncoding() == PG_UTF8 ||
			 GetDatabaseEncoding() == PG_SQL_ASCII))
			hasher->kind = KEY_VARLENA;
		return true;
	}
	return false;
}

/*
 * hasher_set_element
 *		Give a hasher the one of its parts.
 */
static void
hasher_set_element(CuckooHasher *hasher, Oid type, Oid collation)
{
	hasher->element = cuckoo_hasher_for_type(type, collation, hasher->mcxt);
	hasher->follows_catalogs = hasher->element->follows_catalogs;
}

static void
hasher_resolve_range(CuckooHasher *hasher)
{
	TypeCacheEntry *const entry = lookup_type_cache(hasher->type,
													TYPECACHE_RANGE_INFO);

	hasher_check_equality(hasher->type, RANGE_EQ_OP);
	if (entry->rngelemtype == NULL)
		elog(ERROR, "type %u is not a range type", hasher->type);
	hasher->kind = KEY_RANGE;
	hasher->family = CUCKOO_FAMILY_RANGE;
	hasher->typcache = entry;
	hasher_set_element(hasher, entry->rngelemtype->type_id,
					   entry->rng_collation);
	hasher_check_range_equality(hasher->type, entry->rngelemtype->type_id);
}

static void
hasher_resolve_multirange(CuckooHasher *hasher)
{
	TypeCacheEntry *const entry = lookup_type_cache(hasher->type,
													TYPECACHE_MULTIRANGE_INFO);

	hasher_check_equality(hasher->type, MULTIRANGE_EQ_OP);
	if (entry->rngtype == NULL)
		elog(ERROR, "type %u is not a multirange type", hasher->type);
	hasher->kind = KEY_MULTIRANGE;
	hasher->family = CUCKOO_FAMILY_MULTIRANGE;
	hasher->typcache = entry;
	hasher_set_element(hasher, entry->rngtype->type_id, InvalidOid);
}

/*
 * hasher_resolve_other
 *		Fill in a hasher for a type that is none of key_types.
 */
static void
hasher_resolve_other(CuckooHasher *hasher, Oid type, Oid collation)
{
	const Oid	element = get_element_type(hasher->type);

	if (OidIsValid(element))
	{
		hasher->kind = KEY_ARRAY;
		hasher->family = CUCKOO_FAMILY_ARRAY;
		hasher_set_element(hasher, element, collation);
		return;
	}

	switch (hasher->type == RECORDOID ? TYPTYPE_COMPOSITE :
			get_typtype(hasher->type))
	{
		case TYPTYPE_ENUM:
			hasher_check_equality(hasher->type, ENUM_EQ_OP);
			hasher->kind = KEY_ENUM;
			hasher->family = CUCKOO_FAMILY_TEXT;
			hasher->follows_catalogs = true;
			break;

		case TYPTYPE_COMPOSITE:
			if (hasher->type != RECORDOID)
				hasher_check_equality(hasher->type, RECORD_EQ_OP);
			hasher->kind = KEY_RECORD;
			hasher->family = CUCKOO_FAMILY_RECORD;
			hasher->follows_catalogs = true;
			break;

		case TYPTYPE_RANGE:
			hasher_resolve_range(hasher);
			break;

		case TYPTYPE_MULTIRANGE:
			hasher_resolve_multirange(hasher);
			break;

		default:
			hasher_refuse_type(type, NULL);
	}
}

/*
 * hasher_form
 *		The form of a kind of keys.
 *
 * Without a default, so that the compiler asks for each new kind.
 */
static KeyForm
hasher_form(KeyKind kind)
{
	switch (kind)
	{
		case KEY_INT2:
		case KEY_INT4:
		case KEY_INT8:
		case KEY_FLOAT4:
		case KEY_FLOAT8:
		case KEY_BOOL:
		case KEY_OID:
		case KEY_TIMETZ:
		case KEY_INTERVAL:
		case KEY_INET:
			return KEY_FORM_SMALL;

		case KEY_FIXED:
		case KEY_VARLENA:
		case KEY_TEXT:
		case KEY_BPCHAR:
		case KEY_NAME:
		case KEY_CSTRING:
		case KEY_CHAR:
		case KEY_ENUM:
			return KEY_FORM_STRING;

		case KEY_NUMERIC:
		case KEY_BIT:
		case KEY_JSONB:
		case KEY_ARRAY:
		case KEY_RECORD:
		case KEY_RANGE:
		case KEY_MULTIRANGE:
			break;
	}
	return KEY_FORM_BUILT;
}

/*
 * cuckoo_hasher_for_type
 *		How the values of a type become key bytes.
 *
 * collation is the one that "=" would use; it matters only for text and for
 * arrays of it, since records and ranges bring their own.  The result and all
 * it will ever cache live in mcxt.
 *
 * Parts are resolved here as well, except for the fields of a record, which
 * are known only when the first record comes.
 */
CuckooHasher *
cuckoo_hasher_for_type(Oid type, Oid collation, MemoryContext mcxt)
{
	CuckooHasher *const hasher = MemoryContextAllocZero(mcxt,
														sizeof(CuckooHasher));

	check_stack_depth();

	hasher->mcxt = mcxt;
	hasher->type = getBaseType(type);
	get_typlenbyvalalign(hasher->type, &hasher->typlen, &hasher->typbyval,
						 &hasher->typalign);
	if (!hasher_resolve_builtin(hasher, collation))
		hasher_resolve_other(hasher, type, collation);
	hasher->form = hasher_form(hasher->kind);
	return hasher;
}

/*
 * cuckoo_hasher_require_type
 *		Refuse a type whose values would be refused.
 */
void
cuckoo_hasher_require_type(Oid type, Oid collation, TupleDesc desc)
{
	const CuckooHasher *hasher = cuckoo_hasher_for_type(type, collation,
														CurrentMemoryContext);

	while (hasher->element != NULL)
		hasher = hasher->element;
	if (hasher->kind != KEY_RECORD)
		return;
	if (hasher->type != RECORDOID)
		desc = lookup_rowtype_tupdesc_copy(hasher->type, -1);
	for (int i = 0; desc != NULL && i < desc->natts; i++)
	{
		const FormData_pg_attribute *att = TupleDescAttr(desc, i);

		if (!att->attisdropped)
			cuckoo_hasher_require_type(att->atttypid, att->attcollation, NULL);
	}
}

/*
 * cuckoo_hasher_for_estimate
 *		cuckoo_hasher_for_type() for plain built-in types, NULL for others.
 */
CuckooHasher *
cuckoo_hasher_for_estimate(Oid type, Oid collation, MemoryContext mcxt)
{
	const Oid	base = getBaseType(type);

	for (size_t i = 0; i < lengthof(key_types); i++)
	{
		if (key_types[i].type != base)
			continue;
		if (key_types[i].is_collatable &&
			(!OidIsValid(collation) ||
			 !get_collation_isdeterministic(collation)))
			return NULL;
		return cuckoo_hasher_for_type(base, collation, mcxt);
	}
	return NULL;
}

/*
 * hasher_is_transition_of
 *		Is this function a transition function of that aggregate?
 */
static bool
hasher_is_transition_of(Oid function, Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool		result = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);

		result = form->aggkind == AGGKIND_NORMAL &&
			(form->aggtransfn == function || form->aggmtransfn == function);
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * hasher_call_argument
 *		The type of an argument of the running call, or InvalidOid.
 *
 * The expression of the call says so, but only one that calls this function:
 * distributed engines (worker_partial_agg() of Citus) have an aggregate of
 * their own that calls the transition functions of others with a fresh
 * FmgrInfo.  The aggregate that is current then has arguments of other types,
 * and hashes made by those would be wrong.  So its types are taken only if
 * the function is its own transition function.  test/module makes such calls.
 */
static Oid
hasher_call_argument(FunctionCallInfo fcinfo, int argno, Oid *collation)
{
	const FmgrInfo *flinfo = fcinfo->flinfo;
	const Aggref *aggref;

	if (flinfo == NULL)
		return InvalidOid;
	if (flinfo->fn_expr != NULL)
		return IsA(flinfo->fn_expr, FuncExpr) &&
			((FuncExpr *) flinfo->fn_expr)->funcid != flinfo->fn_oid ?
			InvalidOid : get_fn_expr_argtype(fcinfo->flinfo, argno);

	/* the state comes first */
	aggref = AggGetAggref(fcinfo);
	if (aggref == NULL || argno < 1 ||
		argno > list_length(aggref->aggargtypes) ||
		!hasher_is_transition_of(flinfo->fn_oid, aggref->aggfnoid))
		return InvalidOid;
	if (!OidIsValid(*collation))
		*collation = aggref->inputcollid;
	return list_nth_oid(aggref->aggargtypes, argno - 1);
}

/*
 * cuckoo_hasher_argument_type
 *		Type and collation of an argument of the running call.
 */
void
cuckoo_hasher_argument_type(FunctionCallInfo fcinfo, int argno, Oid *type,
							Oid *collation)
{
	*collation = PG_GET_COLLATION();
	*type = hasher_call_argument(fcinfo, argno, collation);
	if (!OidIsValid(*type))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine the type of the filter key"),
				 errdetail("The function was called without type information."),
				 errhint("Aggregate cf_hash(value) with cf_hash_agg().")));
}

/*
 * cuckoo_hasher_for_argument
 *		How the values of an argument of the running call become key bytes.
 */
CuckooHasher *
cuckoo_hasher_for_argument(FunctionCallInfo fcinfo, int argno)
{
	Oid			type;
	Oid			collation;

	cuckoo_hasher_argument_type(fcinfo, argno, &type, &collation);
	return cuckoo_hasher_for_type(type, collation, fcinfo->flinfo->fn_mcxt);
}

/*
 * cuckoo_hasher_for_elements
 *		The same for the elements of an argument that is an array.
 */
CuckooHasher *
cuckoo_hasher_for_elements(FunctionCallInfo fcinfo, int argno)
{
	Oid			type;
	Oid			collation;
	Oid			element;

	cuckoo_hasher_argument_type(fcinfo, argno, &type, &collation);
	element = get_element_type(getBaseType(type));
	if (!OidIsValid(element))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s is not an array type",
						format_type_be(type))));
	return cuckoo_hasher_for_type(element, collation, fcinfo->flinfo->fn_mcxt);
}

CuckooFamily
cuckoo_hasher_family(const CuckooHasher *hasher)
{
	return hasher->family;
}

bool
cuckoo_hasher_follows_catalogs(const CuckooHasher *hasher)
{
	return hasher->follows_catalogs;
}

Oid
cuckoo_hasher_type(const CuckooHasher *hasher)
{
	return hasher->type;
}

void
cuckoo_hasher_storage(const CuckooHasher *hasher, int16 *typlen, bool *typbyval,
					  char *typalign)
{
	*typlen = hasher->typlen;
	*typbyval = hasher->typbyval;
	*typalign = hasher->typalign;
}
