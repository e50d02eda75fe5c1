--
-- upkeep_roles: who may do what with filters that follow a table, and whose code
-- runs with whose rights.  Roles: the owner of the table, the owner of the
-- filters, a writer who may only insert, a reader of the filters, and a stranger
-- who may create things and plants them where others might run them.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA upkeep_roles;
SET search_path = upkeep_roles, public;

CREATE ROLE regress_up_source;
CREATE ROLE regress_up_target;
CREATE ROLE regress_up_writer;
CREATE ROLE regress_up_reader;
CREATE ROLE regress_up_stranger;
CREATE SCHEMA hidden AUTHORIZATION regress_up_target;
CREATE SCHEMA evil AUTHORIZATION regress_up_stranger;
GRANT USAGE ON SCHEMA upkeep_roles TO PUBLIC;
GRANT CREATE ON SCHEMA upkeep_roles TO regress_up_source, regress_up_target, regress_up_stranger;
GRANT USAGE ON SCHEMA evil TO PUBLIC;

-- Code of the stranger tells where it runs with the rights of anybody else.
SET ROLE regress_up_stranger;
CREATE FUNCTION evil.tell(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'regress_up_stranger' THEN
		RAISE WARNING '% of the stranger runs as %', what, current_user;
	END IF;
END $$;
CREATE FUNCTION evil.number(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.tell('an index'); RETURN n; END $$;
CREATE FUNCTION evil.yes(n int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM evil.tell('a check'); RETURN true; END $$;
CREATE FUNCTION evil.fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('a trigger'); RETURN coalesce(NEW, OLD); END $$;
RESET ROLE;

CREATE FUNCTION as_role(role text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	PERFORM set_config('role', role, true);
	BEGIN
		EXECUTE statement;
		GET DIAGNOSTICS n = ROW_COUNT;
		RAISE SQLSTATE 'UNDO1';
	EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
		RETURN 'ok';
	WHEN OTHERS THEN
		RETURN SQLSTATE || ' ' || SQLERRM;
	END;
END $$;
-- runs with the rights of whoever it is that asks: resets the role at its end
ALTER FUNCTION as_role SET role FROM CURRENT;

SET ROLE regress_up_source;
CREATE TABLE source (k int, v int, note text);
INSERT INTO source SELECT i % 3, i FROM generate_series(1, 30) i;
GRANT INSERT ON source TO regress_up_writer;
SET ROLE regress_up_target;
CREATE TABLE target (k int PRIMARY KEY, f cuckoofilter, note text);
GRANT SELECT ON target TO regress_up_reader;
RESET ROLE;

--
-- The owner of the table needs three rights on the filters, and to reach them
--
SELECT as_role('regress_up_source', $$SELECT cf_attach('source', '{v}', 'target', 'f', '{k}', 100)$$);
DO $$
DECLARE
	missing text;
BEGIN
	FOREACH missing IN ARRAY ARRAY['SELECT', 'INSERT', 'UPDATE', 'nothing'] LOOP
		GRANT SELECT, INSERT, UPDATE ON target TO regress_up_source;
		IF missing <> 'nothing' THEN
			EXECUTE format('REVOKE %s ON target FROM regress_up_source', missing);
		END IF;
		RAISE WARNING 'attach without %: %', missing,
			as_role('regress_up_source', $q$SELECT cf_attach('source', '{v}', 'target', 'f', '{k}', 100)$q$);
	END LOOP;
END $$;
SET ROLE regress_up_source;
SELECT cf_attach('source', '{v}', 'target', 'f', '{k}', 100);
RESET ROLE;
-- and keeps needing them: for a key that is there, and for a new one
DO $$
DECLARE
	missing text;
BEGIN
	FOREACH missing IN ARRAY ARRAY['SELECT', 'INSERT', 'UPDATE', 'nothing'] LOOP
		GRANT SELECT, INSERT, UPDATE ON target TO regress_up_source;
		IF missing <> 'nothing' THEN
			EXECUTE format('REVOKE %s ON target FROM regress_up_source', missing);
		END IF;
		RAISE WARNING 'write without %: a key that is there: %; a new one: %', missing,
			as_role('regress_up_writer', 'INSERT INTO source VALUES (1, 1000)') = 'ok',
			as_role('regress_up_writer', 'INSERT INTO source VALUES (77, 1000)') = 'ok';
	END LOOP;
END $$;
-- the schema of the filters, too, has to be open to the owner of the table
CREATE TABLE hidden.target (k int PRIMARY KEY, f cuckoofilter);
GRANT SELECT, INSERT, UPDATE ON hidden.target TO regress_up_source;
SELECT as_role('regress_up_source', format('SELECT cf_attach(''source'', ''{v}'', %s, ''f'', ''{k}'', 100)', 'hidden.target'::regclass::oid));
GRANT USAGE ON SCHEMA hidden TO regress_up_source;
SELECT as_role('regress_up_source', $$SELECT cf_attach('source', '{v}', 'hidden.target', 'f', '{k}', 100)$$);
BEGIN;
SET LOCAL ROLE regress_up_source;
SELECT cf_attach('source', '{v}', 'hidden.target', 'f', '{k}', 100);
RESET ROLE;
REVOKE USAGE ON SCHEMA hidden FROM regress_up_source;
SELECT as_role('regress_up_writer', 'INSERT INTO source VALUES (1, 1000)');
ROLLBACK;

--
-- Every role against everything that can be done
--
SELECT w.role, s.what, as_role('regress_up_' || w.role, s.statement) AS outcome
FROM (VALUES (1, 'source'), (2, 'target'), (3, 'writer'), (4, 'reader'), (5, 'stranger')) w (nr, role),
	(VALUES (1, 'attach', $$SELECT cf_attach('source', '{v}', 'target', 'f', '{k}', 100)$$),
		(2, 'rebuild', $$SELECT cf_rebuild('target', 'f')$$),
		(3, 'drift', $$SELECT cf_drift('target', 'f')$$),
		(4, 'detach', $$SELECT cf_detach('target', 'f')$$),
		(5, 'insert a row', 'INSERT INTO source VALUES (1, 2000), (66, 2000)'),
		(6, 'update rows', 'UPDATE source SET v = v + 1 WHERE k = 1'),
		(7, 'delete rows', 'DELETE FROM source WHERE k = 1'),
		(8, 'truncate rows', 'TRUNCATE source'),
		(9, 'read filters', 'SELECT f @> 5 FROM target'),
		(10, 'set a filter', 'UPDATE target SET f = NULL'),
		(11, 'set a key', 'UPDATE target SET k = k + 100'),
		(12, 'set a note', $$UPDATE target SET note = 'x'$$),
		(13, 'delete a filter', 'DELETE FROM target WHERE k = 1'),
		(14, 'truncate filters', 'TRUNCATE target')) s (nr, what, statement)
ORDER BY s.nr, w.nr;
-- only a superuser or the owner can go round the triggers
SELECT w.role, s.what, left(as_role('regress_up_' || w.role, s.statement), 5) AS outcome
FROM (VALUES (3, 'writer'), (4, 'reader'), (5, 'stranger')) w (nr, role),
	(VALUES (1, 'disable', 'ALTER TABLE source DISABLE TRIGGER ALL'), (2, 'disable', 'ALTER TABLE target DISABLE TRIGGER ALL'),
		(3, 'replica', 'SET LOCAL session_replication_role = replica'), (4, 'drop', 'DROP TABLE target CASCADE')) s (nr, what, statement)
ORDER BY s.nr, w.nr;
SELECT sum(source_rows) AS rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('target', 'f');

--
-- Triggers of the filters run with the rights of the owner of the table, not of
-- the owner of the filters, whoever writes, and with a search_path that nobody
-- else can choose
--
CREATE TABLE who (name text, path text);
GRANT INSERT ON who TO PUBLIC;
SET ROLE regress_up_target;
CREATE FUNCTION note_who() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO upkeep_roles.who VALUES (current_user, current_setting('search_path'));
	RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON target FOR EACH ROW EXECUTE FUNCTION note_who();
SET ROLE regress_up_writer;
SET search_path = evil, upkeep_roles, public;
INSERT INTO source VALUES (1, 3000), (55, 3000);
RESET search_path;
RESET ROLE;
SET search_path = upkeep_roles, public;
SELECT cf_rebuild('target', 'f');
SELECT DISTINCT * FROM who;
DROP TRIGGER note ON target;

--
-- Names that somebody else has put in front: operators, functions, tables
--
SET ROLE regress_up_stranger;
DO $$
DECLARE
	type text;
	op text;
BEGIN
	FOREACH type IN ARRAY ARRAY['int4', 'text', 'bool', 'oid', 'int8', 'float8', 'public.cuckoofilter'] LOOP
		FOREACH op IN ARRAY ARRAY['=', '<>', '<', '>', '||', '+', '-', '*', '/'] LOOP
			EXECUTE format('CREATE FUNCTION evil.op_%s(%s, %2$s) RETURNS %s LANGUAGE plpgsql AS %L',
				md5(type || op), type, CASE WHEN op IN ('=', '<>', '<', '>') THEN 'bool' ELSE type END,
				format('BEGIN PERFORM evil.tell(%L); RETURN NULL; END', 'the operator ' || op));
			EXECUTE format('CREATE OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %2$s, FUNCTION = evil.op_%s)', op, type, md5(type || op));
		END LOOP;
	END LOOP;
END $$;
CREATE FUNCTION evil.int_of(anyelement) RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('a function'); RETURN 0; END $$;
ALTER FUNCTION evil.int_of RENAME TO cf_count;
CREATE FUNCTION evil.cf_add(public.cuckoofilter, int4) RETURNS public.cuckoofilter LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('cf_add'); RETURN NULL; END $$;
CREATE FUNCTION evil.cf_remove(public.cuckoofilter, int4) RETURNS public.cuckoofilter LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('cf_remove'); RETURN NULL; END $$;
CREATE FUNCTION evil.cf_info(public.cuckoofilter) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('cf_info'); RETURN NULL; END $$;
CREATE FUNCTION evil.cf_new(float8, float8, int4, int8) RETURNS public.cuckoofilter LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('cf_new'); RETURN NULL; END $$;
CREATE FUNCTION evil.step(public.cuckoofilter, int4, float8, float8, int4, int8) RETURNS public.cuckoofilter LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('an aggregate'); RETURN NULL; END $$;
CREATE AGGREGATE evil.cf_bag_agg(int4, float8, float8, int4, int8) (SFUNC = evil.step, STYPE = public.cuckoofilter);
CREATE FUNCTION evil.step(public.cuckoofilter, int4) RETURNS public.cuckoofilter LANGUAGE plpgsql AS $$ BEGIN PERFORM evil.tell('an aggregate'); RETURN NULL; END $$;
CREATE AGGREGATE evil.cf_bag_agg(int4) (SFUNC = evil.step, STYPE = public.cuckoofilter);
CREATE TABLE evil.pg_class (LIKE pg_catalog.pg_class);
CREATE TABLE evil.pg_trigger (LIKE pg_catalog.pg_trigger);
CREATE TABLE evil.target (k int PRIMARY KEY, f public.cuckoofilter, note text);
CREATE TABLE evil.source (k int, v int, note text);
GRANT ALL ON ALL TABLES IN SCHEMA evil TO PUBLIC;
RESET ROLE;
CREATE TABLE mine (k int, v int, x text);
CREATE TABLE mine_filter (k int PRIMARY KEY, f cuckoofilter, g cuckoofilter);
INSERT INTO mine SELECT i % 3, i, i FROM generate_series(1, 30) i;
SET search_path = evil, pg_catalog, upkeep_roles, public;
SELECT public.cf_attach('upkeep_roles.mine', '{v}', 'upkeep_roles.mine_filter', 'f', '{k}', 100),
	public.cf_attach('upkeep_roles.mine', '{k,x}', 'upkeep_roles.mine_filter', 'g', '{k}', 100);
INSERT INTO upkeep_roles.mine VALUES (1, 100, 'a'), (5, 100, 'b');
UPDATE upkeep_roles.mine SET v = DEFAULT;
DELETE FROM upkeep_roles.mine;
INSERT INTO upkeep_roles.mine VALUES (1, 100, 'a'), (6, 101, 'b');
SELECT public.cf_rebuild('upkeep_roles.mine_filter', 'f', capacity => '200');
SELECT key, source_rows, missing, entries, stale FROM public.cf_drift('upkeep_roles.mine_filter', 'f');
SELECT key, source_rows, missing, entries, stale FROM public.cf_drift('upkeep_roles.mine_filter', 'g');
SELECT public.cf_detach('upkeep_roles.mine_filter', 'f'), public.cf_detach('upkeep_roles.mine_filter', 'g');
-- temporary objects of a writer in place of those of the owner
SET search_path = pg_temp, evil, upkeep_roles, public;
SET ROLE regress_up_writer;
CREATE TEMPORARY TABLE target (k int PRIMARY KEY, f public.cuckoofilter, note text);
CREATE TEMPORARY TABLE pg_trigger (tgrelid oid);
GRANT ALL ON target, pg_trigger TO PUBLIC;
INSERT INTO upkeep_roles.source VALUES ('2', '4000'), ('44', '4000');
RESET ROLE;
SELECT count(*) FROM pg_temp.target;
DROP TABLE pg_temp.target, pg_temp.pg_trigger;
SET search_path = upkeep_roles, public;
SELECT k FROM target WHERE f @> 4000 ORDER BY k;

--
-- Planted: the triggers of an attachment, copied to a table of the stranger's
-- own, with what the planner or a reader of that table would run
--
CREATE FUNCTION plant(onto text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	definition text;
	planted int := 0;
BEGIN
	FOR definition IN SELECT pg_get_triggerdef(t.oid) FROM pg_catalog.pg_trigger t
			WHERE tgrelid = 'upkeep_roles.source'::regclass AND NOT tgisinternal ORDER BY tgname LOOP
		EXECUTE replace(definition, 'upkeep_roles.source', onto);
		planted := planted + 1;
	END LOOP;
	RETURN CASE WHEN planted > 0 THEN 'planted' ELSE 'nothing to plant' END;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SET ROLE regress_up_stranger;
CREATE TABLE evil.bait (k int, v int, note text);
INSERT INTO evil.bait VALUES (0, 9), (1, 10), (2, 11);
SELECT plant('evil.bait');
CREATE INDEX ON evil.bait (evil.number(1));
CREATE INDEX ON evil.bait (k) WHERE evil.yes(1);
CREATE STATISTICS evil.bait_statistics ON evil.number(k), (v + 1) FROM evil.bait;
ALTER TABLE evil.bait ADD CHECK (evil.yes(k)) NO INHERIT, ENABLE ROW LEVEL SECURITY;
CREATE POLICY look ON evil.bait USING (evil.yes(k));
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON evil.bait FOR EACH ROW EXECUTE FUNCTION evil.fires();
CREATE VIEW evil.bait_view AS SELECT evil.number(1) AS k, 1 AS v, ''::text AS note;
RESET ROLE;
-- neither a superuser nor an owner looks there, nor is kept from anything
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('target', 'f');
SELECT cf_rebuild('target', 'f') > 0 AS rebuilt;
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('target', 'f');
SET ROLE regress_up_source;
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('target', 'f');
SELECT cf_rebuild('target', 'f') > 0 AS rebuilt;
SELECT cf_detach('target', 'f');
SELECT cf_attach('source', '{v}', 'target', 'f', '{k}', 100) > 0 AS attached;
RESET ROLE;
-- what the stranger does with the bait changes nothing in filters of others
SET ROLE regress_up_stranger;
INSERT INTO evil.bait VALUES (1, 7777);
DELETE FROM evil.bait;
TRUNCATE evil.bait;
RESET ROLE;
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('target', 'f');
-- nor where the stranger may write to the filters' table like an application
GRANT SELECT, INSERT, UPDATE, DELETE ON target TO regress_up_stranger;
GRANT USAGE ON SCHEMA evil TO regress_up_source;
SET ROLE regress_up_stranger;
ALTER TABLE evil.bait DISABLE TRIGGER ALL;
INSERT INTO evil.bait SELECT i % 3, i FROM generate_series(1, 30) i;
ALTER TABLE evil.bait ENABLE TRIGGER ALL;
DELETE FROM evil.bait;
TRUNCATE evil.bait;
SELECT cf_attach('evil.source', '{v}', 'target', 'f', '{k}', 100);
RESET ROLE;
SELECT count(*) AS filters, sum(missing) AS missing FROM cf_drift('target', 'f');
SELECT count(*) AS lost FROM source s LEFT JOIN target t USING (k) WHERE t.f @> s.v IS NOT TRUE;
-- a trigger function called in another way than by a trigger
SELECT DISTINCT as_role('regress_up_stranger', format('SELECT %s', (tgfoid::regproc)::text || '()')) FROM pg_catalog.pg_trigger WHERE tgrelid = 'source'::regclass AND NOT tgisinternal;

--
-- A role that has the rights of the owner by membership may what the owner may
--
CREATE ROLE regress_up_member;
GRANT regress_up_source TO regress_up_member;
SELECT as_role('regress_up_member', $$SELECT cf_rebuild('target', 'f')$$), as_role('regress_up_member', $$SELECT cf_detach('target', 'f')$$);
SELECT as_role('regress_up_member', $$SELECT count(*) FROM cf_drift('target', 'f')$$);

DROP SCHEMA upkeep_roles, evil, hidden CASCADE;
DROP ROLE regress_up_source, regress_up_target, regress_up_writer, regress_up_reader, regress_up_stranger, regress_up_member;
