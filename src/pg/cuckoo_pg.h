/*-------------------------------------------------------------------------
 *
 * cuckoo_pg.h
 *		What most files of the PostgreSQL glue include.
 *
 * Include it after postgres.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_PG_H
#define CUCKOO_PG_H

#include "cuckoo_change.h"
#include "cuckoo_datum.h"
#include "cuckoo_error.h"
#include "cuckoo_expanded.h"
#include "cuckoo_hasher.h"
#include "cuckoo_key.h"
#include "cuckoo_parameters.h"
#include "pg_compat.h"

#endif							/* CUCKOO_PG_H */
