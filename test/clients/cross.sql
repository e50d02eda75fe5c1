--
-- What the server says of the requests that cross.pl made: the bytes built of
-- each set, the copies of what is asked for, and a verdict on mutated images.
--
-- psql -qAtX -v mutants=N -v seed=S; reads requests, prints a kind and a
-- JSON object a line, separated by a tab.
--
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE TEMP TABLE given (id serial, line text);
\copy given (line) FROM PSTDIN WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')

CREATE FUNCTION pg_temp.type_of(family text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE family WHEN 'number' THEN 'numeric' WHEN 'float' THEN 'float8' WHEN 'bytes' THEN 'bytea'
		WHEN 'char(n)' THEN 'bpchar' WHEN 'hash' THEN 'int8' ELSE family END $$;

CREATE FUNCTION pg_temp.values_of(family text, vals jsonb) RETURNS text[] LANGUAGE sql AS $$
	SELECT ARRAY(SELECT CASE family WHEN 'bytes' THEN '\x' ELSE '' END || v FROM jsonb_array_elements_text(vals) WITH ORDINALITY AS u(v, i) ORDER BY i) $$;

-- the filter of a request; NULL if the server refuses
CREATE FUNCTION pg_temp.build(r jsonb) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter;
BEGIN
	EXECUTE format('SELECT %s(v::%s, $2, $3, $4, $5) FROM unnest($1) AS v',
		CASE WHEN r->>'family' = 'hash' THEN 'cf_hash_agg' WHEN (r->>'bag')::bool THEN 'cf_bag_agg' ELSE 'cf_agg' END,
		pg_temp.type_of(r->>'family'))
		INTO f USING pg_temp.values_of(r->>'family', r->'values'), (r->>'capacity')::float8, (r->>'fpr')::float8,
			(r->>'max_copies')::int, (r->>'seed')::bigint;
	RETURN f;
EXCEPTION WHEN program_limit_exceeded OR invalid_parameter_value THEN
	RETURN NULL;
END $$;

CREATE FUNCTION pg_temp.found(f cuckoofilter, family text, vals jsonb) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	found json;
BEGIN
	EXECUTE format(CASE family WHEN 'hash' THEN 'SELECT json_agg(cf_contains_hash($1, v::int8)::int ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)'
		ELSE 'SELECT json_agg(cf_count($1, v::%s) ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)' END, pg_temp.type_of(family))
		INTO found USING f, pg_temp.values_of(family, vals);
	RETURN found;
END $$;

-- values added and removed one by one
CREATE FUNCTION pg_temp.changed(f cuckoofilter, family text, changes jsonb) RETURNS cuckoofilter LANGUAGE plpgsql AS $$
DECLARE
	change record;
BEGIN
	FOR change IN SELECT e.key AS verb, e.value AS vals FROM jsonb_array_elements(changes) WITH ORDINALITY AS c(c, i), jsonb_each(c) AS e ORDER BY i LOOP
		EXECUTE format('SELECT cf_%s%s($1, $2::%s[])', change.verb, CASE family WHEN 'hash' THEN '_hashes' ELSE '_all' END, pg_temp.type_of(family))
			INTO f USING f, pg_temp.values_of(family, change.vals);
	END LOOP;
	RETURN f;
EXCEPTION WHEN program_limit_exceeded OR object_not_in_prerequisite_state THEN
	RETURN NULL;
END $$;

CREATE TEMP TABLE built AS
	SELECT id, line::jsonb AS r, pg_temp.build(line::jsonb) AS f FROM given;
SELECT 'build' || E'\t' || json_build_object('id', id, 'bytes', encode(f::bytea, 'hex')) FROM built ORDER BY id;
SELECT 'probe' || E'\t' || json_build_object('id', id, 'counts', pg_temp.found(f, r->>'family', r->'probes'))
FROM built WHERE f IS NOT NULL ORDER BY id;
SELECT 'change' || E'\t' || json_build_object('id', id, 'bytes', encode(pg_temp.changed(f, r->>'family', r->'changes')::bytea, 'hex'))
FROM built WHERE f IS NOT NULL ORDER BY id;

CREATE FUNCTION pg_temp.sealed(image bytea) RETURNS bytea LANGUAGE sql AS $$
	SELECT image || string_agg(substr(sum, i, 1), '' ORDER BY i DESC)
	FROM int8send(cf_hash(image)) AS sum, generate_series(1, 8) AS i $$;

CREATE FUNCTION pg_temp.verdict(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM bytes::cuckoofilter;
	RETURN 'ok';
EXCEPTION
	WHEN data_exception THEN
		RETURN 'damaged';
	WHEN feature_not_supported THEN
		RETURN 'version';
END $$;

-- One to three changes of an image, with its checksum corrected or not.
CREATE FUNCTION pg_temp.mutant(whole bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	image bytea := substr(whole, 1, length(whole) - 8);
	seal bool := random() < 0.9;
	n int;
	place int;
BEGIN
	IF NOT seal THEN
		image := whole;
	END IF;
	FOR i IN 1 .. 1 + floor(random() * random() * 3)::int LOOP
		n := length(image);
		EXIT WHEN n < 48;
		place := floor(random() * CASE WHEN random() < 0.4 THEN least(44, n) ELSE n END)::int;
		CASE floor(random() * 8)::int
			WHEN 0, 1, 2 THEN image := set_byte(image, place, get_byte(image, place) # (1 << floor(random() * 8)::int));
			WHEN 3 THEN image := set_byte(image, place, floor(random() * 256)::int);
			WHEN 4 THEN image := set_byte(image, place, CASE WHEN random() < 0.5 THEN 0 ELSE 255 END);
			WHEN 5 THEN image := CASE WHEN random() < 0.5 THEN substr(image, 1, place) ELSE image || substr(image, 1, 1 + place % 9) END;
			-- two stretches change places, which may be two hashes or buckets
			WHEN 6 THEN IF n > 60 THEN
				place := 44 + 8 * floor(random() * ((n - 60) / 8))::int;
				image := overlay(image PLACING substr(image, place + 9, 8) || substr(image, place + 1, 8) FROM place + 1);
			END IF;
			-- a value of a field that may be as right as the old one
			ELSE image := set_byte(image, (ARRAY[2, 3, 4, 5, 6, 7, 24, 41])[1 + floor(random() * 8)::int], floor(random() * 40)::int);
		END CASE;
	END LOOP;
	RETURN CASE WHEN seal THEN pg_temp.sealed(image) ELSE image END;
END $$;

SELECT setseed(:seed) IS NULL \g /dev/null
CREATE TEMP TABLE base AS SELECT row_number() OVER (ORDER BY id) AS n, f::bytea AS whole FROM built WHERE length(f::bytea) < 1200;
CREATE TEMP TABLE mutant AS SELECT g AS id, pg_temp.mutant(whole) AS bytes
	FROM generate_series(1, :mutants) AS g JOIN base ON n = 1 + g % (SELECT count(*) FROM base);
SELECT 'verdict' || E'\t' || json_build_object('id', id, 'bytes', encode(bytes, 'hex'), 'verdict', pg_temp.verdict(bytes)) FROM mutant ORDER BY id;
