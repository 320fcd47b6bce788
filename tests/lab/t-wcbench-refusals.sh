#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What wcbench refuses, and what becomes of a run that is disturbed.
# drives: scsi virtio
# lab: --timeout 240
set -u
. "$LAB/guest"

check() { # TEXT COMMAND...: a test by the command's status
	local text=$1

	shift
	if "$@" >/tmp/check 2>&1; then
		ok "$text"
	else
		bad "$text: $*: $(tail -n 1 /tmp/check)"
	fi
}

codes() { jq -r '[.verdict.reasons[].code] | join(" ")' /tmp/r.json; }

d=$(drive scsi)

# Refusals: each says why, and changes nothing.
refuses() { # TEXT PART ARG...
	local text=$1 part=$2

	shift 2
	timeout 30 wcbench --quiet --preset=quick "$@" >/tmp/out 2>/tmp/err
	is "$text: status" "$?" 1
	check "$text: says '$part'" grep -q -- "$part" /tmp/err
}

refuses 'device' 'destroy-data' "$d"
v=$(drive virtio)
mkfs.ext4 -q "$v"
mkdir -p /tmp/fs
mount "$v" /tmp/fs
refuses 'mounted device' 'mounted' --destroy-data "$v"
refuses 'disk full' 'MiB are free' --cache=current --size=200M /tmp/fs
mount -o remount,ro /tmp/fs
refuses 'read-only' 'read-only' --cache=current /tmp/fs
mount -o remount,rw,nobarrier /tmp/fs
wcbench --preset=quick --quiet --json --cache=current --workloads=wal-fdatasync --size=8M --pairs=1 \
	/tmp/fs >/tmp/r.json
is 'nobarrier: status' "$?" 3
check "nobarrier: $(codes)" sh -c "echo '$(codes)' | grep -q 'E_NOFLUSH E_MOUNT'"
is 'no file is left' "$(ls -A /tmp/fs)" 'lost+found'
umount /tmp/fs
refuses 'tmpfs' 'memory' --cache=current /run

# Two at once on one drive.
wcbench --preset=quick --quiet --json --cache=current --workloads=rndw --window=8 --pairs=1 --destroy-data \
	"$d" >/tmp/first.json &
first=$!
sleep 3
refuses 'a second one' '' --cache=current --destroy-data "$d"
check 'a second one: says which' grep -Eq 'another wcbench|used by another' /tmp/err
wait $first
is 'a second one: the first is not disturbed' "$?" 0

# A drive that goes away in the middle.
wcbench --preset=quick --quiet --json --cache=current --workloads=rndw --window=20 --pairs=1 --destroy-data \
	"$d" >/tmp/r.json &
first=$!
sleep 5
monitor device_del lab-1-disk
wait $first
is 'gone: status' "$?" 3
check "gone: verdict, $(codes)" sh -c "echo '$(codes)' | grep -Eq 'E_IO|E_GONE'"

finish
