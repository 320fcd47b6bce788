#!/bin/bash
# What is no drive, or no longer one: a clear line, the right status, the others done.
# drives: sata scsi scsi cdrom
set -u
. "$LAB/guest"

complains() { # TARGET STATUS PART
	wcache-get "$1" "$(drive sata)" >/tmp/out 2>/tmp/err
	is "$1: status" "$?" "$2"
	has "$1: message" "$(cat /tmp/err)" "wcache-get: $1: $3"
	has "$1: the other one is done" "$(cat /tmp/out)" "$(basename "$(drive sata)")"
}

echo hello >/tmp/file
mkdir -p /tmp/empty
modprobe loop
truncate -s 1M /tmp/loop.img
losetup /dev/loop0 /tmp/loop.img
complains /nonexistent/path 5 'no such device'
complains /dev/null 5 'a character device'
complains /dev/loop7 5 'no drive can be found below it: loop7 (loop): it has no backing file'
complains /dev/sr0 5 'an optical drive'
is 'cdrom is not listed' "$(wcache-get | grep -c '^sr')" 0
is 'loop is not listed' "$(wcache-get | grep -c '^loop')" 0

# A partition stands for its drive.
d=$(drive scsi)
echo ',,L' | sfdisk -q "$d"
udevadm settle
is 'partition' "$(field "${d}1" device)" "${d#/dev/}"
wcache-set off "${d}1"
is 'partition: set' "$? $(oracle scsi "$d")" '0 off'
wcache-set on "$d"

# Without permission: what sysfs tells, and what needs root.
setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v wcache-get)" --json "$d" >/tmp/out 2>/tmp/err
is 'not root: status' "$?" 4
is 'not root: cache' "$(jq -r '.drives[0].cache' /tmp/out)" unknown
is 'not root: kernel' "$(jq -r '.drives[0].kernel' /tmp/out)" write-back
is 'not root: verdict' "$(jq -r '.drives[0].fsync' /tmp/out)" unknown
has 'not root: reason' "$(jq -r '.drives[0].reason' /tmp/out)" root
setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v wcache-set)" off "$d" 2>/tmp/err
is 'not root: set' "$?" 1
has 'not root: set says why' "$(cat /tmp/err)" 'Run it as root'
is 'not root: nothing changed' "$(oracle scsi "$d")" on

# A drive that goes away between two questions.
gone=$(drive scsi 2)
monitor device_del lab-3-disk
for _ in $(seq 100); do
	[ -e "/sys/block/${gone#/dev/}" ] || break
	sleep 0.1
done
complains "$gone" 5 'no such device'
wcache-set off "$gone" 2>/tmp/err
is 'gone: set' "$?" 1

# Recordings that are none.
head -c 5000 /dev/urandom >/tmp/garbage
for f in /tmp/garbage /tmp/empty /dev/null /nonexistent; do
	wcache-get --replay "$f" >/tmp/out 2>/tmp/err
	is "replay of $f" "$? $(wc -l </tmp/err)" '1 1'
done
printf 'wcache-exchange 1\ndevice sda\nbroken line\n' >/tmp/broken
wcache-get --replay /tmp/broken 2>/tmp/err
is 'replay of a broken file' "$?" 1
has 'replay names the line' "$(cat /tmp/err)" 'line 3'
wcache-get --identify /tmp/garbage 2>/tmp/err
is 'identify garbage' "$?" 1
wcache-get >/dev/full 2>/tmp/err
is 'full disk below the output' "$?" 1
finish
