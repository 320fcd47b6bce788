/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <endian.h>
#include <string.h>

#include "pool.h"
#include "powercut-block.h"
#include "powercut-record.h"

/* "wcpowcut" */
#define MAGIC 0x746375776f706377ull

struct head {
	uint64_t magic;
	uint8_t session[16];
	uint64_t block, gen;
	uint32_t index;
	uint32_t crc; /* of the sector, with this as 0 */
};

static uint32_t sector_crc(const unsigned char sector[BLOCK_SECTOR], const struct head *head)
{
	struct head zero = *head;

	zero.crc = 0;
	return crc32c(crc32c(0, &zero, sizeof(zero)), sector + sizeof(zero),
		      BLOCK_SECTOR - sizeof(zero));
}

void block_fill(unsigned char *data, size_t size, const struct block_id *id)
{
	struct head head = { .magic = htole64(MAGIC) };
	uint64_t word, state;
	size_t index, at;

	memcpy(head.session, id->session, sizeof(head.session));
	head.block = htole64(id->block);
	head.gen = htole64(id->gen);
	for (index = 0; index < size / BLOCK_SECTOR; index++, data += BLOCK_SECTOR) {
		memcpy(&state, id->session, sizeof(state));
		state ^= id->block << 40 ^ id->gen << 12 ^ index;
		for (at = sizeof(head); at < BLOCK_SECTOR; at += sizeof(word)) {
			word = random_next(&state);
			memcpy(data + at, &word, sizeof(word));
		}
		head.index = htole32((uint32_t)index);
		head.crc = htole32(sector_crc(data, &head));
		memcpy(data, &head, sizeof(head));
	}
}

enum sector block_look(const unsigned char sector[BLOCK_SECTOR], size_t index, struct block_id *id)
{
	struct head head;

	memcpy(&head, sector, sizeof(head));
	if (le64toh(head.magic) != MAGIC || memcmp(head.session, id->session, 16) != 0)
		return SECTOR_ABSENT;
	if (le32toh(head.crc) != sector_crc(sector, &head))
		return SECTOR_CORRUPT;
	if (le64toh(head.block) != id->block || le32toh(head.index) != index)
		return SECTOR_MISDIRECTED;
	id->gen = le64toh(head.gen);
	return SECTOR_OURS;
}
