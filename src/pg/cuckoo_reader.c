/*-------------------------------------------------------------------------
 *
 * cuckoo_reader.c
 *		Opening a filter argument for probing with the least reading.
 *
 * A filter that is stored out of line, in chunks of a TOAST table, is read in
 * slices: the header, and the bytes of the two buckets that a value can be in,
 * however large it is.  Where all of it costs less than that, because it is
 * small or many values are to be looked for, it is read whole.
 *
 * A filter that comes again and again is read whole once and kept.  When, is
 * the question whether to rent or to buy, without knowing for how long: after
 * so many slices as cost as much as the whole filter.  So the reading never
 * costs more than twice what it would with the best choice in hindsight, also
 * where more filters come in turn than there is room to keep.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "../core/cuckoo_window.h"
#include "cuckoo_reader.h"

/*
 * What reading costs, in terms of what one chunk among many costs: to open the
 * TOAST table with its index, and to read some bytes anywhere.  About what was
 * measured over many filters in shared buffers, where each is met for the
 * first time: one that the processor's caches hold as well is read whole at
 * less cost, but such a one will be kept.
 */
#define OPEN_COST		2.0
#define SLICE_COST		1.5

/*
 * Slices read, and probes in memory, between two checks for interrupts: a slice
 * comes out of a table.
 */
#define SLICES_AT_ONCE		(CUCKOO_POLL_INTERVAL / 16)
#define PROBES_AT_ONCE		(16 * CUCKOO_POLL_INTERVAL)

/*
 * A table of the stored filters opened at a call site, made when it is not one
 * of a few.
 */
#define OPENED_SLOTS		16384
#define OPENED_SLOTS_FROM	16

bool		cuckoo_enable_slices = true;

/*
 * cuckoo_reader_init, cuckoo_reader_new
 *		A reader that remembers nothing yet, and that lives as long as mcxt.
 */
void
cuckoo_reader_init(CuckooReader *reader, MemoryContext mcxt)
{
	memset(reader, 0, sizeof(*reader));
	reader->mcxt = mcxt;
}

CuckooReader *
cuckoo_reader_new(MemoryContext mcxt)
{
	CuckooReader *const reader = MemoryContextAlloc(mcxt,
													sizeof(CuckooReader));

	cuckoo_reader_init(reader, mcxt);
	return reader;
}

/*
 * reader_remembers_header
 *		Is this the header that was decoded last?
 */
static inline bool
reader_remembers_header(const CuckooReader *reader, const uint8 *image,
						size_t image_bytes)
{
	return reader->has_own && reader->own.image_bytes == image_bytes &&
		memcmp(image, reader->own_header, CUCKOO_HEADER_BYTES) == 0;
}

/*
 * reader_open_flat
 *		Open a filter all of which is in memory.
 */
static const CuckooFilter *
reader_open_flat(CuckooReader *reader, const struct varlena *datum)
{
	uint8	   *const image = (uint8 *) VARDATA_ANY(datum);

	if (!reader_remembers_header(reader, image, VARSIZE_ANY_EXHDR(datum)))
	{
		reader->has_own = false;
		reader->own_is_last = false;
		cuckoo_datum_open(&reader->own, datum);
		memcpy(reader->own_header, image, CUCKOO_HEADER_BYTES);
		reader->has_own = true;
	}
	reader->own.image = image;
	return &reader->own;
}

/*
 * reader_read_slice
 *		Read some bytes of the image of a filter that is not in memory.
 */
static void
reader_read_slice(CuckooReader *reader, uint64 offset, size_t nbytes,
				  uint8 *bytes)
{
	if (reader->toast == NULL)
		reader->toast =
			cuckoo_toast_open(reader->toasted, reader->cached != NULL ?
							  &reader->cached->place : &reader->last_place);
	cuckoo_toast_read(reader->toast, offset, nbytes, bytes);
}

/*
 * reader_detoast
 *		Read all of a filter, in the current memory context.
 */
static struct varlena *
reader_detoast(CuckooReader *reader)
{
	if (reader->toast != NULL)
		cuckoo_toast_close(reader->toast);
	reader->toast = NULL;
	return detoast_attr(reader->toasted);
}

/*
 * reader_open_whole
 *		Read all of a filter for this call.
 */
static const CuckooFilter *
reader_open_whole(CuckooReader *reader)
{
	reader->fetched = reader_detoast(reader);
	return reader_open_flat(reader, reader->fetched);
}

/*
 * reader_open_beginning
 *		Open a filter of which only the header is read.
 */
static const CuckooFilter *
reader_open_beginning(CuckooReader *reader)
{
	const size_t image_bytes =
		toast_raw_datum_size(PointerGetDatum(reader->toasted)) - VARHDRSZ;
	uint8		header[CUCKOO_HEADER_BYTES];

	if (image_bytes < CUCKOO_HEADER_BYTES)
		return reader_open_whole(reader);

	reader_read_slice(reader, 0, CUCKOO_HEADER_BYTES, header);
	if (!reader_remembers_header(reader, header, image_bytes))
	{
		CuckooStatus status;
		uint64		expected_bytes;

		reader->has_own = false;
		status = cuckoo_header_open(&reader->own, header,
									&expected_bytes);
		if (status == CUCKOO_OK && expected_bytes != image_bytes)
			status = CUCKOO_BAD_SIZE;
		if (status != CUCKOO_OK)
			cuckoo_error_image(status, header, ERRCODE_DATA_CORRUPTED,
							   "cuckoo filter is corrupted", NULL);
		reader->own.image_bytes = image_bytes;
		memcpy(reader->own_header, header, CUCKOO_HEADER_BYTES);
		reader->has_own = true;
	}
	reader->own.image = NULL;
	return &reader->own;
}

/*
 * reader_slices_cost
 *		Cost of looking for so many values in an open filter by slices.
 */
static double
reader_slices_cost(const CuckooReader *reader, size_t nprobes)
{
	if (!reader->is_sliceable || !reader->filter->is_table)
		return INFINITY;
	return OPEN_COST + (double) nprobes * 2 * SLICE_COST;
}

/*
 * reader_attach
 *		Let the cache live as long as this reader.
 */
static void
reader_attach(CuckooReader *reader)
{
	if (reader->is_attached)
		return;
	cuckoo_cache_attach(reader->mcxt);
	reader->is_attached = true;
}

/*
 * reader_enter
 *		Enter the filter that is open into the cache, with its header only.
 */
static void
reader_enter(CuckooReader *reader, const struct varatt_external *pointer,
			 const CuckooFilter *filter)
{
	reader_attach(reader);
	reader->cached = cuckoo_cache_enter(pointer, filter, &reader->last_place);
	reader->cached_generation = cuckoo_cache_generation;
}

/*
 * reader_open_to_keep
 *		Read all of a filter and keep it for the calls to come.
 *
 * There must be room for it.  It is read into a context that goes with the
 * current one should that fail.
 */
static const CuckooFilter *
reader_open_to_keep(CuckooReader *reader,
					const struct varatt_external *pointer)
{
	const MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
													 "kept cuckoo filter",
													 ALLOCSET_SMALL_SIZES);
	const MemoryContext caller = MemoryContextSwitchTo(mcxt);
	CuckooFilter filter;

	cuckoo_datum_open(&filter, reader_detoast(reader));
	MemoryContextSwitchTo(caller);
	if (reader->cached == NULL)
		reader_enter(reader, pointer, &filter);
	cuckoo_cache_keep(reader->cached, mcxt, &filter);
	reader->cached_generation = cuckoo_cache_generation;
	return &reader->cached->filter;
}

/*
 * reader_find_cached
 *		The cache's entry of the filter, or NULL.
 */
static CuckooCached *
reader_find_cached(CuckooReader *reader, const struct varatt_external *pointer)
{
	CuckooCached *cached = reader->cached;

	if (cached != NULL && reader->cached_generation == cuckoo_cache_generation &&
		memcmp(pointer, &cached->pointer, sizeof(*pointer)) == 0)
	{
		cuckoo_cache_touch(cached);
		return cached;
	}

	cached = cuckoo_cache_find(pointer);
	reader->cached = cached;
	if (cached != NULL)
		reader_attach(reader);
	reader->cached_generation = cuckoo_cache_generation;
	return cached;
}

/*
 * reader_met_before
 *		Has this stored filter been opened here before?
 *
 * Says no for the first ones, and now and then for one that another filter
 * took the slot of: that costs one more probe until it is cached.
 */
static bool
reader_met_before(CuckooReader *reader, const struct varatt_external *pointer)
{
	const uint32 id = pointer->va_valueid ^
		pointer->va_toastrelid * 0x9E3779B1u;
	const uint32 fingerprint = id != 0 ? id : 1;	/* 0: none */
	uint32	   *slot;

	if (memcmp(pointer, &reader->last, sizeof(*pointer)) == 0)
		return true;
	if (reader->opened == NULL)
	{
		if (++reader->nopened < OPENED_SLOTS_FROM)
			return false;
		reader->opened = MemoryContextAllocZero(reader->mcxt,
												OPENED_SLOTS * sizeof(uint32));
	}
	slot = &reader->opened[fingerprint * 0x9E3779B1u / (UINT32_MAX / OPENED_SLOTS + 1)];
	if (*slot == fingerprint)
		return true;
	*slot = fingerprint;
	return false;
}

/*
 * reader_open_toasted
 *		Open a filter that is stored out of line.
 */
static const CuckooFilter *
reader_open_toasted(CuckooReader *reader, bool header_only)
{
	struct varatt_external pointer;
	const CuckooFilter *filter;
	bool		met_before = false;
	bool		in_slices;

	VARATT_EXTERNAL_GET_POINTER(pointer, reader->toasted);
	reader->whole_cost = OPEN_COST +
		VARATT_EXTERNAL_GET_EXTSIZE(pointer) / TOAST_MAX_CHUNK_SIZE + 1;
	reader->is_sliceable = cuckoo_enable_slices &&
		!VARATT_EXTERNAL_IS_COMPRESSED(pointer);

	if (cuckoo_cache_size == 0)
		reader->cached = NULL;
	else
	{
		if (reader_find_cached(reader, &pointer) != NULL)
			return &reader->cached->filter;
		met_before = reader_met_before(reader, &pointer);
	}

	/* one slice for the header, two for the buckets */
	in_slices = header_only ||
		(reader->is_sliceable &&
		 reader->whole_cost > OPEN_COST + 3 * SLICE_COST);
	if (met_before && !in_slices &&
		cuckoo_cache_would_keep(pointer.va_rawsize - VARHDRSZ))
		return reader_open_to_keep(reader, &pointer);

	if (!met_before || memcmp(&pointer, &reader->last, sizeof(pointer)) != 0)
	{
		reader->own_is_last = false;
		reader->last = pointer;
		memset(&reader->last_place, 0, sizeof(reader->last_place));
	}
	if (!in_slices)
		filter = reader_open_whole(reader);
	else if (met_before && reader->own_is_last)
	{
		reader->own.image = NULL;
		filter = &reader->own;
	}
	else
	{
		filter = reader_open_beginning(reader);
		reader->own_is_last = filter->image == NULL;
	}

	if (met_before)
		reader_enter(reader, &pointer, filter);
	return filter;
}

/*
 * cuckoo_reader_open_extended
 *		Open a filter in whatever form it comes.
 *
 * If header_only, nothing else of it will be asked for.
 */
const CuckooFilter *
cuckoo_reader_open_extended(CuckooReader *reader, struct varlena *datum,
							bool header_only)
{
	/* what an error may have left is not ours any more */
	reader->fetched = NULL;
	reader->toast = NULL;

	if (VARATT_IS_EXTERNAL_INDIRECT(datum))
	{
		struct varatt_indirect redirect;

		VARATT_EXTERNAL_GET_POINTER(redirect, datum);
		datum = redirect.pointer;
	}
	reader->toasted = datum;

	if (VARATT_IS_EXTERNAL_EXPANDED(datum))
		reader->filter = cuckoo_expanded_filter(PointerGetDatum(datum));
	else if (VARATT_IS_EXTERNAL(datum))
		reader->filter = reader_open_toasted(reader, header_only);
	else if (!VARATT_IS_COMPRESSED(datum))
		reader->filter = reader_open_flat(reader, datum);
	else if (header_only)
		reader->filter = reader_open_beginning(reader);
	else
		reader->filter = reader_open_whole(reader);
	return reader->filter;
}

/*
 * reader_read_whole
 *		Read all of the open filter if that is better than slices.
 *
 * True if its image is in memory when this returns.
 */
static bool
reader_read_whole(CuckooReader *reader, size_t nprobes)
{
	const double cost = reader_slices_cost(reader, nprobes);
	CuckooCached *const cached = reader->cached;

	if (cached != NULL && cached->spent >= reader->whole_cost &&
		cuckoo_cache_would_keep(cuckoo_header_image_bytes(&cached->filter)))
	{
		reader->filter = reader_open_to_keep(reader, &cached->pointer);
		return true;
	}

	if (cached != NULL)
		cached->spent += Min(cost, reader->whole_cost);
	if (cost < reader->whole_cost)
		return false;
	reader->filter = reader_open_whole(reader);
	return true;
}

/*
 * reader_count_sliced
 *		Copies of a hash in a table that is read in slices, but no further
 *		than up to enough.
 */
static int
reader_count_sliced(CuckooReader *reader, uint64 hash, int enough)
{
	CuckooWindow windows[2];
	int			first;
	int			ncopies = 0;

	/* in the order in which they are stored */
	cuckoo_window_find(reader->filter, hash, windows);
	first = windows[0].offset > windows[1].offset;
	for (int i = 0; i < 2 && ncopies < enough; i++)
	{
		const CuckooWindow *const window = &windows[i ^ first];
		uint8		bytes[CUCKOO_WINDOW_BYTES];

		reader_read_slice(reader, window->offset, window->nbytes, bytes);
		ncopies += cuckoo_window_count(reader->filter, window, bytes);
	}
	return ncopies;
}

/*
 * cuckoo_reader_contains_sliced
 *		cuckoo_reader_contains() for a filter whose image is not in memory.
 */
bool
cuckoo_reader_contains_sliced(CuckooReader *reader, uint64 hash)
{
	if (reader_read_whole(reader, 1))
		return cuckoo_filter_contains(reader->filter, hash);
	return reader_count_sliced(reader, hash, 1) > 0;
}

/*
 * cuckoo_reader_count
 *		Copies of a hash in the open filter.
 */
int
cuckoo_reader_count(CuckooReader *reader, uint64 hash)
{
	if (reader->filter->image != NULL || reader_read_whole(reader, 1))
		return cuckoo_filter_count(reader->filter, hash);
	return reader_count_sliced(reader, hash, 2 * CUCKOO_BUCKET_SLOTS);
}

/*
 * cuckoo_reader_contains_batch
 *		cuckoo_reader_contains() for many hashes.
 */
void
cuckoo_reader_contains_batch(CuckooReader *reader, const uint64 *hashes,
							 size_t nhashes, bool *results)
{
	if (reader->filter->image != NULL || reader_read_whole(reader, nhashes))
	{
		for (size_t i = 0; i < nhashes; i += PROBES_AT_ONCE)
		{
			CHECK_FOR_INTERRUPTS();
			cuckoo_filter_contains_batch(reader->filter, hashes + i,
										 Min(nhashes - i, PROBES_AT_ONCE),
										 results + i);
		}
		return;
	}

	for (size_t i = 0; i < nhashes; i++)
	{
		if (i % SLICES_AT_ONCE == 0)
			CHECK_FOR_INTERRUPTS();
		results[i] = reader_count_sliced(reader, hashes[i], 1) > 0;
	}
}
