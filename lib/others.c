/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who else sets the write cache of a drive: found, and compared with what is and is wanted. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "others.h"
#include "textfile.h"
#include "verdict.h"

#define MAX_FOLDER 10000

/* A name is looked for below ROOT, as its program would find it there. */
static char *find_node(const char *root, const struct wc_other_entry *e)
{
	char path[PATH_MAX], real[PATH_MAX];
	size_t n = strlen(root);
	char *node;

	if (*e->name != '/' ||
	    snprintf(path, sizeof(path), "%s%s", root, e->name) >= (int)sizeof(path) ||
	    !realpath(path, real) || strncmp(real, root, n) != 0)
		return NULL;
	node = real + n;
	/* hdparm takes a link to a partition for its disk: what comes before the first digit. */
	if (e->who == WC_OTHER_HDPARM && strcmp(node, e->name) != 0)
		node[strcspn(node, "0123456789")] = '\0';
	return strdup(node);
}

static int load(struct wcache_others *o, const char *root, const char *file,
		int (*parse)(struct wcache_others *o, const char *file, const char *text,
			     size_t size))
{
	char path[PATH_MAX];
	const char *why;
	size_t size;
	char *text;
	int err;

	snprintf(path, sizeof(path), "%s%s", root, file);
	if (wc_textfile_read(path, &text, &size, &why) < 0)
		return 0;
	err = parse(o, file, text, size);
	free(text);
	return err;
}

static int load_drive_file(struct wcache_others *o, const char *root, const char *name)
{
	char path[PATH_MAX], file[300], id[256];
	const char *dot = strrchr(name, '.'), *why;
	size_t size;
	char *text;
	int err;

	if (!dot || strcmp(dot, ".conf") || dot - name >= (int)sizeof(id))
		return 0;
	snprintf(id, sizeof(id), "%.*s", (int)(dot - name), name);
	snprintf(file, sizeof(file), "/etc/udisks2/%s", name);
	snprintf(path, sizeof(path), "%s%s", root, file);
	if (wc_textfile_read(path, &text, &size, &why) < 0)
		return 0;
	err = wc_others_parse_udisks(o, file, id, text, size);
	free(text);
	return err;
}

static int load_udisks(struct wcache_others *o, const char *root)
{
	char folder[PATH_MAX];
	struct dirent *e;
	int err = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/etc/udisks2", root);
	dir = opendir(folder);
	if (!dir)
		return 0;
	for (int i = 0; !err && i < MAX_FOLDER && (e = readdir(dir)); i++)
		err = load_drive_file(o, root, e->d_name);
	closedir(dir);
	return err;
}

WC_EXPORT int wcache_others_new(struct wcache_ctx *ctx, const char *root,
				struct wcache_others **ret)
{
	struct wcache_others *o = calloc(1, sizeof(*o));
	char real[PATH_MAX] = "";
	int err;

	if (!o)
		return -ENOMEM;
	if (root && !realpath(root, real)) {
		*ret = o;
		return 0;
	}
	err = load(o, real, "/etc/hdparm.conf", wc_others_parse_hdparm);
	if (!err)
		err = load(o, real, "/etc/smartd.conf", wc_others_parse_smartd);
	for (size_t i = 0; i < o->n; i++)
		if (o->entry[i].name)
			o->entry[i].node = find_node(real, &o->entry[i]);
	if (!err)
		err = load_udisks(o, real);
	if (err < 0) {
		wcache_others_free(o);
		return err;
	}
	*ret = o;
	return 0;
}

WC_EXPORT void wcache_others_free(struct wcache_others *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++) {
		free(o->entry[i].name);
		free(o->entry[i].node);
		free(o->entry[i].file);
	}
	free(o->entry);
	free(o);
}

/*
 * An ATA drive, whose vendor udisks leaves empty, is called MODEL-SERIAL, without a serial
 * number MODEL-WWN (udiskslinuxdrive.c set_id()), with '-' for blanks and slashes.
 */
static bool is_drive_id(const char *id, const struct wcache_device *dev)
{
	const char *number = dev->serial ? dev->serial : dev->wwn;
	char text[256];

	if (!dev->model || !number ||
	    snprintf(text, sizeof(text), "%s-%s", dev->model, number) >= (int)sizeof(text))
		return false;
	for (char *c = text; *c; c++)
		if (*c == ' ' || *c == '/')
			*c = '-';
	return !strcmp(text, id);
}

static bool is_meant(const struct wc_other_entry *e, const struct wcache_device *dev)
{
	const char *name = dev->name;

	if (e->who == WC_OTHER_UDISKS)
		return is_drive_id(e->name, dev);
	if (e->name)
		return !strcmp(e->name, dev->node) || (e->node && !strcmp(e->node, dev->node));
	/* hdparm's rule is run for sda to sdz alone. */
	return e->who == WC_OTHER_SMARTD || (strlen(name) == 3 && strchr("sh", name[0]) &&
					     name[1] == 'd' && islower((unsigned char)name[2]));
}

static const struct wc_other_entry *find(const struct wcache_others *o, enum wc_other who,
					 const struct wcache_device *dev)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->entry[i].who == who && is_meant(&o->entry[i], dev))
			return &o->entry[i];
	return NULL;
}

static enum wcache_cache cache_of(enum wcache_wanted wanted)
{
	return wanted == WCACHE_WANTED_ON    ? WCACHE_CACHE_ON
	       : wanted == WCACHE_WANTED_OFF ? WCACHE_CACHE_OFF
					     : WCACHE_CACHE_UNKNOWN;
}

WC_EXPORT int wcache_report_add_others(struct wcache_report *report,
				       const struct wcache_others *others,
				       const struct wcache_device *dev,
				       const struct wcache_state *state, enum wcache_wanted wanted,
				       const char *where)
{
	static const char *const what[WC_OTHERS] = {
		[WC_OTHER_HDPARM] = "hdparm turns the write cache %s when the drive appears",
		[WC_OTHER_SMARTD] = "smartd turns the write cache %s when it starts",
		[WC_OTHER_UDISKS] = "udisks turns the write cache %s when the drive appears",
	};
	const enum wcache_cache asked = cache_of(wanted);

	if (!wcache_device_get_protocol(dev) || strcmp(wcache_device_get_protocol(dev), "ata"))
		return 0;
	for (int who = 0; who < WC_OTHERS; who++) {
		const struct wc_other_entry *e = find(others, who, dev);
		char text[128];

		if (!e || !e->setting)
			continue;
		snprintf(text, sizeof(text), what[who], wcache_cache_to_string(e->setting));
		if (asked && asked != e->setting)
			wc_report_add(report, "set-elsewhere", WCACHE_SEVERITY_INFO, dev->name,
				      NULL, "%s (%s:%u), and the policy wants it %s%s%s%s", text,
				      e->file, e->line, wcache_cache_to_string(asked),
				      where ? " (" : "", where ? where : "", where ? ")" : "");
		else if ((state->cache == WCACHE_CACHE_ON || state->cache == WCACHE_CACHE_OFF) &&
			 state->cache != e->setting)
			wc_report_add(report, "set-elsewhere", WCACHE_SEVERITY_INFO, dev->name,
				      NULL, "%s (%s:%u), and it is %s", text, e->file, e->line,
				      wcache_cache_to_string(state->cache));
	}
	return report->failed ? -ENOMEM : 0;
}
