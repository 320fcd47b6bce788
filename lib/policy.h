/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A site's policy as it is held in memory. */
#ifndef WC_POLICY_H
#define WC_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include <wcache.h>

enum wc_key {
	WC_KEY_BUS = 0,
	WC_KEY_MODEL = 1,
	WC_KEY_SERIAL = 2,
	WC_KEY_WWN = 3,
	WC_KEY_ROTATIONAL = 4,
	WC_KEY_NONVOLATILE = 5,
	WC_KEY_PATH = 6,
	WC_KEYS = 7,
};

struct wc_section {
	char *glob[WC_KEYS]; /* NULL: anything; "yes" or "no" for the two facts */
	char *name;
	char *where; /* "FILE:LINE" of what it decides */
	enum wcache_wanted wanted;
	bool is_default;
	unsigned int line;
};

struct wcache_policy {
	struct wc_section *section; /* in the order in which they are asked */
	size_t n;
};

/*
 * Add the sections of one file. FILE is its name for messages. Returns -EBADMSG
 * with "FILE:LINE:COLUMN: why" in WHY, or -ENOMEM; the policy is then of no use.
 */
int wc_policy_parse(struct wcache_policy *policy, const char *file, const char *text, size_t size,
		    char *why, size_t why_size);

/* What a policy file calls a key. */
const char *wc_policy_key_name(enum wc_key key);

#endif
