--
-- remember: nothing that a call site remembers outlives what it was made from.
--
-- A call site in PL/pgSQL lives as long as the transaction, and what it was
-- asked before can mean another value by the next call.
--
SET client_min_messages = warning;
CREATE SCHEMA remember;
SET search_path = remember, public;
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE DOMAIN d_mood AS mood;
CREATE TYPE pair AS (i int, m mood);
CREATE TYPE moodrange AS RANGE (subtype = mood);

--
-- A label that is renamed in sight of a call site that has seen the old one.
--
-- Each expression is evaluated twice by one call site, the second time after
-- label "a" became "z".  The filters f (of a value) and e (of the elements of
-- an array) hold what v is from then on, so "f t" is right.
--
CREATE FUNCTION ask_twice(type text, old text, new text, expression text) RETURNS text LANGUAGE plpgsql AS $ask_twice$
DECLARE
	answers text;
BEGIN
	ALTER TYPE mood RENAME VALUE 'a' TO 'z';
	EXECUTE format('CREATE TABLE made AS SELECT cf_add(cf_new(10), v) AS f, cf_add_all(cf_new(10), ARRAY[v]) AS e FROM (SELECT %L::%s) s(v)', new, type);
	ALTER TYPE mood RENAME VALUE 'z' TO 'a';
	EXECUTE format($ask$
		CREATE FUNCTION ask() RETURNS text LANGUAGE plpgsql AS $body$
		DECLARE
			f cuckoofilter := (SELECT f FROM made);
			e cuckoofilter := (SELECT e FROM made);
			v %1$s := %2$L::%1$s;
			answer bool;
			answers text[];
		BEGIN
			FOR i IN 1..2
			LOOP
				IF i = 2 THEN
					ALTER TYPE mood RENAME VALUE 'a' TO 'z';
				END IF;
				answer := %3$s;
				answers := answers || answer::text;
			END LOOP;
			ALTER TYPE mood RENAME VALUE 'z' TO 'a';
			RETURN array_to_string(answers, ' ');
		END $body$ $ask$, type, old, replace(expression, 'constant', format('%L::%s', old, type)));
	answers := ask();
	DROP FUNCTION ask();
	DROP TABLE made;
	RETURN answers;
END $ask_twice$;
SELECT e, array_agg(DISTINCT ask_twice(type, old, new, e)) AS answers
	FROM (VALUES ('mood', 'a', 'z'), ('d_mood', 'a', 'z'), ('pair', '(1,a)', '(1,z)'), ('moodrange', '[a,b)', '[z,b)'),
			('moodmultirange', '{[a,b)}', '{[z,b)}'), ('mood[]', '{a,b}', '{z,b}'), ('d_mood[]', '{b,a}', '{b,z}'),
			('pair[]', '{"(1,a)"}', '{"(1,z)"}'), ('moodrange[]', '{"[a,b)"}', '{"[z,b)"}')) t(type, old, new),
		unnest('{"f @> v","v <@ f","cf_contains(f, v)","cf_contained(v, f)","cf_count(f, v) = 1","cf_contains_hash(f, cf_hash(v))",
			"cf_count(cf_add(f, v), v) = 2","cf_count(cf_remove(f, v)) = 0","f @> (constant)","cf_count(f, constant) = 1",
			"f @> ANY (ARRAY[v])"}'::text[]) e
	WHERE e NOT LIKE '%ANY%' OR type NOT LIKE '%[]'
	GROUP BY 1 ORDER BY 1;
SELECT e, array_agg(DISTINCT ask_twice(type, old, new, e)) AS answers
	FROM (VALUES ('mood', 'a', 'z'), ('d_mood', 'a', 'z'), ('pair', '(1,a)', '(1,z)'), ('moodrange', '[a,b)', '[z,b)'),
			('moodmultirange', '{[a,b)}', '{[z,b)}')) t(type, old, new),
		unnest('{"cf_contains_any(e, ARRAY[v])","cf_contains_all(e, ARRAY[v])","cf_contains_each(e, ARRAY[v]) = ''{t}''",
			"cf_count(cf_add_all(e, ARRAY[v]), v) = 2","cf_count(cf_remove_all(e, ARRAY[v])) = 0","cf_contains_all(e, ARRAY[constant])"}'::text[]) e
	GROUP BY 1 ORDER BY 1;

-- called anew in the same transaction, and from a trigger
CREATE FUNCTION has(f cuckoofilter, v mood) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN f @> v; END $$;
CREATE TABLE asked (v mood, found bool);
CREATE FUNCTION ask_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	new.found := cf_add(cf_new(10), 'z'::text) @> new.v;
	RETURN new;
END $$;
CREATE TRIGGER ask_before BEFORE INSERT ON asked FOR EACH ROW EXECUTE FUNCTION ask_before();
PREPARE ask(mood) AS SELECT cf_add(cf_new(10), 'z'::text) @> $1 AS parameter, cf_add(cf_new(10), 'z'::text) @> 'b'::mood AS constant;
SET plan_cache_mode = force_generic_plan;
BEGIN;
SELECT has(cf_add(cf_new(10), 'z'::text), 'a') AS before;
INSERT INTO asked VALUES ('a');
EXECUTE ask('a');
ALTER TYPE mood RENAME VALUE 'a' TO 'z';
SELECT has(cf_add(cf_new(10), 'z'::text), 'z') AS after;
INSERT INTO asked VALUES ('z');
EXECUTE ask('z');
SELECT * FROM asked;
ROLLBACK;
-- rolled back: the old label is the right one again
SELECT has(cf_add(cf_new(10), 'a'::text), 'a') AS after_rollback;
RESET plan_cache_mode;

--
-- A row type that gains and loses a column
--
CREATE TYPE point2 AS (x int, y int);
CREATE FUNCTION has_point(f cuckoofilter, v point2) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN f @> v; END $$;
CREATE FUNCTION points_hash(v point2) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN cf_hash(v) = cf_hash(ROW(1, 2, NULL::int)); END $$;
BEGIN;
SELECT has_point(cf_add(cf_new(10), ROW(1, 2)), ROW(1, 2)::point2) AS of_two, points_hash(ROW(1, 2)::point2) AS hash_of_three;
ALTER TYPE point2 ADD ATTRIBUTE z int;
SELECT has_point(cf_add(cf_new(10), ROW(1, 2, NULL::int)), ROW(1, 2, NULL)::point2) AS of_three,
	points_hash(ROW(1, 2, NULL)::point2) AS hash_of_three;
ALTER TYPE point2 DROP ATTRIBUTE x;
SELECT has_point(cf_add(cf_new(10), ROW(2, NULL::int)), ROW(2, NULL)::point2) AS without_x;
ROLLBACK;
-- the same bytes under a type that has changed since
CREATE FUNCTION ask_points(OUT of_two bool, OUT of_three bool) LANGUAGE plpgsql AS $$
DECLARE
	v record := ROW(1, 2)::point2;
	f2 cuckoofilter := cf_add(cf_new(10), ROW(1, 2));
	f3 cuckoofilter := cf_add(cf_new(10), ROW(1, 2, NULL::int));
	f cuckoofilter := f2;
BEGIN
	FOR i IN 1..2
	LOOP
		IF i = 1 THEN
			of_two := f @> v;
		ELSE
			ALTER TYPE point2 ADD ATTRIBUTE z int;
			f := f3;
		END IF;
		of_three := f @> v;
	END LOOP;
END $$;
SELECT * FROM ask_points();

--
-- What is compared before it is taken for the same: value, seed
--
CREATE FUNCTION ask_seeds(OUT answers text) LANGUAGE plpgsql AS $$
DECLARE
	v text := 'x';
BEGIN
	FOR i IN 1..6
	LOOP
		v := CASE WHEN i = 4 THEN 'y' ELSE 'x' END;
		answers := concat_ws(' ', answers, cf_add(cf_new(10, seed => i / 2), 'x'::text) @> v,
			cf_count(cf_add(cf_new(10, seed => i / 2), 'x'::text), v));
	END LOOP;
END $$;
SELECT * FROM ask_seeds();

DROP SCHEMA remember CASCADE;
