#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# durable.c as someone else would build it: against what is installed, found by pkg-config.
# usage: build.sh SOURCE-ROOT BUILD-ROOT [COMPILER-OPTION...]
set -u
source=$1
build=$2
shift 2
example=$source/tests/example/durable.c
passed=0
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

is() { # TEXT ACTUAL EXPECTED
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1: '$2', expected '$3'"
	fi
}

DESTDIR=$dir/root meson install -C "$build" --no-rebuild --quiet --tags devel,runtime >"$dir/log" 2>&1
is 'install' "$?" 0
pc=$(find "$dir/root" -name libwcache.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$dir/root
# shellcheck disable=SC2046 # a list of words
is 'build' "$(cc -std=c99 -pedantic -Wall -Wextra -Werror "$@" -o "$dir/durable" "$example" \
	$(pkg-config --cflags --libs libwcache) 2>&1; echo $?)" 0
is 'only the library is linked' "$(readelf -d "$dir/durable" | grep -c 'NEEDED.*libwcache.so.0')" 1
LD_LIBRARY_PATH=$(pkg-config --variable=libdir libwcache)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#"$dir/root"}
export LD_LIBRARY_PATH=$dir/root$LD_LIBRARY_PATH

for place in "$dir" /proc "$dir/none"; do
	"$dir/durable" "$place" >"$dir/out" 2>&1
	status=$?
	"$build/tools/wcache-get" --check=durable "$place" >/dev/null 2>&1
	expected=$?
	# What cannot be asked, as in a chroot without its mount, is unknown to a daemon.
	[ "$expected" != 1 ] || expected=4
	is "$place" "$status" "$expected"
done
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
	is 'in memory' "$("$dir/durable" /dev/shm 2>&1; echo "$?")" \
		'fsync is not durable in /dev/shm: tmpfs is not on a drive: what it holds is gone with the power
3'
fi

body=$(sed -n '/^int main/,/^}/p' "$example" | sed '1,2d; $d' | grep .)
is 'lines of main, under 20' "$([ "$(wc -l <<<"$body")" -lt 20 ] && echo yes)" yes
manual=$(sed -n '/^ \* wcache_report_new_for_path()/,/^ \*\//s/^ \*\t/\t/p' "$source/include/wcache.h")
has=no
if [ -n "$manual" ] && [[ $body = *"$manual"* ]]; then has=yes; fi
is 'main holds what the manual shows' "$has" yes
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
