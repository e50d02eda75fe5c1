/*-------------------------------------------------------------------------
 *
 * cuckoo_module.c
 *		The module: its magic and its settings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "cuckoo_reader.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("cuckoo_filter.cache_size",
							"Sets the maximum memory to be used for stored filters that are probed again and again.",
							"Filters are kept until the end of the query. 0 keeps none.",
							&cuckoo_cache_size,
							64 * 1024, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("cuckoo_filter.enable_slices",
							 "Lets probes of stored filters read no more than they need.",
							 "Otherwise they read filters whole.",
							 &cuckoo_enable_slices,
							 true,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("cuckoo_filter");
}
