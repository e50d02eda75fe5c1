# What goes wrong around the extension: too little memory, a full disk, time
# that is up, backends that are ended.  Each time there is a plain error, the
# server stays up, the same session answers right afterwards, and nothing is
# left behind, in memory or on disk.
#
# CUCKOO_TEST_LONG=1 makes it long: 10,000 failures of each kind, and timeouts
# all along every operation.  CUCKOO_SMALL_DISK is a folder on a file system of
# a few megabytes, which the server may fill.  test/check.sh --all sets both.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $long = $ENV{CUCKOO_TEST_LONG};
my $nrows = $long ? 500_000 : 200_000;
my $nfailures = $long ? 10_000 : 200;
my $nwarm = 50;
my $dir = PostgreSQL::Test::Utils::tempdir();

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	shared_buffers = 32MB
	max_wal_size = 1GB
	jit = off
	synchronize_seqscans = off
	autovacuum = off
	log_statement = none
	log_min_messages = log
	log_min_error_statement = panic
	restart_after_crash = off
});
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION cuckoo_filter;
	CREATE TABLE k AS SELECT g, 'word ' || g AS t FROM generate_series(1, $nrows) g;
	CREATE TABLE f AS SELECT 1 AS id, cf_agg(g, 4e6) AS filter FROM generate_series(1, $nrows) g;
	INSERT INTO f SELECT 2, cf_agg(g + $nrows / 2, 4e6) FROM k;
	CREATE TABLE many AS SELECT i AS id, cf_agg(i * 1000 + g, 1e6) AS filter FROM generate_series(1, 200) i, generate_series(1, 2000) g GROUP BY i;
	CREATE TABLE other AS SELECT cf_agg(g, 4e6, 0.01, 4, 7) AS filter FROM generate_series(1, 50000) g;
	CREATE TABLE merged AS SELECT cf_agg(g) | cf_agg(g) AS filter FROM generate_series(1, 50000) g;
	CREATE TABLE full_up AS SELECT cf_add_all(cf_new(200), ARRAY(SELECT generate_series(1, 200))) AS filter;
	CREATE TABLE evil AS SELECT cf_add_all(cf_new(1e6, 1e-7), ARRAY(SELECT generate_series(1, 5000))) AS filter;
	VACUUM ANALYZE;
	-- processor time of this backend, in ms; it does not grow while others work
	CREATE FUNCTION cpu() RETURNS int LANGUAGE sql AS \$\$
		SELECT 10 * (f[12]::int + f[13]::int)
		FROM regexp_split_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\\) ', ''), ' ') AS f
	\$\$;
	-- what is allocated and what of it is in use: neither a lost context nor
	-- a lost piece is hidden
	CREATE FUNCTION memory() RETURNS bigint LANGUAGE sql AS
		'SELECT sum(total_bytes + used_bytes)::bigint FROM pg_backend_memory_contexts';
});
my $has_proc = -r '/proc/self/stat';
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

# still_sound(label)
#		The server has not gone down in between, and no temporary file is left.
#		One test.
sub still_sound
{
	my ($label) = @_;

	return is(
		$node->safe_psql('postgres', q{
			SELECT pg_postmaster_start_time();
			SELECT count(*) FROM pg_ls_tmpdir()}),
		"$started\n0", "$label: the server is up, no temporary file is left");
}

#
# Operations that take long, each with the settings it needs.  The answer of
# each is one value.
#
my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;';
my $small = "$serial SET work_mem = '64kB';";
my $half = int($nrows / 2);
my @operations = (
	[ 'cf_agg in memory', $serial, 'SELECT md5(cf_agg(g)::bytea) FROM k' ],
	[ 'cf_agg in much memory', "$serial SET work_mem = '1GB';", 'SELECT md5(cf_agg(g + h * 10000000)::bytea) FROM k, generate_series(1, 3) h' ],
	[ 'cf_agg with files', $small, 'SELECT md5(cf_agg(g)::bytea) FROM k' ],
	[ 'cf_bag_agg with files', $small, 'SELECT md5(cf_bag_agg(g % 50000)::bytea) FROM k' ],
	[ 'cf_agg of texts', $serial, 'SELECT md5(cf_agg(t)::bytea) FROM k' ],
	[ 'cf_agg in parallel', $parallel, 'SELECT md5(cf_agg(g)::bytea) FROM k' ],
	[ 'cf_agg in groups', $small, 'SELECT sum(cf_count(c)) FROM (SELECT cf_agg(g) AS c FROM k GROUP BY g % 20000) s' ],
	[ 'cf_agg in window frames', $serial, 'SELECT sum(cf_count(c)) FROM (SELECT cf_agg(g) OVER (ORDER BY g ROWS BETWEEN 100 PRECEDING AND CURRENT ROW) AS c FROM k LIMIT 5000) s' ],
	[ 'cf_union_agg', $serial, 'SELECT md5(cf_union_agg(filter)::bytea) FROM many' ],
	[ 'cf_union_all_agg', $serial, 'SELECT md5(cf_union_all_agg(filter)::bytea) FROM many' ],
	[ 'cf_union', $serial, 'SELECT md5((a.filter | b.filter)::bytea) FROM f a, f b WHERE a.id < b.id' ],
	[ 'cf_union_all', $serial, 'SELECT md5(cf_union_all(a.filter, b.filter)::bytea) FROM f a, f b WHERE a.id < b.id' ],
	[ 'cf_intersection', $serial, 'SELECT md5(cf_intersection(a.filter, b.filter)::bytea) FROM f a, f b WHERE a.id < b.id' ],
	[ 'cf_overlap', $serial, 'SELECT cf_overlap(a.filter, b.filter) FROM f a, f b WHERE a.id < b.id' ],
	[ 'cf_resize', $serial, 'SELECT md5(cf_resize(filter, cf_count(filter), 0.015)::bytea) FROM f WHERE id = 1' ],
	[ 'cf_check', $serial, 'SELECT count(*) FROM f, cf_check(filter)' ],
	[ 'text form', $serial, 'SELECT md5(filter::text::cuckoofilter::bytea) FROM f WHERE id = 1' ],
	[ 'cast to and from bytea', $serial, 'SELECT md5(filter::bytea::cuckoofilter::bytea) FROM f WHERE id = 1' ],
	[ 'cf_add_all', $serial, "SELECT md5(cf_add_all(filter, ARRAY(SELECT g + $nrows FROM k))::bytea) FROM f WHERE id = 1" ],
	[ 'cf_remove_all', $serial, 'SELECT md5(cf_remove_all(filter, ARRAY(SELECT g FROM k))::bytea) FROM f WHERE id = 1' ],
	[ 'cf_contains_each', $serial, 'SELECT cardinality(cf_contains_each(filter, ARRAY(SELECT g FROM k))) FROM f WHERE id = 1' ],
	[ 'cf_add one by one', $serial, "SELECT cf_count(cf_add_all(cf_new($nrows), ARRAY(SELECT cf_count(cf_add(filter, g)) + g FROM full_up, k LIMIT 100000))) FROM (SELECT cf_new(300) AS filter) full_up" ],
	[ 'probes of a constant', $serial, 'SELECT count(*) FROM k WHERE cf_contains((SELECT filter FROM f WHERE id = 2), g)' ],
	[ 'probes of a stored filter', "$serial SET cuckoo_filter.cache_size = 0;", "SELECT count(*) FROM f, k WHERE id = 1 AND g < 30000 AND cf_contains(filter, g)" ],
	[ 'probes of many filters', $serial, 'SELECT count(*) FROM many, generate_series(1, 500) g WHERE filter @> g * 1000' ],
	[ 'a large array as key', $serial, 'SELECT cf_hash(ARRAY(SELECT g FROM k))' ],
	[ 'a large document as key', $serial, 'SELECT cf_hash((SELECT jsonb_object_agg(t, g) FROM k))' ],
	[ 'comparison and hash', $serial, 'SELECT count(*) FROM many a JOIN many b USING (filter)' ]);

# All answers are known first.
my %answers;
my %took;
for my $operation (@operations)
{
	my ($name, $settings, $query) = @$operation;
	my $out = $node->safe_psql('postgres', "$settings
		SELECT extract(epoch FROM clock_timestamp()) AS start \\gset
		$query;
		SELECT (1000 * (extract(epoch FROM clock_timestamp()) - :start))::int");

	($answers{$name}, $took{$name}) = split /\n/, $out;
}

#
# Little memory to work with: the same filters, by way of files
#
is($answers{'cf_agg with files'}, $answers{'cf_agg in memory'}, 'work_mem of 64kB: the same filter');
is($answers{'cf_agg in parallel'}, $answers{'cf_agg in memory'}, 'parallel: the same filter');
for my $call ('cf_agg(g, 1e6, 0.001)', 'cf_agg(t)', 'cf_bag_agg(g % 1000, 1e6)', 'cf_bag_agg(g % 90000, 1e6, 0.01, 3)',
	'cf_union_agg(filter)', 'cf_union_all_agg(filter)')
{
	# the bytes of a union depend on the order in which the filters come
	my ($table, $key, $print) = $call =~ /union/ ? ('many', 'id', "cf_count($call)::text") : ('k', 'g', "md5($call\::bytea)");

	for my $query ("SELECT $print FROM $table",
		"SELECT md5(string_agg(p, '' ORDER BY p)) FROM (SELECT $print AS p FROM $table GROUP BY $key % 7) s")
	{
		my @results = map { $node->safe_psql('postgres', "$_ $query") }
		  ("$serial SET work_mem = '512MB';", $small, "$small SET hash_mem_multiplier = 1; SET enable_sort = off;", "$parallel SET work_mem = '64kB';");

		is_deeply(\@results, [ ($results[0]) x 4 ], "work_mem of 64kB: $query");
	}
}
still_sound('work_mem');

#
# Time that is up
#
# Where in an operation the timeout comes is left to chance and the machine.
# What counts is the processor time that the backend takes after it; that is
# not more because others work as well.  The setting comes in one message with
# the statement, so that the error takes it back: what follows has all the time.
# A statement that ends with its time is not cancelled, but the server may say so
# of the next one.  That is why the setting is taken back twice.
my @parts = $long ? map { $_ / 9 } 1 .. 8 : (0.1, 0.4, 0.7);
my $bound = 3000;
my ($ncancelled, $worst, $worst_name) = (0, 0, '');
for my $operation (@operations)
{
	my ($name, $settings, $query) = @$operation;
	my $script = "\\set ON_ERROR_STOP off\n\\set VERBOSITY sqlstate\n$settings\n";

	for my $limit (1, map { int($_ * $took{$name}) + 3 } @parts)
	{
		my $before = $has_proc ? 'SELECT cpu() AS before' : 'SELECT 0 AS before';
		my $after = $has_proc ? 'SELECT cpu() - :before AS used' : 'SELECT 0 AS used';

		$script .= qq{
			\\set answer none
			$before \\gset
			SET statement_timeout = $limit\\; SELECT ($query) AS answer \\gset
			\\set state :SQLSTATE
			SET statement_timeout = 0;
			SET statement_timeout = 0;
			$after \\gset
			\\echo try $limit :state :used :answer
		};
	}
	$script .= "$query;\n";

	my ($out, $err);
	$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @lines = split /\n/, $out;
	my $last = pop @lines;
	my @wrong;
	my $cancelled = 0;
	for my $line (@lines)
	{
		my ($limit, $state, $used, $answer) = $line =~ /^try (\d+) (\w+) (\d+) (.*)$/
		  or push(@wrong, $line), next;

		if ($state eq '57014')
		{
			my $late = $used - $limit;

			$cancelled++;
			($worst, $worst_name) = ($late, $name) if $late > $worst;
			push @wrong, "$late ms late" if $late > $bound;
		}
		elsif ($state ne '00000' || $answer ne $answers{$name})
		{
			push @wrong, $line;
		}
	}
	$ncancelled += $cancelled;
	# the shortest may be over before any timer on a faster machine
	ok(($cancelled > 0 || $took{$name} < 5) && !@wrong && @lines == 1 + @parts, "timeouts: $name")
	  or diag("cancelled $cancelled times; wrong: @wrong; $err");
	is($last, $answers{$name}, "timeouts: $name, the answer afterwards");
}
note("$ncancelled statements were cancelled, at most $worst ms of processor time late ($worst_name)");
still_sound('timeouts');

# In the middle of one call: with a filter so large that a call takes long, the
# call ends soon after the time is up, and not at its own end.  A timeout that
# comes before the call or after it says nothing, so there are several.
SKIP:
{
	skip 'no /proc', 1 if !$has_proc;
	$node->safe_psql('postgres', 'CREATE TABLE large AS SELECT cf_agg(g) AS filter FROM generate_series(1, 4000000) g');
	my $call = 'SELECT count(*) FROM large, cf_check(filter)';
	my ($full, $took) = split /\n/, $node->safe_psql('postgres', qq{
		$call \\g /dev/null
		SELECT cpu() AS before, extract(epoch FROM clock_timestamp()) AS start \\gset
		$call \\g /dev/null
		SELECT cpu() - :before;
		SELECT (1000 * (extract(epoch FROM clock_timestamp()) - :start))::int});
	my @used;
	for my $part (0.3, 0.4, 0.2, 0.5, 0.3, 0.4, 0.2, 0.5)
	{
		my $limit = int($part * $took);
		my ($out, $err);

		$node->psql('postgres', qq{
			\\set ON_ERROR_STOP off
			$call \\g /dev/null
			SELECT cpu() AS before \\gset
			SET statement_timeout = $limit\\; $call \\g /dev/null
			SET statement_timeout = 0;
			SET statement_timeout = 0;
			SELECT cpu() - :before}, stdout => \$out, stderr => \$err, on_error_stop => 0);
		next unless $err =~ /statement timeout/;
		push @used, $out =~ /^(\d+)$/m ? $1 : 0;
		last if $used[-1] > 0.1 * $full && $used[-1] < 0.8 * $full;
	}
	ok(@used && $used[-1] > 0.1 * $full && $used[-1] < 0.8 * $full,
		'a long call is cancelled in its middle')
	  or diag("$full ms of processor time for the whole, when cancelled: @used");
	$node->safe_psql('postgres', 'DROP TABLE large');
}

#
# Backends that are ended, or cancelled, from outside
#
for my $operation (grep { $_->[0] =~ /^(cf_agg|cf_bag_agg|cf_union|cf_add_all|cf_remove_all|probes|text form|cf_resize)/ } @operations)
{
	my ($name, $settings, $query) = @$operation;
	my $file = "$dir/victim_" . ($name =~ s/\W/_/gr) . '.sql';

	append_to_file($file, qq{$settings
		SET application_name = 'victim';
		DO \$\$ BEGIN LOOP EXECUTE \$q\$ $query \$q\$; END LOOP; END \$\$;});
	my ($out, $err);
	my $victim = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-f', $file ],
		'>', \$out, '2>', \$err);

	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend' AND query LIKE '%LOOP%' AND state = 'active' AND now() - query_start > '0.1 s'})
	  or BAIL_OUT("\"$name\" does not run: $err");
	is($node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend'}),
		't', "terminated: $name");
	IPC::Run::finish($victim);
	like($err, qr/FATAL:  57P01/, "terminated: $name, with the server's own message");
}
still_sound('terminated');
is($node->safe_psql('postgres', $operations[0][2]), $answers{ $operations[0][0] }, 'terminated: other sessions go on');

#
# No room for temporary files
#
my @spilling = (
	'SELECT cf_agg(g) FROM k', 'SELECT cf_bag_agg(g) FROM k', 'SELECT cf_agg(t, 1e6) FROM k',
	'SELECT count(f) FROM (SELECT cf_agg(g) AS f FROM k GROUP BY g % 3) s',
	'SELECT cf_agg(g) FROM (SELECT g FROM k UNION ALL SELECT -g FROM k) s');

# failures(settings, query, times)
#		The SQLSTATEs that a query ends with, how often each, and what the session
#		thinks afterwards.
sub failures
{
	my ($settings, $query, $times) = @_;
	my ($out, $err);

	$node->psql('postgres', "\\set ON_ERROR_STOP off\n\\set VERBOSITY sqlstate\n$settings\n"
		. ("$query;\n" x $times) . "SELECT cf_count(cf_agg(g)) FROM generate_series(1, 100) g;",
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	my %count;
	$count{$_}++ for $err =~ /(?:ERROR|FATAL|PANIC):  (\w+)/g;
	return join(' ', map { "$_:$count{$_}" } sort keys %count) . " $out";
}

for my $query (@spilling)
{
	is(failures("$small SET temp_file_limit = '512kB';", $query, 3), '53400:3 100', "temp_file_limit: $query");
}
is(failures("$parallel SET work_mem = '64kB'; SET temp_file_limit = '256kB';", 'SELECT cf_agg(g) FROM k', 3), '53400:3 100', 'temp_file_limit: in parallel');
still_sound('temp_file_limit');

if ($ENV{CUCKOO_SMALL_DISK})
{
	$node->safe_psql('postgres', "CREATE TABLESPACE small_disk LOCATION '$ENV{CUCKOO_SMALL_DISK}'");
	for my $query (@spilling)
	{
		is(failures("$small SET temp_tablespaces = 'small_disk';", $query, 3), '53100:3 100', "full disk: $query");
	}
	is(failures($serial, 'CREATE TABLE too_much TABLESPACE small_disk AS SELECT f.* FROM f, generate_series(1, 50)', 3), '53100:3 100',
		'full disk: a table of filters');
	$node->safe_psql('postgres', 'CREATE TABLE growing (filter cuckoofilter) TABLESPACE small_disk; INSERT INTO growing VALUES (cf_new(1e7))');
	is(failures($serial, qq{DO \$\$ BEGIN FOR i IN 1..1000 LOOP UPDATE growing SET filter = cf_add_all(filter, ARRAY(SELECT g FROM generate_series(i * 10000, i * 10000 + 10000) g)); COMMIT; END LOOP; END \$\$}, 1),
		'53100:1 100', 'full disk: a filter that grows');
	is($node->safe_psql('postgres', q{
			SELECT count(*), bool_and(cf_contains_all(filter, ARRAY(SELECT generate_series(10000, cf_count(filter) / 10000 * 10000)))) FROM growing;
			SELECT count(*) FROM growing, cf_check(filter)}),
		"1|t\n0", 'full disk: it holds what was committed');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'small_disk'))}),
		'0', 'full disk: no temporary file is left');
	$node->safe_psql('postgres', 'DROP TABLE growing; DROP TABLESPACE small_disk');
	still_sound('full disk');
}

#
# Failures of every kind, again and again in one session: memory is what it was
#
my @kinds = (
	[ 'text that is none', '22P02', q{SELECT 'cf1:AAAA'::cuckoofilter} ],
	[ 'text with a wrong checksum', '22P02', q{SELECT overlay(filter::text PLACING 'abcd' FROM 200)::cuckoofilter FROM full_up} ],
	[ 'bytea too short', '22P03', q{SELECT ''::bytea::cuckoofilter} ],
	[ 'bytea cut off', '22P03', q{SELECT substr(filter::bytea, 1, 200)::cuckoofilter FROM full_up} ],
	[ 'too large', '54000', 'SELECT cf_new(1e9)' ],
	[ 'too fine', '22023', 'SELECT cf_new(1000, 1e-15)' ],
	[ 'no filter', '22004', 'SELECT cf_add(NULL, 1)' ],
	[ 'no such key', '0A000', q{SELECT cf_add(cf_new(10), point(1, 2))} ],
	[ 'full', '54000', 'SELECT cf_add_all(cf_new(200), ARRAY(SELECT generate_series(1, 1000)))' ],
	[ 'full in an update', '54000', 'UPDATE full_up SET filter = cf_add_all(filter, ARRAY(SELECT generate_series(1000, 2000)))' ],
	[ 'full in a variable', '54000', q{DO $$ DECLARE v cuckoofilter := cf_new(100); BEGIN FOR i IN 1..500 LOOP v := cf_add(v, i); END LOOP; END $$} ],
	[ 'colliding', '54000', q{SELECT cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(cf_add_hash(filter, h(1)), h(2)), h(3)), h(4)), h(5)), h(6)), h(7)), h(8)), h(9)), h(10)), h(11)), h(12)), h(13)) FROM evil} ],
	[ 'another family, stored', '42804', q{SELECT count(*) FROM f WHERE filter @> 'word'::text} ],
	[ 'another family, batch', '42804', q{SELECT cf_contains_each(filter, ARRAY['word', 'other']) FROM f} ],
	[ 'another family, added', '42804', q{SELECT cf_add_all(filter, ARRAY['word', 'other']) FROM merged} ],
	[ 'while a filter is kept', '22012', 'SELECT count(*) FROM f, generate_series(1, 300) g WHERE id = 1 AND cf_contains(filter, g) AND 1 / (300 - g) >= 0' ],
	[ 'while slices are read', '22012', 'SELECT count(*) FROM many, generate_series(1, 2) g WHERE cf_contains(filter, g) OR 1 / (150 - id) < 10' ],
	[ 'removed of a union', '55000', 'SELECT cf_remove(filter, 1) FROM merged' ],
	[ 'united with another seed', '22023', 'SELECT f.filter | other.filter FROM f, other' ],
	[ 'united in an aggregate', '22023', 'SELECT cf_union_agg(filter) FROM (SELECT filter FROM merged UNION ALL SELECT filter FROM other) s' ],
	[ 'resized below its entries', '22023', 'SELECT cf_resize(filter, 10) FROM merged' ],
	[ 'aggregate, in memory', '22012', 'SELECT cf_agg(g + 0 / (3001 - g)) FROM generate_series(1, 3001) g' ],
	[ 'aggregate, with files', '22012', 'SELECT cf_agg(g + 0 / (9001 - g)) FROM generate_series(1, 9001) g' ],
	[ 'aggregate, parameters vary', '22023', 'SELECT cf_agg(g, 10000 + g / 9001) FROM generate_series(1, 9001) g' ],
	[ 'aggregate, full at its end', '54000', 'SELECT cf_agg(g, 100) FROM generate_series(1, 9001) g' ],
	[ 'aggregate, many groups', '22012', 'SELECT count(f) FROM (SELECT cf_agg(g + 0 / (2001 - g)) AS f FROM generate_series(1, 2001) g GROUP BY g % 200) s' ],
	[ 'aggregate, window', '22012', 'SELECT count(f) FROM (SELECT cf_agg(g + 0 / (300 - g)) OVER (ORDER BY g) AS f FROM generate_series(1, 300) g) s' ],
	[ 'time up in an aggregate', '57014', 'SET statement_timeout = 2\; SELECT cf_agg(g) FROM k' ],
	[ 'time up in a union', '57014', 'SET statement_timeout = 2\; SELECT cf_union_agg(filter) FROM many' ],
	[ 'no room for files', '53400', 'SELECT cf_agg(g) FROM generate_series(1, 20000) g', q{SET temp_file_limit = '64kB';} ]);
$node->safe_psql('postgres', q{
	CREATE FUNCTION h(i int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT (x'1234abcd'::bigint << 32) | (i::bigint << 16) | 85$$});

my $nfailed = 0;
for my $kind (@kinds)
{
	my ($name, $state, $query, $settings) = @$kind;
	my ($out, $err);

	$node->psql('postgres',
		"\\set ON_ERROR_STOP off\n\\set VERBOSITY sqlstate\n$small " . ($settings || '') . "\n"
		. ("$query;\n" x $nwarm) . "SELECT memory();\n" . ("$query;\n" x $nfailures) . "SELECT memory();\n"
		. q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name ~ 'cuckoo';},
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @states = $err =~ /(?:ERROR|FATAL|PANIC):  (\w+)/g;
	my $right = grep { $_ eq $state } @states;
	my ($before, $after, $ncontexts) = split /\n/, $out;

	$nfailed += $right;
	is($right, $nwarm + $nfailures, "$name: always $state")
	  or diag(join ' ', @states[ 0 .. ($#states < 9 ? $#states : 9) ]);
	cmp_ok($after - $before, '<=', 16384, "$name: no memory is lost");
	is($ncontexts, '0', "$name: no filter is kept");
}
note("$nfailed statements failed, of " . scalar(@kinds) . " kinds");

# the same, caught in a subtransaction
for my $kind (grep { $_->[1] !~ /57014/ && $_->[2] !~ /^DO/ } @kinds)
{
	my ($name, $state, $query, $settings) = @$kind;
	(my $perform = $query) =~ s/^SELECT/PERFORM/;
	my $loop = sub {
		"DO \$\$ BEGIN FOR i IN 1..$_[0] LOOP BEGIN $perform; RAISE 'no error' USING errcode = 'ZZZZZ'; EXCEPTION WHEN SQLSTATE '$state' THEN NULL; END; END LOOP; END \$\$;\n";
	};

	my (undef, $before, $after) = split /\n/, $node->safe_psql('postgres', "$small " . ($settings || '') . "\n"
		. "SELECT memory();\n" . $loop->($nwarm) . "SELECT memory();\n" . $loop->($nfailures / 10) . 'SELECT memory();');
	cmp_ok($after - $before, '<=', 16384, "$name, caught: no memory is lost");
}
still_sound('failures');

#
# No memory
#
# The server is started under a limit of its address space, a little more than
# a backend takes that does nothing.  How much that is, /proc tells, which a
# chroot may not have.
if ($has_proc)
{
	$node->append_conf('postgresql.conf', 'max_parallel_workers = 0');
	$node->restart;
	my ($idle_kb) = $node->safe_psql('postgres', q{SELECT cf_count(cf_new(1)); SELECT pg_read_file('/proc/self/status')}) =~ /^VmPeak:\s+(\d+)/m;
	my %out_of_memory;
	my %wrong;
	my $nthere = 0;

	for my $room_mb ($long ? (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) : (2, 5, 12, 30))
	{
		my $limit_kb = $idle_kb + $room_mb * 1024;

		$node->stop;
		$node->command_ok(
			[ 'bash', '-c', 'ulimit -v "$2" && exec pg_ctl -s -w -D "$0" -l "$1" start', $node->data_dir, $node->logfile, $limit_kb ],
			"$room_mb MB: started");
		$node->_update_pid(1);
		my $up = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
		for my $operation (@operations)
		{
			my ($name, $settings, $query) = @$operation;
			my ($out, $err);

			$node->psql('postgres', "\\set ON_ERROR_STOP off\n\\set VERBOSITY sqlstate\n$settings SET work_mem = '1GB';\n$query;\nSELECT cf_count(cf_agg(g)) FROM generate_series(1, 100) g;",
				stdout => \$out, stderr => \$err, on_error_stop => 0);
			if ($err =~ /ERROR:  53200/ && $out eq '100')
			{
				$out_of_memory{$name}++;
			}
			elsif ($out ne "$answers{$name}\n100")
			{
				$wrong{$name} = "$room_mb MB: $err $out";
			}
		}
		is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $up, "$room_mb MB: the server is up");
	}
	is(join("\n", map { "$_: $wrong{$_}" } sort keys %wrong), '', 'little memory: the right answer, or "out of memory" and a session that goes on');
	my $sum = 0;
	$sum += $_ for values %out_of_memory;
	cmp_ok(scalar keys %out_of_memory, '>=', 10, 'little memory: many operations run out of it');
	note("$sum times out of memory, in " . scalar(keys %out_of_memory) . ' of ' . scalar(@operations) . ' operations');
	$node->restart;
	is($node->safe_psql('postgres', "$operations[0][1] $operations[0][2]"), $answers{ $operations[0][0] }, 'with memory again');
}

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|was terminated|exited with exit code [^01]/, 'no process has died');

$node->stop;
done_testing();
