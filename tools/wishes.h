/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of this machine, asked about its drives. */
#ifndef WISHES_H
#define WISHES_H

#include <stdbool.h>
#include <stdio.h>

#include <wcache.h>

struct wishes;

/*
 * Read the policy, and find the drives below the paths in it. Without MOUNTED the file
 * systems may not be there yet, and a path says nothing. Negative errno, with the
 * sentence in the context.
 */
int wishes_new(struct wcache_ctx *ctx, bool mounted, struct wishes **ret);
void wishes_free(struct wishes *wishes);

/* What the policy wants of a drive, and "FILE:LINE" of what says so, or NULL. */
enum wcache_wanted wishes_ask(const struct wishes *wishes, const struct wcache_device *dev,
			      const struct wcache_state *state, const char **where);

/* The section that asks for SETTING on this drive alone, ready to be pasted. */
void wish_print_section(FILE *f, const struct wcache_device *dev, const char *setting);

#endif
