/*-------------------------------------------------------------------------
 *
 * base64.h
 *		Base64 as the text form has it: RFC 4648, padded, nothing between.
 *
 *-------------------------------------------------------------------------
 */
#ifndef BASE64_H
#define BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool base64_decode(const char *text, size_t length, uint8_t *bytes,
						  size_t *nbytes);
extern void base64_encode(const uint8_t *bytes, size_t nbytes, char *text);

#endif							/* BASE64_H */
