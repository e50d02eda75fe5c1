/*-------------------------------------------------------------------------
 *
 * cuckoo_string.c
 *		The bytes of texts, in UTF-8.
 *
 * Key bytes do not depend on the encoding of the database, so that a filter
 * can be asked in another one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "cuckoo_string.h"

/*
 * cuckoo_string_convert
 *		Have a string in UTF-8.
 *
 * Every server encoding contains ASCII, so only a string with a high bit has
 * to be converted.  Of SQL_ASCII nothing is known: the bytes stay.
 */
void
cuckoo_string_convert(CuckooString *string)
{
	char	   *converted;

	string->converted = NULL;
	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
		return;

	for (size_t i = 0;; i++)
	{
		if (i == string->nbytes)
			return;
		if (IS_HIGHBIT_SET(string->bytes[i]))
			break;
	}

	converted = pg_server_to_any(string->bytes, (int) string->nbytes, PG_UTF8);
	if (converted != string->bytes)
	{
		string->bytes = string->converted = converted;
		string->nbytes = strlen(converted);
	}
}

/*
 * cuckoo_string_of_char
 *		The text of a "char", as its output function makes it since 16.
 *
 * Zero is the empty text.  A byte with the high bit set is three octal digits
 * after a backslash, whatever the encoding; 15 still wrote the bare byte,
 * which is no text in UTF-8 and another one in each other encoding.
 */
void
cuckoo_string_of_char(uint8 byte, CuckooString *string)
{
	string->bytes = string->small;
	if (IS_HIGHBIT_SET(byte))
	{
		string->small[0] = '\\';
		string->small[1] = (char) ('0' + byte / 64);
		string->small[2] = (char) ('0' + byte / 8 % 8);
		string->small[3] = (char) ('0' + byte % 8);
		string->nbytes = 4;
	}
	else
	{
		string->small[0] = (char) byte;
		string->nbytes = byte == 0 ? 0 : 1;
	}
}
