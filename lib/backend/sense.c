/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a SCSI reply means. */
#include <errno.h>
#include <string.h>

#include "sense.h"

/* include/scsi/scsi_status.h of the kernel */
enum {
	DID_NO_CONNECT = 0x01,
	DID_BUS_BUSY = 0x02,
	DID_TIME_OUT = 0x03,
	DID_BAD_TARGET = 0x04,
	DID_RESET = 0x08,
	DID_SOFT_ERROR = 0x0b,
	DID_IMM_RETRY = 0x0c,
	DID_REQUEUE = 0x0d,
};

/* SAM-6 5.3 */
enum {
	SAM_GOOD = 0x00,
	SAM_CHECK_CONDITION = 0x02,
	SAM_CONDITION_MET = 0x04,
	SAM_BUSY = 0x08,
	SAM_RESERVATION_CONFLICT = 0x18,
	SAM_TASK_SET_FULL = 0x28,
	SAM_TASK_ABORTED = 0x40,
};

/* When a command has ended BSY and DRQ are clear and DRDY is set (ACS-5 6.2). */
static bool plausible_status(uint8_t status)
{
	return (status & 0xc8) == 0x40;
}

static void parse_descriptors(const uint8_t *d, size_t len, struct wc_sense *s)
{
	while (len >= 2) {
		size_t size = 2u + d[1];

		/* SAT-5 12.2.2.6: type 09h, additional length 0Ch */
		if (d[0] == 0x09 && d[1] == 0x0c && len >= 14) {
			/* A bridge that has no registers fills in zeros. */
			if (!plausible_status(d[13]))
				return;
			s->has_registers = true;
			s->ata_error = d[3];
			s->ata_count = d[5] | (d[2] & 1 ? d[4] << 8 : 0);
			s->ata_lba_low = d[7];
			s->ata_status = d[13];
			return;
		}
		if (size > len)
			return;
		d += size;
		len -= size;
	}
}

static void parse_fixed_registers(const uint8_t *b, size_t len, struct wc_sense *s)
{
	bool ata = s->asc == 0x00 && s->ascq == 0x1d;

	/* Nothing tells which of the two packings this is: the STATUS that can be true does. */
	if (len < 12)
		return;
	/* Without 00/1D these bytes are free for other use, unless an ABRT stands there. */
	if (plausible_status(b[9]) && (ata || (b[9] & ATA_STATUS_ERR && b[8] & ATA_ERROR_ABRT))) {
		s->ata_error = b[8];
		s->ata_status = b[9];
		s->ata_count = b[11];
		s->ata_lba_low = len > 17 ? b[17] : 0;
		s->has_registers = true;
	} else if (ata && plausible_status(b[4])) {
		s->ata_error = b[3];
		s->ata_status = b[4];
		s->ata_count = b[6];
		s->ata_lba_low = b[9];
		s->has_registers = true;
	}
}

void wc_sense_parse(const uint8_t *b, size_t len, struct wc_sense *s)
{
	memset(s, 0, sizeof(*s));
	if (len < 4)
		return;
	switch (b[0] & 0x7f) {
	case 0x70:
	case 0x71:
		s->valid = true;
		s->key = b[2] & 0x0f;
		if (len < 8)
			break;
		/* SPC-6 4.4.3: ADDITIONAL SENSE LENGTH counts from byte 8 on. */
		if (len > 8u + b[7])
			len = 8u + b[7];
		if (len > 12)
			s->asc = b[12];
		if (len > 13)
			s->ascq = b[13];
		parse_fixed_registers(b, len, s);
		break;
	case 0x72:
	case 0x73:
		s->valid = true;
		s->key = b[1] & 0x0f;
		s->asc = b[2];
		s->ascq = b[3];
		if (len < 8)
			break;
		if (len > 8u + b[7])
			len = 8u + b[7];
		parse_descriptors(b + 8, len - 8, s);
		break;
	}
}

static enum wc_outcome judge_host(uint16_t host, int *ret_err)
{
	*ret_err = -EIO;
	switch (host) {
	case DID_NO_CONNECT:
	case DID_BAD_TARGET:
		*ret_err = -ENODEV;
		return WC_NO_ANSWER;
	case DID_TIME_OUT:
		*ret_err = -ETIMEDOUT;
		return WC_NO_ANSWER;
	case DID_BUS_BUSY:
	case DID_RESET:
	case DID_SOFT_ERROR:
	case DID_IMM_RETRY:
	case DID_REQUEUE:
		return WC_RETRY;
	}
	return WC_FAILED;
}

static enum wc_outcome judge_sense(const struct wc_sense *s, int *ret_err)
{
	*ret_err = -EIO;
	switch (s->key) {
	case SENSE_UNIT_ATTENTION:
		return WC_RETRY;
	case SENSE_NOT_READY:
		if (s->asc == 0x3a) {
			*ret_err = -ENOMEDIUM;
			return WC_NO_MEDIUM;
		}
		/* 04/01: becoming ready */
		return s->asc == 0x04 && s->ascq == 0x01 ? WC_RETRY : WC_FAILED;
	case SENSE_ILLEGAL_REQUEST:
		*ret_err = -EOPNOTSUPP;
		/* 21/04 is how libata and bridges put an ATA abort. */
		if (s->has_registers || (s->asc == 0x21 && s->ascq == 0x04))
			return WC_ABORTED;
		return s->asc == 0x20 ? WC_INVALID_OPCODE : WC_INVALID_FIELD;
	case SENSE_ABORTED_COMMAND:
		return WC_ABORTED;
	}
	return WC_FAILED;
}

enum wc_outcome wc_reply_judge(int err, const struct wc_reply *reply, struct wc_sense *sense,
			       int *ret_err)
{
	memset(sense, 0, sizeof(*sense));
	if (err < 0) {
		*ret_err = err;
		return WC_NO_ANSWER;
	}
	if (reply->scsi.host)
		return judge_host(reply->scsi.host, ret_err);
	wc_sense_parse(reply->scsi.sense, reply->scsi.sense_len, sense);
	if (sense->has_registers && sense->ata_status & (ATA_STATUS_ERR | ATA_STATUS_DF)) {
		*ret_err = sense->ata_error & ATA_ERROR_ABRT ? -EOPNOTSUPP : -EIO;
		return WC_ABORTED;
	}
	*ret_err = 0;
	switch (reply->scsi.status) {
	case SAM_GOOD:
	case SAM_CONDITION_MET:
		return WC_GOOD;
	case SAM_CHECK_CONDITION:
		if (!sense->valid)
			break;
		/* 01/00/1D carries the registers that CK_COND asked for (SAT-5 12.2.2.5). */
		if (sense->key == SENSE_RECOVERED_ERROR || sense->key == SENSE_NO_SENSE)
			return WC_GOOD;
		return judge_sense(sense, ret_err);
	case SAM_BUSY:
	case SAM_TASK_SET_FULL:
	case SAM_TASK_ABORTED:
		*ret_err = -EBUSY;
		return WC_RETRY;
	case SAM_RESERVATION_CONFLICT:
		*ret_err = -EBUSY;
		return WC_FAILED;
	}
	*ret_err = -EIO;
	return WC_FAILED;
}
