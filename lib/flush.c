/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Make the drive's cache empty, and know that it is. */
#include <errno.h>

#include "backend/backend.h"
#include "flush.h"
#include "raid/raid.h"

int wc_flush(struct wcache_device *dev, const struct wcache_state *s, enum wcache_flush *result)
{
	const struct wc_transport_ops *ops = dev->transport->ops;
	int err;

	err = ops->writeback ? ops->writeback(dev->transport) : 0;
	if (err < 0)
		return wc_fail(dev, err, "what the kernel holds cannot be written back");
	return dev->backend->flush(dev, s, result);
}

/* Off, or none, is the whole answer, or all that can be reached from here (fsync). */
static bool is_nothing_to_flush(const struct wcache_device *dev, const struct wcache_state *s)
{
	if (s->unreported || (s->cache != WCACHE_CACHE_OFF && s->cache != WCACHE_CACHE_NONE))
		return false;
	return s->flush == WC_FLUSH_FSYNC || !wc_controller_hides(dev->controller);
}

WC_EXPORT int wcache_device_flush(struct wcache_device *dev, unsigned int flags,
				  enum wcache_flush *ret)
{
	const struct wc_transport_ops *ops = dev->transport->ops;
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	struct wcache_state *s;
	int err;

	if (flags & ~WCACHE_FLUSH_ALWAYS)
		return -EINVAL;
	if (dev->access < WCACHE_ACCESS_FLUSH)
		return wc_fail(dev, -EPERM, "the device is open for queries only");
	err = wcache_state_read(dev, 0, &s);
	if (err < 0)
		return err;
	if (!s->cache && s->timed_out) {
		/* What did not answer a question may hang the bus at a flush. */
		err = wc_fail(dev, -ETIMEDOUT, "the drive does not answer");
	} else if (!(flags & WCACHE_FLUSH_ALWAYS) && is_nothing_to_flush(dev, s)) {
		err = ops->writeback ? ops->writeback(dev->transport) : 0;
		if (err < 0)
			wc_fail(dev, err, "what the kernel holds cannot be written back");
		result = WCACHE_FLUSH_NOT_NEEDED;
	} else {
		err = wc_flush(dev, s, &result);
	}
	wcache_state_free(s);
	if (!err)
		*ret = result;
	return err;
}
