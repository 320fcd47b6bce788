/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "options.h"
#include "target.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

struct preset {
	const char *name;
	const char *what;
	uint64_t size; /* 0: twice the memory */
	bool whole;
	double window, interval, warm_up, warm_up_most, budget;
	unsigned int pairs_least, pairs_most;
	double narrow;
	const char *workloads, *clients, *depths;
};

static const struct preset presets[] = {
	{
		.name = "standard",
		.what = "the usual: within a quarter of an hour",
		.size = GIB,
		.window = 3,
		.interval = 1,
		.warm_up = 1,
		.warm_up_most = 4,
		.budget = 900,
		.pairs_least = 5,
		.pairs_most = 10,
		.narrow = 0.05,
		.workloads = "seqw,seqr,seeks,randr,rndw,flush,wal-fdatasync,wal-dsync,wal-shared,"
			     "mixed",
		.clients = "1,4",
		.depths = "1,32",
	},
	{
		.name = "quick",
		.what = "a first look, within a minute",
		.size = 256 * MIB,
		.window = 0.5,
		.interval = 0.1,
		.warm_up = 0.2,
		.warm_up_most = 0.5,
		.budget = 50,
		.pairs_least = 3,
		.pairs_most = 5,
		.narrow = 0.05,
		.workloads = "seqw,seqr,rndw,flush,wal-fdatasync",
		.clients = "1",
		.depths = "32",
	},
	{
		.name = "full",
		.what = "everything, up to three hours",
		.size = 4 * GIB,
		.window = 10,
		.interval = 1,
		.warm_up = 2,
		.warm_up_most = 10,
		.budget = 10800,
		.pairs_least = 5,
		.pairs_most = 20,
		.narrow = 0.05,
		.workloads = "cachesize,seqw,seqr,seeks,randr,rndw,flush,wal-fdatasync,wal-dsync,"
			     "wal-shared,wal-shared-dsync,mixed,depth-read,depth-write",
		.clients = "1,2,4,8,16",
		.depths = "1,4,16,32",
	},
	{
		.name = "seed2009",
		.what = "sequential write and read and random seeks, with a file of twice the memory",
		.whole = true,
		.window = 30,
		.interval = 1,
		.warm_up = 1,
		.warm_up_most = 4,
		.pairs_least = 3,
		.pairs_most = 3,
		.narrow = 0.05,
		.workloads = "seqw,seqr,seeks",
		.clients = "1",
		.depths = "1",
	},
};

enum {
	OPT_CACHE = 256,
	OPT_PRESET,
	OPT_WORKLOADS,
	OPT_CLIENTS,
	OPT_DEPTHS,
	OPT_SIZE,
	OPT_WINDOW,
	OPT_PAIRS,
	OPT_TIME,
	OPT_RATE,
	OPT_SEED,
	OPT_CSV,
	OPT_PLOT,
	OPT_DESTROY,
	OPT_RESTORE,
	OPT_LIST
};

static const struct option long_options[] = {
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "preset", required_argument, NULL, OPT_PRESET },
	{ "workloads", required_argument, NULL, OPT_WORKLOADS },
	{ "clients", required_argument, NULL, OPT_CLIENTS },
	{ "depths", required_argument, NULL, OPT_DEPTHS },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "pairs", required_argument, NULL, OPT_PAIRS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "destroy-data", no_argument, NULL, OPT_DESTROY },
	{ "restore", no_argument, NULL, OPT_RESTORE },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "json", no_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static void print_help(void)
{
	puts("Usage: wcbench [OPTION]... TARGET\n"
	     "       wcbench compare [--force] A.json B.json\n"
	     "       wcbench --restore\n"
	     "Measure what a drive's write cache is worth, so that it can be believed.\n"
	     "\n"
	     "TARGET is a directory or file, beside which a file of its own is written, or with\n"
	     "--destroy-data a device or file that is overwritten itself.\n"
	     "\n"
	     "  --cache=both       with the cache on and off, in interleaved pairs (the default)\n"
	     "  --cache=current    with the setting as it is; nothing is changed\n"
	     "  --cache=same       pairs without a difference: what noise looks like\n"
	     "  --preset=NAME      quick, standard, full or seed2009\n"
	     "  --workloads=LIST   of the names that --list shows\n"
	     "  --clients=LIST     how many at once, as 1,4,16; --depths=LIST for io_uring\n"
	     "  --size=SIZE        of the file, as 512M or 4G\n"
	     "  --window=SECONDS   of one measurement\n"
	     "  --pairs=N          at most so many\n"
	     "  --time=SECONDS     for all of it\n"
	     "  --rate=N           operations a second by the clock; latency counts from when each\n"
	     "                     was due\n"
	     "  --seed=N           of order, offsets and data\n"
	     "  -j, --json         print JSON instead of the table\n"
	     "  --csv=PREFIX       write PREFIX-runs.csv and PREFIX-seconds.csv\n"
	     "  --plot=FILE        draw FILE.svg or FILE.png (needs gnuplot)\n"
	     "  --destroy-data     TARGET itself is overwritten\n"
	     "  --restore          bring back settings that a killed run has left\n"
	     "  --list             show presets and workloads\n"
	     "  -q, --quiet   -v, --verbose   -h, --help   -V, --version\n"
	     "\n"
	     "Exit status: 0 done, 1 failed, 2 usage, 3 the result is INVALID.");
}

static void print_list(void)
{
	size_t i;

	puts("presets:");
	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		printf("  %-17s %s\n", presets[i].name, presets[i].what);
	puts("workloads:");
	for (i = 0; i < workloads_count; i++)
		printf("  %-17s %s\n", workloads[i]->id, workloads[i]->what);
}

__attribute__((format(printf, 1, 2))) static int usage(const char *format, ...)
{
	va_list args;

	fputs("wcbench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry 'wcbench --help'.\n", stderr);
	return -EINVAL;
}

int options_size(const char *text, uint64_t *bytes)
{
	static const char unit[] = "KMGT";
	unsigned long long n;
	const char *at;
	char *end;
	int shift = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		at = strchr(unit, *end);
		if (!at || end[1 + (end[1] == 'i') + (end[1] == 'i' && end[2] == 'B')])
			return -EINVAL;
		shift = 10 * (int)(at - unit + 1);
	}
	if (n == 0 || n > UINT64_MAX >> shift)
		return -EINVAL;
	*bytes = n << shift;
	return 0;
}

static int number(const char *option, const char *text, double least, double most, double *value)
{
	char *end;
	double n;

	n = strtod(text, &end);
	if (end == text || *end || !isfinite(n) || n < least || n > most)
		return usage("--%s=%s: a number from %g to %g is needed", option, text, least,
			     most);
	*value = n;
	return 0;
}

static int param_list(const char *option, const char *text, unsigned int most,
		      unsigned int param[WORKLOAD_PARAMS], size_t *n)
{
	const char *at = text;
	char *end;

	for (*n = 0; *n < WORKLOAD_PARAMS; at = end + 1) {
		unsigned long value;

		if (*at < '0' || *at > '9')
			break;
		value = strtoul(at, &end, 10);
		if (value < 1 || value > most || (*end && *end != ','))
			break;
		param[(*n)++] = (unsigned int)value;
		if (!*end)
			return 0;
	}
	return usage("--%s=%s: a list of up to %d numbers from 1 to %u is needed", option, text,
		     WORKLOAD_PARAMS, most);
}

static int add_case(struct options *options, const struct workload *workload, unsigned int param)
{
	if (options->cases == OPTIONS_CASES)
		return usage("more than %d workloads", OPTIONS_CASES);
	if (workload->traits & WORKLOAD_LOGS) {
		size_t logs = workload->param ? param : 1;

		if (logs > options->logs)
			options->logs = logs;
	}
	options->workload[options->cases] = workload;
	options->param[options->cases++] = param;
	return 0;
}

static int add_workloads(struct options *options, const char *names, const char *clients,
			 const char *depths)
{
	unsigned int client[WORKLOAD_PARAMS], depth[WORKLOAD_PARAMS];
	size_t n_client, n_depth, i;
	char *copy, *at, *name;
	int r;

	r = param_list("clients", clients, TARGET_LOGS, client, &n_client);
	if (r == 0)
		r = param_list("depths", depths, 1024, depth, &n_depth);
	if (r < 0)
		return r;
	copy = strdup(names);
	if (!copy)
		return -ENOMEM;
	for (at = copy; r == 0 && (name = strsep(&at, ","));) {
		const struct workload *workload = workload_find(name);

		if (!workload) {
			r = usage("there is no workload '%s'; --list shows them", name);
			break;
		}
		if (!workload->param) {
			r = add_case(options, workload, 1);
		} else if (strcmp(workload->param, "c") == 0) {
			for (i = 0; r == 0 && i < n_client; i++)
				r = add_case(options, workload, client[i]);
		} else {
			for (i = 0; r == 0 && i < n_depth; i++)
				r = add_case(options, workload, depth[i]);
		}
	}
	free(copy);
	return r;
}

static void use_preset(struct options *options, const struct preset *preset)
{
	options->preset = preset->name;
	options->size = preset->size;
	options->whole = preset->whole;
	options->window = preset->window;
	options->interval = preset->interval;
	options->warm_up = preset->warm_up;
	options->warm_up_most = preset->warm_up_most;
	options->budget = preset->budget;
	options->pairs_least = preset->pairs_least;
	options->pairs_most = preset->pairs_most;
	options->narrow = preset->narrow;
	if (options->size == 0)
		options->size =
			2 * (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static const struct preset *find_preset(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

static int parse_mode(const char *text, enum mode *mode)
{
	if (strcmp(text, "both") == 0)
		*mode = MODE_ON_OFF;
	else if (strcmp(text, "current") == 0)
		*mode = MODE_CURRENT;
	else if (strcmp(text, "same") == 0)
		*mode = MODE_SAME;
	else
		return usage("--cache=%s: it is both, current or same", text);
	return 0;
}

/* A window is whole intervals; a short one has short ones. */
static void fit_interval(struct options *options)
{
	double n;

	if (options->window < 5 * options->interval)
		options->interval = options->window / 5;
	n = floor(options->window / options->interval);
	options->window = n * options->interval;
	if (options->warm_up_most < options->warm_up)
		options->warm_up_most = options->warm_up;
}

int options_parse(int argc, char *argv[], struct options *options)
{
	const char *workload_names = NULL, *clients = NULL, *depths = NULL;
	const struct preset *preset = &presets[0];
	double window = 0, pairs = 0, budget = 0, seed = 0;
	uint64_t size = 0;
	int c, r = 0;

	memset(options, 0, sizeof(*options));
	options->mode = MODE_ON_OFF;
	while (r == 0 && (c = getopt_long(argc, argv, "jqvhV", long_options, NULL)) != -1) {
		switch (c) {
		case OPT_CACHE:
			r = parse_mode(optarg, &options->mode);
			break;
		case OPT_PRESET:
			preset = find_preset(optarg);
			if (!preset)
				r = usage("there is no preset '%s'; --list shows them", optarg);
			break;
		case OPT_WORKLOADS:
			workload_names = optarg;
			break;
		case OPT_CLIENTS:
			clients = optarg;
			break;
		case OPT_DEPTHS:
			depths = optarg;
			break;
		case OPT_SIZE:
			if (options_size(optarg, &size) < 0 || size < MIB)
				r = usage("--size=%s: at least 1M, as 512M or 4G", optarg);
			break;
		case OPT_WINDOW:
			r = number("window", optarg, 0.1, 86400, &window);
			break;
		case OPT_PAIRS:
			r = number("pairs", optarg, 1, 1000, &pairs);
			break;
		case OPT_TIME:
			r = number("time", optarg, 1, 1e7, &budget);
			break;
		case OPT_RATE:
			r = number("rate", optarg, 0.1, 1e7, &options->rate);
			break;
		case OPT_SEED:
			r = number("seed", optarg, 0, 1e15, &seed);
			options->seed_given = true;
			break;
		case OPT_CSV:
			options->csv = optarg;
			break;
		case OPT_PLOT:
			if (strlen(optarg) < 5 ||
			    (strcmp(optarg + strlen(optarg) - 4, ".svg") != 0 &&
			     strcmp(optarg + strlen(optarg) - 4, ".png") != 0))
				r = usage("--plot=%s: the name ends in .svg or .png", optarg);
			options->plot = optarg;
			break;
		case OPT_DESTROY:
			options->destroy = true;
			break;
		case OPT_RESTORE:
			options->restore = true;
			break;
		case OPT_LIST:
			print_list();
			return 1;
		case 'j':
			options->json = true;
			break;
		case 'q':
			options->quiet = true;
			break;
		case 'v':
			options->verbose = true;
			break;
		case 'h':
			print_help();
			return 1;
		case 'V':
			puts("wcbench " WCACHE_VERSION);
			return 1;
		default:
			return usage("a wrong option");
		}
	}
	if (r < 0)
		return r;
	if (options->restore)
		return optind == argc ? 0 : usage("--restore takes no target");
	if (optind + 1 != argc)
		return usage("one target is needed");
	options->target = argv[optind];

	use_preset(options, preset);
	if (size)
		options->size = size - size % MIB;
	if (window > 0)
		options->window = window;
	if (budget > 0)
		options->budget = budget;
	if (pairs > 0) {
		options->pairs_most = (unsigned int)pairs;
		if (options->pairs_least > options->pairs_most)
			options->pairs_least = options->pairs_most;
	}
	if (options->seed_given)
		options->seed = (uint64_t)seed;
	else if (getrandom(&options->seed, sizeof(options->seed), 0) != sizeof(options->seed))
		options->seed = (uint64_t)getpid();
	options->seed &= 0xffffffff; /* short enough to be typed again */
	fit_interval(options);
	return add_workloads(options, workload_names ? workload_names : preset->workloads,
			     clients ? clients : preset->clients, depths ? depths : preset->depths);
}
