/*-------------------------------------------------------------------------
 *
 * test_block.c
 *		Filters built at once against section 11 of docs/format.md, done once
 *		more: written to be read, not to be fast.
 *
 * Every byte of the image is compared, and every refusal.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "reference.h"
#include "core/cuckoo_build.h"
#include "core/cuckoo_image.h"
#include "core/cuckoo_remedy.h"

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
	uint64_t	homeless;		/* the hash that found no room */
} RefTable;

/* A bucket and the fingerprint there. */
typedef struct RefPlace
{
	uint64_t	bucket;
	uint64_t	fp;
} RefPlace;

/* Buckets that the search for a free slot has reached. */
typedef struct RefSearch
{
	uint64_t	nodes[MAX_NODES];
	int			parents[MAX_NODES];
	uint64_t	moved[MAX_NODES];	/* the fingerprint of the parent */
	int			nnodes;
	int			found;
} RefSearch;

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

/* The two places of a hash, that of its primary address first. */
static void
places_of(const RefTable *table, uint64_t hash, RefPlace *places)
{
	const RefEntry primary = ref_primary(hash, table->k, table->P);

	places[0] = place_of(table, primary);
	places[1] = place_of(table, ref_alternate(primary, table->k, table->P));
}

/*
 * The nearest bucket with a free slot, breadth first: found is its node, or -1
 * if there is no room.  Whether the roots have one is not asked.
 */
static void
ref_search(const RefTable *table, const RefPlace *places, RefSearch *search)
{
	search->nnodes = 0;
	search->found = -1;
	for (int i = 0; i < 2; i++)
	{
		if (i == 0 || places[1].bucket != places[0].bucket)
		{
			search->nodes[search->nnodes] = places[i].bucket;
			search->parents[search->nnodes++] = -1;
		}
	}
	for (int node = 0; node < search->nnodes; node++)
	{
		for (int slot = 0; slot < 4; slot++)
		{
			const RefPlace place = {
				search->nodes[node], table->fps[search->nodes[node]][slot]
			};
			uint64_t	b;
			bool		is_node = false;

			if (search->nnodes == MAX_NODES)
				return;
			b = other_place(table, place).bucket;
			for (int i = 0; i < search->nnodes; i++)
				is_node |= search->nodes[i] == b;
			if (is_node)
				continue;
			search->nodes[search->nnodes] = b;
			search->parents[search->nnodes] = node;
			search->moved[search->nnodes++] = place.fp;
			if (table->fps[b][0] == 0)
			{
				search->found = search->nnodes - 1;
				return;
			}
		}
	}
}

/* "Adding to a table": false if there is no room. */
static bool
ref_add(RefTable *table, uint64_t hash)
{
	RefPlace	places[2];
	RefSearch	search;
	int			node;
	uint64_t	path_length = 0;

	places_of(table, hash, places);
	if (count_fp(table, places[0]) + count_fp(table, places[1]) >=
		table->max_copies)
		return true;
	for (int i = 0; i < 2; i++)
	{
		if (table->fps[places[i].bucket][0] == 0)
		{
			replace(table, places[i].bucket, 0, places[i].fp);
			table->nentries++;
			return true;
		}
	}

	ref_search(table, places, &search);
	if (search.found < 0)
		return false;
	for (node = search.found; search.parents[node] >= 0;
		 node = search.parents[node])
	{
		const RefPlace from = {
			search.nodes[search.parents[node]], search.moved[node]
		};

		replace(table, search.nodes[node], 0, other_place(table, from).fp);
		replace(table, from.bucket, from.fp, 0);
		path_length++;
	}
	replace(table, search.nodes[node], 0,
			places[search.nodes[node] != places[0].bucket].fp);
	table->nentries++;
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
		RefPlace	places[2];
		int			nfree[2];

		places_of(table, hashes[i], places);
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
	{
		has_room = ref_add(table, waiting[j]);
		table->homeless = waiting[j];
	}
	for (; i < nhashes && has_room; i++)
	{
		has_room = ref_add(table, hashes[i]);
		table->homeless = hashes[i];
	}
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

/* Copies beyond so many of each value, in the whole table. */
static uint64_t
copies_beyond(const RefTable *table, int ncopies)
{
	uint64_t	total = 0;

	for (uint64_t bucket = 0; bucket < table->nbuckets; bucket++)
	{
		for (int slot = 0; slot < 4; slot++)
		{
			const RefPlace here = {bucket, table->fps[bucket][slot]};
			RefPlace	there;
			int			count;

			if (here.fp == 0 ||
				(slot > 0 && table->fps[bucket][slot - 1] == here.fp))
				continue;
			there = other_place(table, here);
			count = count_fp(table, there);
			/* a value in both places is counted in the first */
			if (count > 0 && (there.bucket < bucket ||
							  (there.bucket == bucket && there.fp < here.fp)))
				continue;
			count += count_fp(table, here);
			if (count > ncopies)
				total += (uint64_t) (count - ncopies);
		}
	}
	return total;
}

/*
 * ref_remedy
 *		"If there is no room": steps 1 to 6, for the homeless hash of a table.
 *
 * CUCKOO_OK if the build is to begin again: with *max_copies if that is not
 * what it was, else with one index bit more.
 */
static CuckooStatus
ref_remedy(const RefTable *table, uint64_t n, uint64_t capacity,
		   int *max_copies)
{
	const uint64_t S = 4 * table->nbuckets;
	const uint64_t U = (uint64_t) ref_usable((int64_t) S);
	const int	f = table->P - table->q;
	uint64_t	used = 0;
	uint64_t	hot = 0;
	int			m;
	bool		is_pocket;
	RefPlace	places[2];
	RefSearch	search;

	places_of(table, table->homeless, places);
	ref_search(table, places, &search);
	CHECK(search.found < 0);
	m = count_fp(table, places[0]) + count_fp(table, places[1]) + 1;
	for (int node = 0; node < search.nnodes; node++)
	{
		for (int slot = 0; slot < 4; slot++)
		{
			const RefPlace place = {
				search.nodes[node], table->fps[search.nodes[node]][slot]
			};
			const int	count = count_fp(table, place) +
				count_fp(table, other_place(table, place));

			used++;
			hot += count >= 3;
			m = test_max(m, count);
		}
	}
	is_pocket = search.nnodes <= 64;

	/* step 1 */
	if (table->nbuckets < ref_buckets(capacity) && n < capacity && f > 8 &&
		(4 * n >= 3 * S || table->nbuckets <= 1024 ||
		 (3 * n >= S && 8 * copies_beyond(table, 2) >= table->nentries)))
		return CUCKOO_OK;
	/* step 2 */
	if (table->max_copies > 2 && m > 2 && (n < U || n >= capacity) &&
		(is_pocket || (n < U && 32 * hot >= used)))
	{
		*max_copies = test_min(table->max_copies, m) - 1;
		return CUCKOO_OK;
	}
	/* steps 3 to 6 */
	if (n >= capacity)
		return CUCKOO_FULL;
	if (table->nbuckets > 1024 &&
		(4 * n < S ||
		 (is_pocket && n < U &&
		  (2 * n < S || 16 * copies_beyond(table, 1) < table->nentries))))
		return CUCKOO_COLLIDING;
	return f == 8 ? CUCKOO_FULL : CUCKOO_OK;
}

/* What came of a build, and how. */
typedef struct RefBuild
{
	CuckooStatus status;
	uint8_t    *image;
	size_t		image_bytes;
	int			nlowered;
	int			ngrown;
} RefBuild;

/* The header and an empty body; table is NULL for a list. */
static void
ref_start_image(RefBuild *build, const CuckooParameters *parameters,
				const RefTable *table, int k, int P, uint64_t nentries)
{
	const uint64_t body_bytes = table == NULL ? 8 * nentries :
		ref_table_bytes(k, table->q, P);
	const int	max_copies = table == NULL ? parameters->max_copies :
		table->max_copies;
	uint8_t    *const image = calloc(1, (size_t) (44 + body_bytes));

	CHECK(image != NULL);
	image[0] = 1;
	image[1] = 1;
	image[2] = table != NULL;
	image[4] = (uint8_t) k;
	image[5] = (uint8_t) (table == NULL ? 0 : table->q);
	image[6] = (uint8_t) P;
	image[7] = (uint8_t) (max_copies * 16 + parameters->max_copies);
	ref_set_bits(image, 8 * 8, 64, parameters->seed);
	ref_set_bits(image, 8 * 16, 64, parameters->capacity);
	ref_set_bits(image, 8 * 24, 64, nentries);
	if (table != NULL)
	{
		ref_set_bits(image, 8 * 32, 64, table->nkicks);
		image[40] = (uint8_t) (table->longest_path < 255 ?
							   table->longest_path : 255);
	}
	build->image = image;
	build->image_bytes = (size_t) (44 + body_bytes);
}

static void
ref_build_list(RefBuild *build, const CuckooParameters *parameters,
			   int k, int P, const uint64_t *hashes, size_t nhashes)
{
	uint64_t   *const sorted = malloc((nhashes + 1) * sizeof(uint64_t));

	CHECK(sorted != NULL);
	build->status = CUCKOO_OK;
	ref_start_image(build, parameters, NULL, k, P, nhashes);
	memcpy(sorted, hashes, nhashes * sizeof(uint64_t));
	test_sort_keys(sorted, nhashes);
	for (size_t i = 0; i < nhashes; i++)
		ref_set_bits(build->image + 44, 64 * i, 64, sorted[i]);
	free(sorted);
}

/* What check_build() has seen in all. */
static struct
{
	int			nlists;
	int			ntables;
	int			nfull;
	int			ncolliding;
	int			nlowered;
	int			ngrown;
	int			nremedies;
}			seen;

/*
 * check_remedy
 *		For a table without room for its homeless hash, as if it had been filled
 *		by n entries more than one: cuckoo_remedy_choose() does what the
 *		reference does.
 */
static void
check_remedy(const RefTable *table, CuckooFilter *filter, uint64_t n,
			 uint64_t capacity)
{
	const CuckooFilling filling = {n + 1, 0, true};
	int			max_copies = table->max_copies;
	CuckooStatus status;
	CuckooRemedy remedy;
	TestHost	host;

	if (n < table->nentries || capacity == 0)
		return;
	test_host_init(&host);
	filter->nentries = table->nentries;
	filter->capacity = capacity;
	filter->max_copies = max_copies;
	remedy = cuckoo_remedy_choose(filter,
								  cuckoo_table_hash_address(filter,
															table->homeless),
								  &filling, &host.host);
	status = ref_remedy(table, n, capacity, &max_copies);
	WHERE("n %" PRIu64 ", capacity %" PRIu64 ", entries %" PRIu64
		  ", copies %" PRIu64, n, capacity, table->nentries, table->max_copies);
	CHECK_EQUAL(remedy.kind == CUCKOO_REFUSE, status != CUCKOO_OK);
	if (status != CUCKOO_OK)
		CHECK_STATUS(remedy.status, status);
	else
	{
		CHECK_EQUAL(remedy.kind == CUCKOO_LOWER_COPIES,
					max_copies < table->max_copies);
		if (max_copies < table->max_copies)
			CHECK_EQUAL(remedy.max_copies, max_copies);
	}
	test_host_finish(&host);
}

/*
 * check_remedies
 *		The same on both sides of every bound in a remedy, whatever is in the
 *		table.
 */
static void
check_remedies(const RefTable *failed, const CuckooParameters *parameters)
{
	const uint64_t S = 4 * failed->nbuckets;
	RefTable	table = *failed;
	const uint64_t entries[] = {
		1, 8 * copies_beyond(&table, 2), 16 * copies_beyond(&table, 1),
		failed->nentries
	};
	const uint64_t bounds[] = {
		S / 4, (S + 2) / 3, S / 2, 3 * S / 4, (uint64_t) ref_usable((int64_t) S)
	};
	RefBuild	build;
	CuckooFilter filter;

	ref_start_image(&build, parameters, &table, table.k, table.P,
					table.nentries);
	for (uint64_t bucket = 0; bucket < table.nbuckets; bucket++)
		ref_write_bucket(build.image + 44, bucket, table.P - table.q,
						 table.fps[bucket]);
	CHECK_STATUS(cuckoo_image_open(&filter, build.image, build.image_bytes),
				 CUCKOO_OK);
	for (size_t e = 0; e < sizeof(entries) / sizeof(entries[0]); e++)
	{
		for (uint64_t above = 0; above < 3; above++)
		{
			/* one less, the same, one more */
			table.nentries = entries[e] + above - (entries[e] + above > 0);
			for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
			{
				for (uint64_t n = bounds[i] - 1; n <= bounds[i] + 1; n++)
				{
					for (table.max_copies = 2; table.max_copies <= 4;
						 table.max_copies++)
					{
						check_remedy(&table, &filter, n, n);
						check_remedy(&table, &filter, n, n + 1);
						check_remedy(&table, &filter, n, 9 * S);
					}
				}
			}
		}
	}
	free(build.image);
	seen.nremedies++;
}

/*
 * ref_build
 *		"Building from a set": the hashes in the order of a build.
 */
static void
ref_build(RefBuild *build, const CuckooParameters *parameters,
		  const uint64_t *hashes, size_t n)
{
	const uint64_t capacity = parameters->capacity;
	RefTable	table = {0};
	int			max_copies = parameters->max_copies;
	int			first_q = 0;
	int			k;
	int			P;

	memset(build, 0, sizeof(*build));
	ref_shape(capacity, parameters->rate, &k, &P);
	if (capacity < 24 && n > capacity)
	{
		build->status = CUCKOO_FULL;
		return;
	}
	if (n <= capacity && (capacity < 24 || n <= ref_table_bytes(k, 0, P) / 8))
	{
		ref_build_list(build, parameters, k, P, hashes, n);
		return;
	}

	while ((uint64_t) k << first_q < ref_buckets(n < capacity ? n : capacity))
		first_q++;
	for (int q = first_q;;)
	{
		const RefTable empty = {k, q, P, max_copies, (uint64_t) k << q,
		NULL, 0, 0, 0, 0};

		table = empty;
		table.fps = calloc(table.nbuckets, sizeof(table.fps[0]));
		CHECK(table.fps != NULL);
		if (ref_fill(&table, hashes, n))
			break;
		if (table.nbuckets <= 2048 &&
			seen.nremedies < (int) test_amount(4, 10, 300))
			check_remedies(&table, parameters);
		build->status = ref_remedy(&table, n - 1, capacity, &max_copies);
		free(table.fps);
		if (build->status != CUCKOO_OK)
		{
			if (n <= capacity && n <= 4096)
				ref_build_list(build, parameters, k, P, hashes, n);
			return;
		}
		build->nlowered += max_copies < table.max_copies;
		build->ngrown += max_copies == table.max_copies;
		q = max_copies < table.max_copies ? first_q : q + 1;
	}
	ref_start_image(build, parameters, &table, k, P, table.nentries);
	for (uint64_t bucket = 0; bucket < table.nbuckets; bucket++)
		ref_write_bucket(build->image + 44, bucket, P - table.q,
						 table.fps[bucket]);
	free(table.fps);
}

/*
 * check_build
 *		Build a filter of ordered hashes, and compare every byte of it with
 *		what the reference makes of them, or that both refuse.
 *
 * Returns whether there is a table.
 */
static bool
check_build(const uint64_t *ordered, size_t nordered,
			const CuckooParameters *parameters)
{
	TestHost	host;
	CuckooFilter filter;
	RefBuild	build;
	uint64_t   *const hashes = malloc((nordered + 1) * sizeof(uint64_t));
	CuckooStatus status;
	bool		is_table = false;

	CHECK(hashes != NULL);
	for (size_t i = 0; i < nordered; i++)
		hashes[i] = ordered[i] >> 24 | ordered[i] << 40;
	ref_build(&build, parameters, hashes, nordered);
	seen.nlowered += build.nlowered;
	seen.ngrown += build.ngrown;
	seen.nfull += build.status == CUCKOO_FULL;
	seen.ncolliding += build.status == CUCKOO_COLLIDING;

	test_host_init(&host);
	status = cuckoo_build_array(&filter, parameters, ordered, nordered,
								&host.host);
	CHECK_STATUS(status, build.status);
	if (status == CUCKOO_OK)
	{
		is_table = filter.is_table;
		seen.nlists += !is_table;
		seen.ntables += is_table;
		cuckoo_header_store(&filter);
		CHECK_EQUAL(filter.image_bytes, build.image_bytes);
		for (size_t i = 0; i < build.image_bytes; i++)
			CHECK_EQUAL(filter.image[i], build.image[i]);
		for (size_t i = 0; i < nordered; i++)
			CHECK(cuckoo_filter_contains(&filter, hashes[i]));
		test_check_filter(&filter);
		test_release(&filter, &host);
	}
	test_host_finish(&host);
	free(build.image);
	free(hashes);
	return is_table;
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

/* A value so many times in a set that is to be sorted. */
static void
put_copies(uint64_t *ordered, size_t *nordered, uint64_t hash, int ncopies)
{
	while (ncopies-- > 0)
		ordered[(*nordered)++] = cuckoo_order_hash(hash);
}

/*
 * Hot values, at a capacity that is the set's size, a little more or less, or
 * just what a table holds: copies are lowered, tables doubled.
 */
static void
builds_of_hot_values(void)
{
	const int	nrounds = (int) test_amount(100, 300, 3000);

	memset(&seen, 0, sizeof(seen));
	for (int round = 0; round < nrounds; round++)
	{
		const int	max_copies = 1 + round % 4;
		const int	ncopies = 1 + (int) test_random_below((uint64_t) max_copies);
		const uint64_t hot = round % 3 == 0 ? 1000 : test_random_below(201);
		const int	q = (int) test_random_below(7);
		const uint64_t k = 64 + test_random_below(64);
		const uint64_t usable = (uint64_t) ref_usable((int64_t) (4 * k << q));
		const uint64_t least = usable / 4;
		CuckooParameters parameters = {
			usable, test_rate(round % 2 == 0 ? 0.01 : 1e-4), max_copies,
			test_random()
		};
		uint64_t	n = usable;
		uint64_t   *ordered;
		size_t		nordered = 0;

		switch (test_random_below(4))
		{
			case 0:
				n = least + test_random_below(usable);
				break;
			case 1:
				parameters.capacity += test_random_below(usable / 8 + 1);
				break;
			case 2:
				n += test_random_below(usable / 64 + 2);
				break;
			default:
				break;
		}
		WHERE("capacity %" PRIu64 ", %" PRIu64 " values, hot %" PRIu64
			  ", copies %" PRIu64, parameters.capacity, n, hot, max_copies);
		ordered = malloc((n + 4) * sizeof(uint64_t));
		CHECK(ordered != NULL);
		while (nordered < n)
			put_copies(ordered, &nordered, test_random(),
					   test_random_below(1000) < hot ? ncopies : 1);
		nordered = n;
		test_sort_keys(ordered, nordered);
		check_build(ordered, nordered, &parameters);
		free(ordered);
	}
	printf("# %d tables, %d full, %d colliding, %d times lowered, %d times "
		   "doubled\n", seen.ntables, seen.nfull, seen.ncolliding,
		   seen.nlowered, seen.ngrown);
	CHECK(seen.ntables > 0 && seen.nfull > 0 && seen.nlowered > 0);
	CHECK(seen.ngrown > 0 || nrounds < 300);
}

/*
 * Values crafted for one pair of buckets, some of them several times, in sets
 * of every size: they are doubled away, counted lower, put into a list, or
 * refused.
 */
static void
builds_of_crafted_values(void)
{
	const int	nrounds = (int) test_amount(100, 300, 3000);

	memset(&seen, 0, sizeof(seen));
	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t n = 20 + test_random_below(UINT64_C(1)
												  << (5 + round % 11));
		const int	max_copies = 1 + (int) test_random_below(4);
		const int	ncopies = 1 + (int) test_random_below((uint64_t) max_copies);
		const CuckooParameters parameters = {
			n + test_random_below(1 + (n << test_random_below(3))),
			test_rate(1e-6), max_copies, 1
		};
		const uint64_t ncrafted = 3 + test_random_below(24);
		const uint64_t crafted = test_random();
		uint64_t   *const ordered = malloc((n + 4) * sizeof(uint64_t));
		size_t		nordered = 0;
		int			k;
		int			P;

		WHERE("capacity %" PRIu64 ", %" PRIu64 " values, %" PRIu64
			  " crafted, copies %" PRIu64, parameters.capacity, n, ncrafted,
			  max_copies);
		CHECK(ordered != NULL);
		ref_shape(parameters.capacity, parameters.rate, &k, &P);
		for (uint64_t i = 0; i < ncrafted && nordered < n; i++)
			put_copies(ordered, &nordered, crafted ^ i << (56 - P), ncopies);
		while (nordered < n)
			put_copies(ordered, &nordered, test_random(), 1);
		nordered = n;
		test_sort_keys(ordered, nordered);
		check_build(ordered, nordered, &parameters);
		free(ordered);
	}
	printf("# %d tables, %d lists, %d full, %d colliding, %d times lowered, "
		   "%d times doubled\n", seen.ntables, seen.nlists, seen.nfull,
		   seen.ncolliding, seen.nlowered, seen.ngrown);
	CHECK(seen.ntables > 0 && seen.nlists > 0 && seen.ncolliding > 0);
	CHECK(seen.nlowered > 0 && seen.ngrown > 0 && seen.nremedies > 0);
}

static const TestCase cases[] = {
	{"builds_of_all_widths", builds_of_all_widths},
	{"builds_of_superblocks", builds_of_superblocks},
	{"builds_that_overflow", builds_that_overflow},
	{"builds_of_hot_values", builds_of_hot_values},
	{"builds_of_crafted_values", builds_of_crafted_values},
};

TEST_MAIN(cases)
