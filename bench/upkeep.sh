#!/usr/bin/env bash
#
# upkeep.sh
#		What does it cost to keep filters in step with a table?
#
# Builds the extension, installs it into a private copy of the server, and
# starts a throwaway server there that listens on a socket only.
#	- batches of 1,000 rows into a table of 1,000 tenants, whose filters follow
#	  it, against the same table with an extra btree index on (tenant, value):
#	  rows of all tenants mixed, and batches of one tenant each; filters as
#	  large as fit into a page are kept in their rows (toast_tuple_target)
#	- the same with each tenant in 16 shards
#	- single rows into one set of a million values: one filter, 64 to 1,024
#	  shards, an index instead; WAL for each row, and the size afterwards
#	- single rows into 1,000 small filters
#	- UPDATE of other columns, with and without triggers
#	- cf_attach of 100,000 keys before and after ANALYZE
# Prints one Markdown table.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

ROUNDS=5
BATCHES=100
SECONDS_EACH=15
CLIENTS=8
TENANTS=1000
HOT=1000000				# values of the hot set
KEYS=100000				# of cf_attach
SHARDS="1 64 256 1024"

usage()
{
	cat <<TXT
Usage: bench/upkeep.sh [--quick] [--rounds N] [--batches N] [--seconds N] [--clients N] [--help]

  --quick      small sizes, some two minutes; to see that all works
  --rounds N   turns of each side (default $ROUNDS)
  --batches N  batches of 1,000 rows in a turn (default $BATCHES)
  --seconds N  length of each run of pgbench (default $SECONDS_EACH)
  --clients N  sessions of pgbench (default $CLIENTS)

Takes some twenty-five minutes, and 2 GB of disk.  The exit status is 0 if all goals are reached;
--quick is too small for most of them.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
			--quick) ROUNDS=1 BATCHES=5 SECONDS_EACH=1 TENANTS=50 HOT=20000 KEYS=5000 ;;
			--rounds) ROUNDS=$2; shift ;;
			--batches) BATCHES=$2; shift ;;
			--seconds) SECONDS_EACH=$2; shift ;;
			--clients) CLIENTS=$2; shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
	((ROUNDS >= 1 && BATCHES >= 1 && SECONDS_EACH >= 1 && CLIENTS >= 1)) || { usage >&2; exit 2; }
}

# make_tables PER_TENANT [SHARDS]
#		A table with an index more, and one with filters; both with so many
#		values of each tenant already, and filters with room for more.
make_tables()
{
	local shards=${2:-1}

	q -c "SET client_min_messages = warning" \
		-c "DROP TABLE IF EXISTS indexed, followed, filters CASCADE" \
		-c "CREATE TABLE indexed (id bigserial PRIMARY KEY, tenant int NOT NULL, value bigint NOT NULL)" \
		-c "CREATE TABLE followed (id bigserial PRIMARY KEY, tenant int NOT NULL, value bigint NOT NULL)" \
		-c "INSERT INTO indexed (tenant, value) SELECT i % $TENANTS, hashint8extended(i, 0) FROM generate_series(1::bigint, $1::bigint * $TENANTS) i" \
		-c "INSERT INTO followed (tenant, value) SELECT tenant, value FROM indexed" \
		-c "CREATE INDEX ON indexed (tenant, value)" \
		-c "CREATE TABLE filters (tenant int, shard int, f cuckoofilter NOT NULL, PRIMARY KEY (tenant, shard)) WITH (fillfactor = 50, toast_tuple_target = 8160)" \
		-c "SELECT cf_attach('followed', '{value}', 'filters', 'f', '{tenant}', $((5 * $1 + 5000)), shards => $shards)" \
		-c "VACUUM ANALYZE indexed, followed, filters" -c CHECKPOINT >/dev/null
}

# batches TABLE KIND
#		SQL that inserts $BATCHES batches, committing each.
batches()
{
	local tenant="hashint8(i) & 1048575"

	if [ "$2" = grouped ]; then
		tenant="this"
	fi
	printf 'DO $$ DECLARE this int; BEGIN FOR batch IN 1..%s LOOP this := random() * 1e6; INSERT INTO %s (tenant, value) SELECT (%s) %% %s, hashint8extended(i, 7) FROM (SELECT (random() * 1e15)::bigint AS i FROM generate_series(1, 1000)) s; COMMIT; END LOOP; END $$' \
		"$BATCHES" "$1" "$tenant" "$TENANTS"
}

# compare_batches PER_TENANT SHARDS KIND GOAL
compare_batches()
{
	local side="$1 $2 $3" round lost

	say "Batches of 1,000 rows, $3, $(n "$1") values in each of $(n $TENANTS) tenants, $2 shards"
	make_tables "$1" "$2"
	q -c "$(batches indexed "$3")" -c "$(batches followed "$3")" -c CHECKPOINT
	for ((round = 1; round <= ROUNDS; round++)); do
		timed "followed $side" '' "$(batches followed "$3")"
		timed "indexed $side" '' "$(batches indexed "$3")"
	done
	ratio_of TIMES "followed $side" "indexed $side" \
		"batches, $3, $(n "$1") values each in $2 shards: followed / indexed" "${4% *}" "${4#* }" s
	lost=$(q -c "SELECT sum(missing) FROM cf_drift('filters', 'f')")
	result "the same: values missing" = 0 "$lost" "$lost"
}

compare_all_batches()
{
	local per_tenant

	# The goal is for filters that fit into a page.  One that does not is written
	# to the TOAST table, and a batch of all tenants writes most of the filters.
	for per_tenant in 100 1000; do
		compare_batches "$per_tenant" 1 mixed '<= 2'
		compare_batches "$per_tenant" 1 grouped '<= 2'
	done
	compare_batches 10000 1 mixed '- '
	compare_batches 10000 16 mixed '<= 2.5'
}

# Rows that change in another column than those that are followed.
compare_updates()
{
	local round

	say "UPDATE of other columns, 100,000 rows"
	make_tables 100
	q -c "ALTER TABLE followed ADD note int" -c "CREATE TABLE free (LIKE followed INCLUDING ALL)" \
		-c "INSERT INTO free SELECT * FROM followed" -c "VACUUM ANALYZE followed, free"
	for ((round = 1; round <= ROUNDS; round++)); do
		timed update_followed '' "UPDATE followed SET note = $round"
		timed update_free '' "UPDATE free SET note = $round"
		q -c "VACUUM followed, free"
	done
	ratio_of TIMES update_followed update_free "UPDATE of another column, followed / without triggers" - '' s
	q -c "DROP TABLE free"
}

# pgbench_rate SIDE SCRIPT...
#		Adds transactions a second to TIMES[SIDE].
pgbench_rate()
{
	local side=$1 tps
	shift

	tps=$(srv_as pgbench -n -h "$SRV_WORK/run" -U postgres -c "$CLIENTS" -j 2 -T "$SECONDS_EACH" "$@" postgres </dev/null |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p')
	TIMES[$side]+="$tps "
}

# script NAME SQL
script()
{
	printf '%s\n' "$2" | srv_as tee "$1.sql" >/dev/null
}

# make_hot SHARDS
#		One set of $HOT values: followed in so many shards, or with an index.
make_hot()
{
	q -c "SET client_min_messages = warning" \
		-c "DROP TABLE IF EXISTS hot, hot_filter CASCADE" \
		-c "CREATE TABLE hot (id bigserial PRIMARY KEY, tenant int NOT NULL, value bigint NOT NULL)" \
		-c "INSERT INTO hot (tenant, value) SELECT 1, hashint8extended(i, 0) FROM generate_series(1::bigint, $HOT) i" \
		-c "CREATE TABLE hot_filter (tenant int, shard int, f cuckoofilter, PRIMARY KEY (tenant, shard)) WITH (fillfactor = 50, toast_tuple_target = 8160)"
	if [ "$1" = index ]; then
		q -c "CREATE INDEX ON hot (tenant, value)"
	else
		q -c "SELECT cf_attach('hot', '{value}', 'hot_filter', 'f', '{tenant}', $((2 * HOT)), shards => $1)" >/dev/null
	fi
	q -c "VACUUM ANALYZE hot, hot_filter" -c CHECKPOINT >/dev/null
}

compare_hot()
{
	local side round before bytes rows lost=0

	say "Single rows into one set of $(n $HOT) values, $CLIENTS sessions"
	script hot "\\set value random(1, 1000000000000000)
INSERT INTO hot (tenant, value) VALUES (1, :value);"
	for side in $SHARDS index; do
		make_hot "$side"
		rows=$(q -c "SELECT count(*) FROM hot")
		before=$(q -c "SELECT pg_current_wal_insert_lsn()")
		for ((round = 1; round <= ROUNDS; round++)); do
			pgbench_rate "hot $side" -f hot.sql
		done
		bytes=$(q -c "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '$before')::bigint / ((SELECT count(*) FROM hot) - $rows)")
		result "one hot set, $side shards: bytes of WAL a row" - '' "$bytes" "$(n "$bytes")"
		[ "$side" = index ] ||
			lost=$((lost + $(q -c "SELECT sum(missing) FROM cf_drift('hot_filter', 'f')")))
		value_of TIMES "hot $side" "one hot set, $side shards" - '' 'rows/s'
	done
	ratio_of TIMES "hot 256" "hot 1" "one hot set: 256 shards / one filter" '>=' 10 'rows/s'
	ratio_of TIMES "hot 256" "hot index" "one hot set: 256 shards / index" '>=' 0.25 'rows/s'
	ratio_of TIMES "hot 1024" "hot index" "one hot set: 1,024 shards / index" '>=' 0.25 'rows/s'
	result "hot sets: values missing" = 0 "$lost" "$lost"
}

compare_spread()
{
	local round side

	say "Single rows into $(n $TENANTS) small filters, $CLIENTS sessions"
	make_tables 1
	for side in followed indexed; do
		script "$side" "\\set tenant random(1, $((TENANTS - 1)))
\\set value random(1, 1000000000000000)
INSERT INTO $side (tenant, value) VALUES (:tenant, :value);"
	done
	for ((round = 1; round <= ROUNDS; round++)); do
		pgbench_rate spread_followed -f followed.sql
		pgbench_rate spread_indexed -f indexed.sql
	done
	ratio_of TIMES spread_followed spread_indexed "small filters: followed / indexed" - '' 'rows/s'
}

# Building without statistics and with them.
compare_attach()
{
	local round

	say "cf_attach of $(n $KEYS) keys"
	for ((round = 1; round <= ROUNDS; round++)); do
		q -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS many, many_filter CASCADE" \
			-c "CREATE TABLE many (id int, k int, v int) WITH (autovacuum_enabled = off)" \
			-c "CREATE TABLE many_filter (k int PRIMARY KEY, f cuckoofilter) WITH (autovacuum_enabled = off)" \
			-c "INSERT INTO many SELECT i, i % $KEYS, i FROM generate_series(1, 2 * $KEYS) i"
		timed attach_before '' "SELECT cf_attach('many', '{v}', 'many_filter', 'f', '{k}', 10)"
		q -c "SELECT cf_detach('many')" -c "TRUNCATE many_filter" -c "ANALYZE many" >/dev/null
		timed attach_after '' "SELECT cf_attach('many', '{v}', 'many_filter', 'f', '{k}', 10)"
	done
	ratio_of TIMES attach_before attach_after "cf_attach of $(n $KEYS) keys: before / after ANALYZE" '<=' 1.5 s
}

main()
{
	parse_arguments "$@"
	arm_cleanup
	cd /
	bench_start 'shared_buffers = 512MB'
	compare_all_batches
	compare_updates
	compare_hot
	compare_spread
	compare_attach
	say ''
	circumstances "$ROUNDS rounds of $BATCHES batches, $CLIENTS sessions for $SECONDS_EACH s, fsync off"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
