/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a TARGET stands for: a drive, or all drives below a path. */
#ifndef TARGET_H
#define TARGET_H

#include <wcache.h>

#include "tool.h"

struct target {
	const char *name; /* as it was given */
	struct wcache_stack *stack; /* of what lies above drives; NULL: a drive by itself */
	int err; /* what is wrong with it, and in words */
	char why[512];
};

/* Find out what each of N names stands for. Free with targets_free(). */
struct target *targets_new(struct wcache_ctx *ctx, const struct tool_options *options,
			   const char *const names[], size_t n);
/* One of each drive; their names are those of DRIVES. Free with targets_free(). */
struct target *targets_of(const struct wcache_drives *drives);
void targets_free(struct target *targets, size_t n);

/* How many drives that is, 0 for one that is wrong, and the name by which each is opened. */
size_t target_count(const struct target *target);
const char *target_drive(const struct target *target, size_t index);

/* A target below which there is no drive is wrong, where something is to be done to drives. */
void target_want_drives(struct target *target);

#endif
