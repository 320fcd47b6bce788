/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A partition: its disk's folder is the one that its own stands in. */
#include <stdio.h>
#include <string.h>

#include "stack.h"

/* ".../block/sda/sda1": the folder before the last */
static bool disk_of(const struct wcache_node *n, char *out, size_t size)
{
	const char *last = n->real ? strrchr(n->real, '/') : NULL;
	const char *p = last;

	if (!last || last == n->real)
		return false;
	while (p > n->real && p[-1] != '/')
		p--;
	if ((size_t)(last - p) >= size)
		return false;
	snprintf(out, size, "%.*s", (int)(last - p), p);
	return true;
}

/*
 * A whole disk stands in a folder "block", or for NVMe in its controller's: only a
 * partition stands in one whose name its own begins with (block/partitions/core.c).
 */
static bool matches(const struct wcache_node *n)
{
	char disk[256];
	size_t len;

	if (!disk_of(n, disk, sizeof(disk)) || strstr(disk, "nvme-subsys"))
		return false;
	len = strlen(disk);
	if (strncmp(n->name, disk, len))
		return false;
	if (n->name[len] == 'p')
		len++;
	return n->name[len] && strspn(n->name + len, "0123456789") == strlen(n->name + len);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	char disk[256] = "";

	strcpy(n->type, "partition");
	disk_of(n, disk, sizeof(disk));
	return wc_stack_add_below(s, n, disk);
}

static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	wc_node_say(n, WCACHE_PASSES_YES, "a part of its disk");
}

const struct wc_layer wc_layer_partition = {
	.matches = matches,
	.expand = expand,
	.judge = judge,
};
