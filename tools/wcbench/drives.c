/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drives.h"
#include "report.h"

static int keep_name(struct drives *drives, const char *name)
{
	char **more = reallocarray(drives->name, drives->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	drives->name = more;
	more[drives->n] = strdup(name);
	if (!more[drives->n])
		return -ENOMEM;
	drives->n++;
	return 0;
}

/* What stands between: of a file system and a partition it goes without saying. */
static void keep_layer(struct report *report, const struct wcache_node *node)
{
	const char *type = wcache_node_get_type(node);
	size_t at = strlen(report->layers);

	if (wcache_node_is_filesystem(node) == WCACHE_YES || !strcmp(type, "partition") ||
	    !strcmp(type, "disk"))
		return;
	snprintf(report->layers + at, sizeof(report->layers) - at, "%s%s", at ? " " : "",
		 wcache_node_get_name(node));
}

static int find_drives(struct drives *drives, const char *path, struct report *report)
{
	struct wcache_stack *stack;
	int r = wcache_stack_new(drives->ctx, path, &stack);

	if (r < 0)
		return r;
	for (size_t i = 0; i < wcache_stack_get_node_count(stack); i++)
		keep_layer(report, wcache_stack_get_node(stack, i));
	for (size_t i = 0; r == 0 && i < wcache_stack_get_drive_count(stack); i++)
		r = keep_name(drives, wcache_stack_get_drive(stack, i));
	wcache_stack_free(stack);
	return r;
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void describe(struct wcache_device *dev, struct report_drive *drive)
{
	struct wcache_state *state;

	copy(drive->bus, sizeof(drive->bus), wcache_device_get_bus(dev));
	copy(drive->driver, sizeof(drive->driver), wcache_device_get_driver(dev));
	copy(drive->model, sizeof(drive->model), wcache_device_get_model(dev));
	copy(drive->firmware, sizeof(drive->firmware), wcache_device_get_firmware(dev));
	copy(drive->serial, sizeof(drive->serial), wcache_device_get_serial(dev));
	drive->rotational = wcache_device_get_rotational(dev);
	if (wcache_state_read(dev, 0, &state) < 0)
		return;
	copy(drive->protocol, sizeof(drive->protocol), wcache_device_get_protocol(dev));
	drive->original = wcache_state_get_cache(state);
	drive->kernel = wcache_state_get_kernel(state);
	drive->fua = wcache_state_get_fua(state);
	drive->nonvolatile = wcache_state_get_nonvolatile(state);
	wcache_state_free(state);
}

/* Who decides what is durable: the drive itself, or what stands before it. */
static void find_owner(struct wcache_device *dev, struct report *report)
{
	const struct wcache_controller *controller = wcache_device_get_controller(dev);

	if (!controller)
		return;
	switch (wcache_controller_get_class(controller)) {
	case WCACHE_CONTROLLER_VOLUME:
	case WCACHE_CONTROLLER_UNKNOWN:
	case WCACHE_CONTROLLER_ARRAY:
		report->owner = OWNER_RAID;
		break;
	case WCACHE_CONTROLLER_HOST:
	case WCACHE_CONTROLLER_NETWORK:
		report->owner = OWNER_VIRTUAL;
		break;
	default:
		break;
	}
}

int drives_open(struct drives *drives, const char *path, bool control, struct report *report,
		char *why, size_t why_size)
{
	enum wcache_access access = control ? WCACHE_ACCESS_CHANGE : WCACHE_ACCESS_FLUSH;
	size_t i;
	int r;

	memset(drives, 0, sizeof(*drives));
	r = wcache_ctx_new(&drives->ctx);
	if (r == 0)
		r = find_drives(drives, path, report);
	if (r == 0) {
		drives->device = calloc(drives->n + 1, sizeof(*drives->device));
		report->drive = calloc(drives->n + 1, sizeof(*report->drive));
		if (!drives->device || !report->drive)
			r = -ENOMEM;
	}
	if (r < 0) {
		snprintf(why, why_size, "the drives below cannot be found: %s", wcache_strerror(r));
		drives_close(drives);
		return r;
	}
	report->drives = drives->n;
	if (drives->n == 0)
		report->owner = OWNER_UNKNOWN;
	for (i = 0; i < drives->n; i++) {
		copy(report->drive[i].name, sizeof(report->drive[i].name), drives->name[i]);
		r = wcache_device_open(drives->ctx, drives->name[i], access, &drives->device[i]);
		if (r < 0 && control) {
			snprintf(why, why_size, "%s: %s", drives->name[i], wcache_strerror(r));
			drives_close(drives);
			return r;
		}
		if (r < 0)
			continue;
		describe(drives->device[i], &report->drive[i]);
		find_owner(drives->device[i], report);
	}
	return 0;
}

void drives_close(struct drives *drives)
{
	size_t i;

	for (i = 0; i < drives->n; i++) {
		if (drives->device)
			wcache_device_close(drives->device[i]);
		free(drives->name[i]);
	}
	free(drives->device);
	free(drives->name);
	drives->ctx = wcache_ctx_unref(drives->ctx);
	memset(drives, 0, sizeof(*drives));
}

void drives_read(struct drives *drives, struct drives_state *state)
{
	size_t i;

	memset(state, 0, sizeof(*state));
	for (i = 0; i < drives->n; i++) {
		enum wcache_cache cache = WCACHE_CACHE_UNKNOWN;
		enum wcache_kernel kernel = WCACHE_KERNEL_UNKNOWN;
		enum wcache_answer fua = WCACHE_UNKNOWN, nonvolatile = WCACHE_UNKNOWN;
		struct wcache_state *one;
		const char *reason;

		if (drives->device[i] && wcache_state_read(drives->device[i], 0, &one) == 0) {
			cache = wcache_state_get_cache(one);
			kernel = wcache_state_get_kernel(one);
			fua = wcache_state_get_fua(one);
			nonvolatile = wcache_state_get_nonvolatile(one);
			reason = wcache_state_get_reason(one);
			if (reason && !state->why[0])
				snprintf(state->why, sizeof(state->why), "%s: %s", drives->name[i],
					 reason);
			wcache_state_free(one);
		}
		if (i == 0) {
			state->cache = cache;
			state->kernel = kernel;
			state->fua = fua;
			state->nonvolatile = nonvolatile;
			continue;
		}
		if (state->cache != cache)
			state->cache = WCACHE_CACHE_UNKNOWN;
		if (state->kernel != kernel)
			state->kernel = WCACHE_KERNEL_UNKNOWN;
		if (state->fua != fua)
			state->fua = WCACHE_UNKNOWN;
		if (state->nonvolatile != nonvolatile)
			state->nonvolatile = WCACHE_UNKNOWN;
	}
}

static const char *why_not(struct wcache_device *dev, int error)
{
	const char *text = wcache_error_get_text(wcache_device_get_error(dev));

	return text[0] ? text : wcache_strerror(error);
}

int drives_can_set(struct drives *drives, char *why, size_t why_size)
{
	static const enum wcache_setting setting[] = { WCACHE_SET_ON, WCACHE_SET_OFF };
	struct wcache_change *change;
	size_t i, k;
	int r;

	if (drives->n == 0) {
		snprintf(why, why_size, "no drive is known below the target");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < drives->n; i++) {
		for (k = 0; k < 2; k++) {
			r = wcache_change_new(drives->device[i], setting[k], NULL, &change);
			if (r < 0) {
				snprintf(why, why_size, "%s: %s", drives->name[i],
					 why_not(drives->device[i], r));
				return r == -ENODATA ? -EOPNOTSUPP : r;
			}
			wcache_change_free(change);
		}
	}
	return 0;
}

int drives_set(struct drives *drives, bool on, char *why, size_t why_size)
{
	size_t i;
	int r;

	for (i = 0; i < drives->n; i++) {
		struct wcache_device *dev = drives->device[i];
		struct wcache_change *change;

		r = wcache_change_new(dev, on ? WCACHE_SET_ON : WCACHE_SET_OFF, NULL, &change);
		if (r == 0) {
			r = wcache_change_apply(change);
			wcache_change_free(change);
		}
		if (r < 0) {
			snprintf(why, why_size, "%s: the cache cannot be turned %s: %s",
				 drives->name[i], on ? "on" : "off", why_not(dev, r));
			return r;
		}
	}
	return 0;
}

int drives_flush(struct drives *drives)
{
	enum wcache_flush result;
	size_t i;
	int r, first = 0;

	for (i = 0; i < drives->n; i++) {
		r = drives->device[i] ? wcache_device_flush(drives->device[i], 0, &result) : -EPERM;
		if (r < 0 && first == 0)
			first = r;
	}
	return first;
}

int drives_wear(struct drives *drives, double *host, double *media, double *step, char *why,
		size_t why_size)
{
	double sum_host = 0, sum_media = 0, largest = 0, one_host, one_media, one_step;
	size_t i;
	int r = drives->n ? 0 : -EOPNOTSUPP;

	if (r < 0)
		snprintf(why, why_size, "no drive is known");
	for (i = 0; r == 0 && i < drives->n; i++) {
		struct wcache_device *dev = drives->device[i];

		r = dev ? wcache_device_get_wear(dev, &one_host, &one_media, &one_step) : -EPERM;
		if (r < 0) {
			snprintf(why, why_size, "%s: %s", drives->name[i],
				 dev ? why_not(dev, r) : "it cannot be opened");
		} else if (one_host < 0 || one_media < 0) {
			r = -EOPNOTSUPP;
			snprintf(why, why_size,
				 "%s: it does not count what it writes to its medium%s",
				 drives->name[i],
				 one_host < 0 ? " in a unit that is known"
					      : ", only what the host writes");
		} else {
			sum_host += one_host;
			sum_media += one_media;
			largest = one_step > largest ? one_step : largest;
		}
	}
	if (r < 0)
		return r;
	*host = sum_host;
	*media = sum_media;
	*step = largest;
	return 0;
}
