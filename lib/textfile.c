/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text file of a site, read whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "textfile.h"

#define MAX_FILE (1024 * 1024)

int wc_textfile_read(const char *path, char **text, size_t *size, const char **why)
{
	struct stat st;
	ssize_t n = 0;
	size_t got = 0;
	char *buf;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		err = -errno;
		goto out;
	}
	if (S_ISDIR(st.st_mode) || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))) {
		*why = "not a file";
		err = -EBADMSG;
		goto out;
	}
	buf = malloc(MAX_FILE + 1);
	if (!buf) {
		err = -ENOMEM;
		goto out;
	}
	while (got <= MAX_FILE && (n = read(fd, buf + got, MAX_FILE + 1 - got)) > 0)
		got += n;
	if (n < 0) {
		err = -errno;
	} else if (got > MAX_FILE) {
		*why = "larger than 1 MiB: no policy";
		err = -EBADMSG;
	}
	if (err < 0) {
		free(buf);
		goto out;
	}
	*text = buf;
	*size = got;
out:
	close(fd);
	return err;
}
