/*-------------------------------------------------------------------------
 *
 * cuckoo_expanded.c
 *		A filter in memory that is changed in place.
 *
 * An expanded object (see src/include/utils/expandeddatum.h of the server)
 * whose flat form is the image it has: flattening is one copy.  Whoever holds
 * a read-write pointer to it may change it, nobody else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cuckoo_pg.h"

static Size ECF_get_flat_size(ExpandedObjectHeader *eohptr);
static void ECF_flatten_into(ExpandedObjectHeader *eohptr, void *result,
							 Size allocated_size);

static const ExpandedObjectMethods ECF_methods = {
	ECF_get_flat_size,
	ECF_flatten_into
};

/*
 * settled
 *		The object, with all that is pending in its filter.
 */
static ExpandedCuckooFilter *
settled(ExpandedObjectHeader *eohptr)
{
	ExpandedCuckooFilter *const expanded = (ExpandedCuckooFilter *) eohptr;

	Assert(expanded->magic == ECF_MAGIC);
	if (unlikely(expanded->pending != NULL))
		cuckoo_union_settle(expanded);
	return expanded;
}

static Size
ECF_get_flat_size(ExpandedObjectHeader *eohptr)
{
	const ExpandedCuckooFilter *const expanded = settled(eohptr);

	return VARHDRSZ + expanded->filter.image_bytes;
}

static void
ECF_flatten_into(ExpandedObjectHeader *eohptr, void *result,
				 Size allocated_size)
{
	ExpandedCuckooFilter *const expanded = settled(eohptr);
	CuckooFilter *const filter = &expanded->filter;

	Assert(allocated_size == VARHDRSZ + filter->image_bytes);
	cuckoo_image_store_header(filter);
	SET_VARSIZE(result, allocated_size);
	memcpy(VARDATA(result), filter->image, filter->image_bytes);
}

/*
 * cuckoo_expand
 *		Make an expanded object of a filter, in a context of its own below
 *		parent.
 */
ExpandedCuckooFilter *
cuckoo_expand(Datum datum, MemoryContext parent)
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
	cuckoo_open_copy(&expanded->filter, datum);
	MemoryContextSwitchTo(old);
	return expanded;
}

/*
 * cuckoo_expanded_for_write
 *		The expanded object behind a read-write pointer, or NULL if the datum
 *		is anything else.
 */
ExpandedCuckooFilter *
cuckoo_expanded_for_write(Datum datum)
{
	ExpandedCuckooFilter *expanded;

	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	expanded = (ExpandedCuckooFilter *) DatumGetEOHP(datum);
	Assert(expanded->magic == ECF_MAGIC);
	return expanded;
}

/*
 * cuckoo_expanded_filter
 *		The filter in an expanded object, to be read where it is.
 */
const CuckooFilter *
cuckoo_expanded_filter(Datum datum)
{
	return &settled(DatumGetEOHP(datum))->filter;
}
