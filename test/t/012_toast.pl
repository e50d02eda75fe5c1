# Probes that guess where the chunks of a filter are in its TOAST table: right
# in tables with holes, after each way to move rows, beside writers, and after
# the counter of identifiers has begun again.
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION cuckoo_filter;
CREATE TABLE filters (id int PRIMARY KEY, f cuckoofilter);
-- 3 to 60 chunks each
CREATE FUNCTION fill(first int, last int, step int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO filters SELECT id, (SELECT cf_agg(id * 1000000 + v, 20000 + id * 900)
            FROM generate_series(1, 4000 + id * 900) AS v)
        FROM generate_series(first, last, step) AS id $$;
SELECT fill(1, 100, 1);
SQL

# Every filter, by several probes in a query and by one: values that are there,
# values that are not, against the same filters read whole.
my $probe = q{SELECT md5(string_agg(format('%s %s %s', id, v, cf_contains(f, id * 1000000 + v)), ','
        ORDER BY id, v)), count(*) FILTER (WHERE v BETWEEN 1 AND 4000 AND NOT cf_contains(f, id * 1000000 + v))
    FROM %s, unnest(array[-5, -4, -3, 1, 7, 40, 1000, 3999, 4000, 5000000]) AS v};
my $query = join ";\n", map { sprintf $probe =~ s/%s %s %s/%%s %%s %%s/r, $_ }
  'filters', '(SELECT * FROM filters ORDER BY id DESC OFFSET 0) AS o';

sub check
{
	my ($title) = @_;
	my $in_slices = $node->safe_psql('postgres', $query);
	my $unkept = $node->safe_psql('postgres', "SET cuckoo_filter.cache_size = 0;\n$query");
	my $whole = $node->safe_psql('postgres',
		"SET cuckoo_filter.enable_slices = off;\n$query");

	is($in_slices, $whole, "$title: slices as the whole");
	is($unkept, $whole, "$title: the same if nothing is kept");
	like($whole, qr/^\w+\|0\n\w+\|0$/, "$title: nothing is missing");
}

check('as written');

# As written, the buffers of a probe: the row, the index of the TOAST table,
# and a page for the header and each bucket.
my $buffers = $node->safe_psql('postgres', q{
CREATE FUNCTION buffers() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT cf_contains(f, -7) FROM filters WHERE id = 100' INTO plan;
    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END $$;
SET enable_bitmapscan = off;
VACUUM filters;
SELECT buffers();
SELECT least(buffers(), buffers());
});
my ($first, $second) = split /\n/, $buffers;
cmp_ok($second, '<=', 8, "a probe of a filter of 60 chunks reads $second buffers");

$node->safe_psql('postgres', 'DELETE FROM filters WHERE id % 3 = 1; VACUUM filters; SELECT fill(1, 100, 3)');
check('holes filled again');
$node->safe_psql('postgres', 'UPDATE filters SET f = cf_add(f, -id) WHERE id % 2 = 0; VACUUM filters; UPDATE filters SET f = cf_add(f, -id) WHERE id % 5 = 0');
check('updated');
$node->safe_psql('postgres', 'VACUUM FREEZE filters');
check('frozen');
$node->safe_psql('postgres', 'CLUSTER filters USING filters_pkey');
check('clustered');
$node->safe_psql('postgres', 'VACUUM FULL filters');
check('written anew');
$node->safe_psql('postgres', 'DELETE FROM filters WHERE id > 50; VACUUM filters; SELECT fill(51, 60, 1)');
check('table made shorter');

# A cursor goes on with filters that were replaced, and vacuumed as far as it
# lets them.
my $held = $node->safe_psql('postgres', q{
BEGIN;
DECLARE c CURSOR FOR SELECT id, cf_contains(f, id * 1000000 + 7) FROM filters ORDER BY id;
MOVE 3 IN c;
UPDATE filters SET f = cf_new(10);
FETCH ALL IN c;
ROLLBACK});
unlike($held, qr/\|f$/m, 'a cursor reads the filters of its snapshot');

# Beside writers that replace filters all the time.
my $script = PostgreSQL::Test::Utils::tempdir() . '/write.sql';
append_to_file($script, <<'SQL');
\set id random(1, 60)
UPDATE filters SET f = cf_add(cf_remove(f, -:id), -:id) WHERE id = :id;
SQL
my $writers = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '2', '-T', '6', '-h', $node->host, '-p', $node->port,
		'-f', $script, 'postgres' ],
	'>', \my $out, '2>', \my $err);
my $nwrong = 0;
for (1 .. 4)
{
	my $answer = $node->safe_psql('postgres', $query);
	$nwrong++ if $answer !~ /^\w+\|0\n\w+\|0$/;
	$node->safe_psql('postgres', 'VACUUM filters');
}
$writers->finish;
is($nwrong, 0, 'beside writers nothing is missing');
check('after the writers');

# Identifiers from the beginning again: values that were deleted and not
# vacuumed, and ones whose writers failed, stand beside those with new ones.
$node->safe_psql('postgres', 'DELETE FROM filters WHERE id % 4 = 0');
$node->psql('postgres', 'BEGIN; SELECT fill(200, 230, 1); ROLLBACK');
$node->stop;
command_ok([ 'pg_resetwal', '-o', '16384', $node->data_dir ], 'identifiers begin again');
$node->start;
$node->safe_psql('postgres', 'SELECT fill(101, 130, 1); SELECT fill(4, 60, 4)');
check('identifiers given again');

$node->stop;
done_testing();
