/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a SCSI reply means: sense data, ATA registers inside it, host status. */
#ifndef WC_SENSE_H
#define WC_SENSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

/* SPC-6 4.4.2, the keys used here */
#define SENSE_NO_SENSE 0x0
#define SENSE_RECOVERED_ERROR 0x1
#define SENSE_NOT_READY 0x2
#define SENSE_ILLEGAL_REQUEST 0x5
#define SENSE_UNIT_ATTENTION 0x6
#define SENSE_ABORTED_COMMAND 0xb

/* ACS-5 6.2 */
#define ATA_STATUS_ERR 0x01
#define ATA_STATUS_DF 0x20
#define ATA_ERROR_ABRT 0x04

struct wc_sense {
	bool valid; /* key, asc, ascq were there */
	uint8_t key, asc, ascq;
	bool has_registers; /* the ATA registers were there */
	uint8_t ata_status, ata_error, ata_lba_low;
	uint16_t ata_count;
};

/*
 * Fixed and descriptor format, and ATA registers in the ATA Status Return
 * descriptor (SAT-5 12.2.2.6), in the fixed form of SAT (12.2.2.7), and in the one
 * that libata used up to Linux 6.10 (ata_gen_passthru_sense). Never reads past len.
 */
void wc_sense_parse(const uint8_t *data, size_t len, struct wc_sense *sense);

/* What a whole reply amounts to. */
enum wc_outcome {
	WC_GOOD = 1,
	WC_RETRY = 2, /* UNIT ATTENTION, busy: the same command again may work */
	WC_INVALID_OPCODE = 3, /* 05/20: this command is not known here */
	WC_INVALID_FIELD = 4, /* any other ILLEGAL REQUEST */
	WC_NO_MEDIUM = 5, /* 02/3a */
	WC_ABORTED = 6, /* the drive aborted it */
	WC_NO_ANSWER = 7, /* gone, timed out, not permitted: never try again */
	WC_FAILED = 8,
};

/*
 * Judge a SCSI reply. ERR is 0 or what submit() returned. SENSE is filled in
 * (not valid where there was none). *RET_ERR: the errno value that says it best,
 * 0 for WC_GOOD.
 */
enum wc_outcome wc_reply_judge(int err, const struct wc_reply *reply, struct wc_sense *sense,
			       int *ret_err);

#endif
