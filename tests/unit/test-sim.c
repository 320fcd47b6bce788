/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated drive by itself: the tests that lean on it prove nothing where it is
 * kinder, or stranger, than a drive.
 */
#include <string.h>

#include "suite.h"
#include "sim/drive.h"

static struct sim_drive *drive(const char *name)
{
	return sim_new(sim_personality_find(name), 16, "SIM00001");
}

static struct sim_reply scsi(struct sim_drive *d, const char *hex, const void *out, size_t out_len,
			     uint8_t *in, size_t in_len)
{
	struct sim_reply r;
	uint8_t cdb[16] = { 0 };
	unsigned int v;

	for (size_t i = 0; i < sizeof(cdb) && sscanf(hex + 2 * i, "%2x", &v) == 1; i++)
		cdb[i] = v;
	sim_scsi(d, cdb, out, out_len, in, in_len, &r);
	return r;
}

static uint8_t medium(struct sim_drive *d, size_t sector)
{
	uint8_t data[SIM_SECTOR];

	sim_read(d, sector, data);
	return data[0];
}

static void write_sector(struct sim_drive *d, const char *cdb, uint8_t value)
{
	uint8_t data[SIM_SECTOR];

	memset(data, value, sizeof(data));
	ck_assert_int_eq(scsi(d, cdb, data, sizeof(data), NULL, 0).status, 0);
}

/* WRITE(10) of block 3, without and with FUA; READ(10) of it; SYNCHRONIZE CACHE(10) */
#define WRITE "2a000000000300000100"
#define WRITE_FUA "2a080000000300000100"
#define READ "28000000000300000100"
#define SYNC "35000000000000000000"

START_TEST(what_a_power_cut_loses)
{
	static const struct {
		bool on, sync;
		const char *write;
		uint8_t left;
	} rows[] = {
		{ true, false, WRITE, 0 },
		{ true, true, WRITE, 7 },
		{ true, false, WRITE_FUA, 7 },
		{ false, false, WRITE, 7 },
	};
	struct sim_drive *d = drive("sas");
	uint8_t data[SIM_SECTOR];

	sim_set_wce(d, rows[_i].on, false);
	write_sector(d, rows[_i].write, 7);
	ck_assert_uint_eq(scsi(d, READ, NULL, 0, data, sizeof(data)).moved, SIM_SECTOR);
	ck_assert_uint_eq(data[0], 7);
	if (rows[_i].sync)
		ck_assert_int_eq(scsi(d, SYNC, NULL, 0, NULL, 0).status, 0);
	sim_power_cut(d);
	ck_assert_uint_eq(medium(d, 3), rows[_i].left);
	sim_free(d);
}
END_TEST

/* The worst that a drive may do: what is cached when it is turned off stays cached. */
START_TEST(turning_off_is_no_flush)
{
	struct sim_drive *d = drive("sas");

	write_sector(d, WRITE, 7);
	sim_set_wce(d, false, false);
	ck_assert(d->dirty[3]);
	sim_power_cut(d);
	ck_assert_uint_eq(medium(d, 3), 0);
	ck_assert_msg(sim_caches(d), "what was not saved outlived the power");
	sim_free(d);
}
END_TEST

START_TEST(a_reset_forgets_the_setting_and_no_data)
{
	struct sim_drive *d = drive("sas");

	write_sector(d, WRITE, 7);
	sim_set_wce(d, false, false);
	sim_reset(d);
	ck_assert(sim_caches(d));
	ck_assert_uint_eq(medium(d, 3), 7);
	ck_assert(d->dirty[3]);
	sim_free(d);
}
END_TEST

/* SPC-6 6.14: each of these is a mistake that a target may refuse. */
START_TEST(mode_select_is_strict)
{
	static const struct {
		const char *what, *cdb; /* its first two bytes */
		uint8_t at, value; /* of the parameter list */
		bool good;
	} rows[] = {
		{ "as it should be", "5510", 0, 0, true },
		{ "PF clear", "5500", 0, 0, false },
		{ "SP where nothing can be saved", "5511", 0, 0, false },
		{ "mode data length", "5510", 1, 0x1a, false },
		{ "device-specific parameter", "5510", 3, 0x10, false },
		{ "PS", "5510", 8, 0x88, false },
		{ "another bit of the page", "5510", 10, 0x11, false },
	};
	/* eight bytes of header, no block descriptor, the page with WCE clear */
	uint8_t list[28] = { [8] = 0x08,  [9] = 0x12,  [10] = 0x10, [12] = 0xff, [13] = 0xff,
			     [16] = 0xff, [17] = 0xff, [18] = 0xff, [19] = 0xff, [20] = 0x80 };
	struct sim_drive *d = drive("sas");
	char cdb[24];

	if (rows[_i].at)
		list[rows[_i].at] = rows[_i].value;
	snprintf(cdb, sizeof(cdb), "%s0000000000001c00", rows[_i].cdb);
	ck_assert_msg((scsi(d, cdb, list, sizeof(list), NULL, 0).status == 0) == rows[_i].good,
		      "%s", rows[_i].what);
	ck_assert_msg(sim_caches(d) == !rows[_i].good, "%s", rows[_i].what);
	sim_free(d);
}
END_TEST

/* SET FEATURES 82h with CK_COND: the registers come in sense data (SAT-5 12.2.2.7). */
START_TEST(ata_pass_through)
{
	const char *cdb = "8506200082000000000000000040ef00";
	const char *identify = "85080e0000000100000000000040ec00";
	struct sim_drive *d = drive("sata");
	uint8_t id[512];
	struct sim_reply r = scsi(d, identify, NULL, 0, id, sizeof(id));

	ck_assert_uint_eq(r.moved, 512);
	ck_assert(id[2 * 85] & 1 << 5);
	r = scsi(d, cdb, NULL, 0, NULL, 0);
	ck_assert_int_eq(r.status, 2);
	ck_assert_uint_eq(r.sense[0], 0x72);
	ck_assert_uint_eq(r.sense[1], 0x01);
	ck_assert_uint_eq(r.sense[21] & 0x01, 0);
	ck_assert(!sim_caches(d));
	scsi(d, identify, NULL, 0, id, sizeof(id));
	ck_assert(!(id[2 * 85] & 1 << 5));
	/* SET FEATURES F0h is none that it has */
	r = scsi(d, "85062000f0000000000000000040ef00", NULL, 0, NULL, 0);
	ck_assert_uint_eq(r.sense[21] & 0x01, 0x01);
	sim_free(d);
}
END_TEST

START_TEST(nvme_feature_06h)
{
	struct sim_drive *d = drive("nvme");
	uint32_t result;
	uint16_t status;

	ck_assert(sim_nvme(d, true, 0x0a, 0, 6, 0, NULL, 0, &status, &result));
	ck_assert_uint_eq(status, 0);
	ck_assert_uint_eq(result, 1);
	/* with a namespace it is not namespace specific; SV where nothing is saveable */
	ck_assert(sim_nvme(d, true, 0x09, 1, 6, 0, NULL, 0, &status, &result));
	ck_assert_uint_eq(status, 0x10f);
	ck_assert(sim_nvme(d, true, 0x09, 0, 1u << 31 | 6, 0, NULL, 0, &status, &result));
	ck_assert_uint_eq(status, 0x002);
	ck_assert(sim_caches(d));
	ck_assert(sim_nvme(d, true, 0x09, 0, 6, 0, NULL, 0, &status, &result));
	ck_assert_uint_eq(status, 0);
	ck_assert(!sim_caches(d));
	sim_free(d);
}
END_TEST

/* A fault strikes at its step, once or from there on, and only then. */
START_TEST(faults_strike_when_told)
{
	struct sim_drive *d = drive("sas");

	d->fault = (struct sim_fault){ .step = 2, .kind = SIM_FAULT_BUSY, .for_good = _i };
	ck_assert_int_eq(scsi(d, SYNC, NULL, 0, NULL, 0).status, 0);
	ck_assert_int_eq(scsi(d, SYNC, NULL, 0, NULL, 0).status, 8);
	ck_assert_int_eq(scsi(d, SYNC, NULL, 0, NULL, 0).status, _i ? 8 : 0);
	ck_assert_uint_eq(d->flushes, _i ? 1 : 2);
	sim_free(d);
}
END_TEST

START_TEST(gone_is_gone)
{
	struct sim_drive *d = drive("sas");
	struct sim_reply r;

	d->fault = (struct sim_fault){ .step = 1, .kind = SIM_FAULT_GONE };
	r = scsi(d, SYNC, NULL, 0, NULL, 0);
	ck_assert_uint_eq(r.host, 1);
	r = scsi(d, SYNC, NULL, 0, NULL, 0);
	ck_assert_uint_eq(r.host, 1);
	ck_assert_uint_eq(d->flushes, 0);
	sim_free(d);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim");
	TCase *tc = tcase_create("drive");

	tcase_add_loop_test(tc, what_a_power_cut_loses, 0, 4);
	tcase_add_test(tc, turning_off_is_no_flush);
	tcase_add_test(tc, a_reset_forgets_the_setting_and_no_data);
	tcase_add_loop_test(tc, mode_select_is_strict, 0, 7);
	tcase_add_test(tc, ata_pass_through);
	tcase_add_test(tc, nvme_feature_06h);
	tcase_add_loop_test(tc, faults_strike_when_told, 0, 2);
	tcase_add_test(tc, gone_is_gone);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
