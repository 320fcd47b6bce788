#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wcbench on drives that take 4 ms for a write behind a volatile cache, on and off in
# pairs: flushes, ratios, and the setting afterwards.
# drives: nbd-sata nbd-scsi
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

phase() { # WORKLOAD ARM FILTER: of one phase in /tmp/r.json
	jq -r --arg w "$1" --arg a "$2" \
		".phases[] | select(.workload == \$w and .arm == \$a) | $3" /tmp/r.json
}

line() { # WORKLOAD MEASURE FILTER
	jq -r --arg w "$1" --arg m "$2" \
		".summary[] | select(.workload == \$w and .measure == \$m) | $3" /tmp/r.json
}

codes() { jq -r '[.verdict.reasons[].code] | join(" ")' /tmp/r.json; }

for kind in nbd-sata nbd-scsi; do
	d=$(drive "$kind")
	oracle=${kind#nbd-}
	began=$SECONDS
	wcbench --preset=quick --quiet --json --destroy-data "$d" >/tmp/r.json
	is "$kind: status" "$?" 0
	between "$kind: quick takes less than a minute" $((SECONDS - began)) 10 60
	for workload in rndw flush wal-fdatasync; do
		between "$kind: $workload: flushes, on" \
			"$(phase $workload on .device.flushes_per_operation)" 0.97 1.03
		is "$kind: $workload: flushes, off" \
			"$(phase $workload off .device.flushes_per_operation)" 0
		between "$kind: $workload: durable either way" \
			"$(jq -r --arg w $workload '[.summary[] | select(.workload == $w)][0].ratio.ratio' \
				/tmp/r.json)" 0.5 1.6
	done
	between "$kind: the cache takes more than the medium" "$(line seqw accepted .ratio.ratio)" 2 1000
	between "$kind: and surely" "$(line seqw accepted .ratio.ci_lo)" 1 1000
	between "$kind: reads are the same" "$(line seqr read .ratio.ci_lo)" 0 1
	is "$kind: not one E_" "$(codes | grep -o 'E_[A-Z]*' | head -n 1)" ''
	is "$kind: the setting is back" "$(oracle "$oracle" "$d") $(kernel_view "$d")" 'on write back'
	is "$kind: nothing left to restore" "$(ls /var/lib/wcbench 2>/dev/null)" ''
done

finish
