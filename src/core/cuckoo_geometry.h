/*-------------------------------------------------------------------------
 *
 * cuckoo_geometry.h
 *		The numbers that fix the shape of a filter.
 *
 * A table has ncolumns (k) times 2^index_bits (2^q) buckets of four slots.
 * Every value stands for prefix_bits (P) bits inside a column, whatever the
 * size of the table: index_bits of them choose the bucket, the others are the
 * fingerprint.  A filter keeps k and P for life; q grows with what it holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_GEOMETRY_H
#define CUCKOO_GEOMETRY_H

#include "cuckoo_bytes.h"
#include "cuckoo_status.h"
#include "../cuckoo_format.h"

/*
 * A false positive rate as the core takes it: an integer, in units of 2^-62,
 * so that no rounding of a library function decides a byte.
 */
#define CUCKOO_RATE_BITS		62

/*
 * The coarsest rate.  With one bit less than this asks for, a full table could
 * not be doubled; a coarser one is taken as this.
 */
#define CUCKOO_MAX_RATE			((uint64_t) 1 << (CUCKOO_RATE_BITS - 6))

typedef struct CuckooGeometry
{
	uint32_t	ncolumns;		/* k */
	int			index_bits;		/* q */
	int			prefix_bits;	/* P */
} CuckooGeometry;

extern CuckooStatus cuckoo_geometry_choose(CuckooGeometry *geometry,
										   uint64_t capacity, uint64_t rate);
extern int	cuckoo_geometry_index_bits(uint32_t ncolumns, uint64_t capacity);
extern int	cuckoo_geometry_prefix_bits(uint32_t ncolumns, int index_bits,
										uint64_t capacity, uint64_t rate);
extern uint64_t cuckoo_geometry_usable(const CuckooGeometry *geometry);
extern uint64_t cuckoo_geometry_max_capacity(uint64_t rate);
extern uint64_t cuckoo_geometry_rate(uint32_t ncolumns, int prefix_bits,
									 uint64_t capacity);
extern double cuckoo_geometry_fpr(uint32_t ncolumns, int prefix_bits,
								  uint64_t nentries);

/* Buckets of a table. */
static inline uint64_t
cuckoo_geometry_nbuckets(const CuckooGeometry *geometry)
{
	return (uint64_t) geometry->ncolumns << geometry->index_bits;
}

/* Buckets of a superblock, or of the table if it has none. */
static inline uint32_t
cuckoo_geometry_block_buckets(const CuckooGeometry *geometry)
{
	return geometry->ncolumns <<
		(geometry->index_bits < CUCKOO_SUPERBLOCK_BITS ?
		 geometry->index_bits : CUCKOO_SUPERBLOCK_BITS);
}

/* Bits of a fingerprint. */
static inline int
cuckoo_geometry_fp_bits(const CuckooGeometry *geometry)
{
	return geometry->prefix_bits - geometry->index_bits;
}

/*
 * Bytes of a packed table with its padding: a bucket takes four slots of one
 * bit less than a fingerprint, since their order carries no information.
 */
static inline uint64_t
cuckoo_geometry_table_bytes(const CuckooGeometry *geometry)
{
	const uint64_t bucket_bits = CUCKOO_BUCKET_SLOTS *
		(uint64_t) (cuckoo_geometry_fp_bits(geometry) - 1);

	return (cuckoo_geometry_nbuckets(geometry) * bucket_bits + 7) / 8 +
		CUCKOO_PAD_BYTES;
}

#endif							/* CUCKOO_GEOMETRY_H */
