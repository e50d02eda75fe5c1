# Tables that filters follow go through pg_dump with their triggers: restored,
# the filters are equal to the byte, and follow on.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# a schema of its own for the extension, and names that have to be quoted
$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', q{
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
	CREATE TABLE part_1 PARTITION OF part FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE whole (f cuckoofilter);
	SELECT cf_attach('part', '{v}', 'whole', 'f', '{}', 10000);
	INSERT INTO part SELECT i, md5(i::text)::uuid FROM generate_series(1, 5000) i;
});

# what there is: triggers, filters, and what filters lack or have too much
sub state_of
{
	my ($db) = @_;

	return $node->safe_psql($db, q{
		SELECT pg_get_triggerdef(oid) FROM pg_trigger ORDER BY 1;
		SET search_path = "a.b ""c", ext;
		SELECT tenant, md5("Filter"::bytea), md5("all"::bytea) FROM "Target" ORDER BY 1;
		SELECT md5(f::bytea) FROM whole;
		SELECT 'drift', sum(missing), sum(stale), sum(source_rows) FROM cf_drift('"Target"', 'Filter');
		SELECT 'drift', sum(missing), sum(stale), sum(source_rows) FROM cf_drift('"Target"', 'all');
		SELECT 'drift', sum(missing), sum(stale), sum(source_rows) FROM cf_drift('whole', 'f')});
}

sub follows_on
{
	my ($db, $label) = @_;

	is($node->safe_psql($db, q{
		SET search_path = "a.b ""c", ext;
		INSERT INTO "So'urce" VALUES ('new', 1, '2001-01-01'), ('te\nant 1', 30000, '2002-02-02');
		UPDATE "So'urce" SET tenant = 'moved' WHERE "va,lue" % 7 = 0;
		DELETE FROM "So'urce" WHERE "va,lue" % 11 = 0;
		DELETE FROM part WHERE k % 2 = 0;
		INSERT INTO part_0 SELECT -1, v FROM part_0 LIMIT 10;
		TRUNCATE part_1;
		SELECT count(*), sum(missing), sum(stale) FROM cf_drift('"Target"', 'Filter');
		SELECT count(*), sum(missing), sum(stale) FROM cf_drift('"Target"', 'all');
		SELECT count(*), sum(missing), sum(stale) FROM cf_drift('whole', 'f');
		SELECT cf_rebuild('"Target"', 'all', capacity => 20000);
		SELECT cf_detach('"Target"', 'Filter'), cf_detach('"Target"', 'all'), cf_detach('whole', 'f');
		SELECT count(*) FROM pg_trigger}),
		"12|0|0\n12|0|0\n1|0|0\n12\n||\n0", "$label: follows on");
	return;
}

my $state = state_of('original');
like($state, qr/^drift\|0\|0\|20000\ndrift\|0\|0\|20000\ndrift\|0\|0\|5000$/m,
	'filters are in step');

my $dir = PostgreSQL::Test::Utils::tempdir();
for my $format (qw(plain custom directory))
{
	my $target = "from_$format";

	$node->command_ok([ 'pg_dump', '-F', $format, '-f', "$dir/$format", 'original' ],
		"pg_dump, $format format");
	$node->safe_psql('postgres', "CREATE DATABASE $target TEMPLATE template0");
	restore_dump($node, $format, "$dir/$format", $target, "restore, $format format");
	is(state_of($target), $state, "$format format: the same triggers and filters");
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
is(state_of('of_data'), $state, 'schema first: the same triggers and filters');

follows_on($_, $_) for qw(from_plain from_custom of_data original);

$node->stop;
done_testing();
