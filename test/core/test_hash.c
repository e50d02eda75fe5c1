/*-------------------------------------------------------------------------
 *
 * test_hash.c
 *		Key bytes to hash, hash to addresses.
 *
 *-------------------------------------------------------------------------
 */
#include "harness.h"
#include "reference.h"

/*
 * XXH3_64bits_withSeed over the first length bytes of the buffer that xxHash's
 * own sanity check fills: byte i is the top byte of PRIME32 * PRIME64^i.  The
 * rows marked x are published in cli/xsum_sanity_check.c of Cyan4973/xxHash
 * (same values in 0.8.0 to 0.8.3); the others, at the borders of its length
 * classes, were computed with 0.8.1.  None may ever change.
 */
#define PRIME64		UINT64_C(0x9E3779B185EBCA8D)

static const struct
{
	size_t		length;
	uint64_t	unseeded;
	uint64_t	seeded;			/* with PRIME64 */
}			xxh3_vectors[] = {
	{0, UINT64_C(0x2D06800538D394C2), UINT64_C(0xA8A6B918B2F0364A)},	/* x */
	{1, UINT64_C(0xC44BDFF4074EECDB), UINT64_C(0x032BE332DD766EF8)},	/* x */
	{2, UINT64_C(0x7A9978044CB8A8BB), UINT64_C(0x764B35C90519AD88)},
	{3, UINT64_C(0x54247382A8D6B94D), UINT64_C(0x634B8990B4976373)},
	{4, UINT64_C(0xE5DC74BC51848A51), UINT64_C(0xAA2E7ECCB0C8F747)},
	{5, UINT64_C(0xE4243F00720306BB), UINT64_C(0x5A67C87E50ED80ED)},
	{6, UINT64_C(0x27B56A84CD2D7325), UINT64_C(0x84589C116AB59AB9)},	/* x */
	{8, UINT64_C(0x24CCC9ACAA9F65E4), UINT64_C(0x8F973410999B8F6B)},
	{9, UINT64_C(0x14D5001C15DD3F2B), UINT64_C(0xB3AE7333D9013F60)},
	{12, UINT64_C(0xA713DAF0DFBB77E7), UINT64_C(0xE7303E1B2336DE0E)},	/* x */
	{16, UINT64_C(0x981B17D36C7498C9), UINT64_C(0x663F29333B4DB6B1)},
	{17, UINT64_C(0x796F5ACD3A60F862), UINT64_C(0xF3EC5067F4306DB3)},
	{24, UINT64_C(0xA3FE70BF9D3510EB), UINT64_C(0x850E80FC35BDD690)},	/* x */
	{48, UINT64_C(0x397DA259ECBA1F11), UINT64_C(0xADC2CBAA44ACC616)},	/* x */
	{80, UINT64_C(0xBCDEFBBB2C47C90A), UINT64_C(0xC6DD0CB699532E73)},	/* x */
	{128, UINT64_C(0xFCFF24126754D861), UINT64_C(0x73FDE75280646649)},
	{129, UINT64_C(0x98F1B0A679A2CA29), UINT64_C(0x21FFFDBCA099C844)},
	{195, UINT64_C(0xCD94217EE362EC3A), UINT64_C(0xBA68003D370CB3D9)},	/* x */
	{240, UINT64_C(0x81C3C2B67F568CCF), UINT64_C(0xCC0F58C27EF3D8EE)},
	{241, UINT64_C(0xC5A639ECD2030E5E), UINT64_C(0xDDA9B0A161D4829A)},
	{403, UINT64_C(0xCDEB804D65C6DEA4), UINT64_C(0x6259F6ECFD6443FD)},	/* x */
	{512, UINT64_C(0x617E49599013CB6B), UINT64_C(0x3CE457DE14C27708)},	/* x */
	{2048, UINT64_C(0xDD59E2C3A5F038E0), UINT64_C(0x66F81670669ABABC)}, /* x */
	{2240, UINT64_C(0x6E73A90539CF2948), UINT64_C(0x757BA8487D1B5247)}, /* x */
	{2367, UINT64_C(0xCB37AEB9E5D361ED), UINT64_C(0xD2DB3415B942B42A)}, /* x */
};

static void
vectors(void)
{
	uint8_t		buffer[1 + 2400];
	uint64_t	generator = UINT64_C(2654435761);

	for (int i = 0; i < 2400; i++)
	{
		buffer[1 + i] = (uint8_t) (generator >> 56);
		generator *= UINT64_C(11400714785074694797);
	}

	/* at an odd address too: key bytes come from anywhere */
	for (int shift = 1; shift >= 0; shift--)
	{
		memmove(buffer + shift, buffer + 1, 2400);
		for (size_t i = 0; i < sizeof(xxh3_vectors) / sizeof(xxh3_vectors[0]);
			 i++)
		{
			const size_t length = xxh3_vectors[i].length;

			WHERE("length %" PRIu64, length, 0, 0, 0);
			CHECK_EQUAL(cuckoo_hash(buffer + shift, length, 0),
						xxh3_vectors[i].unseeded);
			CHECK_EQUAL(cuckoo_hash(buffer + shift, length, PRIME64),
						xxh3_vectors[i].seeded);
			CHECK_EQUAL(cuckoo_checksum(buffer + shift, length),
						xxh3_vectors[i].unseeded);
		}
	}

	/* known from other implementations of XXH3 */
	CHECK_EQUAL(cuckoo_hash("a", 1, 0), UINT64_C(0xE6C632B61E964E1F));
	CHECK_EQUAL(cuckoo_hash("ab", 2, 0), UINT64_C(0xA873719C24D5735C));
	CHECK_EQUAL(cuckoo_hash("abc", 3, 0), UINT64_C(0x78AF5F94892F3950));
	CHECK_EQUAL(cuckoo_hash(NULL, 0, 0), UINT64_C(0x2D06800538D394C2));
}

/* Hashes that hit the borders of every field, and random ones. */
static uint64_t
interesting_hash(int i)
{
	switch (i)
	{
		case 0:
			return 0;
		case 1:
			return UINT64_MAX;
		case 2:
			return UINT64_C(0xFFFF000000000000);
		case 3:
			return UINT64_C(0x0000FFFFFFFFFF00);
		case 4:
			return UINT64_C(0x00000000000000FF);
		default:
			return i % 3 == 0 ? test_random() & ~UINT64_C(0xFF) : test_random();
	}
}

/*
 * check_addresses
 *		The two addresses of a hash as docs/format.md, section 5.1, has them,
 *		for one k and P.
 */
static void
check_addresses(uint32_t k, int P, uint64_t hash)
{
	const CuckooAddress primary = cuckoo_hash_address(hash, k, P);
	const CuckooAddress alternate = cuckoo_alternate_address(primary, k, P);
	const CuckooAddress back = cuckoo_alternate_address(alternate, k, P);
	const RefEntry ref_one = ref_primary(hash, (int) k, P);
	const RefEntry ref_two = ref_alternate(ref_one, (int) k, P);

	WHERE("k %" PRIu64 ", P %" PRIu64 ", hash %" PRIx64, k, P, hash, 0);
	CHECK_EQUAL(primary.column, ref_one.a);
	CHECK_EQUAL(primary.prefix, ref_prefix(ref_one, P));
	CHECK_EQUAL(alternate.column, ref_two.a);
	CHECK_EQUAL(alternate.prefix, ref_prefix(ref_two, P));

	CHECK(primary.column < k && alternate.column < k);
	CHECK(primary.prefix >> P == 0 && alternate.prefix >> P == 0);
	CHECK((primary.prefix & 0xFF) != 0);
	CHECK_EQUAL(alternate.prefix & 0xFF, primary.prefix & 0xFF);
	CHECK_EQUAL(back.column, primary.column);
	CHECK_EQUAL(back.prefix, primary.prefix);

	/* the first variable bit differs, so the entries always do */
	CHECK_EQUAL((primary.prefix ^ alternate.prefix) >> (P - 1), 1);

	/* a shorter prefix is the longer one cut, in both places */
	if (P > CUCKOO_MIN_PREFIX_BITS)
	{
		const CuckooAddress shorter = cuckoo_hash_address(hash, k, P - 1);
		const CuckooAddress shorter_alternate =
			cuckoo_alternate_address(shorter, k, P - 1);

		CHECK_EQUAL(shorter.column, primary.column);
		CHECK_EQUAL(shorter.prefix >> 8, primary.prefix >> 9);
		CHECK_EQUAL(shorter_alternate.column, alternate.column);
		CHECK_EQUAL(shorter_alternate.prefix >> 8, alternate.prefix >> 9);
	}
}

static void
addresses(void)
{
	const int	nhashes = (int) test_amount(30, 100, 1000);

	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS; k++)
	{
		for (int P = CUCKOO_MIN_PREFIX_BITS; P <= CUCKOO_MAX_PREFIX_BITS; P++)
		{
			for (int i = 0; i < nhashes; i++)
				check_addresses(k, P, interesting_hash(i));
			for (uint64_t perm = 0; perm < 256; perm++)
				check_addresses(k, P, (test_random() & ~UINT64_C(0xFF)) | perm);
		}
	}
}

/*
 * check_places
 *		The two buckets of a hash as docs/format.md, section 5.2, has them,
 *		for one table.
 */
static void
check_places(const CuckooGeometry *geometry, uint64_t hash)
{
	const int	k = (int) geometry->ncolumns;
	const int	q = geometry->index_bits;
	const int	P = geometry->prefix_bits;
	const uint64_t nbuckets = (uint64_t) k << q;
	const CuckooAddress address =
		cuckoo_hash_address(hash, geometry->ncolumns, P);
	const RefEntry entries[2] = {
		ref_primary(hash, k, P), ref_alternate(ref_primary(hash, k, P), k, P)
	};
	CuckooPlace places[2];

	WHERE("k %" PRIu64 ", q %" PRIu64 ", P %" PRIu64 ", hash %" PRIx64,
		  k, q, P, hash);
	cuckoo_table_places(geometry, address, places);
	for (int i = 0; i < 2; i++)
	{
		const CuckooAddress back = cuckoo_table_address(geometry, places[i]);
		const CuckooPlace other = cuckoo_table_alternate(geometry, places[i]);

		CHECK_EQUAL(places[i].bucket, ref_bucket(entries[i], k, q, P));
		CHECK_EQUAL(places[i].fp, ref_fingerprint(entries[i], q, P));
		CHECK(places[i].bucket < nbuckets);
		CHECK(places[i].fp >> (P - q) == 0);
		CHECK((places[i].fp & 0xFF) != 0);
		CHECK_EQUAL(back.column, entries[i].a);
		CHECK_EQUAL(back.prefix, ref_prefix(entries[i], P));
		CHECK_EQUAL(other.bucket, places[1 - i].bucket);
		CHECK_EQUAL(other.fp, places[1 - i].fp);
	}

	if (q >= 1)
		CHECK(places[0].bucket != places[1].bucket);
	else
		CHECK(places[0].fp != places[1].fp);
	if (q >= CUCKOO_SUPERBLOCK_BITS)
		CHECK_EQUAL(places[0].bucket / (256 * (uint64_t) k),
					places[1].bucket / (256 * (uint64_t) k));

	/* the two children of a bucket are two buckets, of one superblock each */
	if (P - q > CUCKOO_MIN_FP_BITS)
	{
		CuckooGeometry doubled = *geometry;
		CuckooPlace child;

		doubled.index_bits++;
		child = cuckoo_table_place(&doubled, address);
		CHECK_EQUAL(child.fp, places[0].fp & cuckoo_low_bits(P - q - 1));
		if (q < CUCKOO_SUPERBLOCK_BITS)
			CHECK_EQUAL(child.bucket / 2, places[0].bucket);
		else
			CHECK_EQUAL(child.bucket % (256 * (uint64_t) k),
						places[0].bucket % (256 * (uint64_t) k));
	}
}

static void
places(void)
{
	const int	nhashes = (int) test_amount(3, 12, 100);

	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS; k++)
	{
		for (int P = CUCKOO_MIN_PREFIX_BITS; P <= CUCKOO_MAX_PREFIX_BITS; P++)
		{
			for (int q = 0; q <= P - CUCKOO_MIN_FP_BITS; q++)
			{
				const CuckooGeometry geometry = {k, q, P};

				/* no image is as large: see cuckoo_table_address() */
				if (q > 27)
					break;
				for (int i = 0; i < nhashes; i++)
					check_places(&geometry,
								 interesting_hash(i < 2 ? i : i + 5));
			}
		}
	}
}

/* Every place of a table is the place of some hash, and of one class only. */
static void
places_are_a_bijection(void)
{
	static const CuckooGeometry geometries[] = {
		{8, 0, 9}, {9, 1, 10}, {127, 0, 12}, {11, 3, 12}, {8, 8, 16},
		{8, 9, 17}, {13, 10, 18}, {64, 9, 17}
	};

	for (size_t g = 0; g < sizeof(geometries) / sizeof(geometries[0]); g++)
	{
		const CuckooGeometry *const geometry = &geometries[g];
		const uint64_t nbuckets = cuckoo_geometry_nbuckets(geometry);
		uint8_t    *const seen = calloc(nbuckets, 1);

		CHECK(seen != NULL);
		for (uint32_t column = 0; column < geometry->ncolumns; column++)
		{
			for (uint64_t index = 0; index >> geometry->index_bits == 0;
				 index++)
			{
				const CuckooAddress address = {
					column,
					index << cuckoo_geometry_fp_bits(geometry) | 1
				};
				const CuckooPlace place = cuckoo_table_place(geometry, address);

				CHECK(place.bucket < nbuckets && !seen[place.bucket]);
				seen[place.bucket] = 1;
			}
		}
		free(seen);
	}
}

/* The columns of random hashes are even, and so are those of the alternates. */
static void
columns_are_even(void)
{
	/*
	 * Of n hashes a column gets n / k on average with a variance just below
	 * that; six standard deviations are exceeded once in 5e8 columns.  An
	 * alternate depends on one of 255 permanent parts that shift the columns
	 * as a whole, so the same bound holds for it.
	 */
	const uint64_t n = test_amount(20000, 200000, 1000000);

	for (uint32_t k = CUCKOO_MIN_COLUMNS; k <= CUCKOO_MAX_COLUMNS; k++)
	{
		uint64_t	counts[2][CUCKOO_MAX_COLUMNS] = {{0}};
		const double mean = (double) n / k;

		for (uint64_t i = 0; i < n; i++)
		{
			const CuckooAddress address =
				cuckoo_hash_address(test_random(), k, 20);

			counts[0][address.column]++;
			counts[1][cuckoo_alternate_address(address, k, 20).column]++;
		}
		for (uint32_t column = 0; column < k; column++)
		{
			for (int i = 0; i < 2; i++)
			{
				const double off = (double) counts[i][column] - mean;

				WHERE("k %" PRIu64 ", column %" PRIu64, k, column, 0, 0);
				CHECK(off * off <= 36.0 * mean);
			}
		}
	}
}

static void
build_keys(void)
{
	for (int i = 0; i < 1000; i++)
	{
		const uint64_t hash = interesting_hash(i);
		const uint64_t key = cuckoo_order_hash(hash);

		CHECK_EQUAL(cuckoo_order_hash_back(key), hash);
		/* variable bits 31 to 0, the first of the key, name the superblock */
		for (int q = 9; q <= 24; q++)
		{
			const CuckooGeometry geometry = {100, q, 40};
			const CuckooPlace place =
				cuckoo_table_place(&geometry, cuckoo_hash_address(hash, 100,
																  40));

			CHECK_EQUAL(place.bucket / 25600, key >> (64 - (q - 8)));
		}
	}
}

static const TestCase cases[] = {
	{"vectors", vectors},
	{"addresses", addresses},
	{"places", places},
	{"places_are_a_bijection", places_are_a_bijection},
	{"columns_are_even", columns_are_even},
	{"build_keys", build_keys},
};

TEST_MAIN(cases)
