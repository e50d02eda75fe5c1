/*
 * Read a filter in text form from standard input and ask it for each argument:
 *
 *		psql -Atc 'SELECT cf_agg(name) FROM member' | example ada grace
 */
#include <stdio.h>
#include <stdlib.h>

#include <cuckoofilter.h>

static char text[1 << 24];

int
main(int argc, char **argv)
{
	size_t		length = fread(text, 1, sizeof(text), stdin);
	cuckoofilter_error error;
	cuckoofilter *filter;
	int			status = EXIT_SUCCESS;

	while (length > 0 && text[length - 1] == '\n')
		length--;
	if (cuckoofilter_open_text(&filter, text, length, &error) != CUCKOOFILTER_OK)
	{
		fprintf(stderr, "%s\n", error.message);
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++)
	{
		bool		found;

		if (cuckoofilter_contains(filter, cuckoofilter_text(argv[i]), &found, &error) == CUCKOOFILTER_OK)
			printf("%s: %s\n", argv[i], found ? "may be there" : "is not there");
		else
		{
			fprintf(stderr, "%s: %s\n", argv[i], error.message);
			status = EXIT_FAILURE;
		}
	}
	cuckoofilter_free(filter);
	return status;
}
