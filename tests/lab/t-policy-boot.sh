#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The policy of a site at a boot (after system_reset) and after a sleep.
#
# Sleep is as near as the guest comes to it: "devices" of /sys/power/pm_test, with s2idle. Every
# driver suspends and resumes its device, the processor is not stopped. 9p does not survive that,
# so that part runs last, in a root of its own in memory. From S3 this machine boots anew.
# drives: sata sata scsi nvme virtio usb-storage
# lab: --timeout 900
set -u
. "$LAB/guest"
. "$LAB/policy"

# shellcheck disable=SC2317 # called by name
asleep() {
	# What started this is on 9p: the host learns the status from here, by a port opened in time.
	exec 7>/run/port-control
	set_all on
	settle
	is 'before sleep' "$(all)" 'on on on on on on'
	echo s2idle >/sys/power/mem_sleep
	echo devices >/sys/power/pm_test
	sh /sleep-hook pre suspend
	ok 'sleep: every device slept and woke' sh -c 'echo mem >/sys/power/state'
	is 'sleep: NVMe, by the event of its reset' "$(until_is off oracle "$nvme")" off
	read_from "$scsi"
	is 'sleep: SCSI, by its UNIT ATTENTION' "$(until_is off oracle "$scsi")" off
	is 'sleep: of SATA nobody tells' "$(oracle "$sata1")" on
	sh /sleep-hook post suspend
	is 'sleep: all, by the hook' "$(all)" "$wanted"
	finish
	echo "exit $?" >&7
}

put_in() { # PROGRAM...: into the root in memory, with its libraries
	local file

	for file in $(readlink -f "$@"; ldd "$@" | grep -o '[[:space:]]/[^ ]*[^: ]' | sort -u); do
		cp -L --parents "$file" "$small"
	done
}

if [ "$LAB_BOOT" = 1 ]; then
	name_drives
	set_all on
	oracle_set "$sata2" off
	cat >/run/lab/before-udevd <<-END
		LAB=$LAB LAB_BUILD=$LAB_BUILD
		. "\$LAB/policy"
		busybox syslogd -O /run/log
		put_policy
		put_rule
	END
	reset
fi

# The policy was there when the first drive appeared.
name_drives
is 'system_reset: at boot' "$(all)" "$wanted"
has 'system_reset: by the rule' "$(cat /run/log)" \
	"$sata1: write cache set off, as /etc/wcache.conf:3 wants it"
is 'system_reset: kernel of the SATA drive that is on' "$(kernel_view "$sata2")" 'write back'

small=/run/small
mkdir -p $small/usr/bin $small/usr/sbin $small/usr/lib $small/usr/lib64 \
	$small/proc $small/sys $small/dev $small/run $small/tmp $small/etc
for folder in bin sbin lib lib64; do
	ln -s "usr/$folder" "$small/$folder"
done
put_in /usr/bin/bash /usr/bin/udevadm /usr/sbin/hdparm \
	/usr/bin/sdparm /usr/sbin/nvme /usr/bin/dd "$LAB_BUILD/tools/wcache-set"
# One program under two names.
ln -s usr/bin/udevadm $small/systemd-udevd
cp /bin/busybox $small/usr/bin
chroot $small /usr/bin/busybox --install -s /usr/bin
cp /etc/wcache.conf $small/etc
sed "s,@sbindir@,$LAB_BUILD/tools," "$system/wcache-sleep.in" >$small/sleep-hook
{
	sed 's,/run/lab/counts,/run/counts,g' "$LAB/guest"
	declare -p passed failed wanted sata1 sata2 scsi nvme virtio usb
	declare -f asleep set_all all settle until_is read_from
	cat <<-'END'
		export LC_ALL=C SYSTEMD_IGNORE_CHROOT=1
		busybox syslogd -O /run/log-of-sleep >/dev/null 2>&1
		/systemd-udevd --daemon >/dev/null 2>&1
		udevadm control --ping --timeout=30
		asleep
	END
} >$small/asleep
udevadm control --exit
for folder in proc sys dev; do
	mount --rbind /$folder $small/$folder
done
# Not what is mounted below it: /run/lab is 9p.
mount --bind /run $small/run
exec chroot $small /bin/bash /asleep
