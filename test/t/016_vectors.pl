# The vectors that every client is held to: the extension still makes the same
# file, and reads, answers, builds and refuses as the file says.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = abs_path(dirname(__FILE__) . '/../vectors');
my $node = PostgreSQL::Test::Cluster->new('main');

$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION cuckoo_filter');

# run_script(name): what psql prints, run in the folder of the vectors
sub run_script
{
	my ($name) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run(
		[ 'psql', '-qAtX', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', $name ],
		'<', \undef, '>', \$out, '2>', \$err, init => sub { chdir $folder or die "$folder: $!" });
	is($err, '', "$name runs");
	return $out;
}

my $made = run_script('make.sql');
my $kept = slurp_file("$folder/format1.json");
ok($made eq $kept, 'make.sql gives the file') or do
{
	my @made = split /\n/, $made;
	my @kept = split /\n/, $kept;
	my ($first) = grep { ($made[$_] // '') ne ($kept[$_] // '') } 0 .. ($#made > $#kept ? $#made : $#kept);

	diag('line ' . ($first + 1) . ":\n" . substr($made[$first] // '', 0, 1000) . "\nin the file:\n" . substr($kept[$first] // '', 0, 1000));
};
cmp_ok(length $kept, '<', 1_500_000, 'the file has a sane size');
is(run_script('check.sql'), "t|t|t|3|t\n", 'filters, images and hashes are as the file says');

$node->stop;
done_testing();
