/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time, as every latency here is measured: nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef WCBENCH_CLOCK_H
#define WCBENCH_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* clock_sleep_until() - return: 0 at @ns, -EINTR when a signal came first */
static inline int clock_sleep_until(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};

	return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

#endif
