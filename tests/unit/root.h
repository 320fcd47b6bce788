/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder of a test's own to be taken for the root of the file system. */
#ifndef ROOT_H
#define ROOT_H

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static char root[] = "/tmp/wcache-root-XXXXXX";

static inline void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline void run(const char *fmt, ...)
{
	char command[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	ck_assert_int_eq(system(command), 0);
}

/* FOLDERS: to be made below it, by blanks */
static inline void root_set_up(const char *folders)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	run("cd %s && mkdir -p %s", root, folders);
}

static inline void root_tear_down(void)
{
	run("rm -rf %s", root);
}

static inline void put_bytes(const char *name, const void *data, size_t size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, size, f), size);
	ck_assert_int_eq(fclose(f), 0);
}

static inline void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

#endif
