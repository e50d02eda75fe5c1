#!/usr/bin/env bash
#
# stored.sh
#		What does a probe of a filter in a table cost?
#
# Measures, each against what it is to be better than in the same run:
#	- one probe of a filter of a million and of one of a hundred million values,
#	  at 1 %: buffers, time of one to the other and to a probe of all of it
#	- WHERE cf_contains(filter, $1) over 10,000 filters of 10,000 values
#	- a nested loop of a million probes into one filter of 10 MB, against the
#	  same probes of a constant
#	- a scan with a constant filter against one that only hashes the column
#
# Needs a server with the extension installed, found as psql finds it (PGHOST,
# PGPORT, PGUSER, PGDATABASE), with shared_buffers of 512MB or more.  Makes a
# schema stored_bench and drops it.
set -euo pipefail

usage()
{
	cat <<TXT
Usage: bench/stored.sh [--scale N] [--rounds N] [--help]

  --scale N   divide all sizes by N (default 1; 20 takes about a minute)
  --rounds N  measure N times and take the best of each side (default 5)
TXT
}

scale=1
rounds=5
while (($#)); do
	case $1 in
		--scale) scale=$2; shift ;;
		--rounds) rounds=$2; shift ;;
		-h|--help) usage; exit 0 ;;
		*) usage >&2; exit 2 ;;
	esac
	shift
done

psql -X -q -A -t -v ON_ERROR_STOP=1 -v scale="$scale" -v rounds="$rounds" <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo_filter;
DROP SCHEMA IF EXISTS stored_bench CASCADE;
CREATE SCHEMA stored_bench;
SET search_path = stored_bench, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256MB';

CREATE TABLE large (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO large SELECT 'million', cf_agg(i) FROM generate_series(1, 1000000 / :scale) i;
INSERT INTO large SELECT 'hundred', cf_agg(i) FROM generate_series(1, 100000000 / :scale) i;
INSERT INTO large SELECT 'ten MB', cf_agg(i) FROM generate_series(1, 8700000 / :scale) i;
CREATE TABLE tenants AS SELECT t AS tenant, (SELECT cf_agg(t * 20000 + i) FROM generate_series(1, 10000) i) AS f FROM generate_series(1, 10000 / :scale) t;
CREATE TABLE vals AS SELECT i::bigint AS v, substr(md5(i::text), 1, 16) AS x FROM generate_series(1, 1000000 / :scale) i;
CREATE TABLE ids AS SELECT i::bigint AS id, substr(md5(i::text), 1, 16) AS x FROM generate_series(1, 10000000 / :scale) i;
VACUUM ANALYZE large, tenants, vals, ids;
CHECKPOINT;

-- milliseconds that a query takes, executed ntimes
CREATE FUNCTION ms(query text, cache_size text, slices text, ntimes int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true), set_config('cuckoo_filter.enable_slices', slices, true);
	started := clock_timestamp();
	FOR i IN 1..ntimes LOOP
		EXECUTE query USING i;
	END LOOP;
	RETURN extract(epoch FROM clock_timestamp() - started) * 1000 / ntimes;
END $$;
CREATE FUNCTION buffers(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
-- the times of two queries in turn, the best of each
CREATE FUNCTION versus(a text, a_cache text, a_slices text, a_times int, b text, b_cache text, b_slices text, b_times int, rounds int) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	best float8[] := '{Infinity,Infinity}';
BEGIN
	FOR i IN 0..rounds LOOP
		best := ARRAY[least(best[1], stored_bench.ms(a, a_cache, a_slices, a_times)), least(best[2], stored_bench.ms(b, b_cache, b_slices, b_times))];
	END LOOP;
	RETURN best;
END $$;
CREATE FUNCTION line(what text, value float8, target text, fine bool) RETURNS text LANGUAGE sql AS $$
	SELECT rpad(what, 62) || lpad(round(value::numeric, 2)::text, 12) || '   ' || rpad(target, 10) || CASE WHEN fine THEN 'reached' ELSE 'MISSED' END
$$;

-- probes of one filter, each as the first of its query would be, nothing kept
SELECT line('buffers of a probe, ' || name, n, '<= 30', n <= 30)
	FROM (SELECT name, buffers(format('SELECT cf_contains(f, -7) FROM stored_bench.large WHERE name = %L', name)) AS n FROM large WHERE name <> 'ten MB' ORDER BY n) s;
CREATE FUNCTION probes(which text, n int) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT count(*) FROM stored_bench.large, generate_series(1, %s) v WHERE name = %L AND cf_contains(f, v * 7 + $1)', n, which)
$$;
SELECT line('time of a probe, hundred million / million', t[1] / t[2], '<= 3', t[1] / t[2] <= 3)
	FROM versus(probes('hundred', 20000), '0', 'on', 1, probes('million', 20000), '0', 'on', 1, :rounds) t;
SELECT line('time of a probe of a million, read whole / in slices', 100 * t[1] / t[2], '>= 100', 100 * t[1] / t[2] >= 100)
	FROM versus(probes('million', 200), '0', 'off', 1, probes('million', 20000), '0', 'on', 1, :rounds) t;
SELECT line('time of a probe of a hundred million, whole / in slices', 10000 * t[1] / t[2], '>= 100', 10000 * t[1] / t[2] >= 100)
	FROM versus(probes('hundred', 2), '0', 'off', 1, probes('hundred', 20000), '0', 'on', 1, :rounds) t;
\set scan 'SELECT count(*) FROM stored_bench.tenants WHERE cf_contains(f, $1)'
SELECT line('scan of tenants, read whole / in slices', t[1] / t[2], '>= 5', t[1] / t[2] >= 5)
	FROM versus(:'scan', '0', 'off', 3, :'scan', '64MB', 'on', 3, :rounds) t;
-- the constant is in the same nested loop: an InitPlan that copies the filter
\set nested 'SELECT count(*) FROM stored_bench.large l, stored_bench.vals WHERE name = ''ten MB'' AND cf_contains(l.f, v + $1 - $1)'
\set constant 'SELECT count(*) FROM stored_bench.large l, stored_bench.vals WHERE name = ''ten MB'' AND cf_contains((SELECT cf_add(f, -1) FROM stored_bench.large WHERE name = ''ten MB''), v + $1 - $1)'
SELECT line('nested loop, stored filter / constant', t[1] / t[2], '<= 1.3', t[1] / t[2] <= 1.3)
	FROM versus(:'nested', '64MB', 'on', 1, :'constant', '64MB', 'on', 1, :rounds) t;
SELECT line('scan with a constant filter / with hashint8', t[1] / t[2], '<= 1.5', t[1] / t[2] <= 1.5)
	FROM (SELECT cf_agg(v) AS f FROM vals WHERE v <= 1000) c, LATERAL versus(format('SELECT count(*) FROM stored_bench.ids WHERE cf_contains(%L::public.cuckoofilter, id)', f), '64MB', 'on', 1,
		'SELECT count(*) FROM stored_bench.ids WHERE hashint8(id) IS NOT NULL', '64MB', 'on', 1, :rounds) t;
SELECT line('scan with a constant filter / with hashtext', t[1] / t[2], '<= 1.5', t[1] / t[2] <= 1.5)
	FROM (SELECT cf_agg(x) AS f FROM vals WHERE v <= 1000) c, LATERAL versus(format('SELECT count(*) FROM stored_bench.ids WHERE cf_contains(%L::public.cuckoofilter, x)', f), '64MB', 'on', 1,
		'SELECT count(*) FROM stored_bench.ids WHERE hashtext(x) IS NOT NULL', '64MB', 'on', 1, :rounds) t;
DROP SCHEMA stored_bench CASCADE;
SQL
