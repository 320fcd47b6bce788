/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RAID volumes and the disks behind them: changes over simulated drives that stand
 * where a controller puts them, verdicts over recordings.
 */
#include <errno.h>

#include "recording.h"
#include "sim/transport.h"

/* Where a simulated drive stands: what the transport of this machine would say of it. */
struct place {
	const char *driver, *hctl, *level;
	bool behind; /* a volume, asked through its controller: no kernel sees it */
};

static const struct place hpsa_volume = { .driver = "hpsa", .hctl = "0:1:0:0", .level = "RAID 5" };
static const struct place megaraid_volume = { .driver = "megaraid_sas", .hctl = "0:2:0:0" };
static const struct place mptsas_volume = { .driver = "mptsas", .hctl = "8:1:0:0" };
static const struct place member = { .driver = "megaraid_sas", .hctl = NULL, .behind = true };
static const struct place plain = { .driver = "mpt3sas", .hctl = "1:0:3:0" };

static const struct wc_transport_ops *sim_ops;
static const struct place *place;
static unsigned int asked_for_registers;

static const char *placed_prop(struct wc_transport *t, const char *key)
{
	if (!strcmp(key, "driver"))
		return place->driver;
	if (!strcmp(key, "hctl"))
		return place->hctl;
	if (!strcmp(key, "member") || !strcmp(key, "no-registers"))
		return place->behind ? "1" : NULL;
	return sim_ops->prop_get(t, key);
}

static ssize_t placed_attr(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	if (!strcmp(path, "device/raid_level"))
		return place->level ? snprintf(buf, size, "%s", place->level) : -ENOENT;
	if (place->behind && (!strncmp(path, "queue/", 6) || strstr(path, "cache_type")))
		return -ENOENT;
	return sim_ops->attr_get(t, path, buf, size);
}

static int placed_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	ck_assert_msg(!place->behind, "%s=%s of a disk that no kernel sees", path, value);
	return sim_ops->attr_set(t, path, value);
}

static int placed_submit(struct wc_transport *t, const struct wc_request *rq,
			 struct wc_reply *reply)
{
	/* SAT-5 12.2.2.2: CK_COND */
	if (rq->scsi.cdb[0] == 0x85 && rq->scsi.cdb[2] & 0x20)
		asked_for_registers++;
	return sim_ops->submit(t, rq, reply);
}

struct world {
	struct wcache_ctx *ctx;
	struct sim_kernel *k;
	struct wcache_device *dev;
	struct wcache_change *change;
	int err;
};

static struct world world(const char *drive, const struct place *where)
{
	static struct wc_transport_ops ops;
	struct world w = { .k = sim_kernel_new(sim_personality_find(drive)) };

	sim_ops = w.k->t.ops;
	ops = *sim_ops;
	ops.prop_get = placed_prop;
	ops.attr_get = placed_attr;
	ops.attr_set = placed_attr_set;
	ops.submit = placed_submit;
	w.k->t.ops = &ops;
	place = where;
	asked_for_registers = 0;
	ck_assert_int_eq(wcache_ctx_new(&w.ctx), 0);
	ck_assert_int_eq(wc_device_new(w.ctx, where->behind ? "megaraid:0:5" : "sda",
				       sim_kernel_transport(w.k), WCACHE_ACCESS_CHANGE, &w.dev),
			 0);
	return w;
}

static void change(struct world *w, enum wcache_setting setting, unsigned int flags)
{
	const struct wcache_change_options options = { .size = sizeof(options), .flags = flags };

	w->err = wcache_change_new(w->dev, setting, &options, &w->change);
	if (!w->err)
		w->err = wcache_change_apply(w->change);
}

static bool said(const struct world *w, const char *what)
{
	return strstr(wcache_error_get_text(wcache_device_get_error(w->dev)), what);
}

static void end(struct world *w)
{
	wcache_change_free(w->change);
	wcache_device_close(w->dev);
	wcache_ctx_unref(w->ctx);
	sim_kernel_free(w->k);
}

/* Field report 8: HP P410i and PERC H200 answer MODE SELECT with 05/26/00. */
START_TEST(volume_refuses_mode_select)
{
	struct world w = world("raid-volume-refuses", &hpsa_volume);
	unsigned char key, asc, ascq;

	change(&w, WCACHE_SET_OFF, 0);
	ck_assert_int_eq(w.err, -EOPNOTSUPP);
	ck_assert(said(&w, "the RAID controller rules this setting"));
	ck_assert(said(&w, "ssacli ctrl slot=0 modify drivewritecache=disable"));
	ck_assert_int_eq(wcache_error_get_sense(wcache_device_get_error(w.dev), &key, &asc, &ascq),
			 0);
	ck_assert_uint_eq(key, 5);
	ck_assert(sim_caches(w.k->drive));
	ck_assert(w.k->write_back);
	end(&w);
}
END_TEST

/* Not even "already so" may be said of what cannot be changed from here. */
START_TEST(volume_that_tells_itself_unchangeable)
{
	const enum wcache_setting settings[] = { WCACHE_SET_OFF, WCACHE_SET_ON };

	for (int i = 0; i < 2; i++) {
		struct world w = world("sas-unchangeable", &megaraid_volume);

		change(&w, settings[i], 0);
		ck_assert_int_eq(w.err, -EOPNOTSUPP);
		ck_assert(said(&w, "its controller rules the caches of the disks behind it"));
		ck_assert(said(&w, settings[i] == WCACHE_SET_OFF
					   ? "storcli64 /cX/vY set pdcache=off"
					   : "its tool is storcli64"));
		/* field report 48: firmware may block it, so nothing is promised */
		ck_assert(!said(&w, "will"));
		ck_assert_uint_eq(w.k->drive->changes, 0);
		end(&w);
	}
}
END_TEST

START_TEST(volume_that_takes_it_and_stays)
{
	struct world w = world("sas-ignores", &megaraid_volume);

	change(&w, WCACHE_SET_OFF, 0);
	ck_assert_int_eq(w.err, -EOPNOTSUPP);
	ck_assert(said(&w, "still on"));
	ck_assert(said(&w, "the RAID controller rules this setting"));
	end(&w);
}
END_TEST

START_TEST(volume_that_follows)
{
	struct world w = world("sas", &megaraid_volume);

	change(&w, WCACHE_SET_OFF, 0);
	ck_assert_int_eq(w.err, 0);
	ck_assert(!sim_caches(w.k->drive));
	ck_assert_ptr_nonnull(
		strstr(wcache_change_get_warning(w.change), "the disks behind it keep theirs"));
	end(&w);
}
END_TEST

START_TEST(plain_disk_is_no_volume)
{
	struct world w = world("sas-ignores", &plain);

	change(&w, WCACHE_SET_OFF, 0);
	ck_assert_int_eq(w.err, -EREMOTEIO);
	ck_assert(!said(&w, "RAID controller rules"));
	ck_assert_ptr_null(wcache_change_get_warning(w.change));
	end(&w);
}
END_TEST

static const char *const members[] = { "sas",  "sas-sync-16",	    "scsi-six",
				       "satl", "sata-no-registers", "satl-mode-select" };

START_TEST(member_both_ways)
{
	const enum wcache_setting settings[] = { WCACHE_SET_OFF, WCACHE_SET_ON };

	for (int i = 0; i < 2; i++) {
		struct world w = world(members[_i], &member);

		w.k->drive->wce = i == 0;
		change(&w, settings[i], 0);
		ck_assert_msg(w.err == 0, "%s: %s", members[_i],
			      wcache_error_get_text(wcache_device_get_error(w.dev)));
		ck_assert_int_eq(sim_caches(w.k->drive), i);
		ck_assert_uint_eq(w.k->writes, 0);
		ck_assert_uint_eq(asked_for_registers, 0);
		ck_assert_ptr_nonnull(
			strstr(wcache_change_get_warning(w.change), "own policy may undo this"));
		ck_assert_ptr_nonnull(strstr(wcache_change_get_warning(w.change), "storcli64"));
		for (size_t k = 0; k < wcache_change_get_step_count(w.change); k++)
			ck_assert_ptr_null(
				strstr(wcache_change_get_step_text(w.change, k), "kernel"));
		end(&w);
	}
}
END_TEST

/* What only the registers would prove is not tried there. */
START_TEST(member_cannot_save_by_sct)
{
	struct world w = world("sata-sct", &member);

	change(&w, WCACHE_SET_OFF, WCACHE_CHANGE_SAVE);
	ck_assert_int_eq(w.err, -EOPNOTSUPP);
	ck_assert(sim_caches(w.k->drive));
	ck_assert_uint_eq(asked_for_registers, 0);
	end(&w);
}
END_TEST

START_TEST(member_that_ignores)
{
	struct world w = world("ata-ignores", &member);

	change(&w, WCACHE_SET_OFF, 0);
	ck_assert_int_eq(w.err, -EREMOTEIO);
	end(&w);
}
END_TEST

START_TEST(member_with_every_fault)
{
	for (unsigned int kind = SIM_FAULT_NONE + 1; kind < SIM_N_FAULTS; kind++)
		for (unsigned int step = 1; step < 16; step++) {
			struct world w = world(_i ? "satl" : "sas", &member);

			w.k->drive->fault = (struct sim_fault){ .step = step, .kind = kind };
			change(&w, WCACHE_SET_OFF, 0);
			/* what is said to be done was read back */
			ck_assert_msg(w.err || !sim_caches(w.k->drive), "fault %u at step %u", kind,
				      step);
			end(&w);
		}
}
END_TEST

/* A volume that reads "off" has a controller cache to be flushed all the same. */
START_TEST(volume_is_always_flushed)
{
	struct world w = world("sas", &megaraid_volume);
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;

	w.k->drive->wce = false;
	ck_assert_int_eq(wcache_device_flush(w.dev, 0, &result), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_DONE);
	ck_assert_uint_eq(w.k->drive->flushes, 1);
	end(&w);
}
END_TEST

/* Field report 1: a SAS1068 volume that caches while sd assumes write through. */
START_TEST(volume_with_a_clipped_page)
{
	struct world w = world("raid-volume-clips", &mptsas_volume);
	const struct wcache_controller *c = wcache_device_get_controller(w.dev);
	struct wcache_report *report;
	struct wcache_state *s;

	ck_assert_int_eq(wcache_controller_get_class(c), WCACHE_CONTROLLER_VOLUME);
	ck_assert_str_eq(wcache_controller_get_driver(c), "mptsas");
	ck_assert_int_eq(wcache_state_read(w.dev, WCACHE_STATE_MEMBERS, &s), 0);
	ck_assert_int_eq(wcache_state_get_cache(s), WCACHE_CACHE_ON);
	ck_assert_int_eq(wcache_state_get_kernel(s), WCACHE_KERNEL_WRITE_THROUGH);
	ck_assert_int_eq(wcache_report_new(w.dev, s, &report), 0);
	ck_assert_int_eq(wcache_report_get_verdict(report), WCACHE_VERDICT_AT_RISK);
	wcache_report_free(report);
	wcache_state_free(s);
	end(&w);
}
END_TEST

/* -------------------------------------------------- verdicts, over recordings */

#define MODE_10 "> scsi in 512 5a080800000000020000\n"
#define GOOD "< status=00 host=00 driver=00 resid=0 sense=\n"
#define WCE(bit) MODE_10 GOOD "= 001a000000000000 0812" bit "\n"
#define ON WCE("04")
#define OFF WCE("00")

#define HEAD "wcache-exchange 1\n"
#define VOLUME(driver, hctl, kernel, members)                                          \
	"device sda\nattr device/type=0\nprop driver=" driver "\nprop hctl=" hctl "\n" \
	"attr device/vendor=LSI\nattr device/model=MR9361\n"                           \
	"attr queue/write_cache=" kernel "\nattr members=" members "\n"
#define MEGARAID(kernel, members) VOLUME("megaraid_sas", "0:2:0:0", kernel, members)
#define DISK(name)                                                                       \
	"device " name "\nprop member=1\nprop driver=megaraid_sas\nattr device/type=0\n" \
	"attr device/vendor=SEAGATE\nattr device/model=ST300MM0006\n"

struct verdict {
	const char *text;
	enum wcache_verdict verdict;
	const char *code;
	size_t members;
	const char *reason; /* part of wcache_state_get_members_reason(), NULL for none */
	const char *remedy; /* of the first finding */
};

static const struct verdict verdicts[] = {
	{ HEAD MEGARAID("write through", "volume megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") OFF DISK("megaraid:0:5") OFF,
	  WCACHE_VERDICT_DURABLE, "members-off", 2, NULL, NULL },
	/* the deadly pair, one floor down */
	{ HEAD MEGARAID("write through", "volume megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") OFF DISK("megaraid:0:5") ON,
	  WCACHE_VERDICT_AT_RISK, "member-on-no-flush", 2, NULL, "wcache-set off megaraid:0:5" },
	{ HEAD MEGARAID("write back", "volume megaraid:0:4 megaraid:0:5") ON DISK("megaraid:0:4")
		  ON DISK("megaraid:0:5") ON,
	  WCACHE_VERDICT_UNKNOWN, "member-on", 2, NULL, "wcache-set off megaraid:0:4" },
	/* one is gone, one refuses */
	{ HEAD MEGARAID("write through", "volume megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") OFF,
	  WCACHE_VERDICT_UNKNOWN, "members-unknown", 2, NULL, NULL },
	{ HEAD MEGARAID("write through", "volume megaraid:0:4") OFF DISK("megaraid:0:4") MODE_10
	  "< errno=95\n",
	  WCACHE_VERDICT_UNKNOWN, "members-unknown", 1, NULL, NULL },
	/* a known risk outweighs what is unknown */
	{ HEAD MEGARAID("write through", "volume megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") ON,
	  WCACHE_VERDICT_AT_RISK, "member-on-no-flush", 2, NULL, "wcache-set off megaraid:0:4" },
	/* the disks of the whole controller: all off is enough, one that is on may be another's */
	{ HEAD MEGARAID("write through", "controller megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") OFF DISK("megaraid:0:5") OFF,
	  WCACHE_VERDICT_DURABLE, "members-off", 2, "not which are", NULL },
	{ HEAD MEGARAID("write through", "controller megaraid:0:4 megaraid:0:5")
		  OFF DISK("megaraid:0:4") OFF DISK("megaraid:0:5") ON,
	  WCACHE_VERDICT_UNKNOWN, "members-hidden", 2, "not which are",
	  "storcli64 /cX/vY show all" },
	/* no list, or none that makes sense */
	{ HEAD MEGARAID("write through", "volume") OFF, WCACHE_VERDICT_UNKNOWN, "members-hidden", 0,
	  "no disk", "storcli64 /cX/vY show all" },
	{ HEAD MEGARAID("write through", "\\xff\\xfe") OFF, WCACHE_VERDICT_UNKNOWN,
	  "members-hidden", 0, "does not tell", "storcli64 /cX/vY show all" },
	{ HEAD MEGARAID("write through", "") OFF, WCACHE_VERDICT_UNKNOWN, "members-hidden", 0,
	  "does not tell", "storcli64 /cX/vY show all" },
	/* Field reports 44, 45, 47: nobody asks those, and the vendor's command is named. */
	{ HEAD "device sda\nattr device/type=0\nprop driver=hpsa\nattr device/raid_level=RAID 6\n"
	       "attr queue/write_cache=write through\n" OFF,
	  WCACHE_VERDICT_UNKNOWN, "members-hidden", 0, "no known way",
	  "ssacli ctrl all show detail" },
	{ HEAD "device sda\nattr device/type=0\nprop driver=aacraid\nprop hctl=2:0:0:0\n"
	       "attr queue/write_cache=write through\n" OFF,
	  WCACHE_VERDICT_UNKNOWN, "members-hidden", 0, "no known way", "arcconf GETCONFIG 1 PD" },
	{ HEAD "device sda\nattr device/type=0\nprop driver=mpi3mr\nprop pci=1000:00a5:1028:2114\n"
	       "attr device/vendor=DELL\nattr device/model=PERC H965i Front\n"
	       "attr queue/write_cache=write through\n" OFF,
	  WCACHE_VERDICT_UNKNOWN, "members-hidden", 0, "no known way", "perccli2 /c0/v1 show all" },
};

START_TEST(volumes_are_judged)
{
	const struct verdict *v = &verdicts[_i];
	struct wcache_ctx *ctx = recording_ctx(v->text);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	const struct wcache_finding *first;
	struct wcache_report *report;
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, WCACHE_STATE_MEMBERS, &s), 0);
	ck_assert_uint_eq(wcache_state_get_member_count(s), v->members);
	for (size_t i = 0; i < v->members; i++) {
		ck_assert_ptr_nonnull(wcache_state_get_member(s, i));
		ck_assert_int_eq(strncmp(wcache_state_get_member_name(s, i), "megaraid:0:", 11), 0);
	}
	ck_assert_ptr_null(wcache_state_get_member(s, v->members));
	ck_assert_ptr_null(wcache_state_get_member_name(s, v->members));
	if (v->reason)
		ck_assert_msg(strstr(wcache_state_get_members_reason(s), v->reason), "%s",
			      wcache_state_get_members_reason(s));
	else
		ck_assert_ptr_null(wcache_state_get_members_reason(s));
	ck_assert_int_eq(wcache_report_new(dev, s, &report), 0);
	ck_assert_int_eq(wcache_report_get_verdict(report), v->verdict);
	first = wcache_report_get_finding(report, 0);
	ck_assert_ptr_nonnull(first);
	ck_assert_str_eq(wcache_finding_get_code(first), v->code);
	if (v->remedy)
		ck_assert_str_eq(wcache_finding_get_remedy(first), v->remedy);
	else
		ck_assert_ptr_null(wcache_finding_get_remedy(first));
	wcache_report_free(report);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(unverified_commands_are_told_as_such)
{
	struct wcache_ctx *ctx =
		recording_ctx(verdicts[sizeof(verdicts) / sizeof(*verdicts) - 1].text);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	struct wcache_report *report;
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, WCACHE_STATE_MEMBERS, &s), 0);
	ck_assert_int_eq(wcache_report_new(dev, s, &report), 0);
	ck_assert_ptr_nonnull(strstr(wcache_finding_get_text(wcache_report_get_finding(report, 0)),
				     "not verified"));
	wcache_report_free(report);
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

/* One that does not answer is enough: the rest is left alone. */
START_TEST(a_silent_disk_is_not_asked_around)
{
	struct wcache_ctx *ctx = recording_ctx(
		HEAD MEGARAID("write through", "volume megaraid:0:4 megaraid:0:5 megaraid:0:6")
			OFF DISK("megaraid:0:4") MODE_10 "< errno=110\n" DISK("megaraid:0:5")
				OFF DISK("megaraid:0:6") OFF);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, WCACHE_STATE_MEMBERS, &s), 0);
	ck_assert_uint_eq(wcache_state_get_member_count(s), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(wcache_state_get_cache(wcache_state_get_member(s, i)),
				 WCACHE_CACHE_UNKNOWN);
	ck_assert_ptr_nonnull(
		strstr(wcache_state_get_reason(wcache_state_get_member(s, 2)), "not asked"));
	wcache_state_free(s);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(members_are_asked_only_on_request)
{
	struct wcache_ctx *ctx = recording_ctx(verdicts[0].text);
	struct wcache_device *dev = recording_open(ctx, "sda", WCACHE_ACCESS_QUERY);
	struct wcache_drives *drives;
	struct wcache_state *s;

	ck_assert_int_eq(wcache_state_read(dev, 0, &s), 0);
	ck_assert_uint_eq(wcache_state_get_member_count(s), 0);
	ck_assert_ptr_null(wcache_state_get_members_reason(s));
	wcache_state_free(s);
	/* and they are no drives of their own */
	ck_assert_int_eq(wcache_drives_new(ctx, &drives), 0);
	ck_assert_uint_eq(wcache_drives_get_count(drives), 1);
	wcache_drives_free(drives);
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("volume");
	TCase *changes = tcase_create("changes");
	TCase *judged = tcase_create("verdicts");

	tcase_add_test(changes, volume_refuses_mode_select);
	tcase_add_test(changes, volume_that_tells_itself_unchangeable);
	tcase_add_test(changes, volume_that_takes_it_and_stays);
	tcase_add_test(changes, volume_that_follows);
	tcase_add_test(changes, plain_disk_is_no_volume);
	tcase_add_loop_test(changes, member_both_ways, 0, sizeof(members) / sizeof(*members));
	tcase_add_test(changes, member_cannot_save_by_sct);
	tcase_add_test(changes, member_that_ignores);
	tcase_add_loop_test(changes, member_with_every_fault, 0, 2);
	tcase_add_test(changes, volume_is_always_flushed);
	tcase_add_test(changes, volume_with_a_clipped_page);
	tcase_set_timeout(changes, 60);
	tcase_add_loop_test(judged, volumes_are_judged, 0, sizeof(verdicts) / sizeof(*verdicts));
	tcase_add_test(judged, unverified_commands_are_told_as_such);
	tcase_add_test(judged, a_silent_disk_is_not_asked_around);
	tcase_add_test(judged, members_are_asked_only_on_request);
	suite_add_tcase(suite, changes);
	suite_add_tcase(suite, judged);
	return run_suite(suite);
}
