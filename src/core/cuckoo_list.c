/*-------------------------------------------------------------------------
 *
 * cuckoo_list.c
 *		The small form of a filter: a sorted list of 64-bit hashes.
 *
 * The copies of a hash stand beside each other.  Exact, but for values whose
 * hashes are equal.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_list.h"

/*
 * list_lower_bound
 *		The position of the first hash that is not below the given one.
 */
static uint64_t
list_lower_bound(const CuckooFilter *filter, uint64_t hash)
{
	uint64_t	low = 0;
	uint64_t	high = filter->nentries;

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (cuckoo_list_get(filter, middle) < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int
list_count_at(const CuckooFilter *filter, uint64_t position, uint64_t hash)
{
	int			ncopies = 0;

	while (ncopies < CUCKOO_MAX_COPIES && position < filter->nentries &&
		   cuckoo_list_get(filter, position) == hash)
	{
		ncopies++;
		position++;
	}
	return ncopies;
}

/*
 * cuckoo_list_count
 *		Copies of a hash in the list, 0 to CUCKOO_MAX_COPIES.
 */
int
cuckoo_list_count(const CuckooFilter *filter, uint64_t hash)
{
	return list_count_at(filter, list_lower_bound(filter, hash), hash);
}

/*
 * cuckoo_list_run
 *		Copies, from a position on, of the hash that stands there.
 *
 * At least one, so that going from run to run comes to the end of any list.
 */
int
cuckoo_list_run(const CuckooFilter *filter, uint64_t position)
{
	return list_count_at(filter, position, cuckoo_list_get(filter, position));
}

/*
 * cuckoo_list_insert
 *		Put one more copy of a hash into the list.
 *
 * The image must have room for 8 more bytes.
 */
void
cuckoo_list_insert(CuckooFilter *filter, uint64_t hash)
{
	const uint64_t position = list_lower_bound(filter, hash);
	uint8_t    *const p = cuckoo_header_body(filter) + 8 * position;

	CuckooAssert(filter->image_bytes + 8 <= filter->image_room);

	memmove(p + 8, p, (size_t) (8 * (filter->nentries - position)));
	cuckoo_store_le64(p, hash);
	filter->nentries++;
	filter->image_bytes += 8;
}

/*
 * cuckoo_list_remove
 *		Take one copy of a hash out of the list.
 *
 * Returns CUCKOO_OK, or CUCKOO_NOT_FOUND or CUCKOO_SATURATED with the filter
 * as it was.
 */
CuckooStatus
cuckoo_list_remove(CuckooFilter *filter, uint64_t hash)
{
	const uint64_t position = list_lower_bound(filter, hash);
	const int	ncopies = list_count_at(filter, position, hash);
	uint8_t    *const p = cuckoo_header_body(filter) + 8 * position;

	if (ncopies == 0)
		return CUCKOO_NOT_FOUND;
	if (ncopies >= filter->max_copies)
		return CUCKOO_SATURATED;

	memmove(p, p + 8, (size_t) (8 * (filter->nentries - position - 1)));
	filter->nentries--;
	filter->image_bytes -= 8;
	return CUCKOO_OK;
}

/*
 * cuckoo_list_check
 *		Is the list ascending, with no more copies than allowed?
 *
 * *position is set to the first hash that is not as it should be.
 */
CuckooStatus
cuckoo_list_check(const CuckooFilter *filter, uint64_t *position)
{
	int			ncopies = 1;

	for (uint64_t i = 1; i < filter->nentries; i++)
	{
		const uint64_t before = cuckoo_list_get(filter, i - 1);
		const uint64_t hash = cuckoo_list_get(filter, i);

		*position = i;
		if (hash < before)
			return CUCKOO_BAD_LIST;
		ncopies = hash == before ? ncopies + 1 : 1;
		if (ncopies > filter->max_copies)
			return CUCKOO_BAD_COPIES;
	}
	return CUCKOO_OK;
}
