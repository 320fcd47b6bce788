/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NVMe: Identify Controller VWC (NVMe 2.0 5.17.2.1), Volatile Write Cache feature
 * 06h (5.27.1.4), Flush (7.1). Feature 06h belongs to the controller: NSID 0, since
 * controllers exist that answer "feature not namespace specific" to any other.
 */
#include <errno.h>
#include <string.h>

#include "backend.h"

enum {
	ADMIN_GET_LOG_PAGE = 0x02,
	ADMIN_IDENTIFY = 0x06,
	ADMIN_SET_FEATURES = 0x09,
	ADMIN_GET_FEATURES = 0x0a,
	IO_FLUSH = 0x00,
	CNS_CONTROLLER = 1,
	FEATURE_WRITE_CACHE = 0x06,
	/* Get Features SEL, CDW10 bits 10:8 */
	SEL_CURRENT = 0,
	SEL_DEFAULT = 1,
	SEL_SAVED = 2,
	SEL_CAPABILITIES = 3,
};

#define IDENTIFY_LEN 4096
#define ID_SERIAL 4
#define ID_ONCS 520
#define ID_VWC 525
#define ONCS_SAVE_SELECT (1 << 4)
#define VWC_PRESENT (1 << 0)
#define CAP_SAVEABLE (1 << 0)
#define CAP_CHANGEABLE (1 << 2)
#define SET_FEATURES_SV (1u << 31)

/* Status field without the More and Do Not Retry bits. */
#define STATUS_MASK 0x7ff

static int run(struct wcache_device *dev, struct wc_request *rq, struct wc_reply *reply)
{
	int err;

	if (!rq->direction)
		rq->direction = WC_NONE;
	err = wc_device_submit(dev, rq, reply);
	if (err < 0)
		return err;
	if (!(reply->nvme.status & STATUS_MASK))
		return 0;
	dev->error.has_nvme = true;
	dev->error.nvme_status = reply->nvme.status & STATUS_MASK;
	return -EIO;
}

static int get_feature(struct wcache_device *dev, unsigned int sel, uint32_t *result)
{
	struct wc_request rq = {
		.set = WC_NVME_ADMIN,
		.timeout_ms = dev->ctx->timeout_ms,
		.nvme = { .opcode = ADMIN_GET_FEATURES, .cdw10 = sel << 8 | FEATURE_WRITE_CACHE },
	};
	struct wc_reply reply;
	int err = run(dev, &rq, &reply);

	if (!err)
		*result = reply.nvme.result;
	return err;
}

static bool ends_query(int err)
{
	return err == -ENODEV || err == -ETIMEDOUT || err == -EBADMSG;
}

static int query_other(struct wcache_device *dev, const uint8_t *id, struct wcache_state *s)
{
	uint32_t v;
	int err;

	/* Without Save and Select (ONCS bit 4) SEL does not exist. */
	if (!(id[ID_ONCS] & ONCS_SAVE_SELECT)) {
		s->saveable = WCACHE_NO;
		return 0;
	}
	err = get_feature(dev, SEL_CAPABILITIES, &v);
	if (ends_query(err))
		return err;
	if (!err) {
		s->saveable = v & CAP_SAVEABLE ? WCACHE_YES : WCACHE_NO;
		s->changeable = v & CAP_CHANGEABLE ? WCACHE_YES : WCACHE_NO;
		s->source[WCACHE_FACT_CHANGEABLE] = "Get Features 06h, capabilities";
	}
	err = get_feature(dev, SEL_DEFAULT, &v);
	if (ends_query(err))
		return err;
	if (!err) {
		s->dflt = v & 1 ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
		s->source[WCACHE_FACT_DEFAULT] = "Get Features 06h, default";
	}
	if (s->saveable != WCACHE_YES)
		return 0;
	err = get_feature(dev, SEL_SAVED, &v);
	if (ends_query(err))
		return err;
	if (!err) {
		s->saved = v & 1 ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
		s->source[WCACHE_FACT_SAVED] = "Get Features 06h, saved";
	}
	return 0;
}

static int nvme_query(struct wcache_device *dev, bool full, struct wcache_state *s)
{
	uint8_t id[IDENTIFY_LEN] = { 0 };
	struct wc_request rq = {
		.set = WC_NVME_ADMIN,
		.direction = WC_IN,
		.data = id,
		.data_len = sizeof(id),
		.timeout_ms = dev->ctx->timeout_ms,
		.nvme = { .opcode = ADMIN_IDENTIFY, .cdw10 = CNS_CONTROLLER },
	};
	struct wc_reply reply;
	uint32_t v;
	int err;

	err = run(dev, &rq, &reply);
	if (err == -EIO) {
		wc_state_unknown(s, "Identify Controller failed (status %03xh)",
				 dev->error.nvme_status);
		return 0;
	}
	if (err)
		return err;
	/* Bytes 0 and 1 are the PCI vendor: a controller has one. */
	if (!id[0] && !id[1]) {
		wc_state_unknown(s, "Identify Controller came back empty");
		return 0;
	}
	s->flush = WC_FLUSH_NVME;
	s->flush_advertised = true;
	if (!(id[ID_VWC] & VWC_PRESENT)) {
		s->cache = WCACHE_CACHE_NONE;
		s->source[WCACHE_FACT_CACHE] = "Identify Controller VWC";
		s->nonvolatile = WCACHE_YES;
		s->source[WCACHE_FACT_NONVOLATILE] = "Identify Controller VWC";
		return 0;
	}
	s->nonvolatile = WCACHE_NO;
	s->source[WCACHE_FACT_NONVOLATILE] = "Identify Controller VWC";
	err = full ? query_other(dev, id, s) : 0;
	if (err)
		return err;
	/* Last: a controller that is reset in between, which no answer tells of, is seen. */
	err = get_feature(dev, SEL_CURRENT, &v);
	if (err == -EIO) {
		wc_state_unknown(s, "Get Features 06h failed (status %03xh)",
				 dev->error.nvme_status);
		return 0;
	}
	if (err)
		return err;
	s->cache = v & 1 ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
	s->source[WCACHE_FACT_CACHE] = "Get Features 06h";
	return 0;
}

static int nvme_set(struct wcache_device *dev, const struct wcache_state *s, bool on, bool save)
{
	struct wc_request rq = {
		.set = WC_NVME_ADMIN,
		.timeout_ms = wc_ctx_slow_timeout(dev->ctx),
		.nvme = { .opcode = ADMIN_SET_FEATURES,
			  .cdw10 = FEATURE_WRITE_CACHE | (save ? SET_FEATURES_SV : 0),
			  .cdw11 = on },
	};
	struct wc_reply reply;
	int err = run(dev, &rq, &reply);

	if (err == -EIO)
		return wc_fail(dev, -EOPNOTSUPP, "Set Features 06h (WCE=%d) was refused", on);
	return err ? wc_fail(dev, err, "Set Features 06h (WCE=%d) failed", on) : 0;
}

static int nvme_flush(struct wcache_device *dev, const struct wcache_state *s,
		      enum wcache_flush *result)
{
	struct wc_request rq = {
		.set = WC_NVME_IO,
		.timeout_ms = wc_ctx_slow_timeout(dev->ctx),
		.nvme = { .opcode = IO_FLUSH },
	};
	struct wc_reply reply;
	char nsid[16];
	ssize_t n;
	int err;

	/* The kernel wants the namespace of the node, nothing else (nvme_user_cmd()). */
	n = wc_device_attr(dev, "nsid", nsid, sizeof(nsid));
	if (n <= 0)
		return wc_fail(dev, n < 0 ? n : -ENODATA, "the namespace has no nsid in sysfs");
	for (const char *c = nsid; *c >= '0' && *c <= '9'; c++)
		rq.nvme.nsid = rq.nvme.nsid * 10 + (*c - '0');
	err = run(dev, &rq, &reply);
	if (err)
		return wc_fail(dev, err, "Flush of namespace %u failed", rq.nvme.nsid);
	*result = WCACHE_FLUSH_DONE;
	return 0;
}

enum wcache_access wc_nvme_access(const struct wc_request *rq)
{
	if (rq->set == WC_NVME_IO)
		return rq->nvme.opcode == IO_FLUSH ? WCACHE_ACCESS_FLUSH : WCACHE_ACCESS_CHANGE;
	switch (rq->nvme.opcode) {
	case ADMIN_GET_LOG_PAGE:
	case ADMIN_IDENTIFY:
	case ADMIN_GET_FEATURES:
		return WCACHE_ACCESS_QUERY;
	}
	return WCACHE_ACCESS_CHANGE;
}

void wc_nvme_redact(const struct wc_request *rq, uint8_t *data, size_t len)
{
	if (rq->nvme.opcode == ADMIN_IDENTIFY && rq->nvme.cdw10 == CNS_CONTROLLER &&
	    len == IDENTIFY_LEN)
		memset(data + ID_SERIAL, ' ', 20);
}

const struct wc_backend wc_backend_nvme = {
	.protocol = "nvme",
	.query = nvme_query,
	.set = nvme_set,
	.flush = nvme_flush,
};
