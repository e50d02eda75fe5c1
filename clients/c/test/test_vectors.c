/*
 * test_vectors.c
 *		Every filter, image and hash of test/vectors/format1.json.
 */
#include <math.h>

#include "given.h"

static int	npassed;
static int	nfailed;

static void
check(bool is_right, const char *name, const char *what)
{
	if (is_right)
		npassed++;
	else
	{
		nfailed++;
		printf("not ok - %s: %s\n", name, what);
	}
}

static bool
writes(const cuckoofilter *filter, const char *text)
{
	char	   *written;
	bool		same;

	if (filter == NULL || cuckoofilter_write_text(filter, &written, NULL) != CUCKOOFILTER_OK)
		return false;
	same = strcmp(written, text) == 0;
	free(written);
	return same;
}

static bool
near(double a, const Json *info, const char *key)
{
	const double b = strtod(json_string(info, key), NULL);

	return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool
info_is(const cuckoofilter *filter, const Json *info)
{
	cuckoofilter_info have;

	cuckoofilter_get_info(filter, &have);
#define IS(field, key) ((long long) have.field == atoll(json_string(info, key)))
	return IS(capacity, "capacity") && IS(entries, "entries") && IS(kicks, "kicks") &&
		IS(bytes + 4, "bytes") && IS(max_copies, "max_copies") && IS(current_copies, "current_copies") &&
		IS(columns, "columns") && IS(index_bits, "index_bits") && IS(prefix_bits, "prefix_bits") &&
		IS(longest_path, "longest_path") && IS(growths, "growths") &&
		have.seed == strtoll(json_string(info, "seed"), NULL, 10) &&
		have.is_table == (strcmp(json_string(info, "form"), "table") == 0) &&
		have.is_merged == (json_get(info, "merged")->type == 't') &&
		strcmp(have.family_name, json_get(info, "family") == NULL ? "untyped" : json_string(info, "family")) == 0 &&
		near(have.load_factor, info, "load_factor") && near(have.fpr, info, "fpr") &&
		near(have.promised_fpr, info, "promised_fpr");
#undef IS
}

static void
check_probes(const cuckoofilter *filter, const Json *probes, const char *name)
{
	const bool	has_copies = json_get(probes, "copies") != NULL;
	const char *const answers = json_string(probes, has_copies ? "copies" : "found");
	size_t		nvalues;
	cuckoofilter_value *const values =
		given_values(json_get(probes, "values"), given_family(json_string(probes, "family")), &nvalues);
	cuckoofilter_error error = {CUCKOOFILTER_OK, ""};
	bool		is_right = nvalues == 200 && strlen(answers) == 200;

	for (size_t i = 0; i < nvalues && is_right; i++)
	{
		const int	expected = answers[i] - '0';
		bool		found;
		int			copies;

		is_right = cuckoofilter_contains(filter, values[i], &found, &error) == CUCKOOFILTER_OK &&
			cuckoofilter_count(filter, values[i], &copies, &error) == CUCKOOFILTER_OK &&
			found == (expected > 0) && (has_copies ? copies == expected : (copies > 0) == found);
	}
	check(is_right, name, error.status == CUCKOOFILTER_OK ? "answers" : error.message);
	free(values);
}

static void
check_build(const Json *build, const char *text, const char *name)
{
	const cuckoofilter_parameters parameters = given_parameters(build);
	cuckoofilter_error error = {CUCKOOFILTER_OK, "other bytes are built"};
	cuckoofilter *filter;
	size_t		nvalues;
	cuckoofilter_value *const values =
		given_values(json_get(build, "values"), given_family(json_string(build, "family")), &nvalues);

	cuckoofilter_build(&filter, &parameters, json_get(build, "bag")->type == 't', values, nvalues, &error);
	check(writes(filter, text), name, error.message);
	cuckoofilter_free(filter);
	free(values);
}

static void
check_steps(const Json *steps, const char *text, const char *name)
{
	const cuckoofilter_parameters parameters = given_parameters(steps);
	cuckoofilter_error error = {CUCKOOFILTER_OK, "changes make other bytes"};
	cuckoofilter *filter;

	cuckoofilter_new(&filter, &parameters, &error);
	check(filter != NULL &&
		  given_changes(filter, json_get(steps, "changes"), given_family(json_string(steps, "family")), &error) == CUCKOOFILTER_OK &&
		  writes(filter, text), name, error.message);
	cuckoofilter_free(filter);
}

static void
check_filter(const Json *vector)
{
	const char *const name = json_string(vector, "name");
	const Json *const text = json_get(vector, "text");
	cuckoofilter_error error = {CUCKOOFILTER_OK, ""};
	cuckoofilter *filter;

	if (cuckoofilter_open_text(&filter, text->string, text->length, &error) != CUCKOOFILTER_OK)
	{
		check(false, name, error.message);
		return;
	}
	check(writes(filter, text->string), name, "written differently");
	check(info_is(filter, json_get(vector, "info")), name, "info");
	check_probes(filter, json_get(vector, "probes"), name);
	if (json_get(vector, "build") != NULL)
		check_build(json_get(vector, "build"), text->string, name);
	if (json_get(vector, "steps") != NULL)
		check_steps(json_get(vector, "steps"), text->string, name);
	cuckoofilter_free(filter);
}

static void
check_image(const Json *vector)
{
	const Json *const text = json_get(vector, "text");
	cuckoofilter *filter;
	cuckoofilter_status status;
	const char *verdict;

	if (text != NULL)
		status = cuckoofilter_open_text(&filter, text->string, text->length, NULL);
	else
	{
		size_t		nbytes = 0;
		unsigned char *const bytes = json_unhex(json_get(vector, "bytes"), &nbytes);

		status = cuckoofilter_open(&filter, bytes, nbytes, NULL);
		free(bytes);
	}
	verdict = status == CUCKOOFILTER_OK ? "ok" : status == CUCKOOFILTER_VERSION ? "version" :
		status == CUCKOOFILTER_DAMAGED ? "damaged" : "?";
	check(strcmp(verdict, json_string(vector, "verdict")) == 0, json_string(vector, "name"), verdict);
	cuckoofilter_free(filter);
}

static void
check_hashes(const Json *vector)
{
	const Json *const hashes = json_get(vector, "hashes");
	const int64_t seed = strtoll(json_string(vector, "seed"), NULL, 10);
	size_t		nvalues;
	cuckoofilter_value *const values =
		given_values(json_get(vector, "values"), given_family(json_string(vector, "family")), &nvalues);

	for (size_t i = 0; i < nvalues; i++)
	{
		cuckoofilter_error error = {CUCKOOFILTER_OK, "another hash"};
		int64_t		hash;

		check(cuckoofilter_hash_of(values[i], seed, &hash, &error) == CUCKOOFILTER_OK &&
			  hash == strtoll(hashes->children[i].string, NULL, 10), values[i].bytes, error.message);
	}
	free(values);
}

/* A filter of each family takes the values that the file says, and no others. */
static void
check_takes(const Json *takes)
{
	static const struct
	{
		const char *name;
		const char *value;
	}			samples[] = {
		{"number", "7"}, {"float", "7"}, {"text", "7"}, {"bytes", "07"}, {"bool", "true"},
		{"uuid", "00000000-0000-0000-0000-000000000007"}, {"date", "2007-07-07"},
		{"timestamp", "2007-07-07T07:07:07"}, {"timestamptz", "2007-07-07T07:07:07Z"},
		{"time", "07:07:07"}, {"char(n)", "7"}, {"hash", "7"}};
	const size_t nsamples = sizeof(samples) / sizeof(*samples);
	const cuckoofilter_parameters parameters = {30, 0.01, 4, 0};

	for (size_t i = 0; i < nsamples; i++)
	{
		const char *const held = strcmp(samples[i].name, "hash") == 0 ? "untyped" : samples[i].name;
		const Json *const taken = json_get(takes, held);

		for (size_t j = 0; j < nsamples; j++)
		{
			cuckoofilter *filter;
			bool		expected = false;
			cuckoofilter_status status;
			bool		found;
			const cuckoofilter_value value = cuckoofilter_parsed(given_family(samples[j].name), samples[j].value, strlen(samples[j].value));

			for (size_t n = 0; taken != NULL && n < taken->nchildren; n++)
				expected |= strcmp(taken->children[n].string, samples[j].name) == 0;
			cuckoofilter_new(&filter, &parameters, NULL);
			cuckoofilter_add(filter, cuckoofilter_parsed(given_family(samples[i].name), samples[i].value, strlen(samples[i].value)), NULL);
			status = cuckoofilter_contains(filter, value, &found, NULL);
			check(status == (expected ? CUCKOOFILTER_OK : CUCKOOFILTER_FAMILY) &&
				  cuckoofilter_add(filter, value, NULL) == status, held, samples[j].name);
			cuckoofilter_free(filter);
		}
	}
}

int
main(int argc, char **argv)
{
	static char text[1 << 21];
	FILE	   *const file = argc == 2 ? fopen(argv[1], "r") : NULL;
	static const char *const parts[] = {"filters", "images", "hashes"};
	static void (*const checks[]) (const Json *) = {check_filter, check_image, check_hashes};
	Json		vectors;
	size_t		length;

	if (file == NULL)
		return 2;
	length = fread(text, 1, sizeof(text), file);
	fclose(file);
	if (!json_parse(text, length, &vectors))
	{
		puts("not ok - the file is no JSON");
		return 1;
	}
	for (int i = 0; i < 3; i++)
	{
		const Json *const part = json_get(&vectors, parts[i]);

		check(part != NULL && part->nchildren > 20, parts[i], "few vectors");
		for (size_t j = 0; part != NULL && j < part->nchildren; j++)
			checks[i] (&part->children[j]);
	}
	check_takes(json_get(&vectors, "takes"));
	json_free(&vectors);
	printf("vectors: %d passed, %d failed\n", npassed, nfailed);
	return nfailed > 0;
}
