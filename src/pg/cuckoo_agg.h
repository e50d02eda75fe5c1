/*-------------------------------------------------------------------------
 *
 * cuckoo_agg.h
 *		Which aggregates are cf_agg and cf_bag_agg.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGG_H
#define CUCKOO_AGG_H

#include "fmgr.h"

/*
 * Is this aggregate cf_agg, cf_bag_agg, or one with their transition and final
 * functions?  Then its arguments are the value and up to four parameters.
 * Aggregates of other people, of whatever shape, can have any arguments.
 */
extern bool cuckoo_agg_is_ours(Oid aggregate);

/* Is it cf_hash_agg, of which the same is true with a hash for the value? */
extern bool cuckoo_agg_is_of_hashes(Oid aggregate);

/* cuckoo_hash_agg.c: what tells that an aggregate is cf_hash_agg */
extern PGDLLEXPORT Datum cf_hash_agg_transition(PG_FUNCTION_ARGS);

#endif							/* CUCKOO_AGG_H */
