/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every test of the library begins and ends with. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A file or folder of the corpus of real data, or NULL with a line that says so. */
static inline const char *corpus(const char *name)
{
	static char path[4096];
	const char *root = getenv("WCACHE_CORPUS");

	snprintf(path, sizeof(path), "%s/%s", root ? root : CORPUS_BESIDE_PROJECT, name);
	if (!access(path, R_OK))
		return path;
	printf("no corpus at %s: the part over real data is left out\n", path);
	return NULL;
}

static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
