/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts as text and as JSON: the one place that knows the names of the fields. */
#ifndef EMIT_H
#define EMIT_H

#include <json-c/json_object.h>
#include <stdio.h>

#include <wcache.h>

#define FORMAT_VERSION 1

/* Bytes that a terminal can take: control characters and broken UTF-8 as "?". */
void emit_text(FILE *f, const char *text);
/* How many characters that prints. */
size_t emit_width(const char *text);

/* A JSON string of any bytes: what is not UTF-8 becomes U+FFFD. NULL becomes null. */
struct json_object *emit_string(const char *text);
struct json_object *emit_answer(enum wcache_answer answer);
struct json_object *emit_cache(enum wcache_cache cache);

/* A root with its format_version. */
struct json_object *emit_root(void);
/* Print it with a newline, and free it. */
void emit_print(struct json_object *root);
/* The same on one line, for an object that has no format_version yet. */
void emit_print_line(struct json_object *o);

struct json_object *emit_drive(const struct wcache_device *dev, const struct wcache_state *state,
			       const struct wcache_report *report);
struct json_object *emit_findings(const struct wcache_report *report);
/* A path; takes DRIVES, an array of what emit_drive() made. */
struct json_object *emit_path(const char *target, const struct wcache_stack *stack,
			      const struct wcache_report *report, struct json_object *drives);
struct json_object *emit_error(const char *target, int err, const char *text);

#endif
