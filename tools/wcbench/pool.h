/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is written: random bytes that no drive can compress, with a stamp in every
 * 512 bytes that no other write shares, so that none can be stored once for many.
 * The random part is made once, outside of what is timed; a stamp costs a store.
 */
#ifndef WCBENCH_POOL_H
#define WCBENCH_POOL_H

#include <stddef.h>
#include <stdint.h>

#define POOL_SECTOR 512

struct pool {
	unsigned char *data;
	size_t size;
	size_t next;
	uint64_t run; /* who wrote it: tells two runs apart */
	uint64_t writes;
};

struct stamp {
	uint64_t run;
	uint64_t write; /* counts the blocks of a pool */
	uint64_t position; /* byte offset where it was written */
};

/*
 * pool_init() - @size bytes, a multiple of 4096, aligned for O_DIRECT
 * Return: 0, -ENOMEM. Release with pool_free().
 */
int pool_init(struct pool *pool, size_t size, uint64_t run, uint64_t seed);
void pool_free(struct pool *pool);

/*
 * pool_block() - the next block, stamped for byte offset @position
 * @length: a multiple of 512, at most the pool's size
 * Return: aligned to 512, and to 4096 as long as all lengths were. It is good until the
 * pool has been round once.
 */
void *pool_block(struct pool *pool, size_t length, uint64_t position);

/* Vigna's splitmix64: good enough for offsets and data, and two multiplications. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* random_below() - 0 to @n - 1, each as likely as the other */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)((unsigned __int128)random_next(state) * n >> 64);
}

#endif
