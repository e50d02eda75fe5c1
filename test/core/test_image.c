/*-------------------------------------------------------------------------
 *
 * test_image.c
 *		Header encode and decode, and the check of untrusted bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

static uint64_t
number_at(const uint8_t *bytes, int offset, int width)
{
	return ref_get_bits(bytes, 8 * (uint64_t) offset, 8 * width);
}

/*
 * expected_status
 *		What cuckoo_format.h says of a header, written once more.
 *
 * *image_bytes is set to the length it asks for if it is fine.
 */
static CuckooStatus
expected_status(const uint8_t *header, uint64_t *image_bytes)
{
	const int	flags = header[2];
	const int	k = header[4];
	const int	q = header[5];
	const int	P = header[6];
	const int	declared = header[7] % 16;
	const int	now = header[7] / 16;
	const uint64_t capacity = number_at(header, 16, 8);
	const uint64_t entries = number_at(header, 24, 8);
	const uint64_t kicks = number_at(header, 32, 8);
	const int	longest = header[40];
	const int	growths = header[41];
	const uint64_t load = number_at(header, 42, 2);

	if (header[0] != 1)
		return CUCKOO_NEW_FORMAT;
	if (header[1] != 1)
		return CUCKOO_NEW_HASH;
	if (flags > 3)
		return CUCKOO_NEW_FLAG;
	if (header[3] > 24)
		return CUCKOO_NEW_FAMILY;
	if (k < 8 || k > 127 || P < 9 || P > 48 || q > P - 8)
		return CUCKOO_BAD_HEADER;
	if (declared < 1 || declared > 4 || now > declared ||
		now < (declared == 1 ? 1 : 2))
		return CUCKOO_BAD_HEADER;
	if (capacity < 1 || capacity > UINT64_C(9007199254740992))
		return CUCKOO_BAD_HEADER;
	if (load > 10000 || (kicks == 0) != (longest == 0))
		return CUCKOO_BAD_HEADER;
	if (flags % 2 == 1)
	{
		const uint64_t nbuckets = (uint64_t) k << q;

		/* 2^40 buckets at most, of 28 bits at least: no overflow */
		*image_bytes = 44 + (nbuckets * 4 * (uint64_t) (P - q - 1) + 7) / 8 + 7;
		if (*image_bytes > UINT64_C(536870912) - 4 || entries > 4 * nbuckets)
			return CUCKOO_BAD_HEADER;
	}
	else
	{
		*image_bytes = 44 + 8 * entries;
		if (q != 0 || entries > 4096 || kicks != 0 || growths != 0 || load != 0)
			return CUCKOO_BAD_HEADER;
	}
	return CUCKOO_OK;
}

/*
 * check_bytes
 *		Open, check and use bytes from outside, in memory of just their size.
 *
 * Returns what open or check said.
 */
static CuckooStatus
check_bytes(const uint8_t *bytes, size_t nbytes)
{
	uint8_t    *const image = malloc(nbytes + (nbytes == 0));
	CuckooFilter filter;
	CuckooFilter copy;
	CuckooStatus status;
	TestHost	host;
	uint64_t	position = UINT64_MAX;
	uint64_t	expected_bytes = 0;
	uint64_t	hashes[40];
	bool		results[40];

	CHECK(image != NULL);
	memcpy(image, bytes, nbytes);
	status = cuckoo_image_open(&filter, image, nbytes);
	if (nbytes >= CUCKOO_HEADER_BYTES)
	{
		CuckooStatus expected = expected_status(image, &expected_bytes);

		if (expected == CUCKOO_OK && expected_bytes != nbytes)
			expected = CUCKOO_BAD_SIZE;
		CHECK_STATUS(status, expected);
	}
	if (status != CUCKOO_OK)
	{
		free(image);
		return status;
	}

	/* an image that could be opened is safe to look into, sound or not */
	for (int i = 0; i < 40; i++)
	{
		hashes[i] = test_random();
		(void) cuckoo_filter_contains(&filter, hashes[i]);
		(void) cuckoo_filter_count(&filter, hashes[i]);
	}
	cuckoo_filter_contains_batch(&filter, hashes, 40, results);
	status = cuckoo_image_check(&filter, NULL, &position);
	CHECK(memcmp(image, bytes, nbytes) == 0);
	if (status != CUCKOO_OK)
	{
		CHECK(status >= CUCKOO_BAD_LIST);
		free(image);
		return status;
	}

	/* a sound one is what its header stores, and works */
	for (int i = 0; i < 40; i++)
		CHECK_EQUAL(results[i], cuckoo_filter_contains(&filter, hashes[i]));
	test_host_init(&host);
	CHECK_STATUS(cuckoo_filter_copy(&filter, &copy, &host.host), CUCKOO_OK);
	test_check_filter(&copy);
	CHECK(memcmp(copy.image, bytes, nbytes) == 0);
	for (int i = 0; i < 10; i++)
	{
		status = cuckoo_filter_add(&copy, hashes[i], &host.host);
		if (status == CUCKOO_OK || status == CUCKOO_SATURATED)
			CHECK(cuckoo_filter_contains(&copy, hashes[i]));
		if (!copy.is_merged && copy.max_copies > 1)
			(void) cuckoo_filter_remove(&copy, hashes[i]);
	}
	test_check_filter(&copy);
	test_release(&copy, &host);
	test_host_finish(&host);
	free(image);
	return CUCKOO_OK;
}

/*
 * The images that the cases below maltreat: lists and tables of several
 * shapes, small enough that every bit can be turned.
 */
#define NIMAGES		8

static const struct
{
	uint64_t	capacity;
	double		rate;
	int			max_copies;
	uint64_t	nvalues;
}			image_rows[NIMAGES] = {
	{1000000, 0.01, 4, 0},		/* empty list */
	{1000000, 0.01, 4, 9},		/* list with copies */
	{20, 0.001, 1, 20},			/* list for good, single copies */
	{24, 0.015, 4, 24},			/* q = 0, P = 9, k = 8: words */
	{40, 1e-6, 2, 40},			/* q = 0, wide fingerprints, half a byte left */
	{40, 1e-9, 3, 40},			/* q = 0, widest */
	{300, 0.01, 4, 150},		/* q = 0, sparse */
	{600, 0.01, 4, 590},		/* q = 1, relocations */
};

static void
make_image(CuckooFilter *filter, TestHost *host, size_t row)
{
	test_new(filter, host, image_rows[row].capacity,
			 test_rate(image_rows[row].rate), image_rows[row].max_copies);
	for (uint64_t i = 0; i < image_rows[row].nvalues; i++)
		(void) cuckoo_filter_add(filter, test_mix(i % 5 == 4 ? i - 1 : i),
								 &host->host);
	cuckoo_header_store(filter);
}

static void
headers_round_trip(void)
{
	const int	nrounds = (int) test_amount(2000, 20000, 200000);
	TestHost	host;

	test_host_init(&host);
	for (int round = 0; round < nrounds; round++)
	{
		CuckooFilter filter;
		CuckooFilter opened;
		const int	P = 9 + (int) test_random_below(40);
		int			q = (int) test_random_below((uint64_t) P - 7);
		const uint8_t *header;

		if (q > 5)
			q = 5;
		test_new_table(&filter, &host, 8 + (uint32_t) test_random_below(120), q,
					   P, 1);
		filter.is_merged = test_random_below(2) == 1;
		filter.family =
			(CuckooFamily) test_random_below(CUCKOO_FAMILY_LAST + 1);
		filter.declared_copies = 1 + (int) test_random_below(4);
		filter.max_copies = filter.declared_copies == 1 ? 1 : 2 +
			(int) test_random_below((uint64_t) filter.declared_copies - 1);
		filter.seed = test_random();
		filter.capacity = 1 + test_random_shifted(11, 60);
		filter.nentries = test_random_below(cuckoo_header_nslots(&filter) + 1);
		filter.nkicks = test_random_shifted(0, 63);
		filter.longest_path = filter.nkicks == 0 ? 0 :
			1 + (int) test_random_below(255);
		filter.ngrowths = (int) test_random_below(256);
		filter.growth_load = (int) test_random_below(10001);
		cuckoo_header_store(&filter);

		header = filter.image;
		CHECK_EQUAL(header[0], 1);
		CHECK_EQUAL(header[1], 1);
		CHECK_EQUAL(header[2], 1 + 2 * (int) filter.is_merged);
		CHECK_EQUAL(header[3], filter.family);
		CHECK_EQUAL(header[4], filter.geometry.ncolumns);
		CHECK_EQUAL(header[5], q);
		CHECK_EQUAL(header[6], P);
		CHECK_EQUAL(header[7],
					filter.declared_copies + 16 * filter.max_copies);
		CHECK_EQUAL(number_at(header, 8, 8), filter.seed);
		CHECK_EQUAL(number_at(header, 16, 8), filter.capacity);
		CHECK_EQUAL(number_at(header, 24, 8), filter.nentries);
		CHECK_EQUAL(number_at(header, 32, 8), filter.nkicks);
		CHECK_EQUAL(header[40], filter.longest_path);
		CHECK_EQUAL(header[41], filter.ngrowths);
		CHECK_EQUAL(number_at(header, 42, 2), filter.growth_load);

		CHECK_STATUS(cuckoo_image_open(&opened, filter.image,
									   filter.image_bytes), CUCKOO_OK);
		CHECK(test_same_header(&filter, &opened));
		CHECK(opened.image == filter.image &&
			  opened.image_room == filter.image_bytes);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

/* Every value of every byte of the header, beside what is allowed. */
static void
every_header_byte(void)
{
	uint64_t	nstatus[CUCKOO_BAD_COPIES + 1] = {0};

	for (size_t row = 0; row < NIMAGES; row++)
	{
		CuckooFilter filter;
		TestHost	host;

		test_host_init(&host);
		make_image(&filter, &host, row);
		CHECK_STATUS(check_bytes(filter.image, filter.image_bytes), CUCKOO_OK);
		for (int offset = 0; offset < CUCKOO_HEADER_BYTES; offset++)
		{
			const uint8_t saved = filter.image[offset];

			for (int value = 0; value < 256; value++)
			{
				WHERE("row %" PRIu64 ", byte %" PRIu64 ", value %" PRIu64, row,
					  offset, value, 0);
				filter.image[offset] = (uint8_t) value;
				nstatus[check_bytes(filter.image, filter.image_bytes)]++;
			}
			filter.image[offset] = saved;
		}
		test_release(&filter, &host);
		test_host_finish(&host);
	}
	CHECK(nstatus[CUCKOO_NEW_FORMAT] > 0 && nstatus[CUCKOO_NEW_HASH] > 0 &&
		  nstatus[CUCKOO_NEW_FLAG] > 0 && nstatus[CUCKOO_NEW_FAMILY] > 0 &&
		  nstatus[CUCKOO_BAD_HEADER] > 0 && nstatus[CUCKOO_BAD_SIZE] > 0 &&
		  nstatus[CUCKOO_BAD_COUNT] > 0 && nstatus[CUCKOO_OK] > 0);
}

/* The borders of each field by hand: value, status. */
static void
header_borders(void)
{
	static const struct
	{
		int			offset;
		int			width;
		uint64_t	value;
		CuckooStatus status;
	}			rows[] = {
		{0, 1, 0, CUCKOO_NEW_FORMAT},
		{0, 1, 2, CUCKOO_NEW_FORMAT},
		{1, 1, 0, CUCKOO_NEW_HASH},
		{1, 1, 2, CUCKOO_NEW_HASH},
		{2, 1, 4 | 1, CUCKOO_NEW_FLAG},
		{2, 1, 128 | 1, CUCKOO_NEW_FLAG},
		{3, 1, 24, CUCKOO_OK},
		{3, 1, 25, CUCKOO_NEW_FAMILY},
		{4, 1, 7, CUCKOO_BAD_HEADER},
		{4, 1, 128, CUCKOO_BAD_HEADER},
		{6, 1, 8, CUCKOO_BAD_HEADER},
		{6, 1, 49, CUCKOO_BAD_HEADER},
		{7, 1, 0x44, CUCKOO_OK},
		{7, 1, 0x24, CUCKOO_OK},
		{7, 1, 0x14, CUCKOO_BAD_HEADER},
		{7, 1, 0x54, CUCKOO_BAD_HEADER},
		{7, 1, 0x43, CUCKOO_BAD_HEADER},
		{7, 1, 0x40, CUCKOO_BAD_HEADER},
		{7, 1, 0x55, CUCKOO_BAD_HEADER},
		{8, 8, UINT64_MAX, CUCKOO_OK},
		{16, 8, 0, CUCKOO_BAD_HEADER},
		{16, 8, 1, CUCKOO_OK},
		{16, 8, UINT64_C(1) << 53, CUCKOO_OK},
		{16, 8, (UINT64_C(1) << 53) + 1, CUCKOO_BAD_HEADER},
		{16, 8, UINT64_MAX, CUCKOO_BAD_HEADER},
		{24, 8, UINT64_MAX, CUCKOO_BAD_HEADER},
		{42, 2, 10000, CUCKOO_OK},
		{42, 2, 10001, CUCKOO_BAD_HEADER},
		{40, 1, 0, CUCKOO_BAD_HEADER},
		{40, 1, 255, CUCKOO_OK},
		{32, 8, 0, CUCKOO_BAD_HEADER},
		{32, 8, UINT64_MAX, CUCKOO_OK},
	};
	CuckooFilter filter;
	TestHost	host;

	test_host_init(&host);
	make_image(&filter, &host, 7);
	CHECK(filter.is_table && filter.nkicks > 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		uint8_t		saved[CUCKOO_HEADER_BYTES];
		CuckooFilter opened;

		WHERE("row %" PRIu64, i, 0, 0, 0);
		memcpy(saved, filter.image, sizeof(saved));
		ref_set_bits(filter.image, 8 * (uint64_t) rows[i].offset,
					 8 * rows[i].width, rows[i].value);
		CHECK_STATUS(cuckoo_image_open(&opened, filter.image,
									   filter.image_bytes), rows[i].status);
		memcpy(filter.image, saved, sizeof(saved));
	}
	test_release(&filter, &host);
	test_host_finish(&host);
}

static void
every_truncation(void)
{
	for (size_t row = 0; row < NIMAGES; row++)
	{
		CuckooFilter filter;
		TestHost	host;
		uint8_t    *longer;

		test_host_init(&host);
		make_image(&filter, &host, row);
		for (size_t nbytes = 0; nbytes < filter.image_bytes; nbytes++)
		{
			WHERE("row %" PRIu64 ", %" PRIu64 " bytes", row, nbytes, 0, 0);
			CHECK_STATUS(check_bytes(filter.image, nbytes), CUCKOO_BAD_SIZE);
		}
		longer = calloc(filter.image_bytes + 20, 1);
		CHECK(longer != NULL);
		memcpy(longer, filter.image, filter.image_bytes);
		for (size_t nmore = 1; nmore <= 20; nmore++)
			CHECK_STATUS(check_bytes(longer, filter.image_bytes + nmore),
						 CUCKOO_BAD_SIZE);

		/* of another version, that is what is said however short it is */
		longer[0] = 2;
		for (size_t nbytes = 1; nbytes < 60; nbytes++)
			CHECK_STATUS(check_bytes(longer, nbytes < filter.image_bytes ?
									 nbytes : filter.image_bytes),
						 CUCKOO_NEW_FORMAT);
		free(longer);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

static void
every_bit_flip(void)
{
	uint64_t	nsound = 0;
	uint64_t	nflips = 0;

	for (size_t row = 0; row < NIMAGES; row++)
	{
		CuckooFilter filter;
		TestHost	host;

		test_host_init(&host);
		make_image(&filter, &host, row);
		for (uint64_t bit = 0; bit < 8 * (uint64_t) filter.image_bytes; bit++)
		{
			WHERE("row %" PRIu64 ", bit %" PRIu64, row, bit, 0, 0);
			filter.image[bit / 8] ^= (uint8_t) (1 << bit % 8);
			nsound += check_bytes(filter.image,
								  filter.image_bytes) == CUCKOO_OK;
			filter.image[bit / 8] ^= (uint8_t) (1 << bit % 8);
			nflips++;
		}
		CHECK_STATUS(check_bytes(filter.image, filter.image_bytes), CUCKOO_OK);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
	printf("# of %" PRIu64 " flips %" PRIu64 " gave another sound filter\n",
		   nflips, nsound);
	CHECK(nsound > 0 && nsound < nflips);
}

/* Several bytes at a time, whole bodies of noise, spliced images. */
static void
random_damage(void)
{
	const int	nrounds = (int) test_amount(2000, 20000, 400000);

	for (int round = 0; round < nrounds; round++)
	{
		CuckooFilter filter;
		TestHost	host;
		const uint64_t nchanges = 1 + test_random_below(6);

		test_host_init(&host);
		make_image(&filter, &host, (size_t) test_random_below(NIMAGES));
		if (round % 10 == 0)
		{
			for (size_t i = CUCKOO_HEADER_BYTES; i < filter.image_bytes; i++)
				filter.image[i] = (uint8_t) test_random();
		}
		for (uint64_t i = 0; i < nchanges; i++)
		{
			const uint64_t at = test_random_below(round % 2 == 0 ? 44 :
												  filter.image_bytes);

			filter.image[at] = (uint8_t) test_random_shifted(56, 63);
		}
		(void) check_bytes(filter.image, filter.image_bytes);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* A header says how long the image must be, before any of it is there. */
static void
lengths_from_header(void)
{
	const int	nrounds = (int) test_amount(100000, 1000000, 10000000);
	uint64_t	nfine = 0;

	for (int round = 0; round < nrounds; round++)
	{
		uint8_t		header[CUCKOO_HEADER_BYTES] = {1, 1};
		CuckooFilter filter;
		CuckooStatus status;
		uint64_t	image_bytes = 0;
		uint64_t	expected_bytes = 0;

		header[2] = (uint8_t) test_random_below(4);
		header[4] = (uint8_t) (6 + test_random_below(124));
		header[5] = (uint8_t) test_random_below(42);
		header[6] = (uint8_t) (7 + test_random_below(44));
		header[7] = 0x44;
		header[16] = 1;
		ref_set_bits(header, 24 * 8, 64,
					 test_random_shifted(30, 63));
		status = cuckoo_header_open(&filter, header, &image_bytes);
		CHECK_STATUS(status, expected_status(header, &expected_bytes));
		if (status == CUCKOO_OK)
		{
			nfine++;
			CHECK_EQUAL(image_bytes, expected_bytes);
			CHECK(image_bytes <= CUCKOO_MAX_IMAGE_BYTES);
			CHECK(filter.image == NULL && filter.image_bytes == 0);
		}
	}
	CHECK(nfine > 100);
}

static const TestCase cases[] = {
	{"headers_round_trip", headers_round_trip},
	{"header_borders", header_borders},
	{"every_header_byte", every_header_byte},
	{"every_truncation", every_truncation},
	{"every_bit_flip", every_bit_flip},
	{"random_damage", random_damage},
	{"lengths_from_header", lengths_from_header},
};

TEST_MAIN(cases)
