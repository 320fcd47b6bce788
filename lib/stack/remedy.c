/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands that mend a layer of the device mapper. */
#include <stdio.h>

#include "stack.h"

void wc_shell_word(const char *word, char *out, size_t size)
{
	size_t n = 0;

	out[n++] = '\'';
	for (; *word && n < size - 6; word++) {
		if (*word == '\'')
			n += snprintf(out + n, size - n, "'\\''");
		else
			out[n++] = *word;
	}
	out[n++] = '\'';
	out[n] = '\0';
}

/*
 * The device mapper looks at the disks below when a table is loaded (drivers/md/dm-table.c
 * dm_table_set_restrictions()), and never again; resume
 * puts a loaded one in the place of the other. The table of a LUKS2 volume names a key
 * that is gone from the keyring once it is loaded: only cryptsetup can load it again.
 */
void wc_stack_dm_remedy(const char *label, bool is_luks, char *out, size_t size)
{
	char word[300];

	wc_shell_word(label, word, sizeof(word));
	if (is_luks)
		snprintf(out, size, "cryptsetup refresh %s", word);
	else
		snprintf(out, size,
			 "dmsetup table --showkeys %s | dmsetup load %s && dmsetup resume %s", word,
			 word, word);
}
