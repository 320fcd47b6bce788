/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wcache-flush: empty the write caches of drives, and know that they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/emit.h"
#include "common/jobs.h"
#include "common/tool.h"

#define TOOL "wcache-flush"
#define LIMIT_MS (15 * 60 * 1000)

static const char help[] =
	"Usage: wcache-flush [OPTION]... TARGET...\n"
	"Write back what the kernel holds for a drive, or for the file system that a path lies\n"
	"on, then make every drive below empty its write cache.\n"
	"Silent when every flush was confirmed.\n"
	"\n"
	"  -f, --force            flush also where nothing should be cached\n" TOOL_HELP "\n"
	"Exit status: 0 every flush confirmed, 1 failed, 2 usage, 3 the drive has no flush command,\n"
	"5 some of several targets failed.\n";

static struct flush_options {
	struct tool_options tool;
	bool force;
} options;

struct outcome {
	struct job job;
	char device[64];
	char warning[256];
	enum wcache_flush result;
	double seconds;
};

/* A flush is confirmed by what it was sent to, and that may not be where the data stays. */
static void note_what_is_left(struct outcome *x, const struct wcache_device *dev)
{
	const struct wcache_controller *c = wcache_device_get_controller(dev);

	if (c && wcache_controller_get_class(c) == WCACHE_CONTROLLER_VOLUME)
		snprintf(x->warning, sizeof(x->warning), "the flush ends %s; not covered are %s",
			 wcache_controller_get_flush_end(c), wcache_controller_get_hidden(c));
}

/* What the kernel still holds for PATH: of a file system all of it, of a device its pages. */
static int write_back(struct job *job, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || (S_ISBLK(st.st_mode) ? fsync(fd) : syncfs(fd)) < 0)
		err = -errno;
	if (err < 0) {
		job->err = err;
		snprintf(job->why, sizeof(job->why), "%s: cannot be written back: %s", path,
			 wcache_strerror(err));
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Each drive below a path waits for this by itself: after the first that has it done
 * it costs nothing, and no drive waits for another one.
 */
static int write_back_all(struct job *job)
{
	const struct wcache_stack *stack = job->target->stack;
	int err = 0;

	for (size_t i = 0; !err && stack && i < wcache_stack_get_path_count(stack); i++)
		err = write_back(job, wcache_stack_get_path(stack, i));
	return err;
}

static void flush(struct job *job)
{
	struct outcome *x = (struct outcome *)job;
	struct timespec from, to;
	struct wcache_device *dev;
	int err;

	if (write_back_all(job) < 0)
		return;
	err = wcache_device_open(job->ctx, job->drive, WCACHE_ACCESS_FLUSH, &dev);
	if (err < 0) {
		job_fail(job, err, wcache_ctx_get_error(job->ctx));
		return;
	}
	snprintf(x->device, sizeof(x->device), "%s", wcache_device_get_name(dev));
	clock_gettime(CLOCK_MONOTONIC, &from);
	err = wcache_device_flush(dev, options.force ? WCACHE_FLUSH_ALWAYS : 0, &x->result);
	clock_gettime(CLOCK_MONOTONIC, &to);
	x->seconds = (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9;
	if (err < 0)
		job_fail(job, err, wcache_error_get_text(wcache_device_get_error(dev)));
	note_what_is_left(x, dev);
	wcache_device_close(dev);
}

static const char *result_word(enum wcache_flush result)
{
	switch (result) {
	case WCACHE_FLUSH_DONE:
		return "flushed";
	case WCACHE_FLUSH_NOT_NEEDED:
		return "nothing to flush";
	case WCACHE_FLUSH_ASLEEP:
		return "asleep, its cache is empty";
	case WCACHE_FLUSH_UNKNOWN:
		break;
	}
	return "unknown";
}

static const char *result_name(enum wcache_flush result)
{
	switch (result) {
	case WCACHE_FLUSH_DONE:
		return "done";
	case WCACHE_FLUSH_NOT_NEEDED:
		return "not-needed";
	case WCACHE_FLUSH_ASLEEP:
		return "asleep";
	case WCACHE_FLUSH_UNKNOWN:
		break;
	}
	return "unknown";
}

static struct json_object *emit_outcome(const struct outcome *x)
{
	const struct job *job = &x->job;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "target", emit_string(job->target->name));
	json_object_object_add(o, "device", *x->device ? emit_string(x->device) : NULL);
	json_object_object_add(o, "result", emit_string(result_name(x->result)));
	json_object_object_add(o, "seconds", job->err ? NULL : json_object_new_double(x->seconds));
	json_object_object_add(o, "warning", *x->warning ? emit_string(x->warning) : NULL);
	json_object_object_add(o, "error",
			       job->err ? emit_error(job->target->name, job->err, job->why) : NULL);
	return o;
}

static void report(struct job *job)
{
	const struct outcome *x = (struct outcome *)job;

	if (job->err)
		tool_complain(TOOL, &options.tool, job_name(job), job->err, job->why,
			      job->err == -EOPNOTSUPP ? "Turn its write cache off: wcache-set off."
						      : NULL);
	else if (options.tool.verbose && !options.tool.json)
		printf("%s: %s: %s in %.3f s\n", job->target->name, x->device,
		       result_word(x->result), x->seconds);
	if (!job->err && *x->warning)
		tool_warn(TOOL, &options.tool, job_name(job), x->warning);
}

static enum tool_exit flush_all(struct wcache_ctx *ctx, const struct target targets[], size_t n)
{
	static const struct jobs_kind kind = {
		.tool = TOOL,
		.size = sizeof(struct outcome),
		.limit_ms = LIMIT_MS,
		.late = "no answer: what it held may be lost",
		.work = flush,
		.done = report,
	};
	struct jobs *jobs = jobs_run(&kind, ctx, &options.tool, targets, n);
	enum tool_exit result = jobs_exit(jobs);

	if (options.tool.json) {
		struct json_object *list = json_object_new_array();
		struct json_object *root = emit_root();

		for (size_t i = 0; i < jobs->n; i++)
			json_object_array_add(list, emit_outcome((struct outcome *)jobs->job[i]));
		json_object_object_add(root, "flushes", list);
		emit_print(root);
	}
	jobs_free(jobs);
	return result;
}

int main(int argc, char *argv[])
{
	static const struct option longopts[] = {
		{ "force", no_argument, NULL, 'f' },
		TOOL_LONG_OPTIONS,
		{ 0 },
	};
	struct wcache_ctx *ctx;
	struct target *targets;
	enum tool_exit status;
	size_t n;
	int c;

	while ((c = getopt_long(argc, argv, TOOL_SHORT_OPTIONS "f", longopts, NULL)) >= 0) {
		if (c == 'f')
			options.force = true;
		else
			tool_option(TOOL, c, help, &options.tool);
	}
	if (optind == argc)
		tool_usage(TOOL, "no TARGET");
	n = argc - optind;
	ctx = tool_context(TOOL, &options.tool);
	targets = targets_new(ctx, &options.tool, (const char *const *)argv + optind, n);
	for (size_t i = 0; i < n; i++)
		target_want_drives(&targets[i]);
	status = flush_all(ctx, targets, n);
	targets_free(targets, n);
	wcache_ctx_unref(ctx);
	return tool_finish(TOOL, status);
}
