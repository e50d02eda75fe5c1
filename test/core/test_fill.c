/*-------------------------------------------------------------------------
 *
 * test_fill.c
 *		Capacity is a promise: filters filled to it, and beyond.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/*
 * fill
 *		Add capacity random hashes; none may be refused, none lost.
 *
 * The hashes follow from salt.  Two of them can share a class: with one copy
 * then the second add is none, and the filter just has an entry less.
 */
static void
fill(CuckooFilter *filter, TestHost *host, uint64_t capacity, uint64_t rate,
	 int max_copies, uint64_t salt)
{
	uint64_t	nsaturated = 0;
	uint64_t	position;

	WHERE("capacity %" PRIu64 ", copies %" PRIu64 ", salt 0x%" PRIx64, capacity,
		  max_copies, salt, 0);
	test_new(filter, host, capacity, rate, max_copies);
	for (uint64_t i = 0; i < capacity; i++)
	{
		const CuckooStatus status =
			cuckoo_filter_add(filter, test_mix(salt + i), &host->host);

		if (status == CUCKOO_SATURATED)
			nsaturated++;
		else
			CHECK_STATUS(status, CUCKOO_OK);
	}
	if (max_copies > 1)
		CHECK_EQUAL(filter->nentries, capacity);
	else
		CHECK(filter->nentries + nsaturated <= capacity &&
			  filter->nentries * 10 >= capacity * 9);
	CHECK_EQUAL(filter->max_copies, max_copies);
	for (uint64_t i = 0; i < capacity; i++)
		CHECK(cuckoo_filter_contains(filter, test_mix(salt + i)));
	CHECK_STATUS(cuckoo_image_check(filter, NULL, &position), CUCKOO_OK);
}

/*
 * past_capacity
 *		Add on until refused: as FULL, with every byte as it was.
 */
static void
past_capacity(CuckooFilter *filter, TestHost *host, uint64_t salt)
{
	const uint64_t nlive = host->nlive;
	uint64_t	nrefused = 0;
	uint64_t	image_bytes = filter->image_bytes;

	for (uint64_t i = 0; nrefused < 3; i++)
	{
		const uint64_t hash = test_mix(~salt - i);
		TestSnapshot snapshot;
		CuckooStatus status;

		test_snapshot_take(&snapshot, filter);
		status = cuckoo_filter_add(filter, hash, &host->host);
		if (status == CUCKOO_FULL)
		{
			nrefused++;
			CHECK(filter->nentries >= filter->capacity);
			test_snapshot_check(&snapshot, filter);
		}
		else if (status == CUCKOO_OK)
		{
			CHECK(cuckoo_filter_contains(filter, hash));
			/* past its capacity a table does not grow */
			if (snapshot.filter.nentries >= filter->capacity &&
				snapshot.filter.is_table)
				CHECK_EQUAL(filter->image_bytes, image_bytes);
		}
		else
			CHECK_STATUS(status, CUCKOO_SATURATED);
		image_bytes = filter->image_bytes;
		test_snapshot_free(&snapshot);
		CHECK(i < 20 * filter->capacity + 1000);
		CHECK_EQUAL(host->nlive, nlive);
	}
	test_check_filter(filter);
}

static const double rates[] = {0.015, 0.01, 0.001, 1.0 / 65536, 1e-8};

#define NRATES	(sizeof(rates) / sizeof(rates[0]))

/*
 * fill_size
 *		Fill filters of one capacity, nfills times.
 *
 * Four in five are declared at 1 %, as most will be.
 */
static void
fill_size(uint64_t capacity, uint64_t nfills, uint64_t *nlarge)
{
	for (uint64_t i = 0; i < nfills; i++)
	{
		const uint64_t salt = test_random();
		const uint64_t rate =
			test_rate(i % 5 != 0 ? 0.01 : rates[test_random_below(NRATES)]);
		TestHost	host;
		CuckooFilter filter;

		test_host_init(&host);
		fill(&filter, &host, capacity, rate, i % 8 == 0 ? 1 : 4, salt);
		if (filter.is_table)
			*nlarge += filter.geometry.index_bits >
				cuckoo_geometry_index_bits(filter.geometry.ncolumns, capacity);
		if (i < 20)
			past_capacity(&filter, &host, salt);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/*
 * 1,000 random fills of each size from 1 to 300.  From 477 values on a table
 * has more than 127 buckets; up to there each k from 8 is some size's.
 */
static void
sizes_1_to_300(void)
{
	const uint64_t nfills = test_amount(20, 1000, 10000);
	uint64_t	nlarge = 0;

	for (uint64_t capacity = 1; capacity <= 300; capacity++)
		fill_size(capacity, nfills, &nlarge);
	printf("# %" PRIu64 " fills, %" PRIu64 " of them grew a step more than "
		   "their size asks for\n", nfills * 300, nlarge);
}

static void
sizes_301_to_600(void)
{
	uint64_t	nlarge = 0;
	const uint64_t nfills = test_amount(5, 50, 1000);

	for (uint64_t capacity = 301; capacity <= 600; capacity++)
		fill_size(capacity, nfills, &nlarge);
	printf("# %" PRIu64 " fills, %" PRIu64 " of them grew a step more than "
		   "their size asks for\n", nfills * 300, nlarge);
}

/*
 * A selection of sizes up to 100,000: even on the scale of logarithms, and
 * what fills a table of 2^n and of 127 * 2^n buckets just so, or just not.
 */
static void
sizes_to_100000(void)
{
	uint64_t	nlarge = 0;
	uint64_t	nfills = 0;

	for (uint64_t capacity = 601; capacity <= 100000;
		 capacity += capacity / test_amount(3, 11, 20))
	{
		uint64_t	n = test_amount(3000, 400000, 0) / capacity;

		if (n == 0)
			n = test_amount(1, 4, 1000);
		fill_size(capacity, n, &nlarge);
		nfills += n;
	}
	for (int q = 1; q <= 8; q++)
	{
		for (int i = 0; i < 2; i++)
		{
			const uint64_t usable =
				(uint64_t) ref_usable((i == 0 ? 64 : 127) * 4 << q);

			for (uint64_t capacity = usable - 1; capacity <= usable + 1;
				 capacity++)
			{
				uint64_t	n = test_amount(2000, 200000, 0) / capacity;

				if (n == 0)
					n = test_amount(1, 2, 1000);
				fill_size(capacity, n, &nlarge);
				nfills += n;
			}
		}
	}
	printf("# %" PRIu64 " fills, %" PRIu64 " of them grew a step more than "
		   "their size asks for\n", nfills, nlarge);
}

/*
 * Bytes on the way: an empty filter and one of 20 values, declared for ten
 * million, cost what docs/design.md, Growing, says; and single-copy data only
 * ever doubles a table that is well filled, so that none but small ones is
 * ever emptier than 0.45.
 */
static void
bytes_on_the_way(void)
{
	CuckooFilter filter;
	TestHost	host;
	const uint64_t n = test_amount(20000, 300000, 3000000);
	uint64_t	last_bytes;

	test_host_init(&host);
	test_new(&filter, &host, 10000000, test_rate(0.01), 4);
	CHECK_EQUAL(filter.image_bytes + 4, 48);
	last_bytes = filter.image_bytes;
	for (uint64_t i = 0; i < n; i++)
	{
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);
		if (i + 1 == 20)
			CHECK_EQUAL(filter.image_bytes + 4, 208);
		WHERE("n %" PRIu64 ", bytes %" PRIu64, i, filter.image_bytes, 0, 0);
		CHECK(filter.image_bytes <= 2 * last_bytes + 8);
		if (filter.is_table)
		{
			/* the first table is as large as the list was, whatever its load */
			if (filter.ngrowths > 0)
			{
				CHECK(cuckoo_filter_load_factor(&filter) >= 0.45);
				CHECK(filter.growth_load >= 9000);
			}
			CHECK_EQUAL(filter.geometry.index_bits, filter.ngrowths);
		}
		else
			CHECK_EQUAL(filter.image_bytes, CUCKOO_HEADER_BYTES + 8 * (i + 1));
		last_bytes = filter.image_bytes;
	}
	test_check_filter(&filter);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/* One value 100,000 times costs max_copies slots. */
static void
one_hot_value(void)
{
	for (int max_copies = 1; max_copies <= 4; max_copies++)
	{
		for (uint64_t nothers = 0; nothers <= 5000; nothers += 1000)
		{
			CuckooFilter filter;
			TestHost	host;

			test_host_init(&host);
			test_new(&filter, &host, 10000, test_rate(0.001), max_copies);
			for (uint64_t i = 0; i < nothers; i++)
				CHECK(cuckoo_filter_add(&filter, test_mix(i + 1), &host.host) <=
					  CUCKOO_SATURATED);
			{
				const uint64_t before = filter.nentries;
				const int	ncopies = cuckoo_filter_count(&filter, 0);

				for (int i = 0; i < 100000; i++)
					CHECK_STATUS(cuckoo_filter_add(&filter, 0, &host.host),
								 i + ncopies < max_copies ? CUCKOO_OK :
								 CUCKOO_SATURATED);
				CHECK_EQUAL(filter.nentries,
							before + (uint64_t) (max_copies - ncopies));
				CHECK_EQUAL(cuckoo_filter_count(&filter, 0), max_copies);
			}
			if (max_copies > 1)
				CHECK_STATUS(cuckoo_filter_remove(&filter, 0),
							 CUCKOO_SATURATED);
			CHECK_EQUAL(filter.max_copies, max_copies);
			test_check_filter(&filter);
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

/*
 * hot_values
 *		Fill a filter with nothing but values that have many copies.
 *
 * Each value is added more often than it can have copies, one after the other
 * or all in turn.
 */
static bool
fill_with_hot(uint64_t capacity, int max_copies, bool in_turn)
{
	const uint64_t nvalues = in_turn ? capacity / (uint64_t) max_copies :
		capacity;
	const uint64_t salt = test_random();
	uint64_t	nadded = 0;
	bool		is_lowered;
	CuckooFilter filter;
	TestHost	host;
	uint64_t	position;

	test_host_init(&host);
	test_new(&filter, &host, capacity, test_rate(0.01), max_copies);
	if (in_turn)
	{
		for (int copy = 0; copy < max_copies + 2; copy++)
		{
			for (uint64_t i = 0; i < nvalues; i++)
			{
				WHERE("capacity %" PRIu64 ", copies %" PRIu64 ", in turn, add %"
					  PRIu64, capacity, max_copies, i, 0);
				CHECK(cuckoo_filter_add(&filter, test_mix(salt + i),
										&host.host) <=
					  CUCKOO_SATURATED);
			}
		}
		nadded = nvalues;
	}
	else
	{
		while (filter.nentries < capacity)
		{
			for (int copy = 0; copy < max_copies + 2; copy++)
			{
				const CuckooStatus status =
					cuckoo_filter_add(&filter, test_mix(salt + nadded),
									  &host.host);

				WHERE("capacity %" PRIu64 ", copies %" PRIu64 ", entries %"
					  PRIu64, capacity, max_copies, filter.nentries, 0);
				if (filter.nentries >= capacity && status == CUCKOO_FULL)
					break;
				CHECK(status <= CUCKOO_SATURATED);
			}
			nadded++;
		}
		/* the last may have been refused whole */
		if (cuckoo_filter_count(&filter, test_mix(salt + nadded - 1)) == 0)
			nadded--;
	}

	WHERE("capacity %" PRIu64 ", copies %" PRIu64 ", entries %" PRIu64
		  ", values %" PRIu64, capacity, max_copies, filter.nentries, nadded);
	CHECK(filter.max_copies >= 2);
	for (uint64_t i = 0; i < nadded; i++)
	{
		const int	count = cuckoo_filter_count(&filter, test_mix(salt + i));

		CHECK(cuckoo_filter_contains(&filter, test_mix(salt + i)));
		CHECK(count <= filter.max_copies);
		/* all that were added often enough are saturated */
		if (in_turn || i + 1 < nadded)
			CHECK_EQUAL(count, filter.max_copies);
	}
	CHECK_STATUS(cuckoo_image_check(&filter, NULL, &position), CUCKOO_OK);
	is_lowered = filter.max_copies < max_copies;
	test_release(&filter, &host);
	test_host_finish(&host);
	return is_lowered;
}

static void
nothing_but_hot_values(void)
{
	static const uint64_t capacities[] = {
		20, 23, 24, 25, 30, 50, 77, 100, 200, 300, 500, 1000, 1300, 3000, 10000,
		30000, 100000
	};
	uint64_t	nlowered = 0;
	uint64_t	nfills = 0;

	for (size_t c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++)
	{
		const uint64_t n =
			2 + test_amount(3000, 300000, 3000000) / capacities[c] / 4;

		for (uint64_t i = 0; i < (n < 1000 ? n : 1000); i++)
		{
			for (int max_copies = 2; max_copies <= 4; max_copies++)
			{
				nlowered += fill_with_hot(capacities[c], max_copies,
										  i % 2 == 0);
				nfills++;
			}
		}
	}
	printf("# %" PRIu64 " fills, %" PRIu64 " lowered max_copies\n", nfills,
		   nlowered);
	CHECK(nlowered > 0);
}

/* Pairs and single values with one in a hundred hot: nothing is lowered. */
static void
mostly_single_values(void)
{
	const int	nrounds = (int) test_amount(3, 30, 300);

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 1000 + test_random_below(20000);
		const uint64_t salt = test_random();
		CuckooFilter filter;
		TestHost	host;
		uint64_t	nvalues = 0;

		test_host_init(&host);
		test_new(&filter, &host, capacity, test_rate(0.001), 4);
		while (filter.nentries + 4 <= capacity)
		{
			const int	nadds = nvalues % 100 == 0 ? 6 :
				1 + (int) (nvalues % 20 == 0);

			for (int i = 0; i < nadds; i++)
				CHECK(cuckoo_filter_add(&filter, test_mix(salt + nvalues),
										&host.host) <= CUCKOO_SATURATED);
			nvalues++;
		}
		CHECK_EQUAL(filter.max_copies, 4);
		for (uint64_t i = 0; i < nvalues; i++)
			CHECK(cuckoo_filter_count(&filter, test_mix(salt + i)) >=
				  (i % 100 == 0 ? 4 : 1 + (int) (i % 20 == 0)));
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* What a bag is filled with: hot values of so many copies, others of one. */
typedef struct BagMix
{
	int			hot_percent;	/* of the values */
	int			least_copies;
	int			most_copies;
	int			room_percent;	/* of the capacity, left free */
} BagMix;

static const BagMix bag_mixes[] = {
	{0, 1, 1, 0}, {5, 4, 4, 0}, {8, 4, 4, 0}, {10, 3, 3, 0}, {5, 2, 2, 0},
	{20, 3, 3, 0}, {20, 4, 4, 0}, {20, 2, 4, 0}, {10, 4, 9, 0},
	/* many pairs fit with a little room, as docs/tuning.md says */
	{20, 2, 2, 3}, {100, 2, 2, 15}
};

#define NMIXES	(sizeof(bag_mixes) / sizeof(bag_mixes[0]))

/* Copies of the i-th value of a bag. */
static int
bag_copies(const BagMix *mix, uint64_t i)
{
	/* the most that a filter can have, of those that come */
	if (i * (uint64_t) mix->hot_percent / 100 ==
		(i + 1) * (uint64_t) mix->hot_percent / 100)
		return 1;
	return mix->least_copies +
		(int) (i % (uint64_t) (mix->most_copies - mix->least_copies + 1));
}

/*
 * bag_hashes
 *		Hashes of a bag, in any order, with at most four equal ones counted.
 *
 * *nhashes is set to all, *nvalues to the different ones, of which the i-th is
 * test_mix(salt + i).  Four of each at most are as many as capacity has room
 * for.
 */
static uint64_t *
bag_hashes(const BagMix *mix, uint64_t capacity, uint64_t salt,
		   size_t *nhashes, uint64_t *nvalues)
{
	const uint64_t limit = capacity -
		capacity * (uint64_t) mix->room_percent / 100;
	uint64_t   *const hashes =
		malloc((size_t) (3 * capacity + 10) * sizeof(hashes[0]));
	uint64_t	nentries = 0;

	CHECK(hashes != NULL);
	*nhashes = 0;
	*nvalues = 0;
	for (;; ++*nvalues)
	{
		const int	ncopies = bag_copies(mix, *nvalues);

		nentries += (uint64_t) (ncopies < 4 ? ncopies : 4);
		if (nentries > limit)
			break;
		for (int i = 0; i < ncopies; i++)
			hashes[(*nhashes)++] = test_mix(salt + *nvalues);
	}
	for (size_t i = *nhashes; i-- > 1;)
	{
		const size_t j = (size_t) test_random_below(i + 1);
		const uint64_t hash = hashes[i];

		hashes[i] = hashes[j];
		hashes[j] = hash;
	}
	return hashes;
}

/*
 * check_bag
 *		A filter with a bag in it: within its plan, and with all copies.
 */
static void
check_bag(const CuckooFilter *filter, uint64_t plan, const BagMix *mix,
		  uint64_t nvalues, uint64_t salt)
{
	uint64_t	nentries = 0;
	uint64_t	position;

	CHECK(filter->image_bytes <= plan);
	CHECK(filter->max_copies >= 2);
	if (mix->most_copies <= 2)
		CHECK_EQUAL(filter->max_copies, 4);
	for (uint64_t i = 0; i < nvalues; i++)
	{
		const int	ncopies = bag_copies(mix, i);
		const int	kept = ncopies < filter->max_copies ? ncopies :
			filter->max_copies;

		nentries += (uint64_t) kept;
		CHECK(cuckoo_filter_count(filter, test_mix(salt + i)) >= kept);
	}
	/* two values can share an entry, and have fewer together */
	CHECK(filter->nentries <= nentries &&
		  filter->nentries * 100 >= nentries * 99);
	CHECK_STATUS(cuckoo_image_check(filter, NULL, &position), CUCKOO_OK);
}

/*
 * fill_bag
 *		One bag, at once and value by value.
 *
 * Returns the sum of max_copies that is left.
 */
static int
fill_bag(const BagMix *mix, uint64_t capacity, uint64_t salt)
{
	const CuckooParameters parameters = {capacity, test_rate(0.001), 4, 0};
	uint64_t	nvalues;
	size_t		nhashes;
	uint64_t   *const hashes = bag_hashes(mix, capacity, salt, &nhashes,
										  &nvalues);
	uint64_t	plan;
	int			max_copies;
	CuckooFilter filter;
	TestHost	host;

	test_host_init(&host);
	CHECK_STATUS(cuckoo_filter_new(&filter, &parameters, NULL), CUCKOO_OK);
	plan = cuckoo_filter_full_bytes(&filter);

	WHERE("capacity %" PRIu64 ", salt 0x%" PRIx64 ", %" PRIu64 " %% of %" PRIu64
		  " copies and more, singly", capacity, salt, mix->hot_percent,
		  mix->least_copies);
	test_new(&filter, &host, capacity, test_rate(0.001), 4);
	for (size_t i = 0; i < nhashes; i++)
		CHECK(cuckoo_filter_add(&filter, hashes[i], &host.host) <=
			  CUCKOO_SATURATED);
	check_bag(&filter, plan, mix, nvalues, salt);
	max_copies = filter.max_copies;
	test_release(&filter, &host);

	WHERE("capacity %" PRIu64 ", salt 0x%" PRIx64 ", %" PRIu64 " %% of %" PRIu64
		  " copies and more, at once", capacity, salt, mix->hot_percent,
		  mix->least_copies);
	for (size_t i = 0; i < nhashes; i++)
		hashes[i] = cuckoo_order_hash(hashes[i]);
	test_sort_keys(hashes, nhashes);
	nhashes = test_limit_equal(hashes, nhashes, 4);
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, hashes, nhashes,
									&host.host), CUCKOO_OK);
	check_bag(&filter, plan, mix, nvalues, salt);
	max_copies += filter.max_copies;
	test_release(&filter, &host);
	test_host_finish(&host);
	free(hashes);
	return max_copies;
}

/*
 * A bag of which at most a fifth of the values are hot is never refused below
 * its capacity, and never takes more than the plan of that.  The long form has
 * 40 of each size up to three million and 12 of ten million, and takes hours.
 */
static void
bags_within_their_plan(void)
{
	static const uint64_t capacities[] = {
		1000, 1500, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000,
		10000000
	};
	const uint64_t nwork = test_amount(30000, 600000, 120000000);

	for (size_t c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++)
	{
		const uint64_t capacity = capacities[c];
		const uint64_t nmost = nwork / capacity;
		const uint64_t nbags = nmost < 40 ? nmost : 40;

		for (size_t m = 0; m < NMIXES && nbags > 0; m++)
		{
			int			sum = 0;

			for (uint64_t i = 0; i < nbags; i++)
				sum += fill_bag(&bag_mixes[m], capacity, test_random());
			printf("# %" PRIu64 " bags of %" PRIu64 ", %d %% %d to %d times: "
				   "max_copies %.2f on average\n", nbags, capacity,
				   bag_mixes[m].hot_percent, bag_mixes[m].least_copies,
				   bag_mixes[m].most_copies, sum / (2.0 * (double) nbags));
		}
	}
}

/*
 * crafted
 *		A hash of the i-th class in one pair of buckets.
 *
 * They agree in column, permanent bits and the first 12 bits of the prefix, so
 * in both buckets of any table up to q = 12.
 */
static uint64_t
crafted(const CuckooFilter *filter, uint64_t i)
{
	const int	nspare = filter->geometry.prefix_bits - 8 - 12;
	RefEntry	entry = {3, UINT64_C(0xA5F) << 28, 0x77};

	CHECK(nspare > 0 && i >> nspare == 0);
	entry.v |= i << (28 - nspare);
	return ref_hash_of(entry, (int) filter->geometry.ncolumns,
					   filter->geometry.prefix_bits, test_random());
}

/*
 * Hundreds of hashes crafted to share both buckets: refused with a reason as
 * soon as the table cannot take them, never many bytes, and honest values go
 * on being added.
 */
static void
adversarial(uint64_t nhonest_before, uint64_t ncrafted)
{
	const uint64_t capacity = 1000000;
	CuckooFilter filter;
	TestHost	host;
	uint64_t	naccepted = 0;
	uint64_t	honest_bytes;
	uint64_t	image_bytes;
	bool		was_table;

	test_host_init(&host);
	test_new(&filter, &host, capacity, test_rate(1e-6), 4);
	for (uint64_t i = 0; i < nhonest_before; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);
	honest_bytes = filter.image_bytes;
	was_table = filter.is_table;

	for (uint64_t i = 0; i < ncrafted; i++)
	{
		const uint64_t hash = crafted(&filter, i);
		TestSnapshot snapshot;
		CuckooStatus status;

		test_snapshot_take(&snapshot, &filter);
		host.peak_bytes = host.live_bytes;
		status = cuckoo_filter_add(&filter, hash, &host.host);
		WHERE("honest %" PRIu64 ", crafted %" PRIu64 ", accepted %" PRIu64,
			  nhonest_before, i, naccepted, 0);
		if (status == CUCKOO_OK)
		{
			naccepted++;
			CHECK(cuckoo_filter_contains(&filter, hash));
		}
		else
		{
			CHECK_STATUS(status, CUCKOO_COLLIDING);
			test_snapshot_check(&snapshot, &filter);
		}
		/* four doublings beyond what the load is are never even tried */
		CHECK(host.peak_bytes < 12 * honest_bytes + 400000);
		test_snapshot_free(&snapshot);
	}
	CHECK(filter.image_bytes < 8 * honest_bytes + 100000);
	/* a list takes them as it takes any; two buckets take eight */
	if (was_table)
		CHECK(naccepted <= 8);
	image_bytes = filter.image_bytes;
	test_check_filter(&filter);

	for (uint64_t i = 0; i < 2000; i++)
	{
		const uint64_t hash = test_mix(nhonest_before + i);

		CHECK_STATUS(cuckoo_filter_add(&filter, hash, &host.host), CUCKOO_OK);
		CHECK(cuckoo_filter_contains(&filter, hash));
	}
	CHECK(filter.image_bytes <= 2 * image_bytes + 8 * 2000);
	for (uint64_t i = 0; i < nhonest_before; i++)
		CHECK(cuckoo_filter_contains(&filter, test_mix(i)));
	test_check_filter(&filter);
	printf("# after %" PRIu64 " honest values %" PRIu64 " of %" PRIu64
		   " crafted ones accepted; %" PRIu64 " bytes, before %" PRIu64 "\n",
		   nhonest_before, naccepted, ncrafted, (uint64_t) filter.image_bytes,
		   honest_bytes);
	test_release(&filter, &host);
	test_host_finish(&host);
}

static void
adversarial_hashes(void)
{
	static const uint64_t nhonest[] = {0, 10, 500, 2000, 5000, 50000};

	for (size_t i = 0; i < sizeof(nhonest) / sizeof(nhonest[0]); i++)
		adversarial(nhonest[i], 700);
}

/* A list that cannot become a table is one up to 4,096 hashes, no further. */
static void
adversarial_list(void)
{
	CuckooFilter filter;
	TestHost	host;
	TestSnapshot snapshot;
	uint64_t	i = 0;

	test_host_init(&host);
	test_new(&filter, &host, 1000000, test_rate(1e-8), 4);
	for (; i < CUCKOO_MAX_LIST_ENTRIES; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, crafted(&filter, i),
									   &host.host),
					 CUCKOO_OK);
	CHECK(!filter.is_table);
	test_check_filter(&filter);
	test_snapshot_take(&snapshot, &filter);
	CHECK_STATUS(cuckoo_filter_add(&filter, crafted(&filter, i), &host.host),
				 CUCKOO_COLLIDING);
	test_snapshot_check(&snapshot, &filter);
	test_snapshot_free(&snapshot);
	CHECK(host.peak_bytes < 1000000);
	test_release(&filter, &host);
	test_host_finish(&host);
}

static const TestCase cases[] = {
	{"sizes_1_to_300", sizes_1_to_300},
	{"sizes_301_to_600", sizes_301_to_600},
	{"sizes_to_100000", sizes_to_100000},
	{"bytes_on_the_way", bytes_on_the_way},
	{"one_hot_value", one_hot_value},
	{"nothing_but_hot_values", nothing_but_hot_values},
	{"mostly_single_values", mostly_single_values},
	{"bags_within_their_plan", bags_within_their_plan},
	{"adversarial_hashes", adversarial_hashes},
	{"adversarial_list", adversarial_list},
};

TEST_MAIN(cases)
