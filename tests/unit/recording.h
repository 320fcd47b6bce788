/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that answers from a text in the form of an exchange file. */
#ifndef RECORDING_H
#define RECORDING_H

#include <errno.h>
#include <string.h>

#include "device.h"
#include "suite.h"
#include "transport/exchange.h"

static inline struct wcache_ctx *recording_ctx(const char *text)
{
	struct wcache_ctx *ctx;
	char why[256] = "";

	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_msg(!wc_exchange_parse(text, strlen(text), &ctx->replay, why, sizeof(why)), "%s",
		      why);
	return ctx;
}

static inline struct wcache_device *recording_open(struct wcache_ctx *ctx, const char *name,
						   enum wcache_access access)
{
	struct wcache_device *dev;
	int err = wcache_device_open(ctx, name, access, &dev);

	ck_assert_msg(!err, "%s: %d %s", name, err, wcache_ctx_get_error(ctx));
	return dev;
}

/* Every request of the recording was sent. */
static inline void recording_is_used_up(const struct wcache_ctx *ctx)
{
	for (size_t i = 0; i < ctx->replay->n_devices; i++)
		for (size_t k = 0; k < ctx->replay->devices[i].n_events; k++) {
			const struct wc_event *e = &ctx->replay->devices[i].events[k];

			ck_assert_msg(e->type == WC_EVENT_ATTR || e->used,
				      "line %u was never asked for", e->line);
		}
}

#endif
