/*-------------------------------------------------------------------------
 *
 * cuckoo_pool.c
 *		The entries of many tables, to make one of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cuckoo_pool.h"

/* There can be a pool for each of many groups, so parts start small. */
#define INITIAL_ENTRIES		16

#define SAMPLE_PARTS		16

/*
 * cuckoo_pool_new
 *		A pool without entries.
 */
CuckooPool *
cuckoo_pool_new(MemoryContext context, const CuckooEntryCode *code,
				int max_equal)
{
	CuckooPool *pool = MemoryContextAllocZero(context, sizeof(CuckooPool));

	pool->context = context;
	pool->code = *code;
	pool->max_equal = max_equal;
	return pool;
}

/*
 * pool_sort_part
 *		Sort a part, and drop what there is too often.
 */
static void
pool_sort_part(CuckooPool *pool, CuckooPoolPart *part)
{
	CHECK_FOR_INTERRUPTS();
	if (part->nentries > pool->scratch_room)
	{
		if (pool->scratch != NULL)
			pfree(pool->scratch);
		pool->scratch = NULL;
		pool->scratch_room = 0;
		pool->scratch =
			MemoryContextAllocHuge(pool->context,
								   part->nentries * sizeof(uint32));
		pool->scratch_room = part->nentries;
	}
	pool->nentries -= part->nentries;
	part->nentries = cuckoo_order_entries(part->entries, pool->scratch,
										  part->nentries,
										  pool->code.entry_bits,
										  pool->max_equal);
	pool->nentries += part->nentries;
}

/*
 * pool_make_room
 *		Let a part that is full grow, unless sorting makes room.
 *
 * Room that has not come to be used takes no memory, so it grows in large
 * steps.  One part of SAMPLE_PARTS is always sorted: entries are spread evenly,
 * so that it tells of all parts whether there is much to lose.
 */
static void
pool_make_room(CuckooPool *pool, CuckooPoolPart *part)
{
	const bool	is_sample = (part - pool->parts) % SAMPLE_PARTS == 0;
	const size_t room = Max(part->room * 4, INITIAL_ENTRIES);

	if (part->room > 0 && (is_sample || pool->has_equal))
	{
		pool_sort_part(pool, part);
		if (is_sample)
			pool->has_equal = part->nentries <= part->room - part->room / 8;
		if (part->nentries <= part->room - part->room / 4)
			return;
	}
	if (part->entries == NULL)
		part->entries = MemoryContextAllocHuge(pool->context,
											   room * sizeof(uint32));
	else
		part->entries = repalloc_huge(part->entries, room * sizeof(uint32));
	part->room = room;
}

/*
 * cuckoo_pool_add
 *		Add the entries of keys, in any order.
 */
void
cuckoo_pool_add(CuckooPool *pool, const uint64 *keys, size_t nkeys)
{
	for (size_t i = 0; i < nkeys; i++)
	{
		CuckooPoolPart *const part =
			&pool->parts[cuckoo_order_part(keys[i])];

		if (unlikely(part->nentries == part->room))
			pool_make_room(pool, part);
		part->entries[part->nentries++] =
			cuckoo_entry_of_key(&pool->code, keys[i]);
		pool->nentries++;
	}
}

/*
 * cuckoo_pool_count
 *		How many entries there are, now that they are sorted.
 */
uint64
cuckoo_pool_count(CuckooPool *pool)
{
	for (int i = 0; i < CUCKOO_ORDER_PARTS; i++)
	{
		if (pool->parts[i].nentries > 0)
			pool_sort_part(pool, &pool->parts[i]);
	}
	return pool->nentries;
}

/* Start again with the first key. */
static void
pool_reader_rewind(void *context)
{
	CuckooPoolReader *const reader = context;

	reader->part = 0;
	reader->position = 0;
}

/* The next keys. */
static size_t
pool_reader_next(void *context, uint64 *keys, size_t room)
{
	CuckooPoolReader *const reader = context;
	size_t		nkeys = 0;

	while (nkeys < room && reader->part < CUCKOO_ORDER_PARTS)
	{
		const CuckooPoolPart *const part = &reader->pool->parts[reader->part];
		const size_t n = Min(room - nkeys, part->nentries - reader->position);

		for (size_t i = 0; i < n; i++)
			keys[nkeys + i] =
				cuckoo_entry_key(&reader->pool->code, reader->part,
								 part->entries[reader->position + i]);
		nkeys += n;
		reader->position += n;
		if (reader->position == part->nentries)
		{
			reader->part++;
			reader->position = 0;
		}
	}
	return nkeys;
}

/*
 * cuckoo_pool_source
 *		The keys of all entries, as the source of a build, after
 *		cuckoo_pool_count().
 *
 * reader is the caller's memory for as long as the source is used.
 */
CuckooHashSource
cuckoo_pool_source(CuckooPoolReader *reader, const CuckooPool *pool)
{
	const CuckooHashSource source = {pool_reader_rewind, pool_reader_next,
	reader};

	reader->pool = pool;
	return source;
}
