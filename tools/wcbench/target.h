/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is written to. In a directory, or beside a file, that is a file of our own which has
 * no name from the start: whatever ends the program, nothing is left behind. A device, or
 * with the same permission a file, is overwritten itself.
 */
#ifndef WCBENCH_TARGET_H
#define WCBENCH_TARGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind {
	TARGET_OWN_FILE = 1,
	TARGET_FILE = 2,
	TARGET_DEVICE = 3
};

/* Region of a file or device, open in each of the ways that a workload asks for. */
struct region {
	int fd; /* through the page cache */
	int fd_direct; /* O_DIRECT, or -1 */
	int fd_dsync; /* O_DIRECT | O_DSYNC, or -1 */
	uint64_t start, length;
};

#define TARGET_LOGS 16

struct target {
	enum target_kind kind;
	char path[4096]; /* as asked */
	dev_t dev; /* block device that it is, or that its file system has; 0:x if there is none */
	char mount[4096], fs[64], options[1024], source[256];
	bool barriers_off; /* mounted so that flushes are dropped */
	bool direct; /* O_DIRECT works, with blocks of align */
	size_t align;
	struct region data;
	struct region log[TARGET_LOGS]; /* one for each client that writes its own */
	size_t logs;
	double rate; /* bytes a second at which it was filled, flushes included */
	int holder; /* a device, open exclusively */
};

/* What the target needs. */
struct target_want {
	uint64_t size; /* of the data region */
	uint64_t log_size; /* of each log */
	size_t logs;
	bool destroy; /* the path itself is overwritten */
};

/*
 * target_open() - check what can be checked without writing, and open
 * @why: a sentence about a refusal
 *
 * Return: 0; -EPERM a device without want->destroy, -EBUSY in use, -EROFS, -ENOSPC,
 * -EOPNOTSUPP memory or network, -ENOTTY neither directory, file nor block device,
 * or what open(2) says. Close with target_close().
 */
int target_open(const char *path, const struct target_want *want, struct target *target, char *why,
		size_t why_size);

/*
 * target_fill() - write all of it once, so that no allocation is measured later
 * @budget: nanoseconds after which the regions are what was reached
 *
 * Return: 0, -ECANCELED, -ENOSPC, or what a call failed with.
 */
int target_fill(struct target *target, uint64_t budget, uint64_t seed, const atomic_bool *cancel,
		void (*progress)(void *userdata, uint64_t done, uint64_t all), void *userdata);

/* target_sync() - everything written so far is on the drives. Return: 0 or negative errno. */
int target_sync(struct target *target);

/* target_drop_cache() - and none of it is in the page cache any more */
void target_drop_cache(struct target *target);

void target_close(struct target *target);

/*
 * target_parse_mount() - fill in mount, fs, options, source and barriers_off
 * @mountinfo: the text of /proc/self/mountinfo
 * Return: 0, -ENOENT where mount @id is not in it.
 */
int target_parse_mount(const char *mountinfo, unsigned long long id, struct target *target);

#endif
