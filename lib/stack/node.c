/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a caller may see of a stack. */
#include "stack.h"

WC_EXPORT size_t wcache_stack_get_node_count(const struct wcache_stack *s)
{
	return s->n_nodes;
}

WC_EXPORT const struct wcache_node *wcache_stack_get_node(const struct wcache_stack *s,
							  size_t index)
{
	return index < s->n_nodes ? s->nodes[index] : NULL;
}

WC_EXPORT size_t wcache_stack_get_drive_count(const struct wcache_stack *s)
{
	return s->n_drives;
}

WC_EXPORT const char *wcache_stack_get_drive(const struct wcache_stack *s, size_t index)
{
	return index < s->n_drives ? s->drives[index]->name : NULL;
}

WC_EXPORT size_t wcache_stack_get_path_count(const struct wcache_stack *s)
{
	return s->n_paths;
}

WC_EXPORT const char *wcache_stack_get_path(const struct wcache_stack *s, size_t index)
{
	return index < s->n_paths ? s->paths[index].path : NULL;
}

WC_EXPORT const struct wcache_node *wcache_stack_get_top(const struct wcache_stack *s, size_t index)
{
	return index < s->n_paths ? s->paths[index].node : NULL;
}

WC_EXPORT const char *wcache_node_get_name(const struct wcache_node *n)
{
	return n->name;
}

WC_EXPORT const char *wcache_node_get_label(const struct wcache_node *n)
{
	return n->label;
}

WC_EXPORT const char *wcache_node_get_type(const struct wcache_node *n)
{
	return n->type;
}

WC_EXPORT enum wcache_answer wcache_node_is_filesystem(const struct wcache_node *n)
{
	return n->mount ? WCACHE_YES : WCACHE_NO;
}

WC_EXPORT enum wcache_passes wcache_node_get_flush(const struct wcache_node *n)
{
	return n->flush;
}

WC_EXPORT const char *wcache_node_get_reason(const struct wcache_node *n)
{
	return n->reason;
}

WC_EXPORT size_t wcache_node_get_lower_count(const struct wcache_node *n)
{
	return n->n_lower;
}

WC_EXPORT const struct wcache_node *wcache_node_get_lower(const struct wcache_node *n, size_t index)
{
	return index < n->n_lower ? n->lower[index] : NULL;
}

WC_EXPORT size_t wcache_node_get_upper_count(const struct wcache_node *n)
{
	return n->n_upper;
}

WC_EXPORT const struct wcache_node *wcache_node_get_upper(const struct wcache_node *n, size_t index)
{
	return index < n->n_upper ? n->upper[index] : NULL;
}

WC_EXPORT const char *wcache_passes_to_string(enum wcache_passes passes)
{
	switch (passes) {
	case WCACHE_PASSES_YES:
		return "passes";
	case WCACHE_PASSES_NO:
		return "drops";
	case WCACHE_PASSES_UNKNOWN:
		break;
	}
	return "unknown";
}
