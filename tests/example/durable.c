/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A daemon that asks at its start whether what it syncs stays: durable DIRECTORY. The exit
 * status is that of wcache-get --check=durable.
 */
#include <stdio.h>
#include <wcache.h>

int main(int argc, char **argv)
{
	const char *data = argc > 1 ? argv[1] : "/var/lib/daemon";
	enum wcache_verdict verdict = WCACHE_VERDICT_UNKNOWN;
	struct wcache_ctx *ctx;
	struct wcache_report *report;

	if (wcache_ctx_new(&ctx) < 0)
		return 1;
	if (wcache_report_new_for_path(ctx, data, &report) == 0) {
		verdict = wcache_report_get_verdict(report);
		if (verdict == WCACHE_VERDICT_AT_RISK)
			fprintf(stderr, "fsync is not durable in %s: %s\n", data,
				wcache_finding_get_text(wcache_report_get_finding(report, 0)));
		wcache_report_free(report);
	}
	wcache_ctx_unref(ctx);
	return verdict == WCACHE_VERDICT_DURABLE ? 0 : verdict == WCACHE_VERDICT_AT_RISK ? 3 : 4;
}
