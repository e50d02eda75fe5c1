--
-- support: what the planner is told of a probe.  Facts and bounds rather than
-- plans, since costs and plans differ between servers.  All tables are small
-- enough for ANALYZE to read them whole, so that every number is reproducible;
-- unless autovacuum came along, after which an index alone would do for some.
--
SET client_min_messages = warning;
CREATE SCHEMA support;
SET search_path = support, public;
SET max_parallel_workers_per_gather = 0;

-- 20,000 rows: id unique, v 2,000 values 10 times each, d with NULL in every
-- other row, s skewed (half the rows 1, a quarter 2, ..., 10,000 values once),
-- as text and numeric, as a hash, and as a domain
CREATE DOMAIN whole AS int;
CREATE TABLE data WITH (autovacuum_enabled = off) AS SELECT i AS id, i % 2000 AS v, CASE WHEN i % 2 = 0 THEN i % 2000 END AS d,
	CASE WHEN i <= 10000 THEN 1 WHEN i <= 15000 THEN 2 WHEN i <= 16000 THEN 3 ELSE i END AS s,
	'v' || i % 2000 AS t, (i % 2000)::numeric AS n, cf_hash(i % 2000) AS h, (i % 2000)::whole AS w, ARRAY[i % 2000] AS a FROM generate_series(1, 20000) i;
ALTER TABLE data ADD PRIMARY KEY (id);
CREATE INDEX ON data ((v * 3));
ANALYZE data;

-- filters that hold so many percent of the values of v
CREATE TABLE filters (name text PRIMARY KEY, f cuckoofilter) WITH (autovacuum_enabled = off);
INSERT INTO filters SELECT p || '%', (SELECT cf_agg(i) FROM generate_series(0, 1999) i WHERE i % (100 / p)::int = 0) FROM unnest('{0.1,1,10,100}'::numeric[]) p;
INSERT INTO filters SELECT p || '% of id', (SELECT cf_agg(i) FROM generate_series(1, 20000) i WHERE i % (100 / p)::int = 0) FROM unnest('{0.1,1,10,100}'::numeric[]) p;
INSERT INTO filters SELECT '10% text', cf_agg('v' || i) FROM generate_series(0, 1999, 10) i;
INSERT INTO filters SELECT '10% bag', cf_bag_agg(v) FROM data WHERE v % 10 = 0;
INSERT INTO filters SELECT '1 of s', cf_add_all(cf_new(10), ARRAY[1, 17000]);
INSERT INTO filters SELECT '3 of s', cf_add_all(cf_new(10), ARRAY[3, 17000]);
INSERT INTO filters SELECT 'half of s', cf_agg(DISTINCT s) FROM data WHERE s % 2 = 0;
INSERT INTO filters SELECT 'v * 3', cf_agg(i * 3) FROM generate_series(0, 199) i;
INSERT INTO filters VALUES ('empty', cf_new(100)), ('hashes', (SELECT cf_add_hash(cf_add_hash(cf_new(10), cf_hash(1)), cf_hash(2))));
ANALYZE filters;

CREATE FUNCTION plan(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	result json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO result;
	RETURN result->0->'Plan';
END $$;
-- a clause on data with F for the filter as a literal: rows that the planner
-- expects, and rows there are
CREATE FUNCTION expected(clause text, filter text DEFAULT 'empty') RETURNS float8 LANGUAGE sql AS $$
	SELECT (support.plan('SELECT FROM support.data WHERE ' || replace(clause, 'F', quote_literal(f::text) || '::cuckoofilter'))->>'Plan Rows')::float8 FROM support.filters WHERE name = filter
$$;
CREATE FUNCTION found(clause text, filter text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	result float8;
BEGIN
	EXECUTE (SELECT 'SELECT count(*) FROM support.data WHERE ' || replace(clause, 'F', quote_literal(f::text) || '::cuckoofilter') FROM support.filters WHERE name = filter) INTO result;
	RETURN result;
END $$;
-- is the one at most factor times the other, with slack for the last half per
-- cent of the rows?  Else say what they are
CREATE FUNCTION near(expected float8, found float8, factor float8 DEFAULT 2) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN expected <= factor * found + CASE WHEN found = 0 THEN 100 ELSE 0 END AND found <= factor * expected THEN 'ok'
		ELSE expected || ' rows expected, ' || found || ' found' END
$$;
CREATE FUNCTION estimate(clause text, filter text, factor float8 DEFAULT 2) RETURNS text LANGUAGE sql AS $$
	SELECT support.near(support.expected(clause, filter), support.found(clause, filter), factor)
$$;

--
-- Uniform columns, 0.1 to 100 % of the values, every form of a probe
--
SELECT p AS filter, c AS clause, estimate(c, p) FROM unnest('{0.1%,1%,10%,100%}'::text[]) WITH ORDINALITY AS p(p, i),
	unnest(ARRAY['cf_contains(F, v)', 'cf_contained(v, F)', 'F @> v', 'v <@ F', 'NOT cf_contains(F, v)', 'NOT F @> v', 'NOT v <@ F', 'F @> n', 'F @> w', 'cf_contains_hash(F, h)', 'F @> d'])
	WITH ORDINALITY AS c(c, j) ORDER BY j, i;
-- a unique column, with and without statistics
SELECT p AS filter, estimate('F @> id', p || ' of id'), estimate('NOT cf_contains(F, id)', p || ' of id') AS "not" FROM unnest('{0.1%,1%,10%,100%}'::text[]) p;
CREATE TABLE bare (id int PRIMARY KEY);
INSERT INTO bare SELECT generate_series(1, 20000);
SELECT near((plan(format('SELECT FROM bare WHERE cf_contains(%L, id)', f))->>'Plan Rows')::float8, (SELECT count(*) FROM bare WHERE f @> id)) FROM filters WHERE name = '10% of id';
-- an expression of which an index has statistics; copies of values; text
SELECT estimate('F @> v * 3', 'v * 3'), estimate('F @> v', '10% bag') AS bag, estimate('F @> t', '10% text') AS text;
SELECT cf_count(f) > 300 AS has_copies FROM filters WHERE name = '10% bag';
-- complement, to the row
SELECT p, abs(expected('F @> v', p) + expected('NOT F @> v', p) - 20000) <= 1 AS complement FROM unnest('{0.1%,1%,10%,100%}'::text[]) p;

--
-- Most common values are probed
--
SELECT estimate('F @> s', '1 of s', 1.1) AS "1", estimate('F @> s', '3 of s', 1.1) AS "3", estimate('F @> s', 'half of s', 1.1) AS half, estimate('NOT F @> s', '1 of s', 1.1) AS "not 1";
-- ... unless the user may not see all rows
CREATE ROLE regress_cuckoo_reader;
GRANT USAGE ON SCHEMA support TO regress_cuckoo_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA support TO regress_cuckoo_reader;
ALTER TABLE data ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON data USING (true);
SELECT expected('F @> s', '1 of s') > 9000 AS probed;
SET ROLE regress_cuckoo_reader;
SELECT expected('F @> s', '1 of s') > 9000 AS probed, expected('cf_contains(F, s)', '1 of s') > 9000 AS probed;
RESET ROLE;
ALTER TABLE data DISABLE ROW LEVEL SECURITY;

--
-- Arrays
--
SELECT p AS filter, estimate('cf_contains_any(F, ARRAY[v, id])', p) AS "any", estimate('cf_contains_any(F, ARRAY[v, NULL])', p) AS one, estimate('cf_contains_all(F, ARRAY[v, NULL])', p) AS "all",
	expected('cf_contains_any(F, a)', p) AS column, expected('cf_contains_all(F, a)', p) AS column FROM unnest('{1%,10%,100%}'::text[]) p;

--
-- Nothing to estimate
--
SELECT expected('cf_contains(F, v)', 'empty') AS empty, expected('cf_contains(NULL, v)') AS "null", expected('cf_contains(F, NULL::int)', '1%') AS null_value;
-- no statistics of the expression: never less than a row for each value, never
-- more than for an unknown filter
SELECT p AS filter, expected('F @> v * 5', p || ' of id') BETWEEN 2 AND 2200 AS bounded FROM unnest('{0.1%,1%,10%}'::text[]) p;
-- unknown filters: one row in ten
SELECT q, plan(q)->>'Plan Rows' AS rows FROM unnest(ARRAY[
	'SELECT FROM data WHERE cf_contains((SELECT f FROM filters WHERE name = ''1%''), v)',
	'SELECT FROM data WHERE v <@ (SELECT cf_union_agg(f) FROM filters)',
	'SELECT FROM data WHERE cf_contains((SELECT cf_agg(id) FROM data x GROUP BY s ORDER BY s LIMIT 1), v)',
	'SELECT FROM data WHERE (SELECT cf_agg(id) FROM data x WHERE x.v = data.v) @> v']) q;
SELECT count(*) AS filters FROM filters;
SELECT q, plan(q)->>'Plan Rows' AS rows FROM unnest(ARRAY[
	'SELECT FROM filters WHERE cf_contains(f, 5)', 'SELECT FROM filters WHERE f @> 5', 'SELECT FROM filters WHERE NOT f @> 5', 'SELECT FROM filters WHERE 5 <@ f',
	'SELECT FROM filters, data WHERE cf_contains(f, v)', 'SELECT FROM filters, data WHERE f @> v', 'SELECT FROM filters, data WHERE v <@ f']) q;

--
-- Filters that a subquery builds
--
CREATE FUNCTION subquery(subquery text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT FROM support.data WHERE cf_contains(%s, id)', subquery);
	found float8;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') x' INTO found;
	RETURN support.near((support.plan(query)->>'Plan Rows')::float8, found);
END $$;
SELECT q, subquery(q) FROM unnest(ARRAY[
	'(SELECT cf_agg(id) FROM data WHERE id <= 200)',
	'(SELECT cf_agg(id) FROM data WHERE id <= 2000)',
	'(SELECT cf_agg(v) FROM data)',
	'(SELECT cf_agg(v) FROM data WHERE id < 19999)',
	'(SELECT cf_bag_agg(v) FROM data)',
	'(SELECT cf_agg(id, 2000, 0.00001) FROM data WHERE id <= 20)',
	'(SELECT coalesce(cf_agg(id), cf_new(1)) FROM data WHERE id <= 2000)',
	'(SELECT f FROM (SELECT cf_agg(id) AS f FROM data WHERE id <= 2000) x)']) q;
-- of a query further out; and of all stages of a parallel plan
SELECT near((plan($$SELECT (SELECT count(*) FROM data WHERE cf_contains(x.f, id)) FROM (SELECT (SELECT cf_agg(id) FROM data WHERE id <= 2000) AS f OFFSET 0) x$$)->>'Plan Rows')::float8, 1);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT subquery('(SELECT cf_agg(v) FROM data)') AS parallel, plan('SELECT cf_agg(v) FROM data') @? '$.** ? (@."Node Type" == "Gather")' AS is_parallel;
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

--
-- Parameters: known to a custom plan, not to a generic one
--
PREPARE probe(cuckoofilter) AS SELECT FROM data WHERE cf_contains($1, v);
PREPARE probe_op(cuckoofilter) AS SELECT FROM data WHERE v <@ $1;
CREATE FUNCTION executed(statement text, filter text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (support.plan(format('EXECUTE %s(%L)', statement, f))->>'Plan Rows')::float8 FROM support.filters WHERE name = filter
$$;
SELECT p AS filter, near(executed('probe', p), found('F @> v', p)), near(executed('probe_op', p), found('F @> v', p)) FROM unnest('{0.1%,1%,10%,100%}'::text[]) p;
SET plan_cache_mode = force_generic_plan;
SELECT executed('probe', '1%') AS generic, executed('probe_op', '1%') AS generic;
RESET plan_cache_mode;
-- a variable of PL/pgSQL, as a value of its own, and as fetched from a table,
-- perhaps out of line
CREATE TABLE stored (f cuckoofilter);
INSERT INTO stored SELECT cf_agg(i) FROM generate_series(0, 1999) i WHERE i % 5 <> 0;
INSERT INTO stored SELECT cf_agg(i, 20000, 0.0001) FROM generate_series(0, 1999) i WHERE i % 5 <> 0;
DO $$
DECLARE
	filter cuckoofilter;
	answer json;
	found float8;
BEGIN
	FOR filter IN SELECT f FROM support.filters WHERE name IN ('0.1%', '1%', '10%', '100%') UNION ALL SELECT f FROM support.stored LOOP
		SELECT count(*) INTO found FROM support.data WHERE filter @> v;
		FOR answer IN EXPLAIN (FORMAT JSON) SELECT FROM support.data WHERE cf_contains(filter, v) LOOP
			ASSERT support.near((answer->0->'Plan'->>'Plan Rows')::float8, found) = 'ok', answer;
		END LOOP;
		EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM support.data WHERE v <@ $1' USING filter INTO answer;
		ASSERT support.near((answer->0->'Plan'->>'Plan Rows')::float8, found) = 'ok', answer;
	END LOOP;
END $$;
-- a stable function is evaluated for the estimate
CREATE FUNCTION ten_percent() RETURNS cuckoofilter LANGUAGE sql STABLE AS $$SELECT f FROM support.filters WHERE name = '10%'$$;
SELECT near((plan('SELECT FROM data WHERE ten_percent() @> v')->>'Plan Rows')::float8, found('F @> v', '10%'));

--
-- The planner raises no errors; the executor does
--
SELECT expected('F @> t', '1%') AS text, expected('cf_contains(F, v::float8)', '1%') AS float, expected('F @> point(v, v)', '1%') AS point, expected('F @> ROW(v, point(v, v))', '1%') AS record,
	expected('F @> ARRAY[point(v, v)]', '1%') AS array, expected('F @> v', '10% text') AS number, expected('cf_contains_any(F, ARRAY[t])', '1%') AS "any";
\set VERBOSITY sqlstate
SELECT found('F @> t', '1%');
SELECT found('F @> point(v, v)', '1%');
\set VERBOSITY default
-- nobody knows what hashes are of
SELECT estimate('F @> v', 'hashes'), expected('F @> t', 'hashes');

--
-- Cost: after cheaper conditions, on the scan and not on a join
--
CREATE FUNCTION condition(query text) RETURNS text LANGUAGE sql AS $$SELECT jsonb_path_query_first(support.plan(query), '$.** ? (@."Relation Name" == "data").Filter') #>> '{}'$$;
SELECT c, position('<>' IN condition) BETWEEN 1 AND position('cuckoofilter' IN condition) AS cheap_first
	FROM unnest(ARRAY['cf_contains({F}, v) AND v <> 7', '{F} @> v AND v <> 7', 'cf_contains_any({F}, ARRAY[v]) AND v <> 7']) c, filters,
	condition('SELECT FROM data WHERE ' || replace(c, '{F}', quote_literal(f::text) || '::cuckoofilter')) WHERE name = '1%';
SELECT condition(format('SELECT FROM data JOIN bare USING (id) WHERE %L::cuckoofilter @> v', f)) LIKE '%@> v%' AS on_scan FROM filters WHERE name = '1%';
-- more for what has to be fetched, hashed from pieces, or does not fit the
-- caches, and for each element
CREATE FUNCTION cost(clause text, source text DEFAULT 'data') RETURNS float8 LANGUAGE sql AS $$
	SELECT ((support.plan('SELECT FROM ' || source || ' WHERE ' || clause)->>'Total Cost')::float8 - (support.plan('SELECT FROM ' || source)->>'Total Cost')::float8) /
		(current_setting('cpu_operator_cost')::float8 * (SELECT reltuples FROM pg_class WHERE oid = source::regclass))
$$;
CREATE TABLE inlined WITH (autovacuum_enabled = off) AS SELECT i, cf_new(10) AS f FROM generate_series(1, 1000) i;
CREATE TABLE out_of_line WITH (autovacuum_enabled = off) AS SELECT i, g.f FROM generate_series(1, 100) i, (SELECT cf_agg(i) AS f FROM generate_series(1, 5000) i) g;
ANALYZE inlined, out_of_line;
SELECT round(cost('cf_contains(cf_new(10), v)')) AS probe, round(cost('v <@ cf_new(10)')) AS operator, round(cost('cf_contains_hash(cf_new(10), h)')) AS hash, round(cost('cf_contains(cf_new(10), n)')) AS "numeric",
	round(cost('cf_contains_any(cf_new(10), ARRAY[v, v])')) AS two, round(cost('cf_contains_all(cf_new(10), ARRAY[v, v, v])')) AS three, round(cost('cf_contains_any(cf_new(10), a)')) AS elements;
SELECT round(cost('cf_contains(f, 1)', 'inlined')) AS inlined, round(cost('cf_contains(f, 1)', 'out_of_line')) AS out_of_line, round(cost('1 <@ f', 'out_of_line')) AS operator;
-- but what is read once and kept is not paid for with every probe, also under a
-- correlated subquery
CREATE FUNCTION total(query text) RETURNS float8 LANGUAGE sql AS $$SELECT (support.plan(query)->>'Total Cost')::float8$$;
CREATE TABLE kept WITH (autovacuum_enabled = off) AS SELECT g.f FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 5000) i) g;
ANALYZE kept;
SELECT q, (total(q) - total(replace(q, 'f @> v', 'true'))) / (20000 * current_setting('cpu_operator_cost')::float8) < 50 AS cheap FROM unnest(ARRAY['SELECT FROM data, kept WHERE f @> v', 'SELECT FROM data WHERE EXISTS (SELECT FROM kept WHERE f @> v OR v = -1)', 'SELECT FROM data, kept, bare WHERE f @> v AND data.id = bare.id']) q;
SELECT total('SELECT FROM kept, out_of_line o WHERE o.f @> 1') > 80 AS once_each;
-- functions that go through whole filters: by their size, as far as it is known
CREATE TABLE small_filters WITH (autovacuum_enabled = off) AS SELECT g, cf_add_all(cf_new(1000), ARRAY[g, -g]) AS f FROM generate_series(1, 5000) g;
SELECT q, total('SELECT ' || replace(q, '(f)', '(NULLIF(f, f))') || ' FROM small_filters') < 60000 AS unknown FROM unnest('{cf_union_agg(f),cf_union_all_agg(f)}'::text[]) q;
SELECT q, total(q) < 10000 AS no_statistics FROM unnest('{SELECT cf_union_agg(f) FROM small_filters}'::text[]) q;
ANALYZE small_filters;
SELECT q, total(q) BETWEEN 3000 AND 10000 AS small FROM unnest(ARRAY['SELECT cf_union_agg(f) FROM small_filters', 'SELECT cf_union_all_agg(f) FROM small_filters', 'SELECT g, cf_union_agg(f) FROM small_filters GROUP BY g',
	'SELECT cf_union(f, f) FROM small_filters', 'SELECT cf_union_all(f, f) FROM small_filters', 'SELECT cf_intersection(f, f) FROM small_filters', 'SELECT cf_overlap(f, f) FROM small_filters', 'SELECT cf_resize(f) FROM small_filters']) q;
SELECT q, total(q) BETWEEN 10000 AND 40000 AS large FROM unnest(ARRAY['SELECT cf_union_agg(f) FROM out_of_line', 'SELECT cf_union(f, f) FROM out_of_line', 'SELECT cf_intersection(f, f) FROM out_of_line']) q;
SELECT round(cost(format('cf_contains(%L::cuckoofilter, v)', (SELECT cf_agg(i) FROM generate_series(1, 1000000) i)))) AS large;

--
-- A filter beside the join that it is made for counts once: no fewer rows are
-- expected than without it.  Fewer, if it has fewer values than are joined
--
CREATE TABLE joined WITH (autovacuum_enabled = off) AS SELECT i * 10 AS id, i % 2000 AS v, i % 50 AS kind FROM generate_series(1, 2000) i;
CREATE TABLE parts (id int, v int) PARTITION BY HASH (id);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0) WITH (autovacuum_enabled = off);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1) WITH (autovacuum_enabled = off);
INSERT INTO parts SELECT id, v FROM data;
ANALYZE joined, parts, parts0, parts1;
CREATE FUNCTION rows_of(query text) RETURNS float8 LANGUAGE sql AS $$SELECT (support.plan(query)->>'Plan Rows')::float8$$;
CREATE TABLE beside (name text, tables text, clause text);
INSERT INTO beside VALUES
	('join', 'data d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined) @> d.id'), ('the other way round', 'joined j JOIN data d USING (id)', 'd.id <@ (SELECT cf_agg(id) FROM joined)'),
	('function', 'data d JOIN joined j USING (id)', 'cf_contains((SELECT cf_agg(id) FROM joined), d.id)'), ('hash', 'data d JOIN joined j USING (id)', 'cf_contains_hash((SELECT cf_agg(id) FROM joined), cf_hash(d.id))'),
	('conditions of both', 'data d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined WHERE kind = 7) @> d.id AND kind = 7'), ('of the column', 'data d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined WHERE id < 2000) @> d.id AND d.id < 2000'),
	('other types', 'data d JOIN joined j ON d.id = j.id::bigint', '(SELECT cf_agg(id) FROM joined) @> d.id'), ('many to many', 'data d JOIN joined j USING (v)', '(SELECT cf_agg(v) FROM joined) @> d.v'),
	('IN', 'data d', 'd.id IN (SELECT id FROM joined) AND (SELECT cf_agg(id) FROM joined) @> d.id'), ('EXISTS', 'data d', 'EXISTS (SELECT FROM joined j WHERE j.id = d.id) AND (SELECT cf_agg(id) FROM joined) @> d.id'),
	('partitions', 'parts d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined) @> d.id'), ('UNION ALL', '(SELECT id FROM data UNION ALL SELECT id FROM parts0) d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined) @> d.id'),
	('three tables', 'data d JOIN joined j USING (id) JOIN bare b USING (id)', '(SELECT cf_agg(id) FROM joined) @> d.id'), ('two filters', 'data d JOIN joined j USING (id)', '(SELECT cf_agg(id) FROM joined) @> d.id AND (SELECT cf_agg(id) FROM data) @> j.id'),
	('unknown filter', 'data d JOIN joined j USING (id)', '(SELECT f FROM filters WHERE name = ''10% of id'') @> d.id'),
	('constant', 'data d JOIN joined j USING (id)', (SELECT quote_literal(cf_agg(id)) || '::cuckoofilter @> d.id' FROM joined));
SELECT name, CASE WHEN rows_of(format('SELECT FROM %s WHERE %s', tables, clause)) >= rows_of(format('SELECT FROM %s WHERE %s', tables, without)) THEN 'ok' ELSE
	rows_of(format('SELECT FROM %s WHERE %s', tables, clause)) || ' rows expected, without the filter ' || rows_of(format('SELECT FROM %s WHERE %s', tables, without)) END AS alone
	FROM beside, LATERAL (SELECT CASE name WHEN 'conditions of both' THEN 'kind = 7' WHEN 'of the column' THEN 'd.id < 2000' WHEN 'IN' THEN 'd.id IN (SELECT id FROM joined)' WHEN 'EXISTS' THEN 'EXISTS (SELECT FROM joined j WHERE j.id = d.id)' ELSE 'true' END AS without) w;
-- chained through subqueries that are computed first
SELECT near(rows_of(q), 20), rows_of(q) >= 20 AS enough FROM (SELECT 'WITH c AS MATERIALIZED (SELECT id FROM joined WHERE id <= 200), o AS MATERIALIZED (SELECT d.id FROM data d JOIN c USING (id) WHERE (SELECT cf_agg(id) FROM c) @> d.id)
	SELECT FROM o JOIN data l USING (id) WHERE (SELECT cf_agg(id) FROM o) @> l.id' AS q) s;
-- a filter of fewer values; one that is not of the join; one that is negated
SELECT near(rows_of('SELECT FROM data d JOIN joined j USING (id) WHERE (SELECT cf_agg(id) FROM joined WHERE kind = 7) @> d.id'), 60) AS fewer,
	near(rows_of('SELECT FROM data d JOIN joined j USING (v) WHERE (SELECT cf_agg(id) FROM joined WHERE kind = 7) @> d.id'), 240) AS other,
	near(rows_of('SELECT FROM data d JOIN joined j USING (id) WHERE NOT (SELECT cf_agg(id) FROM joined) @> d.id'), 1800) AS negated,
	near(rows_of('SELECT FROM data d LEFT JOIN joined j USING (id) WHERE (SELECT cf_agg(id) FROM joined) @> d.id'), 2180) AS outer_join;

-- an operator of other types may name the estimators; they do not take its
-- arguments for filters
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq, RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel);
CREATE OPERATOR === (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq, RESTRICT = cf_contains_sel);
SELECT expected('5 === v') AS number, expected('t === ''v5''') AS text, plan('SELECT FROM data x JOIN data y ON x.v === y.id')->>'Plan Rows' AS "join";

-- what is asked whom
SELECT proname, prosupport FROM pg_proc WHERE prosupport::text LIKE '%cf\_%' ORDER BY 1;
SELECT oprname, oprrest, oprjoin FROM pg_operator WHERE oprrest::text LIKE '%cf\_%' AND oprname <> '===' ORDER BY 1;

-- an aggregate without arguments that gives a filter is none that builds one
CREATE FUNCTION same(cuckoofilter) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS 'SELECT $1';
SELECT format('CREATE AGGREGATE same_agg(*) (SFUNC = same, STYPE = cuckoofilter, INITCOND = %L)', cf_new(10)) \gexec
SELECT count(*) FROM generate_series(1, 10) i WHERE cf_contains((SELECT same_agg(*) FROM generate_series(1, 3)), i);
SELECT count(*) FROM generate_series(1, 10) i WHERE (SELECT same_agg(*) FROM generate_series(1, 3)) @> i;

--
-- Aggregates of other people, of any shape, some over our functions: nothing is
-- known of what they give, and nothing of them is looked into.  Direct arguments
-- are not among those that are aggregated.
--
CREATE FUNCTION ordered_final(int[], int, int, int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_add_all(cf_new(100), $1)';
CREATE FUNCTION ordered_final(int[], int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_add_all(cf_new(100), $1)';
CREATE FUNCTION ordered_transition(int[], int) RETURNS int[] LANGUAGE sql AS 'SELECT array_append($1, $2)';
CREATE AGGREGATE ordered(int, int, int ORDER BY int) (SFUNC = ordered_transition, STYPE = int[], FINALFUNC = ordered_final);
CREATE AGGREGATE hypothetical(int ORDER BY int) (SFUNC = ordered_transition, STYPE = int[], FINALFUNC = ordered_final, HYPOTHETICAL);
CREATE FUNCTION add_with(cuckoofilter, int, float8, float8) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS 'SELECT cf_add($1, $2)';
CREATE FUNCTION with_parameters(int[], int, float8, int) RETURNS int[] LANGUAGE sql IMMUTABLE AS 'SELECT array_append($1, $2)';
CREATE FUNCTION filter_of(int[]) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS 'SELECT cf_add_all(cf_new(100), $1)';
DO $$
DECLARE
	a record;
BEGIN
	FOR a IN SELECT * FROM (VALUES ('adding(int', 'cf_add'), ('adding(int, float8, float8', 'add_with'), ('adding_all(VARIADIC int[]', 'cf_add_all')) v(name, function) LOOP
		EXECUTE format('CREATE AGGREGATE %s) (SFUNC = %s, STYPE = cuckoofilter, INITCOND = %L)', a.name, a.function, cf_new(100));
	END LOOP;
END $$;
CREATE AGGREGATE listing(int, float8, int) (SFUNC = with_parameters, STYPE = int[], FINALFUNC = filter_of);
CREATE TABLE few AS SELECT generate_series(1, 100) AS id;
ANALYZE few;
CREATE TABLE foreign_aggregate AS SELECT a, format('SELECT FROM data WHERE %s @> id', a) AS q FROM unnest(ARRAY[
	'(SELECT ordered(1, 2, 3) WITHIN GROUP (ORDER BY id) FROM few)', '(SELECT hypothetical(1) WITHIN GROUP (ORDER BY id) FROM few)',
	'(SELECT adding(id) FROM few)', '(SELECT adding(id, 0.5, 0.5) FROM few)', '(SELECT adding_all(id, id + 1000) FROM few)', '(SELECT listing(id, 0.5, 7) FROM few)',
	'(SELECT cf_union(cf_agg(id, 200), cf_agg(id + 1000, 200)) FROM few)', '(SELECT cf_union_agg(cf_new(id)) FROM few WHERE id < 1)',
	'(SELECT cf_agg(id) OVER () FROM few LIMIT 1)', '(SELECT cf_agg(sum(id)) OVER () FROM few)']) a;
SELECT a, plan(q)->>'Plan Rows' AS rows FROM foreign_aggregate;
SELECT count(*) FROM data WHERE (SELECT ordered(1, 2, 3) WITHIN GROUP (ORDER BY id) FROM few) @> id;
SELECT count(*) FROM data WHERE (SELECT hypothetical(1) WITHIN GROUP (ORDER BY id) FROM few) @> id;
-- one with our functions is as good as ours
CREATE AGGREGATE renamed(int, float8, float8) (SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_final);
SELECT subquery('(SELECT renamed(id, 2000, 0.001) FROM data WHERE id <= 2000)');

--
-- A value that the server has compressed: none of it is left in a constant.  And
-- one whose collation nobody can tell: no estimate for it, but no error of the
-- planner, which may have to plan what is never reached
--
CREATE TABLE squeezed (f cuckoofilter);
ALTER TABLE squeezed ALTER f SET STORAGE MAIN;
INSERT INTO squeezed SELECT cf_remove_all(cf_add_all(cf_new(10000), ARRAY(SELECT generate_series(0, 2999))), ARRAY(SELECT generate_series(100, 2999)));
SELECT pg_column_compression(f) IS NOT NULL AS compressed, form FROM squeezed, cf_info(f);
DO $$
DECLARE
	filter cuckoofilter := (SELECT f FROM support.squeezed);
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM support.data WHERE $1 @> v' USING filter INTO plan;
	RAISE WARNING '%', support.near((plan->0->'Plan'->>'Plan Rows')::float8, 1000, 1.2);
END $$;
CREATE TABLE mixed AS SELECT 'v10'::text COLLATE "C" AS a, ''::text COLLATE "POSIX" AS b;
SELECT plan('SELECT FROM mixed WHERE ' || quote_literal(f::text) || '::cuckoofilter @> (a || b)') IS NOT NULL AS planned FROM filters WHERE name = '10% text';
SELECT count(*) FROM mixed, filters WHERE f @> (a || b) AND name = '10% text';
SELECT count(*) FROM mixed, filters WHERE f @> (a || b) COLLATE "C" AND name = '10% text';

-- a filter that turns out to be NULL when it is looked at: no row, and no crash
CREATE FUNCTION no_filter() RETURNS cuckoofilter STABLE LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
SELECT clause, expected(clause) <= 20000 AS planned, found(clause, 'empty') FROM unnest('{"cf_contains(no_filter(), v)","no_filter() @> v","v <@ no_filter()","cf_contains_any(no_filter(), ARRAY[v])","cf_contains_all(no_filter(), ARRAY[v])"}'::text[]) clause;

DROP SCHEMA support CASCADE;
DROP ROLE regress_cuckoo_reader;
