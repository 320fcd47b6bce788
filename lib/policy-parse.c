/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a policy file to sections. Strict: what is not understood is an error. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctx.h"
#include "policy.h"

/* Far above what a site writes, far below what hurts. */
#define MAX_SECTIONS 10000
#define MAX_LINE 4096

struct parser {
	struct wcache_policy *policy;
	const char *file;
	const char *line; /* where the line begins, for columns */
	unsigned int line_number;
	size_t first; /* of the sections of this file */
	bool in_section;
	char *why;
	size_t why_size;
};

static const char *const key_names[WC_KEYS] = {
	[WC_KEY_BUS] = "bus",
	[WC_KEY_MODEL] = "model",
	[WC_KEY_SERIAL] = "serial",
	[WC_KEY_WWN] = "wwn",
	[WC_KEY_ROTATIONAL] = "rotational",
	[WC_KEY_NONVOLATILE] = "nonvolatile",
	[WC_KEY_PATH] = "path",
};

const char *wc_policy_key_name(enum wc_key key)
{
	return key_names[key];
}

static int fail_at(struct parser *p, unsigned int line, size_t column, const char *fmt, ...)
	WC_PRINTF(4, 5);

static int fail_at(struct parser *p, unsigned int line, size_t column, const char *fmt, ...)
{
	int n = snprintf(p->why, p->why_size, "%s:%u:%zu: ", p->file, line, column);
	va_list ap;

	if (n < 0 || (size_t)n >= p->why_size)
		return -EBADMSG;
	va_start(ap, fmt);
	vsnprintf(p->why + n, p->why_size - n, fmt, ap);
	va_end(ap);
	/* What the file holds is not for a terminal. */
	for (char *c = p->why; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return -EBADMSG;
}

static size_t column_of(const struct parser *p, const char *at)
{
	return at - p->line + 1;
}

static struct wc_section *current(struct parser *p)
{
	return &p->policy->section[p->policy->n - 1];
}

static bool has_keys(const struct wc_section *s)
{
	for (int k = 0; k < WC_KEYS; k++)
		if (s->glob[k])
			return true;
	return false;
}

/* A section is judged when the next one begins, or the file ends. */
static int end_section(struct parser *p)
{
	const struct wc_section *s;

	if (!p->in_section)
		return 0;
	s = current(p);
	if (!s->wanted)
		return fail_at(p, s->line, 1, "section [%s] has no 'cache ='", s->name);
	if (!s->is_default && !has_keys(s))
		return fail_at(p, s->line, 1,
			       "section [%s] has no key to match; for all other drives use "
			       "[default]",
			       s->name);
	return 0;
}

static int begin_section(struct parser *p, const char *text, const char *end)
{
	const char *close = memchr(text, ']', end - text);
	struct wcache_policy *policy = p->policy;
	struct wc_section *s;
	int err = end_section(p);

	if (err < 0)
		return err;
	if (!close)
		return fail_at(p, p->line_number, column_of(p, end), "']' is missing");
	if (close + 1 != end)
		return fail_at(p, p->line_number, column_of(p, close + 1),
			       "there is something after ']'");
	if (close == text + 1)
		return fail_at(p, p->line_number, column_of(p, close), "a section needs a name");
	if (policy->n == MAX_SECTIONS)
		return fail_at(p, p->line_number, 1, "more than %d sections", MAX_SECTIONS);
	s = reallocarray(policy->section, policy->n + 1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	policy->section = s;
	s = &policy->section[policy->n];
	*s = (struct wc_section){ .line = p->line_number };
	s->name = strndup(text + 1, close - text - 1);
	if (!s->name)
		return -ENOMEM;
	policy->n++;
	p->in_section = true;
	s->is_default = !strcmp(s->name, "default");
	for (size_t i = p->first; s->is_default && i < policy->n - 1; i++)
		if (policy->section[i].is_default)
			return fail_at(p, p->line_number, 1,
				       "a second [default]; the first is in line %u",
				       policy->section[i].line);
	return 0;
}

static enum wcache_wanted wanted_of(const char *value)
{
	static const struct {
		const char *name;
		enum wcache_wanted wanted;
	} words[] = {
		{ "on", WCACHE_WANTED_ON },
		{ "off", WCACHE_WANTED_OFF },
		{ "default", WCACHE_WANTED_DEFAULT },
		{ "leave", WCACHE_WANTED_LEAVE },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(value, words[i].name))
			return words[i].wanted;
	return WCACHE_WANTED_UNKNOWN;
}

static int set_cache(struct parser *p, const char *value, size_t column)
{
	struct wc_section *s = current(p);

	if (s->wanted)
		return fail_at(p, p->line_number, 1, "'cache' is given twice in [%s]", s->name);
	s->wanted = wanted_of(value);
	if (!s->wanted)
		return fail_at(p, p->line_number, column, "'%s' is not on, off, default or leave",
			       value);
	if (asprintf(&s->where, "%s:%u", p->file, p->line_number) < 0) {
		s->where = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* fnmatch(3) takes a broken pattern for plain text, which its author did not mean. */
static size_t find_glob_error(const char *glob)
{
	for (size_t i = 0; glob[i]; i++) {
		if (glob[i] == '\\' && !glob[++i])
			return i;
		if (glob[i] == '[') {
			size_t start = i++;

			if (glob[i] == '!' || glob[i] == '^')
				i++;
			if (glob[i] == ']')
				i++;
			while (glob[i] && glob[i] != ']')
				i++;
			if (!glob[i])
				return start + 1;
		}
	}
	return 0;
}

static const char *truth_of(const char *value)
{
	if (!strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1"))
		return "yes";
	if (!strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "0"))
		return "no";
	return NULL;
}

static int check_value(struct parser *p, enum wc_key key, const char **value, size_t column)
{
	size_t bad;

	if (key == WC_KEY_ROTATIONAL || key == WC_KEY_NONVOLATILE) {
		const char *truth = truth_of(*value);

		if (!truth)
			return fail_at(p, p->line_number, column, "'%s' is not yes or no", *value);
		*value = truth;
		return 0;
	}
	if (key == WC_KEY_PATH && **value != '/')
		return fail_at(p, p->line_number, column, "a path begins with '/'");
	bad = find_glob_error(*value);
	if (bad)
		return fail_at(p, p->line_number, column + bad - 1, "the pattern does not end");
	return 0;
}

static int set_key(struct parser *p, enum wc_key key, const char *value, size_t column)
{
	struct wc_section *s = current(p);
	int err;

	if (s->is_default)
		return fail_at(p, p->line_number, 1,
			       "[default] is for all other drives and takes no '%s'",
			       key_names[key]);
	if (s->glob[key])
		return fail_at(p, p->line_number, 1, "'%s' is given twice in [%s]", key_names[key],
			       s->name);
	err = check_value(p, key, &value, column);
	if (err < 0)
		return err;
	s->glob[key] = strdup(value);
	return s->glob[key] ? 0 : -ENOMEM;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s;
}

static const char *drop_blanks(const char *start, const char *end)
{
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return end;
}

static int assign(struct parser *p, const char *text, const char *end)
{
	const char *equals = memchr(text, '=', end - text);
	const char *value_start;
	char key[16] = "", value[MAX_LINE];
	size_t length;

	if (!equals)
		return fail_at(p, p->line_number, column_of(p, text),
			       "neither [SECTION] nor KEY = VALUE");
	if (!p->in_section)
		return fail_at(p, p->line_number, column_of(p, text),
			       "a key before the first [SECTION]");
	length = drop_blanks(text, equals) - text;
	if (length < sizeof(key))
		memcpy(key, text, length);
	value_start = skip_blanks(equals + 1, end);
	memcpy(value, value_start, end - value_start);
	value[end - value_start] = '\0';
	if (!*value)
		return fail_at(p, p->line_number, column_of(p, end), "a value is missing");
	if (!strcmp(key, "cache"))
		return set_cache(p, value, column_of(p, value_start));
	for (int k = 0; k < WC_KEYS; k++)
		if (!strcmp(key, key_names[k]))
			return set_key(p, k, value, column_of(p, value_start));
	return fail_at(p, p->line_number, column_of(p, text), "no key is called '%.*s'",
		       (int)(length < 40 ? length : 40), text);
}

static int check_text(struct parser *p, const char *text, const char *end)
{
	if (end - text >= MAX_LINE)
		return fail_at(p, p->line_number, MAX_LINE, "the line is too long");
	for (const char *c = text; c < end; c++)
		if (iscntrl((unsigned char)*c) && *c != '\t')
			return fail_at(p, p->line_number, column_of(p, c),
				       "a control character (%02xh); this is not a text file",
				       (unsigned char)*c);
	return 0;
}

static int parse_line(struct parser *p, const char *text, const char *end)
{
	int err;

	p->line = text;
	/* A file that came by way of another system. */
	if (end > text && end[-1] == '\r')
		end--;
	err = check_text(p, text, end);
	if (err < 0)
		return err;
	text = skip_blanks(text, end);
	end = drop_blanks(text, end);
	if (text == end || *text == '#' || *text == ';')
		return 0;
	return *text == '[' ? begin_section(p, text, end) : assign(p, text, end);
}

int wc_policy_parse(struct wcache_policy *policy, const char *file, const char *text, size_t size,
		    char *why, size_t why_size)
{
	struct parser p = {
		.policy = policy,
		.file = file,
		.first = policy->n,
		.why = why,
		.why_size = why_size,
	};
	const char *end = text + size;
	int err;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		text += 3;
	while (text < end) {
		const char *eol = memchr(text, '\n', end - text);

		if (!eol)
			eol = end;
		p.line_number++;
		err = parse_line(&p, text, eol);
		if (err < 0)
			return err;
		text = eol + 1;
	}
	return end_section(&p);
}
