/*-------------------------------------------------------------------------
 *
 * cuckoo_sql.c
 *		Pieces of the statements that change and read filters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_sql.h"

/* The name of a table, qualified and quoted. */
char *
cuckoo_sql_relation(Oid relation)
{
	char	   *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  name);
}

/* A constant that names a table, in conditions of triggers. */
char *
cuckoo_sql_regclass(Oid relation)
{
	return psprintf("%s::pg_catalog.regclass",
					quote_literal_cstr(cuckoo_sql_relation(relation)));
}

/* A table without the children that it may have, which are no partitions. */
static char *
sql_own_rows(Oid relation, const char *alias)
{
	return psprintf("%s%s AS %s",
					get_rel_relkind(relation) == RELKIND_PARTITIONED_TABLE ?
					"" : "ONLY ", cuckoo_sql_relation(relation), alias);
}

/* The source s. */
char *
cuckoo_sql_source(const CuckooAttachment *attachment)
{
	return sql_own_rows(attachment->source, "s");
}

/* The target t. */
char *
cuckoo_sql_target(const CuckooAttachment *attachment)
{
	return sql_own_rows(attachment->target, "t");
}

/* The name of a function of the extension: in the schema of any other one. */
char *
cuckoo_sql_function(Oid sibling, const char *name)
{
	return quote_qualified_identifier(get_namespace_name(get_func_namespace(sibling)),
									  name);
}

/* Arguments for the aggregates but for the capacity. */
char *
cuckoo_sql_rate(const CuckooAttachment *attachment)
{
	return psprintf("'%s'::pg_catalog.float8, %d, '%lld'::pg_catalog.int8",
					double_to_shortest_decimal(attachment->fpr),
					attachment->max_copies, (long long) attachment->seed);
}

/* Four arguments for cf_new() and the aggregates, of one filter. */
char *
cuckoo_sql_parameters(const CuckooAttachment *attachment)
{
	return psprintf("'%s'::pg_catalog.float8, %s",
					double_to_shortest_decimal(cuckoo_attachment_share(attachment)),
					cuckoo_sql_rate(attachment));
}

/* The value of a row of the source s. */
char *
cuckoo_sql_value(const CuckooAttachment *attachment)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->nvalues; i++)
		appendStringInfo(&sql, "%ss.%s", i == 0 ? "" : ", ",
						 quote_identifier(attachment->values[i]));
	return attachment->nvalues > 1 ? psprintf("ROW(%s)", sql.data) : sql.data;
}

/* One column of the key. */
char *
cuckoo_sql_key(const CuckooAttachment *attachment, CuckooSide side, int i)
{
	switch (side)
	{
		case CUCKOO_SOURCE:
			if (i == attachment->nkeys)
				return psprintf("%s(%s, %d)",
								cuckoo_sql_function(attachment->function,
													"cf_shard"),
								cuckoo_sql_value(attachment),
								attachment->nshards);
			return psprintf("s.%s", quote_identifier(attachment->keys[i]));
		case CUCKOO_TARGET:
			return psprintf("t.%s",
							quote_identifier(attachment->target_keys[i]));
		case CUCKOO_GROUP:
			return psprintf("g.k%d", i + 1);
		case CUCKOO_PARAMETER:
			return psprintf("$%d", i + 1);
	}
	return NULL;				/* keep compiler quiet */
}

/*
 * cuckoo_sql_keys
 *		All columns of the key, each put into the format: "%s" stands for the
 *		column, and "%d" after it for its number.
 */
char *
cuckoo_sql_keys(const CuckooAttachment *attachment, CuckooSide side,
				const char *format)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->ntarget_keys; i++)
		appendStringInfo(&sql, format, cuckoo_sql_key(attachment, side, i),
						 i + 1);
	return sql.data;
}

/* The key of the target and the filter, as INSERT wants them. */
char *
cuckoo_sql_target_columns(const CuckooAttachment *attachment)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->ntarget_keys; i++)
		appendStringInfo(&sql, "%s%s", i == 0 ? "" : ", ",
						 quote_identifier(attachment->target_keys[i]));
	return sql.data;
}

/*
 * sql_operand
 *		A column of the key as an operand, of the type that its domain is of.
 *
 * An operator of all enums does not take a domain of one.
 */
static char *
sql_operand(const CuckooAttachment *attachment, const CuckooColumns *columns,
			CuckooSide side, int i, Oid *type)
{
	char	   *sql = cuckoo_sql_key(attachment, side, i);
	Oid			base;
	HeapTuple	tuple;
	Form_pg_type form;

	*type = side == CUCKOO_SOURCE || side == CUCKOO_GROUP ?
		columns->keys[i].source_type : columns->keys[i].target_type;
	base = getBaseType(*type);
	if (base == *type || side == CUCKOO_PARAMETER)
	{
		*type = base;
		return sql;
	}
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

/* That the keys of two sides are the same in terms of the unique index. */
char *
cuckoo_sql_match(const CuckooAttachment *attachment,
				 const CuckooColumns *columns, CuckooSide left,
				 CuckooSide right)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->ntarget_keys; i++)
	{
		Oid			left_type;
		Oid			right_type;
		const char *left_sql = sql_operand(attachment, columns, left, i,
										   &left_type);
		const char *right_sql = sql_operand(attachment, columns, right, i,
											&right_type);

		if (i > 0)
			appendStringInfoString(&sql, " AND ");
		generate_operator_clause(&sql, left_sql, left_type,
								 columns->keys[i].equality,
								 right_sql, right_type);
	}
	if (attachment->ntarget_keys == 0)
		appendStringInfoString(&sql, "true");
	return sql.data;
}

/*
 * cuckoo_sql_followed
 *		That a row of the source s is in a filter: no column of its key is NULL,
 *		nor its value, unless that is a record.
 *
 * IS NOT NULL is not true of a composite value with a field that is NULL.
 */
char *
cuckoo_sql_followed(const CuckooAttachment *attachment)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < attachment->nkeys; i++)
		appendStringInfo(&sql, "%s IS DISTINCT FROM NULL AND ",
						 cuckoo_sql_key(attachment, CUCKOO_SOURCE, i));
	if (attachment->nvalues == 1)
		appendStringInfo(&sql, "%s IS DISTINCT FROM NULL",
						 cuckoo_sql_value(attachment));
	else
		appendStringInfoString(&sql, "true");
	return sql.data;
}

/*
 * cuckoo_sql_run
 *		Run a statement that is not worth keeping; returns the rows it had or
 *		changed.
 */
uint64
cuckoo_sql_run(const char *sql, int expected)
{
	const int	result = SPI_execute(sql, false, 0);

	if (result != expected)
		elog(ERROR, "SPI_execute returned %s", SPI_result_code_string(result));
	return SPI_processed;
}

/* A key for a message. */
const char *
cuckoo_sql_key_text(const CuckooAttachment *attachment,
					const CuckooColumns *columns, const Datum *keys)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < attachment->ntarget_keys; i++)
	{
		Oid			output;
		bool		is_varlena;

		getTypeOutputInfo(columns->keys[i].target_type, &output, &is_varlena);
		appendStringInfo(&text, "%s%s = %s", i == 0 ? "" : ", ",
						 attachment->target_keys[i],
						 OidOutputFunctionCall(output, keys[i]));
	}
	return text.data;
}
