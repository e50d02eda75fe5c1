--
-- equal: where "=" is true, a probe is true or an error, never a quiet false.
--
-- All pairs of types that can be keys, as far as the server can compare them,
-- whether by an operator for just these types or by converting one of them.
--
SET client_min_messages = warning;
CREATE SCHEMA equal;
SET search_path = equal, public;
SET DateStyle = 'ISO';
SET TimeZone = 'Europe/Berlin';
CREATE TYPE mood AS ENUM ('a', 'P', 'ok ');
CREATE DOMAIN d_char AS char(5);
CREATE TYPE pair_text AS (i int, v text);
CREATE TYPE pair_char AS (i int, v char(5));
CREATE TYPE floatrange AS RANGE (subtype = float8);
CREATE TYPE charrange AS RANGE (subtype = bpchar, collation = "C");
-- NULL, or the SQLSTATE of the error that a statement ends with
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

-- the types: all of the server's and ours that can be elements of a filter
CREATE TABLE key_type AS
	SELECT oid, CASE oid WHEN 'bpchar'::regtype THEN 'bpchar' ELSE format_type(oid, NULL) END AS type FROM pg_type
	WHERE typtype IN ('b', 'd', 'e', 'r', 'm', 'c') AND typarray <> 0
		AND (typnamespace = 'pg_catalog'::regnamespace OR typnamespace = 'equal'::regnamespace) AND typtype <> 'c'
		AND error_of(format('SELECT cf_add_all(cf_new(1), ''{}''::%s[])', format_type(oid, NULL))) IS NULL;
INSERT INTO key_type SELECT t::regtype, t
	FROM unnest('{pair_text,pair_char,int2[],int4[],numeric[],float8[],text[],varchar[],bpchar[],name[],mood[],pair_char[],date[],timestamp[]}'::text[]) t;
INSERT INTO key_type VALUES ('bpchar'::regtype, 'char(5)'), ('varchar'::regtype, 'varchar(3)'), ('bit'::regtype, 'bit(3)');

-- the values: whatever of these is one of the type
CREATE TABLE sample AS
	SELECT type, value FROM key_type, unnest(ARRAY['', ' ', 'a', 'a ', ' a', 'P', 'P ', 'P    ', 'ok', 'ok ', '17', '017',
		'0', '-0', '1', '1.0', '-1', '1.5', '1.50', '1.6', '0.1', '16777216', '4294967295', '2147483648', '1e20', 'NaN', 'Infinity',
		't', 'f', '00000000-0000-0000-0000-000000000001', '08:00:2b:01:02:03', '08:00:2b:ff:fe:01:02:03', '10.0.0.0/8', '10.0.0.0', '10.0.0.0/32',
		'101', '1010', '0/1', '0/00000001', '\x01', '\x',
		'2024-10-27', '2024-10-27 00:00', '2024-10-27 00:00+02', '2024-10-27 12:00', '2024-10-27 02:30', '2024-10-27 02:30+01', '2024-10-27 02:30+02',
		'2024-03-31 02:30', '2024-03-31 03:30', '12:00', '12:00+00', '12:00+01', '12:00+02', '12:00:00', '1 day', '24:00', '36:00', '30 days', '1 month', 'infinity',
		'{}', '{1}', '{1.0}', '{a}', '{"a "}', '{P}', '{"P "}', '{2024-10-27}', '{NULL}', '1 2', '[0:1]={1,2}', '{1,2}',
		'(1,a)', '(1,"a ")', '(,)', '{"(1,a)"}', '{"(1,\"a \")"}', '"a"', '{"a": 1}', '{"a": 1.0}', 'null',
		'[1,3)', '[1,2]', '(0,2]', '[a,b)', '["a ",b)', 'empty', '[2024-10-27,)', '{[1,3)}', '{[1,2),[2,3)}', '{[2024-10-27,)}']) value
	WHERE error_of(format('SELECT %L::%s', value, type)) IS NULL
		-- "=" of oid and a negative bigint is an error
		AND (type, value) <> ('bigint', '-1');
SELECT count(DISTINCT type) >= 55 AS many_types, count(*) > 700 AS many_values FROM sample;
-- every "=" of the catalog whose sides can be keys is among the pairs
SELECT oid::regoperator FROM pg_operator
	WHERE oprname = '=' AND oprleft IN (SELECT oid FROM key_type) AND oprright IN (SELECT oid FROM key_type)
		AND (SELECT count(*) FROM key_type WHERE oid IN (oprleft, oprright) AND type IN (SELECT type FROM sample)) <
			(SELECT count(*) FROM key_type WHERE oid IN (oprleft, oprright));

-- what two types do: the number of equal pairs, and of those the filter does
-- not find; or the SQLSTATE of the probe
CREATE FUNCTION compare_types(held text, given text, wrap text, OUT npairs bigint, OUT nequal bigint, OUT nlost bigint, OUT state text, OUT example text)
LANGUAGE plpgsql AS $$
DECLARE
	pairs text := format('(SELECT a.v AS a, b.v AS b, %3$s = %4$s AS are_equal FROM (SELECT value::%1$s AS v FROM sample WHERE type = %1$L OFFSET 0) a,
		(SELECT value::%2$s AS v FROM sample WHERE type = %2$L OFFSET 0) b OFFSET 0) p', held, given,
		format(wrap, 'a.v'), format(wrap, 'b.v'));
BEGIN
	BEGIN
		EXECUTE 'SELECT count(*), count(*) FILTER (WHERE are_equal) FROM ' || pairs INTO npairs, nequal;
	EXCEPTION WHEN undefined_function OR ambiguous_function OR datatype_mismatch THEN
		RETURN;
	END;
	BEGIN
		EXECUTE format('SELECT count(*) FILTER (WHERE are_equal AND NOT f @> %2$s),
				min(format(''%%s | %%s'', a, b)) FILTER (WHERE are_equal AND NOT f @> %2$s)
			FROM (SELECT *, cf_add(cf_new(10), %1$s) AS f FROM %3$s OFFSET 0) s',
			format(wrap, 'a'), format(wrap, 'b'), pairs) INTO nlost, example;
	EXCEPTION WHEN OTHERS THEN
		state := SQLSTATE;
	END;
END $$;
CREATE TABLE compared AS
	SELECT held, given, c.* FROM (SELECT DISTINCT type FROM sample) a(held), (SELECT DISTINCT type FROM sample) b(given),
		compare_types(held, given, '%s') c WHERE npairs IS NOT NULL;
SELECT count(*) > 150 AS many_pairs_of_types, sum(nequal) > 2000 AS many_equal, count(state) > 10 AS many_refused FROM compared;
-- a quiet false, or an error that is none of ours
SELECT * FROM compared WHERE nlost > 0 OR state <> '42804';
-- in rows, too, where "=" goes by the columns
SELECT count(*) AS pairs_of_types, sum(nequal) > 1000 AS many_equal, sum(nlost) AS lost, count(state) AS refused
	FROM unnest('{text,"character varying",varchar(3),name,char(5),bpchar,d_char,integer,bigint,numeric}'::text[]) held,
		unnest('{text,"character varying",varchar(3),name,char(5),bpchar,d_char,smallint,bigint,numeric}'::text[]) given,
		unnest('{"ROW(1, %s)","ROW(ROW(%s, NULL::int), 1)"}'::text[]) wrap, compare_types(held, given, wrap) c
	WHERE npairs IS NOT NULL;

-- pairs that no list of types has: what is equal is found, or refused for a
-- reason of its own.  Only rows of different families are neither
CREATE DOMAIN d_pair AS pair_text CHECK ((VALUE).i > 0);
CREATE TABLE dropped (i int, x int, v text);
ALTER TABLE dropped DROP COLUMN x;
INSERT INTO dropped VALUES (1, 'q');
CREATE TABLE added (i int);
INSERT INTO added VALUES (1);
ALTER TABLE added ADD v text DEFAULT 'q';
CREATE TABLE odd_pair (held text, given text);
INSERT INTO odd_pair VALUES
	($$ROW(1, 'q')::d_pair$$, $$ROW(1, 'q')::pair_text$$), ($$ROW(1, 'q')::pair_text$$, $$ROW(1, 'q')::d_pair$$), ($$ROW(1, 'q')::d_pair$$, $$ROW(1, 'q'::text)$$),
	($$ROW(1, 'q'::text)$$, $$ROW(1.0, 'q'::varchar)$$), ($$ROW(1, 'q'::text)$$, $$ROW(1::bigint, 'q')$$), ($$ROW(ROW(1), 2)$$, $$ROW(ROW(1.0), 2.00)$$),
	($$(SELECT d FROM dropped d)$$, $$ROW(1, 'q')::pair_text$$), ($$ROW(1, 'q')::pair_text$$, $$(SELECT d FROM dropped d)$$), ($$(SELECT d FROM dropped d)$$, $$(SELECT a FROM added a)$$),
	($$(SELECT a FROM added a)$$, $$ROW(1, 'q')::pair_text$$), ($$ROW(1, NULL)::pair_text$$, $$ROW(1, NULL)::pair_text$$), ($$ARRAY[ROW(1, 'q')::pair_text]$$, $$ARRAY[(1, 'q')]::pair_text[]$$),
	($$'{}'::int[]$$, $$(ARRAY[1, 2])[2:1]$$), ($$'{}'::int[]$$, $$array_remove(ARRAY[1], 1)$$), ($$ARRAY[NULL, 1.0]$$, $$ARRAY[NULL, 1.00]$$), ($$ARRAY['-0'::float8]$$, $$ARRAY[0::float8]$$),
	($$'[-0,1)'::floatrange$$, $$'[0,1)'::floatrange$$), ($$'[NaN,NaN]'::floatrange$$, $$'[nan,nan]'::floatrange$$), ($$'[1.0,2)'::numrange$$, $$'[1.00,2.0)'::numrange$$),
	($$'(1,1)'::numrange$$, $$'empty'::numrange$$), ($$'[,infinity)'::daterange$$, $$'(,infinity)'::daterange$$), ($$'{empty,[1,2),[2,3)}'::int4multirange$$, $$'{[1,3)}'::int4multirange$$),
	($$'1'::jsonb$$, $$'1.00'::jsonb$$), ($$'-0'::jsonb$$, $$'0'::jsonb$$), ($$'{"a": [1e2, {"b": 1.50}]}'::jsonb$$, $$'{"a": [100, {"b": 1.5}]}'::jsonb$$), ($$'{"a": 1, "a": 2}'::jsonb$$, $$'{"a": 2}'::jsonb$$),
	($$'[]'::jsonb$$, $$'[1]'::jsonb - 0$$), ($$1e100$$, $$10::numeric ^ 100$$), ($$9223372036854775808$$, $$9223372036854775807::numeric + 1$$), ($$-9223372036854775808$$, $$(-9223372036854775808)::bigint$$),
	($$0.0$$, $$-0.00$$), ($$10000.0000$$, $$10000$$), ($$'-inf'::float4$$, $$'-inf'::float8$$), ($$0.1::float4$$, $$0.1::float4::float8$$), ($$'infinity'::date$$, $$'infinity'::timestamp$$),
	($$'-1 day +24:00'::interval$$, $$'0'::interval$$), ($$ARRAY['a'::char(5)]$$, $$ARRAY['a  '::bpchar]$$), ($$ARRAY['a']::d_char[]$$, $$ARRAY['a ']::d_char[]$$), ($$ROW('a'::char(5))$$, $$ROW('a'::text)$$),
	($$ROW(1::float8)$$, $$ROW(1)$$), ($$ROW('2024-01-01'::date)$$, $$ROW('2024-01-01'::timestamp)$$);
CREATE FUNCTION holds_as_equal(held text, given text, OUT are_equal boolean, OUT is_found boolean, OUT state text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT (%s) = (%s)', held, given) INTO are_equal;
	EXECUTE format('SELECT cf_add(cf_new(10), %s) @> (%s)', held, given) INTO is_found;
EXCEPTION WHEN OTHERS THEN
	state := SQLSTATE;
END $$;
SELECT count(*), count(*) FILTER (WHERE are_equal AND is_found) AS found FROM odd_pair, holds_as_equal(held, given);
SELECT o.*, h.* FROM odd_pair o, holds_as_equal(held, given) h WHERE are_equal IS NOT TRUE OR is_found IS NOT TRUE ORDER BY held;

--
-- Hints, followed to the letter, give the answer that "=" gives.
--
-- They write what is given as "value" or "elements", with a cast, and say to
-- build the filter of "value" with a cast where the other side is to change.
--
CREATE FUNCTION hint_of(statement text, OUT message text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
END $$;
-- pairs for which a filter of the one says another thing of the other than
-- reference does
CREATE FUNCTION wrong_answers(held text, given text, added text, probe text, reference text, OUT wrong bigint, OUT example text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*), min(format(''%%s | %%s'', a, b)) FROM (SELECT a.v AS a, b.v AS b FROM
			(SELECT value::%1$s AS v FROM sample WHERE type = %1$L OFFSET 0) a, (SELECT value::%2$s AS v FROM sample WHERE type = %2$L OFFSET 0) b) s
		WHERE (%5$s) IS DISTINCT FROM (cf_add(cf_new(10), %3$s) @> %4$s)', held, given, added, probe, reference) INTO wrong, example;
END $$;
CREATE TABLE followed AS
	SELECT held, given, message, hint, (regexp_match(hint, '"value((::[a-z0-9]+)+)"'))[1] AS cast_to, hint LIKE '%build the filter of "value%' AND hint NOT LIKE 'Cast%' AS builds
	FROM (SELECT held, given, (SELECT value FROM sample WHERE type = held LIMIT 1) AS h, (SELECT value FROM sample WHERE type = given LIMIT 1) AS g
			FROM compared WHERE state IS NOT NULL) c,
		hint_of(format('SELECT cf_add(cf_new(10), %L::%s) @> %L::%s', h, held, g, given));
SELECT message, hint, count(*) AS pairs, sum(wrong) AS wrong, min(example) AS example
	FROM followed, wrong_answers(held, given, CASE WHEN builds AND message NOT LIKE '%char(n)' THEN 'a' || cast_to ELSE 'a' END,
		CASE WHEN builds AND message NOT LIKE '%char(n)' THEN 'b' ELSE 'b' || cast_to END,
		CASE WHEN message LIKE '%char(n)' THEN 'a = b::text' ELSE 'a = b' END)
	GROUP BY 1, 2 ORDER BY 1, 2;
-- the other half of the hint for char(n): no quiet false
SELECT count(*) AS pairs, sum(nlost) AS lost
	FROM followed, LATERAL compare_types(held, given, '%s::bpchar') WHERE message LIKE '%char(n)';
-- the same with elements
SELECT message, hint, count(*) AS pairs, bool_and(result) AS holds
	FROM (SELECT held, given, h.value AS h, g.value AS g FROM compared, LATERAL (SELECT value FROM sample WHERE type = held LIMIT 1) h,
				LATERAL (SELECT value FROM sample WHERE type = given LIMIT 1) g
			WHERE state IS NOT NULL AND given NOT LIKE '%[]') c,
		hint_of(format('SELECT cf_contains_any(cf_add(cf_new(10), %L::%s), ARRAY[%L::%s])', h, held, g, given)),
		LATERAL (SELECT (regexp_match(hint, '"elements((::[a-z0-9]+\[\])+)"'))[1] AS cast_to) m,
		LATERAL (SELECT error_of(format('SELECT cf_contains_any(cf_add(cf_new(10), %L::%s), ARRAY[%L::%s]%s)', h, held, g, given, cast_to)) IS NULL AS result) r
	WHERE cast_to IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2;

-- a literal without a type: the cast that is named finds every value, but for
-- those of narrower types; the type of the values always does
SELECT hint, count(*) FILTER (WHERE by_example IS NOT NULL AND type NOT IN ('real', 'cidr', 'bit', 'bit(3)')) AS not_found,
		count(*) FILTER (WHERE by_type IS NOT NULL) AS not_found_by_type
	FROM sample, hint_of(format('SELECT cf_add(cf_new(10), %L::%s) @> %L', value, type, value)) h,
		LATERAL (SELECT (regexp_match(hint, '"\$1(::[a-z0-9_]+)"'))[1] AS cast_to) m,
		error_of(format('SELECT 1 / (cf_add(cf_new(10), %L::%s) @> %L%s)::int', value, type, value, cast_to)) by_example,
		error_of(format('SELECT 1 / (cf_add(cf_new(10), %L::%s) @> %L::%s)::int', value, type, value, type)) by_type
	WHERE cast_to IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT hint, count(*) FILTER (WHERE by_example IS NOT NULL AND type NOT IN ('real', 'cidr', 'bit', 'bit(3)')) AS not_found,
		count(*) FILTER (WHERE by_type IS NOT NULL) AS not_found_by_type
	FROM (SELECT *, format('{%s}', to_json(value)) AS a FROM sample) s,
		hint_of(format('SELECT cf_contains_all(cf_add(cf_new(10), %L::%s), %L)', value, type, a)) h,
		LATERAL (SELECT (regexp_match(hint, '"\$1(::[a-z0-9_]+\[\])"'))[1] AS cast_to) m,
		error_of(format('SELECT 1 / cf_contains_all(cf_add(cf_new(10), %L::%s), %L%s)::int', value, type, a, cast_to)) by_example,
		error_of(format('SELECT 1 / cf_contains_all(cf_add(cf_new(10), %L::%s), %L::%s[])::int', value, type, a, type)) by_type
	WHERE cast_to IS NOT NULL GROUP BY 1 ORDER BY 1;
-- integers by the shorter way
SELECT count(*) FILTER (WHERE NOT f @> value::bigint) AS not_found FROM sample, cf_add(cf_new(10), value::bigint) f WHERE type = 'bigint';

--
-- char(n): blanks mean nothing, in every way to add and to ask
--
CREATE TABLE padded AS SELECT cf_agg(v, 100) AS f, cf_agg(v::text, 100) AS t FROM (VALUES ('ab'::char(5)), ('c '), ('')) s(v);
SELECT f @> 'ab' AS untyped, f @> 'ab   ' AS padded, f @> 'ab '::varchar AS varchar, f @> 'ab'::char(9) AS longer, 'ab  '::name <@ f AS name,
	f @> ' ' AS empty, f @> ' ab' AS leading, f @> 'abc' AS other, cf_count(f, 'c    ') AS count,
	cf_contains_each(f, '{ab,"c   ","d ",NULL}') AS each, cf_contains_all(f, ARRAY['ab  ', ''::text]) AS all,
	cf_contains_any(f, ARRAY['ab'::char(3)]) AS of_char
	FROM padded;
SELECT (cf_info(g)).family, cf_count(g) AS entries, g @> 'x'::char(3) AS by_char, cf_count(g, 'x') AS copies, cf_count(cf_remove(g, 'x       ')) AS left_over
	FROM padded, cf_add(cf_add_all(f, ARRAY['x  ', 'y']), 'x') g;
-- a filter of text takes none
SELECT t @> 'ab'::char(5) FROM padded;
SELECT cf_add(t, 'ab'::char(5)) FROM padded;
SELECT cf_remove_all(t, ARRAY['ab'::char(5)]) FROM padded;
SELECT cf_union(f, t) FROM padded;
SELECT t @> 'ab'::char(5)::text AS cast_to_text, cf_agg(v::bpchar) @> 'ab'::char(5) AS of_bpchar
	FROM padded, (VALUES ('ab '::varchar), ('c')) s(v) GROUP BY t;
-- spread over several filters, both are looked for in the same one
SELECT count(*) AS differ FROM generate_series(1, 100) i WHERE cf_shard((i || ' ')::varchar, 1000) <> cf_shard(i::text::char(5), 1000);
-- one call site, filters of either family, one value
DO $$
DECLARE
	f cuckoofilter;
	v text := 'ab ';
	answers text := '';
BEGIN
	FOR i IN 1..4 LOOP
		f := CASE i % 2 WHEN 0 THEN cf_add(cf_new(10), 'ab'::char(5)) ELSE cf_add(cf_new(10), 'ab'::text) END;
		answers := answers || (f @> v)::int || cf_count(f, v);
	END LOOP;
	ASSERT answers = '00110011', answers;
END $$;
-- a join by either
CREATE TABLE orders AS SELECT i, (i % 4)::text::char(6) AS code FROM generate_series(1, 100) i;
CREATE TABLE codes (code varchar(6));
INSERT INTO codes VALUES ('1'), ('2 '), ('9');
SELECT count(*) AS joined, count(*) FILTER (WHERE f @> c.code) AS found
	FROM orders o JOIN codes c ON o.code = c.code, (SELECT cf_agg(code) FROM orders) s(f);
SELECT count(*) AS joined, count(*) FILTER (WHERE f @> o.code) AS found
	FROM orders o JOIN codes c ON o.code = c.code, (SELECT cf_agg(code::bpchar) FROM codes) s(f);

DROP SCHEMA equal CASCADE;
