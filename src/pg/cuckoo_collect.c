/*-------------------------------------------------------------------------
 *
 * cuckoo_collect.c
 *		A growing set of hashes, in the order in which a filter is built.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cuckoo_collect.h"
#include "pg_compat.h"

/*
 * There can be one collector for each of very many groups, so it starts small,
 * and as a sorted array, which can be filled: one home for all keys.  Sizes
 * are powers of two, as the server's allocator would make them anyway.
 */
#define INITIAL_SLOTS	16
#define MAX_ARRAY_SLOTS	128

/*
 * With as many slots as this (512 KB), keys wait in a batch until the memory
 * of all of their homes has been asked for.
 */
#define PENDING_SLOTS	65536
#define PENDING_KEYS	64

/*
 * Slots in use without a free one between.  Hashes that were not chosen for it
 * never get near; ones that were would make each insert as slow as that.
 */
#define MAX_RUN			4096

/* Keys handled between two checks for interrupts. */
#define POLL_KEYS		65536

/* Homes among so many slots; those behind are for what shifts there. */
#define homes_of(nslots) \
	((nslots) <= MAX_ARRAY_SLOTS ? 1 : (nslots) - (nslots) / 16)

/*
 * Keys that so many slots have room for: all but the last of an array, else
 * thirteen of sixteen homes, so that probes stay short.
 */
#define capacity_of(nslots) \
	((nslots) <= MAX_ARRAY_SLOTS ? (nslots) - 1 : homes_of(nslots) / 16 * 13)

/*
 * cuckoo_collector_init
 *		Make a collector without keys.
 */
void
cuckoo_collector_init(CuckooCollector *collector, MemoryContext context,
					  int max_equal, bool may_spill)
{
	memset(collector, 0, sizeof(*collector));
	collector->context = context;
	collector->max_equal = max_equal;
	collector->may_spill = may_spill;
}

static uint64 *
allocate_slots(CuckooCollector *collector, size_t nslots)
{
	return MemoryContextAllocExtended(collector->context,
									  nslots * sizeof(uint64),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Where a key stands if no other one is in the way. */
static inline size_t
home_slot(const CuckooCollector *collector, uint64 key)
{
	return (size_t) (((key >> 32) * collector->nhomes) >> 32);
}

/*
 * extend_tail
 *		More slots behind the last one, which is in use.
 */
static void
extend_tail(CuckooCollector *collector)
{
	const size_t nslots = collector->nslots + collector->nslots / 8 + 16;

	collector->slots = repalloc_huge(collector->slots,
									 nslots * sizeof(uint64));
	memset(collector->slots + collector->nslots, 0,
		   (nslots - collector->nslots) * sizeof(uint64));
	collector->nslots = nslots;
}

/*
 * resize
 *		Move all keys to another number of slots, a power of two.
 */
static void
resize(CuckooCollector *collector, size_t nslots)
{
	uint64	   *const old_slots = collector->slots;
	const size_t old_nslots = collector->nslots;
	size_t		next = 0;

	collector->nhomes = homes_of(nslots);
	collector->nslots = nslots;
	collector->capacity = capacity_of(nslots);
	collector->slots = allocate_slots(collector, nslots);

	for (size_t i = 0; i < old_nslots; i++)
	{
		const uint64 key = old_slots[i];

		if (key == 0)
			continue;
		next = Max(next, home_slot(collector, key));
		if (next + 1 >= collector->nslots)
			extend_tail(collector);
		collector->slots[next++] = key;
	}
	if (old_slots != NULL)
		pfree(old_slots);
	if (nslots >= PENDING_SLOTS && collector->pending == NULL)
		collector->pending =
			MemoryContextAlloc(collector->context,
							   PENDING_KEYS * sizeof(uint64));
}

/*
 * find_in_array
 *		The first slot of a sorted array whose key is not below the given one.
 */
static size_t
find_in_array(const CuckooCollector *collector, uint64 key)
{
	size_t		low = 0;
	size_t		high = collector->nkeys;

	while (low < high)
	{
		const size_t middle = (low + high) / 2;

		if (collector->slots[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * insert
 *		Insert a key where it belongs, unless there are enough of it.
 */
static void
insert(CuckooCollector *collector, uint64 key)
{
	uint64	   *const slots = collector->slots;
	const bool	is_array = collector->nhomes == 1;
	const size_t home = is_array ? 0 : home_slot(collector, key);
	size_t		slot = is_array ? find_in_array(collector, key) : home;
	size_t		end;
	int			nequal = 0;

	while (slots[slot] != 0 && slots[slot] < key)
		slot++;
	while (slots[slot] == key)
	{
		if (++nequal == collector->max_equal)
			return;
		slot++;
	}

	end = is_array ? collector->nkeys : slot;
	while (slots[end] != 0)
		end++;
	memmove(slots + slot + 1, slots + slot, (end - slot) * sizeof(uint64));
	slots[slot] = key;
	collector->nkeys++;
	if (end + 1 == collector->nslots)
		extend_tail(collector);
	if (unlikely(end - home > MAX_RUN))
		collector->is_crowded = true;
}

/*
 * insert_pending
 *		Insert the keys that wait, after asking for the memory of all.
 */
static void
insert_pending(CuckooCollector *collector)
{
	for (int i = 0; i < collector->npending; i++)
		cuckoo_prefetch(collector->slots +
						home_slot(collector, collector->pending[i]));
	for (int i = 0; i < collector->npending; i++)
		insert(collector, collector->pending[i]);
	collector->npending = 0;
}

/*
 * put_sort
 *		Give a key to the tuplesort.
 *
 * Its order is that of int8, so the highest bit is turned over.
 */
static inline void
put_sort(CuckooCollector *collector, uint64 key)
{
	tuplesort_putdatum(collector->sort,
					   Int64GetDatum((int64) (key ^ PG_INT64_MIN)), false);
}

/*
 * spill
 *		Move all keys to the tuplesort.
 */
static void
spill(CuckooCollector *collector)
{
	insert_pending(collector);
	if (collector->sort == NULL)
	{
		const MemoryContext old = MemoryContextSwitchTo(collector->context);

		collector->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator,
												InvalidOid, false, work_mem,
												NULL, TUPLESORT_RANDOMACCESS);
		MemoryContextSwitchTo(old);
	}
	for (size_t i = 0; i < collector->nslots; i++)
	{
		const uint64 key = collector->slots[i];

		if (i % POLL_KEYS == 0)
			CHECK_FOR_INTERRUPTS();
		if (key != 0)
			put_sort(collector, key);
	}
	if (collector->slots != NULL)
		memset(collector->slots, 0, collector->nslots * sizeof(uint64));
	collector->nkeys = 0;
	collector->is_crowded = false;
}

/*
 * make_room
 *		See to it that there is room for so many keys: grow, or spill.
 *
 * Returns false if that is more than may be kept in memory; no key is then.
 */
static bool
make_room(CuckooCollector *collector, uint64 nkeys)
{
	size_t		nslots = INITIAL_SLOTS;

	CHECK_FOR_INTERRUPTS();
	if (nkeys <= collector->capacity)
		return true;
	while (nkeys > capacity_of(nslots))
		nslots *= 2;
	if (collector->may_spill &&
		nslots * sizeof(uint64) > (size_t) work_mem * 1024)
	{
		spill(collector);
		return false;
	}
	resize(collector, nslots);
	return true;
}

/*
 * add_key
 *		Add a key, at once or soon.
 */
static inline void
add_key(CuckooCollector *collector, uint64 key)
{
	if (unlikely(key == 0))
	{
		if (collector->nzeros < collector->max_equal)
			collector->nzeros++;
		return;
	}

	if (unlikely(collector->is_crowded) && collector->may_spill)
		spill(collector);
	if (unlikely(collector->nkeys + collector->npending >=
				 collector->capacity))
	{
		insert_pending(collector);
		make_room(collector, collector->nkeys + 1);
	}

	if (collector->pending == NULL)
		insert(collector, key);
	else
	{
		collector->pending[collector->npending++] = key;
		if (collector->npending == PENDING_KEYS)
			insert_pending(collector);
	}
}

/*
 * cuckoo_collector_add
 *		Add a hash, unless there are max_equal of it.
 */
void
cuckoo_collector_add(CuckooCollector *collector, uint64 hash)
{
	Assert(!collector->is_sorted);
	Assert(collector->nhomes > 0 || collector->slots == NULL);
	add_key(collector, cuckoo_build_key(hash));
}

/*
 * cuckoo_collector_add_from
 *		Add all that another collector has.
 *
 * Its keys come in ascending order.  Where there is a home for each already,
 * that is as quick as can be; but in slots that have yet to grow, all of them
 * would crowd in front.  So there is room for all, or they do not stop there
 * on their way to the tuplesort.
 */
void
cuckoo_collector_add_from(CuckooCollector *collector, CuckooCollector *from)
{
	CuckooCollectorReader reader;
	const CuckooKeySource source = cuckoo_collector_source(&reader, from);
	uint64		keys[1024];
	size_t		nkeys;
	bool		in_memory;

	insert_pending(collector);
	in_memory = make_room(collector, collector->nkeys +
						  cuckoo_collector_count(from));
	source.rewind(source.context);
	while ((nkeys = source.next(source.context, keys, lengthof(keys))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < nkeys; i++)
		{
			if (in_memory || keys[i] == 0)
				add_key(collector, keys[i]);
			else
				put_sort(collector, keys[i]);
		}
	}
}

/*
 * cuckoo_collector_load
 *		Give a new collector all keys it will ever have, in ascending order.
 *
 * keys are nkeys little-endian numbers of 8 bytes, of any alignment.  Returns
 * false if they are no such keys.
 */
bool
cuckoo_collector_load(CuckooCollector *collector, const void *keys,
					  uint64 nkeys)
{
	uint64		last = 0;
	int			nequal = 0;

	collector->slots = allocate_slots(collector, Max(nkeys, 1));
	for (uint64 i = 0; i < nkeys; i++)
	{
		const uint64 key =
			cuckoo_load_le64((const uint8 *) keys + i * sizeof(uint64));

		if (i % POLL_KEYS == 0)
			CHECK_FOR_INTERRUPTS();
		nequal = key == last && i > 0 ? nequal + 1 : 1;
		if (key < last || nequal > collector->max_equal)
			return false;
		last = key;
		if (key == 0)
			collector->nzeros++;
		else
			collector->slots[collector->nkeys++] = key;
	}
	collector->nslots = collector->nkeys;
	return true;
}

/*
 * finish_sort
 *		End collecting in a collector that has spilled.
 */
static void
finish_sort(CuckooCollector *collector)
{
	if (collector->is_sorted)
		return;
	spill(collector);
	if (collector->slots != NULL)
		pfree(collector->slots);
	collector->slots = NULL;
	tuplesort_performsort(collector->sort);
	collector->is_sorted = true;
}

/* Start again with the first key. */
static void
reader_rewind(void *context)
{
	CuckooCollectorReader *const reader = context;

	reader->slot = 0;
	reader->nzeros = reader->collector->nzeros;
	reader->nequal = 0;
	if (reader->collector->sort != NULL)
		tuplesort_rescan(reader->collector->sort);
}

/*
 * next_sorted
 *		reader_next() of a collector that has spilled.
 *
 * What was spilled at different times can be equal.
 */
static size_t
next_sorted(CuckooCollectorReader *reader, uint64 *keys, size_t room)
{
	size_t		nkeys = 0;
	Datum		datum;
	bool		isnull;

	while (nkeys < room &&
		   cuckoo_tuplesort_getdatum(reader->collector->sort, &datum, &isnull))
	{
		const uint64 key = (uint64) DatumGetInt64(datum) ^ PG_INT64_MIN;

		if (!FLOAT8PASSBYVAL)
			pfree(DatumGetPointer(datum));
		if (reader->nequal > 0 && key == reader->last)
		{
			if (reader->nequal == reader->collector->max_equal)
				continue;
			reader->nequal++;
		}
		else
			reader->nequal = 1;
		reader->last = key;
		keys[nkeys++] = key;
	}
	return nkeys;
}

/* The next keys, zeros first. */
static size_t
reader_next(void *context, uint64 *keys, size_t room)
{
	CuckooCollectorReader *const reader = context;
	const CuckooCollector *const collector = reader->collector;
	size_t		nkeys = 0;

	while (nkeys < room && reader->nzeros > 0)
	{
		keys[nkeys++] = 0;
		reader->nzeros--;
	}
	if (collector->sort != NULL)
		return nkeys + next_sorted(reader, keys + nkeys, room - nkeys);

	while (nkeys < room && reader->slot < collector->nslots)
	{
		const uint64 key = collector->slots[reader->slot++];

		keys[nkeys] = key;
		nkeys += key != 0;
	}
	return nkeys;
}

/*
 * cuckoo_collector_source
 *		All keys of a collector, as the source of a build.
 *
 * reader is the caller's memory for as long as the source is used.
 */
CuckooKeySource
cuckoo_collector_source(CuckooCollectorReader *reader,
						CuckooCollector *collector)
{
	const CuckooKeySource source = {reader_rewind, reader_next, reader};

	if (collector->sort != NULL)
		finish_sort(collector);
	else
		insert_pending(collector);
	reader->collector = collector;
	return source;
}

/*
 * cuckoo_collector_count
 *		How many keys there are.
 */
uint64
cuckoo_collector_count(CuckooCollector *collector)
{
	CuckooCollectorReader reader;
	const CuckooKeySource source = cuckoo_collector_source(&reader, collector);
	uint64		keys[1024];
	uint64		count = 0;
	size_t		nkeys;

	if (collector->sort == NULL)
		return collector->nkeys + collector->nzeros;

	source.rewind(source.context);
	while ((nkeys = source.next(source.context, keys, lengthof(keys))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		count += nkeys;
	}
	return count;
}

/*
 * cuckoo_collector_end
 *		Give back what is not memory of the context: files of the tuplesort.
 */
void
cuckoo_collector_end(CuckooCollector *collector)
{
	if (collector->sort != NULL)
		tuplesort_end(collector->sort);
	collector->sort = NULL;
}
