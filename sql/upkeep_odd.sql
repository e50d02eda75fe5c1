--
-- upkeep_odd: what could leave a filter without a value of its table, or bring
-- the server down: odd tables, keys, indexes, triggers and statements.  Each
-- case says what must hold.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA upkeep_odd;
SET search_path = upkeep_odd, public;

--
-- 1. MERGE is followed in every mixture of its actions, whatever comes first
--
CREATE TABLE merged (id int, part int, k int, v bigint, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE merged_0 PARTITION OF merged FOR VALUES IN (0);
CREATE TABLE merged_1 PARTITION OF merged FOR VALUES IN (1);
CREATE TABLE merged_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('merged', '{v}', 'merged_filter', 'f', '{k}', 300);
INSERT INTO merged VALUES (1, 0, 1, 101), (3, 0, 1, 103);
SET enable_hashjoin = off;
MERGE INTO merged USING (VALUES (5), (1), (6), (3)) g (i) ON id = i
	WHEN MATCHED THEN UPDATE SET v = 200 + i
	WHEN NOT MATCHED THEN INSERT VALUES (g.i, 0, 1, 200 + i);
SELECT key, source_rows, missing, entries, stale FROM cf_drift('merged_filter', 'f');
MERGE INTO merged USING (VALUES (7), (1), (6), (3), (5)) g (i) ON id = i
	WHEN MATCHED AND i = 1 THEN DELETE
	WHEN MATCHED AND i = 3 THEN UPDATE SET part = 1 - part, v = 300 + i
	WHEN MATCHED AND i = 5 THEN UPDATE SET k = 2
	WHEN MATCHED THEN DO NOTHING
	WHEN NOT MATCHED THEN INSERT VALUES (g.i, 1, 2, 200 + i);
MERGE INTO merged_0 USING (VALUES (8), (5)) g (i) ON id = i
	WHEN MATCHED THEN UPDATE SET v = 400
	WHEN NOT MATCHED THEN INSERT VALUES (g.i, 0, 1, 208);
RESET enable_hashjoin;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('merged_filter', 'f');

--
-- 2. Nothing of a writer or of another table's owner runs with the rights of
-- the filters' owner
--
CREATE ROLE regress_upkeep_odd;
CREATE ROLE regress_upkeep_odd2;
GRANT USAGE, CREATE ON SCHEMA upkeep_odd TO regress_upkeep_odd, regress_upkeep_odd2;
CREATE TABLE ran (name text, path text);
GRANT INSERT ON ran TO PUBLIC;
CREATE TABLE bait (k int PRIMARY KEY, f cuckoofilter);
CREATE FUNCTION logged() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO upkeep_odd.ran VALUES (current_user, current_setting('search_path')); RETURN NEW; END $$;
CREATE TRIGGER logged BEFORE INSERT OR UPDATE ON bait FOR EACH ROW EXECUTE FUNCTION logged();
GRANT SELECT, INSERT, UPDATE ON bait TO regress_upkeep_odd;
SET ROLE regress_upkeep_odd;
CREATE TABLE hook (k int, v int);
SELECT cf_attach('hook', '{v}', 'bait', 'f', '{k}', 100);
GRANT INSERT ON hook TO regress_upkeep_odd2;
SET ROLE regress_upkeep_odd2;
SET search_path = upkeep_odd;
INSERT INTO hook VALUES (1, 1);
RESET ROLE;
SET search_path = upkeep_odd, public;
INSERT INTO hook VALUES (1, 2);
SELECT DISTINCT * FROM ran;
-- nor without USAGE on the schema of the filters
REVOKE USAGE ON SCHEMA upkeep_odd FROM regress_upkeep_odd, regress_upkeep_odd2;
INSERT INTO hook VALUES (1, 3);
GRANT USAGE, CREATE ON SCHEMA upkeep_odd TO regress_upkeep_odd, regress_upkeep_odd2;
-- each of the three rights is asked for when it is needed
REVOKE INSERT ON bait FROM regress_upkeep_odd;
INSERT INTO hook VALUES (1, 3);
INSERT INTO hook VALUES (2, 3);
GRANT INSERT ON bait TO regress_upkeep_odd;
REVOKE UPDATE ON bait FROM regress_upkeep_odd;
INSERT INTO hook VALUES (1, 4);
GRANT UPDATE ON bait TO regress_upkeep_odd;
REVOKE SELECT ON bait FROM regress_upkeep_odd;
INSERT INTO hook VALUES (1, 4);
GRANT SELECT ON bait TO regress_upkeep_odd;

--
-- 3. A superuser's cf_drift, cf_rebuild and cf_detach run nothing of another
-- role with their own rights, and are not stopped by it
--
SET ROLE regress_upkeep_odd2;
CREATE FUNCTION spring(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'run by %', current_user; RETURN $1; END $$;
CREATE TABLE trap (k int, v int);
CREATE INDEX ON trap (v) WHERE spring(1) = 1;
CREATE TRIGGER planted AFTER INSERT OR DELETE ON trap FOR EACH ROW WHEN ('bait'::regclass IS NOT NULL)
	EXECUTE FUNCTION cf_upkeep('f', '{v}', '{k}', '{k}', '100', '0.01', '4', '0', '0', '', '1');
INSERT INTO trap VALUES (1, 1);
RESET ROLE;
SELECT count(*) FROM cf_drift('bait', 'f');
SELECT cf_rebuild('bait', 'f');
SELECT cf_detach('bait', 'f');
SELECT tgname FROM pg_trigger WHERE tgrelid IN ('bait'::regclass, 'hook'::regclass, 'trap'::regclass) ORDER BY 1;
-- the same of a table that is followed: its owner runs it
GRANT SELECT, INSERT, UPDATE ON bait TO regress_upkeep_odd2;
DELETE FROM bait;
SET client_min_messages = error;
SET ROLE regress_upkeep_odd2;
SELECT cf_attach('trap', '{v}', 'bait', 'f', '{k}', 100);
RESET ROLE;
SET client_min_messages = warning;
TRUNCATE ran;
SELECT cf_rebuild('bait', 'f');
SELECT DISTINCT name FROM ran;
SELECT cf_detach('trap');

--
-- 4. The filter belongs to the triggers: it is not assigned, and its row stays
-- while there are rows of its key
--
CREATE TABLE row_of (id int PRIMARY KEY, ten int, v int);
CREATE TABLE ten (id int PRIMARY KEY, name text, f cuckoofilter);
INSERT INTO ten VALUES (1, 'one'), (2, 'two'), (3, 'three');
SELECT cf_attach('row_of', '{v}', 'ten', 'f', '{ten}', 300, target_key => '{id}');
INSERT INTO row_of SELECT i, 1 + i % 2, i FROM generate_series(1, 200) i;
\set VERBOSITY default
UPDATE ten SET name = 'uno', f = f WHERE id = 1;
DELETE FROM ten WHERE id = 2;
\set VERBOSITY terse
UPDATE ten SET f = NULL;
INSERT INTO ten VALUES (1, 'one') ON CONFLICT (id) DO UPDATE SET f = NULL;
MERGE INTO ten USING (VALUES (1)) g (i) ON id = i WHEN MATCHED THEN UPDATE SET f = cf_new(10);
UPDATE ten SET id = 9 WHERE id = 1;
TRUNCATE ten;
WITH gone AS (DELETE FROM ten WHERE id = 1 RETURNING *) INSERT INTO ten SELECT id, name FROM gone;
UPDATE ten SET name = upper(name), id = id;
INSERT INTO ten VALUES (1, 'uno') ON CONFLICT (id) DO UPDATE SET name = excluded.name;
DELETE FROM ten WHERE id = 3;
UPDATE ten SET id = 4 WHERE id = 1 AND false;
-- of a trigger of the target it is an error, too
CREATE FUNCTION put_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.f := cf_new(300); RETURN NEW; END $$;
CREATE TRIGGER put_back BEFORE UPDATE ON ten FOR EACH ROW EXECUTE FUNCTION put_back();
UPDATE ten SET name = 'x';
DROP TRIGGER put_back ON ten;
-- what cascades from the target works
ALTER TABLE row_of ADD FOREIGN KEY (ten) REFERENCES ten ON DELETE CASCADE ON UPDATE CASCADE;
UPDATE ten SET id = 7 WHERE id = 1;
DELETE FROM ten WHERE id = 2;
SELECT key, source_rows, missing FROM cf_drift('ten', 'f');
TRUNCATE ten, row_of;
SELECT count(*) AS filters FROM cf_drift('ten', 'f');
-- the way out
INSERT INTO row_of SELECT 1, 1, 1 WHERE false;
INSERT INTO ten VALUES (1);
INSERT INTO row_of VALUES (1, 1, 1);
SELECT cf_detach('ten', 'f');
UPDATE ten SET f = NULL;

--
-- 5. Truncating a part, or all, is right whatever other triggers do then
--
CREATE TABLE archive (k int, v int);
CREATE TABLE year (y int, k int, v int) PARTITION BY LIST (y);
CREATE TABLE year_1 PARTITION OF year FOR VALUES IN (1);
CREATE TABLE year_2 PARTITION OF year FOR VALUES IN (2);
CREATE TABLE year_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('year', '{v}', 'year_filter', 'f', '{k}', 100);
INSERT INTO year SELECT 1 + i % 2, i % 3, i % 7 FROM generate_series(1, 40) i;
CREATE FUNCTION archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH gone AS (DELETE FROM %s RETURNING k, v) INSERT INTO archive SELECT k, v FROM gone', TG_RELID::regclass);
	RETURN NULL;
END $$;
CREATE TRIGGER archive BEFORE TRUNCATE ON year_1 FOR EACH STATEMENT EXECUTE FUNCTION archive();
TRUNCATE year_1;
SELECT key, source_rows, missing FROM cf_drift('year_filter', 'f') ORDER BY 1;
CREATE FUNCTION keep_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO year VALUES (1, 1, 77); RETURN NULL; END $$;
CREATE TRIGGER a_keep AFTER TRUNCATE ON year FOR EACH STATEMENT EXECUTE FUNCTION keep_one();
TRUNCATE year;
SELECT key, source_rows, missing FROM cf_drift('year_filter', 'f') ORDER BY 1;
SELECT f @> 77 AS has_77 FROM year_filter WHERE k = 1;

--
-- 6. A trigger of the target that puts another filter in place of the new one
-- is an error
--
CREATE TABLE swap (k int, v int);
CREATE TABLE swap_filter (k int PRIMARY KEY, f cuckoofilter);
INSERT INTO swap VALUES (1, 1);
SELECT cf_attach('swap', '{v}', 'swap_filter', 'f', '{k}', 100);
CREATE FUNCTION old_filter() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.f := OLD.f; RETURN NEW; END';
CREATE FUNCTION new_filter() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.f := public.cf_new(10); RETURN NEW; END';
CREATE TRIGGER swap BEFORE UPDATE ON swap_filter FOR EACH ROW EXECUTE FUNCTION old_filter();
INSERT INTO swap VALUES (1, 2);
INSERT INTO swap VALUES (2, 2);
DELETE FROM swap WHERE k = 2;
ALTER TABLE swap DISABLE TRIGGER USER;
INSERT INTO swap VALUES (1, 3);
ALTER TABLE swap ENABLE TRIGGER USER;
SELECT cf_rebuild('swap_filter', 'f');
DROP TRIGGER swap ON swap_filter;
SELECT cf_rebuild('swap_filter', 'f');
CREATE TRIGGER swap BEFORE INSERT ON swap_filter FOR EACH ROW EXECUTE FUNCTION new_filter();
INSERT INTO swap VALUES (5, 2);
DROP TRIGGER swap ON swap_filter;
-- also none at all
CREATE FUNCTION no_filter() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.f := NULL; RETURN NEW; END';
CREATE TRIGGER swap BEFORE INSERT OR UPDATE ON swap_filter FOR EACH ROW EXECUTE FUNCTION no_filter();
INSERT INTO swap VALUES (1, 4);
INSERT INTO swap VALUES (5, 2);
SELECT cf_rebuild('swap_filter', 'f');
TRUNCATE swap;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('swap_filter', 'f') ORDER BY 1;

--
-- 7. What changes nothing is no error where a trigger suppresses such updates
--
CREATE TABLE calm (k int, v int);
CREATE TABLE calm_filter (k int PRIMARY KEY, name text NOT NULL, f cuckoofilter);
INSERT INTO calm_filter VALUES (1, 'one');
SELECT cf_attach('calm', '{v}', 'calm_filter', 'f', '{k}', 100);
CREATE TRIGGER calm BEFORE UPDATE ON calm_filter FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
INSERT INTO calm SELECT 1, 7 FROM generate_series(1, 4);
INSERT INTO calm VALUES (1, 7);
DELETE FROM calm WHERE ctid = (SELECT min(ctid) FROM calm);
INSERT INTO calm VALUES (1, 8);
SELECT key, source_rows, missing, entries FROM cf_drift('calm_filter', 'f');

--
-- 8. A deferrable constraint of the key is refused, beside another index, too
--
CREATE TABLE later (k int, v int);
CREATE TABLE later_filter (k int PRIMARY KEY, f cuckoofilter, UNIQUE (k) DEFERRABLE);
\set VERBOSITY default
SELECT cf_attach('later', '{v}', 'later_filter', 'f', '{k}', 100);
\set VERBOSITY terse

--
-- 9. What nets out within a statement and its triggers leaves no entry
--
CREATE TABLE net (id int PRIMARY KEY, v int);
CREATE TABLE net_filter (f cuckoofilter);
SELECT cf_attach('net', '{v}', 'net_filter', 'f', '{}', 2000);
CREATE FUNCTION negate() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE net SET v = -v WHERE id = NEW.id; RETURN NULL; END';
CREATE TRIGGER a AFTER INSERT ON net FOR EACH ROW EXECUTE FUNCTION negate();
INSERT INTO net SELECT i, i FROM generate_series(1, 1500) i;
SELECT source_rows, missing, entries, stale FROM cf_drift('net_filter', 'f');
-- also where the trigger fails, and where it comes after ours
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		UPDATE net SET v = v + 10000 WHERE id = NEW.id;
		RAISE EXCEPTION 'x';
	EXCEPTION WHEN raise_exception THEN
	END;
	RETURN NULL;
END $$;
CREATE TRIGGER zz AFTER INSERT ON net FOR EACH ROW EXECUTE FUNCTION fail();
INSERT INTO net VALUES (2001, 2001), (2002, 2002);
SELECT source_rows, missing, entries, stale FROM cf_drift('net_filter', 'f');

--
-- 10. Building asks for no statistics: as many keys take as long as with them
--
CREATE TABLE many (id int, k int, v int);
CREATE TABLE many_filter (k int PRIMARY KEY, f cuckoofilter);
INSERT INTO many SELECT i, i % 20000, i FROM generate_series(1, 40000) i;
SET statement_timeout = '30s';
SELECT cf_attach('many', '{v}', 'many_filter', 'f', '{k}', 10);
SELECT cf_rebuild('many_filter', 'f');
RESET statement_timeout;
DROP TABLE many, many_filter;

--
-- 11. Filters that are dropped, renamed or moved leave no table behind that
-- cannot be written to
--
CREATE TABLE moved (k int, v int);
CREATE TABLE moved_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('moved', '{v}', 'moved_filter', 'f', '{k}', 100);
\set VERBOSITY default
DROP TABLE moved_filter;
\set VERBOSITY terse
ALTER TABLE moved_filter RENAME TO renamed_filter;
ALTER TABLE renamed_filter SET SCHEMA public;
INSERT INTO moved VALUES (1, 1);
TRUNCATE moved;
INSERT INTO moved VALUES (1, 2);
SELECT key, source_rows, missing, stale FROM cf_drift('public.renamed_filter', 'f');
-- a column that is renamed is an error until it is attached anew
ALTER TABLE public.renamed_filter RENAME f TO g;
INSERT INTO moved VALUES (1, 3);
SELECT cf_detach('moved');
SELECT cf_attach('moved', '{v}', 'public.renamed_filter', 'g', '{k}', 100);
DROP TABLE public.renamed_filter CASCADE;
INSERT INTO moved VALUES (1, 3);
SELECT cf_detach('moved');

--
-- 12. Messages name the key, the column and the remedy that works here
--
CREATE TABLE said (k text, v int, c point, b int);
CREATE TABLE said_filter (key text PRIMARY KEY, f cuckoofilter);
CREATE TABLE said_one (id int PRIMARY KEY, f cuckoofilter);
\set VERBOSITY default
SELECT cf_attach('said', '{v}', 'said_filter', 'f', '{k}', 20);
SELECT cf_attach('said', '{c}', 'said_filter', 'f', '{k}', 20, target_key => '{key}');
SELECT cf_attach('said', '{v}', 'said_one', 'f', '{}', 20);
INSERT INTO said VALUES ('a', 5);
SELECT cf_attach('said', '{v}', 'said_filter', 'f', '{k}', 20, target_key => '{key}');
INSERT INTO said SELECT 'it''s', i FROM generate_series(1, 21) i;
INSERT INTO said SELECT 'b', i FROM generate_series(1, 20) i;
DELETE FROM said;
SELECT cf_rebuild('said_filter', 'f', capacity => 10);
SELECT cf_rebuild('said_filter', 'f', capacity => NULL, shards => 4);
\set VERBOSITY terse
ALTER TABLE said ALTER v TYPE bigint;
-- 18: a virtual generated column
CREATE TABLE virtual_filter (f cuckoofilter);
DO $$
BEGIN
	EXECUTE 'CREATE TABLE virtual (v int, w int GENERATED ALWAYS AS (v * 2) ' || CASE WHEN current_setting('server_version_num')::int >= 180000 THEN 'VIRTUAL)' ELSE 'STORED)' END;
	PERFORM cf_attach('virtual', '{w}', 'virtual_filter', 'f', '{}', 100);
	RAISE EXCEPTION 'filters cannot follow virtual generated column "w"';
EXCEPTION WHEN feature_not_supported OR raise_exception THEN
	RAISE WARNING '%', SQLERRM;
END $$;

--
-- 13. A partition that comes later is followed at once, also where it is
-- written to by itself
--
CREATE TABLE grow (p int, id int, k int, v int) PARTITION BY LIST (p);
CREATE TABLE grow_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('grow', '{v}', 'grow_filter', 'f', '{k}', 100);
CREATE TABLE grow_1 PARTITION OF grow FOR VALUES IN (1);
CREATE TABLE grow_2 (v int, junk int, k int, id int, p int);
ALTER TABLE grow_2 DROP junk;
ALTER TABLE grow ATTACH PARTITION grow_2 FOR VALUES IN (2);
INSERT INTO grow_1 VALUES (1, 1, 1, 1), (1, 2, 1, 2);
INSERT INTO grow_2 (p, id, k, v) VALUES (2, 3, 1, 3), (2, 4, 1, 4);
UPDATE grow_2 SET v = 14 WHERE id = 4;
DELETE FROM grow_1 WHERE id = 1;
UPDATE grow SET p = 3 - p;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('grow_filter', 'f');

--
-- 14. A statement that is stopped before its end does not commit
--
CREATE TABLE stopped (v int);
CREATE TABLE stopped_filter (f cuckoofilter);
SELECT cf_attach('stopped', '{v}', 'stopped_filter', 'f', '{}', 100);
BEGIN;
INSERT INTO stopped VALUES (1);
SAVEPOINT s;
INSERT INTO stopped VALUES (2);
ROLLBACK TO s;
INSERT INTO stopped VALUES (3);
COMMIT;
SELECT source_rows, missing, entries, stale FROM cf_drift('stopped_filter', 'f');

--
-- 15. A partition of another owner is followed with the rights of the owner of
-- the root
--
CREATE TABLE common (k int, v int) PARTITION BY LIST (k);
CREATE TABLE common_1 PARTITION OF common FOR VALUES IN (1);
CREATE TABLE common_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('common', '{v}', 'common_filter', 'f', '{k}', 100);
ALTER TABLE common_1 OWNER TO regress_upkeep_odd;
SET ROLE regress_upkeep_odd;
INSERT INTO common_1 VALUES (1, 5), (1, 5), (1, 6);
DELETE FROM common_1 WHERE v = 6;
RESET ROLE;
SELECT key, source_rows, missing, entries FROM cf_drift('common_filter', 'f');

--
-- 16. Tables of an engine that keeps rows elsewhere are refused
--
CREATE TABLE away (v int);
BEGIN;
SET LOCAL allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
INSERT INTO pg_catalog.pg_dist_partition VALUES ('away');
SELECT cf_attach('away', '{v}', 'stopped_filter', 'f', '{}', 100);
ROLLBACK;

--
-- 17. Filters are not built within a statement that changes the table: what it
-- has done would be counted twice
--
CREATE TABLE busy (id int, k int, v int);
CREATE TABLE busy_filter (k int PRIMARY KEY, f cuckoofilter);
INSERT INTO busy VALUES (1, 1, 7), (2, 1, 7);
WITH added AS (INSERT INTO busy VALUES (3, 1, 8) RETURNING 1)
SELECT cf_attach('busy', '{v}', 'busy_filter', 'f', '{k}', 100) FROM added;
SELECT cf_attach('busy', '{v}', 'busy_filter', 'f', '{k}', 100);
WITH gone AS (DELETE FROM busy WHERE id = 1 RETURNING 1)
SELECT cf_rebuild('busy_filter', 'f') FROM gone;
CREATE FUNCTION rebuild() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM cf_rebuild('busy_filter', 'f'); RETURN NULL; END $$;
CREATE TRIGGER a AFTER DELETE ON busy FOR EACH STATEMENT EXECUTE FUNCTION rebuild();
DELETE FROM busy WHERE id = 1;
DROP TRIGGER a ON busy;
-- nor while triggers are still to be fired for what a foreign key has done
CREATE TABLE owner (id int PRIMARY KEY);
INSERT INTO owner VALUES (1), (2);
ALTER TABLE busy ADD FOREIGN KEY (id) REFERENCES owner ON DELETE CASCADE;
CREATE TRIGGER z AFTER DELETE ON owner FOR EACH ROW EXECUTE FUNCTION rebuild();
DELETE FROM owner WHERE id = 1;
DROP TRIGGER z ON owner;
DELETE FROM owner WHERE id = 1;
SELECT source_rows, missing, stale FROM cf_drift('busy_filter', 'f');

--
-- 18. Composite keys and values with fields that are NULL are followed: they
-- are not NULL themselves
--
CREATE TYPE couple AS (a int, b int);
CREATE TABLE field (k couple, v couple);
CREATE TABLE field_filter (k couple PRIMARY KEY, f cuckoofilter);
INSERT INTO field VALUES (ROW(1, NULL), ROW(1, NULL)), (ROW(NULL, NULL), ROW(NULL, NULL)), (NULL, ROW(1, 1)), (ROW(1, 1), NULL);
SELECT cf_attach('field', '{v}', 'field_filter', 'f', '{k}', 100);
INSERT INTO field VALUES (ROW(1, NULL), ROW(2, NULL));
SELECT key, source_rows, missing, entries, stale FROM cf_drift('field_filter', 'f');
DELETE FROM field WHERE k = ROW(1, NULL)::couple;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('field_filter', 'f');

--
-- 19. An index that tells keys apart otherwise than their columns do is none
-- to go by
--
CREATE TABLE word (k text, v int);
CREATE TABLE word_filter (k text, f cuckoofilter);
CREATE UNIQUE INDEX ON word_filter (k COLLATE "C");
SELECT cf_attach('word', '{v}', 'word_filter', 'f', '{k}', 100);
CREATE TYPE wrapped AS (n numeric);
CREATE TABLE record (k wrapped, v int);
CREATE TABLE record_filter (k wrapped, f cuckoofilter);
CREATE UNIQUE INDEX ON record_filter (k record_image_ops);
SELECT cf_attach('record', '{v}', 'record_filter', 'f', '{k}', 100);
CREATE TABLE twice (a int, b int, v int);
CREATE TABLE twice_filter (a int, b int, f cuckoofilter);
CREATE UNIQUE INDEX ON twice_filter (a, a);
SELECT cf_attach('twice', '{v}', 'twice_filter', 'f', '{a,b}', 100);
-- 18: a unique index that is no B-tree
CREATE TABLE period (a int4range, b int4range, v int);
CREATE TABLE period_filter (a int4range, b int4range, f cuckoofilter);
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 180000 THEN
		ALTER TABLE period_filter ALTER a SET NOT NULL, ALTER b SET NOT NULL;
		EXECUTE 'ALTER TABLE period_filter ADD PRIMARY KEY (a, b WITHOUT OVERLAPS)';
	END IF;
END $$;
SELECT cf_attach('period', '{v}', 'period_filter', 'f', '{a,b}', 100);
-- one of an operator class that has no equality
CREATE TABLE plain (k int, v int);
CREATE TABLE plain_filter (k int, f cuckoofilter);
CREATE OPERATOR CLASS unequal_ops FOR TYPE int USING btree AS FUNCTION 1 btint4cmp(int, int);
CREATE UNIQUE INDEX ON plain_filter (k unequal_ops);
SELECT cf_attach('plain', '{v}', 'plain_filter', 'f', '{k}', 100);
-- with an index of theirs it goes
CREATE UNIQUE INDEX ON word_filter (k text_pattern_ops);
CREATE UNIQUE INDEX ON record_filter (k);
CREATE UNIQUE INDEX ON twice_filter (b, a);
CREATE UNIQUE INDEX ON period_filter (b, a);
SELECT cf_attach('word', '{v}', 'word_filter', 'f', '{k}', 100), cf_attach('record', '{v}', 'record_filter', 'f', '{k}', 100),
	cf_attach('twice', '{v}', 'twice_filter', 'f', '{a,b}', 100), cf_attach('period', '{v}', 'period_filter', 'f', '{a,b}', 100);
INSERT INTO record VALUES (ROW(1.0), 1), (ROW(1.00), 2);
SELECT key, source_rows, missing, entries FROM cf_drift('record_filter', 'f');

--
-- 20. A key that the target would round, cut, pad or tell apart otherwise is
-- refused; domains are checked when it is stored
--
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN word3 AS varchar(3);
CREATE TABLE exact (n numeric, t text, v3 varchar(3), w word3, i int, v int);
CREATE TABLE of_n (k numeric(5,0) PRIMARY KEY, f cuckoofilter);
CREATE TABLE of_t (k varchar(3) PRIMARY KEY, f cuckoofilter);
CREATE TABLE of_c (k bpchar PRIMARY KEY, f cuckoofilter);
CREATE TABLE of_i (k positive PRIMARY KEY, f cuckoofilter);
\set VERBOSITY default
SELECT cf_attach('exact', '{v}', 'of_n', 'f', '{n}', 100, target_key => '{k}');
\set VERBOSITY terse
SELECT cf_attach('exact', '{v}', 'of_t', 'f', '{t}', 100, target_key => '{k}');
SELECT cf_attach('exact', '{v}', 'of_c', 'f', '{t}', 100, target_key => '{k}');
SELECT cf_attach('exact', '{v}', 'of_t', 'f', '{w}', 100, target_key => '{k}');
SELECT cf_detach('of_t', 'f');
SELECT cf_attach('exact', '{v}', 'of_t', 'f', '{v3}', 100, target_key => '{k}');
SELECT cf_attach('exact', '{v}', 'of_i', 'f', '{i}', 100, target_key => '{k}');
INSERT INTO exact (i, v3, v) VALUES (-5, 'a', 1);
INSERT INTO exact (i, v3, v) VALUES (5, 'a', 1), (5, 'b', 2);
SELECT k, f @> 1 AS has_1, f @> 2 AS has_2 FROM of_i;
-- those of enums, too, of which no operator knows
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN moody AS mood;
CREATE TABLE feeling (m mood, d moody, v int);
CREATE TABLE of_m (k mood PRIMARY KEY, f cuckoofilter);
CREATE TABLE of_d (k moody PRIMARY KEY, f cuckoofilter);
INSERT INTO feeling VALUES ('sad', 'sad', 1);
SELECT cf_attach('feeling', '{v}', 'of_m', 'f', '{d}', 100, target_key => '{k}'), cf_attach('feeling', '{v}', 'of_d', 'f', '{m}', 100, target_key => '{k}');
INSERT INTO feeling VALUES ('glad', 'glad', 1), ('sad', 'sad', 2);
SELECT cf_rebuild('of_d', 'f');
SELECT m.key, m.source_rows, m.missing, m.entries, d.missing, d.entries FROM cf_drift('of_m', 'f') m JOIN cf_drift('of_d', 'f') d USING (key);

--
-- 21. A filter that is not stored is an error
--
CREATE TABLE kept (k int, v int);
CREATE TABLE kept_filter (k int PRIMARY KEY, f cuckoofilter);
CREATE TABLE kept_whole (f cuckoofilter);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
SELECT cf_attach('kept', '{v}', 'kept_filter', 'f', '{k}', 100);
CREATE TRIGGER nothing BEFORE INSERT ON kept_filter FOR EACH ROW EXECUTE FUNCTION nothing();
\set VERBOSITY default
INSERT INTO kept VALUES (1, 1);
\set VERBOSITY terse
DROP TRIGGER nothing ON kept_filter;
INSERT INTO kept VALUES (1, 1);
CREATE TRIGGER nothing BEFORE INSERT OR UPDATE ON kept_filter FOR EACH ROW EXECUTE FUNCTION nothing();
CREATE TRIGGER nothing BEFORE INSERT ON kept_whole FOR EACH ROW EXECUTE FUNCTION nothing();
INSERT INTO kept VALUES (1, 2);
SELECT cf_rebuild('kept_filter', 'f');
SELECT cf_attach('kept', '{v}', 'kept_whole', 'f', '{}', 100);
DROP TRIGGER nothing ON kept_filter;
CREATE RULE nothing AS ON UPDATE TO kept_filter DO INSTEAD NOTHING;
INSERT INTO kept VALUES (1, 2);
DROP RULE nothing ON kept_filter;
ALTER TABLE kept_filter DROP CONSTRAINT kept_filter_pkey, ADD UNIQUE (k);
ALTER TABLE kept_filter ALTER k DROP NOT NULL;
INSERT INTO kept_filter VALUES (NULL, NULL), (8, NULL);
INSERT INTO kept VALUES (NULL, 1), (9, 1);
SELECT cf_rebuild('kept_filter', 'f');
SELECT key, source_rows, missing, entries FROM cf_drift('kept_filter', 'f');

--
-- 22. A filter that gets another key when it is stored is an error
--
CREATE TABLE spelled (k text, v int);
CREATE TABLE spelled_filter (k text PRIMARY KEY, f cuckoofilter);
CREATE FUNCTION spell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.k := lower(NEW.k); RETURN NEW; END';
SELECT cf_attach('spelled', '{v}', 'spelled_filter', 'f', '{k}', 100);
INSERT INTO spelled VALUES ('B', 1);
CREATE TRIGGER spell BEFORE INSERT OR UPDATE ON spelled_filter FOR EACH ROW EXECUTE FUNCTION spell();
INSERT INTO spelled VALUES ('A', 1);
INSERT INTO spelled VALUES ('B', 2);
INSERT INTO spelled VALUES ('a', 1);
INSERT INTO spelled VALUES ('A', 1);
SELECT cf_rebuild('spelled_filter', 'f');
SELECT cf_detach('spelled_filter', 'f');
DELETE FROM spelled_filter;
SELECT cf_attach('spelled', '{v}', 'spelled_filter', 'f', '{k}', 100);
UPDATE spelled SET k = lower(k);
SELECT cf_attach('spelled', '{v}', 'spelled_filter', 'f', '{k}', 100);
SELECT key, source_rows, missing, entries FROM cf_drift('spelled_filter', 'f');

--
-- 23. A key that the target generates is that of the rows all the same
--
CREATE TABLE number (k int, v int);
CREATE TABLE number_filter (k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, f cuckoofilter);
INSERT INTO number_filter (f) VALUES (NULL);
INSERT INTO number VALUES (1, 1), (7, 7);
SELECT cf_attach('number', '{v}', 'number_filter', 'f', '{k}', 100);
INSERT INTO number VALUES (1, 2), (8, 8);
SELECT key, source_rows, missing, entries FROM cf_drift('number_filter', 'f');

--
-- 24. A rebuild makes a trigger that was dropped
--
DROP TRIGGER number_filter_f_cf_rows ON number;
INSERT INTO number VALUES (8, 9);
SELECT key, missing FROM cf_drift('number_filter', 'f') WHERE missing > 0;
SELECT cf_rebuild('number_filter', 'f');
INSERT INTO number VALUES (8, 10);
SELECT key, source_rows, missing, entries FROM cf_drift('number_filter', 'f') WHERE key = '{8}';

--
-- 25. Filters are kept as safely as the rows, or refused
--
CREATE TABLE safe (k int, v int);
CREATE TABLE safe_filter (k int PRIMARY KEY, f cuckoofilter) PARTITION BY LIST (k);
CREATE UNLOGGED TABLE safe_filter_1 PARTITION OF safe_filter DEFAULT;
SELECT cf_attach('safe', '{v}', 'safe_filter', 'f', '{k}', 100);
ALTER TABLE safe_filter_1 SET LOGGED;
SELECT cf_attach('safe', '{v}', 'safe_filter', 'f', '{k}', 100);
-- or all, while some of the rows stay
CREATE TABLE unsafe (k int, v int) PARTITION BY LIST (k);
CREATE TABLE unsafe_1 PARTITION OF unsafe FOR VALUES IN (1);
CREATE UNLOGGED TABLE unsafe_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('unsafe', '{v}', 'unsafe_filter', 'f', '{k}', 100);
ALTER TABLE unsafe_1 SET UNLOGGED;
SELECT cf_attach('unsafe', '{v}', 'unsafe_filter', 'f', '{k}', 100);
-- a rebuild asks again
ALTER TABLE unsafe_1 SET LOGGED;
SELECT cf_rebuild('unsafe_filter', 'f');

--
-- 26. A label or attribute that is renamed or added needs a rebuild, and is
-- right after it, in the session that knew the old ones, too
--
CREATE TYPE color AS ENUM ('red', 'green');
CREATE TYPE pair AS (c color, n int);
CREATE TABLE paint (c color, p pair);
CREATE TABLE paint_filter (by_color cuckoofilter, by_pair cuckoofilter);
INSERT INTO paint VALUES ('red', ROW('red', 1));
SELECT cf_attach('paint', '{c}', 'paint_filter', 'by_color', '{}', 100),
	cf_attach('paint', '{p}', 'paint_filter', 'by_pair', '{}', 100);
INSERT INTO paint VALUES ('red', ROW('red', 2));
ALTER TYPE color RENAME VALUE 'red' TO 'crimson';
ALTER TYPE pair ADD ATTRIBUTE m int;
SELECT cf_rebuild('paint_filter', 'by_color'), cf_rebuild('paint_filter', 'by_pair');
DELETE FROM paint;
INSERT INTO paint VALUES ('crimson', ROW('crimson', 3, 4));
SELECT by_color @> 'crimson', by_color @> 'red', by_pair @> ROW('crimson', 3, 4) FROM paint_filter;
SELECT source_rows, missing, stale FROM cf_drift('paint_filter', 'by_color');
SELECT source_rows, missing, stale FROM cf_drift('paint_filter', 'by_pair');

--
-- 27. What has a part that cannot be hashed is refused before there are rows
--
CREATE TYPE place AS (name text, at point);
CREATE TYPE journey AS (stops place[]);
CREATE TABLE visited (id int, at point, p place, many place[], j journey);
CREATE TABLE visited_filter (f cuckoofilter);
SELECT cf_attach('visited', '{id, at}', 'visited_filter', 'f', '{}', 100);
SELECT cf_attach('visited', '{p}', 'visited_filter', 'f', '{}', 100);
SELECT cf_attach('visited', '{many}', 'visited_filter', 'f', '{}', 100);
SELECT cf_attach('visited', '{id, j}', 'visited_filter', 'f', '{}', 100);
ALTER TYPE place DROP ATTRIBUTE at;
SELECT cf_attach('visited', '{id, j}', 'visited_filter', 'f', '{}', 100);
SELECT cf_detach('visited_filter', 'f');

--
-- 28. Rows that turn out not to be hashable leave no memory behind
--
DROP TABLE visited;
DROP TYPE journey;
CREATE TABLE visited (p place);
SELECT cf_attach('visited', '{p}', 'visited_filter', 'f', '{}', 100);
ALTER TYPE place ADD ATTRIBUTE at point;
INSERT INTO visited VALUES (ROW('here', '(1,2)'));
DO $$
BEGIN
	FOR i IN 1..100 LOOP
		BEGIN
			INSERT INTO visited VALUES (ROW('here', '(1,2)'));
		EXCEPTION WHEN feature_not_supported THEN
		END;
	END LOOP;
END $$;
SELECT count(*) < 10 AS few FROM pg_backend_memory_contexts WHERE name = 'cuckoo record layout';

--
-- 29. A rebuild enables what is disabled
--
CREATE TABLE paused (id int);
CREATE TABLE paused_filter (f cuckoofilter);
SELECT cf_attach('paused', '{id}', 'paused_filter', 'f', '{}', 100);
ALTER TABLE paused DISABLE TRIGGER paused_filter_f_cf_rows, ENABLE REPLICA TRIGGER paused_filter_f_cf_update;
INSERT INTO paused VALUES (1), (2);
SELECT missing FROM cf_drift('paused_filter', 'f');
SELECT cf_rebuild('paused_filter', 'f');
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'paused'::regclass ORDER BY tgname;
INSERT INTO paused VALUES (3);
DELETE FROM paused WHERE id = 1;
SELECT source_rows, missing, stale FROM cf_drift('paused_filter', 'f');

--
-- 30. Another unique index of the key, which takes two keys for one, leads to
-- an error
--
CREATE TABLE strict (k int, v int);
CREATE TABLE strict_filter (k int PRIMARY KEY, f cuckoofilter);
CREATE FUNCTION half_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($1 / 2, $2 / 2)';
CREATE FUNCTION half_eq(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 2 = $2 / 2';
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = half_eq);
CREATE OPERATOR CLASS half_ops FOR TYPE int USING btree AS OPERATOR 3 ===, FUNCTION 1 half_cmp(int, int);
CREATE UNIQUE INDEX ON strict_filter (k half_ops);
SELECT cf_attach('strict', '{v}', 'strict_filter', 'f', '{k}', 100);
INSERT INTO strict VALUES (2, 1), (4, 1);
\set VERBOSITY default
INSERT INTO strict VALUES (3, 2);
\set VERBOSITY terse
INSERT INTO strict VALUES (2, 2), (6, 2);
SELECT key, source_rows, missing, entries FROM cf_drift('strict_filter', 'f');

--
-- 31. A rebuild with other parameters keeps what fires always, and enables the
-- rest
--
CREATE TABLE always (k int, v int) PARTITION BY LIST (k);
CREATE TABLE always_1 PARTITION OF always FOR VALUES IN (1);
CREATE TABLE always_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('always', '{v}', 'always_filter', 'f', '{k}', 100);
ALTER TABLE always ENABLE ALWAYS TRIGGER always_filter_f_cf_rows;
ALTER TABLE always_1 DISABLE TRIGGER always_filter_f_cf_update;
ALTER TABLE ONLY always ENABLE REPLICA TRIGGER always_filter_f_cf_truncate;
SELECT cf_rebuild('always_filter', 'f', 200);
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger
	WHERE tgrelid IN ('always'::regclass, 'always_1'::regclass) ORDER BY 1, 2;
SET session_replication_role = replica;
INSERT INTO always VALUES (1, 1);
RESET session_replication_role;
SELECT key, source_rows, missing FROM cf_drift('always_filter', 'f');

--
-- 32. Generated columns of partitions are followed, whatever their layout
--
CREATE TABLE made (k int, v int, g int GENERATED ALWAYS AS (v * 10) STORED) PARTITION BY LIST (k);
CREATE TABLE made_1 PARTITION OF made FOR VALUES IN (1);
CREATE TABLE made_2 (g int GENERATED ALWAYS AS (v * 10) STORED, v int, k int);
ALTER TABLE made ATTACH PARTITION made_2 FOR VALUES IN (2);
CREATE TABLE made_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('made', '{g}', 'made_filter', 'f', '{k}', 100);
INSERT INTO made VALUES (1, 1), (2, 2), (2, 3);
UPDATE made SET v = v + 1;
UPDATE made SET k = 3 - k WHERE v < 4;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('made_filter', 'f');
SELECT k, f @> 40 AS has_40, f @> 30 AS has_30 FROM made_filter ORDER BY k;

--
-- 33. A partition that comes back with the triggers that it had is followed
-- again after a rebuild
--
CREATE TABLE home (k int, v int) PARTITION BY LIST (k);
CREATE TABLE home_1 PARTITION OF home FOR VALUES IN (1, 2);
CREATE TABLE home_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('home', '{v}', 'home_filter', 'f', '{k}', 100);
INSERT INTO home VALUES (1, 1);
ALTER TABLE home DETACH PARTITION home_1;
SELECT cf_rebuild('home_filter', 'f', seed => 7);
ALTER TABLE home ATTACH PARTITION home_1 FOR VALUES IN (1, 2);
SELECT cf_rebuild('home_filter', 'f');
INSERT INTO home_1 VALUES (1, 2), (2, 2);
INSERT INTO home VALUES (1, 3), (2, 3);
SELECT key, source_rows, missing, entries FROM cf_drift('home_filter', 'f');

--
-- 34. Rows from before a column was added are followed with its default
--
CREATE TABLE late (id int, k int) PARTITION BY LIST (id);
CREATE TABLE late_1 (id int, k int);
INSERT INTO late_1 VALUES (1, 1);
ALTER TABLE late_1 ADD v int;
ALTER TABLE late ADD v int DEFAULT 5;
CREATE TABLE late_2 PARTITION OF late FOR VALUES IN (2);
INSERT INTO late VALUES (2, 1);
ALTER TABLE late ADD w int DEFAULT 7;
ALTER TABLE late_1 ADD w int DEFAULT 8;
ALTER TABLE late ATTACH PARTITION late_1 FOR VALUES IN (1);
CREATE TABLE late_filter (k int PRIMARY KEY, f cuckoofilter, g cuckoofilter);
SELECT cf_attach('late', '{v}', 'late_filter', 'f', '{k}', 100), cf_attach('late', '{w}', 'late_filter', 'g', '{k}', 100);
UPDATE late SET k = 2;
DELETE FROM late WHERE id = 1;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('late_filter', 'f') UNION ALL SELECT key, source_rows, missing, entries, stale FROM cf_drift('late_filter', 'g');

--
-- 35. MERGE and UPDATE that move rows to other partitions are followed
--
CREATE TABLE mover (id int, part int, k int, v int) PARTITION BY LIST (part);
CREATE TABLE mover_1 PARTITION OF mover FOR VALUES IN (1);
CREATE TABLE mover_2 (v int, k int, part int, id int);
ALTER TABLE mover ATTACH PARTITION mover_2 FOR VALUES IN (2);
CREATE TABLE mover_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('mover', '{v}', 'mover_filter', 'f', '{k}', 100);
INSERT INTO mover VALUES (1, 1, 1, 1), (2, 1, 1, 2), (3, 2, 1, 3), (4, 2, 1, 4);
MERGE INTO mover USING (VALUES (1), (3), (4)) AS g (i) ON id = i
	WHEN MATCHED AND i < 4 THEN UPDATE SET part = 3 - part, v = v + 10
	WHEN MATCHED AND i = 4 THEN UPDATE SET v = v + 10;
UPDATE mover SET part = 3 - part, v = v + 100 WHERE id < 3;
SELECT key, source_rows, missing, entries FROM cf_drift('mover_filter', 'f');

--
-- 36. The end of a statement that was told twice, by a foreign key, is not that
-- of the statement around it, whose rows outlive a block that fails
--
CREATE TABLE root (k int PRIMARY KEY);
CREATE TABLE leaf (id int PRIMARY KEY, k int REFERENCES root ON DELETE CASCADE, v int);
CREATE TABLE leaf_filter (f cuckoofilter);
INSERT INTO root SELECT generate_series(0, 30);
SELECT cf_attach('leaf', '{v}', 'leaf_filter', 'f', '{}', 2000);
INSERT INTO leaf SELECT i, i % 30, i FROM generate_series(100, 399) i;
CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 THEN
		BEGIN
			WITH gone AS (DELETE FROM root WHERE k = NEW.id) DELETE FROM leaf WHERE id = NEW.id + 100;
			RAISE EXCEPTION 'x';
		EXCEPTION WHEN raise_exception THEN
		END;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER aa AFTER INSERT ON leaf FOR EACH ROW EXECUTE FUNCTION cut();
CREATE TRIGGER zz AFTER INSERT ON leaf FOR EACH ROW EXECUTE FUNCTION cut();
INSERT INTO leaf SELECT i, NULL, i FROM generate_series(1, 8) i;
SELECT source_rows, missing, entries, stale FROM cf_drift('leaf_filter', 'f');

--
-- 37. Nor, however deep that is nested, is it the end of the statement around it
-- that does the same to the same table: what triggers do to rows that are still
-- to come nets out
--
CREATE TABLE trunk (k int PRIMARY KEY);
CREATE TABLE twig (id int PRIMARY KEY, k int REFERENCES trunk ON DELETE CASCADE ON UPDATE CASCADE, v int);
CREATE TABLE twig_filter (k int PRIMARY KEY, f cuckoofilter);
INSERT INTO trunk SELECT generate_series(0, 30);
SELECT cf_attach('twig', '{v}', 'twig_filter', 'f', '{k}', 2000, 1e-9);
INSERT INTO twig SELECT i, i % 30, i FROM generate_series(100, 399) i;
CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 1 AND TG_OP = 'UPDATE' THEN
		WITH moved AS (UPDATE trunk SET k = k + 100 WHERE k = OLD.id - 100) UPDATE twig SET v = v + 1000 WHERE id = OLD.id + 200;
	ELSIF pg_trigger_depth() = 1 THEN
		WITH gone AS (DELETE FROM trunk WHERE k = OLD.id % 30) DELETE FROM twig WHERE id = OLD.id + 200;
	ELSE
		RETURN NULL;
	END IF;
	UPDATE twig SET v = v + 10000 WHERE id = OLD.id + 1;
	RETURN NULL;
END $$;
CREATE TRIGGER aa AFTER UPDATE OR DELETE ON twig FOR EACH ROW EXECUTE FUNCTION twice();
UPDATE twig SET v = v + 1 WHERE id BETWEEN 100 AND 110;
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('twig_filter', 'f');
DELETE FROM twig WHERE id BETWEEN 111 AND 116;
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('twig_filter', 'f');
-- a foreign key that cascades around it
DELETE FROM trunk WHERE k BETWEEN 102 AND 104;
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('twig_filter', 'f');
-- statements within what the foreign key does have an end of their own
CREATE FUNCTION before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() = 2 THEN
		UPDATE upkeep_odd.twig SET v = v + 7 WHERE id = NEW.id + 1;
	END IF;
	RETURN NEW;
END $$;
DROP TRIGGER aa ON twig;
CREATE TRIGGER bb BEFORE UPDATE ON twig FOR EACH ROW EXECUTE FUNCTION before();
UPDATE trunk SET k = k + 300 WHERE k BETWEEN 106 AND 110;
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('twig_filter', 'f');
-- and the filters' table has a trigger that does so while they are changed
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF pg_trigger_depth() < 4 THEN
		UPDATE upkeep_odd.trunk SET k = k + 500 WHERE k = 105;
		UPDATE upkeep_odd.twig SET v = v + 1 WHERE k = 20;
		DELETE FROM upkeep_odd.trunk WHERE k = 605;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER again AFTER UPDATE ON twig_filter FOR EACH ROW EXECUTE FUNCTION again();
INSERT INTO twig VALUES (1, 19, 1);
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('twig_filter', 'f');

--
-- 38. A statement that is stopped half way leaves nothing behind that was undone,
-- and takes nothing along that was not
--
CREATE TABLE stop (id int PRIMARY KEY, k int NOT NULL, v int, CHECK (v < 100));
CREATE TABLE stop_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('stop', '{v}', 'stop_filter', 'f', '{k}', 40, 1e-9);
CREATE FUNCTION stopper() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.v = 77 THEN
		RAISE 'stopped';
	ELSIF NEW.v = 78 THEN
		PERFORM pg_cancel_backend(pg_backend_pid());
		PERFORM pg_sleep(60);
	ELSIF NEW.v = 79 THEN
		BEGIN
			INSERT INTO stop SELECT i, 1, i - 300 + CASE WHEN i = 306 THEN 100 ELSE 0 END FROM generate_series(301, 306) i;
		EXCEPTION WHEN check_violation THEN
			UPDATE stop SET v = v + 1 WHERE v < 60;
		END;
	END IF;
	RETURN NULL;
END $$;
-- after the rows are told, and before
CREATE TRIGGER zz AFTER INSERT OR UPDATE ON stop FOR EACH ROW EXECUTE FUNCTION stopper();
CREATE FUNCTION stop_drift() RETURNS text LANGUAGE sql AS
$$ SELECT sum(source_rows) || ' rows, ' || sum(missing) || ' missing, ' || sum(stale) || ' stale' FROM cf_drift('stop_filter', 'f') $$;
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO stop SELECT 200 + count(*), 1, -count(*) FROM stop;
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN OTHERS OR query_canceled THEN
		UPDATE stop SET v = v WHERE id < 10;
		UPDATE stop SET v = v + 1 WHERE id = 10;
		RETURN SQLSTATE || ': ' || stop_drift();
	END;
	RETURN 'done: ' || stop_drift();
END $$;
INSERT INTO stop SELECT i, i % 3, i FROM generate_series(1, 30) i;
SELECT nr, try(statement) FROM (VALUES
	(1, 'INSERT INTO stop SELECT i, 1, i FROM generate_series(90, 110) i'),
	(2, 'UPDATE stop SET v = v + 75 WHERE id < 31'),
	(3, 'INSERT INTO stop SELECT i, 1, i FROM generate_series(70, 79) i'),
	(4, 'UPDATE stop SET v = 78 WHERE id IN (3, 4, 5)'),
	(5, 'INSERT INTO stop VALUES (70, 1, 70), (71, 1, 79), (72, 2, 72)'),
	(6, 'INSERT INTO stop VALUES (75, 1, 75), (76, 1, 79), (77, 2, 77)'),
	(7, 'INSERT INTO stop SELECT i, 7, i - 400 FROM generate_series(400, 460) i'),
	(8, 'UPDATE stop SET k = NULL, v = v + 1 WHERE id > 20'),
	(9, 'WITH a AS (DELETE FROM stop WHERE id < 6 RETURNING id) INSERT INTO stop SELECT id + 80, 2, 70 + id FROM a'),
	(10, 'WITH a AS (DELETE FROM stop WHERE id BETWEEN 4 AND 8 RETURNING id) INSERT INTO stop SELECT id + 90, 2, 71 + id FROM a'),
	(11, 'DO $d$ DECLARE r record; BEGIN FOR r IN UPDATE stop SET v = v - 1 WHERE id BETWEEN 9 AND 20 RETURNING id LOOP EXIT; END LOOP; END $d$'),
	(12, 'DO $d$ DECLARE r record; BEGIN FOR r IN UPDATE stop SET v = v - 1 WHERE id BETWEEN 9 AND 20 RETURNING id LOOP PERFORM 1 / 0; END LOOP; END $d$')
	) s (nr, statement) ORDER BY nr;
SELECT stop_drift();
-- savepoints, a cursor, and an end that fails
BEGIN;
INSERT INTO stop VALUES (500, 5, 1);
SAVEPOINT a;
UPDATE stop SET v = v + 1, k = k + 1 WHERE id < 20;
SAVEPOINT b;
DELETE FROM stop WHERE id < 15;
INSERT INTO stop SELECT i, 5, i - 500 FROM generate_series(501, 530) i;
ROLLBACK TO b;
SELECT stop_drift();
UPDATE stop SET v = v - 1 WHERE id < 20;
RELEASE b;
ROLLBACK TO a;
DECLARE c CURSOR FOR SELECT id FROM stop WHERE id < 20 ORDER BY id FOR UPDATE;
MOVE 3 IN c;
UPDATE stop SET v = v + 1 WHERE CURRENT OF c;
SAVEPOINT c;
DELETE FROM stop WHERE CURRENT OF c;
ROLLBACK TO c;
SELECT stop_drift();
COMMIT;
SELECT stop_drift();
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON stop DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.v = 5) EXECUTE FUNCTION stopper();
BEGIN;
INSERT INTO stop VALUES (700, 5, 5), (701, 5, 6);
SET CONSTRAINTS ALL IMMEDIATE;
UPDATE stop SET v = 77 WHERE id = 700;
COMMIT;
SELECT stop_drift();

--
-- 39. What others have made runs with pg_catalog in the search_path, also where
-- it comes after the first statement, to a table that had nothing of the kind
--
CREATE TABLE alone (k int, v int);
CREATE TABLE alone_filter (k int PRIMARY KEY, f cuckoofilter, n int);
CREATE FUNCTION told(what text, i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RAISE WARNING '% of % runs with %', what, i, current_setting('search_path'); RETURN i; END $$;
CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM upkeep_odd.told(TG_NAME, NEW.k); RETURN NEW; END $$;
CREATE DOMAIN told_int AS int CHECK (upkeep_odd.told('domain', VALUE) > 0);
CREATE DOMAIN told_filter AS cuckoofilter CHECK (upkeep_odd.told('domain of the filter', cf_count(VALUE)::int) >= 0);
SELECT cf_attach('alone', '{v}', 'alone_filter', 'f', '{k}', 100);
INSERT INTO alone VALUES (1, 1);
CREATE TRIGGER told BEFORE UPDATE ON alone_filter FOR EACH ROW EXECUTE FUNCTION told();
INSERT INTO alone VALUES (1, 2);
DROP TRIGGER told ON alone_filter;
INSERT INTO alone VALUES (1, 3);
ALTER TABLE alone_filter ADD CONSTRAINT told CHECK (upkeep_odd.told('check', k) > 0) NOT VALID;
INSERT INTO alone VALUES (1, 4);
ALTER TABLE alone_filter DROP CONSTRAINT told, ALTER n SET DEFAULT upkeep_odd.told('default', 1);
INSERT INTO alone VALUES (2, 5);
ALTER TABLE alone_filter ALTER n DROP DEFAULT;
INSERT INTO alone VALUES (3, 6);
SET client_min_messages = error;
CREATE INDEX told ON alone_filter (n) WHERE upkeep_odd.told('index', k) > 3;
SET client_min_messages = warning;
INSERT INTO alone VALUES (4, 7);
DROP INDEX told;
SET client_min_messages = error;
ALTER TABLE alone_filter ADD d told_int;
SET client_min_messages = warning;
INSERT INTO alone VALUES (5, 8);
ALTER TABLE alone_filter DROP d;
-- policies do not run: they apply to nobody who may keep the filters
GRANT USAGE ON SCHEMA upkeep_odd TO regress_upkeep_odd;
GRANT SELECT, INSERT, UPDATE ON alone_filter TO regress_upkeep_odd;
ALTER TABLE alone OWNER TO regress_upkeep_odd;
CREATE POLICY told ON alone_filter USING (upkeep_odd.told('policy', k) > 0);
INSERT INTO alone VALUES (5, 11);
ALTER TABLE alone_filter ENABLE ROW LEVEL SECURITY;
INSERT INTO alone VALUES (5, 12);
ALTER TABLE alone_filter OWNER TO regress_upkeep_odd, FORCE ROW LEVEL SECURITY;
INSERT INTO alone VALUES (5, 13), (9, 14);
ALTER TABLE alone_filter DISABLE ROW LEVEL SECURITY, OWNER TO CURRENT_USER;
DROP POLICY told ON alone_filter;
ALTER TABLE alone OWNER TO CURRENT_USER;
SELECT cf_detach('alone');
SET client_min_messages = error;
ALTER TABLE alone_filter ALTER f TYPE told_filter;
SET client_min_messages = warning;
SELECT cf_attach('alone', '{v}', 'alone_filter', 'f', '{k}', 100);
INSERT INTO alone VALUES (5, 10);
SELECT cf_detach('alone');
SET client_min_messages = error;
ALTER TABLE alone_filter ALTER f TYPE cuckoofilter;
ALTER TABLE alone ALTER k TYPE told_int;
ALTER TABLE alone_filter ALTER k TYPE told_int;
SET client_min_messages = warning;
SELECT cf_attach('alone', '{v}', 'alone_filter', 'f', '{k}', 100);
INSERT INTO alone VALUES (6, 9);
SELECT sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('alone_filter', 'f');

-- 40. A target that does not say any more what it follows: no row gets another value
SELECT cf_detach('alone');
SET client_min_messages = error;
ALTER TABLE alone ALTER k TYPE int;
ALTER TABLE alone_filter ALTER k TYPE int;
SET client_min_messages = warning;
SELECT cf_attach('alone', '{v}', 'alone_filter', 'f', '{k}', 100);
DROP TRIGGER cf_guard_f_truncate ON alone_filter;
INSERT INTO alone VALUES (6, 20);
UPDATE alone SET v = 21 WHERE v = 1;
UPDATE alone SET k = 7 WHERE v = 1;
DELETE FROM alone WHERE v = 1;

DROP SCHEMA upkeep_odd CASCADE;
DROP ROLE regress_upkeep_odd, regress_upkeep_odd2;
