# Filters go through pg_dump and COPY in every format, and come back equal to
# the byte, also into a database of another encoding and out of it again.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', 'CREATE EXTENSION cuckoo_filter');
create_samples($node, 'original');
create_words($node, 'original');
check_samples($node, 'original', 'original');
my $prints = sample_prints($node, 'original');

my $dir = PostgreSQL::Test::Utils::tempdir();

# pg_dump and pg_restore
for my $format (qw(plain custom directory))
{
	my $target = "from_$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', "$dir/$format", 'original' ],
		"pg_dump, $format format");
	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	restore_dump($node, $format, "$dir/$format", $target, "restore, $format format");
	samples_are_same($node, $target, $prints, "$format format");
}

# as INSERT statements, by way of the text form
$node->command_ok([ 'pg_dump', '--inserts', '-f', "$dir/inserts", 'original' ],
	'pg_dump --inserts');
$node->safe_psql('postgres', 'CREATE DATABASE from_inserts TEMPLATE template0');
$node->command_ok(
	[ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', 'from_inserts', '-f', "$dir/inserts" ],
	'restore of INSERT statements');
samples_are_same($node, 'from_inserts', $prints, 'INSERT statements');

# Another encoding: keys are hashed in UTF-8 whatever the database has.
$node->safe_psql('postgres',
	"CREATE DATABASE latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
$node->command_ok(
	[ 'pg_restore', '--exit-on-error', '-d', 'latin1', "$dir/custom" ],
	'restore into a LATIN1 database');
samples_are_same($node, 'latin1', $prints, 'LATIN1');
words_are_same($node, 'latin1', 'LATIN1');

# There and back again, in each format, and by the other encoding's own bytes:
# what is dumped from it is LATIN1.
$node->safe_psql('latin1', q{
	CREATE TABLE made_here AS SELECT cf_agg(word, 1000) AS filter, cf_agg(ROW(n, word), 1000) AS pairs, cf_agg(ARRAY[word], 1000) AS arrays FROM words});
for my $format (qw(plain custom directory))
{
	my $target = "back_$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', "$dir/latin1_$format", 'latin1' ],
		"pg_dump of LATIN1, $format format");
	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	restore_dump($node, $format, "$dir/latin1_$format", $target, "restore into UTF8, $format format");
	samples_are_same($node, $target, $prints, "UTF8 to LATIN1 to UTF8, $format format");
	words_are_same($node, $target, "UTF8 to LATIN1 to UTF8, $format format");
	is( $node->safe_psql($target, q{
			SELECT filter = (SELECT cf_agg(word, 1000) FROM words), pairs = (SELECT cf_agg(ROW(n, word), 1000) FROM words),
				arrays = (SELECT cf_agg(ARRAY[word], 1000) FROM words) FROM made_here}),
		't|t|t', "filters made in LATIN1 are those made in UTF8, $format format");
}
ok(slurp_file("$dir/latin1_plain") =~ /\tr\xe9sum\xe9 /, 'the dump was in LATIN1');

# COPY, every format, with the filters compared by the server
for my $format (qw(text csv binary))
{
	my $result = $node->safe_psql('original', qq{
		CREATE TABLE copied (LIKE samples);
		COPY samples TO '$dir/copy_$format' (FORMAT $format);
		COPY copied FROM '$dir/copy_$format' (FORMAT $format);
		SELECT count(*) = (SELECT count(*) FROM samples)
			FROM samples JOIN copied USING (name) WHERE samples.filter = copied.filter;
		DROP TABLE copied;});
	is($result, 't', "COPY, $format format");
}

# binary, to and from a client that is told nothing of it
$node->safe_psql('postgres', 'CREATE DATABASE piped TEMPLATE template0');
$node->safe_psql('piped', 'CREATE EXTENSION cuckoo_filter; CREATE TABLE samples (name text PRIMARY KEY, filter cuckoofilter); CREATE TYPE mood AS ENUM (\'sad\', \'ok\', \'happy\'); CREATE TYPE pair AS (a int, b text)');
$node->safe_psql('original', "\\copy samples TO '$dir/piped' (FORMAT binary)");
$node->safe_psql('piped', "\\copy samples FROM '$dir/piped' (FORMAT binary)");
samples_are_same($node, 'piped', $prints, 'COPY binary through psql');

# The schema without the data, and a second dump is the same as the first.
# Newer versions of pg_dump put a random key around the script.
$node->command_ok([ 'pg_dump', '-f', "$dir/again", 'from_plain' ], 'dump of the restored');
my ($first, $second) = map { my $text = slurp_file($_); $text =~ s/^\\(un)?restrict .*$//mg; $text }
  ("$dir/plain", "$dir/again");
ok($first eq $second, 'dump of the restored equals the first dump');

$node->stop;
done_testing();
