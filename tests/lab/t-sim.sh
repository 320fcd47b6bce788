#!/bin/bash
# The simulated drive as a real disk: what QEMU has no device for. hdparm, sdparm and
# smartctl talk to it, and cannot tell.
# drives: scsi
# lab: --timeout 400
set -u
. "$LAB/guest"

personalities='satl sas sas-saveable sas-starts-off sas-unchangeable sas-nonvolatile
sas-no-sync scsi-six raid-volume-clips raid-volume-refuses usb-no-sat satl-mode-select'

modprobe -a uio target_core_mod target_core_user tcm_loop
mount -t configfs configfs /sys/kernel/config
# shellcheck disable=SC2086 # a list of words
set -- $personalities
wcsim "$@" &
sim_pid=$!
until [ "$(ls -d /sys/block/sd* | wc -l)" -gt $# ] || [ "$SECONDS" -gt 60 ]; do
	sleep 0.2
done
is 'simulated drives that appeared' $(($(ls -d /sys/block/sd* | wc -l) - 1)) $#
udevadm settle

# The node of the simulated drive with an INQUIRY product.
sim() { # PRODUCT
	local d

	for d in /sys/block/sd*; do
		if [ "$(sed 's/ *$//' "$d/device/model")" = "$1" ]; then
			echo "/dev/${d##*/}"
			return
		fi
	done
	echo /dev/none
}

smart() { # NODE: on or off, by smartctl
	smartctl -g wcache "$1" | sed -n 's/^Write.* [Cc]ache is: *//p' | sed 's/Enabled/on/; s/Disabled/off/'
}

agree() { # NAME NODE ORACLE EXPECTED
	is "$1: oracle" "$(oracle "$3" "$2")" "$4"
	is "$1: get" "$(field "$2" cache)" "$4"
}

# A SATA disk behind the firmware of a SAS adapter: the kernel hears nothing of hdparm.
d=$(sim 'SIM SATL')
agree satl "$d" sata on
is 'satl: smartctl' "$(smart "$d")" on
hdparm -W0 "$d" >/dev/null
is 'satl: hdparm leaves the kernel behind' "$(kernel_view "$d")" 'write back'
is 'satl: get sees the drive' "$(field "$d" cache)" off
wcache-set on "$d"
agree 'satl: on' "$d" sata on
is 'satl: on: kernel' "$(kernel_view "$d")" 'write back'
wcache-set off "$d"
agree 'satl: off' "$d" sata off
is 'satl: off: kernel' "$(kernel_view "$d")" 'write through'

# SET FEATURES is taken and ignored: the translation layer has the last word.
d=$(sim 'SIM SATL MODE')
hdparm -W0 "$d" >/dev/null
is 'satl-mode-select: hdparm has no effect' "$(oracle sata "$d")" on
wcache-set off "$d"
is 'satl-mode-select: off: status' "$?" 0
agree 'satl-mode-select: off' "$d" sata off

for product in SAS 'SAS PS' 'SAS OFF' 'SAS NOSYNC' SCSI6; do
	d=$(sim "$product")
	judge=scsi
	[ "$product" = SCSI6 ] && judge=six
	before=on
	[ "$product" = 'SAS OFF' ] && before=off
	agree "$product" "$d" "$judge" "$before"
	wcache-set on "$d"
	is "$product: on: status" "$?" 0
	agree "$product: on" "$d" "$judge" on
	is "$product: on: kernel" "$(kernel_view "$d")" 'write back'
	wcache-set off "$d"
	is "$product: off: status" "$?" 0
	agree "$product: off" "$d" "$judge" off
done
is 'SAS: off: kernel' "$(kernel_view "$(sim SAS)")" 'write through'
is 'SAS: default' "$(field "-v $(sim SAS)" default)" on
# PS=1: nothing is saved unless asked, and saved when it is
d=$(sim 'SAS PS')
is 'SAS PS: not saved' "$(field "-v $d" saved)" on
wcache-set --save off "$d"
is 'SAS PS: saved: status' "$?" 0
is 'SAS PS: saved: get' "$(field "-v $d" saved)" off
is 'SAS PS: saved: sdparm' "$(sdparm --get=WCE "$d" | grep -o 'sav:  0')" 'sav:  0'
wcache-set default "$d"
is 'SAS PS: default' "$(oracle scsi "$d")" on
wcache-set --save off "$(sim SAS)" 2>/tmp/err
is 'SAS: cannot save: status' "$?" 3
has 'SAS: cannot save: advice' "$(cat /tmp/err)" '/etc/wcache.conf'

# No flush command: told, with what to do.
d=$(sim 'SAS NOSYNC')
wcache-set on "$d"
wcache-flush "$d" 2>/tmp/err
is 'no flush command: status' "$?" 3
has 'no flush command: message' "$(cat /tmp/err)" 'no flush command'

d=$(sim 'SAS FIXED')
agree 'unchangeable' "$d" scsi on
wcache-set off "$d" 2>/tmp/err
is 'unchangeable: status' "$?" 3
has 'unchangeable: message' "$(cat /tmp/err)" 'not changeable'
agree 'unchangeable: still' "$d" scsi on

d=$(sim 'SAS NV')
agree 'non-volatile' "$d" scsi on
is 'non-volatile: told' "$(field "$d" nonvolatile)" true

# The disk that caches while the kernel assumes write through.
d=$(sim 'Logical Volume')
is 'clipped: smartctl' "$(smart "$d")" on
is 'clipped: get' "$(field "$d" cache)" on
is 'clipped: the kernel is wrong' "$(kernel_view "$d")" 'write through'
is 'clipped: at risk' "$(field "$d" fsync)" at-risk
wcache-set on "$d"
is 'clipped: repaired' "$? $(kernel_view "$d") $(field "$d" cache)" '0 write back on'
before=$(flushes "$d")
dd if=/dev/zero of="$d" bs=4096 count=1 conv=notrunc,fsync 2>/dev/null
is 'clipped: fsync flushes now' $(($(flushes "$d") - before)) 1
wcache-set off "$d"
is 'clipped: off: smartctl' "$(smart "$d")" off
is 'clipped: off: get' "$(field "$d" cache)" off

d=$(sim 'LOGICAL VOLUME')
agree 'refuses' "$d" scsi on
wcache-set off "$d" 2>/tmp/err
is 'refuses: status' "$?" 3
has 'refuses: sense' "$(cat /tmp/err)" '5/26/00'
agree 'refuses: still' "$d" scsi on

d=$(sim '03FBYX-01Y7B2')
is 'dock without SAT' "$(field "$d" cache)" unknown
wcache-get "$d" >/dev/null
is 'dock without SAT: status' "$?" 4
wcache-set off "$d" 2>/tmp/err
is 'dock without SAT: set' "$?" 4
kill "$sim_pid"
finish
