# Tables that filters follow, in all shapes, to be carried through whatever a test
# does to a database, and to be written to afterwards.

package FollowedTables;

use strict;
use warnings;

use Test::More;

use Exporter 'import';
our @EXPORT = qw(create_followed followed_state followed_go_on);

# Names that have to be quoted, partitions of other layouts, a key that cascades,
# shards, a type without an equality in pg_catalog, a schema for the extension.
sub create_followed
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		CREATE SCHEMA ext;
		CREATE EXTENSION cuckoo_filter SCHEMA ext;
		CREATE SCHEMA "a.b ""c";
		SET search_path = "a.b ""c", ext;
		CREATE TABLE "So'urce" (tenant text, "va,lue" bigint, other date);
		CREATE TABLE "Target" (tenant text PRIMARY KEY, "Filter" cuckoofilter, "all" cuckoofilter);
		INSERT INTO "So'urce" SELECT 'te\nant ' || i % 10, i, date '2000-01-01' + i FROM generate_series(1, 20000) i;
		SELECT cf_attach('"So''urce"', '{"va,lue"}', '"Target"', 'Filter', '{tenant}', 1e5 / 3, 0.001, 3, -7);
		SELECT cf_attach('"So''urce"', '{"va,lue",other}', '"Target"', 'all', '{tenant}', 10000);
		CREATE TABLE part (k int, v uuid) PARTITION BY HASH (v);
		CREATE TABLE part_0 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE part_1 (gone int, v uuid, k int);
		ALTER TABLE part_1 DROP gone;
		ALTER TABLE part ATTACH PARTITION part_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		CREATE TABLE whole (f cuckoofilter);
		SELECT cf_attach('part', '{v}', 'whole', 'f', '{}', 10000);
		INSERT INTO part SELECT i, md5(i::text)::uuid FROM generate_series(1, 5000) i;
		-- the filters' table is partitioned, and a parent of the rows
		CREATE TABLE site (id int PRIMARY KEY, hits cuckoofilter) PARTITION BY LIST (id);
		CREATE TABLE site_1 PARTITION OF site FOR VALUES IN (1, 2, 3);
		CREATE TABLE site_2 PARTITION OF site DEFAULT;
		CREATE TABLE hit (site int REFERENCES site ON DELETE CASCADE, visitor int, note text);
		INSERT INTO site SELECT generate_series(1, 6);
		INSERT INTO hit SELECT 1 + i % 6, i FROM generate_series(1, 3000) i;
		SELECT cf_attach('hit', '{visitor}', 'site', 'hits', '{site}', 5000, target_key => '{id}');
		-- shards
		CREATE TABLE shards (site int, shard int, f cuckoofilter, PRIMARY KEY (site, shard));
		SELECT cf_attach('hit', '{visitor}', 'shards', 'f', '{site}', 10000, shards => 8, shard_column => 'shard');
	});
	return;
}

my @columns = (
	[ '"Target"', 'Filter' ], [ '"Target"', 'all' ], [ 'whole', 'f' ], [ 'site', 'hits' ], [ 'shards', 'f' ]);

# What there is: triggers, filters, and what filters lack or have too much.
sub followed_state
{
	my ($node, $db) = @_;

	return $node->safe_psql($db, q{
		SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1;
		SET search_path = "a.b ""c", ext;
		SELECT tenant, md5("Filter"::bytea), md5("all"::bytea) FROM "Target" ORDER BY 1;
		SELECT md5(f::bytea) FROM whole;
		SELECT id, md5(hits::bytea) FROM site ORDER BY 1;
		SELECT site, shard, md5(f::bytea) FROM shards ORDER BY 1, 2;}
		. join(';', map { "SELECT 'drift', sum(missing), sum(stale), sum(source_rows) FROM cf_drift('$_->[0]', '$_->[1]')" } @columns));
}

# Statements on all of them; what is missing or stale is named.
sub followed_go_on
{
	my ($node, $db, $label) = @_;
	my $drift = 'SELECT what, sum(missing), sum(stale) FROM ('
	  . join(' UNION ALL ', map { "SELECT '$_->[0]' AS what, missing, stale FROM cf_drift('$_->[0]', '$_->[1]')" } @columns)
	  . ') d GROUP BY what HAVING sum(missing) > 0 OR sum(stale) > 0';

	is($node->safe_psql($db, q{
			SET search_path = "a.b ""c", ext;
			INSERT INTO "So'urce" VALUES ('new', 1, '2001-01-01'), ('te\nant 1', 30000, '2002-02-02');
			UPDATE "So'urce" SET tenant = 'moved' WHERE "va,lue" % 7 = 0;
			DELETE FROM "So'urce" WHERE "va,lue" % 11 = 0;
			DELETE FROM part WHERE k % 2 = 0;
			INSERT INTO part_0 SELECT -1, v FROM part_0 LIMIT 10;
			UPDATE part SET v = md5(v::text)::uuid WHERE k % 5 = 1;
			UPDATE hit SET site = 3, visitor = -visitor WHERE visitor % 9 = 0;
			INSERT INTO hit SELECT 2, i FROM generate_series(50000, 50100) i;
			DELETE FROM site WHERE id = 5;} . $drift),
		'', "$label: follows on");
	is($node->safe_psql($db, q{
			SET search_path = "a.b ""c", ext;
			TRUNCATE part, hit;
			SELECT cf_count(f) FROM whole UNION ALL SELECT sum(cf_count(f)) FROM shards;
			SELECT cf_rebuild('"Target"', 'all', capacity => 20000);} . $drift),
		"0\n0\n12", "$label: TRUNCATE and a rebuild");
	# what stands guard over the filters
	for my $statement ('UPDATE "Target" SET "Filter" = NULL', q{UPDATE "Target" SET tenant = tenant || 'x'}, 'DELETE FROM "Target"', 'TRUNCATE "Target"',
		'DROP TABLE "Target"', 'ALTER TABLE "Target" DROP "Filter"')
	{
		my ($status, $out, $err) = $node->psql($db, qq{SET search_path = "a.b ""c", ext; $statement});

		ok($status != 0 && $err =~ /cf_rebuild|cf_detach|CASCADE/, "$label: $statement is refused, with a way to do it") or diag($err);
	}
	is($node->safe_psql($db, q{
			SET search_path = "a.b ""c", ext;
			SET client_min_messages = error;
			ALTER TABLE "Target" RENAME TO other;
			ALTER TABLE "So'urce" SET SCHEMA ext;
			INSERT INTO ext."So'urce" VALUES ('new', 2, '2001-01-01');
			SELECT sum(missing), sum(stale) FROM cf_drift('other', 'Filter');
			-- a rebuild tells a copy what goes with what
			SELECT cf_rebuild('other', 'Filter') > 0 AND cf_rebuild('site', 'hits') > 0;
			DROP TABLE ext."So'urce";
			UPDATE other SET "Filter" = NULL;
			DROP TABLE other;
			SELECT cf_detach('whole', 'f'), cf_detach('shards', 'f');
			DROP TABLE site CASCADE;
			INSERT INTO hit VALUES (1, 1);
			SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal}),
		"0|0\nt\n|\n0", "$label: renamed, dropped, detached");
	return;
}

1;
