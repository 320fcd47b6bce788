/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wcache-set: turn the write cache of drives on or off, safely, and prove it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/emit.h"
#include "common/pool.h"
#include "common/tool.h"

#define TOOL "wcache-set"
#define MAX_THREADS 64
/* A change flushes twice and waits for a lock; each may take its minute and more. */
#define LIMIT_MS (15 * 60 * 1000)

static const char help[] =
	"Usage: wcache-set [OPTION]... on|off|default TARGET...\n"
	"Turn the volatile write cache of drives on or off, in an order that loses nothing, and\n"
	"read the setting back. Silent when all is well.\n"
	"\n"
	"      --save             keep the setting in the drive over power cycles\n"
	"  -n, --dry-run          print the steps, send only questions\n"
	"  -f, --force            go on past a refusal\n" TOOL_HELP "\n"
	"Exit status: 0 done, 1 failed, 2 usage, 3 refused, 4 the state is unknown, 5 some of several\n"
	"targets failed.\n";

struct set_options {
	struct tool_options tool;
	enum wcache_setting setting;
	bool save, dry_run, force;
};

struct outcome {
	const struct set_options *options;
	const char *target;
	struct wcache_ctx *ctx;
	int err;
	char why[768];
	char warning[256];
	char *text; /* of -v and --dry-run */
	struct json_object *json;
};

static bool is_interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP);
}

static void keep_why(struct outcome *x, int err, const char *why)
{
	x->err = err;
	snprintf(x->why, sizeof(x->why), "%s", why && *why ? why : wcache_strerror(err));
}

static const char *status_word(enum wcache_step_status status)
{
	return status == WCACHE_STEP_DONE     ? "done"
	       : status == WCACHE_STEP_FAILED ? "failed"
					      : "planned";
}

static void render_text(struct outcome *x, struct wcache_device *dev,
			const struct wcache_change *change)
{
	const struct wcache_state *after = wcache_change_get_after(change);
	const struct wcache_state *before = wcache_change_get_before(change);
	const char *node = wcache_device_get_node(dev);
	size_t n = wcache_change_get_step_count(change);
	size_t size;
	FILE *f = open_memstream(&x->text, &size);

	if (!f)
		abort();
	if (!n)
		fprintf(f, "%s: already %s, nothing to do\n", node,
			wcache_cache_to_string(wcache_state_get_cache(before)));
	for (size_t i = 0; i < n; i++) {
		const char *step = wcache_change_get_step_text(change, i);

		if (x->options->dry_run)
			fprintf(f, "%s: would %s\n", node, step);
		else
			fprintf(f, "%s: %s: %s\n", node, step,
				status_word(wcache_change_get_step_status(change, i)));
	}
	if (after)
		fprintf(f, "%s: write cache %s, kernel %s\n", node,
			wcache_cache_to_string(wcache_state_get_cache(after)),
			wcache_kernel_to_string(wcache_state_get_kernel(after)));
	fclose(f);
}

static struct json_object *emit_view(const struct wcache_state *state)
{
	struct json_object *o;

	if (!state)
		return NULL;
	o = json_object_new_object();
	json_object_object_add(o, "cache", emit_cache(wcache_state_get_cache(state)));
	json_object_object_add(
		o, "kernel", emit_string(wcache_kernel_to_string(wcache_state_get_kernel(state))));
	json_object_object_add(o, "saved", emit_cache(wcache_state_get_saved(state)));
	return o;
}

/* CHANGE is NULL where there was none, DEV where not even a device. */
static struct json_object *emit_outcome(const struct outcome *x, const struct wcache_device *dev,
					const struct wcache_change *change)
{
	struct json_object *steps = json_object_new_array();
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; change && i < wcache_change_get_step_count(change); i++) {
		struct json_object *step = json_object_new_object();

		json_object_object_add(step, "text",
				       emit_string(wcache_change_get_step_text(change, i)));
		json_object_object_add(
			step, "status",
			emit_string(status_word(wcache_change_get_step_status(change, i))));
		json_object_array_add(steps, step);
	}
	json_object_object_add(o, "target", emit_string(x->target));
	json_object_object_add(o, "device", dev ? emit_string(wcache_device_get_name(dev)) : NULL);
	json_object_object_add(o, "before",
			       change ? emit_view(wcache_change_get_before(change)) : NULL);
	json_object_object_add(o, "after",
			       change ? emit_view(wcache_change_get_after(change)) : NULL);
	json_object_object_add(o, "steps", steps);
	json_object_object_add(o, "warning",
			       change ? emit_string(wcache_change_get_warning(change)) : NULL);
	json_object_object_add(o, "error", x->err ? emit_error(x->target, x->err, x->why) : NULL);
	return o;
}

/* After a failure the user must know where it left the drive. */
static void add_where_it_stands(struct outcome *x, const struct wcache_change *change)
{
	const struct wcache_state *after = wcache_change_get_after(change);
	size_t n = strlen(x->why);

	if (after)
		snprintf(x->why + n, sizeof(x->why) - n,
			 "; its write cache is %s now, the kernel says %s",
			 wcache_cache_to_string(wcache_state_get_cache(after)),
			 wcache_kernel_to_string(wcache_state_get_kernel(after)));
}

static void change_device(struct outcome *x, struct wcache_device *dev)
{
	const struct set_options *o = x->options;
	const struct wcache_change_options options = {
		.size = sizeof(options),
		.flags = (o->save ? WCACHE_CHANGE_SAVE : 0) | (o->force ? WCACHE_CHANGE_FORCE : 0),
	};
	struct wcache_change *change;
	int err;

	err = wcache_change_new(dev, o->setting, &options, &change);
	if (err < 0) {
		keep_why(x, err, wcache_error_get_text(wcache_device_get_error(dev)));
		if (o->tool.json)
			x->json = emit_outcome(x, dev, NULL);
		return;
	}
	if (!o->dry_run) {
		err = wcache_change_apply(change);
		if (err < 0) {
			keep_why(x, err, wcache_error_get_text(wcache_device_get_error(dev)));
			add_where_it_stands(x, change);
		}
	}
	if (wcache_change_get_warning(change))
		snprintf(x->warning, sizeof(x->warning), "%s", wcache_change_get_warning(change));
	if (o->tool.json)
		x->json = emit_outcome(x, dev, change);
	else if (o->tool.verbose || o->dry_run)
		render_text(x, dev, change);
	wcache_change_free(change);
}

static void set(void *job)
{
	struct outcome *x = job;
	struct wcache_device *dev;
	int err;

	if (is_interrupted()) {
		keep_why(x, -ECANCELED, "not begun: interrupted");
		return;
	}
	err = wcache_device_open(x->ctx, x->target,
				 x->options->dry_run ? WCACHE_ACCESS_QUERY : WCACHE_ACCESS_CHANGE,
				 &dev);
	if (err < 0) {
		keep_why(x, err, wcache_ctx_get_error(x->ctx));
		return;
	}
	change_device(x, dev);
	wcache_device_close(dev);
}

static const char *advice(const struct set_options *o, int err)
{
	if (err == -EOPNOTSUPP && o->save)
		return "To have it after every power cycle, set it in /etc/wcache.conf: see "
		       "wcache.conf(5).";
	if (err == -EOPNOTSUPP)
		return "wcache-get -v shows what rules it.";
	if (err == -EBUSY)
		return "Mend what it names, or wait for it; --force goes past a layer above.";
	return NULL;
}

static struct outcome *outcome_new(const struct set_options *o, const char *target)
{
	struct outcome *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	x->options = o;
	x->target = target;
	return x;
}

static enum tool_exit set_all(const struct set_options *o, struct wcache_ctx *ctx,
			      char *const targets[], size_t n)
{
	const bool alone = o->tool.capture || o->tool.replay;
	struct outcome **all = calloc(n, sizeof(*all));
	enum tool_exit *status = calloc(n, sizeof(*status));
	struct json_object *list = json_object_new_array();
	struct json_object *root;
	enum tool_exit result;
	struct pool *pool;

	if (!all || !status)
		abort();
	for (size_t i = 0; i < n; i++) {
		all[i] = outcome_new(o, targets[i]);
		all[i]->ctx = alone ? wcache_ctx_ref(ctx) : tool_context(TOOL, &o->tool);
	}
	pool = pool_start(set, (void *const *)all, n, alone ? 0 : MAX_THREADS);
	for (size_t i = 0; i < n; i++) {
		struct outcome *x;

		if (!pool_wait(pool, i, LIMIT_MS)) {
			all[i] = outcome_new(o, targets[i]);
			keep_why(all[i], -ETIMEDOUT, NULL);
		}
		x = all[i];
		status[i] = tool_exit_of(x->err);
		if (x->text && !o->tool.quiet)
			fputs(x->text, stdout);
		if (o->tool.json)
			json_object_array_add(list, x->json ? json_object_get(x->json)
							    : emit_outcome(x, NULL, NULL));
		if (x->err)
			tool_complain(TOOL, &o->tool, x->target, x->err, x->why, advice(o, x->err));
		else if (*x->warning)
			tool_warn(TOOL, &o->tool, x->target, x->warning);
	}
	pool_end(pool);
	if (o->tool.json) {
		root = emit_root();
		json_object_object_add(root, "changes", json_object_get(list));
		emit_print(root);
	}
	json_object_put(list);
	result = tool_exit_join(status, n);
	for (size_t i = 0; i < n; i++) {
		free(all[i]->text);
		json_object_put(all[i]->json);
		wcache_ctx_unref(all[i]->ctx);
		free(all[i]);
	}
	free(all);
	free(status);
	return result;
}

/*
 * A change that has begun is finished in its order whatever the user or the
 * terminal does; the signal comes through afterwards.
 */
static void hold_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, old);
	/* A reader that went away must not stop it either; tool_finish() tells. */
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char *argv[])
{
	enum {
		OPT_SAVE = 256,
	};
	static const struct option longopts[] = {
		{ "save", no_argument, NULL, OPT_SAVE },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "force", no_argument, NULL, 'f' },
		TOOL_LONG_OPTIONS,
		{ 0 },
	};
	struct set_options o = { 0 };
	struct wcache_ctx *ctx;
	enum tool_exit status;
	sigset_t old;
	int c;

	while ((c = getopt_long(argc, argv, TOOL_SHORT_OPTIONS "nf", longopts, NULL)) >= 0) {
		switch (c) {
		case OPT_SAVE:
			o.save = true;
			break;
		case 'n':
			o.dry_run = true;
			break;
		case 'f':
			o.force = true;
			break;
		default:
			tool_option(TOOL, c, help, &o.tool);
		}
	}
	if (optind == argc)
		tool_usage(TOOL, "on, off or default is wanted, and at least one TARGET");
	if (!strcmp(argv[optind], "on"))
		o.setting = WCACHE_SET_ON;
	else if (!strcmp(argv[optind], "off"))
		o.setting = WCACHE_SET_OFF;
	else if (!strcmp(argv[optind], "default"))
		o.setting = WCACHE_SET_DEFAULT;
	else
		tool_usage(TOOL, "'%s' is not on, off or default", argv[optind]);
	if (++optind == argc)
		tool_usage(TOOL, "no TARGET");
	ctx = tool_context(TOOL, &o.tool);
	hold_signals(&old);
	status = set_all(&o, ctx, argv + optind, argc - optind);
	wcache_ctx_unref(ctx);
	status = tool_finish(TOOL, status);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}
