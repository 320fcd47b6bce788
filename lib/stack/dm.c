/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device mapper: LVM, LUKS, multipath and whatever else it maps. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

/* What stands before the dash of dm/uuid is who made it. */
static const struct {
	const char *prefix, *type;
} makers[] = {
	{ "CRYPT-VERITY-", "dm-verity" }, { "CRYPT-INTEGRITY-", "dm-integrity" },
	{ "CRYPT-", "dm-crypt" },	  { "LVM-", "lvm" },
	{ "mpath-", "dm-multipath" },	  { "DMRAID-", "dmraid" },
	{ "part", "dm-partition" },	  { "VDO-", "dm-vdo" },
};

static bool matches(const struct wcache_node *n)
{
	return !n->mount && !strncmp(n->name, "dm-", 3) && isdigit((unsigned char)n->name[3]);
}

bool wc_dm_is_luks(const char *uuid)
{
	return !strncmp(uuid, "CRYPT-LUKS", 10);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	char v[160];

	strcpy(n->type, "dm");
	if (wc_host_read(s->ctx, v, sizeof(v), "/sys/class/block/%s/dm/uuid", n->name) > 0) {
		n->is_luks = wc_dm_is_luks(v);
		for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
			if (!strncmp(v, makers[i].prefix, strlen(makers[i].prefix))) {
				strcpy(n->type, makers[i].type);
				break;
			}
	}
	if (wc_host_read(s->ctx, v, sizeof(v), "/sys/class/block/%s/dm/name", n->name) > 0) {
		n->label = strdup(v);
		if (!n->label)
			return -ENOMEM;
	}
	return wc_stack_add_slaves(s, n);
}

const struct wc_layer wc_layer_dm = { .matches = matches, .expand = expand };
