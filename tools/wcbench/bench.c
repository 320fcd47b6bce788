/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "guard.h"

/* Small enough to stay in a CPU's cache: stamping must not wait for memory. */
#define POOL_SIZE (512u << 10)
/* A run that ends by bytes is given up after this. */
#define LIMITED_MOST (24 * 3600 * NS_PER_S)
/* Of the budget, for filling the target. */
#define FILL_SHARE 0.08
/* libata revalidates a disk after its setting changed; the kernel's view follows a little later. */
#define SETTLE_MOST (2 * NS_PER_S)

static double seconds_since(const struct bench *bench)
{
	return (double)(clock_ns() - bench->begun) / NS_PER_S;
}

/* What the engine's ticks are turned into. */
struct watch {
	struct bench *bench;
	struct run *run;
	struct diskstat first, last;
	int error;
};

static void show_news(struct watch *watch, const struct interval *interval,
		      const struct diskstat *device)
{
	double seconds = (double)interval->length / NS_PER_S;
	char news[120];

	snprintf(news, sizeof(news), "%.0f op/s p99 %.2f ms fl/s %.0f",
		 (double)interval->operations / seconds, (double)interval->p99 / NS_PER_MS,
		 (double)device->flushes / seconds);
	progress_show(&watch->bench->progress, news);
}

static void tick(void *userdata, size_t index, const struct interval *interval)
{
	struct watch *watch = userdata;
	struct bench *bench = watch->bench;
	struct drives *drives = &bench->drives;
	struct run *run = watch->run;
	struct run_interval *more;
	struct diskstat now = { 0 };
	int r;

	r = diskstat_read(drives->name, drives->n, &now);
	if (r < 0 && watch->error == 0)
		watch->error = r;
	if (index == 0) {
		watch->first = watch->last = now;
		return;
	}
	if (interval) {
		more = realloc(run->interval, (run->intervals + 1) * sizeof(*more));
		if (!more) {
			watch->error = -ENOMEM;
			return;
		}
		run->interval = more;
		more += run->intervals++;
		more->io = *interval;
		/* Of the run, not of the window: warm-up, and parts of a run, lie before. */
		more->io.at = (uint64_t)((seconds_since(bench) - run->began) * NS_PER_S);
		more->device = diskstat_since(&now, &watch->last);
		show_news(watch, interval, &more->device);
	}
	watch->last = now;
}

static int book(struct run *run, const struct watch *watch, const struct engine_result *result)
{
	struct diskstat device = diskstat_since(&watch->last, &watch->first);
	size_t p;
	int r = 0;

	if (run->window == 0)
		run->device.flushes_counted = true;
	diskstat_add(&run->device, &device);
	run->window += result->window;
	run->operations += result->operations;
	run->bytes_read += result->bytes_read;
	run->bytes_written += result->bytes_written;
	run->joined += result->syncs_joined;
	run->cpu_user += result->cpu_user;
	run->cpu_system += result->cpu_system;
	run->warm = result->warm;
	for (p = 0; r == 0 && p < IO_PARTS; p++)
		r = hist_collect(&run->part[p], &result->part[p]);
	return r;
}

int bench_job(struct bench *bench, const struct job *job, size_t jobs, bool limited,
	      struct run *run, struct engine_result *result)
{
	struct watch watch = { .bench = bench, .run = run };
	struct engine_plan plan = {
		.job = job,
		.jobs = jobs,
		.warm_up = limited ? 0 : bench->warm_up,
		.warm_up_most = bench->warm_up_most,
		.window = limited ? 0 : bench->window,
		.window_most = LIMITED_MOST,
		.interval = bench->interval,
		.run_id = bench->run_id,
		.seed = random_next(&bench->random),
		.pool_size = POOL_SIZE,
		.cancel = bench->cancel,
		.tick = tick,
		.userdata = &watch,
	};
	struct engine_result *own = NULL;
	int r;

	if (!result) {
		own = calloc(1, sizeof(*own));
		if (!own)
			return -ENOMEM;
		result = own;
	}
	r = engine_run(&plan, result);
	if (r < 0 && result->failed)
		snprintf(run->failed, sizeof(run->failed), "%s", result->failed);
	if (r == 0 && watch.error) {
		snprintf(run->failed, sizeof(run->failed), "reading the drives' counters");
		r = watch.error;
	}
	if (r == 0)
		r = book(run, &watch, result);
	if (own) {
		engine_result_free(own);
		free(own);
	}
	return r;
}

int bench_rate(struct bench *bench, const struct job *job, size_t jobs, struct run *run,
	       struct engine_result *result)
{
	int r = bench_job(bench, job, jobs, false, run, result);

	if (r == 0 && run->window)
		run->value[0] = (double)run->operations * NS_PER_S / (double)run->window;
	return r;
}

uint64_t bench_share(const struct bench *bench, uint64_t block)
{
	uint64_t length = bench->target.data.length, bytes;
	const uint64_t least = 256 << 10;

	if (bench->whole)
		return length;
	bytes = (uint64_t)(bench->target.rate * (double)bench->window / NS_PER_S);
	if (bytes > length)
		bytes = length;
	if (bytes > block)
		return bytes - bytes % block;
	return bytes > least ? bytes - bytes % least : least;
}

static int flush_all(struct bench *bench, double *seconds)
{
	uint64_t from = clock_ns();
	int r = target_sync(&bench->target);

	/* Without the rights for it the kernel's own flush, of the fsync, has to do. */
	if (r == 0)
		drives_flush(&bench->drives);
	*seconds = (double)(clock_ns() - from) / NS_PER_S;
	return r;
}

/* Bring the drives into an arm's setting. -EREMOTEIO: they did not follow. */
static int set_arm(struct bench *bench, enum arm arm)
{
	uint64_t until = clock_ns() + SETTLE_MOST;
	struct drives_state state;
	int r;

	if (bench->mode != MODE_ON_OFF)
		return 0;
	if (guard_check(bench->guard)) {
		snprintf(bench->why, sizeof(bench->why),
			 "the guardian that restores the setting has died");
		return -ECHILD;
	}
	r = drives_set(&bench->drives, arm == ARM_A, bench->why, sizeof(bench->why));
	if (r < 0)
		return r;
	do {
		drives_read(&bench->drives, &state);
		if ((arm == ARM_A) == (state.kernel == WCACHE_KERNEL_WRITE_BACK))
			break;
	} while (clock_sleep_until(clock_ns() + 50 * NS_PER_MS) == 0 && clock_ns() < until);
	bench->arm = arm;
	return 0;
}

static struct run *new_run(struct bench *bench, const struct bench_case *one, unsigned int pair,
			   enum arm arm)
{
	struct report *report = &bench->report;
	struct run *more, *run;
	size_t m;

	more = realloc(report->run, (report->runs + 1) * sizeof(*more));
	if (!more)
		return NULL;
	report->run = more;
	run = &more[report->runs++];
	memset(run, 0, sizeof(*run));
	run->workload = one->workload;
	run->param = one->param;
	run->pair = pair;
	run->order = (unsigned int)report->runs;
	run->arm = arm;
	run->began = seconds_since(bench);
	for (m = 0; m < WORKLOAD_MEASURES; m++)
		run->value[m] = -1;
	if (bench->mode == MODE_ON_OFF)
		run->wanted = arm == ARM_A ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
	return run;
}

static void drop_last_run(struct bench *bench)
{
	struct run *run = &bench->report.run[--bench->report.runs];
	size_t p;

	for (p = 0; p < IO_PARTS; p++)
		free(run->part[p]);
	free(run->interval);
}

static void say_step(struct bench *bench, const struct run *run)
{
	double planned =
		(double)bench->n_cases * bench->pairs_most * (bench->mode == MODE_CURRENT ? 1 : 2);
	double fraction = (double)(run->order - 1) / planned, by_time;
	char name[64], what[160];

	report_case_name(run->workload, run->param, name, sizeof(name));
	snprintf(what, sizeof(what), "[%u/%u %s] %s cache %s", run->pair, bench->pairs_most,
		 bench->mode == MODE_CURRENT ? "runs" : "pairs", name,
		 report_arm_name(&bench->report, run->arm));
	by_time = bench->budget ? seconds_since(bench) * NS_PER_S / (double)bench->budget : 0;
	progress_step(&bench->progress, fmin(1, fmax(fraction, by_time)), what);
}

static void read_wear(struct bench *bench, struct wear *wear)
{
	struct report *report = &bench->report;

	wear->known = !report->wear_why[0] &&
		      drives_wear(&bench->drives, &wear->host, &wear->media, &wear->step,
				  report->wear_why, sizeof(report->wear_why)) == 0;
}

/* The flush after the run is in it: what it left behind is of its making. */
static void count_wear(struct bench *bench, const struct wear *before, struct run *run)
{
	struct wear now;

	read_wear(bench, &now);
	if (!before->known || !now.known)
		return;
	run->wear = (struct wear){
		.known = true,
		.host = now.host - before->host,
		.media = now.media - before->media,
		.step = now.step,
	};
}

/* Return: 0, also of a run that is no result; a negative errno ends the benchmark. */
static int do_run(struct bench *bench, const struct bench_case *one, unsigned int pair,
		  enum arm arm)
{
	struct drives_state before, after;
	struct run *run = new_run(bench, one, pair, arm);
	struct wear worn;
	int r;

	if (!run)
		return -ENOMEM;
	say_step(bench, run);
	r = set_arm(bench, arm);
	if (r == -EREMOTEIO) {
		/* Nothing to measure: the verdict says what was read back. */
		drives_read(&bench->drives, &after);
		run->drive = after.cache;
		run->kernel = after.kernel;
		return r;
	}
	if (r == 0)
		r = flush_all(bench, &run->flush_before);
	if (r < 0) {
		drop_last_run(bench);
		return r;
	}
	drives_read(&bench->drives, &before);
	read_wear(bench, &worn);
	run->error = one->workload->run(bench, one->param, run);
	if (run->error == -ECANCELED) {
		drop_last_run(bench);
		return -ECANCELED;
	}
	if (run->error == 0) {
		run->error = flush_all(bench, &run->flush_after);
		if (run->error)
			snprintf(run->failed, sizeof(run->failed), "fsync");
	}
	count_wear(bench, &worn, run);
	drives_read(&bench->drives, &after);
	run->drive = before.cache == after.cache ? after.cache : WCACHE_CACHE_UNKNOWN;
	run->kernel = before.kernel == after.kernel ? after.kernel : WCACHE_KERNEL_UNKNOWN;
	/* One that was deadly at either end was so in between. */
	if (before.kernel == WCACHE_KERNEL_WRITE_THROUGH && before.cache == WCACHE_CACHE_ON) {
		run->drive = before.cache;
		run->kernel = before.kernel;
	}
	run->fua = after.fua;
	return run->error;
}

static bool possible(const struct bench *bench, const struct workload *workload)
{
	return bench->target.direct || !(workload->traits & WORKLOAD_DIRECT);
}

/* Is everything that this case measures known well enough? */
static bool narrow_enough(const struct bench *bench, const struct bench_case *one)
{
	const struct report *report = &bench->report;
	size_t i;

	for (i = 0; i < report->lines; i++) {
		const struct line *line = &report->line[i];
		const struct spread *spread = &line->arm[ARM_A];
		double half;

		if (line->workload != one->workload || line->param != one->param || spread->n == 0)
			continue;
		if (bench->mode == MODE_CURRENT)
			half = spread->n < 2 ? INFINITY
					     : stats_t95(spread->n - 1) * spread->cv /
						       sqrt((double)spread->n);
		else
			half = stats_ratio_half_width(&line->ratio);
		if (half > bench->narrow)
			return false;
	}
	return true;
}

/*
 * One pair of one case. Both orders take turns, from case to case and from pair to pair, so
 * that the setting is mostly already the one that comes first.
 */
static int do_pair(struct bench *bench, size_t at, unsigned int pair)
{
	const struct bench_case *one = &bench->cases[at];
	enum arm first = (at + pair + bench->seed) % 2 ? ARM_B : ARM_A;
	int r;

	if (one->workload->traits & WORKLOAD_ONCE)
		return pair == 1 ? do_run(bench, one, pair, ARM_A) : 0;
	if (bench->mode == MODE_CURRENT)
		return do_run(bench, one, pair, ARM_A);
	r = do_run(bench, one, pair, first);
	if (r == 0)
		r = do_run(bench, one, pair, first == ARM_A ? ARM_B : ARM_A);
	return r;
}

/* Was it the workload that failed, and not what is around it? */
static bool last_failed(const struct bench *bench, int error)
{
	const struct report *report = &bench->report;

	return report->runs && report->run[report->runs - 1].error == error;
}

static int all_pairs(struct bench *bench)
{
	double *cost = calloc(bench->n_cases, sizeof(*cost));
	bool *left_out = calloc(bench->n_cases, sizeof(*left_out));
	unsigned int pair;
	int r = cost && left_out ? 0 : -ENOMEM;
	size_t i;

	for (pair = 1; r == 0 && pair <= bench->pairs_most; pair++) {
		bool any = false;

		for (i = 0; r == 0 && i < bench->n_cases; i++) {
			double began = seconds_since(bench);
			double left = (double)bench->budget / NS_PER_S - began;

			if (left_out[i] || !possible(bench, bench->cases[i].workload))
				continue;
			if (pair > bench->pairs_least && narrow_enough(bench, &bench->cases[i]))
				continue;
			/* What cannot end in time is not begun; a first pair always is. */
			if (bench->budget && pair > 1 && cost[i] > left)
				continue;
			any = true;
			r = do_pair(bench, i, pair);
			cost[i] = seconds_since(bench) - began;
			if ((r == -EOPNOTSUPP || r == -ENOSYS) && last_failed(bench, r)) {
				/* io_uring may be missing or forbidden: the rest goes on. */
				drop_last_run(bench);
				left_out[i] = true;
				r = 0;
			}
		}
		if (!any)
			break;
		if (r == 0)
			r = report_summarize(&bench->report);
	}
	free(cost);
	free(left_out);
	return r;
}

static void show_fill(void *userdata, uint64_t done, uint64_t all)
{
	struct bench *bench = userdata;
	char news[64];

	snprintf(news, sizeof(news), "%llu of %llu MiB", (unsigned long long)(done >> 20),
		 (unsigned long long)(all >> 20));
	progress_show(&bench->progress, news);
}

/* The setting stays as it is, and the report says why. */
static void leave_setting(struct bench *bench, const char *why)
{
	bench->mode = bench->report.mode = MODE_CURRENT;
	snprintf(bench->report.left, sizeof(bench->report.left), "%s", why);
}

/* What speaks against changing the setting, or is worth knowing before. */
static int check_setting(struct bench *bench)
{
	struct drives_state state;
	char why[300];
	int r;

	if (bench->mode != MODE_ON_OFF)
		return 0;
	drives_read(&bench->drives, &state);
	/*
	 * The deadly pair: turning the cache on would mend it, and nobody would learn that what
	 * they had was not durable. One round of it as it is shows it, and is INVALID.
	 */
	if (state.cache == WCACHE_CACHE_ON && state.kernel == WCACHE_KERNEL_WRITE_THROUGH) {
		leave_setting(bench, "the drive caches, and the kernel takes it for write through");
		bench->pairs_least = bench->pairs_most = 1;
		return 0;
	}
	if (bench->report.owner == OWNER_RAID) {
		leave_setting(bench, "a RAID controller rules the caches of its drives");
		return 0;
	}
	r = drives_can_set(&bench->drives, why, sizeof(why));
	if (r == -EOPNOTSUPP) {
		leave_setting(bench, why);
		return 0;
	}
	if (r < 0) {
		snprintf(bench->why, sizeof(bench->why), "%s", why);
		return r;
	}
	if (state.cache != WCACHE_CACHE_ON && state.cache != WCACHE_CACHE_OFF) {
		leave_setting(bench,
			      state.why[0] ? state.why : "the drives have no common setting");
		return 0;
	}
	bench->arm = state.cache == WCACHE_CACHE_ON ? ARM_A : ARM_B;
	return 0;
}

int bench_measure(struct bench *bench)
{
	uint64_t fill = bench->budget ? (uint64_t)((double)bench->budget * FILL_SHARE)
				      : UINT64_MAX / 2;
	int r, stopped;

	bench->begun = clock_ns();
	bench->random = bench->seed;
	bench->run_id = bench->seed ^ bench->begun;
	r = check_setting(bench);
	if (r < 0)
		return r;
	progress_step(&bench->progress, 0, "writing the file once");
	r = target_fill(&bench->target, fill, bench->run_id, bench->cancel, show_fill, bench);
	if (r < 0) {
		snprintf(bench->why, sizeof(bench->why), "the target cannot be written: %s",
			 strerror(-r));
		return r;
	}
	bench->report.size = bench->target.data.length;
	bench->report.direct = bench->target.direct;
	if (bench->mode == MODE_ON_OFF) {
		r = guard_start(&bench->guard, bench->drives.ctx, bench->drives.name,
				bench->drives.n);
		if (r < 0) {
			snprintf(bench->why, sizeof(bench->why),
				 "the guardian cannot be started, and nothing was changed: %s",
				 r == -EUCLEAN ? "an earlier run was killed and has left a "
						 "setting changed; wcbench --restore first"
					       : wcache_strerror(r));
			return r;
		}
	}
	r = all_pairs(bench);
	if (bench->guard) {
		stopped = guard_stop(bench->guard);
		bench->guard = NULL;
		if (stopped < 0) {
			snprintf(
				bench->why, sizeof(bench->why),
				"the setting could not be restored: %s; wcbench --restore tries again",
				wcache_strerror(stopped));
			r = stopped;
		}
	}
	progress_clear(&bench->progress);
	bench->report.seconds = seconds_since(bench);
	/* A run that failed is in the report, and makes it invalid. */
	if (last_failed(bench, r))
		r = 0;
	if (r == -EREMOTEIO && bench->report.runs)
		r = 0;
	if (report_summarize(&bench->report) < 0)
		return -ENOMEM;
	return r;
}
