/*-------------------------------------------------------------------------
 *
 * cuckoo_merge.h
 *		Two filters to one: union, intersection, and the estimated overlap.
 *
 * Filters can be merged if they have the same seed and number of columns:
 * their entries are then prefixes of the same hashes.  The result has the
 * smaller max_copies, the smaller prefix and the larger capacity.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_MERGE_H
#define CUCKOO_MERGE_H

#include "cuckoo_block.h"
#include "cuckoo_build.h"

extern CuckooStatus cuckoo_merge_compatible(const CuckooFilter *a,
											const CuckooFilter *b);
extern CuckooStatus cuckoo_merge_into(CuckooFilter *filter,
									  const CuckooFilter *other,
									  bool add_copies,
									  const CuckooHost *host);
extern CuckooStatus cuckoo_merge_intersection(const CuckooFilter *a,
											  const CuckooFilter *b,
											  CuckooFilter *common,
											  const CuckooHost *host);
extern CuckooStatus cuckoo_merge_overlap(const CuckooFilter *a,
										 const CuckooFilter *b,
										 double *nvalues,
										 const CuckooHost *host);

/*
 * Many tables at once, by way of keys: what cuckoo_build() is made from, here
 * of hashes that stand for the entries (see cuckoo_block_keys()).  The keys of
 * all tables together are those of their union, if equal ones are kept once, or
 * with add_copies up to max_copies times.  If equal ones met, a union without
 * add_copies is merged.
 */
typedef struct CuckooKeyWalk
{
	CuckooBlock block;
	uint64_t	number;			/* of the superblock to read next */
	uint32_t	column;			/* of the one read, to take next */
} CuckooKeyWalk;

extern bool cuckoo_merge_by_keys(const CuckooFilter *a,
								 const CuckooFilter *b);
extern void cuckoo_merge_header(CuckooFilter *filter,
								const CuckooFilter *other);
extern void cuckoo_merge_start_keys(CuckooKeyWalk *walk,
									const CuckooFilter *table, void *memory);
extern size_t cuckoo_merge_next_keys(CuckooKeyWalk *walk,
									 const CuckooFilter *table,
									 bool add_copies, uint64_t *keys,
									 const CuckooHost *host);
extern CuckooStatus cuckoo_merge_keys(CuckooFilter *filter,
									  const CuckooHashSource *source,
									  uint64_t nkeys, bool add_copies,
									  const CuckooHost *host);

#endif							/* CUCKOO_MERGE_H */
