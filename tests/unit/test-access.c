/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each level of access lets out of the library. */
#include <errno.h>
#include <string.h>

#include "backend/backend.h"
#include "suite.h"

static int sent;

static int count_submit(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply)
{
	sent++;
	return 0;
}

static ssize_t no_attr(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	return -ENOENT;
}

static int count_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	sent++;
	return 0;
}

static const char *no_prop(struct wc_transport *t, const char *key)
{
	return NULL;
}

static int count_sync(struct wc_transport *t)
{
	sent++;
	return 0;
}

static void close_nothing(struct wc_transport *t)
{
}

static const struct wc_transport_ops counting_ops = {
	.name = "counting",
	.submit = count_submit,
	.attr_get = no_attr,
	.attr_set = count_attr_set,
	.prop_get = no_prop,
	.sync = count_sync,
	.close = close_nothing,
};

static bool leaves(enum wcache_access access, const struct wc_request *rq)
{
	struct wc_transport t = { .ops = &counting_ops };
	struct wcache_device *dev;
	struct wcache_ctx *ctx;
	struct wc_reply reply;
	int err;

	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_int_eq(wc_device_new(ctx, "sdx", &t, access, &dev), 0);
	sent = 0;
	err = wc_device_submit(dev, rq, &reply);
	ck_assert_int_eq(err, sent ? 0 : -EPERM);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	return sent;
}

static void ck_needs(const struct wc_request *rq, enum wcache_access level)
{
	for (int access = WCACHE_ACCESS_QUERY; access <= WCACHE_ACCESS_CHANGE; access++)
		ck_assert_int_eq(leaves(access, rq), access >= (int)level);
}

static struct wc_request scsi(uint8_t opcode)
{
	struct wc_request rq = { .set = WC_SCSI,
				 .direction = WC_NONE,
				 .scsi = { .cdb = { opcode }, .cdb_len = 16 } };

	return rq;
}

static struct wc_request ata16(uint8_t command, uint8_t feature, uint8_t lba_low)
{
	struct wc_request rq = scsi(0x85);

	rq.scsi.cdb[14] = command;
	rq.scsi.cdb[4] = feature;
	rq.scsi.cdb[8] = lba_low;
	return rq;
}

START_TEST(every_scsi_opcode)
{
	static const uint8_t queries[] = { 0x00, 0x03, 0x12, 0x1a, 0x25, 0x5a };

	for (int opcode = 0; opcode < 256; opcode++) {
		struct wc_request rq = scsi(opcode);

		if (opcode == 0x85 || opcode == 0xa1)
			continue;
		if (memchr(queries, opcode, sizeof(queries)))
			ck_needs(&rq, WCACHE_ACCESS_QUERY);
		else if (opcode == 0x35 || opcode == 0x91)
			ck_needs(&rq, WCACHE_ACCESS_FLUSH);
		else
			ck_needs(&rq, WCACHE_ACCESS_CHANGE);
	}
}
END_TEST

START_TEST(every_ata_command)
{
	for (int command = 0; command < 256; command++)
		for (int twelve = 0; twelve < 2; twelve++) {
			struct wc_request rq = ata16(command, 0x82, 0);

			if (twelve) {
				rq = scsi(0xa1);
				rq.scsi.cdb[9] = command;
			}
			if (command == 0xec || command == 0xa1 || command == 0xe5)
				ck_needs(&rq, WCACHE_ACCESS_QUERY);
			else if (command == 0xe7 || command == 0xea)
				ck_needs(&rq, WCACHE_ACCESS_FLUSH);
			else
				ck_needs(&rq, WCACHE_ACCESS_CHANGE);
		}
}
END_TEST

START_TEST(sct_questions_and_orders)
{
	struct wc_request read = ata16(0xb0, 0xd5, 0xe0);
	struct wc_request write = ata16(0xb0, 0xd6, 0xe0);
	uint8_t key[512] = { 4, 0, 2, 0, 1 };

	ck_needs(&read, WCACHE_ACCESS_QUERY);
	write.direction = WC_OUT;
	write.data = key;
	write.data_len = sizeof(key);
	ck_needs(&write, WCACHE_ACCESS_QUERY); /* returns the state */
	key[2] = 1;
	ck_needs(&write, WCACHE_ACCESS_CHANGE); /* sets it */
	key[2] = 2;
	key[0] = 2;
	ck_needs(&write, WCACHE_ACCESS_CHANGE); /* WRITE SAME */
	key[0] = 4;
	write.scsi.cdb[8] = 0x80;
	ck_needs(&write, WCACHE_ACCESS_CHANGE); /* another log */
}
END_TEST

START_TEST(every_nvme_opcode)
{
	for (int opcode = 0; opcode < 256; opcode++) {
		struct wc_request rq = { .set = WC_NVME_ADMIN,
					 .direction = WC_NONE,
					 .nvme = { .opcode = opcode } };

		if (opcode == 0x02 || opcode == 0x06 || opcode == 0x0a)
			ck_needs(&rq, WCACHE_ACCESS_QUERY);
		else
			ck_needs(&rq, WCACHE_ACCESS_CHANGE);
		rq.set = WC_NVME_IO;
		ck_needs(&rq, opcode ? WCACHE_ACCESS_CHANGE : WCACHE_ACCESS_FLUSH);
	}
}
END_TEST

START_TEST(attributes_and_functions)
{
	struct wc_transport t = { .ops = &counting_ops };
	enum wcache_flush result;
	struct wcache_device *dev;
	struct wcache_ctx *ctx;
	enum wcache_answer awake, healthy;

	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_int_eq(wc_device_new(ctx, "sdx", &t, WCACHE_ACCESS_QUERY, &dev), 0);
	sent = 0;
	ck_assert_int_eq(wc_device_attr_set(dev, "device/rescan", "1"), -EPERM);
	ck_assert_int_eq(wcache_device_flush(dev, 0, &result), -EPERM);
	ck_assert_int_eq(wcache_device_get_health(dev, &awake, &healthy), -EPERM);
	ck_assert_int_eq(sent, 0);
	wcache_device_close(dev);
	ck_assert_int_eq(wc_device_new(ctx, "sdx", &t, WCACHE_ACCESS_FLUSH, &dev), 0);
	ck_assert_int_eq(wc_device_attr_set(dev, "device/rescan", "1"), -EPERM);
	ck_assert_int_eq(sent, 0);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("access");
	TCase *tc = tcase_create("access");

	tcase_add_test(tc, every_scsi_opcode);
	tcase_add_test(tc, every_ata_command);
	tcase_add_test(tc, sct_questions_and_orders);
	tcase_add_test(tc, every_nvme_opcode);
	tcase_add_test(tc, attributes_and_functions);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
