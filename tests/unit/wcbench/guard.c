/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State files: what is written is read, and what is restored is the drive that was meant. The
 * drives are strict recordings: one that is not meant has no answer to a command.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wcache.h>

#include "guard-state.h"
#include "suite.h"

#define RECORDING "wcache-exchange 1\n"
#define DRIVE(name, props) "device " name "\nprop bus=virtio\n" props
#define WWN(wwn) "prop ID_WWN=" wwn "\n"
#define SERIAL(serial) "prop ID_SERIAL_SHORT=" serial "\n"
#define KERNEL "attr queue/write_cache=write back\n"
#define IS_ON "attr cache_type=write back\n" KERNEL
#define IS_OFF "attr cache_type=write through\n" KERNEL
#define GOES_ON IS_OFF "> set attr cache_type=write back\n< errno=0\nattr cache_type=write back\n"
#define GOES_OFF                                                                    \
	IS_ON "> sync\n< errno=0\n> set attr cache_type=write through\n< errno=0\n" \
	      "attr cache_type=write through\nattr queue/write_cache=write through\n"

#define REFUSED(errno) IS_OFF "> set attr cache_type=write back\n< errno=" errno "\n"

#define STATE "wcbench-state 2\nboot another\n"

static char base[32], folder[40];
static char said[4096], sent[4096];

static void setup(void)
{
	strcpy(base, "/tmp/wcbench.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(base));
	snprintf(folder, sizeof(folder), "%s/state", base);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", base);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *path, const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, length, file), length);
	ck_assert_int_eq(fclose(file), 0);
}

static void put_file(const char *name, const char *text, size_t length)
{
	char path[64];

	mkdir(folder, 0700);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	put(path, text, length);
}

static void put_state(const char *text)
{
	put_file("a.state", text, strlen(text));
}

/* How many files there are; @text: becomes what is in one of them. */
static int look(char *text, size_t size)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	ssize_t length;
	int n = 0, fd;

	*text = '\0';
	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		length = read(fd, text, size - 1);
		ck_assert_int_ge(length, 0);
		text[length] = '\0';
		close(fd);
	}
	if (directory)
		closedir(directory);
	return n;
}

static void is_empty(void)
{
	char text[2];

	ck_assert_int_eq(look(text, sizeof(text)), 0);
}

/* Nothing but this is there. */
static void is_kept(const char *expected)
{
	char text[4096];

	ck_assert_int_eq(look(text, sizeof(text)), 1);
	ck_assert_str_eq(text, expected);
}

static struct wcache_ctx *machine(const char *recording)
{
	struct wcache_ctx *ctx;
	char path[64];

	snprintf(path, sizeof(path), "%s/machine", base);
	put(path, recording, strlen(recording));
	ck_assert_int_eq(wcache_ctx_new(&ctx), 0);
	ck_assert_msg(wcache_ctx_set_replay(ctx, path) == 0, "%s", wcache_ctx_get_error(ctx));
	return ctx;
}

static void say(const char *line)
{
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

/* What is sent to a drive. */
static void note_sent(void *userdata, int level, const char *line)
{
	snprintf(sent + strlen(sent), sizeof(sent) - strlen(sent), "%s\n", line);
}

static int restore(const char *recording)
{
	struct wcache_ctx *ctx = machine(recording);
	int r;

	*said = *sent = '\0';
	wcache_ctx_set_log_fn(ctx, note_sent, NULL, WCACHE_LOG_DEBUG);
	r = state_restore_all(folder, ctx, say);
	wcache_ctx_unref(ctx);
	return r;
}

static void has_said(const char *what)
{
	ck_assert_msg(strstr(said, what) != NULL, "'%s' is not in: %s", what, said);
}

static void note(const char *recording, char *const names[], size_t n, struct originals *originals)
{
	struct wcache_ctx *ctx = machine(recording);

	ck_assert_int_eq(originals_read(originals, ctx, names, n), 0);
	wcache_ctx_unref(ctx);
}

static const char TWO[] = RECORDING DRIVE("vda", WWN("0x5000c500A1") SERIAL("S 1") IS_ON)
	DRIVE("vdb", SERIAL("S2") IS_OFF);
static char *const two[] = { (char *)"vda", (char *)"vdb" };

START_TEST(what_is_written_is_read)
{
	struct originals originals;
	char text[1024], expected[1024], boot[64] = "", *path;
	struct stat st;
	FILE *file;
	int fd;

	ck_assert_int_eq(restore(TWO), 0);
	ck_assert_str_eq(said, "");
	note(TWO, two, 2, &originals);
	ck_assert_int_eq(state_write(folder, &originals, &path, &fd), 0);
	ck_assert_int_eq(stat(folder, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	file = fopen("/proc/sys/kernel/random/boot_id", "r");
	ck_assert(file && fgets(boot, sizeof(boot), file));
	fclose(file);
	snprintf(expected, sizeof(expected),
		 "wcbench-state 2\nboot %sdrive vda 0x5000c500A1 S1 on\ndrive vdb - S2 off\nend\n",
		 boot);
	ck_assert_int_eq(look(text, sizeof(text)), 1);
	ck_assert_str_eq(text, expected);

	/* While its lock is held it is at work, whoever holds it. */
	ck_assert(!state_is_left(folder, &originals));
	ck_assert_int_eq(restore(TWO), 0);
	has_said("at work");
	is_kept(expected);
	close(fd);
	ck_assert(state_is_left(folder, &originals));
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", WWN("0x5000c500A1") SERIAL("S 1") GOES_ON)
					 DRIVE("vdb", SERIAL("S2") GOES_OFF)),
			 0);
	ck_assert_str_eq(said, "vda: the cache is on again\nvdb: the cache is off again\n");
	is_empty();
	ck_assert(!state_is_left(folder, &originals));
	originals_free(&originals);
	free(path);
}
END_TEST

START_TEST(nothing_is_noted_of_a_drive_without_a_setting)
{
	struct wcache_ctx *ctx = machine(RECORDING DRIVE("vda", SERIAL("S1") KERNEL));
	struct originals originals;

	ck_assert_int_eq(originals_read(&originals, ctx, two, 1), -EOPNOTSUPP);
	originals_free(&originals);
	ck_assert_int_lt(originals_read(&originals, ctx, two + 1, 1), 0);
	originals_free(&originals);
	ck_assert_int_eq(originals_read(&originals, ctx, two, 0), -EINVAL);
	originals_free(&originals);
	wcache_ctx_unref(ctx);
}
END_TEST

START_TEST(no_file_where_none_can_be)
{
	struct originals originals;
	char *path = NULL;
	int fd = -1;

	note(TWO, two, 1, &originals);
	put(folder, "", 0);
	ck_assert_int_lt(state_write(folder, &originals, &path, &fd), 0);
	ck_assert_ptr_null(path);
	ck_assert_int_eq(fd, -1);
	originals_free(&originals);
}
END_TEST

START_TEST(a_drive_is_found_under_another_name)
{
	put_state(STATE "drive vda 0x5000c500a1 S1 on\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", WWN("0x5000c500b2") SERIAL("S2") IS_OFF)
					 DRIVE("vdb", WWN("0x5000c500a1") SERIAL("S1") GOES_ON)),
			 0);
	ck_assert_str_eq(said, "vdb (which was vda): the cache is on again\n");
	is_empty();

	/* Before udev: no serial number, and the name as sysfs has it. */
	put_state(STATE "drive vda 0x5000c500a1 S1 off\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", "attr wwid=naa.5000C500A1\n" GOES_OFF)), 0);
	is_empty();

	/* By the serial number alone. */
	put_state(STATE "drive vda - S1 on\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", IS_OFF)
					 DRIVE("vdc", WWN("0x5000c500a1") SERIAL("S1") GOES_ON)),
			 0);
	is_empty();
}
END_TEST

START_TEST(another_drive_is_left_alone)
{
	static const char state[] = STATE "drive vda 0x5000c500a1 S1 on\nend\n";
	size_t i;
	static const char *const others[] = {
		RECORDING DRIVE("vda", WWN("0x5000c500a1") SERIAL("S2") IS_OFF),
		RECORDING DRIVE("vda", WWN("0x5000c500b2") SERIAL("S1") IS_OFF),
		RECORDING DRIVE("vda", IS_OFF),
		RECORDING DRIVE("vdb", SERIAL("S2") IS_OFF),
	};

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put_state(state);
		ck_assert_int_eq(restore(others[i]), -ENODEV);
		has_said("vda (0x5000c500a1, serial number S1): the cache cannot be turned on");
		has_said("a.state: kept");
		is_kept(state);
	}
}
END_TEST

/* What was restored is not restored again, with what was not, after somebody changed it. */
START_TEST(only_what_is_left_stays)
{
	put_state(STATE "drive vda - S1 on\ndrive vdb - GONE off\ndrive vdc - S3 off\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("S1") GOES_ON)
					 DRIVE("vdc", SERIAL("S3") GOES_OFF)),
			 -ENODEV);
	has_said("vda: the cache is on again");
	has_said("vdc: the cache is off again");
	is_kept(STATE "drive vdb - GONE off\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vdx", SERIAL("GONE") GOES_OFF)), 0);
	is_empty();
}
END_TEST

START_TEST(a_drive_that_refuses_keeps_its_file)
{
	static const char state[] = STATE "drive vda - S1 on\nend\n";

	put_state(state);
	ck_assert_int_lt(restore(RECORDING DRIVE("vda", SERIAL("S1") REFUSED("22"))), 0);
	is_kept(state);
	/* It is neither at work, as a file can be, nor gone. */
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("S1") REFUSED("16"))), -EBUSY);
	has_said("a.state: kept");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("S1") REFUSED("2"))), -ENOENT);
	has_said("a.state: kept");
	is_kept(state);
}
END_TEST

START_TEST(two_with_one_serial_number)
{
	static const char both[] = RECORDING DRIVE("vda", SERIAL("SAME") IS_OFF)
		DRIVE("vdb", SERIAL("SAME") IS_OFF);
	static const char state[] = STATE "drive vda - SAME on\nend\n";
	struct originals originals;
	char *path;
	int fd;

	put_state(state);
	ck_assert_int_eq(restore(both), -ENOTUNIQ);
	has_said("several drives here have its serial number");
	is_kept(state);
	teardown();
	setup();

	/* Before a restart the name tells. */
	note(both, two + 1, 1, &originals);
	ck_assert_int_eq(state_write(folder, &originals, &path, &fd), 0);
	close(fd);
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("SAME") IS_OFF)
					 DRIVE("vdb", SERIAL("SAME") GOES_OFF)),
			 0);
	is_empty();
	originals_free(&originals);
	free(path);
}
END_TEST

START_TEST(two_paths_to_one_drive)
{
	put_state(STATE "drive vdq 0x5000c500a1 S1 on\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", WWN("0x5000c500a1") SERIAL("S1") GOES_ON)
					 DRIVE("vdb", WWN("0x5000c500a1") SERIAL("S1") GOES_ON)),
			 0);
	is_empty();
	/* The second one is put right where the first fails, and the file stays. */
	put_state(STATE "drive vdq 0x5000c500a1 S1 on\nend\n");
	ck_assert_int_lt(restore(RECORDING DRIVE("vda", WWN("0x5000c500a1") SERIAL("S1") IS_OFF)
					 DRIVE("vdb", WWN("0x5000c500a1") SERIAL("S1") GOES_ON)),
			 0);
	ck_assert_ptr_nonnull(strstr(sent, "vdb: cache_type=write back: success"));
	is_kept(STATE "drive vdq 0x5000c500a1 S1 on\nend\n");
	/* One of which answers to the serial number only: it may be another. */
	put_state(STATE "drive vdq 0x5000c500a1 S1 on\nend\n");
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", WWN("0x5000c500a1") SERIAL("S1") IS_OFF)
					 DRIVE("vdb", SERIAL("S1") IS_OFF)),
			 -ENOTUNIQ);
}
END_TEST

START_TEST(a_drive_without_numbers)
{
	static const char state[] = STATE "drive vda - - on\nend\n";
	struct originals originals;
	char *path;
	int fd;

	put_state(state);
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", IS_OFF)), -ENODEV);
	is_kept(state);
	teardown();
	setup();

	note(RECORDING DRIVE("vda", IS_ON), two, 1, &originals);
	ck_assert_int_eq(state_write(folder, &originals, &path, &fd), 0);
	close(fd);
	ck_assert(state_is_left(folder, &originals));
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("NEW") IS_OFF)), -ENODEV);
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", GOES_ON)), 0);
	is_empty();
	originals_free(&originals);
	free(path);
}
END_TEST

START_TEST(files_that_are_none)
{
	static const char *const bad[] = {
		"",
		"x",
		"\n",
		"wcbench-state",
		"wcbench-state 2",
		"wcbench-state 2\n",
		"wcbench-state 2\nend\n",
		STATE,
		STATE "end\n",
		STATE "drive\nend\n",
		STATE "drive \nend\n",
		STATE "drive vda\nend\n",
		STATE "drive vda - S1\nend\n",
		STATE "drive vda - S1 on",
		STATE "drive vda - S1 on\n",
		STATE "drive vda - S1 on\nen",
		STATE "drive vda - S1 on\nend",
		STATE "drive vda - S1 on\nend\nmore\n",
		STATE "drive vda - S1 on more\nend\n",
		STATE "drive vda - S1 maybe\nend\n",
		STATE "drive vda - S1 ON\nend\n",
		STATE "drive vda  S1 on\nend\n",
		STATE "drive vda - S\t1 on\nend\n",
		STATE "drive ../vda - S1 on\nend\n",
		STATE "boot again\ndrive vda - S1 on\nend\n",
		STATE "drive vda - S1 on\n\nend\n",
		"wcbench-state 2\nboot \ndrive vda - S1 on\nend\n",
		"wcbench-state 2\ndrive vda - S1 on\nend\n",
		" " STATE "drive vda - S1 on\nend\n",
	};
	static const char drive[] = "drive vda - S1 on\n";
	static const char other[] = "wcbench-state 3\nwhatever\n";
	char big[128 * 1024] = STATE, word[300];
	size_t i, at;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_state(bad[i]);
		ck_assert_msg(restore(TWO) == -EBADMSG, "%s", bad[i]);
		has_said("a.state: kept: not a state file, or damaged");
		is_kept(bad[i]);
	}
	put_state(other);
	ck_assert_int_eq(restore(TWO), -EPROTONOSUPPORT);
	has_said("another version");
	is_kept(other);

	/* More drives, a longer number, a larger file than any of ours; a zero byte. */
	for (i = 0; i < 257; i++)
		strcat(big, drive);
	strcat(big, "end\n");
	put_state(big);
	ck_assert_int_eq(restore(TWO), -EBADMSG);
	memset(word, 'S', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	snprintf(big, sizeof(big), STATE "drive vda - %s on\nend\n", word);
	put_state(big);
	ck_assert_int_eq(restore(TWO), -EBADMSG);
	memset(big, '\n', sizeof(big));
	memcpy(big, STATE, strlen(STATE));
	put_file("a.state", big, sizeof(big));
	ck_assert_int_eq(restore(TWO), -EBADMSG);
	put_file("a.state", STATE "drive vda - S1 on\nend\n\0", strlen(STATE) + 23);
	ck_assert_int_eq(restore(TWO), -EBADMSG);

	/* Cut anywhere, a file is none. */
	snprintf(big, sizeof(big), STATE "drive vda - S1 on\nend\n");
	for (at = strlen(big); at-- > 0;) {
		put_file("a.state", big, at);
		ck_assert_int_eq(restore(TWO), -EBADMSG);
	}
}
END_TEST

START_TEST(what_is_no_file)
{
	char path[64], state[64];

	put_file("b.state", STATE "drive vda - S1 on\nend\n", strlen(STATE) + 22);
	put_file("c.state.new", "", 0);
	put_file("README", "", 0);
	snprintf(path, sizeof(path), "%s/a.state", folder);
	snprintf(state, sizeof(state), "%s/b.state", folder);
	ck_assert_int_eq(symlink(state, path), 0);
	ck_assert_int_eq(restore(RECORDING DRIVE("vda", SERIAL("S1") GOES_ON)), -EBADMSG);
	has_said("a.state: kept: not a file");
	has_said("vda: the cache is on again");
	ck_assert_int_eq(unlink(path), 0);

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(restore(TWO), -EBADMSG);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(restore(TWO), -EBADMSG);
	ck_assert_int_eq(rmdir(path), 0);

	/* What a power cut left of one that was being written. */
	snprintf(path, sizeof(path), "%s/c.state.new", folder);
	ck_assert_int_ne(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/README", folder);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(restore(TWO), 0);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_file_that_is_removed_is_gone)
{
	struct originals originals;
	char *path;
	int fd;

	note(TWO, two, 2, &originals);
	ck_assert_int_eq(state_write(folder, &originals, &path, &fd), 0);
	ck_assert_int_eq(state_remove(path), 0);
	ck_assert_int_eq(state_remove(path), -ENOENT);
	is_empty();
	close(fd);
	originals_free(&originals);
	free(path);
}
END_TEST

SUITE_WITH(setup, teardown, "wcbench-guard", what_is_written_is_read,
	   nothing_is_noted_of_a_drive_without_a_setting, no_file_where_none_can_be,
	   a_drive_is_found_under_another_name, another_drive_is_left_alone,
	   only_what_is_left_stays, a_drive_that_refuses_keeps_its_file, two_with_one_serial_number,
	   two_paths_to_one_drive, a_drive_without_numbers, files_that_are_none, what_is_no_file,
	   a_file_that_is_removed_is_gone)
