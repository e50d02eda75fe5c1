# shellcheck shell=bash disable=SC2154
#
# checkers.sh
#		The tests once more with somebody looking on: what lines of the sources
#		they reach.
#
# Needs common.sh (and its counters), server.sh and core.sh.

# srv_build_as FLAGS
#		Build and install with these flags of the compiler.
srv_build_as()
{
	local log=$SRV_ROOT$SRV_WORK/build.log

	step "building with $1"
	SRV_MAKE=(with_llvm=no)
	if ! { srv_make "$log" clean && srv_make "$log" all COPT="$1" &&
		srv_make "$log" install COPT="$1"; }; then
		show "$log"
		SRV_MAKE=()
		return 1
	fi
	SRV_MAKE=()
}

# Everything that is run in one server, in a build that is slower than others.
run_server_tests()
{
	run_regress && run_isolation && run_all_tap
}

# Percentage of the lines that the tests have to reach.
COVERAGE_CORE=95
COVERAGE_GLUE=90

# coverage_table OBJECTS SOURCES LEAST
coverage_table()
{
	local log=$1/coverage status=0

	perl "$REPO/test/lib/coverage.pl" "$@" >"$log" || status=$?
	sed '$d; s/^/    /' "$log"
	add_counts "$log" && ((status == 0))
}

# The core's lines that its own tests reach.
run_core_coverage()
{
	step "building for gcov, and running the shorter form of the core's tests"
	core_copy
	TIME_LIMIT=7200 CUCKOO_TEST_QUICK=1 KEEP_BUILD=yes core_check coverage CC=gcc CFLAGS='-O0 -g' \
		EXTRA_CFLAGS=--coverage LDFLAGS=--coverage || return 1
	coverage_table "$CORE_WORK/build-coverage" "$CORE_WORK/src/core" "$COVERAGE_CORE"
}

# The glue's lines that the server's tests reach.  A process writes its counts
# when it ends by itself.
run_glue_coverage()
{
	srv_copy "$1"
	srv_build_as '-O0 --coverage' || return 1
	TIME_LIMIT=7200 run_server_tests || return 1
	coverage_table "$SRV_WORK/src/src/pg" "$SRV_WORK/src/src/pg" "$COVERAGE_GLUE" || return 1
	drop_temp "$SRV_WORK"
}

coverage_suites()
{
	suite "coverage of src/core by test/core" run_core_coverage
	suite "coverage of src/pg by regression, isolation and TAP" run_glue_coverage "$1"
}
