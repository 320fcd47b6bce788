/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>
#include <wcache.h>

#include "guard-state.h"
#include "guard.h"

#define CLEAN 'c'

struct guard {
	struct originals originals;
	struct wcache_ctx *ctx;
	char *path; /* of the state file; NULL while there is none */
	int state; /* held open and locked by both processes */
	int pipe;
	pid_t pid;
	bool dead;
};

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
		r = originals_restore(&guard->originals, ctx, NULL);
	if (r == 0) {
		state_remove(guard->path);
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
	originals_free(&guard->originals);
	wcache_ctx_unref(guard->ctx);
	free(guard->path);
	free(guard);
}

static int guard_prepare(struct guard *guard, char *const drives[], size_t n)
{
	int r;

	r = originals_read(&guard->originals, guard->ctx, drives, n);
	if (r < 0)
		return r;
	if (state_is_left(GUARD_DIRECTORY, &guard->originals))
		return -EUCLEAN;
	return state_write(GUARD_DIRECTORY, &guard->originals, &guard->path, &guard->state);
}

static int guard_fork(struct guard *guard)
{
	int end[2], r;

	if (pipe2(end, O_CLOEXEC) < 0)
		return -errno;
	guard->pid = fork();
	if (guard->pid == 0) {
		close(end[1]);
		watch(guard, end[0]);
	}
	r = guard->pid < 0 ? -errno : 0;
	close(end[0]);
	guard->pipe = end[1];
	return r;
}

int guard_start(struct guard **guard, struct wcache_ctx *ctx, char *const drives[], size_t n)
{
	struct guard *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return -ENOMEM;
	g->state = g->pipe = -1;
	g->ctx = wcache_ctx_ref(ctx);
	r = guard_prepare(g, drives, n);
	if (r == 0)
		r = guard_fork(g);
	if (r < 0) {
		if (g->path)
			state_remove(g->path);
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
	ssize_t n;

	r = originals_restore(&guard->originals, guard->ctx, NULL);
	if (r == 0) {
		state_remove(guard->path);
		do {
			n = write(guard->pipe, &clean, 1);
		} while (n < 0 && errno == EINTR);
	}
	/* Without the byte the guardian restores; what it could not, it leaves in the file. */
	close(guard->pipe);
	guard->pipe = -1;
	if (!guard_check(guard) && waitpid(guard->pid, &status, 0) == guard->pid && r < 0 &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0)
		r = 0;
	guard_free(guard);
	return r;
}

int guard_restore_all(struct wcache_ctx *ctx, void (*say)(const char *line))
{
	return state_restore_all(GUARD_DIRECTORY, ctx, say);
}
