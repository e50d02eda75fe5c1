#!/usr/bin/env perl
#
# check_make.pl
#		Does make, where the headers of a server are missing, say what to install?
#
# Usage: check_make.pl FOLDER
#
# FOLDER is the root of the sources.  Nothing is built: where the headers are
# missing, make has to stop before it does anything, with an exit status that a
# script notices; what needs no server has to be possible all the same.
#
# Prints "ok" or "not ok" for each, with what is wrong below; the last line is
# "N passed, N failed".

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::Bin;
use Verdict;

my $folder = shift or die "usage: $0 FOLDER\n";
my $dir = tempdir(CLEANUP => 1);

# run_make ARG...: exit status and output
sub run_make
{
	my $command = join ' ', map { "'$_'" } @_;
	my $output = `env -u MAKEFLAGS -u MAKELEVEL LC_ALL=C make -n -C '$folder' $command 2>&1`;

	return ($? >> 8, $output);
}

# A program that a package of the client library alone brings: it answers, but
# what it names is not there.
my $client_only = "$dir/pg_config";
open my $out, '>', $client_only or die "$client_only: $!\n";
print $out "#!/bin/sh\necho '$dir/pgxs/src/makefiles/pgxs.mk'\n";
close $out or die "$client_only: $!\n";
chmod 0755, $client_only or die "$client_only: $!\n";

my %configs = ('no pg_config' => "$dir/missing/pg_config",
	'a pg_config without headers' => $client_only);
foreach my $what (sort keys %configs)
{
	foreach my $goal ('', 'all', 'install', 'installcheck')
	{
		my ($status, $output) = run_make("PG_CONFIG=$configs{$what}", $goal ? $goal : ());
		my @faults;

		push @faults, 'the exit status is 0' if $status == 0;
		push @faults, 'it does not say what to install'
			if $output !~ /install postgresql-server-dev-NN/;
		push @faults, 'it does not name the program that it asked'
			if index($output, $configs{$what}) < 0;
		push @faults, split /\n/, $output if @faults;
		verdict("$what: make" . ($goal ? " $goal" : '') . ' says what to install', @faults);
	}
	foreach my $goal ('check-core', 'dist')
	{
		my ($status, $output) = run_make("PG_CONFIG=$configs{$what}", $goal);

		verdict("$what: make $goal is possible", $status == 0 ? () : split /\n/, $output);
	}
}

finish();
