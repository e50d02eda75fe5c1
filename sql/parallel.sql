--
-- parallel: cf_agg and cf_bag_agg by several processes, beyond work_mem, over
-- partitions and in windows.
--
-- However it is planned, the same rows give the same bytes.
--
SET client_min_messages = warning;
CREATE SCHEMA par;
SET search_path = par, public;
-- the same on every machine
SET work_mem = '16MB';
SET jit = off;

CREATE TABLE d AS SELECT i AS v, 'v' || i % 9973 AS t, i % 5 AS g, i % 3 = 0 AS third FROM generate_series(1, 40000) i;
ALTER TABLE d SET (parallel_workers = 2);
ANALYZE d;

-- facts of the plan that a query would have
CREATE FUNCTION plan_has(query text, what text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%' || what || '%';
END $$;
CREATE FUNCTION is_partial(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT plan_has(query, '"Partial Mode": "Partial"') AND plan_has(query, '"Parallel Aware": true') AND plan_has(query, '"Workers Planned": 2')
$$;
-- workers that were started, and blocks of temporary files written, by a query
CREATE FUNCTION total_of(plan json, what text) RETURNS bigint LANGUAGE sql AS $$
	SELECT coalesce((plan ->> what)::bigint, 0) + coalesce((SELECT sum(total_of(p, what)) FROM json_array_elements(plan -> 'Plans') p), 0)
$$;
CREATE FUNCTION ran(query text, what text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN total_of(plan -> 0 -> 'Plan', what);
END $$;

-- serial, then by two workers: each query's result under its name
CREATE TABLE query (name text PRIMARY KEY, q text);
INSERT INTO query VALUES
	('1 argument', 'SELECT cf_agg(v) FROM d'), ('2 arguments', 'SELECT cf_agg(v, 50000) FROM d'), ('3 arguments', 'SELECT cf_agg(v, 50000, 0.001) FROM d'),
	('4 arguments', 'SELECT cf_agg(v, 50000, 0.001, 2) FROM d'), ('5 arguments', 'SELECT cf_agg(v, 50000, 0.001, 2, -7) FROM d'), ('NULLs', 'SELECT cf_agg(v, NULL, NULL, NULL, NULL) FROM d'),
	('text', 'SELECT cf_agg(t) FROM d'), ('few', 'SELECT cf_agg(v % 1000) FROM d'), ('list', 'SELECT cf_agg(v % 20, 1000) FROM d'), ('all NULL', 'SELECT cf_agg(NULLIF(v, v), 777) FROM d'),
	('filter', 'SELECT cf_agg(v) FILTER (WHERE third) FROM d'), ('one row', 'SELECT cf_agg(v) FROM d WHERE v + 0 = 31'), ('one worker', 'SELECT cf_agg(v) FROM d WHERE v BETWEEN 300 AND 330'),
	('no rows', 'SELECT cf_agg(v) FROM d WHERE v + 0 < 0'), ('no rows, capacity', 'SELECT cf_agg(v, 1234, 0.001, 3, 9) FROM d WHERE v + 0 < 0'), ('no rows by filter', 'SELECT cf_agg(v, 1234) FILTER (WHERE v < 0) FROM d'),
	('bag', 'SELECT cf_bag_agg(v) FROM d'), ('bag of 4', 'SELECT cf_bag_agg(t) FROM d'), ('bag 2', 'SELECT cf_bag_agg(t, 40000) FROM d'), ('bag 3', 'SELECT cf_bag_agg(t, 40000, 0.001) FROM d'), ('bag 4', 'SELECT cf_bag_agg(t, 40000, 0.001, 2) FROM d'),
	('bag 5', 'SELECT cf_bag_agg(t, 40000, 0.001, 3, 11) FROM d'), ('bag of 1', 'SELECT cf_bag_agg(t, 40000, 0.001, 1) FROM d'), ('hot bag', 'SELECT cf_bag_agg(v % 2500, 10000) FROM d'), ('bag list', 'SELECT cf_bag_agg(v % 10, 1000) FROM d WHERE v <= 32'),
	('no rows, bag', 'SELECT cf_bag_agg(v, 1234, 0.001, 3, 9) FROM d WHERE v + 0 < 0'),
	('several', 'SELECT cf_union_agg(f) FROM (SELECT unnest(ARRAY[cf_agg(v, 50000), cf_agg(v + 1, 50000), cf_bag_agg(g, 50000)]) AS f FROM d) s'),
	('groups', 'SELECT cf_agg(cf_hash(f::bytea)) FROM (SELECT cf_agg(v) AS f FROM d GROUP BY g) s'), ('many groups', 'SELECT cf_agg(cf_hash(f::bytea)) FROM (SELECT cf_bag_agg(g) AS f FROM d GROUP BY v % 1000) s'),
	('having', 'SELECT cf_agg(g) FROM (SELECT g FROM d GROUP BY g HAVING cf_agg(v) @> 10) s');
CREATE TABLE got (how text, name text, f cuckoofilter);
CREATE FUNCTION run_all(how text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	r record;
	f cuckoofilter;
BEGIN
	FOR r IN SELECT * FROM query LOOP
		EXECUTE r.q INTO f;
		INSERT INTO got VALUES (how, r.name, f);
	END LOOP;
END $$;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM query WHERE is_partial(q);
SELECT run_all('serial');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*) > 20 AS many, bool_and(is_partial(q)) AS partial FROM query WHERE name <> 'many groups';
SELECT run_all('workers');
-- without the leader's help, the workers have to do it
SET parallel_leader_participation = off;
SELECT ran(q, 'Workers Launched') > 0 AS launched FROM query WHERE name = '1 argument';
SELECT run_all('workers only');
RESET parallel_leader_participation;
-- sorted groups, from workers that have nothing but their share
SET enable_hashagg = off;
SELECT run_all('workers, sorted');
RESET enable_hashagg;
SET enable_sort = off;
SELECT run_all('workers, hashed');
RESET enable_sort;
-- with so little memory everything spills
SET work_mem = '64kB';
SELECT run_all('workers, spilled');
SELECT plan_has('SELECT cf_agg(v) FROM d GROUP BY g', '"Partial Mode": "Finalize"') AS groups_are_partial;
SET max_parallel_workers_per_gather = 0;
SELECT run_all('spilled');
SET work_mem = '16MB';
SELECT g.how, count(*), count(*) FILTER (WHERE g.f = s.f) AS same, string_agg(g.name, ', ') FILTER (WHERE g.f <> s.f OR g.f IS NULL) AS different FROM got g JOIN got s USING (name) WHERE s.how = 'serial' GROUP BY g.how ORDER BY g.how;
-- and they are what they should be
SELECT name, i.form, i.family, i.capacity, i.max_copies, i.current_copies >= least(i.max_copies, 2) AS copies, i.seed, i.promised_fpr <= 0.001 AS fine FROM got, cf_info(f) i WHERE how = 'workers' ORDER BY name COLLATE "C";
SELECT count(*) AS problems FROM got, cf_check(f);
SELECT name, (SELECT bool_and(f @> v) FROM d) AS holds FROM got WHERE how = 'workers, spilled' AND name IN ('1 argument', '5 arguments', 'bag') ORDER BY name;
SELECT name, cf_contains_all(f, ARRAY(SELECT DISTINCT t FROM d)) AS holds FROM got WHERE how = 'workers, spilled' AND name IN ('text', 'bag of 4', 'bag 4') ORDER BY name;

--
-- Bags: as often as it comes, up to max_copies; exactly so in a list, in a
-- table at least, where values can share an entry
--
CREATE TABLE bag AS SELECT i AS v, n FROM generate_series(1, 3000) i, LATERAL (SELECT 1 + i % 6 AS n) s;
CREATE TABLE bag_row AS SELECT v, n FROM bag, generate_series(1, n) ORDER BY v * 7919 % 3001, n;
ALTER TABLE bag_row SET (parallel_workers = 2);
ANALYZE bag_row;
CREATE TABLE counted AS SELECT m, cf_bag_agg(v, 20000, 0.0001, m) FILTER (WHERE v <= 2000) AS f, cf_bag_agg(v, 1000, 0.01, m) FILTER (WHERE v <= 12) AS l FROM bag_row, generate_series(1, 4) m GROUP BY m;
SELECT m, (cf_info(l)).form, (SELECT bool_and(cf_count(l, v) = least(n, m)) FROM bag WHERE v <= 12) AS list_exact, (cf_info(f)).form, (SELECT bool_and(cf_count(f, v) >= least(n, m)) FROM bag WHERE v <= 2000) AS at_least,
	cf_count(f) BETWEEN (SELECT sum(least(n, m)) * 0.999 FROM bag WHERE v <= 2000) AND (SELECT sum(least(n, m)) FROM bag WHERE v <= 2000) AS entries FROM counted ORDER BY m;
-- removal afterwards: of each value all copies but one, then the last
SELECT m, cf_contains_all(rest, ARRAY(SELECT v FROM bag WHERE v <= 2000)) AS nobody_lost, cf_count(cf_remove_all(rest, ARRAY(SELECT v FROM bag WHERE v <= 2000 AND n = 1))) < cf_count(rest) AS some_go
	FROM (SELECT m, cf_remove_all(f, ARRAY(SELECT v FROM bag, generate_series(2, n) WHERE v <= 2000)) AS rest FROM counted WHERE m > 1) s ORDER BY m;
-- nothing but hot values: where their copies do not fit a table of the right
-- size they are lowered, or the table grows; nobody is lost, not by the removal
-- of all copies but one either
SELECT count(*), bool_or(i.current_copies < m) AS some_lowered, bool_and(i.current_copies >= 2 AND i.max_copies = m) AS two_at_least, bool_and(cf_contains_all(f, v)) AS holds, bool_and(cf_contains_all(cf_remove_all(f, v || v || v || v), v)) AS after_removals, bool_and(i.entries <= i.capacity) AS within_capacity
	FROM (SELECT m, c, cf_bag_agg(v, m * c, 0.01, m) AS f FROM generate_series(1, 3000) v, generate_series(1, 5), generate_series(3, 4) m, unnest('{4350,100000}'::int[]) c GROUP BY m, c) s, cf_info(f) i, (SELECT ARRAY(SELECT generate_series(1, 3000)) AS v) a;
SELECT m, cf_contains_all(f, v) AS holds, cf_contains_all(cf_remove_all(f, v || v || v || v), v) AS after_removals, i.entries <= i.capacity AS within_capacity
	FROM (SELECT m, cf_bag_agg(v, m * 50000, 0.01, m) AS f FROM generate_series(1, 50000) v, generate_series(1, 5), generate_series(3, 4) m GROUP BY m) s, cf_info(f) i, (SELECT ARRAY(SELECT generate_series(1, 50000)) AS v) a ORDER BY m;
-- what is in one group often, in another once
SELECT g, cf_count(f) AS entries, cf_count(f, 1) AS of_one FROM (SELECT g, cf_bag_agg(v, 100) AS f FROM (VALUES (1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (2, NULL), (1, 1), (1, 1)) v(g, v) GROUP BY g) s ORDER BY g;
SELECT cf_bag_agg(DISTINCT v) = cf_agg(v) AS distinct_is_agg, cf_bag_agg(v ORDER BY v DESC) = cf_bag_agg(v) AS any_order, cf_bag_agg(v, 20000) FILTER (WHERE v <= 100) = (SELECT cf_bag_agg(v, 20000) FROM bag_row WHERE v <= 100) AS filter,
	cf_bag_agg(DISTINCT v, 20000) = cf_agg(DISTINCT v, 20000) AS with_capacity, cf_bag_agg(v, 20000, 0.01, 1) = cf_agg(v, 20000, 0.01, 1) AS of_one_copy FROM bag_row;

--
-- Beyond work_mem: 110,000 different values among 220,000 rows.  Temporary
-- files are really used, and the order of rows does not matter.
--
CREATE TABLE big AS SELECT (i % 110000)::bigint * 48271 % 1000003 AS v FROM generate_series(1, 220000) i;
ALTER TABLE big SET (parallel_workers = 2);
ANALYZE big;
CREATE TABLE big_result AS SELECT 'in memory' AS how, cf_agg(v) AS f, cf_bag_agg(v, 220000, 0.01, 2) AS b FROM big;
SET work_mem = '64kB';
SELECT ran('SELECT cf_agg(v) FROM big', 'Temp Written Blocks') > 100 AS spilled, ran('SELECT cf_agg(v % 1000) FROM big', 'Temp Written Blocks') AS of_few_values;
INSERT INTO big_result SELECT 'spilled', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM big;
INSERT INTO big_result SELECT 'ascending', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM (SELECT v FROM big ORDER BY v) s;
INSERT INTO big_result SELECT 'descending', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM (SELECT v FROM big ORDER BY v DESC) s;
INSERT INTO big_result SELECT 'by hash', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM (SELECT v FROM big ORDER BY cf_hash(v)) s;
INSERT INTO big_result SELECT 'by key of the build', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM (SELECT v FROM big ORDER BY (cf_hash(v) & 1099511627775) << 24) s;
INSERT INTO big_result SELECT 'random', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM (SELECT v FROM big ORDER BY random()) s;
SET max_parallel_workers_per_gather = 2;
SELECT is_partial('SELECT cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM big') AS partial;
INSERT INTO big_result SELECT 'workers, spilled', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM big;
SET work_mem = '16MB';
INSERT INTO big_result SELECT 'workers', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM big;
-- one process over its memory, others not: the values are uneven
SET work_mem = '512kB';
INSERT INTO big_result SELECT 'workers, a little memory', cf_agg(v), cf_bag_agg(v, 220000, 0.01, 2) FROM big;
SET work_mem = '16MB';
SET max_parallel_workers_per_gather = 0;
SELECT how, r.f = m.f AS same, r.b = m.b AS same_bag FROM big_result r, (SELECT f, b FROM big_result WHERE how = 'in memory') m ORDER BY how;
SELECT cf_contains_all(f, ARRAY(SELECT DISTINCT v FROM big)) AS holds, (cf_info(f)).capacity, cf_count(f) BETWEEN 109900 AND 110000 AS entries, cf_contains_all(b, ARRAY(SELECT DISTINCT v FROM big)) AS bag_holds, cf_count(b) BETWEEN 219000 AND 220000 AS bag_entries,
	cf_contains_all(cf_remove_all(b, ARRAY(SELECT DISTINCT v FROM big)), ARRAY(SELECT DISTINCT v FROM big)) AS after_removals FROM big_result WHERE how = 'spilled';
-- 1,000 different values among 220,000 rows
SELECT i.capacity, i.entries BETWEEN 995 AND 1000 AS entries, i.bytes < 2000 AS bytes FROM (SELECT cf_agg(v % 1000) AS f FROM big) s, cf_info(f) i;

--
-- Partitions: aggregated each for itself, at several levels
--
CREATE TABLE p (k int, v bigint) PARTITION BY RANGE (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (30) PARTITION BY HASH (v);
CREATE TABLE p2a PARTITION OF p2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p2b PARTITION OF p2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (30) TO (100);
INSERT INTO p SELECT i % 31, i % 20000 FROM generate_series(1, 50000) i WHERE i % 31 < 31;
ANALYZE p, p1, p2a, p2b, p3;
CREATE TABLE part_result AS SELECT 'plain' AS how, cf_agg(v) AS f, cf_bag_agg(v, 50000) AS b, (SELECT cf_agg(cf_hash(s.f::bytea)) FROM (SELECT cf_agg(v) AS f FROM p GROUP BY k) s) AS g FROM p;
SET enable_partitionwise_aggregate = on;
SELECT plan_has('SELECT cf_agg(v) FROM p', '"Partial Mode": "Partial"') AS partial, plan_has('SELECT cf_agg(v) FROM p GROUP BY k', 'Aggregate%Aggregate') AS by_partition;
INSERT INTO part_result SELECT 'partition-wise', cf_agg(v), cf_bag_agg(v, 50000), (SELECT cf_agg(cf_hash(s.f::bytea)) FROM (SELECT cf_agg(v) AS f FROM p GROUP BY k) s) FROM p;
SET work_mem = '64kB';
INSERT INTO part_result SELECT 'partition-wise, spilled', cf_agg(v), cf_bag_agg(v, 50000), (SELECT cf_agg(cf_hash(s.f::bytea)) FROM (SELECT cf_agg(v) AS f FROM p GROUP BY k) s) FROM p;
SET max_parallel_workers_per_gather = 2;
INSERT INTO part_result SELECT 'partition-wise, workers, spilled', cf_agg(v), cf_bag_agg(v, 50000), (SELECT cf_agg(cf_hash(s.f::bytea)) FROM (SELECT cf_agg(v) AS f FROM p GROUP BY k) s) FROM p;
SET work_mem = '16MB';
INSERT INTO part_result SELECT 'partition-wise, workers', cf_agg(v), cf_bag_agg(v, 50000), (SELECT cf_agg(cf_hash(s.f::bytea)) FROM (SELECT cf_agg(v) AS f FROM p GROUP BY k) s) FROM p;
SELECT how, r.f = m.f AS same, r.b = m.b AS same_bag, r.g = m.g AS same_groups FROM part_result r, (SELECT f, b, g FROM part_result WHERE how = 'plain') m ORDER BY how;
-- no rows at all: what is constant is still known
SELECT plan_has('SELECT cf_agg(v, 4321) FROM p WHERE v + 0 < 0', '"Partial Mode": "Partial"') AS partial;
SELECT cf_agg(v, 4321, 0.001, 2, 5) = cf_new(4321, 0.001, 2, 5) AS empty, cf_agg(v) = cf_new(1) AS no_capacity, cf_bag_agg(v, 4321) = cf_new(4321) AS bag FROM p WHERE v + 0 < 0;
SELECT cf_agg(v, 4321) = cf_new(4321) AS no_partition FROM p WHERE k < -1;
SET max_parallel_workers_per_gather = 0;
SELECT cf_agg(v, 4321, 0.001, 2, 5) = cf_new(4321, 0.001, 2, 5) AS empty, cf_bag_agg(v, 4321) = cf_new(4321) AS bag FROM p WHERE v + 0 < 0;
TRUNCATE p;
SELECT cf_agg(v, 4321) = cf_new(4321) AS empty_table, cf_agg(v) FILTER (WHERE k = 1) = cf_new(1) AS filter FROM p;
SELECT count(*) FROM (SELECT cf_agg(v, 4321) FROM p GROUP BY k) s;
RESET enable_partitionwise_aggregate;

--
-- Parameters that vary between rows are found by whichever process sees them
--
SET max_parallel_workers_per_gather = 2;
SELECT is_partial('SELECT cf_agg(v, 50000 + v % 2) FROM d') AS partial;
\set VERBOSITY sqlstate
SELECT cf_agg(v, 50000 + v % 2) FROM d;
SELECT cf_agg(v, 50000, 0.01, 1 + v / 20001) FROM d;
SELECT cf_agg(v, 100) FROM d;
SELECT cf_agg(v, 0) FROM d;
\set VERBOSITY default
SELECT g, (cf_info(cf_agg(v, 10000 + g))).capacity FROM d GROUP BY g ORDER BY g;
SET max_parallel_workers_per_gather = 0;

--
-- Windows, and more values in them than work_mem holds
--
SET work_mem = '64kB';
SELECT count(*), bool_and(cf_count(f) = least(n, 3000)) AS entries, bool_and(f @> v) AS holds
	FROM (SELECT v % 3000 AS v, cf_bag_agg(v % 3000, 4000, 0.0001, 1) OVER (ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS f, row_number() OVER (ORDER BY v) AS n FROM d WHERE v <= 200) s;
SELECT count(*), count(DISTINCT f) AS different, bool_and(f = (SELECT cf_agg(v) FROM d e WHERE e.g = s.g)) AS same FROM (SELECT DISTINCT g, cf_agg(v) OVER (PARTITION BY g) AS f FROM d) s;
SELECT count(*), bool_and(cf_count(f, 3) = least(n, 4)) AS copies FROM (SELECT cf_bag_agg(3, 10) OVER (ORDER BY v) AS f, row_number() OVER (ORDER BY v) AS n FROM d WHERE v <= 20) s;
SET work_mem = '16MB';

--
-- Cancelled in the middle, in memory and on disk: the session goes on
--
\set VERBOSITY sqlstate
SET statement_timeout = 200;
SELECT cf_count(cf_agg(i)) FROM generate_series(1::bigint, 1000000000) i;
SET work_mem = '64kB';
SELECT cf_count(cf_agg(a * 100000 + b)) FROM generate_series(1::bigint, 100000) a, generate_series(1::bigint, 100000) b;
SELECT cf_count(cf_bag_agg(a * 100000 + b, 1e8)) FROM generate_series(1::bigint, 100000) a, generate_series(1::bigint, 100000) b;
SET max_parallel_workers_per_gather = 2;
SELECT cf_count(cf_agg(x.v * 1000000 + y.v)) FROM big x, generate_series(1, 100000) y(v);
RESET statement_timeout;
\set VERBOSITY default
SELECT (SELECT cf_agg(v) FROM big) = f AS same, (SELECT cf_bag_agg(v, 220000, 0.01, 2) FROM big) = b AS same_bag FROM big_result WHERE how = 'in memory';
SET work_mem = '16MB';

DROP SCHEMA par CASCADE;
