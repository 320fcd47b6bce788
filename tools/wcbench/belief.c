/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "belief.h"

/* Flushes per durable operation below which some were not sent. */
#define FLUSHES_LEAST 0.5
/* And above which a kernel that sends none did: one flush of a sync(2) elsewhere is no proof. */
#define FLUSHES_STRAY 0.05
#define NOISE_CV 0.10
#define EFFECT_NONE 0.05
/* Others' share of what went to the drive, and the least that is looked at. */
#define CONTAM_SHARE 0.10
#define CONTAM_LEAST (1u << 20)
#define CACHE_TIMES 8
/* No disk turns faster than 15000 a minute: one write to one place each turn. */
#define TURNS_MOST 250.0
#define FLUSH_FREE_ROTATING_MS 1.0
#define FLUSH_FREE_SOLID_MS 0.1
#define FLUSHES_JUDGED 20

static const char *const code_name[BELIEF_CODES] = {
	[E_IO] = "E_IO",
	[E_TOGGLE] = "E_TOGGLE",
	[E_KERNEL] = "E_KERNEL",
	[E_NOFLUSH] = "E_NOFLUSH",
	[E_FLUSH_WT] = "E_FLUSH_WT",
	[E_MOUNT] = "E_MOUNT",
	[E_GONE] = "E_GONE",
	[W_KERNEL] = "W_KERNEL",
	[W_NOEFFECT] = "W_NOEFFECT",
	[W_TOOFAST] = "W_TOOFAST",
	[W_FREEFLUSH] = "W_FREEFLUSH",
	[W_CONTROL] = "W_CONTROL",
	[W_NOISE] = "W_NOISE",
	[W_DRIFT] = "W_DRIFT",
	[W_CONTAM] = "W_CONTAM",
	[W_SMALL] = "W_SMALL",
	[W_FEW] = "W_FEW",
	[W_UNCOUNTED] = "W_UNCOUNTED",
	[W_RAID] = "W_RAID",
	[W_VIRTUAL] = "W_VIRTUAL",
	[W_UNKNOWN] = "W_UNKNOWN",
};

const char *belief_code_name(enum belief_code code)
{
	return (unsigned int)code < BELIEF_CODES ? code_name[code] : "?";
}

const char *belief_verdict_name(enum belief_verdict verdict)
{
	switch (verdict) {
	case BELIEF_VALID:
		return "VALID";
	case BELIEF_SUSPECT:
		return "SUSPECT";
	case BELIEF_INVALID:
		return "INVALID";
	}
	return "?";
}

__attribute__((format(printf, 3, 4))) static void find(struct belief *belief, enum belief_code code,
						       const char *format, ...)
{
	struct belief_reason *reason;
	va_list args;
	size_t at;

	for (at = 0; at < belief->reasons; at++) {
		if (belief->reason[at].code == code) {
			belief->reason[at].more++;
			return;
		}
	}
	/* The codes are in order of weight. */
	for (at = belief->reasons; at > 0 && belief->reason[at - 1].code > code; at--)
		belief->reason[at] = belief->reason[at - 1];
	reason = &belief->reason[at];
	belief->reasons++;
	memset(reason, 0, sizeof(*reason));
	reason->code = code;
	va_start(args, format);
	vsnprintf(reason->text, sizeof(reason->text), format, args);
	va_end(args);
}

static double flushes_per_operation(const struct belief_phase *phase)
{
	return (double)(phase->flushes + phase->joined) / (double)phase->operations;
}

/* The cache holds data that a flush must reach, as far as anyone can tell. */
static bool needs_flushes(const struct belief_phase *phase)
{
	if (phase->drive == WCACHE_CACHE_ON)
		return true;
	return phase->drive == WCACHE_CACHE_UNKNOWN && phase->kernel == WCACHE_KERNEL_WRITE_BACK;
}

static void judge_setting(const struct belief_phase *phase, struct belief *belief)
{
	bool off = phase->drive == WCACHE_CACHE_OFF || phase->drive == WCACHE_CACHE_NONE;

	if (phase->wanted != WCACHE_CACHE_UNKNOWN && phase->drive != phase->wanted)
		find(belief, E_TOGGLE, "%s: the cache was to be %s and was read back as %s",
		     phase->name, wcache_cache_to_string(phase->wanted),
		     wcache_cache_to_string(phase->drive));
	if (phase->drive == WCACHE_CACHE_ON && phase->kernel == WCACHE_KERNEL_WRITE_THROUGH)
		find(belief, E_KERNEL,
		     "%s: the drive caches writes and the kernel takes it for write through: "
		     "nothing was flushed, nothing was durable",
		     phase->name);
	if (off && phase->kernel == WCACHE_KERNEL_WRITE_BACK && phase->flushes)
		find(belief, W_KERNEL,
		     "%s: the cache is off and the kernel flushes all the same: the numbers hold "
		     "flushes for nothing",
		     phase->name);
}

static void judge_flushes(const struct belief_facts *facts, const struct belief_phase *phase,
			  struct belief *belief)
{
	double ratio, free_ms;

	if (phase->operations == 0)
		return;
	if (!phase->counted) {
		if (phase->durable && needs_flushes(phase))
			find(belief, W_UNCOUNTED,
			     "%s: the kernel counts no flushes of what is below, so that nothing "
			     "shows that they were sent",
			     phase->name);
		return;
	}
	ratio = flushes_per_operation(phase);
	/* A FUA write is durable without a flush, and only O_DSYNC makes one. */
	if (phase->durable && needs_flushes(phase) && ratio < FLUSHES_LEAST &&
	    !(phase->dsync && phase->fua != WCACHE_NO))
		find(belief, E_NOFLUSH,
		     "%s: %.2f flushes reached the drive per operation that asked for one, with "
		     "its cache on",
		     phase->name, ratio);
	if (phase->kernel == WCACHE_KERNEL_WRITE_THROUGH && ratio > FLUSHES_STRAY)
		find(belief, E_FLUSH_WT,
		     "%s: %.2f flushes per operation from a kernel that says write through: its "
		     "view changed meanwhile",
		     phase->name, ratio);
	free_ms = facts->rotational == WCACHE_YES ? FLUSH_FREE_ROTATING_MS : FLUSH_FREE_SOLID_MS;
	if (phase->in_place && phase->drive == WCACHE_CACHE_ON &&
	    phase->flushes >= FLUSHES_JUDGED && phase->flush_ms < free_ms &&
	    facts->nonvolatile != WCACHE_YES && !facts->is_virtual)
		find(belief, W_FREEFLUSH,
		     "%s: a flush of new data takes %.3f ms: the cache is non-volatile, or the drive "
		     "lies about flushes; only a power cut tells (wcbench powercut)",
		     phase->name, phase->flush_ms);
}

static void judge_speed(const struct belief_facts *facts, const struct belief_phase *phase,
			struct belief *belief)
{
	double rate;

	if (phase->seconds <= 0)
		return;
	rate = (double)phase->operations / phase->seconds;
	if (phase->in_place && phase->durable && facts->rotational == WCACHE_YES &&
	    rate > TURNS_MOST)
		find(belief, W_TOOFAST,
		     "%s, cache %s: %.0f durable writes a second to one place of a disk that turns "
		     "at most %.0f times",
		     phase->name, phase->arm, rate, TURNS_MOST);
	rate = (phase->device_written + phase->device_read) / phase->seconds;
	if (phase->stream && facts->link > 0 && rate > facts->link * (double)facts->drives)
		find(belief, W_TOOFAST, "%s, cache %s: %.0f MB/s over a link that carries %.0f",
		     phase->name, phase->arm, rate / 1e6,
		     facts->link * (double)facts->drives / 1e6);
}

static void judge_noise(const struct belief_facts *facts, const struct belief_phase *phase,
			struct belief *belief)
{
	/* Mirrors and parities write more than they are given. */
	if (facts->drives == 1 && !phase->deferred) {
		double written = phase->device_written - phase->written;
		double read = phase->device_read - phase->read;
		double ours = phase->written + phase->read;

		if (written + read > CONTAM_SHARE * ours && written + read > CONTAM_LEAST)
			find(belief, W_CONTAM,
			     "%s, cache %s: the drive moved %.1f MB and %.1f of them are ours: "
			     "others use it",
			     phase->name, phase->arm,
			     (phase->device_written + phase->device_read) / 1e6, ours / 1e6);
	}
	if (phase->cv > NOISE_CV)
		find(belief, W_NOISE, "%s, cache %s: the runs vary by %.0f %%", phase->name,
		     phase->arm, phase->cv * 100);
	if (phase->drifting)
		find(belief, W_DRIFT, "%s, cache %s: the rate was still rising or falling",
		     phase->name, phase->arm);
}

static void judge_phase(const struct belief_facts *facts, const struct belief_phase *phase,
			struct belief *belief)
{
	if (phase->error)
		find(belief, E_IO, "%s: %s failed: %s", phase->name,
		     phase->failed && phase->failed[0] ? phase->failed : "a call",
		     strerror(-phase->error));
	if (phase->gone)
		find(belief, E_GONE, "%s: the counters of a drive are gone", phase->name);
	if (phase->error || phase->gone)
		return;
	if (phase->drive == WCACHE_CACHE_UNKNOWN)
		find(belief, W_UNKNOWN, "%s: the setting of the drive could not be read",
		     phase->name);
	judge_setting(phase, belief);
	judge_flushes(facts, phase, belief);
	judge_speed(facts, phase, belief);
	judge_noise(facts, phase, belief);
}

static void judge_effects(const struct belief_facts *facts, struct belief *belief)
{
	size_t i, open = 0, none = 0, seen = 0;

	for (i = 0; i < facts->effects; i++) {
		const struct belief_effect *effect = &facts->effect[i];
		bool one = stats_ratio_contains(&effect->ratio, 1);

		if (effect->ratio.n < 2) {
			open++;
			find(belief, W_FEW, "%s: %zu pair%s, and no interval can be given",
			     effect->name, effect->ratio.n, effect->ratio.n == 1 ? "" : "s");
			continue;
		}
		if (effect->control || facts->same) {
			if (!one && fabs(effect->ratio.value - 1) > EFFECT_NONE)
				find(belief, effect->control ? W_CONTROL : W_NOISE,
				     "%s: %.2f [%.2f, %.2f] where nothing should differ: something "
				     "else changed between the runs",
				     effect->name, effect->ratio.value, effect->ratio.lo,
				     effect->ratio.hi);
			continue;
		}
		seen++;
		/* What neighbours of one setting differ by is what a ratio has to beat. */
		if (!one && effect->null.n >= 2 &&
		    fabs(log(effect->ratio.value)) < fabs(log(effect->null.value)))
			find(belief, W_NOISE,
			     "%s: %.2f, and runs of one setting differ by %.2f: the effect is "
			     "inside the noise",
			     effect->name, effect->ratio.value, effect->null.value);
		none += one && effect->ratio.lo > 1 - EFFECT_NONE &&
			effect->ratio.hi < 1 + EFFECT_NONE;
	}
	if (seen && none == seen && !open)
		find(belief, W_NOEFFECT,
		     "the setting had no measurable effect: a cache that power loss does not reach, "
		     "a controller or host that decides, or too little work");
}

struct belief belief_judge(const struct belief_facts *facts)
{
	struct belief belief = { 0 };
	size_t i;

	if (facts->barriers_off)
		find(&belief, E_MOUNT,
		     "the file system is mounted without barriers: it drops every flush");
	if (facts->raid)
		find(&belief, W_RAID,
		     "a RAID controller stands before the drives: its cache decides, and the "
		     "numbers are of the setting as it is");
	if (facts->is_virtual)
		find(&belief, W_VIRTUAL,
		     "a virtual disk: the host decides what is durable, and the numbers are of "
		     "its cache too");
	for (i = 0; i < facts->phases; i++)
		judge_phase(facts, &facts->phase[i], &belief);
	if (facts->pairs)
		judge_effects(facts, &belief);
	if (facts->cache && facts->size < CACHE_TIMES * facts->cache)
		find(&belief, W_SMALL,
		     "the file has %.0f MiB and the cache %.0f: less than %d times as much",
		     (double)facts->size / 1048576, (double)facts->cache / 1048576, CACHE_TIMES);

	if (belief.reasons)
		belief.verdict = belief.reason[0].code < W_KERNEL ? BELIEF_INVALID : BELIEF_SUSPECT;
	return belief;
}
