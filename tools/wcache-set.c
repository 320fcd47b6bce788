/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wcache-set: turn the write cache of drives on or off, safely, and prove it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "common/emit.h"
#include "common/jobs.h"
#include "common/tool.h"
#include "wishes.h"

#define TOOL "wcache-set"
/* A change flushes twice and waits for a lock; each may take its minute and more. */
#define LIMIT_MS (15 * 60 * 1000)
/* udevd kills what takes it longer than 180 s; before that the log must know of it. */
#define UDEV_LIMIT_MS (90 * 1000)
/* Made by wcache-policy.service when the file systems are mounted. */
#define MOUNTED_SIGN "/run/wcache"

static const char help[] =
	"Usage: wcache-set [OPTION]... on|off|default TARGET...\n"
	"       wcache-set [OPTION]... --apply-policy [TARGET]...\n"
	"Turn the volatile write cache of drives on or off, in an order that loses nothing, and\n"
	"read the setting back. A path stands for all drives below it. Silent when all is well.\n"
	"\n"
	"      --save             keep the setting in the drive over power cycles\n"
	"      --apply-policy     set each drive as wcache.conf(5) wants it; without a TARGET, all\n"
	"  -n, --dry-run          print the steps, send only questions\n"
	"  -f, --force            go on past a refusal\n" TOOL_HELP "\n"
	"Exit status: 0 done, 1 failed, 2 usage, 3 refused, 4 the state is unknown, 5 some of several\n"
	"targets failed.\n";

static struct set_options {
	struct tool_options tool;
	enum wcache_setting setting;
	bool save, dry_run, force;
	bool apply_policy;
	bool by_udev; /* a drive that has gone again is nobody's fault */
	struct wishes *wishes;
} options;

struct outcome {
	struct job job;
	enum wcache_setting setting;
	const char *where; /* the line of the policy that decided */
	char warning[256];
	char *text; /* of -v and --dry-run; with --save a section of the policy */
	struct json_object *json;
};

static bool is_interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP);
}

static const char *setting_word(enum wcache_setting setting)
{
	return setting == WCACHE_SET_ON ? "on" : setting == WCACHE_SET_OFF ? "off" : "default";
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
	if (x->where)
		fprintf(f, "%s: %s wants it %s\n", node, x->where, setting_word(x->setting));
	if (!n)
		fprintf(f, "%s: already %s, nothing to do\n", node,
			wcache_cache_to_string(wcache_state_get_cache(before)));
	for (size_t i = 0; i < n; i++) {
		const char *step = wcache_change_get_step_text(change, i);

		if (options.dry_run)
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
	json_object_object_add(o, "target", emit_string(x->job.target->name));
	json_object_object_add(o, "device", dev ? emit_string(wcache_device_get_name(dev)) : NULL);
	if (options.wishes) {
		json_object_object_add(o, "policy", emit_string(x->where));
		json_object_object_add(o, "wanted",
				       x->setting ? emit_string(setting_word(x->setting)) : NULL);
	}
	json_object_object_add(o, "before",
			       change ? emit_view(wcache_change_get_before(change)) : NULL);
	json_object_object_add(o, "after",
			       change ? emit_view(wcache_change_get_after(change)) : NULL);
	json_object_object_add(o, "steps", steps);
	json_object_object_add(o, "warning",
			       change ? emit_string(wcache_change_get_warning(change)) : NULL);
	json_object_object_add(o, "error",
			       x->job.err ? emit_error(x->job.target->name, x->job.err, x->job.why)
					  : NULL);
	return o;
}

/* After a failure the user must know where it left the drive. */
static void add_where_it_stands(struct outcome *x, const struct wcache_change *change)
{
	const struct wcache_state *after = wcache_change_get_after(change);
	char *why = x->job.why;
	size_t n = strlen(why);

	if (after)
		snprintf(why + n, sizeof(x->job.why) - n,
			 "; its write cache is %s now, the kernel says %s",
			 wcache_cache_to_string(wcache_state_get_cache(after)),
			 wcache_kernel_to_string(wcache_state_get_kernel(after)));
}

/* What the drive cannot keep, the policy can: its section, on stdout to be appended there. */
static void render_section(struct outcome *x, const struct wcache_device *dev)
{
	size_t size;
	FILE *f = open_memstream(&x->text, &size);

	if (!f)
		abort();
	wish_print_section(f, dev, setting_word(x->setting));
	fclose(f);
}

static void change_device(struct outcome *x, struct wcache_device *dev)
{
	const struct wcache_change_options how = {
		.size = sizeof(how),
		.flags = (options.save ? WCACHE_CHANGE_SAVE : 0) |
			 (options.force ? WCACHE_CHANGE_FORCE : 0),
	};
	struct wcache_change *change;
	int err;

	err = wcache_change_new(dev, x->setting, &how, &change);
	if (err < 0) {
		job_fail(&x->job, err, wcache_error_get_text(wcache_device_get_error(dev)));
		if (options.tool.json)
			x->json = emit_outcome(x, dev, NULL);
		if (err == -EOPNOTSUPP && options.save && !options.tool.json)
			render_section(x, dev);
		return;
	}
	if (!options.dry_run) {
		err = wcache_change_apply(change);
		if (err < 0) {
			job_fail(&x->job, err, wcache_error_get_text(wcache_device_get_error(dev)));
			add_where_it_stands(x, change);
		}
	}
	if (!x->job.err && options.by_udev && wcache_change_get_step_count(change))
		syslog(LOG_INFO, "%s: write cache set %s, as %s wants it",
		       wcache_device_get_node(dev), setting_word(x->setting), x->where);
	if (wcache_change_get_warning(change))
		snprintf(x->warning, sizeof(x->warning), "%s", wcache_change_get_warning(change));
	if (options.tool.json)
		x->json = emit_outcome(x, dev, change);
	else if (options.tool.verbose || options.dry_run)
		render_text(x, dev, change);
	wcache_change_free(change);
}

/* The drive and the kernel are so already, which one question has told. */
static bool is_already(enum wcache_wanted wanted, const struct wcache_state *state)
{
	enum wcache_cache cache = wcache_state_get_cache(state);

	if (wanted == WCACHE_WANTED_ON)
		return cache == WCACHE_CACHE_ON &&
		       wcache_state_get_kernel(state) == WCACHE_KERNEL_WRITE_BACK;
	return cache == WCACHE_CACHE_NONE ||
	       (wanted == WCACHE_WANTED_OFF && cache == WCACHE_CACHE_OFF);
}

static void say_nothing_done(struct outcome *x, const struct wcache_device *dev,
			     enum wcache_wanted wanted, const struct wcache_state *state)
{
	const char *node = wcache_device_get_node(dev);
	const char *where = x->where ? x->where : "no policy";
	const char *cache = wcache_cache_to_string(wcache_state_get_cache(state));
	int n;

	if (options.tool.json) {
		x->json = json_object_new_object();
		json_object_object_add(x->json, "target", emit_string(x->job.target->name));
		json_object_object_add(x->json, "device", emit_string(wcache_device_get_name(dev)));
		json_object_object_add(x->json, "policy", emit_string(x->where));
		json_object_object_add(x->json, "wanted",
				       emit_string(wcache_wanted_to_string(wanted)));
		json_object_object_add(x->json, "before", emit_view(state));
		json_object_object_add(x->json, "steps", json_object_new_array());
		json_object_object_add(x->json, "error", NULL);
		return;
	}
	if (!options.tool.verbose && !options.dry_run)
		return;
	if (wanted == WCACHE_WANTED_UNKNOWN)
		n = asprintf(
			&x->text,
			"%s: left as it is, %s: a path in the policy cannot be told yet (%s)\n",
			node, cache, where);
	else if (wanted == WCACHE_WANTED_LEAVE)
		n = asprintf(&x->text, "%s: left as it is, %s (%s)\n", node, cache, where);
	else
		n = asprintf(&x->text, "%s: %s wants it %s\n%s: already %s, nothing to do\n", node,
			     where, wcache_wanted_to_string(wanted), node, cache);
	if (n < 0)
		abort();
}

/* What the policy wants of it, and whether anything is left to be done for that. */
static bool ask_policy(struct outcome *x, struct wcache_device *dev)
{
	struct wcache_state *state;
	enum wcache_wanted wanted;
	bool todo = false;
	int err = wcache_state_read(dev, 0, &state);

	if (err < 0) {
		job_fail(&x->job, err, wcache_error_get_text(wcache_device_get_error(dev)));
		return false;
	}
	wanted = wishes_ask(options.wishes, dev, state, &x->where);
	if (wanted == WCACHE_WANTED_ON || wanted == WCACHE_WANTED_OFF ||
	    wanted == WCACHE_WANTED_DEFAULT) {
		x->setting = wanted == WCACHE_WANTED_ON	   ? WCACHE_SET_ON
			     : wanted == WCACHE_WANTED_OFF ? WCACHE_SET_OFF
							   : WCACHE_SET_DEFAULT;
		todo = !is_already(wanted, state);
	}
	if (!todo)
		say_nothing_done(x, dev, wanted, state);
	wcache_state_free(state);
	return todo;
}

static void set(struct job *job)
{
	struct outcome *x = (struct outcome *)job;
	struct wcache_device *dev;
	int err;

	if (is_interrupted()) {
		job_fail(job, -ECANCELED, "not begun: interrupted");
		return;
	}
	x->setting = options.setting;
	err = wcache_device_open(job->ctx, job->drive,
				 options.dry_run ? WCACHE_ACCESS_QUERY : WCACHE_ACCESS_CHANGE,
				 &dev);
	if (err < 0) {
		job_fail(job, err, wcache_ctx_get_error(job->ctx));
		return;
	}
	if (!options.wishes || ask_policy(x, dev))
		change_device(x, dev);
	wcache_device_close(dev);
}

static const char *advice(int err)
{
	if (err == -EOPNOTSUPP && options.save)
		return "To have it after every power cycle, add this to /etc/wcache.conf "
		       "(wcache.conf(5)):";
	if (err == -EOPNOTSUPP)
		return "wcache-get -v shows what rules it.";
	if (err == -EBUSY)
		return "Mend what it names, or wait for it; --force goes past a layer above.";
	return NULL;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENODEV || err == -ENXIO || err == -ENOTBLK;
}

static void report(struct job *job)
{
	struct outcome *x = (struct outcome *)job;

	if (options.by_udev && is_gone(job->err))
		job->err = 0;
	if (x->text && !options.tool.quiet)
		fputs(x->text, stdout);
	if (job->err)
		tool_complain(TOOL, &options.tool, job_name(job), job->err, job->why,
			      advice(job->err));
	else if (*x->warning)
		tool_warn(TOOL, &options.tool, job_name(job), x->warning);
}

static void clear(struct job *job)
{
	struct outcome *x = (struct outcome *)job;

	free(x->text);
	json_object_put(x->json);
}

static enum tool_exit set_drives(struct wcache_ctx *ctx, const struct target targets[], size_t n)
{
	const struct jobs_kind kind = {
		.tool = TOOL,
		.size = sizeof(struct outcome),
		.limit_ms = options.by_udev ? UDEV_LIMIT_MS : LIMIT_MS,
		.work = set,
		.done = report,
		.clear = clear,
	};
	struct jobs *jobs = jobs_run(&kind, ctx, &options.tool, targets, n);
	enum tool_exit status = jobs_exit(jobs);

	if (options.tool.json) {
		struct json_object *list = json_object_new_array();
		struct json_object *root = emit_root();

		for (size_t i = 0; i < jobs->n; i++) {
			struct outcome *x = (struct outcome *)jobs->job[i];

			json_object_array_add(list, x->json ? json_object_get(x->json)
							    : emit_outcome(x, NULL, NULL));
		}
		json_object_object_add(root, "changes", list);
		emit_print(root);
	}
	jobs_free(jobs);
	return status;
}

/* One file system can be mounted at several points. */
static bool is_same_filesystem(const char *a, const char *b)
{
	struct stat st, other;

	return !strcmp(a, b) || (!stat(a, &st) && !stat(b, &other) && st.st_dev == other.st_dev);
}

/* Is it one of those that the paths of the target lie on? */
static bool is_named(const struct wcache_stack *stack, const char *mount)
{
	for (size_t i = 0; i < wcache_stack_get_path_count(stack); i++) {
		const struct wcache_node *top = wcache_stack_get_top(stack, i);

		if (top && wcache_node_is_filesystem(top) == WCACHE_YES &&
		    is_same_filesystem(wcache_node_get_name(top), mount))
			return true;
	}
	return false;
}

/* Who names a path may not know what else is on its drives. */
static void name_other_users(struct wcache_ctx *ctx, const struct target *target, const char *drive)
{
	struct wcache_users *users;
	char *list = NULL;
	size_t size;
	bool any = false;
	FILE *f;

	if (wcache_users_new(ctx, drive, &users) < 0) {
		tool_warn(TOOL, &options.tool, drive, "what else it carries cannot be told");
		return;
	}
	f = open_memstream(&list, &size);
	if (!f)
		abort();
	fputs("also carries", f);
	for (size_t i = 0; i < wcache_users_get_count(users); i++) {
		const char *mount = wcache_users_get_mount(users, i);

		if (is_named(target->stack, mount))
			continue;
		fputs(any ? ", " : " ", f);
		emit_text(f, mount);
		any = true;
	}
	fclose(f);
	if (any)
		tool_warn(TOOL, &options.tool, drive, list);
	free(list);
	wcache_users_free(users);
}

static enum tool_exit set_named(struct wcache_ctx *ctx, char *const names[], size_t n)
{
	struct target *targets = targets_new(ctx, &options.tool, (const char *const *)names, n);
	enum tool_exit status;

	for (size_t i = 0; i < n; i++) {
		target_want_drives(&targets[i]);
		for (size_t k = 0; targets[i].stack && k < target_count(&targets[i]); k++)
			name_other_users(ctx, &targets[i], target_drive(&targets[i], k));
	}
	status = set_drives(ctx, targets, n);
	targets_free(targets, n);
	return status;
}

/* Every drive of this machine. */
static enum tool_exit set_all(struct wcache_ctx *ctx)
{
	struct wcache_drives *drives;
	struct target *targets;
	enum tool_exit status;
	size_t n;
	int err = wcache_drives_new(ctx, &drives);

	if (err < 0) {
		tool_complain(TOOL, &options.tool, "/sys/block", err, wcache_ctx_get_error(ctx),
			      "No drive was touched.");
		return EXIT_FAILED;
	}
	n = wcache_drives_get_count(drives);
	targets = targets_of(drives);
	status = set_drives(ctx, targets, n);
	targets_free(targets, n);
	wcache_drives_free(drives);
	return status;
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

/* The properties that udevd gives to what a rule runs (udev(7)). */
static bool is_udev_event(void)
{
	return getenv("ACTION") && getenv("DEVPATH") && getenv("SEQNUM");
}

/* Whatever is wrong with the policy, no drive is touched. */
static enum tool_exit apply_policy(struct wcache_ctx *ctx, char *const names[], size_t n)
{
	enum tool_exit status;
	int err = wishes_new(ctx, !options.by_udev || !access(MOUNTED_SIGN, F_OK), &options.wishes);

	if (err < 0) {
		tool_complain(TOOL, &options.tool, "policy", err, wcache_ctx_get_error(ctx),
			      "No drive was touched.");
		return EXIT_FAILED;
	}
	status = n ? set_named(ctx, names, n) : set_all(ctx);
	wishes_free(options.wishes);
	return status;
}

static enum wcache_setting parse_setting(const char *word)
{
	if (!word)
		tool_usage(TOOL, "on, off or default is wanted, and at least one TARGET");
	if (!strcmp(word, "on"))
		return WCACHE_SET_ON;
	if (!strcmp(word, "off"))
		return WCACHE_SET_OFF;
	if (!strcmp(word, "default"))
		return WCACHE_SET_DEFAULT;
	tool_usage(TOOL, "'%s' is not on, off or default", word);
}

int main(int argc, char *argv[])
{
	enum {
		OPT_SAVE = 256,
		OPT_APPLY_POLICY,
	};
	static const struct option longopts[] = {
		{ "save", no_argument, NULL, OPT_SAVE },
		{ "apply-policy", no_argument, NULL, OPT_APPLY_POLICY },
		{ "dry-run", no_argument, NULL, 'n' },
		{ "force", no_argument, NULL, 'f' },
		TOOL_LONG_OPTIONS,
		{ 0 },
	};
	struct wcache_ctx *ctx;
	enum tool_exit status;
	sigset_t old;
	int c;

	while ((c = getopt_long(argc, argv, TOOL_SHORT_OPTIONS "nf", longopts, NULL)) >= 0) {
		switch (c) {
		case OPT_SAVE:
			options.save = true;
			break;
		case OPT_APPLY_POLICY:
			options.apply_policy = true;
			break;
		case 'n':
			options.dry_run = true;
			break;
		case 'f':
			options.force = true;
			break;
		default:
			tool_option(TOOL, c, help, &options.tool);
		}
	}
	if (options.apply_policy) {
		if (options.save)
			tool_usage(TOOL, "--save and --apply-policy exclude each other");
		options.by_udev = is_udev_event();
		options.tool.syslog = options.by_udev;
	} else {
		options.setting = parse_setting(argv[optind]);
		if (++optind >= argc)
			tool_usage(TOOL, "no TARGET");
	}
	ctx = tool_context(TOOL, &options.tool);
	hold_signals(&old);
	status = (options.apply_policy ? apply_policy : set_named)(ctx, argv + optind,
								   argc - optind);
	wcache_ctx_unref(ctx);
	status = tool_finish(TOOL, status);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}
