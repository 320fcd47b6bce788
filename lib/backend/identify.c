/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IDENTIFY DEVICE data: words to facts. ACS-5 7.13. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "identify.h"

static bool valid(uint16_t word)
{
	return (word & 0xc000) == 0x4000;
}

bool wc_identify_is_blank(const uint8_t data[WC_IDENTIFY_SIZE])
{
	if (data[0] != 0x00 && data[0] != 0xff)
		return false;
	return !memcmp(data, data + 1, WC_IDENTIFY_SIZE - 1);
}

/* ACS-5 3.4.9: the first character of a pair is in the high byte. */
static void decode_string(const uint16_t *word, size_t n_words, char *out)
{
	size_t len = 0, start = 0;

	for (size_t i = 0; i < n_words; i++) {
		out[len++] = word[i] >> 8;
		out[len++] = word[i] & 0xff;
	}
	for (size_t i = 0; i < len; i++)
		if (out[i] < 0x20 || out[i] > 0x7e)
			out[i] = out[i] ? '?' : ' ';
	while (len && out[len - 1] == ' ')
		len--;
	while (start < len && out[start] == ' ')
		start++;
	memmove(out, out + start, len - start);
	out[len - start] = '\0';
}

void wc_identify_decode(const uint8_t data[WC_IDENTIFY_SIZE], struct wcache_identify *id)
{
	uint8_t sum = 0;

	memset(id, 0, sizeof(*id));
	for (size_t i = 0; i < 256; i++)
		id->word[i] = data[2 * i] | data[2 * i + 1] << 8;
	decode_string(id->word + 10, 10, id->serial);
	decode_string(id->word + 23, 4, id->firmware);
	decode_string(id->word + 27, 20, id->model);
	/* Word 255: signature A5h, and a checksum that makes the bytes add up to 0. */
	if ((id->word[255] & 0xff) == 0xa5) {
		for (size_t i = 0; i < WC_IDENTIFY_SIZE; i++)
			sum += data[i];
		id->checksum = sum ? WCACHE_NO : WCACHE_YES;
	}
}

bool wc_identify_reports_features(const struct wcache_identify *id)
{
	return valid(id->word[83]);
}

bool wc_identify_has_sct_feature_control(const struct wcache_identify *id)
{
	/* Word 128 bits 2:0: security supported, enabled, locked. */
	return id->word[206] != 0xffff && (id->word[206] & 0x11) == 0x11 &&
	       (id->word[128] & 7) != 7;
}

/* 256 words of four hex digits; a line that names the device may stand before. */
static int parse_text(const char *text, size_t size, uint8_t data[WC_IDENTIFY_SIZE])
{
	size_t n = 0, i = 0;

	while (i < size) {
		char digits[5] = "";
		char *end;
		unsigned long v;

		if (isspace((unsigned char)text[i])) {
			i++;
			continue;
		}
		if (text[i] == '/' && !n) {
			while (i < size && text[i] != '\n')
				i++;
			continue;
		}
		if (size - i < 4 || n == 256)
			return -EBADMSG;
		memcpy(digits, text + i, 4);
		for (int k = 0; k < 4; k++)
			if (!isxdigit((unsigned char)digits[k]))
				return -EBADMSG;
		v = strtoul(digits, &end, 16);
		data[2 * n] = v & 0xff;
		data[2 * n + 1] = v >> 8;
		n++;
		i += 4;
		if (i < size && !isspace((unsigned char)text[i]))
			return -EBADMSG;
	}
	return n == 256 ? 0 : -EBADMSG;
}

WC_EXPORT int wcache_identify_new(const void *data, size_t size, struct wcache_identify **ret)
{
	uint8_t buf[WC_IDENTIFY_SIZE];
	struct wcache_identify *id;

	if (size == WC_IDENTIFY_SIZE)
		memcpy(buf, data, size);
	else if (parse_text(data, size, buf) < 0)
		return -EBADMSG;
	if (wc_identify_is_blank(buf))
		return -EBADMSG;
	id = malloc(sizeof(*id));
	if (!id)
		return -ENOMEM;
	wc_identify_decode(buf, id);
	*ret = id;
	return 0;
}

WC_EXPORT void wcache_identify_free(struct wcache_identify *id)
{
	free(id);
}

WC_EXPORT unsigned short wcache_identify_get_word(const struct wcache_identify *id,
						  unsigned int index)
{
	return index < 256 ? id->word[index] : 0;
}

WC_EXPORT const char *wcache_identify_get_class(const struct wcache_identify *id)
{
	if (id->word[0] == 0x848a || id->word[0] == 0x844a)
		return "cfa";
	return id->word[0] & 0x8000 ? "atapi" : "ata";
}

WC_EXPORT const char *wcache_identify_get_model(const struct wcache_identify *id)
{
	return id->model;
}

WC_EXPORT const char *wcache_identify_get_firmware(const struct wcache_identify *id)
{
	return id->firmware;
}

WC_EXPORT const char *wcache_identify_get_serial(const struct wcache_identify *id)
{
	return id->serial;
}

WC_EXPORT enum wcache_answer wcache_identify_get_checksum(const struct wcache_identify *id)
{
	return id->checksum;
}

WC_EXPORT enum wcache_cache wcache_identify_get_cache(const struct wcache_identify *id)
{
	if (!valid(id->word[83]) || !(id->word[82] & 1 << 5))
		return WCACHE_CACHE_NONE;
	if (!valid(id->word[87]))
		return WCACHE_CACHE_UNKNOWN;
	return id->word[85] & 1 << 5 ? WCACHE_CACHE_ON : WCACHE_CACHE_OFF;
}

WC_EXPORT enum wcache_answer wcache_identify_get_lookahead(const struct wcache_identify *id)
{
	if (!valid(id->word[83]) || !(id->word[82] & 1 << 6) || !valid(id->word[87]))
		return WCACHE_UNKNOWN;
	return id->word[85] & 1 << 6 ? WCACHE_YES : WCACHE_NO;
}

WC_EXPORT enum wcache_answer wcache_identify_has_flush(const struct wcache_identify *id)
{
	if (!valid(id->word[83]))
		return WCACHE_UNKNOWN;
	return id->word[83] & 1 << 12 ? WCACHE_YES : WCACHE_NO;
}

WC_EXPORT enum wcache_answer wcache_identify_has_flush_ext(const struct wcache_identify *id)
{
	if (!valid(id->word[83]))
		return WCACHE_UNKNOWN;
	return id->word[83] & 1 << 13 ? WCACHE_YES : WCACHE_NO;
}

WC_EXPORT const char *wcache_identify_get_flush_command(const struct wcache_identify *id)
{
	/*
	 * Some drives claim FLUSH CACHE EXT in word 83, have no 48-bit addresses (word
	 * 86 bit 10), and abort it.
	 */
	if (wcache_identify_has_flush_ext(id) == WCACHE_YES && valid(id->word[87]) &&
	    (id->word[86] & (1 << 13 | 1 << 10)) == (1 << 13 | 1 << 10))
		return "FLUSH CACHE EXT";
	if (wcache_identify_has_flush(id) == WCACHE_YES)
		return "FLUSH CACHE";
	return NULL;
}

WC_EXPORT enum wcache_answer wcache_identify_get_nonvolatile(const struct wcache_identify *id)
{
	/* Word 69 has this meaning since ACS-2 (word 80 bit 9). A clear bit says nothing. */
	if (id->word[80] == 0xffff || id->word[80] < 1 << 9 || id->word[69] == 0xffff)
		return WCACHE_UNKNOWN;
	return id->word[69] & 1 << 2 ? WCACHE_YES : WCACHE_UNKNOWN;
}

WC_EXPORT unsigned int wcache_identify_get_rotation(const struct wcache_identify *id)
{
	uint16_t rate = id->word[217];

	return rate == 1 || (rate >= 0x0401 && rate <= 0xfffe) ? rate : 0;
}
