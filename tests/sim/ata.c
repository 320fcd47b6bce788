/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulated drive's ATA side, behind ATA PASS-THROUGH (SAT-5 12.2). */
#include <string.h>

#include "drive.h"

static void put_word(uint8_t *data, int i, uint16_t v)
{
	data[2 * i] = v & 0xff;
	data[2 * i + 1] = v >> 8;
}

static void put_string(uint8_t *data, int word, int n_words, const char *s)
{
	for (int i = 0; i < 2 * n_words; i++)
		data[2 * word + (i ^ 1)] = *s ? *s++ : ' ';
}

void sim_identify(const struct sim_drive *d, uint8_t data[512])
{
	const struct sim_personality *p = d->p;
	uint16_t w85 = p->w85;
	uint8_t sum = 0;

	/* a bridge with one answer for everything shows the state of long ago */
	if (p->w85 & 1 << 5 && p->sat != SIM_SAT_STALE)
		w85 = sim_caches(d) ? w85 : w85 & ~(1 << 5);
	memset(data, 0, 512);
	put_word(data, 0, 0x0040);
	put_string(data, 10, 10, d->serial);
	put_string(data, 23, 4, "1.0");
	put_string(data, 27, 20, p->product);
	put_word(data, 49, 0x2f00);
	put_word(data, 60, d->sectors & 0xffff);
	put_word(data, 61, d->sectors >> 16);
	put_word(data, 69, p->w69);
	put_word(data, 80, p->w80);
	put_word(data, 82, p->w82);
	put_word(data, 83, p->w83);
	put_word(data, 84, p->w83 ? 0x4003 : 0);
	put_word(data, 85, w85);
	put_word(data, 86, p->w86);
	put_word(data, 87, p->w87);
	put_word(data, 100, d->sectors & 0xffff);
	put_word(data, 101, d->sectors >> 16);
	put_word(data, 206, p->w206);
	put_word(data, 217, 7200);
	data[510] = 0xa5;
	for (int i = 0; i < 511; i++)
		sum += data[i];
	data[511] = -sum;
}

struct taskfile {
	uint8_t command, feature, count, lba_low;
	bool check;
};

/* How the command ended: into sense, in the format of this translation layer. */
static void end(const struct sim_drive *d, const struct taskfile *tf, bool ok, uint8_t count,
		uint8_t lba_low, struct sim_reply *r)
{
	uint8_t status = ok ? 0x50 : 0x51;
	uint8_t error = ok ? 0 : 0x04;

	if (ok && (!tf->check || d->p->no_registers))
		return;
	if (!ok && d->p->fixed_registers) {
		/* libata up to 6.10: ERROR, STATUS, DEVICE, COUNT from byte 8 on */
		sim_sense(r, false, 0x05, 0x21, 0x04);
		r->sense[8] = error;
		r->sense[9] = status;
		r->sense[10] = 0x40;
		r->sense[11] = count;
		return;
	}
	sim_sense(r, true, ok ? 0x01 : 0x0b, 0x00, ok ? 0x1d : 0x00);
	r->sense[7] = 14;
	r->sense[8] = 0x09;
	r->sense[9] = 0x0c;
	r->sense[11] = error;
	r->sense[13] = count;
	r->sense[15] = lba_low;
	r->sense[20] = 0x40;
	r->sense[21] = status;
	r->sense_len = 22;
}

/* SCT Feature Control of the write cache (ACS-5 8.3.4). */
static bool sct(struct sim_drive *d, const uint8_t *key, size_t len, uint8_t *count)
{
	if (len < 512 || (d->p->w206 & 0x11) != 0x11 || key[0] != 4 || key[4] != 1)
		return false;
	switch (key[2]) {
	case 1:
		d->changes++;
		if (key[6] < 1 || key[6] > 3)
			return false;
		if (d->p->ignores_change)
			return true;
		d->sct = key[6];
		d->sct_preserved = key[8] & 1;
		return true;
	case 2:
		*count = d->sct;
		return true;
	case 3:
		*count = d->sct_preserved;
		return true;
	}
	return false;
}

static bool set_features(struct sim_drive *d, uint8_t feature)
{
	d->changes++;
	if ((feature != 0x02 && feature != 0x82) || !(d->p->w82 & 1 << 5))
		return false;
	return d->p->set_features_ignored || sim_set_wce(d, feature == 0x02, false);
}

void sim_ata(struct sim_drive *d, const uint8_t *cdb, const uint8_t *out, size_t out_len,
	     uint8_t *in, size_t in_len, struct sim_reply *r)
{
	const bool twelve = cdb[0] == 0xa1;
	const struct taskfile tf = {
		.command = cdb[twelve ? 9 : 14],
		.feature = cdb[twelve ? 3 : 4],
		.count = cdb[twelve ? 4 : 6],
		.lba_low = cdb[twelve ? 5 : 8],
		.check = cdb[2] & 0x20,
	};
	uint8_t count = 0, lba_low = 0;
	uint8_t data[512] = { 0 };
	bool ok = false, has_data = false;

	if (d->p->sat == SIM_SAT_NONE || (d->p->sat == SIM_SAT_12 && !twelve)) {
		sim_sense(r, false, 0x05, 0x20, 0x00);
		return;
	}
	if (d->p->sat == SIM_SAT_STALE) {
		sim_identify(d, data);
		r->moved = in_len < sizeof(data) ? in_len : sizeof(data);
		if (in)
			memcpy(in, data, r->moved);
		return;
	}
	switch (tf.command) {
	case 0xec:
		sim_identify(d, data);
		ok = has_data = true;
		break;
	case 0xef:
		ok = set_features(d, tf.feature);
		break;
	case 0xe7:
		/* tried, it works, whatever the words claim */
		ok = sim_flush(d);
		break;
	case 0xea:
		ok = d->p->w86 & 1 << 10 && d->p->w83 & 1 << 13 && sim_flush(d);
		break;
	case 0xe5:
		ok = true;
		count = d->standby ? 0x00 : 0xff;
		break;
	case 0xe0: /* STANDBY IMMEDIATE writes the cache out first */
		ok = sim_flush(d);
		d->standby = ok;
		break;
	case 0xb0:
		if (tf.lba_low == 0xe0 && tf.feature == 0xd5 && d->p->w206 & 1)
			ok = has_data = true;
		else if (tf.lba_low == 0xe0 && tf.feature == 0xd6)
			ok = sct(d, out, out_len, &count);
		break;
	}
	if (ok && has_data) {
		r->moved = in_len < sizeof(data) ? in_len : sizeof(data);
		if (in)
			memcpy(in, data, r->moved);
	}
	end(d, &tf, ok, count, lba_low, r);
}
