/*-------------------------------------------------------------------------
 *
 * cuckoo_filter.h
 *		The filter as a whole: a list or a table, and what makes it grow.
 *
 * A filter that these functions change owns its image: it came from the
 * host's alloc, and is released and replaced when it becomes too small.  A
 * function that fails leaves the filter and its image as they were.  None
 * writes the header into the image; see cuckoo_header_store().
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FILTER_H
#define CUCKOO_FILTER_H

#include "cuckoo_image.h"
#include "cuckoo_list.h"
#include "cuckoo_remedy.h"

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

extern CuckooStatus cuckoo_filter_new(CuckooFilter *filter,
									  const CuckooParameters *parameters,
									  const CuckooHost *host);
extern CuckooStatus cuckoo_filter_copy(const CuckooFilter *filter,
									   CuckooFilter *copy,
									   const CuckooHost *host);
extern CuckooStatus cuckoo_filter_clear(const CuckooFilter *filter,
										CuckooFilter *empty,
										const CuckooHost *host);
extern CuckooStatus cuckoo_filter_add(CuckooFilter *filter, uint64_t hash,
									  const CuckooHost *host);
extern CuckooStatus cuckoo_filter_add_all(CuckooFilter *filter,
										  const uint64_t *hashes,
										  size_t nhashes,
										  CuckooJournal *journal,
										  bool *changed);
extern CuckooStatus cuckoo_filter_remove(CuckooFilter *filter, uint64_t hash);
extern CuckooStatus cuckoo_filter_remove_all(CuckooFilter *filter,
											 const uint64_t *hashes,
											 size_t nhashes,
											 CuckooJournal *journal,
											 bool *changed);
extern int	cuckoo_filter_count(const CuckooFilter *filter, uint64_t hash);
extern void cuckoo_filter_contains_batch(const CuckooFilter *filter,
										 const uint64_t *hashes, size_t nhashes,
										 bool *results);
extern CuckooStatus cuckoo_filter_resize(const CuckooFilter *filter,
										 CuckooFilter *resized,
										 uint64_t capacity, uint64_t rate,
										 const CuckooHost *host);
extern uint64_t cuckoo_filter_max_resize(const CuckooFilter *filter);
extern bool cuckoo_filter_full_is_table(const CuckooFilter *filter);
extern uint64_t cuckoo_filter_full_bytes(const CuckooFilter *filter);
extern double cuckoo_filter_estimate_values(const CuckooFilter *filter);
extern double cuckoo_filter_fpr(const CuckooFilter *filter);
extern double cuckoo_filter_declared_fpr(const CuckooFilter *filter);
extern double cuckoo_filter_load_factor(const CuckooFilter *filter);

/* What the above are made of, for cuckoo_build.c and cuckoo_merge.c. */
extern CuckooStatus cuckoo_filter_declare(CuckooFilter *filter,
										  const CuckooParameters *parameters);
extern CuckooStatus cuckoo_filter_new_list(CuckooFilter *filter, uint64_t extra,
										   const CuckooHost *host);
extern uint64_t cuckoo_filter_list_limit(const CuckooGeometry *geometry);
extern CuckooStatus cuckoo_filter_allocate(CuckooFilter *filter, uint64_t extra,
										   const CuckooHost *host);
extern void cuckoo_filter_release(CuckooFilter *filter, const CuckooHost *host);
extern CuckooStatus cuckoo_filter_new_table(const CuckooFilter *filter,
											int index_bits, CuckooFilter *table,
											const CuckooHost *host);
extern CuckooStatus cuckoo_filter_list_to_table(const CuckooFilter *filter,
												CuckooFilter *table,
												const CuckooHost *host);
extern CuckooStatus cuckoo_filter_truncate(const CuckooFilter *filter,
										   const CuckooFilter *declared,
										   CuckooFilter *coarser,
										   const CuckooHost *host);
extern CuckooStatus cuckoo_filter_add_address(CuckooFilter *filter,
											  CuckooAddress address,
											  const CuckooFilling *filling,
											  const CuckooHost *host);

/*
 * cuckoo_filter_contains
 *		May this hash have been added?
 */
static inline bool
cuckoo_filter_contains(const CuckooFilter *filter, uint64_t hash)
{
	return filter->is_table ? cuckoo_table_contains(filter, hash) :
		cuckoo_list_count(filter, hash) > 0;
}

#endif							/* CUCKOO_FILTER_H */
