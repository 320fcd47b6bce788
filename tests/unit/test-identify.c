/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IDENTIFY DEVICE data: our own blocks, and where it is present the corpus. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <wcache.h>

#include "suite.h"

struct block {
	uint8_t data[512];
};

static void set_word(struct block *b, int i, uint16_t v)
{
	b->data[2 * i] = v & 0xff;
	b->data[2 * i + 1] = v >> 8;
}

static void set_text(struct block *b, int word, int n_words, const char *text)
{
	for (int i = 0; i < n_words; i++) {
		char hi = *text ? *text++ : ' ';
		char lo = *text ? *text++ : ' ';

		set_word(b, word + i, (uint16_t)(hi << 8 | lo));
	}
}

/* A drive of today: cache on, 48-bit, both flushes, ACS-3. */
static struct block modern(void)
{
	struct block b = { { 0 } };

	set_word(&b, 0, 0x0040);
	set_text(&b, 10, 10, "SERIAL1234");
	set_text(&b, 23, 4, "FW01");
	set_text(&b, 27, 20, "Example Drive 1000");
	set_word(&b, 80, 0x07f0);
	set_word(&b, 82, 0x746b);
	set_word(&b, 83, 0x7d01);
	set_word(&b, 84, 0x4163);
	set_word(&b, 85, 0x7469);
	set_word(&b, 86, 0xbc01);
	set_word(&b, 87, 0x4163);
	set_word(&b, 217, 7200);
	return b;
}

static struct wcache_identify *decode(const struct block *b)
{
	struct wcache_identify *id;

	ck_assert_int_eq(wcache_identify_new(b->data, 512, &id), 0);
	return id;
}

static void ck_cache(const struct block *b, enum wcache_cache want)
{
	struct wcache_identify *id = decode(b);

	ck_assert_int_eq(wcache_identify_get_cache(id), want);
	wcache_identify_free(id);
}

static void ck_flush(const struct block *b, const char *want)
{
	struct wcache_identify *id = decode(b);

	ck_assert_pstr_eq(wcache_identify_get_flush_command(id), want);
	wcache_identify_free(id);
}

START_TEST(strings_and_classes)
{
	struct block b = modern();
	struct wcache_identify *id = decode(&b);

	ck_assert_str_eq(wcache_identify_get_model(id), "Example Drive 1000");
	ck_assert_str_eq(wcache_identify_get_firmware(id), "FW01");
	ck_assert_str_eq(wcache_identify_get_serial(id), "SERIAL1234");
	ck_assert_str_eq(wcache_identify_get_class(id), "ata");
	ck_assert_uint_eq(wcache_identify_get_rotation(id), 7200);
	ck_assert_int_eq(wcache_identify_get_checksum(id), WCACHE_UNKNOWN);
	ck_assert_int_eq(wcache_identify_get_lookahead(id), WCACHE_YES);
	wcache_identify_free(id);
	set_word(&b, 0, 0x85c0);
	set_word(&b, 27, 0x0701); /* control characters do not reach a terminal */
	id = decode(&b);
	ck_assert_str_eq(wcache_identify_get_class(id), "atapi");
	ck_assert(!strncmp(wcache_identify_get_model(id), "??", 2));
	wcache_identify_free(id);
	set_word(&b, 0, 0x848a);
	id = decode(&b);
	ck_assert_str_eq(wcache_identify_get_class(id), "cfa");
	wcache_identify_free(id);
}
END_TEST

START_TEST(cache_bits_count_only_when_valid)
{
	struct block b = modern();

	ck_cache(&b, WCACHE_CACHE_ON);
	set_word(&b, 85, 0x7449);
	ck_cache(&b, WCACHE_CACHE_OFF);
	set_word(&b, 87, 0x8163); /* words 85 to 87 not valid: not off, unknown */
	ck_cache(&b, WCACHE_CACHE_UNKNOWN);
	set_word(&b, 82, 0x744b); /* not supported */
	ck_cache(&b, WCACHE_CACHE_NONE);
	set_word(&b, 82, 0xffff); /* a word of ones is not a claim */
	set_word(&b, 83, 0xffff);
	ck_cache(&b, WCACHE_CACHE_NONE);
	set_word(&b, 83, 0x0000);
	ck_cache(&b, WCACHE_CACHE_NONE);
}
END_TEST

START_TEST(flush_that_is_safe_to_send)
{
	struct block b = modern();

	ck_flush(&b, "FLUSH CACHE EXT");
	set_word(&b, 86, 0x3801); /* EXT claimed, no 48-bit addresses */
	ck_flush(&b, "FLUSH CACHE");
	set_word(&b, 83, 0x4c01);
	ck_flush(&b, NULL);
	set_word(&b, 83, 0x0000);
	ck_flush(&b, NULL);
}
END_TEST

START_TEST(nonvolatile_promise)
{
	struct block b = modern();
	struct wcache_identify *id = decode(&b);

	ck_assert_int_eq(wcache_identify_get_nonvolatile(id), WCACHE_UNKNOWN);
	wcache_identify_free(id);
	set_word(&b, 69, 1 << 2);
	id = decode(&b);
	ck_assert_int_eq(wcache_identify_get_nonvolatile(id), WCACHE_YES);
	wcache_identify_free(id);
	set_word(&b, 80, 0x01fe); /* from before ACS-2: the word means nothing */
	id = decode(&b);
	ck_assert_int_eq(wcache_identify_get_nonvolatile(id), WCACHE_UNKNOWN);
	wcache_identify_free(id);
}
END_TEST

START_TEST(checksum)
{
	struct block b = modern();
	struct wcache_identify *id;
	uint8_t sum = 0;

	b.data[510] = 0xa5;
	for (int i = 0; i < 511; i++)
		sum += b.data[i];
	b.data[511] = -sum;
	id = decode(&b);
	ck_assert_int_eq(wcache_identify_get_checksum(id), WCACHE_YES);
	wcache_identify_free(id);
	b.data[3]++;
	id = decode(&b);
	ck_assert_int_eq(wcache_identify_get_checksum(id), WCACHE_NO);
	wcache_identify_free(id);
}
END_TEST

START_TEST(text_form_and_garbage)
{
	struct block b = modern();
	char text[256 * 5 + 32], *to = text;
	struct wcache_identify *id = NULL;

	to += sprintf(to, "\n/dev/sda:\n");
	for (int i = 0; i < 256; i++)
		to += sprintf(to, "%04x%c", b.data[2 * i] | b.data[2 * i + 1] << 8,
			      i % 8 == 7 ? '\n' : ' ');
	ck_assert_int_eq(wcache_identify_new(text, to - text, &id), 0);
	ck_assert_str_eq(wcache_identify_get_model(id), "Example Drive 1000");
	wcache_identify_free(id);
	id = NULL;
	ck_assert_int_eq(wcache_identify_new(text, to - text - 6, &id), -EBADMSG);
	ck_assert_int_eq(wcache_identify_new("hello", 5, &id), -EBADMSG);
	ck_assert_int_eq(wcache_identify_new("", 0, &id), -EBADMSG);
	memset(b.data, 0, sizeof(b.data));
	ck_assert_int_eq(wcache_identify_new(b.data, 512, &id), -EBADMSG);
	memset(b.data, 0xff, sizeof(b.data));
	ck_assert_int_eq(wcache_identify_new(b.data, 512, &id), -EBADMSG);
	ck_assert_ptr_null(id);
}
END_TEST

static const char *one_if(bool condition)
{
	return condition ? "1" : "0";
}

/* The row of expected.tsv against what is decoded. */
static void check_row(char *column[], const struct wcache_identify *id)
{
	const enum wcache_cache cache = wcache_identify_get_cache(id);
	const bool lookahead = wcache_identify_get_word(id, 82) & 1 << 6 &&
			       (wcache_identify_get_word(id, 83) & 0xc000) == 0x4000;
	const char *flush = wcache_identify_get_flush_command(id);
	const enum wcache_answer sum = wcache_identify_get_checksum(id);
	char word[5];

	ck_assert_str_eq(wcache_identify_get_class(id), column[1]);
	ck_assert_str_eq(wcache_identify_get_model(id), column[2]);
	ck_assert_str_eq(wcache_identify_get_firmware(id), column[3]);
	snprintf(word, sizeof(word), "%04x", wcache_identify_get_word(id, 85));
	ck_assert_str_eq(word, column[9]);
	ck_assert_str_eq(sum == WCACHE_YES ? "ok" : sum == WCACHE_NO ? "bad" : "none", column[12]);
	ck_assert_str_eq(one_if(cache == WCACHE_CACHE_ON || cache == WCACHE_CACHE_OFF), column[13]);
	ck_assert_str_eq(cache == WCACHE_CACHE_NONE ? "-" : one_if(cache == WCACHE_CACHE_ON),
			 column[14]);
	ck_assert_str_eq(one_if(lookahead), column[15]);
	ck_assert_str_eq(one_if(wcache_identify_has_flush(id) == WCACHE_YES), column[17]);
	ck_assert_str_eq(one_if(wcache_identify_has_flush_ext(id) == WCACHE_YES), column[18]);
	if (!strcmp(column[21], "EAh"))
		ck_assert_pstr_eq(flush, "FLUSH CACHE EXT");
	else if (!strcmp(column[21], "E7h"))
		ck_assert_pstr_eq(flush, "FLUSH CACHE");
	else
		ck_assert_ptr_null(flush);
}

START_TEST(corpus_identify)
{
	const char *table = corpus("ata/expected.tsv");
	char root[4096], path[8192], line[1024];
	int rows = 0;
	FILE *f;

	if (!table)
		return;
	snprintf(root, sizeof(root), "%s", table);
	*strrchr(root, '/') = '\0';
	f = fopen(table, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f)) {
		char *column[24] = { NULL }, *rest = line;
		char text[4096];
		size_t n;

		for (int i = 0; i < 24 && rest; i++)
			column[i] = strsep(&rest, "\t\n");
		ck_assert_ptr_nonnull(column[22]);
		for (int form = 0; form < 2; form++) {
			struct wcache_identify *id;
			FILE *data;

			snprintf(path, sizeof(path), "%s/%s", root, column[0]);
			if (form)
				strcpy(strrchr(path, '.'), ".hex");
			data = fopen(path, "r");
			ck_assert_msg(data, "%s", path);
			n = fread(text, 1, sizeof(text), data);
			fclose(data);
			ck_assert_msg(!wcache_identify_new(text, n, &id), "%s", path);
			check_row(column, id);
			wcache_identify_free(id);
		}
		rows++;
	}
	fclose(f);
	ck_assert_int_ge(rows, 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identify");
	TCase *tc = tcase_create("identify");

	tcase_add_test(tc, strings_and_classes);
	tcase_add_test(tc, cache_bits_count_only_when_valid);
	tcase_add_test(tc, flush_that_is_safe_to_send);
	tcase_add_test(tc, nonvolatile_promise);
	tcase_add_test(tc, checksum);
	tcase_add_test(tc, text_form_and_garbage);
	tcase_add_test(tc, corpus_identify);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
