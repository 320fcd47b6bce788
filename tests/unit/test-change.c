/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The safe order of a change, over every simulated drive, with every fault at every
 * step, while a program goes on writing and syncing in between: what fsync has
 * acknowledged is on the medium at every moment, and a drive never ends on under a
 * kernel that sends no flushes.
 */
#include <errno.h>
#include <string.h>

#include "device.h"
#include "suite.h"
#include "sim/transport.h"

/* As ck_assert_msg(), without its word to the parent at every call: this runs millions of times. */
#define must(condition, ...)                       \
	do {                                       \
		if (!(condition))                  \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

struct world {
	struct sim_kernel *k;
	bool deadly; /* from the start, or by a reset: what is acknowledged then is nobody's promise
		      */
	size_t next;
	uint8_t acked[8]; /* the value that fsync acknowledged, 0 none */
	char what[200];
};

static bool is_deadly(const struct sim_kernel *k)
{
	return sim_caches(k->drive) && !k->write_back &&
	       !(k->drive->p->has_vpd86 && k->drive->p->vpd86 == 2);
}

/* A power cut now: is all that was acknowledged there? */
static void check_acked(const struct world *w)
{
	const struct sim_drive *d = w->k->drive;
	bool survives = d->p->has_vpd86 && d->p->vpd86 == 2;

	for (size_t i = 0; i < 8; i++) {
		const uint8_t *kept = survives && d->dirty[i] ? d->cache : d->medium;

		must(!w->acked[i] || kept[i * SIM_SECTOR] == w->acked[i],
		     "%s: sector %zu was acknowledged and would be lost", w->what, i);
	}
}

/* The fault of this step turned the drive on, whatever the kernel believes. */
static bool turned_on_from_outside(const struct sim_drive *d)
{
	enum sim_fault_kind kind = sim_fault_now(d);

	return kind == SIM_FAULT_RESET || kind == SIM_FAULT_MODE_CHANGED;
}

/* The program that goes on: one more write and fsync after every exchange. */
static void go_on(void *data)
{
	struct world *w = data;
	uint8_t sector[SIM_SECTOR];
	size_t i = w->next++ % 8;

	if (turned_on_from_outside(w->k->drive))
		w->deadly = w->deadly || is_deadly(w->k);

	memset(sector, 1 + w->next % 250, sizeof(sector));
	w->acked[i] = 0;
	if (sim_kernel_write_fsync(w->k, i, sector) && !w->deadly)
		w->acked[i] = sector[0];
	check_acked(w);
}

struct start {
	bool on, write_back, override;
	unsigned int sct; /* 2 forced on, 3 forced off; 0 SET FEATURES decides */
};

/* False where this start cannot be for this drive. */
static bool world_new(struct world *w, const struct sim_personality *p, const struct start *start)
{
	memset(w, 0, sizeof(*w));
	snprintf(w->what, sizeof(w->what), "%s from %s/%s", p->name, start->on ? "on" : "off",
		 start->write_back ? "wb" : "wt");
	w->k = sim_kernel_new(p);
	w->k->drive->wce = start->on;
	w->k->write_back = start->write_back;
	w->k->override = start->override;
	if (p->attach == SIM_NVME && !(p->vwc & 1) && start->write_back)
		return false;
	if (start->sct && !(p->w206 & 1 << 4))
		return false;
	if (start->sct)
		w->k->drive->sct = start->sct;
	w->deadly = is_deadly(w->k);
	w->k->meanwhile = go_on;
	w->k->data = w;
	go_on(w);
	return true;
}

static void world_free(struct world *w)
{
	sim_kernel_free(w->k);
}

static struct wcache_device *world_open(struct world *w, enum wcache_access access)
{
	bool nvme = w->k->drive->p->attach == SIM_NVME;
	struct wcache_device *dev;
	struct wcache_ctx *ctx;

	must(!wcache_ctx_new(&ctx), "%s", w->what);
	ctx->retry_pause_ms = 0;
	ck_assert_int_eq(wc_device_new(ctx, nvme ? "nvme0n1" : "sda", sim_kernel_transport(w->k),
				       access, &dev),
			 0);
	wcache_ctx_unref(ctx);
	return dev;
}

static int change(struct world *w, enum wcache_setting setting, unsigned int flags)
{
	const struct wcache_change_options options = { .size = sizeof(options), .flags = flags };
	struct wcache_device *dev = world_open(w, WCACHE_ACCESS_CHANGE);
	struct wcache_change *c;
	int err = wcache_change_new(dev, setting, &options, &c);

	if (!err) {
		err = wcache_change_apply(c);
		wcache_change_free(c);
	}
	wcache_device_close(dev);
	return err;
}

static const struct {
	enum wcache_setting setting;
	unsigned int flags;
	const char *name;
} operations[] = {
	{ WCACHE_SET_OFF, 0, "off" },
	{ WCACHE_SET_ON, 0, "on" },
	{ WCACHE_SET_DEFAULT, 0, "default" },
	{ WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, "off --save" },
	{ WCACHE_SET_ON, WCACHE_CHANGE_SAVE, "on --save" },
};
#define N_OPERATIONS (sizeof(operations) / sizeof(*operations))

static const struct start starts[] = {
	{ true, true, false },	  { true, false, false },    { false, true, false },
	{ false, false, false },  { true, true, true },	     { false, true, true },
	{ true, true, false, 2 }, { true, false, false, 3 }, { false, false, false, 2 },
};
#define N_STARTS (sizeof(starts) / sizeof(*starts))

/* What must hold after any change, whatever became of it. */
static void check_end(struct world *w, size_t op, int err, bool drive_can_lie)
{
	const struct sim_drive *d = w->k->drive;
	bool want_on = operations[op].setting == WCACHE_SET_ON ||
		       (operations[op].setting == WCACHE_SET_DEFAULT && d->default_wce);

	if (w->k->revalidate)
		sim_kernel_revalidate(w->k);
	if (!d->gone) {
		must(w->deadly || !is_deadly(w->k),
		     "%s: ended on under a kernel that sends no flushes (%d)", w->what, err);
		if (!err && !drive_can_lie)
			must(sim_caches(d) == want_on, "%s: success, and it is %s", w->what,
			     sim_caches(d) ? "on" : "off");
		if (!err && want_on && !drive_can_lie)
			must(!is_deadly(w->k), "%s: success, and it is deadly", w->what);
		if (!err && operations[op].flags & WCACHE_CHANGE_SAVE && !drive_can_lie) {
			sim_power_cut(w->k->drive);
			must(sim_caches(d) == want_on, "%s: saved, and lost", w->what);
		}
	}
	check_acked(w);
}

/* Without a fault: it works, or it is refused; the second time nothing is sent. */
static void check_plain(const struct sim_personality *p, const struct start *start, size_t op)
{
	struct world w;
	int err;

	if (world_new(&w, p, start)) {
		snprintf(w.what, sizeof(w.what), "%s %s from %s/%s", p->name, operations[op].name,
			 start->on ? "on" : "off", start->write_back ? "wb" : "wt");
		err = change(&w, operations[op].setting, operations[op].flags);
		if (!err) {
			unsigned int changes = w.k->drive->changes, writes = w.k->writes;

			err = change(&w, operations[op].setting, operations[op].flags);
			must(!err, "%s: a second time: %d", w.what, err);
			must(changes == w.k->drive->changes && writes == w.k->writes,
			     "%s: a second time something was sent", w.what);
		}
		check_end(&w, op, err, p->sat == SIM_SAT_STALE);
	}
	world_free(&w);
}

static unsigned int count_steps(const struct sim_personality *p, const struct start *start,
				size_t op)
{
	unsigned int steps = 0;
	struct world w;

	if (world_new(&w, p, start)) {
		change(&w, operations[op].setting, operations[op].flags);
		steps = w.k->drive->steps;
	}
	world_free(&w);
	return steps;
}

static void check_fault(const struct sim_personality *p, const struct start *start, size_t op,
			const struct sim_fault *fault)
{
	struct world w;
	int err;

	if (world_new(&w, p, start)) {
		snprintf(w.what, sizeof(w.what), "%s %s from %s/%s%s, fault %d %s step %u", p->name,
			 operations[op].name, start->on ? "on" : "off",
			 start->write_back ? "wb" : "wt", start->override ? " overridden" : "",
			 fault->kind, fault->for_good ? "from" : "at", fault->step);
		w.k->drive->fault = *fault;
		err = change(&w, operations[op].setting, operations[op].flags);
		memset(&w.k->drive->fault, 0, sizeof(w.k->drive->fault));
		/*
		 * Zeros in the place of data, or a flush that did nothing: such a drive lies. A
		 * change that it ignored, once, is what reading back is for.
		 */
		check_end(&w, op, err,
			  p->sat == SIM_SAT_STALE || fault->kind == SIM_FAULT_ZEROS ||
				  (fault->kind == SIM_FAULT_IGNORED &&
				   (fault->for_good || !w.k->drive->change_ignored)));
		/* Whatever that left: once the fault is gone the same call finds its way. */
		if (!w.k->drive->gone) {
			err = change(&w, operations[op].setting, operations[op].flags);
			check_end(&w, op, err, p->sat == SIM_SAT_STALE);
		}
	}
	world_free(&w);
}

START_TEST(every_fault_at_every_step)
{
	const struct sim_personality *p = &sim_personalities[_i];

	for (size_t s = 0; s < N_STARTS; s++)
		for (size_t op = 0; op < N_OPERATIONS; op++) {
			unsigned int steps = count_steps(p, &starts[s], op);

			check_plain(p, &starts[s], op);
			for (unsigned int step = 1; step <= steps; step++)
				for (int kind = 1; kind < SIM_N_FAULTS; kind++)
					for (int for_good = 0; for_good < 2; for_good++) {
						/* gone is for good already */
						if (for_good && kind == SIM_FAULT_GONE)
							continue;
						const struct sim_fault fault = {
							.step = step,
							.kind = kind,
							.for_good = for_good,
						};

						check_fault(p, &starts[s], op, &fault);
					}
		}
}
END_TEST

/* What the change must come to, drive by drive, from the state it starts in. */
static const struct {
	const char *personality;
	enum wcache_setting setting;
	unsigned int flags;
	int err;
} expected[] = {
	{ "sata", WCACHE_SET_OFF, 0, 0 },
	{ "sata-fixed-sense", WCACHE_SET_OFF, 0, 0 },
	{ "sata-no-registers", WCACHE_SET_OFF, 0, 0 },
	{ "sata", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, -EOPNOTSUPP },
	{ "sata", WCACHE_SET_DEFAULT, 0, -EOPNOTSUPP },
	{ "sata-sct", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, 0 },
	{ "satl", WCACHE_SET_OFF, 0, 0 },
	{ "satl-mode-select", WCACHE_SET_OFF, 0, 0 },
	{ "ata-ext-without-lba48", WCACHE_SET_OFF, 0, 0 },
	{ "ata-no-flush", WCACHE_SET_OFF, 0, 0 },
	{ "ata-old", WCACHE_SET_OFF, 0, -EOPNOTSUPP },
	{ "ata-ignores", WCACHE_SET_OFF, 0, -EREMOTEIO },
	{ "sas", WCACHE_SET_OFF, 0, 0 },
	{ "sas", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, -EOPNOTSUPP }, /* report 4 */
	{ "sas-saveable", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, 0 },
	{ "sas-saveable", WCACHE_SET_DEFAULT, 0, 0 },
	{ "sas-starts-off", WCACHE_SET_ON, 0, 0 }, /* report 9 */
	{ "sas-unchangeable", WCACHE_SET_OFF, 0, -EOPNOTSUPP }, /* report 7 */
	{ "sas-no-sync", WCACHE_SET_OFF, 0, 0 },
	{ "sas-sync-16", WCACHE_SET_OFF, 0, 0 },
	{ "sas-no-dbd", WCACHE_SET_OFF, 0, 0 },
	{ "sas-ignores", WCACHE_SET_OFF, 0, -EREMOTEIO }, /* report 5 */
	{ "scsi-six", WCACHE_SET_OFF, 0, 0 },
	{ "raid-volume-refuses", WCACHE_SET_OFF, 0, -EOPNOTSUPP }, /* report 8 */
	{ "rbc", WCACHE_SET_OFF, 0, 0 },
	{ "usb-sat", WCACHE_SET_OFF, 0, 0 },
	{ "usb-sat-12", WCACHE_SET_OFF, 0, 0 },
	{ "usb-stale", WCACHE_SET_OFF, 0, -EREMOTEIO }, /* report 20 */
	{ "usb-no-sat", WCACHE_SET_OFF, 0, -ENODATA }, /* report 21 */
	{ "nvme", WCACHE_SET_OFF, 0, 0 },
	{ "nvme", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, -EOPNOTSUPP },
	{ "nvme-saveable", WCACHE_SET_OFF, WCACHE_CHANGE_SAVE, 0 },
	{ "nvme-no-cache", WCACHE_SET_OFF, 0, -EOPNOTSUPP }, /* report 42 */
	{ "nvme-ignores", WCACHE_SET_OFF, 0, -EREMOTEIO }, /* report 40 */
};

START_TEST(what_it_comes_to)
{
	const struct sim_personality *p = sim_personality_find(expected[_i].personality);
	struct start start = { .on = !p->starts_off, .write_back = true };
	struct world w;
	int err;

	if (p->attach == SIM_NVME && !(p->vwc & 1))
		start.write_back = false;
	ck_assert(world_new(&w, p, &start));
	snprintf(w.what, sizeof(w.what), "%s", p->name);
	err = change(&w, expected[_i].setting, expected[_i].flags);
	ck_assert_msg(err == expected[_i].err, "%s: %d, expected %d", p->name, err,
		      expected[_i].err);
	world_free(&w);
}
END_TEST

/* Report 12: a reset right after the command is asked again, not reported. */
START_TEST(unit_attention_after_the_change)
{
	const struct sim_personality *p = sim_personality_find("sas");

	for (unsigned int step = 1; step < 12; step++) {
		const struct start start = { true, true, false };
		struct world w;

		ck_assert(world_new(&w, p, &start));
		w.k->drive->fault.step = step;
		w.k->drive->fault.kind = SIM_FAULT_UNIT_ATTENTION;
		/* A failing write to sysfs is nothing that a retry would cure here. */
		if (change(&w, WCACHE_SET_OFF, 0))
			ck_assert_msg(w.k->writes, "step %u", step);
		ck_assert(!sim_caches(w.k->drive));
		world_free(&w);
	}
}
END_TEST

/* SAS with PS=1: turning it on for now must not save it. */
START_TEST(nothing_is_saved_unasked)
{
	const struct sim_personality *p = sim_personality_find("sas-starts-off");
	const struct start start = { false, false, false };
	struct world w;

	ck_assert(world_new(&w, p, &start));
	ck_assert_int_eq(change(&w, WCACHE_SET_ON, 0), 0);
	ck_assert(sim_caches(w.k->drive));
	ck_assert(w.k->write_back);
	ck_assert_msg(!w.k->drive->saved_wce, "the kernel's own MODE SELECT saved it");
	world_free(&w);
}
END_TEST

/* Report 22, the remedy: a USB disk that caches under write through. */
START_TEST(usb_disk_is_repaired)
{
	const struct sim_personality *p = sim_personality_find("usb-sat");
	const struct start start = { true, false, false };
	struct world w;

	ck_assert(world_new(&w, p, &start));
	ck_assert(w.deadly);
	ck_assert_int_eq(change(&w, WCACHE_SET_ON, 0), 0);
	ck_assert(w.k->write_back);
	/* and it holds when the kernel looks again */
	sim_kernel_revalidate(w.k);
	ck_assert(w.k->write_back);
	world_free(&w);
}
END_TEST

START_TEST(sct_rules_and_is_told)
{
	const struct sim_personality *p = sim_personality_find("sata-sct");
	const struct start start = { true, true, false };
	struct wcache_device *dev;
	struct wcache_state *s;
	struct world w;

	ck_assert(world_new(&w, p, &start));
	w.k->drive->sct = 2;
	dev = world_open(&w, WCACHE_ACCESS_QUERY);
	ck_assert_int_eq(wcache_state_read(dev, WCACHE_STATE_FULL, &s), 0);
	ck_assert_int_eq(wcache_state_get_sct(s), WCACHE_SCT_FORCED_ON);
	ck_assert_int_eq(wcache_state_get_changeable(s), WCACHE_NO);
	wcache_state_free(s);
	wcache_device_close(dev);
	ck_assert_int_eq(change(&w, WCACHE_SET_OFF, 0), -EOPNOTSUPP);
	world_free(&w);
}
END_TEST

START_TEST(two_plans_and_one_apply)
{
	const struct sim_personality *p = sim_personality_find("sas");
	const struct start start = { true, true, false };
	struct wcache_change *c = NULL;
	struct wcache_device *dev;
	struct world w;

	ck_assert(world_new(&w, p, &start));
	dev = world_open(&w, WCACHE_ACCESS_QUERY);
	ck_assert_int_eq(wcache_change_new(dev, WCACHE_SET_OFF, NULL, &c), 0);
	ck_assert_uint_eq(wcache_change_get_step_count(c), 5);
	ck_assert_int_eq(wcache_change_apply(c), -EPERM);
	ck_assert_uint_eq(w.k->drive->changes, 0);
	wcache_change_free(c);
	wcache_device_close(dev);
	dev = world_open(&w, WCACHE_ACCESS_CHANGE);
	ck_assert_int_eq(wcache_change_new(dev, WCACHE_SET_OFF, NULL, &c), 0);
	ck_assert_int_eq(wcache_change_apply(c), 0);
	ck_assert_int_eq(wcache_change_apply(c), -EALREADY);
	ck_assert_int_eq(wcache_state_get_cache(wcache_change_get_before(c)), WCACHE_CACHE_ON);
	ck_assert_int_eq(wcache_state_get_cache(wcache_change_get_after(c)), WCACHE_CACHE_OFF);
	ck_assert_int_eq(wcache_state_get_kernel(wcache_change_get_after(c)),
			 WCACHE_KERNEL_WRITE_THROUGH);
	wcache_change_free(c);
	wcache_device_close(dev);
	world_free(&w);
}
END_TEST

/* Report 25: a reader that leaves the bus at SYNCHRONIZE CACHE, with nothing to flush. */
START_TEST(flush_of_what_is_off_sends_nothing)
{
	const struct sim_personality *p = sim_personality_find("usb-dies-of-sync");
	const struct start start = { false, false, false };
	enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
	struct wcache_device *dev;
	struct world w;

	ck_assert(world_new(&w, p, &start));
	dev = world_open(&w, WCACHE_ACCESS_FLUSH);
	ck_assert_int_eq(wcache_device_flush(dev, 0, &result), 0);
	ck_assert_int_eq(result, WCACHE_FLUSH_NOT_NEEDED);
	ck_assert(!w.k->drive->gone);
	wcache_device_close(dev);
	world_free(&w);
}
END_TEST

START_TEST(flush_is_confirmed_or_fails)
{
	const struct sim_personality *p = &sim_personalities[_i];

	for (unsigned int step = 0; step < 8; step++)
		for (int kind = 1; kind < SIM_N_FAULTS; kind++) {
			const struct start start = { true, true, false };
			enum wcache_flush result = WCACHE_FLUSH_UNKNOWN;
			uint8_t sector[SIM_SECTOR] = { 77 };
			struct wcache_device *dev;
			struct world w;
			int err;

			/* A GOOD for nothing is a drive that lies: nobody can tell. */
			if (kind == SIM_FAULT_IGNORED || kind == SIM_FAULT_ZEROS)
				continue;
			if (world_new(&w, p, &start) && p->sat != SIM_SAT_STALE) {
				w.k->meanwhile = NULL;
				sim_write(w.k->drive, 5, sector);
				w.k->drive->fault.step = step;
				w.k->drive->fault.kind = kind;
				dev = world_open(&w, WCACHE_ACCESS_FLUSH);
				err = wcache_device_flush(dev, 0, &result);
				if (!err && !w.k->drive->gone)
					ck_assert_msg(!w.k->drive->dirty[5],
						      "%s: fault %d at %u: confirmed, not flushed",
						      p->name, kind, step);
				if (err)
					ck_assert_int_eq(result, WCACHE_FLUSH_UNKNOWN);
				wcache_device_close(dev);
			}
			world_free(&w);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("change");
	TCase *tc = tcase_create("change");
	int n = 0;

	while (sim_personalities[n].name)
		n++;
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, every_fault_at_every_step, 0, n);
	tcase_add_loop_test(tc, what_it_comes_to, 0, sizeof(expected) / sizeof(*expected));
	tcase_add_test(tc, unit_attention_after_the_change);
	tcase_add_test(tc, nothing_is_saved_unasked);
	tcase_add_test(tc, usb_disk_is_repaired);
	tcase_add_test(tc, sct_rules_and_is_told);
	tcase_add_test(tc, two_plans_and_one_apply);
	tcase_add_test(tc, flush_of_what_is_off_sends_nothing);
	tcase_add_loop_test(tc, flush_is_confirmed_or_fails, 0, n);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
