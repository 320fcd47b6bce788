/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"
#include "suite.h"

static const struct job JOB = {
	.threads = 1,
	.fd = -1,
	.block = 8192,
	.length = 64 * 8192,
	.write_every = 1,
	.syncs = true,
};

static struct engine_plan plan_of(const struct job *job, const struct io_calls *calls)
{
	return (struct engine_plan){
		.calls = calls,
		.job = job,
		.jobs = 1,
		.window = 200 * NS_PER_MS,
		.interval = 50 * NS_PER_MS,
		.pool_size = 1 << 20,
		.seed = 1,
	};
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static uint64_t counted;

static ssize_t count_write(int fd, const void *data, size_t length, off_t offset)
{
	__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
	return (ssize_t)length;
}

static int no_sync(int fd)
{
	return 0;
}

/* However busy the machine is: no interval begins before there is something to count. */
static void count_tick(void *userdata, size_t index, const struct interval *interval)
{
	uint64_t until = __atomic_load_n(&counted, __ATOMIC_RELAXED) + 100;
	size_t *ticks = userdata;

	ck_assert_uint_eq(index, *ticks);
	ck_assert(index == 0 || interval);
	*ticks = index + 1;
	while (index < 4 && __atomic_load_n(&counted, __ATOMIC_RELAXED) < until)
		sched_yield();
}

/* What is compared was counted over the same time: of a rate a busy machine makes anything. */
START_TEST(window_and_intervals_agree)
{
	const struct io_calls calls = { .write = count_write, .sync = no_sync };
	struct engine_plan plan = plan_of(&JOB, &calls);
	uint64_t began = clock_ns(), operations = 0, bytes = 0, length = 0;
	struct engine_result result;
	double cpu = cpu_seconds();
	size_t ticks = 0, i;

	plan.warm_up = 100 * NS_PER_MS;
	plan.warm_up_most = 400 * NS_PER_MS;
	plan.tick = count_tick;
	plan.userdata = &ticks;
	ck_assert_int_eq(engine_run(&plan, &result), 0);
	ck_assert_uint_eq(ticks, 5);
	ck_assert_uint_eq(result.intervals, 4);
	ck_assert_uint_ge(result.window, 200 * NS_PER_MS);
	ck_assert_uint_lt(result.window, clock_ns() - began);
	ck_assert_uint_gt(result.operations, 300);
	/* The one operation in flight may be in one of the two. */
	ck_assert_double_eq_tol((double)result.part[IO_WRITE].n, (double)result.part[IO_TOTAL].n,
				1.5);
	ck_assert_uint_eq(result.part[IO_READ].n, 0);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_ge(result.interval[i].operations, i ? 99 : 0);
		bytes += result.interval[i].bytes;
		operations += result.interval[i].operations;
		length += result.interval[i].length;
	}
	/* The readings lie around the window. */
	ck_assert_uint_ge(operations + 1, result.operations);
	ck_assert_uint_le(operations, counted);
	ck_assert_uint_ge(bytes + 8192, result.bytes_written);
	ck_assert_uint_le(bytes, counted * 8192);
	ck_assert_uint_ge(length, result.window);
	ck_assert_uint_ge(result.interval[3].at, result.window);
	ck_assert_uint_eq(result.bytes_written, result.operations * 8192);
	ck_assert_double_gt(result.cpu_user + result.cpu_system, 0);
	ck_assert_double_le(result.cpu_user + result.cpu_system, cpu_seconds() - cpu + 1e-6);
	engine_result_free(&result);
}
END_TEST

/* Where, and how much, a job writes. */
static uint64_t seen[64];
static size_t seen_writes, seen_reads, seen_syncs;

static ssize_t see_write(int fd, const void *data, size_t length, off_t offset)
{
	struct stamp stamp;

	memcpy(&stamp, data, sizeof(stamp));
	ck_assert_uint_eq(stamp.position, (uint64_t)offset);
	ck_assert_uint_eq((uint64_t)offset % 8192, 0);
	ck_assert_uint_lt((uint64_t)offset / 8192, 64);
	seen[offset / 8192]++;
	seen_writes++;
	return (ssize_t)length;
}

static ssize_t see_read(int fd, void *data, size_t length, off_t offset)
{
	seen_reads++;
	return (ssize_t)length;
}

static int see_sync(int fd)
{
	seen_syncs++;
	return 0;
}

static const struct io_calls SEE = { .read = see_read, .write = see_write, .sync = see_sync };

START_TEST(limit_ends_the_window)
{
	struct job job = JOB;
	struct engine_plan plan = plan_of(&job, &SEE);
	struct engine_result result;
	uint64_t began = clock_ns();
	size_t i;

	job.limit = 128 * 8192;
	plan.window = 0;
	plan.window_most = 50 * NS_PER_S;
	ck_assert_int_eq(engine_run(&plan, &result), 0);
	ck_assert_uint_eq(result.bytes_written, 128 * 8192);
	ck_assert_uint_eq(result.operations, 128);
	ck_assert_uint_lt(result.window, clock_ns() - began);
	ck_assert_uint_lt(result.window, 50 * NS_PER_S);
	ck_assert_uint_le(result.stopped, result.window);
	for (i = 0; i < 64; i++)
		ck_assert_uint_eq(seen[i], 2);
	ck_assert_uint_eq(seen_syncs, 128);
	engine_result_free(&result);
}
END_TEST

START_TEST(one_in_ten_is_rewritten)
{
	struct job job = JOB;
	struct engine_plan plan = plan_of(&job, &SEE);
	struct engine_result result;

	job.reads = true;
	job.write_every = 10;
	job.syncs = false;
	job.order = JOB_RANDOM;
	job.limit = 1100 * 8192;
	plan.window = 0;
	plan.window_most = 50 * NS_PER_S;
	ck_assert_int_eq(engine_run(&plan, &result), 0);
	ck_assert_uint_eq(seen_reads, 1000);
	ck_assert_uint_eq(seen_writes, 100);
	ck_assert_uint_eq(seen_syncs, 0);
	ck_assert_uint_eq(result.part[IO_READ].n, 1000);
	ck_assert_uint_eq(result.part[IO_WRITE].n, 100);
	engine_result_free(&result);
}
END_TEST

static int fail_sync(int fd)
{
	static int calls;

	if (++calls < 10)
		return 0;
	errno = EIO;
	return -1;
}

START_TEST(failed_sync_ends_the_run)
{
	const struct io_calls calls = { .read = see_read, .write = see_write, .sync = fail_sync };
	struct engine_plan plan = plan_of(&JOB, &calls);
	struct engine_result result;
	uint64_t began = clock_ns();

	plan.window = 50 * NS_PER_S;
	ck_assert_int_eq(engine_run(&plan, &result), -EIO);
	ck_assert_str_eq(result.failed, "fdatasync");
	/* The operation whose sync failed is not counted as done. */
	ck_assert_uint_eq(result.operations, 9);
	ck_assert_uint_lt(clock_ns() - began, 50 * NS_PER_S);
	engine_result_free(&result);
}
END_TEST

static ssize_t short_write(int fd, const void *data, size_t length, off_t offset)
{
	return (ssize_t)length / 2;
}

START_TEST(short_write_is_a_failure)
{
	const struct io_calls calls = { .write = short_write, .sync = see_sync };
	struct engine_plan plan = plan_of(&JOB, &calls);
	struct engine_result result;

	ck_assert_int_eq(engine_run(&plan, &result), -ENOSPC);
	ck_assert_str_eq(result.failed, "write");
	engine_result_free(&result);
}
END_TEST

#define RATE 500

static uint64_t written_at[4096];
static size_t stalled_writes;

static ssize_t note_write(int fd, const void *data, size_t length, off_t offset)
{
	size_t n = __atomic_load_n(&stalled_writes, __ATOMIC_RELAXED);

	if (n < 4096)
		written_at[n] = clock_ns();
	__atomic_store_n(&stalled_writes, n + 1, __ATOMIC_RELAXED);
	return (ssize_t)length;
}

static int stalling_sync(int fd)
{
	static int calls;

	if (++calls == 10)
		usleep(200000);
	return 0;
}

/* The window stays open until what the stall held up was done. */
static void wait_for_backlog(void *userdata, size_t index, const struct interval *interval)
{
	while (index == 5 && __atomic_load_n(&stalled_writes, __ATOMIC_RELAXED) < 200)
		sched_yield();
}

/*
 * One stall of 200 ms at 500 operations a second: what was due meanwhile waited too, each at
 * least as long as its write came after its turn. Of a closed loop one operation would know.
 */
START_TEST(rate_counts_from_the_intended_start)
{
	const struct io_calls calls = { .write = note_write, .sync = stalling_sync };
	struct job job = JOB;
	struct engine_plan plan = plan_of(&job, &calls);
	uint64_t began = clock_ns(), late, worst = 0;
	struct engine_result result;
	size_t i, waited = 0;
	double share;

	job.rate = RATE;
	plan.window = 600 * NS_PER_MS;
	plan.interval = 100 * NS_PER_MS;
	plan.tick = wait_for_backlog;
	ck_assert_int_eq(engine_run(&plan, &result), 0);
	ck_assert_uint_ge(result.operations, 199);
	ck_assert_uint_lt(result.operations, 4096);
	ck_assert_double_le((double)result.operations,
			    RATE * 1e-9 * (double)(clock_ns() - began) + 2);
	for (i = 1; i < result.operations; i++) {
		uint64_t turn = written_at[0] + i * NS_PER_S / RATE;

		late = written_at[i] > turn ? written_at[i] - turn : 0;
		worst = late > worst ? late : worst;
		waited += late > 50 * NS_PER_MS;
	}
	/* Those of the stall's first 150 ms. */
	ck_assert_uint_ge(waited, 70);
	ck_assert_uint_ge(result.part[IO_TOTAL].max, worst);
	ck_assert_uint_ge(result.part[IO_TOTAL].max, 195 * NS_PER_MS);
	share = 100.0 * (double)waited / (double)result.operations;
	ck_assert_uint_ge(hist_percentile(&result.part[IO_TOTAL], 100 - share + 1), 49 * NS_PER_MS);
	/* The calls themselves were not slow. */
	ck_assert_uint_lt(hist_percentile(&result.part[IO_SYNC], 100 - share / 2), 49 * NS_PER_MS);
	engine_result_free(&result);
}
END_TEST

static ssize_t own_part_write(int fd, const void *data, size_t length, off_t offset)
{
	__atomic_fetch_add(&seen[offset / 8192], 1, __ATOMIC_RELAXED);
	return (ssize_t)length;
}

START_TEST(threads_keep_to_their_part)
{
	const struct io_calls calls = { .write = own_part_write, .sync = see_sync };
	struct job job = JOB;
	struct engine_plan plan = plan_of(&job, &calls);
	struct engine_result result;
	size_t i;

	job.threads = 4;
	job.own_part = true;
	job.syncs = false;
	job.limit = 16 * 8192;
	plan.window = 0;
	plan.window_most = 50 * NS_PER_S;
	ck_assert_int_eq(engine_run(&plan, &result), 0);
	for (i = 0; i < 64; i++)
		ck_assert_uint_eq(seen[i], 1);
	engine_result_free(&result);

	job.length = 3 * 8192;
	ck_assert_int_eq(engine_run(&plan, &result), -EINVAL);
	engine_result_free(&result);
}
END_TEST

START_TEST(cancel_ends_it)
{
	struct engine_plan plan = plan_of(&JOB, &io_calls_null);
	struct engine_result result;
	atomic_bool cancel = true;

	plan.window = 30 * NS_PER_S;
	plan.cancel = &cancel;
	ck_assert_int_eq(engine_run(&plan, &result), -ECANCELED);
	ck_assert_uint_eq(result.intervals, 0);
	engine_result_free(&result);
}
END_TEST

SUITE("wcbench-engine", window_and_intervals_agree, limit_ends_the_window, one_in_ten_is_rewritten,
      failed_sync_ends_the_run, short_write_is_a_failure, rate_counts_from_the_intended_start,
      threads_keep_to_their_part, cancel_ends_it)
