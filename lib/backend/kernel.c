/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel believes of a drive's cache, how to move it, and the devices
 * of which nothing but that can be had. Linux: block/blk-sysfs.c, drivers/scsi/sd.c,
 * drivers/block/virtio_blk.c.
 */
#include <errno.h>
#include <string.h>

#include "backend.h"

#define SCSI_CACHE_TYPE "device/scsi_disk/*/cache_type"

void wc_kernel_query(struct wcache_device *dev, struct wcache_state *s)
{
	char v[64];

	s->kernel = WCACHE_KERNEL_UNKNOWN;
	s->fua = WCACHE_UNKNOWN;
	if (wc_device_attr(dev, "queue/write_cache", v, sizeof(v)) > 0) {
		if (!strcmp(v, "write back"))
			s->kernel = WCACHE_KERNEL_WRITE_BACK;
		else if (!strcmp(v, "write through"))
			s->kernel = WCACHE_KERNEL_WRITE_THROUGH;
		if (s->kernel)
			s->source[WCACHE_FACT_KERNEL] = "queue/write_cache";
	}
	if (wc_device_attr(dev, "queue/fua", v, sizeof(v)) > 0)
		s->fua = !strcmp(v, "1") ? WCACHE_YES : WCACHE_NO;
}

static bool sends_flushes(struct wcache_device *dev)
{
	struct wcache_state s = { 0 };

	wc_kernel_query(dev, &s);
	return s.kernel == WCACHE_KERNEL_WRITE_BACK;
}

int wc_kernel_force_flushes(struct wcache_device *dev)
{
	char v[64];

	/*
	 * "temporary" is the kernel's word for: change the belief, send nothing. It also
	 * survives a revalidation, which libata does behind our back (sd.c
	 * cache_type_store(), sd_read_cache_type()).
	 */
	if (wc_device_attr(dev, SCSI_CACHE_TYPE, v, sizeof(v)) > 0)
		wc_device_attr_set(dev, SCSI_CACHE_TYPE, "temporary write back");
	if (sends_flushes(dev))
		return 0;
	wc_device_attr_set(dev, "queue/write_cache", "write back");
	if (sends_flushes(dev))
		return 0;
	return wc_fail(dev, -EIO, "the kernel cannot be made to send flushes to it");
}

int wc_kernel_drop_override(struct wcache_device *dev, bool on)
{
	int err = wc_device_attr_set(dev, SCSI_CACHE_TYPE, on ? "write back" : "write through");

	return err == -ENOENT ? 0 : err;
}

int wc_kernel_rescan(struct wcache_device *dev)
{
	int err = wc_device_attr_set(dev, "device/rescan", "1");

	return err == -ENOENT ? 0 : err;
}

static int sync_flush(struct wcache_device *dev, const struct wcache_state *s,
		      enum wcache_flush *result)
{
	int err;

	if (!sends_flushes(dev))
		return wc_fail(dev, -EOPNOTSUPP,
			       "the kernel sends it no flushes, and it cannot be asked itself");
	err = wc_device_sync(dev);
	if (err < 0)
		return wc_fail(dev, err, "fsync failed");
	*result = WCACHE_FLUSH_DONE;
	return 0;
}

/* Linux lets a guest see, and where the host allows it set, the cache mode here. */
static int virtio_query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	char v[64];
	ssize_t n = wc_device_attr(dev, "cache_type", v, sizeof(v));

	if (n < 0 && n != -ENOENT)
		return n;
	if (n > 0 && !strcmp(v, "write back"))
		s->cache = WCACHE_CACHE_ON;
	else if (n > 0 && !strcmp(v, "write through"))
		s->cache = WCACHE_CACHE_OFF;
	if (s->cache)
		s->source[WCACHE_FACT_CACHE] = "virtio cache_type";
	else
		wc_state_unknown(s, "the virtual disk has no cache_type");
	s->flush = WC_FLUSH_FSYNC;
	s->flush_advertised = true;
	return 0;
}

static int virtio_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save)
{
	int err = wc_device_attr_set(dev, "cache_type", on ? "write back" : "write through");

	/* Without VIRTIO_BLK_F_CONFIG_WCE the attribute is read-only. */
	if (err == -EACCES || err == -EPERM || err == -EINVAL || err == -EIO)
		return wc_fail(dev, err == -EACCES ? -EOPNOTSUPP : err,
			       "the host does not let this guest change the cache mode");
	return err < 0 ? wc_fail(dev, err, "cache_type cannot be written") : 0;
}

const struct wc_backend wc_backend_virtio = {
	.protocol = "virtio",
	.query = virtio_query,
	.set = virtio_set,
	.flush = sync_flush,
};

static int kernel_query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	wc_state_unknown(s, "only the kernel's view can be had of a device on bus %s",
			 dev->bus ? dev->bus : "unknown");
	s->flush = WC_FLUSH_FSYNC;
	s->flush_advertised = true;
	return 0;
}

static int kernel_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save)
{
	return wc_fail(dev, -EOPNOTSUPP, "there is no way to reach its write cache");
}

const struct wc_backend wc_backend_kernel = {
	.protocol = "kernel",
	.query = kernel_query,
	.set = kernel_set,
	.flush = sync_flush,
};
