/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mounted file systems whose data lie on a drive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"

struct wcache_users {
	struct wcache_stack *stack;
	size_t count;
	const struct wcache_node **list;
};

WC_EXPORT int wcache_users_new(struct wcache_ctx *ctx, const char *drive, struct wcache_users **ret)
{
	struct wcache_users *u = calloc(1, sizeof(*u));
	struct wcache_node *n, *bottom;
	int err;

	if (!u)
		return -ENOMEM;
	err = wc_stack_alloc(ctx, &u->stack);
	if (!err)
		err = wc_mounts_read(u->stack);
	for (size_t i = 0; !err && i < u->stack->n_mounts; i++)
		err = wc_stack_filesystem(u->stack, &u->stack->mounts[i], &n);
	if (!err)
		err = wc_stack_block(u->stack, drive, &bottom);
	if (!err)
		err = wc_stack_walk(u->stack);
	if (!err) {
		u->list = calloc(u->stack->n_nodes, sizeof(*u->list));
		err = u->list ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < u->stack->n_nodes; i++)
		if (u->stack->nodes[i]->mount &&
		    wc_stack_reaches(u->stack, u->stack->nodes[i], bottom))
			u->list[u->count++] = u->stack->nodes[i];
	if (err < 0) {
		wcache_users_free(u);
		return wc_ctx_fail(ctx, err, "%s: %s", drive, wcache_strerror(err));
	}
	*ret = u;
	return 0;
}

WC_EXPORT void wcache_users_free(struct wcache_users *u)
{
	if (!u)
		return;
	wcache_stack_free(u->stack);
	free(u->list);
	free(u);
}

WC_EXPORT size_t wcache_users_get_count(const struct wcache_users *u)
{
	return u->count;
}

WC_EXPORT const char *wcache_users_get_mount(const struct wcache_users *u, size_t index)
{
	return index < u->count ? u->list[index]->name : NULL;
}
