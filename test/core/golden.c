/*-------------------------------------------------------------------------
 *
 * golden.c
 *		The operations in the text file of a golden image.
 *
 *-------------------------------------------------------------------------
 */
#include "golden.h"

uint64_t
golden_hash(uint64_t i, uint64_t seed)
{
	uint8_t		key[8];

	cuckoo_store_le64(key, i);
	return cuckoo_hash(key, sizeof(key), seed);
}

static void
build(CuckooFilter *filter, const CuckooParameters *parameters,
	  uint64_t first, uint64_t count, TestHost *host)
{
	uint64_t   *const keys = malloc((size_t) (count + 1) * sizeof(keys[0]));

	CHECK(keys != NULL);
	for (uint64_t i = 0; i < count; i++)
		keys[i] = cuckoo_order_hash(golden_hash(first + i, parameters->seed));
	test_sort_keys(keys, (size_t) count);
	CHECK_STATUS(cuckoo_build_array(filter, parameters, keys, (size_t) count,
									&host->host), CUCKOO_OK);
	free(keys);
}

bool
golden_operate(const char *line, CuckooFilter *filter, TestHost *host)
{
	CuckooParameters parameters;
	uint64_t	first;
	uint64_t	count;
	uint64_t	times;

	if (sscanf(line, "new %" SCNu64 " %" SCNu64 " %d %" SCNu64,
			   &parameters.capacity, &parameters.rate, &parameters.max_copies,
			   &parameters.seed) == 4)
		CHECK_STATUS(cuckoo_filter_new(filter, &parameters, &host->host),
					 CUCKOO_OK);
	else if (sscanf(line,
					"build %" SCNu64 " %" SCNu64 " %d %" SCNu64 " %" SCNu64
					" %" SCNu64, &parameters.capacity, &parameters.rate,
					&parameters.max_copies, &parameters.seed, &first,
					&count) == 6)
		build(filter, &parameters, first, count, host);
	else if (sscanf(line, "add %" SCNu64 " %" SCNu64 " %" SCNu64, &first,
					&count,
					&times) == 3)
	{
		for (uint64_t i = first; i < first + count; i++)
		{
			for (uint64_t j = 0; j < times; j++)
				CHECK(cuckoo_filter_add(filter, golden_hash(i, filter->seed),
										&host->host) <= CUCKOO_SATURATED);
		}
	}
	else if (sscanf(line, "remove %" SCNu64 " %" SCNu64, &first, &count) == 2)
	{
		for (uint64_t i = first; i < first + count; i++)
			CHECK(cuckoo_filter_remove(filter, golden_hash(i, filter->seed)) <=
				  CUCKOO_SATURATED);
	}
	else if (sscanf(line, "resize %" SCNu64 " %" SCNu64, &first, &count) == 2)
	{
		CuckooFilter resized;

		CHECK_STATUS(cuckoo_filter_resize(filter, &resized, first, count,
										  &host->host), CUCKOO_OK);
		test_release(filter, host);
		*filter = resized;
	}
	else if (sscanf(line, "family %" SCNu64, &first) == 1)
		filter->family = (CuckooFamily) first;
	else if (strncmp(line, "merged", 6) == 0)
		filter->is_merged = true;
	else
		return false;
	return true;
}
