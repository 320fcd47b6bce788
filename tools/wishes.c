/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of this machine, asked about its drives. */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "wishes.h"

struct place {
	char *path;
	struct wcache_stack *stack; /* NULL: there is nothing yet */
};

struct wishes {
	struct wcache_policy *policy;
	bool knows_paths;
	struct place *place;
	size_t n;
};

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static bool is_listed(const struct wcache_stack *stack)
{
	for (size_t i = 0; i < wcache_stack_get_node_count(stack); i++) {
		const struct wcache_node *node = wcache_stack_get_node(stack, i);

		if (!wcache_node_get_lower_count(node) &&
		    strcmp(wcache_node_get_type(node), "disk") &&
		    wcache_node_get_flush(node) == WCACHE_PASSES_UNKNOWN)
			return false;
	}
	return true;
}

/* False where drives can lie below it that cannot be told (a network file system, ZFS). */
static bool find_drives(struct wcache_ctx *ctx, struct place *place)
{
	int err = wcache_stack_new(ctx, place->path, &place->stack);

	if (err < 0)
		place->stack = NULL;
	return err == -ENOENT || err == -ENOTDIR || (!err && is_listed(place->stack));
}

static bool add_places(struct wcache_ctx *ctx, struct wishes *wishes, const char *pattern)
{
	bool all = true;
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return true;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct place *place;

		wishes->place =
			must(reallocarray(wishes->place, wishes->n + 1, sizeof(*wishes->place)));
		place = &wishes->place[wishes->n++];
		*place = (struct place){ .path = must(strdup(found.gl_pathv[i])) };
		all = find_drives(ctx, place) && all;
	}
	globfree(&found);
	return all;
}

int wishes_new(struct wcache_ctx *ctx, bool mounted, struct wishes **ret)
{
	struct wishes *wishes = must(calloc(1, sizeof(*wishes)));
	int err = wcache_policy_new(ctx, NULL, &wishes->policy);

	if (err < 0) {
		free(wishes);
		return err;
	}
	wishes->knows_paths = mounted;
	for (size_t i = 0; mounted && i < wcache_policy_get_count(wishes->policy); i++) {
		const char *path = wcache_policy_get_pattern(wishes->policy, i, "path");

		if (path && !add_places(ctx, wishes, path))
			wishes->knows_paths = false;
	}
	*ret = wishes;
	return 0;
}

void wishes_free(struct wishes *wishes)
{
	if (!wishes)
		return;
	for (size_t i = 0; i < wishes->n; i++) {
		wcache_stack_free(wishes->place[i].stack);
		free(wishes->place[i].path);
	}
	free(wishes->place);
	wcache_policy_free(wishes->policy);
	free(wishes);
}

static bool lies_on(const struct place *place, const char *drive)
{
	for (size_t i = 0; place->stack && i < wcache_stack_get_drive_count(place->stack); i++)
		if (!strcmp(wcache_stack_get_drive(place->stack, i), drive))
			return true;
	return false;
}

enum wcache_wanted wishes_ask(const struct wishes *wishes, const struct wcache_device *dev,
			      const struct wcache_state *state, const char **where)
{
	const char **paths = must(calloc(wishes->n + 1, sizeof(*paths)));
	struct wcache_policy_facts facts = {
		.size = sizeof(facts),
		.bus = wcache_device_get_bus(dev),
		.model = wcache_device_get_model(dev),
		.serial = wcache_device_get_serial(dev),
		.wwn = wcache_device_get_wwn(dev),
		.rotational = wcache_device_get_rotational(dev),
		.nonvolatile = wcache_state_get_nonvolatile(state),
	};
	enum wcache_wanted wanted;

	for (size_t i = 0; i < wishes->n; i++)
		if (lies_on(&wishes->place[i], wcache_device_get_name(dev)))
			paths[facts.n_paths++] = wishes->place[i].path;
	facts.paths = wishes->knows_paths ? paths : NULL;
	wanted = wcache_policy_decide(wishes->policy, &facts, where);
	free(paths);
	return wanted;
}

/* A name as a pattern that matches itself alone; odd bytes match any one. */
static void print_quoted(FILE *f, const char *key, const char *text)
{
	fprintf(f, "%s = ", key);
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text))
			fputc('?', f);
		else if (strchr("*?[\\", *text))
			fprintf(f, "\\%c", *text);
		else
			fputc(*text, f);
	}
	fputc('\n', f);
}

void wish_print_section(FILE *f, const struct wcache_device *dev, const char *setting)
{
	const char *model = wcache_device_get_model(dev);
	const char *serial = wcache_device_get_serial(dev);
	const char *wwn = wcache_device_get_wwn(dev);

	fprintf(f, "[%s]\n", wcache_device_get_name(dev));
	if (model)
		print_quoted(f, "model", model);
	if (serial)
		print_quoted(f, "serial", serial);
	else if (wwn)
		print_quoted(f, "wwn", wwn);
	else if (!model)
		print_quoted(f, "bus", wcache_device_get_bus(dev));
	fprintf(f, "cache = %s\n", setting);
}
