/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A backend speaks one language: it makes requests and reads replies, and
 * reaches the device only through lib/device.h. One const struct a file; the
 * table of them is in device.c.
 */
#ifndef WC_BACKEND_H
#define WC_BACKEND_H

#include "state.h"

struct wc_backend {
	const char *protocol;

	/*
	 * Fill in what the drive says (not the kernel's part). 0 also where the
	 * answer is unknown, with the reason in S. -EPROTONOSUPPORT: the drive does
	 * not speak this language, try another; S has the reason and nothing else.
	 * Anything else ends the query.
	 */
	int (*query)(struct wcache_device *dev, bool full, struct wcache_state *s);

	/*
	 * Ask the drive to change, and with SAVE to keep it over a power cycle. 0: it
	 * took the command, which proves nothing. Errors have their sentence set.
	 */
	int (*set)(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save);

	/*
	 * Empty the cache. 0: confirmed, *RESULT says how. -EOPNOTSUPP: the drive has
	 * no such command.
	 */
	int (*flush)(struct wcache_device *dev, const struct wcache_state *s,
		     enum wcache_flush *result);
};

extern const struct wc_backend wc_backend_ata;
extern const struct wc_backend wc_backend_scsi;
extern const struct wc_backend wc_backend_nvme;
extern const struct wc_backend wc_backend_virtio;
extern const struct wc_backend wc_backend_kernel;

/* How far a request goes: it may leave the library from this access level on. */
enum wcache_access wc_ata_access(const struct wc_request *rq);
enum wcache_access wc_scsi_access(const struct wc_request *rq);
enum wcache_access wc_nvme_access(const struct wc_request *rq);

/* scsi.c: also for ATA drives whose translation layer has the last word */
int wc_scsi_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save);

/* Would a plain MODE SELECT of the kernel's be saved in the drive (PS)? */
enum wcache_answer wc_scsi_saves(struct wcache_device *dev);

/* kernel.c: what the kernel believes, and how to move it */
void wc_kernel_query(struct wcache_device *dev, struct wcache_state *s);
/* Have it send flushes whatever the drive says, and keep to that. */
int wc_kernel_force_flushes(struct wcache_device *dev);
/* End that for a SCSI disk; this writes ON to the drive, and saves it where PS=1. */
int wc_kernel_drop_override(struct wcache_device *dev, bool on);
/* Have it ask the drive again. */
int wc_kernel_rescan(struct wcache_device *dev);

/* Blank serial numbers in what a query brought in. */
void wc_ata_redact(const struct wc_request *rq, uint8_t *data, size_t len);
void wc_nvme_redact(const struct wc_request *rq, uint8_t *data, size_t len);

#endif
