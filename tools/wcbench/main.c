/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "compare.h"
#include "guard.h"
#include "options.h"
#include "output.h"
#include "powercut.h"

enum {
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INVALID = 3
};

static atomic_bool cancelled;

static void on_signal(int signal)
{
	atomic_store(&cancelled, true);
}

/* What ends the program ends the run first, so that it comes out by the usual way. */
static void catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &action, NULL);
	/* A reader that went away must not keep the setting from being restored. */
	signal(SIGPIPE, SIG_IGN);
}

static void read_line(const char *path, const char *begins, char *text, size_t size)
{
	char line[1024];
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		const char *value = line;

		if (strncmp(line, begins, strlen(begins)) != 0)
			continue;
		if (begins[0]) {
			value = strchr(line, ':');
			if (!value)
				continue;
			value += 1 + strspn(value + 1, " \t");
		}
		line[strcspn(line, "\n")] = '\0';
		if (!memccpy(text, value, '\0', size))
			text[size - 1] = '\0';
		break;
	}
	if (file)
		fclose(file);
}

static void describe_host(struct report *report)
{
	struct timespec now;
	struct utsname name;

	if (uname(&name) == 0) {
		snprintf(report->kernel, sizeof(report->kernel), "%s", name.release);
		snprintf(report->host, sizeof(report->host), "%s", name.nodename);
	}
	read_line("/proc/cpuinfo", "model name", report->cpu, sizeof(report->cpu));
	read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", report->governor,
		  sizeof(report->governor));
	report->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	clock_gettime(CLOCK_REALTIME, &now);
	report->started = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void describe_target(const struct target *target, struct report *report)
{
	snprintf(report->target, sizeof(report->target), "%s", target->path);
	snprintf(report->mount, sizeof(report->mount), "%s", target->mount);
	snprintf(report->fs, sizeof(report->fs), "%s", target->fs);
	snprintf(report->options, sizeof(report->options), "%s", target->options);
	report->barriers_off = target->barriers_off;
	report->align = target->align;
	report->size = target->data.length;
}

/* The command that does the same again: as given, and with the seed. */
static char *repeat_command(int argc, char *argv[], const struct options *options)
{
	size_t size = 64;
	char *text;
	int i;

	for (i = 0; i < argc; i++)
		size += strlen(argv[i]) + 3;
	text = malloc(size);
	if (!text)
		return NULL;
	strcpy(text, "wcbench");
	for (i = 1; i < argc; i++) {
		bool quote = strpbrk(argv[i], " \t\n\"'$&|;<>()*?");

		strcat(strcat(strcat(text, quote ? " '" : " "), argv[i]), quote ? "'" : "");
	}
	if (!options->seed_given)
		sprintf(text + strlen(text), " --seed=%llu", (unsigned long long)options->seed);
	return text;
}

/* One benchmark at a time on a drive: two would measure each other. */
static int lock_drives(const struct drives *drives, int lock[], char *why, size_t why_size)
{
	char path[512];
	size_t i;

	for (i = 0; i < drives->n; i++)
		lock[i] = -1;
	for (i = 0; i < drives->n; i++) {
		snprintf(path, sizeof(path), "/sys/block/%s/stat", drives->name[i]);
		lock[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (lock[i] < 0 || flock(lock[i], LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			continue;
		snprintf(why, why_size, "another wcbench is at work on %s", drives->name[i]);
		return -EBUSY;
	}
	return 0;
}

static int write_plot(const char *path, const struct report *report)
{
	int r = output_plot(report, path);

	if (r == -ENOENT)
		fputs("wcbench: no plot was drawn: gnuplot is not installed (Debian: gnuplot-nox)\n",
		      stderr);
	else if (r < 0)
		fprintf(stderr, "wcbench: %s: no plot was drawn: %s\n", path,
			r == -EIO ? "gnuplot failed" : strerror(-r));
	return r;
}

static int write_outputs(const struct options *options, const struct report *report)
{
	int r = 0, one;

	if (options->json)
		r = output_json(report, stdout);
	else
		output_table(report, options->verbose, stdout);
	if (r == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		r = -EIO;
	if (r < 0)
		fprintf(stderr, "wcbench: the report cannot be written: %s\n", strerror(-r));
	if (options->csv) {
		one = output_csv(report, options->csv);
		if (one < 0)
			fprintf(stderr, "wcbench: %s: no CSV was written: %s\n", options->csv,
				strerror(-one));
		r = r < 0 ? r : one;
	}
	if (options->plot) {
		one = write_plot(options->plot, report);
		r = r < 0 ? r : one;
	}
	return r;
}

static void fill_bench(const struct options *options, const struct bench_case *cases,
		       struct bench *bench)
{
	bench->cases = cases;
	bench->n_cases = options->cases;
	bench->mode = options->mode;
	bench->whole = options->whole;
	bench->window = (uint64_t)(options->window * NS_PER_S + 0.5);
	bench->interval = (uint64_t)(options->interval * NS_PER_S + 0.5);
	bench->warm_up = (uint64_t)(options->warm_up * NS_PER_S);
	bench->warm_up_most = (uint64_t)(options->warm_up_most * NS_PER_S);
	bench->budget = (uint64_t)(options->budget * NS_PER_S);
	bench->pairs_least = options->pairs_least;
	bench->pairs_most = options->pairs_most;
	bench->narrow = options->narrow;
	bench->rate = options->rate;
	bench->seed = options->seed;
	bench->cancel = &cancelled;
	bench->report.mode = options->mode;
	bench->report.preset = options->preset;
	bench->report.seed = options->seed;
	bench->report.interval = options->interval;
}

static int complain(const struct options *options, const struct bench *bench, const char *advice)
{
	fprintf(stderr, "wcbench: %s: %s\n", options->target, bench->why);
	if (advice)
		fprintf(stderr, "wcbench: %s\n", advice);
	return EXIT_FAILED;
}

static int measure(const struct options *options, struct bench *bench)
{
	struct bench_case cases[OPTIONS_CASES];
	struct target_want want = {
		.size = options->size,
		.log_size = 16 << 20,
		.logs = options->logs,
		.destroy = options->destroy,
	};
	int *lock, r;
	size_t i;

	for (i = 0; i < options->cases; i++)
		cases[i] = (struct bench_case){ options->workload[i], options->param[i] };
	fill_bench(options, cases, bench);
	describe_host(&bench->report);
	r = target_open(options->target, &want, &bench->target, bench->why, sizeof(bench->why));
	if (r < 0)
		return complain(options, bench, NULL);
	describe_target(&bench->target, &bench->report);
	r = drives_open(&bench->drives, options->target, options->mode == MODE_ON_OFF,
			&bench->report, bench->why, sizeof(bench->why));
	if (r < 0)
		return complain(options, bench,
				"--cache=current measures without changing anything");
	lock = calloc(bench->drives.n + 1, sizeof(*lock));
	if (!lock)
		return EXIT_FAILED;
	r = lock_drives(&bench->drives, lock, bench->why, sizeof(bench->why));
	if (r == 0) {
		progress_init(&bench->progress, options->quiet);
		r = bench_measure(bench);
	}
	for (i = 0; i < bench->drives.n; i++)
		if (lock[i] >= 0)
			close(lock[i]);
	free(lock);
	progress_clear(&bench->progress);
	if (r == -ECANCELED)
		fputs("wcbench: ended before its time; what was measured until then follows\n",
		      stderr);
	else if (r < 0)
		return complain(options, bench,
				r == -EOPNOTSUPP
					? "--cache=current measures without changing anything"
					: NULL);
	r = write_outputs(options, &bench->report) < 0 || r < 0 ? EXIT_FAILED : EXIT_SUCCESS;
	if (r == EXIT_SUCCESS && bench->report.belief.verdict == BELIEF_INVALID)
		r = EXIT_INVALID;
	return r;
}

static void say(const char *line)
{
	printf("%s\n", line);
}

static int restore(void)
{
	struct wcache_ctx *ctx;
	int r;

	r = wcache_ctx_new(&ctx);
	if (r == 0) {
		r = guard_restore_all(ctx, say);
		wcache_ctx_unref(ctx);
	}
	if (r == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "wcbench: not everything could be restored: %s\n", wcache_strerror(r));
	return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
	struct options options;
	struct bench *bench;
	char *command;
	int r;

	if (argc > 1 && strcmp(argv[1], "compare") == 0)
		return compare_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "powercut") == 0)
		return powercut_main(argc - 1, argv + 1);
	r = options_parse(argc, argv, &options);
	if (r)
		return r < 0 ? EXIT_USAGE : EXIT_SUCCESS;
	if (options.restore)
		return restore();
	catch_signals();
	bench = calloc(1, sizeof(*bench));
	command = repeat_command(argc, argv, &options);
	if (!bench || !command) {
		fputs("wcbench: no memory\n", stderr);
		return EXIT_FAILED;
	}
	bench->report.command = command;
	r = measure(&options, bench);
	report_free(&bench->report);
	drives_close(&bench->drives);
	target_close(&bench->target);
	free(bench);
	free(command);
	return r;
}
