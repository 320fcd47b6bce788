/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answer from a recording. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "exchange.h"

struct replay {
	struct wc_transport t;
	struct wcache_ctx *ctx;
	struct wc_exchange *x;
	struct wc_exchange_device *dev;
	size_t pos; /* events before it have happened */
};

static bool same_nvme(const struct wc_request *a, const struct wc_request *b)
{
	return a->nvme.opcode == b->nvme.opcode && a->nvme.nsid == b->nvme.nsid &&
	       a->nvme.cdw10 == b->nvme.cdw10 && a->nvme.cdw11 == b->nvme.cdw11 &&
	       a->nvme.cdw12 == b->nvme.cdw12 && a->nvme.cdw13 == b->nvme.cdw13 &&
	       a->nvme.cdw14 == b->nvme.cdw14 && a->nvme.cdw15 == b->nvme.cdw15;
}

static bool same_request(const struct wc_event *e, const struct wc_request *rq)
{
	const struct wc_request *want = &e->request;

	if (e->type != WC_EVENT_COMMAND || want->set != rq->set || want->direction != rq->direction)
		return false;
	if (rq->direction != WC_NONE && want->data_len != rq->data_len)
		return false;
	if (rq->direction == WC_OUT && e->data_len &&
	    (e->data_len != rq->data_len || memcmp(e->data, rq->data, rq->data_len)))
		return false;
	if (rq->set == WC_SCSI)
		return want->scsi.cdb_len == rq->scsi.cdb_len &&
		       !memcmp(want->scsi.cdb, rq->scsi.cdb, rq->scsi.cdb_len);
	return same_nvme(want, rq);
}

static bool same_event(const struct wc_event *e, enum wc_event_type type,
		       const struct wc_request *rq, const char *name, const char *value)
{
	if (e->type != type)
		return false;
	if (type == WC_EVENT_COMMAND)
		return same_request(e, rq);
	if (type == WC_EVENT_SET_ATTR)
		return !strcmp(e->name, name) && !strcmp(e->value, value);
	return true;
}

static void describe(char *buf, size_t size, enum wc_event_type type, const struct wc_request *rq,
		     const char *name, const char *value)
{
	if (type == WC_EVENT_COMMAND)
		wc_exchange_format_request(rq, buf, size);
	else if (type == WC_EVENT_SET_ATTR)
		snprintf(buf, size, "set attr %s=%s", name, value);
	else
		snprintf(buf, size, "sync");
}

/* The event that answers a request, or NULL and a sentence in the context. */
static struct wc_event *take(struct replay *r, enum wc_event_type type, const struct wc_request *rq,
			     const char *name, const char *value)
{
	struct wc_event *found = NULL, *next = NULL;
	char got[200], want[200];

	for (size_t i = r->x->any_order ? 0 : r->pos; i < r->dev->n_events; i++) {
		struct wc_event *e = &r->dev->events[i];

		if (e->type == WC_EVENT_ATTR)
			continue;
		if (!next)
			next = e;
		if (same_event(e, type, rq, name, value)) {
			found = e;
			if (!e->used)
				break;
		}
		if (!r->x->any_order)
			break;
	}
	if (found) {
		size_t at = found - r->dev->events;

		found->used = true;
		if (!r->x->any_order || at >= r->pos)
			r->pos = at + 1;
		return found;
	}
	describe(got, sizeof(got), type, rq, name, value);
	if (!next || r->x->any_order) {
		wc_ctx_fail(r->ctx, 0, "%s: the recording has no answer to: %s", r->dev->name, got);
		return NULL;
	}
	describe(want, sizeof(want), next->type, &next->request, next->name, next->value);
	if (!strcmp(got, want))
		wc_ctx_fail(r->ctx, 0, "%s: line %u: other data is sent with: %s", r->dev->name,
			    next->line, got);
	else
		wc_ctx_fail(r->ctx, 0, "%s: line %u expects: %s, but this was sent: %s",
			    r->dev->name, next->line, want, got);
	return NULL;
}

static int replay_submit(struct wc_transport *t, const struct wc_request *rq,
			 struct wc_reply *reply)
{
	struct wc_event *e = take((struct replay *)t, WC_EVENT_COMMAND, rq, NULL, NULL);

	if (!e)
		return -EBADMSG;
	if (e->err)
		return e->err;
	*reply = e->reply;
	if (rq->direction == WC_IN) {
		memset(rq->data, 0, rq->data_len);
		if (e->data_len)
			memcpy(rq->data, e->data, e->data_len);
	}
	return 0;
}

static ssize_t replay_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	struct replay *r = (struct replay *)t;
	const struct wc_event *found = NULL;
	size_t len;

	/* Attributes between here and the next request have their new values now. */
	while (r->pos < r->dev->n_events && r->dev->events[r->pos].type == WC_EVENT_ATTR)
		r->pos++;
	for (size_t i = 0; i < r->pos; i++) {
		const struct wc_event *e = &r->dev->events[i];

		if (e->type == WC_EVENT_ATTR && !fnmatch(path, e->name, FNM_PATHNAME))
			found = e;
		else if (e->type == WC_EVENT_ATTR && !strcmp(path, e->name))
			found = e;
	}
	if (!found)
		return -ENOENT;
	len = found->value_len < size - 1 ? found->value_len : size - 1;
	memcpy(buf, found->value, len);
	buf[len] = '\0';
	return len;
}

static int replay_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	struct wc_event *e = take((struct replay *)t, WC_EVENT_SET_ATTR, NULL, path, value);

	return e ? e->err : -EBADMSG;
}

static const char *replay_prop_get(struct wc_transport *t, const char *key)
{
	const struct wc_exchange_device *d = ((struct replay *)t)->dev;
	size_t len = strlen(key);

	for (size_t i = 0; i < d->n_props; i++)
		if (!strncmp(d->props[i], key, len) && d->props[i][len] == '=')
			return d->props[i] + len + 1;
	return NULL;
}

static int replay_sync(struct wc_transport *t)
{
	struct wc_event *e = take((struct replay *)t, WC_EVENT_SYNC, NULL, NULL, NULL);

	return e ? e->err : -EBADMSG;
}

static void replay_close(struct wc_transport *t)
{
	free(t);
}

static const struct wc_transport_ops replay_ops = {
	.name = "replay",
	.submit = replay_submit,
	.attr_get = replay_attr_get,
	.attr_set = replay_attr_set,
	.prop_get = replay_prop_get,
	.sync = replay_sync,
	.close = replay_close,
};

int wc_replay_new(struct wcache_ctx *ctx, struct wc_exchange *x, struct wc_exchange_device *dev,
		  struct wc_transport **ret)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->t.ops = &replay_ops;
	r->ctx = ctx;
	r->x = x;
	r->dev = dev;
	for (size_t i = 0; i < dev->n_events; i++)
		dev->events[i].used = false;
	*ret = &r->t;
	return 0;
}
