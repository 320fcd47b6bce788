/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layers below a path, drawn as a tree. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdio.h>

#include <wcache.h>

/*
 * tree_print() - one line a layer, what is below it further right
 * @drives: what to say of each drive of @stack, in its order
 * @reasons: say also how it is known that flushes pass
 */
void tree_print(FILE *f, const struct wcache_stack *stack, const char *const drives[],
		bool reasons);

#endif
