/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WC_FLUSH_H
#define WC_FLUSH_H

#include "state.h"

/* Write back, then the drive's own flush, whatever its state is said to be. */
int wc_flush(struct wcache_device *dev, const struct wcache_state *s, enum wcache_flush *result);

#endif
