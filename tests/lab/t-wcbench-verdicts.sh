#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wcbench beside the log of a drive that takes 4 ms for a write behind a volatile cache, and what
# it says where nothing differs, or nothing is durable.
# drives: nbd-scsi
# lab: --size 32M --timeout 240
# alone
set -u
. "$LAB/guest"

check() { # TEXT COMMAND...: a test by the command's status
	local text=$1

	shift
	if "$@" >/tmp/check 2>&1; then
		ok "$text"
	else
		bad "$text: $*: $(tail -n 1 /tmp/check)"
	fi
}

between() { # TEXT VALUE LEAST MOST
	check "$1: '$2' lies between $3 and $4" awk -v v="$2" -v l="$3" -v m="$4" \
		'BEGIN { exit !(v != "" && v != "null" && v + 0 >= l && v + 0 <= m) }'
}

line() { # WORKLOAD MEASURE FILTER
	jq -r --arg w "$1" --arg m "$2" \
		".summary[] | select(.workload == \$w and .measure == \$m) | $3" /tmp/r.json
}

codes() { jq -r '[.verdict.reasons[].code] | join(" ")' /tmp/r.json; }

# Least and most durable writes in any span of so many milliseconds of the drive's log: flushes
# where the cache is on, writes that came with FUA where it is off. Counts of one and the same time
# differ by what is in flight, however busy the machine is.
durable_in_a_span() { # LOG PATTERN FROM-LINE MILLISECONDS
	tail -n "+$3" "$1" | awk -v pattern="$2" -v span="$4" '
		$0 ~ pattern {
			split($2, part, ":")
			t[++n] = part[1] * 3600 + part[2] * 60 + part[3]
			# Midnight
			if (n > 1 && t[n] < t[n - 1] - 43200)
				t[n] += 86400
		}
		END {
			least = n
			for (i = k = 1; i <= n && t[i] + span / 1000 <= t[n]; i++) {
				while (k < n && t[k + 1] <= t[i] + span / 1000)
					k++
				if (k - i < least)
					least = k - i
				if (k - i > most)
					most = k - i
			}
			print least + 0, most + 0
		}'
}

# What is called durable, the drive's log confirms.
for arm in on off; do
	d=$(drive nbd-scsi)
	oracle_set scsi "$d" $arm
	echo 1 >"/sys/block/${d##*/}/device/rescan"
	from=$(($(wc -l </run/lab/lab-1.log) + 1))
	wcbench --preset=quick --quiet --json --cache=current --workloads=rndw --window=5 --pairs=1 \
		--size=2M --destroy-data "$d" >/tmp/r.json
	is "log, $arm: status" "$?" 0
	pattern=' Flush id='
	[ $arm = on ] || pattern=' Write id=.* count=0x2000 fua=1'
	read -r done span <<<"$(jq -r '.runs[0] | "\(.total_ios) \(.runtime)"' /tmp/r.json)"
	read -r least most <<<"$(durable_in_a_span /run/lab/lab-1.log "$pattern" "$from" "$span")"
	between "log, $arm: operations in $span ms, and what the log has of such a time" \
		"$done" $((least - 2)) $((most + 2))
	ok "log, $arm: $done operations" test "$done" -ge 50
done
d=$(drive nbd-scsi)
oracle_set scsi "$d" on
echo 1 >"/sys/block/${d##*/}/device/rescan"

# Nothing differs between two that are the same.
wcbench --preset=quick --quiet --json --cache=same --workloads=rndw,wal-fdatasync --pairs=4 \
	--destroy-data "$d" >/tmp/r.json
is 'same: status' "$?" 0
for workload in rndw wal-fdatasync; do
	check "same: $workload: no effect is found" jq -e --arg w $workload '.summary[] |
		select(.workload == $w) | .ratio.ci_lo < 1.05 and .ratio.ci_hi > 0.95' /tmp/r.json
done

# The deadly pair: it is found, named, and left as it was.
type=$(echo "/sys/block/${d##*/}/device/scsi_disk/"*/cache_type)
echo 'temporary write through' >"$type"
is 'deadly pair: made' "$(oracle scsi "$d") $(kernel_view "$d")" 'on write through'
for mode in both current; do
	wcbench --preset=quick --quiet --cache=$mode --workloads=rndw --size=2M --pairs=2 \
		--destroy-data "$d" >/tmp/out
	is "deadly pair, $mode: status" "$?" 3
	check "deadly pair, $mode: verdict" grep -q '^verdict  INVALID' /tmp/out
	check "deadly pair, $mode: reason" grep -q '^  E_KERNEL ' /tmp/out
	check "deadly pair, $mode: no flush was seen" grep -q '^  E_NOFLUSH ' /tmp/out
	check "deadly pair, $mode: no number is shown" sh -c '! grep -q "^rndw c=1 writes" /tmp/out'
done
is 'deadly pair: untouched' "$(oracle scsi "$d") $(kernel_view "$d")" 'on write through'
echo 'temporary write back' >"$type"

finish
