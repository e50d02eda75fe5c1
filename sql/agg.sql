--
-- agg: cf_agg, a filter from the different values of a column.
--
-- What it gives depends on the set of values and the parameters, and on
-- nothing else: no order, plan, duplicate or NULL changes a byte.
--
SET client_min_messages = warning;
CREATE SCHEMA agg;
SET search_path = agg, public;

CREATE TABLE d AS SELECT i AS v, 'v' || i AS t, i % 7 AS g, i * 7919 % 5003 AS shuffle FROM generate_series(1, 5000) i;
ANALYZE d;

-- the result of a query as text, or the error with its SQLSTATE
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

--
-- All arities
--
SELECT i.capacity, i.entries, i.max_copies, i.seed, i.promised_fpr <= 0.01 AS rate, (SELECT bool_and(f @> v) FROM d) AS holds, (SELECT count(*) FROM cf_check(f)) AS problems
	FROM (SELECT cf_agg(v) AS one, cf_agg(v, 10000) AS two, cf_agg(v, 10000, 0.001) AS three, cf_agg(v, 10000, 0.001, 2) AS four, cf_agg(v, 10000, 0.001, 2, -9) AS five FROM d) s,
		LATERAL (VALUES (1, one), (2, two), (3, three), (4, four), (5, five)) v(n, f), cf_info(f) i ORDER BY n;
-- a default given is a default left out; so is NULL
SELECT cf_agg(v, NULL) = cf_agg(v) AS null_capacity, cf_agg(v, 10000, NULL) = cf_agg(v, 10000) AS null_fpr, cf_agg(v, 10000, 0.01, NULL) = cf_agg(v, 10000) AS null_copies,
	cf_agg(v, 10000, 0.01, 4, NULL) = cf_agg(v, 10000) AS null_seed, cf_agg(v, NULL, NULL, NULL, NULL) = cf_agg(v) AS all_null,
	cf_agg(v, 10000, 0.01, 4, 0) = cf_agg(v, 10000) AS defaults, cf_agg(v, 5000) = cf_agg(v) AS sized_to_data FROM d;
-- small ones are lists, to the byte those of cf_add
SELECT n, cf_agg(v) = cf_add_all(cf_new(n), array_agg(v)) AS same, (cf_info(cf_agg(v))).form FROM d, unnest('{1,2,23}'::int[]) n WHERE v <= n GROUP BY n ORDER BY n;
SELECT cf_agg(t, 1000) = cf_add_all(cf_new(1000), array_agg(t)) AS same, (cf_info(cf_agg(t, 1000))).form FROM d WHERE v <= 20;

--
-- Duplicates and NULLs are nothing
--
SELECT (SELECT cf_agg(v) FROM d) = (SELECT cf_agg(v) FROM (SELECT v FROM d UNION ALL SELECT v FROM d UNION ALL SELECT NULL UNION ALL SELECT 17 FROM d) s) AS same;
SELECT (cf_info(cf_agg(1))).entries, (cf_info(cf_agg(1))).capacity, cf_count(cf_agg(1, 1), 1) FROM d;
SELECT (cf_info(f)).family, cf_count(f), (cf_info(f)).capacity FROM (SELECT cf_agg(NULL::int) AS f FROM d) s;
SELECT (cf_info(f)).family, cf_count(f), (cf_info(f)).capacity FROM (SELECT cf_agg(CASE WHEN v % 1000 = 0 THEN v END, 100) AS f FROM d) s;
-- 50,000 rows of three values in no more than three entries
SELECT cf_count(cf_agg(i % 3, 3)), bool_and(i % 3 IN (0, 1, 2)) FROM generate_series(1, 50000) i;

--
-- Values that come again and again are not collected each time: the result is
-- that of the same rows with no more of a value than count
--
CREATE TABLE often AS SELECT i % 500 AS v, i / 500 AS nth, i * 7919 % 20011 AS shuffle FROM generate_series(0, 19999) i WHERE i / 500 <= i % 500 % 40;
SELECT max_copies, count(*) AS rates, bool_and(cf_agg_same) AS set, bool_and(cf_bag_agg_same) AS bag, bool_and(shuffled_same) AS shuffled FROM
	(SELECT max_copies, fpr, (SELECT cf_agg(v, 4000, fpr, max_copies) FROM often) = (SELECT cf_agg(v, 4000, fpr, max_copies) FROM often WHERE nth = 0) AS cf_agg_same,
		(SELECT cf_bag_agg(v, 4000, fpr, max_copies) FROM often) = (SELECT cf_bag_agg(v, 4000, fpr, max_copies) FROM often WHERE nth < max_copies) AS cf_bag_agg_same,
		(SELECT cf_bag_agg(v, 4000, fpr, max_copies) FROM (SELECT v FROM often ORDER BY shuffle OFFSET 0) s) = (SELECT cf_bag_agg(v, 4000, fpr, max_copies) FROM often WHERE nth < max_copies) AS shuffled_same
	FROM generate_series(1, 4) max_copies, unnest('{0.01, 0.0001, 1e-8, 1e-12}'::float8[]) fpr) s GROUP BY max_copies ORDER BY max_copies;
-- hashes that differ in the bits that choose where they are remembered, or in no others; 0 is one of them
SELECT bits, cf_hash_agg(h, 1000) = (SELECT cf_add_hashes(cf_new(1000), array_agg(i << bits ORDER BY i << bits)) FROM generate_series(0::bigint, 15) i) AS same
	FROM unnest('{0, 20, 36, 40, 43, 48, 60}'::int[]) bits, LATERAL (SELECT i % 16 << bits AS h FROM generate_series(0::bigint, 20000) i OFFSET 0) s GROUP BY bits ORDER BY bits;
-- few values, then many, then few again; with little memory too
CREATE TABLE phases AS SELECT CASE WHEN i % 40000 < 20000 THEN i % 7 ELSE i * 31 % 50021 END AS v FROM generate_series(1, 120000) i;
SELECT (SELECT cf_agg(v) FROM phases) = (SELECT cf_agg(v) FROM (SELECT DISTINCT v FROM phases) s) AS same;
CREATE TABLE in_memory AS SELECT cf_agg(v, 60000) AS a, cf_bag_agg(v, 200000) AS b FROM phases;
SET work_mem = '64kB';
SELECT cf_agg(v, 60000) = (SELECT a FROM in_memory) AS set, cf_bag_agg(v, 200000) = (SELECT b FROM in_memory) AS bag FROM phases;
RESET work_mem;

--
-- No rows: an empty filter with the parameters that are constants, not NULL
--
SELECT cf_agg(v) = cf_new(1) AS one, cf_agg(v, 1000) = cf_new(1000) AS two, cf_agg(v, 1000, 0.001) = cf_new(1000, 0.001) AS three,
	cf_agg(v, 1000, 0.001, 2) = cf_new(1000, 0.001, 2) AS four, cf_agg(v, 1000, 0.001, 2, 5) = cf_new(1000, 0.001, 2, 5) AS five,
	cf_agg(v, NULL) = cf_new(1) AS null_capacity, cf_agg(v, 1000, NULL, NULL, 5) = cf_new(1000, seed => 5) AS nulls,
	cf_agg(v, 1e3) = cf_new(1000) AS numeric_capacity, cf_agg(v, 1000::bigint) = cf_new(1000) AS bigint_capacity
	FROM d WHERE false;
SELECT count(*) FROM (SELECT cf_agg(v) FROM d WHERE false GROUP BY g) s;
SELECT cf_agg(v, 500) FILTER (WHERE false) = cf_new(500), cf_contains(cf_agg(v) FILTER (WHERE false), 1), cf_contains(cf_agg(v) FILTER (WHERE false), 'x') FROM d;
PREPARE empty_with(float8) AS SELECT (cf_info(cf_agg(v, $1))).capacity FROM d WHERE false;
SET plan_cache_mode = force_custom_plan;
EXECUTE empty_with(1000);
RESET plan_cache_mode;
SELECT try(q) FROM (VALUES ('SELECT cf_agg(v, 0) FROM agg.d WHERE false'), ('SELECT cf_agg(v, 1e12) FROM agg.d WHERE false'), ('SELECT cf_agg(v, 10, 2) FROM agg.d WHERE false'),
	('SELECT cf_agg(v, 10, 0.1, 5) FROM agg.d WHERE false')) v(q);

--
-- GROUP BY: by hashing and by sorting, the same bytes; also from a scan in
-- another order, and from distinct or ordered input
--
SET enable_sort = off;
CREATE TABLE hashed AS SELECT g, cf_agg(v) AS a, cf_agg(t, 2000, 0.001, 2, 7) AS b FROM d GROUP BY g;
RESET enable_sort;
SET enable_hashagg = off;
CREATE TABLE sorted AS SELECT g, cf_agg(v) AS a, cf_agg(t, 2000, 0.001, 2, 7) AS b FROM d GROUP BY g;
RESET enable_hashagg;
SELECT count(*), bool_and(h.a = s.a) AS a, bool_and(h.b = s.b) AS b FROM hashed h JOIN sorted s USING (g);
SELECT bool_and(a @> v) AS holds, bool_and(b @> t) AS holds_text FROM d JOIN hashed USING (g);
SELECT sum(cf_count(a)) AS entries, count(DISTINCT a) AS different FROM hashed;
SELECT (SELECT cf_agg(v) FROM d) = (SELECT cf_agg(v) FROM (SELECT v FROM d ORDER BY shuffle) s) AS other_order,
	(SELECT cf_agg(v) FROM d) = (SELECT cf_agg(v ORDER BY shuffle DESC) FROM d) AS order_by,
	(SELECT cf_agg(v) FROM d) = (SELECT cf_agg(DISTINCT v) FROM d) AS distinct_values,
	(SELECT cf_agg(v) FROM d) = (SELECT cf_agg(DISTINCT v ORDER BY v DESC) FROM d) AS both,
	(SELECT cf_agg(v, 9999) FROM d) = (SELECT cf_agg(DISTINCT v, 9999) FROM d) AS distinct_and_capacity,
	(SELECT cf_agg(t) FROM d) = (SELECT cf_agg(t COLLATE "C" ORDER BY t COLLATE "C") FROM d) AS text_values;
-- many small groups
SELECT count(*), bool_and(f = cf_add_all(cf_new(2), a)) AS same FROM (SELECT cf_agg(v) AS f, array_agg(v) AS a FROM d GROUP BY v / 2 HAVING count(*) = 2) s;

--
-- FILTER, HAVING, several of them over one input, subqueries
--
SELECT cf_agg(v) FILTER (WHERE g = 3) = (SELECT a FROM hashed WHERE g = 3) AS filter, cf_agg(v) FILTER (WHERE g = 3) = cf_agg(v) FILTER (WHERE g = 4) AS other FROM d;
SELECT g FROM d GROUP BY g HAVING cf_agg(v) @> 10 ORDER BY g;
SELECT count(*) FROM d WHERE (SELECT cf_agg(v) FROM d WHERE g = 3) @> v AND g = 3;
WITH f AS (SELECT cf_agg(t) AS f FROM d WHERE v <= 100) SELECT count(*) FILTER (WHERE f @> t AND v <= 100) AS found, count(*) FILTER (WHERE f @> t) BETWEEN 100 AND 200 AS few_others FROM d, f;

--
-- GROUPING SETS, CUBE and ROLLUP
--
SELECT count(*), bool_and(f = (SELECT cf_agg(v) FROM d WHERE (s.g IS NULL OR d.g = s.g) AND (s.h IS NULL OR d.v % 2 = s.h))) AS same
	FROM (SELECT g, v % 2 AS h, cf_agg(v) AS f FROM d GROUP BY CUBE (g, v % 2)) s;
SELECT count(*), bool_and(f = (SELECT cf_agg(v) FROM d WHERE s.g IS NULL OR d.g = s.g)) AS same FROM (SELECT g, cf_agg(v) AS f FROM d GROUP BY ROLLUP (g)) s;
SELECT sets, count(*), sum(cf_count(f)) AS entries FROM (SELECT grouping(g, v % 2) AS sets, cf_agg(v) AS f FROM d WHERE v <= 700 GROUP BY GROUPING SETS ((g), (v % 2), ())) s GROUP BY sets ORDER BY sets;

--
-- Windows: the final function is called again and again on one state
--
SELECT count(*), bool_and(f @> v) AS holds, bool_and(cf_count(f) = n) AS entries, bool_and(f = (SELECT cf_agg(e.v) FROM d e WHERE e.v <= s.v)) AS same
	FROM (SELECT v, cf_agg(v) OVER (ORDER BY v) AS f, row_number() OVER (ORDER BY v) AS n FROM d WHERE v <= 200) s;
SELECT count(*), bool_and(f = (SELECT cf_agg(e.v) FROM d e WHERE e.v BETWEEN s.v - 5 AND s.v + 5 AND e.v <= 200)) AS same
	FROM (SELECT v, cf_agg(v) OVER (ORDER BY v ROWS BETWEEN 5 PRECEDING AND 5 FOLLOWING) AS f FROM d WHERE v <= 200) s;
SELECT count(*), bool_and(f = (SELECT cf_agg(e.t, 2000, 0.001) FROM d e WHERE e.g = s.g AND e.v <= 500)) AS same
	FROM (SELECT g, cf_agg(t, 2000, 0.001) OVER (PARTITION BY g) AS f FROM d WHERE v <= 500) s;
SELECT count(*), bool_and(f = cf_new(1)) AS empty FROM (SELECT cf_agg(v) OVER (ORDER BY v ROWS BETWEEN 3 PRECEDING AND 4 PRECEDING) AS f FROM d WHERE v <= 20) s;
-- of an empty frame the arguments are known, unless there are calls with several
-- over one window
SELECT count(*), bool_and(f = cf_new(5000, 0.001, 2, 7)) AS f, bool_and(g = f) AS g, bool_and(h = cf_new(77)) AS h
	FROM (SELECT cf_agg(v, 5000, 0.001, 2, 7) OVER w AS f, cf_bag_agg(t, 5000, 0.001, 2, 7) OVER w AS g, row_number() OVER w, cf_agg(v, 77) FILTER (WHERE false) OVER (PARTITION BY g) AS h
		FROM d WHERE v <= 20 WINDOW w AS (ORDER BY v ROWS BETWEEN 3 PRECEDING AND 4 PRECEDING)) s;
SELECT try('SELECT count(f) + count(g) FROM (SELECT cf_agg(v, 100) OVER w AS f, cf_agg(v, 200) OVER w AS g FROM agg.d WHERE v <= 20 WINDOW w AS (ORDER BY v ROWS BETWEEN ' || frame || ')) s')
	FROM unnest('{3 PRECEDING AND 4 PRECEDING,3 PRECEDING AND CURRENT ROW}'::text[]) frame;
-- a group of which the filter leaves nothing
SELECT g, (cf_info(cf_agg(v, 1000) FILTER (WHERE v < 0))).capacity FROM d WHERE g < 2 GROUP BY g ORDER BY g;
-- running, from duplicates, with a table in the end
SELECT bool_and(cf_count(f) = least(n, 100)) AS entries, bool_and(cf_check IS NULL) AS sound
	FROM (SELECT cf_agg(v % 100, 100) OVER (ORDER BY v) AS f, row_number() OVER (ORDER BY v) AS n FROM d WHERE v <= 500) s LEFT JOIN LATERAL cf_check(f) ON true;

--
-- Parameters that vary are refused; a group has its own
--
SELECT cf_agg(v, v) FROM d;
SELECT try('SELECT (cf_info(cf_agg(' || a || '))).capacity FROM agg.d') FROM (VALUES ('v, 5000 + v % 2'), ('v, 5000, 1.0 / (100 + v)'), ('v, 5000, 0.01, 1 + v % 4'), ('v, 5000, 0.01, 4, v'),
	('v, CASE WHEN v > 1 THEN 5000 END'), ('v, 5000, CASE WHEN v > 1 THEN 0.01 END'), ('v, CASE WHEN v <= 1 THEN 5000 END'), ('v, (SELECT 5000)'), ('v, 5000 + v - v')) v(a);
SELECT g, (cf_info(cf_agg(v, 1000 + g, 0.01, 4, g))).capacity, (cf_info(cf_agg(v, 1000 + g, 0.01, 4, g))).seed FROM d GROUP BY g ORDER BY g;
-- out of range, told at the first row: both sides of every bound
SELECT cf_agg(v, 0) FROM d;
SELECT cf_agg(v, 5000, 1) FROM d;
SELECT cf_agg(v, 5000, 0.01, 5) FROM d;
SELECT a, try('SELECT (cf_info(cf_agg(' || a || '))).capacity FROM agg.d WHERE v <= 5') FROM (VALUES ('v, -1'), ('v, 0'), ('v, 5'), ('v, 4.1'), ('v, ''NaN'''), ('v, ''Infinity'''), ('v, 9007199254740993'), ('v, 1e10'),
	('v, 5, 0'), ('v, 5, 1'), ('v, 5, ''NaN'''), ('v, 5, -0.1'), ('v, 5, 0.999'), ('v, 5, 0.01, 0'), ('v, 5, 0.01, 1'), ('v, 5, 0.01, 4'), ('v, 5, 0.01, 5'), ('v, 5, 0.01, -1'), ('NULL::int, 0'), ('v, 400000000, 1e-9')) v(a);
-- too small a capacity is an error, not a filter that is over it
SELECT cf_agg(v, 100) FROM d;
SELECT n, try(format('SELECT cf_count(cf_agg(v, %s)) FROM agg.d WHERE v <= 20', n)) FROM unnest('{1,19,20,21}'::int[]) n;
SELECT n, try(format('SELECT cf_count(cf_agg(v, %s)) FROM agg.d', n)) FROM unnest('{1000,5000,5001}'::int[]) n;
-- the parts of the aggregate cannot be called; minor versions of the server
-- differ in the error
DO $$
BEGIN
	PERFORM cf_agg_final(NULL);
	RAISE 'called';
EXCEPTION WHEN feature_not_supported OR undefined_function THEN NULL;
END $$;
DO $$
BEGIN
	PERFORM cf_agg_transition(NULL, 1);
	RAISE 'called';
EXCEPTION WHEN feature_not_supported OR undefined_function THEN NULL;
END $$;

--
-- Sized to the distinct values: the bits that were promised
--
SELECT n, i.capacity = n AS capacity, i.entries <= n AND i.entries >= n * 0.999 AS entries, round(i.bits_per_value::numeric, 1) <= 9.6 AS bits
	FROM unnest('{10000,16384,16385,65537}'::int[]) n, LATERAL (SELECT cf_agg(v / 3) AS f FROM generate_series(3, 3 * n + 2) v) s, cf_info(f) i;

--
-- 100,000 distinct values among 250,000 rows: all there, and of 50,000 others
-- at most 1 % and six standard deviations of that, sqrt(500)
--
CREATE MATERIALIZED VIEW big AS SELECT cf_agg(i::bigint * 48271 % 100000) AS f FROM generate_series(1, 250000) i;
SELECT i.form, i.capacity, i.entries BETWEEN 99900 AND 100000 AS entries, round(i.bits_per_value::numeric, 1) <= 9.6 AS bits, (SELECT count(*) FROM cf_check(f)) AS problems,
	cf_contains_all(f, ARRAY(SELECT generate_series(0, 99999))) AS holds,
	(SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(100001, 150000)))) e WHERE e) <= 500 + 134 AS few_others
	FROM big, cf_info(f) i;
REFRESH MATERIALIZED VIEW big;
SELECT f = (SELECT cf_agg(v) FROM (SELECT v FROM generate_series(0, 99999) v ORDER BY v % 317, v DESC) s) AS same_in_any_order FROM big;

-- without rows, arguments that need none are evaluated all the same: constants,
-- parameters of every kind of plan, subqueries; what is in ORDER BY is none
PREPARE empty(float8, float8, int, bigint) AS
	SELECT capacity, round(promised_fpr::numeric, 4) AS fpr, max_copies, seed FROM (SELECT cf_agg(v, $1, $2, $3, $4) f FROM d WHERE v < 0) s, cf_info(f);
SET plan_cache_mode = force_custom_plan;
EXECUTE empty(5000, 0.001, 2, 42);
SET plan_cache_mode = force_generic_plan;
EXECUTE empty(5000, 0.001, 2, 42);
RESET plan_cache_mode;
SELECT (cf_info(cf_agg(v, (SELECT 5000::float8)))).capacity FROM d WHERE v < 0;
SELECT (cf_info(cf_agg(v, 5000 + 1) FILTER (WHERE v < 0))).capacity FROM d;
SELECT (cf_info(cf_agg(v ORDER BY (-5)::float8))).capacity FROM d WHERE v < 0;
SELECT (cf_info(cf_agg(v, 100 ORDER BY 0::float8))).capacity FROM d WHERE v < 0;

--
-- Aggregated below a join, on its inner side as on its outer side, where the
-- server can: the arguments are those of the call, also for a group of no rows.
-- The result is the same either way.
--
CREATE TABLE ea AS SELECT i AS id, i % 5 AS g, i % 1000 AS x FROM generate_series(1, 2000) i;
CREATE TABLE eb AS SELECT i % 2000 AS id, i AS y FROM generate_series(1, 20000) i;
ANALYZE ea, eb;
CREATE TABLE eager (name text, q text);
INSERT INTO eager SELECT a, 'SELECT a.g, ' || a || ' AS f FROM agg.ea a JOIN agg.eb b USING (id) GROUP BY a.g' FROM unnest(ARRAY['cf_agg(a.x, 5000, 0.001, 4, 7)', 'cf_agg(a.x, 5000, 0.001, 4, 7) FILTER (WHERE a.x > 1000000)',
	'cf_bag_agg(a.x, 50000, 0.001, 3, 7) FILTER (WHERE a.x > 1000000)', 'cf_agg(NULLIF(a.x, a.x), 5000)', 'cf_agg(b.y, 20000, 0.001) FILTER (WHERE b.y > 1000000)']) a;
CREATE FUNCTION eager_results(OUT name text, OUT g int, OUT f cuckoofilter) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	e record;
BEGIN
	FOR e IN SELECT * FROM eager LOOP
		FOR g, f IN EXECUTE e.q LOOP
			name := e.name;
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;
SET max_parallel_workers_per_gather = 0;
SELECT set_config(name, 'off', false) = 'off' AS set FROM pg_settings WHERE name = 'enable_eager_aggregate' \g /dev/null
CREATE TABLE eager_result AS SELECT 'off' AS how, * FROM eager_results();
SELECT set_config(name, CASE name WHEN 'enable_eager_aggregate' THEN 'on' ELSE '0' END, false) AS set FROM pg_settings WHERE name IN ('enable_eager_aggregate', 'min_eager_agg_group_size') \g /dev/null
INSERT INTO eager_result SELECT 'hash join', * FROM eager_results();
SET enable_hashjoin = off;
INSERT INTO eager_result SELECT 'merge join', * FROM eager_results();
RESET enable_hashjoin;
-- where the server has it, all of these are planned so
CREATE FUNCTION is_partial(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%"Partial Mode": "Partial"%';
END $$;
SELECT count(*) = CASE WHEN current_setting('server_version_num')::int >= 190000 THEN 5 ELSE 0 END AS planned FROM eager WHERE is_partial(q);
SELECT how, count(*), count(*) FILTER (WHERE r.f = o.f) AS same FROM eager_result r JOIN (SELECT name, g, f FROM eager_result WHERE how = 'off') o USING (name, g) GROUP BY how ORDER BY how;
SELECT name, min(i.entries) > 0 AS entries, min(i.capacity) AS capacity, min(i.max_copies) AS max_copies, min(i.seed) AS seed FROM eager_result, cf_info(f) i WHERE how = 'hash join' GROUP BY name ORDER BY name COLLATE "C";
SELECT set_config(name, reset_val, false) AS set FROM pg_settings WHERE name IN ('enable_eager_aggregate', 'min_eager_agg_group_size') \g /dev/null
RESET max_parallel_workers_per_gather;

-- more values than the capacity, in a table of several superblocks, are refused
SELECT try('SELECT cf_count(cf_agg(g, 240000)) FROM generate_series(1, 300000) g');
SELECT try('SELECT cf_count(cf_agg(g, 300000)) FROM generate_series(1, 300000) g');

-- a window aggregate keeps to memory, also beyond work_mem: nobody tells it
-- when files can go
SET work_mem = '64kB';
SELECT count(*), min(n) AS least, max(n) AS most FROM (SELECT cf_count(cf_agg(i) OVER ()) AS n FROM generate_series(1, 99999) i) s;
SELECT count(*), min(n) AS least, max(n) AS most FROM (SELECT cf_count(cf_bag_agg(i % 50000) OVER (PARTITION BY i % 2)) AS n FROM generate_series(1, 99999) i) s;
RESET work_mem;
--
-- Without a capacity a bag has room for its copies: a little more than its
-- entries if values repeat, an eighth more if many do
--
SELECT which, cf_count(f) AS entries, i.capacity, i.current_copies, i.bytes <= p.bytes AS as_planned
	FROM (VALUES ('each once', 10000, 1, 1), ('one in twenty four times', 10000, 20, 4), ('one in ten three times', 10000, 10, 3), ('pairs', 10000, 1, 2), ('a few', 3, 1, 2)) v(which, n, every, times),
		LATERAL (SELECT cf_bag_agg(x, NULL, 0.001) AS f FROM generate_series(1, n) x, generate_series(1, CASE WHEN x % every = 0 THEN times ELSE 1 END)) s,
		cf_info(f) i, cf_plan(i.capacity, 0.001) p ORDER BY which;

DROP SCHEMA agg CASCADE;
