/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is going on, on standard error: one line that is rewritten on a terminal, a line
 * every ten seconds elsewhere.
 */
#ifndef WCBENCH_PROGRESS_H
#define WCBENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool quiet;
	bool terminal;
	uint64_t begun, last;
	double fraction; /* of the work, 0 to 1 */
	char what[160]; /* "[3/10 pairs] wal-fdatasync c=4 cache off" */
	int width; /* of the line that is shown */
};

void progress_init(struct progress *progress, bool quiet);
/* progress_step() - a new piece of work begins, after @fraction of all */
void progress_step(struct progress *progress, double fraction, const char *what);
/* progress_show() - with the news of the last interval, "812 op/s p99 1.9 ms" */
void progress_show(struct progress *progress, const char *news);
/* progress_clear() - before anything else is printed */
void progress_clear(struct progress *progress);

/* progress_eta() - "04:10" from the time that @fraction took; "--:--" where nobody can tell */
void progress_eta(double seconds, double fraction, char *text, unsigned int size);

#endif
