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
 *		Nothing to be merged into this filter yet, in a context of its own
 *		below parent.
 */
CuckooPending *
cuckoo_pending_new(MemoryContext parent, const CuckooFilter *filter,
				   bool add_copies)
{
	const MemoryContext context =
		AllocSetContextCreate(parent, "cuckoo filters to merge",
							  ALLOCSET_DEFAULT_SIZES);
	const int	max_equal = add_copies ? filter->max_copies : 1;
	CuckooPending *pending =
		MemoryContextAllocZero(context, sizeof(CuckooPending));
	CuckooEntryCode code;

	pending->context = context;
	pending->add_copies = add_copies;
	if (cuckoo_entry_code(&code, &filter->geometry))
		pending->pool = cuckoo_pool_new(context, &code, max_equal);
	else
		cuckoo_collector_init(&pending->collector, context, max_equal, false);
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
	void	   *const memory = palloc(cuckoo_block_bytes(filter));
	CuckooKeyWalk walk;
	uint64		keys[CUCKOO_COLUMN_SLOTS];
	size_t		nkeys;

	cuckoo_merge_start_keys(&walk, filter, memory);
	while ((nkeys = cuckoo_merge_next_keys(&walk, filter, pending->add_copies,
										   keys, &cuckoo_host)) > 0)
	{
		if (pending->pool != NULL)
			cuckoo_pool_add(pending->pool, keys, nkeys);
		else
			cuckoo_collector_add_hashes(&pending->collector, keys, nkeys);
		pending->nadded += nkeys;
	}
	pfree(memory);
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

/* How many keys are pending, equal ones kept as often as may be. */
static uint64
pending_count(CuckooPending *pending)
{
	return pending->pool != NULL ? cuckoo_pool_count(pending->pool) :
		cuckoo_collector_count(&pending->collector);
}

/*
 * pending_flush_filters
 *		Merge into a filter the filters that are pending.
 *
 * If that was more than the filter has, both are built anew; but not if that
 * might exceed the capacity: then the table at hand can be larger than any that
 * would be built.
 */
static void
pending_flush_filters(CuckooPending *pending, CuckooFilter *filter)
{
	CuckooCollectorReader reader;
	CuckooPoolReader pool_reader;
	CuckooHashSource source;
	CuckooStatus status;
	const bool	is_anew = filter->nentries <= pending->nadded &&
		(filter->nentries + pending->nadded <= filter->capacity ||
		 filter->nentries + pending_count(pending) <= filter->capacity);
	uint64		nkeys;

	if (is_anew)
		cuckoo_pending_add(pending, filter);
	nkeys = pending_count(pending);
	if (!pending->add_copies && nkeys < pending->nadded)
		filter->is_merged = true;

	source = pending->pool != NULL ?
		cuckoo_pool_source(&pool_reader, pending->pool) :
		cuckoo_collector_source(&reader, &pending->collector);
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
		status = cuckoo_merge_keys(filter, &source, nkeys,
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
