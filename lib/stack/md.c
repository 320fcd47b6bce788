/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* md: Linux software RAID, and the arrays of IMSM and DDF that it runs. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

static bool matches(const struct wcache_node *n)
{
	return !n->mount && !strncmp(n->name, "md", 2) &&
	       (isdigit((unsigned char)n->name[2]) || n->name[2] == '_');
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	char level[24];

	strcpy(n->type, "md");
	if (wc_host_read(s->ctx, level, sizeof(level), "/sys/class/block/%s/md/level", n->name) > 0)
		snprintf(n->type, sizeof(n->type), "md-%s", level);
	return wc_stack_add_slaves(s, n);
}

const struct wc_layer wc_layer_md = { .matches = matches, .expand = expand };
