#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The policy of a site, applied by udevd: at boot, at hot plug, after resets, after sleep.
# drives: sata sata scsi nvme virtio usb-storage
set -u
. "$LAB/guest"

busybox syslogd -O /run/log
system=$LAB/../../tools/system
mkdir -p /run/udev/rules.d
sed "s,@sbindir@,$LAB_BUILD/tools," "$system/65-wcache.rules.in" >/run/udev/rules.d/65-wcache.rules
sata1=$(drive sata)
sata2=$(drive sata 2)
scsi=$(drive scsi)
nvme=$(drive nvme)
virtio=$(drive virtio)
usb=$(drive usb-storage)

write_policy() {
	cat >/etc/wcache.conf <<POLICY
[first]
serial = LAB-SATA-1
cache = off

[other SATA]
bus = sata
model = LAB*
cache = on

[scsi]
model = SCSI *
cache = off

[fast]
bus = nvme
cache = off

[stick]
bus = usb
cache = leave

[default]
cache = off
POLICY
}

set_all() { # on|off: behind the policy's back
	oracle_set sata "$sata1" "$1"
	oracle_set sata "$sata2" "$1"
	oracle_set scsi "$scsi" "$1"
	oracle_set nvme "$nvme" "$1"
	oracle_set virtio "$virtio" "$1"
	oracle_set usb-storage "$usb" "$1"
}

all() {
	echo "$(oracle sata "$sata1") $(oracle sata "$sata2") $(oracle scsi "$scsi")" \
		"$(oracle nvme "$nvme") $(oracle virtio "$virtio") $(oracle usb-storage "$usb")"
}

events() {
	udevadm trigger --action=add --subsystem-match=block
	udevadm settle --timeout=60
}

until_is() { # VALUE COMMAND...: for what comes after an event that nobody announces
	local want=$1

	shift
	for _ in $(seq 100); do
		[ "$("$@")" != "$want" ] || break
		sleep 0.1
	done
	"$@"
}

# Installed, with no policy or the example: nothing changes.
udevadm control --reload
set_all on
udevadm settle
before=$(all)
events
is 'no policy' "$(all)" "$before"
cp "$system/wcache.conf" /etc/wcache.conf
events
is 'the example policy' "$(all)" "$before"
is 'nothing in the log' "$(grep -c wcache /run/log)" 0

# Boot: udevd starts anew and is told of every drive.
set_all on
oracle_set sata "$sata2" off
udevadm settle
udevadm control --exit
write_policy
/lib/systemd/systemd-udevd --daemon 2>/dev/null
events
is 'boot: first SATA off, other on, SCSI, NVMe and virtio off, USB left' "$(all)" \
	'off on off off off on'
is 'boot: kernel of the SATA drive that is on' "$(kernel_view "$sata2")" 'write back'
has 'boot: the log names the line' "$(cat /run/log)" \
	"$sata1: write cache set off, as /etc/wcache.conf:3 wants it"

# A second event finds everything as wanted.
lines=$(wc -l </run/log)
before=$(flushes "$sata2")
events
is 'again: settings' "$(all)" 'off on off off off on'
is 'again: nothing in the log' "$(wc -l </run/log)" "$lines"
is 'again: no flush' "$(flushes "$sata2")" "$before"

# Two events for one drive at once.
set_all on
udevadm settle
for _ in 1 2 3; do
	ACTION=add DEVPATH=/x SEQNUM=1 wcache-set --apply-policy "$scsi" &
	pids="${pids-} $!"
done
status=
for pid in $pids; do
	wait "$pid"
	status="$status$?"
done
is 'three at once: status' "$status" 000
is 'three at once: setting' "$(oracle scsi "$scsi")" off

# Hot plug: the disk goes and comes back, changed meanwhile.
oracle_set scsi "$scsi" on
path=$(readlink -f "/sys/block/${scsi##*/}/device")
host=$(echo "$path" | grep -o 'host[0-9]*' | head -n 1)
echo 1 >"$path/delete"
echo '- - -' >"/sys/class/scsi_host/$host/scan"
udevadm settle --timeout=60
rm -f /run/drives
scsi=$(drive scsi)
is 'hot plug: SCSI' "$(oracle scsi "$scsi")" off
oracle_set nvme "$nvme" on
pci=$(readlink -f /sys/class/nvme/nvme0/device)
echo 1 >"$pci/remove"
echo 1 >/sys/bus/pci/rescan
until_is /dev/nvme0n1 ls /dev/nvme0n1 >/dev/null 2>&1
udevadm settle --timeout=60
is 'hot plug: NVMe' "$(until_is off oracle nvme "$nvme")" off

# An NVMe controller is reset, a SCSI disk tells that it was.
oracle_set nvme "$nvme" on
nvme reset /dev/nvme0
is 'NVMe reset' "$(until_is off oracle nvme "$nvme")" off
oracle_set scsi "$scsi" on
udevadm settle
udevadm monitor --kernel --property --subsystem-match=scsi >/run/events &
monitor_pid=$!
sleep 0.5
sg_reset --device "$scsi"
sg_turs "$scsi" >/dev/null 2>&1
dd if="$scsi" of=/dev/null bs=4096 count=1 iflag=direct 2>/dev/null
is 'power-on UNIT ATTENTION' "$(until_is off oracle scsi "$scsi")" off
kill "$monitor_pid"
has 'the kernel told of it' "$(cat /run/events)" SDEV_UA=POWER_ON_RESET_OCCURRED

# Around a sleep: the hook, as systemd-sleep(8) calls it.
set_all on
sed "s,@sbindir@,$LAB_BUILD/tools," "$system/wcache-sleep.in" >/run/sleep-hook
sh /run/sleep-hook pre suspend
is 'before sleep nothing is set' "$(oracle sata "$sata1")" on
sh /run/sleep-hook post suspend
is 'after sleep' "$(all)" 'off on off off off on'

# What a broken policy says counts for nothing, and the log has the place.
set_all on
udevadm settle
mkdir -p /etc/wcache.conf.d
printf '[x]\nbus = *\ncache = of\n' >/etc/wcache.conf.d/x.conf
events
is 'broken policy: nothing changed' "$(all)" 'on on on on on on'
has 'broken policy: in the log' "$(cat /run/log)" "/etc/wcache.conf.d/x.conf:3:9: 'of' is not on"
wcache-set --apply-policy 2>/run/err
is 'broken policy: status' "$?" 1
has 'broken policy: message' "$(cat /run/err)" '/etc/wcache.conf.d/x.conf:3:9'
rm /etc/wcache.conf.d/x.conf

# What would be done, and why.
out=$(wcache-set --apply-policy --dry-run)
is 'dry run: status' "$?" 0
has 'dry run: the line that decides' "$out" "$sata1: /etc/wcache.conf:3 wants it off"
has 'dry run: the steps' "$out" "$sata1: would "
has 'dry run: left' "$out" "$usb: left as it is, on (/etc/wcache.conf:20)"
is 'dry run: nothing changed' "$(all)" 'on on on on on on'
out=$(wcache-set --apply-policy --dry-run --json | jq -r '.changes[] | .device + " " + .wanted')
has 'dry run: JSON' "$out" "${virtio#/dev/} off"
wcache-set --apply-policy
is 'all drives: status' "$?" 0
is 'all drives' "$(all)" 'off on off off off on'

# A drive that is gone when the rule runs; the same by hand is an error.
ACTION=add DEVPATH=/x SEQNUM=1 wcache-set --apply-policy /dev/nosuch 2>/run/err
is 'gone: by udevd' "$? $(cat /run/err)" '0 '
wcache-set --apply-policy /dev/nosuch 2>/run/err
is 'gone: by hand' "$?" 1

# A path counts once the file systems are mounted.
printf '[db]\npath = /srv/db\ncache = on\n[default]\ncache = off\n' >/etc/wcache.conf
mkfs.ext4 -q "$scsi"
mkdir -p /srv/db
udevadm settle
wcache-set off "$scsi"
ACTION=add DEVPATH=/x SEQNUM=1 wcache-set --apply-policy "$scsi"
is 'path: before the mounts it is left' "$(oracle scsi "$scsi")" off
modprobe ext4
mount "$scsi" /srv/db
mkdir -p /run/wcache
ACTION=add DEVPATH=/x SEQNUM=1 wcache-set --apply-policy "$scsi"
is 'path: below a mounted file system' "$(oracle scsi "$scsi")" on
wcache-set --apply-policy "$virtio" "$sata2"
is 'path: other drives' "$(oracle virtio "$virtio") $(oracle sata "$sata2")" 'off off'
umount /srv/db

# What the drive cannot keep: the section to paste is a policy, and does it.
wcache-set --save off "$sata2" 2>/run/err >/etc/wcache.conf
is 'save: refused' "$?" 3
wcache-set on "$sata2"
wcache-set --apply-policy "$sata2"
is 'save: the section pasted' "$(oracle sata "$sata2")" off
finish
