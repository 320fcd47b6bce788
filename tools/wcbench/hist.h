/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A histogram of latencies: 64 buckets to every power of two, so that a value read
 * back is off by less than 1/128, whatever its size. Minimum, maximum and sum are
 * kept exactly.
 *
 * One thread adds; another may read the buckets meanwhile, which is how a timeline
 * is made: the difference of two readings is the histogram of the time between.
 */
#ifndef WCBENCH_HIST_H
#define WCBENCH_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_BITS 6
#define HIST_PER_OCTAVE (1u << HIST_BITS)
/* The last octave ends at 2^40 ns, 18 minutes; what is longer falls into its last bucket. */
#define HIST_TOP_BIT 40
#define HIST_BUCKETS ((HIST_TOP_BIT - HIST_BITS + 1) * HIST_PER_OCTAVE)

struct hist {
	uint64_t n;
	uint64_t min, max; /* of nothing: 0 */
	uint64_t sum;
	double sum2;
	uint64_t bucket[HIST_BUCKETS];
};

static inline unsigned int hist_index(uint64_t value)
{
	unsigned int top;

	if (value < HIST_PER_OCTAVE)
		return (unsigned int)value;
	if (value >> HIST_TOP_BIT)
		return HIST_BUCKETS - 1;
	top = 63u - (unsigned int)__builtin_clzll(value);
	return ((top - HIST_BITS) << HIST_BITS) + (unsigned int)(value >> (top - HIST_BITS));
}

static inline void hist_add(struct hist *hist, uint64_t value)
{
	uint64_t *bucket = &hist->bucket[hist_index(value)];

	__atomic_store_n(bucket, *bucket + 1, __ATOMIC_RELAXED);
	if (value < hist->min || hist->n == 0)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
	hist->n++;
	hist->sum += value;
	hist->sum2 += (double)value * (double)value;
}

void hist_reset(struct hist *hist);
void hist_merge(struct hist *into, const struct hist *from);
/* hist_collect() - merge into one that is made when there is something. Return: 0, -ENOMEM. */
int hist_collect(struct hist **into, const struct hist *from);

/* hist_bucket_value() - the value that stands for all in bucket @index: its middle */
uint64_t hist_bucket_value(unsigned int index);

/*
 * hist_percentile() - the smallest value that at least @percent of all do not exceed
 * Exact at 0 and 100, and never outside of the minimum and maximum. Return: 0 of nothing.
 */
uint64_t hist_percentile(const struct hist *hist, double percent);

/*
 * hist_buckets_percentile() - the same over bare buckets, as of one second of a timeline
 */
uint64_t hist_buckets_percentile(const uint64_t bucket[HIST_BUCKETS], double percent);

double hist_mean(const struct hist *hist);
double hist_stddev(const struct hist *hist);

#endif
