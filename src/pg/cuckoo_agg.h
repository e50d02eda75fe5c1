/*-------------------------------------------------------------------------
 *
 * cuckoo_agg.h
 *		Which aggregates are cf_agg and cf_bag_agg.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_AGG_H
#define CUCKOO_AGG_H

/*
 * Is this aggregate cf_agg, cf_bag_agg, or one with their transition and final
 * functions?  Then its arguments are the value and up to four parameters.
 * Aggregates of other people, of whatever shape, can have any arguments.
 */
extern bool cuckoo_agg_is_ours(Oid aggregate);

#endif							/* CUCKOO_AGG_H */
