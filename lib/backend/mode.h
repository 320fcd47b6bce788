/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODE SENSE data: header, block descriptors, pages. SPC-6 7.5. */
#ifndef WC_MODE_H
#define WC_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODE_PAGE_RBC 0x06
#define MODE_PAGE_CACHING 0x08
#define MODE_PAGE_ALL 0x3f

struct wc_mode {
	size_t page; /* offset of the page from the start of the data */
	size_t page_len; /* bytes of it that are there, from its page code on */
	bool complete; /* all that the PAGE LENGTH promises is there */
};

/*
 * Find page CODE (subpage 0) in LEN bytes of a MODE SENSE(6) or (10) reply. What
 * the header says and what arrived can differ either way; the shorter counts.
 * 0, -ENODATA: no such page, -EBADMSG: lengths that contradict each other.
 */
int wc_mode_find(const uint8_t *data, size_t len, bool six, uint8_t code, struct wc_mode *mode);

#endif
