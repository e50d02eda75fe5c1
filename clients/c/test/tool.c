/*
 * tool.c
 *		Answers JSON lines, as test/vectors/README.md says.
 */
#define _POSIX_C_SOURCE 200809L
#include "given.h"

static void
answer_error(const cuckoofilter_error *error)
{
	printf("{\"error\":");
	json_print(error->message);
	puts("}");
}

static void
answer_bytes(const cuckoofilter *filter)
{
	cuckoofilter_error error;
	void	   *bytes;
	size_t		nbytes;

	if (cuckoofilter_write(filter, &bytes, &nbytes, &error) != CUCKOOFILTER_OK)
	{
		answer_error(&error);
		return;
	}
	printf("{\"bytes\":\"");
	json_hex(bytes, nbytes);
	puts("\"}");
	free(bytes);
}

static cuckoofilter_status
open_given(const Json *request, cuckoofilter **filter, cuckoofilter_error *error)
{
	const Json *const text = json_get(request, "text");
	size_t		nbytes = 0;
	unsigned char *bytes;
	cuckoofilter_status status;

	*filter = NULL;
	if (text != NULL)
		return cuckoofilter_open_text(filter, text->string, text->length, error);
	bytes = json_unhex(json_get(request, "bytes"), &nbytes);
	if (bytes == NULL)
	{
		strcpy(error->message, "no hex");
		return error->status = CUCKOOFILTER_VALUE;
	}
	status = cuckoofilter_open(filter, bytes, nbytes, error);
	free(bytes);
	return status;
}

static cuckoofilter_status
answer_probe(const cuckoofilter *filter, const cuckoofilter_value *values, size_t nvalues,
			 cuckoofilter_error *error)
{
	cuckoofilter_status status = CUCKOOFILTER_OK;
	bool		found = false;
	int			copies = 0;

	for (size_t i = 0; i < nvalues && status == CUCKOOFILTER_OK; i++)
		status = cuckoofilter_count(filter, values[i], &copies, error);
	if (status != CUCKOOFILTER_OK)
		return status;
	printf("{\"found\":[");
	for (size_t i = 0; i < nvalues; i++)
	{
		cuckoofilter_contains(filter, values[i], &found, error);
		printf("%s%s", i > 0 ? "," : "", found ? "true" : "false");
	}
	printf("],\"counts\":[");
	for (size_t i = 0; i < nvalues; i++)
	{
		cuckoofilter_count(filter, values[i], &copies, error);
		printf("%s%d", i > 0 ? "," : "", copies);
	}
	puts("]}");
	return status;
}

static void
answer(const Json *request)
{
	const char *const op = json_string(request, "op");
	const cuckoofilter_family family = given_family(json_string(request, "family"));
	cuckoofilter_error error = {CUCKOOFILTER_VALUE, "unknown op"};
	cuckoofilter_status status = CUCKOOFILTER_VALUE;
	cuckoofilter *filter = NULL;
	size_t		nvalues;
	cuckoofilter_value *const values = given_values(json_get(request, "values"), family, &nvalues);

	if (strcmp(op, "build") == 0)
	{
		const cuckoofilter_parameters parameters = given_parameters(request);
		const Json *const bag = json_get(request, "bag");

		status = cuckoofilter_build(&filter, &parameters, bag != NULL && bag->type == 't',
									values, nvalues, &error);
		if (status == CUCKOOFILTER_OK)
			answer_bytes(filter);
	}
	else if (strcmp(op, "verdict") == 0)
	{
		status = open_given(request, &filter, &error);
		if (status == CUCKOOFILTER_OK)
			puts("{\"ok\":true}");
		else
		{
			printf("{\"ok\":false,\"error\":");
			json_print(error.message);
			printf(",\"version\":%s}\n", status == CUCKOOFILTER_VERSION ? "true" : "false");
			status = CUCKOOFILTER_OK;
		}
	}
	else if (strcmp(op, "change") == 0 || strcmp(op, "probe") == 0)
	{
		status = open_given(request, &filter, &error);
		if (status == CUCKOOFILTER_OK && *op == 'p')
			status = answer_probe(filter, values, nvalues, &error);
		else if (status == CUCKOOFILTER_OK)
		{
			status = given_changes(filter, json_get(request, "changes"), family, &error);
			if (status == CUCKOOFILTER_OK)
				answer_bytes(filter);
		}
	}
	if (status != CUCKOOFILTER_OK)
		answer_error(&error);
	cuckoofilter_free(filter);
	free(values);
}

int
main(void)
{
	char	   *line = NULL;
	size_t		room = 0;
	ssize_t		length;

	while ((length = getline(&line, &room, stdin)) > 0)
	{
		Json		request;

		if (json_parse(line, (size_t) length, &request))
			answer(&request);
		else
			puts("{\"error\":\"no JSON\"}");
		json_free(&request);
		fflush(stdout);
	}
	free(line);
	return 0;
}
