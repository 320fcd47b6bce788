/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diskstat.h"

/* Columns after the name; 4.18 added the discards, 5.5 the flushes. */
enum {
	COLUMNS_OLD = 11,
	COLUMNS_FLUSH = 17
};

int diskstat_parse(const char *text, const char *name, struct diskstat *stat)
{
	const char *line, *end;

	for (line = text; *line; line = *end ? end + 1 : end) {
		unsigned long long v[COLUMNS_FLUSH] = { 0 };
		char have[64];
		int at = 0, n = 0;

		end = strchrnul(line, '\n');
		if (sscanf(line, " %*u %*u %63s%n", have, &at) != 1 || strcmp(have, name) != 0)
			continue;
		while (n < COLUMNS_FLUSH) {
			const char *from = line + at;
			char *to;

			while (*from == ' ')
				from++;
			if (*from < '0' || *from > '9')
				break;
			v[n++] = strtoull(from, &to, 10);
			at = (int)(to - line);
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
	return -ENODEV;
}

static int read_text(const char *path, char **text)
{
	size_t size = 0, room = 0;
	char *data = NULL, *more;
	ssize_t n = 0;
	int fd, r = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		size += (size_t)n;
		if (size + 1 >= room) {
			room = room ? 2 * room : 16384;
			more = realloc(data, room);
			if (!more) {
				r = -ENOMEM;
				break;
			}
			data = more;
		}
		n = read(fd, data + size, room - size - 1);
	} while (n > 0);
	if (n < 0)
		r = -errno;
	close(fd);
	if (r < 0) {
		free(data);
		return r;
	}
	data[size] = '\0';
	*text = data;
	return 0;
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
	char *text = NULL;
	size_t i;
	int r;

	r = read_text("/proc/diskstats", &text);
	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < n; i++) {
		r = diskstat_parse(text, name[i], &one);
		if (r == 0)
			diskstat_add(&total, &one);
	}
	free(text);
	if (r == 0)
		*sum = total;
	return r;
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
