#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The lab itself: every kind of drive under its real driver, switched and judged by the tools
# that came before, flushes counted, plugged and unplugged, and a warm reset.
# drives: sata scsi megasas mptsas nvme virtio usb-storage uas sata:write-cache=off scsi:write-cache=off:plug=off cdrom card-reader
set -u
. "$LAB/guest"

fsync_flushes() { # NODE
	local before

	before=$(flushes "$1")
	dd if=/dev/zero of="$1" bs=4096 count=1 seek=8 conv=notrunc,fsync 2>/dev/null
	echo $(($(flushes "$1") - before))
}

if [ "$LAB_BOOT" = 2 ]; then
	is 'reset: the drive is its old self' "$(oracle "$(drive sata 2)")" off
	finish
	exit
fi

while read -r kind driver; do
	d=$(drive "$kind")
	is "$kind: driver" "$(driver_of "$d")" "$driver"
	is "$kind: at first" "$(oracle "$d")" on
	is "$kind: kernel" "$(kernel_view "$d")" 'write back'
	is "$kind: on: flushes of one fsync" "$(fsync_flushes "$d")" 1
	oracle_set "$d" off
	is "$kind: off" "$(oracle "$d")" off
	oracle_set "$d" on
	is "$kind: on again" "$(oracle "$d")" on
	ok "$kind: udev knows it" grep -q ^E:ID_SERIAL= "/run/udev/data/b$(cat "/sys/block/${d#/dev/}/dev")"
done <<-END
	sata ahci
	scsi virtio_scsi
	megasas megaraid_sas
	mptsas mptsas
	nvme nvme
	virtio virtio_blk
	usb-storage usb-storage
	uas uas
END
is 'write-cache=off' "$(oracle "$(drive sata 2)")" off
is 'write-cache=off: kernel' "$(kernel_view "$(drive sata 2)")" 'write through'
is 'write-cache=off: flushes of one fsync' "$(fsync_flushes "$(drive sata 2)")" 0
is 'cdrom' "$(oracle "$(drive cdrom)")" none
is 'card reader' "$(cat "/sys/block/$(basename "$(drive card-reader)")/size")" 0

is 'plug: not there at first' "$(find_drive LAB-SCSI-10)" ''
ok 'plug: a drive that is new' plug scsi 2
is 'plug: its options' "$(oracle "$(drive scsi 2)")" off
while read -r kind nth setting; do
	d=$(drive "$kind" "$nth")
	ok "$kind $nth: unplug" unplug "$kind" "$nth"
	is "$kind $nth: gone" "$([ -e "/sys/block/${d#/dev/}" ] || echo gone)" gone
	ok "$kind $nth: plug" plug "$kind" "$nth"
	is "$kind $nth: as new" "$(oracle "$(drive "$kind" "$nth")")" "$setting"
done <<-END
	scsi 2 off
	nvme 1 on
	virtio 1 on
	usb-storage 1 on
END
reset
