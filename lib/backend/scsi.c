/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SCSI and SAS drives, and all that answers like one: the Caching mode page (SBC-4
 * 6.5.6) by MODE SENSE and MODE SELECT (SPC-6 6.14 to 6.17), the Extended INQUIRY
 * Data VPD page (SPC-6 7.7.7), SYNCHRONIZE CACHE (SBC-4 5.41).
 */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "mode.h"

enum {
	TEST_UNIT_READY = 0x00,
	REQUEST_SENSE = 0x03,
	INQUIRY = 0x12,
	MODE_SELECT_6 = 0x15,
	MODE_SENSE_6 = 0x1a,
	READ_CAPACITY_10 = 0x25,
	SYNCHRONIZE_CACHE_10 = 0x35,
	MODE_SELECT_10 = 0x55,
	MODE_SENSE_10 = 0x5a,
	ATA_PASS_THROUGH_16 = 0x85,
	SYNCHRONIZE_CACHE_16 = 0x91,
	ATA_PASS_THROUGH_12 = 0xa1,
};

enum page_control {
	PC_CURRENT = 0,
	PC_CHANGEABLE = 1,
	PC_DEFAULT = 2,
	PC_SAVED = 3,
};

/*
 * Always ask for this much: firmware exists whose MODE DATA LENGTH is clipped to the
 * allocation length, so that a short question hides the page (LSI SAS1068 volumes).
 */
#define MODE_LEN_10 512
#define MODE_LEN_6 192

#define TYPE_RBC 0x0e
#define PAGE_PS 0x80
#define CACHING_WCE 0x04
#define RBC_WCD 0x01

struct mode_reply {
	uint8_t data[MODE_LEN_10];
	size_t len;
	bool six;
	bool dbd; /* without block descriptors */
	uint8_t code;
	struct wc_mode mode;
};

static enum wc_outcome mode_sense(struct wcache_device *dev, enum page_control pc, bool six,
				  bool dbd, struct mode_reply *m, struct wc_sense *sense, int *err)
{
	struct wc_request rq = {
		.set = WC_SCSI,
		.direction = WC_IN,
		.data = m->data,
		.data_len = six ? MODE_LEN_6 : MODE_LEN_10,
		.timeout_ms = dev->ctx->timeout_ms,
	};
	struct wc_reply reply;
	enum wc_outcome outcome;

	memset(m->data, 0, sizeof(m->data));
	rq.scsi.cdb_len = six ? 6 : 10;
	rq.scsi.cdb[0] = six ? MODE_SENSE_6 : MODE_SENSE_10;
	rq.scsi.cdb[1] = dbd ? 0x08 : 0;
	rq.scsi.cdb[2] = pc << 6 | m->code;
	if (six) {
		rq.scsi.cdb[4] = MODE_LEN_6;
	} else {
		rq.scsi.cdb[7] = MODE_LEN_10 >> 8;
		rq.scsi.cdb[8] = MODE_LEN_10 & 0xff;
	}
	outcome = wc_device_scsi(dev, &rq, &reply, sense, err);
	if (outcome != WC_GOOD)
		return outcome;
	m->len = rq.data_len;
	if (reply.scsi.resid > 0)
		m->len = (uint32_t)reply.scsi.resid < m->len ? m->len - reply.scsi.resid : 0;
	m->six = six;
	m->dbd = dbd;
	return WC_GOOD;
}

/*
 * The current page in the first form that the drive takes. 0 with the page found;
 * -ENODATA: it answers, and has no such page.
 */
static int find_page(struct wcache_device *dev, struct mode_reply *m, struct wc_sense *sense)
{
	static const struct {
		bool six, dbd;
	} forms[] = { { false, true }, { false, false }, { true, true }, { true, false } };
	enum wc_outcome outcome = WC_FAILED;
	int found = -EOPNOTSUPP;
	int err = -EIO;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		/* A refused opcode is refused in every form; a refused field perhaps not. */
		if (outcome == WC_INVALID_OPCODE && !forms[i].six)
			continue;
		outcome = mode_sense(dev, PC_CURRENT, forms[i].six, forms[i].dbd, m, sense, &err);
		switch (outcome) {
		case WC_GOOD:
			if (!wc_mode_find(m->data, m->len, m->six, m->code, &m->mode) &&
			    m->mode.page_len >= 3)
				return 0;
			found = -ENODATA;
			/* A header alone: the six-byte form may still have the page. */
			outcome = WC_INVALID_OPCODE;
			break;
		case WC_INVALID_OPCODE:
			if (forms[i].six)
				return found;
			break;
		case WC_INVALID_FIELD:
		case WC_ABORTED:
			break;
		default:
			return err;
		}
	}
	return found;
}

static bool page_wce(const struct mode_reply *m)
{
	uint8_t flags = m->data[m->mode.page + 2];

	return m->code == MODE_PAGE_RBC ? !(flags & RBC_WCD) : !!(flags & CACHING_WCE);
}

/* WCE bit of another page control; -ENODATA where the drive does not tell. */
static int other_page(struct wcache_device *dev, const struct mode_reply *current,
		      enum page_control pc, bool *bit)
{
	struct mode_reply m = { .code = current->code };
	struct wc_sense sense;
	int err;

	if (mode_sense(dev, pc, current->six, current->dbd, &m, &sense, &err) != WC_GOOD)
		return err == -ENODEV || err == -EBADMSG || err == -ETIMEDOUT ? err : -ENODATA;
	if (wc_mode_find(m.data, m.len, m.six, m.code, &m.mode) || m.mode.page_len < 3)
		return -ENODATA;
	if (pc == PC_CHANGEABLE)
		*bit = m.data[m.mode.page + 2] & (m.code == MODE_PAGE_RBC ? RBC_WCD : CACHING_WCE);
	else
		*bit = page_wce(&m);
	return 0;
}

static int query_other_pages(struct wcache_device *dev, const struct mode_reply *m,
			     struct wcache_state *s)
{
	bool bit;
	int err;

	err = other_page(dev, m, PC_CHANGEABLE, &bit);
	if (!err) {
		s->changeable = bit ? WCACHE_YES : WCACHE_NO;
		s->source[WCACHE_FACT_CHANGEABLE] = "MODE SENSE changeable values";
	} else if (err != -ENODATA) {
		return err;
	}
	err = other_page(dev, m, PC_DEFAULT, &bit);
	if (!err) {
		s->dflt = bit ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
		s->source[WCACHE_FACT_DEFAULT] = "MODE SENSE default values";
	} else if (err != -ENODATA) {
		return err;
	}
	s->saveable = m->data[m->mode.page] & PAGE_PS ? WCACHE_YES : WCACHE_NO;
	if (s->saveable == WCACHE_NO)
		return 0;
	err = other_page(dev, m, PC_SAVED, &bit);
	if (!err) {
		s->saved = bit ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
		s->source[WCACHE_FACT_SAVED] = "MODE SENSE saved values";
	}
	return err == -ENODATA ? 0 : err;
}

/* VPD 86h, asked only where VPD 00h (sysfs has it) lists it. SPC-6 7.7.7. */
static int query_nonvolatile(struct wcache_device *dev, struct wcache_state *s)
{
	uint8_t data[64] = { 0 };
	uint8_t pages[256];
	struct wc_request rq = {
		.set = WC_SCSI,
		.direction = WC_IN,
		.data = data,
		.data_len = sizeof(data),
		.timeout_ms = dev->ctx->timeout_ms,
		.scsi = { .cdb = { INQUIRY, 1, 0x86, 0, sizeof(data) }, .cdb_len = 6 },
	};
	struct wc_reply reply;
	struct wc_sense sense;
	ssize_t n;
	int err;

	n = wc_device_attr(dev, "device/vpd_pg0", (char *)pages, sizeof(pages));
	if (n < 4 || !memchr(pages + 4, 0x86, n - 4))
		return 0;
	if (wc_device_scsi(dev, &rq, &reply, &sense, &err) != WC_GOOD)
		return err == -ENODEV || err == -EBADMSG ? err : 0;
	if (reply.scsi.resid > (int)sizeof(data) - 7 || data[1] != 0x86 ||
	    (data[2] << 8 | data[3]) < 3)
		return 0;
	/* byte 6: V_SUP bit 0, NV_SUP bit 1 */
	if (data[6] & 0x01)
		s->nonvolatile = WCACHE_NO;
	else if (data[6] & 0x02)
		s->nonvolatile = WCACHE_YES;
	else
		return 0;
	s->source[WCACHE_FACT_NONVOLATILE] = "VPD page 86h";
	return 0;
}

static int scsi_query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	struct mode_reply m = { .code = dev->scsi_type == TYPE_RBC ? MODE_PAGE_RBC
								   : MODE_PAGE_CACHING };
	struct wc_sense sense;
	int err;

	err = find_page(dev, &m, &sense);
	switch (err) {
	case 0:
		break;
	case -ENODATA:
		wc_state_unknown(s, "MODE SENSE has no caching page");
		return 0;
	case -EOPNOTSUPP:
		wc_state_unknown(s, "MODE SENSE is refused (sense %x/%02x/%02x)", sense.key,
				 sense.asc, sense.ascq);
		return 0;
	default:
		return err;
	}
	s->cache = page_wce(&m) ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
	s->source[WCACHE_FACT_CACHE] = m.code == MODE_PAGE_RBC ? "MODE SENSE page 06h, WCD"
							       : "MODE SENSE page 08h, WCE";
	s->flush = WC_FLUSH_SCSI;
	s->flush_advertised = true;
	err = query_nonvolatile(dev, s);
	if (err || !full)
		return err;
	return query_other_pages(dev, &m, s);
}

/*
 * Read, modify and write one page. MODE DATA LENGTH and the device-specific
 * parameter are reserved for MODE SELECT, as is PS (SPC-6 7.5.5 to 7.5.7); what is not
 * WCE goes back as it came.
 */
int wc_scsi_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save)
{
	struct mode_reply m = { .code = dev->scsi_type == TYPE_RBC ? MODE_PAGE_RBC
								   : MODE_PAGE_CACHING };
	struct wc_request rq = { .set = WC_SCSI, .direction = WC_OUT };
	struct wc_reply reply;
	struct wc_sense sense;
	enum wc_outcome outcome;
	size_t header, end;
	uint8_t *page;
	int err;

	err = find_page(dev, &m, &sense);
	if (err == -ENODATA)
		return wc_fail(dev, -EOPNOTSUPP, "MODE SENSE has no caching page");
	if (err < 0)
		return wc_fail(dev, err, "MODE SENSE failed");
	if (!m.mode.complete)
		return wc_fail(
			dev, -EOPNOTSUPP,
			"the caching page came back cut short, so it cannot be written back");
	page = m.data + m.mode.page;
	if (save && !(page[0] & PAGE_PS))
		return wc_fail(dev, -EOPNOTSUPP, "the drive cannot save this setting (PS=0)");

	header = m.six ? 4 : 8;
	/* From page 3Fh, or an odd reply, only this page goes back. */
	end = m.mode.page + m.mode.page_len;
	m.data[0] = 0;
	if (m.six) {
		m.data[2] = 0;
	} else {
		m.data[1] = 0;
		m.data[3] = 0;
	}
	page[0] &= ~PAGE_PS;
	if (m.code == MODE_PAGE_RBC)
		page[2] = on ? page[2] & ~RBC_WCD : page[2] | RBC_WCD;
	else
		page[2] = on ? page[2] | CACHING_WCE : page[2] & ~CACHING_WCE;
	if (m.mode.page < header)
		return wc_fail(dev, -EOPNOTSUPP, "the mode data has no header to write back");

	rq.data = m.data;
	rq.data_len = end;
	rq.timeout_ms = wc_ctx_slow_timeout(dev->ctx);
	rq.scsi.cdb_len = m.six ? 6 : 10;
	rq.scsi.cdb[0] = m.six ? MODE_SELECT_6 : MODE_SELECT_10;
	rq.scsi.cdb[1] = 0x10 | (save ? 0x01 : 0); /* PF, SP */
	if (m.six) {
		rq.scsi.cdb[4] = end;
	} else {
		rq.scsi.cdb[7] = end >> 8;
		rq.scsi.cdb[8] = end & 0xff;
	}
	outcome = wc_device_scsi(dev, &rq, &reply, &sense, &err);
	if (outcome == WC_GOOD)
		return 0;
	return wc_fail(dev, err, "MODE SELECT (WCE=%d) was refused", on);
}

enum wcache_answer wc_scsi_saves(struct wcache_device *dev)
{
	struct mode_reply m = { .code = dev->scsi_type == TYPE_RBC ? MODE_PAGE_RBC
								   : MODE_PAGE_CACHING };
	struct wc_sense sense;

	if (find_page(dev, &m, &sense))
		return WCACHE_UNKNOWN;
	return m.data[m.mode.page] & PAGE_PS ? WCACHE_YES : WCACHE_NO;
}

static int scsi_flush(struct wcache_device *dev, const struct wcache_state *s,
		      enum wcache_flush *result)
{
	/* LBA 0, count 0: everything. IMMED 0: the answer comes when it is done. */
	struct wc_request rq = {
		.set = WC_SCSI,
		.direction = WC_NONE,
		.timeout_ms = wc_ctx_slow_timeout(dev->ctx),
		.scsi = { .cdb = { SYNCHRONIZE_CACHE_10 }, .cdb_len = 10 },
	};
	struct wc_reply reply;
	struct wc_sense sense;
	enum wc_outcome outcome;
	int err;

	outcome = wc_device_scsi(dev, &rq, &reply, &sense, &err);
	if (outcome == WC_INVALID_OPCODE) {
		rq.scsi.cdb[0] = SYNCHRONIZE_CACHE_16;
		rq.scsi.cdb_len = 16;
		outcome = wc_device_scsi(dev, &rq, &reply, &sense, &err);
	}
	if (outcome == WC_GOOD) {
		*result = WCACHE_FLUSH_DONE;
		return 0;
	}
	if (outcome == WC_INVALID_OPCODE)
		return wc_fail(dev, -EOPNOTSUPP, "the drive has no flush command");
	return wc_fail(dev, err == -EOPNOTSUPP ? -EIO : err, "SYNCHRONIZE CACHE failed");
}

enum wcache_access wc_scsi_access(const struct wc_request *rq)
{
	switch (rq->scsi.cdb[0]) {
	case TEST_UNIT_READY:
	case REQUEST_SENSE:
	case INQUIRY:
	case MODE_SENSE_6:
	case MODE_SENSE_10:
	case READ_CAPACITY_10:
		return WCACHE_ACCESS_QUERY;
	case SYNCHRONIZE_CACHE_10:
	case SYNCHRONIZE_CACHE_16:
		return WCACHE_ACCESS_FLUSH;
	case ATA_PASS_THROUGH_12:
	case ATA_PASS_THROUGH_16:
		return wc_ata_access(rq);
	}
	return WCACHE_ACCESS_CHANGE;
}

const struct wc_backend wc_backend_scsi = {
	.protocol = "scsi",
	.query = scsi_query,
	.set = wc_scsi_set,
	.flush = scsi_flush,
};
