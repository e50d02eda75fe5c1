/*-------------------------------------------------------------------------
 *
 * cuckoo_table.c
 *		The table: k * 2^q buckets of four slots.
 *
 * Reference: Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo Filter:
 * Practically Better Than Bloom", CoNEXT 2014.
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "cuckoo_search.h"
#include "cuckoo_table.h"

/* Probes of a batch under way at a time. */
#define BATCH_PROBES	32

/* Buckets looked at to estimate something, at most. */
#define SAMPLE_BUCKETS	1024

/*
 * table_note_bucket
 *		Note a bucket that is about to be written.
 */
static inline void
table_note_bucket(CuckooJournal *journal, uint64_t bucket, const uint64_t *fps)
{
	CuckooUndo *const undo = &journal->undos[journal->nundos++];

	CuckooAssert(journal->nundos <= journal->room);
	undo->bucket = bucket;
	memcpy(undo->fps, fps, sizeof(undo->fps));
}

/*
 * table_note_path
 *		Note the buckets from that of a node to the root.
 *
 * Returns false if there is no room for all of them.
 */
static bool
table_note_path(CuckooJournal *journal, const CuckooSearch *search,
				const CuckooFilter *filter, int node)
{
	for (; node != CUCKOO_NO_PARENT; node = search->nodes[node].parent)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		if (journal->nundos == journal->room)
			return false;
		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter),
						   cuckoo_search_bucket(search, node), fps);
		table_note_bucket(journal, cuckoo_search_bucket(search, node), fps);
	}
	return true;
}

/*
 * table_insert_by_relocation
 *		Insert where both buckets are full: make a free slot come nearer.
 *
 * The moves are made from the free slot back to the root, each into a slot
 * that is free by then; the buckets of a path are all different, so what the
 * search saw of each still stands when its turn comes.
 */
static CuckooStatus
table_insert_by_relocation(CuckooFilter *filter, const CuckooPlace *places,
						   CuckooJournal *journal)
{
	uint8_t    *const table = cuckoo_header_body(filter);
	const CuckooPacking *const packing = &filter->packing;
	CuckooSearch search;
	int			node;
	int			path_length = 0;
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	node = cuckoo_search_free_slot(&search, filter, places);
	if (node < 0 ||
		(journal != NULL && !table_note_path(journal, &search, filter, node)))
		return CUCKOO_NO_ROOM;

	/* fps is the bucket of node, with a free slot, not written yet */
	cuckoo_bucket_read(packing, table, cuckoo_search_bucket(&search, node), fps);
	while (search.nodes[node].parent != CUCKOO_NO_PARENT)
	{
		const int	child = node;
		const int	slot = search.nodes[node].slot;
		uint64_t	parent_fps[CUCKOO_BUCKET_SLOTS];
		CuckooPlace place;

		node = search.nodes[node].parent;
		cuckoo_bucket_read(packing, table, cuckoo_search_bucket(&search, node),
						   parent_fps);
		place.bucket = search.nodes[node].bucket;
		place.fp = parent_fps[slot];
		cuckoo_fps_delete(parent_fps, slot);

		place = cuckoo_table_alternate(&search.block, place);
		CuckooAssert(place.bucket == search.nodes[child].bucket);
		cuckoo_fps_insert(fps, place.fp);
		cuckoo_bucket_write(packing, table, cuckoo_search_bucket(&search,
																 child), fps);

		memcpy(fps, parent_fps, sizeof(fps));
		path_length++;
	}

	cuckoo_fps_insert(fps, cuckoo_search_bucket(&search,
												node) == places[0].bucket ?
					  places[0].fp : places[1].fp);
	cuckoo_bucket_write(packing, table, cuckoo_search_bucket(&search, node),
						fps);

	cuckoo_table_count_moves(filter, path_length);
	return CUCKOO_OK;
}

/*
 * table_contains_probes
 *		cuckoo_table_contains() for at most BATCH_PROBES hashes.
 *
 * In rounds, so that the probes do not wait for each other: first all ask for
 * their memory.  In wider buckets than a word, those that fail on the
 * remainders are then told from the others, without a branch, as that would go
 * either way; and the others are looked at.
 */
static void
table_contains_probes(const CuckooFilter *filter, const uint64_t *hashes,
					  size_t nhashes, bool *results)
{
	const CuckooPacking *const packing = &filter->packing;
	const uint8_t *const table = cuckoo_header_body(filter);
	CuckooPlace places[BATCH_PROBES][2];
	CuckooCandidates candidates[BATCH_PROBES];
	size_t		others[BATCH_PROBES];
	size_t		nothers = 0;

	for (size_t i = 0; i < nhashes; i++)
	{
		cuckoo_table_places(&filter->geometry,
							cuckoo_table_hash_address(filter, hashes[i]),
							places[i]);

		/*
		 * The bytes that are loaded of a bucket, in one or two cache lines.
		 * (Not a function of its own: gcc 12 would find that it has no effect
		 * and leave it out.)
		 */
		for (int j = 0; j < 2; j++)
		{
			const uint8_t *const p = table +
				cuckoo_table_bucket_byte(filter, places[i][j].bucket);

			cuckoo_prefetch(p);
			cuckoo_prefetch(p + 9 + packing->rem_bits / 4);
		}
	}
	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS))
	{
		for (size_t i = 0; i < nhashes; i++)
			results[i] = cuckoo_places_match_words(packing, table, places[i]);
		return;
	}
	for (size_t i = 0; i < nhashes; i++)
	{
		candidates[i] = cuckoo_places_match(packing, table, places[i]);
		results[i] = false;
		others[nothers] = i;
		nothers += candidates[i].slots != 0;
	}
	for (size_t i = 0; i < nothers; i++)
		results[others[i]] =
			cuckoo_places_confirm(packing, table, places[others[i]],
								  candidates[others[i]]);
}

/*
 * cuckoo_table_contains_batch
 *		cuckoo_table_contains() for many hashes.
 */
void
cuckoo_table_contains_batch(const CuckooFilter *filter,
							const uint64_t *hashes, size_t nhashes,
							bool *results)
{
	while (nhashes > 0)
	{
		const size_t nprobes = nhashes < BATCH_PROBES ? nhashes : BATCH_PROBES;

		table_contains_probes(filter, hashes, nprobes, results);
		hashes += nprobes;
		results += nprobes;
		nhashes -= nprobes;
	}
}

/* Both buckets of a value, where each is a word. */
typedef struct WordPair
{
	uint64_t	words[2];		/* primary, alternate */
	uint64_t	matches[2];		/* cuckoo_word_match() of each */
} WordPair;

static inline WordPair
table_load_words(const CuckooFilter *filter, const CuckooPlace *places)
{
	const CuckooPacking *const packing = &filter->packing;
	const uint8_t *const table = cuckoo_header_body(filter);
	const int	nibble = (int) (places[0].fp & 0xF);
	WordPair	pair;

	pair.words[0] = cuckoo_bucket_word(packing, table, places[0].bucket);
	pair.words[1] = cuckoo_bucket_word(packing, table, places[1].bucket);
	pair.matches[0] = cuckoo_word_match(packing, pair.words[0], places[0].fp,
										nibble);
	pair.matches[1] = cuckoo_word_match(packing, pair.words[1], places[1].fp,
										nibble);
	return pair;
}

/* Copies in both of them: most often none or one. */
static inline int
table_count_matches(const WordPair *pair)
{
	/* those of the second in the bits below those of the first */
	uint64_t	matches = pair->matches[0] | pair->matches[1] >> 1;
	int			ncopies = 0;

	for (; cuckoo_unlikely(matches != 0); matches &= matches - 1)
		ncopies++;
	return ncopies;
}

/* Copies in both places of an address together. */
static int
table_places_count(const CuckooFilter *filter, const CuckooPlace *places)
{
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];
	int			ncopies = 0;

	if (filter->packing.fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS)
	{
		const WordPair pair = table_load_words(filter, places);

		return table_count_matches(&pair);
	}
	for (int i = 0; i < 2; i++)
	{
		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter),
						   places[i].bucket, fps);
		ncopies += cuckoo_fps_count(fps, places[i].fp);
	}
	return ncopies;
}

/*
 * cuckoo_table_count
 *		Copies of what has this address, in both places together.
 */
int
cuckoo_table_count(const CuckooFilter *filter, CuckooAddress address)
{
	CuckooPlace places[2];

	cuckoo_table_places(&filter->geometry, address, places);
	return table_places_count(filter, places);
}

/*
 * table_count_added, table_count_removed
 *		Keep the number of entries.
 *
 * That of a damaged table can be wrong; it stays one that a header can have.
 */
static inline void
table_count_added(CuckooFilter *filter)
{
	if (cuckoo_likely(filter->nentries < cuckoo_header_nslots(filter)))
		filter->nentries++;
}

static inline void
table_count_removed(CuckooFilter *filter)
{
	if (cuckoo_likely(filter->nentries > 0))
		filter->nentries--;
}

/*
 * table_note_place
 *		Note the bucket of a place, if there is a journal.
 *
 * Returns false if that has no room.
 */
static inline bool
table_note_place(CuckooJournal *journal, const CuckooFilter *filter,
				 CuckooPlace place)
{
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	if (journal == NULL)
		return true;
	if (journal->nundos == journal->room)
		return false;
	cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter),
					   place.bucket, fps);
	table_note_bucket(journal, place.bucket, fps);
	return true;
}

/*
 * table_add_to_words
 *		Add one more copy of what has these places, where a bucket is a word.
 *
 * Which of the buckets it goes to is not a branch, as that would go either
 * way.
 */
static inline CuckooStatus
table_add_to_words(CuckooFilter *filter, const CuckooPlace *places,
				   CuckooJournal *journal)
{
	const CuckooPacking *const packing = &filter->packing;
	const uint8_t *const table = cuckoo_header_body(filter);
	const uint64_t primary = cuckoo_bucket_word(packing, table,
												places[0].bucket);
	const uint64_t alternate = cuckoo_bucket_word(packing, table,
												  places[1].bucket);
	uint64_t	is_primary;
	uint64_t	word;
	CuckooPlace place;

	/* the remainders tell most values that are there from the others */
	if (cuckoo_unlikely((cuckoo_word_match_rems(packing, primary, places[0].fp) |
						 cuckoo_word_match_rems(packing, alternate,
												places[1].fp)) != 0) &&
		table_places_count(filter, places) >= filter->max_copies)
		return CUCKOO_SATURATED;

	is_primary = 0 - (uint64_t) cuckoo_word_has_room(packing, primary);
	word = (primary & is_primary) | (alternate & ~is_primary);
	place.bucket = (places[0].bucket & is_primary) |
		(places[1].bucket & ~is_primary);
	place.fp = (places[0].fp & is_primary) | (places[1].fp & ~is_primary);
	if (cuckoo_unlikely(!cuckoo_word_has_room(packing, word)))
		return table_insert_by_relocation(filter, places, journal);

	if (!table_note_place(journal, filter, place))
		return CUCKOO_NO_ROOM;
	cuckoo_bucket_change_word(packing, cuckoo_header_body(filter),
							  place.bucket, word,
							  cuckoo_word_insert(packing, word, place.fp));
	return CUCKOO_OK;
}

/*
 * table_add_to_slots
 *		Add one more copy of what has these places, whatever the packing.
 */
static CuckooStatus
table_add_to_slots(CuckooFilter *filter, const CuckooPlace *places,
				   CuckooJournal *journal)
{
	uint8_t    *const table = cuckoo_header_body(filter);
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	if (cuckoo_places_contain(&filter->packing, table, places) &&
		table_places_count(filter, places) >= filter->max_copies)
		return CUCKOO_SATURATED;

	for (int i = 0; i < 2; i++)
	{
		if (!cuckoo_bucket_has_room(&filter->packing, table, places[i].bucket))
			continue;
		if (!table_note_place(journal, filter, places[i]))
			return CUCKOO_NO_ROOM;
		cuckoo_bucket_read(&filter->packing, table, places[i].bucket, fps);
		cuckoo_fps_insert(fps, places[i].fp);
		cuckoo_bucket_write(&filter->packing, table, places[i].bucket, fps);
		return CUCKOO_OK;
	}
	return table_insert_by_relocation(filter, places, journal);
}

/*
 * cuckoo_table_add_logged
 *		Add one more copy of what has this address, with what it overwrites
 *		noted in a journal, if there is one.
 *
 * Fan et al., CoNEXT 2014, Algorithm 1, with the shortest relocation in place
 * of a random one: a free slot of the primary bucket, else of the alternate,
 * else the nearest one.
 *
 * Returns CUCKOO_OK, or with the filter as it was CUCKOO_SATURATED or
 * CUCKOO_NO_ROOM, which is also the answer where the journal has none.
 */
CuckooStatus
cuckoo_table_add_logged(CuckooFilter *filter, CuckooAddress address,
						CuckooJournal *journal)
{
	CuckooPlace places[2];
	CuckooStatus status;

	cuckoo_table_places(&filter->geometry, address, places);
	status = cuckoo_likely(filter->packing.fp_bits <=
						   CUCKOO_MAX_WHOLE_FP_BITS) ?
		table_add_to_words(filter, places, journal) :
		table_add_to_slots(filter, places, journal);
	if (cuckoo_likely(status == CUCKOO_OK))
		table_count_added(filter);
	return status;
}

/*
 * cuckoo_table_undo
 *		Put back all buckets in a journal but the first nundos, the one noted
 *		last first, and take them out of it.
 *
 * The header is the caller's to put back.
 */
void
cuckoo_table_undo(CuckooFilter *filter, CuckooJournal *journal, size_t nundos)
{
	while (journal->nundos > nundos)
	{
		const CuckooUndo *const undo = &journal->undos[--journal->nundos];

		cuckoo_bucket_write(&filter->packing, cuckoo_header_body(filter),
							undo->bucket, undo->fps);
	}
}

/*
 * table_remove_from_words
 *		Take out one copy of what has these places, where a bucket is a word.
 *
 * Which bucket it is taken from is not a branch, as that would go either way.
 */
static inline CuckooStatus
table_remove_from_words(CuckooFilter *filter, const CuckooPlace *places)
{
	const CuckooPacking *const packing = &filter->packing;
	const WordPair pair = table_load_words(filter, places);
	const uint64_t matches = pair.matches[0] | pair.matches[1] >> 1;
	uint64_t	is_primary;
	uint64_t	word;
	uint64_t	match;
	uint64_t	bucket;
	int			ncopies = 1;

	if (cuckoo_unlikely(matches == 0))
		return CUCKOO_NOT_FOUND;
	if (cuckoo_unlikely((matches & (matches - 1)) != 0))
		ncopies = table_count_matches(&pair);
	if (cuckoo_unlikely(ncopies >= filter->max_copies))
		return CUCKOO_SATURATED;

	is_primary = 0 - (uint64_t) (pair.matches[0] != 0);
	word = (pair.words[0] & is_primary) | (pair.words[1] & ~is_primary);
	match = (pair.matches[0] & is_primary) | (pair.matches[1] & ~is_primary);
	bucket = (places[0].bucket & is_primary) |
		(places[1].bucket & ~is_primary);
	cuckoo_bucket_change_word(packing, cuckoo_header_body(filter), bucket, word,
							  cuckoo_word_delete(packing, word, match));
	return CUCKOO_OK;
}

/*
 * table_remove_from_slots
 *		Take out one copy of what has these places, whatever the packing.
 */
static CuckooStatus
table_remove_from_slots(CuckooFilter *filter, const CuckooPlace *places)
{
	uint8_t    *const table = cuckoo_header_body(filter);
	const int	ncopies = table_places_count(filter, places);
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	if (ncopies == 0)
		return CUCKOO_NOT_FOUND;
	if (ncopies >= filter->max_copies)
		return CUCKOO_SATURATED;

	for (int i = 0; i < 2; i++)
	{
		cuckoo_bucket_read(&filter->packing, table, places[i].bucket, fps);
		if (cuckoo_fps_remove(fps, places[i].fp))
		{
			cuckoo_bucket_write(&filter->packing, table, places[i].bucket, fps);
			break;
		}
	}
	return CUCKOO_OK;
}

/*
 * cuckoo_table_remove
 *		Take out one copy of what has this address.
 *
 * From the primary bucket, else from the alternate (Fan et al., CoNEXT 2014,
 * Algorithm 3): two bucket reads, at most one write.  Removing what was never
 * added can take out another value's copy.
 *
 * Returns CUCKOO_OK, or with the filter as it was CUCKOO_NOT_FOUND or
 * CUCKOO_SATURATED.
 */
CuckooStatus
cuckoo_table_remove(CuckooFilter *filter, CuckooAddress address)
{
	CuckooPlace places[2];
	CuckooStatus status;

	cuckoo_table_places(&filter->geometry, address, places);
	status = cuckoo_likely(filter->packing.fp_bits <=
						   CUCKOO_MAX_WHOLE_FP_BITS) ?
		table_remove_from_words(filter, places) :
		table_remove_from_slots(filter, places);
	if (cuckoo_likely(status == CUCKOO_OK))
		table_count_removed(filter);
	return status;
}

/*
 * cuckoo_table_note
 *		Note in a journal what cuckoo_table_remove() may overwrite.
 *
 * Returns false if that has no room.
 */
bool
cuckoo_table_note(const CuckooFilter *filter, CuckooAddress address,
				  CuckooJournal *journal)
{
	CuckooPlace places[2];

	cuckoo_table_places(&filter->geometry, address, places);
	return table_note_place(journal, filter, places[0]) &&
		table_note_place(journal, filter, places[1]);
}

#ifdef CUCKOO_ASSERT_CHECKING
/*
 * table_assert_check
 *		Every invariant of a table that has just been made of a sound one.
 */
static void
table_assert_check(const CuckooFilter *table)
{
	uint64_t	position;

	CuckooAssert(cuckoo_header_status(table) == CUCKOO_OK);
	CuckooAssert(table->image_bytes == cuckoo_header_image_bytes(table));
	CuckooAssert(table->is_doubtful ||
				 cuckoo_table_check(table, NULL, &position) == CUCKOO_OK);
}
#else
#define table_assert_check(table)	((void) 0)
#endif

/*
 * cuckoo_table_double
 *		Split every bucket in two.
 *
 * doubled has the header of filter but one more index bit, and an image of the
 * size for it, whose body this overwrites.  The first bit of each fingerprint
 * becomes the last of its index and names the child; what is left of the
 * fingerprints stays in order.
 */
void
cuckoo_table_double(const CuckooFilter *filter, CuckooFilter *doubled,
					const CuckooHost *host)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const uint8_t *const table = cuckoo_header_body(filter);
	uint8_t    *const doubled_table = cuckoo_header_body(doubled);
	const int	child_fp_bits = filter->packing.fp_bits - 1;

	CuckooAssert(doubled->packing.fp_bits == child_fp_bits);

	memset(doubled_table, 0, doubled->image_bytes - CUCKOO_HEADER_BYTES);
	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];
		uint64_t	child_fps[2][CUCKOO_BUCKET_SLOTS] = {{0}};
		int			nfree[2] = {CUCKOO_BUCKET_SLOTS, CUCKOO_BUCKET_SLOTS};

		if (bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);

		/* from the last to the first, each child is filled from its end */
		cuckoo_bucket_read(&filter->packing, table, bucket, fps);
		for (int slot = CUCKOO_BUCKET_SLOTS;
			 slot-- > 0 && cuckoo_fp_is_used(fps[slot]);)
		{
			const int	child = (int) (fps[slot] >> child_fp_bits);

			child_fps[child][--nfree[child]] =
				fps[slot] & cuckoo_low_bits(child_fp_bits);
		}
		for (int child = 0; child < 2; child++)
		{
			const CuckooPlace place = {
				bucket, (uint64_t) child << child_fp_bits
			};
			const CuckooAddress address =
				cuckoo_table_address(&filter->geometry, place);

			if (nfree[child] < CUCKOO_BUCKET_SLOTS)
				cuckoo_bucket_write(&doubled->packing, doubled_table,
									cuckoo_table_place(&doubled->geometry,
													   address).bucket,
									child_fps[child]);
		}
	}
	table_assert_check(doubled);
}

/*
 * cuckoo_table_truncate
 *		Cut every fingerprint to fewer prefix bits.
 *
 * coarser has the header of filter but fewer prefix bits, and an image of the
 * size for it, whose body this overwrites.  Bucket by bucket, so it cannot
 * fail.  Values whose prefixes become equal share their copies from now on:
 * more than max_copies are dropped, which is what adding both would have done.
 */
void
cuckoo_table_truncate(const CuckooFilter *filter, CuckooFilter *coarser,
					  const CuckooHost *host)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const uint8_t *const table = cuckoo_header_body(filter);
	uint8_t    *const coarser_table = cuckoo_header_body(coarser);
	const int	ncut = filter->geometry.prefix_bits -
		coarser->geometry.prefix_bits;

	memset(coarser_table, 0, coarser->image_bytes - CUCKOO_HEADER_BYTES);
	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];
		uint64_t	cut_fps[CUCKOO_BUCKET_SLOTS] = {0};

		if (bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);

		cuckoo_bucket_read(&filter->packing, table, bucket, fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			if (cuckoo_fp_is_used(fps[slot]))
				cuckoo_fps_insert(cut_fps,
								  cuckoo_prefix_cut(fps[slot], ncut));
		}
		cuckoo_bucket_write(&coarser->packing, coarser_table, bucket, cut_fps);
	}
	cuckoo_table_drop_copies(coarser, host);
	table_assert_check(coarser);
}

/*
 * A value met in an unpacked bucket: its copies there and in its other bucket.
 */
typedef struct MetValue
{
	CuckooAddress address;
	CuckooAddress alternate;
	CuckooPlace place;
	CuckooPlace other;
	int			nhere;
	int			nthere;
} MetValue;

/* Copies of a fingerprint in a bucket. */
static inline int
table_bucket_count(const CuckooFilter *filter, CuckooPlace place)
{
	const CuckooPacking *const packing = &filter->packing;
	const uint8_t *const table = cuckoo_header_body(filter);
	uint64_t	fps[CUCKOO_BUCKET_SLOTS];

	/* most often none */
	if (cuckoo_likely(packing->fp_bits <= CUCKOO_MAX_WHOLE_FP_BITS) &&
		cuckoo_word_match(packing,
						  cuckoo_bucket_word(packing, table, place.bucket),
						  place.fp, (int) (place.fp & 0xF)) == 0)
		return 0;
	if (packing->fp_bits <= CUCKOO_MAX_PAIR_FP_BITS &&
		cuckoo_bucket_match(packing, table, place.bucket, place.fp) == 0)
		return 0;
	cuckoo_bucket_read(packing, table, place.bucket, fps);
	return cuckoo_fps_count(fps, place.fp);
}

/*
 * table_meet_value
 *		Look at the value in a slot of an unpacked bucket, once per table.
 *
 * start is the address that a fingerprint of zero would have there.
 *
 * Returns false if there is none, or if it is to be dealt with elsewhere: at
 * an earlier slot of this bucket, or in its other bucket if that comes first
 * (or, if both are one, at the smaller of the two fingerprints).
 */
static inline bool
table_meet_value(const CuckooFilter *filter, uint64_t bucket,
				 CuckooAddress start,
				 const uint64_t *fps, int slot, MetValue *met)
{
	const CuckooGeometry *const geometry = &filter->geometry;

	if (!cuckoo_fp_is_used(fps[slot]) ||
		(slot > 0 && fps[slot - 1] == fps[slot]))
		return false;

	met->place.bucket = bucket;
	met->place.fp = fps[slot];
	met->address.column = start.column;
	met->address.prefix = start.prefix | fps[slot];
	met->alternate = cuckoo_alternate_address(met->address,
											  geometry->ncolumns,
											  geometry->prefix_bits);
	met->other = cuckoo_table_place(geometry, met->alternate);
	met->nhere = cuckoo_fps_count(fps, met->place.fp);
	met->nthere = table_bucket_count(filter, met->other);
	return met->nthere == 0 ||
		met->place.bucket < met->other.bucket ||
		(met->place.bucket == met->other.bucket &&
		 met->place.fp < met->other.fp);
}

/* The address of a fingerprint of zero in a bucket. */
static inline CuckooAddress
table_bucket_start(const CuckooFilter *filter, uint64_t bucket)
{
	const CuckooPlace place = {bucket, 0};

	return cuckoo_table_address(&filter->geometry, place);
}

/*
 * cuckoo_table_walk
 *		Go to the next value: one of its two addresses, and its copies at both.
 *
 * Returns false when there is none left.
 */
bool
cuckoo_table_walk(const CuckooFilter *filter, CuckooWalk *walk,
				  const CuckooHost *host)
{
	MetValue	met;

	for (;;)
	{
		while (walk->nslots > 0)
		{
			if (table_meet_value(filter, walk->next_bucket - 1, walk->start,
								 walk->fps, --walk->nslots, &met))
			{
				walk->address = met.address;
				walk->alternate = met.alternate;
				walk->ncopies = met.nhere + met.nthere;
				return true;
			}
		}

		if (walk->next_bucket == cuckoo_geometry_nbuckets(&filter->geometry))
			return false;
		if (walk->next_bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);
		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter),
						   walk->next_bucket, walk->fps);
		walk->start = table_bucket_start(filter, walk->next_bucket);
		walk->next_bucket++;
		walk->nslots = CUCKOO_BUCKET_SLOTS;
	}
}

/*
 * cuckoo_table_estimate_values
 *		About how many different values the entries stand for.
 *
 * From SAMPLE_BUCKETS buckets spread over the table: each entry is one of so
 * many copies, which may be in either of its buckets.
 */
double
cuckoo_table_estimate_values(const CuckooFilter *filter)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const uint64_t step = nbuckets / SAMPLE_BUCKETS + 1;
	uint64_t	nentries = 0;
	double		nvalues = 0;

	for (uint64_t bucket = 0; bucket < nbuckets; bucket += step)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter),
						   bucket, fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			const CuckooPlace place = {bucket, fps[slot]};
			int			ncopies;

			if (!cuckoo_fp_is_used(fps[slot]))
				continue;
			ncopies = cuckoo_table_count(filter,
										 cuckoo_table_address(&filter->geometry,
															  place));
			nvalues += 1.0 / (ncopies > 1 ? ncopies : 1);
			nentries++;
		}
	}
	return nentries == 0 ? (double) filter->nentries :
		(double) filter->nentries * (nvalues / (double) nentries);
}

/*
 * cuckoo_table_copies_above
 *		The copies beyond nallowed that each value has, summed up.
 */
uint64_t
cuckoo_table_copies_above(const CuckooFilter *filter, int nallowed,
						  const CuckooHost *host)
{
	CuckooWalk	walk = {0};
	uint64_t	nabove = 0;

	while (cuckoo_table_walk(filter, &walk, host))
	{
		if (walk.ncopies > nallowed)
			nabove += (uint64_t) (walk.ncopies - nallowed);
	}
	return nabove;
}

/*
 * table_drop_copies_of
 *		Leave a value met in a bucket no more than ncopies.
 *
 * fps is that bucket, and follows.
 */
static void
table_drop_copies_of(CuckooFilter *filter, MetValue *met, uint64_t *fps,
					 int ncopies)
{
	uint8_t    *const table = cuckoo_header_body(filter);
	uint64_t	other_fps[CUCKOO_BUCKET_SLOTS];

	cuckoo_bucket_read(&filter->packing, table, met->other.bucket, other_fps);
	for (; met->nhere + met->nthere > ncopies && met->nthere > 0; met->nthere--)
	{
		cuckoo_fps_remove(other_fps, met->other.fp);
		table_count_removed(filter);
	}
	cuckoo_bucket_write(&filter->packing, table, met->other.bucket, other_fps);
	if (met->other.bucket == met->place.bucket)
		memcpy(fps, other_fps, sizeof(other_fps));

	for (; met->nhere > ncopies; met->nhere--)
	{
		cuckoo_fps_remove(fps, met->place.fp);
		table_count_removed(filter);
	}
	cuckoo_bucket_write(&filter->packing, table, met->place.bucket, fps);
}

/*
 * cuckoo_table_drop_copies
 *		Take out the copies of each value beyond max_copies.
 *
 * The value keeps max_copies of them, is saturated, and so is never lost.
 */
void
cuckoo_table_drop_copies(CuckooFilter *filter, const CuckooHost *host)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);

	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];
		MetValue	met;

		if (bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);
		cuckoo_bucket_read(&filter->packing, cuckoo_header_body(filter), bucket,
						   fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
		{
			if (table_meet_value(filter, bucket, table_bucket_start(filter,
																	bucket), fps,
								 slot, &met) &&
				met.nhere + met.nthere > filter->max_copies)
			{
				table_drop_copies_of(filter, &met, fps, filter->max_copies);
				slot = -1;		/* the slots have moved: look at all again */
			}
		}
	}
}

/*
 * cuckoo_table_check
 *		Is this a table that the functions above can have made?
 *
 * Any entry can stand anywhere: every column, index and fingerprint together
 * are an address that some hash has.  So what can be wrong is a bucket by
 * itself, the bits after the last one, the number of entries, and a value
 * with too many copies.
 *
 * *position is set to the bucket that is not as it should be.
 */
CuckooStatus
cuckoo_table_check(const CuckooFilter *filter, const CuckooHost *host,
				   uint64_t *position)
{
	const uint64_t nbuckets = cuckoo_geometry_nbuckets(&filter->geometry);
	const uint8_t *const table = cuckoo_header_body(filter);
	const uint64_t table_bits =
		nbuckets * (uint64_t) filter->packing.bucket_bits;
	uint64_t	nentries = 0;
	CuckooWalk	walk = {0};

	for (uint64_t bucket = 0; bucket < nbuckets; bucket++)
	{
		uint64_t	fps[CUCKOO_BUCKET_SLOTS];

		if (bucket % CUCKOO_POLL_INTERVAL == 0)
			cuckoo_poll(host);
		*position = bucket;
		if (!cuckoo_bucket_is_sound(&filter->packing, table, bucket))
			return CUCKOO_BAD_BUCKET;
		cuckoo_bucket_read(&filter->packing, table, bucket, fps);
		for (int slot = 0; slot < CUCKOO_BUCKET_SLOTS; slot++)
			nentries += fps[slot] != 0;
	}

	*position = nbuckets;
	if (table_bits % 8 != 0 && table[table_bits / 8] >> (table_bits % 8) != 0)
		return CUCKOO_BAD_TAIL;
	for (int i = 0; i < CUCKOO_PAD_BYTES; i++)
	{
		if (table[(table_bits + 7) / 8 + (uint64_t) i] != 0)
			return CUCKOO_BAD_TAIL;
	}

	if (nentries != filter->nentries)
		return CUCKOO_BAD_COUNT;

	while (cuckoo_table_walk(filter, &walk, host))
	{
		*position = walk.next_bucket - 1;
		if (walk.ncopies > filter->max_copies)
			return CUCKOO_BAD_COPIES;
	}
	return CUCKOO_OK;
}
