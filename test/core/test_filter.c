/*-------------------------------------------------------------------------
 *
 * test_filter.c
 *		The filter as a whole against a plain multiset.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/*
 * The model: what a filter must hold, exactly.  A list keeps hashes apart; a
 * table keeps classes apart, that is hashes cut to P bits, from either of the
 * two addresses.
 */
typedef struct Model
{
	RefBag		bag;
	bool		is_table;
	int			k;
	int			P;
	int			max_copies;
} Model;

static uint64_t
model_key(const Model *model, uint64_t hash)
{
	return model->is_table ? ref_class(hash, model->k, model->P) : hash;
}

static void
model_put(Model *model, uint64_t key, int ncopies)
{
	ncopies += ref_bag_count(&model->bag, key);
	ref_bag_set(&model->bag, key,
				ncopies < model->max_copies ? ncopies : model->max_copies);
}

/*
 * model_follow
 *		Take the model where the filter has gone, if that is allowed.
 *
 * A list may become a table; max_copies may go down to 2; P may become less,
 * and a list may change k and P at will, if is_resize.
 */
static void
model_follow(Model *model, const CuckooFilter *filter, bool is_resize)
{
	RefBag		before;
	const Model old = *model;

	if (model->is_table == filter->is_table &&
		model->k == (int) filter->geometry.ncolumns &&
		model->P == filter->geometry.prefix_bits &&
		model->max_copies == filter->max_copies)
		return;

	CHECK(filter->is_table || !model->is_table);
	if (!is_resize)
		CHECK(model->k == (int) filter->geometry.ncolumns &&
			  model->P == filter->geometry.prefix_bits);
	if (model->is_table)
		CHECK(model->k == (int) filter->geometry.ncolumns &&
			  model->P >= filter->geometry.prefix_bits);
	CHECK(filter->max_copies == model->max_copies ||
		  (filter->max_copies < model->max_copies && filter->max_copies >= 2));
	if (filter->max_copies < model->max_copies)
		CHECK(filter->is_table);

	before = model->bag;
	memset(&model->bag, 0, sizeof(model->bag));
	model->is_table = filter->is_table;
	model->k = (int) filter->geometry.ncolumns;
	model->P = filter->geometry.prefix_bits;
	model->max_copies = filter->max_copies;
	for (size_t i = 0; i < before.nslots; i++)
	{
		uint64_t	key = before.keys[i];

		if (before.counts[i] == 0)
			continue;
		if (old.is_table)
			key = ref_class_cut(key, old.k, old.P, model->P);
		else
			key = model_key(model, key);
		model_put(model, key, before.counts[i]);
	}
	ref_bag_free(&before);
}

static void
model_init(Model *model, const CuckooFilter *filter)
{
	memset(model, 0, sizeof(*model));
	model->is_table = filter->is_table;
	model->k = (int) filter->geometry.ncolumns;
	model->P = filter->geometry.prefix_bits;
	model->max_copies = filter->max_copies;
}

/* What single probes say of a hash. */
static void
check_hash(const CuckooFilter *filter, const Model *model, uint64_t hash)
{
	const int	ncopies = ref_bag_count(&model->bag, model_key(model, hash));

	CHECK_EQUAL(cuckoo_filter_count(filter, hash), ncopies);
	CHECK_EQUAL(cuckoo_filter_contains(filter, hash), ncopies > 0);
}

/*
 * add
 *		Add a hash to filter and model; returns what the filter said.
 */
static CuckooStatus
add(CuckooFilter *filter, Model *model, uint64_t hash, TestHost *host)
{
	const CuckooFilter before = *filter;
	const CuckooStatus status = cuckoo_filter_add(filter, hash, &host->host);

	if (status == CUCKOO_OK || status == CUCKOO_SATURATED)
	{
		int			ncopies;

		model_follow(model, filter, false);
		ncopies = ref_bag_count(&model->bag, model_key(model, hash));
		/* an add that changed the form of the filter has changed it */
		CHECK_STATUS(status, ncopies < model->max_copies ||
					 filter->max_copies < before.max_copies ||
					 filter->is_table != before.is_table ? CUCKOO_OK :
					 CUCKOO_SATURATED);
		if (status == CUCKOO_SATURATED)
			CHECK(test_same_header(&before, filter) &&
				  before.image == filter->image);
		model_put(model, model_key(model, hash), 1);
	}
	else
	{
		CHECK(test_same_header(&before, filter));
		CHECK(before.image == filter->image);
		/* a refusal before the capacity is reached is no honest one */
		if (status == CUCKOO_FULL)
			CHECK(filter->nentries >= filter->capacity);
	}
	CHECK_EQUAL(filter->nentries, model->bag.total);
	return status;
}

static void
take_out(CuckooFilter *filter, Model *model, uint64_t hash)
{
	const uint64_t key = model_key(model, hash);
	const int	ncopies = ref_bag_count(&model->bag, key);

	CHECK_STATUS(cuckoo_filter_remove(filter, hash),
				 ncopies == 0 ? CUCKOO_NOT_FOUND :
				 ncopies >= model->max_copies ? CUCKOO_SATURATED : CUCKOO_OK);
	if (ncopies > 0 && ncopies < model->max_copies)
		ref_bag_set(&model->bag, key, ncopies - 1);
	CHECK_EQUAL(filter->nentries, model->bag.total);
}

static void
check_pool(CuckooFilter *filter, const Model *model, const uint64_t *pool,
		   size_t npool)
{
	bool	   *const results = malloc(npool * sizeof(bool) + 1);

	CHECK(results != NULL);
	test_check_filter(filter);
	cuckoo_filter_contains_batch(filter, pool, npool, results);
	for (size_t i = 0; i < npool; i++)
	{
		check_hash(filter, model, pool[i]);
		CHECK_EQUAL(results[i], cuckoo_filter_contains(filter, pool[i]));
	}
	free(results);
}

/* Coarse rates make classes coincide, fine ones make long fingerprints. */
static const double rates[] = {
	0.5, 0.015, 0.01, 0.001, 1.0 / 65536, 1e-7, 1e-9
};

#define NRATES	(sizeof(rates) / sizeof(rates[0]))

/*
 * resize
 *		Resize to something at random and check what came of it.
 */
static void
resize(CuckooFilter *filter, Model *model, TestHost *host)
{
	const uint64_t capacity = test_random_below(3) == 0 ? 0 :
		1 + test_random_below(UINT64_C(1) << (3 + test_random_below(11)));
	const uint64_t rate = test_random_below(3) == 0 ? 0 :
		test_rate(rates[test_random_below(NRATES)]);
	const uint64_t wanted = capacity != 0 ? capacity : filter->capacity;
	CuckooFilter resized;
	CuckooStatus status;
	TestSnapshot snapshot;

	test_snapshot_take(&snapshot, filter);
	status = cuckoo_filter_resize(filter, &resized, capacity, rate,
								  &host->host);
	test_snapshot_check(&snapshot, filter);
	test_snapshot_free(&snapshot);

	if (capacity != 0 && capacity < filter->nentries)
		CHECK_STATUS(status, CUCKOO_BELOW_ENTRIES);
	else if (status == CUCKOO_FULL)
	{
		/* XXX a smaller table may not take what was beyond the capacity */
		CHECK(filter->nentries > filter->capacity);
	}
	else if (status != CUCKOO_OK)
	{
		/* a table can lack bits; a list has them all */
		CHECK_STATUS(status, filter->is_table ? CUCKOO_TOO_COARSE :
					 CUCKOO_BAD_RATE);
	}
	else
	{
		const int	fp_bits = resized.geometry.prefix_bits -
			cuckoo_geometry_index_bits(resized.geometry.ncolumns, wanted);

		CHECK_EQUAL(resized.capacity, wanted);
		CHECK_EQUAL(resized.declared_copies, filter->declared_copies);
		CHECK_EQUAL(resized.seed, filter->seed);
		CHECK_EQUAL(resized.family, filter->family);
		CHECK(resized.image != filter->image);
		/* a bit to grow is left, and a rate asked for is kept */
		CHECK(fp_bits > CUCKOO_MIN_FP_BITS);
		if (rate != 0)
			CHECK(cuckoo_geometry_rate(resized.geometry.ncolumns,
									   resized.geometry.prefix_bits, wanted) <=
				  rate);
		else if (wanted <= filter->capacity)
			CHECK(cuckoo_filter_declared_fpr(&resized) <=
				  cuckoo_filter_declared_fpr(filter) * (1 + 1e-9) ||
				  cuckoo_filter_declared_fpr(&resized) <= 1.0 / 64);
		test_release(filter, host);
		*filter = resized;
		model_follow(model, filter, true);
		CHECK_EQUAL(filter->nentries, model->bag.total);
	}
}

/* The operations of all rounds together. */
static uint64_t nops;
static uint64_t ntables;
static uint64_t nlowered;
static uint64_t nresized;

/*
 * operate
 *		One filter through random operations.
 */
static void
operate(uint64_t capacity, uint64_t rate, int max_copies, int nsteps,
		bool with_resize)
{
	const uint64_t npool = 16 + capacity + capacity / 4;
	uint64_t   *const pool = malloc(npool * sizeof(pool[0]));

	/* hot values are added again and again, up to a few or nearly all */
	const uint64_t hot_part = 1 + test_random_below(20);
	const uint64_t nhot = 1 + test_random_below(npool) / hot_part;

	/* how many adds in 16 there are while the filter fills, and empties */
	const uint64_t nadds_filling = 9 + test_random_below(7);
	const uint64_t nadds_emptying = 2 + test_random_below(6);
	CuckooFilter filter;
	TestHost	host;
	Model		model;
	bool		is_filling = true;

	CHECK(pool != NULL);
	test_host_init(&host);
	test_new(&filter, &host, capacity, rate, max_copies);
	model_init(&model, &filter);
	for (uint64_t i = 0; i < npool; i++)
	{
		pool[i] = test_random();
		if (i > 0 && test_random_below(10) == 0)
		{
			/* a twin: the same class while P is what it is now */
			RefEntry	entry = ref_primary(pool[i - 1], model.k, model.P);

			if (test_random_below(2) == 0)
				entry = ref_alternate(entry, model.k, model.P);
			pool[i] = ref_hash_of(entry, model.k, model.P, test_random());
		}
	}

	for (int step = 0; step < nsteps; step++)
	{
		const uint64_t hash =
			pool[test_random_below(test_random_below(3) == 0 ? nhot : npool)];

		WHERE("capacity %" PRIu64 ", rate %" PRIu64 ", step %" PRIu64
			  ", entries %" PRIu64, capacity, rate, step, filter.nentries);
		if (filter.nentries >= filter.capacity)
			is_filling = false;
		else if (filter.nentries == 0)
			is_filling = true;
		else if (test_random_below(4 * npool) == 0)
			is_filling = !is_filling;

		if (test_random_below(16) <
			(is_filling ? nadds_filling : nadds_emptying))
			add(&filter, &model, hash, &host);
		else if (filter.max_copies > 1)
			take_out(&filter, &model, hash);
		check_hash(&filter, &model, hash);
		check_hash(&filter, &model, pool[test_random_below(npool)]);
		nops++;

		if (with_resize && test_random_below(500) == 0)
		{
			resize(&filter, &model, &host);
			nresized++;
		}
		if (test_random_below(1000 + npool) == 0)
			check_pool(&filter, &model, pool, npool);
	}
	check_pool(&filter, &model, pool, npool);
	ntables += filter.is_table;
	nlowered += filter.max_copies < filter.declared_copies;

	ref_bag_free(&model.bag);
	test_release(&filter, &host);
	test_host_finish(&host);
	free(pool);
}

/* Sizes from 1 up, most of them small, all rates, 1 to 4 copies. */
static void
random_operations(void)
{
	const uint64_t goal = test_amount(100000, 3000000, 30000000);

	nops = ntables = nlowered = nresized = 0;
	for (uint64_t round = 0; nops < goal; round++)
	{
		const int	nsteps = 2000 + (int) test_random_below(6000);

		operate(1 + test_random_below(UINT64_C(1) <<
									  (2 + test_random_below(11))),
				test_rate(rates[round % NRATES]), 1 + (int) (round % 4), nsteps,
				false);
	}
	printf("# %" PRIu64 " operations, %" PRIu64 " filters became tables, %"
		   PRIu64 " lowered max_copies\n", nops, ntables, nlowered);
	CHECK(ntables > 0 && nlowered >= test_amount(0, 1, 1));
}

static void
random_operations_and_resize(void)
{
	const uint64_t goal = test_amount(50000, 1000000, 10000000);

	nops = ntables = nlowered = nresized = 0;
	for (uint64_t round = 0; nops < goal; round++)
	{
		const int	nsteps = 1000 + (int) test_random_below(6000);

		operate(1 + test_random_below(UINT64_C(1) <<
									  (2 + test_random_below(10))),
				test_rate(rates[round % NRATES]), 1 + (int) (round % 4), nsteps,
				true);
	}
	printf("# %" PRIu64 " operations, %" PRIu64 " resizes\n", nops, nresized);
	CHECK(ntables > 0 && nresized > 0);
}

/* A few large ones, with superblocks. */
static void
random_operations_large(void)
{
	const int	nrounds = (int) test_amount(1, 4, 20);

	for (int round = 0; round < nrounds; round++)
		operate(150000 + test_random_below(100000),
				test_rate(rates[round % NRATES]), 4 - round % 2,
				(int) test_amount(50000, 250000, 3000000), false);
}

/*
 * The list becomes a table through each operation that can make it one, and
 * at the same size for adds and for build.
 */
static void
list_to_table(void)
{
	for (uint64_t capacity = 1; capacity <= 3000;
		 capacity += capacity < 200 ? 1 : 97)
	{
		const CuckooParameters parameters = {capacity, test_rate(0.01), 4, 0};
		const CuckooGeometry *geometry;
		CuckooFilter filter;
		CuckooFilter built;
		TestHost	host;
		Model		model;
		uint64_t	keys[3001];
		uint64_t	limit;

		test_host_init(&host);
		test_new(&filter, &host, capacity, parameters.rate, 4);
		model_init(&model, &filter);
		CHECK_EQUAL(filter.image_bytes, CUCKOO_HEADER_BYTES);
		geometry = &filter.geometry;
		/* docs/format.md, section 7: as long as it is no larger than a table */
		limit = ((uint64_t) geometry->ncolumns * 4 *
				 (uint64_t) (geometry->prefix_bits - 1) / 8 + 7 +
				 (geometry->ncolumns * 4 *
				  (uint64_t) (geometry->prefix_bits - 1) % 8 != 0)) / 8;
		if (capacity < CUCKOO_MIN_TABLE_CAPACITY)
			limit = capacity;

		for (uint64_t n = 0; n < capacity; n++)
		{
			WHERE("capacity %" PRIu64 ", n %" PRIu64, capacity, n, 0, 0);
			CHECK_STATUS(add(&filter, &model, keys[n] = test_random(), &host),
						 CUCKOO_OK);
			CHECK_EQUAL(filter.is_table, n + 1 > limit);
			if (n + 1 == limit || n + 1 == limit + 1)
			{
				uint64_t	sorted[3001];

				for (uint64_t i = 0; i <= n; i++)
				{
					uint64_t	j = i;
					const uint64_t key = cuckoo_order_hash(keys[i]);

					for (; j > 0 && sorted[j - 1] > key; j--)
						sorted[j] = sorted[j - 1];
					sorted[j] = key;
				}
				CHECK_STATUS(cuckoo_build_array(&built, &parameters, sorted,
												(size_t) n + 1, &host.host),
							 CUCKOO_OK);
				CHECK_EQUAL(built.is_table, filter.is_table);
				test_check_filter(&built);
				for (uint64_t i = 0; i <= n; i++)
					CHECK(cuckoo_filter_contains(&built, keys[i]));
				test_release(&built, &host);
			}
			if (n > 2 * limit)
				break;
		}
		check_pool(&filter, &model, keys, filter.nentries < 3000 ?
				   (size_t) filter.nentries : 3000);
		ref_bag_free(&model.bag);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/*
 * Any add that fails leaves everything as it was: here, with every allocation
 * failing in turn, from the empty filter past its capacity.
 */
static void
out_of_memory(void)
{
	const int	nrounds = (int) test_amount(5, 40, 400);

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 1 + test_random_below(600);
		const int	max_copies = 1 + round % 4;
		const uint64_t nvalues =
			round % 2 == 0 ? 2 * capacity : 1 + capacity / 2;
		CuckooFilter filter;
		TestHost	host;
		Model		model;

		test_host_init(&host);
		test_new(&filter, &host, capacity, test_rate(0.01), max_copies);
		model_init(&model, &filter);
		for (int step = 0; step < (int) capacity * 3; step++)
		{
			const uint64_t hash =
				test_mix((uint64_t) round * 100000 +
						 test_random_below(nvalues));
			CuckooStatus status = CUCKOO_NO_MEMORY;

			for (uint64_t nth = 1; status == CUCKOO_NO_MEMORY; nth++)
			{
				const uint64_t nlive = host.nlive;
				const uint64_t nallocs = host.nallocs;
				TestSnapshot snapshot;

				WHERE("capacity %" PRIu64 ", step %" PRIu64 ", allocation %"
					  PRIu64 " fails", capacity, step, nth, 0);
				test_snapshot_take(&snapshot, &filter);
				host.fail_at = host.nallocs + nth;
				status = add(&filter, &model, hash, &host);
				/* it fails if and only if an allocation did */
				CHECK_EQUAL(status == CUCKOO_NO_MEMORY,
							host.nallocs == nallocs + nth);
				host.fail_at = 0;
				if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
					test_snapshot_check(&snapshot, &filter);
				test_snapshot_free(&snapshot);
				CHECK_EQUAL(host.nlive, nlive);
			}
			check_hash(&filter, &model, hash);
		}

		/* resize and build likewise: nothing is left behind */
		for (uint64_t nth = 1;; nth++)
		{
			CuckooFilter resized;
			CuckooStatus status;
			TestSnapshot snapshot;

			test_snapshot_take(&snapshot, &filter);
			host.fail_at = host.nallocs + nth;
			status = cuckoo_filter_resize(&filter, &resized, filter.capacity +
										  filter.nentries, 0, &host.host);
			host.fail_at = 0;
			test_snapshot_check(&snapshot, &filter);
			test_snapshot_free(&snapshot);
			if (status != CUCKOO_NO_MEMORY)
			{
				if (status == CUCKOO_OK)
					test_release(&resized, &host);
				break;
			}
			CHECK_EQUAL(host.nlive, 1);
		}
		ref_bag_free(&model.bag);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* Ascending build keys of random hashes, each once. */
static uint64_t *
random_keys(size_t nkeys)
{
	uint64_t   *const keys = malloc((nkeys + 1) * sizeof(keys[0]));

	CHECK(keys != NULL);
	for (size_t i = 0; i < nkeys; i++)
		keys[i] = test_random();
	test_sort_keys(keys, nkeys);
	return keys;
}

/*
 * build
 *		A build holds what adds give, is sized to its keys, and comes out the
 *		same every time.
 */
static void
build(void)
{
	const int	nrounds = (int) test_amount(30, 600, 6000);

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 1 + test_random_below(UINT64_C(1) <<
														(3 + round % 12));
		const size_t nkeys = round % 3 == 0 ? (size_t) capacity :
			(size_t) test_random_below(capacity + 1);
		const CuckooParameters parameters = {
			capacity, test_rate(rates[(size_t) round % NRATES]), 1 + round % 4,
			test_random()
		};
		uint64_t   *const keys = random_keys(nkeys);
		CuckooFilter filter;
		CuckooFilter again;
		TestHost	host;
		Model		model;

		WHERE("capacity %" PRIu64 ", keys %" PRIu64, capacity, nkeys, 0, 0);
		test_host_init(&host);
		CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, nkeys,
										&host.host), CUCKOO_OK);
		CHECK_STATUS(cuckoo_build_array(&again, &parameters, keys, nkeys,
										&host.host), CUCKOO_OK);
		test_check_filter(&filter);
		test_check_filter(&again);
		CHECK_EQUAL(filter.image_bytes, again.image_bytes);
		CHECK(memcmp(filter.image, again.image, filter.image_bytes) == 0);

		CHECK_EQUAL(filter.capacity, capacity);
		CHECK_EQUAL(filter.seed, parameters.seed);
		CHECK_EQUAL(filter.max_copies, parameters.max_copies);
		CHECK_EQUAL(filter.ngrowths, 0);

		model_init(&model, &filter);
		for (size_t i = 0; i < nkeys; i++)
			model_put(&model, model_key(&model,
										cuckoo_order_hash_back(keys[i])),
					  1);
		CHECK_EQUAL(filter.nentries, model.bag.total);
		for (size_t i = 0; i < nkeys; i++)
			check_hash(&filter, &model, cuckoo_order_hash_back(keys[i]));
		for (size_t i = 0; i < 100; i++)
			check_hash(&filter, &model, test_random());

		/* sized to the keys, or, once in a long while, one step more */
		if (filter.is_table)
		{
			const int	fits =
				cuckoo_geometry_index_bits(filter.geometry.ncolumns, nkeys);

			CHECK(filter.geometry.index_bits >= fits &&
				  filter.geometry.index_bits <= fits + 1);
		}
		ref_bag_free(&model.bag);
		test_release(&filter, &host);
		test_release(&again, &host);
		test_host_finish(&host);
		free(keys);
	}
}

/* A source that gives its keys a few at a time. */
typedef struct Dribble
{
	const uint64_t *keys;
	size_t		nkeys;
	size_t		position;
	uint64_t	step;
} Dribble;

static void
dribble_rewind(void *context)
{
	((Dribble *) context)->position = 0;
}

static size_t
dribble_next(void *context, uint64_t *keys, size_t room)
{
	Dribble    *const dribble = context;
	size_t		n = 1 + test_mix(++dribble->step) % 50;

	if (n > room)
		n = room;
	if (n > dribble->nkeys - dribble->position)
		n = dribble->nkeys - dribble->position;
	memcpy(keys, dribble->keys + dribble->position, n * sizeof(keys[0]));
	dribble->position += n;
	return n;
}

/*
 * Builds with up to max_copies of each hash, nearly all of them at times, from
 * a source that gives a few at a time: nobody is lost, nothing is refused up
 * to the capacity, and the bytes do not depend on how the keys arrive.
 */
static void
build_with_copies(void)
{
	const int	nrounds = (int) test_amount(30, 400, 4000);
	uint64_t	nlower = 0;

	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t capacity = 4 + test_random_below(UINT64_C(1) <<
														(3 + round % 12));
		const int	max_copies = 1 + round % 4;
		const CuckooParameters parameters = {
			capacity, test_rate(0.001), max_copies, 0
		};
		uint64_t   *const keys = malloc((capacity + 4) * sizeof(keys[0]));
		size_t		nkeys = 0;
		CuckooFilter filter;
		CuckooFilter dribbled;
		TestHost	host;
		Model		model;
		Dribble		dribble = {keys, 0, 0, 0};
		const CuckooHashSource source = {dribble_rewind, dribble_next,
		&dribble};

		CHECK(keys != NULL);
		while (nkeys < capacity)
		{
			const uint64_t key = test_random();
			const int	ncopies = round % 8 < 4 ? max_copies :
				1 + (int) test_random_below((uint64_t) max_copies);

			for (int i = 0; i < ncopies && nkeys < capacity; i++)
				keys[nkeys++] = key;
		}
		test_sort_keys(keys, nkeys);
		dribble.nkeys = nkeys;

		WHERE("capacity %" PRIu64 ", copies %" PRIu64, capacity, max_copies, 0,
			  0);
		test_host_init(&host);
		CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, nkeys,
										&host.host), CUCKOO_OK);
		CHECK_STATUS(cuckoo_build(&dribbled, &parameters, &source,
								  nkeys, &host.host), CUCKOO_OK);
		test_check_filter(&filter);
		test_check_filter(&dribbled);
		CHECK(test_same_header(&filter, &dribbled));
		CHECK(memcmp(filter.image, dribbled.image, filter.image_bytes) == 0);
		CHECK(filter.max_copies >= (max_copies < 2 ? 1 : 2) &&
			  filter.declared_copies == max_copies);

		model_init(&model, &filter);
		for (size_t i = 0; i < nkeys; i++)
			model_put(&model, model_key(&model,
										cuckoo_order_hash_back(keys[i])),
					  1);
		CHECK_EQUAL(filter.nentries, model.bag.total);
		for (size_t i = 0; i < nkeys; i++)
			check_hash(&filter, &model, cuckoo_order_hash_back(keys[i]));
		nlower += filter.max_copies < max_copies;
		ref_bag_free(&model.bag);
		test_release(&filter, &host);
		test_release(&dribbled, &host);
		test_host_finish(&host);
		free(keys);
	}
	CHECK(nlower > 0);
}

/* A build fails like adds do, and leaves nothing behind. */
static void
build_refused(void)
{
	CuckooParameters parameters = {100, test_rate(0.01), 4, 0};
	CuckooFilter filter;
	TestHost	host;
	uint64_t   *keys = random_keys(5000);

	test_host_init(&host);
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, 5000,
									&host.host),
				 CUCKOO_FULL);
	parameters.capacity = 20;
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, 21, &host.host),
				 CUCKOO_FULL);
	parameters.capacity = 0;
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, 21, &host.host),
				 CUCKOO_BAD_CAPACITY);
	parameters.capacity = 100;
	parameters.rate = 0;
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, 21, &host.host),
				 CUCKOO_BAD_RATE);
	test_host_finish(&host);

	/*
	 * Keys that all share their buckets: few stay a list, many are refused.
	 * They differ in what is 11 to 24 bits behind the first of a prefix.
	 */
	parameters.rate = test_rate(1e-6);
	parameters.capacity = 1000000;
	for (uint64_t nkeys = 1000; nkeys <= 5000; nkeys += 4000)
	{
		for (uint64_t i = 0; i < nkeys; i++)
			keys[i] = cuckoo_order_hash(UINT64_C(0x1234560000000042) | i << 24);
		test_sort_keys(keys, nkeys);
		if (nkeys <= CUCKOO_MAX_LIST_ENTRIES)
		{
			CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, nkeys,
											&host.host), CUCKOO_OK);
			CHECK(!filter.is_table);
			test_check_filter(&filter);
			for (uint64_t i = 0; i < nkeys; i++)
				CHECK(cuckoo_filter_contains(&filter,
											 cuckoo_order_hash_back(keys[i])));
			test_release(&filter, &host);
		}
		else
			CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, nkeys,
											&host.host), CUCKOO_COLLIDING);
		CHECK(host.peak_bytes < 1000000);
	}
	test_host_finish(&host);

	/* every allocation failing in turn */
	free(keys);
	keys = random_keys(3000);
	parameters.capacity = 3000;
	for (uint64_t nth = 1;; nth++)
	{
		CuckooStatus status;

		host.fail_at = host.nallocs + nth;
		status = cuckoo_build_array(&filter, &parameters, keys, 3000,
									&host.host);
		if (status == CUCKOO_OK)
			break;
		CHECK_STATUS(status, CUCKOO_NO_MEMORY);
		CHECK_EQUAL(host.nlive, 0);
	}
	test_release(&filter, &host);
	test_host_finish(&host);
	free(keys);
}

/*
 * run_script
 *		Some thousand operations that follow from a number alone.
 */
static void
run_script(CuckooFilter *filter, TestHost *host, uint64_t script)
{
	const uint64_t capacity = 10 + script * 37 % 5000;
	uint64_t	x = script;

	test_new(filter, host, capacity,
			 test_rate(rates[script % NRATES]), 2 + (int) (script % 3));
	for (uint64_t i = 0; i < capacity; i++)
	{
		x = test_mix(x + i);
		(void) cuckoo_filter_add(filter, test_mix(x % (capacity + 1)),
								 &host->host);
		if (x >> 60 < 4)
			(void) cuckoo_filter_remove(filter,
										test_mix((x >> 8) % (capacity + 1)));
		if (x >> 54 == 0)
		{
			CuckooFilter resized;

			if (cuckoo_filter_resize(filter, &resized, filter->capacity, 0,
									 &host->host) == CUCKOO_OK)
			{
				test_release(filter, host);
				*filter = resized;
			}
		}
	}
}

/* Same operations, same bytes, whatever garbage the memory had. */
static void
determinism(void)
{
	const uint64_t nscripts = test_amount(20, 200, 2000);

	for (uint64_t script = 0; script < nscripts; script++)
	{
		TestHost	host;
		CuckooFilter filters[2];

		test_host_init(&host);
		for (int i = 0; i < 2; i++)
		{
			host.nallocs += 19; /* other garbage in fresh memory */
			run_script(&filters[i], &host, script);
			test_check_filter(&filters[i]);
		}
		WHERE("script %" PRIu64, script, 0, 0, 0);
		CHECK(test_same_header(&filters[0], &filters[1]));
		CHECK(memcmp(filters[0].image, filters[1].image,
					 filters[0].image_bytes) == 0);
		test_release(&filters[0], &host);
		test_release(&filters[1], &host);
		test_host_finish(&host);
	}
}

/* A copy is equal, its own, and goes on in the same way. */
static void
copies(void)
{
	TestHost	host;
	CuckooFilter filter;
	CuckooFilter copy;

	test_host_init(&host);
	for (uint64_t capacity = 1; capacity < 3000; capacity = capacity * 2 + 1)
	{
		test_new(&filter, &host, capacity, test_rate(0.01), 4);
		for (uint64_t i = 0; i < capacity / 2; i++)
			CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
						 CUCKOO_OK);
		CHECK_STATUS(cuckoo_filter_copy(&filter, &copy, &host.host), CUCKOO_OK);
		for (uint64_t i = capacity / 2; i < capacity; i++)
		{
			CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
						 CUCKOO_OK);
			CHECK_STATUS(cuckoo_filter_add(&copy, test_mix(i), &host.host),
						 CUCKOO_OK);
		}
		test_check_filter(&filter);
		test_check_filter(&copy);
		CHECK(filter.image != copy.image);
		CHECK(test_same_header(&filter, &copy));
		CHECK(memcmp(filter.image, copy.image, copy.image_bytes) == 0);
		test_release(&copy, &host);
		host.fail_at = host.nallocs + 1;
		CHECK_STATUS(cuckoo_filter_copy(&filter, &copy, &host.host),
					 CUCKOO_NO_MEMORY);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

static void
parameters_out_of_range(void)
{
	static const struct
	{
		uint64_t	capacity;
		double		rate;
		CuckooStatus status;
	}			rows[] = {
		{1, 0.01, CUCKOO_OK},
		{0, 0.01, CUCKOO_BAD_CAPACITY},
		{(UINT64_C(1) << 53) + 1, 0.01, CUCKOO_BAD_CAPACITY},
		{UINT64_C(1) << 53, 0.01, CUCKOO_TOO_LARGE},
		{UINT64_C(600000000), 0.01, CUCKOO_TOO_LARGE},
		{UINT64_C(450000000), 0.01, CUCKOO_OK},
		{1000, 0, CUCKOO_BAD_RATE},
		{1000, 1e-18, CUCKOO_BAD_RATE},
		{1000, 1e-9, CUCKOO_OK},
		{1000, 0.999, CUCKOO_OK},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		const CuckooParameters parameters = {
			rows[i].capacity, test_rate(rows[i].rate), 4, 77
		};
		CuckooFilter filter;
		TestHost	host;
		CuckooStatus status;

		WHERE("row %" PRIu64, i, 0, 0, 0);
		test_host_init(&host);
		/* without a host only the answer */
		CHECK_STATUS(cuckoo_filter_new(&filter, &parameters, NULL),
					 rows[i].status);
		host.fail_at = 1;
		status = cuckoo_filter_new(&filter, &parameters, &host.host);
		CHECK_STATUS(status, rows[i].status == CUCKOO_OK ? CUCKOO_NO_MEMORY :
					 rows[i].status);
		CHECK_STATUS(cuckoo_filter_new(&filter, &parameters, &host.host),
					 rows[i].status);
		if (rows[i].status == CUCKOO_OK)
		{
			/* 48 bytes a datum, whatever was declared */
			CHECK_EQUAL(filter.image_bytes, 44);
			CHECK_EQUAL(filter.seed, 77);
			CHECK_EQUAL(filter.family, CUCKOO_FAMILY_NONE);
			CHECK_EQUAL(filter.nentries, 0);
			CHECK(!filter.is_merged);
			test_check_filter(&filter);
			CHECK_EQUAL(cuckoo_filter_contains(&filter, 0), false);
			CHECK_STATUS(cuckoo_filter_remove(&filter, 0), CUCKOO_NOT_FOUND);
			CHECK(cuckoo_filter_fpr(&filter) == 0.0);
			CHECK(cuckoo_filter_load_factor(&filter) == 0.0);
			test_release(&filter, &host);
		}
		test_host_finish(&host);
	}
}

/* Resizing by what is promised of it, case by case. */
static void
resize_cases(void)
{
	TestHost	host;
	CuckooFilter filter;
	CuckooFilter resized;
	CuckooFilter other;

	test_host_init(&host);
	test_new(&filter, &host, 100000, test_rate(0.001), 4);
	for (uint64_t i = 0; i < 20000; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);

	/* nothing asked for: the same values, in no more bytes */
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 0, 0, &host.host),
				 CUCKOO_OK);
	CHECK_EQUAL(resized.geometry.prefix_bits, filter.geometry.prefix_bits);
	CHECK_EQUAL(resized.nentries, filter.nentries);
	CHECK(resized.image_bytes <= filter.image_bytes);
	test_release(&resized, &host);

	/* below what it holds */
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 19999, 0, &host.host),
				 CUCKOO_BELOW_ENTRIES);
	/* finer than its bits */
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 0, test_rate(0.0001),
									  &host.host), CUCKOO_TOO_COARSE);
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 1000000,
									  test_rate(0.001),
									  &host.host), CUCKOO_TOO_COARSE);
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized,
									  CUCKOO_MAX_CAPACITY + 1, 0,
									  &host.host), CUCKOO_BAD_CAPACITY);

	/* smaller and coarser take fewer bytes each */
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 20000, 0, &host.host),
				 CUCKOO_OK);
	CHECK(resized.image_bytes < filter.image_bytes);
	CHECK_STATUS(cuckoo_filter_resize(&filter, &other, 20000, test_rate(0.01),
									  &host.host), CUCKOO_OK);
	CHECK(other.image_bytes < resized.image_bytes);
	test_check_filter(&resized);
	test_check_filter(&other);
	for (uint64_t i = 0; i < 20000; i++)
		CHECK(cuckoo_filter_contains(&resized, test_mix(i)) &&
			  cuckoo_filter_contains(&other, test_mix(i)));
	test_release(&resized, &host);
	test_release(&other, &host);

	/* larger at the rate that is left, and then it takes as many */
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 400000, 0, &host.host),
				 CUCKOO_OK);
	CHECK(cuckoo_filter_declared_fpr(&resized) > 0.0029 &&
		  cuckoo_filter_declared_fpr(&resized) < 0.0041);
	for (uint64_t i = 20000; i < 400000; i++)
		CHECK_STATUS(cuckoo_filter_add(&resized, test_mix(i), &host.host),
					 CUCKOO_OK);
	for (uint64_t i = 0; i < 400000; i++)
		CHECK(cuckoo_filter_contains(&resized, test_mix(i)));
	test_check_filter(&resized);
	test_release(&resized, &host);

	test_release(&filter, &host);
	test_host_finish(&host);
}

/*
 * Entries that stand in the order of superblocks fill the first ones of a
 * smaller table before the others: it must not be taken for keys that collide.
 */
static void
resize_with_superblocks(void)
{
	const uint64_t n = test_amount(200000, 1000000, 1000000);
	CuckooFilter filter;
	CuckooFilter resized;
	TestHost	host;

	test_host_init(&host);
	test_new(&filter, &host, 8 * n, test_rate(0.01), 4);
	for (uint64_t i = 0; i < n + n / 10; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);
	for (uint64_t i = 0; i < n / 3; i++)
		CHECK_STATUS(cuckoo_filter_remove(&filter, test_mix(i)), CUCKOO_OK);
	CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, n, 0, &host.host),
				 CUCKOO_OK);
	CHECK(resized.geometry.index_bits < filter.geometry.index_bits);
	CHECK_EQUAL(resized.nentries, filter.nentries);
	test_check_filter(&resized);
	for (uint64_t i = n / 3; i < n + n / 10; i++)
		CHECK(cuckoo_filter_contains(&resized, test_mix(i)));
	test_release(&resized, &host);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/*
 * A table can be larger than its capacity asks for: its header says so little
 * of it that the two need not fit.  Resized to any rate it keeps every value,
 * and bits enough for the buckets it has.
 */
static void
resize_below_entries(void)
{
	static const double asked[] = {0, 1e-6, 0.001, 0.015, 0.5};
	const uint64_t n = 4000;

	for (uint64_t capacity = 1; capacity < n; capacity = 3 * capacity + 1)
	{
		CuckooFilter filter;
		TestHost	host;
		uint64_t	position;
		uint64_t	first = 0;

		test_host_init(&host);
		test_new(&filter, &host, n, test_rate(0.001), 4);
		for (uint64_t i = 0; i < n; i++)
			CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
						 CUCKOO_OK);
		if (capacity % 2 == 0)	/* those that are left need a smaller table */
		{
			for (; first < n - n / 8; first++)
				CHECK_STATUS(cuckoo_filter_remove(&filter, test_mix(first)),
							 CUCKOO_OK);
		}
		filter.capacity = capacity;
		CHECK_STATUS(cuckoo_image_check(&filter, NULL, &position), CUCKOO_OK);

		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		{
			CuckooFilter resized;
			const CuckooStatus status =
				cuckoo_filter_resize(&filter, &resized, 0, test_rate(asked[i]),
									 &host.host);

			WHERE("capacity %" PRIu64 ", rate %" PRIu64, capacity, i, 0, 0);
			if (status == CUCKOO_TOO_COARSE)
			{
				CHECK(asked[i] > 0 && asked[i] < 0.001);
				continue;
			}
			CHECK_STATUS(status, CUCKOO_OK);
			test_check_filter(&resized);
			for (uint64_t v = first; v < n; v++)
				CHECK(cuckoo_filter_contains(&resized, test_mix(v)));
			test_release(&resized, &host);
		}
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/*
 * What a filter will be when it is full can be told of its parameters alone;
 * and how much of it can be told again of a table.
 */
static void
full_as_foretold(void)
{
	static const double promised[] = {0.01, 1e-4, 1e-9};

	for (uint64_t n = 1; n < 3000; n += 1 + n / 7)
	{
		for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		{
			const CuckooParameters parameters = {
				n, test_rate(promised[i]), 4, 0
			};
			CuckooFilter foretold;
			CuckooFilter filter;
			TestHost	host;

			/* in memory: some processors return more digits than a double's */
			volatile double foretold_fpr;
			volatile double declared_fpr;
			volatile double fpr;

			WHERE("capacity %" PRIu64 ", rate %" PRIu64, n, i, 0, 0);
			CHECK_STATUS(cuckoo_filter_new(&foretold, &parameters, NULL),
						 CUCKOO_OK);
			CHECK(foretold.image == NULL);
			test_host_init(&host);
			CHECK_STATUS(cuckoo_filter_new(&filter, &parameters, &host.host),
						 CUCKOO_OK);
			for (uint64_t v = 0; v < n; v++)
				CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(v + 1),
											   &host.host), CUCKOO_OK);
			CHECK_EQUAL(filter.is_table,
						cuckoo_filter_full_is_table(&foretold));
			CHECK_EQUAL(filter.image_bytes,
						cuckoo_filter_full_bytes(&foretold));
			foretold_fpr = cuckoo_filter_declared_fpr(&foretold);
			declared_fpr = cuckoo_filter_declared_fpr(&filter);
			fpr = cuckoo_filter_fpr(&filter);
			CHECK(foretold_fpr == declared_fpr);
			CHECK(fpr <= declared_fpr && declared_fpr <= promised[i]);

			if (filter.is_table)
			{
				const uint64_t most = cuckoo_filter_max_resize(&filter);
				CuckooFilter resized;
				CuckooStatus status;

				CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, most, 0,
												  &host.host), CUCKOO_OK);
				CHECK_EQUAL(resized.capacity, most);
				test_check_filter(&resized);
				test_release(&resized, &host);
				status = cuckoo_filter_resize(&filter, &resized, most + 1, 0,
											  &host.host);
				CHECK(status == CUCKOO_TOO_COARSE || status ==
					  CUCKOO_TOO_LARGE);
			}
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

/*
 * Eight values fill the two buckets that they share, a ninth has no room
 * however large the table.  If that one comes when the list is to become a
 * table, it stays a list, and nothing is lost.
 */
static void
one_too_many_for_a_table(void)
{
	const uint64_t capacity = 100000;
	CuckooFilter filter;
	TestHost	host;
	TestSnapshot snapshot;
	uint64_t	limit;
	uint64_t	nallocs;

	test_host_init(&host);
	test_new(&filter, &host, capacity, test_rate(1e-6), 4);
	limit = cuckoo_filter_list_limit(&filter.geometry);
	CHECK(filter.geometry.prefix_bits >= 30 && limit > 20);

	/* equal in the column, the first 11 bits of the prefix and the last 8 */
	for (uint64_t i = 0; i < 8; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, i << 26 | 0x5A, &host.host),
					 CUCKOO_OK);
	for (uint64_t i = 8; i < limit; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);
	CHECK(!filter.is_table);
	test_snapshot_take(&snapshot, &filter);
	nallocs = host.nallocs;
	CHECK_STATUS(cuckoo_filter_add(&filter, UINT64_C(8) << 26 | 0x5A,
								   &host.host),
				 CUCKOO_OK);
	CHECK(host.nallocs > nallocs + 2);
	CHECK(!filter.is_table && filter.nentries == limit + 1);
	for (uint64_t i = 0; i < limit + 1; i++)
		CHECK_EQUAL(cuckoo_filter_count(&filter, i < 8 ? i << 26 | 0x5A :
										i < limit ? test_mix(i) :
										UINT64_C(8) << 26 | 0x5A), 1);
	test_check_filter(&filter);

	/* without it the others become a table with the next value */
	CHECK_STATUS(cuckoo_filter_remove(&filter, UINT64_C(8) << 26 | 0x5A),
				 CUCKOO_OK);
	CHECK(memcmp(snapshot.bytes + CUCKOO_HEADER_BYTES,
				 cuckoo_header_body(&filter), 8 * limit) == 0);
	CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(0), &host.host),
				 CUCKOO_OK);
	CHECK(filter.is_table && filter.nentries == limit + 1);
	test_check_filter(&filter);
	test_snapshot_free(&snapshot);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/*
 * A build fills one superblock after the other.  If the first has more values
 * than it can hold, the table is not mostly empty, only not filled yet: it
 * grows, as it would have if the values had come in another order.
 */
static void
build_with_crowded_superblock(void)
{
	const size_t nkeys = 240000;
	const CuckooParameters parameters = {250000, test_rate(0.01), 4, 0};
	uint64_t   *const keys = random_keys(nkeys);
	CuckooFilter filter;
	TestHost	host;

	/* in every superblock but the first nine in a hundred move there */
	for (size_t i = 0; i < nkeys; i++)
	{
		if (test_random_below(100) < 9)
			keys[i] >>= 8;
	}
	test_sort_keys(keys, nkeys);

	test_host_init(&host);
	CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, nkeys,
									&host.host), CUCKOO_OK);
	CHECK(filter.geometry.index_bits == 11);
	test_check_filter(&filter);
	for (size_t i = 0; i < nkeys; i++)
		CHECK(cuckoo_filter_contains(&filter, cuckoo_order_hash_back(keys[i])));
	test_release(&filter, &host);
	test_host_finish(&host);
	free(keys);
}

/*
 * A batch of adds that notes what it overwrites does what single adds do, or
 * leaves every byte as it was: in a list, where the table would have to grow,
 * and where there is no more room for notes.
 */
static void
batches_of_all_or_nothing(void)
{
	const uint64_t capacity = 3000 + test_random_below(60000);
	const uint64_t nvalues = capacity;
	uint64_t	nlists = 0;
	uint64_t	ngrown = 0;
	uint64_t	nshort = 0;
	CuckooFilter filter;
	TestHost	host;

	test_host_init(&host);
	test_new(&filter, &host, capacity, test_rate(0.01), 4);
	while (filter.nentries < capacity)
	{
		const size_t nhashes = 1 + (size_t) test_random_below(20);
		const size_t nundos = (size_t) test_random_below(65);
		uint64_t	hashes[20];
		CuckooUndo	undos[64];
		CuckooJournal journal = {undos, 0, nundos};
		CuckooFilter singly;
		TestSnapshot before;
		CuckooStatus status;
		bool		singly_changed = false;
		bool		changed;

		CHECK_STATUS(cuckoo_filter_copy(&filter, &singly, &host.host),
					 CUCKOO_OK);
		for (size_t i = 0; i < nhashes; i++)
		{
			hashes[i] = test_mix(test_random_below(nvalues));
			status = cuckoo_filter_add(&singly, hashes[i], &host.host);
			CHECK(status == CUCKOO_OK || status == CUCKOO_SATURATED);
			if (status == CUCKOO_OK)
				singly_changed = true;
		}

		test_snapshot_take(&before, &filter);
		status = cuckoo_filter_add_all(&filter, hashes, nhashes, &journal,
									   &changed);
		WHERE("%" PRIu64 " hashes, %" PRIu64 " undos, %" PRIu64 " entries",
			  nhashes, nundos, before.filter.nentries, 0);
		if (status == CUCKOO_OK)
		{
			CHECK(changed == singly_changed);
			CHECK(test_same_header(&filter, &singly));
			CHECK(memcmp(cuckoo_header_body(&filter),
						 cuckoo_header_body(&singly),
						 filter.image_bytes - CUCKOO_HEADER_BYTES) == 0);
		}
		else
		{
			CHECK_STATUS(status, CUCKOO_NO_ROOM);
			test_snapshot_check(&before, &filter);
			if (!filter.is_table)
				nlists++;
			else if (singly.geometry.index_bits > filter.geometry.index_bits)
				ngrown++;
			else
				nshort++;
		}
		test_snapshot_free(&before);
		test_release(&filter, &host);
		filter = singly;
	}
	CHECK(nlists > 0 && ngrown > 0 && nshort > 0);
	test_check_filter(&filter);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/*
 * Of batches that go on in one journal each can be undone, the last one first:
 * adds, removals, and those for which the journal has no room.
 */
static void
batches_undone(void)
{
	enum
	{
		STEPS = 40, ROOM = 150
	};
	const uint64_t capacity = 3000 + test_random_below(60000);
	const uint64_t nvalues = capacity / 2 + test_random_below(capacity / 2);
	const uint64_t fpr_units = test_rate(test_random_below(2) ? 0.01 : 1e-6);
	uint64_t	nshort = 0;
	CuckooFilter filter;
	TestHost	host;

	test_host_init(&host);
	test_new(&filter, &host, capacity, fpr_units, 4);
	for (uint64_t i = 0; i < nvalues; i++)
		CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(i), &host.host),
					 CUCKOO_OK);
	for (int round = 0; round < 20; round++)
	{
		CuckooUndo	undos[ROOM];
		CuckooJournal journal = {undos, 0, ROOM};
		TestSnapshot snapshots[STEPS];
		size_t		nundos[STEPS];

		for (int step = 0; step < STEPS; step++)
		{
			const size_t nhashes = 1 + (size_t) test_random_below(6);
			const bool	is_removal = test_random_below(2) != 0;
			uint64_t	hashes[6];
			CuckooFilter singly;
			CuckooStatus status;
			bool		singly_changed = false;
			bool		changed;

			test_snapshot_take(&snapshots[step], &filter);
			nundos[step] = journal.nundos;
			CHECK_STATUS(cuckoo_filter_copy(&filter, &singly, &host.host),
						 CUCKOO_OK);
			for (size_t i = 0; i < nhashes; i++)
			{
				hashes[i] = test_mix(test_random_below(nvalues + 100));
				status = is_removal ?
					cuckoo_filter_remove(&singly, hashes[i]) :
					cuckoo_filter_add(&singly, hashes[i], &host.host);
				if (status == CUCKOO_OK)
					singly_changed = true;
			}

			status = (is_removal ? cuckoo_filter_remove_all :
					  cuckoo_filter_add_all) (&filter, hashes, nhashes,
											  &journal, &changed);
			WHERE("step %" PRIu64 ", %" PRIu64 " hashes, %" PRIu64 " undos, removal %" PRIu64,
				  (uint64_t) step, nhashes, journal.nundos,
				  (uint64_t) is_removal);
			CHECK(journal.nundos <= ROOM);
			if (status == CUCKOO_OK)
			{
				CHECK(changed == singly_changed);
				CHECK(changed == (journal.nundos > nundos[step]));
				CHECK(test_same_header(&filter, &singly));
				CHECK(memcmp(cuckoo_header_body(&filter),
							 cuckoo_header_body(&singly),
							 filter.image_bytes - CUCKOO_HEADER_BYTES) == 0);
			}
			else
			{
				CHECK_STATUS(status, CUCKOO_NO_ROOM);
				CHECK_EQUAL(journal.nundos, nundos[step]);
				test_snapshot_check(&snapshots[step], &filter);
				nshort++;
			}
			test_release(&singly, &host);
		}

		for (int step = STEPS - 1; step >= 0; step--)
		{
			cuckoo_table_undo(&filter, &journal, nundos[step]);
			filter.nentries = snapshots[step].filter.nentries;
			filter.nkicks = snapshots[step].filter.nkicks;
			filter.longest_path = snapshots[step].filter.longest_path;
			CHECK_EQUAL(journal.nundos, nundos[step]);
			test_snapshot_check(&snapshots[step], &filter);
			test_snapshot_free(&snapshots[step]);
		}
	}
	CHECK(nshort > 0);
	test_check_filter(&filter);
	test_release(&filter, &host);
	test_host_finish(&host);
}

/* Memory that is refused is said to be, and nothing else is made instead. */
static void
build_out_of_memory(void)
{
	const size_t nkeys = 3000;
	const CuckooParameters parameters = {nkeys, test_rate(0.01), 4, 7};
	uint64_t   *const keys = random_keys(nkeys);
	TestHost	host;
	CuckooFilter filter;
	CuckooStatus status = CUCKOO_NO_MEMORY;
	uint64_t	nrefused = 0;

	test_host_init(&host);
	while (status != CUCKOO_OK)
	{
		host.fail_at = host.nallocs + 1 + nrefused;
		status = cuckoo_build_array(&filter, &parameters, keys, nkeys,
									&host.host);
		if (status != CUCKOO_OK)
		{
			CHECK_STATUS(status, CUCKOO_NO_MEMORY);
			CHECK_EQUAL(host.nlive, 0);
			nrefused++;
		}
	}
	CHECK(nrefused >= 2);
	CHECK(filter.is_table);
	test_release(&filter, &host);
	test_host_finish(&host);
	free(keys);
}

static const TestCase cases[] = {
	{"build_out_of_memory", build_out_of_memory},
	{"parameters_out_of_range", parameters_out_of_range},
	{"list_to_table", list_to_table},
	{"random_operations", random_operations},
	{"random_operations_and_resize", random_operations_and_resize},
	{"random_operations_large", random_operations_large},
	{"out_of_memory", out_of_memory},
	{"build", build},
	{"build_with_copies", build_with_copies},
	{"build_refused", build_refused},
	{"build_with_crowded_superblock", build_with_crowded_superblock},
	{"determinism", determinism},
	{"batches_of_all_or_nothing", batches_of_all_or_nothing},
	{"batches_undone", batches_undone},
	{"copies", copies},
	{"resize_cases", resize_cases},
	{"resize_with_superblocks", resize_with_superblocks},
	{"resize_below_entries", resize_below_entries},
	{"full_as_foretold", full_as_foretold},
	{"one_too_many_for_a_table", one_too_many_for_a_table},
};

TEST_MAIN(cases)
