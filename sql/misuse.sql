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
DROP TABLE known;
-- What \dx+, \df+, \dT+ and \do tell: everything of the extension has a
-- comment, but for what comes with something else: operator families with their
-- classes, and from 17 on a type's array with the type.
SELECT pg_describe_object(classid, objid, objsubid) AS uncommented
	FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoo_filter')
		AND deptype = 'e' AND classid <> 'pg_opfamily'::regclass
		AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT typarray FROM pg_type))
		AND obj_description(objid, classid::regclass::name) IS NULL
	ORDER BY 1;
