#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wcache-flush over strict recordings.
set -u
. "$(dirname "$0")/suite.sh"

{
	recording
	sata sda 'write back' && identify on && ata_flush
	scsi sdb 'write back' && mode_sense 08 08 04 && synchronize
	nvme nvme0n1 && nvme_identify 01 && nvme_feature 1
	printf '%s\n' '> nvme-io none 0 opcode=00 nsid=1' '< status=0000 result=0'
} >three
run wcache-flush --replay three sda sdb nvme0n1
is 'silent success' "$status$out$err" 0
run wcache-flush -v --replay three nvme0n1 sda
is 'verbose: status' "$status" 0
is 'verbose: in the order given' "$(sed 's/[0-9.]* s$/N s/' out)" 'nvme0n1: nvme0n1: flushed in N s
sda: sda: flushed in N s'
run wcache-flush --json --replay three sda sdb
is 'json' "$status $(json '.format_version, (.flushes[] | .target, .device, .result, (.seconds | type), .error)' | tr '\n' ' ')" \
	'0 1 sda sda done number null sdb sdb done number null '

# Off: nothing is sent, unless it is asked for.
{
	recording
	sata sda 'write through' && identify off
} >off
run wcache-flush -v --replay off sda
is 'off' "$status ${out% in *}" '0 sda: sda: nothing to flush'
{
	cat off
	ata_flush
} >off-forced
run wcache-flush -v --force --replay off-forced sda
is 'off, forced' "$status ${out% in *}" '0 sda: sda: flushed'

# Asleep: it is not woken.
{
	recording
	sata sda 'write back' && identify on && ata_awake 00
} >asleep
run wcache-flush -v --replay asleep sda
is 'asleep' "$status ${out% in *}" '0 sda: sda: asleep, its cache is empty'

# A flush that was not confirmed is never reported as done.
{
	recording
	sata sda 'write back' && identify on && ata_flush "$aborted"
	sata sdb 'write back' && identify on && ata_flush "$timed_out"
	scsi sdc 'write back' && mode_sense 08 08 04 && synchronize "$good"
} >fails
run wcache-flush -v --replay fails sda
is 'fails: status' "$status $out" '1 '
has 'fails: message' "$err" 'wcache-flush: sda: FLUSH CACHE EXT failed'
run wcache-flush --replay fails sdb
is 'timed out: status' "$status" 1
is 'timed out: message' "$err" 'wcache-flush: sdb: FLUSH CACHE EXT failed: no answer within the time limit
  Look at dmesg; --timeout gives a slow drive more time.'
run wcache-flush -v --replay fails sda sdb sdc
is 'one of three: status' "$status" 5
is 'one of three: done' "${out% in *}" 'sdc: sdc: flushed'
is 'one of three: messages' "$(grep -c '^wcache-flush: ' err)" 2
run wcache-flush --json --replay fails sda
is 'fails: json' "$status $(json '.flushes[0] | .result, .seconds, .error.errno' | tr '\n' ' ')" '1 unknown null 5 '
{
	recording
	scsi sda 'write back' && mode_sense 08 08 04
	synchronize "$refused"
	echo '> scsi none 0 91000000000000000000000000000000' && echo "$refused"
} >no-command
run wcache-flush --replay no-command sda
is 'no flush command: status' "$status" 3
is 'no flush command: message' "$err" 'wcache-flush: sda: the drive has no flush command (sense 5/20/00)
  Turn its write cache off: wcache-set off.'
run wcache-flush -q --replay no-command sda
is 'quiet' "$status$out$err" 3

# Usage.
for arguments in '' '--now sda' '--timeout'; do
	# shellcheck disable=SC2086 # a list of words
	run wcache-flush $arguments
	is "usage: '$arguments'" "$status $out" '2 '
	has "usage: '$arguments': where to look" "$err" "Try 'wcache-flush --help'."
done
# Never a path that lies on a drive: this machine's is not ours.
for target in /dev/null /nonexistent /proc; do
	run wcache-flush "$target"
	is "$target" "$status $(grep -c "^wcache-flush: $target: " err)" '1 1'
done
finish
