/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODE SENSE data in the shapes that real devices send. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "backend/mode.h"
#include "suite.h"

static int find(const uint8_t *bytes, size_t len, bool six, uint8_t code, struct wc_mode *m)
{
	/* An exact copy, so that a sanitizer sees a read past the end. */
	uint8_t *copy = malloc(len ? len : 1);
	int err;

	memcpy(copy, bytes, len);
	err = wc_mode_find(copy, len, six, code, m);
	free(copy);
	return err;
}

#define FIND(six, code, ...)                               \
	({                                                 \
		const uint8_t bytes[] = { __VA_ARGS__ };   \
		find(bytes, sizeof(bytes), six, code, &m); \
	})

START_TEST(plain)
{
	struct wc_mode m;

	ck_assert_int_eq(FIND(false, 8, 0, 26, 0, 0x10, 0, 0, 0, 0, 0x88, 18, 0x14, 0, 0, 0, 0, 0,
			      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
			 0);
	ck_assert_uint_eq(m.page, 8);
	ck_assert_uint_eq(m.page_len, 20);
	ck_assert(m.complete);
	ck_assert_int_eq(FIND(true, 8, 31, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x08, 18, 0x04, 0, 0, 0,
			      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
			 0);
	ck_assert_uint_eq(m.page, 12);
}
END_TEST

START_TEST(header_only)
{
	struct wc_mode m;

	ck_assert_int_eq(FIND(true, 8, 3, 0, 0, 0), -ENODATA);
	ck_assert_int_eq(FIND(true, 8, 3, 0, 0, 8), -ENODATA);
	ck_assert_int_eq(FIND(false, 8, 0, 6, 0, 0, 0, 0, 0, 0), -ENODATA);
	ck_assert_int_eq(FIND(true, 8, 0, 0), -EBADMSG);
	ck_assert_int_eq(find((const uint8_t *)"", 0, false, 8, &m), -EBADMSG);
}
END_TEST

START_TEST(cut_page)
{
	struct wc_mode m;

	/* 19 of 20 bytes arrive: WCE is there, writing it back is not to be tried. */
	ck_assert_int_eq(FIND(false, 8, 0, 35, 0, 0x80, 0, 0, 0, 8, 0, 0, 0x80, 0, 0, 0, 2, 0, 0x08,
			      0x12, 0x14, 0, 0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0x14,
			      0, 0, 0, 0, 0),
			 0);
	ck_assert_uint_eq(m.page_len, 19);
	ck_assert(!m.complete);
	/* aacraid: page 8 with three bytes */
	ck_assert_int_eq(FIND(true, 8, 6, 0, 0, 0, 0x08, 1, 0x04), 0);
	ck_assert_uint_eq(m.page_len, 3);
	ck_assert(m.complete);
}
END_TEST

START_TEST(walk_all_pages)
{
	struct wc_mode m;

	/* page 1, a subpage of page 8 that is not the caching page, then page 8 */
	ck_assert_int_eq(FIND(true, 8, 24, 0, 0, 0, 0x01, 2, 0, 0, 0x48, 1, 0, 2, 0, 0, 0x08, 10, 4,
			      0, 0, 0, 0, 0, 0, 0, 0, 0),
			 0);
	ck_assert_uint_eq(m.page, 14);
	/* the wanted page behind one whose length runs past the end is not found */
	ck_assert_int_eq(FIND(true, 8, 11, 0, 0, 0, 0x01, 200, 0, 0, 0x08, 2, 4, 0), -ENODATA);
}
END_TEST

START_TEST(initio_without_header)
{
	struct wc_mode m;

	ck_assert_int_eq(FIND(true, 6, 0x86, 0x0b, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
	ck_assert_uint_eq(m.page, 0);
}
END_TEST

START_TEST(any_bytes)
{
	uint8_t bytes[64];
	unsigned int seed = 1;
	struct wc_mode m;

	for (int round = 0; round < 200000; round++) {
		size_t len = rand_r(&seed) % sizeof(bytes);

		for (size_t i = 0; i < len; i++)
			bytes[i] = rand_r(&seed) % (i < 8 ? 24 : 256);
		if (!find(bytes, len, round & 1, 8, &m))
			ck_assert(m.page + m.page_len <= len && m.page_len >= 2);
	}
}
END_TEST

/* The lines of hex below "[title" in a file of the corpus. */
static size_t section(const char *file, const char *title, uint8_t *out, size_t max)
{
	const char *path = corpus(file);
	char line[1024];
	bool here = false;
	size_t n = 0;
	FILE *f;

	if (!path)
		return 0;
	f = fopen(path, "r");
	while (fgets(line, sizeof(line), f)) {
		char *s = line, *end;

		if (*s == '[')
			here = !strncmp(s, title, strlen(title));
		if (!here || !isxdigit((unsigned char)*s))
			continue;
		while (n < max) {
			unsigned long v = strtoul(s, &end, 16);

			if (end == s)
				break;
			out[n++] = v;
			s = end;
		}
	}
	fclose(f);
	return n;
}

START_TEST(corpus_caching)
{
	uint8_t b[512];
	struct wc_mode m;
	size_t n;

	n = section("scsi/caching/LSILOGIC_Logical_Volume_3000.hex",
		    "[mode_sense6 page=08 dbd=1 "
		    "alloc=192",
		    b, sizeof(b));
	if (!n)
		return;
	ck_assert_int_eq(find(b, n, true, 8, &m), 0);
	ck_assert(b[m.page + 2] & 0x04);
	n = section("scsi/caching/LSILOGIC_Logical_Volume_3000.hex",
		    "[mode_sense6 page=08 dbd=1 "
		    "alloc=4]",
		    b, sizeof(b));
	ck_assert_int_eq(find(b, n, true, 8, &m), -ENODATA);
	n = section("scsi/caching/USB_WDC_WD1003FBYX.hex", "[mode_sense6", b, sizeof(b));
	ck_assert_int_eq(find(b, n, true, 8, &m), -ENODATA);
	n = section("scsi/caching/ATA_WDC_WD4003FFBX-6_0A83.hex", "[mode_sense6", b, sizeof(b));
	ck_assert_int_eq(find(b, n, true, 8, &m), -ENODATA);
	/* a page alone, with the header of a reply put before it */
	memset(b, 0, 8);
	n = 8 + section("scsi/caching/SEAGATE_ST1200MM0129_C006.hex", "[current]", b + 8, 500);
	b[1] = n - 2;
	ck_assert_int_eq(find(b, n, false, 8, &m), 0);
	ck_assert(b[m.page + 2] & 0x04 && b[m.page] & 0x80 && m.complete);
	n = 8 + section("scsi/caching/SEAGATE_ST1200MM0129_C006.hex", "[default]", b + 8, 500);
	ck_assert_int_eq(find(b, n, false, 8, &m), 0);
	ck_assert(!(b[m.page + 2] & 0x04));
	memset(b, 0, 8);
	n = 8 + section("scsi/caching/GADGET_LubanCat_VIRTUAL_DISK.hex", "[page 08", b + 8, 500);
	b[1] = n - 2;
	ck_assert_int_eq(find(b, n, false, 8, &m), 0);
	ck_assert(b[m.page + 2] & 0x04 && !m.complete);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mode");
	TCase *tc = tcase_create("mode");

	tcase_add_test(tc, plain);
	tcase_add_test(tc, header_only);
	tcase_add_test(tc, cut_page);
	tcase_add_test(tc, walk_all_pages);
	tcase_add_test(tc, initio_without_header);
	tcase_add_test(tc, any_bytes);
	tcase_add_test(tc, corpus_caching);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
