/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sense data as drives, bridges and libata send it. */
#include <errno.h>
#include <string.h>

#include "backend/sense.h"
#include "suite.h"

static enum wc_outcome judge(uint8_t status, const uint8_t *sense, size_t len, struct wc_sense *s,
			     int *err)
{
	struct wc_reply reply = { .scsi = { .status = status, .sense_len = len } };

	memcpy(reply.scsi.sense, sense, len);
	return wc_reply_judge(0, &reply, s, err);
}

#define JUDGE(status, ...)                                     \
	({                                                     \
		const uint8_t bytes[] = { __VA_ARGS__ };       \
		judge(status, bytes, sizeof(bytes), &s, &err); \
	})

START_TEST(descriptor_without_registers)
{
	struct wc_sense s;
	int err;

	/* A SAS disk refuses ATA PASS-THROUGH; its descriptors are 02h and 03h. */
	ck_assert_int_eq(JUDGE(0x02, 0x72, 0x05, 0x20, 0x00, 0, 0, 0, 0x1c, 0x02, 0x06, 0, 0, 0xcf,
			       0, 0, 0, 0x03, 0x02, 0, 0x01, 0x80, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			       0, 0, 0, 0, 0),
			 WC_INVALID_OPCODE);
	ck_assert(s.valid && !s.has_registers);
	ck_assert_int_eq(err, -EOPNOTSUPP);
}
END_TEST

START_TEST(descriptor_with_registers)
{
	struct wc_sense s;
	int err;

	/* CK_COND after success: 01/00/1D and DRDY in STATUS. */
	ck_assert_int_eq(JUDGE(0x02, 0x72, 0x01, 0x00, 0x1d, 0, 0, 0, 14, 0x09, 0x0c, 0, 0, 0, 0xff,
			       0, 0x34, 0, 0, 0, 0, 0x40, 0x50),
			 WC_GOOD);
	ck_assert(s.has_registers);
	ck_assert_int_eq(s.ata_status, 0x50);
	ck_assert_int_eq(s.ata_count, 0xff);
	ck_assert_int_eq(s.ata_lba_low, 0x34);
	ck_assert_int_eq(err, 0);
	/* A bridge's form of an abort. */
	ck_assert_int_eq(JUDGE(0x02, 0x72, 0x05, 0x21, 0x04, 0, 0, 0, 14, 0x09, 0x0c, 0, 0x04, 0, 0,
			       0, 0, 0, 0, 0, 0, 0, 0x51),
			 WC_ABORTED);
	ck_assert_int_eq(s.ata_error, 0x04);
	ck_assert_int_eq(err, -EOPNOTSUPP);
	/* Device fault, no ABRT: it failed, and is not a refusal. */
	ck_assert_int_eq(JUDGE(0x02, 0x72, 0x01, 0x00, 0x1d, 0, 0, 0, 14, 0x09, 0x0c, 0, 0, 0, 0, 0,
			       0, 0, 0, 0, 0, 0x40, 0x70),
			 WC_ABORTED);
	ck_assert_int_eq(err, -EIO);
}
END_TEST

START_TEST(descriptor_of_zeros_has_no_registers)
{
	struct wc_sense s;
	int err;

	/* Read as registers this would be a drive in standby. */
	ck_assert_int_eq(JUDGE(0x02, 0x72, 0x01, 0x00, 0x1d, 0, 0, 0, 14, 0x09, 0x0c, 0, 0, 0, 0, 0,
			       0, 0, 0, 0, 0, 0, 0),
			 WC_GOOD);
	ck_assert(!s.has_registers);
}
END_TEST

START_TEST(fixed_both_packings)
{
	struct wc_sense s;
	int err;

	/* libata up to 6.10: ERROR, STATUS, DEVICE, COUNT from byte 8 on. */
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x05, 0, 0, 0, 0, 0x0a, 0x04, 0x51, 0x40, 0x01, 0x21,
			       0x04, 0, 0, 0, 0),
			 WC_ABORTED);
	ck_assert(s.has_registers);
	ck_assert_int_eq(s.ata_status, 0x51);
	ck_assert_int_eq(s.ata_error, 0x04);
	/* SAT: ERROR, STATUS, DEVICE, COUNT from byte 3 on. */
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x01, 0x00, 0x50, 0x40, 0x80, 0x0a, 0, 0x12, 0, 0,
			       0x00, 0x1d, 0, 0, 0, 0),
			 WC_GOOD);
	ck_assert(s.has_registers);
	ck_assert_int_eq(s.ata_status, 0x50);
	ck_assert_int_eq(s.ata_count, 0x80);
	ck_assert_int_eq(s.ata_lba_low, 0x12);
}
END_TEST

START_TEST(fixed_without_registers)
{
	struct wc_sense s;
	int err;

	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x05, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0x20, 0, 0, 0, 0,
			       0),
			 WC_INVALID_OPCODE);
	ck_assert(!s.has_registers);
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x0b, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
			 WC_ABORTED);
	ck_assert(!s.has_registers);
	ck_assert_int_eq(err, -EIO);
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x05, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0x24, 0, 0, 0, 0,
			       0),
			 WC_INVALID_FIELD);
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x02, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0x3a, 0, 0, 0, 0,
			       0),
			 WC_NO_MEDIUM);
	ck_assert_int_eq(err, -ENOMEDIUM);
	ck_assert_int_eq(JUDGE(0x02, 0x70, 0, 0x06, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0x29, 0, 0, 0, 0,
			       0),
			 WC_RETRY);
}
END_TEST

START_TEST(nothing_there)
{
	struct wc_sense s;
	int err;

	/* CK_COND was set, GOOD came back: the registers are unknown, not zero. */
	ck_assert_int_eq(JUDGE(0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
			 WC_GOOD);
	ck_assert(!s.valid && !s.has_registers);
	/* CHECK CONDITION that does not say why is a failure. */
	ck_assert_int_eq(JUDGE(0x02, 0, 0, 0, 0, 0, 0, 0, 0), WC_FAILED);
	ck_assert_int_eq(err, -EIO);
}
END_TEST

START_TEST(host_and_status)
{
	struct wc_reply reply = { .scsi = { .host = 0x03 } };
	struct wc_sense s;
	int err;

	ck_assert_int_eq(wc_reply_judge(0, &reply, &s, &err), WC_NO_ANSWER);
	ck_assert_int_eq(err, -ETIMEDOUT);
	reply.scsi.host = 0x01;
	ck_assert_int_eq(wc_reply_judge(0, &reply, &s, &err), WC_NO_ANSWER);
	ck_assert_int_eq(err, -ENODEV);
	reply.scsi.host = 0x07;
	ck_assert_int_eq(wc_reply_judge(0, &reply, &s, &err), WC_FAILED);
	reply.scsi.host = 0;
	reply.scsi.status = 0x08;
	ck_assert_int_eq(wc_reply_judge(0, &reply, &s, &err), WC_RETRY);
	reply.scsi.status = 0x18;
	ck_assert_int_eq(wc_reply_judge(0, &reply, &s, &err), WC_FAILED);
	ck_assert_int_eq(wc_reply_judge(-ENOTTY, &reply, &s, &err), WC_NO_ANSWER);
	ck_assert_int_eq(err, -ENOTTY);
}
END_TEST

START_TEST(every_length)
{
	/* Exact allocations, so that a sanitizer sees a read past the end. */
	static const uint8_t first[] = { 0x70, 0x71, 0x72, 0x73, 0xf0, 0x00, 0xff };

	for (size_t f = 0; f < sizeof(first); f++)
		for (size_t len = 0; len <= WC_SENSE_MAX; len++)
			for (int fill = 0; fill < 256; fill += 5) {
				uint8_t *b = malloc(len ? len : 1);
				struct wc_sense s;

				memset(b, fill, len);
				if (len)
					b[0] = first[f];
				wc_sense_parse(b, len, &s);
				ck_assert(!s.has_registers || s.valid);
				free(b);
			}
}
END_TEST

static size_t read_hex(const char *text, uint8_t *out, size_t max)
{
	size_t n = 0;
	char *end;

	while (n < max) {
		unsigned long v = strtoul(text, &end, 16);

		if (end == text)
			break;
		out[n++] = v;
		text = end;
	}
	return n;
}

START_TEST(corpus_sense)
{
	const char *folder = corpus("scsi/sense/sense.tsv");
	char line[2048];
	int rows = 0;
	FILE *f;

	if (!folder)
		return;
	f = fopen(folder, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		char *column[7] = { NULL }, *rest = line;
		unsigned int key, asc, ascq, st, er;
		uint8_t bytes[WC_SENSE_MAX];
		struct wc_sense s;

		for (int i = 0; i < 7 && rest; i++)
			column[i] = strsep(&rest, "\t");
		if (line[0] == '#' || !column[4] || !read_hex(column[1], bytes, 1))
			continue;
		wc_sense_parse(bytes, read_hex(column[1], bytes, sizeof(bytes)), &s);
		rows++;
		if (sscanf(column[3], "%x/%x/%x", &key, &asc, &ascq) == 3) {
			ck_assert_msg(s.valid && s.key == key && s.asc == asc && s.ascq == ascq,
				      "%s", column[0]);
		} else {
			ck_assert_msg(!s.valid, "%s", column[0]);
		}
		if (sscanf(column[4], "%x/%x", &st, &er) == 2)
			ck_assert_msg(s.has_registers && s.ata_status == st && s.ata_error == er,
				      "%s", column[0]);
		else
			ck_assert_msg(!s.has_registers, "%s", column[0]);
	}
	fclose(f);
	ck_assert_int_ge(rows, 8);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sense");
	TCase *tc = tcase_create("sense");

	tcase_add_test(tc, descriptor_without_registers);
	tcase_add_test(tc, descriptor_with_registers);
	tcase_add_test(tc, descriptor_of_zeros_has_no_registers);
	tcase_add_test(tc, fixed_both_packings);
	tcase_add_test(tc, fixed_without_registers);
	tcase_add_test(tc, nothing_there);
	tcase_add_test(tc, host_and_status);
	tcase_add_test(tc, every_length);
	tcase_add_test(tc, corpus_sense);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
