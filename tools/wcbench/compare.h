/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WCBENCH_COMPARE_H
#define WCBENCH_COMPARE_H

/*
 * compare_main() - wcbench compare [--force] A.json B.json
 *
 * Return: the exit status: 0 B is not worse than A, 1 a file cannot be read, 2 usage, 3 B is
 * worse, 4 the two cannot be compared.
 */
int compare_main(int argc, char *argv[]);

#endif
