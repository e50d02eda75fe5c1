/*-------------------------------------------------------------------------
 *
 * subject_field.cc
 *		Cuckoo filters of others, from a checkout that is no part of this tree.
 *
 * Compiled if FIELD is given to make: a checkout of efficient/cuckoofilter or
 * of FastFilter/fastfilter_cpp.  The former's CuckooFilter has a power of two
 * of buckets; the latter has a copy of it, and CuckooFilterStable, of any even
 * number of buckets, which is taken since ours has no such steps either.  Two
 * shapes are measured:
 *	- single: SingleTable, fingerprints as they are, of 12, 16 or 32 bits, the
 *	  narrowest that has the rate asked for
 *	- packed: PackedTable, semi-sorted, fingerprints of 13 bits; it takes part
 *	  where that is enough
 * Neither can grow, double, or be built at once.  They hash what they are
 * given once more, as they would a key; ours are given hashes.
 *
 *-------------------------------------------------------------------------
 */
#include <climits>
#include <cstring>
#include <sstream>
#include <iostream>
#include <fstream>

#include "cuckoofilter.h"
#if __has_include("cuckoofilter_stable.h")
#include "cuckoofilter_stable.h"
#define HAVE_STABLE
#endif

#include "subject.h"

namespace
{

using cuckoofilter::Ok;
using cuckoofilter::PackedTable;
using cuckoofilter::SingleTable;

#ifdef HAVE_STABLE
template<size_t fp_bits, template<size_t> class Table>
using Peer = cuckoofilter::CuckooFilterStable<uint64_t, fp_bits, Table>;
#else
template<size_t fp_bits, template<size_t> class Table>
using Peer = cuckoofilter::CuckooFilter<uint64_t, fp_bits, Table>;
#endif

/* One filter, whatever its width, behind functions that loop within it. */
class Field
{
public:
	virtual ~Field() {}
	virtual size_t add(const uint64_t *hashes, size_t nhashes) = 0;
	virtual size_t remove(const uint64_t *hashes, size_t nhashes) = 0;
	virtual size_t count_hits(const uint64_t *hashes, size_t nhashes) const = 0;
	virtual bool contains(uint64_t hash) const = 0;
	virtual void describe(int *fp_bits, double *load_factor,
						  size_t *bytes) const = 0;
};

/* saved_bits is what semi-sorting saves in a slot. */
template<size_t fp_bits, template<size_t> class Table, int saved_bits>
class FieldOf : public Field
{
	Peer<fp_bits, Table> filter;

public:
	explicit FieldOf(size_t capacity) : filter(capacity) {}

	size_t add(const uint64_t *hashes, size_t nhashes) override
	{
		size_t		nrefused = 0;

		for (size_t i = 0; i < nhashes; i++)
			nrefused += filter.Add(hashes[i]) != Ok;
		return nrefused;
	}

	size_t remove(const uint64_t *hashes, size_t nhashes) override
	{
		size_t		nmissing = 0;

		for (size_t i = 0; i < nhashes; i++)
			nmissing += filter.Delete(hashes[i]) != Ok;
		return nmissing;
	}

	size_t count_hits(const uint64_t *hashes, size_t nhashes) const override
	{
		size_t		nhits = 0;

		for (size_t i = 0; i < nhashes; i++)
			nhits += filter.Contain(hashes[i]) == Ok;
		return nhits;
	}

	bool contains(uint64_t hash) const override
	{
		return filter.Contain(hash) == Ok;
	}

	void describe(int *bits, double *load_factor, size_t *bytes) const override
	{
		*bits = (int) fp_bits;
		*bytes = filter.SizeInBytes();
		*load_factor = (double) filter.Size() *
			((int) fp_bits - saved_bits) / (8.0 * (double) *bytes);
	}
};

/* The rate that full buckets of four have with so many bits. */
double
full_rate(int fp_bits)
{
	return 8.0 / (double) (UINT64_C(1) << fp_bits);
}

double
asked_rate(uint64_t rate)
{
	return (double) rate / (double) (UINT64_C(1) << 62);
}

void *
create_single(uint64_t capacity, uint64_t rate, bool full_size)
{
	const double asked = asked_rate(rate);

	if (!full_size)
		return nullptr;
	if (full_rate(12) <= asked)
		return static_cast<Field *>(new FieldOf<12, SingleTable, 0>(capacity));
	if (full_rate(16) <= asked)
		return static_cast<Field *>(new FieldOf<16, SingleTable, 0>(capacity));
	return static_cast<Field *>(new FieldOf<32, SingleTable, 0>(capacity));
}

void *
create_packed(uint64_t capacity, uint64_t rate, bool full_size)
{
	if (!full_size || full_rate(13) > asked_rate(rate))
		return nullptr;
	return static_cast<Field *>(new FieldOf<13, PackedTable, 1>(capacity));
}

void
destroy(void *filter)
{
	delete static_cast<Field *>(filter);
}

size_t
add(void *filter, const uint64_t *hashes, size_t nhashes)
{
	return static_cast<Field *>(filter)->add(hashes, nhashes);
}

size_t
remove_all(void *filter, const uint64_t *hashes, size_t nhashes)
{
	return static_cast<Field *>(filter)->remove(hashes, nhashes);
}

size_t
count_hits(const void *filter, const uint64_t *hashes, size_t nhashes)
{
	return static_cast<const Field *>(filter)->count_hits(hashes, nhashes);
}

bool
contains(const void *filter, uint64_t hash)
{
	return static_cast<const Field *>(filter)->contains(hash);
}

void
describe(const void *filter, int *fp_bits, double *load_factor, size_t *bytes)
{
	static_cast<const Field *>(filter)->describe(fp_bits, load_factor, bytes);
}

}								/* namespace */

extern const Subject single_subject = {
	create_single, destroy, add, remove_all, count_hits, contains, nullptr,
	nullptr, nullptr, nullptr, nullptr, describe
};

extern const Subject packed_subject = {
	create_packed, destroy, add, remove_all, count_hits, contains, nullptr,
	nullptr, nullptr, nullptr, nullptr, describe
};
