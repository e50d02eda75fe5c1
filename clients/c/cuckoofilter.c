/*-------------------------------------------------------------------------
 *
 * cuckoofilter.c
 *		The library: handles, checks and errors around the core of the
 *		extension.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "core/cuckoo_build.h"
#include "core/cuckoo_merge.h"
#include "base64.h"
#include "key.h"

#define CHECKSUM_BYTES	8
#define TEXT_PREFIX		"cf1:"

struct cuckoofilter
{
	CuckooFilter core;
};

static void *
host_alloc(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

static void
host_release(void *context, void *memory)
{
	(void) context;
	free(memory);
}

static void
host_poll(void *context)
{
	(void) context;
}

static const CuckooHost host = {host_alloc, host_release, host_poll, NULL};

/* The words of the extension for its families. */
static const char *const family_names[CUCKOO_FAMILY_LAST + 1] = {
	"untyped", "number", "float", "text", "bytes", "bool", "uuid", "oid",
	"macaddr", "macaddr8", "inet", "bit", "pg_lsn", "date", "timestamp",
	"timestamptz", "time", "timetz", "interval", "jsonb", "array", "record",
	"range", "multirange", "char(n)"
};

/*
 * filter_fail
 *		A status of the core as one of the library.  image is what was opened,
 *		if it was.
 */
static cuckoofilter_status
filter_fail(cuckoofilter_error * error, CuckooStatus status,
			const uint8_t *image)
{
	switch (status)
	{
		case CUCKOO_NEW_FORMAT:
			return key_fail(error, CUCKOOFILTER_VERSION,
							"cuckoo filter has format version %d, but the newest known is %d",
							image[CUCKOO_OFF_FORMAT], CUCKOO_FORMAT_VERSION);
		case CUCKOO_NEW_HASH:
			return key_fail(error, CUCKOOFILTER_VERSION,
							"cuckoo filter has hash version %d, but the newest known is %d",
							image[CUCKOO_OFF_HASH], CUCKOO_HASH_VERSION);
		case CUCKOO_NEW_FLAG:
			return key_fail(error, CUCKOOFILTER_VERSION,
							"cuckoo filter of format version %d has flags 0x%02x, but the known ones are 0x%02x",
							CUCKOO_FORMAT_VERSION, image[CUCKOO_OFF_FLAGS],
							CUCKOO_FLAGS_KNOWN);
		case CUCKOO_NEW_FAMILY:
			return key_fail(error, CUCKOOFILTER_VERSION,
							"cuckoo filter has key family %d, but the newest known is %d",
							image[CUCKOO_OFF_FAMILY], CUCKOO_FAMILY_LAST);
		case CUCKOO_FULL:
			return key_fail(error, CUCKOOFILTER_FULL, "cuckoo filter is full");
		case CUCKOO_COLLIDING:
			return key_fail(error, CUCKOOFILTER_COLLIDING,
							"too many values collide in the cuckoo filter");
		case CUCKOO_TOO_LARGE:
			return key_fail(error, CUCKOOFILTER_TOO_LARGE,
							"cuckoo filter would be larger than 512 MiB");
		case CUCKOO_NO_MEMORY:
			return key_fail(error, CUCKOOFILTER_MEMORY, "out of memory");
		case CUCKOO_BAD_CAPACITY:
		case CUCKOO_BAD_RATE:
			return key_fail(error, CUCKOOFILTER_PARAMETER,
							"false positive rate is too small for the capacity");
		default:
			return key_fail(error, CUCKOOFILTER_DAMAGED,
							"the image is not sound: %s",
							cuckoo_status_reason(status));
	}
}

static cuckoofilter_status
filter_no_memory(cuckoofilter_error * error)
{
	return key_fail(error, CUCKOOFILTER_MEMORY, "out of memory");
}

/*
 * filter_own
 *		A handle of a filter whose image is ours now.
 */
static cuckoofilter_status
filter_own(cuckoofilter * *filter, const CuckooFilter *core,
		   cuckoofilter_error * error)
{
	*filter = malloc(sizeof(cuckoofilter));
	if (*filter == NULL)
	{
		free(core->image);
		return filter_no_memory(error);
	}
	(*filter)->core = *core;
	return CUCKOOFILTER_OK;
}

cuckoofilter_status
cuckoofilter_open(cuckoofilter * *filter, const void *bytes, size_t nbytes,
				  cuckoofilter_error * error)
{
	const size_t image_bytes = nbytes - CHECKSUM_BYTES;
	CuckooFilter core;
	CuckooStatus status;
	uint64_t	position;
	uint8_t    *image;

	*filter = NULL;
	if (nbytes < CHECKSUM_BYTES)
		return key_fail(error, CUCKOOFILTER_DAMAGED,
						"it is too short for a checksum");
	if (cuckoo_load_le64((const uint8_t *) bytes + image_bytes) !=
		cuckoo_checksum(bytes, image_bytes))
		return key_fail(error, CUCKOOFILTER_DAMAGED,
						"the checksum does not match: the bytes were truncated or changed");
	status = cuckoo_image_open(&core, bytes, image_bytes);
	if (status == CUCKOO_OK)
		status = cuckoo_image_check(&core, &host, &position);
	if (status != CUCKOO_OK)
		return filter_fail(error, status, bytes);

	image = malloc(image_bytes);
	if (image == NULL)
		return filter_no_memory(error);
	memcpy(image, bytes, image_bytes);
	core.image = image;
	return filter_own(filter, &core, error);
}

cuckoofilter_status
cuckoofilter_open_text(cuckoofilter * *filter, const char *text, size_t length,
					   cuckoofilter_error * error)
{
	const size_t prefix_length = strlen(TEXT_PREFIX);
	uint8_t    *bytes;
	size_t		nbytes;
	cuckoofilter_status status;

	*filter = NULL;
	if (length < prefix_length || memcmp(text, TEXT_PREFIX, prefix_length) != 0)
		return key_fail(error, CUCKOOFILTER_DAMAGED,
						"the text form of a cuckoo filter begins with \"%s\"",
						TEXT_PREFIX);
	bytes = malloc(length);
	if (bytes == NULL)
		return filter_no_memory(error);
	if (base64_decode(text + prefix_length, length - prefix_length, bytes,
					  &nbytes))
		status = cuckoofilter_open(filter, bytes, nbytes, error);
	else
		status = key_fail(error, CUCKOOFILTER_DAMAGED,
						  "what follows \"%s\" is not valid base64",
						  TEXT_PREFIX);
	free(bytes);
	return status;
}

/*
 * filter_parameters
 *		Parameters as the core takes them.
 */
static cuckoofilter_status
filter_parameters(const cuckoofilter_parameters * given, double capacity,
				  CuckooParameters *parameters, cuckoofilter_error * error)
{
	if (!(capacity >= 1 && capacity <= (double) CUCKOO_MAX_CAPACITY))
		return key_fail(error, CUCKOOFILTER_PARAMETER,
						"capacity must be between 1 and %llu",
						(unsigned long long) CUCKOO_MAX_CAPACITY);
	if (!(given->fpr > 0 && given->fpr < 1))
		return key_fail(error, CUCKOOFILTER_PARAMETER,
						"false positive rate must be greater than 0 and less than 1");
	if (given->max_copies < 1 || given->max_copies > CUCKOO_MAX_COPIES)
		return key_fail(error, CUCKOOFILTER_PARAMETER,
						"max_copies must be between 1 and %d",
						CUCKOO_MAX_COPIES);
	parameters->capacity = (uint64_t) ceil(capacity);
	parameters->rate = (uint64_t) ldexp(given->fpr, CUCKOO_RATE_BITS);
	if (parameters->rate == 0)
		parameters->rate = 1;
	parameters->max_copies = given->max_copies;
	parameters->seed = (uint64_t) given->seed;
	return CUCKOOFILTER_OK;
}

cuckoofilter_status
cuckoofilter_new(cuckoofilter * *filter,
				 const cuckoofilter_parameters * parameters,
				 cuckoofilter_error * error)
{
	CuckooParameters checked;
	CuckooFilter core;
	CuckooStatus core_status;
	const		cuckoofilter_status status =
		filter_parameters(parameters, parameters->capacity, &checked, error);

	*filter = NULL;
	if (status != CUCKOOFILTER_OK)
		return status;
	core_status = cuckoo_filter_new(&core, &checked, &host);
	if (core_status != CUCKOO_OK)
		return filter_fail(error, core_status, NULL);
	return filter_own(filter, &core, error);
}

/*
 * filter_hash
 *		The hash of a value, with a seed.
 */
static cuckoofilter_status
filter_hash(const cuckoofilter_value * value, uint64_t seed, uint64_t *hash,
			cuckoofilter_error * error)
{
	Key			key;
	const		cuckoofilter_status status = key_of(value, &key, error);

	if (status == CUCKOOFILTER_OK)
		*hash = value->family == CUCKOOFILTER_HASH ?
			cuckoo_load_le64(key.bytes) :
			cuckoo_hash(key.bytes, key.nbytes, seed);
	free(key.allocated);
	return status;
}

/*
 * filter_probe
 *		The hash of a value for a filter of these values, or an error.
 *
 * verb is what was to be done: "probed with", "cannot add", "cannot remove".
 */
static cuckoofilter_status
filter_probe(const CuckooFilter *core, cuckoofilter_value value,
			 const char *verb, uint64_t *hash, cuckoofilter_error * error)
{
	if (core->family == CUCKOO_FAMILY_CHAR &&
		value.family == CUCKOOFILTER_TEXT)
		value.family = CUCKOOFILTER_CHAR;
	if ((unsigned) value.family <= CUCKOO_FAMILY_LAST &&
		value.family != CUCKOOFILTER_HASH &&
		core->family != CUCKOO_FAMILY_NONE &&
		(int) core->family != (int) value.family)
		return key_fail(error, CUCKOOFILTER_FAMILY,
						"filter holds %s values, %s %s",
						family_names[core->family], verb,
						family_names[value.family]);
	return filter_hash(&value, core->seed, hash, error);
}

/*
 * filter_sort
 *		Sort keys, and keep at most max_equal of each.
 */
static cuckoofilter_status
filter_sort(uint64_t **keys, size_t *nkeys, int max_equal,
			cuckoofilter_error * error)
{
	uint64_t   *const sorted = malloc((*nkeys + 1) * sizeof(uint64_t));
	size_t		nkept = 0;

	if (sorted == NULL)
		return filter_no_memory(error);
	cuckoo_order_sort(*keys, sorted, *nkeys, false);
	for (size_t i = 0; i < *nkeys; i++)
		if (nkept < (size_t) max_equal ||
			sorted[nkept - (size_t) max_equal] != sorted[i])
			sorted[nkept++] = sorted[i];
	free(*keys);
	*keys = sorted;
	*nkeys = nkept;
	return CUCKOOFILTER_OK;
}

/*
 * filter_fitting_capacity
 *		The capacity of a filter for just these keys.
 *
 * Copies of a value are in the same two buckets, so that repeated values fill
 * a table less well.
 */
static double
filter_fitting_capacity(const uint64_t *keys, size_t nkeys)
{
	size_t		nrepeats = 0;

	for (size_t i = 1; i < nkeys; i++)
		nrepeats += keys[i] == keys[i - 1];
	if (nkeys == 0)
		return 1;
	if (nrepeats == 0)
		return (double) nkeys;
	return (double) (nkeys + nkeys / (4 * nrepeats < nkeys ? 32 : 8));
}

/*
 * filter_hash_all
 *		The build keys of values of one family, which is put into *family.
 */
static cuckoofilter_status
filter_hash_all(const cuckoofilter_value * values, size_t nvalues,
				uint64_t seed, uint64_t *keys, CuckooFamily *family,
				cuckoofilter_error * error)
{
	for (size_t i = 0; i < nvalues; i++)
	{
		cuckoofilter_status status;
		uint64_t	hash;

		if (values[i].family != values[0].family)
			return key_fail(error, CUCKOOFILTER_FAMILY,
							"the values are of more than one family");
		status = filter_hash(&values[i], seed, &hash, error);
		if (status != CUCKOOFILTER_OK)
			return status;
		keys[i] = cuckoo_order_hash(hash);
	}
	*family = nvalues == 0 ? CUCKOO_FAMILY_NONE :
		(CuckooFamily) values[0].family;
	return CUCKOOFILTER_OK;
}

cuckoofilter_status
cuckoofilter_build(cuckoofilter * *filter,
				   const cuckoofilter_parameters * parameters, bool is_bag,
				   const cuckoofilter_value * values, size_t nvalues,
				   cuckoofilter_error * error)
{
	CuckooParameters checked;
	CuckooFilter core;
	CuckooFamily family = CUCKOO_FAMILY_NONE;
	size_t		nkeys = nvalues;
	uint64_t   *keys;
	cuckoofilter_status status;

	*filter = NULL;
	status = filter_parameters(parameters, parameters->capacity == 0 ? 1 :
							   parameters->capacity, &checked, error);
	if (status != CUCKOOFILTER_OK)
		return status;
	keys = nvalues < SIZE_MAX / sizeof(uint64_t) - 1 ?
		malloc((nvalues + 1) * sizeof(uint64_t)) : NULL;
	if (keys == NULL)
		return filter_no_memory(error);
	status = filter_hash_all(values, nvalues, checked.seed, keys, &family,
							 error);
	if (status == CUCKOOFILTER_OK)
		status = filter_sort(&keys, &nkeys, is_bag ? checked.max_copies : 1,
							 error);
	if (status == CUCKOOFILTER_OK && parameters->capacity == 0)
		status = filter_parameters(parameters,
								   filter_fitting_capacity(keys, nkeys),
								   &checked, error);
	if (status == CUCKOOFILTER_OK)
	{
		const CuckooStatus built =
			cuckoo_build_array(&core, &checked, keys, nkeys, &host);

		if (built == CUCKOO_OK)
		{
			core.family = family;
			status = filter_own(filter, &core, error);
		}
		else
			status = filter_fail(error, built, NULL);
	}
	free(keys);
	return status;
}

void
cuckoofilter_free(cuckoofilter * filter)
{
	if (filter != NULL)
		free(filter->core.image);
	free(filter);
}

cuckoofilter_status
cuckoofilter_contains(const cuckoofilter * filter, cuckoofilter_value value,
					  bool *found, cuckoofilter_error * error)
{
	uint64_t	hash;
	const		cuckoofilter_status status =
		filter_probe(&filter->core, value, "probed with", &hash, error);

	if (status == CUCKOOFILTER_OK)
		*found = cuckoo_filter_contains(&filter->core, hash);
	return status;
}

cuckoofilter_status
cuckoofilter_count(const cuckoofilter * filter, cuckoofilter_value value,
				   int *copies, cuckoofilter_error * error)
{
	uint64_t	hash;
	const		cuckoofilter_status status =
		filter_probe(&filter->core, value, "probed with", &hash, error);

	if (status == CUCKOOFILTER_OK)
		*copies = cuckoo_filter_count(&filter->core, hash);
	return status;
}

cuckoofilter_status
cuckoofilter_add(cuckoofilter * filter, cuckoofilter_value value,
				 cuckoofilter_error * error)
{
	CuckooFilter *const core = &filter->core;
	uint64_t	hash;
	CuckooStatus added;
	const		cuckoofilter_status status =
		filter_probe(core, value, "cannot add", &hash, error);

	if (status != CUCKOOFILTER_OK)
		return status;
	added = cuckoo_filter_add(core, hash, &host);
	if (added != CUCKOO_OK && added != CUCKOO_SATURATED)
		return filter_fail(error, added, NULL);
	if (core->family == CUCKOO_FAMILY_NONE)
		core->family = (CuckooFamily) value.family;
	return CUCKOOFILTER_OK;
}

cuckoofilter_status
cuckoofilter_remove(cuckoofilter * filter, cuckoofilter_value value,
					cuckoofilter_error * error)
{
	CuckooFilter *const core = &filter->core;
	uint64_t	hash;
	cuckoofilter_status status;

	if (core->declared_copies == 1)
		return key_fail(error, CUCKOOFILTER_NOT_REMOVABLE,
						"cannot remove values from an append-only cuckoo filter");
	if (core->is_merged)
		return key_fail(error, CUCKOOFILTER_NOT_REMOVABLE,
						"cannot remove values from a merged cuckoo filter");
	status = filter_probe(core, value, "cannot remove", &hash, error);
	if (status == CUCKOOFILTER_OK)
		cuckoo_filter_remove(core, hash);
	return status;
}

void
cuckoofilter_get_info(const cuckoofilter * filter, cuckoofilter_info * info)
{
	const CuckooFilter *const core = &filter->core;

	info->is_table = core->is_table;
	info->is_merged = core->is_merged;
	info->family = (int) core->family;
	info->family_name = family_names[core->family];
	info->seed = (int64_t) core->seed;
	info->capacity = core->capacity;
	info->entries = core->nentries;
	info->kicks = core->nkicks;
	info->bytes = core->image_bytes;
	info->max_copies = core->declared_copies;
	info->current_copies = core->max_copies;
	info->columns = (int) core->geometry.ncolumns;
	info->index_bits = core->geometry.index_bits;
	info->prefix_bits = core->geometry.prefix_bits;
	info->longest_path = core->longest_path;
	info->growths = core->ngrowths;
	info->load_factor = cuckoo_filter_load_factor(core);
	info->fpr = cuckoo_filter_fpr(core);
	info->promised_fpr = cuckoo_filter_declared_fpr(core);
}

cuckoofilter_status
cuckoofilter_hash_of(cuckoofilter_value value, int64_t seed, int64_t *hash,
					 cuckoofilter_error * error)
{
	uint64_t	bits = 0;
	const		cuckoofilter_status status =
		filter_hash(&value, (uint64_t) seed, &bits, error);

	*hash = (int64_t) bits;
	return status;
}

cuckoofilter_status
cuckoofilter_write(const cuckoofilter * filter, void **bytes, size_t *nbytes,
				   cuckoofilter_error * error)
{
	CuckooFilter core = filter->core;
	uint8_t    *const copy = malloc(core.image_bytes + CHECKSUM_BYTES);

	*bytes = copy;
	if (copy == NULL)
		return filter_no_memory(error);
	memcpy(copy, core.image, core.image_bytes);
	core.image = copy;
	cuckoo_header_store(&core);
	cuckoo_store_le64(copy + core.image_bytes,
					  cuckoo_checksum(copy, core.image_bytes));
	*nbytes = core.image_bytes + CHECKSUM_BYTES;
	return CUCKOOFILTER_OK;
}

cuckoofilter_status
cuckoofilter_write_text(const cuckoofilter * filter, char **text,
						cuckoofilter_error * error)
{
	void	   *bytes;
	size_t		nbytes;
	const		cuckoofilter_status status =
		cuckoofilter_write(filter, &bytes, &nbytes, error);

	*text = NULL;
	if (status != CUCKOOFILTER_OK)
		return status;
	*text = malloc(strlen(TEXT_PREFIX) + (nbytes + 2) / 3 * 4 + 1);
	if (*text != NULL)
	{
		memcpy(*text, TEXT_PREFIX, strlen(TEXT_PREFIX));
		base64_encode(bytes, nbytes, *text + strlen(TEXT_PREFIX));
	}
	free(bytes);
	return *text != NULL ? CUCKOOFILTER_OK : filter_no_memory(error);
}
