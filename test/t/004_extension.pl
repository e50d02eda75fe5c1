# The extension as a member of the database: every way to install it makes the
# same catalog, dropping it leaves nothing, it can be moved, anybody may install
# it, and nobody's names come between it and what it means.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use ExtensionCatalog;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

sub database
{
	my ($name, $options) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 " . ($options || ''));
	return $name;
}

# error_of(database, sql)
#		SQLSTATE and message of the error that a statement ends with.
sub error_of
{
	my ($db, $sql, %options) = @_;
	my ($out, $err) = ('', '');

	$node->psql($db, "\\set VERBOSITY verbose\n$sql", stderr => \$err, stdout => \$out,
		on_error_stop => 1, %options);
	return $err =~ /ERROR:  (\w+: .*)$/m ? $1 : "no error: $out$err";
}

#
# Versions
#
my $default = $node->safe_psql('postgres',
	q{SELECT default_version FROM pg_available_extensions WHERE name = 'cuckoo_filter'});
database('fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION cuckoo_filter');
my $fresh = catalog_of($node, 'fresh', 'cuckoo_filter');
my $nlines = () = $fresh =~ /^/mg;
cmp_ok($nlines, '>', 300, 'the catalog has something to compare');
like($fresh, qr/^function public\.cf_add\(.*\| pg_proc \|.*procost: 100; .*prorettype: type public\.cuckoofilter/m,
	'columns that refer to other objects are shown as these');
like($fresh, qr/^function public\.cf_agg\(.*\| pg_aggregate \|.*aggtransfn: function public\.cf_agg_transition/m,
	'aggregates are shown');
is(join("\n", $fresh =~ /^.*\| pg_[a-z]+ \|.*(?<!procost): [0-9]{5,}(?:;|$).*/mg), '', 'no OID is left');

# it would be noticed
$node->safe_psql('fresh', 'ALTER FUNCTION cf_add COST 101');
isnt(catalog_of($node, 'fresh', 'cuckoo_filter'), $fresh, 'another cost is a difference');
$node->safe_psql('fresh', q{ALTER FUNCTION cf_add COST 100; CREATE FUNCTION stray() RETURNS int LANGUAGE sql AS 'SELECT 1';
	ALTER EXTENSION cuckoo_filter ADD FUNCTION stray()});
isnt(catalog_of($node, 'fresh', 'cuckoo_filter'), $fresh, 'another function is a difference');
$node->safe_psql('fresh', 'ALTER EXTENSION cuckoo_filter DROP FUNCTION stray(); DROP FUNCTION stray()');
same_catalog(catalog_of($node, 'fresh', 'cuckoo_filter'), $fresh, 'what was undone is none');

# to the version it has
$node->safe_psql('fresh', "ALTER EXTENSION cuckoo_filter UPDATE; ALTER EXTENSION cuckoo_filter UPDATE TO '$default'");
same_catalog(catalog_of($node, 'fresh', 'cuckoo_filter'), $fresh, "update from $default to $default");

# dropped and installed again, first with something that uses it
like(error_of('fresh', 'CREATE TABLE t (f cuckoofilter); DROP EXTENSION cuckoo_filter'),
	qr/^2BP01: /, 'an extension in use is not dropped');
$node->safe_psql('fresh', 'DROP TABLE t; DROP EXTENSION cuckoo_filter');
is($node->safe_psql('fresh', q{
		SELECT (SELECT count(*) FROM pg_proc WHERE probin LIKE '%cuckoo_filter%' OR proname ~ '^(cf_|cuckoofilter)')
			+ (SELECT count(*) FROM pg_type WHERE typname ~ 'cuckoofilter')
			+ (SELECT count(*) FROM pg_opclass WHERE opcname ~ 'cuckoofilter')
			+ (SELECT count(*) FROM pg_opfamily WHERE opfname ~ 'cuckoofilter')
			+ (SELECT count(*) FROM pg_operator WHERE oid >= 16384) + (SELECT count(*) FROM pg_cast WHERE oid >= 16384)
			+ (SELECT count(*) FROM pg_description WHERE objoid >= 16384)}),
	'0', 'nothing is left of a dropped extension');
$node->safe_psql('fresh', 'CREATE EXTENSION cuckoo_filter');
same_catalog(catalog_of($node, 'fresh', 'cuckoo_filter'), $fresh, 'installed again');

# Every version there is a script of, taken to the default one by every step
# there is a script of.
my @paths = split /\n/, $node->safe_psql('postgres', qq{
	SELECT coalesce(p.path, v.version) FROM pg_available_extension_versions v
		LEFT JOIN pg_extension_update_paths('cuckoo_filter') p ON p.source = v.version AND p.target = '$default'
	WHERE v.name = 'cuckoo_filter' AND (v.version = '$default' OR p.path IS NOT NULL)
	ORDER BY 1});
cmp_ok(scalar @paths, '>=', 1, "versions: @paths");
is( $node->safe_psql('postgres', qq{
		SELECT string_agg(version, ' ') FROM pg_available_extension_versions v
		WHERE name = 'cuckoo_filter' AND version <> '$default' AND NOT EXISTS (
			SELECT FROM pg_extension_update_paths('cuckoo_filter') p
			WHERE p.source = v.version AND p.target = '$default' AND p.path IS NOT NULL)}),
	'', 'every version can be updated to the default one');
for my $path (@paths)
{
	my ($first, @steps) = split /--/, $path;
	(my $name = "from_$first") =~ s/\W/_/g;

	database($name);
	$node->safe_psql($name, "CREATE EXTENSION cuckoo_filter VERSION '$first'; CREATE TABLE kept AS SELECT cf_agg(g) AS filter FROM generate_series(1, 1000) g");
	$node->safe_psql($name, "ALTER EXTENSION cuckoo_filter UPDATE TO '$_'") for @steps;
	same_catalog(catalog_of($node, $name, 'cuckoo_filter'), $fresh, "$path: the catalog of a fresh installation");
	is($node->safe_psql($name, 'SELECT cf_contains_all(filter, ARRAY(SELECT generate_series(1, 1000))) FROM kept'),
		't', "$path: filters made before still hold their values");
	$node->safe_psql('postgres', "DROP DATABASE $name");
}

#
# In another schema, while all kinds of things depend on it
#
database('moved');
$node->safe_psql('moved', q{
	CREATE SCHEMA old_home;
	CREATE SCHEMA new_home;
	CREATE EXTENSION cuckoo_filter SCHEMA old_home;
	SET search_path = public, old_home;
	CREATE TABLE big AS SELECT g AS id, g % 100 AS part, 'word ' || g % 5000 AS word FROM generate_series(1, 20000) g;
	ANALYZE big;
	CREATE DOMAIN bounded AS cuckoofilter CHECK (cf_count(VALUE) < 100000);
	CREATE TABLE stored (
		id int PRIMARY KEY,
		filter bounded NOT NULL DEFAULT cf_new(30000),
		first int,
		copy cuckoofilter GENERATED ALWAYS AS (cf_add(filter, first)) STORED,
		CHECK (first IS NULL OR copy @> first));
	INSERT INTO stored SELECT part, cf_agg(id, 30000), part FROM big GROUP BY part;
	INSERT INTO stored VALUES (1000, DEFAULT, 5);
	CREATE INDEX stored_hash ON stored USING hash (filter);
	CREATE INDEX stored_btree ON stored (filter) WHERE octet_length(filter::bytea) < 1000;
	CREATE INDEX stored_count ON stored (cf_count(copy));
	CREATE TABLE sliced (id int, filter cuckoofilter) PARTITION BY HASH (filter);
	CREATE TABLE sliced_0 PARTITION OF sliced FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE sliced_1 PARTITION OF sliced FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO sliced SELECT id, filter FROM stored;
	CREATE VIEW casts AS SELECT id, filter::bytea AS bytes, filter::bytea::cuckoofilter AS back, filter::text::cuckoofilter AS reread FROM stored;
	CREATE VIEW operators AS SELECT s.id, b.id AS value, s.filter @> b.id AS l, b.id <@ s.filter AS r FROM stored s JOIN big b ON b.part = s.id;
	CREATE VIEW united AS SELECT cf_union_agg(filter) = (SELECT cf_union_agg(filter | filter) FROM stored) AS same, cf_count(cf_union_agg(filter)) AS n FROM stored;
	CREATE VIEW sorted AS SELECT DISTINCT copy FROM stored ORDER BY copy;
	CREATE VIEW aggregated AS SELECT cf_agg(word) AS words, cf_bag_agg(id, 30000, 0.001) AS ids FROM big;
	CREATE VIEW semijoin AS SELECT count(*) AS n FROM big WHERE cf_contains((SELECT cf_agg(id) FROM big WHERE part = 7), id);
	CREATE MATERIALIZED VIEW rollup AS SELECT part % 10 AS ten, cf_agg(id) AS filter FROM big GROUP BY 1;
	CREATE TABLE noted (id int);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.noted VALUES (NEW.id); RETURN NEW; END';
	CREATE TRIGGER on_update AFTER UPDATE ON stored FOR EACH ROW WHEN (NEW.filter @> -1) EXECUTE FUNCTION note();
	CREATE FUNCTION holds(f cuckoofilter, v int) RETURNS bool LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT f @> v; END;
});

# what there is to be seen of it; the schema of the extension is not in the path
my $views = q{
	SET search_path = public;
	SELECT md5(string_agg(id || bytes::text || (bytes = back::bytea) || (back::bytea = reread::bytea), '' ORDER BY id)) FROM casts;
	SELECT count(*), count(*) FILTER (WHERE l AND r) FROM operators;
	SELECT * FROM united;
	SELECT md5(string_agg(copy::text, '')) FROM sorted;
	SELECT md5(words::text), md5(ids::text) FROM aggregated;
	SELECT n BETWEEN 200 AND 300 FROM semijoin;
	SELECT md5(string_agg(filter::text, '' ORDER BY ten)) FROM rollup;
	REFRESH MATERIALIZED VIEW rollup;
	SELECT md5(string_agg(filter::text, '' ORDER BY ten)) FROM rollup;
	SELECT count(*) FROM sliced_0; SELECT count(*) FROM sliced_1;
	SELECT count(*) FROM stored WHERE holds(filter, 7);
	SELECT id, length(filter::text), length(copy::text) FROM stored WHERE id IN (7, 1000);
};
my $seen = $node->safe_psql('moved', $views);
like($seen, qr/^20000\|20000$/m, 'before: filters hold their values');
my $catalog = catalog_of($node, 'moved', 'cuckoo_filter');
$node->safe_psql('moved', 'ALTER EXTENSION cuckoo_filter SET SCHEMA new_home');
is($node->safe_psql('moved', $views), $seen, 'moved: all that depends on the extension answers as before');
(my $expected = $catalog) =~ s/\bold_home\b/new_home/g;
same_catalog(catalog_of($node, 'moved', 'cuckoo_filter'), $expected,
	'moved: the catalog differs in the name of the schema only');

# node_types(settings, query)
#		The nodes of the plan of a query.
sub node_types
{
	my ($settings, $query) = @_;

	return join ' ', $node->safe_psql('moved', "$settings; EXPLAIN (FORMAT json, COSTS off) $query") =~ /"Node Type": "([^"]+)"/g;
}
like(node_types('SET enable_seqscan = off; SET search_path = public, new_home', 'SELECT FROM stored WHERE filter = (SELECT filter FROM sliced WHERE id = 7)'),
	qr/Index Scan|Bitmap Index Scan/, 'moved: indexes are used');
is($node->safe_psql('moved', q{
		SET enable_seqscan = off; SET search_path = public;
		UPDATE stored SET filter = new_home.cf_add(filter, -1), first = -1 WHERE id < 3;
		SELECT count(*) FROM noted;
		SELECT count(*) FROM stored a JOIN stored b ON a.filter OPERATOR(new_home.=) b.filter;
		SELECT count(*) FROM stored WHERE copy OPERATOR(new_home.@>) -1}),
	"3\n101\n3", 'moved: indexes, triggers and generated columns keep up');
like(error_of('moved', 'INSERT INTO stored (id, filter) VALUES (2000, new_home.cf_add_all(new_home.cf_new(200000), ARRAY(SELECT generate_series(1, 100000))))'),
	qr/^23514: /, 'moved: domain constraints are checked');
like( $node->safe_psql('moved', q{
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
		EXPLAIN (COSTS off) SELECT new_home.cf_agg(id) FROM big}),
	qr/Partial Aggregate/, 'moved: aggregates are parallel');
is( $node->safe_psql('moved', q{
		CREATE TABLE built AS SELECT new_home.cf_agg(id) AS filter FROM big;
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
		SELECT new_home.cf_agg(id) OPERATOR(new_home.=) (SELECT filter FROM built) FROM big}),
	't', 'moved: and give the same filter');

# The planner asks the filter: some 200 of 20,000 rows, not the default 2,000.
my $plan = $node->safe_psql('moved', q{
	SELECT format('EXPLAIN (FORMAT json) SELECT FROM big WHERE new_home.cf_contains(%L::new_home.cuckoofilter, id)', filter) FROM stored WHERE id = 7 \gexec
	SELECT format('EXPLAIN (FORMAT json) SELECT FROM big WHERE id OPERATOR(new_home.<@) %L::new_home.cuckoofilter', filter) FROM stored WHERE id = 7 \gexec
});
my @rows = $plan =~ /"Plan Rows": (\d+)/g;
ok(@rows == 2 && !grep({ $_ < 100 || $_ > 1000 } @rows), "moved: the planner knows the filter: @rows rows");

# dumped as it is now
my $dir = PostgreSQL::Test::Utils::tempdir();
$node->command_ok([ 'pg_dump', '-F', 'custom', '-f', "$dir/moved", 'moved' ], 'moved: dump');
database('restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', "$dir/moved" ], 'moved: restore');
is($node->safe_psql('restored', $views), $node->safe_psql('moved', $views), 'moved: the restored answers as well');

#
# Installed by anybody who may create things in the database
#
$node->safe_psql('postgres', 'CREATE ROLE plain LOGIN; CREATE ROLE other LOGIN');
database('ordinary');
my @as_plain = (extra_params => [ '-U', 'plain' ]);
like(error_of('ordinary', 'CREATE EXTENSION cuckoo_filter', @as_plain), qr/^42501: /,
	'who may not create a schema may not create the extension');
$node->safe_psql('ordinary', 'GRANT CREATE ON DATABASE ordinary TO plain');
$node->safe_psql('ordinary', 'CREATE SCHEMA theirs; CREATE EXTENSION cuckoo_filter SCHEMA theirs', @as_plain);
is( $node->safe_psql('ordinary', q{
		SET search_path = theirs;
		CREATE TABLE f AS SELECT cf_agg(g) AS filter FROM generate_series(1, 5000) g;
		UPDATE f SET filter = cf_add(filter, 0) WHERE filter @> 17;
		SELECT cf_contains_all(filter, ARRAY(SELECT generate_series(0, 5000))) FROM f}, @as_plain),
	't', 'a role without privileges uses what it has installed');
is( $node->safe_psql('ordinary', q{
		SELECT extowner::regrole, (SELECT string_agg(DISTINCT proowner::regrole::text, ' ') FROM pg_proc
				WHERE pronamespace = 'theirs'::regnamespace AND proname ~ '^cf_') = current_user
		FROM pg_extension WHERE extname = 'cuckoo_filter'}),
	'plain|t', 'it owns the extension, but no function of it');
like(error_of('ordinary', 'ALTER FUNCTION theirs.cf_count(theirs.cuckoofilter) COST 1', @as_plain), qr/^42501: /,
	'nor can it change one');
like(error_of('ordinary', q{CREATE FUNCTION theirs.mine(cstring) RETURNS int LANGUAGE c AS '$libdir/cuckoo_filter', 'cuckoofilter_in'}, @as_plain),
	qr/^42501: /, 'nor make another of the same C code');
is($node->safe_psql('ordinary', q{GRANT USAGE ON SCHEMA theirs TO other}, @as_plain)
	. $node->safe_psql('ordinary', q{SELECT theirs.cf_count(theirs.cf_add(theirs.cf_new(10), 1))}, extra_params => [ '-U', 'other' ]),
	'1', 'other roles use it, too');
$node->safe_psql('ordinary', 'DROP EXTENSION cuckoo_filter CASCADE', @as_plain);
is($node->safe_psql('ordinary', q{SELECT count(*) FROM pg_proc WHERE probin LIKE '%cuckoo_filter%'}), '0',
	'it drops the extension again');

#
# Names that lie in wait
#
# What stands in the schema to be installed into, under a name of ours, makes
# the installation fail, and nothing is left of it; it is never used or taken
# over.  The role that waits for a superuser to come by has set it up.
for my $trap (
	'CREATE TYPE theirs.cuckoofilter AS (a int)',
	'CREATE DOMAIN theirs.cuckoofilter AS bytea',
	q{CREATE FUNCTION theirs.cf_new(capacity float8, fpr float8 DEFAULT 0.01, max_copies int DEFAULT 4, seed bigint DEFAULT 0) RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'},
	q{CREATE FUNCTION theirs.cf_plan(float8, float8) RETURNS SETOF record LANGUAGE sql AS 'SELECT 1, 2'})
{
	$node->safe_psql('ordinary', $trap, @as_plain);
	like(error_of('ordinary', 'CREATE EXTENSION cuckoo_filter SCHEMA theirs'), qr/^42(710|723|P13|809): /, "refused beside: " . substr($trap, 0, 50));
	is($node->safe_psql('ordinary', q{SELECT (SELECT count(*) FROM pg_extension WHERE extname = 'cuckoo_filter') || ' ' || (SELECT count(*) FROM pg_proc WHERE probin LIKE '%cuckoo_filter%')}),
		'0 0', 'and nothing of it is left');
	$node->safe_psql('ordinary', 'DROP SCHEMA theirs CASCADE; CREATE SCHEMA theirs', @as_plain);
}

# Built-in names in the schema of the extension, and before pg_catalog in the
# search path.  Whatever calls one of these functions, or takes one of these
# types or tables for the built-in one, does not come to the same result.
my @types = qw(int2 int4 int8 float4 float8 numeric bool text bytea cstring oid name int4range int4multirange record jsonb uuid anycompatible anycompatiblearray internal);
my $traps = join "\n",
  (map { "CREATE TYPE theirs.$_ AS (trap int);" } @types),
  "CREATE FUNCTION theirs.trap() RETURNS pg_catalog.int4 LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'trapped'; END \$\$;",
  (
	map {
		my ($operator, $type) = @$_;
		(my $function = "trap_$type") =~ s/\W//g;
		"CREATE OR REPLACE FUNCTION theirs.$function(pg_catalog.$type, pg_catalog.$type) RETURNS pg_catalog.bool LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'trapped'; END \$\$;
		CREATE OPERATOR theirs.$operator (LEFTARG = pg_catalog.$type, RIGHTARG = pg_catalog.$type, FUNCTION = theirs.$function);"
	} map { my $type = $_; map { [ $_, $type ] } ('=', '<', '<>') } qw(int2 int4 int8 float8 numeric text bytea uuid int4range int4multirange jsonb record)),
  (
	map { "CREATE FUNCTION theirs.$_(pg_catalog.anyelement) RETURNS pg_catalog.int4 LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'trapped'; END \$\$;" }
	  qw(hashint4 hashint8 hashtext numeric_out textout record_out length octet_length md5 convert_to)),
  (map { "CREATE FUNCTION theirs.$_(pg_catalog.anyelement, pg_catalog.anyelement) RETURNS pg_catalog.bool LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'trapped'; END \$\$;" }
	  qw(int4eq int8eq texteq numeric_eq eqsel scalarltsel)),
  (map { "CREATE TABLE theirs.$_ (trap pg_catalog.int4);" } qw(pg_type pg_proc pg_class pg_enum pg_attribute pg_extension pg_range pg_statistic pg_stats)),
  'CREATE COLLATION theirs."default" (provider = libc, locale = \'C\');', 'CREATE COLLATION theirs."C" (provider = libc, locale = \'C\');';
$node->safe_psql('ordinary', $traps, @as_plain);
$node->safe_psql('ordinary', 'CREATE EXTENSION cuckoo_filter SCHEMA theirs');
(my $apart = catalog_of($node, 'ordinary', 'cuckoo_filter')) =~ s/\btheirs\b/public/g;
same_catalog($apart, $fresh,
	'hostile schema: installed into it, the extension refers to the same objects');

# Every kind of key, hashed and built and probed, by plain calls of ours.
database('trapped');
$node->safe_psql('trapped', "CREATE SCHEMA theirs;\n$traps\nCREATE SCHEMA ours; CREATE EXTENSION cuckoo_filter SCHEMA ours;");
$node->safe_psql('trapped', q{
	CREATE TYPE public.mood AS ENUM ('sad', 'ok');
	CREATE TYPE public.pair AS (a int, b text);
	CREATE TABLE public.data AS SELECT g AS id, g::int2 AS small, g::bigint AS large, g / 8.0::float8 AS f, (g || '.5')::numeric AS n,
			'w' || g AS t, decode(md5(g::text), 'hex') AS b, md5(g::text)::uuid AS u, int4range(g, g + 5) AS r, int4multirange(int4range(g, g + 2)) AS m,
			jsonb_build_object('a', g) AS j, ARRAY[g, NULL] AS a, ROW(g, g::text)::pair AS p, (ARRAY['sad', 'ok'])[1 + g % 2]::mood AS e
		FROM generate_series(1, 3000) g;
	ANALYZE public.data});
my @columns = qw(id small large f n t b u r m j a p e);
sub build_and_probe
{
	my ($path) = @_;

	my $result = $node->safe_psql('trapped', "SET search_path = $path;\n" . join '', map { "
		SELECT pg_catalog.md5(ours.cf_agg($_)::pg_catalog.text), pg_catalog.md5(ours.cf_bag_agg($_, 5000, 0.001)::pg_catalog.text), pg_catalog.sum(ours.cf_hash($_)) FROM public.data;
		SELECT pg_catalog.count(*) FROM public.data WHERE ours.cf_contains((SELECT ours.cf_agg($_) FROM public.data), $_);
		SELECT pg_catalog.count(*) FROM public.data WHERE $_ OPERATOR(ours.<@) (SELECT ours.cf_agg($_) FROM public.data);
		" . ($_ eq 'a' ? '' : "SELECT ours.cf_contains_all(f, v), ours.cf_count(ours.cf_remove_all(f, v)) FROM (SELECT ours.cf_bag_agg($_) AS f, ARRAY(SELECT $_ FROM public.data WHERE id OPERATOR(pg_catalog.<) 50) AS v FROM public.data WHERE id OPERATOR(pg_catalog.<) 50) s;") . "
		EXPLAIN SELECT FROM public.data WHERE ours.cf_contains((SELECT ours.cf_agg($_) FROM public.data), $_);" }
	  @columns);

	# of expressions in a plan it depends on the path how names are written
	$result =~ s/^ +(?!->).*\n//mg;
	return $result;
}
like(error_of('trapped', 'SET search_path = theirs, pg_catalog; SELECT count(*) FROM public.data WHERE id = 7'), qr/trapped/,
	'hostile search path: a query walks into it');
my $plain = build_and_probe('pg_catalog, ours');
is(() = $plain =~ /^3000$/mg, 2 * @columns, 'plain search path: filters hold their values');
is(build_and_probe('theirs, pg_catalog, ours'), $plain, 'hostile search path: the same filters, answers and plans');
is( $node->safe_psql('trapped', q{
		SET search_path = theirs, pg_catalog;
		CREATE TABLE public.held AS SELECT ours.cf_agg(id, 5000) AS filter FROM public.data GROUP BY id OPERATOR(pg_catalog.%) 5;
		CREATE INDEX ON public.held USING hash (filter);
		CREATE INDEX ON public.held USING btree (filter);
		SELECT pg_catalog.count(DISTINCT filter) FROM public.held;
		SELECT ours.cf_count(ours.cf_union_all_agg(filter)) FROM public.held}),
	"5\n3000", 'hostile search path: indexes, DISTINCT and unions');

# The script itself names what is built in with its schema, so that it does not
# depend on a search path at all.
my $share = $node->config_data('--sharedir');
chomp $share;
for my $file (glob "$share/extension/cuckoo_filter--*.sql")
{
	my $script = slurp_file($file);
	my @loose;

	$script =~ s/^\\echo.*$//m;
	$script =~ s/--.*$//mg;
	$script =~ s/'[^']*'//g;
	while ($script =~ /(?<![.\w])(bool|bytea|cstring|float[48]|int[248]|integer|bigint|smallint|internal|numeric|oid|record|text|_bool|any\w+|eq\w*sel|neq\w*sel|scalar\w+sel)\b/g)
	{
		my $word = $1;

		# an attribute of a type, and the names of columns
		push @loose, $word unless $script =~ /\G\s+pg_catalog\./ || substr($script, pos($script) - length($word) - 12, 12) =~ /ALIGNMENT = $/;
	}
	my $short = $file;
	$short =~ s{.*/}{};
	is("@loose", '', "$short qualifies the names of types and functions that are built in");
}

$node->stop;
done_testing();
