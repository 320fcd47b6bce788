/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of wcbench powercut tell each other, and what the log keeps: records of one
 * size, each in a frame of its length and its CRC. The log is the same frames, one after the
 * other; where a frame is not whole, the log ends.
 */
#ifndef WCBENCH_POWERCUT_RECORD_H
#define WCBENCH_POWERCUT_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum record_type {
	/* From run, and kept in the log. */
	RECORD_HELLO = 1, /* a writer begins: mode, block_size, block: how many, seq: writers,
			     gen: the boot that it runs in */
	RECORD_INTENT = 2, /* write seq is about to put generation gen into block */
	RECORD_ACK = 3, /* all writes up to seq were reported done, and durable where asked */
	RECORD_BYE = 4, /* the writer ends by itself */
	/* From verify. */
	RECORD_FETCH = 5, /* the last session of this name, please */
	RECORD_RESULT = 6, /* seq: acknowledged, block: of them lost, gen: blocks in error; kept */
	/* From serve. */
	RECORD_OK = 7, /* everything up to seq is in the log */
	RECORD_DONE = 8, /* that was the session; seq: how many records */
	RECORD_TOTAL = 9 /* seq: cuts judged, block: of them with errors */
};

enum sync_mode {
	SYNC_FDATASYNC = 1,
	SYNC_DSYNC = 2,
	SYNC_FLUSH_EVERY = 3,
	SYNC_NONE = 4
};

struct record {
	uint8_t type;
	uint8_t mode;
	uint16_t writer;
	uint32_t block_size;
	uint8_t session[16];
	char name[16]; /* of the series that a session is in; NUL at its end */
	uint64_t seq, block, gen;
	uint64_t time; /* nanoseconds of the server's monotonic clock */
};

#define RECORD_VERSION 1
#define RECORD_SIZE 72
#define FRAME_SIZE (8 + RECORD_SIZE)

#define POWERCUT_BLOCKS_MOST (1u << 20)
#define POWERCUT_BLOCK_MOST (1u << 20)
#define POWERCUT_WRITERS_MOST 64

/* crc32c() - Castagnoli's CRC-32 (RFC 3720 B.4); @crc: 0, or that of what comes before */
uint32_t crc32c(uint32_t crc, const void *data, size_t length);

void record_encode(const struct record *record, unsigned char frame[FRAME_SIZE]);

/* record_decode() - Return: 0, -EBADMSG where length, CRC or a field is not what it can be. */
int record_decode(const unsigned char frame[FRAME_SIZE], struct record *record);

/* record_send() - @n records at once. Return: 0 or negative errno. */
int record_send(int fd, const struct record *record, size_t n);

/*
 * record_receive() - wait for one, as long as the socket's SO_RCVTIMEO
 * Return: 0, -ECONNRESET at the end, -ETIMEDOUT, -EBADMSG, or what recv(2) says.
 */
int record_receive(int fd, struct record *record);

/*
 * record_read() - the record at @offset of a log
 * Return: 1; 0 at the end, and where no whole record is; negative errno.
 */
int record_read(int fd, uint64_t offset, struct record *record);

#endif
