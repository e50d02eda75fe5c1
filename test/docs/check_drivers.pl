#!/usr/bin/env perl
#
# check_drivers.pl
#		Run the programs of docs/drivers.md, and compare what they print.
#
# Usage: check_drivers.pl DOCUMENT all|HEADING...
#        check_drivers.pl --list DOCUMENT
#
# The blocks of SQL of the document make the database.  Each block of a
# programming language is a whole program, and the ```text block right after
# it is what that prints.  A program is known by the heading that it stands
# under, and runs in a fresh copy of the database, whose name is "shop".
#
# The server is found as psql finds it (PGHOST, PGPORT, PGUSER); JDBC_URL is for
# the program in Java.  The databases "shop" and "shop_template" are dropped and
# made anew.
#
# Counts programs; the last line is "N passed, N failed".

use strict;
use warnings;

# How a program of each language is run, and what its file is called.
my %languages = (
	python => [ 'program.py', 'python3', 'program.py' ],
	js => [ 'program.js', 'node', 'program.js' ],
	java => [
		'Drivers.java', 'java', '-cp', '/usr/share/java/postgresql.jar', 'Drivers.java'
	],
	go => [ 'program.go', 'go', 'run', 'program.go' ]);

# read_document FILE
#		The SQL, and the programs: hashes of heading, line, language, body,
#		expected.
sub read_document
{
	my ($file) = @_;
	my ($sql, $heading, @programs, $fence, $body, $line, $last_end) = ('', '');

	open my $in, '<', $file or die "$file: $!\n";
	while (my $text = <$in>)
	{
		if (defined $fence && $text !~ /^```\s*$/)
		{
			$body .= $text;
		}
		elsif (defined $fence)
		{
			if ($fence eq 'sql')
			{
				$sql .= $body;
			}
			elsif ($fence eq 'text')
			{
				$programs[-1]{expected} = $body
					if defined $last_end && $last_end == $line - 1;
			}
			else
			{
				die "$file: a program in $fence in line $line, which cannot be run\n"
					if !$languages{$fence};
				push @programs,
					{ heading => $heading, line => $line, language => $fence, body => $body };
				$last_end = $.;
			}
			undef $fence;
		}
		elsif ($text =~ /^```(\w*)/)
		{
			($fence, $body, $line) = ($1, '', $.);
		}
		elsif ($text =~ /^#+ (.*\S)/)
		{
			$heading = $1;
		}
	}
	die "$file: the block that begins in line $line does not end\n" if defined $fence;
	return ($sql, @programs);
}

# psql DATABASE STATEMENT...
sub psql
{
	my ($database, @statements) = @_;

	system('psql', '-q', '-X', '-d', $database, '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1',
		map { ('-c', $_) } 'SET client_min_messages = warning', @statements) == 0
		or die "psql failed in database $database\n";
}

# output_of PROGRAM DIRECTORY
#		What a program prints, errors included, and its exit status.
sub output_of
{
	my ($program, $directory) = @_;
	my ($name, @command) = @{ $languages{ $program->{language} } };

	psql('postgres', 'DROP DATABASE IF EXISTS shop',
		'CREATE DATABASE shop TEMPLATE shop_template');
	open my $out, '>', "$directory/$name" or die "$directory/$name: $!\n";
	print $out $program->{body};
	close $out or die "$directory/$name: $!\n";
	my $output = `cd '$directory' && @command 2>&1 </dev/null`;
	return ($output, $?);
}

# check FILE DIRECTORY PROGRAM
sub check
{
	my ($file, $directory, $program) = @_;
	my $expected = $program->{expected};
	my $title = "$program->{heading}, line $program->{line}";

	if (!defined $expected || $expected eq '')
	{
		print "  $title: does not say what it prints\n";
		return 0;
	}
	my ($output, $status) = output_of($program, $directory);
	if ($status != 0 || $output ne $expected)
	{
		print "  $title: says that it prints\n$expected",
			"  but ends with status $status and prints\n$output";
		return 0;
	}
	print "  $title: prints what it says\n";
	return 1;
}

my $only_list = @ARGV && $ARGV[0] eq '--list' ? shift : undef;
my ($file, @headings) = @ARGV;
die "usage: $0 DOCUMENT all|HEADING... | --list DOCUMENT\n"
	if !defined $file || !$only_list && !@headings;
my ($sql, @programs) = read_document($file);

if ($only_list)
{
	print "$_->{heading}\n" foreach @programs;
	exit 0;
}

my $directory = ($ENV{TMPDIR} || '/tmp') . "/drivers.$$";
mkdir $directory or die "$directory: $!\n";
psql('postgres', 'DROP DATABASE IF EXISTS shop_template', 'CREATE DATABASE shop_template');
psql('shop_template', $sql);

my ($npassed, $nfailed) = (0, 0);
foreach my $heading (@headings)
{
	my @chosen = grep { $heading eq 'all' || $_->{heading} eq $heading } @programs;

	if (!@chosen)
	{
		print "  $file has no program under \"$heading\"\n";
		$nfailed++;
	}
	foreach my $program (@chosen)
	{
		check($file, $directory, $program) ? $npassed++ : $nfailed++;
	}
}
system('rm', '-rf', $directory);
print "$npassed passed, $nfailed failed\n";
exit($nfailed == 0 ? 0 : 1);
