# Filters whose chunks in the TOAST table are too short or missing, as a failing
# disk leaves them: a probe that comes to such a chunk is an error, and one that
# does not answers as ever.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
my $initdb_has_option = `initdb --help` =~ /--no-data-checksums/;
$node->init(extra => [ $initdb_has_option ? '--no-data-checksums' : () ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$node->start;

my $nvalues = 20000;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION cuckoo_filter;
	CREATE TABLE short (f cuckoofilter);
	CREATE TABLE missing (f cuckoofilter);
	INSERT INTO short SELECT cf_agg(i) FROM generate_series(1, $nvalues) i;
	INSERT INTO missing TABLE short;
	-- what a probe ends with: its answer or the SQLSTATE
	CREATE FUNCTION probe(source regclass, v int) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
		answer text;
	BEGIN
		EXECUTE format('SELECT cf_contains(f, \$1) FROM %s', source) INTO answer USING v;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '[0-9]+ in pg_toast_[0-9]+\$', 'N');
	END \$\$;
	CHECKPOINT;
});

# damage(table, number, bytes)
#		In the file of a table's TOAST table, give chunk 4 another number and
#		length; undef leaves the length.
sub damage
{
	my ($table, $number, $bytes) = @_;
	my ($file, $toast) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT pg_relation_filepath(reltoastrelid), reltoastrelid::regclass FROM pg_class WHERE oid = '$table'::regclass});
	my ($value, $length) = split /\|/, $node->safe_psql('postgres', "SELECT chunk_id, length(chunk_data) FROM $toast WHERE chunk_seq = 4");

	# a varlena of four bytes of header has its length in the upper 30 bits of
	# these, or in the lower ones on a big-endian machine
	my $header = sub { my ($n) = @_; return unpack('C', pack('S', 1)) ? pack('L', ($n + 4) << 2) : pack('L', $n + 4) };
	my $before = pack('LL', $value, 4) . $header->($length);

	$node->stop;
	my $path = $node->data_dir . "/$file";
	my $content = slurp_file($path);
	my $place = index($content, $before);
	ok($place > 0 && index($content, $before, $place + 1) < 0, "the chunk of \"$table\" is found");
	open my $out, '+<:raw', $path or die "$path: $!\n";
	seek $out, $place, 0;
	print $out pack('LL', $value, $number) . $header->($bytes // $length);
	close $out;
	$node->start;
}

# probes(table)
#		How many probes of the values in the filter end with what.
sub probes
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT probe('$table', v) AS outcome, count(*) FROM generate_series(1, $nvalues, 7) v GROUP BY 1 ORDER BY 1});
}

damage('short', 4, 1000);
like(probes('short'),
	qr/\AXX001 unexpected chunk size 1000 in chunk 4 for toast value N\|\d+\ntrue\|\d+\z/,
	'beyond the end of a chunk that is too short: an error; elsewhere: true');

damage('missing', 1004, undef);
like(probes('missing'),
	qr/\AXX001 missing chunk number 4 for toast value N\|\d+\ntrue\|\d+\z/,
	'in a chunk that is missing: an error; elsewhere: true');

$node->stop;
done_testing();
