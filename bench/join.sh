#!/usr/bin/env bash
#
# join.sh
#		What a filter saves a hash join, and a join with a foreign table.
#
# Builds the extension, installs it into a private copy of the server, and
# starts a throwaway server there that listens on a socket only.  A small table
# is joined to a large one, of whose rows few match: as it is, and with the
# filter of the small one, which is built within the query that is timed.  Both
# queries take turns; the ratio is that of the medians, and both must give the
# same result.
set -euo pipefail

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=test/lib/common.sh
. "$REPO/test/lib/common.sh"
# shellcheck source=test/lib/packages.sh
. "$REPO/test/lib/packages.sh"
# shellcheck source=test/lib/server.sh
. "$REPO/test/lib/server.sh"

SMALL=1000000			# rows of the build side
BIG=20000000			# rows of the probe side
MATCH=1					# per cent of these that match
RUNS=3
WORK_MEM=4MB
FAILED=0

usage()
{
	cat <<TXT
Usage: bench/join.sh [--small N] [--big N] [--match PERCENT] [--runs N]
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
			--runs) RUNS=$2; shift ;;
			--work-mem) WORK_MEM=$2; shift ;;
			-h|--help) usage; exit 0 ;;
			*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

# q DATABASE ARG...
q()
{
	local database=$1
	shift
	srv_as psql -XqAt -v ON_ERROR_STOP=1 -h "$SRV_WORK/run" -U postgres -d "$database" "$@" </dev/null
}

start_server()
{
	local major log

	find_major major
	need_server "$major" || die "the packages of PostgreSQL could not be installed"
	srv_copy "$major"
	srv_build || die "the extension does not build"
	log=$SRV_WORK/start.log
	srv_as mkdir -m 0700 run
	logged "$log" srv_as initdb -N -A trust -U postgres --no-locale -E UTF8 -D data ||
		{ show "$log"; die "initdb failed"; }
	srv_as tee -a data/postgresql.conf >/dev/null <<-TXT
		listen_addresses = ''
		unix_socket_directories = '$SRV_WORK/run'
		fsync = off
		max_wal_size = 4GB
		shared_buffers = 256MB
		work_mem = $WORK_MEM
		max_parallel_workers_per_gather = 0
	TXT
	srv_as pg_ctl -s -w -D data -l data/log start </dev/null >/dev/null 2>"$log" ||
		{ show "$log"; die "the server does not start"; }
}

# The large table is in one database; the small one in both.
fill()
{
	step "$SMALL rows, and $BIG of which $MATCH % match"
	q postgres -c 'CREATE DATABASE far' -c 'CREATE DATABASE near'
	for database in far near; do
		q $database -c 'CREATE EXTENSION cuckoo_filter' \
			-c "CREATE UNLOGGED TABLE small AS SELECT i::bigint AS id, 'row ' || i AS name FROM generate_series(1, $SMALL) i" \
			-c 'VACUUM ANALYZE small'
	done
	q far -c 'SELECT setseed(0.5)' \
		-c "CREATE UNLOGGED TABLE big AS SELECT 1 + floor(random() * $SMALL * (100 / $MATCH::float8))::bigint AS id, i AS amount, repeat('x', 20) AS remark FROM generate_series(1, $BIG) i" \
		-c 'VACUUM ANALYZE big'
	q near -c 'CREATE EXTENSION postgres_fdw' \
		-c "CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$SRV_WORK/run', dbname 'far', extensions 'cuckoo_filter', fetch_size '10000')" \
		-c "CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres')" \
		-c 'CREATE FOREIGN TABLE big (id bigint, amount bigint, remark text) SERVER far' \
		-c 'ANALYZE big'
}

# seconds DATABASE QUERY
#		Time of one run; its result goes to $SRV_WORK/result.
seconds()
{
	local time

	q "$1" -c '\timing on' -c "$2" >"$SRV_WORK/out"
	grep -v '^Time:' "$SRV_WORK/out" >"$SRV_WORK/result"
	time=$(sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' "$SRV_WORK/out")
	awk -v t="$time" 'BEGIN { printf "%.2f", t / 1000 }'
}

median()
{
	printf '%s\n' "$@" | sort -g | awk '{ a[NR] = $1 } END { print (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}

# ratio A B LEAST WHAT
#		Say how many times as large A is as B, and whether that is enough.
ratio()
{
	local verdict

	verdict=$(awk -v a="$1" -v b="$2" -v least="$3" 'BEGIN { r = a / b; printf "%.1f times (at least %s wanted)%s", r, least, r < least ? ": MISSED" : "" }')
	say "    $4: $1 and $2, $verdict"
	case $verdict in *MISSED) FAILED=1 ;; esac
}

# compare DATABASE TITLE
compare()
{
	local plain="SELECT count(*), sum(amount), max(name), max(remark) FROM small JOIN big USING (id)"
	local filter="$plain WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)"
	local run expected without=() with=()

	say "$2"
	q "$1" -c "EXPLAIN (COSTS OFF) $filter" | sed 's/^/    | /'
	for ((run = 1; run <= RUNS; run++)); do
		without+=("$(seconds "$1" "$plain")")
		expected=$(cat "$SRV_WORK/result")
		with+=("$(seconds "$1" "$filter")")
		[ "$expected" = "$(cat "$SRV_WORK/result")" ] || die "the results differ"
		step "run $run: ${without[-1]} s without, ${with[-1]} s with the filter"
	done
	ratio "$(median "${without[@]}")" "$(median "${with[@]}")" 2 "median seconds"
}

# fetched QUERY
#		Rows that come from the other database.
fetched()
{
	q near -c "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) $1" |
		awk '/"Node Type": "Foreign Scan"/ { foreign = 1 }
			foreign && /"Actual Rows"/ { gsub(/[^0-9.]/, ""); printf "%d", $0; exit }'
}

main()
{
	parse_arguments "$@"
	arm_cleanup
	cd /
	start_server
	fill
	compare far "Hash join of two tables, work_mem = $WORK_MEM"
	compare near "Join with a table of another database, through postgres_fdw"
	ratio "$(fetched 'SELECT count(*), sum(amount), max(name), max(remark) FROM small JOIN big USING (id)')" \
		"$(fetched 'SELECT count(*), sum(amount), max(name), max(remark) FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)')" \
		5 "rows fetched"
	exit "$FAILED"
}

main "$@"
