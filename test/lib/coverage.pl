#!/usr/bin/env perl
#
# coverage.pl
#		Lines of the sources that a run of instrumented programs went through.
#
#	coverage.pl OBJECT_FOLDER SOURCE_FOLDER LEAST
#
# OBJECT_FOLDER holds what gcc --coverage and the programs have left there, in
# any depth.  Counted are the lines of the files in SOURCE_FOLDER, which is how
# their names begin or contain; a header's lines count once, whoever included
# it.  Prints a row for each file, the lines missed, the sum, and as the last
# line "1 passed, 0 failed" if at least LEAST percent of all were gone through.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Find;
use JSON::PP;

my ($objects, $sources, $least) = @ARGV;
die "usage: coverage.pl OBJECT_FOLDER SOURCE_FOLDER LEAST\n" unless defined $least;
$sources = abs_path($sources);

# What gcov says of each object, added up: lines{file}{line} = times executed.
my %lines;
my @notes;
find({ no_chdir => 1, wanted => sub { push @notes, $_ if /\.gcno$/ } }, $objects);
die "no instrumented objects in $objects\n" unless @notes;
for my $notes (sort @notes)
{
	open my $gcov, '-|', 'gcov', '--json-format', '--stdout', $notes
		or die "cannot run gcov: $!\n";
	local $/;
	my $text = <$gcov>;
	close $gcov or die "gcov failed for $notes\n";
	my $report = decode_json($text);
	for my $file (@{ $report->{files} })
	{
		my $name = $file->{file};
		$name = "$report->{current_working_directory}/$name" unless $name =~ m{^/};
		$name = abs_path($name) // $name;
		next unless index($name, "$sources/") == 0;
		for my $line (@{ $file->{lines} })
		{
			$lines{ substr($name, length($sources) + 1) }{ $line->{line_number} }
				+= $line->{count};
		}
	}
}
die "no line of $sources is in them\n" unless %lines;

# Numbers in a row as "from-to".
sub ranges
{
	my @ranges;
	for my $number (@_)
	{
		if (@ranges && $ranges[-1][1] == $number - 1)
		{
			$ranges[-1][1] = $number;
		}
		else
		{
			push @ranges, [ $number, $number ];
		}
	}
	return join ' ', map { $_->[0] == $_->[1] ? $_->[0] : "$_->[0]-$_->[1]" } @ranges;
}

my ($all, $all_reached) = (0, 0);
printf "%-24s %6s %7s %6s  %s\n", qw(file lines reached % missed);
for my $name (sort keys %lines)
{
	my @numbers = sort { $a <=> $b } keys %{ $lines{$name} };
	my @missed = grep { $lines{$name}{$_} == 0 } @numbers;
	my $reached = @numbers - @missed;
	printf "%-24s %6d %7d %6.1f  %s\n", $name, scalar(@numbers), $reached,
		100 * $reached / @numbers, ranges(@missed);
	$all += @numbers;
	$all_reached += $reached;
}
my $percent = 100 * $all_reached / $all;
printf "%-24s %6d %7d %6.1f  (at least %s wanted)\n", 'total', $all, $all_reached, $percent, $least;
printf "%d passed, %d failed\n", $percent >= $least ? (1, 0) : (0, 1);
exit($percent >= $least ? 0 : 1);
