/*-------------------------------------------------------------------------
 *
 * bench_core.c
 *		How fast is the filter of src/core, beside a plain cuckoo filter?
 *
 * Prints a Markdown table of ratios.  All that is compared in a row runs in
 * turn, A B A B ..., in one process on one thread; each turn gives one ratio,
 * and the row shows their median and their spread (lowest and highest).
 * Times are of the thread's own processor time, so that a busy machine
 * disturbs by what it does to caches only.  Absolute times are for
 * orientation; they belong to the machine, the ratios hardly do.
 *
 * See usage() for the options, subject_plain.c for what plain is, and
 * docs/benchmarks.md for the goals.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"

#define MAX_LIST		16		/* values of an option */
#define MAX_RUNS		8		/* that take turns */
#define MAX_TURNS		101
#define NPROBES			((size_t) 1 << 20)
#define BATCH			32
#define NMIXES			3
#define MIN_OPERATIONS	1000000 /* of one turn, where they are cheap */

/* Let a lookup end before the next begins, where we know how to ask for it. */
#if defined(__x86_64__) || defined(__i386__)
#define finish_loads()	__asm__ volatile("lfence" ::: "memory")
#elif defined(__aarch64__)
#define finish_loads()	__asm__ volatile("dsb ld\n\tisb" ::: "memory")
#else
#define finish_loads()	((void) 0)
#endif

/* the values given to an option, or their default */
static int	nturns = 9;
static uint64_t sizes[MAX_LIST] = {10000, 1000000, 10000000};
static int	nsizes = 3;
static double rates[MAX_LIST] = {0.01, 0.001, 1.0 / 65536};
static int	nrates = 3;
static const char *questions =
"miss,hit,mix,add,remove,grow,batch,double,build";

/* All that can be compared; the first two always. */
static const Subject *const subjects[] = {
	&plain_subject,
	&core_subject,
#ifdef HAVE_BASE
	&base_subject,
#endif
#ifdef HAVE_FIELD
	&single_subject,
	&packed_subject,
#endif
};
static const char *const subject_names[] = {
	"plain",
	"ours",
#ifdef HAVE_BASE
	"base",
#endif
#ifdef HAVE_FIELD
	"single",
	"packed",
#endif
};

#define NSUBJECTS		((int) (sizeof(subjects) / sizeof(subjects[0])))
#define MAX_SUBJECTS	5

#define PLAIN			0
#define OURS			1

/* What all questions about one size and rate share. */
typedef struct Case
{
	uint64_t	nvalues;
	double		fpr;
	uint64_t	rate;			/* fpr in units of 2^-62 */
	uint64_t   *hashes;			/* nvalues of them */
	uint64_t   *keys;			/* their sort keys, ascending; or NULL */
	uint64_t   *hits;			/* NPROBES of the hashes, in random order */
	uint64_t   *misses;			/* NPROBES other ones */
	uint64_t   *mixes[NMIXES];	/* NPROBES each: a quarter, half and three
								 * quarters of them hits, in random order */
	void	   *filters[MAX_SUBJECTS];	/* full ones; or NULL */
} Case;

/* One of the things that take turns; returns nanoseconds per operation. */
typedef struct Run
{
	double		(*measure) (const Case *, int subject);
	int			subject;
	const Case *what;
	double		ns[MAX_TURNS];
} Run;

/* Whatever is computed goes here, so that it has to be computed. */
static volatile size_t sink;

/*
 * SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): the i-th of a sequence of
 * 64-bit numbers, all different, as good as random.
 */
static uint64_t
nth_random(uint64_t i)
{
	uint64_t	z = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

static void *
allocate(size_t bytes)
{
	void	   *const memory = malloc(bytes);

	if (memory == NULL)
	{
		fprintf(stderr, "bench_core: out of memory\n");
		exit(1);
	}
	return memory;
}

static double
measure_lookups(const Case *c, int subject, const uint64_t *probes)
{
	const double start = now();

	sink = subjects[subject]->count_hits(c->filters[subject], probes, NPROBES);
	return (now() - start) / (double) NPROBES;
}

static double
measure_misses(const Case *c, int subject)
{
	return measure_lookups(c, subject, c->misses);
}

static double
measure_hits(const Case *c, int subject)
{
	return measure_lookups(c, subject, c->hits);
}

static double
measure_quarter_hits(const Case *c, int subject)
{
	return measure_lookups(c, subject, c->mixes[0]);
}

static double
measure_half_hits(const Case *c, int subject)
{
	return measure_lookups(c, subject, c->mixes[1]);
}

static double
measure_mostly_hits(const Case *c, int subject)
{
	return measure_lookups(c, subject, c->mixes[2]);
}

/* One call for each lookup, and something that depends on the answer. */
static double
measure_calls(const Case *c, int subject)
{
	bool		(*const contains) (const void *, uint64_t) =
		subjects[subject]->contains;
	const double start = now();
	size_t		nhits = 0;

	for (size_t i = 0; i < NPROBES; i++)
	{
		if (contains(c->filters[subject], c->mixes[1][i]))
			nhits++;
	}
	sink = nhits;
	return (now() - start) / (double) NPROBES;
}

static double
measure_fenced_calls(const Case *c, int subject)
{
	bool		(*const contains) (const void *, uint64_t) =
		subjects[subject]->contains;
	const double start = now();
	size_t		nhits = 0;

	for (size_t i = 0; i < NPROBES; i++)
	{
		if (contains(c->filters[subject], c->mixes[1][i]))
			nhits++;
		finish_loads();
	}
	sink = nhits;
	return (now() - start) / (double) NPROBES;
}

static double
measure_batches(const Case *c, int subject)
{
	const double start = now();
	size_t		nhits = 0;
	bool		results[BATCH];

	for (size_t i = 0; i < NPROBES; i += BATCH)
	{
		subjects[subject]->contains_batch(c->filters[subject], c->mixes[1] + i,
										  BATCH, results);
		for (int j = 0; j < BATCH; j++)
		{
			if (results[j])
				nhits++;
		}
	}
	sink = nhits;
	return (now() - start) / (double) NPROBES;
}

static size_t
repetitions(const Case *c)
{
	return c->nvalues < MIN_OPERATIONS ? MIN_OPERATIONS / c->nvalues : 1;
}

static double
measure_adds(const Case *c, int subject, bool full_size)
{
	const Subject *const s = subjects[subject];
	const size_t nrepetitions = repetitions(c);
	double		total = 0;

	for (size_t i = 0; i < nrepetitions; i++)
	{
		void	   *const filter = s->create(c->nvalues, c->rate, full_size);
		const double start = now();

		sink = s->add(filter, c->hashes, c->nvalues);
		total += now() - start;
		s->destroy(filter);
	}
	return total / (double) (nrepetitions * c->nvalues);
}

/* All values out of a full filter again, in the order in which they came. */
static double
measure_removes(const Case *c, int subject)
{
	const Subject *const s = subjects[subject];
	const size_t nrepetitions = repetitions(c);
	double		total = 0;

	for (size_t i = 0; i < nrepetitions; i++)
	{
		void	   *const filter = s->create(c->nvalues, c->rate, true);
		double		start;

		s->add(filter, c->hashes, c->nvalues);
		start = now();
		sink = s->remove(filter, c->hashes, c->nvalues);
		total += now() - start;
		s->destroy(filter);
	}
	return total / (double) (nrepetitions * c->nvalues);
}

static double
measure_adds_full_size(const Case *c, int subject)
{
	return measure_adds(c, subject, true);
}

static double
measure_adds_growing(const Case *c, int subject)
{
	return measure_adds(c, subject, false);
}

static double
measure_doubling(const Case *c, int subject)
{
	const Subject *const s = subjects[subject];
	void	   *const doubled = s->create_doubled(c->filters[subject]);
	const size_t nrepetitions = repetitions(c);
	const double start = now();
	double		elapsed;

	for (size_t i = 0; i < nrepetitions; i++)
		s->fill_doubled(c->filters[subject], doubled);
	elapsed = now() - start;
	s->destroy(doubled);
	return elapsed / (double) (nrepetitions * c->nvalues);
}

static double
measure_build(const Case *c, int subject)
{
	const Subject *const s = subjects[subject];
	const size_t nrepetitions = repetitions(c);
	double		total = 0;

	for (size_t i = 0; i < nrepetitions; i++)
	{
		const double start = now();
		void	   *const filter =
			s->build(c->nvalues, c->rate, c->keys, c->nvalues);

		total += now() - start;
		s->destroy(filter);
	}
	return total / (double) (nrepetitions * c->nvalues);
}

static void
take_turns(Run *runs, int nruns)
{
	for (int i = 0; i < nruns; i++)
		runs[i].measure(runs[i].what, runs[i].subject); /* warm up */
	for (int turn = 0; turn < nturns; turn++)
	{
		for (int i = 0; i < nruns; i++)
			runs[i].ns[turn] = runs[i].measure(runs[i].what, runs[i].subject);
	}
}

static int
compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;

	return (x > y) - (x < y);
}

static int
compare_keys(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *) a;
	const uint64_t y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Sort what was measured in each turn; the median is in the middle then. */
static double
median(double *values)
{
	qsort(values, (size_t) nturns, sizeof(double), compare_doubles);
	return nturns % 2 == 1 ? values[nturns / 2] :
		(values[nturns / 2 - 1] + values[nturns / 2]) / 2;
}

static double
median_ns(const Run *run)
{
	double		values[MAX_TURNS];

	memcpy(values, run->ns, sizeof(values));
	return median(values);
}

/* A rate for people: 1 %, 0.1 %, 2^-16. */
static const char *
rate_name(double fpr)
{
	static char name[32];

	for (int bits = 7; bits < 50; bits++)
	{
		if (fpr * (double) (UINT64_C(1) << bits) == 1.0)
		{
			snprintf(name, sizeof(name), "2^-%d", bits);
			return name;
		}
	}
	snprintf(name, sizeof(name), "%g %%", fpr * 100);
	return name;
}

/*
 * One row: run a over run b.  goal is the largest ratio wanted, 0 if none is;
 * goal_ns likewise the largest time of a.
 */
static void
print_row(const char *question, const char *pair, const Run *a, const Run *b,
		  double goal, double goal_ns)
{
	double		ratios[MAX_TURNS];
	double		middle;
	const double a_ns = median_ns(a);

	for (int turn = 0; turn < nturns; turn++)
		ratios[turn] = a->ns[turn] / b->ns[turn];
	middle = median(ratios);
	printf("| %s | %s | %.0f | %s | %.2f | %.2f | **%.3f** | %.3f to %.3f | ",
		   question, pair, (double) a->what->nvalues, rate_name(a->what->fpr),
		   a_ns, median_ns(b), middle, ratios[0], ratios[nturns - 1]);
	if (goal_ns > 0)
		printf("%g ns: %s |\n", goal_ns, a_ns <= goal_ns ? "met" : "missed");
	else if (goal > 0)
		printf("%.2f: %s |\n", goal, middle <= goal ? "met" : "missed");
	else
		printf("|\n");
	fflush(stdout);
}

/* Can a subject be asked this at all? */
static bool
is_able(const Case *c, int subject, double (*measure) (const Case *, int))
{
	const Subject *const s = subjects[subject];
	void	   *filter;

	if (measure == measure_doubling)
		return c->filters[subject] != NULL && s->create_doubled != NULL;
	if (measure == measure_adds_growing)
	{
		filter = s->create(c->nvalues, c->rate, false);
		if (filter == NULL)
			return false;
		s->destroy(filter);
	}
	return c->filters[subject] != NULL;
}

/* Ours against each of the others, all asked the same. */
static void
ask_subjects(const Case *c, const char *question,
			 double (*measure) (const Case *, int), double goal,
			 double goal_ns)
{
	Run			runs[MAX_SUBJECTS];
	int			nruns = 0;

	for (int i = 0; i < NSUBJECTS; i++)
	{
		if (!is_able(c, i, measure))
			continue;
		runs[nruns].measure = measure;
		runs[nruns].subject = i;
		runs[nruns].what = c;
		nruns++;
	}
	take_turns(runs, nruns);
	for (int i = 0; i < nruns; i++)
	{
		const bool	is_plain = runs[i].subject == PLAIN;
		char		pair[32];

		if (runs[i].subject == OURS)
			continue;
		snprintf(pair, sizeof(pair), "ours / %s",
				 subject_names[runs[i].subject]);
		print_row(question, pair, &runs[OURS], &runs[i],
				  is_plain ? goal : 0, is_plain ? goal_ns : 0);
	}
}

/* Batches against single lookups, of each subject that has batches. */
static void
ask_batches(const Case *c)
{
	/* the goal is for tables that do not fit the cache */
	const double goal = c->nvalues >= 10000000 ? 0.4 : 0;
	Run			runs[3 * MAX_SUBJECTS];
	int			nruns = 0;

	for (int i = 0; i < NSUBJECTS; i++)
	{
		if (subjects[i]->contains_batch == NULL)
			continue;
		runs[nruns].measure = measure_batches;
		runs[nruns + 1].measure = measure_calls;
		runs[nruns + 2].measure = measure_fenced_calls;
		for (int j = 0; j < 3; j++, nruns++)
		{
			runs[nruns].subject = i;
			runs[nruns].what = c;
		}
	}
	take_turns(runs, nruns);
	print_row("batch of 32 / call after call, half hits", "ours / ours",
			  &runs[0], &runs[1], goal, 0);
	print_row("batch of 32 / call awaiting call, half hits", "ours / ours",
			  &runs[0], &runs[2], goal, 0);
	for (int i = 3; i < nruns; i += 3)
		print_row("batch of 32, half hits", "ours / base", &runs[0], &runs[i],
				  0, 0);
}

/* Builds of two sizes against each other, of each subject that has builds. */
static void
ask_builds(const Case *large, const Case *small)
{
	Run			runs[2 * MAX_SUBJECTS];
	int			nruns = 0;
	char		pair[64];

	for (int i = 0; i < NSUBJECTS; i++)
	{
		if (subjects[i]->build == NULL)
			continue;
		for (int j = 0; j < 2; j++, nruns++)
		{
			runs[nruns].measure = measure_build;
			runs[nruns].subject = i;
			runs[nruns].what = j == 0 ? large : small;
		}
	}
	take_turns(runs, nruns);
	snprintf(pair, sizeof(pair), "ours / ours at %.0f",
			 (double) small->nvalues);
	print_row("build per key, keys sorted", pair, &runs[0], &runs[1],
			  small->nvalues == 1000000 && large->nvalues == 10000000 ? 1.3 : 0,
			  0);
	for (int i = 2; i < nruns; i += 2)
		print_row("build per key, keys sorted", "ours / base", &runs[0],
				  &runs[i], 0, 0);
}

static bool
is_asked(const char *question)
{
	const size_t length = strlen(question);

	for (const char *p = questions; p != NULL; p = strchr(p, ','))
	{
		p += *p == ',';
		if (strncmp(p, question, length) == 0 &&
			(p[length] == ',' || p[length] == '\0'))
			return true;
	}
	return false;
}

static void
make_probes(Case *c)
{
	c->hits = allocate(NPROBES * sizeof(uint64_t));
	c->misses = allocate(NPROBES * sizeof(uint64_t));
	for (int mix = 0; mix < NMIXES; mix++)
		c->mixes[mix] = allocate(NPROBES * sizeof(uint64_t));
	for (size_t i = 0; i < NPROBES; i++)
	{
		const uint64_t choice = nth_random(i + (UINT64_C(1) << 48));

		c->hits[i] = c->hashes[choice % c->nvalues];
		c->misses[i] = nth_random(i + (UINT64_C(1) << 49));
		for (int mix = 0; mix < NMIXES; mix++)
			c->mixes[mix][i] = (int) (choice >> 62) <= mix ?
				c->hits[i] : c->misses[i];
	}
}

static void
make_filters(Case *c)
{
	for (int i = 0; i < NSUBJECTS; i++)
	{
		size_t		nrefused;

		c->filters[i] = subjects[i]->create(c->nvalues, c->rate, true);
		if (c->filters[i] == NULL)
			continue;
		nrefused = subjects[i]->add(c->filters[i], c->hashes, c->nvalues);
		if (nrefused > 0)
		{
			/* of ours none ever is */
			fprintf(stderr,
					"bench_core: \"%s\" has refused %zu of %zu values, and is left out\n",
					subject_names[i], nrefused, (size_t) c->nvalues);
			if (i == PLAIN || i == OURS)
				exit(1);
			subjects[i]->destroy(c->filters[i]);
			c->filters[i] = NULL;
			continue;
		}
		if (subjects[i]->count_hits(c->filters[i], c->hits, NPROBES) != NPROBES)
		{
			fprintf(stderr, "bench_core: \"%s\" has lost a value\n",
					subject_names[i]);
			exit(1);
		}
	}
}

static void
make_keys(Case *c)
{
	c->keys = allocate(c->nvalues * sizeof(uint64_t));
	for (uint64_t i = 0; i < c->nvalues; i++)
		c->keys[i] = subjects[OURS]->sort_key(c->hashes[i]);
	qsort(c->keys, c->nvalues, sizeof(uint64_t), compare_keys);
}

/* A size and rate with its hashes, and nothing else yet. */
static Case
start_case(uint64_t nvalues, double fpr)
{
	Case		c = {0};

	c.nvalues = nvalues;
	c.fpr = fpr;
	c.rate = (uint64_t) (fpr * (double) (UINT64_C(1) << 62));
	c.hashes = allocate(nvalues * sizeof(uint64_t));
	for (uint64_t i = 0; i < nvalues; i++)
		c.hashes[i] = nth_random(i);
	return c;
}

static void
end_case(Case *c)
{
	free(c->hashes);
	free(c->keys);
	free(c->hits);
	free(c->misses);
	for (int mix = 0; mix < NMIXES; mix++)
		free(c->mixes[mix]);
	for (int i = 0; i < NSUBJECTS; i++)
	{
		if (c->filters[i] != NULL)
			subjects[i]->destroy(c->filters[i]);
	}
}

/* All questions about one size and rate but those that compare sizes. */
static void
ask_case(uint64_t nvalues, double fpr)
{
	Case		c = start_case(nvalues, fpr);

	make_probes(&c);
	make_filters(&c);
	if (is_asked("miss"))
		ask_subjects(&c, "miss lookup", measure_misses, 1.3, 0);
	if (is_asked("hit"))
		ask_subjects(&c, "hit lookup", measure_hits, 1.3, 0);
	if (is_asked("mix"))
	{
		ask_subjects(&c, "lookup, 1/4 hits", measure_quarter_hits, 1.3, 0);
		ask_subjects(&c, "lookup, 1/2 hits", measure_half_hits, 1.3, 0);
		ask_subjects(&c, "lookup, 3/4 hits", measure_mostly_hits, 1.3, 0);
	}
	if (is_asked("batch"))
		ask_batches(&c);
	if (is_asked("double"))
		ask_subjects(&c, "doubling, per entry", measure_doubling, 0, 20);
	if (is_asked("add"))
		ask_subjects(&c, "add to a table of final size",
					 measure_adds_full_size, 1.3, 0);
	if (is_asked("remove"))
		ask_subjects(&c, "remove from a full table", measure_removes, 0, 0);
	if (is_asked("grow"))
		ask_subjects(&c, "add from empty, growing", measure_adds_growing, 0, 0);
	end_case(&c);
}

/* What sorting a million or more keys once is worth: each size but the first. */
static void
ask_build_cases(double fpr)
{
	for (int i = 1; i < nsizes; i++)
	{
		Case		small = start_case(sizes[i - 1], fpr);
		Case		large = start_case(sizes[i], fpr);

		make_keys(&small);
		make_keys(&large);
		ask_builds(&large, &small);
		end_case(&small);
		end_case(&large);
	}
}

/* Shape, size and true rate of the filters that are compared. */
static void
print_filters(void)
{
	printf("| n | rate | who | fingerprint bits | load factor | bytes | bits per value | false positives |\n"
		   "|---|---|---|---|---|---|---|---|\n");
	for (int r = 0; r < nrates; r++)
	{
		for (int i = 0; i < nsizes; i++)
		{
			Case		c = start_case(sizes[i], rates[r]);

			make_probes(&c);
			make_filters(&c);
			for (int s = 0; s < NSUBJECTS; s++)
			{
				int			fp_bits;
				double		load_factor;
				size_t		bytes;

				if (c.filters[s] == NULL)
					continue;
				subjects[s]->describe(c.filters[s], &fp_bits, &load_factor,
									  &bytes);
				printf("| %.0f | %s | %s | %d | %.3f | %zu | %.2f | %.4f %% |\n",
					   (double) sizes[i], rate_name(rates[r]),
					   subject_names[s], fp_bits, load_factor, bytes,
					   8.0 * (double) bytes / (double) sizes[i],
					   100.0 * (double) subjects[s]->count_hits(c.filters[s],
																c.misses,
																NPROBES) /
					   (double) NPROBES);
				fflush(stdout);
			}
			end_case(&c);
		}
	}
}

static void
usage(void)
{
	fprintf(stderr,
			"usage: bench_core [-t turns] [-n sizes] [-r rates] [-q questions]\n"
			"  -t  turns that all that is compared takes, 5 to %d (default %d)\n"
			"  -n  numbers of values (default 10000,1000000,10000000)\n"
			"  -r  false positive rates (default 0.01,0.001,2^-16)\n"
			"  -q  any of %s (default all)\n",
			MAX_TURNS, nturns, questions);
	exit(2);
}

static double
parse_number(const char *text, char **end)
{
	double		value;

	if (strncmp(text, "2^-", 3) == 0)
	{
		const long	bits = strtol(text + 3, end, 10);

		if (bits < 1 || bits > 48)
			usage();
		return 1.0 / (double) (UINT64_C(1) << bits);
	}
	value = strtod(text, end);
	if (*end == text || value <= 0)
		usage();
	return value;
}

static int
parse_list(const char *text, double *values)
{
	int			nvalues = 0;
	char	   *end;

	for (;;)
	{
		if (nvalues == MAX_LIST)
			usage();
		values[nvalues++] = parse_number(text, &end);
		if (*end == '\0')
			return nvalues;
		if (*end != ',')
			usage();
		text = end + 1;
	}
}

int
main(int argc, char **argv)
{
	double		values[MAX_LIST];
	int			option;

	while ((option = getopt(argc, argv, "t:n:r:q:")) != -1)
	{
		switch (option)
		{
			case 't':
				nturns = atoi(optarg);
				if (nturns < 5 || nturns > MAX_TURNS)
					usage();
				break;
			case 'n':
				nsizes = parse_list(optarg, values);
				for (int i = 0; i < nsizes; i++)
				{
					if (values[i] < 1000 || values[i] > 1e9)
						usage();
					sizes[i] = (uint64_t) values[i];
				}
				break;
			case 'r':
				nrates = parse_list(optarg, rates);
				for (int i = 0; i < nrates; i++)
				{
					if (rates[i] >= 1)
						usage();
				}
				break;
			case 'q':
				questions = optarg;
				break;
			default:
				usage();
		}
	}
	if (optind < argc)
		usage();

	printf("# Speed of the core\n\n"
		   "%d turns each; nanoseconds are medians, ratios median and "
		   "lowest to highest of the turns.\n\n", nturns);
	print_filters();
	printf("\n| question | who | n | rate | first, ns | second, ns | ratio | spread | goal |\n"
		   "|---|---|---|---|---|---|---|---|---|\n");
	for (int r = 0; r < nrates; r++)
	{
		for (int i = 0; i < nsizes; i++)
			ask_case(sizes[i], rates[r]);
		if (is_asked("build"))
			ask_build_cases(rates[r]);
	}
	return 0;
}
