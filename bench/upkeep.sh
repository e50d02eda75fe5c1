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
#	- single rows into one hot tenant with a filter of 1 MB, and into 1,000
#	  tenants: followed, with the staging table of docs/upkeep.md (its SQL is
#	  taken from there), with the index alone
#	- UPDATE of other columns, with and without triggers
# Prints one Markdown table.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=bench/lib/bench.sh
. "$REPO/bench/lib/bench.sh"

ROUNDS=5
BATCHES=100
SECONDS_EACH=15
CLIENTS=4
TENANTS=1000
HOT=520000				# values: a filter of 1.2 MB at 1 %, with room for as many

usage()
{
	cat <<TXT
Usage: bench/upkeep.sh [--rounds N] [--batches N] [--seconds N] [--clients N] [--help]

  --rounds N   turns of each side (default $ROUNDS)
  --batches N  batches of 1,000 rows in a turn (default $BATCHES)
  --seconds N  length of each run of pgbench (default $SECONDS_EACH)
  --clients N  sessions of pgbench (default $CLIENTS)

Takes some fifteen minutes, and 2 GB of disk.  The exit status is 0 if all goals are reached.
TXT
}

parse_arguments()
{
	while (($#)); do
		case $1 in
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

# make_tables PER_TENANT
#		A table with an index more, and one with filters; both with so many
#		values of each tenant already, and filters with room for more.
make_tables()
{
	q -c "SET client_min_messages = warning" \
		-c "DROP TABLE IF EXISTS indexed, followed, filters" \
		-c "CREATE TABLE indexed (id bigserial PRIMARY KEY, tenant int NOT NULL, value bigint NOT NULL)" \
		-c "CREATE TABLE followed (id bigserial PRIMARY KEY, tenant int NOT NULL, value bigint NOT NULL)" \
		-c "INSERT INTO indexed (tenant, value) SELECT i % $TENANTS, hashint8extended(i, 0) FROM generate_series(1::bigint, $1::bigint * $TENANTS) i" \
		-c "INSERT INTO followed (tenant, value) SELECT tenant, value FROM indexed" \
		-c "CREATE INDEX ON indexed (tenant, value)" \
		-c "CREATE TABLE filters (tenant int PRIMARY KEY, f cuckoofilter NOT NULL) WITH (fillfactor = 50, toast_tuple_target = 8160)" \
		-c "SELECT cf_attach('followed', '{value}', 'filters', 'f', '{tenant}', $((5 * $1 + 5000)))" \
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

compare_batches()
{
	local kind per_tenant round goal lost

	for per_tenant in 100 1000 3000 10000; do
		say "Batches of 1,000 rows, $(n $per_tenant) values in each of $(n $TENANTS) filters"
		make_tables "$per_tenant"
		for kind in mixed grouped; do
			# The goal is for filters that fit into a page.  One that does not is
			# written to the TOAST table: a batch of all tenants writes nearly
			# all of the filters, and that is measured.
			goal='<= 2'
			if [ $kind = mixed ] && ((per_tenant > 1000)); then
				goal='- '
			fi
			q -c "$(batches indexed $kind)" -c "$(batches followed $kind)" -c CHECKPOINT
			for ((round = 1; round <= ROUNDS; round++)); do
				timed "followed $kind $per_tenant" '' "$(batches followed $kind)"
				timed "indexed $kind $per_tenant" '' "$(batches indexed $kind)"
			done
			ratio_of TIMES "followed $kind $per_tenant" "indexed $kind $per_tenant" \
				"batches, $kind, filters of $(n $per_tenant) values: followed / indexed" "${goal% *}" "${goal#* }" s
		done
		lost=$(q -c "SELECT sum(missing) FROM cf_drift('filters', 'f')")
		result "the same: values missing" = 0 "$lost" "$lost"
	done
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

# The tables and functions of the documentation, as they stand there.
make_staging()
{
	awk '/^```sql/ { on = 1; block = ""; next } /^```/ { if (on && block ~ /CREATE TABLE hit /) printf "%s", block; on = 0 } on { block = block $0 "\n" }' \
		"$REPO/docs/upkeep.md" | srv_as tee staging.sql >/dev/null
	grep -q fold_hits "$SRV_ROOT$SRV_WORK/staging.sql" || die "docs/upkeep.md has no staging table"
	q -f staging.sql
	q -c "CREATE SEQUENCE hit_id"
}

compare_single()
{
	local round folder side tenant lost=0

	say "Single rows, $CLIENTS sessions"
	make_staging
	make_tables 1
	q -c "SELECT cf_rebuild('filters', 'f', capacity => 1000000)" \
		-c "INSERT INTO followed (tenant, value) SELECT 0, hashint8extended(i, 3) FROM generate_series(1::bigint, $HOT) i" \
		-c "INSERT INTO hit_filter SELECT tenant, f FROM filters" \
		-c "VACUUM ANALYZE" -c CHECKPOINT >/dev/null
	step "the hot filter has $(q -c "SELECT bytes FROM filters, cf_info(f) WHERE tenant = 0") bytes"
	for side in hot spread; do
		[ $side = hot ] && tenant='0' || tenant="random(1, $((TENANTS - 1)))"
		script "${side}_followed" "\\set tenant $tenant
\\set value random(1, 1000000000000000)
INSERT INTO followed (tenant, value) VALUES (:tenant, :value);"
		script "${side}_indexed" "\\set tenant $tenant
\\set value random(1, 1000000000000000)
INSERT INTO indexed (tenant, value) VALUES (:tenant, :value);"
		script "${side}_staged" "\\set tenant $tenant
\\set value random(1, 1000000000000000)
INSERT INTO hit VALUES (nextval('hit_id'), :tenant, :value);"
		for ((round = 1; round <= ROUNDS; round++)); do
			pgbench_rate "${side}_followed" -f "${side}_followed.sql"
			pgbench_rate "${side}_indexed" -f "${side}_indexed.sql"
			# a session that folds every second, all the while
			(while :; do q -c "CALL fold_hits()"; sleep 1; done) &
			folder=$!
			pgbench_rate "${side}_staged" -f "${side}_staged.sql"
			kill "$folder" 2>/dev/null || true
			wait "$folder" 2>/dev/null || true
			q -c "CALL fold_hits()"
			lost=$((lost + $(q -c "SELECT count(*) FROM hit WHERE NOT may_have_hit(site, visitor)")))
			# each round begins with the same filter, or it would be full at last
			q -c "TRUNCATE hit, hit_pending" -c CHECKPOINT \
				-c "UPDATE hit_filter SET visitors = f FROM filters WHERE site = tenant"
		done
	done
	value_of TIMES hot_followed "single rows, one hot filter of 1 MB, followed" - '' 'rows/s'
	value_of TIMES hot_indexed "the same table with the index alone" - '' 'rows/s'
	ratio_of TIMES hot_staged hot_followed "one hot filter: staged / followed" '>=' 10 'rows/s'
	value_of TIMES spread_followed "single rows, $(n $TENANTS) small filters, followed" - '' 'rows/s'
	ratio_of TIMES spread_followed spread_indexed "small filters: followed / indexed" - '' 'rows/s'
	ratio_of TIMES spread_staged spread_followed "small filters: staged / followed" - '' 'rows/s'
	result "staged: values missing, while probes look at both" = 0 "$lost" "$lost"
}

main()
{
	parse_arguments "$@"
	arm_cleanup
	cd /
	bench_start 'shared_buffers = 512MB'
	compare_batches
	compare_updates
	compare_single
	say ''
	circumstances "$ROUNDS rounds of $BATCHES batches, $CLIENTS sessions for $SECONDS_EACH s, fsync off"
	say ''
	print_table
	exit "$FAILED"
}

main "$@"
