/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * May the numbers be believed? Facts in, verdict out; nothing is opened or asked here.
 */
#ifndef WCBENCH_BELIEF_H
#define WCBENCH_BELIEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wcache.h>

#include "stats.h"

enum belief_verdict {
	BELIEF_VALID = 0,
	BELIEF_SUSPECT = 1,
	BELIEF_INVALID = 2
};

/* E_ makes a benchmark invalid, W_ suspect. The names are stable; programs may ask for them. */
enum belief_code {
	E_IO, /* a call failed */
	E_TOGGLE, /* the drive was read back with another setting than was asked for */
	E_KERNEL, /* drive on, kernel write through: what counts as durable is not */
	E_NOFLUSH, /* cache on, and durable operations without flushes */
	E_FLUSH_WT, /* flushes under a kernel that sends none: its view changed meanwhile */
	E_MOUNT, /* the file system is mounted without barriers */
	E_GONE, /* a drive's counters vanished, or went backwards */
	W_KERNEL, /* drive off, kernel write back: flushes for nothing are in the numbers */
	W_NOEFFECT, /* every ratio is 1 */
	W_TOOFAST, /* faster than the medium turns or the link carries */
	W_FREEFLUSH, /* a flush takes no time: the cache is non-volatile, or the drive lies */
	W_CONTROL, /* reads differ with the setting */
	W_NOISE,
	W_DRIFT,
	W_CONTAM, /* others used the drive */
	W_SMALL, /* the file fits into the cache */
	W_FEW, /* less than two pairs: no interval */
	W_UNCOUNTED, /* flushes are not counted here, so that nothing proves them */
	W_RAID, /* a controller decides what is durable */
	W_VIRTUAL, /* the host does */
	W_UNKNOWN, /* the drive's setting could not be read */
	BELIEF_CODES
};

/* One workload under one setting. */
struct belief_phase {
	const char *name;
	const char *arm;
	int error; /* negative errno */
	const char *failed;
	enum wcache_cache wanted; /* UNKNOWN: as it was */
	enum wcache_cache drive;
	enum wcache_kernel kernel;
	enum wcache_answer fua;
	bool durable, dsync, in_place, stream;
	bool deferred; /* what it wrote and what the drive wrote in its time differ */
	bool counted; /* flushes */
	bool gone;
	uint64_t operations, joined, flushes;
	double flush_ms; /* what one took, by the drive's counters */
	double seconds;
	double written, read; /* bytes of ours */
	double device_written, device_read; /* bytes of the drives */
	double cv;
	bool drifting;
};

/* One ratio. */
struct belief_effect {
	const char *name;
	bool control;
	struct ratio ratio, null;
};

struct belief_facts {
	bool pairs; /* two arms */
	bool same; /* that are the same: nothing is expected to differ */
	bool barriers_off;
	bool raid, is_virtual;
	size_t drives;
	enum wcache_answer rotational, nonvolatile;
	double link; /* bytes a second that the bus can carry; 0 not known */
	uint64_t size, cache; /* bytes of the file, and of the cache where known */
	const struct belief_phase *phase;
	size_t phases;
	const struct belief_effect *effect;
	size_t effects;
};

struct belief_reason {
	enum belief_code code;
	unsigned int more; /* places beside the one in the text */
	char text[240];
};

struct belief {
	enum belief_verdict verdict;
	struct belief_reason reason[BELIEF_CODES]; /* each code once, worst first */
	size_t reasons;
};

struct belief belief_judge(const struct belief_facts *facts);

const char *belief_verdict_name(enum belief_verdict verdict);
const char *belief_code_name(enum belief_code code);

#endif
