/*-------------------------------------------------------------------------
 *
 * replay.c
 *		Run a fuzz target on files, without libFuzzer.
 *
 *		fuzz_operations file...
 *
 * An input that fails is named before the program aborts.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <unistd.h>

#include "fuzz.h"

/* An input that has not ended by then never will. */
#define MAX_SECONDS		600

static const char *program_name;
static const char *current;		/* the input that runs now */

/* Mutators call it, and there is nobody here to call them. */
size_t
LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t room)
{
	(void) data;
	(void) room;
	return bytes;
}

/* Failed checks and assertions, and inputs without end, end here. */
static void
on_abort(int signal_number)
{
	printf("not ok - %s: %s%s\n0 passed, 1 failed\n", program_name, current,
		   signal_number == SIGALRM ? " does not end" : "");
	fflush(stdout);
	_Exit(2);
}

static void
give_up(const char *what)
{
	printf("# %s: %s\n", what, current);
	abort();
}

static void
run_file(const char *path)
{
	FILE	   *file = fopen(path, "rb");
	uint8_t    *data;
	long		length = 0;

	current = path;
	if (file == NULL || fseek(file, 0, SEEK_END) != 0 ||
		(length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
		give_up("cannot read");
	/* of exactly that many bytes, so that a sanitizer sees a read beyond */
	data = malloc(length > 0 ? (size_t) length : 1);
	if (data == NULL ||
		fread(data, 1, (size_t) length, file) != (size_t) length)
		give_up("cannot read");
	fclose(file);
	alarm(MAX_SECONDS);
	LLVMFuzzerTestOneInput(data, (size_t) length);
	alarm(0);
	free(data);
}

int
main(int argc, char **argv)
{
	program_name = strrchr(argv[0], '/');
	program_name = program_name == NULL ? argv[0] : program_name + 1;
	signal(SIGABRT, on_abort);
	signal(SIGALRM, on_abort);

	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	if (argc < 2)
		printf("not ok - %s: no inputs\n0 passed, 1 failed\n", program_name);
	else
		printf("ok - %s: %d inputs\n1 passed, 0 failed\n", program_name,
			   argc - 1);
	return argc < 2;
}
