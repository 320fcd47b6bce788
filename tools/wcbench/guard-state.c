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
#define FILE_MOST (400 * (ORIGINALS_MOST + 1))

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
	const char *next = strsep(line, " "), *at;

	if (!next || !*next || strlen(next) >= size)
		return -EBADMSG;
	for (at = next; *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return -EBADMSG;
	strcpy(word, next);
	return 0;
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
		if (strcmp(word, "drive") != 0 || originals->n == ORIGINALS_MOST ||
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
	originals->drive = calloc(ORIGINALS_MOST, sizeof(*originals->drive));
	if (text && originals->drive)
		r = read_text(fd, text, FILE_MOST);
	if (r == 0)
		r = parse(text, originals);
	free(text);
	return r;
}

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
		found = read_file(fd, &left) == 0 && originals_share(originals, &left);
		originals_free(&left);
		close(fd);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* What was restored is not restored once more when the rest can be: it may have been changed. */
static void keep_rest(const char *directory, const char *path, const struct originals *originals)
{
	char *replaced = strdup(path);
	int fd;

	if (replaced && write_file(directory, originals, &replaced, &fd) == 0)
		close(fd);
	free(replaced);
}

static int restore_file(const char *directory, const char *path, int fd, struct wcache_ctx *ctx,
			void (*say)(const char *line), const char **why)
{
	struct originals originals;
	size_t n;
	int r;

	r = read_file(fd, &originals);
	n = originals.n;
	if (r == -EBADMSG) {
		*why = "kept: not a state file, or damaged";
	} else if (r == -EPROTONOSUPPORT) {
		*why = "kept: a state file of another version of wcbench";
	} else if (r == 0) {
		r = originals_restore(&originals, ctx, say);
		if (r < 0)
			*why = "kept for what could not be restored";
		if (r < 0 && originals.n < n)
			keep_rest(directory, path, &originals);
		if (r == 0)
			r = state_remove(path);
	}
	originals_free(&originals);
	return r;
}

/* What a power cut left of a file that was being written: nothing had been changed. */
static void remove_unfinished(int folder, const char *name)
{
	int fd = take_file(folder, name);

	if (fd < 0)
		return;
	unlinkat(folder, name, 0);
	close(fd);
}

static int restore_entry(const char *directory, int folder, const char *name,
			 struct wcache_ctx *ctx, void (*say)(const char *line))
{
	int fd = take_file(folder, name), r = fd;
	const char *why = NULL;
	char line[512], *path;

	if (fd == -ENOENT)
		return 0;
	if (fd == -EBUSY)
		why = "a benchmark is at work with it";
	else if (fd == -EBADMSG)
		why = "kept: not a file";
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		path = NULL;
	if (fd >= 0) {
		r = path ? restore_file(directory, path, fd, ctx, say, &why) : -ENOMEM;
		close(fd);
	}
	if (r < 0) {
		snprintf(line, sizeof(line), "%s: %s", path ? path : name,
			 why ? why : wcache_strerror(r));
		say(line);
	}
	free(path);
	return fd == -EBUSY ? 0 : r;
}

int state_restore_all(const char *directory, struct wcache_ctx *ctx, void (*say)(const char *line))
{
	DIR *folder = opendir(directory);
	const struct dirent *entry;
	int r, first = 0;

	if (!folder)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(folder))) {
		if (ends_in(entry->d_name, ".new"))
			remove_unfinished(dirfd(folder), entry->d_name);
		if (!ends_in(entry->d_name, ".state"))
			continue;
		r = restore_entry(directory, dirfd(folder), entry->d_name, ctx, say);
		first = first ? first : r;
	}
	closedir(folder);
	return first;
}
