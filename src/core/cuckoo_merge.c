/*-------------------------------------------------------------------------
 *
 * cuckoo_merge.c
 *		Two filters to one: union, intersection, and the estimated overlap.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_merge.h"

/* Values whose memory is asked for together. */
#define MERGE_BATCH		32

/* Keys taken from a source at a time. */
#define KEY_BATCH		1024

/* A value of a table and its copies there. */
typedef struct Value
{
	CuckooAddress address;
	int			ncopies;
} Value;

/*
 * cuckoo_merge_compatible
 *		Can these two be merged?
 *
 * Returns CUCKOO_OK, CUCKOO_SEEDS_DIFFER or CUCKOO_COLUMNS_DIFFER.
 */
CuckooStatus
cuckoo_merge_compatible(const CuckooFilter *a, const CuckooFilter *b)
{
	if (a->seed != b->seed)
		return CUCKOO_SEEDS_DIFFER;
	if (a->geometry.ncolumns != b->geometry.ncolumns)
		return CUCKOO_COLUMNS_DIFFER;
	return CUCKOO_OK;
}

static uint64_t
merge_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int
merge_min_int(int a, int b)
{
	return a < b ? a : b;
}

static int
merge_max_int(int a, int b)
{
	return a > b ? a : b;
}

/*
 * merge_common_header
 *		What a result has of both: a header without form, entries and history.
 */
static void
merge_common_header(const CuckooFilter *a, const CuckooFilter *b,
					CuckooFilter *header)
{
	*header = *a;
	header->geometry.index_bits = 0;
	header->geometry.prefix_bits = merge_min_int(a->geometry.prefix_bits,
												 b->geometry.prefix_bits);
	header->capacity = a->capacity > b->capacity ? a->capacity : b->capacity;
	header->declared_copies = merge_min_int(a->declared_copies,
											b->declared_copies);
	header->max_copies = merge_min_int(a->max_copies, b->max_copies);
	header->is_merged = a->is_merged || b->is_merged;
	header->is_doubtful = a->is_doubtful || b->is_doubtful;
	header->nkicks = 0;
	header->longest_path = 0;
	header->ngrowths = 0;
	header->growth_load = 0;
	if (header->family == CUCKOO_FAMILY_NONE)
		header->family = b->family;
}

/*
 * merge_list_as_table
 *		A list as a table, for reading.
 *
 * Where it would lose copies, in one of held_bits if that has room for them.
 */
static CuckooStatus
merge_list_as_table(const CuckooFilter *list, int held_bits,
					CuckooFilter *table, const CuckooHost *host)
{
	CuckooFilter roomy;
	CuckooStatus status = cuckoo_filter_list_to_table(list, table, host);

	if (status != CUCKOO_OK || table->max_copies == list->max_copies ||
		held_bits > list->geometry.prefix_bits - CUCKOO_MIN_FP_BITS)
		return status;

	status = cuckoo_filter_new_table(list, held_bits, &roomy, host);
	if (status != CUCKOO_OK)
	{
		cuckoo_filter_release(table, host);
		return status;
	}
	for (uint64_t i = 0; i < list->nentries; i++)
	{
		const CuckooAddress address =
			cuckoo_table_hash_address(&roomy, cuckoo_list_get(list, i));

		if (cuckoo_table_add(&roomy, address) == CUCKOO_NO_ROOM)
		{
			cuckoo_filter_release(&roomy, host);
			return CUCKOO_OK;
		}
	}
	cuckoo_filter_release(table, host);
	*table = roomy;
	return CUCKOO_OK;
}

/*
 * merge_as_table
 *		A filter as a table that has the prefix of header, for reading.
 *
 * held_bits is the size of the other one.  *is_own tells whether it has an
 * image of its own, which the caller releases.
 */
static CuckooStatus
merge_as_table(const CuckooFilter *filter, const CuckooFilter *header,
			   int held_bits, CuckooFilter *table, bool *is_own,
			   const CuckooHost *host)
{
	const int	prefix_bits = header->geometry.prefix_bits;
	CuckooFilter source = *filter;

	*is_own = true;
	source.geometry.prefix_bits = prefix_bits;
	if (!filter->is_table)
	{
		source.capacity = header->capacity;
		return merge_list_as_table(&source, held_bits, table, host);
	}
	if (filter->geometry.prefix_bits == prefix_bits)
	{
		*table = *filter;
		*is_own = false;
		return CUCKOO_OK;
	}

	if (filter->geometry.index_bits > prefix_bits - CUCKOO_MIN_FP_BITS)
		return CUCKOO_TOO_COARSE;
	return cuckoo_filter_truncate(filter, &source, table, host);
}

/*
 * merge_become
 *		Give a table the declared properties of a header.
 */
static void
merge_become(CuckooFilter *table, const CuckooFilter *header,
			 const CuckooHost *host)
{
	table->capacity = header->capacity;
	table->family = header->family;
	table->is_merged = header->is_merged;
	table->is_doubtful = header->is_doubtful;
	table->declared_copies = header->declared_copies;
	if (table->max_copies > header->max_copies)
	{
		table->max_copies = header->max_copies;
		cuckoo_table_drop_copies(table, host);
	}
}

/*
 * merge_next_values
 *		Up to MERGE_BATCH values of a walk.
 *
 * Asks for the memory in which each stands in the table probed.
 */
static int
merge_next_values(const CuckooFilter *table, CuckooWalk *walk, Value *values,
				  const CuckooFilter *probed, const CuckooHost *host)
{
	const uint8_t *const body = cuckoo_header_body(probed);
	int			nvalues = 0;

	while (nvalues < MERGE_BATCH && cuckoo_table_walk(table, walk, host))
	{
		CuckooPlace places[2];

		values[nvalues].address = walk->address;
		values[nvalues].ncopies = walk->ncopies;
		cuckoo_table_places(&probed->geometry, walk->address, places);
		cuckoo_prefetch(body + cuckoo_table_bucket_byte(probed,
														places[0].bucket));
		cuckoo_prefetch(body + cuckoo_table_bucket_byte(probed,
														places[1].bucket));
		nvalues++;
	}
	return nvalues;
}

/*
 * merge_add_table
 *		Add the values of one table to another of the same prefix.
 */
static CuckooStatus
merge_add_table(CuckooFilter *filter, const CuckooFilter *other,
				bool add_copies,
				const CuckooHost *host)
{
	const CuckooFilling filling = {
		filter->nentries + other->nentries,
		merge_max_int(filter->geometry.index_bits,
					  other->geometry.index_bits), false
	};
	CuckooWalk	walk = {0};
	Value		values[MERGE_BATCH];
	int			nvalues;

	while ((nvalues = merge_next_values(other, &walk, values, filter,
										host)) > 0)
	{
		for (int i = 0; i < nvalues; i++)
		{
			int			nmore = values[i].ncopies;

			if (!add_copies)
			{
				const int	nheld = cuckoo_table_count(filter,
													   values[i].address);

				/* two values may have become one: nobody can tell */
				if (nheld > 0)
					filter->is_merged = true;
				nmore -= nheld;
			}
			for (; nmore > 0; nmore--)
			{
				const CuckooStatus status =
					cuckoo_filter_add_address(filter, values[i].address,
											  &filling, host);

				if (status == CUCKOO_SATURATED)
					break;
				if (status != CUCKOO_OK)
					return status;
			}
		}
	}
	return CUCKOO_OK;
}

/*
 * merge_list_become
 *		Give a list the declared properties of a header.
 */
static void
merge_list_become(CuckooFilter *list, const CuckooFilter *header)
{
	const CuckooFilter original = *list;

	*list = *header;
	list->image = original.image;
	list->image_room = original.image_room;
	list->is_table = false;
	list->nentries = 0;
	list->image_bytes = CUCKOO_HEADER_BYTES;

	/* in ascending order each hash stays in front of those still to come */
	for (uint64_t i = 0; i < original.nentries; i++)
	{
		const uint64_t hash = cuckoo_list_get(&original, i);

		if (cuckoo_list_count(list, hash) < list->max_copies)
			cuckoo_list_insert(list, hash);
	}
}

/*
 * merge_lists
 *		Add the hashes of one list to another, which may become a table.
 *
 * The copies held are counted in what the list was before, so that nothing
 * that has just been added takes part.
 */
static CuckooStatus
merge_lists(CuckooFilter *filter, const CuckooFilter *other,
			const CuckooFilter *header, bool add_copies,
			const CuckooHost *host)
{
	uint64_t	position = 0;
	CuckooFilter before;
	CuckooStatus status;

	merge_list_become(filter, header);
	status = cuckoo_filter_copy(filter, &before, host);
	if (status != CUCKOO_OK)
		return status;

	while (position < other->nentries && status == CUCKOO_OK)
	{
		const uint64_t hash = cuckoo_list_get(other, position);
		const int	ncopies = cuckoo_list_run(other, position);
		const int	nheld = add_copies ? 0 : cuckoo_list_count(&before, hash);

		position += (uint64_t) ncopies;
		if (nheld > 0)
			filter->is_merged = true;
		for (int i = nheld; i < ncopies && status == CUCKOO_OK; i++)
			status = cuckoo_filter_add(filter, hash, host);
		if (status == CUCKOO_SATURATED)
			status = CUCKOO_OK;
	}
	cuckoo_filter_release(&before, host);
	return status;
}

/*
 * merge_tables
 *		The union of two filters of which one at least is a table.
 *
 * The smaller one's entries go into the larger one, or a copy of it if that
 * is not the one to change.
 */
static CuckooStatus
merge_tables(CuckooFilter *filter, const CuckooFilter *other,
			 const CuckooFilter *header, bool add_copies,
			 const CuckooHost *host)
{
	const bool	other_is_base = other->is_table &&
		(!filter->is_table || filter->nentries < other->nentries);
	CuckooFilter result = *header;
	CuckooFilter base;
	CuckooFilter addend;
	bool		base_is_own;
	bool		addend_is_own;
	CuckooStatus status;

	status = merge_as_table(other_is_base ? filter : other, header,
							other_is_base ? other->geometry.index_bits :
							filter->geometry.index_bits,
							&addend, &addend_is_own, host);
	if (status != CUCKOO_OK)
		return status;

	/* a list of hot values may have become a table of fewer copies */
	result.max_copies = merge_min_int(result.max_copies, addend.max_copies);

	status = merge_as_table(other_is_base ? other : filter, header, 0, &base,
							&base_is_own, host);
	if (status == CUCKOO_OK && other_is_base && !base_is_own)
	{
		status = cuckoo_filter_copy(other, &base, host);
		base_is_own = true;
	}
	if (status == CUCKOO_OK)
	{
		merge_become(&base, &result, host);
		status = merge_add_table(&base, &addend, add_copies, host);
		if (base_is_own)
			cuckoo_filter_release(filter, host);
		*filter = base;
		cuckoo_image_assert_check(filter);
	}
	if (addend_is_own)
		cuckoo_filter_release(&addend, host);
	return status;
}

/*
 * cuckoo_merge_into
 *		Make a filter the union of itself and another one.
 *
 * With add_copies the copies of a value add up, saturating.  Otherwise each
 * value has the larger number of its copies, and the result is marked as
 * merged if both had entries of one address: were these of different values,
 * removing one would remove the other.
 *
 * Returns CUCKOO_OK; CUCKOO_SEEDS_DIFFER or CUCKOO_COLUMNS_DIFFER;
 * CUCKOO_TOO_COARSE if one is too large a table for the other one's prefix; or
 * what cuckoo_filter_add() returns.  Unlike there, the filter can then hold
 * some of the values only: it is sound, but good for nothing but being thrown
 * away.
 */
CuckooStatus
cuckoo_merge_into(CuckooFilter *filter, const CuckooFilter *other,
				  bool add_copies, const CuckooHost *host)
{
	CuckooFilter header;
	CuckooStatus status = cuckoo_merge_compatible(filter, other);

	if (status != CUCKOO_OK)
		return status;

	merge_common_header(filter, other, &header);
	if (filter->is_table || other->is_table)
		return merge_tables(filter, other, &header, add_copies, host);
	return merge_lists(filter, other, &header, add_copies, host);
}

/*
 * cuckoo_merge_by_keys
 *		Are these tables whose union can be made by way of keys?
 *
 * They mean the same by an entry, and leave room for a copy's number.
 */
bool
cuckoo_merge_by_keys(const CuckooFilter *a, const CuckooFilter *b)
{
	return a->is_table && b->is_table &&
		cuckoo_merge_compatible(a, b) == CUCKOO_OK &&
		a->geometry.prefix_bits == b->geometry.prefix_bits &&
		a->geometry.prefix_bits <= CUCKOO_MAX_PREFIX_BITS - CUCKOO_COPY_BITS &&
		a->max_copies == b->max_copies &&
		a->declared_copies == b->declared_copies;
}

/*
 * cuckoo_merge_header
 *		Give a filter what the union with another one, by keys, declares.
 */
void
cuckoo_merge_header(CuckooFilter *filter, const CuckooFilter *other)
{
	if (filter->capacity < other->capacity)
		filter->capacity = other->capacity;
	if (filter->family == CUCKOO_FAMILY_NONE)
		filter->family = other->family;
	if (other->is_merged)
		filter->is_merged = true;
	if (other->is_doubtful)
		filter->is_doubtful = true;
}

/*
 * cuckoo_merge_start_keys
 *		Before the first key of a table.
 *
 * memory is the caller's, of cuckoo_block_bytes(), for as long as the walk.
 */
void
cuckoo_merge_start_keys(CuckooKeyWalk *walk, const CuckooFilter *table,
						void *memory)
{
	cuckoo_block_init(&walk->block, table, memory);
	walk->number = 0;
	walk->column = table->geometry.ncolumns;
}

/*
 * cuckoo_merge_next_keys
 *		The next keys of a table.
 *
 * There is room for CUCKOO_COLUMN_SLOTS.  Returns how many there are; 0 only
 * after the last.
 */
size_t
cuckoo_merge_next_keys(CuckooKeyWalk *walk, const CuckooFilter *table,
					   bool add_copies, uint64_t *keys, const CuckooHost *host)
{
	const uint64_t nblocks = cuckoo_geometry_nbuckets(&table->geometry) /
		walk->block.nbuckets;
	size_t		nkeys = 0;

	while (nkeys == 0)
	{
		if (walk->column == table->geometry.ncolumns)
		{
			if (walk->number == nblocks)
				break;
			cuckoo_poll(host);
			cuckoo_block_read(&walk->block, table, walk->number++);
			walk->column = 0;
		}
		nkeys = cuckoo_block_keys(&walk->block, walk->column++, add_copies,
								  keys);
	}
	return nkeys;
}

/*
 * cuckoo_merge_keys
 *		Add the keys of other tables to a table.
 *
 * They come superblock by superblock, so that what is touched stays in the
 * cache.  Returns what cuckoo_merge_into() returns, likewise.
 */
CuckooStatus
cuckoo_merge_keys(CuckooFilter *filter, const CuckooHashSource *source,
				  uint64_t nkeys, bool add_copies, const CuckooHost *host)
{
	const CuckooFilling filling = {
		filter->nentries + nkeys, filter->geometry.index_bits, false
	};
	uint64_t	keys[KEY_BATCH];
	size_t		nnext;

	source->rewind(source->context);
	while ((nnext = source->next(source->context, keys, KEY_BATCH)) > 0)
	{
		cuckoo_poll(host);
		for (size_t i = 0; i < nnext; i++)
		{
			const uint64_t hash = cuckoo_order_hash_back(keys[i]);
			const CuckooAddress address =
				cuckoo_table_hash_address(filter, hash);
			CuckooStatus status;

			if (!add_copies)
			{
				const int	number =
					(int) (hash >> CUCKOO_PERM_BITS & cuckoo_low_bits(CUCKOO_COPY_BITS));

				if (cuckoo_table_count(filter, address) > number)
				{
					filter->is_merged = true;
					continue;
				}
			}
			status = cuckoo_filter_add_address(filter, address, &filling,
											   host);
			if (status != CUCKOO_OK && status != CUCKOO_SATURATED)
				return status;
		}
	}
	cuckoo_image_assert_check(filter);
	return CUCKOO_OK;
}

/*
 * merge_intersect_list
 *		The hashes of a list that another filter may contain.
 */
static CuckooStatus
merge_intersect_list(const CuckooFilter *list, const CuckooFilter *other,
					 const CuckooFilter *header, CuckooFilter *common,
					 const CuckooHost *host)
{
	uint64_t	position = 0;
	CuckooStatus status;

	*common = *header;
	common->is_table = false;
	common->nentries = 0;
	status = cuckoo_filter_allocate(common, 8 * list->nentries, host);
	if (status != CUCKOO_OK)
		return status;

	while (position < list->nentries)
	{
		const uint64_t hash = cuckoo_list_get(list, position);
		const int	nlist = cuckoo_list_run(list, position);
		const int	nother = cuckoo_filter_count(other, hash);

		for (int i = 0; i < merge_min_int(merge_min_int(nlist, nother),
										  common->max_copies); i++)
			cuckoo_list_insert(common, hash);
		position += (uint64_t) nlist;
	}
	return CUCKOO_OK;
}

/*
 * merge_count_common
 *		Copies that values of table have in other, too; and how many values
 *		these are.
 */
static uint64_t
merge_count_common(const CuckooFilter *table, const CuckooFilter *other,
				   uint64_t *nvalues, const CuckooHost *host)
{
	CuckooWalk	walk = {0};
	Value		values[MERGE_BATCH];
	uint64_t	ncopies = 0;
	int			nbatch;

	*nvalues = 0;
	while ((nbatch = merge_next_values(table, &walk, values, other, host)) > 0)
	{
		for (int i = 0; i < nbatch; i++)
		{
			const int	nother = cuckoo_table_count(other, values[i].address);

			*nvalues += nother > 0;
			ncopies += (uint64_t) merge_min_int(values[i].ncopies, nother);
		}
	}
	return ncopies;
}

/*
 * merge_next_common
 *		The next values of a walk, and the copies that both tables have.
 */
static int
merge_next_common(const CuckooFilter *table, const CuckooFilter *other,
				  int max_copies, CuckooWalk *walk, Value *values, int *ncommon,
				  const CuckooHost *host)
{
	const int	nvalues = merge_next_values(table, walk, values, other, host);

	for (int i = 0; i < nvalues; i++)
		ncommon[i] = merge_min_int(merge_min_int(values[i].ncopies,
												 max_copies),
								   cuckoo_table_count(other,
													  values[i].address));
	return nvalues;
}

/*
 * merge_fill_common
 *		Add to an empty table what two tables of the same prefix have.
 *
 * Returns CUCKOO_NO_ROOM if that does not fit.
 */
static CuckooStatus
merge_fill_common(const CuckooFilter *table, const CuckooFilter *other,
				  CuckooFilter *common, const CuckooHost *host)
{
	CuckooWalk	walk = {0};
	Value		values[MERGE_BATCH];
	int			ncommon[MERGE_BATCH];
	int			nvalues;

	while ((nvalues = merge_next_common(table, other, common->max_copies,
										&walk, values, ncommon, host)) > 0)
	{
		for (int i = 0; i < nvalues; i++)
		{
			for (; ncommon[i] > 0; ncommon[i]--)
			{
				if (cuckoo_table_add(common,
									 values[i].address) == CUCKOO_NO_ROOM)
					return CUCKOO_NO_ROOM;
			}
		}
	}
	return CUCKOO_OK;
}

/*
 * merge_keep_common
 *		Make a copy of a table, and take out what another does not have.
 */
static CuckooStatus
merge_keep_common(const CuckooFilter *table, const CuckooFilter *other,
				  const CuckooFilter *header, CuckooFilter *common,
				  const CuckooHost *host)
{
	CuckooFilter declared = *header;
	CuckooWalk	walk = {0};
	Value		values[MERGE_BATCH];
	int			ncommon[MERGE_BATCH];
	int			nvalues;
	CuckooStatus status;

	declared.is_table = true;
	declared.geometry = table->geometry;
	declared.packing = table->packing;
	declared.nentries = table->nentries;
	declared.image = table->image;
	declared.image_bytes = table->image_bytes;
	status = cuckoo_filter_copy(&declared, common, host);
	if (status != CUCKOO_OK)
		return status;

	/* nothing is saturated meanwhile: all that is not common goes */
	common->max_copies = 2 * CUCKOO_BUCKET_SLOTS + 1;
	while ((nvalues = merge_next_common(table, other, header->max_copies,
										&walk, values, ncommon, host)) > 0)
	{
		for (int i = 0; i < nvalues; i++)
		{
			for (; values[i].ncopies > ncommon[i]; values[i].ncopies--)
				(void) cuckoo_table_remove(common, values[i].address);
		}
	}
	common->max_copies = header->max_copies;
	return CUCKOO_OK;
}

/*
 * merge_intersect_tables
 *		A table of the values that two tables of the same prefix have.
 *
 * As small as these allow.  In a table of the size of an input they fit,
 * as they stand there: no copies are lowered.
 */
static CuckooStatus
merge_intersect_tables(const CuckooFilter *table, const CuckooFilter *other,
					   const CuckooFilter *header, CuckooFilter *common,
					   const CuckooHost *host)
{
	uint64_t	nvalues;
	const uint64_t nentries = merge_count_common(table, other, &nvalues, host);
	int			index_bits =
		cuckoo_geometry_index_bits(header->geometry.ncolumns, nentries);
	CuckooStatus status = CUCKOO_NO_ROOM;

	for (; index_bits < table->geometry.index_bits && status == CUCKOO_NO_ROOM;
		 index_bits++)
	{
		status = cuckoo_filter_new_table(header, index_bits, common, host);
		if (status == CUCKOO_OK)
		{
			status = merge_fill_common(table, other, common, host);
			if (status != CUCKOO_OK)
				cuckoo_filter_release(common, host);
		}
	}
	if (status == CUCKOO_NO_ROOM)
		status = merge_keep_common(table, other, header, common, host);
	if (status == CUCKOO_OK)
		cuckoo_image_assert_check(common);
	return status;
}

/*
 * merge_as_tables
 *		Two filters as tables that have the prefix of header, for reading.
 */
static CuckooStatus
merge_as_tables(const CuckooFilter *a, const CuckooFilter *b,
				const CuckooFilter *header, CuckooFilter *tables, bool *are_own,
				const CuckooHost *host)
{
	CuckooStatus status = merge_as_table(a, header, 0, &tables[0], &are_own[0],
										 host);

	if (status != CUCKOO_OK)
		return status;
	status = merge_as_table(b, header, 0, &tables[1], &are_own[1], host);
	if (status != CUCKOO_OK && are_own[0])
		cuckoo_filter_release(&tables[0], host);
	return status;
}

static void
merge_release_tables(CuckooFilter *tables, const bool *are_own,
					 const CuckooHost *host)
{
	for (int i = 0; i < 2; i++)
	{
		if (are_own[i])
			cuckoo_filter_release(&tables[i], host);
	}
}

/*
 * cuckoo_merge_intersection
 *		Make a filter that contains whatever two filters both contain.
 *
 * Each value has the smaller number of its copies.  A value that was added to
 * both is in it for certain; one that was not is with about the probability
 * that the coarser of them gives a false positive.
 *
 * Returns what cuckoo_merge_into() returns.
 */
CuckooStatus
cuckoo_merge_intersection(const CuckooFilter *a, const CuckooFilter *b,
						  CuckooFilter *common, const CuckooHost *host)
{
	CuckooFilter header;
	CuckooFilter tables[2];
	bool		are_own[2];
	CuckooStatus status = cuckoo_merge_compatible(a, b);

	if (status != CUCKOO_OK)
		return status;
	merge_common_header(a, b, &header);
	if (!a->is_table)
		return merge_intersect_list(a, b, &header, common, host);
	if (!b->is_table)
		return merge_intersect_list(b, a, &header, common, host);

	status = merge_as_tables(a, b, &header, tables, are_own, host);
	if (status != CUCKOO_OK)
		return status;
	if (tables[0].nentries <= tables[1].nentries)
		status = merge_intersect_tables(&tables[0], &tables[1], &header, common,
										host);
	else
		status = merge_intersect_tables(&tables[1], &tables[0], &header, common,
										host);
	merge_release_tables(tables, are_own, host);
	return status;
}

/*
 * merge_list_overlap
 *		Different hashes that two lists have in common.
 */
static uint64_t
merge_list_overlap(const CuckooFilter *a, const CuckooFilter *b)
{
	uint64_t	ncommon = 0;
	uint64_t	position = 0;

	while (position < a->nentries)
	{
		const uint64_t hash = cuckoo_list_get(a, position);

		ncommon += cuckoo_list_count(b, hash) > 0;
		position += (uint64_t) cuckoo_list_run(a, position);
	}
	return ncommon;
}

/*
 * merge_count_values
 *		Different values of a table.
 */
static uint64_t
merge_count_values(const CuckooFilter *table, const CuckooHost *host)
{
	CuckooWalk	walk = {0};
	uint64_t	nvalues = 0;

	while (cuckoo_table_walk(table, &walk, host))
		nvalues++;
	return nvalues;
}

/*
 * cuckoo_merge_overlap
 *		Estimate how many values two filters have in common.
 *
 * Of n values of the one, those that the other does not have are found there
 * with its false positive rate p all the same: m found are expected to be
 * c + (n - c) p for c common ones, so c is estimated as (m - n p) / (1 - p).
 * Its standard error is about sqrt(n p).  Between two lists it is exact.
 *
 * Returns CUCKOO_OK, or what cuckoo_merge_compatible() returns, or
 * CUCKOO_TOO_COARSE, CUCKOO_TOO_LARGE, CUCKOO_NO_MEMORY, CUCKOO_COLLIDING.
 */
CuckooStatus
cuckoo_merge_overlap(const CuckooFilter *a, const CuckooFilter *b,
					 double *nvalues, const CuckooHost *host)
{
	CuckooFilter header;
	CuckooFilter tables[2];
	bool		are_own[2];
	CuckooStatus status = cuckoo_merge_compatible(a, b);

	if (status != CUCKOO_OK)
		return status;
	if (!a->is_table && !b->is_table)
	{
		*nvalues = (double) merge_list_overlap(a, b);
		return CUCKOO_OK;
	}

	merge_common_header(a, b, &header);
	status = merge_as_tables(a, b, &header, tables, are_own, host);
	if (status == CUCKOO_OK)
	{
		const uint64_t n[2] = {
			merge_count_values(&tables[0], host),
			merge_count_values(&tables[1], host)
		};
		const int	smaller = n[1] < n[0];
		const uint64_t nsmall = n[smaller];
		const uint64_t nlarge = n[1 - smaller];
		const double p = cuckoo_geometry_fpr(header.geometry.ncolumns,
											 header.geometry.prefix_bits,
											 nlarge);
		uint64_t	nfound;
		double		estimate;

		merge_count_common(&tables[smaller], &tables[1 - smaller], &nfound,
						   host);
		estimate = p < 1.0 ?
			((double) nfound - (double) nsmall * p) / (1.0 - p) : 0.0;
		if (estimate < 0.0)
			estimate = 0.0;
		if (estimate > (double) merge_min_u64(nsmall, nlarge))
			estimate = (double) merge_min_u64(nsmall, nlarge);
		*nvalues = estimate;
		merge_release_tables(tables, are_own, host);
	}
	return status;
}
