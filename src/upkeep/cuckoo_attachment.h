/*-------------------------------------------------------------------------
 *
 * cuckoo_attachment.h
 *		An attachment, as the triggers of its two tables say it.
 *
 * An attachment says that a column of one table, the target, has filters of
 * the values of columns of another, the source: one filter for each key, or
 * one for all rows.  All that is known of it are triggers, so that it is dumped
 * and restored with the tables.
 *
 * Those of the source call cf_upkeep().  Those of inserted and deleted rows and
 * of TRUNCATE have a condition that names the target as a constant of type
 * regclass, which is a dependency and follows a table that is renamed.  The
 * others go with them; to parse a condition for each statement costs time.  The
 * arguments are
 *
 *	0	the filter column
 *	1	the columns of the source whose values are followed, as a text[]
 *	2	the columns of the source that are the key, as a text[]
 *	3	the columns of the target that these are matched with, as a text[]
 *	4	capacity of a key, 5 fpr, 6 max_copies, 7 seed of new filters
 *	8	shards of each key, 0 if it has one filter
 *	9	the column of the target with the number of the shard, else empty
 *	10	a number that no other attachment of the source has
 *
 * Those of the target call cf_guard(), with the filter column as argument; that
 * of TRUNCATE names the source in its condition.  A trigger of a source counts only if the
 * target names this source: nobody can attach a table of theirs by hand.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ATTACHMENT_H
#define CUCKOO_ATTACHMENT_H

#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

#define CUCKOO_ATTACHMENT_NARGS	11

typedef struct CuckooAttachment
{
	Oid			function;		/* one of the extension, for its schema */
	Oid			source;
	Oid			target;
	char	   *filter;
	int			nvalues;
	char	  **values;
	int			nkeys;			/* 0: the same filters for all rows */
	char	  **keys;
	int			ntarget_keys;	/* nkeys, and 1 more if there are shards */
	char	  **target_keys;	/* that of the shard comes last */
	float8		capacity;
	float8		fpr;
	int32		max_copies;
	int64		seed;
	int32		nshards;		/* 0: none */
	int32		number;			/* among those of the source */
} CuckooAttachment;

/* The triggers of a source. */
typedef enum CuckooSourceTrigger
{
	CUCKOO_TRIGGER_OPEN,		/* a statement begins */
	CUCKOO_TRIGGER_ROWS,		/* a row was inserted or deleted */
	CUCKOO_TRIGGER_UPDATE,		/* a row has another key or value */
	CUCKOO_TRIGGER_CLOSE,		/* a statement ends */
	CUCKOO_TRIGGER_TRUNCATE,
	CUCKOO_NTRIGGERS
} CuckooSourceTrigger;

/* And those of a target. */
typedef enum CuckooTargetTrigger
{
	CUCKOO_GUARD_ASSIGN,		/* a statement assigns filters */
	CUCKOO_GUARD_UPDATE,		/* a row has another key or filter */
	CUCKOO_GUARD_DELETE,		/* a row was deleted */
	CUCKOO_GUARD_TRUNCATE,
	CUCKOO_NGUARDS
} CuckooTargetTrigger;

/* pg_trigger.tgtype of each. */
extern const int16 cuckoo_trigger_types[CUCKOO_NTRIGGERS];
extern const int16 cuckoo_guard_types[CUCKOO_NGUARDS];

extern char **cuckoo_attachment_names(ArrayType *array, const char *what,
									  int *nnames);
extern char *cuckoo_attachment_names_text(char *const *names, int nnames);
extern void cuckoo_attachment_read(CuckooAttachment *attachment, Oid source,
								   Oid target, const Trigger *trigger);
extern char *cuckoo_attachment_write(const CuckooAttachment *attachment);
extern float8 cuckoo_attachment_share(const CuckooAttachment *attachment);
extern Oid	cuckoo_attachment_function(Oid sibling, const char *name);
extern Oid	cuckoo_trigger_relation(const Trigger *trigger);
extern Oid	cuckoo_trigger_target(Relation relation, const Trigger *trigger);
extern const Trigger *cuckoo_trigger_find(Relation relation, int which,
										  const CuckooAttachment *attachment);
extern int32 cuckoo_trigger_free_number(Relation source, Oid function);
extern const Trigger *cuckoo_guard_find(Relation target, int which,
										Oid function, const char *filter);
extern Oid	cuckoo_guard_source(Relation target, Oid sibling,
								const char *filter);
extern bool cuckoo_attachment_find(CuckooAttachment *attachment, Oid sibling,
								   Relation target, const char *filter);

#endif							/* CUCKOO_ATTACHMENT_H */
