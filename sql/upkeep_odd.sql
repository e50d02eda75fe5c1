--
-- upkeep_odd: what could have left a filter without a value of its table, or
-- brought the server down: odd tables, keys, indexes, triggers and statements.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA upkeep_odd;
SET search_path = upkeep_odd, public;

--
-- A table that is written to through one above it, which fires no triggers of ours
--
CREATE TABLE above (k int, v int) PARTITION BY RANGE (v);
CREATE TABLE below PARTITION OF above FOR VALUES FROM (0) TO (100);
CREATE TABLE above_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('below', '{v}', 'above_filter', 'f', '{k}', 100);
CREATE TABLE father (k int, v int);
CREATE TABLE mother (k int, v int);
CREATE TABLE child () INHERITS (father, mother);
\set VERBOSITY default
SELECT cf_attach('father', '{v}', 'above_filter', 'f', '{k}', 100);
\set VERBOSITY terse
ALTER TABLE child NO INHERIT mother;
SELECT cf_attach('father', '{v}', 'above_filter', 'f', '{k}', 100);
-- one that came to be a part later
CREATE TABLE grandfather (k int, v int);
ALTER TABLE father INHERIT grandfather;
SELECT cf_rebuild('above_filter', 'f');
SELECT cf_detach('above_filter', 'f');

--
-- Building filters within a statement that changes the table: what it has done
-- would be counted twice, and what it removes would be removed twice
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
-- Composite keys and values with fields that are NULL are not NULL themselves
--
CREATE TYPE couple AS (a int, b int);
CREATE TABLE field (k couple, v couple);
CREATE TABLE field_filter (k couple PRIMARY KEY, f cuckoofilter);
INSERT INTO field VALUES (ROW(1, NULL), ROW(1, NULL)), (ROW(NULL, NULL), ROW(NULL, NULL)), (NULL, ROW(1, 1)), (ROW(1, 1), NULL);
SELECT cf_attach('field', '{v}', 'field_filter', 'f', '{k}', 100);
INSERT INTO field VALUES (ROW(1, NULL), ROW(2, NULL));
SELECT key, source_rows, missing, entries, stale FROM cf_drift('field_filter', 'f');
UPDATE field_filter SET f = cf_new(100);
SELECT key, source_rows, missing, entries, stale FROM cf_drift('field_filter', 'f');

--
-- Unique indexes that tell keys apart in another way than the columns do, or do
-- not tell them apart at all
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
-- Keys that the table of filters would round, cut or pad, or would tell apart
-- otherwise; domains are checked when a key is stored
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
-- Filters that are not stored
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
-- Filters that get another key than that of their rows when they are stored
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
-- A trigger that somebody made for a view
--
CREATE VIEW kept_view AS SELECT f FROM kept_whole;
INSERT INTO kept_whole VALUES (cf_new(100));
CREATE TABLE seen (v int);
CREATE TRIGGER odd AFTER INSERT ON seen REFERENCING NEW TABLE AS n FOR EACH STATEMENT
	EXECUTE FUNCTION cf_upkeep('upkeep_odd.kept_view', 'f', '{v}', '{}', '{}', '100', '0.01', '4', '0', 'whole');
INSERT INTO seen VALUES (1);

--
-- Changes that would make a filter of values of no type
--
SELECT cf_upkeep_apply(NULL, '\x0000000000005940'::bytea || '\x7b14ae47e17a843f'::bytea || '\x0000000000000000'::bytea || '\x0400000000000000'::bytea ||
	'\x0000000000000000'::bytea || '\x0100000000000000'::bytea || '\x0102030405060708'::bytea);

--
-- A key that the table of filters generates for rows without one
--
CREATE TABLE number (k int, v int);
CREATE TABLE number_filter (k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, f cuckoofilter);
INSERT INTO number_filter (f) VALUES (NULL);
INSERT INTO number VALUES (1, 1), (7, 7);
SELECT cf_attach('number', '{v}', 'number_filter', 'f', '{k}', 100);
INSERT INTO number VALUES (1, 2), (8, 8);
SELECT key, source_rows, missing, entries FROM cf_drift('number_filter', 'f');

--
-- A trigger that was dropped is made anew by a rebuild
--
DROP TRIGGER number_filter_f_cf_insert ON number;
INSERT INTO number VALUES (8, 9);
SELECT key, missing FROM cf_drift('number_filter', 'f') WHERE missing > 0;
SELECT cf_rebuild('number_filter', 'f');
INSERT INTO number VALUES (8, 10);
SELECT key, source_rows, missing, entries FROM cf_drift('number_filter', 'f') WHERE key = '{8}';

--
-- Filters of which a crash would take some
--
CREATE TABLE safe (k int, v int);
CREATE TABLE safe_filter (k int PRIMARY KEY, f cuckoofilter) PARTITION BY LIST (k);
CREATE UNLOGGED TABLE safe_filter_1 PARTITION OF safe_filter DEFAULT;
SELECT cf_attach('safe', '{v}', 'safe_filter', 'f', '{k}', 100);
ALTER TABLE safe_filter_1 SET LOGGED;
SELECT cf_attach('safe', '{v}', 'safe_filter', 'f', '{k}', 100);
-- or all, while some of the rows stay
CREATE UNLOGGED TABLE unsafe (k int, v int);
CREATE TABLE unsafe_child () INHERITS (unsafe);
CREATE UNLOGGED TABLE unsafe_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('unsafe', '{v}', 'unsafe_filter', 'f', '{k}', 100);
ALTER TABLE unsafe_child SET UNLOGGED;
SELECT cf_attach('unsafe', '{v}', 'unsafe_filter', 'f', '{k}', 100);
-- a rebuild asks again
ALTER TABLE unsafe_child SET LOGGED;
SELECT cf_rebuild('unsafe_filter', 'f');
DROP TABLE unsafe_child;
SELECT cf_rebuild('unsafe_filter', 'f');
ALTER TABLE unsafe SET LOGGED;
SELECT cf_rebuild('unsafe_filter', 'f');

--
-- Changes of a schema that change values: right again after a rebuild, in the
-- session that has followed the table before, too
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
-- What has a part that is no key is refused before there are rows
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
-- Rows that turn out not to be keys later leave no memory behind in the session
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
-- A rebuild enables what is disabled: else the filters would be wrong again
--
CREATE TABLE paused (id int);
CREATE TABLE paused_filter (f cuckoofilter);
SELECT cf_attach('paused', '{id}', 'paused_filter', 'f', '{}', 100);
ALTER TABLE paused DISABLE TRIGGER paused_filter_f_cf_insert, ENABLE REPLICA TRIGGER paused_filter_f_cf_delete;
INSERT INTO paused VALUES (1), (2);
SELECT missing FROM cf_drift('paused_filter', 'f');
SELECT cf_rebuild('paused_filter', 'f');
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'paused'::regclass ORDER BY tgname;
INSERT INTO paused VALUES (3);
DELETE FROM paused WHERE id = 1;
SELECT source_rows, missing, stale FROM cf_drift('paused_filter', 'f');

--
-- A child of a child, whose parent is taken off, and comes back
--
CREATE TABLE elder (k int, v int);
CREATE TABLE middle () INHERITS (elder);
CREATE TABLE younger () INHERITS (middle);
CREATE TABLE elder_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('elder', '{v}', 'elder_filter', 'f', '{k}', 100);
INSERT INTO elder VALUES (1, 1);
INSERT INTO younger VALUES (1, 1), (1, 2);
DELETE FROM younger WHERE v = 2;
ALTER TABLE middle NO INHERIT elder;
SELECT cf_rebuild('elder_filter', 'f');
DELETE FROM younger;
SELECT key, source_rows, missing, entries FROM cf_drift('elder_filter', 'f');
INSERT INTO younger VALUES (1, 3);
UPDATE younger SET v = 4;
ALTER TABLE middle INHERIT elder;
SELECT cf_rebuild('elder_filter', 'f');
UPDATE younger SET v = 5;
SELECT key, source_rows, missing, entries FROM cf_drift('elder_filter', 'f');

--
-- Another unique index of the key, which takes two keys for one
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
-- A rebuild with other parameters makes triggers anew: those fire always that did,
-- and no other ones less than usual
--
CREATE TABLE always (k int, v int) PARTITION BY LIST (k);
CREATE TABLE always_1 PARTITION OF always FOR VALUES IN (1);
CREATE TABLE always_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('always', '{v}', 'always_filter', 'f', '{k}', 100);
ALTER TABLE ONLY always ENABLE ALWAYS TRIGGER always_filter_f_cf_insert;
ALTER TABLE always_1 DISABLE TRIGGER always_filter_f_cf_delete;
ALTER TABLE ONLY always ENABLE REPLICA TRIGGER always_filter_f_cf_truncate;
SELECT cf_rebuild('always_filter', 'f', 200);
SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger
	WHERE tgrelid IN ('always'::regclass, 'always_1'::regclass) ORDER BY 1, 2;
SET session_replication_role = replica;
INSERT INTO always VALUES (1, 1);
RESET session_replication_role;
SELECT key, source_rows, missing FROM cf_drift('always_filter', 'f');

--
-- Generated columns, which the server hands to triggers as NULL where a row goes
-- to a partition whose columns are in another order
--
CREATE TABLE made (k int, v int, g int GENERATED ALWAYS AS (v * 10) STORED) PARTITION BY LIST (k);
CREATE TABLE made_2 (g int GENERATED ALWAYS AS (v * 10) STORED, v int, k int);
ALTER TABLE made ATTACH PARTITION made_2 FOR VALUES IN (2);
CREATE TABLE made_filter (k int PRIMARY KEY, g int UNIQUE, f cuckoofilter);
\set VERBOSITY default
SELECT cf_attach('made', '{g}', 'made_filter', 'f', '{k}', 100);
\set VERBOSITY terse
SELECT cf_attach('made', '{v,g}', 'made_filter', 'f', '{k}', 100);
SELECT cf_attach('made', '{v}', 'made_filter', 'f', '{g}', 100);
SELECT cf_attach('made', '{v}', 'made_filter', 'f', '{k}', 100);
-- up to 15 a partition may bring one, also below another partition
CREATE TABLE bring (k int, v int, w int) PARTITION BY LIST (k);
CREATE TABLE bring_1 PARTITION OF bring FOR VALUES IN (1) PARTITION BY LIST (v);
CREATE TABLE bring_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('bring', '{w}', 'bring_filter', 'f', '{k}', 100);
CREATE TABLE bring_1_1 PARTITION OF bring_1 FOR VALUES IN (1);
INSERT INTO bring VALUES (1, 1, 1);
DO $$
BEGIN
	CREATE TABLE bring_1_2 (w int GENERATED ALWAYS AS (k * 10) STORED, v int, k int);
	ALTER TABLE bring_1 ATTACH PARTITION bring_1_2 FOR VALUES IN (2);
	INSERT INTO bring (k, v) VALUES (1, 2);
	RAISE WARNING 'a row was inserted';
EXCEPTION WHEN feature_not_supported OR datatype_mismatch THEN
END $$;
SELECT key, source_rows, missing, entries FROM cf_drift('bring_filter', 'f');
-- which is no matter where a table gets its rows by itself
CREATE TABLE maker (k int, v int, g int GENERATED ALWAYS AS (v * 10) STORED);
CREATE TABLE maker_2 (g int GENERATED ALWAYS AS (v * 10) STORED, v int, k int);
ALTER TABLE maker_2 INHERIT maker;
CREATE TABLE maker_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('maker', '{g}', 'maker_filter', 'f', '{k}', 100);
INSERT INTO maker VALUES (1, 1);
INSERT INTO maker_2 (k, v) VALUES (1, 2);
UPDATE maker SET v = v + 5;
SELECT key, source_rows, missing, entries FROM cf_drift('maker_filter', 'f');

--
-- A trigger that somebody made for a view, to have it read by others
--
CREATE ROLE regress_upkeep_odd;
GRANT USAGE, CREATE ON SCHEMA upkeep_odd TO regress_upkeep_odd;
CREATE TABLE bait_filter (k int PRIMARY KEY, f cuckoofilter);
GRANT SELECT, INSERT, UPDATE ON bait_filter TO regress_upkeep_odd;
SET ROLE regress_upkeep_odd;
CREATE FUNCTION bait() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'run by somebody'; RETURN 1; END $$;
CREATE VIEW bait AS SELECT bait() AS k, 1 AS v;
CREATE TRIGGER bait AFTER INSERT ON bait FOR EACH STATEMENT
	EXECUTE FUNCTION cf_upkeep('upkeep_odd.bait_filter', 'f', '{v}', '{k}', '{k}', '100', '0.01', '4', '0', 'whole');
RESET ROLE;
SELECT count(*) FROM cf_drift('bait_filter', 'f');
SELECT cf_rebuild('bait_filter', 'f');

--
-- A partition whose owner may not keep filters: its triggers were made again
-- by each rebuild, and fired as often later
--
CREATE TABLE common (k int, v int) PARTITION BY LIST (k);
CREATE TABLE common_1 PARTITION OF common FOR VALUES IN (1);
CREATE TABLE common_filter (k int PRIMARY KEY, f cuckoofilter);
ALTER TABLE common_1 OWNER TO regress_upkeep_odd;
SELECT cf_attach('common', '{v}', 'common_filter', 'f', '{k}', 100);
GRANT SELECT, INSERT, UPDATE ON common_filter TO regress_upkeep_odd;
SELECT cf_attach('common', '{v}', 'common_filter', 'f', '{k}', 100);
REVOKE UPDATE ON common_filter FROM regress_upkeep_odd;
\set VERBOSITY default
SELECT cf_rebuild('common_filter', 'f');
\set VERBOSITY terse
INSERT INTO common VALUES (1, 5), (1, 5), (1, 6);
GRANT UPDATE ON common_filter TO regress_upkeep_odd;
DELETE FROM common_1 WHERE ctid = (SELECT min(ctid) FROM common_1);
SELECT key, source_rows, missing, entries FROM cf_drift('common_filter', 'f');

--
-- A partition that comes back with the triggers that it had
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
-- A temporary child, whose rows other sessions do not see when they build filters
--
CREATE TABLE lasting (k int, v int);
CREATE TEMPORARY TABLE fleeting () INHERITS (lasting);
CREATE TABLE lasting_filter (k int PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('lasting', '{v}', 'lasting_filter', 'f', '{k}', 100);
ALTER TABLE fleeting NO INHERIT lasting;
SELECT cf_attach('lasting', '{v}', 'lasting_filter', 'f', '{k}', 100);
ALTER TABLE fleeting INHERIT lasting;
\set VERBOSITY default
SELECT cf_rebuild('lasting_filter', 'f');
\set VERBOSITY terse

--
-- Rows of a child from before it got a column, which the server hands to the
-- triggers of the parent as if they were old rows of that one
--
CREATE TABLE late_child (id int, k int);
INSERT INTO late_child VALUES (2, 1);
ALTER TABLE late_child ADD v int;
CREATE TABLE late (id int, k int);
INSERT INTO late VALUES (3, 1);
ALTER TABLE late ADD v int DEFAULT 5;
ALTER TABLE late_child INHERIT late;
CREATE TABLE late_filter (k int PRIMARY KEY, f cuckoofilter);
\set VERBOSITY default
SELECT cf_attach('late', '{v}', 'late_filter', 'f', '{k}', 100);
\set VERBOSITY terse
UPDATE late_child SET id = 1;
SELECT cf_attach('late', '{v}', 'late_filter', 'f', '{k}', 100);
DELETE FROM late WHERE id = 1;
SELECT key, source_rows, missing, entries FROM cf_drift('late_filter', 'f');
-- in a child that comes later they are found by the rebuild, and none in a new one
CREATE TABLE late_new () INHERITS (late);
INSERT INTO late_new VALUES (4, 1, NULL);
CREATE TABLE late_2 (id int, k int);
INSERT INTO late_2 VALUES (5, 1);
ALTER TABLE late_2 ADD v int;
ALTER TABLE late_2 INHERIT late;
SELECT cf_rebuild('late_filter', 'f');
DELETE FROM late_2;
SELECT cf_rebuild('late_filter', 'f');
-- where both have a default, each is told
CREATE TABLE late_3 (id int, k int);
INSERT INTO late_3 VALUES (6, 1);
ALTER TABLE late_3 ADD v int DEFAULT 7;
ALTER TABLE late_3 INHERIT late;
SELECT cf_rebuild('late_filter', 'f');
DELETE FROM late WHERE id = 6;
SELECT key, source_rows, missing, entries FROM cf_drift('late_filter', 'f');

--
-- MERGE that moves rows to other partitions is followed where it has actions of
-- all three kinds; UPDATE is in any case
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
	WHEN MATCHED AND i = 4 THEN UPDATE SET v = v + 10
	WHEN MATCHED AND false THEN DELETE
	WHEN NOT MATCHED AND false THEN INSERT DEFAULT VALUES;
UPDATE mover SET part = 3 - part, v = v + 100 WHERE id < 3;
SELECT key, source_rows, missing, entries FROM cf_drift('mover_filter', 'f');

DROP SCHEMA upkeep_odd CASCADE;
DROP ROLE regress_upkeep_odd;
