/*-------------------------------------------------------------------------
 *
 * make_golden.c
 *		Write the golden images of format 1.
 *
 * Not part of the check, and not to be run over files that exist: they say
 * what was written once, and a program that reads them otherwise is wrong.  A
 * new format, or a new case, gets new files.  What is there already stays as
 * it is; where operations place entries otherwise from now on, which no
 * released version may do, it moves to the directory of earlier ones.
 *
 *		make_golden directory
 *
 * Headers and answers in the text files were taken from the filters at that
 * time, and the answers compared with what the operations say must be there
 * (test_golden does so again).
 *
 *-------------------------------------------------------------------------
 */
#include "golden.h"

typedef struct GoldenCase
{
	const char *name;
	const char *about;
	const char *operations;		/* lines */
	uint64_t	nkeys;			/* keys 0 to nkeys - 1 are asked for */
} GoldenCase;

/* rates: 46116860184273879 is 1 %, 4611686018427388 0.1 %, in 2^-62 */
static const GoldenCase golden_cases[] = {
	{"list_empty", "empty, declared for ten million",
	"new 10000000 46116860184273879 4 0\n", 0},
	{"list", "a list, with a seed and a family",
		"new 1000000 46116860184273879 4 81985529216486895\nfamily 1\n"
	"add 0 20 1\n", 20},
	{"list_copies", "a list with copies, some saturated, some taken out again",
		"new 1000000 4611686018427388 4 18446744073709551615\nfamily 3\n"
		"add 0 10 1\nadd 3 4 2\nadd 5 3 9\nremove 0 7\nremove 3 1\nremove 8 1\n",
	10},
	{"list_single", "a list for good, of single copies, filled to its capacity",
	"new 23 46116860184273879 1 0\nfamily 2\nadd 0 23 2\n", 23},
	{"table_q0", "a table of one bucket per column",
		"new 300 46116860184273879 4 0\nfamily 3\nadd 0 300 1\nremove 100 50\n",
	300},
	{"table_wide", "fingerprints that do not fit one word",
		"new 40 4611686018 4 7\nfamily 5\nadd 0 30 1\nadd 0 3 5\nremove 20 5\n",
	30},
	{"table_q3", "grown from a list by three doublings, half a byte left over",
	"new 2300 46116860184273879 4 0\nfamily 1\nadd 0 2300 1\n", 2300},
	{"table_q8", "the last size without superblocks",
	"new 66000 72057594037927936 4 1\nfamily 1\nadd 0 66000 1\n", 66000},
	{"table_built", "built at once, then added to",
		"build 9000 46116860184273879 4 0 0 8000\nfamily 4\nadd 8000 500 1\n",
	8500},
	{"table_q10", "four superblocks of eight columns: declared small and fine,"
		" then larger and coarser",
		"new 24 4611686018 4 0\nfamily 1\nadd 0 24 1\n"
		"resize 20000 4503599627370496\nadd 24 19976 1\nremove 7000 100\n",
	20000},
	{"table_single_copies", "max_copies 1, its adds repeated",
		"new 1500 4611686018427388 1 9223372036854775808\nfamily 6\n"
	"add 0 1500 3\n", 1500},
	{"table_lowered", "nothing but hot values: max_copies went down",
	"new 1500 46116860184273879 4 0\nfamily 3\nadd 0 600 6\n", 600},
	{"table_merged", "marked as a union that made entries one",
	"new 800 4611686018427388 4 5\nfamily 1\nadd 0 500 1\nmerged\n", 500},
	{"table_resized", "made smaller and coarser",
		"new 100000 4611686018427388 3 0\nfamily 1\nadd 0 5000 1\n"
	"remove 0 3000\nresize 2500 46116860184273879\nadd 6000 100 2\n", 5000},
};

static char directory[1000];

static FILE *
open_file(const char *name, const char *extension, const char *mode)
{
	char		path[1200];

	snprintf(path, sizeof(path), "%s/%s.%s", directory, name, extension);
	return fopen(path, mode);
}

static FILE *
create(const char *name, const char *extension)
{
	FILE	   *const file = open_file(name, extension, "wb");

	if (file == NULL)
	{
		perror(name);
		exit(1);
	}
	return file;
}

static bool
exists(const char *name, const char *extension)
{
	FILE	   *const file = open_file(name, extension, "rb");

	if (file != NULL)
		fclose(file);
	return file != NULL;
}

static void
make(const GoldenCase *golden)
{
	CuckooFilter filter;
	TestHost	host;
	FILE	   *file;
	uint8_t		checksum[8];
	const char *line = golden->operations;
	const uint64_t step = golden->nkeys / 40 + 1;

	test_host_init(&host);
	while (*line != '\0')
	{
		CHECK(golden_operate(line, &filter, &host));
		line = strchr(line, '\n') + 1;
	}
	test_check_filter(&filter);

	file = create(golden->name, "bin");
	cuckoo_store_le64(checksum, cuckoo_checksum(filter.image,
												filter.image_bytes));
	fwrite(filter.image, 1, filter.image_bytes, file);
	fwrite(checksum, 1, sizeof(checksum), file);
	CHECK(fclose(file) == 0);

	file = create(golden->name, "txt");
	fprintf(file, "# %s: %s\n%s", golden->name, golden->about,
			golden->operations);
	fprintf(file, "bytes %" PRIu64 "\nchecksum 0x%016" PRIx64 "\n",
			(uint64_t) filter.image_bytes, cuckoo_load_le64(checksum));
	fprintf(file, "table %d\nis_merged %d\nkey_family %d\nk %d\nq %d\nP %d\n"
			"max_copies %d\ndeclared_copies %d\nseed %" PRIu64 "\ncapacity %"
			PRIu64 "\nentries %" PRIu64 "\nkicks %" PRIu64 "\nlongest_path %d\n"
			"growths %d\ngrowth_load %d\n",
			(int) filter.is_table, (int) filter.is_merged, (int) filter.family,
			(int) filter.geometry.ncolumns, filter.geometry.index_bits,
			filter.geometry.prefix_bits, filter.max_copies,
			filter.declared_copies, filter.seed, filter.capacity,
			filter.nentries, filter.nkicks, filter.longest_path,
			filter.ngrowths, filter.growth_load);
	/* key, hash, copies */
	for (uint64_t i = 0; i < golden->nkeys; i += step)
	{
		const uint64_t hash = golden_hash(i, filter.seed);

		fprintf(file, "answer %" PRIu64 " 0x%016" PRIx64 " %d\n", i, hash,
				cuckoo_filter_count(&filter, hash));
	}
	for (uint64_t i = 0; i < 20; i++)
	{
		const uint64_t hash = golden_hash(1000000 + i, filter.seed);

		fprintf(file, "answer %" PRIu64 " 0x%016" PRIx64 " %d\n", 1000000 + i,
				hash, cuckoo_filter_count(&filter, hash));
	}
	CHECK(fclose(file) == 0);
	test_release(&filter, &host);
	test_host_finish(&host);
}

static void
make_all(void)
{
	for (size_t i = 0; i < sizeof(golden_cases) / sizeof(golden_cases[0]); i++)
	{
		if (exists(golden_cases[i].name, "bin") ||
			exists(golden_cases[i].name, "txt"))
			printf("# %s is there and stays as it is\n", golden_cases[i].name);
		else
			make(&golden_cases[i]);
	}
}

int
main(int argc, char **argv)
{
	static const TestCase cases[] = {{"make_all", make_all}};

	if (argc != 2 || strlen(argv[1]) >= sizeof(directory))
	{
		fprintf(stderr, "usage: make_golden directory\n");
		return 1;
	}
	strcpy(directory, argv[1]);
	return test_main(1, argv, cases, 1);
}
