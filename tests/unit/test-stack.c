/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks over machines of files, made here. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "device.h"
#include "stack/stack.h"
#include "state.h"
#include "verdict.h"

#include "suite.h"

static char root[64];
static struct wcache_ctx *ctx;
static struct wcache_stack *stack;

static void make_parents(char *path)
{
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

static void put_bytes(const char *name, const void *data, size_t size)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, name);
	make_parents(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, size), size);
	close(fd);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void put_link(const char *name, const char *to)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, name);
	make_parents(path);
	ck_assert_int_eq(symlink(to, path), 0);
}

/* A block device in FOLDER (below /sys/devices) with a queue. */
static void block_in(const char *folder, const char *name, const char *devnum, const char *cache)
{
	char path[256], to[256];

	snprintf(path, sizeof(path), "/sys/devices/%s/%s/queue/write_cache", folder, name);
	if (cache)
		put(path, cache);
	snprintf(path, sizeof(path), "/sys/devices/%s/%s/slaves/.keep", folder, name);
	put(path, "");
	snprintf(to, sizeof(to), "../../devices/%s/%s", folder, name);
	snprintf(path, sizeof(path), "/sys/class/block/%s", name);
	put_link(path, to);
	snprintf(path, sizeof(path), "/sys/dev/block/%s", devnum);
	put_link(path, to);
}

static void disk(const char *name, const char *devnum, const char *cache)
{
	char path[256];

	block_in("pci/block", name, devnum, cache);
	snprintf(path, sizeof(path), "/sys/devices/pci/block/%s/device", name);
	put_link(path, "../../target");
}

static void virt(const char *name, const char *devnum, const char *cache)
{
	block_in("virtual/block", name, devnum, cache);
}

static void slave(const char *upper, const char *lower)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/devices/virtual/block/%s/slaves/%s", upper, lower);
	put_link(path, "elsewhere");
	snprintf(path, sizeof(path), "/sys/class/block/%s/holders/%s", lower, upper);
	put_link(path, "elsewhere");
}

static void set_dm(const char *name, const char *label, const char *uuid)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/block/%s/dm/name", name);
	put(path, label);
	snprintf(path, sizeof(path), "/sys/class/block/%s/dm/uuid", name);
	put(path, uuid);
}

static void mounts(const char *text)
{
	put("/proc/self/mountinfo", text);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static void setup(void)
{
	strcpy(root, "/tmp/test-stack.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ctx->root = root;
	stack = NULL;
}

static void teardown(void)
{
	wcache_stack_free(stack);
	wcache_ctx_unref(ctx);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *drives(void)
{
	static char line[1024];

	*line = '\0';
	for (size_t i = 0; i < wcache_stack_get_drive_count(stack); i++) {
		strcat(line, i ? " " : "");
		strcat(line, wcache_stack_get_drive(stack, i));
	}
	return line;
}

static void resolve(const char *path)
{
	wcache_stack_free(stack);
	stack = NULL;
	ck_assert_int_eq(wcache_stack_new(ctx, path, &stack), 0);
}

static struct wcache_node *node(const char *name)
{
	for (size_t i = 0; i < stack->n_nodes; i++)
		if (!strcmp(stack->nodes[i]->name, name))
			return stack->nodes[i];
	ck_abort_msg("no node %s", name);
	return NULL;
}

static void lvm_on_luks(const char *dm, const char *sd)
{
	disk("sda", "8:0", sd);
	block_in("pci/block/sda", "sda2", "8:2", NULL);
	virt("dm-0", "254:0", dm);
	set_dm("dm-0", "luks", "CRYPT-LUKS2-x");
	slave("dm-0", "sda2");
	virt("dm-1", "254:1", dm);
	set_dm("dm-1", "vg-it's", "LVM-x");
	slave("dm-1", "dm-0");
	mounts("20 1 254:1 / / rw - ext4 /dev/mapper/vg-root rw\n");
}

START_TEST(goes_down_to_the_drive)
{
	lvm_on_luks("write back\n", "write back\n");
	resolve("/some/file");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_uint_eq(stack->n_nodes, 5);
	ck_assert_str_eq(node("/")->type, "ext4");
	ck_assert_str_eq(node("dm-1")->type, "lvm");
	ck_assert_str_eq(node("dm-0")->type, "dm-crypt");
	ck_assert_str_eq(node("sda2")->type, "partition");
	ck_assert_str_eq(node("sda")->type, "disk");
	for (size_t i = 0; i < stack->n_nodes; i++)
		ck_assert_int_eq(stack->nodes[i]->flush, WCACHE_PASSES_YES);
}
END_TEST

static size_t count_findings(const struct wcache_report *r, const char *code,
			     enum wcache_severity severity)
{
	size_t n = 0;

	for (size_t i = 0; i < wcache_report_get_finding_count(r); i++) {
		const struct wcache_finding *f = wcache_report_get_finding(r, i);

		n += !strcmp(wcache_finding_get_code(f), code) &&
		     wcache_finding_get_severity(f) == severity;
	}
	return n;
}

/* The verdict where every drive is as said. */
static struct wcache_report *report(enum wcache_cache cache, enum wcache_kernel kernel)
{
	struct wcache_device dev = { .name = "sda", .node = (char *)"/dev/sda", .bus = "sata" };
	struct wcache_state state = { .cache = cache, .kernel = kernel, .flush_advertised = true };
	const struct wcache_device *devs[8];
	const struct wcache_state *states[8];
	struct wcache_report *r;

	for (size_t i = 0; i < 8; i++) {
		devs[i] = &dev;
		states[i] = &state;
	}
	ck_assert_int_eq(wcache_report_new_for_stack(stack, devs, states, &r), 0);
	return r;
}

START_TEST(a_stale_table_drops_flushes)
{
	const struct wcache_finding *f;
	struct wcache_report *r;

	lvm_on_luks("write through\n", "write back\n");
	resolve("/");
	ck_assert_int_eq(node("dm-0")->flush, WCACHE_PASSES_NO);
	ck_assert_int_eq(node("dm-1")->flush, WCACHE_PASSES_NO);
	r = report(WCACHE_CACHE_ON, WCACHE_KERNEL_WRITE_BACK);
	ck_assert_int_eq(wcache_report_get_verdict(r), WCACHE_VERDICT_AT_RISK);
	ck_assert_uint_eq(count_findings(r, "layer-drops-flushes", WCACHE_SEVERITY_RISK), 2);
	/* The lower one first: what is above it looks at it. */
	f = wcache_report_get_finding(r, 0);
	ck_assert_str_eq(wcache_finding_get_device(f), "dm-0");
	ck_assert_str_eq(wcache_finding_get_remedy(f), "cryptsetup refresh 'luks'");
	f = wcache_report_get_finding(r, 1);
	ck_assert_str_eq(wcache_finding_get_device(f), "dm-1");
	ck_assert_str_eq(wcache_finding_get_remedy(f),
			 "dmsetup table --showkeys 'vg-it'\\''s' | dmsetup load 'vg-it'\\''s' && "
			 "dmsetup resume 'vg-it'\\''s'");
	wcache_report_free(r);
	r = report(WCACHE_CACHE_OFF, WCACHE_KERNEL_WRITE_BACK);
	ck_assert_int_eq(wcache_report_get_verdict(r), WCACHE_VERDICT_DURABLE);
	ck_assert_uint_eq(count_findings(r, "layer-drops-flushes", WCACHE_SEVERITY_INFO), 2);
	wcache_report_free(r);
}
END_TEST

/* dm-verity, for one. */
START_TEST(what_is_read_only_drops_nothing)
{
	char layer[128], remedy[1024];

	lvm_on_luks("write through\n", "write back\n");
	put("/sys/class/block/sda2/partition", "2\n");
	put("/sys/devices/virtual/block/dm-0/ro", "1\n");
	put("/sys/devices/virtual/block/dm-1/ro", "0\n");
	resolve("/");
	ck_assert_int_eq(node("dm-0")->flush, WCACHE_PASSES_YES);
	ck_assert_int_eq(node("dm-1")->flush, WCACHE_PASSES_NO);
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 1);
	ck_assert_str_eq(layer, "dm-1 (vg-it's)");
	put("/sys/devices/virtual/block/dm-1/ro", "1\n");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 0);
}
END_TEST

START_TEST(all_write_through_passes)
{
	struct wcache_report *r;

	lvm_on_luks("write through\n", "write through\n");
	resolve("/");
	ck_assert_int_eq(node("dm-1")->flush, WCACHE_PASSES_YES);
	r = report(WCACHE_CACHE_OFF, WCACHE_KERNEL_WRITE_THROUGH);
	ck_assert_int_eq(wcache_report_get_verdict(r), WCACHE_VERDICT_DURABLE);
	wcache_report_free(r);
}
END_TEST

START_TEST(walks_up)
{
	char layer[128], remedy[1024];

	lvm_on_luks("write through\n", "write through\n");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 0);
	put("/sys/class/block/sda2/partition", "2\n");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 1);
	ck_assert_str_eq(layer, "dm-0 (luks)");
	ck_assert_str_eq(remedy, "echo write back >/sys/class/block/sda/queue/write_cache && "
				 "cryptsetup refresh 'luks'");
	put("/sys/devices/pci/target/scsi_disk/1:0:0:0/cache_type", "write through");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 1);
	ck_assert_str_eq(remedy,
			 "echo temporary write back >/sys/class/scsi_disk/1:0:0:0/cache_type && "
			 "cryptsetup refresh 'luks'");
	put("/sys/class/block/dm-0/queue/write_cache", "write back");
	put("/sys/class/block/dm-1/queue/write_cache", "write back");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 0);
	mounts("20 1 254:1 / / rw - ext4 /dev/mapper/vg-root rw,nobarrier\n");
	ck_assert_int_eq(
		wc_stack_drops_above(ctx, "sda", layer, sizeof(layer), remedy, sizeof(remedy)), 1);
	ck_assert_str_eq(remedy, "mount -o remount,barrier '/'");
}
END_TEST

START_TEST(a_mount_without_barriers_drops)
{
	static const struct {
		const char *options, *remedy;
	} off[] = {
		{ "rw,nobarrier", "mount -o remount,barrier '/'" },
		{ "barrier=0,rw", "mount -o remount,barrier '/'" },
		{ "rw,barrier=none", "mount -o remount,barrier=flush '/'" },
		{ "rw,fsync_mode=nobarrier", "mount -o remount,fsync_mode=posix '/'" },
	};

	disk("sda", "8:0", "write back\n");
	for (size_t i = 0; i < 4; i++) {
		struct wcache_report *r;
		char line[128];

		snprintf(line, sizeof(line), "20 1 8:0 / / rw - ext4 /dev/sda %s\n",
			 off[i].options);
		mounts(line);
		resolve("/");
		r = report(WCACHE_CACHE_ON, WCACHE_KERNEL_WRITE_BACK);
		ck_assert_uint_eq(count_findings(r, "mount-drops-flushes", WCACHE_SEVERITY_RISK),
				  1);
		ck_assert_str_eq(wcache_finding_get_remedy(wcache_report_get_finding(r, 0)),
				 off[i].remedy);
		wcache_report_free(r);
	}
	mounts("20 1 8:0 / / rw - ext4 /dev/sda rw,nobarriers,xbarrier=0\n");
	resolve("/");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_YES);
}
END_TEST

START_TEST(a_loop_in_slaves_ends)
{
	disk("sda", "8:0", "write back\n");
	virt("dm-0", "254:0", "write back\n");
	virt("dm-1", "254:1", "write back\n");
	slave("dm-0", "dm-1");
	slave("dm-1", "dm-0");
	slave("dm-1", "sda");
	slave("dm-0", "dm-0");
	resolve("dm-0");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_int_eq(node("dm-1")->flush, WCACHE_PASSES_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(node("dm-1")->reason, "loop"));
}
END_TEST

START_TEST(a_missing_slave_is_unknown)
{
	disk("sda", "8:0", "write back\n");
	virt("md0", "9:0", "write back\n");
	put("/sys/class/block/md0/md/level", "raid1\n");
	slave("md0", "sda");
	put_link("/sys/devices/virtual/block/md0/slaves/sdb", "gone");
	resolve("md0");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_str_eq(node("md0")->type, "md-raid1");
	ck_assert_int_eq(node("md0")->flush, WCACHE_PASSES_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(node("md0")->reason, "sdb"));
}
END_TEST

START_TEST(padding_and_odd_names)
{
	static const char padded[64] = "write back\n";

	disk("cciss!c0d0", "104:0", NULL);
	put_bytes("/sys/class/block/cciss!c0d0/queue/write_cache", padded, sizeof(padded));
	mounts("20 1 8:9 / / rw - ext4 /dev/none rw\n"
	       "21 20 104:0 / /a\\040b\\012c rw shared:1 - xfs /dev/cciss/c0d0 rw\n"
	       "garbage\n22 20 8:1 / - ext4\n");
	resolve("/a b\nc/file");
	ck_assert_str_eq(drives(), "cciss!c0d0");
	ck_assert_int_eq(node("cciss!c0d0")->flush, WCACHE_PASSES_YES);
	resolve("/dev/cciss/c0d0");
	ck_assert_str_eq(drives(), "cciss!c0d0");
	resolve("/elsewhere");
	ck_assert_str_eq(drives(), "");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_UNKNOWN);
}
END_TEST

START_TEST(a_hidden_mount_is_not_met)
{
	disk("sda", "8:0", "write back\n");
	disk("sdb", "8:16", "write back\n");
	disk("sdc", "8:32", "write back\n");
	mounts("20 1 8:0 / / rw - ext4 /dev/sda rw\n"
	       "21 20 8:16 / /a/b rw - ext4 /dev/sdb rw\n"
	       "22 20 8:32 / /a rw - ext4 /dev/sdc rw\n");
	resolve("/a/b/file");
	ck_assert_str_eq(drives(), "sdc");
	resolve("/ab");
	ck_assert_str_eq(drives(), "sda");
}
END_TEST

START_TEST(btrfs_lists_its_devices)
{
	disk("sda", "8:0", "write back\n");
	disk("sdb", "8:16", "write back\n");
	put_link("/sys/fs/btrfs/aaaa/devices/sdb", "x");
	put_link("/sys/fs/btrfs/aaaa/devices/sda", "x");
	put("/sys/fs/btrfs/features/raid1c34", "0\n");
	mounts("20 1 0:33 / / rw - btrfs /dev/sda rw,subvol=/\n");
	resolve("/");
	ck_assert_uint_eq(wcache_stack_get_drive_count(stack), 2);
}
END_TEST

START_TEST(loop_and_its_file)
{
	disk("sda", "8:0", "write back\n");
	virt("loop0", "7:0", "write back\n");
	put("/sys/class/block/loop0/loop/backing_file", "/img/a file (deleted)\n");
	mounts("20 1 8:0 / / rw - ext4 /dev/sda rw\n");
	resolve("loop0");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_uint_eq(stack->n_nodes, 3);
}
END_TEST

START_TEST(journal_on_another_drive)
{
	struct wcache_report *r;

	disk("sda", "8:0", "write back\n");
	disk("sdb", "8:16", "write back\n");
	put("/sys/fs/ext4/sda/journal_task", "77\n");
	put("/proc/77/comm", "jbd2/sda-8\n");
	mounts("20 1 8:0 / / rw - ext4 /dev/sda rw\n"
	       "21 20 8:0 / /x rw - ext4 /dev/sda rw\n");
	resolve("/");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_YES);
	put("/proc/77/comm", "jbd2/sdb\n");
	put("/proc/sys/kernel/osrelease", "6.15.0-rc1\n");
	resolve("/");
	ck_assert_str_eq(drives(), "sda sdb");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_YES);
	put("/proc/sys/kernel/osrelease", "6.9.12\n");
	resolve("/");
	ck_assert_str_eq(drives(), "sda sdb");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_UNKNOWN);
	r = report(WCACHE_CACHE_ON, WCACHE_KERNEL_WRITE_BACK);
	ck_assert_int_eq(wcache_report_get_verdict(r), WCACHE_VERDICT_UNKNOWN);
	ck_assert_uint_eq(count_findings(r, "journal-apart", WCACHE_SEVERITY_UNKNOWN), 1);
	ck_assert_str_eq(wcache_finding_get_remedy(wcache_report_get_finding(r, 0)),
			 "wcache-set off /dev/sda");
	wcache_report_free(r);
	r = report(WCACHE_CACHE_OFF, WCACHE_KERNEL_WRITE_THROUGH);
	ck_assert_int_eq(wcache_report_get_verdict(r), WCACHE_VERDICT_DURABLE);
	wcache_report_free(r);
	mounts("20 1 8:0 / / rw - xfs /dev/sda rw,logdev=/dev/sdb,noquota\n");
	resolve("/");
	ck_assert_str_eq(drives(), "sda sdb");
}
END_TEST

/* Before Linux 5.17 a thread's name ends after 15 characters. */
START_TEST(name_of_a_journal_is_cut)
{
	block_in("pci/nvme0", "nvme0n1", "259:0", "write back\n");
	put_link("/sys/devices/pci/nvme0/nvme0n1/device", "..");
	block_in("pci/nvme0/nvme0n1", "nvme0n1p3", "259:3", NULL);
	disk("sda", "8:0", "write back\n");
	put("/sys/fs/ext4/nvme0n1p3/journal_task", "77\n");
	put("/proc/77/comm", "jbd2/nvme0n1p3-\n");
	mounts("20 1 259:3 / / rw - ext4 /dev/nvme0n1p3 rw\n"
	       "21 20 8:0 / /x rw - ext4 /dev/sda rw\n");
	resolve("/");
	ck_assert_str_eq(drives(), "nvme0n1");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_YES);

	/* nvme0n1p12, or nvme0n1p123? */
	block_in("pci/nvme0/nvme0n1", "nvme0n1p12", "259:12", NULL);
	put("/sys/fs/ext4/sda/journal_task", "77\n");
	put("/proc/77/comm", "jbd2/nvme0n1p12\n");
	resolve("/x");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_int_eq(node("/x")->flush, WCACHE_PASSES_UNKNOWN);
}
END_TEST

START_TEST(overlay_follows_the_upper)
{
	disk("sda", "8:0", "write back\n");
	mounts("20 1 0:40 / / rw - overlay o rw,lowerdir=/l,upperdir=/up/d,workdir=/up/w\n"
	       "21 20 8:0 / /up rw - ext4 /dev/sda rw\n");
	resolve("/file");
	ck_assert_str_eq(drives(), "sda");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_YES);
	mounts("20 1 0:40 / / rw - overlay o rw,upperdir=/up/d,workdir=/up/w,volatile\n"
	       "21 20 8:0 / /up rw - ext4 /dev/sda rw\n");
	resolve("/file");
	ck_assert_int_eq(node("/")->flush, WCACHE_PASSES_NO);
}
END_TEST

START_TEST(not_on_a_drive_and_elsewhere)
{
	static const struct {
		const char *type, *code;
		enum wcache_verdict verdict;
	} cases[] = {
		{ "tmpfs", "not-on-a-drive", WCACHE_VERDICT_AT_RISK },
		{ "nfs4", "devices-unknown", WCACHE_VERDICT_UNKNOWN },
		{ "zfs", "devices-unknown", WCACHE_VERDICT_UNKNOWN },
		{ "fuse.sshfs", "devices-unknown", WCACHE_VERDICT_UNKNOWN },
		{ "whatfs", "devices-unknown", WCACHE_VERDICT_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wcache_report *r;
		char line[128];

		snprintf(line, sizeof(line), "20 1 0:40 / / rw - %s  rw\n", cases[i].type);
		mounts(line);
		resolve("/x");
		r = report(WCACHE_CACHE_ON, WCACHE_KERNEL_WRITE_BACK);
		ck_assert_int_eq(wcache_report_get_verdict(r), cases[i].verdict);
		ck_assert_str_eq(wcache_finding_get_code(wcache_report_get_finding(r, 0)),
				 cases[i].code);
		wcache_report_free(r);
	}
}
END_TEST

START_TEST(bcache_names_both)
{
	disk("sda", "8:0", "write back\n");
	disk("nvme0n1", "259:0", "write back\n");
	virt("bcache0", "252:0", "write back\n");
	put_link("/sys/class/block/bcache0/bcache", "../../../pci/block/sda/bcache");
	put_link("/sys/devices/pci/block/sda/bcache/cache", "../../../../../fs/bcache/u");
	put_link("/sys/fs/bcache/u/cache0", "../../../devices/pci/block/nvme0n1/bcache");
	put("/sys/fs/bcache/u/cache_available_percent", "1");
	resolve("bcache0");
	ck_assert_str_eq(drives(), "sda nvme0n1");
}
END_TEST

START_TEST(who_uses_a_drive)
{
	struct wcache_users *u;

	lvm_on_luks("write back\n", "write back\n");
	mounts("20 1 254:1 / / rw - ext4 /dev/x rw\n21 20 8:2 / /boot rw - ext4 /dev/sda2 rw\n"
	       "22 20 0:5 / /tmp rw - tmpfs t rw\n");
	ck_assert_int_eq(wcache_users_new(ctx, "sda", &u), 0);
	ck_assert_uint_eq(wcache_users_get_count(u), 2);
	ck_assert_str_eq(wcache_users_get_mount(u, 0), "/");
	ck_assert_str_eq(wcache_users_get_mount(u, 1), "/boot");
	wcache_users_free(u);
	ck_assert_int_eq(wcache_users_new(ctx, "sdz", &u), -ENODEV);
}
END_TEST

#define WIDTH 36
#define DEPTH 8

struct reads {
	size_t n;
	char line[8192][96];
};

static void note_read(void *data, int level, const char *message)
{
	struct reads *r = data;

	for (size_t i = 0; i < r->n; i++)
		ck_assert_str_ne(r->line[i], message);
	ck_assert_uint_lt(r->n, 8192);
	snprintf(r->line[r->n++], sizeof(r->line[0]), "%s", message);
}

START_TEST(reads_each_attribute_once)
{
	static struct reads reads;
	char name[16], below[16], devnum[16];

	for (int i = 0; i < WIDTH; i++) {
		snprintf(name, sizeof(name), "sd%c%c", 'a' + i / 26, 'a' + i % 26);
		snprintf(devnum, sizeof(devnum), "8:%d", i);
		disk(name, devnum, "write back\n");
	}
	/* Each layer over all of the one below: every way down but one is a second visit. */
	for (int d = 0; d < DEPTH; d++)
		for (int k = 0; k < (d == DEPTH - 1 ? 1 : 4); k++) {
			snprintf(name, sizeof(name), "dm-%d", d * 4 + k);
			snprintf(devnum, sizeof(devnum), "254:%d", d * 4 + k);
			virt(name, devnum, "write back\n");
			for (int i = 0; i < (d ? 4 : WIDTH); i++) {
				if (d)
					snprintf(below, sizeof(below), "dm-%d", (d - 1) * 4 + i);
				else
					snprintf(below, sizeof(below), "sd%c%c", 'a' + i / 26,
						 'a' + i % 26);
				slave(name, below);
			}
		}
	reads.n = 0;
	wcache_ctx_set_log_fn(ctx, note_read, &reads, WCACHE_LOG_DEBUG);
	resolve("dm-28");
	wcache_ctx_set_log_fn(ctx, NULL, NULL, 0);
	ck_assert_uint_eq(wcache_stack_get_drive_count(stack), WIDTH);
	ck_assert_uint_gt(reads.n, WIDTH * 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack");
	TCase *tc = tcase_create("machines of files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, goes_down_to_the_drive);
	tcase_add_test(tc, a_stale_table_drops_flushes);
	tcase_add_test(tc, what_is_read_only_drops_nothing);
	tcase_add_test(tc, all_write_through_passes);
	tcase_add_test(tc, walks_up);
	tcase_add_test(tc, a_mount_without_barriers_drops);
	tcase_add_test(tc, a_loop_in_slaves_ends);
	tcase_add_test(tc, a_missing_slave_is_unknown);
	tcase_add_test(tc, padding_and_odd_names);
	tcase_add_test(tc, a_hidden_mount_is_not_met);
	tcase_add_test(tc, btrfs_lists_its_devices);
	tcase_add_test(tc, loop_and_its_file);
	tcase_add_test(tc, journal_on_another_drive);
	tcase_add_test(tc, name_of_a_journal_is_cut);
	tcase_add_test(tc, overlay_follows_the_upper);
	tcase_add_test(tc, not_on_a_drive_and_elsewhere);
	tcase_add_test(tc, bcache_names_both);
	tcase_add_test(tc, who_uses_a_drive);
	tcase_add_test(tc, reads_each_attribute_once);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
