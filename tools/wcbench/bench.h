/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A benchmark under way: what was asked for, what it works on, and the method.
 */
#ifndef WCBENCH_BENCH_H
#define WCBENCH_BENCH_H

#include <stdatomic.h>

#include "drives.h"
#include "progress.h"
#include "report.h"
#include "target.h"

/* One workload with one parameter. */
struct bench_case {
	const struct workload *workload;
	unsigned int param;
};

struct guard;

struct bench {
	/* Asked for. */
	const struct bench_case *cases;
	size_t n_cases;
	enum mode mode;
	bool whole; /* sequential workloads go through all of the file, not by time */
	uint64_t window, interval, warm_up, warm_up_most;
	uint64_t budget; /* nanoseconds for all of it; 0: none */
	unsigned int pairs_least, pairs_most;
	double narrow; /* half width of an interval that ends it */
	double rate; /* open loop, operations a second; 0: closed */
	uint64_t seed;

	/* Worked on. */
	struct target target;
	struct drives drives;
	struct guard *guard;
	struct progress progress;
	const atomic_bool *cancel;
	struct report report;

	uint64_t begun;
	uint64_t random;
	uint64_t run_id;
	enum arm arm; /* that the drives are in */
	char why[512]; /* a failure, as a sentence */
};

/*
 * bench_measure() - all pairs of all cases, into bench->report
 *
 * Return: 0 where there is a report, even one that is INVALID; -ECANCELED with what was
 * measured until then; negative errno where nothing was (bench->why).
 */
int bench_measure(struct bench *bench);

/*
 * bench_job() - for workloads: run jobs, the first of which is measured, and book it
 * @limited: until the jobs come to their limit, without warm-up
 *
 * What it finds is added to @run; a workload of two parts calls it twice.
 * @result: the engine's, valid until the next call with it; NULL where nobody asks. The
 *	    caller releases it with engine_result_free().
 *
 * Return: 0 or negative errno.
 */
int bench_job(struct bench *bench, const struct job *job, size_t jobs, bool limited,
	      struct run *run, struct engine_result *result);

/*
 * bench_rate() - the same where the rate of operations by time is the first value
 */
int bench_rate(struct bench *bench, const struct job *job, size_t jobs, struct run *run,
	       struct engine_result *result);

/* bench_share() - bytes that a sequential run should move, given how fast the target is */
uint64_t bench_share(const struct bench *bench, uint64_t block);

#endif
