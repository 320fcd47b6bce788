/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draw a graph as a tree: a layer with several above it is drawn out below the first. */
#include <stdlib.h>
#include <string.h>

#include "common/emit.h"
#include "tree.h"

#define INDENT 2

struct tree {
	FILE *f;
	const struct wcache_stack *stack;
	const char *const *drives;
	bool reasons;
	int name_width, type_width;
	const struct wcache_node **seen;
	size_t n_seen;
};

static bool is_seen(struct tree *t, const struct wcache_node *node)
{
	for (size_t i = 0; i < t->n_seen; i++)
		if (t->seen[i] == node)
			return true;
	t->seen[t->n_seen++] = node;
	return false;
}

/* "dm-1 (vg-root)" */
static void name_of(const struct wcache_node *node, char *out, size_t size)
{
	const char *label = wcache_node_get_label(node);

	if (label)
		snprintf(out, size, "%s (%s)", wcache_node_get_name(node), label);
	else
		snprintf(out, size, "%s", wcache_node_get_name(node));
}

static const char *drive_text(const struct tree *t, const struct wcache_node *node)
{
	if (wcache_node_is_filesystem(node) == WCACHE_YES)
		return NULL;
	for (size_t i = 0; i < wcache_stack_get_drive_count(t->stack); i++)
		if (!strcmp(wcache_stack_get_drive(t->stack, i), wcache_node_get_name(node)))
			return t->drives[i];
	return NULL;
}

static void measure(struct tree *t, const struct wcache_node *node, int depth)
{
	char name[1024];
	int w;

	if (is_seen(t, node))
		return;
	name_of(node, name, sizeof(name));
	w = depth * INDENT + emit_width(name);
	if (w > t->name_width)
		t->name_width = w;
	w = emit_width(wcache_node_get_type(node));
	if (w > t->type_width)
		t->type_width = w;
	for (size_t i = 0; i < wcache_node_get_lower_count(node); i++)
		measure(t, wcache_node_get_lower(node, i), depth + 1);
}

static void print_layer(struct tree *t, const struct wcache_node *node, const char *name, int depth)
{
	const char *drive = drive_text(t, node);
	enum wcache_passes flush = wcache_node_get_flush(node);
	int gap = t->name_width - depth * INDENT - (int)emit_width(name);

	fprintf(t->f, "%*s  %s%*s  ", gap, "", wcache_node_get_type(node),
		t->type_width - (int)emit_width(wcache_node_get_type(node)), "");
	if (drive) {
		emit_text(t->f, drive);
		return;
	}
	fputs(flush == WCACHE_PASSES_YES  ? "passes flushes"
	      : flush == WCACHE_PASSES_NO ? "drops flushes"
					  : "unknown",
	      t->f);
	if (t->reasons || flush != WCACHE_PASSES_YES) {
		fputs(": ", t->f);
		emit_text(t->f, wcache_node_get_reason(node));
	}
}

static void draw(struct tree *t, const struct wcache_node *node, int depth)
{
	char name[1024];

	name_of(node, name, sizeof(name));
	fprintf(t->f, "  %*s", depth * INDENT, "");
	emit_text(t->f, name);
	if (is_seen(t, node)) {
		fputs("  (as above)\n", t->f);
		return;
	}
	print_layer(t, node, name, depth);
	fputc('\n', t->f);
	for (size_t i = 0; i < wcache_node_get_lower_count(node); i++)
		draw(t, wcache_node_get_lower(node, i), depth + 1);
}

void tree_print(FILE *f, const struct wcache_stack *stack, const char *const drives[], bool reasons)
{
	struct tree t = { .f = f, .stack = stack, .drives = drives, .reasons = reasons };

	t.seen = calloc(wcache_stack_get_node_count(stack) + 1, sizeof(*t.seen));
	if (!t.seen)
		abort();
	for (size_t i = 0; i < wcache_stack_get_path_count(stack); i++)
		if (wcache_stack_get_top(stack, i))
			measure(&t, wcache_stack_get_top(stack, i), 0);
	t.n_seen = 0;
	for (size_t i = 0; i < wcache_stack_get_path_count(stack); i++) {
		const struct wcache_node *top = wcache_stack_get_top(stack, i);

		if (i) {
			fputs("  and ", f);
			emit_text(f, wcache_stack_get_path(stack, i));
			fputs(top ? ":\n" : ": where it leads to cannot be found\n", f);
		}
		if (top)
			draw(&t, top, 0);
	}
	free(t.seen);
}
