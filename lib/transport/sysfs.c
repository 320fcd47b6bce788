/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sysfs and udev: find a block device, read and write its attributes. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libudev.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "megaraid.h"
#include "sysfs.h"

#define MAX_NAME 64

/* An attribute comes in one piece (fs/kernfs/file.c), no second read is needed. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	ssize_t n;
	size_t len;

	do {
		n = read(fd, buf, size - 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	len = n;
	while (len && (buf[len - 1] == '\n' || buf[len - 1] == '\0'))
		len--;
	buf[len] = '\0';
	return len;
}

static ssize_t read_attr(int dir, const char *path, char *buf, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_all(fd, buf, size);
	close(fd);
	return n;
}

/* Put the one entry of the folder before "*" in its place. */
static int resolve_star(int dir, const char *path, char *out, size_t size)
{
	const char *star = strstr(path, "/*/");
	struct dirent *de;
	int fd, n = 0;
	DIR *d;

	if (!star)
		return snprintf(out, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
	snprintf(out, size, "%.*s", (int)(star - path), path);
	fd = openat(dir, out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		n = -errno;
		close(fd);
		return n;
	}
	while ((de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		n++;
		if (snprintf(out, size, "%.*s/%s%s", (int)(star - path), path, de->d_name,
			     star + 2) >= (int)size)
			n = 2;
	}
	closedir(d);
	return n == 1 ? 0 : -ENOENT;
}

/* The disks behind a RAID volume, where there is a way to them. */
static ssize_t get_members(struct wc_node *node, char *buf, size_t size)
{
	const char *hctl = wc_place_get(&node->place, "hctl");
	const char *proc_name = wc_place_get(&node->place, "proc_name");
	unsigned int host, channel, id;

	if (!hctl || !proc_name || strcmp(proc_name, "megaraid_sas") ||
	    sscanf(hctl, "%u:%u:%u", &host, &channel, &id) != 3)
		return -ENOENT;
	return wc_megaraid_members(host, channel, id, buf, size);
}

ssize_t wc_node_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	struct wc_node *node = (struct wc_node *)t;
	char real[256];
	int err;

	if (!strcmp(path, "members"))
		return get_members(node, buf, size);
	err = resolve_star(node->dir, path, real, sizeof(real));

	return err ? err : read_attr(node->dir, real, buf, size);
}

int wc_node_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	char real[256];
	int dir = ((struct wc_node *)t)->dir;
	int fd, err;

	err = resolve_star(dir, path, real, sizeof(real));
	if (err)
		return err;
	fd = openat(dir, real, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Its number, as sysfs has it ("8:0"). */
static bool read_devnum(struct wc_node *node, unsigned int *major_number,
			unsigned int *minor_number)
{
	char v[32];

	return read_attr(node->dir, "dev", v, sizeof(v)) > 0 &&
	       sscanf(v, "%u:%u", major_number, minor_number) == 2;
}

/* A controller's cache belongs to all its namespaces: they share a lock. */
static const char *get_lock_name(struct wc_node *node)
{
	unsigned int a, b;

	if (*node->lock)
		return node->lock;
	if (sscanf(node->name, "nvme%un", &a) == 1)
		snprintf(node->lock, sizeof(node->lock), "nvme%u", a);
	else if (read_devnum(node, &a, &b))
		snprintf(node->lock, sizeof(node->lock), "%u:%u", a, b);
	else
		return NULL;
	return node->lock;
}

static const char *get_property(struct wc_node *node, const char *key)
{
	struct udev *udev = node->udev ? NULL : wc_ctx_udev(node->ctx);

	if (udev)
		node->udev = udev_device_new_from_subsystem_sysname(udev, "block", node->name);
	return node->udev ? udev_device_get_property_value(node->udev, key) : NULL;
}

const char *wc_node_prop_get(struct wc_transport *t, const char *key)
{
	struct wc_node *node = (struct wc_node *)t;

	if (!strcmp(key, "lock"))
		return get_lock_name(node);
	if (wc_place_has(key))
		return wc_place_get(&node->place, key);
	return isupper((unsigned char)*key) ? get_property(node, key) : NULL;
}

int wc_node_fd(struct wc_node *node)
{
	char path[sizeof("/dev/") + sizeof(node->name)];
	int flags = O_NONBLOCK | O_CLOEXEC;
	unsigned int a, b;
	struct stat st;
	int fd;

	if (node->fd >= 0)
		return node->fd;
	/* sysfs writes "!" where a node's name has a slash. */
	snprintf(path, sizeof(path), "/dev/%s", node->name);
	for (char *c = path; *c; c++)
		if (*c == '!')
			*c = '/';
	/* Root needs no write access, and closing a writer makes udev probe the disk again. */
	flags |= node->for_writing && geteuid() ? O_RDWR : O_RDONLY;
	fd = open(path, flags);
	if (fd < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	/* The name may belong to another device by now. */
	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode) || !read_devnum(node, &a, &b) ||
	    st.st_rdev != makedev(a, b)) {
		close(fd);
		return -ENODEV;
	}
	node->fd = fd;
	return fd;
}

int wc_node_writeback(struct wc_transport *t)
{
	int fd = wc_node_fd((struct wc_node *)t);

	if (fd < 0)
		return fd;
	if (sync_file_range(fd, 0, 0,
			    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				    SYNC_FILE_RANGE_WAIT_AFTER) < 0)
		return -errno;
	return 0;
}

int wc_node_sync(struct wc_transport *t)
{
	int fd = wc_node_fd((struct wc_node *)t);

	if (fd < 0)
		return fd;
	return fsync(fd) < 0 ? -errno : 0;
}

void wc_node_close(struct wc_transport *t)
{
	struct wc_node *node = (struct wc_node *)t;

	if (node->fd >= 0)
		close(node->fd);
	if (node->dir >= 0)
		close(node->dir);
	udev_device_unref(node->udev);
	wc_place_clear(&node->place);
	free(node);
}

static int no_commands(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply)
{
	return -ENOTTY;
}

const struct wc_transport_ops wc_transport_sysfs = {
	.name = "sysfs",
	.submit = no_commands,
	.attr_get = wc_node_attr_get,
	.attr_set = wc_node_attr_set,
	.prop_get = wc_node_prop_get,
	.writeback = wc_node_writeback,
	.sync = wc_node_sync,
	.close = wc_node_close,
};

int wc_node_new(struct wcache_ctx *ctx, const char *name, bool for_writing,
		struct wc_transport **ret)
{
	struct wc_node *node = calloc(1, sizeof(*node));
	int err;

	if (!node)
		return -ENOMEM;
	node->ctx = ctx;
	node->dir = -1;
	node->fd = -1;
	node->for_writing = for_writing;
	snprintf(node->name, sizeof(node->name), "%s", name);
	err = wc_place_find(&node->place, "block", name);
	if (!err) {
		node->dir = open(node->place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = node->dir < 0 ? -ENODEV : 0;
	}
	if (err < 0) {
		wc_node_close(&node->t);
		return err;
	}
	if (!strncmp(name, "sd", 2))
		node->t.ops = &wc_transport_sgio;
	else if (!strncmp(name, "nvme", 4))
		node->t.ops = &wc_transport_nvme;
	else
		node->t.ops = &wc_transport_sysfs;
	*ret = &node->t;
	return 0;
}

bool wc_is_drive(const char *name, const char **what)
{
	static const struct {
		const char *prefix, *what;
	} kinds[] = {
		{ "loop", "a loop device" },	 { "dm-", "a device mapper device" },
		{ "md", "an md RAID" },		 { "ram", "a RAM disk" },
		{ "zram", "a RAM disk" },	 { "sr", "an optical drive" },
		{ "fd", "a floppy drive" },	 { "nbd", "a network block device" },
		{ "bcache", "a bcache device" }, { "drbd", "a DRBD device" },
	};
	char path[64 + MAX_NAME];

	*what = "a virtual block device";
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].prefix);

		if (!strncmp(name, kinds[i].prefix, n) &&
		    (isdigit((unsigned char)name[n]) || name[n] == '_')) {
			*what = kinds[i].what;
			return false;
		}
	}
	/* Hardware, real or virtual, has a parent device. */
	snprintf(path, sizeof(path), "/sys/block/%s/device", name);
	return access(path, F_OK) == 0;
}

static bool is_hidden(const char *name)
{
	char path[64 + MAX_NAME], v[8];

	/* The paths of an NVMe multipath head (block/genhd.c). */
	snprintf(path, sizeof(path), "/sys/block/%s/hidden", name);
	return read_attr(AT_FDCWD, path, v, sizeof(v)) == 1 && v[0] == '1';
}

int wc_each_drive(int (*fn)(void *data, const char *name), void *data)
{
	DIR *d = opendir("/sys/block");
	struct dirent *de;
	const char *what;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (de = readdir(d)))
		if (de->d_name[0] != '.' && strlen(de->d_name) < MAX_NAME &&
		    wc_is_drive(de->d_name, &what) && !is_hidden(de->d_name))
			err = fn(data, de->d_name);
	closedir(d);
	return err;
}

/* /sys/class/nvme/nvme0 has nvme0n1, or nvme0c0n1 under a multipath head nvme0n1. */
static int first_namespace(const char *controller, char *disk, size_t size)
{
	unsigned int best = 0, instance, path, nsid;
	char folder[64 + MAX_NAME];
	struct dirent *de;
	char tail;
	DIR *d;

	snprintf(folder, sizeof(folder), "/sys/class/nvme/%s", controller);
	d = opendir(folder);
	if (!d)
		return -errno;
	while ((de = readdir(d))) {
		if (sscanf(de->d_name, "nvme%un%u%c", &instance, &nsid, &tail) != 2 &&
		    sscanf(de->d_name, "nvme%uc%un%u%c", &instance, &path, &nsid, &tail) != 3)
			continue;
		if (best && nsid >= best)
			continue;
		best = nsid;
		snprintf(disk, size, "nvme%un%u", instance, nsid);
	}
	closedir(d);
	return best ? 0 : -ENODEV;
}

/* A partition's whole disk is the folder above it. SYSPATH is a link into /sys/devices. */
static int whole_disk(const char *syspath, char *disk, size_t size)
{
	char link[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink(syspath, link, sizeof(link) - 1);
	char *slash;

	if (n < 0)
		return -errno;
	link[n] = '\0';
	snprintf(path, sizeof(path), "%s/partition", syspath);
	slash = strrchr(link, '/');
	if (slash && !access(path, F_OK)) {
		*slash = '\0';
		slash = strrchr(link, '/');
	}
	if (!slash || strlen(slash + 1) >= size || strlen(slash + 1) >= MAX_NAME)
		return -ENODEV;
	strcpy(disk, slash + 1);
	return 0;
}

static int find_by_path(struct wcache_ctx *ctx, const char *path, char *disk, size_t size)
{
	char syspath[64], real[PATH_MAX];
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		return wc_ctx_fail(ctx, -errno, "%s: %s", path, wcache_strerror(errno));
	if (S_ISCHR(st.st_mode)) {
		snprintf(syspath, sizeof(syspath), "/sys/dev/char/%u:%u", major(st.st_rdev),
			 minor(st.st_rdev));
		if (realpath(syspath, real) && strstr(real, "/nvme/"))
			return first_namespace(strrchr(real, '/') + 1, disk, size);
		return wc_ctx_fail(ctx, -ENOTBLK, "%s: a character device, not a drive", path);
	}
	if (!S_ISBLK(st.st_mode))
		return wc_ctx_fail(ctx, -ENOTBLK, "%s: a %s, not a drive", path,
				   S_ISDIR(st.st_mode)	 ? "directory"
				   : S_ISREG(st.st_mode) ? "regular file"
							 : "special file");
	snprintf(syspath, sizeof(syspath), "/sys/dev/block/%u:%u", major(st.st_rdev),
		 minor(st.st_rdev));
	err = whole_disk(syspath, disk, size);
	return err < 0 ? wc_ctx_fail(ctx, -ENODEV, "%s: there is no device behind it", path) : 0;
}

static int find_by_name(struct wcache_ctx *ctx, const char *name, char *disk, size_t size)
{
	char path[64 + MAX_NAME];

	if (strlen(name) < MAX_NAME && *name && *name != '.') {
		snprintf(path, sizeof(path), "/sys/class/block/%s", name);
		if (!access(path, F_OK))
			return whole_disk(path, disk, size);
		snprintf(path, sizeof(path), "/sys/class/nvme/%s", name);
		if (!access(path, F_OK))
			return first_namespace(name, disk, size);
	}
	return find_by_path(ctx, name, disk, size);
}

int wc_find_disk(struct wcache_ctx *ctx, const char *name, char *disk, size_t size)
{
	const char *what;
	int err;

	err = strchr(name, '/') ? find_by_path(ctx, name, disk, size)
				: find_by_name(ctx, name, disk, size);
	if (err < 0)
		return err;
	if (!wc_is_drive(disk, &what))
		return wc_ctx_fail(ctx, -ENOTBLK, "%s: %s, not a drive", name, what);
	return 0;
}

static int host_path(struct wcache_ctx *ctx, char *path, const char *fmt, va_list ap)
{
	size_t n = snprintf(path, PATH_MAX, "%s", ctx->root ? ctx->root : "");

	if (n >= PATH_MAX || vsnprintf(path + n, PATH_MAX - n, fmt, ap) >= (int)(PATH_MAX - n))
		return -ENAMETOOLONG;
	wc_log(ctx, WCACHE_LOG_DEBUG, "read %s", path + n);
	return 0;
}

ssize_t wc_host_read(struct wcache_ctx *ctx, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	ssize_t n;
	int err;

	va_start(ap, fmt);
	err = host_path(ctx, path, fmt, ap);
	va_end(ap);
	if (err < 0)
		return err;
	n = read_attr(AT_FDCWD, path, buf, size);
	if (n < 0)
		return n;
	buf[strcspn(buf, "\n")] = '\0';
	return strlen(buf);
}

ssize_t wc_host_link(struct wcache_ctx *ctx, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	ssize_t n;
	int err;

	va_start(ap, fmt);
	err = host_path(ctx, path, fmt, ap);
	va_end(ap);
	if (err < 0)
		return err;
	n = readlink(path, buf, size);
	if (n < 0)
		return -errno;
	if (n >= (ssize_t)size)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return n;
}

int wc_host_list(struct wcache_ctx *ctx, int (*fn)(void *data, const char *name), void *data,
		 const char *fmt, ...)
{
	char path[PATH_MAX];
	struct dirent *de;
	va_list ap;
	int err;
	DIR *d;

	va_start(ap, fmt);
	err = host_path(ctx, path, fmt, ap);
	va_end(ap);
	if (err < 0)
		return err;
	d = opendir(path);
	if (!d)
		return -errno;
	while (!err && (de = readdir(d)))
		if (de->d_name[0] != '.')
			err = fn(data, de->d_name);
	closedir(d);
	return err;
}

int wc_host_read_whole(struct wcache_ctx *ctx, const char *name, char **ret)
{
	char path[PATH_MAX], *text = NULL;
	size_t size = 0, len = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s%s", ctx->root ? ctx->root : "", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		if (size - len < 2) {
			char *p = realloc(text, size = size ? size * 2 : 16384);

			if (!p) {
				n = -ENOMEM;
				break;
			}
			text = p;
		}
		n = read(fd, text + len, size - len - 1);
		if (n < 0)
			n = -errno;
		else
			len += n;
	} while (n > 0);
	close(fd);
	if (n < 0) {
		free(text);
		return n;
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}
