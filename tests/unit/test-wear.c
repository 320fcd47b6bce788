/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a drive counts of its own wear, and in which unit. */
#include <stdio.h>

#include "backend/wear.h"
#include "recording.h"

#define GIB 1073741824.0

static struct wc_wear from_smart(const char *model, const struct wc_smart_attribute *a, size_t n)
{
	struct wc_wear wear = { .host = 1, .media = 1, .step = 1 };

	wc_wear_from_smart(model, a, n, &wear);
	return wear;
}

START_TEST(units_of_vendors)
{
	const struct wc_smart_attribute intel[] = { { 9, 1000 }, { 241, 320 }, { 249, 12 } };
	const struct wc_smart_attribute intel_dc[] = { { 241, 320 }, { 243, 400 } };
	const struct wc_smart_attribute phison[] = { { 233, 30 }, { 241, 10 } };
	struct wc_wear wear;

	wear = from_smart("INTEL SSDSC2CW120A3", intel, 3);
	ck_assert_double_eq(wear.host, 10 * GIB);
	ck_assert_double_eq(wear.media, 12 * GIB);
	ck_assert_double_eq(wear.step, GIB);
	wear = from_smart("INTEL SSDSC2BB480G4", intel_dc, 2);
	ck_assert_double_eq(wear.media, 12.5 * GIB);
	ck_assert_double_eq(wear.step, 33554432);
	wear = from_smart("KINGSTON SA400S37240G", phison, 2);
	ck_assert_double_eq(wear.media / wear.host, 3);
}
END_TEST

START_TEST(pages_of_micron)
{
	const struct wc_smart_attribute micron[] = { { 246, 32000 }, { 247, 1000 }, { 248, 500 } };
	struct wc_wear wear = from_smart("Micron_M510_MTFDDAK256MAZ", micron, 3);

	ck_assert_double_eq(wear.host, 32000 * 512.0);
	ck_assert_double_eq(wear.media, 1.5 * wear.host);
	ck_assert_double_eq(wear.step, 16384);
}
END_TEST

START_TEST(nothing_is_guessed)
{
	/* A model whose units nobody documents, half of what is needed, nothing, no model. */
	const struct wc_smart_attribute both[] = { { 241, 320 }, { 249, 12 } };
	const struct wc_smart_attribute fresh[] = { { 246, 0 }, { 247, 0 }, { 248, 0 } };

	ck_assert_double_lt(from_smart("UNHEARD OF", both, 2).media, 0);
	ck_assert_double_lt(from_smart("INTEL SSDSC2CW120A3", both, 1).host, 0);
	ck_assert_double_lt(from_smart("INTEL SSDSC2CW120A3", NULL, 0).host, 0);
	ck_assert_double_lt(from_smart(NULL, both, 2).host, 0);
	ck_assert_double_lt(from_smart("Micron_M510_MTFDDAK256MAZ", fresh, 3).host, 0);
}
END_TEST

/* 512 bytes, of which @at holds @value and @tail is the end. */
static void put_log(char *text, size_t size, size_t at, unsigned int value, const char *tail)
{
	size_t used = 0, i;

	used += (size_t)snprintf(text + used, size - used, "= ");
	for (i = 0; i < 496; i++)
		used += (size_t)snprintf(text + used, size - used, "%02x",
					 i >= at && i < at + 4 ? value >> 8 * (i - at) & 0xff : 0);
	snprintf(text + used, size - used, "%s\n", tail);
}

static const char ZEROES[] = "00000000000000000000000000000000";
static const char OCP_GUID[] = "c5af1028eabff2a49c4f6f7cc914d5af";

static int ask_nvme(const char *reply_c0, const char *tail, double *host, double *media)
{
	static char text[8192], smart[2048], ocp[2048];
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	double step;
	int r;

	put_log(smart, sizeof(smart), 48, 2000, ZEROES);
	put_log(ocp, sizeof(ocp), 0, 3072000000, tail);
	snprintf(text, sizeof(text),
		 "wcache-exchange 1\ndevice nvme0n1\nprop bus=nvme\nattr nsid=1\n"
		 "> nvme-admin in 512 opcode=02 nsid=ffffffff cdw10=7f0002\n"
		 "< status=0000 result=00000000\n%s"
		 "> nvme-admin in 512 opcode=02 nsid=ffffffff cdw10=7f00c0\n%s%s",
		 smart, reply_c0, strstr(reply_c0, "=0000 ") ? ocp : "");
	ctx = recording_ctx(text);
	dev = recording_open(ctx, "nvme0n1", WCACHE_ACCESS_QUERY);
	r = wcache_device_get_wear(dev, host, media, &step);
	if (r == 0)
		recording_is_used_up(ctx);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	return r;
}

START_TEST(nvme_logs)
{
	double host, media;

	ck_assert_int_eq(ask_nvme("< status=0000 result=00000000\n", OCP_GUID, &host, &media), 0);
	ck_assert_double_eq(host, 2000 * 512000.0);
	ck_assert_double_eq(media, 3072000000.0);
	/* Another vendor's log at the same number. */
	ck_assert_int_eq(ask_nvme("< status=0000 result=00000000\n", ZEROES, &host, &media), 0);
	ck_assert_double_eq(host, 2000 * 512000.0);
	ck_assert_double_lt(media, 0);
	/* No such log. */
	ck_assert_int_eq(ask_nvme("< status=0109 result=00000000\n", ZEROES, &host, &media), 0);
	ck_assert_double_lt(media, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wear");
	TCase *tcase = tcase_create("wear");

	tcase_add_test(tcase, units_of_vendors);
	tcase_add_test(tcase, pages_of_micron);
	tcase_add_test(tcase, nothing_is_guessed);
	tcase_add_test(tcase, nvme_logs);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
