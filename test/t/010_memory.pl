# Memory of a session that calls functions again and again.
#
# Every function, operator, cast and aggregate runs some hundred times in one
# session: as a plain statement, prepared, in PL/pgSQL, and in a trigger, over
# filters of about 1 kB, 20 kB and 2 MB (more often with CUCKOO_TEST_LONG).  Contexts and the process must not
# grow with the number of calls.  A function of the extension that is not
# called here fails the test.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# no JIT: the server keeps what it compiles
$node->append_conf('postgresql.conf', "jit = off\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');

# f and g can be merged; values are 1 to n and half of that and more.
my %sizes = (small => 500, medium => 12_000, large => 1_200_000);
my %calls = $ENV{CUCKOO_TEST_LONG}
  ? (small => 400, medium => 400, large => 100)
  : (small => 150, medium => 80, large => 8);
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE filters (size text PRIMARY KEY, f cuckoofilter, g cuckoofilter);
SQL
for my $size (sort keys %sizes)
{
	my $n = $sizes{$size};

	$node->safe_psql('postgres', <<"SQL");
INSERT INTO filters SELECT '$size', cf_bag_agg(v, 2 * $n),
    cf_bag_agg(v, 2 * $n) FILTER (WHERE v > $n / 2)
    FROM generate_series(1, $n) AS v;
SQL
}
$node->safe_psql('postgres',
	'CREATE TABLE written AS SELECT size, f FROM filters');

# What is called: an expression of f, g, and i, the number of the call.
my @expressions = (
	'cf_new(1000 + i)', 'cf_resize(f, 4 * cf_count(f))', 'cf_clear(f)',
	'cf_add(f, -i)', 'cf_add(f, 1)',
	'cf_add_all(f, array[-i, -i - 1, 3])', 'cf_add_hash(f, i)',
	'cf_add_hashes(f, array[i, i + 1]::bigint[])',
	'cf_remove(f, i)', 'cf_remove(f, -1)', 'cf_remove_all(f, array[i, i + 1])',
	'cf_remove_hash(f, cf_hash(i))',
	'cf_remove_hashes(f, array[cf_hash(i)])',
	'cf_add(cf_remove(cf_add(f, -i), i), -i - 1)',
	'cf_count(cf_add(f, -i))', 'cf_add(f, -i) @> -i', 'cf_fpr(cf_remove(f, i))',
	'cf_contains(f, i)', 'cf_contained(i, f)', 'f @> i', 'i <@ f',
	'cf_contains_hash(f, i)', 'cf_contains_hashes(f, array[i]::bigint[])',
	'cf_contains_any(f, array[-i, i])', 'cf_contains_all(f, array[1, i])',
	'cf_contains_each(f, array[-i, i])',
	'cf_count(f)', 'cf_count(f, i)', 'cf_fpr(f)', 'cf_hash(i::text)',
	'cf_hash(row(i, i::text, array[i]))', "cf_hash('{\"a\": [1, 2]}'::jsonb)",
	'cf_shard(i, 16)',
	'(cf_info(f)).entries', '(SELECT count(*) FROM cf_plan(1000 + i))',
	'(SELECT count(*) FROM cf_check(f))',
	'cf_union(f, g)', 'cf_union_all(f, g)', 'f | g', 'cf_intersection(f, g)',
	'cf_overlap(f, g)',
	'cf_cmp(f, g)', 'f = g', 'f <> g', 'f < g', 'f <= g', 'f > g', 'f >= g',
	'cuckoofilter_hash(f)', 'cuckoofilter_hash_extended(f, i)',
	'f::text', 'f::text::cuckoofilter', 'f::bytea', 'f::bytea::cuckoofilter',
	'cuckoofilter_send(f)',
	'(SELECT cf_agg(v) FROM generate_series(1, 100 + i) AS v)',
	'(SELECT cf_agg(v::text, 1000, 0.001, 2, 3) FROM generate_series(1, 200) AS v)',
	'(SELECT cf_bag_agg(v % 10, 1000) FROM generate_series(1, 100 + i) AS v)',
	'(SELECT cf_bag_agg(v) FROM generate_series(1, 100 + i) AS v)',
	'(SELECT cf_hash_agg(v, 1000) FROM generate_series(1, 100 + i) AS v)',
	'(SELECT cf_union_agg(x) FROM (VALUES (f), (g), (f)) AS v (x))',
	'(SELECT cf_union_all_agg(x) FROM (VALUES (f), (g)) AS v (x))');

# Functions behind operators, casts, input and output.
my @not_called = qw(
  cuckoofilter_in cuckoofilter_out cuckoofilter_recv cuckoofilter_to_bytea
  cuckoofilter_from_bytea cf_eq cf_ne cf_lt cf_le cf_gt cf_ge);
my $all = join "\n", @expressions;
my $missing = $node->safe_psql('postgres', <<'SQL');
SELECT DISTINCT p.proname
    FROM pg_depend AS d JOIN pg_proc AS p ON p.oid = d.objid
    WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
        AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoo_filter')
        AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
        AND p.proname !~ '_(transition|final|combine|serialize|deserialize)$'
        AND p.proname !~ '^cf_(upkeep|attach|detach|rebuild|drift|filter_list)'
        AND p.prorettype <> 'trigger'::regtype
    ORDER BY 1
SQL
my %known = map { $_ => 1 } split /\n/, $missing;
my @missing = grep { my $name = $_; $all !~ /\b$name\b/ && !grep { $_ eq $name } @not_called }
  sort keys %known;
is("@missing", '', 'every function is called');

# A function that this version does not have yet is not called.
@expressions = grep {
	my $expression = $_;
	!grep { !$known{$_} } $expression =~ /\b(cf_\w+)\(/g
} @expressions;

# What a session holds: bytes of all contexts, and resident pages that it does
# not share.
my $measure = q{SELECT (SELECT sum(total_bytes) FROM pg_backend_memory_contexts) AS %s_bytes,
    (SELECT split_part(s, ' ', 2)::bigint - split_part(s, ' ', 3)::bigint
        FROM pg_read_file('/proc/self/statm', 0, 1000) AS s) * 4096 AS %s_rss \gset
};
my $has_proc = -r '/proc/self/statm';
diag("no /proc here: what no context knows of is not measured") unless $has_proc;
$measure =~ s/\(SELECT split_part.*\* 4096/0/s unless $has_proc;

# growth(NAME, TIMES, SQL): a script that runs SQL so often, after some times to
# fill caches, and prints what has grown.
sub growth
{
	my ($name, $ncalls, $sql) = @_;
	my $warm = $sql x ($ncalls < 30 ? $ncalls : 30);

	# the first measurement allocates, too
	return $warm . sprintf($measure, 'x', 'x') . sprintf($measure, 'a', 'a')
	  . ($sql x $ncalls) . sprintf($measure, 'b', 'b')
	  . "SELECT '$name' || chr(9), :b_bytes - :a_bytes, :b_rss - :a_rss;\n";
}

# Runs scripts, and complains of each whose contexts or process have grown by
# more than the server itself may need.  To lose the filter in each call takes
# at least three times as much.
sub check_growth
{
	my ($title, $scripts, $least, $least_rss) = @_;
	my ($result, $stdout, $stderr) = $node->psql('postgres',
		"\\set QUIET on\n\\pset tuples_only on\n\\pset format unaligned\n"
		  . join('', @$scripts),
		on_error_stop => 1);
	my @rows = grep { /^[^\t]+\t\|-?\d+\|-?\d+$/ } split /\n/, $stdout;
	my @grown;

	is($result, 0, "$title: all calls succeed") or diag($stderr);
	is(scalar(@rows), scalar(@$scripts), "$title: all are measured");
	for my $row (@rows)
	{
		my ($name, $bytes, $rss) = $row =~ /^([^\t]+)\t\|(-?\d+)\|(-?\d+)$/;

		push @grown, "$name: contexts grow by $bytes, the process by $rss"
		  if $bytes > $least || $rss > $least_rss;
	}
	is(join("\n", @grown), '', "$title: memory does not grow");
}

for my $size (qw(small medium large))
{
	my $ncalls = $calls{$size};
	my @least = $size eq 'small' ? (50_000, 300_000) :
	  $size eq 'medium' ? (300_000, 450_000) : (400_000, 4_000_000);
	my @used = @expressions;
	my (@plain, @prepared, @block);

	# what writes text of megabytes is asked for the smaller ones
	@used = grep { !/text|info|check/ } @used if $size eq 'large';
	for my $number (0 .. $#used)
	{
		my $expression = $used[$number];
		(my $name = $expression) =~ s/'/"/g;
		(my $constant = $expression) =~ s/\bi\b/7/g;
		(my $parameter = $expression) =~ s/\bi\b/\$1/g;
		my $from = "FROM filters WHERE size = '$size'";

		push @plain, growth("$name", $ncalls,
			"SELECT ($constant) IS NULL AS done $from \\gset\n");
		push @prepared,
		  "PREPARE p$number(int) AS SELECT ($parameter) IS NULL AS done $from;\n"
		  . growth("$name", $ncalls, "EXECUTE p$number(7) \\gset\n");
		push @block, growth("$name", 1, <<"SQL");
DO \$\$
DECLARE
    f cuckoofilter; g cuckoofilter; r text;
BEGIN
    SELECT filters.f, filters.g INTO f, g $from;
    FOR i IN 1 .. $ncalls LOOP
        r := ($expression) IS NULL;
    END LOOP;
END \$\$;
SQL
	}
	check_growth("$size, plain", \@plain, @least);
	check_growth("$size, prepared", \@prepared, @least);
	check_growth("$size, PL/pgSQL", \@block, @least);

	# stored again and again; the same row, so that nothing else grows
	check_growth("$size, updates", [
		map { growth($_, $ncalls, "UPDATE written SET f = $_ WHERE size = '$size';\n") }
		('cf_add(f, -1)', 'cf_remove(f, -1)', 'cf_add_all(f, array[-1, -2])',
			'f | f') ], @least);
	$node->safe_psql('postgres', 'VACUUM written');

	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE watched_$size (v int, n bigint);
CREATE FUNCTION watch_$size() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
    SELECT cf_count(cf_add(f, NEW.v)) INTO NEW.n FROM filters
        WHERE size = '$size' AND NOT f @> (- NEW.v);
    RETURN NEW;
END \$\$;
CREATE TRIGGER watch BEFORE INSERT ON watched_$size FOR EACH ROW
    EXECUTE FUNCTION watch_$size();
SQL
	check_growth("$size, trigger", [ growth('trigger', $ncalls,
		"INSERT INTO watched_$size VALUES (7);\n") ], @least);
}

# Within one call: nothing is kept for each value, whatever its type.
$node->safe_psql('postgres', <<'SQL');
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE feeling AS (i int, m mood, t text[]);
SQL
my @values = ('v', 'v::numeric / 3', 'v::float4', 'v::text', 'v::text::char(9)',
	'v::text::name', "(ARRAY['sad', 'ok', 'happy']::mood[])[v % 3 + 1]",
	"(ARRAY['sad', 'ok', 'happy']::mood[])[1:v % 3 + 1]",
	"decode(md5(v::text), 'hex')", 'md5(v::text)::uuid', "v::bit(32)::varbit",
	"'10.0.0.0'::inet + v", "'2024-01-01'::date + v", 'make_interval(0, 0, 0, v)',
	"jsonb_build_object('a', v, 'b', jsonb_build_array(v::numeric / 7))",
	'ARRAY[v, v + 1]', 'ARRAY[v::text, NULL]', 'int4range(v, v + 5)',
	'numrange(v, v + 0.5)', 'int4multirange(int4range(v, v + 1), int4range(v + 3, v + 4))',
	'ROW(v, v::text, ROW(v, ARRAY[v]))',
	"ROW(v, (ARRAY['sad', 'ok', 'happy']::mood[])[v % 3 + 1], ARRAY[v::text])::feeling",
	"ARRAY[ROW(v, 'ok', NULL)::feeling]");
my @kept = split /\n/, $node->safe_psql('postgres', "SET jit = off;\n" . join '', map { (my $value = $_) =~ s/\bv\b/(n % 50)/g; <<"SQL" } @values);
SELECT \$\$$value\$\$, max(bytes) - min(bytes), cf_count(cf_agg($value)) > 0,
    count(cf_hash($value)), count(*) FILTER (WHERE cf_add(cf_new(20), $value) @> $value)
    FROM (SELECT n, CASE WHEN n IN (2000, 12000) THEN
            (SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE n > 0) END AS bytes
        FROM generate_series(1, 12000) AS n OFFSET 0) AS s;
SQL
is(scalar(@kept), scalar(@values), 'values of all kinds, many in a call');
is(join("\n", grep { !/\|(-?\d+)\|t\|12000\|12000\z/ || $1 > 100_000 } @kept), '',
	'nothing is kept for each value');

$node->stop;
done_testing();
