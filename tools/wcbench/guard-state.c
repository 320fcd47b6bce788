/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wcache.h>

#include "guard-state.h"

#define HEAD "wcbench-state "
#define VERSION "2"
/* A drive is a line of less than 400 bytes. */
#define DRIVES_MOST 256
#define FILE_MOST (400 * (DRIVES_MOST + 1))
#define NONE "-"

/* ---------------------------------------------------------------- drives */

/* Names and numbers of a drive are words in the file. */
static void copy_word(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from && *from && i + 1 < size; from++)
		if (*from > ' ' && *from < 0x7f)
			to[i++] = *from;
	if (i == 0)
		to[i++] = *NONE;
	to[i] = '\0';
}

static bool is_known(const char *word)
{
	return strcmp(word, NONE) != 0;
}

static void read_identity(const struct wcache_device *dev, struct original *original)
{
	copy_word(original->name, sizeof(original->name), wcache_device_get_name(dev));
	copy_word(original->wwn, sizeof(original->wwn), wcache_device_get_wwn(dev));
	copy_word(original->serial, sizeof(original->serial), wcache_device_get_serial(dev));
}

static int read_original(struct wcache_ctx *ctx, const char *name, struct original *original)
{
	struct wcache_device *dev;
	struct wcache_state *state;
	enum wcache_cache cache;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_QUERY, &dev);
	if (r < 0)
		return r;
	r = wcache_state_read(dev, 0, &state);
	if (r == 0) {
		cache = wcache_state_get_cache(state);
		wcache_state_free(state);
		if (cache != WCACHE_CACHE_ON && cache != WCACHE_CACHE_OFF)
			r = -EOPNOTSUPP;
		original->on = cache == WCACHE_CACHE_ON;
		read_identity(dev, original);
	}
	wcache_device_close(dev);
	return r;
}

static void read_boot(char boot[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[40] = "";

	if (file) {
		if (!fgets(line, sizeof(line), file))
			*line = '\0';
		fclose(file);
	}
	copy_word(boot, 40, line);
}

int originals_read(struct originals *originals, struct wcache_ctx *ctx, char *const names[],
		   size_t n)
{
	size_t i;
	int r = 0;

	*originals = (struct originals){ 0 };
	if (n == 0 || n > DRIVES_MOST)
		return -EINVAL;
	originals->drive = calloc(n, sizeof(*originals->drive));
	if (!originals->drive)
		return -ENOMEM;
	read_boot(originals->boot);
	for (i = 0; r == 0 && i < n; i++) {
		r = read_original(ctx, names[i], &originals->drive[i]);
		if (r == 0)
			originals->n++;
	}
	return r;
}

void originals_free(struct originals *originals)
{
	free(originals->drive);
	*originals = (struct originals){ 0 };
}

/* udev writes 0x5000c500a1b2c3d4 where sysfs has naa.5000c500a1b2c3d4. */
static const char *wwn_digits(const char *wwn)
{
	if (strncmp(wwn, "0x", 2) == 0)
		return wwn + 2;
	return strncmp(wwn, "naa.", 4) == 0 ? wwn + 4 : wwn;
}

static bool same_wwn(const struct original *a, const struct original *b)
{
	return is_known(a->wwn) && is_known(b->wwn) &&
	       strcasecmp(wwn_digits(a->wwn), wwn_digits(b->wwn)) == 0;
}

/*
 * All that both have must be the same, and there must be something: bridges have one number
 * for all that they are built into, and early in a boot udev has not told everything.
 */
static bool same_drive(const struct original *a, const struct original *b)
{
	bool wwn = is_known(a->wwn) && is_known(b->wwn);
	bool serial = is_known(a->serial) && is_known(b->serial);

	if (wwn && !same_wwn(a, b))
		return false;
	if (serial && strcmp(a->serial, b->serial) != 0)
		return false;
	return wwn || serial;
}

static bool is_anonymous(const struct original *original)
{
	return !is_known(original->wwn) && !is_known(original->serial);
}

/* Within one boot a name tells apart what has no number, or the same one. */
static bool same_by_name(const struct original *a, const struct original *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       (same_drive(a, b) || (is_anonymous(a) && is_anonymous(b)));
}

static int identify(struct wcache_ctx *ctx, const char *name, struct original *found)
{
	struct wcache_device *dev;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_QUERY, &dev);
	if (r < 0)
		return r;
	read_identity(dev, found);
	wcache_device_close(dev);
	return 0;
}

static int set_back(struct wcache_ctx *ctx, const char *name, bool on)
{
	struct wcache_change *change;
	struct wcache_device *dev;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_CHANGE, &dev);
	if (r < 0)
		return r;
	r = wcache_change_new(dev, on ? WCACHE_SET_ON : WCACHE_SET_OFF, NULL, &change);
	if (r == 0) {
		r = wcache_change_apply(change);
		wcache_change_free(change);
	}
	wcache_device_close(dev);
	return r;
}

/*
 * All drives that it may be. Several paths to one drive have one world wide name; several with
 * one serial number and no such name are not told apart by guessing.
 */
static int find(struct wcache_ctx *ctx, const struct wcache_drives *drives,
		const struct original *original, struct original *found, size_t *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < wcache_drives_get_count(drives); i++)
		if (identify(ctx, wcache_drives_get_name(drives, i), &found[*n]) == 0 &&
		    same_drive(original, &found[*n]))
			++*n;
	for (i = 0; *n > 1 && i < *n; i++)
		if (!same_wwn(original, &found[i]))
			return -ENOTUNIQ;
	return *n ? 0 : -ENODEV;
}

/* The kernel has a belief about each path of its own. */
static int find_and_set_back(struct wcache_ctx *ctx, const struct original *original, char name[64])
{
	struct wcache_drives *drives;
	struct original *found;
	int r, failed = 0;
	size_t n = 0, i;

	r = wcache_drives_new(ctx, &drives);
	if (r < 0)
		return r;
	found = calloc(wcache_drives_get_count(drives) + 1, sizeof(*found));
	r = found ? find(ctx, drives, original, found, &n) : -ENOMEM;
	wcache_drives_free(drives);
	if (r == 0)
		strcpy(name, found[0].name);
	for (i = 0; r == 0 && i < n; i++) {
		int path = set_back(ctx, found[i].name, original->on);

		failed = failed ? failed : path;
	}
	free(found);
	return r ? r : failed;
}

/* @name: becomes that of the drive where it was found. Return: 0 when it was read back. */
static int restore_one(struct wcache_ctx *ctx, const struct original *original, bool same_boot,
		       char name[64])
{
	struct original found;

	strcpy(name, original->name);
	if (same_boot && identify(ctx, original->name, &found) == 0 &&
	    same_by_name(original, &found))
		return set_back(ctx, original->name, original->on);
	return find_and_set_back(ctx, original, name);
}

static bool is_this_boot(const struct originals *originals)
{
	char boot[40];

	read_boot(boot);
	return is_known(boot) && strcmp(boot, originals->boot) == 0;
}

int originals_restore(const struct originals *originals, struct wcache_ctx *ctx)
{
	bool same_boot = is_this_boot(originals);
	char name[64];
	int r, first = 0;
	size_t i;

	for (i = 0; i < originals->n; i++) {
		r = restore_one(ctx, &originals->drive[i], same_boot, name);
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

/* ---------------------------------------------------------------- the file */

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* The folder that @path is in. */
static int sync_parent(const char *path)
{
	char *folder = strdup(path), *slash;
	int r;

	if (!folder)
		return -ENOMEM;
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	r = sync_folder(slash ? folder : ".");
	free(folder);
	return r;
}

static int make_folder(const char *path)
{
	if (mkdir(path, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	return sync_parent(path);
}

static int put_text(int fd, const struct originals *originals)
{
	const struct original *drive;
	int copy = dup(fd), r = 0;
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
	size_t i;

	if (!file) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	fprintf(file, HEAD VERSION "\nboot %s\n", originals->boot);
	for (i = 0; i < originals->n; i++) {
		drive = &originals->drive[i];
		fprintf(file, "drive %s %s %s %s\n", drive->name, drive->wwn, drive->serial,
			drive->on ? "on" : "off");
	}
	/* What follows makes a reader sure that the file is whole. */
	fputs("end\n", file);
	if (fflush(file) != 0 || fsync(fd) < 0)
		r = -errno;
	fclose(file);
	return r;
}

/*
 * Under its name it is whole and locked from the start. @path: what it replaces; where that is
 * NULL, it becomes a new name.
 */
static int write_file(const char *directory, const struct originals *originals, char **path,
		      int *fd)
{
	char *new, *name = NULL;
	int r, file;

	if (asprintf(&new, "%s/XXXXXX.new", directory) < 0)
		return -ENOMEM;
	file = mkostemps(new, 4, O_CLOEXEC);
	if (file < 0) {
		r = -errno;
		free(new);
		return r;
	}
	r = flock(file, LOCK_EX) < 0 ? -errno : put_text(file, originals);
	if (r == 0 && !*path &&
	    asprintf(&name, "%.*sstate", (int)(strlen(new) - strlen("new")), new) < 0)
		r = -ENOMEM;
	if (r == 0 && rename(new, *path ? *path : name) < 0)
		r = -errno;
	if (r < 0) {
		unlink(new);
	} else {
		r = sync_folder(directory);
		if (r < 0 && name)
			unlink(name);
	}
	free(new);
	if (r < 0) {
		close(file);
		free(name);
		return r;
	}
	if (!*path)
		*path = name;
	*fd = file;
	return 0;
}

int state_write(const char *directory, const struct originals *originals, char **path, int *fd)
{
	char *name = NULL;
	int r;

	r = make_folder(directory);
	if (r == 0)
		r = write_file(directory, originals, &name, fd);
	if (r == 0)
		*path = name;
	return r;
}

int state_remove(const char *path)
{
	return unlink(path) < 0 ? -errno : sync_parent(path);
}

/* The next word of a line that has single blanks between them. */
static int take_word(char **line, char *word, size_t size)
{
	const char *next = strsep(line, " ");

	if (!next || !*next || strlen(next) >= size)
		return -EBADMSG;
	copy_word(word, size, next);
	return strcmp(word, next) == 0 ? 0 : -EBADMSG;
}

static int parse_drive(char *line, struct original *drive)
{
	char setting[8];

	if (take_word(&line, drive->name, sizeof(drive->name)) < 0 ||
	    take_word(&line, drive->wwn, sizeof(drive->wwn)) < 0 ||
	    take_word(&line, drive->serial, sizeof(drive->serial)) < 0 ||
	    take_word(&line, setting, sizeof(setting)) < 0 || line || strchr(drive->name, '/'))
		return -EBADMSG;
	drive->on = strcmp(setting, "on") == 0;
	return drive->on || strcmp(setting, "off") == 0 ? 0 : -EBADMSG;
}

static int parse(char *text, struct originals *originals)
{
	char *line = strsep(&text, "\n"), *word;

	if (!text || strncmp(line, HEAD, strlen(HEAD)) != 0)
		return -EBADMSG;
	if (strcmp(line + strlen(HEAD), VERSION) != 0)
		return -EPROTONOSUPPORT;
	line = strsep(&text, "\n");
	word = strsep(&line, " ");
	if (strcmp(word, "boot") != 0 ||
	    take_word(&line, originals->boot, sizeof(originals->boot)) < 0 || line)
		return -EBADMSG;
	while (text) {
		line = strsep(&text, "\n");
		if (strcmp(line, "end") == 0)
			return text && !*text && originals->n ? 0 : -EBADMSG;
		word = strsep(&line, " ");
		if (strcmp(word, "drive") != 0 || originals->n == DRIVES_MOST ||
		    parse_drive(line, &originals->drive[originals->n]) < 0)
			return -EBADMSG;
		originals->n++;
	}
	return -EBADMSG;
}

static int read_text(int fd, char *text, size_t size)
{
	size_t at = 0;
	ssize_t n;

	do {
		n = read(fd, text + at, size - 1 - at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	} while (n != 0 && at < size - 1);
	text[at] = '\0';
	/* One that is too long, or binary, is none of ours. */
	return at == size - 1 || strlen(text) != at ? -EBADMSG : 0;
}

static int read_file(int fd, struct originals *originals)
{
	char *text = malloc(FILE_MOST);
	int r = -ENOMEM;

	*originals = (struct originals){ 0 };
	originals->drive = calloc(DRIVES_MOST, sizeof(*originals->drive));
	if (text && originals->drive)
		r = read_text(fd, text, FILE_MOST);
	if (r == 0)
		r = parse(text, originals);
	free(text);
	return r;
}

/* ---------------------------------------------------------------- the folder */

static bool ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name), end = strlen(ending);

	return length > end && strcmp(name + length - end, ending) == 0;
}

/*
 * Return: a descriptor with its lock; -EBUSY where somebody is at work with it, -ENOENT where it
 * was removed or replaced meanwhile.
 */
static int take_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return errno == ELOOP ? -EBADMSG : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EBADMSG;
	else if (st.st_nlink == 0)
		r = -ENOENT;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static bool shares_drive(const struct originals *a, const struct originals *b)
{
	bool same_boot = strcmp(a->boot, b->boot) == 0;
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (same_drive(&a->drive[i], &b->drive[k]) ||
			    (same_boot && same_by_name(&a->drive[i], &b->drive[k])))
				return true;
	return false;
}

bool state_is_left(const char *directory, const struct originals *originals)
{
	DIR *folder = opendir(directory);
	const struct dirent *entry;
	struct originals left;
	bool found = false;
	int fd;

	while (folder && !found && (entry = readdir(folder))) {
		if (!ends_in(entry->d_name, ".state"))
			continue;
		fd = take_file(dirfd(folder), entry->d_name);
		if (fd < 0)
			continue;
		found = read_file(fd, &left) == 0 && shares_drive(originals, &left);
		originals_free(&left);
		close(fd);
	}
	if (folder)
		closedir(folder);
	return found;
}

static const char *why(int r)
{
	switch (r) {
	case -EBADMSG:
		return "not a state file, or damaged";
	case -EPROTONOSUPPORT:
		return "a state file of another version of wcbench";
	case -ENODEV:
		return "no drive here has its world wide name or serial number";
	case -ENOTUNIQ:
		return "several drives here have its serial number";
	case -EBUSY:
		return "a benchmark is at work with it";
	default:
		return wcache_strerror(r);
	}
}

static void say_drive(const struct original *drive, const char *name, int r,
		      void (*say)(const char *line))
{
	char line[512];

	if (r < 0)
		snprintf(line, sizeof(line),
			 "%s (%s, serial number %s): the cache cannot be turned %s again: %s",
			 drive->name, drive->wwn, drive->serial, drive->on ? "on" : "off", why(r));
	else
		snprintf(line, sizeof(line), "%s%s%s%s: the cache is %s again", name,
			 strcmp(name, drive->name) == 0 ? "" : " (which was ",
			 strcmp(name, drive->name) == 0 ? "" : drive->name,
			 strcmp(name, drive->name) == 0 ? "" : ")", drive->on ? "on" : "off");
	say(line);
}

/* Only what could not be restored is left in @originals. */
static int restore_each(struct originals *originals, struct wcache_ctx *ctx,
			void (*say)(const char *line))
{
	bool same_boot = is_this_boot(originals);
	size_t i, left = 0;
	int r, first = 0;
	char name[64];

	for (i = 0; i < originals->n; i++) {
		r = restore_one(ctx, &originals->drive[i], same_boot, name);
		say_drive(&originals->drive[i], name, r, say);
		if (r == 0)
			continue;
		originals->drive[left++] = originals->drive[i];
		first = first ? first : r;
	}
	originals->n = left;
	return first;
}

/* What was restored is not restored once more when the rest can be: it may have been changed. */
static int restore_file(const char *directory, const char *path, int fd, struct wcache_ctx *ctx,
			void (*say)(const char *line))
{
	struct originals originals;
	char *replaced = NULL;
	int r, left = -1;
	size_t n;

	r = read_file(fd, &originals);
	if (r == 0) {
		n = originals.n;
		r = restore_each(&originals, ctx, say);
		if (r == 0) {
			r = state_remove(path);
		} else if (originals.n < n) {
			replaced = strdup(path);
			if (replaced && write_file(directory, &originals, &replaced, &left) == 0)
				close(left);
			free(replaced);
		}
	}
	originals_free(&originals);
	return r;
}

static int restore_entry(const char *directory, int folder, const char *name,
			 struct wcache_ctx *ctx, void (*say)(const char *line))
{
	char line[512], *path;
	int r, fd;

	if (ends_in(name, ".new")) {
		/* Power was lost before anything was changed. */
		fd = take_file(folder, name);
		if (fd >= 0) {
			unlinkat(folder, name, 0);
			close(fd);
		}
		return 0;
	}
	if (!ends_in(name, ".state"))
		return 0;
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	r = fd = take_file(folder, name);
	if (fd >= 0) {
		r = restore_file(directory, path, fd, ctx, say);
		close(fd);
	}
	if (r < 0 && r != -ENOENT) {
		snprintf(line, sizeof(line), "%s: %s%s", path, r == -EBUSY ? "" : "kept: ", why(r));
		say(line);
	}
	free(path);
	return r == -EBUSY || r == -ENOENT ? 0 : r;
}

int state_restore_all(const char *directory, struct wcache_ctx *ctx, void (*say)(const char *line))
{
	DIR *folder = opendir(directory);
	const struct dirent *entry;
	int r, first = 0;

	if (!folder)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(folder))) {
		r = restore_entry(directory, dirfd(folder), entry->d_name, ctx, say);
		first = first ? first : r;
	}
	closedir(folder);
	return first;
}
