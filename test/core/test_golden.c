/*-------------------------------------------------------------------------
 *
 * test_golden.c
 *		Images of format 1: still read, still right, and but for those that an
 *		earlier version wrote, still what the same operations write.
 *
 *-------------------------------------------------------------------------
 */
#include "golden.h"
#include "reference.h"

#ifndef GOLDEN_DIR
#define GOLDEN_DIR	"../golden/format1"
#endif

#define MAX_IMAGE	200000

static const char *const names[] = {
	"list_empty", "list", "list_copies", "list_single", "table_q0",
	"table_wide", "table_q3", "table_q8", "table_built", "table_q10",
	"table_single_copies", "table_lowered", "table_merged", "table_resized",
	"earlier/table_wide", "earlier/table_q3", "earlier/table_q8",
	"earlier/table_q10", "earlier/table_single_copies",
	"earlier/table_lowered", "earlier/table_merged", "earlier/table_resized"
};

#define NNAMES	(sizeof(names) / sizeof(names[0]))

static FILE *
open_golden(const char *name, const char *extension)
{
	const char *directory = getenv("CUCKOO_GOLDEN_DIR");
	char		path[1200];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s.%s",
			 directory != NULL ? directory : GOLDEN_DIR, name, extension);
	file = fopen(path, "rb");
	if (file == NULL)
	{
		perror(path);
		CHECK(file != NULL);
	}
	return file;
}

/* The binary form: image and checksum. */
static uint8_t *
read_golden(const char *name, size_t *image_bytes)
{
	FILE	   *const file = open_golden(name, "bin");
	uint8_t    *const bytes = malloc(MAX_IMAGE);
	uint8_t    *image;
	size_t		nread;

	CHECK(bytes != NULL);
	nread = fread(bytes, 1, MAX_IMAGE, file);
	fclose(file);
	CHECK(nread < MAX_IMAGE && nread >= CUCKOO_HEADER_BYTES + 8);
	*image_bytes = nread - 8;
	CHECK_EQUAL(cuckoo_checksum(bytes, *image_bytes),
				ref_get_bits(bytes, 8 * (uint64_t) *image_bytes, 64));
	/* in memory of just its size */
	image = malloc(*image_bytes);
	CHECK(image != NULL);
	memcpy(image, bytes, *image_bytes);
	free(bytes);
	return image;
}

static bool
expect_number(const char *line, const char *field, uint64_t value)
{
	const size_t length = strlen(field);

	if (strncmp(line, field, length) != 0 || line[length] != ' ')
		return false;
	CHECK_EQUAL(value, strtoull(line + length + 1, NULL, 0));
	return true;
}

/* How often the operations of the text add or remove a key. */
static void
count_key(const char *line, uint64_t key, int *nadds, int *nremoves)
{
	uint64_t	first;
	uint64_t	count;
	uint64_t	times;

	if (sscanf(line, "add %" SCNu64 " %" SCNu64 " %" SCNu64, &first, &count,
			   &times) == 3 && key >= first && key < first + count)
		*nadds += (int) times;
	if (sscanf(line, "build %*u %*u %*d %*u %" SCNu64 " %" SCNu64, &first,
			   &count) == 2 && key >= first && key < first + count)
		*nadds += 1;
	if (sscanf(line, "remove %" SCNu64 " %" SCNu64, &first, &count) == 2 &&
		key >= first && key < first + count)
		*nremoves += 1;
}

/*
 * check_golden
 *		One image against its text file.
 */
static void
check_golden(const char *name)
{
	FILE	   *const text = open_golden(name, "txt");
	CuckooFilter made;
	CuckooFilter read;
	TestHost	host;
	uint64_t	position;
	size_t		image_bytes;
	uint8_t    *const image = read_golden(name, &image_bytes);
	char		operations[50][100];
	int			noperations = 0;
	int			nanswers = 0;
	int			nfields = 0;
	char		line[200];

	printf("# %s: %" PRIu64 " bytes\n", name, (uint64_t) image_bytes);
	CHECK_STATUS(cuckoo_image_open(&read, image, image_bytes), CUCKOO_OK);
	CHECK_STATUS(cuckoo_image_check(&read, NULL, &position), CUCKOO_OK);

	test_host_init(&host);
	while (fgets(line, sizeof(line), text) != NULL)
	{
		uint64_t	key;
		uint64_t	hash;
		int			ncopies;

		if (line[0] == '#')
			continue;
		if (golden_operate(line, &made, &host))
		{
			CHECK(noperations < 50 && strlen(line) < 100);
			strcpy(operations[noperations++], line);
		}
		else if (sscanf(line, "answer %" SCNu64 " %" SCNx64 " %d", &key, &hash,
						&ncopies) == 3)
		{
			int			nadds = 0;
			int			nremoves = 0;

			WHERE("key %" PRIu64, key, 0, 0, 0);
			CHECK_EQUAL(golden_hash(key, read.seed), hash);
			CHECK_EQUAL(cuckoo_filter_count(&read, hash), ncopies);
			CHECK_EQUAL(cuckoo_filter_contains(&read, hash), ncopies > 0);
			/* and what was expected is what must be expected */
			for (int i = 0; i < noperations; i++)
				count_key(operations[i], key, &nadds, &nremoves);
			if (nadds > nremoves)
				CHECK(ncopies > 0);
			if (nadds == 0 && !read.is_table)
				CHECK_EQUAL(ncopies, 0);
			nanswers++;
		}
		else
		{
			CHECK(expect_number(line, "bytes", image_bytes) ||
				  expect_number(line, "checksum",
								cuckoo_checksum(image, image_bytes)) ||
				  expect_number(line, "table", read.is_table) ||
				  expect_number(line, "is_merged", read.is_merged) ||
				  expect_number(line, "key_family", read.family) ||
				  expect_number(line, "k", read.geometry.ncolumns) ||
				  expect_number(line, "q",
								(uint64_t) read.geometry.index_bits) ||
				  expect_number(line, "P",
								(uint64_t) read.geometry.prefix_bits) ||
				  expect_number(line, "max_copies",
								(uint64_t) read.max_copies) ||
				  expect_number(line, "declared_copies",
								(uint64_t) read.declared_copies) ||
				  expect_number(line, "seed", read.seed) ||
				  expect_number(line, "capacity", read.capacity) ||
				  expect_number(line, "entries", read.nentries) ||
				  expect_number(line, "kicks", read.nkicks) ||
				  expect_number(line, "longest_path",
								(uint64_t) read.longest_path) ||
				  expect_number(line, "growths", (uint64_t) read.ngrowths) ||
				  expect_number(line, "growth_load",
								(uint64_t) read.growth_load));
			nfields++;
		}
	}
	fclose(text);
	CHECK_EQUAL(nfields, 17);
	CHECK(nanswers >= 20 && noperations > 0);

	/* the same operations make the same bytes today, since they last changed */
	test_check_filter(&made);
	if (strncmp(name, "earlier/", 8) != 0)
	{
		CHECK_EQUAL(made.image_bytes, image_bytes);
		for (size_t i = 0; i < image_bytes; i++)
		{
			WHERE("byte %" PRIu64, i, 0, 0, 0);
			CHECK_EQUAL(made.image[i], image[i]);
		}
	}

	/* every key that the operations leave is there */
	for (uint64_t key = 0; key < 71000; key++)
	{
		int			nadds = 0;
		int			nremoves = 0;

		for (int i = 0; i < noperations; i++)
			count_key(operations[i], key, &nadds, &nremoves);
		WHERE("key %" PRIu64, key, 0, 0, 0);
		if (nadds > nremoves)
			CHECK(cuckoo_filter_contains(&read, golden_hash(key, read.seed)));
	}
	test_release(&made, &host);
	test_host_finish(&host);
	free(image);
}

static void
golden_images(void)
{
	for (size_t i = 0; i < NNAMES; i++)
		check_golden(names[i]);
}

static const TestCase cases[] = {
	{"golden_images", golden_images},
};

TEST_MAIN(cases)
