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
 * A loop of PL/pgSQL before 18 passes its variable with a read-only pointer,
 * and frees the old value when it has the new one.  So what a change of such
 * an object makes is a new version, which shares the image: the image is that
 * of the newest version, and what the changes since the oldest have overwritten
 * is noted.  An older version that is looked at takes a copy and undoes there
 * what is not its own, or in the image itself if it is the only one left.  The
 * image is in no version's context, as any of them may be the last.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cuckoo_datum.h"
#include "cuckoo_expanded.h"

/*
 * A version joins while there is room to note so many buckets more, as an add
 * with a long relocation may need; the next one gets another image.  Batches
 * of more hashes are not noted.
 */
#define MORE_UNDOS			16
#define MAX_NOTED_HASHES	(CUCKOO_SHARED_UNDOS / 2)

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
 * expanded_leave
 *		Share the image no more.  The last one frees it.
 *
 * Called when the object's context goes, too.
 */
static void
expanded_leave(void *arg)
{
	ExpandedCuckooFilter *const expanded = arg;
	CuckooShared *const shared = expanded->shared;

	expanded->shared = NULL;
	if (shared != NULL && --shared->nversions == 0)
		MemoryContextDelete(shared->context);
}

/*
 * expanded_join
 *		Be the newest version of what is shared.
 */
static void
expanded_join(ExpandedCuckooFilter *expanded, CuckooShared *shared)
{
	Assert(expanded->shared == NULL);
	shared->nversions++;
	expanded->shared = shared;
	expanded->nundos = shared->journal.nundos;
}

/*
 * expanded_is_sole, expanded_is_newest
 *		Is this the only version, or the one whose image it is?
 */
static inline bool
expanded_is_sole(const ExpandedCuckooFilter *expanded)
{
	return expanded->shared->nversions == 1;
}

static inline bool
expanded_is_newest(const ExpandedCuckooFilter *expanded)
{
	return expanded->nundos == expanded->shared->journal.nundos;
}

/*
 * expanded_copy
 *		Copy the filter of an object in whatever version it is.
 */
static void
expanded_copy(const ExpandedCuckooFilter *expanded, CuckooFilter *copy)
{
	(void) cuckoo_filter_copy(&expanded->filter, copy, &cuckoo_host);
	if (expanded->shared != NULL)
	{
		CuckooJournal journal = expanded->shared->journal;

		cuckoo_table_undo(copy, &journal, expanded->nundos);
	}
}

/*
 * expanded_separate
 *		Give a version an image of its own.
 */
static void
expanded_separate(ExpandedCuckooFilter *expanded)
{
	const MemoryContext old =
		MemoryContextSwitchTo(expanded->header.eoh_context);
	CuckooFilter copy;

	expanded_copy(expanded, &copy);
	MemoryContextSwitchTo(old);
	expanded->filter = copy;
	expanded_leave(expanded);
}

/*
 * expanded_forget
 *		Make the image that of the only version left, with nothing noted.
 */
static void
expanded_forget(ExpandedCuckooFilter *expanded)
{
	Assert(expanded_is_sole(expanded));
	cuckoo_table_undo(&expanded->filter, &expanded->shared->journal,
					  expanded->nundos);
	expanded->shared->journal.nundos = expanded->nundos = 0;
}

/*
 * expanded_own
 *		Let nobody else have the image.
 */
static void
expanded_own(ExpandedCuckooFilter *expanded)
{
	if (expanded->shared == NULL)
		return;
	if (!expanded_is_sole(expanded))
	{
		expanded_separate(expanded);
		return;
	}
	Assert(expanded->image_mcxt == NULL);
	expanded_forget(expanded);
	expanded->image_mcxt = expanded->shared->context;
	expanded->shared = NULL;
	MemoryContextSetParent(expanded->image_mcxt, expanded->header.eoh_context);
}

/*
 * expanded_flushed
 *		The object, with all that was pending in its filter, and the image that
 *		of its version.
 */
static ExpandedCuckooFilter *
expanded_flushed(ExpandedObjectHeader *eohptr)
{
	ExpandedCuckooFilter *const expanded = (ExpandedCuckooFilter *) eohptr;

	Assert(expanded->magic == ECF_MAGIC);
	cuckoo_expanded_flush(expanded);
	if (expanded->shared != NULL && expanded_is_sole(expanded))
		expanded_forget(expanded);
	else if (expanded->shared != NULL && !expanded_is_newest(expanded))
		expanded_separate(expanded);
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
 * expanded_make
 *		An object without a filter yet, in a context of its own below parent.
 */
static ExpandedCuckooFilter *
expanded_make(MemoryContext parent)
{
	const MemoryContext context =
		AllocSetContextCreate(parent, "expanded cuckoo filter",
							  ALLOCSET_START_SMALL_SIZES);
	ExpandedCuckooFilter *const expanded =
		MemoryContextAlloc(context, sizeof(ExpandedCuckooFilter));

	EOH_init_header(&expanded->header, &ECF_methods, context);
	expanded->magic = ECF_MAGIC;
	expanded->pending = NULL;
	expanded->image_mcxt = NULL;
	expanded->shared = NULL;
	return expanded;
}

/*
 * cuckoo_expanded_new
 *		Make an expanded object of a filter, in a context of its own below
 *		parent.
 */
ExpandedCuckooFilter *
cuckoo_expanded_new(Datum datum, MemoryContext parent)
{
	ExpandedCuckooFilter *const expanded = expanded_make(parent);
	const MemoryContext old =
		MemoryContextSwitchTo(expanded->header.eoh_context);

	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		(void) cuckoo_filter_copy(cuckoo_expanded_filter(datum),
								  &expanded->filter, &cuckoo_host);
	else
		cuckoo_datum_open_copy(&expanded->filter, datum);
	MemoryContextSwitchTo(old);
	return expanded;
}

/*
 * expanded_share
 *		Give a new object a copy of the image of another one, that versions to
 *		come can share.
 */
static void
expanded_share(ExpandedCuckooFilter *expanded,
			   const ExpandedCuckooFilter *source)
{
	const MemoryContext context =
		AllocSetContextCreate(expanded->header.eoh_context,
							  "expanded cuckoo filter versions",
							  ALLOCSET_START_SMALL_SIZES);
	const MemoryContext old = MemoryContextSwitchTo(context);
	CuckooShared *const shared = palloc(sizeof(CuckooShared));

	shared->context = context;
	shared->nversions = 0;
	shared->journal.undos = shared->undos;
	shared->journal.nundos = 0;
	shared->journal.room = CUCKOO_SHARED_UNDOS;
	expanded_copy(source, &expanded->filter);
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, TopMemoryContext);
	expanded_join(expanded, shared);
}

/*
 * cuckoo_expanded_new_version
 *		Make an expanded object of the filter in another one, which is not to
 *		change, without copying the image if that can be.
 */
ExpandedCuckooFilter *
cuckoo_expanded_new_version(Datum datum, MemoryContext parent)
{
	ExpandedCuckooFilter *const source =
		(ExpandedCuckooFilter *) DatumGetEOHP(datum);
	CuckooShared *const shared = source->shared;
	ExpandedCuckooFilter *expanded;

	Assert(source->magic == ECF_MAGIC);
	cuckoo_expanded_flush(source);
	if (!source->filter.is_table)
		return cuckoo_expanded_new(datum, parent);

	expanded = expanded_make(parent);
	expanded->leave.func = expanded_leave;
	expanded->leave.arg = expanded;
	MemoryContextRegisterResetCallback(expanded->header.eoh_context,
									   &expanded->leave);
	if (shared != NULL && expanded_is_sole(source))
		expanded_forget(source);
	if (shared != NULL && expanded_is_newest(source) &&
		shared->journal.nundos + MORE_UNDOS < CUCKOO_SHARED_UNDOS)
	{
		expanded->filter = source->filter;
		expanded_join(expanded, shared);
	}
	else
		expanded_share(expanded, source);
	return expanded;
}

/*
 * expanded_behind
 *		The expanded object behind a read-write pointer, or NULL if the datum
 *		is anything else.
 */
static ExpandedCuckooFilter *
expanded_behind(Datum datum)
{
	ExpandedCuckooFilter *expanded;

	if (!VARATT_IS_EXTERNAL_EXPANDED_RW(DatumGetPointer(datum)))
		return NULL;
	expanded = (ExpandedCuckooFilter *) DatumGetEOHP(datum);
	Assert(expanded->magic == ECF_MAGIC);
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
	ExpandedCuckooFilter *const expanded = expanded_behind(datum);

	if (expanded != NULL)
		expanded_own(expanded);
	return expanded;
}

/*
 * cuckoo_expanded_for_write
 *		The same with nothing pending.
 */
ExpandedCuckooFilter *
cuckoo_expanded_for_write(Datum datum)
{
	ExpandedCuckooFilter *const expanded =
		cuckoo_expanded_with_pending(datum);

	if (expanded != NULL)
		cuckoo_expanded_flush(expanded);
	return expanded;
}

/*
 * cuckoo_expanded_for_change
 *		The same, but others may have the image: then the function below has
 *		to be tried before any other change.
 */
ExpandedCuckooFilter *
cuckoo_expanded_for_change(Datum datum)
{
	ExpandedCuckooFilter *const expanded = expanded_behind(datum);

	return expanded == NULL ? NULL : expanded_flushed(&expanded->header);
}

/*
 * cuckoo_expanded_change_shared
 *		Change a filter whose image others have, by one of the functions of the
 *		core that note what they overwrite.
 *
 * Returns false, with an image of its own and nothing else changed, if that
 * cannot be done like this.
 */
bool
cuckoo_expanded_change_shared(ExpandedCuckooFilter *expanded,
							  CuckooNotingChange change, const uint64 *hashes,
							  size_t nhashes, bool *changed)
{
	CuckooShared *const shared = expanded->shared;

	if (shared == NULL)
		return false;
	if (expanded_is_newest(expanded) && nhashes <= MAX_NOTED_HASHES &&
		change(&expanded->filter, hashes, nhashes, &shared->journal,
			   changed) == CUCKOO_OK)
	{
		expanded->nundos = shared->journal.nundos;
		return true;
	}
	expanded_own(expanded);
	return false;
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
	ExpandedCuckooFilter *expanded;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
		return DatumGetCuckooFilterP(datum);
	expanded = expanded_flushed(DatumGetEOHP(datum));

	/* versions that differ in the header alone have the same image */
	if (expanded->shared != NULL && !expanded_is_sole(expanded))
		expanded_separate(expanded);
	return cuckoo_datum_of_filter(&expanded->filter);
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
