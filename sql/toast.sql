--
-- toast: filters in tables, however the server stores them: in line with a
-- short or a long header, out of line, compressed; in composite types, arrays
-- and domains; over updates, rollback and VACUUM.
--
SET client_min_messages = warning;
CREATE SCHEMA toast;
SET search_path = toast, public;

-- filters of 48 bytes to 190 kB, and their values as text to compare with
CREATE FUNCTION make(n int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT public.cf_add_all(public.cf_new(greatest(n, 100)), ARRAY(SELECT pg_catalog.generate_series(1, n)))';
CREATE TABLE want AS SELECT n, make(n)::text AS t FROM unnest('{0,1,3,9,10,11,20,100,1000,2000,2500,8000,100000}'::int[]) n;
CREATE FUNCTION sound(f cuckoofilter, n int) RETURNS bool LANGUAGE sql AS $$
	SELECT f::text = (SELECT t FROM toast.want w WHERE w.n = sound.n) AND NOT EXISTS (SELECT public.cf_check(f)) AND f = f::text::public.cuckoofilter
		AND public.cf_contains_all(f, ARRAY(SELECT pg_catalog.generate_series(1, n))) AND public.cf_count(f) = (public.cf_info(f)).entries AND (n = 0 OR f @> n) AND public.cf_contains_hash(f, public.cf_hash(n)) = (n > 0)
$$;
-- the attribute's storage changes where a value goes; 1 byte first, so that
-- one with a short header is at an odd address
CREATE TABLE stored (n int, c "char" DEFAULT 'x', f cuckoofilter);
CREATE FUNCTION fill(strategy text) RETURNS TABLE (n int, form text, sound bool) LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE toast.stored;
	EXECUTE 'ALTER TABLE toast.stored ALTER f SET STORAGE ' || strategy;
	INSERT INTO toast.stored SELECT w.n, 'x', w.t::cuckoofilter FROM toast.want w WHERE strategy <> 'plain' OR w.n <= 5000;
	RETURN QUERY SELECT s.n, concat_ws(' ', CASE WHEN pg_column_size(f) = (cf_info(f)).bytes - 3 THEN 'short header' END, CASE WHEN pg_column_compression(f) IS NOT NULL THEN 'compressed' END,
		CASE WHEN pg_column_size(f) = (cf_info(f)).bytes THEN 'long header' END, CASE WHEN pg_column_size(f) = (cf_info(f)).bytes - 4 THEN 'out of line' END), sound(f, s.n)
		FROM toast.stored s ORDER BY s.n;
END $$;

--
-- In line and out of line, in every storage a column may have
--
SELECT * FROM fill('external');
SELECT count(*), bool_and(sound) AS sound, count(*) FILTER (WHERE form LIKE '%compressed%') AS compressed FROM fill('extended');
SELECT count(*), bool_and(sound) AS sound FROM fill('main');
SELECT count(*), bool_and(sound) AS sound, count(*) FILTER (WHERE form LIKE '%compressed%') AS compressed FROM fill('plain');
-- one that does compress: nearly empty, and large
ALTER TABLE stored ALTER f SET STORAGE extended;
CREATE TABLE sparse AS SELECT cf_remove_all(make(20000), ARRAY(SELECT generate_series(1, 19900))) AS f;
INSERT INTO stored SELECT -1, 'x', f FROM sparse;
ALTER TABLE stored ALTER f SET STORAGE main;
INSERT INTO stored SELECT -2, 'x', f FROM sparse;
SELECT n, pg_column_compression(s.f) IS NOT NULL AS compressed, s.f = p.f AS same, cf_contains_all(s.f, ARRAY(SELECT generate_series(19901, 20000))) AS holds,
	cf_contains(cf_add(s.f, 7), 7) AS add, cf_count(cf_remove(s.f, 20000)) = cf_count(p.f) - 1 AS remove FROM stored s, sparse p WHERE n < 0 ORDER BY n DESC;
ALTER TABLE stored ALTER f SET STORAGE external;

--
-- Every function on values as they are stored
--
SELECT count(*) FROM fill('external');
SELECT count(*), bool_and(cf_contains(cf_add(f, n + 1), n + 1)) AS add, bool_and(n = 0 OR cf_count(cf_remove(f, n)) = cf_count(f) - 1) AS remove,
	bool_and(cf_contains_all(cf_add_all(f, ARRAY[n + 1, n + 2]), ARRAY[n + 2, n + 1])) AS add_all, bool_and(cf_count(cf_remove_all(f, ARRAY[1, 2, 3])) = cf_count(f) - least(n, 3)) AS remove_all,
	bool_and(cf_contains_hash(cf_add_hash(f, 99), 99)) AS add_hash, bool_and(cf_remove_hash(cf_add_hash(f, -1), -1) @> 1 OR n = 0) AS remove_hash,
	bool_and(cf_contains_any(f, ARRAY[-1, n]) OR n = 0) AS any, bool_and(cf_contains_each(f, ARRAY[n]) = ARRAY[n > 0]) AS each, bool_and(n <@ f = (n > 0)) AS mirror, bool_and(cf_count(f, n) >= sign(n)) AS count,
	bool_and(cf_fpr(f) <= (cf_info(f)).promised_fpr) AS fpr, bool_and(cf_contains_all(cf_resize(f, greatest(n, 100) + 1), ARRAY(SELECT generate_series(1, n)))) AS resize,
	bool_and(f::bytea::cuckoofilter = f AND cf_cmp(f, f) = 0 AND cuckoofilter_hash(f) = cuckoofilter_hash(f::text::cuckoofilter)) AS compare FROM stored WHERE n <> 100000;
-- comparing what is stored in two ways
CREATE TABLE other (f cuckoofilter);
ALTER TABLE other ALTER f SET STORAGE plain;
INSERT INTO other SELECT f FROM stored WHERE n <= 5000;
SELECT count(*) FROM stored s JOIN other o ON s.f = o.f;
SELECT count(DISTINCT f) FROM (SELECT f FROM stored WHERE n <= 5000 UNION ALL SELECT f FROM other) s;

--
-- Updates: of another column, to itself, by what changes nothing; the value
-- stays, and so does its storage
--
CREATE TABLE changes AS SELECT n, 0 AS k, f FROM stored;
UPDATE changes SET k = 1;
UPDATE changes SET f = f;
UPDATE changes SET f = cf_add(f, NULL::int), k = 2;
UPDATE changes SET f = cf_remove(f, -5) WHERE NOT f @> -5;
UPDATE changes SET f = cf_add_all(f, '{}'::int[]);
SELECT count(*), bool_and(sound(f, n)) AS sound, min(k) FROM changes;
-- a value that is changed for good
UPDATE changes SET f = cf_add(f, -7);
SELECT count(*), bool_and(f @> -7) AS new, bool_and(cf_contains_all(f, ARRAY(SELECT generate_series(1, n)))) AS old FROM changes;
UPDATE changes SET f = cf_remove(f, -7);
SELECT count(*), bool_and(cf_contains_all(f, ARRAY(SELECT generate_series(1, n)))) AS old, bool_and(cf_count(f) = (SELECT cf_count(t::cuckoofilter) FROM want w WHERE w.n = c.n)) AS count FROM changes c;
-- many times, in line to out of line
CREATE TABLE growing (k int PRIMARY KEY, f cuckoofilter);
INSERT INTO growing VALUES (1, cf_new(20000)), (2, cf_new(20000));
DO $$
BEGIN
	FOR i IN 0..99 LOOP
		UPDATE toast.growing SET f = cf_add_all(f, ARRAY(SELECT generate_series(100 * i + 1, 100 * i + 100))) WHERE k = 1;
	END LOOP;
END $$;
SELECT k, cf_contains_all(f, ARRAY(SELECT generate_series(1, 10000))) AS holds, f = cf_add_all(cf_new(20000), ARRAY(SELECT generate_series(1, 10000))) AS as_at_once FROM growing ORDER BY k;

--
-- Transactions: what is rolled back was never there
--
BEGIN;
UPDATE growing SET f = cf_add(f, -1);
SAVEPOINT s;
UPDATE growing SET f = cf_add(f, -2);
SELECT bool_and(f @> -1 AND f @> -2) FROM growing;
ROLLBACK TO s;
SELECT bool_and(f @> -1) AND NOT bool_or(f @> -2) FROM growing WHERE k = 2;
ROLLBACK;
SELECT k, f = cf_add_all(cf_new(20000), ARRAY(SELECT generate_series(1, 10000))) OR f = cf_new(20000) AS as_before FROM growing ORDER BY k;
BEGIN;
UPDATE growing SET f = cf_add(f, -3) WHERE k = 2;
COMMIT;
SELECT f = cf_add(cf_new(20000), -3) FROM growing WHERE k = 2;
-- a statement that fails in the middle
UPDATE growing SET f = CASE k WHEN 1 THEN cf_add(f, -4) ELSE cf_add(f, 'text'::text) END;
SELECT bool_or(f @> -4) FROM growing;
-- VACUUM, VACUUM FULL, CLUSTER and rewriting ALTER TABLE
VACUUM growing;
VACUUM FULL changes;
CLUSTER growing USING growing_pkey;
ALTER TABLE growing ALTER k TYPE bigint;
SELECT k, cf_contains_all(f, ARRAY(SELECT generate_series(1, 10000))) AS holds, (SELECT count(*) FROM cf_check(f)) AS problems FROM growing ORDER BY k;
ANALYZE growing;
SELECT count(*) FROM changes WHERE EXISTS (SELECT cf_check(f));

--
-- In composite types, arrays, domains, ranges of rows, temporary tables,
-- cursors, variables, and through sorts and hashes that spill
--
CREATE TYPE labelled AS (label "char", f cuckoofilter);
CREATE DOMAIN small AS cuckoofilter CHECK (cf_count(VALUE) <= 3000) NOT NULL;
CREATE TABLE nested (n int, p labelled, a cuckoofilter[], d small);
INSERT INTO nested SELECT n, ROW('x'::"char", f)::labelled, ARRAY[f, NULL, f], f FROM stored WHERE n <= 2500;
SELECT count(*), bool_and(sound((p).f, n)) AS composite, bool_and(sound(a[1], n) AND a[2] IS NULL AND sound(a[3], n)) AS array, bool_and(sound(d, n)) AS domain, bool_and(p = ROW('x'::"char", d::cuckoofilter)::labelled) AS rows_equal,
	bool_and(a @> ARRAY[d::cuckoofilter]) AS arrays_equal FROM nested;
UPDATE nested SET p.f = cf_add((p).f, -9), a[2] = cf_add(a[1], -8), d = cf_add(d, -7);
SELECT bool_and((p).f @> -9) AS composite, bool_and(a[2] @> -8 AND sound(a[1], n)) AS array, bool_and(d @> -7) AS domain, bool_and(cf_contains_all(d, ARRAY(SELECT generate_series(1, n)))) AS old FROM nested;
\set VERBOSITY sqlstate
INSERT INTO nested SELECT n, NULL, NULL, f FROM stored WHERE n = 8000;
INSERT INTO nested VALUES (0, NULL, NULL, NULL);
\set VERBOSITY default
SELECT count(*), bool_and(sound((r).f, (r).n)) FROM (SELECT s AS r FROM stored s) q;
SELECT bool_and(sound((SELECT f FROM unnest(fs) f LIMIT 1), 100000)) FROM (SELECT array_agg(f) AS fs FROM stored WHERE n = 100000) q;
CREATE TEMP TABLE tmp ON COMMIT PRESERVE ROWS AS SELECT * FROM stored;
UPDATE tmp SET f = cf_add(f, -1) WHERE n = 8000;
SELECT count(*) FILTER (WHERE sound(f, n)) AS untouched, count(*) FILTER (WHERE f @> -1) AS changed FROM tmp;
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT n, f FROM stored ORDER BY n DESC;
COMMIT;
CREATE FUNCTION from_cursor() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
	row record;
	answer text := '';
BEGIN
	LOOP
		FETCH c INTO row;
		EXIT WHEN NOT FOUND;
		answer := answer || CASE WHEN toast.sound(row.f, row.n) THEN 't' ELSE 'f' END;
	END LOOP;
	RETURN answer;
END $$;
SELECT from_cursor();
CLOSE c;
SET work_mem = '64kB';
SELECT count(*), bool_and(sound(f, n)) FROM (SELECT n, f, row_number() OVER (ORDER BY f) FROM stored, generate_series(1, 3)) s WHERE n < 100000;
RESET work_mem;

--
-- Large: 100,000 values, updated out of line
--
CREATE TABLE large AS SELECT f FROM stored WHERE n = 100000;
SELECT pg_column_size(f) > 100000 AS large FROM large;
UPDATE large SET f = cf_remove_all(f, ARRAY(SELECT generate_series(1, 50000)));
UPDATE large SET f = cf_add_all(f, ARRAY(SELECT generate_series(-50000, -1)));
SELECT cf_contains_all(f, ARRAY(SELECT generate_series(50001, 100000))) AS old, cf_contains_all(f, ARRAY(SELECT generate_series(-50000, -1))) AS new,
	(SELECT count(*) FROM unnest(cf_contains_each(f, ARRAY(SELECT generate_series(1, 50000)))) e WHERE e) BETWEEN 1 AND 1000 AS few_removed,
	(SELECT count(*) FROM cf_check(f)) AS problems, (cf_info(f)).capacity FROM large;

DROP SCHEMA toast CASCADE;
