/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sequential writing has three speeds: what the kernel takes into memory, what the drive
 * takes into its cache, and what is on the medium. Reading sequentially is the control.
 */
#include "bench.h"
#include "clock.h"

#define SEQ_BLOCK (1u << 20)
#define SEQ_LEAST 8 /* blocks that make a sequence */

enum {
	ABSORBED = 0,
	ACCEPTED = 1,
	DURABLE = 2
};

/* A slow drive is written in smaller blocks, so that a run holds a few of them. */
static size_t seq_block(uint64_t bytes)
{
	size_t block = SEQ_BLOCK;

	while (block > 8192 && bytes / block < SEQ_LEAST)
		block /= 2;
	return block;
}

static double megabytes(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 1000.0 / (double)ns : -1;
}

static int seqw_run(struct bench *bench, unsigned int param, struct run *run)
{
	uint64_t bytes = bench_share(bench, SEQ_BLOCK);
	struct job job = {
		.threads = 1,
		.fd = bench->target.data.fd,
		.block = seq_block(bytes),
		.start = bench->target.data.start,
		.length = bench->target.data.length,
		.write_every = 1,
		.limit = bytes,
		.close = engine_sync_last,
	};
	struct engine_result result;
	int r;

	target_drop_cache(&bench->target);
	r = bench_job(bench, &job, 1, true, run, &result);
	if (r == 0) {
		run->value[ABSORBED] = megabytes(result.bytes_written, result.stopped);
		run->value[DURABLE] = megabytes(result.bytes_written, result.window);
	}
	engine_result_free(&result);
	if (r < 0 || !bench->target.direct)
		return r;

	target_drop_cache(&bench->target);
	job.fd = bench->target.data.fd_direct;
	r = bench_job(bench, &job, 1, true, run, &result);
	if (r == 0)
		run->value[ACCEPTED] = megabytes(result.bytes_written, result.stopped);
	engine_result_free(&result);
	return r;
}

const struct workload workload_seqw = {
	.id = "seqw",
	.what = "sequential write of 1 MiB blocks: absorbed by the kernel, accepted by the drive, "
		"durable",
	.traits = WORKLOAD_STREAM,
	.measure = { [ABSORBED] = { "absorbed", "MB/s" },
		     [ACCEPTED] = { "accepted", "MB/s" },
		     [DURABLE] = { "durable", "MB/s" } },
	.run = seqw_run,
};

static int seqr_run(struct bench *bench, unsigned int param, struct run *run)
{
	struct job job = {
		.threads = 1,
		.fd = bench->target.direct ? bench->target.data.fd_direct : bench->target.data.fd,
		.block = seq_block(bench->target.data.length),
		.start = bench->target.data.start,
		.length = bench->target.data.length,
		.reads = true,
		.limit = bench->whole ? bench->target.data.length : 0,
	};
	struct engine_result result;
	int r;

	target_drop_cache(&bench->target);
	r = bench_job(bench, &job, 1, bench->whole, run, &result);
	if (r == 0)
		run->value[0] = megabytes(result.bytes_read, result.window);
	engine_result_free(&result);
	return r;
}

const struct workload workload_seqr = {
	.id = "seqr",
	.what = "sequential read of 1 MiB blocks; the control, which the write cache must not change",
	.traits = WORKLOAD_CONTROL | WORKLOAD_STREAM,
	.measure = { { "read", "MB/s" } },
	.run = seqr_run,
};
