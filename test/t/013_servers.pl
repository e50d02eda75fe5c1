# Rows on other servers: filters that postgres_fdw sends to them, partitions,
# whole aggregates per server, and filters or rows that logical replication
# brings.  Every result is that of the plain query; how many rows come over is
# counted by EXPLAIN ANALYZE.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub node
{
	my ($name, @options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(@options, extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', "fsync = off\njit = off\nmax_parallel_workers_per_gather = 0\n");
	$node->start;
	return $node;
}

my $here = node('here');
my $there = node('there', allows_streaming => 'logical');

#
# What is there: sales of two regions, in a database each; some in a third one,
# where the extension is in another schema
#
for my $database (qw(north south elsewhere))
{
	$there->safe_psql('postgres', "CREATE DATABASE $database");
	$there->safe_psql($database, $database eq 'elsewhere'
		? 'CREATE SCHEMA other; CREATE EXTENSION cuckoo_filter SCHEMA other'
		: 'CREATE EXTENSION cuckoo_filter');
	my $first = $database eq 'south' ? 150001 : 1;
	my $last = $first + 199999;
	$there->safe_psql($database, qq{
		CREATE TYPE state AS ENUM ('open', 'paid', 'lost');
		CREATE TABLE sale AS SELECT '$database' AS region, i AS customer, 'name ' || i AS name, i % 7 AS amount,
			CASE WHEN i % 1000 = 0 THEN 'lost' WHEN i % 2 = 0 THEN 'paid' ELSE 'open' END::state AS state
			FROM generate_series($first, $last) i;
		ANALYZE sale});
}

my $there_host = $there->host;
my $there_port = $there->port;
$here->safe_psql('postgres', qq{
	CREATE EXTENSION cuckoo_filter;
	CREATE EXTENSION postgres_fdw;
	CREATE TYPE state AS ENUM ('open', 'paid', 'lost');
	CREATE TABLE sale (region text NOT NULL, customer int NOT NULL, name text, amount int NOT NULL, state state) PARTITION BY LIST (region);
	CREATE TABLE wanted AS SELECT i * 1000 AS customer, 'name ' || i * 1000 AS name FROM generate_series(1, 300) i;
	CREATE TABLE kept (name text PRIMARY KEY, ids cuckoofilter);
	INSERT INTO kept SELECT 'wanted', cf_agg(customer, 1000, 0.001) FROM wanted;
	ANALYZE wanted, kept;
});
for my $server ([ 'north', 'north', q{, extensions 'cuckoo_filter'} ], [ 'south', 'south', q{, extensions 'cuckoo_filter'} ],
	[ 'plain', 'north', '' ], [ 'elsewhere', 'elsewhere', q{, extensions 'cuckoo_filter'} ])
{
	my ($name, $database, $options) = @$server;

	$here->safe_psql('postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$there_host', port '$there_port', dbname '$database', use_remote_estimate 'true' $options);
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name;});
	$here->safe_psql('postgres', $name eq 'north' || $name eq 'south'
		? qq{CREATE FOREIGN TABLE sale_$name PARTITION OF sale FOR VALUES IN ('$name') SERVER $name OPTIONS (table_name 'sale')}
		: qq{CREATE FOREIGN TABLE sale_$name (region text, customer int, name text, amount int, state state) SERVER $name OPTIONS (table_name 'sale')});
}

# Rows that foreign scans brought; those of a filter here are among them.
$here->safe_psql('postgres', q{
	CREATE FUNCTION shipped(query text) RETURNS numeric LANGUAGE plpgsql AS $$
	DECLARE
		plan json;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
		RETURN (SELECT sum(((n->>'Actual Rows')::numeric + coalesce(n->>'Rows Removed by Filter', '0')::numeric) * (n->>'Actual Loops')::numeric)
			FROM jsonb_path_query(plan::jsonb, 'strict $.**') n WHERE jsonb_typeof(n) = 'object' AND n ? 'Remote SQL');
	END $$;
	CREATE FUNCTION never_executed(query text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		plan json;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
		RETURN (SELECT count(*) FROM jsonb_path_query(plan::jsonb, 'strict $.**') n
			WHERE jsonb_typeof(n) = 'object' AND n ? 'Relation Name' AND (n->>'Actual Loops')::numeric = 0);
	END $$;});

sub answer
{
	my ($sql) = @_;

	return $here->safe_psql('postgres', $sql);
}

# shipped(query, before)
sub shipped
{
	my ($query, $before) = @_;

	return answer(($before || '') . "SELECT shipped(\$q\$$query\$q\$)");
}

#
# A filter is sent, whatever it comes from, to each partition
#
my $join = 'SELECT count(*), sum(amount) FROM sale JOIN wanted USING (customer)';
my $exact = answer($join);
like($exact, qr{^350\|[0-9]+$}, 'the plain join');
my $constant = answer(q{SELECT ids FROM kept});
my %forms = (
	'a subquery' => '(SELECT cf_agg(customer, NULL, 0.001) FROM wanted) @> sale.customer',
	'the operator turned around' => 'sale.customer <@ (SELECT cf_agg(customer, NULL, 0.001) FROM wanted)',
	'a function' => 'cf_contains((SELECT cf_agg(customer, NULL, 0.001) FROM wanted), sale.customer)',
	'a table of filters' => q{(SELECT ids FROM kept WHERE name = 'wanted') @> sale.customer},
	'a constant' => "'$constant'::cuckoofilter @> sale.customer",
	'hashes' => '(SELECT cf_hash_agg(cf_hash(customer), 1000, 0.001) FROM wanted) @> sale.customer',
	'text' => '(SELECT cf_agg(name, NULL, 0.001) FROM wanted) @> sale.name');
for my $form (sort keys %forms)
{
	my $query = "$join WHERE $forms{$form}";

	is(answer($query), $exact, "$form: the result");
	my $rows = shipped("SELECT customer FROM sale WHERE $forms{$form} OFFSET 0");
	cmp_ok($rows, '>=', 350, "$form: rows that match are shipped");
	cmp_ok($rows, '<', 1500, "$form: few others are");
}
is(answer("WITH f AS MATERIALIZED (SELECT cf_agg(customer, NULL, 0.001) AS ids FROM wanted) $join WHERE (SELECT ids FROM f) @> sale.customer"),
	$exact, 'a WITH: the result');
cmp_ok(shipped('WITH f AS MATERIALIZED (SELECT cf_agg(customer, NULL, 0.001) AS ids FROM wanted) SELECT customer FROM sale WHERE (SELECT ids FROM f) @> sale.customer'),
	'<', 1500, 'a WITH: few rows are shipped');
cmp_ok(shipped('SELECT customer FROM sale'), '==', 400000, 'all rows, without a filter');

# parameters, known and not
for my $mode (qw(force_custom_plan force_generic_plan))
{
	my $prepare = "SET plan_cache_mode = $mode; PREPARE p(cuckoofilter) AS $join WHERE \$1 @> sale.customer; PREPARE r(cuckoofilter) AS SELECT customer FROM sale WHERE \$1 @> customer; ";

	is(answer("$prepare EXECUTE p('$constant')"), $exact, "a parameter, $mode: the result");
	cmp_ok(shipped("EXECUTE r('$constant')", $prepare), '<', 1500, "a parameter, $mode: few rows are shipped");
}
is(answer(q{
	CREATE FUNCTION by_variable() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		f cuckoofilter := (SELECT cf_agg(customer, NULL, 0.001) FROM wanted);
		result text;
	BEGIN
		FOR i IN 1..7 LOOP
			SELECT count(*) || '|' || sum(amount) INTO result FROM sale JOIN wanted USING (customer) WHERE f @> sale.customer;
		END LOOP;
		RETURN result;
	END $$;
	SELECT by_variable()}), $exact, 'a variable');

#
# What is not sent
#
my $north = answer('SELECT count(*), sum(amount) FROM sale_north JOIN wanted USING (customer)');
my $probe = '(SELECT cf_agg(customer, NULL, 0.001) FROM wanted) @> customer';
is(answer("SELECT count(*), sum(amount) FROM sale_plain JOIN wanted USING (customer) WHERE (SELECT cf_agg(customer, NULL, 0.001) FROM wanted) @> sale_plain.customer"),
	$north, 'without the option: the result');
cmp_ok(shipped("SELECT customer FROM sale_plain WHERE $probe"), '==', 200000, 'without the option: all rows are shipped');
my $row = '(SELECT cf_agg(ROW(customer, name), NULL, 0.001) FROM wanted) @> ROW(customer, name)';
is(answer("SELECT count(*) FROM sale_north WHERE $row AND customer % 1000 = 0"), '200', 'a row: the result');
cmp_ok(shipped("SELECT customer FROM sale_north WHERE $row"), '==', 200000, 'a row: all rows are shipped');
my $enum = q{(SELECT cf_add(cf_new(10), 'lost'::state)) @> state};
is(answer("SELECT count(*) FROM sale_north WHERE $enum"), '200', 'an enum: the result');
cmp_ok(shipped("SELECT customer FROM sale_north WHERE $enum"), '==', 200000, 'an enum: all rows are shipped');
my ($status, $out, $err) = $here->psql('postgres', "SELECT count(*) FROM sale_elsewhere WHERE $probe");
like($err, qr/(type|function) "?public\.(cuckoofilter|cf_|@>)|operator does not exist: public|schema "public"/, 'another schema there: an error that names it');

#
# One aggregate per server, united here
#
my $parts = 'SELECT region, cf_agg(customer, 400000) AS part FROM sale GROUP BY region';
my $on = 'SET enable_partitionwise_aggregate = on; ';
is(answer("$on CREATE TABLE united AS SELECT cf_union_agg(part) AS f FROM ($parts) p;
	SELECT bool_and(f @> i), max(n) BETWEEN 345000 AND 350000, count(*) FILTER (WHERE f @> -i) < 4500
	FROM (SELECT f, cf_count(f) AS n FROM united) u, generate_series(1, 350000) i"),
	't|t|t', 'filters of two servers united');
cmp_ok(shipped("SELECT cf_union_agg(part) FROM ($parts) p", $on), '==', 2, 'two rows are shipped');
cmp_ok(shipped("SELECT cf_union_agg(part) FROM (SELECT region, cf_hash_agg(cf_hash(customer), 400000) AS part FROM sale GROUP BY region) p", $on),
	'==', 2, 'two rows of cf_hash_agg are shipped');
cmp_ok(shipped('SELECT cf_agg(customer, 400000) FROM sale'), '==', 400000, 'not grouped by server: all rows are shipped');

#
# Partitions with a filter each
#
answer(q{
	CREATE TABLE event (day int NOT NULL, device bigint NOT NULL) PARTITION BY LIST (day);
	CREATE TABLE event_day (day int PRIMARY KEY, devices cuckoofilter NOT NULL)});
answer("CREATE TABLE event_$_ PARTITION OF event FOR VALUES IN ($_)") for 1 .. 6;
answer(q{
	INSERT INTO event SELECT 1 + i / 10000, i FROM generate_series(0, 59999) i;
	INSERT INTO event_day SELECT day, cf_agg(device, 20000, 0.0001) FROM event GROUP BY day;
	ANALYZE event, event_day});
my $by_filter = q{SELECT e.day, e.device FROM event_day f, LATERAL (SELECT day, device FROM event WHERE day = f.day AND device = 34711 OFFSET 0) e WHERE f.devices @> 34711};
is(answer($by_filter), '4|34711', 'partitions named by their filters: the result');
is(answer("SELECT never_executed(\$q\$$by_filter\$q\$)"), '5', 'the others are not read');

#
# Logical replication: filters as data, and filters of replicated rows
#
my $schema = q{
	CREATE TABLE visit (tenant int, visitor bigint, PRIMARY KEY (tenant, visitor));
	CREATE TABLE tenant_filter (tenant int PRIMARY KEY, visitors cuckoofilter NOT NULL)};
$there->safe_psql('north', $schema);
$there->safe_psql('north', q{SELECT cf_attach('visit', '{visitor}', 'tenant_filter', 'visitors', '{tenant}', 5000)});
$there->safe_psql('north', 'INSERT INTO visit SELECT i % 4, i FROM generate_series(1, 8000) i');
$there->safe_psql('north', 'CREATE PUBLICATION followed FOR TABLE visit, tenant_filter');
answer($schema);
answer("CREATE SUBSCRIPTION followed CONNECTION 'host=$there_host port=$there_port dbname=north' PUBLICATION followed WITH (binary = true)");
$here->wait_for_subscription_sync($there, 'followed', 'postgres');
$there->safe_psql('north', q{
	INSERT INTO visit SELECT i % 4, -i FROM generate_series(1, 100) i;
	DELETE FROM visit WHERE visitor > 7000;
	UPDATE visit SET tenant = 5 WHERE visitor BETWEEN 1 AND 10});
$there->wait_for_catchup('followed');
is(answer('SELECT tenant, md5(visitors::bytea) FROM tenant_filter ORDER BY tenant'),
	$there->safe_psql('north', 'SELECT tenant, md5(visitors::bytea) FROM tenant_filter ORDER BY tenant'), 'followed filters, replicated with their rows, are the same');
is(answer('SELECT count(*), bool_and(visitors @> visitor) FROM visit JOIN tenant_filter USING (tenant)'), '7100|t', 'and hold what the rows have');

# built at the subscriber by a job: each value once
answer(q{
	CREATE TABLE own_filter (tenant int PRIMARY KEY, visitors cuckoofilter NOT NULL);
	INSERT INTO own_filter SELECT tenant, cf_agg(visitor, 5000) FROM visit GROUP BY tenant
	ON CONFLICT (tenant) DO UPDATE SET visitors = EXCLUDED.visitors});
is(answer('SELECT count(*), bool_and(visitors @> visitor) FROM visit JOIN own_filter USING (tenant)'), '7100|t', 'filters built of replicated rows');

answer('DROP SUBSCRIPTION followed');
$here->stop;
$there->stop;
done_testing();
