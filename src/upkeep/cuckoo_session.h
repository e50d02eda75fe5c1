/*-------------------------------------------------------------------------
 *
 * cuckoo_session.h
 *		What a session keeps of attachments from one statement to the next.
 *
 * Only the structures: cuckoo_upkeep.c fills them in, cuckoo_batch.c works
 * with them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SESSION_H
#define CUCKOO_SESSION_H

#include "executor/spi.h"

#include "../pg/cuckoo_pg.h"
#include "cuckoo_columns.h"

struct CuckooBatch;

/* A filter column. */
typedef struct CuckooUpkeepKey
{
	Oid			target;
	int32		filter;			/* attribute number */
} CuckooUpkeepKey;

/* An attachment. */
typedef struct CuckooUpkeep
{
	CuckooUpkeepKey key;
	bool		is_valid;
	int			nusers;			/* calls that work with it */
	MemoryContext context;		/* of all that follows, and of this */
	Oid			owner;			/* of the source */
	CuckooAttachment attachment;
	CuckooColumns columns;
	FmgrInfo   *order;			/* of the key columns */
	CuckooHasher *hasher;
	CuckooParameters parameters;
	bool		is_plain;		/* changing a filter runs no code of others */
	SPIPlanPtr	update;			/* NULL until it is needed, as are the others */
	SPIPlanPtr	insert;
	SPIPlanPtr	lock;
	SPIPlanPtr	check;
	struct CuckooBatch *batch;	/* of the transaction; outlives this */
} CuckooUpkeep;

/* A trigger, and where its relation has the columns. */
typedef struct CuckooTrigger
{
	Oid			trigger;		/* key in the table of them */
	Oid			relation;
	bool		is_valid;
	bool		is_followed;	/* the source, or a partition of it */
	bool		is_detached;	/* concurrently: nothing is removed any more */
	bool		has_open;		/* its statements are counted */
	CuckooUpkeep *upkeep;		/* NULL if there is none */
	AttrNumber *values;			/* in the context of the upkeep */
	AttrNumber *keys;
} CuckooTrigger;

#endif							/* CUCKOO_SESSION_H */
