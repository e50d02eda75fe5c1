/*-------------------------------------------------------------------------
 *
 * cuckoo_window.c
 *		Probing a table of which only a few bytes are at hand.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_window.h"
#include "cuckoo_table.h"

/*
 * cuckoo_window_find
 *		The two windows of a hash, the primary bucket's first.
 *
 * filter is a table of which the header is enough.  What stands in the table
 * of a value is cuckoo_window_count() of both windows together.
 */
void
cuckoo_window_find(const CuckooFilter *filter, uint64_t hash,
				   CuckooWindow *windows)
{
	const uint64_t pair_bytes = (uint64_t) filter->packing.bucket_bits / 4;
	const uint64_t table_bytes = cuckoo_geometry_table_bytes(&filter->geometry);
	CuckooPlace places[2];

	CuckooAssert(filter->is_table);
	cuckoo_table_places(&filter->geometry,
						cuckoo_table_hash_address(filter, hash), places);
	for (int i = 0; i < 2; i++)
	{
		const uint64_t start = places[i].bucket / 2 * pair_bytes;
		uint64_t	end = start + pair_bytes + CUCKOO_PAD_BYTES;

		/* the last bucket of an odd number of them has no neighbour */
		if (end > table_bytes)
			end = table_bytes;
		windows[i].offset = CUCKOO_HEADER_BYTES + start;
		windows[i].nbytes = (size_t) (end - start);
		windows[i].bucket = places[i].bucket % 2;
		windows[i].fp = places[i].fp;
	}
}

/*
 * cuckoo_window_count
 *		Copies of the fingerprint in one of the two buckets.
 *
 * bytes is what the image has at the window's offset, nbytes of it.
 */
int
cuckoo_window_count(const CuckooFilter *filter, const CuckooWindow *window,
					const uint8_t *bytes)
{
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	cuckoo_bucket_read(&filter->packing, bytes, window->bucket, fps);
	return cuckoo_fps_count(fps, window->fp);
}
