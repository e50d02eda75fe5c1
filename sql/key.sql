--
-- Keys: equal values are one value, different values are two, for every type.
--
-- The server's "=" is the oracle.  Needs a UTF8 database, and a superuser who
-- may create others.
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo_filter;
SELECT getdatabaseencoding();
\getenv abs_srcdir PG_ABS_SRCDIR
\set golden :abs_srcdir '/test/golden/keys.sql'
\set database :DBNAME
\i :golden

-- the vectors again, under every setting that changes how values are written
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SET TimeZone = 'Asia/Kathmandu';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
SET xmlbinary = 'hex';
SELECT count(*) FILTER (WHERE wrong <> '{}' OR nskipped > 0) AS families_wrong
	FROM golden_key_check();
RESET DateStyle;
RESET IntervalStyle;
RESET TimeZone;
RESET extra_float_digits;
RESET bytea_output;
RESET xmlbinary;

-- the seed
SELECT cf_hash(1) = cf_hash(1, 0) AS default_is_zero,
	cf_hash(1) <> cf_hash(1, 1) AS seed_matters,
	cf_hash(1, -1) = cf_hash('\x0100000000000000'::bytea, -1) AS whole_seed,
	cf_hash(NULL::int) IS NULL AS null_is_null;

--
-- Samples: values by group and type.  Random ones come from md5, the same on
-- every server; many are equal to another one that is written differently.
--
SET DateStyle = 'ISO';
CREATE TABLE key_sample (grp text, type text, value text);
CREATE FUNCTION key_random(salt text, i int, below bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || substr(md5(salt || i), 1, 15))::bit(60)::bigint % below
$$;
-- one of the elements; NULL stands for the word
CREATE FUNCTION key_pick(salt text, i int, choices text[]) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(choices[1 + key_random(salt, i, cardinality(choices))], 'NULL')
$$;

-- number
INSERT INTO key_sample
	SELECT 'number', t, v::text
	FROM (VALUES ('int2', 15), ('int4', 31), ('int8', 63)) w(t, bits),
		LATERAL (SELECT 0::numeric UNION SELECT 1 UNION SELECT -1 UNION
			SELECT 2::numeric ^ bits - 1 UNION SELECT -(2::numeric ^ bits) UNION
			SELECT 10000 UNION SELECT -10000 UNION SELECT 9999 UNION
			SELECT key_random('n' || t, i, 300) - 150
				FROM generate_series(1, 60) i UNION
			SELECT mod((key_random('b' || t, i, 1152921504606846976) - 5e17) * 37,
				2::numeric ^ bits) FROM generate_series(1, 30) i) s(v);
UPDATE key_sample SET value = split_part(value, '.', 1);
INSERT INTO key_sample
	SELECT 'number', 'numeric', value || key_pick('z', i::int, '{"",.0,.0000,.00000000000}')
	FROM (SELECT value, row_number() OVER (ORDER BY type, value) i
		FROM key_sample WHERE grp = 'number') s;
INSERT INTO key_sample
	SELECT 'number', 'numeric', v FROM unnest(
		'{NaN,Infinity,-Infinity,9223372036854775808,-9223372036854775809,
		9223372036854775807.5,0.5,0.50,-0.5,0.0001,0.00010,1e-5,1e-16383,
		1e131071,-1e131071,1e20,100000000000000000000.00,1e4,1e5,1e19,1e18,
		9999.9999,99999999,18446744073709551616,18446744073709551617}'::text[]) v
	UNION ALL
	SELECT 'number', 'numeric', (key_random('m', i, 2000) - 1000) ||
		key_pick('f', i, '{"",.0,.5,.50,.00010,.0001}') || 'e' ||
		(key_random('e', i, 12) - 6)
	FROM generate_series(1, 150) i
	UNION ALL
	SELECT 'number', 'numeric', (key_random('m2', i, 5) - 2) || 'e' ||
		(key_random('e2', i, 60) - 30)
	FROM generate_series(1, 60) i;

-- float
INSERT INTO key_sample
	SELECT 'float', t, v FROM unnest('{float4,float8}'::text[]) t,
		unnest('{0,-0,NaN,Infinity,-Infinity,1,-1,0.1,0.5,16777216,16777217,
			3.4028235e38,1.17549435e-38,1e-40,-1e-40,1.5,2.5e10,0.30000001192092896}'::text[]) v
	UNION ALL
	SELECT 'float', 'float8', v FROM unnest('{5e-324,-5e-324,
		1.7976931348623157e308,9007199254740993,0.30000000000000004,0.3,
		0.10000000149011612,1e-45,1e300}'::text[]) v
	UNION ALL
	SELECT 'float', t, (key_random(t, i, 60) - 30) || 'e' || (key_random('x' || t, i, 5) - 3)
	FROM unnest('{float4,float8}'::text[]) t, generate_series(1, 80) i;

-- text and char(n); only ASCII in the types that count bytes
INSERT INTO key_sample
	SELECT CASE t WHEN 'char(6)' THEN 'char(n)' ELSE 'text' END, t, v FROM unnest('{text,varchar,char(6),name}'::text[]) t,
		unnest(ARRAY['', ' ', 'a', 'a ', ' a', 'A', 'ab', 'a' || chr(9), 'a' || chr(10),
			chr(1), chr(127), chr(233), 'e' || chr(769), chr(8364), chr(128512), chr(65533),
			'\', '''', '"', 'null', 'NULL', '{}', '0', '00']) v
	UNION ALL
	SELECT CASE t WHEN 'char(6)' THEN 'char(n)' ELSE 'text' END, t, rtrim(key_pick('a', i, '{a,b,B,é,ß}') || key_pick('b', i, '{"",a," "}') ||
		key_pick('c' || t, i, '{"",a,é}'), key_pick('d' || t, i, '{""," "}'))
	FROM unnest('{text,varchar,char(6),name}'::text[]) t, generate_series(1, 40) i
	UNION ALL
	SELECT 'text', t, repeat(key_pick('r', i, '{x,é}'), n)
	FROM unnest('{text,varchar}'::text[]) t, generate_series(1, 2) i,
		unnest('{16,17,128,129,240,241,3000,5000}'::int[]) n
	UNION ALL
	SELECT 'text', '"char"', chr(i) FROM generate_series(1, 127) i
	UNION ALL
	SELECT 'text', '"char"', ''
	UNION ALL
	SELECT 'char(n)', 'bpchar', v FROM unnest(ARRAY['', ' ', 'a', 'a ', 'a  ', 'ab', ' a']) v
	UNION ALL
	SELECT 'enum', 'key_mood', unnest('{very sad,ok,happy}'::text[]);

-- everything else that is no composite
INSERT INTO key_sample
	SELECT 'bytes', 'bytea', '\x' || v FROM unnest('{"",00,0000,ff,00ff,61,6100}'::text[]) v
	UNION ALL
	SELECT 'bytes', 'bytea', '\x' || left(md5(key_random('y', i, 40)::text), 2 * key_random('l', i, 9)::int)
	FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'bool', 'bool', unnest('{t,f,true,false,on,off}'::text[])
	UNION ALL
	SELECT 'uuid', 'uuid', md5(key_random('u', i, 60)::text) FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'oid', 'oid', key_random('o', i, 60)::text FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'oid', 'oid', (4294967295 - key_random('o2', i, 20))::text FROM generate_series(1, 30) i
	UNION ALL
	SELECT 'macaddr', 'macaddr', left(md5(key_random('u', i, 60)::text), 12) FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'macaddr8', 'macaddr8', left(md5(key_random('u', i, 60)::text), 16) FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'macaddr8', 'macaddr8', '0011220102' || to_hex(16 + key_random('u', i, 60)) FROM generate_series(1, 50) i
	UNION ALL
	SELECT 'inet', 'inet', format('10.%s.%s.%s/%s', key_random('1', i, 2), 128 * key_random('2', i, 2),
		key_random('3', i, 2), key_pick('4', i, '{8,9,16,17,23,24,25,31,32,0}'))
	FROM generate_series(1, 150) i
	UNION ALL
	SELECT 'inet', 'inet', format('%s::%s/%s', key_pick('5', i, '{0,a00,2001:db8,0:0:0:0:ffff}'),
		key_pick('6', i, '{0,1,8000}'), key_pick('7', i, '{0,8,32,64,127,128}'))
	FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'inet', 'inet', unnest('{10.0.0.0,10.0.0.0/32,::10.0.0.0,::ffff:10.0.0.0,0.0.0.0/0,::/0}'::text[])
	UNION ALL
	SELECT 'bit', 'varbit', left(key_random('b', i, 30)::int::bit(20)::text || '0000000', n)
	FROM generate_series(1, 12) i, unnest('{0,1,7,8,9,15,16,17,20,25}'::int[]) n
	UNION ALL
	SELECT 'bit', 'bit(' || n || ')', left(key_random('b', i, 30)::int::bit(20)::text, n)
	FROM generate_series(1, 12) i, unnest('{8,17}'::int[]) n
	UNION ALL
	SELECT 'pg_lsn', 'pg_lsn', to_hex(key_random('p', i, 3) * 2147483647) || '/' || to_hex(key_random('q', i, 30))
	FROM generate_series(1, 150) i
	UNION ALL
	SELECT 'date', 'date', ('2000-01-01'::date + (key_random('d', i, 80)::int - 40))::text
	FROM generate_series(1, 100) i
	UNION ALL
	SELECT 'date', 'date', unnest('{infinity,-infinity,4714-11-24 BC,5874897-12-31}'::text[]);
INSERT INTO key_sample
	SELECT 'inet', 'cidr', network(value::inet)::text FROM key_sample WHERE grp = 'inet';
INSERT INTO key_sample
	SELECT t, t, v || key_pick('z', i, '{"",+00,+01,-01,+05:45}')
	FROM unnest('{timestamp,timestamptz}'::text[]) t, generate_series(1, 150) i,
		LATERAL (SELECT ('2024-03-31 00:00:00'::timestamp + key_random('t', i, 9) * interval '1 hour' +
			key_random('s', i, 3) * interval '1 microsecond')::text) s(v)
	UNION ALL
	SELECT t, t, v FROM unnest('{timestamp,timestamptz}'::text[]) t,
		unnest('{infinity,-infinity,4714-11-24 00:00:00+00 BC,294276-12-31 23:59:59.999999+00}'::text[]) v
	UNION ALL
	SELECT t, t, v || key_pick('z', i, '{+00,+01,-01,+00:30,-15:59:59}')
	FROM unnest('{time,timetz}'::text[]) t, generate_series(1, 150) i,
		LATERAL (SELECT ('08:00:00'::time + key_random('t', i, 9) * interval '30 minutes' +
			key_random('s', i, 2) * interval '1 microsecond')::text) s(v)
	UNION ALL
	SELECT t, t, v FROM unnest('{time,timetz}'::text[]) t, unnest('{00:00:00+00,24:00:00+00}'::text[]) v
	UNION ALL
	SELECT 'interval', 'interval', format('%s months %s days %s hours %s microseconds', key_random('a', i, 3) - 1,
		30 * (key_random('b', i, 3) - 1) + key_random('c', i, 3) - 1, 24 * (key_random('d', i, 3) - 1),
		key_random('e', i, 2) - 1)
	FROM generate_series(1, 250) i
	UNION ALL
	SELECT 'interval', 'interval', format('%s months %s days %s:00:54.775807', a, b, c)
	FROM unnest('{2147483647,-2147483648}'::bigint[]) a, unnest('{2147483647,-2147483648,0}'::bigint[]) b,
		unnest('{2562047788,-2562047788}'::bigint[]) c
	WHERE (a > 0) IS DISTINCT FROM (b > 0) OR (a > 0) IS DISTINCT FROM (c > 0)
	UNION ALL
	SELECT 'interval', 'interval', v FROM unnest('{infinity,-infinity}'::text[]) v
	WHERE current_setting('server_version_num')::int >= 170000
	UNION ALL
	SELECT 'jsonb', 'jsonb', v FROM unnest('{"null","\"null\"",[],"{}",[[]],"[{}]","\"\"",0,"\"0\"",[0],false}'::text[]) v
	UNION ALL
	SELECT 'jsonb', 'jsonb', format(
		key_pick('f', i, '{%1$s,[%1$s],"[%1$s, %2$s]","{\"a\": %1$s}","{\"a\": %1$s, \"bb\": %2$s}",
			"{\"bb\": %2$s, \"a\": %1$s}","{\"bb\": {\"x\": %1$s}, \"a\": [%2$s, {}]}",
			"{\"a\": [%2$s, {}], \"bb\": {\"x\": %1$s}}","{\"é\": %1$s, \"z\": 1, \"zz\": %2$s}"}'),
		key_pick('v1', i, '{1,1.0,1.00,-1,1e2,100,"\"1\"",true,"null",1e30,1e-30}'),
		key_pick('v2', i, '{1,1.0,"\"\"","\"a\"",[]}'))
	FROM generate_series(1, 300) i;

-- composite
INSERT INTO key_sample
	SELECT 'array', 'int4[]', v FROM unnest(ARRAY['{}', '{1}', '{1,2}', '[0:1]={1,2}', '[1:2]={1,2}', '[2:3]={1,2}',
		'{{1,2}}', '{{1},{2}}', '[0:0][1:2]={{1,2}}', '{NULL}', '{1,NULL}', '{NULL,1}', '{{{1,2}}}', '{1,2,NULL}', '{12}',
		'{256}', '{1,1}', '{1,1,1}', '{{1,1},{1,1}}', '{1,1,1,1}', '{{1,1,1,1}}']) v, generate_series(1, 2)
	UNION ALL
	SELECT 'array', t, format(key_pick('f', i, '{"{%s}","{%s,%s}","{{%s,%s}}","[0:1]={%s,%s}","{%s,%s,%s}"}'),
		key_pick('1', i, c), key_pick('2', i, c), key_pick('3', i, c))
	FROM generate_series(1, 100) i, (VALUES
		('int2[]', '{0,1,-1,NULL}'::text[]), ('int8[]', '{0,1,-1,NULL}'),
		('numeric[]', '{1,1.0,1.50,1.5,NaN,NULL,1e30}'), ('float8[]', '{0,-0,NaN,1,NULL}'),
		('text[]', '{a,aa,b,NULL,"\"\"","\"NULL\""}'), ('char(4)[]', '{a,"\"a \"",b}'),
		('"char"[]', '{a,b,NULL}'), ('name[]', '{a,b}'), ('key_mood[]', '{ok,happy,NULL}'), ('bool[]', '{t,f,NULL}'),
		('interval[]', '{24:00,"1 day","0"}'), ('key_pair[]', '{"\"(1,a)\"","\"(,a)\"","\"(1,)\"",NULL}'),
		('numrange[]', '{"\"[1,2)\"","\"[1.0,2)\"",empty}'), ('jsonb[]', '{1,1.0,null,NULL}')) s(t, c)
	UNION ALL
	SELECT 'record', 'key_pair', format('(%s,%s)', key_pick('a', i, '{"",0,1,12}'),
		key_pick('b', i, '{"","\"\"",0,1,2,a,é,"\"(,)\""}'))
	FROM generate_series(1, 150) i
	UNION ALL
	SELECT 'range', t, format('%s%s,%s%s', key_pick('[', i, '{[,(}'), key_pick('l', i, l), key_pick('u', i, u),
		key_pick(']', i, '{],)}'))
	FROM generate_series(1, 150) i, (VALUES
		('int4range', '{"",1,2}'::text[], '{"",2,3}'::text[]),
		('numrange', '{"",1,1.0,2,-Infinity}', '{"",2,2.00,NaN,Infinity}'),
		('daterange', '{"",2000-01-01,-infinity}', '{"",2000-01-02,2000-01-03,infinity}'),
		('tsrange', '{"",2000-01-01,-infinity}', '{"",2000-01-02,infinity}'),
		('key_floatrange', '{"",0,-0}', '{"",0,-0,NaN}'),
		('key_textrange', '{"",a,"\"\""}', '{"",a,b}')) s(t, l, u)
	UNION ALL
	SELECT 'range', t, 'empty' FROM unnest('{int4range,numrange,daterange,tsrange,key_floatrange,key_textrange}'::text[]) t
	UNION ALL
	SELECT 'multirange', t, format('{%s%s,%s%s,%s%s,%s%s}', key_pick('[', i, '{[,(}'), key_pick('l', i, l),
		key_pick('u', i, u), key_pick(']', i, '{],)}'), key_pick('[2', i, '{[,(}'), key_pick('l2', i, l),
		key_pick('u2', i, u), key_pick(']2', i, '{],)}'))
	FROM generate_series(1, 150) i, (VALUES
		('int4multirange', '{"",1,2}'::text[], '{"",2,3}'::text[]),
		('nummultirange', '{"",1,1.0,2}', '{"",2,2.00,3}')) s(t, l, u)
	UNION ALL
	SELECT 'multirange', 'int4multirange', unnest('{"{}","{empty}","{[1,2),[5,6)}","{[5,5],[1,1]}","{[1,2),[2,3)}"}'::text[]);

-- rows of more types, with dropped columns
CREATE TABLE key_row (gone int, n numeric, f float4, gone2 text, c char(4), t timetz, m key_mood, a int[], p key_pair);
ALTER TABLE key_row DROP COLUMN gone;
INSERT INTO key_sample
	SELECT 'record', 'key_row', format('(%s,%s,gone%s,%s,%s,%s,"%s","%s")', key_pick('n', i, '{1,1.0,""}'), key_pick('f', i, '{0,-0}'), i,
		key_pick('c', i, '{a,"\"a \""}'), key_pick('t', i, '{12:00+00,13:00+01}'), key_pick('m', i, '{ok,""}'),
		key_pick('a', i, '{"{}","{1,NULL}"}'), key_pick('p', i, '{"(,)","(1,)"}'))
	FROM generate_series(1, 200) i;

--
-- Every pair of values of every two types of a group that have an "=".
--
CREATE FUNCTION key_check(OUT grp text, OUT ntypes bigint, OUT has_thousand bool, OUT has_equal bool,
	OUT has_different bool, OUT violations numeric, OUT examples text[]) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	left_type text;
	right_type text;
	counts bigint[];
	npairs bigint;
	nequal bigint;
	found text[];
BEGIN
	FOR grp, ntypes IN
		SELECT s.grp, count(DISTINCT s.type) FROM key_sample s GROUP BY 1 ORDER BY 1
	LOOP
		npairs := 0;
		nequal := 0;
		violations := 0;
		examples := '{}';
		FOR left_type, right_type IN
			WITH t AS (SELECT DISTINCT s.type FROM key_sample s WHERE s.grp = key_check.grp)
			SELECT a.type, b.type FROM t a, t b
		LOOP
			BEGIN
				EXECUTE format('WITH
					a AS MATERIALIZED (SELECT value, value::%1$s v, cf_hash(value::%1$s) h FROM key_sample WHERE grp = %3$L AND type = %1$L),
					b AS MATERIALIZED (SELECT value, value::%2$s v, cf_hash(value::%2$s) h FROM key_sample WHERE grp = %3$L AND type = %2$L)
					SELECT ARRAY[count(*), count(*) FILTER (WHERE a.v = b.v), count(*) FILTER (WHERE (a.v = b.v) IS DISTINCT FROM (a.h = b.h))],
						(array_agg(format(''%%s %%s %%s %%s'', pg_typeof(a.v), a.value, pg_typeof(b.v), b.value))
							FILTER (WHERE (a.v = b.v) IS DISTINCT FROM (a.h = b.h)))[1:3]
					FROM a, b', left_type, right_type, grp) INTO counts, found;
				npairs := npairs + counts[1];
				nequal := nequal + counts[2];
				violations := violations + counts[3];
				examples := examples || found;
			EXCEPTION
				WHEN undefined_function OR ambiguous_function OR datatype_mismatch THEN
					IF left_type = right_type THEN
						RAISE;
					END IF;
			END;
		END LOOP;
		has_thousand := npairs >= 1000;
		has_equal := nequal > 0;
		has_different := npairs > nequal;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM key_check();

--
-- What the table above cannot say
--
-- "char": a byte with the high bit is written in octal, as the server does
-- since 16
SELECT bool_and(cf_hash(i::"char") = cf_hash(format('\%s%s%s',
		(i + 256) / 64, (i + 256) / 8 % 8, (i + 256) % 8))) AS high_bit_is_octal
	FROM generate_series(-128, -1) i;

-- untyped literals are text, also inside a row, where they stay untyped
SELECT cf_hash('a') = cf_hash('a'::text) AS literal,
	cf_hash(ROW('a', NULL)) = cf_hash(ROW('a'::text, NULL::int)) AS in_row,
	cf_hash(ARRAY['a', NULL]) = cf_hash('{a,NULL}'::text[]) AS in_array;

-- domains, also over arrays and rows, and arrays and rows of them
CREATE DOMAIN key_int AS int CHECK (value > 0);
CREATE DOMAIN key_int2 AS key_int;
CREATE DOMAIN key_ints AS int[];
CREATE DOMAIN key_text AS text COLLATE "C";
CREATE DOMAIN key_pairs AS key_pair;
CREATE DOMAIN key_span AS int4range;
SELECT cf_hash(1::key_int2) = cf_hash(1) AS base,
	cf_hash('{1,2}'::key_ints) = cf_hash('{1,2}'::int[]) AS over_array,
	cf_hash('{1,2}'::key_int2[]) = cf_hash('{1,2}'::int[]) AS of_domain,
	cf_hash('a'::key_text) = cf_hash('a'::text) AS over_text,
	cf_hash('{a}'::key_text[]) = cf_hash('{a}'::text[]) AS of_text,
	cf_hash(ROW(1, 'a')::key_pairs) = cf_hash(ROW(1, 'a'::text)) AS over_row,
	cf_hash(ARRAY[ROW(1, 'a')::key_pairs]) = cf_hash(ARRAY[ROW(1, 'a'::text)]) AS of_row,
	cf_hash('[1,2]'::key_span) = cf_hash('[1,3)'::int4range) AS over_range,
	cf_hash(ROW(1::key_int, 'a'::key_text)) = cf_hash(ROW(1, 'a'::text)) AS in_row;

-- equal parts make equal wholes across the types of a family
SELECT cf_hash('{1,2}'::int2[]) = cf_hash('{1.0,2.00}'::numeric[]) AS arrays,
	cf_hash('[1,3)'::int8range) = cf_hash('[1.0,3)'::numrange) AS ranges,
	cf_hash('1 3'::int2vector) = cf_hash('[0:1]={1,3}'::int2[]) AS int2vectors,
	cf_hash('1 3'::oidvector) = cf_hash('[0:1]={1,3}'::oid[]) AS oidvectors;

-- anonymous records: all pairs of rows of several types, nested too
CREATE FUNCTION key_record_check(row_expression text, OUT npairs bigint, OUT violations bigint)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH v AS MATERIALIZED (SELECT v, cf_hash(v) h FROM (SELECT %s v
			FROM (VALUES (0), (1), (NULL)) a(a), (VALUES (''''), (''x''), (''xx''), (NULL)) b(b),
				(VALUES (1.0), (1.00), (NULL)) c(c)) s)
		SELECT count(*), count(*) FILTER (WHERE (a.v = b.v) IS DISTINCT FROM (a.h = b.h)) FROM v a, v b', row_expression)
		INTO npairs, violations;
END $$;
SELECT e, r.* FROM unnest(ARRAY['ROW(a, b)', 'ROW(b, a, c)', 'ROW(ROW(a), ROW(b, c))',
		'ROW(a, ARRAY[b], ARRAY[ROW(c, b)])', 'ROW(numrange(c, 2), jsonb_build_array(c, b))',
		'ARRAY[ROW(a, b), ROW(1, b)]', 'ROW(''k''::text, a, b::char(3), c)', 'ROW(a, a IS NULL, b::name)']) e,
	key_record_check(e) r;

-- of another type in every row of one call site
CREATE FUNCTION key_any_record(i int) RETURNS record LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	CASE i % 4
		WHEN 0 THEN r := ROW(i, 'a'::text);
		WHEN 1 THEN r := ROW(i);
		WHEN 2 THEN r := ROW(i::text, i::numeric, NULL::bool);
		ELSE r := ROW(i, 'a')::key_pair;
	END CASE;
	RETURN r;
END $$;
SELECT count(*) FILTER (WHERE cf_hash(key_any_record(i)) <> CASE i % 4
		WHEN 1 THEN cf_hash(ROW(i))
		WHEN 2 THEN cf_hash(ROW(i::text, i, NULL::bool))
		ELSE cf_hash(ROW(i, 'a'::text)) END) AS wrong
	FROM generate_series(1, 400) i;

-- a row type that changes: whole rows of a table with dropped and new columns
CREATE TABLE key_table (a int, gone text, b text);
INSERT INTO key_table VALUES (1, 'x', 'a'), (NULL, 'y', ''), (2, NULL, NULL);
CREATE FUNCTION key_table_wrong(expected text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	wrong bigint;
BEGIN
	EXECUTE format('SELECT count(*) FILTER (WHERE cf_hash(t) <> cf_hash(%s)) FROM key_table t', expected) INTO wrong;
	RETURN wrong;
END $$;
SELECT key_table_wrong('ROW(a, gone, b)');
ALTER TABLE key_table DROP COLUMN gone;
SELECT key_table_wrong('ROW(a, b)'), key_table_wrong('ROW(a, b)::key_pair');
ALTER TABLE key_table ADD COLUMN c numeric DEFAULT 1.0;
SELECT key_table_wrong('ROW(a, b, 1)');
ALTER TABLE key_table ALTER COLUMN a TYPE text;
SELECT key_table_wrong('ROW(a, b, c)'), key_table_wrong('ROW(a::int, b, c)');

-- enums: labels, not OIDs; many labels, and one that is not ASCII
CREATE TYPE key_mood2 AS ENUM ('happy', 'größe');
ALTER TYPE key_mood2 ADD VALUE 'very sad' BEFORE 'happy';
SELECT cf_hash('happy'::key_mood) = cf_hash('happy'::key_mood2) AS other_type,
	cf_hash('größe'::key_mood2) = cf_hash('größe'::text) AS as_text;
DO $$
BEGIN
	EXECUTE (SELECT format('CREATE TYPE key_many AS ENUM (%s)', string_agg(quote_literal('label' || i), ', '))
		FROM generate_series(1, 500) i);
END $$;
SELECT count(*) FILTER (WHERE cf_hash(e) <> cf_hash(e::text)) AS wrong, count(DISTINCT cf_hash(e)) AS labels
	FROM generate_series(1, 3), unnest(enum_range(NULL::key_many)) e;
-- a label that is renamed in sight of a call that has seen the old one
CREATE FUNCTION key_label(e key_mood2) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN cf_hash(e); END $$;
BEGIN;
SELECT key_label('happy') = cf_hash('happy'::text) AS old_label;
ALTER TYPE key_mood2 RENAME VALUE 'happy' TO 'glad';
SELECT key_label('glad') = cf_hash('glad'::text) AS new_label;
ROLLBACK;

-- the same values stored compressed, out of line, both and neither
CREATE TABLE key_toast (storage text, t text, b bytea, n numeric, j jsonb, a text[], v varbit, p key_pair, i inet, e interval);
CREATE FUNCTION key_toast_fill(storage text, columns text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY string_to_array(columns, ',')
	LOOP
		EXECUTE format('ALTER TABLE key_toast ALTER COLUMN %I SET STORAGE %s', name, storage);
	END LOOP;
	INSERT INTO key_toast SELECT storage, repeat(w, n), convert_to(repeat(w, n), 'UTF8'), ('1' || repeat('0123', n) || '.5')::numeric,
		jsonb_build_object('k', repeat(w, n), 'key' || w, 1.50), ARRAY[repeat(w, n), NULL, 'x'], repeat('10', n)::varbit,
		ROW(n, repeat(w, n))::key_pair, '10.1.2.3', '1 day'
		FROM unnest('{ab,é}'::text[]) w, unnest('{1,70,3000,20000}'::int[]) n;
END $$;
SELECT count(*) AS rounds FROM unnest('{main,extended,external}'::text[]) s, LATERAL (SELECT key_toast_fill(s, 't,b,n,j,a,v,p')) f;
WITH h AS (SELECT storage, string_agg(concat_ws(' ', cf_hash(t), cf_hash(b), cf_hash(n), cf_hash(j), cf_hash(a), cf_hash(v),
		cf_hash(p), cf_hash(i), cf_hash(e), cf_hash(ROW(t, j, p))), ' ' ORDER BY length(t), t) all_hashes
	FROM key_toast GROUP BY storage)
SELECT count(*) AS storages, count(DISTINCT all_hashes) AS contents FROM h;
SELECT count(*) FILTER (WHERE cf_hash(t) <> cf_hash(t || '')) AS t, count(*) FILTER (WHERE cf_hash(b) <> cf_hash(b || '')) AS b,
	count(*) FILTER (WHERE cf_hash(n) <> cf_hash(n + 0)) AS n, count(*) FILTER (WHERE cf_hash(j) <> cf_hash(j || '{}')) AS j,
	count(*) FILTER (WHERE cf_hash(a) <> cf_hash(a || '{}'::text[])) AS a, count(*) FILTER (WHERE cf_hash(v) <> cf_hash(v || '')) AS v,
	count(*) FILTER (WHERE cf_hash(p) <> cf_hash(ROW((p).a, (p).b || ''))) AS p
	FROM key_toast;

-- deep nesting
SELECT cf_hash(j) = cf_hash(replace(j::text, '1.0', '1.00')::jsonb) AS deep_json
	FROM (SELECT (repeat('{"bb": 1.0, "a": [', 500) || repeat(']}', 500))::jsonb j) s;

--
-- Refused types, each with what to do about it
--
CREATE FUNCTION key_error(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	hint text;
	detail text;
BEGIN
	EXECUTE format('SELECT cf_hash(%s)', expression);
	RETURN 'accepted';
EXCEPTION
	WHEN others THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
		RETURN concat_ws(' | ', SQLSTATE, message, NULLIF(detail, ''), NULLIF(hint, ''));
END $$;
CREATE TYPE key_json_row AS (a int, j json);
CREATE DOMAIN key_json AS json;
CREATE TYPE key_moneyrange AS RANGE (subtype = money);
-- one in full, of the others whatever is not like it
\pset format unaligned
SELECT key_error('''{}''::json');
SELECT e, r FROM unnest(ARRAY['1::money', '''(1,2)''::point', '''(1,2),(3,4)''::box',
		'''int4''::regtype', '''pg_class''::regclass', '''a b''::tsvector', '''1''::xid', '''(0,1)''::tid', '''$.a''::jsonpath',
		'ARRAY[''{}''::json]', '''{}''::key_json', 'ARRAY[''(1,2)''::point]', 'ROW(1, NULL::json)', 'ROW(1, NULL)::key_json_row',
		'ARRAY[ROW(1, ROW(''1''::xid))]', '''[1,2)''::key_moneyrange', '''{[1,2)}''::key_moneymultirange',
		'''{}''::json::text', '''pg_class''::regclass::oid', '(''$.a''::jsonpath)::text']) e,
	LATERAL (SELECT replace(key_error(e), '0A000 | cannot use values of type', 'refused:')) s(r);

-- a type with an equality of its own
CREATE TYPE key_odd AS (a int);
CREATE FUNCTION key_odd_cmp(key_odd, key_odd) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs($1.a) - abs($2.a)';
CREATE FUNCTION key_odd_eq(key_odd, key_odd) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1.a) = abs($2.a)';
CREATE OPERATOR = (FUNCTION = key_odd_eq, LEFTARG = key_odd, RIGHTARG = key_odd, COMMUTATOR = =);
CREATE OPERATOR CLASS key_odd_ops DEFAULT FOR TYPE key_odd USING btree AS OPERATOR 3 =, FUNCTION 1 key_odd_cmp(key_odd, key_odd);
CREATE FUNCTION key_ci_cmp(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS
	'SELECT CASE WHEN lower($1) < lower($2) THEN -1 ELSE (lower($1) > lower($2))::int END';
CREATE FUNCTION key_ci_eq(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT lower($1) = lower($2)';
CREATE OPERATOR === (FUNCTION = key_ci_eq, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ===);
CREATE OPERATOR CLASS key_ci_ops FOR TYPE text USING btree AS OPERATOR 3 ===, FUNCTION 1 key_ci_cmp(text, text);
CREATE TYPE key_cirange AS RANGE (subtype = text, subtype_opclass = key_ci_ops, collation = "C");
CREATE TYPE key_patternrange AS RANGE (subtype = text, subtype_opclass = text_pattern_ops, collation = "C");
SELECT e, key_error(e) FROM unnest(ARRAY['ROW(1)::key_odd', 'ARRAY[ROW(1)::key_odd]', 'ROW(1, ROW(1)::key_odd)',
	'''[a,b)''::key_cirange', '''{[a,b)}''::key_cimultirange', '''[a,b)''::key_patternrange']) e;

--
-- Collations.  The catalog is changed by hand: not every server has ICU, and
-- no other provider makes a nondeterministic collation.
--
CREATE COLLATION key_nd (provider = libc, locale = 'C');
UPDATE pg_collation SET collisdeterministic = false WHERE oid = 'key_nd'::regcollation;
CREATE COLLATION key_other (provider = libc, locale = 'C');
CREATE TYPE key_nd_row AS (a int, t text COLLATE key_nd);
CREATE TYPE key_nd_range AS RANGE (subtype = text, collation = key_nd);
CREATE DOMAIN key_nd_text AS text COLLATE key_nd;
CREATE TABLE key_nd_table (t text COLLATE key_nd, u text COLLATE key_other, v varchar(5) COLLATE key_nd, c char(5) COLLATE key_nd,
	n name COLLATE key_nd, a text[] COLLATE key_nd, i int, m key_mood);
INSERT INTO key_nd_table VALUES ('a', 'a', 'a', 'a', 'a', '{a}', 1, 'ok');
SELECT key_error('t) FROM key_nd_table --');
SELECT key_error('t || u) FROM key_nd_table --');
SELECT left(key_error(e || ') FROM key_nd_table x --'), 8) AS result, string_agg(e, '; ' ORDER BY i) AS expressions
	FROM unnest(ARRAY['t', 'v', 'c', 'n', 'a', 'ROW(i, t)', 'ARRAY[ROW(i, t)]',
		'ROW(ROW(a))', 'ROW(1, ''a'')::key_nd_row', 'ARRAY[ROW(1, ''a'')::key_nd_row]', '''[a,b)''::key_nd_range',
		'''{[a,b)}''::key_nd_multirange', 'ROW(''[a,b)''::key_nd_range)', '''a''::key_nd_text', 'ARRAY[''a''::key_nd_text]', 'x',
		'lower(t)', 't || u', 'ROW(t || u)', 'ARRAY[t, u]', 'u', 't COLLATE "C"', 'a COLLATE "C"', 'lower(t) COLLATE "C"',
		'(t || u) COLLATE "C"', 'ROW(i, t COLLATE "C")', 'i', 'm', 'ROW(i, m)', '''a''::"char"', 'convert_to(t, ''UTF8'')', '''x''',
		'ROW(''x'', i)']) WITH ORDINALITY s(e, i)
	GROUP BY 1 ORDER BY 1;
\pset format aligned

--
-- The same keys through every way into a filter
--
CREATE FUNCTION key_filter_check(OUT type text, OUT aggregated bool, OUT added bool, OUT added_all bool,
	OUT each bool) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
	FOR type IN
		SELECT DISTINCT s.type COLLATE "C" FROM key_sample s ORDER BY 1
	LOOP
		EXECUTE format('WITH s AS MATERIALIZED (SELECT value::%1$s AS v FROM key_sample WHERE type = %1$L),
				f AS MATERIALIZED (SELECT cf_agg(v) AS f FROM s)
			SELECT bool_and(cf_contains(f, v)), bool_and(cf_contains(cf_add(cf_new(10), v), v)) FROM s, f',
			type) INTO aggregated, added;
		-- arrays do not make an array unless they are of the same size
		IF type LIKE '%[]' THEN
			added_all := NULL;
			each := NULL;
		ELSE
			EXECUTE format('WITH s AS MATERIALIZED (SELECT value::%1$s AS v FROM key_sample WHERE type = %1$L),
					a AS MATERIALIZED (SELECT array_agg(v) || NULL::%1$s AS a FROM s),
					f AS MATERIALIZED (SELECT cf_add_all(cf_new(10000), a) AS f FROM a)
				SELECT (SELECT bool_and(cf_contains(f, v)) FROM f, s),
					(SELECT array_agg(e) = array_fill(true, ARRAY[cardinality(a) - 1]) || NULL::bool
						FROM f, unnest(cf_contains_each(f, a)) e) FROM a',
				type) INTO added_all, each;
		END IF;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM key_filter_check();

--
-- The same keys in databases of other encodings
--
CREATE DATABASE regression_key_latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C';
CREATE DATABASE regression_key_euc_jp TEMPLATE template0 ENCODING 'EUC_JP' LOCALE_PROVIDER libc LOCALE 'C';
CREATE DATABASE regression_key_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C';

\c regression_key_latin1
SET client_min_messages = warning;
CREATE EXTENSION cuckoo_filter;
\i :golden
CREATE TYPE key_word AS ENUM (U&'gr\00f6\00dfe');
SELECT count(*) AS wrong FROM generate_series(1, 255) i
	WHERE i NOT BETWEEN 128 AND 159 AND cf_hash(chr(i)) <> cf_hash(convert_to(chr(i), 'UTF8'));
SELECT cf_hash(U&'\00e9 '::char(5)) = cf_hash('\xc3a9'::bytea) AS bpchar,
	cf_hash(U&'\00e9 '::varchar(5)) = cf_hash('\xc3a920'::bytea) AS varchar,
	cf_hash(U&'\00e9'::name) = cf_hash('\xc3a9'::bytea) AS name,
	cf_hash(U&'gr\00f6\00dfe'::key_word) = cf_hash('\x6772c3b6c39f65'::bytea) AS enum,
	cf_hash(ARRAY[U&'\00e9']) = cf_hash('\x01000000010000000100000003'::bytea || '\x02000000c3a9'::bytea) AS array,
	cf_hash(ROW(U&'\00e9')) = cf_hash('\x010000000302000000c3a9'::bytea) AS record,
	cf_hash(jsonb_build_object(U&'\00e9', U&'\00e9', 'zz', 1)) =
		cf_hash('\x0602000000020000007a7a0308000000010000000000000002000000c3a90402000000c3a9'::bytea) AS jsonb,
	cf_hash(repeat(U&'\00e9', 100000)) = cf_hash(convert_to(repeat(U&'\00e9', 100000), 'UTF8')) AS long;

\c regression_key_euc_jp
SET client_min_messages = warning;
CREATE EXTENSION cuckoo_filter;
CREATE TYPE key_word AS ENUM (U&'\65e5\672c');
SELECT cf_hash(U&'\65e5\672c') = cf_hash('\xe697a5e69cac'::bytea) AS text,
	cf_hash(U&'\65e5\672c'::char(5)) = cf_hash('\xe697a5e69cac'::bytea) AS bpchar,
	cf_hash(U&'\65e5\672c'::key_word) = cf_hash('\xe697a5e69cac'::bytea) AS enum,
	cf_hash(U&'a\65e5') = cf_hash('\x61e697a5'::bytea) AS mixed;

\c regression_key_ascii
SET client_min_messages = warning;
CREATE EXTENSION cuckoo_filter;
\i :golden
SELECT cf_hash(E'\xe9') = cf_hash('\xe9'::bytea) AS bytes_as_they_are;

\c :database
DROP DATABASE regression_key_latin1;
DROP DATABASE regression_key_euc_jp;
DROP DATABASE regression_key_ascii;
