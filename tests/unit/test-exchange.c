/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exchange file: what it holds, what it refuses, and that a recording replays. */
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"

static const char sas[] = "wcache-exchange 1\n"
			  "# a drive written by hand\n"
			  "device sdb\n"
			  "prop bus=sas\n"
			  "prop ID_SCSI_SERIAL=SECRET77\n"
			  "attr device/vendor=SEAGATE\n"
			  "attr device/model=ST1200MM0129\n"
			  "attr device/type=0\n"
			  "attr queue/write_cache=write back\n"
			  "> scsi in 512 5a08 0800 0000 0002 0000\n"
			  "< status=00 host=00 driver=00 resid=484 sense=\n"
			  "= 00 1a 00 10 00 00 00 00 88 12 14 00 ff ff 00 00 ff ff ff ff\n"
			  "= 912000000000 0000\n";

static void ck_bad(const char *text, const char *expect)
{
	struct wc_exchange *x = NULL;
	char why[256] = "";

	ck_assert_int_eq(wc_exchange_parse(text, strlen(text), &x, why, sizeof(why)), -EBADMSG);
	ck_assert_ptr_null(x);
	ck_assert_msg(strstr(why, expect), "\"%s\" does not say \"%s\"", why, expect);
}

START_TEST(replay_answers)
{
	struct wcache_ctx *ctx = recording_ctx(sas);
	struct wcache_device *dev = recording_open(ctx, "/dev/sdb", WCACHE_ACCESS_QUERY);
	struct wcache_state *s;

	ck_assert_str_eq(wcache_device_get_model(dev), "ST1200MM0129");
	ck_assert_str_eq(wcache_device_get_serial(dev), "SECRET77");
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_ON);
	ck_assert_int_eq(wcache_state_get_kernel(s), WCACHE_KERNEL_WRITE_BACK);
	wcache_state_free(s);
	recording_is_used_up(ctx);
	/* The recording has ended: one more question is an error, not an answer. */
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(wcache_ctx_get_error(ctx), "5a08080000000002"));
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(replay_is_strict)
{
	char text[sizeof(sas)];
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	struct wcache_state *s;

	strcpy(text, sas);
	memcpy(strstr(text, "5a08"), "5a00", 4);
	ctx = recording_ctx(text);
	dev = recording_open(ctx, "sdb", WCACHE_ACCESS_QUERY);
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(wcache_ctx_get_error(ctx), "line 10 expects"));
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(any_order_repeats)
{
	char text[sizeof(sas) + 32];
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	struct wcache_state *s;

	snprintf(text, sizeof(text), "wcache-exchange 1\norder any\n%s", strchr(sas, '\n') + 1);
	ctx = recording_ctx(text);
	dev = recording_open(ctx, "sdb", WCACHE_ACCESS_QUERY);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
		ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_ON);
		wcache_state_free(s);
	}
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

static char *slurp(const char *path)
{
	static char text[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

START_TEST(capture_of_a_replay_replays)
{
	char path[] = "/tmp/wcache-test-XXXXXX";
	struct wcache_ctx *ctx = recording_ctx(sas);
	struct wcache_device *dev;
	struct wcache_state *s;
	char *text;

	close(mkstemp(path));
	ck_assert_int_eq(wcache_ctx_set_capture(ctx, path), 0);
	dev = recording_open(ctx, "sdb", WCACHE_ACCESS_QUERY);
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	text = slurp(path);
	ck_assert_ptr_null(strstr(text, "SECRET77"));
	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_int_eq(wcache_ctx_set_replay(ctx, path), 0);
	dev = recording_open(ctx, "sdb", WCACHE_ACCESS_QUERY);
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_ON);
	ck_assert_int_eq(wcache_state_get_kernel(s), WCACHE_KERNEL_WRITE_BACK);
	recording_is_used_up(ctx);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	unlink(path);
}
END_TEST

START_TEST(attributes_change_between_requests)
{
	struct wcache_ctx *ctx = recording_ctx("wcache-exchange 1\n"
					       "device sda\n"
					       "attr device/type=0\n"
					       "attr queue/write_cache=write back\n"
					       "attr odd=a\\x0ab\\x5c\\x20\n"
					       "> set attr device/rescan=1\n"
					       "< errno=0\n"
					       "attr queue/write_cache=write through\n");
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_CHANGE);
	char v[64];

	ck_assert_int_eq(wc_device_attr(dev, "queue/write_cache", v, sizeof(v)), 10);
	ck_assert_str_eq(v, "write back");
	ck_assert_int_eq(wc_device_attr(dev, "odd", v, sizeof(v)), 5);
	ck_assert_str_eq(v, "a\nb\\ ");
	ck_assert_int_eq(wc_device_attr(dev, "absent", v, sizeof(v)), -ENOENT);
	ck_assert_int_eq(wc_device_attr_set(dev, "device/rescan", "1"), 0);
	wc_device_attr(dev, "queue/write_cache", v, sizeof(v));
	ck_assert_str_eq(v, "write through");
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(malformed)
{
	ck_bad("", "line 1");
	ck_bad("hello\n", "line 1");
	ck_bad("wcache-exchange 2\n", "line 1");
	ck_bad("wcache-exchange 1\nprop A=b\n", "line 2: no device");
	ck_bad("wcache-exchange 1\ndevice a/b\n", "line 2");
	ck_bad("wcache-exchange 1\ndevice a\ndevice a\n", "twice");
	ck_bad("wcache-exchange 1\ndevice a\nprop noequals\n", "KEY=value");
	ck_bad("wcache-exchange 1\ndevice a\nattr x=\\q\n", "escape");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi in 512 5a0\n", "CDB");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi in 512 "
	       "000000000000000000000000000000000000\n",
	       "CDB");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi in -5 000000000000\n", "LENGTH");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi in 99999999 000000000000\n", "LENGTH");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi up 5 000000000000\n", "up");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi none 5 000000000000\n", "does not go");
	ck_bad("wcache-exchange 1\ndevice a\n> nvme-admin in 4096 nsid=0\n", "opcode");
	ck_bad("wcache-exchange 1\ndevice a\n> nvme-admin in 4096 opcode=06 x=1\n", "x=1");
	ck_bad("wcache-exchange 1\ndevice a\n< status=00\n", "without a request");
	ck_bad("wcache-exchange 1\ndevice a\n> sync\n< errno=0\n< errno=0\n", "without a request");
	ck_bad("wcache-exchange 1\ndevice a\n> sync\n< status=0\n", "status");
	ck_bad("wcache-exchange 1\ndevice a\n> sync\n= 00\n", "data without");
	ck_bad("wcache-exchange 1\ndevice a\n> scsi in 2 000000000000\n= 00 11 22\n", "more data");
	ck_bad("wcache-exchange 1\ndevice a\nwhat\n", "line 3");
}
END_TEST

START_TEST(garbage_never_crashes)
{
	unsigned int seed = 7;

	for (int round = 0; round < 20000; round++) {
		struct wc_exchange *x;
		char text[sizeof(sas)], why[128];

		memcpy(text, sas, sizeof(sas));
		for (int i = 0; i < 4; i++)
			text[rand_r(&seed) % (sizeof(sas) - 1)] = rand_r(&seed);
		if (!wc_exchange_parse(text, sizeof(sas) - 1 - rand_r(&seed) % 200, &x, why,
				       sizeof(why)))
			wc_exchange_free(x);
	}
}
END_TEST

START_TEST(files_that_cannot_be_used)
{
	struct wcache_ctx *ctx;

	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_int_eq(wcache_ctx_set_replay(ctx, "/nonexistent"), -ENOENT);
	ck_assert_int_eq(wcache_ctx_set_replay(ctx, "/"), -EISDIR);
	ck_assert_int_eq(wcache_ctx_set_replay(ctx, "/dev/zero"), -EFBIG);
	ck_assert_int_eq(wcache_ctx_set_capture(ctx, "/nonexistent/x"), -ENOENT);
	wcache_ctx_unref(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exchange");
	TCase *tc = tcase_create("exchange");

	tcase_add_test(tc, replay_answers);
	tcase_add_test(tc, replay_is_strict);
	tcase_add_test(tc, any_order_repeats);
	tcase_add_test(tc, capture_of_a_replay_replays);
	tcase_add_test(tc, attributes_change_between_requests);
	tcase_add_test(tc, malformed);
	tcase_add_test(tc, garbage_never_crashes);
	tcase_add_test(tc, files_that_cannot_be_used);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
