/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "powercut-block.h"
#include "powercut-judge.h"
#include "powercut.h"
#include "suite.h"

#define BLOCKS 8
#define SIZE 4096

static const uint8_t session[16] = "0123456789abcdef";
static unsigned char data[SIZE];

START_TEST(crc32c_is_castagnoli)
{
	unsigned char bytes[32];
	size_t i;

	ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	/* RFC 3720 B.4 */
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x62a8ab43);
	for (i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	ck_assert_uint_eq(crc32c(0, bytes, 32), 0x46dd794e);
}
END_TEST

static struct record make(uint8_t type, uint16_t writer, uint64_t seq, uint64_t block, uint64_t gen)
{
	struct record record = {
		.type = type,
		.mode = SYNC_FDATASYNC,
		.writer = writer,
		.block_size = SIZE,
		.seq = seq,
		.block = block,
		.gen = gen,
	};

	memcpy(record.session, session, sizeof(session));
	return record;
}

START_TEST(a_record_comes_back_as_it_was)
{
	struct record in = make(RECORD_INTENT, 5, 1ull << 40, 77, UINT64_MAX), out;
	unsigned char frame[FRAME_SIZE];

	strcpy(in.name, "fifteen letters");
	in.time = 123456789;
	record_encode(&in, frame);
	ck_assert_int_eq(record_decode(frame, &out), 0);
	ck_assert_mem_eq(&in, &out, sizeof(in));
}
END_TEST

START_TEST(no_changed_bit_is_believed)
{
	struct record in = make(RECORD_ACK, 1, 2, 3, 4), out;
	unsigned char frame[FRAME_SIZE];
	unsigned int bit;

	record_encode(&in, frame);
	for (bit = 0; bit < FRAME_SIZE * 8; bit++) {
		frame[bit / 8] ^= 1 << bit % 8;
		ck_assert_int_eq(record_decode(frame, &out), -EBADMSG);
		frame[bit / 8] ^= 1 << bit % 8;
	}
}
END_TEST

START_TEST(fields_that_cannot_be_are_refused)
{
	struct record good = make(RECORD_HELLO, 0, 1, BLOCKS, 0), bad, out;
	unsigned char frame[FRAME_SIZE];
	unsigned int i;

	record_encode(&good, frame);
	ck_assert_int_eq(record_decode(frame, &out), 0);
	for (i = 0; i < 11; i++) {
		bad = good;
		switch (i) {
		case 0:
			bad.type = 0;
			break;
		case 1:
			bad.type = RECORD_TOTAL + 1;
			break;
		case 2:
			bad.mode = 0;
			break;
		case 3:
			bad.mode = SYNC_NONE + 1;
			break;
		case 4:
			bad.block_size = 0;
			break;
		case 5:
			bad.block_size = 1000;
			break;
		case 6:
			bad.block_size = POWERCUT_BLOCK_MOST + 512;
			break;
		case 7:
			bad.block = 0;
			break;
		case 8:
			bad.block = POWERCUT_BLOCKS_MOST + 1;
			break;
		case 9:
			bad.writer = 1;
			break;
		case 10:
			memset(bad.name, 'x', sizeof(bad.name));
			break;
		}
		record_encode(&bad, frame);
		ck_assert_msg(record_decode(frame, &out) == -EBADMSG, "case %u", i);
	}
}
END_TEST

static void fill(uint64_t block, uint64_t gen)
{
	const struct block_id id = { .session = session, .block = block, .gen = gen };

	block_fill(data, SIZE, &id);
}

START_TEST(a_sector_tells_where_it_belongs)
{
	struct block_id id = { .session = session, .block = 3 };
	uint8_t other[16] = "another session";
	size_t i;

	fill(3, 9);
	for (i = 0; i < SIZE / BLOCK_SECTOR; i++) {
		const unsigned char *sector = data + i * BLOCK_SECTOR;

		id.gen = 0;
		ck_assert_int_eq(block_look(sector, i, &id), SECTOR_OURS);
		ck_assert_uint_eq(id.gen, 9);
		ck_assert_int_eq(block_look(sector, i + 1, &id), SECTOR_MISDIRECTED);
		id.block = 4;
		ck_assert_int_eq(block_look(sector, i, &id), SECTOR_MISDIRECTED);
		id.block = 3;
		id.session = other;
		ck_assert_int_eq(block_look(sector, i, &id), SECTOR_ABSENT);
		id.session = session;
	}
	for (i = 0; i < BLOCK_SECTOR; i++) {
		data[i] ^= 0x10;
		ck_assert_int_ne(block_look(data, 0, &id), SECTOR_OURS);
		/* Past magic and session it is known to have been ours. */
		if (i >= 24)
			ck_assert_int_eq(block_look(data, 0, &id), SECTOR_CORRUPT);
		data[i] ^= 0x10;
	}
}
END_TEST

static void add(struct history *history, uint8_t type, uint64_t seq, uint64_t block, uint64_t gen)
{
	struct record record = make(type, 0, seq, block, gen);

	record.time = seq * 1000;
	ck_assert_int_eq(history_add(history, &record), 0);
}

/* Block 0: generation 1 and 2 acknowledged, 3 in flight. Block 1: one in flight. */
static void make_history(struct history *history)
{
	memset(history, 0, sizeof(*history));
	add(history, RECORD_HELLO, 1, BLOCKS, 0);
	add(history, RECORD_INTENT, 1, 0, 1);
	add(history, RECORD_INTENT, 2, 0, 2);
	add(history, RECORD_ACK, 2, 0, 0);
	add(history, RECORD_INTENT, 3, 0, 3);
	add(history, RECORD_INTENT, 4, 1, 1);
}

enum what {
	INTACT,
	LOST,
	STALE,
	TORN,
	MISDIRECTED,
	CORRUPT,
	FUTURE,
	TORN_IN_FLIGHT
};

static void expect_block(uint64_t block, enum what what, uint64_t lost)
{
	struct judgement j = { 0 };
	struct history history;
	uint64_t found[BLOCKS];

	make_history(&history);
	/* The other block is as it was acknowledged. */
	found[0] = 2;
	judge_block(&history, block, data, &found[block], &j);
	judge_writes(&history, found, &j);
	ck_assert_uint_eq(j.intact, what == INTACT);
	ck_assert_uint_eq(j.lost, what == LOST);
	ck_assert_uint_eq(j.stale, what == STALE);
	ck_assert_uint_eq(j.torn, what == TORN);
	ck_assert_uint_eq(j.misdirected, what == MISDIRECTED);
	ck_assert_uint_eq(j.corrupt, what == CORRUPT);
	ck_assert_uint_eq(j.future, what == FUTURE);
	ck_assert_uint_eq(j.torn_in_flight, what == TORN_IN_FLIGHT);
	ck_assert_uint_eq(judge_errors(&j), what != INTACT && what != TORN_IN_FLIGHT);
	ck_assert_uint_eq(j.acked, 2);
	ck_assert_uint_eq(j.acked_lost, lost);
	ck_assert_uint_eq(j.in_flight, 2);
	history_free(&history);
}

/* Sectors from @from on are of another generation. */
static void mix(uint64_t gen, uint64_t other, size_t from)
{
	unsigned char tail[SIZE];

	fill(0, other);
	memcpy(tail, data, SIZE);
	fill(0, gen);
	memcpy(data + from * BLOCK_SECTOR, tail + from * BLOCK_SECTOR, SIZE - from * BLOCK_SECTOR);
}

START_TEST(each_fate_has_its_name)
{
	fill(0, 2);
	expect_block(0, INTACT, 0);
	fill(0, 3);
	expect_block(0, INTACT, 0);
	memset(data, 0, SIZE);
	expect_block(0, LOST, 2);
	fill(0, 1);
	expect_block(0, STALE, 1);
	fill(0, 4);
	expect_block(0, FUTURE, 0);
	mix(1, 2, 7);
	expect_block(0, TORN, 1);
	mix(2, 3, 1);
	expect_block(0, TORN_IN_FLIGHT, 0);
	mix(3, 1, 7);
	expect_block(0, TORN, 1);
	fill(5, 2);
	expect_block(0, MISDIRECTED, 2);
	fill(0, 2);
	data[SIZE - 1] ^= 1;
	expect_block(0, CORRUPT, 2);
	fill(0, 2);
	memset(data + 512, 0, 512);
	expect_block(0, TORN, 2);
}
END_TEST

START_TEST(what_was_in_flight_may_be_there_or_not)
{
	memset(data, 0, SIZE);
	expect_block(1, INTACT, 0);
	fill(1, 1);
	expect_block(1, INTACT, 0);
	memset(data, 0, 512);
	expect_block(1, TORN_IN_FLIGHT, 0);
	fill(1, 2);
	expect_block(1, FUTURE, 0);
	/* Written by nobody. */
	fill(2, 1);
	expect_block(2, FUTURE, 0);
}
END_TEST

START_TEST(an_acknowledgement_covers_its_own_writer_up_to_its_number)
{
	struct history history = { 0 };
	struct judgement j = { 0 };
	uint64_t found[BLOCKS] = { 0 };
	struct record record;
	uint16_t writer;
	uint64_t seq;

	for (writer = 0; writer < 2; writer++) {
		record = make(RECORD_HELLO, writer, 2, BLOCKS, 0);
		ck_assert_int_eq(history_add(&history, &record), 0);
	}
	for (seq = 1; seq <= 4; seq++)
		for (writer = 0; writer < 2; writer++) {
			record = make(RECORD_INTENT, writer, seq, writer, seq);
			ck_assert_int_eq(history_add(&history, &record), 0);
		}
	record = make(RECORD_ACK, 1, 3, 0, 0);
	ck_assert_int_eq(history_add(&history, &record), 0);
	ck_assert_uint_eq(history.acked[0], 0);
	ck_assert_uint_eq(history.acked[1], 3);
	record = make(RECORD_ACK, 0, 1, 0, 0);
	ck_assert_int_eq(history_add(&history, &record), 0);
	record = make(RECORD_ACK, 1, 4, 0, 0);
	ck_assert_int_eq(history_add(&history, &record), 0);
	ck_assert_uint_eq(history.acked[0], 1);
	ck_assert_uint_eq(history.acked[1], 4);
	judge_writes(&history, found, &j);
	ck_assert_uint_eq(j.acked, 5);
	ck_assert_uint_eq(j.acked_lost, 5);
	ck_assert_uint_eq(j.in_flight, 3);
	record = make(RECORD_BYE, 0, 4, 0, 0);
	ck_assert_int_eq(history_add(&history, &record), 0);
	ck_assert(!history.ended);
	record.writer = 1;
	ck_assert_int_eq(history_add(&history, &record), 0);
	ck_assert(history.ended);
	history_free(&history);
}
END_TEST

START_TEST(a_log_that_cannot_be_is_refused)
{
	const struct record bad[] = {
		make(RECORD_HELLO, 0, 1, BLOCKS, 0), /* again */
		make(RECORD_HELLO, 1, 2, BLOCKS, 0), /* of another shape */
		make(RECORD_INTENT, 0, 6, 0, 4), /* one left out */
		make(RECORD_INTENT, 0, 5, 0, 5), /* generation left out */
		make(RECORD_INTENT, 0, 5, BLOCKS, 1), /* outside */
		make(RECORD_INTENT, 1, 1, 0, 4), /* a writer that did not begin */
		make(RECORD_ACK, 0, 5, 0, 0), /* never written */
		make(RECORD_RESULT, 0, 0, 0, 0),
	};
	struct history history;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		make_history(&history);
		ck_assert_msg(history_add(&history, &bad[i]) == -EBADMSG, "record %zu", i);
		history_free(&history);
	}
	memset(&history, 0, sizeof(history));
	ck_assert_int_eq(history_add(&history, &bad[2]), -EBADMSG);
}
END_TEST

/* A server of its own for each test, in a folder of its own. */
struct fixture {
	char folder[64], log[96], port[8];
	pid_t pid;
};

static int try_connect(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void server_start(struct fixture *f)
{
	struct powercut_options options = { .quiet = true, .log = f->log, .port = f->port };
	int tries, fd = -1;

	f->pid = fork();
	ck_assert_int_ge(f->pid, 0);
	if (f->pid == 0)
		_exit(powercut_serve(&options));
	for (tries = 0; fd < 0 && tries < 200; tries++) {
		fd = try_connect(f->port);
		usleep(20000);
	}
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void server_stop(struct fixture *f)
{
	int status;

	kill(f->pid, SIGTERM);
	ck_assert_int_eq(waitpid(f->pid, &status, 0), f->pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void server_new(struct fixture *f)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	/* A port that nobody has. */
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	close(fd);
	snprintf(f->port, sizeof(f->port), "%u", ntohs(address.sin_port));
	strcpy(f->folder, "/tmp/powercut-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->folder));
	snprintf(f->log, sizeof(f->log), "%s/log", f->folder);
	server_start(f);
}

static void server_free(struct fixture *f)
{
	server_stop(f);
	unlink(f->log);
	rmdir(f->folder);
}

static int ask(int fd, const struct record *record, struct record *answer)
{
	ck_assert_int_eq(record_send(fd, record, 1), 0);
	return record_receive(fd, answer);
}

static struct record fetch(int fd, uint64_t *count)
{
	struct record record = make(RECORD_FETCH, 0, 0, 0, 0);

	*count = 0;
	ck_assert_int_eq(record_send(fd, &record, 1), 0);
	for (;; ++*count) {
		ck_assert_int_eq(record_receive(fd, &record), 0);
		if (record.type == RECORD_DONE)
			return record;
	}
}

START_TEST(the_server_keeps_what_it_confirmed)
{
	struct record hello = make(RECORD_HELLO, 0, 1, BLOCKS, 0), record, answer;
	struct fixture f;
	uint64_t count;
	int fd, tail;

	server_new(&f);
	fd = try_connect(f.port);
	ck_assert_int_eq(ask(fd, &hello, &answer), 0);
	ck_assert_int_eq(answer.type, RECORD_OK);
	record = make(RECORD_INTENT, 0, 1, 3, 1);
	ck_assert_int_eq(ask(fd, &record, &answer), 0);
	ck_assert_uint_eq(answer.seq, 1);
	/* Killed, and a record left half written. */
	kill(f.pid, SIGKILL);
	waitpid(f.pid, NULL, 0);
	close(fd);
	tail = open(f.log, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(tail, "half a record", 13), 13);
	close(tail);
	server_start(&f);
	fd = try_connect(f.port);
	answer = fetch(fd, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(answer.seq, 2);
	record = make(RECORD_RESULT, 0, 1, 0, 0);
	ck_assert_int_eq(ask(fd, &record, &answer), 0);
	ck_assert_int_eq(answer.type, RECORD_TOTAL);
	ck_assert_uint_eq(answer.seq, 1);
	ck_assert_uint_eq(answer.block, 0);
	/* Judged again, and worse: it is the same cut. */
	record.block = 1;
	ck_assert_int_eq(ask(fd, &record, &answer), 0);
	ck_assert_uint_eq(answer.seq, 1);
	ck_assert_uint_eq(answer.block, 1);
	close(fd);
	server_free(&f);
}
END_TEST

START_TEST(the_server_drops_what_cannot_be)
{
	struct record hello = make(RECORD_HELLO, 0, 1, BLOCKS, 0), answer;
	const struct record bad[] = {
		hello,
		make(RECORD_INTENT, 0, 2, 0, 1),
		make(RECORD_INTENT, 0, 1, BLOCKS, 1),
		make(RECORD_INTENT, 1, 1, 0, 1),
		make(RECORD_ACK, 0, 1, 0, 0),
		make(RECORD_RESULT, 0, 0, 0, 0),
		make(RECORD_OK, 0, 0, 0, 0),
		make(RECORD_FETCH, 0, 0, 0, 0),
	};
	unsigned char junk[5000];
	struct fixture f;
	uint64_t count;
	size_t i;
	int fd;

	server_new(&f);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fd = try_connect(f.port);
		hello.session[0] = (uint8_t)i;
		ck_assert_int_eq(ask(fd, &hello, &answer), 0);
		ck_assert_msg(ask(fd, &bad[i], &answer) == -ECONNRESET, "record %zu", i);
		close(fd);
	}
	/* A session that is there already cannot be taken over. */
	fd = try_connect(f.port);
	ck_assert_int_eq(ask(fd, &hello, &answer), -ECONNRESET);
	close(fd);
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (unsigned char)(i * 7 + 1);
	fd = try_connect(f.port);
	ck_assert_int_gt(send(fd, junk, sizeof(junk), MSG_NOSIGNAL), 0);
	ck_assert_int_eq(record_receive(fd, &answer), -ECONNRESET);
	close(fd);
	/* And it lives, with nothing of that in the last session. */
	fd = try_connect(f.port);
	answer = fetch(fd, &count);
	ck_assert_uint_eq(count, 1);
	close(fd);
	server_free(&f);
}
END_TEST

START_TEST(a_file_that_is_no_log_is_left_alone)
{
	char path[] = "/tmp/powercut-XXXXXX", text[200] = "", back[200];
	struct powercut_options options = { .quiet = true, .log = path, .port = "0" };
	int fd = mkstemp(path);

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(write(fd, text, sizeof(text)), sizeof(text));
	ck_assert_int_eq(powercut_serve(&options), POWERCUT_FAILED);
	ck_assert_int_eq(pread(fd, back, sizeof(back), 0), sizeof(back));
	ck_assert_mem_eq(text, back, sizeof(text));
	close(fd);
	unlink(path);
}
END_TEST

SUITE("powercut", crc32c_is_castagnoli, a_record_comes_back_as_it_was, no_changed_bit_is_believed,
      fields_that_cannot_be_are_refused, a_sector_tells_where_it_belongs, each_fate_has_its_name,
      what_was_in_flight_may_be_there_or_not,
      an_acknowledgement_covers_its_own_writer_up_to_its_number, a_log_that_cannot_be_is_refused,
      the_server_keeps_what_it_confirmed, the_server_drops_what_cannot_be,
      a_file_that_is_no_log_is_left_alone)
