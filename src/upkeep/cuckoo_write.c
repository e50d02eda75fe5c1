/*-------------------------------------------------------------------------
 *
 * cuckoo_write.c
 *		Statements of ours that write filters, and what they call.
 *
 * What such a statement does is known to the functions that it calls, and to
 * the guards of the target, while it runs: nobody else changes a filter, and
 * what is stored has to be what was made.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

#include "cuckoo_sql.h"
#include "cuckoo_write.h"

PG_FUNCTION_INFO_V1(cf_upkeep_apply);
PG_FUNCTION_INFO_V1(cf_upkeep_store);

/* The statement of ours that is under way, or NULL. */
static CuckooWrite *write_current = NULL;

/*
 * cuckoo_role_become_plain
 *		Run what follows with the rights of an owner.
 *
 * For what depends on no search_path.
 */
void
cuckoo_role_become_plain(CuckooRole *before, Oid owner, int flags)
{
	GetUserIdAndSecContext(&before->user, &before->context);
	SetUserIdAndSecContext(owner, before->context |
						   SECURITY_LOCAL_USERID_CHANGE | flags);
	before->nestlevel = 0;
}

/* The same with a safe search_path. */
void
cuckoo_role_become(CuckooRole *before, Oid owner, int flags)
{
	cuckoo_role_become_plain(before, owner, flags);
	before->nestlevel = NewGUCNestLevel();
	cuckoo_restrict_search_path();
}

/* An error does the same. */
void
cuckoo_role_return(const CuckooRole *before)
{
	if (before->nestlevel > 0)
		AtEOXact_GUC(false, before->nestlevel);
	SetUserIdAndSecContext(before->user, before->context);
}

/*
 * cuckoo_write_begin
 *		The next statement on the target is ours.
 *
 * Ends with cuckoo_write_end(), also if there is an error.
 */
void
cuckoo_write_begin(CuckooWrite *write, Oid target)
{
	memset(write, 0, sizeof(*write));
	write->outer = write_current;
	write->target = target;
	write->is_announced = true;
	write->depth = DatumGetInt32(pg_trigger_depth(NULL));
	write_current = write;
}

void
cuckoo_write_end(CuckooWrite *write)
{
	write_current = write->outer;
}

/*
 * cuckoo_write_is_ours
 *		Is the statement on this table that begins the one announced?
 *
 * Those that triggers run within it are not.
 */
bool
cuckoo_write_is_ours(Oid target)
{
	if (write_current == NULL || !write_current->is_announced ||
		write_current->target != target)
		return false;
	write_current->is_announced = false;
	return true;
}

/*
 * cuckoo_write_is_row_of_ours
 *		Is the trigger of a row that runs one of our statement?
 *
 * What is stored is checked there.  Those of statements that triggers run within
 * it are nested deeper.
 */
bool
cuckoo_write_is_row_of_ours(Oid target)
{
	return write_current != NULL && write_current->target == target &&
		DatumGetInt32(pg_trigger_depth(NULL)) ==
		write_current->depth + 1;
}

/* The checksum of a filter, whether or not it is toasted. */
uint64
cuckoo_write_checksum(Datum datum)
{
	struct varlena *filter = DatumGetCuckooFilterP(datum);
	const uint64 checksum = cuckoo_checksum(VARDATA_ANY(filter),
											VARSIZE_ANY_EXHDR(filter));

	if ((Pointer) filter != DatumGetPointer(datum))
		pfree(filter);
	return checksum;
}

/* Remember the filter that is to be stored. */
static void
write_made(CuckooWrite *write, Datum datum, bool is_changed)
{
	write->was_made = true;
	write->is_changed = is_changed;
	write->made = cuckoo_write_checksum(datum);
	write->made_sum += write->made;
}

/* The statement under way, for functions that only statements of ours call. */
static CuckooWrite *
write_required(bool is_batch)
{
	if (write_current == NULL || (write_current->tenant != NULL) != is_batch)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this function is for the triggers of cf_attach() only")));
	return write_current;
}

/*
 * write_full_error
 *		A filter has no room for a value of its source.
 */
static void
write_full_error(const CuckooUpkeep *upkeep, const CuckooFilter *filter)
{
	const CuckooAttachment *attachment = &upkeep->attachment;
	const char *target = cuckoo_sql_relation(attachment->target);

	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("cuckoo filter \"%s\" of table %s is full",
					attachment->filter, target),
			 errdetail("It holds %llu entries of a capacity of %llu.",
					   (unsigned long long) filter->nentries,
					   (unsigned long long) filter->capacity),
			 errhint("Use cf_rebuild(%s, %s, capacity => ...).",
					 quote_literal_cstr(target),
					 quote_literal_cstr(attachment->filter))));
}

/*
 * write_require_same
 *		Refuse a filter that was made with another seed, or of other values.
 */
static void
write_require_same(const CuckooUpkeep *upkeep, const CuckooFilter *filter)
{
	const CuckooFamily family = cuckoo_hasher_family(upkeep->hasher);

	if (filter->seed == upkeep->parameters.seed &&
		(filter->family == family || filter->family == CUCKOO_FAMILY_NONE))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cuckoo filter \"%s\" of table %s was not made by cf_attach() or cf_rebuild()",
					upkeep->attachment.filter,
					cuckoo_sql_relation(upkeep->attachment.target)),
			 errdetail("It has seed %lld and holds %s values; the seed of the attachment is %lld, and its values are %s values.",
					   (long long) filter->seed,
					   cuckoo_family_name(filter->family),
					   (long long) upkeep->parameters.seed,
					   cuckoo_family_name(family)),
			 errhint("Use cf_rebuild(%s, %s).",
					 quote_literal_cstr(cuckoo_sql_relation(upkeep->attachment.target)),
					 quote_literal_cstr(upkeep->attachment.filter))));
}

/*
 * write_to_filter
 *		Remove and add the hashes of a tenant; returns whether that has changed
 *		anything.
 *
 * Nothing is removed from a filter that cannot tell what that would do to
 * other values: it keeps what it need not keep.
 */
static bool
write_to_filter(const CuckooUpkeep *upkeep, const CuckooTenant *tenant,
				CuckooFilter *filter)
{
	bool		is_changed = filter->family == CUCKOO_FAMILY_NONE;

	filter->family = cuckoo_hasher_family(upkeep->hasher);
	if (!filter->is_merged && filter->max_copies > 1)
	{
		for (size_t i = 0; i < tenant->nremoved; i++)
		{
			if (cuckoo_filter_remove(filter, tenant->removed[i]) == CUCKOO_OK)
				is_changed = true;
			if (i % CUCKOO_POLL_INTERVAL == 0)
				CHECK_FOR_INTERRUPTS();
		}
	}
	for (size_t i = 0; i < tenant->nadded; i++)
	{
		const CuckooStatus status =
			cuckoo_filter_add(filter, tenant->added[i], &cuckoo_host);

		if (status == CUCKOO_FULL)
			write_full_error(upkeep, filter);
		else if (status == CUCKOO_OK)
			is_changed = true;
		else if (status != CUCKOO_SATURATED)
			cuckoo_error_add(status, filter);
		if (i % CUCKOO_POLL_INTERVAL == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return is_changed;
}

/*
 * cf_upkeep_apply(filter)
 *		The filter with the changes of the statement under way.
 *
 * Not STRICT: where there is no filter, one is made.
 */
Datum
cf_upkeep_apply(PG_FUNCTION_ARGS)
{
	CuckooWrite *write = write_required(true);
	CuckooFilter filter;
	Datum		result;
	bool		is_changed;

	if (PG_ARGISNULL(0))
		cuckoo_parameters_new_filter(&filter, &write->upkeep->parameters);
	else
		cuckoo_datum_open_copy(&filter, PG_GETARG_DATUM(0));
	write_require_same(write->upkeep, &filter);
	/* a new filter is of no family yet, so it counts as changed */
	is_changed = write_to_filter(write->upkeep, write->tenant, &filter);
	if (is_changed)
		result = PointerGetDatum(cuckoo_datum_of_filter(&filter));
	else
	{
		cuckoo_filter_release(&filter, &cuckoo_host);
		result = PG_GETARG_DATUM(0);
	}
	write_made(write, result, is_changed);
	return result;
}

/*
 * cf_upkeep_store(filter, is_stored)
 *		The filter as it is, which is going to be stored or was.
 */
Datum
cf_upkeep_store(PG_FUNCTION_ARGS)
{
	CuckooWrite *write = write_required(false);

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (PG_GETARG_BOOL(1))
		write->stored_sum += cuckoo_write_checksum(PG_GETARG_DATUM(0));
	else
		write_made(write, PG_GETARG_DATUM(0), true);
	return PG_GETARG_DATUM(0);
}

/* Filters that are not stored would soon be asked for what they lack. */
void
cuckoo_not_stored_error(Oid target)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_ACTION_EXCEPTION),
			 errmsg("filter was not stored in table %s",
					cuckoo_sql_relation(target)),
			 errdetail("A trigger, a rule or another unique index of the table prevented or changed it.")));
}

/*
 * cuckoo_write_run
 *		Run a statement that writes filters, and return the number that it
 *		counts.
 *
 * Each filter goes through cf_upkeep_store() before it is stored and after.
 */
int64
cuckoo_write_run(Oid target, const char *sql)
{
	CuckooWrite write;
	bool		isnull;

	cuckoo_write_begin(&write, target);
	PG_TRY();
	{
		(void) cuckoo_sql_run(sql, SPI_OK_SELECT);
	}
	PG_FINALLY();
	{
		cuckoo_write_end(&write);
	}
	PG_END_TRY();
	if (write.made_sum != write.stored_sum)
		cuckoo_not_stored_error(target);
	return DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
									   SPI_tuptable->tupdesc, 1, &isnull));
}
