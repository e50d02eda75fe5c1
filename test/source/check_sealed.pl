#!/usr/bin/env perl
#
# check_sealed.pl
#		Is every golden file still what it was when it was sealed?
#
# Usage: check_sealed.pl FOLDER [--seal]
#
# FOLDER is test/golden.  Its file SEALED has the SHA-256 and the size of the
# images, of what is said of each, and of tables of vectors (.tsv), to which
# lines may be added.  A released image is what stored filters look like
# somewhere: what is sealed is never changed and never removed, whatever a new
# version does.  --seal adds lines for what has none; it changes no line.
#
# Prints "ok" or "not ok" for each rule, with what is wrong below; the last line
# is "N passed, N failed".

use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use Verdict;

my ($folder, $option) = @ARGV;
die "usage: $0 FOLDER [--seal]\n"
	if !defined $folder || defined $option && $option ne '--seal';
my $list = "$folder/SEALED";
my (@seals, %is_sealed, %bytes_of, @changed);

find({ no_chdir => 1, wanted => sub {
	return if !/\.(bin|txt|tsv)$/;
	open my $file, '<:raw', $_ or die "$_: $!\n";
	local $/;
	$bytes_of{substr $_, length($folder) + 1} = <$file>;
} }, $folder);

open my $in, '<', $list or die "$list: $!\n";
while (my $line = <$in>)
{
	my ($sum, $size, $name) = $line =~ /^([0-9a-f]{64}) (\d+) (\S+)$/ or next;
	my $bytes = $bytes_of{$name};

	push @seals, $name;
	if (!defined $bytes)
	{
		push @changed, "$name is missing";
	}
	elsif (length $bytes < $size || sha256_hex(substr $bytes, 0, $size) ne $sum)
	{
		push @changed, "$name was changed: restore it, and add a file for what is new";
	}
	elsif (length $bytes == $size)
	{
		$is_sealed{$name} = 1;
	}
	elsif ($name !~ /\.tsv$/)
	{
		push @changed, "$name has become longer";
	}
}
close $in;
my @new = grep { !$is_sealed{$_} } sort keys %bytes_of;

if (defined $option)
{
	die "# $_\n" foreach @changed;
	open my $out, '>>', $list or die "$list: $!\n";
	print $out sha256_hex($bytes_of{$_}) . ' ' . length($bytes_of{$_}) . " $_\n" foreach @new;
	close $out or die "$list: $!\n";
	print scalar(@new) . " files sealed\n";
	exit 0;
}

verdict('what is sealed is there, and what it was', @seals ? @changed : 'nothing is sealed');
verdict('every golden file is sealed',
	map { "$_ is not: perl test/source/check_sealed.pl test/golden --seal" } @new);
finish();
