/*-------------------------------------------------------------------------
 *
 * cuckoo_upkeep.h
 *		A filter column that follows a table: what its triggers and the
 *		functions that make them share.
 *
 * An attachment says that a column of one table, the target, has a filter of
 * the values of columns of another, the source: one filter for each key, or
 * one for all rows.  All that is known of it are the arguments of the triggers
 * of the source, so that it is dumped and restored with that table:
 *
 *	0	the target, qualified and quoted
 *	1	the filter column
 *	2	the columns of the source whose values are followed, as a text[]
 *	3	the columns of the source that are the key, as a text[]
 *	4	the columns of the target that they are matched with, as a text[]
 *	5	capacity, 6 fpr, 7 max_copies, 8 seed of new filters
 *	9	"whole" on the source, "part" on its partitions and children, which
 *		fire when they are written to directly
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_UPKEEP_H
#define CUCKOO_UPKEEP_H

#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/rel.h"

#include "../pg/cuckoo_pg.h"

#define CUCKOO_UPKEEP_NARGS		10

typedef struct CuckooAttachment
{
	char	   *target;			/* as in the arguments, so are the following */
	char	   *filter;
	int			nvalues;
	char	  **values;
	int			nkeys;			/* 0: one filter for all rows */
	char	  **keys;
	char	  **target_keys;
	float8		capacity;
	float8		fpr;
	int32		max_copies;
	int64		seed;
	bool		is_part;
} CuckooAttachment;

/* A column of the key: how it is found, compared and copied. */
typedef struct CuckooKeyColumn
{
	AttrNumber	source_attnum;
	AttrNumber	target_attnum;
	Oid			source_type;
	Oid			target_type;
	Oid			equality;		/* operator of the target's unique index */
	Oid			order;			/* its comparison function */
	Oid			collation;		/* of the index and of both columns */
	int16		typlen;
	bool		typbyval;
} CuckooKeyColumn;

/* The columns of an attachment, found in its two tables. */
typedef struct CuckooColumns
{
	AttrNumber *values;			/* of the source */
	Oid			value_type;		/* RECORDOID if there are several */
	Oid			value_collation;
	TupleDesc	value_desc;		/* of the record, or NULL */
	CuckooKeyColumn *keys;
} CuckooColumns;

/*
 * A trigger that calls the function.  Anybody can make one, with arguments that
 * mean nothing, so these are read only once it is clear that they matter.
 */
typedef struct CuckooTrigger
{
	Oid			relation;
	char	   *name;
	int16		type;			/* pg_trigger.tgtype */
	bool		is_part;
	bool		is_enabled;		/* fires for what is not replicated */
	bool		is_always;		/* and for what is */
	char	   *args[CUCKOO_UPKEEP_NARGS];
} CuckooTrigger;

/* Keeps writers out, and others who attach or rebuild; lets readers in. */
#define CUCKOO_UPKEEP_LOCK	ShareRowExclusiveLock

/* cuckoo_attachment.c */
extern char **cuckoo_attachment_names(ArrayType *array, const char *what,
									  int *nnames);
extern void cuckoo_attachment_read(CuckooAttachment *attachment, int nargs,
								   char **args);
extern char *cuckoo_attachment_write(const CuckooAttachment *attachment,
									 bool is_part);
extern Oid	cuckoo_attachment_target(const char *name);
extern List *cuckoo_triggers_of(Oid function, Oid relation, Oid target,
								const char *filter);
extern List *cuckoo_parents_of(Oid relation, bool *is_leaving);
extern void cuckoo_columns_resolve(CuckooColumns *columns,
								   const CuckooAttachment *attachment,
								   Relation source, Relation target);
extern void cuckoo_not_stored_error(Oid target);
extern void cuckoo_generated_error(Oid relation, const char *column);
extern bool cuckoo_lacks_rights(Oid role, Oid target);
extern bool cuckoo_is_restricted(Oid role, Oid target);
extern void cuckoo_require_target_rights(Relation source, Oid target);

/* cuckoo_followable.c */
extern List *cuckoo_lock_source(Oid source);
extern bool cuckoo_is_table(Oid relation);
extern void cuckoo_require_rights(List *relations, Oid target);
extern void cuckoo_require_followable(Relation source, List *relations,
									  Relation target);
extern void cuckoo_require_told(const CuckooAttachment *attachment,
								Relation source, List *relations);
extern void cuckoo_require_full_rows(const CuckooAttachment *attachment,
									 List *relations);

/* Pieces of SQL, in the current memory context. */
extern char *cuckoo_relation_sql(Oid relation);
extern char *cuckoo_only_sql(Relation target);
extern char *cuckoo_function_sql(Oid sibling, const char *name);
extern char *cuckoo_float8_text(float8 number);
extern char *cuckoo_rate_sql(const CuckooAttachment *attachment);
extern char *cuckoo_parameters_sql(const CuckooAttachment *attachment);
extern char *cuckoo_operand_sql(char *sql, Oid *type);
extern uint64 cuckoo_run_sql(const char *sql, int expected);

#endif							/* CUCKOO_UPKEEP_H */
