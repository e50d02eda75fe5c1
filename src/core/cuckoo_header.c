/*-------------------------------------------------------------------------
 *
 * cuckoo_header.c
 *		Header decode and encode.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_header.h"

/*
 * cuckoo_header_status
 *		Are the decoded fields in range?
 */
CuckooStatus
cuckoo_header_status(const CuckooFilter *filter)
{
	const CuckooGeometry *const geometry = &filter->geometry;

	if (geometry->ncolumns < CUCKOO_MIN_COLUMNS ||
		geometry->ncolumns > CUCKOO_MAX_COLUMNS ||
		geometry->prefix_bits < CUCKOO_MIN_PREFIX_BITS ||
		geometry->prefix_bits > CUCKOO_MAX_PREFIX_BITS ||
		geometry->index_bits > geometry->prefix_bits - CUCKOO_MIN_FP_BITS ||
		filter->capacity == 0 || filter->capacity > CUCKOO_MAX_CAPACITY)
		return CUCKOO_BAD_HEADER;

	if (filter->declared_copies < 1 ||
		filter->declared_copies > CUCKOO_MAX_COPIES ||
		filter->max_copies > filter->declared_copies ||
		filter->max_copies < (filter->declared_copies < 2 ?
							  filter->declared_copies : 2))
		return CUCKOO_BAD_HEADER;

	if (filter->growth_load > CUCKOO_GROWTH_LOAD_UNIT ||
		(filter->nkicks == 0) != (filter->longest_path == 0))
		return CUCKOO_BAD_HEADER;

	if (filter->is_table)
	{
		/* so few index bits that the shift below is safe */
		if (geometry->index_bits > 32 ||
			cuckoo_header_image_bytes(filter) > CUCKOO_MAX_IMAGE_BYTES ||
			filter->nentries > cuckoo_header_nslots(filter))
			return CUCKOO_BAD_HEADER;
	}
	else
	{
		if (geometry->index_bits != 0 ||
			filter->nentries > CUCKOO_MAX_LIST_ENTRIES ||
			filter->nkicks != 0 ||
			filter->ngrowths != 0 || filter->growth_load != 0)
			return CUCKOO_BAD_HEADER;
	}
	return CUCKOO_OK;
}

/*
 * cuckoo_header_open
 *		Decode a header alone.
 *
 * header is CUCKOO_HEADER_BYTES bytes; *image_bytes is set to the length of
 * the image they are the beginning of, at most CUCKOO_MAX_IMAGE_BYTES.  The
 * filter has no image then, only a header.
 */
CuckooStatus
cuckoo_header_open(CuckooFilter *filter, const uint8_t *header,
				   uint64_t *image_bytes)
{
	const int	flags = header[CUCKOO_OFF_FLAGS];
	CuckooStatus status;

	if (header[CUCKOO_OFF_FORMAT] != CUCKOO_FORMAT_VERSION)
		return CUCKOO_NEW_FORMAT;
	if (header[CUCKOO_OFF_HASH] != CUCKOO_HASH_VERSION)
		return CUCKOO_NEW_HASH;
	if ((flags & ~CUCKOO_FLAGS_KNOWN) != 0)
		return CUCKOO_NEW_FLAG;
	if (header[CUCKOO_OFF_FAMILY] > CUCKOO_FAMILY_LAST)
		return CUCKOO_NEW_FAMILY;

	filter->image = NULL;
	filter->image_bytes = 0;
	filter->image_room = 0;
	filter->is_doubtful = false;
	filter->is_table = (flags & CUCKOO_FLAG_TABLE) != 0;
	filter->is_merged = (flags & CUCKOO_FLAG_MERGED) != 0;
	filter->family = (CuckooFamily) header[CUCKOO_OFF_FAMILY];
	filter->geometry.ncolumns = header[CUCKOO_OFF_COLUMNS];
	filter->geometry.index_bits = header[CUCKOO_OFF_INDEX_BITS];
	filter->geometry.prefix_bits = header[CUCKOO_OFF_PREFIX_BITS];
	filter->declared_copies = header[CUCKOO_OFF_COPIES] & 0xF;
	filter->max_copies = header[CUCKOO_OFF_COPIES] >> 4;
	filter->seed = cuckoo_load_le64(header + CUCKOO_OFF_SEED);
	filter->capacity = cuckoo_load_le64(header + CUCKOO_OFF_CAPACITY);
	filter->nentries = cuckoo_load_le64(header + CUCKOO_OFF_ENTRIES);
	filter->nkicks = cuckoo_load_le64(header + CUCKOO_OFF_KICKS);
	filter->longest_path = header[CUCKOO_OFF_LONGEST_PATH];
	filter->ngrowths = header[CUCKOO_OFF_GROWTHS];
	filter->growth_load = cuckoo_load_le16(header + CUCKOO_OFF_GROWTH_LOAD);

	status = cuckoo_header_status(filter);
	if (status != CUCKOO_OK)
		return status;

	if (filter->is_table)
		cuckoo_bucket_packing(&filter->packing,
							  cuckoo_geometry_fp_bits(&filter->geometry));
	*image_bytes = cuckoo_header_image_bytes(filter);
	return CUCKOO_OK;
}

/*
 * cuckoo_header_store
 *		Write the decoded header into the image.
 */
void
cuckoo_header_store(CuckooFilter *filter)
{
	uint8_t    *const header = filter->image;

	CuckooAssert(cuckoo_header_status(filter) == CUCKOO_OK);
	CuckooAssert(filter->image_bytes == cuckoo_header_image_bytes(filter));

	header[CUCKOO_OFF_FORMAT] = CUCKOO_FORMAT_VERSION;
	header[CUCKOO_OFF_HASH] = CUCKOO_HASH_VERSION;
	header[CUCKOO_OFF_FLAGS] =
		(uint8_t) ((filter->is_table ? CUCKOO_FLAG_TABLE : 0) |
				   (filter->is_merged ? CUCKOO_FLAG_MERGED : 0));
	header[CUCKOO_OFF_FAMILY] = (uint8_t) filter->family;
	header[CUCKOO_OFF_COLUMNS] = (uint8_t) filter->geometry.ncolumns;
	header[CUCKOO_OFF_INDEX_BITS] = (uint8_t) filter->geometry.index_bits;
	header[CUCKOO_OFF_PREFIX_BITS] = (uint8_t) filter->geometry.prefix_bits;
	header[CUCKOO_OFF_COPIES] =
		(uint8_t) (filter->max_copies << 4 | filter->declared_copies);
	cuckoo_store_le64(header + CUCKOO_OFF_SEED, filter->seed);
	cuckoo_store_le64(header + CUCKOO_OFF_CAPACITY, filter->capacity);
	cuckoo_store_le64(header + CUCKOO_OFF_ENTRIES, filter->nentries);
	cuckoo_store_le64(header + CUCKOO_OFF_KICKS, filter->nkicks);
	header[CUCKOO_OFF_LONGEST_PATH] = (uint8_t) filter->longest_path;
	header[CUCKOO_OFF_GROWTHS] = (uint8_t) filter->ngrowths;
	cuckoo_store_le16(header + CUCKOO_OFF_GROWTH_LOAD,
					  (uint16_t) filter->growth_load);
}
