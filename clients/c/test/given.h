/*
 * given.h
 *		Values as test/vectors/README.md writes them.
 */
#ifndef GIVEN_H
#define GIVEN_H

#include <stdio.h>
#include <stdlib.h>

#include "cuckoofilter.h"
#include "json.h"

static inline cuckoofilter_family
given_family(const char *name)
{
	static const struct
	{
		const char *name;
		cuckoofilter_family family;
	}			families[] = {
		{"number", CUCKOOFILTER_NUMBER}, {"float", CUCKOOFILTER_FLOAT},
		{"text", CUCKOOFILTER_TEXT}, {"bytes", CUCKOOFILTER_BYTES},
		{"bool", CUCKOOFILTER_BOOL}, {"uuid", CUCKOOFILTER_UUID},
		{"date", CUCKOOFILTER_DATE}, {"timestamp", CUCKOOFILTER_TIMESTAMP},
		{"timestamptz", CUCKOOFILTER_TIMESTAMPTZ}, {"time", CUCKOOFILTER_TIME},
		{"char(n)", CUCKOOFILTER_CHAR}, {"hash", CUCKOOFILTER_HASH}};

	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (strcmp(families[i].name, name) == 0)
			return families[i].family;
	return (cuckoofilter_family) 25;
}

/* An array of values, to be freed; they refer to the JSON. */
static inline cuckoofilter_value *
given_values(const Json *json, cuckoofilter_family family, size_t *nvalues)
{
	const bool	is_range = json != NULL && json->type == '{';
	const long	first = is_range ? atol(json_string(json, "from")) : 0;
	const long	count = is_range ? atol(json_string(json, "to")) - first + 1 : 0;
	const long	times = is_range && json_get(json, "times") != NULL ? atol(json_string(json, "times")) : 1;
	cuckoofilter_value *values;

	*nvalues = is_range ? (size_t) (count * times) : json != NULL ? json->nchildren : 0;
	values = malloc((*nvalues + 1) * sizeof(*values));
	if (values == NULL)
		exit(2);
	for (size_t i = 0; i < *nvalues; i++)
		values[i] = is_range ? cuckoofilter_int64(first + (long) i % count) :
			cuckoofilter_parsed(family, json->children[i].string == NULL ? "" : json->children[i].string,
								json->children[i].length);
	return values;
}

static inline cuckoofilter_parameters
given_parameters(const Json *json)
{
	cuckoofilter_parameters parameters = CUCKOOFILTER_DEFAULTS;

	if (json_get(json, "capacity") != NULL)
	{
		parameters.capacity = strtod(json_string(json, "capacity"), NULL);
		if (parameters.capacity == 0)	/* would stand for none */
			parameters.capacity = -1;
	}
	if (json_get(json, "fpr") != NULL)
		parameters.fpr = strtod(json_string(json, "fpr"), NULL);
	if (json_get(json, "max_copies") != NULL)
		parameters.max_copies = atoi(json_string(json, "max_copies"));
	if (json_get(json, "seed") != NULL)
		parameters.seed = (int64_t) strtoll(json_string(json, "seed"), NULL, 10);
	return parameters;
}

static inline cuckoofilter_status
given_changes(cuckoofilter *filter, const Json *changes, cuckoofilter_family family,
			  cuckoofilter_error *error)
{
	cuckoofilter_status status = CUCKOOFILTER_OK;

	for (size_t i = 0; changes != NULL && i < changes->nchildren; i++)
	{
		const Json *const change = &changes->children[i];
		const bool	is_add = json_get(change, "add") != NULL;
		size_t		nvalues;
		cuckoofilter_value *const values =
			given_values(json_get(change, is_add ? "add" : "remove"), family, &nvalues);

		for (size_t j = 0; j < nvalues && status == CUCKOOFILTER_OK; j++)
			status = is_add ? cuckoofilter_add(filter, values[j], error) :
				cuckoofilter_remove(filter, values[j], error);
		free(values);
	}
	return status;
}

#endif							/* GIVEN_H */
