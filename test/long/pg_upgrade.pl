# A database full of filters goes to a newer major version by pg_upgrade.
#
# CUCKOO_OLD_INSTALL is the prefix of the old server, with the extension
# installed; the new one is that of this test.  test/check.sh --all sets it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;
use FollowedTables;

plan skip_all => 'CUCKOO_OLD_INSTALL is not set: see test/check.sh --all'
  unless $ENV{CUCKOO_OLD_INSTALL};

# Checksums are on by default from 18; both sides have to agree.
my @options = ('-A', 'trust', '-N', '--locale=C', '--encoding=UTF8');

sub options_of
{
	my ($major) = @_;

	return $major >= 18 ? (@options, '--no-data-checksums') : @options;
}

my $old_major = $ENV{CUCKOO_OLD_MAJOR};
my $new_major = $ENV{CUCKOO_NEW_MAJOR};

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{CUCKOO_OLD_INSTALL});
$old->init(extra => [ options_of($old_major) ]);
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE filters');
$old->safe_psql('filters', 'CREATE EXTENSION cuckoo_filter');
create_samples($old, 'filters');
$old->safe_psql('filters', q{
	CREATE INDEX ON samples USING hash (filter);
	CREATE TABLE sorted AS SELECT name, filter FROM samples WHERE octet_length(filter::bytea) < 2000;
	CREATE INDEX sorted_filter ON sorted (filter);
});
my $prints = sample_prints($old, 'filters');
$old->safe_psql('postgres', 'CREATE DATABASE followed');
create_followed($old, 'followed');
my $state = followed_state($old, 'followed');

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => [ options_of($new_major) ]);

my $old_bin = $old->config_data('--bindir');
my $new_bin = $new->config_data('--bindir');
chomp($old_bin, $new_bin);

forget_new_options($old, $new, qw(postgres filters followed template1));
$old->stop;

chdir $PostgreSQL::Test::Utils::tmp_check or die "chdir: $!";
command_ok(
	[
		'pg_upgrade', '--no-sync',
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-b', $old_bin, '-B', $new_bin,
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	],
	"pg_upgrade from $old_major to $new_major");

$new->start;
samples_are_same($new, 'filters', $prints, 'upgraded');
$new->safe_psql('filters', 'ALTER EXTENSION cuckoo_filter UPDATE');
is( $new->safe_psql('filters', q{
		SET enable_seqscan = off;
		SELECT count(*) FROM sorted a JOIN sorted b ON a.filter = b.filter AND a.name = b.name}),
	$new->safe_psql('filters', 'SELECT count(*) FROM sorted'),
	'indexes on filters still work');
$new->safe_psql('filters', q{UPDATE samples SET filter = cf_add(filter, 424242) WHERE name LIKE 'size_%'});
is( $new->safe_psql('filters', q{SELECT bool_and(filter @> 424242) FROM samples WHERE name LIKE 'size_%'}),
	't', 'stored filters take more values');

# tables that filters follow
is(followed_state($new, 'followed'), $state, 'the same triggers and filters of followed tables');
followed_go_on($new, 'followed', 'upgraded');

$new->stop;
done_testing();
