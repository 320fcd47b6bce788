# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034 # for the test that reads this
# What the tests of the tools share: run a tool, judge it, count; and recordings of drives
# that never were, line by line, for --replay.
tools=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

command -v jq >/dev/null || {
	echo 'skipped: jq is missing'
	exit 77
}

is() { # TEXT ACTUAL EXPECTED
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1: '$2', expected '$3'"
	fi
}

has() { # TEXT ACTUAL PART
	case $2 in
	*"$3"*) passed=$((passed + 1)) ;;
	*)
		failed=$((failed + 1))
		echo "FAIL $1: '$3' is not in '$2'"
		;;
	esac
}

# Run a tool: $out, $err and $status are what came of it.
run() { # TOOL ARGUMENT...
	"$tools/$1" "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

json() { # FILTER: of what the last run printed
	jq -r "$1" "$work/out"
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# ----------------------------------------------------------------------- recordings
good='< status=00 host=00 driver=00 resid=0 sense='
# SPC-6 4.4: CHECK CONDITION with fixed sense ILLEGAL REQUEST, INVALID COMMAND OPERATION CODE
refused='< status=02 host=00 driver=00 resid=0 sense=700005000000000a00000000200000000000'
# ABORTED COMMAND
aborted='< status=02 host=00 driver=00 resid=0 sense=70000b000000000a00000000000000000000'
timed_out='< status=00 host=03 driver=00 resid=0 sense='

recording() { # the head of a file
	echo 'wcache-exchange 1'
}

sata() { # NAME KERNEL-VIEW: a disk on ahci
	printf '%s\n' "device $1" 'prop bus=sata' 'prop driver=ahci' 'prop ID_ATA=1' \
		'prop ID_MODEL_ENC=TEST\x5cx20SATA' 'prop ID_REVISION=1.0' 'attr device/type=0' \
		'attr device/vendor=ATA' 'attr queue/rotational=1' "attr queue/write_cache=$2"
}

scsi() { # NAME KERNEL-VIEW: a disk on SAS
	printf '%s\n' "device $1" 'prop bus=sas' 'prop driver=isci' 'attr device/type=0' \
		'attr device/vendor=TEST' 'attr device/model=TEST SAS' 'attr device/rev=2.0' \
		"attr queue/write_cache=$2"
}

nvme() { # NAME
	printf '%s\n' "device $1" 'prop bus=nvme' 'prop driver=nvme' 'attr device/model=TEST NVME' \
		'attr nsid=1' 'attr queue/write_cache=write back'
}

# IDENTIFY DEVICE of a drive with 48-bit addresses and FLUSH CACHE EXT (ACS-5 7.13).
identify_words() { # WORD=VALUE...
	local -a word
	local pair

	for pair in 0=0x0040 82=0x746b 83=0x7d01 84=0x4163 85=0x7469 86=0xbc01 87=0x4163 "$@"; do
		word[${pair%%=*}]=${pair#*=}
	done
	for ((i = 0; i < 256; i++)); do
		printf '%04x' "$((${word[i]:-0}))"
	done
}

identify() { # on|off: the exchange
	local words i

	words=$(identify_words "85=$([ "$1" = on ] && echo 0x7469 || echo 0x7449)")
	echo '> scsi in 512 85080e0000000100000000000040ec00'
	echo "$good"
	for ((i = 0; i < 1024; i += 64)); do
		printf '= %s\n' "$(echo "${words:i:64}" | sed 's/\(..\)\(..\)/\2\1/g')"
	done
}

set_features() { # on|off
	echo "> scsi none 0 85062000$([ "$1" = on ] && echo 02 || echo 82)000000000000000040ef00"
}

# CHECK POWER MODE with the answer in a descriptor of registers (SAT-5 12.2.2.4), then the flush.
ata_awake() { # MODE
	echo '> scsi none 0 8506200000000000000000000040e500'
	echo "< status=02 host=00 driver=00 resid=0 sense=7201001d0000000e090c000000${1}0000000000000050"
}

ata_flush() { # REPLY
	ata_awake ff
	echo '> scsi none 0 8507200000000000000000000040ea00'
	echo "${1:-$good}"
}

rescan() {
	printf '%s\n' '> set attr device/rescan=1' '< errno=0' "attr queue/write_cache=$1"
}

# MODE SENSE(10), DBD, of the caching page; PC is 08 current, 48 changeable, 88 default, c8 saved.
mode_sense() { # PC PAGE-FIRST-BYTE FLAGS
	echo "> scsi in 512 5a08${1}00000000020000"
	echo '< status=00 host=00 driver=00 resid=484 sense='
	echo "= 001a001000000000 ${2}12${3}00 00000000 00000000 00000000 00000000"
}

mode_select() { # FLAGS SP REPLY
	echo "> scsi out 28 551${2}0000000000001c00"
	echo "${3:-$good}"
	echo "= 0000000000000000 0812${1}00 00000000 00000000 00000000 00000000"
}

synchronize() { # REPLY
	echo '> scsi none 0 35000000000000000000'
	echo "${1:-$good}"
}

# Identify Controller with VWC (byte 525) and a vendor, then feature 06h.
nvme_identify() { # VWC
	echo '> nvme-admin in 4096 opcode=06 nsid=0 cdw10=1'
	echo '< status=0000 result=00000000'
	printf '= 8680%01046d%s\n' 0 "$1"
}

nvme_feature() { # RESULT STATUS
	echo '> nvme-admin none 0 opcode=0a nsid=0 cdw10=6'
	echo "< status=${2:-0000} result=0000000$1"
}
