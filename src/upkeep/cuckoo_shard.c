/*-------------------------------------------------------------------------
 *
 * cuckoo_shard.c
 *		Which of several filters a value is in.
 *
 * The shard comes of a hash of its own.  Filters of values that were chosen by
 * bits of the hash that the filter takes would have more false positives than
 * they say.  docs/format.md specifies it, and it does not change.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cuckoo_shard.h"

PG_FUNCTION_INFO_V1(cf_shard);

/* The seed of the hash; filters may have any. */
#define SHARD_SEED	UINT64CONST(0x5555555555555555)

/*
 * cuckoo_shard_of
 *		A number from 0 to nshards - 1: the upper 64 bits of the product of hash
 *		and nshards.
 *
 * Trailing blanks of a text do not count, so that it is looked for in the
 * filter that has an equal char(n).
 */
int32
cuckoo_shard_of(CuckooHasher *hasher, Datum value, int32 nshards)
{
	const uint64 hash = cuckoo_hasher_family(hasher) == CUCKOO_FAMILY_TEXT ?
		cuckoo_hash_text_as_char(hasher, value, SHARD_SEED) :
		cuckoo_hash_value(hasher, value, SHARD_SEED);
	const uint64 low = (hash & 0xFFFFFFFF) * (uint64) nshards;
	const uint64 high = (hash >> 32) * (uint64) nshards;

	return (int32) ((high + (low >> 32)) >> 32);
}

/*
 * cf_shard(value, shards)
 *		The shard of a value, as cf_attach() spreads them.
 */
Datum
cf_shard(PG_FUNCTION_ARGS)
{
	const int32 nshards = PG_GETARG_INT32(1);

	if (nshards < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be at least 1"),
				 errdetail("It is %d.", nshards)));
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = cuckoo_hasher_for_argument(fcinfo, 0);
	PG_RETURN_INT32(cuckoo_shard_of(fcinfo->flinfo->fn_extra,
									PG_GETARG_DATUM(0), nshards));
}
