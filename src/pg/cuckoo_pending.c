/*-------------------------------------------------------------------------
 *
 * cuckoo_pending.c
 *		What has yet to be merged into a filter.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "../core/cuckoo_merge.h"
#include "cuckoo_datum.h"
#include "cuckoo_error.h"
#include "cuckoo_pending.h"

/*
 * cuckoo_pending_new
 *		Nothing pending yet, in a context of its own below parent.
 */
CuckooPending *
cuckoo_pending_new(MemoryContext parent, int max_copies, bool add_copies)
{
	const MemoryContext context =
		AllocSetContextCreate(parent, "cuckoo filters to merge",
							  ALLOCSET_DEFAULT_SIZES);
	CuckooPending *pending =
		MemoryContextAllocZero(context, sizeof(CuckooPending));

	pending->context = context;
	pending->add_copies = add_copies;
	cuckoo_collector_init(&pending->collector, context,
						  add_copies ? max_copies : 1, false);
	return pending;
}

/*
 * cuckoo_pending_new_hashes
 *		No hashes pending yet, for a filter of the given parameters.
 *
 * There can be one of these for each of very many groups: it starts small.
 */
CuckooPending *
cuckoo_pending_new_hashes(MemoryContext parent,
						  const CuckooHashArguments *arguments,
						  const CuckooParameters *parameters, bool may_spill)
{
	const MemoryContext context =
		AllocSetContextCreate(parent, "hashes for a cuckoo filter",
							  ALLOCSET_START_SMALL_SIZES);
	CuckooPending *pending =
		MemoryContextAllocZero(context, sizeof(CuckooPending));

	pending->context = context;
	pending->parameters = *parameters;
	pending->arguments = *arguments;
	cuckoo_collector_init(&pending->collector, context, 1, may_spill);
	return pending;
}

/*
 * cuckoo_pending_add
 *		Add the keys of a filter to those pending.
 */
void
cuckoo_pending_add(CuckooPending *pending, const CuckooFilter *filter)
{
	CuckooWalk	walk = {0};
	uint64		keys[1024];
	size_t		nkeys;

	while ((nkeys = cuckoo_merge_next_hashes(filter, &walk, pending->add_copies,
											 keys, lengthof(keys),
											 &cuckoo_host)) > 0)
	{
		cuckoo_collector_add_hashes(&pending->collector, keys, nkeys);
		pending->nadded += nkeys;
	}
}

/*
 * pending_flush_hashes
 *		Build a filter of the hashes that are pending, and merge it into
 *		another one.
 */
static void
pending_flush_hashes(CuckooPending *pending, CuckooFilter *filter)
{
	CuckooCollectorReader reader;
	CuckooHashSource source;
	CuckooFilter built;
	CuckooStatus status;
	const uint64 nhashes = cuckoo_collector_count(&pending->collector);

	source = cuckoo_collector_source(&reader, &pending->collector);
	status = cuckoo_build(&built, &pending->parameters, &source, nhashes,
						  &cuckoo_host);
	if (status != CUCKOO_OK)
		cuckoo_error_build(status, nhashes, pending->parameters.capacity,
						   false);

	if (filter->nentries == 0)
	{
		built.family = filter->family;
		cuckoo_filter_release(filter, &cuckoo_host);
		*filter = built;
	}
	else
	{
		status = cuckoo_merge_into(filter, &built, false, &cuckoo_host);
		if (status != CUCKOO_OK)
			cuckoo_error_merge(status, filter);
		cuckoo_filter_release(&built, &cuckoo_host);
	}
	cuckoo_collector_end(&pending->collector);
}

/*
 * pending_flush_filters
 *		Merge into a filter the filters that are pending.
 *
 * If that is more than the filter has, both are built anew; but not if that
 * might exceed the capacity: then the table at hand can be larger than any that
 * would be built.
 */
static void
pending_flush_filters(CuckooPending *pending, CuckooFilter *filter)
{
	CuckooCollectorReader reader;
	CuckooHashSource source;
	CuckooStatus status;
	uint64		nkeys = cuckoo_collector_count(&pending->collector);
	const bool	is_anew = filter->nentries <= nkeys &&
		filter->nentries + nkeys <= filter->capacity;

	if (is_anew)
	{
		cuckoo_pending_add(pending, filter);
		nkeys = cuckoo_collector_count(&pending->collector);
	}
	if (!pending->add_copies && nkeys < pending->nadded)
		filter->is_merged = true;

	source = cuckoo_collector_source(&reader, &pending->collector);
	if (is_anew)
	{
		CuckooFilter built = *filter;

		status = cuckoo_build_table(&built, &source, nkeys,
									filter->geometry.index_bits, &cuckoo_host);
		if (status == CUCKOO_OK)
		{
			cuckoo_filter_release(filter, &cuckoo_host);
			*filter = built;
		}
	}
	else
		status = cuckoo_merge_hashes(filter, &source, nkeys,
									 pending->add_copies, &cuckoo_host);
	if (status != CUCKOO_OK)
		cuckoo_error_merge(status, filter);
}

/*
 * cuckoo_pending_flush
 *		Merge into a filter what is pending.
 */
void
cuckoo_pending_flush(CuckooPending *pending, CuckooFilter *filter)
{
	if (cuckoo_pending_is_of_hashes(pending))
		pending_flush_hashes(pending, filter);
	else
		pending_flush_filters(pending, filter);
	MemoryContextDelete(pending->context);
}
