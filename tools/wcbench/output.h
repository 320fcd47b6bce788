/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The forms of a report. None of them judges: that is in the report.
 */
#ifndef WCBENCH_OUTPUT_H
#define WCBENCH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "report.h"

/*
 * output_table() - for people
 * @anyway: numbers also where the verdict is INVALID
 */
void output_table(const struct report *report, bool anyway, FILE *out);

/* output_json() - Return: 0, -ENOMEM, -EIO. */
int output_json(const struct report *report, FILE *out);

/* output_csv() - PREFIX-runs.csv and PREFIX-seconds.csv. Return: 0 or negative errno. */
int output_csv(const struct report *report, const char *prefix);

/*
 * output_plot() - by gnuplot, as the name of the file says: .svg or .png
 * Return: 0, -EINVAL another ending, -ENOENT no gnuplot, -EIO it failed.
 */
int output_plot(const struct report *report, const char *path);

/* output_number() - three significant digits and no exponent, as people read numbers */
const char *output_number(double value, char *text, size_t size);

#endif
