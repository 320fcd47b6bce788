/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does what a drive acknowledged survive a power cut? run writes and tells serve, on another
 * machine, what was acknowledged; after the cut verify reads the drive and counts what is not
 * there.
 */
#ifndef WCBENCH_POWERCUT_H
#define WCBENCH_POWERCUT_H

#include <stdbool.h>
#include <stdint.h>

#include "powercut-record.h"

struct powercut_options {
	const char *host; /* NULL: this one */
	const char *port;
	const char *target; /* run, verify */
	const char *log; /* serve */
	char name[16];
	enum sync_mode mode;
	unsigned int flush_every;
	unsigned int writers;
	uint64_t blocks;
	uint32_t block_size;
	double time; /* seconds, 0: until stopped */
	bool destroy, quiet, json;
};

/* powercut_main() - "wcbench powercut ..."; argv[0] is "powercut". Return: exit status. */
int powercut_main(int argc, char *argv[]);

/* The three parts. Return: exit status. */
int powercut_serve(const struct powercut_options *options);
int powercut_run(const struct powercut_options *options);
int powercut_verify(const struct powercut_options *options);

/* "fdatasync", "dsync", "flush-every", "none" */
const char *powercut_mode_to_string(unsigned int mode);

/*
 * powercut_connect() - to serve, with time limits on what follows
 * Return: socket, or negative errno after a line on standard error.
 */
int powercut_connect(const struct powercut_options *options);

/* powercut_boot() - a number that this boot of the machine has alone */
uint64_t powercut_boot(void);

/* powercut_direct() - open for O_DIRECT what was checked as @fd. Return: fd, negative errno. */
int powercut_direct(int fd, int flags);

enum {
	POWERCUT_FAILED = 1,
	POWERCUT_USAGE = 2,
	POWERCUT_LOSS = 3,
	POWERCUT_UNKNOWN = 4
};

#endif
