/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One snapshot: what the drive says, what the kernel believes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "members.h"
#include "state.h"

void wc_state_unknown(struct wcache_state *s, const char *fmt, ...)
{
	va_list ap;

	s->cache = WCACHE_CACHE_UNKNOWN;
	va_start(ap, fmt);
	vsnprintf(s->reason, sizeof(s->reason), fmt, ap);
	va_end(ap);
}

/* An error of a query that leaves the rest of the answer standing. */
static bool explain(struct wcache_device *dev, int err, struct wcache_state *s)
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		wc_state_unknown(s, "asking the drive needs root");
		return true;
	case -ETIMEDOUT:
		s->timed_out = true;
		wc_state_unknown(s, "no answer within %u.%u s", dev->ctx->timeout_ms / 1000,
				 dev->ctx->timeout_ms % 1000 / 100);
		return true;
	case -ENOTTY:
	case -EINVAL:
	case -EOPNOTSUPP:
		wc_state_unknown(s, "the device node takes no commands");
		return true;
	case -ENOMEDIUM:
		wc_state_unknown(s, "no medium in the drive");
		return true;
	case -ENOENT:
		wc_state_unknown(s, "there is no device node");
		return true;
	case -EIO:
	case -EBUSY:
		wc_state_unknown(s, "the query failed: %s",
				 *dev->error.text ? dev->error.text : "I/O error");
		return true;
	}
	return false;
}

static int query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	char ata_reason[sizeof(s->reason)];
	int err = dev->backend->query(dev, full, s);
	size_t n;

	if (err != -EPROTONOSUPPORT || dev->backend != &wc_backend_ata)
		return err;
	memcpy(ata_reason, s->reason, sizeof(ata_reason));
	memset(s, 0, sizeof(*s));
	dev->backend = &wc_backend_scsi;
	err = dev->backend->query(dev, full, s);
	n = strlen(s->reason);
	if (!err && !s->cache)
		snprintf(s->reason + n, sizeof(s->reason) - n, "; %s", ata_reason);
	return err;
}

/* A reset or another initiator's MODE SELECT in the middle makes of two answers none. */
static int query_in_one_piece(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	unsigned int first;
	int err, tries = 3;

	do {
		first = dev->commands + 1;
		memset(s, 0, sizeof(*s));
		err = query(dev, full, s);
	} while (!err && dev->attention_at > first && --tries);
	return err;
}

WC_EXPORT int wcache_state_read(struct wcache_device *dev, unsigned int flags,
				struct wcache_state **ret)
{
	struct wcache_state *s;
	int err;

	if (flags & ~(WCACHE_STATE_FULL | WCACHE_STATE_MEMBERS))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	wc_error_clear(dev);
	err = query_in_one_piece(dev, flags & WCACHE_STATE_FULL, s);
	if (err < 0 && !explain(dev, err, s)) {
		free(s);
		return wc_fail(dev, err, "the query failed");
	}
	wc_error_clear(dev);
	wc_kernel_query(dev, s);
	if (flags & WCACHE_STATE_MEMBERS && wc_members_read(dev, s) < 0) {
		wcache_state_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

WC_EXPORT void wcache_state_free(struct wcache_state *s)
{
	if (s)
		wc_members_free(s);
	free(s);
}

WC_EXPORT enum wcache_cache wcache_state_get_cache(const struct wcache_state *s)
{
	return s->cache;
}

WC_EXPORT const char *wcache_state_get_reason(const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_UNKNOWN ? s->reason : NULL;
}

WC_EXPORT enum wcache_cache wcache_state_get_default(const struct wcache_state *s)
{
	return s->dflt;
}

WC_EXPORT enum wcache_cache wcache_state_get_saved(const struct wcache_state *s)
{
	return s->saved;
}

WC_EXPORT enum wcache_answer wcache_state_get_changeable(const struct wcache_state *s)
{
	return s->changeable;
}

WC_EXPORT enum wcache_answer wcache_state_get_saveable(const struct wcache_state *s)
{
	return s->saveable;
}

WC_EXPORT enum wcache_answer wcache_state_get_nonvolatile(const struct wcache_state *s)
{
	return s->nonvolatile;
}

WC_EXPORT enum wcache_sct wcache_state_get_sct(const struct wcache_state *s)
{
	return s->sct;
}

WC_EXPORT const char *wcache_state_get_flush_command(const struct wcache_state *s)
{
	switch (s->flush) {
	case WC_FLUSH_ATA_EXT:
		return "FLUSH CACHE EXT";
	case WC_FLUSH_ATA:
		return "FLUSH CACHE";
	case WC_FLUSH_SCSI:
		return "SYNCHRONIZE CACHE";
	case WC_FLUSH_NVME:
		return "FLUSH";
	case WC_FLUSH_FSYNC:
		return "fsync";
	case WC_FLUSH_COMMAND_UNKNOWN:
		break;
	}
	return NULL;
}

WC_EXPORT enum wcache_kernel wcache_state_get_kernel(const struct wcache_state *s)
{
	return s->kernel;
}

WC_EXPORT enum wcache_answer wcache_state_get_fua(const struct wcache_state *s)
{
	return s->fua;
}

WC_EXPORT enum wcache_answer wcache_state_is_consistent(const struct wcache_state *s)
{
	if (!s->cache || !s->kernel)
		return WCACHE_UNKNOWN;
	return (s->cache == WCACHE_CACHE_ON) == (s->kernel == WCACHE_KERNEL_WRITE_BACK) ? WCACHE_YES
											: WCACHE_NO;
}

WC_EXPORT const char *wcache_state_get_source(const struct wcache_state *s, enum wcache_fact fact)
{
	return (unsigned int)fact < WC_N_FACTS ? s->source[fact] : NULL;
}

WC_EXPORT const char *wcache_cache_to_string(enum wcache_cache cache)
{
	switch (cache) {
	case WCACHE_CACHE_ON:
		return "on";
	case WCACHE_CACHE_OFF:
		return "off";
	case WCACHE_CACHE_NONE:
		return "none";
	case WCACHE_CACHE_UNKNOWN:
		break;
	}
	return "unknown";
}

WC_EXPORT const char *wcache_kernel_to_string(enum wcache_kernel kernel)
{
	switch (kernel) {
	case WCACHE_KERNEL_WRITE_BACK:
		return "write-back";
	case WCACHE_KERNEL_WRITE_THROUGH:
		return "write-through";
	case WCACHE_KERNEL_UNKNOWN:
		break;
	}
	return "unknown";
}
