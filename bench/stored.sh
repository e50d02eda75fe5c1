#!/usr/bin/env bash
#
# stored.sh
#		What does a probe of a filter in a table cost?
#
# Measures, each against what it is to be better than:
#	- one probe of a filter of a million and of one of a hundred million values,
#	  at 1 %: buffers, time of one to the other and to a probe of all of it
#	- WHERE cf_contains(filter, $1) over 10,000 filters of 10,000 values
#	- a nested loop of a million probes into one filter of 10 MB, against the
#	  same probes of a constant
#	- a scan with a constant filter against one that only hashes the column
#	- the rows that the planner expects against those that there are
# On a throwaway server of its own.  Prints one Markdown table.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

SCALE=1
ROUNDS=5
OLD=
IN_SLICES='SET cuckoo_filter.cache_size = 0'
WHOLE="$IN_SLICES; SET cuckoo_filter.enable_slices = off"

usage()
{
	cat <<TXT
Usage: bench/stored.sh [--scale N] [--rounds N] [--old FILE] [--quick] [--help]

  --scale N   divide all sizes by N (default 1; 20 takes about a minute)
  --rounds N  runs of each side (default 5)
  --old FILE  cuckoo_filter.so of an earlier state, for the same server, with
              which probes are compared
  --quick     scale 20, one run of each side: to see that it runs

The exit status is 0 if all goals are reached, which are meant for scale 1.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--scale) SCALE=$2; shift ;;
			--rounds) ROUNDS=$2; shift ;;
			--old) OLD=$(realpath -e "$2"); shift ;;
			--quick) SCALE=20 ROUNDS=1 ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

fill()
{
	step "filters of 1, 8.7 and 100 million values, 10,000 filters of 10,000, tables of 1 and 10 million rows, all divided by $SCALE"
	q -c 'CREATE TABLE large (name text PRIMARY KEY, f cuckoofilter)' \
		-c "INSERT INTO large SELECT 'million', cf_agg(i) FROM generate_series(1, 1000000 / $SCALE) i" \
		-c "INSERT INTO large SELECT 'hundred', cf_agg(i) FROM generate_series(1, 100000000 / $SCALE) i" \
		-c "INSERT INTO large SELECT 'ten MB', cf_agg(i) FROM generate_series(1, 8700000 / $SCALE) i" \
		-c "CREATE TABLE tenants AS SELECT t AS tenant, (SELECT cf_agg(t * 20000 + i) FROM generate_series(1, 10000) i) AS f FROM generate_series(1, 10000 / $SCALE) t" \
		-c "CREATE TABLE vals AS SELECT i::bigint AS v, substr(md5(i::text), 1, 16) AS x FROM generate_series(1, 1000000 / $SCALE) i" \
		-c "CREATE TABLE ids AS SELECT i::bigint AS id, substr(md5(i::text), 1, 16) AS x FROM generate_series(1, 10000000 / $SCALE) i" \
		-c 'VACUUM ANALYZE large, tenants, vals, ids' -c CHECKPOINT
}

# buffers NAME
#		Buffers of one probe of a filter, the row included.
buffers()
{
	local explain="EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT cf_contains(f, -7) FROM large WHERE name = '$1'"

	q -c "$explain" -c "$explain" |
		awk -F'[:,]' '/"Planning"/ { inside = 0 } /"Plan":/ { inside = 1; sum = 0 } inside && /"Shared (Hit|Read) Blocks"/ { sum += $2; if (/Read/) inside = 0 } END { print sum }'
}

# probes NAME NUMBER
#		A query of probes, each as the first of its query would be if nothing
#		is kept.
probes()
{
	printf "SELECT count(*) FROM large, generate_series(1, %s) v WHERE name = '%s' AND cf_contains(f, v * 7 + \$1)" "$2" "$1"
}

# compare SIDE SETTINGS NTIMES NOPERATIONS QUERY  SIDE SETTINGS ...
#		Two sides take turns.
compare()
{
	local round

	for ((round = 1; round <= ROUNDS; round++)); do
		timed_within "${@:1:5}"
		timed_within "${@:6:5}"
	done
}

measure_probes()
{
	local name count

	for name in million hundred; do
		count=$(buffers $name)
		result "buffers of one probe, filter of a $name$([ $name = million ] || printf ' million')" '<=' 6 "$count" "$count"
	done
	compare hundred "$IN_SLICES" 1 20000 "$(probes hundred 20000)" \
		million "$IN_SLICES" 1 20000 "$(probes million 20000)"
	ratio_of TIMES hundred million "time of a probe, hundred million / million" '<=' 3 us
	compare million_whole "$WHOLE" 1 200 "$(probes million 200)" \
		million_slices "$IN_SLICES" 1 20000 "$(probes million 20000)"
	ratio_of TIMES million_whole million_slices "probe of a million, read whole / in slices" - '' us
	compare hundred_whole "$WHOLE" 1 2 "$(probes hundred 2)" \
		hundred_slices "$IN_SLICES" 1 20000 "$(probes hundred 20000)"
	ratio_of TIMES hundred_whole hundred_slices "probe of a hundred million, read whole / in slices" '>=' 100 us
}

# A probe as the first of its query, with nothing kept, and one of many, with
# memory for the header but not for the filter; each by both libraries.
measure_older()
{
	local round name query
	local -A settings=([first]=$IN_SLICES [further]="SET cuckoo_filter.cache_size = '1MB'")
	local -A goals=([first]=0.6 [further]=0.35)

	[ -n "$OLD" ] || return 0
	query=$(probes million 20000)
	for name in first further; do
		for ((round = 1; round <= ROUNDS; round++)); do
			use_library ''
			timed_within "new_$name" "${settings[$name]}" 1 20000 "$query"
			use_library "$OLD"
			timed_within "old_$name" "${settings[$name]}" 1 20000 "$query"
		done
		use_library ''
		ratio_of TIMES "new_$name" "old_$name" "probe of a million, $name of a query / by the older library" '<=' "${goals[$name]}" us
	done
}

measure_tenants()
{
	# shellcheck disable=SC2016
	local scan='SELECT count(*) FROM tenants WHERE cf_contains(f, $1)'

	compare tenants_whole "$WHOLE" 3 1000 "$scan" tenants_slices '' 3 1000 "$scan"
	ratio_of TIMES tenants_whole tenants_slices "scan of tenants, read whole / in slices" - '' ms
	# each filter once
	compare tenants_cached '' 3 1000 "$scan" tenants_uncached "$IN_SLICES" 3 1000 "$scan"
	ratio_of TIMES tenants_cached tenants_uncached "scan of tenants, with the default cache / without" '<=' 1.03 ms
}

# The constant is in the same nested loop: an InitPlan that copies the filter.
# shellcheck disable=SC2016
measure_nested_loop()
{
	local nested='SELECT count(*) FROM large l, vals WHERE name = '"'ten MB'"' AND cf_contains(l.f, v + $1 - $1)'
	local constant='SELECT count(*) FROM large l, vals WHERE name = '"'ten MB'"' AND cf_contains((SELECT cf_add(f, -1) FROM large WHERE name = '"'ten MB'"'), v + $1 - $1)'

	compare nested '' 1 1000 "$nested" constant '' 1 1000 "$constant"
	ratio_of TIMES nested constant "nested loop, stored filter / constant" '<=' 1.3 ms
}

measure_constant()
{
	local filter column hash

	for column in id x; do
		filter=$(q -c "SELECT cf_agg($([ $column = id ] && printf v || printf x)) FROM vals WHERE v <= 1000")
		hash=$([ $column = id ] && printf hashint8 || printf hashtext)
		compare "constant_$column" '' 1 1000 "SELECT count(*) FROM ids WHERE cf_contains('$filter'::cuckoofilter, $column)" \
			"hash_$column" '' 1 1000 "SELECT count(*) FROM ids WHERE $hash($column) IS NOT NULL"
		ratio_of TIMES "constant_$column" "hash_$column" "scan with a constant filter / with $hash" '<=' 1.5 ms
	done
}

# What the planner expects of a filter of a part of a column's values.
measure_estimates()
{
	local percent ratio expected found

	q -c 'CREATE FUNCTION expected_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE '"'EXPLAIN (FORMAT JSON) '"' || query INTO plan;
	RETURN plan->0->'"'Plan'->>'Plan Rows'"';
END $$'
	for percent in 0.1 1 10 100; do
		IFS='|' read -r expected found < <(q -c "SELECT expected_rows(format('SELECT FROM vals WHERE cf_contains(%L::cuckoofilter, v)', f)), (SELECT count(*) FROM vals WHERE cf_contains(f, v))
			FROM (SELECT cf_agg(v) AS f FROM vals WHERE (v * 7919) % 1000 < $percent * 10) x")
		# by how much it is wrong, whichever way
		ratio=$(awk -v a="$expected" -v b="$found" 'BEGIN { printf "%.3f", (a > b ? a / b : b / a) }')
		result "rows expected against found, filter of $percent % of the column" '<=' 2 "$ratio" "$ratio: $(n "$expected") and $(n "$found")"
	done
}

main()
{
	parse_arguments "$@"
	arm_cleanup
	cd /
	bench_start 'shared_buffers = 2GB' 'work_mem = 1GB'
	create_timer
	fill
	measure_probes
	measure_older
	measure_tenants
	measure_nested_loop
	measure_constant
	measure_estimates
	say ''
	circumstances "sizes divided by $SCALE, $ROUNDS rounds"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
