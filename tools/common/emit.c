/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "emit.h"

/* Length of the UTF-8 character at S (RFC 3629), 0 if it is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80	 ? 1
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
		   : s[0] < 0xf5 ? 4
				 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void emit_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		size_t n = utf8_length(s);

		if (!n || *s < 0x20 || *s == 0x7f) {
			fputc('?', f);
			s++;
			continue;
		}
		fwrite(s, 1, n, f);
		s += n;
	}
}

size_t emit_width(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t width = 0;

	for (; *s; width++) {
		size_t n = utf8_length(s);

		s += n ? n : 1;
	}
	return width;
}

struct json_object *emit_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	struct json_object *json;
	char *buf, *to;

	if (!text)
		return NULL;
	buf = malloc(strlen(text) * 3 + 1);
	if (!buf)
		abort();
	to = buf;
	while (*s) {
		size_t n = utf8_length(s);

		if (n) {
			memcpy(to, s, n);
			to += n;
			s += n;
		} else {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
			s++;
		}
	}
	json = json_object_new_string_len(buf, to - buf);
	free(buf);
	return json;
}

struct json_object *emit_answer(enum wcache_answer answer)
{
	return answer ? json_object_new_boolean(answer == WCACHE_YES) : NULL;
}

struct json_object *emit_cache(enum wcache_cache cache)
{
	return json_object_new_string(wcache_cache_to_string(cache));
}

struct json_object *emit_root(void)
{
	struct json_object *root = json_object_new_object();

	json_object_object_add(root, "format_version", json_object_new_int(FORMAT_VERSION));
	return root;
}

void emit_print(struct json_object *root)
{
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
}

void emit_print_line(struct json_object *o)
{
	json_object_object_add(o, "format_version", json_object_new_int(FORMAT_VERSION));
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
						       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

struct json_object *emit_findings(const struct wcache_report *report)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < wcache_report_get_finding_count(report); i++) {
		const struct wcache_finding *f = wcache_report_get_finding(report, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "code", emit_string(wcache_finding_get_code(f)));
		json_object_object_add(
			o, "severity",
			emit_string(wcache_severity_to_string(wcache_finding_get_severity(f))));
		json_object_object_add(o, "device", emit_string(wcache_finding_get_device(f)));
		json_object_object_add(o, "text", emit_string(wcache_finding_get_text(f)));
		json_object_object_add(o, "remedy", emit_string(wcache_finding_get_remedy(f)));
		json_object_array_add(list, o);
	}
	return list;
}

static const char *sct_to_string(enum wcache_sct sct)
{
	switch (sct) {
	case WCACHE_SCT_SET_FEATURES:
		return "set-features";
	case WCACHE_SCT_FORCED_ON:
		return "forced-on";
	case WCACHE_SCT_FORCED_OFF:
		return "forced-off";
	case WCACHE_SCT_UNKNOWN:
		break;
	}
	return NULL;
}

static struct json_object *emit_sources(const struct wcache_state *state)
{
	static const struct {
		enum wcache_fact fact;
		const char *name;
	} facts[] = {
		{ WCACHE_FACT_CACHE, "cache" },	    { WCACHE_FACT_CHANGEABLE, "changeable" },
		{ WCACHE_FACT_DEFAULT, "default" }, { WCACHE_FACT_SAVED, "saved" },
		{ WCACHE_FACT_KERNEL, "kernel" },   { WCACHE_FACT_NONVOLATILE, "nonvolatile" },
		{ WCACHE_FACT_SCT, "sct" },
	};
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (wcache_state_get_source(state, facts[i].fact))
			json_object_object_add(
				o, facts[i].name,
				emit_string(wcache_state_get_source(state, facts[i].fact)));
	return o;
}

static struct json_object *emit_command(const struct wcache_controller *c,
					enum wcache_command which, struct json_object **verified)
{
	enum wcache_answer sure = WCACHE_UNKNOWN;
	const char *command = wcache_controller_get_command(c, which, &sure);

	*verified = emit_answer(sure);
	return emit_string(command);
}

static struct json_object *emit_controller(const struct wcache_controller *c)
{
	struct json_object *o, *verified;

	if (!c)
		return NULL;
	o = json_object_new_object();
	json_object_object_add(o, "driver", emit_string(wcache_controller_get_driver(c)));
	json_object_object_add(o, "name", emit_string(wcache_controller_get_name(c)));
	json_object_object_add(
		o, "class",
		emit_string(wcache_controller_class_to_string(wcache_controller_get_class(c))));
	json_object_object_add(o, "reason", emit_string(wcache_controller_get_reason(c)));
	json_object_object_add(o, "hides", emit_string(wcache_controller_get_hidden(c)));
	json_object_object_add(o, "cache_means", emit_string(wcache_controller_get_meaning(c)));
	json_object_object_add(o, "flush_ends", emit_string(wcache_controller_get_flush_end(c)));
	json_object_object_add(o, "tool", emit_string(wcache_controller_get_tool(c)));
	json_object_object_add(o, "show", emit_command(c, WCACHE_COMMAND_SHOW, &verified));
	json_object_object_add(o, "show_verified", verified);
	json_object_object_add(o, "set", emit_command(c, WCACHE_COMMAND_SET, &verified));
	json_object_object_add(o, "set_verified", verified);
	return o;
}

static struct json_object *emit_members(const struct wcache_state *state)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < wcache_state_get_member_count(state); i++) {
		const struct wcache_state *s = wcache_state_get_member(state, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "device",
				       emit_string(wcache_state_get_member_name(state, i)));
		json_object_object_add(o, "bus",
				       emit_string(wcache_state_get_member_bus(state, i)));
		json_object_object_add(o, "model",
				       emit_string(wcache_state_get_member_model(state, i)));
		json_object_object_add(o, "cache", emit_cache(wcache_state_get_cache(s)));
		json_object_object_add(o, "reason", emit_string(wcache_state_get_reason(s)));
		json_object_object_add(o, "nonvolatile",
				       emit_answer(wcache_state_get_nonvolatile(s)));
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *emit_drive(const struct wcache_device *dev, const struct wcache_state *state,
			       const struct wcache_report *report)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "device", emit_string(wcache_device_get_name(dev)));
	json_object_object_add(o, "bus", emit_string(wcache_device_get_bus(dev)));
	json_object_object_add(o, "protocol", emit_string(wcache_device_get_protocol(dev)));
	json_object_object_add(o, "driver", emit_string(wcache_device_get_driver(dev)));
	json_object_object_add(o, "model", emit_string(wcache_device_get_model(dev)));
	json_object_object_add(o, "firmware", emit_string(wcache_device_get_firmware(dev)));
	json_object_object_add(o, "serial", emit_string(wcache_device_get_serial(dev)));
	json_object_object_add(o, "wwn", emit_string(wcache_device_get_wwn(dev)));
	json_object_object_add(o, "cache", emit_cache(wcache_state_get_cache(state)));
	json_object_object_add(o, "reason", emit_string(wcache_state_get_reason(state)));
	json_object_object_add(o, "changeable", emit_answer(wcache_state_get_changeable(state)));
	json_object_object_add(o, "default", emit_cache(wcache_state_get_default(state)));
	json_object_object_add(o, "saved", emit_cache(wcache_state_get_saved(state)));
	json_object_object_add(o, "saveable", emit_answer(wcache_state_get_saveable(state)));
	json_object_object_add(o, "sct", emit_string(sct_to_string(wcache_state_get_sct(state))));
	json_object_object_add(o, "nonvolatile", emit_answer(wcache_state_get_nonvolatile(state)));
	json_object_object_add(
		o, "kernel", emit_string(wcache_kernel_to_string(wcache_state_get_kernel(state))));
	json_object_object_add(o, "fua", emit_answer(wcache_state_get_fua(state)));
	json_object_object_add(o, "consistent", emit_answer(wcache_state_is_consistent(state)));
	json_object_object_add(o, "flush_command",
			       emit_string(wcache_state_get_flush_command(state)));
	json_object_object_add(o, "rotational", emit_answer(wcache_device_get_rotational(dev)));
	json_object_object_add(o, "controller", emit_controller(wcache_device_get_controller(dev)));
	json_object_object_add(
		o, "fsync",
		emit_string(wcache_verdict_to_string(wcache_report_get_verdict(report))));
	json_object_object_add(o, "findings", emit_findings(report));
	json_object_object_add(o, "members", emit_members(state));
	json_object_object_add(o, "members_reason",
			       emit_string(wcache_state_get_members_reason(state)));
	json_object_object_add(o, "sources", emit_sources(state));
	return o;
}

static struct json_object *emit_layer(const struct wcache_node *node)
{
	struct json_object *o = json_object_new_object();
	struct json_object *below = json_object_new_array();

	for (size_t i = 0; i < wcache_node_get_lower_count(node); i++)
		json_object_array_add(
			below, emit_string(wcache_node_get_name(wcache_node_get_lower(node, i))));
	json_object_object_add(o, "name", emit_string(wcache_node_get_name(node)));
	json_object_object_add(o, "label", emit_string(wcache_node_get_label(node)));
	json_object_object_add(o, "type", emit_string(wcache_node_get_type(node)));
	json_object_object_add(o, "filesystem", emit_answer(wcache_node_is_filesystem(node)));
	json_object_object_add(o, "flush",
			       emit_string(wcache_passes_to_string(wcache_node_get_flush(node))));
	json_object_object_add(o, "reason", emit_string(wcache_node_get_reason(node)));
	json_object_object_add(o, "below", below);
	return o;
}

/* Where each path of the stack begins: the target, then the links that lead elsewhere. */
static struct json_object *emit_tops(const struct wcache_stack *stack)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < wcache_stack_get_path_count(stack); i++) {
		const struct wcache_node *top = wcache_stack_get_top(stack, i);
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "path", emit_string(wcache_stack_get_path(stack, i)));
		json_object_object_add(o, "top",
				       top ? emit_string(wcache_node_get_name(top)) : NULL);
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *emit_path(const char *target, const struct wcache_stack *stack,
			      const struct wcache_report *report, struct json_object *drives)
{
	struct json_object *o = json_object_new_object();
	struct json_object *layers = json_object_new_array();

	for (size_t i = 0; i < wcache_stack_get_node_count(stack); i++)
		json_object_array_add(layers, emit_layer(wcache_stack_get_node(stack, i)));
	json_object_object_add(o, "target", emit_string(target));
	json_object_object_add(
		o, "verdict",
		emit_string(wcache_verdict_to_string(wcache_report_get_verdict(report))));
	json_object_object_add(o, "paths", emit_tops(stack));
	json_object_object_add(o, "stack", layers);
	json_object_object_add(o, "drives", drives);
	json_object_object_add(o, "findings", emit_findings(report));
	return o;
}

struct json_object *emit_error(const char *target, int err, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "target", emit_string(target));
	json_object_object_add(o, "errno", json_object_new_int(err < 0 ? -err : err));
	json_object_object_add(o, "text", emit_string(text && *text ? text : wcache_strerror(err)));
	return o;
}
