/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_MEMBERS_H
#define WC_MEMBERS_H

#include "state.h"

struct wc_member {
	char *name, *bus, *model;
	struct wcache_state *state; /* never NULL */
};

/*
 * Ask the disks behind DEV, if it is a RAID volume. 0 also where they cannot be
 * asked, with the reason in S; -ENOMEM.
 */
int wc_members_read(struct wcache_device *dev, struct wcache_state *s);
void wc_members_free(struct wcache_state *s);

#endif
