/*-------------------------------------------------------------------------
 *
 * cuckoo_sql.h
 *		Pieces of the statements that change and read filters.
 *
 * All are in the current memory context.  Tables and functions are qualified,
 * and operators given with their schema: nothing depends on the search_path.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SQL_H
#define CUCKOO_SQL_H

#include "cuckoo_columns.h"

/* Where a column of the key is taken from, and so what it is called. */
typedef enum CuckooSide
{
	CUCKOO_SOURCE,				/* of source s */
	CUCKOO_TARGET,				/* of target t */
	CUCKOO_GROUP,				/* k1, k2 ... of g: the source's, grouped */
	CUCKOO_PARAMETER			/* $1, $2 ... of the types of the target */
} CuckooSide;

extern char *cuckoo_sql_relation(Oid relation);
extern char *cuckoo_sql_regclass(Oid relation);
extern char *cuckoo_sql_source(const CuckooAttachment *attachment);
extern char *cuckoo_sql_target(const CuckooAttachment *attachment);
extern char *cuckoo_sql_function(Oid sibling, const char *name);
extern char *cuckoo_sql_parameters(const CuckooAttachment *attachment);
extern char *cuckoo_sql_rate(const CuckooAttachment *attachment);
extern char *cuckoo_sql_value(const CuckooAttachment *attachment);
extern char *cuckoo_sql_key(const CuckooAttachment *attachment,
							CuckooSide side, int i);
extern char *cuckoo_sql_keys(const CuckooAttachment *attachment,
							 CuckooSide side, const char *format);
extern char *cuckoo_sql_target_columns(const CuckooAttachment *attachment);
extern char *cuckoo_sql_match(const CuckooAttachment *attachment,
							  const CuckooColumns *columns,
							  CuckooSide left, CuckooSide right);
extern char *cuckoo_sql_followed(const CuckooAttachment *attachment);
extern uint64 cuckoo_sql_run(const char *sql, int expected);
extern const char *cuckoo_sql_key_text(const CuckooAttachment *attachment,
									   const CuckooColumns *columns,
									   const Datum *keys);

#endif							/* CUCKOO_SQL_H */
