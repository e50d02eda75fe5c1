/*-------------------------------------------------------------------------
 *
 * cuckoo_datum.c
 *		A datum to a filter and back, in the memory of the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "cuckoo_datum.h"
#include "cuckoo_error.h"

/*
 * Images are allocated with a varlena length before them, in the current
 * memory context: what the core returns is a datum without further copying.
 */
static void *
datum_host_alloc(void *context, size_t bytes)
{
	return (char *) palloc(VARHDRSZ + bytes) + VARHDRSZ;
}

static void
datum_host_release(void *context, void *memory)
{
	pfree((char *) memory - VARHDRSZ);
}

static void
datum_host_poll(void *context)
{
	CHECK_FOR_INTERRUPTS();
}

const CuckooHost cuckoo_host = {
	datum_host_alloc, datum_host_release, datum_host_poll, NULL
};

/*
 * cuckoo_datum_open
 *		Open a detoasted filter for reading.
 *
 * filter refers to the bytes of datum, which must not be changed through it.
 */
void
cuckoo_datum_open(CuckooFilter *filter, const struct varlena *datum)
{
	const uint8 *const image = (const uint8 *) VARDATA_ANY(datum);
	const CuckooStatus status =
		cuckoo_image_open(filter, image, VARSIZE_ANY_EXHDR(datum));

	if (unlikely(status != CUCKOO_OK))
		cuckoo_error_image(status, image, ERRCODE_DATA_CORRUPTED,
						   "cuckoo filter is corrupted", NULL);
}

/*
 * cuckoo_datum_open_copy
 *		Open a copy of a filter that may be changed.
 */
void
cuckoo_datum_open_copy(CuckooFilter *filter, Datum datum)
{
	cuckoo_datum_open(filter, PG_DETOAST_DATUM_COPY(datum));
}

/*
 * cuckoo_datum_of_filter
 *		Make a datum of a filter whose image came from cuckoo_host.
 */
struct varlena *
cuckoo_datum_of_filter(CuckooFilter *filter)
{
	struct varlena *const datum =
		(struct varlena *) (filter->image - VARHDRSZ);

	cuckoo_header_store(filter);
	SET_VARSIZE(datum, VARHDRSZ + filter->image_bytes);
	return datum;
}

/*
 * cuckoo_datum_is_filter_type
 *		Is this type ours, or a domain over it?
 *
 * The extension can be in any schema, under any name of the type.
 */
bool
cuckoo_datum_is_filter_type(Oid type)
{
	Oid			input;
	Oid			param;
	FmgrInfo	flinfo;

	getTypeInputInfo(getBaseType(type), &input, &param);
	fmgr_info(input, &flinfo);
	return flinfo.fn_addr == cuckoofilter_in;
}
