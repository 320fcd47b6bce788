/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks behind MegaRAID controllers, through the ioctl node of megaraid_sas. */
#ifndef WC_MEGARAID_H
#define WC_MEGARAID_H

#include <stdbool.h>

#include "ctx.h"
#include "transport.h"

/* Is this the form of such a name, "megaraid:HOST:ID"? */
bool wc_is_megaraid_name(const char *name);

/*
 * A transport to the disk. Nothing is sent yet. -EINVAL for a name of another form,
 * -ENODEV where HOST is no such controller's, each with a sentence in the context.
 */
int wc_megaraid_new(struct wcache_ctx *ctx, const char *name, struct wc_transport **ret);

/*
 * The attribute "members" of the volume at SCSI channel and id of a host (see
 * transport.h). Negative errno: -EACCES, -ENODEV, -EIO what the controller
 * answered makes no sense.
 */
ssize_t wc_megaraid_members(unsigned int host, unsigned int channel, unsigned int id, char *buf,
			    size_t size);

/*
 * The same out of what the controller sent: its configuration (DCMD 04010000h), or its
 * list of disks (DCMD 02010000h). -EBADMSG for whatever does not hold together,
 * -ENOENT for a volume that the configuration does not have.
 */
ssize_t wc_megaraid_parse_config(const uint8_t *data, size_t len, unsigned int host,
				 unsigned int volume, char *buf, size_t size);
ssize_t wc_megaraid_parse_list(const uint8_t *data, size_t len, unsigned int host, char *buf,
			       size_t size);

#endif
