/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form that node_exporter's textfile collector reads. */
#ifndef PROMETHEUS_H
#define PROMETHEUS_H

#include <wcache.h>

struct sample;

struct sample *sample_new(const struct wcache_device *dev, const struct wcache_state *state,
			  const struct wcache_report *report);
struct sample *sample_new_path(const char *path, const struct wcache_report *report);
void sample_free(struct sample *sample);

/* Print all, NULLs and repetitions skipped, each metric's samples together. */
void samples_print(struct sample *const samples[], size_t n);

#endif
