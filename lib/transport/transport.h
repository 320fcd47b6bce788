/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way to a device: commands, sysfs attributes, fsync. A transport carries
 * bytes and never knows what one means; lib/backend/ does, and never calls the
 * system. All a backend learns of a device comes through here, so a recording
 * of this interface (exchange.h) holds everything it saw.
 */
#ifndef WC_TRANSPORT_H
#define WC_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum wc_command_set {
	WC_SCSI = 1,
	WC_NVME_ADMIN = 2,
	WC_NVME_IO = 3,
};

enum wc_direction {
	WC_NONE = 1,
	WC_IN = 2,
	WC_OUT = 3,
};

struct wc_request {
	enum wc_command_set set;
	enum wc_direction direction;
	unsigned int timeout_ms;
	void *data; /* data_len bytes; not touched by the device for WC_OUT */
	uint32_t data_len;
	struct {
		uint8_t cdb[16];
		uint8_t cdb_len;
	} scsi;
	struct {
		uint8_t opcode;
		uint32_t nsid;
		uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
	} nvme;
};

#define WC_SENSE_MAX 96

struct wc_reply {
	struct {
		uint8_t status; /* SAM status byte */
		uint16_t host; /* include/scsi/scsi_status.h, DID_* */
		uint16_t driver;
		int32_t resid; /* bytes of data_len that did not move */
		uint8_t sense[WC_SENSE_MAX];
		uint8_t sense_len;
	} scsi;
	struct {
		uint16_t status; /* status code and type, 0 = success */
		uint32_t result; /* completion dword 0 */
	} nvme;
};

struct wc_transport;

/*
 * submit: 0 when the device or its driver answered, whatever the answer;
 * negative errno when there was no answer: -ENOTTY no such path on this node,
 * -EPERM or -EACCES, -ENODEV gone, -ETIMEDOUT, -EINVAL the driver refuses it.
 *
 * attr_get, attr_set: PATH is relative to the device's sysfs folder
 * (/sys/block/sda, "queue/write_cache"); a component may be "*" where exactly
 * one entry is expected, as scsi_disk/(H:C:T:L)/cache_type has it. attr_get returns
 * the number of bytes, trailing newline and NULs of a text attribute removed,
 * the buffer always NUL-terminated; attr_set returns 0. Both: negative errno. A
 * transport answers some that sysfs has not: "members", the disks behind a RAID volume,
 * each a name to open; the first word is "volume", or "controller" where the list is
 * that of all its disks.
 *
 * prop_get: a udev property of the device (ID_BUS, ID_SERIAL_SHORT), or a fact about
 * its place in the machine that udev has no property for, in lower case: "bus" (sata,
 * sas, scsi, usb, nvme, virtio, mmc), "driver" (of the host adapter), "lock" (what to
 * lock it by), "hctl" (SCSI address), "proc_name" (of the SCSI host), "pci" (ids of
 * the host adapter, "1000:0073:1028:1f4e"), "adapter" (its name), "member" (the disk
 * stands behind a controller), "no-registers" (never ask for ATA registers here).
 * NULL if there is none; the string lives as long as the transport.
 *
 * writeback: dirty pages of the block device node to the device, no flush. May be
 * NULL where there is no page cache.
 *
 * sync: fsync(2) of the block device node: page cache written back, then what
 * the kernel sends as a flush, which is nothing when it believes in write through.
 */
struct wc_transport_ops {
	const char *name;
	int (*submit)(struct wc_transport *t, const struct wc_request *rq, struct wc_reply *reply);
	ssize_t (*attr_get)(struct wc_transport *t, const char *path, char *buf, size_t size);
	int (*attr_set)(struct wc_transport *t, const char *path, const char *value);
	const char *(*prop_get)(struct wc_transport *t, const char *key);
	int (*writeback)(struct wc_transport *t);
	int (*sync)(struct wc_transport *t);
	void (*close)(struct wc_transport *t);
};

struct wc_transport {
	const struct wc_transport_ops *ops;
};

#endif
