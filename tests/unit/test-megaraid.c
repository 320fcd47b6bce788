/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What MegaRAID firmware tells of its volumes and disks, sound and broken. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "transport/megaraid.h"

#define ARRAY 288
#define VOLUME 256

struct blob {
	uint8_t data[8192];
	size_t len;
	size_t arrays, volumes;
};

static void put16(uint8_t *p, unsigned int v)
{
	p[0] = v & 0xff;
	p[1] = v >> 8;
}

static struct blob config_new(void)
{
	return (struct blob){ .len = 32 };
}

static uint8_t *add(struct blob *b, size_t size)
{
	uint8_t *p = b->data + b->len;

	b->len += size;
	put16(b->data, b->len);
	return p;
}

/* Disks are device ids; slot 7 each. */
static void add_array(struct blob *b, unsigned int ref, size_t n, const uint16_t disks[])
{
	uint8_t *a = add(b, ARRAY);

	a[8] = n;
	put16(a + 10, ref);
	for (size_t i = 0; i < 32; i++)
		put16(a + 32 + 8 * i, i < n ? disks[i] : 0xffff);
	for (size_t i = 0; i < n; i++)
		a[32 + 8 * i + 7] = 7;
	put16(b->data + 4, ++b->arrays);
	put16(b->data + 6, ARRAY);
}

static void add_volume(struct blob *b, uint8_t target, size_t n, const uint16_t refs[])
{
	uint8_t *v = add(b, VOLUME);

	v[0] = target;
	v[37] = n;
	for (size_t i = 0; i < n; i++)
		put16(v + 64 + 24 * i + 16, refs[i]);
	put16(b->data + 8, ++b->volumes);
	put16(b->data + 10, VOLUME);
}

/* Two mirrors in a stripe as volume 3, one disk as volume 238, a degraded pair as 5. */
static struct blob sample(void)
{
	struct blob b = config_new();

	add_array(&b, 0, 2, (const uint16_t[]){ 8, 9 });
	add_array(&b, 1, 2, (const uint16_t[]){ 10, 255 });
	add_array(&b, 2, 1, (const uint16_t[]){ 12 });
	add_array(&b, 9, 2, (const uint16_t[]){ 0xffff, 14 });
	add_volume(&b, 3, 2, (const uint16_t[]){ 0, 1 });
	add_volume(&b, 238, 1, (const uint16_t[]){ 2 });
	add_volume(&b, 5, 1, (const uint16_t[]){ 9 });
	return b;
}

/* In memory of its own, so that a read past the end is seen. */
static ssize_t parse(const uint8_t *data, size_t len, unsigned int volume, char *out, size_t size)
{
	uint8_t *copy = malloc(len ? len : 1);
	ssize_t n;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, data, len);
	n = wc_megaraid_parse_config(copy, len, 1, volume, out, size);
	free(copy);
	return n;
}

static void is(const struct blob *b, unsigned int volume, const char *want)
{
	char out[256] = "";
	ssize_t n = parse(b->data, b->len, volume, out, sizeof(out));

	ck_assert_msg(n == (ssize_t)strlen(want) && !strcmp(out, want), "%zd: %s", n, out);
}

static void fails(const struct blob *b, unsigned int volume, int err)
{
	char out[256];

	ck_assert_int_eq(parse(b->data, b->len, volume, out, sizeof(out)), err);
}

START_TEST(disks_of_a_volume)
{
	struct blob b = sample();

	is(&b, 3, "volume megaraid:1:8 megaraid:1:9 megaraid:1:10 megaraid:1:255");
	is(&b, 238, "volume megaraid:1:12");
	/* the disk that is missing is not listed */
	is(&b, 5, "volume megaraid:1:14");
	fails(&b, 4, -ENOENT);
	/* what the firmware sends behind the tables is of no concern */
	b.len += 100;
	is(&b, 238, "volume megaraid:1:12");
}
END_TEST

START_TEST(a_disk_is_listed_once)
{
	struct blob b = config_new();

	add_array(&b, 0, 2, (const uint16_t[]){ 1, 11 });
	add_array(&b, 1, 2, (const uint16_t[]){ 11, 1 });
	add_volume(&b, 0, 2, (const uint16_t[]){ 0, 1 });
	is(&b, 0, "volume megaraid:1:1 megaraid:1:11");
}
END_TEST

/* QEMU: the sizes of all elements together, and SCSI ids in the upper byte. */
START_TEST(as_qemu_sends_it)
{
	struct blob b = config_new();

	add_array(&b, 0, 1, (const uint16_t[]){ 0 });
	add_array(&b, 0x700, 1, (const uint16_t[]){ 0x700 });
	add_volume(&b, 0, 1, (const uint16_t[]){ 0 });
	add_volume(&b, 7, 1, (const uint16_t[]){ 0x700 });
	put16(b.data + 6, 2 * ARRAY);
	put16(b.data + 10, 2 * VOLUME);
	is(&b, 0, "volume megaraid:1:0");
	is(&b, 7, "volume megaraid:1:7");
}
END_TEST

START_TEST(what_does_not_hold_together)
{
	struct blob b;

	b = sample();
	b.data[32 + 8] = 33; /* more disks than fit */
	fails(&b, 3, -EBADMSG);
	b = sample();
	put16(b.data + 32 + ARRAY + 10, 77); /* a span of no array */
	fails(&b, 3, -EBADMSG);
	b = sample();
	put16(b.data + 32 + 32, 0x1234); /* a disk that no frame can address */
	fails(&b, 3, -EBADMSG);
	for (int depth = 0; depth <= 9; depth += 9) {
		b = sample();
		b.data[32 + 4 * ARRAY + 37] = depth;
		fails(&b, 3, -EBADMSG);
	}
	for (int at = 4; at <= 10; at += 2) {
		b = sample();
		put16(b.data + at, 0); /* a count or a size of nothing */
		fails(&b, 3, -EBADMSG);
		put16(b.data + at, 0xffff);
		fails(&b, 3, -EBADMSG);
	}
}
END_TEST

START_TEST(short_at_every_length)
{
	struct blob b = sample();
	char out[256];

	for (size_t len = 0; len < b.len; len++)
		ck_assert_int_eq(parse(b.data, len, 3, out, sizeof(out)), -EBADMSG);
}
END_TEST

START_TEST(every_byte_damaged)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x20, 0x7f, 0x80, 0xff };
	char out[256];

	for (size_t at = 0; at < sample().len; at++)
		for (size_t k = 0; k < sizeof(values); k++) {
			struct blob b = sample();
			ssize_t n;

			b.data[at] = values[k];
			n = parse(b.data, b.len, 3, out, sizeof(out));
			ck_assert_msg(n == -EBADMSG || n == -ENOENT ||
					      (n > 0 && n == (ssize_t)strlen(out) &&
					       !strncmp(out, "volume", 6)),
				      "byte %zu as %02x: %zd", at, values[k], n);
		}
}
END_TEST

START_TEST(a_buffer_too_small)
{
	struct blob b = sample();
	char out[32];

	ck_assert_int_eq(parse(b.data, b.len, 3, out, sizeof(out)), -EMSGSIZE);
}
END_TEST

static uint8_t *list_new(size_t n, size_t *len)
{
	uint8_t *data = calloc(1, 8 + 24 * n);

	ck_assert_ptr_nonnull(data);
	*len = 8 + 24 * n;
	put16(data, *len);
	put16(data + 4, n);
	return data;
}

START_TEST(disks_of_the_controller)
{
	char out[256];
	size_t len;
	uint8_t *data = list_new(4, &len);

	put16(data + 8, 8);
	put16(data + 32, 252);
	data[32 + 6] = 0x0d; /* an enclosure */
	put16(data + 56, 9);
	put16(data + 80, 0x300);
	data[80 + 5] = 3; /* QEMU's third */
	ck_assert_int_gt(wc_megaraid_parse_list(data, len, 0, out, sizeof(out)), 0);
	ck_assert_str_eq(out, "controller megaraid:0:8 megaraid:0:9 megaraid:0:3");
	/* a disk that no frame can address: the list would be wrong without it */
	data[80 + 5] = 4;
	ck_assert_int_eq(wc_megaraid_parse_list(data, len, 0, out, sizeof(out)), -EBADMSG);
	free(data);
}
END_TEST

START_TEST(lists_cut_short)
{
	char out[256];
	size_t len;
	uint8_t *data = list_new(2, &len);

	for (size_t n = 0; n < len; n++)
		ck_assert_int_eq(wc_megaraid_parse_list(data, n, 0, out, sizeof(out)), -EBADMSG);
	memset(data + 4, 0xff, 4);
	ck_assert_int_eq(wc_megaraid_parse_list(data, len, 0, out, sizeof(out)), -EBADMSG);
	put16(data + 4, 0);
	put16(data + 6, 0);
	ck_assert_int_gt(wc_megaraid_parse_list(data, len, 0, out, sizeof(out)), 0);
	ck_assert_str_eq(out, "controller");
	free(data);
}
END_TEST

/* This machine has no such controller, and no name stands for a disk of one. */
START_TEST(names)
{
	static const struct {
		const char *name;
		int err;
	} bad[] = {
		{ "megaraid:", -EINVAL },	 { "megaraid:0", -EINVAL },
		{ "megaraid:0:", -EINVAL },	 { "megaraid::0", -EINVAL },
		{ "megaraid:0:256", -EINVAL },	 { "megaraid:65536:0", -EINVAL },
		{ "megaraid:-1:0", -EINVAL },	 { "megaraid:0:+1", -EINVAL },
		{ "megaraid:0: 1", -EINVAL },	 { "megaraid:00:1", -EINVAL },
		{ "megaraid:0:1x", -EINVAL },	 { "megaraid:0:1:2", -EINVAL },
		{ "megaraid:65535:0", -ENODEV },
	};
	struct wcache_ctx *ctx;

	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct wcache_device *dev = NULL;

		ck_assert_msg(wcache_device_open(ctx, bad[i].name, WCACHE_ACCESS_QUERY, &dev) ==
				      bad[i].err,
			      "%s", bad[i].name);
		ck_assert_ptr_null(dev);
		ck_assert_ptr_nonnull(strstr(wcache_ctx_get_error(ctx), bad[i].name));
	}
	wcache_ctx_unref(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("megaraid");
	TCase *config = tcase_create("configuration");
	TCase *list = tcase_create("list");

	tcase_add_test(config, disks_of_a_volume);
	tcase_add_test(config, a_disk_is_listed_once);
	tcase_add_test(config, as_qemu_sends_it);
	tcase_add_test(config, what_does_not_hold_together);
	tcase_add_test(config, short_at_every_length);
	tcase_add_test(config, every_byte_damaged);
	tcase_add_test(config, a_buffer_too_small);
	tcase_add_test(list, disks_of_the_controller);
	tcase_add_test(list, lists_cut_short);
	tcase_add_test(list, names);
	suite_add_tcase(suite, config);
	suite_add_tcase(suite, list);
	return run_suite(suite);
}
