#!/bin/bash
# wcache.h compiles by itself in every dialect that it promises, and says what the library has.
# header.sh HEADER LIBRARY
set -u
header=$1
library=$2
passed=0
failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

ok() { # TEXT COMMAND...
	local text=$1

	shift
	if "$@" >"$dir/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $text"
		cat "$dir/out"
	fi
}

# By itself, twice, and with nothing before it.
printf '#include <wcache.h>\n#include <wcache.h>\nint main(void) { return wcache_get_version() == 0; }\n' >"$dir/a.c"
cp "$dir/a.c" "$dir/a.cc"
for std in c89 c99 c11 c17; do
	ok "$std" cc "-std=$std" -pedantic-errors -Wall -Wextra -Wstrict-prototypes -Werror \
		-I "${header%/*}" -c "$dir/a.c" -o "$dir/a.o"
done
for std in c++98 c++17; do
	if command -v c++ >/dev/null; then
		ok "$std" c++ "-std=$std" -pedantic-errors -Wall -Wextra -Werror \
			-I "${header%/*}" -c "$dir/a.cc" -o "$dir/a.o"
	fi
done

# Declared and exported are the same, and each comes with its version.
cc -I "${header%/*}" -E -P "$dir/a.c" | sed '/^int main/d' | grep -oE '\bwcache_[a-z0-9_]+ *\(' | tr -d ' (' |
	sort -u >"$dir/declared"
nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >"$dir/versioned"
grep '@@WCACHE_' "$dir/versioned" | sed 's/@@.*//' | sort -u >"$dir/exported"
ok 'something is declared' test -s "$dir/declared"
ok 'declared and exported agree' diff "$dir/declared" "$dir/exported"
ok 'nothing else is visible' bash -c "! grep -v '@@WCACHE_' '$dir/versioned' | grep ."
ok 'every enumerator has its value' bash -c \
	"! sed -n '/^enum .*{/,/^}/p' '$header' | grep -E '^[[:space:]]WCACHE_[A-Z_0-9]+,?( /\*.*)?\$'"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
