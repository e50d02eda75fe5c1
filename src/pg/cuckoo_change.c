/*-------------------------------------------------------------------------
 *
 * cuckoo_change.c
 *		Changing the filter that a function was given, to return it.
 *
 * A change in place is made whole or not at all: should the statement fail,
 * its caller may go on with the object, for example in an exception block.  So
 * interrupts are dealt with before, and where memory is needed or much is to
 * be done, it is done to a copy of the image, which takes the place of the
 * image when nothing can fail any more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cuckoo_change.h"
#include "cuckoo_datum.h"
#include "cuckoo_error.h"

/*
 * A stored filter of fewer bytes is changed as a flat copy: as few are copied
 * in less time than a memory context takes to make.  A variable is made an
 * expanded object at once.
 */
#define EXPAND_BYTES	8192

/*
 * A batch of adds is done in place if it is no longer than this and the image
 * has so many bytes for each hash; else it costs little more to copy it first.
 * So many buckets are noted for each, and some more, to undo them: an add
 * writes one, or several if it has to relocate.
 */
#define MAX_IN_PLACE	1024
#define COPIED_BYTES	512
#define UNDOS_PER_HASH	4
#define MORE_UNDOS		16

/*
 * Room for images that are to take the place of one: a context that is made
 * when it is needed, and that the caller's context takes along unless it is
 * kept.
 */
static void *
change_room_alloc(void *context, size_t bytes)
{
	MemoryContext *const mcxt = context;

	if (*mcxt == NULL)
		*mcxt = AllocSetContextCreate(CurrentMemoryContext,
									  "expanded cuckoo filter image",
									  ALLOCSET_SMALL_SIZES);
	return (char *) MemoryContextAlloc(*mcxt, VARHDRSZ + bytes) + VARHDRSZ;
}

/*
 * change_keep_image
 *		Let the image, which is in another context now, be that of the object.
 */
static void
change_keep_image(ExpandedCuckooFilter *expanded, MemoryContext mcxt)
{
	if (expanded->image_mcxt != NULL)
		MemoryContextDelete(expanded->image_mcxt);
	MemoryContextSetParent(mcxt, expanded->header.eoh_context);
	expanded->image_mcxt = mcxt;
}

/*
 * change_replace_image
 *		Put a copy of the filter, made in room, in its place.
 */
static void
change_replace_image(ExpandedCuckooFilter *expanded, const CuckooFilter *copy,
					 MemoryContext room)
{
	cuckoo_filter_release(&expanded->filter, &cuckoo_host);
	expanded->filter = *copy;
	change_keep_image(expanded, room);
}

/*
 * cuckoo_change_begin
 *		Begin to change the filter in argument 0.
 *
 * As the state of an aggregate it is made where that keeps its states, which
 * then passes it on from row to row.
 */
void
cuckoo_change_begin(CuckooChange *change, FunctionCallInfo fcinfo)
{
	const Datum datum = PG_GETARG_DATUM(0);
	MemoryContext aggcontext;

	change->expanded = cuckoo_expanded_for_change(datum);
	change->is_copy = change->expanded == NULL;
	if (change->is_copy)
	{
		if (AggCheckCallContext(fcinfo, &aggcontext))
			change->expanded = cuckoo_expanded_new(datum, aggcontext);
		else if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(datum)))
			change->expanded = cuckoo_expanded_new_version(datum,
														   CurrentMemoryContext);
		else if (get_fn_expr_arg_stable(fcinfo->flinfo, 0) ||
				 toast_raw_datum_size(datum) >= EXPAND_BYTES)
			change->expanded = cuckoo_expanded_new(datum,
												   CurrentMemoryContext);
	}
	if (change->expanded != NULL)
		change->filter = &change->expanded->filter;
	else
	{
		cuckoo_datum_open_copy(&change->flat, datum);
		change->filter = &change->flat;
	}
}

/*
 * cuckoo_change_end
 *		The result of the function: the changed filter, or argument 0 itself if
 *		nothing has changed, so that a stored one need not be written again.
 *
 * Of a variable of PL/pgSQL the new version is the result all the same: to
 * assign to it what it has would copy it.
 */
Datum
cuckoo_change_end(CuckooChange *change, FunctionCallInfo fcinfo, bool changed)
{
	const bool	is_version = change->is_copy &&
		VARATT_IS_EXTERNAL_EXPANDED(PG_GETARG_POINTER(0));

	if ((changed || is_version) && change->expanded != NULL)
		return EOHPGetRWDatum(&change->expanded->header);
	if (changed)
		PG_RETURN_CUCKOOFILTER_P(change->filter);

	if (change->is_copy && change->expanded != NULL)
		DeleteExpandedObject(EOHPGetRWDatum(&change->expanded->header));
	else if (change->is_copy)
		cuckoo_filter_release(change->filter, &cuckoo_host);
	return PG_GETARG_DATUM(0);
}

/*
 * change_add_each
 *		Add hashes one by one to a filter that is of no use if that fails.
 *
 * Returns whether that has changed anything.
 */
static bool
change_add_each(CuckooFilter *filter, const uint64 *hashes, size_t nhashes,
				const CuckooHost *host)
{
	bool		changed = false;

	for (size_t i = 0; i < nhashes; i++)
	{
		const CuckooStatus status = cuckoo_filter_add(filter, hashes[i], host);

		if (status == CUCKOO_OK)
			changed = true;
		else if (status != CUCKOO_SATURATED)
			cuckoo_error_add(status, filter);
		if (i % CUCKOO_POLL_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return changed;
}

/*
 * change_add_noting
 *		Add a few hashes to the buckets where they are, or none.
 *
 * Returns false if that cannot be done like this.
 */
static bool
change_add_noting(CuckooFilter *filter, const uint64 *hashes, size_t nhashes,
				  bool *changed)
{
	const size_t nundos = nhashes * UNDOS_PER_HASH + MORE_UNDOS;
	CuckooJournal journal = {NULL, 0, nundos};
	CuckooStatus status;

	if (!filter->is_table || nhashes > MAX_IN_PLACE ||
		nhashes > filter->image_bytes / COPIED_BYTES)
		return false;
	journal.undos = palloc(nundos * sizeof(CuckooUndo));
	status = cuckoo_filter_add_all(filter, hashes, nhashes, &journal, changed);
	pfree(journal.undos);
	return status == CUCKOO_OK;
}

/*
 * cuckoo_change_add
 *		Add one more copy of each hash.
 *
 * Returns whether that has changed anything.
 */
bool
cuckoo_change_add(CuckooChange *change, const uint64 *hashes, size_t nhashes)
{
	ExpandedCuckooFilter *const expanded = change->expanded;
	CuckooFilter *const filter = change->filter;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext room = NULL;
	CuckooHost	host = cuckoo_host;
	CuckooFilter copy;
	bool		changed;

	CHECK_FOR_INTERRUPTS();
	if (expanded != NULL &&
		cuckoo_expanded_change_shared(expanded, cuckoo_filter_add_all, hashes,
									  nhashes, &changed))
		return changed;
	if (change->is_copy)
	{
		if (expanded != NULL)
			caller = MemoryContextSwitchTo(expanded->header.eoh_context);
		changed = change_add_each(filter, hashes, nhashes, &cuckoo_host);
		MemoryContextSwitchTo(caller);
		return changed;
	}

	host.alloc = change_room_alloc;
	host.context = &room;
	if (nhashes == 1)
	{
		const uint8 *const image = filter->image;
		const CuckooStatus status = cuckoo_filter_add(filter, hashes[0], &host);

		if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
			cuckoo_error_add(status, filter);

		/* a list may have tried to become a table in vain, and stay there */
		if (filter->image != image)
			change_keep_image(expanded, room);
		else if (room != NULL)
			MemoryContextDelete(room);
		return status == CUCKOO_OK;
	}

	if (nhashes == 0)
		return false;
	if (change_add_noting(filter, hashes, nhashes, &changed))
		return changed;
	(void) cuckoo_filter_copy(filter, &copy, &host);
	changed = change_add_each(&copy, hashes, nhashes, &host);
	change_replace_image(expanded, &copy, room);
	return changed;
}

/*
 * change_remove_each
 *		Remove hashes one by one.
 */
static bool
change_remove_each(CuckooFilter *filter, const uint64 *hashes, size_t nhashes,
				   bool may_stop)
{
	bool		changed = false;

	for (size_t i = 0; i < nhashes; i++)
	{
		if (cuckoo_filter_remove(filter, hashes[i]) == CUCKOO_OK)
			changed = true;
		if (may_stop && i % CUCKOO_POLL_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return changed;
}

/*
 * cuckoo_change_remove
 *		Take out one copy of each hash.
 *
 * Returns whether that has changed anything.  It does not fail, but should end
 * if it is interrupted when there is much to do.
 */
bool
cuckoo_change_remove(CuckooChange *change, const uint64 *hashes,
					 size_t nhashes)
{
	MemoryContext room = NULL;
	CuckooHost	host = cuckoo_host;
	CuckooFilter copy;
	bool		changed;

	CHECK_FOR_INTERRUPTS();
	if (change->expanded != NULL &&
		cuckoo_expanded_change_shared(change->expanded,
									  cuckoo_filter_remove_all, hashes,
									  nhashes, &changed))
		return changed;
	if (change->is_copy || nhashes <= CUCKOO_POLL_INTERVAL)
		return change_remove_each(change->filter, hashes, nhashes,
								  change->is_copy);

	host.alloc = change_room_alloc;
	host.context = &room;
	(void) cuckoo_filter_copy(change->filter, &copy, &host);
	changed = change_remove_each(&copy, hashes, nhashes, true);
	change_replace_image(change->expanded, &copy, room);
	return changed;
}
