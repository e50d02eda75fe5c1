/*-------------------------------------------------------------------------
 *
 * key.h
 *		What the files of the library share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KEY_H
#define KEY_H

#include "cuckoofilter.h"

/* Key bytes of a value: in place if they are few. */
typedef struct Key
{
	const void *bytes;
	size_t		nbytes;
	void	   *allocated;		/* NULL, or to be freed */
	uint8_t		small[16];
}			Key;

extern cuckoofilter_status key_of(const cuckoofilter_value * value, Key * key,
								  cuckoofilter_error * error);
extern cuckoofilter_status key_fail(cuckoofilter_error * error,
									cuckoofilter_status status,
									const char *format,...)
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
;

#endif							/* KEY_H */
