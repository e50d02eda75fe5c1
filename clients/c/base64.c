/*-------------------------------------------------------------------------
 *
 * base64.c
 *		Base64 as the text form has it: RFC 4648, padded, nothing between.
 *
 *-------------------------------------------------------------------------
 */
#include "base64.h"

static const char base64_alphabet[] =
"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int
base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/*
 * base64_decode
 *		Decode into bytes, which has room for 3 of each 4 characters.
 *
 * Unused bits of the last character are ignored.
 */
bool
base64_decode(const char *text, size_t length, uint8_t *bytes, size_t *nbytes)
{
	size_t		n = 0;

	if (length % 4 != 0)
		return false;
	for (size_t i = 0; i < length; i += 4)
	{
		const bool	is_last = i + 4 == length;
		const int	npadding = !is_last || text[i + 3] != '=' ? 0 :
			text[i + 2] != '=' ? 1 : 2;
		uint32_t	group = 0;

		for (size_t j = 0; j < 4; j++)
		{
			const int	value = j >= 4 - (size_t) npadding ? 0 :
				base64_value(text[i + j]);

			if (value < 0)
				return false;
			group = group << 6 | (uint32_t) value;
		}
		for (int j = 0; j < 3 - npadding; j++)
			bytes[n++] = (uint8_t) (group >> (16 - 8 * j));
	}
	*nbytes = n;
	return true;
}

/*
 * base64_encode
 *		Encode into text, which has room for 4 characters for each 3 bytes that
 *		were begun, and a zero byte.
 */
void
base64_encode(const uint8_t *bytes, size_t nbytes, char *text)
{
	for (size_t i = 0; i < nbytes; i += 3)
	{
		const size_t nleft = nbytes - i;
		const uint32_t group = (uint32_t) bytes[i] << 16 |
			(nleft > 1 ? (uint32_t) bytes[i + 1] << 8 : 0) |
			(nleft > 2 ? (uint32_t) bytes[i + 2] : 0);

		*text++ = base64_alphabet[group >> 18];
		*text++ = base64_alphabet[group >> 12 & 63];
		*text++ = nleft > 1 ? base64_alphabet[group >> 6 & 63] : '=';
		*text++ = nleft > 2 ? base64_alphabet[group & 63] : '=';
	}
	*text = '\0';
}
