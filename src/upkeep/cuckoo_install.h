/*-------------------------------------------------------------------------
 *
 * cuckoo_install.h
 *		Making and dropping the triggers of an attachment.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_INSTALL_H
#define CUCKOO_INSTALL_H

#include "cuckoo_columns.h"

extern void cuckoo_install(const CuckooAttachment *attachment,
						   List *relations, bool is_changed);
extern int	cuckoo_uninstall(Oid sibling, Oid source, Oid target,
							 const char *filter);

#endif							/* CUCKOO_INSTALL_H */
