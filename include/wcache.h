/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libwcache: the volatile write cache of drives on Linux.
 *
 * Where it sits
 * -------------
 * Between a program's data and the medium that keeps it stands the drive's own
 * write cache. It is fast, and most of them lose what they hold when the power
 * goes. The kernel empties it with flush commands, if it believes that the cache
 * is on. libwcache asks the drive itself (ATA, SCSI, NVMe), compares that with
 * what the kernel believes, changes the setting in an order that can lose
 * nothing, and empties the cache on demand.
 *
 * Conventions
 * -----------
 * - Functions that can fail return int: 0, or a negative errno value. A result
 *   comes back through the last argument, which is untouched on failure.
 *   wcache_strerror() takes the negative value.
 * - Unknown is an answer. Every enumeration of facts has it as 0, and a getter
 *   never says "off" or "no" for what could not be learned. Enumerations may grow.
 * - Strings returned by getters belong to the object and live as long as it
 *   does. NULL means that the fact is not known.
 * - All objects are opaque. A state, a report and a finding never change once
 *   made, and may be read from several threads. Everything else belongs to a
 *   context, and one context is used by one thread at a time; contexts are
 *   independent of each other.
 * - The library prints nothing, installs no signal handler, keeps no global
 *   state and never exits. Its file descriptors are close-on-exec. None of its
 *   functions is async-signal-safe.
 * - A pointer argument must not be NULL unless its description allows it; the
 *   free and close functions take NULL and do nothing.
 *
 * Example
 * -------
 *	struct wcache_ctx *ctx;
 *	struct wcache_device *dev;
 *	struct wcache_state *state;
 *
 *	if (wcache_ctx_new(&ctx) < 0)
 *		return 1;
 *	if (wcache_device_open(ctx, "/dev/sda", WCACHE_ACCESS_QUERY, &dev) == 0) {
 *		if (wcache_state_read(dev, 0, &state) == 0) {
 *			puts(wcache_cache_to_string(wcache_state_get_cache(state)));
 *			wcache_state_free(state);
 *		}
 *		wcache_device_close(dev);
 *	}
 *	wcache_ctx_unref(ctx);
 */
#ifndef WCACHE_H
#define WCACHE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wcache_ctx;
struct wcache_drives;
struct wcache_device;
struct wcache_controller;
struct wcache_error;
struct wcache_state;
struct wcache_change;
struct wcache_stack;
struct wcache_node;
struct wcache_users;
struct wcache_report;
struct wcache_finding;
struct wcache_identify;
struct wcache_policy;
struct wcache_others;

/* A yes-or-no fact. */
enum wcache_answer {
	WCACHE_UNKNOWN = 0,
	WCACHE_YES = 1,
	WCACHE_NO = 2
};

/*
 * wcache_strerror() - a sentence for an error of this library
 * @err: a negative errno value as any function here returned it (the positive
 *	 value is understood too)
 *
 * What the values mean here:
 *   -ENOENT      there is no such device or path
 *   -ENOTBLK     it exists, but is not a drive
 *   -ENODEV      the device is gone, or its node has nothing behind it
 *   -EACCES, -EPERM   not allowed
 *   -EOPNOTSUPP  refused: there is nothing to change, or it cannot be changed
 *                from here (unchangeable, ruled by a controller or by SCT)
 *   -EBUSY       refused: a layer above would go on dropping flushes; or another
 *                process held the drive's lock longer than the time limit
 *   -ENODATA     the drive's state could not be learned, so nothing was done
 *   -EREMOTEIO   the drive took the command, and reading back shows that its
 *                setting did not follow
 *   -EIO         the drive or its driver reported an error
 *   -ETIMEDOUT   no answer within the time limit
 *   -EBADMSG     an exchange file does not match what was asked, or is malformed
 * Detail is in wcache_device_get_error().
 *
 * Return: a constant string, never NULL.
 */
const char *wcache_strerror(int err);

/* wcache_get_version() - the library's version, "MAJOR.MINOR.PATCH" */
const char *wcache_get_version(void);

/* ------------------------------------------------------------------ context */
/*
 * A context holds what devices share: the log, the time limit, and where
 * exchanges are recorded to or answered from. It is reference counted; a device
 * holds a reference to its context.
 */

enum wcache_log_level {
	WCACHE_LOG_ERROR = 3, /* as in syslog(3) */
	WCACHE_LOG_WARNING = 4,
	WCACHE_LOG_INFO = 6,
	WCACHE_LOG_DEBUG = 7
};

typedef void (*wcache_log_fn)(void *userdata, int level, const char *message);

/*
 * wcache_ctx_new() - make a context
 * Return: 0, -ENOMEM. The caller releases it with wcache_ctx_unref().
 */
int wcache_ctx_new(struct wcache_ctx **ctx);

/* wcache_ctx_ref() - take one more reference. Return: @ctx. */
struct wcache_ctx *wcache_ctx_ref(struct wcache_ctx *ctx);

/* wcache_ctx_unref() - drop a reference; the last one frees. Takes NULL. Return: NULL. */
struct wcache_ctx *wcache_ctx_unref(struct wcache_ctx *ctx);

/*
 * wcache_ctx_set_log_fn() - where messages go
 * @fn: called with @userdata, a wcache_log_level and one line without a newline;
 *	NULL (as at the start) drops them
 * @max_level: messages above it are not made
 */
void wcache_ctx_set_log_fn(struct wcache_ctx *ctx, wcache_log_fn fn, void *userdata, int max_level);

/*
 * wcache_ctx_set_timeout() - how long one query command may take
 * @ms: milliseconds, at least 1; 5000 at the start. A command that can take long
 *	by its nature (a flush, a change of the setting) has 60 seconds, or @ms if
 *	that is longer: ACS-5 7.10 lets a flush take more than 30.
 */
void wcache_ctx_set_timeout(struct wcache_ctx *ctx, unsigned int ms);

/*
 * wcache_ctx_set_capture() - record every exchange with devices
 * @path: a file that is created or emptied. Serial numbers and WWNs are blanked.
 *
 * Devices opened from now on are recorded, one after another: have one open at a
 * time. The form of the file is described in wcache-exchange(5).
 *
 * Return: 0, negative errno of open(2).
 */
int wcache_ctx_set_capture(struct wcache_ctx *ctx, const char *path);

/*
 * wcache_ctx_set_replay() - answer from an exchange file instead of devices
 * @path: a file as wcache_ctx_set_capture() writes it
 *
 * Nothing of this machine is touched by devices opened from now on: they are the
 * ones that the file describes. A request that the file does not expect fails
 * with -EBADMSG.
 *
 * Return: 0, negative errno of open(2) and read(2), -EBADMSG where the file is
 * malformed (wcache_ctx_get_error() names the line), -EFBIG above 16 MiB.
 */
int wcache_ctx_set_replay(struct wcache_ctx *ctx, const char *path);

/*
 * wcache_ctx_get_error() - why the last function that had no device failed
 * Return: a sentence without a newline, or NULL where there is no detail beyond
 * the errno value. It lives until the next call with this context.
 */
const char *wcache_ctx_get_error(const struct wcache_ctx *ctx);

/* ------------------------------------------------------------------- drives */
/*
 * The list of drives: whole disks with hardware (real or virtual) behind them.
 * Partitions, loop, device mapper, md, RAM disks and optical drives are not
 * drives.
 */

/*
 * wcache_drives_new() - list the drives of this machine, or of the replay file
 * Return: 0, -ENOMEM, negative errno of reading sysfs. Free with
 * wcache_drives_free(). In version order of the names (sda, sdb, sdaa; nvme0n1).
 */
int wcache_drives_new(struct wcache_ctx *ctx, struct wcache_drives **drives);
void wcache_drives_free(struct wcache_drives *drives);
size_t wcache_drives_get_count(const struct wcache_drives *drives);

/* wcache_drives_get_name() - kernel name ("sda") of drive @index, NULL past the end */
const char *wcache_drives_get_name(const struct wcache_drives *drives, size_t index);

/* ------------------------------------------------------------------- device */
/*
 * A device is one drive. Opening it finds out who it is from udev and sysfs and
 * sends nothing; its node is opened when the first command needs it.
 */

/*
 * What may be sent. Below WCACHE_ACCESS_CHANGE no command that changes a drive
 * can leave the library, and below WCACHE_ACCESS_FLUSH none that writes its
 * cache out.
 */
enum wcache_access {
	WCACHE_ACCESS_QUERY = 1,
	WCACHE_ACCESS_FLUSH = 2,
	WCACHE_ACCESS_CHANGE = 3
};

/*
 * wcache_device_open() - open the drive behind a name
 * @name: a node ("/dev/sda", a by-id link), a kernel name ("sda", "nvme0n1"), an
 *	NVMe controller ("/dev/nvme0", its first namespace), a partition, which
 *	stands for its whole disk, or "megaraid:HOST:ID", a disk behind the MegaRAID
 *	controller that is SCSI host HOST. Opening the last one sends it an INQUIRY.
 *
 * Return: 0, -ENOENT, -ENOTBLK (wcache_ctx_get_error() says what it is instead),
 * -ENODEV, -EACCES, -ENOMEM, -EINVAL for an @access that is none of the enum.
 * Close with wcache_device_close().
 */
int wcache_device_open(struct wcache_ctx *ctx, const char *name, enum wcache_access access,
		       struct wcache_device **dev);
void wcache_device_close(struct wcache_device *dev);

/* wcache_device_get_name() - kernel name: "sda", "nvme0n1" */
const char *wcache_device_get_name(const struct wcache_device *dev);
/* wcache_device_get_node() - device node, "/dev/sda", or what stands for it: "megaraid:0:5" */
const char *wcache_device_get_node(const struct wcache_device *dev);
/*
 * wcache_device_get_bus() - how it is attached: "sata", "sas", "scsi", "usb",
 * "nvme", "virtio", "mmc", ... "scsi" also stands for what the kernel shows as a SCSI
 * disk without saying more.
 */
const char *wcache_device_get_bus(const struct wcache_device *dev);
/*
 * wcache_device_get_protocol() - language the drive is asked in: "ata", "scsi",
 * "nvme", "virtio", "kernel" (only what the kernel believes can be had). Where the
 * first choice turned out wrong it is another one after wcache_state_read().
 */
const char *wcache_device_get_protocol(const struct wcache_device *dev);
/* wcache_device_get_driver() - kernel driver of the host adapter: "ahci", "mpt3sas", "nvme" */
const char *wcache_device_get_driver(const struct wcache_device *dev);
const char *wcache_device_get_model(const struct wcache_device *dev);
const char *wcache_device_get_firmware(const struct wcache_device *dev);
const char *wcache_device_get_serial(const struct wcache_device *dev);
/* wcache_device_get_wwn() - world wide name, as udev's ID_WWN or sysfs wwid has it */
const char *wcache_device_get_wwn(const struct wcache_device *dev);
/* wcache_device_get_rotational() - does it spin, as queue/rotational has it */
enum wcache_answer wcache_device_get_rotational(const struct wcache_device *dev);

/*
 * wcache_device_get_error() - detail of the last failure on this device
 * Return: never NULL; it changes with the next call on @dev.
 */
const struct wcache_error *wcache_device_get_error(const struct wcache_device *dev);

/* wcache_error_get_text() - a sentence without a newline; "" if nothing failed yet */
const char *wcache_error_get_text(const struct wcache_error *error);
/*
 * wcache_error_get_sense() - SCSI sense that came with the failure (SPC-6 4.4)
 * Return: 0; -ENODATA if there was none.
 */
int wcache_error_get_sense(const struct wcache_error *error, unsigned char *key, unsigned char *asc,
			   unsigned char *ascq);
/*
 * wcache_error_get_ata() - ATA STATUS and ERROR registers that came with it
 * Return: 0; -ENODATA if there were none.
 */
int wcache_error_get_ata(const struct wcache_error *error, unsigned char *status,
			 unsigned char *ata_error);
/*
 * wcache_error_get_nvme() - NVMe status field: status code type << 8 | status code
 * Return: 0; -ENODATA if there was none.
 */
int wcache_error_get_nvme(const struct wcache_error *error, unsigned short *status);

/*
 * wcache_device_get_health() - what libatasmart says of an ATA drive
 * @awake: is it spun up
 * @healthy: its own SMART verdict
 *
 * Only ever on request: opening a disk with libatasmart can switch SMART on, so
 * it needs WCACHE_ACCESS_CHANGE.
 *
 * Return: 0 with both filled in (each can be WCACHE_UNKNOWN), -EPERM with less
 * access, -EOPNOTSUPP where the drive is not ATA, negative errno.
 */
int wcache_device_get_health(struct wcache_device *dev, enum wcache_answer *awake,
			     enum wcache_answer *healthy);

/*
 * wcache_device_get_wear() - bytes written over the drive's life, as it counts them
 * @host: what the host wrote
 * @media: what that made the drive write to its medium
 * @step: what the coarser of the two counters moves by
 *
 * All in bytes, and negative where the drive does not count it in a unit that is
 * known. ATA: attributes by libatasmart, which needs WCACHE_ACCESS_CHANGE as
 * wcache_device_get_health() does. NVMe: the SMART / Health log (NVMe 2.0
 * 5.16.1.3), and for the medium log C0h of the Open Compute Project.
 *
 * Return: 0 with all filled in, -EPERM, -EOPNOTSUPP where there is no such count,
 * negative errno.
 */
int wcache_device_get_wear(struct wcache_device *dev, double *host, double *media, double *step);

/* --------------------------------------------------------------- controller */
/*
 * Between the kernel and the medium may stand a controller with firmware of its
 * own: a RAID card, a storage array, a hypervisor. What a disk behind it says of its
 * cache is then what the firmware chooses to say, and the caches of the drives
 * that hold the data are hidden. The facts come from a table; what is only hearsay in
 * it says so.
 */

/* What a disk is, as seen from the controller above it. */
enum wcache_controller_class {
	WCACHE_CONTROLLER_UNKNOWN = 0, /* a RAID controller's; volume or not cannot be told */
	WCACHE_CONTROLLER_VOLUME = 1, /* a RAID volume: the controller rules the caches */
	WCACHE_CONTROLLER_PHYSICAL = 2, /* one disk that RAID firmware passes through */
	WCACHE_CONTROLLER_PLAIN = 3, /* one disk on an adapter that could also make volumes */
	WCACHE_CONTROLLER_MEMBER = 4, /* one disk behind a controller, asked through it */
	WCACHE_CONTROLLER_ARRAY = 5, /* a storage array decides */
	WCACHE_CONTROLLER_NETWORK = 6, /* a target on the network decides */
	WCACHE_CONTROLLER_HOST = 7 /* a virtual disk: the hypervisor's host decides */
};

enum wcache_command {
	WCACHE_COMMAND_SHOW = 1, /* shows the cache setting of the disks behind */
	WCACHE_COMMAND_SET = 2 /* turns their write caches off */
};

/*
 * wcache_device_get_controller() - what stands between the kernel and the medium
 * Return: what the table knows of it, or NULL where nothing is known to stand
 * there. It lives as long as @dev.
 */
const struct wcache_controller *wcache_device_get_controller(const struct wcache_device *dev);

enum wcache_controller_class
wcache_controller_get_class(const struct wcache_controller *controller);
/* wcache_controller_get_reason() - the facts that tell, as "driver hpsa, raid_level RAID 1" */
const char *wcache_controller_get_reason(const struct wcache_controller *controller);
/* wcache_controller_get_driver() - its kernel driver: "megaraid_sas" */
const char *wcache_controller_get_driver(const struct wcache_controller *controller);
/* wcache_controller_get_name() - its name from udev's PCI ids, else that of its family */
const char *wcache_controller_get_name(const struct wcache_controller *controller);
/* wcache_controller_get_hidden() - what cannot be seen from here; NULL for nothing */
const char *wcache_controller_get_hidden(const struct wcache_controller *controller);
/* wcache_controller_get_meaning() - what the disk's own cache setting stands for; NULL for itself
 */
const char *wcache_controller_get_meaning(const struct wcache_controller *controller);
/* wcache_controller_get_flush_end() - where a flush ends; NULL for at the disk */
const char *wcache_controller_get_flush_end(const struct wcache_controller *controller);
/* wcache_controller_is_flushed_through() - does a flush reach the drives that hold the data */
enum wcache_answer wcache_controller_is_flushed_through(const struct wcache_controller *controller);
/* wcache_controller_get_tool() - what manages it: "storcli64"; NULL if none is known */
const char *wcache_controller_get_tool(const struct wcache_controller *controller);
/*
 * wcache_controller_get_command() - the vendor's command, NULL if none is known
 * @verified: NULL, or WCACHE_YES where the command is known from its vendor's
 *	documents or output, WCACHE_NO for hearsay; untouched with NULL
 *
 * X, Y and N in it are the numbers that the tool itself lists.
 */
const char *wcache_controller_get_command(const struct wcache_controller *controller,
					  enum wcache_command which, enum wcache_answer *verified);
/* "volume", "physical", "plain", "member", "array", "network", "host", "unknown" */
const char *wcache_controller_class_to_string(enum wcache_controller_class controller_class);

/* -------------------------------------------------------------------- state */
/*
 * A snapshot: what the drive says of its cache, and what the kernel believes.
 * The two are different facts. The deadly pair is a drive that is on under a
 * kernel that says write through: fsync(2) returns and nothing was flushed.
 */

enum wcache_cache {
	WCACHE_CACHE_UNKNOWN = 0, /* could not be learned; wcache_state_get_reason() */
	WCACHE_CACHE_ON = 1, /* the drive may hold written data in volatile memory */
	WCACHE_CACHE_OFF = 2, /* write cache disabled */
	WCACHE_CACHE_NONE = 3 /* no volatile write cache to control */
};

enum wcache_kernel {
	WCACHE_KERNEL_UNKNOWN = 0,
	WCACHE_KERNEL_WRITE_BACK = 1, /* sends flushes */
	WCACHE_KERNEL_WRITE_THROUGH = 2 /* sends none */
};

/* SCT Feature Control of the write cache (ACS-5 8.3.4). */
enum wcache_sct {
	WCACHE_SCT_UNKNOWN = 0, /* not asked, or not supported */
	WCACHE_SCT_SET_FEATURES = 1, /* SET FEATURES decides, as usual */
	WCACHE_SCT_FORCED_ON = 2,
	WCACHE_SCT_FORCED_OFF = 3
};

/* The facts whose source can be asked for. */
enum wcache_fact {
	WCACHE_FACT_CACHE = 1,
	WCACHE_FACT_CHANGEABLE = 2,
	WCACHE_FACT_DEFAULT = 3,
	WCACHE_FACT_SAVED = 4,
	WCACHE_FACT_NONVOLATILE = 5,
	WCACHE_FACT_KERNEL = 6,
	WCACHE_FACT_SCT = 7
};

/* Ask also for what costs further commands: changeable, default, saved, SCT. */
#define WCACHE_STATE_FULL (1u << 0)
/* Of a RAID volume: ask also the disks behind it, where the controller lets us. */
#define WCACHE_STATE_MEMBERS (1u << 1)

/*
 * wcache_state_read() - ask the drive and the kernel
 * @flags: 0, or WCACHE_STATE_FULL and WCACHE_STATE_MEMBERS
 *
 * Without a flag: one command to an ATA drive, at most two to SCSI and NVMe.
 * A drive that cannot be asked is no failure: the state says unknown, and why.
 *
 * Return: 0, -ENODEV where the device is gone, -EBADMSG from a replay, -ENOMEM,
 * -EINVAL. Free with wcache_state_free().
 */
int wcache_state_read(struct wcache_device *dev, unsigned int flags, struct wcache_state **state);
void wcache_state_free(struct wcache_state *state);

enum wcache_cache wcache_state_get_cache(const struct wcache_state *state);
/* wcache_state_get_reason() - why the cache is unknown; NULL where it is known */
const char *wcache_state_get_reason(const struct wcache_state *state);
/* wcache_state_get_default() - after a reset to defaults (MODE SENSE PC=2, NVMe SEL=1) */
enum wcache_cache wcache_state_get_default(const struct wcache_state *state);
/* wcache_state_get_saved() - what the next power-on will have (MODE SENSE PC=3, NVMe SEL=2) */
enum wcache_cache wcache_state_get_saved(const struct wcache_state *state);
/* wcache_state_get_changeable() - would the drive take a change */
enum wcache_answer wcache_state_get_changeable(const struct wcache_state *state);
/* wcache_state_get_saveable() - can the drive keep a change over a power cycle */
enum wcache_answer wcache_state_get_saveable(const struct wcache_state *state);
/*
 * wcache_state_get_nonvolatile() - does the drive say that its cache survives
 * power loss (VPD 86h V_SUP=0 NV_SUP=1, SPC-6 7.7.7; IDENTIFY word 69 bit 2, ACS-5
 * 7.13; NVMe VWC bit 0 clear). A vendor's promise.
 */
enum wcache_answer wcache_state_get_nonvolatile(const struct wcache_state *state);
enum wcache_sct wcache_state_get_sct(const struct wcache_state *state);
/*
 * wcache_state_get_flush_command() - what empties the cache: "FLUSH CACHE EXT",
 * "FLUSH CACHE", "SYNCHRONIZE CACHE", "FLUSH", "fsync"
 */
const char *wcache_state_get_flush_command(const struct wcache_state *state);
/* wcache_state_get_kernel() - what the kernel believes (queue/write_cache) */
enum wcache_kernel wcache_state_get_kernel(const struct wcache_state *state);
/* wcache_state_get_fua() - does the kernel use FUA writes on it (queue/fua) */
enum wcache_answer wcache_state_get_fua(const struct wcache_state *state);
/*
 * wcache_state_is_consistent() - do drive and kernel agree
 * WCACHE_NO is the deadly pair or its harmless reverse (flushes for nothing).
 */
enum wcache_answer wcache_state_is_consistent(const struct wcache_state *state);
/* wcache_state_get_source() - where a fact came from, as "IDENTIFY word 85"; NULL if unknown */
const char *wcache_state_get_source(const struct wcache_state *state, enum wcache_fact fact);

/*
 * The disks behind a RAID volume, as WCACHE_STATE_MEMBERS found them. Each can be
 * opened by its name, "megaraid:HOST:ID".
 */
size_t wcache_state_get_member_count(const struct wcache_state *state);
/*
 * wcache_state_get_members_reason() - why the list is empty, or not the volume's own
 *	(then it is that of the whole controller); NULL where it is the volume's, where the
 *	drive is no volume, and where they were not asked for
 */
const char *wcache_state_get_members_reason(const struct wcache_state *state);
/* Name, bus, model (these two may be NULL) and state of disk @index; NULL past the end. */
const char *wcache_state_get_member_name(const struct wcache_state *state, size_t index);
const char *wcache_state_get_member_bus(const struct wcache_state *state, size_t index);
const char *wcache_state_get_member_model(const struct wcache_state *state, size_t index);
const struct wcache_state *wcache_state_get_member(const struct wcache_state *state, size_t index);

/* The words every tool prints: "on", "off", "none", "unknown"; "write-back", ... Never NULL. */
const char *wcache_cache_to_string(enum wcache_cache cache);
const char *wcache_kernel_to_string(enum wcache_kernel kernel);

/* ------------------------------------------------------------------- change */
/*
 * A change is planned first and applied second. Planning reads; applying sends
 * the steps in an order in which nothing that was acknowledged can be lost and
 * the drive is never on under a kernel that sends no flushes:
 *   off: flush, off, read back, flush, let the kernel follow
 *   on:  let the kernel send flushes, on, read back, let the kernel follow
 * The setting is read back from the drive; what the getters tell was read.
 */

enum wcache_setting {
	WCACHE_SET_ON = 1,
	WCACHE_SET_OFF = 2,
	WCACHE_SET_DEFAULT = 3 /* the drive's own default, where it tells one */
};

/* Keep the setting in the drive over power cycles. */
#define WCACHE_CHANGE_SAVE (1u << 0)
/* Go on past a refusal that protects data above the drive. */
#define WCACHE_CHANGE_FORCE (1u << 1)

struct wcache_change_options {
	size_t size; /* sizeof(struct wcache_change_options) */
	unsigned int flags; /* WCACHE_CHANGE_* */
};

enum wcache_step_status {
	WCACHE_STEP_PLANNED = 1,
	WCACHE_STEP_DONE = 2,
	WCACHE_STEP_FAILED = 3
};

/*
 * wcache_change_new() - read the drive and plan the change
 * @options: NULL for none
 *
 * With WCACHE_ACCESS_CHANGE the drive is locked against other processes that use
 * this library until wcache_change_free(); with less access the plan can be read
 * and not applied. Nothing but queries is sent. A plan without steps means that
 * the drive and the kernel are already as asked.
 *
 * Return: 0, -EOPNOTSUPP and -EBUSY for a refusal, -ENODATA where the state is
 * unknown, -EINVAL, or what wcache_state_read() returns; wcache_device_get_error()
 * has the sentence. @dev must outlive the change. Free with wcache_change_free().
 */
int wcache_change_new(struct wcache_device *dev, enum wcache_setting setting,
		      const struct wcache_change_options *options, struct wcache_change **change);

/*
 * wcache_change_apply() - carry out the plan, once
 *
 * After a failure the drive is in the safer of the states that could still be
 * reached; wcache_change_get_after() is what was read last.
 *
 * Return: 0 when the drive was read back as asked and every flush was confirmed;
 * -EPERM without WCACHE_ACCESS_CHANGE, -EALREADY the second time, -EREMOTEIO,
 * -EOPNOTSUPP (the drive or its controller refused the command), -EIO, -ETIMEDOUT,
 * -ENODEV.
 */
int wcache_change_apply(struct wcache_change *change);
void wcache_change_free(struct wcache_change *change);

size_t wcache_change_get_step_count(const struct wcache_change *change);
/* wcache_change_get_step_text() - what step @index does, NULL past the end */
const char *wcache_change_get_step_text(const struct wcache_change *change, size_t index);
enum wcache_step_status wcache_change_get_step_status(const struct wcache_change *change,
						      size_t index);
/*
 * wcache_change_get_warning() - what the change does not reach, or what may undo it
 * Return: a sentence for a RAID volume and for a disk behind one, else NULL.
 */
const char *wcache_change_get_warning(const struct wcache_change *change);
/* wcache_change_get_before() - the state that was planned on */
const struct wcache_state *wcache_change_get_before(const struct wcache_change *change);
/* wcache_change_get_after() - the state read last, NULL if none was read after the plan */
const struct wcache_state *wcache_change_get_after(const struct wcache_change *change);

/* -------------------------------------------------------------------- flush */

enum wcache_flush {
	WCACHE_FLUSH_UNKNOWN = 0,
	WCACHE_FLUSH_DONE = 1, /* the drive confirmed that its cache is on the medium */
	WCACHE_FLUSH_NOT_NEEDED = 2, /* off, or no volatile cache: nothing was sent */
	WCACHE_FLUSH_ASLEEP = 3 /* in standby, which it enters with an empty cache */
};

/* Send the flush even where nothing should be in the cache. */
#define WCACHE_FLUSH_ALWAYS (1u << 0)

/*
 * wcache_device_flush() - write back what the kernel holds for the whole device, then
 *	make the drive's cache empty
 * @flags: 0 or WCACHE_FLUSH_ALWAYS
 *
 * Needs WCACHE_ACCESS_FLUSH. The file systems on the drive are the caller's: use
 * fsync(2) or syncfs(2) on them first.
 *
 * Return: 0 only if the cache is known to be empty; -EPERM with less access,
 * -EOPNOTSUPP where the drive has no flush command (turn its cache off), -EIO,
 * -ETIMEDOUT (what it held may be lost), -ENODEV.
 */
int wcache_device_flush(struct wcache_device *dev, unsigned int flags, enum wcache_flush *result);

/* -------------------------------------------------------------------- stack */
/*
 * A path's data pass through layers on their way to drives: a file system, perhaps
 * partitions, LVM, LUKS, RAID, a loop device and the file that it is made of. A stack
 * is the graph of those, whose nodes can have several below and several above them.
 * It is read from sysfs and /proc alone: no device is opened, nothing is sent.
 *
 * A flush that a layer drops never reaches the drive, whatever that would do with it.
 */

/* What a layer does with a flush. */
enum wcache_passes {
	WCACHE_PASSES_UNKNOWN = 0,
	WCACHE_PASSES_YES = 1, /* hands it on, or has nothing below that needs one */
	WCACHE_PASSES_NO = 2 /* drops it */
};

/*
 * wcache_stack_new() - find every layer and drive below a path
 * @path: any file or directory, a mount point, a block device (also one that cannot
 *	be opened) or its kernel name
 *
 * Links in a PostgreSQL data directory that lead elsewhere (pg_wal, tablespaces) are
 * followed, and are further paths of the stack. What could not be found out is said
 * by the node concerned.
 *
 * Return: 0, negative errno of realpath(3), -ENODEV where nothing is behind a node,
 * -E2BIG above 8192 layers, -ENOMEM. Free with wcache_stack_free().
 */
int wcache_stack_new(struct wcache_ctx *ctx, const char *path, struct wcache_stack **stack);
void wcache_stack_free(struct wcache_stack *stack);

/* The target as it was given, then the further paths. */
size_t wcache_stack_get_path_count(const struct wcache_stack *stack);
const char *wcache_stack_get_path(const struct wcache_stack *stack, size_t index);
/* wcache_stack_get_top() - the layer that path @index lies on; NULL if it leads nowhere */
const struct wcache_node *wcache_stack_get_top(const struct wcache_stack *stack, size_t index);

/* All layers, each once, those of the paths first. NULL past the end. */
size_t wcache_stack_get_node_count(const struct wcache_stack *stack);
const struct wcache_node *wcache_stack_get_node(const struct wcache_stack *stack, size_t index);

/* The drives at the bottom, by kernel name as wcache_device_open() takes it. */
size_t wcache_stack_get_drive_count(const struct wcache_stack *stack);
const char *wcache_stack_get_drive(const struct wcache_stack *stack, size_t index);

/* wcache_node_get_name() - kernel name of a device ("dm-0"), mount point of a file system */
const char *wcache_node_get_name(const struct wcache_node *node);
/* wcache_node_get_label() - the device mapper's own name ("vg-root"); NULL for others */
const char *wcache_node_get_label(const struct wcache_node *node);
/*
 * wcache_node_get_type() - the file system's type; of devices "partition", "lvm",
 * "dm-crypt", "dm-multipath", "dm" (another of the device mapper), "md-raid1", "bcache",
 * "loop", "drbd", "nbd", "zram", ..., "disk" for a drive
 */
const char *wcache_node_get_type(const struct wcache_node *node);
enum wcache_answer wcache_node_is_filesystem(const struct wcache_node *node);
enum wcache_passes wcache_node_get_flush(const struct wcache_node *node);
/* wcache_node_get_reason() - how that is known, or why it is not. Never NULL. */
const char *wcache_node_get_reason(const struct wcache_node *node);
/* Its neighbours; they belong to the stack. NULL past the end. */
size_t wcache_node_get_lower_count(const struct wcache_node *node);
const struct wcache_node *wcache_node_get_lower(const struct wcache_node *node, size_t index);
size_t wcache_node_get_upper_count(const struct wcache_node *node);
const struct wcache_node *wcache_node_get_upper(const struct wcache_node *node, size_t index);

/* "passes", "drops", "unknown". Never NULL. */
const char *wcache_passes_to_string(enum wcache_passes passes);

/*
 * wcache_users_new() - the mounted file systems that have data on a drive
 * @drive: kernel name of any block device
 *
 * One mount point of each. To be named before the drive is changed.
 *
 * Return: 0, -ENODEV, negative errno of reading /proc, -ENOMEM. Free with
 * wcache_users_free().
 */
int wcache_users_new(struct wcache_ctx *ctx, const char *drive, struct wcache_users **users);
void wcache_users_free(struct wcache_users *users);
size_t wcache_users_get_count(const struct wcache_users *users);
const char *wcache_users_get_mount(const struct wcache_users *users, size_t index);

/* ------------------------------------------------------------------- report */
/*
 * A report answers one question: is a finished fsync(2) durable here? It is made
 * of facts alone, and every finding in it can be acted on.
 */

enum wcache_verdict {
	WCACHE_VERDICT_UNKNOWN = 0,
	WCACHE_VERDICT_DURABLE = 1,
	WCACHE_VERDICT_AT_RISK = 2
};

enum wcache_severity {
	WCACHE_SEVERITY_INFO = 1, /* worth knowing, changes nothing */
	WCACHE_SEVERITY_UNKNOWN = 2, /* makes the verdict unknown */
	WCACHE_SEVERITY_RISK = 3 /* makes the verdict at-risk */
};

/*
 * wcache_report_new() - the verdict for one drive by itself
 * Return: 0, -ENOMEM. Free with wcache_report_free(); it does not refer to @dev or
 * @state afterwards.
 */
int wcache_report_new(const struct wcache_device *dev, const struct wcache_state *state,
		      struct wcache_report **report);
/*
 * wcache_report_new_for_stack() - the verdict for a path: its layers and its drives
 * @devs, @states: one of each for every drive of @stack, in its order; NULL for one that
 *	could not be asked, which makes the verdict unknown if nothing is worse
 *
 * A layer that drops flushes counts by the drives below it: over drives that need none
 * it is only worth knowing.
 *
 * Return: 0, -ENOMEM. Free with wcache_report_free(); it refers to none of its
 * arguments afterwards.
 */
int wcache_report_new_for_stack(const struct wcache_stack *stack,
				const struct wcache_device *const *devs,
				const struct wcache_state *const *states,
				struct wcache_report **report);

/*
 * wcache_report_new_for_path() - is a finished fsync(2) on this path durable?
 * @path: as wcache_stack_new() takes it
 *
 * Finds the stack, asks every drive and judges: what a daemon does at its start.
 *
 *	enum wcache_verdict verdict = WCACHE_VERDICT_UNKNOWN;
 *	struct wcache_ctx *ctx;
 *	struct wcache_report *report;
 *
 *	if (wcache_ctx_new(&ctx) < 0)
 *		return 1;
 *	if (wcache_report_new_for_path(ctx, data, &report) == 0) {
 *		verdict = wcache_report_get_verdict(report);
 *		if (verdict == WCACHE_VERDICT_AT_RISK)
 *			fprintf(stderr, "fsync is not durable in %s: %s\n", data,
 *				wcache_finding_get_text(wcache_report_get_finding(report, 0)));
 *		wcache_report_free(report);
 *	}
 *	wcache_ctx_unref(ctx);
 *
 * Return: 0, as wcache_stack_new().
 */
int wcache_report_new_for_path(struct wcache_ctx *ctx, const char *path,
			       struct wcache_report **report);

void wcache_report_free(struct wcache_report *report);
enum wcache_verdict wcache_report_get_verdict(const struct wcache_report *report);
size_t wcache_report_get_finding_count(const struct wcache_report *report);
/* wcache_report_get_finding() - finding @index, worst first; NULL past the end */
const struct wcache_finding *wcache_report_get_finding(const struct wcache_report *report,
						       size_t index);
/* wcache_finding_get_code() - stable name for programs: "drive-on-kernel-write-through" */
const char *wcache_finding_get_code(const struct wcache_finding *finding);
enum wcache_severity wcache_finding_get_severity(const struct wcache_finding *finding);
/* wcache_finding_get_device() - kernel name of the device that it is about */
const char *wcache_finding_get_device(const struct wcache_finding *finding);
/* wcache_finding_get_text() - a sentence */
const char *wcache_finding_get_text(const struct wcache_finding *finding);
/* wcache_finding_get_remedy() - a command that can be typed, or NULL */
const char *wcache_finding_get_remedy(const struct wcache_finding *finding);

/* "durable", "at-risk", "unknown"; "info", "unknown", "risk". Never NULL. */
const char *wcache_verdict_to_string(enum wcache_verdict verdict);
const char *wcache_severity_to_string(enum wcache_severity severity);

/* ------------------------------------------------------------------- policy */
/*
 * What a site wants of its drives: /etc/wcache.conf, then the files *.conf in the
 * order of their names from /etc/wcache.conf.d, /run/wcache.conf.d and
 * /usr/lib/wcache/wcache.conf.d, of those with one name the first (wcache.conf(5)).
 * The policy takes facts and gives answers; it asks no drive and changes none.
 */

/* What a policy wants; unknown where a path would decide and the paths are not known. */
enum wcache_wanted {
	WCACHE_WANTED_UNKNOWN = 0,
	WCACHE_WANTED_ON = 1,
	WCACHE_WANTED_OFF = 2,
	WCACHE_WANTED_DEFAULT = 3, /* the drive's own default */
	WCACHE_WANTED_LEAVE = 4 /* as it is; also where nothing in the policy matches */
};

/* What is known of a drive. NULL and 0 are unknown, and match no pattern. */
struct wcache_policy_facts {
	size_t size; /* sizeof(struct wcache_policy_facts) */
	const char *bus;
	const char *model;
	const char *serial;
	const char *wwn;
	enum wcache_answer rotational;
	enum wcache_answer nonvolatile;
	const char *const *paths; /* those of the policy that lie on this drive; NULL: not known */
	size_t n_paths;
};

/*
 * wcache_policy_new() - read the policy of this machine
 * @root: NULL, or a folder that stands for "/"
 *
 * No file at all is an empty policy. One file that cannot be read or understood is
 * a failure of the whole: half a policy is applied to no drive.
 *
 * Return: 0, -EBADMSG (wcache_ctx_get_error() names file, line and column), negative
 * errno of open(2) and read(2), -ENOMEM. Free with wcache_policy_free().
 */
int wcache_policy_new(struct wcache_ctx *ctx, const char *root, struct wcache_policy **policy);
void wcache_policy_free(struct wcache_policy *policy);

/*
 * wcache_policy_decide() - what is wanted of a drive
 * @where: NULL, or gets "FILE:LINE" of what decides, NULL where nothing does; it lives
 *	as long as @policy
 */
enum wcache_wanted wcache_policy_decide(const struct wcache_policy *policy,
					const struct wcache_policy_facts *facts,
					const char **where);

/* The sections, in the order in which they are asked. */
size_t wcache_policy_get_count(const struct wcache_policy *policy);
/* wcache_policy_get_name() - what stands between the brackets; NULL past the end */
const char *wcache_policy_get_name(const struct wcache_policy *policy, size_t index);
/* wcache_policy_get_where() - "FILE:LINE" of its setting; NULL past the end */
const char *wcache_policy_get_where(const struct wcache_policy *policy, size_t index);
/*
 * wcache_policy_get_pattern() - the pattern of section @index for @key ("bus", "path", ...)
 * Return: NULL where it has none. With it a caller finds out which facts are asked for:
 * nonvolatile costs a question to the drive, path a look at the layers above it.
 */
const char *wcache_policy_get_pattern(const struct wcache_policy *policy, size_t index,
				      const char *key);

/* "on", "off", "default", "leave", "unknown". Never NULL. */
const char *wcache_wanted_to_string(enum wcache_wanted wanted);

/* ------------------------------------------------------------------- others */
/*
 * Others set write caches too, when a drive appears or a service starts: hdparm as
 * /etc/hdparm.conf says, smartd as "-e wcache" in /etc/smartd.conf, udisks as
 * WriteCacheEnabled in /etc/udisks2. Where one of them wants what the drive or the policy
 * does not, a report can name the file and the line.
 */

/*
 * wcache_others_new() - read their files
 * @root: folder to take for the root of the file system, NULL for the real one
 *
 * A file that is not there says nothing, and one that its own program would not understand
 * counts as far as it would there.
 *
 * Return: 0, -ENOMEM. Free with wcache_others_free().
 */
int wcache_others_new(struct wcache_ctx *ctx, const char *root, struct wcache_others **others);
void wcache_others_free(struct wcache_others *others);
/*
 * wcache_report_add_others() - add a finding "set-elsewhere" for each that disagrees
 * @report: of @dev and @state, before it is shown to anyone: pointers to its findings end
 * @wanted, @where: of wcache_policy_decide(); WCACHE_WANTED_UNKNOWN and NULL without a policy
 *
 * They talk ATA: of other drives they change nothing.
 *
 * Return: 0, -ENOMEM. @report refers to nothing else afterwards.
 */
int wcache_report_add_others(struct wcache_report *report, const struct wcache_others *others,
			     const struct wcache_device *dev, const struct wcache_state *state,
			     enum wcache_wanted wanted, const char *where);

/* ----------------------------------------------------------------- identify */
/*
 * IDENTIFY DEVICE data by itself, as a file or a mail has it (ACS-5 7.13).
 */

/*
 * wcache_identify_new() - decode it
 * @data, @size: 512 raw bytes, or the hex text that hdparm --Istdout prints
 * Return: 0, -EBADMSG where it is neither, -ENOMEM. Free with wcache_identify_free().
 */
int wcache_identify_new(const void *data, size_t size, struct wcache_identify **identify);
void wcache_identify_free(struct wcache_identify *identify);
/* wcache_identify_get_word() - word @index (0 to 255) in host byte order; 0 past the end */
unsigned short wcache_identify_get_word(const struct wcache_identify *identify, unsigned int index);
/* wcache_identify_get_class() - "ata", "atapi" or "cfa" (word 0) */
const char *wcache_identify_get_class(const struct wcache_identify *identify);
const char *wcache_identify_get_model(const struct wcache_identify *identify);
const char *wcache_identify_get_firmware(const struct wcache_identify *identify);
const char *wcache_identify_get_serial(const struct wcache_identify *identify);
/* wcache_identify_get_checksum() - word 255: YES right, NO wrong, UNKNOWN no checksum there */
enum wcache_answer wcache_identify_get_checksum(const struct wcache_identify *identify);
/* wcache_identify_get_cache() - words 82 and 85 with their validity bits */
enum wcache_cache wcache_identify_get_cache(const struct wcache_identify *identify);
/* wcache_identify_get_lookahead() - read look-ahead: YES on, NO off, UNKNOWN not supported */
enum wcache_answer wcache_identify_get_lookahead(const struct wcache_identify *identify);
/* wcache_identify_has_flush(), _has_flush_ext() - as words 83 claims it, trusted or not */
enum wcache_answer wcache_identify_has_flush(const struct wcache_identify *identify);
enum wcache_answer wcache_identify_has_flush_ext(const struct wcache_identify *identify);
/* wcache_identify_get_flush_command() - the one that is safe to send, NULL for none advertised */
const char *wcache_identify_get_flush_command(const struct wcache_identify *identify);
enum wcache_answer wcache_identify_get_nonvolatile(const struct wcache_identify *identify);
/* wcache_identify_get_rotation() - word 217: 1 solid state, else rpm; 0 not reported */
unsigned int wcache_identify_get_rotation(const struct wcache_identify *identify);

#ifdef __cplusplus
}
#endif

#endif
