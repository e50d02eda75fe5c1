--
-- Makes test/vectors/format1.json: filters, what they answer, and what is
-- refused, as the extension has them.  README.md beside it is its schema.
--
--		psql -qAtX -v ON_ERROR_STOP=1 -f make.sql >format1.json
--
-- in a database in UTF-8 that has the extension.  Nothing depends on the
-- server's version, its settings or the clock.
--
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET bytea_output = 'hex';
SET extra_float_digits = 1;
SET max_parallel_workers_per_gather = 0;

-- 64 bits that look random, the same everywhere
CREATE FUNCTION pg_temp.bits(n bigint) RETURNS bigint LANGUAGE sql AS
$$ SELECT cf_hash(n, 1717) $$;

-- The n-th value of a kind, as the text that its SQL type reads.
CREATE FUNCTION pg_temp.value(kind text, n bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	b bigint := pg_temp.bits(n);
	specials text[];
BEGIN
	specials := CASE kind
		WHEN 'int' THEN '{0,-1,9007199254740991,9007199254740992,-9007199254740993,9223372036854775807,-9223372036854775808}'
		WHEN 'decimal' THEN '{0.0,7.00,-0,1.5,-1.5,0.0001,-12345.6789,9223372036854775808,-9223372036854775809,10000,99999999999999999999,100000000000000000000,0.00000001,12345678901234567890.123456789,NaN,Infinity,-Infinity}'
		WHEN 'float8' THEN '{0,-0,1,-1.5,0.1,1e300,-1e-300,NaN,Infinity,-Infinity,9007199254740993,5e-324}'
		WHEN 'text' THEN ARRAY['', ' ', 'a', 'a ', 'ä', 'ä', '日本語', '😀', '"quoted" \ and' || chr(10), 'null', repeat('long ', 60)]
		WHEN 'char' THEN ARRAY['', 'a', 'a ', '  b', '  b   ', 'ä', '日本語 ']
		WHEN 'bytes' THEN ARRAY['\x', '\x00', '\x0000', '\xff', '\x' || repeat('ab', 300)]
		WHEN 'uuid' THEN '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'
		WHEN 'date' THEN '{2000-01-01,1999-12-31,0001-01-01,9999-12-31,1970-01-01,2000-02-29,1900-03-01,infinity,-infinity}'
		WHEN 'timestamp' THEN '{2000-01-01T00:00:00,1999-12-31T23:59:59.999999,0001-01-01T00:00:00,9999-12-31T23:59:59.999999,2024-02-29T12:00:00.5,infinity,-infinity}'
		WHEN 'timestamptz' THEN '{2000-01-01T00:00:00Z,1999-12-31T23:59:59.999999Z,0001-01-01T00:00:00Z,2024-03-31T02:30:00+02:00,2024-03-31T00:30:00Z,2024-03-30T19:30:00.25-05:30,infinity,-infinity}'
		WHEN 'time' THEN '{00:00:00,24:00:00,23:59:59.999999,12:30:00.5}'
		WHEN 'hash' THEN '{0,-1,1,9223372036854775807,-9223372036854775808}'
		ELSE '{}' END;
	IF n BETWEEN 1 AND cardinality(specials) THEN
		RETURN specials[n];
	END IF;
	RETURN CASE kind
		WHEN 'int' THEN CASE n % 3 WHEN 0 THEN n::text WHEN 1 THEN (b / 1000000000)::text ELSE b::text END
		WHEN 'small' THEN n::text
		WHEN 'decimal' THEN (b::numeric / (10 ^ (n % 19))::numeric)::numeric(40, 9)::text
		WHEN 'float8' THEN (b::float8 / (10 ^ (n % 30)))::text
		WHEN 'text' THEN CASE n % 4 WHEN 0 THEN 'name ' || n WHEN 1 THEN 'Straße ' || n WHEN 2 THEN n || ' 東京' ELSE to_hex(b) END
		WHEN 'char' THEN to_hex(b) || repeat(' ', (n % 3)::int)
		WHEN 'bytes' THEN '\x' || encode(substr(int8send(b), 1, 3 + (n % 6)::int), 'hex')
		WHEN 'uuid' THEN (md5(n::text)::uuid)::text
		WHEN 'bool' THEN (n % 2 = 1)::text
		WHEN 'date' THEN (date '1000-01-01' + abs(b % 2500000)::int)::text
		WHEN 'timestamp' THEN to_char(timestamp '1500-01-01' + abs(b % 400000000) * interval '37.000003 s', 'YYYY-MM-DD"T"HH24:MI:SS.US')
		WHEN 'timestamptz' THEN to_char(timestamp '1500-01-01' + abs(b % 400000000) * interval '37.000003 s', 'YYYY-MM-DD"T"HH24:MI:SS.US') || 'Z'
		WHEN 'time' THEN (time '00:00' + abs(b % 86400000000) * interval '1 microsecond')::text
		WHEN 'hash' THEN b::text
		WHEN 'inet' THEN (inet '0.0.0.0' + (b & 4294967295))::text
		WHEN 'oid' THEN (b & 4294967295)::text
		WHEN 'interval' THEN (b / 1000000000) || ' microseconds'
		WHEN 'jsonb' THEN format('{"id": %s, "tags": ["a", null]}', n)
		WHEN 'array' THEN format('{%s,NULL,%s}', n, b)
		WHEN 'row' THEN format('(%s,"x y")', n)
		WHEN 'range' THEN format('[%s,%s)', n, n + 10)
	END;
END $$;

CREATE TYPE pg_temp.pair AS (a bigint, b text);

CREATE TEMP TABLE kind (kind text PRIMARY KEY, type text, family text, probe text);
INSERT INTO kind VALUES
	('int', 'int8', 'number', 'number'), ('small', 'int4', 'number', 'number'),
	('decimal', 'numeric', 'number', 'number'), ('float8', 'float8', 'float', 'float'),
	('text', 'text', 'text', 'text'), ('char', 'bpchar', 'char(n)', 'char(n)'),
	('bytes', 'bytea', 'bytes', 'bytes'), ('uuid', 'uuid', 'uuid', 'uuid'),
	('bool', 'bool', 'bool', 'bool'), ('date', 'date', 'date', 'date'),
	('timestamp', 'timestamp', 'timestamp', 'timestamp'),
	('timestamptz', 'timestamptz', 'timestamptz', 'timestamptz'),
	('time', 'time', 'time', 'time'), ('hash', 'int8', 'untyped', 'hash'),
	-- asked by their hashes only
	('inet', 'inet', 'inet', 'hash'), ('oid', 'oid', 'oid', 'hash'),
	('interval', 'interval', 'interval', 'hash'), ('jsonb', 'jsonb', 'jsonb', 'hash'),
	('array', 'int8[]', 'array', 'hash'), ('row', 'pg_temp.pair', 'record', 'hash'),
	('range', 'int8range', 'range', 'hash');

-- A value as JSON.  Numbers that a double does not hold are strings.
CREATE FUNCTION pg_temp.json_value(probe text, v text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE
		WHEN probe = 'number' AND v ~ '^-?[0-9]{1,15}$' AND v <> '-0' THEN v
		WHEN probe = 'float' AND v NOT IN ('-0', 'NaN', 'Infinity', '-Infinity') THEN v
		WHEN probe = 'bool' THEN v
		WHEN probe = 'bytes' THEN to_json(substr(v, 3))::text
		ELSE to_json(v)::text END $$;

CREATE FUNCTION pg_temp.json_values(probe text, v text[]) RETURNS text LANGUAGE sql AS $$
	SELECT '[' || coalesce(string_agg(pg_temp.json_value(probe, x), ',' ORDER BY i), '') || ']'
	FROM unnest(v) WITH ORDINALITY AS u(x, i) $$;

-- values first to last of a kind, each so many times
CREATE FUNCTION pg_temp.some(kind text, first bigint, last bigint, times int DEFAULT 1)
RETURNS text[] LANGUAGE sql AS $$
	SELECT coalesce(array_agg(pg_temp.value(kind, n) ORDER BY t, n), '{}')
	FROM generate_series(first, last) AS n, generate_series(1, times) AS t $$;

CREATE TEMP TABLE sample (id serial, name text UNIQUE, how text, kind text,
	members text[], build text, steps text, f cuckoofilter);

-- A filter made by cf_agg() or cf_bag_agg() in one go.
CREATE FUNCTION pg_temp.build(name text, kind text, vals text[], capacity float8 DEFAULT NULL,
	fpr float8 DEFAULT 0.01, max_copies int DEFAULT 4, seed bigint DEFAULT 0,
	bag bool DEFAULT false, json text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	k kind;
	f cuckoofilter;
BEGIN
	SELECT * INTO STRICT k FROM kind WHERE kind.kind = build.kind;
	EXECUTE format(CASE WHEN kind = 'hash' THEN 'SELECT cf_hash_agg(v::%2$s, $2, $3, $4, $5) FROM unnest($1) AS v'
			ELSE 'SELECT %s(v::%s, $2, $3, $4, $5) FROM unnest($1) AS v' END,
			CASE WHEN bag THEN 'cf_bag_agg' ELSE 'cf_agg' END, k.type)
		INTO f USING vals, capacity, fpr, max_copies, seed;
	INSERT INTO sample (name, how, kind, members, build, f)
	SELECT name, format('%s of %s', CASE WHEN kind = 'hash' THEN 'cf_hash_agg' WHEN bag THEN 'cf_bag_agg' ELSE 'cf_agg' END, k.type),
		kind, vals,
		CASE WHEN k.probe <> 'hash' OR kind = 'hash' THEN
			format('{"family":%s,"bag":%s,"capacity":%s,"fpr":%s,"max_copies":%s,"seed":"%s","values":%s}',
				to_json(k.probe), to_json(bag), coalesce(capacity::text, 'null'), fpr, max_copies, seed,
				coalesce(json, pg_temp.json_values(k.probe, vals))) END, f;
END $$;

-- A filter made by cf_new(), and by cf_add() and cf_remove() of values in
-- turn: steps are {add|remove, first, last, times}.
CREATE FUNCTION pg_temp.change(name text, kind text, capacity float8, fpr float8,
	max_copies int, seed bigint, steps text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	k kind;
	f cuckoofilter := cf_new(capacity, fpr, max_copies, seed);
	said text := '';
	members text[] := '{}';
	vals text[];
BEGIN
	SELECT * INTO STRICT k FROM kind WHERE kind.kind = change.kind;
	FOR i IN 1 .. coalesce(array_length(steps, 1), 0) LOOP
		vals := pg_temp.some(kind, steps[i][2]::bigint, steps[i][3]::bigint, steps[i][4]::int);
		EXECUTE format(CASE WHEN kind = 'hash' THEN 'SELECT cf_%s_hashes($1, $2::%s[])' ELSE 'SELECT cf_%s_all($1, $2::%s[])' END,
			steps[i][1], k.type) INTO f USING f, vals;
		members := members || vals;
		said := said || format(',{"%s":%s}', steps[i][1], CASE WHEN kind = 'small' THEN
			format('{"from":%s,"to":%s,"times":%s}', steps[i][2], steps[i][3], steps[i][4])
			ELSE pg_temp.json_values(k.probe, vals) END);
	END LOOP;
	INSERT INTO sample (name, how, kind, members, steps, f)
	VALUES (name, 'cf_new, then values one by one', kind, members,
		format('{"family":%s,"capacity":%s,"fpr":%s,"max_copies":%s,"seed":"%s","changes":[%s]}',
			to_json(k.probe), capacity, fpr, max_copies, seed, substr(said, 2)), f);
END $$;

-- A filter made of others.
CREATE FUNCTION pg_temp.derive(name text, how text, kind text, members text[], f cuckoofilter)
RETURNS void LANGUAGE sql AS
$$ INSERT INTO sample (name, how, kind, members, f) VALUES (name, how, kind, members, f) $$;

CREATE FUNCTION pg_temp.get(name text) RETURNS cuckoofilter LANGUAGE sql AS
$$ SELECT f FROM sample WHERE sample.name = get.name $$;

DO $$
DECLARE
	k text;
	n int;
BEGIN
	-- every kind of value, as a list and as a table
	FOR k IN SELECT kind FROM kind WHERE kind NOT IN ('small', 'hash', 'bool') ORDER BY kind LOOP
		PERFORM pg_temp.build('list of ' || k, k, pg_temp.some(k, 1, 20), 1000);
		IF k NOT IN ('inet', 'oid', 'interval', 'jsonb', 'array', 'row', 'range') THEN
			PERFORM pg_temp.build('table of ' || k, k, pg_temp.some(k, 1, 150), NULL, 0.004);
		END IF;
	END LOOP;
	PERFORM pg_temp.build('list of bool', 'bool', '{true}');
	PERFORM pg_temp.build('table of hash', 'hash', pg_temp.some('hash', 1, 300), 300);
	PERFORM pg_temp.build('list of hash', 'hash', pg_temp.some('hash', 1, 12), 300);

	-- rates, and with them widths of fingerprints
	FOREACH n IN ARRAY '{1,2,3,4,5,7,9,11}'::int[] LOOP
		PERFORM pg_temp.build('rate 1e-' || n, 'small', pg_temp.some('small', 1, 400), 400, ('1e-' || n)::float8,
			json => '{"from":1,"to":400}');
	END LOOP;

	-- copies
	FOR n IN 1 .. 4 LOOP
		PERFORM pg_temp.build('list, up to ' || n || ' copies', 'small',
			pg_temp.some('small', 1, 8) || pg_temp.some('small', 1, 5) || pg_temp.some('small', 1, 3, 4), 500, 0.01, n, 0, true);
		PERFORM pg_temp.build('table, up to ' || n || ' copies', 'small',
			pg_temp.some('small', 1, 160) || pg_temp.some('small', 1, 80) || pg_temp.some('small', 1, 30, 3), NULL, 0.01, n, 0, true);
	END LOOP;
	PERFORM pg_temp.build('a set of repeated values', 'text', pg_temp.some('text', 1, 60, 3));

	-- seeds
	PERFORM pg_temp.build('seed 1', 'text', pg_temp.some('text', 1, 100), NULL, 0.01, 4, 1);
	PERFORM pg_temp.build('seed -1', 'uuid', pg_temp.some('uuid', 1, 60), NULL, 0.01, 4, -1);
	PERFORM pg_temp.build('largest seed', 'small', pg_temp.some('small', 1, 100), NULL, 0.01, 4, 9223372036854775807);
	PERFORM pg_temp.build('smallest seed', 'small', pg_temp.some('small', 1, 10), NULL, 0.01, 4, -9223372036854775808);

	-- capacities
	PERFORM pg_temp.build('capacity 1', 'text', '{one}', 1);
	PERFORM pg_temp.build('capacity 23, full', 'small', pg_temp.some('small', 1, 23), 23);
	PERFORM pg_temp.build('capacity 24, full', 'small', pg_temp.some('small', 1, 24), 24);
	PERFORM pg_temp.build('capacity 25.5, few', 'small', pg_temp.some('small', 1, 7), 25.5);
	PERFORM pg_temp.build('far below its capacity', 'small', pg_temp.some('small', 1, 300), 1e6, 0.001, json => '{"from":1,"to":300}');
	PERFORM pg_temp.build('declared for 300 million', 'small', pg_temp.some('small', 1, 200), 3e8, 1e-3, json => '{"from":1,"to":200}');
	PERFORM pg_temp.build('five thousand numbers', 'small', pg_temp.some('small', 1, 5000), 5000, json => '{"from":1,"to":5000}');

	-- changed one by one: growth, relocation, removal, saturation
	PERFORM pg_temp.change('new', 'small', 1000, 0.01, 4, 0, '{}');
	PERFORM pg_temp.change('new, single copies', 'small', 24, 0.0001, 1, 5, '{}');
	PERFORM pg_temp.change('added to a list', 'text', 200, 0.01, 4, 0, '{{add,1,12,1},{add,1,4,2},{remove,2,6,1}}');
	PERFORM pg_temp.change('all removed', 'small', 200, 0.01, 4, 0, '{{add,1,9,1},{remove,1,9,1}}');
	PERFORM pg_temp.change('from list to table', 'small', 100, 0.01, 4, 0, '{{add,1,60,1}}');
	PERFORM pg_temp.change('grown', 'small', 3000, 0.002, 4, 9, '{{add,1,1500,1}}');
	PERFORM pg_temp.change('grown, then shrunk', 'small', 1500, 0.01, 4, 0, '{{add,1,1400,1},{remove,300,1300,1}}');
	PERFORM pg_temp.change('filled', 'small', 1000, 0.01, 4, 0, '{{add,1,1000,1}}');
	PERFORM pg_temp.change('copies come and go', 'small', 800, 0.01, 3, 0, '{{add,1,300,1},{add,1,100,2},{remove,50,200,1},{remove,1,10,4}}');
	PERFORM pg_temp.change('copies lowered', 'small', 1000, 0.01, 4, 0, '{{add,1,60,1},{add,1,60,6},{add,61,700,1}}');
	PERFORM pg_temp.change('crowded by equal hashes', 'hash', 400, 0.01, 4, 0, '{{add,1,250,1},{add,1,120,3}}');

	-- made of others
	PERFORM pg_temp.derive('a', 'cf_agg of 1 to 200', 'small', pg_temp.some('small', 1, 200), (SELECT cf_agg(i, 600) FROM generate_series(1, 200) i));
	PERFORM pg_temp.derive('b', 'cf_agg of 150 to 400', 'small', pg_temp.some('small', 150, 400), (SELECT cf_agg(i, 600) FROM generate_series(150, 400) i));
	PERFORM pg_temp.derive('union', 'cf_union of a and b: merged', 'small', pg_temp.some('small', 1, 400), cf_union(pg_temp.get('a'), pg_temp.get('b')));
	PERFORM pg_temp.derive('union of all copies', 'cf_union_all of a and b', 'small', pg_temp.some('small', 1, 400), cf_union_all(pg_temp.get('a'), pg_temp.get('b')));
	PERFORM pg_temp.derive('intersection', 'cf_intersection of a and b', 'small', pg_temp.some('small', 1, 400), cf_intersection(pg_temp.get('a'), pg_temp.get('b')));
	PERFORM pg_temp.derive('cleared', 'cf_clear of b', 'small', pg_temp.some('small', 150, 400), cf_clear(pg_temp.get('b')));
	PERFORM pg_temp.derive('resized, larger', 'cf_resize of b to 1200', 'small', pg_temp.some('small', 150, 400), cf_resize(pg_temp.get('b'), 1200));
	PERFORM pg_temp.derive('resized, smaller', 'cf_resize of b to 260', 'small', pg_temp.some('small', 150, 400), cf_resize(pg_temp.get('b'), 260));
	PERFORM pg_temp.derive('resized, coarser', 'cf_resize of rate 1e-7 to 1/64: entries that became one', 'small', pg_temp.some('small', 1, 400), cf_resize(pg_temp.get('rate 1e-7'), 4000, 0.5));
	PERFORM pg_temp.derive('union of lists', 'cf_union of two lists', 'text', pg_temp.some('text', 1, 12),
		cf_union(cf_add_all(cf_new(200), pg_temp.some('text', 1, 8)), cf_add_all(cf_new(200), pg_temp.some('text', 5, 12))));

	-- superblocks: 9 columns of 2^10 buckets, and a build of 64 and more columns
	PERFORM pg_temp.derive('superblocks', 'declared small and fine, then larger and coarser, and grown', 'small', pg_temp.some('small', 0, 19999),
		cf_remove_all(cf_add_all(cf_resize(cf_add_all(cf_new(24, 1e-9), ARRAY(SELECT generate_series(0, 23))), 20000, 1.0 / 1024),
			ARRAY(SELECT generate_series(24, 19999))), ARRAY(SELECT generate_series(7000, 7099))));
	PERFORM pg_temp.build('a build of superblocks', 'small', pg_temp.some('small', 1, 128000), 128000, 0.0156, json => '{"from":1,"to":128000}');
END $$;

-- 200 probes of each: up to 100 members, then values that were never added, up
-- to 25 false positives first.
CREATE FUNCTION pg_temp.probes(s sample) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	k kind;
	vals text[];
	counts text;
	nmembers int := coalesce(cardinality(s.members), 0);
	to_hash text;
BEGIN
	SELECT * INTO STRICT k FROM kind WHERE kind.kind = s.kind;
	to_hash := format('cf_hash($1::%s, $2)', k.type);
	SELECT array_agg(s.members[1 + (i * nmembers) / 100] ORDER BY i) INTO vals
		FROM generate_series(0, 99) i WHERE nmembers >= 100;
	IF nmembers < 100 THEN
		vals := s.members;
	END IF;
	EXECUTE format($q$
		SELECT $1 || array_agg(v ORDER BY is_false DESC, n) FROM (
			SELECT v, n, is_false FROM (
				SELECT v, n, is_false, row_number() OVER (PARTITION BY is_false ORDER BY n) AS place
				FROM (SELECT n, v, %s AS is_false FROM (SELECT n, pg_temp.value($2, n) AS v
					FROM generate_series(1000001, 1001200) AS n) AS t) AS t) AS t
			WHERE NOT is_false OR place <= 25
			ORDER BY is_false DESC, n LIMIT $3) AS t $q$,
		CASE WHEN s.kind = 'hash' THEN 'cf_contains_hash($4, v::int8)' ELSE format('cf_contains($4, v::%s)', k.type) END)
		INTO vals USING vals, s.kind, 200 - coalesce(cardinality(vals), 0), s.f;
	EXECUTE format('SELECT string_agg(%s::text, '''' ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)',
		CASE WHEN s.kind = 'hash' THEN '(cf_contains_hash($1, v::int8))::int' ELSE format('cf_count($1, v::%s)', k.type) END)
		INTO counts USING s.f, vals;
	IF k.probe = 'hash' AND s.kind <> 'hash' THEN
		EXECUTE format('SELECT array_agg(cf_hash(v::%s, (cf_info($1)).seed)::text ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)', k.type)
			INTO vals USING s.f, vals;
	END IF;
	RETURN format('{"family":%s,"values":%s,%s:"%s"}', to_json(k.probe), pg_temp.json_values(k.probe, vals),
		CASE WHEN s.kind = 'hash' THEN '"found"' ELSE '"copies"' END, counts);
END $$;

-- Images that are refused, or not: what the server says of each.
CREATE TEMP TABLE mutant (id serial, name text, bytes text, chars text, verdict text, reason text);

CREATE FUNCTION pg_temp.judge(name text, bytes bytea, chars text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	state text;
	detail text;
	message text;
BEGIN
	IF bytes IS NOT NULL THEN
		PERFORM bytes::cuckoofilter;
	ELSE
		PERFORM chars::cuckoofilter;
	END IF;
	INSERT INTO mutant (name, bytes, chars, verdict) VALUES (judge.name, encode(judge.bytes, 'hex'), judge.chars, 'ok');
EXCEPTION WHEN data_exception OR feature_not_supported THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	INSERT INTO mutant (name, bytes, chars, verdict, reason)
	VALUES (judge.name, encode(judge.bytes, 'hex'), judge.chars, CASE state WHEN '0A000' THEN 'version' ELSE 'damaged' END,
		message || coalesce(': ' || nullif(detail, ''), ''));
END $$;

CREATE FUNCTION pg_temp.sealed(image bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT image || string_agg(substr(sum, i, 1), '' ORDER BY i DESC)
	FROM int8send(cf_hash(image)) AS sum, generate_series(1, 8) AS i $$;

DO $$
DECLARE
	bases text[] := ARRAY['list, up to 3 copies', 'from list to table', 'capacity 24, full', 'list of bool'];
	base text;
	whole bytea;
	image bytea;
	b int;
	place int;
BEGIN
	FOREACH base IN ARRAY bases LOOP
		whole := pg_temp.get(base)::bytea;
		image := substr(whole, 1, length(whole) - 8);
		PERFORM pg_temp.judge(base || ': whole', whole);
		PERFORM pg_temp.judge(base || ': a wrong checksum', set_byte(whole, length(whole) - 1, get_byte(whole, length(whole) - 1) # 1));
		PERFORM pg_temp.judge(base || ': a newer version, the checksum not corrected', set_byte(whole, 0, 2));
		PERFORM pg_temp.judge(base || ': no checksum', image);
		PERFORM pg_temp.judge(base || ': one byte short, sealed', pg_temp.sealed(substr(image, 1, length(image) - 1)));
		PERFORM pg_temp.judge(base || ': one byte more, sealed', pg_temp.sealed(image || '\x00'));
		PERFORM pg_temp.judge(base || ': eight bytes more, sealed', pg_temp.sealed(image || '\xffffffffffffffff'));
		PERFORM pg_temp.judge(base || ': a trailing byte', whole || '\x00');
		PERFORM pg_temp.judge(base || ': header only, sealed', pg_temp.sealed(substr(image, 1, 44)));
		PERFORM pg_temp.judge(base || ': half a header, sealed', pg_temp.sealed(substr(image, 1, 22)));
		PERFORM pg_temp.judge(base || ': format 2', pg_temp.sealed(set_byte(image, 0, 2)));
		PERFORM pg_temp.judge(base || ': format 0', pg_temp.sealed(set_byte(image, 0, 0)));
		PERFORM pg_temp.judge(base || ': hash 2', pg_temp.sealed(set_byte(image, 1, 2)));
		PERFORM pg_temp.judge(base || ': family 24', pg_temp.sealed(set_byte(image, 3, 24)));
		PERFORM pg_temp.judge(base || ': family 25', pg_temp.sealed(set_byte(image, 3, 25)));
		PERFORM pg_temp.judge(base || ': merged', pg_temp.sealed(set_byte(image, 2, get_byte(image, 2) | 2)));
		-- every byte of the header, in some ways
		FOR place IN 2 .. 43 LOOP
			FOREACH b IN ARRAY CASE WHEN place BETWEEN 9 AND 14 THEN '{1}'::int[] WHEN place < 8 THEN '{1,4,16,64,128,255}'::int[] ELSE '{1,255}'::int[] END LOOP
				PERFORM pg_temp.judge(format('%s: byte %s xor %s', base, place, b), pg_temp.sealed(set_byte(image, place, get_byte(image, place) # b)));
			END LOOP;
		END LOOP;
		-- some bits of the body, and of the bytes after the last bucket
		FOR place IN 44 .. length(image) - 1 LOOP
			CONTINUE WHEN length(image) > 120 AND place < length(image) - 8 AND (place * 37) % 5 <> 0;
			b := 1 << (abs(pg_temp.bits(place)) % 8)::int;
			PERFORM pg_temp.judge(format('%s: byte %s xor %s', base, place, b), pg_temp.sealed(set_byte(image, place, get_byte(image, place) # b)));
		END LOOP;
	END LOOP;
	-- the length that a header asks for, and no more bytes
	image := '\x010101017f202944'::bytea || decode(repeat('00', 8), 'hex') || '\x0000000000000100'::bytea || decode(repeat('00', 20), 'hex');
	PERFORM pg_temp.judge('a header that asks for more than 512 MiB', pg_temp.sealed(image));
	PERFORM pg_temp.judge('no bytes', '');
	PERFORM pg_temp.judge('seven bytes', '\x01020304050607');
	PERFORM pg_temp.judge('a checksum of nothing', pg_temp.sealed(''));

	-- the text form
	base := pg_temp.get('capacity 1')::text;
	PERFORM pg_temp.judge('text: whole', NULL, base);
	PERFORM pg_temp.judge('text: empty', NULL, '');
	PERFORM pg_temp.judge('text: prefix only', NULL, 'cf1:');
	PERFORM pg_temp.judge('text: no prefix', NULL, substr(base, 5));
	PERFORM pg_temp.judge('text: another prefix', NULL, 'cf2:' || substr(base, 5));
	PERFORM pg_temp.judge('text: an upper-case prefix', NULL, 'CF1:' || substr(base, 5));
	PERFORM pg_temp.judge('text: a character less', NULL, left(base, -1));
	PERFORM pg_temp.judge('text: four characters less', NULL, left(base, -4));
	PERFORM pg_temp.judge('text: padding more', NULL, base || '=');
	PERFORM pg_temp.judge('text: four = more', NULL, base || '====');
	PERFORM pg_temp.judge('text: = inside', NULL, overlay(base PLACING '=' FROM 10 FOR 1));
	PERFORM pg_temp.judge('text: a blank before', NULL, ' ' || base);
	PERFORM pg_temp.judge('text: a blank behind', NULL, base || ' ');
	PERFORM pg_temp.judge('text: a line break inside', NULL, overlay(base PLACING chr(10) FROM 20 FOR 0));
	PERFORM pg_temp.judge('text: the alphabet for URLs', NULL, overlay(base PLACING '-' FROM 10 FOR 1));
	PERFORM pg_temp.judge('text: no ASCII', NULL, overlay(base PLACING 'é' FROM 10 FOR 1));
	base := pg_temp.get('list of bool')::text;
	PERFORM pg_temp.judge('text: whole, padded', NULL, base);
	PERFORM pg_temp.judge('text: without its padding', NULL, rtrim(base, '='));
	PERFORM pg_temp.judge('text: one = for two, or none', NULL, left(base, -1));
	PERFORM pg_temp.judge('text: unused bits set', NULL, regexp_replace(base, '([A-Za-z0-9+/])(=+)$', CASE WHEN base LIKE '%==' THEN 'B' ELSE 'D' END || '\2'));
END $$;

-- Which values a filter of a family takes: what it is asked for, and what is
-- added or removed.
CREATE FUNCTION pg_temp.takes(held kind, given kind) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
	copies int;
BEGIN
	EXECUTE format(CASE held.kind WHEN 'hash' THEN 'SELECT cf_add_hash(cf_new(30), %2$L)' ELSE 'SELECT cf_add(cf_new(30), %L::%s)' END,
		pg_temp.value(held.kind, 21), CASE held.kind WHEN 'hash' THEN '1' ELSE held.type END) INTO f;
	EXECUTE format(CASE given.kind WHEN 'hash' THEN 'SELECT cf_contains_hash($1, %2$L)::int' ELSE 'SELECT cf_count(cf_add($1, %L::%s), %1$L::%2$s)' END,
		pg_temp.value(given.kind, 22), CASE given.kind WHEN 'hash' THEN '1' ELSE given.type END) INTO copies USING f;
	RETURN true;
EXCEPTION WHEN datatype_mismatch OR invalid_parameter_value THEN
	RETURN false;
END $$;

-- Hashes of values, with two seeds.
CREATE FUNCTION pg_temp.hashes(k kind, seed bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	vals text[] := pg_temp.some(k.kind, 1, 24);
	hashes text;
BEGIN
	EXECUTE format('SELECT string_agg(to_json(cf_hash(v::%s, $2)::text)::text, '','' ORDER BY i) FROM unnest($1) WITH ORDINALITY AS u(v, i)', k.type)
		INTO hashes USING vals, seed;
	RETURN format('{"family":%s,"seed":"%s","values":%s,"hashes":[%s]}', to_json(k.probe), seed, pg_temp.json_values(k.probe, vals), hashes);
END $$;

-- What cf_info() says, the seed as a string, and ten digits of what a library
-- function may have rounded.
CREATE FUNCTION pg_temp.info(f cuckoofilter) RETURNS text LANGUAGE sql AS $$
	SELECT '{' || string_agg(to_json(key) || ':' || CASE
		WHEN value = 'null' THEN 'null'
		WHEN key = 'seed' THEN to_json(value::text)::text
		WHEN key IN ('load_factor', 'fpr', 'promised_fpr', 'declared_fpr', 'bits_per_value', 'load_at_growth')
			THEN trim_scale(to_char((value #>> '{}')::float8, '9.999999999EEEE')::numeric)::text
		ELSE value::text END, ',') || '}'
	FROM cf_info(f) AS i, jsonb_each(to_jsonb(i)) AS e $$;

SELECT '{"format":1,';
SELECT '"filters":[';
SELECT format('{"name":%s,"how":%s,"text":"%s"%s,"count":%s,"info":%s,"build":%s,"steps":%s,"probes":%s}%s',
	to_json(name), to_json(how), f, CASE WHEN octet_length(f::bytea) <= 500 THEN format(',"bytes":"%s"', encode(f::bytea, 'hex')) ELSE '' END,
	cf_count(f),
	pg_temp.info(f),
	coalesce(build, 'null'), coalesce(steps, 'null'), pg_temp.probes(s),
	CASE WHEN id < max(id) OVER () THEN ',' END)
FROM sample s ORDER BY id;
SELECT '],"images":[';
SELECT format('{"name":%s,%s,"verdict":"%s","reason":%s}%s', to_json(name),
	CASE WHEN bytes IS NULL THEN '"text":' || to_json(chars) ELSE format('"bytes":"%s"', bytes) END,
	verdict, coalesce(to_json(reason)::text, 'null'), CASE WHEN id < max(id) OVER () THEN ',' END)
FROM mutant ORDER BY id;
SELECT '],"hashes":[';
SELECT string_agg(pg_temp.hashes(k, seed), E',\n' ORDER BY kind, seed)
FROM kind k, unnest('{0,-81985529216486896}'::bigint[]) AS seed WHERE probe <> 'hash' AND kind NOT IN ('small', 'bool');
SELECT '],"takes":{';
SELECT string_agg(format('%s:%s', to_json(held), given), E',\n' ORDER BY held) FROM (
	SELECT CASE h.kind WHEN 'hash' THEN 'untyped' ELSE h.family END AS held,
		json_agg(g.probe ORDER BY g.probe) FILTER (WHERE pg_temp.takes(h, g)) AS given
	FROM kind h, kind g WHERE h.kind NOT IN ('small', 'decimal') AND (g.probe <> 'hash' OR g.kind = 'hash') AND g.kind NOT IN ('small', 'decimal')
	GROUP BY 1) t;
SELECT '}}';
