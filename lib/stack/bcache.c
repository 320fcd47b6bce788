/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bcache: the disk that is cached, and those of its cache set. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

struct set {
	struct wcache_stack *s;
	struct wcache_node *n;
};

static bool matches(const struct wcache_node *n)
{
	return !n->mount && !strncmp(n->name, "bcache", 6) && isdigit((unsigned char)n->name[6]);
}

/* PATH is a link to a folder "bcache" in the folder of a block device: put that below. */
static int add_owner(const struct set *x, const char *path)
{
	char link[1024];
	char *slash, *owner;

	if (wc_host_link(x->s->ctx, link, sizeof(link), "%s", path) < 0)
		return -ENOENT;
	slash = strrchr(link, '/');
	if (!slash || strcmp(slash, "/bcache"))
		return -ENOENT;
	*slash = '\0';
	owner = strrchr(link, '/');
	return owner ? wc_stack_add_below(x->s, x->n, owner + 1) : -ENOENT;
}

static int add_cache(void *data, const char *entry)
{
	const struct set *x = data;
	char path[512];
	int err;

	if (strncmp(entry, "cache", 5) || !isdigit((unsigned char)entry[5]))
		return 0;
	snprintf(path, sizeof(path), "/sys/class/block/%s/bcache/cache/%s", x->n->name, entry);
	err = add_owner(x, path);
	return err == -ENOENT ? 0 : err;
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	struct set x = { s, n };
	char path[512];
	int err;

	strcpy(n->type, "bcache");
	snprintf(path, sizeof(path), "/sys/class/block/%s/bcache", n->name);
	err = add_owner(&x, path);
	if (err == -ENOENT)
		err = wc_stack_add_slaves(s, n);
	if (err < 0)
		return err;
	err = wc_host_list(s->ctx, add_cache, &x, "/sys/class/block/%s/bcache/cache", n->name);
	return err == -ENOMEM || err == -E2BIG ? err : 0;
}

const struct wc_layer wc_layer_bcache = { .matches = matches, .expand = expand };
