/*-------------------------------------------------------------------------
 *
 * cuckoo_apply.h
 *		Changing the filters of a target.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_APPLY_H
#define CUCKOO_APPLY_H

#include "cuckoo_upkeep.h"

extern void cuckoo_flush(CuckooUpkeep *upkeep);
extern void cuckoo_flush_truncate(CuckooUpkeep *upkeep);

#endif							/* CUCKOO_APPLY_H */
