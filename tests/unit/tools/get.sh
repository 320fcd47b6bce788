#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# wcache-get over recordings: what it prints, in every form, and how it exits.
set -u
. "$(dirname "$0")/suite.sh"

{
	recording
	sata sda 'write back' && identify on
	scsi sdb 'write through' && mode_sense 08 88 04
	nvme nvme0n1 && nvme_identify 01 && nvme_feature 0
} >three
run wcache-get --replay three
is 'table: status' "$status" 0
is 'table: lines' "$(wc -l <out)" 4
is 'table: title' "$(sed -n 1p out | tr -s ' ')" 'DEVICE BUS MODEL CACHE KERNEL FSYNC NOTE'
is 'table: sata' "$(sed -n 2p out | tr -s ' ')" 'sda sata TEST SATA on write-back durable'
has 'table: deadly pair' "$(sed -n 3p out | tr -s ' ')" 'sdb sas TEST SAS on write-through at-risk the drive caches'
is 'table: nvme' "$(sed -n 4p out | tr -s ' ')" 'nvme0n1 nvme TEST NVME off write-back durable needless-flushes'
is 'table: columns stand below their titles' "$(sed -n 2p out | cut -c "$(sed -n '1s/CACHE.*//p' out | wc -c)-")" \
	"$(sed -n '2s/.*\(on  *write-back.*\)/\1/p' out)"
run wcache-get --replay three nvme0n1 /dev/sda
is 'two of them, in the order given' "$status $(sed 1d out | cut -d' ' -f1 | tr '\n' ' ')" '0 nvme0n1 sda '

# JSON: every field of the contract, with null or "unknown" where the answer is missing.
run wcache-get --json --replay three
is 'json: status' "$status" 0
is 'json: version' "$(json .format_version)" 1
is 'json: devices' "$(json '[.drives[].device] | join(" ")')" 'sda sdb nvme0n1'
is 'json: caches' "$(json '[.drives[].cache] | join(" ")')" 'on on off'
is 'json: verdicts' "$(json '[.drives[].fsync] | join(" ")')" 'durable at-risk durable'
is 'json: consistent' "$(json '[.drives[].consistent] | join(" ")')" 'true false false'
is 'json: finding' "$(json '.drives[1].findings[0] | [.code, .severity, .device, .remedy] | join("|")')" \
	'drive-on-kernel-write-through|risk|sdb|wcache-set on /dev/sdb'
for field in device bus protocol driver model firmware serial wwn cache changeable default saved \
	nonvolatile kernel consistent flush_command rotational controller fsync findings members; do
	is "json: $field is there" "$(json "[.drives[] | has(\"$field\")] | all")" true
done
is 'json: absent' "$(json '.drives[0] | [.serial, .wwn, .controller, .nonvolatile] | all(. == null)')" true
is 'json: unknown' "$(json '.drives[0] | .default + " " + .saved')" 'unknown unknown'

# Whatever bytes a name has.
{
	recording
	scsi sda 'write back' | grep -v model
	printf '%s\n' 'attr device/model=a"b\x5c\xff\xc3\xa9\xed\xa0\x80\x1b[31m\x0az'
	mode_sense 08 08 04
} >bytes
run wcache-get --json --replay bytes
is 'json: odd bytes' "$status $(json '.drives[0].model | explode | map(tostring) | join(" ")')" \
	'0 97 34 98 92 65533 233 65533 65533 65533 27 91 51 49 109 10 122'
run wcache-get --replay bytes
is 'table: odd bytes' "$status $(wc -l <out) $(tr -d '\n' <out | LC_ALL=C tr -d '[:print:]' | od -An -tx1 | tr -d ' ')" '0 2 c3a9'
is 'table: width in characters' "$(sed -n '1s/CACHE.*//p' out | wc -m)" "$(sed -n '2s/on .*//p' out | wc -m)"
run wcache-get --prometheus --replay bytes
is 'prometheus: odd bytes' "$(grep -c 'model="a\\"b\\\\?*\[31m\\nz"' out)" 1

# Details.
{
	recording
	scsi sda 'write back'
	mode_sense 08 88 04
	mode_sense 48 88 04
	mode_sense 88 88 00
	mode_sense c8 88 04
} >details
run wcache-get -v --replay details
is 'details: status' "$status" 0
for line in 'model TEST SAS' 'driver isci' 'cache on (MODE SENSE page 08h, WCE)' 'changeable yes' \
	'default off' 'saved on' 'saveable yes' 'flush command SYNCHRONIZE CACHE' \
	'kernel write-back (queue/write_cache)' 'fsync durable'; do
	has 'details' "$(tr -s ' ' <out)" " $line"
done
run wcache-get -vv --replay details
has 'commands are logged with -vv' "$err" 'sda: scsi in 512 5a080800000000020000: answered'

# Checks.
{
	recording
	sata sda 'write back' && identify off
} >off
{
	recording
	sata sda 'write back' && echo '> scsi in 512 85080e0000000100000000000040ec00' && echo "$timed_out"
} >silent
run wcache-get --check=durable --replay off && is 'check durable' "$status" 0
run wcache-get --check=off --replay off && is 'check off' "$status" 0
run wcache-get --check=off --replay details && is 'check off of one that is on' "$status" 3
run wcache-get --check=durable --replay three sdb && is 'check durable of one at risk' "$status" 3
run wcache-get --check=durable --replay three && is 'check durable of several' "$status" 3
run wcache-get --check=durable --replay silent && is 'check of one that is silent' "$status" 4
run wcache-get -q --check=off --replay off && is 'quiet' "$status$out$err" 0
run wcache-get --replay silent
is 'no answer: status' "$status" 4
has 'no answer: says so' "$out" 'no answer within 5.0 s'
has 'no answer: unknown' "$(tr -s ' ' <out)" 'sda sata TEST SATA unknown write-back unknown'
run wcache-get --timeout 0.5 --replay silent
has 'no answer within a limit of our own' "$out" 'no answer within 0.5 s'

# A device that is gone, or is not in the recording: the others are done.
{
	recording
	sata sda 'write back' && echo '> scsi in 512 85080e0000000100000000000040ec00' && echo '< errno=19'
	sata sdb 'write back' && identify on
} >gone
run wcache-get --replay gone
is 'gone: status' "$status" 5
is 'gone: message' "$(sed -n 1p err)" 'wcache-get: sda: the query failed: the device is gone'
has 'gone: the other one is done' "$out" 'sdb'
run wcache-get --json --replay gone
is 'gone: json' "$status $(json '[.drives[0].device, .errors[0].target, .errors[0].errno] | join(" ")')" '5 sdb sda 19'
run wcache-get --json-lines --replay gone
is 'gone: json lines' "$status $(while read -r line; do
	echo "$line" | jq -r '"\(.format_version) \(.device // .target) \(.errno // .cache)"'
done <out | paste -sd ,)" '5 1 sda 19,1 sdb on'
run wcache-get --replay gone sda && is 'gone: alone' "$status" 1
run wcache-get --replay off sdx
is 'not there: status' "$status" 1
is 'not there: message' "$err" 'wcache-get: sdx: not in the recording
  wcache-get lists the drives of this machine.'

# Metrics: nothing is said of what is unknown.
run wcache-get --prometheus --replay three
is 'prometheus: status' "$status" 0
is 'prometheus: cache' "$(grep '^wcache_drive_write_cache_enabled' out | tr '\n' ' ')" \
	'wcache_drive_write_cache_enabled{device="sda"} 1 wcache_drive_write_cache_enabled{device="sdb"} 1 wcache_drive_write_cache_enabled{device="nvme0n1"} 0 '
is 'prometheus: durable' "$(grep -c '^wcache_fsync_durable{device="sdb"} 0$' out)" 1
is 'prometheus: one HELP and TYPE each' "$(grep -c '^# HELP' out) $(grep -c '^# TYPE .* gauge$' out) $(grep '^# TYPE' out | sort -u | wc -l)" '5 5 5'
run wcache-get --prometheus --replay silent
is 'prometheus: unknown' "$status $(grep -c '^wcache_drive_write_cache_enabled' out) $(grep -c '^wcache_drive_info{.*cache="unknown"' out)" '4 0 1'

# What --capture wrote answers as the drive did, without its serial number.
{
	recording
	sata sda 'write back' && echo 'prop ID_SERIAL_SHORT=SECRET' && identify on
} >original
run wcache-get --replay original --capture copy
is 'capture: status' "$status" 0
first=$out
run wcache-get --replay copy
is 'capture: the same answer' "$status $out" "0 $first"
is 'capture: one command' "$(grep -c '^>' copy)" 1
is 'capture: no serial number' "$(grep -c SECRET copy)" 0

# IDENTIFY data by itself.
identify_words 85=0x7449 | sed 's/..../& /g' >words
run wcache-get --identify words
is 'identify: status' "$status" 0
is 'identify: cache' "$(grep -o 'cache  *off' out | tr -s ' ')" 'cache off'
run wcache-get --identify - <words
is 'identify: from a pipe' "$status" 0
run wcache-get --json --identify words
is 'identify: json' "$(json '[.cache, .flush_command, .words["85"]] | join("|")')" 'off|FLUSH CACHE EXT|7449'
# shellcheck disable=SC2059 # a format of \xHH
printf "$(sed 's/\(..\)\(..\) /\\x\2\\x\1/g' words)" >raw
run wcache-get --json --identify raw
is 'identify: raw bytes' "$(stat -c %s raw) $(json .cache)" '512 off'
identify_words 87=0 | sed 's/..../& /g' >invalid
run wcache-get --identify invalid
is 'identify: unknown' "$status" 4
head -c 100 raw >short
for file in short three /nonexistent /dev/null .; do
	run wcache-get --identify "$file"
	is "identify $file" "$status $(grep -c "^wcache-get: $file: " err) $(wc -l <err)" '1 1 2'
done

# Recordings that are none: the line is named, and nothing is printed as a fact.
for text in '' 'garbage' 'wcache-exchange 2' $'wcache-exchange 1\ndevice sda\nbroken line'; do
	printf '%s' "$text" >bad
	run wcache-get --replay bad
	is "bad recording '$text'" "$status $out" '1 '
	has "bad recording '$text': line" "$err" 'wcache-get: bad: line '
done
run wcache-get --replay /nonexistent
is 'no recording' "$status $err" '1 wcache-get: /nonexistent: no such device or path'
sed 's/85080e0000000100000000000040ec00/85080e0000000100000000000040ec01/' off >other
run wcache-get --replay other
is 'another command is expected' "$status" 1
has 'another command is expected: both are named' "$err" 'expects: scsi in 512 85080e0000000100000000000040ec01, but this was sent: scsi in 512 85080e0000000100000000000040ec00'

# Usage.
for arguments in '--check=fast' '--timeout=0' '--timeout=soon' '--identify words sda' '--identify' '-x'; do
	# shellcheck disable=SC2086 # a list of words
	run wcache-get $arguments
	is "usage: $arguments" "$status $out" '2 '
	has "usage: $arguments: where to look" "$err" "Try 'wcache-get --help'."
done
"$tools/wcache-get" --replay off >/dev/full 2>err
is 'full disk below the output' "$? $(cat err)" '1 wcache-get: standard output: No space left on device'

# What is no drive.
for target in /dev/null /nonexistent; do
	run wcache-get "$target"
	is "$target" "$status $(grep -c "^wcache-get: $target: " err) $(wc -l <err)" '1 1 2'
done

# A path, and one that lies on no drive at all: this machine's drives are not ours to ask.
run wcache-get /proc
is 'path: status and stderr' "$status $err" '4 '
is 'path: what it is' "$(head -n 1 out)" /proc
has 'path: its layer' "$(sed -n 2p out)" '  /proc  proc  unknown: '
has 'path: verdict' "$out" "fsync          unknown"
has 'path: finding' "$out" '[devices-unknown]'
run wcache-get --json /proc
is 'path: json' "$status $(json '.drives, .errors, (.paths[] | .target, .verdict, .drives, .stack[0].name, .stack[0].type, .stack[0].filesystem, .stack[0].flush, .stack[0].below, .paths[0].top, .findings[0].code)' |
	tr -d ' ' | tr '\n' ' ')" '4 [] [] /proc unknown [] /proc proc true unknown [] /proc devices-unknown '
run wcache-get --check=durable /proc
is 'path: check' "$status" 4
run wcache-get --prometheus /proc
is 'path: no sample for what is unknown' "$status $(grep -vc '^#' out)" '4 0'
run wcache-get --replay three /proc
is 'path: a recording has no layers' "$status $(wc -l <err)" '1 2'
finish
