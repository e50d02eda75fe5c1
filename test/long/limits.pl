# Filters as large as there can be, 512 MiB: built, grown, stored, probed,
# merged, dumped and restored; and one step over.
#
# Run by test/check.sh --all.  The server takes up to 4 GB of memory at once, a
# client of COPY up to 2; 12 GB of disk do.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FilterSamples;

my $most = 512 * 1024 * 1024;
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	shared_buffers = 256MB
	work_mem = 64MB
	max_wal_size = 2GB
	jit = off
	log_statement = none
	log_min_messages = log
	max_parallel_workers_per_gather = 0
});
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE original');
$node->safe_psql('original', 'CREATE EXTENSION cuckoo_filter');

# error_of(database, sql)
#		SQLSTATE and message of the error that statements end with.
sub error_of
{
	my ($db, $sql) = @_;
	my ($out, $err) = ('', '');

	$node->psql($db, "\\set VERBOSITY verbose\n$sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return $err =~ /ERROR:  (\w+: .*)$/m ? $1 : 'no error: ' . substr("$out$err", 0, 200);
}

# A rate so fine that the fewest values fill the space.  The largest capacity
# is named by the error for a larger one.
my $rate = 1.5e-8;
my $hint = '';
$node->psql('original', "SELECT cf_new(1e15, $rate)", stderr => \$hint);
my ($capacity) = $hint =~ /The largest capacity for this rate is (\d+)\./
  or BAIL_OUT("no capacity is named: $hint");
my $over = $capacity + 1;
note("capacity $capacity at a rate of $rate");

#
# One step over: an error before any work is done
#
my $large = qr/^54000: cuckoo filter would be larger than 512 MiB$/;
is($node->safe_psql('original', "SELECT cf_count(cf_new($capacity, $rate))"), '0', 'the largest capacity is possible');
like(error_of('original', "SELECT cf_new($over, $rate)"), $large, 'cf_new of one more');
like(error_of('original', "SELECT cf_resize(cf_new(1000, $rate), $over, $rate)"), qr/^(54000|22023): /, 'cf_resize to one more');
for my $aggregate (qw(cf_agg cf_bag_agg))
{
	like(error_of('original', "CREATE SEQUENCE rows_of_$aggregate; SELECT $aggregate(nextval('rows_of_$aggregate'), $over, $rate) FROM generate_series(1, 100000)"),
		$large, "$aggregate of one more");
	cmp_ok($node->safe_psql('original', "SELECT last_value FROM rows_of_$aggregate"), '<=', 1, "$aggregate has not read on");
}
like(error_of('original', "SELECT ('cf1:' || repeat('A', 715827900))::cuckoofilter"), $large, 'text form of one too large');
like(error_of('original', "SELECT (half || half)::cuckoofilter FROM (SELECT decode(repeat('00', $most / 2 + 100), 'hex') AS half OFFSET 0) s"),
	qr/^22P03: /, 'bytea of one too large');

#
# Built, just below the last step of growth
#
# Half of the slots take 0.96 of their number, so that the other half comes
# with the next few values.
my $built = int($capacity / 2 / 100000) * 100000 - 200000;
$node->safe_psql('original', "CREATE TABLE half AS SELECT cf_agg(g, $capacity, $rate) AS filter FROM generate_series(1, $built) g");
is( $node->safe_psql('original', "
		SELECT entries, bytes BETWEEN 0.45 * $most AND 0.55 * $most, capacity FROM half, cf_info(filter)"),
	"$built|t|$capacity", 'built');
is($node->safe_psql('original', 'SELECT count(*) FROM half, cf_check(filter)'), '0', 'built: sound');

# and grown by adding, until it is as large as it gets
$node->safe_psql('original', 'CREATE TABLE large AS SELECT filter, 0 AS added FROM half');
my $added = 0;
while ($added < 2_000_000 && $node->safe_psql('original', 'SELECT (cf_info(filter)).bytes FROM large') < 0.9 * $most)
{
	my $next = $added + 250_000;

	$node->safe_psql('original', "UPDATE large SET filter = cf_add_all(filter, ARRAY(SELECT $built + g FROM generate_series($added + 1, $next) g))");
	$added = $next;
}
my $held = $built + $added;
is( $node->safe_psql('original', "
		SELECT entries, bytes BETWEEN 0.97 * $most AND $most, growths > 0 FROM large, cf_info(filter)"),
	"$held|t|t", "grown by $added values");
is($node->safe_psql('original', 'SELECT count(*) FROM large, cf_check(filter)'), '0', 'grown: sound');
is($node->safe_psql('original', 'SELECT (cf_info(filter)).bytes - pg_column_size(filter) BETWEEN 0 AND 4 FROM large'), 't', 'grown: stored as it is');
note($node->safe_psql('original', 'SELECT bytes FROM large, cf_info(filter)') . " bytes of at most $most");

# holds(database, table, from, to, step)
#		SQL: does the filter hold every step-th of these?
sub holds
{
	my ($db, $table, $from, $to, $step) = @_;

	return $node->safe_psql($db, "SELECT cf_contains_all(filter, ARRAY(SELECT g FROM generate_series($from, $to, $step) g)) FROM $table");
}

#
# Probed
#
is(holds('original', 'large', 1, $built, 97), 't', 'values from before are there');
is(holds('original', 'large', $built + 1, $held, 1), 't', 'values added are there');
cmp_ok( $node->safe_psql('original', "
		SELECT count(*) FROM large, unnest(cf_contains_each(filter, ARRAY(SELECT -g FROM generate_series(1, 2000000) g))) found WHERE found"),
	'<=', 3, 'others are not: 0.03 of two million are to be expected');
my $explained = $node->safe_psql('original', "
	SET cuckoo_filter.cache_size = 0;
	SELECT filter @> 1 FROM large;
	EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) SELECT filter @> 4711 FROM large");
my ($buffers) = $explained =~ /Buffers: shared ([^\n]*)/;
my $nbuffers = 0;
$nbuffers += $_ for $buffers =~ /=(\d+)/g;
cmp_ok($nbuffers, '<=', 30, 'one probe reads few pages');
is( $node->safe_psql('original', "
		SELECT count(*) FROM large, generate_series(1, 20000) g WHERE filter @> g;
		SET cuckoo_filter.cache_size = '1GB';
		SELECT count(*) FROM large, generate_series(1, 300000) g WHERE filter @> g"),
	"20000\n300000", 'many probes, in slices and kept');

#
# Changed
#
is( $node->safe_psql('original', "
		CREATE TABLE less AS SELECT cf_remove_all(filter, ARRAY(SELECT g FROM generate_series(1, 100000) g)) AS filter FROM large;
		SELECT cf_count(filter) FROM less;
		SELECT count(*) < 5 FROM less, unnest(cf_contains_each(filter, ARRAY(SELECT g FROM generate_series(1, 100000) g))) found WHERE found;
		DROP TABLE less"),
	($held - 100000) . "\nt", 'values removed are gone');

#
# Merged
#
my $first = 1_000_000_000;
my $half_overlap = $built - 500_000;
$node->safe_psql('original', "
	CREATE TABLE small AS
		SELECT cf_agg(CASE WHEN g <= 500000 THEN $half_overlap + g ELSE $first + g END, $capacity, $rate) AS filter FROM generate_series(1, 1000000) g");
is( $node->safe_psql('original', "
		SELECT cf_count(u) = $held + 500000, cf_contains_all(u, ARRAY(SELECT g FROM generate_series(1, $held, 997) g)),
			cf_contains_all(u, ARRAY(SELECT $first + g FROM generate_series(500001, 1000000) g)), (SELECT count(*) FROM cf_check(u))
		FROM (SELECT large.filter | small.filter AS u FROM large, small) s"),
	't|t|t|0', 'union with a small one');
is( $node->safe_psql('original', "
		SELECT cf_count(u), cf_contains_all(u, ARRAY(SELECT g FROM generate_series(1, $held, 997) g)), cf_count(u, $held)
		FROM (SELECT cf_union_all(small.filter, large.filter) AS u FROM large, small) s"),
	($held + 1_000_000) . '|t|1', 'union of all copies, from a small one');
is( $node->safe_psql('original', 'SELECT cf_count(large.filter | half.filter) FROM large, half'),
	$held, 'union with one as large');
is( $node->safe_psql('original', "
		SELECT cf_count(i) BETWEEN 500000 AND 500010, cf_contains_all(i, ARRAY(SELECT $half_overlap + g FROM generate_series(1, 500000) g))
		FROM (SELECT cf_intersection(large.filter, small.filter) AS i FROM large, small) s"),
	't|t', 'intersection');
is($node->safe_psql('original', 'SELECT cf_overlap(large.filter, small.filter) BETWEEN 499000 AND 501000 FROM large, small'),
	't', 'overlap');
is( $node->safe_psql('original', "
		SELECT cf_count(r), bytes < 0.95 * $most, cf_contains_all(r, ARRAY(SELECT g FROM generate_series(1, $held, 997) g))
		FROM (SELECT cf_resize(filter, NULL, $rate * 1000) AS r FROM large) s, cf_info(r)"),
	"$held|t|t", 'made coarser');

#
# Dumped and restored, copied
#
my $print = 'SELECT (cf_info(filter)).bytes, cf_count(filter), cuckoofilter_hash_extended(filter, 0), md5(filter::bytea) FROM large';
my $printed = $node->safe_psql('original', $print);
for my $format (qw(plain custom directory))
{
	$node->command_ok([ 'pg_dump', '-t', 'large', '-e', 'cuckoo_filter', '-Z', $format eq 'directory' ? 1 : 0, '-F', $format, '-f', "$dir/dump", 'original' ],
		"pg_dump, $format format");
	$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
	restore_dump($node, $format, "$dir/dump", 'restored', "restore, $format format");
	is($node->safe_psql('restored', $print), $printed, "$format format: equal to the byte");
	system('rm', '-rf', "$dir/dump");
	$node->safe_psql('postgres', 'DROP DATABASE restored');
}
for my $format (qw(csv binary))
{
	is( $node->safe_psql('original', "
			CREATE TABLE copied (LIKE large);
			COPY large TO '$dir/copy' (FORMAT $format);
			COPY copied FROM '$dir/copy' (FORMAT $format);
			SELECT copied.filter = large.filter FROM copied, large;
			DROP TABLE copied"),
		't', "COPY, $format format");
	unlink "$dir/copy";
}

# A literal in SQL can have 512 MB, which is the server's limit: 384 MiB of
# filter.  So a dump as INSERT statements takes no larger one back.
like(error_of('original', q{SELECT format('SELECT cf_count(%L::cuckoofilter)', filter::text) FROM large \gexec}),
	qr/^(XX000|53200|54000): /, 'as a literal it is too long for the server');
is( $node->safe_psql('original', q{SELECT format('SELECT cf_count(%L::cuckoofilter)', filter::text) FROM half \gexec}),
	$built, 'half of it is not');

#
# Filled to its capacity, and over
#
$node->safe_psql('original', "DROP TABLE half, small, large; CREATE TABLE brim AS SELECT cf_agg(g, $capacity, $rate) AS filter FROM generate_series(1, $capacity) g");
is( $node->safe_psql('original', "
		SELECT entries, bytes <= $most, load_factor > 0.95, fpr <= promised_fpr FROM brim, cf_info(filter);
		SELECT count(*) FROM brim, cf_check(filter)"),
	"$capacity|t|t|t\n0", 'filled to its capacity');
is(holds('original', 'brim', 1, $capacity, 997), 't', 'full: values are there');
my $before = $node->safe_psql('original', 'SELECT md5(filter::bytea) FROM brim');
like(error_of('original', "UPDATE brim SET filter = cf_add_all(filter, ARRAY(SELECT -g FROM generate_series(1, 7000000) g))"),
	qr/^54000: cuckoo filter is full$/, 'full: several million values more are refused');
is($node->safe_psql('original', 'SELECT md5(filter::bytea) FROM brim'), $before, 'full: the stored filter is as it was');
like(error_of('original', "SELECT cf_union_all(filter, filter) FROM brim"), qr/^54000: cuckoo filter is full$/, 'full: no union with itself');

$node->stop;
done_testing();
