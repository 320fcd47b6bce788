/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ATA drives, asked through ATA PASS-THROUGH (SAT-5 12.2). What the translation
 * layer reports of a command's end is not trusted further than it has to be:
 * bridges say GOOD for anything, so a change counts only when IDENTIFY shows it.
 */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "identify.h"

/* ACS-5 7 */
enum {
	ATA_IDENTIFY_DEVICE = 0xec,
	ATA_IDENTIFY_PACKET_DEVICE = 0xa1,
	ATA_SET_FEATURES = 0xef,
	ATA_FLUSH_CACHE = 0xe7,
	ATA_FLUSH_CACHE_EXT = 0xea,
	ATA_CHECK_POWER_MODE = 0xe5,
	ATA_SMART = 0xb0,
	/* SET FEATURES, ACS-5 7.43 */
	FEATURE_WRITE_CACHE_ON = 0x02,
	FEATURE_WRITE_CACHE_OFF = 0x82,
	/* SMART, ACS-4 7.45: log access, and the log of SCT */
	SMART_READ_LOG = 0xd5,
	SMART_WRITE_LOG = 0xd6,
	LOG_SCT = 0xe0,
};

/* SCT Feature Control, ACS-5 8.3.4 */
enum {
	SCT_ACTION_FEATURE_CONTROL = 4,
	SCT_FUNCTION_SET = 1,
	SCT_FUNCTION_GET_STATE = 2,
	SCT_FUNCTION_GET_OPTIONS = 3,
	SCT_FEATURE_WRITE_CACHE = 1,
	SCT_OPTION_PRESERVE = 1,
};

/* SAT-5 12.2.2.2: protocol, and the second byte of flags */
enum {
	PROTOCOL_NON_DATA = 3 << 1,
	PROTOCOL_PIO_IN = 4 << 1,
	PROTOCOL_PIO_OUT = 5 << 1,
	PT_EXTEND = 1,
	PT_CK_COND = 0x20,
	PT_FROM_DEVICE = 0x08,
	PT_BLOCKS_IN_COUNT = 0x06,
};

enum {
	ATA_PASS_THROUGH_12 = 0xa1,
	ATA_PASS_THROUGH_16 = 0x85,
	ATA_DEVICE_LBA = 0x40,
};

struct taskfile {
	uint8_t command, feature, count, lba_low, lba_mid, lba_high;
	bool extend;
	bool registers; /* ask for them at the end */
};

static void build(struct wc_request *rq, const struct taskfile *tf, bool ata12, bool registers)
{
	uint8_t *cdb = rq->scsi.cdb;
	uint8_t protocol = rq->direction == WC_IN    ? PROTOCOL_PIO_IN
			   : rq->direction == WC_OUT ? PROTOCOL_PIO_OUT
						     : PROTOCOL_NON_DATA;
	uint8_t flags = registers ? PT_CK_COND : 0;

	if (rq->direction == WC_IN)
		flags |= PT_FROM_DEVICE;
	if (rq->direction != WC_NONE)
		flags |= PT_BLOCKS_IN_COUNT;
	rq->set = WC_SCSI;
	memset(cdb, 0, sizeof(rq->scsi.cdb));
	if (ata12) {
		rq->scsi.cdb_len = 12;
		cdb[0] = ATA_PASS_THROUGH_12;
		cdb[1] = protocol;
		cdb[2] = flags;
		cdb[3] = tf->feature;
		cdb[4] = tf->count;
		cdb[5] = tf->lba_low;
		cdb[6] = tf->lba_mid;
		cdb[7] = tf->lba_high;
		cdb[8] = ATA_DEVICE_LBA;
		cdb[9] = tf->command;
		return;
	}
	rq->scsi.cdb_len = 16;
	cdb[0] = ATA_PASS_THROUGH_16;
	cdb[1] = protocol | (tf->extend ? PT_EXTEND : 0);
	cdb[2] = flags;
	cdb[4] = tf->feature;
	cdb[6] = tf->count;
	cdb[8] = tf->lba_low;
	cdb[10] = tf->lba_mid;
	cdb[12] = tf->lba_high;
	cdb[13] = ATA_DEVICE_LBA;
	cdb[14] = tf->command;
}

static enum wc_outcome run(struct wcache_device *dev, const struct taskfile *tf,
			   enum wc_direction direction, void *data, unsigned int timeout_ms,
			   struct wc_reply *reply, struct wc_sense *sense, int *err)
{
	struct wc_request rq = {
		.direction = direction,
		.data = data,
		.data_len = direction == WC_NONE ? 0 : 512,
		.timeout_ms = timeout_ms,
	};

	build(&rq, tf, dev->ata12 && !tf->extend, tf->registers && !dev->no_registers);
	return wc_device_scsi(dev, &rq, reply, sense, err);
}

static int identify(struct wcache_device *dev, uint8_t data[WC_IDENTIFY_SIZE],
		    struct wcache_state *s)
{
	const struct taskfile tf = { .command = ATA_IDENTIFY_DEVICE, .count = 1 };
	struct wc_reply reply;
	struct wc_sense sense;
	enum wc_outcome outcome;
	int err;

	memset(data, 0, WC_IDENTIFY_SIZE);
	outcome = run(dev, &tf, WC_IN, data, dev->ctx->timeout_ms, &reply, &sense, &err);
	/* Some USB bridges know the 12-byte form only (its opcode is BLANK elsewhere). */
	if ((outcome == WC_INVALID_OPCODE || outcome == WC_INVALID_FIELD) && !dev->ata12 &&
	    !strcmp(dev->bus, "usb")) {
		dev->ata12 = true;
		outcome = run(dev, &tf, WC_IN, data, dev->ctx->timeout_ms, &reply, &sense, &err);
		dev->ata12 = outcome == WC_GOOD;
	}
	switch (outcome) {
	case WC_GOOD:
		break;
	case WC_NO_ANSWER:
	case WC_NO_MEDIUM:
		return err;
	default:
		wc_state_unknown(s, "ATA PASS-THROUGH is not taken (sense %x/%02x/%02x)", sense.key,
				 sense.asc, sense.ascq);
		return -EPROTONOSUPPORT;
	}
	if (reply.scsi.resid) {
		wc_state_unknown(s, "IDENTIFY DEVICE came back %d bytes short", reply.scsi.resid);
		return -EPROTONOSUPPORT;
	}
	if (wc_identify_is_blank(data)) {
		wc_state_unknown(s, "IDENTIFY DEVICE came back empty");
		return -EPROTONOSUPPORT;
	}
	return 0;
}

/* One of the functions of SCT Feature Control for the write cache. */
static enum wc_outcome sct(struct wcache_device *dev, uint8_t function, uint8_t state,
			   uint8_t options, unsigned int timeout_ms, struct wc_sense *sense,
			   int *err)
{
	const struct taskfile key = { .command = ATA_SMART,
				      .feature = SMART_WRITE_LOG,
				      .count = 1,
				      .lba_low = LOG_SCT,
				      .lba_mid = 0x4f,
				      .lba_high = 0xc2,
				      .registers = true };
	uint8_t sector[512] = {
		[0] = SCT_ACTION_FEATURE_CONTROL,
		[2] = function,
		[4] = SCT_FEATURE_WRITE_CACHE,
		[6] = state,
		[8] = options,
	};
	struct wc_reply reply;

	return run(dev, &key, WC_OUT, sector, timeout_ms, &reply, sense, err);
}

/* Functions 2 and 3 answer in the registers. */
static bool sct_ask(struct wcache_device *dev, uint8_t function, unsigned int *answer)
{
	struct wc_sense sense;
	int err;

	if (sct(dev, function, 0, 0, dev->ctx->timeout_ms, &sense, &err) != WC_GOOD ||
	    !sense.has_registers)
		return false;
	*answer = (sense.ata_count & 0xff) | sense.ata_lba_low << 8;
	return true;
}

static bool sct_is_ready(struct wcache_device *dev)
{
	const struct taskfile status = { .command = ATA_SMART,
					 .feature = SMART_READ_LOG,
					 .count = 1,
					 .lba_low = LOG_SCT,
					 .lba_mid = 0x4f,
					 .lba_high = 0xc2 };
	uint8_t sector[512] = { 0 };
	struct wc_reply reply;
	struct wc_sense sense;
	int err;

	/* ACS-5 8.2.5: extended status FFFFh, a background command is running */
	return run(dev, &status, WC_IN, sector, dev->ctx->timeout_ms, &reply, &sense, &err) ==
		       WC_GOOD &&
	       !reply.scsi.resid && !(sector[14] == 0xff && sector[15] == 0xff);
}

/* A state that is forced is there after power-on only where it is preserved. */
static void sct_query(struct wcache_device *dev, struct wcache_state *s)
{
	unsigned int state, options;

	if (!sct_is_ready(dev) || !sct_ask(dev, SCT_FUNCTION_GET_STATE, &state) ||
	    state < WCACHE_SCT_SET_FEATURES || state > WCACHE_SCT_FORCED_OFF)
		return;
	s->sct = (enum wcache_sct)state;
	s->source[WCACHE_FACT_SCT] = "SCT Feature Control";
	if (s->sct == WCACHE_SCT_SET_FEATURES ||
	    !sct_ask(dev, SCT_FUNCTION_GET_OPTIONS, &options) || !(options & SCT_OPTION_PRESERVE))
		return;
	s->saved = s->sct == WCACHE_SCT_FORCED_ON ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
	s->source[WCACHE_FACT_SAVED] = "SCT Feature Control, option flags";
}

static int ata_query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	uint8_t data[WC_IDENTIFY_SIZE];
	struct wcache_identify id;
	const char *flush;
	int err;

	err = identify(dev, data, s);
	if (err < 0)
		return err;
	wc_identify_decode(data, &id);
	if (!strcmp(wcache_identify_get_class(&id), "atapi")) {
		wc_state_unknown(s, "the drive is an ATAPI device");
		return -EPROTONOSUPPORT;
	}
	s->cache = wcache_identify_get_cache(&id);
	s->source[WCACHE_FACT_CACHE] = s->cache == WCACHE_CACHE_NONE ? "IDENTIFY word 82"
								     : "IDENTIFY word 85";
	if (s->cache == WCACHE_CACHE_UNKNOWN)
		wc_state_unknown(s, "IDENTIFY words 85 to 87 are not valid");
	if (!wc_identify_reports_features(&id))
		s->unreported = true;
	s->nonvolatile = wcache_identify_get_nonvolatile(&id);
	if (s->nonvolatile)
		s->source[WCACHE_FACT_NONVOLATILE] = "IDENTIFY word 69";
	flush = wcache_identify_get_flush_command(&id);
	s->flush_advertised = flush != NULL;
	s->flush = flush && !strcmp(flush, "FLUSH CACHE EXT") ? WC_FLUSH_ATA_EXT : WC_FLUSH_ATA;
	if (!full || s->cache == WCACHE_CACHE_NONE)
		return 0;

	s->saveable = WCACHE_NO;
	/* SCT answers in the registers: without them it can be neither asked nor trusted. */
	if (wc_identify_has_sct_feature_control(&id) && !dev->no_registers) {
		s->saveable = WCACHE_YES;
		sct_query(dev, s);
	}
	s->changeable = s->sct == WCACHE_SCT_FORCED_ON || s->sct == WCACHE_SCT_FORCED_OFF
				? WCACHE_NO
				: WCACHE_YES;
	s->source[WCACHE_FACT_CHANGEABLE] = s->changeable == WCACHE_NO ? "SCT Feature Control"
								       : "IDENTIFY word 82";
	return 0;
}

static int ata_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save)
{
	const struct taskfile tf = { .command = ATA_SET_FEATURES,
				     .feature = on ? FEATURE_WRITE_CACHE_ON
						   : FEATURE_WRITE_CACHE_OFF,
				     .registers = true };
	struct wc_reply reply;
	struct wc_sense sense;
	int err;

	/* Kept over power cycles is what SCT forces and preserves: SET FEATURES is forgotten. */
	if (save &&
	    sct(dev, SCT_FUNCTION_SET, on ? WCACHE_SCT_FORCED_ON : WCACHE_SCT_FORCED_OFF,
		SCT_OPTION_PRESERVE, wc_ctx_slow_timeout(dev->ctx), &sense, &err) != WC_GOOD)
		return wc_fail(dev, err, "SCT Feature Control was refused");
	if (save)
		return 0;
	if (run(dev, &tf, WC_NONE, NULL, wc_ctx_slow_timeout(dev->ctx), &reply, &sense, &err) !=
	    WC_GOOD)
		return wc_fail(dev, err, "SET FEATURES %02Xh (write cache %s) was refused",
			       tf.feature, on ? "on" : "off");
	return 0;
}

/* Standby is entered with an empty cache (ACS-5 4.15); asking does not spin it up. */
static bool is_in_standby(struct wcache_device *dev)
{
	const struct taskfile tf = { .command = ATA_CHECK_POWER_MODE, .registers = true };
	struct wc_reply reply;
	struct wc_sense sense;
	int err;

	if (run(dev, &tf, WC_NONE, NULL, dev->ctx->timeout_ms, &reply, &sense, &err) != WC_GOOD)
		return false;
	/* ACS-5 7.3: 00h standby_z, 01h standby_y. Without registers nothing is known. */
	return sense.has_registers && (sense.ata_count & 0xff) <= 0x01;
}

static int ata_flush(struct wcache_device *dev, const struct wcache_state *s,
		     enum wcache_flush *result)
{
	const bool ext = s->flush == WC_FLUSH_ATA_EXT;
	const struct taskfile tf = { .command = ext ? ATA_FLUSH_CACHE_EXT : ATA_FLUSH_CACHE,
				     .extend = ext,
				     .registers = true };
	struct wc_reply reply;
	struct wc_sense sense;
	enum wc_outcome outcome;
	int err;

	if (is_in_standby(dev)) {
		*result = WCACHE_FLUSH_ASLEEP;
		return 0;
	}
	outcome = run(dev, &tf, WC_NONE, NULL, wc_ctx_slow_timeout(dev->ctx), &reply, &sense, &err);
	if (outcome == WC_GOOD) {
		*result = WCACHE_FLUSH_DONE;
		return 0;
	}
	if (outcome == WC_ABORTED && !s->flush_advertised)
		return wc_fail(dev, -EOPNOTSUPP, "the drive has no flush command");
	if (err == -EOPNOTSUPP && outcome == WC_ABORTED)
		err = -EIO;
	return wc_fail(dev, err, "FLUSH CACHE%s failed", ext ? " EXT" : "");
}

/* SCT Feature Control that returns a state, although data goes to the drive. */
static bool is_sct_question(const struct wc_request *rq, uint8_t log, uint8_t feature)
{
	const uint8_t *key = rq->data;

	return feature == SMART_WRITE_LOG && log == LOG_SCT && rq->direction == WC_OUT &&
	       rq->data_len == 512 && key[0] == SCT_ACTION_FEATURE_CONTROL && !key[1] &&
	       (key[2] == SCT_FUNCTION_GET_STATE || key[2] == SCT_FUNCTION_GET_OPTIONS) && !key[3];
}

enum wcache_access wc_ata_access(const struct wc_request *rq)
{
	const uint8_t *cdb = rq->scsi.cdb;
	const bool ata16 = cdb[0] == ATA_PASS_THROUGH_16;
	const uint8_t command = ata16 ? cdb[14] : cdb[9];
	const uint8_t feature = ata16 ? cdb[4] : cdb[3];
	const uint8_t lba_low = ata16 ? cdb[8] : cdb[5];

	switch (command) {
	case ATA_IDENTIFY_DEVICE:
	case ATA_IDENTIFY_PACKET_DEVICE:
	case ATA_CHECK_POWER_MODE:
		return WCACHE_ACCESS_QUERY;
	case ATA_SMART:
		if (feature == SMART_READ_LOG || is_sct_question(rq, lba_low, feature))
			return WCACHE_ACCESS_QUERY;
		return WCACHE_ACCESS_CHANGE;
	case ATA_FLUSH_CACHE:
	case ATA_FLUSH_CACHE_EXT:
		return WCACHE_ACCESS_FLUSH;
	}
	return WCACHE_ACCESS_CHANGE;
}

void wc_ata_redact(const struct wc_request *rq, uint8_t *data, size_t len)
{
	const uint8_t *cdb = rq->scsi.cdb;
	const uint8_t command = cdb[0] == ATA_PASS_THROUGH_16 ? cdb[14] : cdb[9];
	uint8_t sum = 0;

	if (command != ATA_IDENTIFY_DEVICE || len != WC_IDENTIFY_SIZE)
		return;
	memset(data + 2 * 10, ' ', 20); /* serial number */
	memset(data + 2 * 108, 0, 8); /* world wide name */
	if (data[510] != 0xa5)
		return;
	for (size_t i = 0; i < 511; i++)
		sum += data[i];
	data[511] = -sum;
}

const struct wc_backend wc_backend_ata = {
	.protocol = "ata",
	.query = ata_query,
	.set = ata_set,
	.flush = ata_flush,
};
