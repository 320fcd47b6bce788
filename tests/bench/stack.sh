#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What it costs to find the drives of a path: the time, against lsblk -s on the same device,
# and how often sysfs is asked where there are many layers and drives.
# drives: sata
# lab: --memory 1536 --timeout 1200
set -u
. "$LAB/guest"
cd /tmp || exit

# --- LVM over LUKS on one drive

d=$(drive sata)
lvm_on_luks "$d"
udevadm settle
root=/dev/lab-vg/root

took() { # COMMAND...: microseconds
	local start=$EPOCHREALTIME end

	"$@" >/dev/null
	end=$EPOCHREALTIME
	echo $((${end/./} - ${start/./}))
}

median() {
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

get=() lsblk=()
for ((i = 0; i < 21; i++)); do
	get+=("$(took wcache-get "$root")")
	lsblk+=("$(took lsblk -s "$root")")
done
# The first reads the programs from the host.
ours=$(median "${get[@]:1}")
theirs=$(median "${lsblk[@]:1}")
is 'drives' "$(wcache-get --json "$root" | jq -r '.paths[0].drives[].device')" "${d#/dev/}"
echo "wcache-get PATH: $ours us, lsblk -s: $theirs us, ratio $((ours * 100 / theirs)) %"
ok 'wcache-get PATH is not slower than lsblk -s' [ "$ours" -le "$theirs" ]

# --- eight layers over 36 drives

modprobe scsi_debug dev_size_mb=8 add_host=36 per_host_store=1 delay=0
udevadm settle
many=(/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*)
is 'drives of scsi_debug' "${#many[@]}" 36
mdadm --quiet --create /dev/md7 --run --level=0 --raid-devices=36 "${many[@]/#*\///dev/}" 2>/dev/null
top=/dev/md7
for ((i = 0; i < 5; i++)); do
	dmsetup create "deep$i" --table "0 $(blockdev --getsz "$top") linear $top 0"
	top=/dev/mapper/deep$i
done
mkfs.ext4 -q "$top"
mkdir /mnt/deep
mount "$top" /mnt/deep
wcache-get --json /mnt/deep >/tmp/deep
is 'deep: drives' "$(jq '.paths[0].drives | length' /tmp/deep)" 36
is 'deep: layers' "$(jq -r '[.paths[0].stack[].type] | join(" ")' /tmp/deep)" \
	"ext4 dm dm dm dm dm md-raid0$(printf ' disk%.0s' "${many[@]}")"

# Every attribute that is opened, with how often.
strace -f -qq -y -e trace=open,openat -o /tmp/trace "$LAB_BUILD/tests/unit/stack-leaves" '' /mnt/deep >/tmp/leaves
is 'resolved: drives' "$(cut -f2 /tmp/leaves | wc -w)" 36
grep -v O_DIRECTORY /tmp/trace | sed -n 's/.* = [0-9]*<\(\/sys\/[^>]*\)>$/\1/p' | sort | uniq -c >/tmp/reads
echo "resolved with $(wc -l </tmp/reads) attributes of sysfs"
# A queue has one; the device mapper has a name and an UUID too, md its level.
ok 'resolved: what must be read is' [ "$(wc -l </tmp/reads)" -ge $((36 + 1 + 1 + 5 * 3)) ]
is 'resolved: attributes read more than once' "$(awk '$1 > 1' /tmp/reads)" ''
finish
