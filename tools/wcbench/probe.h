/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WCBENCH_PROBE_H
#define WCBENCH_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define PROBE_BURSTS 16

struct probe_burst {
	uint64_t bytes; /* each twice the one before */
	double seconds; /* until the drive had accepted them */
};

/*
 * probe_cache() - the size of a cache from the time that bursts into it took
 *
 * What a burst has more than the one before is timed by itself. Once that half is accepted
 * at less than half of the best rate seen, the cache is full: what it holds lies between
 * the two sizes, and is interpolated.
 *
 * Return: bytes; 0 where no burst filled it, or there is no knee.
 */
uint64_t probe_cache(const struct probe_burst *burst, size_t n);

#endif
