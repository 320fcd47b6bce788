/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the engine itself costs: one operation of 8 KiB, stamped and timed call by call, on a
 * target that takes no time. fio's null engine takes 378 ns for one.
 */
#include <stdio.h>

#include "clock.h"
#include "engine.h"

#define PROMISE_NS 400
#define TRIES 5

static int measure(const char *name, struct job job)
{
	const struct engine_plan plan = {
		.calls = &io_calls_null,
		.job = &job,
		.jobs = 1,
		.window = 500 * NS_PER_MS,
		.interval = 100 * NS_PER_MS,
		.pool_size = 512 << 10,
		.seed = 1,
	};
	struct engine_result result;
	double best = 1e9, cost;
	int i;

	/* CPU time, so that waiting for a busy CPU is not charged to the engine. */
	for (i = 0; i < TRIES; i++) {
		if (engine_run(&plan, &result) < 0)
			return 1;
		cost = (result.cpu_user + result.cpu_system) * 1e9 / (double)result.operations;
		best = cost < best ? cost : best;
		engine_result_free(&result);
	}
	printf("%s %s: %.0f ns an operation, %d promised\n", best < PROMISE_NS ? "ok  " : "FAIL",
	       name, best, PROMISE_NS);
	return best >= PROMISE_NS;
}

int main(void)
{
	struct job job = {
		.threads = 1,
		.fd = -1,
		.block = 8192,
		.length = 1ull << 30,
		.order = JOB_RANDOM,
	};
	int failed = 0;

	job.reads = true;
	failed += measure("random read", job);
	job.reads = false;
	job.write_every = 1;
	failed += measure("random write", job);
	job.syncs = true;
	failed += measure("random write and fdatasync", job);
	printf("%d passed, %d failed\n", 3 - failed, failed);
	return failed != 0;
}
