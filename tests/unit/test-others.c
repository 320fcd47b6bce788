/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who else sets a write cache: what hdparm, smartd and udisks would make of their files. */
#include "backend/backend.h"
#include "others.h"
#include "root.h"
#include "verdict.h"

static struct wcache_ctx *ctx;
static struct wc_backend ata = { .protocol = "ata" };
static struct wcache_device sda, sdb;
static struct wcache_state on = { .cache = WCACHE_CACHE_ON,
				  .kernel = WCACHE_KERNEL_WRITE_BACK,
				  .flush_advertised = true };
static struct wcache_state off = { .cache = WCACHE_CACHE_OFF,
				   .kernel = WCACHE_KERNEL_WRITE_THROUGH };
static struct wcache_state none = { .cache = WCACHE_CACHE_NONE,
				    .kernel = WCACHE_KERNEL_WRITE_THROUGH };

static void set_up(void)
{
	root_set_up("etc/udisks2 dev/disk/by-id");
	run("cd %s/dev && touch sda sda1 sdb && ln -s ../../sda disk/by-id/ata-A && "
	    "ln -s ../../sda1 disk/by-id/ata-A-part1 && ln -s ../../sdb disk/by-id/wwn-0x5000c5001",
	    root);
	sda = (struct wcache_device){ .name = "sda",
				      .node = (char *)"/dev/sda",
				      .backend = &ata,
				      .model = (char *)"MODEL A/1",
				      .serial = (char *)"S1" };
	sdb = (struct wcache_device){ .name = "sdb",
				      .node = (char *)"/dev/sdb",
				      .backend = &ata,
				      .model = (char *)"MODEL B",
				      .wwn = (char *)"0x5000c500a1b2c3d4" };
	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
}

static void tear_down(void)
{
	wcache_ctx_unref(ctx);
	root_tear_down();
}

/* What is said of a drive: all findings "set-elsewhere", a line each. */
static const char *said_with(const struct wcache_device *dev, const struct wcache_state *state,
			     enum wcache_wanted wanted, const char *where)
{
	static char text[1024];
	struct wcache_report *report;
	struct wcache_others *others;

	ck_assert_int_eq(wcache_others_new(ctx, root, &others), 0);
	ck_assert_int_eq(wcache_report_new(dev, state, &report), 0);
	ck_assert_int_eq(wcache_report_add_others(report, others, dev, state, wanted, where), 0);
	wcache_others_free(others);
	ck_assert_int_eq(wcache_report_get_verdict(report), WCACHE_VERDICT_DURABLE);
	*text = '\0';
	for (size_t i = 0; i < wcache_report_get_finding_count(report); i++) {
		const struct wcache_finding *f = wcache_report_get_finding(report, i);
		size_t n = strlen(text);

		ck_assert_str_eq(wcache_finding_get_code(f), "set-elsewhere");
		ck_assert_int_eq(wcache_finding_get_severity(f), WCACHE_SEVERITY_INFO);
		ck_assert_str_eq(wcache_finding_get_device(f), dev->name);
		snprintf(text + n, sizeof(text) - n, "%s%s", n ? "\n" : "",
			 wcache_finding_get_text(f));
	}
	wcache_report_free(report);
	return text;
}

static const char *said(const struct wcache_device *dev, const struct wcache_state *state)
{
	return said_with(dev, state, WCACHE_WANTED_UNKNOWN, NULL);
}

#define HDPARM(setting, line, state)                                                              \
	"hdparm turns the write cache " setting " when the drive appears (/etc/hdparm.conf:" line \
	"), and it is " state
#define SMARTD(setting, line, state)                                                      \
	"smartd turns the write cache " setting " when it starts (/etc/smartd.conf:" line \
	"), and it is " state

START_TEST(only_what_disagrees_is_said)
{
	ck_assert_str_eq(said(&sda, &on), "");
	put("etc/hdparm.conf", "quiet\n/dev/sda {\n\twrite_cache = off\n}\n");
	ck_assert_str_eq(said(&sda, &on), HDPARM("off", "3", "on"));
	ck_assert_str_eq(said(&sda, &off), "");
	ck_assert_str_eq(said(&sda, &none), "");
	ck_assert_str_eq(said(&sdb, &on), "");
	/* The policy comes first: what is now may be the other's doing. */
	ck_assert_str_eq(said_with(&sda, &off, WCACHE_WANTED_ON, "/etc/wcache.conf:7"),
			 "hdparm turns the write cache off when the drive appears "
			 "(/etc/hdparm.conf:3), and the policy wants it on (/etc/wcache.conf:7)");
	ck_assert_str_eq(said_with(&sda, &off, WCACHE_WANTED_OFF, "/etc/wcache.conf:7"), "");
	ck_assert_str_eq(said_with(&sda, &on, WCACHE_WANTED_LEAVE, NULL), HDPARM("off", "3", "on"));
}
END_TEST

START_TEST(other_languages_are_left_alone)
{
	struct wc_backend scsi = { .protocol = "scsi" };

	put("etc/hdparm.conf", "/dev/sda {\nwrite_cache = off\n}\n");
	put("etc/smartd.conf", "DEVICESCAN -e wcache,off\n");
	sda.backend = &scsi;
	ck_assert_str_eq(said(&sda, &on), "");
}
END_TEST

START_TEST(all_three)
{
	put("etc/hdparm.conf", "/dev/disk/by-id/ata-A {\nwrite_cache = 0\n}\n");
	put("etc/smartd.conf", "# comment\n/dev/sda -a -e wcache,off # other\n");
	put("etc/udisks2/MODEL-A-1-S1.conf", "# by hand\n[ATA]\nWriteCacheEnabled=false\n");
	ck_assert_str_eq(said(&sda, &on),
			 HDPARM("off", "2", "on") "\n" SMARTD(
				 "off", "2",
				 "on") "\n"
				       "udisks turns the write cache off when the drive appears "
				       "(/etc/udisks2/MODEL-A-1-S1.conf:3), and it is on");
	ck_assert_str_eq(said(&sdb, &on), "");
}
END_TEST

static const struct {
	const char *text;
	const char *sda; /* on, as the drive is not; NULL: says nothing */
	const char *sdb;
} hdparm[] = {
	{ "", NULL, NULL },
	{ "write_cache = on", HDPARM("on", "1", "off"), HDPARM("on", "1", "off") },
	/* A default is inherited by the sections after it. */
	{ "write_cache = on\n/dev/sda {\ndma = on\n}\n", HDPARM("on", "1", "off"),
	  HDPARM("on", "1", "off") },
	{ "write_cache = on\n/dev/sda {\nwrite_cache = off\n}\n", NULL, HDPARM("on", "1", "off") },
	/* One after a section is the section's, which has ended. */
	{ "/dev/sda {\ndma = on\n}\nwrite_cache = on\n", NULL, NULL },
	/* The first section of a disk with any option counts. */
	{ "/dev/sda {\n}\n/dev/sda {\nwrite_cache = 1\n}\n", HDPARM("on", "4", "off"), NULL },
	{ "/dev/sda {\napm = 1\n}\n/dev/sda {\nwrite_cache = 1\n}\n", NULL, NULL },
	{ "/dev/sda {\nwrite_cache = off\nwrite_cache = on\n}\n", HDPARM("on", "3", "off"), NULL },
	/* A link to a partition stands for its disk, and the wwn for what it is a link to. */
	{ "/dev/disk/by-id/ata-A-part1 {\nwrite_cache = on\n}\n", HDPARM("on", "2", "off"), NULL },
	{ "/dev/disk/by-id/wwn-0x5000c5001 {\nwrite_cache = on\n}\n", NULL,
	  HDPARM("on", "2", "off") },
	{ "/dev/disk/by-id/gone {\nwrite_cache = on\n}\n", NULL, NULL },
	{ "command_line {\nhdparm -W1 /dev/sda\n}\n/dev/sda {\nwrite_cache = on\n}\n",
	  HDPARM("on", "5", "off"), NULL },
	/* Where it gives up, nothing that comes later counts. */
	{ "/dev/sda {\nwrite_cache = on\n}\nwrite_cache = maybe\n/dev/sdb {\nwrite_cache = on\n}\n",
	  HDPARM("on", "2", "off"), NULL },
	{ "write_cache = on\nno_such_key = 1\n", NULL, NULL },
	{ "write_cache=on\n", NULL, NULL },
	{ "write_cache = on\r\n", NULL, NULL },
	{ "}\nwrite_cache = on\n", NULL, NULL },
	{ "  # write_cache = off\n\n\t/dev/sda  {\n  write_cache   =  on  \n }\n",
	  HDPARM("on", "4", "off"), NULL },
};

START_TEST(hdparm_conf)
{
	put("etc/hdparm.conf", hdparm[_i].text);
	ck_assert_str_eq(said(&sda, &off), hdparm[_i].sda ? hdparm[_i].sda : "");
	ck_assert_str_eq(said(&sdb, &off), hdparm[_i].sdb ? hdparm[_i].sdb : "");
}
END_TEST

static const struct {
	const char *text;
	const char *sda;
	const char *sdb;
} smartd[] = {
	{ "DEVICESCAN -e wcache,on\n", SMARTD("on", "1", "off"), SMARTD("on", "1", "off") },
	{ "DEVICESCAN -e wcache,off -e lookahead,on -e wcache,on\n", SMARTD("on", "1", "off"),
	  SMARTD("on", "1", "off") },
	{ "/dev/sda -a\nDEVICESCAN -e wcache,on\n", NULL, SMARTD("on", "2", "off") },
	{ "/dev/sda -d ignore\nDEVICESCAN -e wcache,on\n", NULL, SMARTD("on", "2", "off") },
	{ "DEVICESCAN -a\n/dev/sda -e wcache,on\n", NULL, NULL },
	{ "DEFAULT -e wcache,on\n/dev/sda -a\nDEFAULT -a\n/dev/sdb\n", SMARTD("on", "1", "off"),
	  NULL },
	{ "\"/dev/sda\" -a \\\n\t-e wcache,on\n", SMARTD("on", "2", "off"), NULL },
	{ "/dev/disk/by-id/ata-A -d sat,auto -e wcache,on\n", SMARTD("on", "1", "off"), NULL },
	/* A disk behind a controller is not the one that leads there. */
	{ "/dev/sda -d megaraid,3 -e wcache,on\n", NULL, NULL },
	{ "/dev/sda -e wcache,maybe\n", NULL, NULL },
	{ "/dev/sda -e", NULL, NULL },
	{ "/dev/sda -e wcache,on \\", SMARTD("on", "1", "off"), NULL },
	{ "\"/dev/sda", NULL, NULL },
	{ "#/dev/sda -e wcache,on\n", NULL, NULL },
};

START_TEST(smartd_conf)
{
	put("etc/smartd.conf", smartd[_i].text);
	ck_assert_str_eq(said(&sda, &off), smartd[_i].sda ? smartd[_i].sda : "");
	ck_assert_str_eq(said(&sdb, &off), smartd[_i].sdb ? smartd[_i].sdb : "");
}
END_TEST

START_TEST(udisks_files)
{
	static const char name[] = "etc/udisks2/MODEL-B-0x5000c500a1b2c3d4.conf";
	static const char line_2[] = "udisks turns the write cache on when the drive appears "
				     "(/etc/udisks2/MODEL-B-0x5000c500a1b2c3d4.conf:2), "
				     "and it is off";

	put("etc/udisks2/udisks2.conf", "[ATA]\nWriteCacheEnabled=true\n");
	put(name, "[ATA]\n  WriteCacheEnabled = true\n");
	ck_assert_str_eq(said(&sdb, &off), line_2);
	ck_assert_str_eq(said(&sda, &off), "");
	put(name, "[ATA]\nWriteCacheEnabled=1");
	ck_assert_str_eq(said(&sdb, &off), line_2);
	put(name, "[Other]\nWriteCacheEnabled=true\n");
	ck_assert_str_eq(said(&sdb, &off), "");
	put(name, "[ATA]\n#WriteCacheEnabled=true\nWriteCacheEnabled=yes\n");
	ck_assert_str_eq(said(&sdb, &off), "");
	/* A drive that has no number has no file. */
	put("etc/udisks2/MODEL-B.conf", "[ATA]\nWriteCacheEnabled=true\n");
	sdb.wwn = NULL;
	ck_assert_str_eq(said(&sdb, &off), "");
}
END_TEST

START_TEST(what_is_no_file_says_nothing)
{
	char *huge = malloc(2 << 20);

	ck_assert_ptr_nonnull(huge);
	memset(huge, '\n', 2 << 20);
	memcpy(huge, "write_cache = on", 16);
	put_bytes("etc/hdparm.conf", huge, 2 << 20);
	free(huge);
	run("mkfifo %s/etc/smartd.conf && rmdir %s/etc/udisks2 && ln -s udisks2 %s/etc/udisks2",
	    root, root, root);
	ck_assert_str_eq(said(&sda, &off), "");
	run("rm -r %s/etc", root);
	ck_assert_str_eq(said(&sda, &off), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("others");
	TCase *tc = tcase_create("others");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, only_what_disagrees_is_said);
	tcase_add_test(tc, other_languages_are_left_alone);
	tcase_add_test(tc, all_three);
	tcase_add_loop_test(tc, hdparm_conf, 0, sizeof(hdparm) / sizeof(*hdparm));
	tcase_add_loop_test(tc, smartd_conf, 0, sizeof(smartd) / sizeof(*smartd));
	tcase_add_test(tc, udisks_files);
	tcase_add_test(tc, what_is_no_file_says_nothing);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
