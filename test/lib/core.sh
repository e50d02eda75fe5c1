# shellcheck shell=bash disable=SC2154
#
# core.sh
#		What needs no server: rules of the sources, the unit tests of src/core.
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

# run_source
#		The rules of the sources, the documents and the golden files; versions;
#		what make says where the headers of a server are missing.
run_source()
{
	local check log status=0

	core_copy
	for check in "source/check_source src" "source/check_documents ." "source/check_sealed test/golden" \
		"source/check_versions ." "package/check_meta ." "source/check_make ."; do
		step "test/${check%% *}.pl"
		log=${check%% *}
		log=$CORE_WORK/${log##*/}.log
		logged "$log" perl "$CORE_WORK/test/${check%% *}.pl" "$CORE_WORK/${check#* }" || status=$?
		name_failed "$log"
		if ! add_counts "$log" || ((status != 0)); then
			show "$log"
			return 1
		fi
	done
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
	name_failed "$log"
	if ! add_counts "$log"; then
		step "no count at the end of the core tests ($label)"
		status=1
	fi
	if ((status != 0 || nfailed > 0)); then
		show "$log"
		return 1
	fi
	[ -n "${KEEP_BUILD:-}" ] || rm -rf "$CORE_WORK/build-$label"
}

# run_core COMPILER
run_core()
{
	step "building with $1, warnings are errors, and running"
	core_check "$1" CC="$1"
}

run_core_sanitized()
{
	local flags='-fsanitize=address,undefined -fno-sanitize-recover=all -O1 -fno-omit-frame-pointer'

	step "building with the sanitizers, and running the shorter form of the tests"
	CUCKOO_TEST_QUICK=1 core_check sanitized CC=gcc EXTRA_CFLAGS="$flags"
}

# run_input_sanitized MAJOR
#		The input functions with what stands in for a server, on the inputs that
#		the fuzzer has found.
run_input_sanitized()
{
	local log status=0

	core_copy
	log=$CORE_WORK/input.log
	step "building with the sanitizers, and running test/fuzz/corpus"
	logged "$log" make -s --no-print-directory -C "$CORE_WORK/test/fuzz" \
		BUILD="$CORE_WORK/build-input" CC=gcc PG_CONFIG="/usr/lib/postgresql/$1/bin/pg_config" \
		check-input || status=$?
	if ! add_counts "$log" || ((status != 0)); then
		show "$log"
		return 1
	fi
}

# run_fuzz SECONDS MAJOR
#		All fuzzers, one after the other.  What they find is kept.
run_fuzz()
{
	local log kept status=0 limit=$TIME_LIMIT target inputs

	core_copy
	log=$CORE_WORK/fuzz.log
	TIME_LIMIT=$(($1 + 1200))
	logged "$log" make -s --no-print-directory -C "$CORE_WORK/test/fuzz" \
		BUILD="$CORE_WORK/fuzz" FUZZ_SECONDS="$1" PG_CONFIG="/usr/lib/postgresql/$2/bin/pg_config" \
		fuzz || status=$?
	TIME_LIMIT=$limit
	while read -r target inputs; do
		step "$target: $inputs inputs, nothing found"
		npassed=$((npassed + 1))
	done < <(sed -n 's/^\(fuzz_[a-z]*\): done, \([0-9]*\)$/\1 \2/p' "$log")
	if ((status != 0)); then
		show "$log"
		kept=$(mktemp -d "${TMPDIR:-/tmp}/cuckoo-fuzz.XXXXXX")
		find "$CORE_WORK/fuzz" -maxdepth 1 -type f -name '*-*[0-9a-f]' \
			! -name '*.o' -exec cp {} "$kept" \;
		step "the inputs that fail are in $kept"
		return 1
	fi
}
