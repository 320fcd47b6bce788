/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What drives were set to, in a file that outlives the benchmark, its guardian and a power cut.
 */
#ifndef WCBENCH_GUARD_STATE_H
#define WCBENCH_GUARD_STATE_H

#include <stdbool.h>

#include "original.h"

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
