/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A simulated drive: it speaks ATA (through a SCSI translation layer), SCSI and
 * NVMe, has a volatile cache that a power cut empties, and misbehaves on demand.
 *
 * It stands behind two fronts: transport.c shows it to the library in process, with
 * a model of what the kernel believes; tcmu.c shows it to a real kernel as a disk.
 * What a drive is like is a row of personality.c.
 */
#ifndef SIM_DRIVE_H
#define SIM_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_SECTOR 512

/* How the kernel sees it, for the model of transport.c. */
enum sim_attach {
	SIM_LIBATA = 1, /* follows SET FEATURES by itself */
	SIM_SCSI, /* stale until a rescan */
	SIM_USB, /* cannot see the setting: assumes write through */
	SIM_NVME,
};

enum sim_sat {
	SIM_SAT_NONE = 0, /* ATA PASS-THROUGH is an invalid opcode */
	SIM_SAT_16, /* both forms */
	SIM_SAT_12, /* the 12-byte form only */
	SIM_SAT_STALE, /* GOOD for everything, and an old IDENTIFY */
};

struct sim_personality {
	const char *name;
	enum sim_attach attach;
	const char *vendor, *product;
	uint8_t type; /* SCSI peripheral device type */

	/* ATA */
	enum sim_sat sat;
	uint16_t w69, w80, w82, w83, w85, w86, w87, w206;
	bool no_registers; /* GOOD and no sense where CK_COND asked for registers */
	bool fixed_registers; /* as libata sends them: fixed sense */
	bool set_features_ignored; /* only MODE SELECT moves it */

	/* SCSI */
	bool no_mode_page;
	bool mode_six_only;
	bool mode_clips; /* mode data length clipped to the allocation length */
	bool no_dbd; /* refuses DBD=1 */
	bool ps, not_changeable, select_refused;
	bool has_vpd86;
	uint8_t vpd86; /* V_SUP bit 0, NV_SUP bit 1 */
	bool no_sync_10, no_sync_16;
	bool dies_of_sync;

	/* NVMe */
	uint8_t vwc;
	bool save_select;

	/* all */
	bool starts_off;
	bool ignores_change; /* takes every command, changes nothing */
};

const struct sim_personality *sim_personality_find(const char *name);
/* The table, ended by a row without a name. */
extern const struct sim_personality sim_personalities[];

enum sim_fault_kind {
	SIM_FAULT_NONE = 0,
	SIM_FAULT_ABORTED, /* 0b/00/00 */
	SIM_FAULT_INVALID_OPCODE, /* fixed 05/20/00 */
	SIM_FAULT_INVALID_FIELD, /* descriptor 05/24/00 */
	SIM_FAULT_ATA_ABORT_DESCRIPTOR,
	SIM_FAULT_ATA_ABORT_FIXED,
	SIM_FAULT_DEVICE_FAULT, /* DF in the ATA status */
	SIM_FAULT_MEDIUM_ERROR,
	SIM_FAULT_NO_SENSE, /* CHECK CONDITION with zeros */
	SIM_FAULT_TRUNCATED, /* half the data */
	SIM_FAULT_ZEROS, /* GOOD, data all zero */
	SIM_FAULT_IGNORED, /* GOOD, nothing done */
	SIM_FAULT_UNIT_ATTENTION,
	SIM_FAULT_RESET, /* the settings are as saved again, and 06/29/00 tells of it */
	SIM_FAULT_MODE_CHANGED, /* 06/2a/01: another initiator turned the cache on */
	SIM_FAULT_BUSY,
	SIM_FAULT_HOST_ERROR,
	SIM_FAULT_TIMEOUT, /* not done, no answer */
	SIM_FAULT_TIMEOUT_DONE, /* done, no answer */
	SIM_FAULT_GONE, /* from here on */
	SIM_N_FAULTS,
};

struct sim_fault {
	unsigned int step; /* the exchange it happens at, from 1 on; 0 never */
	bool for_good; /* at every one from there on */
	enum sim_fault_kind kind;
};

struct sim_drive {
	const struct sim_personality *p;
	struct sim_fault fault;
	unsigned int steps; /* exchanges so far */
	unsigned int changes; /* of those, commands that can change a setting */
	unsigned int flushes;
	bool change_ignored; /* SIM_FAULT_IGNORED hit a change, not a question or a flush */
	bool wce, saved_wce, default_wce;
	unsigned int sct; /* 1 SET FEATURES decides, 2 forced on, 3 forced off */
	bool sct_preserved;
	bool standby;
	bool gone;
	bool unit_attention; /* power on, told once */
	size_t sectors;
	uint8_t *medium, *cache; /* sectors * SIM_SECTOR bytes */
	bool *dirty; /* a sector each */
	char serial[21];
};

struct sim_reply {
	uint8_t status;
	uint16_t host;
	uint8_t sense[32];
	uint8_t sense_len;
	size_t moved; /* bytes of data in */
	bool timed_out; /* no answer at all */
};

struct sim_drive *sim_new(const struct sim_personality *p, size_t sectors, const char *serial);
void sim_free(struct sim_drive *d);

/* One SCSI command, ATA PASS-THROUGH included. */
void sim_scsi(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
	      uint8_t *in, size_t in_len, struct sim_reply *r);
/* One NVMe command. *STATUS: status field; false: no answer. */
bool sim_nvme(struct sim_drive *d, bool admin, uint8_t opcode, uint32_t nsid, uint32_t cdw10,
	      uint32_t cdw11, uint8_t *in, size_t in_len, uint16_t *status, uint32_t *result);

/* What is to go wrong at this step. */
enum sim_fault_kind sim_fault_now(const struct sim_drive *d);

/* What is on it at this moment. */
bool sim_caches(const struct sim_drive *d);
/* Settings as after a reset; what is in the cache stays there. */
void sim_reset(struct sim_drive *d);
/* The cache is lost; settings are as after power-on. */
void sim_power_cut(struct sim_drive *d);
/* Data paths without a command: what a write or a flush of the kernel does. */
void sim_write(struct sim_drive *d, size_t sector, const uint8_t *data);
void sim_read(struct sim_drive *d, size_t sector, uint8_t *data);
/* False where the drive has no flush command, or fails it. */
bool sim_flush(struct sim_drive *d);
/* A setting that arrived by a translation layer in the kernel. */
bool sim_set_wce(struct sim_drive *d, bool on, bool save);

/* ata.c: ATA PASS-THROUGH */
void sim_ata(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
	     uint8_t *in, size_t in_len, struct sim_reply *r);
void sim_identify(const struct sim_drive *d, uint8_t data[512]);

/* Sense of either format into a reply, with CHECK CONDITION. */
void sim_sense(struct sim_reply *r, bool descriptor, uint8_t key, uint8_t asc, uint8_t ascq);

#endif
