--
-- cost.sql
--		What the functions cost, in comparisons of two integers: the unit of
--		COST in the extension's script and of the costs in cuckoo_support.c.
--
-- For a server of one's own on Linux, as superuser, in a database that has the
-- extension:  psql -Xq -f bench/cost.sql
--
-- Counts the time the backend was given a CPU, not the time that passed, so
-- that other load disturbs it less, and prints the best of five runs, less a
-- run that evaluates nothing.
--
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE SCHEMA cost_bench;
SET search_path = cost_bench, public;

CREATE FUNCTION cpu_seconds() RETURNS float8 LANGUAGE sql AS $$
	SELECT split_part(pg_read_file('/proc/self/schedstat', 0, 200), ' ', 1)::float8 / 1e9
$$;
CREATE FUNCTION best(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	best float8 := 'infinity';
	start float8;
BEGIN
	FOR run IN 1..5 LOOP
		start := cpu_seconds();
		EXECUTE query;
		best := least(best, cpu_seconds() - start);
	END LOOP;
	RETURN best;
END $$;

-- 1 million rows for what is cheap, fewer for what is not: a run has to take
-- far longer than the few milliseconds in which the time is counted
CREATE UNLOGGED TABLE row AS SELECT i, i::bigint AS b, i::text AS t, i::numeric AS n, md5(i::text)::uuid AS u, jsonb_build_object('a', i) AS j,
	ARRAY[i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9] AS a, i % 1000 AS g FROM generate_series(1, 1000000) i;
CREATE UNLOGGED TABLE "some" AS SELECT * FROM row WHERE i <= 50000;
CREATE UNLOGGED TABLE few AS SELECT * FROM row WHERE i <= 500;
CREATE UNLOGGED TABLE filter (kind text, n int, f cuckoofilter);
INSERT INTO filter SELECT 'i', size, (SELECT cf_agg(i) FROM row WHERE i <= size) FROM unnest('{100,1000,10000,100000,1000000}'::int[]) size;
INSERT INTO filter SELECT 'i', 10000000, cf_agg(i) FROM generate_series(1, 10000000) i;
INSERT INTO filter SELECT 't', 10000, cf_agg(t) FROM row WHERE i <= 10000;
INSERT INTO filter SELECT 'n', 10000, cf_agg(n) FROM row WHERE i <= 10000;
INSERT INTO filter SELECT 'u', 10000, cf_agg(u) FROM row WHERE i <= 10000;
INSERT INTO filter SELECT 'j', 10000, cf_agg(j) FROM row WHERE i <= 10000;
-- stored ones
CREATE UNLOGGED TABLE inline AS SELECT i, f FROM row, filter WHERE kind = 'i' AND filter.n = 100 AND i <= 100000;
CREATE UNLOGGED TABLE outside AS SELECT i, f FROM row, filter WHERE kind = 'i' AND filter.n = 100000 AND i <= 5000;
VACUUM ANALYZE row, "some", few, inline, outside;

CREATE TABLE cost (id serial, what text, values int, of text, comparisons float8);
-- {F} stands for a constant filter of that kind and size, {V} for one that the
-- planner cannot evaluate
CREATE FUNCTION measure(what text, clause text, source text DEFAULT 'row', kind text DEFAULT 'i', n int DEFAULT 10000) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	literal text := coalesce((SELECT quote_literal(f::text) || '::cuckoofilter' FROM cost_bench.filter f WHERE f.kind = measure.kind AND f.n = measure.n), '');
	nrows float8 := (SELECT reltuples FROM pg_class WHERE oid = source::regclass);
	unit float8 := (SELECT c.comparisons FROM cost_bench.cost c WHERE c.what = 'unit');
BEGIN
	INSERT INTO cost_bench.cost (what, values, of, comparisons)
	SELECT measure.what, n, kind, (best(format('SELECT count(*) FROM %s WHERE ', source) ||
		replace(replace(clause, '{V}', 'CASE WHEN i > 0 THEN {F} END'), '{F}', literal)) - best(format('SELECT count(*) FROM %s WHERE i > 0', source))) / nrows / coalesce(unit, 1) + CASE WHEN unit IS NULL THEN 0 ELSE 1 END;
END $$;

-- the unit: ten more comparisons, in seconds
INSERT INTO cost (what, comparisons) SELECT 'unit', (best('SELECT count(*) FROM row WHERE i <> -1 AND i <> -2 AND i <> -3 AND i <> -4 AND i <> -5 AND i <> -6 AND i <> -7 AND i <> -8 AND i <> -9 AND i <> -10')
	- best('SELECT count(*) FROM row')) / 10 / 1e6;

SELECT measure('cf_contains', 'cf_contains({F}, ' || kind || ')', 'row', kind, n) FROM filter ORDER BY kind, n
\g (format=unaligned) /dev/null
SELECT measure(w, c) FROM (VALUES ('cf_contains_hash', 'cf_contains_hash({F}, b)'), ('cf_contains_any of 1', 'cf_contains_any({F}, ARRAY[i])'), ('cf_contains_any of 10', 'cf_contains_any({F}, a)'),
	('cf_contains_all of 10', 'cf_contains_all({F}, a)'), ('cf_contains_each of 10', 'cf_contains_each({F}, a) IS NULL'), ('cf_hash of int', 'cf_hash(i) IS NULL'), ('cf_hash of text', 'cf_hash(t) IS NULL'),
	('cf_hash of numeric', 'cf_hash(n) IS NULL'), ('cf_hash of array', 'cf_hash(a) IS NULL'), ('cf_count of value', 'cf_count({F}, i) < 0'), ('cf_new', 'cf_new(i) IS NULL')) x(w, c)
\g (format=unaligned) /dev/null
SELECT measure(w, c, '"some"') FROM (VALUES ('cf_count', 'cf_count({V}) < 0'), ('cf_info', 'cf_info({V}) IS NULL'), ('cf_add', 'cf_add({F}, i) IS NULL'), ('cf_add_all of 10', 'cf_add_all({F}, a) IS NULL'), ('cf_remove', 'cf_remove({F}, i) IS NULL'),
	('cf_remove_all of 10', 'cf_remove_all({F}, a) IS NULL'), ('cf_cmp', 'cf_cmp({F}, {V}) > 0'), ('cuckoofilter_hash', 'cuckoofilter_hash({V}) IS NULL'), ('::bytea', '{V}::bytea IS NULL')) x(w, c)
\g (format=unaligned) /dev/null
SELECT measure(w, c, 'few') FROM (VALUES ('cf_union', 'cf_union({F}, {V}) IS NULL'), ('cf_intersection', 'cf_intersection({F}, {V}) IS NULL'), ('cf_overlap', 'cf_overlap({F}, {V}) IS NULL'),
	('cf_resize', 'cf_resize({V}, NULL, 0.0156) IS NULL'), ('cf_check', 'EXISTS (SELECT cf_check({V}))'), ('::cuckoofilter', '({V}::bytea)::cuckoofilter IS NULL')) x(w, c)
\g (format=unaligned) /dev/null
-- stored filters, each row another one: in line; out of line, read in slices
-- and read whole
SET cuckoo_filter.cache_size = 0;
SELECT measure('stored in line', 'cf_contains(f, 5)', 'inline', n => NULL), measure('stored out of line', 'cf_contains(f, 5)', 'outside', n => 100000)
\g (format=unaligned) /dev/null
SET cuckoo_filter.enable_slices = off;
SELECT measure('stored, read whole', 'cf_contains(f, 5)', 'outside', n => 100000)
\g (format=unaligned) /dev/null
RESET cuckoo_filter.enable_slices;
RESET cuckoo_filter.cache_size;
-- aggregates per row, the final function included
INSERT INTO cost (what, of, comparisons) SELECT a || '(' || v || ')' || g, v, (best(format('SELECT %s(%s) FROM row %s', a, v, g)) - best(format('SELECT count(%s) FROM row %s', v, g))) / 1e6 / (SELECT comparisons FROM cost WHERE what = 'unit')
	FROM unnest('{cf_agg,cf_bag_agg}'::text[]) a, unnest('{i,t}'::text[]) v, unnest('{"","GROUP BY g"}'::text[]) g;

SELECT what, values, of, CASE WHEN what = 'unit' THEN round((comparisons * 1e9)::numeric, 2) || ' ns' ELSE round(comparisons::numeric, CASE WHEN comparisons < 10 THEN 1 ELSE 0 END)::text END AS comparisons FROM cost ORDER BY id;

DROP SCHEMA cost_bench CASCADE;
