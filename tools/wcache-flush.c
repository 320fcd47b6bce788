/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wcache-flush: empty the write caches of drives, and know that they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/emit.h"
#include "common/pool.h"
#include "common/tool.h"

#define TOOL "wcache-flush"
#define MAX_THREADS 64
#define LIMIT_MS (15 * 60 * 1000)

static const char help[] =
	"Usage: wcache-flush [OPTION]... TARGET...\n"
	"Write back what the kernel holds for a drive, then make the drive empty its write cache.\n"
	"Silent when every flush was confirmed.\n"
	"\n"
	"  -f, --force            flush also where nothing should be cached\n" TOOL_HELP "\n"
	"Exit status: 0 every flush confirmed, 1 failed, 2 usage, 3 the drive has no flush command,\n"
	"5 some of several targets failed.\n";

struct flush_options {
	struct tool_options tool;
	bool force;
};

struct outcome {
	const struct flush_options *options;
	const char *target;
	struct wcache_ctx *ctx;
	int err;
	char why[512];
	char device[64];
	char warning[256];
	enum wcache_flush result;
	double seconds;
};

static void keep_why(struct outcome *x, int err, const char *why)
{
	x->err = err;
	snprintf(x->why, sizeof(x->why), "%s", why && *why ? why : wcache_strerror(err));
}

/* A flush is confirmed by what it was sent to, and that may not be where the data stays. */
static void note_what_is_left(struct outcome *x, const struct wcache_device *dev)
{
	const struct wcache_controller *c = wcache_device_get_controller(dev);

	if (c && wcache_controller_get_class(c) == WCACHE_CONTROLLER_VOLUME)
		snprintf(x->warning, sizeof(x->warning), "the flush ends %s; not covered are %s",
			 wcache_controller_get_flush_end(c), wcache_controller_get_hidden(c));
}

static void flush(void *job)
{
	struct outcome *x = job;
	struct timespec from, to;
	struct wcache_device *dev;
	int err;

	err = wcache_device_open(x->ctx, x->target, WCACHE_ACCESS_FLUSH, &dev);
	if (err < 0) {
		keep_why(x, err, wcache_ctx_get_error(x->ctx));
		return;
	}
	snprintf(x->device, sizeof(x->device), "%s", wcache_device_get_name(dev));
	clock_gettime(CLOCK_MONOTONIC, &from);
	err = wcache_device_flush(dev, x->options->force ? WCACHE_FLUSH_ALWAYS : 0, &x->result);
	clock_gettime(CLOCK_MONOTONIC, &to);
	x->seconds = (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9;
	if (err < 0)
		keep_why(x, err, wcache_error_get_text(wcache_device_get_error(dev)));
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
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "target", emit_string(x->target));
	json_object_object_add(o, "device", *x->device ? emit_string(x->device) : NULL);
	json_object_object_add(o, "result", emit_string(result_name(x->result)));
	json_object_object_add(o, "seconds", x->err ? NULL : json_object_new_double(x->seconds));
	json_object_object_add(o, "warning", *x->warning ? emit_string(x->warning) : NULL);
	json_object_object_add(o, "error", x->err ? emit_error(x->target, x->err, x->why) : NULL);
	return o;
}

static struct outcome *outcome_new(const struct flush_options *o, const char *target)
{
	struct outcome *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	x->options = o;
	x->target = target;
	return x;
}

static enum tool_exit flush_all(const struct flush_options *o, struct wcache_ctx *ctx,
				char *const targets[], size_t n)
{
	const bool alone = o->tool.capture || o->tool.replay;
	struct outcome **all = calloc(n, sizeof(*all));
	enum tool_exit *status = calloc(n, sizeof(*status));
	struct json_object *list = json_object_new_array();
	struct json_object *root = emit_root();
	enum tool_exit result;
	struct pool *pool;

	if (!all || !status)
		abort();
	for (size_t i = 0; i < n; i++) {
		all[i] = outcome_new(o, targets[i]);
		all[i]->ctx = alone ? wcache_ctx_ref(ctx) : tool_context(TOOL, &o->tool);
	}
	pool = pool_start(flush, (void *const *)all, n, alone ? 0 : MAX_THREADS);
	for (size_t i = 0; i < n; i++) {
		struct outcome *x;

		if (!pool_wait(pool, i, LIMIT_MS)) {
			all[i] = outcome_new(o, targets[i]);
			keep_why(all[i], -ETIMEDOUT, "no answer: what it held may be lost");
		}
		x = all[i];
		status[i] = tool_exit_of(x->err);
		json_object_array_add(list, emit_outcome(x));
		if (x->err)
			tool_complain(TOOL, &o->tool, x->target, x->err, x->why,
				      x->err == -EOPNOTSUPP
					      ? "Turn its write cache off: wcache-set off."
					      : NULL);
		else if (o->tool.verbose && !o->tool.json)
			printf("%s: %s: %s in %.3f s\n", x->target, x->device,
			       result_word(x->result), x->seconds);
		if (!x->err && *x->warning)
			tool_warn(TOOL, &o->tool, x->target, x->warning);
	}
	pool_end(pool);
	json_object_object_add(root, "flushes", list);
	if (o->tool.json)
		emit_print(json_object_get(root));
	json_object_put(root);
	result = tool_exit_join(status, n);
	for (size_t i = 0; i < n; i++) {
		wcache_ctx_unref(all[i]->ctx);
		free(all[i]);
	}
	free(all);
	free(status);
	return result;
}

int main(int argc, char *argv[])
{
	static const struct option longopts[] = {
		{ "force", no_argument, NULL, 'f' },
		TOOL_LONG_OPTIONS,
		{ 0 },
	};
	struct flush_options o = { 0 };
	struct wcache_ctx *ctx;
	enum tool_exit status;
	int c;

	while ((c = getopt_long(argc, argv, TOOL_SHORT_OPTIONS "f", longopts, NULL)) >= 0) {
		if (c == 'f')
			o.force = true;
		else
			tool_option(TOOL, c, help, &o.tool);
	}
	if (optind == argc)
		tool_usage(TOOL, "no TARGET");
	ctx = tool_context(TOOL, &o.tool);
	status = flush_all(&o, ctx, argv + optind, argc - optind);
	wcache_ctx_unref(ctx);
	return tool_finish(TOOL, status);
}
