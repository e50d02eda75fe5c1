# shellcheck shell=bash disable=SC2034
#
# bench.sh
#		What the benchmarks share: a server of their own, times, and rows of
#		one table.
#
# To be sourced by a script that has said "set -euo pipefail" and has REPO.
# Both sides of a ratio take turns, A B A B, each run in a session of its own.
# The ratio is that of the medians; its spread is that of the turns.

# shellcheck source=test/lib/common.sh
. "$REPO/test/lib/common.sh"
# shellcheck source=test/lib/packages.sh
. "$REPO/test/lib/packages.sh"
# shellcheck source=test/lib/server.sh
. "$REPO/test/lib/server.sh"

FAILED=0				# becomes 1 when a goal is missed
RESULTS=()				# rows of the table
declare -A TIMES PEAKS	# of a side: one value per turn, seconds and megabytes

# bench_prepare
#		Build the extension, and install it into a private copy of the server.
bench_prepare()
{
	local major

	find_major major
	need_server "$major" || die "the packages of PostgreSQL could not be installed"
	srv_copy "$major"
	srv_build || die "the extension does not build"
}

# find_hll
#		Have the extension hll to compare with, before bench_start: HLL=yes.
HLL=no
find_hll()
{
	local major

	find_major major
	if need_server "$major" && need_packages "postgresql-$major-hll"; then
		HLL=yes
	else
		skip "postgresql-$major-hll cannot be installed: no comparison with hll_add_agg"
	fi
}

# bench_start SETTING...
#		Start a server of our own with these lines in its configuration, and
#		the extension in its database "postgres".  Statements are run serially
#		and not compiled unless a setting says otherwise.
bench_start()
{
	bench_prepare
	srv_start || die "the server does not start"
	printf '%s\n' 'autovacuum = off' 'jit = off' 'max_parallel_workers_per_gather = 0' "$@" |
		srv_as tee -a data/postgresql.conf >/dev/null
	srv_as env PGHOST="$SRV_WORK/run" PGUSER=postgres \
		pg_ctl -s -w -D data -l data/log restart </dev/null >/dev/null 2>&1 ||
		die "the server does not start again"
	q -c 'CREATE EXTENSION cuckoo_filter'
	LOAD_AT_START=$(cut -d' ' -f1-3 /proc/loadavg)
}

# use_library FILE
#		Let new sessions load this library of the extension, or the one that was
#		built if FILE is empty.
use_library()
{
	local place

	place=$(srv_as pg_config --pkglibdir)
	place=$SRV_ROOT$place/cuckoo_filter.so
	[ -f "$place.built" ] || cp "$place" "$place.built"
	# sessions that have the one there go on with it
	cp "${1:-$place.built}" "$place.new"
	chmod 755 "$place.new"
	mv "$place.new" "$place"
}

# q ARG...
#		psql on the server: bare values.
q()
{
	srv_as psql -XqAt -v ON_ERROR_STOP=1 -h "$SRV_WORK/run" -U postgres "$@" </dev/null
}

# n NUMBER
#		A whole number with separators.
n()
{
	printf '%s' "$1" | sed -e ':a' -e 's/^\([0-9]\{1,\}\)\([0-9]\{3\}\)/\1,\2/' -e ta
}

# figure VALUE
#		For people: four digits, or all before the point, with separators.
figure()
{
	if awk -v v="$1" 'BEGIN { exit !(v >= 1000) }'; then
		n "$(awk -v v="$1" 'BEGIN { printf "%.0f", v }')"
	else
		awk -v v="$1" 'BEGIN { printf "%.4g", v }'
	fi
}

# median VALUE...
median()
{
	printf '%s\n' "$@" | sort -g | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

# spread VALUE...
#		The smallest and the largest.
spread()
{
	printf '%s\n' "$@" | sort -g | awk 'NR == 1 { low = $1 } END { print low " to " $1 }'
}

# seconds_in OUTPUT
#		The time that psql's \timing told, in seconds.
seconds_in()
{
	sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' <<<"$1" | awk 'END { printf "%.5f", $1 / 1000 }'
}

# timed SIDE SETTINGS QUERY [ARG...]
#		One run in a session of its own: adds seconds to TIMES[SIDE] and puts
#		what the query gave into RESULT.  ARGs are psql's.
timed()
{
	local side=$1 settings=$2 query=$3 out
	shift 3

	out=$(q "$@" ${settings:+-c "$settings"} -c '\timing on' -c "$query")
	TIMES[$side]+="$(seconds_in "$out") "
	RESULT=$(grep -v '^Time: ' <<<"$out" || true)
}

# Times that are too short for \timing: executions counted within the server.
create_timer()
{
	q -c "CREATE FUNCTION microseconds(query text, ntimes int) RETURNS float8 LANGUAGE plpgsql AS \$\$
DECLARE
	started timestamptz;
BEGIN
	EXECUTE query USING 0;		-- warm up
	started := clock_timestamp();
	FOR i IN 1..ntimes LOOP
		EXECUTE query USING i;
	END LOOP;
	RETURN extract(epoch FROM clock_timestamp() - started) * 1e6 / ntimes;
END \$\$"
}

# timed_within SIDE SETTINGS NTIMES NOPERATIONS QUERY
#		Adds microseconds per operation to TIMES[SIDE]: QUERY, which has its
#		number as $1, is executed NTIMES, each time with NOPERATIONS.
timed_within()
{
	local us

	us=$(q ${2:+-c "$2"} -c "SELECT microseconds(\$query\$$5\$query\$, $3)")
	TIMES[$1]+="$(awk -v us="$us" -v n="$4" 'BEGIN { printf "%.4f", us / n }') "
}

# median_of SIDE [ARRAY]
median_of()
{
	local -n side_values=${2:-TIMES}
	local a

	read -r -a a <<<"${side_values[$1]}"
	median "${a[@]}"
}

# result WHAT OPERATOR GOAL VALUE TEXT
#		A row of the table; OPERATOR is <=, >= or = on numbers, or - for no goal.
result()
{
	local verdict='' goal="$2 $3"

	if [ "$2" = - ]; then
		goal=-
	elif awk -v v="$4" -v g="$3" -v op="$2" 'BEGIN { exit !(op == "<=" ? v <= g : op == ">=" ? v >= g : v == g) }'; then
		verdict=yes
	else
		verdict='**no**'
		FAILED=1
	fi
	RESULTS+=("| $1 | $goal | $5 | $verdict |")
	step "$1: $5 (goal: $goal) $verdict"
}

# ratio_of ARRAY A B WHAT OPERATOR GOAL UNIT
#		Row of how many times as large A's values are as B's.
ratio_of()
{
	local -n values=$1
	local a b i ratio ratios=()

	read -r -a a <<<"${values[$2]}"
	read -r -a b <<<"${values[$3]}"
	for i in "${!a[@]}"; do
		ratios+=("$(awk -v a="${a[i]}" -v b="${b[i]}" 'BEGIN { printf "%.2f", a / (b > 0 ? b : 0.1) }')")
	done
	ratio=$(awk -v a="$(median "${a[@]}")" -v b="$(median "${b[@]}")" 'BEGIN { printf "%.3f", a / (b > 0 ? b : 0.1) }')
	result "$4" "$5" "$6" "$ratio" "$(figure "$ratio") ($(spread "${ratios[@]}")): $(figure "$(median "${a[@]}")") and $(figure "$(median "${b[@]}")") $7"
}

# value_of ARRAY SIDE WHAT OPERATOR GOAL UNIT
#		Row of the median of one side.
value_of()
{
	local -n values=$1
	local a

	read -r -a a <<<"${values[$2]}"
	result "$3" "$4" "$5" "$(median "${a[@]}")" "$(median "${a[@]}") ($(spread "${a[@]}")) $6"
}

# print_table
print_table()
{
	say "| What | Goal | Measured: median (least to most) | Reached |"
	say "|---|---|---|---|"
	printf '%s\n' "${RESULTS[@]}"
}

# circumstances WHAT...
#		One line of how this was measured.
circumstances()
{
	say "PostgreSQL $(srv_version), $(nproc) processors, $*; load averages $LOAD_AT_START at the start, $(cut -d' ' -f1-3 /proc/loadavg) at the end."
}
