/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a path down to its drives: a graph without loops, whose nodes are file systems
 * and block devices. Nodes are found breadth first; a node is read once.
 */
#ifndef WC_STACK_H
#define WC_STACK_H

#include <stdbool.h>

#include "ctx.h"

/* More than any machine has; what a hostile sysfs may cost. */
#define WC_STACK_MAX_NODES 8192

struct wcache_stack;
struct wc_mount;

struct wcache_node {
	const struct wc_layer *layer;
	char *key; /* kernel name of a block device, "MAJOR:MINOR" of a file system */
	char *name; /* kernel name, or mount point */
	char *label; /* the device mapper's name; NULL: none */
	char *real; /* its folder below /sys/class/block, as the link there has it */
	const struct wc_mount *mount; /* of a file system */
	char type[32];
	bool is_drive;
	bool in_memory; /* what it holds is gone with the power */
	bool is_luks;
	bool has_journal_device;
	struct wcache_node *unflushed; /* the one below it that may get no flush; NULL: none */
	bool seen; /* in a walk */
	bool judged; /* in a report */
	bool looped; /* a device below it claimed to stand above it */
	enum wcache_kernel write_cache; /* of its queue */
	enum wcache_passes flush;
	char reason[160];
	size_t n_lower, n_upper;
	struct wcache_node **lower, **upper;
};

/* One kind of layer. What matches is asked in the order of the table in stack.c. */
struct wc_layer {
	bool (*matches)(const struct wcache_node *n);
	/* Say what it is, and add what is below it. Only memory may fail. */
	int (*expand)(struct wcache_stack *s, struct wcache_node *n);
	/* NULL: passes if its queue sends flushes, or nothing below needs any */
	void (*judge)(struct wcache_stack *s, struct wcache_node *n);
};

struct wc_mount {
	int id, parent;
	unsigned int major, minor;
	char *root, *point, *type, *source, *options; /* options: those of the superblock */
};

struct wcache_path {
	char *path;
	struct wcache_node *node; /* NULL: could not be followed */
};

struct wcache_stack {
	struct wcache_ctx *ctx;
	size_t n_nodes, n_paths, n_drives, n_mounts;
	struct wcache_node **nodes;
	struct wcache_path *paths; /* the target, then what it leads to */
	struct wcache_node **drives;
	bool has_mounts;
	char *mount_text; /* what the mounts point into */
	struct wc_mount *mounts;
};

extern const struct wc_layer wc_layer_memory, wc_layer_remote, wc_layer_overlay, wc_layer_btrfs,
	wc_layer_bcachefs, wc_layer_filesystem, wc_layer_partition, wc_layer_dm, wc_layer_md,
	wc_layer_bcache, wc_layer_loop, wc_layer_drbd, wc_layer_nbd, wc_layer_zram, wc_layer_disk;

/* graph.c */
int wc_stack_alloc(struct wcache_ctx *ctx, struct wcache_stack **ret);
/* The node of block device NAME, new or known; -ENODEV where there is none. */
int wc_stack_block(struct wcache_stack *s, const char *name, struct wcache_node **ret);
int wc_stack_filesystem(struct wcache_stack *s, const struct wc_mount *m, struct wcache_node **ret);
int wc_stack_link(struct wcache_stack *s, struct wcache_node *upper, struct wcache_node *lower);
/* Put block device NAME below N; one that is gone makes N's flush unknown. */
int wc_stack_add_below(struct wcache_stack *s, struct wcache_node *n, const char *name);
int wc_stack_add_slaves(struct wcache_stack *s, struct wcache_node *n);
/* Expand every node, then judge them. */
int wc_stack_walk(struct wcache_stack *s);
bool wc_stack_reaches(const struct wcache_stack *s, struct wcache_node *from,
		      const struct wcache_node *to);
void wc_node_say(struct wcache_node *n, enum wcache_passes flush, const char *fmt, ...)
	WC_PRINTF(3, 4);

/* mount.c */
int wc_mounts_read(struct wcache_stack *s);
/* The mount that PATH lies on; NULL where none is found. */
const struct wc_mount *wc_mount_of(struct wcache_stack *s, const char *path);
/* The value of option KEY among M's ("" for one without a value), cut at SIZE; -ENOENT. */
int wc_mount_option(const struct wc_mount *m, const char *key, char *value, size_t size);

/* path.c: the node that PATH, NAME or device node stands for */
int wc_stack_resolve(struct wcache_stack *s, const char *path, struct wcache_node **ret);
/* The block device of a node's path ("/dev/sda1"): its kernel name. */
int wc_stack_device_of(struct wcache_stack *s, const char *path, char *name, size_t size);

/*
 * above.c: is there a live layer above drive NAME that sends no flushes down? 1 with its
 * name and what would mend it, 0 for none, negative errno.
 */
int wc_stack_drops_above(struct wcache_ctx *ctx, const char *name, char *layer, size_t layer_size,
			 char *remedy, size_t remedy_size);

/* dm.c: does the dm/uuid say that cryptsetup made it from a LUKS header? */
bool wc_dm_is_luks(const char *uuid);

/* remedy.c: commands that mend, for a shell */
void wc_shell_word(const char *word, char *out, size_t size);
void wc_stack_dm_remedy(const char *label, bool is_luks, char *out, size_t size);

#endif
