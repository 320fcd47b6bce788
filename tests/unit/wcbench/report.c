/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From runs to lines: which runs make a pair, which a noise floor, and what is left out.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "compare.h"
#include "output.h"
#include "report.h"
#include "suite.h"

static struct report *report_new(enum mode mode)
{
	struct report *report = calloc(1, sizeof(*report));

	report->mode = mode;
	report->command = "wcbench --seed=1 /x";
	report->preset = "quick";
	report->interval = 1;
	report->drives = 1;
	report->size = 1 << 30;
	report->drive = calloc(1, sizeof(*report->drive));
	strcpy(report->drive[0].name, "sdz");
	return report;
}

static struct run *add(struct report *report, const struct workload *workload, unsigned int pair,
		       enum arm arm, double value)
{
	struct run *run;
	size_t i;

	report->run = realloc(report->run, (report->runs + 1) * sizeof(*report->run));
	run = &report->run[report->runs++];
	memset(run, 0, sizeof(*run));
	run->workload = workload;
	run->param = 1;
	run->pair = pair;
	run->order = (unsigned int)report->runs;
	run->arm = arm;
	run->drive = run->wanted = arm == ARM_A ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
	run->kernel = arm == ARM_A ? WCACHE_KERNEL_WRITE_BACK : WCACHE_KERNEL_WRITE_THROUGH;
	run->fua = WCACHE_NO;
	for (i = 0; i < WORKLOAD_MEASURES; i++)
		run->value[i] = -1;
	run->value[0] = value;
	run->window = NS_PER_S;
	run->operations = 100;
	run->bytes_written = 100 * 8192;
	run->device.writes = arm == ARM_A ? 204 : 100;
	run->device.write_sectors = 1600;
	run->device.flushes = arm == ARM_A ? 100 : 0;
	run->device.flush_ms = arm == ARM_A ? 500 : 0;
	run->device.flushes_counted = true;
	run->part[IO_TOTAL] = calloc(1, sizeof(struct hist));
	for (i = 0; i < 100; i++)
		hist_add(run->part[IO_TOTAL], 1000000 + i * 1000 * pair);
	return run;
}

static void discard(struct report *report)
{
	report_free(report);
	free(report);
}

static const struct line *find_line(const struct report *report, const char *name)
{
	char have[96];
	size_t i;

	for (i = 0; i < report->lines; i++) {
		report_line_name(&report->line[i], have, sizeof(have));
		if (strcmp(have, name) == 0)
			return &report->line[i];
	}
	ck_abort_msg("no line %s", name);
	return NULL;
}

/* on off | off on | on off: pairs of each, and neighbours of one setting between them. */
static void add_balanced(struct report *report)
{
	add(report, &workload_rndw, 1, ARM_A, 100);
	add(report, &workload_rndw, 1, ARM_B, 200);
	add(report, &workload_rndw, 2, ARM_B, 202);
	add(report, &workload_rndw, 2, ARM_A, 101);
	add(report, &workload_rndw, 3, ARM_A, 103);
	add(report, &workload_rndw, 3, ARM_B, 206);
}

START_TEST(pairs_and_neighbours)
{
	struct report *report = report_new(MODE_ON_OFF);
	const struct line *line;

	add_balanced(report);
	ck_assert_int_eq(report_summarize(report), 0);
	line = find_line(report, "rndw c=1 writes");
	ck_assert_uint_eq(line->ratio.n, 3);
	ck_assert_double_eq_tol(line->ratio.value, 0.5, 1e-9);
	ck_assert_double_eq_tol(line->ratio.hi - line->ratio.lo, 0, 1e-9);
	ck_assert_uint_eq(line->null.n, 2);
	ck_assert_double_eq_tol(line->null.value, 0.9853, 0.0001);
	ck_assert_double_eq(line->arm[ARM_A].min, 100);
	ck_assert_double_eq(line->arm[ARM_A].median, 101);
	ck_assert_double_eq(line->arm[ARM_B].max, 206);
	ck_assert_uint_eq(report->sums, 2);
	ck_assert_uint_eq(report->sum[0].operations, 300);
	ck_assert_uint_eq(report->sum[0].part[IO_TOTAL]->n, 300);
	ck_assert_double_eq_tol(report_flushes(&report->sum[0].device, 300), 1, 1e-9);
	ck_assert_int_eq(report->belief.verdict, BELIEF_VALID);
	/* More runs, and once more from the start. */
	add(report, &workload_rndw, 4, ARM_B, 200);
	ck_assert_int_eq(report_summarize(report), 0);
	line = find_line(report, "rndw c=1 writes");
	ck_assert_uint_eq(line->ratio.n, 3);
	ck_assert_uint_eq(line->arm[ARM_B].n, 4);
	discard(report);
}
END_TEST

START_TEST(failed_run_is_no_result)
{
	struct report *report = report_new(MODE_ON_OFF);
	struct run *run;

	add_balanced(report);
	run = add(report, &workload_rndw, 4, ARM_A, 1e9);
	run->error = -EIO;
	strcpy(run->failed, "fdatasync");
	ck_assert_int_eq(report_summarize(report), 0);
	ck_assert_double_eq(find_line(report, "rndw c=1 writes")->arm[ARM_A].max, 103);
	ck_assert_uint_eq(report->sum[0].operations, 300);
	ck_assert_int_eq(report->belief.verdict, BELIEF_INVALID);
	ck_assert_int_eq(report->belief.reason[0].code, E_IO);
	discard(report);
}
END_TEST

START_TEST(one_run_under_another_setting_is_enough)
{
	struct report *report = report_new(MODE_ON_OFF);

	add_balanced(report);
	report->run[2].drive = WCACHE_CACHE_ON;
	report->run[2].kernel = WCACHE_KERNEL_WRITE_BACK;
	ck_assert_int_eq(report_summarize(report), 0);
	ck_assert_int_eq(report->belief.verdict, BELIEF_INVALID);
	ck_assert_int_eq(report->belief.reason[0].code, E_TOGGLE);
	discard(report);
}
END_TEST

START_TEST(deadly_in_one_run_is_enough)
{
	struct report *report = report_new(MODE_CURRENT);

	add(report, &workload_rndw, 1, ARM_A, 100)->wanted = WCACHE_CACHE_UNKNOWN;
	add(report, &workload_rndw, 2, ARM_A, 100)->wanted = WCACHE_CACHE_UNKNOWN;
	add(report, &workload_rndw, 3, ARM_A, 100)->wanted = WCACHE_CACHE_UNKNOWN;
	report->run[1].kernel = WCACHE_KERNEL_WRITE_THROUGH;
	ck_assert_int_eq(report_summarize(report), 0);
	ck_assert_int_eq(report->belief.verdict, BELIEF_INVALID);
	ck_assert_int_eq(report->belief.reason[0].code, E_KERNEL);
	discard(report);
}
END_TEST

static char *table_of(const struct report *report, bool anyway)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	output_table(report, anyway, out);
	fclose(out);
	return text;
}

START_TEST(invalid_shows_no_numbers)
{
	struct report *report = report_new(MODE_ON_OFF);
	char *text;

	add_balanced(report);
	report_summarize(report);
	text = table_of(report, false);
	ck_assert_ptr_nonnull(strstr(text, "100/101/103"));
	ck_assert_ptr_nonnull(strstr(text, "0.50x [0.50, 0.50]"));
	ck_assert_ptr_nonnull(strstr(text, "1.00|0.00"));
	ck_assert_ptr_nonnull(strstr(text, "verdict  VALID"));
	free(text);

	report->barriers_off = true;
	report_summarize(report);
	text = table_of(report, false);
	ck_assert_ptr_null(strstr(text, "100/101/103"));
	ck_assert_ptr_nonnull(strstr(text, "verdict  INVALID"));
	ck_assert_ptr_nonnull(strstr(text, "E_MOUNT"));
	free(text);
	text = table_of(report, true);
	ck_assert_ptr_nonnull(strstr(text, "100/101/103"));
	free(text);
	discard(report);
}
END_TEST

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	ck_assert_msg(json_object_object_get_ex(object, key, &value), "no %s", key);
	return value;
}

START_TEST(json_can_be_read_back)
{
	struct report *report = report_new(MODE_ON_OFF);
	struct json_object *root, *line, *run;
	char *text = NULL;
	size_t size;
	FILE *out;

	add_balanced(report);
	report_summarize(report);
	out = open_memstream(&text, &size);
	ck_assert_int_eq(output_json(report, out), 0);
	fclose(out);
	root = json_tokener_parse(text);
	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(json_object_get_int(get(root, "format_version")), 1);
	ck_assert_str_eq(json_object_get_string(get(get(root, "verdict"), "status")), "VALID");
	line = json_object_array_get_idx(get(root, "summary"), 0);
	ck_assert_double_eq_tol(json_object_get_double(get(get(line, "ratio"), "ratio")), 0.5,
				1e-9);
	ck_assert_double_eq_tol(json_object_get_double(get(get(line, "on"), "median")), 101, 1e-9);
	ck_assert_uint_eq(json_object_array_length(get(root, "runs")), 6);
	run = json_object_array_get_idx(get(root, "runs"), 0);
	ck_assert_double_eq_tol(json_object_get_double(get(run, "iops")), 100, 1e-9);
	run = get(get(get(run, "operation"), "lat_ns"), "percentile");
	ck_assert_double_eq_tol(json_object_get_double(get(run, "50.000000")), 1049000,
				1049000 / 128);
	json_object_put(root);
	free(text);
	discard(report);
}
END_TEST

/* A report in a file; @value is what its runs reach, one a little more than the other. */
static void write_report(const char *path, double value, const char *model, bool barriers_off)
{
	struct report *report = report_new(MODE_CURRENT);
	FILE *out = fopen(path, "w");
	unsigned int i;

	strcpy(report->drive[0].model, model);
	report->barriers_off = barriers_off;
	for (i = 1; i <= 4; i++)
		add(report, &workload_rndw, i, ARM_A, value * (1 + 0.001 * i))->wanted =
			WCACHE_CACHE_UNKNOWN;
	report_summarize(report);
	ck_assert_int_eq(output_json(report, out), 0);
	fclose(out);
	discard(report);
}

static int compare(const char *a, const char *b, bool force)
{
	char one[64], two[64], *plain[] = { (char[]){ "compare" }, one, two, NULL };
	char *forced[] = { plain[0], (char[]){ "--force" }, one, two, NULL };

	snprintf(one, sizeof(one), "%s", a);
	snprintf(two, sizeof(two), "%s", b);
	return compare_main(force ? 4 : 3, force ? forced : plain);
}

START_TEST(comparison)
{
	static const char *const name[] = { "a",     "same",	"worse",  "better",
					    "other", "invalid", "garbage" };
	char folder[] = "/tmp/wcbench-test-XXXXXX";
	FILE *garbage;
	size_t i;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	write_report("a", 100, "DISK", false);
	write_report("same", 101, "DISK", false);
	write_report("worse", 90, "DISK", false);
	write_report("better", 110, "DISK", false);
	write_report("other", 100, "ANOTHER DISK", false);
	write_report("invalid", 100, "DISK", true);
	garbage = fopen("garbage", "w");
	fputs("{ \"format_version\": 1, \"summary\": [ 7, {}, null, [] ], \"runs\": 3 }", garbage);
	fclose(garbage);

	ck_assert_int_eq(compare("a", "a", false), 0);
	ck_assert_int_eq(compare("a", "same", false), 0);
	ck_assert_int_eq(compare("a", "worse", false), 3);
	ck_assert_int_eq(compare("a", "better", false), 0);
	ck_assert_int_eq(compare("a", "other", false), 4);
	ck_assert_int_eq(compare("a", "other", true), 0);
	ck_assert_int_eq(compare("a", "invalid", false), 4);
	ck_assert_int_eq(compare("a", "missing", false), 1);
	ck_assert_int_eq(compare("a", "garbage", false), 4);
	ck_assert_int_eq(compare("garbage", "garbage", true), 4);
	ck_assert_int_eq(compare("a", "-x", false), 2);
	for (i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		unlink(name[i]);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* Fields of a line; nothing that we write has a comma in it. */
static size_t fields(const char *line)
{
	size_t n = 1;

	for (; *line; line++)
		n += *line == ',';
	return n;
}

START_TEST(csv_heads_fit_their_rows)
{
	static const char *const name[] = { "-runs.csv", "-seconds.csv" };
	struct report *report = report_new(MODE_ON_OFF);
	char folder[] = "/tmp/wcbench-test-XXXXXX", prefix[64], path[96], line[4096];
	size_t i, rows, wanted;
	FILE *in;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	add_balanced(report);
	add(report, &workload_mixed, 1, ARM_A, 5)->error = -EIO;
	report->run[0].interval = calloc(2, sizeof(struct run_interval));
	report->run[0].intervals = 2;
	report->run[0].interval[0].io.length = report->run[0].interval[1].io.length = NS_PER_S;
	report_summarize(report);
	snprintf(prefix, sizeof(prefix), "%s/out", folder);
	ck_assert_int_eq(output_csv(report, prefix), 0);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s%s", prefix, name[i]);
		in = fopen(path, "r");
		ck_assert_ptr_nonnull(in);
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), in));
		wanted = fields(line);
		for (rows = 0; fgets(line, sizeof(line), in); rows++)
			ck_assert_uint_eq(fields(line), wanted);
		ck_assert_uint_eq(rows, i == 0 ? 7 : 2);
		fclose(in);
		unlink(path);
	}
	rmdir(folder);
	ck_assert_int_eq(output_csv(report, "/nonexistent/x"), -ENOENT);
	discard(report);
}
END_TEST

START_TEST(wear_by_setting)
{
	struct report *report = report_new(MODE_ON_OFF);
	struct wear wear;
	size_t i;

	add_balanced(report);
	for (i = 0; i < report->runs; i++)
		report->run[i].wear =
			(struct wear){ .known = true,
				       .host = 100,
				       .media = report->run[i].arm == ARM_A ? 110 : 150,
				       .step = 10 };
	report_summarize(report);
	ck_assert(report_wear(report, ARM_A, &wear));
	ck_assert_double_eq_tol(wear.media / wear.host, 1.1, 1e-9);
	ck_assert(report_wear(report, ARM_B, &wear));
	ck_assert_double_eq_tol(wear.media / wear.host, 1.5, 1e-9);
	/* Too little for a counter that moves so coarsely. */
	for (i = 0; i < report->runs; i++)
		report->run[i].wear.step = 100;
	report_summarize(report);
	ck_assert(!report_wear(report, ARM_A, &wear));
	discard(report);
}
END_TEST

SUITE("wcbench-report", pairs_and_neighbours, failed_run_is_no_result,
      one_run_under_another_setting_is_enough, deadly_in_one_run_is_enough,
      invalid_shows_no_numbers, json_can_be_read_back, comparison, csv_heads_fit_their_rows,
      wear_by_setting)
