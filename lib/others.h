/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who else sets write caches here, as their own files say. */
#ifndef WC_OTHERS_H
#define WC_OTHERS_H

#include <stddef.h>

#include <wcache.h>

enum wc_other {
	WC_OTHER_HDPARM = 0,
	WC_OTHER_SMARTD = 1,
	WC_OTHER_UDISKS = 2,
	WC_OTHERS = 3,
};

struct wc_other_entry {
	enum wc_other who;
	char *name; /* a device, of udisks the drive's id; NULL: every drive */
	char *node; /* what NAME stands for, where it stands for a device */
	enum wcache_cache setting; /* unknown: it leaves the drive alone, whatever comes later */
	unsigned int line;
	char *file;
};

struct wcache_others {
	struct wc_other_entry *entry; /* of each program the first that matches counts */
	size_t n;
};

/*
 * Add what one file says. What its own program would not understand ends the reading, as
 * there. ID: of udisks the name of the file, less ".conf". Return 0 or -ENOMEM.
 */
int wc_others_parse_hdparm(struct wcache_others *o, const char *file, const char *text,
			   size_t size);
int wc_others_parse_smartd(struct wcache_others *o, const char *file, const char *text,
			   size_t size);
int wc_others_parse_udisks(struct wcache_others *o, const char *file, const char *id,
			   const char *text, size_t size);

#endif
