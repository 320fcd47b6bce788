/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of controllers, and what it makes of real and of awkward disks. */
#include <ctype.h>
#include <string.h>

#include "raid/raid.h"
#include "recording.h"

static enum wcache_controller_class class_of(const struct wc_raid_facts *f,
					     const struct wc_raid_row **row)
{
	enum wcache_controller_class class = -1;
	char why[160] = "";

	*row = wc_raid_lookup(f, &class, why, sizeof(why));
	ck_assert_msg(*why, "a lookup without its reason");
	return class;
}

/* The first of the alternatives, with something in the place of every "*". */
static const char *first_of(const char *patterns, const char *filler, char *buf, size_t size)
{
	size_t n = 0;

	if (!patterns)
		return NULL;
	for (; *patterns && *patterns != ','; patterns++)
		n += snprintf(buf + n, size - n, *patterns == '*' ? "%s" : "%.1s",
			      *patterns == '*' ? filler : patterns);
	return buf;
}

START_TEST(every_row_is_complete)
{
	for (size_t i = 0; i < wc_raid_n_rows; i++) {
		const struct wc_raid_row *r = &wc_raid_rows[i];

		ck_assert_msg(r->drivers && *r->drivers, "row %zu", i);
		ck_assert_msg(r->family && r->hides && r->wce && r->flush, "%s", r->drivers);
		ck_assert_msg(r->source && *r->source, "%s: no source", r->family);
		ck_assert_msg(r->tell >= WC_TELL_ALWAYS && r->tell <= WC_TELL_NOTHING, "%s",
			      r->family);
		/* what is never to be told by one sign alone */
		ck_assert_msg(r->tell != WC_TELL_INQUIRY || r->volumes, "%s", r->family);
		ck_assert_msg(r->tell != WC_TELL_LEVEL || r->volumes, "%s", r->family);
		ck_assert_msg(r->tell != WC_TELL_CHANNEL ||
				      (r->volumes && r->first_channel <= r->last_channel),
			      "%s", r->family);
		ck_assert_msg(r->tell != WC_TELL_ALWAYS || r->is == r->is_not, "%s", r->family);
	}
}
END_TEST

START_TEST(every_command_belongs_to_its_tool)
{
	for (size_t i = 0; i < wc_raid_n_rows; i++) {
		const struct wc_raid_row *r = &wc_raid_rows[i];

		ck_assert_msg(r->tool || (!r->show && !r->set), "%s", r->family);
		ck_assert_msg(!r->show || strstr(r->show, r->tool), "%s: %s", r->family, r->show);
		ck_assert_msg(!r->set || strstr(r->set, r->tool), "%s: %s", r->family, r->set);
		ck_assert_msg(r->show || !r->show_verified, "%s", r->family);
		ck_assert_msg(r->set || !r->set_verified, "%s", r->family);
		ck_assert_msg(r->verified || (!r->show_verified && !r->set_verified),
			      "%s: hearsay with a verified command", r->family);
	}
}
END_TEST

/* A row that an earlier one hides would never speak, and two alike are one too many. */
START_TEST(every_row_can_be_reached)
{
	for (size_t i = 0; i < wc_raid_n_rows; i++) {
		const struct wc_raid_row *r = &wc_raid_rows[i], *found;
		char driver[64] = "", pci[64] = "", inquiry[64] = "none|none";
		struct wc_raid_facts f = { .channel = WC_CHANNEL_UNKNOWN };
		char *bar;

		first_of(r->drivers, "", driver, sizeof(driver));
		first_of(r->pci, "0000", pci, sizeof(pci));
		first_of(r->inquiry, "x", inquiry, sizeof(inquiry));
		bar = strchr(inquiry, '|');
		ck_assert_msg(bar, "%s: %s", r->family, inquiry);
		*bar = '\0';
		f.driver = driver;
		f.pci = pci;
		f.vendor = inquiry;
		f.product = bar + 1;
		class_of(&f, &found);
		ck_assert_msg(found == r, "row %zu (%s) is hidden by %s", i, r->family,
			      found ? found->family : "nothing");
	}
}
END_TEST

struct example {
	struct wc_raid_facts f;
	enum wcache_controller_class class;
	const char *tool; /* NULL: not asked */
};

#define NONE ((enum wcache_controller_class)(-1))

static const struct example examples[] = {
	/* one host, both kinds */
	{ { .driver = "megaraid_sas",
	    .vendor = "LSI",
	    .product = "MR9361-8i",
	    .channel = 2,
	    .pci = "1000:005d:1000:9361" },
	  WCACHE_CONTROLLER_VOLUME,
	  "storcli64" },
	{ { .driver = "megaraid_sas",
	    .vendor = "TOSHIBA",
	    .product = "MG04SCA20EN",
	    .channel = 0,
	    .pci = "1000:005d:1000:9361" },
	  WCACHE_CONTROLLER_PHYSICAL,
	  "storcli64" },
	{ { .driver = "megaraid_sas",
	    .vendor = "DELL",
	    .product = "PERC H730 Mini",
	    .channel = 3,
	    .pci = "1000:005d:1028:1f49" },
	  WCACHE_CONTROLLER_VOLUME,
	  "perccli64" },
	/* the same without a SCSI address: INQUIRY helps, or nothing does */
	{ { .driver = "megaraid_sas", .vendor = "DELL", .product = "PERC H730", .channel = -1 },
	  WCACHE_CONTROLLER_VOLUME,
	  NULL },
	{ { .driver = "megaraid_sas", .vendor = "SEAGATE", .product = "ST8000", .channel = -1 },
	  WCACHE_CONTROLLER_UNKNOWN,
	  NULL },
	/* the driver link where proc_name has nothing, and the other way round */
	{ { .driver = "3w-9xxx",
	    .proc_name = "(null)",
	    .vendor = "AMCC",
	    .product = "9650SE-8LP DISK",
	    .channel = 0 },
	  WCACHE_CONTROLLER_VOLUME,
	  "tw_cli" },
	{ { .proc_name = "aacraid", .vendor = "Adaptec", .product = "srv", .channel = 0 },
	  WCACHE_CONTROLLER_VOLUME,
	  "arcconf" },
	{ { .proc_name = "(null)", .vendor = "AMCC", .product = "9650SE-8LP DISK", .channel = 0 },
	  NONE,
	  NULL },
	/* never by INQUIRY alone */
	{ { .driver = "ahci", .vendor = "DELL", .product = "PERC H730", .channel = 0 },
	  NONE,
	  NULL },
	{ { .driver = "usb-storage", .vendor = "HP", .product = "LOGICAL VOLUME", .channel = 0 },
	  NONE,
	  NULL },
	{ { .driver = "iscsi_tcp", .vendor = "AMCC", .product = "9500S-8    DISK", .channel = 0 },
	  WCACHE_CONTROLLER_NETWORK,
	  NULL },
	/* labels that the admin chose */
	{ { .driver = "aacraid", .vendor = "Adaptec", .product = "PERC H310", .channel = 0 },
	  WCACHE_CONTROLLER_VOLUME,
	  "arcconf" },
	{ { .driver = "arcmsr", .vendor = "Areca", .product = "Seagate", .channel = 0 },
	  WCACHE_CONTROLLER_VOLUME,
	  "cli64" },
	{ { .driver = "arcmsr",
	    .vendor = "Seagate",
	    .product = "ST31000340AS",
	    .revision = "R001",
	    .channel = 0 },
	  WCACHE_CONTROLLER_PHYSICAL,
	  NULL },
	/* raid_level decides, whatever the channel or the strings say */
	{ { .driver = "hpsa",
	    .vendor = "HP",
	    .product = "LOGICAL VOLUME",
	    .channel = 0,
	    .raid_level = "RAID 1(+0)" },
	  WCACHE_CONTROLLER_VOLUME,
	  "ssacli" },
	{ { .driver = "hpsa",
	    .vendor = "ATA",
	    .product = "MB4000GCWDC",
	    .channel = 0,
	    .raid_level = "N/A" },
	  WCACHE_CONTROLLER_PHYSICAL,
	  "ssacli" },
	{ { .driver = "smartpqi",
	    .vendor = "HPE",
	    .product = "LOGICAL VOLUME",
	    .channel = 1,
	    .raid_level = "RAID 5",
	    .pci = "9005:028f:103c:1100" },
	  WCACHE_CONTROLLER_VOLUME,
	  "ssacli" },
	{ { .driver = "smartpqi",
	    .vendor = "Adaptec",
	    .product = "LOGICAL VOLUME",
	    .channel = 1,
	    .raid_level = "RAID 5",
	    .pci = "9005:028f:9005:0808" },
	  WCACHE_CONTROLLER_VOLUME,
	  "arcconf" },
	{ { .driver = "myrb",
	    .vendor = "SEAGATE",
	    .product = "ST39",
	    .raid_level = "Physical Drive" },
	  WCACHE_CONTROLLER_PHYSICAL,
	  NULL },
	/* adapters that could make volumes, and did not */
	{ { .driver = "mpt3sas", .vendor = "ATA", .product = "ST8000DM004-2CX1", .channel = 0 },
	  WCACHE_CONTROLLER_PLAIN,
	  NULL },
	{ { .driver = "mptsas", .vendor = "SEAGATE", .product = "ST3300655SS", .channel = 0 },
	  WCACHE_CONTROLLER_PLAIN,
	  NULL },
	{ { .driver = "mptsas", .vendor = "LSILOGIC", .product = "Logical Volume", .channel = 1 },
	  WCACHE_CONTROLLER_VOLUME,
	  NULL },
	/* volumes that look like a plain disk */
	{ { .driver = "ahci",
	    .vendor = "ATA",
	    .product = "DELLBOSS VD",
	    .channel = 0,
	    .pci = "1b4b:9230:1028:1fd6" },
	  WCACHE_CONTROLLER_VOLUME,
	  "mvcli" },
	{ { .driver = "ahci",
	    .vendor = "ATA",
	    .product = "DELLBOSS VD",
	    .channel = 0,
	    .pci = "8086:2922:1af4:1100" },
	  NONE,
	  NULL },
	{ { .driver = "nvme",
	    .product = "Dell BOSS-N1",
	    .channel = -1,
	    .pci = "1b4b:2241:1028:2151" },
	  WCACHE_CONTROLLER_VOLUME,
	  NULL },
	{ { .driver = "nvme", .product = "some disk", .channel = -1 }, NONE, NULL },
	/* the rest of the world */
	{ { .driver = "virtio_scsi", .vendor = "QEMU", .product = "QEMU HARDDISK", .channel = 0 },
	  WCACHE_CONTROLLER_HOST,
	  NULL },
	{ { .driver = "ahci", .vendor = "ATA", .product = "Samsung SSD 860", .channel = 0 },
	  NONE,
	  NULL },
	{ { .driver = "qla2xxx", .vendor = "ANYONE", .product = "ANY LUN", .channel = 0 },
	  WCACHE_CONTROLLER_ARRAY,
	  NULL },
	{ { .driver = "nvme-tcp", .product = "Linux", .channel = -1 },
	  WCACHE_CONTROLLER_NETWORK,
	  NULL },
	{ { .driver = "tcm_loop", .vendor = "LIO-ORG", .product = "ramdisk", .channel = 0 },
	  WCACHE_CONTROLLER_NETWORK,
	  NULL },
	{ { .driver = "tcm_loop", .vendor = "ATA", .product = "ST1000DM010-2EP1", .channel = 0 },
	  NONE,
	  NULL },
	{ { .driver = "megaraid_sas", .member = true, .channel = -1 },
	  WCACHE_CONTROLLER_MEMBER,
	  "storcli64" },
	/* strings out of bounds, and none at all */
	{ { .driver = "arcmsr", .vendor = "", .product = "", .channel = -1 },
	  WCACHE_CONTROLLER_UNKNOWN,
	  NULL },
	{ { .driver = "megaraid_sas",
	    .vendor = "[*?\\",
	    .product = "a string far longer than the sixteen bytes that INQUIRY has for a product",
	    .channel = -1 },
	  WCACHE_CONTROLLER_UNKNOWN,
	  NULL },
	{ { .driver = "", .proc_name = "", .channel = -1 }, NONE, NULL },
	{ { .driver = "*", .channel = -1 }, NONE, NULL },
	{ { .channel = -1 }, NONE, NULL },
};

START_TEST(examples_are_classified)
{
	const struct example *e = &examples[_i];
	const struct wc_raid_row *row;
	enum wcache_controller_class class = class_of(&e->f, &row);

	ck_assert_msg(class == e->class, "%s %s %s: class %d, not %d",
		      e->f.driver ? e->f.driver : "-", e->f.vendor ? e->f.vendor : "-",
		      e->f.product ? e->f.product : "-", class, e->class);
	ck_assert_int_eq(class == NONE, row == NULL);
	if (e->tool)
		ck_assert_str_eq(row->tool, e->tool);
}
END_TEST

/* "A<TAB>B" to fields without the padding. Returns how many there were. */
static int split(char *line, char *field[], int max)
{
	int n = 0;

	for (char *f = line; f && n < max; n++) {
		char *tab = strchr(f, '\t');

		if (tab)
			*tab = '\0';
		field[n] = f;
		f = tab ? tab + 1 : NULL;
		for (size_t k = strlen(field[n]); k && isspace((unsigned char)field[n][k - 1]);)
			field[n][--k] = '\0';
	}
	return n;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* What the corpus says the disk is, in the words of its last columns. */
static enum wcache_controller_class told_class(const char *text)
{
	static const struct {
		const char *begins;
		enum wcache_controller_class class;
	} words[] = {
		{ "RAID volume", WCACHE_CONTROLLER_VOLUME },
		{ "RAID unit", WCACHE_CONTROLLER_VOLUME },
		{ "RAID1 of two", WCACHE_CONTROLLER_VOLUME },
		{ "IR volume", WCACHE_CONTROLLER_VOLUME },
		{ "physical", WCACHE_CONTROLLER_PHYSICAL },
		{ "pass-through disk", WCACHE_CONTROLLER_PHYSICAL },
		{ "plain", WCACHE_CONTROLLER_PLAIN },
		{ "virtual", WCACHE_CONTROLLER_HOST },
		{ "SAN array", WCACHE_CONTROLLER_ARRAY },
		{ "network", WCACHE_CONTROLLER_NETWORK },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (starts(text, words[i].begins))
			return words[i].class;
	ck_abort_msg("the corpus has a class that this test does not know: %s", text);
}

static const char *told_driver(const char *text)
{
	if (starts(text, "iscsi") || !strcmp(text, "LIO"))
		return "iscsi_tcp";
	return !strcmp(text, "FC") ? "lpfc" : text;
}

static void done(struct wcache_ctx *ctx, struct wcache_device *dev)
{
	wcache_device_close(dev);
	wcache_ctx_unref(ctx);
}

/* A disk of this machine, as far as the kernel's log tells of it: what the device says. */
static const struct wcache_controller *real_disk(char *const x[], struct wcache_ctx **ctx,
						 struct wcache_device **dev)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "wcache-exchange 1\ndevice sda\nattr device/type=0\nprop driver=%s\n%s%s\n"
		 "attr device/vendor=%s\nattr device/model=%s\nattr device/rev=%s\n",
		 told_driver(x[0]), *x[1] == '-' ? "#" : "prop hctl=", x[1], x[3], x[4], x[5]);
	*ctx = recording_ctx(text);
	*dev = recording_open(*ctx, "sda", WCACHE_ACCESS_QUERY);
	return wcache_device_get_controller(*dev);
}

START_TEST(real_volumes_are_classified)
{
	const char *path = corpus("raid/raid-volumes-dmesg.tsv");
	unsigned int classified = 0, nodes = 0;
	char line[1024];
	FILE *f;

	if (!path)
		return;
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		const struct wcache_controller *c;
		struct wcache_device *dev;
		struct wcache_ctx *ctx;
		char *x[12];

		if (*line == '#' || starts(line, "driver\t"))
			continue;
		ck_assert_int_eq(split(line, x, 12), 12);
		if (strcmp(x[2], "Direct-Access")) {
			nodes++;
			continue;
		}
		c = real_disk(x, &ctx, &dev);
		ck_assert_msg(c, "%s %s %s %s: no controller", x[0], x[1], x[3], x[4]);
		ck_assert_msg(wcache_controller_get_class(c) == told_class(x[10]),
			      "%s %s %s %s: %s, not %s", x[0], x[1], x[3], x[4],
			      wcache_controller_class_to_string(wcache_controller_get_class(c)),
			      x[10]);
		classified++;
		done(ctx, dev);
	}
	fclose(f);
	printf("%u real disks classified, %u controller nodes left out\n", classified, nodes);
	ck_assert_uint_ge(classified, 24);
}
END_TEST

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, f), 0);
	fclose(f);
	return text;
}

/* Is it in the text, and is the first mark behind it that of "read in a source"? */
static bool is_sourced(const char *text, const char *what)
{
	for (const char *at = text; (at = strstr(at, what)); at++) {
		const char *mark = strchr(at, '[');

		if (mark && mark[1] == 'S')
			return true;
	}
	return false;
}

/* A verified command is one of the corpus, marked there as seen; or its tool and form are. */
START_TEST(verified_commands_are_known)
{
	const char *path = corpus("raid/raid-controllers.md");
	unsigned int checked = 0;
	char *text;

	if (!path)
		return;
	text = read_text(path);
	for (size_t i = 0; i < wc_raid_n_rows; i++) {
		const struct wc_raid_row *r = &wc_raid_rows[i];
		const char *commands[2] = { r->show_verified ? r->show : NULL,
					    r->set_verified ? r->set : NULL };

		for (int k = 0; k < 2; k++) {
			const char *c = commands[k];
			const char *form = c ? strchr(c, ' ') : NULL;

			if (!c)
				continue;
			ck_assert_msg(is_sourced(text, c) ||
					      (is_sourced(text, r->tool) && is_sourced(text, form)),
				      "%s: \"%s\" is called verified, and is not", r->family, c);
			checked++;
		}
	}
	free(text);
	ck_assert_uint_ge(checked, 12);
}
END_TEST

#define HEAD "wcache-exchange 1\ndevice sda\nattr device/type=0\n"

static const struct wcache_controller *controller(const char *text, struct wcache_ctx **ctx,
						  struct wcache_device **dev)
{
	*ctx = recording_ctx(text);
	*dev = recording_open(*ctx, "sda", WCACHE_ACCESS_QUERY);
	return wcache_device_get_controller(*dev);
}

START_TEST(a_volume_says_what_it_hides)
{
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	enum wcache_answer verified = WCACHE_UNKNOWN;
	const struct wcache_controller *c = controller(
		HEAD "prop driver=hpsa\nprop hctl=4:0:0:0\nprop adapter=Smart Array P420i\n"
		     "attr device/vendor=HP      \nattr device/model=LOGICAL VOLUME  \n"
		     "attr device/raid_level=RAID 1(+0)\n",
		&ctx, &dev);

	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(wcache_controller_get_class(c), WCACHE_CONTROLLER_VOLUME);
	ck_assert_str_eq(wcache_controller_get_driver(c), "hpsa");
	ck_assert_str_eq(wcache_controller_get_name(c), "Smart Array P420i");
	ck_assert_ptr_nonnull(strstr(wcache_controller_get_reason(c), "RAID 1(+0)"));
	ck_assert_ptr_nonnull(wcache_controller_get_hidden(c));
	ck_assert_ptr_nonnull(wcache_controller_get_meaning(c));
	ck_assert_ptr_nonnull(wcache_controller_get_flush_end(c));
	ck_assert_int_eq(wcache_controller_is_flushed_through(c), WCACHE_UNKNOWN);
	ck_assert_str_eq(wcache_controller_get_tool(c), "ssacli");
	ck_assert_str_eq(wcache_controller_get_command(c, WCACHE_COMMAND_SET, &verified),
			 "ssacli ctrl slot=0 modify drivewritecache=disable");
	ck_assert_int_eq(verified, WCACHE_YES);
	done(ctx, dev);
}
END_TEST

START_TEST(a_physical_disk_hides_nothing)
{
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	const struct wcache_controller *c =
		controller(HEAD "prop driver=megaraid_sas\nprop hctl=2:0:8:0\n"
				"attr device/vendor=SEAGATE\nattr device/model=DL2400MM0159\n",
			   &ctx, &dev);

	ck_assert_int_eq(wcache_controller_get_class(c), WCACHE_CONTROLLER_PHYSICAL);
	ck_assert_str_eq(wcache_controller_get_name(c), "MegaRAID");
	ck_assert_ptr_null(wcache_controller_get_hidden(c));
	ck_assert_ptr_null(wcache_controller_get_meaning(c));
	ck_assert_int_eq(wcache_controller_is_flushed_through(c), WCACHE_YES);
	done(ctx, dev);
}
END_TEST

START_TEST(hearsay_is_told_as_such)
{
	struct wcache_ctx *ctx;
	struct wcache_device *dev;
	enum wcache_answer verified = WCACHE_UNKNOWN;
	/* bug 47 of the field reports: the members of a PERC H965i are invisible */
	const struct wcache_controller *c = controller(
		HEAD "prop driver=mpi3mr\nprop hctl=0:3:111:0\nprop pci=1000:00a5:1028:2114\n"
		     "attr device/vendor=DELL\nattr device/model=PERC H965i Front\n",
		&ctx, &dev);

	ck_assert_int_eq(wcache_controller_get_class(c), WCACHE_CONTROLLER_VOLUME);
	ck_assert_ptr_nonnull(strstr(wcache_controller_get_hidden(c), "cannot be seen"));
	ck_assert_ptr_nonnull(wcache_controller_get_command(c, WCACHE_COMMAND_SHOW, &verified));
	ck_assert_int_eq(verified, WCACHE_NO);
	verified = WCACHE_UNKNOWN;
	ck_assert_ptr_null(wcache_controller_get_command(c, WCACHE_COMMAND_SET, &verified));
	ck_assert_int_eq(verified, WCACHE_UNKNOWN);
	done(ctx, dev);
}
END_TEST

START_TEST(a_plain_disk_has_no_controller)
{
	struct wcache_ctx *ctx;
	struct wcache_device *dev;

	ck_assert_ptr_null(controller(HEAD "prop driver=ahci\nprop hctl=0:0:0:0\n"
					   "attr device/vendor=ATA\nattr device/model=WDC WD10\n",
				      &ctx, &dev));
	done(ctx, dev);
}
END_TEST

START_TEST(nvme_over_a_network)
{
	struct wcache_ctx *ctx = recording_ctx("wcache-exchange 1\ndevice nvme0n1\n"
					       "prop bus=nvme\nattr device/transport=tcp\n");
	struct wcache_device *dev = recording_open(ctx, "nvme0n1", WCACHE_ACCESS_QUERY);
	const struct wcache_controller *c = wcache_device_get_controller(dev);

	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(wcache_controller_get_class(c), WCACHE_CONTROLLER_NETWORK);
	ck_assert_str_eq(wcache_controller_get_driver(c), "nvme-tcp");
	done(ctx, dev);
}
END_TEST

START_TEST(every_class_has_its_word)
{
	for (int a = WCACHE_CONTROLLER_UNKNOWN; a <= WCACHE_CONTROLLER_HOST; a++)
		for (int b = a + 1; b <= WCACHE_CONTROLLER_HOST; b++)
			ck_assert_str_ne(wcache_controller_class_to_string(a),
					 wcache_controller_class_to_string(b));
	ck_assert_str_eq(wcache_controller_class_to_string(99), "unknown");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("raid");
	TCase *table = tcase_create("table");
	TCase *lookup = tcase_create("lookup");
	TCase *device = tcase_create("device");

	tcase_add_test(table, every_row_is_complete);
	tcase_add_test(table, every_command_belongs_to_its_tool);
	tcase_add_test(table, every_row_can_be_reached);
	tcase_add_test(table, verified_commands_are_known);
	tcase_add_loop_test(lookup, examples_are_classified, 0,
			    sizeof(examples) / sizeof(*examples));
	tcase_add_test(lookup, real_volumes_are_classified);
	tcase_add_test(lookup, every_class_has_its_word);
	tcase_add_test(device, a_volume_says_what_it_hides);
	tcase_add_test(device, a_physical_disk_hides_nothing);
	tcase_add_test(device, hearsay_is_told_as_such);
	tcase_add_test(device, a_plain_disk_has_no_controller);
	tcase_add_test(device, nvme_over_a_network);
	suite_add_tcase(suite, table);
	suite_add_tcase(suite, lookup);
	suite_add_tcase(suite, device);
	return run_suite(suite);
}
