/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bcachefs: its mount names all its devices, with colons between. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "filesystem.h"

static bool matches(const struct wcache_node *n)
{
	return n->mount && !strcmp(n->mount->type, "bcachefs");
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	char path[PATH_MAX], name[NAME_MAX + 1];
	int err;

	strcpy(n->type, "bcachefs");
	for (const char *p = n->mount->source; *p;) {
		size_t len = strcspn(p, ":");

		snprintf(path, sizeof(path), "%.*s", (int)len, p);
		p += len;
		p += *p == ':';
		if (wc_stack_device_of(s, path, name, sizeof(name)) < 0) {
			wc_node_say(n, WCACHE_PASSES_UNKNOWN, "%.100s cannot be found", path);
			continue;
		}
		err = wc_stack_add_below(s, n, name);
		if (err < 0)
			return err;
	}
	return 0;
}

static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	char v[8];

	/* fs/bcachefs/opts.h journal_flush_disabled */
	if (!wc_mount_option(n->mount, "journal_flush_disabled", v, sizeof(v)))
		wc_node_say(n, WCACHE_PASSES_NO, "mounted with journal_flush_disabled");
	else
		wc_filesystem_judge(s, n);
}

const struct wc_layer wc_layer_bcachefs = {
	.matches = matches,
	.expand = expand,
	.judge = judge,
};
