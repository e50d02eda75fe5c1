#!/bin/sh
# check.sh BUILD VECTORS: run the tests; the last line is "N passed, N failed".
build=$1
vectors=$2
passed=0
failed=0

ok()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "not ok - $2"
	fi
}

for program in test_vectors test_values; do
	out=$("$build/$program" "$vectors")
	status=$?
	printf '%s\n' "$out"
	set -- $(printf '%s\n' "$out" | sed -n 's/^[a-z]*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
	passed=$((passed + ${1:-0}))
	failed=$((failed + ${2:-0}))
	[ $# = 2 ] || ok 1 "$program ended with status $status"
done

# the example, linked to the shared library, as the README shows it
text=$(sed -n 's/.*"name":"capacity 1",.*"text":"\([^"]*\)".*/\1/p' "$vectors")
answer=$(printf '%s\n' "$text" | "$build/example" one two)
[ "$answer" = "one: may be there
two: is not there" ]
ok $? "the example says: $answer"
! printf 'cf1:AAAA' | "$build/example" one 2>/dev/null
ok $? "the example takes damage"

# the first example of the README
sed -n '/^```c$/,/^```$/p' "$(dirname "$0")/../README.md" | sed '1d; $d' >"$build/readme.c"
sed -n '/^```text$/,/^```$/p' "$(dirname "$0")/../README.md" | sed '1d; $d' >"$build/readme.txt"
${CC:-cc} -std=c99 -Wall -Wextra ${EXTRA_CFLAGS-} -I"$(dirname "$0")/.." "$build/readme.c" \
	-L"$build" -lcuckoofilter -Wl,-rpath,"$build" -o "$build/readme" &&
	"$build/readme" | cmp - "$build/readme.txt"
ok $? "the first example of the README"

# what can be linked to
public=$(sed -n 's/^\(cuckoofilter_[a-z_]*\)(const.*\|^\(cuckoofilter_[a-z_]*\)(cuckoofilter.*/\1\2/p' "$(dirname "$0")/../cuckoofilter.h"; echo cuckoofilter_free)
public=$(printf '%s\n' $public | grep -v '_of_' | sort -u; echo cuckoofilter_hash_of)
public=$(printf '%s\n' $public | sort -u)
for library in libcuckoofilter.a libcuckoofilter.so; do
	case $library in *.so) dynamic=-D ;; *) dynamic= ;; esac
	exported=$(nm $dynamic -g --defined-only "$build/$library" | awk 'NF == 3 { print $3 }' | sort -u)
	[ "$exported" = "$public" ]
	ok $? "$library has other symbols than the header: $exported"
done

echo
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
