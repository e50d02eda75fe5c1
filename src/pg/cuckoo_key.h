/*-------------------------------------------------------------------------
 *
 * cuckoo_key.h
 *		Values to key bytes, and those to hashes.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_H
#define CUCKOO_KEY_H

#include "../core/cuckoo_filter.h"
#include "cuckoo_hasher.h"

/*
 * The hash of a value that is not NULL.  A toasted value is detoasted; what
 * that takes is freed again before the call returns.
 */
extern uint64 cuckoo_hash_value(CuckooHasher *hasher, Datum value, uint64 seed);

/* The same for a text, as if it were a char(n): without trailing blanks. */
extern uint64 cuckoo_hash_text_as_char(CuckooHasher *hasher, Datum value,
									   uint64 seed);

/*
 * cuckoo_hash_value_for
 *		The hash that a filter takes of a value.
 */
static inline uint64
cuckoo_hash_value_for(CuckooHasher *hasher, Datum value,
					  const CuckooFilter *filter)
{
	if (unlikely(filter->family == CUCKOO_FAMILY_CHAR &&
				 hasher->family == CUCKOO_FAMILY_TEXT))
		return cuckoo_hash_text_as_char(hasher, value, filter->seed);
	return cuckoo_hash_value(hasher, value, filter->seed);
}

#endif							/* CUCKOO_KEY_H */
