/*-------------------------------------------------------------------------
 *
 * cuckoo_write.h
 *		Statements of ours that write filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_WRITE_H
#define CUCKOO_WRITE_H

#include "cuckoo_batch.h"

/* Who runs statements of ours, and what it was before. */
typedef struct CuckooRole
{
	Oid			user;
	int			context;
	int			nestlevel;		/* of settings, 0 if none was changed */
} CuckooRole;

/* A statement of ours that writes filters. */
typedef struct CuckooWrite
{
	struct CuckooWrite *outer;	/* one that is under way, or NULL */
	Oid			target;
	int			depth;			/* of triggers, where it is run */
	bool		is_announced;	/* its statement trigger has not fired yet */
	CuckooUpkeep *upkeep;		/* what is done to the filter, or NULL */
	const CuckooTenant *tenant;
	bool		was_made;		/* a filter has been made */
	bool		is_changed;		/* the last one is another than there was */
	uint64		made;			/* its checksum */
	uint64		made_sum;		/* of all checksums */
	uint64		stored_sum;		/* and those of what was stored */
} CuckooWrite;

extern void cuckoo_role_become_plain(CuckooRole *before, Oid owner,
									 int flags);
extern void cuckoo_role_become(CuckooRole *before, Oid owner, int flags);
extern void cuckoo_role_return(const CuckooRole *before);
extern void cuckoo_write_begin(CuckooWrite *write, Oid target);
extern void cuckoo_write_end(CuckooWrite *write);
extern uint64 cuckoo_write_checksum(Datum datum);
extern bool cuckoo_write_is_ours(Oid target);
extern bool cuckoo_write_is_row_of_ours(Oid target);
extern int64 cuckoo_write_run(Oid target, const char *sql);
cuckoo_noreturn extern void cuckoo_not_stored_error(Oid target);

#endif							/* CUCKOO_WRITE_H */
