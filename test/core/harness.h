/*-------------------------------------------------------------------------
 *
 * harness.h
 *		What the unit tests of the core share.
 *
 * A program is a table of cases.  Each runs with random numbers that follow
 * from one seed and the case's name, so that a failure can be had again:
 *
 *		test_filter [-s seed] [name of a case]...
 *
 * The seed comes from -s, else from CUCKOO_TEST_SEED, else is
 * TEST_DEFAULT_SEED; it is printed.  The first CHECK that fails ends its case.
 *
 *-------------------------------------------------------------------------
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cuckoo_entry.h"
#include "core/cuckoo_merge.h"

#define TEST_DEFAULT_SEED	UINT64_C(20240229)

typedef struct TestCase
{
	const char *name;
	void		(*run) (void);
} TestCase;

#define TEST_MAIN(cases) \
int \
main(int argc, char **argv) \
{ \
	return test_main(argc, argv, cases, sizeof(cases) / sizeof((cases)[0])); \
}

extern int	test_main(int argc, char **argv, const TestCase *cases,
					  size_t ncases);

/*
 * What a failed check prints besides itself: a printf format and up to six
 * numbers of 64 bits, cheap enough to be set in inner loops.
 */
extern const char *test_where_format;
extern uint64_t test_where_values[6];

#define WHERE(format, a, b, c, d) \
	(test_where_format = (format), \
	 test_where_values[0] = (uint64_t) (a), \
	 test_where_values[1] = (uint64_t) (b), \
	 test_where_values[2] = (uint64_t) (c), \
	 test_where_values[3] = (uint64_t) (d))

extern void test_fail(const char *file, int line, const char *condition);
extern void test_fail_equal(const char *file, int line, const char *what,
							uint64_t value, uint64_t expected);
extern void test_fail_status(const char *file, int line, const char *what,
							 CuckooStatus value, CuckooStatus expected);

#define CHECK(condition) \
	do { \
		if (!(condition)) \
			test_fail(__FILE__, __LINE__, #condition); \
	} while (0)

#define CHECK_EQUAL(value, expected) \
	do { \
		const uint64_t value_ = (uint64_t) (value); \
		const uint64_t expected_ = (uint64_t) (expected); \
		if (value_ != expected_) \
			test_fail_equal(__FILE__, __LINE__, #value, value_, expected_); \
	} while (0)

#define CHECK_STATUS(value, expected) \
	do { \
		const CuckooStatus value_ = (value); \
		const CuckooStatus expected_ = (expected); \
		if (value_ != expected_) \
			test_fail_status(__FILE__, __LINE__, #value, value_, expected_); \
	} while (0)

/*
 * How much a case shall do: by default what takes the whole suite a few
 * minutes, with CUCKOO_TEST_LONG=1 the full numbers promised, and with
 * CUCKOO_TEST_QUICK=1 what an emulator or a sanitizer build can afford.
 */
extern uint64_t test_amount(uint64_t quick, uint64_t normal, uint64_t full);

/*
 * Random numbers: splitmix64 (Steele, Lea, Flood, OOPSLA 2014).  No expression
 * may have two calls whose order C leaves open: the sequence has to be the
 * same with every compiler.
 */
extern uint64_t test_random(void);
extern uint64_t test_random_below(uint64_t limit);
extern uint64_t test_random_shifted(int least, int most);
extern uint64_t test_mix(uint64_t value);

/*
 * A host that counts.  What it gives is at an odd address and filled with
 * bytes that differ from call to call; a write past its end, a release of
 * something else and what was never released are noticed.
 */
typedef struct TestHost
{
	CuckooHost	host;
	uint64_t	nallocs;		/* calls of alloc so far */
	uint64_t	fail_at;		/* the call that gives NULL, counted from 1 */
	uint64_t	nlive;			/* given and not released */
	uint64_t	live_bytes;
	uint64_t	peak_bytes;
	uint64_t	npolls;
} TestHost;

extern void test_host_init(TestHost *host);
extern void test_host_finish(TestHost *host);

static inline int
test_min(int a, int b)
{
	return a < b ? a : b;
}

static inline int
test_max(int a, int b)
{
	return a > b ? a : b;
}

/* Sort keys; and of sorted ones leave at most so many equal, and say how many. */
extern void test_sort_keys(uint64_t *keys, size_t nkeys);
extern size_t test_limit_equal(uint64_t *keys, size_t nkeys, int max_equal);

/*
 * The union of two tables as the aggregates make it of many: by adding keys to
 * one of them, or by building a table of the keys of both.
 */
extern CuckooStatus test_unite_by_keys(CuckooFilter *filter,
									   const CuckooFilter *other,
									   bool add_copies, bool build_anew,
									   TestHost *host);

/* A rate as the core takes it. */
extern uint64_t test_rate(double rate);

/* An empty filter of the set; checks that it could be made. */
extern void test_new(CuckooFilter *filter, TestHost *host, uint64_t capacity,
					 uint64_t rate, int max_copies);
extern void test_release(CuckooFilter *filter, TestHost *host);

/* An empty table of any shape at all. */
extern void test_new_table(CuckooFilter *filter, TestHost *host,
						   uint32_t ncolumns, int index_bits, int prefix_bits,
						   int max_copies);

/* A filter kept to be compared: header and bytes. */
typedef struct TestSnapshot
{
	CuckooFilter filter;
	uint8_t    *bytes;
} TestSnapshot;

extern void test_snapshot_take(TestSnapshot *snapshot,
							   const CuckooFilter *filter);
extern void test_snapshot_check(const TestSnapshot *snapshot,
								const CuckooFilter *filter);
extern void test_snapshot_free(TestSnapshot *snapshot);
extern bool test_same_header(const CuckooFilter *a, const CuckooFilter *b);

/*
 * Every invariant of a filter: the image checks, its header stores, and what
 * is read back from exactly so many bytes is the same.
 */
extern void test_check_filter(CuckooFilter *filter);

#endif							/* HARNESS_H */
