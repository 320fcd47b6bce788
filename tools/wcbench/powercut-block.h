/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A block that says of each of its sectors who wrote it, where it belongs and in which
 * generation, so that after a cut one can tell what became of it.
 */
#ifndef WCBENCH_POWERCUT_BLOCK_H
#define WCBENCH_POWERCUT_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define BLOCK_SECTOR 512

enum sector {
	SECTOR_ABSENT = 1, /* nothing of this session */
	SECTOR_OURS = 2,
	SECTOR_MISDIRECTED = 3, /* of this session, whole, and of another place */
	SECTOR_CORRUPT = 4 /* of this session, and not as it was written */
};

struct block_id {
	const uint8_t *session; /* 16 bytes */
	uint64_t block;
	uint64_t gen;
};

/* block_fill() - @size: a multiple of BLOCK_SECTOR */
void block_fill(unsigned char *data, size_t size, const struct block_id *id);

/*
 * block_look() - what sector @index of a block is
 * @id: where it should belong; its gen is set where the sector is ours
 */
enum sector block_look(const unsigned char sector[BLOCK_SECTOR], size_t index, struct block_id *id);

#endif
