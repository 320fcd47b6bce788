/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commits as a database logs them: 8 KiB appended to a segment that was written before, and
 * durable before the client goes on. Each client with a log of its own, or all on one
 * log where whoever finds no flush under way does it for all that wait (group commit).
 */
#include <pthread.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

#define BLOCK 8192

static struct job wal_job(struct bench *bench, unsigned int clients)
{
	return (struct job){
		.threads = clients,
		.block = BLOCK,
		.fd = bench->target.log[0].fd,
		.start = bench->target.log[0].start,
		.length = bench->target.log[0].length,
		.write_every = 1,
		.syncs = true,
		.rate = bench->rate,
		.shared = bench,
	};
}

static int take_own_log(struct worker *worker)
{
	struct bench *bench = worker->job->shared;
	const struct region *log = &bench->target.log[worker->index];

	worker->fd = worker->job->syncs ? log->fd : log->fd_dsync;
	worker->start = log->start;
	worker->length = log->length;
	return 0;
}

static int wal_fdatasync_run(struct bench *bench, unsigned int clients, struct run *run)
{
	struct job job = wal_job(bench, clients);

	job.open = take_own_log;
	return bench_rate(bench, &job, 1, run, NULL);
}

const struct workload workload_wal_fdatasync = {
	.id = "wal-fdatasync",
	.what = "commits: 8 KiB into a log of the client's own, then fdatasync",
	.traits = WORKLOAD_DURABLE | WORKLOAD_LOGS,
	.measure = { { "commits", "/s" } },
	.param = "c",
	.run = wal_fdatasync_run,
};

static int wal_dsync_run(struct bench *bench, unsigned int clients, struct run *run)
{
	struct job job = wal_job(bench, clients);

	job.open = take_own_log;
	job.syncs = false;
	return bench_rate(bench, &job, 1, run, NULL);
}

const struct workload workload_wal_dsync = {
	.id = "wal-dsync",
	.what = "commits: 8 KiB into a log of the client's own, opened with O_DIRECT and O_DSYNC",
	.traits = WORKLOAD_DURABLE | WORKLOAD_DSYNC | WORKLOAD_DIRECT | WORKLOAD_LOGS,
	.measure = { { "commits", "/s" } },
	.param = "c",
	.run = wal_dsync_run,
};

struct shared_log {
	pthread_mutex_t lock;
	pthread_cond_t flushed_more;
	uint64_t inserted, flushed; /* blocks since the start */
	bool flushing;
	int error;
};

/* Write and sync the blocks from @first on. Without the lock. */
static int flush_blocks(struct worker *worker, uint64_t first, uint64_t count)
{
	uint64_t at = worker->start + first % (worker->length / BLOCK) * BLOCK;
	size_t length = count * BLOCK;
	void *blocks = pool_block(&worker->pool, length, at);
	uint64_t from = clock_ns(), written;
	int r;

	r = engine_write(worker, worker->fd, blocks, length, at);
	if (r < 0)
		return r;
	written = clock_ns();
	if (engine_counts(worker))
		hist_add(&worker->part[IO_WRITE], written - from);
	if (!worker->job->syncs)
		return 0;
	r = engine_sync(worker, worker->fd);
	if (r == 0 && engine_counts(worker))
		hist_add(&worker->part[IO_SYNC], clock_ns() - written);
	return r;
}

static int group_commit(struct worker *worker)
{
	struct shared_log *log = worker->job->shared;
	uint64_t segment = worker->length / BLOCK, from = engine_begin(worker), mine;
	bool led = false;
	int r;

	if (engine_stopping(worker))
		return 0;
	pthread_mutex_lock(&log->lock);
	mine = ++log->inserted;
	while (log->flushed < mine && !log->error) {
		uint64_t first = log->flushed, count = log->inserted - first;

		if (log->flushing) {
			pthread_cond_wait(&log->flushed_more, &log->lock);
			continue;
		}
		if (first % segment + count > segment)
			count = segment - first % segment;
		log->flushing = true;
		led = true;
		pthread_mutex_unlock(&log->lock);
		r = flush_blocks(worker, first, count);
		pthread_mutex_lock(&log->lock);
		log->flushing = false;
		if (r < 0)
			log->error = r;
		else
			log->flushed = first + count;
		pthread_cond_broadcast(&log->flushed_more);
	}
	r = log->error;
	pthread_mutex_unlock(&log->lock);
	if (r < 0)
		return r;
	if (!led && engine_counts(worker))
		worker->syncs_joined++;
	engine_done(worker, from, clock_ns(), 0, BLOCK);
	return 0;
}

static int wal_shared(struct bench *bench, unsigned int clients, bool dsync, struct run *run)
{
	struct shared_log log = { .lock = PTHREAD_MUTEX_INITIALIZER,
				  .flushed_more = PTHREAD_COND_INITIALIZER };
	struct job job = wal_job(bench, clients);

	job.operation = group_commit;
	job.in_flight = clients;
	job.shared = &log;
	if (dsync) {
		job.fd = bench->target.log[0].fd_dsync;
		job.syncs = false;
	}
	return bench_rate(bench, &job, 1, run, NULL);
}

static int wal_shared_run(struct bench *bench, unsigned int clients, struct run *run)
{
	return wal_shared(bench, clients, false, run);
}

const struct workload workload_wal_shared = {
	.id = "wal-shared",
	.what = "commits: 8 KiB into one log of all clients, fdatasync by one for all (group commit)",
	.traits = WORKLOAD_DURABLE | WORKLOAD_LOGS,
	.measure = { { "commits", "/s" } },
	.param = "c",
	.run = wal_shared_run,
};

static int wal_shared_dsync_run(struct bench *bench, unsigned int clients, struct run *run)
{
	return wal_shared(bench, clients, true, run);
}

const struct workload workload_wal_shared_dsync = {
	.id = "wal-shared-dsync",
	.what = "the same with O_DIRECT and O_DSYNC, one write for all that wait",
	.traits = WORKLOAD_DURABLE | WORKLOAD_DSYNC | WORKLOAD_DIRECT | WORKLOAD_LOGS,
	.measure = { { "commits", "/s" } },
	.param = "c",
	.run = wal_shared_dsync_run,
};
