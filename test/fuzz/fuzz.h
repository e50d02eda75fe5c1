/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *		What a fuzz target is.
 *
 * Each target is one function of a string of bytes, which aborts if anything
 * is wrong.  Linked with libFuzzer it is fuzzed; linked with replay.c it is an
 * ordinary test that runs the corpus (see test/fuzz/README.md).
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "harness.h"

/* The names are libFuzzer's. */
extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
extern size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room);
extern size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes,
									  size_t room, unsigned int seed);

#endif							/* FUZZ_H */
