/*-------------------------------------------------------------------------
 *
 * cuckoo_rebuild.h
 *		Building all filters of an attachment.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_REBUILD_H
#define CUCKOO_REBUILD_H

#include "cuckoo_columns.h"

extern int64 cuckoo_rebuild(const CuckooAttachment *attachment,
							const CuckooColumns *columns, Oid owner);

#endif							/* CUCKOO_REBUILD_H */
