/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* zram and RAM disks: nothing in them survives the power. */
#include <ctype.h>
#include <string.h>

#include "stack.h"

static bool matches(const struct wcache_node *n)
{
	return !n->mount && ((!strncmp(n->name, "zram", 4) && isdigit((unsigned char)n->name[4])) ||
			     (!strncmp(n->name, "ram", 3) && isdigit((unsigned char)n->name[3])));
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	strcpy(n->type, *n->name == 'z' ? "zram" : "ram");
	n->in_memory = true;
	wc_node_say(n, WCACHE_PASSES_NO, "%s is not on a drive", n->type);
	return 0;
}

const struct wc_layer wc_layer_zram = { .matches = matches, .expand = expand };
