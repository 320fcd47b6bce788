/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The verdict, rule by rule: what trips each rule, and what just does not.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "belief.h"
#include "suite.h"

/* A drive with its cache on that flushes once an operation, and the same with it off. */
static struct belief_phase phase[2];
static struct belief_effect effect[2];
static struct belief_facts facts;

static void set_up(void)
{
	phase[0] = (struct belief_phase){
		.name = "rndw c=1",
		.arm = "on",
		.wanted = WCACHE_CACHE_ON,
		.drive = WCACHE_CACHE_ON,
		.kernel = WCACHE_KERNEL_WRITE_BACK,
		.fua = WCACHE_NO,
		.durable = true,
		.counted = true,
		.operations = 1000,
		.flushes = 1000,
		.flush_ms = 8,
		.seconds = 10,
		.written = 8192000,
		.device_written = 8300000,
		.cv = 0.02,
	};
	phase[1] = phase[0];
	phase[1].arm = "off";
	phase[1].wanted = phase[1].drive = WCACHE_CACHE_OFF;
	phase[1].kernel = WCACHE_KERNEL_WRITE_THROUGH;
	phase[1].flushes = 0;
	effect[0] = (struct belief_effect){
		.name = "rndw c=1 writes",
		.ratio = { .n = 5, .value = 0.4, .lo = 0.38, .hi = 0.42 },
		.null = { .n = 4, .value = 1.01, .lo = 0.97, .hi = 1.05 },
	};
	effect[1] = (struct belief_effect){
		.name = "seqr read",
		.control = true,
		.ratio = { .n = 5, .value = 1.0, .lo = 0.99, .hi = 1.01 },
		.null = { .n = 4, .value = 1.0, .lo = 0.99, .hi = 1.01 },
	};
	facts = (struct belief_facts){
		.pairs = true,
		.drives = 1,
		.rotational = WCACHE_YES,
		.nonvolatile = WCACHE_NO,
		.size = 1 << 30,
		.phase = phase,
		.phases = 2,
		.effect = effect,
		.effects = 2,
	};
}

static struct belief judge(void)
{
	return belief_judge(&facts);
}

static void expect_only(enum belief_verdict verdict, enum belief_code code)
{
	struct belief belief = judge();

	ck_assert_msg(belief.reasons == 1, "%zu reasons, the first %s", belief.reasons,
		      belief.reasons ? belief_code_name(belief.reason[0].code) : "-");
	ck_assert_str_eq(belief_code_name(belief.reason[0].code), belief_code_name(code));
	ck_assert_int_eq(belief.verdict, verdict);
	ck_assert_str_ne(belief.reason[0].text, "");
}

static void expect_valid(void)
{
	struct belief belief = judge();

	ck_assert_msg(belief.reasons == 0, "%s: %s", belief_code_name(belief.reason[0].code),
		      belief.reason[0].text);
	ck_assert_int_eq(belief.verdict, BELIEF_VALID);
}

START_TEST(good_is_valid)
{
	set_up();
	expect_valid();
}
END_TEST

START_TEST(failed_call)
{
	set_up();
	phase[0].error = -EIO;
	phase[0].failed = "fdatasync";
	expect_only(BELIEF_INVALID, E_IO);
	ck_assert_ptr_nonnull(strstr(judge().reason[0].text, "fdatasync"));
	/* What else is wrong with it is not judged: there is nothing to judge. */
	phase[0].flushes = 0;
	expect_only(BELIEF_INVALID, E_IO);
}
END_TEST

START_TEST(setting_did_not_take)
{
	set_up();
	phase[1].drive = WCACHE_CACHE_ON;
	phase[1].kernel = WCACHE_KERNEL_WRITE_BACK;
	phase[1].flushes = 1000;
	expect_only(BELIEF_INVALID, E_TOGGLE);
	phase[1].wanted = WCACHE_CACHE_UNKNOWN;
	expect_valid();
}
END_TEST

START_TEST(setting_cannot_be_read_back)
{
	struct belief belief;

	set_up();
	phase[1].drive = WCACHE_CACHE_UNKNOWN;
	belief = judge();
	ck_assert_int_eq(belief.verdict, BELIEF_INVALID);
	ck_assert_int_eq(belief.reason[0].code, E_TOGGLE);
	ck_assert_int_eq(belief.reason[1].code, W_UNKNOWN);
}
END_TEST

START_TEST(deadly_pair)
{
	struct belief belief;

	set_up();
	phase[0].kernel = WCACHE_KERNEL_WRITE_THROUGH;
	phase[0].flushes = 0;
	belief = judge();
	ck_assert_int_eq(belief.verdict, BELIEF_INVALID);
	ck_assert_int_eq(belief.reason[0].code, E_KERNEL);
	ck_assert_int_eq(belief.reason[1].code, E_NOFLUSH);
	ck_assert_uint_eq(belief.reasons, 2);
}
END_TEST

START_TEST(flushes_for_nothing)
{
	set_up();
	phase[1].kernel = WCACHE_KERNEL_WRITE_BACK;
	phase[1].flushes = 1000;
	expect_only(BELIEF_SUSPECT, W_KERNEL);
	phase[1].flushes = 0;
	expect_valid();
}
END_TEST

START_TEST(flushes_not_seen)
{
	set_up();
	phase[0].flushes = 499;
	expect_only(BELIEF_INVALID, E_NOFLUSH);
	phase[0].flushes = 501;
	expect_valid();
	/* Group commit: one flush for many, and the many are known. */
	phase[0].flushes = 250;
	phase[0].joined = 750;
	expect_valid();
	/* A FUA write is durable by itself, but only O_DSYNC makes one. */
	phase[0].joined = 0;
	phase[0].fua = WCACHE_YES;
	expect_only(BELIEF_INVALID, E_NOFLUSH);
	phase[0].dsync = true;
	expect_valid();
	/* Nothing was promised to be durable. */
	phase[0].dsync = phase[0].durable = false;
	expect_valid();
}
END_TEST

START_TEST(flushes_not_seen_of_an_unknown_drive)
{
	struct belief belief;

	set_up();
	facts.pairs = false;
	facts.phases = 1;
	phase[0].wanted = phase[0].drive = WCACHE_CACHE_UNKNOWN;
	expect_only(BELIEF_SUSPECT, W_UNKNOWN);
	phase[0].flushes = 0;
	belief = judge();
	ck_assert_int_eq(belief.reason[0].code, E_NOFLUSH);
	phase[0].kernel = WCACHE_KERNEL_WRITE_THROUGH;
	expect_only(BELIEF_SUSPECT, W_UNKNOWN);
}
END_TEST

START_TEST(flushes_not_counted)
{
	set_up();
	phase[0].counted = phase[1].counted = false;
	phase[0].flushes = 0;
	expect_only(BELIEF_SUSPECT, W_UNCOUNTED);
	phase[0].durable = false;
	expect_valid();
}
END_TEST

START_TEST(flushes_of_a_kernel_that_sends_none)
{
	set_up();
	phase[1].flushes = 51;
	expect_only(BELIEF_INVALID, E_FLUSH_WT);
	phase[1].flushes = 49;
	expect_valid();
}
END_TEST

START_TEST(mounted_without_barriers)
{
	set_up();
	facts.barriers_off = true;
	expect_only(BELIEF_INVALID, E_MOUNT);
}
END_TEST

START_TEST(counters_gone)
{
	set_up();
	phase[0].gone = true;
	expect_only(BELIEF_INVALID, E_GONE);
}
END_TEST

START_TEST(no_effect)
{
	set_up();
	effect[0].ratio = (struct ratio){ .n = 5, .value = 1.01, .lo = 0.98, .hi = 1.04 };
	expect_only(BELIEF_SUSPECT, W_NOEFFECT);
	/* Wide is not the same as none. */
	effect[0].ratio.hi = 1.06;
	expect_valid();
	/* And where two arms are the same, none is what is right. */
	effect[0].ratio.hi = 1.04;
	facts.same = true;
	expect_valid();
}
END_TEST

START_TEST(same_that_differs)
{
	set_up();
	facts.same = true;
	expect_only(BELIEF_SUSPECT, W_NOISE);
}
END_TEST

START_TEST(effect_inside_the_noise)
{
	set_up();
	effect[0].ratio = (struct ratio){ .n = 5, .value = 1.10, .lo = 1.02, .hi = 1.19 };
	effect[0].null.value = 0.85;
	expect_only(BELIEF_SUSPECT, W_NOISE);
	effect[0].null.value = 1.02;
	expect_valid();
}
END_TEST

START_TEST(faster_than_it_turns)
{
	set_up();
	phase[1].in_place = true;
	phase[1].seconds = 3.9; /* 256 a second */
	expect_only(BELIEF_SUSPECT, W_TOOFAST);
	facts.rotational = WCACHE_NO;
	expect_valid();
	facts.rotational = WCACHE_YES;
	phase[1].seconds = 4.1;
	expect_valid();
}
END_TEST

START_TEST(faster_than_the_link)
{
	set_up();
	phase[0].stream = true;
	phase[0].written = phase[0].device_written = 6.1e9;
	expect_valid();
	facts.link = 600e6;
	expect_only(BELIEF_SUSPECT, W_TOOFAST);
	phase[0].written = phase[0].device_written = 5.9e9;
	expect_valid();
	phase[0].written = phase[0].device_written = 6.1e9;
	facts.drives = 2;
	expect_valid();
}
END_TEST

START_TEST(flush_without_price)
{
	set_up();
	phase[0].in_place = true;
	phase[0].seconds = 100;
	phase[0].flush_ms = 0.9;
	expect_only(BELIEF_SUSPECT, W_FREEFLUSH);
	phase[0].flush_ms = 1.1;
	expect_valid();
	facts.rotational = WCACHE_NO;
	phase[0].flush_ms = 0.09;
	expect_only(BELIEF_SUSPECT, W_FREEFLUSH);
	/* The drive says why. */
	facts.nonvolatile = WCACHE_YES;
	expect_valid();
	/* Too few to say. */
	facts.nonvolatile = WCACHE_NO;
	phase[0].operations = phase[0].flushes = 19;
	phase[0].written = phase[0].device_written = 19 * 8192;
	expect_valid();
}
END_TEST

START_TEST(reads_that_differ)
{
	set_up();
	effect[1].ratio = (struct ratio){ .n = 5, .value = 1.08, .lo = 1.03, .hi = 1.13 };
	expect_only(BELIEF_SUSPECT, W_CONTROL);
	effect[1].ratio.lo = 0.99;
	expect_valid();
	effect[1].ratio = (struct ratio){ .n = 5, .value = 1.02, .lo = 1.01, .hi = 1.03 };
	expect_valid();
}
END_TEST

START_TEST(noise_and_drift)
{
	set_up();
	phase[0].cv = 0.11;
	expect_only(BELIEF_SUSPECT, W_NOISE);
	phase[0].cv = 0.10;
	phase[1].drifting = true;
	expect_only(BELIEF_SUSPECT, W_DRIFT);
}
END_TEST

START_TEST(others_on_the_drive)
{
	set_up();
	phase[0].device_written = phase[0].written + 1.2e6;
	expect_only(BELIEF_SUSPECT, W_CONTAM);
	/* Who reads disturbs too. */
	phase[0].device_written = phase[0].written;
	phase[0].device_read = 1.2e6;
	expect_only(BELIEF_SUSPECT, W_CONTAM);
	/* A mirror writes twice, and that is no other. */
	facts.drives = 2;
	expect_valid();
	facts.drives = 1;
	phase[0].device_read = 0.9e6;
	expect_valid();
	phase[0].device_read = 1.2e6;
	phase[0].deferred = true;
	expect_valid();
}
END_TEST

START_TEST(file_inside_the_cache)
{
	set_up();
	facts.cache = 256 << 20;
	expect_only(BELIEF_SUSPECT, W_SMALL);
	facts.cache = 128 << 20;
	expect_valid();
}
END_TEST

START_TEST(too_few_pairs)
{
	set_up();
	effect[0].ratio = (struct ratio){ .n = 1, .value = 0.4, .lo = 0, .hi = INFINITY };
	expect_only(BELIEF_SUSPECT, W_FEW);
}
END_TEST

START_TEST(others_decide)
{
	set_up();
	facts.raid = true;
	expect_only(BELIEF_SUSPECT, W_RAID);
	facts.raid = false;
	facts.is_virtual = true;
	expect_only(BELIEF_SUSPECT, W_VIRTUAL);
}
END_TEST

START_TEST(worst_first_and_each_once)
{
	struct belief belief;

	set_up();
	facts.is_virtual = true;
	phase[0].cv = phase[1].cv = 0.5;
	phase[1].error = -ENOSPC;
	belief = judge();
	ck_assert_uint_eq(belief.reasons, 3);
	ck_assert_int_eq(belief.reason[0].code, E_IO);
	ck_assert_int_eq(belief.reason[1].code, W_NOISE);
	ck_assert_int_eq(belief.reason[2].code, W_VIRTUAL);
	ck_assert_int_eq(belief.verdict, BELIEF_INVALID);
	phase[1].error = 0;
	belief = judge();
	ck_assert_int_eq(belief.reason[0].code, W_NOISE);
	ck_assert_uint_eq(belief.reason[0].more, 1);
	ck_assert_int_eq(belief.verdict, BELIEF_SUSPECT);
}
END_TEST

START_TEST(every_code_has_a_name)
{
	unsigned int i, k;

	for (i = 0; i < BELIEF_CODES; i++) {
		const char *name = belief_code_name(i);

		ck_assert_ptr_nonnull(name);
		ck_assert(name[0] == (i < W_KERNEL ? 'E' : 'W') && name[1] == '_');
		for (k = 0; k < i; k++)
			ck_assert_str_ne(name, belief_code_name(k));
	}
	ck_assert_str_eq(belief_code_name(BELIEF_CODES), "?");
	ck_assert_str_eq(belief_verdict_name(BELIEF_INVALID), "INVALID");
}
END_TEST

SUITE("wcbench-belief", good_is_valid, failed_call, setting_did_not_take,
      setting_cannot_be_read_back, deadly_pair, flushes_for_nothing, flushes_not_seen,
      flushes_not_seen_of_an_unknown_drive, flushes_not_counted,
      flushes_of_a_kernel_that_sends_none, mounted_without_barriers, counters_gone, no_effect,
      same_that_differs, effect_inside_the_noise, faster_than_it_turns, faster_than_the_link,
      flush_without_price, reads_that_differ, noise_and_drift, others_on_the_drive,
      file_inside_the_cache, too_few_pairs, others_decide, worst_first_and_each_once,
      every_code_has_a_name)
