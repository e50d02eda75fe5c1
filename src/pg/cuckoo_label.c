/*-------------------------------------------------------------------------
 *
 * cuckoo_label.c
 *		Labels of enum values, in UTF-8, remembered from value to value.
 *
 * A label can be renamed, and who remembers labels can outlive that: a call
 * site of a trigger the statement, one of PL/pgSQL the command that renames.
 * So all of them are read again as soon as this process hears of any change of
 * an enum.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "cuckoo_label.h"
#include "cuckoo_string.h"
#include "pg_compat.h"

struct CuckooLabels
{
	MemoryContext mcxt;			/* of the labels */
	HTAB	   *table;			/* CuckooLabel by value */
	CuckooLabel *last;			/* the one used last, or NULL */
	uint64		generation;		/* when the first of them was read */
};

/* Changes of enum labels that this backend has heard of, or 0 for none yet. */
static uint64 label_generation = 0;

/*
 * label_forget
 *		Syscache callback: an enum has changed.
 */
static void
label_forget(Datum arg, cuckoo_syscache_id cacheid, uint32 hashvalue)
{
	label_generation++;
}

/*
 * label_start
 *		Begin to remember labels, or begin anew.
 */
static CuckooLabels *
label_start(CuckooLabels *labels, MemoryContext mcxt)
{
	HASHCTL		control;

	if (label_generation == 0)
	{
		CacheRegisterSyscacheCallback(ENUMOID, label_forget, (Datum) 0);
		label_generation = 1;
	}

	if (labels == NULL)
	{
		labels = MemoryContextAllocZero(mcxt, sizeof(CuckooLabels));
		labels->mcxt = AllocSetContextCreate(mcxt, "cuckoo enum labels",
											 ALLOCSET_SMALL_SIZES);
	}
	labels->table = NULL;
	labels->last = NULL;
	labels->generation = label_generation;
	MemoryContextReset(labels->mcxt);

	memset(&control, 0, sizeof(control));
	control.keysize = sizeof(Oid);
	control.entrysize = sizeof(CuckooLabel);
	control.hcxt = labels->mcxt;
	labels->table = hash_create("cuckoo enum labels", 32, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return labels;
}

/*
 * label_read
 *		Read the label of a value from the catalog, into mcxt.
 */
static char *
label_read(Oid value, MemoryContext mcxt, uint32 *nbytes)
{
	const HeapTuple tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(value));
	CuckooString string;
	char	   *bytes;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid internal value for enum: %u", value)));
	string.bytes = NameStr(((Form_pg_enum) GETSTRUCT(tuple))->enumlabel);
	string.nbytes = strlen(string.bytes);
	string.detoasted = NULL;
	cuckoo_string_convert(&string);
	bytes = MemoryContextAlloc(mcxt, string.nbytes + 1);
	memcpy(bytes, string.bytes, string.nbytes);
	*nbytes = (uint32) string.nbytes;
	cuckoo_string_free(&string);
	ReleaseSysCache(tuple);
	return bytes;
}

const CuckooLabel *
cuckoo_label_find(CuckooLabels **remembered, Oid value, MemoryContext mcxt)
{
	CuckooLabels *labels = *remembered;
	CuckooLabel *label;

	if (labels == NULL || labels->table == NULL ||
		labels->generation != label_generation)
		labels = *remembered = label_start(labels, mcxt);
	else if (labels->last != NULL && labels->last->value == value)
		return labels->last;

	label = hash_search(labels->table, &value, HASH_FIND, NULL);
	if (label == NULL)
	{
		uint32		nbytes;
		char	   *const bytes = label_read(value, labels->mcxt, &nbytes);

		label = hash_search(labels->table, &value, HASH_ENTER, NULL);
		label->nbytes = nbytes;
		label->bytes = bytes;
	}

	labels->last = label;
	return label;
}
