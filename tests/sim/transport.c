/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated drive in process, under a model of the kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

#define SECTORS 8

/* Does sd see the setting by itself? Over USB it asks nothing that tells. */
static bool visible_wce(const struct sim_kernel *k)
{
	const struct sim_drive *d = k->drive;

	if (d->p->attach == SIM_USB || d->p->no_mode_page || d->p->mode_clips || d->gone)
		return false;
	return sim_caches(d);
}

void sim_kernel_revalidate(struct sim_kernel *k)
{
	k->revalidate = false;
	if (!k->override && k->drive->p->attach != SIM_NVME)
		k->write_back = visible_wce(k);
}

static void settle(struct sim_kernel *k)
{
	if (k->revalidate)
		sim_kernel_revalidate(k);
}

static void meanwhile(struct sim_kernel *k)
{
	if (k->meanwhile)
		k->meanwhile(k->data);
}

static bool is_successful_set_features(const uint8_t *cdb, const struct sim_reply *r)
{
	uint8_t command = cdb[0] == 0x85 ? cdb[14] : cdb[0] == 0xa1 ? cdb[9] : 0;
	const bool fixed = (r->sense[0] & 0x7f) == 0x70;
	uint8_t status = fixed ? r->sense[9] : r->sense[21]; /* ERR, DF */

	return command == 0xef && !r->host && !r->timed_out &&
	       (r->status == 0 ||
		((fixed ? r->sense[2] : r->sense[1]) == 0x01 && !(status & 0x21)));
}

static bool was_reset(const struct sim_reply *r)
{
	return r->status == 0x02 && r->sense[0] == 0x70 && (r->sense[2] & 0x0f) == 0x06;
}

static int submit_scsi(struct sim_kernel *k, const struct wc_request *rq, struct wc_reply *reply)
{
	struct sim_reply r;

	sim_scsi(k->drive, rq->scsi.cdb, rq->direction == WC_OUT ? rq->data : NULL,
		 rq->direction == WC_OUT ? rq->data_len : 0,
		 rq->direction == WC_IN ? rq->data : NULL,
		 rq->direction == WC_IN ? rq->data_len : 0, &r);
	/* libata looks again after it (ata_scsi_qc_complete()) and after a reset (libata-eh.c). */
	if (k->drive->p->attach == SIM_LIBATA &&
	    (is_successful_set_features(rq->scsi.cdb, &r) || was_reset(&r)))
		k->revalidate = true;
	reply->scsi.status = r.status;
	reply->scsi.host = r.timed_out ? 0x03 : r.host;
	if (rq->direction == WC_IN)
		reply->scsi.resid = rq->data_len - r.moved;
	memcpy(reply->scsi.sense, r.sense, r.sense_len);
	reply->scsi.sense_len = r.sense_len;
	return 0;
}

static int sim_submit(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply)
{
	struct sim_kernel *k = (struct sim_kernel *)t;
	int err = 0;

	settle(k);
	memset(reply, 0, sizeof(*reply));
	if ((rq->set == WC_SCSI) != (k->drive->p->attach != SIM_NVME))
		return -ENOTTY;
	if (rq->set == WC_SCSI)
		err = submit_scsi(k, rq, reply);
	else if (!sim_nvme(k->drive, rq->set == WC_NVME_ADMIN, rq->nvme.opcode, rq->nvme.nsid,
			   rq->nvme.cdw10, rq->nvme.cdw11, rq->data, rq->data_len,
			   &reply->nvme.status, &reply->nvme.result))
		err = k->drive->gone ? -ENODEV : -ETIMEDOUT;
	meanwhile(k);
	return err;
}

static ssize_t text(char *buf, size_t size, const char *value)
{
	snprintf(buf, size, "%s", value);
	return strlen(buf);
}

static ssize_t sim_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	struct sim_kernel *k = (struct sim_kernel *)t;
	const struct sim_personality *p = k->drive->p;
	const bool sd = p->attach != SIM_NVME;
	struct sim_reply r;
	char number[8];

	settle(k);
	if (k->drive->gone)
		return -ENODEV;
	if (!strcmp(path, "queue/write_cache"))
		return text(buf, size, k->write_back ? "write back" : "write through");
	if (!strcmp(path, "queue/fua"))
		return text(buf, size, "0");
	if (!strcmp(path, "queue/rotational"))
		return text(buf, size, "1");
	if (!strcmp(path, "removable"))
		return text(buf, size, "0");
	if (!strcmp(path, "device/model"))
		return text(buf, size, p->product);
	if (!strcmp(path, "nsid") && !sd)
		return text(buf, size, "1");
	if (!sd)
		return -ENOENT;
	if (!strcmp(path, "device/vendor"))
		return text(buf, size, p->vendor);
	if (!strcmp(path, "device/type")) {
		snprintf(number, sizeof(number), "%u", p->type);
		return text(buf, size, number);
	}
	if (!strcmp(path, "device/scsi_disk/*/cache_type"))
		return text(buf, size, k->write_back ? "write back" : "write through");
	if (!strcmp(path, "device/vpd_pg0") && p->attach != SIM_USB) {
		/* read when the disk appeared, not now */
		struct sim_fault fault = k->drive->fault;
		const uint8_t cdb[6] = { 0x12, 1, 0, 0, 0xff };

		memset(&k->drive->fault, 0, sizeof(fault));
		sim_scsi(k->drive, cdb, NULL, 0, (uint8_t *)buf, size - 1, &r);
		k->drive->steps--;
		k->drive->fault = fault;
		buf[r.moved] = '\0';
		return r.moved;
	}
	return -ENOENT;
}

/* The kernel's own MODE SELECT: SP where the page has PS (sd.c cache_type_store()). */
static int store_cache_type(struct sim_kernel *k, const char *value)
{
	const struct sim_personality *p = k->drive->p;
	const char *plain = strncmp(value, "temporary ", 10) ? value : strchr(value, ' ') + 1;
	bool wce = !strcmp(plain, "write back");

	if (!wce && strcmp(plain, "write through"))
		return -EINVAL;
	if (plain != value) {
		k->override = true;
		k->write_back = wce;
		return 0;
	}
	k->override = false;
	if (p->attach == SIM_USB || p->no_mode_page || p->select_refused ||
	    !sim_set_wce(k->drive, wce, p->ps))
		return -EINVAL;
	sim_kernel_revalidate(k);
	return 0;
}

static int do_attr_set(struct sim_kernel *k, const char *path, const char *value)
{
	const bool sd = k->drive->p->attach != SIM_NVME;

	k->writes++;
	if (k->drive->gone)
		return -ENODEV;
	if (sd && !strcmp(path, "device/scsi_disk/*/cache_type"))
		return store_cache_type(k, value);
	if (sd && !strcmp(path, "device/rescan")) {
		sim_kernel_revalidate(k);
		return 0;
	}
	if (!strcmp(path, "queue/write_cache")) {
		/* only where the driver has said that there is a cache (QUEUE_FLAG_HW_WC) */
		if (!strcmp(value, "write back") &&
		    !(k->drive->p->attach == SIM_NVME && k->drive->p->vwc & 1))
			return -EINVAL;
		k->write_back = !strcmp(value, "write back");
		return 0;
	}
	return -ENOENT;
}

/* A write to sysfs is an exchange too: it can fail like one. */
static int sim_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	struct sim_kernel *k = (struct sim_kernel *)t;
	struct sim_drive *d = k->drive;
	int err;

	settle(k);
	d->steps++;
	switch (sim_fault_now(d)) {
	case SIM_FAULT_RESET:
		sim_reset(d);
		k->revalidate = k->drive->p->attach == SIM_LIBATA;
		err = do_attr_set(k, path, value);
		break;
	case SIM_FAULT_MODE_CHANGED:
		sim_set_wce(d, true, false);
		err = do_attr_set(k, path, value);
		break;
	case SIM_FAULT_NONE:
	case SIM_FAULT_TIMEOUT_DONE:
		err = do_attr_set(k, path, value);
		break;
	case SIM_FAULT_GONE:
		d->gone = true;
		err = -ENODEV;
		break;
	default:
		err = d->gone ? -ENODEV : -EIO;
	}
	meanwhile(k);
	return err;
}

static const char *sim_prop_get(struct wc_transport *t, const char *key)
{
	static const char *const bus[] = {
		[SIM_LIBATA] = "sata", [SIM_SCSI] = "sas", [SIM_USB] = "usb", [SIM_NVME] = "nvme"
	};

	return strcmp(key, "bus") ? NULL : bus[((struct sim_kernel *)t)->drive->p->attach];
}

static int sim_sync(struct wc_transport *t)
{
	struct sim_kernel *k = (struct sim_kernel *)t;

	settle(k);
	return k->write_back && !sim_flush(k->drive) ? -EIO : 0;
}

static void sim_close(struct wc_transport *t)
{
}

static const struct wc_transport_ops sim_ops = {
	.name = "simulated",
	.submit = sim_submit,
	.attr_get = sim_attr_get,
	.attr_set = sim_attr_set,
	.prop_get = sim_prop_get,
	.sync = sim_sync,
	.close = sim_close,
};

struct sim_kernel *sim_kernel_new(const struct sim_personality *p)
{
	struct sim_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	k->t.ops = &sim_ops;
	k->drive = sim_new(p, SECTORS, "SIM00001");
	if (p->attach == SIM_NVME)
		k->write_back = p->vwc & 1;
	else
		sim_kernel_revalidate(k);
	return k;
}

void sim_kernel_free(struct sim_kernel *k)
{
	sim_free(k->drive);
	free(k);
}

struct wc_transport *sim_kernel_transport(struct sim_kernel *k)
{
	return &k->t;
}

bool sim_kernel_write_fsync(struct sim_kernel *k, size_t sector, const uint8_t *data)
{
	settle(k);
	if (k->drive->gone)
		return false;
	sim_write(k->drive, sector, data);
	return k->write_back ? sim_flush(k->drive) : true;
}
