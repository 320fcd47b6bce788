/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The disks behind a RAID volume, each asked through the controller. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"

static void explain(struct wcache_state *s, int err)
{
	const char *why;

	switch (err) {
	case -EACCES:
	case -EPERM:
		why = "asking the controller for its disks needs root";
		break;
	case -ENOENT:
		why = "there is no known way to ask this controller for its disks";
		break;
	case -ENODEV:
		why = "the controller's driver offers no way to its disks";
		break;
	default:
		snprintf(s->members_reason, sizeof(s->members_reason),
			 "the controller does not tell its disks: %s", wcache_strerror(err));
		return;
	}
	snprintf(s->members_reason, sizeof(s->members_reason), "%s", why);
}

/* What is known of a disk without asking it further. */
static struct wcache_state *unasked(const char *why)
{
	struct wcache_state *s = calloc(1, sizeof(*s));

	if (s)
		wc_state_unknown(s, "%s", why);
	return s;
}

static struct wcache_state *ask(struct wcache_ctx *ctx, struct wc_member *m)
{
	struct wcache_device *dev;
	struct wcache_state *s;
	int err;

	err = wcache_device_open(ctx, m->name, WCACHE_ACCESS_QUERY, &dev);
	if (err < 0)
		return unasked(wcache_strerror(err));
	m->bus = wcache_device_get_bus(dev) ? strdup(wcache_device_get_bus(dev)) : NULL;
	m->model = wcache_device_get_model(dev) ? strdup(wcache_device_get_model(dev)) : NULL;
	err = wcache_state_read(dev, 0, &s);
	if (err < 0)
		s = unasked(wcache_strerror(err));
	wcache_device_close(dev);
	return s;
}

static bool add(struct wcache_ctx *ctx, struct wcache_state *s, const char *name)
{
	const struct wc_member *last;
	struct wc_member *m;

	m = reallocarray(s->members, s->n_members + 1, sizeof(*m));
	if (!m)
		return false;
	last = s->n_members ? &m[s->n_members - 1] : NULL;
	s->members = m;
	m += s->n_members;
	memset(m, 0, sizeof(*m));
	m->name = strdup(name);
	if (!m->name)
		return false;
	/* What does not answer once is left alone: the next may wait as long. */
	if (last && last->state->timed_out)
		m->state = unasked("not asked: another disk of this controller gave no answer");
	else
		m->state = ask(ctx, m);
	if (!m->state) {
		free(m->name);
		free(m->bus);
		free(m->model);
		return false;
	}
	m->state->timed_out |= last && last->state->timed_out;
	s->n_members++;
	return true;
}

int wc_members_read(struct wcache_device *dev, struct wcache_state *s)
{
	char list[8192], *save = NULL;
	const char *word;
	ssize_t n;

	if (!dev->controller ||
	    wcache_controller_get_class(dev->controller) != WCACHE_CONTROLLER_VOLUME)
		return 0;
	n = wc_device_attr(dev, "members", list, sizeof(list));
	if (n < 0) {
		explain(s, n);
		return 0;
	}
	word = strtok_r(list, " ", &save);
	if (!word || (strcmp(word, "volume") && strcmp(word, "controller"))) {
		explain(s, -EBADMSG);
		return 0;
	}
	if (!strcmp(word, "controller"))
		snprintf(s->members_reason, sizeof(s->members_reason),
			 "the controller tells all its disks, and not which are the volume's");
	while ((word = strtok_r(NULL, " ", &save)))
		if (!add(dev->ctx, s, word))
			return -ENOMEM;
	if (!s->n_members)
		snprintf(s->members_reason, sizeof(s->members_reason),
			 "the controller tells of no disk behind it");
	return 0;
}

void wc_members_free(struct wcache_state *s)
{
	for (size_t i = 0; i < s->n_members; i++) {
		free(s->members[i].name);
		free(s->members[i].bus);
		free(s->members[i].model);
		wcache_state_free(s->members[i].state);
	}
	free(s->members);
}

WC_EXPORT size_t wcache_state_get_member_count(const struct wcache_state *s)
{
	return s->n_members;
}

WC_EXPORT const char *wcache_state_get_members_reason(const struct wcache_state *s)
{
	return *s->members_reason ? s->members_reason : NULL;
}

WC_EXPORT const char *wcache_state_get_member_name(const struct wcache_state *s, size_t index)
{
	return index < s->n_members ? s->members[index].name : NULL;
}

WC_EXPORT const char *wcache_state_get_member_bus(const struct wcache_state *s, size_t index)
{
	return index < s->n_members ? s->members[index].bus : NULL;
}

WC_EXPORT const char *wcache_state_get_member_model(const struct wcache_state *s, size_t index)
{
	return index < s->n_members ? s->members[index].model : NULL;
}

WC_EXPORT const struct wcache_state *wcache_state_get_member(const struct wcache_state *s,
							     size_t index)
{
	return index < s->n_members ? s->members[index].state : NULL;
}
