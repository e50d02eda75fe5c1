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

/* Slices read, or probes in memory, between two checks for interrupts. */
#define POLL_SLICES		256
#define POLL_PROBES		65536

bool		cuckoo_enable_slices = true;

/*
 * cuckoo_reader_new
 *		A call site that remembers nothing yet.
 */
CuckooReader *
cuckoo_reader_new(MemoryContext mcxt)
{
	CuckooReader *const site = MemoryContextAllocZero(mcxt,
													  sizeof(CuckooReader));

	site->mcxt = mcxt;
	return site;
}

/*
 * reader_remembers_header
 *		Is this the header that was decoded last?
 */
static inline bool
reader_remembers_header(const CuckooReader *site, const uint8 *image,
						size_t image_bytes)
{
	return site->has_own && site->own.image_bytes == image_bytes &&
		memcmp(image, site->own_header, CUCKOO_HEADER_BYTES) == 0;
}

/*
 * reader_open_flat
 *		Open a filter all of which is in memory.
 */
static const CuckooFilter *
reader_open_flat(CuckooReader *site, const struct varlena *datum)
{
	uint8	   *const image = (uint8 *) VARDATA_ANY(datum);

	if (!reader_remembers_header(site, image, VARSIZE_ANY_EXHDR(datum)))
	{
		site->has_own = false;
		cuckoo_datum_open(&site->own, datum);
		memcpy(site->own_header, image, CUCKOO_HEADER_BYTES);
		site->has_own = true;
	}
	site->own.image = image;
	return &site->own;
}

/*
 * reader_read_slice
 *		Read some bytes of the image of a filter that is not in memory.
 */
static void
reader_read_slice(CuckooReader *site, uint64 offset, size_t nbytes,
				  uint8 *bytes)
{
	if (site->toast == NULL)
		site->toast = cuckoo_toast_open(site->toasted);
	cuckoo_toast_read(site->toast, offset, nbytes, bytes);
}

/*
 * reader_detoast
 *		Read all of a filter, in the current memory context.
 */
static struct varlena *
reader_detoast(CuckooReader *site)
{
	if (site->toast != NULL)
		cuckoo_toast_close(site->toast);
	site->toast = NULL;
	return detoast_attr(site->toasted);
}

/*
 * reader_open_whole
 *		Read all of a filter for this call.
 */
static const CuckooFilter *
reader_open_whole(CuckooReader *site)
{
	site->fetched = reader_detoast(site);
	return reader_open_flat(site, site->fetched);
}

/*
 * reader_open_beginning
 *		Open a filter of which only the header is read.
 */
static const CuckooFilter *
reader_open_beginning(CuckooReader *site)
{
	const size_t image_bytes =
		toast_raw_datum_size(PointerGetDatum(site->toasted)) - VARHDRSZ;
	uint8		header[CUCKOO_HEADER_BYTES];

	if (image_bytes < CUCKOO_HEADER_BYTES)
		return reader_open_whole(site);

	reader_read_slice(site, 0, CUCKOO_HEADER_BYTES, header);
	if (!reader_remembers_header(site, header, image_bytes))
	{
		CuckooStatus status;
		uint64		expected_bytes;

		site->has_own = false;
		status = cuckoo_header_open(&site->own, header,
									&expected_bytes);
		if (status == CUCKOO_OK && expected_bytes != image_bytes)
			status = CUCKOO_BAD_SIZE;
		if (status != CUCKOO_OK)
			cuckoo_error_image(status, header, ERRCODE_DATA_CORRUPTED,
							   "cuckoo filter is corrupted", NULL);
		site->own.image_bytes = image_bytes;
		memcpy(site->own_header, header, CUCKOO_HEADER_BYTES);
		site->has_own = true;
	}
	site->own.image = NULL;
	return &site->own;
}

/*
 * reader_open_to_keep
 *		Read all of a filter and keep it for the calls to come.
 *
 * It is read into a context that goes with the current one should that fail.
 */
static const CuckooFilter *
reader_open_to_keep(CuckooReader *site)
{
	CuckooCached *const cached = site->cached;
	const MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
													 "kept cuckoo filter",
													 ALLOCSET_SMALL_SIZES);
	const MemoryContext caller = MemoryContextSwitchTo(mcxt);
	CuckooFilter filter;

	cuckoo_datum_open(&filter, reader_detoast(site));
	MemoryContextSwitchTo(caller);
	cuckoo_cache_keep(cached, mcxt, &filter);
	site->cached_generation = cuckoo_cache_generation;
	return &cached->filter;
}

/*
 * reader_slices_cost
 *		Cost of looking for so many values in an open filter by slices.
 */
static double
reader_slices_cost(const CuckooReader *site, size_t nprobes)
{
	if (!site->is_sliceable || !site->filter->is_table)
		return INFINITY;
	return OPEN_COST + (double) nprobes * 2 * SLICE_COST;
}

/*
 * reader_find_cached
 *		The cache's entry of the filter, or NULL.
 */
static CuckooCached *
reader_find_cached(CuckooReader *site, const struct varatt_external *pointer)
{
	CuckooCached *cached = site->cached;

	if (cached != NULL && site->cached_generation == cuckoo_cache_generation &&
		memcmp(pointer, &cached->pointer, sizeof(*pointer)) == 0)
	{
		cuckoo_cache_touch(cached);
		return cached;
	}

	if (!site->is_attached)
	{
		cuckoo_cache_attach(site->mcxt);
		site->is_attached = true;
	}
	cached = cuckoo_cache_find(pointer);
	site->cached = cached;
	site->cached_generation = cuckoo_cache_generation;
	return cached;
}

/*
 * reader_open_toasted
 *		Open a filter that is stored out of line.
 */
static const CuckooFilter *
reader_open_toasted(CuckooReader *site, bool header_only)
{
	struct varatt_external pointer;
	const CuckooFilter *filter;
	bool		in_slices;

	VARATT_EXTERNAL_GET_POINTER(pointer, site->toasted);
	site->whole_cost = OPEN_COST +
		VARATT_EXTERNAL_GET_EXTSIZE(pointer) / TOAST_MAX_CHUNK_SIZE + 1;
	site->is_sliceable = cuckoo_enable_slices &&
		!VARATT_EXTERNAL_IS_COMPRESSED(pointer);

	if (cuckoo_cache_size == 0)
		site->cached = NULL;
	else if (reader_find_cached(site, &pointer) != NULL)
		return &site->cached->filter;

	/* one slice for the header, two for the buckets */
	in_slices = header_only ||
		(site->is_sliceable && site->whole_cost > OPEN_COST + 3 * SLICE_COST);
	filter = in_slices ? reader_open_beginning(site) : reader_open_whole(site);

	if (cuckoo_cache_size > 0)
	{
		site->cached = cuckoo_cache_enter(&pointer, filter);
		site->cached_generation = cuckoo_cache_generation;
		if (site->cached != NULL && !in_slices)
			site->cached->spent = site->whole_cost;
	}
	return filter;
}

/*
 * cuckoo_reader_open_extended
 *		Open a filter in whatever form it comes.
 *
 * If header_only, nothing else of it will be asked for.
 */
const CuckooFilter *
cuckoo_reader_open_extended(CuckooReader *site, struct varlena *datum,
							bool header_only)
{
	/* what an error may have left is not ours any more */
	site->fetched = NULL;
	site->toast = NULL;

	if (VARATT_IS_EXTERNAL_INDIRECT(datum))
	{
		struct varatt_indirect redirect;

		VARATT_EXTERNAL_GET_POINTER(redirect, datum);
		datum = redirect.pointer;
	}
	site->toasted = datum;

	if (VARATT_IS_EXTERNAL_EXPANDED(datum))
		site->filter = cuckoo_expanded_filter(PointerGetDatum(datum));
	else if (VARATT_IS_EXTERNAL(datum))
		site->filter = reader_open_toasted(site, header_only);
	else if (!VARATT_IS_COMPRESSED(datum))
		site->filter = reader_open_flat(site, datum);
	else if (header_only)
		site->filter = reader_open_beginning(site);
	else
		site->filter = reader_open_whole(site);
	return site->filter;
}

/*
 * reader_read_whole
 *		Read all of the open filter if that is better than slices.
 *
 * True if its image is in memory when this returns.
 */
static bool
reader_read_whole(CuckooReader *site, size_t nprobes)
{
	const double cost = reader_slices_cost(site, nprobes);
	CuckooCached *const cached = site->cached;

	if (cached != NULL && cached->spent >= site->whole_cost &&
		cuckoo_cache_would_keep(cached))
	{
		site->filter = reader_open_to_keep(site);
		return true;
	}

	if (cached != NULL)
		cached->spent += Min(cost, site->whole_cost);
	if (cost < site->whole_cost)
		return false;
	site->filter = reader_open_whole(site);
	return true;
}

/*
 * reader_count_sliced
 *		Copies of a hash in a table that is read in slices, but no further
 *		than up to enough.
 */
static int
reader_count_sliced(CuckooReader *site, uint64 hash, int enough)
{
	CuckooWindow windows[2];
	int			first;
	int			ncopies = 0;

	/* in the order in which they are stored */
	cuckoo_window_find(site->filter, hash, windows);
	first = windows[0].offset > windows[1].offset;
	for (int i = 0; i < 2 && ncopies < enough; i++)
	{
		const CuckooWindow *const window = &windows[i ^ first];
		uint8		bytes[CUCKOO_WINDOW_BYTES];

		reader_read_slice(site, window->offset, window->nbytes, bytes);
		ncopies += cuckoo_window_count(site->filter, window, bytes);
	}
	return ncopies;
}

/*
 * cuckoo_reader_contains_sliced
 *		cuckoo_reader_contains() for a filter whose image is not in memory.
 */
bool
cuckoo_reader_contains_sliced(CuckooReader *site, uint64 hash)
{
	if (reader_read_whole(site, 1))
		return cuckoo_filter_contains(site->filter, hash);
	return reader_count_sliced(site, hash, 1) > 0;
}

/*
 * cuckoo_reader_count
 *		Copies of a hash in the open filter.
 */
int
cuckoo_reader_count(CuckooReader *site, uint64 hash)
{
	if (site->filter->image != NULL || reader_read_whole(site, 1))
		return cuckoo_filter_count(site->filter, hash);
	return reader_count_sliced(site, hash, 2 * CUCKOO_BUCKET_SLOTS);
}

/*
 * cuckoo_reader_contains_batch
 *		cuckoo_reader_contains() for many hashes.
 */
void
cuckoo_reader_contains_batch(CuckooReader *site, const uint64 *hashes,
							 size_t nhashes, bool *results)
{
	if (site->filter->image != NULL || reader_read_whole(site, nhashes))
	{
		for (size_t i = 0; i < nhashes; i += POLL_PROBES)
		{
			CHECK_FOR_INTERRUPTS();
			cuckoo_filter_contains_batch(site->filter, hashes + i,
										 Min(nhashes - i, POLL_PROBES),
										 results + i);
		}
		return;
	}

	for (size_t i = 0; i < nhashes; i++)
	{
		if (i % POLL_SLICES == 0)
			CHECK_FOR_INTERRUPTS();
		results[i] = reader_count_sliced(site, hashes[i], 1) > 0;
	}
}
