/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Record what passes through a transport. The form is in exchange.h. */
#ifndef WC_CAPTURE_H
#define WC_CAPTURE_H

#include "transport.h"

struct wc_capture;

/* Blanks what identifies one drive in the data that a command brought in. */
typedef void (*wc_redact_fn)(const struct wc_request *rq, uint8_t *data, size_t len);

int wc_capture_new(const char *path, struct wc_capture **ret);
void wc_capture_free(struct wc_capture *c);

/*
 * Put a recorder around INNER, which it takes over. C must outlive it.
 * On failure INNER is untouched.
 */
int wc_capture_wrap(struct wc_capture *c, const char *device, struct wc_transport *inner,
		    wc_redact_fn redact, struct wc_transport **ret);

#endif
