/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many requests at once, as a drive's own queue can order them: random 8 KiB through
 * io_uring, which is built in only where liburing is.
 */
#include <errno.h>
#include <stdlib.h>
#ifdef HAVE_LIBURING
#include <liburing.h>
#endif

#include "bench.h"
#include "clock.h"

#define BLOCK 8192

#ifdef HAVE_LIBURING

struct request {
	uint64_t from;
	void *buffer;
};

struct queue {
	struct io_uring ring;
	unsigned int depth, busy;
	struct request *request;
};

static int queue_close(struct worker *worker)
{
	struct queue *queue = worker->private;
	struct io_uring_cqe *cqe;
	unsigned int i;

	if (!queue)
		return 0;
	/* The kernel writes into the buffers until the last request has come back. */
	if (io_uring_submit(&queue->ring) < 0)
		queue->busy = 0;
	while (queue->busy && io_uring_wait_cqe(&queue->ring, &cqe) == 0) {
		io_uring_cqe_seen(&queue->ring, cqe);
		queue->busy--;
	}
	io_uring_queue_exit(&queue->ring);
	for (i = 0; i < queue->depth; i++)
		free(queue->request[i].buffer);
	free(queue->request);
	free(queue);
	worker->private = NULL;
	return 0;
}

static int queue_open(struct worker *worker)
{
	unsigned int depth = *(const unsigned int *)worker->job->shared, i;
	struct queue *queue = calloc(1, sizeof(*queue));
	int r;

	if (!queue)
		return -ENOMEM;
	r = io_uring_queue_init(depth, &queue->ring, 0);
	if (r < 0) {
		free(queue);
		return engine_fail(worker, "io_uring_queue_init", r);
	}
	worker->private = queue;
	queue->request = calloc(depth, sizeof(*queue->request));
	if (!queue->request)
		return -ENOMEM;
	queue->depth = depth;
	for (i = 0; i < depth; i++)
		if (posix_memalign(&queue->request[i].buffer, 4096, BLOCK) != 0)
			return -ENOMEM;
	return 0;
}

static void queue_request(struct worker *worker, struct request *request)
{
	struct queue *queue = worker->private;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&queue->ring);
	uint64_t offset = engine_next(worker);

	if (worker->job->reads)
		io_uring_prep_read(sqe, worker->fd, request->buffer, BLOCK, offset);
	else
		io_uring_prep_write(sqe, worker->fd, pool_block(&worker->pool, BLOCK, offset),
				    BLOCK, offset);
	io_uring_sqe_set_data(sqe, request);
	request->from = clock_ns();
	queue->busy++;
}

/* Latency is from the moment a request was made, its submission included. */
static int queue_operation(struct worker *worker)
{
	const char *call = worker->job->reads ? "read" : "write";
	struct queue *queue = worker->private;
	struct io_uring_cqe *cqe;
	struct request *request;
	uint64_t now;
	int r;

	while (queue->busy < queue->depth)
		queue_request(worker, &queue->request[queue->busy]);
	do {
		r = io_uring_submit_and_wait(&queue->ring, 1);
	} while (r == -EINTR);
	if (r < 0)
		return engine_fail(worker, "io_uring_submit", r);
	while (io_uring_peek_cqe(&queue->ring, &cqe) == 0) {
		request = io_uring_cqe_get_data(cqe);
		r = cqe->res;
		io_uring_cqe_seen(&queue->ring, cqe);
		queue->busy--;
		now = clock_ns();
		if (r != BLOCK)
			return engine_fail(worker, call, r < 0 ? r : -EIO);
		if (engine_counts(worker))
			hist_add(&worker->part[worker->job->reads ? IO_READ : IO_WRITE],
				 now - request->from);
		engine_done(worker, request->from, now, worker->job->reads ? BLOCK : 0,
			    worker->job->reads ? 0 : BLOCK);
		/* Refill at once: what is in flight then fits its request, whatever the order. */
		queue_request(worker, request);
	}
	return 0;
}

static int depth_run(struct bench *bench, unsigned int depth, bool reads, struct run *run)
{
	const struct region *data = &bench->target.data;
	struct job job = {
		.threads = 1,
		.fd = data->fd_direct,
		.block = BLOCK,
		.start = data->start,
		.length = data->length,
		.order = JOB_RANDOM,
		.reads = reads,
		.open = queue_open,
		.operation = queue_operation,
		.close = queue_close,
		.in_flight = depth,
		.shared = &depth,
	};

	return bench_rate(bench, &job, 1, run, NULL);
}

#else

static int depth_run(struct bench *bench, unsigned int depth, bool reads, struct run *run)
{
	snprintf(run->failed, sizeof(run->failed), "io_uring, not built in,");
	return -EOPNOTSUPP;
}

#endif

static int depth_read_run(struct bench *bench, unsigned int depth, struct run *run)
{
	return depth_run(bench, depth, true, run);
}

static int depth_write_run(struct bench *bench, unsigned int depth, struct run *run)
{
	return depth_run(bench, depth, false, run);
}

const struct workload workload_depth_read = {
	.id = "depth-read",
	.what = "random read of 8 KiB with 1 to 32 requests in flight",
	.traits = WORKLOAD_CONTROL | WORKLOAD_DIRECT,
	.measure = { { "reads", "/s" } },
	.param = "qd",
	.run = depth_read_run,
};

const struct workload workload_depth_write = {
	.id = "depth-write",
	.what = "random write of 8 KiB with 1 to 32 requests in flight, nothing flushed",
	.traits = WORKLOAD_DIRECT,
	.measure = { { "writes", "/s" } },
	.param = "qd",
	.run = depth_write_run,
};
