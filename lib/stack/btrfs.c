/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* btrfs: over any number of devices, which stand in its folder in /sys/fs/btrfs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "filesystem.h"
#include "transport/sysfs.h"

struct search {
	struct wcache_stack *s;
	struct wcache_node *n;
	char device[NAME_MAX + 1]; /* one of them, as the mount names it */
	char uuid[64];
};

static bool matches(const struct wcache_node *n)
{
	return n->mount && !strcmp(n->mount->type, "btrfs");
}

static int look_in(void *data, const char *uuid)
{
	struct search *x = data;
	char link[1024];

	if (wc_host_link(x->s->ctx, link, sizeof(link), "/sys/fs/btrfs/%s/devices/%s", uuid,
			 x->device) < 0)
		return 0;
	snprintf(x->uuid, sizeof(x->uuid), "%s", uuid);
	return 1;
}

static int add_device(void *data, const char *name)
{
	struct search *x = data;

	return wc_stack_add_below(x->s, x->n, name);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	struct search x = { .s = s, .n = n };
	int err;

	strcpy(n->type, "btrfs");
	if (wc_stack_device_of(s, n->mount->source, x.device, sizeof(x.device)) < 0) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its devices cannot be listed");
		return 0;
	}
	if (wc_host_list(s->ctx, look_in, &x, "/sys/fs/btrfs") == 1) {
		err = wc_host_list(s->ctx, add_device, &x, "/sys/fs/btrfs/%s/devices", x.uuid);
		return err == -ENOMEM || err == -E2BIG ? err : 0;
	}
	wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its other devices cannot be listed");
	return wc_stack_add_below(s, n, x.device);
}

const struct wc_layer wc_layer_btrfs = {
	.matches = matches,
	.expand = expand,
	.judge = wc_filesystem_judge,
};
