/*-------------------------------------------------------------------------
 *
 * cuckoo_family.c
 *		Families of values: which goes with which, and what to say if not.
 *
 * A hint names a cast only if a probe with it gives the answer that "="
 * gives.  Where "=" converts the value in the filter rather than the one it
 * is compared with, no cast of the latter can do that, and the hint is to
 * build the filter of converted values.  Where there is no "=", there is no
 * hint.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "cuckoo_family.h"

/*
 * The word for a family, and the type that a literal of it can be cast to,
 * NULL where no single type stands for the family.
 */
static const struct
{
	const char *name;
	const char *type;
}			family_words[CUCKOO_FAMILY_LAST + 1] = {
	[CUCKOO_FAMILY_NONE] = {"untyped", NULL},
	[CUCKOO_FAMILY_NUMBER] = {"number", "numeric"},
	[CUCKOO_FAMILY_FLOAT] = {"float", "float8"},
	[CUCKOO_FAMILY_TEXT] = {"text", "text"},
	[CUCKOO_FAMILY_BYTES] = {"bytes", "bytea"},
	[CUCKOO_FAMILY_BOOL] = {"bool", "boolean"},
	[CUCKOO_FAMILY_UUID] = {"uuid", "uuid"},
	[CUCKOO_FAMILY_OID] = {"oid", "oid"},
	[CUCKOO_FAMILY_MACADDR] = {"macaddr", "macaddr"},
	[CUCKOO_FAMILY_MACADDR8] = {"macaddr8", "macaddr8"},
	[CUCKOO_FAMILY_INET] = {"inet", "inet"},
	[CUCKOO_FAMILY_BIT] = {"bit", "varbit"},
	[CUCKOO_FAMILY_PG_LSN] = {"pg_lsn", "pg_lsn"},
	[CUCKOO_FAMILY_DATE] = {"date", "date"},
	[CUCKOO_FAMILY_TIMESTAMP] = {"timestamp", "timestamp"},
	[CUCKOO_FAMILY_TIMESTAMPTZ] = {"timestamptz", "timestamptz"},
	[CUCKOO_FAMILY_TIME] = {"time", "time"},
	[CUCKOO_FAMILY_TIMETZ] = {"timetz", "timetz"},
	[CUCKOO_FAMILY_INTERVAL] = {"interval", "interval"},
	[CUCKOO_FAMILY_JSONB] = {"jsonb", "jsonb"},
	[CUCKOO_FAMILY_ARRAY] = {"array", NULL},
	[CUCKOO_FAMILY_RECORD] = {"record", NULL},
	[CUCKOO_FAMILY_RANGE] = {"range", NULL},
	[CUCKOO_FAMILY_MULTIRANGE] = {"multirange", NULL},
	[CUCKOO_FAMILY_CHAR] = {"char(n)", "bpchar"}
};

/* How "=" compares the values of a filter with values of another type. */
typedef struct FamilyComparison
{
	CuckooFamily held;
	Oid			given;
	bool		converts_held;	/* or else the given value */
	const char *types[2];		/* what it converts to, one after the other */
} FamilyComparison;

static const FamilyComparison family_comparisons[] = {
	{CUCKOO_FAMILY_NUMBER, FLOAT4OID, false, {"float8", "numeric"}},
	{CUCKOO_FAMILY_NUMBER, FLOAT8OID, false, {"numeric"}},
	{CUCKOO_FAMILY_NUMBER, OIDOID, true, {"oid"}},
	{CUCKOO_FAMILY_FLOAT, INT2OID, false, {"float8"}},
	{CUCKOO_FAMILY_FLOAT, INT4OID, false, {"float8"}},
	{CUCKOO_FAMILY_FLOAT, INT8OID, false, {"float8"}},
	{CUCKOO_FAMILY_FLOAT, NUMERICOID, false, {"float8"}},
	{CUCKOO_FAMILY_OID, INT2OID, false, {"oid"}},
	{CUCKOO_FAMILY_OID, INT4OID, false, {"oid"}},
	{CUCKOO_FAMILY_OID, INT8OID, false, {"oid"}},
	{CUCKOO_FAMILY_DATE, TIMESTAMPOID, true, {"timestamp"}},
	{CUCKOO_FAMILY_DATE, TIMESTAMPTZOID, true, {"timestamptz"}},
	{CUCKOO_FAMILY_TIMESTAMP, DATEOID, false, {"timestamp"}},
	{CUCKOO_FAMILY_TIMESTAMP, TIMESTAMPTZOID, true, {"timestamptz"}},
	{CUCKOO_FAMILY_TIMESTAMPTZ, DATEOID, false, {"timestamptz"}},
	{CUCKOO_FAMILY_TIMESTAMPTZ, TIMESTAMPOID, false, {"timestamptz"}},
	{CUCKOO_FAMILY_TIME, TIMETZOID, true, {"timetz"}},
	{CUCKOO_FAMILY_TIME, INTERVALOID, true, {"interval"}},
	{CUCKOO_FAMILY_TIMETZ, TIMEOID, false, {"timetz"}},
	{CUCKOO_FAMILY_INTERVAL, TIMEOID, false, {"interval"}}
};

const char *
cuckoo_family_name(CuckooFamily family)
{
	if ((unsigned) family > CUCKOO_FAMILY_LAST)
		return "unknown";
	return family_words[family].name;
}

/* The call that takes one value, and those that take the elements of an array. */
static const char *
family_value_call(CuckooUse use)
{
	switch (use)
	{
		case CUCKOO_USE_ADD:
			return "cf_add()";
		case CUCKOO_USE_REMOVE:
			return "cf_remove()";
		case CUCKOO_USE_PROBE:
			break;
	}
	return "cf_contains()";
}

static const char *
family_elements_call(CuckooUse use)
{
	switch (use)
	{
		case CUCKOO_USE_ADD:
			return "cf_add_all()";
		case CUCKOO_USE_REMOVE:
			return "cf_remove_all()";
		case CUCKOO_USE_PROBE:
			break;
	}
	return "cf_contains_any(), cf_contains_all() or cf_contains_each()";
}

/*
 * family_composite_hint
 *		What to do with a value for a filter of composite ones, NULL if held is
 *		another family.
 */
static char *
family_composite_hint(CuckooFamily held, CuckooUse use, bool are_elements)
{
	switch (held)
	{
		case CUCKOO_FAMILY_ARRAY:
			if (are_elements)
				return psprintf("The filter holds whole arrays, each as one value: call %s.",
								family_value_call(use));
			return pstrdup("The filter holds whole arrays: give one, cast to its type, for example \"value::bigint[]\".  For single elements, build the filter of unnest(array).");
		case CUCKOO_FAMILY_RECORD:
			return pstrdup("The filter holds whole rows: write ROW(a, b), or cast the value to the type of the rows.  For a single column, build the filter of that column.");
		case CUCKOO_FAMILY_RANGE:
		case CUCKOO_FAMILY_MULTIRANGE:
			return psprintf("The filter holds whole %ss, and does not know what is within them: give one, cast to its type, for example \"value::int4%s\".",
							family_words[held].name, family_words[held].name);
		default:
			return NULL;
	}
}

/*
 * family_literal_hint
 *		What to do with a text, which a literal without a type is, for a filter
 *		of something else.
 */
static char *
family_literal_hint(CuckooFamily held, bool are_elements)
{
	const char *const brackets = are_elements ? "[]" : "";
	StringInfoData hint;

	initStringInfo(&hint);
	appendStringInfo(&hint,
					 "Literals and parameters without a type are text: give this one the type of the values in the filter, for example \"$1::%s%s\"",
					 family_words[held].type, brackets);
	if (held == CUCKOO_FAMILY_NUMBER)
		appendStringInfo(&hint, ", or \"$1::bigint%s\" for integers",
						 brackets);
	if (held == CUCKOO_FAMILY_FLOAT)
		appendStringInfo(&hint, ", or \"$1::real%s\" for real ones", brackets);
	appendStringInfoChar(&hint, '.');
	return hint.data;
}

/*
 * family_text_hint
 *		What to do with a value of a type for a filter of texts.
 */
static char *
family_text_hint(CuckooFamily given, Oid type, bool are_elements)
{
	const char *const value = are_elements ? "elements" : "value";
	const char *const brackets = are_elements ? "[]" : "";

	if (given == CUCKOO_FAMILY_CHAR)
		return psprintf("Write \"%s::text%s\" to compare as text does, where trailing blanks count, or build the filter of \"value::bpchar\", where they do not.",
						value, brackets);
	return psprintf("Literals and parameters without a type are text.  If the filter should hold other values, build it again and cast what is added, for example \"value::%s\"; if it should hold text, write \"%s::text%s\".",
					format_type_be(type), value, brackets);
}

/*
 * family_comparison_hint
 *		How to get the answer that "=" gives for a type, NULL if it gives none.
 */
static char *
family_comparison_hint(CuckooFamily held, Oid type, bool are_elements)
{
	const char *const brackets = are_elements ? "[]" : "";

	for (size_t i = 0; i < lengthof(family_comparisons); i++)
	{
		const FamilyComparison *const comparison = &family_comparisons[i];
		StringInfoData hint;

		if (comparison->held != held || comparison->given != type)
			continue;
		if (comparison->converts_held)
			return psprintf("\"=\" compares both as %s: build the filter of \"value::%s\".",
							comparison->types[0], comparison->types[0]);

		initStringInfo(&hint);
		appendStringInfo(&hint, "Cast what is given: \"%s",
						 are_elements ? "elements" : "value");
		for (size_t j = 0; j < lengthof(comparison->types) &&
			 comparison->types[j] != NULL; j++)
			appendStringInfo(&hint, "::%s%s", comparison->types[j], brackets);
		appendStringInfoString(&hint, "\".");
		if (held == CUCKOO_FAMILY_NUMBER)
			appendStringInfoString(&hint, "  It keeps 15 digits; if values have more, build the filter of \"value::float8\".");
		return hint.data;
	}
	return NULL;
}

/*
 * family_hint
 *		What to do with a value of a type for a filter of another family, NULL
 *		if there is nothing.
 */
static char *
family_hint(CuckooFamily held, CuckooFamily given, Oid type, CuckooUse use,
			bool are_elements)
{
	char	   *hint;

	if (given == CUCKOO_FAMILY_ARRAY && !are_elements)
		return psprintf("An array is one value here; for each of its elements, call %s.",
						family_elements_call(use));
	hint = family_composite_hint(held, use, are_elements);
	if (hint != NULL)
		return hint;
	if (held == CUCKOO_FAMILY_TEXT || held == CUCKOO_FAMILY_CHAR)
		return family_text_hint(given, type, are_elements);
	if (type == TEXTOID)
		return family_literal_hint(held, are_elements);
	return family_comparison_hint(held, type, are_elements);
}

/*
 * family_message
 *		The errmsg() of cuckoo_family_error().
 */
static int
family_message(CuckooFamily held, CuckooFamily given, CuckooUse use)
{
	const char *const held_name = cuckoo_family_name(held);
	const char *const given_name = cuckoo_family_name(given);

	switch (use)
	{
		case CUCKOO_USE_ADD:
			return errmsg("filter holds %s values, cannot add %s",
						  held_name, given_name);
		case CUCKOO_USE_REMOVE:
			return errmsg("filter holds %s values, cannot remove %s",
						  held_name, given_name);
		case CUCKOO_USE_PROBE:
			break;
	}
	return errmsg("filter holds %s values, probed with %s",
				  held_name, given_name);
}

/*
 * cuckoo_family_error
 *		Say that a filter holds another kind of values than the one given.
 */
void
cuckoo_family_error(CuckooFamily held, CuckooFamily given, Oid type,
					CuckooUse use, bool are_elements)
{
	char	   *const hint = family_hint(held, given, type, use, are_elements);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 family_message(held, given, use),
			 hint != NULL ? errhint("%s", hint) : 0));
}
