/*
 * json.h
 *		As much JSON as the tests need.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Json
{
	char		type;			/* one of n t f 0 " [ { */
	char	   *string;			/* of a string, or of a number as written */
	size_t		length;
	size_t		nchildren;
	struct Json *children;
	struct Json *keys;			/* of an object */
} Json;

extern bool json_parse(const char *text, size_t length, Json *json);
extern void json_free(Json *json);
extern const Json *json_get(const Json *json, const char *key);
extern const char *json_string(const Json *json, const char *key);
extern void json_print(const char *string);
extern unsigned char *json_unhex(const Json *json, size_t *nbytes);
extern void json_hex(const unsigned char *bytes, size_t nbytes);

#endif							/* JSON_H */
