/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much the cache takes: bursts of growing size into an empty cache. What fits goes in at
 * the speed of the link, what does not at the speed of the medium.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "probe.h"

#define BLOCK (256u << 10)
#define BURST_FIRST (1u << 20)

static int cachesize_run(struct bench *bench, unsigned int param, struct run *run)
{
	const struct region *data = &bench->target.data;
	struct probe_burst burst[PROBE_BURSTS];
	uint64_t bytes = BURST_FIRST, cache;
	double drain_rate = -1;
	size_t n = 0;
	int r = 0;

	for (; n < PROBE_BURSTS && bytes <= data->length; bytes *= 2) {
		struct job job = {
			.threads = 1,
			.fd = data->fd_direct,
			.block = BLOCK,
			.start = data->start,
			.length = data->length,
			.write_every = 1,
			.limit = bytes,
			.close = engine_sync_last,
		};
		struct engine_result result;

		r = bench_job(bench, &job, 1, true, run, &result);
		if (r == 0) {
			burst[n].bytes = result.bytes_written;
			burst[n].seconds = (double)result.stopped / NS_PER_S;
			if (result.window > result.stopped)
				drain_rate = (double)bytes * 1000.0 /
					     (double)(result.window - result.stopped);
			n++;
		}
		engine_result_free(&result);
		if (r < 0)
			return r;
		/* A burst of many seconds is past every cache. */
		if (burst[n - 1].seconds > 8)
			break;
	}
	cache = probe_cache(burst, n);
	run->value[0] = cache ? (double)cache / (1 << 20) : -1;
	if (cache)
		run->value[1] = drain_rate;
	bench->report.cache_bytes = cache;
	return 0;
}

const struct workload workload_cachesize = {
	.id = "cachesize",
	.what = "how much the cache takes at once, and how fast it drains",
	.traits = WORKLOAD_DIRECT | WORKLOAD_ONCE,
	.measure = { { "size", "MiB" }, { "drain", "MB/s" } },
	.run = cachesize_run,
};
