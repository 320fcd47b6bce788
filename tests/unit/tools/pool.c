/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tools' worker pool: order, jobs that hang, and the size of it. */
#include <check.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/pool.h"

#define MANY 512

struct job {
	int hangs_on; /* a pipe; -1 for one that ends at once */
	int runs;
};

static void work(void *arg)
{
	struct job *job = arg;
	char c;

	if (job->hangs_on >= 0)
		ck_assert_int_eq(read(job->hangs_on, &c, 1), 0);
	job->runs++;
}

static struct job jobs[MANY];
static void *pointers[MANY];

static void make_jobs(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		jobs[i] = (struct job){ .hangs_on = -1 };
		pointers[i] = &jobs[i];
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

START_TEST(every_job_runs_once)
{
	static const size_t threads[] = { 0, 1, 3, 64, 2 * MANY };
	struct pool *pool;

	make_jobs(MANY);
	pool = pool_start(work, pointers, MANY, threads[_i]);
	for (size_t i = 0; i < MANY; i++) {
		ck_assert(pool_wait(pool, i, 60000));
		ck_assert_int_eq(jobs[i].runs, 1);
	}
	pool_end(pool);
}
END_TEST

START_TEST(no_jobs)
{
	pool_end(pool_start(work, NULL, 0, 64));
}
END_TEST

/* As many hang as there are threads: the jobs behind them are done all the same. */
START_TEST(hanging_jobs_are_given_up)
{
	double from = now();
	struct pool *pool;
	int fd[2];

	make_jobs(20);
	ck_assert_int_eq(pipe(fd), 0);
	for (size_t i = 0; i < 8; i += 2)
		jobs[i].hangs_on = fd[0];
	pool = pool_start(work, pointers, 20, 4);
	for (size_t i = 0; i < 20; i++)
		ck_assert_int_eq(pool_wait(pool, i, 300), i >= 8 || i % 2);
	pool_end(pool);
	ck_assert_double_lt(now() - from, 20);
	for (size_t i = 0; i < 20; i++)
		if (i >= 8 || i % 2)
			ck_assert_int_eq(jobs[i].runs, 1);
	/* Those that were given up end one day, and the process may still be there. */
	close(fd[1]);
	usleep(100000);
	for (size_t i = 0; i < 8; i += 2)
		ck_assert_int_eq(jobs[i].runs, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tools-pool");
	TCase *tc = tcase_create("pool");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_job_runs_once, 0, 5);
	tcase_add_test(tc, no_jobs);
	tcase_add_test(tc, hanging_jobs_are_given_up);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
