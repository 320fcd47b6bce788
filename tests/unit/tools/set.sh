#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wcache-set over strict recordings: each holds the whole conversation in the safe order, so
# that any other command, or one out of its turn, fails the test.
set -u
. "$(dirname "$0")/suite.sh"

sata_goes_off() { # NAME: off, and everything on the way there
	identify on
	ata_flush
	set_features off && echo "$good"
	identify off
	ata_flush
	rescan 'write through'
	identify off
}

{
	recording
	sata sda 'write back' && sata_goes_off
} >off
run wcache-set off --replay off sda
is 'off: silent success' "$status$out$err" 0
run wcache-set -v off --replay off sda
is 'off: steps' "$status $out" '0 /dev/sda: flush the write cache: done
/dev/sda: turn the write cache off: done
/dev/sda: read the setting back from the drive: done
/dev/sda: flush what came between: done
/dev/sda: let the kernel follow: done
/dev/sda: write cache off, kernel write-through'
run wcache-set -q off --replay off sda
is 'off: quiet' "$status$out$err" 0
run wcache-set --json off --replay off sda
is 'off: json' "$status $(json '.format_version, (.changes[0] | .device, .before.cache, .after.cache, .after.kernel, .error, (.steps | length))' | tr '\n' ' ')" \
	'0 1 sda on off write-through null 5 '

# A dry run asks and tells, and would fail at the second command.
{
	recording
	sata sda 'write back' && identify on
} >question
run wcache-set --dry-run off --replay question sda
is 'dry run: status' "$status" 0
is 'dry run: steps' "$(sed -n 1,2p out)" '/dev/sda: would flush the write cache
/dev/sda: would turn the write cache off'
run wcache-set -n --json off --replay question sda
is 'dry run: json' "$(json '[.changes[0].steps[].status] | unique | join(" ")')" planned

# Already so: nothing is sent.
{
	recording
	sata sda 'write through' && identify off
} >already
run wcache-set -v off --replay already sda
is 'already off' "$status $out" '0 /dev/sda: already off, nothing to do'

# On: the kernel sends flushes first.
{
	recording
	sata sda 'write through'
	echo 'attr device/scsi_disk/0:0:0:0/cache_type=write through'
	identify off
	printf '%s\n' '> set attr device/scsi_disk/*/cache_type=temporary write back' '< errno=0' \
		'attr queue/write_cache=write back'
	set_features on && echo "$good"
	identify on
	printf '%s\n' '> set attr device/scsi_disk/*/cache_type=write back' '< errno=0'
	rescan 'write back'
	identify on
} >on
run wcache-set -v on --replay on sda
is 'on: status' "$status" 0
is 'on: errors' "$err" ''
is 'on: the kernel comes first' "$(sed -n 1p out)" '/dev/sda: have the kernel send flushes: done'
is 'on: the end' "$(tail -n 1 out)" '/dev/sda: write cache on, kernel write-back'

# NVMe: feature 06h of the controller.
nvme_flush='> nvme-io none 0 opcode=00 nsid=1'
{
	recording
	nvme nvme0n1 && nvme_identify 01 && nvme_feature 1
	printf '%s\n' "$nvme_flush" '< status=0000 result=0'
	printf '%s\n' '> nvme-admin none 0 opcode=09 nsid=0 cdw10=6' '< status=0000 result=0'
	nvme_identify 01 && nvme_feature 0
	printf '%s\n' "$nvme_flush" '< status=0000 result=0'
	rescan 'write back'
	nvme_identify 01 && nvme_feature 0
} >nvme
run wcache-set off --replay nvme nvme0n1
is 'nvme: off' "$status$out$err" 0
{
	recording
	nvme nvme0n1 && nvme_identify 01 && nvme_feature 1
	printf '%s\n' "$nvme_flush" '< status=0000 result=0'
	printf '%s\n' '> nvme-admin none 0 opcode=09 nsid=0 cdw10=6' '< status=4002 result=0'
	nvme_identify 01 && nvme_feature 1
} >nvme-refuses
run wcache-set off --replay nvme-refuses nvme0n1
is 'nvme refuses: status' "$status" 3
has 'nvme refuses: what and why' "$(sed -n 1p err)" 'wcache-set: nvme0n1: Set Features 06h (WCE=0) was refused (NVMe status 002h)'
has 'nvme refuses: where it stands' "$(sed -n 1p err)" 'its write cache is on now, the kernel says write-back'
is 'nvme refuses: what to do' "$(sed -n 2p err)" '  wcache-get -v shows what rules it.'

# The drive says yes and stays as it was.
{
	recording
	sata sda 'write back'
	identify on
	ata_flush
	set_features off && echo "$good"
	identify on
	mode_sense 08 08 04
	mode_select 00 0 "$refused"
	identify on
} >ignores
run wcache-set off --replay ignores sda
is 'ignored: status' "$status" 1
has 'ignored: message' "$(sed -n 1p err)" 'wcache-set: sda: the drive took the command, but its write cache is still on'
is 'ignored: what to do' "$(wc -l <err)" 2

# The drive was reset after it was verified: the last word is its own.
{
	recording
	sata sda 'write back'
	identify on
	ata_flush
	set_features off && echo "$good"
	identify off
	ata_flush
	rescan 'write back'
	identify on
	identify on
} >reset
run wcache-set off --replay reset sda
is 'reset: status' "$status" 1
has 'reset: message' "$(sed -n 1p err)" 'wcache-set: sda: the write cache is on again: a reset'
has 'reset: where it stands' "$(sed -n 1p err)" 'its write cache is on now, the kernel says write-back'

# A flush that fails ends the change before anything is turned off.
{
	recording
	sata sda 'write back'
	identify on
	ata_flush "$aborted"
	identify on
} >flush-fails
run wcache-set off --replay flush-fails sda
is 'flush fails: status' "$status" 1
has 'flush fails: message' "$err" 'wcache-set: sda: FLUSH CACHE EXT failed'
run wcache-set --json off --replay flush-fails sda
is 'flush fails: json' "$(json '.changes[0] | [.error.errno, .after.cache, .steps[0].status, .steps[1].status] | join(" ")')" \
	'5 on failed planned'

# Refusals, each before anything was sent but a question.
refuses() { # TEXT STATUS MESSAGE ARGUMENT...
	run wcache-set "${@:4}" sda
	is "$1: status" "$status" "$2"
	has "$1: message" "$(sed -n 1p err)" "wcache-set: sda: $3"
	is "$1: what to do" "$(wc -l <err)" 2
	run wcache-set --json "${@:4}" sda
	is "$1: json" "$(json '.changes[0] | has("device") and has("before") and has("after") and .steps == [] and (.error.text | length > 0)')" true
}
{
	recording
	sata sda 'write back' && echo '> scsi in 512 85080e0000000100000000000040ec00' && echo "$timed_out"
} >silent
refuses 'unknown state' 4 'the state of its write cache is unknown: no answer' off --replay silent
refuses 'not to be saved' 3 'the drive cannot keep this setting over a power cycle' --save off --replay question
has 'not to be saved: the way there is' "$err" wcache.conf
{
	recording
	nvme sda && nvme_identify 00
} >none
refuses 'no cache' 3 'the drive has no volatile write cache' off --replay none
refuses 'default not told' 3 'the drive does not tell its default' default --replay question
{
	recording
	scsi sda 'write back' && mode_sense 08 08 04 && mode_sense 48 08 00 && mode_sense 88 08 04
} >fixed
refuses 'not changeable' 3 "the drive's write cache is not changeable" off --replay fixed
{
	recording
	sata sdb 'write back'
} >other
refuses 'not in the recording' 1 'not in the recording' off --replay other

# SAS: read, modify and write one page; SP only with --save.
sas_page() { # CURRENT SAVED
	mode_sense 08 88 "$1" && mode_sense 48 88 04 && mode_sense 88 88 04 && mode_sense c8 88 "$2"
}
sas_goes_off() { # SAVED-BEFORE SP SAVED-AFTER
	sas_page 04 "$1"
	synchronize
	mode_sense 08 88 04
	mode_select 00 "$2"
	sas_page 00 "$3"
	synchronize
	rescan 'write through'
	sas_page 00 "$3"
}
{
	recording
	scsi sda 'write back' && sas_goes_off 04 0 04
} >sas
run wcache-set off --replay sas sda
is 'sas: off' "$status$out$err" 0
{
	recording
	scsi sda 'write back' && sas_goes_off 04 1 00
} >sas-save
run wcache-set --save off --replay sas-save sda
is 'sas: off, saved' "$status$out$err" 0
run wcache-set off --replay sas-save sda
is 'sas: not saved unasked' "$status" 1

# Several: one bad target stops none.
{
	recording
	sata sda 'write back' && sata_goes_off
	sata sdc 'write back' && sata_goes_off
} >several
run wcache-set -v off --replay several sda sdb sdc
is 'several: status' "$status" 5
is 'several: the bad one' "$(sed -n 1p err)" 'wcache-set: sdb: not in the recording'
is 'several: the others' "$(grep 'write cache off, kernel' out)" '/dev/sda: write cache off, kernel write-through
/dev/sdc: write cache off, kernel write-through'

# A signal in the middle is held until the change has ended. The tool stops in the middle
# because what it records goes into a pipe that has room for one page.
mkfifo pipe
exec 3<>pipe
head -c 61440 /dev/zero >&3
"$tools/wcache-set" -v off --replay off --capture pipe sda >out 2>err &
pid=$!
is_stuck() { # in the state "sleeping", with SIGTERM (bit 14) held
	local held

	held=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$pid/status")
	[ $((0x$held & 1 << 14)) != 0 ] && grep -q '^State:[[:space:]]*S' "/proc/$pid/status"
}
for _ in $(seq 100); do
	is_stuck && break
	sleep 0.1
done
sleep 0.5
kill -TERM "$pid"
sleep 0.2
is 'signal: the change goes on' "$(is_stuck && echo yes)" yes
cat <&3 >drained &
drain=$!
wait "$pid" 2>/dev/null
is 'signal: comes through in the end' "$?" 143
sleep 0.2
kill "$drain"
exec 3>&-
is 'signal: all was done' "$(tail -n 1 out)" '/dev/sda: write cache off, kernel write-through'
is 'signal: the last step' "$(tr -d '\0' <drained | grep -c '^> set attr device/rescan=1')" 1

# Usage.
for arguments in '' 'off' 'maybe sda' 'sda off' '--save' '--frobnicate off sda'; do
	# shellcheck disable=SC2086 # a list of words
	run wcache-set $arguments
	is "usage: '$arguments'" "$status $out" '2 '
	has "usage: '$arguments': where to look" "$err" "Try 'wcache-set --help'."
done
# Never a path that lies on a drive: this machine's is not ours.
for target in /dev/null /nonexistent /proc; do
	run wcache-set off "$target"
	is "$target" "$status $(grep -c "^wcache-set: $target: " err)" '1 1'
done
finish
