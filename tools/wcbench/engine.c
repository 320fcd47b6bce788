/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"

enum phase {
	PHASE_HOLD = 0, /* threads are being made */
	PHASE_WARM = 1,
	PHASE_WINDOW = 2,
	PHASE_OVER = 3
};

/* Three intervals in a row that differ by no more than this are warm. */
#define WARM_RANGE 0.20

const struct io_calls io_calls_system = {
	.read = pread,
	.write = pwrite,
	.sync = fdatasync,
};

static ssize_t null_read(int fd, void *data, size_t length, off_t offset)
{
	return (ssize_t)length;
}

static ssize_t null_write(int fd, const void *data, size_t length, off_t offset)
{
	return (ssize_t)length;
}

static int null_sync(int fd)
{
	return 0;
}

const struct io_calls io_calls_null = {
	.read = null_read,
	.write = null_write,
	.sync = null_sync,
};

bool engine_counts(const struct worker *worker)
{
	return atomic_load_explicit(&worker->engine->phase, memory_order_relaxed) == PHASE_WINDOW;
}

bool engine_stopping(const struct worker *worker)
{
	return atomic_load_explicit(&worker->engine->phase, memory_order_relaxed) == PHASE_OVER;
}

void engine_done(struct worker *worker, uint64_t from, uint64_t to, size_t read, size_t written)
{
	__atomic_store_n(&worker->operations, worker->operations + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&worker->bytes_read, worker->bytes_read + read, __ATOMIC_RELAXED);
	__atomic_store_n(&worker->bytes_written, worker->bytes_written + written, __ATOMIC_RELAXED);
	if (!engine_counts(worker))
		return;
	worker->window_read += read;
	worker->window_written += written;
	hist_add(&worker->part[IO_TOTAL], to - from);
	if (atomic_load_explicit(&worker->engine->burst, memory_order_relaxed))
		hist_add(&worker->beside, to - from);
}

uint64_t engine_begin(struct worker *worker)
{
	uint64_t due = worker->due;

	if (worker->gap == 0)
		return clock_ns();
	/* In slices, so that a low rate does not hold up the end of the run. */
	while (clock_ns() < due && !engine_stopping(worker)) {
		uint64_t slice = clock_ns() + 50 * NS_PER_MS;

		clock_sleep_until(slice < due ? slice : due);
	}
	worker->due += worker->gap;
	return due;
}

uint64_t engine_next(struct worker *worker)
{
	size_t block = worker->job->block;
	uint64_t offset = 0;

	switch (worker->job->order) {
	case JOB_SEQUENTIAL:
		if (worker->next + block > worker->length)
			worker->next = 0;
		offset = worker->next;
		worker->next += block;
		break;
	case JOB_RANDOM:
		offset = random_below(&worker->random, worker->length / block) * block;
		break;
	case JOB_IN_PLACE:
		break;
	}
	return worker->start + offset;
}

int engine_fail(struct worker *worker, const char *call, int error)
{
	worker->failed = call;
	return error;
}

int engine_write(struct worker *worker, int fd, const void *data, size_t length, uint64_t offset)
{
	ssize_t done = worker->engine->calls->write(fd, data, length, (off_t)offset);

	if (done < 0)
		return engine_fail(worker, "write", -errno);
	/* A device or a full disk ends in the middle of a block. */
	if ((size_t)done != length)
		return engine_fail(worker, "write", -ENOSPC);
	return 0;
}

static int engine_read(struct worker *worker, int fd, size_t length, uint64_t offset)
{
	ssize_t done = worker->engine->calls->read(fd, worker->buffer, length, (off_t)offset);

	if (done < 0)
		return engine_fail(worker, "read", -errno);
	if ((size_t)done != length)
		return engine_fail(worker, "read", -EIO);
	return 0;
}

int engine_sync(struct worker *worker, int fd)
{
	if (worker->engine->calls->sync(fd) < 0)
		return engine_fail(worker, "fdatasync", -errno);
	return 0;
}

int engine_sync_last(struct worker *worker)
{
	uint64_t from = clock_ns();
	int r = engine_sync(worker, worker->fd);

	if (r == 0)
		hist_add(&worker->part[IO_SYNC], clock_ns() - from);
	return r;
}

/* An operation as struct job describes it. */
static int usual_operation(struct worker *worker)
{
	const struct job *job = worker->job;
	uint64_t offset = engine_next(worker), from, last, now;
	size_t read = 0, written = 0;
	bool writes = job->write_every && (worker->operations + 1) % job->write_every == 0;
	bool counting;
	void *block = NULL;
	int r;

	if (writes)
		block = pool_block(&worker->pool, job->block, offset);
	from = engine_begin(worker);
	if (engine_stopping(worker))
		return 0;
	last = worker->gap ? clock_ns() : from;
	now = last;
	if (job->reads) {
		r = engine_read(worker, worker->fd, job->block, offset);
		if (r < 0)
			return r;
		now = clock_ns();
		if (engine_counts(worker))
			hist_add(&worker->part[IO_READ], now - last);
		read = job->block;
		last = now;
	}
	if (writes) {
		r = engine_write(worker, worker->fd, block, job->block, offset);
		if (r < 0)
			return r;
		now = clock_ns();
		counting = engine_counts(worker);
		if (counting)
			hist_add(&worker->part[IO_WRITE], now - last);
		written = job->block;
		last = now;
		if (job->syncs) {
			r = engine_sync(worker, worker->fd);
			if (r < 0)
				return r;
			now = clock_ns();
			if (engine_counts(worker))
				hist_add(&worker->part[IO_SYNC], now - last);
		}
	}
	engine_done(worker, from, now, read, written);
	return 0;
}

static bool worker_is_done(const struct worker *worker)
{
	uint64_t limit = worker->job->limit;

	return limit && worker->bytes_read + worker->bytes_written >= limit;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	const struct job *job = worker->job;
	int (*operation)(struct worker *) = job->operation ? job->operation : usual_operation;
	int r = 0;

	while (atomic_load(&worker->engine->phase) == PHASE_HOLD)
		sched_yield();
	if (job->rate > 0) {
		worker->gap = (uint64_t)((double)NS_PER_S * job->threads / job->rate);
		worker->due = clock_ns() + worker->gap * worker->index / job->threads;
	}
	if (job->open)
		r = job->open(worker);
	while (r == 0 && !engine_stopping(worker) && !worker_is_done(worker))
		r = operation(worker);
	worker->stopped = clock_ns();
	if (job->close) {
		int closed = job->close(worker);

		r = r ? r : closed;
	}
	worker->finished = clock_ns();
	worker->error = r;
	atomic_fetch_sub(&worker->engine->running, 1);
	return NULL;
}

static int worker_init(struct worker *worker, struct engine *engine, const struct job *job,
		       unsigned int index, uint64_t seed)
{
	uint64_t blocks = job->length / job->block, part;
	size_t size;
	void *buffer;

	worker->job = job;
	worker->engine = engine;
	worker->index = index;
	worker->fd = job->fd;
	worker->start = job->start;
	worker->length = job->length;
	if (job->own_part) {
		part = blocks / job->threads;
		worker->start += part * index * job->block;
		worker->length = part * job->block;
	}
	if (worker->length < job->block)
		return -EINVAL;
	worker->random = seed;
	if (posix_memalign(&buffer, 4096, job->block) != 0)
		return -ENOMEM;
	memset(buffer, 0, job->block);
	worker->buffer = buffer;
	size = engine->plan->pool_size;
	/* What is in flight must not be stamped again. */
	if (size < (job->in_flight + 1) * job->block)
		size = (job->in_flight + 1) * job->block;
	size = (size + 4095) & ~(size_t)4095;
	return pool_init(&worker->pool, size, engine->plan->run_id ^ seed, seed);
}

static void workers_free(struct engine *engine)
{
	size_t i;

	for (i = 0; engine->worker && i < engine->workers; i++) {
		pool_free(&engine->worker[i].pool);
		free(engine->worker[i].buffer);
	}
	free(engine->worker);
}

static int workers_init(struct engine *engine)
{
	const struct engine_plan *plan = engine->plan;
	uint64_t seed = plan->seed;
	size_t i, at = 0;
	unsigned int k;
	int r;

	for (i = 0; i < plan->jobs; i++) {
		if (plan->job[i].threads == 0 || plan->job[i].block == 0)
			return -EINVAL;
		engine->workers += plan->job[i].threads;
	}
	engine->worker = calloc(engine->workers, sizeof(*engine->worker));
	if (!engine->worker)
		return -ENOMEM;
	for (i = 0; i < plan->jobs; i++) {
		for (k = 0; k < plan->job[i].threads; k++) {
			r = worker_init(&engine->worker[at++], engine, &plan->job[i], k,
					random_next(&seed));
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* What the timeline is made of: the first job's counters at one moment. */
struct reading {
	uint64_t at, operations, bytes;
	uint64_t bucket[HIST_BUCKETS];
};

static void take_reading(struct engine *engine, struct reading *reading)
{
	size_t i;
	unsigned int b;

	memset(reading, 0, sizeof(*reading));
	reading->at = clock_ns();
	for (i = 0; i < engine->workers && engine->worker[i].job == &engine->plan->job[0]; i++) {
		const struct worker *worker = &engine->worker[i];

		reading->operations += __atomic_load_n(&worker->operations, __ATOMIC_RELAXED);
		reading->bytes += __atomic_load_n(&worker->bytes_read, __ATOMIC_RELAXED);
		reading->bytes += __atomic_load_n(&worker->bytes_written, __ATOMIC_RELAXED);
		for (b = 0; b < HIST_BUCKETS; b++)
			reading->bucket[b] += __atomic_load_n(&worker->part[IO_TOTAL].bucket[b],
							      __ATOMIC_RELAXED);
	}
}

static void describe_interval(const struct reading *from, struct reading *to, uint64_t begin,
			      struct interval *interval)
{
	uint64_t bucket[HIST_BUCKETS];
	unsigned int b;

	for (b = 0; b < HIST_BUCKETS; b++)
		bucket[b] = to->bucket[b] - from->bucket[b];
	*interval = (struct interval){
		.at = to->at - begin,
		.length = to->at - from->at,
		.operations = to->operations - from->operations,
		.bytes = to->bytes - from->bytes,
		.p50 = hist_buckets_percentile(bucket, 50),
		.p99 = hist_buckets_percentile(bucket, 99),
		.max = hist_buckets_percentile(bucket, 100),
	};
}

static bool cancelled(const struct engine_plan *plan)
{
	return plan->cancel && atomic_load(plan->cancel);
}

static bool any_failed(const struct engine *engine)
{
	return atomic_load(&engine->running) < engine->workers;
}

/*
 * Sleep until @when, or shorter: after a signal that cancels, or once all workers are done.
 */
static void wait_until(struct engine *engine, uint64_t when)
{
	const uint64_t step = engine->plan->window ? 100 * NS_PER_MS : 5 * NS_PER_MS;
	uint64_t slice;

	while (clock_ns() < when && !cancelled(engine->plan) && atomic_load(&engine->running) > 0) {
		if (engine->plan->window && any_failed(engine))
			return;
		slice = clock_ns() + step;
		clock_sleep_until(slice < when ? slice : when);
	}
}

/* Return: whether the workload came to a steady rate before the time for it was up */
static bool warm_up(struct engine *engine)
{
	const struct engine_plan *plan = engine->plan;
	uint64_t begin = clock_ns(), end = begin + plan->warm_up_most, last = 0, now;
	double rate[3] = { 0 };
	size_t seen = 0, i;

	if (plan->warm_up == 0)
		return false;
	for (;;) {
		uint64_t from = clock_ns(), operations = 0;
		double low, high;

		wait_until(engine, from + plan->interval);
		if (cancelled(plan) || any_failed(engine))
			return false;
		now = clock_ns();
		for (i = 0; i < engine->workers && engine->worker[i].job == &plan->job[0]; i++)
			operations +=
				__atomic_load_n(&engine->worker[i].operations, __ATOMIC_RELAXED);
		rate[seen++ % 3] = (double)(operations - last) / (double)(now - from);
		last = operations;
		low = high = rate[0];
		for (i = 1; i < 3; i++) {
			low = rate[i] < low ? rate[i] : low;
			high = rate[i] > high ? rate[i] : high;
		}
		if (seen >= 3 && now - begin >= plan->warm_up && low > 0 &&
		    high - low <= WARM_RANGE * high)
			return true;
		if (now >= end)
			return false;
	}
}

static void cpu_now(double *user, double *system)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	*user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
	*system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static int keep_interval(struct engine_result *result, const struct interval *interval)
{
	struct interval *more;

	more = realloc(result->interval, (result->intervals + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	result->interval = more;
	more[result->intervals++] = *interval;
	return 0;
}

/* The window: ends after plan->window, or when all workers have come to their limit. */
static int window(struct engine *engine, struct reading *was, struct reading *is,
		  struct engine_result *result, uint64_t *begin)
{
	const struct engine_plan *plan = engine->plan;
	uint64_t end;
	int r = 0;

	if (plan->tick)
		plan->tick(plan->userdata, 0, NULL);
	take_reading(engine, was);
	atomic_store(&engine->phase, PHASE_WINDOW);
	*begin = clock_ns();
	end = *begin + (plan->window ? plan->window : plan->window_most);
	for (;;) {
		struct interval interval;
		struct reading *swap;
		uint64_t due = *begin + (result->intervals + 1) * plan->interval;
		bool last = due >= end;

		wait_until(engine, last ? end : due);
		if (clock_ns() < due)
			break;
		if (last) {
			atomic_store(&engine->phase, PHASE_OVER);
			result->window = clock_ns() - *begin;
		}
		take_reading(engine, is);
		describe_interval(was, is, *begin, &interval);
		r = keep_interval(result, &interval);
		if (r == 0 && plan->tick)
			plan->tick(plan->userdata, result->intervals, &interval);
		if (r < 0 || last)
			break;
		swap = was;
		was = is;
		is = swap;
	}
	atomic_store(&engine->phase, PHASE_OVER);
	return r;
}

static void collect(struct engine *engine, uint64_t begin, struct engine_result *result)
{
	size_t i, p;

	for (i = 0; i < engine->workers; i++) {
		const struct worker *worker = &engine->worker[i];

		if (!engine->plan->window && worker->finished > begin + result->window)
			result->window = worker->finished - begin;
		if (worker->stopped > begin + result->stopped)
			result->stopped = worker->stopped - begin;
		result->bytes_read += worker->window_read;
		result->bytes_written += worker->window_written;
		if (worker->error && !result->error) {
			result->error = worker->error;
			result->failed = worker->failed;
		}
		if (worker->job != &engine->plan->job[0])
			continue;
		result->syncs_joined += worker->syncs_joined;
		for (p = 0; p < IO_PARTS; p++)
			hist_merge(&result->part[p], &worker->part[p]);
		hist_merge(&result->beside, &worker->beside);
	}
	result->operations = result->part[IO_TOTAL].n;
}

int engine_run(const struct engine_plan *plan, struct engine_result *result)
{
	struct engine engine = {
		.plan = plan,
		.calls = plan->calls ? plan->calls : &io_calls_system,
	};
	struct reading *reading;
	pthread_t *thread = NULL;
	size_t started = 0, i;
	uint64_t begin = 0;
	double user, system;
	int r;

	memset(result, 0, sizeof(*result));
	reading = calloc(2, sizeof(*reading));
	r = reading ? workers_init(&engine) : -ENOMEM;
	if (r == 0) {
		thread = calloc(engine.workers, sizeof(*thread));
		if (!thread)
			r = -ENOMEM;
	}
	for (i = 0; r == 0 && i < engine.workers; i++) {
		r = -pthread_create(&thread[i], NULL, worker_main, &engine.worker[i]);
		if (r == 0)
			started++;
	}
	atomic_store(&engine.running, started);
	if (r < 0) {
		atomic_store(&engine.phase, PHASE_OVER);
	} else if (plan->warm_up) {
		atomic_store(&engine.phase, PHASE_WARM);
		result->warm = warm_up(&engine);
	}
	cpu_now(&user, &system);
	if (r == 0)
		r = window(&engine, &reading[0], &reading[1], result, &begin);
	if (plan->window)
		cpu_now(&result->cpu_user, &result->cpu_system);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (!plan->window) {
		cpu_now(&result->cpu_user, &result->cpu_system);
		if (plan->tick)
			plan->tick(plan->userdata, result->intervals + 1, NULL);
	}
	result->cpu_user -= user;
	result->cpu_system -= system;
	if (started)
		collect(&engine, begin, result);
	if (r == 0)
		r = result->error;
	if (r == 0 && cancelled(plan))
		r = -ECANCELED;
	workers_free(&engine);
	free(thread);
	free(reading);
	return r;
}

void engine_result_free(struct engine_result *result)
{
	free(result->interval);
	memset(result, 0, sizeof(*result));
}
