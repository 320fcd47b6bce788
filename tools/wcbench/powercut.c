/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "options.h"
#include "powercut.h"

static const char usage[] =
	"usage: wcbench powercut serve --log FILE [ADDRESS:]PORT\n"
	"       wcbench powercut run [OPTION]... [ADDRESS:]PORT TARGET\n"
	"       wcbench powercut verify [OPTION]... [ADDRESS:]PORT TARGET\n"
	"Does what a drive acknowledged survive a power cut? Start serve on another machine, run\n"
	"on this one, cut the power, and verify.\n"
	"\n"
	"  serve    ADDRESS to listen on; default 127.0.0.1\n"
	"      --log FILE            what was written and acknowledged; appended to\n"
	"  run      TARGET: a new file, or with --destroy-data a device or file\n"
	"      --mode MODE           fdatasync (default), dsync, flush-every:K, none\n"
	"      --writers N           at once (1), each with blocks of its own\n"
	"      --blocks N            (4096)\n"
	"      --block-size SIZE     (4096)\n"
	"      --time SECONDS        end without a cut\n"
	"      --destroy-data        TARGET is overwritten\n"
	"  run, verify\n"
	"      --name NAME           of the series that a session belongs to, as the drive's\n"
	"  verify\n"
	"  -j, --json\n"
	"  -q, --quiet\n"
	"  -h, --help\n"
	"Exit status of verify: 0 nothing lost, 1 failed, 2 usage, 3 something lost, 4 nothing was\n"
	"acknowledged.\n";

static const char *const modes[] = { NULL, "fdatasync", "dsync", "flush-every", "none" };

const char *powercut_mode_to_string(unsigned int mode)
{
	return mode >= SYNC_FDATASYNC && mode <= SYNC_NONE ? modes[mode] : "unknown";
}

uint64_t powercut_boot(void)
{
	char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	return n > 0 ? crc32c(0, text, (size_t)n) : 0;
}

int powercut_direct(int fd, int flags)
{
	char path[64];
	int mode = fcntl(fd, F_GETFL), direct;

	if (mode < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	direct = open(path, (mode & O_ACCMODE) | O_DIRECT | O_CLOEXEC | flags);
	return direct < 0 ? -errno : direct;
}

int powercut_connect(const struct powercut_options *options)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const struct timeval limit = { .tv_sec = 30 };
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
		/* The limit of sending holds for connect(2) too (socket(7)). */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
			break;
		r = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(list);
	if (fd < 0)
		fprintf(stderr, "wcbench: no server at %s:%s: %s\n", host, options->port,
			strerror(-r));
	return fd < 0 ? r : fd;
}

static int parse_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number == 0 || number > most)
		return -EINVAL;
	*value = number;
	return 0;
}

static int parse_mode(const char *text, struct powercut_options *options)
{
	uint64_t every;
	unsigned int i;

	if (strncmp(text, "flush-every:", 12) == 0) {
		if (parse_number(text + 12, 1000000, &every) < 0)
			return -EINVAL;
		options->mode = SYNC_FLUSH_EVERY;
		options->flush_every = (unsigned int)every;
		return 0;
	}
	for (i = SYNC_FDATASYNC; i <= SYNC_NONE; i++)
		if (i != SYNC_FLUSH_EVERY && strcmp(text, modes[i]) == 0) {
			options->mode = i;
			return 0;
		}
	return -EINVAL;
}

/* "PORT", "ADDRESS:PORT", "[IPV6]:PORT"; @text is cut into its parts. */
static int parse_address(char *text, struct powercut_options *options)
{
	char *colon = strrchr(text, ':'), *end;

	options->port = colon ? colon + 1 : text;
	if (!*options->port)
		return -EINVAL;
	if (!colon)
		return 0;
	*colon = '\0';
	if (*text == '[') {
		end = strchr(text, ']');
		if (!end || end[1])
			return -EINVAL;
		*end = '\0';
		text++;
	}
	options->host = *text ? text : NULL;
	return 0;
}

enum {
	OPT_LOG = 256,
	OPT_MODE,
	OPT_WRITERS,
	OPT_BLOCKS,
	OPT_BLOCK_SIZE,
	OPT_TIME,
	OPT_NAME,
	OPT_DESTROY
};

static int parse_option(int option, const char *text, struct powercut_options *options)
{
	uint64_t value;
	char *end;
	int r;

	switch (option) {
	case OPT_LOG:
		options->log = text;
		return 0;
	case OPT_MODE:
		return parse_mode(text, options);
	case OPT_WRITERS:
		r = parse_number(text, POWERCUT_WRITERS_MOST, &value);
		if (r == 0)
			options->writers = (unsigned int)value;
		return r;
	case OPT_BLOCKS:
		return parse_number(text, POWERCUT_BLOCKS_MOST, &options->blocks);
	case OPT_BLOCK_SIZE:
		if (options_size(text, &value) < 0 || value < 512 || value > POWERCUT_BLOCK_MOST ||
		    value % 512)
			return -EINVAL;
		options->block_size = (uint32_t)value;
		return 0;
	case OPT_TIME:
		options->time = strtod(text, &end);
		return end == text || *end || !(options->time > 0 && options->time < 1e9) ? -EINVAL
											  : 0;
	case OPT_NAME:
		if (strlen(text) >= sizeof(options->name))
			return -EINVAL;
		strcpy(options->name, text);
		return 0;
	case OPT_DESTROY:
		options->destroy = true;
		return 0;
	case 'j':
		options->json = true;
		return 0;
	default:
		options->quiet = true;
		return 0;
	}
}

static int misused(const char *what)
{
	fprintf(stderr, "wcbench: powercut: %s\nwcbench: try 'wcbench powercut --help'\n", what);
	return POWERCUT_USAGE;
}

int powercut_main(int argc, char *argv[])
{
	static const struct option long_options[] = {
		{ "log", required_argument, NULL, OPT_LOG },
		{ "mode", required_argument, NULL, OPT_MODE },
		{ "writers", required_argument, NULL, OPT_WRITERS },
		{ "blocks", required_argument, NULL, OPT_BLOCKS },
		{ "block-size", required_argument, NULL, OPT_BLOCK_SIZE },
		{ "time", required_argument, NULL, OPT_TIME },
		{ "name", required_argument, NULL, OPT_NAME },
		{ "destroy-data", no_argument, NULL, OPT_DESTROY },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	struct powercut_options options = {
		.mode = SYNC_FDATASYNC,
		.writers = 1,
		.blocks = 4096,
		.block_size = 4096,
	};
	const char *part;
	char what[64];
	int option;

	while ((option = getopt_long(argc, argv, "jqh", long_options, NULL)) >= 0) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (option == '?')
			return POWERCUT_USAGE;
		if (parse_option(option, optarg, &options) < 0) {
			snprintf(what, sizeof(what), "cannot be: '%.40s'", optarg);
			return misused(what);
		}
	}
	if (argc - optind < 2)
		return misused("serve, run or verify, and where the server is, are wanted");
	part = argv[optind];
	if (parse_address(argv[optind + 1], &options) < 0)
		return misused("[ADDRESS:]PORT is wanted");
	if (strcmp(part, "serve") == 0) {
		if (argc - optind != 2 || !options.log)
			return misused("serve wants --log FILE and [ADDRESS:]PORT");
		return powercut_serve(&options);
	}
	if (argc - optind != 3)
		return misused("one TARGET is wanted");
	options.target = argv[optind + 2];
	if (options.writers > options.blocks)
		return misused("each writer wants at least one block");
	if (strcmp(part, "run") == 0)
		return powercut_run(&options);
	if (strcmp(part, "verify") == 0)
		return powercut_verify(&options);
	return misused("serve, run or verify is wanted");
}
