/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What people met with ATA, SCSI, SAT and NVMe drives, each as a recording. Those
 * that need a drive with a state of its own are in the tests over the simulated one.
 */
#include "recording.h"

#define HEAD "wcache-exchange 1\n"
#define SCSI_DISK "device sda\nattr device/type=0\n"
#define ATA_DISK SCSI_DISK "prop bus=sata\nattr device/vendor=ATA\n"
#define USB_DISK SCSI_DISK "prop bus=usb\nattr removable=0\n"
#define IDENTIFY_16 "> scsi in 512 85080e0000000100000000000040ec00\n"
#define IDENTIFY_12 "> scsi in 512 a1080e000100000040ec0000\n"
#define MODE_10 "> scsi in 512 5a080800000000020000\n"
#define MODE_10_BD "> scsi in 512 5a000800000000020000\n"
#define MODE_6 "> scsi in 192 1a080800c000\n"
#define MODE_6_BD "> scsi in 192 1a000800c000\n"
#define GOOD "< status=00 host=00 driver=00 resid=0 sense=\n"
#define REFUSED "< status=02 host=00 driver=00 resid=0 sense=700005000000000a00000000200000000000\n"
#define BAD_FIELD \
	"< status=02 host=00 driver=00 resid=0 sense=700005000000000a00000000240000000000\n"
#define TIMED_OUT "< status=00 host=03 driver=00 resid=0 sense=\n"

/* Words 82 to 87 (and 0) of a drive, the rest zero, as the data line of a reply. */
static char *identify_data(uint16_t w82, uint16_t w83, uint16_t w85, uint16_t w86, uint16_t w87)
{
	static char text[512 * 3 + 64];
	uint8_t b[512] = { 0x40 };
	const struct {
		int word;
		uint16_t v;
	} set[] = {
		{ 82, w82 }, { 83, w83 }, { 85, w85 }, { 86, w86 }, { 87, w87 }, { 27, 0x4578 }
	};
	char *to = text;

	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++) {
		b[2 * set[i].word] = set[i].v & 0xff;
		b[2 * set[i].word + 1] = set[i].v >> 8;
	}
	to += sprintf(to, "= ");
	for (int i = 0; i < 512; i++)
		to += sprintf(to, "%02x", b[i]);
	strcpy(to, "\n");
	return text;
}

#define CACHE_ON identify_data(0x746b, 0x7d01, 0x7469, 0xbc01, 0x4163)
#define CACHE_OFF identify_data(0x746b, 0x7d01, 0x7449, 0xbc01, 0x4163)

struct seen {
	enum wcache_cache cache;
	enum wcache_kernel kernel;
	enum wcache_verdict verdict;
	char reason[256];
	char protocol[16];
	char flush[32];
	char code[64];
};

static struct seen query(const char *text)
{
	struct wcache_ctx *ctx = recording_ctx(text);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	struct wcache_report *report;
	struct wcache_state *s;
	struct seen seen = { 0 };
	int err = wcache_state_read(dev, 0, &s);

	ck_assert_msg(!err, "%s", wcache_error_get_text(wcache_device_get_error(dev)));
	recording_is_used_up(ctx);
	seen.cache = wcache_state_get_cache(s);
	seen.kernel = wcache_state_get_kernel(s);
	if (wcache_state_get_reason(s))
		snprintf(seen.reason, sizeof(seen.reason), "%s", wcache_state_get_reason(s));
	if (wcache_state_get_flush_command(s))
		snprintf(seen.flush, sizeof(seen.flush), "%s", wcache_state_get_flush_command(s));
	snprintf(seen.protocol, sizeof(seen.protocol), "%s", wcache_device_get_protocol(dev));
	ck_assert_int_eq(wcache_report_new(dev, s, &report), 0);
	seen.verdict = wcache_report_get_verdict(report);
	if (wcache_report_get_finding_count(report))
		snprintf(seen.code, sizeof(seen.code), "%s",
			 wcache_finding_get_code(wcache_report_get_finding(report, 0)));
	wcache_report_free(report);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	return seen;
}

/* As query(), with the recording put together from parts. */
static struct seen query_parts(const char *a, const char *b, const char *c, const char *d)
{
	char text[16384];

	snprintf(text, sizeof(text), "%s%s%s%s", a, b, c, d);
	return query(text);
}

static int flush(const char *text, unsigned int flags, enum wcache_flush *result, char *why)
{
	struct wcache_ctx *ctx = recording_ctx(text);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_FLUSH);
	int err = wcache_device_flush(dev, flags, result);

	strcpy(why, wcache_error_get_text(wcache_device_get_error(dev)));
	recording_is_used_up(ctx);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
	return err;
}

START_TEST(report_1_clipped_mode_data)
{
	/* The volume answers 4 bytes to a short question; the long one has the page. */
	struct seen s = query(HEAD SCSI_DISK
			      "attr device/vendor=LSILOGIC\n"
			      "attr queue/write_cache=write through\n" MODE_10 REFUSED MODE_6
			      "< status=00 resid=168 sense=\n"
			      "= 17 00 00 00 08 12 04 00 ff ff 00 00 ff 00 ff ff "
			      "00 0f 00 00 00 00 00 00\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
	ck_assert_int_eq(s.kernel, WCACHE_KERNEL_WRITE_THROUGH);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_AT_RISK);
	ck_assert_str_eq(s.code, "drive-on-kernel-write-through");
}
END_TEST

START_TEST(report_2_kernel_view_is_not_the_drive)
{
	/* cache_type says write back, the queue write through: no flush is sent. */
	struct seen s = query(HEAD SCSI_DISK
			      "attr device/vendor=SEAGATE\n"
			      "attr queue/write_cache=write through\n"
			      "attr device/scsi_disk/0:0:0:0/cache_type=write back\n" MODE_10
			      "< status=00 resid=484 sense=\n"
			      "= 00 1a 00 10 00 00 00 00 08 12 14 00 ff ff 00 00 ff ff ff ff\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_AT_RISK);
}
END_TEST

START_TEST(report_11_no_synchronize_cache)
{
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char why[512];

	ck_assert_int_eq(flush(HEAD SCSI_DISK
			       "attr device/vendor=OLD\n" MODE_10 "< status=00 resid=484 sense=\n"
			       "= 00 1a 00 10 00 00 00 00 08 12 14 00\n"
			       "> scsi none 0 35000000000000000000\n" REFUSED
			       "> scsi none 0 91000000000000000000000000000000\n" REFUSED,
			       0, &result, why),
			 -EOPNOTSUPP);
	ck_assert_int_eq(result, WCACHE_FLUSH_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(why, "no flush command"));
}
END_TEST

START_TEST(report_13_card_reader)
{
	struct seen s = query(HEAD SCSI_DISK
			      "prop bus=usb\nattr removable=1\n"
			      "attr queue/write_cache=write through\n" MODE_10 REFUSED MODE_6
			      "< status=00 resid=188 sense=\n= 03 00 00 00\n" MODE_6_BD
			      "< status=00 resid=188 sense=\n= 03 00 00 00\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_UNKNOWN);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_UNKNOWN);
	ck_assert_str_eq(s.reason, "MODE SENSE has no caching page");
}
END_TEST

START_TEST(report_15_sas_disk_refuses_ata)
{
	struct seen s = query(
		HEAD ATA_DISK IDENTIFY_16
		"< status=02 resid=512 sense=7205200000 00001c 0206 0000cf000000 0302 0001 800e "
		"0000000000000000000000000000\n" MODE_10 "< status=00 resid=484 sense=\n"
		"= 00 1a 00 10 00 00 00 00 08 12 10 00 ff ff 00 00 ff ff ff ff\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_OFF);
	ck_assert_str_eq(s.protocol, "scsi");
}
END_TEST

START_TEST(report_17_zero_sense_is_not_standby)
{
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char text[16384], why[512];

	/* CHECK POWER MODE comes back with zeros: the flush goes out all the same. */
	snprintf(text, sizeof(text), "%s%s%s", HEAD ATA_DISK IDENTIFY_16 GOOD, CACHE_ON,
		 "> scsi none 0 8506200000000000000000000040e500\n"
		 "< status=00 resid=0 sense=000000000000000000000000000000000000\n"
		 "> scsi none 0 8507200000000000000000000040ea00\n" GOOD);
	ck_assert_int_eq(flush(text, 0, &result, why), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_DONE);
}
END_TEST

START_TEST(standby_is_not_woken)
{
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char text[16384], why[512];

	snprintf(text, sizeof(text), "%s%s%s", HEAD ATA_DISK IDENTIFY_16 GOOD, CACHE_ON,
		 "> scsi none 0 8506200000000000000000000040e500\n"
		 "< status=02 resid=0 "
		 "sense=7201001d0000000e090c00000000000000000000 4050\n");
	ck_assert_int_eq(flush(text, 0, &result, why), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_ASLEEP);
}
END_TEST

START_TEST(report_18_data_without_sense)
{
	struct seen s = query_parts(HEAD ATA_DISK IDENTIFY_16,
				    "< status=00 resid=0 sense=00000000\n", CACHE_ON, "");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
}
END_TEST

START_TEST(report_21_usb_dock_without_sat)
{
	struct seen s = query(HEAD USB_DISK
			      "attr queue/write_cache=write through\n" IDENTIFY_16 REFUSED
				      IDENTIFY_12 REFUSED MODE_10 REFUSED MODE_6
			      "< status=00 resid=188 sense=\n= 03 00 00 00\n" MODE_6_BD
			      "< status=00 resid=188 sense=\n= 03 00 00 00\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_UNKNOWN);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(s.reason, "ATA PASS-THROUGH is not taken"));
}
END_TEST

START_TEST(report_22_usb_disk_caches_under_write_through)
{
	struct seen s = query_parts(HEAD USB_DISK
				    "attr queue/write_cache=write through\n" IDENTIFY_16,
				    GOOD, CACHE_ON, "");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_AT_RISK);
}
END_TEST

START_TEST(bridge_with_twelve_bytes_only)
{
	struct seen s =
		query_parts(HEAD USB_DISK IDENTIFY_16 REFUSED IDENTIFY_12, GOOD, CACHE_OFF, "");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_OFF);
	ck_assert_str_eq(s.protocol, "ata");
}
END_TEST

START_TEST(report_24_hanging_bridge_is_left_alone)
{
	struct seen s = query(HEAD SCSI_DISK "prop bus=usb\nattr removable=1\n" MODE_10 TIMED_OUT);
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char why[512];

	ck_assert_int_eq(s.cache, WCACHE_CACHE_UNKNOWN);
	ck_assert_str_eq(s.reason, "no answer within 5.0 s");
	/* Nor is it sent a flush, which would hang longer. */
	ck_assert_int_eq(flush(HEAD SCSI_DISK "prop bus=usb\nattr removable=1\n" MODE_10 TIMED_OUT,
			       0, &result, why),
			 -ETIMEDOUT);
	ck_assert_int_eq(result, WCACHE_FLUSH_UNKNOWN);
}
END_TEST

START_TEST(report_25_nothing_to_flush)
{
	static const char off[] = HEAD SCSI_DISK
		"prop bus=usb\nattr removable=1\n" MODE_10 "< status=00 resid=484 sense=\n"
		"= 00 1a 00 10 00 00 00 00 08 12 10 00 ff ff 00 00 ff ff ff ff\n";
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char text[2048], why[512];

	ck_assert_int_eq(flush(off, 0, &result, why), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_NOT_NEEDED);
	snprintf(text, sizeof(text), "%s> scsi none 0 35000000000000000000\n" GOOD, off);
	ck_assert_int_eq(flush(text, WCACHE_FLUSH_ALWAYS, &result, why), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_DONE);
}
END_TEST

START_TEST(report_29_flush_ext_without_lba48)
{
	struct seen s = query_parts(HEAD ATA_DISK IDENTIFY_16, GOOD,
				    identify_data(0x7c6b, 0x7b09, 0x7c69, 0x3a01, 0x4003), "");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
	ck_assert_str_eq(s.flush, "FLUSH CACHE");
}
END_TEST

START_TEST(report_31_words_empty)
{
	struct seen s = query_parts(HEAD ATA_DISK IDENTIFY_16, GOOD,
				    identify_data(0x0009, 0x0000, 0, 0, 0), "");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_NONE);
	/* It does not report: that is not the promise of having none. */
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_UNKNOWN);
	ck_assert_str_eq(s.code, "cache-unreported");
}
END_TEST

START_TEST(report_35_flush_times_out)
{
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	char text[16384], why[512];

	snprintf(text, sizeof(text), "%s%s%s", HEAD ATA_DISK IDENTIFY_16 GOOD, CACHE_ON,
		 "> scsi none 0 8506200000000000000000000040e500\n" GOOD
		 "> scsi none 0 8507200000000000000000000040ea00\n" TIMED_OUT);
	ck_assert_int_eq(flush(text, 0, &result, why), -ETIMEDOUT);
	ck_assert_int_eq(result, WCACHE_FLUSH_UNKNOWN);
}
END_TEST

START_TEST(report_38_no_sg_io)
{
	struct seen s = query(HEAD ATA_DISK IDENTIFY_16 "< errno=25\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_UNKNOWN);
	ck_assert_str_eq(s.reason, "the device node takes no commands");
}
END_TEST

START_TEST(no_medium_and_no_permission)
{
	struct seen s = query(HEAD SCSI_DISK
			      "prop bus=usb\nattr removable=1\n" MODE_10
			      "< status=02 sense=700002000000000a000000003a0000000000\n");

	ck_assert_str_eq(s.reason, "no medium in the drive");
	s = query(HEAD ATA_DISK IDENTIFY_16 "< errno=13\n");
	ck_assert_str_eq(s.reason, "asking the drive needs root");
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_UNKNOWN);
}
END_TEST

START_TEST(gone_is_an_error)
{
	struct wcache_ctx *ctx = recording_ctx(HEAD ATA_DISK IDENTIFY_16 "< status=00 host=01\n");
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, 0, &s), -ENODEV);
	ck_assert_ptr_nonnull(strstr(wcache_error_get_text(wcache_device_get_error(dev)), "gone"));
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(short_and_empty_identify)
{
	struct seen s = query_parts(HEAD ATA_DISK IDENTIFY_16 "< status=00 resid=256 sense=\n", "",
				    CACHE_ON, MODE_10 REFUSED MODE_6 REFUSED);

	ck_assert_int_eq(s.cache, WCACHE_CACHE_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(s.reason, "256 bytes short"));
	s = query(HEAD ATA_DISK IDENTIFY_16 GOOD MODE_10 REFUSED MODE_6 REFUSED);
	ck_assert_ptr_nonnull(strstr(s.reason, "came back empty"));
}
END_TEST

START_TEST(unit_attention_is_asked_again)
{
	struct seen s = query(HEAD SCSI_DISK
			      "attr device/vendor=X\n" MODE_10
			      "< status=02 sense=70000600000000 0a00000000 2a0100000000\n" MODE_10
			      "< status=00 resid=484 sense=\n"
			      "= 00 1a 00 10 00 00 00 00 08 12 14 00 ff ff 00 00 ff ff ff ff\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
}
END_TEST

START_TEST(block_descriptors_where_dbd_is_refused)
{
	struct seen s = query(HEAD SCSI_DISK
			      "attr device/vendor=X\n" MODE_10 BAD_FIELD MODE_10_BD
			      "< status=00 resid=476 sense=\n"
			      "= 00 22 00 10 00 00 00 08 00 00 00 00 00 00 02 00 88 12 14 00 ff\n");

	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
}
END_TEST

START_TEST(vpd_promises)
{
	static const char text[] = HEAD SCSI_DISK
		"attr device/vendor=X\n"
		"attr device/vpd_pg0=\\x00\\x00\\x00\\x03\\x00\\x83\\x86\n"
		"attr queue/write_cache=write through\n" MODE_10 "< status=00 resid=484 sense=\n"
		"= 00 1a 00 10 00 00 00 00 08 12 14 00 ff ff 00 00 ff ff ff ff\n"
		"> scsi in 64 120186004000\n" GOOD "= 00 86 00 3c 00 00 02 00\n";
	struct seen s = query(text);
	char other[sizeof(text)];

	/* V_SUP=0 NV_SUP=1: on, and it survives a power cut, so the drive says. */
	ck_assert_int_eq(s.cache, WCACHE_CACHE_ON);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_DURABLE);
	ck_assert_str_eq(s.code, "nonvolatile-promised");
	strcpy(other, text);
	memcpy(strstr(other, "00 00 02 00\n"), "00 00 03 00\n", 12);
	s = query(other);
	ck_assert_int_eq(s.verdict, WCACHE_VERDICT_AT_RISK);
}
END_TEST

START_TEST(report_42_nvme_without_volatile_cache)
{
	char text[16384];
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	struct wcache_change *change;
	struct wcache_state *s;

	/* VWC is byte 525; the vendor in bytes 0 and 1 shows that somebody answered. */
	snprintf(text, sizeof(text), "%s",
		 HEAD "order any\ndevice nvme0n1\nattr queue/write_cache=write through\n"
		      "> nvme-admin in 4096 opcode=06 nsid=0 cdw10=1\n"
		      "< status=0000 result=00000000\n= 86 80\n");
	ctx = recording_ctx(text);
	dev = recording_open(ctx, "nvme0n1", WCACHE_ACCESS_CHANGE);
	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_NONE);
	ck_assert_int_eq(wcache_state_get_nonvolatile(s), WCACHE_YES);
	wcache_state_free(s);
	/* A change is refused, and nothing but the question is sent. */
	ck_assert_int_eq(wcache_change_new(dev, WCACHE_SET_OFF, NULL, &change), -EOPNOTSUPP);
	ck_assert_ptr_nonnull(strstr(wcache_error_get_text(wcache_device_get_error(dev)),
				     "no volatile write cache"));
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

/* The one flush there is for a virtual disk is the kernel's, which is off with it. */
START_TEST(virtual_disk_that_is_off)
{
	struct wcache_ctx *ctx = recording_ctx(HEAD "device vda\nprop bus=virtio\n"
						    "prop driver=virtio_blk\n"
						    "attr cache_type=write through\n"
						    "attr queue/write_cache=write through\n");
	struct wcache_device *dev = recording_open(ctx, "vda", WCACHE_ACCESS_FLUSH);
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;

	ck_assert_int_eq(wcache_device_flush(dev, 0, &result), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_NOT_NEEDED);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(kernel_only_device)
{
	struct wcache_ctx *ctx =
		recording_ctx(HEAD "device mmcblk0\nattr queue/write_cache=write back\n> sync\n"
				   "< errno=0\n");
	struct wcache_device *dev = recording_open(ctx, "mmcblk0", WCACHE_ACCESS_CHANGE);
	enum wcache_flush result;
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_UNKNOWN);
	ck_assert_int_eq(wcache_state_get_kernel(s), WCACHE_KERNEL_WRITE_BACK);
	ck_assert_str_eq(wcache_device_get_protocol(dev), "kernel");
	ck_assert_int_eq(wcache_device_flush(dev, 0, &result), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_DONE);
	recording_is_used_up(ctx);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("field-reports");
	TCase *tc = tcase_create("field-reports");

	tcase_add_test(tc, report_1_clipped_mode_data);
	tcase_add_test(tc, report_2_kernel_view_is_not_the_drive);
	tcase_add_test(tc, report_11_no_synchronize_cache);
	tcase_add_test(tc, report_13_card_reader);
	tcase_add_test(tc, report_15_sas_disk_refuses_ata);
	tcase_add_test(tc, report_17_zero_sense_is_not_standby);
	tcase_add_test(tc, standby_is_not_woken);
	tcase_add_test(tc, report_18_data_without_sense);
	tcase_add_test(tc, report_21_usb_dock_without_sat);
	tcase_add_test(tc, report_22_usb_disk_caches_under_write_through);
	tcase_add_test(tc, bridge_with_twelve_bytes_only);
	tcase_add_test(tc, report_24_hanging_bridge_is_left_alone);
	tcase_add_test(tc, report_25_nothing_to_flush);
	tcase_add_test(tc, report_29_flush_ext_without_lba48);
	tcase_add_test(tc, report_31_words_empty);
	tcase_add_test(tc, report_35_flush_times_out);
	tcase_add_test(tc, report_38_no_sg_io);
	tcase_add_test(tc, no_medium_and_no_permission);
	tcase_add_test(tc, gone_is_an_error);
	tcase_add_test(tc, short_and_empty_identify);
	tcase_add_test(tc, unit_attention_is_asked_again);
	tcase_add_test(tc, block_descriptors_where_dbd_is_refused);
	tcase_add_test(tc, vpd_promises);
	tcase_add_test(tc, report_42_nvme_without_volatile_cache);
	tcase_add_test(tc, virtual_disk_that_is_off);
	tcase_add_test(tc, kernel_only_device);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
