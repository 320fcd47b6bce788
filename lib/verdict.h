/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts to durable or not. No I/O. */
#ifndef WC_VERDICT_H
#define WC_VERDICT_H

#include "state.h"

struct wcache_finding {
	const char *code; /* constant */
	enum wcache_severity severity;
	char *device;
	char *text;
	char *remedy;
};

struct wcache_report {
	size_t n_findings;
	struct wcache_finding *findings;
	bool failed; /* memory ran out while adding */
};

/* REMEDY: a command that can be typed, or NULL. */
void wc_report_add(struct wcache_report *r, const char *code, enum wcache_severity severity,
		   const char *device, const char *remedy, const char *fmt, ...) WC_PRINTF(6, 7);

/* The rules of one drive, added to R; raid/verdict.c those of its controller. */
void wc_verdict_drive(struct wcache_report *r, const struct wcache_device *dev,
		      const struct wcache_state *s);

void wc_verdict_controller(struct wcache_report *r, const struct wcache_device *dev,
			   const struct wcache_state *s);

#endif
