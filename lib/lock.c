/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Not flock(2) of the device node itself: udevd holds that while it runs the rules
 * of the device, and such a rule may be what called us.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

#define LOCK_DIR "/run/wcache"
#define POLL_MS 20

struct wc_lock {
	int fd;
};

static int open_lock(const char *name)
{
	char path[128];
	int fd;

	if (mkdir(LOCK_DIR, 0755) < 0 && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), LOCK_DIR "/%s.lock", name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

int wc_lock_take(struct wcache_device *dev, struct wc_lock **ret)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	unsigned int left = wc_ctx_slow_timeout(dev->ctx);
	const char *name = wc_device_prop(dev, "lock");
	struct wc_lock *lock;

	if (!name)
		return 0;
	lock = malloc(sizeof(*lock));
	if (!lock)
		return -ENOMEM;
	lock->fd = open_lock(name);
	if (lock->fd < 0) {
		int err = lock->fd;

		free(lock);
		return wc_fail(dev, err, "the drive cannot be locked in " LOCK_DIR ": %s",
			       wcache_strerror(err));
	}
	while (flock(lock->fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || left < POLL_MS) {
			int err = errno == EWOULDBLOCK ? -EBUSY : -errno;

			wc_lock_release(lock);
			return wc_fail(dev, err, "another process is changing this drive");
		}
		left -= POLL_MS;
		nanosleep(&pause, NULL);
	}
	*ret = lock;
	return 0;
}

void wc_lock_release(struct wc_lock *lock)
{
	if (!lock)
		return;
	close(lock->fd);
	free(lock);
}
