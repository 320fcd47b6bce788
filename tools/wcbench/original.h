/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What drives were set to before the first change, and how they are found again and set back.
 * A drive is known by its world wide name and serial number: its kernel name is good for one
 * boot.
 */
#ifndef WCBENCH_ORIGINAL_H
#define WCBENCH_ORIGINAL_H

#include <stdbool.h>
#include <stddef.h>

struct wcache_ctx;

#define ORIGINALS_MOST 256

/* Words of printable characters. */
struct original {
	char name[64]; /* in the boot that noted it */
	char wwn[128]; /* "-" where it has none */
	char serial[128]; /* the same */
	bool on;
};

struct originals {
	char boot[40]; /* its id */
	struct original *drive;
	size_t n;
};

/*
 * originals_read() - note the setting of drives
 * Return: 0; -EOPNOTSUPP where one has no setting that could be restored, negative errno. Free
 * with originals_free() either way.
 */
int originals_read(struct originals *originals, struct wcache_ctx *ctx, char *const names[],
		   size_t n);
void originals_free(struct originals *originals);

/*
 * originals_restore() - set every drive back and read it back
 * @say: NULL, or gets a line on each drive
 *
 * All are tried, whatever becomes of one; those that failed are left in @originals. Return: 0,
 * the first failure.
 */
int originals_restore(struct originals *originals, struct wcache_ctx *ctx,
		      void (*say)(const char *line));

/* originals_share() - is a drive in both */
bool originals_share(const struct originals *a, const struct originals *b);

#endif
