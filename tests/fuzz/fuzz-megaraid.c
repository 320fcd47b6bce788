/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as what a MegaRAID controller tells of its volumes and disks: the names of
 * disks that a frame can address, or an error. The first byte is the volume.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/megaraid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(ssize_t n, char *list, const char *first)
{
	char *save = NULL;
	char *word;

	if (n < 0) {
		if (n != -EBADMSG && n != -ENOENT && n != -EMSGSIZE)
			abort();
		return;
	}
	if ((size_t)n != strlen(list))
		abort();
	word = strtok_r(list, " ", &save);
	if (!word || strcmp(word, first))
		abort();
	while ((word = strtok_r(NULL, " ", &save))) {
		unsigned int host, id;
		int end = 0;

		if (sscanf(word, "megaraid:%u:%u%n", &host, &id, &end) != 2 || word[end] ||
		    host != 7 || id > UINT8_MAX)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char list[1024];

	if (!size)
		return 0;
	check(wc_megaraid_parse_config(data + 1, size - 1, 7, data[0], list, sizeof(list)), list,
	      "volume");
	check(wc_megaraid_parse_list(data + 1, size - 1, 7, list, sizeof(list)), list,
	      "controller");
	return 0;
}
