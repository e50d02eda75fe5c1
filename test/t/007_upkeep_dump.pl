# Tables that filters follow go through pg_dump with their triggers: restored,
# the filters are equal to the byte, and follow on.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;
use FollowedTables;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE original');
create_followed($node, 'original');
my $state = followed_state($node, 'original');
like($state, qr/^drift\|0\|0\|20000\ndrift\|0\|0\|20000\ndrift\|0\|0\|5000\ndrift\|0\|0\|3000\ndrift\|0\|0\|3000$/m,
	'filters are in step');

my $dir = PostgreSQL::Test::Utils::tempdir();
for my $format (qw(plain custom directory))
{
	my $target = "from_$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', "$dir/$format", 'original' ],
		"pg_dump, $format format");
	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	restore_dump($node, $format, "$dir/$format", $target, "restore, $format format");
	is(followed_state($node, $target), $state, "$format format: the same triggers and filters");
}

# the data alone, into tables that are followed already
$node->safe_psql('postgres', 'CREATE DATABASE of_data TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--schema-only', '-d', 'of_data', "$dir/custom" ],
	'restore of the schema');
$node->command_ok([
		'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers',
		'-d', 'of_data', "$dir/custom"
	],
	'restore of the data');
is(followed_state($node, 'of_data'), $state, 'schema first: the same triggers and filters');

# as INSERTs
$node->safe_psql('postgres', 'CREATE DATABASE from_inserts TEMPLATE template0');
$node->command_ok([ 'pg_dump', '--inserts', '-f', "$dir/inserts", 'original' ], 'pg_dump of INSERTs');
restore_dump($node, 'plain', "$dir/inserts", 'from_inserts', 'restore of INSERTs');
is(followed_state($node, 'from_inserts'), $state, 'INSERTs: the same triggers and filters');

# a copy by CREATE DATABASE
$node->safe_psql('postgres', 'CREATE DATABASE cloned TEMPLATE original');
is(followed_state($node, 'cloned'), $state, 'TEMPLATE: the same triggers and filters');

# a dump does not say that all triggers go with the table of filters
$node->safe_psql('postgres', 'CREATE DATABASE without TEMPLATE from_custom');
$node->safe_psql('without', q{
	SET search_path = "a.b ""c", ext;
	DROP TABLE whole, "Target" CASCADE;
	UPDATE part SET v = md5(v::text)::uuid;
	INSERT INTO part SELECT i, md5(i::text)::uuid FROM generate_series(1, 10) i;
	DELETE FROM part WHERE k < 5;
	UPDATE "So'urce" SET "va,lue" = 0, tenant = 'x' WHERE "va,lue" < 10;
	TRUNCATE part, "So'urce";
});
is($node->safe_psql('without', 'SELECT count(*) FROM ext.cf_attachments'), 2,
	'a restored table is written to after its filters were dropped');

followed_go_on($node, $_, $_) for qw(from_plain from_custom from_directory from_inserts of_data cloned original);

$node->stop;
done_testing();
