/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a device stands in the machine: what its path below /sys/devices and the links
 * there tell. Facts are read when first asked for.
 */
#ifndef WC_PLACE_H
#define WC_PLACE_H

#include <stdbool.h>

enum wc_place_fact {
	WC_PLACE_BUS,
	WC_PLACE_DRIVER,
	WC_PLACE_HCTL,
	WC_PLACE_PROC_NAME,
	WC_PLACE_PCI,
	WC_PLACE_ADAPTER,
	WC_PLACE_FACTS,
};

struct wc_place {
	char *path; /* "/sys/devices/.../block/sda" */
	struct {
		bool asked;
		char *value;
	} fact[WC_PLACE_FACTS];
};

/* Device NAME of CLASS ("block", "scsi_host"); -ENODEV where there is none. */
int wc_place_find(struct wc_place *place, const char *class, const char *name);
void wc_place_clear(struct wc_place *place);

/* Is KEY one of its facts: "bus", "driver", "hctl", "proc_name", "pci", "adapter"? */
bool wc_place_has(const char *key);

/* Its value, which lives as long as the place; NULL if there is none. */
const char *wc_place_get(struct wc_place *place, const char *key);

#endif
