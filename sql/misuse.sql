--
-- What people get wrong on their first day, and what they are told.
--
-- Only the extension's own messages: those of the server vary with its
-- version.
--
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE TABLE known (name text PRIMARY KEY, ids cuckoofilter);
INSERT INTO known SELECT 'numbers', cf_agg(i, 1000) FROM generate_series(1, 500) i;
INSERT INTO known VALUES ('nothing', NULL);
CREATE FUNCTION try_hint(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
-- 1 a number in quotes, which is a text
SELECT ids @> '17' FROM known WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
-- 2 a parameter to which the driver gave no type
PREPARE ask AS SELECT cf_contains(ids, $1) FROM known WHERE name = 'numbers';
EXECUTE ask('17');
\echo :LAST_ERROR_SQLSTATE
-- 3 another kind of number
UPDATE known SET ids = cf_add(ids, 17.5::float8) WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
-- 4 an array where one value is meant
SELECT ids @> ARRAY[17, 18] FROM known WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
UPDATE known SET ids = cf_add(ids, ARRAY[17, 18]) WHERE name = 'numbers';
UPDATE known SET ids = cf_remove(ids, ARRAY[17, 18]) WHERE name = 'numbers';
-- 5 per cent
SELECT cf_new(1000, 1);
\echo :LAST_ERROR_SQLSTATE
-- 6 a capacity of nothing
SELECT cf_new(0);
\echo :LAST_ERROR_SQLSTATE
-- 7 no capacity
SELECT cf_new(NULL);
\echo :LAST_ERROR_SQLSTATE
-- 8 the number of copies taken for the number of values
SELECT cf_new(1000, 0.01, 1000);
\echo :LAST_ERROR_SQLSTATE
-- 9 more than fits
SELECT cf_new(1e12);
\echo :LAST_ERROR_SQLSTATE
-- 10 finer than there is
SELECT cf_new(1000, 1e-30);
\echo :LAST_ERROR_SQLSTATE
-- 11 adding to a column that was never filled
UPDATE known SET ids = cf_add(ids, 17) WHERE name = 'nothing';
\echo :LAST_ERROR_SQLSTATE
-- 12 a type that cannot be a key
SELECT cf_add(cf_new(10), '(1,2)'::point);
\echo :LAST_ERROR_SQLSTATE
SELECT cf_add(cf_new(10), '{"a": 1}'::json);
-- 13 filters as the values of a filter
SELECT cf_agg(ids) FROM known WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
-- 14 removing where nothing is counted
SELECT cf_remove(cf_add(cf_new(10, 0.01, 1), 5), 5);
\echo :LAST_ERROR_SQLSTATE
-- 15 removing from a union
SELECT cf_remove(ids | ids, 17) FROM known WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
-- 16 more values than were declared
SELECT cf_add_all(cf_new(5), ARRAY[1, 2, 3, 4, 5, 6]);
\echo :LAST_ERROR_SQLSTATE
SELECT cf_agg(i, 10) FROM generate_series(1, 100) i;
SELECT cf_add_all(ids, ARRAY(SELECT generate_series(1000, 3000))) FROM known WHERE name = 'numbers';
-- 17 a parameter that is a column
SELECT cf_agg(i, i) FROM generate_series(1, 100) i;
\echo :LAST_ERROR_SQLSTATE
-- 18 filters that were not made to be merged
SELECT cf_new(1000) | cf_new(1e6);
\echo :LAST_ERROR_SQLSTATE
SELECT cf_new(1000, 0.01, 4, 1) | cf_new(1000, 0.01, 4, 2);
SELECT cf_agg(i, 1000) | cf_agg(i::text, 1000) FROM generate_series(1, 100) i;
\echo :LAST_ERROR_SQLSTATE
-- 19 resizing to what the bits do not give
SELECT cf_resize(ids, 50) FROM known WHERE name = 'numbers';
\echo :LAST_ERROR_SQLSTATE
SELECT cf_resize(ids, 1000, 0.0001) FROM known WHERE name = 'numbers';
SELECT cf_resize(ids, 1e6) FROM known WHERE name = 'numbers';
-- 20 bytes that are no filter
SELECT 'abc'::cuckoofilter;
\echo :LAST_ERROR_SQLSTATE
SELECT left(ids::text, 100)::cuckoofilter FROM known WHERE name = 'numbers';
SELECT '\x1234'::bytea::cuckoofilter;
\echo :LAST_ERROR_SQLSTATE
-- 21 the rate taken for the capacity
SELECT cf_new(0.01, 0.5);
\echo :LAST_ERROR_SQLSTATE
SELECT capacity FROM cf_info(cf_new(1000, 0.01));
-- 22 a filter that became one of texts by an untyped literal
SELECT cf_add(cf_new(10), '17') @> 17;
SELECT cf_add(cf_new(10), '17'::integer) @> 17 AS typed_add, cf_add(cf_new(10), '17') @> 17::text AS cast_probe;
-- 23 elements as a literal
SELECT cf_contains_any(ids, '{17,900}') FROM known WHERE name = 'numbers';
SELECT cf_contains_any(ids, '{17,900}'::numeric[]), cf_contains_any(ids, '{17,900}'::bigint[]) FROM known WHERE name = 'numbers';
-- 24 filters of arrays, rows and ranges, asked for what is within
SELECT cf_agg(ARRAY[1, 2]) @> 1;
SELECT cf_agg(ARRAY[1, 2]) @> '{1,2}';
SELECT cf_agg(ARRAY[1, 2]) @> '{1,2}'::bigint[] AS whole, cf_agg(e) @> 1 AS element FROM unnest(ARRAY[1, 2]) e;
SELECT cf_contains_any(cf_agg(ARRAY[1, 2]), ARRAY[1]);
SELECT cf_contains(cf_agg(ARRAY[1, 2]), ARRAY[1, 2]);
SELECT cf_add_all(cf_agg(ARRAY[1, 2], 10), ARRAY[1]);
SELECT cf_agg(ROW(1, 'a')) @> 1;
SELECT cf_agg(ROW(1, 'a')) @> ROW(1, 'a') AS whole, cf_agg(a) @> 1 AS column FROM (VALUES (1)) s(a);
SELECT cf_agg('[1,5)'::int4range) @> 3;
SELECT cf_agg('[1,5)'::int4range) @> '[1,4]'::int4range AS whole;
-- 25 types without keys; of these, equal values are equal after the cast
SELECT cf_add(cf_new(10), 'known'::regclass);
SELECT cf_add(cf_new(10), 'known'::regclass::oid) @> 'public.known'::regclass::oid AS regclass,
	cf_add(cf_new(10), '1.5'::money::numeric) @> '1.50'::money::numeric AS money, cf_add(cf_new(10), '(0,1)'::tid::text) @> '(0, 1)'::tid::text AS tid,
	cf_add(cf_new(10), '7'::xid8::text) @> '07'::xid8::text AS xid8, cf_add(cf_new(10), 'b a'::tsvector::text) @> 'a b'::tsvector::text AS tsvector,
	cf_add(cf_new(10), '{"b": 1, "a": 1.0}'::json::jsonb) @> '{"a": 1, "b": 1}'::json::jsonb AS json;
SELECT type, try_hint(format('SELECT cf_add_all(cf_new(10), ''{}''::%s[])', type)) FROM unnest('{point,box,circle,tsquery,xid,cid,money,regtype,json,refcursor}'::text[]) type;
-- 26 unions of filters that took their capacity from what they hold
SELECT cf_union_agg(f) FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 1000) i GROUP BY i > 300) s;
SELECT cf_union_all(cf_agg(i), cf_agg(-i)) FROM generate_series(1, 20) i;
SELECT cf_count(cf_union_agg(f)) > 990 AS united FROM (SELECT cf_agg(i, 1000) AS f FROM generate_series(1, 1000) i GROUP BY i > 300) s;
SELECT cf_count(cf_union_all(cf_agg(i, 40), cf_agg(-i, 40))) AS united FROM generate_series(1, 20) i;
SELECT ids | none FROM known, (SELECT cf_agg(i) AS none FROM generate_series(1, 0) i) s WHERE name = 'numbers';
SELECT cf_count(ids | none) AS united FROM known, (SELECT cf_agg(i, 1000) AS none FROM generate_series(1, 0) i) s WHERE name = 'numbers';
-- 27 what the other hints say, done
SELECT cf_count(cf_add_all(cf_resize(f, 10), ARRAY[6, 7])) AS larger_list FROM cf_add_all(cf_new(5), ARRAY[1, 2, 3, 4, 5]) f;
SELECT cf_add(cf_add(cf_new(1), 1), 2);
SELECT cf_count(cf_add_all(cf_resize(ids, 2017), ARRAY(SELECT generate_series(1000, 2500)))) > 1990 AS to_the_largest FROM known WHERE name = 'numbers';
SELECT capacity FROM cf_info(cf_new(454524141));
SELECT capacity FROM cf_info(cf_new(1000, 1.085e-13));
SELECT capacity FROM known, cf_info(cf_resize(ids, 500)) WHERE name = 'numbers';
SELECT promised_fpr <= 0.0001 AS finer FROM cf_info((SELECT cf_agg(i, 1000, 0.0001) FROM generate_series(1, 500) i));
SELECT cf_count(cf_remove(cf_add(cf_new(10, 0.01, 2), 5), 5)) AS not_append_only, cf_count(cf_remove(cf_union_all(ids, ids), 17)) AS union_all FROM known WHERE name = 'numbers';
SELECT cf_count(cf_add(COALESCE(ids, cf_new(1000)), 17)) AS made FROM known WHERE name = 'nothing';
DROP TABLE known;
DROP FUNCTION try_hint;
-- What \dx+, \df+, \dT+ and \do tell: everything of the extension has a
-- comment, but for what comes with something else: operator families with their
-- classes, and from 17 on a type's array with the type, a row type with the view.
SELECT pg_describe_object(classid, objid, objsubid) AS uncommented
	FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoo_filter')
		AND deptype = 'e' AND classid <> 'pg_opfamily'::regclass
		AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT typarray FROM pg_type UNION SELECT reltype FROM pg_class))
		AND obj_description(objid, classid::regclass::name) IS NULL
	ORDER BY 1;
