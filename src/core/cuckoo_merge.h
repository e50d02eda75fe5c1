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

#include "cuckoo_set.h"

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

#endif							/* CUCKOO_MERGE_H */
