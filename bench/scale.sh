#!/usr/bin/env bash
#
# scale.sh
#		What do sets cost that are spread over several filters?
#
# Measures:
#	- a set of very many values in shards: building it, per value, against one
#	  filter of ten million; its peak memory; one probe against one of a single
#	  filter of a shard's size; a projection onto it in the order of the shards
#	- WAL for one added value, in one filter and in shards
#	- a window of 30 days: one filter a day against one filter with removals
# On a throwaway server of its own.  Memory is the peak of the backend's
# resident set (VmHWM), shared buffers included, above that of an idle session.
# Prints one Markdown table.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

VALUES=200000000
SHARDS=64
ASKED=1000000000
DAY=100000				# values of a day of the window
ROUNDS=3
SINGLE=10000000			# values of the one filter to compare with
SORTED='SET enable_hashagg = off; SET max_parallel_workers_per_gather = 0'
MERGED='SET enable_hashjoin = off; SET enable_nestloop = off'

usage()
{
	cat <<TXT
Usage: bench/scale.sh [--values N] [--shards N] [--asked N] [--day N]
       [--rounds N] [--help]

  --values N  values of the set (default 200 million)
  --shards N  filters it is spread over (default 64)
  --asked N   values to project onto it (default a billion); 0 for none
  --day N     values of a day of the window (default 100000)
  --rounds N  runs of what is short (default 3)

The exit status is 0 if all goals are reached, which are meant for the
defaults.  Those need 20 GB of disk, 1 GB of memory and less than an hour.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--values) VALUES=$2; shift ;;
			--shards) SHARDS=$2; shift ;;
			--asked) ASKED=$2; shift ;;
			--day) DAY=$2; shift ;;
			--rounds) ROUNDS=$2; shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
	((VALUES >= 100000 && SHARDS >= 2 && DAY >= 1000)) || { usage >&2; exit 2; }
	((SINGLE <= VALUES)) || SINGLE=$VALUES
}

# run SIDE SETTINGS QUERY
#		One run in a session of its own: adds seconds to TIMES[SIDE], megabytes
#		above an idle session to PEAKS[SIDE].
run()
{
	local resident="SELECT 'kB ' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')"
	local out before after

	out=$(q ${2:+-c "$2"} -c "SELECT cf_count(cf_agg(i)) FROM generate_series(1, 10) i" \
		-c "$resident" -c '\timing on' -c "$3" -c '\timing off' -c "$resident")
	{ read -r before; read -r after; } < <(sed -n 's/^kB //p' <<<"$out")
	TIMES[$1]+="$(seconds_in "$out") "
	PEAKS[$1]+="$(awk -v a="$after" -v b="$before" 'BEGIN { printf "%.1f", (a - b) / 1024 }') "
	RESULT=$(grep -v '^Time: \|^kB ' <<<"$out" | tail -n 1)
}

# Values in no order, as a sequence of hashes.
values_of()
{
	printf 'SELECT hashint8extended(i, 0) AS v FROM generate_series(1::bigint, %s) i' "$1"
}

measure_shards()
{
	local capacity round seconds per_value single found

	say "A set in shards"
	capacity=$(((VALUES / SHARDS) * 105 / 100 + 100))
	step "a table of $(n "$VALUES") values"
	q -c "CREATE UNLOGGED TABLE item AS $(values_of "$VALUES")" -c 'VACUUM ANALYZE item' -c CHECKPOINT
	q -c "CREATE UNLOGGED TABLE part AS SELECT v FROM item LIMIT $SINGLE" -c 'VACUUM ANALYZE part' \
		-c 'CREATE UNLOGGED TABLE one_filter (f cuckoofilter)' \
		-c 'CREATE UNLOGGED TABLE shard_set (shard int PRIMARY KEY, f cuckoofilter NOT NULL)'
	for ((round = 1; round <= ROUNDS; round++)); do
		run single "$SORTED; TRUNCATE one_filter" "INSERT INTO one_filter SELECT cf_agg(v, $SINGLE) FROM part"
	done
	run shards "$SORTED" "INSERT INTO shard_set SELECT cf_shard(v, $SHARDS), cf_agg(v, $capacity) FROM item GROUP BY 1"
	single=$(median_of single | awk -v n="$SINGLE" '{ printf "%.1f", $1 / n * 1e9 }')
	seconds=$(median_of shards)
	per_value=$(awk -v s="$seconds" -v n="$VALUES" 'BEGIN { printf "%.1f", s / n * 1e9 }')
	result "building $SHARDS shards of $(n "$VALUES") values, time per value / one filter of $(n "$SINGLE")" '<=' 1.4 \
		"$(awk -v a="$per_value" -v b="$single" 'BEGIN { printf "%.2f", a / b }')" \
		"$(awk -v a="$per_value" -v b="$single" 'BEGIN { printf "%.2f", a / b }'): $per_value and $single ns; $seconds s in all"
	value_of PEAKS shards "the same: peak memory" '<=' 1024 MB
	result "the same: bytes of the set" - '' 0 "$(q -c "SELECT pg_size_pretty(sum((cf_info(f)).bytes)) FROM shard_set")"
	found=$(q -c "SELECT count(*) FROM (SELECT v FROM item LIMIT 100000) s JOIN shard_set ON shard = cf_shard(v, $SHARDS) WHERE NOT f @> v")
	result "the same: values lost of 100,000" = 0 "$found" "$found"
}

measure_probes()
{
	local round rows
	local probe="SELECT f @> \$1::bigint FROM shard_set WHERE shard = cf_shard(\$1::bigint, $SHARDS)"

	say "Probes"
	q -c "CREATE UNLOGGED TABLE one_shard AS SELECT 1 AS shard, cf_agg(v, $(((VALUES / SHARDS) * 105 / 100 + 100))) AS f FROM (SELECT v FROM item LIMIT $((VALUES / SHARDS))) s" \
		-c 'ALTER TABLE one_shard ADD PRIMARY KEY (shard)'
	for ((round = 1; round <= ROUNDS; round++)); do
		timed_within shard 'SET cuckoo_filter.cache_size = 0' 20000 1 "$probe"
		timed_within alone 'SET cuckoo_filter.cache_size = 0' 20000 1 'SELECT f @> $1::bigint FROM one_shard WHERE shard = 1'
	done
	ratio_of TIMES shard alone "one probe of a shard / of one filter of its size, read in slices" '<=' 1.1 us
	((ASKED > 0)) || return 0
	rows="SELECT i * 7919 AS v, cf_shard(i * 7919, $SHARDS) AS shard FROM generate_series(1::bigint, $ASKED) i"
	run asked "$SORTED; $MERGED" "SELECT count(*) FROM ($rows) s JOIN shard_set USING (shard) WHERE f @> v"
	result "$(n "$ASKED") values asked in the order of their shards, time per value" - '' 0 \
		"$(awk -v s="$(median_of asked)" -v n="$ASKED" 'BEGIN { printf "%.0f", s / n * 1e9 }') ns; $(median_of asked) s in all, $(n "$RESULT") found"
	value_of PEAKS asked "the same: peak memory" '<=' 1024 MB
}

# Bytes of WAL for one value more, in one filter and in one of 64 shards.  One
# execution goes before, so that whole pages after a checkpoint do not count.
measure_wal()
{
	local n size whole shard change='SET f = cf_add(f, (random() * 1e9)::int)'

	say "WAL"
	q -c "CREATE FUNCTION wal_of(statement text) RETURNS bigint LANGUAGE plpgsql AS \$\$
DECLARE
	started pg_lsn;
BEGIN
	EXECUTE statement;
	started := pg_current_wal_insert_lsn();
	FOR i IN 1..10 LOOP
		EXECUTE statement;
	END LOOP;
	RETURN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), started) / 10;
END \$\$"
	for n in 1000 10000 100000 1000000; do
		q -c 'DROP TABLE IF EXISTS logged' \
			-c 'CREATE TABLE logged (shard int PRIMARY KEY, f cuckoofilter NOT NULL)' \
			-c "INSERT INTO logged SELECT -1, cf_agg(i, $n) FROM generate_series(1, $n * 9 / 10) i" \
			-c "INSERT INTO logged SELECT cf_shard(i, 64), cf_agg(i, $n / 64 * 1.1 + 30) FROM generate_series(1, $n * 9 / 10) i GROUP BY 1"
		size=$(q -c "SELECT (cf_info(f)).bytes FROM logged WHERE shard = -1")
		whole=$(q -c "SELECT wal_of('UPDATE logged $change WHERE shard = -1')")
		shard=$(q -c "SELECT wal_of('UPDATE logged $change WHERE shard = 7')")
		result "WAL for one value more: one filter of $(n "$size") bytes, one of 64 shards" - '' 0 \
			"$(n "$whole") and $(n "$shard") bytes"
	done
}

# One day goes and one comes; the table of values is not part of the cost.
measure_window()
{
	local round

	say "A window of 30 days, $(n "$DAY") values a day"
	q -c 'CREATE UNLOGGED TABLE window_day (day int PRIMARY KEY, f cuckoofilter NOT NULL)' \
		-c 'CREATE UNLOGGED TABLE window_one (f cuckoofilter NOT NULL)' \
		-c "INSERT INTO window_day SELECT d, cf_agg(d * 10000000::bigint + i, $DAY, 0.01 / 30, 1) FROM generate_series(1, 30) d, generate_series(1, $DAY) i GROUP BY d" \
		-c "INSERT INTO window_one SELECT cf_bag_agg(d * 10000000::bigint + i, $DAY * 32, 0.01) FROM generate_series(1, 30) d, generate_series(1, $DAY) i" -c CHECKPOINT
	result "size of 30 filters at 1 % in all / of one" - '' 0 \
		"$(q -c "SELECT pg_size_pretty(sum((cf_info(f)).bytes)) FROM window_day") and $(q -c "SELECT pg_size_pretty((cf_info(f)).bytes) FROM window_one")"
	create_timer
	for ((round = 1; round <= ROUNDS; round++)); do
		timed retire_days '' "DELETE FROM window_day WHERE day = $round"
		timed retire_one '' "UPDATE window_one SET f = cf_remove_all(f, ARRAY(SELECT $round * 10000000::bigint + i FROM generate_series(1, $DAY) i))"
		timed_within ask_days '' 2000 1 "SELECT bool_or(f @> \$1::bigint) FROM window_day"
		timed_within ask_one '' 2000 1 "SELECT f @> \$1::bigint FROM window_one"
	done
	ratio_of TIMES retire_days retire_one "forgetting a day: one filter a day / one filter with removals" - '' s
	ratio_of TIMES ask_days ask_one "one question to all: one filter a day / one filter with removals" - '' us
	q -c "CREATE UNLOGGED TABLE window_union AS SELECT cf_union_agg(f) AS f FROM (SELECT cf_agg(d * 10000000::bigint + i, $DAY * 30, 0.01, 1) AS f FROM generate_series(4, 30) d, generate_series(1, $DAY) i GROUP BY d) s"
	for ((round = 1; round <= ROUNDS; round++)); do
		timed_within ask_union '' 2000 1 "SELECT f @> \$1::bigint FROM window_union"
	done
	value_of TIMES ask_union "the same: a union kept for reads" - '' us
}

main()
{
	parse_arguments "$@"
	arm_cleanup
	cd /
	say "Server"
	bench_start "shared_buffers = '128MB'" "work_mem = '64MB'" 'max_wal_size = 8GB'
	measure_wal
	measure_window
	measure_shards
	measure_probes
	say ''
	circumstances "work_mem = 64MB, shared_buffers = 128MB"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
