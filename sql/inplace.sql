--
-- Filters in variables: changed in place or not, the answers are the same
--
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS cuckoo_filter;
DROP SCHEMA IF EXISTS inplace CASCADE;
CREATE SCHEMA inplace;
SET search_path = inplace, public;
SET max_parallel_workers_per_gather = 0;

-- the same adds in one call: what every other way has to come to, to the byte
CREATE FUNCTION filled(capacity float8, n int) RETURNS cuckoofilter LANGUAGE sql AS $$
	SELECT cf_add_all(cf_new(capacity), ARRAY(SELECT generate_series(1, n)))
$$;
-- An image that has grown in place is in a context of its own, that of a copy
-- is not.
CREATE FUNCTION images_in_place() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'expanded cuckoo filter image'
$$;
-- Did the adds of 1 to n give what they should, and in place where the server
-- can do that?
CREATE FUNCTION verdict(f cuckoofilter, capacity float8, n int, in_place_since int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	in_place bool := images_in_place() > 0;
BEGIN
	IF f IS DISTINCT FROM filled(capacity, n) THEN
		RETURN format('another filter than it should be, of %s entries', cf_count(f));
	END IF;
	IF in_place <> (current_setting('server_version_num')::int >= in_place_since) THEN
		RETURN format('right, but in place is %s', in_place);
	END IF;
	RETURN 'right, in place where it should be';
END $$;

--
-- Assignments in a loop, in all shapes
--
CREATE FUNCTION shape(shape text, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
	g cuckoofilter := cf_new(100000);
	h CONSTANT cuckoofilter := cf_new(100000);
	since int := 180000;
	x int;
BEGIN
	IF shape <> 'coalesce' THEN
		f := cf_new(100000);
	END IF;
	FOR i IN 1..n LOOP
		CASE shape
			WHEN 'once' THEN f := cf_add(f, i);
			WHEN 'twice' THEN f := cf_add(f, cf_count(f) + 1);
			WHEN 'equals' THEN f = cf_add(f, i);
			WHEN 'cast' THEN f := cf_add(f, i)::cuckoofilter;
			WHEN 'named' THEN f := cf_add(value => i, filter => f);
			WHEN 'hash' THEN f := cf_add_hash(f, cf_hash(i)); IF i = n THEN f := cf_add(cf_remove(f, i), i); END IF;
			WHEN 'chain' THEN IF i % 2 = 0 THEN f := cf_add(cf_add(f, i - 1), i); END IF;
			WHEN 'longer chain' THEN f := cf_add(cf_add_all(cf_remove_all(cf_add(f, i), '{}'::int[]), ARRAY[NULL]::int[]), NULL::int);
			WHEN 'batch of a query' THEN IF i % 10 = 0 THEN f := cf_add_all(f, ARRAY(SELECT generate_series(i - 9, i))); END IF;
			WHEN 'batch of an array' THEN IF i % 5 = 0 THEN f := cf_add_all(f, ARRAY[i - 4, i - 3, NULL, i - 2, i - 1, i]); END IF;
			WHEN 'coalesce' THEN f := cf_add(COALESCE(f, cf_new(100000)), i);
			WHEN 'coalesce chain' THEN f := COALESCE(cf_add(COALESCE(f, NULL, h), i), f, cf_new(1));
			WHEN 'case' THEN f := cf_add(CASE WHEN i % 2 = 0 THEN f ELSE cf_add(f, NULL::int) END, i);
			WHEN 'nulls' THEN f := cf_add(f, i); f := cf_add(f, NULL::int); f := cf_add_all(f, NULL::int[]); f := cf_remove(f, NULL::int);
			WHEN 'two variables' THEN g := cf_add(f, i); f := g;
			WHEN 'swapped' THEN IF i % 2 = 1 THEN g := cf_add(f, i); ELSE f := cf_add(g, i); END IF;
			WHEN 'select into' THEN SELECT cf_add(f, i) INTO f;
			WHEN 'execute' THEN EXECUTE 'SELECT cf_add($1, $2)' INTO f USING f, i;
			WHEN 'subselect' THEN f := (SELECT cf_add(f, i));
			WHEN 'exception' THEN
				BEGIN
					f := cf_add(f, i);
					x := 1 / (i % 100);
				EXCEPTION WHEN division_by_zero THEN
					x := 0;
				END;
			WHEN 'exception around two' THEN
				BEGIN
					f := cf_add(f, i);
					f := cf_add(f, 'text');
				EXCEPTION WHEN datatype_mismatch THEN
					x := 0;
				END;
			WHEN 'nested blocks' THEN
				BEGIN
					BEGIN
						f := cf_add_all(f, ARRAY[i]);
						f := cf_add_all(f, ARRAY['text']);
					EXCEPTION WHEN datatype_mismatch THEN
						RAISE division_by_zero;
					END;
				EXCEPTION WHEN division_by_zero THEN
					x := 0;
				END;
		END CASE;
	END LOOP;
	IF shape IN ('batch of a query', 'case', 'two variables', 'swapped', 'select into', 'execute', 'subselect', 'coalesce chain') THEN
		since := 999999;
	END IF;
	IF cf_count(h) <> 0 THEN
		RETURN 'a constant has changed';
	END IF;
	RETURN verdict(f, 100000, n, since);
END $$;
-- some begin with what a stored filter would be, which is copied while it is small
SELECT s AS shape, shape(s, 15000) FROM unnest('{once,twice,equals,cast,named,hash,chain,longer chain,batch of a query,batch of an array,coalesce,coalesce chain,case,nulls,two variables,swapped,select into,execute,subselect,exception,exception around two,nested blocks}'::text[]) s;

-- the same in a DO block
DO $$
DECLARE
	f cuckoofilter := cf_new(100000);
BEGIN
	FOR i IN 1..3000 LOOP
		f := cf_add(f, i);
	END LOOP;
	IF verdict(f, 100000, 3000, 180000) !~ '^right, in' THEN
		RAISE '%', verdict(f, 100000, 3000, 180000);
	END IF;
END $$;

--
-- Other places for filters: read-only or flat, so each change is a copy
--
CREATE TYPE pair AS (name text, f cuckoofilter);
CREATE TYPE nest AS (n int, p pair);
CREATE DOMAIN small_filter AS cuckoofilter CHECK (cf_count(VALUE) <= 1000);
CREATE TABLE holder (n int PRIMARY KEY, f cuckoofilter, fs cuckoofilter[], p pair);
CREATE FUNCTION place(place text, upto int) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(5000);
	fs cuckoofilter[] := ARRAY[cf_new(5000), cf_new(5000)];
	r record;
	p pair;
	t nest;
	h holder;
	d small_filter := cf_new(5000);
	c CURSOR (g cuckoofilter) FOR SELECT cf_add(g, 1) AS f;
	any_cursor refcursor;
	result cuckoofilter;
BEGIN
	SELECT 1 AS n, cf_new(5000) AS f INTO r;
	p.f := cf_new(5000);
	t.p := p;
	h.f := cf_new(5000);
	FOR i IN 1..upto LOOP
		CASE place
			WHEN 'array' THEN fs[2] := cf_add(fs[2], i);
			WHEN 'array of variables' THEN f := cf_add(f, i); fs := ARRAY[f, cf_add(f, -1)];
			WHEN 'record' THEN r.f := cf_add(r.f, i);
			WHEN 'composite' THEN p.f := cf_add(p.f, i);
			WHEN 'nested' THEN t.p.f := cf_add((t.p).f, i);
			WHEN 'row' THEN h.f := cf_add(h.f, i);
			WHEN 'whole row' THEN p := ROW('x', cf_add(p.f, i));
			WHEN 'record of variables' THEN f := cf_add(f, i); SELECT f AS f, cf_add(f, -1) AS more INTO r;
			WHEN 'domain' THEN d := cf_add(d, i);
			WHEN 'cursor' THEN
				OPEN any_cursor FOR SELECT cf_add(f, i);
				f := cf_add(f, -1);
				FETCH any_cursor INTO f;
				CLOSE any_cursor;
			WHEN 'cursor with an argument' THEN
				f := filled(5000, i - 1);
				OPEN c(f);
				f := cf_add(f, -1);
				FETCH c INTO r;
				CLOSE c;
				f := cf_add_all(cf_remove(r.f, 1), ARRAY[i]);
				IF i = upto THEN f := filled(5000, i); END IF;
			WHEN 'loop over rows' THEN
				FOR r IN SELECT cf_add(f, i) AS f FROM generate_series(1, 2) LOOP
					f := cf_add(f, -1);
				END LOOP;
				f := r.f;
			WHEN 'loop over elements' THEN
				FOREACH result IN ARRAY ARRAY[f, f] LOOP
					result := cf_add(result, i);
				END LOOP;
				f := result;
			WHEN 'table' THEN
				INSERT INTO holder VALUES (1, f, ARRAY[f], ROW('x', f)) ON CONFLICT (n) DO UPDATE SET f = EXCLUDED.f;
				f := cf_add(f, -1);
				UPDATE holder SET f = cf_add(holder.f, i) WHERE holder.n = 1 RETURNING holder.f INTO f;
		END CASE;
	END LOOP;
	result := CASE
		WHEN place = 'array' THEN fs[2]
		WHEN place = 'array of variables' THEN fs[1]
		WHEN place IN ('record', 'record of variables') THEN r.f
		WHEN place IN ('composite', 'whole row') THEN p.f
		WHEN place = 'nested' THEN (t.p).f
		WHEN place = 'row' THEN h.f
		WHEN place = 'domain' THEN d
		ELSE f END;
	IF cf_count(fs[1]) <> (CASE place WHEN 'array of variables' THEN upto ELSE 0 END) THEN
		RAISE 'the other element has changed';
	END IF;
	RETURN result;
END $$;
SELECT p AS place, place(p, 500) = filled(5000, 500) AS right FROM unnest('{array,array of variables,record,composite,nested,row,whole row,record of variables,domain,cursor,cursor with an argument,loop over rows,loop over elements,table}'::text[]) p;

-- a domain is checked before the variable changes
DO $$
DECLARE
	d small_filter := cf_new(5000);
BEGIN
	FOR i IN 1..1001 LOOP
		BEGIN
			d := cf_add(d, i);
		EXCEPTION WHEN check_violation THEN
			IF i <> 1001 THEN RAISE; END IF;
		END;
	END LOOP;
	IF d <> filled(5000, 1000) THEN RAISE 'it has changed'; END IF;
END $$;

--
-- Functions that take and give filters
--
CREATE FUNCTION add_inout(INOUT f cuckoofilter, n int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
	END LOOP;
END $$;
CREATE PROCEDURE add_proc(INOUT f cuckoofilter, n int) LANGUAGE plpgsql AS $$
BEGIN
	f := add_inout(f, n);
END $$;
CREATE FUNCTION add_out(n int, OUT f cuckoofilter, OUT g cuckoofilter) LANGUAGE plpgsql AS $$
BEGIN
	f := cf_new(5000);
	g := f;
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
		g := f;
	END LOOP;
	f := cf_add(f, -1);
END $$;
CREATE FUNCTION add_sql(f cuckoofilter, n int) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT cf_add($1, $2)';
-- (the parameter is used twice)
CREATE FUNCTION add_sql_twice(f cuckoofilter) RETURNS bool LANGUAGE sql VOLATILE AS 'SELECT cf_contains(cf_add($1, -1), -1) AND NOT cf_contains(cf_add($1, -2), -1) AND NOT cf_contains($1, -1)';
CREATE FUNCTION steps(n int) RETURNS SETOF cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(5000);
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
		RETURN NEXT f;
	END LOOP;
	RETURN QUERY SELECT cf_add(f, n + 1);
	f := cf_add(f, -1);
END $$;
CREATE FUNCTION callers() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(5000);
	g cuckoofilter;
	r record;
BEGIN
	f := cf_add(f, 1);
	g := add_inout(f, 100);
	IF f <> filled(5000, 1) THEN RETURN 'the argument of a function has changed'; END IF;
	-- what a function has made is the callee's to change
	g := add_inout(cf_add(cf_new(5000), NULL::int), 100);
	IF g <> filled(5000, 100) THEN RETURN 'INOUT'; END IF;
	g := add_inout(cf_remove(f, 1), 100);
	IF f <> filled(5000, 1) OR g <> filled(5000, 100) THEN RETURN 'INOUT of a result'; END IF;
	f := cf_new(5000);
	CALL add_proc(f, 300);
	IF f <> filled(5000, 300) THEN RETURN 'CALL'; END IF;
	f := cf_new(5000);
	FOR i IN 1..300 LOOP
		f := add_sql(f, i);
	END LOOP;
	IF f <> filled(5000, 300) THEN RETURN 'SQL'; END IF;
	SELECT * INTO r FROM add_out(200);
	IF r.g <> filled(5000, 200) OR r.f <> cf_add(r.g, -1) THEN RETURN 'OUT'; END IF;
	IF NOT add_sql_twice(f) OR NOT add_sql_twice(cf_add(f, 0)) THEN RETURN 'SQL, twice'; END IF;
	RETURN 'right';
END $$;
SELECT callers();
SELECT count(*), bool_and(s = filled(5000, n::int)) AS right FROM steps(300) WITH ORDINALITY s(s, n);

--
-- Who looks at a filter while another changes it
--
CREATE FUNCTION copies() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(100000);
	a cuckoofilter;
	b cuckoofilter;
	fs cuckoofilter[];
	r record;
	t text;
BEGIN
	FOR i IN 1..2000 LOOP
		f := cf_add(f, i);
		IF i IN (10, 60, 1000, 1999) THEN
			a := f;
			b := a;
			fs := ARRAY[f, a];
			SELECT f AS f, 1 AS n INTO r;
			t := f::text;
			f := cf_add(f, -1);
			IF a::text <> t OR b::text <> t OR fs[1]::text <> t OR fs[2]::text <> t OR r.f::text <> t THEN RETURN 'a copy has changed'; END IF;
			a := cf_add(a, -2);
			b := cf_add_all(b, ARRAY[-3, -4]);
			IF f <> cf_add(t::cuckoofilter, -1) OR a <> cf_add(t::cuckoofilter, -2) OR b <> cf_add_all(t::cuckoofilter, ARRAY[-3, -4]) THEN RETURN 'copies are not independent'; END IF;
			f := r.f;
			IF f::text <> t THEN RETURN 'not restored'; END IF;
		END IF;
	END LOOP;
	RETURN 'independent';
END $$;
SELECT copies();

--
-- Versions.  What is made of a variable that is only read shares its image, and
-- either can be changed and read after that, in any order.  The models are
-- text, so that each of their changes is one of a filter of its own.
--
CREATE FUNCTION in_filters() RETURNS bigint LANGUAGE sql AS $$ SELECT coalesce(sum(total_bytes), 0)::bigint FROM pg_backend_memory_contexts WHERE name LIKE 'expanded cuckoo filter%' $$;
CREATE FUNCTION used_up(f cuckoofilter, x int) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..20 LOOP
		f := cf_add(f, -x - i);
		IF NOT f @> (-x - i) THEN RETURN false; END IF;
	END LOOP;
	RETURN true;
END $$;
CREATE FUNCTION handed_on(f cuckoofilter, x int) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
BEGIN
	f := cf_add(f, x);
	RETURN cf_add(f, x + 1);
END $$;
CREATE FUNCTION model(m text, added int[], removed int[] = '{}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..coalesce(array_length(added, 1), 0) LOOP
		m := cf_add(m::cuckoofilter, added[i])::text;
	END LOOP;
	FOR i IN 1..coalesce(array_length(removed, 1), 0) LOOP
		m := cf_remove(m::cuckoofilter, removed[i])::text;
	END LOOP;
	RETURN m;
END $$;
CREATE FUNCTION versions(seed float8, n int, steps int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a cuckoofilter := cf_add_all(cf_new(40000, 0.01, 3), ARRAY(SELECT generate_series(1, n)));
	b cuckoofilter := a;
	c cuckoofilter := a;
	ma text := a::text;
	mb text := ma;
	mc text := ma;
	x int;
	batch int[];
BEGIN
	PERFORM setseed(seed);
	FOR step IN 1..steps LOOP
		x := n / 2 + (random() * 100)::int;
		batch := ARRAY[x, x + 1, -x, x];
		CASE floor(random() * 20)::int
			WHEN 0 THEN a := cf_add(a, x); ma := model(ma, ARRAY[x]);
			WHEN 1 THEN b := cf_add(a, -x); mb := model(ma, ARRAY[-x]);
			WHEN 2 THEN c := cf_add(a, x); mc := model(ma, ARRAY[x]);
			WHEN 3 THEN a := cf_add(b, -x); ma := model(mb, ARRAY[-x]);
			WHEN 4 THEN b := cf_add(b, x); mb := model(mb, ARRAY[x]);
			WHEN 5 THEN c := cf_add(b, x); mc := model(mb, ARRAY[x]);
			WHEN 6 THEN a := cf_remove(c, x); ma := model(mc, '{}', ARRAY[x]);
			WHEN 7 THEN b := cf_remove(a, -x); mb := model(ma, '{}', ARRAY[-x]);
			WHEN 8 THEN c := cf_add_all(c, batch); mc := model(mc, batch);
			WHEN 9 THEN a := cf_add(cf_add(b, x), -x); ma := model(mb, ARRAY[x, -x]);
			WHEN 10 THEN c := cf_remove_all(cf_add(a, x), batch); mc := model(ma, ARRAY[x], batch);
			WHEN 11 THEN a := cf_remove(cf_add_all(c, batch), x); ma := model(mc, batch, ARRAY[x]);
			WHEN 12 THEN
				-- more than are noted
				batch := ARRAY(SELECT x + generate_series(1, 300));
				b := cf_add_all(c, batch); mb := cf_add_all(mc::cuckoofilter, batch)::text;
			WHEN 13 THEN
				BEGIN
					c := cf_add(cf_add(c, x), 'text');
				EXCEPTION WHEN datatype_mismatch THEN
				END;
			WHEN 14 THEN
				BEGIN
					c := cf_remove(cf_add_all(b, batch), x / (cf_count(a) - cf_count(a))::int);
				EXCEPTION WHEN division_by_zero THEN
				END;
			WHEN 15 THEN IF NOT used_up(b, x) THEN RETURN 'the argument of a function is wrong'; END IF;
			WHEN 16 THEN a := handed_on(b, x); ma := model(mb, ARRAY[x, x + 1]);
			WHEN 17 THEN
				-- the notes of the others get fewer
				FOR i IN 1..30 LOOP
					b := cf_remove(cf_add(b, -i), -i);
				END LOOP;
				FOR i IN 1..30 LOOP
					mb := model(mb, ARRAY[-i], ARRAY[-i]);
				END LOOP;
			WHEN 18 THEN c := a; mc := ma;
			WHEN 19 THEN c := cf_add_hash(a, cf_hash(x)); mc := model(ma, ARRAY[x]);
		END CASE;
		IF random() < 0.3 AND a::text <> ma THEN RETURN format('a is wrong after step %s', step); END IF;
		IF random() < 0.3 AND b::text <> mb THEN RETURN format('b is wrong after step %s', step); END IF;
		IF random() < 0.3 AND c::text <> mc THEN RETURN format('c is wrong after step %s', step); END IF;
		IF random() < 0.3 AND (a = b) <> (ma = mb) OR NOT (cf_contains(b, n) AND cf_contains_all(c, ARRAY[1, n / 3])) THEN
			RETURN format('compared wrong after step %s', step);
		END IF;
	END LOOP;
	IF a::text <> ma OR b::text <> mb OR c::text <> mc THEN RETURN 'wrong in the end'; END IF;
	RETURN 'right';
END $$;
-- all versions of a table, and of one that grows on the way
SELECT seed, n, versions(seed, n, 250) FROM unnest('{0.1,0.2}'::float8[]) seed, unnest('{4000,15570}'::int[]) n ORDER BY 1, 2;
-- versions that differ in nothing but what kind of values they are of
DO $$
DECLARE
	f cuckoofilter := cf_add_hashes(cf_new(20000, 0.01, 1), ARRAY(SELECT cf_hash(i) FROM generate_series(1, 10000) i));
	g cuckoofilter;
BEGIN
	f := cf_add_hash(f, 1);
	f := cf_add_hash(f, 2);
	g := cf_add(f, 5);
	IF f = g OR g = f OR cf_cmp(f, g) = 0 OR cf_count(f) <> cf_count(g) THEN RAISE 'they are equal'; END IF;
END $$;
-- An old version costs no image of its own before it is read, however far from
-- it the new one is, but one.  Workers read it as well.
CREATE FUNCTION pinned() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := filled(100000, 40000);
	old cuckoofilter;
	older cuckoofilter;
	image int := octet_length(f::bytea);
	wrong bigint;
BEGIN
	f := cf_add(f, 0);
	older := cf_add(f, -1);
	f := NULL;
	old := cf_add(older, -2);
	FOR i IN 1..2000 LOOP
		f := cf_add(COALESCE(f, old), 100000 + i);
		IF i = 100 AND in_filters() > 1.5 * image THEN RETURN format('%s bytes for images of %s that share it', in_filters(), image); END IF;
	END LOOP;
	IF in_filters() > 2.5 * image THEN RETURN format('%s bytes for images of %s', in_filters(), image); END IF;
	SELECT count(*) FILTER (WHERE NOT old @> i OR NOT older @> i) INTO wrong FROM generate_series(1, 40000) i;
	IF wrong > 0 OR NOT old @> -2 THEN RETURN 'values are lost'; END IF;
	IF older <> cf_add_all(filled(100000, 40000), ARRAY[0, -1]) OR old <> cf_add(older, -2) OR f <> cf_add_all(old, ARRAY(SELECT 100000 + generate_series(1, 2000))) THEN RETURN 'another filter'; END IF;
	older := cf_add(f, -3);
	PERFORM set_config('max_parallel_workers_per_gather', '2', true);
	SELECT count(*) FILTER (WHERE NOT f @> i) INTO wrong FROM numbers;
	IF wrong > 0 OR older <> cf_add(f, -3) THEN RETURN 'wrong in workers'; END IF;
	older := cf_add(f, -4);
	f := NULL;
	RETURN CASE WHEN older @> -4 THEN 'right' ELSE 'the last one is wrong' END;
END $$;
CREATE TABLE numbers AS SELECT 100000 + generate_series(1, 2000) AS i;
ALTER TABLE numbers SET (parallel_workers = 2);
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT pinned();
SELECT in_filters() AS left_over;
COMMIT;

--
-- What fails leaves a variable as it was, to the byte
--
CREATE FUNCTION fails(what text, capacity int, n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(capacity);
	before text;
	reason text := 'nothing failed';
	batch int[] := ARRAY(SELECT generate_series(n + 1, 2 * capacity));
BEGIN
	FOR i IN 1..n LOOP
		f := cf_add(f, i);
	END LOOP;
	before := f::text;
	BEGIN
		CASE what
			WHEN 'add' THEN f := cf_add(f, 'text');
			WHEN 'add twice' THEN f := cf_add(cf_add(f, -1), 'text');
			WHEN 'add in an argument' THEN f := cf_add(f, 1 / (cf_count(f) - cf_count(f))::int);
			WHEN 'add all' THEN f := cf_add_all(f, ARRAY['a', 'b']);
			WHEN 'remove' THEN f := cf_remove(f, 'text');
			WHEN 'remove all' THEN f := cf_remove_all(f, ARRAY['a', 'b']);
			WHEN 'interrupt' THEN f := cf_add(f, CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN -1 END);
			WHEN 'interrupted batch' THEN f := cf_add_all(f, CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN ARRAY[-1, -2, -3] END);
			WHEN 'interrupted removal' THEN f := cf_remove(f, CASE WHEN pg_cancel_backend(pg_backend_pid()) THEN 1 END);
			WHEN 'batch too large' THEN f := cf_add_all(f, batch);
			WHEN 'until full' THEN
				FOR i IN n + 1..2 * capacity LOOP
					before := f::text;
					f := cf_add(f, i);
				END LOOP;
			WHEN 'batches until full' THEN
				FOR i IN n + 1..2 * capacity LOOP
					before := f::text;
					f := cf_add_all(f, ARRAY[i, i + 2 * capacity, i + 3 * capacity, i]);
				END LOOP;
			WHEN 'long batches until full' THEN
				FOR i IN n + 1..2 * capacity LOOP
					before := f::text;
					batch := ARRAY(SELECT generate_series(i * 100, i * 100 + 99));
					f := cf_add_all(f, batch);
				END LOOP;
		END CASE;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		reason := SQLERRM;
	END;
	IF f IS NULL OR f::text <> before THEN
		RETURN 'it has changed: ' || reason;
	END IF;
	IF (SELECT count(*) FROM cf_check(f)) > 0 THEN
		RETURN 'it is damaged: ' || reason;
	END IF;
	f := cf_add(cf_remove(f, 1), 1);
	IF NOT cf_contains_all(f, ARRAY(SELECT generate_series(1, n))) THEN
		RETURN 'values are lost: ' || reason;
	END IF;
	RETURN reason;
END $$;
SELECT n, w AS what, fails(w, 1000, n) FROM unnest('{add,add twice,add in an argument,add all,remove,remove all,interrupt,interrupted batch,interrupted removal,batch too large,until full,batches until full,long batches until full}'::text[]) WITH ORDINALITY w(w, o), unnest('{20,500}'::int[]) n ORDER BY o, n;
-- where the table is so large that a batch is added in place
SELECT w AS what, fails(w, 20000, 19000) FROM unnest('{add all,remove all,interrupted batch,batch too large,batches until full}'::text[]) w;
-- an error behind the assignment does not take it back, as with any variable
CREATE FUNCTION behind() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(1000);
	n int := 0;
BEGIN
	FOR i IN 1..100 LOOP
		BEGIN
			f := cf_add(f, i);
			n := n + 1;
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
	RETURN format('%s, %s', n, f = filled(1000, 100));
END $$;
SELECT behind();
-- rows are taken back with their savepoint, variables are not
CREATE FUNCTION savepoint_and_row() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	g cuckoofilter := filled(1000, 10);
BEGIN
	DELETE FROM holder;
	INSERT INTO holder VALUES (1, g);
	BEGIN
		g := cf_add(g, 11);
		UPDATE holder SET f = g;
		UPDATE holder SET f = cf_add(f, 12);
		RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN
	END;
	RETURN format('%s, %s', (SELECT f = filled(1000, 10) FROM holder), g = filled(1000, 11));
END $$;
SELECT savepoint_and_row();
BEGIN;
UPDATE holder SET f = cf_add(f, 11);
SAVEPOINT s;
UPDATE holder SET f = cf_add(cf_add(f, 12), 13);
SELECT f = filled(1000, 13) AS inside FROM holder;
ROLLBACK TO s;
SELECT f = filled(1000, 11) AS behind FROM holder;
ROLLBACK;
SELECT f = filled(1000, 10) AS after FROM holder;
-- a procedure that commits in between
CREATE PROCEDURE committing(INOUT f cuckoofilter) LANGUAGE plpgsql AS $$
BEGIN
	f := cf_new(1000);
	FOR i IN 1..200 LOOP
		f := cf_add(f, i);
		IF i % 50 = 0 THEN
			COMMIT;
		ELSIF i % 50 = 25 THEN
			ROLLBACK;
		END IF;
	END LOOP;
END $$;
DO $$
DECLARE
	f cuckoofilter;
BEGIN
	CALL committing(f);
	IF f <> filled(1000, 200) THEN RAISE 'another filter'; END IF;
END $$;

--
-- Probes of a filter that changes under the same call site.  A variable that
-- is changed in place stays where it is in memory, so nothing may be
-- remembered of it from one call to the next.
--
CREATE FUNCTION probes(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(n);
	missing int := 0;
	stale int := 0;
	wrong int := 0;
	held int;
BEGIN
	FOR i IN 1..n LOOP
		-- the sites see the filter both without and with the value
		FOR turn IN 0..1 LOOP
			IF NOT (cf_contains(f, i) AND f @> i AND i <@ f AND cf_contains_hash(f, cf_hash(i)) AND cf_contains_any(f, ARRAY[-i, i]) AND cf_contains_all(f, ARRAY[1, i, NULL]) AND (cf_contains_each(f, ARRAY[i]))[1] AND cf_count(f, i) > 0)
				AND turn = 1 THEN
				missing := missing + 1;
			END IF;
			-- a constant, which is hashed once
			IF cf_contains(f, 77) <> (f @> 77) OR (i > 77 OR i = 77 AND turn = 1) AND NOT (cf_contains(f, 77) AND f @> 77 AND cf_count(f, 77) > 0) THEN
				stale := stale + 1;
			END IF;
			IF cf_count(f) <> i - 1 + turn OR (cf_info(f)).entries <> cf_count(f) OR cf_fpr(f) <> (cf_info(f)).fpr OR (i % 100 = 0 AND cf_fpr(f) <> cf_fpr(f::text::cuckoofilter)) THEN
				wrong := wrong + 1;
			END IF;
			IF turn = 0 THEN
				f := cf_add(f, i);
			END IF;
		END LOOP;
		IF i % 500 = 0 THEN
			FOR j IN 1..i BY 7 LOOP
				IF NOT (f @> j) THEN missing := missing + 1; END IF;
			END LOOP;
			IF f <> f::text::cuckoofilter OR f::bytea <> f::text::cuckoofilter::bytea OR cuckoofilter_hash(f) <> cuckoofilter_hash(f::bytea::cuckoofilter) THEN wrong := wrong + 1; END IF;
		END IF;
	END LOOP;
	-- and away again; the last one is what the site has seen the moment before
	FOR i IN REVERSE n..1 LOOP
		held := cf_count(f, i);
		f := cf_remove(f, i);
		IF cf_count(f, i) <> held - 1 THEN stale := stale + 1; END IF;
		IF i > 1 AND NOT (f @> (i - 1)) THEN missing := missing + 1; END IF;
	END LOOP;
	RETURN format('%s missing, %s stale, %s wrong, %s left', missing, stale, wrong, cf_count(f));
END $$;
SELECT n, probes(n) FROM unnest('{20,300,4000}'::int[]) n;
-- one call site, now a variable, now what is stored, now a constant
CREATE TABLE stored AS SELECT n, filled(20000, n) AS f FROM unnest('{0,5,1000,19999}'::int[]) n;
CREATE FUNCTION site(f cuckoofilter, v int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN cf_contains(f, v); END $$;
CREATE FUNCTION crossing() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(20000);
	r record;
	wrong bigint := 0;
BEGIN
	FOR i IN 1..200 LOOP
		wrong := wrong + site(f, 20000 + i)::int;
		f := cf_add(f, 20000 + i);
		FOR r IN SELECT * FROM stored ORDER BY n LOOP
			wrong := wrong + (NOT site(f, 20000 + i))::int + (site(r.f, 5) <> (r.n >= 5))::int + (NOT site(f, 20001))::int + (site(cf_new(20000), 1))::int;
		END LOOP;
	END LOOP;
	RETURN wrong;
END $$;
SELECT crossing() <= 4 AS right;

--
-- In SQL, where a value can have several readers
--
CREATE TABLE source AS SELECT filled(30000, 20000) AS f;
SELECT cf_contains_all(a, ARRAY[-1, 5]) AND cf_contains_all(b, ARRAY[-2, 5]) AS added, cf_count(a) - cf_count(f) AS a, cf_count(b) - cf_count(f) AS b, a <> b AS differ
	FROM (SELECT f, cf_add(f, -1) AS a, cf_add(f, -2) AS b FROM (SELECT cf_add(f, 0) AS f FROM source OFFSET 0) s OFFSET 0) s;
SELECT cf_count(a) - cf_count(f) AS a, cf_count(b) - cf_count(f) AS b FROM (SELECT cf_add(f, 0) AS f FROM source OFFSET 0) s, LATERAL (SELECT cf_add(f, -1) AS a OFFSET 0) a, LATERAL (SELECT cf_add(cf_add(f, -1), -2) AS b OFFSET 0) b;
WITH w AS MATERIALIZED (SELECT cf_add(f, 0) AS f FROM source) SELECT cf_count(cf_add(f, -1)) AS a, cf_count(cf_add_all(f, ARRAY[-1, -2])) AS b, cf_count(f) AS f FROM w;
SELECT cf_count(cf_add((SELECT cf_add(f, 0) FROM source), v)) FROM generate_series(-3, -1) v;
-- of aggregates and windows
SELECT cf_count(cf_add(cf_union_agg(f), -1)) AS a, cf_count(cf_add_all(cf_union_agg(f), ARRAY[-1, -2])) AS b, cf_count(cf_union_agg(f)) AS f FROM source;
SELECT cf_count(cf_add(cf_union_agg(f) OVER w, -1)) AS a, cf_count(cf_add_all(cf_union_agg(f) OVER w, ARRAY[-1, -2])) AS b, cf_count(cf_union_agg(f) OVER w) AS f, cf_count(cf_add(COALESCE(lag(f) OVER w, f), 0)) AS l
	FROM (SELECT i, cf_add(f, -10 - i) AS f FROM source, generate_series(1, 3) i OFFSET 0) s WINDOW w AS (ORDER BY i);
-- sorted, hashed, grouped, joined, unioned, in arrays and rows
SELECT count(*), count(DISTINCT g), min(cf_count(g)), max(cf_count(g)) FROM (SELECT cf_add(f, i / 2) AS g FROM source, generate_series(1, 7) i) s;
SELECT cf_count(g), n FROM (SELECT g, count(*) AS n FROM (SELECT cf_add_all(f, array_fill(-i, ARRAY[i / 2])) AS g FROM source, generate_series(2, 7) i) s GROUP BY g) s ORDER BY g;
SELECT count(*) FROM (SELECT i, cf_add(f, i) AS g FROM source, generate_series(1, 5) i) a JOIN (SELECT i, cf_add(f, i) AS g FROM source, generate_series(3, 9) i) b USING (g);
SELECT count(*) FROM (SELECT cf_add(f, 1) FROM source UNION SELECT cf_add(f, 1) FROM source UNION SELECT cf_add(f, 2) FROM source) s;
SELECT cf_count(fs[1]) AS first, cf_count(fs[2]) AS second, fs[1] = fs[2] AS same FROM (SELECT array_agg(cf_add(f, i)) AS fs FROM source, generate_series(1, 2) i) s;
SELECT cf_count(fs[1]) AS first, cf_count(fs[2]) AS second FROM (SELECT ARRAY[cf_add(f, 1), cf_add(cf_add(f, 1), 2)] AS fs FROM source) s;
SELECT cf_count((r).g) AS g, cf_count((r).h) AS h FROM (SELECT r FROM source, LATERAL (SELECT cf_add(f, 1) AS g, f AS h) r OFFSET 0) s;
SELECT cf_count(CASE cf_add(f, 1) WHEN f THEN f WHEN cf_add(f, 1) THEN cf_add(cf_add(f, 1), 2) END) AS matched, NULLIF(cf_add(f, 1), cf_add(f, 1)) IS NULL AS equal, cf_count(NULLIF(cf_add(f, 1), f)) AS unequal, cf_count(GREATEST(cf_add(f, 1), f)) >= 20000 AS greatest FROM source;
PREPARE twice(cuckoofilter, int) AS SELECT cf_count(cf_add($1, $2)) AS a, cf_count(cf_add(cf_add($1, $2), 0)) AS b, cf_count($1) AS f;
EXECUTE twice(filled(30000, 20000), -1);
SET plan_cache_mode = force_generic_plan;
EXECUTE twice(filled(30000, 20000), -1);
RESET plan_cache_mode;
-- stored: a large one, a list, generated columns, checks
CREATE TABLE kept (f cuckoofilter CHECK (cf_count(f) <> 13), bigger cuckoofilter GENERATED ALWAYS AS (cf_add(f, -1)) STORED);
INSERT INTO kept SELECT cf_add(f, 0) FROM source UNION ALL SELECT cf_add(cf_new(30000), 0);
INSERT INTO kept SELECT cf_add(filled(30000, 12), 0);
UPDATE kept SET f = cf_add(cf_add(f, 1), 2);
SELECT cf_count(f), cf_count(bigger), f @> 2 AS two, bigger @> -1 AS minus_one, bigger = cf_add(f, -1) AS equal FROM kept ORDER BY 1;
-- both directions of text and binary form, of an expanded one
SELECT cf_add(f, -1)::text::cuckoofilter = cf_add(f, -1) AS text_form, cf_add(f, -1)::bytea::cuckoofilter = cf_add(f, -1) AS binary_form, cuckoofilter_send(cf_add(f, -1)) = cf_add(f, -1)::bytea AS sent, (SELECT count(*) FROM cf_check(cf_add(f, -1))) AS problems,
	cf_resize(cf_add(f, -1)) = cf_add(f, -1) AS resized, cf_add(f, 1) | cf_add(f, -1) = cf_add(f, 1) | cf_add(f, -1)::text::cuckoofilter AS united, cf_cmp(cf_add(f, 1), cf_add(f, 1)) AS same FROM source;

-- the same of the result of an aggregate that merges large filters when it must
CREATE TABLE parts AS SELECT i, cf_add_all(cf_new(200000), ARRAY(SELECT generate_series(i * 60000 - 59999, i * 60000))) AS f FROM generate_series(1, 3) i;
SELECT cf_contains_all(cf_union_agg(f)::text::cuckoofilter, v) AS text_form, cf_contains_all(cf_union_agg(f)::bytea::cuckoofilter, v) AS binary_form, cf_contains_all(cf_resize(cf_union_agg(f), 300000), v) AS resized,
	cf_contains_all(cf_add(cf_union_agg(f), -1), v) AS added, count(*) AS rows FROM parts, (SELECT array_agg(i) AS v FROM generate_series(1, 180000) i OFFSET 0) s GROUP BY v;
SELECT cf_union_agg(f)::text::cuckoofilter = (SELECT cf_union_agg(f) FROM parts) AS text_form FROM parts;
SELECT cf_union_agg(f)::bytea::cuckoofilter = (SELECT cf_union_agg(f) FROM parts) AS binary_form FROM parts;
SELECT cf_union_agg(f) = (SELECT cf_union_agg(f) FROM parts)::text::cuckoofilter AS equal FROM parts;
SELECT cf_count(cf_resize(cf_union_agg(f), 300000)) = (SELECT cf_count(cf_union_agg(f)) FROM parts) AS resized, (SELECT count(*) FROM parts) AS parts FROM parts;
SELECT cuckoofilter_hash(cf_union_agg(f)) = cuckoofilter_hash((SELECT cf_union_agg(f) FROM parts)) AS hashed FROM parts;

--
-- As the state of an aggregate and of a moving one
--
SELECT cf_new(20000) AS empty \gset
CREATE AGGREGATE add_up(int) (sfunc = cf_add, stype = cuckoofilter, initcond = :'empty', msfunc = cf_add, minvfunc = cf_remove, mstype = cuckoofilter, minitcond = :'empty');
CREATE AGGREGATE add_up_all(int[]) (sfunc = cf_add_all, stype = cuckoofilter, initcond = :'empty');
SELECT add_up(i) = filled(20000, 20000) AS right, cf_count(cf_add(add_up(i), -1)) AS a, cf_count(cf_add(add_up(i), -2)) AS b FROM (SELECT i FROM generate_series(1, 20000) i ORDER BY i) s;
SELECT i % 3 AS g, add_up(i) = cf_add_all(cf_new(20000), array_agg(i)) AS right, cf_count(add_up_all(ARRAY[i, -i])) FROM generate_series(1, 9000) i GROUP BY g ORDER BY g;
-- the last 1,000 values and no others, in every row
SELECT count(*) AS rows, bool_and(cf_count(f) = least(i, 1000) AND f @> i AND f @> greatest(i - 999, 1)) AS right, count(*) FILTER (WHERE f @> (i - 1000)) < 60 AS removed
	FROM (SELECT i, add_up(i) OVER (ORDER BY i ROWS 999 PRECEDING) AS f FROM generate_series(1, 6000) i) s;

--
-- Memory.  What a variable has outgrown is freed, on all servers and however
-- often it fails.
--
CREATE FUNCTION memory() RETURNS bigint LANGUAGE sql AS $$ SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts $$;
CREATE FUNCTION churn(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := filled(1000, 250);
	before bigint;
BEGIN
	FOR i IN 250..n LOOP
		f := cf_add_all(f, ARRAY[i, -i]);
		f := cf_remove(cf_remove(f, i), -i);
		f := cf_add(cf_add(f, i), -i);
		f := cf_remove_all(f, ARRAY[i, -i]);
		IF i = 1000 THEN
			before := memory();
		END IF;
	END LOOP;
	IF memory() - before > 1000000 THEN RETURN format('%s bytes more', memory() - before); END IF;
	RETURN format('%s entries, no more memory', cf_count(f));
END $$;
SELECT churn(250000);
-- to full size, with values that a filter does not take, and batches
CREATE FUNCTION grow(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := cf_new(n);
	before bigint := memory();
	batch int[];
BEGIN
	FOR i IN 1..n / 10 LOOP
		f := cf_add(f, i);
		batch := ARRAY[-i, -i - n, -i - 2 * n, -i - 3 * n];
		f := cf_add_all(f, batch);
		IF i % 1000 = 0 THEN
			BEGIN
				f := cf_add(f, 'text');
			EXCEPTION WHEN datatype_mismatch THEN
			END;
			batch := ARRAY(SELECT generate_series(i * 3000, i * 3000 + 2000));
			f := cf_remove_all(cf_add_all(f, batch), batch);
		END IF;
	END LOOP;
	IF in_filters() > 4 * octet_length(f::bytea) + 10000 THEN RETURN format('%s bytes for a filter of %s', in_filters(), octet_length(f::bytea)); END IF;
	IF memory() - before > 8 * octet_length(f::bytea) + 1000000 THEN RETURN format('%s bytes more with a filter of %s', memory() - before, octet_length(f::bytea)); END IF;
	RETURN 'no more than it needs';
END $$;
SELECT grow(1000000);

DROP SCHEMA inplace CASCADE;
