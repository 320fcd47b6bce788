/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File systems whose devices cannot be listed from here: on a network, in user space, ZFS. */
#include <stdio.h>
#include <string.h>

#include "stack.h"

static const struct {
	const char *type, *reason;
} kinds[] = {
	{ "nfs", "a server on the network decides" },
	{ "nfs4", "a server on the network decides" },
	{ "cifs", "a server on the network decides" },
	{ "smb3", "a server on the network decides" },
	{ "ceph", "a server on the network decides" },
	{ "afs", "a server on the network decides" },
	{ "lustre", "a server on the network decides" },
	{ "9p", "a server decides, a hypervisor's host or one on the network" },
	{ "virtiofs", "the hypervisor's host decides" },
	{ "zfs", "the devices of its pool cannot be listed (zpool status does)" },
	{ "fuse", "a program in user space decides" },
};

static const char *find(const struct wc_mount *m)
{
	/* fuse.sshfs and its like; fuseblk has a device */
	bool fuse = m && !strncmp(m->type, "fuse.", 5);

	for (size_t i = 0; m && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(m->type, kinds[i].type) || (fuse && !strcmp("fuse", kinds[i].type)))
			return kinds[i].reason;
	return NULL;
}

static bool matches(const struct wcache_node *n)
{
	return find(n->mount);
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	snprintf(n->type, sizeof(n->type), "%s", n->mount->type);
	wc_node_say(n, WCACHE_PASSES_UNKNOWN, "%s", find(n->mount));
	return 0;
}

const struct wc_layer wc_layer_remote = { .matches = matches, .expand = expand };
