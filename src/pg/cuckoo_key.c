/*-------------------------------------------------------------------------
 *
 * cuckoo_key.c
 *		SQL values to canonical key bytes, and those to hashes.
 *
 * What the bytes are is specified in docs/format.md, section "Keys"; stored
 * filters depend on every one of them.  They follow what "=" compares, which
 * is not always what a value stores:
 *
 *	- int2, int4, int8 and numeric are one family: a numeric without fraction
 *	  that fits is the same eight bytes as the integer.
 *	- float4 and float8 are one family, with one zero and one NaN.
 *	- The text types are one family: characters in UTF-8, an enum by its
 *	  label, which survives a dump where its OID does not.  A char(n) is the
 *	  text without its trailing blanks, in a family of its own.
 *	- Composite keys put family and length before the key bytes of each part,
 *	  so that no two different values run together to the same bytes.
 *
 * Keys of a fixed small size are made on the stack, texts and byteas are
 * hashed where they lie, and everything else is put together in a scratch
 * context of the call site, which is reset for each value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>
#include <sys/socket.h>

#include "access/htup_details.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/varbit.h"

#include "../core/cuckoo_bytes.h"
#include "../core/cuckoo_hash.h"
#include "cuckoo_key.h"
#include "cuckoo_number.h"
#include "cuckoo_string.h"
#include "pg_compat.h"

/* first byte of each value in the key of a jsonb */
#define KEY_JSONB_NULL			0
#define KEY_JSONB_FALSE			1
#define KEY_JSONB_TRUE			2
#define KEY_JSONB_NUMBER		3
#define KEY_JSONB_STRING		4
#define KEY_JSONB_ARRAY			5
#define KEY_JSONB_OBJECT		6

/* first byte of the key of a range */
#define KEY_RANGE_EMPTY			0x01
#define KEY_RANGE_LOWER_INC		0x02
#define KEY_RANGE_UPPER_INC		0x04
#define KEY_RANGE_LOWER_INF		0x08
#define KEY_RANGE_UPPER_INF		0x10

/* the bit pattern every NaN is given */
#define KEY_FLOAT_NAN			UINT64_C(0x7FF8000000000000)

/* the longest key that key_small_key() makes: inet with an IPv6 address */
#define SMALL_KEY_BYTES			18

/*
 * The fields of a row type, as found in the last record seen.  All of it is
 * in a memory context of its own, deleted when a record of another row type
 * comes along.
 */
typedef struct RecordLayout
{
	MemoryContext mcxt;
	Oid			typid;
	int32		typmod;
	int			natts;			/* dropped columns included */
	int			nfields;		/* without them */
	Oid		   *types;			/* per attribute, to notice ALTER TYPE */
	Oid		   *collations;
	CuckooHasher **fields;		/* NULL for a dropped column */
	Datum	   *values;			/* workspace */
	bool	   *nulls;
} RecordLayout;

static void key_append_key(CuckooHasher *hasher, Datum value, StringInfo buf);
static void key_append_json_container(JsonbContainer *container,
									  StringInfo buf);

/*-------------------------------------------------------------------------
 * Keys of a small fixed size
 *-------------------------------------------------------------------------
 */

/*
 * key_float_key
 *		The bits of a float8: one zero, one NaN.
 */
static inline uint64
key_float_key(float8 number)
{
	uint64		bits;

	if (isnan(number))
		return KEY_FLOAT_NAN;
	if (number == 0)
		number = 0;				/* from -0 too */
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

/*
 * key_interval_key
 *		The length of an interval in microseconds, in 16 bytes.
 *
 * A month counts as 30 days and a day as 24 hours, as in interval_cmp_value()
 * of the server.  The infinite intervals of 17 and later have extreme fields,
 * and so extreme lengths that no finite one reaches.
 */
static void
key_interval_key(const Interval *interval, uint8 *out)
{
	/* a day in microseconds is 10546875 * 2^13, and this below 2^62 */
	const int64 units = ((int64) interval->month * DAYS_PER_MONTH +
						 interval->day) * 10546875;
	const uint64 addend = (uint64) interval->time;
	uint64		low;
	uint64		high;

	/* units * 2^13 in two halves, the higher one rounded down */
	low = (uint64) units * 8192;
	high = (uint64) units / (UINT64_C(1) << 51);
	if (units < 0)
		high -= 8192;			/* the 2^64 in which units was taken as */

	low += addend;
	high += (low < addend);
	if (interval->time < 0)
		high--;

	cuckoo_store_le64(out, low);
	cuckoo_store_le64(out + 8, high);
}

/*
 * key_inet_key
 *		IP version, length of the network mask, address.
 */
static int
key_inet_key(Datum value, uint8 *out)
{
	inet	   *const address = DatumGetInetPP(value);
	const int	nbytes = ip_addrsize(address);

	out[0] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
	out[1] = ip_bits(address);
	memcpy(out + 2, ip_addr(address), nbytes);

	if ((Pointer) address != DatumGetPointer(value))
		pfree(address);
	return 2 + nbytes;
}

/*
 * key_small_key
 *		Write the key bytes of a value of a small kind.
 *
 * out has room for SMALL_KEY_BYTES.  Returns the number of bytes.
 */
static inline int
key_small_key(KeyKind kind, Datum value, uint8 *out)
{
	switch (kind)
	{
		case KEY_INT2:
			cuckoo_store_le64(out, (uint64) (int64) DatumGetInt16(value));
			return 8;

		case KEY_INT4:
			cuckoo_store_le64(out, (uint64) (int64) DatumGetInt32(value));
			return 8;

		case KEY_INT8:
			cuckoo_store_le64(out, (uint64) DatumGetInt64(value));
			return 8;

		case KEY_FLOAT4:
			cuckoo_store_le64(out,
							  key_float_key((float8) DatumGetFloat4(value)));
			return 8;

		case KEY_FLOAT8:
			cuckoo_store_le64(out, key_float_key(DatumGetFloat8(value)));
			return 8;

		case KEY_BOOL:
			out[0] = DatumGetBool(value) ? 1 : 0;
			return 1;

		case KEY_OID:
			cuckoo_store_le64(out, DatumGetObjectId(value));
			return 4;

		case KEY_TIMETZ:
			{
				const TimeTzADT *time = DatumGetTimeTzADTP(value);

				cuckoo_store_le64(out, (uint64) time->time);
				cuckoo_store_le64(out + 8, (uint64) (int64) time->zone);
				return 12;
			}

		case KEY_INTERVAL:
			key_interval_key(DatumGetIntervalP(value), out);
			return 16;

		case KEY_INET:
			return key_inet_key(value, out);

		default:
			break;
	}

	elog(ERROR, "unexpected kind of filter key: %d", (int) kind);
	return 0;					/* not reached */
}

/*-------------------------------------------------------------------------
 * Strings
 *-------------------------------------------------------------------------
 */

/*
 * key_string_key
 *		Find the key bytes of a value of a string kind.
 *
 * They stay valid as long as the value and until cuckoo_string_free().
 */
static inline void
key_string_key(CuckooHasher *hasher, Datum value, CuckooString *string)
{
	string->detoasted = NULL;
	string->converted = NULL;

	switch (hasher->kind)
	{
		case KEY_FIXED:
			string->bytes = DatumGetPointer(value);
			string->nbytes = hasher->typlen;
			return;

		case KEY_VARLENA:
			cuckoo_string_of_varlena(value, string);
			return;

		case KEY_TEXT:
			cuckoo_string_of_varlena(value, string);
			break;

		case KEY_BPCHAR:
			cuckoo_string_of_varlena(value, string);
			string->nbytes = cuckoo_string_unpadded_length(string->bytes,
														   string->nbytes);
			break;

		case KEY_NAME:
			string->bytes = NameStr(*DatumGetName(value));
			string->nbytes = strnlen(string->bytes, NAMEDATALEN);
			break;

		case KEY_CSTRING:
			string->bytes = DatumGetCString(value);
			string->nbytes = strlen(string->bytes);
			break;

		case KEY_CHAR:
			cuckoo_string_of_char((uint8) DatumGetChar(value), string);
			return;

		case KEY_ENUM:
			{
				const CuckooLabel *label =
					cuckoo_label_find(&hasher->labels, DatumGetObjectId(value),
									  hasher->mcxt);

				string->bytes = label->bytes;
				string->nbytes = label->nbytes;
				return;
			}

		default:
			elog(ERROR, "unexpected kind of filter key: %d", (int) hasher->kind);
	}

	cuckoo_string_convert(string);
}

/*-------------------------------------------------------------------------
 * Everything else: appended to a buffer
 *-------------------------------------------------------------------------
 */

/*
 * store_int32, append_int32
 *		The low 32 bits of a number, little-endian.
 */
static inline void
key_store_int32(char *out, int64 number)
{
	uint8		bytes[8];

	cuckoo_store_le64(bytes, (uint64) number);
	memcpy(out, bytes, 4);
}

static inline void
key_append_int32(StringInfo buf, int64 number)
{
	char		bytes[4];

	key_store_int32(bytes, number);
	appendBinaryStringInfo(buf, bytes, sizeof(bytes));
}

static inline void
key_append_byte(StringInfo buf, int byte)
{
	appendStringInfoChar(buf, (char) byte);
}

/*
 * begin_length, end_length
 *		Put four bytes of length before what is appended between the two.
 */
static inline int
key_begin_length(StringInfo buf)
{
	key_append_int32(buf, 0);
	return buf->len;
}

static inline void
key_end_length(StringInfo buf, int start)
{
	key_store_int32(buf->data + start - 4, buf->len - start);
}

/*
 * key_append_element
 *		One part of a composite key: its family, length and key bytes, or the
 *		mark of a NULL.
 *
 * A composite does not tell whether its parts are text or char(n), which "="
 * of two rows compares without trailing blanks.  So a part has none of them,
 * and is a text in either case.
 */
static void
key_append_element(CuckooHasher *hasher, Datum value, bool is_null, StringInfo buf)
{
	const bool	is_text = cuckoo_family_accepts(CUCKOO_FAMILY_CHAR,
												hasher->family);
	int			start;

	if (is_null)
	{
		key_append_byte(buf, CUCKOO_FAMILY_NONE);
		return;
	}

	key_append_byte(buf, is_text ? CUCKOO_FAMILY_TEXT : hasher->family);
	start = key_begin_length(buf);
	key_append_key(hasher, value, buf);
	if (is_text)
		buf->len = start + cuckoo_string_unpadded_length(buf->data + start,
														 buf->len - start);
	key_end_length(buf, start);
}

/*
 * key_append_bit
 *		The number of bits, then the bits, first one highest, the last byte
 *		filled up with zeros.
 */
static void
key_append_bit(Datum value, StringInfo buf)
{
	VarBit	   *const bits = DatumGetVarBitP(value);

	key_append_int32(buf, VARBITLEN(bits));
	appendBinaryStringInfo(buf, (const char *) VARBITS(bits),
						   VARBITBYTES(bits));

	if ((Pointer) bits != DatumGetPointer(value))
		pfree(bits);
}

/* A key of a jsonb object, in UTF-8, with its value. */
typedef struct JsonPair
{
	CuckooString key;
	JsonbValue	value;
} JsonPair;

static int
key_compare_json_pairs(const void *a, const void *b, void *unused)
{
	const CuckooString *const left = &((const JsonPair *) a)->key;
	const CuckooString *const right = &((const JsonPair *) b)->key;
	const int	order = memcmp(left->bytes, right->bytes,
							   Min(left->nbytes, right->nbytes));

	if (order != 0)
		return order;
	return left->nbytes < right->nbytes ? -1 : left->nbytes > right->nbytes;
}

static void
key_append_string(const CuckooString *string, StringInfo buf)
{
	key_append_int32(buf, (int64) string->nbytes);
	appendBinaryStringInfo(buf, string->bytes, (int) string->nbytes);
}

static void
key_json_string(const JsonbValue *value, CuckooString *string)
{
	string->bytes = value->val.string.val;
	string->nbytes = value->val.string.len;
	string->detoasted = NULL;
	cuckoo_string_convert(string);
}

static void
key_append_json_value(const JsonbValue *value, StringInfo buf)
{
	CuckooString string;
	int			start;

	CHECK_FOR_INTERRUPTS();

	switch (value->type)
	{
		case jbvNull:
			key_append_byte(buf, KEY_JSONB_NULL);
			break;

		case jbvBool:
			key_append_byte(buf, value->val.boolean ?
							KEY_JSONB_TRUE : KEY_JSONB_FALSE);
			break;

		case jbvNumeric:
			key_append_byte(buf, KEY_JSONB_NUMBER);
			start = key_begin_length(buf);
			cuckoo_number_append(NumericGetDatum(value->val.numeric), buf);
			key_end_length(buf, start);
			break;

		case jbvString:
			key_json_string(value, &string);
			key_append_byte(buf, KEY_JSONB_STRING);
			key_append_string(&string, buf);
			cuckoo_string_free(&string);
			break;

		case jbvBinary:
			key_append_json_container(value->val.binary.data, buf);
			break;

		default:
			elog(ERROR, "unexpected kind of jsonb value: %d",
				 (int) value->type);
	}
}

/*
 * key_append_json_container
 *		An array, object or lone scalar of a jsonb.
 *
 * jsonb keeps the keys of an object in an order of its own, which depends on
 * their length in the server's encoding.  Here they are in the order of their
 * UTF-8 bytes.
 */
static void
key_append_json_container(JsonbContainer *container, StringInfo buf)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	int			start;
	int			nelements = 0;

	check_stack_depth();

	iterator = JsonbIteratorInit(container);
	token = JsonbIteratorNext(&iterator, &value, true);

	if (token == WJB_BEGIN_ARRAY && value.val.array.rawScalar)
	{
		token = JsonbIteratorNext(&iterator, &value, true);
		if (token != WJB_ELEM)
			elog(ERROR, "unexpected jsonb token: %d", (int) token);
		key_append_json_value(&value, buf);
		pfree(iterator);
	}
	else if (token == WJB_BEGIN_ARRAY)
	{
		key_append_byte(buf, KEY_JSONB_ARRAY);
		start = key_begin_length(buf);
		while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
		{
			key_append_json_value(&value, buf);
			nelements++;
		}
		key_store_int32(buf->data + start - 4, nelements);
	}
	else if (token == WJB_BEGIN_OBJECT)
	{
		const int	npairs = value.val.object.nPairs;
		JsonPair   *const pairs =
			palloc_extended(((Size) npairs + 1) * sizeof(JsonPair),
							MCXT_ALLOC_HUGE);

		while (nelements < npairs)
		{
			token = JsonbIteratorNext(&iterator, &value, true);
			if (token != WJB_KEY)
				elog(ERROR, "unexpected jsonb token: %d", (int) token);
			key_json_string(&value, &pairs[nelements].key);
			token = JsonbIteratorNext(&iterator, &pairs[nelements].value,
									  true);
			if (token != WJB_VALUE)
				elog(ERROR, "unexpected jsonb token: %d", (int) token);
			nelements++;
		}
		pfree(iterator);
		qsort_interruptible(pairs, npairs, sizeof(JsonPair),
							key_compare_json_pairs, NULL);

		key_append_byte(buf, KEY_JSONB_OBJECT);
		key_append_int32(buf, npairs);
		for (int i = 0; i < npairs; i++)
		{
			key_append_string(&pairs[i].key, buf);
			key_append_json_value(&pairs[i].value, buf);
			cuckoo_string_free(&pairs[i].key);
		}
		pfree(pairs);
	}
	else
		elog(ERROR, "unexpected jsonb token: %d", (int) token);
}

/*
 * key_append_array
 *		Number of dimensions, length and lower bound of each, then the
 *		elements.
 */
static void
key_append_array(CuckooHasher *hasher, Datum value, StringInfo buf)
{
	ArrayType  *const array = DatumGetArrayTypeP(value);
	const int	ndims = ARR_NDIM(array);
	CuckooHasher *const element = hasher->element;
	ArrayMetaState meta;
	ArrayIterator iterator;
	Datum		item;
	bool		is_null;

	key_append_int32(buf, ndims);
	for (int i = 0; i < ndims; i++)
	{
		key_append_int32(buf, ARR_DIMS(array)[i]);
		key_append_int32(buf, ARR_LBOUND(array)[i]);
	}

	if (ndims > 0)
	{
		memset(&meta, 0, sizeof(meta));
		meta.element_type = ARR_ELEMTYPE(array);
		meta.typlen = element->typlen;
		meta.typbyval = element->typbyval;
		meta.typalign = element->typalign;

		iterator = array_create_iterator(array, 0, &meta);
		while (array_iterate(iterator, &item, &is_null))
		{
			CHECK_FOR_INTERRUPTS();
			key_append_element(element, item, is_null, buf);
		}
		array_free_iterator(iterator);
	}

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
}

/*
 * key_layout_matches
 *		Is this the row type the layout was made for, and unchanged since?
 */
static bool
key_layout_matches(const RecordLayout *layout, TupleDesc tupdesc)
{
	if (layout->typid != tupdesc->tdtypeid ||
		layout->typmod != tupdesc->tdtypmod ||
		layout->natts != tupdesc->natts)
		return false;

	for (int i = 0; i < layout->natts; i++)
	{
		const FormData_pg_attribute *att = TupleDescAttr(tupdesc, i);

		if (att->attisdropped ? layout->fields[i] != NULL :
			(layout->fields[i] == NULL ||
			 layout->types[i] != att->atttypid ||
			 layout->collations[i] != att->attcollation))
			return false;
	}
	return true;
}

/*
 * key_record_layout
 *		The keys of the fields of a row type.
 *
 * All fields are resolved, also one that is NULL in this record: whether a
 * type is accepted does not depend on the data.
 */
static RecordLayout *
key_record_layout(CuckooHasher *hasher, TupleDesc tupdesc)
{
	RecordLayout *layout = hasher->layout;
	MemoryContext mcxt;
	const int	natts = tupdesc->natts;

	if (layout != NULL && key_layout_matches(layout, tupdesc))
		return layout;

	/* a type that is refused takes what there is of it along, in scratch */
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "cuckoo record layout",
								 ALLOCSET_SMALL_SIZES);
	layout = MemoryContextAllocZero(mcxt, sizeof(RecordLayout));
	layout->mcxt = mcxt;
	layout->typid = tupdesc->tdtypeid;
	layout->typmod = tupdesc->tdtypmod;
	layout->natts = natts;
	layout->types = MemoryContextAllocZero(mcxt, (natts + 1) * sizeof(Oid));
	layout->collations = MemoryContextAllocZero(mcxt,
												(natts + 1) * sizeof(Oid));
	layout->fields = MemoryContextAllocZero(mcxt,
											(natts +
											 1) * sizeof(CuckooHasher *));
	layout->values = MemoryContextAllocZero(mcxt, (natts + 1) * sizeof(Datum));
	layout->nulls = MemoryContextAllocZero(mcxt, (natts + 1) * sizeof(bool));

	for (int i = 0; i < natts; i++)
	{
		const FormData_pg_attribute *att = TupleDescAttr(tupdesc, i);

		if (att->attisdropped)
			continue;
		layout->types[i] = att->atttypid;
		layout->collations[i] = att->attcollation;
		layout->fields[i] = cuckoo_hasher_for_type(att->atttypid,
												   att->attcollation, mcxt);
		layout->nfields++;
	}

	MemoryContextSetParent(mcxt, hasher->mcxt);
	if (hasher->layout != NULL)
		MemoryContextDelete(hasher->layout->mcxt);
	hasher->layout = layout;
	return layout;
}

/*
 * key_append_record
 *		Number of fields, then the fields, dropped columns left out.
 *
 * A record says itself of which row type it is; an anonymous one can be of
 * another in every row.
 */
static void
key_append_record(CuckooHasher *hasher, Datum value, StringInfo buf)
{
	HeapTupleHeader const header = DatumGetHeapTupleHeader(value);
	TupleDesc	tupdesc;
	RecordLayout *layout;
	HeapTupleData tuple;

	tupdesc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
									 HeapTupleHeaderGetTypMod(header));
	layout = key_record_layout(hasher, tupdesc);

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, tupdesc, layout->values, layout->nulls);

	key_append_int32(buf, layout->nfields);
	for (int i = 0; i < layout->natts; i++)
	{
		if (layout->fields[i] != NULL)
			key_append_element(layout->fields[i], layout->values[i],
							   layout->nulls[i], buf);
	}

	ReleaseTupleDesc(tupdesc);
	if ((Pointer) header != DatumGetPointer(value))
		pfree(header);
}

/*
 * key_append_range
 *		A byte of flags, then the bounds that are finite, the lower one first.
 *
 * The ranges of discrete types are in canonical form already.
 */
static void
key_append_range(CuckooHasher *hasher, Datum value, StringInfo buf)
{
	RangeType  *const range = DatumGetRangeTypeP(value);
	RangeBound	lower;
	RangeBound	upper;
	bool		is_empty;
	int			flags = 0;

	range_deserialize(hasher->typcache, range, &lower, &upper, &is_empty);

	if (is_empty)
		key_append_byte(buf, KEY_RANGE_EMPTY);
	else
	{
		if (lower.infinite)
			flags |= KEY_RANGE_LOWER_INF;
		else if (lower.inclusive)
			flags |= KEY_RANGE_LOWER_INC;
		if (upper.infinite)
			flags |= KEY_RANGE_UPPER_INF;
		else if (upper.inclusive)
			flags |= KEY_RANGE_UPPER_INC;
		key_append_byte(buf, flags);

		if (!lower.infinite)
			key_append_element(hasher->element, lower.val, false, buf);
		if (!upper.infinite)
			key_append_element(hasher->element, upper.val, false, buf);
	}

	if ((Pointer) range != DatumGetPointer(value))
		pfree(range);
}

/*
 * key_append_multirange
 *		Number of ranges, then the ranges, which are in canonical form already.
 */
static void
key_append_multirange(CuckooHasher *hasher, Datum value, StringInfo buf)
{
	MultirangeType *const multirange = DatumGetMultirangeTypeP(value);
	RangeType **ranges;
	int32		nranges;

	multirange_deserialize(hasher->typcache->rngtype, multirange,
						   &nranges, &ranges);

	key_append_int32(buf, nranges);
	for (int i = 0; i < nranges; i++)
	{
		CHECK_FOR_INTERRUPTS();
		key_append_element(hasher->element, RangeTypePGetDatum(ranges[i]), false,
						   buf);
		pfree(ranges[i]);
	}

	if (ranges != NULL)
		pfree(ranges);
	if ((Pointer) multirange != DatumGetPointer(value))
		pfree(multirange);
}

/*
 * key_append_key
 *		Append the key bytes of a value of any kind.
 */
static void
key_append_key(CuckooHasher *hasher, Datum value, StringInfo buf)
{
	check_stack_depth();

	if (hasher->form == KEY_FORM_SMALL)
	{
		uint8		bytes[SMALL_KEY_BYTES];
		const int	nbytes = key_small_key(hasher->kind, value, bytes);

		appendBinaryStringInfo(buf, (const char *) bytes, nbytes);
		return;
	}

	if (hasher->form == KEY_FORM_STRING)
	{
		CuckooString string;

		key_string_key(hasher, value, &string);
		appendBinaryStringInfo(buf, string.bytes, (int) string.nbytes);
		cuckoo_string_free(&string);
		return;
	}

	switch (hasher->kind)
	{
		case KEY_NUMERIC:
			cuckoo_number_append(value, buf);
			break;

		case KEY_BIT:
			key_append_bit(value, buf);
			break;

		case KEY_JSONB:
			{
				Jsonb	   *const jsonb = DatumGetJsonbP(value);

				key_append_json_container(&jsonb->root, buf);
				if ((Pointer) jsonb != DatumGetPointer(value))
					pfree(jsonb);
				break;
			}

		case KEY_ARRAY:
			key_append_array(hasher, value, buf);
			break;

		case KEY_RECORD:
			key_append_record(hasher, value, buf);
			break;

		case KEY_RANGE:
			key_append_range(hasher, value, buf);
			break;

		case KEY_MULTIRANGE:
			key_append_multirange(hasher, value, buf);
			break;

		default:
			elog(ERROR, "unexpected kind of filter key: %d", (int) hasher->kind);
	}
}

/*-------------------------------------------------------------------------
 * The hash
 *-------------------------------------------------------------------------
 */

/*
 * key_buffer_hash
 *		The hash of a key that has to be put together first.
 *
 * All of it happens in the scratch context.  Should it end with an error, the
 * context is emptied by the next call or goes with its parent.
 */
static uint64
key_buffer_hash(CuckooHasher *hasher, Datum value, uint64 seed)
{
	MemoryContext caller;
	StringInfoData buf;
	uint64		hash;

	if (hasher->scratch == NULL)
		hasher->scratch = AllocSetContextCreate(hasher->mcxt, "cuckoo key",
												ALLOCSET_DEFAULT_SIZES);

	MemoryContextReset(hasher->scratch);
	caller = MemoryContextSwitchTo(hasher->scratch);
	initStringInfo(&buf);
	key_append_key(hasher, value, &buf);
	hash = cuckoo_hash(buf.data, buf.len, seed);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(hasher->scratch);

	return hash;
}

/*
 * cuckoo_hash_value
 *		The hash of a value.
 */
uint64
cuckoo_hash_value(CuckooHasher *hasher, Datum value, uint64 seed)
{
	if (hasher->form == KEY_FORM_SMALL)
	{
		uint8		bytes[SMALL_KEY_BYTES];
		const int	nbytes = key_small_key(hasher->kind, value, bytes);

		return cuckoo_hash(bytes, nbytes, seed);
	}

	if (hasher->form == KEY_FORM_STRING)
	{
		CuckooString string;
		uint64		hash;

		key_string_key(hasher, value, &string);
		hash = cuckoo_hash(string.bytes, string.nbytes, seed);
		cuckoo_string_free(&string);
		return hash;
	}

	return key_buffer_hash(hasher, value, seed);
}

/*
 * cuckoo_hash_text_as_char
 *		The hash of a value of the text family without its trailing blanks.
 */
uint64
cuckoo_hash_text_as_char(CuckooHasher *hasher, Datum value, uint64 seed)
{
	CuckooString string;
	uint64		hash;

	key_string_key(hasher, value, &string);
	hash = cuckoo_hash(string.bytes,
					   cuckoo_string_unpadded_length(string.bytes, string.nbytes),
					   seed);
	cuckoo_string_free(&string);
	return hash;
}
