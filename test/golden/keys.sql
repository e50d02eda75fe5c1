--
-- Check test/golden/keys.tsv: the key bytes and hashes of values of every
-- family, derived from docs/format.md by a program that shares no code with
-- the extension.  Never regenerated, only added to.
--
-- The columns are value (an SQL expression that no setting changes), type,
-- key (hex), hash (cf_hash with seed 0) and family.  A value that the
-- database encoding does not have is skipped and counted.
--
-- Run by psql with PG_ABS_SRCDIR set to the root of the source tree.
--
CREATE TYPE key_mood AS ENUM ('very sad', 'ok', 'happy');
CREATE TYPE key_pair AS (a int, b text);
CREATE TYPE key_textrange AS RANGE (subtype = text, collation = "C");
CREATE TYPE key_floatrange AS RANGE (subtype = float8);
CREATE TEMP TABLE golden_key (value text, type text, key text, hash bigint,
	family text);
\copy golden_key FROM PROGRAM 'cat "$PG_ABS_SRCDIR/test/golden/keys.tsv"' WITH (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\b', NULL '\N')
CREATE FUNCTION golden_key_check(OUT family text, OUT nvectors int,
	OUT nskipped int, OUT wrong text[]) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
	row golden_key;
	is_right bool;
BEGIN
	FOR family, nvectors IN
		SELECT g.family, count(*) FROM golden_key g GROUP BY 1 ORDER BY 1
	LOOP
		nskipped := 0;
		wrong := '{}';
		FOR row IN SELECT * FROM golden_key g WHERE g.family = golden_key_check.family
		LOOP
			BEGIN
				EXECUTE format('SELECT cf_hash(v) = %s AND cf_hash(decode(%L, ''hex'')) = %s AND pg_typeof(v)::text = %L
						AND (cf_info(cf_add(cf_new(1), v))).family = %L FROM (SELECT %s) s(v)',
					row.hash, row.key, row.hash, row.type, row.family, row.value)
					INTO is_right;
				IF is_right IS NOT TRUE THEN
					wrong := wrong || row.value;
				END IF;
			EXCEPTION
				WHEN untranslatable_character OR feature_not_supported THEN
					IF row.value LIKE '%U&%' THEN
						nskipped := nskipped + 1;
					ELSE
						wrong := wrong || (row.value || ': ' || SQLERRM);
					END IF;
			END;
		END LOOP;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM golden_key_check();
