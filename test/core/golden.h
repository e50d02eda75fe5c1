/*-------------------------------------------------------------------------
 *
 * golden.h
 *		Golden images: the operations that made one, and what it must answer.
 *
 * test/golden/format1/README.md describes the text file beside each image.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "harness.h"

/* The hash of key i: its 8 little-endian bytes, with the filter's seed. */
extern uint64_t golden_hash(uint64_t i, uint64_t seed);

/*
 * golden_operate
 *		Carry out one line of a text file if it is an operation.
 *
 * Returns false if it is not.  The first operation makes the filter.
 */
extern bool golden_operate(const char *line, CuckooFilter *filter,
						   TestHost *host);

#endif							/* GOLDEN_H */
