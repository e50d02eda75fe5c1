/*-------------------------------------------------------------------------
 *
 * cuckoo_parameters.c
 *		Parameters of filters as users give them, and what is wrong with them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "cuckoo_datum.h"
#include "cuckoo_error.h"
#include "cuckoo_parameters.h"

/*
 * parameters_capacity_hint
 *		What to do about a capacity out of range.
 */
static const char *
parameters_capacity_hint(float8 capacity)
{
	if (capacity > 0.0 && capacity < 1.0)
		return "The capacity comes first, the false positive rate second: cf_new(1000, 0.01).";
	return "Capacity is the largest number of values the filter is meant to hold.";
}

/*
 * cuckoo_parameters_capacity
 *		A capacity as users give it: at least 1, a fraction rounded up.
 *
 * Less than 1 is no capacity: more likely it is a rate in the wrong place.
 */
uint64
cuckoo_parameters_capacity(float8 capacity)
{
	if (!(capacity >= 1.0 && capacity <= (float8) CUCKOO_MAX_CAPACITY))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("capacity must be between 1 and %llu",
						(unsigned long long) CUCKOO_MAX_CAPACITY),
				 errdetail("The capacity given is %g.", capacity),
				 errhint("%s", parameters_capacity_hint(capacity))));
	return (uint64) ceil(capacity);
}

/*
 * cuckoo_parameters_rate
 *		A false positive rate as users give it, as the core takes it.
 *
 * Scaling by a power of two and cutting off the fraction round nothing that
 * another machine could round differently.  Never 0, which is no rate.
 */
uint64
cuckoo_parameters_rate(float8 fpr)
{
	if (!(fpr > 0.0 && fpr < 1.0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("false positive rate must be greater than 0 and less than 1"),
				 errdetail("The rate given is %g.", fpr),
				 errhint("The rate is a fraction: 1 %% is 0.01.")));
	return Max((uint64) ldexp(fpr, CUCKOO_RATE_BITS), 1);
}

/*
 * cuckoo_parameters_fpr_of
 *		A rate that gives cf_new() the prefix bits of a filter.
 *
 * What was asked for is not stored, but for these, which keep any rate of a
 * range from one to two.  Of that, the roundest: a power of ten, or one digit,
 * or else the finest.
 */
float8
cuckoo_parameters_fpr_of(const CuckooFilter *filter)
{
	static const float8 digits[] = {1, 5, 2, 3, 4, 6, 7, 8, 9};
	const uint32 ncolumns = filter->geometry.ncolumns;
	const int	prefix_bits = filter->geometry.prefix_bits;
	const int	full_bits = cuckoo_geometry_index_bits(ncolumns,
													   filter->capacity);
	const uint64 finest = cuckoo_geometry_rate(ncolumns, prefix_bits,
											   filter->capacity);
	float8		fpr;

	for (int i = 0; i < lengthof(digits); i++)
	{
		float8		power = i == 0 ? 100.0 : 1000.0;

		/*
		 * Powers of ten up to 10^22 are exact, so these are what is written.
		 * No filter has a rate below 9e-16, which 8 columns of 48 bits give,
		 * and none above 0.01 is looked for.  The quotient is not compared
		 * with that, as a machine may still hold it in more digits.
		 */
		for (; power <= 1e15; power *= 10.0)
		{
			fpr = digits[i] / power;
			if (cuckoo_geometry_prefix_bits(ncolumns, full_bits,
											filter->capacity,
											cuckoo_parameters_rate(fpr)) ==
				prefix_bits)
				return fpr;
		}
	}
	fpr = ldexp((float8) finest, -CUCKOO_RATE_BITS);
	return cuckoo_parameters_rate(fpr) < finest ? nextafter(fpr, 1.0) : fpr;
}

/*
 * parameters_smallest_fpr
 *		The finest rate that a filter of this capacity can have.
 *
 * A little more than that, so that it is accepted after having been printed
 * with six digits.
 */
static float8
parameters_smallest_fpr(float8 capacity)
{
	const uint64 ceiling = cuckoo_parameters_capacity(capacity);
	CuckooGeometry geometry;

	cuckoo_geometry_choose(&geometry, ceiling, CUCKOO_MAX_RATE);
	return 1.00001 * ldexp((float8) cuckoo_geometry_rate(geometry.ncolumns,
														 CUCKOO_MAX_PREFIX_BITS,
														 ceiling),
						   -CUCKOO_RATE_BITS);
}

/*
 * cuckoo_parameters_error
 *		Say why there is no filter of this capacity and rate.
 */
void
cuckoo_parameters_error(CuckooStatus status, float8 capacity, float8 fpr)
{
	switch (status)
	{
		case CUCKOO_TOO_LARGE:
			{
				const uint64 largest =
					cuckoo_geometry_max_capacity(cuckoo_parameters_rate(fpr));

				ereport(ERROR,
						(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						 errmsg("cuckoo filter would be larger than 512 MiB"),
						 errdetail("A capacity of %.0f with a false positive rate of %g needs more than that.",
								   capacity, fpr),
						 errhint("The largest capacity for this rate is %llu. For more, spread the values over several filters by cf_shard(value, shards).",
								 (unsigned long long) largest)));
				break;
			}
		case CUCKOO_BAD_RATE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("false positive rate %g is too small for a capacity of %.0f",
							fpr, capacity),
					 errhint("The smallest rate for this capacity is about %g.",
							 parameters_smallest_fpr(capacity))));
			break;
		default:
			elog(ERROR, "unexpected result of sizing a cuckoo filter: %s",
				 cuckoo_status_reason(status));
	}
}

/*
 * cuckoo_parameters_resize_error
 *		Say why a filter cannot be declared anew like this.
 *
 * capacity and fpr are those asked for, 0 if not.
 */
void
cuckoo_parameters_resize_error(CuckooStatus status, const CuckooFilter *filter,
							   uint64 capacity, float8 fpr)
{
	const uint32 ncolumns = filter->geometry.ncolumns;
	const int	prefix_bits = filter->geometry.prefix_bits;
	const unsigned long long largest = cuckoo_filter_max_resize(filter);

	if (capacity == 0)
		capacity = filter->capacity;

	switch (status)
	{
		case CUCKOO_BELOW_ENTRIES:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot resize a cuckoo filter to less than it holds"),
					 errdetail("It holds %llu entries, the capacity asked for is %llu.",
							   (unsigned long long) filter->nentries,
							   (unsigned long long) capacity),
					 errhint("Remove values first, or ask for a capacity of at least %llu.",
							 (unsigned long long) filter->nentries)));
			break;
		case CUCKOO_TOO_COARSE:
			if (cuckoo_geometry_index_bits(ncolumns, capacity) +
				CUCKOO_MIN_FP_BITS >= prefix_bits)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("cannot resize the cuckoo filter to a capacity of %llu",
								(unsigned long long) capacity),
						 errdetail("Its entries keep %d bits each, too few to tell so many values apart.",
								   prefix_bits),
						 errhint("The largest capacity it can be resized to is %llu; for more, build the filter again.",
								 largest)));
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot resize the cuckoo filter to a false positive rate of %g",
							fpr),
					 errdetail("Its entries keep %d bits each, enough for a rate of %g at a capacity of %llu.",
							   prefix_bits,
							   cuckoo_geometry_fpr(ncolumns, prefix_bits,
												   capacity),
							   (unsigned long long) capacity),
					 errhint("Build the filter again with that rate.")));
			break;
		case CUCKOO_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("cuckoo filter would be larger than 512 MiB"),
					 errdetail("The capacity asked for is %llu.",
							   (unsigned long long) capacity),
					 errhint("Give a smaller capacity or a larger false positive rate, or build several filters by cf_shard(value, shards).")));
			break;
		case CUCKOO_BAD_RATE:
			if (fpr == 0.0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("cannot resize the cuckoo filter to a capacity of %llu",
								(unsigned long long) capacity),
						 errdetail("At that capacity its false positive rate would need entries of more than %d bits.",
								   CUCKOO_MAX_PREFIX_BITS),
						 errhint("Give a larger false positive rate, at least %g.",
								 parameters_smallest_fpr((float8) capacity))));
			cuckoo_parameters_error(status, (float8) capacity, fpr);
			break;
		default:
			cuckoo_error_add(status, filter);
	}
}

/*
 * cuckoo_parameters_check
 *		Check the parameters of a new filter.
 *
 * An error is raised if any is out of range, or if no filter can have them
 * together.
 */
void
cuckoo_parameters_check(CuckooParameters *parameters, float8 capacity,
						float8 fpr,
						int32 max_copies, int64 seed)
{
	CuckooFilter filter;
	CuckooStatus status;

	parameters->capacity = cuckoo_parameters_capacity(capacity);
	parameters->rate = cuckoo_parameters_rate(fpr);
	if (max_copies < 1 || max_copies > CUCKOO_MAX_COPIES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_copies must be between 1 and %d",
						CUCKOO_MAX_COPIES),
				 errdetail("The max_copies given is %d.", max_copies),
				 errhint("A value can be added more often than that; only so many adds of it are counted.")));
	parameters->max_copies = max_copies;
	parameters->seed = (uint64) seed;

	status = cuckoo_filter_new(&filter, parameters, NULL);
	if (status != CUCKOO_OK)
		cuckoo_parameters_error(status, capacity, fpr);
}

/*
 * cuckoo_parameters_new_filter
 *		An empty filter of parameters that have been checked.
 */
void
cuckoo_parameters_new_filter(CuckooFilter *filter,
							 const CuckooParameters *parameters)
{
	const CuckooStatus status = cuckoo_filter_new(filter, parameters,
												  &cuckoo_host);

	if (status != CUCKOO_OK)
		elog(ERROR, "unexpected result of making a cuckoo filter: %s",
			 cuckoo_status_reason(status));
}
