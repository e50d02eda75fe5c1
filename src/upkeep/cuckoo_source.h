/*-------------------------------------------------------------------------
 *
 * cuckoo_source.h
 *		Which tables filters can follow, and where they can be kept.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_SOURCE_H
#define CUCKOO_SOURCE_H

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"

/* Keeps writers out, and others who attach or rebuild; lets readers in. */
#define CUCKOO_SOURCE_LOCK	ShareRowExclusiveLock

extern List *cuckoo_source_lock(Oid source);
extern void cuckoo_source_require(Relation source, List *relations,
								  Relation target);
extern void cuckoo_source_require_rights(Relation source, Oid target);
extern void cuckoo_source_require_no_policies(Oid owner, Oid target,
											  Oid source);
extern void cuckoo_source_warn_if_replicated(Relation source);

#endif							/* CUCKOO_SOURCE_H */
