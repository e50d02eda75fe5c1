#!/usr/bin/env bash
#
# join.sh
#		What a filter saves a hash join, and a join with a foreign table.
#
# On a throwaway server of its own.  A small table is joined to a large one, of
# whose rows few match: as it is, and with the filter of the small one, which is
# built within the query that is timed.  Both must give the same result.  Prints
# one Markdown table.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

SMALL=1000000			# rows of the build side
BIG=20000000			# rows of the probe side
MATCH=1					# per cent of these that match
ROUNDS=3
WORK_MEM=4MB

PLAIN="SELECT count(*), sum(amount), max(name), max(remark) FROM small JOIN big USING (id)"
FILTERED="$PLAIN WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)"

usage()
{
	cat <<TXT
Usage: bench/join.sh [--small N] [--big N] [--match PERCENT] [--rounds N]
       [--work-mem SIZE] [--help]

Joins a table of 1 million rows to one of 20 million of which 1 % match, with
and without a filter, on one server and through postgres_fdw.  Needs 3 GB of
disk and some ten minutes; --big 2000000 takes a tenth of both.  The exit
status is 0 if the filter makes the hash join and the foreign join at least 2
times faster and fetches at least 5 times fewer rows.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--small) SMALL=$2; shift ;;
			--big) BIG=$2; shift ;;
			--match) MATCH=$2; shift ;;
			--rounds) ROUNDS=$2; shift ;;
			--work-mem) WORK_MEM=$2; shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

# The large table is in one database; the small one in both.
fill()
{
	local database

	step "$(n "$SMALL") rows, and $(n "$BIG") of which $MATCH % match"
	q -c 'CREATE DATABASE far TEMPLATE postgres' -c 'CREATE DATABASE near TEMPLATE postgres'
	for database in far near; do
		q -d $database -c "CREATE UNLOGGED TABLE small AS SELECT i::bigint AS id, 'row ' || i AS name FROM generate_series(1, $SMALL) i" \
			-c 'VACUUM ANALYZE small'
	done
	q -d far -c 'SELECT setseed(0.5)' \
		-c "CREATE UNLOGGED TABLE big AS SELECT 1 + floor(random() * $SMALL * (100 / $MATCH::float8))::bigint AS id, i AS amount, repeat('x', 20) AS remark FROM generate_series(1, $BIG) i" \
		-c 'VACUUM ANALYZE big'
	q -d near -c 'CREATE EXTENSION postgres_fdw' \
		-c "CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$SRV_WORK/run', dbname 'far', extensions 'cuckoo_filter', fetch_size '10000')" \
		-c "CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres')" \
		-c 'CREATE FOREIGN TABLE big (id bigint, amount bigint, remark text) SERVER far' \
		-c 'ANALYZE big'
}

# compare DATABASE TITLE
compare()
{
	local round expected

	say "$2"
	q -d "$1" -c "EXPLAIN (COSTS OFF) $FILTERED" | sed 's/^/    | /'
	for ((round = 1; round <= ROUNDS; round++)); do
		timed "plain_$1" '' "$PLAIN" -d "$1"
		expected=$RESULT
		timed "filtered_$1" '' "$FILTERED" -d "$1"
		[ "$expected" = "$RESULT" ] || die "the results differ"
	done
	ratio_of TIMES "plain_$1" "filtered_$1" "$2: without / with the filter" '>=' 2 s
}

# fetched QUERY
#		Rows that come from the other database.
fetched()
{
	q -d near -c "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) $1" |
		awk '/"Node Type": "Foreign Scan"/ { foreign = 1 }
			foreign && /"Actual Rows"/ { gsub(/[^0-9.]/, ""); printf "%d", $0; exit }'
}

main()
{
	local without with ratio

	parse_arguments "$@"
	arm_cleanup
	cd /
	bench_start 'shared_buffers = 256MB' "work_mem = $WORK_MEM"
	fill
	compare far "hash join"
	compare near "join through postgres_fdw"
	without=$(fetched "$PLAIN")
	with=$(fetched "$FILTERED")
	ratio=$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%.1f", a / b }')
	result "rows fetched by postgres_fdw: without / with" '>=' 5 "$ratio" "$ratio: $(n "$without") and $(n "$with")"
	say ''
	circumstances "$(n "$SMALL") rows joined with $(n "$BIG") of which $MATCH % match, $ROUNDS rounds, work_mem = $WORK_MEM"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
