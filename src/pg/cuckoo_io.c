/*-------------------------------------------------------------------------
 *
 * cuckoo_io.c
 *		Text and binary form, casts, comparison.
 *
 * From outside, an image comes with its 64-bit checksum behind it: as bytes
 * in binary form and as bytea, and as base64 after "cf1:" in text form.  All
 * of these pass io_unpack_image(), and nothing that does not is let in.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"

#include "cuckoo_pg.h"

#define TEXT_PREFIX			"cf1:"
#define TEXT_PREFIX_LENGTH	4
#define CHECKSUM_BYTES		8

/*
 * Bytes coded in base64 between two checks for interrupts.  A multiple of
 * three, so that only the last piece can be padded.
 */
#define BASE64_PIECE		(3 << 20)

/* Characters of base64 that the largest image takes. */
#define MAX_BASE64_LENGTH	\
	((CUCKOO_MAX_IMAGE_BYTES + CHECKSUM_BYTES + 2) / 3 * 4)

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_send);
PG_FUNCTION_INFO_V1(cuckoofilter_to_bytea);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);
PG_FUNCTION_INFO_V1(cf_cmp);
PG_FUNCTION_INFO_V1(cf_eq);
PG_FUNCTION_INFO_V1(cf_ne);
PG_FUNCTION_INFO_V1(cf_lt);
PG_FUNCTION_INFO_V1(cf_le);
PG_FUNCTION_INFO_V1(cf_gt);
PG_FUNCTION_INFO_V1(cf_ge);
PG_FUNCTION_INFO_V1(cuckoofilter_hash);
PG_FUNCTION_INFO_V1(cuckoofilter_hash_extended);

/*
 * io_pack_image
 *		The image of a filter and its checksum, as a bytea.
 */
static bytea *
io_pack_image(Datum datum)
{
	struct varlena *const flat = cuckoo_expanded_flat(datum);
	const size_t image_bytes = VARSIZE_ANY_EXHDR(flat);
	bytea	   *packed;
	CuckooFilter filter;

	cuckoo_datum_open(&filter, flat);
	packed = palloc(VARHDRSZ + image_bytes + CHECKSUM_BYTES);
	SET_VARSIZE(packed, VARHDRSZ + image_bytes + CHECKSUM_BYTES);
	memcpy(VARDATA(packed), filter.image, image_bytes);
	cuckoo_store_le64((uint8 *) VARDATA(packed) + image_bytes,
					  cuckoo_checksum(filter.image, image_bytes));
	cuckoo_expanded_flat_release(flat, datum);
	return packed;
}

/*
 * io_unpack_image
 *		Bytes that may be anything to a filter that is sound.
 *
 * bytes are those of an image and its checksum; datum has them behind its
 * header and becomes the result.  Errors have the given code and message, and
 * are soft if escontext asks for that, which returns NULL.
 */
static struct varlena *
io_unpack_image(struct varlena *datum, size_t bytes, int sqlerrcode,
				const char *message, struct Node *escontext)
{
	uint8	   *const image = (uint8 *) VARDATA(datum);
	const size_t image_bytes = bytes - CHECKSUM_BYTES;
	CuckooFilter filter;
	CuckooStatus status;
	uint64		position;

	if (bytes < CHECKSUM_BYTES)
		ereturn(escontext, NULL,
				(errcode(sqlerrcode),
				 errmsg("%s", message),
				 errdetail("It is too short for a checksum.")));

	/* a checksum is wrong in any version before anything else is */
	if (cuckoo_load_le64(image + image_bytes) !=
		cuckoo_checksum(image, image_bytes))
		ereturn(escontext, NULL,
				(errcode(sqlerrcode),
				 errmsg("%s", message),
				 errdetail("The checksum does not match: the bytes were truncated or changed.")));

	status = cuckoo_image_open(&filter, image, image_bytes);
	if (status == CUCKOO_OK)
		status = cuckoo_image_check(&filter, &cuckoo_host, &position);
	if (status != CUCKOO_OK)
	{
		cuckoo_error_image(status, image, sqlerrcode, message, escontext);
		return NULL;
	}

	SET_VARSIZE(datum, VARHDRSZ + image_bytes);
	return datum;
}

/*
 * io_is_padded
 *		Does base64 come in groups of four, the last one filled up with "="?
 *
 * The server's decoder takes "XY=A" for "XY==".
 */
static bool
io_is_padded(const char *base64, size_t length)
{
	const char *const padding = memchr(base64, '=', length);
	size_t		npadding;

	if (length % 4 != 0)
		return false;
	if (padding == NULL)
		return true;
	npadding = length - (size_t) (padding - base64);
	return npadding == 1 || (npadding == 2 && padding[1] == '=');
}

/*
 * io_decode_base64
 *		Decode so many characters of base64 into bytes, which has room for them.
 *
 * Returns the number of bytes, or -1 if it is not valid.
 */
static int
io_decode_base64(const char *base64, size_t length, char *bytes)
{
	const size_t piece_length = BASE64_PIECE / 3 * 4;
	int			nbytes = 0;

	for (;;)
	{
		const size_t n = Min(length, piece_length);
		const int	room = (int) ((n + 3) / 4 * 3);
		const int	ndecoded = cuckoo_b64_decode(base64, (int) n,
												 bytes + nbytes, room);

		if (ndecoded < 0)
			return -1;
		nbytes += ndecoded;
		base64 += n;
		length -= n;
		if (length == 0)
			return nbytes;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * io_encode_base64
 *		Encode bytes as base64, with a zero byte at the end.
 */
static void
io_encode_base64(const char *bytes, size_t nbytes, char *base64)
{
	while (nbytes > 0)
	{
		const int	n = (int) Min(nbytes, BASE64_PIECE);
		const int	length = cuckoo_b64_encode(bytes, n, base64,
											   pg_b64_enc_len(n));

		if (length < 0)
			elog(ERROR, "could not encode a cuckoo filter");
		bytes += n;
		nbytes -= (size_t) n;
		base64 += length;
		CHECK_FOR_INTERRUPTS();
	}
	*base64 = '\0';
}

/*
 * cuckoofilter_in
 *		Text form to filter.
 */
Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	static const char *const message =
		"invalid input syntax for type cuckoofilter";
	const char *const text_form = PG_GETARG_CSTRING(0);
	struct Node *const escontext = fcinfo->context;
	const char *base64;
	size_t		base64_length;
	struct varlena *datum;
	int			bytes;

	if (strncmp(text_form, TEXT_PREFIX, TEXT_PREFIX_LENGTH) != 0)
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("%s", message),
				 errdetail("The text form of a cuckoo filter begins with \"%s\".",
						   TEXT_PREFIX),
				 errhint("Make an empty filter with cf_new(capacity).")));

	base64 = text_form + TEXT_PREFIX_LENGTH;
	base64_length = strlen(base64);
	if (base64_length > MAX_BASE64_LENGTH)
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cuckoo filter would be larger than 512 MiB")));

	datum = palloc(VARHDRSZ + (base64_length + 3) / 4 * 3);
	bytes = io_is_padded(base64, base64_length) ?
		io_decode_base64(base64, base64_length, VARDATA(datum)) : -1;
	if (bytes < 0)
		ereturn(escontext, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("%s", message),
				 errdetail("What follows \"%s\" is not valid base64.",
						   TEXT_PREFIX)));

	datum = io_unpack_image(datum, (size_t) bytes,
							ERRCODE_INVALID_TEXT_REPRESENTATION, message,
							escontext);
	if (datum == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(datum);
}

/*
 * cuckoofilter_out
 *		Filter to text form.
 */
Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	bytea	   *const packed = io_pack_image(PG_GETARG_DATUM(0));
	const size_t bytes = VARSIZE(packed) - VARHDRSZ;
	char	   *const text_form =
		palloc(TEXT_PREFIX_LENGTH + (bytes + 2) / 3 * 4 + 1);

	memcpy(text_form, TEXT_PREFIX, TEXT_PREFIX_LENGTH);
	io_encode_base64(VARDATA(packed), bytes, text_form + TEXT_PREFIX_LENGTH);
	pfree(packed);
	PG_RETURN_CSTRING(text_form);
}

/*
 * cuckoofilter_recv
 *		Binary form to filter.
 */
Datum
cuckoofilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	const int	bytes = message->len - message->cursor;
	struct varlena *const datum = palloc(VARHDRSZ + bytes);

	pq_copymsgbytes(message, VARDATA(datum), bytes);
	PG_RETURN_POINTER(io_unpack_image(datum, (size_t) bytes,
									  ERRCODE_INVALID_BINARY_REPRESENTATION,
									  "invalid binary form of type cuckoofilter",
									  NULL));
}

/*
 * cuckoofilter_send
 *		Filter to binary form.
 */
Datum
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(io_pack_image(PG_GETARG_DATUM(0)));
}

/*
 * cuckoofilter_to_bytea
 *		The cast to bytea: the binary form.
 */
Datum
cuckoofilter_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(io_pack_image(PG_GETARG_DATUM(0)));
}

/*
 * cuckoofilter_from_bytea
 *		The cast from bytea.
 */
Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *const copy = PG_GETARG_BYTEA_P_COPY(0);

	PG_RETURN_POINTER(io_unpack_image(copy, VARSIZE(copy) - VARHDRSZ,
									  ERRCODE_INVALID_BINARY_REPRESENTATION,
									  "invalid cuckoofilter in a bytea", NULL));
}

/*
 * io_compare
 *		Filters in the order of their bytes; a prefix comes first.
 *
 * An order like any other: it is what DISTINCT, GROUP BY and indexes need.
 */
static int
io_compare(FunctionCallInfo fcinfo)
{
	struct varlena *const a = cuckoo_expanded_flat(PG_GETARG_DATUM(0));
	struct varlena *const b = cuckoo_expanded_flat(PG_GETARG_DATUM(1));
	const size_t a_bytes = VARSIZE_ANY_EXHDR(a);
	const size_t b_bytes = VARSIZE_ANY_EXHDR(b);
	int			result;

	result = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(a_bytes, b_bytes));
	if (result == 0)
		result = (a_bytes > b_bytes) - (a_bytes < b_bytes);
	cuckoo_expanded_flat_release(a, PG_GETARG_DATUM(0));
	cuckoo_expanded_flat_release(b, PG_GETARG_DATUM(1));
	return result;
}

Datum
cf_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(io_compare(fcinfo));
}

/* The sizes are known without reading what is stored out of line. */
static bool
io_are_equal(FunctionCallInfo fcinfo)
{
	return toast_raw_datum_size(PG_GETARG_DATUM(0)) ==
		toast_raw_datum_size(PG_GETARG_DATUM(1)) && io_compare(fcinfo) == 0;
}

Datum
cf_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(io_are_equal(fcinfo));
}

Datum
cf_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!io_are_equal(fcinfo));
}

Datum
cf_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(io_compare(fcinfo) < 0);
}

Datum
cf_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(io_compare(fcinfo) <= 0);
}

Datum
cf_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(io_compare(fcinfo) > 0);
}

Datum
cf_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(io_compare(fcinfo) >= 0);
}

/*
 * cuckoofilter_hash, cuckoofilter_hash_extended
 *		The hash of a filter's bytes, for the hash operator class.
 *
 * Not to be confused with cf_hash(), which hashes a value for a filter.
 */
Datum
cuckoofilter_hash(PG_FUNCTION_ARGS)
{
	struct varlena *const datum = cuckoo_expanded_flat(PG_GETARG_DATUM(0));
	const uint32 hash = hash_bytes((const unsigned char *) VARDATA_ANY(datum),
								   (int) VARSIZE_ANY_EXHDR(datum));

	cuckoo_expanded_flat_release(datum, PG_GETARG_DATUM(0));
	PG_RETURN_UINT32(hash);
}

Datum
cuckoofilter_hash_extended(PG_FUNCTION_ARGS)
{
	struct varlena *const datum = cuckoo_expanded_flat(PG_GETARG_DATUM(0));
	const uint64 hash =
		hash_bytes_extended((const unsigned char *) VARDATA_ANY(datum),
							(int) VARSIZE_ANY_EXHDR(datum),
							(uint64) PG_GETARG_INT64(1));

	cuckoo_expanded_flat_release(datum, PG_GETARG_DATUM(0));
	PG_RETURN_UINT64(hash);
}
