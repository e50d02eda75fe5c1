/*-------------------------------------------------------------------------
 *
 * cuckoo_reader.h
 *		Opening a filter argument for probing with the least reading.
 *
 * However a filter arrives: in line with a long or a short header, compressed,
 * out of line, as an expanded object, or behind an indirect pointer.
 *
 *	site = cuckoo_reader(fcinfo);
 *	filter = cuckoo_reader_open(site, PG_GETARG_DATUM(0));
 *	... look at the decoded header ...
 *	result = cuckoo_reader_contains(site, hash);
 *	cuckoo_reader_close(site);
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
 * What a call site (one FmgrInfo) remembers from one call to the next.
 */
typedef struct CuckooReader
{
	/* the key of its value argument; see cuckoo_func.c */
	CuckooHasher *key;
	bool		value_is_stable;	/* a constant or a parameter */
	bool		has_value;
	Datum		value;			/* a copy of the last one, if that is so */
	uint64		value_seed;
	uint64		value_hash;

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
	CuckooCached *cached;		/* entry used last, if the generation is: */
	uint64		cached_generation;

	MemoryContext mcxt;
	bool		is_attached;	/* to the cache */
} CuckooReader;

/* GUC */
extern bool cuckoo_enable_slices;

extern CuckooReader *cuckoo_reader_new(MemoryContext mcxt);
extern const CuckooFilter *cuckoo_reader_open_extended(CuckooReader *site,
													   struct varlena *datum,
													   bool header_only);
extern bool cuckoo_reader_contains_sliced(CuckooReader *site, uint64 hash);
extern int	cuckoo_reader_count(CuckooReader *site, uint64 hash);
extern void cuckoo_reader_contains_batch(CuckooReader *site,
										 const uint64 *hashes,
										 size_t nhashes, bool *results);

/* What the call site of a running function remembers. */
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
cuckoo_reader_open(CuckooReader *site, Datum datum)
{
	struct varlena *const bytes = (struct varlena *) DatumGetPointer(datum);

	if (likely(VARATT_IS_4B_U(bytes) && site->has_own &&
			   VARSIZE_4B(bytes) == VARHDRSZ + site->own.image_bytes &&
			   memcmp(VARDATA(bytes), site->own_header,
					  CUCKOO_HEADER_BYTES) == 0))
	{
		site->own.image = (uint8 *) VARDATA(bytes);
		site->toast = NULL;
		site->fetched = NULL;
		return site->filter = &site->own;
	}
	return cuckoo_reader_open_extended(site, bytes, false);
}

/* The same for who wants to know the header and nothing else. */
static inline const CuckooFilter *
cuckoo_reader_open_header(CuckooReader *site, Datum datum)
{
	return cuckoo_reader_open_extended(site,
									   (struct varlena *) DatumGetPointer(datum),
									   true);
}

/*
 * cuckoo_reader_contains
 *		May this hash have been added to the filter that is open?
 */
static inline bool
cuckoo_reader_contains(CuckooReader *site, uint64 hash)
{
	if (likely(site->filter->image != NULL))
		return cuckoo_filter_contains(site->filter, hash);
	return cuckoo_reader_contains_sliced(site, hash);
}

static inline void
cuckoo_reader_close(CuckooReader *site)
{
	if (unlikely(site->toast != NULL))
		cuckoo_toast_close(site->toast);
	if (unlikely(site->fetched != NULL))
		pfree(site->fetched);
}

#endif							/* CUCKOO_READER_H */
