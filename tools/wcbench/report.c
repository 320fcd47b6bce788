/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "report.h"

/* What a bus can carry, bytes a second, where one number holds for all of its kind. */
static double link_limit(const struct report *report)
{
	if (report->drives && strcmp(report->drive[0].bus, "sata") == 0)
		return 600e6;
	return 0;
}

const char *report_arm_name(const struct report *report, enum arm arm)
{
	switch (report->mode) {
	case MODE_ON_OFF:
		return arm == ARM_A ? "on" : "off";
	case MODE_CURRENT:
		return "current";
	case MODE_SAME:
		return arm == ARM_A ? "A" : "B";
	}
	return "?";
}

void report_case_name(const struct workload *workload, unsigned int param, char *name, size_t size)
{
	if (workload->param)
		snprintf(name, size, "%s %s=%u", workload->id, workload->param, param);
	else
		snprintf(name, size, "%s", workload->id);
}

void report_line_name(const struct line *line, char *name, size_t size)
{
	char base[64];

	report_case_name(line->workload, line->param, base, sizeof(base));
	snprintf(name, size, "%s %s", base, line->measure->name);
}

double report_flushes(const struct diskstat *device, uint64_t operations)
{
	if (!device->flushes_counted || operations == 0)
		return -1;
	return (double)device->flushes / (double)operations;
}

/* So many steps of a counter are worth a ratio: each end of a run may be off by one. */
#define WEAR_STEPS 20

bool report_wear(const struct report *report, enum arm arm, struct wear *wear)
{
	size_t i;

	*wear = (struct wear){ .known = false };
	for (i = 0; i < report->sums; i++) {
		const struct sum *sum = &report->sum[i];

		if (sum->arm != arm || !sum->wear.known)
			continue;
		wear->known = true;
		wear->host += sum->wear.host;
		wear->media += sum->wear.media;
		wear->step = sum->wear.step;
	}
	return wear->known && wear->host >= WEAR_STEPS * wear->step;
}

static bool is_result(const struct run *run, const struct workload *workload, unsigned int param,
		      enum arm arm)
{
	return run->workload == workload && run->param == param && run->arm == arm && !run->error;
}

/* Values of one arm in order; and, of each pair that has both, the two. */
struct values {
	double *arm[ARMS];
	size_t n[ARMS];
	double *pair[ARMS];
	size_t pairs;
	double *null[2]; /* neighbours of one setting */
	size_t nulls;
};

static void values_free(struct values *values)
{
	size_t i;

	for (i = 0; i < ARMS; i++) {
		free(values->arm[i]);
		free(values->pair[i]);
		free(values->null[i]);
	}
}

static int values_collect(const struct report *report, const struct line *line,
			  struct values *values)
{
	const struct run *last = NULL;
	size_t i, k;

	memset(values, 0, sizeof(*values));
	for (i = 0; i < ARMS; i++) {
		values->arm[i] = calloc(report->runs + 1, sizeof(double));
		values->pair[i] = calloc(report->runs + 1, sizeof(double));
		values->null[i] = calloc(report->runs + 1, sizeof(double));
		if (!values->arm[i] || !values->pair[i] || !values->null[i])
			return -ENOMEM;
	}
	for (i = 0; i < report->runs; i++) {
		const struct run *run = &report->run[i];
		double value = run->value[line->index];

		if (!is_result(run, line->workload, line->param, run->arm) || value < 0)
			continue;
		values->arm[run->arm][values->n[run->arm]++] = value;
		/* Balanced order makes the last of a pair and the first of the next alike. */
		if (last && last->arm == run->arm) {
			values->null[0][values->nulls] = last->value[line->index];
			values->null[1][values->nulls++] = value;
		}
		last = run;
		if (run->arm != ARM_A)
			continue;
		for (k = 0; k < report->runs; k++) {
			const struct run *other = &report->run[k];

			if (is_result(other, line->workload, line->param, ARM_B) &&
			    other->pair == run->pair && other->value[line->index] >= 0) {
				values->pair[ARM_A][values->pairs] = value;
				values->pair[ARM_B][values->pairs++] = other->value[line->index];
				break;
			}
		}
	}
	return 0;
}

static int summarize_line(const struct report *report, struct line *line)
{
	struct values values;
	size_t i;
	int r;

	r = values_collect(report, line, &values);
	if (r == 0) {
		for (i = 0; i < ARMS; i++) {
			line->arm[i] = stats_spread(values.arm[i], values.n[i]);
			line->drifting[i] = stats_is_drifting(values.arm[i], values.n[i]);
		}
		line->ratio = stats_ratio(values.pair[ARM_A], values.pair[ARM_B], values.pairs);
		line->null = stats_ratio(values.null[0], values.null[1], values.nulls);
	}
	values_free(&values);
	return r;
}

static int add_to_sum(struct sum *sum, const struct run *run)
{
	size_t p;
	int r = 0;

	if (sum->runs++ == 0)
		sum->device.flushes_counted = true;
	sum->operations += run->operations;
	sum->window += run->window;
	sum->bytes_read += run->bytes_read;
	sum->bytes_written += run->bytes_written;
	sum->joined += run->joined;
	sum->cpu += run->cpu_user + run->cpu_system;
	diskstat_add(&sum->device, &run->device);
	if (run->wear.known) {
		sum->wear.known = true;
		sum->wear.host += run->wear.host;
		sum->wear.media += run->wear.media;
		sum->wear.step = run->wear.step;
	}
	for (p = 0; r == 0 && p < IO_PARTS; p++)
		r = hist_collect(&sum->part[p], run->part[p]);
	return r;
}

static void forget_summary(struct report *report)
{
	size_t i, p;

	for (i = 0; i < report->sums; i++)
		for (p = 0; p < IO_PARTS; p++)
			free(report->sum[i].part[p]);
	free(report->sum);
	free(report->line);
	report->sum = NULL;
	report->line = NULL;
	report->sums = report->lines = 0;
}

static struct sum *find_sum(struct report *report, const struct run *run)
{
	size_t i;

	for (i = 0; i < report->sums; i++)
		if (report->sum[i].workload == run->workload &&
		    report->sum[i].param == run->param && report->sum[i].arm == run->arm)
			return &report->sum[i];
	return NULL;
}

static int summarize_runs(struct report *report)
{
	size_t i, m;
	int r = 0;

	report->sum = calloc(report->runs + 1, sizeof(*report->sum));
	report->line = calloc(report->runs * WORKLOAD_MEASURES + 1, sizeof(*report->line));
	if (!report->sum || !report->line)
		return -ENOMEM;
	for (i = 0; r == 0 && i < report->runs; i++) {
		const struct run *run = &report->run[i];
		struct sum *sum = find_sum(report, run);

		if (!sum) {
			sum = &report->sum[report->sums++];
			sum->workload = run->workload;
			sum->param = run->param;
			sum->arm = run->arm;
		}
		if (!run->error)
			r = add_to_sum(sum, run);
	}
	for (i = 0; r == 0 && i < report->sums; i++) {
		const struct sum *sum = &report->sum[i];

		for (m = 0; m < i; m++)
			if (report->sum[m].workload == sum->workload &&
			    report->sum[m].param == sum->param)
				break;
		if (m < i)
			continue;
		for (m = 0; r == 0 && sum->workload->measure[m].name; m++) {
			struct line *line = &report->line[report->lines++];

			line->workload = sum->workload;
			line->measure = &sum->workload->measure[m];
			line->param = sum->param;
			line->index = m;
			r = summarize_line(report, line);
		}
	}
	return r;
}

/* Buffered writes reach the drive in pages. */
#define PAGE_SIZE_LEAST 4096

static bool is_deadly(enum wcache_cache drive, enum wcache_kernel kernel)
{
	return drive == WCACHE_CACHE_ON && kernel == WCACHE_KERNEL_WRITE_THROUGH;
}

/* The worst that any run had: one is enough to spoil all. */
static void take_setting(struct belief_phase *phase, const struct run *run)
{
	bool first = phase->fua == WCACHE_UNKNOWN && phase->drive == WCACHE_CACHE_UNKNOWN &&
		     phase->kernel == WCACHE_KERNEL_UNKNOWN;

	if (is_deadly(phase->drive, phase->kernel))
		return;
	if (!first && run->drive == phase->drive && run->kernel == phase->kernel)
		return;
	if (first || is_deadly(run->drive, run->kernel) || run->drive != run->wanted) {
		phase->wanted = run->wanted;
		phase->drive = run->drive;
		phase->kernel = run->kernel;
		phase->fua = run->fua;
	}
}

static void fill_phase(const struct report *report, const struct sum *sum, const char *name,
		       struct belief_phase *phase)
{
	const struct line *line = NULL;
	size_t i;

	*phase = (struct belief_phase){
		.name = name,
		.arm = report_arm_name(report, sum->arm),
		.durable = sum->workload->traits & WORKLOAD_DURABLE,
		.dsync = sum->workload->traits & WORKLOAD_DSYNC,
		.in_place = sum->workload->traits & WORKLOAD_IN_PLACE,
		.stream = sum->workload->traits & WORKLOAD_STREAM,
		.deferred = sum->workload->traits & WORKLOAD_DEFERRED,
		.counted = sum->device.flushes_counted,
		.operations = sum->operations,
		.joined = sum->joined,
		.flushes = sum->device.flushes,
		.seconds = (double)sum->window / NS_PER_S,
		.written = (double)sum->bytes_written,
		.read = (double)sum->bytes_read,
		.device_written = (double)sum->device.write_sectors * 512,
		.device_read = (double)sum->device.read_sectors * 512,
	};
	if (sum->device.flushes)
		phase->flush_ms = (double)sum->device.flush_ms / (double)sum->device.flushes;
	/* The kernel's counter has milliseconds; the program's own clock bounds it from above. */
	if (sum->part[IO_SYNC]) {
		double own = (double)hist_percentile(sum->part[IO_SYNC], 50) / NS_PER_MS;

		if (phase->flush_ms < 1 || own < phase->flush_ms)
			phase->flush_ms = own;
	}
	if (sum->operations && sum->bytes_written / sum->operations < PAGE_SIZE_LEAST)
		phase->written = (double)sum->operations * PAGE_SIZE_LEAST;
	for (i = 0; i < report->lines; i++) {
		line = &report->line[i];
		if (line->workload != sum->workload || line->param != sum->param)
			continue;
		/* What the kernel absorbs says nothing of the drive, and varies as memory does. */
		if (line->measure->less_is_better || strcmp(line->measure->name, "absorbed") == 0)
			continue;
		if (line->arm[sum->arm].cv > phase->cv)
			phase->cv = line->arm[sum->arm].cv;
		phase->drifting |= line->drifting[sum->arm];
	}
	for (i = 0; i < report->runs; i++) {
		const struct run *run = &report->run[i];

		if (run->workload != sum->workload || run->param != sum->param ||
		    run->arm != sum->arm)
			continue;
		if (run->error == -ENODEV)
			phase->gone = true;
		if (run->error && !phase->error) {
			phase->error = run->error;
			phase->failed = run->failed;
		}
		take_setting(phase, run);
	}
}

static void common_answers(const struct report *report, struct belief_facts *facts)
{
	size_t i;

	/* What a virtual disk says of its medium is not about a medium. */
	if (report->drives == 0 || facts->is_virtual)
		return;
	facts->rotational = report->drive[0].rotational;
	facts->nonvolatile = report->drive[0].nonvolatile;
	for (i = 1; i < report->drives; i++) {
		if (report->drive[i].rotational != facts->rotational)
			facts->rotational = WCACHE_UNKNOWN;
		if (report->drive[i].nonvolatile != facts->nonvolatile)
			facts->nonvolatile = WCACHE_UNKNOWN;
	}
}

static int judge(struct report *report)
{
	struct belief_facts facts = {
		.pairs = report->mode != MODE_CURRENT,
		.same = report->mode == MODE_SAME,
		.barriers_off = report->barriers_off,
		.raid = report->owner == OWNER_RAID,
		.is_virtual = report->owner == OWNER_VIRTUAL,
		.drives = report->drives,
		.link = link_limit(report),
		.size = report->size,
		.cache = report->cache_bytes,
	};
	struct belief_phase *phase = calloc(report->sums + 1, sizeof(*phase));
	struct belief_effect *effect = calloc(report->lines + 1, sizeof(*effect));
	char(*name)[96] = calloc(report->sums + report->lines + 1, sizeof(*name));
	size_t i, n = 0;
	int r = -ENOMEM;

	if (!phase || !effect || !name)
		goto out;
	common_answers(report, &facts);
	for (i = 0; i < report->sums; i++, n++) {
		report_case_name(report->sum[i].workload, report->sum[i].param, name[n],
				 sizeof(name[n]));
		fill_phase(report, &report->sum[i], name[n], &phase[i]);
	}
	for (i = 0; i < report->lines; i++) {
		const struct line *line = &report->line[i];

		/* A probe has no pair; a measure that nobody took has no ratio. */
		if (line->workload->traits & WORKLOAD_ONCE || !line->arm[ARM_A].n)
			continue;
		report_line_name(line, name[n], sizeof(name[n]));
		effect[facts.effects++] = (struct belief_effect){
			.name = name[n++],
			.control = line->workload->traits & WORKLOAD_CONTROL,
			.ratio = line->ratio,
			.null = line->null,
		};
	}
	facts.phase = phase;
	facts.phases = report->sums;
	facts.effect = effect;
	report->belief = belief_judge(&facts);
	r = 0;
out:
	free(phase);
	free(effect);
	free(name);
	return r;
}

int report_summarize(struct report *report)
{
	int r;

	forget_summary(report);
	r = summarize_runs(report);
	if (r == 0)
		r = judge(report);
	return r;
}

void report_free(struct report *report)
{
	size_t i, p;

	forget_summary(report);
	for (i = 0; i < report->runs; i++) {
		for (p = 0; p < IO_PARTS; p++)
			free(report->run[i].part[p]);
		free(report->run[i].interval);
	}
	free(report->run);
	free(report->drive);
	report->run = NULL;
	report->drive = NULL;
	report->runs = report->drives = 0;
}
