/*-------------------------------------------------------------------------
 *
 * cuckoo_label.h
 *		Labels of enum values, in UTF-8.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_LABEL_H
#define CUCKOO_LABEL_H

typedef struct CuckooLabel
{
	Oid			value;			/* hash key */
	uint32		nbytes;
	char	   *bytes;
} CuckooLabel;

typedef struct CuckooLabels CuckooLabels;

/*
 * The label of an enum value, valid until the next call.  *labels is what is
 * remembered, NULL at first; it lives in mcxt.
 */
extern const CuckooLabel *cuckoo_label_find(CuckooLabels **labels, Oid value,
											MemoryContext mcxt);

#endif							/* CUCKOO_LABEL_H */
