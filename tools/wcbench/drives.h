/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drives below the target, and their setting: through the library only.
 */
#ifndef WCBENCH_DRIVES_H
#define WCBENCH_DRIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <wcache.h>

struct report;

struct drives {
	struct wcache_ctx *ctx;
	size_t n;
	char **name; /* kernel names */
	struct wcache_device **device; /* NULL where it cannot be opened */
};

/* What all drives have in common; UNKNOWN where they differ. */
struct drives_state {
	enum wcache_cache cache;
	enum wcache_kernel kernel;
	enum wcache_answer fua, nonvolatile;
	char why[240]; /* the cache is unknown */
};

/*
 * drives_open() - find and open what is below @path
 * @control: the setting will be changed
 * @report: gets what is known of the drives
 *
 * Return: 0, also where there are none; negative errno with @why.
 */
int drives_open(struct drives *drives, const char *path, bool control, struct report *report,
		char *why, size_t why_size);
void drives_close(struct drives *drives);

void drives_read(struct drives *drives, struct drives_state *state);

/*
 * drives_set() - on or off, one after another, never saved in the drive
 * Return: 0 when all were read back as asked; negative errno with @why.
 */
int drives_set(struct drives *drives, bool on, char *why, size_t why_size);

/*
 * drives_wear() - bytes that the host wrote and that went to the medium, of all drives
 * Return: 0; -EOPNOTSUPP with @why where one of them does not count both; negative errno.
 */
int drives_wear(struct drives *drives, double *host, double *media, double *step, char *why,
		size_t why_size);

/*
 * drives_can_set() - would all of them take a change; nothing is sent but queries
 * Return: 0; -EOPNOTSUPP with @why where one is ruled by another or has nothing to turn off.
 */
int drives_can_set(struct drives *drives, char *why, size_t why_size);

/* drives_flush() - empty their caches. Return: 0, -EPERM without the rights, negative errno. */
int drives_flush(struct drives *drives);

#endif
