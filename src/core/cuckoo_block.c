/*-------------------------------------------------------------------------
 *
 * cuckoo_block.c
 *		A superblock, or a table without superblocks, while it is filled or read.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_block.h"
#include "cuckoo_order.h"
#include "cuckoo_table.h"

/* Buckets that are put in order at a time, in vector registers if they can be. */
#define LANES				8

/* Slots are asked for so many waiting values ahead. */
#define PREFETCH_WAITING	4

#define NROWS				(CUCKOO_BUCKET_SLOTS + 1)

/* Nodes as those of cuckoo_search.h, of a search in a block. */
typedef struct BlockSearch
{
	int			nnodes;
	CuckooSearchNode nodes[CUCKOO_MAX_SEARCH];
} BlockSearch;

/* The bucket of the alternate of what stands in a bucket. */
static inline uint32_t
block_other_bucket(const CuckooBlock *block, uint32_t bucket, uint32_t perm)
{
	const uint32_t column_sum = block->column_sums[perm];
	const uint32_t column = bucket >> block->block_bits;
	const uint32_t other_column = column_sum - column +
		(column_sum < column ? block->geometry.ncolumns : 0);

	return other_column << block->block_bits |
		((bucket & (((uint32_t) 1 << block->block_bits) - 1)) ^
		 block->index_flips[perm]);
}

/* Append a bucket to the nodes of a search; false if it is among them. */
static inline bool
block_visit(CuckooBlock *block, BlockSearch *search, uint32_t bucket,
			int parent, int slot)
{
	uint64_t   *const word = &block->visited[bucket / 64];
	const uint64_t bit = UINT64_C(1) << (bucket % 64);
	CuckooSearchNode *node;

	if ((*word & bit) != 0)
		return false;
	*word |= bit;
	node = &search->nodes[search->nnodes++];
	node->bucket = (uint16_t) bucket;
	node->parent = (uint16_t) parent;
	node->slot = (uint16_t) slot;
	return true;
}

static inline void
block_forget_visits(CuckooBlock *block, const BlockSearch *search)
{
	for (int i = 0; i < search->nnodes; i++)
		block->visited[search->nodes[i].bucket / 64] = 0;
}

/*
 * block_pack_words
 *		Write all buckets to the table, where each is a word.
 *
 * One after the other, and each with the bits that its first byte has of the
 * one before.  What is written behind a bucket is zero, and the next one's.
 */
static void
block_pack_words(const CuckooBlock *block, CuckooFilter *table)
{
	const CuckooPacking *const packing = &table->packing;
	const uint64_t lane = packing->rem_mask + 1;
	const uint16_t *const rows = block->rows;
	uint64_t	bit = block->first_bucket * (uint64_t) packing->bucket_bits;
	uint64_t	last = 0;

	CuckooAssert(bit % 8 == 0);
	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket++)
	{
		const uint32_t a = rows[bucket];
		const uint32_t b = rows[bucket + block->stride];
		const uint32_t c = rows[bucket + 2 * (size_t) block->stride];
		const uint32_t d = rows[bucket + 3 * (size_t) block->stride];
		const uint64_t word =
			((((d & 0xFFF) * lane + (c & 0xFFF)) * lane + (b & 0xFFF)) * lane +
			 (a & 0xFFF)) << 12 |
			cuckoo_nibbles_code(a >> 12, b >> 12, c >> 12, d >> 12);

		cuckoo_store_le64(cuckoo_header_body(table) + bit / 8,
						  word << (bit & 4) |
						  (last & (0 - (uint64_t) (bit >> 2 & 1))));
		last = word >> (packing->bucket_bits - 4);
		bit += (uint64_t) packing->bucket_bits;
	}
}

/*
 * block_key
 *		The ordered hash of a copy with this address.
 *
 * The variable bits between the prefix and the number of the copy follow from
 * the address, so that keys are spread evenly whatever the prefix.
 */
static inline uint64_t
block_key(const CuckooBlock *block, uint32_t column, uint64_t variable,
		  uint32_t perm, uint64_t number)
{
	const int	free_bits =
		CUCKOO_MAX_PREFIX_BITS - block->geometry.prefix_bits;
	const uint64_t mixed = (perm << 8 | column) * CUCKOO_GOLDEN;
	const uint64_t fill = mixed >> 1 >> (63 - free_bits + CUCKOO_COPY_BITS);

	variable = variable << free_bits | fill << CUCKOO_COPY_BITS | number;
	return variable << 32 | (uint64_t) perm << 24 |
		(uint64_t) block->column_tops[column] << 8 | variable >> 32;
}

#define ROW_SLOT		uint16_t
#define ROW_BITS		16
#define ROW_NAME(name)	name##_16
#include "cuckoo_block_rows.h"

#define ROW_SLOT		uint32_t
#define ROW_BITS		32
#define ROW_NAME(name)	name##_32
#include "cuckoo_block_rows.h"

#define ROW_SLOT		uint64_t
#define ROW_BITS		64
#define ROW_NAME(name)	name##_64
#include "cuckoo_block_rows.h"

/* The width of slots for fingerprints of so many bits. */
static inline int
block_slot_bits(int fp_bits)
{
	return fp_bits <= 16 ? 16 : fp_bits <= 32 ? 32 : 64;
}

static uint32_t
block_stride(const CuckooFilter *table)
{
	const uint32_t nbuckets = cuckoo_geometry_block_buckets(&table->geometry);

	return (nbuckets + LANES - 1) / LANES * LANES;
}

/*
 * cuckoo_block_bytes
 *		Memory that a block of a table needs.
 */
size_t
cuckoo_block_bytes(const CuckooFilter *table)
{
	const size_t stride = block_stride(table);

	return sizeof(uint64_t) +	/* to align */
		stride * sizeof(uint64_t) + (stride / 64 + 1) * sizeof(uint64_t) +
		NROWS * stride * (size_t) (block_slot_bits(table->packing.fp_bits) / 8) +
		stride + stride / LANES;
}

/*
 * cuckoo_block_init
 *		Make a block of a table, in memory of cuckoo_block_bytes().
 *
 * The memory is never part of an image, so wider pointers are all right.
 */
void
cuckoo_block_init(CuckooBlock *block, const CuckooFilter *table, void *memory)
{
	const CuckooGeometry *const geometry = &table->geometry;
	const uint32_t stride = block_stride(table);
	const size_t visited_words = stride / 64 + 1;
	const size_t alignment = sizeof(uint64_t);
	const int	fp_bits = cuckoo_geometry_fp_bits(geometry);

	memset(block, 0, sizeof(*block));
	block->geometry = *geometry;
	block->block_bits = geometry->index_bits < CUCKOO_SUPERBLOCK_BITS ?
		geometry->index_bits : CUCKOO_SUPERBLOCK_BITS;
	block->nbuckets = cuckoo_geometry_block_buckets(geometry);
	block->stride = stride;

	block->waiting = (uint64_t *) ((uint8_t *) memory +
								   (alignment - (uintptr_t) memory % alignment) %
								   alignment);
	block->visited = block->waiting + stride;
	block->rows = block->visited + visited_words;
	block->loads = (uint8_t *) block->rows + (size_t) stride * NROWS *
		(size_t) (block_slot_bits(fp_bits) / 8);
	block->crowds = block->loads + stride;
	memset(block->visited, 0, visited_words * sizeof(uint64_t));

	for (uint32_t i = 0; i < 256; i++)
	{
		/* of index zero and a fingerprint without other bits, at column 0 */
		const CuckooAddress address = {0, i + (i == 0)};
		const CuckooAddress alternate =
			cuckoo_alternate_address(address, geometry->ncolumns,
									 geometry->prefix_bits);

		block->column_sums[i] = (uint8_t) alternate.column;
		block->index_flips[i] = (uint8_t)
			(alternate.prefix >> (geometry->prefix_bits - block->block_bits));
		block->fp_flips[i] = (address.prefix ^ alternate.prefix) &
			cuckoo_low_bits(fp_bits);
		block->variable_flips[i] =
			(address.prefix ^ alternate.prefix) >> CUCKOO_PERM_BITS;
	}
	for (uint32_t column = 0; column < geometry->ncolumns; column++)
		block->column_tops[column] =
			cuckoo_column_top(column, geometry->ncolumns);
}

/*
 * cuckoo_block_start
 *		Begin with the given superblock.
 */
void
cuckoo_block_start(CuckooBlock *block, const CuckooFilter *table,
				   uint64_t number)
{
	const int	slot_bits = block_slot_bits(table->packing.fp_bits);

	block->number = number;
	block->first_bucket = number * block->nbuckets;
	block->is_packed = false;
	block->nwaiting = 0;
	memset(block->loads, 0, block->stride);
	memset(block->rows, 0, (size_t) block->stride * CUCKOO_BUCKET_SLOTS *
		   (size_t) (slot_bits / 8));
}

/* Add an ordered hash to the table itself. */
static CuckooStatus
block_add_packed(CuckooBlock *block, CuckooFilter *table, uint64_t ordered)
{
	const uint64_t hash = cuckoo_order_hash_back(ordered);

	block->homeless = ordered;
	return cuckoo_table_add(table, cuckoo_table_hash_address(table, hash));
}

/*
 * cuckoo_block_add
 *		Add ordered hashes, all of the superblock begun.
 *
 * Returns CUCKOO_OK; or CUCKOO_NO_ROOM if one of them, homeless, finds no
 * place, with the table holding those before.
 */
CuckooStatus
cuckoo_block_add(CuckooBlock *block, CuckooFilter *table,
				 const uint64_t *ordered, size_t nordered,
				 const CuckooHost *host)
{
	const int	slot_bits = block_slot_bits(table->packing.fp_bits);
	const uint32_t nwaiting = block->nwaiting;
	size_t		nplaced = 0;

	if (!block->is_packed)
	{
		nplaced = slot_bits == 16 ?
			block_place_16(block, ordered, nordered) : slot_bits == 32 ?
			block_place_32(block, ordered, nordered) :
			block_place_64(block, ordered, nordered);
		table->nentries += nplaced - (block->nwaiting - nwaiting);
		if (nplaced < nordered &&
			cuckoo_block_finish(block, table, host) != CUCKOO_OK)
			return CUCKOO_NO_ROOM;
	}
	for (size_t i = nplaced; i < nordered; i++)
	{
		if (block_add_packed(block, table, ordered[i]) == CUCKOO_NO_ROOM)
			return CUCKOO_NO_ROOM;
	}
	return CUCKOO_OK;
}

/*
 * cuckoo_block_finish
 *		Add what is waiting, and pack a block into the table.
 *
 * Returns what cuckoo_block_add() returns.
 */
CuckooStatus
cuckoo_block_finish(CuckooBlock *block, CuckooFilter *table,
					const CuckooHost *host)
{
	const int	slot_bits = block_slot_bits(table->packing.fp_bits);

	if (block->is_packed)
		return CUCKOO_OK;
	block->is_packed = true;
	return slot_bits == 16 ? block_finish_16(block, table, host) :
		slot_bits == 32 ? block_finish_32(block, table, host) :
		block_finish_64(block, table, host);
}

/*
 * cuckoo_block_read
 *		Unpack the given superblock of a table, to read it.
 */
void
cuckoo_block_read(CuckooBlock *block, const CuckooFilter *table,
				  uint64_t number)
{
	const int	slot_bits = block_slot_bits(table->packing.fp_bits);

	block->number = number;
	block->first_bucket = number * block->nbuckets;
	if (slot_bits == 16)
		block_read_16(block, table);
	else if (slot_bits == 32)
		block_read_32(block, table);
	else
		block_read_64(block, table);
}

/*
 * cuckoo_block_keys
 *		What a build would be made from to give the entries of a column of a
 *		block that has been read: their ordered hashes.
 *
 * A value stands at either of its two addresses; its hash is made of the one
 * whose first variable bit is 0, since that bit always differs.  Copies have
 * one hash each: with add_copies all the same, else with the number of the copy
 * in the last of the variable bits, which the prefix leaves free.
 *
 * Returns how many are in keys now, CUCKOO_COLUMN_SLOTS at most.
 */
size_t
cuckoo_block_keys(const CuckooBlock *block, uint32_t column, bool add_copies,
				  uint64_t *keys)
{
	const int	slot_bits =
		block_slot_bits(cuckoo_geometry_fp_bits(&block->geometry));

	return slot_bits == 16 ? block_keys_16(block, column, add_copies, keys) :
		slot_bits == 32 ? block_keys_32(block, column, add_copies, keys) :
		block_keys_64(block, column, add_copies, keys);
}
