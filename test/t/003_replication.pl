# Filters on a physical standby, and through logical replication of a table
# without a key, where old rows are found by comparing filters.

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

# logical
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$subscriber->start;
$subscriber->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');
my $tables = q{
	CREATE TABLE keyed (id int PRIMARY KEY, filter cuckoofilter);
	CREATE TABLE keyless (filter cuckoofilter);
	ALTER TABLE keyless REPLICA IDENTITY FULL;
};
$primary->safe_psql('postgres', $tables);
$subscriber->safe_psql('postgres', $tables);
$primary->safe_psql('postgres', q{
	INSERT INTO keyed SELECT 1, cf_agg(g, 1e5) FROM generate_series(1, 20000) g;
	INSERT INTO keyless SELECT cf_agg(k * 100000 + g, 1e5) FROM generate_series(1, 5) k, generate_series(1, 3000 * k) g GROUP BY k;
	CREATE PUBLICATION pub FOR TABLE keyed, keyless;
});
$subscriber->safe_psql('postgres',
	"CREATE SUBSCRIPTION sub CONNECTION '" . $primary->connstr . " dbname=postgres' PUBLICATION pub");
$subscriber->wait_for_subscription_sync($primary, 'sub');

sub same_rows
{
	my ($label) = @_;
	my $query = q{
		SELECT 'keyed', id, md5(filter::text) FROM keyed
		UNION ALL SELECT 'keyless', NULL, md5(filter::text) FROM keyless ORDER BY 1, 2, 3};

	$primary->wait_for_catchup('sub');
	return is($subscriber->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query), $label);
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

$subscriber->stop;
$standby->stop;
$primary->stop;
done_testing();
