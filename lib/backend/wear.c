/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No standard has a counter of bytes written to the medium. ATA drives have vendors'
 * attributes, of which only those are read whose unit the vendor or smartmontools'
 * database documents. NVMe counts what the host wrote (NVMe 2.0 5.16.1.3); the Open
 * Compute Project's log C0h adds the medium (OCP Datacenter NVMe SSD 2.0, 4.8.6).
 */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "backend.h"
#include "wear.h"

#define MIB 1048576.0
#define GIB 1073741824.0

enum wear_form {
	FORM_BYTES = 1, /* two attributes in units of bytes */
	FORM_PAGES = 2 /* pages programmed for the host, and beside it by the drive for itself */
};

static const struct {
	const char *model;
	enum wear_form form;
	uint8_t host, media;
	double host_unit, media_unit;
} rows[] = {
	/* A blank of the model can be an underscore. Host_Writes_32MiB, NAND_Writes_32MiB or
	   NAND_Writes_1GiB */
	{ "INTEL?SSD*", FORM_BYTES, 241, 243, 32 * MIB, 32 * MIB },
	{ "INTEL?SSD*", FORM_BYTES, 241, 249, 32 * MIB, GIB },
	{ "INTEL?SSD*", FORM_BYTES, 225, 249, 32 * MIB, GIB },
	/* Phison: Lifetime_Writes_GiB, Flash_Writes_GiB */
	{ "KINGSTON?SA400*", FORM_BYTES, 241, 233, GIB, GIB },
	{ "KINGSTON?SUV400*", FORM_BYTES, 241, 233, GIB, GIB },
	/* Total_Host_Sector_Write; Host_Program_Page_Count and FTL_Program_Page_Count */
	{ "Micron_*", FORM_PAGES, 247, 248, 512, 0 },
	{ "Crucial_*", FORM_PAGES, 247, 248, 512, 0 },
	{ "CT[0-9]*SSD*", FORM_PAGES, 247, 248, 512, 0 },
};

#define MICRON_HOST_SECTORS 246

static const uint64_t *find(const struct wc_smart_attribute *attribute, size_t n, uint8_t id)
{
	for (size_t i = 0; i < n; i++)
		if (attribute[i].id == id)
			return &attribute[i].raw;
	return NULL;
}

void wc_wear_from_smart(const char *model, const struct wc_smart_attribute *attribute, size_t n,
			struct wc_wear *wear)
{
	*wear = (struct wc_wear){ .host = -1, .media = -1 };
	for (size_t i = 0; model && i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t *host, *media, *sectors;
		double page;

		if (fnmatch(rows[i].model, model, 0) != 0)
			continue;
		host = find(attribute, n, rows[i].host);
		media = find(attribute, n, rows[i].media);
		if (!host || !media)
			continue;
		if (rows[i].form == FORM_BYTES) {
			wear->host = (double)*host * rows[i].host_unit;
			wear->media = (double)*media * rows[i].media_unit;
			wear->step = rows[i].host_unit > rows[i].media_unit ? rows[i].host_unit
									    : rows[i].media_unit;
			return;
		}
		sectors = find(attribute, n, MICRON_HOST_SECTORS);
		if (!sectors || !*host)
			continue;
		/* The size of a page is what the host's sectors made of it over the drive's life.
		 */
		page = (double)*sectors * rows[i].host_unit / (double)*host;
		wear->host = (double)*host * page;
		wear->media = (double)(*host + *media) * page;
		wear->step = page;
		return;
	}
}

enum {
	GET_LOG_PAGE = 0x02,
	LOG_SMART = 0x02,
	LOG_OCP = 0xc0,
	LOG_LEN = 512,
	SMART_UNITS_WRITTEN = 48,
	OCP_MEDIA_WRITTEN = 0,
	OCP_GUID = 496,
};

/* Data Units are thousands of 512 bytes. */
#define DATA_UNIT 512000.0

static const uint8_t ocp_guid[16] = { 0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
				      0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf };

static double le128(const uint8_t *bytes)
{
	double value = 0;

	for (int i = 15; i >= 0; i--)
		value = value * 256 + bytes[i];
	return value;
}

static int get_log(struct wcache_device *dev, uint8_t log, uint8_t *data)
{
	struct wc_request rq = {
		.set = WC_NVME_ADMIN,
		.direction = WC_IN,
		.data = data,
		.data_len = LOG_LEN,
		.timeout_ms = dev->ctx->timeout_ms,
		.nvme = {
			.opcode = GET_LOG_PAGE,
			.nsid = 0xffffffff,
			.cdw10 = (LOG_LEN / 4 - 1) << 16 | log,
		},
	};
	struct wc_reply reply;
	int err;

	memset(data, 0, LOG_LEN);
	err = wc_device_submit(dev, &rq, &reply);
	if (err)
		return err;
	return reply.nvme.status ? -EOPNOTSUPP : 0;
}

int wc_wear_from_nvme(struct wcache_device *dev, struct wc_wear *wear)
{
	struct wc_wear found = { .host = -1, .media = -1, .step = DATA_UNIT };
	uint8_t log[LOG_LEN];
	int err;

	err = get_log(dev, LOG_SMART, log);
	if (err)
		return wc_fail(dev, err, "the SMART / Health log cannot be read");
	found.host = le128(log + SMART_UNITS_WRITTEN) * DATA_UNIT;
	/* A vendor's log: whatever is there without the project's GUID is something else. */
	err = get_log(dev, LOG_OCP, log);
	if (err == -ENODEV || err == -ETIMEDOUT || err == -EBADMSG)
		return err;
	if (!err && memcmp(log + OCP_GUID, ocp_guid, sizeof(ocp_guid)) == 0)
		found.media = le128(log + OCP_MEDIA_WRITTEN);
	*wear = found;
	return 0;
}
