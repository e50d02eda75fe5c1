/*-------------------------------------------------------------------------
 *
 * test_block.c
 *		Filters built at once against section 11 of docs/format.md, done once
 *		more: written to be read, not to be fast.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "reference.h"
#include "core/cuckoo_build.h"

#define MAX_NODES		2048

/* A table as the reference fills it. */
typedef struct RefTable
{
	int			k;
	int			q;
	int			P;
	int			max_copies;
	uint64_t	nbuckets;
	uint64_t	(*fps)[4];		/* in order, free slots first */
	uint64_t	nentries;
	uint64_t	nkicks;
	uint64_t	longest_path;
} RefTable;

/* A bucket and the fingerprint there. */
typedef struct RefPlace
{
	uint64_t	bucket;
	uint64_t	fp;
} RefPlace;

static RefPlace
place_of(const RefTable *table, RefEntry entry)
{
	const RefPlace place = {
		ref_bucket(entry, table->k, table->q, table->P),
		ref_fingerprint(entry, table->q, table->P)
	};

	return place;
}

/* The other place, by the inverse of section 5.2. */
static RefPlace
other_place(const RefTable *table, RefPlace place)
{
	const int	f = table->P - table->q;
	const int	q = table->q;
	uint64_t	index;
	uint64_t	prefix;
	RefEntry	entry;

	if (q <= 8)
	{
		entry.a = place.bucket >> q;
		index = place.bucket % (UINT64_C(1) << q);
	}
	else
	{
		const uint64_t g = place.bucket / 256;

		entry.a = g % (uint64_t) table->k;
		index = place.bucket % 256 << (q - 8) | g / (uint64_t) table->k;
	}
	prefix = index << f | place.fp;
	entry.perm = prefix % 256;
	entry.v = prefix / 256 << (48 - table->P);
	return place_of(table, ref_alternate(entry, table->k, table->P));
}

static int
compare_fps(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;

	if (x % 16 != y % 16)
		return x % 16 < y % 16 ? -1 : 1;
	return x == y ? 0 : x < y ? -1 : 1;
}

static int
count_fp(const RefTable *table, RefPlace place)
{
	int			count = 0;

	for (int i = 0; i < 4; i++)
		count += table->fps[place.bucket][i] == place.fp;
	return count;
}

/* Overwrite one slot that holds the one fingerprint by another. */
static void
replace(RefTable *table, uint64_t bucket, uint64_t from, uint64_t to)
{
	for (int i = 0; i < 4; i++)
	{
		if (table->fps[bucket][i] == from)
		{
			table->fps[bucket][i] = to;
			qsort(table->fps[bucket], 4, sizeof(uint64_t), compare_fps);
			return;
		}
	}
	CHECK(false);
}

/* "Adding to a table": false if there is no room. */
static bool
ref_add(RefTable *table, uint64_t hash)
{
	const RefEntry primary = ref_primary(hash, table->k, table->P);
	const RefPlace places[2] = {
		place_of(table, primary),
		place_of(table, ref_alternate(primary, table->k, table->P))
	};
	uint64_t	nodes[MAX_NODES];
	int			parents[MAX_NODES];
	uint64_t	moved[MAX_NODES];	/* the fingerprint of the parent */
	int			nnodes = 0;
	int			found = -1;
	uint64_t	path_length = 0;

	if (count_fp(table, places[0]) + count_fp(table, places[1]) >=
		table->max_copies)
		return true;
	table->nentries++;
	for (int i = 0; i < 2; i++)
	{
		if (table->fps[places[i].bucket][0] == 0)
		{
			replace(table, places[i].bucket, 0, places[i].fp);
			return true;
		}
		if (i == 0 || places[1].bucket != places[0].bucket)
		{
			nodes[nnodes] = places[i].bucket;
			parents[nnodes++] = -1;
		}
	}

	for (int node = 0; node < nnodes && found < 0; node++)
	{
		for (int slot = 0; slot < 4 && found < 0; slot++)
		{
			const RefPlace place = {
				nodes[node], table->fps[nodes[node]][slot]
			};
			const uint64_t b = other_place(table, place).bucket;
			bool		is_node = false;

			if (nnodes == MAX_NODES)
			{
				table->nentries--;
				return false;
			}
			for (int i = 0; i < nnodes; i++)
				is_node |= nodes[i] == b;
			if (is_node)
				continue;
			nodes[nnodes] = b;
			parents[nnodes] = node;
			moved[nnodes++] = place.fp;
			if (table->fps[b][0] == 0)
				found = nnodes - 1;
		}
	}
	if (found < 0)
	{
		table->nentries--;
		return false;
	}
	while (parents[found] >= 0)
	{
		const RefPlace from = {nodes[parents[found]], moved[found]};

		replace(table, nodes[found], 0, other_place(table, from).fp);
		replace(table, from.bucket, from.fp, 0);
		found = parents[found];
		path_length++;
	}
	replace(table, nodes[found], 0,
			places[nodes[found] != places[0].bucket].fp);
	table->nkicks += path_length;
	if (path_length > table->longest_path)
		table->longest_path = path_length;
	return true;
}

/* Take out what is too much, as lowering max_copies does. */
static void
ref_drop_surplus(RefTable *table, uint64_t first, uint64_t nbuckets)
{
	for (uint64_t bucket = first; bucket < first + nbuckets; bucket++)
	{
		for (int slot = 0; slot < 4; slot++)
		{
			const RefPlace here = {bucket, table->fps[bucket][slot]};
			RefPlace	there;
			bool		changed = false;

			if (here.fp == 0)
				continue;
			there = other_place(table, here);
			while (count_fp(table, here) + count_fp(table, there) >
				   table->max_copies)
			{
				if (count_fp(table, there) > 0)
					replace(table, there.bucket, there.fp, 0);
				else
					replace(table, here.bucket, here.fp, 0);
				table->nentries--;
				changed = true;
			}
			if (changed)
				slot = -1;
		}
	}
}

/* "Building from a set", the hashes of one superblock: false if no room. */
static bool
ref_fill_block(RefTable *table, uint64_t first, uint64_t nbuckets,
			   const uint64_t *hashes, size_t nhashes)
{
	uint64_t   *const waiting = malloc((nhashes + 1) * sizeof(uint64_t));
	size_t		nwaiting = 0;
	size_t		i;
	bool		has_room = true;

	CHECK(waiting != NULL);
	for (i = 0; i < nhashes && nwaiting < nbuckets; i++)
	{
		const RefEntry primary = ref_primary(hashes[i], table->k, table->P);
		const RefPlace places[2] = {
			place_of(table, primary),
			place_of(table, ref_alternate(primary, table->k, table->P))
		};
		int			nfree[2];

		for (int j = 0; j < 2; j++)
		{
			const RefPlace free_slots = {places[j].bucket, 0};

			nfree[j] = count_fp(table, free_slots);
		}
		if (nfree[0] == 0 && nfree[1] == 0)
			waiting[nwaiting++] = hashes[i];
		else
		{
			const RefPlace place = places[nfree[1] > nfree[0]];

			replace(table, place.bucket, 0, place.fp);
			table->nentries++;
		}
	}
	ref_drop_surplus(table, first, nbuckets);
	for (size_t j = 0; j < nwaiting && has_room; j++)
		has_room = ref_add(table, waiting[j]);
	for (; i < nhashes && has_room; i++)
		has_room = ref_add(table, hashes[i]);
	free(waiting);
	return has_room;
}

/* All hashes, in the order of a build; false if there was no room. */
static bool
ref_fill(RefTable *table, const uint64_t *hashes, size_t nhashes)
{
	const uint64_t block_buckets = (uint64_t) table->k <<
		(table->q < 8 ? table->q : 8);
	size_t		begin = 0;

	while (begin < nhashes)
	{
		const uint64_t block =
			place_of(table, ref_primary(hashes[begin], table->k,
										table->P)).bucket / block_buckets;
		size_t		end = begin + 1;

		while (end < nhashes &&
			   place_of(table, ref_primary(hashes[end], table->k,
										   table->P)).bucket /
			   block_buckets == block)
			end++;
		if (!ref_fill_block(table, block * block_buckets, block_buckets,
							hashes + begin, end - begin))
			return false;
		begin = end;
	}
	return true;
}

/*
 * check_build
 *		Build a filter of ordered hashes, and compare its table.
 *
 * What the reference makes of the size and copies that the filter has in the
 * end is to be the same, slot by slot.  Returns false if there is no table.
 */
static bool
check_build(const uint64_t *ordered, size_t nordered,
			const CuckooParameters *parameters)
{
	TestHost	host;
	CuckooFilter filter;
	RefTable	table = {0};
	uint64_t   *const hashes = malloc(nordered * sizeof(uint64_t));
	CuckooStatus status;

	CHECK(hashes != NULL);
	test_host_init(&host);
	status = cuckoo_build_array(&filter, parameters, ordered, nordered,
								&host.host);
	if (status == CUCKOO_OK && filter.is_table)
	{
		table.k = (int) filter.geometry.ncolumns;
		table.q = filter.geometry.index_bits;
		table.P = filter.geometry.prefix_bits;
		table.max_copies = filter.max_copies;
		table.nbuckets = (uint64_t) table.k << table.q;
		table.fps = calloc(table.nbuckets, sizeof(table.fps[0]));
		CHECK(table.fps != NULL);
		for (size_t i = 0; i < nordered; i++)
			hashes[i] = cuckoo_order_hash_back(ordered[i]);

		CHECK(ref_fill(&table, hashes, nordered));
		CHECK_EQUAL(filter.nentries, table.nentries);
		CHECK_EQUAL(filter.nkicks, table.nkicks);
		CHECK_EQUAL(filter.longest_path,
					table.longest_path < 255 ? table.longest_path : 255);
		for (uint64_t bucket = 0; bucket < table.nbuckets; bucket++)
		{
			uint64_t	fps[4];

			ref_read_bucket(cuckoo_header_body(&filter), bucket,
							table.P - table.q, fps);
			CHECK(memcmp(fps, table.fps[bucket], sizeof(fps)) == 0);
		}
		for (size_t i = 0; i < nordered; i++)
			CHECK(cuckoo_filter_contains(&filter, hashes[i]));
		test_check_filter(&filter);
		free(table.fps);
	}
	if (status == CUCKOO_OK)
		test_release(&filter, &host);
	test_host_finish(&host);
	free(hashes);
	return status == CUCKOO_OK && filter.is_table;
}

/*
 * One set: random values, some of them several times, and some that differ
 * only in bits that a table does not keep, so that one class has more copies
 * than a filter may.
 */
static bool
build_set(size_t nvalues, double rate, int max_copies, uint64_t nclasses)
{
	const CuckooParameters parameters = {
		nvalues, test_rate(rate), max_copies, 0
	};
	CuckooGeometry geometry;
	uint64_t   *const ordered = malloc(nvalues * sizeof(uint64_t));
	size_t		nordered = 0;
	bool		is_table;

	WHERE("%" PRIu64 " values, copies %" PRIu64 ", classes %" PRIu64, nvalues,
		  max_copies, nclasses, 0);
	CHECK(ordered != NULL);
	CHECK_STATUS(cuckoo_geometry_choose(&geometry, nvalues, parameters.rate),
				 CUCKOO_OK);
	for (uint64_t i = 0; i < nclasses && nordered + 12 < nvalues; i++)
	{
		const int	k = (int) geometry.ncolumns;
		const int	P = geometry.prefix_bits;
		RefEntry	entry = ref_primary(test_random(), k, P);
		const uint64_t nalike = 2 + test_random_below(9);

		for (uint64_t j = 0; j < nalike; j++)
		{
			if (test_random_below(3) == 0)
				entry = ref_alternate(entry, k, P);
			ordered[nordered++] =
				cuckoo_order_hash(ref_hash_of(entry, k, P, test_random()));
		}
	}
	while (nordered < nvalues)
	{
		const uint64_t hash = test_random();
		uint64_t	ncopies = test_random_below(4) == 0 ?
			1 + test_random_below((uint64_t) max_copies) : 1;

		for (; ncopies > 0 && nordered < nvalues; ncopies--)
			ordered[nordered++] = cuckoo_order_hash(hash);
	}
	test_sort_keys(ordered, nordered);
	nordered = test_limit_equal(ordered, nordered, max_copies);
	is_table = check_build(ordered, nordered, &parameters);
	free(ordered);
	return is_table;
}

/* Every width of slots, every max_copies, tables of all small sizes. */
static void
builds_of_all_widths(void)
{
	const double rates[] = {0.01, 0.001, 1e-5, 1e-7, 1e-9, 1e-11};
	const int	nrounds = (int) test_amount(2, 12, 60);
	int			nsets = 0;
	int			ntables = 0;

	for (int round = 0; round < nrounds; round++)
	{
		for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		{
			for (int max_copies = 1; max_copies <= 4; max_copies++)
			{
				const size_t nvalues = 40 +
					(size_t) test_random_below(UINT64_C(1) <<
											   (4 + test_random_below(9)));

				CHECK(build_set(nvalues, rates[r], max_copies, 0));
				ntables += build_set(nvalues, rates[r], max_copies,
									 test_random_below(nvalues / 16 + 1));
				nsets++;
			}
		}
	}
	CHECK(ntables > nsets / 2);
}

/* Tables of several superblocks. */
static void
builds_of_superblocks(void)
{
	const double rates[] = {0.01, 1e-5, 1e-8};

	for (size_t r = 0; r < test_amount(1, 3, 3); r++)
	{
		for (int max_copies = 1; max_copies <= 4; max_copies += 3)
			CHECK(build_set(150000 + (size_t) test_random_below(200000),
							rates[r], max_copies, 500));
	}
}

/*
 * More values than the filter is for: so many wait that the rest of a block is
 * added to the packed table.  Copies make room for some of them.
 */
static void
builds_that_overflow(void)
{
	for (int max_copies = 1; max_copies <= 4; max_copies++)
	{
		const size_t nvalues = 4000;
		const CuckooParameters parameters = {
			1500, test_rate(0.01), max_copies, 0
		};
		CuckooGeometry geometry;
		RefEntry	entries[40];
		uint64_t	ordered[4000];
		const size_t nclasses = sizeof(entries) / sizeof(entries[0]);
		int			k;
		int			P;

		CHECK_STATUS(cuckoo_geometry_choose(&geometry, parameters.capacity,
											parameters.rate), CUCKOO_OK);
		k = (int) geometry.ncolumns;
		P = geometry.prefix_bits;
		for (size_t i = 0; i < nclasses; i++)
			entries[i] = ref_primary(test_random(), k, P);
		for (size_t i = 0; i < nvalues; i++)
		{
			const uint64_t hash = i % 8 == 0 ? test_random() :
				ref_hash_of(entries[i % nclasses], k, P, test_random());

			ordered[i] = cuckoo_order_hash(hash);
		}
		test_sort_keys(ordered, nvalues);
		WHERE("copies %" PRIu64, max_copies, 0, 0, 0);
		CHECK(check_build(ordered, nvalues, &parameters));
	}
}

static const TestCase cases[] = {
	{"builds_of_all_widths", builds_of_all_widths},
	{"builds_of_superblocks", builds_of_superblocks},
	{"builds_that_overflow", builds_that_overflow},
};

TEST_MAIN(cases)
