/*-------------------------------------------------------------------------
 *
 * subject_core.c
 *		The filter of src/core as the bench sees it.
 *
 * Compiled once for this tree and, if BASE is given to make, once more for
 * another one; SUBJECT is the name of the table of functions then.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "core/cuckoo_build.h"
#include "subject.h"

static void *
host_alloc(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

static void
host_release(void *context, void *memory)
{
	(void) context;
	free(memory);
}

static void
host_poll(void *context)
{
	(void) context;
}

static const CuckooHost host = {host_alloc, host_release, host_poll, NULL};

/* Give a filter the table of its geometry, empty. */
static void
make_table(CuckooFilter *filter)
{
	filter->is_table = true;
	cuckoo_bucket_packing(&filter->packing,
						  cuckoo_geometry_fp_bits(&filter->geometry));
	filter->image_bytes = (size_t) cuckoo_header_image_bytes(filter);
	filter->image_room = filter->image_bytes;
	filter->image = malloc(filter->image_bytes);
	if (filter->image == NULL)
		abort();
	memset(filter->image, 0, filter->image_bytes);
}

static void *
create(uint64_t capacity, uint64_t rate, bool full_size)
{
	const CuckooParameters parameters = {capacity, rate, CUCKOO_MAX_COPIES, 0};
	CuckooFilter *const filter = malloc(sizeof(*filter));

	if (filter == NULL || cuckoo_filter_new(filter, &parameters,
											&host) != CUCKOO_OK)
		abort();
	if (full_size)
	{
		free(filter->image);
		filter->geometry.index_bits =
			cuckoo_geometry_index_bits(filter->geometry.ncolumns, capacity);
		make_table(filter);
	}
	return filter;
}

static void
destroy(void *filter)
{
	free(((CuckooFilter *) filter)->image);
	free(filter);
}

static size_t
add(void *filter, const uint64_t *hashes, size_t nhashes)
{
	size_t		nrefused = 0;

	for (size_t i = 0; i < nhashes; i++)
	{
		const CuckooStatus status = cuckoo_filter_add(filter, hashes[i], &host);

		nrefused += status != CUCKOO_OK && status != CUCKOO_SATURATED;
	}
	return nrefused;
}

static size_t
remove_all(void *filter, const uint64_t *hashes, size_t nhashes)
{
	size_t		nmissing = 0;

	for (size_t i = 0; i < nhashes; i++)
		nmissing += cuckoo_filter_remove(filter, hashes[i]) != CUCKOO_OK;
	return nmissing;
}

static size_t
count_hits(const void *filter, const uint64_t *hashes, size_t nhashes)
{
	size_t		nhits = 0;

	for (size_t i = 0; i < nhashes; i++)
		nhits += cuckoo_filter_contains(filter, hashes[i]);
	return nhits;
}

static bool
contains(const void *filter, uint64_t hash)
{
	return cuckoo_filter_contains(filter, hash);
}

static void
contains_batch(const void *filter, const uint64_t *hashes, size_t nhashes,
			   bool *results)
{
	cuckoo_filter_contains_batch(filter, hashes, nhashes, results);
}

static void *
create_doubled(const void *filter)
{
	CuckooFilter *const doubled = malloc(sizeof(*doubled));

	if (doubled == NULL)
		abort();
	*doubled = *(const CuckooFilter *) filter;
	doubled->geometry.index_bits++;
	make_table(doubled);
	return doubled;
}

static void
fill_doubled(const void *filter, void *doubled)
{
	cuckoo_table_double(filter, doubled, &host);
}

static void *
build(uint64_t capacity, uint64_t rate, const uint64_t *keys, size_t nkeys)
{
	const CuckooParameters parameters = {capacity, rate, CUCKOO_MAX_COPIES, 0};
	CuckooFilter *const filter = malloc(sizeof(*filter));

	if (filter == NULL ||
		cuckoo_build_array(filter, &parameters, keys, nkeys,
						   &host) != CUCKOO_OK)
		abort();
	return filter;
}

static uint64_t
sort_key(uint64_t hash)
{
	return cuckoo_order_hash(hash);
}

static void
describe(const void *filter, int *fp_bits, double *load_factor, size_t *bytes)
{
	const CuckooFilter *const ours = filter;

	*fp_bits = ours->is_table ? ours->packing.fp_bits : 64;
	*load_factor = cuckoo_filter_load_factor(ours);
	*bytes = ours->image_bytes;
}

const Subject SUBJECT = {
	create, destroy, add, remove_all, count_hits, contains, contains_batch,
	create_doubled, fill_doubled, build, sort_key, describe
};
