/*
 * test_values.c
 *		Ways to write one value, what is no value, and parameters out of range.
 */
#define _DEFAULT_SOURCE			/* MAP_ANONYMOUS */

#include <sys/mman.h>
#include <unistd.h>

#include "given.h"

static int	npassed;
static int	nfailed;

static void
check(bool is_right, const char *what)
{
	npassed += is_right;
	nfailed += !is_right;
	if (!is_right)
		printf("not ok - %s\n", what);
}

static int64_t
hash_of(cuckoofilter_value value)
{
	int64_t		hash = 0;

	check(cuckoofilter_hash_of(value, 5, &hash, NULL) == CUCKOOFILTER_OK, "a hash");
	return hash;
}

/*
 * unterminated
 *		A copy of a string whose last byte is the last that can be read.
 */
static const char *
unterminated(const char *s)
{
	const size_t page = (size_t) sysconf(_SC_PAGESIZE);
	const size_t length = strlen(s);
	char	   *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
								   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
	{
		perror("mmap");
		exit(1);
	}
	return memcpy(pages + page - length, s, length);
}

#define PARSED(family, s) \
	cuckoofilter_parsed(CUCKOOFILTER_##family, unterminated(s), strlen(s))
#define SAME(a, b)	check(hash_of(a) == hash_of(b), #a " = " #b)
#define REFUSED(family, s)	do { \
	int64_t		hash; \
	check(cuckoofilter_hash_of(PARSED(family, s), 0, &hash, NULL) == CUCKOOFILTER_VALUE, "refused: " s); \
} while (0)

int
main(void)
{
	static const unsigned char uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255};
	cuckoofilter_parameters parameters = CUCKOOFILTER_DEFAULTS;
	cuckoofilter *filter;
	cuckoofilter_error error;
	cuckoofilter_value mixed[2];

	SAME(PARSED(NUMBER, "7"), cuckoofilter_int64(7));
	SAME(PARSED(NUMBER, "+007.000"), cuckoofilter_int64(7));
	SAME(PARSED(NUMBER, "70e-1"), cuckoofilter_int64(7));
	SAME(PARSED(NUMBER, "-0.0"), cuckoofilter_int64(0));
	SAME(PARSED(NUMBER, "0.7E+1"), cuckoofilter_int64(7));
	SAME(PARSED(NUMBER, "-9223372036854775808"), cuckoofilter_int64(INT64_MIN));
	SAME(PARSED(NUMBER, "1.50"), PARSED(NUMBER, "15e-1"));
	SAME(PARSED(NUMBER, "1e20"), PARSED(NUMBER, "100000000000000000000.0"));
	SAME(PARSED(NUMBER, "nan"), PARSED(NUMBER, "NaN"));
	SAME(PARSED(FLOAT, "-0"), cuckoofilter_double(0));
	SAME(PARSED(FLOAT, "1e300"), cuckoofilter_double(1e300));
	SAME(PARSED(BOOL, "true"), cuckoofilter_bool(true));
	SAME(PARSED(UUID, "01020304-0506-0708-090A-0b0c0d0e0fff"), cuckoofilter_uuid(uuid));
	SAME(PARSED(UUID, "0102030405060708090a0b0c0d0e0fff"), cuckoofilter_uuid(uuid));
	SAME(PARSED(BYTES, "0aFF"), cuckoofilter_bytes("\x0a\xff", 2));
	SAME(PARSED(DATE, "2000-01-02"), cuckoofilter_date(1));
	SAME(PARSED(DATE, "1999-12-31"), cuckoofilter_date(-1));
	SAME(PARSED(TIMESTAMP, "2000-01-01 00:00:01"), cuckoofilter_timestamp(1000000));
	SAME(PARSED(TIMESTAMPTZ, "2000-01-01T01:00+01"), cuckoofilter_timestamptz(0));
	SAME(PARSED(TIME, "00:00:00.000001"), cuckoofilter_time(1));
	SAME(cuckoofilter_char("ab  "), cuckoofilter_text("ab"));

	REFUSED(NUMBER, "");
	REFUSED(NUMBER, ".");
	REFUSED(NUMBER, "1.2.3");
	REFUSED(NUMBER, "1e");
	REFUSED(NUMBER, " 1");
	REFUSED(NUMBER, "0x10");
	REFUSED(NUMBER, "1e999999");
	REFUSED(NUMBER, "1e99999999999");
	REFUSED(FLOAT, "1e999");
	REFUSED(FLOAT, "0x1p3");
	REFUSED(FLOAT, "-");
	REFUSED(BOOL, "yes");
	REFUSED(UUID, "01020304-0506-0708-090a-0b0c0d0e0f");
	REFUSED(UUID, "0102-");
	REFUSED(BYTES, "abc");
	REFUSED(BYTES, "xy");
	REFUSED(DATE, "2001-02-29");
	REFUSED(DATE, "2001-13-01");
	REFUSED(DATE, "0000-01-01");
	REFUSED(DATE, "5874898-01-01");
	REFUSED(DATE, "2001-02-03 ");
	REFUSED(TIMESTAMP, "2001-02-03T04:05:06Z");
	REFUSED(TIMESTAMP, "2001-02-03T04:05:06.");
	REFUSED(TIMESTAMP, "294277-01-01T00:00:00");
	REFUSED(TIMESTAMPTZ, "2001-02-03T04:05:06");
	REFUSED(TIME, "24:00:00.000001");
	REFUSED(TIME, "12:60:00");
	REFUSED(TIME, "12:00:00.1234567");
	REFUSED(TIME, "infinity");
	REFUSED(TEXT, "\xff");
	REFUSED(TEXT, "\xc0\x80");
	REFUSED(TEXT, "\xed\xa0\x80");
	REFUSED(TEXT, "\xe4");
	REFUSED(HASH, "1.5");
	REFUSED(HASH, "9223372036854775808");

	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_PARAMETER && filter == NULL, "no capacity");
	parameters.capacity = 1e6;
	parameters.fpr = 1;
	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_PARAMETER, "a rate of 1");
	parameters.fpr = 1e-18;
	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_PARAMETER, "too fine a rate");
	parameters.fpr = 0.01;
	parameters.max_copies = 5;
	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_PARAMETER, "five copies");
	parameters.max_copies = 1;
	parameters.capacity = 1e12;
	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_TOO_LARGE, "too large");
	parameters.capacity = 2;
	check(cuckoofilter_new(&filter, &parameters, &error) == CUCKOOFILTER_OK, "two");
	check(cuckoofilter_remove(filter, cuckoofilter_int64(1), &error) == CUCKOOFILTER_NOT_REMOVABLE, "append-only");
	cuckoofilter_add(filter, cuckoofilter_int64(1), NULL);
	cuckoofilter_add(filter, cuckoofilter_int64(2), NULL);
	check(cuckoofilter_add(filter, cuckoofilter_int64(3), &error) == CUCKOOFILTER_FULL, "full");
	check(cuckoofilter_add(filter, cuckoofilter_text("1"), &error) == CUCKOOFILTER_FAMILY &&
		  strcmp(error.message, "filter holds number values, cannot add text") == 0, error.message);
	cuckoofilter_free(filter);

	mixed[0] = cuckoofilter_int64(1);
	mixed[1] = cuckoofilter_text("1");
	parameters.max_copies = 4;
	check(cuckoofilter_build(&filter, &parameters, false, mixed, 2, &error) == CUCKOOFILTER_FAMILY, "mixed families");
	cuckoofilter_free(NULL);

	printf("values: %d passed, %d failed\n", npassed, nfailed);
	return nfailed > 0;
}
