/*-------------------------------------------------------------------------
 *
 * cuckoo_image.c
 *		Opening images, and the check of untrusted bytes.
 *
 * Opening an image is cheap and makes it safe to use: whatever bytes the body
 * has, no operation reads or writes outside the image, all of them end, and
 * what they make can be opened again.  Only the full check makes the answers
 * right, so every image from outside passes it once.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_image.h"
#include "cuckoo_list.h"
#include "cuckoo_table.h"

/*
 * Assertions want to know of an image that is opened whether it is sound, if
 * that is soon said: probes open images, too.
 */
#define ASSERT_CHECK_BYTES	(8 * 1024)

/*
 * cuckoo_image_open
 *		Decode the header of an image and see that its length fits.
 *
 * The filter refers to the image, which must stay.  A caller whose image is
 * read-only must pass the filter on to functions that take a const one only.
 */
CuckooStatus
cuckoo_image_open(CuckooFilter *filter, const uint8_t *image,
				  size_t image_bytes)
{
	CuckooStatus status;
	uint64_t	expected_bytes;

	if (image_bytes < CUCKOO_HEADER_BYTES)
	{
		/* say so of another version, if there is that much of it */
		if (image_bytes > 0 &&
			image[CUCKOO_OFF_FORMAT] != CUCKOO_FORMAT_VERSION)
			return CUCKOO_NEW_FORMAT;
		return CUCKOO_BAD_SIZE;
	}

	status = cuckoo_header_open(filter, image, &expected_bytes);
	if (status != CUCKOO_OK)
		return status;
	if (expected_bytes != image_bytes)
		return CUCKOO_BAD_SIZE;

	filter->image = (uint8_t *) image;
	filter->image_bytes = image_bytes;
	filter->image_room = image_bytes;
#ifdef CUCKOO_ASSERT_CHECKING
	filter->is_doubtful = image_bytes > ASSERT_CHECK_BYTES ||
		cuckoo_image_check(filter, NULL, &expected_bytes) != CUCKOO_OK;
#endif
	return CUCKOO_OK;
}

/*
 * cuckoo_image_check
 *		Is an image that could be opened sound to the last bit?
 *
 * host may be NULL.  *position is set to the bucket, or the hash of a list,
 * that is not as it should be.
 */
CuckooStatus
cuckoo_image_check(const CuckooFilter *filter, const CuckooHost *host,
				   uint64_t *position)
{
	*position = 0;
	if (filter->is_table)
		return cuckoo_table_check(filter, host, position);
	return cuckoo_list_check(filter, position);
}

#ifdef CUCKOO_ASSERT_CHECKING
/*
 * cuckoo_image_assert_check
 *		Every invariant of a filter that has just been made.
 *
 * Of one that was made of doubtful ones only that it can be opened.
 */
void
cuckoo_image_assert_check(const CuckooFilter *filter)
{
	uint64_t	position;

	CuckooAssert(cuckoo_header_status(filter) == CUCKOO_OK);
	CuckooAssert(filter->image_bytes == cuckoo_header_image_bytes(filter));
	CuckooAssert(filter->is_doubtful ||
				 cuckoo_image_check(filter, NULL, &position) == CUCKOO_OK);
}
#endif
