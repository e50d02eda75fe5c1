--
-- resolve: what an argument may look like.
--
-- cf_contains, cf_add and all others are declared once, for anycompatible:
-- untyped literals and parameters arrive as text, everything else as itself.
-- Each kind of argument is tried as a function's, an operator's and an
-- aggregate's.  Key bytes are not the matter here but in room key.
--
SET client_min_messages = warning;
CREATE SCHEMA resolve;
SET search_path = resolve, public;

CREATE DOMAIN d_int AS int CHECK (VALUE > 0);
CREATE DOMAIN d_text AS text;
CREATE DOMAIN d_d_text AS d_text;
CREATE DOMAIN d_array AS int[];
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TABLE r (i2 int2, i4 int4, i8 int8, n numeric, t text, vc varchar(10), c5 char(5), nm name, qc "char", b bytea, u uuid,
	di d_int, dt d_text, ddt d_d_text, m mood, p pair, a2 int2[], a4 int4[], a8 int8[], at text[], avc varchar(10)[], ac5 char(5)[], anm name[],
	adi d_int[], adt d_text[], da d_array, au uuid[], ab bytea[], am mood[], nul int, nult text);
INSERT INTO r VALUES (7, 7, 7, 7.0, 'seven', 'seven', 'seven', 'seven', 's', '\x07', '00000000-0000-0000-0000-000000000007',
	7, 'seven', 'seven', 'happy', (7, 'seven'), '{7}', '{7}', '{7}', '{seven}', '{seven}', '{seven}', '{seven}',
	'{7}', '{seven}', '{7}', '{00000000-0000-0000-0000-000000000007}', '{"\\x07"}', '{happy}', NULL, NULL);
CREATE FUNCTION seven() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7';

-- the result of a query as text, or its SQLSTATE
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	RETURN coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

--
-- One value: added, found by the function, by both operators and its mirror,
-- in what the aggregate builds; counted, hashed, removed; and its family
--
CREATE TABLE kinds (n int GENERATED ALWAYS AS IDENTITY, expression text);
INSERT INTO kinds (expression) VALUES
	-- constants
	('''seven'''), ('''7'''), ('7'), ('7::int2'), ('7::int8'), ('70000000000'), ('7.0'), ('7.5'), ('''seven''::text'), ('''seven''::varchar'), ('''seven''::varchar(3)'), ('''seven''::char(9)'),
	('''seven''::name'), ('''s''::"char"'), ('''\x07'''), ('''\x07''::bytea'), ('E''\\x07''::bytea'), ('''00000000-0000-0000-0000-000000000007'''), ('''00000000-0000-0000-0000-000000000007''::uuid'),
	('''7''::d_int'), ('7::d_int'), ('''seven''::d_text'), ('''seven''::d_d_text'), ('''happy''::mood'), ('''{a,b}'''), ('$$seven$$'), ('U&''\0073even'''), ('''seven'' COLLATE "C"'), ('-7'), ('+7'), ('true'),
	-- columns
	('i2'), ('i4'), ('i8'), ('n'), ('t'), ('vc'), ('c5'), ('nm'), ('qc'), ('b'), ('u'), ('di'), ('dt'), ('ddt'), ('m'), ('t COLLATE "C"'),
	-- expressions
	('i4 + 1'), ('i2 + i8'), ('t || ''x'''), ('i4::text'), ('t::varchar(3)'), ('seven()'), ('upper(t)'), ('coalesce(nul, 7)'), ('coalesce(nult, ''x'')'), ('coalesce(i2, i8)'),
	('nullif(i4, 8)'), ('greatest(i2, i4)'), ('CASE WHEN i4 = 7 THEN ''a'' ELSE ''b'' END'), ('CASE WHEN i4 = 7 THEN i2 ELSE i8 END'), ('CASE WHEN true THEN t ELSE ''b'' END'),
	('(SELECT 7)'), ('(SELECT ''seven'')'), ('(SELECT i8 FROM r)'), ('(SELECT t FROM r LIMIT 1)'), ('(VALUES (7))'), ('(p).a'), ('(p).b'), ('a4[1]'), ('at[1]'), ('(ARRAY[7, 8])[1]'),
	-- arrays and rows as one value
	('a4'), ('at'), ('avc'), ('ac5'), ('adi'), ('da'), ('ARRAY[7, 8]'), ('ARRAY[''a'', ''b'']'), ('ARRAY[i2, 8]'), ('''{7}''::int[]'), ('p'), ('ROW(7, ''seven'')'), ('ROW(i4, t)'), ('(7, ''seven'')::pair'), ('r.p'),
	-- NULL: not a value, of no family
	('NULL'), ('NULL::int'), ('NULL::text'), ('nul'), ('nult'), ('(SELECT 7 WHERE false)');
SELECT expression, try(format('SELECT coalesce((cf_info(cf_add(cf_new(10), %s))).family, ''none'') FROM r', expression)) AS family,
	try(format('SELECT cf_contains(cf_add(cf_new(10), %1$s), %1$s) FROM r', expression)) AS function,
	try(format('SELECT cf_add(cf_new(10), %1$s) @> (%1$s) FROM r', expression)) AS operator,
	try(format('SELECT (%1$s) <@ cf_add(cf_new(10), %1$s) FROM r', expression)) AS mirror,
	try(format('SELECT cf_contained(%1$s, cf_add(cf_new(10), %1$s)) FROM r', expression)) AS contained,
	try(format('SELECT cf_contains((SELECT cf_agg(%1$s) FROM r), %1$s) FROM r', expression)) AS aggregate,
	try(format('SELECT cf_count(cf_add(cf_new(10), %1$s), %1$s) FROM r', expression)) AS count,
	try(format('SELECT cf_contains_hash(cf_add(cf_new(10), %1$s), cf_hash(%1$s)) FROM r', expression)) AS hash,
	try(format('SELECT cf_count(cf_remove(cf_add(cf_new(10), %1$s), %1$s)) FROM r', expression)) AS removed
	FROM kinds ORDER BY n;
-- the five arities of the aggregate take what one does
SELECT count(*), count(*) FILTER (WHERE one <> ALL (ARRAY[two, three, four, five])) AS differ FROM kinds,
	LATERAL (SELECT try(format('SELECT cf_contains(cf_agg(%1$s), 7) FROM r', expression)) AS one,
		try(format('SELECT cf_contains(cf_agg(%1$s, 10), 7) FROM r', expression)) AS two,
		try(format('SELECT cf_contains(cf_agg(%1$s, 10, 0.01), 7) FROM r', expression)) AS three,
		try(format('SELECT cf_contains(cf_agg(%1$s, 10, 0.01, 4), 7) FROM r', expression)) AS four,
		try(format('SELECT cf_contains(cf_agg(%1$s, 10, 0.01, 4, 0), 7) FROM r', expression)) AS five) s;
-- and so do count and cf_contains over unlike types of one family
SELECT count(*) AS pairs, count(*) FILTER (WHERE try(format('SELECT cf_contains(cf_add(cf_new(10), %s), %s) FROM r', a, b)) <> 'true') AS wrong
	FROM unnest('{7,7::int2,7::int8,''7''::d_int,i2,i4,i8,di,seven(),(SELECT 7),(p).a,a4[1]}'::text[]) a, unnest('{7,7::int2,7::int8,''7''::d_int,i2,i4,i8,di,seven(),(SELECT 7),(p).a,a4[1]}'::text[]) b;
SELECT count(*) AS pairs, count(*) FILTER (WHERE try(format('SELECT cf_add(cf_new(10), %s) @> %s FROM r', a, b)) <> 'true') AS wrong
	FROM unnest('{''seven'',''seven''::text,''seven''::varchar(9),''seven''::char(9),''seven''::name,t,vc,c5,nm,dt,ddt,(SELECT t FROM r),(p).b,at[1]}'::text[]) a,
		unnest('{''seven'',''seven''::text,''seven''::varchar(9),''seven''::name,t,vc,nm,dt,ddt,(SELECT t FROM r),(p).b,at[1]}'::text[]) b;
-- a text can be a char(n), but not the other way round
SELECT a AS held, count(*), count(*) FILTER (WHERE result <> 'true') AS wrong, count(*) FILTER (WHERE result <> '42804') AS not_refused
	FROM unnest('{''seven'',t,vc,nm,''seven''::char(9),c5}'::text[]) a, unnest('{''seven''::char(9),c5,ac5[1]}'::text[]) b,
		try(format('SELECT cf_add(cf_new(10), %s) @> %s FROM r', a, b)) result GROUP BY 1 ORDER BY 1;

--
-- Arrays of elements: added, found by any, all and each, removed
--
CREATE TABLE array_kinds (n int GENERATED ALWAYS AS IDENTITY, expression text);
INSERT INTO array_kinds (expression) VALUES
	('''{a,b}'''), ('''{7,8}'''), ('''{}'''), ('''{7}''::int2[]'), ('''{7}''::int[]'), ('''{7}''::int8[]'), ('ARRAY[7, 8]'), ('ARRAY[7, 8::int2]'), ('ARRAY[7, NULL]'), ('ARRAY[''a'', ''b'']'), ('ARRAY[''a'', NULL]'), ('ARRAY[''a'', t]'),
	('ARRAY[''a''::varchar, ''b'']'), ('ARRAY[''a''::char(3)]'), ('ARRAY[''a''::name]'), ('ARRAY[i2, i4, i8]'), ('ARRAY[t, vc]'), ('ARRAY[dt, dt]'), ('ARRAY[di, 8]'), ('ARRAY[m]'), ('ARRAY[u]'), ('ARRAY[b]'),
	('a2'), ('a4'), ('a8'), ('at'), ('avc'), ('ac5'), ('anm'), ('adi'), ('adt'), ('da'), ('au'), ('ab'), ('am'), ('ARRAY(SELECT 7)'), ('ARRAY(SELECT t FROM r)'), ('(SELECT array_agg(i4) FROM r)'), ('a4 || 8'),
	('ARRAY[[7, 8], [9, 10]]'), ('ARRAY[]::int[]'), ('NULL::int[]'), ('NULL'), ('string_to_array(''a b'', '' '')'), ('coalesce(a4, ''{}'')'), ('ARRAY[p, (8, ''eight'')::pair]'),
	('7'), ('''seven''::text'), ('ROW(7)'), ('''not an array''');
SELECT expression, try(format('SELECT coalesce((cf_info(cf_add_all(cf_new(10), %s))).family, ''none'') FROM r', expression)) AS family,
	try(format('SELECT cf_contains_any(cf_add_all(cf_new(10), %1$s), %1$s) FROM r', expression)) AS any,
	try(format('SELECT cf_contains_all(cf_add_all(cf_new(10), %1$s), %1$s) FROM r', expression)) AS all,
	try(format('SELECT cf_contains_each(cf_add_all(cf_new(10), %1$s), %1$s) FROM r', expression)) AS each,
	try(format('SELECT cf_count(cf_add_all(cf_new(10), %1$s)) FROM r', expression)) AS added,
	try(format('SELECT cf_count(cf_remove_all(cf_add_all(cf_new(10), %1$s), %1$s)) FROM r', expression)) AS left_over
	FROM array_kinds ORDER BY n;

--
-- Parameters: untyped ones are text, as literals are
--
CREATE TABLE filters AS SELECT cf_add_all(cf_new(10), '{7,8}'::int[]) AS ints, cf_add_all(cf_new(10), '{7,eight}'::text[]) AS texts;
PREPARE untyped AS SELECT texts @> $1, cf_contains(texts, $1), $1 <@ texts, pg_typeof($1) FROM filters;
EXECUTE untyped('7');
EXECUTE untyped('eight');
EXECUTE untyped(NULL);
PREPARE untyped_add AS SELECT (cf_info(cf_add(cf_new(10), $1))).family, cf_add(cf_new(10), $1) @> '7';
EXECUTE untyped_add('7');
PREPARE untyped_array AS SELECT cf_contains_any(texts, $1), cf_contains_all(texts, $1), cf_contains_each(texts, $1), pg_typeof($1) FROM filters;
EXECUTE untyped_array('{7,nine}');
PREPARE untyped_aggregate AS SELECT (cf_info(cf_agg($1))).family, cf_agg($1, 10) @> '7' FROM generate_series(1, 3);
EXECUTE untyped_aggregate('7');
PREPARE untyped_hash AS SELECT cf_hash($1) = cf_hash('7'::text);
EXECUTE untyped_hash('7');
-- so a filter of numbers wants a cast, and says so
PREPARE untyped_number AS SELECT ints @> $1 FROM filters;
EXECUTE untyped_number('7');
PREPARE cast_number AS SELECT ints @> $1::bigint, cf_contains(ints, $1::bigint), pg_typeof($1) FROM filters;
EXECUTE cast_number(7);
SELECT ints @> '7' FROM filters;
-- typed ones are what they are
PREPARE typed(int2, bigint, varchar, text[], int[]) AS SELECT ints @> $1, ints @> $2, texts @> $3, cf_contains_all(texts, $4), cf_contains_each(ints, $5) FROM filters;
EXECUTE typed(7, 8, 'eight', '{eight,7}', '{8,9}');
SET plan_cache_mode = force_generic_plan;
EXECUTE typed(9, 7, 'nine', '{eight,9}', '{}');
EXECUTE untyped('7');
RESET plan_cache_mode;
-- two parameters, neither typed but by the function
PREPARE untyped_filter AS SELECT cf_contains($1, $2), pg_typeof($1), pg_typeof($2);
SELECT texts AS texts FROM filters \gset
EXECUTE untyped_filter(:'texts', 'eight');
PREPARE mirrored AS SELECT $1 <@ texts FROM filters;
EXECUTE mirrored('eight');

--
-- PL/pgSQL: parameters, variables, polymorphic functions
--
CREATE FUNCTION by_int(f cuckoofilter, v int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN f @> v AND v <@ f AND cf_contains(f, v); END $$;
CREATE FUNCTION by_text(f cuckoofilter, v text) RETURNS bool LANGUAGE plpgsql AS $$ DECLARE w varchar(20) := v; BEGIN RETURN f @> v AND f @> w; END $$;
CREATE FUNCTION by_any(f cuckoofilter, v anyelement) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN f @> v; END $$;
CREATE FUNCTION by_sql(f cuckoofilter, v anyelement) RETURNS bool LANGUAGE sql AS $$ SELECT f @> v $$;
CREATE FUNCTION by_array(f cuckoofilter, VARIADIC v anyarray) RETURNS bool[] LANGUAGE plpgsql AS $$ BEGIN RETURN cf_contains_each(f, v); END $$;
CREATE FUNCTION by_row(f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	row record;
	answers text := '';
BEGIN
	FOR row IN SELECT * FROM (VALUES (7::int2, 8::int8, 9::int)) v(a, b, c) LOOP
		answers := concat_ws(' ', f @> row.a, f @> row.b, f @> row.c);
	END LOOP;
	RETURN answers;
END $$;
SELECT by_int(ints, 7), by_text(texts, 'eight'), by_any(ints, 7::int2), by_any(texts, 'eight'::text), by_any(ints, 9::bigint), by_sql(ints, 8), by_sql(texts, 'x'::varchar),
	by_array(ints, 7, 9), by_array(texts, 'eight'::text, 'nine'), by_row(ints) FROM filters;
DO $$
DECLARE
	f cuckoofilter := cf_new(10);
	v bigint := 7;
BEGIN
	f := cf_add(f, v);
	f := cf_add(f, 8);
	f := cf_add_all(f, ARRAY[9, v]);
	ASSERT f @> 7 AND f @> 8::int2 AND f @> 9 AND NOT f @> 10 AND cf_count(f, v) = 2;
	EXECUTE 'SELECT cf_remove($1, $2)' INTO f USING f, 8;
	ASSERT NOT f @> 8;
END $$;

--
-- Places: VALUES, DEFAULT, generated columns, checks, joins, sets, views
--
SELECT v, ints @> v FROM filters, (VALUES (7), (9)) s(v);
SELECT v, ints @> v FROM filters, (VALUES (7::int2), (80000000000)) s(v);
SELECT v, texts @> v FROM filters, (VALUES ('7'), ('eight'), ('nine')) s(v);
SELECT v, ints @> v FROM filters, generate_series(7, 9) v;
SELECT v FROM filters, unnest('{7,eight,9}'::text[]) v WHERE texts @> v ORDER BY v;
SELECT v FROM filters JOIN generate_series(1::bigint, 20) v ON v <@ ints ORDER BY v;
SELECT array_agg(v ORDER BY v) FROM (SELECT 7 AS v UNION SELECT 8 UNION ALL SELECT 9) s, filters WHERE ints @> v;
CREATE TABLE places (k int PRIMARY KEY, f cuckoofilter DEFAULT cf_add(cf_new(10), 'made'), v text DEFAULT 'made',
	known bool GENERATED ALWAYS AS (f @> v) STORED, hash bigint GENERATED ALWAYS AS (cf_hash(v)) STORED, CHECK (f @> v OR v = 'x'));
INSERT INTO places VALUES (2, DEFAULT, DEFAULT), (3, cf_add(cf_new(10), 'x'), 'x'), (4, cf_new(5), 'x');
INSERT INTO places VALUES (1);
INSERT INTO places (k, v) VALUES (7, 'y');
SELECT k, known, hash = cf_hash(v) AS hash FROM places ORDER BY k;
INSERT INTO places VALUES (5, DEFAULT, DEFAULT), (6, DEFAULT, 'x');
UPDATE places SET f = cf_add(f, 'more'), v = 'more' WHERE k = 5;
SELECT k, known, v FROM places ORDER BY k;
CREATE INDEX ON places ((f @> 'made')) WHERE f @> 'more';
CREATE VIEW seen AS SELECT k, cf_contains(f, 'more') AS function, f @> 'more' AS operator, 'more' <@ f AS mirror FROM places;
SELECT * FROM seen ORDER BY k;

--
-- Refused: types without keys (0A000), and calls that nothing answers (42883)
--
SELECT cf_add(cf_new(10), point '(1,2)');
SELECT cf_contains_any(cf_add(cf_new(10), 1), ARRAY[json '1']);
SELECT cf_add(cf_new(10), cf_new(10));
SELECT try('SELECT ' || e) AS state, e FROM (VALUES
	('cf_add(cf_new(10), point ''(1,2)'')'), ('cf_new(10) @> point ''(1,2)'''), ('point ''(1,2)'' <@ cf_new(10)'), ('cf_agg(point ''(1,2)'')'),
	('cf_hash(point ''(1,2)'')'), ('cf_remove(cf_new(10), json ''1'')'), ('cf_add(cf_new(10), tsvector ''a'')'), ('cf_add(cf_new(10), money ''1'')'),
	('cf_add(cf_new(10), box ''(1,2),(3,4)'')'), ('cf_add(cf_new(10), ''(0,1)''::tid)'), ('cf_add(cf_new(10), ''1''::xid)'),
	('cf_add(cf_new(10), jsonpath ''$'')'), ('cf_add(cf_new(10), ROW(1, json ''1''))'), ('cf_add(cf_new(10), ARRAY[json ''1''])'),
	('cf_add_all(cf_new(10), ARRAY[json ''1''])'), ('cf_new(10) @> cf_new(10)'), ('cf_agg(cf_new(10))'),
	('cf_contains(cf_new(10))'), ('cf_contains(1, 1)'), ('1 @> cf_new(10)'), ('cf_new(10) <@ 1'), ('cf_add_all(cf_new(10), 1)'),
	('cf_contains_any(cf_new(10), 1)'), ('cf_add_hash(cf_new(10), 1.5)'), ('cf_add_hash(cf_new(10), ''x''::text)'), ('cf_new(''x''::text)'),
	('cf_count(1)'), ('cf_new(capacities => 1)'), ('cf_agg()'), ('cf_agg(1, ''x''::text)'), ('cf_agg(1, 2, 3, 4, 5, 6)'),
	-- an untyped first argument is read as a filter
	('cf_contains(''cf1:'', 1)'), ('''x'' @> 1')) v(e);

DROP SCHEMA resolve CASCADE;
