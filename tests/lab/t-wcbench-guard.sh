#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Whatever is killed, in whatever phase of wcbench, a power cut included: the setting comes back.
# drives: scsi:size=256M sata scsi:write-cache=off
# lab: --size 32M --timeout 600
set -u
. "$LAB/guest"

states=/var/lib/wcbench

# What outlives a restart is on the host here.
mkdir -p /run/lab/states $states
mount --bind /run/lab/states $states

# Cheap enough to be asked all the time: the kernel follows each change.
is_now() { # NODE on|off
	local view

	read -r view <"/sys/block/${1##*/}/queue/write_cache"
	case $2 in
	on) [ "$view" = 'write back' ] ;;
	off) [ "$view" = 'write through' ] ;;
	esac
}

until_setting() { # NODE on|off
	local tries

	for ((tries = 0; tries < 600; tries++)); do
		is_now "$1" "$2" && return 0
		sleep 0.05
	done
	bad "$1 does not become $2: $(cat /run/out /run/err)"
	return 1
}

children() { # PID
	cat /proc/"$1"/task/*/children 2>/dev/null
}

# In the background; its process in $main, its guardian in $guardian.
bench() { # NODE
	local tries

	wcbench --preset=quick --quiet --workloads=rndw,seqr --size=2M --window=0.3 --pairs=100 --destroy-data \
		"$1" >/run/out 2>/run/err &
	main=$!
	find_guardian "$main"
}

find_guardian() { # PID
	local tries

	for ((tries = 0; tries < 600; tries++)); do
		read -r guardian _ <<<"$(children "$1")"
		[ -z "$guardian" ] || return 0
		sleep 0.05
	done
	bad "no guardian: $(cat /run/out /run/err)"
}

gone() { # PID
	local tries

	for ((tries = 0; tries < 600; tries++)); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

# Until the benchmark is where it is wanted.
reach() { # NODE PHASE WAS OTHER
	case $2 in
	'before the first change') ;;
	'in the change') until_setting "$1" "$4" ;;
	changed)
		until_setting "$1" "$4"
		sleep 0.2
		;;
	'changed back')
		until_setting "$1" "$4"
		until_setting "$1" "$3"
		sleep 0.2
		;;
	esac
}

restored() { # TEXT NODE SETTING
	is "$1: the setting" "$(oracle "$2")" "$3"
	is_now "$2" "$3" || bad "$1: the kernel says $(kernel_view "$2")"
	is "$1: state files" "$(ls $states)" ''
}

main_killed() { # TEXT NODE SETTING
	kill -KILL "$main"
	wait "$main" 2>/dev/null
	ok "$1: the guardian ends" gone "$guardian"
	restored "$1" "$2" "$3"
}

guardian_killed() { # TEXT NODE SETTING
	kill -KILL "$guardian"
	wait "$main"
	is "$1: status" "$?" 1
	has "$1: says so" "$(cat /run/err)" guardian
	restored "$1" "$2" "$3"
}

both_killed() { # TEXT NODE SETTING
	kill -STOP "$guardian"
	kill -KILL "$main" "$guardian"
	wait "$main" 2>/dev/null
	ok "$1: the guardian ends" gone "$guardian"
	wcbench --restore >/run/restored
	is "$1: --restore: status" "$?" 0
	has "$1: --restore says what it did" "$(cat /run/restored)" "the cache is $3 again"
	restored "$1" "$2" "$3"
}

a=$(drive scsi) b=$(drive sata) c=$(drive scsi 2)

if [ "$LAB_BOOT" = 2 ]; then
	# Of this drive the setting outlives a warm reset.
	is 'reset: the setting before' "$(oracle "$c")" on
	wcbench --restore >/run/restored
	is 'reset: --restore: status' "$?" 0
	has 'reset: --restore says what it did' "$(cat /run/restored)" 'the cache is off again'
	restored reset "$c" off

	# Found whatever it was called; one that is not there is waited for.
	serial=$(serial_named scsi)
	printf 'wcbench-state 2\nboot before\n%s\n%s\nend\n' "drive ${b##*/} - $serial off" \
		"drive ${a##*/} - ANOTHER off" >$states/a.state
	wcbench --restore >/run/restored 2>/run/err
	is 'another name: status' "$?" 1
	is 'another name: the settings' "$(oracle "$a") $(oracle "$b")" 'off on'
	has 'another name: said' "$(cat /run/restored)" "${a##*/} (which was ${b##*/}): the cache is off again"
	has 'not there: said' "$(cat /run/restored)" 'serial number ANOTHER): the cache cannot be turned off'
	is 'not there: kept' "$(cat $states/a.state)" 'wcbench-state 2
boot before
drive '"${a##*/}"' - ANOTHER off
end'
	finish
	exit
fi

for d in $a $b $c; do
	was=$(oracle "$d")
	other=off
	[ "$was" = on ] || other=on
	phases=(changed)
	[ "$d" != "$a" ] || phases=('before the first change' 'in the change' changed 'changed back')

	for phase in "${phases[@]}"; do
		for victim in main guardian both; do
			bench "$d"
			reach "$d" "$phase" "$was" "$other"
			"${victim}_killed" "$d: SIGKILL to $victim, $phase" "$d" "$was"
		done
	done
done

# Before there is a guardian nothing has been changed.
read -r _ _ _ _ before _ <"/sys/block/${a##*/}/stat"
wcbench --preset=quick --quiet --destroy-data "$a" >/run/out 2>/run/err &
main=$!
until read -r _ _ _ _ writes _ <"/sys/block/${a##*/}/stat" && [ "$writes" -gt "$before" ]; do
	sleep 0.02
done
is 'SIGKILL while the file is written: no guardian' "$(children $main)" ''
kill -KILL $main
wait $main 2>/dev/null
restored 'SIGKILL while the file is written' "$a" on

for signal in INT TERM HUP QUIT; do
	bench "$a"
	until_setting "$a" off
	kill -$signal "$main"
	wait "$main"
	is "SIG$signal: status" "$?" 1
	restored "SIG$signal" "$a" on
done

# A terminal of its own, on which somebody types ^C, or which goes away.
for end in '^C' 'terminal gone'; do
	mkfifo /run/keys
	script -qfc "exec wcbench --preset=quick --workloads=rndw --size=2M --window=0.3 --pairs=100 \
		--destroy-data $a" /dev/null </run/keys >/run/out 2>&1 &
	terminal=$!
	exec 7>/run/keys
	until_setting "$a" off
	read -r main _ <<<"$(children $terminal)"
	find_guardian "$main"
	if [ "$end" = '^C' ]; then
		printf '\3' >&7
	else
		kill -KILL $terminal
	fi
	exec 7>&-
	wait $terminal 2>/dev/null
	ok "$end: the benchmark ends" gone "$main"
	ok "$end: the guardian ends" gone "$guardian"
	restored "$end" "$a" on
	rm /run/keys
done

# A benchmark at work is left alone.
bench "$a"
until_setting "$a" off
kill -STOP "$main"
wcbench --restore >/run/restored
is 'at work: --restore: status' "$?" 0
has 'at work: says so' "$(cat /run/restored)" 'at work'
ok 'at work: still' kill -0 "$guardian"
kill -CONT "$main"
kill -INT "$main"
wait "$main"
restored 'at work' "$a" on

# What was killed is put right before the next begins.
bench "$c"
until_setting "$c" on
kill -STOP "$guardian"
kill -KILL "$main" "$guardian"
wait "$main" 2>/dev/null
gone "$guardian"
wcbench --preset=quick --quiet --workloads=rndw --size=2M --destroy-data "$c" >/run/out 2>/run/err
is 'the next: status' "$?" 1
has 'the next: says why' "$(cat /run/err)" 'wcbench --restore'
is 'the next: nothing changed' "$(oracle "$c")" on

reset
