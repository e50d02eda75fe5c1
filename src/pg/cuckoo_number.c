/*-------------------------------------------------------------------------
 *
 * cuckoo_number.c
 *		The key bytes of numerics.
 *
 * A numeric without fraction that fits is the same eight bytes as the integer,
 * so that all numbers are one family.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "../core/cuckoo_bytes.h"
#include "cuckoo_number.h"
#include "pg_compat.h"

/* numeric_send(): four int16 before the digits, which are base 10000 */
#define NUMERIC_SEND_HEADER	8
#define NUMERIC_SEND_NEG	0x4000
#define NUMERIC_SEND_NAN	0xC000
#define NUMERIC_SEND_PINF	0xD000
#define NUMERIC_SEND_NINF	0xF000
#define NUMERIC_BASE		10000

/* first byte of the key of a numeric that is no int64 */
#define KEY_NUMERIC_POSITIVE	1
#define KEY_NUMERIC_NEGATIVE	2
#define KEY_NUMERIC_NAN			3
#define KEY_NUMERIC_PINF		4
#define KEY_NUMERIC_NINF		5

/*
 * number_int64
 *		The value of a numeric that is an integer in the range of int64.
 *
 * digits are ndigits base-10000 digits of two bytes, highest first, without
 * zeros at either end; the first counts 10000 ^ weight.  Returns false if the
 * number has a fraction or is out of range.
 */
static bool
number_int64(const uint8 *digits, int ndigits, int weight,
			 bool is_negative,
			 int64 *result)
{
	const uint64 limit = (uint64) PG_INT64_MAX + (is_negative ? 1 : 0);
	uint64		number = 0;

	if (ndigits == 0)
	{
		*result = 0;
		return true;
	}
	if (ndigits > weight + 1 || weight > 4)
		return false;

	for (int i = 0; i <= weight; i++)
	{
		const uint64 digit = i < ndigits ?
			(uint64) digits[2 * i] * 256 + digits[2 * i + 1] : 0;

		if (number > (limit - digit) / NUMERIC_BASE)
			return false;
		number = number * NUMERIC_BASE + digit;
	}

	*result = (int64) (is_negative ? ~number + 1 : number);
	return true;
}

/*
 * cuckoo_number_append
 *		The key of a numeric: that of the int64, else its canonical decimal.
 *
 * numeric_send() is the one stable view of a numeric from outside of
 * numeric.c: ndigits, weight, sign, dscale and the digits, two bytes each and
 * big-endian.  dscale, the number of digits shown, means nothing to "=".
 */
void
cuckoo_number_append(Datum value, StringInfo buf)
{
	bytea	   *const sent =
		DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
	const uint8 *const bytes = (const uint8 *) VARDATA_ANY(sent);
	const uint8 *digits = bytes + NUMERIC_SEND_HEADER;
	const int	sign = bytes[4] * 256 + bytes[5];
	int			ndigits = bytes[0] * 256 + bytes[1];
	int			weight = (int16) (bytes[2] * 256 + bytes[3]);
	int64		number;
	uint8		key[8];

	/* the server stores them like this anyway */
	while (ndigits > 0 && digits[0] == 0 && digits[1] == 0)
	{
		digits += 2;
		ndigits--;
		weight--;
	}
	while (ndigits > 0 &&
		   digits[2 * ndigits - 2] == 0 && digits[2 * ndigits - 1] == 0)
		ndigits--;

	if (sign == NUMERIC_SEND_NAN)
		appendStringInfoChar(buf, KEY_NUMERIC_NAN);
	else if (sign == NUMERIC_SEND_PINF)
		appendStringInfoChar(buf, KEY_NUMERIC_PINF);
	else if (sign == NUMERIC_SEND_NINF)
		appendStringInfoChar(buf, KEY_NUMERIC_NINF);
	else if (number_int64(digits, ndigits, weight,
						  sign == NUMERIC_SEND_NEG, &number))
	{
		cuckoo_store_le64(key, (uint64) number);
		appendBinaryStringInfo(buf, (const char *) key, sizeof(key));
	}
	else
	{
		appendStringInfoChar(buf, sign == NUMERIC_SEND_NEG ?
							 KEY_NUMERIC_NEGATIVE : KEY_NUMERIC_POSITIVE);
		cuckoo_store_le64(key, (uint64) (int64) weight);
		appendBinaryStringInfo(buf, (const char *) key, sizeof(int32));
		for (int i = 0; i < ndigits; i++)
		{
			appendStringInfoChar(buf, (char) digits[2 * i + 1]);
			appendStringInfoChar(buf, (char) digits[2 * i]);
		}
	}

	pfree(sent);
}
