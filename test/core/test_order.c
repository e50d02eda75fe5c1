/*-------------------------------------------------------------------------
 *
 * test_order.c
 *		Sorting and merging keys, and sorting entries: even ones and ones that
 *		are chosen.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"

#include "core/cuckoo_order.h"

#define MAX_KEYS	20000

/* Ways to choose keys; all have first bits in common if one part is asked. */
typedef enum Shape
{
	EVEN,						/* like hashes */
	FEW_VALUES,					/* each many times */
	ONE_VALUE,
	COMMON_START,				/* 44 bits the same, the others even */
	COMMON_END,					/* 44 bits the same, the others even */
	TWO_HEAPS,					/* the smallest and the largest there are */
	ASCENDING,
	DESCENDING,
	NSHAPES
} Shape;

static void
choose_keys(uint64_t *keys, size_t nkeys, Shape shape, bool one_part)
{
	const uint64_t common = test_random();
	const int	shift = one_part ? CUCKOO_ORDER_PART_BITS : 0;

	for (size_t i = 0; i < nkeys; i++)
	{
		const uint64_t key = test_random();

		switch (shape)
		{
			case FEW_VALUES:
				keys[i] = test_mix(key % 7);
				break;
			case ONE_VALUE:
				keys[i] = common;
				break;
			case COMMON_START:
				keys[i] = common >> 20 << 20 | key >> 44;
				break;
			case COMMON_END:
				keys[i] = key >> 44 << 44 | common >> 20;
				break;
			case TWO_HEAPS:
				keys[i] = key % 2 == 0 ? key % 50 : UINT64_MAX - key % 50;
				break;
			case ASCENDING:
				keys[i] = i << 30;
				break;
			case DESCENDING:
				keys[i] = (uint64_t) (nkeys - i) << 30;
				break;
			default:
				keys[i] = key;
				break;
		}
		if (one_part)
			keys[i] = keys[i] >> shift |
				common >> (64 - shift) << (64 - shift);
	}
}

/* An array of exactly that size, so that a sanitizer sees what goes beyond. */
static uint64_t *
new_keys(size_t nkeys)
{
	uint64_t   *const keys = malloc((nkeys > 0 ? nkeys : 1) * sizeof(uint64_t));

	CHECK(keys != NULL);
	return keys;
}

/* The sizes around each bound, and some between. */
static size_t
choose_size(int i)
{
	static const size_t sizes[] = {
		0, 1, 2, 3, 23, 24, 25, 26, 31, 32, 33, 127, 128, 4095, 4096, 12287,
		12288, MAX_KEYS
	};

	return (size_t) i < sizeof(sizes) / sizeof(sizes[0]) ? sizes[i] :
		(size_t) test_random_below(MAX_KEYS);
}

/* The same order as the library's sort, whatever the keys. */
static void
sort_any_keys(void)
{
	for (int round = 0; round < 30; round++)
		for (int shape = 0; shape < NSHAPES; shape++)
			for (int one_part = 0; one_part < 2; one_part++)
			{
				const size_t nkeys = choose_size(round);
				uint64_t   *const keys = new_keys(nkeys);
				uint64_t   *const sorted = new_keys(nkeys);
				uint64_t   *const expected = new_keys(nkeys);

				WHERE("%" PRIu64 " keys, shape %" PRIu64 ", one part %" PRIu64,
					  nkeys, shape, one_part, 0);
				choose_keys(keys, nkeys, (Shape) shape, one_part != 0);
				memcpy(expected, keys, nkeys * sizeof(uint64_t));
				test_sort_keys(expected, nkeys);
				cuckoo_order_sort(keys, sorted, nkeys, one_part != 0);
				CHECK(memcmp(sorted, expected,
							 nkeys * sizeof(uint64_t)) == 0);
				free(keys);
				free(sorted);
				free(expected);
			}
}

/* What sorting both together and dropping gives. */
static void
merge_any_keys(void)
{
	for (int round = 0; round < 400; round++)
	{
		const int	max_equal = 1 + round % 4;
		const Shape shape = (Shape) test_random_below(NSHAPES);
		size_t		nkeys =
			(size_t) test_random_below(round % 3 == 0 ? 4 : 500);
		const size_t nmore =
			(size_t) test_random_below(round % 5 == 0 ? 4 : 500);
		uint64_t   *const all = new_keys(nkeys + nmore);
		uint64_t   *const more = new_keys(nmore);
		uint64_t   *keys;
		size_t		nexpected;

		WHERE("round %" PRIu64 ", shape %" PRIu64 ", max_equal %" PRIu64,
			  round, shape, max_equal, 0);
		choose_keys(all, nkeys + nmore, shape, false);
		memcpy(more, all + nkeys, nmore * sizeof(uint64_t));
		test_sort_keys(all, nkeys);
		nkeys = test_limit_equal(all, nkeys, max_equal);
		test_sort_keys(more, nmore);

		keys = new_keys(nkeys + nmore);
		memcpy(keys, all, nkeys * sizeof(uint64_t));
		memcpy(all + nkeys, more, nmore * sizeof(uint64_t));
		test_sort_keys(all, nkeys + nmore);
		nexpected = test_limit_equal(all, nkeys + nmore, max_equal);

		CHECK_EQUAL(cuckoo_order_merge(keys, nkeys, more, nmore, max_equal),
					nexpected);
		CHECK(memcmp(keys, all, nexpected * sizeof(uint64_t)) == 0);
		free(keys);
		free(more);
		free(all);
	}
}

/* Entries are sorted as keys are, whatever their bits and however many. */
static void
sort_any_entries(void)
{
	const int	nrounds = (int) test_amount(300, 3000, 30000);

	for (int round = 0; round < nrounds; round++)
	{
		const size_t nentries = (size_t) test_random_below(
														   round % 10 == 0 ? MAX_KEYS : 300);
		const int	entry_bits = 1 + (int) test_random_below(32);
		const int	max_equal = 1 + (int) test_random_below(4);
		const Shape shape = (Shape) test_random_below(NSHAPES);
		uint64_t   *const keys = new_keys(nentries);
		uint32_t   *const entries = malloc((nentries + 1) * sizeof(uint32_t));
		uint32_t   *const help = malloc((nentries + 1) * sizeof(uint32_t));
		size_t		nexpected;

		CHECK(entries != NULL && help != NULL);
		choose_keys(keys, nentries, shape, false);
		for (size_t i = 0; i < nentries; i++)
		{
			keys[i] >>= 64 - entry_bits;
			entries[i] = (uint32_t) keys[i];
		}
		test_sort_keys(keys, nentries);
		nexpected = test_limit_equal(keys, nentries, max_equal);
		CHECK_EQUAL(cuckoo_order_entries(entries, help, nentries, entry_bits,
										 max_equal), nexpected);
		for (size_t i = 0; i < nexpected; i++)
			CHECK_EQUAL(entries[i], keys[i]);
		free(help);
		free(entries);
		free(keys);
	}
}

/* Parts are ranges of keys, in their order. */
static void
parts(void)
{
	CHECK_EQUAL(cuckoo_order_part(0), 0);
	CHECK_EQUAL(cuckoo_order_part(UINT64_MAX), CUCKOO_ORDER_PARTS - 1);
	for (int part = 1; part < CUCKOO_ORDER_PARTS; part++)
	{
		const uint64_t first = (uint64_t) part << 56;

		CHECK_EQUAL(cuckoo_order_part(first), part);
		CHECK_EQUAL(cuckoo_order_part(first - 1), part - 1);
	}
}

static const TestCase cases[] = {
	{"keys_sort_any", sort_any_keys},
	{"keys_merge_any", merge_any_keys},
	{"entries_sort_any", sort_any_entries},
	{"keys_parts", parts},
};

TEST_MAIN(cases)
