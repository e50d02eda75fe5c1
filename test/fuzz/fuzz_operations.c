/*-------------------------------------------------------------------------
 *
 * fuzz_operations.c
 *		A string of bytes is a program that three filters run.
 *
 * The first bytes declare the filters, all of them mergeable; then come
 * instructions of four bytes.  After each one the filter it changed must be
 * sound and hold exactly what a model says, and every value that was added
 * and not taken out must be in it.  An instruction that fails must have
 * changed nothing, given back all memory, and have a reason.  The program is
 * run twice, and must make the same bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"
#include "reference.h"

#define NFILTERS		3
#define HEADER_BYTES	8
#define MAX_STEPS		400
#define MAX_COUNT		(1 << 20)	/* of a value that was added: it saturates */
#define MAX_ADDS		4000	/* of a program: one that takes long finds
								 * less */

enum
{
	OP_ADD,						/* first value, times or how many at once */
	OP_ADD_RANGE,				/* first value, length / 8 */
	OP_ADD_HOT,					/* first value, length and times */
	OP_REMOVE,					/* value, times */
	OP_REMOVE_RANGE,			/* first value, length / 8 */
	OP_REMOVE_ABSENT,			/* first value, length */
	OP_RESIZE,					/* capacity, rate */
	OP_UNION,					/* way */
	OP_UNION_ALL,				/* way */
	OP_INTERSECTION,
	OP_OVERLAP,
	OP_COPY,
	OP_NEW,						/* declaration */
	OP_BUILD,					/* first value, length and times */
	OP_NO_MEMORY,				/* for the next one: which allocation fails */
	OP_CHECK
};

/*
 * A filter and what it must hold.
 *
 * held is exact: by hash in a list, by class in a table, at most max_copies
 * of each.  truth is what was added and not taken out, by hash: none of these
 * may be missing, whatever else coincides with them.
 */
typedef struct Side
{
	CuckooFilter filter;
	RefBag		held;
	RefBag		truth;

	/* the form that the keys of held are of */
	bool		is_table;
	int			P;
	int			max_copies;
} Side;

static const double rates[16] = {
	0.5, 0.015, 0.01, 0.01, 0.003, 0.001, 1e-4, 1.0 / 65536,
	1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 0.02, 0.05
};

static Side sides[NFILTERS];
static TestHost host;
static uint64_t base_capacity;
static uint32_t ncolumns;
static uint64_t nadds;
static uint64_t digest;

/*
 * hash_of
 *		The hash of a value, of 16 bits.
 *
 * A quarter of the values have ordinary hashes.  The others come in fours that
 * differ in the least variable bits only, or in pairs that are each other's
 * alternate if the prefix is short, or have one column and one perm: their
 * two buckets are those of many others.  Some are extreme.
 */
static uint64_t
hash_of(unsigned value)
{
	static const uint64_t extremes[4] = {
		0, UINT64_MAX, UINT64_C(0xFFFFFFFFFFFFFF00), 1
	};
	const uint64_t mixed = test_mix(value + 1);

	switch (value >> 14)
	{
		case 0:
			return value < 4 ? extremes[value] : mixed;
		case 1:
			return test_mix(value / 4 + 1) ^ (uint64_t) (value % 4) << 8;
		case 2:
			{
				const int	P = CUCKOO_MIN_PREFIX_BITS + (int) (value / 2 % 20);
				RefEntry	entry =
					ref_primary(test_mix(value / 2 + 1), (int) ncolumns, P);

				if (value % 2 == 1)
					entry = ref_alternate(entry, (int) ncolumns, P);
				return ref_hash_of(entry, (int) ncolumns, P, mixed);
			}
		default:
			return UINT64_C(0x1234550000000077) | (mixed >> 32) << 8;
	}
}

/*
 * The model
 */
static uint64_t
key_in(const CuckooFilter *filter, uint64_t hash)
{
	return !filter->is_table ? hash :
		ref_class(hash, (int) filter->geometry.ncolumns,
				  filter->geometry.prefix_bits);
}

static void
put(RefBag *bag, uint64_t key, int ncopies, int limit)
{
	ref_bag_set(bag, key, test_min(limit, ref_bag_count(bag, key) + ncopies));
}

/*
 * fold
 *		A bag by hash (P 0) or by class of P bits,
	as one by class of new_P bits,
 *		with at most limit copies of each; new_P 0 leaves the keys.
 */
static void
fold(const RefBag *bag, int k, int P, int new_P, int limit, RefBag *folded)
{
	memset(folded, 0, sizeof(*folded));
	for (size_t i = 0; i < bag->nslots; i++)
	{
		const uint64_t key = bag->keys[i];

		if (bag->counts[i] > 0)
			put(folded, new_P == 0 ? key : P == 0 ? ref_class(key, k, new_P) :
				ref_class_cut(key, k, P, new_P), bag->counts[i], limit);
	}
}

static int
held_P(const Side *side)
{
	return side->is_table ? side->P : 0;
}

static void
note_form(Side *side)
{
	side->is_table = side->filter.is_table;
	side->P = side->filter.geometry.prefix_bits;
	side->max_copies = side->filter.max_copies;
}

/*
 * follow
 *		Take the model where the filter has gone, if that is allowed.
 */
static void
follow(Side *side, bool is_resize)
{
	const CuckooFilter *const filter = &side->filter;
	const RefBag before = side->held;
	RefBag		old = before;

	if (side->is_table == filter->is_table &&
		side->P == filter->geometry.prefix_bits &&
		side->max_copies == filter->max_copies)
		return;

	CHECK(filter->is_table || !side->is_table);
	CHECK(side->P == filter->geometry.prefix_bits ||
		  (is_resize && (!side->is_table ||
						 side->P > filter->geometry.prefix_bits)));
	CHECK(filter->max_copies == side->max_copies ||
		  (filter->is_table && filter->max_copies >= 2 &&
		   filter->max_copies < side->max_copies));
	fold(&before, (int) filter->geometry.ncolumns, held_P(side),
		 filter->is_table ? filter->geometry.prefix_bits : 0,
		 filter->max_copies, &side->held);
	ref_bag_free(&old);
	note_form(side);
}

static void
check_value(const Side *side, uint64_t hash)
{
	const int	ncopies = ref_bag_count(&side->held,
										key_in(&side->filter, hash));

	CHECK_EQUAL(cuckoo_filter_count(&side->filter, hash), ncopies);
	CHECK_EQUAL(cuckoo_filter_contains(&side->filter, hash), ncopies > 0);
}

static void
check_side(Side *side)
{
	test_check_filter(&side->filter);
	CHECK_EQUAL(side->filter.nentries, side->held.total);
	digest = test_mix(digest ^ cuckoo_checksum(side->filter.image,
											   side->filter.image_bytes));
}

/* Every value known, and some that are not. */
static void
check_values(const Side *side)
{
	bool		results[64];
	uint64_t	hashes[64];

	for (size_t i = 0; i < side->truth.nslots; i++)
	{
		if (side->truth.counts[i] == 0)
			continue;
		check_value(side, side->truth.keys[i]);
		CHECK(cuckoo_filter_contains(&side->filter, side->truth.keys[i]));
	}
	for (unsigned i = 0; i < 64; i++)
		hashes[i] = hash_of(i * 1021);
	cuckoo_filter_contains_batch(&side->filter, hashes, 64, results);
	for (unsigned i = 0; i < 64; i++)
	{
		check_value(side, hashes[i]);
		CHECK_EQUAL(results[i], cuckoo_filter_contains(&side->filter,
													   hashes[i]));
	}
}

static void
side_free(Side *side)
{
	ref_bag_free(&side->held);
	ref_bag_free(&side->truth);
	test_release(&side->filter, &host);
}

/*
 * check_failure
 *		May an operation fail like this?
 */
static void
check_failure(CuckooStatus status, bool is_add)
{
	switch (status)
	{
		case CUCKOO_FULL:
		case CUCKOO_COLLIDING:
			break;
		case CUCKOO_NO_MEMORY:
			CHECK(host.fail_at != 0 && host.nallocs >= host.fail_at);
			break;
		default:
			CHECK(!is_add);
			CHECK(status == CUCKOO_TOO_COARSE || status == CUCKOO_BAD_RATE ||
				  status == CUCKOO_BAD_CAPACITY || status == CUCKOO_TOO_LARGE ||
				  status == CUCKOO_BELOW_ENTRIES ||
				  status == CUCKOO_COLUMNS_DIFFER);
			break;
	}
}

/*
 * The operations
 */
static void
declare(CuckooParameters *parameters, unsigned byte)
{
	parameters->rate = test_rate(rates[byte & 0xF]);
	parameters->max_copies = 1 + (int) (byte >> 4 & 3);
	parameters->capacity = base_capacity;
	/* a multiple of two, four or eight has as many columns if one of it does */
	for (uint64_t i = 0; i < 16; i++)
	{
		CuckooGeometry geometry;
		const uint64_t capacity = (base_capacity << (byte >> 6)) + i;

		if (cuckoo_geometry_choose(&geometry, capacity,
								   parameters->rate) == CUCKOO_OK &&
			geometry.ncolumns == ncolumns)
		{
			parameters->capacity = capacity;
			break;
		}
	}
	parameters->seed = 0;
}

/* A new filter in place of what was there, which may be nothing yet. */
static void
make_new(Side *side, unsigned byte)
{
	CuckooParameters parameters;
	CuckooFilter filter;
	CuckooStatus status;

	declare(&parameters, byte);
	status = cuckoo_filter_new(&filter, &parameters, &host.host);
	if (status != CUCKOO_OK)
	{
		check_failure(status, false);
		return;
	}
	side_free(side);
	side->filter = filter;
	note_form(side);
}

static CuckooStatus
add(Side *side, uint64_t hash)
{
	const CuckooFilter before = side->filter;
	const uint64_t nlive = host.nlive;
	const bool	check_bytes = (host.nallocs + nadds) % 16 == 0 ||
		before.image_bytes < 2048;
	TestSnapshot snapshot;
	CuckooStatus status;
	int			ncopies;

	nadds++;
	if (check_bytes)
		test_snapshot_take(&snapshot, &before);
	status = cuckoo_filter_add(&side->filter, hash, &host.host);
	if (status != CUCKOO_OK)
	{
		CHECK(test_same_header(&before, &side->filter));
		CHECK(before.image == side->filter.image);
		if (check_bytes)
			test_snapshot_check(&snapshot, &side->filter);
	}
	if (check_bytes)
		test_snapshot_free(&snapshot);
	CHECK_EQUAL(host.nlive, nlive);
	if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
	{
		check_failure(status, true);
		nadds += 100;			/* it has tried much */
		return status;
	}

	follow(side, false);
	ncopies = ref_bag_count(&side->held, key_in(&side->filter, hash));
	if (status == CUCKOO_SATURATED)
		CHECK_EQUAL(ncopies, side->filter.max_copies);
	put(&side->held, key_in(&side->filter, hash), 1, side->filter.max_copies);
	ref_bag_set(&side->truth, hash, ref_bag_count(&side->truth, hash) + 1);
	CHECK_EQUAL(side->filter.nentries, side->held.total);
	return status;
}

/*
 * add_at_once
 *		Add up to 16 values in place, all or none, with little room to note what
 *		would have to be undone.
 */
static void
add_at_once(Side *side, unsigned first, size_t nhashes, size_t nundos)
{
	uint64_t	hashes[16];
	CuckooUndo	undos[32];
	CuckooJournal journal = {undos, 0, nundos};
	TestSnapshot snapshot;
	CuckooStatus status;
	bool		changed;
	uint64_t	nentries = side->filter.nentries;

	for (size_t i = 0; i < nhashes; i++)
		hashes[i] = hash_of((first + (unsigned) i) & 0xFFFF);
	test_snapshot_take(&snapshot, &side->filter);
	status = cuckoo_filter_add_all(&side->filter, hashes, nhashes, &journal,
								   &changed);
	nadds += nhashes;
	if (status != CUCKOO_OK)
	{
		CHECK_STATUS(status, CUCKOO_NO_ROOM);
		test_snapshot_check(&snapshot, &side->filter);
	}
	else
	{
		CHECK_EQUAL(changed, side->filter.nentries > nentries);
		for (size_t i = 0; i < nhashes; i++)
		{
			put(&side->held, key_in(&side->filter, hashes[i]), 1,
				side->filter.max_copies);
			ref_bag_set(&side->truth, hashes[i],
						ref_bag_count(&side->truth, hashes[i]) + 1);
		}
		for (size_t i = 0; i < nhashes; i++)
			check_value(side, hashes[i]);
	}
	test_snapshot_free(&snapshot);
}

/* Returns false once an add has failed, or there have been enough. */
static bool
add_times(Side *side, unsigned value, int ntimes)
{
	const uint64_t hash = hash_of(value & 0xFFFF);
	CuckooStatus status = CUCKOO_OK;

	while (ntimes-- > 0 && status <= CUCKOO_SATURATED && nadds < MAX_ADDS)
		status = add(side, hash);
	check_value(side, hash);
	return status <= CUCKOO_SATURATED && nadds < MAX_ADDS;
}

/* Take one out that was added, or that is not in the filter. */
static void
take_out(Side *side, unsigned value)
{
	const uint64_t hash = hash_of(value & 0xFFFF);
	const uint64_t key = key_in(&side->filter, hash);
	const int	nheld = ref_bag_count(&side->held, key);
	const int	ntrue = ref_bag_count(&side->truth, hash);
	const CuckooFilter before = side->filter;
	CuckooStatus status;

	if (before.is_merged || before.max_copies == 1 || (nheld > 0 && ntrue == 0))
		return;
	CHECK(nheld > 0 || ntrue == 0);
	nadds++;
	status = cuckoo_filter_remove(&side->filter, hash);
	CHECK_STATUS(status, nheld == 0 ? CUCKOO_NOT_FOUND :
				 nheld == before.max_copies ? CUCKOO_SATURATED : CUCKOO_OK);
	if (status == CUCKOO_OK)
		ref_bag_set(&side->held, key, nheld - 1);
	else
		CHECK(test_same_header(&before, &side->filter));
	if (ntrue > 0)
		ref_bag_set(&side->truth, hash, ntrue - 1);
	check_value(side, hash);
}

static void
resize(Side *side, unsigned byte_1, unsigned byte_2, unsigned byte_3)
{
	const uint64_t capacity = byte_1 < 32 ? 0 :
		byte_1 < 64 ? side->filter.nentries + byte_2 :
		byte_1 < 80 ? UINT64_C(1) << byte_2 % 64 :
		1 + (byte_2 << (byte_1 & 7));
	const uint64_t rate = byte_3 < 64 ? 0 : test_rate(rates[byte_3 & 0xF]);
	const uint64_t nlive = host.nlive;
	CuckooFilter resized;
	CuckooStatus status;
	TestSnapshot snapshot;

	test_snapshot_take(&snapshot, &side->filter);
	status = cuckoo_filter_resize(&side->filter, &resized, capacity, rate,
								  &host.host);
	test_snapshot_check(&snapshot, &side->filter);
	test_snapshot_free(&snapshot);
	if (status != CUCKOO_OK)
	{
		check_failure(status, false);
		CHECK_EQUAL(host.nlive, nlive);
		return;
	}
	CHECK_EQUAL(resized.capacity,
				capacity != 0 ? capacity : side->filter.capacity);
	test_release(&side->filter, &host);
	side->filter = resized;
	follow(side, true);
}

/* What both hold, by hash if both are lists, else by class of P bits. */
static void
common_bags(const Side *a, const Side *b, int P, RefBag *x, RefBag *y)
{
	const int	k = (int) a->filter.geometry.ncolumns;

	fold(&a->held, k, held_P(a), P, a->max_copies, x);
	fold(&b->held, k, held_P(b), P, b->max_copies, y);
}

/* All keys of x: the larger, smaller or summed counts of both. */
static void
combine(const RefBag *x, const RefBag *y, int op, RefBag *result)
{
	for (size_t i = 0; i < x->nslots; i++)
	{
		const int	nx = x->counts[i];
		const int	ny = nx == 0 ? 0 : ref_bag_count(y, x->keys[i]);

		if (nx > 0)
			ref_bag_set(result, x->keys[i], op == OP_UNION ? test_max(nx, ny) :
						op == OP_UNION_ALL ? test_min(nx + ny, MAX_COUNT) :
						test_min(nx, ny));
	}
}

static bool
have_common(const RefBag *x, const RefBag *y)
{
	for (size_t i = 0; i < x->nslots; i++)
	{
		if (x->counts[i] > 0 && ref_bag_count(y, x->keys[i]) > 0)
			return true;
	}
	return false;
}

/*
 * become
 *		Give a side the result of a merge and what that must hold: a bag by hash
 *		(P 0) or by class of P bits.
 */
static void
become(Side *side, const CuckooFilter *result, const RefBag *expected, int P,
	   const RefBag *truth)
{
	const CuckooFilter old = side->filter;

	side_free(side);
	side->filter = *result;
	CHECK(result->is_table || P == 0);
	CHECK(!result->is_table || P == 0 || P == result->geometry.prefix_bits);
	CHECK_EQUAL(result->geometry.ncolumns, old.geometry.ncolumns);
	fold(expected, (int) result->geometry.ncolumns, P,
		 result->is_table ? result->geometry.prefix_bits : 0,
		 result->max_copies, &side->held);
	side->truth = *truth;
	note_form(side);
}

/*
 * unite
 *		The union of two sides in one of three ways.
 */
static void
unite(Side *a, const Side *b, int op, unsigned way)
{
	const bool	by_class = a->is_table || b->is_table;
	const int	P = by_class ? test_min(a->P, b->P) : 0;
	const uint64_t nlive = host.nlive;
	const bool	was_merged = a->filter.is_merged || b->filter.is_merged;
	TestSnapshot snapshot;
	CuckooFilter result;
	CuckooStatus status;
	RefBag		expected = {0};
	RefBag		truth = {0};
	RefBag		x;
	RefBag		y;

	if (cuckoo_filter_copy(&a->filter, &result, &host.host) != CUCKOO_OK)
		return;
	test_snapshot_take(&snapshot, &b->filter);
	if (way % 3 > 0 && cuckoo_merge_by_keys(&a->filter, &b->filter))
		status = test_unite_by_keys(&result, &b->filter, op == OP_UNION_ALL,
									way % 3 == 2, &host);
	else
		status = cuckoo_merge_into(&result, &b->filter, op == OP_UNION_ALL,
								   &host.host);
	test_snapshot_check(&snapshot, &b->filter);
	test_snapshot_free(&snapshot);
	if (status != CUCKOO_OK)
	{
		check_failure(status, false);
		test_check_filter(&result);
		test_release(&result, &host);
		CHECK_EQUAL(host.nlive, nlive);
		return;
	}

	common_bags(a, b, P, &x, &y);
	CHECK_EQUAL(result.is_merged, was_merged ||
				(op == OP_UNION && have_common(&x, &y)));
	CHECK_EQUAL(result.capacity, a->filter.capacity > b->filter.capacity ?
				a->filter.capacity : b->filter.capacity);
	CHECK(result.max_copies <= test_min(a->max_copies, b->max_copies));
	combine(&x, &y, op, &expected);
	combine(&y, &x, op, &expected);
	combine(&a->truth, &b->truth, op, &truth);
	combine(&b->truth, &a->truth, op, &truth);
	if (!by_class)
	{
		/* decided by hash, and cut, before they can become a table */
		const RefBag uncut = expected;
		RefBag		old = expected;

		fold(&uncut, 0, 0, 0, test_min(a->max_copies, b->max_copies),
			 &expected);
		ref_bag_free(&old);
	}
	become(a, &result, &expected, P, &truth);
	ref_bag_free(&expected);
	ref_bag_free(&x);
	ref_bag_free(&y);
	CHECK_EQUAL(host.nlive, nlive);
}

static void
intersect(Side *a, const Side *b)
{
	const Side *const list = !a->is_table ? a : b;
	const Side *const other = !a->is_table ? b : a;
	const int	P = list->is_table ? test_min(a->P, b->P) : 0;
	const int	limit = test_min(a->max_copies, b->max_copies);
	const uint64_t nlive = host.nlive;
	CuckooFilter result;
	RefBag		expected = {0};
	RefBag		truth = {0};
	CuckooStatus status;

	status = cuckoo_merge_intersection(&a->filter, &b->filter, &result,
									   &host.host);
	if (status != CUCKOO_OK)
	{
		check_failure(status, false);
		CHECK_EQUAL(host.nlive, nlive);
		return;
	}

	if (list->is_table)
	{
		RefBag		x;
		RefBag		y;

		common_bags(a, b, P, &x, &y);
		combine(&x, &y, OP_INTERSECTION, &expected);
		ref_bag_free(&x);
		ref_bag_free(&y);
	}
	else
	{
		/* a list has its hashes, of which any filter knows */
		for (size_t i = 0; i < list->held.nslots; i++)
		{
			const uint64_t hash = list->held.keys[i];

			if (list->held.counts[i] > 0)
				put(&expected, hash,
					test_min(list->held.counts[i],
							 ref_bag_count(&other->held,
										   key_in(&other->filter, hash))),
					limit);
		}
	}
	combine(&a->truth, &b->truth, OP_INTERSECTION, &truth);
	become(a, &result, &expected, P, &truth);
	ref_bag_free(&expected);
	CHECK_EQUAL(host.nlive, nlive);
}

static void
overlap(const Side *a, const Side *b)
{
	const uint64_t nlive = host.nlive;
	double		nvalues;
	CuckooStatus status;

	status = cuckoo_merge_overlap(&a->filter, &b->filter, &nvalues, &host.host);
	CHECK_EQUAL(host.nlive, nlive);
	if (status != CUCKOO_OK)
	{
		check_failure(status, false);
		return;
	}
	CHECK(nvalues >= 0.0 && nvalues <= (double) a->held.nkeys &&
		  nvalues <= (double) b->held.nkeys);
	if (!a->is_table && !b->is_table)
	{
		uint64_t	ncommon = 0;

		for (size_t i = 0; i < a->held.nslots; i++)
			ncommon += a->held.counts[i] > 0 &&
				ref_bag_count(&b->held, a->held.keys[i]) > 0;
		CHECK_EQUAL((uint64_t) nvalues, ncommon);
	}
}

static void
copy_bag(const RefBag *bag, RefBag *copy)
{
	fold(bag, 0, 0, 0, MAX_COUNT, copy);
}

static void
copy_side(Side *a, const Side *b)
{
	CuckooFilter copy;

	if (cuckoo_filter_copy(&b->filter, &copy, &host.host) != CUCKOO_OK)
		return;
	side_free(a);
	a->filter = copy;
	copy_bag(&b->held, &a->held);
	copy_bag(&b->truth, &a->truth);
	note_form(a);
}

/*
 * build
 *		A filter built at once of a range of values.
 */
static void
build(Side *side, unsigned first, unsigned nvalues, int ntimes, unsigned byte)
{
	const uint64_t nlive = host.nlive;
	size_t		nkeys = (size_t) nvalues * (size_t) ntimes;
	uint64_t   *const keys = malloc((nkeys + 1) * sizeof(keys[0]));
	CuckooParameters parameters;
	CuckooFilter filter;
	CuckooStatus status;

	CHECK(keys != NULL);
	declare(&parameters, byte);
	for (size_t i = 0; i < nkeys; i++)
		keys[i] = cuckoo_order_hash(hash_of((first + (unsigned) i % nvalues) &
											0xFFFF));
	test_sort_keys(keys, nkeys);
	nkeys = test_limit_equal(keys, nkeys, parameters.max_copies);
	status = cuckoo_build_array(&filter, &parameters, keys, nkeys, &host.host);
	nadds += nkeys;
	if (status == CUCKOO_OK)
	{
		side_free(side);
		side->filter = filter;
		note_form(side);
		for (size_t i = 0; i < nkeys; i++)
		{
			const uint64_t hash = cuckoo_order_hash_back(keys[i]);

			put(&side->held, key_in(&filter, hash), 1, filter.max_copies);
			ref_bag_set(&side->truth, hash,
						ref_bag_count(&side->truth, hash) + 1);
		}
	}
	else
		check_failure(status, true);
	free(keys);
	CHECK_EQUAL(host.nlive, nlive);
}

/*
 * step
 *		One instruction.
 */
static void
step(const uint8_t *code)
{
	const int	op = code[0] & 0xF;
	Side	   *const a = &sides[(code[0] >> 4 & 3) % NFILTERS];
	const Side *const b = &sides[(code[0] >> 6) % NFILTERS];
	const unsigned value = code[1] | (unsigned) code[2] << 8;
	const unsigned length = code[3];

	if (op == OP_NO_MEMORY)
	{
		host.fail_at = host.nallocs + 1 + code[1] % 8;
		return;
	}

	switch (op)
	{
		case OP_ADD:
			if ((length & 8) == 0)
				add_times(a, value, 1 + (int) (length & 7));
			else
				add_at_once(a, value, 1 + (length >> 4), 4 * (length & 7));
			break;
		case OP_ADD_RANGE:
			for (unsigned i = 0; i <= 8 * length &&
				 add_times(a, value + i, 1); i++)
				;
			break;
		case OP_ADD_HOT:
			for (unsigned i = 0; i <= length >> 2 &&
				 add_times(a, value + i, 2 + (int) (length & 3)); i++)
				;
			break;
		case OP_REMOVE:
			for (unsigned i = 0; i <= (length & 7); i++)
				take_out(a, value);
			break;
		case OP_REMOVE_RANGE:
			for (unsigned i = 0; i <= 8 * length && nadds < MAX_ADDS; i++)
				take_out(a, value + i);
			break;
		case OP_REMOVE_ABSENT:
			for (unsigned i = 0; i <= length; i++)
			{
				if (!cuckoo_filter_contains(&a->filter,
											hash_of((value + i) & 0xFFFF)))
					take_out(a, value + i);
			}
			break;
		case OP_RESIZE:
			resize(a, code[1], code[2], code[3]);
			break;
		case OP_UNION:
		case OP_UNION_ALL:
			unite(a, b, op, code[1]);
			break;
		case OP_INTERSECTION:
			intersect(a, b);
			break;
		case OP_OVERLAP:
			overlap(a, b);
			break;
		case OP_COPY:
			if (a != b)
				copy_side(a, b);
			break;
		case OP_NEW:
			make_new(a, code[1]);
			break;
		case OP_BUILD:
			build(a, value, 1 + (length >> 2) * 8, 1 + (int) (length & 3),
				  code[2]);
			break;
		default:
			check_values(a);
			break;
	}
	host.fail_at = 0;
	check_side(a);
	if (op >= OP_RESIZE)
		check_values(a);
}

/*
 * run
 *		The whole program; returns a digest of all bytes it has made.
 */
static uint64_t
run(const uint8_t *data, size_t bytes, uint64_t first_alloc)
{
	CuckooGeometry geometry;

	memset(sides, 0, sizeof(sides));
	test_host_init(&host);
	/* what memory holds before it is written to depends on this */
	host.nallocs = first_alloc;
	nadds = 0;
	digest = 0;

	base_capacity = 1 + (data[0] | (uint64_t) data[1] << 8) % 3000;
	CHECK_STATUS(cuckoo_geometry_choose(&geometry, base_capacity,
										test_rate(0.01)), CUCKOO_OK);
	ncolumns = geometry.ncolumns;
	for (int i = 0; i < NFILTERS; i++)
	{
		CuckooParameters parameters;

		declare(&parameters, data[2 + i]);
		CHECK_STATUS(cuckoo_filter_new(&sides[i].filter, &parameters,
									   &host.host),
					 CUCKOO_OK);
		note_form(&sides[i]);
	}

	for (size_t i = 0; i < MAX_STEPS && nadds < MAX_ADDS &&
		 HEADER_BYTES + 4 * (i + 1) <= bytes; i++)
	{
		WHERE("step %" PRIu64 ", instruction %" PRIx64 " %" PRIx64, i,
			  data[HEADER_BYTES + 4 * i], data[HEADER_BYTES + 4 * i + 3], 0);
		step(data + HEADER_BYTES + 4 * i);
	}

	for (int i = 0; i < NFILTERS; i++)
	{
		check_side(&sides[i]);
		check_values(&sides[i]);
		side_free(&sides[i]);
	}
	test_host_finish(&host);
	return digest;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint64_t	first;

	if (bytes < HEADER_BYTES)
		return 0;
	first = run(data, bytes, 0);
	CHECK_EQUAL(run(data, bytes, 1000003), first);
	return 0;
}
