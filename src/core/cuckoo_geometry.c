/*-------------------------------------------------------------------------
 *
 * cuckoo_geometry.c
 *		Capacity and false positive rate to the shape of a filter.
 *
 * Only integers decide, so that every machine chooses the same shape.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "cuckoo_geometry.h"

/* No table within CUCKOO_MAX_IMAGE_BYTES has as many slots as this. */
#define MAX_SLOTS	((uint64_t) 1 << 30)

/*
 * cuckoo_geometry_usable
 *		The slots of a table that can be relied on.
 *
 * Of S slots min(24 S / 25 - 10, 959 S / 1000): what 999 of 1,000 random fills
 * reached.
 */
uint64_t
cuckoo_geometry_usable(const CuckooGeometry *geometry)
{
	const uint64_t nslots =
		cuckoo_geometry_nbuckets(geometry) * CUCKOO_BUCKET_SLOTS;
	const uint64_t small = 24 * nslots / 25 - 10;
	const uint64_t large = 959 * nslots / 1000;

	return small < large ? small : large;
}

/*
 * geometry_slots_for
 *		The fewest slots of which capacity can be used: the above, solved.
 */
static uint64_t
geometry_slots_for(uint64_t capacity)
{
	const uint64_t small = ((capacity + 10) * 25 + 23) / 24;
	const uint64_t large = (capacity * 1000 + 958) / 959;

	return small > large ? small : large;
}

/*
 * cuckoo_geometry_index_bits
 *		The fewest index bits with which ncolumns hold capacity entries.
 *
 * capacity is at most CUCKOO_MAX_CAPACITY; the result can be more than any
 * filter has.
 */
int
cuckoo_geometry_index_bits(uint32_t ncolumns, uint64_t capacity)
{
	const uint64_t nbuckets =
		(geometry_slots_for(capacity) +
		 CUCKOO_BUCKET_SLOTS - 1) / CUCKOO_BUCKET_SLOTS;
	int			index_bits = 0;

	while (((uint64_t) ncolumns << index_bits) < nbuckets)
		index_bits++;
	return index_bits;
}

/*
 * cuckoo_geometry_prefix_bits
 *		The fewest prefix bits that keep the rate for capacity entries.
 *
 * A value that was never added is looked for in two places.  Each of capacity
 * entries matches one of them with probability 1 / (k 2^P) on average, or
 * 129/128 of that, since one of the 255 permanent parts is twice as likely as
 * the others.  So 2 * capacity / (k 2^P) * 129/128 <= rate, which is
 * 129 capacity <= 64 rate k 2^P, must hold.  One bit more than the shortest
 * fingerprint is left besides, so that a full table can always be doubled.
 *
 * Returns CUCKOO_MAX_PREFIX_BITS + 1 if no prefix is long enough.
 */
int
cuckoo_geometry_prefix_bits(uint32_t ncolumns, int index_bits,
							uint64_t capacity, uint64_t rate)
{
	int			prefix_bits = index_bits + CUCKOO_MIN_FP_BITS + 1;

	if (capacity > MAX_SLOTS)
		return CUCKOO_MAX_PREFIX_BITS + 1;
	if (rate > CUCKOO_MAX_RATE)
		rate = CUCKOO_MAX_RATE;

	/* rate has 62 bits after the point, 64 is 6 more, 2^P moves it back */
	while (prefix_bits <= CUCKOO_MAX_PREFIX_BITS &&
		   129 * capacity >
		   (rate * ncolumns) >> (CUCKOO_RATE_BITS - 6 - prefix_bits))
		prefix_bits++;
	return prefix_bits;
}

/*
 * cuckoo_geometry_choose
 *		The smallest shape that holds capacity values at the rate.
 *
 * k is 64 to 127 as soon as that many buckets are needed, which keeps the
 * rounding below 1/64; a smaller filter has 8 to 127 columns of one bucket.
 *
 * Returns CUCKOO_OK; CUCKOO_BAD_CAPACITY if it is 0 or above
 * CUCKOO_MAX_CAPACITY; CUCKOO_TOO_LARGE if the table would not fit into an
 * image; CUCKOO_BAD_RATE if the rate is too fine for the prefix.
 */
CuckooStatus
cuckoo_geometry_choose(CuckooGeometry *geometry, uint64_t capacity,
					   uint64_t rate)
{
	uint64_t	nbuckets;

	if (capacity == 0 || capacity > CUCKOO_MAX_CAPACITY)
		return CUCKOO_BAD_CAPACITY;
	if (capacity > MAX_SLOTS)
		return CUCKOO_TOO_LARGE;

	nbuckets = (geometry_slots_for(capacity) + CUCKOO_BUCKET_SLOTS - 1) /
		CUCKOO_BUCKET_SLOTS;
	geometry->index_bits = 0;
	while (((nbuckets - 1) >> geometry->index_bits) + 1 > CUCKOO_MAX_COLUMNS)
		geometry->index_bits++;
	geometry->ncolumns =
		(uint32_t) ((nbuckets - 1) >> geometry->index_bits) + 1;
	if (geometry->ncolumns < CUCKOO_MIN_COLUMNS)
		geometry->ncolumns = CUCKOO_MIN_COLUMNS;

	geometry->prefix_bits =
		cuckoo_geometry_prefix_bits(geometry->ncolumns, geometry->index_bits,
									capacity, rate);
	if (geometry->prefix_bits > CUCKOO_MAX_PREFIX_BITS)
		return CUCKOO_BAD_RATE;
	if (CUCKOO_HEADER_BYTES + cuckoo_geometry_table_bytes(geometry) >
		CUCKOO_MAX_IMAGE_BYTES)
		return CUCKOO_TOO_LARGE;
	return CUCKOO_OK;
}

/*
 * cuckoo_geometry_max_capacity
 *		The capacity up to which a filter is possible at this rate, or 0.
 *
 * A few larger ones can be as well: where a column more saves a prefix bit,
 * the table becomes smaller.
 */
uint64_t
cuckoo_geometry_max_capacity(uint64_t rate)
{
	CuckooGeometry geometry;
	uint64_t	low = 0;
	uint64_t	high = MAX_SLOTS;

	while (low < high)
	{
		const uint64_t middle = low + (high - low + 1) / 2;

		if (cuckoo_geometry_choose(&geometry, middle, rate) == CUCKOO_OK)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * cuckoo_geometry_rate
 *		The finest rate that prefix_bits keep for capacity entries.
 *
 * In units of 2^-62, rounded up; the inverse of cuckoo_geometry_prefix_bits().
 * capacity is at most CUCKOO_MAX_CAPACITY.
 */
uint64_t
cuckoo_geometry_rate(uint32_t ncolumns, int prefix_bits, uint64_t capacity)
{
	const int	shift = CUCKOO_RATE_BITS - 6 - prefix_bits;
	const uint64_t weight = 129 * (capacity < MAX_SLOTS ? capacity : MAX_SLOTS);

	if (weight / ncolumns >= CUCKOO_MAX_RATE >> shift)
		return CUCKOO_MAX_RATE;
	return ((weight << shift) + ncolumns - 1) / ncolumns;
}

/*
 * cuckoo_geometry_fpr
 *		The false positive rate of a table with nentries entries.
 *
 * For people to read; no byte depends on it.
 */
double
cuckoo_geometry_fpr(uint32_t ncolumns, int prefix_bits, uint64_t nentries)
{
	const double prefixes = ldexp((double) ncolumns, prefix_bits);

	return -expm1(-2.0 * (double) nentries / prefixes * 129.0 / 128.0);
}
