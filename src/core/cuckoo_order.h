/*-------------------------------------------------------------------------
 *
 * cuckoo_order.h
 *		Sorting and merging 64-bit keys, and sorting 32-bit entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ORDER_H
#define CUCKOO_ORDER_H

#include "cuckoo_bytes.h"

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

/* Keys fall into so many parts by their first bits. */
#define CUCKOO_ORDER_PART_BITS	8
#define CUCKOO_ORDER_PARTS		(1 << CUCKOO_ORDER_PART_BITS)

/* The part of a key, 0 to CUCKOO_ORDER_PARTS - 1: ascending, as the keys are. */
static inline int
cuckoo_order_part(uint64_t key)
{
	return (int) (key >> (64 - CUCKOO_ORDER_PART_BITS));
}

extern void cuckoo_order_sort(uint64_t *keys, uint64_t *sorted, size_t nkeys,
							  bool are_of_one_part);
extern size_t cuckoo_order_merge(uint64_t *keys, size_t nkeys,
								 const uint64_t *more, size_t nmore,
								 int max_equal);
extern size_t cuckoo_order_entries(uint32_t *entries, uint32_t *help,
								   size_t nentries, int entry_bits,
								   int max_equal);

#endif							/* CUCKOO_ORDER_H */
