/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One change of one drive at a time, over all processes that use this library. */
#ifndef WC_LOCK_H
#define WC_LOCK_H

#include "device.h"

struct wc_lock;

/*
 * Waits as long as a change may take; -EBUSY after that. A device without a
 * "lock" property (a recording) gives no lock, NULL.
 */
int wc_lock_take(struct wcache_device *dev, struct wc_lock **ret);
void wc_lock_release(struct wc_lock *lock);

#endif
