/*-------------------------------------------------------------------------
 *
 * test_bucket.c
 *		One semi-sorted bucket of four slots.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/* Buckets of a table under test; the padding follows. */
#define NBUCKETS	5
#define TABLE_BYTES	(NBUCKETS * 47 / 2 + 1 + CUCKOO_PAD_BYTES)

/* A random fingerprint that a value can have. */
static uint64_t
random_fp(int fp_bits)
{
	uint64_t	fp = test_random() & cuckoo_low_bits(fp_bits);

	if ((fp & 0xFF) == 0)
		fp |= 1;
	return fp;
}

/* docs/format.md, section 5.3: ascending (low nibble, the rest), empty first */
static bool
comes_before(uint64_t a, uint64_t b)
{
	if (a % 16 != b % 16)
		return a % 16 < b % 16;
	return a / 16 < b / 16;
}

static void
sort_fps(uint64_t *fps)
{
	for (int i = 1; i < 4; i++)
	{
		for (int j = i; j > 0 && comes_before(fps[j], fps[j - 1]); j--)
		{
			const uint64_t fp = fps[j];

			fps[j] = fps[j - 1];
			fps[j - 1] = fp;
		}
	}
}

static void
random_fps(uint64_t *fps, int fp_bits)
{
	const int	nempty = (int) test_random_below(5);

	for (int i = 0; i < 4; i++)
	{
		fps[i] = i < nempty ? 0 : random_fp(fp_bits);
		/* equal ones, and ones that differ in one half only */
		if (i > nempty && test_random_below(4) == 0)
			fps[i] = fps[i - 1];
		else if (i > nempty && test_random_below(4) == 0)
			fps[i] = (fps[i] & 0xFF) | (fps[i - 1] & ~UINT64_C(0xFF));
	}
	sort_fps(fps);
}

static void
packing_follows_from_width(void)
{
	for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_PREFIX_BITS; f++)
	{
		CuckooPacking packing;

		cuckoo_bucket_packing(&packing, f);
		CHECK_EQUAL(packing.fp_bits, f);
		CHECK_EQUAL(packing.rem_bits, f - 4);
		CHECK_EQUAL(packing.bucket_bits, 12 + 4 * (f - 4));
		CHECK_EQUAL(packing.rem_mask, (UINT64_C(1) << (f - 4)) - 1);
	}
}

/* All 3,876 codes, decoded and encoded, against an enumeration of our own. */
static void
codes(void)
{
	uint8_t		table[TABLE_BYTES];
	CuckooPacking packing;

	cuckoo_bucket_packing(&packing, 12);
	for (uint64_t code = 0; code < 4096; code++)
	{
		uint64_t	fps[4];
		uint64_t	read[4];

		WHERE("code %" PRIu64, code, 0, 0, 0);
		if (code >= CUCKOO_NIBBLE_CODES)
		{
			CHECK_EQUAL(cuckoo_bucket_nibbles[code], 0);
			CHECK_EQUAL(cuckoo_bucket_slots[code], 0xF);
			continue;
		}
		for (int i = 0; i < 4; i++)
		{
			CHECK_EQUAL(cuckoo_bucket_nibbles[code] >> (4 * i) & 15,
						ref_nibbles()[code][i]);
			fps[i] = ref_nibbles()[code][i] + 16u * (unsigned) (i + 1);
		}

		for (int bit = 0; bit < 64; bit++)
			CHECK_EQUAL(cuckoo_bucket_slots[code] >> bit & 1,
						ref_nibbles()[code][bit % 4] == bit / 4);

		memset(table, 0, sizeof(table));
		cuckoo_bucket_write(&packing, table, 1, fps);
		CHECK_EQUAL(ref_get_bits(table, 44, 12), code);
		cuckoo_bucket_read(&packing, table, 1, read);
		CHECK(memcmp(read, fps, sizeof(fps)) == 0);
	}
}

/* What is written is read, at every width, and nothing beside it changes. */
static void
read_and_write(void)
{
	const int	nrounds = (int) test_amount(200, 2000, 20000);

	for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_PREFIX_BITS; f++)
	{
		const int	bucket_bits = 4 * (f - 1);
		const uint64_t used = ((uint64_t) (NBUCKETS * bucket_bits) + 7) / 8 +
			CUCKOO_PAD_BYTES;
		uint8_t    *const table = malloc(used);
		uint8_t    *const before = malloc(used);
		CuckooPacking packing;

		CHECK(table != NULL && before != NULL);
		cuckoo_bucket_packing(&packing, f);
		for (int round = 0; round < nrounds; round++)
		{
			const uint64_t bucket = test_random_below(NBUCKETS);
			const uint64_t first = bucket * (uint64_t) bucket_bits;
			uint64_t	fps[4];
			uint64_t	read[4];

			WHERE("f %" PRIu64 ", bucket %" PRIu64, f, bucket, 0, 0);
			for (uint64_t i = 0; i < used; i++)
				table[i] = round % 3 == 0 ? 0 : round % 3 == 1 ? 0xFF :
					(uint8_t) test_random();
			memcpy(before, table, used);
			random_fps(fps, f);
			cuckoo_bucket_write(&packing, table, bucket, fps);

			cuckoo_bucket_read(&packing, table, bucket, read);
			CHECK(memcmp(read, fps, sizeof(fps)) == 0);
			ref_read_bucket(table, bucket, f, read);
			CHECK(memcmp(read, fps, sizeof(fps)) == 0);
			CHECK(cuckoo_bucket_is_sound(&packing, table, bucket));
			CHECK_EQUAL(cuckoo_bucket_has_room(&packing, table, bucket),
						fps[0] == 0);
			for (int i = 0; i < 4; i++)
				CHECK_EQUAL(cuckoo_bucket_perms(&packing, table,
												bucket) >> (8 * i) & 0xFF,
							fps[i] & 0xFF);

			for (uint64_t bit = 0; bit < 8 * used; bit++)
			{
				if (bit < first || bit >= first + (uint64_t) bucket_bits)
					CHECK_EQUAL(ref_get_bits(table, bit, 1),
								ref_get_bits(before, bit, 1));
			}
		}
		free(table);
		free(before);
	}
}

static void
sorted_insert_and_remove(void)
{
	const int	nrounds = (int) test_amount(2000, 20000, 200000);

	for (int round = 0; round < nrounds; round++)
	{
		const int	f = CUCKOO_MIN_FP_BITS + (int) test_random_below(41);
		uint64_t	fps[4] = {0};
		uint64_t	expected[4] = {0};
		uint64_t	pool[3];

		for (int i = 0; i < 3; i++)
			pool[i] = random_fp(f);
		pool[1] = test_random_below(2) ? pool[1] : pool[0] ^ 0x10;
		if ((pool[1] & 0xFF) == 0)
			pool[1] |= 0x20;

		for (int step = 0; step < 20; step++)
		{
			const uint64_t fp = pool[test_random_below(3)];
			int			ncopies = 0;

			for (int i = 0; i < 4; i++)
				ncopies += expected[i] == fp;
			CHECK_EQUAL(cuckoo_fps_count(fps, fp), ncopies);

			if (test_random_below(2) == 0 && expected[0] == 0)
			{
				expected[0] = fp;
				cuckoo_fps_insert(fps, fp);
			}
			else if (test_random_below(2) == 0)
			{
				CHECK_EQUAL(cuckoo_fps_remove(fps, fp), ncopies > 0);
				for (int i = 0; ncopies > 0 && i < 4; i++)
				{
					if (expected[i] == fp)
					{
						expected[i] = 0;
						break;
					}
				}
			}
			else
			{
				const int	slot = (int) test_random_below(4);

				expected[slot] = 0;
				cuckoo_fps_delete(fps, slot);
			}
			sort_fps(expected);
			CHECK(memcmp(fps, expected, sizeof(fps)) == 0);
		}
	}
}

/* Slots of four fingerprints that are fp, as the highest bits of lanes. */
static uint64_t
lanes_of(const uint64_t *fps, uint64_t fp, int rem_bits)
{
	uint64_t	lanes = 0;

	for (int i = 0; i < 4; i++)
	{
		if (fps[i] == fp)
			lanes |= UINT64_C(1) << ((i + 1) * rem_bits - 1);
	}
	return lanes;
}

/* All slots from the given one on, as the highest bits of lanes. */
static uint64_t
lanes_from(int slot, int rem_bits)
{
	uint64_t	lanes = 0;

	for (; slot < 4; slot++)
		lanes |= UINT64_C(1) << ((slot + 1) * rem_bits - 1);
	return lanes;
}

/*
 * What is done to a bucket as one word, against the same done to its slots:
 * every width that a word holds, every number of free slots, and nothing else
 * in the table changes.
 */
static void
whole_words(void)
{
	const int	nrounds = (int) test_amount(3000, 30000, 300000);

	for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_WHOLE_FP_BITS; f++)
	{
		CuckooPacking packing;

		cuckoo_bucket_packing(&packing, f);
		for (int round = 0; round < nrounds; round++)
		{
			const uint64_t bucket = test_random_below(NBUCKETS);
			uint8_t		table[TABLE_BYTES];
			uint8_t		expected[TABLE_BYTES];
			uint64_t	fps[4];
			uint64_t	fp = random_fp(f);
			uint64_t	word;

			WHERE("f %" PRIu64 ", bucket %" PRIu64, f, bucket, 0, 0);
			for (int i = 0; i < TABLE_BYTES; i++)
				table[i] = round % 3 == 0 ? 0xFF : (uint8_t) test_random();
			random_fps(fps, f);
			if (test_random_below(2) == 0)
				fp = fps[test_random_below(4)];
			if (fp == 0)
				fp = 1;
			cuckoo_bucket_write(&packing, table, bucket, fps);
			memcpy(expected, table, sizeof(table));

			word = cuckoo_bucket_word(&packing, table, bucket);
			CHECK_EQUAL(cuckoo_word_has_room(&packing, word), fps[0] == 0);
			CHECK_EQUAL(cuckoo_word_match(&packing, word, fp,
										  (int) (fp & 0xF)),
						lanes_of(fps, fp, f - 4));

			if (fps[0] == 0 && test_random_below(2) == 0)
			{
				cuckoo_fps_insert(fps, fp);
				cuckoo_bucket_change_word(&packing, table, bucket, word,
										  cuckoo_word_insert(&packing, word,
															 fp));
			}
			else
			{
				const int	slot = (int) test_random_below(4);

				cuckoo_fps_delete(fps, slot);
				cuckoo_bucket_change_word(&packing, table, bucket, word,
										  cuckoo_word_delete(&packing, word,
															 lanes_from(slot,
																		f - 4)));
			}
			cuckoo_bucket_write(&packing, expected, bucket, fps);
			CHECK(memcmp(table, expected, sizeof(table)) == 0);
		}
	}
}

/*
 * check_contains
 *		cuckoo_bucket_find() and cuckoo_places_contain() against looking at
 *		each slot.
 *
 * The other place is the next bucket, whatever is in it, and a fingerprint
 * that differs in its highest bit.
 */
static void
check_contains(const CuckooPacking *packing, const uint8_t *table,
			   uint64_t bucket, const uint64_t *fps, uint64_t fp)
{
	const bool	expected = cuckoo_fps_count(fps, fp) > 0;
	const CuckooPlace here = {bucket, fp};
	const CuckooPlace other = {
		(bucket + 1) % NBUCKETS, fp ^ UINT64_C(1) << (packing->fp_bits - 1)
	};
	const CuckooPlace twice[2] = {here, here};
	const CuckooPlace as_primary[2] = {here, other};
	const CuckooPlace as_alternate[2] = {other, here};
	uint64_t	other_fps[4];
	bool		expected_either;

	cuckoo_bucket_read(packing, table, other.bucket, other_fps);
	expected_either = expected || cuckoo_fps_count(other_fps, other.fp) > 0;

	WHERE("f %" PRIu64 ", bucket %" PRIu64 ", fp %" PRIx64, packing->fp_bits,
		  bucket, fp, 0);
	CHECK_EQUAL(cuckoo_bucket_find(packing, table, bucket, fp), expected);
	CHECK_EQUAL(cuckoo_places_contain(packing, table, twice), expected);
	CHECK_EQUAL(cuckoo_places_contain(packing, table, as_primary),
				expected_either);
	CHECK_EQUAL(cuckoo_places_contain(packing, table, as_alternate),
				expected_either);
}

/*
 * Remainders made for the test of four lanes in one word to go wrong: a lane
 * that matches lends to the one above it, so that one that differs in its
 * lowest bit only looks like a match; and all ones beside all zeros.  The
 * word above the last remainder is noise of the next bucket.
 */
static void
contains_on_adversarial_lanes(void)
{
	const int	nrounds = (int) test_amount(2000, 30000, 300000);

	for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_PREFIX_BITS; f++)
	{
		const uint64_t top = cuckoo_low_bits(f - 4);
		uint8_t		table[TABLE_BYTES];
		CuckooPacking packing;

		cuckoo_bucket_packing(&packing, f);
		for (int round = 0; round < nrounds; round++)
		{
			const uint64_t bucket = test_random_below(NBUCKETS);
			const uint64_t pick = test_random();
			const uint64_t rem = pick % 3 == 0 ? 1 : pick % 3 == 1 ? top :
				test_random() & top;
			uint64_t	fps[4];

			for (int i = 0; i < TABLE_BYTES; i++)
				table[i] = (uint8_t) test_random();
			for (int i = 0; i < 4; i++)
			{
				const uint64_t rems[8] = {
					rem, rem ^ 1, rem ^ (top / 2 + 1), rem ^ top,
					0, 1, top, test_random() & top
				};

				fps[i] = rems[test_random_below(8)] << 4;
				fps[i] |= test_random_below(16);
				if ((fps[i] & 0xFF) == 0)
					fps[i] = 0;
			}
			sort_fps(fps);
			cuckoo_bucket_write(&packing, table, bucket, fps);

			for (uint64_t nibble = 0; nibble < 16; nibble++)
			{
				const uint64_t fp = rem << 4 | nibble;

				if ((fp & 0xFF) != 0)
					check_contains(&packing, table, bucket, fps, fp);
			}
			check_contains(&packing, table, bucket, fps, random_fp(f));
			for (int i = 0; i < 4; i++)
			{
				if (fps[i] != 0)
					check_contains(&packing, table, bucket, fps, fps[i]);
			}
		}
	}
}

/* With 8 bits, every fingerprint against every pair of others. */
static void
contains_exhaustively(void)
{
	const uint64_t step = test_amount(17, 5, 1);
	CuckooPacking packing;
	uint8_t		table[TABLE_BYTES] = {0};

	cuckoo_bucket_packing(&packing, 8);
	for (uint64_t a = 0; a < 256; a++)
	{
		for (uint64_t b = a % step; b < 256; b += step)
		{
			uint64_t	fps[4] = {a, b, a ^ 0x10, b ^ 0x80};

			sort_fps(fps);
			cuckoo_bucket_write(&packing, table, 1, fps);
			for (uint64_t fp = 1; fp < 256; fp++)
				check_contains(&packing, table, 1, fps, fp);
		}
	}
}

/*
 * Soundness: of all patterns exactly those that a writer makes are sound, and
 * no pattern at all makes reading or looking go out of bounds.
 */
static void
soundness(void)
{
	const int	nrounds = (int) test_amount(5000, 50000, 500000);
	int			nsound = 0;
	int			nunsound = 0;

	for (int f = CUCKOO_MIN_FP_BITS; f <= CUCKOO_MAX_PREFIX_BITS; f++)
	{
		const int	bucket_bits = 4 * (f - 1);
		const uint64_t used =
			((uint64_t) (NBUCKETS * bucket_bits) + 7) / 8 + CUCKOO_PAD_BYTES;
		uint8_t    *const table = malloc(used);
		CuckooPacking packing;

		CHECK(table != NULL);
		cuckoo_bucket_packing(&packing, f);
		for (int round = 0; round < nrounds; round++)
		{
			const uint64_t bucket = test_random_below(NBUCKETS);
			const uint64_t first = bucket * (uint64_t) bucket_bits;
			uint64_t	fps[4];
			bool		expected = true;

			WHERE("f %" PRIu64 ", bucket %" PRIu64, f, bucket, 0, 0);
			for (uint64_t i = 0; i < used; i++)
				table[i] = (uint8_t) test_random();
			if (round % 2 == 0)
			{
				/* a sound bucket, mostly, with one bit turned */
				random_fps(fps, f);
				cuckoo_bucket_write(&packing, table, bucket, fps);
				if (round % 4 == 0)
				{
					const uint64_t bit =
						first + test_random_below((uint64_t) bucket_bits);

					table[bit / 8] ^= (uint8_t) (1 << bit % 8);
				}
			}

			if (ref_get_bits(table, first, 12) >= 3876)
				expected = false;
			else
			{
				ref_read_bucket(table, bucket, f, fps);
				for (int i = 0; i < 4; i++)
				{
					if (fps[i] != 0 && fps[i] % 256 == 0)
						expected = false;
					if (i > 0 && comes_before(fps[i], fps[i - 1]))
						expected = false;
				}
			}
			CHECK_EQUAL(cuckoo_bucket_is_sound(&packing, table, bucket),
						expected);
			nsound += expected;
			nunsound += !expected;

			cuckoo_bucket_read(&packing, table, bucket, fps);
			for (int i = 0; i < 4; i++)
				CHECK(fps[i] >> f == 0);
			check_contains(&packing, table, bucket, fps, random_fp(f));
		}
		free(table);
	}
	CHECK(nsound > nrounds && nunsound > nrounds);
}

static const TestCase cases[] = {
	{"packing_follows_from_width", packing_follows_from_width},
	{"codes", codes},
	{"read_and_write", read_and_write},
	{"sorted_insert_and_remove", sorted_insert_and_remove},
	{"whole_words", whole_words},
	{"contains_on_adversarial_lanes", contains_on_adversarial_lanes},
	{"contains_exhaustively", contains_exhaustively},
	{"soundness", soundness},
};

TEST_MAIN(cases)
