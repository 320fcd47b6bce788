/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs out of targets, and threads for them. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "pool.h"

#define MAX_THREADS 64

void job_fail(struct job *job, int err, const char *why)
{
	job->err = err;
	snprintf(job->why, sizeof(job->why), "%s", why && *why ? why : wcache_strerror(err));
}

const char *job_name(const struct job *job)
{
	return job->target->stack && job->drive ? job->drive : job->target->name;
}

static struct job *job_new(const struct jobs_kind *kind, const struct target *target,
			   const char *drive)
{
	struct job *job = calloc(1, kind->size);

	if (!job)
		abort();
	job->kind = kind;
	job->target = target;
	job->drive = drive ? strdup(drive) : NULL;
	if (drive && !job->drive)
		abort();
	if (target->err)
		job_fail(job, target->err, target->why);
	return job;
}

static void job_free(struct job *job)
{
	if (job->kind->clear)
		job->kind->clear(job);
	wcache_ctx_unref(job->ctx);
	free(job->drive);
	free(job);
}

static void add_jobs(struct jobs *jobs, const struct jobs_kind *kind, const struct target *target)
{
	size_t n = target_count(target);

	jobs->job = reallocarray(jobs->job, jobs->n + n + 1, sizeof(*jobs->job));
	if (!jobs->job)
		abort();
	if (target->err)
		jobs->job[jobs->n++] = job_new(kind, target, NULL);
	for (size_t i = 0; i < n; i++)
		jobs->job[jobs->n++] = job_new(kind, target, target_drive(target, i));
}

static void work(void *data)
{
	struct job *job = data;

	if (!job->err)
		job->kind->work(job);
}

/* Wait for job I, which is drive DRIVE of TARGET. */
static void finish(struct jobs *jobs, size_t i, struct pool *pool, const struct jobs_kind *kind,
		   const struct target *target, const char *drive)
{
	if (!pool_wait(pool, i, kind->limit_ms)) {
		/* Its thread owns the old one for good. */
		jobs->job[i] = job_new(kind, target, drive);
		job_fail(jobs->job[i], -ETIMEDOUT, kind->late);
	}
	if (kind->done)
		kind->done(jobs->job[i]);
}

struct jobs *jobs_run(const struct jobs_kind *kind, struct wcache_ctx *ctx,
		      const struct tool_options *options, const struct target targets[], size_t n)
{
	const bool alone = options->capture || options->replay;
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	struct pool *pool;
	size_t at = 0;

	if (!jobs)
		abort();
	for (size_t i = 0; i < n; i++)
		add_jobs(jobs, kind, &targets[i]);
	for (size_t i = 0; i < jobs->n; i++)
		jobs->job[i]->ctx = alone ? wcache_ctx_ref(ctx) : tool_context(kind->tool, options);
	/* A heap for each of so many threads costs more than it saves. */
	mallopt(M_ARENA_MAX, 2);
	pool = pool_start(work, (void *const *)jobs->job, jobs->n, alone ? 0 : MAX_THREADS);
	for (size_t i = 0; i < n; i++) {
		if (targets[i].err)
			finish(jobs, at++, pool, kind, &targets[i], NULL);
		for (size_t k = 0; k < target_count(&targets[i]); k++)
			finish(jobs, at++, pool, kind, &targets[i], target_drive(&targets[i], k));
	}
	pool_end(pool);
	return jobs;
}

void jobs_free(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++)
		job_free(jobs->job[i]);
	free(jobs->job);
	free(jobs);
}

enum tool_exit jobs_exit(const struct jobs *jobs)
{
	enum tool_exit *status = calloc(jobs->n + 1, sizeof(*status));
	enum tool_exit joined;

	if (!status)
		abort();
	for (size_t i = 0; i < jobs->n; i++)
		status[i] = tool_exit_of(jobs->job[i]->err);
	joined = tool_exit_join(status, jobs->n);
	free(status);
	return joined;
}
