/*-------------------------------------------------------------------------
 *
 * cuckoo_hash.c
 *		The hash of key bytes and the checksum of an image: XXH3, 64 bits.
 *
 * XXH3 gives the same output on every machine and is frozen since version
 * 0.8.0 of xxHash.  Stored filters depend on it, so test/core checks vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "cuckoo_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "xxHash 0.8.0 or later is needed: the output of XXH3 changed before"
#endif

/*
 * cuckoo_hash
 *		The 64-bit hash of a value's key bytes.
 *
 * key may be NULL if key_bytes is 0.
 */
uint64_t
cuckoo_hash(const void *key, size_t key_bytes, uint64_t seed)
{
	return XXH3_64bits_withSeed(key, key_bytes, seed);
}

/*
 * cuckoo_checksum
 *		The 64 bits that follow an image in its text and binary form.
 */
uint64_t
cuckoo_checksum(const void *image, size_t image_bytes)
{
	return XXH3_64bits(image, image_bytes);
}
