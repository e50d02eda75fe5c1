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
#include "cuckoo_order.h"

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
