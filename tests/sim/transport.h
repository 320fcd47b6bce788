/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated drive in process, as a transport of the library, under a model of
 * what the kernel believes and does (drivers/scsi/sd.c, drivers/ata/libata-core.c,
 * block/blk-sysfs.c of Linux 6.1).
 */
#ifndef SIM_TRANSPORT_H
#define SIM_TRANSPORT_H

#include "drive.h"
#include "transport/transport.h"

struct sim_kernel {
	struct wc_transport t;
	struct sim_drive *drive;
	bool write_back; /* sends flushes */
	bool override; /* "temporary": revalidation changes nothing */
	bool revalidate; /* libata will look again before anything else happens */
	unsigned int writes; /* to sysfs */
	/* called after every exchange with the drive or the kernel: what others do meanwhile */
	void (*meanwhile)(void *data);
	void *data;
};

struct sim_kernel *sim_kernel_new(const struct sim_personality *p);
void sim_kernel_free(struct sim_kernel *k);

/* The next device closes this transport; the drive and the kernel stay. */
struct wc_transport *sim_kernel_transport(struct sim_kernel *k);

/* What sd or libata would read from the drive now, and believe. */
void sim_kernel_revalidate(struct sim_kernel *k);

/* A program's write and fsync through the kernel. True if fsync returned 0. */
bool sim_kernel_write_fsync(struct sim_kernel *k, size_t sector, const uint8_t *data);

#endif
