/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts to durable or not, and why. No I/O. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

void wc_report_add(struct wcache_report *r, const char *code, enum wcache_severity severity,
		   const char *device, const char *remedy, const char *fmt, ...)
{
	struct wcache_finding *f;
	va_list ap;
	size_t at = 0;
	int n;

	f = reallocarray(r->findings, r->n_findings + 1, sizeof(*f));
	if (!f) {
		r->failed = true;
		return;
	}
	r->findings = f;
	/* worst first, otherwise in the order found */
	while (at < r->n_findings && f[at].severity >= severity)
		at++;
	memmove(f + at + 1, f + at, (r->n_findings - at) * sizeof(*f));
	r->n_findings++;
	f += at;
	f->code = code;
	f->severity = severity;
	f->device = strdup(device);
	f->remedy = NULL;
	if (remedy)
		f->remedy = strdup(remedy);
	va_start(ap, fmt);
	n = vasprintf(&f->text, fmt, ap);
	va_end(ap);
	if (n < 0)
		f->text = NULL;
	if (!f->device || !f->text || (remedy && !f->remedy))
		r->failed = true;
}

struct rule {
	const char *code;
	enum wcache_severity severity;
	bool (*applies)(const struct wcache_device *dev, const struct wcache_state *s);
	const char *text;
	const char *remedy; /* a command; the device node follows */
};

static bool deadly_pair(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_ON && s->kernel == WCACHE_KERNEL_WRITE_THROUGH &&
	       s->nonvolatile != WCACHE_YES;
}

static bool cache_unknown(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_UNKNOWN;
}

static bool cache_unreported(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->unreported;
}

static bool kernel_unknown(const struct wcache_device *dev, const struct wcache_state *s)
{
	/* The kernel knows nothing of a disk behind a volume: that is not the question there. */
	return s->cache == WCACHE_CACHE_ON && s->kernel == WCACHE_KERNEL_UNKNOWN &&
	       !wc_is_behind_controller(dev);
}

static bool no_flush_command(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_ON && !s->flush_advertised;
}

/* One whose driver is not known; else raid/verdict.c says it. */
static bool virtual_disk(const struct wcache_device *dev, const struct wcache_state *s)
{
	return dev->bus && !strcmp(dev->bus, "virtio") && !dev->controller;
}

static bool promised_nonvolatile(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_ON && s->nonvolatile == WCACHE_YES;
}

static bool needless_flushes(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->cache == WCACHE_CACHE_OFF && s->kernel == WCACHE_KERNEL_WRITE_BACK;
}

static bool sct_rules(const struct wcache_device *dev, const struct wcache_state *s)
{
	return s->sct >= WCACHE_SCT_FORCED_ON;
}

static const struct rule rules[] = {
	{ "drive-on-kernel-write-through", WCACHE_SEVERITY_RISK, deadly_pair,
	  "the drive caches writes, and the kernel believes that it does not: fsync sends no flush",
	  "wcache-set on " },
	{ "cache-unknown", WCACHE_SEVERITY_UNKNOWN, cache_unknown,
	  "whether the drive caches writes is unknown", NULL },
	{ "cache-unreported", WCACHE_SEVERITY_UNKNOWN, cache_unreported,
	  "the drive is too old to report whether it has a write cache", NULL },
	{ "kernel-unknown", WCACHE_SEVERITY_UNKNOWN, kernel_unknown,
	  "the drive caches writes, and whether the kernel sends flushes is unknown",
	  "wcache-set off " },
	{ "flush-not-advertised", WCACHE_SEVERITY_UNKNOWN, no_flush_command,
	  "the drive caches writes and advertises no command that flushes them",
	  "wcache-set off " },
	{ "virtual-disk", WCACHE_SEVERITY_UNKNOWN, virtual_disk,
	  "a virtual disk: what a flush is worth is decided by the host", NULL },
	{ "nonvolatile-promised", WCACHE_SEVERITY_INFO, promised_nonvolatile,
	  "the drive says that its write cache survives a power cut", NULL },
	{ "needless-flushes", WCACHE_SEVERITY_INFO, needless_flushes,
	  "the drive's write cache is off, and the kernel goes on sending flushes: safe, a little slower",
	  NULL },
	{ "sct-rules", WCACHE_SEVERITY_INFO, sct_rules,
	  "SCT Feature Control rules the write cache: SET FEATURES and hdparm -W have no effect",
	  NULL },
};

void wc_verdict_drive(struct wcache_report *r, const struct wcache_device *dev,
		      const struct wcache_state *s)
{
	char remedy[128];

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const struct rule *rule = &rules[i];
		const char *reason = rule->applies == cache_unknown ? s->reason : "";

		if (!rule->applies(dev, s))
			continue;
		snprintf(remedy, sizeof(remedy), "%s%s", rule->remedy ? rule->remedy : "",
			 dev->node);
		wc_report_add(r, rule->code, rule->severity, dev->name,
			      rule->remedy ? remedy : NULL, "%s%s%s", rule->text,
			      *reason ? ": " : "", reason);
	}
	if (dev->controller)
		wc_verdict_controller(r, dev, s);
}

WC_EXPORT int wcache_report_new(const struct wcache_device *dev, const struct wcache_state *state,
				struct wcache_report **ret)
{
	struct wcache_report *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	wc_verdict_drive(r, dev, state);
	if (r->failed) {
		wcache_report_free(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

WC_EXPORT void wcache_report_free(struct wcache_report *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_findings; i++) {
		free(r->findings[i].device);
		free(r->findings[i].text);
		free(r->findings[i].remedy);
	}
	free(r->findings);
	free(r);
}

WC_EXPORT enum wcache_verdict wcache_report_get_verdict(const struct wcache_report *r)
{
	if (!r->n_findings)
		return WCACHE_VERDICT_DURABLE;
	switch (r->findings[0].severity) {
	case WCACHE_SEVERITY_RISK:
		return WCACHE_VERDICT_AT_RISK;
	case WCACHE_SEVERITY_UNKNOWN:
		return WCACHE_VERDICT_UNKNOWN;
	case WCACHE_SEVERITY_INFO:
		break;
	}
	return WCACHE_VERDICT_DURABLE;
}

WC_EXPORT size_t wcache_report_get_finding_count(const struct wcache_report *r)
{
	return r->n_findings;
}

WC_EXPORT const struct wcache_finding *wcache_report_get_finding(const struct wcache_report *r,
								 size_t index)
{
	return index < r->n_findings ? &r->findings[index] : NULL;
}

WC_EXPORT const char *wcache_finding_get_code(const struct wcache_finding *f)
{
	return f->code;
}

WC_EXPORT enum wcache_severity wcache_finding_get_severity(const struct wcache_finding *f)
{
	return f->severity;
}

WC_EXPORT const char *wcache_finding_get_device(const struct wcache_finding *f)
{
	return f->device;
}

WC_EXPORT const char *wcache_finding_get_text(const struct wcache_finding *f)
{
	return f->text;
}

WC_EXPORT const char *wcache_finding_get_remedy(const struct wcache_finding *f)
{
	return f->remedy;
}

WC_EXPORT const char *wcache_verdict_to_string(enum wcache_verdict verdict)
{
	switch (verdict) {
	case WCACHE_VERDICT_DURABLE:
		return "durable";
	case WCACHE_VERDICT_AT_RISK:
		return "at-risk";
	case WCACHE_VERDICT_UNKNOWN:
		break;
	}
	return "unknown";
}

WC_EXPORT const char *wcache_severity_to_string(enum wcache_severity severity)
{
	switch (severity) {
	case WCACHE_SEVERITY_INFO:
		return "info";
	case WCACHE_SEVERITY_RISK:
		return "risk";
	case WCACHE_SEVERITY_UNKNOWN:
		break;
	}
	return "unknown";
}
