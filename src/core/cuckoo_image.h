/*-------------------------------------------------------------------------
 *
 * cuckoo_image.h
 *		Opening images, and the check of untrusted bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_IMAGE_H
#define CUCKOO_IMAGE_H

#include "cuckoo_header.h"

extern CuckooStatus cuckoo_image_open(CuckooFilter *filter,
									  const uint8_t *image,
									  size_t image_bytes);
extern CuckooStatus cuckoo_image_check(const CuckooFilter *filter,
									   const CuckooHost *host,
									   uint64_t *position);

/*
 * In builds with assertions, check a filter whole wherever its structure has
 * been made anew of sound ones.  No polling: the filter is not in the caller's
 * hands yet.
 */
#ifdef CUCKOO_ASSERT_CHECKING
extern void cuckoo_image_assert_check(const CuckooFilter *filter);
#else
#define cuckoo_image_assert_check(filter)	((void) 0)
#endif

#endif							/* CUCKOO_IMAGE_H */
