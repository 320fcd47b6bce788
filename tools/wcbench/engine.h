/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: threads that do one job's I/O and time every part of it, while the
 * caller's thread keeps the seconds.
 *
 * A run has a warm-up, then a window in which operations count by the moment that they
 * complete. The window is cut into intervals; one that the end cuts short is no part of
 * it. Rate, histograms and counters of the drives are therefore of one and the same time.
 */
#ifndef WCBENCH_ENGINE_H
#define WCBENCH_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hist.h"
#include "pool.h"

enum io_part {
	IO_READ = 0,
	IO_WRITE = 1,
	IO_SYNC = 2,
	IO_TOTAL = 3, /* of one operation: from its (intended) start until all of it is done */
	IO_PARTS = 4
};

/* The calls of a worker; another table stands for a target that takes no time. */
struct io_calls {
	ssize_t (*read)(int fd, void *data, size_t length, off_t offset);
	ssize_t (*write)(int fd, const void *data, size_t length, off_t offset);
	int (*sync)(int fd);
};

extern const struct io_calls io_calls_system;
extern const struct io_calls io_calls_null;

enum job_order {
	JOB_SEQUENTIAL = 0, /* from the start on, and again */
	JOB_RANDOM = 1, /* every block as likely as the other */
	JOB_IN_PLACE = 2 /* the first block, always */
};

struct worker;

/* What some threads do. A zero is the usual: read nothing, write nothing, never sync. */
struct job {
	unsigned int threads;
	int fd;
	size_t block;
	uint64_t start, length; /* the region, bytes; cut into a part per thread if @own_part */
	bool own_part;
	enum job_order order;
	bool reads; /* each operation reads its block ... */
	unsigned int write_every; /* ... and each so-manieth writes it; 1 is all, 0 none */
	bool syncs; /* fdatasync after a write */
	unsigned int in_flight; /* blocks that are written at once by a thread; 0 is one */
	uint64_t limit; /* bytes after which a thread is done; 0 goes on until the time is up */
	double rate; /* operations a second of all threads, by the clock; 0 is as fast as it goes */

	/*
	 * A job of another form brings its own operation, and what it needs around it.
	 * All return 0 or a negative errno, which ends the run.
	 */
	int (*open)(struct worker *worker);
	int (*operation)(struct worker *worker);
	int (*close)(struct worker *worker); /* also after a failure */
	void *shared; /* of all threads of the job */
};

struct worker {
	const struct job *job;
	struct engine *engine;
	unsigned int index; /* among those of its job */
	int fd; /* the job's; job->open may take another, and another region */
	uint64_t start, length; /* its region */
	uint64_t next; /* offset in it, for JOB_SEQUENTIAL */
	uint64_t random;
	uint64_t due; /* intended start of the next operation, where there is a rate */
	uint64_t gap;
	struct pool pool;
	void *buffer; /* to read into */
	void *private; /* of the job's own operation */

	/* Read by the engine's thread while the worker runs. */
	uint64_t operations; /* since the start, warm-up included */
	uint64_t bytes_read, bytes_written;

	/* In the window. */
	bool counting;
	struct hist part[IO_PARTS];
	struct hist beside; /* IO_TOTAL while engine->burst was up, of a job that asks for it */
	uint64_t syncs_joined; /* operations made durable by the sync of another (group commit) */
	uint64_t window_read, window_written;
	int error;
	const char *failed; /* the call that failed */
	uint64_t stopped; /* when its last operation was done */
	uint64_t finished; /* and when job->close was */
};

/* One interval of the window. */
struct interval {
	uint64_t at; /* its end, nanoseconds after the window's begin */
	uint64_t length;
	uint64_t operations; /* of the first job */
	uint64_t bytes;
	uint64_t p50, p99, max; /* IO_TOTAL, max from the buckets */
};

struct engine_plan {
	const struct io_calls *calls; /* NULL: the system's */
	const struct job *job; /* the first is the one that is measured */
	size_t jobs;
	uint64_t warm_up; /* at least this long; 0 with jobs that have a limit */
	uint64_t warm_up_most;
	uint64_t window; /* a multiple of interval; 0: until every job has come to its limit */
	uint64_t window_most; /* where window is 0: give up waiting for the limit after this */
	uint64_t interval;
	uint64_t run_id, seed;
	size_t pool_size; /* of each thread, at least */
	const atomic_bool *cancel; /* NULL, or checked at least each interval */
	/*
	 * Called at the window's begin (index 0), at the end of each interval (1, 2, ...), and,
	 * where limits end the window, once more with interval NULL when all is done.
	 */
	void (*tick)(void *userdata, size_t index, const struct interval *interval);
	void *userdata;
};

struct engine_result {
	uint64_t window; /* nanoseconds that it lasted, job->close included where limits end it */
	uint64_t stopped; /* nanoseconds until the last operation was done, of such a window */
	uint64_t operations;
	uint64_t bytes_read, bytes_written; /* all jobs */
	uint64_t syncs_joined;
	struct hist part[IO_PARTS]; /* of the first job */
	struct hist beside;
	double cpu_user, cpu_system; /* seconds of the whole process in the window */
	struct interval *interval;
	size_t intervals;
	bool warm; /* three intervals within 20 % before the window began */
	int error;
	const char *failed;
};

struct engine {
	const struct engine_plan *plan;
	const struct io_calls *calls;
	atomic_uint phase;
	atomic_uint running; /* workers that are not done */
	atomic_bool burst;
	struct worker *worker;
	size_t workers;
};

/*
 * engine_run() - carry out a plan
 *
 * Return: 0, -ENOMEM, -ECANCELED, -EAGAIN where no thread could be had, -EINVAL, or what an
 * operation failed with (result->failed names the call). @result is filled in as far as the
 * run came; release it with engine_result_free() in any case.
 */
int engine_run(const struct engine_plan *plan, struct engine_result *result);
void engine_result_free(struct engine_result *result);

/*
 * For operations of a job's own.
 */

/* engine_counts() - is the window open; asked when an operation is done */
bool engine_counts(const struct worker *worker);
/* engine_stopping() - is the run over; for what waits */
bool engine_stopping(const struct worker *worker);
/* engine_done() - book an operation that began at @from and is done at @to */
void engine_done(struct worker *worker, uint64_t from, uint64_t to, size_t read, size_t written);
/* engine_begin() - wait for the next intended start where there is a rate. Return: the start */
uint64_t engine_begin(struct worker *worker);
/* engine_next() - offset of the next block, in the job's order */
uint64_t engine_next(struct worker *worker);
/* engine_fail() - note which call failed. Return: @error */
int engine_fail(struct worker *worker, const char *call, int error);
/* engine_write(), engine_sync() - the call, and what is short or fails as a negative errno */
int engine_write(struct worker *worker, int fd, const void *data, size_t length, uint64_t offset);
int engine_sync(struct worker *worker, int fd);
/* engine_sync_last() - a job->close that makes all of it durable, and times that */
int engine_sync_last(struct worker *worker);

#endif
