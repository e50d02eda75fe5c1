/*-------------------------------------------------------------------------
 *
 * server_shim.h
 *		As much of a server as the input functions need, in one process.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SERVER_SHIM_H
#define SERVER_SHIM_H

#include "fmgr.h"

/*
 * shim_call
 *		Call a function of the glue with up to two arguments.
 *
 * Returns false if it has raised an error, whose code shim_sqlerrcode() then
 * is.  An argument of NULL pointer value is SQL's NULL.
 */
extern bool shim_call(PGFunction function, Datum first, Datum second,
					  Datum *result);
extern int	shim_sqlerrcode(void);

/* Forget all memory allocated since. */
extern void shim_reset(void);

#endif							/* SERVER_SHIM_H */
