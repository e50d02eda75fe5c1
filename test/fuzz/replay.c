/*-------------------------------------------------------------------------
 *
 * replay.c
 *		Run a fuzz target on files, without libFuzzer.
 *
 *		fuzz_operations [file or directory]...
 *
 * Without arguments on the target's corpus.  An input that fails is named
 * before the program aborts.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/* An input that has not ended by then never will. */
#define MAX_SECONDS		600

static const char *program_name;
static char current[4096];		/* the input that runs now */

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
run_file(void)
{
	FILE	   *const file = fopen(current, "rb");
	uint8_t    *data;
	long		length = 0;

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

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Run a file, or the files of a directory by name; returns how many. */
static size_t
run_path(const char *path)
{
	struct stat status;
	struct dirent *entry;
	DIR		   *directory;
	char	  **names = NULL;
	size_t		nnames = 0;

	snprintf(current, sizeof(current), "%s", path);
	if (stat(path, &status) != 0)
		give_up("cannot find");
	if (!S_ISDIR(status.st_mode))
	{
		run_file();
		return 1;
	}

	directory = opendir(path);
	if (directory == NULL)
		give_up("cannot open");
	while ((entry = readdir(directory)) != NULL)
	{
		if (entry->d_name[0] == '.')
			continue;
		names = realloc(names, (nnames + 1) * sizeof(names[0]));
		if (names == NULL)
			give_up("no memory for");
		names[nnames] = malloc(strlen(entry->d_name) + 1);
		if (names[nnames] == NULL)
			give_up("no memory for");
		strcpy(names[nnames++], entry->d_name);
	}
	closedir(directory);

	qsort(names, nnames, sizeof(names[0]), compare_names);
	for (size_t i = 0; i < nnames; i++)
	{
		snprintf(current, sizeof(current), "%s/%s", path, names[i]);
		run_file();
		free(names[i]);
	}
	free(names);
	return nnames;
}

int
main(int argc, char **argv)
{
	size_t		ninputs = 0;

	program_name = strrchr(argv[0], '/');
	program_name = program_name == NULL ? argv[0] : program_name + 1;
	signal(SIGABRT, on_abort);
	signal(SIGALRM, on_abort);

	if (argc > 1)
	{
		for (int i = 1; i < argc; i++)
			ninputs += run_path(argv[i]);
	}
	else
	{
		char		corpus[4096];

		snprintf(corpus, sizeof(corpus), "%s/%s", FUZZ_CORPUS, program_name);
		ninputs = run_path(corpus);
	}

	if (ninputs == 0)
		printf("not ok - %s: no inputs\n0 passed, 1 failed\n", program_name);
	else
		printf("ok - %s: %zu inputs\n1 passed, 0 failed\n", program_name,
			   ninputs);
	return ninputs == 0;
}
