/*-------------------------------------------------------------------------
 *
 * cuckoo_format.h
 *		The stored form of a cuckoo filter: format 1, its fields and limits.
 *
 * A filter is one flat sequence of bytes, the image: a header of 44 bytes and
 * a body.  Inside PostgreSQL the image follows the four bytes of a varlena
 * length, so that the body starts 48 bytes into the datum.  Every number is
 * little-endian whatever the machine; docs/format.md is the specification, to
 * the byte, and this file must agree with it.
 *
 *	offset	width	field			range accepted by a reader
 *	0		1		format version	1
 *	1		1		hash version	1 (XXH3_64bits_withSeed, xxHash >= 0.8)
 *	2		1		flags			CUCKOO_FLAG_*; all other bits zero
 *	3		1		key family		CuckooFamily; 0 until the first typed add
 *	4		1		columns, k		8 to 127
 *	5		1		index bits, q	0 to P - 8, at most 32; 0 for a list
 *	6		1		prefix bits, P	9 to 48
 *	7		1		copies			low nibble: max_copies declared, 1 to 4;
 *								high nibble: max_copies now, from 2 (from 1
 *								if 1 was declared) up to the declared one
 *	8		8		seed			any
 *	16		8		capacity		1 to 2^53
 *	24		8		entries			copies held, as counted in the body
 *	32		8		kicks			fingerprints moved in all, saturating
 *	40		1		longest path	kicks of the longest relocation, saturating;
 *								0 exactly if there were none in all
 *	41		1		growths			times the table was doubled, saturating
 *	42		2		load at growth	load factor when it was doubled last, in
 *								1/10000; 0 to 10000
 *	44		...		body
 *
 * The last four are zero in a list.  A writer of this version chooses k, q and
 * P as cuckoo_geometry.h says; a reader takes any that are in range and whose
 * image is no larger than CUCKOO_MAX_IMAGE_BYTES.
 *
 * The body of a list is its 64-bit hashes, ascending, each at most
 * max_copies times.  The body of a table is k * 2^q packed buckets of four
 * slots, the last byte filled up with zero bits, then CUCKOO_PAD_BYTES zero
 * bytes, so that an 8-byte load that starts inside the buckets stays inside
 * the image.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_FORMAT_H
#define CUCKOO_FORMAT_H

#include <stdint.h>

#define CUCKOO_FORMAT_VERSION	1
#define CUCKOO_HASH_VERSION		1

/* offsets of the header fields */
#define CUCKOO_OFF_FORMAT		0
#define CUCKOO_OFF_HASH			1
#define CUCKOO_OFF_FLAGS		2
#define CUCKOO_OFF_FAMILY		3
#define CUCKOO_OFF_COLUMNS		4
#define CUCKOO_OFF_INDEX_BITS	5
#define CUCKOO_OFF_PREFIX_BITS	6
#define CUCKOO_OFF_COPIES		7
#define CUCKOO_OFF_SEED			8
#define CUCKOO_OFF_CAPACITY		16
#define CUCKOO_OFF_ENTRIES		24
#define CUCKOO_OFF_KICKS		32
#define CUCKOO_OFF_LONGEST_PATH	40
#define CUCKOO_OFF_GROWTHS		41
#define CUCKOO_OFF_GROWTH_LOAD	42
#define CUCKOO_HEADER_BYTES		44

/* flags */
#define CUCKOO_FLAG_TABLE		0x01	/* body is a table, else a list */
#define CUCKOO_FLAG_MERGED		0x02	/* a union made entries of different
										 * values one: nothing can be removed */
#define CUCKOO_FLAGS_KNOWN		(CUCKOO_FLAG_TABLE | CUCKOO_FLAG_MERGED)

/*
 * Limits.
 *
 * The image stops at 512 MiB less the varlena length, since its base64 text
 * has to stay below the 1 GiB that PostgreSQL allows a text.  Fewer than 8
 * columns would leave the two buckets of a value the same too often; 127 and
 * 48 follow from their fields (a column is 16 bits of the hash scaled down, a
 * prefix is the 48 bits below).  A fingerprint keeps the 8 permanent bits of
 * its value, from which its alternate bucket follows.
 */
#define CUCKOO_MAX_DATUM_BYTES	((uint64_t) 512 << 20)
#define CUCKOO_MAX_IMAGE_BYTES	(CUCKOO_MAX_DATUM_BYTES - 4)
#define CUCKOO_MAX_CAPACITY		((uint64_t) 1 << 53)
#define CUCKOO_MIN_COLUMNS		8
#define CUCKOO_MAX_COLUMNS		127
#define CUCKOO_MIN_PREFIX_BITS	9
#define CUCKOO_MAX_PREFIX_BITS	48
#define CUCKOO_PERM_BITS		8
#define CUCKOO_MIN_FP_BITS		CUCKOO_PERM_BITS
#define CUCKOO_MAX_COPIES		4
#define CUCKOO_BUCKET_SLOTS		4
#define CUCKOO_PAD_BYTES		7
#define CUCKOO_MAX_LIST_ENTRIES	4096
#define CUCKOO_GROWTH_LOAD_UNIT	10000

/* From this index width on, buckets are grouped into superblocks. */
#define CUCKOO_SUPERBLOCK_BITS	8

/*
 * Key families.  Values of one family that SQL calls equal have the same key
 * bytes; a filter holds keys of one family.  A text given to a filter of
 * char(n) is taken as one, without its trailing blanks.  The numbers are
 * stored.
 */
typedef enum CuckooFamily
{
	CUCKOO_FAMILY_NONE = 0,
	CUCKOO_FAMILY_NUMBER = 1,
	CUCKOO_FAMILY_FLOAT = 2,
	CUCKOO_FAMILY_TEXT = 3,
	CUCKOO_FAMILY_BYTES = 4,
	CUCKOO_FAMILY_BOOL = 5,
	CUCKOO_FAMILY_UUID = 6,
	CUCKOO_FAMILY_OID = 7,
	CUCKOO_FAMILY_MACADDR = 8,
	CUCKOO_FAMILY_MACADDR8 = 9,
	CUCKOO_FAMILY_INET = 10,
	CUCKOO_FAMILY_BIT = 11,
	CUCKOO_FAMILY_PG_LSN = 12,
	CUCKOO_FAMILY_DATE = 13,
	CUCKOO_FAMILY_TIMESTAMP = 14,
	CUCKOO_FAMILY_TIMESTAMPTZ = 15,
	CUCKOO_FAMILY_TIME = 16,
	CUCKOO_FAMILY_TIMETZ = 17,
	CUCKOO_FAMILY_INTERVAL = 18,
	CUCKOO_FAMILY_JSONB = 19,
	CUCKOO_FAMILY_ARRAY = 20,
	CUCKOO_FAMILY_RECORD = 21,
	CUCKOO_FAMILY_RANGE = 22,
	CUCKOO_FAMILY_MULTIRANGE = 23,
	CUCKOO_FAMILY_CHAR = 24		/* char(n) */
} CuckooFamily;

#define CUCKOO_FAMILY_LAST		CUCKOO_FAMILY_CHAR

#endif							/* CUCKOO_FORMAT_H */
