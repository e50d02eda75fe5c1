/*-------------------------------------------------------------------------
 *
 * cuckoo_toast.h
 *		Reading pieces of one value in a TOAST table.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_TOAST_H
#define CUCKOO_TOAST_H

#include "storage/block.h"
#include "storage/off.h"

/*
 * Where the first chunk of a value is, and what wrote it.  Only a hint: what
 * stands there is checked each time.
 */
typedef struct CuckooToastPlace
{
	bool		is_known;
	OffsetNumber offset;
	BlockNumber block;
	TransactionId xmin;			/* as it stands in the tuple */
} CuckooToastPlace;

/* A value that is open for reading; made by the first and freed by the last. */
typedef struct CuckooToast CuckooToast;

extern CuckooToast *cuckoo_toast_open(struct varlena *datum,
									  CuckooToastPlace *place);
extern void cuckoo_toast_read(CuckooToast *toast, uint64 offset, size_t nbytes,
							  uint8 *bytes);
extern void cuckoo_toast_close(CuckooToast *toast);

#endif							/* CUCKOO_TOAST_H */
