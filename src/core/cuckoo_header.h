/*-------------------------------------------------------------------------
 *
 * cuckoo_header.h
 *		A filter with its header decoded: what lists and tables stand on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HEADER_H
#define CUCKOO_HEADER_H

#include "cuckoo_bucket.h"
#include "cuckoo_geometry.h"
#include "cuckoo_status.h"

/*
 * What the core asks of its caller.
 *
 * alloc gives bytes of memory for an image or scratch space, of any alignment
 * and content, or NULL, or does not return; release takes back what alloc
 * gave.  poll is called between units of work of about a millisecond and may
 * not return either: whatever was allocated is then the caller's to find.
 */
typedef struct CuckooHost
{
	void	   *(*alloc) (void *context, size_t bytes);
	void		(*release) (void *context, void *memory);
	void		(*poll) (void *context);
	void	   *context;
} CuckooHost;

/*
 * A filter: its image, and the header of it decoded.
 *
 * The functions that change a filter keep the decoded header up to date and
 * leave that in the image stale; cuckoo_header_store() writes it.
 */
typedef struct CuckooFilter
{
	uint8_t    *image;			/* header and body, the caller's memory */
	size_t		image_bytes;	/* bytes of it in use */
	size_t		image_room;		/* bytes of it there are */

	bool		is_table;		/* else a list */
	bool		is_merged;		/* nothing can be removed any more */
	bool		is_doubtful;	/* comes of an image that may not be sound:
								 * assertions expect nothing of the content */
	CuckooFamily family;
	CuckooGeometry geometry;	/* index_bits is 0 in a list */
	int			max_copies;		/* now */
	int			declared_copies;	/* max_copies as declared */
	uint64_t	seed;
	uint64_t	capacity;
	uint64_t	nentries;
	uint64_t	nkicks;
	int			longest_path;
	int			ngrowths;
	int			growth_load;	/* in 1/CUCKOO_GROWTH_LOAD_UNIT */

	CuckooPacking packing;		/* of a table */
} CuckooFilter;

extern CuckooStatus cuckoo_header_open(CuckooFilter *filter,
									   const uint8_t *header,
									   uint64_t *image_bytes);
extern CuckooStatus cuckoo_header_status(const CuckooFilter *filter);
extern void cuckoo_header_store(CuckooFilter *filter);

static inline uint8_t *
cuckoo_header_body(const CuckooFilter *filter)
{
	return filter->image + CUCKOO_HEADER_BYTES;
}

/* Slots of a table. */
static inline uint64_t
cuckoo_header_nslots(const CuckooFilter *filter)
{
	return cuckoo_geometry_nbuckets(&filter->geometry) * CUCKOO_BUCKET_SLOTS;
}

/* Bytes of the image that the decoded header describes. */
static inline uint64_t
cuckoo_header_image_bytes(const CuckooFilter *filter)
{
	return CUCKOO_HEADER_BYTES +
		(filter->is_table ? cuckoo_geometry_table_bytes(&filter->geometry) :
		 8 * filter->nentries);
}

/*
 * How many units of work, values or buckets, lie between two polls, and between
 * two checks for interrupts of the server: some hundred nanoseconds each.  What
 * is faster or slower says so where it is counted, by a factor.
 */
#define CUCKOO_POLL_INTERVAL	4096

/* Called by the core once in about a millisecond of work; host may be NULL. */
static inline void
cuckoo_poll(const CuckooHost *host)
{
	if (host != NULL)
		host->poll(host->context);
}

#endif							/* CUCKOO_HEADER_H */
