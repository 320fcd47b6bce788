/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

#define PLAIN_EVERY (10 * NS_PER_S)
/* An estimate from less of the work than this is a guess. */
#define ETA_FROM 0.01

void progress_init(struct progress *progress, bool quiet)
{
	memset(progress, 0, sizeof(*progress));
	progress->quiet = quiet;
	progress->terminal = isatty(STDERR_FILENO);
	progress->begun = progress->last = clock_ns();
}

void progress_eta(double seconds, double fraction, char *text, unsigned int size)
{
	double left;

	if (fraction < ETA_FROM || fraction > 1) {
		snprintf(text, size, "--:--");
		return;
	}
	left = seconds / fraction * (1 - fraction);
	if (left >= 3600)
		snprintf(text, size, "%d:%02d:%02d", (int)left / 3600, (int)left / 60 % 60,
			 (int)left % 60);
	else
		snprintf(text, size, "%02d:%02d", (int)left / 60, (int)left % 60);
}

void progress_step(struct progress *progress, double fraction, const char *what)
{
	progress->fraction = fraction;
	snprintf(progress->what, sizeof(progress->what), "%s", what);
	progress_show(progress, "");
}

void progress_show(struct progress *progress, const char *news)
{
	uint64_t now = clock_ns();
	char eta[32];
	int width;

	if (progress->quiet)
		return;
	if (!progress->terminal && now - progress->last < PLAIN_EVERY)
		return;
	progress->last = now;
	progress_eta((double)(now - progress->begun) / NS_PER_S, progress->fraction, eta,
		     sizeof(eta));
	width = fprintf(stderr, "%s%s %s eta %s",
			progress->terminal ? "\r" : "wcbench: ", progress->what, news, eta);
	if (progress->terminal)
		fprintf(stderr, "%*s", width < progress->width ? progress->width - width : 0, "");
	else
		fputc('\n', stderr);
	progress->width = width;
	fflush(stderr);
}

void progress_clear(struct progress *progress)
{
	if (progress->quiet || !progress->terminal || progress->width == 0)
		return;
	fprintf(stderr, "\r%*s\r", progress->width, "");
	fflush(stderr);
	progress->width = 0;
}
