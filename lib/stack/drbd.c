/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DRBD: a disk here, and a copy on another machine. */
#include <ctype.h>
#include <string.h>

#include "stack.h"

static bool matches(const struct wcache_node *n)
{
	return !n->mount && !strncmp(n->name, "drbd", 4) && isdigit((unsigned char)n->name[4]);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	strcpy(n->type, "drbd");
	return wc_stack_add_slaves(s, n);
}

static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	wc_node_say(n, WCACHE_PASSES_UNKNOWN,
		    "its disk-flushes option decides (drbdsetup show tells)");
}

const struct wc_layer wc_layer_drbd = { .matches = matches, .expand = expand, .judge = judge };
