/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy of this machine, asked about its drives. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "wishes.h"

/* Deeper than anyone stacks; a loop in a forged sysfs ends here. */
#define DEPTH_MOST 16

struct place {
	char *path;
	char **disk; /* kernel names of what lies below it */
	size_t n;
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

static int walk(struct place *place, const char *folder, int depth);

/* The devices that a dm or md device is made of. 1: it has some. */
static int walk_slaves(struct place *place, const char *folder, int depth)
{
	char path[PATH_MAX], below[PATH_MAX];
	struct dirent *e;
	int found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/slaves", folder);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (found >= 0 && (e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		found = 1;
		if (snprintf(path, sizeof(path), "%s/slaves/%s", folder, e->d_name) >= PATH_MAX ||
		    !realpath(path, below) || walk(place, below, depth + 1) < 0)
			found = -ENODEV;
	}
	closedir(dir);
	return found;
}

/* FOLDER: a block device in /sys/devices */
static int walk(struct place *place, const char *folder, int depth)
{
	char whole[PATH_MAX];
	struct stat st;
	int found;

	if (depth > DEPTH_MOST ||
	    snprintf(whole, sizeof(whole), "%s/partition", folder) >= (int)sizeof(whole))
		return -ELOOP;
	if (!stat(whole, &st)) {
		snprintf(whole, sizeof(whole), "%s", folder);
		*strrchr(whole, '/') = '\0';
		return walk(place, whole, depth + 1);
	}
	found = walk_slaves(place, folder, depth);
	if (found)
		return found < 0 ? found : 0;
	place->disk = must(reallocarray(place->disk, place->n + 1, sizeof(*place->disk)));
	place->disk[place->n++] = must(strdup(strrchr(folder, '/') + 1));
	return 0;
}

/* A file system that names no block device (btrfs, overlay, network) cannot be told. */
static bool find_disks(struct place *place)
{
	char link[64], folder[PATH_MAX];
	struct stat st;

	if (stat(place->path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	return realpath(link, folder) && !walk(place, folder, 0);
}

static bool add_places(struct wishes *wishes, const char *pattern)
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
		all = all && find_disks(place);
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

		if (path && !add_places(wishes, path))
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
		for (size_t j = 0; j < wishes->place[i].n; j++)
			free(wishes->place[i].disk[j]);
		free(wishes->place[i].disk);
		free(wishes->place[i].path);
	}
	free(wishes->place);
	wcache_policy_free(wishes->policy);
	free(wishes);
}

static bool lies_on(const struct place *place, const char *disk)
{
	for (size_t i = 0; i < place->n; i++)
		if (!strcmp(place->disk[i], disk))
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
