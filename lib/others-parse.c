/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hdparm.conf, smartd.conf and the drive files of udisks, read as their programs read them:
 * Debian's /lib/hdparm/hdparm-functions, smartd.conf(5), udisks(8).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "others.h"

#define BLANKS " \t\r\v\f"
/* of "read KEY SEP VALUE": a carriage return is part of a word */
#define SHELL_BLANKS " \t"
/* Far above what a machine has, far below what hurts. */
#define MAX_ENTRIES 10000

struct setting {
	enum wcache_cache cache;
	unsigned int line;
};

static int add(struct wcache_others *o, enum wc_other who, const char *file, const char *name,
	       struct setting setting)
{
	struct wc_other_entry *e;

	if (o->n == MAX_ENTRIES)
		return 0;
	e = reallocarray(o->entry, o->n + 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	o->entry = e;
	e += o->n;
	*e = (struct wc_other_entry){
		.who = who,
		.name = name ? strdup(name) : NULL,
		.setting = setting.cache,
		.line = setting.line,
		.file = strdup(file),
	};
	o->n++;
	return (name && !e->name) || !e->file ? -ENOMEM : 0;
}

struct lines {
	const char *at, *end;
	unsigned int number;
	char *line;
	bool failed;
};

/* The next line, to be written into; NULL at the end. A zero byte ends its line early. */
static char *next_line(struct lines *l)
{
	const char *end;

	free(l->line);
	l->line = NULL;
	if (l->at == l->end)
		return NULL;
	end = memchr(l->at, '\n', l->end - l->at);
	l->line = strndup(l->at, (end ? end : l->end) - l->at);
	l->failed = !l->line;
	l->at = end ? end + 1 : l->end;
	l->number++;
	return l->line;
}

/* ------------------------------------------------------------------- hdparm */

static const char *const hdparm_flags[] = {
	"quiet", "standby", "sleep", "disable_seagate", "security_freeze",
};

static const char *const hdparm_keys[] = {
	"read_ahead_sect",
	"lookahead",
	"bus",
	"apm",
	"apm_battery",
	"io32_support",
	"dma",
	"defect_mana",
	"cd_speed",
	"mult_sect_io",
	"prefetch_sect",
	"read_only",
	"write_read_verify",
	"spindown_time",
	"force_spindown_time",
	"poweron_standby",
	"interrupt_unmask",
	"transfer_mode",
	"acoustic_management",
	"keep_settings_over_reset",
	"keep_features_over_reset",
	"chipset_pio_mode",
	"security_unlock",
	"security_pass",
	"security_disable",
	"user-master",
	"security_mode",
	"ROOTFS",
};

static bool is_among(const char *word, const char *const words[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

struct hdparm_options {
	bool any;
	struct setting cache;
};

struct hdparm {
	char *disk; /* of the section, also after its end, as there */
	bool command_line;
	struct hdparm_options all, own;
};

/* false: it would give up here */
static bool hdparm_set(struct hdparm *h, const char *key, const char *value, unsigned int line)
{
	struct hdparm_options *options = h->disk ? &h->own : &h->all;

	if (!strcmp(key, "write_cache")) {
		if (!strcmp(value, "on") || !strcmp(value, "1"))
			options->cache.cache = WCACHE_CACHE_ON;
		else if (!strcmp(value, "off") || !strcmp(value, "0"))
			options->cache.cache = WCACHE_CACHE_OFF;
		else
			return false;
		options->cache.line = line;
	} else if (!is_among(key, hdparm_keys, sizeof(hdparm_keys) / sizeof(*hdparm_keys))) {
		return false;
	}
	options->any = true;
	return true;
}

static bool hdparm_flag(struct hdparm *h, const char *key)
{
	if (!is_among(key, hdparm_flags, sizeof(hdparm_flags) / sizeof(*hdparm_flags)))
		return h->command_line;
	if (strcmp(key, "quiet"))
		(h->disk ? &h->own : &h->all)->any = true;
	return true;
}

static int hdparm_begin(struct hdparm *h, const char *key)
{
	free(h->disk);
	h->disk = NULL;
	h->own = (struct hdparm_options){ 0 };
	h->command_line = !strcmp(key, "command_line");
	if (h->command_line)
		return 0;
	h->own = h->all;
	h->disk = strdup(key);
	return h->disk ? 0 : -ENOMEM;
}

/* 1: it would give up here */
static int hdparm_line(struct wcache_others *o, struct hdparm *h, const char *file, char *line,
		       unsigned int number)
{
	char *rest, *key = strtok_r(line, SHELL_BLANKS, &rest);
	const char *mark = key ? strtok_r(NULL, SHELL_BLANKS, &rest) : NULL;
	const char *value = mark ? strtok_r(NULL, SHELL_BLANKS, &rest) : NULL;
	int err = 0;

	if (!key || *key == '#')
		return 0;
	if (mark && !strcmp(mark, "{"))
		return hdparm_begin(h, key);
	if (mark && !strcmp(mark, "="))
		return hdparm_set(h, key, value ? value : "", number) ? 0 : 1;
	if (mark)
		return h->command_line ? 0 : 1;
	if (strcmp(key, "}"))
		return hdparm_flag(h, key) ? 0 : 1;
	if (!h->disk && !h->command_line)
		return 1;
	if (h->disk && h->own.any)
		err = add(o, WC_OTHER_HDPARM, file, h->disk, h->own.cache);
	h->command_line = false;
	return err;
}

int wc_others_parse_hdparm(struct wcache_others *o, const char *file, const char *text, size_t size)
{
	struct lines l = { .at = text, .end = text + size };
	struct hdparm h = { 0 };
	char *line;
	int err = 0;

	while (!err && (line = next_line(&l)))
		err = hdparm_line(o, &h, file, line, l.number);
	if (!err && h.all.any)
		err = add(o, WC_OTHER_HDPARM, file, NULL, h.all.cache);
	free(l.line);
	free(h.disk);
	return err < 0 || l.failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------- smartd */

/* The next word of an entry; one that names a device may be in quotes. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS);
	char *end;

	if (*word == '"') {
		end = strchr(++word, '"');
		if (!end)
			end = word + strlen(word);
	} else {
		end = word + strcspn(word, BLANKS);
	}
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

struct smartd_entry {
	struct setting setting;
	bool ignored; /* -d ignore */
	bool behind; /* -d megaraid,N and the like: not the device that it names */
};

static void smartd_type(struct smartd_entry *e, const char *type)
{
	e->ignored = e->ignored || !strcmp(type, "ignore");
	e->behind = e->behind || (strchr(type, ',') && strncmp(type, "sat,", 4) != 0);
}

static void smartd_directives(struct smartd_entry *e, char *at, unsigned int line)
{
	for (char *word = next_word(&at); *word; word = next_word(&at)) {
		if (!strcmp(word, "-d")) {
			smartd_type(e, next_word(&at));
		} else if (!strcmp(word, "-e")) {
			word = next_word(&at);
			if (!strcmp(word, "wcache,on"))
				e->setting = (struct setting){ WCACHE_CACHE_ON, line };
			else if (!strcmp(word, "wcache,off"))
				e->setting = (struct setting){ WCACHE_CACHE_OFF, line };
		}
	}
}

/* 1: what comes after DEVICESCAN does not count */
static int smartd_line(struct wcache_others *o, struct smartd_entry *defaults, const char *file,
		       char *line, unsigned int number)
{
	struct smartd_entry e = *defaults;
	char *at = line;
	const char *name = next_word(&at);
	int err;

	if (!*name)
		return 0;
	if (!strcmp(name, "DEFAULT")) {
		*defaults = (struct smartd_entry){ 0 };
		smartd_directives(defaults, at, number);
		return 0;
	}
	smartd_directives(&e, at, number);
	if (!strcmp(name, "DEVICESCAN")) {
		err = e.ignored ? 0 : add(o, WC_OTHER_SMARTD, file, NULL, e.setting);
		return err ? err : 1;
	}
	if (e.behind)
		return 0;
	if (e.ignored)
		e.setting.cache = WCACHE_CACHE_UNKNOWN;
	return add(o, WC_OTHER_SMARTD, file, name, e.setting);
}

int wc_others_parse_smartd(struct wcache_others *o, const char *file, const char *text, size_t size)
{
	struct lines l = { .at = text, .end = text + size };
	struct smartd_entry defaults = { 0 };
	char *line, *whole = NULL;
	size_t length = 0;
	int err = 0;

	while (!err && (line = next_line(&l))) {
		bool goes_on;
		char *more;

		line[strcspn(line, "#")] = '\0';
		for (more = line + strlen(line); more > line && strchr(BLANKS, more[-1]);)
			*--more = '\0';
		goes_on = more > line && more[-1] == '\\';
		if (goes_on)
			more[-1] = ' ';
		more = realloc(whole, length + strlen(line) + 1);
		if (!more) {
			err = -ENOMEM;
			break;
		}
		whole = more;
		strcpy(whole + length, line);
		length += strlen(line);
		if (goes_on && l.at != l.end)
			continue;
		err = smartd_line(o, &defaults, file, whole, l.number);
		length = 0;
	}
	free(whole);
	free(l.line);
	return err < 0 || l.failed ? -ENOMEM : 0;
}

/* ------------------------------------------------------------------- udisks */

/* "WriteCacheEnabled = true" of a key file (GKeyFile) */
static void udisks_line(struct setting *setting, char *line, unsigned int number)
{
	char *rest, *key = strtok_r(line, BLANKS "=", &rest);
	const char *value = key ? strtok_r(NULL, BLANKS "=", &rest) : NULL;

	if (!value || strcmp(key, "WriteCacheEnabled"))
		return;
	if (!strcmp(value, "true") || !strcmp(value, "1"))
		*setting = (struct setting){ WCACHE_CACHE_ON, number };
	else if (!strcmp(value, "false") || !strcmp(value, "0"))
		*setting = (struct setting){ WCACHE_CACHE_OFF, number };
}

int wc_others_parse_udisks(struct wcache_others *o, const char *file, const char *id,
			   const char *text, size_t size)
{
	struct lines l = { .at = text, .end = text + size };
	struct setting setting = { 0 };
	bool ata = false;
	char *line;

	while ((line = next_line(&l))) {
		line += strspn(line, BLANKS);
		if (*line == '[')
			ata = !strncmp(line, "[ATA]", 5);
		else if (ata && *line != '#')
			udisks_line(&setting, line, l.number);
	}
	free(l.line);
	if (l.failed)
		return -ENOMEM;
	return setting.cache ? add(o, WC_OTHER_UDISKS, file, id, setting) : 0;
}
