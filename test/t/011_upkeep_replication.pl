# Tables that filters follow and logical replication: a subscriber that keeps
# filters of its own of what is replicated, the first copy and changes, streamed,
# prepared and of partitions; one that gets the filters with the tables; and a
# physical standby.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
$publisher->append_conf('postgresql.conf', q{
	fsync = off
	max_prepared_transactions = 10
	logical_decoding_work_mem = 64kB
});
$publisher->start;
my $major = int($publisher->safe_psql('postgres', 'SHOW server_version_num') / 10000);

sub subscriber
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', q{
		fsync = off
		max_prepared_transactions = 10
		max_logical_replication_workers = 10
		max_worker_processes = 20
	});
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');
	return $node;
}

my $tables = q{
	CREATE TABLE item (id int PRIMARY KEY, k int, v int, note text);
	CREATE TABLE part (id int, k int, v int, PRIMARY KEY (id, v)) PARTITION BY RANGE (v);
	CREATE TABLE part_0 PARTITION OF part FOR VALUES FROM (0) TO (100);
	CREATE TABLE part_1 (v int NOT NULL, gone int, k int, id int NOT NULL);
	ALTER TABLE part_1 DROP gone;
	ALTER TABLE part ATTACH PARTITION part_1 FOR VALUES FROM (100) TO (200);
};
# id and value are no pair twice, and none is taken for another: what is deleted
# is gone
my $attach = q{
	CREATE TABLE items (k int PRIMARY KEY, f cuckoofilter, e cuckoofilter);
	CREATE TABLE parts (k int PRIMARY KEY, f cuckoofilter);
	SELECT cf_attach('item', '{v}', 'items', 'f', '{k}', 50000);
	SELECT cf_attach('item', '{id,v}', 'items', 'e', '{k}', 50000, 1e-9);
	SELECT cf_attach('part', '{id,v}', 'parts', 'f', '{k}', 50000, 1e-9);
};
my $is_exact = q{
	SELECT 'item lacks', i.* FROM item i LEFT JOIN items USING (k) WHERE (f @> v AND e @> ROW(id, v)) IS NOT TRUE
	UNION ALL SELECT 'part lacks', p.*, NULL FROM part p LEFT JOIN parts USING (k) WHERE f @> ROW(id, v) IS NOT TRUE
	UNION ALL SELECT 'items holds', cf_count(e)::int, k, n, NULL FROM (SELECT k, count(*)::int AS n FROM item GROUP BY k) i FULL JOIN items USING (k) WHERE coalesce(n, 0) <> coalesce(cf_count(e), 0)
	UNION ALL SELECT 'parts holds', cf_count(f)::int, k, n, NULL FROM (SELECT k, count(*)::int AS n FROM part GROUP BY k) i FULL JOIN parts USING (k) WHERE coalesce(n, 0) <> coalesce(cf_count(f), 0)
	LIMIT 5};
my $rows = 'SELECT (SELECT count(*) FROM item), (SELECT sum(v) FROM item), (SELECT count(*) FROM part), (SELECT sum(v) FROM part)';

# What has to fire for what is replicated.
my $fire_always = q{
	DO $$ DECLARE t record; BEGIN
		FOR t IN SELECT tgrelid::regclass AS relation, tgname FROM pg_trigger
				WHERE tgparentid = 0 AND NOT tgisinternal AND tgrelid IN ('item'::regclass, 'part'::regclass, 'part_0'::regclass, 'part_1'::regclass) LOOP
			EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t.relation, t.tgname);
		END LOOP;
	END $$};

$publisher->safe_psql('postgres', $tables . q{
	INSERT INTO item SELECT i, i % 7, i % 50 FROM generate_series(1, 2000) i;
	INSERT INTO part SELECT i, i % 5, i % 200 FROM generate_series(1, 2000) i;
	CREATE PUBLICATION by_parts FOR TABLE item, part;
	CREATE PUBLICATION by_root FOR TABLE item, part WITH (publish_via_partition_root = true);
});

my @subscribers;
sub subscribe
{
	my ($node, $publication, $options) = @_;
	my $name = $node->name;

	$node->safe_psql('postgres', "CREATE SUBSCRIPTION $name CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION $publication WITH ($options)");
	$node->wait_for_subscription_sync($publisher, $name);
	push @subscribers, $node;
	return;
}

# attached before there are rows, and the first copy is followed, too
my $early = subscriber('early');
$early->safe_psql('postgres', "$tables; $attach; $fire_always");
subscribe($early, 'by_parts', 'streaming = ' . ($major >= 16 ? 'parallel' : 'on'));

# attached when there are rows, and told what is missing
my $late = subscriber('late');
$late->safe_psql('postgres', $tables);
# (not streamed: with triggers of rows, 18 gets stuck over what it streams to
# partitions through their root, whatever the triggers do)
subscribe($late, 'by_root', 'two_phase = true, streaming = off');
my ($status, $out, $err) = $late->psql('postgres', $attach);
is($status, 0, 'a subscriber attaches filters to what is replicated');
like($err, qr/WARNING: .*(replica|subscri)/i, 'and is warned that they follow nothing replicated as yet');
$late->safe_psql('postgres', $fire_always);

# the filters come with the tables
my $copied = subscriber('copied');
$publisher->safe_psql('postgres', "CREATE EXTENSION cuckoo_filter; $attach; ALTER PUBLICATION by_parts ADD TABLE items, parts");
$copied->safe_psql('postgres', "$tables; $attach");
subscribe($copied, 'by_parts', 'streaming = on');

sub all_exact
{
	my ($label) = @_;
	my $expected = $publisher->safe_psql('postgres', $rows);

	is($publisher->safe_psql('postgres', $is_exact), '', "$label: the publisher");
	for my $node (@subscribers)
	{
		my $name = $node->name;

		$publisher->wait_for_catchup($name);
		is($node->safe_psql('postgres', $rows), $expected, "$label: the rows are at $name");
		is($node->safe_psql('postgres', $is_exact), '', "$label: $name is exact");
	}
	return;
}

all_exact('first copy');
$publisher->safe_psql('postgres', q{
	INSERT INTO item SELECT i, i % 9, i FROM generate_series(3001, 3100) i;
	UPDATE item SET v = v + 1 WHERE id % 3 = 0;
	UPDATE item SET k = k + 1 WHERE id % 5 = 0;
	UPDATE item SET note = 'x' WHERE id % 7 = 0;
	DELETE FROM item WHERE id % 11 = 0;
	UPDATE item SET id = id + 10000 WHERE id % 13 = 0;
	INSERT INTO item VALUES (1, 1, 1), (2, 2, 2), (50000, 100, 1) ON CONFLICT (id) DO UPDATE SET v = excluded.v, k = 3;
	UPDATE part SET v = (v + 100) % 200 WHERE id % 3 = 0;
	DELETE FROM part_1 WHERE id % 4 = 0;
	INSERT INTO part_0 VALUES (9000, 1, 1), (9001, 77, 2);
	MERGE INTO part USING (VALUES (9000, 150), (9001, 2), (9100, 5)) s (i, w) ON id = i WHEN MATCHED AND w = 2 THEN DELETE
		WHEN MATCHED THEN UPDATE SET v = w WHEN NOT MATCHED THEN INSERT VALUES (i, 3, w)});
all_exact('changes');

# a transaction that is undone in parts, and is streamed, since it is large
$publisher->safe_psql('postgres', q{
	BEGIN;
	INSERT INTO item SELECT i, i % 9, i FROM generate_series(20001, 20600) i;
	SAVEPOINT a;
	DELETE FROM item WHERE id > 20200;
	INSERT INTO part SELECT i, i % 9, i % 200 FROM generate_series(20001, 20600) i;
	SAVEPOINT b;
	UPDATE item SET v = v + 1, k = 77;
	ROLLBACK TO b;
	UPDATE part SET v = 199 - v WHERE id > 20300;
	RELEASE a;
	SAVEPOINT c;
	UPDATE part SET k = 5 WHERE id > 20500;
	ROLLBACK TO c;
	COMMIT;
	BEGIN;
	INSERT INTO item SELECT i, i % 9, i FROM generate_series(30001, 30600) i;
	DELETE FROM part;
	ROLLBACK});
all_exact('a large transaction');

# one that is prepared first
$publisher->safe_psql('postgres', q{
	BEGIN; INSERT INTO item SELECT i, i % 9, i FROM generate_series(40001, 40500) i; UPDATE item SET k = 4 WHERE k = 5; PREPARE TRANSACTION 'one';
	BEGIN; INSERT INTO part SELECT i, i % 9, i % 200 FROM generate_series(40001, 40500) i; PREPARE TRANSACTION 'two';
	COMMIT PREPARED 'one';
	ROLLBACK PREPARED 'two'});
all_exact('prepared transactions');

$publisher->safe_psql('postgres', 'TRUNCATE item; INSERT INTO item VALUES (1, 1, 1), (2, 2, 2)');
all_exact('TRUNCATE');

# What a subscriber does itself is followed, too, and a rebuild leaves triggers
# that fire for what is replicated.
$late->safe_psql('postgres', q{
	SELECT cf_rebuild('items', 'f', capacity => 60000), cf_rebuild('items', 'e', seed => 3), cf_rebuild('parts', 'f')});
$publisher->safe_psql('postgres', q{INSERT INTO item SELECT i, i % 9, i FROM generate_series(100, 300) i; UPDATE part SET k = 8 WHERE id % 5 = 1; DELETE FROM part WHERE id % 9 = 1});
all_exact('after a rebuild');
$late->safe_psql('postgres', q{INSERT INTO item VALUES (-1, 1, 1); UPDATE item SET v = v + 1 WHERE id < 0; DELETE FROM part_1 WHERE id % 17 = 2});
is($late->safe_psql('postgres', $is_exact), '', 'local changes at a subscriber: exact');

# A subscriber whose triggers do not fire is told by cf_drift() what is missing.
my $plain = subscriber('plain');
$plain->safe_psql('postgres', "$tables; $attach");
subscribe($plain, 'by_root', 'streaming = off');
$publisher->safe_psql('postgres', 'INSERT INTO item VALUES (60000, 1, 60000)');
$publisher->wait_for_catchup('plain');
cmp_ok($plain->safe_psql('postgres', q{SELECT sum(missing) FROM cf_drift('items', 'f')}), '>', 0, 'triggers that do not fire: cf_drift() tells');
$plain->safe_psql('postgres', q{SELECT cf_rebuild('items', 'f'), cf_rebuild('items', 'e'), cf_rebuild('parts', 'f')});
is($plain->safe_psql('postgres', $is_exact), '', 'and cf_rebuild() mends it');

# a physical standby, where nothing can be written
$publisher->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($publisher, 'base', has_streaming => 1);
$standby->start;
$publisher->safe_psql('postgres', 'INSERT INTO item SELECT i, i % 9, i FROM generate_series(70000, 70300) i; DELETE FROM part WHERE id % 2 = 0');
$publisher->wait_for_catchup($standby, 'replay', $publisher->lsn('write'));
is($standby->safe_psql('postgres', $is_exact), '', 'standby: exact');
is($standby->safe_psql('postgres', q{SELECT sum(missing), sum(stale) FROM cf_drift('items', 'e')}), '0|0', 'standby: cf_drift()');

$_->stop for $standby, @subscribers, $publisher;
done_testing();
