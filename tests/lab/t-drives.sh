#!/bin/bash
# Every kind of drive: get, set and flush do their whole job, judged by others.
# drives: sata scsi megasas mptsas nvme virtio usb-storage uas
set -u
. "$LAB/guest"

# One synced write reaches the drive with a flush exactly where its cache is on.
flushes_of_fsync() { # NODE
	local before

	before=$(flushes "$1")
	dd if=/dev/zero of="$1" bs=4096 count=1 seek=64 conv=notrunc,fsync 2>/dev/null
	echo $(($(flushes "$1") - before))
}

# What queue/write_cache should say with the cache off. The kernel's view of NVMe
# follows what the controller has, not what is set.
off_view() { # KIND
	case $1 in
	nvme) echo 'write back' ;;
	*) echo 'write through' ;;
	esac
}

for kind in sata scsi megasas mptsas nvme virtio usb-storage uas; do
	d=$(drive "$kind")
	is "$kind: found" "$(field "$d" device)" "${d#/dev/}"
	is "$kind: as the oracle says" "$(field "$d" cache)" "$(oracle "$kind" "$d")"

	wcache-set off "$d" >/tmp/out 2>&1
	is "$kind: off: status" "$?" 0
	# but for a RAID volume, whose disks keep their own setting
	is "$kind: off: silent" "$(grep -v "^wcache-set: $d: warning: .*the disks behind it keep theirs" /tmp/out)" ''
	is "$kind: off: oracle" "$(oracle "$kind" "$d")" off
	is "$kind: off: get" "$(field "$d" cache)" off
	is "$kind: off: kernel" "$(kernel_view "$d")" "$(off_view "$kind")"
	has "$kind: off again does nothing" "$(wcache-set -v off "$d")" 'nothing to do'
	is "$kind: off: check" "$(wcache-get --check=off "$d" >/dev/null; echo $?)" 0
	[ "$kind" = nvme ] || is "$kind: off: flushes of one fsync" "$(flushes_of_fsync "$d")" 0

	wcache-set on "$d"
	is "$kind: on: status" "$?" 0
	is "$kind: on: oracle" "$(oracle "$kind" "$d")" on
	is "$kind: on: get" "$(field "$d" cache)" on
	is "$kind: on: kernel" "$(kernel_view "$d")" 'write back'
	is "$kind: on: check" "$(wcache-get --check=off "$d" >/dev/null; echo $?)" 3
	is "$kind: on: flushes of one fsync" "$(flushes_of_fsync "$d")" 1
	has "$kind: flush" "$(wcache-flush -v "$d")" 'flushed in'

	# Where others changed it behind our back, the drive is what is told.
	oracle_set "$kind" "$d" off
	is "$kind: changed by the oracle" "$(field "$d" cache)" off
	wcache-set on "$d"
done

# Drive on, kernel write through: the pair that loses data. sdparm makes it. By the sg
# node: where udevd watches the disk's own, it has the kernel read everything again as soon
# as a writer closes it (BLKRRPART).
d=$(drive scsi)
sg=$(echo "/sys/block/${d#/dev/}/device/scsi_generic/"*)
wcache-set off "$d"
sdparm --set=WCE "/dev/${sg##*/}" >/dev/null
is 'deadly pair: kernel' "$(kernel_view "$d")" 'write through'
is 'deadly pair: get' "$(field "$d" fsync)" at-risk
is 'deadly pair: code' "$(field "$d" 'findings[0].code')" drive-on-kernel-write-through
is 'deadly pair: remedy' "$(field "$d" 'findings[0].remedy')" "wcache-set on $d"
is 'deadly pair: check' "$(wcache-get --check=durable "$d" >/dev/null; echo $?)" 3
is 'deadly pair: no flush' "$(flushes_of_fsync "$d")" 0
wcache-set on "$d"
is 'repaired: status' "$?" 0
is 'repaired: kernel' "$(kernel_view "$d")" 'write back'
is 'repaired: get' "$(field "$d" 'findings | map(.code) | join(" ")')" virtual-disk
is 'repaired: flushes' "$(flushes_of_fsync "$d")" 1
# and nothing was left that keeps the kernel from following
echo 1 >"/sys/block/${d#/dev/}/device/rescan"
is 'repaired: after a rescan' "$(kernel_view "$d")" 'write back'
sdparm --clear=WCE "/dev/${sg##*/}" >/dev/null
echo 1 >"/sys/block/${d#/dev/}/device/rescan"
is 'repaired: the kernel follows again' "$(kernel_view "$d")" 'write through'
wcache-set on "$d"

# Many at once, one of them bad.
wcache-set off "$(drive sata)" /dev/nosuch "$(drive nvme)" 2>/tmp/err
is 'several: status' "$?" 5
has 'several: the bad one is named' "$(cat /tmp/err)" '/dev/nosuch'
is 'several: the others are done' "$(oracle sata "$(drive sata)") $(oracle nvme "$(drive nvme)")" 'off off'

# A recording of a real drive answers as the drive did.
wcache-get -v --capture /tmp/capture "$(drive sata)" >/tmp/live
is 'capture: status' "$?" 0
wcache-get -v --replay /tmp/capture >/tmp/replayed
is 'replay: status' "$?" 0
is 'replay: cache' "$(grep ' cache ' /tmp/replayed)" "$(grep ' cache ' /tmp/live)"
is 'capture: no serial number' "$(grep -c LAB-SATA /tmp/capture)" 0

# By other names.
d=$(drive sata)
is 'by id' "$(field "$(echo /dev/disk/by-id/ata-*LAB-SATA-1)" device)" "${d#/dev/}"
is 'by kernel name' "$(field "${d#/dev/}" device)" "${d#/dev/}"
is 'NVMe controller' "$(field /dev/nvme0 device)" nvme0n1

# Reading changes nothing.
oracle_set sata "$d" off
wcache-get -v >/dev/null
is 'reading leaves it off' "$(oracle sata "$d")" off
finish
