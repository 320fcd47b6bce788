/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a file of hdparm, smartd and udisks: read to its end, or as far as it goes. */
#include <stdint.h>
#include <stdlib.h>

#include "others.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wcache_others *others = calloc(1, sizeof(*others));
	const char *text = (const char *)data;

	if (!others || wc_others_parse_hdparm(others, "h", text, size) ||
	    wc_others_parse_smartd(others, "s", text, size) ||
	    wc_others_parse_udisks(others, "u", "id", text, size))
		abort();
	for (size_t i = 0; i < others->n; i++)
		if (others->entry[i].setting && !others->entry[i].line)
			abort();
	wcache_others_free(others);
	return 0;
}
