/*-------------------------------------------------------------------------
 *
 * cuckoo_reader.h
 *		Opening a filter argument for probing with the least reading.
 *
 * However a filter arrives: in line with a long or a short header, compressed,
 * out of line, as an expanded object, or behind an indirect pointer.
 *
 *	reader = cuckoo_reader(fcinfo);
 *	filter = cuckoo_reader_open(reader, PG_GETARG_DATUM(0));
 *	... look at the decoded header ...
 *	result = cuckoo_reader_contains(reader, hash);
 *	cuckoo_reader_close(reader);
 *
 * What was opened is valid until it is closed and is for reading only.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_READER_H
#define CUCKOO_READER_H

#include "cuckoo_cache.h"
#include "cuckoo_pg.h"
#include "cuckoo_toast.h"

/*
 * What a call site (one FmgrInfo) remembers of the filters it has read.
 */
typedef struct CuckooReader
{
	/* the filter that is open */
	const CuckooFilter *filter; /* its image is NULL if it is read in slices */
	struct varlena *toasted;	/* to read it from */
	double		whole_cost;		/* of reading all of it */
	bool		is_sliceable;	/* may it be read in slices? */
	CuckooToast *toast;			/* NULL, or open for reading them */
	void	   *fetched;		/* NULL, or all of it, to be freed */

	/* decoded headers that may serve again */
	CuckooFilter own;			/* of the filter opened last, if not below */
	uint8		own_header[CUCKOO_HEADER_BYTES];	/* as encoded */
	bool		has_own;		/* is own the decoded own_header? */
	struct varatt_external last;	/* the stored filter opened last, */
	bool		own_is_last;	/* is own its header? */
	CuckooToastPlace last_place;	/* and where it is stored */
	CuckooCached *cached;		/* entry used last, if the generation is: */
	uint64		cached_generation;

	/* stored filters opened before, so that those met once stay out of it */
	uint32		nopened;
	uint32	   *opened;			/* OPENED_SLOTS fingerprints of them, or NULL */

	MemoryContext mcxt;
	bool		is_attached;	/* to the cache */
} CuckooReader;

/* GUC */
extern bool cuckoo_enable_slices;

extern void cuckoo_reader_init(CuckooReader *reader, MemoryContext mcxt);
extern CuckooReader *cuckoo_reader_new(MemoryContext mcxt);
extern const CuckooFilter *cuckoo_reader_open_extended(CuckooReader *reader,
													   struct varlena *datum,
													   bool header_only);
extern bool cuckoo_reader_contains_sliced(CuckooReader *reader, uint64 hash);
extern int	cuckoo_reader_count(CuckooReader *reader, uint64 hash);
extern void cuckoo_reader_contains_batch(CuckooReader *reader,
										 const uint64 *hashes,
										 size_t nhashes, bool *results);

/* The reader of a running function that remembers nothing else. */
static inline CuckooReader *
cuckoo_reader(FunctionCallInfo fcinfo)
{
	if (unlikely(fcinfo->flinfo->fn_extra == NULL))
		fcinfo->flinfo->fn_extra = cuckoo_reader_new(fcinfo->flinfo->fn_mcxt);
	return fcinfo->flinfo->fn_extra;
}

/*
 * cuckoo_reader_open
 *		Open a filter and have its header decoded.
 *
 * The usual case, a plain datum with the header of the one before, is here.
 */
static inline const CuckooFilter *
cuckoo_reader_open(CuckooReader *reader, Datum datum)
{
	struct varlena *const bytes = (struct varlena *) DatumGetPointer(datum);

	if (likely(VARATT_IS_4B_U(bytes) && reader->has_own &&
			   VARSIZE_4B(bytes) == VARHDRSZ + reader->own.image_bytes &&
			   memcmp(VARDATA(bytes), reader->own_header,
					  CUCKOO_HEADER_BYTES) == 0))
	{
		reader->own.image = (uint8 *) VARDATA(bytes);
		reader->toast = NULL;
		reader->fetched = NULL;
		return reader->filter = &reader->own;
	}
	return cuckoo_reader_open_extended(reader, bytes, false);
}

/* The same for who wants to know the header and nothing else. */
static inline const CuckooFilter *
cuckoo_reader_open_header(CuckooReader *reader, Datum datum)
{
	return cuckoo_reader_open_extended(reader,
									   (struct varlena *) DatumGetPointer(datum),
									   true);
}

/*
 * cuckoo_reader_contains
 *		May this hash have been added to the filter that is open?
 */
static inline bool
cuckoo_reader_contains(CuckooReader *reader, uint64 hash)
{
	if (likely(reader->filter->image != NULL))
		return cuckoo_filter_contains(reader->filter, hash);
	return cuckoo_reader_contains_sliced(reader, hash);
}

static inline void
cuckoo_reader_close(CuckooReader *reader)
{
	if (unlikely(reader->toast != NULL))
		cuckoo_toast_close(reader->toast);
	if (unlikely(reader->fetched != NULL))
		pfree(reader->fetched);
}

#endif							/* CUCKOO_READER_H */
