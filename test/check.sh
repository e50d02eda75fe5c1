#!/usr/bin/env bash
#
# check.sh
#		Every test of the project, on a machine of which nothing is assumed but
#		Debian 12 or newer and root's rights (or sudo).
#
# Missing packages are installed.  The tests run in private copies of the
# sources and of the server, in temporary folders: nothing in the source tree
# or in an installed server is written to, a running server is left alone, and
# two runs at once do not meet.  The last line is "N passed, N failed".
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=test/lib/common.sh
. "$REPO/test/lib/common.sh"
# shellcheck source=test/lib/packages.sh
. "$REPO/test/lib/packages.sh"
# shellcheck source=test/lib/server.sh
. "$REPO/test/lib/server.sh"
# shellcheck source=test/lib/core.sh
. "$REPO/test/lib/core.sh"
# shellcheck source=test/lib/matrix.sh
. "$REPO/test/lib/matrix.sh"
# shellcheck source=test/lib/smith.sh
. "$REPO/test/lib/smith.sh"
# shellcheck source=test/lib/checkers.sh
. "$REPO/test/lib/checkers.sh"
# shellcheck source=test/lib/package.sh
. "$REPO/test/lib/package.sh"
# shellcheck source=test/lib/clients.sh
. "$REPO/test/lib/clients.sh"
# shellcheck source=test/lib/drivers.sh
. "$REPO/test/lib/drivers.sh"

usage()
{
	cat <<TXT
Usage: test/check.sh [--all] [--only SUITE[,SUITE...]] [--help]
       test/check.sh --fuzz[=SECONDS]
       test/check.sh --smith[=SECONDS]
       test/check.sh --stress[=SECONDS]
       test/check.sh --coverage

Builds the extension with warnings as errors and runs its tests in throwaway
servers.  Leaves nothing behind but installed packages.

  (no option)  rules of the sources and documents, versions; core unit tests
               (gcc, sanitizers, clang); then regression, isolation and TAP
               tests and the examples of the documents in one server, the
               clients by themselves and compared with that server, the
               programs of docs/drivers.md, and regression with the core's
               assertions on.  10 to 20 minutes on two cores that have nothing
               else to do, several times that beside other work
  --all        the same, and: the extension under the sanitizers, in a
               server with assertions, and under valgrind; every
               PostgreSQL from 15 that Debian has, with gcc and clang;
               pg_upgrade and dumps between them; the core big-endian; core and
               extension 32-bit; faults again and again; the largest filters;
               the archive and the Debian packages.  Takes hours.  Needs root,
               5 GB under the cache folder (\${XDG_CACHE_HOME:-/var/cache}) and
               the Debian mirror; for the largest filters 6 GB of memory and
               12 GB of disk
  --only LIST  only these suites: source core sanitize clang regress isolation
               module tap documentation clients drivers asserts and, with --all,
               asan cassert valgrind matrix upgrade endian bits32 faults limits
               package
  --fuzz=SECS  instead of all these, fuzz the input functions and the core
               with libFuzzer, in new ways each time; 600 seconds if not given
  --smith=SECS instead, let sqlsmith make up queries on tables with filters
  --stress=SECS  instead, let many write at once to tables that filters follow,
               and one write at random what is hard to follow
  --coverage   instead, the core's and the server's tests in builds that count,
               and what lines of the sources they reach

PG_MAJOR=N chooses the server of the plain tier, if it is installed or the
distribution has it.

Each suite names itself when it starts, and its time when it ends.  The last
line is "N passed, N failed".  The exit status is 0 only if nothing failed and
every suite ran at least one test.
TXT
}

ALL=no
ONLY=
FUZZ_SECONDS=
SMITH_SECONDS=
STRESS_SECONDS=
COVERAGE=no

# seconds_of --OPTION=NUMBER
seconds_of()
{
	[[ ${1#*=} =~ ^[1-9][0-9]*$ ]] || die "${1%%=*} needs a number of seconds"
	printf '%s' "${1#*=}"
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--all) ALL=yes ;;
			--only)
				(($# > 1)) || die "--only needs a list of suites"
				ONLY=$2
				shift
				;;
			--only=*) ONLY=${1#--only=} ;;
			--fuzz) FUZZ_SECONDS=600 ;;
			--fuzz=*) FUZZ_SECONDS=$(seconds_of "$1") ;;
			--smith) SMITH_SECONDS=600 ;;
			--smith=*) SMITH_SECONDS=$(seconds_of "$1") ;;
			--stress) STRESS_SECONDS=600 ;;
			--stress=*) STRESS_SECONDS=$(seconds_of "$1") ;;
			--coverage) COVERAGE=yes ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

# wanted SUITE
#		Is this suite to be run?
wanted()
{
	[ -z "$ONLY" ] || [[ ",$ONLY," == *",$1,"* ]]
}

# core_suites MAJOR
#		Core tests: no server.  That of the input functions needs its headers.
core_suites()
{
	local clang

	if wanted core; then
		suite "core, gcc" run_core gcc
	fi
	if wanted sanitize; then
		suite "core, gcc, address and undefined behaviour sanitizers" run_core_sanitized
		suite "input functions, the same sanitizers" run_input_sanitized "$1"
	fi
	if wanted clang; then
		find_clang clang
		if [ -n "$clang" ]; then
			suite "core, $clang" run_core "$clang"
		else
			skip "no clang here: the core was tested with gcc only"
		fi
	fi
}

# server_suites MAJOR
#		The suites that need a server, in one copy of the machine's own.
server_suites()
{
	local major=$1 title

	say ""
	srv_copy "$major"
	title="PostgreSQL $(srv_version)"
	say "$title, a private copy"
	if ! srv_build; then
		suite "$title, build" false
		return 0
	fi
	if wanted regress; then
		suite "$title, regression" run_regress
	fi
	if wanted isolation; then
		suite "$title, isolation" run_isolation
	fi
	if wanted module; then
		suite "$title, aggregates split over servers" run_module
	fi
	if wanted tap; then
		suite "$title, TAP" run_all_tap
	fi
	if wanted documentation; then
		suite "$title, documentation" run_documentation
	fi
	if wanted clients; then
		client_suites
	fi
	if wanted drivers; then
		suite "$title, programs of docs/drivers.md" run_drivers "${DRIVERS_PLAIN[@]}"
	fi
	drop_temp "$SRV_ROOT$SRV_WORK"
	if wanted regress; then
		inplace_suite "$1"
	fi
}

# inplace_suite MAJOR
#		How filters are changed in place by servers that ask for that, from 18 on:
#		tests in an older one do not get there.  Such a server is here if it is
#		installed, or if --all has kept one.
inplace_suite()
{
	local major chroot title

	(($1 < 18)) || return 0
	for chroot in '' "$CACHE"/servers-*; do
		[ -z "$chroot" ] || { [ -d "$chroot" ] && is_root; } || continue
		for major in 19 18; do
			has_server "$major" "$chroot" || continue
			srv_copy "$major" "$chroot"
			title="PostgreSQL $(srv_version), changing in place"
			SRV_MAKE=(with_llvm=no)
			suite "$title" run_inplace
			SRV_MAKE=()
			drop_temp "$SRV_ROOT$SRV_WORK"
			return 0
		done
	done
	skip "no PostgreSQL from 18 on is here: changing in place was not tested in one that asks for it"
}

# run_stress SECONDS
#		Writers, readers and rebuilds at once, for so long.
run_stress()
{
	local status=0

	TAP_ENV=(CUCKOO_TEST_UPKEEP_SECONDS="$1" CUCKOO_TEST_STATEMENTS=$((20 * $1)))
	run_tap test/t/008_upkeep_stress.pl test/t/015_upkeep_model.pl || status=$?
	TAP_ENV=()
	step "$(awk '/^# round [0-9]+: [0-9]+ transactions/ { n += $4 } END { print n + 0 }' \
		"$SRV_ROOT$SRV_WORK/tap.log") transactions"
	return "$status"
}

# stress_suite SECONDS MAJOR
stress_suite()
{
	local title TIME_LIMIT=$(($1 + 1800))

	srv_copy "$2"
	title="PostgreSQL $(srv_version)"
	if ! srv_build; then
		suite "$title, build" false
		return 0
	fi
	suite "$title, filters that follow tables, $1 s" run_stress "$1"
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# finish MAJOR
#		How to come to a server, and the sum of all as the last line.
finish()
{
	say_cluster "$1"
	report
}

main()
{
	local major

	parse_arguments "$@"
	if [ "$ALL" = yes ] && ! is_root; then
		say "The chroots of --all need root: starting again through sudo."
		exec sudo -- env ${XDG_CACHE_HOME:+XDG_CACHE_HOME="$XDG_CACHE_HOME"} \
			${PG_MAJOR:+PG_MAJOR="$PG_MAJOR"} bash "$REPO/test/check.sh" "$@"
	fi
	arm_cleanup
	cd /
	say "Packages"
	find_major major
	need_server "$major" || die "the packages could not be installed"
	if [ -n "$FUZZ_SECONDS" ]; then
		need_packages clang || die "clang could not be installed"
		suite "fuzzing, $FUZZ_SECONDS s" run_fuzz "$FUZZ_SECONDS" "$major"
		finish "$major"
		return
	fi
	if [ -n "$SMITH_SECONDS" ]; then
		need_packages sqlsmith || die "sqlsmith could not be installed"
		smith_suite "$SMITH_SECONDS" "$major"
		finish "$major"
		return
	fi
	if [ -n "$STRESS_SECONDS" ]; then
		stress_suite "$STRESS_SECONDS" "$major"
		finish "$major"
		return
	fi
	if [ "$COVERAGE" = yes ]; then
		coverage_suites "$major"
		finish "$major"
		return
	fi
	if wanted source; then
		suite "sources, documents, versions" run_source
	fi
	if wanted core || wanted sanitize || wanted clang; then
		core_suites "$major"
	fi
	if wanted regress || wanted isolation || wanted module || wanted tap ||
		wanted documentation || wanted clients || wanted drivers; then
		server_suites "$major"
	fi
	if wanted asserts; then
		suite "PostgreSQL $major, regression with the core's assertions" run_asserts "$major"
	fi
	if [ "$ALL" = yes ]; then
		if wanted drivers; then
			drivers_suite "$major" "${DRIVERS_LARGE[@]}"
		fi
		checker_suites "$major"
		all_suites
	fi
	finish "$major"
}

main "$@"
