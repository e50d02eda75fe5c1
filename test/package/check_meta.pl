#!/usr/bin/env perl
#
# check_meta.pl
#		Is META.json what PGXN accepts, and does it say what the sources say?
#
# Usage: check_meta.pl FOLDER
#
# The rules are those of the PGXN Meta Spec 1.0.0 (https://pgxn.org/spec/).
# Prints "ok" or "not ok" for each; the last line is "N passed, N failed".

use strict;
use warnings;
use JSON::PP;

my $folder = shift or die "usage: $0 FOLDER\n";
my ($npassed, $nfailed) = (0, 0);

sub check
{
	my ($is_good, $what) = @_;

	print(($is_good ? 'ok' : 'not ok') . " - $what\n");
	$is_good ? $npassed++ : $nfailed++;
}

sub contents
{
	my ($file) = @_;

	open my $in, '<:raw', "$folder/$file" or die "$folder/$file: $!\n";
	local $/;
	return <$in>;
}

my $term = qr/^[^\s\/\\\x00-\x1f]{2,}$/;
my $semantic = qr/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([a-zA-Z][-0-9A-Za-z]*)?$/;
my %licenses = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2
	bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0
	mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib open_source
	restricted unrestricted unknown);
my %keys = map { $_ => 1 } qw(abstract description maintainer license name provides version
	meta-spec generated_by no_index prereqs release_status resources tags);

my $meta = decode_json(contents('META.json'));
my ($version) = contents('cuckoo_filter.control') =~ /^default_version\s*=\s*'(.+)'/m;
my $changes = contents('CHANGELOG.md');

check(!(grep { !$keys{$_} && !/^x_/i } keys %$meta), 'no key that the spec does not know');
check(!(grep { !defined $meta->{$_} } qw(abstract maintainer license name provides version meta-spec)),
	'all required keys are there');
check($meta->{name} =~ $term, 'name is a term');
check($meta->{version} =~ $semantic, 'version is a semantic version');
check($meta->{version} eq $version, "version is the control file's");
check($changes =~ /^## \Q$version\E\b/m, 'the change log has this version');
check(!ref $meta->{abstract} && length $meta->{abstract} <= 250, 'abstract is a short text');
check($licenses{$meta->{license}}, 'license is one that the spec names');
check((grep { $meta->{release_status} eq $_ } qw(stable testing unstable)), 'release_status is known');
check($meta->{'meta-spec'}{version} eq '1.0.0', 'meta-spec has the version of the spec');
check(!(grep { length > 255 || /[\/\\\x00-\x1f]/ } @{ $meta->{tags} }), 'tags are short and without slashes');
check(%{ $meta->{provides} } > 0, 'something is provided');
foreach my $name (sort keys %{ $meta->{provides} })
{
	my $provided = $meta->{provides}{$name};

	check($name =~ $term, "$name: its name is a term");
	check($provided->{version} eq $version, "$name: version is the control file's");
	check(-f "$folder/$provided->{file}", "$name: $provided->{file} is there");
	check($provided->{file} eq "sql/$name--$version.sql", "$name: it is the script of this version");
	check(-f "$folder/$provided->{docfile}", "$name: $provided->{docfile} is there");
}
foreach my $phase (sort keys %{ $meta->{prereqs} })
{
	my %prereqs = map { %$_ } values %{ $meta->{prereqs}{$phase} };

	check(!(grep { !/$term/ || $prereqs{$_} !~ /^(0|[<>=! ]*\d+\.\d+\.\d+\w*(,\s*[<>=! ]*\d+\.\d+\.\d+\w*)*)$/ } keys %prereqs),
		"prereqs of $phase are terms with versions");
}

print "$npassed passed, $nfailed failed\n";
exit($nfailed == 0 ? 0 : 1);
