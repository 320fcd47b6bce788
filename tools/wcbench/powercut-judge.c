/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "powercut-block.h"
#include "powercut-judge.h"

static int add_hello(struct history *history, const struct record *record)
{
	const struct record *first = &history->hello;

	if (!history->begun) {
		history->acked = calloc(record->block, sizeof(*history->acked));
		history->issued = calloc(record->block, sizeof(*history->issued));
		if (!history->acked || !history->issued)
			return -ENOMEM;
		history->hello = *record;
		history->begun = true;
	} else if (history->seen[record->writer] || record->mode != first->mode ||
		   record->block != first->block || record->block_size != first->block_size ||
		   record->seq != first->seq) {
		return -EBADMSG;
	}
	history->seen[record->writer] = true;
	history->writers++;
	return 0;
}

static int add_intent(struct history *history, const struct record *record)
{
	struct write *write;

	if (record->block >= history->hello.block ||
	    record->block % history->hello.seq != record->writer ||
	    record->seq != history->last_seq[record->writer] + 1 ||
	    record->gen != history->issued[record->block] + 1)
		return -EBADMSG;
	if (history->n == history->room) {
		size_t room = history->room ? history->room * 2 : 1024;

		write = reallocarray(history->write, room, sizeof(*write));
		if (!write)
			return -ENOMEM;
		history->write = write;
		history->room = room;
	}
	write = &history->write[history->n++];
	*write = (struct write){
		.block = record->block,
		.gen = record->gen,
		.seq = record->seq,
		.writer = record->writer,
	};
	history->last_seq[record->writer] = record->seq;
	history->issued[record->block] = record->gen;
	return 0;
}

static int add_ack(struct history *history, const struct record *record)
{
	size_t i = history->ack_from[record->writer];

	if (record->seq > history->last_seq[record->writer])
		return -EBADMSG;
	for (; i < history->n; i++) {
		struct write *write = &history->write[i];

		if (write->writer != record->writer || write->acked)
			continue;
		if (write->seq > record->seq)
			break;
		write->acked = true;
		write->time = record->time;
		history->acked[write->block] = write->gen;
	}
	history->ack_from[record->writer] = i;
	if (record->time > history->last_ack)
		history->last_ack = record->time;
	return 0;
}

int history_add(struct history *history, const struct record *record)
{
	if (record->type == RECORD_HELLO)
		return add_hello(history, record);
	if (!history->begun || !history->seen[record->writer])
		return -EBADMSG;
	switch (record->type) {
	case RECORD_INTENT:
		return add_intent(history, record);
	case RECORD_ACK:
		return add_ack(history, record);
	case RECORD_BYE:
		history->ended = ++history->byes >= history->hello.seq;
		return 0;
	default:
		return -EBADMSG;
	}
}

void history_free(struct history *history)
{
	free(history->write);
	free(history->acked);
	free(history->issued);
	memset(history, 0, sizeof(*history));
}

void judge_block(const struct history *history, uint64_t block, const unsigned char *data,
		 uint64_t *found, struct judgement *judgement)
{
	struct block_id id = { .session = history->hello.session, .block = block };
	uint64_t acked = history->acked[block], issued = history->issued[block];
	uint64_t least = UINT64_MAX, most = 0;
	bool misdirected = false, corrupt = false;
	size_t i;

	for (i = 0; i < history->hello.block_size / BLOCK_SECTOR; i++) {
		id.gen = 0;
		switch (block_look(data + i * BLOCK_SECTOR, i, &id)) {
		case SECTOR_CORRUPT:
			corrupt = true;
			break;
		case SECTOR_MISDIRECTED:
			misdirected = true;
			break;
		case SECTOR_ABSENT:
		case SECTOR_OURS:
			break;
		}
		if (id.gen < least)
			least = id.gen;
		if (id.gen > most)
			most = id.gen;
	}
	/* Whole only in the oldest generation that one of its sectors has. */
	*found = least;
	if (corrupt)
		judgement->corrupt++;
	else if (misdirected)
		judgement->misdirected++;
	else if (most > issued)
		judgement->future++;
	else if (least != most && least < acked)
		judgement->torn++;
	else if (least != most)
		judgement->torn_in_flight++;
	else if (least >= acked)
		judgement->intact++;
	else if (least == 0)
		judgement->lost++;
	else
		judgement->stale++;
}

void judge_writes(const struct history *history, const uint64_t *found, struct judgement *judgement)
{
	size_t i;

	for (i = 0; i < history->n; i++) {
		const struct write *write = &history->write[i];
		uint64_t before = history->last_ack - write->time;

		if (!write->acked) {
			judgement->in_flight++;
			continue;
		}
		judgement->acked++;
		if (write->gen <= found[write->block])
			continue;
		judgement->acked_lost++;
		if (before > judgement->oldest_lost)
			judgement->oldest_lost = before;
	}
}

uint64_t judge_errors(const struct judgement *judgement)
{
	return judgement->lost + judgement->stale + judgement->torn + judgement->misdirected +
	       judgement->corrupt + judgement->future + judgement->unreadable;
}
