/*-------------------------------------------------------------------------
 *
 * cuckoo_block.h
 *		A superblock, or a table without superblocks, while it is filled or read.
 *
 * It is unpacked: four rows with a slot of each bucket, and the number of used
 * slots of each beside them.  While it is filled, values are placed without
 * looking at what is in the slots, and all else is done when they have come:
 * buckets are put in order, copies beyond max_copies taken out, the values that
 * found both of their buckets full added with relocation, and the block packed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BLOCK_H
#define CUCKOO_BLOCK_H

#include "cuckoo_search.h"

/* Slots of a column of a block, at most. */
#define CUCKOO_COLUMN_SLOTS		(CUCKOO_BUCKET_SLOTS << CUCKOO_SUPERBLOCK_BITS)

/* Bits of a key for the number of a copy, 0 to CUCKOO_MAX_COPIES - 1. */
#define CUCKOO_COPY_BITS		2

typedef struct CuckooBlock
{
	CuckooGeometry geometry;	/* of the table */
	int			block_bits;		/* index bits within the block */
	uint32_t	nbuckets;
	uint32_t	stride;			/* of a row: room for whole groups of lanes */

	/* of each value of the permanent bits; 0 is taken as 1 */
	uint8_t		column_sums[256];
	uint8_t		index_flips[256];
	uint64_t	fp_flips[256];
	uint64_t	variable_flips[256];

	uint16_t	column_tops[CUCKOO_MAX_COLUMNS];	/* first bits of the
													 * hashes of each column */

	uint64_t	number;			/* of the superblock */
	uint64_t	first_bucket;	/* of it in the table */
	bool		is_packed;		/* into the table: more go there */
	uint64_t   *waiting;		/* ordered hashes that found no free slot */
	uint32_t	nwaiting;		/* at most nbuckets */
	uint64_t   *visited;		/* by a search: a bit for each bucket, all 0
								 * between searches */
	void	   *rows;			/* four, and one for what has no free slot; in
								 * a block that is read, buckets side by side */
	uint8_t    *loads;			/* used slots of each bucket */
	uint8_t    *crowds;			/* of each group of buckets, once they are in
								 * order: may there be too many copies? */

	uint64_t	homeless;		/* ordered hash for which there was no room */
} CuckooBlock;

extern size_t cuckoo_block_bytes(const CuckooFilter *table);
extern void cuckoo_block_init(CuckooBlock *block, const CuckooFilter *table,
							  void *memory);
extern void cuckoo_block_start(CuckooBlock *block, const CuckooFilter *table,
							   uint64_t number);
extern CuckooStatus cuckoo_block_add(CuckooBlock *block, CuckooFilter *table,
									 const uint64_t *ordered,
									 size_t nordered, const CuckooHost *host);
extern CuckooStatus cuckoo_block_finish(CuckooBlock *block,
										CuckooFilter *table,
										const CuckooHost *host);
extern void cuckoo_block_read(CuckooBlock *block, const CuckooFilter *table,
							  uint64_t number);
extern size_t cuckoo_block_keys(const CuckooBlock *block, uint32_t column,
								bool add_copies, uint64_t *keys);

#endif							/* CUCKOO_BLOCK_H */
