/*-------------------------------------------------------------------------
 *
 * fuzz_image.c
 *		Any bytes as the image of a filter.
 *
 * The check must accept exactly the images that docs/format.md allows; its
 * rules are here once more, without code of the core.  What it accepts must
 * then hold what its bytes say, through every operation.
 *
 * An image that can be opened but is not sound is what damage to a stored
 * filter looks like.  No answer of it counts, but no operation may touch
 * memory outside of it, or not end, or make what cannot be opened again.
 *
 *-------------------------------------------------------------------------
 */
#include "core/cuckoo_merge.h"
#include "fuzz.h"
#include "reference.h"

#define MAX_VALUES		100		/* of an image, tried one by one */

/*
 * A value of an image: a hash that has its entry, and how often it is there.
 */
typedef struct Value
{
	uint64_t	hash;
	int			ncopies;
} Value;

static RefBag contents;			/* by hash in a list, else by class */
static Value values[MAX_VALUES];
static int	nvalues;
static TestHost host;

static uint64_t
load(const uint8_t *bytes, int nbytes)
{
	return ref_get_bits(bytes, 0, 8 * nbytes);
}

static void
note_value(uint64_t key, uint64_t hash)
{
	const int	ncopies = ref_bag_count(&contents, key);

	ref_bag_set(&contents, key, ncopies + 1);
	if (ncopies == 0 && nvalues < MAX_VALUES)
		values[nvalues++].hash = hash;
}

static int
most_copies(void)
{
	int			most = 0;

	for (size_t i = 0; i < contents.nslots; i++)
		most = contents.counts[i] > most ? contents.counts[i] : most;
	return most;
}

/*
 * list_is_sound
 *		Are these the hashes of a list?  Notes them in contents.
 */
static bool
list_is_sound(const uint8_t *body, uint64_t nentries, int max_copies)
{
	for (uint64_t i = 0; i < nentries; i++)
	{
		const uint64_t hash = load(body + 8 * i, 8);

		if (i > 0 && hash < load(body + 8 * (i - 1), 8))
			return false;
		note_value(hash, hash);
	}
	return most_copies() <= max_copies;
}

/*
 * table_is_sound
 *		Is this the body of a table?  Notes its values in contents.
 */
static bool
table_is_sound(const uint8_t *body, size_t body_bytes, int k, int q, int P,
			   uint64_t nentries, int max_copies)
{
	const int	f = P - q;
	const uint64_t nbuckets = (uint64_t) k << q;
	const uint64_t table_bits = nbuckets * 4 * (uint64_t) (f - 1);

	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	before = 0;
		uint64_t	fps[4];

		if (ref_get_bits(body, bucket * 4 * (uint64_t) (f - 1), 12) >= 3876)
			return false;
		ref_read_bucket(body, bucket, f, fps);
		for (int i = 0; i < 4; i++)
		{
			const uint64_t order = (fps[i] & 0xF) << 48 | fps[i] >> 4;
			const uint64_t group = bucket >> 8;
			uint64_t	index;
			uint64_t	prefix;
			RefEntry	entry;

			if (order < before)
				return false;
			before = order;
			if (fps[i] == 0)
				continue;
			if ((fps[i] & 0xFF) == 0)
				return false;
			entry.a = q <= 8 ? bucket >> q : group % (uint64_t) k;
			index = q <= 8 ? bucket & ((UINT64_C(1) << q) - 1) :
				(bucket & 0xFF) << (q - 8) | group / (uint64_t) k;
			prefix = index << f | fps[i];
			entry.perm = prefix & 0xFF;
			entry.v = prefix >> 8 << (48 - P);
			note_value(ref_class_of_entry(entry, k, P),
					   ref_hash_of(entry, k, P, bucket));
		}
	}
	for (uint64_t bit = table_bits; bit < 8 * body_bytes; bit++)
	{
		if (ref_get_bits(body, bit, 1) != 0)
			return false;
	}
	return contents.total == nentries && most_copies() <= max_copies;
}

/*
 * is_sound
 *		Is this an image by the rules of docs/format.md?
 */
static bool
is_sound(const uint8_t *image, size_t bytes)
{
	const bool	is_table = bytes > 2 && (image[2] & 1) != 0;
	int			k;
	int			q;
	int			P;
	int			declared;
	int			now;
	uint64_t	capacity;
	uint64_t	nentries;

	if (bytes < 44)
		return false;
	if (image[0] != 1 || image[1] != 1 || image[2] > 3 || image[3] > 24)
		return false;

	k = image[4];
	q = image[5];
	P = image[6];
	declared = image[7] & 0xF;
	now = image[7] >> 4;
	capacity = load(image + 16, 8);
	nentries = load(image + 24, 8);
	if (k < 8 || k > 127 || P < 9 || P > 48 || q > P - 8)
		return false;
	if (declared < 1 || declared > 4 || now > declared ||
		now < (declared == 1 ? 1 : 2))
		return false;
	if (capacity == 0 || capacity > UINT64_C(1) << 53)
		return false;
	if ((load(image + 32, 8) == 0) != (image[40] == 0) ||
		load(image + 42, 2) > 10000)
		return false;

	if (is_table)
	{
		/* the body is at least 7 bits a bucket long */
		if (q > 32 || (uint64_t) k << q > 8 * bytes)
			return false;
		return bytes == 44 + (((uint64_t) k << q) * 4 *
							  (uint64_t) (P - q - 1) + 7) / 8 + 7 &&
			table_is_sound(image + 44, bytes - 44, k, q, P, nentries, now);
	}
	return q == 0 && nentries <= 4096 && bytes == 44 + 8 * nentries &&
		load(image + 32, 8) == 0 && image[41] == 0 &&
		load(image + 42, 2) == 0 &&
		list_is_sound(image + 44, nentries, now);
}

/* A copy that may be changed. */
static void
copy(const CuckooFilter *filter, CuckooFilter *other)
{
	CHECK_STATUS(cuckoo_filter_copy(filter, other, &host.host), CUCKOO_OK);
}

/*
 * check_values
 *		Has a filter made of the image its values?
 *
 * With times copies of each, or at most so many if it could coarsen.
 */
static void
check_values(CuckooFilter *filter, int times, bool is_exact)
{
	test_check_filter(filter);
	for (int i = 0; i < nvalues; i++)
	{
		const int	limit = filter->max_copies;
		const int	ncopies = values[i].ncopies * times;
		const int	expected = ncopies < limit ? ncopies : limit;
		const int	found = cuckoo_filter_count(filter, values[i].hash);

		CHECK(cuckoo_filter_contains(filter, values[i].hash));
		CHECK(is_exact ? found == expected : found >= expected);
	}
}

/* Can a filter that was made of a damaged one be opened again? */
static void
check_opens(CuckooFilter *filter)
{
	CuckooFilter opened;

	cuckoo_header_store(filter);
	CHECK_STATUS(cuckoo_image_open(&opened, filter->image,
								   filter->image_bytes), CUCKOO_OK);
}

static void
try_adds_and_removes(const CuckooFilter *filter, bool is_damaged)
{
	CuckooFilter changed;

	copy(filter, &changed);
	for (int i = 0; i < nvalues; i++)
	{
		const uint64_t hash = values[i].hash;
		const int	before = cuckoo_filter_count(&changed, hash);
		const CuckooStatus status = cuckoo_filter_add(&changed, hash,
													  &host.host);

		if (is_damaged)
			continue;
		if (status == CUCKOO_OK)
			CHECK(cuckoo_filter_count(&changed, hash) > before ||
				  changed.is_table != filter->is_table ||
				  changed.max_copies < filter->max_copies);
		else
			CHECK(cuckoo_filter_count(&changed, hash) == before);
		CHECK(cuckoo_filter_contains(&changed, hash));
	}
	if (is_damaged)
		check_opens(&changed);
	else
		check_values(&changed, 1, false);
	test_release(&changed, &host);

	if (filter->is_merged || filter->max_copies == 1)
		return;
	copy(filter, &changed);
	for (int i = 0; i < nvalues; i++)
	{
		const CuckooStatus status = cuckoo_filter_remove(&changed,
														 values[i].hash);

		if (!is_damaged)
			CHECK_STATUS(status, values[i].ncopies == filter->max_copies ?
						 CUCKOO_SATURATED : CUCKOO_OK);
	}
	if (is_damaged)
		check_opens(&changed);
	else
		test_check_filter(&changed);
	test_release(&changed, &host);
}

static void
try_resize(const CuckooFilter *filter, uint64_t capacity, uint64_t rate,
		   bool is_damaged)
{
	CuckooFilter resized;

	if (cuckoo_filter_resize(filter, &resized, capacity, rate,
							 &host.host) != CUCKOO_OK)
		return;
	if (is_damaged)
		check_opens(&resized);
	else
		check_values(&resized, 1, false);
	test_release(&resized, &host);
}

static void
try_merges(const CuckooFilter *filter, bool is_damaged)
{
	CuckooFilter merged;
	CuckooStatus status;
	double		estimate;

	for (int add_copies = 0; add_copies <= 1; add_copies++)
	{
		copy(filter, &merged);
		status = cuckoo_merge_into(&merged, filter, add_copies == 1,
								   &host.host);
		if (status == CUCKOO_OK && is_damaged)
			check_opens(&merged);
		else if (status == CUCKOO_OK)
		{
			check_values(&merged, 1 + add_copies,
						 merged.is_table == filter->is_table);
			CHECK_EQUAL(merged.is_merged, filter->is_merged ||
						(add_copies == 0 && filter->nentries > 0));
		}
		test_release(&merged, &host);
	}
	if (cuckoo_merge_intersection(filter, filter, &merged,
								  &host.host) == CUCKOO_OK)
	{
		if (is_damaged)
			check_opens(&merged);
		else
		{
			check_values(&merged, 1, true);
			CHECK(merged.nentries == filter->nentries ||
				  merged.max_copies < filter->max_copies);
		}
		test_release(&merged, &host);
	}
	if (cuckoo_merge_overlap(filter, filter, &estimate,
							 &host.host) == CUCKOO_OK && !is_damaged)
		CHECK(estimate >= 0.0 && estimate <= (double) contents.nkeys);
}

/*
 * operate
 *		Everything that can be done with one filter.
 */
static void
operate(const CuckooFilter *filter, bool is_damaged)
{
	uint64_t	hashes[MAX_VALUES];
	bool		results[MAX_VALUES];
	uint8_t    *const before = malloc(filter->image_bytes);
	const double rate = cuckoo_filter_fpr(filter);

	CHECK(before != NULL);
	memcpy(before, filter->image, filter->image_bytes);

	for (int i = 0; i < nvalues; i++)
		hashes[i] = values[i].hash;
	cuckoo_filter_contains_batch(filter, hashes, (size_t) nvalues, results);
	for (int i = 0; i < nvalues && !is_damaged; i++)
		CHECK(results[i]);
	CHECK(rate >= 0.0 && rate <= 1.0);
	CHECK(cuckoo_filter_declared_fpr(filter) <= 1.0);
	CHECK(cuckoo_filter_load_factor(filter) <= 1.0);
	CHECK(cuckoo_filter_estimate_values(filter) >= 0.0);
	(void) cuckoo_filter_max_resize(filter);
	(void) cuckoo_filter_full_bytes(filter);

	try_adds_and_removes(filter, is_damaged);
	try_resize(filter, 0, 0, is_damaged);
	try_resize(filter, filter->nentries + 1, 0, is_damaged);
	try_resize(filter, 2 * (filter->nentries + 1), CUCKOO_MAX_RATE, is_damaged);
	try_resize(filter, UINT64_C(1) << 40, 0, is_damaged);
	try_merges(filter, is_damaged);

	CHECK(memcmp(before, filter->image, filter->image_bytes) == 0);
	free(before);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	CuckooFilter filter;
	CuckooStatus status;
	uint64_t	position;
	uint8_t    *image;
	bool		is_open;
	bool		expected;

	memset(&contents, 0, sizeof(contents));
	nvalues = 0;
	test_host_init(&host);

	/* so many bytes and no more */
	image = host.host.alloc(&host, bytes);
	CHECK(image != NULL);
	if (bytes > 0)
		memcpy(image, data, bytes);

	expected = is_sound(image, bytes);
	status = cuckoo_image_open(&filter, image, bytes);
	is_open = status == CUCKOO_OK;
	if (is_open)
		status = cuckoo_image_check(&filter, &host.host, &position);
	CHECK_EQUAL(status == CUCKOO_OK, expected);

	if (status == CUCKOO_OK)
	{
		for (int i = 0; i < nvalues; i++)
		{
			const uint64_t hash = values[i].hash;
			const uint64_t key = !filter.is_table ? hash :
				ref_class(hash, data[4], data[6]);

			values[i].ncopies = ref_bag_count(&contents, key);
		}
		check_values(&filter, 1, true);
		operate(&filter, false);
	}
	else if (is_open)
	{
		while (nvalues < MAX_VALUES)
		{
			values[nvalues].hash = test_mix((uint64_t) nvalues);
			nvalues++;
		}
		operate(&filter, true);
	}
	ref_bag_free(&contents);
	host.host.release(&host, image);
	test_host_finish(&host);
	return 0;
}

/*
 * Mutation
 *
 * Half of the time bytes change at random.  Otherwise what they mean does: a
 * slot, a hash, a field of the header; and the rest is made to agree with it,
 * as random changes hardly ever would.
 */
static uint64_t random_state;

static uint64_t
next_random(uint64_t limit)
{
	random_state += CUCKOO_GOLDEN;
	return test_mix(random_state) % limit;
}

static int
compare_slots(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;
	const uint64_t x_order = (x & 0xF) << 48 | x >> 4;
	const uint64_t y_order = (y & 0xF) << 48 | y >> 4;

	return x_order < y_order ? -1 : x_order > y_order;
}

static int
compare_hashes(const void *a, const void *b)
{
	const uint64_t x = cuckoo_load_le64(a);
	const uint64_t y = cuckoo_load_le64(b);

	return x < y ? -1 : x > y;
}

/* Change one slot of a bucket; a new entry can be one that is elsewhere. */
static void
change_slot(const CuckooFilter *filter, uint64_t bucket)
{
	const uint64_t fp_limit = UINT64_C(1) << filter->packing.fp_bits;
	uint8_t    *const body = cuckoo_header_body(filter);
	const int	slot = (int) next_random(CUCKOO_BUCKET_SLOTS);
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];
	CuckooPlace place;

	cuckoo_bucket_read(&filter->packing, body, bucket, fps);
	place.bucket = bucket;
	place.fp = fps[slot];
	switch (next_random(4))
	{
		case 0:
			fps[slot] = 0;
			break;
		case 1:
			fps[slot] = next_random(fp_limit);
			break;
		case 2:
			fps[slot] = fps[next_random(CUCKOO_BUCKET_SLOTS)];
			break;
		default:
			/* the same entry, in its other bucket */
			if (place.fp % 256 == 0)
				return;
			place = cuckoo_table_alternate(&filter->geometry, place);
			cuckoo_bucket_read(&filter->packing, body, place.bucket, fps);
			fps[slot] = place.fp;
			break;
	}
	qsort(fps, CUCKOO_BUCKET_SLOTS, sizeof(fps[0]), compare_slots);
	cuckoo_bucket_write(&filter->packing, body, place.bucket, fps);
}

/* Count again what is there. */
static uint64_t
count_entries(const CuckooFilter *filter)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	uint64_t	nentries = 0;

	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter), bucket,
						   fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
			nentries += fps[slot] != 0;
	}
	return nentries;
}

static void
mutate_table(uint8_t *data, const CuckooFilter *filter)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const uint64_t nchanges = 1 + next_random(8);

	for (uint64_t i = 0; i < nchanges; i++)
		change_slot(filter, next_random(nbuckets));
	if (next_random(8) != 0)
		cuckoo_store_le64(data + CUCKOO_OFF_ENTRIES, count_entries(filter));
}

static size_t
mutate_list(uint8_t *data, size_t bytes, size_t room)
{
	uint8_t    *const body = data + CUCKOO_HEADER_BYTES;
	uint64_t	nentries = (bytes - CUCKOO_HEADER_BYTES) / 8;

	if (nentries == 0 || (bytes + 8 <= room && next_random(3) == 0))
	{
		if (bytes + 8 > room)
			return bytes;
		cuckoo_store_le64(body + 8 * nentries, test_mix(random_state));
		nentries++;
	}
	else if (next_random(3) == 0)
		nentries--;
	else
		memcpy(body + 8 * next_random(nentries),
			   body + 8 * next_random(nentries), 8);
	qsort(body, (size_t) nentries, 8, compare_hashes);
	if (next_random(8) != 0)
		cuckoo_store_le64(data + CUCKOO_OFF_ENTRIES, nentries);
	return (size_t) (CUCKOO_HEADER_BYTES + 8 * nentries);
}

/* Give a header another shape, and the image the size that goes with it. */
static size_t
mutate_header(uint8_t *data, size_t bytes, size_t room)
{
	CuckooFilter filter;
	uint64_t	image_bytes;

	switch (next_random(6))
	{
		case 0:
			data[CUCKOO_OFF_COLUMNS] = (uint8_t)
				(CUCKOO_MIN_COLUMNS + next_random(CUCKOO_MAX_COLUMNS));
			break;
		case 1:
			data[CUCKOO_OFF_INDEX_BITS] = (uint8_t) next_random(12);
			break;
		case 2:
			data[CUCKOO_OFF_PREFIX_BITS] = (uint8_t) next_random(50);
			break;
		case 3:
			data[CUCKOO_OFF_FLAGS] ^= (uint8_t) (1 + next_random(3));
			break;
		case 4:
			data[CUCKOO_OFF_COPIES] = (uint8_t) next_random(256);
			break;
		default:
			cuckoo_store_le64(data + CUCKOO_OFF_ENTRIES, next_random(100));
			break;
	}
	if (cuckoo_header_open(&filter, data, &image_bytes) != CUCKOO_OK ||
		image_bytes > room)
		return bytes;
	if (image_bytes > bytes)
		memset(data + bytes, 0, (size_t) image_bytes - bytes);
	return (size_t) image_bytes;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t room,
						unsigned int seed)
{
	CuckooFilter filter;

	random_state = seed;
	if (bytes < CUCKOO_HEADER_BYTES || next_random(2) == 0)
		return LLVMFuzzerMutate(data, bytes, room);
	if (next_random(4) == 0 ||
		cuckoo_image_open(&filter, data, bytes) != CUCKOO_OK)
		return mutate_header(data, bytes, room);
	if (filter.is_table)
	{
		mutate_table(data, &filter);
		return bytes;
	}
	return mutate_list(data, bytes, room);
}
