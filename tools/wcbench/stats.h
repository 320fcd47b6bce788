/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be said from a few runs. Pure functions.
 */
#ifndef WCBENCH_STATS_H
#define WCBENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct spread {
	size_t n;
	double min, median, max, mean;
	double cv; /* standard deviation over mean; 0 with less than two values */
};

/* stats_spread() - of @n values in any order; all zero of none */
struct spread stats_spread(const double *value, size_t n);

/* A ratio and the interval that holds the true one with 95 % confidence. */
struct ratio {
	size_t n; /* pairs that it is made of; 0: there is no ratio */
	double value;
	double lo, hi; /* 0 and infinity where less than two pairs leave it open */
};

/*
 * stats_ratio() - geometric mean of a[i] / b[i], with the interval of Student's t
 *
 * The pairs are the unit, for what disturbs a run disturbs its neighbour too. Pairs
 * with a value that is not above zero are left out.
 */
struct ratio stats_ratio(const double *a, const double *b, size_t n);

/*
 * stats_ratio_unpaired() - geometric mean of @a over that of @b, of runs that are no pairs
 * Welch's interval. Values that are not above zero are left out; n is the smaller number.
 */
struct ratio stats_ratio_unpaired(const double *a, size_t n_a, const double *b, size_t n_b);

/* stats_ratio_contains() - does the interval contain @value */
bool stats_ratio_contains(const struct ratio *ratio, double value);

/* stats_ratio_half_width() - half the interval, relative to the ratio; infinity where open */
double stats_ratio_half_width(const struct ratio *ratio);

/* stats_t95() - two-sided 95 % quantile of Student's t with @df degrees of freedom */
double stats_t95(size_t df);

/*
 * stats_is_drifting() - is there a slope over values in the order they were measured
 *
 * The rule of the SNIA Solid State Storage Performance Test Specification: steady is what
 * stays in a range of 20 % of the mean, with a best line that rises or falls by no more
 * than 10 % of it. Drifting is what breaks the second, and whose slope is more than chance
 * makes of noise (95 %).
 */
bool stats_is_drifting(const double *value, size_t n);

#endif
