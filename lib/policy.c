/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A site's policy: which files it is made of, and what it wants of a drive. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "policy.h"
#include "textfile.h"

/* Of files of one name the first folder's counts, as in systemd.unit(5). */
static const char *const folders[] = {
	"/etc/wcache.conf.d",
	"/run/wcache.conf.d",
	"/usr/lib/wcache/wcache.conf.d",
};

static int load_file(struct wcache_ctx *ctx, struct wcache_policy *policy, const char *path)
{
	char where[400] = "";
	const char *why = NULL;
	char *text = NULL;
	size_t size = 0;
	int err = wc_textfile_read(path, &text, &size, &why);

	if (err < 0)
		return wc_ctx_fail(ctx, err, "%s: %s", path, why ? why : strerror(-err));
	err = wc_policy_parse(policy, path, text, size, where, sizeof(where));
	free(text);
	return err < 0 ? wc_ctx_fail(ctx, err, "%s", *where ? where : wcache_strerror(err)) : 0;
}

struct dropins {
	char **path;
	size_t n;
};

static const char *name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

static bool is_masked(const struct dropins *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(name_of(d->path[i]), name))
			return true;
	return false;
}

static int add_dropin(struct dropins *d, const char *folder, const char *name)
{
	const char *dot = strrchr(name, '.');
	char **path;

	if (*name == '.' || !dot || strcmp(dot, ".conf") || is_masked(d, name))
		return 0;
	path = reallocarray(d->path, d->n + 1, sizeof(*path));
	if (!path)
		return -ENOMEM;
	d->path = path;
	if (asprintf(&d->path[d->n], "%s/%s", folder, name) < 0)
		return -ENOMEM;
	d->n++;
	return 0;
}

static int list_folder(struct wcache_ctx *ctx, struct dropins *d, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int err = 0;

	if (!dir)
		return errno == ENOENT
			       ? 0
			       : wc_ctx_fail(ctx, -errno, "%s: %s", folder, strerror(errno));
	while (!err) {
		errno = 0;
		e = readdir(dir);
		if (!e)
			break;
		err = add_dropin(d, folder, e->d_name);
	}
	if (!err && errno)
		err = wc_ctx_fail(ctx, -errno, "%s: %s", folder, strerror(errno));
	closedir(dir);
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(name_of(*(char *const *)a), name_of(*(char *const *)b));
}

static void free_dropins(struct dropins *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->path[i]);
	free(d->path);
}

static int load_dropins(struct wcache_ctx *ctx, struct wcache_policy *policy, const char *root)
{
	struct dropins d = { 0 };
	char folder[4096];
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(folder, sizeof(folder), "%s%s", root, folders[i]);
		err = list_folder(ctx, &d, folder);
	}
	if (!err && d.n)
		qsort(d.path, d.n, sizeof(*d.path), by_name);
	for (size_t i = 0; !err && i < d.n; i++)
		err = load_file(ctx, policy, d.path[i]);
	free_dropins(&d);
	return err;
}

WC_EXPORT int wcache_policy_new(struct wcache_ctx *ctx, const char *root,
				struct wcache_policy **ret)
{
	struct wcache_policy *policy;
	char path[4096];
	int err;

	if (!root)
		root = "";
	if (strlen(root) > sizeof(path) / 2)
		return wc_ctx_fail(ctx, -ENAMETOOLONG, "the name of the root is too long");
	policy = calloc(1, sizeof(*policy));
	if (!policy)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/etc/wcache.conf", root);
	err = load_file(ctx, policy, path);
	if (!err || err == -ENOENT)
		err = load_dropins(ctx, policy, root);
	if (err < 0) {
		wcache_policy_free(policy);
		return err;
	}
	*ret = policy;
	return 0;
}

WC_EXPORT void wcache_policy_free(struct wcache_policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->n; i++) {
		struct wc_section *s = &policy->section[i];

		for (int k = 0; k < WC_KEYS; k++)
			free(s->glob[k]);
		free(s->name);
		free(s->where);
	}
	free(policy->section);
	free(policy);
}

WC_EXPORT size_t wcache_policy_get_count(const struct wcache_policy *policy)
{
	return policy->n;
}

WC_EXPORT const char *wcache_policy_get_name(const struct wcache_policy *policy, size_t index)
{
	return index < policy->n ? policy->section[index].name : NULL;
}

WC_EXPORT const char *wcache_policy_get_where(const struct wcache_policy *policy, size_t index)
{
	return index < policy->n ? policy->section[index].where : NULL;
}

WC_EXPORT const char *wcache_policy_get_pattern(const struct wcache_policy *policy, size_t index,
						const char *key)
{
	if (index >= policy->n)
		return NULL;
	for (int k = 0; k < WC_KEYS; k++)
		if (!strcmp(key, wc_policy_key_name(k)))
			return policy->section[index].glob[k];
	return NULL;
}

/* The kernel and udev write one name in several ways: 0x5000c500..., naa.5000c500... */
static const char *bare_wwn(const char *wwn)
{
	static const char *const prefixes[] = { "0x", "naa.", "eui.", "nvme.", "uuid.", "t10." };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncasecmp(wwn, prefixes[i], strlen(prefixes[i])))
			return wwn + strlen(prefixes[i]);
	return wwn;
}

static bool matches_text(enum wc_key key, const char *glob, const char *fact)
{
	if (!fact)
		return false;
	if (key == WC_KEY_WWN)
		return !fnmatch(bare_wwn(glob), bare_wwn(fact), FNM_CASEFOLD);
	return !fnmatch(glob, fact, 0);
}

static bool matches_answer(const char *glob, enum wcache_answer fact)
{
	return fact == (*glob == 'y' ? WCACHE_YES : WCACHE_NO);
}

static enum wcache_answer match_paths(const char *glob, const struct wcache_policy_facts *facts)
{
	for (size_t i = 0; i < facts->n_paths; i++)
		if (!fnmatch(glob, facts->paths[i], FNM_PATHNAME))
			return WCACHE_YES;
	return facts->paths ? WCACHE_NO : WCACHE_UNKNOWN;
}

/* Unknown only where the paths alone would decide, and are not known. */
static enum wcache_answer match(const struct wc_section *s, const struct wcache_policy_facts *facts)
{
	const char *const text[] = {
		[WC_KEY_BUS] = facts->bus,
		[WC_KEY_MODEL] = facts->model,
		[WC_KEY_SERIAL] = facts->serial,
		[WC_KEY_WWN] = facts->wwn,
	};

	for (int k = 0; k <= WC_KEY_WWN; k++)
		if (s->glob[k] && !matches_text(k, s->glob[k], text[k]))
			return WCACHE_NO;
	if (s->glob[WC_KEY_ROTATIONAL] &&
	    !matches_answer(s->glob[WC_KEY_ROTATIONAL], facts->rotational))
		return WCACHE_NO;
	if (s->glob[WC_KEY_NONVOLATILE] &&
	    !matches_answer(s->glob[WC_KEY_NONVOLATILE], facts->nonvolatile))
		return WCACHE_NO;
	return s->glob[WC_KEY_PATH] ? match_paths(s->glob[WC_KEY_PATH], facts) : WCACHE_YES;
}

static enum wcache_wanted decided(const struct wc_section *s, enum wcache_wanted wanted,
				  const char **where)
{
	if (where)
		*where = s->where;
	return wanted;
}

WC_EXPORT enum wcache_wanted wcache_policy_decide(const struct wcache_policy *policy,
						  const struct wcache_policy_facts *facts,
						  const char **where)
{
	if (where)
		*where = NULL;
	/* Of a caller that knows less than this struct, nothing can be said. */
	if (facts->size < sizeof(*facts))
		return WCACHE_WANTED_UNKNOWN;
	for (size_t i = 0; i < policy->n; i++) {
		const struct wc_section *s = &policy->section[i];

		if (s->is_default)
			continue;
		switch (match(s, facts)) {
		case WCACHE_YES:
			return decided(s, s->wanted, where);
		case WCACHE_UNKNOWN:
			return decided(s, WCACHE_WANTED_UNKNOWN, where);
		case WCACHE_NO:
			break;
		}
	}
	for (size_t i = 0; i < policy->n; i++)
		if (policy->section[i].is_default)
			return decided(&policy->section[i], policy->section[i].wanted, where);
	return WCACHE_WANTED_LEAVE;
}

WC_EXPORT const char *wcache_wanted_to_string(enum wcache_wanted wanted)
{
	switch (wanted) {
	case WCACHE_WANTED_ON:
		return "on";
	case WCACHE_WANTED_OFF:
		return "off";
	case WCACHE_WANTED_DEFAULT:
		return "default";
	case WCACHE_WANTED_LEAVE:
		return "leave";
	case WCACHE_WANTED_UNKNOWN:
		break;
	}
	return "unknown";
}
