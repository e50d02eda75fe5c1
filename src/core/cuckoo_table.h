/*-------------------------------------------------------------------------
 *
 * cuckoo_table.h
 *		The table: k * 2^q buckets of four slots.
 *
 * The functions here work on one table of given size; cuckoo_filter.c decides
 * what is done when it is full.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TABLE_H
#define CUCKOO_TABLE_H

#include "cuckoo_hash.h"
#include "cuckoo_header.h"

/*
 * cuckoo_table_place
 *		Where an address is in a table.
 *
 * The first index_bits of the prefix number the bucket within its column.  Up
 * to 8 of them, the 2^q buckets of a column stand together.  From there on the
 * columns are cut into 2^(q - 8) superblocks of k * 2^8 buckets each, and the
 * bits behind the first 8 number the superblock: the alternate of an address
 * differs in its column and in the first 8 bits only, so that both buckets of
 * a value are in one superblock.
 */
static inline CuckooPlace
cuckoo_table_place(const CuckooGeometry *geometry, CuckooAddress address)
{
	const int	q = geometry->index_bits;
	const int	fp_bits = geometry->prefix_bits - q;
	const uint64_t index = address.prefix >> fp_bits;
	CuckooPlace place;

	place.fp = address.prefix & cuckoo_low_bits(fp_bits);
	if (q <= CUCKOO_SUPERBLOCK_BITS)
		place.bucket = (uint64_t) address.column << q | index;
	else
	{
		const int	superblock_bits = q - CUCKOO_SUPERBLOCK_BITS;
		const uint64_t superblock = index & cuckoo_low_bits(superblock_bits);

		place.bucket =
			(superblock * geometry->ncolumns + address.column)
			<< CUCKOO_SUPERBLOCK_BITS | index >> superblock_bits;
	}
	return place;
}

/*
 * cuckoo_table_address
 *		The address of what stands at a place: the inverse of the above.
 */
static inline CuckooAddress
cuckoo_table_address(const CuckooGeometry *geometry, CuckooPlace place)
{
	const int	q = geometry->index_bits;
	const int	fp_bits = geometry->prefix_bits - q;
	uint64_t	index;
	CuckooAddress address;

	if (q <= CUCKOO_SUPERBLOCK_BITS)
	{
		address.column = (uint32_t) (place.bucket >> q);
		index = place.bucket & cuckoo_low_bits(q);
	}
	else
	{
		/* at most 2^28 buckets: 32-bit division will do */
		const uint32_t group =
			(uint32_t) (place.bucket >> CUCKOO_SUPERBLOCK_BITS);

		address.column = group % geometry->ncolumns;
		index = (place.bucket & cuckoo_low_bits(CUCKOO_SUPERBLOCK_BITS))
			<< (q - CUCKOO_SUPERBLOCK_BITS) | group / geometry->ncolumns;
	}
	address.prefix = index << fp_bits | place.fp;
	return address;
}

/* The other place of whatever stands at this one. */
static inline CuckooPlace
cuckoo_table_alternate(const CuckooGeometry *geometry, CuckooPlace place)
{
	const CuckooAddress address = cuckoo_table_address(geometry, place);

	return cuckoo_table_place(geometry,
							  cuckoo_alternate_address(address,
													   geometry->ncolumns,
													   geometry->prefix_bits));
}

/* The address of a hash in this table. */
static inline CuckooAddress
cuckoo_table_hash_address(const CuckooFilter *filter, uint64_t hash)
{
	return cuckoo_hash_address(hash, filter->geometry.ncolumns,
							   filter->geometry.prefix_bits);
}

/* Both places of an address, the primary first. */
static inline void
cuckoo_table_places(const CuckooGeometry *geometry, CuckooAddress address,
					CuckooPlace *places)
{
	const CuckooAddress alternate =
		cuckoo_alternate_address(address, geometry->ncolumns,
								 geometry->prefix_bits);

	places[0] = cuckoo_table_place(geometry, address);
	places[1] = cuckoo_table_place(geometry, alternate);
}

/*
 * cuckoo_table_contains
 *		Is there a copy of this hash?
 *
 * Fan et al., CoNEXT 2014, Algorithm 2.  Two bucket reads at most.
 */
static inline bool
cuckoo_table_contains(const CuckooFilter *filter, uint64_t hash)
{
	CuckooPlace places[2];

	cuckoo_table_places(&filter->geometry,
						cuckoo_table_hash_address(filter, hash), places);
	return cuckoo_places_contain(&filter->packing, cuckoo_header_body(filter),
								 places);
}

/* Byte of the table in which a bucket starts. */
static inline uint64_t
cuckoo_table_bucket_byte(const CuckooFilter *filter, uint64_t bucket)
{
	return bucket * (uint64_t) filter->packing.bucket_bits / 8;
}

/*
 * A walk over the values of a table, each met once with all of its copies.
 * Starts from {0}; the table must not change meanwhile.
 */
typedef struct CuckooWalk
{
	CuckooAddress address;		/* of the value met */
	CuckooAddress alternate;
	int			ncopies;

	uint64_t	next_bucket;
	CuckooAddress start;		/* of the bucket before */
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];	/* in it */
	int			nslots;			/* of these still to look at, the last first */
} CuckooWalk;

/*
 * What changes have overwritten: buckets as they were, the last one last.  It
 * is in the memory of the caller, who may undo them as long as the table is
 * that.
 */
typedef struct CuckooUndo
{
	uint64_t	bucket;
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];
} CuckooUndo;

typedef struct CuckooJournal
{
	CuckooUndo *undos;
	size_t		nundos;
	size_t		room;			/* for so many */
} CuckooJournal;

/* What a removal may overwrite: both buckets of the value. */
#define CUCKOO_REMOVE_UNDOS	2

extern bool cuckoo_table_walk(const CuckooFilter *filter, CuckooWalk *walk,
							  const CuckooHost *host);
extern void cuckoo_table_contains_batch(const CuckooFilter *filter,
										const uint64_t *hashes,
										size_t nhashes, bool *results);
extern int	cuckoo_table_count(const CuckooFilter *filter,
							   CuckooAddress address);
extern CuckooStatus cuckoo_table_add_logged(CuckooFilter *filter,
											CuckooAddress address,
											CuckooJournal *journal);
extern void cuckoo_table_undo(CuckooFilter *filter, CuckooJournal *journal,
							  size_t nundos);
extern bool cuckoo_table_note(const CuckooFilter *filter,
							  CuckooAddress address, CuckooJournal *journal);
extern CuckooStatus cuckoo_table_remove(CuckooFilter *filter,
										CuckooAddress address);
extern void cuckoo_table_double(const CuckooFilter *filter,
								CuckooFilter *doubled,
								const CuckooHost *host);
extern void cuckoo_table_truncate(const CuckooFilter *filter,
								  CuckooFilter *coarser,
								  const CuckooHost *host);
extern double cuckoo_table_estimate_values(const CuckooFilter *filter);
extern uint64_t cuckoo_table_copies_above(const CuckooFilter *filter,
										  int nallowed,
										  const CuckooHost *host);
extern void cuckoo_table_drop_copies(CuckooFilter *filter,
									 const CuckooHost *host);
extern CuckooStatus cuckoo_table_check(const CuckooFilter *filter,
									   const CuckooHost *host,
									   uint64_t *position);

/* Keep the statistics of relocations: one of so many moves was made. */
static inline void
cuckoo_table_count_moves(CuckooFilter *filter, int path_length)
{
	if (filter->nkicks <= UINT64_MAX - (uint64_t) path_length)
		filter->nkicks += (uint64_t) path_length;
	if (path_length > UINT8_MAX)
		path_length = UINT8_MAX;
	if (filter->longest_path < path_length)
		filter->longest_path = path_length;
}

/*
 * cuckoo_table_add
 *		Add one more copy of what has this address.
 *
 * Returns CUCKOO_OK, or with the filter as it was CUCKOO_SATURATED or
 * CUCKOO_NO_ROOM.
 */
static inline CuckooStatus
cuckoo_table_add(CuckooFilter *filter, CuckooAddress address)
{
	return cuckoo_table_add_logged(filter, address, NULL);
}

#endif							/* CUCKOO_TABLE_H */
