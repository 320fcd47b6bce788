/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* overlay: what is written goes to the upper directory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "stack.h"

static bool matches(const struct wcache_node *n)
{
	return n->mount && !strcmp(n->mount->type, "overlay");
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	struct wcache_node *below;
	const struct wc_mount *m;
	char upper[PATH_MAX];
	int err;

	strcpy(n->type, "overlay");
	if (wc_mount_option(n->mount, "upperdir", upper, sizeof(upper)) < 0) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "it has no upper directory");
		return 0;
	}
	m = *upper == '/' ? wc_mount_of(s, upper) : NULL;
	/* One that was mounted before, elsewhere, may be out of sight. */
	if (!m || (m->major == n->mount->major && m->minor == n->mount->minor)) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its upper directory cannot be found");
		return 0;
	}
	err = wc_stack_filesystem(s, m, &below);
	return err < 0 ? err : wc_stack_link(s, n, below);
}

/* Documentation/filesystems/overlayfs.rst, "Volatile mount": no form of sync reaches below. */
static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	char v[8];

	if (!wc_mount_option(n->mount, "volatile", v, sizeof(v)))
		wc_node_say(n, WCACHE_PASSES_NO, "mounted with volatile");
	else
		wc_node_say(n, WCACHE_PASSES_YES, "hands fsync to its upper directory");
}

const struct wc_layer wc_layer_overlay = {
	.matches = matches,
	.expand = expand,
	.judge = judge,
};
