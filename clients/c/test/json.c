/*
 * json.c
 *		As much JSON as the tests need.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

typedef struct Parser
{
	const char *at;
	const char *end;
	int			depth;
} Parser;

static bool json_value(Parser *parser, Json *json);

static void *
json_alloc(void *old, size_t bytes)
{
	void	   *const memory = realloc(old, bytes);

	if (memory == NULL)
	{
		fputs("out of memory\n", stderr);
		exit(2);
	}
	return memory;
}

static void
json_blanks(Parser *parser)
{
	while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) != NULL)
		parser->at++;
}

static bool
json_take(Parser *parser, char c)
{
	json_blanks(parser);
	if (parser->at == parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool
json_hex4(Parser *parser, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++)
	{
		const char *const digits = "0123456789abcdef0123456789ABCDEF";
		const char *place;

		if (parser->at == parser->end || *parser->at == '\0' ||
			(place = strchr(digits, *parser->at)) == NULL)
			return false;
		*code = *code * 16 + (uint32_t) ((place - digits) % 16);
		parser->at++;
	}
	return true;
}

static char *
json_utf8(char *to, uint32_t code)
{
	if (code < 0x80)
		*to++ = (char) code;
	else if (code < 0x800)
		*to++ = (char) (0xC0 | code >> 6);
	else if (code < 0x10000)
		*to++ = (char) (0xE0 | code >> 12);
	else
	{
		*to++ = (char) (0xF0 | code >> 18);
		*to++ = (char) (0x80 | (code >> 12 & 63));
	}
	if (code >= 0x800)
		*to++ = (char) (0x80 | (code >> 6 & 63));
	if (code >= 0x80)
		*to++ = (char) (0x80 | (code & 63));
	return to;
}

static bool
json_escape(Parser *parser, char **to)
{
	static const char from[] = "\"\\/bfnrt";
	static const char into[] = "\"\\/\b\f\n\r\t";
	uint32_t	code;
	uint32_t	low;
	const char *place;

	if (parser->at == parser->end)
		return false;
	if (*parser->at != 'u')
	{
		if (*parser->at == '\0' || (place = strchr(from, *parser->at)) == NULL)
			return false;
		parser->at++;
		*(*to)++ = into[place - from];
		return true;
	}
	parser->at++;
	if (!json_hex4(parser, &code))
		return false;
	if (code >= 0xD800 && code < 0xDC00)
	{
		if (parser->end - parser->at < 6 || parser->at[0] != '\\' || parser->at[1] != 'u')
			return false;
		parser->at += 2;
		if (!json_hex4(parser, &low))
			return false;
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	*to = json_utf8(*to, code);
	return true;
}

static bool
json_read_string(Parser *parser, Json *json)
{
	char	   *to;

	if (!json_take(parser, '"'))
		return false;
	json->type = '"';
	to = parser->end > parser->at ? memchr(parser->at, '"', (size_t) (parser->end - parser->at)) : NULL;
	if (to == NULL)
		return false;
	/* an escape is longer than what it stands for; find the end first */
	{
		const char *end = parser->at;

		while (end < parser->end && *end != '"')
			end += *end == '\\' ? 2 : 1;
		if (end >= parser->end)
			return false;
		json->string = to = json_alloc(NULL, (size_t) (end - parser->at) + 1);
	}
	while (parser->at < parser->end && *parser->at != '"')
	{
		if (*parser->at != '\\')
			*to++ = *parser->at++;
		else
		{
			parser->at++;
			if (!json_escape(parser, &to))
				return false;
		}
	}
	*to = '\0';
	json->length = (size_t) (to - json->string);
	return json_take(parser, '"');
}

static bool
json_read_children(Parser *parser, Json *json)
{
	const bool	is_object = json->type == '{';
	const char	end = is_object ? '}' : ']';
	size_t		room = 0;

	if (json_take(parser, end))
		return true;
	do
	{
		if (json->nchildren == room)
		{
			room = 2 * room + 8;
			json->children = json_alloc(json->children, room * sizeof(Json));
			if (is_object)
				json->keys = json_alloc(json->keys, room * sizeof(Json));
		}
		memset(&json->children[json->nchildren], 0, sizeof(Json));
		if (is_object)
			memset(&json->keys[json->nchildren], 0, sizeof(Json));
		json->nchildren++;
		if (is_object && (!json_read_string(parser, &json->keys[json->nchildren - 1]) || !json_take(parser, ':')))
			return false;
		if (!json_value(parser, &json->children[json->nchildren - 1]))
			return false;
	} while (json_take(parser, ','));
	return json_take(parser, end);
}

static bool
json_value(Parser *parser, Json *json)
{
	bool		is_right;

	json_blanks(parser);
	if (parser->at == parser->end || parser->depth > 20)
		return false;
	if (*parser->at == '"')
		return json_read_string(parser, json);
	if (*parser->at == '[' || *parser->at == '{')
	{
		json->type = *parser->at++;
		parser->depth++;
		is_right = json_read_children(parser, json);
		parser->depth--;
		return is_right;
	}
	json->type = *parser->at;
	if (strchr("-0123456789", json->type) != NULL)
		json->type = '0';
	while (parser->at + json->length < parser->end && strchr(",]} \t\r\n", parser->at[json->length]) == NULL)
		json->length++;
	json->string = json_alloc(NULL, json->length + 1);
	memcpy(json->string, parser->at, json->length);
	json->string[json->length] = '\0';
	parser->at += json->length;
	return json->type == '0' || strcmp(json->string, "null") == 0 ||
		strcmp(json->string, "true") == 0 || strcmp(json->string, "false") == 0;
}

/* The caller frees what has been read, also if it is no JSON. */
bool
json_parse(const char *text, size_t length, Json *json)
{
	Parser		parser = {text, text + length, 0};

	memset(json, 0, sizeof(*json));
	if (memchr(text, '\0', length) != NULL || !json_value(&parser, json))
		return false;
	json_blanks(&parser);
	return parser.at == parser.end;
}

void
json_free(Json *json)
{
	for (size_t i = 0; i < json->nchildren; i++)
	{
		json_free(&json->children[i]);
		if (json->keys != NULL)
			json_free(&json->keys[i]);
	}
	free(json->children);
	free(json->keys);
	free(json->string);
}

/* What an object has under a key; NULL if nothing, or null. */
const Json *
json_get(const Json *json, const char *key)
{
	for (size_t i = 0; json != NULL && json->keys != NULL && i < json->nchildren; i++)
		if (strcmp(json->keys[i].string, key) == 0)
			return json->children[i].type == 'n' ? NULL : &json->children[i];
	return NULL;
}

const char *
json_string(const Json *json, const char *key)
{
	const Json *const child = json_get(json, key);

	return child == NULL || child->string == NULL ? "" : child->string;
}

void
json_print(const char *string)
{
	putchar('"');
	for (; *string != '\0'; string++)
	{
		if (*string == '"' || *string == '\\')
			putchar('\\');
		putchar(*string);
	}
	putchar('"');
}

/* The bytes of a string of hex digits, to be freed; NULL if it is none. */
unsigned char *
json_unhex(const Json *json, size_t *nbytes)
{
	unsigned char *bytes;

	if (json == NULL || json->type != '"' || json->length % 2 != 0)
		return NULL;
	*nbytes = json->length / 2;
	bytes = json_alloc(NULL, *nbytes + 1);
	for (size_t i = 0; i < *nbytes; i++)
	{
		unsigned	byte;

		if (sscanf(json->string + 2 * i, "%2x", &byte) != 1)
		{
			free(bytes);
			return NULL;
		}
		bytes[i] = (unsigned char) byte;
	}
	return bytes;
}

void
json_hex(const unsigned char *bytes, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		printf("%02x", bytes[i]);
}
