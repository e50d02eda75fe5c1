/*-------------------------------------------------------------------------
 *
 * cuckoo_hasher.h
 *		SQL values to canonical key bytes, and those to hashes.
 *
 * The key bytes of a value are part of the stored format: docs/format.md
 * gives them for every family, to the byte.  Two values of one family have
 * the same key bytes exactly if SQL "=" calls them equal.  Key bytes do not
 * depend on byte order, the signedness of char, OIDs, the server's encoding,
 * its hash functions, any setting, or how a value happens to be stored.
 *
 * A call site (one FmgrInfo) makes its CuckooHasher once and hashes any number
 * of values with it:
 *
 *	hasher = fcinfo->flinfo->fn_extra;
 *	if (hasher == NULL)
 *		fcinfo->flinfo->fn_extra = hasher =
 *			cuckoo_hasher_for_argument(fcinfo, 1);
 *	hash = cuckoo_hash_value(hasher, PG_GETARG_DATUM(1), seed);
 *
 * Types that are not listed in docs/format.md, text under a nondeterministic
 * collation and types with an equality of their own are refused with an
 * error, since equal values could hash differently.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_HASHER_H
#define CUCKOO_HASHER_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/typcache.h"

#include "cuckoo_family.h"
#include "cuckoo_label.h"

/*
 * How key bytes are had: made on the stack, found where they lie, or put
 * together in a buffer.
 */
typedef enum KeyForm
{
	KEY_FORM_SMALL,
	KEY_FORM_STRING,
	KEY_FORM_BUILT
} KeyForm;

/* How a value becomes key bytes; hasher_form() tells the form of each. */
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

	KEY_FIXED,					/* typlen bytes behind a pointer, as they are */
	KEY_VARLENA,				/* the bytes of a varlena, as they are */
	KEY_TEXT,					/* a varlena converted to UTF-8 */
	KEY_BPCHAR,
	KEY_NAME,
	KEY_CSTRING,				/* unknown, inside ROW() */
	KEY_CHAR,					/* "char", one byte */
	KEY_ENUM,

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
 * value.  For cuckoo_hasher.c and cuckoo_key.c only.
 */
typedef struct CuckooHasher
{
	KeyKind		kind;
	KeyForm		form;			/* of the kind */
	CuckooFamily family;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool		follows_catalogs;	/* see cuckoo_hasher_follows_catalogs() */
	Oid			type;			/* domains resolved */
	MemoryContext mcxt;			/* holds this struct and its caches */
	MemoryContext scratch;		/* made when first needed, only by the one the
								 * caller has, not by those below it */
	struct CuckooHasher *element;	/* of an array, of a range's bounds, of a
									 * multirange's ranges */
	TypeCacheEntry *typcache;	/* of a range or multirange */
	struct RecordLayout *layout;	/* of the last record, or NULL */
	CuckooLabels *labels;		/* of an enum, or NULL */
} CuckooHasher;

/*
 * Each of these returns a new CuckooHasher or raises an error.  The first two
 * take type and collation from the call and allocate in fn_mcxt: the type of
 * argument argno (from 0), or the type of the elements of that argument,
 * which is an array.
 */
extern CuckooHasher *cuckoo_hasher_for_argument(FunctionCallInfo fcinfo,
												int argno);
extern CuckooHasher *cuckoo_hasher_for_elements(FunctionCallInfo fcinfo,
												int argno);
extern CuckooHasher *cuckoo_hasher_for_type(Oid type, Oid collation,
											MemoryContext mcxt);

/*
 * Raise the error that a value of the type would raise.  A CuckooHasher learns
 * of the fields of a record with the first one only; here they are looked up,
 * also those of records within.  desc is the row type of an anonymous record,
 * which has no other name, else NULL.
 */
extern void cuckoo_hasher_require_type(Oid type, Oid collation, TupleDesc desc);

/*
 * A key for the planner, which has no use for an error: NULL for a type or
 * collation that would be refused, and for one that has parts to look into.
 */
extern CuckooHasher *cuckoo_hasher_for_estimate(Oid type, Oid collation,
												MemoryContext mcxt);

/*
 * The type and collation that cuckoo_hasher_for_argument() goes by, or an error
 * if nothing tells.  For a caller whose key has to outlive fn_mcxt, such as an
 * aggregate state under an executor that makes a FmgrInfo for each row.
 */
extern void cuckoo_hasher_argument_type(FunctionCallInfo fcinfo, int argno,
										Oid *type, Oid *collation);

/* The family of all values of the type. */
extern CuckooFamily cuckoo_hasher_family(const CuckooHasher *hasher);

/*
 * Do the key bytes follow from more than the bytes of a value?  Those of an
 * enum are its label, which can be renamed; those of a record depend on its
 * row type, which can gain and lose columns.  The hash of such a value must
 * not be remembered.
 */
extern bool cuckoo_hasher_follows_catalogs(const CuckooHasher *hasher);

/* The type hashed, domains resolved, and how its values are stored. */
extern Oid	cuckoo_hasher_type(const CuckooHasher *hasher);
extern void cuckoo_hasher_storage(const CuckooHasher *hasher, int16 *typlen,
								  bool *typbyval, char *typalign);

#endif							/* CUCKOO_HASHER_H */
