#!/bin/bash
# Each long option that a tool prints in its help is completed by each shell, and no other.
# completions.sh FOLDER-OF-COMPLETIONS TOOL...
set -u
folder=$1
shift
passed=0
failed=0

compare() { # TEXT EXPECTED ACTUAL
	if [ -n "$2" ] && [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $1"
		diff <(echo "$2") <(echo "$3")
	fi
}

options() {
	grep -oE -- '--[a-z][a-z-]*' | sort -u
}

# What bash itself would offer.
ask_bash() { # TOOL
	# shellcheck source=/dev/null
	bash -c '. "$1"; COMP_WORDS=("$2" --) COMP_CWORD=1; _wcache "$2"; printf "%s\n" "${COMPREPLY[@]}"' \
		- "$folder/bash" "$1"
}

ask_zsh_file() { # TOOL: its part of the file, with what all but wcbench share
	if [ "$1" != wcbench ]; then
		sed -n '/^common=/,/^)/p' "$folder/zsh"
	fi
	sed -n "/^$1)/,/;;/p" "$folder/zsh"
}

for path; do
	tool=$(basename "$path")
	# Options only: a line of help may speak of another program's.
	want=$("$path" --help | sed 's/ as hdparm --Istdout prints it//; s/names that --list shows//' | options)
	compare "$tool: bash" "$want" "$(ask_bash "$tool" | options)"
	compare "$tool: zsh" "$want" "$(ask_zsh_file "$tool" | sed 's/\[[^]]*\]//' | options)"
	compare "$tool: fish" "$want" "$(sed -n 's/.* -l \([a-z-]*\).*/--\1/p' "$folder/$tool.fish" | sort -u)"
	if command -v fish >/dev/null; then
		got=$(fish -c "source $folder/$tool.fish; complete -C'$tool --'" | options)
		compare "$tool: fish itself" "$want" "$(echo "$got" | sed 's/ .*//' | sort -u)"
	fi
done
if command -v zsh >/dev/null; then
	compare 'zsh: syntax' ok "$(zsh -n "$folder/zsh" && echo ok)"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
