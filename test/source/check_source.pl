#!/usr/bin/env perl
#
# check_source.pl
#		Does the way of the includes hold, and is nothing too long?
#
# Usage: check_source.pl FOLDER
#
# FOLDER holds the wings core, pg and upkeep, and public headers.  Checked are:
#
#	- a wing includes itself and those below it only: core <- pg <- upkeep;
#	- core and the public headers know no server and allocate nothing: they
#	  include no system header but those named here, and no server header;
#	- there is no circle, where a .c file and the .h file of the same name count
#	  as one;
#	- PG_VERSION_NUM stands in pg/pg_compat.h only;
#	- no function is longer than 80 lines, heading included; no file is longer
#	  than 1,000 lines, or 600 in upkeep.
#
# Prints "ok" or "not ok" for each, with what is wrong below; the last line is
# "N passed, N failed".

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use Verdict;

my $folder = shift or die "usage: $0 FOLDER\n";
my $longest_function = 80;
my %longest_file = (upkeep => 600);
my $longest_other_file = 1000;

# What each wing may include; '' is the folder itself with the public headers.
my %below = (
	'' => [''],
	core => [ '', 'core' ],
	pg => [ '', 'core', 'pg' ],
	upkeep => [ '', 'core', 'pg', 'upkeep' ]);
my %system = (
	'' => { map { $_ => 1 } qw(stdint.h) },
	core => { map { $_ => 1 } qw(assert.h math.h stdbool.h stddef.h stdint.h string.h xxhash.h) });

my (%lines, %includes);

sub wing
{
	my ($file) = @_;

	return $file =~ m{^(.*)/[^/]+$} ? $1 : '';
}

sub node
{
	my ($file) = @_;

	return $file =~ s/\.[ch]$//r;
}

# target FILE, NAME
#		The file of the folder that an include names, undef if it is none.
sub target
{
	my ($file, $name) = @_;

	for my $place (dirname("$folder/$file"), $folder)
	{
		my $path = abs_path("$place/$name");
		return substr($path, length($folder) + 1)
		  if defined $path && -f $path && index($path, "$folder/") == 0;
	}
	return undef;
}

sub read_files
{
	$folder = abs_path($folder) // die "no such folder\n";
	find({
		no_chdir => 1,
		wanted => sub {
			return unless /\.[ch]$/;
			my $file = substr($_, length($folder) + 1);
			open my $in, '<', $_ or die "$_: $!\n";
			$lines{$file} = [<$in>];
		} }, $folder);
	die "no sources in $folder\n" unless %lines;
}

sub check_directions
{
	my (@unknown, @upward, @foreign);

	for my $file (sort keys %lines)
	{
		my $wing = wing($file);
		my $number = 0;

		push @unknown, "$file is in no wing that this test knows" if !$below{$wing};
		for my $line (@{ $lines{$file} })
		{
			$number++;
			next unless $line =~ /^\s*#\s*include\s*([<"])([^>"]+)[>"]/;
			my ($quote, $name) = ($1, $2);
			my $target = $quote eq '"' ? target($file, $name) : undef;

			if (defined $target)
			{
				push @{ $includes{ node($file) }{ node($target) } }, "$file:$number";
				push @upward, "$file:$number includes $target"
				  if $below{$wing} && !grep { $_ eq wing($target) } @{ $below{$wing} };
			}
			elsif ($system{$wing} && ($quote eq '"' || !$system{$wing}{$name}))
			{
				push @foreign, "$file:$number includes $name";
			}
		}
	}
	verdict('every file is in a wing', @unknown);
	verdict('no include goes upward: core <- pg <- upkeep', @upward);
	verdict('core includes neither the server nor what allocates', @foreign);
}

# circle_from NODE, STATE, PATH
#		A circle that is reached from a node, as a list of nodes, if there is one.
#		Nodes of the path are open, those that were gone through done.
sub circle_from
{
	my ($node, $state, @path) = @_;
	my @circle;

	$state->{$node} = 'open';
	push @path, $node;
	for my $next (grep { $_ ne $node } sort keys %{ $includes{$node} // {} })
	{
		if (!$state->{$next})
		{
			@circle = circle_from($next, $state, @path);
		}
		elsif ($state->{$next} eq 'open')
		{
			@circle = (@path, $next);
			shift @circle while $circle[0] ne $next;
		}
		last if @circle;
	}
	$state->{$node} = 'done';
	return @circle;
}

sub check_circles
{
	my (%state, @faults);

	for my $node (sort keys %includes)
	{
		my @circle = $state{$node} ? () : circle_from($node, \%state);
		next unless @circle;
		push @faults, join(' -> ', @circle);
		push @faults, map { "  $includes{ $circle[$_] }{ $circle[$_ + 1] }[0] includes $circle[$_ + 1]" }
		  0 .. $#circle - 1;
	}
	verdict('no circle of includes', @faults);
}

sub check_versions
{
	my @faults;

	for my $file (sort grep { $_ ne 'pg/pg_compat.h' } keys %lines)
	{
		push @faults, map { "$file:" . ($_ + 1) }
		  grep { $lines{$file}[$_] =~ /\bPG_VERSION_NUM\b/ } 0 .. $#{ $lines{$file} };
	}
	verdict('PG_VERSION_NUM is asked in pg/pg_compat.h only', @faults);
}

# functions FILE
#		Name, first line and number of lines of each function.  All of them begin
#		with a brace at the beginning of a line, and end likewise.
sub functions
{
	my ($file) = @_;
	my @text = @{ $lines{$file} };
	my @functions;
	my $open;

	for my $i (0 .. $#text)
	{
		$open = $i if $text[$i] =~ /^\{/;
		next unless defined $open && $text[$i] =~ /^\}\s*$/;
		my $first = $open;
		$first-- while $first > 0 && $text[ $first - 1 ] !~ m{^\s*$|\*/\s*$|^\}|^#|;\s*$};
		my $heading = join('', @text[ $first .. $open - 1 ]);
		push @functions, [ $1, $first + 1, $i + 1 - $first ] if $heading =~ /(\w+)\s*\(/;
		undef $open;
	}
	return @functions;
}

sub check_lengths
{
	my (@long_functions, @long_files);
	my $nfunctions = 0;

	for my $file (sort keys %lines)
	{
		my $nlines = @{ $lines{$file} };
		my $most = $longest_file{ wing($file) } // $longest_other_file;

		push @long_files, "$file: $nlines lines, at most $most" if $nlines > $most;
		for my $function (functions($file))
		{
			my ($name, $first, $count) = @$function;
			$nfunctions++;
			push @long_functions, "$file:$first: $name: $count lines, at most $longest_function"
			  if $count > $longest_function;
		}
	}
	verdict("none of $nfunctions functions is longer than $longest_function lines", @long_functions);
	verdict('no file is too long', @long_files);
}

read_files();
check_directions();
check_circles();
check_versions();
check_lengths();
finish();
