#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What many drives cost, as ratios of times in one run, in the lab's guest:
#   tests/lab/lab --memory 2048 --timeout 900 tests/bench/scale.sh
# 512 drives that answer at once, against a loop of sdparm and against one hdparm; then 64 whose
# commands take 10 ms each, against one sdparm. An argument names the one wanted: many_drives,
# slow_drives.
set -u
# shellcheck source=/dev/null
. "$LAB/guest"

seconds() { # COMMAND...: of wall clock time, and what memory it took
	command time -f '%e %M' -o /tmp/time "$@" >/tmp/out 2>/tmp/err
	tail -n 1 /tmp/time
}

compare() { # TEXT WANTED PEER OURS
	awk -v text="$1" -v wanted="$2" -v peer="${3% *}" -v ours="${4% *}" 'BEGIN {
		printf "%s: %.2f s, wcache-get %.2f s: %.1f times faster (wanted: %d)\n",
			text, peer, ours, peer / (ours > 0 ? ours : 0.01), wanted }'
}

debug_drives() {
	local block

	drives=()
	for block in /sys/block/sd*; do
		if grep -q scsi_debug "$block/device/model"; then
			drives+=("/dev/${block##*/}")
		fi
	done
}

add_drives() { # WANTED OPTION...: of scsi_debug
	modprobe scsi_debug "${@:2}"
	for _ in $(seq 120); do
		debug_drives
		[ "${#drives[@]}" != "$1" ] || break
		sleep 0.5
	done
	# The kernel still reads partition tables.
	sleep 10
	[ "${#drives[@]}" != "$1" ] || return 0
	echo "FAIL: ${#drives[@]} drives of $1"
	exit 1
}

loop_of_sdparm() {
	for drive in "${drives[@]}"; do
		sdparm --quiet --get=WCE "$drive"
	done
}

many_drives() {
	local ours

	add_drives 512 add_host=8 num_tgts=8 max_luns=8 dev_size_mb=1 delay=0
	ours=$(seconds wcache-get "${drives[@]}")
	is 'all 512 are told' "$(grep -c scsi_debug /tmp/out)" 512
	echo "512 drives: resident memory of wcache-get: ${ours#* } kB (wanted: below 8192)"
	compare '512 drives: one hdparm -W' 5 "$(seconds hdparm -W "${drives[@]}")" "$ours"
	compare '512 drives: a loop of sdparm --get=WCE' 10 \
		"$(seconds bash -c 'drives=("$@"); loop_of_sdparm' sdparm "${drives[@]}")" "$ours"
	rmmod scsi_debug
}

slow_drives() {
	local ours

	add_drives 64 add_host=1 num_tgts=8 max_luns=8 dev_size_mb=1 ndelay=10000000
	ours=$(seconds wcache-get "${drives[@]}")
	is 'all 64 are told' "$(grep -c scsi_debug /tmp/out)" 64
	compare '64 drives that take 10 ms: one sdparm --get=WCE' 20 \
		"$(seconds sdparm --quiet --get=WCE "${drives[@]}")" "$ours"
	rmmod scsi_debug
}

# Its rules for hundreds of drives at once are not what is measured.
udevadm control --exit
export -f loop_of_sdparm
[ $# != 0 ] || set -- many_drives slow_drives
for part in "$@"; do
	$part
done
finish
