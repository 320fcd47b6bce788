/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a benchmark leaves behind: its runs, and what is made of them. The method fills it
 * in, the verdict is drawn from it, every output reads it.
 */
#ifndef WCBENCH_REPORT_H
#define WCBENCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wcache.h>

#include "belief.h"
#include "diskstat.h"
#include "engine.h"
#include "stats.h"
#include "workload.h"

/* The two sides of a pair. Alone (--cache=current) everything is the first. */
enum arm {
	ARM_A = 0, /* cache on; or the setting as it is */
	ARM_B = 1, /* cache off; or again the setting as it is */
	ARMS = 2
};

enum mode {
	MODE_ON_OFF = 1, /* the setting is changed */
	MODE_CURRENT = 2, /* one arm */
	MODE_SAME = 3 /* two arms that are the same: what the method makes of nothing (A/A) */
};

/* Bytes as the drive counts them, of an arm or a run. */
struct wear {
	bool known;
	double host, media;
	double step; /* of the counters */
};

struct run_interval {
	struct interval io; /* at: nanoseconds since the run began */
	struct diskstat device;
};

struct run {
	const struct workload *workload;
	unsigned int param;
	unsigned int pair; /* from 1 */
	unsigned int order; /* of all runs, from 1 */
	enum arm arm;
	enum wcache_cache wanted; /* UNKNOWN: not set by us */
	enum wcache_cache drive; /* read back, after the run; the worst of the drives */
	enum wcache_kernel kernel;
	enum wcache_answer fua;
	bool warm;

	double began; /* seconds since the start of the benchmark */
	double value[WORKLOAD_MEASURES]; /* negative: not measured */
	uint64_t window;
	uint64_t operations, bytes_read, bytes_written, joined;
	struct hist *part[IO_PARTS]; /* NULL where there is nothing in it */
	double cpu_user, cpu_system;
	struct diskstat device; /* in the window, all drives below */
	double flush_before; /* seconds that emptying the cache took before the run, and after */
	double flush_after;
	struct run_interval *interval;
	size_t intervals;
	struct wear wear;
	int error; /* negative errno: the run is no result */
	char failed[64];
};

/* One line of the table: a measure of a workload with one parameter, over all runs. */
struct line {
	const struct workload *workload;
	const struct measure *measure;
	unsigned int param;
	size_t index; /* of the measure */
	struct spread arm[ARMS];
	struct ratio ratio; /* A over B, so that above 1 says: the cache being on wins */
	struct ratio null; /* of neighbours with the same setting */
	bool drifting[ARMS];
};

/* The same for what has no ratio: sums and merged histograms of a workload and parameter. */
struct sum {
	const struct workload *workload;
	unsigned int param;
	enum arm arm;
	size_t runs;
	uint64_t operations, window, bytes_read, bytes_written, joined;
	struct hist *part[IO_PARTS]; /* NULL where empty */
	struct diskstat device;
	double cpu;
	struct wear wear;
};

struct report_drive {
	char name[64], bus[32], protocol[16], driver[64], model[64], firmware[32], serial[64];
	enum wcache_cache original;
	enum wcache_kernel kernel;
	enum wcache_answer rotational, nonvolatile, fua;
};

struct report {
	const char *command; /* that repeats it */
	uint64_t seed;
	const char *preset;
	enum mode mode;
	double started; /* seconds since 1970 */
	double seconds; /* that it took */
	double interval; /* seconds */
	char kernel[128], cpu[128], governor[32], host[128];
	uint64_t memory;

	char target[4096], mount[4096], fs[64], options[1024];
	uint64_t size;
	bool direct;
	size_t align;
	struct report_drive *drive;
	size_t drives;
	char layers[256]; /* what lies between the target and the drives, for people */
	enum {
		OWNER_DRIVE = 0,
		OWNER_RAID = 1,
		OWNER_VIRTUAL = 2,
		OWNER_UNKNOWN = 3
	} owner;
	bool barriers_off;
	char left[300]; /* on and off were asked for, and why the setting was left as it is */
	char wear_why[240]; /* wear is not counted, and why; empty where it is */
	uint64_t cache_bytes; /* as probed; 0 not known */

	struct run *run;
	size_t runs;
	struct line *line;
	size_t lines;
	struct sum *sum;
	size_t sums;
	struct belief belief;
};

/*
 * report_summarize() - lines and sums from the runs, then the verdict from all
 * Can be called again as runs are added. Return: 0, -ENOMEM.
 */
int report_summarize(struct report *report);
void report_free(struct report *report);

/* report_arm_name() - "on", "off", "current", "A", "B" */
const char *report_arm_name(const struct report *report, enum arm arm);
/* report_line_name() - "wal-fdatasync c=4 commits" into @name */
void report_line_name(const struct line *line, char *name, size_t size);
/* report_case_name() - "wal-fdatasync c=4" */
void report_case_name(const struct workload *workload, unsigned int param, char *name, size_t size);
/*
 * report_wear() - all runs of an arm together
 * Return: whether enough was written for the ratio to say more than the counters' steps.
 */
bool report_wear(const struct report *report, enum arm arm, struct wear *wear);
/* report_flushes() - flushes per operation; negative where not counted or nothing was done */
double report_flushes(const struct diskstat *device, uint64_t operations);

#endif
