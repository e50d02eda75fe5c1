# Compare what the clients do with the server: sets are built, asked for and
# changed, and mutated images get a verdict.
#
#	perl cross.pl NAME=COMMAND...
#
# COMMAND starts the tool of a client (test/vectors/README.md).  psql connects
# by the environment, to a database in UTF-8 with the extension.  The seed is
# printed and can be given as CUCKOO_TEST_SEED.  The last line is "N passed,
# N failed": a test is what one client does of one kind.

use strict;
use warnings;
use utf8;

use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempfile);
use JSON::PP;

my $nsets = $ENV{CUCKOO_TEST_SETS} || 300;
my $nmutants = $ENV{CUCKOO_TEST_MUTANTS} || 5000;
my $seed = $ENV{CUCKOO_TEST_SEED} || time;
my $json = JSON::PP->new->canonical->ascii;
my $folder = dirname(abs_path(__FILE__));

srand($seed);
print "seed $seed\n";

sub pick { return $_[ int rand @_ ] }

# a signed 64-bit integer
sub bits64
{
	return unpack 'q', pack 'LL', int rand 2**32, int rand 2**32;
}

# Hashes of which many have the same two buckets.
my @crowd;

# The n-th value of a kind
my %kinds = (
	small => [ 'number', sub { 0 + $_[0] } ],
	int => [ 'number', sub { '' . bits64() } ],
	decimal => [ 'number', sub { my $s = bits64() . ''; my $p = int rand length $s; substr($s, -$p, 0, '.') if $p > 0 && $p < length($s =~ s/-//r); $s } ],
	float => [ 'float', sub { 0 + sprintf '%.*g', 1 + int rand 15, (rand() - 0.5) * 10**(int(rand 40) - 20) } ],
	text => [ 'text', sub { pick("v$_[0]", "größer $_[0]", "$_[0] 値", "\N{U+1F600}$_[0]", "a \"$_[0]\" \\ ") } ],
	char => [ 'char(n)', sub { "c$_[0]" . ' ' x int rand 3 } ],
	bytes => [ 'bytes', sub { unpack 'H*', pack "Q", $_[0] * 77 } ],
	long => [ 'bytes', sub { unpack('H*', pack "Q", $_[0]) x (1 + $_[0] % 40) } ],
	uuid => [ 'uuid', sub { join '-', unpack 'A8A4A4A4A12', sprintf '%016x%016x', bits64(), bits64() } ],
	bool => [ 'bool', sub { $_[0] % 2 ? JSON::PP::true : JSON::PP::false } ],
	date => [ 'date', sub { sprintf '%04d-%02d-%02d', 1 + int rand 9999, 1 + int rand 12, 1 + int rand 28 } ],
	timestamp => [ 'timestamp', sub { moment() } ],
	timestamptz => [ 'timestamptz', sub { moment() . pick('Z', '+02:00', '-11:30') } ],
	time => [ 'time', sub { substr moment(), 11 } ],
	hash => [ 'hash', sub { '' . bits64() } ],
	crowd => [ 'hash', sub { '' . unpack 'q', pack 'Q', pick(@crowd) ^ (int(rand 2**20) << 8) } ]);

sub moment
{
	return sprintf '%04d-%02d-%02dT%02d:%02d:%02d%s', 1 + int rand 9999, 1 + int rand 12, 1 + int rand 28,
		int rand 24, int rand 60, int rand 60, rand() < 0.3 ? '' : sprintf '.%0*d', 6, int rand 1000000;
}

sub make_request
{
	my $kind = pick(sort keys %kinds);
	my ($family, $make) = @{ $kinds{$kind} };
	my $n = $kind eq 'bool' ? 2 : 1 + int exp rand log(pick(60, 600, 4000));
	my $bag = $family ne 'hash' && rand() < 0.4;

	@crowd = map { bits64() & ~0xFFFFF00 } 1 .. 3 + int rand 80;
	my @values = map { $make->($_) } 1 .. $n;
	my @others = map { $make->(1000000 + $_) } 1 .. 20;
	push @values, map { pick(@values) } 1 .. rand 2 * $n if rand() < 0.5;
	my $capacity = $family ne 'hash' && rand() < 0.4 ? undef : int(@values * pick(0.7, 1, 1, 1.3, 5, 50) * 10 + 10) / 10;

	return { op => 'build', family => $family, values => \@values, capacity => $capacity,
		fpr => 0 + sprintf('%.3g', 10**(-0.5 - rand 7)), max_copies => 1 + int rand 4, seed => '' . (rand() < 0.3 ? 0 : bits64()),
		bag => $bag ? JSON::PP::true : JSON::PP::false,
		probes => [ (map { pick(@values) } 1 .. 20), @others ],
		changes => [ { add => \@others }, { remove => [ map { pick(@values) } 1 .. 10 ] }, { add => [ map { pick(@values) } 1 .. 10 ] } ] };
}

# A command with input from lines, and its lines.
sub through
{
	my ($command, @lines) = @_;
	my ($handle, $file) = tempfile(UNLINK => 1);

	print $handle map { "$_\n" } @lines;
	close $handle;
	open my $pipe, '-|', "$command <$file" or die "$command: $!\n";
	my @answers = <$pipe>;
	close $pipe or print "# $command: exit status $?\n";
	chomp @answers;
	return @answers;
}

my @requests = map { make_request() } 1 .. $nsets;
my %said;
for my $line (through("psql -qAtX -v ON_ERROR_STOP=1 -v mutants=$nmutants -v seed=" . ($seed % 1000) / 1000 . " -f '$folder/cross.sql'",
	map { $json->encode($_) } @requests))
{
	my ($kind, $rest) = split /\t/, $line, 2;
	push @{ $said{$kind} }, $json->decode($rest);
}

# What the tools are asked, and how each answer must be, by kind
my %asked;
for my $built (@{ $said{build} })
{
	my $request = $requests[ $built->{id} - 1 ];

	push @{ $asked{build} }, [ { map { $_ => $request->{$_} } qw(op family values capacity fpr max_copies seed bag) },
		sub { defined $built->{bytes} ? ($_[0]{bytes} // '') eq $built->{bytes} : defined $_[0]{error} } ];
}
for my $kind (qw(probe change))
{
	for my $answer (@{ $said{$kind} })
	{
		my $request = $requests[ $answer->{id} - 1 ];
		my $bytes = $said{build}[ $answer->{id} - 1 ]{bytes};
		my $is_hash = $request->{family} eq 'hash';

		push @{ $asked{$kind} }, $kind eq 'probe'
			? [ { op => 'probe', bytes => $bytes, family => $request->{family}, values => $request->{probes} },
				sub { my $counts = join ',', map { $is_hash && $_ ? 1 : $_ } @{ $_[0]{counts} || [] };
					my $found = join ',', map { $_ ? 1 : 0 } @{ $_[0]{found} || [] };
					$counts eq join(',', @{ $answer->{counts} }) && $found eq join(',', map { $_ ? 1 : 0 } @{ $answer->{counts} }) } ]
			: [ { op => 'change', bytes => $bytes, family => $request->{family}, changes => $request->{changes} },
				sub { defined $answer->{bytes} ? ($_[0]{bytes} // '') eq $answer->{bytes} : defined $_[0]{error} } ];
	}
}
for my $mutant (@{ $said{verdict} })
{
	push @{ $asked{verdict} }, [ { op => 'verdict', bytes => $mutant->{bytes} },
		sub { defined $_[0]{ok} && ($_[0]{ok} ? 'ok' : $_[0]{version} ? 'version' : 'damaged') eq $mutant->{verdict} } ];
}

my ($npassed, $nfailed) = (0, 0);

sub report
{
	my ($is_right, $what) = @_;

	$is_right ? $npassed++ : $nfailed++;
	print $is_right ? 'ok' : 'not ok', " - $what\n";
}

# There is enough of each kind, or the comparison says little.
my $nrefused = grep { !defined $_->{bytes} } @{ $said{build} };
my %verdicts;
$verdicts{ $_->{verdict} }++ for @{ $said{verdict} };
report(@{ $said{build} || [] } == $nsets && $nrefused < $nsets / 3, "the server: $nsets sets, $nrefused refused");
report(@{ $said{verdict} || [] } == $nmutants && 3 == keys %verdicts,
	'the server: ' . join ', ', map { "$verdicts{$_} $_" } sort keys %verdicts);

for my $client (@ARGV)
{
	my ($name, $command) = split /=/, $client, 2;

	for my $kind (qw(build probe change verdict))
	{
		my @cases = @{ $asked{$kind} || [] };
		my @answers = through($command, map { $json->encode($_->[0]) } @cases);
		my $nwrong = 0;

		for my $i (0 .. $#cases)
		{
			my $answer = eval { $json->decode($answers[$i]) } || {};

			next if $cases[$i][1]->($answer);
			$nwrong++ < 3 and print '# ', substr($json->encode($cases[$i][0]), 0, 700), "\n#   ", substr($answers[$i] // 'no answer', 0, 300), "\n";
		}
		report(@cases > 0 && @answers == @cases && $nwrong == 0, "$name, $kind: " . @cases . " compared, $nwrong differ");
	}
}
print "$npassed passed, $nfailed failed\n";
exit($nfailed > 0);
