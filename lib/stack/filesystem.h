/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_STACK_FILESYSTEM_H
#define WC_STACK_FILESYSTEM_H

#include "stack.h"

/* Does its mount leave flushes out? */
void wc_filesystem_judge(struct wcache_stack *s, struct wcache_node *n);
/* The command that mends one which does. */
void wc_filesystem_remedy(const struct wc_mount *m, char *out, size_t size);

#endif
