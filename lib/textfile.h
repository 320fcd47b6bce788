/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text file of a site, read whole. */
#ifndef WC_TEXTFILE_H
#define WC_TEXTFILE_H

#include <stddef.h>

/*
 * The whole of a file, which must be a regular one (or a link to /dev/null: empty). *TEXT is
 * to be freed; it is not ended by a zero. Negative errno; -EBADMSG with the reason in *WHY.
 */
int wc_textfile_read(const char *path, char **text, size_t *size, const char **why);

#endif
