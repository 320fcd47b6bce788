/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "powercut-record.h"

uint32_t crc32c(uint32_t crc, const void *data, size_t length)
{
	/* Of each half byte: reversed polynomial 0x82f63b78. */
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	const unsigned char *at = data;

	crc = ~crc;
	for (; length; length--) {
		crc ^= *at++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static void put32(unsigned char *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static void put64(unsigned char *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get32(const unsigned char *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint64_t get64(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

void record_encode(const struct record *record, unsigned char frame[FRAME_SIZE])
{
	unsigned char *body = frame + 8;

	body[0] = record->type | RECORD_VERSION << 4;
	body[1] = record->mode;
	body[2] = (unsigned char)record->writer;
	body[3] = (unsigned char)(record->writer >> 8);
	put32(body + 4, record->block_size);
	memcpy(body + 8, record->session, 16);
	memcpy(body + 24, record->name, 16);
	put64(body + 40, record->seq);
	put64(body + 48, record->block);
	put64(body + 56, record->gen);
	put64(body + 64, record->time);
	put32(frame, RECORD_SIZE);
	put32(frame + 4, crc32c(0, body, RECORD_SIZE));
}

static bool hello_is_sane(const struct record *record)
{
	if (record->mode < SYNC_FDATASYNC || record->mode > SYNC_NONE)
		return false;
	if (record->block_size < 512 || record->block_size > POWERCUT_BLOCK_MOST ||
	    record->block_size % 512)
		return false;
	return record->block >= 1 && record->block <= POWERCUT_BLOCKS_MOST && record->seq >= 1 &&
	       record->seq <= POWERCUT_WRITERS_MOST && record->writer < record->seq &&
	       record->seq <= record->block;
}

int record_decode(const unsigned char frame[FRAME_SIZE], struct record *record)
{
	const unsigned char *body = frame + 8;
	struct record r;

	if (get32(frame) != RECORD_SIZE || get32(frame + 4) != crc32c(0, body, RECORD_SIZE))
		return -EBADMSG;
	r.type = body[0] & 15;
	r.mode = body[1];
	r.writer = (uint16_t)(body[2] | body[3] << 8);
	r.block_size = get32(body + 4);
	memcpy(r.session, body + 8, 16);
	memcpy(r.name, body + 24, 16);
	r.seq = get64(body + 40);
	r.block = get64(body + 48);
	r.gen = get64(body + 56);
	r.time = get64(body + 64);
	if (body[0] >> 4 != RECORD_VERSION || r.type < RECORD_HELLO || r.type > RECORD_TOTAL ||
	    r.name[15] != '\0' || r.writer >= POWERCUT_WRITERS_MOST)
		return -EBADMSG;
	if (r.type == RECORD_HELLO && !hello_is_sane(&r))
		return -EBADMSG;
	*record = r;
	return 0;
}

int record_send(int fd, const struct record *record, size_t n)
{
	unsigned char frames[8 * FRAME_SIZE];
	size_t i, at = 0;
	ssize_t sent;

	if (n > sizeof(frames) / FRAME_SIZE)
		return -EINVAL;
	for (i = 0; i < n; i++)
		record_encode(&record[i], frames + i * FRAME_SIZE);
	while (at < n * FRAME_SIZE) {
		sent = send(fd, frames + at, n * FRAME_SIZE - at, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		at += (size_t)sent;
	}
	return 0;
}

int record_receive(int fd, struct record *record)
{
	unsigned char frame[FRAME_SIZE];
	size_t at = 0;
	ssize_t n;

	while (at < sizeof(frame)) {
		n = recv(fd, frame + at, sizeof(frame) - at, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (n == 0)
			return -ECONNRESET;
		at += (size_t)n;
	}
	return record_decode(frame, record);
}

int record_read(int fd, uint64_t offset, struct record *record)
{
	unsigned char frame[FRAME_SIZE];
	size_t at = 0;
	ssize_t n;

	while (at < sizeof(frame)) {
		n = pread(fd, frame + at, sizeof(frame) - at, (off_t)(offset + at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		at += (size_t)n;
	}
	return record_decode(frame, record) == 0;
}
