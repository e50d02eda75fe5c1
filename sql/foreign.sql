--
-- foreign: tables of another server.  With extensions 'cuckoo_filter' of
-- postgres_fdw the filter travels there, and only rows that pass come back.
--
-- The other server is this one.  Where it may not connect to itself as the
-- role that runs this, nothing can be tested; expected/foreign_1.out is that.
--
SET client_min_messages = warning;
CREATE SCHEMA foreign_tables;
SET search_path = foreign_tables, public;
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
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L, extensions %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database(), 'cuckoo_filter');
	EXECUTE format('CREATE SERVER plain FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
		split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER loopback OPTIONS (user %L)', current_user);
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER plain OPTIONS (user %L)', current_user);
END $$;
CREATE FOREIGN TABLE far (id int, amount int) SERVER loopback OPTIONS (schema_name 'foreign_tables', table_name 'big');
CREATE FOREIGN TABLE far_plain (id int, amount int) SERVER plain OPTIONS (schema_name 'foreign_tables', table_name 'big');

CREATE FUNCTION connects() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM foreign_tables.far LIMIT 1;
	RETURN true;
EXCEPTION WHEN sqlclient_unable_to_establish_sqlconnection THEN
	RETURN false;
END $$;
SELECT connects() \gset
\if :connects
\else
\echo 'This server may not connect to itself as this role: nothing was tested.'
DROP EXTENSION postgres_fdw CASCADE;
DROP SCHEMA foreign_tables CASCADE;
\quit
\endif

ANALYZE far, far_plain;
-- rows that came over, and rows the planner expected of them
CREATE FUNCTION fetched(query text, OUT sent bool, OUT rows int, OUT expected int) LANGUAGE sql AS $$
	SELECT bool_or(n->>'Remote SQL' ~ 'cf_contain|@>|<@'), round(sum(((n->>'Actual Rows')::numeric + coalesce(n->>'Rows Removed by Filter', '0')::numeric) * (n->>'Actual Loops')::numeric)), sum((n->>'Plan Rows')::numeric)
	FROM foreign_tables.nodes(foreign_tables.explained(query), 'Remote SQL') n
$$;
SELECT count(*), sum(amount) FROM small JOIN far USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), far.id);
SELECT count(*), sum(amount) FROM small JOIN far_plain USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), far_plain.id);
SELECT q, sent, rows BETWEEN 200 AND 600 AS few, expected >= rows AS enough_expected FROM unnest(ARRAY[
	'SELECT FROM small JOIN far USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), far.id)',
	'SELECT FROM small JOIN far USING (id) WHERE (SELECT cf_agg(id) FROM small) @> far.id',
	'SELECT FROM small JOIN far USING (id) WHERE far.id <@ (SELECT cf_agg(id) FROM small)']) q, fetched(q);
-- without the filter, and without the option, every row comes
SELECT q, sent, rows FROM unnest(ARRAY['SELECT FROM small s JOIN far f ON s.id + 0 = f.id + 0',
	'SELECT FROM small JOIN far_plain USING (id) WHERE cf_contains((SELECT cf_agg(id) FROM small), far_plain.id)']) q, fetched(q);
-- a filter known to the planner; a variable
SELECT sent, rows BETWEEN 200 AND 600 AS few, expected BETWEEN 200 AND 600 AS few_expected FROM (SELECT cf_agg(id) AS filter FROM small) f, fetched(format('SELECT FROM far WHERE cf_contains(%L::cuckoofilter, id)', filter));
DO $$
DECLARE
	filter cuckoofilter := (SELECT cf_agg(id) FROM foreign_tables.small);
BEGIN
	FOR i IN 1..8 LOOP
		ASSERT (SELECT count(*) FROM foreign_tables.small JOIN foreign_tables.far USING (id) WHERE far.id <@ filter) = 200;
	END LOOP;
END $$;

DROP EXTENSION postgres_fdw CASCADE;
DROP SCHEMA foreign_tables CASCADE;
