# Filters of every kind of value, size, parameter and stage of growth, to be
# carried through whatever a test does to a database, and looked at afterwards.
#
# In the tables below, g is a number that runs from 1 on.

package FilterSamples;

use strict;
use warnings;

use Test::More;

use Exporter 'import';
our @EXPORT = qw(restore_dump create_samples check_samples sample_prints samples_are_same
  create_words words_are_same forget_new_options);

# a value of each family
my @families = (
	[ 'number', 'g' ],
	[ 'number_int2', '(g % 30000)::int2' ],
	[ 'number_fraction', "(g || '.125')::numeric" ],
	[ 'float', 'g / 8.0::float8' ],
	[ 'text', "'w\x{c3}\x{b6}rd ' || g" ],
	[ 'enum', "(ARRAY['sad', 'ok', 'happy'])[1 + g % 3]::mood" ],
	[ 'bytes', "decode(md5(g::text), 'hex')" ],
	[ 'bool', 'g % 2 = 0' ],
	[ 'uuid', 'md5(g::text)::uuid' ],
	[ 'oid', 'g::oid' ],
	[ 'macaddr', "lpad(to_hex(g), 12, '0')::macaddr" ],
	[ 'macaddr8', "lpad(to_hex(g), 16, '0')::macaddr8" ],
	[ 'inet', "'10.0.0.0'::inet + g" ],
	[ 'bit', 'g::bit(40)' ],
	[ 'pg_lsn', "('1/' || to_hex(g))::pg_lsn" ],
	[ 'date', "'2000-01-01'::date + g" ],
	[ 'timestamp', "'2000-01-01'::timestamp + g * interval '1 minute'" ],
	[ 'timestamptz', "'2000-01-01 00:00+00'::timestamptz + g * interval '1 minute'" ],
	[ 'time', "'00:00'::time + g * interval '1 second'" ],
	[ 'timetz', "'00:00+01'::timetz + g * interval '1 second'" ],
	[ 'interval', "g * interval '1 hour'" ],
	[ 'jsonb', "jsonb_build_object('a', g, 'b', ARRAY[g, NULL])" ],
	[ 'array', 'ARRAY[g, NULL, g + 1]' ],
	[ 'range', 'int4range(g, g + 10)' ],
	[ 'multirange', 'int4multirange(int4range(g, g + 1))' ],
	[ 'pair', 'ROW(g, g::text)::pair' ]);

# name, parameters of cf_new, number of values
my @sizes = (
	[ 'empty', '1e6', 0 ],
	[ 'list', '1e6', 20 ],
	[ 'small_full', '300', 300 ],
	[ 'full', '20000', 20000 ],
	[ 'beyond', '1000', 1030 ],
	[ 'growing', '1e7', 30000 ],
	[ 'superblocks', '3e5', 200000 ],
	[ 'fine', '5000, 1.0 / 65536', 5000 ],
	[ 'coarse', '5000, 0.2', 5000 ],
	[ 'seeded', '5000, 0.001, 2, -7', 5000 ],
	[ 'once', '5000, 0.01, 1', 5000 ]);

# what else can have happened to a filter of numbers; they hold 1 to 5000
my @histories = (
	[ 'aggregated', 'cf_agg(g) FROM generate_series(1, 5000) g' ],
	[ 'aggregated_hot', 'cf_agg(g % 5000 + 1) FROM generate_series(1, 20000) g' ],
	[ 'copies', 'cf_add_all(cf_new(30000), array_agg(1 + g % 5000)) FROM generate_series(1, 30000) g' ],
	[
		'churned',
		'cf_remove_all(cf_add_all(cf_new(10000), array_agg(g)), array_agg(g) FILTER (WHERE g > 5000)) FROM generate_series(1, 9000) g'
	],
	[ 'resized', 'cf_resize(cf_add_all(cf_new(1e6, 0.0001), array_agg(g)), 6000, 0.01) FROM generate_series(1, 5000) g' ]);

# SQL: does the filter hold the numbers from 1 to count?
sub holds_up_to
{
	my ($count) = @_;

	return "cf_contains_all(filter, ARRAY(SELECT g FROM generate_series(1, $count) g))";
}

my @samples;
push @samples,
  {
	name => "family_$_->[0]",
	from => "cf_agg($_->[1], 1000) FROM generate_series(1, 700) g",
	holds => "(SELECT bool_and(filter @> ($_->[1])) FROM generate_series(1, 700) g)"
  }
  for @families;
push @samples,
  {
	name => "size_$_->[0]",
	from => "coalesce(cf_add_all(cf_new($_->[1]), array_agg(g)), cf_new($_->[1])) FROM generate_series(1, $_->[2]) g",
	holds => holds_up_to($_->[2])
  }
  for @sizes;
push @samples,
  { name => "history_$_->[0]", from => $_->[1], holds => holds_up_to(5000) }
  for @histories;

# create_samples(node, database)
#		Make the table "samples" in a database that has the extension.
sub create_samples
{
	my ($node, $db) = @_;

	$node->safe_psql($db, q{
		SET client_encoding = 'UTF8';
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
		CREATE TYPE pair AS (a int, b text);
		CREATE TABLE samples (name text PRIMARY KEY, filter cuckoofilter)});
	$node->safe_psql($db,
		"SET client_encoding = 'UTF8'; INSERT INTO samples SELECT '$_->{name}', $_->{from}")
	  for @samples;
	return;
}

# check_samples(node, database, label)
#		Every filter holds all its values, turns away most others, and is sound.
#		One test.
sub check_samples
{
	my ($node, $db, $label) = @_;
	my @queries;

	for my $sample (@samples)
	{
		push @queries,
		  "SELECT name || ': ' || concat_ws(', ',
				CASE WHEN NOT $sample->{holds} THEN 'lost a value' END,
				CASE WHEN (SELECT count(*) FROM cf_check(filter)) > 0 THEN 'unsound' END)
			FROM samples WHERE name = '$sample->{name}'";
	}
	my $result = $node->safe_psql($db,
		"SET client_encoding = 'UTF8';\n" . join("\nUNION ALL\n", @queries));
	my @lines = sort split /\n/, $result;
	my @wanted = sort map { "$_->{name}: " } @samples;
	return is_deeply(\@lines, \@wanted, "$label: every filter is sound and holds its values");
}

# sample_prints(node, database)
#		The bytes of all filters, shortened.
sub sample_prints
{
	my ($node, $db) = @_;

	return $node->safe_psql($db,
		q{SELECT name, octet_length(filter::bytea), md5(filter::bytea), md5(filter::text) FROM samples ORDER BY name COLLATE "C"});
}

# samples_are_same(node, database, prints, label)
#		The filters are equal to the byte to those that prints was taken of.
#		Two tests.
sub samples_are_same
{
	my ($node, $db, $prints, $label) = @_;

	is(sample_prints($node, $db), $prints, "$label: equal to the byte");
	return check_samples($node, $db, $label);
}

# create_words(node, database)
#		Tables of words that LATIN1 has as well, and of filters of them.
sub create_words
{
	my ($node, $db) = @_;

	$node->safe_psql($db, qq{
		SET client_encoding = 'UTF8';
		CREATE TABLE words AS
			SELECT n, w || ' ' || n AS word, (w || ' ' || n)::varchar(40) AS short
			FROM generate_series(1, 200) n, unnest(ARRAY['r\x{c3}\x{a9}sum\x{c3}\x{a9}', '\x{c3}\x{bc}ber', 'stra\x{c3}\x{9f}e', '\x{c2}\x{a3}', 'plain']) w;
		CREATE TABLE of_words AS
			SELECT cf_agg(word, 1000) AS words, cf_agg(short, 1000) AS shorts, cf_agg(ARRAY[word, NULL], 1000) AS arrays,
				cf_agg(ROW(n, word), 1000) AS pairs, cf_agg(to_jsonb(word), 1000) AS documents,
				sum(cf_hash(word)) AS hashes FROM words});
	return;
}

# words_are_same(node, database, label)
#		Filters of the words as they are in this database are equal to those that
#		came here.  One test.
sub words_are_same
{
	my ($node, $db, $label) = @_;

	return is(
		$node->safe_psql($db, q{
			SELECT words = (SELECT cf_agg(word, 1000) FROM words), shorts = (SELECT cf_agg(short, 1000) FROM words),
				arrays = (SELECT cf_agg(ARRAY[word, NULL], 1000) FROM words), pairs = (SELECT cf_agg(ROW(n, word), 1000) FROM words),
				documents = (SELECT cf_agg(to_jsonb(word), 1000) FROM words),
				hashes = (SELECT sum(cf_hash(word)) FROM words), (SELECT bool_and(of_words.words @> word) FROM words)
			FROM of_words}),
		't|t|t|t|t|t|t', "$label: the same words make the same filters");
}

# Restore a dump, in any format, into a database; one test.
sub restore_dump
{
	my ($node, $format, $file, $database, $label) = @_;

	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $database, '-f', $file ]
		: [ 'pg_restore', '--exit-on-error', '-d', $database, $file ],
		$label);
	return;
}

# forget_new_options(old, new, database...)
#		Make databases of an old server fit to go to a new one.
#
# Newer minor versions store an attribute option that an early minor version of
# the next major does not know.  It comes with any column; without it databases
# can go there as well.
sub forget_new_options
{
	my ($old, $new, @databases) = @_;
	my $bin = $new->config_data('--bindir');
	chomp $bin;

	return if system('grep', '-q', 'pg_attver', "$bin/postgres") == 0;
	$old->safe_psql($_, q{
		SET allow_system_table_mods = on;
		UPDATE pg_attribute SET attoptions = (
				SELECT nullif(array_agg(o), '{}'::text[]) FROM unnest(attoptions) o
				WHERE o NOT LIKE 'pg_attver=%')
			WHERE attoptions::text LIKE '%pg_attver=%'}) for @databases;
	return;
}

1;
