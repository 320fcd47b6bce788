/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_CTX_H
#define WC_CTX_H

#include <stdbool.h>

#include <wcache.h>

#define WC_EXPORT __attribute__((visibility("default")))
#define WC_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* A change and a flush may take this long even where queries must be quick. */
#define WC_SLOW_TIMEOUT_MS 60000u

struct wc_capture;
struct wc_exchange;
struct udev;

struct wcache_ctx {
	unsigned int refs;
	wcache_log_fn log_fn;
	void *log_userdata;
	int log_max_level;
	unsigned int timeout_ms;
	unsigned int retry_pause_ms; /* before a busy drive is asked again */
	struct wc_capture *capture;
	struct wc_exchange *replay;
	const char *root; /* stands for "/" where /sys and /proc are read for a stack; NULL: none */
	struct udev *udev; /* made when first needed: wc_ctx_udev() */
	char error[512];
};

void wc_log(struct wcache_ctx *ctx, int level, const char *fmt, ...) WC_PRINTF(3, 4);

/* Keep a sentence for wcache_ctx_get_error() and return err. */
int wc_ctx_fail(struct wcache_ctx *ctx, int err, const char *fmt, ...) WC_PRINTF(3, 4);

/* NULL when libudev cannot be had. */
struct udev *wc_ctx_udev(struct wcache_ctx *ctx);

unsigned int wc_ctx_slow_timeout(const struct wcache_ctx *ctx);

#endif
