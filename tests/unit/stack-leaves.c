/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack-leaves ROOT TARGET...: "TARGET<tab>the devices at its bottom", one line each, on the
 * machine whose /sys and /proc are below ROOT ("" under umockdev's preload).
 */
#include <stdio.h>

#include "stack/stack.h"

int main(int argc, char **argv)
{
	struct wcache_ctx *ctx;

	if (argc < 2 || wcache_ctx_new(&ctx) < 0)
		return 2;
	ctx->root = argv[1];
	for (int i = 2; i < argc; i++) {
		struct wcache_stack *s;
		int err = wcache_stack_new(ctx, argv[i], &s);

		printf("%s\t", argv[i]);
		if (err < 0) {
			printf("error %d\n", err);
			continue;
		}
		for (size_t k = 0; k < s->n_nodes; k++)
			if (!s->nodes[k]->n_lower && !s->nodes[k]->mount)
				printf("%s ", s->nodes[k]->name);
		putchar('\n');
		wcache_stack_free(s);
	}
	wcache_ctx_unref(ctx);
	return 0;
}
