/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disks behind MegaRAID controllers. The driver takes frames of the firmware's
 * message interface (MFI) through a character device of its own and puts kernel
 * buffers in the place of ours (Linux drivers/scsi/megaraid/megaraid_sas_base.c,
 * megasas_mgmt_fw_ioctl()). Of the frame's reply it hands back one byte, the
 * firmware's status, and the sense buffer; neither the SCSI status nor the residual.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "megaraid.h"
#include "place.h"

#define NODE "/dev/megaraid_sas_ioctl_node"
#define CHRDEV "megaraid_sas_ioctl"

enum {
	MFI_PD_SCSI_IO = 0x04,
	MFI_DCMD = 0x05,
	MFI_READ = 0x10, /* frame flags */
	MFI_WRITE = 0x08,
	DCMD_PD_GET_LIST = 0x02010000,
	DCMD_CFG_READ = 0x04010000,
};

/* What the firmware says of a frame. */
enum {
	MFI_OK = 0x00,
	MFI_DEVICE_NOT_FOUND = 0x0c,
	MFI_SCSI_DONE_WITH_ERROR = 0x2d,
	MFI_SCSI_IO_FAILED = 0x2e,
	MFI_SCSI_RESERVATION_CONFLICT = 0x2f,
};

/* include/scsi/scsi_status.h, SAM-6 5.3: for what the driver leaves out */
enum {
	DID_NO_CONNECT = 0x01,
	DID_ERROR = 0x07,
	SAM_CHECK_CONDITION = 0x02,
	SAM_RESERVATION_CONFLICT = 0x18,
};

struct mfi_frame {
	uint8_t cmd, sense_len, cmd_status, scsi_status;
	uint8_t target, lun, cdb_len, sge_count;
	uint32_t context, pad;
	uint16_t flags, timeout; /* seconds */
	uint32_t data_len;
	union {
		struct {
			uint64_t sense; /* ours, in the form of a kernel pointer */
			uint8_t cdb[16];
			uint8_t sgl[80];
		} __attribute__((packed)) scsi;
		struct {
			uint32_t opcode;
			uint8_t mbox[12];
			uint8_t sgl[88];
		} __attribute__((packed)) dcmd;
	};
} __attribute__((packed));

struct mfi_packet {
	uint16_t host;
	uint16_t pad;
	uint32_t sgl_offset, sge_count, sense_offset, sense_len;
	struct mfi_frame frame;
	struct iovec sgl[16];
} __attribute__((packed));

_Static_assert(sizeof(struct mfi_frame) == 128, "two frames of 64 bytes");
_Static_assert(offsetof(struct mfi_frame, scsi.sgl) == 0x30, "SCSI frame");
_Static_assert(offsetof(struct mfi_frame, dcmd.sgl) == 0x28, "DCMD frame");

#define MFI_IOC_FIRMWARE _IOWR('M', 1, struct mfi_packet)

struct megaraid {
	struct wc_transport t;
	struct wc_place place; /* of scsi_host/hostN */
	uint16_t host;
	uint8_t target;
	int fd; /* the driver's node; -1 until the first command needs it */
	int inquiry_err; /* 1: not asked yet */
	bool probed; /* with TEST UNIT READY */
	bool needs_buffer; /* for a command without data, too */
	char vendor[9], product[17], revision[5], type[4];
	char lock[32];
};

static int find_major(void)
{
	FILE *f = fopen("/proc/devices", "re");
	int found = -ENODEV, number;
	char line[128], name[64];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%d %63s", &number, name) == 2 && !strcmp(name, CHRDEV))
			found = number;
	fclose(f);
	return found;
}

/* The driver makes no node of its own: it is made here, as the vendor's tools do. */
static int open_node(void)
{
	int number = find_major();
	struct stat st;
	int fd;

	if (number < 0)
		return number;
	fd = open(NODE, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		if (mknod(NODE, S_IFCHR | 0600, makedev(number, 0)) < 0 && errno != EEXIST)
			return errno == EPERM ? -EACCES : -errno;
		fd = open(NODE, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) || (int)major(st.st_rdev) != number) {
		close(fd);
		return -ENODEV;
	}
	return fd;
}

static void add_buffer(struct mfi_packet *p, void *data, uint32_t len)
{
	if (!len)
		return;
	p->frame.data_len = htole32(len);
	p->frame.sge_count = 1;
	p->sge_count = 1;
	p->sgl[0].iov_base = data;
	p->sgl[0].iov_len = len;
}

/* 0, with the firmware's word in cmd_status. */
static int send_packet(int fd, struct mfi_packet *p)
{
	/* What the firmware does not set must not look like success. */
	p->frame.cmd_status = 0xff;
	while (ioctl(fd, MFI_IOC_FIRMWARE, p) < 0)
		if (errno != EINTR)
			return errno == ENXIO ? -ENODEV : -errno;
	return 0;
}

static int scsi_io(const struct megaraid *m, const struct wc_request *rq, struct wc_reply *reply)
{
	uint8_t sense[WC_SENSE_MAX] = { 0 };
	uint8_t unused[8] = { 0 };
	struct mfi_packet p = {
		.host = m->host,
		.sgl_offset = offsetof(struct mfi_frame, scsi.sgl),
		.sense_offset = offsetof(struct mfi_frame, scsi.sense),
		.sense_len = sizeof(sense),
		.frame = {
			.cmd = MFI_PD_SCSI_IO,
			.sense_len = sizeof(sense),
			.target = m->target,
			.cdb_len = rq->scsi.cdb_len,
			.timeout = htole16((rq->timeout_ms + 999) / 1000),
			.flags = htole16(rq->direction == WC_IN	   ? MFI_READ
					 : rq->direction == WC_OUT ? MFI_WRITE
								   : 0),
		},
	};
	int err;

	memcpy(p.frame.scsi.cdb, rq->scsi.cdb, rq->scsi.cdb_len);
	p.frame.scsi.sense = (uintptr_t)sense;
	if (rq->direction != WC_NONE) {
		add_buffer(&p, rq->data, rq->data_len);
	} else if (m->needs_buffer) {
		add_buffer(&p, unused, sizeof(unused));
		p.frame.data_len = 0;
	}
	err = send_packet(m->fd, &p);
	if (err < 0)
		return err;
	memset(reply, 0, sizeof(*reply));
	switch (p.frame.cmd_status) {
	case MFI_OK:
		return 0;
	case MFI_SCSI_DONE_WITH_ERROR:
		reply->scsi.status = SAM_CHECK_CONDITION;
		if ((sense[0] & 0x70) == 0x70) {
			memcpy(reply->scsi.sense, sense, sizeof(sense));
			reply->scsi.sense_len = sizeof(sense);
		}
		return 0;
	case MFI_SCSI_RESERVATION_CONFLICT:
		reply->scsi.status = SAM_RESERVATION_CONFLICT;
		return 0;
	case MFI_DEVICE_NOT_FOUND:
		reply->scsi.host = DID_NO_CONNECT;
		return 0;
	case MFI_SCSI_IO_FAILED:
		reply->scsi.host = DID_ERROR;
		return 0;
	}
	/* The controller would not pass it on. */
	return -EOPNOTSUPP;
}

static int node_fd(struct megaraid *m)
{
	if (m->fd < 0)
		m->fd = open_node();
	return m->fd;
}

/*
 * QEMU answers a frame without a buffer with 4/44/00 (hw/scsi/megasas.c since 5.2);
 * firmware takes it. A command that does nothing finds out, so that no flush is ever
 * sent a second time.
 */
static int probe(struct megaraid *m)
{
	const struct wc_request rq = {
		.set = WC_SCSI,
		.direction = WC_NONE,
		.timeout_ms = 5000,
		.scsi = { .cdb_len = 6 }, /* TEST UNIT READY */
	};
	struct wc_reply reply;
	int err = 0;

	for (int with = 0; with <= 1; with++) {
		const uint8_t *sense = reply.scsi.sense;

		m->needs_buffer = with;
		err = scsi_io(m, &rq, &reply);
		if (err < 0)
			break;
		if (!reply.scsi.sense_len || (sense[2] & 0x0f) != 0x04 || sense[12] != 0x44) {
			m->probed = true;
			return 0;
		}
	}
	m->needs_buffer = false;
	m->probed = !err;
	return err;
}

static int megaraid_submit(struct wc_transport *t, const struct wc_request *rq,
			   struct wc_reply *reply)
{
	struct megaraid *m = (struct megaraid *)t;
	int fd;

	if (rq->set != WC_SCSI)
		return -ENOTTY;
	fd = node_fd(m);
	if (fd < 0)
		return fd;
	if (rq->direction == WC_NONE && !m->probed) {
		int err = probe(m);

		if (err < 0)
			return err;
	}
	return scsi_io(m, rq, reply);
}

/* As the kernel does when it finds a disk: these are the attributes that it makes of it. */
static int inquire(struct megaraid *m)
{
	uint8_t data[36] = { 0 };
	const struct wc_request rq = {
		.set = WC_SCSI,
		.direction = WC_IN,
		.data = data,
		.data_len = sizeof(data),
		.timeout_ms = 5000,
		.scsi = { .cdb = { 0x12, 0, 0, 0, sizeof(data) }, .cdb_len = 6 },
	};
	struct wc_reply reply;
	int err = megaraid_submit(&m->t, &rq, &reply);

	if (err < 0)
		return err;
	if (reply.scsi.host == DID_NO_CONNECT || data[0] >> 5)
		return -ENODEV;
	if (reply.scsi.host || reply.scsi.status)
		return -EIO;
	/* SPC-6 6.7.2 */
	snprintf(m->type, sizeof(m->type), "%u", data[0] & 0x1f);
	memcpy(m->vendor, data + 8, 8);
	memcpy(m->product, data + 16, 16);
	memcpy(m->revision, data + 32, 4);
	return 0;
}

static ssize_t megaraid_attr_get(struct wc_transport *t, const char *path, char *buf, size_t size)
{
	struct megaraid *m = (struct megaraid *)t;
	const struct {
		const char *path, *value;
	} attrs[] = {
		{ "device/vendor", m->vendor },
		{ "device/model", m->product },
		{ "device/rev", m->revision },
		{ "device/type", m->type },
	};

	for (size_t i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		if (strcmp(attrs[i].path, path))
			continue;
		if (m->inquiry_err > 0)
			m->inquiry_err = inquire(m);
		if (m->inquiry_err)
			return m->inquiry_err;
		return snprintf(buf, size, "%s", attrs[i].value);
	}
	return -ENOENT;
}

static int megaraid_attr_set(struct wc_transport *t, const char *path, const char *value)
{
	return -ENOENT;
}

static const char *megaraid_prop_get(struct wc_transport *t, const char *key)
{
	struct megaraid *m = (struct megaraid *)t;

	if (!strcmp(key, "driver"))
		return "megaraid_sas";
	if (!strcmp(key, "lock"))
		return m->lock;
	/* With CK_COND the firmware's own translation layer may fail the command. */
	if (!strcmp(key, "member") || !strcmp(key, "no-registers"))
		return "1";
	if (!strcmp(key, "bus")) {
		char vendor[9];

		if (megaraid_attr_get(t, "device/vendor", vendor, sizeof(vendor)) < 0)
			return "scsi";
		return strncmp(vendor, "ATA ", 4) ? "sas" : "sata";
	}
	return wc_place_has(key) ? wc_place_get(&m->place, key) : NULL;
}

static int megaraid_sync(struct wc_transport *t)
{
	return -EOPNOTSUPP;
}

static void megaraid_close(struct wc_transport *t)
{
	struct megaraid *m = (struct megaraid *)t;

	if (m->fd >= 0)
		close(m->fd);
	wc_place_clear(&m->place);
	free(m);
}

static const struct wc_transport_ops megaraid_ops = {
	.name = "megaraid",
	.submit = megaraid_submit,
	.attr_get = megaraid_attr_get,
	.attr_set = megaraid_attr_set,
	.prop_get = megaraid_prop_get,
	.sync = megaraid_sync,
	.close = megaraid_close,
};

/* One disk has one name: no signs, blanks or leading zeros. */
static bool parse_name(const char *name, unsigned int *host, unsigned int *id)
{
	char canonical[32];

	if (sscanf(name, "megaraid:%5u:%3u", host, id) != 2 || *host > UINT16_MAX ||
	    *id > UINT8_MAX)
		return false;
	snprintf(canonical, sizeof(canonical), "megaraid:%u:%u", *host, *id);
	return !strcmp(name, canonical);
}

bool wc_is_megaraid_name(const char *name)
{
	return !strncmp(name, "megaraid:", 9);
}

int wc_megaraid_new(struct wcache_ctx *ctx, const char *name, struct wc_transport **ret)
{
	unsigned int host, id;
	struct megaraid *m;
	const char *driver;
	char sysname[16];

	if (!parse_name(name, &host, &id))
		return wc_ctx_fail(ctx, -EINVAL, "%s: the form is megaraid:HOST:ID", name);
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->t.ops = &megaraid_ops;
	m->fd = -1;
	m->inquiry_err = 1;
	m->host = host;
	m->target = id;
	snprintf(m->lock, sizeof(m->lock), "megaraid-%u-%u", host, id);
	snprintf(sysname, sizeof(sysname), "host%u", host);
	driver = wc_place_find(&m->place, "scsi_host", sysname) < 0
			 ? NULL
			 : wc_place_get(&m->place, "proc_name");
	if (!driver || strcmp(driver, "megaraid_sas")) {
		megaraid_close(&m->t);
		return wc_ctx_fail(ctx, -ENODEV, "%s: SCSI host %u is no MegaRAID controller", name,
				   host);
	}
	*ret = &m->t;
	return 0;
}

static uint16_t get16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

/*
 * The target of a pass-through frame has eight bits, and so has a device id of real
 * firmware. QEMU's lists carry its SCSI id in the upper byte (hw/scsi/megasas.c), and
 * as the slot.
 */
static int target_of(uint16_t device_id, uint8_t slot)
{
	if (device_id <= UINT8_MAX)
		return device_id;
	return (device_id & 0xff) == 0 && device_id >> 8 == slot ? slot : -1;
}

/* Append a name once. A list with a disk that cannot be addressed is no list. */
static int add_name(char *buf, size_t size, unsigned int host, uint16_t device_id, uint8_t slot)
{
	int target = target_of(device_id, slot);
	size_t n = strlen(buf);
	char name[32];
	size_t len;

	if (target < 0)
		return -EBADMSG;
	len = snprintf(name, sizeof(name), " megaraid:%u:%d", host, target);
	for (const char *at = buf; (at = strstr(at, name)); at += len)
		if (at[len] == ' ' || !at[len])
			return 0;
	if (n + len >= size)
		return -EMSGSIZE;
	strcpy(buf + n, name);
	return 0;
}

enum {
	CONFIG_HEADER = 32,
	ARRAY_HEADER = 32,
	ARRAY_DISK = 8, /* usually 32 of them */
	VOLUME_HEADER = 64,
	VOLUME_SPAN = 24, /* usually 8 of them */
	LIST_ENTRY = 24,
};

struct config {
	const uint8_t *arrays, *volumes;
	size_t n_arrays, array_size;
	size_t n_volumes, volume_size;
};

/* The sizes are those of one element; QEMU gives those of all. */
static bool find_tables(const uint8_t *data, size_t len, struct config *c)
{
	size_t total;

	if (len < CONFIG_HEADER)
		return false;
	total = get32(data);
	c->n_arrays = get16(data + 4);
	c->array_size = get16(data + 6);
	c->n_volumes = get16(data + 8);
	c->volume_size = get16(data + 10);
	if (!c->n_arrays || !c->n_volumes || total > len)
		return false;
	if (c->n_arrays > 1 && CONFIG_HEADER + c->array_size + c->volume_size == total) {
		c->array_size /= c->n_arrays;
		c->volume_size /= c->n_volumes;
	}
	if (c->array_size < ARRAY_HEADER + ARRAY_DISK ||
	    c->volume_size < VOLUME_HEADER + VOLUME_SPAN)
		return false;
	if (CONFIG_HEADER + c->n_arrays * c->array_size + c->n_volumes * c->volume_size > total)
		return false;
	c->arrays = data + CONFIG_HEADER;
	c->volumes = c->arrays + c->n_arrays * c->array_size;
	return true;
}

static int add_array(const struct config *c, uint16_t ref, unsigned int host, char *buf,
		     size_t size)
{
	for (size_t i = 0; i < c->n_arrays; i++) {
		const uint8_t *a = c->arrays + i * c->array_size;
		size_t disks = (c->array_size - ARRAY_HEADER) / ARRAY_DISK;

		if (get16(a + 10) != ref)
			continue;
		if (a[8] > disks)
			return -EBADMSG;
		for (size_t k = 0; k < a[8]; k++) {
			const uint8_t *pd = a + ARRAY_HEADER + ARRAY_DISK * k;
			int err;

			/* FFFFh: the disk is missing, the array degraded */
			if (get16(pd) == 0xffff)
				continue;
			err = add_name(buf, size, host, get16(pd), pd[7]);
			if (err < 0)
				return err;
		}
		return 0;
	}
	return -EBADMSG;
}

ssize_t wc_megaraid_parse_config(const uint8_t *data, size_t len, unsigned int host,
				 unsigned int volume, char *buf, size_t size)
{
	struct config c;

	if (!find_tables(data, len, &c))
		return -EBADMSG;
	for (size_t i = 0; i < c.n_volumes; i++) {
		const uint8_t *v = c.volumes + i * c.volume_size;
		size_t spans = (c.volume_size - VOLUME_HEADER) / VOLUME_SPAN;

		if (v[0] != volume)
			continue;
		/* byte 5 of the parameters: span depth */
		if (!v[37] || v[37] > spans)
			return -EBADMSG;
		snprintf(buf, size, "volume");
		for (size_t k = 0; k < v[37]; k++) {
			int err = add_array(&c, get16(v + VOLUME_HEADER + VOLUME_SPAN * k + 16),
					    host, buf, size);

			if (err < 0)
				return err;
		}
		return strlen(buf);
	}
	return -ENOENT;
}

ssize_t wc_megaraid_parse_list(const uint8_t *data, size_t len, unsigned int host, char *buf,
			       size_t size)
{
	size_t count;

	if (len < 8)
		return -EBADMSG;
	count = get32(data + 4);
	if (count > (len - 8) / LIST_ENTRY)
		return -EBADMSG;
	snprintf(buf, size, "controller");
	for (size_t i = 0; i < count; i++) {
		const uint8_t *e = data + 8 + i * LIST_ENTRY;
		int err;

		/* byte 6: SCSI device type; enclosures are in the list too */
		if (e[6])
			continue;
		err = add_name(buf, size, host, get16(e), e[5]);
		if (err < 0)
			return err;
	}
	return strlen(buf);
}

static int dcmd(int fd, unsigned int host, uint32_t opcode, void *data, uint32_t len)
{
	struct mfi_packet p = {
		.host = host,
		.sgl_offset = offsetof(struct mfi_frame, dcmd.sgl),
		.frame = { .cmd = MFI_DCMD, .flags = htole16(MFI_READ) },
	};
	int err;

	p.frame.dcmd.opcode = htole32(opcode);
	add_buffer(&p, data, len);
	err = send_packet(fd, &p);
	if (err < 0)
		return err;
	return p.frame.cmd_status == MFI_OK ? 0 : -EOPNOTSUPP;
}

#define FIRST_CONFIG 4096
#define MAX_CONFIG (256 * 1024)

/* The firmware tells the whole length at the head of however much was asked for. */
static ssize_t read_config(int fd, unsigned int host, uint8_t *data)
{
	uint32_t len = FIRST_CONFIG;
	int err = dcmd(fd, host, DCMD_CFG_READ, data, len);

	if (err < 0)
		return err;
	if (get32(data) > len) {
		len = get32(data);
		if (len > MAX_CONFIG)
			return -EBADMSG;
		err = dcmd(fd, host, DCMD_CFG_READ, data, len);
	}
	return err < 0 ? err : (ssize_t)len;
}

ssize_t wc_megaraid_members(unsigned int host, unsigned int channel, unsigned int id, char *buf,
			    size_t size)
{
	const uint32_t list_len = 8 + 256 * LIST_ENTRY;
	uint8_t *data;
	ssize_t n;
	int fd;

	/* Volumes from channel 2 on, 128 ids each (MEGASAS_DEV_INDEX()). */
	if (channel < 2 || id >= 128)
		return -ENOENT;
	fd = open_node();
	if (fd < 0)
		return fd;
	data = calloc(1, MAX_CONFIG);
	if (!data) {
		close(fd);
		return -ENOMEM;
	}
	n = read_config(fd, host, data);
	if (n > 0)
		n = wc_megaraid_parse_config(data, n, host, channel % 2 * 128 + id, buf, size);
	if (n < 0) {
		memset(data, 0, list_len);
		n = dcmd(fd, host, DCMD_PD_GET_LIST, data, list_len);
		if (!n)
			n = wc_megaraid_parse_list(data, list_len, host, buf, size);
	}
	free(data);
	close(fd);
	return n == -EBADMSG ? -EIO : n;
}
