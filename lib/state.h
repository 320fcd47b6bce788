/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_STATE_H
#define WC_STATE_H

#include "device.h"

struct wc_member;

#define WC_N_FACTS (WCACHE_FACT_SCT + 1)

enum wc_flush_command {
	WC_FLUSH_COMMAND_UNKNOWN = 0,
	WC_FLUSH_ATA_EXT = 1,
	WC_FLUSH_ATA = 2,
	WC_FLUSH_SCSI = 3,
	WC_FLUSH_NVME = 4,
	WC_FLUSH_FSYNC = 5,
};

struct wcache_state {
	enum wcache_cache cache, dflt, saved;
	enum wcache_answer changeable, saveable, nonvolatile;
	enum wcache_sct sct;
	enum wc_flush_command flush;
	bool flush_advertised;
	bool timed_out; /* it did not answer: leave it alone */
	bool unreported; /* an ATA drive from before the words that would tell */
	enum wcache_kernel kernel;
	enum wcache_answer fua;
	const char *source[WC_N_FACTS]; /* constant strings */
	char reason[256];
	size_t n_members; /* disks behind a volume, members.c */
	struct wc_member *members;
	char members_reason[160];
};

/* The cache is unknown, and this is why. */
void wc_state_unknown(struct wcache_state *s, const char *fmt, ...) WC_PRINTF(2, 3);

#endif
