/*-------------------------------------------------------------------------
 *
 * cuckoo_bucket.c
 *		One semi-sorted bucket of four slots: read, write, find.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_bucket.h"

/*
 * All combinations in the order of their codes: n3 slowest, and each nibble no
 * larger than the one after it.  UPTO_N<i>_<x> lists those whose nibble i is
 * at most x and whose higher nibbles are given.  ENTRY(i, n) is what nibble i
 * contributes to an entry if it is n.
 */
#define N0(n, high)		(ENTRY(0, n) | (high))
#define UPTO_N0_0(h)	N0(0, h)
#define UPTO_N0_1(h)	UPTO_N0_0(h), N0(1, h)
#define UPTO_N0_2(h)	UPTO_N0_1(h), N0(2, h)
#define UPTO_N0_3(h)	UPTO_N0_2(h), N0(3, h)
#define UPTO_N0_4(h)	UPTO_N0_3(h), N0(4, h)
#define UPTO_N0_5(h)	UPTO_N0_4(h), N0(5, h)
#define UPTO_N0_6(h)	UPTO_N0_5(h), N0(6, h)
#define UPTO_N0_7(h)	UPTO_N0_6(h), N0(7, h)
#define UPTO_N0_8(h)	UPTO_N0_7(h), N0(8, h)
#define UPTO_N0_9(h)	UPTO_N0_8(h), N0(9, h)
#define UPTO_N0_10(h)	UPTO_N0_9(h), N0(10, h)
#define UPTO_N0_11(h)	UPTO_N0_10(h), N0(11, h)
#define UPTO_N0_12(h)	UPTO_N0_11(h), N0(12, h)
#define UPTO_N0_13(h)	UPTO_N0_12(h), N0(13, h)
#define UPTO_N0_14(h)	UPTO_N0_13(h), N0(14, h)
#define UPTO_N0_15(h)	UPTO_N0_14(h), N0(15, h)

#define N1(n, high)		UPTO_N0_##n(ENTRY(1, n) | (high))
#define UPTO_N1_0(h)	N1(0, h)
#define UPTO_N1_1(h)	UPTO_N1_0(h), N1(1, h)
#define UPTO_N1_2(h)	UPTO_N1_1(h), N1(2, h)
#define UPTO_N1_3(h)	UPTO_N1_2(h), N1(3, h)
#define UPTO_N1_4(h)	UPTO_N1_3(h), N1(4, h)
#define UPTO_N1_5(h)	UPTO_N1_4(h), N1(5, h)
#define UPTO_N1_6(h)	UPTO_N1_5(h), N1(6, h)
#define UPTO_N1_7(h)	UPTO_N1_6(h), N1(7, h)
#define UPTO_N1_8(h)	UPTO_N1_7(h), N1(8, h)
#define UPTO_N1_9(h)	UPTO_N1_8(h), N1(9, h)
#define UPTO_N1_10(h)	UPTO_N1_9(h), N1(10, h)
#define UPTO_N1_11(h)	UPTO_N1_10(h), N1(11, h)
#define UPTO_N1_12(h)	UPTO_N1_11(h), N1(12, h)
#define UPTO_N1_13(h)	UPTO_N1_12(h), N1(13, h)
#define UPTO_N1_14(h)	UPTO_N1_13(h), N1(14, h)
#define UPTO_N1_15(h)	UPTO_N1_14(h), N1(15, h)

#define N2(n, high)		UPTO_N1_##n(ENTRY(2, n) | (high))
#define UPTO_N2_0(h)	N2(0, h)
#define UPTO_N2_1(h)	UPTO_N2_0(h), N2(1, h)
#define UPTO_N2_2(h)	UPTO_N2_1(h), N2(2, h)
#define UPTO_N2_3(h)	UPTO_N2_2(h), N2(3, h)
#define UPTO_N2_4(h)	UPTO_N2_3(h), N2(4, h)
#define UPTO_N2_5(h)	UPTO_N2_4(h), N2(5, h)
#define UPTO_N2_6(h)	UPTO_N2_5(h), N2(6, h)
#define UPTO_N2_7(h)	UPTO_N2_6(h), N2(7, h)
#define UPTO_N2_8(h)	UPTO_N2_7(h), N2(8, h)
#define UPTO_N2_9(h)	UPTO_N2_8(h), N2(9, h)
#define UPTO_N2_10(h)	UPTO_N2_9(h), N2(10, h)
#define UPTO_N2_11(h)	UPTO_N2_10(h), N2(11, h)
#define UPTO_N2_12(h)	UPTO_N2_11(h), N2(12, h)
#define UPTO_N2_13(h)	UPTO_N2_12(h), N2(13, h)
#define UPTO_N2_14(h)	UPTO_N2_13(h), N2(14, h)
#define UPTO_N2_15(h)	UPTO_N2_14(h), N2(15, h)

#define N3(n)			UPTO_N2_##n(ENTRY(3, n))

#define ENTRY(i, n)		((n) << (4 * (i)))

const uint16_t cuckoo_bucket_nibbles[4096] = {
	N3(0), N3(1), N3(2), N3(3), N3(4), N3(5), N3(6), N3(7),
	N3(8), N3(9), N3(10), N3(11), N3(12), N3(13), N3(14), N3(15)
};

#undef ENTRY
#define ENTRY(i, n)		(UINT64_C(1) << (4 * (n) + (i)))

/* No code at all is taken as four nibbles of 0, above and here. */
#define ZEROS_10		15, 15, 15, 15, 15, 15, 15, 15, 15, 15
#define ZEROS_110		ZEROS_10, ZEROS_10, ZEROS_10, ZEROS_10, ZEROS_10, \
	ZEROS_10, ZEROS_10, ZEROS_10, ZEROS_10, ZEROS_10, ZEROS_10

const uint64_t cuckoo_bucket_slots[4096] = {
	N3(0), N3(1), N3(2), N3(3), N3(4), N3(5), N3(6), N3(7),
	N3(8), N3(9), N3(10), N3(11), N3(12), N3(13), N3(14), N3(15),
	ZEROS_110, ZEROS_110
};

/* C(n + 1, 2), C(n + 2, 3) and C(n + 3, 4). */
const uint16_t cuckoo_nibble_codes[CUCKOO_BUCKET_SLOTS - 1][16] = {
	{0, 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120},
	{0, 1, 4, 10, 20, 35, 56, 84, 120, 165, 220, 286, 364, 455, 560, 680},
	{0, 1, 5, 15, 35, 70, 126, 210, 330, 495, 715, 1001, 1365, 1820, 2380,
	3060}
};

#define LANE(bits, slots, i) \
	((uint64_t) ((slots) >> (i) & 1) << (((i) + 1) * (bits) - 1))
#define LANES(bits, slots) \
	(LANE(bits, slots, 0) | LANE(bits, slots, 1) | \
	 LANE(bits, slots, 2) | LANE(bits, slots, 3))
#define ALL_LANES(bits) { \
	LANES(bits, 0), LANES(bits, 1), LANES(bits, 2), LANES(bits, 3), \
	LANES(bits, 4), LANES(bits, 5), LANES(bits, 6), LANES(bits, 7), \
	LANES(bits, 8), LANES(bits, 9), LANES(bits, 10), LANES(bits, 11), \
	LANES(bits, 12), LANES(bits, 13), LANES(bits, 14), LANES(bits, 15) \
}

/* A fingerprint has at least 8 bits, so that no remainder has less than 4. */
const uint64_t cuckoo_slot_lanes[CUCKOO_MAX_WHOLE_FP_BITS - 3][16] = {
	{0}, {0}, {0}, {0}, ALL_LANES(4), ALL_LANES(5), ALL_LANES(6),
	ALL_LANES(7), ALL_LANES(8), ALL_LANES(9), ALL_LANES(10), ALL_LANES(11),
	ALL_LANES(12)
};

/*
 * cuckoo_bucket_packing
 *		Fill in the packing of fingerprints of fp_bits bits, 8 to 48.
 */
void
cuckoo_bucket_packing(CuckooPacking *packing, int fp_bits)
{
	CuckooAssert(fp_bits >= CUCKOO_MIN_FP_BITS &&
				 fp_bits <= CUCKOO_MAX_PREFIX_BITS);

	packing->fp_bits = fp_bits;
	packing->rem_bits = fp_bits - 4;
	packing->bucket_bits = 4 * (fp_bits - 1);
	packing->rem_reciprocal = (uint32_t) (0xFFFF / packing->rem_bits + 1);
	packing->rem_mask = cuckoo_low_bits(packing->rem_bits);
	packing->word_mask = fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS ?
		cuckoo_low_bits(packing->bucket_bits) : 0;
	packing->lane_low = 0;
	packing->lane_high = 0;
	if (fp_bits <= CUCKOO_MAX_PAIR_FP_BITS)
	{
		const int	nlanes = fp_bits <= CUCKOO_MAX_WORD_FP_BITS ?
			CUCKOO_BUCKET_SLOTS : CUCKOO_BUCKET_SLOTS / 2;

		for (int i = 0; i < nlanes; i++)
			packing->lane_low |= UINT64_C(1) << (i * packing->rem_bits);
		packing->lane_high = packing->lane_low << (packing->rem_bits - 1);
	}
}

/*
 * cuckoo_bucket_read
 *		Unpack the four fingerprints of a bucket, empty ones (0) first.
 *
 * Any bytes at all unpack to something; only sound buckets to what was
 * written.
 */
void
cuckoo_bucket_read(const CuckooPacking *packing, const uint8_t *table,
				   uint64_t bucket, uint64_t *fps)
{
	const int	rem_bits = packing->rem_bits;
	const uint64_t mask = packing->rem_mask;
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits + 12;
	const uint32_t nibbles =
		cuckoo_bucket_load_nibbles(packing, table, bucket);

	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WORD_FP_BITS))
	{
		uint64_t	rems = cuckoo_load_bits(table, bit);

		fps[0] = (rems & mask) << 4 | (nibbles & 0xF);
		rems >>= rem_bits;
		fps[1] = (rems & mask) << 4 | (nibbles >> 4 & 0xF);
		rems >>= rem_bits;
		fps[2] = (rems & mask) << 4 | (nibbles >> 8 & 0xF);
		rems >>= rem_bits;
		fps[3] = (rems & mask) << 4 | nibbles >> 12;
	}
	else
	{
		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			const uint64_t rem =
				cuckoo_load_bits(table, bit + (uint64_t) (i * rem_bits)) & mask;

			fps[i] = rem << 4 | (nibbles >> (4 * i) & 0xF);
		}
	}
}

/*
 * cuckoo_bucket_write
 *		Pack four fingerprints, in the order of cuckoo_fp_sort_key().
 *
 * Changes the bits of this bucket only.  Slots in another order, which a
 * bucket that is not sound can have, are written in some form or other.
 */
void
cuckoo_bucket_write(const CuckooPacking *packing, uint8_t *table,
					uint64_t bucket, const uint64_t *fps)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;
	const int	shift = (int) (bit & 4);
	const int	rem_bits = packing->rem_bits;
	const uint64_t code =
		cuckoo_nibbles_code((uint32_t) fps[0] & 0xF, (uint32_t) fps[1] & 0xF,
							(uint32_t) fps[2] & 0xF, (uint32_t) fps[3] & 0xF);
	uint8_t    *p = table + bit / 8;

	CuckooAssert((fps[0] | fps[1] | fps[2] | fps[3]) >> packing->fp_bits == 0);

	if (packing->bucket_bits < 64)
	{
		const uint64_t mask = cuckoo_low_bits(packing->bucket_bits) << shift;
		uint64_t	word = fps[3] >> 4;

		word = word << rem_bits | fps[2] >> 4;
		word = word << rem_bits | fps[1] >> 4;
		word = word << rem_bits | fps[0] >> 4;
		word = word << 12 | code;
		cuckoo_store_le64(p, (cuckoo_load_le64(p) & ~mask) | word << shift);
	}
	else
	{
		/* word by word, the last one as far as the bucket goes */
		uint64_t	word = (cuckoo_load_le64(p) & cuckoo_low_bits(shift)) |
			code << shift;
		int			nbits = shift + 12;

		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			const uint64_t rem = fps[i] >> 4;

			word |= rem << nbits;
			nbits += rem_bits;
			if (nbits >= 64)
			{
				cuckoo_store_le64(p, word);
				p += 8;
				nbits -= 64;
				word = rem >> (rem_bits - nbits);
			}
		}
		if (nbits > 0)
			cuckoo_store_le64(p, (cuckoo_load_le64(p) &
								  ~cuckoo_low_bits(nbits)) | word);
	}
}

/*
 * cuckoo_bucket_find
 *		Is the fingerprint in the bucket?
 *
 * Unpacks all slots; cuckoo_places_contain() saves that where it can.
 */
bool
cuckoo_bucket_find(const CuckooPacking *packing, const uint8_t *table,
				   uint64_t bucket, uint64_t fp)
{
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	cuckoo_bucket_read(packing, table, bucket, fps);
	return ((fps[0] == fp) | (fps[1] == fp) |
			(fps[2] == fp) | (fps[3] == fp)) != 0;
}

/*
 * cuckoo_bucket_is_sound
 *		Could cuckoo_bucket_write() have written these bits?
 *
 * The code must exist, the slots be in order, and an occupied slot have
 * permanent bits that are not zero.  Ascending nibbles follow from the code.
 */
bool
cuckoo_bucket_is_sound(const CuckooPacking *packing, const uint8_t *table,
					   uint64_t bucket)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	if (((cuckoo_load_le64(table + bit / 8) >> (bit & 4)) & 0xFFF) >=
		CUCKOO_NIBBLE_CODES)
		return false;

	cuckoo_bucket_read(packing, table, bucket, fps);
	for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
	{
		if (fps[i] != 0 && !cuckoo_fp_is_used(fps[i]))
			return false;
		if (i > 0 &&
			cuckoo_fp_sort_key(fps[i - 1]) > cuckoo_fp_sort_key(fps[i]))
			return false;
	}
	return true;
}
