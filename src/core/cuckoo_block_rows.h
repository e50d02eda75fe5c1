/*-------------------------------------------------------------------------
 *
 * cuckoo_block_rows.h
 *		What is done to the rows of a block, for slots of one width.
 *
 * Included by cuckoo_block.c once for each width, with these defined:
 *
 *	ROW_SLOT		the type of a slot: uint16_t, uint32_t or uint64_t
 *	ROW_BITS		its bits, at least those of a fingerprint
 *	ROW_NAME(name)	the name of a function for this width
 *
 * A slot is cuckoo_fp_sort_key() in that width: the nibble in its highest bits,
 * the remainder in its lowest.  0 is a free slot.
 *
 *-------------------------------------------------------------------------
 */
#define ROW_NIBBLE_SHIFT	(ROW_BITS - 4)

/* The two places of a value in the block. */
typedef struct ROW_NAME(BlockPlaces)
{
	uint32_t	buckets[2];
	ROW_SLOT	slots[2];
} ROW_NAME(BlockPlaces);

/* The permanent bits of what is in a slot. */
static inline uint32_t
ROW_NAME(block_perm) (ROW_SLOT slot)
{
	return (uint32_t) ((slot & 0xF) << 4 | slot >> ROW_NIBBLE_SHIFT);
}

static inline ROW_SLOT *
ROW_NAME(block_slot) (const CuckooBlock *block, int slot, uint32_t bucket)
{
	return (ROW_SLOT *) block->rows + (size_t) slot * block->stride + bucket;
}

/* The other place of what stands in a bucket. */
static inline void
ROW_NAME(block_alternate) (const CuckooBlock *block, uint32_t bucket,
						   ROW_SLOT slot, uint32_t *other_bucket,
						   ROW_SLOT *other_slot)
{
	const uint32_t perm = ROW_NAME(block_perm) (slot);

	*other_bucket = block_other_bucket(block, bucket, perm);
	*other_slot = (ROW_SLOT) (slot ^ block->fp_flips[perm] >> 4);
}

/*
 * block_places
 *		Both places of an ordered hash.
 *
 * Its highest 32 bits are the last variable bits, then come the permanent
 * bits, the 16 that give the column, and the first 8 variable bits.
 */
static inline void
ROW_NAME(block_places) (const CuckooBlock *block, uint64_t ordered,
						ROW_NAME(BlockPlaces) *places)
{
	const CuckooGeometry *const geometry = &block->geometry;
	const int	fp_bits = geometry->prefix_bits - geometry->index_bits;
	const uint32_t low_byte = (uint32_t) (ordered >> 24) & 0xFF;
	const uint32_t perm = low_byte + (low_byte == 0);
	const uint64_t variable = (ordered & 0xFF) << 32 | ordered >> 32;
	const uint64_t rest = variable >> (48 - geometry->prefix_bits) &
		cuckoo_low_bits(fp_bits - CUCKOO_PERM_BITS);
	const uint32_t column = (uint32_t)
		((ordered >> 8 & 0xFFFF) * geometry->ncolumns >> 16);

	places->buckets[0] = column << block->block_bits |
		(uint32_t) (variable >> (40 - block->block_bits));
	places->slots[0] = (ROW_SLOT) ((ROW_SLOT) (perm & 0xF) << ROW_NIBBLE_SHIFT |
								   rest << 4 | perm >> 4);
	places->buckets[1] = block_other_bucket(block, places->buckets[0], perm);
	places->slots[1] = (ROW_SLOT) (places->slots[0] ^
								   block->fp_flips[perm] >> 4);
}

/*
 * block_place
 *		Put values of the block where there is more room.
 *
 * Into the primary bucket if both have as much.  Where neither has any, the
 * value goes to the row that nothing is read from, and waits.  Nothing
 * branches on any of this.
 *
 * Returns how many were placed: all, unless too many wait.
 */
static size_t
ROW_NAME(block_place) (CuckooBlock *block, const uint64_t *ordered,
					   size_t nordered)
{
	uint8_t    *const loads = block->loads;
	uint64_t   *const waiting = block->waiting;
	uint32_t	nwaiting = block->nwaiting;
	size_t		i;

	for (i = 0; i < nordered && nwaiting < block->nbuckets; i++)
	{
		ROW_NAME(BlockPlaces) places;
		uint32_t	load;
		uint32_t	other_load;
		uint32_t	is_other;
		uint32_t	bucket;

		ROW_NAME(block_places) (block, ordered[i], &places);
		load = loads[places.buckets[0]];
		other_load = loads[places.buckets[1]];
		is_other = 0 - (uint32_t) (other_load < load);
		bucket = places.buckets[0] ^
			((places.buckets[0] ^ places.buckets[1]) & is_other);
		load ^= (load ^ other_load) & is_other;

		*ROW_NAME(block_slot) (block, (int) load, bucket) = (ROW_SLOT)
			(places.slots[0] ^ ((places.slots[0] ^ places.slots[1]) &
								(0 - (ROW_SLOT) (is_other & 1))));
		loads[bucket] = (uint8_t) (load + (load < CUCKOO_BUCKET_SLOTS));
		waiting[nwaiting] = ordered[i];
		nwaiting += load == CUCKOO_BUCKET_SLOTS;
	}
	block->nwaiting = nwaiting;
	return i;
}

/* Put the slots of two rows in order, in as many buckets as there are lanes. */
static inline void
ROW_NAME(block_order_rows) (ROW_SLOT *restrict low, ROW_SLOT *restrict high)
{
	for (int i = 0; i < LANES; i++)
	{
		const ROW_SLOT a = low[i];
		const ROW_SLOT b = high[i];

		low[i] = a < b ? a : b;
		high[i] = a < b ? b : a;
	}
}

/*
 * block_order
 *		Put the slots of all buckets in order, free ones first.
 *
 * Notes for each group of buckets whether a fingerprint is at least nequal
 * times in one of them.
 */
static void
ROW_NAME(block_order) (CuckooBlock *block, int nequal)
{
	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket += LANES)
	{
		ROW_SLOT   *const row0 = ROW_NAME(block_slot) (block, 0, bucket);
		ROW_SLOT   *const row1 = row0 + block->stride;
		ROW_SLOT   *const row2 = row1 + block->stride;
		ROW_SLOT   *const row3 = row2 + block->stride;
		ROW_SLOT	found = 0;

		ROW_NAME(block_order_rows) (row0, row1);
		ROW_NAME(block_order_rows) (row2, row3);
		ROW_NAME(block_order_rows) (row0, row2);
		ROW_NAME(block_order_rows) (row1, row3);
		ROW_NAME(block_order_rows) (row1, row2);

		for (int slot = 0; slot + nequal <= CUCKOO_BUCKET_SLOTS; slot++)
		{
			const ROW_SLOT *const first = row0 + (size_t) slot * block->stride;
			const ROW_SLOT *const last =
				first + (size_t) (nequal - 1) * block->stride;

			for (int i = 0; i < LANES; i++)
				found |= (ROW_SLOT) ((first[i] == last[i]) & (first[i] != 0));
		}
		block->crowds[bucket / LANES] = found != 0;
	}
}

/* Copies of a slot in a bucket. */
static inline int
ROW_NAME(block_count) (const CuckooBlock *block, uint32_t bucket,
					   ROW_SLOT slot)
{
	int			ncopies = 0;

	for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		ncopies += *ROW_NAME(block_slot) (block, i, bucket) == slot;
	return ncopies;
}

/* Put a slot into a bucket with a free one, and keep the order. */
static inline void
ROW_NAME(block_insert) (CuckooBlock *block, uint32_t bucket, ROW_SLOT slot)
{
	ROW_SLOT   *place = ROW_NAME(block_slot) (block, 0, bucket);

	CuckooAssert(*place == 0);
	for (int i = 1; i < CUCKOO_BUCKET_SLOTS; i++)
	{
		ROW_SLOT   *const next = place + block->stride;

		if (*next >= slot)
			break;
		*place = *next;
		place = next;
	}
	*place = slot;
	block->loads[bucket]++;
}

/* Empty a slot of a bucket, and keep the order. */
static inline void
ROW_NAME(block_delete) (CuckooBlock *block, uint32_t bucket, int slot)
{
	for (; slot > 0; slot--)
		*ROW_NAME(block_slot) (block, slot, bucket) =
			*ROW_NAME(block_slot) (block, slot - 1, bucket);
	*ROW_NAME(block_slot) (block, 0, bucket) = 0;
	block->loads[bucket]--;
}

/* Take so many copies of a slot out of a bucket. */
static void
ROW_NAME(block_drop) (CuckooBlock *block, uint32_t bucket, ROW_SLOT slot,
					  int ncopies)
{
	for (int i = 0; i < CUCKOO_BUCKET_SLOTS && ncopies > 0; i++)
	{
		if (*ROW_NAME(block_slot) (block, i, bucket) == slot)
		{
			ROW_NAME(block_delete) (block, bucket, i);
			ncopies--;
		}
	}
}

/*
 * block_drop_surplus
 *		Leave the values in a bucket no more than max_copies.
 *
 * What is too much is taken from the later of the two places of a value first,
 * as cuckoo_table_drop_copies() does.
 */
static void
ROW_NAME(block_drop_surplus) (CuckooBlock *block, CuckooFilter *table,
							  uint32_t bucket)
{
	for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
	{
		const ROW_SLOT slot = *ROW_NAME(block_slot) (block, i, bucket);
		uint32_t	other_bucket;
		ROW_SLOT	other_slot;
		int			nhere;
		int			nthere;
		int			nsurplus;
		int			nlater;

		if (slot == 0 ||
			(i > 0 && slot == *ROW_NAME(block_slot) (block, i - 1, bucket)))
			continue;
		ROW_NAME(block_alternate) (block, bucket, slot, &other_bucket,
								   &other_slot);
		nhere = ROW_NAME(block_count) (block, bucket, slot);
		nthere = ROW_NAME(block_count) (block, other_bucket, other_slot);
		nsurplus = nhere + nthere - table->max_copies;
		if (nsurplus <= 0)
			continue;

		table->nentries -= (uint64_t) nsurplus;
		/* the nibbles are the same, so that slots compare as fingerprints */
		if (other_bucket > bucket ||
			(other_bucket == bucket && other_slot > slot))
		{
			nlater = nthere < nsurplus ? nthere : nsurplus;
			ROW_NAME(block_drop) (block, other_bucket, other_slot, nlater);
			ROW_NAME(block_drop) (block, bucket, slot, nsurplus - nlater);
		}
		else
		{
			nlater = nhere < nsurplus ? nhere : nsurplus;
			ROW_NAME(block_drop) (block, bucket, slot, nlater);
			ROW_NAME(block_drop) (block, other_bucket, other_slot,
								  nsurplus - nlater);
		}
		i = -1;					/* the slots have moved: look at all again */
	}
}

/*
 * block_search
 *		cuckoo_search_free_slot(), in a block.
 */
static int
ROW_NAME(block_search) (CuckooBlock *block, BlockSearch *search,
						const uint32_t *buckets)
{
	search->nnodes = 0;
	block_visit(block, search, buckets[0], CUCKOO_NO_PARENT, 0);
	block_visit(block, search, buckets[1], CUCKOO_NO_PARENT, 0);
	for (int i = 0; i < search->nnodes; i++)
	{
		const uint32_t bucket = search->nodes[i].bucket;

		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			const uint32_t perm =
				ROW_NAME(block_perm) (*ROW_NAME(block_slot) (block, slot,
															 bucket));
			const uint32_t next = block_other_bucket(block, bucket, perm);

			if (search->nnodes == CUCKOO_MAX_SEARCH)
				return -1;
			if (block_visit(block, search, next, i, slot) &&
				block->loads[next] < CUCKOO_BUCKET_SLOTS)
				return search->nnodes - 1;
		}
	}
	return -1;
}

/*
 * block_relocate
 *		Insert where both buckets are full: make a free slot come nearer.
 *
 * The moves are those of cuckoo_table_add_logged().
 */
static CuckooStatus
ROW_NAME(block_relocate) (CuckooBlock *block, CuckooFilter *table,
						  const ROW_NAME(BlockPlaces) *places)
{
	BlockSearch search;
	int			node = ROW_NAME(block_search) (block, &search, places->buckets);
	int			path_length = 0;

	block_forget_visits(block, &search);
	if (node < 0)
		return CUCKOO_NO_ROOM;

	while (search.nodes[node].parent != CUCKOO_NO_PARENT)
	{
		const CuckooSearchNode *const child = &search.nodes[node];
		const CuckooSearchNode *const parent = &search.nodes[child->parent];
		uint32_t	other_bucket;
		ROW_SLOT	other_slot;

		ROW_NAME(block_alternate) (block, parent->bucket,
								   *ROW_NAME(block_slot) (block, child->slot,
														  parent->bucket),
								   &other_bucket, &other_slot);
		CuckooAssert(other_bucket == child->bucket);
		ROW_NAME(block_insert) (block, child->bucket, other_slot);
		ROW_NAME(block_delete) (block, parent->bucket, child->slot);
		node = child->parent;
		path_length++;
	}
	ROW_NAME(block_insert) (block, search.nodes[node].bucket,
							places->slots[search.nodes[node].bucket !=
										  places->buckets[0]]);
	cuckoo_table_count_moves(table, path_length);
	return CUCKOO_OK;
}

/*
 * block_prefetch
 *		Ask for the slots of a value that is to be added soon.
 */
static inline void
ROW_NAME(block_prefetch) (const CuckooBlock *block, uint64_t ordered)
{
	ROW_NAME(BlockPlaces) places;

	ROW_NAME(block_places) (block, ordered, &places);
	for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
	{
		cuckoo_prefetch(ROW_NAME(block_slot) (block, i, places.buckets[0]));
		cuckoo_prefetch(ROW_NAME(block_slot) (block, i, places.buckets[1]));
	}
}

/*
 * block_add_waiting
 *		Add a value that found no free slot, now that the slots are in order.
 */
static CuckooStatus
ROW_NAME(block_add_waiting) (CuckooBlock *block, CuckooFilter *table,
							 uint64_t ordered)
{
	ROW_NAME(BlockPlaces) places;

	ROW_NAME(block_places) (block, ordered, &places);
	if (ROW_NAME(block_count) (block, places.buckets[0], places.slots[0]) +
		ROW_NAME(block_count) (block, places.buckets[1], places.slots[1]) >=
		table->max_copies)
		return CUCKOO_SATURATED;
	for (int i = 0; i < 2; i++)
	{
		if (block->loads[places.buckets[i]] < CUCKOO_BUCKET_SLOTS)
		{
			ROW_NAME(block_insert) (block, places.buckets[i], places.slots[i]);
			return CUCKOO_OK;
		}
	}
	return ROW_NAME(block_relocate) (block, table, &places);
}

#if ROW_BITS > 16
/*
 * block_pack
 *		Write all buckets to the table.
 */
static void
ROW_NAME(block_pack) (const CuckooBlock *block, CuckooFilter *table)
{
	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			const ROW_SLOT slot = *ROW_NAME(block_slot) (block, i, bucket);

			fps[i] = ((uint64_t) slot << 4 | slot >> ROW_NIBBLE_SHIFT) &
				cuckoo_low_bits(table->packing.fp_bits);
		}
		cuckoo_bucket_write(&table->packing, cuckoo_header_body(table),
							block->first_bucket + bucket, fps);
	}
}
#endif

/*
 * block_finish
 *		Do all that is to be done when the values of a block have come.
 */
static CuckooStatus
ROW_NAME(block_finish) (CuckooBlock *block, CuckooFilter *table,
						const CuckooHost *host)
{
	CuckooStatus status = CUCKOO_OK;

	/* of more copies than max_copies, more than half are in one bucket */
	ROW_NAME(block_order) (block, (table->max_copies + 2) / 2);
	cuckoo_poll(host);
	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket++)
	{
		if (cuckoo_unlikely(block->crowds[bucket / LANES] != 0))
			ROW_NAME(block_drop_surplus) (block, table, bucket);
	}
	for (uint32_t i = 0; i < block->nwaiting; i++)
	{
		/* a value waits because its buckets are full: it has to relocate */
		if (i % (CUCKOO_POLL_INTERVAL / 4) == 0)
			cuckoo_poll(host);
		if (i + PREFETCH_WAITING < block->nwaiting)
			ROW_NAME(block_prefetch) (block,
									  block->waiting[i + PREFETCH_WAITING]);
		status = ROW_NAME(block_add_waiting) (block, table, block->waiting[i]);
		if (status == CUCKOO_NO_ROOM)
		{
			block->homeless = block->waiting[i];
			break;
		}
		table->nentries += status == CUCKOO_OK;
	}
#if ROW_BITS == 16
	block_pack_words(block, table);
#else
	ROW_NAME(block_pack) (block, table);
#endif
	return status == CUCKOO_NO_ROOM ? status : CUCKOO_OK;
}

/* The slots of a bucket of a block that is read. */
static inline ROW_SLOT *
ROW_NAME(block_bucket) (const CuckooBlock *block, uint32_t bucket)
{
	return (ROW_SLOT *) block->rows + (size_t) bucket * CUCKOO_BUCKET_SLOTS;
}

/*
 * block_read
 *		Unpack all buckets of the table.
 */
static void
ROW_NAME(block_read) (CuckooBlock *block, const CuckooFilter *table)
{
	for (uint32_t bucket = 0; bucket < block->nbuckets; bucket++)
	{
		ROW_SLOT   *const slots = ROW_NAME(block_bucket) (block, bucket);
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		cuckoo_bucket_read(&table->packing, cuckoo_header_body(table),
						   block->first_bucket + bucket, fps);
		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
			slots[i] = (ROW_SLOT)
				((ROW_SLOT) (fps[i] & 0xF) << ROW_NIBBLE_SHIFT | fps[i] >> 4);
	}
}

/*
 * block_other_count
 *		Copies in the other bucket of what stands in one.
 */
static inline uint32_t
ROW_NAME(block_other_count) (const CuckooBlock *block, uint32_t bucket,
							 ROW_SLOT slot)
{
	uint32_t	other_bucket;
	ROW_SLOT	other_slot;
	const ROW_SLOT *others;

	ROW_NAME(block_alternate) (block, bucket, slot, &other_bucket,
							   &other_slot);
	others = ROW_NAME(block_bucket) (block, other_bucket);
	return (uint32_t) (others[0] == other_slot) + (others[1] == other_slot) +
		(others[2] == other_slot) + (others[3] == other_slot);
}

/*
 * block_keys
 *		cuckoo_block_keys(), for slots of one width.
 *
 * Every slot is written as a key; what is none is written over.
 */
static size_t
ROW_NAME(block_keys) (const CuckooBlock *block, uint32_t column,
					  bool add_copies, uint64_t *keys)
{
	const CuckooGeometry *const geometry = &block->geometry;
	const int	rest_bits = cuckoo_geometry_fp_bits(geometry) -
		CUCKOO_PERM_BITS;
	const uint64_t first_bit = (uint64_t) 1 <<
		(geometry->index_bits + rest_bits - 1);
	const uint32_t nindexes = (uint32_t) 1 << block->block_bits;
	size_t		nkeys = 0;

	for (uint32_t index = 0; index < nindexes; index++)
	{
		const uint32_t bucket = column << block->block_bits | index;
		const ROW_SLOT *const slots = ROW_NAME(block_bucket) (block, bucket);
		const uint64_t start =
			((uint64_t) index << (geometry->index_bits - block->block_bits) |
			 block->number) << rest_bits;
		uint32_t	nbefore = 0;

		for (int i = 0; i < CUCKOO_BUCKET_SLOTS; i++)
		{
			const ROW_SLOT slot = slots[i];
			const uint32_t perm = ROW_NAME(block_perm) (slot);
			uint64_t	variable = start |
				(slot >> 4 & cuckoo_low_bits(rest_bits));
			uint32_t	key_column = column;
			uint32_t	number;

			nbefore = i > 0 && slot == slots[i - 1] ? nbefore + 1 : 0;
			number = nbefore;
			if ((variable & first_bit) != 0)
			{
				key_column = block_other_bucket(block, bucket, perm) >>
					block->block_bits;
				variable ^= block->variable_flips[perm];
				if (!add_copies)
					number += ROW_NAME(block_other_count) (block, bucket,
														   slot);
			}
			keys[nkeys] = block_key(block, key_column, variable, perm,
									add_copies ? 0 : number);
			nkeys += perm != 0 && number < CUCKOO_MAX_COPIES;
		}
	}
	return nkeys;
}

#undef ROW_NIBBLE_SHIFT
#undef ROW_SLOT
#undef ROW_BITS
#undef ROW_NAME
