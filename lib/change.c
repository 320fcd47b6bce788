/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The safe order of a change. At no point may the drive hold data in a cache that
 * the kernel does not flush, and nothing acknowledged before may be lost:
 * off comes before the kernel is told, on comes after.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "flush.h"
#include "lock.h"
#include "raid/raid.h"
#include "stack/stack.h"

enum step_kind {
	STEP_FORCE_FLUSHES = 1,
	STEP_FLUSH = 2,
	STEP_SET = 3,
	STEP_VERIFY = 4,
	STEP_FOLLOW = 5,
};

#define MAX_STEPS 6

struct wcache_change {
	struct wcache_device *dev;
	struct wc_lock *lock;
	bool on;
	bool save;
	bool applied;
	bool overridden; /* the kernel was told to send flushes whatever the drive says */
	struct wcache_state *before, *after;
	unsigned int read_at; /* the device's count of commands when "after" was read */
	char warning[256];
	size_t n_steps;
	struct {
		enum step_kind kind;
		enum wcache_step_status status;
	} steps[MAX_STEPS];
};

static void add_step(struct wcache_change *c, enum step_kind kind)
{
	c->steps[c->n_steps].kind = kind;
	c->steps[c->n_steps++].status = WCACHE_STEP_PLANNED;
}

static const struct wcache_state *latest(const struct wcache_change *c)
{
	return c->after ? c->after : c->before;
}

static bool is_as_asked(const struct wcache_change *c, const struct wcache_state *s)
{
	return s->cache == (c->on ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF);
}

/* Will the next power-on have it so? Only where the drive tells. */
static bool is_saved_as_asked(const struct wcache_change *c, const struct wcache_state *s)
{
	return s->saved == (c->on ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF);
}

static bool kernel_sends_flushes(const struct wcache_state *s)
{
	return s->kernel == WCACHE_KERNEL_WRITE_BACK;
}

static bool is_volume(const struct wcache_device *dev)
{
	return dev->controller && dev->controller->class == WCACHE_CONTROLLER_VOLUME;
}

/*
 * A volume's own setting is the controller's word. Where it cannot be changed from here
 * not even "already off" may be said: it would be taken for the disks behind it.
 */
static int refuse_volume(struct wcache_change *c)
{
	char advice[160];

	wc_controller_advice(c->dev->controller, c->on, advice, sizeof(advice));
	return wc_fail(c->dev, -EOPNOTSUPP,
		       "a RAID volume: its controller rules the caches of the disks behind it; %s",
		       advice);
}

static void warn(struct wcache_change *c)
{
	char advice[160];

	if (!c->dev->controller)
		return;
	wc_controller_advice(c->dev->controller, c->on, advice, sizeof(advice));
	if (wc_is_behind_controller(c->dev))
		snprintf(c->warning, sizeof(c->warning),
			 "the controller's own policy may undo this; to make it last, %s", advice);
	else if (is_volume(c->dev))
		snprintf(
			c->warning, sizeof(c->warning),
			"this is the volume's own setting, the disks behind it keep theirs; for those, %s",
			advice);
}

static int refuse(struct wcache_change *c, const struct wcache_state *s)
{
	struct wcache_device *dev = c->dev;

	if (is_volume(dev) && s->changeable != WCACHE_YES)
		return refuse_volume(c);
	switch (s->cache) {
	case WCACHE_CACHE_UNKNOWN:
		return wc_fail(dev, -ENODATA, "the state of its write cache is unknown: %s",
			       s->reason);
	case WCACHE_CACHE_NONE:
		return wc_fail(dev, -EOPNOTSUPP, "the drive has no volatile write cache");
	case WCACHE_CACHE_ON:
	case WCACHE_CACHE_OFF:
		break;
	}
	if (c->save && s->saveable != WCACHE_YES)
		return wc_fail(dev, -EOPNOTSUPP,
			       "the drive cannot keep this setting over a power cycle");
	/* Saving in an ATA drive goes through SCT, which then rules it. */
	if (s->sct >= WCACHE_SCT_FORCED_ON && !c->save && !is_as_asked(c, s))
		return wc_fail(dev, -EOPNOTSUPP,
			       "SCT Feature Control forces the write cache %s in this drive",
			       s->sct == WCACHE_SCT_FORCED_ON ? "on" : "off");
	if (s->changeable == WCACHE_NO && !is_as_asked(c, s) &&
	    !(c->save && dev->backend == &wc_backend_ata))
		return wc_fail(dev, -EOPNOTSUPP, "the drive's write cache is not changeable");
	return 0;
}

/*
 * A layer above that looked at the drive while it was write through goes on dropping
 * flushes. To mend that before the cache is on, the kernel must send flushes first.
 */
static int refuse_layer(struct wcache_change *c)
{
	struct wcache_device *dev = c->dev;
	char layer[128], remedy[1400];
	int err;

	/* Only what is a drive of this machine has holders here, and a lock. */
	if (dev->ctx->replay || !wc_device_prop(dev, "lock"))
		return 0;
	err = wc_stack_drops_above(dev->ctx, dev->name, layer, sizeof(layer), remedy,
				   sizeof(remedy));
	if (err <= 0)
		return err < 0 ? wc_fail(dev, err, "the layers above it cannot be looked at") : 0;
	return wc_fail(dev, -EBUSY, "%s above it drops flushes and would go on: %s", layer, remedy);
}

static void plan(struct wcache_change *c)
{
	const struct wcache_state *s = c->before;
	bool set = !is_as_asked(c, s) || (c->save && !is_saved_as_asked(c, s));

	/*
	 * A SCSI disk's "write back" may be a belief from before: whatever makes the kernel
	 * look again in the middle (libata does after each SET FEATURES, udevd when a
	 * writer closes the disk) would turn it into write through. virtio's one attribute
	 * moves the device and the kernel together (virtio_blk.c); no kernel looks at a
	 * disk behind a volume.
	 */
	if (c->on && c->dev->backend != &wc_backend_virtio && !wc_is_behind_controller(c->dev) &&
	    (!kernel_sends_flushes(s) || (set && c->dev->backend != &wc_backend_nvme)))
		add_step(c, STEP_FORCE_FLUSHES);
	if (set) {
		if (!c->on)
			add_step(c, STEP_FLUSH);
		add_step(c, STEP_SET);
		add_step(c, STEP_VERIFY);
		if (!c->on)
			add_step(c, STEP_FLUSH);
	}
	if (c->n_steps && !wc_is_behind_controller(c->dev))
		add_step(c, STEP_FOLLOW);
}

WC_EXPORT int wcache_change_new(struct wcache_device *dev, enum wcache_setting setting,
				const struct wcache_change_options *options,
				struct wcache_change **ret)
{
	struct wcache_change *c;
	unsigned int flags = 0;
	int err;

	if (options) {
		if (options->size < sizeof(*options))
			return -EINVAL;
		flags = options->flags;
	}
	if (setting < WCACHE_SET_ON || setting > WCACHE_SET_DEFAULT ||
	    flags & ~(WCACHE_CHANGE_SAVE | WCACHE_CHANGE_FORCE))
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->dev = dev;
	c->save = flags & WCACHE_CHANGE_SAVE;
	if (dev->access >= WCACHE_ACCESS_CHANGE) {
		err = wc_lock_take(dev, &c->lock);
		if (err < 0)
			goto fail;
	}
	err = wcache_state_read(dev, WCACHE_STATE_FULL, &c->before);
	if (err < 0)
		goto fail;
	c->on = setting == WCACHE_SET_ON ||
		(setting == WCACHE_SET_DEFAULT && c->before->dflt == WCACHE_CACHE_ON);
	if (setting == WCACHE_SET_DEFAULT && c->before->cache && !c->before->dflt) {
		err = wc_fail(dev, -EOPNOTSUPP, "the drive does not tell its default");
		goto fail;
	}
	err = refuse(c, c->before);
	if (err < 0)
		goto fail;
	if (c->on && !is_as_asked(c, c->before) && !(flags & WCACHE_CHANGE_FORCE)) {
		err = refuse_layer(c);
		if (err < 0)
			goto fail;
	}
	plan(c);
	warn(c);
	*ret = c;
	return 0;
fail:
	wcache_change_free(c);
	return err;
}

WC_EXPORT void wcache_change_free(struct wcache_change *c)
{
	if (!c)
		return;
	wcache_state_free(c->before);
	wcache_state_free(c->after);
	wc_lock_release(c->lock);
	free(c);
}

static int read_back(struct wcache_change *c)
{
	struct wcache_state *s;
	int err = wcache_state_read(c->dev, WCACHE_STATE_FULL, &s);

	if (err < 0)
		return err;
	wcache_state_free(c->after);
	c->after = s;
	c->read_at = c->dev->commands;
	return 0;
}

static int flush(struct wcache_change *c)
{
	enum wcache_flush result;
	int err = wc_flush(c->dev, c->before, &result);

	/*
	 * A drive without a flush command writes its cache out when it is turned off
	 * (SBC-4 6.5.6 WCE, ACS-5 7.43.2 82h).
	 */
	return err == -EOPNOTSUPP ? 0 : err;
}

static int verify(struct wcache_change *c)
{
	struct wcache_device *dev = c->dev;
	int err = read_back(c);

	if (err < 0)
		return err;
	if (is_as_asked(c, c->after) && c->save && !is_saved_as_asked(c, c->after))
		return wc_fail(dev, -EREMOTEIO, "the write cache is %s, but that was not saved",
			       wcache_cache_to_string(c->after->cache));
	if (is_as_asked(c, c->after))
		return 0;
	/* SET FEATURES without effect: the translation layer may have the last word. */
	if (dev->backend == &wc_backend_ata && c->after->cache && !c->save) {
		if (!wc_scsi_set(dev, c->after, c->on, false) && !read_back(c) &&
		    is_as_asked(c, c->after))
			return 0;
	}
	if (!c->after->cache)
		return wc_fail(dev, c->after->timed_out ? -ETIMEDOUT : -EIO,
			       "the setting could not be read back: %s", c->after->reason);
	return wc_fail(
		dev, -EREMOTEIO, "the drive took the command, but its write cache is still %s%s",
		wcache_cache_to_string(c->after->cache),
		c->after->sct >= WCACHE_SCT_FORCED_ON ? " (SCT Feature Control rules it)" : "");
}

/*
 * Give the kernel its own judgement back ("temporary" keeps it from looking). Its plain
 * "write back" and "write through" are a MODE SELECT to the drive, which saves the page
 * wherever PS=1 (sd.c cache_type_store()): not where that was not asked for. And while
 * the drive is on it is given back only to libata, which always sees the setting:
 * elsewhere the kernel may find no caching page, and would stop sending flushes. Flushing
 * too much is safe.
 */
static bool may_drop_override(const struct wcache_change *c)
{
	struct wcache_device *dev = c->dev;

	if (dev->backend == &wc_backend_ata && dev->bus && !strcmp(dev->bus, "sata"))
		return true;
	if (c->on || (dev->backend != &wc_backend_ata && dev->backend != &wc_backend_scsi))
		return false;
	return (dev->backend == &wc_backend_scsi && c->save) || wc_scsi_saves(dev) == WCACHE_NO;
}

/*
 * The last word is the drive's: a reset in the middle, or somebody else, can have put
 * the setting back since it was verified.
 */
static int settle(struct wcache_change *c)
{
	int err = read_back(c);

	if (err < 0 || is_as_asked(c, c->after))
		return err;
	if (!c->after->cache)
		return wc_fail(c->dev, c->after->timed_out ? -ETIMEDOUT : -EIO,
			       "the setting could not be read a last time: %s", c->after->reason);
	return wc_fail(c->dev, -EREMOTEIO,
		       "the write cache is %s again: a reset of the drive, or somebody else, put "
		       "the setting back",
		       wcache_cache_to_string(c->after->cache));
}

static int follow_off(struct wcache_change *c)
{
	wc_kernel_rescan(c->dev);
	wc_kernel_query(c->dev, c->after);
	/* Still write back after a look at a drive that is off: an override of before. */
	if (kernel_sends_flushes(c->after) && may_drop_override(c))
		wc_kernel_drop_override(c->dev, false);
	return settle(c);
}

static int follow_on(struct wcache_change *c)
{
	struct wcache_device *dev = c->dev;
	int err;

	if (c->overridden && may_drop_override(c)) {
		wc_kernel_drop_override(dev, true);
		wc_kernel_rescan(dev);
	}
	err = settle(c);
	if (err < 0 || kernel_sends_flushes(c->after))
		return err;
	err = wc_kernel_force_flushes(dev);
	wc_kernel_query(dev, c->after);
	return err;
}

static int force_flushes(struct wcache_change *c)
{
	/* A drive that is on already: perhaps the kernel only has not looked since. */
	if (c->before->cache == WCACHE_CACHE_ON && !kernel_sends_flushes(c->before)) {
		struct wcache_state s = *c->before;

		wc_kernel_rescan(c->dev);
		wc_kernel_query(c->dev, &s);
		if (kernel_sends_flushes(&s))
			return 0;
	}
	c->overridden = true;
	return wc_kernel_force_flushes(c->dev);
}

static int run_step(struct wcache_change *c, enum step_kind kind)
{
	switch (kind) {
	case STEP_FORCE_FLUSHES:
		return force_flushes(c);
	case STEP_FLUSH:
		return flush(c);
	case STEP_SET:
		return c->dev->backend->set(c->dev, c->before, c->on, c->save);
	case STEP_VERIFY:
		return verify(c);
	case STEP_FOLLOW:
		return c->on ? follow_on(c) : follow_off(c);
	}
	return -EINVAL;
}

/*
 * After a failure: learn what the drive is now, and if it is on while the kernel
 * sends no flushes, mend that: first by the kernel, else by turning the cache off.
 * The error and its sentence stay those of the failure.
 */
static void make_safe(struct wcache_change *c)
{
	struct wcache_error why = c->dev->error;
	enum wcache_flush result;

	if (latest(c)->timed_out)
		goto out;
	if (read_back(c) < 0 || c->after->cache == WCACHE_CACHE_OFF ||
	    c->after->cache == WCACHE_CACHE_NONE || kernel_sends_flushes(c->after))
		goto out;
	if (!wc_is_behind_controller(c->dev) && !wc_kernel_force_flushes(c->dev)) {
		wc_kernel_query(c->dev, c->after);
		goto out;
	}
	wc_flush(c->dev, c->after, &result);
	c->dev->backend->set(c->dev, c->after, false, false);
	read_back(c);
out:
	c->dev->error = why;
}

/* A volume that would not follow: say who rules it. */
static int explain_volume(struct wcache_change *c, int err)
{
	struct wcache_error *e = &c->dev->error;
	size_t n = strlen(e->text);
	char advice[160];

	if (!is_volume(c->dev) || (err != -EOPNOTSUPP && err != -EREMOTEIO))
		return err;
	wc_controller_advice(c->dev->controller, c->on, advice, sizeof(advice));
	snprintf(e->text + n, sizeof(e->text) - n, "; the RAID controller rules this setting: %s",
		 advice);
	return -EOPNOTSUPP;
}

WC_EXPORT int wcache_change_apply(struct wcache_change *c)
{
	struct wcache_device *dev = c->dev;
	int err;

	if (c->applied)
		return -EALREADY;
	if (dev->access < WCACHE_ACCESS_CHANGE)
		return wc_fail(dev, -EPERM, "the device is not open for changes");
	c->applied = true;
	for (size_t i = 0; i < c->n_steps; i++) {
		wc_error_clear(dev);
		err = run_step(c, c->steps[i].kind);
		if (!err && c->after && dev->attention_at > c->read_at)
			err = settle(c);
		c->steps[i].status = err < 0 ? WCACHE_STEP_FAILED : WCACHE_STEP_DONE;
		if (err < 0) {
			make_safe(c);
			return explain_volume(c, err);
		}
	}
	return 0;
}

WC_EXPORT size_t wcache_change_get_step_count(const struct wcache_change *c)
{
	return c->n_steps;
}

WC_EXPORT const char *wcache_change_get_step_text(const struct wcache_change *c, size_t index)
{
	if (index >= c->n_steps)
		return NULL;
	switch (c->steps[index].kind) {
	case STEP_FORCE_FLUSHES:
		return "have the kernel send flushes";
	case STEP_FLUSH:
		return index ? "flush what came between" : "flush the write cache";
	case STEP_SET:
		if (c->save)
			return c->on ? "turn the write cache on, saved in the drive"
				     : "turn the write cache off, saved in the drive";
		return c->on ? "turn the write cache on" : "turn the write cache off";
	case STEP_VERIFY:
		return "read the setting back from the drive";
	case STEP_FOLLOW:
		return "let the kernel follow";
	}
	return NULL;
}

WC_EXPORT enum wcache_step_status wcache_change_get_step_status(const struct wcache_change *c,
								size_t index)
{
	return index < c->n_steps ? c->steps[index].status : WCACHE_STEP_PLANNED;
}

WC_EXPORT const char *wcache_change_get_warning(const struct wcache_change *c)
{
	return *c->warning ? c->warning : NULL;
}

WC_EXPORT const struct wcache_state *wcache_change_get_before(const struct wcache_change *c)
{
	return c->before;
}

WC_EXPORT const struct wcache_state *wcache_change_get_after(const struct wcache_change *c)
{
	return c->after;
}
