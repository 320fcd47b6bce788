/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the names on a command line to drives. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

static bool is_one_drive(const struct wcache_stack *stack)
{
	const struct wcache_node *top = wcache_stack_get_top(stack, 0);

	return wcache_stack_get_node_count(stack) == 1 && top &&
	       !strcmp(wcache_node_get_type(top), "disk");
}

/* A loop device without a file is a node without a device. */
static bool is_nothing(const struct wcache_stack *stack)
{
	const struct wcache_node *top = wcache_stack_get_top(stack, 0);

	return top && !strcmp(wcache_node_get_type(top), "loop") &&
	       !wcache_node_get_lower_count(top);
}

static void find(struct target *t, struct wcache_ctx *ctx)
{
	t->err = wcache_stack_new(ctx, t->name, &t->stack);
	if (t->err < 0) {
		t->stack = NULL;
		snprintf(t->why, sizeof(t->why), "%s", wcache_ctx_get_error(ctx));
	} else if (is_one_drive(t->stack)) {
		wcache_stack_free(t->stack);
		t->stack = NULL;
	} else if (is_nothing(t->stack)) {
		target_want_drives(t);
	}
}

static struct target *targets_alloc(size_t n)
{
	struct target *targets = calloc(n ? n : 1, sizeof(*targets));

	if (!targets)
		abort();
	return targets;
}

struct target *targets_of(const struct wcache_drives *drives)
{
	size_t n = wcache_drives_get_count(drives);
	struct target *targets = targets_alloc(n);

	for (size_t i = 0; i < n; i++)
		targets[i].name = wcache_drives_get_name(drives, i);
	return targets;
}

struct target *targets_new(struct wcache_ctx *ctx, const struct tool_options *options,
			   const char *const names[], size_t n)
{
	struct target *targets = targets_alloc(n);

	for (size_t i = 0; i < n; i++) {
		targets[i].name = names[i];
		/* The layers of another machine are not in its recording. */
		if (!options->replay && strncmp(names[i], "megaraid:", 9))
			find(&targets[i], ctx);
	}
	return targets;
}

void targets_free(struct target *targets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wcache_stack_free(targets[i].stack);
	free(targets);
}

size_t target_count(const struct target *t)
{
	if (t->err)
		return 0;
	return t->stack ? wcache_stack_get_drive_count(t->stack) : 1;
}

const char *target_drive(const struct target *t, size_t index)
{
	return t->stack ? wcache_stack_get_drive(t->stack, index) : t->name;
}

void target_want_drives(struct target *t)
{
	const struct wcache_node *last;

	if (t->err || target_count(t))
		return;
	t->err = -ENOTBLK;
	last = wcache_stack_get_node(t->stack, wcache_stack_get_node_count(t->stack) - 1);
	snprintf(t->why, sizeof(t->why), "no drive can be found below it: %s (%s): %s",
		 wcache_node_get_name(last), wcache_node_get_type(last),
		 wcache_node_get_reason(last));
}
