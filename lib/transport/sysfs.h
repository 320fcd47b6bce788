/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A block device of this machine: its sysfs folder, its udev record, its node.
 * The transports of this machine share it and differ in submit.
 */
#ifndef WC_SYSFS_H
#define WC_SYSFS_H

#include <stdbool.h>

#include "ctx.h"
#include "place.h"
#include "transport.h"

struct udev_device;

struct wc_node {
	struct wc_transport t;
	struct wcache_ctx *ctx;
	struct wc_place place;
	struct udev_device *udev; /* NULL until a property of udev's is asked for */
	char name[64];
	int dir; /* the device's sysfs folder */
	int fd; /* its node; -1 until the first command needs it */
	bool for_writing;
	char lock[64];
};

/* The node's descriptor, opened when first asked for; negative errno. */
int wc_node_fd(struct wc_node *node);

/* Parts of the ops of every transport that is a wc_node. */
ssize_t wc_node_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size);
int wc_node_attr_set(struct wc_transport *t, const char *path, const char *value);
const char *wc_node_prop_get(struct wc_transport *t, const char *key);
int wc_node_writeback(struct wc_transport *t);
int wc_node_sync(struct wc_transport *t);
void wc_node_close(struct wc_transport *t);

/* sysfs.c: takes no commands; sgio.c and nvme.c: take theirs */
extern const struct wc_transport_ops wc_transport_sysfs;
extern const struct wc_transport_ops wc_transport_sgio;
extern const struct wc_transport_ops wc_transport_nvme;

/*
 * A transport over whole disk NAME. FOR_WRITING: open its node for writing where
 * the process is not privileged (the kernel's scsi_cmd_allowed() asks for that).
 */
int wc_node_new(struct wcache_ctx *ctx, const char *name, bool for_writing,
		struct wc_transport **ret);

/*
 * The whole disk that NAME (a path, a link, a kernel name, a partition, an NVMe
 * controller) stands for, or -ENOENT, -ENODEV, -EACCES, -ENOTBLK with a sentence in
 * the context. SIZE is that of DISK.
 */
int wc_find_disk(struct wcache_ctx *ctx, const char *name, char *disk, size_t size);

/* Is whole disk NAME a drive? Otherwise *WHAT says what it is ("a loop device"). */
bool wc_is_drive(const char *name, const char **what);

/* Call FN for every drive in /sys/block, in no order, until it returns non-zero. */
int wc_each_drive(int (*fn)(void *data, const char *name), void *data);

/*
 * For what is no device of ours: files, links and folders of /sys and /proc, below the
 * context's root. The text of a file or link ends at its first NUL or newline; its
 * length, or negative errno.
 */
ssize_t wc_host_read(struct wcache_ctx *ctx, char *buf, size_t size, const char *fmt, ...)
	WC_PRINTF(4, 5);
ssize_t wc_host_link(struct wcache_ctx *ctx, char *buf, size_t size, const char *fmt, ...)
	WC_PRINTF(4, 5);
/* Call FN for each entry until it returns non-zero, and return that. */
int wc_host_list(struct wcache_ctx *ctx, int (*fn)(void *data, const char *name), void *data,
		 const char *fmt, ...) WC_PRINTF(4, 5);
/* A whole file, however long; the caller frees it. */
int wc_host_read_whole(struct wcache_ctx *ctx, const char *path, char **ret);

#endif
