/*-------------------------------------------------------------------------
 *
 * reference.h
 *		Sections 5 to 7 of docs/format.md once more: written to be read, not
 *		to be fast.
 *
 * Shares no code with src/core, so that the two check each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address as section 5.1 defines it; v has 40 bits, those cut off are 0. */
typedef struct RefEntry
{
	uint64_t	a;				/* column */
	uint64_t	v;
	uint64_t	perm;
} RefEntry;

extern RefEntry ref_primary(uint64_t hash, int k, int P);
extern RefEntry ref_alternate(RefEntry entry, int k, int P);
extern uint64_t ref_prefix(RefEntry entry, int P);
extern uint64_t ref_bucket(RefEntry entry, int k, int q, int P);
extern uint64_t ref_fingerprint(RefEntry entry, int q, int P);

/*
 * What two hashes have in common if and only if a table cannot tell them
 * apart: the smaller of the two addresses, as one number.
 */
extern uint64_t ref_class(uint64_t hash, int k, int P);
extern uint64_t ref_class_of_entry(RefEntry entry, int k, int P);
extern uint64_t ref_class_cut(uint64_t class, int k, int P, int new_P);

/* A hash with this primary address; noise fills the bits that do not matter. */
extern uint64_t ref_hash_of(RefEntry entry, int k, int P, uint64_t noise);

/* Packed buckets, bit by bit. */
extern uint64_t ref_get_bits(const uint8_t *bytes, uint64_t first, int nbits);
extern void ref_set_bits(uint8_t *bytes, uint64_t first, int nbits,
						 uint64_t value);
extern const uint8_t (*ref_nibbles(void))[4];
extern void ref_read_bucket(const uint8_t *table, uint64_t bucket, int f,
							uint64_t *fps);
extern void ref_write_bucket(uint8_t *table, uint64_t bucket, int f,
							 const uint64_t *fps);

/* The shape of a table (section 7). */
extern uint64_t ref_buckets(uint64_t n);
extern uint64_t ref_table_bytes(int k, int q, int P);
extern void ref_shape(uint64_t capacity, uint64_t e, int *k, int *P);

/* Entries that a table of so many slots is taken to hold (section 7). */
extern int64_t ref_usable(int64_t nslots);

/*
 * A multiset of numbers: a hash table with open addressing.  To visit all, go
 * through keys and counts from 0 to nslots - 1; a count of 0 is an empty slot.
 */
typedef struct RefBag
{
	uint64_t   *keys;
	int		   *counts;
	size_t		nslots;			/* 0 or a power of two */
	size_t		nkeys;
	uint64_t	total;
} RefBag;

extern void ref_bag_free(RefBag *bag);
extern int	ref_bag_count(const RefBag *bag, uint64_t key);
extern void ref_bag_set(RefBag *bag, uint64_t key, int count);
extern bool ref_bag_equal(const RefBag *a, const RefBag *b);

#endif							/* REFERENCE_H */
