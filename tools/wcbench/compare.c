/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two reports of one machine: is the second worse? For a difference to count, the interval of
 * its ratio must leave out 1, and it must be more than 5 %: among many lines some leave
 * out 1 by chance.
 */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "stats.h"

#define MATTERS 0.05
#define VALUES 4096

enum {
	COMPARE_SAME = 0,
	COMPARE_FAILED = 1,
	COMPARE_USAGE = 2,
	COMPARE_WORSE = 3,
	COMPARE_UNLIKE = 4
};

static struct json_object *get(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

static const char *text(struct json_object *object, const char *key)
{
	struct json_object *value = get(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

static size_t length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static struct json_object *load(const char *path)
{
	struct json_object *root = json_object_from_file(path);

	if (!root) {
		fprintf(stderr, "wcbench: %s: %s", path, json_util_get_last_err());
		return NULL;
	}
	if (json_object_get_int(get(root, "format_version")) != 1 || !get(root, "summary")) {
		fprintf(stderr, "wcbench: %s: not a report of wcbench that this one can read\n",
			path);
		json_object_put(root);
		return NULL;
	}
	return root;
}

static bool differs(const char *what, const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		return false;
	fprintf(stderr, "wcbench: the %s differ: '%s' and '%s'\n", what, a, b);
	return true;
}

/* Two reports of unlike things have nothing to say about each other. */
static bool unlike(struct json_object *a, struct json_object *b)
{
	struct json_object *drives_a = get(a, "drives"), *drives_b = get(b, "drives");
	bool unlike;
	size_t i;

	unlike = differs("kernels", text(get(a, "host"), "kernel"), text(get(b, "host"), "kernel"));
	unlike |=
		differs("file systems", text(get(a, "target"), "fs"), text(get(b, "target"), "fs"));
	unlike |= differs("presets", text(get(a, "config"), "preset"),
			  text(get(b, "config"), "preset"));
	if (json_object_get_int64(get(get(a, "target"), "size")) !=
	    json_object_get_int64(get(get(b, "target"), "size"))) {
		fputs("wcbench: the sizes of the files differ\n", stderr);
		unlike = true;
	}
	if (length(drives_a) != length(drives_b)) {
		fputs("wcbench: the numbers of drives differ\n", stderr);
		return true;
	}
	for (i = 0; i < length(drives_a); i++) {
		struct json_object *one = json_object_array_get_idx(drives_a, i);
		struct json_object *two = json_object_array_get_idx(drives_b, i);

		unlike |= differs("drives", text(one, "model"), text(two, "model"));
		unlike |= differs("firmwares", text(one, "firmware"), text(two, "firmware"));
	}
	return unlike;
}

/* The parameter of a workload, whatever it is called. */
static int param(struct json_object *object)
{
	struct json_object *value = get(object, "c");

	return json_object_get_int(value ? value : get(object, "qd"));
}

static bool same_line(struct json_object *a, struct json_object *b)
{
	return strcmp(text(a, "workload"), text(b, "workload")) == 0 && param(a) == param(b);
}

/* The values of all runs of a line under one setting. */
static size_t values(struct json_object *root, struct json_object *line, const char *arm,
		     double value[VALUES])
{
	struct json_object *runs = get(root, "runs");
	size_t i, n = 0;

	for (i = 0; i < length(runs) && n < VALUES; i++) {
		struct json_object *run = json_object_array_get_idx(runs, i), *one;

		if (!same_line(run, line) || strcmp(text(run, "arm"), arm) != 0)
			continue;
		one = get(get(run, "values"), text(line, "measure"));
		if (one && isfinite(json_object_get_double(one)))
			value[n++] = json_object_get_double(one);
	}
	return n;
}

static bool has_line(struct json_object *root, struct json_object *line)
{
	struct json_object *summary = get(root, "summary");
	size_t i;

	for (i = 0; i < length(summary); i++) {
		struct json_object *other = json_object_array_get_idx(summary, i);

		if (same_line(other, line) &&
		    strcmp(text(other, "measure"), text(line, "measure")) == 0)
			return true;
	}
	return false;
}

/* Return: 1 better, -1 worse, 0 neither */
static int verdict_of(const struct ratio *ratio, bool less_is_better)
{
	if (ratio->n < 2 || stats_ratio_contains(ratio, 1) || fabs(ratio->value - 1) <= MATTERS)
		return 0;
	return (ratio->value > 1) != less_is_better ? 1 : -1;
}

static int compare_line(struct json_object *a, struct json_object *b, struct json_object *line,
			const char *arm, bool *any)
{
	static const char *const word[] = { "WORSE", "", "better" };
	static double value_a[VALUES], value_b[VALUES];
	bool less_is_better = json_object_get_boolean(get(line, "less_is_better"));
	size_t n_a = values(a, line, arm, value_a), n_b = values(b, line, arm, value_b);
	struct ratio ratio;
	char name[160];
	int verdict;

	if (n_a == 0 || n_b == 0)
		return 0;
	*any = true;
	ratio = stats_ratio_unpaired(value_b, n_b, value_a, n_a);
	verdict = verdict_of(&ratio, less_is_better);
	if (param(line))
		snprintf(name, sizeof(name), "%s %d %s", text(line, "workload"), param(line),
			 text(line, "measure"));
	else
		snprintf(name, sizeof(name), "%s %s", text(line, "workload"),
			 text(line, "measure"));
	printf("%-28s %-6s %-8s %10.4g %10.4g  %5.2fx", name, text(line, "unit"), arm,
	       stats_spread(value_a, n_a).median, stats_spread(value_b, n_b).median, ratio.value);
	if (ratio.n < 2)
		printf(" %-14s", "[too few runs]");
	else
		printf(" [%.2f, %.2f]  ", ratio.lo, ratio.hi);
	printf(" %s\n", word[verdict + 1]);
	return verdict;
}

static int compare(struct json_object *a, struct json_object *b)
{
	static const char *const arm[] = { "on", "off", "current", "A", "B" };
	struct json_object *summary = get(a, "summary");
	size_t i, k, worse = 0;
	bool any = false;

	printf("%-28s %-6s %-8s %10s %10s  %s\n", "workload", "unit", "cache", "first", "second",
	       "second/first [95 % CI]");
	for (i = 0; i < length(summary); i++) {
		struct json_object *line = json_object_array_get_idx(summary, i);

		if (!has_line(b, line))
			continue;
		for (k = 0; k < sizeof(arm) / sizeof(arm[0]); k++)
			worse += compare_line(a, b, line, arm[k], &any) < 0;
	}
	if (!any) {
		fputs("wcbench: the two have no workload in common\n", stderr);
		return COMPARE_UNLIKE;
	}
	printf("%zu worse\n", worse);
	return worse ? COMPARE_WORSE : COMPARE_SAME;
}

static bool invalid(struct json_object *root, const char *path)
{
	if (strcmp(text(get(root, "verdict"), "status"), "INVALID") != 0)
		return false;
	fprintf(stderr, "wcbench: %s: its verdict is INVALID\n", path);
	return true;
}

int compare_main(int argc, char *argv[])
{
	struct json_object *a, *b;
	bool force = false;
	int r = COMPARE_FAILED;

	if (argc > 1 && strcmp(argv[1], "--force") == 0) {
		force = true;
		argc--;
		argv++;
	}
	if (argc != 3 || argv[1][0] == '-' || argv[2][0] == '-') {
		fputs("Usage: wcbench compare [--force] A.json B.json\n", stderr);
		return COMPARE_USAGE;
	}
	a = load(argv[1]);
	b = a ? load(argv[2]) : NULL;
	if (b) {
		bool bad = invalid(a, argv[1]) | invalid(b, argv[2]) | unlike(a, b);

		if (bad && !force) {
			fputs("wcbench: they are not compared; --force does it all the same\n",
			      stderr);
			r = COMPARE_UNLIKE;
		} else {
			r = compare(a, b);
		}
	}
	json_object_put(a);
	json_object_put(b);
	return r;
}
