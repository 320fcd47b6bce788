/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated drive's SCSI side, strict where targets are strict. */
#include <string.h>

#include "drive.h"

#define PAGE_LEN 20 /* of the Caching mode page */
#define RBC_LEN 13

void sim_sense(struct sim_reply *r, bool descriptor, uint8_t key, uint8_t asc, uint8_t ascq)
{
	memset(r->sense, 0, sizeof(r->sense));
	r->status = 0x02;
	if (descriptor) {
		r->sense[0] = 0x72;
		r->sense[1] = key;
		r->sense[2] = asc;
		r->sense[3] = ascq;
		r->sense_len = 8;
		return;
	}
	r->sense[0] = 0x70;
	r->sense[2] = key;
	r->sense[7] = 10;
	r->sense[12] = asc;
	r->sense[13] = ascq;
	r->sense_len = 18;
}

static void reply_data(struct sim_reply *r, uint8_t *in, size_t in_len, const uint8_t *data,
		       size_t len, size_t allocation)
{
	if (len > allocation)
		len = allocation;
	if (len > in_len)
		len = in_len;
	if (in)
		memcpy(in, data, len);
	r->moved = len;
}

static void copy_padded(uint8_t *to, const char *from, size_t len)
{
	memset(to, ' ', len);
	memcpy(to, from, strnlen(from, len));
}

static void inquiry(struct sim_drive *d, const uint8_t *cdb, uint8_t *in, size_t in_len,
		    struct sim_reply *r)
{
	size_t allocation = cdb[3] << 8 | cdb[4];
	uint8_t data[700] = { d->p->type };
	size_t len = 4;

	if (!(cdb[1] & 1)) {
		data[2] = 6;
		data[3] = 2;
		data[4] = 31;
		copy_padded(data + 8, d->p->vendor, 8);
		copy_padded(data + 16, d->p->product, 16);
		copy_padded(data + 32, "1.0", 4);
		reply_data(r, in, in_len, data, 36, allocation);
		return;
	}
	data[1] = cdb[2];
	switch (cdb[2]) {
	case 0x00:
		data[len++] = 0x00;
		data[len++] = 0x80;
		data[len++] = 0x83;
		if (d->p->has_vpd86)
			data[len++] = 0x86;
		if (d->p->sat == SIM_SAT_16)
			data[len++] = 0x89;
		break;
	case 0x80:
		copy_padded(data + 4, d->serial, strlen(d->serial));
		len += strlen(d->serial);
		break;
	case 0x83:
		/* T10 vendor identification, ASCII */
		data[4] = 0x02;
		data[5] = 0x01;
		data[7] = 8 + strlen(d->serial);
		copy_padded(data + 8, d->p->vendor, 8);
		memcpy(data + 16, d->serial, strlen(d->serial));
		len += 4 + data[7];
		break;
	case 0x86:
		if (!d->p->has_vpd86)
			goto refused;
		data[6] = d->p->vpd86;
		len = 64;
		break;
	case 0x89:
		if (d->p->sat != SIM_SAT_16)
			goto refused;
		copy_padded(data + 8, "SIM", 8);
		copy_padded(data + 16, "SATL", 16);
		copy_padded(data + 32, "1.0", 4);
		data[56] = 0xec;
		sim_identify(d, data + 60);
		len = 572;
		break;
	default:
		goto refused;
	}
	data[2] = (len - 4) >> 8;
	data[3] = (len - 4) & 0xff;
	reply_data(r, in, in_len, data, len, allocation);
	return;
refused:
	sim_sense(r, false, 0x05, 0x24, 0x00);
}

/* The page as page control PC has it. */
static size_t make_page(const struct sim_drive *d, unsigned int pc, uint8_t *page)
{
	bool rbc = d->p->type == 0x0e;
	bool wce = pc == 0 ? sim_caches(d) : pc == 2 ? d->default_wce : d->saved_wce;

	memset(page, 0, PAGE_LEN);
	page[0] = (rbc ? 0x06 : 0x08) | (d->p->ps ? 0x80 : 0);
	page[1] = (rbc ? RBC_LEN : PAGE_LEN) - 2;
	if (pc == 1)
		page[2] = d->p->not_changeable ? 0 : rbc ? 0x01 : 0x04;
	else if (rbc)
		page[2] = wce ? 0 : 0x01;
	else
		page[2] = 0x10 | (wce ? 0x04 : 0);
	if (!rbc && pc != 1) {
		page[4] = page[5] = page[8] = page[9] = page[10] = page[11] = 0xff;
		page[12] = 0x80;
	}
	return rbc ? RBC_LEN : PAGE_LEN;
}

static void mode_sense(struct sim_drive *d, const uint8_t *cdb, uint8_t *in, size_t in_len,
		       struct sim_reply *r)
{
	const bool six = cdb[0] == 0x1a;
	const unsigned int pc = cdb[2] >> 6;
	const uint8_t code = cdb[2] & 0x3f;
	const uint8_t own = d->p->type == 0x0e ? 0x06 : 0x08;
	size_t allocation = six ? cdb[4] : (size_t)(cdb[7] << 8 | cdb[8]);
	size_t header = six ? 4 : 8;
	uint8_t data[64] = { 0 };
	size_t len = header;
	size_t total;

	if (d->p->mode_six_only && !six) {
		sim_sense(r, false, 0x05, 0x20, 0x00);
		return;
	}
	if ((d->p->no_dbd && cdb[1] & 0x08) || cdb[3] || (pc == 3 && !d->p->ps)) {
		sim_sense(r, false, 0x05, pc == 3 ? 0x39 : 0x24, 0x00);
		return;
	}
	if (!(cdb[1] & 0x08)) {
		data[len + 3] = d->sectors & 0xff; /* short block descriptor, SBC-4 6.5.2.2 */
		data[len + 2] = d->sectors >> 8 & 0xff;
		data[len + 6] = SIM_SECTOR >> 8;
		data[six ? 3 : 7] = 8;
		len += 8;
	}
	data[six ? 2 : 3] = 0x10; /* DPOFUA */
	if (!d->p->no_mode_page) {
		if (code != own && code != 0x3f) {
			sim_sense(r, false, 0x05, 0x24, 0x00);
			return;
		}
		len += make_page(d, pc, data + len);
	} else if (!(cdb[1] & 0x08)) {
		len -= 8;
		data[six ? 3 : 7] = 0;
	}
	total = d->p->mode_clips && allocation < len ? allocation : len;
	if (six) {
		data[0] = total - 1;
	} else {
		data[0] = (total - 2) >> 8;
		data[1] = (total - 2) & 0xff;
	}
	reply_data(r, in, in_len, data, len, allocation);
}

/* SPC-6 6.14: what a target may insist on, this one does. */
static void mode_select(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
			struct sim_reply *r)
{
	const bool six = cdb[0] == 0x15;
	size_t length = six ? cdb[4] : (size_t)(cdb[7] << 8 | cdb[8]);
	size_t header = six ? 4 : 8;
	uint8_t now[PAGE_LEN];
	const uint8_t *page;
	size_t size, bd;
	bool on;

	d->changes++;
	if (d->p->mode_six_only && !six) {
		sim_sense(r, false, 0x05, 0x20, 0x00);
		return;
	}
	/* PF must be set; SP only where the page can be saved */
	if (!(cdb[1] & 0x10) || (cdb[1] & 0x01 && !d->p->ps)) {
		sim_sense(r, false, 0x05, 0x24, 0x00);
		return;
	}
	if (d->p->no_mode_page || d->p->select_refused || length > out_len || length < header)
		goto refused;
	/* mode data length and device-specific parameter are reserved */
	if (out[0] || (six ? out[2] : out[1] || out[3]))
		goto refused;
	bd = six ? out[3] : (size_t)(out[6] << 8 | out[7]);
	if (bd != 0 && bd != 8)
		goto refused;
	size = make_page(d, 0, now);
	if (length != header + bd + size)
		goto refused;
	page = out + header + bd;
	if (page[0] != (now[0] & 0x3f) || page[1] != now[1])
		goto refused;
	for (size_t i = 2; i < size; i++) {
		uint8_t fixed = i == 2 && !d->p->not_changeable ? (size == RBC_LEN ? 0xfe : 0xfb)
								: 0xff;

		if ((page[i] & fixed) != (now[i] & fixed))
			goto refused;
	}
	on = size == RBC_LEN ? !(page[2] & 0x01) : page[2] & 0x04;
	if (!sim_set_wce(d, on, cdb[1] & 0x01))
		goto refused;
	return;
refused:
	sim_sense(r, false, 0x05, 0x26, 0x00);
}

static uint64_t get_be(const uint8_t *b, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *b++;
	return v;
}

static void put_be(uint8_t *b, int n, uint64_t v)
{
	while (n--) {
		b[n] = v & 0xff;
		v >>= 8;
	}
}

static void read_write(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
		       uint8_t *in, size_t in_len, struct sim_reply *r)
{
	const bool write = cdb[0] == 0x0a || cdb[0] == 0x2a || cdb[0] == 0xaa || cdb[0] == 0x8a;
	bool fua = false;
	uint64_t lba, n;

	switch (cdb[0] & 0xf0) {
	case 0x00:
		lba = get_be(cdb + 1, 3) & 0x1fffff;
		n = cdb[4] ? cdb[4] : 256;
		break;
	case 0x20:
		lba = get_be(cdb + 2, 4);
		n = get_be(cdb + 7, 2);
		fua = cdb[1] & 0x08;
		break;
	case 0xa0:
		lba = get_be(cdb + 2, 4);
		n = get_be(cdb + 6, 4);
		fua = cdb[1] & 0x08;
		break;
	default:
		lba = get_be(cdb + 2, 8);
		n = get_be(cdb + 10, 4);
		fua = cdb[1] & 0x08;
		break;
	}
	if (n > d->sectors || lba > d->sectors - n) {
		sim_sense(r, false, 0x05, 0x21, 0x00);
		return;
	}
	for (uint64_t i = 0; i < n && (i + 1) * SIM_SECTOR <= (write ? out_len : in_len); i++) {
		if (write)
			sim_write(d, lba + i, out + i * SIM_SECTOR);
		else
			sim_read(d, lba + i, in + i * SIM_SECTOR);
		if (write && fua && d->dirty[lba + i]) {
			memcpy(d->medium + (lba + i) * SIM_SECTOR, out + i * SIM_SECTOR,
			       SIM_SECTOR);
			d->dirty[lba + i] = false;
		}
		if (!write)
			r->moved = (i + 1) * SIM_SECTOR;
	}
}

static void capacity(struct sim_drive *d, const uint8_t *cdb, uint8_t *in, size_t in_len,
		     struct sim_reply *r)
{
	uint8_t data[32] = { 0 };

	if (cdb[0] == 0x25) {
		put_be(data, 4, d->sectors - 1);
		put_be(data + 4, 4, SIM_SECTOR);
		reply_data(r, in, in_len, data, 8, 8);
	} else {
		put_be(data, 8, d->sectors - 1);
		put_be(data + 8, 4, SIM_SECTOR);
		reply_data(r, in, in_len, data, 32, get_be(cdb + 10, 4));
	}
}

static void synchronize(struct sim_drive *d, bool ten, struct sim_reply *r)
{
	if (ten ? d->p->no_sync_10 : d->p->no_sync_16)
		sim_sense(r, false, 0x05, 0x20, 0x00);
	else if (!sim_flush(d) && !d->gone)
		sim_sense(r, false, 0x03, 0x0c, 0x00);
}

static void execute(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
		    uint8_t *in, size_t in_len, struct sim_reply *r)
{
	switch (cdb[0]) {
	case 0x00: /* TEST UNIT READY */
	case 0x1b: /* START STOP UNIT */
	case 0x1e: /* PREVENT ALLOW MEDIUM REMOVAL */
		return;
	case 0x03: {
		struct sim_reply none;

		sim_sense(&none, false, 0, 0, 0);
		reply_data(r, in, in_len, none.sense, 18, cdb[4]);
		return;
	}
	case 0x12:
		inquiry(d, cdb, in, in_len, r);
		return;
	case 0x1a:
	case 0x5a:
		mode_sense(d, cdb, in, in_len, r);
		return;
	case 0x15:
	case 0x55:
		mode_select(d, cdb, out, out_len, r);
		return;
	case 0x08:
	case 0x28:
	case 0xa8:
	case 0x88:
	case 0x0a:
	case 0x2a:
	case 0xaa:
	case 0x8a:
		read_write(d, cdb, out, out_len, in, in_len, r);
		return;
	case 0x25:
		capacity(d, cdb, in, in_len, r);
		return;
	case 0x9e:
		if ((cdb[1] & 0x1f) == 0x10) {
			capacity(d, cdb, in, in_len, r);
			return;
		}
		break;
	case 0x35:
		synchronize(d, true, r);
		return;
	case 0x91:
		synchronize(d, false, r);
		return;
	case 0x85:
	case 0xa1:
		sim_ata(d, cdb, out, out_len, in, in_len, r);
		return;
	}
	sim_sense(r, false, 0x05, 0x20, 0x00);
}

static bool is_change(const uint8_t *cdb)
{
	uint8_t command = cdb[0] == 0x85 ? cdb[14] : cdb[0] == 0xa1 ? cdb[9] : 0;

	return cdb[0] == 0x15 || cdb[0] == 0x55 || command == 0xef;
}

/* True where the command is not to be carried out. */
static bool fault_before(struct sim_drive *d, enum sim_fault_kind kind, uint8_t *in, size_t in_len,
			 struct sim_reply *r)
{
	switch (kind) {
	case SIM_FAULT_ABORTED:
		sim_sense(r, false, 0x0b, 0, 0);
		return true;
	case SIM_FAULT_INVALID_OPCODE:
		sim_sense(r, false, 0x05, 0x20, 0);
		return true;
	case SIM_FAULT_INVALID_FIELD:
		sim_sense(r, true, 0x05, 0x24, 0);
		return true;
	case SIM_FAULT_ATA_ABORT_DESCRIPTOR:
	case SIM_FAULT_DEVICE_FAULT:
		sim_sense(r, true, kind == SIM_FAULT_DEVICE_FAULT ? 0x04 : 0x0b, 0, 0);
		r->sense[7] = 14;
		r->sense[8] = 0x09;
		r->sense[9] = 0x0c;
		r->sense[11] = kind == SIM_FAULT_DEVICE_FAULT ? 0 : 0x04;
		r->sense[20] = 0x40;
		r->sense[21] = kind == SIM_FAULT_DEVICE_FAULT ? 0x70 : 0x51;
		r->sense_len = 22;
		return true;
	case SIM_FAULT_ATA_ABORT_FIXED:
		sim_sense(r, false, 0x05, 0x21, 0x04);
		r->sense[8] = 0x04;
		r->sense[9] = 0x51;
		return true;
	case SIM_FAULT_MEDIUM_ERROR:
		sim_sense(r, false, 0x03, 0x0c, 0x00);
		return true;
	case SIM_FAULT_NO_SENSE:
		r->status = 0x02;
		r->sense_len = 18;
		return true;
	case SIM_FAULT_ZEROS:
	case SIM_FAULT_IGNORED:
		if (in)
			memset(in, 0, in_len);
		r->moved = in_len;
		return true;
	case SIM_FAULT_RESET:
		sim_reset(d);
		sim_sense(r, false, 0x06, 0x29, 0x00);
		return true;
	case SIM_FAULT_MODE_CHANGED:
		sim_set_wce(d, true, false);
		sim_sense(r, false, 0x06, 0x2a, 0x01);
		return true;
	case SIM_FAULT_UNIT_ATTENTION:
		sim_sense(r, false, 0x06, 0x29, 0x00);
		return true;
	case SIM_FAULT_BUSY:
		r->status = 0x08;
		return true;
	case SIM_FAULT_HOST_ERROR:
		r->host = 0x07;
		return true;
	case SIM_FAULT_TIMEOUT:
		r->timed_out = true;
		return true;
	case SIM_FAULT_GONE:
		d->gone = true;
		break;
	default:
		break;
	}
	return false;
}

void sim_scsi(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
	      uint8_t *in, size_t in_len, struct sim_reply *r)
{
	enum sim_fault_kind kind;

	memset(r, 0, sizeof(*r));
	/* INQUIRY, REPORT LUNS and REQUEST SENSE are answered all the same (SAM-6 5.14). */
	if (d->unit_attention && cdb[0] != 0x12 && cdb[0] != 0xa0 && cdb[0] != 0x03) {
		d->unit_attention = false;
		sim_sense(r, false, 0x06, 0x29, 0x00);
		return;
	}
	d->steps++;
	kind = sim_fault_now(d);
	if (kind == SIM_FAULT_IGNORED && is_change(cdb))
		d->change_ignored = true;
	if (fault_before(d, kind, in, in_len, r))
		return;
	if (!d->gone)
		execute(d, cdb, out, out_len, in, in_len, r);
	if (d->gone) {
		memset(r, 0, sizeof(*r));
		r->host = 0x01;
		return;
	}
	if (kind == SIM_FAULT_TRUNCATED)
		r->moved /= 2;
	if (kind == SIM_FAULT_TIMEOUT_DONE)
		r->timed_out = true;
}
