/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exchange file: text that capture writes and replay reads.
 *
 *	wcache-exchange 1
 *	order any                             requests may come in any order
 *	device sda                            begins the part of one device
 *	prop ID_BUS=ata                       a property
 *	attr queue/write_cache=write back     a sysfs attribute, from here on
 *	> scsi in 512 85080e...               a request
 *	< status=00 host=00 driver=00 resid=0 sense=
 *	= 40 00 ff 3f                         its data, in or out
 *	> nvme-admin in 4096 opcode=06 nsid=0 cdw10=1
 *	< status=0000 result=00000000
 *	> set attr device/rescan=1
 *	< errno=0
 *	> sync
 *	< errno=0
 *
 * A request that got no answer has "< errno=110". Values of prop and attr have
 * bytes outside printable ASCII, and the backslash, as \xHH.
 */
#ifndef WC_EXCHANGE_H
#define WC_EXCHANGE_H

#include <stdbool.h>
#include <stdio.h>

#include "transport.h"

struct wcache_ctx;

enum wc_event_type {
	WC_EVENT_ATTR = 1,
	WC_EVENT_COMMAND = 2, /* scsi, nvme-admin, nvme-io */
	WC_EVENT_SET_ATTR = 3,
	WC_EVENT_SYNC = 4,
};

struct wc_event {
	enum wc_event_type type;
	unsigned int line;
	bool used;
	bool answered; /* a "<" line was there */
	int err; /* no answer: negative errno */
	char *name; /* WC_EVENT_ATTR, WC_EVENT_SET_ATTR */
	char *value;
	size_t value_len;
	struct wc_request request; /* data unused */
	struct wc_reply reply;
	uint8_t *data;
	size_t data_len;
};

struct wc_exchange_device {
	char *name;
	size_t n_props;
	char **props; /* "KEY=value" */
	size_t n_events;
	struct wc_event *events;
};

struct wc_exchange {
	bool any_order;
	size_t n_devices;
	struct wc_exchange_device *devices;
};

/*
 * Parse a file, or SIZE bytes of text. -EBADMSG with WHY naming the line for
 * whatever the form does not allow; -EFBIG above 16 MiB.
 */
int wc_exchange_load(const char *path, struct wc_exchange **ret, char *why, size_t why_size);
int wc_exchange_parse(const char *text, size_t size, struct wc_exchange **ret, char *why,
		      size_t why_size);
void wc_exchange_free(struct wc_exchange *x);

/* One line of the form, without the newline, as capture writes it. */
void wc_exchange_format_request(const struct wc_request *rq, char *buf, size_t size);
void wc_exchange_write_value(FILE *f, const char *value, size_t len);

/*
 * A transport that answers from the part of DEV. The exchange must outlive it;
 * a mismatch is told through wcache_ctx_get_error(). replay.c
 */
int wc_replay_new(struct wcache_ctx *ctx, struct wc_exchange *x, struct wc_exchange_device *dev,
		  struct wc_transport **ret);

#endif
