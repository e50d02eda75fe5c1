--
-- upkeep: filters that follow a table.  After each statement the filters are
-- held against the table: nothing may be missing, and unless said otherwise
-- nothing is stale.
--
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA upkeep;
SET search_path = upkeep, public;
SET jit = off;

CREATE TABLE visit (id int PRIMARY KEY, tenant int, visitor bigint, note text);
CREATE TABLE tenant (id int PRIMARY KEY, name text, visitors cuckoofilter);
INSERT INTO visit SELECT i, i % 3, i * 10 FROM generate_series(1, 30) i;
INSERT INTO tenant VALUES (7, 'without visits');

-- what cf_drift() says, and the same found without it
CREATE VIEW drift AS SELECT key, source_rows, missing, entries, stale FROM cf_drift('tenant', 'visitors');
CREATE VIEW lost AS
	SELECT v.id FROM visit v LEFT JOIN tenant t ON t.id = v.tenant
	WHERE v.tenant IS NOT NULL AND v.visitor IS NOT NULL AND t.visitors @> v.visitor IS NOT TRUE;

--
-- Attaching builds the filters, one for each key and an empty one for those without rows
--
SELECT cf_attach('visit', '{visitor}', 'tenant', 'visitors', '{tenant}', 1000, target_key => '{id}');
SELECT * FROM drift;
SELECT capacity, max_copies, seed, count(*) FROM tenant, cf_info(visitors) GROUP BY 1, 2, 3;
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid IN ('visit'::regclass, 'tenant'::regclass) ORDER BY tgname;

--
-- Statements
--
-- new tenants, values that are there, NULL keys and NULL values, one value often
INSERT INTO visit VALUES (100, 1, 10), (101, 9, 5), (102, NULL, 6), (103, 1, NULL), (104, 2, 77), (105, 2, 77), (106, 2, 77), (107, NULL, NULL);
SELECT * FROM drift;
INSERT INTO visit SELECT 1, 1, 1 WHERE false;
COPY visit FROM stdin;
200	1	2000	\N
201	11	2001	\N
\.
-- values, keys, and both
UPDATE visit SET visitor = visitor + 1 WHERE id <= 10;
UPDATE visit SET tenant = 8 WHERE tenant = 1;
UPDATE visit SET tenant = 12, visitor = -visitor WHERE id % 5 = 0;
UPDATE visit SET tenant = 2 WHERE tenant IS NULL;
UPDATE visit SET tenant = NULL WHERE id IN (104, 20);
UPDATE visit SET visitor = NULL WHERE id = 21;
SELECT * FROM drift;
SELECT count(*) AS lost FROM lost;
-- the same values among other rows: nothing changes, so no filter is written
CREATE TABLE before AS SELECT id, ctid AS place FROM tenant;
UPDATE visit SET note = 'x', id = id + 1000;
UPDATE visit SET visitor = visitor;
UPDATE visit v SET visitor = w.visitor FROM visit w WHERE v.tenant = 2 AND w.tenant = 2 AND v.id IN (1002, 1005) AND w.id IN (1002, 1005) AND v.id <> w.id;
SELECT count(*) AS not_written FROM before b JOIN tenant t ON t.id = b.id AND t.ctid = b.place;
SELECT count(*) AS lost FROM lost;
-- DELETE, with and without rows left
DELETE FROM visit WHERE tenant = 0;
DELETE FROM visit WHERE visitor = 77;
DELETE FROM visit WHERE false;
SELECT * FROM drift;
-- INSERT ... ON CONFLICT and MERGE do several things in one statement
INSERT INTO visit VALUES (1002, 2, 5000), (3000, 2, 5001) ON CONFLICT (id) DO UPDATE SET visitor = excluded.visitor;
MERGE INTO visit v USING (VALUES (1002, 3), (1005, 2), (4000, 1)) AS s (id, what) ON v.id = s.id
	WHEN MATCHED AND what = 2 THEN DELETE
	WHEN MATCHED THEN UPDATE SET visitor = 6000
	WHEN NOT MATCHED THEN INSERT VALUES (s.id, 2, 6001);
WITH gone AS (DELETE FROM visit WHERE id = 4000 RETURNING *) INSERT INTO visit SELECT id, 3, visitor FROM gone;
SELECT * FROM drift WHERE stale <> 0 OR missing <> 0;
SELECT t.id, visitors @> 6000::bigint AS u, visitors @> 6001::bigint AS i, visitors @> 5000::bigint AS gone FROM tenant t WHERE id IN (2, 3) ORDER BY 1;
-- what is undone
BEGIN;
DELETE FROM visit;
SAVEPOINT s;
INSERT INTO visit VALUES (1, 2, 1), (2, 40, 1);
ROLLBACK TO s;
INSERT INTO visit VALUES (1, 2, 2);
SELECT sum(entries) AS entries FROM drift;
ROLLBACK;
SELECT * FROM drift WHERE stale <> 0 OR missing <> 0;
-- a filter that is NULL is made as if it were not there
INSERT INTO tenant VALUES (50, 'new', NULL);
INSERT INTO visit VALUES (5000, 50, 1), (5001, 50, 2);
DELETE FROM visit WHERE id = 5001;
SELECT * FROM drift WHERE key = '{50}';
-- a tenant goes after his rows
DELETE FROM tenant WHERE id = 50;
DELETE FROM visit WHERE tenant = 50;
DELETE FROM tenant WHERE id = 50;
-- TRUNCATE
BEGIN;
TRUNCATE visit;
SELECT count(*) AS filters, sum(entries) AS entries, max(bytes) AS bytes FROM cf_drift('tenant', 'visitors');
INSERT INTO visit VALUES (1, 2, 2);
SELECT * FROM drift WHERE entries > 0;
ROLLBACK;
SELECT * FROM drift WHERE stale <> 0 OR missing <> 0;
SELECT count(*) AS lost FROM lost;

--
-- Rebuilding: with other parameters, or after filters were changed by hand,
-- which takes to detach them
--
SELECT cf_rebuild('tenant', 'visitors');
SELECT * FROM drift;
SELECT cf_rebuild('tenant', 'visitors', capacity => 5000, fpr => 0.001, max_copies => 2, seed => 42);
SELECT capacity, max_copies, seed, count(*) FROM tenant, cf_info(visitors) GROUP BY 1, 2, 3;
INSERT INTO visit VALUES (6000, 60, 1), (6001, 60, 1), (6002, 60, 1);
SELECT capacity, max_copies, seed, entries FROM tenant, cf_info(visitors) WHERE id = 60;
UPDATE tenant SET visitors = cf_remove(visitors, 20::bigint) WHERE id = 2;
DELETE FROM tenant WHERE id = 12;
ALTER TABLE tenant DISABLE TRIGGER USER;
UPDATE tenant SET visitors = cf_remove(visitors, 20::bigint) WHERE id = 2;
DELETE FROM tenant WHERE id = 12;
SELECT key, missing, entries, rebuild_pays FROM cf_drift('tenant', 'visitors') WHERE missing > 0;
SELECT cf_rebuild('tenant', 'visitors');
SELECT key, missing, entries, rebuild_pays FROM cf_drift('tenant', 'visitors') WHERE missing > 0;
SELECT count(*) AS enabled FROM pg_trigger WHERE tgrelid = 'tenant'::regclass AND tgenabled = 'O';
-- stale entries: copies beyond max_copies are not counted, and so are not removed
DELETE FROM visit WHERE tenant = 60;
SELECT key, source_rows, missing, entries, stale, stale_share, rebuild_pays FROM cf_drift('tenant', 'visitors') WHERE stale > 0;
-- a filter of another seed would be asked for other hashes
INSERT INTO tenant VALUES (70, 'by hand', cf_new(100));
INSERT INTO visit VALUES (7000, 70, 1);
DELETE FROM tenant WHERE id = 70;
-- many copies in a filter with room for all of them: none of these is stale
CREATE TABLE hot (x int, t int);
CREATE TABLE hots (t int PRIMARY KEY, f cuckoofilter);
INSERT INTO hot SELECT i % 250, i % 2 FROM generate_series(1, 4000) i;
SELECT cf_attach('hot', '{x}', 'hots', 'f', '{t}', 100000);
INSERT INTO hot SELECT i % 250 + 250, i % 2 FROM generate_series(1, 4000) i;
SELECT key, source_rows, missing, stale FROM cf_drift('hots', 'f');
-- more rows than the capacity, and few values
SELECT cf_rebuild('hots', 'f', capacity => 1500);
SELECT key, source_rows, missing, stale, rebuild_pays FROM cf_drift('hots', 'f');
DROP TABLE hot, hots;
-- beyond its capacity
CREATE TABLE crowd (x int);
CREATE TABLE crowds (f cuckoofilter);
SELECT cf_attach('crowd', '{x}', 'crowds', 'f', '{}', 20);
INSERT INTO crowd SELECT generate_series(1, 20);
INSERT INTO crowd VALUES (21);
SELECT cf_rebuild('crowds', 'f', capacity => 200);
INSERT INTO crowd VALUES (21);
SELECT source_rows, missing, entries FROM cf_drift('crowds', 'f');
DROP TABLE crowd, crowds;

--
-- Filters from which nothing can be removed keep what is deleted
--
CREATE TABLE once (x int, t text);
CREATE TABLE onces (t text PRIMARY KEY, f cuckoofilter);
SELECT cf_attach('once', '{x}', 'onces', 'f', '{t}', 100, max_copies => 1);
INSERT INTO once VALUES (1, 'a'), (1, 'a'), (2, 'a'), (3, 'b');
UPDATE once SET t = 'b' WHERE x = 1;
DELETE FROM once WHERE x = 2;
SELECT key, source_rows, missing, entries, stale, stale_share, rebuild_pays FROM cf_drift('onces', 'f');
SELECT cf_rebuild('onces', 'f');
SELECT key, source_rows, missing, entries, stale, stale_share, rebuild_pays FROM cf_drift('onces', 'f');
SELECT cf_rebuild('onces', 'f', max_copies => 4);
SELECT cf_detach('onces', 'f');
UPDATE onces SET f = f | f;
SELECT t, entries, merged FROM onces, cf_info(f) ORDER BY t;
-- what is detached can be attached again
SELECT cf_attach('once', '{x}', 'onces', 'f', '{t}', 100);
DELETE FROM once;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('onces', 'f');
INSERT INTO once VALUES (1, 'a');
TRUNCATE once;
SELECT t, entries, merged FROM onces, cf_info(f) ORDER BY t;

--
-- One filter for all rows; a value of several columns; NULL in records
--
CREATE TABLE pair (a int, b text, c date);
CREATE TABLE pairs (name text DEFAULT 'all', f cuckoofilter);
INSERT INTO pair VALUES (0, 'zero', '2000-01-01');
SELECT cf_attach('pair', '{a,b}', 'pairs', 'f', '{}', 1000);
INSERT INTO pair VALUES (1, 'x', NULL), (2, NULL, NULL), (NULL, NULL, NULL);
SELECT name, f @> ROW(0, 'zero'::text) AS zero, f @> ROW(1, 'x'::text) AS one, f @> ROW(2, NULL::text) AS two, f @> ROW(1, 'y'::text) AS other FROM pairs;
SELECT f = (SELECT cf_add_all(cf_new(1000), array_agg(ROW(a, b) ORDER BY a)) FROM pair) AS same FROM pairs;
UPDATE pair SET b = 'y' WHERE a = 1;
UPDATE pair SET c = now();
DELETE FROM pair WHERE a = 2;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('pairs', 'f');
-- one row it must be
INSERT INTO pairs VALUES ('two');
INSERT INTO pair VALUES (9, 'nine');
SELECT cf_rebuild('pairs', 'f');
DELETE FROM pairs WHERE name = 'all';
DELETE FROM pairs WHERE name = 'two';
INSERT INTO pair VALUES (9, 'nine');
SELECT key, source_rows, missing, entries FROM cf_drift('pairs', 'f');
TRUNCATE pair;
DELETE FROM pairs;
INSERT INTO pair VALUES (9, 'nine');
SELECT cf_rebuild('pairs', 'f');
INSERT INTO pair VALUES (9, 'nine');
SELECT key, source_rows, missing, entries FROM cf_drift('pairs', 'f');

--
-- Keys of several columns, in another order, of other types; quoted names
--
CREATE SCHEMA "Odd ""schema";
CREATE TABLE "Odd ""schema"."Table's" ("Value, x" text, "key {1}" varchar, "select" numeric, "k1" uuid);
CREATE TABLE "Odd ""schema"."The filters" ("SELECT" numeric, k uuid, "filter $1" cuckoofilter NOT NULL, "t" text, UNIQUE (k, "t", "SELECT"));
INSERT INTO "Odd ""schema"."Table's" SELECT 'v' || i, 'k''' || i % 2, i % 3 + 0.50, '00000000-0000-0000-0000-000000000001' FROM generate_series(1, 12) i;
SELECT cf_attach('"Odd ""schema"."Table''s"', '{"Value, x"}', '"Odd ""schema"."The filters"', 'filter $1', '{"key {1}",select,k1}', 1000, target_key => '{t,SELECT,k}');
INSERT INTO "Odd ""schema"."Table's" VALUES ('v1', 'k''1', 1.5, '00000000-0000-0000-0000-000000000001'), ('v1', 'k''1', 1.500, '00000000-0000-0000-0000-000000000001'),
	('v1', 'k''1', 1.5, NULL), ('back\slash', 'back\slash', 1.5, '00000000-0000-0000-0000-000000000002');
UPDATE "Odd ""schema"."Table's" SET "select" = 7 WHERE "select" = 2.5;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('"Odd ""schema"."The filters"', 'filter $1');
SELECT cf_rebuild('"Odd ""schema"."The filters"', 'filter $1', capacity => 2000);
SELECT tgname FROM pg_trigger WHERE tgrelid = '"Odd ""schema"."Table''s"'::regclass ORDER BY 1;
DELETE FROM "Odd ""schema"."Table's";
SELECT sum(entries) AS entries FROM cf_drift('"Odd ""schema"."The filters"', 'filter $1');
SELECT cf_detach('"Odd ""schema"."The filters"', 'filter $1');
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = '"Odd ""schema"."Table''s"'::regclass;
DROP SCHEMA "Odd ""schema" CASCADE;

-- values of every family, as cf_bag_agg() has them; a column of the table each
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE complex AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TABLE sample (
	i2 int2, i4 int4, i8 int8, n numeric, f4 float4, f8 float8, t text, v varchar(20), c char(8), na name, e mood, by bytea, bo bool, u uuid, o oid,
	m macaddr, m8 macaddr8, i inet, ci cidr, bi bit(5), vb varbit, l pg_lsn, d date, ts timestamp, tz timestamptz, ti time, tt timetz, iv interval,
	j jsonb, a int[], at text[], r complex, ra int4range, mr int4multirange, p positive, big text);
CREATE FUNCTION more(n int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO upkeep.sample SELECT g, g, g, g + 0.5, g, g / 8.0, 't' || g, 'v' || g, 'c' || g, 'n' || g, (enum_range(NULL::upkeep.mood))[1 + g % 3], decode(md5(g::text), 'hex'), g % 2 = 0, md5(g::text)::uuid, g::oid,
		lpad(to_hex(g), 12, '0')::macaddr, lpad(to_hex(g), 16, '0')::macaddr8, '10.0.0.0'::inet + g, ('10.0.0.0'::inet + g)::cidr, (g % 32)::bit(5), (g % 32)::bit(5)::varbit, ('1/' || to_hex(g))::pg_lsn,
		date '2000-01-01' + g, timestamp '2000-01-01' + g * interval '1 hour', timestamptz '2000-01-01 00:00+00' + g * interval '1 hour', time '00:00' + g * interval '1 minute', timetz '00:00+01' + g * interval '1 minute', g * interval '1 day',
		jsonb_build_object('a', g), ARRAY[g, NULL], ARRAY['x' || g], ROW(g, 'r')::upkeep.complex, int4range(g, g + 5), int4multirange(int4range(g, g + 1)), g + 1, repeat(md5(g::text), 500)
	FROM generate_series(n, n + 99) g
$$;
SELECT more(0);
CREATE TABLE sample_filter (name text PRIMARY KEY, f cuckoofilter);
CREATE FUNCTION families() RETURNS TABLE (name text, source_rows bigint, missing bigint, stale bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
	col text;
BEGIN
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attnum > 0 LOOP
		EXECUTE format('CREATE TABLE %I (f cuckoofilter)', 'of_' || col);
		PERFORM cf_attach('sample', ARRAY[col], ('of_' || col)::regclass, 'f', '{}', 1000);
	END LOOP;
	PERFORM more(100);
	PERFORM more(150);
	UPDATE sample SET i4 = i4 + 1 WHERE i8 < 50;
	DELETE FROM sample WHERE i8 BETWEEN 60 AND 159;
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attnum > 0 LOOP
		name := col;
		SELECT d.source_rows, d.missing, d.stale INTO source_rows, missing, stale FROM cf_drift(('of_' || col)::regclass, 'f') d;
		EXECUTE format('SELECT cf_count(f) = cf_count(cf_bag_agg(%1$I, 1000)) AND bool_and(f @> %1$I) FROM %2$I, sample GROUP BY f', col, 'of_' || col) INTO same;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM families() WHERE missing > 0 OR same IS NOT TRUE;
SELECT count(*) AS columns FROM pg_trigger WHERE tgrelid = 'sample'::regclass AND tgname LIKE '%cf_rows';
-- as keys, too: of the same values another table each
CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	col text;
BEGIN
	DELETE FROM sample WHERE i8 >= 30;
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attnum > 0 LOOP
		PERFORM cf_detach(('of_' || col)::regclass, 'f');
		EXECUTE format('DROP TABLE %I', 'of_' || col);
		EXECUTE format('CREATE TABLE %I AS SELECT DISTINCT %I, NULL::cuckoofilter AS f FROM sample LIMIT 5', 'by_' || col, col);
		EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (%I)', 'by_' || col, col);
	END LOOP;
END $$;
SELECT change();
SELECT count(*) AS triggers FROM pg_trigger WHERE tgrelid = 'sample'::regclass;
CREATE FUNCTION by_keys() RETURNS TABLE (name text, filters bigint, missing bigint, stale bigint) LANGUAGE plpgsql AS $$
DECLARE
	col text;
BEGIN
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attnum > 0 AND attname <> 'big' LOOP
		PERFORM cf_attach('sample', '{i8}', ('by_' || col)::regclass, 'f', ARRAY[col], 1000);
	END LOOP;
	PERFORM more(20);
	DELETE FROM sample WHERE i8 BETWEEN 3 AND 40;
	FOR col IN SELECT attname FROM pg_attribute WHERE attrelid = 'sample'::regclass AND attnum > 0 AND attname <> 'big' LOOP
		name := col;
		SELECT count(*), sum(d.missing), sum(d.stale) INTO filters, missing, stale FROM cf_drift(('by_' || col)::regclass, 'f') d;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM by_keys() WHERE missing > 0 OR stale > 0 OR filters = 0;
DROP TABLE sample CASCADE;

--
-- Partitioned tables: through the root, into partitions, moved, truncated, taken off
--
CREATE TABLE part (k int NOT NULL, v int, junk int) PARTITION BY RANGE (v);
CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (100);
CREATE TABLE part_high (junk int, v int, gone int, k int NOT NULL);
ALTER TABLE part_high DROP gone;
ALTER TABLE part ATTACH PARTITION part_high FOR VALUES FROM (100) TO (1000);
CREATE TABLE part_deep PARTITION OF part FOR VALUES FROM (1000) TO (2000) PARTITION BY LIST (k);
CREATE TABLE part_deep_0 PARTITION OF part_deep FOR VALUES IN (0);
CREATE TABLE part_deep_1 PARTITION OF part_deep FOR VALUES IN (1);
CREATE TABLE part_filter (k int PRIMARY KEY, f cuckoofilter) PARTITION BY LIST (k);
CREATE TABLE part_filter_0 PARTITION OF part_filter FOR VALUES IN (0, 2);
CREATE TABLE part_filter_1 PARTITION OF part_filter FOR VALUES IN (1, 3);
CREATE VIEW part_drift AS SELECT key, source_rows, missing, entries, stale FROM cf_drift('part_filter', 'f');
SELECT cf_attach('part', '{v}', 'part_filter', 'f', '{k}', 1000);
INSERT INTO part SELECT i % 2, i * 10 FROM generate_series(0, 199) i;
INSERT INTO part_low VALUES (3, 1);
INSERT INTO part_high (k, v) VALUES (2, 101);
INSERT INTO part_deep VALUES (1, 1001);
INSERT INTO part_deep_1 VALUES (1, 1002);
SELECT * FROM part_drift;
UPDATE part SET v = (v + 700) % 2000, k = 1 - k WHERE k < 2;
UPDATE part_low SET k = 2 WHERE k = 3;
DELETE FROM part_high WHERE v = 101;
DELETE FROM part WHERE v % 50 = 0;
SELECT * FROM part_drift;
-- what was in a partition that is truncated is stale until the next rebuild
TRUNCATE part_low, part_deep_1;
SELECT * FROM part_drift;
TRUNCATE part_deep;
SELECT cf_rebuild('part_filter', 'f');
SELECT * FROM part_drift;
BEGIN;
TRUNCATE part;
SELECT * FROM part_drift;
ROLLBACK;
-- new partitions are followed through the root; a rebuild gives them triggers
CREATE TABLE part_new PARTITION OF part FOR VALUES FROM (2000) TO (3000);
INSERT INTO part VALUES (0, 2000), (0, 2001);
DELETE FROM part WHERE v = 2001;
SELECT * FROM part_drift WHERE key = '{0}';
BEGIN;
ALTER TABLE part DETACH PARTITION part_high;
SELECT cf_rebuild('part_filter', 'f');
COMMIT;
INSERT INTO part_new VALUES (0, 2002);
SELECT * FROM part_drift;
-- a partition that was taken off is no longer followed
INSERT INTO part_high (k, v) VALUES (0, 500);
DELETE FROM part_high;
TRUNCATE part_high;
SELECT * FROM part_drift;
SELECT cf_detach('part_filter', 'f');
SELECT count(*) AS triggers FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class WHERE relname ~ '^part');
--
-- Two filters of one table, and a table of filters that is a source itself
--
CREATE TABLE visitors (visitor bigint PRIMARY KEY, tenants cuckoofilter, visits int DEFAULT 0);
SELECT cf_attach('visit', '{tenant}', 'visitors', 'tenants', '{visitor}', 100) AS filters \gset
SELECT :filters = count(DISTINCT visitor) AS one_each FROM visit WHERE tenant IS NOT NULL;
CREATE TABLE visitor_numbers (f cuckoofilter);
SELECT cf_attach('visitors', '{visitor}', 'visitor_numbers', 'f', '{}', 1000);
INSERT INTO visit SELECT 8000 + i, 2, 8000 + i FROM generate_series(1, 50) i;
DELETE FROM visit WHERE id % 7 = 0;
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('visitors', 'tenants');
SELECT missing, stale FROM cf_drift('visitor_numbers', 'f');
SELECT f @> 8001::bigint AS known FROM visitor_numbers;

--
-- Shards: several filters for each key, by a hash of the value that does not change
--
SELECT cf_shard(1, 1), cf_shard(1, 1000), cf_shard(-7::bigint, 1000), cf_shard(7.5, 1000), cf_shard('one'::text, 1000), cf_shard('one'::varchar, 1000),
	cf_shard('x'::bytea, 2147483647), cf_shard(ROW(1, 'a'::text), 16), cf_shard('2001-02-03'::date, 256), cf_shard(NULL::int, 16);
SELECT cf_shard(1, 0);
-- evenly, and not by what the filters hash
SELECT min(n) > 850 AND max(n) < 1150 AS even FROM (SELECT count(*) AS n FROM generate_series(1, 64000) i GROUP BY cf_shard(i, 64)) c;
CREATE TABLE hit (id int PRIMARY KEY, site int, who bigint);
CREATE TABLE hits (site int, shard int, seen cuckoofilter, PRIMARY KEY (site, shard));
INSERT INTO hit SELECT i, i % 2, i * 10 FROM generate_series(1, 1000) i;
SELECT cf_attach('hit', '{who}', 'hits', 'seen', '{site}', 4000, fpr => 0.001, shards => 16);
INSERT INTO hit SELECT i, i % 2, i * 10 FROM generate_series(1001, 3000) i;
UPDATE hit SET who = who + 1, site = 1 - site WHERE id % 3 = 0;
DELETE FROM hit WHERE id % 7 = 0;
SELECT count(*) AS filters, sum(source_rows) AS source_rows, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('hits', 'seen');
SELECT count(*) AS lost FROM hit h WHERE NOT EXISTS (SELECT FROM hits f WHERE f.site = h.site AND shard = cf_shard(who, 16) AND seen @> who);
SELECT count(*) < 5 AS few FROM generate_series(-1000, -1) i, hits WHERE site = 1 AND shard = cf_shard(i, 16) AND seen @> i;
SELECT bool_or(seen @> 20::bigint) AS has_20, bool_or(seen @> 30::bigint) AS has_30 FROM hits WHERE site = 0;
-- a shard has its share of the capacity and some more, so that all of it can be used
SELECT DISTINCT capacity FROM hits, cf_info(seen);
TRUNCATE hit;
INSERT INTO hit SELECT i, 0, i * 10 FROM generate_series(1, 4000) i;
-- other numbers of shards, fewer ones leave empty filters
SELECT cf_rebuild('hits', 'seen', shards => 64);
SELECT cf_rebuild('hits', 'seen', shards => 4, capacity => 10000);
DELETE FROM hit WHERE id % 5 = 0;
INSERT INTO hit SELECT i, 0, i * 10 FROM generate_series(5001, 6000) i;
SELECT shard < 4 AS used, count(*) AS filters, sum(source_rows) AS source_rows, sum(missing) AS missing, sum(entries) AS entries, sum(stale) AS stale
	FROM cf_drift('hits', 'seen'), CAST(key[2] AS int) AS shard GROUP BY 1 ORDER BY 1;
DELETE FROM hits WHERE shard >= 4;
DELETE FROM hits WHERE site = 0 AND shard = 3;
SELECT cf_rebuild('hits', 'seen', shards => 0);
SELECT cf_rebuild('hits', 'seen', shards => 65537);
-- without a key, of records, with another name
CREATE TABLE spread (part smallint, part_no int UNIQUE, f cuckoofilter);
SELECT cf_attach('hit', '{site,who}', 'spread', 'f', '{}', 10000, shards => 3, shard_column => 'part');
SELECT cf_attach('hit', '{site,who}', 'spread', 'f', '{}', 10000, shards => 3);
SELECT cf_attach('hit', '{site,who}', 'spread', 'f', '{}', 10000, shards => 3, shard_column => 'part_no');
DELETE FROM hit WHERE id < 100;
SELECT count(*) AS filters, sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('spread', 'f');
SELECT count(*) AS lost FROM hit WHERE NOT EXISTS (SELECT FROM spread WHERE part_no = cf_shard(ROW(site, who), 3) AND f @> ROW(site, who));
SELECT cf_rebuild('tenant', 'visitors', shards => 4);

--
-- What follows what, and what all filters are like
--
SELECT source, columns, target, filter, key, target_key, capacity, fpr, max_copies, seed, shards, shard_column, triggers_enabled, bytes > 0 AS has_size
	FROM cf_attachments ORDER BY target::text, filter;
ALTER TABLE hit DISABLE TRIGGER spread_f_cf_open;
SELECT target, triggers_enabled FROM cf_attachments WHERE source = 'hit'::regclass ORDER BY 1;
SELECT cf_rebuild('spread', 'f');
CREATE TABLE loose AS SELECT 1 AS id, cf_agg(i, 20) AS f, NULL::cuckoofilter AS none FROM generate_series(1, 20) i;
SELECT relation, attribute, is_followed, filters, entries, capacity, round(fullest::numeric, 2) AS fullest, fullest_key, over_capacity, rebuild_pays
	FROM cf_filters WHERE relation::text !~ '^by_' ORDER BY relation::text, attribute;
DROP TABLE hit, hits, spread, loose;

--
-- Rights.  Who writes to the table has none on the filters; the table's owner
-- needs them, and must not be subject to the row-level security of the filters.
--
CREATE ROLE regress_upkeep_owner;
CREATE ROLE regress_upkeep_filters;
CREATE ROLE regress_upkeep_writer;
GRANT USAGE, CREATE ON SCHEMA upkeep TO regress_upkeep_owner, regress_upkeep_filters, regress_upkeep_writer;
CREATE TABLE secret (t int, v int);
CREATE TABLE secrets (t int PRIMARY KEY, f cuckoofilter);
ALTER TABLE secret OWNER TO regress_upkeep_owner;
ALTER TABLE secrets OWNER TO regress_upkeep_filters;
SET ROLE regress_upkeep_owner;
SELECT cf_attach('secret', '{v}', 'secrets', 'f', '{t}', 100);
SET ROLE regress_upkeep_filters;
GRANT SELECT, UPDATE ON secrets TO regress_upkeep_owner;
SELECT cf_attach('secret', '{v}', 'secrets', 'f', '{t}', 100);
SET ROLE regress_upkeep_owner;
SELECT cf_attach('secret', '{v}', 'secrets', 'f', '{t}', 100);
RESET ROLE;
GRANT INSERT ON secrets TO regress_upkeep_owner;
SET ROLE regress_upkeep_owner;
SELECT cf_attach('secret', '{v}', 'secrets', 'f', '{t}', 100);
GRANT ALL ON secret TO regress_upkeep_writer;
RESET ROLE;
-- objects of the filters' owner work with the rights of the source's owner
CREATE TABLE who (name text);
GRANT INSERT ON who TO PUBLIC;
CREATE FUNCTION note_who() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO upkeep.who VALUES (current_user); RETURN NEW; END $$;
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON secrets FOR EACH ROW EXECUTE FUNCTION note_who();
SET ROLE regress_upkeep_writer;
INSERT INTO secret VALUES (1, 1), (1, 2), (2, 3);
UPDATE secret SET t = 2 WHERE v = 1;
DELETE FROM secret WHERE v = 2;
SELECT * FROM secrets;
UPDATE secrets SET f = cf_new(1);
SELECT cf_rebuild('secrets', 'f');
SELECT cf_detach('secrets', 'f');
SELECT * FROM cf_drift('secrets', 'f');
SELECT relation, filters FROM cf_filters;
SELECT source, filter FROM cf_attachments WHERE target = 'secrets'::regclass;
SELECT current_user;
RESET ROLE;
SELECT name, count(*) FROM who GROUP BY 1;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('secrets', 'f');
-- the writer's own trigger reaches no filter, nor do others that make no sense
SET ROLE regress_upkeep_writer;
BEGIN;
TRUNCATE secret;
ROLLBACK;
CREATE TABLE mine (t int, v int);
CREATE TRIGGER mine AFTER INSERT OR DELETE ON mine FOR EACH ROW WHEN ('upkeep.secrets'::regclass IS NOT NULL)
	EXECUTE FUNCTION cf_upkeep('f', '{v}', '{t}', '{t}', '100', '0.01', '4', '0', '0', '', '1');
INSERT INTO mine VALUES (1, 1);
CREATE OR REPLACE TRIGGER mine AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION cf_upkeep('f', '{v}', '{t}', '{t}', '100', '0.01', '4', '0', '0', '', '1');
INSERT INTO mine VALUES (1, 1);
CREATE OR REPLACE TRIGGER mine AFTER INSERT OR DELETE ON mine FOR EACH ROW EXECUTE FUNCTION cf_upkeep('f', '{v}', '{t}', '{t}', '100', '0.01', '4', '0', '0', '', '1');
INSERT INTO mine VALUES (1, 1);
CREATE OR REPLACE TRIGGER mine AFTER INSERT OR DELETE ON mine FOR EACH ROW WHEN ('upkeep.secrets'::regclass IS NOT NULL) EXECUTE FUNCTION cf_upkeep('"', 'f', '{', 'x');
INSERT INTO mine VALUES (1, 1);
RESET ROLE;
SELECT count(*) AS filters, sum(missing) AS missing FROM cf_drift('secrets', 'f');
SELECT cf_rebuild('secrets', 'f');
DROP TABLE mine;
-- nor gets anybody past policies, unless the filters are his own
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (t = 1);
GRANT SELECT, INSERT, UPDATE ON secrets TO regress_upkeep_writer;
SET ROLE regress_upkeep_writer;
INSERT INTO secret VALUES (1, 1);
RESET ROLE;
GRANT regress_upkeep_filters TO regress_upkeep_owner;
ALTER TABLE secrets FORCE ROW LEVEL SECURITY;
SET ROLE regress_upkeep_writer;
INSERT INTO secret VALUES (1, 4), (2, 5), (3, 6);
RESET ROLE;
SELECT key, source_rows, missing, entries, stale FROM cf_drift('secrets', 'f');
-- a rebuild is done by the owner, as what the triggers do
SET ROLE regress_upkeep_owner;
SELECT cf_rebuild('secrets', 'f');
RESET ROLE;
ALTER TABLE secrets NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY;
-- who may not read all rows of the source is told nothing of them
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON secret, secrets TO regress_upkeep_writer;
SET ROLE regress_upkeep_writer;
SELECT * FROM cf_drift('secrets', 'f');
RESET ROLE;
ALTER TABLE secret DISABLE ROW LEVEL SECURITY;
-- without them the owner can still detach
REVOKE regress_upkeep_filters FROM regress_upkeep_owner;
REVOKE ALL ON secrets FROM regress_upkeep_owner;
SET ROLE regress_upkeep_owner;
SELECT cf_rebuild('secrets', 'f');
SELECT cf_detach('secrets', 'f');
SELECT cf_detach('secrets', 'f');
RESET ROLE;
DROP TABLE secret, secrets;

--
-- What the tables are called later, and what is in the search_path
--
SET search_path = pg_catalog;
INSERT INTO upkeep.visit VALUES (9000, 2, 9000);
SELECT public.cf_contains(visitors, 9000::int8) FROM upkeep.tenant WHERE id = 2;
SET search_path = upkeep, public;
CREATE FUNCTION pg_temp.cf_upkeep_apply(cuckoofilter) RETURNS cuckoofilter LANGUAGE sql AS 'SELECT NULL::public.cuckoofilter';
ALTER TABLE visit RENAME TO visits;
ALTER TABLE visits ADD COLUMN extra int, DROP COLUMN note;
INSERT INTO visits VALUES (9001, 2, 9001);
ALTER EXTENSION cuckoo_filter SET SCHEMA upkeep;
INSERT INTO visits VALUES (9002, 2, 9002);
ALTER EXTENSION cuckoo_filter SET SCHEMA public;
INSERT INTO visits VALUES (9003, 2, 9003);
SELECT cf_contains_all(visitors, ARRAY[9001, 9002, 9003]::bigint[]) FROM tenant WHERE id = 2;
CREATE SCHEMA upkeep_other;
ALTER TABLE tenant RENAME TO tenants;
ALTER TABLE tenants SET SCHEMA upkeep_other;
INSERT INTO visits VALUES (9005, 2, 9005);
SELECT sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('upkeep_other.tenants', 'visitors');
ALTER TABLE upkeep_other.tenants SET SCHEMA upkeep;
ALTER TABLE tenants RENAME TO tenant;
DROP SCHEMA upkeep_other;
ALTER TABLE tenant RENAME visitors TO seen;
INSERT INTO visits VALUES (9004, 2, 9004);
ALTER TABLE tenant RENAME seen TO visitors;
ALTER TABLE visits RENAME visitor TO who;
INSERT INTO visits VALUES (9004, 2, 9004);
ALTER TABLE visits RENAME who TO visitor;
ALTER TABLE visits RENAME TO visit;
-- a rebuild in the middle of a statement would count its rows twice
CREATE FUNCTION rebuild_now() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.cf_rebuild('upkeep.tenant', 'visitors'); RETURN NULL; END $$;
CREATE TRIGGER now AFTER DELETE ON visit FOR EACH ROW EXECUTE FUNCTION rebuild_now();
DELETE FROM visit WHERE id = 9001;
DROP TRIGGER now ON visit;
DELETE FROM visit WHERE id = 9001;
SELECT sum(missing) AS missing, sum(stale) AS stale FROM cf_drift('tenant', 'visitors');
-- another kind of values needs other filters: no type is changed while they follow
CREATE TABLE kind (x int);
CREATE TABLE kinds (f cuckoofilter);
INSERT INTO kind VALUES (1);
SELECT cf_attach('kind', '{x}', 'kinds', 'f', '{}', 1000);
ALTER TABLE kind ALTER x TYPE bigint;
ALTER TABLE kind DROP x;
SELECT cf_detach('kind');
ALTER TABLE kind ALTER x TYPE text;
SELECT cf_attach('kind', '{x}', 'kinds', 'f', '{}', 1000);
INSERT INTO kind VALUES ('text');
SELECT f @> 'text' AS has_text, f @> '2' AS has_2 FROM kinds;

--
-- Errors
--
\set VERBOSITY default
CREATE TABLE nokey (id int, name text, f cuckoofilter);
CREATE TABLE v (a int, b point, c text COLLATE "C");
CREATE UNIQUE INDEX ON nokey (id) WHERE id > 0;
CREATE VIEW view AS SELECT * FROM v;
CREATE TEMP TABLE temporary (f cuckoofilter);
CREATE UNLOGGED TABLE unlogged (f cuckoofilter);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{a}', 100, target_key => '{id}');
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{c}', 100, target_key => '{id}');
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{c}', 100, target_key => '{name}');
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{a}', 100, target_key => '{}');
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{a,a}', 100);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{{a},{b}}', 100);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{NULL}', 100);
SELECT cf_attach('v', '{A}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{ctid}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{a}', 'nokey', 'g', '{}', 100);
SELECT cf_attach('v', '{a}', 'nokey', 'name', '{}', 100);
SELECT cf_attach('v', '{b}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{}', 0);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{}', NULL);
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{}', 100, fpr => 1);
SELECT cf_attach('view', '{a}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{a}', 'view', 'f', '{}', 100);
SELECT cf_attach('nokey', '{id}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('v', '{a}', 'temporary', 'f', '{}', 100);
SELECT cf_attach('v', '{a}', 'unlogged', 'f', '{}', 100);
SELECT cf_attach('visit', '{visitor}', 'tenant', 'visitors', '{tenant}', 100, target_key => '{id}');
SELECT cf_attach(0, '{visitor}', 'tenant', 'visitors', '{tenant}', 100);
SELECT cf_detach('nokey', 'f');
SELECT cf_rebuild('nokey', 'f');
SELECT cf_rebuild(NULL, 'f');
SELECT * FROM cf_drift('nokey', 'f');
SELECT cf_upkeep();
SELECT cf_guard();
SELECT cf_upkeep_apply(NULL);
SELECT cf_upkeep_store(f, true) FROM pairs;
SELECT cf_detach(NULL);
SELECT cf_detach('v');
SELECT cf_detach('v', 'f');
CREATE TRIGGER odd AFTER INSERT ON v FOR EACH ROW EXECUTE FUNCTION cf_upkeep('x');
INSERT INTO v VALUES (1);
CREATE OR REPLACE TRIGGER odd AFTER INSERT ON v FOR EACH ROW EXECUTE FUNCTION cf_guard();
INSERT INTO v VALUES (1);
CREATE OR REPLACE TRIGGER odd AFTER INSERT ON v FOR EACH ROW EXECUTE FUNCTION cf_guard('f');
INSERT INTO v VALUES (1);
CREATE TABLE parent (a int);
CREATE TABLE child () INHERITS (parent);
SELECT cf_attach('parent', '{a}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('child', '{a}', 'nokey', 'f', '{}', 100);
SELECT cf_attach('part_low', '{v}', 'nokey', 'f', '{}', 100);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT cf_attach('v', '{a}', 'nokey', 'f', '{}', 100);
ROLLBACK;
BEGIN READ ONLY;
SELECT count(*) FROM cf_drift('tenant', 'visitors') WHERE false;
ROLLBACK;
-- temporary tables among themselves
DROP TRIGGER odd ON v;
CREATE TEMP TABLE temporary_source AS SELECT 1 AS x;
SELECT cf_attach('temporary_source', '{x}', 'temporary', 'f', '{}', 100);
INSERT INTO temporary_source VALUES (2);
SELECT f @> 2 AS has_2 FROM temporary;

-- filters are dropped with their triggers, and only if that is said
DROP TABLE tenant;
DROP TABLE tenant CASCADE;
INSERT INTO visit VALUES (1, 1, 1);
-- and a table with those of its filters
SELECT count(*) AS guards FROM pg_trigger WHERE tgrelid = 'visitors'::regclass AND tgname LIKE 'cf_guard%';
DROP TABLE visit;
SELECT count(*) AS guards FROM pg_trigger WHERE tgrelid = 'visitors'::regclass AND tgname LIKE 'cf_guard%';
UPDATE visitors SET tenants = NULL;
DROP OWNED BY regress_upkeep_owner, regress_upkeep_filters, regress_upkeep_writer;
DROP ROLE regress_upkeep_owner, regress_upkeep_filters, regress_upkeep_writer;
\set VERBOSITY terse
DROP SCHEMA upkeep CASCADE;
