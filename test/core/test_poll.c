/*-------------------------------------------------------------------------
 *
 * test_poll.c
 *		Whatever goes over a whole filter lets its host look up on the way.
 *
 * A host answers interrupts when it is polled, so work that does not poll
 * cannot be cancelled.  Each pass over a table has to poll at least once in
 * BUCKETS_BETWEEN buckets.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "core/cuckoo_merge.h"

#define BUCKETS_BETWEEN		4096
#define HASHES_BETWEEN		1024
#define NVALUES				100000

/* A filter in a table of many times BUCKETS_BETWEEN buckets, with copies. */
static uint64_t
large_table(CuckooFilter *filter, TestHost *host, uint64_t first)
{
	uint64_t	nbuckets;

	test_new(filter, host, 240000, test_rate(0.001), 3);
	for (uint64_t i = 0; i < NVALUES; i++)
	{
		for (int copy = i % 32 == 0 ? 3 : 1; copy > 0; copy--)
			CHECK(cuckoo_filter_add(filter, test_mix(first + i),
									&host->host) <= CUCKOO_SATURATED);
	}
	CHECK(filter->is_table);
	nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	CHECK(nbuckets >= 3 * BUCKETS_BETWEEN);
	return nbuckets;
}

/* Was it polled as often as so many passes over so many buckets ask for? */
#define CHECK_POLLED(host, npolls, npasses, nbuckets) \
	CHECK((host)->npolls - (npolls) >= \
		  (npasses) * ((nbuckets) / BUCKETS_BETWEEN))

static void
one_table(void)
{
	CuckooFilter filter;
	CuckooFilter resized;
	TestHost	host;
	CuckooWalk	walk = {0};
	uint64_t	nbuckets;
	uint64_t	nvalues = 0;
	uint64_t	position;
	uint64_t	npolls;

	test_host_init(&host);
	nbuckets = large_table(&filter, &host, 0);

	npolls = host.npolls;
	while (cuckoo_table_walk(&filter, &walk, &host.host))
		nvalues++;
	CHECK(nvalues > NVALUES - 1000);
	CHECK_POLLED(&host, npolls, 1, nbuckets);

	/* the buckets one by one, then the values */
	npolls = host.npolls;
	CHECK_STATUS(cuckoo_image_check(&filter, &host.host, &position), CUCKOO_OK);
	CHECK_POLLED(&host, npolls, 2, nbuckets);

	npolls = host.npolls;
	CHECK(cuckoo_table_copies_above(&filter, 2, &host.host) > 3000);
	CHECK_POLLED(&host, npolls, 1, nbuckets);

	/* coarser: bits are cut, then copies of what has become equal */
	npolls = host.npolls;
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 0,
									  test_rate(0.01), &host.host), CUCKOO_OK);
	CHECK(resized.geometry.prefix_bits < filter.geometry.prefix_bits);
	CHECK_EQUAL(resized.geometry.index_bits, filter.geometry.index_bits);
	CHECK_POLLED(&host, npolls, 2, nbuckets);
	test_release(&resized, &host);

	/* smaller: entries are put into a table of fewer index bits */
	for (uint64_t i = 1; i < NVALUES; i += i % 32 == 31 ? 2 : 1)
		CHECK(cuckoo_filter_remove(&filter, test_mix(i)) <= CUCKOO_SATURATED);
	npolls = host.npolls;
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 0, 0, &host.host),
				 CUCKOO_OK);
	CHECK(resized.geometry.index_bits < filter.geometry.index_bits);
	CHECK_POLLED(&host, npolls, 1, nbuckets);
	test_release(&resized, &host);

	test_release(&filter, &host);
	test_host_finish(&host);
}

/* Adding until the table has doubled polls while it does. */
static void
growing(void)
{
	CuckooFilter filter;
	TestHost	host;
	uint64_t	nbuckets;
	uint64_t	npolls;
	const uint8_t *image;
	uint64_t	value = UINT64_C(1) << 40;

	test_host_init(&host);
	nbuckets = large_table(&filter, &host, 0);
	do
	{
		npolls = host.npolls;
		image = filter.image;
		CHECK(cuckoo_filter_add(&filter, test_mix(value++), &host.host) <=
			  CUCKOO_SATURATED);
	} while (filter.image == image);
	CHECK_EQUAL(cuckoo_geometry_nbuckets(&filter.geometry), 2 * nbuckets);
	CHECK_POLLED(&host, npolls, 1, nbuckets);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/* Dropping copies goes over all buckets. */
static void
dropping(void)
{
	CuckooFilter filter;
	TestHost	host;
	uint64_t	nbuckets;
	uint64_t	npolls;

	test_host_init(&host);
	nbuckets = large_table(&filter, &host, 0);
	npolls = host.npolls;
	filter.max_copies = 2;
	cuckoo_table_drop_copies(&filter, &host.host);
	CHECK_POLLED(&host, npolls, 1, nbuckets);
	test_check_filter(&filter);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/* Operations on two tables go over at least one of them. */
static void
two_tables(void)
{
	CuckooFilter a;
	CuckooFilter b;
	CuckooFilter common;
	TestHost	host;
	uint64_t	nbuckets;
	uint64_t	npolls;
	double		overlap;

	test_host_init(&host);
	nbuckets = large_table(&a, &host, 0);
	CHECK_EQUAL(large_table(&b, &host, NVALUES / 2), nbuckets);

	npolls = host.npolls;
	CHECK_STATUS(cuckoo_merge_overlap(&a, &b, &overlap, &host.host), CUCKOO_OK);
	CHECK(overlap > NVALUES * 0.45 && overlap < NVALUES * 0.55);
	CHECK_POLLED(&host, npolls, 1, nbuckets);

	npolls = host.npolls;
	CHECK_STATUS(cuckoo_merge_intersection(&a, &b, &common, &host.host),
				 CUCKOO_OK);
	CHECK_POLLED(&host, npolls, 1, nbuckets);
	test_release(&common, &host);

	npolls = host.npolls;
	CHECK_STATUS(cuckoo_merge_into(&a, &b, false, &host.host), CUCKOO_OK);
	CHECK_POLLED(&host, npolls, 1, nbuckets);
	test_release(&a, &host);
	test_release(&b, &host);
	test_host_finish(&host);
}

/* A build polls for each batch of hashes, whatever the width of an entry. */
static void
building(void)
{
	static uint64_t hashes[NVALUES];
	const double rates[] = {0.001, 1e-9};
	TestHost	host;

	test_host_init(&host);
	for (size_t i = 0; i < NVALUES; i++)
		hashes[i] = test_mix(i);
	test_sort_keys(hashes, NVALUES);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
	{
		const CuckooParameters parameters = {
			NVALUES, test_rate(rates[i]), CUCKOO_MAX_COPIES, 0
		};
		const uint64_t npolls = host.npolls;
		CuckooFilter filter;

		WHERE("rate %" PRIu64, parameters.rate, 0, 0, 0);
		CHECK_STATUS(cuckoo_build_array(&filter, &parameters, hashes, NVALUES,
										&host.host), CUCKOO_OK);
		CHECK(host.npolls - npolls >= NVALUES / HASHES_BETWEEN);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

/* As does adding the hashes of one table to another. */
static void
adding_hashes(void)
{
	CuckooFilter filter;
	CuckooFilter other;
	TestHost	host;
	uint64_t	npolls;

	test_host_init(&host);
	large_table(&filter, &host, 0);
	large_table(&other, &host, NVALUES / 10);
	npolls = host.npolls;
	CHECK_STATUS(test_unite_by_keys(&filter, &other, false, false, &host),
				 CUCKOO_OK);
	CHECK(host.npolls - npolls >= NVALUES / HASHES_BETWEEN);
	test_release(&filter, &host);
	test_release(&other, &host);
	test_host_finish(&host);
}

static const TestCase cases[] = {
	{"one_table", one_table},
	{"growing", growing},
	{"dropping", dropping},
	{"two_tables", two_tables},
	{"building", building},
	{"adding_hashes", adding_hashes},
};

TEST_MAIN(cases)
