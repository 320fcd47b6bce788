/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/self/mountinfo: which file system a path lies on (proc(5)). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stack.h"
#include "transport/sysfs.h"

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks, newlines and backslashes stand as \040, \012, \134 (fs/proc_namespace.c). */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (*s == '\\' && is_octal(s[1]) && is_octal(s[2]) && is_octal(s[3])) {
			*out++ = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

/* id parent major:minor root point options [tag...] - type source super-options */
static bool parse_line(char *line, struct wc_mount *m)
{
	char *field[6], *rest, *save = NULL;

	rest = strstr(line, " - ");
	if (!rest)
		return false;
	*rest = '\0';
	rest += 3;
	for (int i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	m->id = atoi(field[0]);
	m->parent = atoi(field[1]);
	if (sscanf(field[2], "%u:%u", &m->major, &m->minor) != 2)
		return false;
	m->root = field[3];
	m->point = field[4];
	/* An empty source leaves two blanks in a row: not for strtok. */
	m->type = strsep(&rest, " ");
	m->source = strsep(&rest, " ");
	m->options = rest;
	if (!m->type || !m->source || !m->options)
		return false;
	unescape(m->root);
	unescape(m->point);
	unescape(m->type);
	unescape(m->source);
	return true;
}

int wc_mounts_read(struct wcache_stack *s)
{
	char *line, *next;
	int err;

	if (s->has_mounts)
		return 0;
	err = wc_host_read_whole(s->ctx, "/proc/self/mountinfo", &s->mount_text);
	if (err < 0)
		return err;
	s->has_mounts = true;
	for (line = s->mount_text; line && *line; line = next) {
		struct wc_mount *p = reallocarray(s->mounts, s->n_mounts + 1, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->mounts = p;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (parse_line(line, &p[s->n_mounts]))
			s->n_mounts++;
	}
	return 0;
}

static bool is_below(const char *path, const char *point)
{
	size_t n = strlen(point);

	if (n == 1 && *point == '/')
		return *path == '/';
	return !strncmp(path, point, n) && (path[n] == '/' || !path[n]);
}

static const struct wc_mount *by_id(const struct wcache_stack *s, int id)
{
	for (size_t i = 0; i < s->n_mounts; i++)
		if (s->mounts[i].id == id)
			return &s->mounts[i];
	return NULL;
}

/*
 * As the kernel walks: from the root, over the first mount point on the way that is
 * mounted on where we are. One hidden by a later mount is never met.
 */
static const struct wc_mount *by_walk(const struct wcache_stack *s, const char *path)
{
	const struct wc_mount *at = NULL;

	for (size_t i = 0; i < s->n_mounts; i++)
		if (!strcmp(s->mounts[i].point, "/") && !by_id(s, s->mounts[i].parent))
			at = &s->mounts[i];
	if (!at)
		for (size_t i = 0; i < s->n_mounts; i++)
			if (!strcmp(s->mounts[i].point, "/"))
				at = &s->mounts[i];
	for (size_t step = 0; at && step < s->n_mounts; step++) {
		const struct wc_mount *next = NULL;

		for (size_t i = 0; i < s->n_mounts; i++) {
			const struct wc_mount *m = &s->mounts[i];

			if (m->parent == at->id && m != at && is_below(path, m->point) &&
			    (!next || strlen(m->point) <= strlen(next->point)))
				next = m;
		}
		if (!next)
			break;
		at = next;
	}
	return at;
}

const struct wc_mount *wc_mount_of(struct wcache_stack *s, const char *path)
{
	const struct wc_mount *m = NULL;
	struct statx st;

	if (wc_mounts_read(s) < 0)
		return NULL;
	/* The kernel's own answer, where it is this machine that is asked (Linux 5.8). */
	if (!s->ctx->root && !statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st) &&
	    st.stx_mask & STATX_MNT_ID)
		m = by_id(s, st.stx_mnt_id);
	return m ? m : by_walk(s, path);
}

int wc_mount_option(const struct wc_mount *m, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);

	for (const char *p = m->options; *p;) {
		size_t n = strcspn(p, ",");

		if (n >= len && !strncmp(p, key, len) && (n == len || p[len] == '=')) {
			snprintf(value, size, "%.*s", n == len ? 0 : (int)(n - len - 1),
				 n == len ? "" : p + len + 1);
			unescape(value);
			return 0;
		}
		p += n;
		p += *p == ',';
	}
	return -ENOENT;
}
