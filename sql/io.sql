--
-- io: text form, binary form, casts to and from bytea, comparison.
--
-- All that comes from outside passes one validator: here are every truncation
-- and every changed byte of small filters, and images that are not sound
-- although their checksum is right.  Writes files to the results folder, so
-- the server must run as a user who can.
--
SET client_min_messages = warning;
CREATE SCHEMA io;
SET search_path = io, public;
-- a scratch file of the server, which may run as another user than psql
SELECT '/tmp/cuckoo_filter_io.' || pg_backend_pid() AS scratch \gset

-- filters of every shape
CREATE TABLE sample (name text PRIMARY KEY, f cuckoofilter);
INSERT INTO sample VALUES
	('empty', cf_new(100)),
	('one', cf_add(cf_new(1), 1)),
	('list', cf_add_all(cf_new(1000), ARRAY[1, 2, 3])),
	('copies', cf_add_all(cf_new(1000), ARRAY[1, 1, 1, 2, 2, 3])),
	('no family', cf_add_hash(cf_new(1000), 42)),
	('seed', cf_add_all(cf_new(1000, seed => -1), ARRAY['a', 'b'])),
	('table', cf_add_all(cf_new(24), ARRAY(SELECT generate_series(1, 24)))),
	('odd table', cf_add_all(cf_new(52, 0.003, 3), ARRAY(SELECT generate_series(1, 40) % 15))),
	('idempotent', cf_add_all(cf_new(100, max_copies => 1), ARRAY(SELECT generate_series(1, 200) % 90))),
	('fine table', cf_add_all(cf_new(300, 1e-10, seed => 9223372036854775807), ARRAY(SELECT (i || ' bottles')::text FROM generate_series(1, 300) i))),
	('grown', cf_add_all(cf_new(100000), ARRAY(SELECT generate_series(1, 5000))));
SELECT name, i.form, i.family, i.entries, i.bytes, i.fingerprint_bits
	FROM sample, cf_info(f) i ORDER BY i.bytes, name;

-- what is between the checksum and nothing: the image
CREATE FUNCTION image_of(f cuckoofilter) RETURNS bytea LANGUAGE sql AS $$
	SELECT substring(f::bytea FROM 1 FOR length(f::bytea) - 8)
$$;
-- an image with its checksum: XXH3 without seed, little-endian
CREATE FUNCTION le64(n bigint) RETURNS bytea LANGUAGE sql AS $$
	SELECT string_agg(substring(int8send(n) FROM 9 - i FOR 1), '' ORDER BY i) FROM generate_series(1, 8) i
$$;
CREATE FUNCTION seal(image bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT image || le64(cf_hash(image, 0))
$$;
-- binary input, by way of a file of COPY
CREATE FUNCTION binary_in(bytes bytea, scratch text) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	lo oid := lo_from_bytea(0, '\x5047434f50590aff0d0a00'::bytea || int4send(0) || int4send(0) ||
		int2send(1::int2) || int4send(length(bytes)) || bytes || int2send(-1::int2));
	f cuckoofilter;
BEGIN
	PERFORM lo_export(lo, scratch);
	PERFORM lo_unlink(lo);
	CREATE TEMP TABLE IF NOT EXISTS received (f cuckoofilter);
	TRUNCATE received;
	EXECUTE format('COPY received FROM %L (FORMAT binary)', scratch);
	SELECT r.f INTO f FROM received r;
	RETURN f;
END $$;
-- what becomes of an input: its SQLSTATE, or how it compares with the original
CREATE FUNCTION outcome(form text, input text, original cuckoofilter, scratch text = NULL)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	f := CASE form
		WHEN 'text' THEN input::cuckoofilter
		WHEN 'bytea' THEN input::bytea::cuckoofilter
		WHEN 'binary' THEN binary_in(input::bytea, scratch)
	END;
	IF f = original THEN RETURN 'equal'; END IF;
	IF EXISTS (SELECT cf_check(f)) OR f::text::cuckoofilter <> f THEN RETURN 'not sound'; END IF;
	RETURN 'another value';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

--
-- Round trips: text, bytea, and COPY in its three formats
--
SELECT bool_and(f::text LIKE 'cf1:%' AND f::text !~ '\s') AS prefix,
	bool_and(f::text::cuckoofilter = f) AS text,
	bool_and(f::text::cuckoofilter::text = f::text) AS text_again,
	bool_and(f::bytea::cuckoofilter = f) AS bytea,
	bool_and(decode(substr(f::text, 5), 'base64') = f::bytea) AS one_form,
	bool_and(seal(image_of(f)) = f::bytea) AS checksum,
	bool_and(cuckoofilter_send(f) = f::bytea) AS binary,
	bool_and(length(f::bytea) = i.bytes + 4) AS bytes
	FROM sample, cf_info(f) i;
CREATE TABLE copied (LIKE sample);
COPY sample TO :'scratch';
COPY copied FROM :'scratch';
COPY sample TO :'scratch' (FORMAT csv);
COPY copied FROM :'scratch' (FORMAT csv);
COPY sample TO :'scratch' (FORMAT binary);
COPY copied FROM :'scratch' (FORMAT binary);
SELECT count(*), bool_and(c.f = s.f) AS equal FROM copied c JOIN sample s USING (name);
-- one sample, as COPY writes it
COPY (SELECT cf_new(1)) TO STDOUT;
COPY (SELECT cf_new(1)) TO STDOUT (FORMAT csv);
DROP TABLE copied;
-- binary input takes what the cast to bytea gives
SELECT name, outcome('binary', f::bytea::text, f, :'scratch') FROM sample ORDER BY name COLLATE "C";
-- NULL
SELECT NULL::text::cuckoofilter IS NULL, NULL::bytea::cuckoofilter IS NULL, NULL::cuckoofilter::text IS NULL;

--
-- Text that is no filter: the messages
--
SELECT 'hello'::cuckoofilter;
SELECT 'cf1:'::cuckoofilter;
SELECT 'cf1:no base64'::cuckoofilter;
SELECT 'cf1:AAAAAAAAAAAAAAAA'::cuckoofilter;
SELECT '\x0102'::bytea::cuckoofilter;
SELECT '\x010203040506070809'::bytea::cuckoofilter;
SELECT ('cf1:' || encode(seal('\x01'), 'base64'))::cuckoofilter;
SELECT input, outcome('text', input, cf_new(100)) FROM (VALUES
	(''), (' '), ('c'), ('cf'), ('cf1'), ('cf1:'), ('cf2:'), ('CF1:'), ('cf1 :'), ('cf1:='), ('cf1:===='),
	('cf1:A'), ('cf1:AA=='), ('cf1:AAAA'), ('cf1:AAAAAAAAAAA='), ('cf1:AAAAAAAAAAAAAAAA'), ('{}'), ('\x00'), ('cf1:é')
	) v(input);
-- padding only where it belongs: the last characters changed, moved, added
SELECT s.name, e AS ending, outcome('text', regexp_replace(f::text, '.{4}$', e), f) AS outcome
	FROM sample s, LATERAL (SELECT right(f::text, 4) AS last) l,
		LATERAL (VALUES (last), (rtrim(last, '=')), (rtrim(last, '=') || '='), (rtrim(last, '=') || '==='), (left(last, 2) || '=A'), (left(last, 2) || '=B'),
			('=' || left(last, 3)), (left(last, 1) || '=' || right(last, 2)), ('===='), (last || '===='), (last || 'A')) v(e)
	WHERE s.name IN ('empty', 'list') AND e IS DISTINCT FROM last ORDER BY 1, 2;
-- no white space, anywhere
SELECT bool_and(outcome('text', t, f) = '22P02') FROM sample,
	LATERAL (VALUES (' ' || f::text), (f::text || ' '), (f::text || E'\n'), (E'\t' || f::text),
		(left(f::text, 4) || ' ' || substr(f::text, 5)), (left(f::text, 20) || E'\n' || substr(f::text, 21)),
		(f::text || f::text), (upper(left(f::text, 4)) || substr(f::text, 5))) v(t);

--
-- Every truncation, and every extension by one byte, of each form: an error
--
CREATE TEMP VIEW small AS SELECT * FROM sample WHERE name IN ('empty', 'list', 'table', 'odd table', 'idempotent');
SELECT 'text' AS form, outcome('text', left(f::text, n), f), count(*) > 0 AS some
	FROM small, generate_series(0, length(f::text) - 1) n GROUP BY 2
UNION ALL
SELECT 'bytea', outcome('bytea', substring(f::bytea FROM 1 FOR n)::text, f), count(*) > 0
	FROM small, generate_series(0, length(f::bytea) - 1) n GROUP BY 2
UNION ALL
SELECT 'longer', outcome('bytea', (f::bytea || set_byte('\x00', 0, n))::text, f), count(*) > 0
	FROM small, generate_series(0, 255) n GROUP BY 2
UNION ALL
SELECT 'binary', outcome('binary', substring(f::bytea FROM 1 FOR n)::text, f, :'scratch'), count(*) > 0
	FROM small, generate_series(0, length(f::bytea) - 1) n WHERE name IN ('list', 'table') GROUP BY 2
UNION ALL
SELECT 'binary longer', outcome('binary', (f::bytea || '\x00')::text, f, :'scratch'), count(*) > 0
	FROM small GROUP BY 2;

--
-- Every single character and byte changed: an error, or an equal value where
-- two characters of base64 mean the same
--
SELECT 'text' AS form, outcome('text', overlay(f::text PLACING c FROM n FOR 1), f), count(*) > 0 AS some
	FROM small, generate_series(1, length(f::text)) n,
		LATERAL (SELECT chr(i) AS c FROM generate_series(1, 127) i UNION ALL VALUES (''), ('é')) o
	WHERE name IN ('list', 'table') AND substr(f::text, n, 1) <> c GROUP BY 2
UNION ALL
SELECT 'bytea', outcome('bytea', set_byte(f::bytea, n, get_byte(f::bytea, n) # x)::text, f), count(*) > 0
	FROM small, generate_series(0, length(f::bytea) - 1) n, generate_series(1, 255) x
	WHERE name IN ('list', 'table') OR x IN (1, 2, 4, 8, 16, 32, 64, 128, 255) GROUP BY 2
UNION ALL
SELECT 'binary', outcome('binary', set_byte(f::bytea, n, get_byte(f::bytea, n) # x)::text, f, :'scratch'), count(*) > 0
	FROM small, generate_series(0, length(f::bytea) - 1) n, unnest('{1,128,255}'::int[]) x
	WHERE name IN ('list', 'table') GROUP BY 2
ORDER BY 1, 2;

--
-- Later versions: both versions are named
--
\set list '(SELECT io.image_of(f) FROM io.sample WHERE name = ''list'')'
SELECT seal(set_byte(:list, 0, 2))::cuckoofilter;
SELECT seal(set_byte(:list, 1, 2))::cuckoofilter;
SELECT seal(set_byte(:list, 2, 4))::cuckoofilter;
SELECT seal(set_byte(:list, 3, 25))::cuckoofilter;
-- a later format may have a shorter header, or mean anything by it
SELECT seal('\x02')::cuckoofilter;
SELECT seal('\x02ffffffff')::cuckoofilter;
-- text and binary form say the same
SELECT v, outcome('text', 'cf1:' || replace(encode(b, 'base64'), E'\n', ''), NULL) AS text,
	outcome('bytea', b::text, NULL) AS bytea, outcome('binary', b::text, NULL, :'scratch') AS binary
	FROM (VALUES ('format 0', seal(set_byte(:list, 0, 0))), ('format 2', seal(set_byte(:list, 0, 2))),
		('format 255', seal(set_byte(:list, 0, 255))), ('hash 0', seal(set_byte(:list, 1, 0))),
		('hash 255', seal(set_byte(:list, 1, 255))), ('flag 4', seal(set_byte(:list, 2, 4))),
		('flag 128', seal(set_byte(:list, 2, 128))), ('family 25', seal(set_byte(:list, 3, 25))),
		('family 255', seal(set_byte(:list, 3, 255))), ('list', seal(:list))) s(v, b);

--
-- Headers with a right checksum, field by field: both sides of every bound
--
CREATE FUNCTION patch(image bytea, field_offset int, bytes bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT overlay(image PLACING bytes FROM field_offset + 1)
$$;
SELECT field, name, string_agg(substr(bytes::text, 2), ' ' ORDER BY bytes) FILTER (WHERE outcome IN ('equal', 'another value')) AS accepted,
	string_agg(substr(bytes::text, 2), ' ' ORDER BY bytes) FILTER (WHERE outcome = '0A000') AS later,
	string_agg(substr(bytes::text, 2), ' ' ORDER BY bytes) FILTER (WHERE outcome = '22P03') AS refused,
	string_agg(outcome, ' ') FILTER (WHERE outcome NOT IN ('equal', 'another value', '22P03', '0A000')) AS wrong
FROM (SELECT *, outcome('bytea', seal(patch(image_of(f), field_offset, bytes))::text, f)
FROM sample s JOIN (VALUES
	('flags', 2, 'list', '\x00'::bytea), ('flags', 2, 'list', '\x01'), ('flags', 2, 'list', '\x02'), ('flags', 2, 'list', '\x03'),
	('flags', 2, 'table', '\x01'), ('flags', 2, 'table', '\x00'), ('flags', 2, 'table', '\x03'), ('flags', 2, 'table', '\x02'),
	('family', 3, 'list', '\x00'), ('family', 3, 'list', '\x18'), ('family', 3, 'list', '\x19'),
	('columns', 4, 'list', '\x07'), ('columns', 4, 'list', '\x08'), ('columns', 4, 'list', '\x7f'), ('columns', 4, 'list', '\x80'),
	('columns', 4, 'list', '\x00'), ('columns', 4, 'list', '\xff'),
	('columns', 4, 'table', '\x07'), ('columns', 4, 'table', '\x08'), ('columns', 4, 'table', '\x7f'),
	('index bits', 5, 'list', '\x01'), ('index bits', 5, 'list', '\xff'),
	('index bits', 5, 'table', '\x01'), ('index bits', 5, 'table', '\x21'), ('index bits', 5, 'table', '\xff'),
	('prefix bits', 6, 'list', '\x00'), ('prefix bits', 6, 'list', '\x08'), ('prefix bits', 6, 'list', '\x09'),
	('prefix bits', 6, 'list', '\x30'), ('prefix bits', 6, 'list', '\x31'), ('prefix bits', 6, 'list', '\xff'),
	('prefix bits', 6, 'table', '\x08'), ('prefix bits', 6, 'table', '\x30'),
	('copies', 7, 'list', '\x00'), ('copies', 7, 'list', '\x11'), ('copies', 7, 'list', '\x12'), ('copies', 7, 'list', '\x22'),
	('copies', 7, 'list', '\x23'), ('copies', 7, 'list', '\x24'), ('copies', 7, 'list', '\x34'), ('copies', 7, 'list', '\x44'),
	('copies', 7, 'list', '\x43'), ('copies', 7, 'list', '\x04'), ('copies', 7, 'list', '\x14'), ('copies', 7, 'list', '\x40'),
	('copies', 7, 'list', '\x55'), ('copies', 7, 'list', '\x54'), ('copies', 7, 'list', '\x45'), ('copies', 7, 'list', '\x21'),
	('copies', 7, 'copies', '\x44'), ('copies', 7, 'copies', '\x33'), ('copies', 7, 'copies', '\x22'), ('copies', 7, 'copies', '\x11'),
	('copies', 7, 'odd table', '\x22'), ('copies', 7, 'odd table', '\x11'),
	('seed', 8, 'list', '\xffffffffffffffff'),
	('capacity', 16, 'list', '\x0000000000000000'), ('capacity', 16, 'list', '\x0100000000000000'),
	('capacity', 16, 'list', '\x0000000000002000'), ('capacity', 16, 'list', '\x0100000000002000'),
	('capacity', 16, 'list', '\xffffffffffffffff'), ('capacity', 16, 'table', '\x0000000000000000'),
	('entries', 24, 'list', '\x0200000000000000'), ('entries', 24, 'list', '\x0400000000000000'), ('entries', 24, 'list', '\x0000000000000000'),
	('entries', 24, 'list', '\x0110000000000000'), ('entries', 24, 'list', '\xffffffffffffffff'), ('entries', 24, 'list', '\x0300000000000020'),
	('entries', 24, 'table', '\x1700000000000000'), ('entries', 24, 'table', '\x1800000000000000'), ('entries', 24, 'table', '\x1900000000000000'),
	('entries', 24, 'table', '\x0000000000000000'), ('entries', 24, 'table', '\xffffffffffffffff'),
	('kicks', 32, 'list', '\x010000000000000001'), ('kicks', 32, 'list', '\x0100000000000000'),
	('kicks', 32, 'table', '\x010000000000000001'), ('kicks', 32, 'table', '\x0100000000000000'), ('kicks', 32, 'table', '\xffffffffffffffffff'),
	('kicks', 32, 'table', '\x000000000000000001'), ('kicks', 32, 'table', '\x000000000000000000'),
	('growths', 41, 'list', '\x01'), ('growths', 41, 'table', '\xff'),
	('growth load', 42, 'list', '\x0100'), ('growth load', 42, 'table', '\x1027'), ('growth load', 42, 'table', '\x1127'),
	('growth load', 42, 'table', '\xffff')
	) v(field, field_offset, name, bytes) USING (name)) s
	GROUP BY field_offset, field, name ORDER BY field_offset, name COLLATE "C";
-- every byte of every header, every value: an error or a sound value
SELECT s.name, array_agg(DISTINCT outcome('bytea', seal(set_byte(image_of(f), n, x))::text, f) COLLATE "C")
	FROM sample s, generate_series(0, 43) n, generate_series(0, 255) x
	WHERE name IN ('list', 'table') GROUP BY 1 ORDER BY 1;

--
-- Bodies with a right checksum that are not sound
--
-- lists: order and copies
CREATE FUNCTION forge_list(header bytea, hashes bigint[]) RETURNS bytea LANGUAGE sql AS $$
	SELECT seal(overlay(header PLACING le64(cardinality(hashes)) FROM 25) ||
		coalesce(string_agg(le64(h), '' ORDER BY n), '')) FROM unnest(hashes) WITH ORDINALITY u(h, n)
$$;
SELECT hashes, outcome('bytea', forge_list(substring(:list FROM 1 FOR 44), hashes)::text, NULL)
	FROM (VALUES ('{}'::bigint[]), ('{7}'), ('{1,2,3}'), ('{1,3,2}'), ('{2,1}'), ('{5,5,5,5}'), ('{5,5,5,5,5}'), ('{1,1,1,1,2,2,2,2}'),
		('{0,9223372036854775807}'), ('{9223372036854775807,0}'), ('{1,-1}'), ('{-1,1}'), ('{-2,-1}'), ('{-1,-2}')) v(hashes);
SELECT forge_list(substring(:list FROM 1 FOR 44), '{2,1}')::cuckoofilter;
SELECT forge_list(substring(:list FROM 1 FOR 44), '{5,5,5,5,5}')::cuckoofilter;
-- the longest list there is, and one more
SELECT n, outcome('bytea', forge_list(substring(:list FROM 1 FOR 44), ARRAY(SELECT i::bigint FROM generate_series(1, n) i))::text, NULL)
	FROM unnest('{4096,4097}'::int[]) n;
-- a body that is too short or too long
SELECT n, outcome('bytea', seal(substring(:list || '\x0000000000000000' FROM 1 FOR 44 + n))::text, NULL)
	FROM unnest('{16,17,23,24,25,32}'::int[]) n;
SELECT seal(:list || '\x00')::cuckoofilter;
-- tables: a code that does not exist, the bits after the last bucket, the
-- padding, the number of entries, the copies of a value
\set table '(SELECT io.image_of(f) FROM io.sample WHERE name = ''odd table'')'
SELECT i.columns, i.fingerprint_bits, i.entries, 4 * i.columns * (i.fingerprint_bits - 1) % 8 AS tail_bits
	FROM sample, cf_info(f) i WHERE name = 'odd table';
SELECT seal(patch(:table, 44, '\x24' || set_byte('\x00', 0, get_byte(:table, 45) | 15)))::cuckoofilter;
SELECT seal(set_byte(:table, length(:table) - 8, get_byte(:table, length(:table) - 8) | 128))::cuckoofilter;
SELECT seal(set_byte(:table, length(:table) - 1, 1))::cuckoofilter;
SELECT seal(set_byte(:table, 24, get_byte(:table, 24) - 1))::cuckoofilter;
SELECT seal(set_byte(:table, 7, 34))::cuckoofilter;
-- every bit of every body: nothing comes in that is not sound
SELECT name, array_agg(DISTINCT outcome('bytea', seal(set_bit(image_of(f), n, 1 - get_bit(image_of(f), n)))::text, f) COLLATE "C")
	FROM small, generate_series(8 * 44, 8 * length(image_of(f)) - 1) n
	WHERE name <> 'empty' GROUP BY 1 ORDER BY 1;

--
-- Comparison: the order of the bytes, one order in every operator
--
SELECT count(*) AS pairs,
	bool_and(sign(cf_cmp(a.f, b.f)) = sign(byteacmp(image_of(a.f), image_of(b.f)))) AS byte_order,
	bool_and((a.f = b.f) = (a.name = b.name)) AS eq,
	bool_and((a.f <> b.f) = (a.name <> b.name)) AS ne,
	bool_and((a.f < b.f) = (cf_cmp(a.f, b.f) < 0)) AS lt,
	bool_and((a.f <= b.f) = (cf_cmp(a.f, b.f) <= 0)) AS le,
	bool_and((a.f > b.f) = (cf_cmp(a.f, b.f) > 0)) AS gt,
	bool_and((a.f >= b.f) = (cf_cmp(a.f, b.f) >= 0)) AS ge,
	bool_and(sign(cf_cmp(a.f, b.f)) = -sign(cf_cmp(b.f, a.f))) AS antisymmetric,
	bool_and((a.f = b.f) = (cuckoofilter_hash(a.f) = cuckoofilter_hash(b.f))) AS hash,
	bool_and((a.f = b.f) = (cuckoofilter_hash_extended(a.f, 7) = cuckoofilter_hash_extended(b.f, 7))) AS hash_extended
	FROM sample a, sample b;
-- what the server asks of a hash with seed 0
SELECT bool_and(cuckoofilter_hash_extended(f, 0)::bit(64)::bit(64) & x'00000000ffffffff' =
	(x'00000000'::bit(32) || cuckoofilter_hash(f)::bit(32))) AS low_bits,
	bool_and(cuckoofilter_hash_extended(f, 0) <> cuckoofilter_hash_extended(f, 1)) AS seeded FROM sample;
SELECT amname, amvalidate(c.oid), opcdefault FROM pg_opclass c JOIN pg_am a ON opcmethod = a.oid
	WHERE opcname = 'cuckoofilter_ops' ORDER BY 1;
SELECT NULL::cuckoofilter = cf_new(1) IS NULL, cf_new(1) < NULL::cuckoofilter IS NULL;
-- the same values added in another order: lists are equal, and what differs
-- in anything that is asked for is not
SELECT cf_add_all(cf_new(100), '{1,2,3}'::int[]) = cf_add_all(cf_new(100), '{3,2,1}'::int[]) AS order_of_list,
	cf_new(100) = cf_new(101) AS capacity, cf_new(100) = cf_new(100, 0.001) AS rate,
	cf_new(100) = cf_new(100, max_copies => 3) AS copies, cf_new(100) = cf_new(100, seed => 1) AS seed;

-- DISTINCT, GROUP BY, ORDER BY, joins: by sorting and by hashing
CREATE TABLE twice AS SELECT n, name, f FROM sample, generate_series(1, 2) n;
SET enable_hashagg = off; SET enable_hashjoin = off;
SELECT count(*) FROM (SELECT DISTINCT f FROM twice) s;
SELECT count(*), min(n), max(n) FROM (SELECT f, count(*) AS n FROM twice GROUP BY f) s;
SELECT count(*), count(DISTINCT f) FROM twice;
SELECT count(*) FROM twice a JOIN twice b USING (f);
SELECT bool_and(f >= previous) FROM (SELECT f, lag(f) OVER (ORDER BY f) AS previous FROM twice) s;
SELECT bool_and(f <= previous) FROM (SELECT f, lag(f) OVER (ORDER BY f DESC) AS previous FROM twice) s;
RESET enable_hashagg; RESET enable_hashjoin;
SET enable_sort = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT count(*) FROM (SELECT DISTINCT f FROM twice) s;
SELECT count(*) FROM twice a JOIN twice b USING (f);
SELECT count(*) FROM (SELECT f FROM twice EXCEPT SELECT f FROM sample WHERE name = 'list') s;
RESET enable_sort; RESET enable_mergejoin; RESET enable_nestloop;

-- indexes: unique, btree and hash find what a scan finds
CREATE UNIQUE INDEX ON sample (f) WHERE name <> 'grown';
\set VERBOSITY sqlstate
INSERT INTO sample SELECT 'again', f FROM sample WHERE name = 'list';
\set VERBOSITY default
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE INDEX twice_btree ON twice (f) WHERE name <> 'grown';
SELECT name, (SELECT count(*) FROM twice t WHERE t.f = s.f AND t.name <> 'grown'),
	(SELECT count(*) FROM twice t WHERE t.f < s.f AND t.name <> 'grown') =
	(SELECT 2 * count(*) FROM sample t WHERE byteacmp(image_of(t.f), image_of(s.f)) < 0 AND name <> 'grown') AS below
	FROM sample s ORDER BY name COLLATE "C";
DROP INDEX twice_btree;
CREATE INDEX twice_hash ON twice USING hash (f);
SELECT name, (SELECT count(*) FROM twice t WHERE t.f = s.f) FROM sample s ORDER BY name COLLATE "C";
RESET enable_seqscan;
RESET enable_bitmapscan;

-- hash partitions
CREATE TABLE parted (name text, f cuckoofilter) PARTITION BY HASH (f);
CREATE TABLE parted0 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parted SELECT name, f FROM sample;
SELECT count(*), count(DISTINCT tableoid) > 1 AS spread, bool_and((SELECT name FROM parted q WHERE q.f = p.f) = name) AS found
	FROM parted p;

--
-- Text longer than the pieces in which it is coded; padding is for its end
--
CREATE TABLE long_text AS SELECT cf_agg(g, 700000, 1e-10) AS f FROM generate_series(1, 700000) g;
SELECT length(f::text) > 4194304 AS long, f::text::cuckoofilter = f AS same,
	substr(f::text, 5) = replace(encode(f::bytea, 'base64'), E'\n', '') AS as_one FROM long_text;
SELECT overlay(f::text PLACING '=' FROM 4194308)::cuckoofilter FROM long_text;
SELECT (f::text || '=')::cuckoofilter FROM long_text;
DROP TABLE long_text;

--
-- Casts: explicit only
--
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod FROM pg_cast
	WHERE 'cuckoofilter'::regtype IN (castsource, casttarget) ORDER BY castsource::regtype::text;
\set VERBOSITY sqlstate
CREATE TABLE bytes (b bytea);
INSERT INTO bytes SELECT f FROM sample;
INSERT INTO sample SELECT 'cast', f::bytea FROM sample WHERE name = 'list';
SELECT length(f) FROM sample;
SELECT cf_count('\x00'::bytea);
\set VERBOSITY default
INSERT INTO bytes SELECT f::bytea FROM sample;
SELECT count(*) FROM bytes JOIN sample ON b::cuckoofilter = f;

-- stored out of line without compression; fixed properties of the type
SELECT typlen, typbyval, typalign, typstorage, typcategory, typinput, typoutput, typreceive, typsend
	FROM pg_type WHERE oid = 'cuckoofilter'::regtype;
SELECT attstorage FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attname = 'f';

\set remove 'rm -f ' :scratch
COPY (SELECT WHERE false) TO PROGRAM :'remove';
DROP SCHEMA io CASCADE;
