/*-------------------------------------------------------------------------
 *
 * cuckoo_hash.h
 *		From key bytes to a hash, and from a hash to its two addresses.
 *
 * An address names a place in a table that has as many buckets as there are
 * prefixes: a column, and a prefix inside it.  The table really has 2^q
 * buckets per column; cuckoo_table.h turns an address into a bucket and the
 * fingerprint that is left.
 *
 * This is the partial-key cuckoo hashing of Fan, Andersen, Kaminsky and
 * Mitzenmacher (CoNEXT 2014, section 3.1), i2 = i1 XOR hash(fingerprint),
 * carried over to a number of columns that is no power of two and to
 * fingerprints that become shorter as the table grows: what the alternate
 * depends on are 8 permanent bits, which never leave the fingerprint.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HASH_H
#define CUCKOO_HASH_H

#include "cuckoo_bytes.h"
#include "../cuckoo_format.h"

/*
 * 2^64 divided by the golden ratio, made odd: Knuth's multiplier (The Art of
 * Computer Programming 3, section 6.4).
 */
#define CUCKOO_GOLDEN		UINT64_C(0x9E3779B97F4A7C15)

typedef struct CuckooAddress
{
	uint32_t	column;			/* 0 to k - 1 */
	uint64_t	prefix;			/* P bits, the lowest 8 permanent, not zero */
} CuckooAddress;

extern uint64_t cuckoo_hash(const void *key, size_t key_bytes, uint64_t seed);
extern uint64_t cuckoo_checksum(const void *image, size_t image_bytes);

/*
 * cuckoo_hash_address
 *		The primary address of a hash.
 *
 * The top 16 bits, scaled down to ncolumns, give the column.  The lowest 8
 * are the permanent bits, 0 taken as 1 so that no fingerprint is zero.  Of
 * the 40 between, the top prefix_bits - 8 go before them in the prefix.
 */
static inline CuckooAddress
cuckoo_hash_address(uint64_t hash, uint32_t ncolumns, int prefix_bits)
{
	const uint64_t perm = (hash & 0xFF) + ((hash & 0xFF) == 0);
	const uint64_t variable = (hash >> 8) & cuckoo_low_bits(40);
	CuckooAddress address;

	address.column = (uint32_t) (((hash >> 48) * ncolumns) >> 16);
	address.prefix = (variable >> (48 - prefix_bits)) << 8 | perm;
	return address;
}

/*
 * cuckoo_alternate_address
 *		The other address of whatever stands at this one.
 *
 * The product is a permutation of the permanent bits spread over 64; its top
 * bits choose the sum of the two columns, the next ones which of the top 8
 * variable bits differ.  The highest of these always does, so the two buckets
 * of a value are different ones as soon as there are two per column.  Both
 * steps undo themselves, and the permanent bits stay: an involution.
 */
static inline CuckooAddress
cuckoo_alternate_address(CuckooAddress address, uint32_t ncolumns,
						 int prefix_bits)
{
	const uint64_t perm = address.prefix & 0xFF;
	const uint64_t mixed = perm * perm * CUCKOO_GOLDEN;
	const uint32_t column_sum = (uint32_t) (((mixed >> 48) * ncolumns) >> 16);
	const uint64_t flip = 0x80 | ((mixed >> 40) & 0x7F);
	CuckooAddress alternate;

	alternate.column = column_sum >= address.column ?
		column_sum - address.column :
		column_sum + ncolumns - address.column;
	if (prefix_bits >= 16)
		alternate.prefix = address.prefix ^ flip << (prefix_bits - 8);
	else
		alternate.prefix = address.prefix ^ (flip >> (16 - prefix_bits)) << 8;
	return alternate;
}

/* The smallest first 16 bits of a hash that give this column. */
static inline uint16_t
cuckoo_column_top(uint32_t column, uint32_t ncolumns)
{
	return (uint16_t) ((((uint64_t) column << 16) + ncolumns - 1) / ncolumns);
}

/*
 * cuckoo_address_hash
 *		A hash whose primary address this is.
 *
 * number becomes the lowest of the variable bits, below those of the prefix:
 * it is less than 2^(CUCKOO_MAX_PREFIX_BITS - prefix_bits).
 */
static inline uint64_t
cuckoo_address_hash(CuckooAddress address, uint32_t ncolumns, int prefix_bits,
					uint64_t number)
{
	const uint64_t top = cuckoo_column_top(address.column, ncolumns);
	const uint64_t variable = address.prefix >> CUCKOO_PERM_BITS <<
		(CUCKOO_MAX_PREFIX_BITS - prefix_bits) | number;

	return top << 48 | variable << CUCKOO_PERM_BITS |
		(address.prefix & cuckoo_low_bits(CUCKOO_PERM_BITS));
}

/*
 * cuckoo_prefix_cut
 *		A prefix without the last ncut of its variable bits.
 *
 * Works on a fingerprint as well, which ends like its prefix.
 */
static inline uint64_t
cuckoo_prefix_cut(uint64_t prefix, int ncut)
{
	return prefix >> (CUCKOO_PERM_BITS + ncut) << CUCKOO_PERM_BITS |
		(prefix & cuckoo_low_bits(CUCKOO_PERM_BITS));
}

#endif							/* CUCKOO_HASH_H */
