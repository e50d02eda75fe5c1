/*-------------------------------------------------------------------------
 *
 * server_shim.c
 *		As much of a server as the input functions need, in one process.
 *
 * Memory comes from malloc, so that a sanitizer sees every byte of it; errors
 * jump out of the call.  What is missing here is left unresolved by the
 * linker: a call of it ends the program.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <setjmp.h>

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"

#include "server_shim.h"

/*
 * Memory: a list of all there is
 */
typedef struct Chunk
{
	struct Chunk *next;
	struct Chunk *previous;
	size_t		bytes;
} Chunk;

static Chunk chunks = {&chunks, &chunks, 0};

MemoryContext CurrentMemoryContext = NULL;
volatile sig_atomic_t InterruptPending = false;
int			work_mem = 1024 * 1024;

static void *
allocate(Size bytes, bool is_huge, bool is_zero)
{
	Chunk	   *chunk;

	if (!(is_huge ? AllocHugeSizeIsValid(bytes) : AllocSizeIsValid(bytes)))
		elog(ERROR, "invalid memory alloc request size %zu", bytes);
	chunk = malloc(sizeof(Chunk) + bytes);
	if (chunk == NULL)
		abort();
	memset(chunk + 1, is_zero ? 0 : 0x7F, bytes);
	chunk->bytes = bytes;
	chunk->next = chunks.next;
	chunk->previous = &chunks;
	chunk->next->previous = chunk;
	chunks.next = chunk;
	return chunk + 1;
}

static void
release(Chunk *chunk)
{
	chunk->next->previous = chunk->previous;
	chunk->previous->next = chunk->next;
	free(chunk);
}

void
shim_reset(void)
{
	while (chunks.next != &chunks)
		release(chunks.next);
}

void *
palloc(Size size)
{
	return allocate(size, false, false);
}

void *
palloc0(Size size)
{
	return allocate(size, false, true);
}

void *
MemoryContextAlloc(MemoryContext context, Size size)
{
	return allocate(size, false, false);
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return allocate(size, false, true);
}

void *
MemoryContextAllocZeroAligned(MemoryContext context, Size size)
{
	return allocate(size, false, true);
}

void *
MemoryContextAllocHuge(MemoryContext context, Size size)
{
	return allocate(size, true, false);
}

void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return allocate(size, (flags & MCXT_ALLOC_HUGE) != 0,
					(flags & MCXT_ALLOC_ZERO) != 0);
}

void
pfree(void *pointer)
{
	release((Chunk *) pointer - 1);
}

char *
pstrdup(const char *string)
{
	return strcpy(allocate(strlen(string) + 1, false, false), string);
}

void *
repalloc_huge(void *pointer, Size size)
{
	void	   *const larger = allocate(size, true, false);

	memcpy(larger, pointer, Min(size, ((Chunk *) pointer - 1)->bytes));
	pfree(pointer);
	return larger;
}

void *
repalloc(void *pointer, Size size)
{
	return repalloc_huge(pointer, size);
}

/*
 * Errors: formatted, so that formats and arguments are tried, too
 */
static jmp_buf *error_jump;
static int	sqlerrcode;
static char error_text[1024];

static void
format_text(const char *format, va_list arguments)
{
	vsnprintf(error_text, sizeof(error_text), format, arguments);
}

#define FORMAT_TEXT(format) \
	do { \
		va_list		arguments; \
		va_start(arguments, format); \
		format_text(format, arguments); \
		va_end(arguments); \
	} while (0)

bool
errstart(int elevel, const char *domain)
{
	sqlerrcode = ERRCODE_INTERNAL_ERROR;
	return elevel >= ERROR;
}

bool
errstart_cold(int elevel, const char *domain)
{
	return errstart(elevel, domain);
}

int
errcode(int code)
{
	sqlerrcode = code;
	return 0;
}

int
errmsg(const char *format,...)
{
	FORMAT_TEXT(format);
	return 0;
}

int
errmsg_internal(const char *format,...)
{
	FORMAT_TEXT(format);
	return 0;
}

int
errdetail(const char *format,...)
{
	FORMAT_TEXT(format);
	return 0;
}

int
errhint(const char *format,...)
{
	FORMAT_TEXT(format);
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	/* what cannot happen has */
	if (sqlerrcode == ERRCODE_INTERNAL_ERROR)
	{
		fprintf(stderr, "%s:%d: internal error: %s\n", filename, lineno,
				error_text);
		abort();
	}
	longjmp(*error_jump, 1);
}

/* Since version 16, for input functions. */
extern bool errsave_start(struct Node *context, const char *domain);
extern void errsave_finish(struct Node *context, const char *filename,
						   int lineno, const char *funcname);

bool
errsave_start(struct Node *context, const char *domain)
{
	return errstart(ERROR, domain);
}

void
errsave_finish(struct Node *context, const char *filename, int lineno,
			   const char *funcname)
{
	errfinish(filename, lineno, funcname);
}

int
shim_sqlerrcode(void)
{
	return sqlerrcode;
}

bool
shim_call(PGFunction function, Datum first, Datum second, Datum *result)
{
	LOCAL_FCINFO(fcinfo, 2);
	jmp_buf		jump;

	error_jump = &jump;
	if (setjmp(jump) != 0)
		return false;
	InitFunctionCallInfoData(*fcinfo, NULL, 2, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = first;
	fcinfo->args[0].isnull = first == (Datum) 0;
	fcinfo->args[1].value = second;
	fcinfo->args[1].isnull = second == (Datum) 0;
	*result = function(fcinfo);
	return true;
}

/*
 * Arguments: never toasted
 */
struct varlena *
pg_detoast_datum(struct varlena *datum)
{
	return datum;
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

struct varlena *
pg_detoast_datum_copy(struct varlena *datum)
{
	struct varlena *const copy = palloc(VARSIZE(datum));

	memcpy(copy, datum, VARSIZE(datum));
	return copy;
}

/*
 * Aggregates: every call is from one
 */
int
AggCheckCallContext(FunctionCallInfo fcinfo, MemoryContext *aggcontext)
{
	if (aggcontext != NULL)
		*aggcontext = CurrentMemoryContext;
	return AGG_CONTEXT_AGGREGATE;
}

void
AggRegisterCallback(FunctionCallInfo fcinfo, ExprContextCallbackFunction func,
					Datum arg)
{
}

/*
 * Messages
 */
void
pq_begintypsend(StringInfo buf)
{
	initStringInfo(buf);
	appendBinaryStringInfo(buf, "\0\0\0\0", VARHDRSZ);
}

bytea *
pq_endtypsend(StringInfo buf)
{
	SET_VARSIZE(buf->data, buf->len);
	return (bytea *) buf->data;
}

void
pq_sendfloat8(StringInfo buf, float8 value)
{
	uint64		bits;

	memcpy(&bits, &value, sizeof(bits));
	pq_sendint64(buf, bits);
}

void
pq_copymsgbytes(StringInfo msg, char *buf, int datalen)
{
	if (datalen < 0 || datalen > msg->len - msg->cursor)
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION),
				 errmsg("insufficient data left in message")));
	memcpy(buf, msg->data + msg->cursor, datalen);
	msg->cursor += datalen;
}

/* A number of so many bytes, the highest first. */
static uint64
get_number(StringInfo msg, int nbytes)
{
	uint64		number = 0;
	char		bytes[sizeof(uint64)];

	pq_copymsgbytes(msg, bytes, nbytes);
	for (int i = 0; i < nbytes; i++)
		number = number << 8 | (unsigned char) bytes[i];
	return number;
}

int
pq_getmsgbyte(StringInfo msg)
{
	return (int) get_number(msg, 1);
}

unsigned int
pq_getmsgint(StringInfo msg, int b)
{
	return (unsigned int) get_number(msg, b);
}

int64
pq_getmsgint64(StringInfo msg)
{
	return (int64) get_number(msg, 8);
}

float8
pq_getmsgfloat8(StringInfo msg)
{
	const uint64 bits = get_number(msg, 8);
	float8		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
