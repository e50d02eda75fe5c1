/*-------------------------------------------------------------------------
 *
 * test_list.c
 *		The small form of a filter: a sorted list of hashes.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

#define LIST_ROOM	200

/* An empty list with room for LIST_ROOM hashes. */
static void
new_list(CuckooFilter *filter, TestHost *host, int max_copies)
{
	memset(filter, 0, sizeof(*filter));
	filter->geometry.ncolumns = 8;
	filter->geometry.prefix_bits = 9;
	filter->max_copies = max_copies;
	filter->declared_copies = max_copies;
	filter->capacity = 1000;
	filter->image_bytes = CUCKOO_HEADER_BYTES;
	filter->image_room = CUCKOO_HEADER_BYTES + 8 * LIST_ROOM;
	filter->image = host->host.alloc(host, filter->image_room);
	CHECK(filter->image != NULL);
}

/* The list is the sorted multiset, and looks up what that has. */
static void
check_list(CuckooFilter *filter, const RefBag *bag)
{
	RefBag		held = {0};

	CHECK_EQUAL(filter->nentries, bag->total);
	CHECK_EQUAL(filter->image_bytes,
				CUCKOO_HEADER_BYTES + 8 * bag->total);
	for (uint64_t i = 0; i < filter->nentries; i++)
	{
		const uint64_t hash = cuckoo_list_get(filter, i);

		CHECK(i == 0 || cuckoo_list_get(filter, i - 1) <= hash);
		ref_bag_set(&held, hash, ref_bag_count(&held, hash) + 1);
	}
	CHECK(ref_bag_equal(&held, bag));
	ref_bag_free(&held);
	for (size_t i = 0; i < bag->nslots; i++)
	{
		if (bag->counts[i] != 0)
			CHECK_EQUAL(cuckoo_list_count(filter, bag->keys[i]),
						bag->counts[i]);
	}
	test_check_filter(filter);
}

static void
random_operations(void)
{
	const int	nrounds = (int) test_amount(10, 50, 500);

	for (int round = 0; round < nrounds; round++)
	{
		const int	max_copies = 1 + round % 4;
		const uint64_t nhashes = 1 + test_random_below(LIST_ROOM / 4);
		uint64_t	hashes[LIST_ROOM];
		RefBag		bag = {0};
		TestHost	host;
		CuckooFilter filter;

		test_host_init(&host);
		new_list(&filter, &host, max_copies);

		/* the borders of the order too */
		for (uint64_t i = 0; i < nhashes; i++)
			hashes[i] = i == 0 ? 0 : i == 1 ? UINT64_MAX : i == 2 ? 1 :
				i == 3 ? UINT64_MAX - 1 : test_random();

		for (int step = 0; step < 1000; step++)
		{
			const uint64_t hash = hashes[test_random_below(nhashes)];
			const int	ncopies = ref_bag_count(&bag, hash);

			CHECK_EQUAL(cuckoo_list_count(&filter, hash), ncopies);
			if (test_random_below(2) == 0)
			{
				if (ncopies < max_copies)
				{
					cuckoo_list_insert(&filter, hash);
					ref_bag_set(&bag, hash, ncopies + 1);
				}
			}
			else
			{
				CHECK_STATUS(cuckoo_list_remove(&filter, hash),
							 ncopies == 0 ? CUCKOO_NOT_FOUND :
							 ncopies == max_copies ? CUCKOO_SATURATED :
							 CUCKOO_OK);
				if (ncopies > 0 && ncopies < max_copies)
					ref_bag_set(&bag, hash, ncopies - 1);
			}
			if (step % 50 == 0)
				check_list(&filter, &bag);
		}
		check_list(&filter, &bag);
		CHECK_EQUAL(cuckoo_list_count(&filter, test_random()), 0);

		ref_bag_free(&bag);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

static void
empty_list(void)
{
	TestHost	host;
	CuckooFilter filter;
	uint64_t	position = 0;

	test_host_init(&host);
	new_list(&filter, &host, 4);
	CHECK_EQUAL(cuckoo_list_count(&filter, 0), 0);
	CHECK_EQUAL(cuckoo_list_count(&filter, UINT64_MAX), 0);
	CHECK_STATUS(cuckoo_list_remove(&filter, 7), CUCKOO_NOT_FOUND);
	CHECK_STATUS(cuckoo_list_check(&filter, &position), CUCKOO_OK);
	test_check_filter(&filter);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/* What is unsound, and where. */
static void
unsound_lists(void)
{
	static const struct
	{
		int			max_copies;
		int			nhashes;
		uint64_t	hashes[6];
		CuckooStatus status;
		uint64_t	position;
	}			lists[] = {
		{4, 1, {5}, CUCKOO_OK, 0},
		{4, 4, {5, 5, 5, 5}, CUCKOO_OK, 0},
		{4, 5, {5, 5, 5, 5, 5}, CUCKOO_BAD_COPIES, 4},
		{4, 6, {0, 0, 0, 0, 5, 5}, CUCKOO_OK, 0},
		{3, 5, {0, 1, 1, 1, 1}, CUCKOO_BAD_COPIES, 4},
		{2, 5, {0, 0, 1, 1, 2}, CUCKOO_OK, 0},
		{2, 5, {0, 0, 1, 2, 1}, CUCKOO_BAD_LIST, 4},
		{1, 3, {0, 1, UINT64_MAX}, CUCKOO_OK, 0},
		{1, 2, {UINT64_MAX, UINT64_MAX}, CUCKOO_BAD_COPIES, 1},
		{1, 2, {1, 0}, CUCKOO_BAD_LIST, 1},
		{4, 3, {UINT64_C(1) << 63, 1, 2}, CUCKOO_BAD_LIST, 1},
		{4, 3, {256, 1, 512}, CUCKOO_BAD_LIST, 1},
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
	{
		TestHost	host;
		CuckooFilter filter;
		uint64_t	position = 0;

		WHERE("list %" PRIu64, i, 0, 0, 0);
		test_host_init(&host);
		new_list(&filter, &host, lists[i].max_copies);
		filter.nentries = (uint64_t) lists[i].nhashes;
		filter.image_bytes += 8 * (size_t) lists[i].nhashes;
		for (int j = 0; j < lists[i].nhashes; j++)
			cuckoo_store_le64(filter.image + CUCKOO_HEADER_BYTES + 8 * j,
							  lists[i].hashes[j]);

		CHECK_STATUS(cuckoo_list_check(&filter, &position), lists[i].status);
		if (lists[i].status != CUCKOO_OK)
			CHECK_EQUAL(position, lists[i].position);
		CHECK_STATUS(cuckoo_image_check(&filter, &host.host, &position),
					 lists[i].status);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

static const TestCase cases[] = {
	{"empty_list", empty_list},
	{"random_operations", random_operations},
	{"unsound_lists", unsound_lists},
};

TEST_MAIN(cases)
