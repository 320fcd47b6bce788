/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"

void hist_reset(struct hist *hist)
{
	memset(hist, 0, sizeof(*hist));
}

void hist_merge(struct hist *into, const struct hist *from)
{
	unsigned int i;

	if (from->n == 0)
		return;
	for (i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	if (from->min < into->min || into->n == 0)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->n += from->n;
	into->sum += from->sum;
	into->sum2 += from->sum2;
}

int hist_collect(struct hist **into, const struct hist *from)
{
	if (!from || from->n == 0)
		return 0;
	if (!*into)
		*into = calloc(1, sizeof(**into));
	if (!*into)
		return -ENOMEM;
	hist_merge(*into, from);
	return 0;
}

uint64_t hist_bucket_value(unsigned int index)
{
	unsigned int shift;
	uint64_t low;

	if (index < HIST_PER_OCTAVE)
		return index;
	shift = (index >> HIST_BITS) - 1;
	low = (uint64_t)(HIST_PER_OCTAVE + (index & (HIST_PER_OCTAVE - 1))) << shift;
	return low + (((uint64_t)1 << shift) - 1) / 2;
}

uint64_t hist_buckets_percentile(const uint64_t bucket[HIST_BUCKETS], double percent)
{
	uint64_t n = 0, rank, seen = 0;
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++)
		n += bucket[i];
	if (n == 0)
		return 0;
	rank = (uint64_t)ceil(percent / 100.0 * (double)n);
	if (rank < 1)
		rank = 1;
	if (rank > n)
		rank = n;
	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += bucket[i];
		if (seen >= rank)
			break;
	}
	return hist_bucket_value(i);
}

uint64_t hist_percentile(const struct hist *hist, double percent)
{
	uint64_t value;

	if (percent <= 0)
		return hist->min;
	if (percent >= 100)
		return hist->max;
	value = hist_buckets_percentile(hist->bucket, percent);
	if (value < hist->min)
		return hist->min;
	if (value > hist->max)
		return hist->max;
	return value;
}

double hist_mean(const struct hist *hist)
{
	return hist->n ? (double)hist->sum / (double)hist->n : 0;
}

double hist_stddev(const struct hist *hist)
{
	double mean = hist_mean(hist), variance;

	if (hist->n < 2)
		return 0;
	variance = (hist->sum2 - mean * mean * (double)hist->n) / (double)(hist->n - 1);
	return variance > 0 ? sqrt(variance) : 0;
}
