/*-------------------------------------------------------------------------
 *
 * cuckoo_build.c
 *		A whole filter at once, from hashes in a certain order.
 *
 * All that an add touches is in one superblock, and the hashes come superblock
 * by superblock.  So each of these is filled unpacked, in memory that stays in
 * the cache, and packed once when all of its values have come.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_build.h"

/* Keys fetched at a time. */
#define KEY_BATCH		1024

/* Keys whose places are found before the first of them is placed. */
#define FIND_BATCH		16

/* Fingerprints are unpacked to 32 bits; longer ones are added one by one. */
#define MAX_BLOCK_FP_BITS	32

/*
 * A superblock, or a table without superblocks, that is being filled.
 */
typedef struct Block
{
	uint64_t	number;			/* of the superblock */
	uint64_t	first_bucket;	/* of it in the table */
	uint32_t	nbuckets;
	uint32_t   *fps;			/* four for each bucket, used ones first */
	uint64_t   *crowded;		/* hashes both of whose buckets were full, */
	uint32_t	ncrowded;		/* at most nbuckets of them */
	bool		is_packed;		/* into the table: more go there */
	uint64_t	homeless;		/* the hash for which there was no room */
} Block;

/*
 * build_block_bucket_load
 *		Used slots of an unpacked bucket.
 */
static inline int
build_block_bucket_load(const uint32_t *fps)
{
	return (fps[0] != 0) + (fps[1] != 0) + (fps[2] != 0) + (fps[3] != 0);
}

static inline int
build_block_bucket_count(const uint32_t *fps, uint32_t fp)
{
	return (fps[0] == fp) + (fps[1] == fp) + (fps[2] == fp) + (fps[3] == fp);
}

/*
 * build_add_hash
 *		Add a hash to the table itself.
 */
static CuckooStatus
build_add_hash(Block *block, CuckooFilter *table, uint64_t hash)
{
	block->homeless = hash;
	return cuckoo_table_add(table, cuckoo_table_hash_address(table, hash));
}

/*
 * Put two fingerprints of a bucket in order, without a branch: it would go
 * either way.
 */
static inline void
build_order(uint64_t *a, uint64_t *b)
{
	const uint64_t swap =
		0 - (uint64_t) (cuckoo_fp_sort_key(*a) > cuckoo_fp_sort_key(*b));
	const uint64_t differ = (*a ^ *b) & swap;

	*a ^= differ;
	*b ^= differ;
}

/*
 * build_block_finish
 *		Pack a block into the table, then add what was crowded out.
 */
static CuckooStatus
build_block_finish(Block *block, CuckooFilter *table)
{
	uint8_t    *const body = cuckoo_header_body(table);

	if (block->is_packed)
		return CUCKOO_OK;
	block->is_packed = true;

	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket++)
	{
		const uint32_t *const unpacked =
			block->fps + (size_t) bucket * CUCKOO_BUCKET_SLOTS;
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
			fps[slot] = unpacked[slot];
		build_order(&fps[0], &fps[1]);
		build_order(&fps[2], &fps[3]);
		build_order(&fps[0], &fps[2]);
		build_order(&fps[1], &fps[3]);
		build_order(&fps[1], &fps[2]);
		cuckoo_bucket_write(&table->packing, body,
							block->first_bucket + bucket, fps);
	}

	for (uint32_t i = 0; i < block->ncrowded; i++)
	{
		if (build_add_hash(block, table, block->crowded[i]) == CUCKOO_NO_ROOM)
			return CUCKOO_NO_ROOM;
	}
	return CUCKOO_OK;
}

/*
 * Where a hash can stand in an unpacked block.
 */
typedef struct Candidate
{
	uint32_t	slot[2];		/* the first one of each bucket */
	uint32_t	fp[2];
} Candidate;

/*
 * build_block_find
 *		Find both buckets of a hash in an unpacked block.
 */
static inline void
build_block_find(const Block *block, const CuckooFilter *table, uint64_t hash,
				 Candidate *candidate)
{
	CuckooPlace places[2];

	cuckoo_table_places(&table->geometry,
						cuckoo_table_hash_address(table, hash), places);
	for (int i = 0; i < 2; i++)
	{
		candidate->slot[i] = CUCKOO_BUCKET_SLOTS *
			(uint32_t) (places[i].bucket - block->first_bucket);
		candidate->fp[i] = (uint32_t) places[i].fp;
		cuckoo_prefetch(block->fps + candidate->slot[i]);
	}
}

/*
 * build_block_add
 *		Add a hash to the one of its buckets that has more room.
 *
 * That, and not the primary one while it has any, leaves few to relocate: one
 * in seventeen when the table is as full as it gets.  They have to wait until
 * the block is packed.
 */
static inline CuckooStatus
build_block_add(Block *block, CuckooFilter *table, uint64_t hash,
				const Candidate *candidate)
{
	uint32_t   *fps[2];
	int			load[2];
	int			choice;

	if (cuckoo_unlikely(block->ncrowded == block->nbuckets) &&
		build_block_finish(block, table) != CUCKOO_OK)
		return CUCKOO_NO_ROOM;
	if (cuckoo_unlikely(block->is_packed))
		return build_add_hash(block, table, hash);

	for (int i = 0; i < 2; i++)
	{
		fps[i] = block->fps + candidate->slot[i];
		load[i] = build_block_bucket_load(fps[i]);
	}

	if (cuckoo_unlikely(build_block_bucket_count(fps[0], candidate->fp[0]) +
						build_block_bucket_count(fps[1], candidate->fp[1]) >=
						table->max_copies))
		return CUCKOO_SATURATED;

	choice = load[1] < load[0];
	if (cuckoo_likely(load[choice] < CUCKOO_BUCKET_SLOTS))
	{
		fps[choice][load[choice]] = candidate->fp[choice];
		table->nentries++;
	}
	else
		block->crowded[block->ncrowded++] = hash;
	return CUCKOO_OK;
}

/*
 * build_block_start
 *		Begin with the given superblock.
 */
static void
build_block_start(Block *block, uint64_t number)
{
	block->number = number;
	block->first_bucket = number * block->nbuckets;
	block->ncrowded = 0;
	block->is_packed = false;
	memset(block->fps, 0, (size_t) block->nbuckets * CUCKOO_BUCKET_SLOTS *
		   sizeof(uint32_t));
}

/* The superblock that a key belongs to: as many first bits as there are. */
static inline uint64_t
build_key_block(const CuckooFilter *table, uint64_t key)
{
	const int	q = table->geometry.index_bits;

	return q <= CUCKOO_SUPERBLOCK_BITS ? 0 :
		key >> (64 - (q - CUCKOO_SUPERBLOCK_BITS));
}

/*
 * build_fill_block
 *		Place the first of some keys, all that are in the block begun.
 *
 * Where they can stand is found for a few of them at a time, and the memory
 * there asked for, before the first of these is placed.
 *
 * *nkeys is set to their number.
 */
static CuckooStatus
build_fill_block(Block *block, CuckooFilter *table, const uint64_t *keys,
				 size_t *nkeys)
{
	const size_t nall = *nkeys;
	size_t		nplaced = 0;

	while (nplaced < nall && build_key_block(table,
											 keys[nplaced]) == block->number)
	{
		Candidate	candidates[FIND_BATCH];
		size_t		nfound = 0;

		while (nfound < FIND_BATCH && nplaced + nfound < nall &&
			   build_key_block(table, keys[nplaced + nfound]) == block->number)
		{
			build_block_find(block, table,
							 cuckoo_order_hash_back(keys[nplaced + nfound]),
							 &candidates[nfound]);
			nfound++;
		}
		for (size_t i = 0; i < nfound; i++)
		{
			if (build_block_add(block, table,
								cuckoo_order_hash_back(keys[nplaced + i]),
								&candidates[i]) == CUCKOO_NO_ROOM)
				return CUCKOO_NO_ROOM;
		}
		nplaced += nfound;
	}
	*nkeys = nplaced;
	return CUCKOO_OK;
}

/*
 * build_fill_blocks
 *		Place the hashes of a source in an empty table, block by block.
 */
static CuckooStatus
build_fill_blocks(Block *block, CuckooFilter *table,
				  const CuckooHashSource *source,
				  const CuckooHost *host)
{
	uint64_t	keys[KEY_BATCH];
	size_t		nkeys;

	build_block_start(block, 0);
	while ((nkeys = source->next(source->context, keys, KEY_BATCH)) > 0)
	{
		size_t		nplaced = 0;

		cuckoo_poll(host);
		while (nplaced < nkeys)
		{
			const uint64_t number = build_key_block(table, keys[nplaced]);
			size_t		nfilled = nkeys - nplaced;

			if (number != block->number)
			{
				if (build_block_finish(block, table) != CUCKOO_OK)
					return CUCKOO_NO_ROOM;
				build_block_start(block, number);
			}
			if (build_fill_block(block, table, keys + nplaced,
								 &nfilled) != CUCKOO_OK)
				return CUCKOO_NO_ROOM;
			nplaced += nfilled;
		}
	}
	return build_block_finish(block, table);
}

/*
 * build_fill_singly
 *		Place the hashes of a source in an empty table, one by one.
 */
static CuckooStatus
build_fill_singly(Block *block, CuckooFilter *table,
				  const CuckooHashSource *source,
				  const CuckooHost *host)
{
	uint64_t	keys[KEY_BATCH];
	size_t		nkeys;

	while ((nkeys = source->next(source->context, keys, KEY_BATCH)) > 0)
	{
		cuckoo_poll(host);
		for (size_t i = 0; i < nkeys; i++)
		{
			if (build_add_hash(block, table, cuckoo_order_hash_back(keys[i])) ==
				CUCKOO_NO_ROOM)
				return CUCKOO_NO_ROOM;
		}
	}
	return CUCKOO_OK;
}

/*
 * build_fill_table
 *		Place the hashes of a source in an empty table.
 *
 * Returns CUCKOO_OK; CUCKOO_NO_ROOM if one of them, *homeless, finds no place,
 * with the table holding those before; or CUCKOO_NO_MEMORY.
 */
static CuckooStatus
build_fill_table(CuckooFilter *table, const CuckooHashSource *source,
				 uint64_t *homeless, const CuckooHost *host)
{
	Block		block = {0};
	CuckooStatus status;

	source->rewind(source->context);
	if (table->packing.fp_bits > MAX_BLOCK_FP_BITS)
		status = build_fill_singly(&block, table, source, host);
	else
	{
		const size_t alignment = sizeof(uint64_t);
		uint8_t    *memory;
		uint8_t    *aligned;

		block.nbuckets = cuckoo_geometry_block_buckets(&table->geometry);
		memory = host->alloc(host->context, alignment - 1 + block.nbuckets *
							 (sizeof(uint64_t) +
							  CUCKOO_BUCKET_SLOTS * sizeof(uint32_t)));
		if (memory == NULL)
			return CUCKOO_NO_MEMORY;
		aligned = memory +
			(alignment - (uintptr_t) memory % alignment) % alignment;
		/* scratch memory, never the image, so wider pointers are all right */
		block.crowded = (uint64_t *) aligned;
		block.fps = (uint32_t *) (block.crowded + block.nbuckets);
		status = build_fill_blocks(&block, table, source, host);
		host->release(host->context, memory);
	}
	*homeless = block.homeless;
	return status;
}

/*
 * build_try_size
 *		Make a table of the hashes of a source with so many index bits.
 *
 * Returns CUCKOO_NO_ROOM if it does not take them all, with *remedy set.
 */
static CuckooStatus
build_try_size(const CuckooFilter *filter, int index_bits,
			   const CuckooHashSource *source, const CuckooFilling *filling,
			   CuckooFilter *table, CuckooRemedy *remedy,
			   const CuckooHost *host)
{
	uint64_t	homeless;
	CuckooStatus status = cuckoo_filter_new_table(filter, index_bits, table,
												  host);

	if (status != CUCKOO_OK)
		return status;
	status = build_fill_table(table, source, &homeless, host);
	if (status == CUCKOO_NO_ROOM)
		*remedy = cuckoo_remedy_choose(table,
									   cuckoo_table_hash_address(table,
																 homeless),
									   filling, host);
	if (status != CUCKOO_OK)
		cuckoo_filter_release(table, host);
	return status;
}

/*
 * cuckoo_build_table
 *		Make a table of the hashes of a source, nkeys of them.
 *
 * filter has the header to give it, and becomes it.  The first one tried is
 * the smallest that the sizing gives so many entries, but none in which these
 * would be cut below the shortest fingerprint: a union can have a prefix that
 * is too short for its capacity.  A table that does not take them all is
 * filled anew after the remedy: the next larger one, or with fewer copies the
 * first one again.  Where tables of held_bits had room for the copies, these
 * are not lowered below that size.
 */
CuckooStatus
cuckoo_build_table(CuckooFilter *filter, const CuckooHashSource *source,
				   uint64_t nkeys, int held_bits, const CuckooHost *host)
{
	const CuckooFilling filling = {nkeys, held_bits, true};
	int			first_bits;
	int			index_bits;

	/* beyond its capacity a filter does not grow: the last size is its own */
	first_bits = cuckoo_geometry_index_bits(filter->geometry.ncolumns,
											nkeys < filter->capacity ? nkeys :
											filter->capacity);
	if (first_bits > filter->geometry.prefix_bits - CUCKOO_MIN_FP_BITS)
		first_bits = filter->geometry.prefix_bits - CUCKOO_MIN_FP_BITS;

	index_bits = first_bits;
	for (;;)
	{
		CuckooFilter table;
		CuckooRemedy remedy;
		const CuckooStatus status =
			build_try_size(filter, index_bits, source, &filling, &table,
						   &remedy, host);

		if (status == CUCKOO_OK)
		{
			cuckoo_image_assert_check(&table);
			*filter = table;
			return CUCKOO_OK;
		}
		if (status != CUCKOO_NO_ROOM)
			return status;

		switch (remedy.kind)
		{
			case CUCKOO_GROW:
				index_bits++;
				break;
			case CUCKOO_LOWER_COPIES:
				filter->max_copies = remedy.max_copies;
				index_bits = first_bits;
				break;
			case CUCKOO_REFUSE:
				return remedy.status;
		}
	}
}

/*
 * build_list
 *		Make a list of the hashes of a source.
 */
static CuckooStatus
build_list(CuckooFilter *filter, const CuckooHashSource *source,
		   uint64_t nkeys, const CuckooHost *host)
{
	const CuckooStatus status = cuckoo_filter_new_list(filter, 8 * nkeys, host);
	uint64_t	keys[KEY_BATCH];
	size_t		nnext;

	if (status != CUCKOO_OK)
		return status;
	source->rewind(source->context);
	while ((nnext = source->next(source->context, keys, KEY_BATCH)) > 0)
	{
		for (size_t i = 0; i < nnext; i++)
			cuckoo_list_insert(filter, cuckoo_order_hash_back(keys[i]));
	}
	cuckoo_image_assert_check(filter);
	return CUCKOO_OK;
}

/*
 * cuckoo_build
 *		Make a filter of many hashes at once.
 *
 * The source has nkeys of them, equal ones at most max_copies times.  The
 * result depends on nothing but them and the parameters.
 *
 * Returns what cuckoo_filter_add() returns, or cuckoo_filter_new().
 */
CuckooStatus
cuckoo_build(CuckooFilter *filter, const CuckooParameters *parameters,
			 const CuckooHashSource *source, uint64_t nkeys,
			 const CuckooHost *host)
{
	CuckooStatus status = cuckoo_filter_declare(filter, parameters);

	if (status != CUCKOO_OK)
		return status;

	if (filter->capacity < CUCKOO_MIN_TABLE_CAPACITY)
		return nkeys > filter->capacity ? CUCKOO_FULL :
			build_list(filter, source, nkeys, host);
	if (nkeys > filter->capacity ||
		nkeys > cuckoo_filter_list_limit(&filter->geometry))
	{
		status = cuckoo_build_table(filter, source, nkeys, 0, host);
		if ((status != CUCKOO_COLLIDING && status != CUCKOO_FULL) ||
			nkeys > filter->capacity || nkeys > CUCKOO_MAX_LIST_ENTRIES)
			return status;
		filter->max_copies = filter->declared_copies;
	}
	return build_list(filter, source, nkeys, host);
}

static void
build_array_rewind(void *context)
{
	((CuckooHashArray *) context)->position = 0;
}

static size_t
build_array_next(void *context, uint64_t *keys, size_t room)
{
	CuckooHashArray *const array = context;
	const size_t nleft = array->nkeys - array->position;
	const size_t nnext = nleft < room ? nleft : room;

	memcpy(keys, array->keys + array->position, nnext * sizeof(uint64_t));
	array->position += nnext;
	return nnext;
}

/*
 * cuckoo_build_array_source
 *		An array of build keys as a source.
 */
CuckooHashSource
cuckoo_build_array_source(CuckooHashArray *array)
{
	const CuckooHashSource source = {build_array_rewind, build_array_next,
	array};

	return source;
}

/*
 * cuckoo_build_array
 *		cuckoo_build() an array of build keys.
 */
CuckooStatus
cuckoo_build_array(CuckooFilter *filter, const CuckooParameters *parameters,
				   const uint64_t *keys, size_t nkeys,
				   const CuckooHost *host)
{
	CuckooHashArray array = {keys, nkeys, 0};
	const CuckooHashSource source = cuckoo_build_array_source(&array);

	return cuckoo_build(filter, parameters, &source, nkeys, host);
}
