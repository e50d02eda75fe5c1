/*-------------------------------------------------------------------------
 *
 * cuckoo_remedy.c
 *		What to do about a table in which an add finds no room.
 *
 * docs/format.md, section 11, says the same: every number here decides bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_remedy.h"
#include "cuckoo_search.h"

/*
 * A search that ends after so few buckets has found a pocket: buckets whose
 * entries have no other place.  No relocation will ever make room there.
 */
#define POCKET_BUCKETS			64

/* A table of no more buckets is cheap to double, and often helped by it. */
#define SMALL_TABLE_BUCKETS		1024

/* Tables of no more slots are left to fill until a search fails. */
#define SMALL_TABLE_SLOTS		64

/* The buckets in which a search looked for a free slot, in vain. */
typedef struct Surroundings
{
	int			nbuckets;
	uint64_t	nused;			/* entries in them */
	uint64_t	nhot;			/* of these, of values with three copies or four */
	int			most_copies;	/* of one value, the one to add counted with it */
} Surroundings;

/*
 * cuckoo_remedy_is_due
 *		Is a table to be doubled before the next entry is added?
 *
 * It is when it holds what the sizing relies on.  Searches become long from
 * there on, and doubling is what the capacity will ask for anyway.
 */
bool
cuckoo_remedy_is_due(const CuckooFilter *table)
{
	const uint64_t nslots = cuckoo_header_nslots(table);

	/* most often not; usable slots are more than three quarters */
	return cuckoo_unlikely(4 * table->nentries >= 3 * nslots) &&
		table->nentries < table->capacity &&
		nslots > SMALL_TABLE_SLOTS &&
		table->packing.fp_bits > CUCKOO_MIN_FP_BITS &&
		table->nentries >= cuckoo_geometry_usable(&table->geometry);
}

/*
 * remedy_grows_anyway
 *		Will a table be doubled one day, and helps that now?
 *
 * Below the last size of its capacity, a table is doubled rather than its
 * copies lowered if it is well filled, or small, or if repeated values are so
 * many of its entries that the fewer copies would soon be missed.
 */
static bool
remedy_grows_anyway(const CuckooFilter *table, uint64_t n,
					const CuckooHost *host)
{
	const CuckooGeometry *const geometry = &table->geometry;
	const uint64_t nslots = cuckoo_header_nslots(table);

	if (n >= table->capacity ||
		table->packing.fp_bits == CUCKOO_MIN_FP_BITS ||
		geometry->index_bits >= cuckoo_geometry_index_bits(geometry->ncolumns,
														   table->capacity))
		return false;
	return 4 * n >= 3 * nslots ||
		cuckoo_geometry_nbuckets(geometry) <= SMALL_TABLE_BUCKETS ||
		(3 * n >= nslots &&
		 8 * cuckoo_table_copies_above(table, 2, host) >= table->nentries);
}

/*
 * remedy_lowers_copies
 *		Are third and fourth copies what leaves no room?
 *
 * They are if the buckets around hold a value of so many, and are a pocket or,
 * in a table that should have room, of one entry in 32 such values' entries.
 * A table that holds what it can be relied on for, and may grow, does so.
 */
static bool
remedy_lowers_copies(const CuckooFilter *table,
					 const Surroundings *around, uint64_t n)
{
	const uint64_t usable = cuckoo_geometry_usable(&table->geometry);

	if (table->max_copies <= 2 || around->most_copies <= 2 ||
		(n >= usable && n < table->capacity))
		return false;
	return around->nbuckets <= POCKET_BUCKETS ||
		(n < usable && 32 * around->nhot >= around->nused);
}

/*
 * remedy_is_colliding
 *		Are the values chosen so that they share their buckets?
 *
 * Random ones always find room in a table below a quarter of its slots; and no
 * pocket comes about below half of them, or among values that hardly repeat.
 */
static bool
remedy_is_colliding(const CuckooFilter *table,
					const Surroundings *around, uint64_t n,
					const CuckooHost *host)
{
	const uint64_t nslots = cuckoo_header_nslots(table);

	if (cuckoo_geometry_nbuckets(&table->geometry) <= SMALL_TABLE_BUCKETS)
		return false;
	if (4 * n < nslots)
		return true;
	return around->nbuckets <= POCKET_BUCKETS &&
		n < cuckoo_geometry_usable(&table->geometry) &&
		(2 * n < nslots ||
		 16 * cuckoo_table_copies_above(table, 1, host) < table->nentries);
}

/*
 * remedy_look_around
 *		The buckets that the search for a free slot reaches from an address.
 *
 * There is no free slot in them: an add has found none.
 */
static void
remedy_look_around(const CuckooFilter *table, CuckooAddress address,
				   Surroundings *around)
{
	CuckooPlace places[2];
	CuckooSearch search;

	cuckoo_table_places(&table->geometry, address, places);
	(void) cuckoo_search_free_slot(&search, table, places);

	around->nbuckets = search.nnodes;
	around->nused = 0;
	around->nhot = 0;
	around->most_copies = cuckoo_table_count(table, address) + 1;
	for (int i = 0; i < search.nnodes; i++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];
		CuckooPlace place = {cuckoo_search_bucket(&search, i), 0};

		cuckoo_bucket_read(&table->packing, cuckoo_header_body(table),
						   place.bucket, fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			int			ncopies;

			if (!cuckoo_fp_is_used(fps[slot]))
				continue;
			place.fp = fps[slot];
			ncopies = cuckoo_table_count(table,
										 cuckoo_table_address(&table->geometry,
															  place));
			around->nused++;
			around->nhot += ncopies > 2;
			if (around->most_copies < ncopies)
				around->most_copies = ncopies;
		}
	}
}

/*
 * cuckoo_remedy_choose
 *		What to do about a table in which an add has found no room.
 *
 * address is what was to be added.  Lowering takes from a value what adding
 * and removing did not change any more: a value of more copies than are left
 * keeps as many as that, so it is saturated, and stays for good.  Copies that
 * a table of held_bits had room for are not lowered below that size.
 *
 * Whether doubling or lowering helps shows in another attempt.
 */
CuckooRemedy
cuckoo_remedy_choose(const CuckooFilter *table, CuckooAddress address,
					 const CuckooFilling *filling, const CuckooHost *host)
{
	/* entries before the last one: what is to come counts as if it were there */
	const uint64_t n = filling->nexpected > table->nentries ?
		filling->nexpected - 1 : table->nentries;
	const uint64_t nsure = filling->is_build ? n : table->nentries;
	CuckooRemedy remedy = {CUCKOO_GROW, table->max_copies, CUCKOO_OK};
	Surroundings around;

	if (remedy_grows_anyway(table, nsure, host))
		return remedy;

	remedy_look_around(table, address, &around);
	if (remedy_lowers_copies(table, &around, n))
	{
		if (table->geometry.index_bits < filling->held_bits &&
			table->packing.fp_bits > CUCKOO_MIN_FP_BITS)
			return remedy;
		remedy.kind = CUCKOO_LOWER_COPIES;
		if (remedy.max_copies > around.most_copies)
			remedy.max_copies = around.most_copies;
		remedy.max_copies--;
		return remedy;
	}

	if (nsure >= table->capacity)
		remedy.status = CUCKOO_FULL;
	else if (remedy_is_colliding(table, &around, n, host))
		remedy.status = CUCKOO_COLLIDING;
	else if (table->packing.fp_bits == CUCKOO_MIN_FP_BITS)
		remedy.status = CUCKOO_FULL;
	if (remedy.status != CUCKOO_OK)
		remedy.kind = CUCKOO_REFUSE;
	return remedy;
}
