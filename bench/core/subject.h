/*-------------------------------------------------------------------------
 *
 * subject.h
 *		What the bench times: one filter implementation behind one table of
 *		functions.
 *
 * Every loop that is timed is inside the implementation, so that the compiler
 * may inline there what it would inline for a real caller.  Hashes are given,
 * not computed: both subjects would spend the same on that.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Subject
{
	/*
	 * An empty filter for capacity values at a rate of 2^-62 times rate; a
	 * full-size one has its final table from the start, else it grows.  NULL
	 * if the subject has no such filter.
	 */
	void	   *(*create) (uint64_t capacity, uint64_t rate, bool full_size);
	void		(*destroy) (void *filter);

	/* add hashes; returns how many were refused */
	size_t		(*add) (void *filter, const uint64_t *hashes, size_t nhashes);

	/* take out one copy of each; returns how many were not there */
	size_t		(*remove) (void *filter, const uint64_t *hashes,
						   size_t nhashes);

	/* look up hashes in a loop, the lookup inlined; returns the hits */
	size_t		(*count_hits) (const void *filter, const uint64_t *hashes,
							   size_t nhashes);

	/* one lookup, called from outside as a row at a time would */
	bool		(*contains) (const void *filter, uint64_t hash);

	/* look up nhashes at once; NULL if the subject has no such thing */
	void		(*contains_batch) (const void *filter, const uint64_t *hashes,
								   size_t nhashes, bool *results);

	/*
	 * a table of twice the size to double into, and doubling into it; NULL if
	 * the subject has no such thing
	 */
	void	   *(*create_doubled) (const void *filter);
	void		(*fill_doubled) (const void *filter, void *doubled);

	/*
	 * make a filter of different hashes at once, from what sort_key() makes
	 * of them, ascending; NULL if the subject has no such thing
	 */
	void	   *(*build) (uint64_t capacity, uint64_t rate,
						  const uint64_t *keys, size_t nkeys);
	uint64_t	(*sort_key) (uint64_t hash);

	/* bits of a fingerprint, used slots over all slots, and bytes */
	void		(*describe) (const void *filter, int *fp_bits,
							 double *load_factor, size_t *bytes);
} Subject;

/*
 * our filter from this tree, a plain one, ours from another tree, and two
 * shapes of somebody else's
 */
#ifdef __cplusplus
extern "C"
{
#endif
extern const Subject core_subject;
extern const Subject plain_subject;
extern const Subject base_subject;
extern const Subject single_subject;
extern const Subject packed_subject;
#ifdef __cplusplus
}
#endif

#endif							/* SUBJECT_H */
