/*-------------------------------------------------------------------------
 *
 * cuckoo_family.h
 *		Families of values: which goes with which, and what to say if not.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FAMILY_H
#define CUCKOO_FAMILY_H

#include "../cuckoo_format.h"
#include "pg_compat.h"

/* What a value is used for, to say it in an error. */
typedef enum CuckooUse
{
	CUCKOO_USE_ADD,
	CUCKOO_USE_PROBE,
	CUCKOO_USE_REMOVE
} CuckooUse;

/*
 * cuckoo_family_accepts
 *		Can a value of a family be one of a filter that holds another?
 *
 * A text can be a char(n): its trailing blanks are dropped, see
 * cuckoo_hash_value_for().  The other way round it cannot, since nobody knows
 * how many blanks an equal text would have.
 */
static inline bool
cuckoo_family_accepts(CuckooFamily held, CuckooFamily given)
{
	return held == given ||
		(held == CUCKOO_FAMILY_CHAR && given == CUCKOO_FAMILY_TEXT);
}

/* The word for a family in messages ("number"), never NULL. */
extern const char *cuckoo_family_name(CuckooFamily family);

/*
 * Raise the error that a filter of one family was given a value of a type of
 * another, or an array of such values if are_elements.
 */
cuckoo_noreturn extern void cuckoo_family_error(CuckooFamily held,
												CuckooFamily given, Oid type,
												CuckooUse use,
												bool are_elements);

#endif							/* CUCKOO_FAMILY_H */
