/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clock.h"
#include "output.h"

const char *output_number(double value, char *text, size_t size)
{
	int digits;

	if (value < 0)
		return "-";
	digits = value < 10 ? 2 : value < 100 ? 1 : 0;
	snprintf(text, size, "%.*f", digits, value);
	return text;
}

static void print_head(const struct report *report, FILE *out)
{
	size_t i;

	for (i = 0; i < report->drives; i++) {
		const struct report_drive *drive = &report->drive[i];

		fprintf(out, "drive    %s %s %s", drive->name, drive->bus, drive->model);
		if (drive->firmware[0])
			fprintf(out, " fw %s", drive->firmware);
		fprintf(out, "; cache %s, kernel %s\n", wcache_cache_to_string(drive->original),
			wcache_kernel_to_string(drive->kernel));
	}
	if (report->drives == 0)
		fprintf(out, "drive    none known below the target\n");
	if (report->left[0])
		fprintf(out, "setting  left as it is: %s\n", report->left);
	fprintf(out, "target   %s", report->target);
	if (report->mount[0])
		fprintf(out, " (%s on %s)", report->fs, report->mount);
	if (report->layers[0])
		fprintf(out, " through %s", report->layers);
	fprintf(out, "; %.0f MiB, %s\n", (double)report->size / (1 << 20),
		report->direct ? "O_DIRECT" : "without O_DIRECT");
	fprintf(out, "host     %s; Linux %s\n", report->cpu, report->kernel);
	fprintf(out, "run      %s, seed %llu, %.0f s, %zu runs: %s\n\n", report->preset,
		(unsigned long long)report->seed, report->seconds, report->runs, report->command);
}

static void print_spread(const struct spread *spread, FILE *out)
{
	char low[32], middle[32], high[32], all[100];

	if (spread->n == 0) {
		fprintf(out, "  %-24s", "-");
		return;
	}
	snprintf(all, sizeof(all), "%s/%s/%s", output_number(spread->min, low, sizeof(low)),
		 output_number(spread->median, middle, sizeof(middle)),
		 output_number(spread->max, high, sizeof(high)));
	fprintf(out, "  %-24s", all);
}

static void print_ratio(const struct ratio *ratio, FILE *out)
{
	char text[64];

	if (ratio->n == 0)
		snprintf(text, sizeof(text), "-");
	else if (ratio->n == 1)
		snprintf(text, sizeof(text), "%.2fx [one pair]", ratio->value);
	else
		snprintf(text, sizeof(text), "%.2fx [%.2f, %.2f]", ratio->value, ratio->lo,
			 ratio->hi);
	fprintf(out, "  %-22s", text);
}

static const struct sum *find_sum(const struct report *report, const struct workload *workload,
				  unsigned int param, enum arm arm)
{
	size_t i;

	for (i = 0; i < report->sums; i++)
		if (report->sum[i].workload == workload && report->sum[i].param == param &&
		    report->sum[i].arm == arm)
			return &report->sum[i];
	return NULL;
}

static void print_flushes(const struct report *report, const struct line *line, FILE *out)
{
	enum arm arm, last = report->mode == MODE_CURRENT ? ARM_A : ARM_B;

	fputs("  ", out);
	for (arm = ARM_A; arm <= last; arm++) {
		const struct sum *sum = find_sum(report, line->workload, line->param, arm);
		double flushes = sum ? report_flushes(&sum->device, sum->operations) : -1;

		if (arm)
			fputc('|', out);
		if (flushes < 0)
			fputc('-', out);
		else
			fprintf(out, "%.2f", flushes);
	}
}

static void print_rates(const struct report *report, FILE *out)
{
	bool pairs = report->mode != MODE_CURRENT;
	char head[2][64];
	size_t i;

	snprintf(head[0], sizeof(head[0]), "%s min/med/max", report_arm_name(report, ARM_A));
	snprintf(head[1], sizeof(head[1]), "%s min/med/max", report_arm_name(report, ARM_B));
	fprintf(out, "%-28s %-6s  %-24s", "workload", "unit", head[0]);
	if (pairs)
		fprintf(out, "  %-24s  %s/%s [95 %% CI]%*s", head[1],
			report_arm_name(report, ARM_A), report_arm_name(report, ARM_B),
			report->mode == MODE_SAME ? 8 : 4, "");
	fprintf(out, "  flush/op\n");
	for (i = 0; i < report->lines; i++) {
		const struct line *line = &report->line[i];
		char name[96];

		report_line_name(line, name, sizeof(name));
		fprintf(out, "%-28s %-6s", name, line->measure->unit);
		print_spread(&line->arm[ARM_A], out);
		if (pairs) {
			print_spread(&line->arm[ARM_B], out);
			print_ratio(&line->ratio, out);
		}
		print_flushes(report, line, out);
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void print_latency(const struct hist *hist, FILE *out)
{
	static const double percent[] = { 50, 99, 99.9, 100 };
	char text[128] = "-", one[32];
	size_t i, at = 0;

	for (i = 0; hist && i < sizeof(percent) / sizeof(percent[0]); i++) {
		double us = (double)hist_percentile(hist, percent[i]) / 1000;

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? "/" : "",
				       output_number(us, one, sizeof(one)));
	}
	fprintf(out, "  %-26s", text);
}

static void print_latencies(const struct report *report, FILE *out)
{
	size_t i;

	fprintf(out, "%-20s %-8s  %-26s  %-26s  %-26s  %-6s  %s\n", "latency, us", "cache",
		"write p50/p99/p99.9/max", "sync", "whole operation", "dev w", "CPU us");
	for (i = 0; i < report->sums; i++) {
		const struct sum *sum = &report->sum[i];
		double operations = (double)sum->operations;
		char name[64], number[32];

		if (sum->operations == 0)
			continue;
		report_case_name(sum->workload, sum->param, name, sizeof(name));
		fprintf(out, "%-20s %-8s", name, report_arm_name(report, sum->arm));
		print_latency(sum->part[IO_WRITE], out);
		print_latency(sum->part[IO_SYNC], out);
		print_latency(sum->part[IO_TOTAL], out);
		if (report->drives && operations)
			fprintf(out, "  %-6.2f",
				(double)diskstat_data_writes(&sum->device) / operations);
		else
			fprintf(out, "  %-6s", "-");
		fprintf(out, "  %s\n",
			output_number(sum->cpu * 1e6 / operations, number, sizeof(number)));
	}
	fputc('\n', out);
}

static void print_wear(const struct report *report, FILE *out)
{
	enum arm arm, last = report->mode == MODE_CURRENT ? ARM_A : ARM_B;

	if (report->wear_why[0]) {
		fprintf(out, "wear     not counted: %s\n\n", report->wear_why);
		return;
	}
	fprintf(out, "wear     bytes to the medium for each byte of the host:");
	for (arm = ARM_A; arm <= last; arm++) {
		struct wear wear;

		if (report_wear(report, arm, &wear))
			fprintf(out, " %s %.2f", report_arm_name(report, arm),
				wear.media / wear.host);
		else
			fprintf(out, " %s unknown (%.3g bytes written, counted in steps of %.3g)",
				report_arm_name(report, arm), wear.host, wear.step);
	}
	fprintf(out, "\n\n");
}

static void print_verdict(const struct report *report, FILE *out)
{
	const struct belief *belief = &report->belief;
	size_t i;

	fprintf(out, "verdict  %s\n", belief_verdict_name(belief->verdict));
	for (i = 0; i < belief->reasons; i++) {
		fprintf(out, "  %-12s %s", belief_code_name(belief->reason[i].code),
			belief->reason[i].text);
		if (belief->reason[i].more)
			fprintf(out, " (and %u more)", belief->reason[i].more);
		fputc('\n', out);
	}
}

void output_table(const struct report *report, bool anyway, FILE *out)
{
	print_head(report, out);
	if (report->belief.verdict != BELIEF_INVALID || anyway) {
		print_rates(report, out);
		print_latencies(report, out);
		print_wear(report, out);
	} else {
		fprintf(out,
			"No numbers are shown, for they are not to be believed; --verbose shows "
			"them all the same.\n\n");
	}
	print_verdict(report, out);
}
