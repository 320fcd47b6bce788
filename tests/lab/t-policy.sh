#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The policy of a site, applied by udevd: at boot, at hot plug, after resets. t-policy-boot.sh has
# a boot and a sleep.
# drives: sata sata scsi nvme virtio usb-storage
# lab: --timeout 900
set -u
. "$LAB/guest"
. "$LAB/policy"

busybox syslogd -O /run/log
put_rule
name_drives

# Installed, with the example for a policy: nothing changes.
udevadm control --reload
cp "$system/wcache.conf" /etc/wcache.conf
before=$(all)
events
is 'the example policy' "$(all)" "$before"
is 'nothing in the log' "$(grep -c wcache /run/log)" 0
has 'the rule, as udevadm test has it' \
	"$(udevadm test --action=add "/sys/block/${sata1#/dev/}" 2>/dev/null)" \
	"wcache-set --apply-policy --quiet --timeout 5 $sata1"

# udevd starts anew and is told of every drive.
oracle_set "$sata2" off
settle
udevadm control --exit
put_policy
/lib/systemd/systemd-udevd --daemon 2>/dev/null
events
is 'coldplug: first SATA off, other on, SCSI, NVMe and virtio off, USB left' "$(all)" "$wanted"
is 'coldplug: kernel of the SATA drive that is on' "$(kernel_view "$sata2")" 'write back'
has 'coldplug: the log names the line' "$(cat /run/log)" \
	"$sata1: write cache set off, as /etc/wcache.conf:3 wants it"

# A second event finds everything as wanted.
lines=$(wc -l </run/log)
before=$(flushes "$sata2")
events
is 'again: settings' "$(all)" "$wanted"
is 'again: nothing in the log' "$(wc -l </run/log)" "$lines"
is 'again: no flush' "$(flushes "$sata2")" "$before"

# Several events for one drive at once.
oracle_set "$scsi" on
settle
pids=
for _ in 1 2 3; do
	as_udev wcache-set --apply-policy "$scsi" &
	pids="$pids $!"
done
status=
for pid in $pids; do
	wait "$pid"
	status="$status$?"
done
is 'three at once: status' "$status" 000
is 'three at once: setting' "$(oracle "$scsi")" off

# Hot plug: new disks are on. QEMU has none for SATA: there the kernel forgets the disk.
for kind in scsi nvme virtio; do
	unplug $kind
	plug $kind
done
oracle_set "$sata1" on
path=$(readlink -f "/sys/block/${sata1##*/}/device")
host=$(echo "$path" | grep -o 'host[0-9]*' | head -n 1)
echo 1 >"$path/delete"
echo '- - -' >"/sys/class/scsi_host/$host/scan"
name_drives
settle
is 'hot plug' "$(all)" "$wanted"

# One that is gone again before the rule has come to it.
lines=$(wc -l </run/log)
udevadm control --stop-exec-queue
for _ in 1 2; do
	unplug scsi
	plug scsi
done
unplug scsi
udevadm control --start-exec-queue
settle
is 'gone before the rule: nothing to complain of' \
	"$(tail -n "+$((lines + 1))" /run/log | grep wcache)" ''
plug scsi
scsi=$(drive scsi)
settle
is 'gone before the rule: and back' "$(oracle "$scsi")" off

# An NVMe controller is reset, a SCSI disk tells that it was.
oracle_set "$nvme" on
nvme reset "${nvme%n*}"
is 'NVMe reset' "$(until_is off oracle "$nvme")" off
oracle_set "$scsi" on
settle
udevadm monitor --kernel --property --subsystem-match=scsi >/run/events &
monitor_pid=$!
sleep 0.5
sg_reset --device "$scsi"
sg_turs "$scsi" >/dev/null 2>&1
read_from "$scsi"
is 'SCSI reset' "$(until_is off oracle "$scsi")" off
kill "$monitor_pid"
has 'SCSI reset: the kernel told of it' "$(cat /run/events)" SDEV_UA=POWER_ON_RESET_OCCURRED

# Simulated drives lose their power, and with it the setting; the next command is told.
modprobe -a uio target_core_mod target_core_user tcm_loop
mount -t configfs configfs /sys/kernel/config
wcsim sas satl &
sim_pid=$!
sas_and_satl() {
	local d

	for d in /sys/block/sd*; do
		case $(<"$d/device/model") in
		'SIM SATL'* | 'SAS'*) echo "/dev/${d##*/}" ;;
		esac
	done | xargs
}
until_is 2 eval 'sas_and_satl | wc -w' >/dev/null
read -r sim1 sim2 <<<"$(sas_and_satl)"
settle
both() {
	local judge1=scsi judge2=scsi

	[[ $(<"/sys/block/${sim1#/dev/}/device/model") != *SATL* ]] || judge1=sata
	[[ $(<"/sys/block/${sim2#/dev/}/device/model") != *SATL* ]] || judge2=sata
	echo "$(oracle $judge1 "$sim1") $(oracle $judge2 "$sim2")"
}
is 'simulated: as they appear' "$(both)" 'off off'
lines=$(wc -l </run/log)
kill -USR1 "$sim_pid"
read_from "$sim1"
read_from "$sim2"
is 'simulated: power lost and back' "$(until_is 'off off' both)" 'off off'
is 'simulated: by the rule' \
	"$(tail -n "+$((lines + 1))" /run/log | grep -c 'write cache set off, as /etc/wcache.conf:23')" 2
for d in "$sim1" "$sim2"; do
	echo 1 >"/sys/block/${d#/dev/}/device/delete"
done
kill "$sim_pid"

# A drive that hangs is given up, and the log knows.
modprobe scsi_debug dev_size_mb=8
settle
hung=$(grep -l scsi_debug /sys/block/sd*/device/model | cut -d/ -f4)
is 'scsi_debug: at first' "$(oracle scsi "/dev/$hung")" off
echo 1 >/sys/bus/pseudo/drivers/scsi_debug/every_nth
echo 4 >/sys/bus/pseudo/drivers/scsi_debug/opts
from=$SECONDS
as_udev wcache-set --apply-policy --quiet --timeout 2 "/dev/$hung"
status=$?
took=$((SECONDS - from))
echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts
is 'hung: status' "$([ "$status" != 0 ] && echo failed)" failed
is 'hung: given up' "$([ "$took" -le 15 ] && echo soon)" soon
has 'hung: in the log' "$(grep "wcache-set.*$hung" /run/log)" 'no answer within 2.0 s'
modprobe -r scsi_debug

# What a broken policy says counts for nothing, and the log has the place.
set_all on
settle
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

# Another program is told otherwise.
printf '%s {\n\twrite_cache = on\n}\n' "$sata1" >/etc/hdparm.conf
echo 'DEVICESCAN -a -e wcache,off' >/etc/smartd.conf
has 'set elsewhere: against the policy' "$(wcache-get -v "$sata1")" \
	'hdparm turns the write cache on when the drive appears (/etc/hdparm.conf:2), and the policy wants it off (/etc/wcache.conf:3)'
is 'set elsewhere: only who disagrees' \
	"$(field "$sata2" 'findings | map(.code + " " + .text) | join(",")')" \
	'set-elsewhere smartd turns the write cache off when it starts (/etc/smartd.conf:1), and the policy wants it on (/etc/wcache.conf:8)'
has 'set elsewhere: in the list' "$(wcache-get | grep "^${sata1#/dev/} ")" set-elsewhere
rm /etc/hdparm.conf /etc/smartd.conf

wcache-set --apply-policy
is 'all drives: status' "$?" 0
is 'all drives' "$(all)" "$wanted"

# A drive that is gone when the rule runs; the same by hand is an error.
as_udev wcache-set --apply-policy /dev/nosuch 2>/run/err
is 'gone: by udevd' "$? $(cat /run/err)" '0 '
wcache-set --apply-policy /dev/nosuch 2>/run/err
is 'gone: by hand' "$?" 1

# A path counts once the file systems are mounted.
printf '[db]\npath = /srv/db\ncache = on\n[default]\ncache = off\n' >/etc/wcache.conf
mkfs.ext4 -q "$scsi"
mkdir -p /srv/db
settle
wcache-set off "$scsi"
as_udev wcache-set --apply-policy "$scsi"
is 'path: before the mounts it is left' "$(oracle "$scsi")" off
modprobe ext4
mount "$scsi" /srv/db
mkdir -p /run/wcache
as_udev wcache-set --apply-policy "$scsi"
is 'path: below a mounted file system' "$(oracle "$scsi")" on
wcache-set --apply-policy "$virtio" "$sata2"
is 'path: other drives' "$(oracle "$virtio") $(oracle "$sata2")" 'off off'
umount /srv/db

# What the drive cannot keep: the section to paste is a policy, and does it.
wcache-set --save off "$sata2" 2>/run/err >/etc/wcache.conf
is 'save: refused' "$?" 3
wcache-set on "$sata2"
wcache-set --apply-policy "$sata2"
is 'save: the section pasted' "$(oracle "$sata2")" off

finish
