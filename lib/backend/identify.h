/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IDENTIFY DEVICE data, ACS-5 7.13. */
#ifndef WC_IDENTIFY_H
#define WC_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wcache.h>

#define WC_IDENTIFY_SIZE 512

struct wcache_identify {
	uint16_t word[256];
	char model[41], firmware[9], serial[21];
	enum wcache_answer checksum;
};

void wc_identify_decode(const uint8_t data[WC_IDENTIFY_SIZE], struct wcache_identify *id);

/* Words 82, 83 and words 85 to 87 carry their validity in 83 and 87, bits 15:14 = 01b. */
bool wc_identify_reports_features(const struct wcache_identify *id);

/* SCT Command Transport with Feature Control (word 206 bits 0 and 4), drive not locked. */
bool wc_identify_has_sct_feature_control(const struct wcache_identify *id);

/* All zero or all ones: nothing answered. */
bool wc_identify_is_blank(const uint8_t data[WC_IDENTIFY_SIZE]);

#endif
