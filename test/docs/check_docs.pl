#!/usr/bin/env perl
#
# check_docs.pl
#		Run the SQL of the documents, and compare what they say it prints.
#
# Usage: check_docs.pl DOCUMENT...
#
# All ```sql blocks of a document are run one after the other, in a fresh
# database, by one psql -q -X: what a reader sees who pastes them.  A ```text
# block that begins on the line after a block of SQL is what that prints,
# errors included, but for blanks at the ends of lines and empty lines at its
# end.  A block without one must print nothing.  ```pgsql is SQL of which the
# document shows no output: it may print anything but errors.
#
# A document that does not create the extension has it from the start.
#
# The server is found as psql finds it (PGHOST, PGPORT, PGUSER).  The databases
# documentation_1, documentation_2 and so on are dropped and made anew.
#
# Counts blocks; the last line is "N passed, N failed".

use strict;
use warnings;

my $marker = '== end of a block of the documentation ==';

# blocks_of FILE
#		The blocks of SQL: hashes of line, sql, and expected, their output; undef
#		if any will do.
sub blocks_of
{
	my ($file) = @_;
	my (@blocks, $fence, $body, $line, $last_end);

	open my $in, '<', $file or die "$file: $!\n";
	while (my $text = <$in>)
	{
		if (defined $fence)
		{
			if ($text !~ /^```\s*$/)
			{
				$body .= $text;
				next;
			}
			if ($fence =~ /^(pg)?sql$/)
			{
				push @blocks, { line => $line, sql => $body,
					expected => defined $1 ? undef : '' };
				$last_end = $fence eq 'sql' ? $. : undef;
			}
			elsif ($fence eq 'text' && defined $last_end && $last_end == $line - 1)
			{
				$blocks[-1]{expected} = $body;
			}
			undef $fence;
		}
		elsif ($text =~ /^```(\w*)/)
		{
			($fence, $body, $line) = ($1, '', $.);
		}
	}
	die "$file: the block that begins in line $line does not end\n" if defined $fence;
	return @blocks;
}

# tidy TEXT
#		Without what the documents leave out.
sub tidy
{
	my ($text) = @_;

	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+\z//;
	return $text;
}

# indented TEXT
sub indented
{
	my ($text) = @_;

	$text = '(nothing)' if $text eq '';
	$text =~ s/^/    | /mg;
	return $text;
}

# outputs_of DATABASE BLOCK...
#		What each block prints.
sub outputs_of
{
	my ($database, @blocks) = @_;
	my $script = "documentation.$$.sql";
	my $directory = $ENV{TMPDIR} || '/tmp';

	open my $out, '>', "$directory/$script" or die "$directory/$script: $!\n";
	print $out "$_->{sql}\\echo $marker\n" foreach @blocks;
	close $out or die "$directory/$script: $!\n";

	# read from the standard input, so that errors name no file
	my $output = `psql -q -X -d $database <$directory/$script 2>&1`;
	unlink "$directory/$script";
	return split /^\Q$marker\E\n/m, $output, -1;
}

# check FILE DATABASE
#		Returns the numbers of blocks that passed and that failed.
sub check
{
	my ($file, $database) = @_;
	my @blocks = blocks_of($file);
	my ($npassed, $nfailed) = (0, 0);

	system('psql', '-q', '-X', '-d', 'postgres', '-v', 'ON_ERROR_STOP=1',
		'-c', 'SET client_min_messages = warning',
		'-c', "DROP DATABASE IF EXISTS $database",
		'-c', "CREATE DATABASE $database") == 0
		or die "$file: no database\n";
	if (!grep { $_->{sql} =~ /^CREATE EXTENSION cuckoo_filter/m } @blocks)
	{
		system('psql', '-q', '-X', '-d', $database, '-c', 'CREATE EXTENSION cuckoo_filter') == 0
			or die "$file: no extension\n";
	}

	my @outputs = outputs_of($database, @blocks);
	foreach my $i (0 .. $#blocks)
	{
		my $block = $blocks[$i];
		my $expected = defined $block->{expected} ? tidy($block->{expected}) : undef;
		my $problem;

		# without its last semicolon, a block would print nothing at all
		if ($block->{sql} !~ /(;|\\\w.*)\s*(--.*)?\n\z/)
		{
			$problem = 'does not end with a whole statement';
		}
		elsif ($i >= $#outputs)
		{
			$problem = 'was not reached, or its end was not: an open quote, or a lost connection';
		}
		elsif (!defined $expected)
		{
			$problem = "fails:\n" . indented($1) if $outputs[$i] =~ /^(ERROR:.*)/ms;
		}
		elsif (tidy($outputs[$i]) ne $expected)
		{
			$problem = "says that it prints\n" . indented($expected) .
				"\n  but prints\n" . indented(tidy($outputs[$i]));
		}

		if (defined $problem)
		{
			print "  $file, line $block->{line}: the block $problem\n";
			$nfailed++;
		}
		else
		{
			$npassed++;
		}
	}
	print "  $file: $npassed of " . @blocks . " blocks are as it says\n";
	return ($npassed, $nfailed);
}

die "usage: $0 DOCUMENT...\n" if !@ARGV || $ARGV[0] =~ /^-/;
my ($npassed, $nfailed, $ndatabases) = (0, 0, 0);
foreach my $file (@ARGV)
{
	my ($passed, $failed) = check($file, 'documentation_' . ++$ndatabases);

	$npassed += $passed;
	$nfailed += $failed;
}
print "$npassed passed, $nfailed failed\n";
exit($nfailed == 0 ? 0 : 1);
