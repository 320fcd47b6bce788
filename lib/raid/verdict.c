/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a controller above a disk means for fsync. No I/O. */
#include <stdio.h>

#include "members.h"
#include "raid.h"
#include "verdict.h"

struct tally {
	size_t off, on, unknown;
	const struct wc_member *first_on, *first_unknown;
};

static void count(const struct wcache_state *s, struct tally *t)
{
	for (size_t i = 0; i < s->n_members; i++) {
		const struct wc_member *m = &s->members[i];

		if (m->state->cache == WCACHE_CACHE_UNKNOWN || m->state->unreported) {
			t->unknown++;
			if (!t->first_unknown)
				t->first_unknown = m;
		} else if (m->state->cache == WCACHE_CACHE_ON &&
			   m->state->nonvolatile != WCACHE_YES) {
			t->on++;
			if (!t->first_on)
				t->first_on = m;
		} else {
			t->off++;
		}
	}
}

/* The command that shows what is hidden, and a word about what it is worth. */
static const char *show(const struct wcache_controller *c, const char **caveat)
{
	enum wcache_answer verified = WCACHE_YES;
	const char *command = wcache_controller_get_command(c, WCACHE_COMMAND_SHOW, &verified);

	*caveat = verified == WCACHE_NO ? "; the command below is not verified" : "";
	return command;
}

static void hidden(struct wcache_report *r, const struct wcache_device *dev,
		   const struct wcache_state *s)
{
	const struct wcache_controller *c = dev->controller;
	const char *caveat, *command = show(c, &caveat);

	wc_report_add(r, "members-hidden", WCACHE_SEVERITY_UNKNOWN, dev->name, command,
		      "a volume of %s, which hides %s%s%s%s", c->name, c->row->hides,
		      *s->members_reason ? ": " : "", s->members_reason, caveat);
}

/*
 * A disk that caches under a volume that gets no flushes is the deadly pair one
 * floor down. Where flushes are sent, whether the controller hands them on is not known.
 */
static void some_on(struct wcache_report *r, const struct wcache_device *dev,
		    const struct wcache_state *s, const struct tally *t)
{
	char remedy[64];

	snprintf(remedy, sizeof(remedy), "wcache-set off %s", t->first_on->name);
	if (s->kernel == WCACHE_KERNEL_WRITE_THROUGH ||
	    dev->controller->row->flush_reaches == WCACHE_NO)
		wc_report_add(
			r, "member-on-no-flush", WCACHE_SEVERITY_RISK, dev->name, remedy,
			"%zu of %zu disks behind the volume cache writes, and no flush reaches them",
			t->on, s->n_members);
	else
		wc_report_add(
			r, "member-on", WCACHE_SEVERITY_UNKNOWN, dev->name, remedy,
			"%zu of %zu disks behind the volume cache writes, and whether the controller hands a flush on to them is unknown",
			t->on, s->n_members);
}

static void volume(struct wcache_report *r, const struct wcache_device *dev,
		   const struct wcache_state *s)
{
	struct tally t = { 0 };

	count(s, &t);
	if (!s->n_members || (*s->members_reason && (t.on || t.unknown))) {
		hidden(r, dev, s);
		return;
	}
	if (t.on)
		some_on(r, dev, s, &t);
	if (t.unknown)
		wc_report_add(r, "members-unknown", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
			      "%zu of %zu disks behind the volume could not be asked: %s: %s",
			      t.unknown, s->n_members, t.first_unknown->name,
			      t.first_unknown->state->reason);
	if (t.on || t.unknown)
		return;
	wc_report_add(r, "members-off", WCACHE_SEVERITY_INFO, dev->name, NULL,
		      "the disks behind the volume (%zu) hold nothing in volatile caches",
		      s->n_members);
	if (s->cache == WCACHE_CACHE_ON && dev->controller->row->flush_reaches == WCACHE_NO)
		wc_report_add(
			r, "controller-cache", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
			"the controller caches writes, gets no flushes, and whether its cache survives a power cut is unknown");
}

void wc_verdict_controller(struct wcache_report *r, const struct wcache_device *dev,
			   const struct wcache_state *s)
{
	const struct wcache_controller *c = dev->controller;
	const char *caveat, *command;

	switch (c->class) {
	case WCACHE_CONTROLLER_VOLUME:
		volume(r, dev, s);
		break;
	case WCACHE_CONTROLLER_MEMBER:
		if (s->cache == WCACHE_CACHE_ON && s->nonvolatile != WCACHE_YES)
			wc_report_add(
				r, "member-on", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
				"the disk caches writes, and whether the controller hands a flush on to it is unknown");
		break;
	case WCACHE_CONTROLLER_PHYSICAL:
		wc_report_add(r, "raid-policy", WCACHE_SEVERITY_INFO, dev->name, NULL,
			      "a single disk behind %s, whose own policy may undo a change",
			      c->name);
		break;
	case WCACHE_CONTROLLER_PLAIN:
		break;
	case WCACHE_CONTROLLER_ARRAY:
		wc_report_add(r, "storage-array", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
			      "a disk of a storage array: what a flush is worth is decided there");
		break;
	case WCACHE_CONTROLLER_NETWORK:
		wc_report_add(
			r, "network-disk", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
			"a network disk (%s): what a flush is worth is decided on the other side",
			c->row->family);
		break;
	case WCACHE_CONTROLLER_HOST:
		wc_report_add(r, "virtual-disk", WCACHE_SEVERITY_UNKNOWN, dev->name, NULL,
			      "a virtual disk (%s): what a flush is worth is decided by the host",
			      c->row->family);
		break;
	case WCACHE_CONTROLLER_UNKNOWN:
		command = show(c, &caveat);
		wc_report_add(
			r, "controller-unknown", WCACHE_SEVERITY_UNKNOWN, dev->name, command,
			"%s may hide the disks behind it: whether this is a volume cannot be told%s",
			c->name, caveat);
		break;
	}
}
