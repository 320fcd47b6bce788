/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes that a drive has written: as the host asked for them, and to its medium. */
#ifndef WC_WEAR_H
#define WC_WEAR_H

#include <stddef.h>
#include <stdint.h>

struct wcache_device;

struct wc_wear {
	double host, media; /* bytes; negative where not counted */
	double step; /* bytes that a counter moves by, the coarser of the two */
};

struct wc_smart_attribute {
	uint8_t id;
	uint64_t raw; /* 48 bits */
};

/* Both where @model counts both, in attributes whose unit is known; else negative. */
void wc_wear_from_smart(const char *model, const struct wc_smart_attribute *attribute, size_t n,
			struct wc_wear *wear);

/* SMART / Health log, and the log of the Open Compute Project where there is one. */
int wc_wear_from_nvme(struct wcache_device *dev, struct wc_wear *wear);

#endif
