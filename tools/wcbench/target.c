/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "clock.h"
#include "pool.h"
#include "target.h"

#define FILL_BLOCK (1u << 20)
/* A region that is filled less than this in the time for it is no region. */
#define FILL_LEAST (1u << 20)

/* Not in linux/magic.h of every age. */
#define MAGIC_CIFS 0xff534d42
#define MAGIC_SMB2 0xfe534d42
#define MAGIC_CEPH 0x00c36400
#define MAGIC_GFS_9P 0x01021997
#define MAGIC_FUSE 0x65735546

static const struct {
	unsigned long magic;
	const char *name;
	const char *what;
} no_drive[] = {
	{ TMPFS_MAGIC, "tmpfs", "memory" },
	{ RAMFS_MAGIC, "ramfs", "memory" },
	{ HUGETLBFS_MAGIC, "hugetlbfs", "memory" },
	{ PROC_SUPER_MAGIC, "proc", "memory" },
	{ SYSFS_MAGIC, "sysfs", "memory" },
	{ NFS_SUPER_MAGIC, "nfs", "another machine" },
	{ SMB_SUPER_MAGIC, "smbfs", "another machine" },
	{ MAGIC_CIFS, "cifs", "another machine" },
	{ MAGIC_SMB2, "smb2", "another machine" },
	{ MAGIC_CEPH, "ceph", "other machines" },
	{ AFS_SUPER_MAGIC, "afs", "another machine" },
	{ MAGIC_GFS_9P, "9p", "another machine" },
	{ MAGIC_FUSE, "fuse", "a program" },
};

static int refuse(char *why, size_t size, int error, const char *text)
{
	snprintf(why, size, "%s", text);
	return error;
}

/* mountinfo has blanks, tabs and newlines of a path as \ooo (proc(5)). */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned int value;

		if (sscanf(text, "\\%3o", &value) == 1 && strlen(text) >= 4) {
			*to++ = (char)value;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);
	const char *at = options;

	while ((at = strstr(at, wanted))) {
		bool begins = at == options || at[-1] == ',';

		if (begins && (at[length] == ',' || at[length] == '\0'))
			return true;
		at += length;
	}
	return false;
}

int target_parse_mount(const char *mountinfo, unsigned long long id, struct target *target)
{
	const char *line, *end;

	for (line = mountinfo; *line; line = *end ? end + 1 : end) {
		char text[4096 + 1024], mount[4096], own[512], fs[64], source[256], super[512];
		unsigned long long have;
		const char *rest;

		end = strchrnul(line, '\n');
		if (sscanf(line, "%llu", &have) != 1 || have != id)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)(end - line), line);
		rest = strstr(text, " - ");
		if (!rest || sscanf(text, "%*u %*u %*s %*s %4095s %511s", mount, own) != 2 ||
		    sscanf(rest, " - %63s %255s %511s", fs, source, super) != 3)
			return -ENOENT;
		unescape(mount);
		unescape(source);
		snprintf(target->mount, sizeof(target->mount), "%s", mount);
		snprintf(target->fs, sizeof(target->fs), "%s", fs);
		snprintf(target->source, sizeof(target->source), "%s", source);
		snprintf(target->options, sizeof(target->options), "%s,%s", own, super);
		target->barriers_off = has_option(super, "nobarrier") ||
				       has_option(super, "barrier=0") ||
				       has_option(super, "barrier=none");
		return 0;
	}
	return -ENOENT;
}

static void read_mount(const char *path, struct target *target)
{
	struct statx stx;
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &stx) < 0 || !(stx.stx_mask & STATX_MNT_ID))
		return;
	file = fopen("/proc/self/mountinfo", "re");
	if (!file)
		return;
	if (getdelim(&text, &size, '\0', file) > 0)
		target_parse_mount(text, stx.stx_mnt_id, target);
	free(text);
	fclose(file);
}

static int reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_CLOEXEC | flags);
}

static void region_close(struct region *region)
{
	if (region->fd >= 0)
		close(region->fd);
	if (region->fd_direct >= 0)
		close(region->fd_direct);
	if (region->fd_dsync >= 0)
		close(region->fd_dsync);
	*region = (struct region){ .fd = -1, .fd_direct = -1, .fd_dsync = -1 };
}

/* Takes @fd. O_DIRECT may be refused here, or by the first transfer (see probe_direct()). */
static void region_open(struct region *region, int fd, uint64_t start, uint64_t length)
{
	region->fd = fd;
	region->fd_direct = reopen(fd, O_DIRECT);
	region->fd_dsync = reopen(fd, O_DIRECT | O_DSYNC);
	region->start = start;
	region->length = length;
}

/* A file without a name, next to nothing else: gone with the last descriptor. */
static int own_file(const char *directory, bool is_btrfs)
{
	char name[4096 + 32];
	unsigned int flags;
	int fd;

	snprintf(name, sizeof(name), "%s/.wcbench-XXXXXX", directory);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(name);
	/* Copy on write would make every overwrite an allocation. */
	if (is_btrfs && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
		flags |= FS_NOCOW_FL;
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	return fd;
}

static int open_own_file(const char *directory, const struct target_want *want,
			 const struct statfs *fs, struct target *target, char *why, size_t why_size)
{
	uint64_t need = want->size + want->log_size * want->logs;
	uint64_t room = (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
	size_t i;
	int fd;

	if (room < need + need / 20) {
		snprintf(why, why_size,
			 "the file needs %llu MiB and only %llu MiB are free; --size makes it "
			 "smaller",
			 (unsigned long long)(need >> 20), (unsigned long long)(room >> 20));
		return -ENOSPC;
	}
	for (i = 0; i <= want->logs; i++) {
		fd = own_file(directory, (unsigned long)fs->f_type == BTRFS_SUPER_MAGIC);
		if (fd < 0) {
			snprintf(why, why_size, "no file can be made in %s: %s", directory,
				 strerror(-fd));
			return fd;
		}
		if (i == 0) {
			region_open(&target->data, fd, 0, want->size);
		} else {
			region_open(&target->log[i - 1], fd, 0, want->log_size);
			target->logs = i;
		}
	}
	return 0;
}

/* The logs of a device or a given file are its first parts. */
static int cut_regions(int fd, uint64_t size, const struct target_want *want, struct target *target,
		       char *why, size_t why_size)
{
	uint64_t logs = want->log_size * want->logs, data;
	size_t i;
	int copy;

	size -= size % FILL_BLOCK;
	if (size < logs + FILL_LEAST) {
		close(fd);
		snprintf(why, why_size, "it has %llu MiB, and %llu MiB are needed",
			 (unsigned long long)(size >> 20),
			 (unsigned long long)((logs + FILL_LEAST) >> 20));
		return -ENOSPC;
	}
	data = size - logs < want->size ? size - logs : want->size;
	region_open(&target->data, fd, logs, data);
	for (i = 0; i < want->logs; i++) {
		copy = reopen(fd, 0);
		if (copy < 0)
			return -errno;
		region_open(&target->log[i], copy, i * want->log_size, want->log_size);
		target->logs = i + 1;
	}
	return 0;
}

static int open_device(const char *path, const struct stat *st, const struct target_want *want,
		       struct target *target, char *why, size_t why_size)
{
	uint64_t size;
	int fd;

	target->kind = TARGET_DEVICE;
	target->dev = st->st_rdev;
	snprintf(target->fs, sizeof(target->fs), "none");
	if (!want->destroy)
		return refuse(why, why_size, -EPERM,
			      "it is a device, and everything on it would be overwritten; "
			      "--destroy-data says that this is meant");
	/* Exclusively: fails where it, or a part of it, is mounted or belongs to dm, md or swap. */
	target->holder = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (target->holder < 0) {
		int error = -errno;

		return refuse(why, why_size, error,
			      error == -EBUSY ? "it is mounted, or used by another layer or program"
					      : strerror(-error));
	}
	if (ioctl(target->holder, BLKGETSIZE64, &size) < 0)
		return refuse(why, why_size, -errno, "its size cannot be read");
	fd = reopen(target->holder, 0);
	if (fd < 0)
		return refuse(why, why_size, -errno, strerror(errno));
	return cut_regions(fd, size, want, target, why, why_size);
}

static int check_fs(const struct statfs *fs, char *why, size_t why_size)
{
	size_t i;

	for (i = 0; i < sizeof(no_drive) / sizeof(no_drive[0]); i++) {
		if ((unsigned long)(unsigned int)fs->f_type != no_drive[i].magic)
			continue;
		snprintf(why, why_size, "%s is %s: no drive of this machine is below it",
			 no_drive[i].name, no_drive[i].what);
		return -EOPNOTSUPP;
	}
	if (fs->f_flags & ST_RDONLY)
		return refuse(why, why_size, -EROFS, "the file system is mounted read-only");
	return 0;
}

static void find_alignment(struct target *target)
{
	struct statx stx;
	int sector;

	target->align = 4096;
#ifdef STATX_DIOALIGN
	if (statx(target->data.fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &stx) == 0 &&
	    (stx.stx_mask & STATX_DIOALIGN) && stx.stx_dio_offset_align) {
		target->align = stx.stx_dio_offset_align;
		return;
	}
#else
	(void)stx;
#endif
	if (target->kind == TARGET_DEVICE && ioctl(target->data.fd, BLKSSZGET, &sector) == 0)
		target->align = (size_t)sector;
}

static int open_any(const char *path, const struct target_want *want, struct target *target,
		    char *why, size_t why_size)
{
	char directory[4096];
	struct statfs fs;
	struct stat st;
	char *slash;
	int fd, r;

	if (stat(path, &st) < 0)
		return refuse(why, why_size, -errno, strerror(errno));
	if (S_ISBLK(st.st_mode))
		return open_device(path, &st, want, target, why, why_size);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return refuse(why, why_size, -ENOTTY,
			      "it is neither a directory nor a file nor a block device");
	if (statfs(path, &fs) < 0)
		return refuse(why, why_size, -errno, strerror(errno));
	r = check_fs(&fs, why, why_size);
	if (r < 0)
		return r;
	target->dev = st.st_dev;
	read_mount(path, target);

	if (S_ISREG(st.st_mode) && want->destroy) {
		target->kind = TARGET_FILE;
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return refuse(why, why_size, -errno, strerror(errno));
		return cut_regions(fd, (uint64_t)st.st_size, want, target, why, why_size);
	}
	target->kind = TARGET_OWN_FILE;
	snprintf(directory, sizeof(directory), "%s", path);
	if (S_ISREG(st.st_mode)) {
		slash = strrchr(directory, '/');
		if (slash)
			slash[slash == directory] = '\0';
		else
			snprintf(directory, sizeof(directory), ".");
	}
	return open_own_file(directory, want, &fs, target, why, why_size);
}

int target_open(const char *path, const struct target_want *want, struct target *target, char *why,
		size_t why_size)
{
	size_t i;
	int r;

	memset(target, 0, sizeof(*target));
	target->holder = -1;
	target->data = (struct region){ .fd = -1, .fd_direct = -1, .fd_dsync = -1 };
	for (i = 0; i < TARGET_LOGS; i++)
		target->log[i] = target->data;
	snprintf(target->path, sizeof(target->path), "%s", path);
	if (want->logs > TARGET_LOGS)
		return -EINVAL;
	r = open_any(path, want, target, why, why_size);
	if (r < 0) {
		target_close(target);
		return r;
	}
	find_alignment(target);
	target->direct = target->data.fd_direct >= 0 && target->align <= 4096;
	return 0;
}

/* An open with O_DIRECT may succeed where no transfer does. */
static void probe_direct(struct target *target)
{
	struct region *region = &target->data;
	void *block;
	ssize_t n;

	if (!target->direct || posix_memalign(&block, 4096, 8192) != 0)
		return;
	n = pread(region->fd_direct, block, 8192, (off_t)region->start);
	if (n == 8192)
		n = pwrite(region->fd_direct, block, 8192, (off_t)region->start);
	target->direct = n == 8192;
	free(block);
}

/*
 * The time is looked at where the drive's cache has been emptied: else a cache of some
 * megabytes would make a slow drive look fast, and what follows would pay for it.
 */
static int fill_region(struct region *region, uint64_t until, struct pool *pool,
		       const atomic_bool *cancel, uint64_t *written)
{
	uint64_t done = 0, sync_at = FILL_LEAST;
	ssize_t n;

	while (done < region->length) {
		size_t length = FILL_BLOCK;
		off_t at = (off_t)(region->start + done);

		if (length > region->length - done)
			length = (size_t)(region->length - done);
		n = pwrite(region->fd, pool_block(pool, length, (uint64_t)at), length, at);
		if (n < 0)
			return -errno;
		if ((size_t)n != length)
			return -ENOSPC;
		done += length;
		*written += length;
		if (done < sync_at && done < region->length)
			continue;
		if (fdatasync(region->fd) < 0)
			return -errno;
		if (cancel && atomic_load(cancel))
			return -ECANCELED;
		if (clock_ns() >= until)
			break;
		sync_at = done + (done / 4 > FILL_LEAST ? done / 4 : FILL_LEAST);
	}
	region->length = done;
	return 0;
}

int target_fill(struct target *target, uint64_t budget, uint64_t seed, const atomic_bool *cancel,
		void (*progress)(void *userdata, uint64_t done, uint64_t all), void *userdata)
{
	uint64_t begin = clock_ns(), written = 0, all = target->data.length;
	struct pool pool;
	size_t i;
	int r;

	for (i = 0; i < target->logs; i++)
		all += target->log[i].length;
	r = pool_init(&pool, 16 * FILL_BLOCK, seed, seed);
	if (r < 0)
		return r;
	/* A share of the time for each region, by its size. */
	for (i = 0; r == 0 && i <= target->logs; i++) {
		struct region *region = i < target->logs ? &target->log[i] : &target->data;
		double share = (double)budget * (double)region->length / (double)all;

		r = fill_region(region, clock_ns() + (uint64_t)share, &pool, cancel, &written);
		if (progress)
			progress(userdata, written, all);
	}
	pool_free(&pool);
	if (r < 0)
		return r;
	if (target->kind == TARGET_OWN_FILE) {
		for (i = 0; i <= target->logs; i++) {
			struct region *region = i < target->logs ? &target->log[i] : &target->data;

			if (fsync(region->fd) < 0)
				return -errno;
		}
	}
	target->rate = (double)written * NS_PER_S / (double)(clock_ns() - begin);
	probe_direct(target);
	return 0;
}

int target_sync(struct target *target)
{
	size_t i;

	for (i = 0; i < target->logs; i++)
		if (fsync(target->log[i].fd) < 0)
			return -errno;
	return fsync(target->data.fd) < 0 ? -errno : 0;
}

void target_drop_cache(struct target *target)
{
	posix_fadvise(target->data.fd, (off_t)target->data.start, (off_t)target->data.length,
		      POSIX_FADV_DONTNEED);
}

void target_close(struct target *target)
{
	size_t i;

	region_close(&target->data);
	for (i = 0; i < target->logs; i++)
		region_close(&target->log[i]);
	target->logs = 0;
	if (target->holder >= 0)
		close(target->holder);
	target->holder = -1;
}
