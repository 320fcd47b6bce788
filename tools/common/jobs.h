/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work of one call of a tool: something with every drive of every target. */
#ifndef JOBS_H
#define JOBS_H

#include <stddef.h>

#include "target.h"

struct jobs_kind;

/* One drive of a target, or a target that is wrong by itself. The head of a tool's own struct. */
struct job {
	const struct jobs_kind *kind;
	const struct target *target;
	char *drive; /* the name to open; NULL: the target is wrong */
	struct wcache_ctx *ctx;
	int err;
	char why[768];
};

struct jobs {
	size_t n;
	struct job **job; /* those of one target stand together, in the order of the targets */
};

struct jobs_kind {
	const char *tool;
	size_t size; /* of the struct that a job is the head of */
	const void *options;
	unsigned int limit_ms; /* a job that takes longer is given up: -ETIMEDOUT */
	const char *late; /* what that means; may be NULL */
	void (*work)(struct job *job); /* on a thread of its own; not called for a wrong target */
	void (*done)(struct job *job); /* called in order, as soon as those before are done */
	void (*clear)(struct job *job); /* free what the tool's struct holds; may be NULL */
};

/*
 * Do it, side by side; one after the other where all goes to or comes from one file.
 * CTX is what targets_new() had. Free with jobs_free().
 */
struct jobs *jobs_run(const struct jobs_kind *kind, struct wcache_ctx *ctx,
		      const struct tool_options *options, const struct target targets[], size_t n);
void jobs_free(struct jobs *jobs);

/* The exit status that the errors of all make together. */
enum tool_exit jobs_exit(const struct jobs *jobs);

/* Keep what went wrong; WHY may be NULL. */
void job_fail(struct job *job, int err, const char *why);

/* What a message is about: the drive, or the target as it was given where that is the same. */
const char *job_name(const struct job *job);

#endif
