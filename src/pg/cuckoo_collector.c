/*-------------------------------------------------------------------------
 *
 * cuckoo_collector.c
 *		A growing set of hashes, in the order in which a filter is built.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "cuckoo_collector.h"
#include "pg_compat.h"

/*
 * There can be one collector for each of very many groups, so its run starts
 * small.  Sizes are powers of two, as the server's allocator would make them
 * anyway.
 */
#define INITIAL_KEYS	16

/* The most keys in a single run: what fits a second-level cache. */
#define MAX_WHOLE_KEYS	16384

/* A run grows unless a quarter of it is free once it has been sorted. */
#define max_sorted(room) ((room) - (room) / 4)

/* So few keys are sorted on the stack. */
#define STACK_KEYS		128

/* Keys copied between two checks for interrupts. */
#define KEYS_AT_ONCE		(16 * CUCKOO_POLL_INTERVAL)

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

/* The run that a key belongs to. */
static inline CuckooRun *
collector_run_of(CuckooCollector *collector, uint64 key)
{
	return collector->parts == NULL ? &collector->whole :
		&collector->parts->runs[cuckoo_order_part(key)];
}

/*
 * collector_require_own
 *		Refuse a view, which can but be added to another collector.
 */
static inline void
collector_require_own(const CuckooCollector *collector)
{
	if (unlikely(collector->view != NULL))
		elog(ERROR, "state of a cuckoo filter aggregate is used before it is combined");
}

static inline int
collector_count_runs(const CuckooCollector *collector)
{
	return collector->parts == NULL ? 1 : CUCKOO_ORDER_PARTS;
}

static inline CuckooRun *
collector_get_run(CuckooCollector *collector, int run)
{
	return collector->parts == NULL ? &collector->whole :
		&collector->parts->runs[run];
}

/*
 * collector_resize_run
 *		Give a run room for so many keys.
 */
static void
collector_resize_run(CuckooCollector *collector, CuckooRun *run, size_t room)
{
	if (run->keys == NULL)
		run->keys = MemoryContextAllocHuge(collector->context,
										   room * sizeof(uint64));
	else
		run->keys = repalloc_huge(run->keys, room * sizeof(uint64));
	collector->room += room - run->room;
	run->room = room;
}

/*
 * collector_get_scratch
 *		Memory to sort so many keys in.
 *
 * That of parts is kept, small next to all of them; the other one is the
 * caller's.
 */
static uint64 *
collector_get_scratch(CuckooCollector *collector, size_t nkeys)
{
	CuckooParts *const parts = collector->parts;

	if (parts == NULL)
		return MemoryContextAllocHuge(collector->context,
									  nkeys * sizeof(uint64));
	if (nkeys > parts->scratch_room)
	{
		if (parts->scratch != NULL)
			pfree(parts->scratch);
		parts->scratch = NULL;
		parts->scratch_room = 0;
		parts->scratch = MemoryContextAllocHuge(collector->context,
												nkeys * sizeof(uint64));
		parts->scratch_room = nkeys;
	}
	return parts->scratch;
}

/*
 * collector_sort_run
 *		Sort what a run has, and drop what there is too often.
 */
static void
collector_sort_run(CuckooCollector *collector, CuckooRun *run)
{
	const size_t nmore = run->nkeys - run->nsorted;
	uint64		on_stack[STACK_KEYS];
	uint64	   *sorted = on_stack;

	if (nmore == 0)
		return;
	if (nmore > STACK_KEYS)
		sorted = collector_get_scratch(collector, nmore);
	cuckoo_order_sort(run->keys + run->nsorted, sorted, nmore,
					  collector->parts != NULL);
	run->nkeys = cuckoo_order_merge(run->keys, run->nsorted, sorted, nmore,
									collector->max_equal);
	run->nsorted = run->nkeys;
	if (collector->parts == NULL && sorted != on_stack)
		pfree(sorted);
}

/*
 * collector_put_sort
 *		Give a key to the tuplesort.
 *
 * Its order is that of int8, so the highest bit is turned over.
 */
static inline void
collector_put_sort(CuckooCollector *collector, uint64 key)
{
	tuplesort_putdatum(collector->sort,
					   Int64GetDatum((int64) (key ^ PG_INT64_MIN)), false);
}

/*
 * collector_spill_run
 *		Move the keys of a run to the tuplesort.
 */
static void
collector_spill_run(CuckooCollector *collector, CuckooRun *run)
{
	if (collector->sort == NULL)
	{
		const MemoryContext old = MemoryContextSwitchTo(collector->context);

		collector->sort = tuplesort_begin_datum(INT8OID, Int8LessOperator,
												InvalidOid, false, work_mem,
												NULL, TUPLESORT_RANDOMACCESS);
		MemoryContextSwitchTo(old);
	}
	for (size_t i = 0; i < run->nkeys; i++)
	{
		if (i % KEYS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		collector_put_sort(collector, run->keys[i]);
	}
	run->nkeys = 0;
	run->nsorted = 0;
}

/* May all runs together have room for so many keys? */
static bool
collector_may_have_room(const CuckooCollector *collector, size_t nkeys)
{
	return !collector->may_spill ||
		nkeys <= (size_t) work_mem * 1024 / sizeof(uint64);
}

/*
 * collector_fit_run
 *		See to it that a run has room for so many keys.
 *
 * Returns false if that is more than may be kept in memory.
 */
static bool
collector_fit_run(CuckooCollector *collector, CuckooRun *run, size_t nkeys)
{
	size_t		room = Max(run->room, INITIAL_KEYS);

	while (room < nkeys)
		room *= 2;
	if (room == run->room)
		return true;
	if (room > INITIAL_KEYS &&
		!collector_may_have_room(collector, collector->room - run->room + room))
		return false;
	collector_resize_run(collector, run, room);
	return true;
}

/*
 * collector_make_parts
 *		Make one run for each part of the only one, which is sorted.
 *
 * Returns false if memory does not allow it.
 */
static bool
collector_make_parts(CuckooCollector *collector)
{
	const CuckooRun whole = collector->whole;
	size_t		begin = 0;

	if (!collector_may_have_room(collector, whole.room * 4))
		return false;
	collector->parts =
		MemoryContextAllocZero(collector->context,
							   sizeof(CuckooParts));
	collector->room = 0;
	for (int part = 0; part < CUCKOO_ORDER_PARTS; part++)
	{
		CuckooRun  *const run = &collector->parts->runs[part];
		size_t		end = begin;

		while (end < whole.nkeys && cuckoo_order_part(whole.keys[end]) == part)
			end++;
		run->nkeys = end - begin;
		run->nsorted = run->nkeys;
		collector_resize_run(collector, run,
							 pg_nextpower2_64(Max(run->nkeys * 2,
												  INITIAL_KEYS)));
		if (run->nkeys > 0)
			memcpy(run->keys, whole.keys + begin,
				   run->nkeys * sizeof(uint64));
		begin = end;
	}
	if (whole.keys != NULL)
		pfree(whole.keys);
	memset(&collector->whole, 0, sizeof(CuckooRun));
	return true;
}

/*
 * collector_make_room
 *		See to it that there is room for the given key.
 *
 * Returns the run it belongs to then.
 */
static CuckooRun *
collector_make_room(CuckooCollector *collector, uint64 key)
{
	CuckooRun  *run = collector_run_of(collector, key);

	CHECK_FOR_INTERRUPTS();
	collector_require_own(collector);
	collector_sort_run(collector, run);
	if (run->nkeys < run->room && run->nkeys <= max_sorted(run->room))
		return run;

	if (collector->parts == NULL && run->room >= MAX_WHOLE_KEYS &&
		collector_make_parts(collector))
		return collector_make_room(collector, key);
	if (!collector_fit_run(collector, run, run->room + 1))
		collector_spill_run(collector, run);
	return run;
}

/*
 * collector_add_key
 *		Add a key.
 */
static inline void
collector_add_key(CuckooCollector *collector, uint64 key)
{
	CuckooRun  *run = collector_run_of(collector, key);

	if (unlikely(run->nkeys == run->room))
		run = collector_make_room(collector, key);
	run->keys[run->nkeys++] = key;
}

/*
 * cuckoo_collector_add
 *		Add a hash, unless there are max_equal of it.
 */
void
cuckoo_collector_add(CuckooCollector *collector, uint64 hash)
{
	Assert(!collector->is_sorted);
	collector_add_key(collector, cuckoo_order_hash(hash));
}

/*
 * cuckoo_collector_add_hashes
 *		Add keys, in any order.
 */
void
cuckoo_collector_add_hashes(CuckooCollector *collector, const uint64 *keys,
							size_t nkeys)
{
	Assert(!collector->is_sorted);
	for (size_t i = 0; i < nkeys; i++)
		collector_add_key(collector, keys[i]);
}

/* A key of a view. */
static inline uint64
collector_view_key(const CuckooCollector *collector, uint64 i)
{
	return cuckoo_load_le64(collector->view + i * sizeof(uint64));
}

/*
 * collector_add_sorted
 *		Add keys of one run of the collector, sorted as they are.
 */
static void
collector_add_sorted(CuckooCollector *collector, CuckooRun *run,
					 const uint64 *keys, size_t nkeys)
{
	collector_sort_run(collector, run);
	if (collector_fit_run(collector, run, run->nkeys + nkeys))
	{
		run->nkeys = cuckoo_order_merge(run->keys, run->nkeys, keys, nkeys,
										collector->max_equal);
		run->nsorted = run->nkeys;
	}
	else
		cuckoo_collector_add_hashes(collector, keys, nkeys);
}

/*
 * collector_add_spilled
 *		Add all that a collector which has spilled has.
 */
static void
collector_add_spilled(CuckooCollector *collector, CuckooCollector *from)
{
	CuckooCollectorReader reader;
	const CuckooHashSource source = cuckoo_collector_source(&reader, from);
	uint64		keys[1024];
	size_t		nkeys;

	source.rewind(source.context);
	while ((nkeys = source.next(source.context, keys, lengthof(keys))) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		cuckoo_collector_add_hashes(collector, keys, nkeys);
	}
}

/*
 * collector_expect
 *		Make parts if so many more keys are too many for a single run.
 */
static void
collector_expect(CuckooCollector *collector, uint64 nmore)
{
	collector_require_own(collector);
	if (collector->parts == NULL &&
		collector->whole.nkeys + nmore > MAX_WHOLE_KEYS)
	{
		collector_sort_run(collector, &collector->whole);
		collector_make_parts(collector);
	}
}

/*
 * collector_add_view
 *		Add all keys of a view.
 *
 * What goes to one run is loaded at a time, so that it is still in the cache
 * when it is merged.
 */
static void
collector_add_view(CuckooCollector *collector, const CuckooCollector *from)
{
	const uint64 nkeys = from->whole.nkeys;
	uint64		begin = 0;
	uint64	   *piece = NULL;
	uint64		room = 0;

	collector_expect(collector, nkeys);
	while (begin < nkeys)
	{
		CuckooRun  *const to =
			collector_run_of(collector, collector_view_key(from, begin));
		uint64		end = begin + 1;

		/* all of a worker's hashes can be in one run */
		CHECK_FOR_INTERRUPTS();
		while (end < nkeys &&
			   collector_run_of(collector, collector_view_key(from, end)) == to)
			end++;
		if (end - begin > room)
		{
			if (piece != NULL)
				pfree(piece);
			room = (end - begin) + (end - begin) / 8;
			piece = MemoryContextAllocHuge(from->context,
										   room * sizeof(uint64));
		}
		for (uint64 i = begin; i < end; i++)
			piece[i - begin] = collector_view_key(from, i);
		collector_add_sorted(collector, to, piece, end - begin);
		begin = end;
	}
	if (piece != NULL)
		pfree(piece);
}

/*
 * cuckoo_collector_add_from
 *		Add all that another collector has.
 */
void
cuckoo_collector_add_from(CuckooCollector *collector, CuckooCollector *from)
{
	if (from->view != NULL)
	{
		collector_add_view(collector, from);
		return;
	}
	if (from->sort != NULL)
	{
		collector_add_spilled(collector, from);
		return;
	}

	collector_expect(collector, cuckoo_collector_count(from));
	for (int i = 0; i < collector_count_runs(from); i++)
	{
		CuckooRun  *const run = collector_get_run(from, i);
		size_t		begin = 0;

		collector_sort_run(from, run);
		while (begin < run->nkeys)
		{
			CuckooRun  *const to = collector_run_of(collector,
													run->keys[begin]);
			size_t		end = begin + 1;

			/* all of a worker's hashes can be in one run */
			CHECK_FOR_INTERRUPTS();
			while (end < run->nkeys && collector_run_of(collector,
														run->keys[end]) == to)
				end++;
			collector_add_sorted(collector, to, run->keys + begin, end - begin);
			begin = end;
		}
	}
}

/*
 * cuckoo_collector_view
 *		Let a new collector be a view of keys in ascending order.
 *
 * keys are nkeys little-endian numbers of 8 bytes, of any alignment.  They
 * must stay as long as the collector, which can but be added to another one.
 * Returns false if they are no such keys.
 */
bool
cuckoo_collector_view(CuckooCollector *collector, const void *keys,
					  uint64 nkeys)
{
	uint64		last = 0;
	int			nequal = 0;

	collector->view = keys;
	collector->whole.nkeys = nkeys;
	collector->whole.nsorted = nkeys;
	collector->whole.room = nkeys;
	for (uint64 i = 0; i < nkeys; i++)
	{
		const uint64 key = collector_view_key(collector, i);

		if (i % KEYS_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		nequal = key == last ? nequal + 1 : 1;
		if (key < last || nequal > collector->max_equal)
			return false;
		last = key;
	}
	return true;
}

/*
 * collector_finish_sort
 *		End collecting in a collector that has spilled.
 */
static void
collector_finish_sort(CuckooCollector *collector)
{
	if (collector->is_sorted)
		return;
	for (int i = 0; i < collector_count_runs(collector); i++)
	{
		CuckooRun  *const run = collector_get_run(collector, i);

		collector_spill_run(collector, run);
		if (run->keys != NULL)
			pfree(run->keys);
		memset(run, 0, sizeof(*run));
	}
	tuplesort_performsort(collector->sort);
	collector->is_sorted = true;
}

/* Start again with the first key. */
static void
collector_reader_rewind(void *context)
{
	CuckooCollectorReader *const reader = context;

	reader->run = 0;
	reader->position = 0;
	reader->nequal = 0;
	if (reader->collector->sort != NULL)
		tuplesort_rescan(reader->collector->sort);
}

/*
 * collector_next_sorted
 *		collector_reader_next() of a collector that has spilled.
 *
 * What was spilled at different times can be equal.
 */
static size_t
collector_next_sorted(CuckooCollectorReader *reader, uint64 *keys, size_t room)
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

/* The next keys. */
static size_t
collector_reader_next(void *context, uint64 *keys, size_t room)
{
	CuckooCollectorReader *const reader = context;
	CuckooCollector *const collector = reader->collector;
	size_t		nkeys = 0;

	if (collector->sort != NULL)
		return collector_next_sorted(reader, keys, room);

	while (nkeys < room && reader->run < collector_count_runs(collector))
	{
		const CuckooRun *const run = collector_get_run(collector, reader->run);
		const size_t ncopied = Min(room - nkeys, run->nkeys - reader->position);

		if (ncopied > 0)
			memcpy(keys + nkeys, run->keys + reader->position,
				   ncopied * sizeof(uint64));
		nkeys += ncopied;
		reader->position += ncopied;
		if (reader->position == run->nkeys)
		{
			reader->run++;
			reader->position = 0;
		}
	}
	return nkeys;
}

/*
 * cuckoo_collector_source
 *		All keys of a collector, as the source of a build.
 *
 * reader is the caller's memory for as long as the source is used.
 */
CuckooHashSource
cuckoo_collector_source(CuckooCollectorReader *reader,
						CuckooCollector *collector)
{
	const CuckooHashSource source = {collector_reader_rewind,
	collector_reader_next, reader};

	collector_require_own(collector);
	if (collector->sort != NULL)
		collector_finish_sort(collector);
	else
	{
		for (int i = 0; i < collector_count_runs(collector); i++)
		{
			CHECK_FOR_INTERRUPTS();
			collector_sort_run(collector, collector_get_run(collector, i));
		}
	}
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
	const CuckooHashSource source = cuckoo_collector_source(&reader, collector);
	uint64		keys[1024];
	uint64		count = 0;
	size_t		nkeys;

	if (collector->sort == NULL)
	{
		for (int i = 0; i < collector_count_runs(collector); i++)
			count += collector_get_run(collector, i)->nkeys;
		return count;
	}

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
