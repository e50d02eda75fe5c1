/*-------------------------------------------------------------------------
 *
 * test_merge.c
 *		Two filters to one, against plain multisets.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "harness.h"
#include "reference.h"

/*
 * A filter and what was added to it: each hash as often as it still is in.
 *
 * A list holds min(max_copies, n) of a hash.  A table cannot tell the hashes
 * of a class apart: it holds min(max_copies, sum of their n) of it, whatever
 * the prefix has been cut to since, because what is taken out below is never
 * saturated.
 */
typedef struct Side
{
	CuckooFilter filter;
	RefBag		bag;
} Side;

/* The hashes of a round, and the geometry that makes some of them twins. */
static uint64_t *pool;
static uint64_t npool;
static bool have_twins;

/* Coarse ones make classes coincide. */
static const double rates[] = {
	0.5, 0.015, 0.01, 0.001, 1.0 / 65536, 1e-7, 1e-9, 1e-11
};

#define NRATES	(sizeof(rates) / sizeof(rates[0]))

/* All rounds together. */
static uint64_t nops;
static uint64_t nforms[2][2];
static uint64_t nlowered;
static uint64_t ngrown;
static uint64_t nfull;
static uint64_t ncoarse;
static uint64_t ncolliding;

static void
bag_put(RefBag *bag, uint64_t key, int ncopies, int limit)
{
	ref_bag_set(bag, key, test_min(limit, ref_bag_count(bag, key) + ncopies));
}

/*
 * side_bag
 *		What a filter holds, by class of its own or a coarser prefix, or by hash
 *		if P is 0.
 */
static void
side_bag(const Side *side, int P, RefBag *bag)
{
	const int	k = (int) side->filter.geometry.ncolumns;

	memset(bag, 0, sizeof(*bag));
	for (size_t i = 0; i < side->bag.nslots; i++)
	{
		if (side->bag.counts[i] > 0)
			bag_put(bag, P == 0 ? side->bag.keys[i] :
					ref_class(side->bag.keys[i], k, P), side->bag.counts[i],
					side->filter.max_copies);
	}
}

/* What a filter should say of a hash. */
static int
bag_count(const RefBag *bag, const CuckooFilter *filter, uint64_t hash)
{
	return ref_bag_count(bag, !filter->is_table ? hash :
						 ref_class(hash, (int) filter->geometry.ncolumns,
								   filter->geometry.prefix_bits));
}

/* Exactly this, no more and no less. */
static void
check_holds(CuckooFilter *filter, const RefBag *bag)
{
	test_check_filter(filter);
	CHECK_EQUAL(filter->nentries, bag->total);
	for (uint64_t i = 0; i < npool; i++)
	{
		const int	ncopies = bag_count(bag, filter, pool[i]);

		CHECK_EQUAL(cuckoo_filter_count(filter, pool[i]), ncopies);
		CHECK_EQUAL(cuckoo_filter_contains(filter, pool[i]), ncopies > 0);
	}
}

/* The same multiset with every count cut, and by class if P is not 0. */
static void
bag_fold(RefBag *bag, int k, int P, int limit)
{
	const RefBag before = *bag;

	memset(bag, 0, sizeof(*bag));
	for (size_t i = 0; i < before.nslots; i++)
	{
		if (before.counts[i] > 0)
			bag_put(bag, P == 0 ? before.keys[i] :
					ref_class(before.keys[i], k, P), before.counts[i], limit);
	}
	free(before.keys);
	free(before.counts);
}

/*
 * make_pool
 *		Random hashes; one in ten is a twin of the one before if the prefix is
 *		cut to P bits.
 *
 * No more than two are of one class: with finer prefixes these have their
 * copies apart, and eight slots are all there are for them.  Now and then there
 * are none left for others that share one of their buckets: values that collide
 * on purpose may be refused.
 */
static void
make_pool(uint64_t n, int k, int P)
{
	npool = n;
	have_twins = n < 10000;
	pool = malloc(n * sizeof(pool[0]));
	CHECK(pool != NULL);
	for (uint64_t i = 0; i < n; i++)
	{
		pool[i] = test_random();
		if (have_twins && i % 2 == 1 && test_random_below(5) == 0)
		{
			RefEntry	entry = ref_primary(pool[i - 1], k, P);

			if (test_random_below(2) == 0)
				entry = ref_alternate(entry, k, P);
			do
				pool[i] = ref_hash_of(entry, k, P, test_random());
			while (pool[i] == pool[i - 1]);
		}
	}
}

/*
 * similar_capacity
 *		A capacity that gives the same number of columns, or the same one.
 */
static uint64_t
similar_capacity(uint64_t capacity)
{
	CuckooGeometry geometry;
	CuckooGeometry other;
	const uint64_t wanted = capacity << test_random_below(4);

	cuckoo_geometry_choose(&geometry, capacity, test_rate(0.01));
	for (uint64_t i = 0; i < 20; i++)
	{
		cuckoo_geometry_choose(&other, wanted + i, test_rate(0.01));
		if (other.ncolumns == geometry.ncolumns)
			return wanted + i;
	}
	return capacity;
}

/*
 * side_fill
 *		Fill a filter with hashes from part of the pool, taking some out again.
 *
 * is_hot makes most of it copies.
 */
static void
side_fill(Side *side, uint64_t nadds, uint64_t from, uint64_t to, bool is_hot,
		  TestHost *host)
{
	CuckooFilter *const filter = &side->filter;

	for (uint64_t i = 0; i < nadds && filter->nentries < filter->capacity; i++)
	{
		const uint64_t hash = pool[from + test_random_below(to - from)];
		const int	n = is_hot ? 1 + (int) test_random_below(6) : 1;

		for (int j = 0; j < n && filter->nentries < filter->capacity; j++)
		{
			const CuckooStatus status = cuckoo_filter_add(filter, hash,
														  &host->host);

			nops++;
			if (status == CUCKOO_COLLIDING && have_twins)
				break;
			if (status != CUCKOO_SATURATED)
				CHECK_STATUS(status, CUCKOO_OK);
			ref_bag_set(&side->bag, hash, ref_bag_count(&side->bag, hash) + 1);
		}
		if (filter->max_copies > 1 && test_random_below(8) == 0)
		{
			const uint64_t out = pool[from + test_random_below(to - from)];
			const int	ncopies = ref_bag_count(&side->bag, out);

			if (ncopies > 0 &&
				cuckoo_filter_count(filter, out) < filter->max_copies)
			{
				CHECK_STATUS(cuckoo_filter_remove(filter, out), CUCKOO_OK);
				ref_bag_set(&side->bag, out, ncopies - 1);
				nops++;
			}
		}
	}
}

static void
side_check(Side *side)
{
	RefBag		bag;

	side_bag(side, side->filter.is_table ? side->filter.geometry.prefix_bits :
			 0, &bag);
	check_holds(&side->filter, &bag);
	ref_bag_free(&bag);
}

static void
side_make(Side *side, uint64_t capacity, double rate, int max_copies,
		  TestHost *host)
{
	memset(side, 0, sizeof(*side));
	test_new(&side->filter, host, capacity, test_rate(rate), max_copies);
	if (test_random_below(4) > 0)
		side->filter.family = CUCKOO_FAMILY_NUMBER;
}

static void
side_free(Side *side, TestHost *host)
{
	ref_bag_free(&side->bag);
	test_release(&side->filter, host);
}

/*
 * make_sides
 *		Two filters that can be merged, of any form and history.
 */
static void
make_sides(Side *a, Side *b, uint64_t capacity, TestHost *host)
{
	/* the finest ones are for small filters only */
	const uint64_t nrates = capacity < 10000 ? NRATES : NRATES - 2;
	const double a_rate = rates[test_random_below(nrates)];
	const double b_rate = test_random_below(2) == 0 ? a_rate :
		rates[test_random_below(nrates)];
	const uint64_t b_capacity = test_random_below(2) == 0 ? capacity :
		similar_capacity(capacity);
	const int	a_copies = 1 + (int) test_random_below(4);
	const int	b_copies = test_random_below(2) == 0 ? a_copies :
		1 + (int) test_random_below(4);
	Side	   *const sides[2] = {a, b};
	uint64_t	middle;

	side_make(a, capacity, a_rate, a_copies, host);
	side_make(b, b_capacity, b_rate, b_copies, host);
	CHECK_EQUAL(a->filter.geometry.ncolumns, b->filter.geometry.ncolumns);

	make_pool(16 + capacity, (int) a->filter.geometry.ncolumns,
			  test_min(a->filter.geometry.prefix_bits,
					   b->filter.geometry.prefix_bits));
	/* a from the front, b from the end, and something in between from both */
	middle = npool / 3;
	for (int i = 0; i < 2; i++)
	{
		/* empty, a few, half or all of it */
		const uint64_t parts[4] = {0, 1 + npool / 20, 1 + npool / 4, npool};
		const uint64_t nadds = parts[test_random_below(4)];
		const uint64_t from = i == 0 ? 0 : middle;
		const uint64_t width = nadds == npool ? npool - middle :
			1 + test_random_below(npool - middle);

		side_fill(sides[i], nadds, from, from + width,
				  test_random_below(3) == 0, host);
		sides[i]->filter.is_merged = test_random_below(10) == 0;
	}
}

/* What a result must have of both. */
static void
check_header(const CuckooFilter *result, const Side *a, const Side *b)
{
	const CuckooFilter *const x = &a->filter;
	const CuckooFilter *const y = &b->filter;
	const int	max_copies = test_min(x->max_copies, y->max_copies);

	CHECK_EQUAL(result->geometry.ncolumns, x->geometry.ncolumns);
	CHECK_EQUAL(result->geometry.prefix_bits,
				test_min(x->geometry.prefix_bits, y->geometry.prefix_bits));
	CHECK_EQUAL(result->declared_copies,
				test_min(x->declared_copies, y->declared_copies));
	CHECK(result->max_copies == max_copies ||
		  (result->max_copies < max_copies && result->max_copies >= 2 &&
		   result->is_table));
	CHECK_EQUAL(result->seed, x->seed);
	CHECK_EQUAL(result->family, x->family != CUCKOO_FAMILY_NONE ? x->family :
				y->family);
}

/*
 * expect_union
 *		What the union must hold, by hash if both are lists, else by class.
 *
 * Not cut to max_copies of the result yet.  Returns whether both have
 * something in common that makes the result a merged one.
 */
static bool
expect_union(const Side *a, const Side *b, bool add_copies, RefBag *bag)
{
	const bool	by_class = a->filter.is_table || b->filter.is_table;
	const int	P = by_class ? test_min(a->filter.geometry.prefix_bits,
										b->filter.geometry.prefix_bits) : 0;
	RefBag		x;
	RefBag		y;
	bool		have_common = false;

	memset(bag, 0, sizeof(*bag));
	side_bag(a, P, &x);
	side_bag(b, P, &y);
	for (size_t i = 0; i < x.nslots; i++)
	{
		const int	nx = x.counts[i];
		const int	ny = nx == 0 ? 0 : ref_bag_count(&y, x.keys[i]);

		have_common |= ny > 0;
		if (nx > 0)
			ref_bag_set(bag, x.keys[i], add_copies ? nx + ny :
						test_max(nx, ny));
	}
	for (size_t i = 0; i < y.nslots; i++)
	{
		if (y.counts[i] > 0 && ref_bag_count(&x, y.keys[i]) == 0)
			ref_bag_set(bag, y.keys[i], y.counts[i]);
	}
	ref_bag_free(&x);
	ref_bag_free(&y);
	return have_common && !add_copies;
}

/*
 * check_refusal
 *		Could the merging fail like that?
 */
static void
check_refusal(CuckooStatus status, const Side *a, const Side *b,
			  const RefBag *expected)
{
	const CuckooGeometry *const x = &a->filter.geometry;
	const CuckooGeometry *const y = &b->filter.geometry;
	const int	P = test_min(x->prefix_bits, y->prefix_bits);
	const uint64_t capacity = a->filter.capacity > b->filter.capacity ?
		a->filter.capacity : b->filter.capacity;

	if (status == CUCKOO_TOO_COARSE)
	{
		CHECK((a->filter.is_table && x->index_bits > P - CUCKOO_MIN_FP_BITS) ||
			  (b->filter.is_table && y->index_bits > P - CUCKOO_MIN_FP_BITS));
		ncoarse++;
		return;
	}

	if (status == CUCKOO_COLLIDING && have_twins)
	{
		ncolliding++;
		return;
	}

	/* over the capacity, or the smaller prefix has no bit to grow by */
	CHECK_STATUS(status, CUCKOO_FULL);
	CHECK(expected->total > capacity ||
		  expected->total > (UINT64_C(1) << (P - CUCKOO_MIN_FP_BITS)) *
		  x->ncolumns * 3);
	nfull++;
}

/* Everything that was in a filter is in this one. */
static void
check_contains(const CuckooFilter *filter, const Side *side)
{
	for (size_t i = 0; i < side->bag.nslots; i++)
	{
		if (side->bag.counts[i] > 0)
			CHECK(cuckoo_filter_contains(filter, side->bag.keys[i]));
	}
}

/*
 * try_removals
 *		Take what was added to either out of their union_all, in any order,
	never
 *		more than was added: nobody may be lost.
 */
static void
try_removals(CuckooFilter *filter, const Side *a, const Side *b)
{
	for (uint64_t i = 0; i < npool; i++)
	{
		const uint64_t hash = pool[i];
		const int	n = ref_bag_count(&a->bag, hash) +
			ref_bag_count(&b->bag, hash);
		const int	nout = n == 0 ? 0 :
			(int) test_random_below((uint64_t) n + 1);

		for (int j = 0; j < nout; j++)
		{
			const CuckooStatus status = cuckoo_filter_remove(filter, hash);

			CHECK(status == CUCKOO_OK || status == CUCKOO_SATURATED);
		}
		if (nout < n)
			CHECK(cuckoo_filter_contains(filter, hash));
		nops += (uint64_t) nout;
	}
	test_check_filter(filter);
}

/* Ways to unite two filters. */
typedef enum Way
{
	MERGE_INTO,					/* at once */
	MERGE_KEYS,					/* the keys of the second into the first */
	BUILD_FROM_KEYS,			/* a new table from the keys of both */
	NWAYS
} Way;

static uint64_t nways[NWAYS];

static void
check_union_by(const Side *a, const Side *b, bool add_copies, Way way,
			   TestHost *host)
{
	const uint64_t nlive = host->nlive;
	CuckooFilter result;
	CuckooStatus status;
	TestSnapshot snapshot;
	RefBag		expected;
	bool		have_common;

	CHECK_STATUS(cuckoo_filter_copy(&a->filter, &result, &host->host),
				 CUCKOO_OK);
	test_snapshot_take(&snapshot, &b->filter);
	have_common = expect_union(a, b, add_copies, &expected);
	if (way == MERGE_INTO)
		status = cuckoo_merge_into(&result, &b->filter, add_copies,
								   &host->host);
	else
		status = test_unite_by_keys(&result, &b->filter, add_copies,
									way == BUILD_FROM_KEYS, host);
	nops++;
	nways[way]++;
	test_snapshot_check(&snapshot, &b->filter);
	test_snapshot_free(&snapshot);
	CHECK_EQUAL(host->nlive, nlive + 1);

	if (status != CUCKOO_OK)
	{
		const int	max_copies = test_min(a->filter.max_copies,
										  b->filter.max_copies);

		bag_fold(&expected, 0, 0, max_copies);
		check_refusal(status, a, b, &expected);
		test_check_filter(&result);
	}
	else
	{
		const bool	by_class = a->filter.is_table || b->filter.is_table;

		check_header(&result, a, b);
		CHECK_EQUAL(result.capacity, a->filter.capacity > b->filter.capacity ?
					a->filter.capacity : b->filter.capacity);
		CHECK_EQUAL(result.is_merged, have_common || a->filter.is_merged ||
					b->filter.is_merged);
		CHECK(result.is_table || !by_class);

		/* two lists: what is in both is decided by hash, then comes the form */
		if (!by_class)
			bag_fold(&expected, 0, 0, test_min(a->filter.max_copies,
											   b->filter.max_copies));
		bag_fold(&expected, (int) result.geometry.ncolumns,
				 result.is_table && !by_class ? result.geometry.prefix_bits :
				 0, result.max_copies);
		check_holds(&result, &expected);
		check_contains(&result, a);
		check_contains(&result, b);

		nforms[a->filter.is_table][b->filter.is_table]++;
		nlowered += result.max_copies < test_min(a->filter.max_copies,
												 b->filter.max_copies);
		ngrown += result.is_table &&
			result.geometry.index_bits > a->filter.geometry.index_bits &&
			result.geometry.index_bits > b->filter.geometry.index_bits;
		if (!result.is_merged && result.max_copies > 1)
			try_removals(&result, a, b);
	}
	ref_bag_free(&expected);
	test_release(&result, host);
}

static void
check_union(const Side *a, const Side *b, bool add_copies, TestHost *host)
{
	check_union_by(a, b, add_copies, MERGE_INTO, host);
	if (cuckoo_merge_by_keys(&a->filter, &b->filter))
	{
		check_union_by(a, b, add_copies, MERGE_KEYS, host);
		check_union_by(a, b, add_copies, BUILD_FROM_KEYS, host);
	}
}

static void
check_intersection(const Side *a, const Side *b, TestHost *host)
{
	const uint64_t nlive = host->nlive;
	const int	P = test_min(a->filter.geometry.prefix_bits,
							 b->filter.geometry.prefix_bits);
	const bool	as_tables = a->filter.is_table && b->filter.is_table;
	CuckooFilter result;
	CuckooStatus status;
	TestSnapshot snapshots[2];
	RefBag		expected = {0};
	RefBag		x;
	RefBag		y;

	test_snapshot_take(&snapshots[0], &a->filter);
	test_snapshot_take(&snapshots[1], &b->filter);
	status = cuckoo_merge_intersection(&a->filter, &b->filter, &result,
									   &host->host);
	nops++;
	test_snapshot_check(&snapshots[0], &a->filter);
	test_snapshot_check(&snapshots[1], &b->filter);
	test_snapshot_free(&snapshots[0]);
	test_snapshot_free(&snapshots[1]);
	if (status != CUCKOO_OK)
	{
		CHECK_EQUAL(host->nlive, nlive);
		check_refusal(status, a, b, &expected);
		return;
	}
	CHECK_EQUAL(host->nlive, nlive + 1);
	check_header(&result, a, b);
	CHECK_EQUAL(result.is_table, as_tables);
	CHECK_EQUAL(result.is_merged, a->filter.is_merged || b->filter.is_merged);
	CHECK(result.capacity >= a->filter.capacity &&
		  result.capacity >= b->filter.capacity);

	/* of a list and a table the hashes of the list are kept */
	if (as_tables)
	{
		side_bag(a, P, &x);
		side_bag(b, P, &y);
	}
	else
	{
		const Side *const list = a->filter.is_table ? b : a;
		const Side *const other = a->filter.is_table ? a : b;
		const CuckooGeometry *const g = &other->filter.geometry;
		RefBag		classes;

		side_bag(list, 0, &x);
		side_bag(other, other->filter.is_table ? g->prefix_bits : 0, &classes);
		memset(&y, 0, sizeof(y));
		for (size_t i = 0; i < x.nslots; i++)
		{
			if (x.counts[i] > 0)
				ref_bag_set(&y, x.keys[i], bag_count(&classes, &other->filter,
													 x.keys[i]));
		}
		ref_bag_free(&classes);
	}
	for (size_t i = 0; i < x.nslots; i++)
	{
		if (x.counts[i] > 0)
			ref_bag_set(&expected, x.keys[i],
						test_min(result.max_copies,
								 test_min(x.counts[i],
										  ref_bag_count(&y, x.keys[i]))));
	}
	check_holds(&result, &expected);
	for (uint64_t i = 0; i < npool; i++)
	{
		if (ref_bag_count(&a->bag, pool[i]) > 0 &&
			ref_bag_count(&b->bag, pool[i]) > 0)
			CHECK(cuckoo_filter_contains(&result, pool[i]));
	}
	ref_bag_free(&x);
	ref_bag_free(&y);
	ref_bag_free(&expected);
	test_release(&result, host);
}

/*
 * The estimate is what the false positive rate makes of the classes found
 * (docs/design.md, Growing).
 */
static void
check_overlap(const Side *a, const Side *b, TestHost *host)
{
	const uint64_t nlive = host->nlive;
	const bool	by_class = a->filter.is_table || b->filter.is_table;
	const int	P = by_class ? test_min(a->filter.geometry.prefix_bits,
										b->filter.geometry.prefix_bits) : 0;
	RefBag		x;
	RefBag		y;
	CuckooStatus status;
	double		nvalues = -1;
	uint64_t	nfound = 0;

	status = cuckoo_merge_overlap(&a->filter, &b->filter, &nvalues,
								  &host->host);
	nops++;
	CHECK_EQUAL(host->nlive, nlive);
	side_bag(a, P, &x);
	side_bag(b, P, &y);
	if (status != CUCKOO_OK)
		check_refusal(status, a, b, &x);
	else
	{
		for (size_t i = 0; i < x.nslots; i++)
			nfound += x.counts[i] > 0 && ref_bag_count(&y, x.keys[i]) > 0;
		if (!by_class)
			CHECK(nvalues == (double) nfound);
		else
		{
			/* whichever of two of equally many entries is the larger */
			const RefBag *const bags[2] = {&x, &y};
			bool		matches = false;

			for (int i = 0; i < 2; i++)
			{
				const double nsmall = (double) bags[i]->nkeys;
				const double nlarge = (double) bags[1 - i]->nkeys;
				const double rate = 1 - exp(-2 * nlarge * 129 / 128 /
											a->filter.geometry.ncolumns /
											ldexp(1.0, P));
				double		expected = ((double) nfound - nsmall * rate) /
					(1 - rate);

				if (expected < 0)
					expected = 0;
				if (expected > (nsmall < nlarge ? nsmall : nlarge))
					expected = nsmall < nlarge ? nsmall : nlarge;
				matches |= fabs(nvalues - expected) <= 1e-6 * (1 + expected);
			}
			CHECK(matches);
		}
	}
	ref_bag_free(&x);
	ref_bag_free(&y);
}

/* A pair of filters through everything, in both orders. */
static void
merge_round(uint64_t capacity)
{
	Side		a;
	Side		b;
	TestHost	host;

	test_host_init(&host);
	make_sides(&a, &b, capacity, &host);
	WHERE("capacity %" PRIu64 ", entries %" PRIu64 " and %" PRIu64
		  ", operations %" PRIu64, capacity, a.filter.nentries,
		  b.filter.nentries, nops);
	side_check(&a);
	side_check(&b);
	for (int i = 0; i < 2; i++)
	{
		const Side *const x = i == 0 ? &a : &b;
		const Side *const y = i == 0 ? &b : &a;

		check_union(x, y, false, &host);
		check_union(x, y, true, &host);
		check_intersection(x, y, &host);
		check_overlap(x, y, &host);
	}
	check_union(&a, &a, false, &host);
	check_union(&a, &a, true, &host);
	check_intersection(&a, &a, &host);
	side_free(&a, &host);
	side_free(&b, &host);
	test_host_finish(&host);
	free(pool);
}

static void
random_merges(void)
{
	const uint64_t goal = test_amount(30000, 400000, 20000000);

	nops = nlowered = ngrown = nfull = ncolliding = 0;
	memset(nforms, 0, sizeof(nforms));
	memset(nways, 0, sizeof(nways));
	while (nops < goal)
		merge_round(1 + test_random_below(UINT64_C(1) <<
										  (2 + test_random_below(11))));
	printf("# %" PRIu64 " operations; merged %" PRIu64 " lists, %" PRIu64
		   " tables, %" PRIu64 " of either; ", nops, nforms[0][0],
		   nforms[1][1], nforms[0][1] + nforms[1][0]);
	printf("%" PRIu64 " by keys, %" PRIu64 " built from keys; ",
		   nways[MERGE_KEYS], nways[BUILD_FROM_KEYS]);
	printf("%" PRIu64 " grew, %" PRIu64 " lowered max_copies; %" PRIu64
		   " full, %" PRIu64 " colliding\n", ngrown, nlowered, nfull,
		   ncolliding);
	/* all but never */
	CHECK(ncolliding <= 3 + nops / 100000);
	CHECK(nforms[0][0] > 0 && nforms[0][1] > 0 && nforms[1][0] > 0 &&
		  nforms[1][1] > 0);
	CHECK(nways[MERGE_KEYS] > 0 && nways[BUILD_FROM_KEYS] > 0);
	CHECK(ngrown > 0 && nfull > 0);
	CHECK(nlowered >= test_amount(0, 1, 1));
}

/* With superblocks on both sides or on one. */
static void
large_merges(void)
{
	const int	nrounds = (int) test_amount(1, 3, 30);

	for (int i = 0; i < nrounds; i++)
		merge_round(120000 + test_random_below(60000));
}

/*
 * A list of hot values that no table of its size takes with all their copies:
 * merging it must not forget that they are saturated.
 */
static void
hot_list_into_table(void)
{
	const uint64_t nrounds = test_amount(100, 500, 5000);
	uint64_t	nlists = 0;

	nops = nlowered = 0;
	for (uint64_t round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 500 + test_random_below(1500);

		/* the longest prefix makes the longest lists, 3/4 of the slots */
		const double rate = ldexp((double) capacity, -52);
		const int	max_copies = 3 + (int) test_random_below(2);
		Side		list;
		Side		table;
		TestHost	host;

		test_host_init(&host);
		side_make(&list, capacity, rate, max_copies, &host);
		side_make(&table, capacity, rate, max_copies, &host);
		make_pool(1000, (int) list.filter.geometry.ncolumns,
				  list.filter.geometry.prefix_bits);
		for (uint64_t i = 0; i < 500; i++)
		{
			const CuckooFilter before = list.filter;

			/* as long as it stays a list */
			if (8 * (before.nentries + (uint64_t) max_copies) >
				(uint64_t) before.geometry.ncolumns *
				(uint64_t) (before.geometry.prefix_bits - 1) / 2)
				break;
			for (int j = 0; j < 2 * max_copies; j++)
				CHECK(cuckoo_filter_add(&list.filter, pool[i], &host.host) !=
					  CUCKOO_FULL);
			ref_bag_set(&list.bag, pool[i], 2 * max_copies);
		}
		/* enough room for all */
		side_fill(&table, (uint64_t) list.filter.geometry.ncolumns * 3, 500,
				  1000, false, &host);
		WHERE("capacity %" PRIu64 ", round %" PRIu64 ", entries %" PRIu64
			  " and %" PRIu64, capacity, round, list.filter.nentries,
			  table.filter.nentries);
		nlists += !list.filter.is_table;
		check_union(&list, &table, true, &host);
		check_union(&table, &list, true, &host);
		check_union(&list, &table, false, &host);
		check_union(&table, &list, false, &host);
		check_intersection(&table, &list, &host);
		check_overlap(&table, &list, &host);
		side_free(&list, &host);
		side_free(&table, &host);
		test_host_finish(&host);
		free(pool);
	}
	printf("# %" PRIu64 " lists, %" PRIu64 " lowered max_copies\n", nlists,
		   nlowered);
	CHECK(nlists > 0);
}

/* A table that is too large for the prefix of the other one, list or table. */
static void
too_coarse(void)
{
	nops = ncoarse = 0;
	for (uint64_t capacity = 260; capacity < 600; capacity += 37)
	{
		for (uint64_t nsmall = 0; nsmall <= capacity; nsmall += capacity)
		{
			Side		small;
			Side		large;
			TestHost	host;

			test_host_init(&host);
			side_make(&small, capacity, 0.5, 4, &host);
			side_make(&large, capacity * 8, 0.001, 4, &host);
			for (uint64_t i = 1; large.filter.geometry.ncolumns !=
				 small.filter.geometry.ncolumns; i++)
			{
				CHECK(i < capacity);
				side_free(&large, &host);
				side_make(&large, capacity * 8 + i, 0.001, 4, &host);
			}
			make_pool(capacity * 16, (int) small.filter.geometry.ncolumns,
					  small.filter.geometry.prefix_bits);
			side_fill(&small, nsmall, 0, npool, false, &host);
			side_fill(&large, capacity * 8, 0, npool, false, &host);
			WHERE("capacity %" PRIu64 ", small %" PRIu64, capacity, nsmall, 0,
				  0);
			check_union(&small, &large, false, &host);
			check_union(&large, &small, true, &host);
			check_overlap(&large, &small, &host);
			check_intersection(&large, &small, &host);
			side_free(&small, &host);
			side_free(&large, &host);
			test_host_finish(&host);
			free(pool);
		}
	}
	printf("# %" PRIu64 " refused\n", ncoarse);
	CHECK(ncoarse > 0);
}

/*
 * Tables that hold as much as their prefix allows, each a union with an empty
 * filter of a much larger capacity: together they are full, not larger.
 */
static void
too_coarse_together(void)
{
	nops = nfull = 0;
	memset(nways, 0, sizeof(nways));
	for (uint64_t capacity = 260; capacity < 600; capacity += 37)
	{
		Side		sides[2];
		Side		empty;
		TestHost	host;

		test_host_init(&host);
		side_make(&empty, capacity * 16, 0.001, 1, &host);
		for (int i = 0; i < 2; i++)
		{
			side_make(&sides[i], capacity, 0.5, 1, &host);
			for (uint64_t j = 1; empty.filter.geometry.ncolumns !=
				 sides[i].filter.geometry.ncolumns; j++)
			{
				CHECK(j < capacity);
				side_free(&empty, &host);
				side_make(&empty, capacity * 16 + j, 0.001, 1, &host);
			}
		}
		make_pool(capacity * 16, (int) empty.filter.geometry.ncolumns,
				  sides[0].filter.geometry.prefix_bits);
		for (int i = 0; i < 2; i++)
		{
			side_fill(&sides[i], capacity, (uint64_t) i * npool / 2,
					  npool / 2 + (uint64_t) i * npool / 2, false, &host);
			CHECK_STATUS(cuckoo_merge_into(&sides[i].filter, &empty.filter,
										   false, &host.host), CUCKOO_OK);
			side_fill(&sides[i], capacity * 3 / 4, (uint64_t) i * npool / 2,
					  npool / 2 + (uint64_t) i * npool / 2, false, &host);
		}
		WHERE("capacity %" PRIu64 ", entries %" PRIu64 " and %" PRIu64
			  ", declared %" PRIu64, capacity, sides[0].filter.nentries,
			  sides[1].filter.nentries, empty.filter.capacity);
		check_union(&sides[0], &sides[1], false, &host);
		check_union(&sides[1], &sides[0], true, &host);
		for (int i = 0; i < 2; i++)
			side_free(&sides[i], &host);
		side_free(&empty, &host);
		test_host_finish(&host);
		free(pool);
	}
	printf("# %" PRIu64 " full, %" PRIu64 " built from keys\n", nfull,
		   nways[BUILD_FROM_KEYS]);
	CHECK(nfull > 0 && nways[BUILD_FROM_KEYS] > 0);
}

/* Seeds and columns that differ: refused, with nothing touched. */
static void
not_mergeable(void)
{
	for (int round = 0; round < 200; round++)
	{
		const bool	seeds = round % 2 == 0;
		const uint64_t capacity = 30 + test_random_below(2000);
		Side		a;
		Side		b;
		CuckooFilter common;
		double		nvalues;
		TestHost	host;
		TestSnapshot snapshots[2];
		const CuckooStatus expected = seeds ? CUCKOO_SEEDS_DIFFER :
			CUCKOO_COLUMNS_DIFFER;

		test_host_init(&host);
		side_make(&a, capacity, 0.01, 4, &host);
		side_make(&b, seeds ? capacity : capacity + capacity / 4 + 1, 0.01, 4,
				  &host);
		make_pool(capacity, (int) a.filter.geometry.ncolumns,
				  a.filter.geometry.prefix_bits);
		side_fill(&a, test_random_below(capacity), 0, npool, false, &host);
		side_fill(&b, test_random_below(capacity), 0, npool, false, &host);
		if (seeds)
			b.filter.seed = a.filter.seed + 1;
		else
			CHECK(a.filter.geometry.ncolumns != b.filter.geometry.ncolumns);

		test_snapshot_take(&snapshots[0], &a.filter);
		test_snapshot_take(&snapshots[1], &b.filter);
		CHECK_STATUS(cuckoo_merge_compatible(&a.filter, &b.filter), expected);
		CHECK_STATUS(cuckoo_merge_into(&a.filter, &b.filter, round % 4 < 2,
									   &host.host), expected);
		CHECK_STATUS(cuckoo_merge_intersection(&a.filter, &b.filter, &common,
											   &host.host), expected);
		CHECK_STATUS(cuckoo_merge_overlap(&a.filter, &b.filter, &nvalues,
										  &host.host), expected);
		test_snapshot_check(&snapshots[0], &a.filter);
		test_snapshot_check(&snapshots[1], &b.filter);
		test_snapshot_free(&snapshots[0]);
		test_snapshot_free(&snapshots[1]);
		side_free(&a, &host);
		side_free(&b, &host);
		test_host_finish(&host);
		free(pool);
	}
}

/*
 * Every allocation fails in turn: nothing is left behind, the other filter is
 * as it was, and the one merged into is sound, though good for nothing.
 */
static void
out_of_memory(void)
{
	const int	nrounds = (int) test_amount(20, 150, 2000);
	uint64_t	nfailures = 0;

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 1 + test_random_below(UINT64_C(1) <<
														(2 + round % 9));
		Side		a;
		Side		b;
		TestHost	host;

		test_host_init(&host);
		make_sides(&a, &b, capacity, &host);
		for (int what = 0; what < 4; what++)
		{
			CuckooStatus status = CUCKOO_NO_MEMORY;

			for (uint64_t nth = 1; status == CUCKOO_NO_MEMORY; nth++)
			{
				CuckooFilter result;
				TestSnapshot snapshots[2];
				uint64_t	nlive;
				uint64_t	nallocs;
				double		nvalues;

				WHERE("capacity %" PRIu64 ", operation %" PRIu64
					  ", allocation %" PRIu64 " fails", capacity, what, nth,
					  0);
				test_snapshot_take(&snapshots[0], &a.filter);
				test_snapshot_take(&snapshots[1], &b.filter);
				if (what < 2)
					CHECK_STATUS(cuckoo_filter_copy(&a.filter, &result,
													&host.host), CUCKOO_OK);
				nlive = host.nlive;
				nallocs = host.nallocs;
				host.fail_at = nallocs + nth;
				status = what < 2 ?
					cuckoo_merge_into(&result, &b.filter, what == 1,
									  &host.host) :
					what == 2 ?
					cuckoo_merge_intersection(&a.filter, &b.filter, &result,
											  &host.host) :
					cuckoo_merge_overlap(&a.filter, &b.filter, &nvalues,
										 &host.host);
				CHECK_EQUAL(status == CUCKOO_NO_MEMORY,
							host.nallocs == nallocs + nth);
				host.fail_at = 0;
				nfailures += status == CUCKOO_NO_MEMORY;

				test_snapshot_check(&snapshots[0], &a.filter);
				test_snapshot_check(&snapshots[1], &b.filter);
				test_snapshot_free(&snapshots[0]);
				test_snapshot_free(&snapshots[1]);
				CHECK_EQUAL(host.nlive, nlive +
							(what == 2 && status == CUCKOO_OK));
				if (what < 2)
					test_check_filter(&result);
				if (what < 2 || (what == 2 && status == CUCKOO_OK))
					test_release(&result, &host);
			}
		}
		side_free(&a, &host);
		side_free(&b, &host);
		test_host_finish(&host);
		free(pool);
	}
	printf("# %" PRIu64 " allocations failed\n", nfailures);
	CHECK(nfailures > 0);
}

/*
 * The estimated overlap of tables against the truth.
 *
 * Of n values, n - c are found by chance with probability p each, so the
 * number found has a standard deviation of sqrt((n - c) p (1 - p)), and the
 * estimate one of that over 1 - p.  Values that share an entry of their own
 * table are counted once: on average n p / 2 of them, a Poisson number that is
 * not above n p + 5 sqrt(n p) + 5.  5 deviations, and that.
 */
static void
overlap_of_tables(void)
{
	const int	nrounds = (int) test_amount(10, 60, 1000);

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t n = 2000 + test_random_below(6000);
		const uint64_t ncommon = round % 5 == 0 ? 0 : test_random_below(n + 1);
		const double rate = rates[1 + round % 5];
		Side		a;
		Side		b;
		TestHost	host;
		double		nvalues;
		double		p;

		test_host_init(&host);
		side_make(&a, n, rate, 4, &host);
		side_make(&b, n, rate, 4, &host);
		for (uint64_t i = 0; i < 2 * n - ncommon; i++)
		{
			const uint64_t hash = test_random();

			if (i < n)
				CHECK(cuckoo_filter_add(&a.filter, hash, &host.host) <=
					  CUCKOO_SATURATED);
			if (i >= n - ncommon)
				CHECK(cuckoo_filter_add(&b.filter, hash, &host.host) <=
					  CUCKOO_SATURATED);
		}
		CHECK_STATUS(cuckoo_merge_overlap(&a.filter, &b.filter, &nvalues,
										  &host.host), CUCKOO_OK);
		p = cuckoo_filter_fpr(&a.filter);
		WHERE("round %" PRIu64 ", n %" PRIu64 ", common %" PRIu64
			  ", estimated %" PRIu64, round, n, ncommon, (uint64_t) nvalues);
		CHECK(fabs(nvalues - (double) ncommon) <=
			  5 * sqrt((double) (n - ncommon) * p / (1 - p)) + (double) n * p +
			  5 * sqrt((double) n * p) + 5);
		side_free(&a, &host);
		side_free(&b, &host);
		test_host_finish(&host);
	}
}

static const TestCase cases[] = {
	{"random_merges", random_merges},
	{"large_merges", large_merges},
	{"hot_list_into_table", hot_list_into_table},
	{"too_coarse", too_coarse},
	{"too_coarse_together", too_coarse_together},
	{"not_mergeable", not_mergeable},
	{"out_of_memory", out_of_memory},
	{"overlap_of_tables", overlap_of_tables},
};

TEST_MAIN(cases)
