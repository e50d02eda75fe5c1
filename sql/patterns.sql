--
-- patterns: the joins of docs/tuning.md.  For each: the result is that of the
-- plain query, and facts of the plan, not its text, which differs between
-- servers.
--
SET client_min_messages = warning;
CREATE SCHEMA patterns;
SET search_path = patterns, public;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE small AS SELECT i * 100 AS id, 'name ' || i AS name FROM generate_series(1, 200) i;
CREATE TABLE big AS SELECT i AS id, i % 7 AS amount FROM generate_series(1, 20000) i;
ALTER TABLE small ADD PRIMARY KEY (id);
ANALYZE small, big;

-- what EXPLAIN ANALYZE says; with every node that has a key
CREATE FUNCTION explained(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS, TIMING OFF, FORMAT JSON) ' || query INTO result;
	RETURN result->0->'Plan';
END $$;
CREATE FUNCTION nodes(plan jsonb, key text) RETURNS SETOF jsonb LANGUAGE sql AS $$
	SELECT n FROM jsonb_path_query(plan, 'strict $.**') n WHERE jsonb_typeof(n) = 'object' AND n ? key AND n ? 'Node Type'
$$;
-- rows that the scans of a table gave, and rows the planner expected
CREATE FUNCTION scanned(plan jsonb, relation text, OUT filtered bool, OUT rows int, OUT expected int) LANGUAGE sql AS $$
	SELECT bool_and(n->>'Filter' LIKE '%cf_contain%' OR n->>'Filter' LIKE '%@>%'), round(sum((n->>'Actual Rows')::numeric * (n->>'Actual Loops')::numeric)), sum((n->>'Plan Rows')::numeric)
	FROM patterns.nodes(plan, 'Relation Name') n WHERE n->>'Relation Name' LIKE relation
$$;

--
-- Semi-join reduction: the filter is built once, and asked on the scan of the
-- large table.  The join stays, so that the result is exact.
--
SELECT count(*), sum(amount) FROM small JOIN big USING (id);
SELECT count(*), sum(amount) FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id);
SELECT count(*), sum(amount) FROM small JOIN big USING (id) WHERE big.id <@ (SELECT cf_agg(id) FROM small);
-- 200 rows of 20,000 and the false positives are left to the join; the planner
-- counts a filter beside its own join once, with the join, and so expects no
-- fewer of the scan
SELECT q, filtered, rows BETWEEN 200 AND 600 AS few, expected >= rows AS enough_expected FROM unnest(ARRAY[
	'SELECT FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)',
	'SELECT FROM small JOIN big USING (id) WHERE (SELECT cf_agg(id) FROM small) @> big.id',
	'WITH f AS MATERIALIZED (SELECT cf_agg(id) AS f FROM small) SELECT FROM small JOIN big USING (id) WHERE (SELECT f FROM f) @> big.id']) WITH ORDINALITY AS x(q, i), scanned(explained(q), 'big') ORDER BY i;
-- built once, whatever the number of rows asked
SELECT bool_and(n->>'Actual Loops' = '1') AS once FROM nodes(explained('SELECT FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)'), 'Subplan Name') n;

--
-- Before an aggregation, below which the planner moves no join
--
SELECT count(*), sum(n) FROM (SELECT id, count(*) AS n FROM big GROUP BY id) b JOIN small USING (id);
SELECT count(*), sum(n) FROM (SELECT id, count(*) AS n FROM big WHERE (SELECT cf_agg(id) FROM small) @> id GROUP BY id) b JOIN small USING (id);

--
-- The same in a procedure, with a variable
--
CREATE TABLE result (name text, amount int);
CREATE PROCEDURE join_with_variable() LANGUAGE plpgsql AS $$
DECLARE
	filter cuckoofilter;
BEGIN
	SELECT cf_agg(id) INTO filter FROM patterns.small;
	INSERT INTO patterns.result SELECT name, amount FROM patterns.small JOIN patterns.big USING (id) WHERE cf_contains(filter, big.id);
END $$;
CALL join_with_variable();
SELECT count(*), sum(amount) FROM result;
-- often, so that the server may prefer a plan that does not know the filter;
-- over a commit
CREATE PROCEDURE join_often() LANGUAGE plpgsql AS $$
DECLARE
	filter cuckoofilter;
	found int;
BEGIN
	SELECT cf_agg(id) INTO filter FROM patterns.small;
	FOR i IN 1..8 LOOP
		SELECT count(*) INTO found FROM patterns.small JOIN patterns.big USING (id) WHERE filter @> big.id;
		ASSERT found = 200, found;
		COMMIT;
	END LOOP;
END $$;
CALL join_often();

--
-- Over a partitioned table: every partition is filtered
--
CREATE TABLE parts (id int, amount int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (5001);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (5001) TO (10001);
CREATE TABLE parts_3 PARTITION OF parts DEFAULT PARTITION BY HASH (id);
CREATE TABLE parts_3a PARTITION OF parts_3 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_3b PARTITION OF parts_3 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT * FROM big;
ANALYZE parts;
SELECT count(*), sum(amount) FROM small JOIN parts USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), parts.id);
SELECT filtered, rows BETWEEN 200 AND 600 AS few FROM scanned(explained('SELECT FROM small JOIN parts USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), parts.id)'), 'parts%');
-- a filter known to the planner: estimates of each partition from its own
-- statistics; one for the partitioned table as a whole
DO $$
DECLARE
	filter text := (SELECT cf_agg(id)::text FROM patterns.small);
	plan jsonb := patterns.explained(format('SELECT FROM patterns.parts WHERE %L::cuckoofilter @> id', filter));
	node jsonb;
BEGIN
	ASSERT (plan->>'Plan Rows')::float8 BETWEEN 200 AND 1600, plan;
	FOR node IN SELECT patterns.nodes(plan, 'Relation Name') LOOP
		ASSERT (node->>'Plan Rows')::float8 BETWEEN 50 AND 400, node;
	END LOOP;
END $$;
SELECT plan->>'Node Type' AS top, count(*) AS scans FROM explained('SELECT FROM parts WHERE cf_new(1) @> id') plan, nodes(plan, 'Relation Name') GROUP BY 1;

--
-- In a parallel plan: every worker asks the same filter
--
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(amount) FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id);
CREATE TABLE parallel_plan AS SELECT explained('SELECT FROM small JOIN big USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), big.id)') AS plan;
SELECT EXISTS (SELECT nodes(plan, 'Workers Planned')) AS gathered, bool_or(n->>'Parallel Aware' = 'true' AND n->>'Relation Name' = 'big') AS parallel_scan,
	sum((n->>'Actual Loops')::numeric) FILTER (WHERE n->>'Relation Name' = 'big') >= 1 AS scanned FROM parallel_plan, nodes(plan, 'Relation Name') n GROUP BY plan;
SELECT filtered FROM parallel_plan, scanned(plan, 'big');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

--
-- Anti-join.  False is certain: what the filter does not contain has no match.
-- What it contains may have none either, so that alone it gives too few rows,
-- and it takes the join to get the others.
--
CREATE TABLE without AS SELECT id FROM big WHERE NOT EXISTS (SELECT FROM small WHERE small.id = big.id);
SELECT count(*) FROM without;
CREATE TABLE approximate AS SELECT id FROM big WHERE NOT cf_contains((SELECT cf_agg(id) FROM small), id);
SELECT count(*) BETWEEN 19800 * 0.98 AND 19799 AS too_few, bool_and(id IN (SELECT id FROM without)) AS all_right FROM approximate;
SELECT count(*), (SELECT count(*) FROM without) FROM (SELECT id FROM big WHERE NOT cf_contains((SELECT cf_agg(id) FROM small), id)
	UNION ALL SELECT id FROM big WHERE cf_contains((SELECT cf_agg(id) FROM small), id) AND NOT EXISTS (SELECT FROM small WHERE small.id = big.id)) x;

--
-- One filter per tenant: who may have seen a value
--
CREATE TABLE visits AS SELECT 1 + i % 50 AS tenant, (i * 7919) % 9000 AS visitor FROM generate_series(1, 15000) i;
CREATE TABLE tenants AS SELECT tenant, cf_agg(visitor, 1000) AS filter FROM visits GROUP BY tenant;
ANALYZE visits, tenants;
SELECT count(*) AS asked, count(*) FILTER (WHERE NOT found) AS missed, count(*) FILTER (WHERE spurious) < 50 * 100 * 0.02 AS few_spurious
	FROM (SELECT filter @> visitor AS found, filter @> visitor + 10000 AS spurious FROM tenants JOIN (SELECT DISTINCT tenant, visitor FROM visits) v USING (tenant)) x;
SELECT count(DISTINCT v.tenant) AS tenants, bool_and(v.tenant IN (SELECT tenant FROM tenants WHERE cf_contains(filter, 4711))) AS all_found FROM visits v WHERE visitor = 4711;
PREPARE tenants_of(int) AS SELECT DISTINCT tenant FROM tenants JOIN visits USING (tenant) WHERE cf_contains(filter, $1) AND visitor = $1;
CREATE TABLE found AS EXECUTE tenants_of(4711);
SELECT count(*) = (SELECT count(DISTINCT tenant) FROM visits WHERE visitor = 4711) AS exact FROM found;

DROP SCHEMA patterns CASCADE;
