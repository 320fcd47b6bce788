/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated drive's cache, its power, and its NVMe commands. */
#include <stdlib.h>
#include <string.h>

#include "drive.h"

struct sim_drive *sim_new(const struct sim_personality *p, size_t sectors, const char *serial)
{
	struct sim_drive *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	d->p = p;
	d->sectors = sectors;
	d->medium = calloc(sectors, SIM_SECTOR);
	d->cache = calloc(sectors, SIM_SECTOR);
	d->dirty = calloc(sectors, sizeof(*d->dirty));
	if (!d->medium || !d->cache || !d->dirty)
		abort();
	d->default_wce = d->saved_wce = d->wce = !p->starts_off;
	d->sct = 1;
	strncpy(d->serial, serial, sizeof(d->serial) - 1);
	return d;
}

void sim_free(struct sim_drive *d)
{
	if (!d)
		return;
	free(d->medium);
	free(d->cache);
	free(d->dirty);
	free(d);
}

enum sim_fault_kind sim_fault_now(const struct sim_drive *d)
{
	const struct sim_fault *f = &d->fault;

	if (!f->step || (f->for_good ? d->steps < f->step : d->steps != f->step))
		return SIM_FAULT_NONE;
	return f->kind;
}

bool sim_caches(const struct sim_drive *d)
{
	if (d->p->attach == SIM_NVME && !(d->p->vwc & 1))
		return false;
	if (d->sct != 1)
		return d->sct == 2;
	return d->wce;
}

static void write_out(struct sim_drive *d)
{
	for (size_t i = 0; i < d->sectors; i++)
		if (d->dirty[i])
			memcpy(d->medium + i * SIM_SECTOR, d->cache + i * SIM_SECTOR, SIM_SECTOR);
	memset(d->dirty, 0, d->sectors * sizeof(*d->dirty));
}

/* A drive that forgets that its cache is on must not forget what is in it. */
void sim_reset(struct sim_drive *d)
{
	if (d->wce && !d->saved_wce)
		write_out(d);
	d->wce = d->saved_wce;
}

void sim_power_cut(struct sim_drive *d)
{
	memset(d->dirty, 0, d->sectors * sizeof(*d->dirty));
	d->wce = d->saved_wce;
	if (!d->sct_preserved)
		d->sct = 1;
	d->gone = false;
	d->standby = false;
}

void sim_write(struct sim_drive *d, size_t sector, const uint8_t *data)
{
	bool cached = sim_caches(d);

	if (sector >= d->sectors || d->gone)
		return;
	d->standby = false;
	memcpy((cached ? d->cache : d->medium) + sector * SIM_SECTOR, data, SIM_SECTOR);
	d->dirty[sector] = cached;
}

void sim_read(struct sim_drive *d, size_t sector, uint8_t *data)
{
	if (sector < d->sectors)
		memcpy(data, (d->dirty[sector] ? d->cache : d->medium) + sector * SIM_SECTOR,
		       SIM_SECTOR);
}

static bool has_flush(const struct sim_drive *d)
{
	if (d->p->attach == SIM_NVME || d->p->sat)
		return true;
	return !d->p->no_sync_10 || !d->p->no_sync_16;
}

bool sim_flush(struct sim_drive *d)
{
	if (d->p->dies_of_sync)
		d->gone = true;
	if (d->gone || !has_flush(d))
		return false;
	d->flushes++;
	write_out(d);
	return true;
}

/*
 * Turning the cache off leaves what is in it to the next flush, which is the worst
 * that a drive may do; one that has no flush command writes it out.
 */
bool sim_set_wce(struct sim_drive *d, bool on, bool save)
{
	if (d->p->not_changeable && on != d->wce)
		return false;
	if (d->p->ignores_change)
		return true;
	if (!on && d->wce && !has_flush(d))
		write_out(d);
	d->wce = on;
	if (save)
		d->saved_wce = on;
	return true;
}

enum {
	ADMIN_IDENTIFY = 0x06,
	ADMIN_SET_FEATURES = 0x09,
	ADMIN_GET_FEATURES = 0x0a,
	STATUS_INVALID_OPCODE = 0x001,
	STATUS_INVALID_FIELD = 0x002,
	STATUS_INTERNAL = 0x006,
};

static uint16_t nvme_identify(struct sim_drive *d, uint32_t cns, uint8_t *in, size_t len)
{
	if (cns != 1 || len != 4096)
		return STATUS_INVALID_FIELD;
	memset(in, 0, len);
	in[0] = 0x86;
	in[1] = 0x80;
	memset(in + 4, ' ', 60);
	memcpy(in + 4, d->serial, strlen(d->serial));
	memcpy(in + 24, d->p->product, strlen(d->p->product));
	in[520] = d->p->save_select ? 1 << 4 : 0;
	in[525] = d->p->vwc;
	return 0;
}

static uint16_t nvme_get(struct sim_drive *d, uint32_t cdw10, uint32_t *result)
{
	unsigned int sel = cdw10 >> 8 & 7;

	if ((cdw10 & 0xff) != 6 || !(d->p->vwc & 1) || (sel && !d->p->save_select))
		return STATUS_INVALID_FIELD;
	switch (sel) {
	case 0:
		*result = d->wce;
		return 0;
	case 1:
		*result = d->default_wce;
		return 0;
	case 2:
		*result = d->saved_wce;
		return 0;
	case 3:
		*result = 5; /* saveable, changeable */
		return 0;
	}
	return STATUS_INVALID_FIELD;
}

static uint16_t nvme_set(struct sim_drive *d, uint32_t nsid, uint32_t cdw10, uint32_t cdw11)
{
	bool save = cdw10 >> 31;

	if ((cdw10 & 0xff) != 6 || !(d->p->vwc & 1) || (save && !d->p->save_select))
		return STATUS_INVALID_FIELD;
	if (nsid)
		return 0x10f; /* feature not namespace specific */
	sim_set_wce(d, cdw11 & 1, save);
	return 0;
}

bool sim_nvme(struct sim_drive *d, bool admin, uint8_t opcode, uint32_t nsid, uint32_t cdw10,
	      uint32_t cdw11, uint8_t *in, size_t in_len, uint16_t *status, uint32_t *result)
{
	enum sim_fault_kind kind;
	bool skip = false;

	d->steps++;
	kind = sim_fault_now(d);
	*status = 0;
	*result = 0;
	switch (kind) {
	case SIM_FAULT_GONE:
		d->gone = true;
		return false;
	case SIM_FAULT_TIMEOUT:
		return false;
	case SIM_FAULT_ZEROS:
	case SIM_FAULT_IGNORED:
		skip = true;
		break;
	case SIM_FAULT_NONE:
	case SIM_FAULT_TIMEOUT_DONE:
		break;
	case SIM_FAULT_RESET:
		sim_reset(d);
		*status = STATUS_INTERNAL;
		return true;
	case SIM_FAULT_MODE_CHANGED:
		sim_set_wce(d, true, false);
		break;
	default:
		*status = STATUS_INTERNAL;
		return true;
	}
	if (d->gone)
		return false;
	if (skip) {
		d->change_ignored = admin && opcode == ADMIN_SET_FEATURES;
		if (in)
			memset(in, 0, in_len);
		return true;
	}
	if (!admin && opcode == 0)
		*status = sim_flush(d) ? 0 : STATUS_INTERNAL;
	else if (admin && opcode == ADMIN_IDENTIFY)
		*status = nvme_identify(d, cdw10 & 0xff, in, in_len);
	else if (admin && opcode == ADMIN_GET_FEATURES)
		*status = nvme_get(d, cdw10, result);
	else if (admin && opcode == ADMIN_SET_FEATURES) {
		d->changes++;
		*status = nvme_set(d, nsid, cdw10, cdw11);
	} else
		*status = STATUS_INVALID_OPCODE;
	return kind != SIM_FAULT_TIMEOUT_DONE;
}
