/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nbd and rbd: a server decides. */
#include <ctype.h>
#include <string.h>

#include "stack.h"

static bool matches(const struct wcache_node *n)
{
	return !n->mount && (!strncmp(n->name, "nbd", 3) || !strncmp(n->name, "rbd", 3)) &&
	       isdigit((unsigned char)n->name[3]);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	memcpy(n->type, n->name, 3);
	wc_node_say(n, WCACHE_PASSES_UNKNOWN, "a server on the network decides");
	return 0;
}

const struct wc_layer wc_layer_nbd = { .matches = matches, .expand = expand };
