/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libatasmart says of an ATA drive, and what a drive counts of its own wear. Apart from
 * the rest, since opening a disk with libatasmart can switch SMART on.
 */
#include <stddef.h> /* atasmart.h needs it and does not say so */
#include <atasmart.h>
#include <errno.h>

#include "backend/backend.h"
#include "backend/wear.h"

static enum wcache_answer answer(int failed, SkBool value)
{
	if (failed)
		return WCACHE_UNKNOWN;
	return value ? WCACHE_YES : WCACHE_NO;
}

WC_EXPORT int wcache_device_get_health(struct wcache_device *dev, enum wcache_answer *awake,
				       enum wcache_answer *healthy)
{
	SkBool is_awake = FALSE, is_good = FALSE;
	int awake_failed, good_failed = 1;
	SkDisk *disk;

	if (dev->access < WCACHE_ACCESS_CHANGE)
		return wc_fail(dev, -EPERM, "asking for its health can switch SMART on");
	if (dev->backend != &wc_backend_ata || dev->ctx->replay)
		return wc_fail(dev, -EOPNOTSUPP, "libatasmart knows ATA drives only");
	if (sk_disk_open(dev->node, &disk) < 0)
		return wc_fail(dev, errno ? -errno : -EIO, "libatasmart cannot open it");
	awake_failed = sk_disk_check_sleep_mode(disk, &is_awake) < 0;
	/* SMART RETURN STATUS may wake a sleeping drive. */
	if (!awake_failed && is_awake)
		good_failed = sk_disk_smart_status(disk, &is_good) < 0;
	sk_disk_free(disk);
	*awake = answer(awake_failed, is_awake);
	*healthy = answer(good_failed, is_good);
	return 0;
}

/* No drive has more: SMART READ DATA holds 30 (ACS-2 7.59.6). */
#define ATTRIBUTES_MOST 30

struct attributes {
	struct wc_smart_attribute attribute[ATTRIBUTES_MOST];
	size_t n;
};

static void keep_attribute(SkDisk *disk, const SkSmartAttributeParsedData *a, void *userdata)
{
	struct attributes *all = userdata;
	uint64_t raw = 0;

	if (all->n == ATTRIBUTES_MOST)
		return;
	for (size_t i = sizeof(a->raw); i > 0; i--)
		raw = raw << 8 | a->raw[i - 1];
	all->attribute[all->n++] = (struct wc_smart_attribute){ .id = a->id, .raw = raw };
}

static int ata_wear(struct wcache_device *dev, struct wc_wear *wear)
{
	struct attributes all = { .n = 0 };
	SkDisk *disk;
	int failed;

	if (dev->access < WCACHE_ACCESS_CHANGE)
		return wc_fail(dev, -EPERM, "reading SMART data can switch SMART on");
	if (dev->ctx->replay)
		return wc_fail(dev, -EOPNOTSUPP, "libatasmart reads drives only");
	if (sk_disk_open(dev->node, &disk) < 0)
		return wc_fail(dev, errno ? -errno : -EIO, "libatasmart cannot open it");
	failed = sk_disk_smart_read_data(disk) < 0 ||
		 sk_disk_smart_parse_attributes(disk, keep_attribute, &all) < 0;
	sk_disk_free(disk);
	if (failed)
		return wc_fail(dev, -EOPNOTSUPP, "it has no SMART attributes");
	wc_wear_from_smart(dev->model, all.attribute, all.n, wear);
	return 0;
}

WC_EXPORT int wcache_device_get_wear(struct wcache_device *dev, double *host, double *media,
				     double *step)
{
	struct wc_wear wear = { .host = -1, .media = -1 };
	int err;

	if (dev->backend == &wc_backend_nvme)
		err = wc_wear_from_nvme(dev, &wear);
	else if (dev->backend == &wc_backend_ata)
		err = ata_wear(dev, &wear);
	else
		err = wc_fail(dev, -EOPNOTSUPP, "only ATA and NVMe drives count their wear");
	if (err)
		return err;
	*host = wear.host;
	*media = wear.media;
	*step = wear.step;
	return 0;
}
