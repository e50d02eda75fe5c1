/*-------------------------------------------------------------------------
 *
 * test_copies.c
 *		Copies: counted exactly, by every operation, and lowered only where it
 *		must be.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/* So fine that no two of the values here share an entry. */
#define FINE_RATE	1e-12

#define NBAGS		6
#define DOMAIN		3000

/*
 * A filter, and the copies it should have of each value of the domain.
 */
typedef struct Bag
{
	CuckooFilter filter;
	int			counts[DOMAIN];
} Bag;

static uint64_t domain_salt;

static uint64_t
value_hash(int value)
{
	return test_mix(domain_salt + (uint64_t) value);
}

static uint64_t
bag_total(const Bag *bag)
{
	uint64_t	total = 0;

	for (int i = 0; i < DOMAIN; i++)
		total += (uint64_t) bag->counts[i];
	return total;
}

/* No more copies of a value than the filter may have by now. */
static void
bag_limit(Bag *bag)
{
	for (int i = 0; i < DOMAIN; i++)
		bag->counts[i] = test_min(bag->counts[i], bag->filter.max_copies);
}

static void
bag_check(Bag *bag)
{
	uint64_t	position;

	CHECK_STATUS(cuckoo_image_check(&bag->filter, NULL, &position), CUCKOO_OK);
	CHECK_EQUAL(bag->filter.nentries, bag_total(bag));
	for (int i = 0; i < DOMAIN; i++)
	{
		const uint64_t hash = value_hash(i);

		CHECK_EQUAL(cuckoo_filter_count(&bag->filter, hash), bag->counts[i]);
		CHECK_EQUAL(cuckoo_filter_contains(&bag->filter, hash),
					bag->counts[i] > 0);
	}
}

/* A value: of a tenth of the domain as often as of all. */
static int
random_value(int nvalues)
{
	const bool	is_hot = test_random_below(4) == 0;

	return (int) test_random_below((uint64_t) (is_hot ? nvalues / 10 + 1 :
											   nvalues));
}

/*
 * bag_add
 *		Add a value; below the capacity it cannot be refused.
 */
static void
bag_add(Bag *bag, int value, TestHost *host)
{
	const int	before = bag->filter.max_copies;
	const uint64_t nentries = bag->filter.nentries;
	const CuckooStatus status = cuckoo_filter_add(&bag->filter,
												  value_hash(value),
												  &host->host);

	if (status == CUCKOO_SATURATED)
		CHECK_EQUAL(bag->counts[value], before);
	else if (status == CUCKOO_FULL)
		CHECK(nentries >= bag->filter.capacity);
	else
	{
		CHECK_STATUS(status, CUCKOO_OK);
		bag->counts[value]++;
		if (bag->filter.max_copies < before)
		{
			CHECK(bag->filter.max_copies >= 2);
			bag_limit(bag);
		}
	}
	CHECK_EQUAL(cuckoo_filter_count(&bag->filter, value_hash(value)),
				bag->counts[value]);
}

static void
bag_remove(Bag *bag, int value)
{
	CuckooStatus expected = CUCKOO_OK;

	if (bag->filter.is_merged || bag->filter.max_copies == 1)
		return;
	if (bag->counts[value] == 0)
		expected = CUCKOO_NOT_FOUND;
	else if (bag->counts[value] >= bag->filter.max_copies)
		expected = CUCKOO_SATURATED;
	CHECK_STATUS(cuckoo_filter_remove(&bag->filter, value_hash(value)),
				 expected);
	if (expected == CUCKOO_OK)
		bag->counts[value]--;
	CHECK_EQUAL(cuckoo_filter_count(&bag->filter, value_hash(value)),
				bag->counts[value]);
}

/*
 * bag_resize
 *		For another capacity: no copy is lost, whatever the size.
 */
static void
bag_resize(Bag *bag, TestHost *host)
{
	const uint64_t capacity = test_random_below(2) == 0 ? 0 :
		bag->filter.nentries + 1 +
		test_random_below(test_random_below(2) == 0 ? 4 : DOMAIN);
	CuckooFilter resized;
	const CuckooStatus status =
		cuckoo_filter_resize(&bag->filter, &resized, capacity, 0, &host->host);

	/* grown too often to be declared so large again */
	if (status == CUCKOO_TOO_COARSE)
		return;
	CHECK_STATUS(status, CUCKOO_OK);
	CHECK_EQUAL(resized.max_copies, bag->filter.max_copies);
	CHECK(resized.image_bytes <= bag->filter.image_bytes ||
		  !bag->filter.is_table);
	test_release(&bag->filter, host);
	bag->filter = resized;
	bag_check(bag);
}

/*
 * bag_intersect
 *		The smaller number of copies of each, and no fewer counted.
 */
static void
bag_intersect(Bag *bag, const Bag *other, TestHost *host)
{
	CuckooFilter common;

	CHECK_STATUS(cuckoo_merge_intersection(&bag->filter, &other->filter,
										   &common, &host->host), CUCKOO_OK);
	CHECK_EQUAL(common.max_copies, test_min(bag->filter.max_copies,
											other->filter.max_copies));
	test_release(&bag->filter, host);
	bag->filter = common;
	for (int i = 0; i < DOMAIN; i++)
		bag->counts[i] = test_min(bag->counts[i], other->counts[i]);
	bag_limit(bag);
	bag_check(bag);
}

/*
 * bag_unite
 *		Unite two bags, at once or by keys as the aggregates do.
 *
 * Where the one has all that the result holds, nothing may be lowered.
 */
static void
bag_unite(Bag *bag, const Bag *other, bool add_copies, TestHost *host)
{
	const int	limit = test_min(bag->filter.max_copies,
								 other->filter.max_copies);
	const uint64_t way = test_random_below(3);
	bool		have_common = false;
	bool		adds_nothing[2] = {true, true};
	CuckooStatus status;
	Bag			united = *bag;

	for (int i = 0; i < DOMAIN; i++)
	{
		const int	a = bag->counts[i];
		const int	b = other->counts[i];

		have_common |= a > 0 && b > 0;
		united.counts[i] = test_min(add_copies ? a + b : test_max(a, b), limit);
		adds_nothing[0] &= united.counts[i] == a;
		adds_nothing[1] &= united.counts[i] == b;
	}
	/* what is over its capacity can be refused */
	if (bag_total(&united) > bag->filter.capacity &&
		bag_total(&united) > other->filter.capacity)
		return;

	if (way > 0 && cuckoo_merge_by_keys(&bag->filter, &other->filter))
	{
		status = test_unite_by_keys(&united.filter, &other->filter, add_copies,
									way == 1, host);
	}
	else
		status = cuckoo_merge_into(&united.filter, &other->filter, add_copies,
								   &host->host);
	CHECK_STATUS(status, CUCKOO_OK);
	*bag = united;
	if (!add_copies)
		CHECK_EQUAL(bag->filter.is_merged, have_common ||
					other->filter.is_merged || united.filter.is_merged);
	CHECK(bag->filter.max_copies <= limit);
	if (adds_nothing[0] || adds_nothing[1])
		CHECK_EQUAL(bag->filter.max_copies, limit);
	bag_limit(bag);
	bag_check(bag);
}

/* A new bag, with some values in it already. */
static void
bag_build(Bag *bag, TestHost *host)
{
	const CuckooParameters parameters = {
		24 + test_random_below(test_random_below(2) == 0 ? 100 : 2 * DOMAIN),
		test_rate(FINE_RATE),
		test_random_below(6) == 0 ? 1 + (int) test_random_below(3) : 4, 0
	};
	const int	nvalues = DOMAIN >> test_random_below(7);
	uint64_t	keys[2 * DOMAIN + 24];
	size_t		nkeys = (size_t) test_random_below(parameters.capacity + 1);

	memset(bag->counts, 0, sizeof(bag->counts));
	for (size_t i = 0; i < nkeys; i++)
	{
		const int	value = random_value(nvalues);

		keys[i] = cuckoo_order_hash(value_hash(value));
		bag->counts[value]++;
	}
	test_sort_keys(keys, nkeys);
	nkeys = test_limit_equal(keys, nkeys, parameters.max_copies);
	CHECK_STATUS(cuckoo_build_array(&bag->filter, &parameters, keys, nkeys,
									&host->host), CUCKOO_OK);
	bag_limit(bag);
	bag_check(bag);
}

/* The bag that another one is a copy of, or one that can be merged with it. */
static Bag *
merge_partner(Bag *bags, int i)
{
	for (int n = 0; n < 2 * NBAGS; n++)
	{
		Bag		   *const other = &bags[test_random_below(NBAGS)];

		if (other != &bags[i] &&
			cuckoo_merge_compatible(&bags[i].filter,
									&other->filter) == CUCKOO_OK)
			return other;
	}
	return NULL;
}

/* Make a bag one with the columns of another, so that they can be merged. */
static void
bag_become(Bag *bag, const Bag *other, TestHost *host)
{
	test_release(&bag->filter, host);
	*bag = *other;
	CHECK_STATUS(cuckoo_filter_copy(&other->filter, &bag->filter, &host->host),
				 CUCKOO_OK);
	/* apart from each other: removals where there can be any, and adds */
	for (int i = 0; i < 200; i++)
		bag_remove(bag, (int) test_random_below(DOMAIN));
}

/* One operation on one of the bags; returns how many it counts for. */
static uint64_t
operate(Bag *bags, TestHost *host)
{
	const int	i = (int) test_random_below(NBAGS);
	Bag		   *const bag = &bags[i];
	Bag		   *const other = merge_partner(bags, i);
	const uint64_t what = test_random_below(40);
	const int	nvalues = DOMAIN >> test_random_below(4);

	WHERE("operation %" PRIu64 ", %" PRIu64 " entries of %" PRIu64
		  ", max_copies %" PRIu64, what, bag->filter.nentries,
		  bag->filter.capacity, bag->filter.max_copies);
	if (what == 0)
	{
		test_release(&bag->filter, host);
		bag_build(bag, host);
	}
	else if (what == 1)
		bag_become(bag, &bags[(i + 1) % NBAGS], host);
	else if (what <= 3)
		bag_resize(bag, host);
	else if (what == 4 && other != NULL)
		bag_intersect(bag, other, host);
	else if (what <= 8 && other != NULL)
		bag_unite(bag, other, what % 2 == 0, host);
	else
	{
		const uint64_t nsteps = 1 + test_random_below(1000);
		const bool	mostly_adds = what % 4 != 0;

		for (uint64_t step = 0; step < nsteps; step++)
		{
			const int	value = random_value(nvalues);

			if ((test_random_below(4) != 0) == mostly_adds)
				bag_add(bag, value, host);
			else
				bag_remove(bag, value);
		}
		bag_check(bag);
		return nsteps;
	}
	return 1;
}

/*
 * Every operation against exact counts.  The long form has ten million.
 */
static void
operations_against_counts(void)
{
	static Bag	bags[NBAGS];
	const uint64_t noperations = test_amount(50000, 300000, 10000000);
	uint64_t	ndone = 0;
	uint64_t	nlowered = 0;
	TestHost	host;

	domain_salt = test_random();
	test_host_init(&host);
	for (int i = 0; i < NBAGS; i++)
		bag_build(&bags[i], &host);
	while (ndone < noperations)
	{
		ndone += operate(bags, &host);
		for (int i = 0; i < NBAGS; i++)
			nlowered += bags[i].filter.max_copies <
				bags[i].filter.declared_copies;
	}
	CHECK(nlowered > 0);
	printf("# %" PRIu64 " operations\n", ndone);
	for (int i = 0; i < NBAGS; i++)
		test_release(&bags[i].filter, &host);
	test_host_finish(&host);
}

/*
 * crafted_hash
 *		The i-th of the hashes that share both buckets in any table here.
 */
static uint64_t
crafted_hash(const CuckooFilter *filter, uint64_t i)
{
	const int	nspare = filter->geometry.prefix_bits - 8 - 16;
	RefEntry	entry = {3, UINT64_C(0xA5F3) << 24, 0x77};

	CHECK(nspare > 0 && i >> nspare == 0);
	entry.v |= i << (24 - nspare);
	return ref_hash_of(entry, (int) filter->geometry.ncolumns,
					   filter->geometry.prefix_bits, test_random());
}

/*
 * Values crafted to share their buckets make a filled table no larger: three
 * of them with three copies lower its copies, five pairs are refused.
 */
static void
crafted_values_do_not_grow(void)
{
	for (int ncopies = 2; ncopies <= 3; ncopies++)
	{
		const uint64_t nhonest = test_amount(20000, 100000, 1000000);
		CuckooStatus status = CUCKOO_OK;
		uint64_t	image_bytes;
		CuckooFilter filter;
		TestHost	host;

		test_host_init(&host);
		test_new(&filter, &host, 3 * nhonest, test_rate(1e-8), 4);
		/* so full that it is doubled first, in vain */
		for (uint64_t i = 0; i < nhonest || 5 * filter.nentries <
			 4 * cuckoo_header_nslots(&filter); i++)
			CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
						 CUCKOO_OK);
		image_bytes = filter.image_bytes;
		for (uint64_t i = 0; i < 5 && status <= CUCKOO_SATURATED; i++)
		{
			const uint64_t hash = crafted_hash(&filter, i);

			for (int copy = 0; copy < ncopies && status <= CUCKOO_SATURATED;
				 copy++)
				status = cuckoo_filter_add(&filter, hash, &host.host);
		}
		CHECK_STATUS(status, CUCKOO_COLLIDING);
		CHECK_EQUAL(filter.image_bytes, image_bytes);
		CHECK_EQUAL(filter.max_copies, ncopies == 2 ? 4 : 2);
		test_check_filter(&filter);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

static const TestCase cases[] = {
	{"operations_against_counts", operations_against_counts},
	{"crafted_values_do_not_grow", crafted_values_do_not_grow},
};

TEST_MAIN(cases)
