/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "powercut.h"

#define CONNECTIONS 128
#define FRAMES 64 /* read from one connection at a time */
/* Who connects and says nothing is dropped; so is a machine without power. */
#define SILENT_NS (10ull * 1000 * 1000 * 1000)

struct connection {
	int fd;
	uint64_t since;
	unsigned char buffer[FRAMES * FRAME_SIZE];
	size_t fill;
	struct record hello; /* type 0 until it came; of verify: what was fetched */
	uint64_t seq; /* of its last intent */
	struct record answer; /* type 0: none */
	bool drop, total;
};

struct server {
	const struct powercut_options *options;
	int listener, log;
	uint64_t end; /* of the log */
	struct connection *connection[CONNECTIONS];
	size_t n;
	unsigned char batch[CONNECTIONS * FRAMES * FRAME_SIZE];
	size_t fill;
};

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	stop = 1;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool same_session(const struct record *a, const struct record *b)
{
	return memcmp(a->session, b->session, sizeof(a->session)) == 0;
}

/* A tail that is less than a record is what a crash left of one that nobody relied on. */
static int log_open(struct server *server)
{
	const char *path = server->options->log;
	struct record record;
	struct stat st;
	int r;

	server->log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	if (server->log < 0 || fstat(server->log, &st) < 0) {
		fprintf(stderr, "wcbench: %s: %m\n", path);
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		fprintf(stderr, "wcbench: %s: not a file\n", path);
		return -EINVAL;
	}
	if (flock(server->log, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		fprintf(stderr, "wcbench: %s: another server writes it\n", path);
		return -EBUSY;
	}
	while ((r = record_read(server->log, server->end, &record)) > 0)
		server->end += FRAME_SIZE;
	if (r == 0 && (uint64_t)st.st_size >= server->end + FRAME_SIZE) {
		fprintf(stderr, "wcbench: %s: no log of powercut, or damaged at byte %llu\n", path,
			(unsigned long long)server->end);
		return -EBADMSG;
	}
	if (r == 0 && (ftruncate(server->log, (off_t)server->end) < 0 || fsync(server->log) < 0))
		r = -errno;
	if (r < 0)
		fprintf(stderr, "wcbench: %s: %s\n", path, strerror(-r));
	return r;
}

/* What was taken into the batch is on the log's medium before anybody is told. */
static int log_write(struct server *server)
{
	size_t at = 0;
	ssize_t n;

	while (at < server->fill) {
		n = write(server->log, server->batch + at, server->fill - at);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			at += (size_t)n;
	}
	if (server->fill && fdatasync(server->log) < 0)
		return -errno;
	server->end += server->fill;
	server->fill = 0;
	return 0;
}

static void log_add(struct server *server, struct record *record)
{
	record->time = now();
	record_encode(record, server->batch + server->fill);
	server->fill += FRAME_SIZE;
}

static bool log_has_writer(const struct server *server, const struct record *hello)
{
	struct record record;
	uint64_t at;
	size_t i;

	for (i = 0; i < server->n; i++)
		if (server->connection[i]->hello.type == RECORD_HELLO &&
		    same_session(&server->connection[i]->hello, hello) &&
		    server->connection[i]->hello.writer == hello->writer)
			return true;
	for (at = 0; at < server->end && record_read(server->log, at, &record) > 0;
	     at += FRAME_SIZE)
		if (record.type == RECORD_HELLO && same_session(&record, hello) &&
		    record.writer == hello->writer)
			return true;
	return false;
}

/* The last session that began under @name. Return: whether there is one. */
static bool log_find(const struct server *server, const char *name, struct record *found)
{
	struct record record;
	bool any = false;
	uint64_t at;

	for (at = 0; at < server->end && record_read(server->log, at, &record) > 0;
	     at += FRAME_SIZE) {
		if (record.type != RECORD_HELLO || strcmp(record.name, name) != 0)
			continue;
		*found = record;
		any = true;
	}
	return any;
}

/* Of each session of the same name and mode the last result counts. */
static void log_total(const struct server *server, const struct record *hello, struct record *total)
{
	struct record record, later;
	uint64_t at, after;

	*total = (struct record){ .type = RECORD_TOTAL };
	for (at = 0; at < server->end && record_read(server->log, at, &record) > 0;
	     at += FRAME_SIZE) {
		bool last = true;

		if (record.type != RECORD_RESULT || record.mode != hello->mode ||
		    strcmp(record.name, hello->name) != 0)
			continue;
		for (after = at + FRAME_SIZE;
		     last && after < server->end && record_read(server->log, after, &later) > 0;
		     after += FRAME_SIZE)
			last = later.type != RECORD_RESULT || !same_session(&later, &record);
		if (!last)
			continue;
		total->seq++;
		if (record.block || record.gen)
			total->block++;
	}
}

/* A process of its own: one that reads slowly holds nobody up. */
static void send_session(const struct server *server, const struct connection *connection)
{
	struct record record, done = { .type = RECORD_DONE };
	uint64_t at;

	for (at = 0; connection->hello.type && at < server->end &&
		     record_read(server->log, at, &record) > 0;
	     at += FRAME_SIZE) {
		if (record.type > RECORD_BYE || !same_session(&record, &connection->hello))
			continue;
		if (record_send(connection->fd, &record, 1) < 0)
			_exit(1);
		done.seq++;
	}
	_exit(record_send(connection->fd, &done, 1) < 0);
}

static int take_fetch(struct server *server, struct connection *connection,
		      const struct record *record)
{
	struct record found = { 0 };
	pid_t pid;

	if (connection->hello.type || connection->total)
		return -EBADMSG;
	if (log_find(server, record->name, &found)) {
		connection->hello = found;
		connection->hello.type = RECORD_FETCH;
	}
	connection->total = true;
	pid = fork();
	if (pid == 0)
		send_session(server, connection);
	return pid < 0 ? -errno : 0;
}

static int take(struct server *server, struct connection *connection, struct record *record)
{
	struct record *hello = &connection->hello;

	if (record->type == RECORD_FETCH)
		return take_fetch(server, connection, record);
	if (record->type == RECORD_HELLO) {
		if (hello->type || connection->total || log_has_writer(server, record))
			return -EBADMSG;
		*hello = *record;
		log_add(server, record);
		connection->answer = (struct record){ .type = RECORD_OK };
		if (!server->options->quiet && record->writer == 0)
			fprintf(stderr, "wcbench: '%s' begins: %s, %llu blocks of %u bytes\n",
				record->name, powercut_mode_to_string(record->mode),
				(unsigned long long)record->block, record->block_size);
		return 0;
	}
	if (!same_session(record, hello) || strcmp(record->name, hello->name) != 0)
		return -EBADMSG;
	if (record->type == RECORD_RESULT) {
		if (hello->type != RECORD_FETCH)
			return -EBADMSG;
		record->mode = hello->mode;
		log_add(server, record);
		connection->answer.type = RECORD_TOTAL;
		return 0;
	}
	if (hello->type != RECORD_HELLO || record->writer != hello->writer)
		return -EBADMSG;
	switch (record->type) {
	case RECORD_INTENT:
		if (record->seq != connection->seq + 1 || record->block >= hello->block)
			return -EBADMSG;
		connection->seq = record->seq;
		break;
	case RECORD_ACK:
		if (record->seq > connection->seq)
			return -EBADMSG;
		break;
	case RECORD_BYE:
		break;
	default:
		return -EBADMSG;
	}
	log_add(server, record);
	if (record->type != RECORD_ACK)
		connection->answer = (struct record){ .type = RECORD_OK, .seq = connection->seq };
	return 0;
}

static void hear(struct server *server, struct connection *connection)
{
	struct record record;
	size_t at = 0;
	ssize_t n;

	n = recv(connection->fd, connection->buffer + connection->fill,
		 sizeof(connection->buffer) - connection->fill, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		connection->drop = true;
		return;
	}
	connection->fill += (size_t)n;
	for (; connection->fill - at >= FRAME_SIZE; at += FRAME_SIZE) {
		if (record_decode(connection->buffer + at, &record) == 0 &&
		    take(server, connection, &record) == 0)
			continue;
		if (!server->options->quiet)
			fputs("wcbench: dropped a connection that sent what cannot be\n", stderr);
		connection->drop = true;
		return;
	}
	connection->fill -= at;
	memmove(connection->buffer, connection->buffer + at, connection->fill);
}

static void welcome(struct server *server)
{
	/* A frame is small: a peer that takes none in this time is none. */
	const struct timeval limit = { .tv_sec = 5 };
	const int on = 1, idle = 10, unanswered = 30000;
	struct connection *connection;
	int fd;

	fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	connection = server->n < CONNECTIONS ? calloc(1, sizeof(*connection)) : NULL;
	if (!connection) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered, sizeof(unanswered));
	connection->fd = fd;
	connection->since = now();
	server->connection[server->n++] = connection;
}

static void answer_and_drop(struct server *server)
{
	uint64_t time = now();
	size_t i, kept = 0;

	for (i = 0; i < server->n; i++) {
		struct connection *connection = server->connection[i];

		if (connection->answer.type == RECORD_TOTAL)
			log_total(server, &connection->hello, &connection->answer);
		if (connection->answer.type &&
		    record_send(connection->fd, &connection->answer, 1) < 0)
			connection->drop = true;
		connection->answer.type = 0;
		if (!connection->hello.type && !connection->total &&
		    time - connection->since > SILENT_NS)
			connection->drop = true;
		if (!connection->drop) {
			server->connection[kept++] = connection;
			continue;
		}
		close(connection->fd);
		free(connection);
	}
	server->n = kept;
}

static int serve(struct server *server)
{
	struct pollfd poll_fd[CONNECTIONS + 1];
	size_t i, n;
	int r = 0;

	while (!stop && r == 0) {
		poll_fd[0] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
		n = server->n;
		for (i = 0; i < n; i++)
			poll_fd[1 + i] = (struct pollfd){
				.fd = server->connection[i]->fd,
				.events = POLLIN,
			};
		if (poll(poll_fd, n + 1, 1000) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		for (i = 0; i < n; i++)
			if (poll_fd[1 + i].revents)
				hear(server, server->connection[i]);
		r = log_write(server);
		if (r == 0)
			answer_and_drop(server);
		if (poll_fd[0].revents)
			welcome(server);
	}
	return r;
}

static int listen_at(const struct powercut_options *options)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	const char *host = options->host ? options->host : "127.0.0.1";
	const int on = 1;
	struct addrinfo *list, *at;
	int r, fd = -1;

	r = getaddrinfo(host, options->port, &hints, &list);
	if (r) {
		fprintf(stderr, "wcbench: %s:%s: %s\n", host, options->port, gai_strerror(r));
		return -EINVAL;
	}
	r = -EADDRNOTAVAIL;
	for (at = list; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, CONNECTIONS) == 0)
			break;
		r = -errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		fprintf(stderr, "wcbench: %s:%s: %s\n", host, options->port, strerror(-r));
	return fd < 0 ? r : fd;
}

int powercut_serve(const struct powercut_options *options)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return POWERCUT_FAILED;
	server->options = options;
	server->log = -1;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	r = log_open(server);
	if (r == 0) {
		server->listener = listen_at(options);
		r = server->listener < 0 ? server->listener : 0;
	}
	if (r == 0) {
		if (!options->quiet)
			fprintf(stderr, "wcbench: ready on %s:%s\n",
				options->host ? options->host : "127.0.0.1", options->port);
		r = serve(server);
		if (r < 0)
			fprintf(stderr, "wcbench: %s: %s\n", options->log, strerror(-r));
		close(server->listener);
	}
	while (server->n) {
		server->n--;
		close(server->connection[server->n]->fd);
		free(server->connection[server->n]);
	}
	if (server->log >= 0)
		close(server->log);
	free(server);
	return r < 0 ? POWERCUT_FAILED : 0;
}
