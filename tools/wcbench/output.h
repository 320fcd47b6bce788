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

/* output_number() - three significant digits and no exponent, as people read numbers */
const char *output_number(double value, char *text, size_t size);

#endif
