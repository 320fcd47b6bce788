/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exchange file: parsing, and the form of one request. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange.h"

#define MAX_FILE (16u << 20)
#define MAX_DATA (1u << 20)

struct parser {
	struct wc_exchange *x;
	unsigned int line;
	char *why;
	size_t why_size;
};

static int bad(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int bad(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(p->why, p->why_size, "line %u: ", p->line);

	if (n < 0 || (size_t)n >= p->why_size)
		return -EBADMSG;
	va_start(ap, fmt);
	vsnprintf(p->why + n, p->why_size - n, fmt, ap);
	va_end(ap);
	return -EBADMSG;
}

/* Room for one more element; doubles at each power of two. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? n * 2 : 1, size);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Hex bytes up to the end of the string, blanks ignored. Bytes written, or -1. */
static ssize_t parse_hex(const char *s, uint8_t *out, size_t max)
{
	size_t n = 0;

	for (; *s; s++) {
		int hi, lo;

		if (*s == ' ' || *s == '\t')
			continue;
		hi = hex_digit(s[0]);
		lo = hi < 0 ? -1 : hex_digit(s[1]);
		if (lo < 0 || n == max)
			return -1;
		out[n++] = hi << 4 | lo;
		s++;
	}
	return n;
}

/* "\xHH" to bytes, in place. The length, or -1. */
static ssize_t unescape(char *s)
{
	char *out = s;
	char *in = s;

	while (*in) {
		int hi, lo;

		if (*in != '\\') {
			*out++ = *in++;
			continue;
		}
		if (in[1] != 'x')
			return -1;
		hi = hex_digit(in[2]);
		lo = hi < 0 ? -1 : hex_digit(in[3]);
		if (lo < 0)
			return -1;
		*out++ = hi << 4 | lo;
		in += 4;
	}
	*out = '\0';
	return out - s;
}

static int parse_number(const char *s, int base, unsigned long max, unsigned long *ret)
{
	char *end;
	unsigned long v;

	if (hex_digit(*s) < 0)
		return -1;
	errno = 0;
	v = strtoul(s, &end, base);
	if (errno || *end || v > max)
		return -1;
	*ret = v;
	return 0;
}

static struct wc_exchange_device *current(struct parser *p)
{
	return p->x->n_devices ? &p->x->devices[p->x->n_devices - 1] : NULL;
}

static struct wc_event *last_event(struct parser *p)
{
	struct wc_exchange_device *d = current(p);

	return d && d->n_events ? &d->events[d->n_events - 1] : NULL;
}

static struct wc_event *add_event(struct parser *p, enum wc_event_type type)
{
	struct wc_exchange_device *d = current(p);
	struct wc_event *e = grow(d->events, d->n_events, sizeof(*e));

	if (!e)
		return NULL;
	d->events = e;
	e += d->n_events++;
	memset(e, 0, sizeof(*e));
	e->type = type;
	e->line = p->line;
	return e;
}

static int parse_device(struct parser *p, const char *name)
{
	struct wc_exchange *x = p->x;
	struct wc_exchange_device *d;

	if (!*name || strchr(name, '/') || strlen(name) >= 64)
		return bad(p, "a device needs a kernel name, as sda");
	for (size_t i = 0; i < x->n_devices; i++)
		if (!strcmp(x->devices[i].name, name))
			return bad(p, "device %s is there twice", name);
	d = grow(x->devices, x->n_devices, sizeof(*d));
	if (!d)
		return -ENOMEM;
	x->devices = d;
	d += x->n_devices;
	memset(d, 0, sizeof(*d));
	d->name = strdup(name);
	if (!d->name)
		return -ENOMEM;
	x->n_devices++;
	return 0;
}

static int parse_prop(struct parser *p, char *text)
{
	struct wc_exchange_device *d = current(p);
	char **props;
	ssize_t n;

	n = strchr(text, '=') ? unescape(text) : -1;
	if (n < 0 || strlen(text) != (size_t)n || *text == '=')
		return bad(p, "a property is KEY=value");
	props = grow(d->props, d->n_props, sizeof(*props));
	if (!props)
		return -ENOMEM;
	d->props = props;
	props[d->n_props] = strdup(text);
	if (!props[d->n_props])
		return -ENOMEM;
	d->n_props++;
	return 0;
}

static int parse_attr(struct parser *p, char *text, enum wc_event_type type)
{
	char *eq = strchr(text, '=');
	struct wc_event *e;
	ssize_t len;

	if (!eq || eq == text)
		return bad(p, "an attribute is path=value");
	*eq = '\0';
	len = unescape(eq + 1);
	if (len < 0)
		return bad(p, "bad escape in the value of %s", text);
	e = add_event(p, type);
	if (!e)
		return -ENOMEM;
	e->name = strdup(text);
	e->value = malloc(len + 1);
	if (!e->name || !e->value)
		return -ENOMEM;
	memcpy(e->value, eq + 1, len + 1);
	e->value_len = len;
	return 0;
}

static int parse_nvme(struct parser *p, struct wc_request *rq, char *text)
{
	const struct {
		const char *key;
		unsigned long max;
		uint32_t *to;
	} fields[] = {
		{ "nsid", UINT32_MAX, &rq->nvme.nsid },	  { "cdw10", UINT32_MAX, &rq->nvme.cdw10 },
		{ "cdw11", UINT32_MAX, &rq->nvme.cdw11 }, { "cdw12", UINT32_MAX, &rq->nvme.cdw12 },
		{ "cdw13", UINT32_MAX, &rq->nvme.cdw13 }, { "cdw14", UINT32_MAX, &rq->nvme.cdw14 },
		{ "cdw15", UINT32_MAX, &rq->nvme.cdw15 },
	};
	bool opcode = false;
	char *word, *save;

	for (word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
		char *eq = strchr(word, '=');
		unsigned long v;
		size_t i;

		if (!eq)
			return bad(p, "\"%s\" is not key=value", word);
		*eq++ = '\0';
		if (parse_number(eq, 16, UINT32_MAX, &v))
			return bad(p, "\"%s\" is not a hex number", eq);
		if (!strcmp(word, "opcode") && v <= UINT8_MAX) {
			rq->nvme.opcode = v;
			opcode = true;
			continue;
		}
		for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
			if (!strcmp(word, fields[i].key))
				break;
		if (i == sizeof(fields) / sizeof(*fields))
			return bad(p, "%s=%s is not part of an NVMe command", word, eq);
		*fields[i].to = v;
	}
	return opcode ? 0 : bad(p, "an NVMe command needs opcode=");
}

static int parse_command(struct parser *p, enum wc_command_set set, char *text)
{
	char *save, *direction, *length;
	struct wc_event *e;
	unsigned long len;
	ssize_t n;

	direction = strtok_r(text, " \t", &save);
	length = direction ? strtok_r(NULL, " \t", &save) : NULL;
	if (!length || parse_number(length, 10, MAX_DATA, &len))
		return bad(p, "a command is: in|out|none LENGTH ...");
	e = add_event(p, WC_EVENT_COMMAND);
	if (!e)
		return -ENOMEM;
	e->request.set = set;
	e->request.data_len = len;
	if (!strcmp(direction, "in"))
		e->request.direction = WC_IN;
	else if (!strcmp(direction, "out"))
		e->request.direction = WC_OUT;
	else if (!strcmp(direction, "none"))
		e->request.direction = WC_NONE;
	else
		return bad(p, "direction \"%s\" is not in, out or none", direction);
	if ((e->request.direction == WC_NONE) != (len == 0))
		return bad(p, "direction %s does not go with length %lu", direction, len);
	if (set != WC_SCSI)
		return parse_nvme(p, &e->request, save);
	n = parse_hex(save, e->request.scsi.cdb, sizeof(e->request.scsi.cdb));
	if (n < 6)
		return bad(p, "a CDB has 6 to 16 bytes of hex");
	e->request.scsi.cdb_len = n;
	return 0;
}

static int parse_request(struct parser *p, char *text)
{
	if (!strncmp(text, "scsi ", 5))
		return parse_command(p, WC_SCSI, text + 5);
	if (!strncmp(text, "nvme-admin ", 11))
		return parse_command(p, WC_NVME_ADMIN, text + 11);
	if (!strncmp(text, "nvme-io ", 8))
		return parse_command(p, WC_NVME_IO, text + 8);
	if (!strncmp(text, "set attr ", 9))
		return parse_attr(p, text + 9, WC_EVENT_SET_ATTR);
	if (!strcmp(text, "sync"))
		return add_event(p, WC_EVENT_SYNC) ? 0 : -ENOMEM;
	return bad(p, "unknown request \"%.40s\"", text);
}

/* "sense=" takes the rest of the line: its bytes may have blanks between them. */
static int parse_reply(struct parser *p, char *text)
{
	struct wc_event *e = last_event(p);
	char *word = text;
	bool known = false;

	if (!e || e->type == WC_EVENT_ATTR || e->answered)
		return bad(p, "a reply without a request");
	e->answered = true;
	while (*word) {
		char *end = word + strcspn(word, " \t");
		char *eq;
		unsigned long v = 0;
		bool scsi = e->type == WC_EVENT_COMMAND && e->request.set == WC_SCSI;
		bool nvme = e->type == WC_EVENT_COMMAND && !scsi;

		if (scsi && !strncmp(word, "sense=", 6)) {
			ssize_t n = parse_hex(word + 6, e->reply.scsi.sense, WC_SENSE_MAX);

			if (n < 0)
				return bad(p, "sense is not hex, or above %d bytes", WC_SENSE_MAX);
			e->reply.scsi.sense_len = n;
			break;
		}
		if (*end)
			*end++ = '\0';
		eq = strchr(word, '=');
		if (!eq)
			return bad(p, "\"%s\" is not key=value", word);
		*eq++ = '\0';
		if (!strcmp(word, "errno") && !parse_number(eq, 10, 4095, &v))
			e->err = -(int)v;
		else if (scsi && !strcmp(word, "status") && !parse_number(eq, 16, 0xff, &v))
			e->reply.scsi.status = v;
		else if (scsi && !strcmp(word, "host") && !parse_number(eq, 16, 0xffff, &v))
			e->reply.scsi.host = v;
		else if (scsi && !strcmp(word, "driver") && !parse_number(eq, 16, 0xffff, &v))
			e->reply.scsi.driver = v;
		else if (scsi && !strcmp(word, "resid") && !parse_number(eq, 10, MAX_DATA, &v))
			e->reply.scsi.resid = v;
		else if (nvme && !strcmp(word, "status") && !parse_number(eq, 16, 0xffff, &v))
			e->reply.nvme.status = v;
		else if (nvme && !strcmp(word, "result") && !parse_number(eq, 16, UINT32_MAX, &v))
			e->reply.nvme.result = v;
		else
			return bad(p, "%s=%s does not belong to this reply", word, eq);
		known = true;
		word = end + strspn(end, " \t");
	}
	return known || *word ? 0 : bad(p, "an empty reply");
}

static int parse_data(struct parser *p, const char *text)
{
	struct wc_event *e = last_event(p);
	size_t room = strlen(text) / 2 + 1;
	uint8_t *data;
	ssize_t n;

	if (!e || e->type != WC_EVENT_COMMAND || e->request.direction == WC_NONE)
		return bad(p, "data without a command that moves any");
	data = realloc(e->data, e->data_len + room);
	if (!data)
		return -ENOMEM;
	e->data = data;
	n = parse_hex(text, data + e->data_len, room);
	if (n < 0)
		return bad(p, "data is not hex");
	e->data_len += n;
	if (e->data_len > e->request.data_len)
		return bad(p, "more data than the %u bytes of the command", e->request.data_len);
	return 0;
}

static int parse_line(struct parser *p, char *line)
{
	if (!*line || *line == '#')
		return 0;
	if (p->line == 1)
		return strcmp(line, "wcache-exchange 1")
			       ? bad(p, "the first line must be \"wcache-exchange 1\"")
			       : 0;
	if (!strcmp(line, "order any") && !p->x->n_devices) {
		p->x->any_order = true;
		return 0;
	}
	if (!strncmp(line, "device ", 7))
		return parse_device(p, line + 7);
	if (!current(p))
		return bad(p, "no device line yet");
	if (!strncmp(line, "prop ", 5))
		return parse_prop(p, line + 5);
	if (!strncmp(line, "attr ", 5))
		return parse_attr(p, line + 5, WC_EVENT_ATTR);
	if (!strncmp(line, "> ", 2))
		return parse_request(p, line + 2);
	if (!strncmp(line, "< ", 2))
		return parse_reply(p, line + 2);
	if (line[0] == '=')
		return parse_data(p, line + 1);
	return bad(p, "\"%.40s\" is not a line of an exchange file", line);
}

int wc_exchange_parse(const char *text, size_t size, struct wc_exchange **ret, char *why,
		      size_t why_size)
{
	struct parser p = { .why = why, .why_size = why_size };
	const char *end = text + size;
	int err = 0;

	if (size && memchr(text, '\0', size)) {
		snprintf(why, why_size, "not a text file");
		return -EBADMSG;
	}
	p.x = calloc(1, sizeof(*p.x));
	if (!p.x)
		return -ENOMEM;
	while (!err && text < end) {
		const char *nl = memchr(text, '\n', end - text);
		size_t len = (nl ? nl : end) - text;
		char *line = strndup(text, len);

		if (!line)
			err = -ENOMEM;
		while (line && len && (line[len - 1] == '\r' || line[len - 1] == ' '))
			line[--len] = '\0';
		p.line++;
		if (line)
			err = parse_line(&p, line);
		free(line);
		text = nl ? nl + 1 : end;
	}
	if (!err && !p.line) {
		p.line = 1;
		err = bad(&p, "the file is empty");
	}
	if (err) {
		wc_exchange_free(p.x);
		return err;
	}
	*ret = p.x;
	return 0;
}

int wc_exchange_load(const char *path, struct wc_exchange **ret, char *why, size_t why_size)
{
	size_t size = 0, room = 0;
	char *text = NULL;
	ssize_t n;
	int fd, err = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	do {
		if (size == room) {
			char *more = realloc(text, room += 65536);

			if (!more) {
				err = -ENOMEM;
				break;
			}
			text = more;
		}
		n = read(fd, text + size, room - size);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			err = -errno;
		else
			size += n;
		if (size > MAX_FILE)
			err = -EFBIG;
	} while (!err && n > 0);
	close(fd);
	if (!err)
		err = wc_exchange_parse(text, size, ret, why, why_size);
	free(text);
	return err;
}

void wc_exchange_free(struct wc_exchange *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n_devices; i++) {
		struct wc_exchange_device *d = &x->devices[i];

		for (size_t k = 0; k < d->n_props; k++)
			free(d->props[k]);
		for (size_t k = 0; k < d->n_events; k++) {
			free(d->events[k].name);
			free(d->events[k].value);
			free(d->events[k].data);
		}
		free(d->props);
		free(d->events);
		free(d->name);
	}
	free(x->devices);
	free(x);
}

void wc_exchange_format_request(const struct wc_request *rq, char *buf, size_t size)
{
	static const char *const sets[] = { "", "scsi", "nvme-admin", "nvme-io" };
	static const char *const directions[] = { "", "none", "in", "out" };
	const uint32_t cdw[] = { rq->nvme.cdw10, rq->nvme.cdw11, rq->nvme.cdw12,
				 rq->nvme.cdw13, rq->nvme.cdw14, rq->nvme.cdw15 };
	FILE *f = fmemopen(buf, size, "w");

	if (!f) {
		*buf = '\0';
		return;
	}
	fprintf(f, "%s %s %u ", sets[rq->set], directions[rq->direction],
		rq->direction == WC_NONE ? 0 : rq->data_len);
	if (rq->set == WC_SCSI) {
		for (int i = 0; i < rq->scsi.cdb_len; i++)
			fprintf(f, "%02x", rq->scsi.cdb[i]);
	} else {
		fprintf(f, "opcode=%02x nsid=%x", rq->nvme.opcode, rq->nvme.nsid);
		for (int i = 0; i < 6; i++)
			if (cdw[i])
				fprintf(f, " cdw1%d=%x", i, cdw[i]);
	}
	fclose(f);
}

void wc_exchange_write_value(FILE *f, const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = value[i];

		/* A blank at the end would not survive an editor. */
		if (c < 0x20 || c > 0x7e || c == '\\' || (c == ' ' && i == len - 1))
			fprintf(f, "\\x%02x", c);
		else
			putc(c, f);
	}
}
