#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What one query costs: instructions of the whole process, and commands sent to the drive.
set -u
. "$(dirname "$0")/../unit/tools/suite.sh"

instructions_most=2000000

instructions() { # ARGUMENT...: of wcache-get
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tools/wcache-get" "$@" 2>&1 >/dev/null |
		sed -n 's/.*Collected : //p'
}

at_most() { # TEXT ACTUAL LIMIT
	echo "$1: $2 (at most $3)"
	is "$1: at most $3" "$([ "$2" -gt 0 ] && [ "$2" -le "$3" ] && echo yes)" yes
}

{
	recording
	sata sda 'write back' && identify on
} >sata
{
	recording
	scsi sda 'write back' && mode_sense 08 88 04
} >scsi
{
	recording
	nvme nvme0n1 && nvme_identify 01 && nvme_feature 1
} >nvme
{
	recording
	sata sda 'write through' && identify off
} >off

command -v valgrind >/dev/null || {
	echo 'skipped: valgrind is missing'
	exit 77
}
for kind in sata scsi nvme; do
	run wcache-get --replay "$kind" --capture commands
	is "$kind" "$status" 0
	at_most "$kind: commands" "$(grep -c '^>' commands)" "$([ "$kind" = sata ] && echo 1 || echo 2)"
	at_most "$kind: instructions" "$(instructions --replay "$kind")" "$instructions_most"
done
at_most 'json: instructions' "$(instructions --json --replay sata)" "$instructions_most"
run wcache-set off --replay off --capture commands sda
at_most 'a change that is not needed: commands' "$(grep -c '^>' commands)" 1
finish
