# Nothing that was committed is lost when the server dies while filters are
# being written.
#
# Several clients add values to filters and note each value in a table, in one
# transaction, while vacuums give the space of old filters to new ones and
# checkpoints come all the time.  In turn one client, the whole server by
# signal, and every process of it at once is killed.  After every crash each
# noted value must be in its filter, and the filter must hold no more entries
# than values were noted.
#
# CUCKOO_TEST_CRASHES is the number of crashes, CUCKOO_TEST_VALUES that of
# values noted before each.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use ServerCrash;

my $rounds = $ENV{CUCKOO_TEST_CRASHES} || 6;
my $values = $ENV{CUCKOO_TEST_VALUES} || 5000;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	fsync = on
	synchronous_commit = on
	checkpoint_timeout = 30s
	max_wal_size = 32MB
	autovacuum_naptime = 1s
	restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION cuckoo_filter;
	CREATE TABLE filters (id int PRIMARY KEY, filter cuckoofilter NOT NULL);
	-- two that grow much, one that is filled and emptied, one of some size, and
	-- one of 1.3 MB, all of which an update writes
	INSERT INTO filters VALUES (0, cf_new(1e7)), (1, cf_new(200)), (2, cf_new(1e6, 1e-5));
	INSERT INTO filters SELECT 3, cf_agg(-g, 1e6) FROM generate_series(1, 20000) g;
	INSERT INTO filters SELECT 4, cf_agg(-g, 2e6) FROM generate_series(1, 1000000) g;
	CREATE TABLE noted (id int, value bigint);
	CREATE INDEX ON noted (id);
	CREATE SEQUENCE fresh;
	-- batch values into one filter, and sometimes out of it again; the lock on
	-- the row of the filter guards its notes, too
	CREATE PROCEDURE work(which int, batch int) LANGUAGE plpgsql AS
	$$
	DECLARE
		list bigint[];
	BEGIN
		IF which = 1 THEN
			batch := least(batch, 40);
			PERFORM FROM filters WHERE id = 1 FOR UPDATE;
			IF (SELECT count(*) > 150 FROM noted WHERE id = 1) THEN
				UPDATE filters SET filter = cf_remove_all(filter, ARRAY(SELECT value FROM noted WHERE id = 1)) WHERE id = 1;
				DELETE FROM noted WHERE id = 1;
			END IF;
		END IF;
		list := ARRAY(SELECT nextval('fresh') FROM generate_series(1, batch));
		UPDATE filters SET filter = cf_add_all(filter, list) WHERE id = which;
		INSERT INTO noted SELECT which, unnest(list);
		IF list[1] % 5 = 0 THEN
			UPDATE filters SET filter = cf_remove_all(filter, list[1:batch / 2]) WHERE id = which;
			DELETE FROM noted WHERE value = ANY (list[1:batch / 2]);
		END IF;
	END
	$$;
	CREATE FUNCTION first_values(id int) RETURNS bigint LANGUAGE sql AS
		'SELECT CASE id WHEN 3 THEN 20000 WHEN 4 THEN 1000000 ELSE 0 END';
	-- what is wrong with the filters, if anything
	CREATE VIEW wrong AS
		SELECT id, 'lost values' AS what FROM filters f, first_values(id) n
		WHERE NOT cf_contains_all(filter, ARRAY(SELECT value FROM noted n WHERE n.id = f.id) || ARRAY(SELECT -g FROM generate_series(1, n) g))
		UNION ALL
		SELECT id, 'entries' FROM filters f, first_values(id) n
		WHERE cf_count(filter) <> (SELECT count(*) FROM noted n WHERE n.id = f.id) + n
		UNION ALL
		SELECT id, complaint FROM filters, cf_check(filter) AS complaint;
});

my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/work.sql", q{
\set which random(0, 4)
\set batch random(1, 200)
CALL work(:which, :batch);
});
append_to_file("$dir/vacuum.sql", 'VACUUM filters;');
append_to_file("$dir/checkpoint.sql", 'CHECKPOINT;');

sub noted
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM noted');
}

my $before = noted();
my $start = $before;
for my $round (1 .. $rounds)
{
	# The clients stop when the server does.
	my $load = start_load($node, '--client=4', '--jobs=1', '--file', "$dir/work.sql\@60",
		'--file', "$dir/vacuum.sql\@2", '--file', "$dir/checkpoint.sql\@1");

	my $enough = $before + $values;
	$node->poll_query_until('postgres', "SELECT count(*) > $enough FROM noted")
	  or BAIL_OUT('the clients add nothing');

	crash_server($node, $round, $load);

	my $after = noted();
	cmp_ok($after, '>', $before, "round $round: something was committed");
	is($node->safe_psql('postgres', 'SELECT * FROM wrong'), '',
		"round $round: every filter holds what was committed, no more, and is sound");
	$before = $after;
}

note(($before - $start) . " values were noted and $rounds crashes survived");

# work goes on
$node->safe_psql('postgres', 'CALL work(2, 1000)');
is($node->safe_psql('postgres', 'SELECT * FROM wrong'), '', 'filters take more values');

$node->stop;
done_testing();
