--
-- format: the bytes of format 1.
--
-- Stored filters of every release have these bytes.  A difference here is a
-- change of the format or of the hash: it needs a new version, not a new
-- expected file.  The fields are those of src/cuckoo_format.h.
--
SET client_min_messages = warning;
CREATE SCHEMA format;
SET search_path = format, public;

-- what was made, by which operation
CREATE TABLE made (n int GENERATED ALWAYS AS IDENTITY, name text, operation text, f cuckoofilter);
INSERT INTO made (name, operation) VALUES
	('empty', 'cf_new(1)'),
	('empty, parameters', 'cf_new(123456, 0.001, 2, -2)'),
	('one number', 'cf_add(cf_new(1000), 1)'),
	('one text', 'cf_add(cf_new(1000), ''a''::text)'),
	('one bytea', 'cf_add(cf_new(1000), ''\x00''::bytea)'),
	('one uuid', 'cf_add(cf_new(1000), ''00112233-4455-6677-8899-aabbccddeeff''::uuid)'),
	('a hash', 'cf_add_hash(cf_new(1000), 81985529216486895)'),
	('list with copies', 'cf_add_all(cf_new(1000, max_copies => 3), ARRAY[1, 2, 2, 3, 3, 3, 3])'),
	('list after removal', 'cf_remove(cf_add_all(cf_new(1000), ARRAY[1, 2, 3]), 2)'),
	('list of a text', 'cf_add_all(cf_new(1000, 0.01, 4, 7), ARRAY[''one'', ''two'', ''three''])'),
	('smallest table', 'cf_add_all(cf_new(24), ARRAY(SELECT generate_series(1, 24)))'),
	('table with copies', 'cf_add_all(cf_new(30, 0.002, 4, 5), ARRAY(SELECT generate_series(1, 40) % 16))'),
	('append-only table', 'cf_add_all(cf_new(30, 0.01, 1), ARRAY(SELECT generate_series(1, 30)))'),
	('table after removal', 'cf_remove_all(cf_add_all(cf_new(30), ARRAY(SELECT generate_series(1, 30))), ARRAY(SELECT generate_series(1, 20)))'),
	('grown table', 'cf_add_all(cf_new(200, 0.01), ARRAY(SELECT generate_series(1, 150)))'),
	('table doubled once', 'cf_add_all(cf_new(600, 0.01), ARRAY(SELECT generate_series(1, 330)))'),
	('aggregate', 'cf_agg(i) FROM generate_series(1, 50) i'),
	('resized', 'cf_resize(cf_add_all(cf_new(200, 0.001), ARRAY(SELECT generate_series(1, 60))), 100, 0.01)');
CREATE FUNCTION make(operation text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	EXECUTE 'SELECT ' || operation INTO f;
	RETURN f;
END $$;
UPDATE made SET f = make(operation);

--
-- The text forms, frozen: what the operations give, and what is read back
--
SELECT name, f FROM made ORDER BY n;
CREATE TABLE frozen (name text, f cuckoofilter);
INSERT INTO frozen VALUES
('empty', 'cf1:AQEAAAgACUQAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADcfXKx0qlGmQ=='),
	('empty, parameters', 'cf1:AQEAAH4AFSL+/////////0DiAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACSUInpP+rYtg=='),
	('one number', 'cf1:AQEAAUIADEQAAAAAAAAAAOgDAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAuedtkNVm8L1nKMP4O6Q1w'),
	('one text', 'cf1:AQEAA0IADEQAAAAAAAAAAOgDAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAfTpYetjLG5pk+0Gmyxk3o'),
	('one bytea', 'cf1:AQEABEIADEQAAAAAAAAAAOgDAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAADb7E4H9N9LxEFXNV+TrljS'),
	('one uuid', 'cf1:AQEABkIADEQAAAAAAAAAAOgDAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAACWvxHnId5sxeQzeRv4Davt'),
	('a hash', 'cf1:AQEAAEIADEQAAAAAAAAAAOgDAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAADvzauJZ0UjAUZNOU6PpygM'),
	('list with copies', 'cf1:AQEAAUIADDMAAAAAAAAAAOgDAAAAAAAABgAAAAAAAAAAAAAAAAAAAAAAAABD4u6RXMaGIEPi7pFcxoYgLnnbZDVZvC99LvTBKSCSTX0u9MEpIJJNfS70wSkgkk10ipOP4d3Ylg=='),
	('list after removal', 'cf1:AQEAAUIADEQAAAAAAAAAAOgDAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAuedtkNVm8L30u9MEpIJJNQGrLPYmR/zI='),
	('list of a text', 'cf1:AQEAA0IADEQHAAAAAAAAAOgDAAAAAAAAAwAAAAAAAAAAAAAAAAAAAAAAAABntsTJoKOWAjP5nU+SnMpeOmiUmeMByHUNMQDVT6ehYw=='),
	('smallest table', 'cf1:AQEBAQkACkQAAAAAAAAAABgAAAAAAAAAGAAAAAAAAAAAAAAAAAAAAAAAAAC6maOpCK30BEgcBwDAkT4AAEx1DcC4YqhAVjzvAQAAuSbTfKCnAFhHAQAAAAAAAAAPkZbFFtxPTA=='),
	('table with copies', 'cf1:AQEBAQsADEQFAAAAAAAAAB4AAAAAAAAAKAAAAAAAAAAJAAAAAAAAAAIAAACgAAEBge4E1qenCuuQkzPIf96srNcA5IOTkpIydS4uLic0sbnJxAQAAAAAAJS89fIC7wZHyaqqJPDxYTADAAAAAAAAAPRttZqKIWlh'),
	('append-only table', 'cf1:AQEBAQsAChEAAAAAAAAAAB4AAAAAAAAAHgAAAAAAAAABAAAAAAAAAAEAAAC6maOpOFkAXQJ/CkyvNIRmeh5/CsDT778AYCsBmxX4AwAAAABqAswHGaDTgc4AAAAAAAAAAAAAAADbOlZxlJcT7g=='),
	('table after removal', 'cf1:AQEBAQsACkQAAAAAAAAAAB4AAAAAAAAACgAAAAAAAAABAAAAAAAAAAEAAAAAAAAA4AcAAJTpAwDAmz+AmZ6ECQDwDwAAAAAAAAAAAAAAAADvAQAA2ZQAMM0AAAAAAAAAAAAAAADPI2EVYQsMUA=='),
	('grown table', 'cf1:AQEBATcACkQAAAAAAAAAAMgAAAAAAAAAlgAAAAAAAAACAAAAAAAAAAEAAABaAABmDhzokvZzYa9tQsjGDfZRCciluBQA4NsmBwA0wwuA+Y31AAAHJWnSnAF/Cky89Mkq5Ce5/YIsrxQAAMBLASwmBgAAAAAgBwD1UXgnvYUf1cwbqZaASedgCQDN/93A7X9eAQAZpT4AEE0DAwBwe5K6o3nBBgDf6eMNrymqBTB2KyEAYLw1JkgM7tuA+61VBQCAFFVI8bSGnk2PAgAAAABP1PVoOD/AtTgAAAAAwGh3U3CaAvAXCQAAAMyICAAn6RQAMB+NBQBS5FzAxOvfmgHm/B4AAKCsCNQOOAvWURaCBnDHzHEAABgLSMsYMTQAMNmfcnLoDAAAAAAAAAAPH+GtCENR9Q=='),
	('table doubled once', 'cf1:AQEBAVABC0QAAAAAAAAAAFgCAAAAAAAASgEAAAAAAAAvAAAAAAAAAAMBQSQDBDBFicAAYAT4CwAm2BYAkPdVBQDA4kdOlliqCbCLIw0AYO+OCFiF7QcAANxKAQDAL8eADfTaBFhxy5QAAEiICACXKQAAIPujdU1zqhQAAJgcBwAAZ32ArfdVBQDA5QiARU71AACSUi0A4BSvCVx0BwAAAACodqwpAAAAAAByCWiraAQAACiIAADQ3JQAEE07AxjaBx+AMrj+CwBgNtEA9/HCAQDNjm9ACnDvAQAAKY8AuL6NBQCxrD4AwPhKAQAArsEA5fEPAAAAVVUAACzEB8ywNR8AUFInAACvi38AQEbECQBQF0LAQR/+B7Tclj4AABDzAwDdKkXASFXvAQCICZYAYORpBQAN/pYAcP8SDQDMqxQAAJzcAADbAHcAAPmYAAwpPgIAMHJwBHzkOD8A0LQsDAA4phQAAFRRRsbBEmwAEOsAAAAAoDU6bDRVC3j68AAAANhgDQBanIhAc524CgCv+gcAIPIzDnSfQr8AAAwGALzcVVUAADRGAACABX3A/YHLAgAAV1UAAFx7BYj9iqsAgMOICADbX78AoGxXBxQDMAEA4MkAAAAAkAEA4IhKAQAAtj6AYDRWCKTPOAIAAFRgXnCfNgIAAMAAAAAAEAAAAEwPAABAPweASLXSAADAUhMAg+0PAAD3QpwAwJ3/E55ABAAAAABVBQAAGwAAAEwhBABN5RUAcMIcCDimXVUAAARfAiDO/R4AABD2APRry3EAMKbIBDQO8h4AAPwrBcCXzXEAAFBs015u8gAAABiCAQSy+x4AAGzFCYzokwsAVf4BAACAeWkAr+pWCQAp/67AbY2EDdz9+R4AACAAAAAAoBQAAKhVBQCAB3vAVEKCAABiNY4AwLoSDQDRhFcAUI1Ch2T5hqsAMAVJCPCA8QAAAEgmBwAjlVUAkIlden94PgIAAJBKAQDA/DHAUpgDA5jRAgAAAADcAACjPyqAjo0AAAAAAAAAYB/KJHRP/Tw='),
	('aggregate', 'cf1:AQEBARAACkQAAAAAAAAAADIAAAAAAAAAMgAAAAAAAAABAAAAAAAAAAEAAADcAABGKshzCfbHChyANEQAkb/4BwBW2D4AMG0yVFXYxJk2zGsJDuC3AoYuUkChCfDoE58AQApMChz8h6EZj86cdtSHM3ZAMtsAAAAAAAAA+7CKsWUk/a0='),
	('resized', 'cf1:AQEBATcACUQAAAAAAAAAAGQAAAAAAAAAPAAAAAAAAAAAAAAAAAAAAAAAAABGAADICgEAzg8AANiEbC7sTAkAkAAAAAAPAACgAAAAAEYAADhVBQAAhAnAEAAAAADpAwD4AAAAAAEAALAAAAAAIAdAPToIwI3pAwBYIwAAoEwJAPgAAAAAAAAAAOoDQBh+AACAAAAAAFUFALg5DrhSAQAAYAAAAAA7Bg7DBQAA8FUFABArBVDpoAlAegAAAADSAADAAAAAAAAAAAAAAAAA7wEAoAAAAJgAAAAATgHAPAAAAABLAcDgVglAmu8BAMCsCKqDs2BOLQAAAAAcBwAwAAAAAMsCALAAAAAAAAAAAAAAALEMulAPAwNf');
SELECT name, frozen.f = made.f AS same, frozen.f::text = made.f::text AS same_text FROM frozen FULL JOIN made USING (name)
	WHERE (frozen.f = made.f AND frozen.f::text = made.f::text) IS NOT TRUE;
-- and what is read back answers: its values are in, others are not
SELECT f @> 1, f @> 2, f @> 3, f @> 4, cf_count(f, 1), cf_count(f, 2), cf_count(f, 3), cf_count(f, 4) FROM frozen WHERE name = 'list with copies';
SELECT f @> 'one', f @> 'two', f @> 'three', f @> 'four' FROM frozen WHERE name = 'list of a text';
SELECT name, count(*) FILTER (WHERE f @> i AND i <= 15) AS found, count(*) FILTER (WHERE f @> i) AS all_found FROM frozen, generate_series(1, 1000) i
	WHERE name IN ('smallest table', 'table with copies', 'append-only table', 'table after removal', 'grown table', 'aggregate', 'resized') GROUP BY name ORDER BY name COLLATE "C";
SELECT cf_contains_hash(f, 81985529216486895), cf_contains_hash(f, 0) FROM frozen WHERE name = 'a hash';

--
-- The header: every field at its offset, little-endian
--
CREATE FUNCTION le(bytes bytea, field_offset int, width int) RETURNS numeric LANGUAGE sql AS $$
	SELECT sum(get_byte(bytes, field_offset + i) * 256::numeric ^ i)::numeric(20) FROM generate_series(0, width - 1) i
$$;
SELECT name, get_byte(b, 0) AS format, get_byte(b, 1) AS hash, get_byte(b, 2) AS flags, get_byte(b, 3) AS family, get_byte(b, 4) AS k, get_byte(b, 5) AS q, get_byte(b, 6) AS p,
	get_byte(b, 7) & 15 AS declared, get_byte(b, 7) >> 4 AS now, le(b, 8, 8) AS seed, le(b, 16, 8) AS capacity, le(b, 24, 8) AS entries, le(b, 32, 8) AS kicks, le(b, 40, 1) AS longest, le(b, 41, 1) AS growths, le(b, 42, 2) AS load
	FROM made, CAST(f AS bytea) b ORDER BY n;
-- cf_info() says the same
SELECT count(*), bool_and(le(b, 0, 1) = i.format_version AND le(b, 1, 1) = i.hash_version AND (le(b, 2, 1) = 1) = (i.form = 'table') AND le(b, 4, 1) = i.columns AND le(b, 5, 1) = i.index_bits
	AND le(b, 6, 1) = i.prefix_bits AND le(b, 7, 1) = i.max_copies + 16 * i.current_copies AND le(b, 8, 8) = (i.seed::numeric + 2::numeric ^ 64) % 2::numeric ^ 64 AND le(b, 16, 8) = i.capacity
	AND le(b, 24, 8) = i.entries AND le(b, 32, 8) = i.kicks AND le(b, 40, 1) = i.longest_path AND le(b, 41, 1) = i.growths AND abs(le(b, 42, 2) / 10000 - coalesce(i.load_at_growth, 0)) < 1e-6
	AND length(b) = i.bytes + 4) AS same FROM made, CAST(f AS bytea) b, cf_info(f) i;
-- families by number
SELECT family, name FROM (VALUES (1, cf_add(cf_new(1), 1)), (2, cf_add(cf_new(1), 1::float8)), (3, cf_add(cf_new(1), 'a'::text)), (4, cf_add(cf_new(1), 'a'::bytea)), (5, cf_add(cf_new(1), true)),
	(6, cf_add(cf_new(1), '00000000-0000-0000-0000-000000000000'::uuid)), (7, cf_add(cf_new(1), 1::oid)), (8, cf_add(cf_new(1), '00:00:00:00:00:00'::macaddr)), (9, cf_add(cf_new(1), '00:00:00:00:00:00:00:00'::macaddr8)),
	(10, cf_add(cf_new(1), '::'::inet)), (11, cf_add(cf_new(1), B'1')), (12, cf_add(cf_new(1), '0/0'::pg_lsn)), (13, cf_add(cf_new(1), '2000-01-01'::date)), (14, cf_add(cf_new(1), '2000-01-01'::timestamp)),
	(15, cf_add(cf_new(1), '2000-01-01'::timestamptz)), (16, cf_add(cf_new(1), '00:00'::time)), (17, cf_add(cf_new(1), '00:00+00'::timetz)), (18, cf_add(cf_new(1), '0'::interval)), (19, cf_add(cf_new(1), '1'::jsonb)),
	(20, cf_add(cf_new(1), ARRAY[1])), (21, cf_add(cf_new(1), ROW(1))), (22, cf_add(cf_new(1), '[1,2)'::int4range)), (23, cf_add(cf_new(1), '{[1,2)}'::int4multirange))) v(family, f),
	LATERAL (SELECT i.family AS name FROM cf_info(f) i) i WHERE get_byte(f::bytea, 3) = family ORDER BY family;

--
-- The body of a list: its hashes, ascending, without sign
--
SELECT name, entries, same FROM made, LATERAL (SELECT count(*) AS entries, bool_and(le(b, 44 + 8 * i, 8) >= le(b, 44 + 8 * i - 8, 8) OR i = 0) AS same
	FROM CAST(f AS bytea) b, generate_series(0, le(b, 24, 8)::int - 1) i) s WHERE get_byte(f::bytea, 2) & 1 = 0 ORDER BY n;
SELECT le(f::bytea, 44, 8) = (cf_hash(1)::numeric + 2::numeric ^ 64) % 2::numeric ^ 64 AS hash FROM made WHERE name = 'one number';
-- the body of a table: packed buckets of four fingerprints, each a bit shorter, and seven zero bytes
SELECT name, length(b) - 44 - 8 AS body, (4 * get_byte(b, 4) * 2 ^ get_byte(b, 5) * (get_byte(b, 6) - get_byte(b, 5) - 1) + 7)::int / 8 + 7 AS computed, substring(b FROM length(b) - 14 FOR 7) AS padding
	FROM made, CAST(f AS bytea) b WHERE get_byte(b, 2) & 1 = 1 ORDER BY n;
-- the checksum behind it
SELECT bool_and(le(b, length(b) - 8, 8) = (cf_hash(substring(b FROM 1 FOR length(b) - 8))::numeric + 2::numeric ^ 64) % 2::numeric ^ 64) AS checksum FROM made, CAST(f AS bytea) b;

--
-- Tables read bit by bit: a reader made from the specification, not from the
-- code, finds each value's fingerprint where its hash says
--
-- the nibbles of a bucket's four slots, by their code
CREATE TABLE code AS SELECT n0 + (n1 + 1) * n1 / 2 + (n2 + 2) * (n2 + 1) * n2 / 6 + (n3 + 3) * (n3 + 2) * (n3 + 1) * n3 / 24 AS code, ARRAY[n0, n1, n2, n3] AS nibbles
	FROM generate_series(0, 15) n0, generate_series(n0, 15) n1, generate_series(n1, 15) n2, generate_series(n2, 15) n3;
ALTER TABLE code ADD PRIMARY KEY (code);
SELECT count(*), min(code), max(code) FROM code;
CREATE FUNCTION get_bits(image bytea, first bigint, n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	bits bigint := 0;
BEGIN
	FOR i IN 0..n - 1 LOOP
		bits := bits | (get_bit(image, first + i)::bigint << i);
	END LOOP;
	RETURN bits;
END $$;
CREATE FUNCTION read_bucket(image bytea, bucket int) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	fp_bits int := get_byte(image, 6) - get_byte(image, 5);
	first bigint := 8 * 44 + bucket::bigint * 4 * (fp_bits - 1);
	bucket_code int := get_bits(image, first, 12);
	n int[] := (SELECT nibbles FROM code WHERE code = bucket_code);
	fps bigint[];
BEGIN
	FOR slot IN 0..3 LOOP
		fps[slot + 1] := get_bits(image, first + 12 + slot * (fp_bits - 4), fp_bits - 4) * 16 + n[slot + 1];
	END LOOP;
	RETURN fps;
END $$;
-- the two places of a hash
CREATE FUNCTION places(hash bigint, k int, q int, p int) RETURNS TABLE (bucket int, fp bigint) LANGUAGE sql AS $$
	WITH h AS (SELECT (hash::numeric + 2::numeric ^ 64) % 2::numeric ^ 64 AS h),
	a AS (SELECT div(div(h, 2::numeric ^ 48) * k, 65536)::int AS a, greatest(h % 256, 1)::int AS perm, (div(h, 256) % 2::numeric ^ 40)::bigint AS v FROM h),
	m AS (SELECT *, perm::numeric * perm * 11400714819323198485 % 2::numeric ^ 64 AS m FROM a),
	addresses AS (SELECT a, v, perm FROM m UNION ALL
		SELECT (div(div(m, 2::numeric ^ 48) * k, 65536)::int - a + k) % k, v # ((128 | (div(m, 2::numeric ^ 40) % 128)::bigint) << 32), perm FROM m),
	indexes AS (SELECT a, (v >> (40 - q))::int AS i, ((v >> (48 - p)) << 8 | perm) & ((1::bigint << (p - q)) - 1) AS fp FROM addresses)
	SELECT CASE WHEN q <= 8 THEN (a << q) + i ELSE (((i & ((1 << (q - 8)) - 1)) * k + a) << 8) + (i >> (q - 8)) END, fp FROM indexes
$$;
CREATE FUNCTION copies_by_spec(f cuckoofilter, hash bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	image bytea := f::bytea;
BEGIN
	RETURN (SELECT count(*) FROM (SELECT DISTINCT bucket, fp FROM places(hash, get_byte(image, 4), get_byte(image, 5), get_byte(image, 6))) p,
		unnest(read_bucket(image, bucket)) u(fps) WHERE fps = fp);
END $$;
SELECT name, count(*) FILTER (WHERE copies_by_spec(f, cf_hash(i, seed)) <> cf_count(f, i)) AS wrong, sum(cf_count(f, i)) AS copies
	FROM made, cf_info(f), generate_series(1, 60) i WHERE form = 'table' GROUP BY n, name ORDER BY n;
CREATE FUNCTION cf_agg_of(n int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_agg(i, n, 0.01) FROM generate_series(1, n) i';
-- with superblocks: too large to be written here, so its md5 is frozen
SELECT i.columns, i.index_bits, i.prefix_bits, i.kicks, i.longest_path, i.growths, md5(f::bytea), count(*) FILTER (WHERE copies_by_spec(f, cf_hash(v, seed)) <> cf_count(f, v)) AS wrong
	FROM (VALUES (140000, cf_add_all(cf_new(140000), ARRAY(SELECT generate_series(1, 140000)))), (270000, cf_agg_of(270000))) s(n, f), cf_info(f) i, generate_series(1, 200000, 10000) v
	GROUP BY n, f, i.columns, i.index_bits, i.prefix_bits, i.kicks, i.longest_path, i.growths ORDER BY n;

DROP SCHEMA format CASCADE;
