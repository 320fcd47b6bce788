/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MODE SENSE data. SPC-6 7.5. */
#include <errno.h>

#include "mode.h"

int wc_mode_find(const uint8_t *data, size_t len, bool six, uint8_t code, struct wc_mode *mode)
{
	size_t header = six ? 4 : 8;
	size_t total, pos;

	if (len < header)
		return -EBADMSG;
	/*
	 * Some Initio USB bridges send the page without the header in front of it;
	 * the kernel knows them by these two bytes (scsi_mode_sense()).
	 */
	if (data[0] == 0x86 && data[1] == 0x0b && code == MODE_PAGE_RBC) {
		total = len < 13 ? len : 13;
		pos = 0;
	} else {
		size_t descriptors = six ? data[3] : data[6] << 8 | data[7];

		/* MODE DATA LENGTH does not count itself. */
		total = six ? data[0] + 1u : (data[0] << 8 | data[1]) + 2u;
		if (total > len)
			total = len;
		pos = header + descriptors;
	}
	if (pos > total)
		return total > header ? -EBADMSG : -ENODATA;
	while (total - pos >= 2) {
		bool subpage = data[pos] & 0x40;
		size_t size;

		if (subpage && total - pos < 4)
			return -EBADMSG;
		size = subpage ? 4u + (data[pos + 2] << 8 | data[pos + 3]) : 2u + data[pos + 1];
		if (!subpage && (data[pos] & 0x3f) == code) {
			mode->page = pos;
			mode->complete = size <= total - pos;
			mode->page_len = mode->complete ? size : total - pos;
			return 0;
		}
		if (size > total - pos)
			break;
		pos += size;
	}
	return -ENODATA;
}
