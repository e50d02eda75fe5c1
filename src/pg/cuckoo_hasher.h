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
 *	key = fcinfo->flinfo->fn_extra;
 *	if (key == NULL)
 *		fcinfo->flinfo->fn_extra = key = cuckoo_hasher_for_argument(fcinfo, 1);
 *	hash = cuckoo_hash_value(key, PG_GETARG_DATUM(1), seed);
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

#include "../cuckoo_format.h"

/* How the values of one type become key bytes. */
typedef struct CuckooHasher CuckooHasher;

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
extern CuckooFamily cuckoo_hasher_family(const CuckooHasher *key);

/* The type hashed, domains resolved, and how its values are stored. */
extern Oid	cuckoo_hasher_type(const CuckooHasher *key);
extern void cuckoo_hasher_storage(const CuckooHasher *key, int16 *typlen,
								  bool *typbyval, char *typalign);

/*
 * The hash of a value that is not NULL.  A toasted value is detoasted; what
 * that takes is freed again before the call returns.
 */
extern uint64 cuckoo_hash_value(CuckooHasher *key, Datum value, uint64 seed);

/*
 * For messages: the word for a family ("number"), never NULL, and the cast
 * that makes a value one of that family ("::bigint"), NULL where no single
 * type stands for the family (arrays, records, ranges, none).
 */
extern const char *cuckoo_family_name(CuckooFamily family);
extern const char *cuckoo_family_cast(CuckooFamily family);

#endif							/* CUCKOO_HASHER_H */
