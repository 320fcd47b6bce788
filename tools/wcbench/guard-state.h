/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the drives were set to before the first change, in a file that outlives the benchmark,
 * its guardian and a power cut; and how a drive is found again by it and set back. A drive is
 * known by its world wide name and serial number: its kernel name is good for one boot.
 */
#ifndef WCBENCH_GUARD_STATE_H
#define WCBENCH_GUARD_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct wcache_ctx;

struct original {
	char name[64]; /* in the boot that wrote it down */
	char wwn[128]; /* "-" where it has none */
	char serial[128]; /* the same */
	bool on;
};

struct originals {
	char boot[40]; /* its id */
	struct original *drive;
	size_t n;
};

/*
 * originals_read() - note the setting of drives
 * Return: 0; -EOPNOTSUPP where one has no setting that could be restored, negative errno. Free
 * with originals_free() either way.
 */
int originals_read(struct originals *originals, struct wcache_ctx *ctx, char *const names[],
		   size_t n);
void originals_free(struct originals *originals);

/*
 * originals_restore() - set every drive back and read it back
 * All are tried, whatever becomes of one. Return: 0, the first failure.
 */
int originals_restore(const struct originals *originals, struct wcache_ctx *ctx);

/*
 * state_write() - a state file in @directory, which is made
 * @path: becomes its path, to be freed
 * @fd: becomes a descriptor that holds its lock; who has none of its copies is not at work
 *
 * Return: 0 when it is on the medium, its name too; negative errno, and there is none.
 */
int state_write(const char *directory, const struct originals *originals, char **path, int *fd);

/* state_remove() - for good: it does not come back with a power cut */
int state_remove(const char *path);

/* state_is_left() - is one of these drives in a file that nobody is at work with */
bool state_is_left(const char *directory, const struct originals *originals);

/*
 * state_restore_all() - for each state file that nobody is at work with: restore, remove it
 * @say: gets a line on each drive, and on each file that stays
 *
 * What cannot be restored, as a drive that is not there, stays in its file. Return: 0 when
 * nothing is left, the first failure.
 */
int state_restore_all(const char *directory, struct wcache_ctx *ctx, void (*say)(const char *line));

#endif
