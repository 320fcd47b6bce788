/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bottom: a disk, which hardware, real or virtual, stands behind. */
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

static bool matches(const struct wcache_node *n)
{
	return true;
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	char link[1024];

	n->is_drive =
		wc_host_link(s->ctx, link, sizeof(link), "/sys/class/block/%s/device", n->name) > 0;
	strcpy(n->type, n->is_drive ? "disk" : "virtual");
	if (!n->is_drive)
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "nothing is known of what is below it");
	return 0;
}

/* Its queue is where flushes end or go on to the drive: the rules of the drive judge that. */
static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	switch (n->write_cache) {
	case WCACHE_KERNEL_WRITE_BACK:
		wc_node_say(n, WCACHE_PASSES_YES, "queue/write_cache: write back");
		break;
	case WCACHE_KERNEL_WRITE_THROUGH:
		wc_node_say(n, WCACHE_PASSES_NO, "queue/write_cache: write through");
		break;
	case WCACHE_KERNEL_UNKNOWN:
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "queue/write_cache cannot be read");
	}
}

const struct wc_layer wc_layer_disk = { .matches = matches, .expand = expand, .judge = judge };
