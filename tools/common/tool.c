/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options, exit status and messages of the tools. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "tool.h"

void tool_usage(const char *tool, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry '%s --help'.\n", tool);
	exit(EXIT_USAGE);
}

static unsigned int parse_seconds(const char *tool, const char *text)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(text, &end);
	if (errno || end == text || *end || !(s >= 0.001 && s <= 3600))
		tool_usage(tool, "--timeout takes seconds, up to 3600: '%s'", text);
	return s * 1000;
}

void tool_option(const char *tool, int c, const char *help, struct tool_options *options)
{
	switch (c) {
	case 'h':
		fputs(help, stdout);
		exit(tool_finish(tool, EXIT_DONE));
	case 'V':
		printf("%s %s\n", tool, wcache_get_version());
		exit(tool_finish(tool, EXIT_DONE));
	case 'v':
		options->verbose++;
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'j':
		options->json = true;
		break;
	case OPT_TIMEOUT:
		options->timeout_ms = parse_seconds(tool, optarg);
		break;
	case OPT_CAPTURE:
		options->capture = optarg;
		break;
	case OPT_REPLAY:
		options->replay = optarg;
		break;
	default:
		fprintf(stderr, "Try '%s --help'.\n", tool);
		exit(EXIT_USAGE);
	}
}

static void print_log(void *userdata, int level, const char *message)
{
	fprintf(stderr, "%s\n", message);
}

struct wcache_ctx *tool_context(const char *tool, const struct tool_options *options)
{
	struct wcache_ctx *ctx;
	int err = wcache_ctx_new(&ctx);

	if (err < 0) {
		fprintf(stderr, "%s: %s\n", tool, wcache_strerror(err));
		exit(EXIT_FAILED);
	}
	if (options->timeout_ms)
		wcache_ctx_set_timeout(ctx, options->timeout_ms);
	if (options->verbose > 1)
		wcache_ctx_set_log_fn(ctx, print_log, NULL, WCACHE_LOG_DEBUG);
	err = options->replay ? wcache_ctx_set_replay(ctx, options->replay) : 0;
	if (!err && options->capture)
		err = wcache_ctx_set_capture(ctx, options->capture);
	if (err < 0) {
		fprintf(stderr, "%s: %s\n", tool, wcache_ctx_get_error(ctx));
		exit(EXIT_FAILED);
	}
	return ctx;
}

enum tool_exit tool_exit_of(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return EXIT_DONE;
	case EOPNOTSUPP:
	case EBUSY:
		return EXIT_NO;
	case ENODATA:
		return EXIT_UNKNOWN;
	}
	return EXIT_FAILED;
}

static const char *advice_of(int err)
{
	switch (err < 0 ? -err : err) {
	case EACCES:
	case EPERM:
		return "Run it as root.";
	case ENOENT:
		return "wcache-get lists the drives of this machine.";
	case ENOTBLK:
		return "Name a drive, or one of its partitions; wcache-get lists them.";
	case ETIMEDOUT:
		return "Look at dmesg; --timeout gives a slow drive more time.";
	case EREMOTEIO:
		return "Something else rules the setting: the firmware, SCT, or a RAID controller. "
		       "See wcache-get -v.";
	case ENODATA:
		return "wcache-get -v says what was tried.";
	}
	return NULL;
}

void tool_complain(const char *tool, const struct tool_options *options, const char *target,
		   int err, const char *text, const char *advice)
{
	if (options->syslog)
		syslog(LOG_ERR, "%s: %s: %s", tool, target,
		       text && *text ? text : wcache_strerror(err));
	if (options->quiet)
		return;
	if (!advice)
		advice = advice_of(err);
	/* A sentence of the library may begin with the target already. */
	if (text && !strncmp(text, target, strlen(target)) && text[strlen(target)] == ':')
		fprintf(stderr, "%s: %s\n", tool, text);
	else
		fprintf(stderr, "%s: %s: %s\n", tool, target,
			text && *text ? text : wcache_strerror(err));
	if (advice)
		fprintf(stderr, "  %s\n", advice);
}

void tool_warn(const char *tool, const struct tool_options *options, const char *target,
	       const char *text)
{
	if (options->syslog)
		syslog(LOG_WARNING, "%s: %s", target, text);
	if (!options->quiet)
		fprintf(stderr, "%s: %s: warning: %s\n", tool, target, text);
}

enum tool_exit tool_exit_join(const enum tool_exit status[], size_t n)
{
	bool same = true;
	size_t failed = 0;

	for (size_t i = 0; i < n; i++) {
		same = same && status[i] == status[0];
		failed += status[i] == EXIT_FAILED;
	}
	if (same)
		return n ? status[0] : EXIT_DONE;
	if (failed)
		return EXIT_SOME;
	/* What is left is done, no and unknown: "no" is the stronger answer. */
	for (size_t i = 0; i < n; i++)
		if (status[i] == EXIT_NO)
			return EXIT_NO;
	return EXIT_UNKNOWN;
}

enum tool_exit tool_finish(const char *tool, enum tool_exit status)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: standard output: %s\n", tool, strerror(errno));
		return EXIT_FAILED;
	}
	return status;
}
