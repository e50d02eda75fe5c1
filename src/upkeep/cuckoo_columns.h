/*-------------------------------------------------------------------------
 *
 * cuckoo_columns.h
 *		The columns of an attachment, found in its two tables.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CUCKOO_COLUMNS_H
#define CUCKOO_COLUMNS_H

#include "access/tupdesc.h"

#include "cuckoo_attachment.h"

/*
 * A column of the key: how it is found, compared and copied.  That of the shard
 * is one, whose values are computed.
 */
typedef struct CuckooKeyColumn
{
	AttrNumber	target_attnum;
	Oid			source_type;
	Oid			target_type;
	Oid			equality;		/* operator of the target's unique index */
	Oid			order;			/* its comparison function */
	Oid			collation;		/* of the index and of both columns */
	int16		typlen;
	bool		typbyval;
} CuckooKeyColumn;

typedef struct CuckooColumns
{
	AttrNumber	filter;			/* of the target */
	Oid			value_type;		/* RECORDOID if there are several */
	Oid			value_collation;
	TupleDesc	value_desc;		/* of the record, or NULL */
	CuckooKeyColumn *keys;		/* ntarget_keys */
} CuckooColumns;

extern Form_pg_attribute cuckoo_columns_find(Relation relation,
											 const char *name);
extern void cuckoo_columns_resolve(CuckooColumns *columns,
								   const CuckooAttachment *attachment,
								   Relation source, Relation target);
extern bool cuckoo_columns_has_plain_equality(Oid type);

#endif							/* CUCKOO_COLUMNS_H */
