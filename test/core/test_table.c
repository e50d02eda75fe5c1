/*-------------------------------------------------------------------------
 *
 * test_table.c
 *		One table of given size: add, remove, count, split, cut, drop, check.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/*
 * read_table
 *		What a table holds, by class, read bit by bit.
 */
static void
read_table(const CuckooFilter *filter, RefBag *bag)
{
	const int	k = (int) filter->geometry.ncolumns;
	const int	q = filter->geometry.index_bits;
	const int	P = filter->geometry.prefix_bits;

	for (uint64_t bucket = 0; bucket < (uint64_t) k << q; bucket++)
	{
		uint64_t	fps[4];

		ref_read_bucket(filter->image + CUCKOO_HEADER_BYTES, bucket, P - q,
						fps);
		for (int i = 0; i < 4; i++)
		{
			RefEntry	entry;
			uint64_t	index;
			uint64_t	class;

			if (fps[i] == 0)
				continue;
			if (q <= 8)
			{
				entry.a = bucket >> q;
				index = bucket - (entry.a << q);
			}
			else
			{
				const uint64_t group = bucket / 256;

				entry.a = group % (uint64_t) k;
				index = bucket % 256 << (q - 8) | group / (uint64_t) k;
			}
			entry.perm = fps[i] % 256;
			entry.v = (index << (P - q) | fps[i]) >> 8 << (48 - P);
			class = ref_class_of_entry(entry, k, P);
			ref_bag_set(bag, class, ref_bag_count(bag, class) + 1);
		}
	}
}

/* Is what a table holds exactly the multiset of classes, and is it sound? */
static void
check_table(CuckooFilter *filter, const RefBag *bag)
{
	RefBag		held = {0};

	CHECK_EQUAL(filter->nentries, bag->total);
	read_table(filter, &held);
	CHECK(ref_bag_equal(&held, bag));
	ref_bag_free(&held);
	test_check_filter(filter);
}

static CuckooAddress
address_of(const CuckooFilter *filter, uint64_t hash)
{
	return cuckoo_hash_address(hash, filter->geometry.ncolumns,
							   filter->geometry.prefix_bits);
}

static uint64_t
class_of(const CuckooFilter *filter, uint64_t hash)
{
	return ref_class(hash, (int) filter->geometry.ncolumns,
					 filter->geometry.prefix_bits);
}

/*
 * twin_of
 *		Another hash of the same class, from either of its two addresses.
 */
static uint64_t
twin_of(const CuckooFilter *filter, uint64_t hash)
{
	const int	k = (int) filter->geometry.ncolumns;
	const int	P = filter->geometry.prefix_bits;
	RefEntry	entry = ref_primary(hash, k, P);

	if (test_random_below(2) == 0)
		entry = ref_alternate(entry, k, P);
	return ref_hash_of(entry, k, P, test_random());
}

/*
 * add
 *		Add a hash to a table and to the multiset.
 *
 * Returns false if there was no room, and checks that nothing changed then.
 */
static bool
add(CuckooFilter *filter, RefBag *bag, uint64_t hash)
{
	const uint64_t class = class_of(filter, hash);
	const int	ncopies = ref_bag_count(bag, class);
	const CuckooFilter before = *filter;
	const CuckooStatus status =
		cuckoo_table_add(filter, address_of(filter, hash));

	if (ncopies >= filter->max_copies)
		CHECK_STATUS(status, CUCKOO_SATURATED);
	else if (status == CUCKOO_OK)
		ref_bag_set(bag, class, ncopies + 1);
	else
		CHECK_STATUS(status, CUCKOO_NO_ROOM);
	if (status != CUCKOO_OK)
		CHECK(test_same_header(&before, filter));
	return status != CUCKOO_NO_ROOM;
}

/*
 * operate
 *		Random adds, duplicates, twins and removals on one table.
 *
 * load is how full it is kept, in 1/16 of its slots.
 */
static void
operate(CuckooFilter *filter, RefBag *bag, int nsteps, uint64_t load)
{
	const uint64_t nslots = cuckoo_header_nslots(filter);
	const uint64_t npool = nslots + 8;
	uint64_t   *const pool = malloc(npool * sizeof(pool[0]));

	CHECK(pool != NULL);
	for (uint64_t i = 0; i < npool; i++)
		pool[i] = i > 0 && test_random_below(8) == 0 ?
			twin_of(filter, pool[i - 1]) : test_random();

	for (int step = 0; step < nsteps; step++)
	{
		const uint64_t hash = pool[test_random_below(npool)];
		const uint64_t class = class_of(filter, hash);
		const int	ncopies = ref_bag_count(bag, class);

		WHERE("k %" PRIu64 ", q %" PRIu64 ", P %" PRIu64 ", step %" PRIu64,
			  filter->geometry.ncolumns, filter->geometry.index_bits,
			  filter->geometry.prefix_bits, step);
		CHECK_EQUAL(cuckoo_table_count(filter, address_of(filter, hash)),
					ncopies);
		CHECK_EQUAL(cuckoo_table_contains(filter, hash), ncopies > 0);

		if (filter->nentries * 16 < nslots * load && test_random_below(3) > 0)
			add(filter, bag, hash);
		else
		{
			CHECK_STATUS(cuckoo_table_remove(filter, address_of(filter, hash)),
						 ncopies == 0 ? CUCKOO_NOT_FOUND :
						 ncopies >= filter->max_copies ? CUCKOO_SATURATED :
						 CUCKOO_OK);
			if (ncopies > 0 && ncopies < filter->max_copies)
				ref_bag_set(bag, class, ncopies - 1);
		}
	}
	free(pool);
}

/* Every number of columns, and every fingerprint width. */
static void
every_shape(void)
{
	const int	nper = (int) test_amount(1, 1, 10);

	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS; k++)
	{
		for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_PREFIX_BITS; f++)
		{
			for (int i = 0; i < nper; i++)
			{
				int			q = (int) test_random_below(4);
				CuckooFilter filter;
				RefBag		bag = {0};
				TestHost	host;

				if (f + q > CUCKOO_MAX_PREFIX_BITS)
					q = CUCKOO_MAX_PREFIX_BITS - f;
				if (f + q < CUCKOO_MIN_PREFIX_BITS)
					q = CUCKOO_MIN_PREFIX_BITS - f;
				test_host_init(&host);
				test_new_table(&filter, &host, k, q, f + q,
							   1 + (int) test_random_below(4));
				operate(&filter, &bag, 300, 16);
				check_table(&filter, &bag);
				ref_bag_free(&bag);
				test_release(&filter, &host);
				test_host_finish(&host);
			}
		}
	}
}

/* Larger tables, across the border at which superblocks begin. */
static void
superblocks(void)
{
	for (int q = 5; q <= 11; q++)
	{
		for (int f = CUCKOO_MIN_FP_BITS; f <= 20; f += q % 2 == 0 ? 4 : 5)
		{
			CuckooFilter filter;
			RefBag		bag = {0};
			TestHost	host;

			test_host_init(&host);
			test_new_table(&filter, &host, 8 + (uint32_t) test_random_below(6),
						   q, f + q, 1 + (q + f) % 4);
			operate(&filter, &bag, (int) test_amount(500, 5000, 50000), 16);
			check_table(&filter, &bag);
			ref_bag_free(&bag);
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

/*
 * Adding until nothing fits: what was added stays, the load factor reached is
 * that of cuckoo tables with four slots, a failed add changes nothing.
 */
static void
fill_to_the_brim(void)
{
	const int	nper = (int) test_amount(1, 4, 40);

	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS; k += 7)
	{
		for (int q = 0; q <= 6; q++)
		{
			for (int i = 0; i < nper; i++)
			{
				CuckooFilter filter;
				RefBag		bag = {0};
				TestHost	host;
				TestSnapshot snapshot;
				uint64_t	nslots;
				int			nfailures = 0;

				test_host_init(&host);
				test_new_table(&filter, &host, k, q, 20 + q, 1 + i % 2);
				nslots = cuckoo_header_nslots(&filter);
				while (nfailures < 3)
				{
					const uint64_t hash = test_random();

					WHERE("k %" PRIu64 ", q %" PRIu64 ", entries %" PRIu64, k,
						  q, filter.nentries, 0);
					if (filter.nentries * 100 > nslots * 85)
					{
						test_snapshot_take(&snapshot, &filter);
						if (!add(&filter, &bag, hash))
						{
							nfailures++;
							test_snapshot_check(&snapshot, &filter);
							/* docs/design.md, Sizing: 0.91 and up */
							if (nslots >= 256)
								CHECK(filter.nentries * 100 >= nslots * 90);
						}
						test_snapshot_free(&snapshot);
						if (filter.nentries == nslots)
							break;
					}
					else
						add(&filter, &bag, hash);
				}
				check_table(&filter, &bag);
				if (nslots >= 256 && filter.nentries * 100 > nslots * 93)
					CHECK(filter.nkicks > 0 && filter.longest_path > 0);
				CHECK(filter.nkicks >= (uint64_t) filter.longest_path);
				ref_bag_free(&bag);
				test_release(&filter, &host);
				test_host_finish(&host);
			}
		}
	}
}

/* Eight and more values of one pair of buckets: the ninth finds no room. */
static void
no_room_for_colliding(void)
{
	CuckooFilter filter;
	RefBag		bag = {0};
	TestHost	host;

	test_host_init(&host);
	test_new_table(&filter, &host, 100, 6, 40, 4);
	for (uint64_t i = 0; i < 20; i++)
	{
		const RefEntry entry = {
			17, UINT64_C(0xABCDE00000) | i << 8, 0x5B
		};
		TestSnapshot snapshot;
		const bool	has_room = i < 8;

		test_snapshot_take(&snapshot, &filter);
		CHECK_EQUAL(add(&filter, &bag, ref_hash_of(entry, 100, 40, 0)),
					has_room);
		if (!has_room)
			test_snapshot_check(&snapshot, &filter);
		test_snapshot_free(&snapshot);
	}
	check_table(&filter, &bag);
	ref_bag_free(&bag);
	test_release(&filter, &host);
	test_host_finish(&host);
}

static void
double_or_cut(CuckooFilter *filter, TestHost *host, bool is_cut, int nbits)
{
	CuckooFilter other = *filter;

	if (is_cut)
		other.geometry.prefix_bits -= nbits;
	else
		other.geometry.index_bits++;
	cuckoo_bucket_packing(&other.packing,
						  cuckoo_geometry_fp_bits(&other.geometry));
	other.image_bytes = (size_t) cuckoo_header_image_bytes(&other);
	other.image_room = other.image_bytes;
	other.image = host->host.alloc(host, other.image_bytes);
	CHECK(other.image != NULL);
	if (is_cut)
		cuckoo_table_truncate(filter, &other, &host->host);
	else
		cuckoo_table_double(filter, &other, &host->host);
	test_release(filter, host);
	*filter = other;
}

/* Splitting loses and adds nothing, from one bucket per column to no bits. */
static void
doubling(void)
{
	const int	nrounds = (int) test_amount(2, 10, 100);

	for (int round = 0; round < nrounds; round++)
	{
		const int	P = 18 + (int) test_random_below(4);
		CuckooFilter filter;
		RefBag		bag = {0};
		TestHost	host;

		test_host_init(&host);
		test_new_table(&filter, &host, 8 + (uint32_t) test_random_below(8), 0,
					   P,
					   1 + round % 4);
		while (cuckoo_geometry_fp_bits(&filter.geometry) > CUCKOO_MIN_FP_BITS)
		{
			const uint64_t nkicks = filter.nkicks;

			operate(&filter, &bag, 150, 15);
			CHECK(filter.nkicks >= nkicks);
			double_or_cut(&filter, &host, false, 0);
			WHERE("q %" PRIu64 ", P %" PRIu64, filter.geometry.index_bits, P, 0,
				  0);
			check_table(&filter, &bag);
		}
		CHECK(host.npolls > 0);
		ref_bag_free(&bag);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* Cutting makes classes one, and their copies, up to max_copies. */
static void
cutting(void)
{
	const int	nrounds = (int) test_amount(20, 200, 2000);

	for (int round = 0; round < nrounds; round++)
	{
		const int	q = (int) test_random_below(4);
		const int	P = q + 9 + (int) test_random_below((uint64_t) (40 - q));
		const int	new_P = (q == 0 ? 9 : q + 8) +
			(int) test_random_below((uint64_t) (P - q - 8));
		const uint32_t k = 8 + (uint32_t) test_random_below(120);
		CuckooFilter filter;
		RefBag		bag = {0};
		RefBag		cut = {0};
		TestHost	host;

		if (new_P >= P)
			continue;
		test_host_init(&host);
		test_new_table(&filter, &host, k, q, P, 1 + round % 4);
		operate(&filter, &bag, 4000, 15);
		for (size_t i = 0; i < bag.nslots; i++)
		{
			const uint64_t class =
				ref_class_cut(bag.keys[i], (int) k, P, new_P);
			int			ncopies = ref_bag_count(&cut, class) + bag.counts[i];

			if (bag.counts[i] == 0)
				continue;
			if (ncopies > filter.max_copies)
				ncopies = filter.max_copies;
			ref_bag_set(&cut, class, ncopies);
		}
		WHERE("k %" PRIu64 ", q %" PRIu64 ", P %" PRIu64 " to %" PRIu64, k, q,
			  P,
			  new_P);
		double_or_cut(&filter, &host, true, P - new_P);
		check_table(&filter, &cut);
		ref_bag_free(&bag);
		ref_bag_free(&cut);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* Copies above a number are counted, and dropped, wherever they stand. */
static void
dropping_copies(void)
{
	const int	nrounds = (int) test_amount(30, 300, 3000);

	for (int round = 0; round < nrounds; round++)
	{
		const int	q = (int) test_random_below(5);
		const int	P = q + 8 + (int) (q == 0) + (int) test_random_below(8);
		const uint32_t k = 8 + (uint32_t) test_random_below(30);
		CuckooFilter filter;
		RefBag		bag = {0};
		TestHost	host;

		test_host_init(&host);
		test_new_table(&filter, &host, k, q, P, 4);
		operate(&filter, &bag, 2000, 8);
		for (int ncopies = 0; ncopies <= 4; ncopies++)
		{
			uint64_t	nabove = 0;

			for (size_t i = 0; i < bag.nslots; i++)
			{
				if (bag.counts[i] > ncopies)
					nabove += (uint64_t) (bag.counts[i] - ncopies);
			}
			CHECK_EQUAL(cuckoo_table_copies_above(&filter, ncopies, &host.host),
						nabove);
		}
		for (int ncopies = 3; ncopies >= 1; ncopies--)
		{
			filter.max_copies = ncopies;
			if (ncopies == 1)
				filter.declared_copies = 1;
			cuckoo_table_drop_copies(&filter, &host.host);
			for (size_t i = 0; i < bag.nslots; i++)
			{
				if (bag.counts[i] > ncopies)
					ref_bag_set(&bag, bag.keys[i], ncopies);
			}
			check_table(&filter, &bag);
		}
		ref_bag_free(&bag);
		test_release(&filter, &host);
		test_host_finish(&host);
	}
}

/* Many probes at once, half of them for what is there. */
static void
batches(void)
{
	enum
	{
	NMEMBERS = 40};
	CuckooFilter filter;
	RefBag		bag = {0};
	TestHost	host;
	uint64_t	members[NMEMBERS];
	uint64_t	hashes[200];
	bool		results[201];

	test_host_init(&host);
	for (int f = CUCKOO_MIN_FP_BITS; f <= 24; f++)
	{
		test_new_table(&filter, &host, 31, 3, f + 3, 4);
		operate(&filter, &bag, 2000, 8);
		for (int i = 0; i < NMEMBERS; i++)
		{
			members[i] = test_random();
			CHECK(add(&filter, &bag, members[i]));
		}
		for (size_t n = 0; n <= 200; n++)
		{
			for (size_t i = 0; i < n; i++)
				hashes[i] = test_random_below(2) == 0 ? test_random() :
					twin_of(&filter, members[test_random_below(NMEMBERS)]);
			memset(results, 2, sizeof(results));
			cuckoo_table_contains_batch(&filter, hashes, n, results);
			for (size_t i = 0; i < n; i++)
			{
				CHECK_EQUAL(results[i], cuckoo_table_contains(&filter,
															  hashes[i]));
				CHECK_EQUAL(results[i],
							ref_bag_count(&bag, class_of(&filter,
														 hashes[i])) > 0);
			}
			CHECK_EQUAL(((uint8_t *) results)[n], 2);
			if (n > 70)
				n += 13;
		}
		ref_bag_free(&bag);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

/* Whatever single thing is wrong with a table is found. */
static void
check_finds(void)
{
	CuckooFilter filter;
	RefBag		bag = {0};
	TestHost	host;
	uint64_t	position = 0;
	uint8_t    *table;
	uint64_t	table_bits;

	test_host_init(&host);
	/* 9 columns of 4 (9 - 1) bits: the last byte is half used */
	test_new_table(&filter, &host, 9, 0, 10, 2);
	table = filter.image + CUCKOO_HEADER_BYTES;
	table_bits = 9 * 36;
	for (int i = 0; i < 12; i++)
		add(&filter, &bag, test_random());
	CHECK_STATUS(cuckoo_table_check(&filter, &host.host, &position), CUCKOO_OK);

	filter.nentries++;
	CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
				 CUCKOO_BAD_COUNT);
	filter.nentries -= 2;
	CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
				 CUCKOO_BAD_COUNT);
	filter.nentries++;

	for (uint64_t bit = table_bits; bit < 8 * ((table_bits + 7) / 8 + 7); bit++)
	{
		WHERE("bit %" PRIu64, bit, 0, 0, 0);
		ref_set_bits(table, bit, 1, 1);
		CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
					 CUCKOO_BAD_TAIL);
		CHECK_EQUAL(position, 9);
		ref_set_bits(table, bit, 1, 0);
	}

	for (uint64_t bucket = 0; bucket < 9; bucket++)
	{
		uint8_t		saved[CUCKOO_HEADER_BYTES + 9 * 5 + 8];

		WHERE("bucket %" PRIu64, bucket, 0, 0, 0);
		memcpy(saved, filter.image, filter.image_bytes);
		/* a code beyond the last */
		ref_set_bits(table, bucket * 36, 12, 3876);
		CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
					 CUCKOO_BAD_BUCKET);
		CHECK_EQUAL(position, bucket);
		/* four equal nibbles, so the remainders must ascend */
		ref_set_bits(table, bucket * 36, 12, 3875);
		for (int i = 0; i < 4; i++)
			ref_set_bits(table, bucket * 36 + 12 + (uint64_t) (6 * i), 6,
						 (uint64_t) (8 - i));
		CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
					 CUCKOO_BAD_BUCKET);
		CHECK_EQUAL(position, bucket);
		/* nibble 0, remainder 16 or 32: the low 8 bits are zero, it is not */
		ref_set_bits(table, bucket * 36, 36, 0);
		ref_set_bits(table, bucket * 36 + 12 + 18, 6, 16);
		CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
					 CUCKOO_BAD_BUCKET);
		ref_set_bits(table, bucket * 36 + 12 + 18, 6, 32);
		CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
					 CUCKOO_BAD_BUCKET);
		CHECK_EQUAL(position, bucket);
		memcpy(filter.image, saved, filter.image_bytes);
	}
	CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position), CUCKOO_OK);
	ref_bag_free(&bag);
	test_release(&filter, &host);

	/* a copy too many: in one bucket, in both, in one that is its own other */
	for (int round = 0; round < 2000; round++)
	{
		const int	q = round % 3;
		const int	max_copies = 1 + round / 3 % 4;

		test_new_table(&filter, &host, 8 + (uint32_t) (round % 7), q, q + 11,
					   4);
		operate(&filter, &bag, 60, 8);
		{
			bool		is_above = false;

			for (size_t i = 0; i < bag.nslots; i++)
				is_above |= bag.counts[i] > max_copies;
			filter.max_copies = max_copies;
			CHECK_STATUS(cuckoo_table_check(&filter, NULL, &position),
						 is_above ? CUCKOO_BAD_COPIES : CUCKOO_OK);
		}
		ref_bag_free(&bag);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
}

static const TestCase cases[] = {
	{"every_shape", every_shape},
	{"superblocks", superblocks},
	{"fill_to_the_brim", fill_to_the_brim},
	{"no_room_for_colliding", no_room_for_colliding},
	{"doubling", doubling},
	{"cutting", cutting},
	{"dropping_copies", dropping_copies},
	{"batches", batches},
	{"check_finds", check_finds},
};

TEST_MAIN(cases)
