#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# From a path to its drives, through layers built for real: which drives, what happens to a flush
# as their own counters tell, and the verdict. Mending what is at risk as the remedy says.
# drives: sata:size=96M sata sata:size=128M sata:size=128M sata sata sata sata:size=128M sata
# lab: --memory 1536 --timeout 1200
set -u
. "$LAB/guest"

cd /tmp || exit
modprobe -a btrfs loop
modprobe scsi_debug dev_size_mb=80 add_host=3 per_host_store=1 delay=0
udevadm settle
mapfile -t debug < <(printf "%s\n" /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/* |
	sed 's,.*/,/dev/,')
is 'drives of scsi_debug' "${#debug[@]}" 3

mount_new() { # OPTIONS DEVICE POINT: an ext4 there
	mkfs.ext4 -q -F "$2" && mkdir -p "$3" && mount -t ext4 -o "$1" "$2" "$3"
}

sorted() { # NODE...: names, as the tool gives those of drives
	printf '%s\n' "${@##*/}" | sort | xargs
}

ask() { # PATH FILTER...: answers to one question, a line each
	local path=$1 filters

	shift
	printf -v filters '(%s),' "$@"
	wcache-get --json "$path" | jq -r ".paths[0] | ${filters%,}"
}

drives_of() { # PATH
	ask "$1" '[.drives[].device] | sort | join(" ")'
}

check() { # PATH: durable, at-risk or unknown, by exit status
	wcache-get --check=durable "$1" >/dev/null
	case $? in
	0) echo durable ;;
	3) echo at-risk ;;
	4) echo unknown ;;
	*) echo "status $?" ;;
	esac
}

remedy_of() { # PATH
	ask "$1" '.findings[0].remedy // "false"'
}

# The flush counters of drives, and whether each has moved since.
mark() { # DRIVE...
	local d

	marked=("$@") marks=()
	for d; do
		marks+=("$(flushes "$d")")
	done
}

moved() {
	local i answer=()

	for i in "${!marked[@]}"; do
		if [ "$(flushes "${marked[i]}")" -gt "${marks[i]}" ]; then
			answer+=(yes)
		else
			answer+=(no)
		fi
	done
	echo "${answer[*]}"
}

# Where does an fsync of one file send flushes to? What else the file system had to write is
# written before.
flushed() { # PATH DRIVE...
	sync -f "$1"
	mark "${@:2}"
	dd if=/dev/urandom of="$1/synced" bs=4096 count=1 conv=fsync 2>/dev/null || echo 'no fsync'
	moved
}

dm_name() { # NAME: kernel name of a mapped device
	basename "$(readlink -f "/dev/mapper/$1")"
}

each() { # WORD DRIVE...: WORD for each
	local word=$1

	shift
	printf -v word "$word%.0s " "$@"
	echo "${word% }"
}

oracles() { # DRIVE...
	local d answer=()

	for d; do
		answer+=("$(oracle "$d")")
	done
	echo "${answer[*]}"
}

# What holds of every stack in which nothing is wrong.
sound() { # NAME PATH DRIVE...
	local name=$1 path=$2 answer

	shift 2
	mapfile -t answer < <(ask "$path" .verdict '[.drives[].device] | sort | join(" ")' \
		'[.stack[] | select(.flush != "passes") | .name] | join(" ")')
	is "$name: verdict" "${answer[0]}" durable
	is "$name: drives" "${answer[1]-}" "$(sorted "$@")"
	is "$name: layers that do not pass a flush" "${answer[2]-}" ''
	is "$name: caches" "$(oracles "$@")" "$(each on "$@")"
	is "$name: an fsync flushes" "$(flushed "$path" "$@")" "$(each yes "$@")"
	ok "$name: flush" wcache-flush "$path"

	ok "$name: off" wcache-set off "$path"
	is "$name: off: caches" "$(oracles "$@")" "$(each off "$@")"
	is "$name: off: an fsync flushes" "$(flushed "$path" "$@")" "$(each no "$@")"
	is "$name: off: verdict" "$(check "$path")" durable
	ok "$name: on" wcache-set on "$path"
	is "$name: on: caches" "$(oracles "$@")" "$(each on "$@")"
	is "$name: on: an fsync flushes" "$(flushed "$path" "$@")" "$(each yes "$@")"
}

types() { # PATH: of its layers, from the top
	ask "$1" '[.stack[].type] | join(" ")'
}

# --- PostgreSQL: its data on one drive, its log on a second, a tablespace on a third. To make
# it takes a while on an emulated CPU, so it is begun first.

pg_data=$(drive sata 6)
pg_wal=${debug[2]}
pg_space=$(drive sata 9)
as_postgres() {
	setpriv --reuid=postgres --regid=postgres --init-groups env LC_ALL=C "$@"
}
make_database() {
	local bin

	bin=$(echo /usr/lib/postgresql/*/bin)
	mount_new defaults "$pg_data" /mnt/pg && mount_new defaults "$pg_wal" /mnt/wal &&
		mount_new defaults "$pg_space" /mnt/space &&
		mkdir /mnt/pg/data /mnt/wal/pg_wal /mnt/space/ts &&
		chown postgres /mnt/pg/data /mnt/wal/pg_wal /mnt/space/ts &&
		as_postgres "$bin/initdb" --no-sync --auth=trust --wal-segsize=1 -D /mnt/pg/data -X /mnt/wal/pg_wal >/tmp/initdb
}
make_database 2>/tmp/initdb.err &
database=$!

# --- partition, LUKS, LVM, ext4; a second partition with a file system of its own

d=$(drive sata)
sfdisk -q "$d" <<-'END'
	label: gpt
	size=64M
	size=16M
END
udevadm settle
lvm_on_luks "${d}1"
mount_new defaults /dev/lab-vg/root '/mnt/luks vault'
mount_new defaults "${d}2" /mnt/neighbour
sound 'luks, lvm' '/mnt/luks vault' "$d"
is 'luks, lvm: layers' "$(types '/mnt/luks vault')" 'ext4 lvm dm-crypt partition disk'
is 'luks, lvm: by its node' "$(drives_of /dev/lab-vg/root)" "$(sorted "$d")"
is 'luks, lvm: by a file' "$(drives_of '/mnt/luks vault/synced')" "$(sorted "$d")"
wcache-set off '/mnt/luks vault' >/tmp/out 2>&1
has 'luks, lvm: its neighbour is named' "$(cat /tmp/out)" /mnt/neighbour

# Both opened while the drive is off, which is then turned on.
umount '/mnt/luks vault'
vgchange -q -a n lab-vg >/dev/null
cryptsetup close lab-crypt
cryptsetup open --key-file /tmp/key "${d}1" lab-crypt
vgchange -q -a y lab-vg >/dev/null
mount /dev/lab-vg/root '/mnt/luks vault'
ok 'luks, lvm: forced on' wcache-set --force on "$d"
is 'luks, lvm: at risk: an fsync flushes' "$(flushed '/mnt/luks vault' "$d")" no
is 'luks, lvm: at risk' "$(ask '/mnt/luks vault' .verdict '.findings[] | .code + " " + .device' | xargs)" \
	"at-risk layer-drops-flushes $(dm_name lab-crypt) layer-drops-flushes $(dm_name lab--vg-root)"
ok 'luks, lvm: the remedies' bash -ec "$(ask '/mnt/luks vault' '.findings[].remedy')" </tmp/key
is 'luks, lvm: mended: an fsync flushes' "$(flushed '/mnt/luks vault' "$d")" yes
is 'luks, lvm: mended' "$(check '/mnt/luks vault')" durable

# --- md RAID1 of a SATA and a SCSI drive, XFS

d=$(drive sata 2)
mdadm --quiet --create /dev/md7 --run --level=1 --metadata=1.2 --raid-devices=2 "$d" "${debug[0]}" 2>/dev/null
# Smaller than it likes.
mkfs.xfs --unsupported -q -f /dev/md7 >/dev/null 2>&1
mkdir /mnt/md
mount /dev/md7 /mnt/md
mdadm --quiet --wait /dev/md7
sound 'md' /mnt/md "$d" "${debug[0]}"
is 'md: layers' "$(types /mnt/md)" 'xfs md-raid1 disk disk'

# --- btrfs over two drives

d=$(drive sata 3)
e=$(drive sata 4)
mkfs.btrfs -q -f -m raid1 -d raid1 "$d" "$e" >/dev/null
mkdir /mnt/btrfs
mount "$e" /mnt/btrfs
sound 'btrfs' /mnt/btrfs "$d" "$e"
btrfs -q subvolume create /mnt/btrfs/sub
is 'btrfs: by a subvolume' "$(drives_of /mnt/btrfs/sub)" "$(sorted "$d" "$e")"
umount /mnt/btrfs
mount -o subvol=sub "$d" /mnt/btrfs
is 'btrfs: mounted by the other drive' "$(drives_of /mnt/btrfs)" "$(sorted "$d" "$e")"

# --- a journal on a drive of its own

umount /mnt/btrfs
mke2fs -q -F -b 4096 -O journal_dev "$e"
mkfs.ext4 -q -F -b 4096 -J "device=$e" "$d"
mkdir /mnt/journal
mount "$d" /mnt/journal
is 'ext4, journal: drives' "$(drives_of /mnt/journal)" "$(sorted "$d" "$e")"
# This kernel (6.1) flushes the journal's drive alone, most of the time.
times=()
for i in 1 2 3 4; do
	times+=("$(flushed /mnt/journal "$d" "$e")")
done
has 'ext4, journal: an fsync leaves the data out' "${times[*]}" 'no yes'
is 'ext4, journal: verdict' "$(ask /mnt/journal .verdict '.findings[] | .code' | xargs)" 'unknown journal-apart'
ok 'ext4, journal: the remedy' bash -ec "$(remedy_of /mnt/journal)"
is 'ext4, journal: caches' "$(oracles "$d" "$e")" 'off on'
is 'ext4, journal: mended' "$(check /mnt/journal)" durable
wcache-set on "$d"
umount /mnt/journal
mkfs.xfs --unsupported -q -f -l "logdev=$e" "$d" >/dev/null 2>&1
mount -o "logdev=$e" "$d" /mnt/journal
is 'xfs, log: drives' "$(drives_of /mnt/journal)" "$(sorted "$d" "$e")"
is 'xfs, log: an fsync flushes' "$(flushed /mnt/journal "$d" "$e")" 'yes yes'
umount /mnt/journal

# --- LVM's own RAID

wipefs -q -a "$d" "$e"
pvcreate -q "$d" "$e" >/dev/null
vgcreate -q lab-mirror "$d" "$e" >/dev/null
lvcreate -q -y --type raid1 -m 1 --nosync -L 32M -n lv lab-mirror >/dev/null 2>&1
mount_new defaults /dev/lab-mirror/lv /mnt/mirror
is 'lvm raid1: drives' "$(drives_of /mnt/mirror)" "$(sorted "$d" "$e")"
is 'lvm raid1: an fsync flushes' "$(flushed /mnt/mirror "$d" "$e")" 'yes yes'
is 'lvm raid1: verdict' "$(check /mnt/mirror)" durable
umount /mnt/mirror
vgchange -q -a n lab-mirror >/dev/null

# --- a loop device over a file on ext4

d=$(drive sata 5)
mount_new defaults "$d" /mnt/below
truncate -s 24M '/mnt/below/an image'
loop=$(losetup --show -f '/mnt/below/an image')
mount_new defaults "$loop" /mnt/loop
sound 'loop' /mnt/loop "$d"
is 'loop: layers' "$(types /mnt/loop)" 'ext4 loop ext4 disk'
mount -o remount,barrier=0 /mnt/below
is 'loop: a mount below drops' "$(ask /mnt/loop .verdict '.findings[0].code' '.findings[0].device' | xargs)" 'at-risk mount-drops-flushes /mnt/below'
is 'loop: a mount below drops: an fsync flushes' "$(flushed /mnt/loop "$d")" no
umount /mnt/loop
losetup -d "$loop"
umount /mnt/below

# --- bcache: a drive that is cached, and the drive that caches

d=$(drive sata 7)
# On one CPU, as a new set is made in a race: its allocator may write to a journal that is not
# there yet (drivers/md/bcache/super.c run_cache_set(), from SET_CACHE_SYNC to
# bch_journal_next()), and takes the machine with it.
echo 0 >/sys/devices/system/cpu/cpu1/online
make-bcache --wipe-bcache --bucket 64k -B "$d" -C "${debug[1]}" >/dev/null
udevadm settle
for e in "$d" "${debug[1]}"; do
	[ -e "/sys/block/${e##*/}/bcache" ] || echo "$e" >/sys/fs/bcache/register
done
udevadm settle
echo 1 >/sys/devices/system/cpu/cpu1/online
mount_new defaults /dev/bcache0 /mnt/bcache
sound 'bcache' /mnt/bcache "$d" "${debug[1]}"
echo writeback >/sys/block/bcache0/bcache/cache_mode
is 'bcache, writeback: an fsync flushes' "$(flushed /mnt/bcache "$d" "${debug[1]}")" 'yes yes'
umount /mnt/bcache

# --- dm over a drive whose cache is turned on after the table was loaded

d=$(drive sata 8)
wcache-set off "$d"
# dmsetup gives it a name that a shell would take apart: it writes \x27 for the quote.
dmsetup create "lab's linear" --table "0 $(blockdev --getsz "$d") linear $d 0"
dm=$(readlink -f /dev/mapper/lab*linear)
label=$(<"/sys/block/${dm##*/}/dm/name")
udevadm settle
mount_new defaults "$dm" /mnt/linear
is 'dm: off: kernel' "$(kernel_view "$dm")" 'write through'
is 'dm: off: drives' "$(drives_of /mnt/linear)" "$(sorted "$d")"
is 'dm: off: verdict' "$(check /mnt/linear)" durable
for target in "$d" /mnt/linear; do
	wcache-set on "$target" 2>/tmp/err
	is "dm: on $target: refused" "$?" 3
	has "dm: on $target: the layer" "$(cat /tmp/err)" "${dm##*/}"
	has "dm: on $target: the remedy" "$(cat /tmp/err)" "dmsetup load '${label}'"
	is "dm: on $target: still off" "$(oracle "$d")" off
done
ok 'dm: forced' wcache-set --force on "$d"
is 'dm: forced: caches' "$(oracle "$d") $(kernel_view "$d") $(kernel_view "$dm")" 'on write back write through'
is 'dm: at risk: verdict' "$(ask /mnt/linear .verdict) $(check /mnt/linear)" 'at-risk at-risk'
is 'dm: at risk: finding' "$(ask /mnt/linear '.findings[] | .code + " " + .device')" "layer-drops-flushes ${dm##*/}"
is 'dm: at risk: an fsync flushes' "$(flushed /mnt/linear "$d")" no
ok 'dm: the remedy' bash -ec "$(remedy_of /mnt/linear)"
is 'dm: mended: kernel' "$(kernel_view "$dm")" 'write back'
is 'dm: mended: an fsync flushes' "$(flushed /mnt/linear "$d")" yes
is 'dm: mended: verdict' "$(ask /mnt/linear .verdict) $(check /mnt/linear)" 'durable durable'

# The same without a moment at risk: what the refusal says, and then once more.
wcache-set off "$d"
umount /mnt/linear
dmsetup remove "lab's linear"
dmsetup create "lab's linear" --table "0 $(blockdev --getsz "$d") linear $d 0"
mount "$(readlink -f /dev/mapper/lab*linear)" /mnt/linear
wcache-set on "$d" 2>/tmp/err
is 'dm: refused again' "$?" 3
ok 'dm: what the refusal says' bash -ec "$(sed -n 's/.* would go on: //p' /tmp/err)"
is 'dm: what the refusal says: still off' "$(oracle "$d")" off
ok 'dm: on after it' wcache-set on "$d"
sound 'dm: after it' /mnt/linear "$d"

# --- overlay

d=$(drive sata)
mkdir /mnt/neighbour/upper /mnt/neighbour/work /mnt/lower /mnt/over
over=lowerdir=/mnt/lower,upperdir=/mnt/neighbour/upper,workdir=/mnt/neighbour/work
mount -t overlay -o "$over" overlay /mnt/over
is 'overlay: drives' "$(drives_of /mnt/over)" "$(sorted "$d")"
is 'overlay: an fsync flushes' "$(flushed /mnt/over "$d")" yes
is 'overlay: verdict' "$(check /mnt/over)" durable
umount /mnt/over
mount -t overlay -o "$over,volatile" overlay /mnt/over
is 'overlay, volatile: an fsync flushes' "$(flushed /mnt/over "$d")" no
is 'overlay, volatile: at risk' "$(ask /mnt/over .verdict '.findings[] | .code + " " + .device' | xargs)" 'at-risk mount-drops-flushes /mnt/over'
umount /mnt/over

# --- barrier=0

mount -o remount,barrier=0 /mnt/neighbour
is 'barrier=0: drives' "$(drives_of /mnt/neighbour)" "$(sorted "$d")"
is 'barrier=0: verdict' "$(ask /mnt/neighbour .verdict) $(check /mnt/neighbour)" 'at-risk at-risk'
is 'barrier=0: finding' "$(ask /mnt/neighbour '.findings[] | .code + " " + .device')" 'mount-drops-flushes /mnt/neighbour'
is 'barrier=0: an fsync flushes' "$(flushed /mnt/neighbour "$d")" no
is 'barrier=0: not of its neighbour' "$(check '/mnt/luks vault')" durable
ok 'barrier=0: the remedy' bash -ec "$(remedy_of /mnt/neighbour)"
is 'barrier=0: mended: an fsync flushes' "$(flushed /mnt/neighbour "$d")" yes
is 'barrier=0: mended: verdict' "$(check /mnt/neighbour)" durable
mount -o remount,barrier=0 /mnt/neighbour
ok 'barrier=0: off' wcache-set off /mnt/neighbour
is 'barrier=0: off: verdict' "$(check /mnt/neighbour)" durable
wcache-set on "$d" 2>/tmp/err
is 'barrier=0: on: refused' "$?" 3
ok 'barrier=0: what the refusal says' bash -ec "$(sed -n 's/.* would go on: //p' /tmp/err)"
ok 'barrier=0: on' wcache-set on "$d"

# --- PostgreSQL

sql() { # COMMAND...: to a server of its own
	printf '%s\n' "$@" | as_postgres /usr/lib/postgresql/*/bin/postgres --single -D /mnt/pg/data postgres
}
wait "$database"
is 'postgresql: made' "$? $(cat /tmp/initdb.err)" '0 '
three=("$pg_data" "$pg_wal" "$pg_space")
sql "CREATE TABLESPACE ts LOCATION '/mnt/space/ts'" >/tmp/sql 2>&1
mark "${three[@]}"
sql 'CREATE TABLE t TABLESPACE ts AS SELECT 1' >>/tmp/sql 2>&1
is 'postgresql: its own fsync flushes' "$(moved)" 'yes yes yes'
data=/mnt/pg/data
is 'postgresql: drives' "$(drives_of $data)" "$(sorted "${three[@]}")"
is 'postgresql: verdict' "$(ask $data .verdict) $(check $data)" 'durable durable'
is 'postgresql: its log alone' "$(drives_of $data/pg_wal)" "$(sorted "$pg_wal")"
mount -o remount,barrier=0 /mnt/wal
is 'postgresql: log at risk' "$(ask $data .verdict '.findings[] | .code + " " + .device' | xargs)" 'at-risk mount-drops-flushes /mnt/wal'
ok 'postgresql: the remedy' bash -ec "$(remedy_of $data)"
is 'postgresql: mended' "$(check $data)" durable
ok 'postgresql: flush' wcache-flush $data
ok 'postgresql: off' wcache-set off $data
is 'postgresql: off: caches' "$(oracles "${three[@]}")" 'off off off'
is 'postgresql: off: verdict' "$(check $data)" durable
ok 'postgresql: on' wcache-set on $data
is 'postgresql: on: caches' "$(oracles "${three[@]}")" 'on on on'
umount /mnt/space
is 'postgresql: a tablespace that is not mounted' "$(ask $data .verdict)" unknown
finish
