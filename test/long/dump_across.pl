# A database full of filters goes from one major version to another through
# pg_dump in every format, and through COPY in binary form in both directions.
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

my $label = "$ENV{CUCKOO_OLD_MAJOR} to $ENV{CUCKOO_NEW_MAJOR}";
my $back = "$ENV{CUCKOO_NEW_MAJOR} to $ENV{CUCKOO_OLD_MAJOR}";

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{CUCKOO_OLD_INSTALL});
my $new = PostgreSQL::Test::Cluster->new('new');
for my $node ($old, $new)
{
	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->start;
}
$old->safe_psql('postgres', 'CREATE DATABASE filters');
$old->safe_psql('filters', 'CREATE EXTENSION cuckoo_filter');
create_samples($old, 'filters');
create_words($old, 'filters');
$old->safe_psql('filters', 'CREATE INDEX ON samples USING hash (filter)');
forget_new_options($old, $new, 'filters');
my $prints = sample_prints($old, 'filters');

# The new version's programs read the old server and write the new one.
my $dir = PostgreSQL::Test::Utils::tempdir();
my @from = ('-h', $old->host, '-p', $old->port);
for my $format (qw(plain custom directory))
{
	my $target = "from_$format";

	$new->command_ok([ 'pg_dump', @from, '-F', $format, '-f', "$dir/$format", 'filters' ],
		"pg_dump, $format format");
	$new->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	restore_dump($new, $format, "$dir/$format", $target, "restore, $format format");
	samples_are_same($new, $target, $prints, "$label, $format format");
	words_are_same($new, $target, "$label, $format format");
}

# tables that filters follow
$old->safe_psql('postgres', 'CREATE DATABASE followed');
create_followed($old, 'followed');
forget_new_options($old, $new, 'followed');
$new->command_ok([ 'pg_dump', @from, '-F', 'custom', '-f', "$dir/followed", 'followed' ], 'pg_dump of followed tables');
$new->safe_psql('postgres', 'CREATE DATABASE followed TEMPLATE template0');
restore_dump($new, 'custom', "$dir/followed", 'followed', 'restore of followed tables');
is(followed_state($new, 'followed'), followed_state($old, 'followed'), "$label: the same triggers and filters of followed tables");
followed_go_on($new, 'followed', $label);

# into another encoding on the way
$new->safe_psql('postgres', "CREATE DATABASE latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
$new->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'latin1', "$dir/custom" ],
	'restore into a LATIN1 database');
samples_are_same($new, 'latin1', $prints, "$label, LATIN1");
words_are_same($new, 'latin1', "$label, LATIN1");

# Binary form, there and back.  The tables stand, the rows are new.
$old->safe_psql('filters', "COPY samples TO '$dir/binary' (FORMAT binary)");
$new->safe_psql('from_plain', "TRUNCATE samples; COPY samples FROM '$dir/binary' (FORMAT binary)");
samples_are_same($new, 'from_plain', $prints, "$label, COPY binary");
$new->safe_psql('from_plain', "COPY samples TO '$dir/back' (FORMAT binary)");
$old->safe_psql('filters', "TRUNCATE samples; COPY samples FROM '$dir/back' (FORMAT binary)");
samples_are_same($old, 'filters', $prints, "$back, COPY binary");

# both make the same filters of the same values
$new->safe_psql('postgres', 'CREATE DATABASE made_here');
$new->safe_psql('made_here', 'CREATE EXTENSION cuckoo_filter');
create_samples($new, 'made_here');
is(sample_prints($new, 'made_here'), $prints, "$label: the same operations, the same bytes");

$new->stop;
$old->stop;
done_testing();
