/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work on many targets side by side, so that a slow or hanging drive delays
 * nobody.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>

struct pool;

/*
 * Call WORK(jobs[i]) for every i on up to N_THREADS threads. WORK must not touch
 * what other jobs touch.
 */
struct pool *pool_start(void (*work)(void *job), void *const jobs[], size_t n_jobs,
			size_t n_threads);

/*
 * Wait for job I. False when it has been running for LIMIT_MS without an end: its
 * thread is given up, and its job may still be written to for ever, so it must be
 * neither read nor freed. Another thread takes its place.
 */
bool pool_wait(struct pool *pool, size_t i, unsigned int limit_ms);

/* After the last wait. What threads that were given up still use is theirs to free. */
void pool_end(struct pool *pool);

#endif
