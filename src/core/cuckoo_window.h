/*-------------------------------------------------------------------------
 *
 * cuckoo_window.h
 *		Probing a table of which only a few bytes are at hand.
 *
 * A window is a pair of neighbouring buckets, the one a value may be in and
 * its neighbour: two buckets together are fp_bits - 1 whole bytes, so that in
 * a window the bucket has the number 0 or 1, and is read as in any table.
 * The caller fetches the bytes, wherever the image is.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_WINDOW_H
#define CUCKOO_WINDOW_H

#include "cuckoo_header.h"

/* The widest pair, and the bytes behind that an 8-byte load may touch. */
#define CUCKOO_WINDOW_BYTES \
	(CUCKOO_MAX_PREFIX_BITS - 1 + CUCKOO_PAD_BYTES)

typedef struct CuckooWindow
{
	uint64_t	offset;			/* of its bytes in the image */
	size_t		nbytes;			/* at most CUCKOO_WINDOW_BYTES */
	uint64_t	bucket;			/* in the window: 0 or 1 */
	uint64_t	fp;				/* to look for there */
} CuckooWindow;

extern void cuckoo_window_find(const CuckooFilter *filter, uint64_t hash,
							   CuckooWindow *windows);
extern int	cuckoo_window_count(const CuckooFilter *filter,
								const CuckooWindow *window,
								const uint8_t *bytes);

#endif							/* CUCKOO_WINDOW_H */
