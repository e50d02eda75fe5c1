/*-------------------------------------------------------------------------
 *
 * cuckoo_string.h
 *		The bytes of texts, in UTF-8.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_STRING_H
#define CUCKOO_STRING_H

#include "fmgr.h"

#include "pg_compat.h"

/*
 * The bytes of a string, and what to free when they have been read.
 */
typedef struct CuckooString
{
	const char *bytes;
	size_t		nbytes;
	void	   *detoasted;		/* NULL, or a copy */
	void	   *converted;		/* NULL, or a copy */
	char		small[4];		/* room for "char" */
} CuckooString;

extern void cuckoo_string_convert(CuckooString *string);
extern void cuckoo_string_of_char(uint8 byte, CuckooString *string);

/*
 * cuckoo_string_of_varlena
 *		The bytes of a varlena, detoasted if needed.
 */
static inline void
cuckoo_string_of_varlena(Datum value, CuckooString *string)
{
	bytea	   *const bytes = DatumGetByteaPP(value);

	string->bytes = VARDATA_ANY(bytes);
	string->nbytes = VARSIZE_ANY_EXHDR(bytes);
	string->detoasted =
		(Pointer) bytes != DatumGetPointer(value) ? bytes : NULL;
}

/*
 * cuckoo_string_unpadded_length
 *		The length of a string without its trailing blanks.
 *
 * A blank is a byte of its own in every encoding of a server.
 */
static inline size_t
cuckoo_string_unpadded_length(const char *bytes, size_t nbytes)
{
	while (nbytes > 0 && bytes[nbytes - 1] == ' ')
		nbytes--;
	return nbytes;
}

/* Free what has been copied for a string. */
static inline void
cuckoo_string_free(const CuckooString *string)
{
	if (string->converted != NULL)
		pfree(string->converted);
	if (string->detoasted != NULL)
		pfree(string->detoasted);
}

#endif							/* CUCKOO_STRING_H */
