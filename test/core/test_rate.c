/*-------------------------------------------------------------------------
 *
 * test_rate.c
 *		The false positive rate asked for is an upper bound, and measured.
 *
 * How far a measurement may be off.  Let a filter hold n entries.  A hash that
 * was never added is a false positive if it has the class of one of them:
 * class i with probability w_i = c_i / (k 2^P / 256) / 256, where c_i is 2, or
 * 4 if its permanent bits are 1 (which two of 256 patterns become).  So the
 * rate of this filter is r = sum of w_i (less what classes coincide, which
 * only lowers it), over random filters with mean 2 n / (k 2^P) * 129/128, what
 * cuckoo_geometry_fpr() says up to the exponential, and with the standard
 * deviation of n independent c_i: c_i / 2 is 1 or 2, the latter with
 * probability 1/128 nearly, variance below 1/128, so s_1 <= mean sqrt(1 / (128
 * n)).
 *
 * Of m probes the number of false positives is binomial (m, r): standard
 * deviation at most s_2 = sqrt(r / m) of the measured rate.  Both are
 * independent and near normal for the numbers here (at least 100 false
 * positives expected), so that a measured rate is beyond mean + 5 s, with s^2 =
 * s_1^2 + s_2^2, with probability about 3e-7: once in 3 million measurements.
 * A skew of the binomial at 100 expected is covered by taking 6 s there.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "harness.h"

/*
 * check_rate
 *		Measure the rate of a filter against formula and promise.
 *
 * Probes are hashes from a stream that no test adds from, or, if make_probe is
 * given, what that makes of a number.  exact demands that the formula is met
 * from both sides; for it no two values may share many classes, and no value
 * have copies.
 */
static double
check_rate(const CuckooFilter *filter, double promised, bool exact,
		   uint64_t (*make_probe) (uint64_t i))
{
	const double formula = cuckoo_filter_fpr(filter);
	uint64_t	nprobes = test_amount(100000, 2000000, 20000000);
	uint64_t	nfalse = 0;
	const uint64_t start = test_random();
	uint64_t	hashes[256];
	bool		results[256];
	double		measured;
	double		sigma;
	double		width;

	if (!filter->is_table)
		return 0;
	/* 400 false positives expected, if that can be afforded */
	if (formula * (double) nprobes < 400)
		nprobes *= 8;
	for (uint64_t i = 0; i < nprobes; i += 256)
	{
		for (uint64_t j = 0; j < 256; j++)
			hashes[j] = make_probe == NULL ?
				test_mix(start + (i + j) * UINT64_C(0x9E3779B97F4A7C15)) :
				make_probe(i + j);
		cuckoo_filter_contains_batch(filter, hashes, 256, results);
		for (uint64_t j = 0; j < 256; j++)
			nfalse += results[j];
	}
	nprobes = (nprobes + 255) / 256 * 256;
	measured = (double) nfalse / (double) nprobes;
	sigma = sqrt(formula / (double) nprobes +
				 formula * formula / (128.0 * (double) filter->nentries));
	width = formula * (double) nprobes < 1000 ? 6 : 5;

	WHERE("measured * 10^9 %" PRIu64 ", formula %" PRIu64 ", promised %" PRIu64
		  ", entries %" PRIu64, measured * 1e9, formula * 1e9, promised * 1e9,
		  filter->nentries);
	CHECK(measured <= formula + width * sigma);
	if (exact)
		CHECK(measured >= formula - width * sigma);
	if (filter->nentries <= filter->capacity)
		CHECK(formula <= promised * (1 + 1e-9) &&
			  measured <= promised + width * sigma);
	return measured;
}

static const double rates[] = {0.015, 0.01, 0.001, 1e-4, 1.0 / 65536};

#define NRATES	(sizeof(rates) / sizeof(rates[0]))

/* At capacity and at sizes on the way there, grown from empty. */
static void
on_the_way(void)
{
	static const uint64_t capacities[] = {
		300, 1000, 1300, 10000, 33000, 100000, 500000
	};

	for (size_t c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++)
	{
		for (size_t r = 0; r < NRATES; r++)
		{
			const uint64_t capacity = capacities[c];
			const uint64_t salt = test_random();
			uint64_t	next = capacity / 10;
			CuckooFilter filter;
			TestHost	host;
			double		measured = 0;

			test_host_init(&host);
			test_new(&filter, &host, capacity, test_rate(rates[r]), 4);
			for (uint64_t i = 0; i < capacity; i++)
			{
				CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(salt + i),
											   &host.host), CUCKOO_OK);
				if (i + 1 == next || i + 1 == capacity)
				{
					measured = check_rate(&filter, rates[r], true, NULL);
					next += next < capacity / 3 ? capacity / 5 : capacity / 2;
				}
			}
			if (c == 5)
				printf("# %" PRIu64 " values at %.7f: measured %.7f\n",
					   capacity, rates[r], measured);
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

/* Small filters: many of them, since one alone may have luck either way. */
static void
small_filters(void)
{
	for (uint64_t capacity = 24; capacity <= 200; capacity += 22)
	{
		const uint64_t nfilters = test_amount(100, 2000, 20000);
		uint64_t	nfalse = 0;
		uint64_t	nprobes = 0;
		double		formula = 0;
		double		sigma;

		for (uint64_t i = 0; i < nfilters; i++)
		{
			const uint64_t salt = test_random();
			CuckooFilter filter;
			TestHost	host;

			test_host_init(&host);
			test_new(&filter, &host, capacity, test_rate(0.01), 4);
			for (uint64_t j = 0; j < capacity; j++)
				CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(salt + j),
											   &host.host), CUCKOO_OK);
			CHECK(filter.is_table);
			formula = cuckoo_filter_fpr(&filter);
			for (int j = 0; j < 2000; j++)
				nfalse += cuckoo_filter_contains(&filter, test_random());
			nprobes += 2000;
			test_release(&filter, &host);
			test_host_finish(&host);
		}
		/* probes of one filter share its rate: the first term of the header */
		sigma = sqrt(formula / (double) nprobes + formula * formula /
					 (128.0 * (double) (capacity * nfilters)));
		WHERE("capacity %" PRIu64 ", false %" PRIu64 " of %" PRIu64, capacity,
			  nfalse, nprobes, 0);
		CHECK(fabs((double) nfalse / (double) nprobes - formula) <= 5 * sigma +
			  0.001 * formula);
		CHECK((double) nfalse / (double) nprobes <= 0.01 + 5 * sigma);
	}
}

/* After five full turnovers: every value removed and another added. */
static void
after_churn(void)
{
	static const uint64_t capacities[] = {1000, 20000, 200000};

	for (size_t c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++)
	{
		for (size_t r = 0; r < NRATES; r++)
		{
			const uint64_t capacity = capacities[c];
			const uint64_t salt = test_random();
			CuckooFilter filter;
			TestHost	host;
			uint64_t	nkept = 0;
			uint64_t	bytes;

			test_host_init(&host);
			test_new(&filter, &host, capacity, test_rate(rates[r]), 4);
			for (uint64_t i = 0; i < capacity; i++)
				CHECK_STATUS(cuckoo_filter_add(&filter, test_mix(salt + i),
											   &host.host), CUCKOO_OK);
			bytes = filter.image_bytes;
			for (uint64_t i = 0; i < 5 * capacity; i++)
			{
				const CuckooStatus status =
					cuckoo_filter_remove(&filter, test_mix(salt + i));

				/* four values of one class are there for good */
				if (status == CUCKOO_SATURATED)
					nkept++;
				else
					CHECK_STATUS(status, CUCKOO_OK);
				if (filter.nentries < capacity)
					CHECK_STATUS(cuckoo_filter_add(&filter,
												   test_mix(salt + capacity +
															i),
												   &host.host), CUCKOO_OK);
				if (i % capacity == capacity / 2)
					CHECK(cuckoo_filter_contains(&filter,
												 test_mix(salt + i + 1)));
			}
			CHECK(nkept * 100 <= capacity);
			for (uint64_t i = 5 * capacity; i < 6 * capacity - nkept; i++)
				CHECK(cuckoo_filter_contains(&filter, test_mix(salt + i)));
			check_rate(&filter, rates[r], nkept == 0, NULL);
			/* no creep: the table may have grown once, never more */
			CHECK(filter.image_bytes <= 2 * bytes);
			test_check_filter(&filter);
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

/* Built at once, and resized: coarser, smaller, larger. */
static void
built_and_resized(void)
{
	const uint64_t n = test_amount(5000, 50000, 200000);

	for (size_t r = 0; r < NRATES; r++)
	{
		const CuckooParameters parameters = {4 * n, test_rate(rates[r]), 4, 0};
		uint64_t   *const keys = malloc(n * sizeof(keys[0]));
		CuckooFilter filter;
		CuckooFilter resized;
		TestHost	host;

		CHECK(keys != NULL);
		for (uint64_t i = 0; i < n; i++)
			keys[i] = test_random();
		test_sort_keys(keys, n);
		test_host_init(&host);
		CHECK_STATUS(cuckoo_build_array(&filter, &parameters, keys, n,
										&host.host), CUCKOO_OK);
		check_rate(&filter, rates[r], true, NULL);

		CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, n, 0, &host.host),
					 CUCKOO_OK);
		check_rate(&resized, rates[r], true, NULL);
		test_release(&resized, &host);
		CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, n,
										  test_rate(0.015),
										  &host.host), CUCKOO_OK);
		check_rate(&resized, 0.015, true, NULL);
		test_release(&resized, &host);
		CHECK_STATUS(cuckoo_filter_resize(&filter, &resized, 8 * n, 0,
										  &host.host),
					 CUCKOO_OK);
		check_rate(&resized, cuckoo_filter_declared_fpr(&resized), true, NULL);
		test_release(&resized, &host);
		test_release(&filter, &host);
		test_host_finish(&host);
		free(keys);
	}
}

/*
 * Key shapes that defeat weak hashing: the 8 little-endian key bytes of each
 * number.  Probes are keys of the same shape that were not added.
 */
#define SHAPE_KEYS		50000

static uint64_t
hash_number(uint64_t number)
{
	uint8_t		key[8];

	cuckoo_store_le64(key, number);
	return cuckoo_hash(key, sizeof(key), 0);
}

static uint64_t
dense(uint64_t i)
{
	return hash_number(i);
}

static uint64_t
dense_from_probe(uint64_t i)
{
	return dense(i + SHAPE_KEYS);
}

static uint64_t
times_2_16(uint64_t i)
{
	return hash_number(i << 16);
}

static uint64_t
times_2_16_probe(uint64_t i)
{
	return times_2_16(i + SHAPE_KEYS);
}

static uint64_t
times_2_32(uint64_t i)
{
	return hash_number(i << 32);
}

static uint64_t
times_2_32_probe(uint64_t i)
{
	return times_2_32(i + SHAPE_KEYS);
}

/* The bits of a double, as IEEE 754 has them: 1.0, 2.0, 3.0 ... */
static uint64_t
doubles(uint64_t i)
{
	uint64_t	mantissa = i + 1;
	uint64_t	exponent = 1023 + 52;

	while (mantissa >> 52 == 0)
	{
		mantissa <<= 1;
		exponent--;
	}
	return hash_number(exponent << 52 | (mantissa & cuckoo_low_bits(52)));
}

static uint64_t
doubles_probe(uint64_t i)
{
	return doubles(i + SHAPE_KEYS);
}

static uint64_t
negative(uint64_t i)
{
	return hash_number(~i);
}

static uint64_t
negative_probe(uint64_t i)
{
	return negative(i + SHAPE_KEYS);
}

/* Text of digits, as many keys are. */
static uint64_t
digits(uint64_t i)
{
	char		text[24];
	const int	length = snprintf(text, sizeof(text), "user%" PRIu64, i);

	return cuckoo_hash(text, (size_t) length, 0);
}

static uint64_t
digits_probe(uint64_t i)
{
	return digits(i + SHAPE_KEYS);
}

static void
key_shapes(void)
{
	static const struct
	{
		const char *name;
		uint64_t	(*key) (uint64_t i);
		uint64_t	(*probe) (uint64_t i);
	}			shapes[] = {
		{"dense", dense, dense_from_probe},
		{"x << 16", times_2_16, times_2_16_probe},
		{"x << 32", times_2_32, times_2_32_probe},
		{"doubles", doubles, doubles_probe},
		{"negative", negative, negative_probe},
		{"digits", digits, digits_probe},
	};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
	{
		for (size_t r = 0; r < NRATES; r++)
		{
			CuckooFilter filter;
			TestHost	host;

			test_host_init(&host);
			test_new(&filter, &host, SHAPE_KEYS, test_rate(rates[r]), 4);
			for (uint64_t i = 0; i < SHAPE_KEYS; i++)
			{
				WHERE("shape %" PRIu64 ", key %" PRIu64, s, i, 0, 0);
				CHECK_STATUS(cuckoo_filter_add(&filter, shapes[s].key(i),
											   &host.host), CUCKOO_OK);
			}
			for (uint64_t i = 0; i < SHAPE_KEYS; i++)
				CHECK(cuckoo_filter_contains(&filter, shapes[s].key(i)));
			check_rate(&filter, rates[r], true, shapes[s].probe);
			test_release(&filter, &host);
			test_host_finish(&host);
		}
	}
}

static const TestCase cases[] = {
	{"on_the_way", on_the_way},
	{"small_filters", small_filters},
	{"after_churn", after_churn},
	{"built_and_resized", built_and_resized},
	{"key_shapes", key_shapes},
};

TEST_MAIN(cases)
