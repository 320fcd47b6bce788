/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is read of the machine: counters, mounts, the size of a cache; and of the user.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "diskstat.h"
#include "options.h"
#include "probe.h"
#include "progress.h"
#include "suite.h"
#include "target.h"

START_TEST(counters)
{
	char *const nobody[] = { (char *)"no/such/drive" };
	struct diskstat stat, sum = { .flushes_counted = true };

	ck_assert_int_eq(diskstat_parse("      11       12       13 14 21 22 23 24        0 31 32 "
					"41 42 43 44 51 52\n",
					&stat),
			 0);
	ck_assert_uint_eq(stat.reads, 11);
	ck_assert_uint_eq(stat.read_sectors, 13);
	ck_assert_uint_eq(stat.writes, 21);
	ck_assert_uint_eq(stat.write_merges, 22);
	ck_assert_uint_eq(stat.write_sectors, 23);
	ck_assert_uint_eq(stat.busy_ms, 31);
	ck_assert_uint_eq(stat.weighted_ms, 32);
	ck_assert_uint_eq(stat.flushes, 51);
	ck_assert_uint_eq(stat.flush_ms, 52);
	ck_assert(stat.flushes_counted);
	diskstat_add(&sum, &stat);
	ck_assert(sum.flushes_counted);

	/* A kernel before 5.5 has no flushes, and then none are claimed. */
	ck_assert_int_eq(diskstat_parse("1 0 8 0 2 0 16 1 0 3 4\n", &stat), 0);
	ck_assert(!stat.flushes_counted);
	diskstat_add(&sum, &stat);
	ck_assert(!sum.flushes_counted);
	ck_assert_uint_eq(sum.writes, 23);

	ck_assert_int_eq(diskstat_parse("1 2 3\n", &stat), -EBADMSG);
	ck_assert_int_eq(diskstat_parse("", &stat), -EBADMSG);
	ck_assert_int_eq(diskstat_parse("1 -2 x", &stat), -EBADMSG);
	ck_assert_int_eq(diskstat_parse("1 2 3 4 5 6 7 8 9 10 x", &stat), -EBADMSG);
	ck_assert_int_eq(diskstat_read(nobody, 1, &sum), -ENODEV);
	ck_assert_uint_eq(sum.writes, 23);
	ck_assert_int_eq(diskstat_read(nobody, 0, &sum), 0);
	ck_assert(!sum.flushes_counted);
}
END_TEST

START_TEST(iostat_figures)
{
	struct diskstat before, after;
	struct diskstat delta;
	struct iostat io;

	ck_assert_int_eq(diskstat_parse("0 0 0 0 100 5 1000 50 0 900 90 0 0 0 0 10 20", &before),
			 0);
	ck_assert_int_eq(
		diskstat_parse("0 0 0 0 300 25 5000 250 0 1900 590 0 0 0 0 110 220", &after), 0);
	delta = diskstat_since(&after, &before);
	io = diskstat_iostat(&delta, 2, 1);
	ck_assert_double_eq_tol(io.w, 100, 1e-9);
	ck_assert_double_eq_tol(io.wkb, 1000, 1e-9);
	ck_assert_double_eq_tol(io.wrqm, 10, 1e-9);
	ck_assert_double_eq_tol(io.w_await, 1, 1e-9);
	ck_assert_double_eq_tol(io.wareq_kb, 10, 1e-9);
	ck_assert_double_eq_tol(io.f, 50, 1e-9);
	ck_assert_double_eq_tol(io.f_await, 2, 1e-9);
	ck_assert_double_eq_tol(io.aqu, 0.25, 1e-9);
	ck_assert_double_eq_tol(io.util, 50, 1e-9);
	ck_assert_double_eq(io.r_await, 0);
	/* The kernel books 100 flushes as writes too. */
	ck_assert_uint_eq(diskstat_data_writes(&delta), 100);
	io = diskstat_iostat(&delta, 0, 1);
	ck_assert_double_eq(io.w, 0);
}
END_TEST

static const char MOUNTINFO[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard,errors=remount-ro\n"
	"30 27 254:2 / /with\\040blank rw,noatime - xfs /dev/mapper/a\\040b rw,attr2,nobarrier\n"
	"31 27 254:3 / /old rw - ext3 /dev/sdb1 rw,barrier=0,data=ordered\n"
	"32 27 254:4 / /new rw - ext4 /dev/sdb2 rw,barrier=00,data=ordered\n"
	"33 27 254:4 / /short rw\n";

START_TEST(mounts)
{
	struct target *target = calloc(1, sizeof(*target));

	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 27, target), 0);
	ck_assert_str_eq(target->mount, "/");
	ck_assert_str_eq(target->fs, "ext4");
	ck_assert_str_eq(target->source, "/dev/vda1");
	ck_assert_str_eq(target->options, "rw,relatime,rw,discard,errors=remount-ro");
	ck_assert(!target->barriers_off);
	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 30, target), 0);
	ck_assert_str_eq(target->mount, "/with blank");
	ck_assert_str_eq(target->source, "/dev/mapper/a b");
	ck_assert(target->barriers_off);
	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 31, target), 0);
	ck_assert(target->barriers_off);
	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 32, target), 0);
	ck_assert(!target->barriers_off);
	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 33, target), -ENOENT);
	ck_assert_int_eq(target_parse_mount(MOUNTINFO, 99, target), -ENOENT);
	free(target);
}
END_TEST

/* Bursts of 1, 2, 4 ... MiB into a cache, at two rates in MB/s. */
static size_t make_bursts(struct probe_burst burst[PROBE_BURSTS], double cache, double fast,
			  double slow)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		double bytes = (double)(1048576u << i);
		double in = bytes < cache ? bytes : cache * fast / (fast - slow);

		/* While it fills it drains, so that more goes in fast than it holds. */
		if (in > bytes)
			in = bytes;
		burst[i].bytes = (uint64_t)bytes;
		burst[i].seconds = in / (fast * 1e6) + (bytes - in) / (slow * 1e6) + 0.0001;
	}
	return 10;
}

START_TEST(cache_size)
{
	struct probe_burst burst[PROBE_BURSTS];
	size_t n = make_bursts(burst, 64 << 20, 300, 20);
	uint64_t cache = probe_cache(burst, n);

	ck_assert_uint_gt(cache, 60 << 20);
	ck_assert_uint_lt(cache, 76 << 20);
	n = make_bursts(burst, 24 << 20, 500, 100);
	cache = probe_cache(burst, n);
	ck_assert_uint_gt(cache, 20 << 20);
	ck_assert_uint_lt(cache, 34 << 20);
	/* No knee: nothing is claimed. */
	n = make_bursts(burst, 1e12, 300, 20);
	ck_assert_uint_eq(probe_cache(burst, n), 0);
	n = make_bursts(burst, 1, 100, 99);
	ck_assert_uint_eq(probe_cache(burst, n), 0);
	ck_assert_uint_eq(probe_cache(burst, 0), 0);
	ck_assert_uint_eq(probe_cache(burst, 1), 0);
	/* One stall in the middle is no end of a cache. */
	n = make_bursts(burst, 1e12, 300, 20);
	burst[5].seconds += 0.5;
	burst[6].seconds += 0.5;
	burst[7].seconds += 0.5;
	burst[8].seconds += 0.5;
	burst[9].seconds += 0.5;
	ck_assert_uint_eq(probe_cache(burst, n), 0);
}
END_TEST

START_TEST(sizes)
{
	static const char *const bad[] = {
		"", "x", "-1", "0", "1X", "1MM", "1M1", "99999999999999T"
	};
	uint64_t bytes = 0;
	size_t i;

	ck_assert_int_eq(options_size("8192", &bytes), 0);
	ck_assert_uint_eq(bytes, 8192);
	ck_assert_int_eq(options_size("512M", &bytes), 0);
	ck_assert_uint_eq(bytes, 512ull << 20);
	ck_assert_int_eq(options_size("2GiB", &bytes), 0);
	ck_assert_uint_eq(bytes, 2ull << 30);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(options_size(bad[i], &bytes) == -EINVAL, "%s", bad[i]);
}
END_TEST

static int parse(struct options *options, const char *line)
{
	static char copy[256];
	char *argv[32] = { NULL }, *at = copy;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((argv[argc] = strsep(&at, " ")) && argc < 31)
		argc++;
	optind = 0;
	return options_parse(argc, argv, options);
}

START_TEST(arguments)
{
	static const char *const bad[] = {
		"wcbench",
		"wcbench a b",
		"wcbench --preset=none /x",
		"wcbench --workloads=nothing /x",
		"wcbench --workloads= /x",
		"wcbench --clients=0 /x",
		"wcbench --clients=17 /x",
		"wcbench --clients=1,,2 /x",
		"wcbench --pairs=0 /x",
		"wcbench --pairs=nan /x",
		"wcbench --window=-1 /x",
		"wcbench --size=1 /x",
		"wcbench --cache=off /x",
		"wcbench --nothing /x",
	};
	struct options *options = calloc(1, sizeof(*options));
	size_t i;

	ck_assert_int_eq(parse(options, "wcbench --preset=quick --seed=7 /x"), 0);
	ck_assert_str_eq(options->target, "/x");
	ck_assert_uint_eq(options->seed, 7);
	ck_assert_uint_eq(options->cases, 5);
	ck_assert_uint_eq(options->logs, 1);
	ck_assert_double_le(options->budget, 55);

	ck_assert_int_eq(parse(options, "wcbench --workloads=wal-fdatasync,seqr --clients=1,2,8 "
					"--window=0.2 --pairs=2 --size=3M /x"),
			 0);
	ck_assert_uint_eq(options->cases, 4);
	ck_assert_uint_eq(options->logs, 8);
	ck_assert_uint_eq(options->param[2], 8);
	ck_assert_uint_eq(options->pairs_most, 2);
	ck_assert_uint_eq(options->size, 3 << 20);
	ck_assert_double_le(options->interval * 5, options->window + 1e-9);

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(parse(options, bad[i]) == -EINVAL, "%s", bad[i]);
	free(options);
}
END_TEST

START_TEST(time_left)
{
	char text[32];

	progress_eta(30, 0.25, text, sizeof(text));
	ck_assert_str_eq(text, "01:30");
	progress_eta(3600, 0.5, text, sizeof(text));
	ck_assert_str_eq(text, "1:00:00");
	progress_eta(10, 0.001, text, sizeof(text));
	ck_assert_str_eq(text, "--:--");
}
END_TEST

SUITE("wcbench-facts", counters, iostat_figures, mounts, cache_size, sizes, arguments, time_left)
