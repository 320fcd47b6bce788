/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph of layers: nodes, what is below them, and what they do with a flush. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"
#include "transport/sysfs.h"

/* The first that matches; the last matches all. */
static const struct wc_layer *const layers[] = {
	&wc_layer_memory,   &wc_layer_remote,	  &wc_layer_overlay,   &wc_layer_btrfs,
	&wc_layer_bcachefs, &wc_layer_filesystem, &wc_layer_partition, &wc_layer_dm,
	&wc_layer_md,	    &wc_layer_bcache,	  &wc_layer_loop,      &wc_layer_drbd,
	&wc_layer_nbd,	    &wc_layer_zram,	  &wc_layer_disk,
};

int wc_stack_alloc(struct wcache_ctx *ctx, struct wcache_stack **ret)
{
	struct wcache_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->ctx = wcache_ctx_ref(ctx);
	*ret = s;
	return 0;
}

static void node_free(struct wcache_node *n)
{
	free(n->key);
	free(n->name);
	free(n->label);
	free(n->real);
	free(n->lower);
	free(n->upper);
	free(n);
}

WC_EXPORT void wcache_stack_free(struct wcache_stack *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_nodes; i++)
		node_free(s->nodes[i]);
	for (size_t i = 0; i < s->n_paths; i++)
		free(s->paths[i].path);
	free(s->nodes);
	free(s->paths);
	free(s->drives);
	free(s->mounts);
	free(s->mount_text);
	wcache_ctx_unref(s->ctx);
	free(s);
}

void wc_node_say(struct wcache_node *n, enum wcache_passes flush, const char *fmt, ...)
{
	va_list ap;

	n->flush = flush;
	va_start(ap, fmt);
	vsnprintf(n->reason, sizeof(n->reason), fmt, ap);
	va_end(ap);
}

static int push(struct wcache_node ***list, size_t *n, struct wcache_node *node)
{
	struct wcache_node **p = reallocarray(*list, *n + 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*list = p;
	p[(*n)++] = node;
	return 0;
}

static struct wcache_node *find(const struct wcache_stack *s, const char *key)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (!strcmp(s->nodes[i]->key, key))
			return s->nodes[i];
	return NULL;
}

static int add_node(struct wcache_stack *s, const char *key, const char *name, const char *real,
		    const struct wc_mount *m, struct wcache_node **ret)
{
	struct wcache_node *n;
	size_t i = 0;

	if (s->n_nodes >= WC_STACK_MAX_NODES)
		return -E2BIG;
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->key = strdup(key);
	n->name = strdup(name);
	n->real = real ? strdup(real) : NULL;
	n->mount = m;
	if (!n->key || !n->name || (real && !n->real) || push(&s->nodes, &s->n_nodes, n) < 0) {
		node_free(n);
		return -ENOMEM;
	}
	while (!layers[i]->matches(n))
		i++;
	n->layer = layers[i];
	*ret = n;
	return 0;
}

int wc_stack_block(struct wcache_stack *s, const char *name, struct wcache_node **ret)
{
	struct wcache_node *n = find(s, name);
	char real[1024];
	ssize_t len;

	if (n) {
		*ret = n;
		return 0;
	}
	if (!*name || *name == '.' || strchr(name, '/'))
		return -ENODEV;
	len = wc_host_link(s->ctx, real, sizeof(real), "/sys/class/block/%s", name);
	if (len < 0)
		return -ENODEV;
	return add_node(s, name, name, real, NULL, ret);
}

int wc_stack_filesystem(struct wcache_stack *s, const struct wc_mount *m, struct wcache_node **ret)
{
	char key[32];
	struct wcache_node *n;

	snprintf(key, sizeof(key), "%u:%u", m->major, m->minor);
	n = find(s, key);
	if (!n)
		return add_node(s, key, m->point, NULL, m, ret);
	*ret = n;
	return 0;
}

static bool walk_down(struct wcache_node *from, const struct wcache_node *to)
{
	if (from == to)
		return true;
	if (from->seen)
		return false;
	from->seen = true;
	for (size_t i = 0; i < from->n_lower; i++)
		if (walk_down(from->lower[i], to))
			return true;
	return false;
}

bool wc_stack_reaches(const struct wcache_stack *s, struct wcache_node *from,
		      const struct wcache_node *to)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i]->seen = false;
	return walk_down(from, to);
}

int wc_stack_link(struct wcache_stack *s, struct wcache_node *upper, struct wcache_node *lower)
{
	int err;

	for (size_t i = 0; i < upper->n_lower; i++)
		if (upper->lower[i] == lower)
			return 0;
	if (lower == upper || (lower->n_lower && wc_stack_reaches(s, lower, upper))) {
		upper->looped = true;
		return 0;
	}
	err = push(&upper->lower, &upper->n_lower, lower);
	return err < 0 ? err : push(&lower->upper, &lower->n_upper, upper);
}

int wc_stack_add_below(struct wcache_stack *s, struct wcache_node *n, const char *name)
{
	struct wcache_node *lower;
	int err = wc_stack_block(s, name, &lower);

	if (err == -ENODEV) {
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "%.64s below it cannot be found", name);
		return 0;
	}
	return err < 0 ? err : wc_stack_link(s, n, lower);
}

struct slaves {
	struct wcache_stack *s;
	struct wcache_node *n;
};

static int add_slave(void *data, const char *name)
{
	struct slaves *x = data;

	return wc_stack_add_below(x->s, x->n, name);
}

int wc_stack_add_slaves(struct wcache_stack *s, struct wcache_node *n)
{
	struct slaves x = { s, n };
	int err = wc_host_list(s->ctx, add_slave, &x, "/sys/class/block/%s/slaves", n->name);

	if (err == -ENOMEM || err == -E2BIG)
		return err;
	if (!n->n_lower && !*n->reason)
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "what is below it cannot be listed");
	return 0;
}

static void read_queue(struct wcache_stack *s, struct wcache_node *n)
{
	char v[32];

	/* A partition has no queue of its own. */
	if (n->mount || n->layer == &wc_layer_partition)
		return;
	if (wc_host_read(s->ctx, v, sizeof(v), "/sys/class/block/%s/queue/write_cache", n->name) <
	    0)
		return;
	if (!strcmp(v, "write back"))
		n->write_cache = WCACHE_KERNEL_WRITE_BACK;
	else if (!strcmp(v, "write through"))
		n->write_cache = WCACHE_KERNEL_WRITE_THROUGH;
}

static bool write_back_in(struct wcache_node *n)
{
	if (n->write_cache == WCACHE_KERNEL_WRITE_BACK)
		return true;
	if (n->seen)
		return false;
	n->seen = true;
	for (size_t i = 0; i < n->n_lower; i++)
		if (write_back_in(n->lower[i]))
			return true;
	return false;
}

static bool write_back_below(const struct wcache_stack *s, struct wcache_node *n)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i]->seen = false;
	return write_back_in(n);
}

/*
 * The kernel ends a flush at the first queue that is write through
 * (block/blk-core.c submit_bio_noacct()), whatever is below that.
 */
static void judge_queue(const struct wcache_stack *s, struct wcache_node *n)
{
	char ro[8];

	switch (n->write_cache) {
	case WCACHE_KERNEL_WRITE_BACK:
		wc_node_say(n, WCACHE_PASSES_YES, "queue/write_cache: write back");
		return;
	case WCACHE_KERNEL_WRITE_THROUGH:
		if (!write_back_below(s, n))
			wc_node_say(n, WCACHE_PASSES_YES,
				    "queue/write_cache: write through, as all below it");
		/* dm-verity never passes a flush, and needs to pass none. */
		else if (wc_host_read(s->ctx, ro, sizeof(ro), "/sys/class/block/%s/ro", n->name) >
				 0 &&
			 !strcmp(ro, "1"))
			wc_node_say(n, WCACHE_PASSES_YES, "read-only: nothing is written");
		else
			wc_node_say(n, WCACHE_PASSES_NO,
				    "queue/write_cache: write through, over a write back disk");
		return;
	case WCACHE_KERNEL_UNKNOWN:
		break;
	}
	wc_node_say(n, WCACHE_PASSES_UNKNOWN, "queue/write_cache cannot be read");
}

static void judge(struct wcache_stack *s, struct wcache_node *n)
{
	if (n->looped)
		wc_node_say(n, WCACHE_PASSES_UNKNOWN, "its slaves form a loop");
	else if (*n->reason)
		return;
	else if (n->layer->judge)
		n->layer->judge(s, n);
	else
		judge_queue(s, n);
}

int wc_stack_walk(struct wcache_stack *s)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->n_nodes; i++) {
		struct wcache_node *n = s->nodes[i];

		read_queue(s, n);
		err = n->layer->expand(s, n);
		if (!err && n->is_drive)
			err = push(&s->drives, &s->n_drives, n);
	}
	for (size_t i = 0; !err && i < s->n_nodes; i++)
		judge(s, s->nodes[i]);
	return err;
}
