#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the policy costs udevd, in the lab: one call for a drive that is as wanted already, beside
# hdparm -W of the same drive; and 512 drives that appear at once, with the rule and without.
# tests/lab/run --build BUILD tests/bench/udev.sh
# drives: sata
# alone
# lab: --timeout 1800 --memory 1536
set -u
. "$LAB/guest"

calls=${CALLS:-100}
sata=$(drive sata)
export ACTION=add DEVPATH=/x SEQNUM=1
printf '[default]\ncache = off\n' >/etc/wcache.conf
wcache-set --apply-policy "$sata"
is 'as wanted' "$(oracle "$sata")" off

# User and system time of one call, in microseconds.
cost() { # COMMAND...
	local TIMEFORMAT='%U %S' user system i

	read -r user system < <({ time for ((i = 0; i < calls; i++)); do
		"$@" >/dev/null 2>&1
	done; } 2>&1)
	echo $(((10#${user/./} + 10#${system/./}) * 1000 / calls))
}

wcache-set --apply-policy --quiet --capture /run/sent "$sata"
is 'one call: commands' "$(grep -c '^>' /run/sent)" 1
hdparm=$(cost hdparm -W "$sata")
ours=$(cost wcache-set --apply-policy --quiet --timeout 5 "$sata")
hdparm=$(((hdparm + $(cost hdparm -W "$sata")) / 2))
nothing=$(cost /bin/true)
echo "one call: wcache-set $ours us, hdparm -W $hdparm us, /bin/true $nothing us:" \
	"ratio $((ours * 100 / hdparm)) %"

# Seconds until udevd is done with 512 drives.
appear() {
	local from=$EPOCHREALTIME to

	modprobe scsi_debug add_host=8 num_tgts=8 max_luns=8 dev_size_mb=8
	udevadm settle --timeout=900
	to=$EPOCHREALTIME
	echo $(((${to/./} - ${from/./}) / 100000))
}

caches() {
	wcache-get --json-lines | jq -r 'select(.driver == "scsi_debug") | .cache' | sort | uniq -c | xargs
}

none=$(appear)
is '512 drives, no rule' "$(caches)" '512 on'
modprobe -r scsi_debug
udevadm settle --timeout=900
mkdir -p /run/udev/rules.d
sed "s,@sbindir@,$LAB_BUILD/tools," "$LAB/../../tools/system/65-wcache.rules.in" \
	>/run/udev/rules.d/65-wcache.rules
udevadm control --reload
rule=$(appear)
is '512 drives, with the rule' "$(caches)" '512 off'
echo "512 drives: $((none / 10)).$((none % 10)) s, with the rule $((rule / 10)).$((rule % 10)) s:" \
	"ratio $((rule * 100 / none)) %"
is '512 drives: at most twice the time' "$([ "$rule" -le $((2 * none)) ] && echo yes)" yes
finish
