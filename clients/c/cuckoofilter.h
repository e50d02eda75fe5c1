/*-------------------------------------------------------------------------
 *
 * cuckoofilter.h
 *		Filters of the PostgreSQL extension cuckoo_filter, without a server.
 *
 * A filter is opened from its binary or text form, built of values, or new and
 * empty.  It is asked, changed and written; the bytes are those that the
 * extension makes of the same values.
 *
 * What can fail returns CUCKOOFILTER_OK or what went wrong, and fills in
 * *error, which may be NULL.  A call that fails changes nothing.  A filter may
 * be asked by many threads at once, as long as none changes it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOOFILTER_H
#define CUCKOOFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUCKOOFILTER_API __attribute__((visibility("default")))
#else
#define CUCKOOFILTER_API
#endif

typedef struct cuckoofilter cuckoofilter;

typedef enum cuckoofilter_status
{
	CUCKOOFILTER_OK = 0,
	CUCKOOFILTER_DAMAGED,		/* the bytes are no sound filter */
	CUCKOOFILTER_VERSION,		/* a newer format, hash, flag or family */
	CUCKOOFILTER_FAMILY,		/* the filter holds other kinds of values */
	CUCKOOFILTER_VALUE,			/* no value of its type */
	CUCKOOFILTER_PARAMETER,		/* a parameter out of range */
	CUCKOOFILTER_FULL,			/* no room: the capacity is reached */
	CUCKOOFILTER_COLLIDING,		/* no room: too many hashes collide */
	CUCKOOFILTER_TOO_LARGE,		/* it would be larger than 512 MiB */
	CUCKOOFILTER_NOT_REMOVABLE,	/* merged, or made with max_copies = 1 */
	CUCKOOFILTER_MEMORY
} cuckoofilter_status;

typedef struct cuckoofilter_error
{
	cuckoofilter_status status;
	char		message[200];	/* one line, lower case, no period */
} cuckoofilter_error;

/* The families whose values can be given; others by their hashes. */
typedef enum cuckoofilter_family
{
	CUCKOOFILTER_HASH = 0,		/* cf_hash() of any value, with the seed */
	CUCKOOFILTER_NUMBER = 1,	/* smallint, int, bigint, numeric */
	CUCKOOFILTER_FLOAT = 2,		/* real, double precision */
	CUCKOOFILTER_TEXT = 3,		/* text, varchar, enums */
	CUCKOOFILTER_BYTES = 4,
	CUCKOOFILTER_BOOL = 5,
	CUCKOOFILTER_UUID = 6,
	CUCKOOFILTER_DATE = 13,
	CUCKOOFILTER_TIMESTAMP = 14,
	CUCKOOFILTER_TIMESTAMPTZ = 15,
	CUCKOOFILTER_TIME = 16,
	CUCKOOFILTER_CHAR = 24		/* char(n) */
} cuckoofilter_family;

/*
 * A value: made by one of the functions below, which cannot fail.  It refers
 * to the string or bytes that it was made of; what is wrong with them is said
 * by the call that it is given to.
 */
typedef struct cuckoofilter_value
{
	cuckoofilter_family family;
	bool		is_string;		/* bytes are to be parsed */
	int64_t		number;
	double		real;
	const void *bytes;
	size_t		nbytes;
} cuckoofilter_value;

static inline cuckoofilter_value
cuckoofilter_of_number(cuckoofilter_family family, int64_t number)
{
	cuckoofilter_value value = {family, false, 0, 0, NULL, 0};

	value.number = number;
	return value;
}

static inline cuckoofilter_value
cuckoofilter_of_bytes(cuckoofilter_family family, bool is_string,
					  const void *bytes, size_t nbytes)
{
	cuckoofilter_value value = {family, is_string, 0, 0, NULL, 0};

	value.bytes = bytes;
	value.nbytes = nbytes;
	return value;
}

static inline cuckoofilter_value
cuckoofilter_double(double real)
{
	cuckoofilter_value value = {CUCKOOFILTER_FLOAT, false, 0, 0, NULL, 0};

	value.real = real;
	return value;
}

#define cuckoofilter_hash(n)	cuckoofilter_of_number(CUCKOOFILTER_HASH, n)
#define cuckoofilter_int64(n)	cuckoofilter_of_number(CUCKOOFILTER_NUMBER, n)
#define cuckoofilter_bool(b)	cuckoofilter_of_number(CUCKOOFILTER_BOOL, b)
#define cuckoofilter_bytes(p, n) \
	cuckoofilter_of_bytes(CUCKOOFILTER_BYTES, false, p, n)

/* UTF-8 */
#define cuckoofilter_text(s)	cuckoofilter_text_n(s, strlen(s))
#define cuckoofilter_text_n(s, n) \
	cuckoofilter_of_bytes(CUCKOOFILTER_TEXT, false, s, n)
#define cuckoofilter_char(s)	\
	cuckoofilter_of_bytes(CUCKOOFILTER_CHAR, false, s, strlen(s))

/* its 16 bytes */
#define cuckoofilter_uuid(p)	\
	cuckoofilter_of_bytes(CUCKOOFILTER_UUID, false, p, 16)

/* days since 2000-01-01; microseconds since then, or since midnight */
#define cuckoofilter_date(n)	cuckoofilter_of_number(CUCKOOFILTER_DATE, n)
#define cuckoofilter_timestamp(n) \
	cuckoofilter_of_number(CUCKOOFILTER_TIMESTAMP, n)
#define cuckoofilter_timestamptz(n) \
	cuckoofilter_of_number(CUCKOOFILTER_TIMESTAMPTZ, n)
#define cuckoofilter_time(n)	cuckoofilter_of_number(CUCKOOFILTER_TIME, n)

/*
 * A value as SQL writes it, of any family: "-12.50", "1e300", "true",
 * "2024-02-29", "2024-02-29T12:00:00.5", with "Z" or "+02:00" for one with
 * time zone, "23:59:59", "infinity"; bytes as hex.
 */
#define cuckoofilter_parsed(family, s, n) \
	cuckoofilter_of_bytes(family, true, s, n)

typedef struct cuckoofilter_parameters
{
	double		capacity;		/* 0 to fit what is built */
	double		fpr;			/* rate of false positives: 0.01 is 1 % */
	int			max_copies;		/* 1 to 4 */
	int64_t		seed;
} cuckoofilter_parameters;

/* What the extension takes where nothing is said. */
#define CUCKOOFILTER_DEFAULTS	{0, 0.01, 4, 0}

typedef struct cuckoofilter_info
{
	bool		is_table;		/* else a list of hashes */
	bool		is_merged;		/* nothing can be removed */
	int			family;			/* its number in docs/format.md; 0: none */
	const char *family_name;
	int64_t		seed;
	uint64_t	capacity;
	uint64_t	entries;
	uint64_t	kicks;
	uint64_t	bytes;			/* of the image, without the checksum */
	int			max_copies;		/* as declared */
	int			current_copies;
	int			columns;
	int			index_bits;
	int			prefix_bits;
	int			longest_path;
	int			growths;
	double		load_factor;
	double		fpr;			/* as it is */
	double		promised_fpr;	/* at capacity */
} cuckoofilter_info;

/*
 * Open a filter.  The bytes are checked to the last bit, and copied.  A text
 * is what the column gives as text, without anything around it.
 */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_open(cuckoofilter **filter, const void *bytes, size_t nbytes,
				  cuckoofilter_error *error);
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_open_text(cuckoofilter **filter, const char *text, size_t length,
					   cuckoofilter_error *error);

/* An empty filter; its capacity must be given. */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_new(cuckoofilter **filter,
				 const cuckoofilter_parameters *parameters,
				 cuckoofilter_error *error);

/*
 * A filter of values at once, as cf_agg() makes it: each once; or as
 * cf_bag_agg() does, each up to max_copies times.
 */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_build(cuckoofilter **filter,
				   const cuckoofilter_parameters *parameters, bool is_bag,
				   const cuckoofilter_value *values, size_t nvalues,
				   cuckoofilter_error *error);

CUCKOOFILTER_API void cuckoofilter_free(cuckoofilter *filter);

/*
 * May the filter contain the value?  How many copies of it are held?  To add
 * one that has max_copies already, or remove one that has none, is no error.
 */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_contains(const cuckoofilter *filter, cuckoofilter_value value,
					  bool *found, cuckoofilter_error *error);
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_count(const cuckoofilter *filter, cuckoofilter_value value,
				   int *copies, cuckoofilter_error *error);
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_add(cuckoofilter *filter, cuckoofilter_value value,
				 cuckoofilter_error *error);
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_remove(cuckoofilter *filter, cuckoofilter_value value,
					cuckoofilter_error *error);

CUCKOOFILTER_API void
cuckoofilter_get_info(const cuckoofilter *filter, cuckoofilter_info *info);

/* The hash of a value, as cf_hash(value, seed). */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_hash_of(cuckoofilter_value value, int64_t seed, int64_t *hash,
					 cuckoofilter_error *error);

/* Binary and text form, to be released with free(). */
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_write(const cuckoofilter *filter, void **bytes, size_t *nbytes,
				   cuckoofilter_error *error);
CUCKOOFILTER_API cuckoofilter_status
cuckoofilter_write_text(const cuckoofilter *filter, char **text,
						cuckoofilter_error *error);

#ifdef __cplusplus
}
#endif

#endif							/* CUCKOOFILTER_H */
