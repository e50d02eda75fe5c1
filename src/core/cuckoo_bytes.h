/*-------------------------------------------------------------------------
 *
 * cuckoo_bytes.h
 *		Little-endian loads and stores at any address, and bit arithmetic.
 *
 * Written byte by byte: the same on every machine, whatever its byte order
 * and alignment rules.  gcc and clang make one instruction of each where the
 * machine has it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_BYTES_H
#define CUCKOO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define cuckoo_likely(x)	__builtin_expect((x) != 0, 1)
#define cuckoo_unlikely(x)	__builtin_expect((x) != 0, 0)
#define cuckoo_prefetch(p)	__builtin_prefetch(p)
#else
#define cuckoo_likely(x)	((x) != 0)
#define cuckoo_unlikely(x)	((x) != 0)
#define cuckoo_prefetch(p)	((void) (p))
#endif

/*
 * The invariants of the core, checked in builds that ask for it with
 * -DCUCKOO_ASSERT_CHECKING (the test suites do).
 */
#ifdef CUCKOO_ASSERT_CHECKING
#include <assert.h>
#define CuckooAssert(condition)	assert(condition)
#else
#define CuckooAssert(condition)	((void) 0)
#endif

static inline uint16_t
cuckoo_load_le16(const uint8_t *p)
{
	return (uint16_t) (p[0] | (uint16_t) p[1] << 8);
}

static inline uint64_t
cuckoo_load_le64(const uint8_t *p)
{
	return (uint64_t) p[0] |
		(uint64_t) p[1] << 8 |
		(uint64_t) p[2] << 16 |
		(uint64_t) p[3] << 24 |
		(uint64_t) p[4] << 32 |
		(uint64_t) p[5] << 40 |
		(uint64_t) p[6] << 48 |
		(uint64_t) p[7] << 56;
}

static inline void
cuckoo_store_le16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t) value;
	p[1] = (uint8_t) (value >> 8);
}

static inline void
cuckoo_store_le64(uint8_t *p, uint64_t value)
{
	p[0] = (uint8_t) value;
	p[1] = (uint8_t) (value >> 8);
	p[2] = (uint8_t) (value >> 16);
	p[3] = (uint8_t) (value >> 24);
	p[4] = (uint8_t) (value >> 32);
	p[5] = (uint8_t) (value >> 40);
	p[6] = (uint8_t) (value >> 48);
	p[7] = (uint8_t) (value >> 56);
}

/* The bits from the given one on, at least 57 of them. */
static inline uint64_t
cuckoo_load_bits(const uint8_t *p, uint64_t bit)
{
	return cuckoo_load_le64(p + bit / 8) >> (bit & 7);
}

/* The lowest nbits bits set; nbits is 0 to 63. */
static inline uint64_t
cuckoo_low_bits(int nbits)
{
	return ((uint64_t) 1 << nbits) - 1;
}

/* The number of the lowest bit that is set; value is not 0. */
static inline int
cuckoo_lowest_bit(uint64_t value)
{
#if defined(__GNUC__)
	return __builtin_ctzll(value);
#else
	int			bit = 0;

	for (; (value & 1) == 0; value >>= 1)
		bit++;
	return bit;
#endif
}

#endif							/* CUCKOO_BYTES_H */
