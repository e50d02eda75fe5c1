/*-------------------------------------------------------------------------
 *
 * cuckoo_toast.c
 *		Reading pieces of one value in a TOAST table.
 *
 * The server's detoast_attr_slice() reads one piece.  A probe wants three
 * small ones, and would spend most of its time on opening the TOAST table and
 * its index for each, on descending the index, and on copying chunks.  Here
 * they are opened once, and the bytes are taken from the buffer.
 *
 * The chunks of a value are written one after the other, and so many of them
 * fill a page.  So the place of the first tells where the others should be.
 * The page is read, and what is there counts only if it is that chunk of that
 * value, written by the same transaction, and visible; else the index is
 * asked.  The place may be remembered by the caller, for as long as somebody
 * holds the pointer: then the index need not be opened at all.  Where the
 * guess is wrong, as in a table with holes that were filled again, that has
 * cost the look at one page.
 *
 * The locks are kept to the end of the transaction, as that on the table with
 * the pointer is.
 *
 * A TOAST table is laid out as its access method likes; this knows that of the
 * heap (see heap_fetch_toast_slice() in the server).  Others, and compressed
 * values, are left to detoast_attr_slice(), and so could all be: without this
 * file probes are slower and nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "cuckoo_toast.h"
#include "pg_compat.h"

/* attributes of a TOAST table, and of its index */
#define CHUNK_ID		1
#define CHUNK_SEQ		2
#define CHUNK_DATA		3

/*
 * So many chunks are looked up in the index at once: a descent costs more than
 * to go on to the end of the value, if that is near, but all entries within
 * the bounds of a scan are gone through when it comes to their page.
 */
#define NEAR_CHUNKS		16

struct CuckooToast
{
	struct varlena *datum;
	struct varatt_external pointer;
	CuckooToastPlace *place;	/* of chunk 0, as far as it is known */

	Relation	table;			/* NULL if it is left to the server */
	int32		last;			/* chunk of the value */
	SnapshotData snapshot_room;
	Snapshot	snapshot;

	Relation   *indexes;		/* NULL if they are not open */
	int			nindexes;
	ScanKeyData keys[3];
	SysScanDesc scan;
	int32		next;			/* chunk that the scan comes to next, */
	int32		end;			/* and the one it stops before */

	int32		chunk;			/* the chunk at hand, or -1, */
	const uint8 *data;			/* in a buffer that is pinned by the scan, */
	size_t		data_bytes;
	Buffer		buffer;			/* or by this */
};

/*
 * toast_set_bounds
 *		Set the keys of a scan that is to begin with a chunk.
 */
static void
toast_set_bounds(CuckooToast *toast, int32 first)
{
	toast->next = first;
	toast->end = first + 1;
	if (toast->last < NEAR_CHUNKS)
		toast->end = toast->last + 1;
	toast->keys[1].sk_argument = Int32GetDatum(toast->next);
	toast->keys[2].sk_argument = Int32GetDatum(toast->end);
}

/*
 * cuckoo_toast_open
 *		Open a value that is stored out of line, or compressed.
 *
 * *place is what an earlier reading of the same value has learnt, or zero; it
 * stays the caller's.  Should an error come before the value is closed, the
 * resource owner and the memory context close it.
 */
CuckooToast *
cuckoo_toast_open(struct varlena *datum, CuckooToastPlace *place)
{
	CuckooToast *toast = palloc0(sizeof(CuckooToast));

	toast->datum = datum;
	toast->place = place;
	toast->chunk = -1;
	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return toast;
	VARATT_EXTERNAL_GET_POINTER(toast->pointer, datum);
	if (VARATT_EXTERNAL_IS_COMPRESSED(toast->pointer))
		return toast;

	toast->table = table_open(toast->pointer.va_toastrelid, AccessShareLock);
	if (toast->table->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(toast->table, NoLock);
		toast->table = NULL;
		return toast;
	}
	toast->snapshot = cuckoo_toast_snapshot(&toast->snapshot_room);
	toast->last = (int32)
		((VARATT_EXTERNAL_GET_EXTSIZE(toast->pointer) - 1) /
		 TOAST_MAX_CHUNK_SIZE);
	return toast;
}

/*
 * toast_open_index
 *		Open the index of the TOAST table, to look for a chunk first.
 */
static void
toast_open_index(CuckooToast *toast, int32 chunk)
{
	const int	valid = toast_open_indexes(toast->table, AccessShareLock,
										   &toast->indexes, &toast->nindexes);

	ScanKeyInit(&toast->keys[0], CHUNK_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(toast->pointer.va_valueid));
	ScanKeyInit(&toast->keys[1], CHUNK_SEQ, BTGreaterEqualStrategyNumber,
				F_INT4GE, Int32GetDatum(0));
	ScanKeyInit(&toast->keys[2], CHUNK_SEQ, BTLessStrategyNumber,
				F_INT4LT, Int32GetDatum(0));
	toast_set_bounds(toast, chunk);
	toast->scan =
		systable_beginscan_ordered(toast->table, toast->indexes[valid],
								   toast->snapshot, lengthof(toast->keys),
								   toast->keys);
}

/*
 * toast_have
 *		Have a chunk at hand, whose bytes are these.
 */
static void
toast_have(CuckooToast *toast, int32 chunk, Datum bytes)
{
	struct varlena *data = (struct varlena *) DatumGetPointer(bytes);

	toast->data = (const uint8 *) VARDATA_ANY(data);
	toast->data_bytes = VARSIZE_ANY_EXHDR(data);
	toast->chunk = chunk;
}

/*
 * toast_release
 *		Let go of the buffer of a chunk that was guessed right.
 */
static void
toast_release(CuckooToast *toast)
{
	if (BufferIsValid(toast->buffer))
		ReleaseBuffer(toast->buffer);
	toast->buffer = InvalidBuffer;
	toast->chunk = -1;
}

/*
 * toast_has_block
 *		Is there such a block in the table?
 *
 * While it is locked it does not become shorter, so that the length it had
 * when the server asked last will do; who made it shorter before that has told
 * us to forget that length.
 */
static bool
toast_has_block(const CuckooToast *toast, uint64 block)
{
	const BlockNumber nblocks =
		RelationGetSmgr(toast->table)->smgr_cached_nblocks[MAIN_FORKNUM];

	return (nblocks != InvalidBlockNumber && block < nblocks) ||
		block < RelationGetNumberOfBlocks(toast->table);
}

/*
 * toast_guess_chunk
 *		Have a chunk at hand if it is where it should be.
 *
 * A value whose chunks are elsewhere is not guessed again.
 */
static bool
toast_guess_chunk(CuckooToast *toast, int32 chunk)
{
	CuckooToastPlace *place = toast->place;
	const uint64 number = (uint64) place->block * EXTERN_TUPLES_PER_PAGE +
		place->offset - FirstOffsetNumber + chunk;
	const uint64 block = number / EXTERN_TUPLES_PER_PAGE;
	TupleDesc	desc = RelationGetDescr(toast->table);
	HeapTupleData tuple;
	bool		isnull;

	if (!place->is_known)
		return false;
	if (!toast_has_block(toast, block))
		return false;

	ItemPointerSet(&tuple.t_self, (BlockNumber) block,
				   FirstOffsetNumber + number % EXTERN_TUPLES_PER_PAGE);
	if (!heap_fetch(toast->table, toast->snapshot, &tuple, &toast->buffer,
					false))
		return false;
	if (HeapTupleHeaderGetRawXmin(tuple.t_data) == place->xmin &&
		DatumGetObjectId(heap_getattr(&tuple, CHUNK_ID, desc, &isnull)) ==
		toast->pointer.va_valueid &&
		DatumGetInt32(heap_getattr(&tuple, CHUNK_SEQ, desc, &isnull)) == chunk)
	{
		toast_have(toast, chunk,
				   heap_getattr(&tuple, CHUNK_DATA, desc, &isnull));
		return true;
	}
	toast_release(toast);
	place->is_known = false;
	return false;
}

/*
 * toast_note_place
 *		Remember where chunk 0 is, which the scan has come to.
 */
static void
toast_note_place(CuckooToast *toast, TupleTableSlot *slot)
{
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);

	toast->place->block = ItemPointerGetBlockNumber(&tuple->t_self);
	toast->place->offset = ItemPointerGetOffsetNumber(&tuple->t_self);
	toast->place->xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	toast->place->is_known = toast->place->offset <= EXTERN_TUPLES_PER_PAGE;
	if (should_free)
		heap_freetuple(tuple);
}

/*
 * toast_find_chunk
 *		Have a chunk at hand by way of the index.
 */
static void
toast_find_chunk(CuckooToast *toast, int32 chunk)
{
	TupleTableSlot *slot;
	bool		isnull;
	int32		found = -1;

	if (toast->indexes == NULL)
		toast_open_index(toast, chunk);
	else if (chunk < toast->next || chunk >= toast->end)
	{
		toast_set_bounds(toast, chunk);
		index_rescan(toast->scan->iscan, toast->keys, lengthof(toast->keys),
					 NULL, 0);
	}

	/* there may be dead ones among them, so that it comes later */
	slot = toast->scan->slot;
	while (found < chunk &&
		   index_getnext_tid(toast->scan->iscan, ForwardScanDirection) != NULL)
	{
		if (toast->next++ < chunk ||
			!index_fetch_heap(toast->scan->iscan, slot))
			continue;
		found = DatumGetInt32(slot_getattr(slot, CHUNK_SEQ, &isnull));
	}
	if (found != chunk)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg_internal("missing chunk number %d for toast value %u in %s",
								 chunk, toast->pointer.va_valueid,
								 RelationGetRelationName(toast->table))));

	toast_have(toast, chunk, slot_getattr(slot, CHUNK_DATA, &isnull));
	toast->next = chunk + 1;
	if (chunk == 0)
		toast_note_place(toast, slot);
}

/*
 * cuckoo_toast_read
 *		Copy some bytes of a value, which has that many.
 */
void
cuckoo_toast_read(CuckooToast *toast, uint64 offset, size_t nbytes,
				  uint8 *bytes)
{
	if (toast->table == NULL)
	{
		struct varlena *const slice =
			detoast_attr_slice(toast->datum, (int32) offset, (int32) nbytes);

		if (VARSIZE_ANY_EXHDR(slice) != nbytes)
			elog(ERROR, "toasted value is too short");
		memcpy(bytes, VARDATA_ANY(slice), nbytes);
		pfree(slice);
		return;
	}

	while (nbytes > 0)
	{
		const int32 chunk = (int32) (offset / TOAST_MAX_CHUNK_SIZE);
		const size_t start = (size_t) (offset % TOAST_MAX_CHUNK_SIZE);
		size_t		n = Min(nbytes, TOAST_MAX_CHUNK_SIZE - start);

		if (chunk != toast->chunk)
		{
			toast_release(toast);
			if (!toast_guess_chunk(toast, chunk))
				toast_find_chunk(toast, chunk);
		}
		if (start + n > toast->data_bytes)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg_internal("unexpected chunk size %zu in chunk %d for toast value %u in %s",
									 toast->data_bytes, chunk,
									 toast->pointer.va_valueid,
									 RelationGetRelationName(toast->table))));
		memcpy(bytes, toast->data + start, n);
		bytes += n;
		offset += n;
		nbytes -= n;
	}
}

/*
 * cuckoo_toast_close
 *		End reading.
 */
void
cuckoo_toast_close(CuckooToast *toast)
{
	toast_release(toast);
	if (toast->indexes != NULL)
	{
		systable_endscan_ordered(toast->scan);
		toast_close_indexes(toast->indexes, toast->nindexes, NoLock);
	}
	if (toast->table != NULL)
		table_close(toast->table, NoLock);
	pfree(toast);
}
