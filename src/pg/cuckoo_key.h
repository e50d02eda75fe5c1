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

#include "cuckoo_hasher.h"

/*
 * The hash of a value that is not NULL.  A toasted value is detoasted; what
 * that takes is freed again before the call returns.
 */
extern uint64 cuckoo_hash_value(CuckooHasher *hasher, Datum value, uint64 seed);

#endif							/* CUCKOO_KEY_H */
