/*-------------------------------------------------------------------------
 *
 * cuckoo_set.h
 *		The filter as a whole: a list or a table, and what makes it grow.
 *
 * A filter that these functions change owns its image: it came from the
 * host's alloc, and is released and replaced when it becomes too small.  A
 * function that fails leaves the filter and its image as they were.  None
 * writes the header into the image; see cuckoo_image_store_header().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SET_H
#define CUCKOO_SET_H

#include "cuckoo_image.h"
#include "cuckoo_list.h"
#include "cuckoo_table.h"

/*
 * A smaller capacity is served by a list for good: a table of so few buckets
 * could not be relied on to take it, and would hardly be smaller.
 */
#define CUCKOO_MIN_TABLE_CAPACITY	24

/* What a user declares. */
typedef struct CuckooParameters
{
	uint64_t	capacity;		/* 1 to CUCKOO_MAX_CAPACITY */
	uint64_t	rate;			/* in units of 2^-CUCKOO_RATE_BITS */
	int			max_copies;		/* 1 to CUCKOO_MAX_COPIES */
	uint64_t	seed;
} CuckooParameters;

/*
 * Where a build takes its hashes from: their cuckoo_build_key(), ascending, as
 * often as it asks for them.
 *
 * rewind goes back to the first.  next stores up to room of them in keys, and
 * returns how many; 0 only after the last.
 */
typedef struct CuckooKeySource
{
	void		(*rewind) (void *context);
	size_t		(*next) (void *context, uint64_t *keys, size_t room);
	void	   *context;
} CuckooKeySource;

extern CuckooStatus cuckoo_set_new(CuckooFilter *filter,
								   const CuckooParameters *parameters,
								   const CuckooHost *host);
extern CuckooStatus cuckoo_set_copy(const CuckooFilter *filter,
									CuckooFilter *copy,
									const CuckooHost *host);
extern CuckooStatus cuckoo_set_build(CuckooFilter *filter,
									 const CuckooParameters *parameters,
									 const uint64_t *keys, size_t nkeys,
									 const CuckooHost *host);
extern CuckooStatus cuckoo_set_build_from(CuckooFilter *filter,
										  const CuckooParameters *parameters,
										  const CuckooKeySource *source,
										  uint64_t nkeys,
										  const CuckooHost *host);
extern CuckooStatus cuckoo_set_add(CuckooFilter *filter, uint64_t hash,
								   const CuckooHost *host);
extern CuckooStatus cuckoo_set_remove(CuckooFilter *filter, uint64_t hash);
extern int	cuckoo_set_count(const CuckooFilter *filter, uint64_t hash);
extern void cuckoo_set_contains_batch(const CuckooFilter *filter,
									  const uint64_t *hashes, size_t nhashes,
									  bool *results);
extern CuckooStatus cuckoo_set_resize(const CuckooFilter *filter,
									  CuckooFilter *resized,
									  uint64_t capacity, uint64_t rate,
									  const CuckooHost *host);
extern uint64_t cuckoo_set_max_resize(const CuckooFilter *filter);
extern bool cuckoo_set_full_is_table(const CuckooFilter *filter);
extern uint64_t cuckoo_set_full_bytes(const CuckooFilter *filter);
extern double cuckoo_set_fpr(const CuckooFilter *filter);
extern double cuckoo_set_declared_fpr(const CuckooFilter *filter);
extern double cuckoo_set_load_factor(const CuckooFilter *filter);

/* What the above are made of, for cuckoo_merge.c. */
extern CuckooStatus cuckoo_set_allocate(CuckooFilter *filter, uint64_t extra,
										const CuckooHost *host);
extern void cuckoo_set_release(CuckooFilter *filter, const CuckooHost *host);
extern CuckooStatus cuckoo_set_new_table(const CuckooFilter *filter,
										 int index_bits, CuckooFilter *table,
										 const CuckooHost *host);
extern CuckooStatus cuckoo_set_list_to_table(const CuckooFilter *filter,
											 CuckooFilter *table,
											 const CuckooHost *host);
extern CuckooStatus cuckoo_set_add_address(CuckooFilter *filter,
										   CuckooAddress address,
										   const CuckooHost *host);

/*
 * cuckoo_set_contains
 *		May this hash have been added?
 */
static inline bool
cuckoo_set_contains(const CuckooFilter *filter, uint64_t hash)
{
	return filter->is_table ? cuckoo_table_contains(filter, hash) :
		cuckoo_list_count(filter, hash) > 0;
}

/*
 * cuckoo_build_key
 *		What a build wants hashes sorted by.
 *
 * The hash turned left by 24 bits, so that its variable bits 31 to 0 come
 * first.  The superblock of a value is the first of these, whatever the
 * number of superblocks (see cuckoo_table_place()): in this order a table of
 * any size is filled from its first superblock to its last.
 */
static inline uint64_t
cuckoo_build_key(uint64_t hash)
{
	return hash << 24 | hash >> 40;
}

static inline uint64_t
cuckoo_build_key_hash(uint64_t key)
{
	return key >> 24 | key << 40;
}

#endif							/* CUCKOO_SET_H */
