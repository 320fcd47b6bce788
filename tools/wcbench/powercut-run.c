/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "pool.h"
#include "powercut.h"
#include "powercut-block.h"

#define FILL_BLOCK (1u << 20)

struct run {
	const struct powercut_options *options;
	int holder; /* a device: open exclusively */
	int fd; /* written through */
	uint64_t *gen; /* of each block, the last that was issued */
	uint8_t session[16];
	uint64_t boot;
	bool made; /* the target is a file that was not there */
};

struct writer {
	struct run *run;
	uint16_t number;
	int socket;
	pthread_t thread;
	uint64_t acked;
	int result;
	const char *what; /* failed */
};

static atomic_bool stop;

static void on_signal(int signal)
{
	atomic_store(&stop, true);
}

static int complain(const struct run *run, const char *why)
{
	fprintf(stderr, "wcbench: %s: %s\n", run->options->target, why);
	return -EINVAL;
}

/*
 * All of a new file is written and synced, its name too: what is lost afterwards was lost by
 * the drive, and not with the file system's own records of it.
 */
static int fill_file(const struct run *run, int fd, uint64_t size)
{
	unsigned char *zero = calloc(1, FILL_BLOCK);
	char *path = strdup(run->options->target), *slash;
	uint64_t at = 0;
	int directory, r = 0;
	ssize_t n;

	if (!zero || !path)
		r = -ENOMEM;
	while (r == 0 && at < size) {
		n = pwrite(fd, zero, size - at < FILL_BLOCK ? size - at : FILL_BLOCK, (off_t)at);
		if (n < 0 && errno != EINTR)
			r = -errno;
		if (n > 0)
			at += (uint64_t)n;
	}
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	free(zero);
	if (r == 0) {
		slash = strrchr(path, '/');
		if (slash)
			slash[slash == path] = '\0';
		directory = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0 || fsync(directory) < 0)
			r = -errno;
		if (directory >= 0)
			close(directory);
	}
	free(path);
	return r;
}

/* Also a name in /dev that no device has. */
static bool in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

static int check_device(struct run *run, uint64_t size)
{
	const struct powercut_options *options = run->options;
	unsigned int logical = 512;
	uint64_t have = 0;

	if (!options->destroy)
		return complain(run, "a device, all of whose data would be lost; --destroy-data "
				     "says that this is wanted");
	/* A file system on it or on one of its partitions, or a layer, holds it too. */
	run->holder = open(options->target, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (run->holder < 0)
		return complain(run, errno == EBUSY ? "mounted, or in use by a layer above"
						    : strerror(errno));
	if (ioctl(run->holder, BLKGETSIZE64, &have) < 0 ||
	    ioctl(run->holder, BLKSSZGET, &logical) < 0)
		return complain(run, strerror(errno));
	if (have < size)
		return complain(run, "smaller than what is to be written; see --blocks");
	if (options->block_size % logical)
		return complain(run, "its sectors are larger than --block-size");
	return 0;
}

static int open_target(struct run *run)
{
	const struct powercut_options *options = run->options;
	uint64_t size = options->blocks * options->block_size;
	struct stat st;
	int fd, r;

	fd = open(options->target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		run->made = true;
	else if (errno == EEXIST)
		fd = open(options->target, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return complain(run, strerror(errno));
	r = fstat(fd, &st) < 0 ? complain(run, strerror(errno)) : 0;
	if (r == 0 && S_ISBLK(st.st_mode)) {
		r = check_device(run, size);
	} else if (r == 0 && !S_ISREG(st.st_mode)) {
		r = complain(run, "neither a file nor a block device");
	} else if (r == 0 && !run->made && !options->destroy) {
		r = complain(run, "there is such a file; --destroy-data overwrites it");
	} else if (r == 0 && in_memory(fd)) {
		r = complain(run, "on a file system in memory");
	}
	if (r == 0) {
		run->fd = powercut_direct(fd, options->mode == SYNC_DSYNC ? O_DSYNC : 0);
		if (run->fd < 0)
			r = complain(run, "cannot be written past the page cache (O_DIRECT), so "
					  "that nothing would be known of its drive");
	}
	if (r == 0 && S_ISREG(st.st_mode)) {
		r = fill_file(run, fd, size);
		if (r < 0)
			complain(run, strerror(-r));
	}
	if (r < 0 && run->made)
		unlink(options->target);
	close(fd);
	return r;
}

static struct record say(const struct writer *writer, uint8_t type, uint64_t seq)
{
	struct record record = {
		.type = type,
		.mode = (uint8_t)writer->run->options->mode,
		.writer = writer->number,
		.block_size = writer->run->options->block_size,
		.seq = seq,
	};

	memcpy(record.session, writer->run->session, sizeof(record.session));
	memcpy(record.name, writer->run->options->name, sizeof(record.name));
	return record;
}

/* Tell, and wait until it is in the log. */
static int tell(struct writer *writer, const struct record *record, size_t n)
{
	struct record answer;
	int r;

	r = record_send(writer->socket, record, n);
	if (r == 0)
		r = record_receive(writer->socket, &answer);
	if (r == 0 && answer.type != RECORD_OK)
		r = -EBADMSG;
	if (r < 0)
		writer->what = "the server is lost";
	return r;
}

static int put_block(struct writer *writer, unsigned char *data, uint64_t block)
{
	const struct run *run = writer->run;
	uint32_t size = run->options->block_size;
	const struct block_id id = {
		.session = run->session,
		.block = block,
		.gen = run->gen[block],
	};
	ssize_t n;

	block_fill(data, size, &id);
	n = pwrite(run->fd, data, size, (off_t)(block * size));
	if (n == (ssize_t)size)
		return 0;
	writer->what = "a write failed";
	return n < 0 ? -errno : -EIO;
}

static void *write_blocks(void *arg)
{
	struct writer *writer = arg;
	struct run *run = writer->run;
	const struct powercut_options *options = run->options;
	uint64_t mine =
		(options->blocks - writer->number + options->writers - 1) / options->writers;
	unsigned char *data = aligned_alloc(4096, (options->block_size + 4095u) & ~4095u);
	struct record message[2];
	uint64_t seq = 0, told = 0, random, block;
	size_t n;
	int r = data ? 0 : -ENOMEM;

	memcpy(&random, run->session + 8, sizeof(random));
	random += writer->number;
	while (r == 0 && !atomic_load(&stop)) {
		block = random_below(&random, mine) * options->writers + writer->number;
		n = 0;
		if (told < writer->acked)
			message[n++] = say(writer, RECORD_ACK, writer->acked);
		message[n] = say(writer, RECORD_INTENT, seq + 1);
		message[n].block = block;
		message[n++].gen = ++run->gen[block];
		r = tell(writer, message, n);
		if (r == 0) {
			told = writer->acked;
			r = put_block(writer, data, block);
		}
		if (r < 0)
			break;
		seq++;
		if (options->mode == SYNC_FDATASYNC ||
		    (options->mode == SYNC_FLUSH_EVERY && seq % options->flush_every == 0)) {
			/* What it did not confirm is lost for all we know: nothing is acked. */
			if (fdatasync(run->fd) < 0) {
				r = -errno;
				writer->what = "fdatasync failed";
				break;
			}
			writer->acked = seq;
		} else if (options->mode != SYNC_FLUSH_EVERY) {
			writer->acked = seq;
		}
	}
	if (r == 0) {
		n = 0;
		if (told < writer->acked)
			message[n++] = say(writer, RECORD_ACK, writer->acked);
		message[n++] = say(writer, RECORD_BYE, seq);
		r = tell(writer, message, n);
	}
	free(data);
	writer->result = r;
	if (r < 0)
		atomic_store(&stop, true);
	return NULL;
}

static int begin(struct run *run, struct writer *writer, unsigned int number)
{
	struct record hello;
	int r;

	*writer = (struct writer){ .run = run, .number = (uint16_t)number };
	writer->socket = powercut_connect(run->options);
	if (writer->socket < 0)
		return writer->socket;
	hello = say(writer, RECORD_HELLO, run->options->writers);
	hello.block = run->options->blocks;
	hello.gen = run->boot;
	r = tell(writer, &hello, 1);
	if (r < 0)
		fprintf(stderr, "wcbench: the server does not begin: %s\n", strerror(-r));
	return r;
}

static void wait_for_end(double seconds)
{
	const struct timespec tick = { .tv_nsec = 50 * 1000 * 1000 };
	struct timespec from, at;

	clock_gettime(CLOCK_MONOTONIC, &from);
	while (!atomic_load(&stop)) {
		nanosleep(&tick, NULL);
		clock_gettime(CLOCK_MONOTONIC, &at);
		if (seconds > 0 &&
		    (double)(at.tv_sec - from.tv_sec) + (double)(at.tv_nsec - from.tv_nsec) / 1e9 >=
			    seconds)
			atomic_store(&stop, true);
	}
}

static int write_until_end(struct run *run, struct writer *writer)
{
	const struct powercut_options *options = run->options;
	uint64_t acked = 0;
	unsigned int i, started = 0;
	int r = 0;

	for (i = 0; r == 0 && i < options->writers; i++)
		r = begin(run, &writer[i], i);
	if (r == 0 && !options->quiet)
		fprintf(stderr, "wcbench: writing, %s; cut the power now\n",
			powercut_mode_to_string(options->mode));
	for (i = 0; r == 0 && i < options->writers; i++) {
		r = -pthread_create(&writer[i].thread, NULL, write_blocks, &writer[i]);
		started += r == 0;
	}
	if (r < 0)
		atomic_store(&stop, true);
	if (started == 0 && run->made)
		unlink(options->target);
	wait_for_end(options->time);
	for (i = 0; i < started; i++) {
		pthread_join(writer[i].thread, NULL);
		acked += writer[i].acked;
		if (writer[i].result < 0 && r == 0) {
			r = writer[i].result;
			fprintf(stderr, "wcbench: %s: %s: %s\n", options->target,
				writer[i].what ? writer[i].what : "no memory", strerror(-r));
		}
	}
	if (r == 0)
		printf("ended without a cut, %llu writes acknowledged\n",
		       (unsigned long long)acked);
	return r;
}

int powercut_run(const struct powercut_options *options)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = on_signal };
	struct run run = { .options = options, .holder = -1, .fd = -1 };
	struct writer *writer = calloc(options->writers, sizeof(*writer));
	unsigned int i;
	int r;

	run.gen = calloc(options->blocks, sizeof(*run.gen));
	run.boot = powercut_boot();
	r = writer && run.gen ? 0 : -ENOMEM;
	if (r == 0 && getrandom(run.session, sizeof(run.session), 0) != sizeof(run.session))
		r = -EIO;
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &action, NULL);
	for (i = 0; writer && i < options->writers; i++)
		writer[i].socket = -1;
	if (r == 0)
		r = open_target(&run);
	if (r == 0)
		r = write_until_end(&run, writer);
	for (i = 0; writer && i < options->writers; i++)
		if (writer[i].socket >= 0)
			close(writer[i].socket);
	if (run.fd >= 0)
		close(run.fd);
	if (run.holder >= 0)
		close(run.holder);
	free(run.gen);
	free(writer);
	return r < 0 ? POWERCUT_FAILED : 0;
}
