/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of drives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "transport/exchange.h"
#include "transport/megaraid.h"
#include "transport/sysfs.h"

struct wcache_drives {
	size_t count;
	char **names;
};

static int add(void *data, const char *name)
{
	struct wcache_drives *d = data;
	char **names = reallocarray(d->names, d->count + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	d->names = names;
	names[d->count] = strdup(name);
	if (!names[d->count])
		return -ENOMEM;
	d->count++;
	return 0;
}

/* sdb before sdaa: shorter letters first; otherwise by numbers, nvme2n1 before nvme10n1. */
static int compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a;
	const char *y = *(char *const *)b;

	if (!strncmp(x, "sd", 2) && !strncmp(y, "sd", 2) && strlen(x) != strlen(y))
		return strlen(x) < strlen(y) ? -1 : 1;
	return strverscmp(x, y);
}

WC_EXPORT int wcache_drives_new(struct wcache_ctx *ctx, struct wcache_drives **ret)
{
	struct wcache_drives *d = calloc(1, sizeof(*d));
	int err = 0;

	if (!d)
		return -ENOMEM;
	if (ctx->replay) {
		/* What stands behind a volume is listed with it. */
		for (size_t i = 0; !err && i < ctx->replay->n_devices; i++)
			if (!wc_is_megaraid_name(ctx->replay->devices[i].name))
				err = add(d, ctx->replay->devices[i].name);
	} else {
		err = wc_each_drive(add, d);
		if (!err && d->count)
			qsort(d->names, d->count, sizeof(*d->names), compare);
	}
	if (err < 0) {
		wcache_drives_free(d);
		return wc_ctx_fail(ctx, err, "/sys/block: %s", wcache_strerror(err));
	}
	*ret = d;
	return 0;
}

WC_EXPORT void wcache_drives_free(struct wcache_drives *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		free(d->names[i]);
	free(d->names);
	free(d);
}

WC_EXPORT size_t wcache_drives_get_count(const struct wcache_drives *d)
{
	return d->count;
}

WC_EXPORT const char *wcache_drives_get_name(const struct wcache_drives *d, size_t index)
{
	return index < d->count ? d->names[index] : NULL;
}
