/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "pool.h"
#include "suite.h"

START_TEST(blocks_are_aligned_and_stamped)
{
	struct pool pool;
	struct stamp stamp;
	unsigned char *block;
	size_t i, at;

	ck_assert_int_eq(pool_init(&pool, 1 << 16, 42, 1), 0);
	for (i = 0; i < 100; i++) {
		block = pool_block(&pool, 8192, i * 8192);
		ck_assert_uint_eq((uintptr_t)block % 4096, 0);
		ck_assert(block >= pool.data && block + 8192 <= pool.data + pool.size);
		for (at = 0; at < 8192; at += POOL_SECTOR) {
			memcpy(&stamp, block + at, sizeof(stamp));
			ck_assert_uint_eq(stamp.run, 42);
			ck_assert_uint_eq(stamp.write, i);
			ck_assert_uint_eq(stamp.position, i * 8192 + at);
		}
	}
	pool_free(&pool);
}
END_TEST

START_TEST(no_two_sectors_are_alike)
{
	enum {
		BLOCKS = 64,
		SECTORS = BLOCKS * 8192 / POOL_SECTOR
	};
	unsigned char *all = malloc(BLOCKS * 8192), *block;
	struct pool pool;
	size_t i, k;

	/* Round a small pool eight times: only the stamps tell the rounds apart. */
	ck_assert_int_eq(pool_init(&pool, 1 << 16, 1, 1), 0);
	for (i = 0; i < BLOCKS; i++) {
		block = pool_block(&pool, 8192, 0);
		memcpy(all + i * 8192, block, 8192);
	}
	for (i = 0; i < SECTORS; i++)
		for (k = i + 1; k < SECTORS; k++)
			ck_assert(memcmp(all + i * POOL_SECTOR, all + k * POOL_SECTOR,
					 POOL_SECTOR) != 0);
	pool_free(&pool);
	free(all);
}
END_TEST

START_TEST(data_looks_random)
{
	size_t count[256] = { 0 }, i;
	struct pool pool;

	ck_assert_int_eq(pool_init(&pool, 1 << 20, 1, 99), 0);
	for (i = 0; i < pool.size; i++)
		count[pool.data[i]]++;
	for (i = 0; i < 256; i++) {
		ck_assert_uint_gt(count[i], 4096 - 400);
		ck_assert_uint_lt(count[i], 4096 + 400);
	}
	pool_free(&pool);
}
END_TEST

START_TEST(offsets_are_uniform)
{
	size_t count[10] = { 0 }, i;
	uint64_t state = 5, r;

	for (i = 0; i < 100000; i++) {
		r = random_below(&state, 10);
		ck_assert_uint_lt(r, 10);
		count[r]++;
	}
	for (i = 0; i < 10; i++) {
		ck_assert_uint_gt(count[i], 9500);
		ck_assert_uint_lt(count[i], 10500);
	}
}
END_TEST

SUITE("wcbench-pool", blocks_are_aligned_and_stamped, no_two_sectors_are_alike, data_looks_random,
      offsets_are_uniform)
