--
-- stored: what probes read of filters in tables.  In slices, from the cache or
-- whole, the answers are those of the filter in memory; only the buffers differ.
--
SET client_min_messages = warning;
CREATE SCHEMA stored;
SET search_path = stored, public;
SET max_parallel_workers_per_gather = 0;

-- lists and tables, in line and out of line, one that compresses, an empty one
CREATE FUNCTION make(n int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT public.cf_add_all(public.cf_new(greatest(n, 30)), ARRAY(SELECT pg_catalog.generate_series(1, n)))';
CREATE TABLE filters (n int PRIMARY KEY, c "char" DEFAULT 'x', f cuckoofilter);
INSERT INTO filters SELECT n, 'x', make(n) FROM unnest('{0,1,9,20,1000,2000,8000,20000,100000,200000}'::int[]) n;
INSERT INTO filters SELECT -1, 'x', cf_add_all(cf_new(23000, 1e-9), ARRAY(SELECT generate_series(1, 23000)));
INSERT INTO filters SELECT -2, 'x', cf_remove_all(f, ARRAY(SELECT generate_series(501, 20000))) FROM filters WHERE n = 20000;
-- a list that is out of line, since its hashes collide in any table
CREATE FUNCTION long_list(n int) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f public.cuckoofilter := public.cf_new(1e6, 1e-7);
BEGIN
	FOR i IN 1..n LOOP
		f := public.cf_add_hash(f, (x'1234abcd'::bigint << 32) | (i::bigint << 16) | 85);
	END LOOP;
	RETURN f;
END $$;
INSERT INTO filters SELECT -3, 'x', long_list(2000);
ALTER TABLE filters ALTER f SET STORAGE extended;
INSERT INTO filters SELECT -4, 'x', f FROM filters WHERE n = -2;
INSERT INTO filters SELECT -5, 'x', cf_remove_all(f, ARRAY(SELECT generate_series(501, 200000))) FROM filters WHERE n = 200000;
ALTER TABLE filters ALTER f SET STORAGE main;
INSERT INTO filters SELECT 3, 'x', cf_remove_all(make(2500), ARRAY(SELECT generate_series(4, 2500)));
ALTER TABLE filters ALTER f SET STORAGE external;
VACUUM ANALYZE filters;
SELECT n, (cf_info(f)).form, pg_column_size(f) > 7800 AS out_of_line, pg_column_compression(f) IS NOT NULL AS compressed FROM filters ORDER BY n;

--
-- The same answers, however it is read
--
CREATE FUNCTION answers(f cuckoofilter) RETURNS text LANGUAGE sql AS $$
	SELECT md5(string_agg(concat(cf_contains(f, v), cf_contained(v, f), cf_contains_hash(f, cf_hash(v)), cf_count(f, v), cf_contains_hash(f, v)), '' ORDER BY v)) ||
		md5(concat(cf_count(f), cf_fpr(f), cf_info(f), cf_contains_any(f, ARRAY[-5, -6, -7]), cf_contains_all(f, ARRAY[1, 2, 3]), cf_contains_each(f, ARRAY(SELECT generate_series(-10, 10))),
			cf_contains_each(f, ARRAY(SELECT generate_series(-1000, 1000))), cf_contains_any(f, '{}'::int[]), cf_contains_all(f, ARRAY[NULL]::int[])))
	FROM (SELECT i * 37 % 210001 - 5000 AS v FROM generate_series(1, 1500) i UNION SELECT generate_series(-5, 25)) v
$$;
-- in memory, flat: what comes from a text is never toasted
CREATE FUNCTION answers_in_memory(f text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE flat public.cuckoofilter := f;
BEGIN
	RETURN stored.answers(flat);
END $$;
CREATE TABLE want AS SELECT n, answers_in_memory(f::text) AS answers FROM filters;
CREATE FUNCTION wrong() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM stored.filters JOIN stored.want USING (n) WHERE stored.answers(f) <> answers';
CREATE TABLE settings (cache_size text, slices text);
INSERT INTO settings VALUES ('64MB', 'on'), ('0', 'on'), ('100kB', 'on'), ('1kB', 'on'), ('64MB', 'off'), ('0', 'off');
CREATE FUNCTION wrong(cache_size text, slices text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true), set_config('cuckoo_filter.enable_slices', slices, true);
	RETURN stored.wrong();
END $$;
SELECT *, wrong(cache_size, slices) FROM settings;
-- all filters in turn at one call site, each many times; the filters slowest and fastest
CREATE FUNCTION crossed(cache_size text, slices text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true), set_config('cuckoo_filter.enable_slices', slices, true);
	RETURN (SELECT concat(count(*), ' ', count(*) FILTER (WHERE held), ' ', sum(copies)) FROM (SELECT cf_contains(f, v) AS held, cf_count(f, v) AS copies FROM stored.filters, generate_series(-100, 500) v OFFSET 0) s)
		|| (SELECT concat(' ', count(*) FILTER (WHERE held)) FROM (SELECT v, (SELECT count(*) > 3 FROM stored.filters WHERE cf_contains(f, v)) AS held FROM generate_series(-100, 500) v OFFSET 0) s);
END $$;
SELECT crossed('64MB', 'on') = crossed('0', 'off') AS large, crossed('0', 'on') = crossed('0', 'off') AS none, crossed('200kB', 'on') = crossed('0', 'off') AS small, crossed('64MB', 'off') = crossed('0', 'off') AS whole;
-- through a sort, a tuplestore, a composite type and variables
SELECT count(*) FROM (SELECT n, f FROM filters ORDER BY f OFFSET 0) s JOIN want USING (n) WHERE answers(f) <> answers;
SELECT count(*) FROM (SELECT r FROM filters r OFFSET 0) s JOIN want w ON w.n = (r).n WHERE answers((r).f) <> answers;
DO $$
DECLARE
	row record;
	f public.cuckoofilter;
BEGIN
	FOR row IN SELECT * FROM stored.filters JOIN stored.want USING (n) LOOP
		f := row.f;
		IF stored.answers(f) <> row.answers OR stored.answers(row.f) <> row.answers THEN
			RAISE 'wrong answers of %', row.n;
		END IF;
	END LOOP;
END $$;
-- an expanded object, as cf_union_agg() gives it
SELECT cf_contains(u, 1) AS one, 30000 <@ u AS last, cf_contains(u, 30001) AS beyond, cf_count(u), cf_count(u, 7) AS sevens, cf_contains_each(u, ARRAY[1, NULL, 30000, -1]) AS each, cf_contains_hash(u, cf_hash(5)) AS hash,
	cf_fpr(u) < 1e-8 AS fpr, (cf_info(u)).entries FROM (SELECT cf_union_agg(f) AS u FROM (SELECT cf_add_all(cf_new(30000, 1e-9), ARRAY(SELECT generate_series(i * 10000 - 9999, i * 10000))) AS f FROM generate_series(1, 3) i OFFSET 0) f OFFSET 0) u;
-- out of line and compressed
CREATE TABLE squeezed (f cuckoofilter);
ALTER TABLE squeezed ALTER f SET STORAGE extended;
INSERT INTO squeezed SELECT cf_remove_all(f, ARRAY(SELECT generate_series(5001, 200000))) FROM filters WHERE n = 200000;
SELECT pg_column_compression(f) IS NOT NULL AS compressed, pg_column_size(f) > 8200 AS out_of_line, answers(f) = answers_in_memory(f::text) AS same FROM squeezed;

--
-- Buffers
--
CREATE FUNCTION buffers(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	-- once before, to have the catalog read
	EXECUTE query;
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
END $$;
CREATE TABLE probes (probe text, at_most int);
INSERT INTO probes VALUES ('cf_contains(f, -7)', 30), ('cf_contains(f, 7)', 30), ('f @> -7', 30), ('-7 <@ f', 30), ('cf_contains_hash(f, 7)', 30), ('cf_count(f, 7)', 30),
	('cf_count(f)', 15), ('cf_fpr(f)', 15), ('cf_info(f)', 15), ('cf_contains_any(f, ARRAY[-1, -2])', 40), ('cf_contains_each(f, ARRAY[1, 2])', 40), ('cf_contains_all(f, ARRAY[1, -2])', 40);
SELECT probe FROM probes WHERE buffers('SELECT ' || probe || ' FROM stored.filters WHERE n = 200000') > at_most;
-- 200,000 values are 120 chunks, four to a page
SET cuckoo_filter.enable_slices = off;
SELECT count(*) FROM probes WHERE probe ~ 'f, |@' AND buffers('SELECT ' || probe || ' FROM stored.filters WHERE n = 200000') < 31;
RESET cuckoo_filter.enable_slices;
-- many elements: not more than twice the whole filter
SELECT buffers('SELECT cf_contains_each(f, ARRAY(SELECT generate_series(1, 10000))) FROM stored.filters WHERE n = 200000') < 500 AS whole;
-- a nested loop reads the filter once, or as often as it has rows if it may not be kept
CREATE TABLE vals AS SELECT generate_series(1, 5000) AS v;
CREATE FUNCTION loop_buffers(cache_size text, n int[]) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true);
	RETURN stored.buffers(format('SELECT count(*) FROM stored.vals, stored.filters WHERE n = ANY(%L) AND cf_contains(f, v)', n));
END $$;
SELECT loop_buffers('64MB', '{200000}') < 2000 AS kept, loop_buffers('0', '{200000}') > 5000 AS off, loop_buffers('100kB', '{200000}') > 5000 AS too_large;
SELECT loop_buffers('64MB', '{200000,100000,20000,-1}') < 8000 AS several_kept, loop_buffers('64MB', '{-5}') < 1000 AS compressed_kept;

--
-- Memory: within the bound while the query runs, and none of it afterwards
--
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT coalesce(sum(total_bytes), 0)::bigint FROM pg_backend_memory_contexts WHERE name ~ ''^(kept cuckoo filter|cuckoo filter cache)''';
CREATE FUNCTION kept_during(cache_size text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true);
	WITH p AS MATERIALIZED (SELECT count(*) AS n FROM stored.filters, stored.vals WHERE cf_contains(f, v))
		SELECT CASE WHEN n > 0 THEN stored.kept() END INTO result FROM p;
	RETURN result;
END $$;
SELECT kept_during('64MB') BETWEEN 400000 AND 1500000 AS large, kept_during('200kB') BETWEEN 1 AND 400000 AS small, kept_during('0') = 0 AS none;
SELECT kept() AS afterwards;
-- nothing is kept of filters that are asked once each, though their identifiers follow one another
CREATE TABLE many AS SELECT (SELECT cf_agg(i * 10000 + j) FROM generate_series(1, 3000) j) AS f FROM generate_series(1, 100) i;
WITH p AS MATERIALIZED (SELECT count(*) AS n FROM many WHERE cf_contains(f, 10001))
	SELECT n > 0 AS found, CASE WHEN n > 0 THEN kept() END AS kept FROM p;
DROP TABLE many;

--
-- Updates while a query runs: another value comes under another pointer
--
CREATE TABLE changing (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO changing SELECT 1, make(50000);
CREATE FUNCTION added(v int) RETURNS cuckoofilter LANGUAGE sql VOLATILE AS 'UPDATE stored.changing SET f = cf_add(f, -v) WHERE id = 1 RETURNING f';
CREATE FUNCTION removed(v int) RETURNS cuckoofilter LANGUAGE sql VOLATILE AS 'UPDATE stored.changing SET f = cf_remove(f, -v) WHERE id = 1 RETURNING f';
SELECT g, cf_count(added(g), -g) - cf_count(removed(g), -g) AS difference, cf_contains(added(g), -g) AS there FROM generate_series(1, 5) g;
SELECT cf_contains_all(f, ARRAY[-1, -2, -3, -4, -5]) AND cf_count(f) = 50005 FROM changing;
-- in a loop, each time probed often enough to be kept; savepoints rolled back
CREATE FUNCTION in_loop() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	row stored.changing;
	answer text := '';
BEGIN
	FOR i IN 1..4 LOOP
		SELECT * INTO row FROM stored.changing WHERE id = 1;
		answer := answer || cf_count(row.f) || ' ';
		BEGIN
			UPDATE stored.changing SET f = cf_add(cf_add(f, -100), -100) WHERE id = 1;
			FOR j IN 1..100 LOOP
				SELECT * INTO row FROM stored.changing WHERE id = 1;
				IF cf_count(row.f, -100) < 2 OR NOT row.f @> -100 THEN
					RAISE 'lost';
				END IF;
			END LOOP;
			answer := answer || cf_count(row.f) || ' ';
			IF i < 4 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			SELECT * INTO row FROM stored.changing WHERE id = 1;
			FOR j IN 1..100 LOOP
				IF cf_count(row.f) <> 50005 THEN
					RAISE 'not rolled back';
				END IF;
			END LOOP;
		END;
	END LOOP;
	RETURN answer;
END $$;
SELECT in_loop();
-- savepoints, and a cursor that stays open over an update
BEGIN;
DECLARE c CURSOR FOR SELECT cf_count(f), cf_contains_hash(f, cf_hash(-200)) FROM changing, generate_series(1, 3);
DECLARE held CURSOR WITH HOLD FOR SELECT n, f FROM filters ORDER BY n;
FETCH c;
SAVEPOINT s;
UPDATE changing SET f = cf_add_all(f, ARRAY[-200, -201]);
FETCH c;
SELECT cf_count(f), cf_contains_hash(f, cf_hash(-200)) FROM changing;
ROLLBACK TO s;
SELECT cf_count(f) FROM changing;
FETCH c;
COMMIT;
CREATE FUNCTION from_held() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'held';
	row record;
	nwrong bigint := 0;
BEGIN
	LOOP
		FETCH c INTO row;
		EXIT WHEN NOT FOUND;
		nwrong := nwrong + (stored.answers(row.f) <> (SELECT answers FROM stored.want WHERE n = row.n))::int;
	END LOOP;
	RETURN nwrong;
END $$;
UPDATE filters SET f = cf_add(f, -12345) WHERE n > 0;
SELECT from_held();
CLOSE held;
SELECT kept() AS afterwards;

--
-- Constants and parameters: PL/pgSQL evaluates one expression with many values
--
CREATE FUNCTION parameters() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f public.cuckoofilter := public.cf_new(1000, 1e-9);
	g public.cuckoofilter := public.cf_new(1000, 1e-9);
	h public.cuckoofilter := public.cf_new(1000, 1e-9);
	num numeric;
	word text;
	numbers int[] := '{0,0}';
	nwrong int := 0;
	expected int;
BEGIN
	FOR i IN 1..200 LOOP
		num := i + 0.5;
		word := 'word ' || i;
		numbers[1] := i;
		nwrong := nwrong + (cf_contains(f, num) OR cf_contains(g, word) OR cf_contains(h, numbers))::int;
		f := public.cf_add(f, num);
		g := public.cf_add(g, word);
		h := public.cf_add(h, numbers);
		nwrong := nwrong + (NOT (cf_contains(f, num) AND cf_contains(g, word) AND cf_contains(h, numbers)))::int;
		nwrong := nwrong + (NOT (cf_contains(f, 1.5) AND g @> 'word 1'::text AND '{1,0}'::int[] <@ h))::int;
		-- of the same length, with the same header
		f := public.cf_add(public.cf_remove(f, num), -num);
		nwrong := nwrong + (cf_contains(f, num) OR NOT cf_contains(f, -num))::int;
		f := public.cf_add(public.cf_remove(f, -num), num);
		expected := i;
		nwrong := nwrong + (public.cf_count(f) <> expected)::int;
	END LOOP;
	RETURN nwrong;
END $$;
SELECT parameters();
PREPARE probe(cuckoofilter, numeric) AS SELECT cf_contains($1, $2), count(*) FILTER (WHERE cf_contains($1, v)) FROM generate_series(1, 10) v;
SET plan_cache_mode = force_generic_plan;
EXECUTE probe(cf_add(cf_new(10), 1), 1.0);
EXECUTE probe(cf_add(cf_new(10), 2), 1.0);
EXECUTE probe(cf_add_all(cf_new(10), ARRAY[2, 3]), 3);
RESET plan_cache_mode;
-- an InitPlan gives another filter for each row of the outer query
SELECT v, (SELECT count(*) FROM generate_series(1, 100) i WHERE cf_contains((SELECT cf_add(cf_new(100, 1e-9), v)), i)) AS held FROM (VALUES (1), (50), (101)) t(v);
SELECT n, (SELECT count(*) FROM vals WHERE cf_contains((SELECT f FROM filters i WHERE i.n = o.n), v)) >= least(n, 5000) AS held FROM filters o WHERE n > 0 ORDER BY n;
-- filters of another seed in turn
SELECT bool_and(cf_contains(f, 1.5)) FROM (SELECT cf_add(cf_new(100, 0.01, 4, i), 1.5) AS f FROM generate_series(1, 100) i OFFSET 0) s;

--
-- Errors
--
\set VERBOSITY sqlstate
SET cuckoo_filter.cache_size = -1;
SET cuckoo_filter.nonsense = 1;
SELECT cf_contains(f, 'text'::text) FROM filters WHERE n = 200000;
SELECT cf_contains_any(f, ARRAY['text']) FROM filters WHERE n = 200000;
-- a damaged header, out of line; what a bytea becomes without being checked
CREATE FUNCTION unchecked(bytea) RETURNS cuckoofilter LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE TABLE damaged (what text, f cuckoofilter);
CREATE TABLE image AS SELECT substr(b, 1, length(b) - 8) AS b FROM (SELECT f::bytea AS b FROM filters WHERE n = 200000) s;
INSERT INTO damaged SELECT 'sound', unchecked(b) FROM image;
INSERT INTO damaged SELECT 'columns', unchecked(set_byte(b, 4, 1)) FROM image;
INSERT INTO damaged SELECT 'version', unchecked(set_byte(b, 0, 9)) FROM image;
INSERT INTO damaged SELECT 'length', unchecked(b || '\x00') FROM image;
CREATE FUNCTION outcome(what text, probe text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT %s FROM stored.damaged, generate_series(1, 2) WHERE what = %L LIMIT 1 OFFSET 1', probe, what) INTO result;
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate;
END $$;
SELECT what, string_agg(DISTINCT outcome(what, probe), ', ') AS outcome FROM damaged, probes GROUP BY what ORDER BY what;
SET cuckoo_filter.enable_slices = off;
SELECT what, string_agg(DISTINCT outcome(what, probe), ', ') AS outcome FROM damaged, probes GROUP BY what ORDER BY what;
RESET cuckoo_filter.enable_slices;
SELECT kept() AS afterwards;
\set VERBOSITY default

--
-- A filter that was thrown out of the cache by another call site is not the one
-- that a call site remembers, whatever has its memory now
--
CREATE TABLE turns (id int PRIMARY KEY, f cuckoofilter);
INSERT INTO turns SELECT id, f FROM filters, generate_series(1, 4) id WHERE n = 200000;
SET cuckoo_filter.cache_size = '500kB';
SET cuckoo_filter.enable_slices = off;
SELECT count(*) AS calls, count(*) FILTER (WHERE NOT held) AS lost, min(v) FILTER (WHERE NOT held) AS first_lost, sum(others) AS others FROM (
	SELECT v, CASE WHEN v % 4 = 0 THEN cf_contains(a.f, v) ELSE cf_contains(CASE v % 4 WHEN 1 THEN b.f WHEN 2 THEN c.f ELSE d.f END, v) END AS held,
		length(repeat(chr(65 + v % 26), 200000 + v % 4 * 30000)) > 0 AND length(repeat('x', 270000)) > 0 AS filled, (SELECT count(*) FROM generate_series(1, 2)) AS others
	FROM turns a, turns b, turns c, turns d, generate_series(1, 1000) v WHERE a.id = 1 AND b.id = 2 AND c.id = 3 AND d.id = 4 OFFSET 0) s WHERE filled;
-- What is probed all the time stays while others that do not fit beside each
-- other take turns: the least recently used one goes, not the oldest
CREATE FUNCTION turn_buffers(cache_size text, hot text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('cuckoo_filter.cache_size', cache_size, true);
	RETURN stored.buffers(format('SELECT count(*) FROM stored.turns a, stored.turns b, stored.turns c, generate_series(1, 400) v
		WHERE a.id = 1 AND b.id = 2 AND c.id = 3
			AND CASE WHEN v %% 2 = 0 THEN %s ELSE cf_contains(CASE v %% 4 WHEN 1 THEN b.f ELSE c.f END, v) END', hot));
END $$;
SELECT pg_column_size(f) BETWEEN 200000 AND 270000 AS two_fit_into_550, turn_buffers('550kB', 'cf_contains(a.f, v)') < 1.2 * turn_buffers('300kB', 'true') AS stays FROM turns WHERE id = 1;
RESET cuckoo_filter.cache_size;
RESET cuckoo_filter.enable_slices;

DROP SCHEMA stored CASCADE;
