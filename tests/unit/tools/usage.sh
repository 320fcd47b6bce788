#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Help, version and manual of every tool tell the same story.
set -u
. "$(dirname "$0")/suite.sh"
top=$here/../../..

long_options() { # of text on stdin
	grep -oE -- '(^|[^a-z-])--[a-z][a-z-]+' | grep -oE -- '--.*' | sort -u
}

for tool in wcache-get wcache-set wcache-flush wcbench; do
	program=$tools/$tool
	[ "$tool" != wcbench ] || program=$tools/wcbench/wcbench
	page=$top/tools/man/$tool.8.scd

	"$program" --help >out 2>err
	is "$tool --help" "$? $(cat err)" '0 '
	is "$tool --help: begins with" "$(head -n 1 out | cut -c 1-$((8 + ${#tool})))" "Usage: $tool "
	is "$tool --help: width" "$(awk 'length > 100' out)" ''
	long_options <out >in-help
	"$program" --version >out 2>err
	is "$tool --version" "$? $(cat out)" "0 $tool $(sed -n "s/^  version: '\(.*\)',/\1/p" "$top/meson.build")"
	"$program" --no-such-option >out 2>err
	is "$tool --no-such-option" "$? $(cat out)" '2 '
	has "$tool --no-such-option: where to look" "$(cat err)" "$tool --help"

	# What stands in bold in the manual under OPTIONS is what there is.
	sed -n '/^# OPTIONS/,/^# [^O]/p' "$page" | sed 's/\\//g' >options
	long_options <options >in-manual
	is "$tool: options of help that the manual has not" "$(comm -23 in-help <(long_options <"$page") | tr '\n' ' ')" ''
	for option in $(grep -E '^\*' options | long_options); do
		has "$tool: $option is in help" "$(cat in-help)" "$option"
	done
	for folder in bash zsh fish; do
		for file in "$top/tools/completions/$folder/"*"$tool"*; do
			[ -e "$file" ] || continue
			for option in $(cat in-help); do
				has "$folder completes $option of $tool" "$(sed 's/-l /--/g' "$file")" "$option"
			done
		done
	done
done
finish
