# Eight clients insert, update, delete, roll back, truncate and rebuild at
# random, at each level of isolation.  At no moment a value of a table may be
# missing in its filter: clients look while the others write, each in one
# snapshot, and everything is looked at in each pause.  Then the server dies under
# them, again and again: after each crash nothing may be missing, and filters of
# rows that are all different hold what is there and nothing else.
#
# CUCKOO_TEST_UPKEEP_SECONDS is how long, in rounds of at most a minute; 12 if it
# is not set.  CUCKOO_TEST_CRASHES is the number of crashes, 3 if it is not set.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

use ServerCrash;

my $seconds = $ENV{CUCKOO_TEST_UPKEEP_SECONDS} || 12;
my $crashes = $ENV{CUCKOO_TEST_CRASHES} || 3;
my $clients = 8;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	fsync = off
	max_wal_size = 1GB
	deadlock_timeout = 50ms
	jit = off
	log_statement = none
	restart_after_crash = on
	log_min_error_statement = panic
});
$node->start;

# Few values and few tenants, so that values come and go again and again, many
# of them with several copies.
$node->safe_psql('postgres', q{
	CREATE EXTENSION cuckoo_filter;
	CREATE TABLE source (tenant int, v int, t text);
	CREATE INDEX ON source (tenant, v);
	CREATE TABLE target (tenant int PRIMARY KEY, f cuckoofilter, once cuckoofilter, twice cuckoofilter) WITH (fillfactor = 50);
	CREATE TABLE by_text (t text PRIMARY KEY, f cuckoofilter);
	SELECT cf_attach('source', '{v}', 'target', 'f', '{tenant}', 20000);
	SELECT cf_attach('source', '{v,t}', 'target', 'twice', '{tenant}', 20000, 0.0001, 2);
	SELECT cf_attach('source', '{tenant}', 'by_text', 'f', '{t}', 20000);
	CREATE TABLE part (k int, v bigint) PARTITION BY RANGE (v);
	CREATE TABLE part_0 PARTITION OF part FOR VALUES FROM (0) TO (300);
	CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (300) TO (600);
	CREATE INDEX ON part (v);
	CREATE TABLE whole (f cuckoofilter, once cuckoofilter);
	SELECT cf_attach('part', '{v}', 'whole', 'f', '{}', 50000);
	SELECT cf_attach('part', '{v}', 'whole', 'once', '{}', 50000, 0.01, 1);
	-- no value twice, and none that would be taken for another one: what is
	-- deleted is gone
	CREATE TABLE item (id serial PRIMARY KEY, tenant int, v int);
	CREATE INDEX ON item (tenant);
	CREATE TABLE items (tenant int PRIMARY KEY, f cuckoofilter);
	SELECT cf_attach('item', '{id,v}', 'items', 'f', '{tenant}', 50000, 1e-9);
	-- one set of all of them, which all clients write to
	CREATE TABLE hot (shard int PRIMARY KEY, f cuckoofilter) WITH (fillfactor = 50);
	SELECT cf_attach('item', '{id,v}', 'hot', 'f', '{}', 200000, 1e-9, shards => 16);
	INSERT INTO source SELECT i % 30, i % 301, 't' || i % 7 FROM generate_series(1, 3000) i;
	INSERT INTO part SELECT i, i % 600 FROM generate_series(1, 2000) i;

	-- an error if anything is missing; all in one snapshot
	CREATE FUNCTION look() RETURNS void LANGUAGE plpgsql STABLE AS $$
	DECLARE
		lost record;
	BEGIN
		SELECT what, key, missing INTO lost FROM (
			SELECT 'f' AS what, * FROM cf_drift('target', 'f')
			UNION ALL SELECT 'twice', * FROM cf_drift('target', 'twice')
			UNION ALL SELECT 'by_text', * FROM cf_drift('by_text', 'f')
			UNION ALL SELECT 'whole', * FROM cf_drift('whole', 'f')
			UNION ALL SELECT 'once', * FROM cf_drift('whole', 'once')
			UNION ALL SELECT 'items', * FROM cf_drift('items', 'f')
			UNION ALL SELECT 'hot', * FROM cf_drift('hot', 'f')) d WHERE missing > 0;
		IF FOUND THEN
			RAISE 'missing: %', lost;
		END IF;
		-- found without cf_drift()
		IF EXISTS (SELECT FROM source s LEFT JOIN target t USING (tenant) WHERE t.f @> s.v IS NOT TRUE) THEN
			RAISE 'values are missing';
		END IF;
		-- neither missing nor stale
		SELECT tenant, n, cf_count(f) AS entries INTO lost
		FROM (SELECT tenant, count(*) AS n FROM item GROUP BY tenant) i FULL JOIN items USING (tenant)
		WHERE coalesce(n, 0) <> coalesce(cf_count(f), 0);
		IF FOUND THEN
			RAISE 'not exact: %', lost;
		END IF;
		SELECT shard, n, cf_count(f) AS entries INTO lost
		FROM (SELECT cf_shard(ROW(id, v), 16) AS shard, count(*) AS n FROM item GROUP BY 1) i FULL JOIN hot USING (shard)
		WHERE coalesce(n, 0) <> coalesce(cf_count(f), 0);
		IF FOUND THEN
			RAISE 'not exact: shard %', lost;
		END IF;
	END $$;
});

my $dir = PostgreSQL::Test::Utils::tempdir();
my $begin = q{
\set kind random(1, 5)
\if :kind = 1
BEGIN ISOLATION LEVEL REPEATABLE READ;
\elif :kind = 2
BEGIN ISOLATION LEVEL SERIALIZABLE;
\else
BEGIN;
\endif
};
my $end = q{
\set end random(1, 4)
\if :end = 1
ROLLBACK;
\else
COMMIT;
\endif
};
my $variables = q{
\set tenant random(0, 29)
\set other random(0, 29)
\set v random(0, 300)
\set p random(0, 599)
\set n random(1, 30)
};

# name, weight, script
my @scripts = (
	[ 'insert', 20, q{
INSERT INTO source SELECT (:tenant + i * i) % 30, (:v + i * 7) % 301, 't' || i % 7 FROM generate_series(1, :n) i;
} ],
	[ 'delete', 18, q{
DELETE FROM source WHERE ctid = ANY (ARRAY(SELECT ctid FROM source WHERE tenant = :tenant AND v >= :v LIMIT :n));
} ],
	[ 'delete_one', 5, q{
DELETE FROM source WHERE tenant = :tenant AND v = :v;
INSERT INTO source VALUES (:tenant, :v, 't1');
} ],
	[ 'update', 12, $begin . q{
UPDATE source SET v = (v + :n) % 301 WHERE tenant = :tenant AND v BETWEEN :v AND :v + 20;
} . $end ],
	[ 'move', 8, $begin . q{
UPDATE source SET tenant = :other, t = 't' || :n % 7 WHERE tenant = :tenant AND v < :n;
} . $end ],
	[ 'mixed', 12, $begin . q{
INSERT INTO source VALUES (:tenant, :v, 't1'), (:other, :v, 't2');
SAVEPOINT s;
DELETE FROM source WHERE v = :v AND tenant IN (:tenant, :other);
UPDATE source SET v = :v WHERE tenant = :other AND v = (:v + 1) % 301;
\set back random(0, 1)
\if :back
ROLLBACK TO s;
\endif
INSERT INTO source VALUES (:other, :v, 't1');
} . $end ],
	[ 'part', 9, $begin . q{
INSERT INTO part SELECT i, (:p + i) % 600 FROM generate_series(1, :n) i;
DELETE FROM part WHERE v BETWEEN :p AND :p + :n;
UPDATE part SET v = (v + 200) % 600 WHERE v BETWEEN :p - :n AND :p - 5;
} . $end ],
	[ 'direct', 5, $begin . q{
INSERT INTO part_0 SELECT i, (:p + i) % 300 FROM generate_series(1, :n) i;
DELETE FROM part_1 WHERE v BETWEEN :p AND :p + 30;
} . $end ],
	[ 'items', 8, $begin . q{
INSERT INTO item (tenant, v) SELECT (:tenant + i) % 30, :v FROM generate_series(1, :n) i;
UPDATE item SET v = v + 1, tenant = :other WHERE tenant = :tenant AND v % 7 = :n % 7;
} . $end ],
	[ 'fewer_items', 4, q{
DELETE FROM item WHERE id IN (SELECT id FROM item WHERE tenant = :tenant ORDER BY id LIMIT 2 * :n);
} ],
	[ 'merge_items', 4, $begin . q{
MERGE INTO item USING (SELECT (SELECT min(id) FROM item WHERE tenant = :tenant) + i * 3 AS id FROM generate_series(0, :n) i) s ON item.id = s.id
	WHEN MATCHED AND v % 3 = 0 THEN DELETE
	WHEN MATCHED THEN UPDATE SET v = item.v + 1, tenant = :other
	WHEN NOT MATCHED THEN INSERT (tenant, v) VALUES (:tenant, :v);
} . $end ],
	[ 'same', 3, q{
UPDATE source SET t = t WHERE tenant = :tenant;
} ],
	[ 'truncate', 1, q{
\set often random(1, 5)
BEGIN;
\if :often = 1
TRUNCATE part_1;
\else
DELETE FROM part_1 WHERE v > 300 + :p / 2;
\endif
INSERT INTO part SELECT i, (:p + i) % 600 FROM generate_series(1, :n) i;
} . $end ],
	[ 'rebuild', 2, q{
BEGIN;
SELECT cf_rebuild('target', 'f');
} . $end ],
	[ 'rebuild_items', 1, "SELECT cf_rebuild('items', 'f');" ],
	[ 'rebuild_shards', 1, "SELECT cf_rebuild('hot', 'f', seed => :n);" ],
	[ 'rebuild_part', 2, q{
\set copies random(2, 4)
BEGIN;
SELECT cf_rebuild('whole', 'f', capacity => 50000 + :n, max_copies => :copies, seed => :n);
} . $end ],
	[ 'look', 2, 'SELECT look();' ]);

my @files;
for my $script (@scripts)
{
	append_to_file("$dir/$script->[0].sql", $variables . $script->[2]);
	push @files, '-f', "$dir/$script->[0].sql\@$script->[1]";
}

my $before = $node->safe_psql('postgres', "SELECT sum(('x' || substr(md5(f::bytea), 1, 8))::bit(32)::bigint) FROM target");
for (my $round = 1, my $left = $seconds; $left > 0; $round++)
{
	my $length = $left < 60 ? $left : 60;
	my ($out, $err) = ('', '');

	# what cannot be serialized, or is in a deadlock, is tried again
	$node->run_log([
			'pgbench', '-n', '-h', $node->host, '-p', $node->port,
			'-c', $clients, '-j', '2', '-T', $length, '--max-tries=0',
			"--random-seed=$round", @files, 'postgres'
		],
		'>', \$out, '2>', \$err);
	my ($done) = $out =~ /^number of transactions actually processed: (\d+)/m;
	ok($? == 0 && $err !~ /ERROR|aborted/ && defined $done && $done > 0,
		"round $round of $length seconds: no client failed") or diag("$out\n$err");
	diag("round $round: " . ($done // 'no') . ' transactions') if $seconds > 60;

	is($node->safe_psql('postgres', q{
			SELECT look();
			SELECT complaint FROM (SELECT f FROM target UNION ALL SELECT twice FROM target UNION ALL SELECT f FROM by_text
				UNION ALL SELECT f FROM whole UNION ALL SELECT once FROM whole) x, cf_check(f) AS complaint}),
		'', "round $round: nothing is missing, all filters are sound");
	$left -= $length;
	last if $? != 0 || !defined $done;
}
isnt($node->safe_psql('postgres', "SELECT sum(('x' || substr(md5(f::bytea), 1, 8))::bit(32)::bigint) FROM target"),
	$before, 'filters have changed');

# Crashes
for my $crash (1 .. $crashes)
{
	my $load = start_load($node, '--client', $clients, '--jobs=2', '--max-tries=0', "--random-seed=$crash", @files);
	my $done = $node->safe_psql('postgres', 'SELECT max(id) FROM item');

	$node->poll_query_until('postgres', "SELECT max(id) > $done + 500 FROM item")
	  or BAIL_OUT('the clients add nothing');
	usleep(int(rand(500_000)));
	crash_server($node, $crash, $load);
	is($node->safe_psql('postgres', 'SELECT look()'), '', "crash $crash: nothing is missing, and nothing stale");
}

# Rebuilt, nothing is stale either.
is($node->safe_psql('postgres', q{
		DO $$ BEGIN
			PERFORM cf_rebuild('target', 'f'), cf_rebuild('target', 'twice'), cf_rebuild('by_text', 'f'), cf_rebuild('whole', 'f'), cf_rebuild('whole', 'once');
		END $$;
		SELECT sum(missing), sum(stale) FROM (SELECT * FROM cf_drift('target', 'f') UNION ALL SELECT * FROM cf_drift('by_text', 'f')) d}),
	'0|0', 'rebuilt filters are exact');

$node->stop;
done_testing();
