/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A drive: open it, who it is, which language it speaks, what may be sent. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/backend.h"
#include "raid/raid.h"
#include "transport/capture.h"
#include "transport/exchange.h"
#include "transport/megaraid.h"
#include "transport/sysfs.h"

#define TYPE_DISK 0x00
#define TYPE_RBC 0x0e
#define TYPE_ZBC 0x14
#define MAX_TRIES 4

/* "\x20" of udev's ID_MODEL_ENC to bytes, then no blanks at the ends. */
static char *decode_udev(const char *s)
{
	char *out = strdup(s);
	char *to = out;

	if (!out)
		return NULL;
	while (*s) {
		char hex[3] = "";

		if (s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		    isxdigit((unsigned char)s[3])) {
			memcpy(hex, s + 2, 2);
			*to++ = strtoul(hex, NULL, 16);
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	while (to > out && to[-1] == ' ')
		to--;
	*to = '\0';
	return out;
}

static char *attr_string(struct wcache_device *dev, const char *path)
{
	char v[256];
	ssize_t n = wc_device_attr(dev, path, v, sizeof(v));
	char *start = v;

	if (n <= 0)
		return NULL;
	while (n && v[n - 1] == ' ')
		v[--n] = '\0';
	while (*start == ' ')
		start++;
	return *start ? strdup(start) : NULL;
}

static char *prop_string(struct wcache_device *dev, const char *key)
{
	const char *v = wc_device_prop(dev, key);

	return v && *v ? decode_udev(v) : NULL;
}

/* The first of these sources that has it. A lower-case or slashed name is an attribute. */
static char *first_string(struct wcache_device *dev, const char *const sources[])
{
	for (; *sources; sources++) {
		char *v = isupper((unsigned char)**sources) ? prop_string(dev, *sources)
							    : attr_string(dev, *sources);

		if (v)
			return v;
	}
	return NULL;
}

/* Unit serial number page (SPC-6 7.7.21), as the kernel has cached it. */
static char *unit_serial(struct wcache_device *dev)
{
	uint8_t page[260] = { 0 };
	ssize_t n = wc_device_attr(dev, "device/vpd_pg80", (char *)page, sizeof(page) - 1);
	size_t start = 4, end;

	if (n <= 4 || page[1] != 0x80)
		return NULL;
	end = 4 + (page[2] << 8 | page[3]);
	if (end > (size_t)n)
		end = n;
	while (start < end && page[start] == ' ')
		start++;
	while (end > start && (page[end - 1] == ' ' || !page[end - 1]))
		end--;
	return end > start ? strndup((char *)page + start, end - start) : NULL;
}

/* The kernel's "naa.5000..." as udev writes it. */
static char *scsi_wwn(struct wcache_device *dev)
{
	char *wwid = attr_string(dev, "device/wwid");
	char *wwn;

	if (!wwid || strncmp(wwid, "naa.", 4) || asprintf(&wwn, "0x%s", wwid + 4) < 0)
		wwn = NULL;
	free(wwid);
	return wwn;
}

static bool is_scsi(const struct wcache_device *dev)
{
	return !strncmp(dev->name, "sd", 2) || wc_is_megaraid_name(dev->name);
}

/* A recording made by hand may know less than this machine's sysfs. */
static const char *guess_bus(struct wcache_device *dev)
{
	const char *id_bus = wc_device_prop(dev, "ID_BUS");

	if (!strncmp(dev->name, "nvme", 4))
		return "nvme";
	if (!strncmp(dev->name, "vd", 2))
		return "virtio";
	if (!strncmp(dev->name, "mmcblk", 6))
		return "mmc";
	if (id_bus && !strcmp(id_bus, "ata"))
		return "sata";
	return id_bus ? id_bus : is_scsi(dev) ? "scsi" : NULL;
}

/* A translation layer puts that where the vendor stands (SAT-5 8.2.1). */
static bool is_vendor_ata(const struct wcache_device *dev)
{
	return !strncmp(dev->vendor, "ATA", 3) && (!dev->vendor[3] || dev->vendor[3] == ' ');
}

/* Over USB the vendor's name is lost. */
static bool is_ata(struct wcache_device *dev)
{
	return is_vendor_ata(dev) || (is_scsi(dev) && dev->bus && !strcmp(dev->bus, "usb") &&
				      wc_device_prop(dev, "ID_ATA"));
}

/*
 * What the kernel has in sysfs before what udev has: its record is one more thing to
 * find and to read. INQUIRY cuts an ATA model to 16 characters; udev has asked for it whole.
 */
static void name_it(struct wcache_device *dev)
{
	const bool usb = dev->bus && !strcmp(dev->bus, "usb");
	const bool ata = is_ata(dev);

	dev->model = ata ? first_string(dev, (const char *const[]){ "ID_MODEL_ENC", "device/model",
								    NULL })
			 : first_string(dev, (const char *const[]){ "device/model", "device/name",
								    "ID_MODEL_ENC", NULL });
	dev->firmware =
		first_string(dev, ata ? (const char *const[]){ "ID_REVISION", "device/rev", NULL }
				      : (const char *const[]){ "device/rev", "device/firmware_rev",
							       "ID_REVISION", NULL });
	if (is_scsi(dev) && !ata && !usb) {
		dev->serial = unit_serial(dev);
		dev->wwn = scsi_wwn(dev);
	}
	if (!dev->serial)
		dev->serial = first_string(
			dev, is_scsi(dev) ? (const char *const[]){ "ID_SCSI_SERIAL",
								   "ID_SERIAL_SHORT", NULL }
					  : (const char *const[]){ "device/serial", "serial",
								   "ID_SERIAL_SHORT", NULL });
	if (!dev->wwn)
		dev->wwn = first_string(
			dev, is_scsi(dev) ? (const char *const[]){ "ID_WWN_WITH_EXTENSION",
								   "ID_WWN", "device/wwid", NULL }
					  : (const char *const[]){ "wwid", "device/wwid", "ID_WWN",
								   NULL });
}

static void identify(struct wcache_device *dev)
{
	char v[16];

	dev->bus = wc_device_prop(dev, "bus");
	if (!dev->bus)
		dev->bus = guess_bus(dev);
	dev->driver = prop_string(dev, "driver");
	if (is_scsi(dev) &&
	    wc_device_attr(dev, "device/vendor", dev->vendor, sizeof(dev->vendor)) < 0)
		*dev->vendor = '\0';
	name_it(dev);
	if (wc_device_attr(dev, "queue/rotational", v, sizeof(v)) > 0)
		dev->rotational = *v == '1' ? WCACHE_YES : WCACHE_NO;
	if (wc_device_attr(dev, "removable", v, sizeof(v)) > 0)
		dev->removable = *v == '1';
	if (is_scsi(dev) && wc_device_attr(dev, "device/type", v, sizeof(v)) > 0)
		dev->scsi_type = strtoul(v, NULL, 10);
}

/*
 * The first language to try. Behind USB the vendor's name is lost: ask there too, but
 * not a stick or card reader, which has no ATA drive and may choke on the command.
 */
static const struct wc_backend *choose_backend(const struct wcache_device *dev)
{
	if (dev->bus && !strcmp(dev->bus, "nvme"))
		return &wc_backend_nvme;
	if (dev->bus && !strcmp(dev->bus, "virtio"))
		return &wc_backend_virtio;
	if (!is_scsi(dev))
		return &wc_backend_kernel;
	if (dev->scsi_type != TYPE_RBC && is_vendor_ata(dev))
		return &wc_backend_ata;
	if (dev->bus && !strcmp(dev->bus, "usb") && dev->scsi_type == TYPE_DISK && !dev->removable)
		return &wc_backend_ata;
	return &wc_backend_scsi;
}

int wc_device_new(struct wcache_ctx *ctx, const char *name, struct wc_transport *transport,
		  enum wcache_access access, struct wcache_device **ret)
{
	struct wcache_device *dev = calloc(1, sizeof(*dev));

	if (!dev || strlen(name) >= sizeof(dev->name)) {
		transport->ops->close(transport);
		free(dev);
		return dev ? -EINVAL : -ENOMEM;
	}
	dev->ctx = wcache_ctx_ref(ctx);
	dev->transport = transport;
	dev->access = access;
	strcpy(dev->name, name);
	if (asprintf(&dev->node, "%s%s", wc_is_megaraid_name(name) ? "" : "/dev/", name) < 0) {
		dev->node = NULL;
		wcache_device_close(dev);
		return -ENOMEM;
	}
	/* sysfs writes "!" where a node's name has a slash. */
	for (char *c = dev->node; *c; c++)
		if (*c == '!')
			*c = '/';
	identify(dev);
	if (dev->scsi_type != TYPE_DISK && dev->scsi_type != TYPE_RBC &&
	    dev->scsi_type != TYPE_ZBC) {
		unsigned int type = dev->scsi_type;

		wcache_device_close(dev);
		return wc_ctx_fail(ctx, -ENOTBLK, "%s: SCSI device type %02xh, not a disk", name,
				   type);
	}
	dev->no_registers = wc_device_prop(dev, "no-registers");
	dev->backend = choose_backend(dev);
	dev->controller = wc_controller_new(dev);
	*ret = dev;
	return 0;
}

static void redact(const struct wc_request *rq, uint8_t *data, size_t len)
{
	if (rq->set == WC_NVME_ADMIN)
		wc_nvme_redact(rq, data, len);
	else if (rq->set == WC_SCSI)
		wc_ata_redact(rq, data, len);
}

static int open_replay(struct wcache_ctx *ctx, const char *name, struct wc_transport **ret)
{
	const char *base = strncmp(name, "/dev/", 5) ? name : name + 5;

	for (size_t i = 0; i < ctx->replay->n_devices; i++)
		if (!strcmp(ctx->replay->devices[i].name, base))
			return wc_replay_new(ctx, ctx->replay, &ctx->replay->devices[i], ret);
	return wc_ctx_fail(ctx, -ENOENT, "%s: not in the recording", name);
}

WC_EXPORT int wcache_device_open(struct wcache_ctx *ctx, const char *name,
				 enum wcache_access access, struct wcache_device **ret)
{
	struct wc_transport *t, *recorder;
	char disk[64];
	int err;

	if (access < WCACHE_ACCESS_QUERY || access > WCACHE_ACCESS_CHANGE)
		return -EINVAL;
	*ctx->error = '\0';
	if (ctx->replay) {
		err = open_replay(ctx, name, &t);
		if (err < 0)
			return err;
		snprintf(disk, sizeof(disk), "%s", strncmp(name, "/dev/", 5) ? name : name + 5);
	} else if (wc_is_megaraid_name(name)) {
		err = wc_megaraid_new(ctx, name, &t);
		if (err < 0)
			return err;
		snprintf(disk, sizeof(disk), "%s", name);
	} else {
		err = wc_find_disk(ctx, name, disk, sizeof(disk));
		if (err < 0)
			return err;
		err = wc_node_new(ctx, disk, access > WCACHE_ACCESS_QUERY, &t);
		if (err < 0)
			return wc_ctx_fail(ctx, err, "%s: %s", name, wcache_strerror(err));
	}
	if (ctx->capture) {
		err = wc_capture_wrap(ctx->capture, disk, t, redact, &recorder);
		if (err < 0) {
			t->ops->close(t);
			return err;
		}
		t = recorder;
	}
	return wc_device_new(ctx, disk, t, access, ret);
}

WC_EXPORT void wcache_device_close(struct wcache_device *dev)
{
	if (!dev)
		return;
	dev->transport->ops->close(dev->transport);
	wcache_ctx_unref(dev->ctx);
	wc_controller_free(dev->controller);
	free(dev->node);
	free(dev->driver);
	free(dev->model);
	free(dev->firmware);
	free(dev->serial);
	free(dev->wwn);
	free(dev);
}

static enum wcache_access needed_access(const struct wc_request *rq)
{
	if (rq->set == WC_SCSI)
		return wc_scsi_access(rq);
	return wc_nvme_access(rq);
}

int wc_device_submit(struct wcache_device *dev, const struct wc_request *rq, struct wc_reply *reply)
{
	char line[200];
	int err;

	memset(reply, 0, sizeof(*reply));
	if (needed_access(rq) > dev->access)
		return wc_fail(dev, -EPERM, "the command is beyond what the device was opened for");
	dev->commands++;
	err = dev->transport->ops->submit(dev->transport, rq, reply);
	if (dev->ctx->log_max_level >= WCACHE_LOG_DEBUG) {
		wc_exchange_format_request(rq, line, sizeof(line));
		wc_log(dev->ctx, WCACHE_LOG_DEBUG, "%s: %s: %s", dev->name, line,
		       err < 0 ? wcache_strerror(err) : "answered");
	}
	return err;
}

enum wc_outcome wc_device_scsi(struct wcache_device *dev, struct wc_request *rq,
			       struct wc_reply *reply, struct wc_sense *sense, int *ret_err)
{
	const struct timespec pause = { .tv_nsec = dev->ctx->retry_pause_ms * 1000000L };
	enum wc_outcome outcome;

	for (int tries = 1;; tries++) {
		int err = wc_device_submit(dev, rq, reply);

		outcome = wc_reply_judge(err, reply, sense, ret_err);
		if (sense->valid && sense->key == SENSE_UNIT_ATTENTION)
			dev->attention_at = dev->commands;
		if (outcome != WC_RETRY || tries == MAX_TRIES)
			break;
		/* UNIT ATTENTION is told once; being busy takes a moment. */
		if (pause.tv_nsec && (!sense->valid || sense->key != SENSE_UNIT_ATTENTION))
			nanosleep(&pause, NULL);
	}
	if (outcome != WC_GOOD)
		wc_error_set_sense(dev, sense);
	return outcome == WC_RETRY ? WC_FAILED : outcome;
}

ssize_t wc_device_attr(struct wcache_device *dev, const char *path, char *buf, size_t size)
{
	return dev->transport->ops->attr_get(dev->transport, path, buf, size);
}

int wc_device_attr_set(struct wcache_device *dev, const char *path, const char *value)
{
	int err;

	if (dev->access < WCACHE_ACCESS_CHANGE)
		return -EPERM;
	err = dev->transport->ops->attr_set(dev->transport, path, value);
	wc_log(dev->ctx, WCACHE_LOG_DEBUG, "%s: %s=%s: %s", dev->name, path, value,
	       wcache_strerror(err));
	return err;
}

const char *wc_device_prop(struct wcache_device *dev, const char *key)
{
	return dev->transport->ops->prop_get(dev->transport, key);
}

int wc_device_sync(struct wcache_device *dev)
{
	return dev->transport->ops->sync(dev->transport);
}

void wc_error_clear(struct wcache_device *dev)
{
	memset(&dev->error, 0, sizeof(dev->error));
}

void wc_error_set_sense(struct wcache_device *dev, const struct wc_sense *sense)
{
	struct wcache_error *e = &dev->error;

	wc_error_clear(dev);
	e->has_sense = sense->valid;
	e->key = sense->key;
	e->asc = sense->asc;
	e->ascq = sense->ascq;
	e->has_ata = sense->has_registers;
	e->ata_status = sense->ata_status;
	e->ata_error = sense->ata_error;
}

int wc_fail(struct wcache_device *dev, int err, const char *fmt, ...)
{
	struct wcache_error *e = &dev->error;
	size_t n;
	va_list ap;

	/* A recording that does not fit tells its own story. */
	if (err == -EBADMSG && wcache_ctx_get_error(dev->ctx)) {
		snprintf(e->text, sizeof(e->text), "%s", dev->ctx->error);
		return err;
	}
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	if (e->has_ata)
		snprintf(e->text + n, sizeof(e->text) - n, " (ATA status %02x, error %02x)",
			 e->ata_status, e->ata_error);
	else if (e->has_sense)
		snprintf(e->text + n, sizeof(e->text) - n, " (sense %x/%02x/%02x)", e->key, e->asc,
			 e->ascq);
	else if (e->has_nvme)
		snprintf(e->text + n, sizeof(e->text) - n, " (NVMe status %03xh)", e->nvme_status);
	else if (err == -ETIMEDOUT || err == -ENODEV || err == -ENOMEM)
		snprintf(e->text + n, sizeof(e->text) - n, ": %s", wcache_strerror(err));
	wc_log(dev->ctx, WCACHE_LOG_DEBUG, "%s: %s", dev->name, e->text);
	return err;
}

WC_EXPORT const char *wcache_device_get_name(const struct wcache_device *dev)
{
	return dev->name;
}

WC_EXPORT const char *wcache_device_get_node(const struct wcache_device *dev)
{
	return dev->node;
}

WC_EXPORT const char *wcache_device_get_bus(const struct wcache_device *dev)
{
	return dev->bus;
}

WC_EXPORT const char *wcache_device_get_protocol(const struct wcache_device *dev)
{
	return dev->backend->protocol;
}

WC_EXPORT const char *wcache_device_get_driver(const struct wcache_device *dev)
{
	return dev->driver;
}

WC_EXPORT const char *wcache_device_get_model(const struct wcache_device *dev)
{
	return dev->model;
}

WC_EXPORT const char *wcache_device_get_firmware(const struct wcache_device *dev)
{
	return dev->firmware;
}

WC_EXPORT const char *wcache_device_get_serial(const struct wcache_device *dev)
{
	return dev->serial;
}

WC_EXPORT const char *wcache_device_get_wwn(const struct wcache_device *dev)
{
	return dev->wwn;
}

WC_EXPORT enum wcache_answer wcache_device_get_rotational(const struct wcache_device *dev)
{
	return dev->rotational;
}

WC_EXPORT const struct wcache_error *wcache_device_get_error(const struct wcache_device *dev)
{
	return &dev->error;
}

WC_EXPORT const char *wcache_error_get_text(const struct wcache_error *error)
{
	return error->text;
}

WC_EXPORT int wcache_error_get_sense(const struct wcache_error *error, unsigned char *key,
				     unsigned char *asc, unsigned char *ascq)
{
	if (!error->has_sense)
		return -ENODATA;
	*key = error->key;
	*asc = error->asc;
	*ascq = error->ascq;
	return 0;
}

WC_EXPORT int wcache_error_get_ata(const struct wcache_error *error, unsigned char *status,
				   unsigned char *ata_error)
{
	if (!error->has_ata)
		return -ENODATA;
	*status = error->ata_status;
	*ata_error = error->ata_error;
	return 0;
}

WC_EXPORT int wcache_error_get_nvme(const struct wcache_error *error, unsigned short *status)
{
	if (!error->has_nvme)
		return -ENODATA;
	*status = error->nvme_status;
	return 0;
}
