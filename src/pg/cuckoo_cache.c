/*-------------------------------------------------------------------------
 *
 * cuckoo_cache.c
 *		Stored filters that are kept in memory while a query probes them.
 *
 * One cache per backend, so that its bound, cuckoo_filter.cache_size, is one
 * however many call sites a plan has, and the scans of many partitions share
 * one copy of a filter.  It lives as long as any call site that has used it:
 * each attaches the memory context it is in.  When the last of these is gone,
 * which is at the end of the query or of the transaction at the latest, so is
 * everything here.
 *
 * What is stored under a TOAST pointer never changes: an updated filter is
 * another value under another identifier.  So an entry is right for as long as
 * somebody holds the pointer, whatever happens to the row, and under any
 * snapshot.  An identifier could be given away again only after all four
 * billion others, within the life of one query.
 *
 * Least recently used entries go first.  An entry is a pointer that is valid
 * until cuckoo_cache_generation changes, or something is entered or kept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "cuckoo_cache.h"

/* What an entry takes, hash table included, about. */
#define ENTRY_BYTES		(sizeof(CuckooCached) + 8 * sizeof(void *))

int			cuckoo_cache_size = 64 * 1024;
uint64		cuckoo_cache_generation = 0;

static MemoryContext cache_mcxt = NULL; /* NULL if there is no cache */
static HTAB *cache_table;
static dlist_head cache_lru;	/* the most recently used one first */
static size_t cache_bytes;		/* of all entries */
static int	cache_nusers;		/* contexts attached */

/*
 * cache_detach
 *		A user of the cache is gone.  Does not fail.
 */
static void
cache_detach(void *arg)
{
	Assert(cache_nusers > 0);
	if (--cache_nusers == 0)
	{
		MemoryContextDelete(cache_mcxt);
		cache_mcxt = NULL;
		cuckoo_cache_generation++;
	}
}

/*
 * cuckoo_cache_attach
 *		Make the cache if there is none, and let it live as long as a context.
 */
void
cuckoo_cache_attach(MemoryContext user)
{
	MemoryContextCallback *const callback =
		MemoryContextAllocZero(user, sizeof(MemoryContextCallback));

	if (cache_mcxt == NULL)
	{
		const MemoryContext mcxt =
			AllocSetContextCreate(TopMemoryContext, "cuckoo filter cache",
								  ALLOCSET_DEFAULT_SIZES);
		HASHCTL		control;

		memset(&control, 0, sizeof(control));
		control.keysize = sizeof(struct varatt_external);
		control.entrysize = sizeof(CuckooCached);
		control.hcxt = mcxt;
		cache_table = hash_create("cuckoo filter cache", 64, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		dlist_init(&cache_lru);
		cache_bytes = 0;
		cache_mcxt = mcxt;
	}

	callback->func = cache_detach;
	MemoryContextRegisterResetCallback(user, callback);
	cache_nusers++;
}

/* Bytes that an entry counts for. */
static size_t
cache_entry_bytes(const CuckooCached *cached)
{
	return ENTRY_BYTES +
		(cached->mcxt != NULL ? cached->filter.image_bytes : 0);
}

static size_t
cache_limit(void)
{
	return (size_t) cuckoo_cache_size * 1024;
}

static void
cache_evict(CuckooCached *cached)
{
	cache_bytes -= cache_entry_bytes(cached);
	dlist_delete(&cached->lru);
	if (cached->mcxt != NULL)
		MemoryContextDelete(cached->mcxt);
	hash_search(cache_table, &cached->pointer, HASH_REMOVE, NULL);
	cuckoo_cache_generation++;
}

/*
 * cache_make_room
 *		Evict until so many bytes more are within the bound.
 *
 * needed is the entry that they are for, if there is one already: it stays.
 */
static void
cache_make_room(size_t nbytes, const CuckooCached *needed)
{
	while (cache_bytes + nbytes > cache_limit() && !dlist_is_empty(&cache_lru))
	{
		CuckooCached *const oldest = dlist_tail_element(CuckooCached, lru,
														&cache_lru);

		if (oldest == needed)
			break;
		cache_evict(oldest);
	}
}

/*
 * cuckoo_cache_find
 *		The entry of a stored filter, or NULL.
 */
CuckooCached *
cuckoo_cache_find(const struct varatt_external *pointer)
{
	CuckooCached *cached;

	if (cache_mcxt == NULL)
		return NULL;
	cached = hash_search(cache_table, pointer, HASH_FIND, NULL);
	if (cached != NULL)
		cuckoo_cache_touch(cached);
	return cached;
}

/*
 * cuckoo_cache_touch
 *		Note that an entry is in use.
 */
void
cuckoo_cache_touch(CuckooCached *cached)
{
	dlist_move_head(&cache_lru, &cached->lru);
}

/*
 * cuckoo_cache_enter
 *		Make an entry for a stored filter that has none.
 *
 * header and place are copied.  Returns NULL if the cache is turned off.
 */
CuckooCached *
cuckoo_cache_enter(const struct varatt_external *pointer,
				   const CuckooFilter *header, const CuckooToastPlace *place)
{
	CuckooCached *cached;
	bool		found;

	cache_make_room(ENTRY_BYTES, NULL);
	if (ENTRY_BYTES > cache_limit())
		return NULL;

	cached = hash_search(cache_table, pointer, HASH_ENTER, &found);
	Assert(!found);
	cached->filter = *header;
	cached->filter.image = NULL;
	cached->place = *place;
	cached->mcxt = NULL;
	cached->spent = 0;
	dlist_push_head(&cache_lru, &cached->lru);
	cache_bytes += cache_entry_bytes(cached);
	return cached;
}

/*
 * cuckoo_cache_would_keep
 *		Is there room for a whole filter, if all else has to go?
 */
bool
cuckoo_cache_would_keep(uint64 image_bytes)
{
	return ENTRY_BYTES + image_bytes <= cache_limit();
}

/*
 * cuckoo_cache_keep
 *		Keep a whole filter, whose image is in a context of its own.
 *
 * The entry is in use just now, so it is not among those that have to go.
 */
void
cuckoo_cache_keep(CuckooCached *cached, MemoryContext mcxt,
				  const CuckooFilter *filter)
{
	Assert(cached->mcxt == NULL &&
		   cuckoo_cache_would_keep(filter->image_bytes));

	cache_make_room(filter->image_bytes, cached);
	MemoryContextSetParent(mcxt, cache_mcxt);
	cached->filter = *filter;
	cached->mcxt = mcxt;
	cache_bytes += filter->image_bytes;
}
