/*-------------------------------------------------------------------------
 *
 * cuckoo_bucket.h
 *		One semi-sorted bucket of four slots: read, write, find.
 *
 * The order of the fingerprints in a bucket carries no information, so they
 * are kept in ascending order of (low nibble, the rest).  The four low nibbles
 * n0 <= n1 <= n2 <= n3 then are one of C(19, 4) = 3876 combinations and take
 * 12 bits instead of 16 (Fan et al., CoNEXT 2014, section 5.2).  The number of
 * a combination is its rank in the combinatorial number system,
 *
 *		code = n0 + C(n1 + 1, 2) + C(n2 + 2, 3) + C(n3 + 3, 4)
 *
 * A packed bucket is the code and the four remainders of fp_bits - 4 bits,
 * lowest bits first, and starts at bit number * bucket_bits of the table.  An
 * empty slot is the fingerprint 0; no value has that one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BUCKET_H
#define CUCKOO_BUCKET_H

#include "cuckoo_bytes.h"
#include "../cuckoo_filter.h"

#define CUCKOO_NIBBLE_CODES		3876

/* Up to this width the four slots of a bucket come with one 8-byte load. */
#define CUCKOO_MAX_WORD_FP_BITS	16

/*
 * How the buckets of a table are packed.  All follows from fp_bits, 8 to 48.
 */
typedef struct CuckooPacking
{
	int			fp_bits;
	int			rem_bits;		/* of a remainder: fp_bits - 4 */
	int			bucket_bits;	/* 12 + 4 * rem_bits */
	uint64_t	rem_mask;		/* the lowest rem_bits */
	uint64_t	lane_low;		/* the lowest bit of each of four remainders;
								 * only if fp_bits <= CUCKOO_MAX_WORD_FP_BITS */
	uint64_t	lane_high;		/* their highest bits, likewise */
} CuckooPacking;

/* Four nibbles of 4 bits, n0 lowest, for each code; 0 beyond the last. */
extern const uint16_t cuckoo_bucket_nibbles[4096];

extern void cuckoo_bucket_packing(CuckooPacking *packing, int fp_bits);
extern void cuckoo_bucket_read(const CuckooPacking *packing,
							   const uint8_t *table, uint64_t bucket,
							   uint64_t *fps);
extern void cuckoo_bucket_write(const CuckooPacking *packing, uint8_t *table,
								uint64_t bucket, const uint64_t *fps);
extern bool cuckoo_bucket_is_sound(const CuckooPacking *packing,
								   const uint8_t *table, uint64_t bucket);
extern bool cuckoo_bucket_find(const CuckooPacking *packing,
							   const uint8_t *table, uint64_t bucket,
							   uint64_t fp);

/* What an unpacked bucket is sorted by: the nibble first, then the rest. */
static inline uint64_t
cuckoo_fp_sort_key(uint64_t fp)
{
	return (fp & 0xF) << 44 | fp >> 4;
}

/* Copies of a fingerprint in an unpacked bucket. */
static inline int
cuckoo_fps_count(const uint64_t *fps, uint64_t fp)
{
	return (fps[0] == fp) + (fps[1] == fp) + (fps[2] == fp) + (fps[3] == fp);
}

/* Has an unpacked bucket a free slot?  Free ones are sorted to the front. */
static inline bool
cuckoo_fps_has_room(const uint64_t *fps)
{
	return fps[0] == 0;
}

/* Put a fingerprint into the first slot, which is free, and keep the order. */
static inline void
cuckoo_fps_insert(uint64_t *fps, uint64_t fp)
{
	const uint64_t sort_key = cuckoo_fp_sort_key(fp);
	int			i;

	CuckooAssert(fps[0] == 0 && fp != 0);
	for (i = 0; i < CUCKOO_BUCKET_SLOTS - 1; i++)
	{
		if (cuckoo_fp_sort_key(fps[i + 1]) >= sort_key)
			break;
		fps[i] = fps[i + 1];
	}
	fps[i] = fp;
}

/* Empty the given slot and keep the order. */
static inline void
cuckoo_fps_delete(uint64_t *fps, int slot)
{
	for (; slot > 0; slot--)
		fps[slot] = fps[slot - 1];
	fps[0] = 0;
}

/* Take out one copy of a fingerprint; false if there is none. */
static inline bool
cuckoo_fps_remove(uint64_t *fps, uint64_t fp)
{
	for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
	{
		if (fps[i] == fp)
		{
			cuckoo_fps_delete(fps, i);
			return true;
		}
	}
	return false;
}

/*
 * cuckoo_bucket_match_word
 *		The lanes of a bucket's remainders, one high bit each, that may equal
 *		that of fp; zero if none does.
 *
 * word is what an 8-byte load at the start of the bucket gave.  Only for
 * fp_bits <= CUCKOO_MAX_WORD_FP_BITS.  The classical test for a zero byte in a
 * word, with lanes of rem_bits: exact as to whether there is one, and for the
 * lowest one; a lane above that may be a false alarm.
 */
static inline uint64_t
cuckoo_bucket_match_word(const CuckooPacking *packing, uint64_t word,
						 uint64_t fp)
{
	const uint64_t differ = (word >> 12) ^ (fp >> 4) * packing->lane_low;

	return (differ - packing->lane_low) & ~differ & packing->lane_high;
}

/*
 * cuckoo_bucket_contains
 *		Is the fingerprint in the bucket?
 *
 * Most buckets that do not hold it fail on the remainders; the nibbles are
 * decoded only when one of these matches.
 */
static inline bool
cuckoo_bucket_contains(const CuckooPacking *packing, const uint8_t *table,
					   uint64_t bucket, uint64_t fp)
{
	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WORD_FP_BITS))
	{
		const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;
		const uint64_t word = cuckoo_load_le64(table + bit / 8) >> (bit & 4);

		if (cuckoo_likely(cuckoo_bucket_match_word(packing, word, fp) == 0))
			return false;
	}
	return cuckoo_bucket_find(packing, table, bucket, fp);
}

#endif							/* CUCKOO_BUCKET_H */
