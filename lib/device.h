/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A drive, as the rest of the library sees it. */
#ifndef WC_DEVICE_H
#define WC_DEVICE_H

#include <stdbool.h>

#include "backend/sense.h"
#include "ctx.h"
#include "transport/transport.h"

struct wc_backend;

struct wcache_error {
	char text[512];
	bool has_sense, has_ata, has_nvme;
	uint8_t key, asc, ascq;
	uint8_t ata_status, ata_error;
	uint16_t nvme_status;
};

struct wcache_device {
	struct wcache_ctx *ctx;
	struct wc_transport *transport;
	const struct wc_backend *backend; /* the language that worked, or the first to try */
	enum wcache_access access;
	char name[64];
	char *node;
	const char *bus;
	char vendor[16]; /* of INQUIRY, as the kernel has it */
	char *driver, *model, *firmware, *serial, *wwn;
	enum wcache_answer rotational;
	bool removable;
	uint8_t scsi_type; /* peripheral device type, SPC-6 table 151 */
	bool ata12; /* this bridge takes ATA PASS-THROUGH(12) only */
	bool no_registers; /* a command that asks for ATA registers fails */
	unsigned int commands; /* so far */
	unsigned int attention_at; /* the last that met UNIT ATTENTION: settings may have moved */
	struct wcache_controller *controller; /* NULL: none known */
	struct wcache_error error;
};

/*
 * A device over any transport, which it takes over also on failure. NAME is its
 * kernel name. For replay, for tests, and for wcache_device_open().
 */
int wc_device_new(struct wcache_ctx *ctx, const char *name, struct wc_transport *transport,
		  enum wcache_access access, struct wcache_device **ret);

/*
 * Send one command. What the access level does not allow stops here with -EPERM,
 * whoever asks. Returns what the transport returns; the reply is judged by the caller.
 */
int wc_device_submit(struct wcache_device *dev, const struct wc_request *rq,
		     struct wc_reply *reply);

/* submit and judge a SCSI command; again once or twice where the answer says so. */
enum wc_outcome wc_device_scsi(struct wcache_device *dev, struct wc_request *rq,
			       struct wc_reply *reply, struct wc_sense *sense, int *ret_err);

/* Is it a disk behind a RAID volume, asked through the controller? */
bool wc_is_behind_controller(const struct wcache_device *dev);

ssize_t wc_device_attr(struct wcache_device *dev, const char *path, char *buf, size_t size);
int wc_device_attr_set(struct wcache_device *dev, const char *path, const char *value);
const char *wc_device_prop(struct wcache_device *dev, const char *key);
int wc_device_sync(struct wcache_device *dev);

/* Keep a sentence (and the detail of a reply) for wcache_device_get_error(); returns err. */
int wc_fail(struct wcache_device *dev, int err, const char *fmt, ...) WC_PRINTF(3, 4);
void wc_error_clear(struct wcache_device *dev);
void wc_error_set_sense(struct wcache_device *dev, const struct wc_sense *sense);

#endif
