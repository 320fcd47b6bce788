/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "hist.h"
#include "pool.h"
#include "suite.h"

#define SAMPLES 20000

static const double PERCENT[] = { 0.01, 1, 5, 25, 50, 75, 90, 99, 99.9, 99.99 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Log-uniform from 1 ns to 100 s: every octave is met. */
static uint64_t sample(uint64_t *state)
{
	return (uint64_t)pow(10, 11.0 * (double)(random_next(state) >> 11) / 9007199254740992.0);
}

static uint64_t sorted_percentile(const uint64_t *sorted, size_t n, double percent)
{
	size_t rank = (size_t)ceil(percent / 100 * (double)n);

	return sorted[rank ? rank - 1 : 0];
}

START_TEST(buckets_are_in_order_and_close)
{
	uint64_t state = 1, value, back;
	unsigned int i, last = 0;

	for (value = 0; value < 100000; value++) {
		i = hist_index(value);
		ck_assert_uint_ge(i, last);
		ck_assert_uint_le(i, last + 1);
		last = i;
	}
	for (i = 0; i < SAMPLES; i++) {
		value = sample(&state);
		back = hist_bucket_value(hist_index(value));
		ck_assert_double_lt(fabs((double)back - (double)value), (double)value / 128);
	}
	for (i = 0; i < HIST_BUCKETS; i++)
		ck_assert_uint_eq(hist_index(hist_bucket_value(i)), i);
	ck_assert_uint_eq(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
}
END_TEST

START_TEST(percentiles_match_sorted_samples)
{
	uint64_t *sorted = malloc(SAMPLES * sizeof(*sorted)), state = 2, sum = 0;
	struct hist *hist = calloc(1, sizeof(*hist));
	size_t i;

	for (i = 0; i < SAMPLES; i++) {
		sorted[i] = sample(&state);
		sum += sorted[i];
		hist_add(hist, sorted[i]);
	}
	qsort(sorted, SAMPLES, sizeof(*sorted), compare);
	for (i = 0; i < sizeof(PERCENT) / sizeof(PERCENT[0]); i++) {
		double want = (double)sorted_percentile(sorted, SAMPLES, PERCENT[i]);
		double have = (double)hist_percentile(hist, PERCENT[i]);

		ck_assert_msg(fabs(have - want) <= want / 128, "p%g: %g, sorted %g", PERCENT[i],
			      have, want);
	}
	ck_assert_uint_eq(hist_percentile(hist, 0), sorted[0]);
	ck_assert_uint_eq(hist_percentile(hist, 100), sorted[SAMPLES - 1]);
	ck_assert_uint_eq(hist->n, SAMPLES);
	ck_assert_uint_eq(hist->min, sorted[0]);
	ck_assert_uint_eq(hist->max, sorted[SAMPLES - 1]);
	ck_assert_uint_eq(hist->sum, sum);
	ck_assert_double_eq_tol(hist_mean(hist), (double)sum / SAMPLES, 1);
	free(hist);
	free(sorted);
}
END_TEST

START_TEST(deviation)
{
	const uint64_t value[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct hist *hist = calloc(1, sizeof(*hist));
	size_t i;

	for (i = 0; i < 8; i++)
		hist_add(hist, value[i]);
	ck_assert_double_eq_tol(hist_mean(hist), 5, 1e-12);
	ck_assert_double_eq_tol(hist_stddev(hist), sqrt(32.0 / 7), 1e-9);
	free(hist);
}
END_TEST

START_TEST(merged_is_the_same_as_added_together)
{
	struct hist *one = calloc(4, sizeof(*one)), *two = one + 1, *all = one + 2, *none = one + 3;
	uint64_t state = 3, value;
	size_t i;

	for (i = 0; i < SAMPLES; i++) {
		value = sample(&state);
		hist_add(i % 3 ? one : two, value);
		hist_add(all, value);
	}
	hist_merge(one, two);
	hist_merge(one, none);
	ck_assert_mem_eq(one->bucket, all->bucket, sizeof(one->bucket));
	ck_assert_uint_eq(one->n, all->n);
	ck_assert_uint_eq(one->sum, all->sum);
	ck_assert_uint_eq(one->min, all->min);
	ck_assert_uint_eq(one->max, all->max);
	hist_merge(none, two);
	ck_assert_uint_eq(none->min, two->min);
	hist_reset(none);
	ck_assert_uint_eq(none->n, 0);
	ck_assert_uint_eq(hist_percentile(none, 50), 0);
	free(one);
}
END_TEST

START_TEST(one_value_is_every_percentile)
{
	struct hist *hist = calloc(1, sizeof(*hist));
	size_t i;

	hist_add(hist, 123456789);
	for (i = 0; i < sizeof(PERCENT) / sizeof(PERCENT[0]); i++)
		ck_assert_uint_eq(hist_percentile(hist, PERCENT[i]), 123456789);
	ck_assert_double_eq(hist_stddev(hist), 0);
	free(hist);
}
END_TEST

SUITE("wcbench-hist", buckets_are_in_order_and_close, percentiles_match_sorted_samples, deviation,
      merged_is_the_same_as_added_together, one_value_is_every_percentile)
