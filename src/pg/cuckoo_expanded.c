/*-------------------------------------------------------------------------
 *
 * cuckoo_expanded.c
 *		A filter in memory that is changed in place.
 *
 * An expanded object (see src/include/utils/expandeddatum.h of the server)
 * whose flat form is the image it has: flattening is one copy, which who
 * stores a filter makes anyway, and who only reads it need not make.  Whoever
 * holds a read-write pointer to it may change it, nobody else.
 *
 * The functions that change filters return such an object where that may be of
 * use.  So a chain of calls copies the filter once, and so does a loop where
 * the caller keeps the result and passes it on with a read-write pointer:
 * PL/pgSQL from version 18 on, and aggregates whose transition function is one
 * of these.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cuckoo_datum.h"
#include "cuckoo_expanded.h"

static Size ECF_get_flat_size(ExpandedObjectHeader *eohptr);
static void ECF_flatten_into(ExpandedObjectHeader *eohptr, void *result,
							 Size allocated_size);

static const ExpandedObjectMethods ECF_methods = {
	ECF_get_flat_size,
	ECF_flatten_into
};

/*
 * cuckoo_expanded_flush
 *		Merge into the filter what is pending.
 */
void
cuckoo_expanded_flush(ExpandedCuckooFilter *expanded)
{
	MemoryContext old;

	if (likely(expanded->pending == NULL))
		return;
	old = MemoryContextSwitchTo(expanded->header.eoh_context);
	cuckoo_pending_flush(expanded->pending, &expanded->filter);
	expanded->pending = NULL;
	MemoryContextSwitchTo(old);
}

/*
 * expanded_flushed
 *		The object, with all that was pending in its filter.
 */
static ExpandedCuckooFilter *
expanded_flushed(ExpandedObjectHeader *eohptr)
{
	ExpandedCuckooFilter *const expanded = (ExpandedCuckooFilter *) eohptr;

	Assert(expanded->magic == ECF_MAGIC);
	cuckoo_expanded_flush(expanded);
	return expanded;
}

static Size
ECF_get_flat_size(ExpandedObjectHeader *eohptr)
{
	const ExpandedCuckooFilter *const expanded = expanded_flushed(eohptr);

	return VARHDRSZ + expanded->filter.image_bytes;
}

static void
ECF_flatten_into(ExpandedObjectHeader *eohptr, void *result,
				 Size allocated_size)
{
	ExpandedCuckooFilter *const expanded = expanded_flushed(eohptr);
	CuckooFilter *const filter = &expanded->filter;

	Assert(allocated_size == VARHDRSZ + filter->image_bytes);
	cuckoo_header_store(filter);
	SET_VARSIZE(result, allocated_size);
	memcpy(VARDATA(result), filter->image, filter->image_bytes);
}

/*
 * cuckoo_expanded_new
 *		Make an expanded object of a filter, in a context of its own below
 *		parent.
 */
ExpandedCuckooFilter *
cuckoo_expanded_new(Datum datum, MemoryContext parent)
{
	const MemoryContext context =
		AllocSetContextCreate(parent, "expanded cuckoo filter",
							  ALLOCSET_START_SMALL_SIZES);
	const MemoryContext old = MemoryContextSwitchTo(context);
	ExpandedCuckooFilter *const expanded =
		palloc(sizeof(ExpandedCuckooFilter));

	EOH_init_header(&expanded->header, &ECF_methods, context);
	expanded->magic = ECF_MAGIC;
	expanded->pending = NULL;
	expanded->image_mcxt = NULL;
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		(void) cuckoo_filter_copy(cuckoo_expanded_filter(datum),
								  &expanded->filter, &cuckoo_host);
	else
		cuckoo_datum_open_copy(&expanded->filter, datum);
	MemoryContextSwitchTo(old);
	return expanded;
}

/*
 * cuckoo_expanded_with_pending
 *		The expanded object behind a read-write pointer, or NULL if the datum
 *		is anything else.
 *
 * Its filter lacks what is pending.
 */
ExpandedCuckooFilter *
cuckoo_expanded_with_pending(Datum datum)
{
	ExpandedCuckooFilter *expanded;

	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	expanded = (ExpandedCuckooFilter *) DatumGetEOHP(datum);
	Assert(expanded->magic == ECF_MAGIC);
	return expanded;
}

/*
 * cuckoo_expanded_for_write
 *		The same with nothing pending.
 */
ExpandedCuckooFilter *
cuckoo_expanded_for_write(Datum datum)
{
	return cuckoo_expanded_with_pending(datum) == NULL ? NULL :
		expanded_flushed(DatumGetEOHP(datum));
}

/*
 * cuckoo_expanded_filter
 *		The filter in an expanded object, to be read where it is.
 */
const CuckooFilter *
cuckoo_expanded_filter(Datum datum)
{
	return &expanded_flushed(DatumGetEOHP(datum))->filter;
}

/*
 * cuckoo_expanded_flat
 *		The flat form of a filter in whatever form it comes, to be read.
 *
 * That of an expanded object is where it is: it goes when the object changes.
 * To be given to cuckoo_expanded_flat_release().
 */
struct varlena *
cuckoo_expanded_flat(Datum datum)
{
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return cuckoo_datum_of_filter(&expanded_flushed(DatumGetEOHP(datum))->filter);
	return DatumGetCuckooFilterP(datum);
}

/*
 * cuckoo_expanded_flat_release
 *		Free the flat form of a filter, if it is a copy.
 */
void
cuckoo_expanded_flat_release(struct varlena *flat, Datum datum)
{
	if ((Pointer) flat != DatumGetPointer(datum) &&
		!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		pfree(flat);
}
