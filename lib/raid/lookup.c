/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts of a disk to the controller that rules it, or none, with the reason. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "raid.h"

static bool has(const char *s)
{
	return s && *s;
}

/* One of PATTERNS, parted by ",". */
static bool match_any(const char *patterns, const char *value)
{
	char one[64];

	while (*patterns) {
		size_t len = strcspn(patterns, ",");

		if (len < sizeof(one)) {
			memcpy(one, patterns, len);
			one[len] = '\0';
			if (!fnmatch(one, value, 0))
				return true;
		}
		patterns += len + (patterns[len] == ',');
	}
	return false;
}

static bool match_inquiry(const char *patterns, const struct wc_raid_facts *f)
{
	char value[64];

	if (!f->vendor || !f->product)
		return false;
	snprintf(value, sizeof(value), "%.*s|%.*s", 8, f->vendor, 40, f->product);
	return match_any(patterns, value);
}

/* The driver link first: half of the RAID drivers leave proc_name empty. */
static const char *driver_of(const struct wc_raid_facts *f)
{
	if (has(f->driver))
		return f->driver;
	if (has(f->proc_name) && strcmp(f->proc_name, "(null)"))
		return f->proc_name;
	return NULL;
}

static bool fits(const struct wc_raid_row *row, const struct wc_raid_facts *f)
{
	if (!match_any(row->drivers, driver_of(f)))
		return false;
	/* Without INQUIRY strings to go with it a PCI id must be known. */
	if (row->pci && has(f->pci) && !match_any(row->pci, f->pci))
		return false;
	if (row->pci && !has(f->pci) && !row->inquiry)
		return false;
	return !row->inquiry || match_inquiry(row->inquiry, f);
}

static enum wcache_controller_class
by_inquiry(const struct wc_raid_row *row, const struct wc_raid_facts *f, char *why, size_t size)
{
	if (row->volumes && match_inquiry(row->volumes, f)) {
		snprintf(why, size, "driver %s, INQUIRY \"%s\" \"%s\"", driver_of(f), f->vendor,
			 f->product);
		return row->is;
	}
	/* A channel or level that is missing is no proof of a plain disk. */
	if (row->tell == WC_TELL_INQUIRY && has(f->vendor)) {
		snprintf(why, size, "driver %s, INQUIRY \"%s\" is none of its volumes",
			 driver_of(f), f->vendor);
		return row->is_not;
	}
	snprintf(why, size, "driver %s; whether this is a volume of it cannot be told",
		 driver_of(f));
	return WCACHE_CONTROLLER_UNKNOWN;
}

/*
 * hpsa and smartpqi write "N/A" for what is no volume, myrb and myrs "Physical
 * Drive"; volumes have "RAID 1(+0)" and the like, or "JBOD".
 */
static bool is_volume_level(const char *level)
{
	return strcmp(level, "N/A") && strncmp(level, "Physical", 8);
}

static enum wcache_controller_class classify(const struct wc_raid_row *row,
					     const struct wc_raid_facts *f, char *why, size_t size)
{
	switch (row->tell) {
	case WC_TELL_ALWAYS:
		if (row->inquiry)
			snprintf(why, size, "driver %s, INQUIRY \"%s\" \"%s\"", driver_of(f),
				 f->vendor, f->product);
		else if (row->pci)
			snprintf(why, size, "driver %s, PCI id %s", driver_of(f), f->pci);
		else
			snprintf(why, size, "driver %s", driver_of(f));
		return row->is;
	case WC_TELL_CHANNEL:
		if (f->channel == WC_CHANNEL_UNKNOWN)
			return by_inquiry(row, f, why, size);
		snprintf(why, size, "driver %s, SCSI channel %d", driver_of(f), f->channel);
		return f->channel >= row->first_channel && f->channel <= row->last_channel
			       ? row->is
			       : row->is_not;
	case WC_TELL_LEVEL:
		if (!has(f->raid_level))
			return by_inquiry(row, f, why, size);
		snprintf(why, size, "driver %s, raid_level %s", driver_of(f), f->raid_level);
		return is_volume_level(f->raid_level) ? row->is : row->is_not;
	case WC_TELL_INQUIRY:
	case WC_TELL_NOTHING:
		break;
	}
	return by_inquiry(row, f, why, size);
}

const struct wc_raid_row *wc_raid_lookup(const struct wc_raid_facts *f,
					 enum wcache_controller_class *class, char *why,
					 size_t size)
{
	if (!driver_of(f)) {
		snprintf(why, size, "the driver of its host adapter is not known");
		return NULL;
	}
	for (size_t i = 0; i < wc_raid_n_rows; i++) {
		const struct wc_raid_row *row = &wc_raid_rows[i];

		if (!fits(row, f))
			continue;
		if (f->member) {
			snprintf(why, size, "asked through its controller (driver %s)",
				 driver_of(f));
			*class = WCACHE_CONTROLLER_MEMBER;
		} else {
			*class = classify(row, f, why, size);
		}
		return row;
	}
	snprintf(why, size, "driver %s makes no volumes", driver_of(f));
	return NULL;
}
