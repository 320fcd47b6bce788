#!/bin/bash
# Controllers: who rules a disk, and the disks behind a MegaRAID, judged by smartctl.
# drives: megasas megasas megasas mptsas scsi
set -u
. "$LAB/guest"

host_of() { # PROC_NAME
	basename "$(dirname "$(grep -lx "$1" /sys/class/scsi_host/*/proc_name)")" | tr -d a-z
}

smart() { # ID ARG...
	local id=$1

	shift
	smartctl "$@" -d "megaraid,$id" "/dev/bus/$host"
}

smart_cache() { # ID
	smart "$1" -g wcache | sed -n 's/^Writeback Cache is: *Enabled$/on/p; s/^Writeback Cache is: *Disabled$/off/p'
}

# The SCSI id of a volume is the number that smartctl has for its one disk here.
id_of() { # NODE
	basename "$(readlink -f "/sys/block/${1#/dev/}/device")" | cut -d: -f3
}

# What QEMU has for each: the side that no tool in the guest goes through.
host_side() {
	exec 3<>/run/port-monitor
	echo 'info block' >&3
	timeout 2 cat <&3 | tr -d '\r' |
		awk '/^lab-[123] / { name = $1 } /^[^ ]/ && !/^lab-[123] / { name = "" }
		     /Cache mode:/ && name { print name, $3 == "writeback" ? "on" : "off" }' |
		sort -V | awk '{ print $2 }' | xargs
	exec 3>&-
}

host=$(host_of megaraid_sas)
volume=() id=() member=()
for n in 1 2 3; do
	volume+=("$(drive megasas $n)")
	id+=("$(id_of "${volume[n - 1]}")")
	member+=("megaraid:$host:${id[n - 1]}")
done

# The controller of each kind of disk.
is 'volume: driver' "$(field "${volume[0]}" controller.driver)" megaraid_sas
is 'volume: class' "$(field "${volume[0]}" controller.class)" volume
has 'volume: named by the PCI ids' "$(field "${volume[0]}" controller.name)" 'MegaRAID SAS 1078'
has 'volume: what is hidden' "$(field "${volume[0]}" controller.hides)" 'write caches'
has 'volume: the command to set' "$(field "${volume[0]}" controller.set)" 'storcli64'
is 'mptsas: driver' "$(field "$(drive mptsas)" controller.driver)" mptsas
is 'mptsas: class' "$(field "$(drive mptsas)" controller.class)" plain
has 'mptsas: named by the PCI ids' "$(field "$(drive mptsas)" controller.name)" 'SAS1068'
is 'virtio-scsi: no RAID' "$(field "$(drive scsi)" controller.class)" host
is 'virtio-scsi: nothing behind it' "$(field "$(drive scsi)" 'members | length')" 0

# Three disks in different states; the driver's node is made where there is none.
smart "${id[1]}" -s wcache,off >/dev/null
is 'smartctl turned one off' "$(for i in "${id[@]}"; do smart_cache "$i"; done | xargs)" 'on off on'
rm -f /dev/megaraid_sas_ioctl_node
for n in 0 1 2; do
	is "disk $n: stands behind its volume" "$(field "${volume[n]}" 'members | map(.device) | join(" ")')" "${member[n]}"
	is "disk $n: as smartctl says" "$(field "${volume[n]}" 'members[0].cache')" "$(smart_cache "${id[n]}")"
	is "disk $n: asked by name" "$(field "${member[n]}" cache)" "$(smart_cache "${id[n]}")"
	is "disk $n: model" "$(field "${volume[n]}" 'members[0].model')" 'MEGASAS DISK'
	is "disk $n: class" "$(field "${member[n]}" controller.class)" member
done
has 'the list has them below their volume' "$(wcache-get | grep -A1 "^${volume[1]#/dev/} ")" "  ${member[1]}"
is 'a disk that is off: fsync' "$(field "${volume[1]}" fsync)" durable
has 'a disk that is off: said' "$(field "${volume[1]}" 'findings | map(.code) | join(" ")')" members-off
is 'a disk that is on: fsync' "$(field "${volume[0]}" fsync)" unknown
has 'a disk that is on: said' "$(field "${volume[0]}" 'findings | map(.code) | join(" ")')" member-on
is 'a disk that is on: remedy' "$(field "${volume[0]}" 'findings[0].remedy')" "wcache-set off ${member[0]}"

# One disk is changed, and no other.
wcache-set off "${member[2]}" 2>/tmp/err
is 'member off: status' "$?" 0
has 'member off: warned of the policy' "$(cat /tmp/err)" 'storcli64 /cX/vY set pdcache=off'
is 'member off: smartctl' "$(for i in "${id[@]}"; do smart_cache "$i"; done | xargs)" 'on off off'
is 'member off: host side' "$(host_side)" 'on off off'
is 'member off: the volume over it' "$(oracle megasas "${volume[2]}")" off
has 'member off: again' "$(wcache-set -v off "${member[2]}" 2>/dev/null)" 'nothing to do'
wcache-set on "${member[2]}" 2>/dev/null
is 'member on: status' "$?" 0
is 'member on: smartctl' "$(for i in "${id[@]}"; do smart_cache "$i"; done | xargs)" 'on off on'
is 'member on: host side' "$(host_side)" 'on off on'
has 'member: flush' "$(wcache-flush -v "${member[2]}")" 'flushed in'

# The volume itself takes the change here; what that does not reach is said.
wcache-set off "${volume[0]}" 2>/tmp/err
is 'volume off: status' "$?" 0
has 'volume off: warned' "$(cat /tmp/err)" "the disks behind it keep theirs"
wcache-set on "${volume[0]}" 2>/dev/null
wcache-flush "${volume[0]}" 2>/tmp/err
is 'volume: flush: status' "$?" 0
has 'volume: flush: what is left' "$(cat /tmp/err)" 'not covered are the write caches of the disks behind'

# A volume's recording has the disks behind it.
wcache-get --json --capture /tmp/capture "${volume[1]}" >/tmp/live
wcache-get --json --replay /tmp/capture >/tmp/replayed
is 'replay: members' "$(jq -c '.drives[0].members' /tmp/replayed)" "$(jq -c '.drives[0].members' /tmp/live)"
is 'replay: one drive' "$(jq '.drives | length' /tmp/replayed)" 1

# Not root: what is missing is said, and nothing is made up.
chmod 755 /run
as_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
as_user wcache-get --json "${volume[0]}" >/tmp/user
is 'not root: no members' "$(jq -c '.drives[0].members' /tmp/user)" '[]'
has 'not root: why' "$(jq -r '.drives[0].members_reason' /tmp/user)" 'needs root'
is 'not root: the controller is known' "$(jq -r '.drives[0].controller.class' /tmp/user)" volume
is 'not root: a member' "$(as_user wcache-get "${member[0]}" >/tmp/user; echo $?)" 4

# Names that stand for nothing.
for name in "megaraid:$host:77" "megaraid:$(host_of mptsas):0" megaraid:99:0 megaraid:0 \
	"megaraid:$host:256" "megaraid:$host:-1" "megaraid:$host: 1" "megaraid:$host:0x" megaraid:; do
	wcache-get "$name" >/tmp/out 2>/tmp/err
	is "$name: status" "$?" 1
	has "$name: named" "$(cat /tmp/err)" "$name"
done

# A disk that goes away.
monitor device_del lab-3-disk
sleep 1
wcache-get "${member[2]}" >/tmp/out 2>/tmp/err
is 'gone: status' "$?" 1
has 'gone: said' "$(cat /tmp/err)" 'gone'
is 'gone: the others' "$(field "${member[0]}" cache) $(field "${member[1]}" cache)" 'on off'
finish
