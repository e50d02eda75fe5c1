/*-------------------------------------------------------------------------
 *
 * test_window.c
 *		Probing a table of which only a few bytes are at hand.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "core/cuckoo_window.h"

/*
 * count_in_windows
 *		Copies of a hash, from exactly the bytes that the windows ask for.
 */
static int
count_in_windows(const CuckooFilter *filter, uint64_t hash)
{
	CuckooFilter header = *filter;
	CuckooWindow windows[2];
	int			ncopies = 0;

	header.image = NULL;
	cuckoo_window_find(&header, hash, windows);
	for (int i = 0; i < 2; i++)
	{
		uint8_t    *bytes;

		CHECK(windows[i].nbytes <= CUCKOO_WINDOW_BYTES);
		CHECK(windows[i].offset >= CUCKOO_HEADER_BYTES);
		CHECK(windows[i].offset + windows[i].nbytes <= filter->image_bytes);

		/* of its own, so that a sanitizer sees what is read beyond it */
		bytes = malloc(windows[i].nbytes);
		CHECK(bytes != NULL);
		memcpy(bytes, filter->image + windows[i].offset, windows[i].nbytes);
		ncopies += cuckoo_window_count(&header, &windows[i], bytes);
		free(bytes);
	}
	return ncopies;
}

/* Tables of every shape: as many copies as the table itself counts. */
static void
every_shape(void)
{
	TestHost	host;

	test_host_init(&host);
	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS;
		 k += 1 + (uint32_t) test_random_below(40))
		for (int q = 0; q <= 10; q++)
			for (int P = q + CUCKOO_MIN_FP_BITS; P <= CUCKOO_MAX_PREFIX_BITS;
				 P += 1 + (int) test_random_below(6))
			{
				CuckooFilter filter;
				uint64_t	hashes[300];

				if (P < CUCKOO_MIN_PREFIX_BITS)
					continue;
				WHERE("k %" PRIu64 ", q %" PRIu64 ", P %" PRIu64, k, q, P, 0);
				test_new_table(&filter, &host, k, q, P, CUCKOO_MAX_COPIES);
				for (int i = 0; i < 300; i++)
				{
					/* every fourth is another copy of one before */
					hashes[i] = i % 4 == 3 ?
						hashes[test_random_below((uint64_t) i)] :
						test_random();
					cuckoo_table_add(&filter,
									 cuckoo_table_hash_address(&filter,
															   hashes[i]));
				}
				for (int i = 0; i < 600; i++)
				{
					const uint64_t hash = i < 300 ? hashes[i] : test_random();

					CHECK_EQUAL(count_in_windows(&filter, hash),
								cuckoo_filter_count(&filter, hash));
				}
				test_release(&filter, &host);
			}
	test_host_finish(&host);
}

/* The last bucket of an odd number of them, whose window is cut short. */
static void
last_bucket(void)
{
	TestHost	host;

	test_host_init(&host);
	for (int P = CUCKOO_MIN_PREFIX_BITS; P <= CUCKOO_MAX_PREFIX_BITS; P++)
	{
		CuckooFilter filter;
		int			ncut = 0;

		WHERE("P %" PRIu64, P, 0, 0, 0);
		test_new_table(&filter, &host, 9, 0, P, CUCKOO_MAX_COPIES);
		for (int i = 0; i < 1000; i++)
		{
			const uint64_t hash = test_random();
			CuckooWindow windows[2];

			cuckoo_table_add(&filter,
							 cuckoo_table_hash_address(&filter, hash));
			CHECK_EQUAL(count_in_windows(&filter, hash),
						cuckoo_filter_count(&filter, hash));
			cuckoo_window_find(&filter, hash, windows);
			ncut += windows[0].offset + windows[0].nbytes ==
				filter.image_bytes;
		}
		CHECK(ncut > 0);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

static const TestCase cases[] = {
	{"every_shape", every_shape},
	{"last_bucket", last_bucket},
};

TEST_MAIN(cases)
