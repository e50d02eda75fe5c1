/*-------------------------------------------------------------------------
 *
 * harness.c
 *		What the unit tests of the core share.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "harness.h"

const char *test_where_format;
uint64_t	test_where_values[6];

static const char *program_name;
static const char *case_name;
static int	npassed;
static int	nfailed;
static jmp_buf case_end;
static uint64_t random_state;

/*
 * Checks
 */
static void
end_case(void)
{
	/* a fuzz target has no cases */
	if (case_name == NULL)
		abort();
	longjmp(case_end, 1);
}

static void
print_where(void)
{
	if (test_where_format != NULL)
	{
		printf("#     where ");
		printf(test_where_format, test_where_values[0], test_where_values[1],
			   test_where_values[2], test_where_values[3]);
		printf("\n");
	}
	fflush(stdout);
}

void
test_fail(const char *file, int line, const char *condition)
{
	printf("#   %s:%d: %s\n", file, line, condition);
	print_where();
	end_case();
}

void
test_fail_equal(const char *file, int line, const char *what, uint64_t value,
				uint64_t expected)
{
	printf("#   %s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64
		   " (0x%" PRIx64 ")\n", file, line, what, value, value, expected,
		   expected);
	print_where();
	end_case();
}

void
test_fail_status(const char *file, int line, const char *what,
				 CuckooStatus value, CuckooStatus expected)
{
	printf("#   %s:%d: %s is %d (%s), not %d (%s)\n", file, line, what,
		   (int) value, cuckoo_status_reason(value), (int) expected,
		   cuckoo_status_reason(expected));
	print_where();
	end_case();
}

/* A failed assertion of the core ends the program, but not without a word. */
static void
on_abort(int signal_number)
{
	(void) signal_number;
	printf("not ok - %s: %s: aborted\n", program_name, case_name);
	print_where();
	printf("%d passed, %d failed\n", npassed, nfailed + 1);
	fflush(stdout);
	_Exit(2);
}

/*
 * Random numbers
 */
uint64_t
test_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

uint64_t
test_random(void)
{
	random_state += UINT64_C(0x9E3779B97F4A7C15);
	return test_mix(random_state);
}

/* 0 to limit - 1; the bias is below limit / 2^64. */
uint64_t
test_random_below(uint64_t limit)
{
	return test_random() % limit;
}

/* A random number shifted right by least to most bits: of any magnitude. */
uint64_t
test_random_shifted(int least, int most)
{
	const int	shift =
		least + (int) test_random_below((uint64_t) (most - least + 1));

	return test_random() >> shift;
}

static bool
is_set(const char *variable)
{
	const char *const value = getenv(variable);

	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

uint64_t
test_amount(uint64_t quick, uint64_t normal, uint64_t full)
{
	return is_set("CUCKOO_TEST_LONG") ? full :
		is_set("CUCKOO_TEST_QUICK") ? quick : normal;
}

static bool
is_wanted(const char *name, int argc, char **argv, int first)
{
	if (first == argc)
		return true;
	for (int i = first; i < argc; i++)
	{
		if (strcmp(argv[i], name) == 0)
			return true;
	}
	return false;
}

/* Run one case; false if a check failed. */
static bool
run_case(const TestCase *test_case)
{
	if (setjmp(case_end) != 0)
		return false;
	test_case->run();
	return true;
}

int
test_main(int argc, char **argv, const TestCase *cases, size_t ncases)
{
	const char *seed_text = getenv("CUCKOO_TEST_SEED");
	int			first = 1;
	uint64_t	seed;

	program_name = strrchr(argv[0], '/');
	program_name = program_name == NULL ? argv[0] : program_name + 1;
	if (argc >= 3 && strcmp(argv[1], "-s") == 0)
	{
		seed_text = argv[2];
		first = 3;
	}
	seed = seed_text != NULL ? strtoull(seed_text, NULL, 0) : TEST_DEFAULT_SEED;
	printf("# %s: seed %" PRIu64 "\n", program_name, seed);
	signal(SIGABRT, on_abort);

	for (size_t i = 0; i < ncases; i++)
	{
		const		clock_t start = clock();
		uint64_t	name_hash = 0;

		case_name = cases[i].name;
		if (!is_wanted(case_name, argc, argv, first))
			continue;
		for (const char *p = case_name; *p != '\0'; p++)
			name_hash = test_mix(name_hash + (unsigned char) *p);
		random_state = test_mix(seed) ^ name_hash;
		test_where_format = NULL;
		fflush(stdout);

		if (run_case(&cases[i]))
		{
			npassed++;
			printf("ok - %s: %s (%.1f s)\n", program_name, case_name,
				   (double) (clock() - start) / CLOCKS_PER_SEC);
		}
		else
		{
			nfailed++;
			printf("not ok - %s: %s (seed %" PRIu64 ")\n", program_name,
				   case_name, seed);
		}
	}

	printf("%d passed, %d failed\n", npassed, nfailed);
	return nfailed == 0 && npassed > 0 ? 0 : 1;
}

/*
 * The host
 *
 * Memory given is preceded by its size, at an address that makes the memory
 * itself odd, and followed by a guard; under the address sanitizer, which sees
 * more, by nothing.
 */
#define FRONT_BYTES	17
#define GUARD		0x5C
#if defined(__SANITIZE_ADDRESS__)
#define GUARD_BYTES	0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD_BYTES	0
#endif
#endif
#ifndef GUARD_BYTES
#define GUARD_BYTES	16
#endif

static void *
host_alloc(void *context, size_t bytes)
{
	TestHost   *const host = context;
	uint8_t    *memory;

	CHECK(bytes <= CUCKOO_MAX_IMAGE_BYTES + 8 * (size_t) 8192);
	host->nallocs++;
	if (host->nallocs == host->fail_at)
		return NULL;

	memory = malloc(FRONT_BYTES + bytes + GUARD_BYTES);
	if (memory == NULL)
		return NULL;
	cuckoo_store_le64(memory, bytes);
	cuckoo_store_le64(memory + 8, ~(uint64_t) bytes);
	memset(memory + FRONT_BYTES, (int) ((0x11 + host->nallocs * 7) & 0xFF),
		   bytes);
	for (int i = 0; i < GUARD_BYTES; i++)
		memory[FRONT_BYTES + bytes + (uint64_t) i] = GUARD;

	host->nlive++;
	host->live_bytes += bytes;
	if (host->peak_bytes < host->live_bytes)
		host->peak_bytes = host->live_bytes;
	return memory + FRONT_BYTES;
}

static void
host_release(void *context, void *given)
{
	TestHost   *const host = context;
	uint8_t    *memory;
	uint64_t	bytes;

	CHECK(given != NULL);
	memory = (uint8_t *) given - FRONT_BYTES;
	bytes = cuckoo_load_le64(memory);
	CHECK(cuckoo_load_le64(memory + 8) == ~bytes);
	for (int i = 0; i < GUARD_BYTES; i++)
		CHECK(memory[FRONT_BYTES + bytes + (uint64_t) i] == GUARD);
	memset(memory, 0, FRONT_BYTES);
	memset(memory + FRONT_BYTES, 0xEE, (size_t) (bytes < 4096 ? bytes : 4096));
	free(memory);

	CHECK(host->nlive > 0);
	host->nlive--;
	host->live_bytes -= bytes;
}

static void
host_poll(void *context)
{
	TestHost   *const host = context;

	host->npolls++;
}

void
test_host_init(TestHost *host)
{
	memset(host, 0, sizeof(*host));
	host->host.alloc = host_alloc;
	host->host.release = host_release;
	host->host.poll = host_poll;
	host->host.context = host;
}

/* Has everything been given back? */
void
test_host_finish(TestHost *host)
{
	CHECK_EQUAL(host->nlive, 0);
	CHECK_EQUAL(host->live_bytes, 0);
}

uint64_t
test_rate(double rate)
{
	return (uint64_t) ldexp(rate, CUCKOO_RATE_BITS);
}

void
test_new(CuckooFilter *filter, TestHost *host, uint64_t capacity,
		 uint64_t rate, int max_copies)
{
	const CuckooParameters parameters = {capacity, rate, max_copies, 0};

	CHECK_STATUS(cuckoo_filter_new(filter, &parameters, &host->host),
				 CUCKOO_OK);
}

void
test_release(CuckooFilter *filter, TestHost *host)
{
	host->host.release(host->host.context, filter->image);
	filter->image = NULL;
}

void
test_new_table(CuckooFilter *filter, TestHost *host, uint32_t ncolumns,
			   int index_bits, int prefix_bits, int max_copies)
{
	memset(filter, 0, sizeof(*filter));
	filter->is_table = true;
	filter->geometry.ncolumns = ncolumns;
	filter->geometry.index_bits = index_bits;
	filter->geometry.prefix_bits = prefix_bits;
	filter->max_copies = max_copies;
	filter->declared_copies = max_copies;
	filter->capacity = CUCKOO_MAX_CAPACITY;
	cuckoo_bucket_packing(&filter->packing, prefix_bits - index_bits);
	filter->image_bytes = (size_t) cuckoo_header_image_bytes(filter);
	filter->image_room = filter->image_bytes;
	filter->image = host->host.alloc(host, filter->image_bytes);
	CHECK(filter->image != NULL);
	memset(filter->image, 0, filter->image_bytes);
}

/*
 * Snapshots
 */
bool
test_same_header(const CuckooFilter *a, const CuckooFilter *b)
{
	return a->image_bytes == b->image_bytes &&
		a->is_table == b->is_table &&
		a->is_merged == b->is_merged &&
		a->family == b->family &&
		a->geometry.ncolumns == b->geometry.ncolumns &&
		a->geometry.index_bits == b->geometry.index_bits &&
		a->geometry.prefix_bits == b->geometry.prefix_bits &&
		a->max_copies == b->max_copies &&
		a->declared_copies == b->declared_copies &&
		a->seed == b->seed &&
		a->capacity == b->capacity &&
		a->nentries == b->nentries &&
		a->nkicks == b->nkicks &&
		a->longest_path == b->longest_path &&
		a->ngrowths == b->ngrowths &&
		a->growth_load == b->growth_load &&
		(!a->is_table || a->packing.fp_bits == b->packing.fp_bits);
}

void
test_snapshot_take(TestSnapshot *snapshot, const CuckooFilter *filter)
{
	snapshot->filter = *filter;
	snapshot->bytes = malloc(filter->image_bytes);
	CHECK(snapshot->bytes != NULL);
	memcpy(snapshot->bytes, filter->image, filter->image_bytes);
}

void
test_snapshot_check(const TestSnapshot *snapshot, const CuckooFilter *filter)
{
	CHECK(test_same_header(&snapshot->filter, filter));
	CHECK(snapshot->filter.image == filter->image);
	CHECK(snapshot->filter.image_room == filter->image_room);
	CHECK(memcmp(snapshot->bytes, filter->image, filter->image_bytes) == 0);
}

void
test_snapshot_free(TestSnapshot *snapshot)
{
	free(snapshot->bytes);
	snapshot->bytes = NULL;
}

void
test_check_filter(CuckooFilter *filter)
{
	CuckooFilter opened;
	uint64_t	position = 0;
	uint64_t	header_bytes = 0;
	uint8_t    *bytes;
	CuckooStatus status;

	CHECK_EQUAL(filter->image_bytes, cuckoo_header_image_bytes(filter));
	CHECK(filter->image_bytes <= filter->image_room);
	cuckoo_header_store(filter);
	bytes = malloc(filter->image_bytes);
	CHECK(bytes != NULL);
	memcpy(bytes, filter->image, filter->image_bytes);

	status = cuckoo_image_open(&opened, bytes, filter->image_bytes);
	CHECK_STATUS(status, CUCKOO_OK);
	CHECK(test_same_header(filter, &opened));
	status = cuckoo_image_check(&opened, NULL, &position);
	CHECK_STATUS(status, CUCKOO_OK);
	cuckoo_header_store(&opened);
	CHECK(memcmp(bytes, filter->image, filter->image_bytes) == 0);
	status = cuckoo_header_open(&opened, bytes, &header_bytes);
	CHECK_STATUS(status, CUCKOO_OK);
	CHECK_EQUAL(header_bytes, filter->image_bytes);
	free(bytes);
}

static int
compare_keys(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

void
test_sort_keys(uint64_t *keys, size_t nkeys)
{
	qsort(keys, nkeys, sizeof(keys[0]), compare_keys);
}

size_t
test_limit_equal(uint64_t *keys, size_t nkeys, int max_equal)
{
	size_t		nkept = 0;

	for (size_t i = 0; i < nkeys; i++)
	{
		if (nkept < (size_t) max_equal ||
			keys[nkept - (size_t) max_equal] != keys[i])
			keys[nkept++] = keys[i];
	}
	return nkept;
}

/* A key that was an entry of 32 bits in between: it means the same. */
static uint64_t
code_key(const CuckooEntryCode *code, uint64_t key)
{
	const int	part = cuckoo_order_part(key);
	const uint32_t entry = cuckoo_entry_of_key(code, key);
	const uint64_t coded = cuckoo_entry_key(code, part, entry);
	const int	prefix_bits = CUCKOO_MAX_PREFIX_BITS - code->free_bits;
	const CuckooAddress address =
		cuckoo_hash_address(cuckoo_order_hash_back(key), code->ncolumns,
							prefix_bits);
	const CuckooAddress coded_address =
		cuckoo_hash_address(cuckoo_order_hash_back(coded), code->ncolumns,
							prefix_bits);

	CHECK_EQUAL(cuckoo_entry_of_key(code, coded), entry);
	CHECK((uint64_t) entry >> code->entry_bits == 0);
	CHECK_EQUAL(coded_address.column, address.column);
	CHECK_EQUAL(coded_address.prefix, address.prefix);
	CHECK_EQUAL(coded >> 32 & cuckoo_low_bits(CUCKOO_COPY_BITS),
				key >> 32 & cuckoo_low_bits(CUCKOO_COPY_BITS));
	return coded;
}

/* Entries have the order of their keys. */
static void
check_entry_order(const CuckooFilter *table, const uint64_t *keys, size_t nkeys)
{
	CuckooEntryCode code;

	if (!cuckoo_entry_code(&code, &table->geometry))
		return;
	for (size_t i = 1; i < nkeys; i++)
		CHECK(cuckoo_order_part(keys[i - 1]) < cuckoo_order_part(keys[i]) ||
			  cuckoo_entry_of_key(&code, keys[i - 1]) <=
			  cuckoo_entry_of_key(&code, keys[i]));
}

/*
 * take_keys
 *		Append the keys of a table, which may be damaged, to an array.
 *
 * Returns how many there are in the array then.
 */
static size_t
take_keys(uint64_t *keys, size_t ntaken, const CuckooFilter *table,
		  bool add_copies, TestHost *host)
{
	void	   *const memory = malloc(cuckoo_block_bytes(table));
	uint64_t	some[CUCKOO_COLUMN_SLOTS];
	CuckooKeyWalk walk;
	CuckooEntryCode code;
	const bool	is_coded = cuckoo_entry_code(&code, &table->geometry);
	size_t		nkeys;

	CHECK(memory != NULL);
	cuckoo_merge_start_keys(&walk, table, memory);
	while ((nkeys = cuckoo_merge_next_keys(&walk, table, add_copies, some,
										   &host->host)) > 0)
	{
		CHECK(nkeys <= CUCKOO_COLUMN_SLOTS);
		for (size_t i = 0; i < nkeys; i++)
			keys[ntaken++] = is_coded ? code_key(&code, some[i]) : some[i];
	}
	free(memory);
	return ntaken;
}

CuckooStatus
test_unite_by_keys(CuckooFilter *filter, const CuckooFilter *other,
				   bool add_copies, bool build_anew, TestHost *host)
{
	const size_t room = (size_t)
		(cuckoo_header_nslots(filter) + cuckoo_header_nslots(other) + 1);
	uint64_t   *const keys = malloc(room * sizeof(keys[0]));
	CuckooHashArray array = {keys, 0, 0};
	const CuckooHashSource source = cuckoo_build_array_source(&array);
	size_t		ntaken;
	CuckooStatus status;

	CHECK(keys != NULL);
	ntaken = take_keys(keys, 0, other, add_copies, host);
	CHECK(other->is_doubtful || ntaken == other->nentries);
	if (build_anew)
		ntaken = take_keys(keys, ntaken, filter, add_copies, host);
	test_sort_keys(keys, ntaken);
	check_entry_order(filter, keys, ntaken);
	array.nkeys = test_limit_equal(keys, ntaken,
								   add_copies ? filter->max_copies : 1);
	cuckoo_merge_header(filter, other);
	if (!add_copies && array.nkeys < ntaken)
		filter->is_merged = true;

	if (!build_anew)
		status = cuckoo_merge_keys(filter, &source, array.nkeys, add_copies,
								   &host->host);
	else
	{
		CuckooFilter built = *filter;
		const int	held_bits =
			filter->geometry.index_bits > other->geometry.index_bits ?
			filter->geometry.index_bits : other->geometry.index_bits;

		status = cuckoo_build_table(&built, &source, array.nkeys,
									held_bits, &host->host);
		if (status == CUCKOO_OK)
		{
			cuckoo_filter_release(filter, &host->host);
			*filter = built;
		}
	}
	free(keys);
	return status;
}
