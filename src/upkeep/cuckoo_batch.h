/*-------------------------------------------------------------------------
 *
 * cuckoo_batch.h
 *		What the open statements of a transaction have done to a source.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BATCH_H
#define CUCKOO_BATCH_H

#include "lib/rbtree.h"

#include "cuckoo_session.h"

/* What is done to the filter of one key. */
typedef struct CuckooTenant
{
	RBTNode		node;
	uint32		number;			/* in order of arrival */
	Datum	   *keys;
	uint64	   *removed;		/* filled in when the batch is flushed */
	uint64	   *added;
	size_t		nremoved;
	size_t		nadded;
} CuckooTenant;

/* One value less or more. */
typedef struct CuckooEntry
{
	uint64		hash;
	uint32		tenant;
	bool		is_added;
} CuckooEntry;

/*
 * A statement that begins or ends.  Triggers of foreign keys run theirs with
 * the flag of SECURITY_NOFORCE_RLS.
 */
typedef struct CuckooStatement
{
	Oid			relation;
	TriggerEvent event;			/* INSERT, UPDATE or DELETE */
	int			depth;			/* of triggers */
	bool		is_flagged;
} CuckooStatement;

/* Where a subtransaction began to use the batch. */
typedef struct CuckooMark
{
	SubTransactionId subid;
	int			nopen;
	size_t		nentries;
} CuckooMark;

typedef struct CuckooBatch
{
	CuckooUpkeep *upkeep;		/* of the call that works with the batch */
	MemoryContext context;		/* of entries and keys; NULL while there are
								 * none */
	MemoryContext row_context;	/* reset after each row */
	CuckooStatement *opens;
	int			nopen;
	int			opens_room;
	CuckooEntry *entries;
	size_t		nentries;
	size_t		room;
	RBTree	   *tenants;
	uint32		ntenants;
	CuckooTenant *last;			/* of the row before */
	Datum	   *keys;			/* of a row, as the following */
	bool	   *key_nulls;
	Datum	   *values;
	bool	   *value_nulls;
	CuckooMark *marks;
	int			nmarks;
	int			marks_room;
} CuckooBatch;

extern void cuckoo_batch_initialize(void);
extern CuckooBatch *cuckoo_batch_new(void);
extern void cuckoo_batch_open(CuckooBatch *batch,
							  const CuckooStatement *open);
extern bool cuckoo_batch_close(CuckooBatch *batch,
							   const CuckooStatement *close);
extern void cuckoo_batch_add_row(CuckooBatch *batch,
								 const CuckooTrigger *trigger,
								 TupleTableSlot *slot, bool is_added);
extern bool cuckoo_batch_take(CuckooBatch *batch, CuckooBatch *taken);

#endif							/* CUCKOO_BATCH_H */
