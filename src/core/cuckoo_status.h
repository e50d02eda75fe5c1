/*-------------------------------------------------------------------------
 *
 * cuckoo_status.h
 *		Result codes of the core.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_STATUS_H
#define CUCKOO_STATUS_H

typedef enum CuckooStatus
{
	CUCKOO_OK = 0,

	/* the filter is as it was, and that is as it should be */
	CUCKOO_SATURATED,			/* the value has max_copies copies: neither
								 * add nor remove changes that */
	CUCKOO_NOT_FOUND,			/* nothing to remove */

	/* the filter is as it was, and the caller wanted otherwise */
	CUCKOO_NO_ROOM,				/* no free slot within reach (inside the core
								 * only: the filter grows) */
	CUCKOO_FULL,				/* no free slot, and the capacity is reached */
	CUCKOO_COLLIDING,			/* no free slot in a table that is mostly
								 * empty: the keys collide */
	CUCKOO_TOO_LARGE,			/* the image would be larger than allowed */
	CUCKOO_NO_MEMORY,			/* the caller's allocator returned NULL */

	/* parameters out of range */
	CUCKOO_BAD_CAPACITY,
	CUCKOO_BAD_RATE,			/* the rate needs a prefix of too many bits */
	CUCKOO_BELOW_ENTRIES,		/* a capacity below the entries held */
	CUCKOO_TOO_COARSE,			/* what is asked for needs a prefix of more
								 * bits than the entries have */

	/* filters that cannot be merged */
	CUCKOO_SEEDS_DIFFER,
	CUCKOO_COLUMNS_DIFFER,

	/* an image that is not one */
	CUCKOO_BAD_SIZE,			/* shorter or longer than its header says */
	CUCKOO_NEW_FORMAT,			/* format version not known */
	CUCKOO_NEW_HASH,			/* hash version not known */
	CUCKOO_NEW_FLAG,			/* a reserved flag is set */
	CUCKOO_NEW_FAMILY,			/* key family not known */
	CUCKOO_BAD_HEADER,			/* a header field out of range */
	CUCKOO_BAD_LIST,			/* list not ascending */
	CUCKOO_BAD_BUCKET,			/* a bucket that no writer makes */
	CUCKOO_BAD_TAIL,			/* bits after the last bucket not zero */
	CUCKOO_BAD_COUNT,			/* entries not as counted */
	CUCKOO_BAD_COPIES			/* a value with more than max_copies copies */
} CuckooStatus;

extern const char *cuckoo_status_reason(CuckooStatus status);

#endif							/* CUCKOO_STATUS_H */
