/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sysfs without libudev, which resolves each component of each parent's path: a hundred
 * system calls a drive, where a link or two has the answer.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libudev.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place.h"

#define DEVICES "/sys/devices"

/* The first line of FOLDER/NAME. */
static bool read_line(const char *folder, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX + 32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

/* The last component of what link FOLDER/NAME points to. */
static char *link_name(const char *folder, const char *name)
{
	char path[PATH_MAX + 32], target[PATH_MAX];
	const char *last;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	last = strrchr(target, '/');
	return strdup(last ? last + 1 : target);
}

/* What FN finds in the nearest folder above that has it. */
static char *look_above(const struct wc_place *p, char *(*fn)(const char *folder, const char *name))
{
	char folder[PATH_MAX];
	char *slash, *value = NULL;

	snprintf(folder, sizeof(folder), "%s", p->path);
	while (!value) {
		slash = strrchr(folder, '/');
		if (!slash || slash < folder + strlen(DEVICES))
			return NULL;
		*slash = '\0';
		slash = strrchr(folder, '/');
		value = fn(folder, slash ? slash + 1 : folder);
	}
	return value;
}

static char *subsystem_at(const char *folder, const char *name)
{
	return link_name(folder, "subsystem");
}

/*
 * How it is attached, by where it stands in the device tree: libata puts "ataN"
 * above its hosts, the SAS transport class "end_device-" above its targets.
 */
static char *get_bus(const struct wc_place *p)
{
	const char *name = strrchr(p->path, '/') + 1;
	const char *ata;

	if (strstr(p->path, "/usb"))
		return strdup("usb");
	if (!strncmp(name, "nvme", 4))
		return strdup("nvme");
	if (strncmp(name, "sd", 2))
		return look_above(p, subsystem_at);
	ata = strstr(p->path, "/ata");
	if (ata && isdigit((unsigned char)ata[4]))
		return strdup("sata");
	return strdup(strstr(p->path, "/end_device-") ? "sas" : "scsi");
}

/* Not the disk's own "sd": usb-storage (not the xhci_hcd above it), virtio_scsi, ahci. */
static char *driver_at(const char *folder, const char *name)
{
	char *driver = link_name(folder, "driver");

	if (driver && !strcmp(driver, "sd")) {
		free(driver);
		return NULL;
	}
	return driver;
}

static char *get_driver(const struct wc_place *p)
{
	return look_above(p, driver_at);
}

static char *hctl_at(const char *folder, const char *name)
{
	unsigned int host, channel, target;
	unsigned long long lun;
	int end = 0;

	sscanf(name, "%u:%u:%u:%llu%n", &host, &channel, &target, &lun, &end);
	return end && !name[end] ? strdup(name) : NULL;
}

static char *get_hctl(const struct wc_place *p)
{
	return look_above(p, hctl_at);
}

static char *proc_name_at(const char *folder, const char *name)
{
	char host[PATH_MAX], value[64];
	unsigned int n;
	int end = 0;

	sscanf(name, "host%u%n", &n, &end);
	if (!end || name[end])
		return NULL;
	snprintf(host, sizeof(host), "/sys/class/scsi_host/host%u", n);
	return read_line(host, "proc_name", value, sizeof(value)) ? strdup(value) : NULL;
}

static char *get_proc_name(const struct wc_place *p)
{
	return look_above(p, proc_name_at);
}

/* "0000:00:1f.2" (drivers/pci/probe.c pci_setup_device()) */
static char *pci_at(const char *folder, const char *name)
{
	unsigned int domain, bus, slot, function;
	int end = 0;

	sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &end);
	return end && !name[end] ? strdup(folder) : NULL;
}

static char *get_pci(const struct wc_place *p)
{
	static const char *const ids[] = { "vendor", "device", "subsystem_vendor",
					   "subsystem_device" };
	char *folder = look_above(p, pci_at);
	char text[32] = "", v[32];
	size_t n = 0;

	if (!folder)
		return NULL;
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%04lx", i ? ":" : "",
			      read_line(folder, ids[i], v, sizeof(v))
				      ? strtoul(v, NULL, 16) & 0xffff
				      : 0);
	free(folder);
	return strdup(text);
}

/* "MegaRAID SAS 2208 [Thunderbolt]", out of hwdata by way of udev's hwdb. */
static char *get_adapter(const struct wc_place *p)
{
	char *folder = look_above(p, pci_at);
	char modalias[128], *value = NULL;
	struct udev_list_entry *entry;
	struct udev_hwdb *hwdb;
	struct udev *udev;

	if (!folder || !read_line(folder, "modalias", modalias, sizeof(modalias))) {
		free(folder);
		return NULL;
	}
	free(folder);
	udev = udev_new();
	hwdb = udev ? udev_hwdb_new(udev) : NULL;
	if (hwdb) {
		entry = udev_hwdb_get_properties_list_entry(hwdb, modalias, 0);
		entry = udev_list_entry_get_by_name(entry, "ID_MODEL_FROM_DATABASE");
		if (entry && udev_list_entry_get_value(entry))
			value = strdup(udev_list_entry_get_value(entry));
		udev_hwdb_unref(hwdb);
	}
	udev_unref(udev);
	return value;
}

static const struct {
	const char *key;
	char *(*get)(const struct wc_place *p);
} facts[WC_PLACE_FACTS] = {
	[WC_PLACE_BUS] = { "bus", get_bus },
	[WC_PLACE_DRIVER] = { "driver", get_driver },
	[WC_PLACE_HCTL] = { "hctl", get_hctl },
	[WC_PLACE_PROC_NAME] = { "proc_name", get_proc_name },
	[WC_PLACE_PCI] = { "pci", get_pci },
	[WC_PLACE_ADAPTER] = { "adapter", get_adapter },
};

bool wc_place_has(const char *key)
{
	for (size_t i = 0; i < WC_PLACE_FACTS; i++)
		if (!strcmp(facts[i].key, key))
			return true;
	return false;
}

const char *wc_place_get(struct wc_place *p, const char *key)
{
	for (size_t i = 0; i < WC_PLACE_FACTS; i++) {
		if (strcmp(facts[i].key, key))
			continue;
		if (!p->fact[i].asked)
			p->fact[i].value = facts[i].get(p);
		p->fact[i].asked = true;
		return p->fact[i].value;
	}
	return NULL;
}

int wc_place_find(struct wc_place *p, const char *class, const char *name)
{
	char link[PATH_MAX], target[PATH_MAX], *devices;
	ssize_t n;

	if (snprintf(link, sizeof(link), "/sys/class/%s/%s", class, name) >= (int)sizeof(link))
		return -ENODEV;
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return -ENODEV;
	target[n] = '\0';
	/* "../../devices/pci0000:00/..." */
	devices = strstr(target, "/devices/");
	if (!devices)
		return -ENODEV;
	return asprintf(&p->path, "/sys%s", devices) < 0 ? -ENOMEM : 0;
}

void wc_place_clear(struct wc_place *p)
{
	for (size_t i = 0; i < WC_PLACE_FACTS; i++)
		free(p->fact[i].value);
	free(p->path);
}
