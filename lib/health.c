/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libatasmart says of an ATA drive. Apart from the rest, since opening a disk
 * with it can switch SMART on.
 */
#include <stddef.h> /* atasmart.h needs it and does not say so */
#include <atasmart.h>
#include <errno.h>

#include "backend/backend.h"

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
