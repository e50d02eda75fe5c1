--
-- hash: filters from hashes, one by one, in arrays and by cf_hash_agg
--
SET client_min_messages = warning;
CREATE SCHEMA hash;
SET search_path = hash, public;
SET max_parallel_workers_per_gather = 0;

CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- the entries of a filter: all but header and checksum
CREATE FUNCTION entries(f cuckoofilter) RETURNS bytea LANGUAGE sql AS
	$$ SELECT substr(f::bytea, 49, length(f::bytea) - 56) $$;

--
-- Arrays of hashes
--
SELECT cf_add_hashes(cf_new(100), ARRAY[1, 2, NULL, 2]) = cf_add_hash(cf_add_hash(cf_add_hash(cf_new(100), 1), 2), 2) AS as_one_by_one,
	cf_add_hashes(cf_new(100), '{}') = cf_new(100) AS none, cf_add_hashes(cf_new(100), NULL) = cf_new(100) AS is_null,
	cf_add_hashes(cf_new(100), '{NULL}') = cf_new(100) AS only_null, cf_add_hashes(cf_new(100), '{{1,2},{3,4}}') = cf_add_hashes(cf_new(100), '{1,2,3,4}') AS shape;
SELECT try('SELECT cf_add_hashes(NULL, ARRAY[1])') AS add, try('SELECT cf_remove_hashes(NULL, ARRAY[1])') AS remove, try('SELECT cf_contains_hashes(NULL, ARRAY[1])') AS contains,
	try('SELECT cf_contains_hashes(cf_new(1), NULL)') AS of_null;
-- extreme ones, and one for each bit
SELECT bool_and(a) FROM (SELECT array_agg((1::bigint << i) # x) AS hashes FROM generate_series(0, 63) i, unnest('{0,-1}'::bigint[]) x) h, unnest(cf_contains_hashes(cf_add_hashes(cf_new(1000), hashes), hashes)) a;
SELECT cf_contains_hashes(f, '[3:5]={1,NULL,3}'), cf_contains_hashes(f, '{{1,3},{2,1}}'), cf_contains_hashes(f, '{}'), cf_contains_hashes(cf_new(10), '{1}') FROM cf_add_hashes(cf_new(10), '{1,2}') f;
SELECT cf_remove_hashes(f, '{1,NULL,1,9}') = cf_add_hashes(cf_new(10), '{1,2}') AS removed, cf_remove_hashes(f, NULL) = f AS is_null, cf_remove_hashes(f, '{}') = f AS none FROM cf_add_hashes(cf_new(10), '{1,1,1,2}') f;
SELECT try('SELECT cf_remove_hashes(cf_new(10, max_copies => 1), ARRAY[1])') AS append_only;
-- many, in tables: the same as values
CREATE TABLE v AS SELECT g, cf_hash(g) AS h, cf_hash(g, 7) AS h7 FROM generate_series(1, 30000) g;
SELECT cf_contains_all(f, ARRAY(SELECT g FROM v)) AS by_value, (SELECT bool_and(x) FROM unnest(cf_contains_hashes(f, ARRAY(SELECT h FROM v))) x) AS by_hash,
	entries(f) = entries(cf_add_all(cf_new(30000), ARRAY(SELECT g FROM v ORDER BY g))) AS same_entries, (cf_info(f)).family,
	(SELECT count(*) FROM unnest(cf_contains_hashes(f, ARRAY(SELECT cf_hash(-g) FROM v))) x WHERE x) < 500 AS few_others
	FROM cf_add_hashes(cf_new(30000), ARRAY(SELECT h FROM v ORDER BY g)) f;
-- stored out of line, and changed in place
CREATE TABLE stored AS SELECT cf_add_hashes(cf_new(30000), ARRAY(SELECT h FROM v)) AS f;
UPDATE stored SET f = cf_remove_hashes(f, ARRAY(SELECT h FROM v WHERE g > 100));
SELECT cf_count(f), cf_contains_hashes(f, ARRAY[cf_hash(1), cf_hash(100)]), NOT EXISTS (SELECT FROM cf_check(f)) AS sound FROM stored;
DO $$
DECLARE
	f cuckoofilter := cf_new(30000);
	before cuckoofilter;
BEGIN
	FOR i IN 0..29 LOOP
		f := cf_add_hashes(f, ARRAY(SELECT h FROM hash.v WHERE g / 1000 = i));
	END LOOP;
	before := f;
	-- one that fails adds nothing
	BEGIN
		f := cf_add_hashes(f, ARRAY(SELECT cf_hash(-i) FROM generate_series(1, 1000000) i));
		RAISE EXCEPTION 'not full';
	EXCEPTION WHEN program_limit_exceeded THEN
		ASSERT f = before;
	END;
	f := cf_remove_hashes(f, ARRAY(SELECT h FROM hash.v WHERE g < 29999));
	ASSERT cf_count(f) = 1 AND f @> 29999, cf_count(f);
END $$;

--
-- cf_hash_agg.  In one process it gives the entries that cf_agg gives
--
SELECT n, entries(a) = entries(h) AS same_entries, (cf_info(h)).family, (cf_info(h)).capacity, (cf_info(h)).merged, cf_count(h)
	FROM unnest(ARRAY[1, 20, 500, 30000]) n, LATERAL (SELECT cf_agg(g, 30000) AS a, cf_hash_agg(h, 30000) AS h FROM v, generate_series(1, 2) WHERE g <= n) s;
SELECT entries(cf_agg(g, 1e5, 0.001)) = entries(cf_hash_agg(h, 1e5, 0.001)) AS fpr, entries(cf_agg(g, 1e5, 0.001, 2)) = entries(cf_hash_agg(h, 1e5, 0.001, 2)) AS max_copies,
	entries(cf_agg(g, 1e5, 0.001, 2, 7)) = entries(cf_hash_agg(h7, 1e5, 0.001, 2, 7)) AS seed FROM v;
SELECT cf_hash_agg(h, 1e5, NULL, NULL, NULL) = cf_hash_agg(h, 1e5) AS defaults, cf_hash_agg(h, 1e5, 0.01, 4, 0) = cf_hash_agg(h, 1e5) AS as_defaults,
	(cf_info(cf_hash_agg(h7, 1e5, 0.001, 3, 7))).max_copies, (cf_info(cf_hash_agg(h7, 1e5, 0.001, 3, 7))).seed FROM v;
-- order, duplicates, NULL, FILTER, DISTINCT, disk: none of them matters
SET work_mem = '64kB';
SELECT entries(cf_hash_agg(h, 30000)) = entries(cf_agg(g, 30000)) AS spilled FROM v, generate_series(1, 3);
RESET work_mem;
SELECT cf_hash_agg(h, 30000 ORDER BY g) = cf_hash_agg(h, 30000 ORDER BY h DESC) AS ordered, cf_hash_agg(DISTINCT h, 30000) = cf_hash_agg(h, 30000) AS distinct,
	cf_hash_agg(nullif(h, cf_hash(5)), 30000) = cf_hash_agg(h, 30000) FILTER (WHERE g <> 5) AS nulls FROM v;
-- found by value
SELECT bool_and(f @> g) AS by_value, count(*) FILTER (WHERE f @> -g) < 500 AS few_others FROM v, (SELECT cf_hash_agg(h, 30000) AS f FROM v) s;
SELECT bool_and(f @> g) AS by_value FROM v, (SELECT cf_hash_agg(h7, 30000, 0.01, 4, 7) AS f FROM v) s;
-- hashes made with another seed than the filter's cannot be noticed but by asking
SELECT bool_and(f @> g) AS seeds_agree FROM (SELECT g FROM v LIMIT 100) v, (SELECT cf_hash_agg(h, 30000, 0.01, 4, 7) AS f FROM v) s;
-- values may be removed and added
SELECT cf_count(cf_remove_all(cf_hash_agg(h, 30000), ARRAY(SELECT g FROM v WHERE g > 10))) AS left_over, (cf_info(cf_add(cf_hash_agg(h, 40000), 'a'::text))).family FROM v;

-- the planner knows what passes a filter that a subquery builds: about 300 rows
-- and the false positives, at the rate asked for
ANALYZE v;
CREATE FUNCTION expected_rows(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO result;
	RETURN result->0->'Plan'->>'Plan Rows';
END $$;
SELECT expected_rows('SELECT FROM v WHERE (SELECT cf_hash_agg(cf_hash(g), 1000) FROM v WHERE g <= 300) @> g') BETWEEN 450 AND 900 AS few,
	expected_rows('SELECT FROM v WHERE (SELECT cf_hash_agg(h, 1000, 0.0001) FROM v WHERE g <= 300) @> g') BETWEEN 250 AND 400 AS fewer;
-- no row, no parameters: NULL.  A row without a hash has parameters
SELECT cf_hash_agg(h, 100) IS NULL AS no_rows, cf_hash_agg(h, 100) FILTER (WHERE false) IS NULL AS filtered FROM v WHERE false;
SELECT cf_hash_agg(NULL, 100) = cf_new(100) AS empty, cf_hash_agg(NULL, 100, 0.001, 2, 5) = cf_new(100, 0.001, 2, 5) AS with_parameters FROM generate_series(1, 3);
-- parameters that are wrong
SELECT q, try(q) FROM unnest(ARRAY['SELECT cf_hash_agg(h, NULL) FROM v', 'SELECT cf_hash_agg(h, 0) FROM v', 'SELECT cf_hash_agg(h, 1e5, 0) FROM v', 'SELECT cf_hash_agg(h, 1e5, 0.01, 5) FROM v',
	'SELECT cf_hash_agg(h, g) FROM v', 'SELECT cf_hash_agg(h, 1e5, g / 1e6) FROM v', 'SELECT cf_hash_agg(h, 1e5, 0.01, 1 + g % 2) FROM v', 'SELECT cf_hash_agg(h, 1e5, 0.01, 4, g) FROM v',
	'SELECT cf_hash_agg(h, CASE WHEN g < 5000 THEN 1e5 END) FROM v', 'SELECT cf_hash_agg(h, 20000) FROM v', 'SELECT cf_hash_agg(h, ''NaN'') FROM v',
	'SELECT cf_hash_agg_transition(NULL, 1, 100)', 'SELECT cf_hash_agg_transition(cf_new(100), 1, 100, 0.01, 4, 0)']) q;
\set VERBOSITY default
SELECT cf_hash_agg(h, 20000) FROM v;
SELECT cf_hash_agg(h, NULL) FROM v;
\set VERBOSITY terse

-- many groups, hashed and sorted
SELECT count(*), bool_and(cf_count(f) = 10) AS counts, bool_and(f @> g AND f @> g + 27000) AS holds FROM (SELECT g % 3000 AS g, cf_hash_agg(h, 100) AS f FROM v GROUP BY g % 3000) s WHERE g > 0;
SET enable_hashagg = off;
SELECT count(*), bool_and(cf_count(f) = 10) AS counts, bool_and(f @> g AND f @> g + 27000) AS holds FROM (SELECT g % 3000 AS g, cf_hash_agg(h, 100) AS f FROM v GROUP BY g % 3000) s WHERE g > 0;
RESET enable_hashagg;
-- hashed, with groups on disk, and with files of their own
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT count(*), bool_and(cf_contains_all(f, a)) AS holds, sum(cf_count(f)) FROM (SELECT g % 3, cf_hash_agg(h, 20000) AS f, array_agg(g) AS a FROM v GROUP BY g % 3) s;
SELECT count(*), bool_and(cf_contains_all(f, a)) AS holds, sum(cf_count(f)) FROM (SELECT g % 300, cf_hash_agg(h, 40000) AS f, array_agg(g) AS a FROM v GROUP BY GROUPING SETS ((g % 300), ())) s WHERE cardinality(a) < 30000;
-- groups that are never read leave no file behind
SET enable_sort = off;
SELECT cf_count(f) FROM (SELECT g % 3, cf_hash_agg(h, 20000) AS f FROM v GROUP BY g % 3) s LIMIT 1;
RESET enable_sort;
RESET work_mem;
RESET hash_mem_multiplier;

-- in a window the filter is read after each row, and goes on growing
SELECT count(*), bool_and(n BETWEEN g * 0.98 AND g) AS counts, bool_and(holds) AS holds FROM (SELECT g, cf_count(cf_hash_agg(h, 3000) OVER w) AS n,
	cf_contains_all(cf_hash_agg(h, 3000) OVER w, ARRAY[1, g / 2 + 1, g]) AS holds FROM v WHERE g <= 2000 WINDOW w AS (ORDER BY g)) s;
SELECT max(cf_count(f)), bool_and(f @> g) AS holds FROM (SELECT g, cf_hash_agg(cf_hash(g % 10), 100) OVER (ORDER BY g) AS f FROM v WHERE g <= 50) s WHERE g < 10;
SELECT max(cf_count(f)) FROM (SELECT cf_hash_agg(h, 100) OVER (ORDER BY g ROWS 4 PRECEDING) AS f FROM v WHERE g <= 50) s;
SELECT try('SELECT cf_hash_agg(h, CASE WHEN g < 40 THEN 100 ELSE 101 END) OVER (ORDER BY g) FROM v WHERE g <= 50 OFFSET 49') AS capacity,
	try('SELECT cf_hash_agg(h, 100, CASE WHEN g < 40 THEN 0.01 ELSE 0.001 END) OVER (ORDER BY g) FROM v WHERE g <= 50 OFFSET 49') AS fpr,
	try('SELECT cf_hash_agg(h, 100, 0.01, CASE WHEN g < 40 THEN 3 ELSE 2 END) OVER (ORDER BY g) FROM v WHERE g <= 50 OFFSET 49') AS max_copies,
	try('SELECT cf_hash_agg(h, 100, 0.01, 4, CASE WHEN g < 40 THEN 3 ELSE 2 END) OVER (ORDER BY g) FROM v WHERE g <= 50 OFFSET 49') AS seed;

-- split over workers: filters are merged as by cf_union_agg.  What they hold
-- is the same, but not to the byte
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
CREATE FUNCTION plan_has(query text, what text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO result;
	RETURN result::text LIKE '%' || what || '%';
END $$;
SELECT plan_has('SELECT cf_hash_agg(h, 40000) FROM v', '"Partial Mode": "Partial"') AS split;
CREATE TABLE split AS SELECT cf_hash_agg(h, 40000) AS f FROM v;
SELECT (cf_info(f)).capacity, cf_count(f) BETWEEN 29500 AND 30000 AS count, NOT EXISTS (SELECT FROM cf_check(f)) AS sound, (SELECT bool_and(f @> g) FROM v) AS holds,
	(SELECT count(*) FROM v WHERE f @> -g) < 500 AS few_others FROM split;
CREATE TABLE overlapping AS SELECT g, h FROM v, generate_series(1, 4);
CREATE TABLE merged AS SELECT cf_hash_agg(h, 40000) AS f FROM overlapping;
SELECT cf_count(f) BETWEEN 29500 AND 30000 AS count, (SELECT bool_and(f @> g) FROM v) AS holds FROM merged;
SELECT cf_hash_agg(h, 100) IS NULL AS no_rows FROM v WHERE g < 0;
SELECT count(*), bool_and(cf_contains_all(f, a)) AS holds FROM (SELECT g % 50, cf_hash_agg(h, 1000) AS f, array_agg(g) AS a FROM overlapping GROUP BY g % 50) s;

RESET max_parallel_workers_per_gather;
RESET parallel_leader_participation;

--
-- cf_shard: as docs/format.md says, for good
--
SELECT n, bool_and(cf_shard(v, n) = floor((h + CASE WHEN h < 0 THEN 2::numeric ^ 64 ELSE 0 END) * n / 2::numeric ^ 64)) AS as_specified, min(cf_shard(v, n)) >= 0 AND max(cf_shard(v, n)) < n AS within
	FROM unnest(ARRAY[1, 2, 3, 64, 1000, 65537, 2147483647]) n, (SELECT g AS v, cf_hash(g, x'5555555555555555'::bigint)::numeric AS h FROM generate_series(-5000, 5000) g) s GROUP BY n ORDER BY n;
SELECT cf_shard(0, 1000) AS zero, cf_shard(-1, 1000) AS minus_one, cf_shard(''::text, 1000) AS empty, cf_shard('abc'::text, 1000) AS text, cf_shard('abc'::bytea, 1000) AS bytes, cf_shard(1.5, 1000) AS number,
	cf_shard(1.5::float8, 1000) AS float, cf_shard('2024-02-29'::date, 1000) AS date, cf_shard(ROW(1, 'x'::text), 1000) AS record, cf_shard(ARRAY[1, 2], 1000) AS "array", cf_shard('00000000-0000-0000-0000-000000000001'::uuid, 2147483647) AS uuid;
SELECT cf_shard(7::smallint, 64) = cf_shard(7.00, 64) AS numbers, cf_shard('x'::name, 64) = cf_shard('x', 64) AS texts, cf_shard(NULL::int, 64) AS of_null, cf_shard(7, NULL) AS in_null;
SELECT q, try(q) FROM unnest(ARRAY['SELECT cf_shard(1, 0)', 'SELECT cf_shard(1, -5)', 'SELECT cf_shard(point(1, 2), 3)']) q;
-- the values of one shard leave a filter the rate it says; those that share
-- bits of its own hash do not
SELECT n < 100000 * 1.3 * fpr AS rate_is_kept, other > 100000 * 2 * fpr AS by_its_own_hash FROM
	(SELECT cf_fpr(f) AS fpr, (SELECT count(*) FROM (SELECT -g AS v FROM generate_series(1, 1600000) g) x WHERE cf_shard(v, 16) = 5 AND f @> v) AS n,
		(SELECT count(*) FROM (SELECT -g AS v FROM generate_series(1, 1600000) g) x WHERE cf_hash(v) >> 60 = 5 AND o @> v) AS other
	FROM (SELECT cf_agg(v, 20000) FILTER (WHERE cf_shard(v, 16) = 5) AS f, cf_agg(v, 20000) FILTER (WHERE cf_hash(v) >> 60 = 5) AS o FROM generate_series(1, 300000) v) s) s;

DROP SCHEMA hash CASCADE;
