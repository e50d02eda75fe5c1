# What the library shows to the rest of the server's process: its entry points
# and nothing else.  A module that was loaded earlier, has functions with the
# names of ours, and shows them, must not be called.
#
# Needs a compiler (CC, else cc) and nm.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $config = $ENV{PG_CONFIG} || 'pg_config';
my $cc = $ENV{CC} || 'cc';
chomp(my $library = `$config --pkglibdir` . '');
chomp(my $headers = `$config --includedir-server` . '');
$library .= '/cuckoo_filter.so';

for my $tool ("$cc --version", 'nm --version')
{
	plan skip_all => "\"$tool\" does not work" if system("$tool >/dev/null 2>&1") != 0;
}

# symbols(PATTERN, OPTION...)
#		Names of the library's symbols whose kind and name match.
sub symbols
{
	my ($pattern, @options) = @_;
	my %names;

	open my $nm, '-|', 'nm', @options, $library or die "nm: $!\n";
	while (<$nm>)
	{
		my ($kind, $name) = /([A-Za-z]) (\S+)$/ or next;
		$names{$name} = 1 if "$kind $name" =~ $pattern;
	}
	close $nm;
	return sort keys %names;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');

#
# What is seen
#
my @sources = split /\n/, $node->safe_psql('postgres', q{
	SELECT DISTINCT prosrc COLLATE "C" FROM pg_proc
	WHERE probin LIKE '%cuckoo_filter' ORDER BY 1});
my @expected = sort('Pg_magic_func', '_PG_init', @sources, map { "pg_finfo_$_" } @sources);

# names of the compiler's own libraries (coverage, sanitizers) begin with __
my @seen = symbols(qr/^. (?!__)/, '-D', '--defined-only');
is_deeply(\@seen, \@expected, 'the library shows its entry points and nothing else');

#
# An impostor: all functions of ours by name, each of which ends the server
#
my %is_entry = map { $_ => 1 } @expected;
my @names = grep { /^\w+$/ && !$is_entry{$_} } symbols(qr/^[tTwW] cuckoo_/);
@names = qw(cuckoo_hash cuckoo_filter_add cuckoo_table_find cuckoo_list_find) unless @names;

my $dir = PostgreSQL::Test::Utils::tempdir();
open my $source, '>', "$dir/impostor.c" or die "$dir/impostor.c: $!\n";
print $source qq{#include "postgres.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

#define IMPOSTOR(name) \\
	extern __attribute__((visibility("default"))) void name(void); \\
	void name(void) { elog(PANIC, "the impostor's " #name " was called"); }
};
print $source "IMPOSTOR($_)\n" for @names;
close $source;
is(system("$cc -shared -fPIC -I$headers -o $dir/impostor.so $dir/impostor.c >$dir/log 2>&1"), 0,
	'a module with ' . @names . ' functions of the same names')
  or diag(PostgreSQL::Test::Utils::slurp_file("$dir/log"));

my $work = q{
	SET client_min_messages = warning;
	CREATE TEMP TABLE s AS SELECT i, cf_agg(j::text) AS f
		FROM generate_series(1, 3) i, generate_series(1, 20000) j GROUP BY i;
	SELECT cf_hash(1), cf_hash('one'::text), cf_hash(ARRAY[1.5, NULL]);
	SELECT sum(cf_count(f)), bool_and(f @> '17'::text), bool_or(cf_contains_hash(f, 5)) FROM s;
	SELECT cf_count(cf_remove(cf_add_all(cf_new(5000, 0.001), ARRAY(SELECT generate_series(1, 4000))), 7));
	SELECT cf_count(cf_union(cf_agg(i, 100), cf_agg(i + 5, 100))) FROM generate_series(1, 10) i;
	SELECT cf_count(cf_union_all_agg(cf_add(cf_new(100), i))) FROM generate_series(1, 50) i;
	SELECT count(*) FROM cf_check(cf_resize((SELECT cf_bag_agg(i % 7, 1000) FROM generate_series(1, 100) i), 50));
	SELECT cf_contains_each(f::cuckoofilter, ARRAY['1', '2'])
		FROM (SELECT cf_agg(i::text)::text AS f FROM generate_series(2, 9) i) x;
};
my $alone = $node->safe_psql('postgres', $work);
like($alone, qr/^3439722301264460078\|/, 'answers without it');

$node->append_conf('postgresql.conf', "shared_preload_libraries = '$dir/impostor.so'");
$node->restart;
is($node->safe_psql('postgres', $work), $alone, 'the same answers with it');

# What the server compiles itself (jit) has to reach functions that are hidden.
SKIP:
{
	skip 'this server does not compile queries', 1
	  if $node->safe_psql('postgres', 'SELECT pg_jit_available()') ne 't';
	my $jit = "SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0;";
	is($node->safe_psql('postgres', "$jit $work"), $alone, 'the same answers from compiled queries');
}

$node->stop;
done_testing();
