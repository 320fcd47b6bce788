/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WCBENCH_OPTIONS_H
#define WCBENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

#define OPTIONS_CASES 128

struct options {
	const char *target;
	const char *preset;
	enum mode mode;
	bool destroy, quiet, verbose, json, restore;
	const char *csv, *plot;

	uint64_t size;
	bool whole;
	double window, interval, warm_up, warm_up_most, budget; /* seconds */
	unsigned int pairs_least, pairs_most;
	double narrow;
	double rate;
	uint64_t seed;
	bool seed_given;

	const struct workload *workload[OPTIONS_CASES];
	unsigned int param[OPTIONS_CASES];
	size_t cases;
	size_t logs; /* that the workloads need */
};

/*
 * options_parse() - the arguments of a benchmark
 * Return: 0; 1 where everything was said already (--help, --version, --list); -EINVAL after a
 * line on standard error.
 */
int options_parse(int argc, char *argv[], struct options *options);

/* options_size() - "512M", "2G", "8192". Return: 0, -EINVAL. */
int options_size(const char *text, uint64_t *bytes);

#endif
