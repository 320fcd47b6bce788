/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of 8 KiB in random places, as a database has them, and the price of a flush.
 */
#include <unistd.h>

#include "bench.h"

#define BLOCK 8192
#define BONNIE_THREADS 5
#define BONNIE_REWRITES 10

static struct job random_job(const struct bench *bench)
{
	const struct region *data = &bench->target.data;

	return (struct job){
		.threads = 1,
		.fd = bench->target.direct ? data->fd_direct : data->fd,
		.block = BLOCK,
		.start = data->start,
		.length = data->length,
		.order = JOB_RANDOM,
		.rate = bench->rate,
	};
}

/*
 * bonnie++ goes through the page cache with a file of twice the memory, so that about half of
 * the reads miss. With a smaller file everything would be a hit after a while; then the
 * drive is asked directly.
 */
static bool larger_than_memory(const struct bench *bench)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return bench->target.data.length >= 2 * memory;
}

static int seeks_run(struct bench *bench, unsigned int param, struct run *run)
{
	struct job job = random_job(bench);

	job.threads = BONNIE_THREADS;
	job.reads = true;
	job.write_every = BONNIE_REWRITES;
	if (larger_than_memory(bench))
		job.fd = bench->target.data.fd;
	target_drop_cache(&bench->target);
	return bench_rate(bench, &job, 1, run, NULL);
}

const struct workload workload_seeks = {
	.id = "seeks",
	.what = "random seeks as bonnie++ counts them: five threads read 8 KiB and rewrite one in ten",
	.traits = WORKLOAD_DEFERRED,
	.measure = { { "seeks", "/s" } },
	.run = seeks_run,
};

static int randr_run(struct bench *bench, unsigned int param, struct run *run)
{
	struct job job = random_job(bench);

	job.reads = true;
	return bench_rate(bench, &job, 1, run, NULL);
}

const struct workload workload_randr = {
	.id = "randr",
	.what = "random read of 8 KiB, past the page cache; a second control",
	.traits = WORKLOAD_CONTROL | WORKLOAD_DIRECT,
	.measure = { { "reads", "/s" } },
	.run = randr_run,
};

static int rndw_run(struct bench *bench, unsigned int threads, struct run *run)
{
	struct job job = random_job(bench);

	job.threads = threads;
	job.write_every = 1;
	job.syncs = true;
	return bench_rate(bench, &job, 1, run, NULL);
}

const struct workload workload_rndw = {
	.id = "rndw",
	.what = "random write of 8 KiB, each followed by fdatasync",
	.traits = WORKLOAD_DURABLE,
	.measure = { { "writes", "/s" } },
	.param = "c",
	.run = rndw_run,
};

/* One dirty sector in one place: what is left to measure is the flush. */
static int flush_run(struct bench *bench, unsigned int param, struct run *run)
{
	struct job job = random_job(bench);
	int r;

	job.fd = bench->target.data.fd;
	job.block = 512;
	job.order = JOB_IN_PLACE;
	job.write_every = 1;
	job.syncs = true;
	r = bench_rate(bench, &job, 1, run, NULL);
	if (r == 0 && run->part[IO_SYNC])
		run->value[1] = (double)hist_percentile(run->part[IO_SYNC], 50) / 1000;
	return r;
}

const struct workload workload_flush = {
	.id = "flush",
	.what = "one dirty sector, always the same, and fdatasync: the price of a flush",
	.traits = WORKLOAD_DURABLE | WORKLOAD_IN_PLACE,
	.measure = { { "flushes", "/s" }, { "price", "us", .less_is_better = true } },
	.run = flush_run,
};
