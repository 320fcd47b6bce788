/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The setting comes back on every way out. A guardian process, forked before the first
 * change, waits for the end of a pipe whose other end only the benchmark holds: however that
 * dies, the guardian notices and restores. Should both be killed, or the power be cut, a state
 * file tells wcbench --restore, which is also run at boot, what was there before.
 */
#ifndef WCBENCH_GUARD_H
#define WCBENCH_GUARD_H

#include <stddef.h>

struct guard;
struct wcache_ctx;

/* Of the state files: on a medium that keeps them, as a drive may keep what was set. */
#define GUARD_DIRECTORY "/var/lib/wcbench"

/*
 * guard_start() - note the setting of each drive, write it down, and start the guardian
 * Call it before any thread is made.
 *
 * Return: 0; -EOPNOTSUPP where a drive has no setting that could be restored, -EUCLEAN where
 * an earlier run was killed and its setting is still to be restored, negative errno.
 */
int guard_start(struct guard **guard, struct wcache_ctx *ctx, char *const drives[], size_t n);

/* guard_check() - nonzero if the guardian is dead: then stop, and change nothing more */
int guard_check(struct guard *guard);

/*
 * guard_stop() - restore, read back, dismiss the guardian, remove the state file; frees @guard
 * Return: 0 when every drive is as it was; else the guardian tries once more, and the state
 * file stays where it fails too.
 */
int guard_stop(struct guard *guard);

/*
 * guard_restore_all() - for each state file that nobody is at work with: restore, remove it
 * @say: gets a line on each drive
 *
 * Return: 0 when nothing is left to restore; the first failure.
 */
int guard_restore_all(struct wcache_ctx *ctx, void (*say)(const char *line));

#endif
