/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_STACK_FILESYSTEM_H
#define WC_STACK_FILESYSTEM_H

#include "stack.h"

/* Does its mount leave flushes out? */
void wc_filesystem_judge(struct wcache_stack *s, struct wcache_node *n);

#endif
