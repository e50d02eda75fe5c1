--
-- split: aggregates run by an executor that splits them over servers, as
-- distributed engines do.  Each gives what it gives otherwise, or an error.
--
SET client_min_messages = warning;
CREATE SCHEMA split;
SET search_path = split, public;
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
CREATE FUNCTION entries(f cuckoofilter) RETURNS bytea LANGUAGE sql AS
	$$ SELECT substr(f::bytea, 49, length(f::bytea) - 56) $$;

-- rows of three servers; the values of the first two overlap
CREATE TABLE item AS SELECT s AS server, g AS v, 'item ' || g AS t, cf_hash(g) AS h, cf_hash(g, 7) AS h7
	FROM generate_series(1, 3) s, LATERAL generate_series((ARRAY[1, 15000, 40000])[s], (ARRAY[20000, 30000, 41000])[s]) g;

--
-- cf_hash_agg.  One part has the entries of the whole
--
CREATE TABLE part AS SELECT server, part_of('cf_hash_agg(bigint,float8)', h, 60000::float8) AS two, flat_part_of('cf_hash_agg(bigint,float8)', h, 60000::float8) FILTER (WHERE v % 40 = 0) AS flat,
	part_of('cf_hash_agg(bigint,float8,float8,int,bigint)', h7, 60000::float8, 0.001::float8, 2, 7::bigint) AS five FROM item GROUP BY server;
SELECT server, two::cuckoofilter = cf_hash_agg(h, 60000) AS same, five::cuckoofilter = cf_hash_agg(h7, 60000, 0.001, 2, 7) AS same_five FROM part JOIN item USING (server) GROUP BY server, two, five ORDER BY server;
-- an executor that keeps states flat has the filter read after each row
SELECT server, cf_count(flat::cuckoofilter) BETWEEN count(*) * 0.98 AND count(*) AS counts, bool_and(flat::cuckoofilter @> v) AS holds FROM part JOIN item USING (server) WHERE v % 40 = 0 GROUP BY server, flat ORDER BY server;
-- parts that have nothing in common, and parts that have
SELECT (cf_info(f)).capacity, (cf_info(f)).merged, cf_count(f) BETWEEN 30500 AND 31001 AS counts, NOT EXISTS (SELECT FROM cf_check(f)) AS sound, (SELECT bool_and(f @> v) FROM item) AS holds,
	(SELECT count(*) FROM item WHERE f @> -v) < 600 AS few_others, try(format('SELECT cf_remove(%L, 1)', f)) AS remove
	FROM (SELECT whole_of('cf_hash_agg(bigint,float8)', two) AS f FROM part) s;
SELECT (cf_info(f)).seed, (cf_info(f)).max_copies, (SELECT bool_and(f @> v) FROM item) AS holds FROM (SELECT whole_of('cf_hash_agg(bigint,float8,float8,int,bigint)', five) AS f FROM part) s;
SELECT whole_of('cf_hash_agg(bigint,float8)', two) = part.two::cuckoofilter AS one_part FROM part WHERE server = 3 GROUP BY part.two;
-- a small one has hashes, not entries: nothing is merged unless it is equal
SELECT cf_count(f), (cf_info(f)).merged FROM (SELECT whole_of('cf_hash_agg(bigint,float8)', p) AS f FROM (SELECT part_of('cf_hash_agg(bigint,float8)', cf_hash(g), 500::float8) AS p FROM generate_series(1, 60) g GROUP BY g % 3) s) s;
SELECT cf_count(f), (cf_info(f)).merged FROM (SELECT whole_of('cf_hash_agg(bigint,float8)', p) AS f FROM (SELECT part_of('cf_hash_agg(bigint,float8)', cf_hash(g % 30), 500::float8) AS p FROM generate_series(1, 60) g GROUP BY g % 7) s) s;
-- beyond work_mem, and states of servers without rows or with NULL only
SET work_mem = '64kB';
SELECT part_of('cf_hash_agg(bigint,float8)', h, 60000::float8)::cuckoofilter = cf_hash_agg(h, 60000) AS spilled FROM item;
RESET work_mem;
SELECT part_of('cf_hash_agg(bigint,float8)', h, 60000::float8) IS NULL AS no_rows FROM item WHERE false;
SELECT whole_of('cf_hash_agg(bigint,float8)', p) IS NULL AS nothing FROM (VALUES (NULL::text), (NULL)) s(p);
SELECT cf_count(whole_of('cf_hash_agg(bigint,float8)', p)) FROM (SELECT NULL UNION ALL SELECT two FROM part WHERE server = 3 UNION ALL SELECT NULL) s(p);
SELECT part_of('cf_hash_agg(bigint,float8)', NULL::bigint, 100::float8)::cuckoofilter = cf_new(100) AS only_null FROM item;
-- parts that do not fit, and calls that are wrong
SELECT try($$SELECT whole_of('cf_hash_agg(bigint,float8)', p) FROM (VALUES (cf_new(100)::text), (cf_new(100, seed => 1)::text)) s(p)$$) AS seed,
	try($$SELECT whole_of('cf_hash_agg(bigint,float8)', p) FROM (VALUES (cf_new(100)::text), (cf_new(1000000)::text)) s(p)$$) AS capacity,
	try($$SELECT whole_of('cf_hash_agg(bigint,float8)', p) FROM (VALUES (cf_new(100)::text), ('cf1:AAAA')) s(p)$$) AS damaged;
SELECT try($$SELECT part_of('cf_hash_agg(bigint,float8)', h, 20000::float8) FROM split.item$$) AS "full", try($$SELECT part_of('cf_hash_agg(bigint,float8)', h, NULL::float8) FROM split.item$$) AS no_capacity,
	try($$SELECT part_of('cf_hash_agg(bigint,float8)', h, v::float8) FROM split.item$$) AS varies, try($$SELECT flat_part_of('cf_hash_agg(bigint,float8)', h, (5000 + v)::float8) FROM split.item WHERE v < 9$$) AS varies_flat;

--
-- cf_union_agg and cf_union_all_agg: of filters per key, made beside the rows
--
CREATE TABLE filters AS SELECT server, v % 10 AS k, cf_agg(v, 60000) AS f FROM item GROUP BY 1, 2;
CREATE TABLE unions AS SELECT server, part_of('cf_union_agg(cuckoofilter)', f ORDER BY k) AS u, part_of('cf_union_all_agg(cuckoofilter)', f ORDER BY k) AS a, flat_part_of('cf_union_agg(cuckoofilter)', f ORDER BY k) AS flat FROM filters GROUP BY server;
SELECT server, u::cuckoofilter = cf_union_agg(f ORDER BY k) AS union, a::cuckoofilter = cf_union_all_agg(f ORDER BY k) AS union_all, cf_count(flat::cuckoofilter) = cf_count(cf_union_agg(f)) AS flat FROM unions JOIN filters USING (server) GROUP BY server, u, a, flat ORDER BY server;
SELECT (cf_info(u)).family, (SELECT bool_and(u @> v) FROM item) AS union, (SELECT bool_and(a @> v) FROM item) AS union_all, cf_count(a), cf_count(u) BETWEEN 30500 AND 31001 AS counts
	FROM (SELECT whole_of('cf_union_agg(cuckoofilter)', u) AS u, whole_of('cf_union_all_agg(cuckoofilter)', a) AS a FROM unions) s;

--
-- An executor that combines a state and goes on with rows, or the other way
-- round.  What waits in the state for the one is not taken for the other
--
CREATE TABLE large AS SELECT g AS v, cf_hash(g) AS h FROM generate_series(1, 200000) g;
CREATE TABLE large_part AS SELECT part_of('cf_hash_agg(bigint,float8)', h, 300000::float8) AS p FROM large WHERE v > 100000;
SELECT name, cf_count(f) BETWEEN 195000 AND 200000 AS counts, NOT EXISTS (SELECT FROM cf_check(f)) AS sound, (SELECT bool_and(f @> v) FROM large) AS holds FROM (
	SELECT 'rows, part' AS name, mixed_of('cf_hash_agg(bigint,float8)', p, h, 300000::float8 ORDER BY p IS NOT NULL) AS f FROM (SELECT NULL AS p, h FROM large WHERE v <= 100000 UNION ALL SELECT p, NULL FROM large_part) s
	UNION ALL SELECT 'part, rows', mixed_of('cf_hash_agg(bigint,float8)', p, h, 300000::float8 ORDER BY p IS NULL) FROM (SELECT NULL AS p, h FROM large WHERE v <= 100000 UNION ALL SELECT p, NULL FROM large_part) s
	UNION ALL SELECT 'rows, part, rows that are in it, part', mixed_of('cf_hash_agg(bigint,float8)', p, h, 300000::float8 ORDER BY o) FROM (SELECT 1 AS o, NULL AS p, h FROM large WHERE v <= 100000
		UNION ALL SELECT 3, NULL, h FROM large WHERE v BETWEEN 100001 AND 150000 UNION ALL SELECT o, p, NULL FROM large_part, unnest(ARRAY[2, 4]) o) s) s;

--
-- The functions that take values of any type: the current aggregate has other
-- arguments than theirs, and of types that would give other hashes.  Refused, by
-- row, by part and without rows, whatever the types happen to be
--
SELECT cf_new(1000) AS empty \gset
CREATE AGGREGATE adding(anycompatible) (SFUNC = cf_add, STYPE = cuckoofilter, INITCOND = :'empty', COMBINEFUNC = cf_union_all);
CREATE AGGREGATE adding_all(anycompatiblearray) (SFUNC = cf_add_all, STYPE = cuckoofilter, INITCOND = :'empty', COMBINEFUNC = cf_union_all);
SELECT a, try(format('SELECT count(f) FROM (SELECT part_of(%s) AS f FROM (VALUES (1, ''a''), (2, ''b'')) s(v, t)) s', a)) FROM unnest(ARRAY[
	$$'adding(anycompatible)', t$$, $$'adding(anycompatible)', v$$, $$'adding(anycompatible)', NULL::oid$$, $$'adding_all(anycompatiblearray)', ARRAY[t]$$, $$'cf_agg(anycompatible)', t$$, $$'cf_agg(anycompatible)', v::oid$$,
	$$'cf_agg(anycompatible,float8)', t, 100::float8$$, $$'cf_bag_agg(anycompatible)', t$$, $$'cf_agg(anycompatible)', NULL::text$$]) a;
-- nor does the expression of the executor's own call say what the types are
SELECT a, try(format('SELECT count(f) FROM (SELECT lent_part_of(%s) AS f FROM (VALUES (1, ''a''), (2, ''b'')) s(v, t)) s', a)) FROM unnest(ARRAY[
	$$'adding(anycompatible)', t$$, $$'adding_all(anycompatiblearray)', ARRAY[t]$$, $$'cf_agg(anycompatible)', t$$, $$'cf_hash_agg(bigint,float8)', cf_hash(t), 9::float8$$]) a;
DO $$
BEGIN
	PERFORM part_of('cf_agg(anycompatible)', 1);
EXCEPTION WHEN indeterminate_datatype THEN
	DECLARE
		hint text;
	BEGIN
		GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
		RAISE WARNING '%', hint;
	END;
END $$;
-- the parameters of a group without rows are the arguments of nobody
SELECT try($$SELECT whole_of('cf_agg(anycompatible,float8)', NULL)$$) AS no_part, try($$SELECT whole_of('cf_agg(anycompatible)', NULL) FROM (VALUES (1.5, 'x')) s$$) AS null_part,
	(SELECT mixed_of('cf_agg(anycompatible,float8)', NULL, NULL::int, 100::float8) FROM item WHERE v < 3) = cf_new(100) AS null_values;

DROP SCHEMA split CASCADE;
