/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host adapter above a device, by sysfs and udev's hwdb. */
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter.h"

static struct udev_device *pci_above(struct udev_device *udev)
{
	return udev_device_get_parent_with_subsystem_devtype(udev, "pci", NULL);
}

static const char *get_hctl(struct wc_adapter *a, struct udev_device *udev)
{
	struct udev_device *p =
		udev_device_get_parent_with_subsystem_devtype(udev, "scsi", "scsi_device");

	return p ? udev_device_get_sysname(p) : NULL;
}

static const char *get_proc_name(struct wc_adapter *a, struct udev_device *udev)
{
	struct udev_device *host, *p;
	const char *v;

	if (a->proc_name)
		return a->proc_name;
	p = udev_device_get_parent_with_subsystem_devtype(udev, "scsi", "scsi_host");
	if (!p)
		return NULL;
	host = udev_device_new_from_subsystem_sysname(udev_device_get_udev(udev), "scsi_host",
						      udev_device_get_sysname(p));
	if (!host)
		return NULL;
	v = udev_device_get_sysattr_value(host, "proc_name");
	a->proc_name = v ? strdup(v) : NULL;
	udev_device_unref(host);
	return a->proc_name;
}

static const char *get_pci(struct wc_adapter *a, struct udev_device *udev)
{
	static const char *const ids[] = { "vendor", "device", "subsystem_vendor",
					   "subsystem_device" };
	struct udev_device *p = pci_above(udev);

	if (!p || *a->pci)
		return p ? a->pci : NULL;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		const char *v = udev_device_get_sysattr_value(p, ids[i]);
		size_t n = strlen(a->pci);

		snprintf(a->pci + n, sizeof(a->pci) - n, "%s%04lx", i ? ":" : "",
			 v ? strtoul(v, NULL, 16) & 0xffff : 0);
	}
	return a->pci;
}

/* "MegaRAID SAS 2208 [Thunderbolt]", out of hwdata by way of udev's hwdb. */
static const char *get_name(struct wc_adapter *a, struct udev_device *udev)
{
	struct udev_device *p = pci_above(udev);
	const char *modalias = p ? udev_device_get_sysattr_value(p, "modalias") : NULL;
	struct udev_list_entry *entry;
	struct udev_hwdb *hwdb;

	if (!modalias || a->name)
		return a->name;
	hwdb = udev_hwdb_new(udev_device_get_udev(udev));
	if (!hwdb)
		return NULL;
	entry = udev_hwdb_get_properties_list_entry(hwdb, modalias, 0);
	entry = udev_list_entry_get_by_name(entry, "ID_MODEL_FROM_DATABASE");
	if (entry && udev_list_entry_get_value(entry))
		a->name = strdup(udev_list_entry_get_value(entry));
	udev_hwdb_unref(hwdb);
	return a->name;
}

static const struct {
	const char *key;
	const char *(*get)(struct wc_adapter *a, struct udev_device *udev);
} facts[] = {
	{ "hctl", get_hctl },
	{ "proc_name", get_proc_name },
	{ "pci", get_pci },
	{ "adapter", get_name },
};

#define N_FACTS (sizeof(facts) / sizeof(*facts))

bool wc_adapter_has(const char *key)
{
	for (size_t i = 0; i < N_FACTS; i++)
		if (!strcmp(facts[i].key, key))
			return true;
	return false;
}

const char *wc_adapter_get(struct wc_adapter *a, struct udev_device *udev, const char *key)
{
	for (size_t i = 0; i < N_FACTS; i++)
		if (!strcmp(facts[i].key, key))
			return facts[i].get(a, udev);
	return NULL;
}

void wc_adapter_clear(struct wc_adapter *a)
{
	free(a->proc_name);
	free(a->name);
}
