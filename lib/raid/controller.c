/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The controller above a device: its facts gathered, and what the library tells of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "raid.h"

static const char *attr(struct wcache_device *dev, const char *path, char *buf, size_t size)
{
	ssize_t n = wc_device_attr(dev, path, buf, size);

	while (n > 0 && buf[n - 1] == ' ')
		buf[--n] = '\0';
	return n > 0 ? buf : NULL;
}

static int channel_of(const char *hctl)
{
	unsigned int channel;

	return hctl && sscanf(hctl, "%*u:%u:", &channel) == 1 ? (int)channel : WC_CHANNEL_UNKNOWN;
}

struct wcache_controller *wc_controller_new(struct wcache_device *dev)
{
	char vendor[16], product[48], revision[16], level[64], transport[16], driver[32];
	struct wc_raid_facts f = {
		.driver = dev->driver,
		.proc_name = wc_device_prop(dev, "proc_name"),
		.pci = wc_device_prop(dev, "pci"),
		.channel = channel_of(wc_device_prop(dev, "hctl")),
		.member = wc_device_prop(dev, "member"),
		.vendor = attr(dev, "device/vendor", vendor, sizeof(vendor)),
		.product = attr(dev, "device/model", product, sizeof(product)),
		.revision = attr(dev, "device/rev", revision, sizeof(revision)),
		.raid_level = attr(dev, "device/raid_level", level, sizeof(level)),
	};
	const struct wc_raid_row *row;
	struct wcache_controller *c;
	const char *adapter;

	/* NVMe over a network has no host adapter above it in the device tree. */
	if (dev->bus && !strcmp(dev->bus, "nvme") &&
	    attr(dev, "device/transport", transport, sizeof(transport)) &&
	    strcmp(transport, "pcie")) {
		snprintf(driver, sizeof(driver), "nvme-%s", transport);
		f.driver = driver;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	row = wc_raid_lookup(&f, &c->class, c->reason, sizeof(c->reason));
	wc_log(dev->ctx, WCACHE_LOG_DEBUG, "%s: controller: %s", dev->name, c->reason);
	if (!row) {
		free(c);
		return NULL;
	}
	adapter = wc_device_prop(dev, "adapter");
	c->row = row;
	c->driver = strdup(f.driver ? f.driver : f.proc_name);
	c->name = strdup(adapter ? adapter : row->family);
	if (!c->driver || !c->name) {
		wc_controller_free(c);
		return NULL;
	}
	return c;
}

void wc_controller_free(struct wcache_controller *c)
{
	if (!c)
		return;
	free(c->driver);
	free(c->name);
	free(c);
}

void wc_controller_advice(const struct wcache_controller *c, bool on, char *buf, size_t size)
{
	const struct wc_raid_row *row = c->row;

	/* The commands of the table turn caches off. */
	if (!on && row->set)
		snprintf(buf, size, "use %s%s", row->set,
			 row->set_verified ? "" : " (not verified)");
	else if (row->tool)
		snprintf(buf, size, "its tool is %s", row->tool);
	else
		snprintf(buf, size, "no tool for it is known");
}

bool wc_is_behind_controller(const struct wcache_device *dev)
{
	return dev->controller && dev->controller->class == WCACHE_CONTROLLER_MEMBER;
}

WC_EXPORT const struct wcache_controller *
wcache_device_get_controller(const struct wcache_device *dev)
{
	return dev->controller;
}

WC_EXPORT enum wcache_controller_class
wcache_controller_get_class(const struct wcache_controller *c)
{
	return c->class;
}

WC_EXPORT const char *wcache_controller_get_reason(const struct wcache_controller *c)
{
	return c->reason;
}

WC_EXPORT const char *wcache_controller_get_driver(const struct wcache_controller *c)
{
	return c->driver;
}

WC_EXPORT const char *wcache_controller_get_name(const struct wcache_controller *c)
{
	return c->name;
}

bool wc_controller_hides(const struct wcache_controller *c)
{
	return c && c->class != WCACHE_CONTROLLER_PLAIN && c->class != WCACHE_CONTROLLER_PHYSICAL &&
	       c->class != WCACHE_CONTROLLER_MEMBER;
}

WC_EXPORT const char *wcache_controller_get_hidden(const struct wcache_controller *c)
{
	return wc_controller_hides(c) ? c->row->hides : NULL;
}

WC_EXPORT const char *wcache_controller_get_meaning(const struct wcache_controller *c)
{
	return wc_controller_hides(c) ? c->row->wce : NULL;
}

WC_EXPORT const char *wcache_controller_get_flush_end(const struct wcache_controller *c)
{
	return wc_controller_hides(c) ? c->row->flush : NULL;
}

WC_EXPORT enum wcache_answer wcache_controller_is_flushed_through(const struct wcache_controller *c)
{
	return wc_controller_hides(c) ? c->row->flush_reaches : WCACHE_YES;
}

WC_EXPORT const char *wcache_controller_get_tool(const struct wcache_controller *c)
{
	return c->row->tool;
}

WC_EXPORT const char *wcache_controller_get_command(const struct wcache_controller *c,
						    enum wcache_command which,
						    enum wcache_answer *verified)
{
	const char *command = which == WCACHE_COMMAND_SHOW  ? c->row->show
			      : which == WCACHE_COMMAND_SET ? c->row->set
							    : NULL;
	bool sure = which == WCACHE_COMMAND_SHOW ? c->row->show_verified : c->row->set_verified;

	if (command && verified)
		*verified = sure ? WCACHE_YES : WCACHE_NO;
	return command;
}

WC_EXPORT const char *wcache_controller_class_to_string(enum wcache_controller_class class)
{
	switch (class) {
	case WCACHE_CONTROLLER_VOLUME:
		return "volume";
	case WCACHE_CONTROLLER_PHYSICAL:
		return "physical";
	case WCACHE_CONTROLLER_PLAIN:
		return "plain";
	case WCACHE_CONTROLLER_MEMBER:
		return "member";
	case WCACHE_CONTROLLER_ARRAY:
		return "array";
	case WCACHE_CONTROLLER_NETWORK:
		return "network";
	case WCACHE_CONTROLLER_HOST:
		return "host";
	case WCACHE_CONTROLLER_UNKNOWN:
		break;
	}
	return "unknown";
}
