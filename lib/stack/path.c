/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a path stands for: a block device, or the file system that it lies on. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stack.h"
#include "transport/sysfs.h"

/* A name as /dev has it ("cciss/c0d0") to one as sysfs has it ("cciss!c0d0"). */
static int to_kernel_name(const char *name, char *out, size_t size)
{
	if (snprintf(out, size, "%s", name) >= (int)size)
		return -ENAMETOOLONG;
	for (char *p = out; *p; p++)
		if (*p == '/')
			*p = '!';
	return 0;
}

int wc_stack_device_of(struct wcache_stack *s, const char *path, char *name, size_t size)
{
	const char *root = s->ctx->root;
	char link[1024], full[PATH_MAX];
	struct stat st;
	const char *last;

	snprintf(full, sizeof(full), "%s%s", root ? root : "", path);
	if (!stat(full, &st) && S_ISBLK(st.st_mode)) {
		if (wc_host_link(s->ctx, link, sizeof(link), "/sys/dev/block/%u:%u",
				 major(st.st_rdev), minor(st.st_rdev)) >= 0) {
			last = strrchr(link, '/');
			return to_kernel_name(last ? last + 1 : link, name, size);
		}
	} else if (!root) {
		return -ENOTBLK;
	}
	/* Described by files: its nodes may be missing, or of other numbers. */
	if (strncmp(path, "/dev/", 5) || to_kernel_name(path + 5, name, size) < 0 ||
	    wc_host_link(s->ctx, link, sizeof(link), "/sys/class/block/%s", name) < 0)
		return -ENOTBLK;
	return 0;
}

/* An NVMe controller, by its name or its node. */
static bool is_controller(const struct wcache_stack *s, const char *path)
{
	char folder[NAME_MAX + 32];
	struct stat st;

	if (s->ctx->root)
		return false;
	if (strchr(path, '/'))
		return !stat(path, &st) && S_ISCHR(st.st_mode);
	return snprintf(folder, sizeof(folder), "/sys/class/nvme/%s", path) < (int)sizeof(folder) &&
	       *path && *path != '.' && !access(folder, F_OK);
}

int wc_stack_resolve(struct wcache_stack *s, const char *path, struct wcache_node **ret)
{
	char name[NAME_MAX + 1], real[PATH_MAX], disk[64];
	const struct wc_mount *m;
	int err;

	if (!strchr(path, '/') && !wc_stack_block(s, path, ret))
		return 0;
	if (is_controller(s, path)) {
		err = wc_find_disk(s->ctx, path, disk, sizeof(disk));
		return err < 0 ? err : wc_stack_block(s, disk, ret);
	}
	if (!s->ctx->root && !realpath(path, real))
		return wc_ctx_fail(s->ctx, -errno, "%s: %s", path, wcache_strerror(errno));
	if (s->ctx->root)
		snprintf(real, sizeof(real), "%s", path);
	err = wc_stack_device_of(s, real, name, sizeof(name));
	if (!err) {
		err = wc_stack_block(s, name, ret);
		if (err == -ENODEV)
			wc_ctx_fail(s->ctx, err, "%s: there is no device behind it", path);
		return err;
	}
	m = wc_mount_of(s, real);
	if (!m)
		return wc_ctx_fail(s->ctx, -ENODEV, "%s: its file system cannot be found", path);
	return wc_stack_filesystem(s, m, ret);
}

static int add_path(struct wcache_stack *s, const char *path)
{
	struct wcache_path *p = reallocarray(s->paths, s->n_paths + 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->paths = p;
	p += s->n_paths;
	p->node = NULL;
	p->path = strdup(path);
	if (!p->path)
		return -ENOMEM;
	s->n_paths++;
	return 0;
}

/* A link in a data directory that leads elsewhere is a path of its own. */
static int follow_link(struct wcache_stack *s, const char *dir, const char *name)
{
	char at[PATH_MAX];
	struct wcache_node *node = NULL;
	struct stat st;
	int err;

	if (snprintf(at, sizeof(at), "%s/%s", dir, name) >= (int)sizeof(at) || lstat(at, &st) < 0 ||
	    !S_ISLNK(st.st_mode))
		return 0;
	err = wc_stack_resolve(s, at, &node);
	if (err == -ENOMEM || err == -E2BIG)
		return err;
	err = add_path(s, at);
	if (!err)
		s->paths[s->n_paths - 1].node = node;
	return err;
}

/* PostgreSQL keeps its log and its tablespaces where links lead. */
static int follow_database(struct wcache_stack *s, const char *dir)
{
	char at[PATH_MAX];
	struct dirent *de;
	DIR *d;
	int err;

	if (snprintf(at, sizeof(at), "%s/PG_VERSION", dir) >= (int)sizeof(at) || access(at, F_OK))
		return 0;
	err = follow_link(s, dir, "pg_wal");
	if (!err)
		err = follow_link(s, dir, "pg_xlog"); /* before PostgreSQL 10 */
	snprintf(at, sizeof(at), "%s/pg_tblspc", dir);
	d = opendir(at);
	while (!err && d && (de = readdir(d)))
		if (de->d_name[0] != '.')
			err = follow_link(s, at, de->d_name);
	if (d)
		closedir(d);
	return err;
}

WC_EXPORT int wcache_stack_new(struct wcache_ctx *ctx, const char *path, struct wcache_stack **ret)
{
	struct wcache_stack *s;
	int err = wc_stack_alloc(ctx, &s);

	if (err < 0)
		return err;
	*ctx->error = '\0';
	err = add_path(s, path);
	if (!err)
		err = wc_stack_resolve(s, path, &s->paths[0].node);
	if (!err && s->paths[0].node->mount && !ctx->root)
		err = follow_database(s, path);
	if (!err)
		err = wc_stack_walk(s);
	if (err < 0) {
		wcache_stack_free(s);
		if (*ctx->error)
			return err;
		return wc_ctx_fail(ctx, err, "%s: %s", path, wcache_strerror(err));
	}
	*ret = s;
	return 0;
}
