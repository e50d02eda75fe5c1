/*-------------------------------------------------------------------------
 *
 * cuckoo_filter.c
 *		The filter as a whole: a list or a table, and what makes it grow.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "cuckoo_filter.h"

/* Nothing is known of what comes next. */
static const CuckooFilling filter_single_add = {0, 0, false};

/*
 * cuckoo_filter_list_limit
 *		The most hashes with which a list is no larger than the smallest table.
 */
uint64_t
cuckoo_filter_list_limit(const CuckooGeometry *geometry)
{
	CuckooGeometry smallest = *geometry;

	smallest.index_bits = 0;
	return cuckoo_geometry_table_bytes(&smallest) / 8;
}

/*
 * cuckoo_filter_allocate
 *		Give a filter whose header is decoded an image of that size.
 *
 * extra is room that is not in use yet.  The content is undefined.
 */
CuckooStatus
cuckoo_filter_allocate(CuckooFilter *filter, uint64_t extra,
					   const CuckooHost *host)
{
	const uint64_t bytes = cuckoo_header_image_bytes(filter);

	if (bytes > CUCKOO_MAX_IMAGE_BYTES)
		return CUCKOO_TOO_LARGE;
	filter->image_bytes = (size_t) bytes;
	filter->image_room = (size_t) (bytes + extra);
	filter->image = host->alloc(host->context, filter->image_room);
	return filter->image == NULL ? CUCKOO_NO_MEMORY : CUCKOO_OK;
}

void
cuckoo_filter_release(CuckooFilter *filter, const CuckooHost *host)
{
	host->release(host->context, filter->image);
	filter->image = NULL;
}

/* Put another image in the place of a filter's own. */
static void
filter_replace_filter(CuckooFilter *filter, const CuckooFilter *by,
					  const CuckooHost *host)
{
	cuckoo_filter_release(filter, host);
	*filter = *by;
}

/*
 * cuckoo_filter_new_table
 *		An empty table with the header of a filter and the given index bits.
 */
CuckooStatus
cuckoo_filter_new_table(const CuckooFilter *filter, int index_bits,
						CuckooFilter *table, const CuckooHost *host)
{
	CuckooStatus status;

	*table = *filter;
	table->is_table = true;
	table->geometry.index_bits = index_bits;
	table->nentries = 0;
	table->nkicks = 0;
	table->longest_path = 0;
	cuckoo_bucket_packing(&table->packing,
						  cuckoo_geometry_fp_bits(&table->geometry));
	status = cuckoo_filter_allocate(table, 0, host);
	if (status == CUCKOO_OK)
		memset(cuckoo_header_body(table), 0,
			   table->image_bytes - CUCKOO_HEADER_BYTES);
	return status;
}

/*
 * filter_double_table
 *		Make a table of twice as many buckets with the entries of this one.
 */
static CuckooStatus
filter_double_table(const CuckooFilter *filter, CuckooFilter *doubled,
					const CuckooHost *host)
{
	CuckooStatus status;

	*doubled = *filter;
	doubled->geometry.index_bits++;
	cuckoo_bucket_packing(&doubled->packing,
						  cuckoo_geometry_fp_bits(&doubled->geometry));
	if (doubled->ngrowths < UINT8_MAX)
		doubled->ngrowths++;
	doubled->growth_load =
		(int) (filter->nentries * CUCKOO_GROWTH_LOAD_UNIT /
			   cuckoo_header_nslots(filter));
	status = cuckoo_filter_allocate(doubled, 0, host);
	if (status == CUCKOO_OK)
		cuckoo_table_double(filter, doubled, host);
	return status;
}

/*
 * filter_lower_copies
 *		Make a table of the same entries but for copies beyond max_copies.
 */
static CuckooStatus
filter_lower_copies(const CuckooFilter *filter, int max_copies,
					CuckooFilter *lowered, const CuckooHost *host)
{
	const CuckooStatus status = cuckoo_filter_copy(filter, lowered, host);

	if (status == CUCKOO_OK)
	{
		lowered->max_copies = max_copies;
		cuckoo_table_drop_copies(lowered, host);
		cuckoo_image_assert_check(lowered);
	}
	return status;
}

/* The two tables that an add which makes room has at a time. */
typedef struct RoomMaking
{
	CuckooFilter undoubled;		/* the last one not doubled in vain */
	CuckooFilter current;		/* the same, or that doubled */
} RoomMaking;

/*
 * filter_release_trials
 *		Release the tables of an add, but for the one it began with.
 */
static void
filter_release_trials(RoomMaking *making, const CuckooFilter *filter,
					  const CuckooHost *host)
{
	if (making->current.image != making->undoubled.image)
		cuckoo_filter_release(&making->current, host);
	if (making->undoubled.image != filter->image)
		cuckoo_filter_release(&making->undoubled, host);
}

/*
 * filter_apply_remedy
 *		Make the table to try next.
 *
 * That with fewer copies is made of the last one that was not doubled in vain:
 * where copies have to be lowered all the same, the doublings before did not
 * help.
 */
static CuckooStatus
filter_apply_remedy(RoomMaking *making, const CuckooRemedy *remedy,
					const CuckooFilter *filter, const CuckooHost *host)
{
	CuckooFilter roomier;
	CuckooStatus status;

	if (remedy->kind == CUCKOO_REFUSE)
		return remedy->status;
	if (remedy->kind == CUCKOO_LOWER_COPIES)
	{
		status = filter_lower_copies(&making->undoubled, remedy->max_copies,
									 &roomier, host);
		if (status == CUCKOO_OK)
		{
			filter_release_trials(making, filter, host);
			making->undoubled = making->current = roomier;
		}
		return status;
	}

	status = filter_double_table(&making->current, &roomier, host);
	if (status == CUCKOO_OK)
	{
		if (making->current.image != making->undoubled.image)
			cuckoo_filter_release(&making->current, host);
		making->current = roomier;
	}
	return status;
}

/*
 * filter_add_roomier
 *		Add to a table made of this one that has more room.
 *
 * This one is kept until the add has succeeded.
 */
static CuckooStatus
filter_add_roomier(CuckooFilter *filter, CuckooAddress address,
				   const CuckooFilling *filling, const CuckooHost *host)
{
	static const CuckooRemedy grow = {CUCKOO_GROW, 0, CUCKOO_OK};
	RoomMaking	making = {*filter, *filter};
	CuckooStatus status;

	do
	{
		const CuckooRemedy remedy = cuckoo_remedy_is_due(&making.current) ?
			grow : cuckoo_remedy_choose(&making.current, address, filling,
										host);

		status = filter_apply_remedy(&making, &remedy, filter, host);
		if (status != CUCKOO_OK)
		{
			filter_release_trials(&making, filter, host);
			return status;
		}
		/* one that is due by now is doubled first */
		status = cuckoo_remedy_is_due(&making.current) &&
			cuckoo_table_count(&making.current,
							   address) < making.current.max_copies ?
			CUCKOO_NO_ROOM : cuckoo_table_add(&making.current, address);
	} while (status == CUCKOO_NO_ROOM);

	if (making.current.image != making.undoubled.image &&
		making.undoubled.image != filter->image)
		cuckoo_filter_release(&making.undoubled, host);
	/* saturated or not by now, the filter is another one */
	filter_replace_filter(filter, &making.current, host);
	return CUCKOO_OK;
}

/*
 * cuckoo_filter_add_address
 *		Add one more copy of what has this address, whatever that takes.
 *
 * Returns what cuckoo_filter_add() returns.
 */
CuckooStatus
cuckoo_filter_add_address(CuckooFilter *filter, CuckooAddress address,
						  const CuckooFilling *filling, const CuckooHost *host)
{
	if (cuckoo_unlikely(cuckoo_remedy_is_due(filter)))
	{
		if (cuckoo_table_count(filter, address) >= filter->max_copies)
			return CUCKOO_SATURATED;
	}
	else
	{
		const CuckooStatus status = cuckoo_table_add(filter, address);

		if (cuckoo_likely(status != CUCKOO_NO_ROOM))
			return status;
	}
	return filter_add_roomier(filter, address, filling, host);
}

/*
 * cuckoo_filter_list_to_table
 *		Make a table with the hashes of a list.
 */
CuckooStatus
cuckoo_filter_list_to_table(const CuckooFilter *filter, CuckooFilter *table,
							const CuckooHost *host)
{
	CuckooStatus status = cuckoo_filter_new_table(filter, 0, table, host);

	if (status != CUCKOO_OK)
		return status;
	for (uint64_t i = 0; i < filter->nentries; i++)
	{
		const CuckooAddress address =
			cuckoo_table_hash_address(table, cuckoo_list_get(filter, i));

		status = cuckoo_filter_add_address(table, address, &filter_single_add,
										   host);
		if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
		{
			cuckoo_filter_release(table, host);
			return status;
		}
	}
	return CUCKOO_OK;
}

/*
 * filter_list_wants_table
 *		Is this the number of hashes at which a list tries to become a table?
 *
 * At the first that makes it larger than the smallest table, and, if that was
 * refused, whenever the number has doubled; and when it may not grow further.
 */
static bool
filter_list_wants_table(const CuckooFilter *filter, uint64_t nentries)
{
	const uint64_t first = cuckoo_filter_list_limit(&filter->geometry) + 1;
	const uint64_t ratio = nentries / first;

	if (filter->capacity < CUCKOO_MIN_TABLE_CAPACITY)
		return false;
	return nentries > filter->capacity || nentries > CUCKOO_MAX_LIST_ENTRIES ||
		(nentries % first == 0 && (ratio & (ratio - 1)) == 0);
}

/*
 * filter_add_to_list
 *		Add one more copy of a hash to a list, or make it a table.
 */
static CuckooStatus
filter_add_to_list(CuckooFilter *filter, uint64_t hash, const CuckooHost *host)
{
	const uint64_t nentries = filter->nentries + 1;
	CuckooStatus refused = CUCKOO_FULL;

	if (cuckoo_list_count(filter, hash) >= filter->max_copies)
		return CUCKOO_SATURATED;

	if (filter_list_wants_table(filter, nentries))
	{
		const CuckooAddress address = cuckoo_table_hash_address(filter, hash);
		CuckooFilter table;

		refused = cuckoo_filter_list_to_table(filter, &table, host);
		if (refused == CUCKOO_OK)
		{
			refused = cuckoo_filter_add_address(&table, address,
												&filter_single_add, host);
			if (refused == CUCKOO_OK || refused == CUCKOO_SATURATED)
			{
				filter_replace_filter(filter, &table, host);
				return CUCKOO_OK;
			}
			cuckoo_filter_release(&table, host);
		}
		if (refused == CUCKOO_NO_MEMORY)
			return refused;
	}

	if (nentries > filter->capacity || nentries > CUCKOO_MAX_LIST_ENTRIES)
		return refused;

	if (filter->image_room - filter->image_bytes < 8)
	{
		CuckooFilter longer = *filter;
		const CuckooStatus status =
			cuckoo_filter_allocate(&longer, 8 + 4 * filter->nentries, host);

		if (status != CUCKOO_OK)
			return status;
		memcpy(longer.image, filter->image, filter->image_bytes);
		filter_replace_filter(filter, &longer, host);
	}
	cuckoo_list_insert(filter, hash);
	return CUCKOO_OK;
}

/*
 * cuckoo_filter_declare
 *		The decoded header of an empty filter.
 */
CuckooStatus
cuckoo_filter_declare(CuckooFilter *filter, const CuckooParameters *parameters)
{
	CuckooAssert(parameters->max_copies >= 1 &&
				 parameters->max_copies <= CUCKOO_MAX_COPIES);

	memset(filter, 0, sizeof(*filter));
	filter->family = CUCKOO_FAMILY_NONE;
	filter->max_copies = parameters->max_copies;
	filter->declared_copies = parameters->max_copies;
	filter->seed = parameters->seed;
	filter->capacity = parameters->capacity;
	return cuckoo_geometry_choose(&filter->geometry, parameters->capacity,
								  parameters->rate);
}

/*
 * cuckoo_filter_new_list
 *		Make a declared filter an empty list with extra bytes of room.
 */
CuckooStatus
cuckoo_filter_new_list(CuckooFilter *filter, uint64_t extra,
					   const CuckooHost *host)
{
	filter->geometry.index_bits = 0;
	return cuckoo_filter_allocate(filter, extra, host);
}

/*
 * cuckoo_filter_new
 *		Make an empty filter.
 *
 * Returns CUCKOO_OK, CUCKOO_NO_MEMORY, or what cuckoo_geometry_choose() says
 * of capacity and rate; host may be NULL to hear only that.
 */
CuckooStatus
cuckoo_filter_new(CuckooFilter *filter, const CuckooParameters *parameters,
				  const CuckooHost *host)
{
	const CuckooStatus status = cuckoo_filter_declare(filter, parameters);

	if (status != CUCKOO_OK || host == NULL)
		return status;
	return cuckoo_filter_new_list(filter, 0, host);
}

/*
 * cuckoo_filter_full_is_table
 *		Will a filter be a table when it is filled to its capacity?
 */
bool
cuckoo_filter_full_is_table(const CuckooFilter *filter)
{
	return filter->capacity >= CUCKOO_MIN_TABLE_CAPACITY &&
		filter->capacity > cuckoo_filter_list_limit(&filter->geometry);
}

/*
 * cuckoo_filter_full_bytes
 *		Bytes of the image of a filter that is filled to its capacity.
 *
 * filter is as cuckoo_filter_new() leaves it without a host.
 */
uint64_t
cuckoo_filter_full_bytes(const CuckooFilter *filter)
{
	CuckooFilter full = *filter;

	full.nentries = filter->capacity;
	full.is_table = cuckoo_filter_full_is_table(filter);
	return cuckoo_header_image_bytes(&full);
}

/*
 * cuckoo_filter_copy
 *		Make a filter with an image of its own.
 */
CuckooStatus
cuckoo_filter_copy(const CuckooFilter *filter, CuckooFilter *copy,
				   const CuckooHost *host)
{
	CuckooStatus status;

	*copy = *filter;
	status = cuckoo_filter_allocate(copy, 0, host);
	if (status == CUCKOO_OK)
		memcpy(copy->image, filter->image, filter->image_bytes);
	return status;
}

/*
 * cuckoo_filter_clear
 *		Make an empty filter of the parameters of another one.
 *
 * Columns and prefix bits are part of them: the two can be merged.  The family
 * is not, nor is the history.
 */
CuckooStatus
cuckoo_filter_clear(const CuckooFilter *filter, CuckooFilter *empty,
					const CuckooHost *host)
{
	memset(empty, 0, sizeof(*empty));
	empty->family = CUCKOO_FAMILY_NONE;
	empty->geometry = filter->geometry;
	empty->max_copies = filter->declared_copies;
	empty->declared_copies = filter->declared_copies;
	empty->seed = filter->seed;
	empty->capacity = filter->capacity;
	return cuckoo_filter_new_list(empty, 0, host);
}

/*
 * cuckoo_filter_add
 *		Add one more copy of a hash.
 *
 * Returns CUCKOO_OK, also if the filter has changed its form for it and it has
 * max_copies now; or, with the filter as it was, CUCKOO_SATURATED if it had
 * max_copies already, CUCKOO_FULL, CUCKOO_COLLIDING, CUCKOO_TOO_LARGE or
 * CUCKOO_NO_MEMORY.
 */
CuckooStatus
cuckoo_filter_add(CuckooFilter *filter, uint64_t hash, const CuckooHost *host)
{
	if (filter->is_table)
		return cuckoo_filter_add_address(filter,
										 cuckoo_table_hash_address(filter,
																   hash),
										 &filter_single_add, host);
	return filter_add_to_list(filter, hash, host);
}

/*
 * cuckoo_filter_add_all
 *		Add one more copy of each of some hashes to a table, or of none.
 *
 * Neither allocates nor polls, so it comes to an end; it does not do what
 * would need that.  The buckets that are overwritten are noted in the journal
 * behind what it has; an add that has to relocate needs room for several.
 *
 * Returns CUCKOO_OK, with *changed false if all hashes had max_copies already,
 * or with the filter as it was to the byte CUCKOO_NO_ROOM: then a copy of the
 * filter may succeed with cuckoo_filter_add() for each.
 */
CuckooStatus
cuckoo_filter_add_all(CuckooFilter *filter, const uint64_t *hashes,
					  size_t nhashes, CuckooJournal *journal, bool *changed)
{
	const CuckooFilter before = *filter;
	const size_t nundos = journal->nundos;

	*changed = false;
	if (!filter->is_table)
		return CUCKOO_NO_ROOM;
	for (size_t i = 0; i < nhashes; i++)
	{
		const CuckooAddress address = cuckoo_table_hash_address(filter,
																hashes[i]);
		CuckooStatus status;

		if (!cuckoo_remedy_is_due(filter))
			status = cuckoo_table_add_logged(filter, address, journal);
		else if (cuckoo_table_count(filter, address) >= filter->max_copies)
			status = CUCKOO_SATURATED;
		else
			status = CUCKOO_NO_ROOM;

		if (status == CUCKOO_OK)
			*changed = true;
		else if (status != CUCKOO_SATURATED)
		{
			cuckoo_table_undo(filter, journal, nundos);
			*filter = before;
			return status;
		}
	}
	return CUCKOO_OK;
}

/*
 * cuckoo_filter_remove
 *		Take out one copy of a hash.
 *
 * Returns CUCKOO_OK, or with the filter as it was CUCKOO_NOT_FOUND or
 * CUCKOO_SATURATED.  The caller has seen to it that the filter is one from
 * which values can be removed: not merged, and of more than one copy.
 *
 * Removing a hash that was never added can take out another one's copy.
 */
CuckooStatus
cuckoo_filter_remove(CuckooFilter *filter, uint64_t hash)
{
	CuckooAssert(!filter->is_merged && filter->max_copies > 1);

	if (filter->is_table)
		return cuckoo_table_remove(filter,
								   cuckoo_table_hash_address(filter, hash));
	return cuckoo_list_remove(filter, hash);
}

/*
 * cuckoo_filter_remove_all
 *		Take out one copy of each of some hashes of a table, or of none.
 *
 * As cuckoo_filter_add_all(), with the demands of cuckoo_filter_remove().
 */
CuckooStatus
cuckoo_filter_remove_all(CuckooFilter *filter, const uint64_t *hashes,
						 size_t nhashes, CuckooJournal *journal, bool *changed)
{
	*changed = false;
	if (!filter->is_table ||
		nhashes > (journal->room - journal->nundos) / CUCKOO_REMOVE_UNDOS)
		return CUCKOO_NO_ROOM;
	CuckooAssert(!filter->is_merged && filter->max_copies > 1);
	for (size_t i = 0; i < nhashes; i++)
	{
		const CuckooAddress address = cuckoo_table_hash_address(filter,
																hashes[i]);
		const size_t nundos = journal->nundos;

		(void) cuckoo_table_note(filter, address, journal);
		if (cuckoo_table_remove(filter, address) == CUCKOO_OK)
			*changed = true;
		else
			journal->nundos = nundos;
	}
	return CUCKOO_OK;
}

/*
 * cuckoo_filter_count
 *		Copies of a hash, 0 to max_copies.
 */
int
cuckoo_filter_count(const CuckooFilter *filter, uint64_t hash)
{
	if (filter->is_table)
		return cuckoo_table_count(filter,
								  cuckoo_table_hash_address(filter, hash));
	return cuckoo_list_count(filter, hash);
}

/*
 * cuckoo_filter_contains_batch
 *		cuckoo_filter_contains() for many hashes.
 */
void
cuckoo_filter_contains_batch(const CuckooFilter *filter, const uint64_t *hashes,
							 size_t nhashes, bool *results)
{
	if (filter->is_table)
		cuckoo_table_contains_batch(filter, hashes, nhashes, results);
	else
	{
		for (size_t i = 0; i < nhashes; i++)
			results[i] = cuckoo_list_count(filter, hashes[i]) > 0;
	}
}

/*
 * filter_refill
 *		Place the entries of a table in another, of fewer buckets.
 *
 * By the prefix that each has, in the order in which they stand.  Returns
 * CUCKOO_NO_ROOM if they do not fit.
 */
static CuckooStatus
filter_refill(const CuckooFilter *filter, CuckooFilter *smaller,
			  const CuckooHost *host)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const int	ncut = filter->geometry.prefix_bits -
		smaller->geometry.prefix_bits;

	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		if (bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);
		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter), bucket,
						   fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			const CuckooPlace place = {bucket, fps[slot]};
			CuckooAddress address;

			if (!cuckoo_fp_is_used(place.fp))
				continue;
			address = cuckoo_table_address(&filter->geometry, place);
			address.prefix = cuckoo_prefix_cut(address.prefix, ncut);
			if (cuckoo_table_add(smaller, address) == CUCKOO_NO_ROOM)
				return CUCKOO_NO_ROOM;
		}
	}
	cuckoo_image_assert_check(smaller);
	return CUCKOO_OK;
}

/*
 * cuckoo_filter_truncate
 *		Make a table of the same buckets with a prefix cut to that of declared.
 */
CuckooStatus
cuckoo_filter_truncate(const CuckooFilter *filter, const CuckooFilter *declared,
					   CuckooFilter *coarser, const CuckooHost *host)
{
	CuckooStatus status;

	*coarser = *declared;
	coarser->geometry.index_bits = filter->geometry.index_bits;
	cuckoo_bucket_packing(&coarser->packing,
						  cuckoo_geometry_fp_bits(&coarser->geometry));
	status = cuckoo_filter_allocate(coarser, 0, host);
	if (status == CUCKOO_OK)
		cuckoo_table_truncate(filter, coarser, host);
	return status;
}

/*
 * filter_leave_bit
 *		At least the prefix bits that leave a fingerprint room to be halved.
 *
 * Or as many as there are: a table can be at its last size.
 */
static int
filter_leave_bit(const CuckooFilter *filter, int prefix_bits, int index_bits)
{
	int			least_bits = index_bits + CUCKOO_MIN_FP_BITS + 1;

	if (least_bits > filter->geometry.prefix_bits)
		least_bits = filter->geometry.prefix_bits;
	return prefix_bits > least_bits ? prefix_bits : least_bits;
}

/*
 * filter_shrink
 *		Make a table of a declared header that is as small as entries allow.
 *
 * index_bits is the first size tried, by the number of entries.  What the
 * table holds fits its own size, if none below: nothing is lowered for it.
 * Where the size that it takes needs a longer prefix, it has that.
 */
static CuckooStatus
filter_shrink(const CuckooFilter *filter, CuckooFilter *declared,
			  int index_bits, CuckooFilter *resized, const CuckooHost *host)
{
	for (; index_bits < filter->geometry.index_bits; index_bits++)
	{
		CuckooStatus status;

		declared->geometry.prefix_bits =
			filter_leave_bit(filter, declared->geometry.prefix_bits,
							 index_bits);
		status = cuckoo_filter_new_table(declared, index_bits, resized, host);
		if (status == CUCKOO_OK)
		{
			status = filter_refill(filter, resized, host);
			if (status != CUCKOO_OK)
				cuckoo_filter_release(resized, host);
		}
		if (status != CUCKOO_NO_ROOM)
			return status;
	}

	declared->geometry.prefix_bits =
		filter_leave_bit(filter, declared->geometry.prefix_bits, index_bits);
	if (declared->geometry.prefix_bits < filter->geometry.prefix_bits)
		return cuckoo_filter_truncate(filter, declared, resized, host);
	return cuckoo_filter_copy(declared, resized, host);
}

/*
 * filter_resize_list
 *		Declare the capacity and rate of a list anew: it has all the bits.
 *
 * One that does not fit a table with all of its copies stays a list.
 */
static CuckooStatus
filter_resize_list(const CuckooFilter *filter, CuckooFilter *resized,
				   uint64_t capacity, uint64_t rate, const CuckooHost *host)
{
	CuckooFilter list = *filter;
	CuckooStatus status;

	list.capacity = capacity;
	status = cuckoo_geometry_choose(&list.geometry, capacity, rate);
	if (status != CUCKOO_OK)
		return status;
	list.geometry.index_bits = 0;

	if (capacity >= CUCKOO_MIN_TABLE_CAPACITY &&
		list.nentries > cuckoo_filter_list_limit(&list.geometry))
	{
		status = cuckoo_filter_list_to_table(&list, resized, host);
		if (status == CUCKOO_OK && resized->max_copies == list.max_copies)
			return status;
		if (status == CUCKOO_OK)
			cuckoo_filter_release(resized, host);
		else if (status != CUCKOO_COLLIDING && status != CUCKOO_FULL)
			return status;
	}
	return cuckoo_filter_copy(&list, resized, host);
}

/*
 * cuckoo_filter_resize
 *		Make a filter of the same values for another capacity or rate.
 *
 * capacity 0 leaves it, and rate 0 leaves the rate declared, or, when the
 * capacity goes up, gives the one that the entries' bits then keep.  The
 * result is as small as its entries allow.
 *
 * A list takes any parameters, a table keeps its columns and at most its
 * prefix bits.  Returns CUCKOO_BELOW_ENTRIES if the capacity is not enough
 * for what is held, CUCKOO_TOO_COARSE if the entries have too few bits,
 * CUCKOO_TOO_LARGE, CUCKOO_BAD_CAPACITY, CUCKOO_BAD_RATE, or what
 * cuckoo_filter_add() returns.
 */
CuckooStatus
cuckoo_filter_resize(const CuckooFilter *filter, CuckooFilter *resized,
					 uint64_t capacity, uint64_t rate, const CuckooHost *host)
{
	const uint32_t ncolumns = filter->geometry.ncolumns;
	const bool	keep_rate = rate == 0;
	CuckooFilter declared = *filter;
	CuckooGeometry full;
	int			index_bits;

	if (capacity > CUCKOO_MAX_CAPACITY)
		return CUCKOO_BAD_CAPACITY;
	if (capacity != 0 && capacity < filter->nentries)
		return CUCKOO_BELOW_ENTRIES;
	if (capacity == 0)
		capacity = filter->capacity;
	if (keep_rate)
		rate = cuckoo_geometry_rate(ncolumns, filter->geometry.prefix_bits,
									filter->capacity);
	if (!filter->is_table)
		return filter_resize_list(filter, resized, capacity, rate, host);

	/* the table that the whole capacity will need one day */
	full.ncolumns = ncolumns;
	full.index_bits = cuckoo_geometry_index_bits(ncolumns, capacity);
	full.prefix_bits = cuckoo_geometry_prefix_bits(ncolumns, full.index_bits,
												   capacity, rate);
	if (keep_rate && full.prefix_bits > filter->geometry.prefix_bits)
		full.prefix_bits = filter->geometry.prefix_bits;

	/* more may be held than the capacity, in a table larger than it needs */
	index_bits = cuckoo_geometry_index_bits(ncolumns, filter->nentries);
	if (index_bits > filter->geometry.index_bits)
		index_bits = filter->geometry.index_bits;
	full.prefix_bits = filter_leave_bit(filter, full.prefix_bits, index_bits);

	if (full.prefix_bits > filter->geometry.prefix_bits ||
		full.prefix_bits - full.index_bits <= CUCKOO_MIN_FP_BITS)
		return CUCKOO_TOO_COARSE;
	if (CUCKOO_HEADER_BYTES + cuckoo_geometry_table_bytes(&full) >
		CUCKOO_MAX_IMAGE_BYTES)
		return CUCKOO_TOO_LARGE;

	declared.capacity = capacity;
	declared.geometry.prefix_bits = full.prefix_bits;

	return filter_shrink(filter, &declared, index_bits, resized, host);
}

/*
 * cuckoo_filter_max_resize
 *		The largest capacity that a table can be resized to.
 *
 * It may be smaller than the capacity that the table has.
 */
uint64_t
cuckoo_filter_max_resize(const CuckooFilter *filter)
{
	CuckooGeometry largest = filter->geometry;

	largest.index_bits = largest.prefix_bits - CUCKOO_MIN_FP_BITS - 1;
	while (CUCKOO_HEADER_BYTES + cuckoo_geometry_table_bytes(&largest) >
		   CUCKOO_MAX_IMAGE_BYTES)
		largest.index_bits--;
	return cuckoo_geometry_usable(&largest);
}

/*
 * cuckoo_filter_estimate_values
 *		About how many different values a filter holds.
 *
 * Exact for a list, and if values have one copy each.  The time it takes does
 * not depend on the size of the filter.
 */
double
cuckoo_filter_estimate_values(const CuckooFilter *filter)
{
	uint64_t	nvalues = filter->nentries;

	if (filter->max_copies == 1)
		return (double) nvalues;
	if (filter->is_table)
		return cuckoo_table_estimate_values(filter);
	for (uint64_t i = 1; i < filter->nentries; i++)
	{
		if (cuckoo_list_get(filter, i) == cuckoo_list_get(filter, i - 1))
			nvalues--;
	}
	return (double) nvalues;
}

/* A list errs if one of its hashes is that of another value. */
static double
filter_list_fpr(uint64_t nentries)
{
	return ldexp((double) nentries, -64);
}

/*
 * cuckoo_filter_fpr
 *		The false positive rate of a filter as it is.
 */
double
cuckoo_filter_fpr(const CuckooFilter *filter)
{
	if (!filter->is_table)
		return filter_list_fpr(filter->nentries);
	return cuckoo_geometry_fpr(filter->geometry.ncolumns,
							   filter->geometry.prefix_bits, filter->nentries);
}

/*
 * cuckoo_filter_declared_fpr
 *		The false positive rate a filter keeps to up to its capacity.
 */
double
cuckoo_filter_declared_fpr(const CuckooFilter *filter)
{
	if (!filter->is_table && !cuckoo_filter_full_is_table(filter))
		return filter_list_fpr(filter->capacity);
	return cuckoo_geometry_fpr(filter->geometry.ncolumns,
							   filter->geometry.prefix_bits, filter->capacity);
}

/*
 * cuckoo_filter_load_factor
 *		Used slots over all slots; a list has no free ones.
 */
double
cuckoo_filter_load_factor(const CuckooFilter *filter)
{
	if (!filter->is_table)
		return filter->nentries > 0 ? 1.0 : 0.0;
	return (double) filter->nentries / (double) cuckoo_header_nslots(filter);
}
