#!/usr/bin/env perl
#
# check_versions.pl
#		Do all places that name a version name the same one?
#
# Usage: check_versions.pl FOLDER
#
# FOLDER is the root of the sources.  The version has one source, the control
# file.  The change log begins with it, and all that carries a version of its
# own says the same: META.json, the script of the extension, the packages of
# Debian, JavaScript and Python, and the archives that documents name.  META.json
# itself, with the documents it names, is the matter of
# test/package/check_meta.pl.
#
# Prints "ok" or "not ok" for each, with what is wrong below; the last line is
# "N passed, N failed".

use strict;
use warnings;
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Verdict;

my $folder = shift or die "usage: $0 FOLDER\n";

sub contents
{
	my ($file) = @_;

	open my $in, '<:raw', "$folder/$file" or die "$folder/$file: $!\n";
	local $/;
	return scalar <$in>;
}

# first_in FILE PATTERN: what the pattern's group finds first
sub first_in
{
	my ($file, $pattern) = @_;

	return contents($file) =~ $pattern ? $1 : 'nothing';
}

my $version = first_in('cuckoo_filter.control', qr/^default_version\s*=\s*'(.+)'/m);
verdict('the control file has a version',
	$version =~ /^\d+\.\d+\.\d+$/ ? () : "default_version is \"$version\"");

my $lock = decode_json(contents('clients/js/package-lock.json'));
my %versions = (
	'CHANGELOG.md' => first_in('CHANGELOG.md', qr/^## (\S+)/m),
	'META.json' => decode_json(contents('META.json'))->{version},
	'Makefile' => first_in('Makefile', qr/^DATA = sql\/cuckoo_filter--(\S+)\.sql/m),
	'debian/changelog' => first_in('debian/changelog', qr/^\S+ \((.+?)-\d+\)/),
	'clients/js/package.json' => decode_json(contents('clients/js/package.json'))->{version},
	'clients/js/package-lock.json' => $lock->{version},
	'clients/js/package-lock.json, packages' => $lock->{packages}{''}{version},
	'clients/python/pyproject.toml' =>
		first_in('clients/python/pyproject.toml', qr/^version = "(.+)"/m),
	'clients/python, __version__' =>
		first_in('clients/python/src/cuckoofilter_postgres/__init__.py', qr/^__version__ = "(.+)"/m));
verdict("$_ has the version of the control file",
	$versions{$_} eq $version ? () : "$versions{$_} is not $version")
	for sort keys %versions;

# The library in C asks make, which asks the control file.
my $made = `make -s --no-print-directory -n -B -C '$folder/clients/c' BUILD=/nonexistent /nonexistent/cuckoofilter.pc`;
my ($of_c) = $made =~ /s,\@VERSION\@,(.*?),/;
$of_c //= 'nothing';
verdict('clients/c has the version of the control file',
	$of_c eq $version ? () : "$of_c is not $version");

# Archives and scripts that the documents name
foreach my $file ('README.md', 'docs/install.md')
{
	my @found = contents($file) =~ /cuckoo_filter-+(\d[\d.]*\d)\.(?:zip|sql)/g;

	verdict("$file names the archive of this version",
		@found ? map { "$_ is not $version" } grep { $_ ne $version } @found : 'it names none');
}

finish();
