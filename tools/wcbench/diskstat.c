/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diskstat.h"

/* Linux 4.18 added the discards, 5.5 the flushes. */
enum {
	COLUMNS_OLD = 11,
	COLUMNS_FLUSH = 17
};

int diskstat_parse(const char *text, struct diskstat *stat)
{
	unsigned long long v[COLUMNS_FLUSH] = { 0 };
	char *end;
	int n;

	for (n = 0; n < COLUMNS_FLUSH; n++) {
		text += strspn(text, " ");
		if (*text < '0' || *text > '9')
			break;
		v[n] = strtoull(text, &end, 10);
		text = end;
	}
	if (n < COLUMNS_OLD)
		return -EBADMSG;
	*stat = (struct diskstat){
		.reads = v[0],
		.read_merges = v[1],
		.read_sectors = v[2],
		.read_ms = v[3],
		.writes = v[4],
		.write_merges = v[5],
		.write_sectors = v[6],
		.write_ms = v[7],
		.busy_ms = v[9],
		.weighted_ms = v[10],
		.flushes = v[15],
		.flush_ms = v[16],
		.flushes_counted = n >= COLUMNS_FLUSH,
	};
	return 0;
}

/* One drive at a time: /proc/diskstats costs time for each disk and partition that there is. */
static int read_drive(const char *name, struct diskstat *stat)
{
	char path[PATH_MAX], text[512];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "/sys/block/%s/stat", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ENODEV : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	return diskstat_parse(text, stat);
}

void diskstat_add(struct diskstat *sum, const struct diskstat *more)
{
	sum->reads += more->reads;
	sum->read_merges += more->read_merges;
	sum->read_sectors += more->read_sectors;
	sum->read_ms += more->read_ms;
	sum->writes += more->writes;
	sum->write_merges += more->write_merges;
	sum->write_sectors += more->write_sectors;
	sum->write_ms += more->write_ms;
	sum->busy_ms += more->busy_ms;
	sum->weighted_ms += more->weighted_ms;
	sum->flushes += more->flushes;
	sum->flush_ms += more->flush_ms;
	sum->flushes_counted = sum->flushes_counted && more->flushes_counted;
}

int diskstat_read(char *const name[], size_t n, struct diskstat *sum)
{
	struct diskstat total = { .flushes_counted = n > 0 }, one;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		r = read_drive(name[i], &one);
		if (r < 0)
			return r;
		diskstat_add(&total, &one);
	}
	*sum = total;
	return 0;
}

struct diskstat diskstat_since(const struct diskstat *now, const struct diskstat *before)
{
	return (struct diskstat){
		.reads = now->reads - before->reads,
		.read_merges = now->read_merges - before->read_merges,
		.read_sectors = now->read_sectors - before->read_sectors,
		.read_ms = now->read_ms - before->read_ms,
		.writes = now->writes - before->writes,
		.write_merges = now->write_merges - before->write_merges,
		.write_sectors = now->write_sectors - before->write_sectors,
		.write_ms = now->write_ms - before->write_ms,
		.busy_ms = now->busy_ms - before->busy_ms,
		.weighted_ms = now->weighted_ms - before->weighted_ms,
		.flushes = now->flushes - before->flushes,
		.flush_ms = now->flush_ms - before->flush_ms,
		.flushes_counted = now->flushes_counted && before->flushes_counted,
	};
}

static double per(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

struct iostat diskstat_iostat(const struct diskstat *delta, double seconds, size_t drives)
{
	struct iostat io = {
		.r_await = per(delta->read_ms, delta->reads),
		.w_await = per(delta->write_ms, delta->writes),
		.wareq_kb = per(delta->write_sectors, delta->writes) / 2,
		.f_await = per(delta->flush_ms, delta->flushes),
	};

	if (seconds <= 0 || drives == 0)
		return io;
	io.r = (double)delta->reads / seconds;
	io.rkb = (double)delta->read_sectors / 2 / seconds;
	io.w = (double)delta->writes / seconds;
	io.wkb = (double)delta->write_sectors / 2 / seconds;
	io.wrqm = (double)delta->write_merges / seconds;
	io.f = (double)delta->flushes / seconds;
	io.aqu = (double)delta->weighted_ms / 1000 / seconds;
	io.util = (double)delta->busy_ms / 10 / seconds / (double)drives;
	if (io.util > 100)
		io.util = 100;
	return io;
}

uint64_t diskstat_data_writes(const struct diskstat *delta)
{
	return delta->writes > delta->flushes ? delta->writes - delta->flushes : 0;
}
