# Random statements on tables that filters follow, made to be nasty: foreign keys
# that cascade to the table itself and to partitions, partitions on two levels
# whose columns are in another order, some made later and detached, MERGE of all
# kinds, writable CTEs, COPY, cursors, views, triggers that change the same rows
# before, after and deferred, blocks that fail, savepoints, prepared transactions.
#
# After each statement every filter is held against its rows.  A value must be
# in the filter of its key as often as it is in the table, up to max_copies, and
# the filter holds nothing else, apart from copies of values that were saturated
# and what the documentation says stays until a rebuild.
#
# CUCKOO_TEST_STATEMENTS is the number of statements, 1,000 if it is not set, and
# CUCKOO_TEST_SEED the seed, which is another one each time only if there are more.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $statements = $ENV{CUCKOO_TEST_STATEMENTS} || 1000;
my $seed = $ENV{CUCKOO_TEST_SEED} // ($ENV{CUCKOO_TEST_STATEMENTS} ? time % 1_000_000 : 1);
my $batch = 250;
my $most_parts = 4;    # partitions made later, at one time

note("CUCKOO_TEST_SEED=$seed, $statements statements");
srand($seed);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', q{
	fsync = off
	jit = off
	autovacuum = off
	max_wal_size = 1GB
	max_prepared_transactions = 5
	log_min_messages = log
	log_min_error_statement = panic
	log_statement = none
});
$node->start;
my $major = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE EXTENSION cuckoo_filter;
	CREATE SCHEMA w;
	CREATE ROLE w_owner;
	CREATE ROLE w_writer;
	GRANT USAGE, CREATE ON SCHEMA w TO w_owner;
	GRANT USAGE ON SCHEMA w TO w_writer;
	GRANT pg_read_server_files TO w_writer;
	ALTER DATABASE postgres SET search_path = w, public;
	SET search_path = w, public;

	-- values stay in a range that can be looked through
	CREATE TABLE p (k int PRIMARY KEY, g int);
	CREATE TABLE m (id int PRIMARY KEY, k int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE,
		par int REFERENCES m ON DELETE CASCADE, v bigint, other int, CONSTRAINT small CHECK (v BETWEEN -600 AND 600));
	CREATE TABLE q (id int, part int, k int REFERENCES p ON DELETE SET NULL ON UPDATE CASCADE, v bigint, other int,
		PRIMARY KEY (id, part), CONSTRAINT small CHECK (v BETWEEN -600 AND 600)) PARTITION BY LIST (part);
	CREATE TABLE q0 PARTITION OF q FOR VALUES IN (0);
	CREATE TABLE q1 (junk text, v bigint, other int, part int NOT NULL, k int, id int NOT NULL, CONSTRAINT small CHECK (v BETWEEN -600 AND 600));
	ALTER TABLE q1 DROP junk;
	ALTER TABLE q ATTACH PARTITION q1 FOR VALUES IN (1);
	CREATE TABLE q2 PARTITION OF q FOR VALUES IN (2, 3) PARTITION BY RANGE (id);
	CREATE TABLE q2a PARTITION OF q2 FOR VALUES FROM (MINVALUE) TO (50);
	CREATE TABLE q2b (other int, junk int, id int NOT NULL, v bigint, part int NOT NULL, k int, CONSTRAINT small CHECK (v BETWEEN -600 AND 600));
	ALTER TABLE q2b DROP junk;
	ALTER TABLE q2 ATTACH PARTITION q2b FOR VALUES FROM (50) TO (MAXVALUE);
	-- what a filter is kept for is a parent of the rows that are in it
	CREATE TABLE fr (k int PRIMARY KEY, f cuckoofilter, e cuckoofilter);
	CREATE TABLE r (id int PRIMARY KEY, qid int, part int, k int REFERENCES fr ON DELETE CASCADE ON UPDATE CASCADE, v bigint,
		FOREIGN KEY (qid, part) REFERENCES q ON DELETE CASCADE ON UPDATE CASCADE);
	INSERT INTO p SELECT i, i FROM generate_series(0, 9) i;
	INSERT INTO fr SELECT i FROM generate_series(0, 9) i;

	CREATE TABLE fm (k int PRIMARY KEY, f cuckoofilter, e cuckoofilter, note text);
	CREATE TABLE fq (k int PRIMARY KEY, f cuckoofilter, e cuckoofilter) WITH (fillfactor = 50);
	CREATE TABLE fo (other int, k int, f cuckoofilter, UNIQUE (k, other));
	CREATE TABLE whole (f cuckoofilter);
	CREATE TABLE fs (k int, shard int, f cuckoofilter, e cuckoofilter, PRIMARY KEY (k, shard));
	-- sources whose filters may hold values that are gone: rows went another way
	CREATE TABLE inexact (source text);

	CREATE VIEW vm AS SELECT * FROM m WHERE id < 60;
	CREATE VIEW vq AS SELECT v AS val, id, part, k, other FROM q WHERE id > 20;
	CREATE VIEW vi AS SELECT id, k, v FROM m;
	CREATE FUNCTION t_instead() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP = 'INSERT' THEN
			INSERT INTO w.m (id, k, v) VALUES (NEW.id, NEW.k, NEW.v) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
		ELSIF TG_OP = 'UPDATE' THEN
			UPDATE w.m SET v = NEW.v WHERE id = OLD.id;
		ELSE
			DELETE FROM w.m WHERE id = OLD.id;
			RETURN OLD;
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER instead INSTEAD OF INSERT OR UPDATE OR DELETE ON vi FOR EACH ROW EXECUTE FUNCTION t_instead();

	-- triggers that change the rows of the statement, and others
	CREATE FUNCTION t_after() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		row record;
		x bigint;
		i int;
	BEGIN
		IF pg_trigger_depth() > 3 THEN RETURN NULL; END IF;
		IF TG_OP = 'DELETE' THEN row := OLD; ELSE row := NEW; END IF;
		x := coalesce(row.v, 1) + row.id;
		i := row.id;
		IF x % 7 = 0 THEN UPDATE w.m SET v = -v WHERE id = i; END IF;
		IF x % 11 = 0 THEN UPDATE w.q SET v = v + 1 WHERE id BETWEEN i AND i + 1; END IF;
		IF x % 13 = 0 THEN UPDATE w.m SET v = v + 3 WHERE id BETWEEN i + 1 AND i + 4; END IF;
		IF x % 17 = 0 THEN
			BEGIN
				UPDATE w.m SET v = v + 5 WHERE id BETWEEN i AND i + 2;
				UPDATE w.q SET part = (part + 1) % 4 WHERE id = i;
				IF x % 2 = 0 THEN RAISE 'inner'; END IF;
			EXCEPTION WHEN raise_exception THEN
			END;
		END IF;
		IF x % 29 = 0 THEN
			-- one statement deletes from a table itself, and then through a parent
			BEGIN
				WITH a AS (DELETE FROM w.m WHERE id = i + 1 RETURNING id), b AS (DELETE FROM w.p WHERE k = i % 10 RETURNING k)
				SELECT count(*) INTO x FROM a, b;
				IF i % 2 = 0 THEN RAISE 'inner'; END IF;
			EXCEPTION WHEN raise_exception THEN
			END;
		END IF;
		IF x % 19 = 0 THEN
			BEGIN
				DELETE FROM w.q WHERE id = i + 1;
				INSERT INTO w.q VALUES (i + 1, 1, 3, x, 0) ON CONFLICT (id, part) DO UPDATE SET v = excluded.v + 1;
				INSERT INTO w.m VALUES (i, 1, NULL, 1, 1);
			EXCEPTION WHEN OTHERS THEN
			END;
		END IF;
		RETURN NULL;
	END $$;
	CREATE FUNCTION t_before() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		row record;
		i int;
		x bigint;
	BEGIN
		IF TG_OP = 'DELETE' THEN row := OLD; ELSE row := NEW; END IF;
		i := row.id;
		x := i + coalesce(row.v, 1);
		IF pg_trigger_depth() > 2 THEN RETURN row; END IF;
		IF x % 23 = 0 THEN RETURN NULL; END IF;
		IF x % 5 = 0 AND TG_OP <> 'DELETE' THEN NEW.v := NEW.v + 1; row := NEW; END IF;
		IF x % 52 = 0 THEN UPDATE w.q SET v = v + 7 WHERE id BETWEEN i - 2 AND i - 1; END IF;
		IF x % 64 = 0 THEN UPDATE w.m SET v = v + 9 WHERE id BETWEEN i - 3 AND i - 1; END IF;
		IF x % 70 = 0 THEN
			BEGIN
				UPDATE w.m SET k = 2 WHERE id BETWEEN i - 3 AND i - 1;
				IF i % 2 = 0 THEN PERFORM 1 / 0; END IF;
			EXCEPTION WHEN division_by_zero THEN
			END;
		END IF;
		RETURN row;
	END $$;
	CREATE FUNCTION t_statement() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF pg_trigger_depth() > 2 THEN RETURN NULL; END IF;
		UPDATE w.m SET v = v + 2 WHERE id % 9 = 4;
		IF random() < 0.3 THEN UPDATE w.q SET v = v - 2, k = (k + 1) % 10 WHERE id % 10 = 5; END IF;
		RETURN NULL;
	END $$;
	CREATE FUNCTION t_deferred() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF pg_trigger_depth() > 2 THEN RETURN NULL; END IF;
		-- a block that fails while the transaction ends, as that of t_after()
		-- may, is against an assertion of the server, with or without filters
		IF current_setting('debug_assertions')::boolean THEN RETURN NULL; END IF;
		IF NEW.v % 3 = 0 AND random() < 0.4 THEN
			UPDATE w.m SET v = v + 1 WHERE id = NEW.id;
			UPDATE w.q SET v = v + 1, part = 2 WHERE id = NEW.id;
		END IF;
		RETURN NULL;
	END $$;
	CREATE FUNCTION noise(i int) RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE w.m SET v = v + 4 WHERE id BETWEEN i - 2 AND i;
		UPDATE w.q SET v = v + 4 WHERE id BETWEEN i - 2 AND i;
		RETURN i;
	END $$;
	-- names that sort before those of cf_attach() and after
	CREATE TRIGGER aaa AFTER INSERT OR UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION t_after();
	CREATE TRIGGER zzz AFTER INSERT OR UPDATE ON m FOR EACH ROW EXECUTE FUNCTION t_after();
	CREATE TRIGGER bbb BEFORE INSERT OR UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION t_before();
	CREATE TRIGGER zzzz AFTER INSERT ON m FOR EACH STATEMENT EXECUTE FUNCTION t_statement();
	CREATE CONSTRAINT TRIGGER def AFTER INSERT OR UPDATE ON m DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION t_deferred();
	CREATE TRIGGER bbb BEFORE INSERT OR UPDATE ON q FOR EACH ROW EXECUTE FUNCTION t_before();
	CREATE TRIGGER aaa AFTER INSERT OR DELETE ON q FOR EACH ROW EXECUTE FUNCTION t_after();
	CREATE TRIGGER zzz AFTER UPDATE ON q FOR EACH ROW EXECUTE FUNCTION t_after();
	CREATE TRIGGER aab AFTER UPDATE ON q FOR EACH STATEMENT EXECUTE FUNCTION t_statement();
});

# Each column of filters: the table that it follows, the values, the table and
# the column, the key, max_copies, the number of shards.  The rate is such that no value is taken for
# another one, or for two, in years.
my @attached = (
	[ 'm', 'v', 'fm', 'f', 'k', 4 ],
	[ 'm', 'id, v', 'fm', 'e', 'k', 2 ],
	[ 'm', 'id', 'fo', 'f', 'k, other', 1 ],
	[ 'q', 'v', 'fq', 'f', 'k', 4 ],
	[ 'q', 'id, part, v', 'fq', 'e', 'k', 4 ],
	[ 'q', 'v', 'whole', 'f', '', 3 ],
	[ 'r', 'v', 'fr', 'f', 'k', 3 ],
	[ 'r', 'id, v', 'fr', 'e', 'k', 4 ],
	[ 'm', 'v', 'fs', 'f', 'k', 4, 5 ],
	[ 'q', 'v', 'fs', 'e', 'k', 2, 3 ]);
my $rate = '1e-9';

# The owner of the tables keeps filters in tables of somebody else.
$node->safe_psql('postgres', q{
	ALTER TABLE m OWNER TO w_owner;
	ALTER TABLE r OWNER TO w_owner;
	DO $$ DECLARE t text; BEGIN
		FOR t IN SELECT 'q' UNION ALL SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhrelid::regclass::text ~ '^q' AND inhparent::regclass::text ~ '^q[0-9]?$' LOOP
			EXECUTE format('ALTER TABLE %I OWNER TO w_owner', t);
		END LOOP;
	END $$;
	GRANT ALL ON m, q, q0, q1, q2, q2a, q2b, r, p, vm, vq, vi TO w_writer;
	GRANT SELECT, UPDATE, DELETE, REFERENCES ON p TO w_owner;
	GRANT SELECT, INSERT, UPDATE, REFERENCES ON fm, fq, fo, whole, fs, fr TO w_owner;
	-- foreign keys that cascade ask as the owner of the child
	ALTER VIEW vm OWNER TO w_owner;
	ALTER VIEW vq OWNER TO w_owner;
	ALTER VIEW vi OWNER TO w_owner;
});

# one place for what cf_attach() is called with
sub attach
{
	my ($source, $values, $target, $filter, $key, $copies, $shards) = @_;

	return "SELECT cf_attach('$source', '{$values}', '$target', '$filter', '{$key}', 3000, $rate, $copies"
	  . ($shards ? ", shards => $shards, shard_column => 'shard')" : ')');
}
$node->safe_psql('postgres', join(";\n", map { attach(@$_) } @attached));

# A query that gives a line for each difference between a column of filters and
# its rows.
sub differences
{
	my ($source, $values, $target, $filter, $key, $copies, $shards) = @_;
	my @keys = split /, /, $key;
	my @values = split /, /, $values;
	my $value = @values > 1 ? 'ROW(' . join(', ', map { "s.$_" } @values) . ')' : "s.$values";
	my $all = join(', ', @keys, @values);
	my $shard = $shards ? ", cf_shard($values, $shards) AS shard" : '';
	my $have = join(' AND ', (map { "$_ IS NOT NULL" } @keys, @values == 1 ? @values : ()));
	push @keys, 'shard' if $shards;
	my $same = join(' AND ', 'true', map { "t.$_ = s.$_" } @keys);
	my $of_key = @keys ? 'concat_ws(\', \', ' . join(', ', map { "s.$_" } @keys) . ')' : "''";
	my $of_target = @keys ? 'concat_ws(\', \', ' . join(', ', map { "t.$_" } @keys) . ')' : "''";
	my $rows = "(SELECT $all$shard, least(count(*), $copies) AS n FROM $source WHERE $have GROUP BY $all)";

	# entries that nothing accounts for; copies of saturated values may stay, and
	# where there is one copy of each nothing is removed
	my $saturated = @values > 1 ? '0' : "(SELECT coalesce(sum($copies - least((SELECT count(*) FROM $source s WHERE "
	  . join(' AND ', "s.$values = u", map { "s.$_ = t.$_" } split /, /, $key)
	  . "), $copies)), 0) FROM generate_series(-600::bigint, 600) u WHERE cf_count(t.$filter, u) = $copies)";
	my $differ = $copies == 1 ? '<' : '<>';

	return "SELECT '$target.$filter', $of_key, 'lacks ' || $value, 'rows ' || s.n || ', copies ' || coalesce(cf_count(t.$filter, $value), -1)
		FROM $rows s LEFT JOIN $target t ON $same WHERE coalesce(cf_count(t.$filter, $value), 0) < s.n
		UNION ALL
		SELECT '$target.$filter', $of_target, 'has entries', coalesce(cf_count(t.$filter), 0) || ' for ' || coalesce(s.n, 0)
		FROM $target t LEFT JOIN (SELECT " . join(', ', @keys, 'sum(s.n) AS n') . " FROM $rows s" . (@keys ? ' GROUP BY ' . join(', ', @keys) : '') . ") s ON $same
		WHERE coalesce(cf_count(t.$filter), 0) $differ coalesce(s.n, 0)
			AND NOT EXISTS (SELECT FROM inexact WHERE source = '$source')
			AND coalesce(cf_count(t.$filter), 0) $differ coalesce(s.n, 0) + $saturated";
}

$node->safe_psql('postgres', "
	CREATE SEQUENCE looks;
	CREATE FUNCTION look() RETURNS TABLE (filter text, key text, what text, how text) LANGUAGE plpgsql AS \$\$
	BEGIN
		PERFORM nextval('w.looks');"
	. join('', map { "\n\t\tRETURN QUERY " . differences(@$_) . ';' } @attached) . "
	END \$\$;
	CREATE FUNCTION rebuild(of text) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		IF of NOT IN (SELECT source FROM inexact) AND random() < 0.7 THEN RETURN; END IF;
		DELETE FROM inexact WHERE source = of;"
	. join('', map { "\n\t\tIF of = '$_->[0]' THEN PERFORM cf_rebuild('$_->[2]', '$_->[3]'); END IF;" } @attached) . '
	END $$;
	-- a partition made later, of the same columns or of others
	CREATE FUNCTION more_parts(n int, other_layout bool) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(\'w.q_\' || n)) THEN
			RETURN;
		ELSIF to_regclass(\'w.q_\' || n) IS NOT NULL THEN
			-- it was detached before: what it has now comes back
			EXECUTE format(\'ALTER TABLE q ATTACH PARTITION q_%s FOR VALUES IN (%s)\', n, n);
			INSERT INTO inexact VALUES (\'q\');
			PERFORM rebuild(\'q\');
			RETURN;
		ELSIF other_layout THEN
			EXECUTE format(\'CREATE TABLE q_%s (v bigint, id int NOT NULL, junk int, other int, k int, part int NOT NULL, CONSTRAINT small CHECK (v BETWEEN -600 AND 600))\', n);
			EXECUTE format(\'ALTER TABLE q_%s DROP junk\', n);
			EXECUTE format(\'ALTER TABLE q ATTACH PARTITION q_%s FOR VALUES IN (%s)\', n, n);
		ELSE
			EXECUTE format(\'CREATE TABLE q_%s PARTITION OF q FOR VALUES IN (%s)\', n, n);
		END IF;
		EXECUTE format(\'ALTER TABLE q_%s OWNER TO w_owner\', n);
		EXECUTE format(\'GRANT ALL ON q_%s TO w_writer\', n);
		-- no open statement is counted there before a rebuild
		INSERT INTO inexact VALUES (\'q\');
	END $$;
	CREATE FUNCTION less_parts(n int, and_drop bool) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF to_regclass(\'w.q_\' || n) IS NULL THEN RETURN; END IF;
		IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = (\'w.q_\' || n)::regclass) THEN
			EXECUTE format(\'DELETE FROM r WHERE part = %s\', n);
			EXECUTE format(\'ALTER TABLE q DETACH PARTITION q_%s\', n);
			INSERT INTO inexact VALUES (\'q\');
		END IF;
		IF and_drop THEN EXECUTE format(\'DROP TABLE q_%s\', n); END IF;
	END $$;
	-- a filter that gets another key takes what it holds along, and its rows come after
	CREATE FUNCTION move_filter(from_key int, to_key int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE fr SET k = to_key WHERE k = from_key;
		INSERT INTO inexact VALUES (\'r\');
	END $$;
	CREATE FUNCTION truncate_part(part text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format(\'TRUNCATE %I, r\', part);
		INSERT INTO inexact VALUES (\'q\');
	END $$;
');

#
# Statements.  Each is on one line of a script.
#
sub between
{
	my ($least, $most) = @_;

	return $least + int(rand($most - $least + 1));
}
sub one_of { return $_[ int(rand(scalar @_)) ]; }
sub chance { return rand() < $_[0]; }

sub id { return between(0, 99); }
sub key { return chance(0.05) ? 'NULL' : between(0, 9); }
sub later { return between(4, 3 + $most_parts); }
sub part { return chance(0.15) ? later() : between(0, 3); }
sub relation_of_q
{
	return one_of('q', 'q', 'q', 'q', qw(q0 q1 q2 q2a q2b), chance(0.3) ? 'q_' . later() : 'q');
}

sub ids
{
	my ($width) = @_;
	my $from = id();

	return "id BETWEEN $from AND " . ($from + between(0, $width));
}

sub series
{
	my ($width) = @_;
	my $from = id();

	return "generate_series($from, " . ($from + between(0, $width)) . ')';
}

sub changes_of_m
{
	my @set;

	push @set, 'v = ' . (chance(0.8) ? 'v + ' . between(-9, 9) : between(0, 20)) if chance(0.7);
	push @set, 'k = ' . key() if chance(0.3);
	push @set, 'par = ' . id() if chance(0.1);
	push @set, 'other = ' . between(0, 5) if chance(0.3) || !@set;
	return join(', ', @set);
}

sub changes_of_q
{
	my @set;

	push @set, 'v = ' . (chance(0.8) ? 'v + ' . between(-9, 9) : between(0, 20)) if chance(0.6);
	push @set, 'k = ' . key() if chance(0.3);
	push @set, 'part = ' . part() if chance(0.3);
	push @set, 'id = id + ' . between(1, 40) if chance(0.2);
	push @set, 'other = ' . id() if chance(0.3) || !@set;
	return join(', ', @set);
}

# so that values come several times, and NULL among them
sub spread
{
	return 'CASE WHEN x % 7 = 3 THEN NULL ELSE x * ' . between(1, 9) . ' % 50 END';
}

sub insert_m
{
	return 'INSERT INTO ' . one_of('m', 'm', 'm', 'vm') . ' SELECT x, ' . key() . ', NULL, ' . spread() . ', 0 FROM ' . series(6) . ' x';
}

sub insert_q
{
	my ($relation) = @_;

	return "INSERT INTO $relation (id, part, k, v, other) SELECT x, " . one_of(part(), part(), 'x % 4') . ', ' . key() . ', '
	  . spread() . ', 0 FROM ' . series(6) . ' x';
}

sub merge
{
	my ($relation) = @_;
	my $is_m = $relation eq 'm';
	my $changes = $is_m ? \&changes_of_m : \&changes_of_q;
	my %ids = map { id() => 1 } 1 .. between(1, 12);
	my @do;

	push @do, 'WHEN MATCHED AND t.id % 3 = ' . between(0, 2) . ' THEN UPDATE SET ' . $changes->() if chance(0.7);
	push @do, 'WHEN MATCHED AND t.id % 2 = ' . between(0, 1) . ' THEN DELETE' if chance(0.4);
	push @do, 'WHEN MATCHED AND t.v > 50 THEN DO NOTHING' if chance(0.5);
	push @do, 'WHEN MATCHED THEN UPDATE SET ' . $changes->() if chance(0.5);
	push @do, 'WHEN NOT MATCHED THEN INSERT '
	  . ($is_m ? '(id, k, v, other) VALUES (s.i, ' : '(id, part, k, v, other) VALUES (s.i, ' . part() . ', ')
	  . key() . ', s.i + ' . id() . ', 0)' if chance(0.7) || !@do;
	push @do, 'WHEN NOT MATCHED BY SOURCE AND t.id % 20 = ' . between(0, 19) . ' THEN ' . one_of('DELETE', 'UPDATE SET v = t.v + 1')
	  if $major >= 17 && chance(0.2);
	return "MERGE INTO $relation t USING (VALUES " . join(', ', map { "($_)" } sort keys %ids) . ') s (i) ON t.id = s.i '
	  . join(' ', @do) . ($major >= 17 && chance(0.2) ? ' RETURNING t.id' : '');
}

sub with
{
	my @parts = map {
		one_of(
			sub { 'UPDATE m SET ' . changes_of_m() . ' WHERE ' . ids(8) . ' RETURNING id' },
			sub { 'DELETE FROM m WHERE ' . ids(8) . ' RETURNING id' },
			sub { insert_m() . ' ON CONFLICT DO NOTHING RETURNING id' },
			sub { 'UPDATE q SET ' . changes_of_q() . ' WHERE ' . ids(8) . ' RETURNING id' },
			sub { 'DELETE FROM ' . relation_of_q() . ' WHERE ' . ids(8) . ' RETURNING id' },
			sub { insert_q('q') . ' ON CONFLICT DO NOTHING RETURNING id' },
			sub { 'DELETE FROM p WHERE k = ' . between(0, 9) . ' RETURNING k AS id' })->()
	} 1 .. between(2, 4);
	my $n = 0;

	return 'WITH ' . join(', ', map { 'c' . $n++ . " AS ($_)" } @parts) . ' '
	  . one_of(
		'SELECT 1 WHERE false', 'UPDATE m SET v = v + 1 WHERE id IN (SELECT id FROM c0)',
		'UPDATE r SET v = v + 1 WHERE id < ' . id(),
		insert_m() . ' ON CONFLICT (id) DO UPDATE SET other = excluded.other');
}

# rows for COPY, in a file of their own
my $nfiles = 0;
sub copy
{
	my $relation = one_of('m', 'q', relation_of_q());
	my %ids = map { id() => 1 } 1 .. between(1, 5);
	my $file = "$dir/copy_" . $nfiles++;
	my %part_of = (q0 => 0, q1 => 1);

	append_to_file($file, join('', map {
		my $part = $relation =~ /^q_(\d)/ ? $1 : $part_of{$relation} // ($relation eq 'q' ? between(0, 3) : 2);
		join("\t", $_, $relation eq 'm' ? () : $part, between(0, 9), between(0, 40)) . "\n"
	} sort keys %ids));
	return "COPY $relation (id, " . ($relation eq 'm' ? '' : 'part, ') . "k, v) FROM '$file'";
}

my $block = 'DO $$ DECLARE row record; BEGIN %s END $$';
my @kinds = (
	[ 4, sub { insert_m() . one_of('', ' ON CONFLICT DO NOTHING',
			' ON CONFLICT (id) DO UPDATE SET v = excluded.v, k = excluded.k',
			' ON CONFLICT (id) DO UPDATE SET other = 1 - excluded.other WHERE excluded.id % 2 = 0') } ],
	[ 4, sub { insert_q(chance(0.4) ? relation_of_q() : 'q') . one_of('', ' ON CONFLICT DO NOTHING',
			' ON CONFLICT (id, part) DO UPDATE SET v = excluded.v + 1, k = excluded.k') } ],
	[ 4, sub { 'UPDATE m SET ' . changes_of_m() . ' WHERE ' . ids(8) } ],
	[ 5, sub { 'UPDATE ' . relation_of_q() . ' SET ' . changes_of_q() . ' WHERE ' . ids(8) } ],
	[ 0.5, sub { one_of('UPDATE m SET v = v % 50', 'UPDATE q SET v = v % 50') } ],
	[ 2, sub { 'DELETE FROM m WHERE ' . ids(3) } ],
	[ 2, sub { 'DELETE FROM ' . relation_of_q() . ' WHERE ' . ids(3) } ],
	[ 4, sub { merge('m') } ],
	[ 5, sub { merge(chance(0.4) ? relation_of_q() : 'q') } ],
	[ 4, \&with ],
	[ 2, sub { 'DELETE FROM p WHERE k = ' . between(0, 9) } ],
	[ 2, sub { my $from = between(0, 12); 'UPDATE p SET k = k + ' . between(5, 9) . " WHERE k BETWEEN $from AND $from + 2" } ],
	[ 3, sub { 'INSERT INTO p SELECT x, 0 FROM generate_series(0, 9) x ON CONFLICT DO NOTHING' } ],
	[ 1, sub { 'INSERT INTO fr SELECT x FROM generate_series(0, 9) x ON CONFLICT DO NOTHING' } ],
	# the parent of rows is the row of their filter
	[ 1, sub { 'DELETE FROM fr WHERE k = ' . between(0, 9) } ],
	[ 0.5, sub { 'SELECT move_filter(' . between(0, 9) . ', ' . between(0, 19) . ')' } ],
	[ 2, sub { 'INSERT INTO r SELECT x.id + ' . between(0, 3) * 100 . ', x.id, x.part, ' . key() . ', ' . between(0, 20)
			. ' FROM q x WHERE x.' . ids(8) . ' ON CONFLICT (id) DO UPDATE SET v = excluded.v' } ],
	[ 2, sub { 'UPDATE r SET v = v + 1, k = ' . key() . ' WHERE ' . ids(60) } ],
	[ 1, sub { 'UPDATE m SET v = noise(id) + v WHERE ' . ids(5) } ],
	[ 1, sub { my $from = id(); "SELECT noise(x) FROM generate_series($from, $from + 9, 3) x" } ],
	[ 1, sub { 'INSERT INTO m SELECT noise(x), ' . key() . ', NULL, x, 1 FROM ' . series(4) . ' x ON CONFLICT (id) DO UPDATE SET v = excluded.v + 1' } ],
	# cursors and loops
	[ 1, sub { sprintf $block, 'FOR row IN UPDATE q SET v = v + 1 WHERE ' . ids(8) . ' RETURNING id LOOP'
			. ' UPDATE m SET v = v + row.id % 5 WHERE id = row.id; IF row.id % 3 = 0 THEN EXIT; END IF; END LOOP;' } ],
	[ 1, sub { sprintf $block, 'FOR row IN SELECT id FROM m WHERE ' . ids(8) . ' FOR UPDATE LOOP BEGIN'
			. ' UPDATE q SET v = v + 1, part = ' . part() . ' WHERE id = row.id; UPDATE m SET v = v - 1 WHERE id = row.id;'
			. ' IF row.id % 2 = 0 THEN PERFORM 1 / 0; END IF;'
			. ' EXCEPTION WHEN division_by_zero THEN UPDATE m SET v = v + 2 WHERE id = row.id + 1; END; END LOOP;' } ],
	[ 1, sub { 'DO $$ DECLARE c CURSOR FOR SELECT id FROM m WHERE ' . ids(8) . ' FOR UPDATE; BEGIN FOR x IN c LOOP'
			. ' UPDATE m SET v = v + 1 WHERE CURRENT OF c; IF x.id % 4 = 0 THEN DELETE FROM m WHERE CURRENT OF c; END IF; END LOOP; END $$' } ],
	[ 1, \&copy ],
	# views
	[ 1, sub { 'UPDATE vq SET val = val + ' . between(-9, 9) . ', part = ' . part() . ' WHERE ' . ids(8) } ],
	[ 1, sub { 'DELETE FROM ' . one_of('vm', 'vq', 'vi') . ' WHERE ' . ids(2) } ],
	[ 1, sub { one_of('INSERT INTO vi SELECT x, ' . key() . ', x % 20 FROM ' . series(3) . ' x', 'UPDATE vi SET v = v + 1 WHERE ' . ids(5)) } ],
	[ 1, sub { merge('vq') =~ s/\bv\b/val/gr } ],
	# triggers of foreign keys and of constraints
	[ 1, sub { 'SET CONSTRAINTS ALL ' . one_of('IMMEDIATE', 'DEFERRED') } ],
	# parts and parameters
	[ 1, sub { one_of(
			sub { 'SELECT more_parts(' . later() . ', ' . one_of('true', 'false') . ')' },
			sub { 'SELECT less_parts(' . later() . ', ' . one_of('true', 'false', 'false') . ')' })->() } ],
	[ 1.5, sub { "SELECT rebuild('" . one_of('q', 'q', 'q', 'm', 'r') . "')" } ],
	[ 0.2, sub { "SELECT truncate_part('" . one_of(qw(q0 q1 q2 q2a q2b)) . "')" } ],
	[ 0.1, sub { one_of('TRUNCATE m', 'TRUNCATE r', 'TRUNCATE q, r') } ]);
my $total = 0;
$total += $_->[0] for @kinds;

sub statement
{
	my $left = rand($total);

	for my $kind (@kinds)
	{
		$left -= $kind->[0];
		return $kind->[1]->() if $left < 0;
	}
	return 'SELECT 1 WHERE false';
}

# A script of some statements, with a look at the filters after each.
my @lines;
sub add { push @lines, @_; return; }
sub add_statement
{
	my $as_writer = chance(0.3);
	my $statement = statement();

	$as_writer = 0 if $statement =~ /_parts|_filter|truncate_part|rebuild|TRUNCATE| fr /;
	add('SET ROLE w_writer;') if $as_writer;
	add("$statement;");
	my $line = @lines;
	add('RESET ROLE;') if $as_writer;
	add("SELECT 'after line $line', * FROM look();");
	return;
}

sub script
{
	my $n = 0;

	@lines = ("SELECT setseed(" . rand() . ");", '\set VERBOSITY verbose', "SET statement_timeout = '60s';");
	while ($n < $batch)
	{
		if (chance(0.45))
		{
			add_statement();
			$n++;
			next;
		}
		# in a transaction; an error costs the statement, or all of it
		my $nsaved = 0;

		add('\set ON_ERROR_ROLLBACK ' . (chance(0.75) ? 'on' : 'off'),
			'BEGIN' . (chance(0.2) ? ' ISOLATION LEVEL ' . one_of('REPEATABLE READ', 'SERIALIZABLE') : '') . ';');
		for (1 .. between(1, 5))
		{
			add('SAVEPOINT s' . $nsaved++ . ';') if chance(0.25);
			add_statement();
			$n++;
			if ($nsaved > 0 && chance(0.3))
			{
				$nsaved--;
				add(one_of('ROLLBACK TO', 'RELEASE') . " s$nsaved;");
				add("SELECT 'after line " . @lines . "', * FROM look();");
			}
		}
		my $end = rand();
		if ($end < 0.2)
		{
			add('ROLLBACK;');
		}
		elsif ($end < 0.4)
		{
			add("PREPARE TRANSACTION 'model';", one_of('COMMIT', 'ROLLBACK') . " PREPARED 'model';");
		}
		else
		{
			add('COMMIT;');
		}
		add("SELECT 'after line " . @lines . "', * FROM look();");
	}
	return $n;
}

#
# Run
#
my %errors;
my $done = 0;
my $failed = 0;
my $nerrors = 0;
my $nbatch = 0;
while ($done < $statements)
{
	my $n = script();
	my $file = "$dir/batch_" . ++$nbatch . '.sql';
	my ($out, $err) = ('', '');

	append_to_file($file, join("\n", @lines) . "\n");
	$node->run_log([ 'psql', '-XqAt', '-f', $file, '-d', $node->connstr('postgres') ], '>', \$out, '2>', \$err);
	my $status = $?;
	$done += $n;

	# what may go wrong is a constraint, a missing partition, a row that was
	# changed already; none is ours
	my @bad;
	while ($err =~ /:(\d+): (?:ERROR|FATAL|PANIC):  (\w{5}): (.*)/g)
	{
		my ($line, $code, $message) = ($1, $2, $3);

		$nerrors++ if $code ne '25P02';
		$errors{"$code $message" =~ s/"[^"]*"/""/gr}++;
		push @bad, "line $line: $code: $message\n  $lines[$line - 1]"
		  if $code =~ /^(XX|58|57|53|54|08|22)/ || $message =~ /filter|cuckoo/ && $message !~ /READ COMMITTED only|pending trigger events/ && $lines[$line - 1] !~ /_filter/;
	}
	my @found = split /\n/, ($out =~ s/^(?!after line).*\n//mgr);
	if (@found || @bad || $status != 0)
	{
		my ($line) = ($found[0] // '') =~ /^after line (\d+)/;

		$failed = 1;
		diag("batch $nbatch of seed $seed: psql ended with $status", $status != 0 ? "\n$err" : '');
		diag("  $_") for @found[ 0 .. ($#found < 9 ? $#found : 9) ], @bad[ 0 .. ($#bad < 9 ? $#bad : 9) ];
		diag('  line ' . ($_ + 1) . ": $lines[$_]") for defined $line ? ($line > 30 ? $line - 30 : 0) .. $line : ();
		diag("  all of it is in $file") if $ENV{PG_TEST_NOCLEAN};
		last;
	}
	$node->safe_psql('postgres', "SELECT w.rebuild('$_') FROM generate_series(1, 3)") for qw(m q r);
	unlink($file, glob("$dir/copy_*"));
}
ok(!$failed, "after each statement the filters hold the values of the tables, no less and no more");
my $looks = $node->safe_psql('postgres', 'SELECT last_value FROM looks');
cmp_ok($looks, '>', $done * 0.7, 'the filters were looked at');
cmp_ok($nerrors, '<', $done * 0.5, 'most statements succeeded');
note("$done statements, $looks looks, errors:");
note("  $errors{$_} $_") for sort { $errors{$b} <=> $errors{$a} } keys %errors;

# The rest of the state is in order, too.
is( $node->safe_psql('postgres', join(' UNION ALL ', map { "SELECT '$_->[2].$_->[3]', key::text, missing FROM cf_drift('$_->[2]', '$_->[3]') WHERE missing > 0" } @attached)),
	'', 'cf_drift() finds nothing missing');
$node->safe_psql('postgres', "DELETE FROM inexact; INSERT INTO inexact VALUES ('m'), ('q'), ('r'); SELECT rebuild(s) FROM unnest('{m,q,r}'::text[]) s");
is($node->safe_psql('postgres', 'SELECT * FROM look()'), '', 'rebuilt, the filters hold nothing else');

$node->stop;
done_testing();
