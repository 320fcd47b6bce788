/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "powercut.h"
#include "powercut-judge.h"

/* Below this many cuts "fewer than 3/n" says next to nothing. */
#define CUTS_WANTED 20

static int fetch(int socket, const struct powercut_options *options, struct history *history)
{
	struct record record = { .type = RECORD_FETCH };
	uint64_t n = 0;
	int r;

	memcpy(record.name, options->name, sizeof(record.name));
	r = record_send(socket, &record, 1);
	while (r == 0) {
		r = record_receive(socket, &record);
		if (r == 0 && record.type == RECORD_DONE)
			return record.seq == n ? 0 : -EBADMSG;
		if (r == 0 && history->begun &&
		    memcmp(record.session, history->hello.session, 16) != 0)
			r = -EBADMSG;
		if (r == 0)
			r = history_add(history, &record);
		n++;
	}
	return r;
}

static int look(int fd, const struct history *history, uint64_t *found, struct judgement *judgement)
{
	uint32_t size = history->hello.block_size;
	unsigned char *data = aligned_alloc(4096, (size + 4095u) & ~4095u);
	uint64_t block;
	ssize_t n;

	if (!data)
		return -ENOMEM;
	for (block = 0; block < history->hello.block; block++) {
		do {
			n = pread(fd, data, size, (off_t)(block * size));
		} while (n < 0 && errno == EINTR);
		/* A drive that is gone is not one that lost its data. */
		if (n < 0 && errno != EIO && errno != ENODATA && errno != EILSEQ) {
			free(data);
			return -errno;
		}
		if (n == (ssize_t)size)
			judge_block(history, block, data, &found[block], judgement);
		else
			judgement->unreadable++;
	}
	judge_writes(history, found, judgement);
	free(data);
	return 0;
}

static int report_result(int socket, const struct history *history,
			 const struct judgement *judgement, struct record *total)
{
	struct record record = history->hello;
	int r;

	record.type = RECORD_RESULT;
	record.writer = 0;
	record.seq = judgement->acked;
	record.block = judgement->acked_lost;
	record.gen = judge_errors(judgement);
	r = record_send(socket, &record, 1);
	if (r == 0)
		r = record_receive(socket, total);
	if (r == 0 && total->type != RECORD_TOTAL)
		r = -EBADMSG;
	return r;
}

static void print_text(const struct history *history, const struct judgement *j,
		       const struct record *total)
{
	printf("%s, %" PRIu64 " blocks of %u bytes, %u writers\n",
	       powercut_mode_to_string(history->hello.mode), history->hello.block,
	       history->hello.block_size, history->writers);
	printf("writes: %" PRIu64 " acknowledged, %" PRIu64 " of them lost, %" PRIu64
	       " in flight\n",
	       j->acked, j->acked_lost, j->in_flight);
	if (j->acked_lost)
		printf("the oldest of them was acknowledged %.3f s before the last one\n",
		       (double)j->oldest_lost / 1e9);
	printf("blocks: %" PRIu64 " intact, %" PRIu64 " lost, %" PRIu64 " stale, %" PRIu64
	       " torn, %" PRIu64 " misdirected, %" PRIu64 " corrupt, %" PRIu64 " future, %" PRIu64
	       " unreadable",
	       j->intact, j->lost, j->stale, j->torn, j->misdirected, j->corrupt, j->future,
	       j->unreadable);
	if (j->torn_in_flight)
		printf("; %" PRIu64 " torn by a write in flight, which is no error",
		       j->torn_in_flight);
	putchar('\n');
	if (history->ended) {
		puts("the session ended by itself: this was no cut, and is not counted");
		return;
	}
	if (history->hello.gen == powercut_boot())
		puts("this machine was not restarted: a cut only if the drive alone lost power");
	printf("cuts judged: %" PRIu64 ", with errors: %" PRIu64 "\n", total->seq, total->block);
	if (total->block)
		return;
	if (total->seq < CUTS_WANTED)
		printf("no error yet; that a cut does no harm is known after some %d cuts\n",
		       CUTS_WANTED);
	if (total->seq >= 3)
		printf("at 95 %% confidence less than %.3g of all cuts lose anything\n",
		       3.0 / (double)total->seq);
}

static void add(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static void print_json(const struct history *history, const struct judgement *j,
		       const struct record *total)
{
	struct json_object *root = json_object_new_object();
	struct json_object *writes = json_object_new_object();
	struct json_object *blocks = json_object_new_object();
	struct json_object *cuts = json_object_new_object();
	bool bound = !history->ended && total->block == 0 && total->seq >= 3;

	json_object_object_add(root, "format_version", json_object_new_int(1));
	json_object_object_add(
		root, "mode", json_object_new_string(powercut_mode_to_string(history->hello.mode)));
	add(root, "block_size", history->hello.block_size);
	add(root, "writers", history->writers);
	json_object_object_add(root, "cut", json_object_new_boolean(!history->ended));
	json_object_object_add(root, "restarted",
			       json_object_new_boolean(history->hello.gen != powercut_boot()));
	add(writes, "acknowledged", j->acked);
	add(writes, "lost", j->acked_lost);
	add(writes, "in_flight", j->in_flight);
	add(writes, "oldest_lost_ns", j->oldest_lost);
	json_object_object_add(root, "writes", writes);
	add(blocks, "intact", j->intact);
	add(blocks, "lost", j->lost);
	add(blocks, "stale", j->stale);
	add(blocks, "torn", j->torn);
	add(blocks, "misdirected", j->misdirected);
	add(blocks, "corrupt", j->corrupt);
	add(blocks, "future", j->future);
	add(blocks, "unreadable", j->unreadable);
	add(blocks, "torn_in_flight", j->torn_in_flight);
	json_object_object_add(root, "blocks", blocks);
	add(cuts, "judged", total->seq);
	add(cuts, "with_errors", total->block);
	json_object_object_add(cuts, "bound_95",
			       bound ? json_object_new_double(3.0 / (double)total->seq) : NULL);
	json_object_object_add(root, "cuts", cuts);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
}

static int open_to_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), direct;

	if (fd < 0)
		return -errno;
	direct = powercut_direct(fd, 0);
	close(fd);
	return direct;
}

static int judge(int socket, int fd, const struct powercut_options *options,
		 struct history *history)
{
	struct judgement judgement = { 0 };
	struct record total = { 0 };
	uint64_t *found;
	int r;

	r = fetch(socket, options, history);
	if (r < 0) {
		fprintf(stderr, "wcbench: the log cannot be had from the server: %s\n",
			strerror(-r));
		return POWERCUT_FAILED;
	}
	if (!history->begun) {
		fprintf(stderr, "wcbench: the server has no session '%s'\n", options->name);
		return POWERCUT_FAILED;
	}
	found = calloc(history->hello.block, sizeof(*found));
	r = found ? look(fd, history, found, &judgement) : -ENOMEM;
	free(found);
	if (r < 0) {
		fprintf(stderr, "wcbench: %s: %s\n", options->target, strerror(-r));
		return POWERCUT_FAILED;
	}
	if (!history->ended && judgement.acked) {
		r = report_result(socket, history, &judgement, &total);
		if (r < 0) {
			fprintf(stderr, "wcbench: the result is not in the server's log: %s\n",
				strerror(-r));
			return POWERCUT_FAILED;
		}
	}
	if (options->json)
		print_json(history, &judgement, &total);
	else
		print_text(history, &judgement, &total);
	if (judge_errors(&judgement))
		return POWERCUT_LOSS;
	return judgement.acked ? 0 : POWERCUT_UNKNOWN;
}

int powercut_verify(const struct powercut_options *options)
{
	struct history history = { 0 };
	int socket, fd, r;

	fd = open_to_read(options->target);
	if (fd < 0) {
		fprintf(stderr, "wcbench: %s: cannot be read past the page cache: %s\n",
			options->target, strerror(-fd));
		return POWERCUT_FAILED;
	}
	socket = powercut_connect(options);
	r = POWERCUT_FAILED;
	if (socket >= 0) {
		r = judge(socket, fd, options, &history);
		close(socket);
	}
	close(fd);
	history_free(&history);
	return r;
}
