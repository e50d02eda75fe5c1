/*-------------------------------------------------------------------------
 *
 * cuckoo_error.c
 *		Results of the core to errors of the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cuckoo_error.h"

/*
 * cuckoo_error_image
 *		Say why these bytes are no filter.
 *
 * A version or a bit that a later release may have is an error of its own;
 * all else is reported under the given code and message.  Returns only if
 * escontext asks for soft errors.
 */
void
cuckoo_error_image(CuckooStatus status, const uint8 *image, int sqlerrcode,
				   const char *message, struct Node *escontext)
{
	switch (status)
	{
		case CUCKOO_NEW_FORMAT:
			ereturn(escontext,,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cuckoo filter has format version %d, but the newest known is %d",
							image[CUCKOO_OFF_FORMAT], CUCKOO_FORMAT_VERSION),
					 image[CUCKOO_OFF_FORMAT] < CUCKOO_FORMAT_VERSION ? 0 :
					 errhint("Update the extension cuckoo_filter.")));
		case CUCKOO_NEW_HASH:
			ereturn(escontext,,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cuckoo filter has hash version %d, but the newest known is %d",
							image[CUCKOO_OFF_HASH], CUCKOO_HASH_VERSION),
					 image[CUCKOO_OFF_HASH] < CUCKOO_HASH_VERSION ? 0 :
					 errhint("Update the extension cuckoo_filter.")));
		case CUCKOO_NEW_FLAG:
			ereturn(escontext,,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cuckoo filter of format version %d has flags 0x%02x, but the known ones are 0x%02x",
							CUCKOO_FORMAT_VERSION, image[CUCKOO_OFF_FLAGS],
							CUCKOO_FLAGS_KNOWN),
					 errhint("Update the extension cuckoo_filter.")));
		case CUCKOO_NEW_FAMILY:
			ereturn(escontext,,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cuckoo filter has key family %d, but the newest known is %d",
							image[CUCKOO_OFF_FAMILY], CUCKOO_FAMILY_LAST),
					 errhint("Update the extension cuckoo_filter.")));
		default:
			ereturn(escontext,,
					(errcode(sqlerrcode),
					 errmsg("%s", message),
					 errdetail("The image is not sound: %s.",
							   cuckoo_status_reason(status))));
	}
}

/*
 * error_full_hint
 *		What to do with a filter that is full.
 */
static char *
error_full_hint(const CuckooFilter *filter)
{
	const uint64 largest = cuckoo_filter_max_resize(filter);

	if (!filter->is_table)
		return pstrdup("Declare a larger capacity: cf_resize(filter, capacity).");
	if (filter->nentries < filter->capacity)
		return pstrdup("Its entries keep too few bits for a larger table, as those of the coarsest of merged filters do.  Build all of them with the larger capacity.");
	if (largest > filter->capacity)
		return psprintf("cf_resize() can raise the capacity to at most %llu, at a higher false positive rate; for more, build the filter again.",
						(unsigned long long) largest);
	return pstrdup("Build the filter again with a larger capacity.");
}

/*
 * cuckoo_error_add
 *		Say why a value could not be added.
 */
void
cuckoo_error_add(CuckooStatus status, const CuckooFilter *filter)
{
	switch (status)
	{
		case CUCKOO_FULL:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoo filter is full"),
					 errdetail_plural("It holds %llu entry of a capacity of %llu, at a load factor of %.3f.",
									  "It holds %llu entries of a capacity of %llu, at a load factor of %.3f.",
									  (unsigned long) filter->nentries,
									  (unsigned long long) filter->nentries,
									  (unsigned long long) filter->capacity,
									  cuckoo_filter_load_factor(filter)),
					 errhint("%s", error_full_hint(filter))));
			break;
		case CUCKOO_COLLIDING:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many values collide in the cuckoo filter"),
					 filter->is_table ?
					 errdetail("It holds %llu entries of a capacity of %llu, at a load factor of %.3f, yet no slot is free where the value could be.",
							   (unsigned long long) filter->nentries,
							   (unsigned long long) filter->capacity,
							   cuckoo_filter_load_factor(filter)) :
					 errdetail("It holds %llu entries of a capacity of %llu, as a list since too many of them collide for a table.",
							   (unsigned long long) filter->nentries,
							   (unsigned long long) filter->capacity),
					 errhint("Values chosen to collide do that under one seed only: build the filter again with another one.")));
			break;
		case CUCKOO_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoo filter would be larger than 512 MiB"),
					 errdetail("It holds %llu entries of a capacity of %llu.",
							   (unsigned long long) filter->nentries,
							   (unsigned long long) filter->capacity),
					 errhint("Spread the values over several filters by cf_shard(value, shards), or accept a larger false positive rate.")));
			break;
		default:
			elog(ERROR, "unexpected result of adding to a cuckoo filter: %s",
				 cuckoo_status_reason(status));
	}
}

/*
 * cuckoo_error_merge
 *		Say why another filter could not be merged into this one.
 *
 * A larger capacity for the one alone does not help: filters of different
 * capacities do not merge.
 */
void
cuckoo_error_merge(CuckooStatus status, const CuckooFilter *filter)
{
	if (status == CUCKOO_FULL &&
		(!filter->is_table || filter->nentries >= filter->capacity))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cuckoo filter is full"),
				 errdetail("More is to be merged into %llu entries than a capacity of %llu has room for.",
						   (unsigned long long) filter->nentries,
						   (unsigned long long) filter->capacity),
				 errhint(CUCKOO_MERGEABLE_HINT)));
	cuckoo_error_add(status, filter);
}

/*
 * cuckoo_error_build
 *		Say why no filter of so many entries could be built.
 *
 * may_be_fitted: the capacity may be left out.
 */
void
cuckoo_error_build(CuckooStatus status, uint64 nentries, uint64 capacity,
				   bool may_be_fitted)
{
	switch (status)
	{
		case CUCKOO_FULL:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoo filter is full"),
					 errdetail("It would hold %llu entries, more than its capacity of %llu.",
							   (unsigned long long) nentries,
							   (unsigned long long) capacity),
					 may_be_fitted ?
					 errhint("Give a larger capacity, or none to fit the filter to the values.") :
					 errhint("Give a larger capacity.")));
			break;
		case CUCKOO_COLLIDING:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("too many values collide in the cuckoo filter"),
					 errdetail("Of %llu entries, more have the same two buckets than these have slots.",
							   (unsigned long long) nentries),
					 errhint("Values chosen to collide do that under one seed only: give another one.")));
			break;
		case CUCKOO_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoo filter would be larger than 512 MiB"),
					 errdetail("It would hold %llu entries of a capacity of %llu.",
							   (unsigned long long) nentries,
							   (unsigned long long) capacity),
					 errhint("Spread the values over several filters by cf_shard(value, shards), or accept a larger false positive rate.")));
			break;
		default:
			elog(ERROR, "unexpected result of building a cuckoo filter: %s",
				 cuckoo_status_reason(status));
	}
}

/*
 * cuckoo_error_unless_removable
 *		Raise an error unless values can be removed from this filter.
 */
void
cuckoo_error_unless_removable(const CuckooFilter *filter)
{
	if (filter->declared_copies == 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot remove values from an append-only cuckoo filter"),
				 errdetail("The filter was made with max_copies = 1, so it does not count how often a value was added."),
				 errhint("Build the filter again with max_copies of at least 2.")));
	if (filter->is_merged)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot remove values from a merged cuckoo filter"),
				 errdetail("A union made entries of different values one, and removing one value could remove another."),
				 errhint("Merge with cf_union_all(), which keeps every copy.")));
}
