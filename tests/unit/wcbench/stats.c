/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "pool.h"
#include "stats.h"
#include "suite.h"

static double normal(uint64_t *state)
{
	double u = ((double)(random_next(state) >> 11) + 0.5) / 9007199254740992.0;
	double v = (double)(random_next(state) >> 11) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

START_TEST(student_t)
{
	/* Two-sided 95 %, from the table that every book has. */
	ck_assert(isinf(stats_t95(0)));
	ck_assert_double_eq_tol(stats_t95(1), 12.706, 0.001);
	ck_assert_double_eq_tol(stats_t95(4), 2.776, 0.001);
	ck_assert_double_eq_tol(stats_t95(9), 2.262, 0.001);
	ck_assert_double_eq_tol(stats_t95(30), 2.042, 0.001);
	ck_assert_double_eq_tol(stats_t95(40), 2.021, 0.001);
	ck_assert_double_eq_tol(stats_t95(60), 2.000, 0.001);
	ck_assert_double_eq_tol(stats_t95(120), 1.980, 0.001);
	ck_assert_double_eq_tol(stats_t95(1000000), 1.960, 0.001);
}
END_TEST

START_TEST(spread)
{
	const double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 };
	struct spread s = stats_spread(odd, 3);

	ck_assert_double_eq(s.min, 1);
	ck_assert_double_eq(s.median, 2);
	ck_assert_double_eq(s.max, 3);
	ck_assert_double_eq_tol(s.cv, 0.5, 1e-12);
	s = stats_spread(even, 4);
	ck_assert_double_eq(s.median, 2.5);
	s = stats_spread(odd, 1);
	ck_assert_double_eq(s.median, 3);
	ck_assert_double_eq(s.cv, 0);
	s = stats_spread(NULL, 0);
	ck_assert_uint_eq(s.n, 0);
	ck_assert_double_eq(s.max, 0);
}
END_TEST

START_TEST(ratio_of_known_pairs)
{
	/* ln 2, ln 4: mean ln sqrt(8), deviation ln(2)/sqrt(2), so half = t(1) * ln(2)/2. */
	const double a[] = { 2, 4, 0, 7 }, b[] = { 1, 1, 5, -1 };
	double half = 12.7062 * log(2) / 2;
	struct ratio r = stats_ratio(a, b, 4);

	ck_assert_uint_eq(r.n, 2);
	ck_assert_double_eq_tol(r.value, sqrt(8), 1e-12);
	ck_assert_double_eq_tol(log(r.lo), log(sqrt(8)) - half, 1e-9);
	ck_assert_double_eq_tol(log(r.hi), log(sqrt(8)) + half, 1e-9);
	ck_assert(stats_ratio_contains(&r, 1));

	r = stats_ratio(a, b, 1);
	ck_assert_double_eq(r.value, 2);
	ck_assert(isinf(r.hi));
	ck_assert(isinf(stats_ratio_half_width(&r)));
	r = stats_ratio(a + 2, b + 2, 2);
	ck_assert_uint_eq(r.n, 0);
	ck_assert(!stats_ratio_contains(&r, 1));
}
END_TEST

START_TEST(ratio_of_runs_that_are_no_pairs)
{
	/* Logs 0 and ln 4 against ln 2 twice: mean 0, df 1, error ln(4)/2. */
	const double a[] = { 1, 4, 0 }, b[] = { 2, 2 }, c[] = { 3, 3, 3 };
	struct ratio r = stats_ratio_unpaired(a, 3, b, 2);

	ck_assert_uint_eq(r.n, 2);
	ck_assert_double_eq_tol(r.value, 1, 1e-12);
	ck_assert_double_eq_tol(log(r.hi), 12.7062 * log(4) / 2, 1e-9);
	ck_assert_double_eq_tol(log(r.lo), -12.7062 * log(4) / 2, 1e-9);
	r = stats_ratio_unpaired(c, 3, b, 2);
	ck_assert_double_eq_tol(r.lo, 1.5, 1e-12);
	ck_assert_double_eq_tol(r.hi, 1.5, 1e-12);
	r = stats_ratio_unpaired(a, 1, b, 2);
	ck_assert(isinf(r.hi));
	ck_assert_uint_eq(stats_ratio_unpaired(a + 2, 1, b, 2).n, 0);
}
END_TEST

/* The promise of "95 %": the interval holds the true ratio in 95 of 100 experiments. */
START_TEST(interval_covers_what_it_says)
{
	const int trials = 4000;
	uint64_t state = 7;
	int covered = 0, claims = 0, t;

	for (t = 0; t < trials; t++) {
		double a[6], b[6], same[6];
		struct ratio r;
		size_t i;

		for (i = 0; i < 6; i++) {
			/* A pair shares a disturbance that is far larger than the noise. */
			double mood = exp(0.5 * normal(&state));

			a[i] = 100 * 1.3 * mood * exp(0.05 * normal(&state));
			b[i] = 100 * mood * exp(0.05 * normal(&state));
			same[i] = 100 * mood * exp(0.05 * normal(&state));
		}
		r = stats_ratio(a, b, 6);
		covered += stats_ratio_contains(&r, 1.3);
		ck_assert_double_lt(stats_ratio_half_width(&r), 0.6);
		r = stats_ratio(same, b, 6);
		claims += !stats_ratio_contains(&r, 1);
	}
	ck_assert_int_gt(covered, trials * 94 / 100);
	ck_assert_int_lt(covered, trials * 96 / 100);
	ck_assert_int_lt(claims, trials * 6 / 100);
}
END_TEST

START_TEST(drift)
{
	const double rising[] = { 100, 104, 109, 113, 118, 121 };
	const double level[] = { 100, 104, 97, 103, 98, 101 };
	const double noise[] = { 100, 60, 130, 70, 140, 105 };

	ck_assert(stats_is_drifting(rising, 6));
	ck_assert(!stats_is_drifting(level, 6));
	ck_assert(!stats_is_drifting(noise, 6));
	ck_assert(!stats_is_drifting(rising, 3));
	ck_assert(!stats_is_drifting(rising, 0));
}
END_TEST

SUITE("wcbench-stats", student_t, spread, ratio_of_known_pairs, ratio_of_runs_that_are_no_pairs,
      interval_covers_what_it_says, drift)
