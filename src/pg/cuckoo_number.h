/*-------------------------------------------------------------------------
 *
 * cuckoo_number.h
 *		The key bytes of numerics.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_NUMBER_H
#define CUCKOO_NUMBER_H

#include "lib/stringinfo.h"

/* Append the key of a numeric: that of the int64, else its canonical decimal. */
extern void cuckoo_number_append(Datum value, StringInfo buf);

#endif							/* CUCKOO_NUMBER_H */
