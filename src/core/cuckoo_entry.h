/*-------------------------------------------------------------------------
 *
 * cuckoo_entry.h
 *		The key of an entry in 32 bits.
 *
 * The keys of tables with the same prefix (see cuckoo_block_keys()) say no more
 * than their entries do.  Of one cuckoo_order_part() these fit 32 bits, unless
 * the prefix is very long, and are in the order of the keys:
 *
 *	the variable bits of the prefix behind the part
 *	the number of the copy, 2 bits
 *	the permanent bits, 8 bits
 *	the column
 *	the variable bits 2 to 8; bit 1 is 0
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_ENTRY_H
#define CUCKOO_ENTRY_H

#include "cuckoo_block.h"
#include "cuckoo_hash.h"
#include "cuckoo_order.h"

#define CUCKOO_ENTRY_FIRST_BITS	7	/* of the first variable bits */

typedef struct CuckooEntryCode
{
	uint32_t	ncolumns;
	int			column_bits;
	int			free_bits;		/* variable bits behind the prefix */
	int			entry_bits;		/* of an entry in all */
	uint16_t	column_tops[CUCKOO_MAX_COLUMNS];	/* first bits of the
													 * hashes of each column */
} CuckooEntryCode;

/* The code of entries with this prefix; false if they do not fit 32 bits. */
static inline bool
cuckoo_entry_code(CuckooEntryCode *code, const CuckooGeometry *geometry)
{
	const int	part_end = CUCKOO_ORDER_PART_BITS + CUCKOO_SUPERBLOCK_BITS +
		CUCKOO_PERM_BITS;

	code->ncolumns = geometry->ncolumns;
	code->column_bits = 0;
	while (geometry->ncolumns > (uint32_t) 1 << code->column_bits)
		code->column_bits++;
	code->free_bits = CUCKOO_MAX_PREFIX_BITS - geometry->prefix_bits;
	code->entry_bits = CUCKOO_COPY_BITS + CUCKOO_PERM_BITS +
		code->column_bits + CUCKOO_ENTRY_FIRST_BITS;
	if (geometry->prefix_bits > part_end)
		code->entry_bits += geometry->prefix_bits - part_end;
	for (uint32_t column = 0; column < geometry->ncolumns; column++)
		code->column_tops[column] =
			cuckoo_column_top(column, geometry->ncolumns);
	return code->entry_bits <= 32 && code->free_bits >= CUCKOO_COPY_BITS;
}

/* The entry of a key. */
static inline uint32_t
cuckoo_entry_of_key(const CuckooEntryCode *code, uint64_t key)
{
	const uint64_t variable =
		(key & cuckoo_low_bits(64 - CUCKOO_ORDER_PART_BITS)) >> 32;
	const uint64_t number = key >> 32 & cuckoo_low_bits(CUCKOO_COPY_BITS);
	const uint64_t perm = key >> 24 & cuckoo_low_bits(CUCKOO_PERM_BITS);
	const uint64_t column = ((key >> 8 & 0xFFFF) * code->ncolumns) >> 16;
	uint64_t	entry = variable >> code->free_bits;

	entry = entry << CUCKOO_COPY_BITS | number;
	entry = entry << CUCKOO_PERM_BITS | perm;
	entry = entry << code->column_bits | column;
	entry = entry << CUCKOO_ENTRY_FIRST_BITS |
		(key & cuckoo_low_bits(CUCKOO_ENTRY_FIRST_BITS));
	return (uint32_t) entry;
}

/* The key of an entry of the given part: the inverse of the above. */
static inline uint64_t
cuckoo_entry_key(const CuckooEntryCode *code, int part, uint32_t entry)
{
	const uint64_t first = entry & cuckoo_low_bits(CUCKOO_ENTRY_FIRST_BITS);
	const uint64_t rest = entry >> CUCKOO_ENTRY_FIRST_BITS;
	const uint64_t column = rest & cuckoo_low_bits(code->column_bits);
	const uint64_t prefix = rest >> code->column_bits;
	const uint64_t perm = prefix & cuckoo_low_bits(CUCKOO_PERM_BITS);
	const uint64_t number =
		prefix >> CUCKOO_PERM_BITS & cuckoo_low_bits(CUCKOO_COPY_BITS);
	const uint64_t variable =
		prefix >> (CUCKOO_PERM_BITS + CUCKOO_COPY_BITS) << code->free_bits;
	const uint64_t top = code->column_tops[column];

	return (uint64_t) part << (64 - CUCKOO_ORDER_PART_BITS) |
		(variable | number) << 32 | perm << 24 | top << 8 | first;
}

#endif							/* CUCKOO_ENTRY_H */
