/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wcsim: show simulated drives to this kernel as SCSI disks, through target_core_user
 * and tcm_loop. wcsim PERSONALITY... serves them until it is killed; each appears with
 * the INQUIRY product of its personality. SIGUSR1 takes their power away for a moment.
 * For the lab: it needs root, configfs, and a kernel that nobody else uses.
 * Documentation/target/tcmu-design.rst.
 */
#include <linux/target_core_user.h>
/* the kernel's struct iovec came with it: glibc's is the same again */
#define __iovec_defined 1

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drive.h"

#define TARGET "/sys/kernel/config/target"
#define SECTORS (32768u) /* 16 MiB */
#define MAX_DATA (4u << 20)
#define MAX_DRIVES 32

struct disk {
	struct sim_drive *drive;
	int index;
	int fd;
	struct tcmu_mailbox *ring;
	size_t size;
};

static volatile sig_atomic_t ended, power_lost;

static void on_signal(int sig)
{
	if (sig == SIGUSR1)
		power_lost = 1;
	else
		ended = 1;
}

static void power_cycle(struct disk disks[], int n)
{
	power_lost = 0;
	for (int i = 0; i < n; i++) {
		sim_power_cut(disks[i].drive);
		disks[i].drive->unit_attention = true;
	}
}

static void die(const char *what)
{
	fprintf(stderr, "wcsim: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void make_dir(const char *fmt, ...)
{
	char path[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die(path);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path);
	close(fd);
}

static void read_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	*buf = '\0';
	if (!f)
		return;
	if (!fgets(buf, size, f))
		*buf = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
}

/* The uio device that the kernel made for our disk. */
static void open_ring(struct disk *disk, const char *name)
{
	char path[300], text[300], suffix[100];
	struct dirent *de;
	DIR *d = opendir("/sys/class/uio");

	snprintf(suffix, sizeof(suffix), "wcache/%s", name);
	disk->fd = -1;
	while (d && (de = readdir(d))) {
		snprintf(path, sizeof(path), "/sys/class/uio/%s/name", de->d_name);
		read_line(path, text, sizeof(text));
		if (strlen(text) < strlen(suffix) ||
		    strcmp(text + strlen(text) - strlen(suffix), suffix))
			continue;
		snprintf(path, sizeof(path), "/sys/class/uio/%s/maps/map0/size", de->d_name);
		read_line(path, text, sizeof(text));
		disk->size = strtoul(text, NULL, 0);
		snprintf(path, sizeof(path), "/dev/%s", de->d_name);
		disk->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		break;
	}
	if (d)
		closedir(d);
	if (disk->fd < 0)
		die("no uio device");
	disk->ring = mmap(NULL, disk->size, PROT_READ | PROT_WRITE, MAP_SHARED, disk->fd, 0);
	if (disk->ring == MAP_FAILED)
		die("mmap");
}

static void create(struct disk *disk, int index, const struct sim_personality *p)
{
	char name[32], path[256], text[256];

	snprintf(name, sizeof(name), "sim%d", index);
	snprintf(text, sizeof(text), "SIM-%d", index);
	disk->index = index;
	disk->drive = sim_new(p, SECTORS, text);
	make_dir(TARGET "/core/user_0");
	make_dir(TARGET "/core/user_0/%s", name);
	snprintf(path, sizeof(path), TARGET "/core/user_0/%s/control", name);
	snprintf(text, sizeof(text),
		 "dev_size=%u,dev_config=wcache/%s,hw_block_size=512,nl_reply_supported=-1",
		 SECTORS * SIM_SECTOR, name);
	put(path, text);
	snprintf(path, sizeof(path), TARGET "/core/user_0/%s/enable", name);
	put(path, "1");
	open_ring(disk, name);
}

/* From here on the kernel asks: it must run beside serve(). */
static void attach(const struct disk *disk)
{
	char path[300], core[300];
	int i = disk->index;

	make_dir(TARGET "/loopback");
	make_dir(TARGET "/loopback/naa.50014050000000%02x", i);
	make_dir(TARGET "/loopback/naa.50014050000000%02x/tpgt_1", i);
	snprintf(path, sizeof(path), TARGET "/loopback/naa.50014050000000%02x/tpgt_1/nexus", i);
	snprintf(core, sizeof(core), "naa.60014050000000%02x", i);
	put(path, core);
	make_dir(TARGET "/loopback/naa.50014050000000%02x/tpgt_1/lun/lun_0", i);
	snprintf(path, sizeof(path),
		 TARGET "/loopback/naa.50014050000000%02x/tpgt_1/lun/lun_0/disk", i);
	snprintf(core, sizeof(core), TARGET "/core/user_0/sim%d", i);
	if (symlink(core, path) < 0 && errno != EEXIST)
		die(path);
}

/* The ring does not say which way the data goes; the command does. */
static bool goes_out(const uint8_t *cdb)
{
	switch (cdb[0]) {
	case 0x0a:
	case 0x2a:
	case 0xaa:
	case 0x8a:
	case 0x15:
	case 0x55:
		return true;
	case 0x85:
	case 0xa1:
		return !(cdb[2] & 0x08);
	}
	return false;
}

static void execute(struct disk *disk, struct tcmu_cmd_entry *entry)
{
	static uint8_t data[MAX_DATA];
	char *base = (char *)disk->ring;
	const uint8_t *cdb = (uint8_t *)base + entry->req.cdb_off;
	const bool out = goes_out(cdb);
	struct sim_reply r;
	size_t len = 0, left;

	for (uint32_t i = 0; i < entry->req.iov_cnt; i++) {
		struct iovec v = entry->req.iov[i];

		if (len + v.iov_len > sizeof(data))
			break;
		if (out)
			memcpy(data + len, base + (size_t)v.iov_base, v.iov_len);
		len += v.iov_len;
	}
	if (!out)
		memset(data, 0, len);
	sim_scsi(disk->drive, cdb, out ? data : NULL, out ? len : 0, out ? NULL : data,
		 out ? 0 : len, &r);
	left = out ? 0 : len;
	for (uint32_t i = 0; i < entry->req.iov_cnt && left; i++) {
		struct iovec v = entry->req.iov[i];

		memcpy(base + (size_t)v.iov_base, data + (len - left), v.iov_len);
		left -= v.iov_len;
	}
	if (r.host || r.timed_out)
		sim_sense(&r, false, 0x0b, 0x44, 0x00);
	memset(entry->rsp.sense_buffer, 0, sizeof(entry->rsp.sense_buffer));
	memcpy(entry->rsp.sense_buffer, r.sense, r.sense_len);
	entry->rsp.scsi_status = r.status;
	if (!out && !r.status && disk->ring->flags & TCMU_MAILBOX_FLAG_CAP_READ_LEN) {
		entry->hdr.uflags |= TCMU_UFLAG_READ_LEN;
		entry->rsp.read_len = r.moved;
	}
}

static void serve(struct disk *disk)
{
	struct tcmu_mailbox *ring = disk->ring;
	bool done = false;
	uint32_t word = 0;

	if (read(disk->fd, &word, 4) < 0 && errno != EAGAIN)
		return;
	while (ring->cmd_tail != __atomic_load_n(&ring->cmd_head, __ATOMIC_ACQUIRE)) {
		struct tcmu_cmd_entry *entry =
			(void *)((char *)ring + ring->cmdr_off + ring->cmd_tail);

		if (tcmu_hdr_get_op(entry->hdr.len_op) == TCMU_OP_CMD)
			execute(disk, entry);
		else if (tcmu_hdr_get_op(entry->hdr.len_op) != TCMU_OP_PAD)
			entry->hdr.uflags |= TCMU_UFLAG_UNKNOWN_OP;
		__atomic_store_n(&ring->cmd_tail,
				 (ring->cmd_tail + tcmu_hdr_get_len(entry->hdr.len_op)) %
					 ring->cmdr_size,
				 __ATOMIC_RELEASE);
		done = true;
	}
	word = 0;
	if (done && write(disk->fd, &word, 4) < 0)
		die("uio");
}

int main(int argc, char *argv[])
{
	static struct disk disks[MAX_DRIVES];
	struct pollfd fds[MAX_DRIVES];
	struct sigaction sa = { .sa_handler = on_signal };
	int n = argc - 1;

	if (n < 1 || n > MAX_DRIVES) {
		fprintf(stderr, "Usage: wcsim PERSONALITY...\n");
		for (const struct sim_personality *p = sim_personalities; p->name; p++)
			if (p->attach != SIM_NVME)
				fprintf(stderr, "  %s\n", p->name);
		return 2;
	}
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < n; i++) {
		const struct sim_personality *p = sim_personality_find(argv[i + 1]);

		if (!p || p->attach == SIM_NVME) {
			fprintf(stderr, "wcsim: no SCSI personality is called %s\n", argv[i + 1]);
			return 2;
		}
		create(&disks[i], i, p);
		fds[i] = (struct pollfd){ .fd = disks[i].fd, .events = POLLIN };
	}
	/* Linking a disk in makes the kernel ask it at once, and wait for us. */
	if (fork() == 0) {
		for (int i = 0; i < n; i++)
			attach(&disks[i]);
		_exit(0);
	}
	while (!ended) {
		/* A signal that comes just before waits with it for the kernel's next command. */
		int ready = poll(fds, n, -1);

		if (power_lost)
			power_cycle(disks, n);
		if (ready < 0)
			continue;
		for (int i = 0; i < n; i++)
			if (fds[i].revents)
				serve(&disks[i]);
	}
	return 0;
}
