/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text exposition format. What is unknown has no sample: a 0 would say "off".
 * wcache_drive_info names every drive, so that absence can be seen.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "prometheus.h"

enum metric {
	METRIC_INFO,
	METRIC_CACHE,
	METRIC_KERNEL,
	METRIC_DURABLE,
	METRIC_PATH_DURABLE,
	N_METRICS,
};

struct sample {
	char *id; /* the label that says what it is of */
	char *info; /* all labels of METRIC_INFO */
	int value[N_METRICS]; /* -1: unknown */
};

static const struct {
	const char *name, *help;
} metrics[N_METRICS] = {
	[METRIC_INFO] = { "wcache_drive_info", "Every drive, what it is and what is known of it." },
	[METRIC_CACHE] = { "wcache_drive_write_cache_enabled",
			   "1 if the drive's volatile write cache is on, 0 if off or none; no "
			   "sample if unknown." },
	[METRIC_KERNEL] = { "wcache_kernel_write_back",
			    "1 if the kernel sends flushes to the drive, 0 if not." },
	[METRIC_DURABLE] = { "wcache_fsync_durable",
			     "1 if a finished fsync is durable on the drive, 0 if it is at risk; no "
			     "sample if unknown." },
	[METRIC_PATH_DURABLE] = { "wcache_path_fsync_durable",
				  "1 if a finished fsync is durable on the path, 0 if it is at "
				  "risk; no sample if unknown." },
};

static void label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s=\"", name);
	for (; value && *value; value++) {
		unsigned char c = *value;

		if (c == '\\' || c == '"')
			fprintf(f, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", f);
		else
			fputc(c < 0x20 || c > 0x7e ? '?' : c, f);
	}
	fputc('"', f);
}

static int is_durable(const struct wcache_report *report)
{
	enum wcache_verdict verdict = wcache_report_get_verdict(report);

	return verdict ? verdict == WCACHE_VERDICT_DURABLE : -1;
}

static char *make_id(const char *name, const char *value)
{
	char *id;
	size_t size;
	FILE *f = open_memstream(&id, &size);

	if (!f)
		abort();
	label(f, name, value);
	fclose(f);
	return id;
}

struct sample *sample_new(const struct wcache_device *dev, const struct wcache_state *state,
			  const struct wcache_report *report)
{
	const struct {
		const char *name, *value;
	} labels[] = {
		{ "device", wcache_device_get_name(dev) },
		{ "bus", wcache_device_get_bus(dev) },
		{ "driver", wcache_device_get_driver(dev) },
		{ "model", wcache_device_get_model(dev) },
		{ "firmware", wcache_device_get_firmware(dev) },
		{ "serial", wcache_device_get_serial(dev) },
		{ "cache", wcache_cache_to_string(wcache_state_get_cache(state)) },
		{ "kernel", wcache_kernel_to_string(wcache_state_get_kernel(state)) },
		{ "fsync", wcache_verdict_to_string(wcache_report_get_verdict(report)) },
	};
	enum wcache_kernel kernel = wcache_state_get_kernel(state);
	enum wcache_cache cache = wcache_state_get_cache(state);
	struct sample *s = calloc(1, sizeof(*s));
	size_t size;
	FILE *f;

	if (!s)
		abort();
	s->id = make_id("device", wcache_device_get_name(dev));
	f = open_memstream(&s->info, &size);
	if (!f)
		abort();
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		if (i)
			fputc(',', f);
		label(f, labels[i].name, labels[i].value);
	}
	fclose(f);
	s->value[METRIC_INFO] = 1;
	s->value[METRIC_CACHE] = cache ? cache == WCACHE_CACHE_ON : -1;
	s->value[METRIC_KERNEL] = kernel ? kernel == WCACHE_KERNEL_WRITE_BACK : -1;
	s->value[METRIC_DURABLE] = is_durable(report);
	s->value[METRIC_PATH_DURABLE] = -1;
	return s;
}

struct sample *sample_new_path(const char *path, const struct wcache_report *report)
{
	struct sample *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->id = make_id("path", path);
	for (int m = 0; m < N_METRICS; m++)
		s->value[m] = m == METRIC_PATH_DURABLE ? is_durable(report) : -1;
	return s;
}

void sample_free(struct sample *s)
{
	if (!s)
		return;
	free(s->id);
	free(s->info);
	free(s);
}

/* A drive below two paths was asked twice. */
static bool is_repeated(struct sample *const samples[], size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (samples[k] && !strcmp(samples[k]->id, samples[i]->id))
			return true;
	return false;
}

void samples_print(struct sample *const samples[], size_t n)
{
	bool *skip = calloc(n ? n : 1, sizeof(*skip));

	if (!skip)
		abort();
	for (size_t i = 0; i < n; i++)
		skip[i] = !samples[i] || is_repeated(samples, i);
	for (int m = 0; m < N_METRICS; m++) {
		printf("# HELP %s %s\n# TYPE %s gauge\n", metrics[m].name, metrics[m].help,
		       metrics[m].name);
		for (size_t i = 0; i < n; i++)
			if (!skip[i] && samples[i]->value[m] >= 0)
				printf("%s{%s} %d\n", metrics[m].name,
				       m == METRIC_INFO ? samples[i]->info : samples[i]->id,
				       samples[i]->value[m]);
	}
	free(skip);
}
