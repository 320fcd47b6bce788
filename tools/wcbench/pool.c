/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

int pool_init(struct pool *pool, size_t size, uint64_t run, uint64_t seed)
{
	uint64_t word;
	size_t i;

	memset(pool, 0, sizeof(*pool));
	pool->data = aligned_alloc(4096, size);
	if (!pool->data)
		return -ENOMEM;
	pool->size = size;
	pool->run = run;
	for (i = 0; i < size; i += sizeof(word)) {
		word = random_next(&seed);
		memcpy(pool->data + i, &word, sizeof(word));
	}
	return 0;
}

void pool_free(struct pool *pool)
{
	free(pool->data);
	pool->data = NULL;
}

void *pool_block(struct pool *pool, size_t length, uint64_t position)
{
	struct stamp stamp = { .run = pool->run, .write = pool->writes++, .position = position };
	unsigned char *block, *at;

	if (pool->next + length > pool->size)
		pool->next = 0;
	block = pool->data + pool->next;
	pool->next += length;
	for (at = block; at < block + length; at += POOL_SECTOR) {
		memcpy(at, &stamp, sizeof(stamp));
		stamp.position += POOL_SECTOR;
	}
	return block;
}
