/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wcache-get: what the write caches of drives are, and whether fsync is durable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/emit.h"
#include "common/jobs.h"
#include "common/prometheus.h"
#include "common/tool.h"
#include "tree.h"
#include "wishes.h"

#define TOOL "wcache-get"

static const char help[] =
	"Usage: wcache-get [OPTION]... [TARGET]...\n"
	"Show the volatile write cache of drives, what the kernel believes of it, and whether\n"
	"a finished fsync is durable: on the drive, or through every layer on the path that\n"
	"TARGET names. Without a TARGET: every drive. Nothing is changed.\n"
	"\n"
	"      --check=WHAT       answer by exit status: durable, or off\n"
	"      --health           add what libatasmart says (can switch SMART on)\n"
	"      --identify FILE    decode IDENTIFY data, raw or as hdparm --Istdout prints it\n"
	"      --json-lines       print JSON, each target on a line of its own\n"
	"      --prometheus       print metrics for node_exporter's textfile collector\n" TOOL_HELP
	"\n"
	"Exit status: 0 done or yes, 1 failed, 2 usage, 3 no, 4 unknown, 5 some targets failed.\n";

enum check {
	CHECK_NONE = 0,
	CHECK_DURABLE,
	CHECK_OFF,
};

static struct get_options {
	struct tool_options tool;
	enum check check;
	bool health;
	bool prometheus;
	bool json_lines; /* with tool.json */
	const char *identify;
} options;

/* Who else has a say about this machine's drives; NULL where that is not known. */
static struct {
	struct wcache_others *others;
	struct wishes *wishes;
} site;

#define COLUMNS 7

struct row {
	char *cell[COLUMNS];
};

/*
 * One drive, and what was learned of it, in the form that will be printed: the
 * device is closed again, since hundreds of them would not all fit the limit of
 * open files. Only the verdict on a path needs them after that.
 */
struct answer {
	struct job job;
	struct wcache_device *dev; /* of a drive below a path */
	struct wcache_state *state;
	enum wcache_cache cache;
	enum wcache_verdict verdict;
	size_t n_rows; /* a drive, and the disks behind it where it is a RAID volume */
	struct row *rows;
	char *text;
	struct json_object *json;
	struct sample *sample;
};

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

/* The first thing worth saying in one line: what makes it less than durable. */
static const char *note(const struct wcache_report *report)
{
	const struct wcache_finding *f = wcache_report_get_finding(report, 0);

	if (!f)
		return "";
	if (wcache_finding_get_severity(f) == WCACHE_SEVERITY_INFO)
		return wcache_finding_get_code(f);
	return wcache_finding_get_text(f);
}

static void print_fact(FILE *f, const char *name, const char *value, const char *source)
{
	if (!value)
		return;
	fprintf(f, "  %-14s ", name);
	emit_text(f, value);
	if (source) {
		fputs("  (", f);
		emit_text(f, source);
		fputc(')', f);
	}
	fputc('\n', f);
}

static const char *answer_word(enum wcache_answer answer)
{
	return answer == WCACHE_YES ? "yes" : answer == WCACHE_NO ? "no" : "unknown";
}

static void print_details(FILE *f, const struct wcache_device *dev, const struct wcache_state *s)
{
	enum wcache_sct sct = wcache_state_get_sct(s);

	emit_text(f, wcache_device_get_node(dev));
	fputc('\n', f);
	print_fact(f, "model", wcache_device_get_model(dev), NULL);
	print_fact(f, "firmware", wcache_device_get_firmware(dev), NULL);
	print_fact(f, "serial", wcache_device_get_serial(dev), NULL);
	print_fact(f, "wwn", wcache_device_get_wwn(dev), NULL);
	print_fact(f, "bus", wcache_device_get_bus(dev), NULL);
	print_fact(f, "driver", wcache_device_get_driver(dev), NULL);
	print_fact(f, "protocol", wcache_device_get_protocol(dev), NULL);
	print_fact(f, "cache", wcache_cache_to_string(wcache_state_get_cache(s)),
		   wcache_state_get_reason(s) ? wcache_state_get_reason(s)
					      : wcache_state_get_source(s, WCACHE_FACT_CACHE));
	print_fact(f, "changeable", answer_word(wcache_state_get_changeable(s)),
		   wcache_state_get_source(s, WCACHE_FACT_CHANGEABLE));
	print_fact(f, "default", wcache_cache_to_string(wcache_state_get_default(s)),
		   wcache_state_get_source(s, WCACHE_FACT_DEFAULT));
	print_fact(f, "saved", wcache_cache_to_string(wcache_state_get_saved(s)),
		   wcache_state_get_source(s, WCACHE_FACT_SAVED));
	print_fact(f, "saveable", answer_word(wcache_state_get_saveable(s)), NULL);
	if (sct)
		print_fact(f, "sct",
			   sct == WCACHE_SCT_FORCED_ON	  ? "forced on"
			   : sct == WCACHE_SCT_FORCED_OFF ? "forced off"
							  : "SET FEATURES decides",
			   wcache_state_get_source(s, WCACHE_FACT_SCT));
	print_fact(f, "non-volatile", answer_word(wcache_state_get_nonvolatile(s)),
		   wcache_state_get_source(s, WCACHE_FACT_NONVOLATILE));
	print_fact(f, "flush command", wcache_state_get_flush_command(s), NULL);
	print_fact(f, "kernel", wcache_kernel_to_string(wcache_state_get_kernel(s)),
		   wcache_state_get_source(s, WCACHE_FACT_KERNEL));
	print_fact(f, "fua", answer_word(wcache_state_get_fua(s)), NULL);
}

static void print_command(FILE *f, const char *name, const struct wcache_controller *c,
			  enum wcache_command which)
{
	enum wcache_answer verified = WCACHE_UNKNOWN;
	const char *command = wcache_controller_get_command(c, which, &verified);

	print_fact(f, name, command, verified == WCACHE_NO ? "not verified" : NULL);
}

static void print_controller(FILE *f, const struct wcache_device *dev, const struct wcache_state *s)
{
	const struct wcache_controller *c = wcache_device_get_controller(dev);

	if (!c)
		return;
	print_fact(f, "controller", wcache_controller_get_name(c), wcache_controller_get_reason(c));
	print_fact(f, "disk is", wcache_controller_class_to_string(wcache_controller_get_class(c)),
		   NULL);
	print_fact(f, "hidden", wcache_controller_get_hidden(c), NULL);
	print_fact(f, "cache means", wcache_controller_get_meaning(c), NULL);
	print_fact(f, "flush ends", wcache_controller_get_flush_end(c), NULL);
	print_fact(f, "its tool", wcache_controller_get_tool(c), NULL);
	print_command(f, "to show", c, WCACHE_COMMAND_SHOW);
	print_command(f, "to turn off", c, WCACHE_COMMAND_SET);
	for (size_t i = 0; i < wcache_state_get_member_count(s); i++) {
		const struct wcache_state *m = wcache_state_get_member(s, i);
		const char *model = wcache_state_get_member_model(s, i);

		fprintf(f, "  %-14s ", wcache_state_get_member_name(s, i));
		emit_text(f, wcache_cache_to_string(wcache_state_get_cache(m)));
		if (wcache_state_get_reason(m) || model) {
			fputs("  (", f);
			emit_text(f,
				  wcache_state_get_reason(m) ? wcache_state_get_reason(m) : model);
			fputc(')', f);
		}
		fputc('\n', f);
	}
	print_fact(f, "disks", wcache_state_get_members_reason(s), NULL);
}

static void print_report(FILE *f, const struct wcache_report *report)
{
	print_fact(f, "fsync", wcache_verdict_to_string(wcache_report_get_verdict(report)), NULL);
	for (size_t i = 0; i < wcache_report_get_finding_count(report); i++) {
		const struct wcache_finding *x = wcache_report_get_finding(report, i);

		fprintf(f, "  %s: ", wcache_severity_to_string(wcache_finding_get_severity(x)));
		emit_text(f, wcache_finding_get_text(x));
		fprintf(f, " [%s]\n", wcache_finding_get_code(x));
		if (wcache_finding_get_remedy(x)) {
			fputs("    ", f);
			emit_text(f, wcache_finding_get_remedy(x));
			fputc('\n', f);
		}
	}
}

struct health {
	enum wcache_answer awake, healthy;
	const char *why; /* it could not be had; NULL where it could */
};

static void render_text(struct answer *a, const struct wcache_device *dev,
			const struct wcache_state *state, const struct wcache_report *report,
			const struct health *health)
{
	size_t size;
	FILE *f = open_memstream(&a->text, &size);

	if (!f)
		abort();
	print_details(f, dev, state);
	print_controller(f, dev, state);
	if (health) {
		const char *source = health->why ? health->why : "libatasmart";

		print_fact(f, "awake", answer_word(health->awake), source);
		print_fact(f, "healthy", answer_word(health->healthy), source);
	}
	print_report(f, report);
	fclose(f);
}

static void add_row(struct answer *a, const char *const cell[COLUMNS])
{
	a->rows = reallocarray(a->rows, a->n_rows + 1, sizeof(*a->rows));
	if (!a->rows)
		abort();
	for (int c = 0; c < COLUMNS; c++) {
		a->rows[a->n_rows].cell[c] = strdup(cell[c]);
		if (!a->rows[a->n_rows].cell[c])
			abort();
	}
	a->n_rows++;
}

static void render_members(struct answer *a, const struct wcache_state *state)
{
	for (size_t i = 0; i < wcache_state_get_member_count(state); i++) {
		const struct wcache_state *s = wcache_state_get_member(state, i);
		const char *reason = wcache_state_get_reason(s);
		char name[64];

		snprintf(name, sizeof(name), "  %s", wcache_state_get_member_name(state, i));
		add_row(a, (const char *const[COLUMNS]){
				   name,
				   or_dash(wcache_state_get_member_bus(state, i)),
				   or_dash(wcache_state_get_member_model(state, i)),
				   wcache_cache_to_string(wcache_state_get_cache(s)),
				   "-",
				   "-",
				   reason ? reason : "",
			   });
	}
}

static void render_rows(struct answer *a, const struct wcache_device *dev,
			const struct wcache_state *state, const struct wcache_report *report)
{
	const char *const cell[COLUMNS] = {
		wcache_device_get_name(dev),
		or_dash(wcache_device_get_bus(dev)),
		or_dash(wcache_device_get_model(dev)),
		wcache_cache_to_string(a->cache),
		wcache_kernel_to_string(wcache_state_get_kernel(state)),
		wcache_verdict_to_string(a->verdict),
		note(report),
	};

	add_row(a, cell);
	render_members(a, state);
}

static void render_json(struct answer *a, const struct wcache_device *dev,
			const struct wcache_state *state, const struct wcache_report *report,
			const struct health *health)
{
	a->json = emit_drive(dev, state, report);
	if (health) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "awake", emit_answer(health->awake));
		json_object_object_add(o, "healthy", emit_answer(health->healthy));
		json_object_object_add(o, "reason", emit_string(health->why));
		json_object_object_add(a->json, "health", o);
	}
}

static void render(struct answer *a, struct wcache_device *dev, const struct wcache_state *state,
		   const struct wcache_report *report)
{
	struct health health = { 0 };

	a->cache = wcache_state_get_cache(state);
	a->verdict = wcache_report_get_verdict(report);
	if (options.health && wcache_device_get_health(dev, &health.awake, &health.healthy) < 0)
		health.why = wcache_error_get_text(wcache_device_get_error(dev));
	if (options.prometheus)
		a->sample = sample_new(dev, state, report);
	else if (options.tool.json)
		render_json(a, dev, state, report, options.health ? &health : NULL);
	else if (options.tool.verbose || options.health)
		render_text(a, dev, state, report, options.health ? &health : NULL);
	else if (!a->job.target->stack)
		render_rows(a, dev, state, report);
}

static int add_others(struct wcache_report *report, const struct wcache_device *dev,
		      const struct wcache_state *state)
{
	enum wcache_wanted wanted = WCACHE_WANTED_UNKNOWN;
	const char *where = NULL;

	if (!site.others)
		return 0;
	if (site.wishes)
		wanted = wishes_ask(site.wishes, dev, state, &where);
	return wcache_report_add_others(report, site.others, dev, state, wanted, where);
}

static void ask(struct job *job)
{
	struct answer *a = (struct answer *)job;
	struct wcache_report *report = NULL;
	struct wcache_state *state = NULL;
	struct wcache_device *dev;
	int err;

	err = wcache_device_open(job->ctx, job->drive,
				 options.health ? WCACHE_ACCESS_CHANGE : WCACHE_ACCESS_QUERY, &dev);
	if (err < 0) {
		job_fail(job, err, wcache_ctx_get_error(job->ctx));
		return;
	}
	err = wcache_state_read(
		dev, WCACHE_STATE_MEMBERS | (options.tool.verbose ? WCACHE_STATE_FULL : 0), &state);
	if (!err)
		err = wcache_report_new(dev, state, &report);
	if (!err)
		err = add_others(report, dev, state);
	if (err < 0)
		job_fail(job, err, wcache_error_get_text(wcache_device_get_error(dev)));
	else
		render(a, dev, state, report);
	wcache_report_free(report);
	if (!err && job->target->stack) {
		a->dev = dev;
		a->state = state;
		return;
	}
	wcache_state_free(state);
	wcache_device_close(dev);
}

static void complain(struct job *job)
{
	if (job->err)
		tool_complain(TOOL, &options.tool, job_name(job), job->err, job->why, NULL);
}

static void clear(struct job *job)
{
	struct answer *a = (struct answer *)job;

	for (size_t r = 0; r < a->n_rows; r++)
		for (int c = 0; c < COLUMNS; c++)
			free(a->rows[r].cell[c]);
	free(a->rows);
	free(a->text);
	json_object_put(a->json);
	sample_free(a->sample);
	wcache_state_free(a->state);
	if (a->dev)
		wcache_device_close(a->dev);
}

static void print_row(const char *const cell[COLUMNS], const int width[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		emit_text(stdout, cell[c]);
		if (c == COLUMNS - 1 || (c == COLUMNS - 2 && !*cell[c + 1]))
			break;
		printf("%*s", width[c] - (int)emit_width(cell[c]) + 1, "");
	}
	putchar('\n');
}

static void print_table(const struct jobs *jobs)
{
	static const char *const title[COLUMNS] = { "DEVICE", "BUS",   "MODEL", "CACHE",
						    "KERNEL", "FSYNC", "NOTE" };
	int width[COLUMNS];
	bool any = false;

	for (int c = 0; c < COLUMNS; c++)
		width[c] = strlen(title[c]);
	for (size_t i = 0; i < jobs->n; i++) {
		const struct answer *a = (struct answer *)jobs->job[i];

		for (size_t k = 0; k < a->n_rows * COLUMNS; k++) {
			int w = emit_width(a->rows[k / COLUMNS].cell[k % COLUMNS]);

			any = true;
			if (w > width[k % COLUMNS])
				width[k % COLUMNS] = w;
		}
	}
	if (!any)
		return;
	print_row(title, width);
	for (size_t i = 0; i < jobs->n; i++) {
		const struct answer *a = (struct answer *)jobs->job[i];

		for (size_t r = 0; r < a->n_rows; r++)
			print_row((const char *const *)a->rows[r].cell, width);
	}
}

/* A target, and the answers of the drives that it stands for. */
struct group {
	const struct target *target;
	struct job *const *jobs;
	size_t n;
	struct wcache_report *report; /* of a path */
};

static struct answer *answer_of(struct job *job)
{
	return (struct answer *)job;
}

/* The verdict on a path, from the answers of its drives. */
static void judge_path(struct group *g)
{
	const struct wcache_device **devs = calloc(g->n + 1, sizeof(*devs));
	const struct wcache_state **states = calloc(g->n + 1, sizeof(*states));

	if (!devs || !states)
		abort();
	for (size_t i = 0; i < g->n; i++) {
		devs[i] = answer_of(g->jobs[i])->dev;
		states[i] = answer_of(g->jobs[i])->state;
	}
	if (wcache_report_new_for_stack(g->target->stack, devs, states, &g->report) < 0)
		abort();
	free(devs);
	free(states);
}

/* What a tree says of a drive. */
static char *drive_words(const struct answer *a)
{
	const char *model;
	char *words;

	if (!a->dev)
		return strdup("could not be asked");
	model = wcache_device_get_model(a->dev);
	if (asprintf(&words, "%s%s%s, cache %s, kernel %s", or_dash(wcache_device_get_bus(a->dev)),
		     model ? " " : "", model ? model : "", wcache_cache_to_string(a->cache),
		     wcache_kernel_to_string(wcache_state_get_kernel(a->state))) < 0)
		return NULL;
	return words;
}

static void print_path(const struct group *g)
{
	char **words = calloc(g->n + 1, sizeof(*words));

	if (!words)
		abort();
	for (size_t i = 0; i < g->n; i++) {
		words[i] = drive_words(answer_of(g->jobs[i]));
		if (!words[i])
			abort();
	}
	emit_text(stdout, g->target->name);
	putchar('\n');
	tree_print(stdout, g->target->stack, (const char *const *)words, options.tool.verbose);
	print_report(stdout, g->report);
	for (size_t i = 0; i < g->n; i++) {
		if (answer_of(g->jobs[i])->text)
			fputs(answer_of(g->jobs[i])->text, stdout);
		free(words[i]);
	}
	free(words);
}

static void print_json(const struct group groups[], size_t n)
{
	struct json_object *root = emit_root();
	struct json_object *drives = json_object_new_array();
	struct json_object *paths = json_object_new_array();
	struct json_object *errors = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		const struct group *g = &groups[i];
		struct json_object *list = g->report ? json_object_new_array() : drives;

		for (size_t k = 0; k < g->n; k++) {
			struct answer *a = answer_of(g->jobs[k]);

			if (a->job.err)
				json_object_array_add(errors, emit_error(job_name(&a->job),
									 a->job.err, a->job.why));
			else
				json_object_array_add(list, json_object_get(a->json));
		}
		if (g->report)
			json_object_array_add(paths, emit_path(g->target->name, g->target->stack,
							       g->report, list));
	}
	json_object_object_add(root, "drives", drives);
	json_object_object_add(root, "paths", paths);
	json_object_object_add(root, "errors", errors);
	emit_print(root);
}

/* For log shippers: what print_json() has in lists, without them. */
static void print_json_lines(const struct group groups[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct group *g = &groups[i];
		struct json_object *list = json_object_new_array();

		for (size_t k = 0; k < g->n; k++) {
			struct answer *a = answer_of(g->jobs[k]);

			if (a->job.err)
				emit_print_line(
					emit_error(job_name(&a->job), a->job.err, a->job.why));
			else if (g->report)
				json_object_array_add(list, json_object_get(a->json));
			else
				emit_print_line(json_object_get(a->json));
		}
		if (g->report)
			emit_print_line(
				emit_path(g->target->name, g->target->stack, g->report, list));
		else
			json_object_put(list);
	}
}

static void print_samples(const struct group groups[], size_t n, const struct jobs *jobs)
{
	struct sample **samples = calloc(jobs->n + n + 1, sizeof(*samples));
	size_t at;

	if (!samples)
		abort();
	for (at = 0; at < jobs->n; at++)
		samples[at] = ((struct answer *)jobs->job[at])->sample;
	for (size_t i = 0; i < n; i++)
		if (groups[i].report)
			samples[at++] = sample_new_path(groups[i].target->name, groups[i].report);
	samples_print(samples, at);
	while (at > jobs->n)
		sample_free(samples[--at]);
	free(samples);
}

static void print(const struct group groups[], size_t n, const struct jobs *jobs)
{
	if (options.prometheus) {
		print_samples(groups, n, jobs);
		return;
	}
	if (options.json_lines) {
		print_json_lines(groups, n);
		return;
	}
	if (options.tool.json) {
		print_json(groups, n);
		return;
	}
	if (options.tool.quiet)
		return;
	print_table(jobs);
	for (size_t i = 0; i < n; i++) {
		if (groups[i].report)
			print_path(&groups[i]);
		else if (answer_of(groups[i].jobs[0])->text)
			fputs(answer_of(groups[i].jobs[0])->text, stdout);
	}
}

static enum tool_exit judge_verdict(enum wcache_verdict verdict)
{
	return verdict == WCACHE_VERDICT_DURABLE   ? EXIT_DONE
	       : verdict == WCACHE_VERDICT_AT_RISK ? EXIT_NO
						   : EXIT_UNKNOWN;
}

/* What one drive's answer is worth, by itself. */
static enum tool_exit judge_drive(const struct answer *a)
{
	if (a->job.err)
		return EXIT_FAILED;
	switch (options.check) {
	case CHECK_DURABLE:
		return judge_verdict(a->verdict);
	case CHECK_OFF:
		return a->cache == WCACHE_CACHE_ON	  ? EXIT_NO
		       : a->cache == WCACHE_CACHE_UNKNOWN ? EXIT_UNKNOWN
							  : EXIT_DONE;
	case CHECK_NONE:
		break;
	}
	return a->cache == WCACHE_CACHE_UNKNOWN ? EXIT_UNKNOWN : EXIT_DONE;
}

/* All drives below a path must be off; a drive that could not be asked leaves that open. */
static enum tool_exit judge_all_off(const struct group *g)
{
	enum tool_exit worst = g->n ? EXIT_DONE : EXIT_UNKNOWN;

	for (size_t i = 0; i < g->n; i++) {
		enum tool_exit e = judge_drive(answer_of(g->jobs[i]));

		if (e == EXIT_NO)
			return EXIT_NO;
		if (e != EXIT_DONE)
			worst = EXIT_UNKNOWN;
	}
	return worst;
}

static enum tool_exit judge(const struct group *g)
{
	enum wcache_verdict verdict;

	if (!g->report)
		return judge_drive(answer_of(g->jobs[0]));
	if (options.check == CHECK_OFF)
		return judge_all_off(g);
	verdict = wcache_report_get_verdict(g->report);
	if (options.check == CHECK_NONE && verdict == WCACHE_VERDICT_AT_RISK)
		return EXIT_DONE;
	return judge_verdict(verdict);
}

/* How long a whole answer may take before its thread is given up, in milliseconds. */
static unsigned int limit(void)
{
	/* A drive that does not answer is asked once; the rest is for a slow one. */
	return 3 * (options.tool.timeout_ms ? options.tool.timeout_ms : 5000) + 2000;
}

static enum tool_exit get(struct wcache_ctx *ctx, const struct target targets[], size_t n)
{
	const struct jobs_kind kind = {
		.tool = TOOL,
		.size = sizeof(struct answer),
		.limit_ms = limit(),
		.work = ask,
		.done = complain,
		.clear = clear,
	};
	struct jobs *jobs = jobs_run(&kind, ctx, &options.tool, targets, n);
	struct group *groups = calloc(n ? n : 1, sizeof(*groups));
	enum tool_exit *status = calloc(n ? n : 1, sizeof(*status));
	enum tool_exit result;
	size_t at = 0;

	if (!groups || !status)
		abort();
	for (size_t i = 0; i < n; i++) {
		struct group *g = &groups[i];

		g->target = &targets[i];
		g->jobs = jobs->job + at;
		g->n = g->target->err ? 1 : target_count(g->target);
		at += g->n;
		if (g->target->stack && !g->target->err)
			judge_path(g);
		status[i] = judge(g);
	}
	print(groups, n, jobs);
	result = tool_exit_join(status, n);
	for (size_t i = 0; i < n; i++)
		wcache_report_free(groups[i].report);
	free(groups);
	free(status);
	jobs_free(jobs);
	return result;
}

static enum tool_exit get_all(struct wcache_ctx *ctx)
{
	struct wcache_drives *drives;
	struct target *targets;
	enum tool_exit status;
	size_t n;
	int err = wcache_drives_new(ctx, &drives);

	if (err < 0) {
		tool_complain(TOOL, &options.tool, "/sys/block", err, wcache_ctx_get_error(ctx),
			      NULL);
		return EXIT_FAILED;
	}
	n = wcache_drives_get_count(drives);
	targets = targets_of(drives);
	status = get(ctx, targets, n);
	targets_free(targets, n);
	wcache_drives_free(drives);
	return status;
}

static enum tool_exit get_named(struct wcache_ctx *ctx, char *const names[], size_t n)
{
	struct target *targets = targets_new(ctx, &options.tool, (const char *const *)names, n);
	enum tool_exit status = get(ctx, targets, n);

	targets_free(targets, n);
	return status;
}

static struct json_object *emit_identify(const struct wcache_identify *id)
{
	static const int words[] = { 0, 69, 80, 82, 83, 84, 85, 86, 87, 206, 217 };
	struct json_object *root = emit_root();
	struct json_object *o = json_object_new_object();
	char key[8], value[8];

	json_object_object_add(root, "class", emit_string(wcache_identify_get_class(id)));
	json_object_object_add(root, "model", emit_string(wcache_identify_get_model(id)));
	json_object_object_add(root, "firmware", emit_string(wcache_identify_get_firmware(id)));
	json_object_object_add(root, "serial", emit_string(wcache_identify_get_serial(id)));
	json_object_object_add(root, "cache", emit_cache(wcache_identify_get_cache(id)));
	json_object_object_add(root, "lookahead", emit_answer(wcache_identify_get_lookahead(id)));
	json_object_object_add(root, "flush", emit_answer(wcache_identify_has_flush(id)));
	json_object_object_add(root, "flush_ext", emit_answer(wcache_identify_has_flush_ext(id)));
	json_object_object_add(root, "flush_command",
			       emit_string(wcache_identify_get_flush_command(id)));
	json_object_object_add(root, "nonvolatile",
			       emit_answer(wcache_identify_get_nonvolatile(id)));
	json_object_object_add(root, "checksum", emit_answer(wcache_identify_get_checksum(id)));
	json_object_object_add(root, "rotation",
			       wcache_identify_get_rotation(id)
				       ? json_object_new_int(wcache_identify_get_rotation(id))
				       : NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		snprintf(key, sizeof(key), "%d", words[i]);
		snprintf(value, sizeof(value), "%04x", wcache_identify_get_word(id, words[i]));
		json_object_object_add(o, key, emit_string(value));
	}
	json_object_object_add(root, "words", o);
	return root;
}

static enum tool_exit identify(void)
{
	FILE *f = strcmp(options.identify, "-") ? fopen(options.identify, "re") : stdin;
	struct wcache_identify *id;
	char data[8192];
	size_t n;
	int err;

	if (!f) {
		tool_complain(TOOL, &options.tool, options.identify, -errno, strerror(errno), NULL);
		return EXIT_FAILED;
	}
	n = fread(data, 1, sizeof(data), f);
	err = ferror(f) ? -EIO : wcache_identify_new(data, n, &id);
	if (f != stdin)
		fclose(f);
	if (err < 0) {
		tool_complain(TOOL, &options.tool, options.identify, err,
			      err == -EBADMSG ? "neither 512 bytes of IDENTIFY data nor its hex "
						"text"
					      : "cannot be read",
			      "hdparm --Istdout /dev/sdX prints what is wanted here.");
		return EXIT_FAILED;
	}
	if (options.tool.json) {
		emit_print(emit_identify(id));
	} else if (!options.tool.quiet) {
		print_fact(stdout, "class", wcache_identify_get_class(id), NULL);
		print_fact(stdout, "model", wcache_identify_get_model(id), NULL);
		print_fact(stdout, "firmware", wcache_identify_get_firmware(id), NULL);
		print_fact(stdout, "serial", wcache_identify_get_serial(id), NULL);
		print_fact(stdout, "cache", wcache_cache_to_string(wcache_identify_get_cache(id)),
			   "words 82, 83, 85, 87");
		print_fact(stdout, "look-ahead", answer_word(wcache_identify_get_lookahead(id)),
			   "words 82, 85");
		print_fact(stdout, "flush command", or_dash(wcache_identify_get_flush_command(id)),
			   "words 83, 86");
		print_fact(stdout, "non-volatile", answer_word(wcache_identify_get_nonvolatile(id)),
			   "word 69");
		print_fact(stdout, "checksum",
			   wcache_identify_get_checksum(id) == WCACHE_YES  ? "right"
			   : wcache_identify_get_checksum(id) == WCACHE_NO ? "wrong"
									   : "none",
			   "word 255");
	}
	err = wcache_identify_get_cache(id) == WCACHE_CACHE_UNKNOWN ? EXIT_UNKNOWN : EXIT_DONE;
	wcache_identify_free(id);
	return err;
}

/* A recording may be of another machine. They are read once, and kept to the end. */
static void read_site(struct wcache_ctx *ctx)
{
	if (options.tool.replay)
		return;
	if (wcache_others_new(ctx, NULL, &site.others) < 0)
		site.others = NULL;
	if (wishes_new(ctx, true, &site.wishes) < 0)
		site.wishes = NULL;
}

int main(int argc, char *argv[])
{
	enum {
		OPT_CHECK = 256,
		OPT_HEALTH,
		OPT_IDENTIFY,
		OPT_PROMETHEUS,
		OPT_JSON_LINES,
	};
	static const struct option longopts[] = {
		{ "check", required_argument, NULL, OPT_CHECK },
		{ "health", no_argument, NULL, OPT_HEALTH },
		{ "identify", required_argument, NULL, OPT_IDENTIFY },
		{ "prometheus", no_argument, NULL, OPT_PROMETHEUS },
		{ "json-lines", no_argument, NULL, OPT_JSON_LINES },
		TOOL_LONG_OPTIONS,
		{ 0 },
	};
	struct wcache_ctx *ctx;
	enum tool_exit status;
	int c;

	while ((c = getopt_long(argc, argv, TOOL_SHORT_OPTIONS, longopts, NULL)) >= 0) {
		switch (c) {
		case OPT_CHECK:
			if (!strcmp(optarg, "durable"))
				options.check = CHECK_DURABLE;
			else if (!strcmp(optarg, "off"))
				options.check = CHECK_OFF;
			else
				tool_usage(TOOL, "--check takes durable or off, not '%s'", optarg);
			break;
		case OPT_HEALTH:
			options.health = true;
			break;
		case OPT_IDENTIFY:
			options.identify = optarg;
			break;
		case OPT_PROMETHEUS:
			options.prometheus = true;
			break;
		case OPT_JSON_LINES:
			options.json_lines = true;
			options.tool.json = true;
			break;
		default:
			tool_option(TOOL, c, help, &options.tool);
		}
	}
	if (options.identify) {
		if (optind < argc)
			tool_usage(TOOL, "--identify takes no TARGET");
		return tool_finish(TOOL, identify());
	}
	ctx = tool_context(TOOL, &options.tool);
	read_site(ctx);
	status = optind < argc ? get_named(ctx, argv + optind, argc - optind) : get_all(ctx);
	wcache_ctx_unref(ctx);
	return tool_finish(TOOL, status);
}
