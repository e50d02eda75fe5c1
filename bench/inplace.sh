#!/usr/bin/env bash
#
# inplace.sh
#		What does it cost to fill a filter in a variable of PL/pgSQL?
#
# For each server, a loop of adds, and the way with an array, against a loop
# that assigns the elements of an int8 array, which is changed in place; and
# adds to a large filter against adds to a small one.  Before version 18 each
# add makes a new version of the filter, which shares its image.  Builds the extension, installs it into private copies
# of the servers, and starts throwaway servers there that listen on a socket
# only.  A server that this machine does not have comes from the chroot that
# test/check.sh --all uses.
#
# Both sides of a ratio take turns; times are those that the backend was on a
# processor, so that others on the machine matter less.  The ratio is that of
# the medians, its spread that of the turns.  Prints one Markdown table.
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

ADDS=1000000
ROUNDS=7
MAJORS=(15 18)
IN_PLACE_SINCE=18
FAILED=0
RESULTS=()				# lines of the table

usage()
{
	cat <<TXT
Usage: bench/inplace.sh [--adds N] [--rounds N] [--major N]... [--help]

  --adds N    values to add, at least 100000 (default 1 million)
  --rounds N  runs of each side (default 7)
  --major N   a server to measure (default 15 and 18)

The exit status is 0 if all goals are reached.  Takes some two minutes once the
servers are there.
TXT
}

parse_arguments()
{
	local majors=()

	while (($#)); do
		case $1 in
			--adds) ADDS=$2; shift ;;
			--rounds) ROUNDS=$2; shift ;;
			--major) majors+=("$2"); shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
	((ADDS >= 100000 && ROUNDS >= 1)) || { usage >&2; exit 2; }
	((${#majors[@]} == 0)) || MAJORS=("${majors[@]}")
}

# q ARG...
#		psql on the server: bare values, statistics of statements mixed in.
q()
{
	srv_as psql -XqAt -v ON_ERROR_STOP=1 -h "$SRV_WORK/run" -U postgres "$@" </dev/null 2>&1
}

# start_server MAJOR
start_server()
{
	local chroot=''

	if ! has_server "$1"; then
		[ -n "${CHROOT:-}" ] || matrix_chroot CHROOT || die "no chroot with other servers"
		chroot=$CHROOT
		has_server "$1" "$chroot" || die "PostgreSQL $1 is not to be had"
	fi
	srv_copy "$1" "$chroot"
	SRV_MAKE=(with_llvm=no)
	srv_build || die "the extension does not build"
	srv_start || die "the server does not start"
	q -c "CREATE EXTENSION cuckoo_filter" -c "
		CREATE FUNCTION assign_elements(n int, rounds int) RETURNS void LANGUAGE plpgsql AS \$\$
		DECLARE
			a int8[];
		BEGIN
			FOR r IN 1..rounds LOOP
				a := array_fill(0::int8, ARRAY[n]);
				FOR i IN 1..n LOOP
					a[i] := i;
				END LOOP;
			END LOOP;
		END \$\$;
		CREATE FUNCTION add(n int, rounds int) RETURNS void LANGUAGE plpgsql AS \$\$
		DECLARE
			f cuckoofilter;
		BEGIN
			FOR r IN 1..rounds LOOP
				f := cf_new(n);
				FOR i IN 1..n LOOP
					f := cf_add(f, i);
				END LOOP;
			END LOOP;
		END \$\$;
		CREATE FUNCTION collect(n int, rounds int) RETURNS void LANGUAGE plpgsql AS \$\$
		DECLARE
			f cuckoofilter;
			a int8[];
		BEGIN
			FOR r IN 1..rounds LOOP
				f := cf_new(n);
				a := NULL;
				FOR i IN 1..n LOOP
					a := a || i::int8;
				END LOOP;
				f := cf_add_all(f, a);
			END LOOP;
		END \$\$;" || die "the functions cannot be created"
}

# seconds CALL
#		Processor time of a call, in a session that has made a short one before.
seconds()
{
	q -c "SELECT ${1%%(*}(100, 1)" -c "SET log_statement_stats = on" -c "SET client_min_messages = log" -c "SELECT $1" |
		awk '/s user,.*elapsed/ { time = $2 + $5 } END { print time }'
}

# compare WHAT GOAL CALL SCALE CALL SCALE
#		Add a line to the table: both calls in turns, times over their scales.
compare()
{
	local what=$1 goal=$2 turn lines='' line

	for ((turn = 0; turn < ROUNDS; turn++)); do
		lines+="$(seconds "$3") $(seconds "$5")"$'\n'
	done
	line=$(awk -v first="$4" -v second="$6" -v goal="$goal" '
		function median(values, n,    i, j, swap)
		{
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && values[j - 1] > values[j]; j--)
				{
					swap = values[j]; values[j] = values[j - 1]; values[j - 1] = swap
				}
			return values[int((n + 1) / 2)]
		}
		NF == 2 { n++; a[n] = $1 / first; b[n] = $2 / second; ratio[n] = a[n] / b[n] }
		END {
			median(ratio, n)
			m = median(a, n) / median(b, n)
			printf "<= %s | %.2f (%.2f to %.2f): %.0f and %.0f ns | %s", goal, m, ratio[1], ratio[n], median(a, n) * 1e9, median(b, n) * 1e9, m <= goal ? "yes" : "**no**"
		}' <<<"$lines")
	[[ $line != *'**no**' ]] || FAILED=1
	RESULTS+=("| PostgreSQL $SRV_MAJOR: $what | $line |")
	step "$what: $line"
}

measure()
{
	local small=$((ADDS / 100)) goal=2.0

	(($1 >= IN_PLACE_SINCE)) || goal=5.0
	compare "add in a loop / assign array elements" "$goal" "add($ADDS, 1)" "$ADDS" "assign_elements($ADDS, 1)" "$ADDS"
	compare "add to $ADDS / add to $small" 1.5 "add($ADDS, 1)" "$ADDS" "add($small, 100)" "$ADDS"
	compare "collect and add all / assign array elements" 3.0 "collect($ADDS, 1)" "$ADDS" "assign_elements($ADDS, 1)" "$ADDS"
}

main()
{
	local major line

	parse_arguments "$@"
	arm_cleanup
	cd /
	for major in "${MAJORS[@]}"; do
		start_server "$major"
		measure "$major"
		srv_stop
		drop_temp "$SRV_ROOT$SRV_WORK"
	done
	say ""
	say "$ADDS values, $ROUNDS rounds; nanoseconds of processor time for each value."
	say ""
	say "| What | Goal | Measured: median (least to most) | Reached |"
	say "|---|---|---|---|"
	for line in "${RESULTS[@]}"; do
		say "$line"
	done
	return "$FAILED"
}

main "$@"
