/*-------------------------------------------------------------------------
 *
 * fuzz_input.c
 *		Any bytes as input of the type, and as the state of an aggregate.
 *
 * The first byte chooses the way in: text, binary form or bytea, as they are
 * or with a checksum that fits and in base64; or a serialized state of cf_agg,
 * as it is or with its fields in range.  What is let in must be sound, and come
 * back the same after going out by every way there is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "core/cuckoo_hash.h"
#include "pg/cuckoo_pg.h"
#include "server_shim.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Functions of the glue; fmgr.h declares them where they are defined. */
extern Datum cuckoofilter_out(PG_FUNCTION_ARGS);
extern Datum cuckoofilter_recv(PG_FUNCTION_ARGS);
extern Datum cuckoofilter_send(PG_FUNCTION_ARGS);
extern Datum cuckoofilter_to_bytea(PG_FUNCTION_ARGS);
extern Datum cuckoofilter_from_bytea(PG_FUNCTION_ARGS);
extern Datum cf_agg_combine(PG_FUNCTION_ARGS);
extern Datum cf_agg_serialize(PG_FUNCTION_ARGS);
extern Datum cf_agg_deserialize(PG_FUNCTION_ARGS);
extern Datum cf_agg_final(PG_FUNCTION_ARGS);

#define MAX_BYTES	65536

#define CHECK(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

/* Bytes with room before and behind them, made into what a function takes. */
typedef struct Bytes
{
	uint8		data[2 * MAX_BYTES + 64];
	size_t		length;
} Bytes;

static void
append(Bytes *bytes, const void *data, size_t length)
{
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

/* Call what must not fail. */
static Datum
call(PGFunction function, Datum first, Datum second)
{
	Datum		result;

	CHECK(shim_call(function, first, second, &result));
	return result;
}

/* Of exactly so many bytes, so that a sanitizer sees a read beyond. */
static Datum
as_bytea(const Bytes *bytes)
{
	struct varlena *const datum = palloc(VARHDRSZ + bytes->length);

	SET_VARSIZE(datum, VARHDRSZ + bytes->length);
	memcpy(VARDATA(datum), bytes->data, bytes->length);
	return PointerGetDatum(datum);
}

static Datum
as_cstring(const Bytes *bytes)
{
	char	   *const string = palloc(bytes->length + 1);

	memcpy(string, bytes->data, bytes->length);
	string[bytes->length] = '\0';
	return CStringGetDatum(string);
}

/* A message of one value; its buffer is not zero-terminated. */
static Datum
as_message(const void *data, size_t length)
{
	StringInfo	message = palloc(sizeof(StringInfoData));

	message->data = palloc(length);
	memcpy(message->data, data, length);
	message->len = (int) length;
	message->maxlen = (int) length;
	message->cursor = 0;
	return PointerGetDatum(message);
}

static bool
same_datum(Datum a, Datum b)
{
	const struct varlena *const x = (struct varlena *) DatumGetPointer(a);
	const struct varlena *const y = (struct varlena *) DatumGetPointer(b);

	return VARSIZE(x) == VARSIZE(y) && memcmp(x, y, VARSIZE(x)) == 0;
}

/* A filter that was let in: sound, and the same by every way out and in. */
static void
check_filter(Datum datum)
{
	struct varlena *const filter_datum =
		(struct varlena *) DatumGetPointer(datum);
	struct varlena *sent;
	CuckooFilter filter;
	uint64_t	position;

	CHECK(cuckoo_image_open(&filter, (uint8 *) VARDATA(filter_datum),
							VARSIZE(filter_datum) - VARHDRSZ) == CUCKOO_OK);
	CHECK(cuckoo_image_check(&filter, NULL, &position) == CUCKOO_OK);

	CHECK(same_datum(datum,
					 call(cuckoofilter_in, call(cuckoofilter_out, datum, 0),
						  0)));
	sent = (struct varlena *)
		DatumGetPointer(call(cuckoofilter_send, datum, 0));
	CHECK(same_datum(datum,
					 call(cuckoofilter_recv,
						  as_message(VARDATA(sent), VARSIZE(sent) - VARHDRSZ),
						  0)));
	CHECK(same_datum(datum,
					 call(cuckoofilter_from_bytea,
						  call(cuckoofilter_to_bytea, datum, 0), 0)));
}

/*
 * A state that was let in: the same again, and good for a filter.  It can but
 * be combined with another one, or none.
 */
static void
check_state(Datum bytes, Datum sent)
{
	struct varlena *const input = (struct varlena *) DatumGetPointer(bytes);
	const Datum state = call(cf_agg_combine, 0, sent);
	const Datum serialized = call(cf_agg_serialize, state, 0);
	Datum		combined;
	Datum		filter;
	Datum		other;

	/* but for flags, of which any value that is not zero is true */
	CHECK(VARSIZE(input) ==
		  VARSIZE((struct varlena *) DatumGetPointer(serialized)));
	CHECK(same_datum(serialized,
					 call(cf_agg_serialize,
						  call(cf_agg_combine, 0,
							   call(cf_agg_deserialize, serialized, 0)),
						  0)));

	if (!shim_call(cf_agg_final, state, 0, &filter))
		return;
	check_filter(filter);

	/* with itself: the same values */
	combined = call(cf_agg_combine, 0, state);
	combined = call(cf_agg_combine, combined,
					call(cf_agg_deserialize, serialized, 0));
	if (shim_call(cf_agg_final, combined, 0, &other))
	{
		check_filter(other);
		if (VARDATA(input)[33] == 1)
			CHECK(same_datum(filter, other));
	}
}

static int
compare_keys(const void *a, const void *b)
{
	const uint64 x = cuckoo_load_le64(a);
	const uint64 y = cuckoo_load_le64(b);

	return x < y ? -1 : x > y;
}

static void
append_number(Bytes *bytes, uint64 number, int nbytes)
{
	while (nbytes-- > 0)
		bytes->data[bytes->length++] = (uint8) (number >> 8 * nbytes);
}

static void
append_float8(Bytes *bytes, float8 value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	append_number(bytes, bits, 8);
}

/*
 * make_state
 *		A state whose fields are in range, of a few bytes and some keys.
 */
static void
make_state(Bytes *state, const uint8_t *data, size_t length)
{
	const int	max_copies = length > 1 ? 1 + (data[1] & 3) : 1;
	const size_t nkeys = length > 4 ? (length - 4) / 8 : 0;

	for (int i = 0; i < 4; i++)
		append_number(state, length > 0 ? data[0] >> i & 1 : 0, 1);
	append_float8(state, length > 3 ? 1 + data[3] * data[2] : 1);
	append_float8(state, ldexp(1, length > 2 ? -1 - data[2] % 40 : -7));
	append_number(state, max_copies, 4);
	append_number(state, length > 2 ? data[2] : 0, 8);
	append_number(state, length > 1 ? (data[1] >> 3) % 24 : 0, 1);
	append_number(state, length > 0 && data[0] & 16 ? max_copies : 1, 1);
	append_number(state, nkeys, 8);
	if (nkeys > 0)
	{
		append(state, data + 4, 8 * nkeys);
		qsort(state->data + state->length - 8 * nkeys, nkeys, 8, compare_keys);
	}
}

static void
append_checksum(Bytes *bytes)
{
	cuckoo_store_le64(bytes->data + bytes->length,
					  cuckoo_checksum(bytes->data, bytes->length));
	bytes->length += 8;
}

/* "cf1:" and the base64 of what is there. */
static void
encode(Bytes *bytes)
{
	static Bytes text;

	text.length = 0;
	append(&text, "cf1:", 4);
	text.length += cuckoo_b64_encode(bytes->data, bytes->length,
									 (char *) text.data + 4,
									 sizeof(text.data) - 4);
	*bytes = text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static Bytes bytes;
	Datum		input;
	Datum		result;

	if (length == 0 || length > MAX_BYTES)
		return 0;
	bytes.length = 0;
	if (data[0] % 8 != 7)
		append(&bytes, data + 1, length - 1);

	switch (data[0] % 8)
	{
		case 0:
			if (shim_call(cuckoofilter_in, as_cstring(&bytes), 0, &result))
				check_filter(result);
			break;
		case 1:
			append_checksum(&bytes);
			encode(&bytes);
			if (shim_call(cuckoofilter_in, as_cstring(&bytes), 0, &result))
				check_filter(result);
			break;
		case 2:
			encode(&bytes);
			if (shim_call(cuckoofilter_in, as_cstring(&bytes), 0, &result))
				check_filter(result);
			break;
		case 3:
			if (shim_call(cuckoofilter_recv,
						  as_message(bytes.data, bytes.length), 0, &result))
				check_filter(result);
			break;
		case 4:
			append_checksum(&bytes);
			if (shim_call(cuckoofilter_recv,
						  as_message(bytes.data, bytes.length), 0, &result))
				check_filter(result);
			break;
		case 5:
			if (length % 2 == 0)
				append_checksum(&bytes);
			if (shim_call(cuckoofilter_from_bytea, as_bytea(&bytes), 0,
						  &result))
				check_filter(result);
			break;
		default:
			if (data[0] % 8 == 7)
				make_state(&bytes, data + 1, length - 1);
			input = as_bytea(&bytes);
			if (shim_call(cf_agg_deserialize, input, 0, &result))
				check_state(input, result);
			break;
	}
	shim_reset();
	return 0;
}
