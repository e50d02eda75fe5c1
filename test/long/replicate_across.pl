# Filters go from one major version to another by logical replication, in both
# directions, in text and in binary form.
#
# CUCKOO_OLD_INSTALL is the prefix of the old server, with the extension
# installed; the new one is that of this test.  test/check.sh --all sets it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'CUCKOO_OLD_INSTALL is not set: see test/check.sh --all'
  unless $ENV{CUCKOO_OLD_INSTALL};

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{CUCKOO_OLD_INSTALL});
my $new = PostgreSQL::Test::Cluster->new('new');
for my $node ($old, $new)
{
	# not allows_streaming: it sets what the old server does not know
	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', "wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');
}

my $prints = 'SELECT id, md5(filter::bytea), cf_count(filter) FROM filters ORDER BY id';
for my $way ([ 'from_old', $old, $new ], [ 'from_new', $new, $old ])
{
	my ($name, $from, $to) = @$way;

	for my $binary (qw(false true))
	{
		my $database = "${name}_$binary";
		my $label = "$name, binary = $binary";

		for my $node ($from, $to)
		{
			$node->safe_psql('postgres', "CREATE DATABASE $database");
			$node->safe_psql($database, 'CREATE EXTENSION cuckoo_filter; CREATE TABLE filters (id int PRIMARY KEY, filter cuckoofilter)');
		}
		# lists and tables, in the row and out of it, of numbers, texts and hashes
		$from->safe_psql($database, q{
			INSERT INTO filters SELECT n, cf_agg(g, 200000) FROM unnest(ARRAY[1, 20, 1000, 100000]) n, generate_series(1, n) g GROUP BY n;
			INSERT INTO filters SELECT n + 1, cf_bag_agg('word ' || g % 777, 5000, 0.001, 3, 7) FROM unnest(ARRAY[1, 20, 1000]) n, generate_series(1, n) g GROUP BY n;
			INSERT INTO filters SELECT n + 2, cf_hash_agg(cf_hash(g), 20000) FROM unnest(ARRAY[1, 20, 10000]) n, generate_series(1, n) g GROUP BY n;
			INSERT INTO filters VALUES (5, cf_new(10)), (6, NULL)});
		$from->safe_psql($database, "CREATE PUBLICATION $database FOR TABLE filters");
		$to->safe_psql($database, "CREATE SUBSCRIPTION $database CONNECTION 'host="
			  . $from->host . ' port=' . $from->port . " dbname=$database' PUBLICATION $database WITH (binary = $binary)");
		$to->wait_for_subscription_sync($from, $database, $database);
		is($to->safe_psql($database, $prints), $from->safe_psql($database, $prints), "$label: first copy");
		$from->safe_psql($database, q{
			UPDATE filters SET filter = cf_add_hashes(filter, ARRAY[cf_hash(-1), cf_hash(-2)]) WHERE id NOT IN (5, 6);
			UPDATE filters SET filter = cf_remove_all(filter, ARRAY[1, 2, 3]) WHERE id IN (20, 1000, 100000);
			UPDATE filters SET filter = cf_add(filter, 1) WHERE id = 5;
			DELETE FROM filters WHERE id = 1});
		$from->wait_for_catchup($database);
		is($to->safe_psql($database, $prints), $from->safe_psql($database, $prints), "$label: changes");
		is($to->safe_psql($database, 'SELECT count(*), bool_and(cf_contains_hash(filter, cf_hash(-1)) OR id = 5) FROM filters WHERE id <> 6'), '10|t', "$label: what was added is there");
		# and can be changed there
		is($to->safe_psql($database, 'UPDATE filters SET filter = cf_add(filter, 4711) WHERE id = 100000 RETURNING filter @> 4711, filter @> 99999'), 't|t', "$label: changed there");
		$to->safe_psql($database, "DROP SUBSCRIPTION $database");
	}
}

$old->stop;
$new->stop;
done_testing();
