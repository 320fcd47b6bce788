/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel counts per drive (Documentation/block/stat.rst): only of whole
 * disks is the number of flushes kept, and only since Linux 5.5.
 */
#ifndef WCBENCH_DISKSTAT_H
#define WCBENCH_DISKSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diskstat {
	uint64_t reads, read_merges, read_sectors, read_ms;
	uint64_t writes, write_merges, write_sectors, write_ms;
	uint64_t busy_ms, weighted_ms;
	uint64_t flushes, flush_ms;
	bool flushes_counted;
};

/*
 * diskstat_parse() - the text of /sys/block/NAME/stat
 * Return: 0, -EBADMSG where it is too short.
 */
int diskstat_parse(const char *text, struct diskstat *stat);

/* diskstat_read() - the sum of drives. Return: 0, -ENODEV, -EBADMSG, errno of open and read. */
int diskstat_read(char *const name[], size_t n, struct diskstat *sum);

/* diskstat_add() - add to a sum; flushes count where all drives count them */
void diskstat_add(struct diskstat *sum, const struct diskstat *more);

/* diskstat_since() - what happened between two readings */
struct diskstat diskstat_since(const struct diskstat *now, const struct diskstat *before);

/*
 * An interval as iostat -x shows it. The kernel books an empty flush as a write too, so that
 * w/s and areq-sz of iostat mislead beside fsync; here they are as iostat has them, and
 * diskstat_data_writes() is what is left without.
 */
struct iostat {
	double r, rkb, r_await, w, wkb, wrqm, w_await, wareq_kb, f, f_await, aqu, util;
};

struct iostat diskstat_iostat(const struct diskstat *delta, double seconds, size_t drives);
uint64_t diskstat_data_writes(const struct diskstat *delta);

#endif
