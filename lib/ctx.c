/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The context: log, time limits, capture and replay. */
#include <errno.h>
#include <libudev.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "transport/capture.h"
#include "transport/exchange.h"

WC_EXPORT const char *wcache_get_version(void)
{
	return WCACHE_VERSION;
}

WC_EXPORT const char *wcache_strerror(int err)
{
	int e = err < 0 ? -err : err;
	const char *s;

	switch (e) {
	case 0:
		return "success";
	case ENOENT:
		return "no such device or path";
	case ENOTBLK:
		return "not a drive";
	case ENODEV:
	case ENXIO:
		return "the device is gone";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EOPNOTSUPP:
		return "refused";
	case EBUSY:
		return "busy";
	case ENODATA:
		return "the state of the write cache is unknown";
	case EREMOTEIO:
		return "the drive accepted the command but its setting did not follow";
	case EIO:
		return "the drive or its driver reported an error";
	case ETIMEDOUT:
		return "no answer within the time limit";
	case EBADMSG:
		return "malformed or unexpected exchange";
	}
	s = strerrordesc_np(e);
	return s ? s : "unknown error";
}

WC_EXPORT int wcache_ctx_new(struct wcache_ctx **ret)
{
	struct wcache_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return -ENOMEM;
	ctx->refs = 1;
	ctx->timeout_ms = 5000;
	ctx->retry_pause_ms = 20;
	*ret = ctx;
	return 0;
}

WC_EXPORT struct wcache_ctx *wcache_ctx_ref(struct wcache_ctx *ctx)
{
	ctx->refs++;
	return ctx;
}

WC_EXPORT struct wcache_ctx *wcache_ctx_unref(struct wcache_ctx *ctx)
{
	if (!ctx || --ctx->refs)
		return NULL;
	wc_capture_free(ctx->capture);
	wc_exchange_free(ctx->replay);
	udev_unref(ctx->udev);
	free(ctx);
	return NULL;
}

WC_EXPORT void wcache_ctx_set_log_fn(struct wcache_ctx *ctx, wcache_log_fn fn, void *userdata,
				     int max_level)
{
	ctx->log_fn = fn;
	ctx->log_userdata = userdata;
	ctx->log_max_level = max_level;
}

WC_EXPORT void wcache_ctx_set_timeout(struct wcache_ctx *ctx, unsigned int ms)
{
	ctx->timeout_ms = ms ? ms : 1;
}

WC_EXPORT int wcache_ctx_set_capture(struct wcache_ctx *ctx, const char *path)
{
	struct wc_capture *capture;
	int err = wc_capture_new(path, &capture);

	if (err < 0)
		return wc_ctx_fail(ctx, err, "%s: %s", path, wcache_strerror(err));
	wc_capture_free(ctx->capture);
	ctx->capture = capture;
	return 0;
}

WC_EXPORT int wcache_ctx_set_replay(struct wcache_ctx *ctx, const char *path)
{
	struct wc_exchange *exchange;
	char why[256] = "";
	int err = wc_exchange_load(path, &exchange, why, sizeof(why));

	if (err < 0)
		return wc_ctx_fail(ctx, err, "%s: %s", path, *why ? why : wcache_strerror(err));
	wc_exchange_free(ctx->replay);
	ctx->replay = exchange;
	return 0;
}

WC_EXPORT const char *wcache_ctx_get_error(const struct wcache_ctx *ctx)
{
	return *ctx->error ? ctx->error : NULL;
}

void wc_log(struct wcache_ctx *ctx, int level, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!ctx->log_fn || level > ctx->log_max_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ctx->log_fn(ctx->log_userdata, level, line);
}

int wc_ctx_fail(struct wcache_ctx *ctx, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ctx->error, sizeof(ctx->error), fmt, ap);
	va_end(ap);
	wc_log(ctx, WCACHE_LOG_DEBUG, "%s", ctx->error);
	return err;
}

struct udev *wc_ctx_udev(struct wcache_ctx *ctx)
{
	if (!ctx->udev)
		ctx->udev = udev_new();
	return ctx->udev;
}

unsigned int wc_ctx_slow_timeout(const struct wcache_ctx *ctx)
{
	return ctx->timeout_ms > WC_SLOW_TIMEOUT_MS ? ctx->timeout_ms : WC_SLOW_TIMEOUT_MS;
}
