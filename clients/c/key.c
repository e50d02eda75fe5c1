/*-------------------------------------------------------------------------
 *
 * key.c
 *		The key bytes of values: section 10 of docs/format.md.
 *
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/cuckoo_bytes.h"
#include "key.h"

#define DAY_US		INT64_C(86400000000)

/* What is being parsed. */
typedef struct Input
{
	const char *at;
	const char *end;
}			Input;

/*
 * key_fail
 *		Say what is wrong, and return the status.
 */
cuckoofilter_status
key_fail(cuckoofilter_error * error, cuckoofilter_status status,
		 const char *format,...)
{
	va_list		arguments;

	if (error == NULL)
		return status;
	error->status = status;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
	return status;
}

static cuckoofilter_status
key_set_number(Key * key, int64_t number)
{
	cuckoo_store_le64(key->small, (uint64_t) number);
	key->bytes = key->small;
	key->nbytes = 8;
	return CUCKOOFILTER_OK;
}

/* NaN is one value, and so is zero. */
static cuckoofilter_status
key_set_real(Key * key, double real)
{
	uint64_t	bits;

	if (isnan(real))
		bits = UINT64_C(0x7ff8000000000000);
	else
	{
		real = real == 0 ? 0 : real;
		memcpy(&bits, &real, sizeof(bits));
	}
	return key_set_number(key, (int64_t) bits);
}

static cuckoofilter_status
key_set_byte(Key * key, int byte)
{
	key->small[0] = (uint8_t) byte;
	key->bytes = key->small;
	key->nbytes = 1;
	return CUCKOOFILTER_OK;
}

static void *
key_allocate(Key * key, size_t nbytes)
{
	key->allocated = malloc(nbytes + 1);
	key->bytes = key->allocated;
	key->nbytes = nbytes;
	return key->allocated;
}

static bool
key_is(const Input * input, const char *word)
{
	const size_t length = (size_t) (input->end - input->at);

	if (strlen(word) != length)
		return false;
	for (size_t i = 0; i < length; i++)
	{
		const char	c = input->at[i];

		if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
			return false;
	}
	return true;
}

static bool
key_take(Input * input, char c)
{
	if (input->at == input->end || *input->at != c)
		return false;
	input->at++;
	return true;
}

/*
 * key_digits
 *		Take least to most decimal digits as a number, or return -1.
 */
static int64_t
key_digits(Input * input, int least, int most)
{
	int64_t		number = 0;
	int			n = 0;

	while (n < most && input->at < input->end &&
		   *input->at >= '0' && *input->at <= '9')
	{
		number = 10 * number + (*input->at++ - '0');
		n++;
	}
	return n < least ? -1 : number;
}

/*
 * Digits of a decimal number: ndigits of them from the first that is not zero,
 * the last one counts 10 ^ exponent.
 */
typedef struct Decimal
{
	const char *first;			/* may have a point among them */
	const char *last;			/* the last one that is not zero */
	int64_t		exponent;		/* what the last digit counts */
	int64_t		ndigits;
	bool		is_negative;
}			Decimal;

/* [+-] digits [. digits] [e [+-] digits] */
static bool
key_read_decimal(Input input, Decimal * decimal)
{
	bool		has_point = false;
	bool		has_digit = false;
	int64_t		place = 0;		/* digits after the point so far */
	int64_t		exponent = 0;
	int64_t		behind = 0;		/* zeros after the last digit taken */

	memset(decimal, 0, sizeof(*decimal));
	decimal   ->is_negative = key_take(&input, '-');

	if (!decimal->is_negative)
		key_take(&input, '+');
	for (; input.at < input.end; input.at++)
	{
		if (*input.at == '.' && !has_point)
			has_point = true;
		else if (*input.at >= '0' && *input.at <= '9')
		{
			has_digit = true;
			place += has_point;
			behind++;
			if (*input.at == '0')
				continue;
			if (decimal->first == NULL)
			{
				decimal   ->first = input.at;

				behind = 1;
			}
			decimal   ->ndigits += behind;
			decimal   ->last = input.at;
			decimal   ->exponent = -place;

			behind = 0;
		}
		else
			break;
	}
	/* digits before the point that follow the last one that is not zero */
	if (decimal->first != NULL && decimal->exponent == 0)
		decimal   ->exponent = behind - place;

	if (!has_digit)
		return false;
	if (key_take(&input, 'e') || key_take(&input, 'E'))
	{
		const bool	is_negative = key_take(&input, '-');

		if (!is_negative)
			key_take(&input, '+');
		exponent = key_digits(&input, 1, 9);
		if (exponent < 0)
			return false;
		decimal   ->exponent += is_negative ? -exponent : exponent;
	}
	return input.at == input.end;
}

/* The n-th digit of a decimal from the right; 0 beyond either end. */
static int
key_digit(const Decimal * decimal, const char *digits, int64_t n)
{
	return n < 0 || n >= decimal->ndigits ? 0 :
				digits[decimal->ndigits - 1 - n] - '0';
}

/* Is it an int64? */
static bool
key_decimal_int64(const Decimal * decimal, const char *digits, int64_t *number)
{
	const uint64_t limit = (uint64_t) INT64_MAX + decimal->is_negative;
	uint64_t	sum = 0;

	if (decimal->exponent < 0 || decimal->ndigits + decimal->exponent > 19)
		return false;
	for (int64_t n = decimal->ndigits - 1; n >= -decimal->exponent; n--)
	{
		const uint64_t digit = (uint64_t) key_digit(decimal, digits, n);

		if (sum > (limit - digit) / 10)
			return false;
		sum = 10 * sum + digit;
	}
	*number = (int64_t) (decimal->is_negative ? ~sum + 1 : sum);
	return true;
}

/* floor(a / 4) */
static int64_t
key_quarter(int64_t a)
{
	return a >= 0 ? a / 4 : -((3 - a) / 4);
}

static cuckoofilter_status
key_set_decimal(Key * key, Input input, cuckoofilter_error * error)
{
	static const char *const specials[] = {"nan", "infinity", "-infinity"};
	Decimal decimal;
	char	   *digits;
	uint8_t    *bytes;
	int64_t		number = 0;
	int64_t		weight;
	int64_t		lowest;

	for (int i = 0; i < 3; i++)
		if (key_is(&input, specials[i]))
			return key_set_byte(key, 3 + i);
	if (!key_read_decimal(input, &decimal))
		return key_fail(error, CUCKOOFILTER_VALUE, "not a number");
	if (decimal.first == NULL)
		return key_set_number(key, 0);

	/* what numeric can have */
	if (decimal.exponent < -16383 ||
		decimal.ndigits + decimal.exponent > 131072)
		return key_fail(error, CUCKOOFILTER_VALUE,
						"the number has too many digits");
	digits = malloc((size_t) decimal.ndigits);
	if (digits == NULL)
		return key_fail(error, CUCKOOFILTER_MEMORY, "out of memory");
	for (const char *at = decimal.first; at <= decimal.last; at++)
		if (*at != '.')
			digits[number++] = *at;

	if (key_decimal_int64(&decimal, digits, &number))
	{
		free(digits);
		return key_set_number(key, number);
	}
	weight = key_quarter(decimal.ndigits + decimal.exponent - 1);
	lowest = key_quarter(decimal.exponent);
	bytes = key_allocate(key, (size_t) (5 + 2 * (weight - lowest + 1)));
	if (bytes != NULL)
	{
		uint8_t		le[8];

		bytes[0] = decimal.is_negative ? 2 : 1;

		cuckoo_store_le64(le, (uint64_t) weight);
		memcpy(bytes + 1, le, 4);
		bytes += 5;
		for (int64_t group = weight; group >= lowest; group--)
		{
			const int64_t n = 4 * group - decimal.exponent;
			const int	value = key_digit(&decimal, digits, n) +
				10 * key_digit(&decimal, digits, n + 1) +
				100 * key_digit(&decimal, digits, n + 2) +
				1000 * key_digit(&decimal, digits, n + 3);

			*bytes++ = (uint8_t) value;
			*bytes++ = (uint8_t) (value >> 8);
		}
	}
	free(digits);
	return key->allocated != NULL ? CUCKOOFILTER_OK :
		key_fail(error, CUCKOOFILTER_MEMORY, "out of memory");
}

static cuckoofilter_status
key_set_parsed_real(Key * key, Input input, cuckoofilter_error * error)
{
	char		copy[400];
	char	   *end;
	double		real;
	const size_t length = (size_t) (input.end - input.at);

	if (key_is(&input, "nan"))
		return key_set_real(key, NAN);
	if (key_is(&input, "infinity"))
		return key_set_real(key, INFINITY);
	if (key_is(&input, "-infinity"))
		return key_set_real(key, -INFINITY);
	if (length == 0 || length >= sizeof(copy))
		return key_fail(error, CUCKOOFILTER_VALUE, "not a float");
	memcpy(copy, input.at, length);
	copy[length] = '\0';
	if (strspn(copy, "+-.eE0123456789") < length)
		return key_fail(error, CUCKOOFILTER_VALUE, "not a float");
	real = strtod(copy, &end);
	if (*end != '\0' || isinf(real))
		return key_fail(error, CUCKOOFILTER_VALUE, "not a float");
	return key_set_real(key, real);
}

/*
 * key_days
 *		Days from 2000-01-01 to a day of the Gregorian calendar.
 */
static int64_t
key_days(int64_t year, int64_t month, int64_t day)
{
	/* years from March on: a leap day is the last of its year */
	const int64_t y = year - (month <= 2);
	const int64_t m = month + (month <= 2 ? 9 : -3);

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day -
		1 - 730425;
}

static bool
key_read_date(Input * input, int64_t *days)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const int64_t year = key_digits(input, 4, 7);
	int64_t		month;
	int64_t		day;

	if (year < 1 || !key_take(input, '-'))
		return false;
	month = key_digits(input, 2, 2);
	if (month < 1 || month > 12 || !key_take(input, '-'))
		return false;
	day = key_digits(input, 2, 2);
	if (day < 1 || day > lengths[month - 1] +
		(month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)))
		return false;
	*days = key_days(year, month, day);
	return true;
}

/* hh:mm[:ss[.ffffff]]; 24:00:00 is the end of a day */
static bool
key_read_time(Input * input, int64_t *us)
{
	const int64_t hours = key_digits(input, 2, 2);
	int64_t		minutes;
	int64_t		seconds = 0;
	int64_t		fraction = 0;

	if (hours < 0 || !key_take(input, ':'))
		return false;
	minutes = key_digits(input, 2, 2);
	if (key_take(input, ':'))
	{
		seconds = key_digits(input, 2, 2);
		if (key_take(input, '.'))
		{
			const char *const first = input->at;

			fraction = key_digits(input, 1, 6);
			for (const char *at = input->at; at < first + 6; at++)
				fraction *= 10;
		}
	}
	if (minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 ||
		fraction < 0)
		return false;
	*us = ((hours * 60 + minutes) * 60 + seconds) * 1000000 + fraction;
	return *us <= DAY_US;
}

/* Z, +hh, +hh:mm or +hh:mm:ss, as microseconds east of UTC */
static bool
key_read_zone(Input * input, int64_t *us)
{
	int64_t		sign = 1;
	int64_t		parts[3] = {0, 0, 0};

	*us = 0;
	if (key_take(input, 'Z') || key_take(input, 'z'))
		return true;
	if (key_take(input, '-'))
		sign = -1;
	else if (!key_take(input, '+'))
		return false;
	for (int i = 0; i < 3; i++)
	{
		if (i > 0 && !key_take(input, ':'))
			break;
		parts[i] = key_digits(input, 2, 2);
		if (parts[i] < 0 || parts[i] > (i == 0 ? 15 : 59))
			return false;
	}
	*us = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1000000;
	return true;
}

static cuckoofilter_status
key_set_moment(Key * key, cuckoofilter_family family, Input input,
			   cuckoofilter_error * error)
{
	const bool	is_date = family == CUCKOOFILTER_DATE;
	int64_t		days = 0;
	int64_t		us = 0;
	int64_t		zone = 0;
	bool		is_right = true;

	if (family != CUCKOOFILTER_TIME && key_is(&input, "infinity"))
		return key_set_number(key, is_date ? INT32_MAX : INT64_MAX);
	if (family != CUCKOOFILTER_TIME && key_is(&input, "-infinity"))
		return key_set_number(key, is_date ? INT32_MIN : INT64_MIN);
	if (family != CUCKOOFILTER_TIME)
		is_right = key_read_date(&input, &days);
	if (is_right && (family == CUCKOOFILTER_TIMESTAMP ||
					 family == CUCKOOFILTER_TIMESTAMPTZ))
		is_right = key_take(&input, 'T') || key_take(&input, ' ');
	if (is_right && !is_date)
		is_right = key_read_time(&input, &us);
	if (is_right && family == CUCKOOFILTER_TIMESTAMPTZ)
		is_right = key_read_zone(&input, &zone);
	if (!is_right || input.at != input.end)
		return key_fail(error, CUCKOOFILTER_VALUE, "not a %s in ISO form",
						is_date ? "date" :
						family == CUCKOOFILTER_TIME ? "time" :
						family == CUCKOOFILTER_TIMESTAMP ? "timestamp" :
						"timestamp with time zone");
	/* what the types of the server hold */
	if (days >= (is_date ? key_days(5874898, 1, 1) : key_days(294277, 1, 1)))
		return key_fail(error, CUCKOOFILTER_VALUE, "date out of range");
	return key_set_number(key, is_date ? days : days * DAY_US + us - zone);
}

static int
key_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Pairs of hex digits; in a uuid, with hyphens between pairs. */
static cuckoofilter_status
key_set_hex(Key * key, Input input, bool is_uuid, cuckoofilter_error * error)
{
	const size_t length = (size_t) (input.end - input.at);
	uint8_t    *bytes;
	size_t		nbytes = 0;

	if (is_uuid ? length > 39 : length % 2 != 0)
		return key_fail(error, CUCKOOFILTER_VALUE, is_uuid ? "not a uuid" :
						"not an even number of hex digits");
	bytes = key_allocate(key, length / 2);
	if (bytes == NULL)
		return key_fail(error, CUCKOOFILTER_MEMORY, "out of memory");
	while (input.at < input.end)
	{
		int			high;
		int			low;

		if (is_uuid && nbytes > 0 && nbytes % 2 == 0 && key_take(&input, '-'))
			continue;
		if (input.end - input.at < 2 || (high = key_hex(input.at[0])) < 0 ||
			(low = key_hex(input.at[1])) < 0)
			return key_fail(error, CUCKOOFILTER_VALUE, is_uuid ? "not a uuid" :
							"not hex digits");
		bytes[nbytes++] = (uint8_t) (16 * high + low);
		input.at += 2;
	}
	if (is_uuid && (nbytes != 16 || input.end[-1] == '-'))
		return key_fail(error, CUCKOOFILTER_VALUE, "not a uuid");
	key->nbytes = nbytes;
	return CUCKOOFILTER_OK;
}

/*
 * key_is_utf8
 *		Could a database in UTF-8 have this text?
 */
static bool
key_is_utf8(const uint8_t *bytes, size_t nbytes)
{
	for (size_t i = 0; i < nbytes;)
	{
		const uint8_t lead = bytes[i];
		const size_t more = lead < 0x80 ? 0 : lead < 0xE0 ? 1 :
			lead < 0xF0 ? 2 : 3;
		uint32_t	code = lead;

		if (lead == 0 || (lead >= 0x80 && lead < 0xC2) || lead > 0xF4 ||
			more >= nbytes - i)
			return false;
		if (more > 0)
			code &= 0x3Fu >> more;
		for (size_t j = 1; j <= more; j++)
		{
			if ((bytes[i + j] & 0xC0) != 0x80)
				return false;
			code = code << 6 | (bytes[i + j] & 0x3F);
		}
		if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000) ||
			(code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
			return false;
		i += 1 + more;
	}
	return true;
}

static cuckoofilter_status
key_set_text(Key * key, const cuckoofilter_value * value,
			 cuckoofilter_error * error)
{
	const char *const text = value->bytes;
	size_t		length = value->nbytes;

	if (!key_is_utf8(value->bytes, length))
		return key_fail(error, CUCKOOFILTER_VALUE,
						"text is not UTF-8 without zero bytes");
	if (value->family == CUCKOOFILTER_CHAR)
		while (length > 0 && text[length - 1] == ' ')
			length--;
	key->bytes = text;
	key->nbytes = length;
	return CUCKOOFILTER_OK;
}

static cuckoofilter_status
key_parse(const cuckoofilter_value * value, Key * key,
		  cuckoofilter_error * error)
{
	const char *const text = value->bytes;
	const		Input input = {text, text + value->nbytes};

	switch (value->family)
	{
		case CUCKOOFILTER_NUMBER:
			return key_set_decimal(key, input, error);
		case CUCKOOFILTER_FLOAT:
			return key_set_parsed_real(key, input, error);
		case CUCKOOFILTER_BOOL:
			if (key_is(&input, "true") || key_is(&input, "false"))
				return key_set_byte(key, key_is(&input, "true"));
			return key_fail(error, CUCKOOFILTER_VALUE, "not true or false");
		case CUCKOOFILTER_BYTES:
		case CUCKOOFILTER_UUID:
			return key_set_hex(key, input, value->family == CUCKOOFILTER_UUID,
							   error);
		case CUCKOOFILTER_DATE:
		case CUCKOOFILTER_TIMESTAMP:
		case CUCKOOFILTER_TIMESTAMPTZ:
		case CUCKOOFILTER_TIME:
			return key_set_moment(key, value->family, input, error);
		case CUCKOOFILTER_HASH:
			if (key_set_decimal(key, input, error) != CUCKOOFILTER_OK ||
				key->nbytes != 8)
				return key_fail(error, CUCKOOFILTER_VALUE,
								"not a signed 64-bit integer");
			return CUCKOOFILTER_OK;
		default:
			return key_fail(error, CUCKOOFILTER_VALUE,
							"values of family %d are given by their hashes",
							(int) value->family);
	}
}

/*
 * key_of
 *		The key bytes of a value; of a hash, its own 8 bytes.
 *
 * The caller frees what is allocated, also after a failure.
 */
cuckoofilter_status
key_of(const cuckoofilter_value * value, Key * key, cuckoofilter_error * error)
{
	key->allocated = NULL;
	if (value->family == CUCKOOFILTER_TEXT ||
		value->family == CUCKOOFILTER_CHAR)
		return key_set_text(key, value, error);
	if (value->is_string)
		return key_parse(value, key, error);
	switch (value->family)
	{
		case CUCKOOFILTER_HASH:
		case CUCKOOFILTER_NUMBER:
		case CUCKOOFILTER_DATE:
		case CUCKOOFILTER_TIMESTAMP:
		case CUCKOOFILTER_TIMESTAMPTZ:
		case CUCKOOFILTER_TIME:
			return key_set_number(key, value->number);
		case CUCKOOFILTER_BOOL:
			return key_set_byte(key, value->number != 0);
		case CUCKOOFILTER_FLOAT:
			return key_set_real(key, value->real);
		case CUCKOOFILTER_BYTES:
		case CUCKOOFILTER_UUID:
			key->bytes = value->bytes;
			key->nbytes = value->nbytes;
			return CUCKOOFILTER_OK;
		default:
			return key_parse(value, key, error);
	}
}
