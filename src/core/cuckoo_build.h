/*-------------------------------------------------------------------------
 *
 * cuckoo_build.h
 *		A whole filter at once, from hashes in a certain order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUILD_H
#define CUCKOO_BUILD_H

#include "cuckoo_filter.h"

/*
 * cuckoo_order_hash
 *		What a build wants hashes sorted by.
 *
 * The hash turned left by 24 bits, so that its variable bits 31 to 0 come
 * first.  The superblock of a value is the first of these, whatever the
 * number of superblocks (see cuckoo_table_place()): in this order a table of
 * any size is filled from its first superblock to its last.
 */
static inline uint64_t
cuckoo_order_hash(uint64_t hash)
{
	return hash << 24 | hash >> 40;
}

static inline uint64_t
cuckoo_order_hash_back(uint64_t key)
{
	return key >> 24 | key << 40;
}

/*
 * Where a build takes its hashes from: their cuckoo_order_hash(), ascending, as
 * often as it asks for them.
 *
 * rewind goes back to the first.  next stores up to room of them in keys, and
 * returns how many; 0 only after the last.
 */
typedef struct CuckooHashSource
{
	void		(*rewind) (void *context);
	size_t		(*next) (void *context, uint64_t *keys, size_t room);
	void	   *context;
} CuckooHashSource;

/* An array of keys, and it as a source. */
typedef struct CuckooHashArray
{
	const uint64_t *keys;
	size_t		nkeys;
	size_t		position;		/* of the next one to give */
} CuckooHashArray;

extern CuckooHashSource cuckoo_build_array_source(CuckooHashArray *array);

extern CuckooStatus cuckoo_build(CuckooFilter *filter,
								 const CuckooParameters *parameters,
								 const CuckooHashSource *source,
								 uint64_t nkeys, const CuckooHost *host);
extern CuckooStatus cuckoo_build_table(CuckooFilter *filter,
									   const CuckooHashSource *source,
									   uint64_t nkeys, int held_bits,
									   const CuckooHost *host);
extern CuckooStatus cuckoo_build_array(CuckooFilter *filter,
									   const CuckooParameters *parameters,
									   const uint64_t *keys, size_t nkeys,
									   const CuckooHost *host);

#endif							/* CUCKOO_BUILD_H */
