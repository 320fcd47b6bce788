/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loop: a file, and what that lies on. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

static bool matches(const struct wcache_node *n)
{
	return !n->mount && !strncmp(n->name, "loop", 4) && isdigit((unsigned char)n->name[4]);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	static const char deleted[] = " (deleted)";
	char file[PATH_MAX], name[NAME_MAX + 1];
	const struct wc_mount *m;
	struct wcache_node *below;
	ssize_t len;
	int err;

	strcpy(n->type, "loop");
	len = wc_host_read(s->ctx, file, sizeof(file), "/sys/class/block/%s/loop/backing_file",
			   n->name);
	if (len <= 0 || *file != '/') {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "it has no backing file");
		return 0;
	}
	if (!wc_stack_device_of(s, file, name, sizeof(name)))
		return wc_stack_add_below(s, n, name);
	if (len > (ssize_t)sizeof(deleted) && !strcmp(file + len - sizeof(deleted) + 1, deleted))
		file[len - sizeof(deleted) + 1] = '\0';
	/* By the name of its folder's mount: the file itself may be gone. */
	m = wc_mount_of(s, file);
	if (!m) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its backing file cannot be found");
		return 0;
	}
	err = wc_stack_filesystem(s, m, &below);
	return err < 0 ? err : wc_stack_link(s, n, below);
}

const struct wc_layer wc_layer_loop = { .matches = matches, .expand = expand };
