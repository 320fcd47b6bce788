/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Record what passes through a transport. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "exchange.h"

struct wc_capture {
	FILE *file;
};

/* What was written last for an attribute or a property: only news is recorded. */
struct known {
	char *name;
	char *value;
	size_t len;
};

struct recorder {
	struct wc_transport t;
	struct wc_transport *inner;
	FILE *file;
	wc_redact_fn redact;
	size_t n_known;
	struct known *known;
};

int wc_capture_new(const char *path, struct wc_capture **ret)
{
	struct wc_capture *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->file = fopen(path, "we");
	if (!c->file) {
		err = -errno;
		free(c);
		return err;
	}
	fputs("wcache-exchange 1\n", c->file);
	fflush(c->file);
	*ret = c;
	return 0;
}

void wc_capture_free(struct wc_capture *c)
{
	if (!c)
		return;
	fclose(c->file);
	free(c);
}

static bool identifies_one_drive(const char *name)
{
	static const char *const words[] = { "SERIAL", "WWN",  "serial",   "wwid",    "nguid",
					     "eui",    "uuid", "vpd_pg80", "vpd_pg83" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* True if NAME had another value, or none, in the file up to here. */
static bool is_news(struct recorder *r, const char *name, const char *value, size_t len)
{
	struct known *k = r->known;
	char *copy;
	size_t i;

	for (i = 0; i < r->n_known; i++, k++)
		if (!strcmp(k->name, name))
			break;
	if (i < r->n_known && k->len == len && !memcmp(k->value, value, len))
		return false;
	copy = malloc(len + 1);
	if (!copy)
		return true;
	memcpy(copy, value, len);
	copy[len] = '\0';
	if (i < r->n_known) {
		free(k->value);
	} else {
		k = reallocarray(r->known, r->n_known + 1, sizeof(*k));
		if (!k) {
			free(copy);
			return true;
		}
		r->known = k;
		k += r->n_known;
		k->name = strdup(name);
		if (!k->name) {
			free(copy);
			return true;
		}
		r->n_known++;
	}
	k->value = copy;
	k->len = len;
	return true;
}

static void record_pair(struct recorder *r, const char *kind, const char *name, const char *value,
			size_t len)
{
	if (!is_news(r, name, value, len))
		return;
	fprintf(r->file, "%s %s=", kind, name);
	if (identifies_one_drive(name))
		fputs("BLANKED", r->file);
	else
		wc_exchange_write_value(r->file, value, len);
	fputc('\n', r->file);
}

static void record_data(struct recorder *r, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(r->file, "%s%02x%s", i % 32 ? " " : "= ", data[i],
			i % 32 == 31 || i == len - 1 ? "\n" : "");
}

static void record_command(struct recorder *r, const struct wc_request *rq,
			   const struct wc_reply *reply, int err)
{
	size_t len = rq->direction == WC_NONE ? 0 : rq->data_len;
	char line[256];
	uint8_t *copy;

	wc_exchange_format_request(rq, line, sizeof(line));
	fprintf(r->file, "> %s\n", line);
	if (err < 0) {
		fprintf(r->file, "< errno=%d\n", -err);
	} else if (rq->set == WC_SCSI) {
		fprintf(r->file,
			"< status=%02x host=%02x driver=%02x resid=%d sense=", reply->scsi.status,
			reply->scsi.host, reply->scsi.driver, reply->scsi.resid);
		for (int i = 0; i < reply->scsi.sense_len; i++)
			fprintf(r->file, "%02x", reply->scsi.sense[i]);
		fputc('\n', r->file);
	} else {
		fprintf(r->file, "< status=%04x result=%08x\n", reply->nvme.status,
			reply->nvme.result);
	}
	if (!len || (err < 0 && rq->direction == WC_IN))
		return;
	copy = malloc(len);
	if (!copy)
		return;
	memcpy(copy, rq->data, len);
	if (rq->direction == WC_IN && r->redact)
		r->redact(rq, copy, len);
	record_data(r, copy, len);
	free(copy);
}

static int recorder_submit(struct wc_transport *t, const struct wc_request *rq,
			   struct wc_reply *reply)
{
	struct recorder *r = (struct recorder *)t;
	int err = r->inner->ops->submit(r->inner, rq, reply);

	record_command(r, rq, reply, err);
	fflush(r->file);
	return err;
}

static ssize_t recorder_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	struct recorder *r = (struct recorder *)t;
	ssize_t n = r->inner->ops->attr_get(r->inner, path, buf, size);

	if (n >= 0)
		record_pair(r, "attr", path, buf, n);
	return n;
}

static int recorder_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	struct recorder *r = (struct recorder *)t;
	int err = r->inner->ops->attr_set(r->inner, path, value);

	fprintf(r->file, "> set attr %s=", path);
	wc_exchange_write_value(r->file, value, strlen(value));
	fprintf(r->file, "\n< errno=%d\n", -err);
	fflush(r->file);
	return err;
}

static const char *recorder_prop_get(struct wc_transport *t, const char *key)
{
	struct recorder *r = (struct recorder *)t;
	const char *value = r->inner->ops->prop_get(r->inner, key);

	if (value)
		record_pair(r, "prop", key, value, strlen(value));
	return value;
}

static int recorder_sync(struct wc_transport *t)
{
	struct recorder *r = (struct recorder *)t;
	int err = r->inner->ops->sync(r->inner);

	fprintf(r->file, "> sync\n< errno=%d\n", -err);
	fflush(r->file);
	return err;
}

static void recorder_close(struct wc_transport *t)
{
	struct recorder *r = (struct recorder *)t;

	r->inner->ops->close(r->inner);
	fflush(r->file);
	for (size_t i = 0; i < r->n_known; i++) {
		free(r->known[i].name);
		free(r->known[i].value);
	}
	free(r->known);
	free(r);
}

static const struct wc_transport_ops recorder_ops = {
	.name = "capture",
	.submit = recorder_submit,
	.attr_get = recorder_attr_get,
	.attr_set = recorder_attr_set,
	.prop_get = recorder_prop_get,
	.sync = recorder_sync,
	.close = recorder_close,
};

int wc_capture_wrap(struct wc_capture *c, const char *device, struct wc_transport *inner,
		    wc_redact_fn redact, struct wc_transport **ret)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->t.ops = &recorder_ops;
	r->inner = inner;
	r->file = c->file;
	r->redact = redact;
	fprintf(c->file, "device %s\n", device);
	*ret = &r->t;
	return 0;
}
