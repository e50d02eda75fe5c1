/*-------------------------------------------------------------------------
 *
 * cuckoo_upkeep.h
 *		Finding what a session keeps of an attachment, and making it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_UPKEEP_H
#define CUCKOO_UPKEEP_H

#include "commands/trigger.h"

#include "cuckoo_session.h"

extern CuckooTrigger *cuckoo_upkeep_open(const TriggerData *trigdata,
										 Oid function);
extern CuckooUpkeep *cuckoo_upkeep_of_target(Relation target, Oid function,
											 const char *filter);
extern CuckooUpkeep *cuckoo_upkeep_lock(CuckooUpkeep *upkeep);
extern void cuckoo_upkeep_close(CuckooUpkeep *upkeep);

#endif							/* CUCKOO_UPKEEP_H */
