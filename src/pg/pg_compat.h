/*-------------------------------------------------------------------------
 *
 * pg_compat.h
 *		What differs between the server's major versions, 15 to 19.
 *
 * Every PG_VERSION_NUM test of the project is in this file.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PG_COMPAT_H
#define PG_COMPAT_H

#include "catalog/pg_operator.h"
#include "common/base64.h"
#include "fmgr.h"
#include "utils/syscache.h"

/*
 * 16: PGDLLEXPORT makes a symbol visible in a library that hides the others,
 * and PG_FUNCTION_INFO_V1() says it of the function, too.
 */
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT			__attribute__((visibility("default")))
#undef PG_FUNCTION_INFO_V1
#define PG_FUNCTION_INFO_V1(function) \
	extern PGDLLEXPORT Datum function(PG_FUNCTION_ARGS); \
	extern PGDLLEXPORT const Pg_finfo_record *pg_finfo_##function(void); \
	const Pg_finfo_record * \
	pg_finfo_##function(void) \
	{ \
		static const Pg_finfo_record record = {1}; \
		return &record; \
	} \
	extern int	no_such_variable
#endif

/*
 * 16: the VARDATA() family left postgres.h for a header of its own, and input
 * functions can report errors without raising them.  In 15 a caller that
 * wants that does not exist, so they are raised.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#else
#define ereturn(context, dummy_value, ...) \
	do { \
		Assert((context) == NULL); \
		ereport(ERROR, __VA_ARGS__); \
		return dummy_value; \
	} while (0)
#endif

/*
 * Operators that the headers of some minor versions have no name for.  Their
 * OIDs are pinned.
 */
#ifndef ENUM_EQ_OP
#define ENUM_EQ_OP			3516
#endif
#ifndef RANGE_EQ_OP
#define RANGE_EQ_OP			3882
#endif
#ifndef MULTIRANGE_EQ_OP
#define MULTIRANGE_EQ_OP	2860
#endif

/* 18: the attribute of a function that does not return comes first. */
#if PG_VERSION_NUM >= 180000
#define cuckoo_noreturn		pg_noreturn
#else
#define cuckoo_noreturn		pg_attribute_noreturn()
#endif

/* 18: base64 takes bytes, no longer chars. */
#if PG_VERSION_NUM >= 180000
#define cuckoo_b64_encode(src, len, dst, dstlen) \
	pg_b64_encode((const uint8 *) (src), (len), (dst), (dstlen))
#define cuckoo_b64_decode(src, len, dst, dstlen) \
	pg_b64_decode((src), (len), (uint8 *) (dst), (dstlen))
#else
#define cuckoo_b64_encode(src, len, dst, dstlen) \
	pg_b64_encode((const char *) (src), (len), (dst), (dstlen))
#define cuckoo_b64_decode(src, len, dst, dstlen) \
	pg_b64_decode((src), (len), (char *) (dst), (dstlen))
#endif

/* 16: the caller of tuplesort_getdatum() says whether it wants a copy. */
#if PG_VERSION_NUM >= 160000
#define cuckoo_tuplesort_getdatum(sort, datum, isnull) \
	tuplesort_getdatum((sort), true, true, (datum), (isnull), NULL)
#else
#define cuckoo_tuplesort_getdatum(sort, datum, isnull) \
	tuplesort_getdatum((sort), true, (datum), (isnull), NULL)
#endif

/* 18: the snapshot to read TOAST tables with is no longer the caller's. */
#if PG_VERSION_NUM >= 180000
#define cuckoo_toast_snapshot(room)	((void) (room), get_toast_snapshot())
#else
#define cuckoo_toast_snapshot(room)	(init_toast_snapshot(room), (room))
#endif

/* 16: walkers of expressions have a prototype. */
#if PG_VERSION_NUM >= 160000
#define cuckoo_expression_tree_walker(node, walker, context) \
	expression_tree_walker((node), (walker), (context))
#else
#define cuckoo_expression_tree_walker(node, walker, context) \
	expression_tree_walker((node), (bool (*) ()) (void (*) (void)) (walker), \
						   (context))
#endif

/* 16: one function tells who owns objects of all kinds. */
#if PG_VERSION_NUM >= 160000
#define cuckoo_owns_table(relation, role) \
	object_ownercheck(RelationRelationId, (relation), (role))
#else
#define cuckoo_owns_table(relation, role) \
	pg_class_ownercheck((relation), (role))
#endif

/* 16: the triggers of partitions are set along only if that is said. */
#if PG_VERSION_NUM >= 160000
#define cuckoo_enable_trigger(relation, name, fires_when, lock) \
	EnableDisableTrigger((relation), (name), InvalidOid, (fires_when), false, \
						 true, (lock))
#else
#define cuckoo_enable_trigger(relation, name, fires_when, lock) \
	EnableDisableTrigger((relation), (name), (fires_when), false, (lock))
#endif

/* 17: there is a call that sets the search_path for maintenance. */
#if PG_VERSION_NUM >= 170000
#define cuckoo_restrict_search_path()	RestrictSearchPath()
#else
#define cuckoo_restrict_search_path() \
	((void) set_config_option("search_path", "pg_catalog, pg_temp", \
							  PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, \
							  true, 0, false))
#endif

/* 19: the caches of the catalogs have a type of their own. */
#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier cuckoo_syscache_id;
#else
typedef int cuckoo_syscache_id;
#endif

/* 19: a row type that was made by hand has to be finished. */
#if PG_VERSION_NUM >= 190000
#define cuckoo_finish_tupdesc(desc)	TupleDescFinalize(desc)
#else
#define cuckoo_finish_tupdesc(desc)	((void) (desc))
#endif

/* 19: an array iterator is told the storage of elements when it is set up. */
#if PG_VERSION_NUM >= 190000
#define cuckoo_array_iter_setup(it, array, typlen, typbyval, typalign) \
	array_iter_setup((it), (array), (typlen), (typbyval), (typalign))
#define cuckoo_array_iter_next(it, isnull, i, typlen, typbyval, typalign) \
	array_iter_next((it), (isnull), (i))
#else
#define cuckoo_array_iter_setup(it, array, typlen, typbyval, typalign) \
	array_iter_setup((it), (array))
#define cuckoo_array_iter_next(it, isnull, i, typlen, typbyval, typalign) \
	array_iter_next((it), (isnull), (i), (typlen), (typbyval), (typalign))
#endif

/*
 * 18: a support function can say that PL/pgSQL may pass a variable to have it
 * changed in place.  Up to 17 only functions of the server get that.
 */
#if PG_VERSION_NUM >= 180000
#define CUCKOO_HAVE_MODIFY_IN_PLACE
#endif

#endif							/* PG_COMPAT_H */
