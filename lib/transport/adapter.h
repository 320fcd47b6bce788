/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host adapter above a device: facts that are read when first asked for. */
#ifndef WC_ADAPTER_H
#define WC_ADAPTER_H

#include <stdbool.h>

struct udev_device;

struct wc_adapter {
	char *proc_name, *name;
	char pci[20];
};

/* Is KEY a property of this kind: "hctl", "proc_name", "pci", "adapter"? */
bool wc_adapter_has(const char *key);

/* Its value for a device anywhere below the adapter; NULL if there is none. */
const char *wc_adapter_get(struct wc_adapter *a, struct udev_device *udev, const char *key);
void wc_adapter_clear(struct wc_adapter *a);

#endif
