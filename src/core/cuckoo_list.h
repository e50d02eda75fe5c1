/*-------------------------------------------------------------------------
 *
 * cuckoo_list.h
 *		The small form of a filter: a sorted list of 64-bit hashes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LIST_H
#define CUCKOO_LIST_H

#include "cuckoo_header.h"

extern int	cuckoo_list_count(const CuckooFilter *filter, uint64_t hash);
extern void cuckoo_list_insert(CuckooFilter *filter, uint64_t hash);
extern CuckooStatus cuckoo_list_remove(CuckooFilter *filter, uint64_t hash);
extern int	cuckoo_list_run(const CuckooFilter *filter, uint64_t position);
extern CuckooStatus cuckoo_list_check(const CuckooFilter *filter,
									  uint64_t *position);

/* The hash at a position, from 0. */
static inline uint64_t
cuckoo_list_get(const CuckooFilter *filter, uint64_t position)
{
	return cuckoo_load_le64(cuckoo_header_body(filter) + 8 * position);
}

#endif							/* CUCKOO_LIST_H */
