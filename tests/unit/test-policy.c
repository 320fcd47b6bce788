/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A site's policy: what its files may say, in which order they count, what they want. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "root.h"
#include "suite.h"

static struct wcache_ctx *ctx;

static void set_up(void)
{
	root_set_up("etc/wcache.conf.d run/wcache.conf.d usr/lib/wcache/wcache.conf.d");
	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
}

static void tear_down(void)
{
	wcache_ctx_unref(ctx);
	root_tear_down();
}

static struct wcache_policy *load(void)
{
	struct wcache_policy *policy;
	int err = wcache_policy_new(ctx, root, &policy);

	ck_assert_msg(!err, "%s", err ? wcache_ctx_get_error(ctx) : "");
	return policy;
}

static struct wcache_policy_facts facts(const char *bus, const char *model)
{
	return (struct wcache_policy_facts){
		.size = sizeof(struct wcache_policy_facts),
		.bus = bus,
		.model = model,
	};
}

static void wants(const struct wcache_policy *policy, const struct wcache_policy_facts *f,
		  enum wcache_wanted wanted, const char *where)
{
	const char *w = "untouched";

	ck_assert_str_eq(wcache_wanted_to_string(wcache_policy_decide(policy, f, &w)),
			 wcache_wanted_to_string(wanted));
	if (!where) {
		ck_assert_ptr_null(w);
		return;
	}
	ck_assert_ptr_nonnull(w);
	ck_assert_str_eq(w + strlen(root), where);
}

START_TEST(no_file_leaves_everything)
{
	struct wcache_policy_facts f = facts("sata", "X");
	struct wcache_policy *policy = load();

	ck_assert_uint_eq(wcache_policy_get_count(policy), 0);
	wants(policy, &f, WCACHE_WANTED_LEAVE, NULL);
	wcache_policy_free(policy);
}
END_TEST

START_TEST(empty_and_comments_leave_everything)
{
	struct wcache_policy_facts f = facts("sata", "X");
	struct wcache_policy *policy;

	put("etc/wcache.conf", "\n# [default]\n;cache = off\n \t\n");
	put("etc/wcache.conf.d/empty.conf", "");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_LEAVE, NULL);
	wcache_policy_free(policy);
}
END_TEST

START_TEST(first_match_wins_and_default_is_last)
{
	struct wcache_policy_facts f = facts("sata", "WDC WD10");
	struct wcache_policy *policy;

	put("etc/wcache.conf", "[default]\ncache = default\n"
			       "[wd]\nmodel = WDC*\nbus=sata\ncache=on\n"
			       "[sata]\n\tbus = s[ac]*\n\tcache = off\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:6");
	f.model = "ST3000";
	wants(policy, &f, WCACHE_WANTED_OFF, "/etc/wcache.conf:9");
	f.bus = "nvme";
	wants(policy, &f, WCACHE_WANTED_DEFAULT, "/etc/wcache.conf:2");
	/* every key of a section must match */
	f = facts("usb", "WDC WD10");
	wants(policy, &f, WCACHE_WANTED_DEFAULT, "/etc/wcache.conf:2");
	wcache_policy_free(policy);
}
END_TEST

START_TEST(unknown_facts_match_nothing)
{
	struct wcache_policy_facts f = facts(NULL, NULL);
	struct wcache_policy *policy;

	put("etc/wcache.conf", "[a]\nbus=*\ncache=on\n[b]\nmodel=*\ncache=on\n"
			       "[c]\nrotational=no\ncache=on\n[d]\nnonvolatile=no\ncache=on\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_LEAVE, NULL);
	f.nonvolatile = WCACHE_NO;
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:12");
	f.rotational = WCACHE_YES;
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:12");
	f.rotational = WCACHE_NO;
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:9");
	wcache_policy_free(policy);
}
END_TEST

START_TEST(wwn_in_any_spelling)
{
	static const char *const same[] = { "0x5000c500a1b2c3d4", "5000C500A1B2C3D4",
					    "naa.5000c500a1b2c3d4" };
	struct wcache_policy_facts f = facts("sata", NULL);

	for (size_t i = 0; i < 3; i++) {
		struct wcache_policy *policy;
		char text[128];

		snprintf(text, sizeof(text), "[x]\nwwn = %s\ncache = off\n", same[i]);
		put("etc/wcache.conf", text);
		policy = load();
		for (size_t j = 0; j < 3; j++) {
			f.wwn = same[j];
			wants(policy, &f, WCACHE_WANTED_OFF, "/etc/wcache.conf:3");
		}
		f.wwn = "0x5000c500a1b2c3d5";
		wants(policy, &f, WCACHE_WANTED_LEAVE, NULL);
		wcache_policy_free(policy);
	}
}
END_TEST

START_TEST(path_decides_only_where_paths_are_known)
{
	const char *const paths[] = { "/srv/db", "/home" };
	struct wcache_policy_facts f = facts("sata", NULL);
	struct wcache_policy *policy;

	put("etc/wcache.conf", "[db]\nbus = sata\npath = /srv/*\ncache = off\n"
			       "[default]\ncache = on\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_UNKNOWN, "/etc/wcache.conf:4");
	f.paths = paths;
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:6");
	f.n_paths = 2;
	wants(policy, &f, WCACHE_WANTED_OFF, "/etc/wcache.conf:4");
	/* another key rules it out: the paths are not needed */
	f.paths = NULL;
	f.bus = "usb";
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:6");
	ck_assert_str_eq(wcache_policy_get_pattern(policy, 0, "path"), "/srv/*");
	ck_assert_ptr_null(wcache_policy_get_pattern(policy, 0, "nonvolatile"));
	ck_assert_ptr_null(wcache_policy_get_pattern(policy, 2, "path"));
	wcache_policy_free(policy);
}
END_TEST

START_TEST(dropins_in_order_and_masked)
{
	struct wcache_policy_facts f = facts("sata", "X");
	struct wcache_policy *policy;

	put("usr/lib/wcache/wcache.conf.d/20-b.conf", "[b]\nbus=*\ncache=on\n");
	put("run/wcache.conf.d/30-c.conf", "[c]\nbus=*\ncache=leave\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_ON, "/usr/lib/wcache/wcache.conf.d/20-b.conf:3");
	wcache_policy_free(policy);

	/* the same name in /run hides that of /usr, and that in /etc both */
	put("run/wcache.conf.d/20-b.conf", "[b]\nbus=*\ncache=off\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_OFF, "/run/wcache.conf.d/20-b.conf:3");
	wcache_policy_free(policy);
	run("ln -s /dev/null %s/etc/wcache.conf.d/20-b.conf", root);
	policy = load();
	wants(policy, &f, WCACHE_WANTED_LEAVE, "/run/wcache.conf.d/30-c.conf:3");
	ck_assert_uint_eq(wcache_policy_get_count(policy), 1);
	wcache_policy_free(policy);

	/* order is by name, wherever the file is; other names are no policy */
	put("etc/wcache.conf.d/25-d.conf", "[d]\nbus=*\ncache=default\n");
	put("etc/wcache.conf.d/10-e.conf~", "nonsense");
	put("etc/wcache.conf.d/.10-e.conf", "nonsense");
	put("etc/wcache.conf.d/README", "nonsense");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_DEFAULT, "/etc/wcache.conf.d/25-d.conf:3");
	wcache_policy_free(policy);

	/* and the one file of the admin comes before all */
	put("etc/wcache.conf", "[z]\nbus=*\ncache=on\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_ON, "/etc/wcache.conf:3");
	wcache_policy_free(policy);
}
END_TEST

/* Each fails as a whole, and names the place. */
static const struct {
	const char *text, *why;
} broken[] = {
	{ "cache = on\n", ":1:1: a key before the first [SECTION]" },
	{ "[a\n", ":1:3: ']' is missing" },
	{ "[a] x\n", ":1:4: there is something after ']'" },
	{ "[]\n", ":1:2: a section needs a name" },
	{ "[a]\nhello\n", ":2:1: neither [SECTION] nor KEY = VALUE" },
	{ "[a]\n  modle = x\n", ":2:3: no key is called 'modle'" },
	{ "[a]\n = x\n", ":2:2: no key is called ''" },
	{ "[a]\nbus = \ncache=on\n", ":2:6: a value is missing" },
	{ "[a]\nbus = x\ncache =  of\n", ":3:10: 'of' is not on, off, default or leave" },
	{ "[a]\nbus = x\ncache = on # why\n", ":3:9: 'on # why' is not on, off" },
	{ "[a]\nbus = x\n[b]\nbus=y\ncache=on\n", ":1:1: section [a] has no 'cache ='" },
	{ "[a]\nbus = x\n", ":1:1: section [a] has no 'cache ='" },
	{ "\n[a]\ncache = on\n", ":2:1: section [a] has no key to match" },
	{ "[a]\nbus=x\nbus=y\ncache=on\n", ":3:1: 'bus' is given twice" },
	{ "[a]\nbus=x\ncache=on\ncache=on\n", ":4:1: 'cache' is given twice" },
	{ "[default]\nbus=x\ncache=on\n", ":2:1: [default] is for all other drives" },
	{ "[default]\ncache=on\n[default]\ncache=off\n", ":3:1: a second [default]" },
	{ "[a]\nrotational = maybe\ncache=on\n", ":2:14: 'maybe' is not yes or no" },
	{ "[a]\npath = srv\ncache=on\n", ":2:8: a path begins with '/'" },
	{ "[a]\nmodel = WD[0-9\ncache=on\n", ":2:11: the pattern does not end" },
	{ "[a]\nmodel = WD\\\ncache=on\n", ":2:11: the pattern does not end" },
	{ "[a]\nmodel = W\033[31mD\ncache=on\n", ":2:10: a control character (1bh)" },
	{ "[a]\rmodel = x\rcache=on\n", ":1:4: a control character (0dh)" },
};

static void refuses(int want, const char *why)
{
	struct wcache_policy *policy = (void *)1;
	const char *error;

	ck_assert_int_eq(wcache_policy_new(ctx, root, &policy), want);
	ck_assert_ptr_eq(policy, (void *)1);
	error = wcache_ctx_get_error(ctx);
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error, why) != NULL, "'%s' is not in '%s'", why, error);
	ck_assert_msg(!strncmp(error, root, strlen(root)), "no file in '%s'", error);
}

START_TEST(broken_file_is_refused_whole)
{
	/* a good file before it does not count either */
	put("etc/wcache.conf", "[default]\ncache = off\n");
	put("etc/wcache.conf.d/x.conf", broken[_i].text);
	refuses(-EBADMSG, broken[_i].why);
}
END_TEST

START_TEST(not_a_text_file_is_refused)
{
	char *huge = malloc(2 << 20);

	ck_assert_ptr_nonnull(huge);
	put_bytes("etc/wcache.conf", "[a]\nbus\0 = x\n", 12);
	refuses(-EBADMSG, ":2:4: a control character (00h)");
	memset(huge, '\n', 2 << 20);
	put_bytes("etc/wcache.conf", huge, 2 << 20);
	refuses(-EBADMSG, "larger than 1 MiB");
	memset(huge, 'x', 5000);
	put_bytes("etc/wcache.conf", huge, 5000);
	refuses(-EBADMSG, ":1:4096: the line is too long");
	free(huge);
	run("rm %s/etc/wcache.conf && mkdir %s/etc/wcache.conf", root, root);
	refuses(-EBADMSG, "not a file");
	run("rmdir %s/etc/wcache.conf && mkfifo %s/etc/wcache.conf", root, root);
	refuses(-EBADMSG, "not a file");
	run("rm %s/etc/wcache.conf && ln -s loop %s/etc/loop && ln -s loop %s/etc/wcache.conf",
	    root, root, root);
	refuses(-ELOOP, "wcache.conf: ");
	run("rm %s/etc/wcache.conf && ln -s nowhere %s/etc/wcache.conf.d/gone.conf", root, root);
	refuses(-ENOENT, "gone.conf: ");
}
END_TEST

START_TEST(other_line_ends_are_read)
{
	struct wcache_policy_facts f = facts("sata", "X");
	struct wcache_policy *policy;

	put("etc/wcache.conf", "\xef\xbb\xbf[a]\r\nbus = sata\r\ncache = off\r\n");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_OFF, "/etc/wcache.conf:3");
	wcache_policy_free(policy);
	put("etc/wcache.conf", "[a]\nbus = sata\ncache = off");
	policy = load();
	wants(policy, &f, WCACHE_WANTED_OFF, "/etc/wcache.conf:3");
	wcache_policy_free(policy);
}
END_TEST

START_TEST(every_cut_of_a_file_is_read_or_refused)
{
	static const char text[] = "[default]\ncache = off\n[a]\nmodel = A[!0-9]\\*?\n"
				   "rotational = no\npath = /srv\ncache = on\n";
	char why[64];

	for (size_t i = 0; i <= strlen(text); i++) {
		struct wcache_policy *policy = calloc(1, sizeof(*policy));
		char *copy = malloc(i + 1); /* so that a read past the end is seen */
		int err;

		ck_assert_ptr_nonnull(policy);
		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, i);
		*why = '\0';
		err = wc_policy_parse(policy, "f", copy, i, why, sizeof(why));
		ck_assert(!err || (err == -EBADMSG && !strncmp(why, "f:", 2)));
		free(copy);
		wcache_policy_free(policy);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("policy");
	TCase *tc = tcase_create("policy");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, no_file_leaves_everything);
	tcase_add_test(tc, empty_and_comments_leave_everything);
	tcase_add_test(tc, first_match_wins_and_default_is_last);
	tcase_add_test(tc, unknown_facts_match_nothing);
	tcase_add_test(tc, wwn_in_any_spelling);
	tcase_add_test(tc, path_decides_only_where_paths_are_known);
	tcase_add_test(tc, dropins_in_order_and_masked);
	tcase_add_loop_test(tc, broken_file_is_refused_whole, 0, sizeof(broken) / sizeof(*broken));
	tcase_add_test(tc, not_a_text_file_is_refused);
	tcase_add_test(tc, other_line_ends_are_read);
	tcase_add_test(tc, every_cut_of_a_file_is_read_or_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
