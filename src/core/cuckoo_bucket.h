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
#include "../cuckoo_format.h"

#define CUCKOO_NIBBLE_CODES		3876

/*
 * A bucket starts at a multiple of 4 bits, so that one 8-byte load gives all
 * of it if it has at most 60.
 *
 * Of wider ones, remainders are compared as lanes of a word that one load
 * gives: four of at most 15 bits, or two of at most 28.
 */
#define CUCKOO_MAX_WHOLE_FP_BITS	16
#define CUCKOO_MAX_WORD_FP_BITS	19
#define CUCKOO_MAX_PAIR_FP_BITS	32

/*
 * How the buckets of a table are packed.  All follows from fp_bits, 8 to 48.
 */
typedef struct CuckooPacking
{
	int			fp_bits;
	int			rem_bits;		/* of a remainder: fp_bits - 4 */
	int			bucket_bits;	/* 12 + 4 * rem_bits */
	uint32_t	rem_reciprocal; /* 2^16 / rem_bits, rounded up: to divide bit
								 * numbers of a word by rem_bits */
	uint64_t	rem_mask;		/* the lowest rem_bits */
	uint64_t	word_mask;		/* the lowest bucket_bits, if a word has them;
								 * else 0 */
	uint64_t	lane_low;		/* the lowest bit of each remainder in a word;
								 * only if fp_bits <= CUCKOO_MAX_PAIR_FP_BITS */
	uint64_t	lane_high;		/* their highest bits, likewise */
} CuckooPacking;

/*
 * The bucket and the fingerprint that an address comes to in a table.
 */
typedef struct CuckooPlace
{
	uint64_t	bucket;
	uint64_t	fp;
} CuckooPlace;

/* Four nibbles of 4 bits, n0 lowest, for each code; 0 beyond the last. */
extern const uint16_t cuckoo_bucket_nibbles[4096];

/* For each code the slots that have nibble n, slot i as bit 4 * n + i. */
extern const uint64_t cuckoo_bucket_slots[4096];

/* What nibbles n1, n2 and n3 add to the code. */
extern const uint16_t cuckoo_nibble_codes[CUCKOO_BUCKET_SLOTS - 1][16];

/*
 * For each number of remainder bits, up to those of whole words, and each set
 * of slots, slot i as bit i: the highest bits of their lanes.
 */
extern const uint64_t cuckoo_slot_lanes[CUCKOO_MAX_WHOLE_FP_BITS - 3][16];

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
	return fp << 60 | fp >> 4;
}

/*
 * Is this a fingerprint, or is the slot empty?  The permanent bits of one are
 * never zero.  A slot of a damaged bucket can have other bits all the same:
 * that is no fingerprint either.
 */
static inline bool
cuckoo_fp_is_used(uint64_t fp)
{
	return (fp & cuckoo_low_bits(CUCKOO_PERM_BITS)) != 0;
}

/* Copies of a fingerprint in an unpacked bucket. */
static inline int
cuckoo_fps_count(const uint64_t *fps, uint64_t fp)
{
	return (fps[0] == fp) + (fps[1] == fp) + (fps[2] == fp) + (fps[3] == fp);
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

/* The nibbles of a bucket, n0 lowest. */
static inline uint32_t
cuckoo_bucket_load_nibbles(const CuckooPacking *packing, const uint8_t *table,
						   uint64_t bucket)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;

	return cuckoo_bucket_nibbles[cuckoo_load_le16(table + bit / 8) >>
								 (bit & 4) & 0xFFF];
}

/*
 * cuckoo_bucket_perms
 *		The permanent bits of the four fingerprints of a bucket, 8 each.
 */
static inline uint32_t
cuckoo_bucket_perms(const CuckooPacking *packing, const uint8_t *table,
					uint64_t bucket)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits + 12;
	uint32_t	nibbles = cuckoo_bucket_load_nibbles(packing, table, bucket);
	uint32_t	perms = 0;

	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WORD_FP_BITS))
	{
		uint64_t	rems = cuckoo_load_bits(table, bit);

		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			perms |= ((uint32_t) (rems & 0xF) << 4 | (nibbles & 0xF)) << 8 * i;
			rems >>= packing->rem_bits;
			nibbles >>= 4;
		}
	}
	else
	{
		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			const uint64_t rem =
				cuckoo_load_bits(table,
								 bit + (uint64_t) (i * packing->rem_bits));

			perms |= ((uint32_t) (rem & 0xF) << 4 |
					  (nibbles >> 4 * i & 0xF)) << 8 * i;
		}
	}
	return perms;
}

/*
 * cuckoo_bucket_has_room
 *		Is there a free slot?  It is the first one then.
 */
static inline bool
cuckoo_bucket_has_room(const CuckooPacking *packing, const uint8_t *table,
					   uint64_t bucket)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits + 12;

	return (cuckoo_load_bits(table, bit) & packing->rem_mask) == 0 &&
		(cuckoo_bucket_load_nibbles(packing, table, bucket) & 0xF) == 0;
}

/*
 * cuckoo_lanes_differ
 *		Has a lane of a word another number than its lane of another word?  The
 *		highest bit of each says so; the bits below are of no use.
 *
 * Adding the largest number of one bit less to the lower bits of a difference
 * carries into its highest bit unless they are all zero.
 */
static inline uint64_t
cuckoo_lanes_differ(const CuckooPacking *packing, uint64_t word, uint64_t lanes)
{
	const uint64_t lower = packing->lane_high - packing->lane_low;
	const uint64_t differ = word ^ lanes;

	return ((differ & lower) + lower) | differ;
}

/* The highest bit of each lane that equals its lane of the other word. */
static inline uint64_t
cuckoo_lanes_equal(const CuckooPacking *packing, uint64_t word, uint64_t lanes)
{
	return ~cuckoo_lanes_differ(packing, word, lanes) & packing->lane_high;
}

/*
 * cuckoo_bucket_word
 *		A whole bucket, and whatever follows it in the highest bits.
 *
 * Only for fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS, as all that takes the word.
 */
static inline uint64_t
cuckoo_bucket_word(const CuckooPacking *packing, const uint8_t *table,
				   uint64_t bucket)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;

	return cuckoo_load_le64(table + bit / 8) >> (bit & 4);
}

/* Write a whole bucket over what cuckoo_bucket_word() has given of it. */
static inline void
cuckoo_bucket_change_word(const CuckooPacking *packing, uint8_t *table,
						  uint64_t bucket, uint64_t old, uint64_t word)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits;
	const uint64_t differ = (old ^ word) & packing->word_mask;
	uint8_t    *const p = table + bit / 8;

	cuckoo_store_le64(p, cuckoo_load_le64(p) ^ differ << (bit & 4));
}

/*
 * cuckoo_word_match
 *		The slots of a whole bucket that hold fp: the highest bits of lanes.
 *
 * Without a branch: which slots have the nibble follows from the code, and
 * which have the remainder from comparing all four.  The nibble of fp is given,
 * since both fingerprints of a value have the same one.
 */
static inline uint64_t
cuckoo_word_match(const CuckooPacking *packing, uint64_t word, uint64_t fp,
				  int nibble)
{
	const uint64_t slots =
		cuckoo_bucket_slots[word & 0xFFF] >> (4 * nibble) & 0xF;

	return cuckoo_slot_lanes[packing->rem_bits][slots] &
		~cuckoo_lanes_differ(packing, word >> 12,
							 (fp >> 4) * packing->lane_low);
}

/* Those that have its remainder. */
static inline uint64_t
cuckoo_word_match_rems(const CuckooPacking *packing, uint64_t word, uint64_t fp)
{
	return cuckoo_lanes_equal(packing, word >> 12,
							  (fp >> 4) * packing->lane_low);
}

/* Is the first slot free? */
static inline bool
cuckoo_word_has_room(const CuckooPacking *packing, uint64_t word)
{
	return (word >> 12 & packing->rem_mask) == 0 &&
		(cuckoo_bucket_nibbles[word & 0xFFF] & 0xF) == 0;
}

/* The code of four nibbles, n0 lowest. */
static inline uint32_t
cuckoo_nibbles_code(uint32_t n0, uint32_t n1, uint32_t n2, uint32_t n3)
{
	return n0 + cuckoo_nibble_codes[0][n1] + cuckoo_nibble_codes[1][n2] +
		cuckoo_nibble_codes[2][n3];
}

/* Put two numbers in order. */
static inline void
cuckoo_order_two(uint32_t *a, uint32_t *b)
{
	const uint32_t smaller = *a < *b ? *a : *b;
	const uint32_t larger = *a < *b ? *b : *a;

	*a = smaller;
	*b = larger;
}

/*
 * cuckoo_word_insert
 *		A whole bucket with a fingerprint put into its first slot, which is
 *		free.
 */
static inline uint64_t
cuckoo_word_insert(const CuckooPacking *packing, uint64_t word, uint64_t fp)
{
	const int	rem_bits = packing->rem_bits;
	const uint32_t mask = (uint32_t) packing->rem_mask;
	const uint64_t lane = packing->rem_mask + 1;
	const uint32_t nibbles = cuckoo_bucket_nibbles[word & 0xFFF];
	uint64_t	rems = word >> 12 >> rem_bits;
	uint32_t	slots[CUCKOO_BUCKET_SLOTS];

	/* as cuckoo_fp_sort_key(), in 16 bits: the nibble, then the remainder */
	slots[0] = (uint32_t) (fp & 0xF) << 12 | (uint32_t) (fp >> 4);
	slots[1] = (nibbles << 8 & 0xF000) | ((uint32_t) rems & mask);
	rems >>= rem_bits;
	slots[2] = (nibbles << 4 & 0xF000) | ((uint32_t) rems & mask);
	rems >>= rem_bits;
	slots[3] = (nibbles & 0xF000) | ((uint32_t) rems & mask);
	cuckoo_order_two(&slots[0], &slots[1]);
	cuckoo_order_two(&slots[1], &slots[2]);
	cuckoo_order_two(&slots[2], &slots[3]);

	/* times lane: to the next one, by what is often faster than a shift */
	rems = slots[3] & mask;
	rems = rems * lane + (slots[2] & mask);
	rems = rems * lane + (slots[1] & mask);
	rems = rems * lane + (slots[0] & mask);
	return rems << 12 |
		cuckoo_nibbles_code(slots[0] >> 12, slots[1] >> 12,
							slots[2] >> 12, slots[3] >> 12);
}

/*
 * cuckoo_word_delete
 *		A whole bucket without what is in the first of the slots that match, as
 *		cuckoo_word_match() says it, of which there are some.
 */
static inline uint64_t
cuckoo_word_delete(const CuckooPacking *packing, uint64_t word, uint64_t match)
{
	const int	rem_bits = packing->rem_bits;
	const uint64_t lane_end = (match & (0 - match)) << 1;
	const uint64_t lane_start = lane_end >> rem_bits;
	const uint64_t rems = (word & packing->word_mask) >> 12;
	const int	nibble_bit = 4 *
		(int) ((uint32_t) cuckoo_lowest_bit(match) *
			   packing->rem_reciprocal >> 16);
	const uint32_t nibbles = cuckoo_bucket_nibbles[word & 0xFFF];
	const uint32_t before = nibbles & (((uint32_t) 1 << nibble_bit) - 1);
	const uint32_t after = nibbles >> 4 >> nibble_bit << nibble_bit;
	const uint32_t kept = (after | before) << 4;

	/* what comes before it moves up one slot */
	CuckooAssert(match != 0);
	return ((rems & (0 - lane_end)) |
			(rems & (lane_start - 1)) << rem_bits) << 12 |
		cuckoo_nibbles_code(kept & 0xF, kept >> 4 & 0xF, kept >> 8 & 0xF,
							kept >> 12);
}

/*
 * cuckoo_bucket_match
 *		The slots of a bucket whose remainder is that of fp, one bit each.
 *
 * That of slot i is bit (i + 1) * rem_bits - 1; if the bucket takes two words,
 * those of slots 2 and 3 are two bits below those of 0 and 1.  Only for
 * fp_bits <= CUCKOO_MAX_PAIR_FP_BITS.
 */
static inline uint64_t
cuckoo_bucket_match(const CuckooPacking *packing, const uint8_t *table,
					uint64_t bucket, uint64_t fp)
{
	const uint64_t bit = bucket * (uint64_t) packing->bucket_bits + 12;
	const uint64_t lanes = (fp >> 4) * packing->lane_low;
	uint64_t	match;

	match = cuckoo_lanes_equal(packing, cuckoo_load_bits(table, bit), lanes);
	if (cuckoo_unlikely(packing->fp_bits > CUCKOO_MAX_WORD_FP_BITS))
	{
		const uint64_t second_bit = bit + 2 * (uint64_t) packing->rem_bits;

		match |= cuckoo_lanes_equal(packing,
									cuckoo_load_bits(table, second_bit),
									lanes) >> 2;
	}
	return match;
}

/*
 * cuckoo_bucket_match_slot
 *		The slot that a bit of cuckoo_bucket_match(), or the one below, means.
 */
static inline int
cuckoo_bucket_match_slot(const CuckooPacking *packing, int bit)
{
	/* bit / rem_bits */
	const int	lane = (int) ((uint32_t) bit * packing->rem_reciprocal >> 16);

	return bit - lane * packing->rem_bits < packing->rem_bits - 2 ?
		lane + 2 : lane;
}

/*
 * Of the slots of two places those, one bit each, that may hold the value.
 */
typedef struct CuckooCandidates
{
	uint64_t	slots;			/* of both buckets: what cuckoo_bucket_match()
								 * says of the first, and of the second one
								 * bit lower */
	uint64_t	primary;		/* those of the first */
} CuckooCandidates;

/*
 * cuckoo_places_match
 *		The slots of two places that have the remainder looked for there.
 *
 * Of fingerprints too wide to compare as lanes, one that stands for all.
 */
static inline CuckooCandidates
cuckoo_places_match(const CuckooPacking *packing, const uint8_t *table,
					const CuckooPlace *places)
{
	CuckooCandidates candidates = {1, 1};

	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_PAIR_FP_BITS))
	{
		candidates.primary = cuckoo_bucket_match(packing, table,
												 places[0].bucket,
												 places[0].fp);
		candidates.slots = candidates.primary |
			cuckoo_bucket_match(packing, table, places[1].bucket,
								places[1].fp) >> 1;
	}
	return candidates;
}

/*
 * cuckoo_places_confirm
 *		Does one of the candidates, of which there are some, hold the value?
 *
 * The two fingerprints of a value end in the same bits, so that one nibble is
 * looked for.  Nearly always the first candidate has it if any has.
 */
static inline bool
cuckoo_places_confirm(const CuckooPacking *packing, const uint8_t *table,
					  const CuckooPlace *places, CuckooCandidates candidates)
{
	CuckooAssert((places[0].fp & 0xF) == (places[1].fp & 0xF));

	if (cuckoo_unlikely(packing->fp_bits > CUCKOO_MAX_PAIR_FP_BITS))
		return cuckoo_bucket_find(packing, table,
								  places[0].bucket, places[0].fp) ||
			cuckoo_bucket_find(packing, table,
							   places[1].bucket, places[1].fp);
	do
	{
		/* which bucket: not a branch, as it would go either way */
		const int	bit = cuckoo_lowest_bit(candidates.slots);
		const uint64_t is_primary = 0 - (candidates.primary >> bit & 1);
		const uint64_t bucket = (places[0].bucket & is_primary) |
			(places[1].bucket & ~is_primary);
		const uint32_t nibbles =
			cuckoo_bucket_load_nibbles(packing, table, bucket);
		const int	slot = cuckoo_bucket_match_slot(packing, bit);

		if (cuckoo_likely((nibbles >> (4 * slot) & 0xF) ==
						  (places[0].fp & 0xF)))
			return true;
		candidates.slots &= candidates.slots - 1;
	} while (candidates.slots != 0);
	return false;
}

/* Is a value in one of its two places?  In buckets of a word each. */
static inline bool
cuckoo_places_match_words(const CuckooPacking *packing, const uint8_t *table,
						  const CuckooPlace *places)
{
	const int	nibble = (int) (places[0].fp & 0xF);
	const uint64_t primary =
		cuckoo_word_match(packing, cuckoo_bucket_word(packing, table,
													  places[0].bucket),
						  places[0].fp, nibble);
	const uint64_t alternate =
		cuckoo_word_match(packing, cuckoo_bucket_word(packing, table,
													  places[1].bucket),
						  places[1].fp, nibble);

	return (primary | alternate) != 0;
}

/*
 * cuckoo_places_contain
 *		Is there a copy of a value in one of its two places?
 *
 * Nothing branches on the answer in buckets of a word.  In wider ones the
 * remainders of all eight slots are compared before anything is decided: most
 * values that are not there fail on them, and nibbles are decoded only for the
 * others.
 */
static inline bool
cuckoo_places_contain(const CuckooPacking *packing, const uint8_t *table,
					  const CuckooPlace *places)
{
	CuckooCandidates candidates;

	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS))
		return cuckoo_places_match_words(packing, table, places);
	candidates = cuckoo_places_match(packing, table, places);
	return cuckoo_unlikely(candidates.slots != 0) &&
		cuckoo_places_confirm(packing, table, places, candidates);
}

#endif							/* CUCKOO_BUCKET_H */
