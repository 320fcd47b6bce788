/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct spread stats_spread(const double *value, size_t n)
{
	struct spread spread = { .n = n };
	double sum = 0, square = 0, *sorted;
	size_t i;

	if (n == 0)
		return spread;
	spread.min = spread.max = value[0];
	for (i = 0; i < n; i++) {
		sum += value[i];
		spread.min = fmin(spread.min, value[i]);
		spread.max = fmax(spread.max, value[i]);
	}
	spread.mean = sum / (double)n;
	for (i = 0; i < n; i++)
		square += (value[i] - spread.mean) * (value[i] - spread.mean);
	if (n > 1 && spread.mean != 0)
		spread.cv = sqrt(square / (double)(n - 1)) / fabs(spread.mean);

	spread.median = spread.mean;
	sorted = malloc(n * sizeof(*sorted));
	if (sorted) {
		memcpy(sorted, value, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), compare_double);
		spread.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
		free(sorted);
	}
	return spread;
}

double stats_t95(size_t df)
{
	static const double table[] = {
		INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646,
		2.3060,	  2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
		2.1199,	  2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687,
		2.0639,	  2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
	};
	const size_t last = sizeof(table) / sizeof(table[0]) - 1;

	if (df <= last)
		return table[df];
	/* The first terms of Cornish and Fisher's expansion; right to 0.0001 from 30 on. */
	return 1.959964 + 2.372270 / (double)df + 2.822500 / ((double)df * (double)df);
}

struct ratio stats_ratio(const double *a, const double *b, size_t n)
{
	struct ratio ratio = { .hi = INFINITY };
	double sum = 0, square = 0, mean, half;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(a[i] > 0) || !(b[i] > 0))
			continue;
		sum += log(a[i] / b[i]);
		ratio.n++;
	}
	if (ratio.n == 0)
		return ratio;
	mean = sum / (double)ratio.n;
	ratio.value = exp(mean);
	if (ratio.n < 2)
		return ratio;
	for (i = 0; i < n; i++) {
		if (!(a[i] > 0) || !(b[i] > 0))
			continue;
		square += (log(a[i] / b[i]) - mean) * (log(a[i] / b[i]) - mean);
	}
	half = stats_t95(ratio.n - 1) * sqrt(square / (double)(ratio.n - 1) / (double)ratio.n);
	ratio.lo = exp(mean - half);
	ratio.hi = exp(mean + half);
	return ratio;
}

/* Number, mean and squared standard error of the logarithms. */
static size_t of_logs(const double *value, size_t n, double *mean, double *error2)
{
	double sum = 0, square = 0;
	size_t i, used = 0;

	for (i = 0; i < n; i++) {
		if (!(value[i] > 0))
			continue;
		sum += log(value[i]);
		used++;
	}
	if (used == 0)
		return 0;
	*mean = sum / (double)used;
	for (i = 0; i < n; i++)
		if (value[i] > 0)
			square += (log(value[i]) - *mean) * (log(value[i]) - *mean);
	*error2 = used > 1 ? square / (double)(used - 1) / (double)used : INFINITY;
	return used;
}

struct ratio stats_ratio_unpaired(const double *a, size_t n_a, const double *b, size_t n_b)
{
	struct ratio ratio = { .hi = INFINITY };
	double mean_a, mean_b, error_a, error_b, df, half;

	n_a = of_logs(a, n_a, &mean_a, &error_a);
	n_b = of_logs(b, n_b, &mean_b, &error_b);
	ratio.n = n_a < n_b ? n_a : n_b;
	if (ratio.n == 0)
		return ratio;
	ratio.value = exp(mean_a - mean_b);
	if (ratio.n < 2)
		return ratio;
	if (error_a + error_b == 0) {
		ratio.lo = ratio.hi = ratio.value;
		return ratio;
	}
	/* Welch and Satterthwaite; rounded down, which errs to the wide side. */
	df = (error_a + error_b) * (error_a + error_b) /
	     (error_a * error_a / (double)(n_a - 1) + error_b * error_b / (double)(n_b - 1));
	half = stats_t95((size_t)df) * sqrt(error_a + error_b);
	ratio.lo = exp(mean_a - mean_b - half);
	ratio.hi = exp(mean_a - mean_b + half);
	return ratio;
}

bool stats_ratio_contains(const struct ratio *ratio, double value)
{
	return ratio->n > 0 && ratio->lo <= value && value <= ratio->hi;
}

double stats_ratio_half_width(const struct ratio *ratio)
{
	if (ratio->n < 2)
		return INFINITY;
	return (ratio->hi - ratio->lo) / 2 / ratio->value;
}

bool stats_is_drifting(const double *value, size_t n)
{
	double mean_x = (double)(n - 1) / 2, mean_y = 0, sxx = 0, sxy = 0, rest = 0, slope, error;
	size_t i;

	if (n < 4)
		return false;
	for (i = 0; i < n; i++)
		mean_y += value[i] / (double)n;
	for (i = 0; i < n; i++) {
		sxx += ((double)i - mean_x) * ((double)i - mean_x);
		sxy += ((double)i - mean_x) * (value[i] - mean_y);
	}
	slope = sxy / sxx;
	if (fabs(slope * (double)(n - 1)) <= 0.10 * fabs(mean_y))
		return false;
	for (i = 0; i < n; i++) {
		double off = value[i] - mean_y - slope * ((double)i - mean_x);

		rest += off * off;
	}
	error = sqrt(rest / (double)(n - 2) / sxx);
	return fabs(slope) > stats_t95(n - 2) * error;
}
