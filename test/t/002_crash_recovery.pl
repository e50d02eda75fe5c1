# Nothing that was committed is lost when the server dies while filters are
# being written.
#
# Several clients add values to filters and note each value in a table, in one
# transaction.  After every crash each noted value must be in its filter, and
# the filter must hold no more entries than values were noted.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{CUCKOO_TEST_CRASHES} || 4;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	fsync = on
	synchronous_commit = on
	checkpoint_timeout = 30s
	max_wal_size = 32MB
	restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION cuckoo_filter;
	CREATE TABLE filters (id int PRIMARY KEY, filter cuckoofilter NOT NULL);
	-- two that grow much, one that is filled and emptied, one large from the start
	INSERT INTO filters VALUES (0, cf_new(1e7)), (1, cf_new(200)), (2, cf_new(1e6, 1e-5));
	INSERT INTO filters SELECT 3, cf_agg(-g, 1e6) FROM generate_series(1, 20000) g;
	CREATE TABLE noted (id int, value bigint);
	CREATE SEQUENCE fresh;
	-- batch values into one filter, and sometimes out of it again; the lock on
	-- the row of the filter guards its notes, too
	CREATE PROCEDURE work(which int, batch int) LANGUAGE plpgsql AS
	$$
	DECLARE
		list bigint[] := ARRAY(SELECT nextval('fresh') FROM generate_series(1, batch));
	BEGIN
		IF which = 1 THEN
			PERFORM FROM filters WHERE id = 1 FOR UPDATE;
			IF (SELECT count(*) > 150 FROM noted WHERE id = 1) THEN
				UPDATE filters SET filter = cf_remove_all(filter, ARRAY(SELECT value FROM noted WHERE id = 1)) WHERE id = 1;
				DELETE FROM noted WHERE id = 1;
			END IF;
		END IF;
		UPDATE filters SET filter = cf_add_all(filter, list) WHERE id = which;
		INSERT INTO noted SELECT which, unnest(list);
		IF list[1] % 5 = 0 THEN
			UPDATE filters SET filter = cf_remove_all(filter, list[1:batch / 2]) WHERE id = which;
			DELETE FROM noted WHERE value = ANY (list[1:batch / 2]);
		END IF;
	END
	$$;
	-- what is wrong with the filters, if anything
	CREATE VIEW wrong AS
		SELECT id, 'lost values' AS what FROM filters f
		WHERE NOT cf_contains_all(filter, ARRAY(SELECT value FROM noted n WHERE n.id = f.id))
			OR (id = 3 AND NOT cf_contains_all(filter, ARRAY(SELECT -g FROM generate_series(1, 20000) g)))
		UNION ALL
		SELECT id, 'entries' FROM filters f
		WHERE cf_count(filter) <> (SELECT count(*) FROM noted n WHERE n.id = f.id) + CASE id WHEN 3 THEN 20000 ELSE 0 END
		UNION ALL
		SELECT id, complaint FROM filters, cf_check(filter) AS complaint;
});

my $script = PostgreSQL::Test::Utils::tempdir() . '/work.sql';
append_to_file($script, q{
\set which random(0, 3)
\set batch random(1, 40)
CALL work(:which, :batch);
});

sub noted
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM noted');
}

my $before = noted();
for my $round (1 .. $rounds)
{
	# The clients stop when the server does.
	my $load = IPC::Run::start(
		[
			'pgbench', '--no-vacuum', '--client=4', '--jobs=1', '--time=60',
			'--file', $script, '--host', $node->host, '--port', $node->port, 'postgres'
		],
		'>', \my $out, '2>', \my $err);

	my $enough = $before + 500 * $round;
	$node->poll_query_until('postgres', "SELECT count(*) > $enough FROM noted")
	  or BAIL_OUT("the clients add nothing: $err");
	$node->safe_psql('postgres', 'CHECKPOINT') if $round % 2 == 0;
	sleep 1;

	if ($round % 2)
	{
		# One backend is killed, the server restarts by itself.
		my $pid = $node->safe_psql('postgres',
			q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL work%' LIMIT 1});
		like($pid, qr/^[0-9]+$/, "round $round: a client is at work") or BAIL_OUT($err);
		kill 'KILL', $pid;
		IPC::Run::finish($load);
		# No query: one written to a refused connection would end the test.
		$node->poll_query_until('postgres', undef, '')
		  or BAIL_OUT('the server did not come back');
	}
	else
	{
		# The whole server dies.
		$node->stop('immediate');
		IPC::Run::finish($load);
		$node->start;
	}

	my $after = noted();
	cmp_ok($after, '>', $before, "round $round: something was committed");
	is($node->safe_psql('postgres', 'SELECT * FROM wrong'), '',
		"round $round: every filter holds what was committed, no more, and is sound");
	$before = $after;
}

# work goes on
$node->safe_psql('postgres', 'CALL work(2, 1000)');
is($node->safe_psql('postgres', 'SELECT * FROM wrong'), '', 'filters take more values');

$node->stop;
done_testing();
