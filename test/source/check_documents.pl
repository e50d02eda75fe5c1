#!/usr/bin/env perl
#
# check_documents.pl
#		Can the documents be read, followed and trusted?
#
# Usage: check_documents.pl FOLDER
#
# FOLDER is the root of the sources.  Checked are:
#
#	- no line of a document is longer than 100 columns, but for tables, what SQL
#	  prints, single links, and words of 80 and more, such as filters;
#	- a link into the repository leads to a file that is there, and to a heading;
#	- every message that a user can meet is in docs/troubleshooting.md: those of
#	  errmsg() in src, but for the ones that only say where a value came from.
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

my $folder = abs_path(shift || die "usage: $0 FOLDER\n");
my $longest_line = 100;

# The server's own words, in a place of ours.
my %not_ours = map { $_ => 1 } ('%s', 'invalid internal value for enum: %u');

sub text_of
{
	my ($file) = @_;

	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!\n";
	local $/;
	return scalar <$in>;
}

# Documents by their names, which begin at the root.
my (%documents, @sources);
find({ no_chdir => 1, wanted => sub {
	if (-d && m{/(node_modules|build|\.git)$}) { $File::Find::prune = 1; return }
	$documents{substr $_, length($folder) + 1} = text_of($_) if /\.md$/;
	push @sources, $_ if m{^\Q$folder\E/src/.*\.[ch]$};
} }, $folder);

# Long lines
my @long;
foreach my $name (sort keys %documents)
{
	my ($fence, $number) = ('', 0);

	foreach my $line (split /\n/, $documents{$name})
	{
		$number++;
		if ($line =~ /^\s*```(\w*)/)
		{
			$fence = $fence eq '' ? ($1 || 'none') : '';
			next;
		}
		next if length $line <= $longest_line || $line =~ /^\|/ || $fence eq 'text';
		next if $line =~ /^\s*!?\[[^]]*\]\([^)]*\)[.,]?$/ || $line =~ /\S{80}/;
		push @long, "$name, line $number: " . length($line) . ' columns';
	}
}
verdict("no line of a document is above $longest_line columns", @long);

# Links.  Anchors as GitHub makes them: lower case, no punctuation, dashes.
sub anchors_of
{
	my ($text) = @_;
	my %anchors;

	$text =~ s/^\s*```.*?^\s*```//msg;
	while ($text =~ /^#+ +(.*)$/mg)
	{
		my $anchor = lc $1;

		$anchor =~ s/\]\([^)]*\)//g;
		$anchor =~ s/[^\w\- ]//g;
		$anchor =~ s/ /-/g;
		$anchors{$anchor} = 1;
	}
	return \%anchors;
}

my @dead;
foreach my $name (sort keys %documents)
{
	my $text = $documents{$name};

	$text =~ s/^\s*```.*?^\s*```//msg;
	while ($text =~ /\]\(([^)\s]*)\)/g)
	{
		my $link = $1;
		next if $link =~ /^\w+:/;
		my ($to, $anchor) = split /#/, $link, 2;
		my $path = $to eq '' ? "$folder/$name" : dirname("$folder/$name") . "/$to";

		if (!-e $path)
		{
			push @dead, "$name: $link";
		}
		elsif (defined $anchor && $path =~ /\.md$/)
		{
			push @dead, "$name: $link" if !anchors_of(text_of($path))->{$anchor};
		}
	}
}
verdict('links lead somewhere', @dead);

# Messages.  What the document has in backquotes stands for all messages that
# it matches, where "..." is anything.
my @known;
while (($documents{'docs/troubleshooting.md'} // '') =~ /`([^`]+)`/g)
{
	my ($pattern, $literal) = ($1, $1);

	$literal =~ s/\.\.\.//g;
	next if length $literal < 16;
	$pattern = quotemeta $pattern;
	$pattern =~ s/\\\.\\\.\\\./.*/g;
	push @known, qr/^$pattern$/;
}

my @unknown;
foreach my $file (sort @sources)
{
	my $text = text_of($file);

	while ($text =~ /\berrmsg(?:_plural)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)/g)
	{
		my $message = $1;

		$message = join '', $message =~ /"((?:[^"\\]|\\.)*)"/g;
		$message =~ s/\\"/"/g;
		next if $not_ours{$message} || grep { $message =~ $_ } @known;
		push @unknown, substr($file, length($folder) + 1) . ": $message";
	}
}
verdict('every message is in docs/troubleshooting.md', @unknown);

finish();
