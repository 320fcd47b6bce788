/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON; names that mean the same as in fio's are spelled as fio spells them.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "output.h"

#define FORMAT_VERSION 1

static void add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text && text[0] ? json_object_new_string(text) : NULL);
}

static void add_number(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

static void add_count(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void add_answer(struct json_object *object, const char *key, enum wcache_answer answer)
{
	json_object_object_add(
		object, key,
		answer == WCACHE_UNKNOWN ? NULL : json_object_new_boolean(answer == WCACHE_YES));
}

static struct json_object *add_object(struct json_object *object, const char *key)
{
	struct json_object *inner = json_object_new_object();

	json_object_object_add(object, key, inner);
	return inner;
}

static struct json_object *add_array(struct json_object *object, const char *key)
{
	struct json_object *inner = json_object_new_array();

	json_object_object_add(object, key, inner);
	return inner;
}

static struct json_object *append_object(struct json_object *array)
{
	struct json_object *inner = json_object_new_object();

	json_object_array_add(array, inner);
	return inner;
}

/* As fio has it: name{min,max,mean,stddev,N,percentile{"99.000000"}} in nanoseconds. */
static void add_latency(struct json_object *object, const char *key, const struct hist *hist,
			bool buckets)
{
	static const double percent[] = { 1, 5, 10, 50, 90, 95, 99, 99.5, 99.9, 99.99 };
	struct json_object *latency, *inner;
	char name[32];
	size_t i;

	if (!hist || hist->n == 0)
		return;
	latency = add_object(object, key);
	add_count(latency, "min", hist->min);
	add_count(latency, "max", hist->max);
	add_number(latency, "mean", hist_mean(hist));
	add_number(latency, "stddev", hist_stddev(hist));
	add_count(latency, "N", hist->n);
	inner = add_object(latency, "percentile");
	for (i = 0; i < sizeof(percent) / sizeof(percent[0]); i++) {
		snprintf(name, sizeof(name), "%f", percent[i]);
		add_count(inner, name, hist_percentile(hist, percent[i]));
	}
	if (!buckets)
		return;
	inner = add_object(latency, "bins");
	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!hist->bucket[i])
			continue;
		snprintf(name, sizeof(name), "%llu",
			 (unsigned long long)hist_bucket_value((unsigned int)i));
		add_count(inner, name, hist->bucket[i]);
	}
}

static void add_latencies(struct json_object *object, struct hist *const part[IO_PARTS],
			  bool buckets)
{
	static const char *const name[IO_PARTS] = {
		[IO_READ] = "read",
		[IO_WRITE] = "write",
		[IO_SYNC] = "sync",
		[IO_TOTAL] = "operation",
	};
	size_t p;

	for (p = 0; p < IO_PARTS; p++)
		if (part[p] && part[p]->n)
			add_latency(add_object(object, name[p]), "lat_ns", part[p], buckets);
}

static void add_device(struct json_object *object, const struct diskstat *device,
		       uint64_t operations)
{
	struct json_object *inner = add_object(object, "device");

	add_count(inner, "reads", device->reads);
	add_count(inner, "read_sectors", device->read_sectors);
	add_count(inner, "writes", device->writes);
	add_count(inner, "data_writes", diskstat_data_writes(device));
	add_count(inner, "write_merges", device->write_merges);
	add_count(inner, "write_sectors", device->write_sectors);
	add_count(inner, "busy_ms", device->busy_ms);
	if (device->flushes_counted) {
		add_count(inner, "flushes", device->flushes);
		add_count(inner, "flush_ms", device->flush_ms);
		add_number(inner, "flushes_per_operation",
			   operations ? (double)device->flushes / (double)operations : NAN);
	} else {
		json_object_object_add(inner, "flushes", NULL);
	}
	add_number(inner, "data_writes_per_operation",
		   operations ? (double)diskstat_data_writes(device) / (double)operations : NAN);
}

static void add_wear(struct json_object *object, const struct wear *wear)
{
	struct json_object *inner;

	if (!wear->known) {
		json_object_object_add(object, "wear", NULL);
		return;
	}
	inner = add_object(object, "wear");
	add_number(inner, "host_bytes", wear->host);
	add_number(inner, "media_bytes", wear->media);
	add_number(inner, "step_bytes", wear->step);
	add_number(inner, "media_per_host", wear->host > 0 ? wear->media / wear->host : NAN);
}

static void add_intervals(struct json_object *object, const struct report *report,
			  const struct run *run)
{
	struct json_object *array = add_array(object, "intervals");
	size_t i;

	for (i = 0; i < run->intervals; i++) {
		const struct run_interval *interval = &run->interval[i];
		double seconds = (double)interval->io.length / NS_PER_S;
		struct iostat io = diskstat_iostat(&interval->device, seconds, report->drives);
		struct json_object *inner = append_object(array);

		add_number(inner, "t", (double)interval->io.at / NS_PER_S);
		add_number(inner, "iops", (double)interval->io.operations / seconds);
		add_number(inner, "bw_bytes", (double)interval->io.bytes / seconds);
		add_count(inner, "p50_ns", interval->io.p50);
		add_count(inner, "p99_ns", interval->io.p99);
		add_count(inner, "max_ns", interval->io.max);
		add_number(inner, "w_s", io.w);
		add_number(inner, "wkB_s", io.wkb);
		add_number(inner, "w_await", io.w_await);
		add_number(inner, "f_s", io.f);
		add_number(inner, "f_await", io.f_await);
		add_number(inner, "aqu_sz", io.aqu);
		add_number(inner, "util", io.util);
	}
}

static void add_run(struct json_object *array, const struct report *report, const struct run *run)
{
	struct json_object *object = append_object(array), *inner;
	double seconds = (double)run->window / NS_PER_S;
	size_t m;

	add_text(object, "workload", run->workload->id);
	if (run->workload->param)
		add_count(object, run->workload->param, run->param);
	add_count(object, "pair", run->pair);
	add_count(object, "order", run->order);
	add_text(object, "arm", report_arm_name(report, run->arm));
	add_text(object, "cache", wcache_cache_to_string(run->drive));
	add_text(object, "kernel", wcache_kernel_to_string(run->kernel));
	add_number(object, "t_start", run->began);
	add_count(object, "runtime", (uint64_t)(seconds * 1000));
	if (run->error) {
		add_text(object, "error", strerror(-run->error));
		add_text(object, "failed", run->failed);
		return;
	}
	json_object_object_add(object, "steady", json_object_new_boolean(run->warm));
	add_count(object, "total_ios", run->operations);
	add_number(object, "iops", (double)run->operations / seconds);
	add_number(object, "bw_bytes", (double)(run->bytes_read + run->bytes_written) / seconds);
	add_count(object, "read_bytes", run->bytes_read);
	add_count(object, "write_bytes", run->bytes_written);
	add_count(object, "syncs_joined", run->joined);
	inner = add_object(object, "values");
	for (m = 0; run->workload->measure[m].name; m++)
		add_number(inner, run->workload->measure[m].name,
			   run->value[m] < 0 ? NAN : run->value[m]);
	add_latencies(object, run->part, false);
	/* fio: percent of the time of one CPU. */
	add_number(object, "usr_cpu", 100 * run->cpu_user / seconds);
	add_number(object, "sys_cpu", 100 * run->cpu_system / seconds);
	add_number(object, "flush_before_s", run->flush_before);
	add_number(object, "flush_after_s", run->flush_after);
	add_device(object, &run->device, run->operations);
	add_wear(object, &run->wear);
	add_intervals(object, report, run);
}

static void add_ratio(struct json_object *object, const char *key, const struct ratio *ratio)
{
	struct json_object *inner;

	if (ratio->n == 0) {
		json_object_object_add(object, key, NULL);
		return;
	}
	inner = add_object(object, key);
	add_number(inner, "ratio", ratio->value);
	add_number(inner, "ci_lo", ratio->n < 2 ? NAN : ratio->lo);
	add_number(inner, "ci_hi", ratio->n < 2 ? NAN : ratio->hi);
	add_count(inner, "n", ratio->n);
}

static void add_line(struct json_object *array, const struct report *report,
		     const struct line *line)
{
	enum arm arm, last = report->mode == MODE_CURRENT ? ARM_A : ARM_B;
	struct json_object *object = append_object(array);

	add_text(object, "workload", line->workload->id);
	if (line->workload->param)
		add_count(object, line->workload->param, line->param);
	add_text(object, "measure", line->measure->name);
	add_text(object, "unit", line->measure->unit);
	json_object_object_add(object, "less_is_better",
			       json_object_new_boolean(line->measure->less_is_better));
	json_object_object_add(object, "control",
			       json_object_new_boolean(line->workload->traits & WORKLOAD_CONTROL));
	for (arm = ARM_A; arm <= last; arm++) {
		const struct spread *spread = &line->arm[arm];
		struct json_object *inner = add_object(object, report_arm_name(report, arm));

		add_count(inner, "n", spread->n);
		add_number(inner, "min", spread->n ? spread->min : NAN);
		add_number(inner, "median", spread->n ? spread->median : NAN);
		add_number(inner, "max", spread->n ? spread->max : NAN);
		add_number(inner, "mean", spread->n ? spread->mean : NAN);
		add_number(inner, "cv", spread->n > 1 ? spread->cv : NAN);
	}
	if (report->mode == MODE_CURRENT)
		return;
	add_ratio(object, "ratio", &line->ratio);
	add_ratio(object, "null", &line->null);
}

static void add_sum(struct json_object *array, const struct report *report, const struct sum *sum)
{
	struct json_object *object = append_object(array);

	add_text(object, "workload", sum->workload->id);
	if (sum->workload->param)
		add_count(object, sum->workload->param, sum->param);
	add_text(object, "arm", report_arm_name(report, sum->arm));
	add_count(object, "runs", sum->runs);
	add_count(object, "total_ios", sum->operations);
	add_number(object, "cpu_us_per_operation",
		   sum->operations ? sum->cpu * 1e6 / (double)sum->operations : NAN);
	add_latencies(object, sum->part, true);
	add_device(object, &sum->device, sum->operations);
	add_wear(object, &sum->wear);
}

static void add_drives(struct json_object *array, const struct report *report)
{
	size_t i;

	for (i = 0; i < report->drives; i++) {
		const struct report_drive *drive = &report->drive[i];
		struct json_object *object = append_object(array);

		add_text(object, "device", drive->name);
		add_text(object, "bus", drive->bus);
		add_text(object, "protocol", drive->protocol);
		add_text(object, "driver", drive->driver);
		add_text(object, "model", drive->model);
		add_text(object, "firmware", drive->firmware);
		add_text(object, "serial", drive->serial);
		add_text(object, "cache", wcache_cache_to_string(drive->original));
		add_text(object, "kernel", wcache_kernel_to_string(drive->kernel));
		add_answer(object, "fua", drive->fua);
		add_answer(object, "rotational", drive->rotational);
		add_answer(object, "nonvolatile", drive->nonvolatile);
	}
}

static void add_verdict(struct json_object *root, const struct belief *belief)
{
	struct json_object *object = add_object(root, "verdict"), *array;
	size_t i;

	add_text(object, "status", belief_verdict_name(belief->verdict));
	array = add_array(object, "reasons");
	for (i = 0; i < belief->reasons; i++) {
		struct json_object *reason = append_object(array);

		add_text(reason, "code", belief_code_name(belief->reason[i].code));
		add_text(reason, "text", belief->reason[i].text);
		add_count(reason, "more", belief->reason[i].more);
	}
}

static void add_head(struct json_object *root, const struct report *report)
{
	struct json_object *object;

	json_object_object_add(root, "format_version", json_object_new_int(FORMAT_VERSION));
	add_text(root, "program", "wcbench " WCACHE_VERSION);
	add_text(root, "command", report->command);
	add_number(root, "started", report->started);
	add_number(root, "seconds", report->seconds);

	object = add_object(root, "host");
	add_text(object, "name", report->host);
	add_text(object, "kernel", report->kernel);
	add_text(object, "cpu", report->cpu);
	add_text(object, "governor", report->governor);
	add_count(object, "memory", report->memory);

	object = add_object(root, "target");
	add_text(object, "path", report->target);
	add_text(object, "fs", report->fs);
	add_text(object, "mount", report->mount);
	add_text(object, "options", report->options);
	add_text(object, "layers", report->layers);
	add_count(object, "size", report->size);
	json_object_object_add(object, "direct", json_object_new_boolean(report->direct));
	add_count(object, "align", report->align);

	object = add_object(root, "config");
	add_text(object, "preset", report->preset);
	add_text(object, "cache",
		 report->mode == MODE_ON_OFF	? "both"
		 : report->mode == MODE_CURRENT ? "current"
						: "same");
	add_count(object, "seed", report->seed);
	add_number(object, "interval", report->interval);
	add_text(object, "setting_left", report->left);
	add_text(root, "wear_not_counted", report->wear_why);
	if (report->cache_bytes)
		add_count(object, "cache_bytes", report->cache_bytes);
	else
		json_object_object_add(object, "cache_bytes", NULL);
}

int output_json(const struct report *report, FILE *out)
{
	struct json_object *root = json_object_new_object(), *array;
	const char *text;
	size_t i;
	int r = 0;

	if (!root)
		return -ENOMEM;
	add_head(root, report);
	add_drives(add_array(root, "drives"), report);
	add_verdict(root, &report->belief);
	array = add_array(root, "summary");
	for (i = 0; i < report->lines; i++)
		add_line(array, report, &report->line[i]);
	array = add_array(root, "phases");
	for (i = 0; i < report->sums; i++)
		add_sum(array, report, &report->sum[i]);
	array = add_array(root, "runs");
	for (i = 0; i < report->runs; i++)
		add_run(array, report, &report->run[i]);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		r = -ENOMEM;
	else if (fprintf(out, "%s\n", text) < 0)
		r = -EIO;
	json_object_put(root);
	return r;
}
