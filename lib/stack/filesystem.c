/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file system on a block device of its own, and perhaps a second one for its journal. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filesystem.h"
#include "transport/sysfs.h"

#define CUT_COMM 15 /* TASK_COMM_LEN less its NUL */

static bool matches(const struct wcache_node *n)
{
	return n->mount;
}

/* XFS names its other devices among the mount options. */
static int add_option_device(struct wcache_stack *s, struct wcache_node *n, const char *key)
{
	char path[PATH_MAX], name[NAME_MAX + 1];

	if (wc_mount_option(n->mount, key, path, sizeof(path)) < 0)
		return 0;
	if (wc_stack_device_of(s, path, name, sizeof(name)) < 0) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its %s %.100s cannot be found", key, path);
		return 0;
	}
	return wc_stack_add_below(s, n, name);
}

/*
 * ext4 tells its journal's device only by the name of the journal's thread: "jbd2/sda1-8"
 * where it is an inode of its own, "jbd2/sdb1" where it is a device
 * (fs/jbd2/journal.c jbd2_journal_init_dev()). Before Linux 5.17 that may be cut.
 */
static int add_journal_device(struct wcache_stack *s, struct wcache_node *n, const char *device)
{
	char task[16], comm[80], own[80];
	ssize_t len;

	if (wc_host_read(s->ctx, task, sizeof(task), "/sys/fs/%s/%s/journal_task", n->mount->type,
			 device) < 0 ||
	    atoi(task) <= 0)
		return 0;
	len = wc_host_read(s->ctx, comm, sizeof(comm), "/proc/%d/comm", atoi(task));
	if (len < 0 || strncmp(comm, "jbd2/", 5))
		return 0;
	snprintf(own, sizeof(own), "jbd2/%.64s-", device);
	if (!strncmp(comm, own, strlen(own)) || (len == CUT_COMM && !strncmp(comm, own, len)))
		return 0;
	if (len == CUT_COMM) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its journal's device is only known as %s",
			    comm);
		return 0;
	}
	n->has_journal_device = true;
	return wc_stack_add_below(s, n, comm + 5);
}

/*
 * ext4 leaves the flush of the data's device to the commit, which left it out where the
 * journal lies elsewhere: mended by Linux 6.15 (aac45075f6d7) and some of its forerunners,
 * not by 6.1.
 */
static bool commit_flushes_data(struct wcache_stack *s)
{
	unsigned int major, minor;
	char v[64];

	return wc_host_read(s->ctx, v, sizeof(v), "/proc/sys/kernel/osrelease") > 0 &&
	       sscanf(v, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 15));
}

static int expand(struct wcache_stack *s, struct wcache_node *n)
{
	const struct wc_mount *m = n->mount;
	char link[1024], name[NAME_MAX + 1];
	const char *last;
	int err;

	snprintf(n->type, sizeof(n->type), "%s", m->type);
	if (m->major && wc_host_link(s->ctx, link, sizeof(link), "/sys/dev/block/%u:%u", m->major,
				     m->minor) >= 0) {
		last = strrchr(link, '/');
		snprintf(name, sizeof(name), "%.*s", NAME_MAX, last ? last + 1 : link);
	} else if (wc_stack_device_of(s, m->source, name, sizeof(name)) < 0) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "the devices of a %s cannot be listed",
			    n->type);
		return 0;
	}
	err = wc_stack_add_below(s, n, name);
	if (!err && !strcmp(m->type, "ext4"))
		err = add_journal_device(s, n, name);
	if (!err)
		err = add_option_device(s, n, "logdev");
	if (!err)
		err = add_option_device(s, n, "rtdev");
	return err;
}

/* Options that leave flushes out, and those that take them back. */
struct barrier {
	const char *key, *value, *remedy;
};

static const struct barrier *dropped(const struct wc_mount *m)
{
	static const struct barrier off[] = {
		{ "nobarrier", "", "barrier" },
		{ "barrier", "0", "barrier" },
		{ "barrier", "none", "barrier=flush" }, /* reiserfs */
		{ "fsync_mode", "nobarrier", "fsync_mode=posix" }, /* f2fs */
	};
	char v[16];

	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		if (!wc_mount_option(m, off[i].key, v, sizeof(v)) && !strcmp(v, off[i].value))
			return &off[i];
	return NULL;
}

void wc_filesystem_remedy(const struct wc_mount *m, char *out, size_t size)
{
	const struct barrier *off = dropped(m);
	char word[1024];

	wc_shell_word(m->point, word, sizeof(word));
	snprintf(out, size, "mount -o remount,%s %s", off ? off->remedy : "barrier", word);
}

void wc_filesystem_judge(struct wcache_stack *s, struct wcache_node *n)
{
	const struct barrier *off = dropped(n->mount);

	if (off) {
		wc_node_say(n, WCACHE_PASSES_NO, "mounted with %s%s%s", off->key,
			    *off->value ? "=" : "", off->value);
		return;
	}
	if (n->has_journal_device && !commit_flushes_data(s)) {
		n->unflushed = n->lower[0];
		wc_node_say(n, WCACHE_PASSES_UNKNOWN,
			    "before Linux 6.15 an fsync may not flush %.64s, as the journal is not "
			    "on it",
			    n->unflushed->name);
	} else if (!strcmp(n->type, "fuseblk")) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "a program in user space decides");
	} else {
		wc_node_say(n, WCACHE_PASSES_YES, "not mounted with nobarrier");
	}
}

const struct wc_layer wc_layer_filesystem = {
	.matches = matches,
	.expand = expand,
	.judge = wc_filesystem_judge,
};
