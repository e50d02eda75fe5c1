/*-------------------------------------------------------------------------
 *
 * test_damage.c
 *		Every operation on images that open but are not sound.
 *
 * No answer is promised of them, but no harm: nothing outside an image is
 * touched, everything ends, and whatever comes out can be opened again.  That
 * the assertions of the core are on is part of the test.
 *
 *-------------------------------------------------------------------------
 */
#include "core/cuckoo_window.h"
#include "harness.h"
#include "reference.h"

/* Hashes that are tried on each filter. */
#define NHASHES		24

static uint64_t hashes[NHASHES];

/* Merged by keys, all rounds together. */
static uint64_t nbykeys;

/*
 * The filters that are damaged: forms, widths of fingerprints, sizes.
 */
#define NSHAPES		9

static const struct
{
	uint64_t	capacity;
	double		rate;
	int			max_copies;
	uint64_t	nvalues;
}			shapes[NSHAPES] = {
	{1000000, 0.01, 4, 3},
	{1000000, 0.01, 4, 60},
	{20, 0.001, 2, 20},
	{24, 0.015, 4, 24},			/* k = 8, q = 0 */
	{300, 0.01, 4, 290},		/* words */
	{300, 1e-5, 4, 290},		/* pairs */
	{300, 1e-10, 3, 200},		/* neither */
	{600, 0.015, 4, 590},
	{9000, 0.01, 4, 4000},		/* more than SMALL_TABLE_BUCKETS */
};

/*
 * make_filter
 *		A sound filter of the given shape, with many copies.
 */
static void
make_filter(CuckooFilter *filter, TestHost *host, size_t shape)
{
	test_new(filter, host, shapes[shape].capacity,
			 test_rate(shapes[shape].rate), shapes[shape].max_copies);
	for (uint64_t i = 0; i < shapes[shape].nvalues; i++)
		(void) cuckoo_filter_add(filter, test_mix(i % 3 == 2 ? i - 1 : i),
								 &host->host);
	cuckoo_header_store(filter);
}

/*
 * damage_body
 *		Write something into the body that may not belong there.
 */
static void
damage_body(uint8_t *body, size_t nbytes)
{
	static const uint8_t fillings[] = {0x00, 0xFF, 0x0F, 0xF0, 0x01, 0x55};
	const uint64_t kind = test_random_below(5);

	if (nbytes == 0)
		return;
	switch (kind)
	{
		case 0:					/* noise */
			for (size_t i = 0; i < nbytes; i++)
				body[i] = (uint8_t) test_random();
			break;
		case 1:					/* one byte all over */
			memset(body, fillings[test_random_below(sizeof(fillings))],
				   nbytes);
			break;
		case 2:					/* pieces that stand somewhere else */
			for (int i = 0; i < 30; i++)
			{
				const size_t size = test_random_below(2) == 0 ? 8 : 5;
				uint64_t	from;
				uint64_t	to;

				if (nbytes < size)
					break;
				from = test_random_below((nbytes - size) / size + 1) * size;
				to = test_random_below((nbytes - size) / size + 1) * size;
				memmove(body + to, body + from, size);
			}
			break;
		default:				/* a few bytes */
			for (uint64_t n = 1 + test_random_below(8); n > 0; n--)
				body[test_random_below(nbytes)] =
					(uint8_t) test_random_shifted(56, 63);
	}
}

/*
 * damage_header
 *		Change fields of a decoded header to others that are allowed.
 */
static void
damage_header(CuckooFilter *filter)
{
	if (filter->is_table && test_random_below(2) == 0)
	{
		const uint64_t nslots = cuckoo_header_nslots(filter);

		filter->nentries = test_random_below(3);
		if (test_random_below(2) == 0)
			filter->nentries = nslots - filter->nentries;
	}
	if (test_random_below(4) == 0)
		filter->capacity = 1 + test_random_shifted(11, 63);
	if (test_random_below(4) == 0 && filter->declared_copies > 1)
		filter->max_copies = 2;
	if (test_random_below(8) == 0 && filter->is_table)
	{
		filter->nkicks = UINT64_MAX - test_random_below(3);
		filter->longest_path = 255;
		filter->ngrowths = 255;
		filter->growth_load = CUCKOO_GROWTH_LOAD_UNIT;
	}
}

/*
 * check_result
 *		A result can be opened, and is given back.
 */
static void
check_result(CuckooFilter *filter, TestHost *host)
{
	CuckooFilter opened;
	uint8_t    *bytes;

	CHECK(filter->image_bytes <= filter->image_room);
	cuckoo_header_store(filter);
	bytes = malloc(filter->image_bytes);
	CHECK(bytes != NULL);
	memcpy(bytes, filter->image, filter->image_bytes);
	CHECK_STATUS(cuckoo_image_open(&opened, bytes, filter->image_bytes),
				 CUCKOO_OK);
	free(bytes);
	test_release(filter, host);
}

/* Probes, estimates and walks: whatever only reads. */
static void
read_all(const CuckooFilter *filter, TestHost *host)
{
	bool		results[NHASHES];
	uint64_t	position;

	cuckoo_filter_contains_batch(filter, hashes, NHASHES, results);
	for (int i = 0; i < NHASHES; i++)
	{
		CHECK_EQUAL(results[i], cuckoo_filter_contains(filter, hashes[i]));
		CHECK(cuckoo_filter_count(filter,
								  hashes[i]) <= 2 * CUCKOO_BUCKET_SLOTS);
		if (filter->is_table)
		{
			CuckooWindow windows[2];
			int			ncopies = 0;

			cuckoo_window_find(filter, hashes[i], windows);
			for (int j = 0; j < 2; j++)
			{
				uint8_t		bytes[CUCKOO_WINDOW_BYTES];

				memcpy(bytes, filter->image + windows[j].offset,
					   windows[j].nbytes);
				ncopies += cuckoo_window_count(filter, &windows[j], bytes);
			}
			CHECK_EQUAL(ncopies, cuckoo_filter_count(filter, hashes[i]));
		}
	}
	CHECK(cuckoo_filter_estimate_values(filter) >= 0);
	CHECK(cuckoo_filter_fpr(filter) >= 0);
	CHECK(cuckoo_filter_load_factor(filter) >= 0);
	(void) cuckoo_image_check(filter, &host->host, &position);
}

/* Adding and removing, until something is refused or for a while. */
static void
change(const CuckooFilter *filter, TestHost *host)
{
	CuckooFilter copy;

	CHECK_STATUS(cuckoo_filter_copy(filter, &copy, &host->host), CUCKOO_OK);
	for (int i = 0; i < 20 * NHASHES; i++)
	{
		const uint64_t hash = i < NHASHES ? hashes[i] : test_random();
		const CuckooStatus status = cuckoo_filter_add(&copy, hash, &host->host);

		CHECK(status == CUCKOO_OK || status == CUCKOO_SATURATED ||
			  status == CUCKOO_FULL || status == CUCKOO_COLLIDING);
	}
	if (!copy.is_merged && copy.max_copies > 1)
	{
		for (int i = 0; i < 20 * NHASHES; i++)
		{
			const CuckooStatus status =
				cuckoo_filter_remove(&copy, i < NHASHES ? hashes[i] :
									 test_mix((uint64_t) i));

			CHECK(status == CUCKOO_OK || status == CUCKOO_SATURATED ||
				  status == CUCKOO_NOT_FOUND);
		}
	}
	check_result(&copy, host);
}

/* Resizing to several capacities and rates. */
static void
resize(const CuckooFilter *filter, TestHost *host)
{
	static const struct
	{
		uint64_t	capacity;
		double		rate;
	}			rows[] = {
		{0, 0}, {0, 0.015}, {0, 0.4}, {10, 0}, {100, 0.01}, {700, 0},
		{2500, 0.012}, {20000, 0.015}
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		CuckooFilter resized;

		if (cuckoo_filter_resize(filter, &resized, rows[i].capacity,
								 test_rate(rows[i].rate),
								 &host->host) == CUCKOO_OK)
			check_result(&resized, host);
	}
}

/*
 * merge_keys
 *		Two tables to one by way of keys: those of one added to the other, and
 *		those of both built anew.
 */
static void
merge_keys(const CuckooFilter *a, const CuckooFilter *b, bool add_copies,
		   TestHost *host)
{
	if (!cuckoo_merge_by_keys(a, b))
		return;
	for (int build_anew = 0; build_anew < 2; build_anew++)
	{
		CuckooFilter merged;

		CHECK_STATUS(cuckoo_filter_copy(a, &merged, &host->host), CUCKOO_OK);
		(void) test_unite_by_keys(&merged, b, add_copies, build_anew != 0,
								  host);
		check_result(&merged, host);
	}
	nbykeys++;
}

/* Two filters to one, in all ways. */
static void
merge(const CuckooFilter *a, const CuckooFilter *b, TestHost *host)
{
	CuckooFilter common;
	double		nvalues;

	for (int add_copies = 0; add_copies < 2; add_copies++)
	{
		CuckooFilter merged;

		CHECK_STATUS(cuckoo_filter_copy(a, &merged, &host->host), CUCKOO_OK);
		(void) cuckoo_merge_into(&merged, b, add_copies == 1, &host->host);
		check_result(&merged, host);
		merge_keys(a, b, add_copies == 1, host);
	}
	if (cuckoo_merge_intersection(a, b, &common, &host->host) == CUCKOO_OK)
		check_result(&common, host);
	if (cuckoo_merge_overlap(a, b, &nvalues, &host->host) == CUCKOO_OK)
		CHECK(nvalues >= 0);
}

/*
 * use_all
 *		Every operation on a damaged filter, alone and with others.
 */
static void
use_all(const CuckooFilter *damaged, const CuckooFilter *sound,
		TestHost *host)
{
	read_all(damaged, host);
	change(damaged, host);
	resize(damaged, host);
	merge(damaged, damaged, host);
	merge(damaged, sound, host);
	merge(sound, damaged, host);
}

/* Random damage of every shape, each with sound filters of its parameters. */
static void
random_damage(void)
{
	const int	nrounds = (int) test_amount(200, 2000, 50000);
	uint64_t	nsound = 0;

	for (int round = 0; round < nrounds; round++)
	{
		const size_t shape = (size_t) round % NSHAPES;
		CuckooFilter sound;
		CuckooFilter written;
		CuckooFilter damaged;
		TestHost	host;
		uint64_t	position;

		WHERE("round %" PRIu64 ", shape %" PRIu64, round, shape, 0, 0);
		for (uint64_t i = 0; i < NHASHES; i++)
			hashes[i] = i % 2 == 0 ? test_mix(i) : test_random();

		test_host_init(&host);
		make_filter(&sound, &host, shape);
		CHECK_STATUS(cuckoo_filter_copy(&sound, &written, &host.host),
					 CUCKOO_OK);
		if (round % 7 != 0)
			damage_body(cuckoo_header_body(&written),
						written.image_bytes - CUCKOO_HEADER_BYTES);
		damage_header(&written);
		cuckoo_header_store(&written);
		CHECK_STATUS(cuckoo_image_open(&damaged, written.image,
									   written.image_bytes), CUCKOO_OK);
		nsound += cuckoo_image_check(&damaged, NULL, &position) == CUCKOO_OK;
		use_all(&damaged, &sound, &host);
		test_release(&written, &host);
		test_release(&sound, &host);
		test_host_finish(&host);
	}
	printf("# %" PRIu64 " of %d were sound all the same; %" PRIu64
		   " merged by keys\n", nsound, nrounds, nbykeys);
	CHECK(nsound < (uint64_t) nrounds / 2);
	CHECK(nbykeys > 0);
}

/* Lists out of order, with hashes that come back further on. */
static void
lists_out_of_order(void)
{
	const int	nrounds = (int) test_amount(2000, 20000, 500000);

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t nentries = 1 + test_random_below(12);
		CuckooFilter sound;
		CuckooFilter written;
		CuckooFilter damaged;
		TestHost	host;

		WHERE("round %" PRIu64, round, 0, 0, 0);
		for (uint64_t i = 0; i < NHASHES; i++)
			hashes[i] = test_mix(i % 4);

		test_host_init(&host);
		test_new(&sound, &host, 20, test_rate(0.01), 4);
		test_new(&written, &host, 20, test_rate(0.01), 4);
		for (uint64_t i = 0; i < 12; i++)
			(void) cuckoo_filter_add(&sound, hashes[i], &host.host);
		for (uint64_t i = 0; i < nentries; i++)
			(void) cuckoo_filter_add(&written, test_random(), &host.host);
		cuckoo_header_store(&sound);
		cuckoo_header_store(&written);
		for (uint64_t i = 0; i < nentries; i++)
			cuckoo_store_le64(cuckoo_header_body(&written) + 8 * i,
							  hashes[test_random_below(4)]);
		CHECK_STATUS(cuckoo_image_open(&damaged, written.image,
									   written.image_bytes), CUCKOO_OK);
		use_all(&damaged, &sound, &host);
		test_release(&written, &host);
		test_release(&sound, &host);
		test_host_finish(&host);
	}
}

static const TestCase cases[] = {
	{"random_damage", random_damage},
	{"lists_out_of_order", lists_out_of_order},
};

TEST_MAIN(cases)
