--
-- Check test/vectors/format1.json: the extension reads every filter, answers
-- and builds as the file says, and takes and refuses the images that it says.
-- One row for each filter or image that differs, and then how many were looked
-- at.
--
-- Run by psql in the folder of the file.
--
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE TEMP TABLE vectors (n serial, line text);
\copy vectors (line) FROM format1.json WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')
CREATE TEMP TABLE whole AS SELECT string_agg(line, E'\n' ORDER BY n)::jsonb AS v FROM vectors;

CREATE FUNCTION pg_temp.type_of(family text) RETURNS text LANGUAGE sql AS $$
	SELECT CASE family WHEN 'number' THEN 'numeric' WHEN 'float' THEN 'float8' WHEN 'bytes' THEN 'bytea'
		WHEN 'char(n)' THEN 'bpchar' WHEN 'hash' THEN 'int8' ELSE family END $$;

CREATE FUNCTION pg_temp.values_of(family text, vals jsonb) RETURNS text[] LANGUAGE sql AS $$
	SELECT CASE jsonb_typeof(vals) WHEN 'object' THEN
		ARRAY(SELECT n::text AS value FROM generate_series(1, coalesce((vals->>'times')::int, 1)) AS t,
			generate_series((vals->>'from')::int, (vals->>'to')::int) AS n ORDER BY t, n)
	ELSE ARRAY(SELECT CASE family WHEN 'bytes' THEN '\x' ELSE '' END || v FROM jsonb_array_elements_text(vals) WITH ORDINALITY AS u(v, i) ORDER BY i) END $$;

-- what of a filter is not as it says
CREATE FUNCTION pg_temp.wrong(s jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	f cuckoofilter := (s->>'text')::cuckoofilter;
	probes jsonb := s->'probes';
	b jsonb := nullif(s->'build', 'null');
	steps jsonb := nullif(s->'steps', 'null');
	family text := probes->>'family';
	type text := pg_temp.type_of(family);
	made cuckoofilter;
	answer text;
	change record;
	key text;
	value jsonb;
BEGIN
	IF EXISTS (SELECT FROM cf_check(f)) OR f::text <> s->>'text' OR encode(f::bytea, 'hex') <> s->>'bytes' THEN
		RETURN 'image';
	END IF;
	FOR key, value IN SELECT * FROM jsonb_each(to_jsonb(cf_info(f))) LOOP
		CONTINUE WHEN key <> 'seed' AND jsonb_typeof(value) = 'number'
			AND abs(value::numeric - (s->'info'->key)::numeric) <= 1e-9 * abs(value::numeric);
		CONTINUE WHEN key <> 'seed' AND value = s->'info'->key;
		CONTINUE WHEN key = 'seed' AND value::text = s->'info'->>key;
		RETURN key;
	END LOOP;
	IF cf_count(f) <> (s->>'count')::bigint THEN
		RETURN 'count';
	END IF;
	EXECUTE format(CASE WHEN family = 'hash' THEN 'SELECT string_agg(cf_contains_hash($1, v::int8)::int::text, '''' ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)'
		ELSE 'SELECT string_agg(cf_count($1, v::%s)::text, '''' ORDER BY i) FROM unnest($2) WITH ORDINALITY AS u(v, i)' END, type)
		INTO answer USING f, pg_temp.values_of(family, probes->'values');
	IF answer <> coalesce(probes->>'found', translate(probes->>'copies', CASE family WHEN 'hash' THEN '234' ELSE '' END, '111')) THEN
		RETURN 'answers';
	END IF;
	IF length(answer) <> 200 THEN
		RETURN 'number of probes';
	END IF;
	IF b IS NOT NULL THEN
		EXECUTE format('SELECT %s(v::%s, $2, $3, $4, $5) FROM unnest($1) AS v',
			CASE WHEN family = 'hash' THEN 'cf_hash_agg' WHEN (b->>'bag')::bool THEN 'cf_bag_agg' ELSE 'cf_agg' END, type)
			INTO made USING pg_temp.values_of(family, b->'values'), (b->>'capacity')::float8, (b->>'fpr')::float8, (b->>'max_copies')::int, (b->>'seed')::bigint;
		IF made::text <> f::text THEN
			RETURN 'build';
		END IF;
	END IF;
	IF steps IS NOT NULL THEN
		made := cf_new((steps->>'capacity')::float8, (steps->>'fpr')::float8, (steps->>'max_copies')::int, (steps->>'seed')::bigint);
		FOR change IN SELECT e.key AS verb, e.value AS vals FROM jsonb_array_elements(steps->'changes') WITH ORDINALITY AS c(c, i), jsonb_each(c) AS e ORDER BY i LOOP
			EXECUTE format('SELECT cf_%s%s($1, $2::%s[])', change.verb, CASE family WHEN 'hash' THEN '_hashes' ELSE '_all' END, type)
				INTO made USING made, pg_temp.values_of(family, change.vals);
		END LOOP;
		IF made::text <> f::text THEN
			RETURN 'steps';
		END IF;
	END IF;
	RETURN NULL;
END $$;

CREATE FUNCTION pg_temp.verdict(s jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF s ? 'text' THEN
		PERFORM (s->>'text')::cuckoofilter;
	ELSE
		PERFORM decode(s->>'bytes', 'hex')::cuckoofilter;
	END IF;
	RETURN 'ok';
EXCEPTION
	WHEN data_exception THEN
		RETURN 'damaged';
	WHEN feature_not_supported THEN
		RETURN 'version';
END $$;

CREATE FUNCTION pg_temp.hashes_differ(h jsonb) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	hashes jsonb;
BEGIN
	EXECUTE format('SELECT jsonb_agg(cf_hash(v::%s, $2)::text ORDER BY i) FROM unnest($1) WITH ORDINALITY AS u(v, i)', pg_temp.type_of(h->>'family'))
		INTO hashes USING pg_temp.values_of(h->>'family', h->'values'), (h->>'seed')::bigint;
	RETURN hashes IS DISTINCT FROM h->'hashes';
END $$;

SELECT 'filter', s->>'name', w FROM whole, jsonb_array_elements(v->'filters') AS s, pg_temp.wrong(s) AS w WHERE w IS NOT NULL;
SELECT 'image', s->>'name', w FROM whole, jsonb_array_elements(v->'images') AS s, pg_temp.verdict(s) AS w WHERE w <> s->>'verdict';
SELECT 'hashes', h->>'family', h->>'seed' FROM whole, jsonb_array_elements(v->'hashes') AS h WHERE pg_temp.hashes_differ(h);
SELECT jsonb_array_length(v->'filters') >= 60, jsonb_array_length(v->'images') >= 600, jsonb_array_length(v->'hashes') >= 20,
	(SELECT count(DISTINCT i->>'verdict') FROM jsonb_array_elements(v->'images') AS i),
	(SELECT count(*) > 50 FROM jsonb_array_elements(v->'filters') AS f WHERE f->'build' <> 'null')
FROM whole;
