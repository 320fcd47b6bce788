/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the three tools share: options, exit status, messages. */
#ifndef TOOL_H
#define TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include <wcache.h>

/* The exit status of every tool. */
enum tool_exit {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NO = 3, /* check not met, change refused */
	EXIT_UNKNOWN = 4,
	EXIT_SOME = 5, /* some of several targets failed */
};

struct tool_options {
	bool json;
	bool quiet;
	bool syslog; /* complaints go there too */
	unsigned int verbose;
	unsigned int timeout_ms; /* 0: the library's own */
	const char *capture;
	const char *replay;
};

/* Short and long options that every tool has; a tool's own long ones start at 256. */
#define TOOL_SHORT_OPTIONS "hVvqj"
enum {
	OPT_TIMEOUT = 128,
	OPT_CAPTURE,
	OPT_REPLAY,
};
#define TOOL_LONG_OPTIONS                                                                   \
	{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' },          \
		{ "verbose", no_argument, NULL, 'v' }, { "quiet", no_argument, NULL, 'q' }, \
		{ "json", no_argument, NULL, 'j' },                                         \
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },                        \
		{ "capture", required_argument, NULL, OPT_CAPTURE },                        \
	{                                                                                   \
		"replay", required_argument, NULL, OPT_REPLAY                               \
	}

#define TOOL_HELP                                                                  \
	"  -j, --json             print JSON\n"                                    \
	"  -v, --verbose          say more\n"                                      \
	"  -q, --quiet            say nothing but the exit status\n"               \
	"      --timeout SECONDS  how long one question to a drive may take (5)\n" \
	"      --capture FILE     record every exchange with the drive\n"          \
	"      --replay FILE      answer from such a file instead of a drive\n"    \
	"  -h, --help             print this\n"                                    \
	"  -V, --version          print the version\n"

/*
 * An option that every tool has: take it, print and exit for -h and -V, and exit
 * with usage for one that nobody knows.
 */
void tool_option(const char *tool, int c, const char *help, struct tool_options *options);

/* A usage error: the message, then where to look. */
void tool_usage(const char *tool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* A context as the options want it; exits where a file cannot be used. */
struct wcache_ctx *tool_context(const char *tool, const struct tool_options *options);

/* The exit status that says an error of the library. */
enum tool_exit tool_exit_of(int err);

/*
 * One line on stderr, "TOOL: TARGET: TEXT", and below it what to do where there is
 * something to be done. Nothing with --quiet.
 */
void tool_complain(const char *tool, const struct tool_options *options, const char *target,
		   int err, const char *text, const char *advice);

/* What a success leaves open, on stderr: "TOOL: TARGET: warning: TEXT". Nothing with --quiet. */
void tool_warn(const char *tool, const struct tool_options *options, const char *target,
	       const char *text);

/* The status of several: each one's own, EXIT_SOME where only a part failed. */
enum tool_exit tool_exit_join(const enum tool_exit status[], size_t n);

/* stdout must have taken everything: a full disk is not success. */
enum tool_exit tool_finish(const char *tool, enum tool_exit status);

#endif
