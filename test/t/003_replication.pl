# Filters on a physical standby, and through logical replication in text and in
# binary form, also of a table without a key, where old rows are found by
# comparing filters.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');

# physical: what was there before, and what comes after
$primary->safe_psql('postgres', 'CREATE TABLE early AS SELECT cf_agg(g, 1e5) AS filter FROM generate_series(1, 50000) g');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
create_samples($primary, 'postgres');
$primary->safe_psql('postgres', 'UPDATE early SET filter = cf_add_all(filter, ARRAY[-1, -2, -3])');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
samples_are_same($standby, 'postgres', sample_prints($primary, 'postgres'), 'standby');
is( $standby->safe_psql('postgres',
		'SELECT cf_count(filter), cf_contains_all(filter, ARRAY[-1, -2, -3, 1, 50000]) FROM early'),
	'50003|t', 'standby: filter changed after the base backup');

# a standby that dies while it replays what is written to filters
$primary->safe_psql('postgres', 'UPDATE early SET filter = cf_add_all(filter, ARRAY(SELECT g FROM generate_series(60001, 61000) g))') for 1 .. 5;
$standby->stop('immediate');
$primary->safe_psql('postgres', 'UPDATE early SET filter = cf_add_all(filter, ARRAY(SELECT g FROM generate_series(60001, 90000) g)); VACUUM early');
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is($standby->safe_psql('postgres', 'SELECT md5(filter::bytea) FROM early'), $primary->safe_psql('postgres', 'SELECT md5(filter::bytea) FROM early'),
	'standby: the same bytes after a crash of it');

# logical
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$subscriber->start;
$subscriber->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');
my $tables = q{
	CREATE TABLE keyed (id int PRIMARY KEY, filter cuckoofilter);
	CREATE TABLE keyless (filter cuckoofilter);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
	-- a filter out of line stays what it is when its row changes
	CREATE TABLE labelled (filter cuckoofilter, label text);
	ALTER TABLE labelled REPLICA IDENTITY FULL;
};
$primary->safe_psql('postgres', $tables);
$subscriber->safe_psql('postgres', $tables);
$primary->safe_psql('postgres', q{
	INSERT INTO keyed SELECT 1, cf_agg(g, 1e5) FROM generate_series(1, 20000) g;
	INSERT INTO keyless SELECT cf_agg(k * 100000 + g, 1e5) FROM generate_series(1, 5) k, generate_series(1, 3000 * k) g GROUP BY k;
	INSERT INTO labelled SELECT filter, 'first' FROM keyless;
	CREATE PUBLICATION pub FOR TABLE keyed, keyless, labelled;
});
$subscriber->safe_psql('postgres',
	"CREATE SUBSCRIPTION sub CONNECTION '" . $primary->connstr . " dbname=postgres' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($primary, 'sub');

sub same_rows
{
	my ($label, $node) = @_;
	my $query = q{
		SELECT 'keyed', id, md5(filter::text) FROM keyed
		UNION ALL SELECT 'keyless', NULL, md5(filter::text) FROM keyless
		UNION ALL SELECT label, NULL, md5(filter::text) FROM labelled ORDER BY 1, 2, 3};

	$primary->wait_for_catchup('sub');
	return is(($node || $subscriber)->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query), $label);
}

same_rows('logical: first copy');
$primary->safe_psql('postgres', q{
	UPDATE keyed SET filter = cf_add_all(filter, ARRAY(SELECT g FROM generate_series(20001, 21000) g));
	UPDATE keyless SET filter = cf_add(filter, 7) WHERE filter @> 300001;
	DELETE FROM keyless WHERE filter @> 200001;
	INSERT INTO keyless VALUES (cf_new(10)), (NULL);
	UPDATE keyless SET filter = cf_add(filter, 8) WHERE cf_count(filter) = 0;
});
same_rows('logical: changes');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM keyless WHERE filter @> 7 OR filter @> 8'), '2',
	'logical: the changed filters hold the new values');
$primary->safe_psql('postgres', q{
	UPDATE labelled SET label = 'second' WHERE filter @> 300001;
	DELETE FROM labelled WHERE filter @> 200001;
});
same_rows('logical: rows whose filters do not change');
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM labelled WHERE label = 'second'}), '1', 'logical: and the change is there');

# in binary form
my $binary = PostgreSQL::Test::Cluster->new('binary');
$binary->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$binary->start;
$binary->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');
$binary->safe_psql('postgres', $tables);
$binary->safe_psql('postgres',
	"CREATE SUBSCRIPTION sub_binary CONNECTION '" . $primary->connstr . " dbname=postgres' PUBLICATION pub WITH (binary = true)");
$binary->wait_for_subscription_sync($primary, 'sub_binary');
$primary->safe_psql('postgres', q{
	UPDATE keyed SET filter = cf_add_all(filter, ARRAY(SELECT g FROM generate_series(30001, 31000) g));
	UPDATE keyless SET filter = cf_add(filter, 9) WHERE filter @> 400001;
	UPDATE labelled SET label = 'third' WHERE filter @> 500001;
});
$primary->wait_for_catchup('sub_binary');
same_rows('logical: binary', $binary);

$binary->stop;
$subscriber->stop;
$standby->stop;
$primary->stop;
done_testing();
