/*-------------------------------------------------------------------------
 *
 * cuckoo_status.c
 *		One short reason for each result code.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_status.h"

/*
 * cuckoo_status_reason
 *		What a status means, as a phrase in lower case without a period.
 *
 * Fit for the middle of a message.  Never NULL.
 */
const char *
cuckoo_status_reason(CuckooStatus status)
{
	switch (status)
	{
		case CUCKOO_OK:
			return "ok";
		case CUCKOO_SATURATED:
			return "the value has the largest number of copies";
		case CUCKOO_NOT_FOUND:
			return "the value is not in the filter";
		case CUCKOO_NO_ROOM:
			return "no free slot within reach";
		case CUCKOO_FULL:
			return "the capacity is reached and no slot is free within reach";
		case CUCKOO_COLLIDING:
			return "too many hashes collide";
		case CUCKOO_TOO_LARGE:
			return "the filter would be larger than 512 MiB";
		case CUCKOO_NO_MEMORY:
			return "out of memory";
		case CUCKOO_BAD_CAPACITY:
			return "capacity out of range";
		case CUCKOO_BAD_RATE:
			return "false positive rate out of range";
		case CUCKOO_BELOW_ENTRIES:
			return "the capacity is below the number of entries held";
		case CUCKOO_TOO_COARSE:
			return "the entries keep too few bits";
		case CUCKOO_SEEDS_DIFFER:
			return "the seeds differ";
		case CUCKOO_COLUMNS_DIFFER:
			return "the numbers of columns differ";
		case CUCKOO_BAD_SIZE:
			return "its length is not what its header says";
		case CUCKOO_NEW_FORMAT:
			return "its format version is not known";
		case CUCKOO_NEW_HASH:
			return "its hash version is not known";
		case CUCKOO_NEW_FLAG:
			return "a reserved flag is set";
		case CUCKOO_NEW_FAMILY:
			return "its key family is not known";
		case CUCKOO_BAD_HEADER:
			return "a header field is out of range";
		case CUCKOO_BAD_LIST:
			return "the hashes are not in ascending order";
		case CUCKOO_BAD_BUCKET:
			return "a bucket is malformed";
		case CUCKOO_BAD_TAIL:
			return "the bits after the last bucket are not zero";
		case CUCKOO_BAD_COUNT:
			return "the number of entries is not what its header says";
		case CUCKOO_BAD_COPIES:
			return "a value has more copies than its header allows";
	}
	return "unknown status";
}
