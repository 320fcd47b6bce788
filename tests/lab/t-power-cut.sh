#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the words mean: a volatile cache that is on loses at a power cut what no flush followed,
# and loses nothing after wcache-flush, or after wcache-set off.
# drives: nbd-scsi nbd-sata
set -u
. "$LAB/guest"

block=32768

# Acknowledged by the drive, and no flush asked for.
write_at() { # NODE INDEX
	tr '\0' x </dev/zero | dd of="$1" bs=$block count=1 seek="$2" iflag=fullblock oflag=direct conv=notrunc 2>/dev/null
}

found_at() { # NODE INDEX: what is there now
	case $(dd if="$1" bs=$block count=1 skip="$2" iflag=direct 2>/dev/null | tr -d '\0' | wc -c) in
	0) echo lost ;;
	"$block") echo kept ;;
	*) echo torn ;;
	esac
}

case $LAB_BOOT in
1)
	for kind in nbd-scsi nbd-sata; do
		d=$(drive $kind)
		write_at "$d" 1
		ok "$kind: flush" wcache-flush "$d"
		write_at "$d" 2
		is "$kind: written, before the cut" "$(found_at "$d" 1) $(found_at "$d" 2)" 'kept kept'
	done
	power_cut
	;;
2)
	for kind in nbd-scsi nbd-sata; do
		d=$(drive $kind)
		is "$kind: before wcache-flush" "$(found_at "$d" 1)" kept
		is "$kind: after it" "$(found_at "$d" 2)" lost
		write_at "$d" 3
		ok "$kind: off" wcache-set off "$d"
		is "$kind: oracle" "$(oracle "$d")" off
		write_at "$d" 4
	done
	power_cut
	;;
3)
	for kind in nbd-scsi nbd-sata; do
		d=$(drive $kind)
		is "$kind: before wcache-set off" "$(found_at "$d" 3)" kept
		is "$kind: after it" "$(found_at "$d" 4)" kept
		is "$kind: the drive forgot the setting" "$(oracle "$d")" on
	done
	finish
	;;
esac
