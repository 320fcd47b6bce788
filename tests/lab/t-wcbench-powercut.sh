#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Power cuts on drives with a volatile cache: what was acknowledged is there exactly where the
# words promise it. A row of lost writes is as much a finding of wcbench powercut as one of none.
# The server's log is on the host, which the cut leaves alone as it does another machine.
# drives: nbd-scsi nbd-scsi nbd-scsi nbd-scsi nbd-scsi nbd-scsi:cache=unsafe nbd-scsi:cache=unsafe nbd-sata nbd-sata scsi
# lab: --timeout 600
set -u
. "$LAB/guest"

port=5411
# name, drive, its cache, mode, what is lost
rows='on-fdatasync      nbd-scsi 1 on  fdatasync      nothing
on-none           nbd-scsi 2 on  none           all
off-none          nbd-scsi 3 off none           nothing
off-fdatasync     nbd-scsi 4 off fdatasync      nothing
on-writethrough   nbd-scsi 5 on  fdatasync      all
on-liar           nbd-scsi 6 on  fdatasync      all
off-liar          nbd-scsi 7 off fdatasync      all
sata-dsync        nbd-sata 1 on  dsync          nothing
sata-flush-16     nbd-sata 2 on  flush-every:16 nothing'

# Looked for once in a boot.
declare -A node
while read -r name kind nth _; do
	node[$name]=$(drive "$kind" "$nth")
done <<<"$rows"

serve() { # LOG
	local tries

	ip link set lo up
	wcbench powercut serve --log "$1" $port 2>/run/serve &
	for ((tries = 0; tries < 100; tries++)); do
		grep -q ready /run/serve && return
		sleep 0.1
	done
	bad "no server: $(cat /run/serve)"
}

make_row() { # NAME SETTING
	local name=$1 d=${node[$1]} disk

	[ "$2" = on ] || wcache-set off "$d"
	is "$name: cache" "$(oracle "$d")" "$2"
	if [ "$name" = on-writethrough ]; then
		disk=$(echo "/sys/block/${d#/dev/}/device/scsi_disk/"*)
		echo 'temporary write through' >"$disk/cache_type"
		is "$name: the kernel's view" "$(kernel_view "$d")" 'write through'
	fi
}

# Writes that each has completed (Documentation/block/stat.rst, field 5).
all_have_written() { # N
	local d writes

	for d in "${node[@]}"; do
		read -r _ _ _ _ writes _ <"/sys/block/${d#/dev/}/stat"
		[ "$writes" -ge "$1" ] || return 1
	done
}

if [ "$LAB_BOOT" = 1 ]; then
	serve /run/lab/powercut.log
	while read -r name kind nth setting mode lost; do
		make_row "$name" "$setting"
	done <<<"$rows"
	while read -r name kind nth setting mode lost; do
		wcbench powercut run --quiet --destroy-data --name "$name" --mode "$mode" \
			--writers 2 --blocks 512 $port "${node[$name]}" 2>"/run/$name" &
	done <<<"$rows"
	# The last writes of each are in flight at the cut.
	until all_have_written 100 || [ "$SECONDS" -gt 120 ]; do
		sleep 0.5
	done
	while read -r name kind nth setting mode lost; do
		is "$name: at work" "$(<"/run/$name")" ''
	done <<<"$rows"
	power_cut
fi

# A read of the host's folder is a message to the host.
cp /run/lab/powercut.log /run/powercut.log
serve /run/powercut.log
while read -r name kind nth setting mode lost; do
	wcbench powercut verify --json --name "$name" $port "${node[$name]}" >/run/judged
	status=$?
	read -r acked gone restarted cuts found <<<"$(jq -r '.writes.acknowledged, .writes.lost,
		.restarted, .cuts.judged, (.blocks | [.torn, .misdirected, .corrupt, .future,
		.unreadable] | tostring)' /run/judged | tr '\n' ' ')"
	ok "$name: $acked writes acknowledged" test "${acked:-0}" -ge 20
	is "$name: restarted" "$restarted" true
	is "$name: cuts judged" "$cuts" 1
	is "$name: torn, misdirected, corrupt, future, unreadable" "$found" '[0,0,0,0,0]'
	if [ "$lost" = all ]; then
		is "$name: lost" "$gone" "$acked"
		is "$name: status" "$status" 3
	else
		is "$name: lost" "$gone" 0
		is "$name: status" "$status" 0
	fi
done <<<"$rows"

# What must be refused, and what a machine without a server says.
d=$(drive scsi)
is 'no --destroy-data: status' "$(wcbench powercut run --time 1 $port "$d" 2>/run/err; echo $?)" 1
has 'no --destroy-data: says so' "$(cat /run/err)" --destroy-data
mkfs.ext4 -q "$d"
mkdir -p /run/mounted
mount "$d" /run/mounted
is 'mounted: status' "$(wcbench powercut run --time 1 --destroy-data $port "$d" 2>/run/err; echo $?)" 1
has 'mounted: says so' "$(cat /run/err)" mounted
is 'a file: status' "$(wcbench powercut run --time 1 --blocks 64 --name file $port /run/mounted/f >/run/out; echo $?)" 0
is 'a file: verify' "$(wcbench powercut verify --name file $port /run/mounted/f >/run/out; echo $?)" 0
has 'a file: that was no cut' "$(cat /run/out)" 'no cut'
is 'no server: status' "$(wcbench powercut run --time 1 5999 /run/mounted/g 2>/run/err; echo $?)" 1
is 'no server: no file' "$(ls /run/mounted/g 2>/dev/null)" ''
finish
