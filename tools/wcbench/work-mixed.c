/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log beside a checkpoint: one client commits while data pages are written in bursts, at a
 * rate that is the same with the cache on and off. What the commits suffer is the answer.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

#define BLOCK 8192
/* Of the rate at which the file was filled: work that the drive can do, and feels. */
#define BURST_SHARE 0.5

struct checkpoint {
	uint64_t half; /* nanoseconds of a burst, and of the pause after it */
	uint64_t gap; /* between two writes of a burst */
	uint64_t begun, due;
	struct engine *engine;
};

static void pause_until(struct worker *worker, uint64_t when)
{
	while (clock_ns() < when && !engine_stopping(worker)) {
		uint64_t slice = clock_ns() + 20 * NS_PER_MS;

		clock_sleep_until(slice < when ? slice : when);
	}
}

static int checkpoint_begin(struct worker *worker)
{
	struct checkpoint *checkpoint = worker->job->shared;

	/* A pause comes first: the window begins between two bursts or inside of one. */
	checkpoint->begun = clock_ns();
	checkpoint->due = checkpoint->begun + checkpoint->half;
	return 0;
}

static int checkpoint_write(struct worker *worker)
{
	struct checkpoint *checkpoint = worker->job->shared;
	uint64_t offset, from;
	int r;

	if (clock_ns() >= checkpoint->begun + 2 * checkpoint->half) {
		r = engine_sync(worker, worker->fd);
		if (r < 0)
			return r;
		atomic_store(&worker->engine->burst, false);
		checkpoint->begun = clock_ns();
		checkpoint->due = checkpoint->begun + checkpoint->half;
	}
	pause_until(worker, checkpoint->due);
	if (engine_stopping(worker))
		return 0;
	atomic_store(&worker->engine->burst, true);
	checkpoint->due += checkpoint->gap;
	offset = engine_next(worker);
	from = clock_ns();
	r = engine_write(worker, worker->fd, pool_block(&worker->pool, BLOCK, offset), BLOCK,
			 offset);
	if (r == 0)
		engine_done(worker, from, clock_ns(), 0, BLOCK);
	return r;
}

static double p99_ms(const struct hist *hist)
{
	return hist->n ? (double)hist_percentile(hist, 99) / NS_PER_MS : -1;
}

static int mixed_run(struct bench *bench, unsigned int param, struct run *run)
{
	struct checkpoint checkpoint = {
		.half = bench->window / 4,
		.gap = (uint64_t)(BLOCK * (double)NS_PER_S / (bench->target.rate * BURST_SHARE)),
	};
	const struct target *target = &bench->target;
	struct job job[2] = {
		{
			.threads = 1,
			.fd = target->log[0].fd,
			.block = BLOCK,
			.start = target->log[0].start,
			.length = target->log[0].length,
			.write_every = 1,
			.syncs = true,
			.rate = bench->rate,
		},
		{
			.threads = 1,
			.fd = target->data.fd,
			.block = BLOCK,
			.start = target->data.start,
			.length = target->data.length,
			.order = JOB_RANDOM,
			.open = checkpoint_begin,
			.operation = checkpoint_write,
			.shared = &checkpoint,
		},
	};
	struct engine_result *result;
	struct hist *quiet;
	unsigned int i;
	int r;

	result = calloc(1, sizeof(*result) + sizeof(*quiet));
	if (!result)
		return -ENOMEM;
	quiet = (struct hist *)(result + 1);
	r = bench_rate(bench, job, 2, run, result);
	if (r == 0) {
		const struct hist *all = &result->part[IO_TOTAL], *burst = &result->beside;

		*quiet = *all;
		quiet->n -= burst->n;
		for (i = 0; i < HIST_BUCKETS; i++)
			quiet->bucket[i] -= burst->bucket[i];
		run->value[1] = p99_ms(burst);
		run->value[2] = p99_ms(quiet);
	}
	engine_result_free(result);
	free(result);
	return r;
}

const struct workload workload_mixed = {
	.id = "mixed",
	.what = "commits of one client while a checkpoint writes 8 KiB pages in bursts",
	.traits = WORKLOAD_LOGS | WORKLOAD_DEFERRED,
	.measure = { { "commits", "/s" },
		     { "p99 in burst", "ms", .less_is_better = true },
		     { "p99 between", "ms", .less_is_better = true } },
	.run = mixed_run,
};
