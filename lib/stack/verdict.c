/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers and the states of the drives below them to one verdict. No I/O but in _for_path. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "filesystem.h"
#include "verdict.h"

/* What it costs that no flush comes down to this drive. */
static enum wcache_severity weigh_drive(const struct wcache_state *s)
{
	if (!s || s->cache == WCACHE_CACHE_UNKNOWN)
		return WCACHE_SEVERITY_UNKNOWN;
	if (s->cache == WCACHE_CACHE_ON && s->nonvolatile != WCACHE_YES)
		return WCACHE_SEVERITY_RISK;
	return WCACHE_SEVERITY_INFO;
}

/* The worst of the drives below N; with none known there, it is not known. */
static enum wcache_severity weigh(const struct wcache_stack *s, struct wcache_node *n,
				  const struct wcache_state *const *states)
{
	enum wcache_severity worst = 0;

	for (size_t i = 0; i < s->n_drives; i++) {
		enum wcache_severity w;

		if (!wc_stack_reaches(s, n, s->drives[i]))
			continue;
		w = weigh_drive(states[i]);
		if (w > worst)
			worst = w;
	}
	return worst ? worst : WCACHE_SEVERITY_UNKNOWN;
}

static void judge_drop(struct wcache_report *r, const struct wcache_stack *s, struct wcache_node *n,
		       const struct wcache_state *const *states)
{
	char remedy[1400] = "";
	const char *code = n->mount ? "mount-drops-flushes" : "layer-drops-flushes";

	if (n->in_memory) {
		wc_report_add(r, "not-on-a-drive", WCACHE_SEVERITY_RISK, n->name, NULL,
			      "%s: what it holds is gone with the power", n->reason);
		return;
	}
	if (n->mount && strcmp(n->type, "overlay"))
		wc_filesystem_remedy(n->mount, remedy, sizeof(remedy));
	else if (n->label)
		wc_stack_dm_remedy(n->label, n->is_luks, remedy, sizeof(remedy));
	wc_report_add(r, code, weigh(s, n, states), n->name, *remedy ? remedy : NULL,
		      "%s%s%s%s drops flushes: %s", n->type, n->label ? " (" : "",
		      n->label ? n->label : "", n->label ? ")" : "", n->reason);
}

static void judge_unflushed(struct wcache_report *r, const struct wcache_stack *s,
			    struct wcache_node *n, const struct wcache_state *const *states)
{
	bool needed = weigh(s, n->unflushed, states) > WCACHE_SEVERITY_INFO;
	char remedy[128];

	snprintf(remedy, sizeof(remedy), "wcache-set off /dev/%.64s", n->unflushed->name);
	for (char *p = remedy; *p; p++)
		if (*p == '!') /* cciss!c0d0 */
			*p = '/';
	wc_report_add(r, "journal-apart", needed ? WCACHE_SEVERITY_UNKNOWN : WCACHE_SEVERITY_INFO,
		      n->name, needed ? remedy : NULL, "%s: %s", n->type, n->reason);
}

/* From the bottom: a layer that is mended looks at those below it. */
static void judge_layers(struct wcache_report *r, const struct wcache_stack *s,
			 struct wcache_node *n, const struct wcache_state *const *states)
{
	if (n->judged)
		return;
	n->judged = true;
	for (size_t i = 0; i < n->n_lower; i++)
		judge_layers(r, s, n->lower[i], states);
	/* Of a drive's own queue its rules speak. */
	if (n->is_drive)
		return;
	switch (n->flush) {
	case WCACHE_PASSES_YES:
		return;
	case WCACHE_PASSES_NO:
		judge_drop(r, s, n, states);
		return;
	case WCACHE_PASSES_UNKNOWN:
		break;
	}
	if (n->unflushed) {
		judge_unflushed(r, s, n, states);
		return;
	}
	wc_report_add(r, n->n_lower ? "layer-unknown" : "devices-unknown", WCACHE_SEVERITY_UNKNOWN,
		      n->name, NULL, "%s: %s", n->type, n->reason);
}

WC_EXPORT int wcache_report_new_for_stack(const struct wcache_stack *s,
					  const struct wcache_device *const *devs,
					  const struct wcache_state *const *states,
					  struct wcache_report **ret)
{
	struct wcache_report *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_drives; i++) {
		if (devs[i] && states[i])
			wc_verdict_drive(r, devs[i], states[i]);
		else
			wc_report_add(r, "drive-not-asked", WCACHE_SEVERITY_UNKNOWN,
				      s->drives[i]->name, NULL, "the drive could not be asked");
	}
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i]->judged = false;
	for (size_t i = 0; i < s->n_nodes; i++)
		judge_layers(r, s, s->nodes[i], states);
	for (size_t i = 0; i < s->n_paths; i++)
		if (!s->paths[i].node)
			wc_report_add(r, "path-unresolved", WCACHE_SEVERITY_UNKNOWN,
				      s->paths[i].path, NULL, "what it leads to cannot be found");
	if (r->failed) {
		wcache_report_free(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

WC_EXPORT int wcache_report_new_for_path(struct wcache_ctx *ctx, const char *path,
					 struct wcache_report **ret)
{
	const struct wcache_state **states = NULL;
	const struct wcache_device **devs = NULL;
	struct wcache_stack *s;
	int err = wcache_stack_new(ctx, path, &s);
	size_t n;

	if (err < 0)
		return err;
	n = s->n_drives;
	devs = calloc(n + 1, sizeof(*devs));
	states = calloc(n + 1, sizeof(*states));
	err = devs && states ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < n; i++) {
		struct wcache_device *dev;
		struct wcache_state *state;

		if (wcache_device_open(ctx, s->drives[i]->name, WCACHE_ACCESS_QUERY, &dev) < 0)
			continue;
		devs[i] = dev;
		if (!wcache_state_read(dev, WCACHE_STATE_MEMBERS, &state))
			states[i] = state;
	}
	if (!err)
		err = wcache_report_new_for_stack(s, devs, states, ret);
	for (size_t i = 0; devs && states && i < n; i++) {
		wcache_state_free((struct wcache_state *)states[i]);
		wcache_device_close((struct wcache_device *)devs[i]);
	}
	free(devs);
	free(states);
	wcache_stack_free(s);
	return err;
}
