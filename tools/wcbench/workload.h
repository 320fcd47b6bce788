/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A workload: one struct here, one row in the table of workload.c.
 */
#ifndef WCBENCH_WORKLOAD_H
#define WCBENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct bench;
struct run;

#define WORKLOAD_MEASURES 3
#define WORKLOAD_PARAMS 8

struct measure {
	const char *name; /* NULL ends the list */
	const char *unit;
	bool less_is_better;
};

enum workload_trait {
	WORKLOAD_DURABLE = 1 << 0, /* every operation is durable when it returns */
	WORKLOAD_DSYNC = 1 << 1, /* by O_DSYNC, which may use FUA and no flush */
	WORKLOAD_CONTROL = 1 << 2, /* reads only: the cache must make no difference */
	WORKLOAD_DIRECT = 1 << 3, /* needs O_DIRECT */
	WORKLOAD_IN_PLACE = 1 << 4, /* one block again and again */
	WORKLOAD_LOGS = 1 << 5, /* a log for each client */
	WORKLOAD_ONCE = 1 << 6, /* a probe: once, with the cache on */
	WORKLOAD_STREAM = 1 << 7, /* its rate has the link for a limit */
	WORKLOAD_DEFERRED = 1 << 8 /* some of what it writes goes to the drive when it is over */
};

struct workload {
	const char *id;
	const char *what; /* a line for people */
	unsigned int traits;
	struct measure measure[WORKLOAD_MEASURES + 1];
	const char *param; /* "c" for clients, "qd"; NULL where there is none */
	/*
	 * Do it once. bench_job() does most of it; what is left is the job and the values.
	 * Return: 0 or negative errno.
	 */
	int (*run)(struct bench *bench, unsigned int param, struct run *run);
};

extern const struct workload workload_seqw;
extern const struct workload workload_seqr;
extern const struct workload workload_seeks;
extern const struct workload workload_randr;
extern const struct workload workload_rndw;
extern const struct workload workload_flush;
extern const struct workload workload_wal_fdatasync;
extern const struct workload workload_wal_dsync;
extern const struct workload workload_wal_shared;
extern const struct workload workload_wal_shared_dsync;
extern const struct workload workload_mixed;
extern const struct workload workload_depth_read;
extern const struct workload workload_depth_write;
extern const struct workload workload_cachesize;

extern const struct workload *const workloads[];
extern const size_t workloads_count;

/* workload_find() - by its id. Return: NULL where there is none. */
const struct workload *workload_find(const char *id);

#endif
