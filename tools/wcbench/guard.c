/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>
#include <wcache.h>

#include "guard.h"

#define STATE_DIRECTORY "/run/wcbench"
#define STATE_HEAD "wcbench-state 1\n"
/* What a state file may have; a drive is a line of less than 200 bytes. */
#define STATE_MOST 65536
#define DRIVES_MOST 256
#define CLEAN 'c'

struct original {
	char name[64];
	char serial[64]; /* "-" where it has none: the name alone has to do */
	bool on;
};

struct guard {
	struct original *drive;
	size_t n;
	struct wcache_ctx *ctx;
	char path[64]; /* of the state file */
	int state; /* held open and locked by both processes */
	int pipe;
	pid_t pid;
	bool dead;
};

/* Serial numbers are words in the file. */
static void copy_word(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from && *from && i + 1 < size; from++)
		if (*from > ' ' && *from < 0x7f)
			to[i++] = *from;
	if (i == 0)
		to[i++] = '-';
	to[i] = '\0';
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
		copy_word(original->name, sizeof(original->name), wcache_device_get_name(dev));
		copy_word(original->serial, sizeof(original->serial),
			  wcache_device_get_serial(dev));
	}
	wcache_device_close(dev);
	return r;
}

/* Return: 0 when the drive was read back as it was. */
static int restore_one(struct wcache_ctx *ctx, const struct original *original)
{
	struct wcache_change *change;
	struct wcache_device *dev;
	char serial[64];
	int r;

	r = wcache_device_open(ctx, original->name, WCACHE_ACCESS_CHANGE, &dev);
	if (r < 0)
		return r;
	copy_word(serial, sizeof(serial), wcache_device_get_serial(dev));
	/* Another drive may have taken the name since. */
	if (strcmp(serial, original->serial) != 0)
		r = -ENODEV;
	if (r == 0)
		r = wcache_change_new(dev, original->on ? WCACHE_SET_ON : WCACHE_SET_OFF, NULL,
				      &change);
	if (r == 0) {
		r = wcache_change_apply(change);
		wcache_change_free(change);
	}
	wcache_device_close(dev);
	return r;
}

/* All are tried, whatever becomes of one. */
static int restore_all(struct wcache_ctx *ctx, const struct original *drive, size_t n)
{
	int r, first = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		r = restore_one(ctx, &drive[i]);
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

static int write_all(int fd, const char *text, size_t length)
{
	ssize_t n;

	for (; length; text += n, length -= (size_t)n) {
		n = write(fd, text, length);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			n = 0;
	}
	return 0;
}

static int write_state(struct guard *guard)
{
	char line[256];
	size_t i;
	int r;

	if (mkdir(STATE_DIRECTORY, 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(guard->path, sizeof(guard->path), STATE_DIRECTORY "/XXXXXX.state");
	guard->state = mkostemps(guard->path, 6, O_CLOEXEC);
	if (guard->state < 0)
		return -errno;
	if (flock(guard->state, LOCK_EX) < 0)
		return -errno;
	r = write_all(guard->state, STATE_HEAD, strlen(STATE_HEAD));
	for (i = 0; r == 0 && i < guard->n; i++) {
		int length = snprintf(line, sizeof(line), "drive %s %s %s\n", guard->drive[i].name,
				      guard->drive[i].serial, guard->drive[i].on ? "on" : "off");

		r = write_all(guard->state, line, (size_t)length);
	}
	/* What follows makes a reader sure that the file is whole. */
	if (r == 0)
		r = write_all(guard->state, "end\n", 4);
	if (r == 0 && fsync(guard->state) < 0)
		r = -errno;
	return r;
}

static void keep_only(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	close_range(STDERR_FILENO + 1, (unsigned int)low - 1, 0);
	if (high > low + 1)
		close_range((unsigned int)low + 1, (unsigned int)high - 1, 0);
	close_range((unsigned int)high + 1, ~0u, 0);
}

/* The guardian's life. It ends only when there is nothing left to guard. */
__attribute__((noreturn)) static void watch(struct guard *guard, int pipe)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	struct wcache_ctx *ctx;
	ssize_t n;
	char byte = 0;
	size_t i;
	int r;

	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	if (chdir("/") < 0)
		_exit(1);
	keep_only(pipe, guard->state);
	do {
		n = read(pipe, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1 && byte == CLEAN)
		_exit(0);

	openlog("wcbench", LOG_PID, LOG_DAEMON);
	r = wcache_ctx_new(&ctx);
	if (r == 0)
		r = restore_all(ctx, guard->drive, guard->n);
	if (r == 0) {
		unlink(guard->path);
		syslog(LOG_NOTICE,
		       "the benchmark ended early; the write cache setting was restored");
		_exit(0);
	}
	syslog(LOG_ERR, "the write cache setting could not be restored: %s; wcbench --restore",
	       wcache_strerror(r));
	_exit(1);
}

static void guard_free(struct guard *guard)
{
	if (guard->state >= 0)
		close(guard->state);
	if (guard->pipe >= 0)
		close(guard->pipe);
	wcache_ctx_unref(guard->ctx);
	free(guard->drive);
	free(guard);
}

static int guard_prepare(struct guard *guard, char *const drives[], size_t n)
{
	size_t i;
	int r = 0;

	if (n == 0 || n > DRIVES_MOST)
		return -EINVAL;
	guard->drive = calloc(n, sizeof(*guard->drive));
	if (!guard->drive)
		return -ENOMEM;
	for (i = 0; r == 0 && i < n; i++) {
		r = read_original(guard->ctx, drives[i], &guard->drive[i]);
		if (r == 0)
			guard->n = i + 1;
	}
	return r == 0 ? write_state(guard) : r;
}

int guard_start(struct guard **guard, struct wcache_ctx *ctx, char *const drives[], size_t n)
{
	struct guard *g = calloc(1, sizeof(*g));
	int end[2], r;

	if (!g)
		return -ENOMEM;
	g->state = g->pipe = -1;
	g->ctx = wcache_ctx_ref(ctx);
	r = guard_prepare(g, drives, n);
	if (r == 0 && pipe2(end, O_CLOEXEC) < 0)
		r = -errno;
	if (r < 0) {
		if (g->state >= 0)
			unlink(g->path);
		guard_free(g);
		return r;
	}
	g->pid = fork();
	if (g->pid == 0) {
		close(end[1]);
		watch(g, end[0]);
	}
	close(end[0]);
	g->pipe = end[1];
	if (g->pid < 0) {
		r = -errno;
		unlink(g->path);
		guard_free(g);
		return r;
	}
	*guard = g;
	return 0;
}

int guard_check(struct guard *guard)
{
	if (!guard->dead && waitpid(guard->pid, NULL, WNOHANG) != 0)
		guard->dead = true;
	return guard->dead;
}

int guard_stop(struct guard *guard)
{
	const char clean = CLEAN;
	int r, status = 0;

	r = restore_all(guard->ctx, guard->drive, guard->n);
	if (r == 0) {
		unlink(guard->path);
		if (!guard_check(guard) && write_all(guard->pipe, &clean, 1) < 0)
			guard->dead = true;
	}
	/* Without the byte the guardian restores; what it could not, it leaves in the file. */
	close(guard->pipe);
	guard->pipe = -1;
	if (!guard->dead && waitpid(guard->pid, &status, 0) == guard->pid && r < 0 &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0)
		r = 0;
	guard_free(guard);
	return r;
}

/* A line of a state file. Return: 0, -EBADMSG. */
static int parse_drive(const char *line, struct original *original)
{
	char setting[8], more;

	if (sscanf(line, "drive %63s %63s %7s %c", original->name, original->serial, setting,
		   &more) != 3)
		return -EBADMSG;
	if (strchr(original->name, '/'))
		return -EBADMSG;
	if (strcmp(setting, "on") != 0 && strcmp(setting, "off") != 0)
		return -EBADMSG;
	original->on = setting[1] == 'n';
	return 0;
}

static int parse_state(char *text, struct original drive[DRIVES_MOST], size_t *n)
{
	char *line, *at = text;
	int r;

	if (strncmp(text, STATE_HEAD, strlen(STATE_HEAD)) != 0)
		return -EBADMSG;
	at += strlen(STATE_HEAD);
	for (*n = 0; (line = strsep(&at, "\n"));) {
		if (strcmp(line, "end") == 0)
			return 0;
		if (*n == DRIVES_MOST)
			return -EBADMSG;
		r = parse_drive(line, &drive[(*n)++]);
		if (r < 0)
			return r;
	}
	return -EBADMSG;
}

static int restore_file(struct wcache_ctx *ctx, int fd, void (*say)(const char *line))
{
	struct original drive[DRIVES_MOST];
	char text[STATE_MOST + 1], line[256];
	size_t n, i;
	ssize_t length;
	int r, first = 0;

	length = read(fd, text, STATE_MOST);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	r = parse_state(text, drive, &n);
	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		r = restore_one(ctx, &drive[i]);
		snprintf(line, sizeof(line), "%.63s: the cache %s %s again%s%s", drive[i].name,
			 r < 0 ? "cannot be turned" : "is", drive[i].on ? "on" : "off",
			 r < 0 ? ": " : "", r < 0 ? wcache_strerror(r) : "");
		say(line);
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

int guard_restore_all(struct wcache_ctx *ctx, void (*say)(const char *line))
{
	DIR *directory = opendir(STATE_DIRECTORY);
	const struct dirent *entry;
	char line[512];
	int r, fd, first = 0;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory))) {
		const char *ending = strrchr(entry->d_name, '.');

		if (!ending || strcmp(ending, ".state") != 0)
			continue;
		fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			snprintf(line, sizeof(line), "%s/%s: a benchmark is at work with it",
				 STATE_DIRECTORY, entry->d_name);
			say(line);
			close(fd);
			continue;
		}
		r = restore_file(ctx, fd, say);
		if (r == 0) {
			unlinkat(dirfd(directory), entry->d_name, 0);
		} else {
			snprintf(line, sizeof(line), "%s/%s: %s", STATE_DIRECTORY, entry->d_name,
				 r == -EBADMSG ? "not a state file that can be read"
					       : wcache_strerror(r));
			say(line);
			first = first ? first : r;
		}
		close(fd);
	}
	closedir(directory);
	return first;
}
