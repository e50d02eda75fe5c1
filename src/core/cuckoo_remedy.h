/*-------------------------------------------------------------------------
 *
 * cuckoo_remedy.h
 *		What to do about a table in which an add finds no room.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_REMEDY_H
#define CUCKOO_REMEDY_H

#include "cuckoo_table.h"

typedef enum CuckooRemedyKind
{
	CUCKOO_GROW,				/* double the table */
	CUCKOO_LOWER_COPIES,		/* to max_copies for each value */
	CUCKOO_REFUSE				/* for the reason in status */
} CuckooRemedyKind;

typedef struct CuckooRemedy
{
	CuckooRemedyKind kind;
	int			max_copies;		/* if copies are to be lowered */
	CuckooStatus status;		/* CUCKOO_FULL or CUCKOO_COLLIDING if refused */
} CuckooRemedy;

/*
 * What is known of a table that is being filled with more than one value: all
 * zero if nothing is.
 */
typedef struct CuckooFilling
{
	uint64_t	nexpected;		/* entries that it is to have, at most */
	int			held_bits;		/* index bits of a table that held them */
	bool		is_build;		/* from nothing: nexpected is exact */
} CuckooFilling;

extern CuckooRemedy cuckoo_remedy_choose(const CuckooFilter *table,
										 CuckooAddress address,
										 const CuckooFilling *filling,
										 const CuckooHost *host);
extern bool cuckoo_remedy_is_due(const CuckooFilter *table);

#endif							/* CUCKOO_REMEDY_H */
