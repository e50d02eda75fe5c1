# shellcheck shell=bash disable=SC2154
#
# core.sh
#		Run the unit tests of src/core, which need no server.
#
# Needs common.sh (and its counters), packages.sh, and server.sh for
# copy_source.
CORE_WORK=				# folder with a copy of the sources

core_copy()
{
	[ -z "$CORE_WORK" ] || return 0
	make_temp CORE_WORK
	copy_source "$CORE_WORK"
}

# core_check LABEL ARG...
#		make check in test/core of the copy, in a build folder of its own, and
#		count its tests.  The core's Makefile makes warnings errors.
core_check()
{
	local label=$1 log status=0
	shift

	core_copy
	log=$CORE_WORK/$label.log
	logged "$log" make -s --no-print-directory -C "$CORE_WORK/test/core" -j2 \
		BUILD="$CORE_WORK/build-$label" "$@" check || status=$?
	grep -E '^not ok' "$log" | sed 's/^/    /' || true
	if ! add_counts "$log"; then
		step "no count at the end of the core tests ($label)"
		status=1
	fi
	if ((status != 0 || nfailed > 0)); then
		show "$log"
		return 1
	fi
	rm -rf "$CORE_WORK/build-$label"
}

# run_core COMPILER
run_core()
{
	step "building with $1, warnings are errors, and running"
	core_check "$1" CC="$1"
}

run_core_sanitized()
{
	# The harness leaves its own guard bytes out: a memset of none of them.
	local flags='-fsanitize=address,undefined -fno-sanitize-recover=all -O1 -fno-omit-frame-pointer -Wno-memset-transposed-args'

	step "building with the sanitizers, and running the shorter form of the tests"
	CUCKOO_TEST_QUICK=1 core_check sanitized CC=gcc EXTRA_CFLAGS="$flags"
}
