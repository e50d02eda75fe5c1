--
-- What sqlsmith makes its queries of: tables with filters of several families,
-- and functions without polymorphic arguments, which it does not know how to
-- call.  The role that it works as owns the tables and nothing else.
--
CREATE EXTENSION cuckoo_filter;
CREATE ROLE smith LOGIN;
GRANT CREATE ON SCHEMA public TO smith;
ALTER ROLE smith SET statement_timeout = '3s';
ALTER ROLE smith SET work_mem = '1MB';
SET ROLE smith;

CREATE TABLE visit (tenant int, visitor bigint, name text, paid numeric, seen timestamptz, tags text[], id uuid, span int4range, doc jsonb);
INSERT INTO visit
	SELECT i % 10, i % 700, 'name ' || i % 300, i / 4.0, '2024-02-29'::timestamptz + i * interval '1 min', ARRAY['a' || i % 5, NULL],
		md5(i::text)::uuid, int4range(i, i + 9), jsonb_build_object('k', i % 50)
	FROM generate_series(1, 2000) i;
CREATE TABLE filters (tenant int PRIMARY KEY, visitors cuckoofilter, names cuckoofilter, ids cuckoofilter, docs cuckoofilter);
INSERT INTO filters SELECT tenant, cf_agg(visitor, 5000), cf_agg(name), cf_agg(id, 400, 0.001), cf_agg(doc) FROM visit GROUP BY tenant;
INSERT INTO filters VALUES (100, NULL, NULL, NULL, NULL), (101, cf_new(10), cf_new(1e6), cf_new(1, 0.5, 1), cf_new(1e8));
CREATE TABLE large (id int, filter cuckoofilter);
INSERT INTO large SELECT i, cf_agg(g + i, 100000, 0.001) FROM generate_series(1, 3) i, generate_series(1, 60000) g GROUP BY i;
CREATE VIEW known AS SELECT v.visitor, f.tenant, f.visitors FROM visit v JOIN filters f ON f.visitors @> v.visitor;
CREATE MATERIALIZED VIEW merged AS SELECT tenant % 3 AS part, cf_union_agg(visitors) AS filter FROM filters WHERE tenant < 100 GROUP BY 1;
RESET ROLE;

DO $$
DECLARE
	definition text;
	type text;
BEGIN
	FOREACH type IN ARRAY ARRAY['int8', 'text', 'uuid', 'jsonb', 'numeric', 'timestamptz'] LOOP
		FOREACH definition IN ARRAY ARRAY[
			'FUNCTION w_new(%1$s) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT cf_add(cf_new(100), $1)''',
			'FUNCTION w_add(cuckoofilter, %1$s) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT cf_add($1, $2)''',
			'FUNCTION w_add_all(cuckoofilter, %1$s[]) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT cf_add_all($1, $2)''',
			'FUNCTION w_add_thrice(f cuckoofilter, v %1$s) RETURNS cuckoofilter LANGUAGE plpgsql IMMUTABLE AS ''BEGIN FOR i IN 1..3 LOOP f := cf_add(f, v); END LOOP; RETURN f; END''',
			'FUNCTION w_remove(cuckoofilter, %1$s) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT cf_remove($1, $2)''',
			'FUNCTION w_contains(cuckoofilter, %1$s) RETURNS bool LANGUAGE sql IMMUTABLE AS ''SELECT $1 @> $2''',
			'FUNCTION w_contains_any(cuckoofilter, %1$s[]) RETURNS bool LANGUAGE sql IMMUTABLE AS ''SELECT cf_contains_any($1, $2)''',
			'FUNCTION w_contains_each(cuckoofilter, %1$s[]) RETURNS bool[] LANGUAGE sql IMMUTABLE AS ''SELECT cf_contains_each($1, $2)''',
			'FUNCTION w_count(cuckoofilter, %1$s) RETURNS int LANGUAGE sql IMMUTABLE AS ''SELECT cf_count($1, $2)''',
			'FUNCTION w_hash(%1$s) RETURNS int8 LANGUAGE sql IMMUTABLE AS ''SELECT cf_hash($1)''',
			'AGGREGATE w_agg(%1$s) (SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_final, COMBINEFUNC = cf_agg_combine, SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize, PARALLEL = SAFE)',
			'AGGREGATE w_bag_agg(%1$s) (SFUNC = cf_bag_agg_transition, STYPE = internal, FINALFUNC = cf_agg_final, COMBINEFUNC = cf_agg_combine, SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize, PARALLEL = SAFE)',
			-- aggregates of other people over our functions, of every shape
			'FUNCTION w_add(cuckoofilter, %1$s, float8, float8) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT cf_add($1, $2)''',
			'FUNCTION w_final(cuckoofilter, %1$s) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT $1''',
			'FUNCTION w_final(cuckoofilter, %1$s, float8, float8) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS ''SELECT $1''',
			'AGGREGATE w_adding(%1$s) (SFUNC = cf_add, STYPE = cuckoofilter, INITCOND = ''%2$s'', COMBINEFUNC = cf_union_all, MSFUNC = cf_add, MINVFUNC = cf_remove, MSTYPE = cuckoofilter, MINITCOND = ''%2$s'', PARALLEL = SAFE)',
			'AGGREGATE w_adding(%1$s, float8, float8) (SFUNC = w_add, STYPE = cuckoofilter, INITCOND = ''%2$s'', FINALFUNC = w_final, FINALFUNC_EXTRA)',
			'AGGREGATE w_ordered(%1$s, float8, float8 ORDER BY %1$s) (SFUNC = w_add, STYPE = cuckoofilter, INITCOND = ''%2$s'', FINALFUNC = w_final)',
			'AGGREGATE w_hypothetical(%1$s ORDER BY %1$s) (SFUNC = w_add, STYPE = cuckoofilter, INITCOND = ''%2$s'', FINALFUNC = w_final, HYPOTHETICAL)',
			'AGGREGATE w_agg(%1$s, float8, float8) (SFUNC = cf_agg_transition, STYPE = internal, FINALFUNC = cf_agg_final, COMBINEFUNC = cf_agg_combine, SERIALFUNC = cf_agg_serialize, DESERIALFUNC = cf_agg_deserialize, PARALLEL = SAFE)',
			'OPERATOR @@> (LEFTARG = cuckoofilter, RIGHTARG = %1$s, FUNCTION = w_contains, RESTRICT = cf_contains_sel, JOIN = cf_contains_joinsel)']
		LOOP
			EXECUTE 'CREATE ' || format(definition, type, cf_new(100000));
		END LOOP;
	END LOOP;
END $$;
CREATE FUNCTION w_resize(cuckoofilter, int) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS 'SELECT cf_resize($1, $2 % 5000)';
CREATE FUNCTION w_in(text) RETURNS cuckoofilter LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1::cuckoofilter; EXCEPTION WHEN OTHERS THEN RETURN cf_new(10); END';
CREATE FUNCTION w_bytea(cuckoofilter) RETURNS cuckoofilter LANGUAGE sql IMMUTABLE AS 'SELECT $1::bytea::cuckoofilter';

-- What sqlsmith does not write itself, for it to build upon: probes of such
-- aggregates, of windows, and of filters beside their own join
DO $$
DECLARE
	filter text;
	number int := 0;
BEGIN
	FOREACH filter IN ARRAY ARRAY['w_ordered(1::int8, 2, 3) WITHIN GROUP (ORDER BY v.visitor)', 'w_hypothetical(1::int8) WITHIN GROUP (ORDER BY v.visitor)', 'w_adding(v.visitor)', 'w_adding(v.visitor, 0.1, 0.1)',
		'w_agg(v.visitor, 5000, 0.001)', 'cf_agg(v.visitor, 5000) FILTER (WHERE v.tenant = 3)', 'cf_bag_agg(v.visitor, 5000, 0.001, 3, 7)', 'cf_union(cf_agg(v.visitor, 5000), cf_agg(v.tenant, 5000))', 'cf_hash_agg(cf_hash(v.visitor), 5000)'] LOOP
		number := number + 1;
		EXECUTE format('CREATE VIEW probed_%s AS SELECT e.* FROM visit e WHERE (SELECT %s FROM visit v) @> e.visitor', number, filter);
		EXECUTE format('CREATE VIEW joined_%s AS SELECT e.* FROM visit e JOIN large l ON l.id = e.visitor WHERE cf_contains((SELECT %s FROM visit v JOIN large l2 ON l2.id = v.tenant), e.visitor)', number, replace(filter, 'v.visitor', 'v.tenant::int8'));
		EXECUTE format('CREATE VIEW grouped_%s AS SELECT v.tenant, %s AS filter FROM visit v JOIN filters f USING (tenant) GROUP BY v.tenant', number, filter);
	END LOOP;
END $$;
CREATE VIEW running AS SELECT tenant, cf_agg(visitor, 5000, 0.001) OVER w AS a, cf_bag_agg(visitor, 5000, 0.001) OVER w AS b, w_adding(visitor) OVER (ORDER BY seen ROWS 9 PRECEDING) AS c
	FROM visit WHERE tenant = 1 WINDOW w AS (ORDER BY seen ROWS BETWEEN 9 PRECEDING AND 5 PRECEDING);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO smith;

-- Filters in step with a table that the role may write to.
CREATE ROLE keeper;
GRANT CREATE ON SCHEMA public TO keeper;
SET ROLE keeper;
CREATE TABLE event (tenant int DEFAULT 1, visitor bigint, name text DEFAULT 'somebody', note text);
INSERT INTO event SELECT i % 5, i % 700, 'name ' || i % 300 FROM generate_series(1, 2000) i;
CREATE TABLE kept (tenant int PRIMARY KEY, visitors cuckoofilter, names cuckoofilter);
SELECT cf_attach('event', '{visitor}', 'kept', 'visitors', '{tenant}', 20000);
SELECT cf_attach('event', '{name}', 'kept', 'names', '{tenant}', 20000, 0.001, 1);
GRANT SELECT, INSERT, UPDATE, DELETE ON event TO smith;
GRANT SELECT ON kept TO smith;
RESET ROLE;
ANALYZE;
