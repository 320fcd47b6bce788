/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A test program of one file: the table of its tests, and main().
 */
#ifndef TEST_WCBENCH_SUITE_H
#define TEST_WCBENCH_SUITE_H

#include <check.h>
#include <stdlib.h>

static int suite_run(const char *name, SFun setup, SFun teardown, const TTest *const test[],
		     size_t n)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;
	size_t i;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	for (i = 0; i < n; i++)
		tcase_add_test(tcase, test[i]);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define SUITE(name, ...) SUITE_WITH(NULL, NULL, name, __VA_ARGS__)

/* Each test begins with setup(), and ends with teardown(). */
#define SUITE_WITH(setup, teardown, name, ...)                                                 \
	int main(void)                                                                         \
	{                                                                                      \
		const TTest *const test[] = { __VA_ARGS__ };                                   \
                                                                                               \
		return suite_run(name, setup, teardown, test, sizeof(test) / sizeof(test[0])); \
	}

#endif
