/*-------------------------------------------------------------------------
 *
 * cuckoo_shard.h
 *		Which of several filters a value is in.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SHARD_H
#define CUCKOO_SHARD_H

#include "../pg/cuckoo_pg.h"

extern int32 cuckoo_shard_of(CuckooHasher *hasher, Datum value, int32 nshards);

#endif							/* CUCKOO_SHARD_H */
