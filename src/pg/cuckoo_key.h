/*-------------------------------------------------------------------------
 *
 * cuckoo_key.h
 *		What resolving a type finds, for making its key bytes.
 *
 * Between cuckoo_hasher.c and cuckoo_key.c only; everybody else includes
 * cuckoo_hasher.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_KEY_H
#define CUCKOO_KEY_H

#include "utils/hsearch.h"
#include "utils/typcache.h"

#include "cuckoo_hasher.h"

/*
 * How a value becomes key bytes.  The order matters: up to KEY_LAST_SMALL
 * small_key() makes them, up to KEY_LAST_STRING string_key() finds them, the
 * rest append_key() puts together.
 */
typedef enum KeyKind
{
	KEY_INT2,
	KEY_INT4,					/* date too */
	KEY_INT8,					/* timestamps, time and pg_lsn too */
	KEY_FLOAT4,
	KEY_FLOAT8,
	KEY_BOOL,
	KEY_OID,
	KEY_TIMETZ,
	KEY_INTERVAL,
	KEY_INET,
	KEY_LAST_SMALL = KEY_INET,

	KEY_FIXED,					/* typlen bytes behind a pointer, as they are */
	KEY_VARLENA,				/* the bytes of a varlena, as they are */
	KEY_TEXT,					/* a varlena converted to UTF-8 */
	KEY_BPCHAR,
	KEY_NAME,
	KEY_CSTRING,				/* unknown, inside ROW() */
	KEY_CHAR,					/* "char", one byte */
	KEY_ENUM,
	KEY_LAST_STRING = KEY_ENUM,

	KEY_NUMERIC,
	KEY_BIT,
	KEY_JSONB,
	KEY_ARRAY,
	KEY_RECORD,
	KEY_RANGE,
	KEY_MULTIRANGE
} KeyKind;

/*
 * How the values of one type become key bytes, and what is kept from value to
 * value.
 */
struct CuckooHasher
{
	KeyKind		kind;
	CuckooFamily family;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Oid			type;			/* domains resolved */
	MemoryContext mcxt;			/* holds this struct and its caches */
	MemoryContext scratch;		/* made when first needed, only by the key the
								 * caller has, not by those below it */
	CuckooHasher *element;		/* of an array, of a range's bounds, of a
								 * multirange's ranges */
	TypeCacheEntry *typcache;	/* of a range or multirange */
	struct RecordLayout *layout;	/* of the last record, or NULL */
	MemoryContext label_mcxt;	/* of the two that follow, or NULL */
	HTAB	   *labels;			/* EnumLabel by value */
	struct EnumLabel *last_label;	/* the one used last, or NULL */
	uint64		label_generation;	/* when the first of them was read */
};

#endif							/* CUCKOO_KEY_H */
