/*-------------------------------------------------------------------------
 *
 * cuckoo_build.c
 *		A whole filter at once, from hashes in a certain order.
 *
 * All that an add touches is in one superblock, and the hashes come superblock
 * by superblock: see cuckoo_block.h.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_block.h"
#include "cuckoo_build.h"

/* Hashes fetched at a time. */
#define HASH_BATCH		1024

/* The superblock of an ordered hash: as many first bits as there are. */
static inline uint64_t
build_superblock(const CuckooFilter *table, uint64_t ordered)
{
	const int	q = table->geometry.index_bits;

	return q <= CUCKOO_SUPERBLOCK_BITS ? 0 :
		ordered >> (64 - (q - CUCKOO_SUPERBLOCK_BITS));
}

/*
 * build_fill_blocks
 *		Place the hashes of a source in an empty table, block by block.
 */
static CuckooStatus
build_fill_blocks(CuckooBlock *block, CuckooFilter *table,
				  const CuckooHashSource *source, const CuckooHost *host)
{
	uint64_t	ordered[HASH_BATCH];
	size_t		nordered;

	cuckoo_block_start(block, table, 0);
	while ((nordered = source->next(source->context, ordered, HASH_BATCH)) > 0)
	{
		size_t		begin = 0;

		cuckoo_poll(host);
		while (begin < nordered)
		{
			const uint64_t number = build_superblock(table, ordered[begin]);
			size_t		end = nordered;

			/* most often all of them are of one superblock */
			if (build_superblock(table, ordered[end - 1]) != number)
			{
				end = begin + 1;
				while (build_superblock(table, ordered[end]) == number)
					end++;
			}
			if (number != block->number)
			{
				if (cuckoo_block_finish(block, table, host) != CUCKOO_OK)
					return CUCKOO_NO_ROOM;
				cuckoo_block_start(block, table, number);
			}
			if (cuckoo_block_add(block, table, ordered + begin,
								 end - begin, host) != CUCKOO_OK)
				return CUCKOO_NO_ROOM;
			begin = end;
		}
	}
	return cuckoo_block_finish(block, table, host);
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
	CuckooBlock block;
	CuckooStatus status;
	void	   *const memory = host->alloc(host->context,
										   cuckoo_block_bytes(table));

	if (memory == NULL)
		return CUCKOO_NO_MEMORY;
	cuckoo_block_init(&block, table, memory);
	source->rewind(source->context);
	status = build_fill_blocks(&block, table, source, host);
	host->release(host->context, memory);
	*homeless = cuckoo_order_hash_back(block.homeless);
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
	uint64_t	keys[HASH_BATCH];
	size_t		nnext;

	if (status != CUCKOO_OK)
		return status;
	source->rewind(source->context);
	while ((nnext = source->next(source->context, keys, HASH_BATCH)) > 0)
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
