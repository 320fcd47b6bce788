/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probe.h"

#define KNEE 0.5
/* The first bursts are over before a clock says much about them. */
#define BURSTS_LEAST 3

uint64_t probe_cache(const struct probe_burst *burst, size_t n)
{
	double best = 0, rate, slow = 0, t, fast;
	size_t i, knee = 0;

	for (i = 1; i < n; i++) {
		double bytes = (double)(burst[i].bytes - burst[i - 1].bytes);
		double seconds = burst[i].seconds - burst[i - 1].seconds;

		if (seconds <= 0)
			continue;
		rate = bytes / seconds;
		if (i >= BURSTS_LEAST && best > 0 && rate < KNEE * best) {
			if (!knee)
				knee = i;
			slow = rate;
		} else if (knee) {
			/* Fast again: it was a stall, not the end of the cache. */
			knee = 0;
		}
		if (rate > best)
			best = rate;
	}
	if (!knee || slow <= 0 || slow >= best)
		return 0;
	/*
	 * With the fast and the slow rate known, the time of the burst at the knee says how
	 * much of it went in fast: bytes = fast * tf + slow * (t - tf).
	 */
	t = burst[knee].seconds;
	fast = ((double)burst[knee].bytes - slow * t) / (best - slow) * best;
	if (fast < (double)burst[knee - 1].bytes)
		return burst[knee - 1].bytes;
	if (fast > (double)burst[knee].bytes)
		return burst[knee].bytes;
	return (uint64_t)fast;
}
