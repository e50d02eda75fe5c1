/*-------------------------------------------------------------------------
 *
 * cuckoo_toast.c
 *		Reading pieces of one value in a TOAST table.
 *
 * The server's detoast_attr_slice() reads one piece.  A probe wants three
 * small ones, and spends most of its time on opening the TOAST table and its
 * index for each and on copying chunks.  Here they are opened once, a chunk is
 * found by going on in the index where that is near, and the bytes are taken
 * from the buffer.  Of the chunks in between only index entries are read.
 *
 * A TOAST table is laid out as its access method likes; this knows that of the
 * heap (see heap_fetch_toast_slice() in the server).  Others, and compressed
 * values, are left to detoast_attr_slice().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/pg_am.h"
#include "executor/tuptable.h"
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

	Relation	table;			/* NULL if it is left to the server */
	Relation   *indexes;
	int			nindexes;
	SnapshotData snapshot;
	ScanKeyData keys[3];
	SysScanDesc scan;
	int32		last;			/* chunk of the value */
	int32		next;			/* chunk that the scan comes to next, */
	int32		end;			/* and the one it stops before */

	int32		chunk;			/* the chunk at hand, or -1, */
	const uint8 *data;			/* in a buffer that the scan has pinned, */
	size_t		data_bytes;
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
 * Should an error come before it is closed, the resource owner and the memory
 * context close it.
 */
CuckooToast *
cuckoo_toast_open(struct varlena *datum)
{
	CuckooToast *const toast = palloc0(sizeof(CuckooToast));
	int			valid;

	toast->datum = datum;
	toast->chunk = -1;
	if (!VARATT_IS_EXTERNAL_ONDISK(datum))
		return toast;
	VARATT_EXTERNAL_GET_POINTER(toast->pointer, datum);
	if (VARATT_EXTERNAL_IS_COMPRESSED(toast->pointer))
		return toast;

	toast->table = table_open(toast->pointer.va_toastrelid, AccessShareLock);
	if (toast->table->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		table_close(toast->table, AccessShareLock);
		toast->table = NULL;
		return toast;
	}

	valid = toast_open_indexes(toast->table, AccessShareLock,
							   &toast->indexes, &toast->nindexes);
	ScanKeyInit(&toast->keys[0], CHUNK_ID, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(toast->pointer.va_valueid));
	ScanKeyInit(&toast->keys[1], CHUNK_SEQ, BTGreaterEqualStrategyNumber,
				F_INT4GE, Int32GetDatum(0));
	ScanKeyInit(&toast->keys[2], CHUNK_SEQ, BTLessStrategyNumber,
				F_INT4LT, Int32GetDatum(0));
	toast->last = (int32)
		((VARATT_EXTERNAL_GET_EXTSIZE(toast->pointer) - 1) /
		 TOAST_MAX_CHUNK_SIZE);
	toast_set_bounds(toast, 0);
	toast->scan =
		systable_beginscan_ordered(toast->table, toast->indexes[valid],
								   cuckoo_toast_snapshot(&toast->snapshot),
								   lengthof(toast->keys), toast->keys);
	return toast;
}

/*
 * toast_go_to_chunk
 *		Have a chunk at hand.
 */
static void
toast_go_to_chunk(CuckooToast *toast, int32 chunk)
{
	TupleTableSlot *const slot = toast->scan->slot;
	struct varlena *data;
	bool		isnull;
	int32		found = -1;

	if (chunk < toast->next || chunk >= toast->end)
	{
		toast_set_bounds(toast, chunk);
		index_rescan(toast->scan->iscan, toast->keys, lengthof(toast->keys),
					 NULL, 0);
	}

	/* there may be dead ones among them, so that it comes later */
	toast->chunk = -1;
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

	data = (struct varlena *)
		DatumGetPointer(slot_getattr(slot, CHUNK_DATA, &isnull));
	toast->data = (const uint8 *) VARDATA_ANY(data);
	toast->data_bytes = VARSIZE_ANY_EXHDR(data);
	toast->chunk = chunk;
	toast->next = chunk + 1;
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
			toast_go_to_chunk(toast, chunk);
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
	if (toast->table != NULL)
	{
		systable_endscan_ordered(toast->scan);
		toast_close_indexes(toast->indexes, toast->nindexes, AccessShareLock);
		table_close(toast->table, AccessShareLock);
	}
	pfree(toast);
}
