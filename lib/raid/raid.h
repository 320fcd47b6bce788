/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which controller stands between the kernel and the medium, and what it hides.
 * Facts in, an answer out: nothing here opens a device.
 */
#ifndef WC_RAID_H
#define WC_RAID_H

#include <stdbool.h>

#include <wcache.h>

#define WC_CHANNEL_UNKNOWN (-1)

/* What is known of a disk. NULL, "" and -1: not known. */
struct wc_raid_facts {
	const char *driver; /* "driver" link of the host adapter */
	const char *proc_name; /* of its SCSI host: "(null)" where the driver sets none */
	const char *vendor, *product, *revision; /* INQUIRY */
	const char *raid_level; /* sysfs attribute of hpsa, smartpqi, myrb, myrs */
	const char *pci; /* of the host adapter, "1000:0073:1028:1f4e" */
	int channel; /* C of H:C:T:L */
	bool member; /* asked through its controller */
};

/* How a volume is told from a plain disk on the same host. */
enum wc_raid_tell {
	WC_TELL_ALWAYS = 1, /* every disk of such a host is one */
	WC_TELL_CHANNEL = 2, /* by the SCSI channel, else by INQUIRY */
	WC_TELL_LEVEL = 3, /* by device/raid_level, else by INQUIRY */
	WC_TELL_INQUIRY = 4, /* by INQUIRY, which on such a host is enough */
	WC_TELL_NOTHING = 5, /* nothing known tells */
};

/*
 * A row is chosen by what the host adapter is, in the order of the table; then it
 * says what the disk is. Patterns are shell globs, alternatives parted by ",".
 * An INQUIRY pattern is "VENDOR|PRODUCT", without the padding.
 */
struct wc_raid_row {
	/* choice: all that are given must hold */
	const char *drivers; /* alternatives parted by "," */
	const char *pci; /* as in the facts; no hindrance where the facts have none */
	const char *inquiry;

	/* what the disk is */
	enum wc_raid_tell tell;
	int first_channel, last_channel; /* of volumes, WC_TELL_CHANNEL */
	const char *volumes; /* INQUIRY of volumes */
	enum wcache_controller_class is; /* where it tells so */
	enum wcache_controller_class is_not; /* where it tells otherwise */

	/* what to say */
	const char *family; /* for where the PCI ids have no name */
	const char *hides;
	const char *wce; /* what the cache setting of such a disk means */
	const char *flush; /* where a flush ends */
	enum wcache_answer flush_reaches; /* the medium? */
	const char *tool, *show, *set; /* NULL: none known */
	bool show_verified, set_verified; /* seen in use or in a vendor's output */
	const char *source; /* where the row comes from */
	bool verified; /* read in a source; else common knowledge */
};

extern const struct wc_raid_row wc_raid_rows[];
extern const size_t wc_raid_n_rows;

struct wcache_controller {
	const struct wc_raid_row *row;
	enum wcache_controller_class class;
	char *driver, *name;
	char reason[160];
};

/*
 * The row for these facts and what it says of the disk, or NULL where nothing is
 * known to stand in between; *WHY has the reason either way.
 */
const struct wc_raid_row *wc_raid_lookup(const struct wc_raid_facts *facts,
					 enum wcache_controller_class *class, char *why,
					 size_t why_size);

struct wcache_device;

/* Gather the facts of DEV and look them up; NULL where nothing stands in between. */
struct wcache_controller *wc_controller_new(struct wcache_device *dev);
void wc_controller_free(struct wcache_controller *c);

/* Does C keep more than the disk's own cache from sight? NULL does not. */
bool wc_controller_hides(const struct wcache_controller *c);

/* What to use instead of us, as "use X (not verified)". */
void wc_controller_advice(const struct wcache_controller *c, bool on, char *buf, size_t size);

#endif
