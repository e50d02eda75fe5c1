#!/usr/bin/env bash
#
# patterns.sh
#		Where does a filter before a join not pay?
#
# Joins that docs/tuning.md advises against, with and without a filter, on a
# throwaway server: keys of two columns, anti-joins, and joins in which every
# row matches.  Ratios above 1 say that the filter makes the query faster.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

SMALL=100000
BIG=2000000
ROUNDS=5
WORK_MEM=64MB

usage()
{
	cat <<TXT
Usage: bench/patterns.sh [--small N] [--big N] [--rounds N] [--work-mem SIZE]
       [--help]

Joins a table of 100,000 rows to one of 2 million.  Needs 500 MB of disk and
some five minutes.  With 64MB of work_mem the hash tables fit into memory, with
--work-mem 4MB they do not.  Measures only: the exit status is 0 unless a filter
changes a result.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--small) SMALL=$2; shift ;;
			--big) BIG=$2; shift ;;
			--rounds) ROUNDS=$2; shift ;;
			--work-mem) WORK_MEM=$2; shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

# One row in ten of "big" has a partner in "small", by id and by the pair (a, b),
# and every row of "all_match" has one.
fill()
{
	step "$(n "$SMALL") rows, and $(n "$BIG")"
	q -c "CREATE UNLOGGED TABLE small AS SELECT i::bigint AS id, i % 1000 AS a, i / 1000 AS b, 'row ' || i AS name
			FROM generate_series(1, $SMALL) i" \
		-c 'SELECT setseed(0.5)' \
		-c "CREATE UNLOGGED TABLE big AS SELECT i::bigint AS id, i % 1000 AS a, i / 1000 AS b, repeat('x', 20) AS remark
			FROM (SELECT 1 + floor(random() * $SMALL * 10)::int AS i FROM generate_series(1, $BIG)) r" \
		-c "CREATE UNLOGGED TABLE all_match AS SELECT 1 + floor(random() * $SMALL)::bigint AS id, repeat('x', 20) AS remark
			FROM generate_series(1, $BIG)" \
		-c 'VACUUM ANALYZE small, big, all_match' >/dev/null
}

# compare WHAT PLAIN FILTERED [SETTINGS]
compare()
{
	local round expected settings=${4:-}

	say "$1"
	for ((round = 1; round <= ROUNDS; round++)); do
		timed plain "$settings" "$2"
		expected=$RESULT
		timed filtered "$settings" "$3"
		[ "$expected" = "$RESULT" ] || die "the results differ"
	done
	ratio_of TIMES plain filtered "$1: without / with a filter" - '' s
	TIMES[plain]='' TIMES[filtered]=''
}

main()
{
	local pairs="SELECT count(*), max(name), max(remark) FROM small JOIN big USING (a, b)"
	local anti="SELECT count(*), max(remark) FROM big WHERE NOT EXISTS (SELECT FROM small WHERE small.id = big.id)"
	local all="SELECT count(*), max(name), max(remark) FROM small JOIN all_match USING (id)"
	local filter='(SELECT cf_agg(id) FROM small)'
	local how

	parse_arguments "$@"
	arm_cleanup
	cd /
	bench_start 'shared_buffers = 512MB' "work_mem = $WORK_MEM"
	fill
	# the server's own choice of plan, which may be to sort, and a hash join
	for how in 'any plan:' 'hash join:SET enable_mergejoin = off'; do
		compare "two columns, ${how%%:*}, ROW(a, b)" "$pairs" \
			"$pairs WHERE (SELECT cf_agg(ROW(a, b)) FROM small) @> ROW(big.a, big.b)" "${how#*:}"
		compare "two columns, ${how%%:*}, one bigint of both" "$pairs" \
			"$pairs WHERE (SELECT cf_agg(a::bigint << 32 | b) FROM small) @> (big.a::bigint << 32 | big.b)" "${how#*:}"
		compare "two columns, ${how%%:*}, cf_hash(a, cf_hash(b))" "$pairs" \
			"$pairs WHERE (SELECT cf_agg(cf_hash(a, cf_hash(b))) FROM small) @> cf_hash(big.a, cf_hash(big.b))" "${how#*:}"
	done
	compare 'anti-join' "$anti" \
		"WITH f AS (SELECT cf_agg(id) AS ids FROM small)
		SELECT count(*), max(remark) FROM (
			SELECT remark FROM big WHERE ((SELECT ids FROM f) @> id) IS NOT TRUE
			UNION ALL
			SELECT remark FROM big WHERE (SELECT ids FROM f) @> id
				AND NOT EXISTS (SELECT FROM small WHERE small.id = big.id)) b"
	compare 'every row matches' "$all" "$all WHERE $filter @> all_match.id"
	say ''
	circumstances "$(n "$SMALL") rows joined with $(n "$BIG"), $ROUNDS rounds, work_mem = $WORK_MEM"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
