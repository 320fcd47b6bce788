/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wcache.h>

#include "original.h"

#define NONE "-"

/* Names and numbers of a drive are words in a file. */
static void copy_word(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from && *from && i + 1 < size; from++)
		if (*from > ' ' && *from < 0x7f)
			to[i++] = *from;
	if (i == 0)
		to[i++] = *NONE;
	to[i] = '\0';
}

static bool is_known(const char *word)
{
	return strcmp(word, NONE) != 0;
}

static void read_identity(const struct wcache_device *dev, struct original *original)
{
	copy_word(original->name, sizeof(original->name), wcache_device_get_name(dev));
	copy_word(original->wwn, sizeof(original->wwn), wcache_device_get_wwn(dev));
	copy_word(original->serial, sizeof(original->serial), wcache_device_get_serial(dev));
}

static int read_original(struct wcache_ctx *ctx, const char *name, struct original *original)
{
	struct wcache_device *dev;
	struct wcache_state *state;
	enum wcache_cache cache;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_QUERY, &dev);
	if (r < 0)
		return r;
	r = wcache_state_read(dev, 0, &state);
	if (r == 0) {
		cache = wcache_state_get_cache(state);
		wcache_state_free(state);
		if (cache != WCACHE_CACHE_ON && cache != WCACHE_CACHE_OFF)
			r = -EOPNOTSUPP;
		original->on = cache == WCACHE_CACHE_ON;
		read_identity(dev, original);
	}
	wcache_device_close(dev);
	return r;
}

static void read_boot(char boot[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[40] = "";

	if (file) {
		if (!fgets(line, sizeof(line), file))
			*line = '\0';
		fclose(file);
	}
	copy_word(boot, 40, line);
}

int originals_read(struct originals *originals, struct wcache_ctx *ctx, char *const names[],
		   size_t n)
{
	size_t i;
	int r = 0;

	*originals = (struct originals){ 0 };
	if (n == 0 || n > ORIGINALS_MOST)
		return -EINVAL;
	originals->drive = calloc(n, sizeof(*originals->drive));
	if (!originals->drive)
		return -ENOMEM;
	read_boot(originals->boot);
	for (i = 0; r == 0 && i < n; i++) {
		r = read_original(ctx, names[i], &originals->drive[i]);
		if (r == 0)
			originals->n++;
	}
	return r;
}

void originals_free(struct originals *originals)
{
	free(originals->drive);
	*originals = (struct originals){ 0 };
}

/* udev writes 0x5000c500a1b2c3d4 where sysfs has naa.5000c500a1b2c3d4. */
static const char *wwn_digits(const char *wwn)
{
	if (strncmp(wwn, "0x", 2) == 0)
		return wwn + 2;
	return strncmp(wwn, "naa.", 4) == 0 ? wwn + 4 : wwn;
}

static bool same_wwn(const struct original *a, const struct original *b)
{
	return is_known(a->wwn) && is_known(b->wwn) &&
	       strcasecmp(wwn_digits(a->wwn), wwn_digits(b->wwn)) == 0;
}

/*
 * All that both have must be the same, and there must be something: bridges have one number
 * for all that they are built into, and early in a boot udev has not told everything.
 */
static bool same_drive(const struct original *a, const struct original *b)
{
	bool wwn = is_known(a->wwn) && is_known(b->wwn);
	bool serial = is_known(a->serial) && is_known(b->serial);

	if (wwn && !same_wwn(a, b))
		return false;
	if (serial && strcmp(a->serial, b->serial) != 0)
		return false;
	return wwn || serial;
}

static bool is_anonymous(const struct original *original)
{
	return !is_known(original->wwn) && !is_known(original->serial);
}

/* Within one boot a name tells apart what has no number, or the same one. */
static bool same_by_name(const struct original *a, const struct original *b)
{
	return strcmp(a->name, b->name) == 0 &&
	       (same_drive(a, b) || (is_anonymous(a) && is_anonymous(b)));
}

static int identify(struct wcache_ctx *ctx, const char *name, struct original *found)
{
	struct wcache_device *dev;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_QUERY, &dev);
	if (r < 0)
		return r;
	read_identity(dev, found);
	wcache_device_close(dev);
	return 0;
}

static int set_back(struct wcache_ctx *ctx, const char *name, bool on)
{
	struct wcache_change *change;
	struct wcache_device *dev;
	int r;

	r = wcache_device_open(ctx, name, WCACHE_ACCESS_CHANGE, &dev);
	if (r < 0)
		return r;
	r = wcache_change_new(dev, on ? WCACHE_SET_ON : WCACHE_SET_OFF, NULL, &change);
	if (r == 0) {
		r = wcache_change_apply(change);
		wcache_change_free(change);
	}
	wcache_device_close(dev);
	return r;
}

/*
 * All drives that it may be. Several paths to one drive have one world wide name; several with
 * one serial number and no such name are not told apart by guessing.
 */
static int find(struct wcache_ctx *ctx, const struct wcache_drives *drives,
		const struct original *original, struct original *found, size_t *n)
{
	size_t i;

	*n = 0;
	for (i = 0; i < wcache_drives_get_count(drives); i++)
		if (identify(ctx, wcache_drives_get_name(drives, i), &found[*n]) == 0 &&
		    same_drive(original, &found[*n]))
			++*n;
	for (i = 0; *n > 1 && i < *n; i++)
		if (!same_wwn(original, &found[i]))
			return -ENOTUNIQ;
	return *n ? 0 : -ENODEV;
}

/* The kernel has a belief about each path of its own. */
static int find_and_set_back(struct wcache_ctx *ctx, const struct original *original, char name[64])
{
	struct wcache_drives *drives;
	struct original *found;
	int r, failed = 0;
	size_t n = 0, i;

	r = wcache_drives_new(ctx, &drives);
	if (r < 0)
		return r;
	found = calloc(wcache_drives_get_count(drives) + 1, sizeof(*found));
	r = found ? find(ctx, drives, original, found, &n) : -ENOMEM;
	wcache_drives_free(drives);
	if (r == 0)
		strcpy(name, found[0].name);
	for (i = 0; r == 0 && i < n; i++) {
		int path = set_back(ctx, found[i].name, original->on);

		failed = failed ? failed : path;
	}
	free(found);
	return r ? r : failed;
}

/* @name: becomes that of the drive where it was found. Return: 0 when it was read back. */
static int restore_one(struct wcache_ctx *ctx, const struct original *original, bool same_boot,
		       char name[64])
{
	struct original found;

	strcpy(name, original->name);
	if (same_boot && identify(ctx, original->name, &found) == 0 &&
	    same_by_name(original, &found))
		return set_back(ctx, original->name, original->on);
	return find_and_set_back(ctx, original, name);
}

static bool is_this_boot(const struct originals *originals)
{
	char boot[40];

	read_boot(boot);
	return is_known(boot) && strcmp(boot, originals->boot) == 0;
}

static const char *why(int r)
{
	switch (r) {
	case -ENODEV:
		return "no drive here has its world wide name or serial number";
	case -ENOTUNIQ:
		return "several drives here have its serial number";
	default:
		return wcache_strerror(r);
	}
}

static void say_restored(const struct original *original, const char *name, int r,
			 void (*say)(const char *line))
{
	const char *setting = original->on ? "on" : "off";
	char line[512];

	if (r < 0)
		snprintf(line, sizeof(line),
			 "%s (%s, serial number %s): the cache cannot be turned %s again: %s",
			 original->name, original->wwn, original->serial, setting, why(r));
	else if (strcmp(name, original->name) == 0)
		snprintf(line, sizeof(line), "%s: the cache is %s again", name, setting);
	else
		snprintf(line, sizeof(line), "%s (which was %s): the cache is %s again", name,
			 original->name, setting);
	say(line);
}

int originals_restore(struct originals *originals, struct wcache_ctx *ctx,
		      void (*say)(const char *line))
{
	bool same_boot = is_this_boot(originals);
	size_t i, left = 0;
	int r, first = 0;
	char name[64];

	for (i = 0; i < originals->n; i++) {
		r = restore_one(ctx, &originals->drive[i], same_boot, name);
		if (say)
			say_restored(&originals->drive[i], name, r, say);
		if (r == 0)
			continue;
		originals->drive[left++] = originals->drive[i];
		first = first ? first : r;
	}
	originals->n = left;
	return first;
}

bool originals_share(const struct originals *a, const struct originals *b)
{
	bool same_boot = strcmp(a->boot, b->boot) == 0;
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (same_drive(&a->drive[i], &b->drive[k]) ||
			    (same_boot && same_by_name(&a->drive[i], &b->drive[k])))
				return true;
	return false;
}
