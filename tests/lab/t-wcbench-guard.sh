#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Whatever is killed, in whatever phase of wcbench: the setting comes back.
# drives: scsi sata scsi:write-cache=off
# lab: --size 32M --timeout 540
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

bench() { # NODE ARG...: in the background; its process in $main, its guardian in $guardian
	local tries d=$1

	shift
	wcbench --preset=quick --quiet --destroy-data "$@" "$d" >/tmp/out 2>/tmp/err &
	main=$!
	guardian=
	for ((tries = 0; tries < 200; tries++)); do
		guardian=$(cat /proc/$main/task/*/children 2>/dev/null | tr -d ' ')
		[ -z "$guardian" ] || return 0
		sleep 0.05
	done
	bad "no guardian: $(cat /tmp/err)"
}

setting() { # NODE
	if [ "$1" = "$(drive sata)" ]; then
		oracle sata "$1"
	else
		oracle scsi "$1"
	fi
}

until_setting() { # NODE on|off
	local tries

	for ((tries = 0; tries < 400; tries++)); do
		[ "$(setting "$1")" = "$2" ] && return 0
		sleep 0.05
	done
	return 1
}

# Hold the benchmark while the drive is on, or off: it changes with every run.
hold() { # NODE SETTING
	local tries

	for ((tries = 0; tries < 400; tries++)); do
		until_setting "$1" "$2"
		kill -STOP "$main"
		sleep 0.2
		[ "$(setting "$1")" != "$2" ] || return 0
		kill -CONT "$main"
	done
}

restored() { # TEXT NODE SETTING
	until_setting "$2" "$3"
	is "$1: the setting" "$(setting "$2")" "$3"
	is "$1: state files" "$(ls /run/wcbench)" ''
	check "$1: drive and kernel agree" sh -c "wcache-get --json $2 | jq -e '.drives[0].consistent'"
}

gone() { # PID
	local tries

	for ((tries = 0; tries < 200; tries++)); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

a=$(drive scsi) b=$(drive sata) off=$(drive scsi 2)

for d in $a $b $off; do
	was=$(setting "$d")
	other=off
	[ "$was" = on ] || other=on

	# While it writes the file, in runs with the cache on, with it off, and in between.
	delays='0 1 2.5 4' signals='INT TERM HUP'
	[ "$d" = "$a" ] || delays=1 signals=INT
	for delay in $delays; do
		bench "$d"
		sleep $delay
		kill -KILL "$main"
		wait "$main" 2>/dev/null
		gone "$guardian"
		restored "$d: SIGKILL after $delay s" "$d" "$was"
	done

	bench "$d"
	hold "$d" "$other"
	kill -KILL "$main"
	wait "$main" 2>/dev/null
	restored "$d: SIGKILL while $other" "$d" "$was"

	bench "$d"
	until_setting "$d" "$other"
	kill -KILL "$guardian"
	wait "$main"
	is "$d: guardian killed: status" "$?" 1
	check "$d: guardian killed: says so" grep -q guardian /tmp/err
	restored "$d: guardian killed" "$d" "$was"

	bench "$d"
	hold "$d" "$other"
	kill -KILL "$guardian" "$main"
	wait "$main" 2>/dev/null
	sleep 1
	is "$d: both killed: the setting stays for now" "$(setting "$d")" "$other"
	wcbench --restore >/tmp/out
	is "$d: both killed: --restore: status" "$?" 0
	check "$d: both killed: --restore says what it did" grep -q "the cache is $was again" /tmp/out
	restored "$d: both killed" "$d" "$was"

	for signal in $signals; do
		bench "$d"
		until_setting "$d" "$other"
		kill -$signal "$main"
		wait "$main"
		is "$d: SIG$signal: status" "$?" 1
		restored "$d: SIG$signal" "$d" "$was"
	done
done

# A benchmark at work is left alone, and so is a drive that took another's name.
bench "$a"
hold "$a" off
wcbench --restore >/tmp/restore
is 'at work: --restore: status' "$?" 0
check 'at work: says so' grep -q 'at work' /tmp/restore
kill -CONT "$main"
kill -INT "$main"
wait "$main"
restored 'at work' "$a" on

mkdir -p /run/wcbench
printf 'wcbench-state 1\ndrive %s ANOTHER off\nend\n' "${a##*/}" >/run/wcbench/a.state
wcbench --restore >/tmp/restore 2>&1
is 'another drive: status' "$?" 1
is 'another drive: nothing changed' "$(setting "$a")" on
rm /run/wcbench/a.state

# Files that are none.
for text in '' 'x' 'wcbench-state 1\n' 'wcbench-state 1\ndrive\nend\n' \
	'wcbench-state 1\ndrive ../sda - off\nend\n' 'wcbench-state 1\ndrive sda - maybe\nend\n' \
	"wcbench-state 1\\ndrive ${a##*/} - off"; do
	printf "$text" >/run/wcbench/b.state
	wcbench --restore >/tmp/restore 2>&1
	is "bad file '$text': status" "$?" 1
	is "bad file '$text': nothing changed" "$(setting "$a")" on
done
head -c 100000 /dev/urandom >/run/wcbench/b.state
check 'garbage' sh -c 'wcbench --restore; [ $? = 1 ]'
rm /run/wcbench/b.state

finish
