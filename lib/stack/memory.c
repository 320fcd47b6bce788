/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File systems that live in memory: nothing in them survives the power. */
#include <string.h>

#include "stack.h"

static bool matches(const struct wcache_node *n)
{
	return n->mount &&
	       (!strcmp(n->mount->type, "tmpfs") || !strcmp(n->mount->type, "ramfs") ||
		!strcmp(n->mount->type, "devtmpfs") || !strcmp(n->mount->type, "rootfs"));
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	strncpy(n->type, n->mount->type, sizeof(n->type) - 1);
	n->in_memory = true;
	wc_node_say(n, WCACHE_PASSES_NO, "%s is not on a drive", n->type);
	return 0;
}

const struct wc_layer wc_layer_memory = { .matches = matches, .expand = expand };
