/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk upwards, from a drive to the layers that hold it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filesystem.h"
#include "transport/sysfs.h"

#define MAX_ABOVE 1024

struct above {
	struct wcache_ctx *ctx;
	const char *at;
	size_t n;
	char name[MAX_ABOVE][64];
};

static int add(void *data, const char *name)
{
	struct above *a = data;

	for (size_t i = 0; i < a->n; i++)
		if (!strcmp(a->name[i], name))
			return 0;
	if (a->n == MAX_ABOVE || strlen(name) >= sizeof(a->name[0]))
		return -E2BIG;
	strcpy(a->name[a->n++], name);
	return 0;
}

/* A disk's partitions are folders in its own that begin with its name. */
static int add_partition(void *data, const char *name)
{
	struct above *a = data;
	char v[8];

	if (strncmp(name, a->at, strlen(a->at)) ||
	    wc_host_read(a->ctx, v, sizeof(v), "/sys/class/block/%s/%s/partition", a->at, name) < 0)
		return 0;
	return add(a, name);
}

static bool attr_is(struct above *a, const char *name, const char *attr, const char *value)
{
	char v[32];

	return wc_host_read(a->ctx, v, sizeof(v), "/sys/class/block/%s/%s", name, attr) > 0 &&
	       !strcmp(v, value);
}

static bool drops(struct above *a, const char *name)
{
	return !strncmp(name, "dm-", 3) && attr_is(a, name, "queue/write_cache", "write through") &&
	       !attr_is(a, name, "ro", "1");
}

static int first_entry(void *data, const char *name)
{
	snprintf(data, 64, "%s", name);
	return 1;
}

/*
 * A table looks at the drive when it is loaded: the kernel must send flushes to it before,
 * so as wc_kernel_force_flushes() has it do.
 */
static void flushes_first(struct above *a, char *out, size_t size)
{
	const char *drive = a->name[0];
	char lun[64];

	if (!attr_is(a, drive, "queue/write_cache", "write through"))
		snprintf(out, size, "%s", "");
	else if (wc_host_list(a->ctx, first_entry, lun, "/sys/class/block/%s/device/scsi_disk",
			      drive) == 1)
		snprintf(out, size,
			 "echo temporary write back >/sys/class/scsi_disk/%s/cache_type && ", lun);
	else
		snprintf(out, size, "echo write back >/sys/class/block/%s/queue/write_cache && ",
			 drive);
}

static int find_dm(struct above *a, char *layer, size_t layer_size, char *remedy,
		   size_t remedy_size)
{
	char label[160], uuid[160];
	size_t n;

	for (size_t i = 1; i < a->n; i++) {
		if (!drops(a, a->name[i]))
			continue;
		if (wc_host_read(a->ctx, label, sizeof(label), "/sys/class/block/%s/dm/name",
				 a->name[i]) <= 0)
			snprintf(label, sizeof(label), "%s", a->name[i]);
		if (wc_host_read(a->ctx, uuid, sizeof(uuid), "/sys/class/block/%s/dm/uuid",
				 a->name[i]) < 0)
			*uuid = '\0';
		snprintf(layer, layer_size, "%s (%s)", a->name[i], label);
		flushes_first(a, remedy, remedy_size);
		n = strlen(remedy);
		wc_stack_dm_remedy(label, wc_dm_is_luks(uuid), remedy + n, remedy_size - n);
		return 1;
	}
	return 0;
}

static bool is_above(struct above *a, const struct wcache_stack *s, const struct wcache_node *n)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < n->n_lower; k++)
			if (!strcmp(a->name[i], n->lower[k]->name))
				return true;
	return false;
}

/* A mount without barriers on any of them: all are looked at, since btrfs names but one. */
static int find_mount(struct above *a, char *layer, size_t layer_size, char *remedy,
		      size_t remedy_size)
{
	struct wcache_stack *s;
	int err = wc_stack_alloc(a->ctx, &s);

	if (err < 0)
		return err;
	err = wc_mounts_read(s);
	for (size_t i = 0; !err && i < s->n_mounts; i++) {
		struct wcache_node probe = { .mount = &s->mounts[i] };
		struct wcache_node *n;

		wc_filesystem_judge(s, &probe);
		if (probe.flush == WCACHE_PASSES_NO)
			err = wc_stack_filesystem(s, &s->mounts[i], &n);
	}
	if (!err)
		err = wc_stack_walk(s);
	for (size_t i = 0; !err && i < s->n_nodes; i++) {
		const struct wcache_node *n = s->nodes[i];

		if (n->mount && n->flush == WCACHE_PASSES_NO && !n->in_memory &&
		    is_above(a, s, n)) {
			snprintf(layer, layer_size, "%s (%s)", n->name, n->reason);
			wc_filesystem_remedy(n->mount, remedy, remedy_size);
			err = 1;
		}
	}
	wcache_stack_free(s);
	return err;
}

int wc_stack_drops_above(struct wcache_ctx *ctx, const char *name, char *layer, size_t layer_size,
			 char *remedy, size_t remedy_size)
{
	struct above *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	a->ctx = ctx;
	err = add(a, name);
	for (size_t i = 0; !err && i < a->n; i++) {
		a->at = a->name[i];
		err = wc_host_list(ctx, add_partition, a, "/sys/class/block/%s", a->at);
		if (!err || err == -ENOENT)
			err = wc_host_list(ctx, add, a, "/sys/class/block/%s/holders", a->at);
		if (err == -ENOENT)
			err = 0; /* it went away */
	}
	if (!err)
		err = find_dm(a, layer, layer_size, remedy, remedy_size);
	if (!err)
		err = find_mount(a, layer, layer_size, remedy, remedy_size);
	free(a);
	return err;
}
