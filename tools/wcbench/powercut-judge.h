/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log tells which generations of a block are legal after a cut, the block which one is
 * there. No I/O.
 */
#ifndef WCBENCH_POWERCUT_JUDGE_H
#define WCBENCH_POWERCUT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "powercut-record.h"

struct write {
	uint64_t block, gen, seq;
	uint64_t time; /* when its acknowledgement came */
	uint16_t writer;
	bool acked;
};

struct history {
	struct record hello;
	bool begun, ended; /* ended: every writer said so */
	unsigned int writers; /* that began */
	unsigned int byes;
	bool seen[POWERCUT_WRITERS_MOST];
	uint64_t last_seq[POWERCUT_WRITERS_MOST];
	size_t ack_from[POWERCUT_WRITERS_MOST]; /* first write that may wait for one */
	struct write *write;
	size_t n, room;
	uint64_t *acked, *issued; /* of each block the last generation, 0 for none */
	uint64_t last_ack; /* its time */
};

struct judgement {
	/* Blocks. */
	uint64_t intact, lost, stale, torn, misdirected, corrupt, future, unreadable;
	uint64_t torn_in_flight; /* legal: a write was going on */
	/* Writes. */
	uint64_t acked, acked_lost, in_flight;
	uint64_t oldest_lost; /* nanoseconds before the last acknowledgement */
};

/*
 * history_add() - the next record of the session
 * Return: 0, -EBADMSG where it cannot follow, -ENOMEM. Release with history_free().
 */
int history_add(struct history *history, const struct record *record);
void history_free(struct history *history);

/* judge_block() - call it once for each block, with what is on the drive */
void judge_block(const struct history *history, uint64_t block, const unsigned char *data,
		 uint64_t *found, struct judgement *judgement);

/* judge_writes() - after all blocks; @found: of each, as judge_block() set it */
void judge_writes(const struct history *history, const uint64_t *found,
		  struct judgement *judgement);

/* judge_errors() - blocks that are not as they may be */
uint64_t judge_errors(const struct judgement *judgement);

#endif
