# The words of the checks in this folder: "ok" or "not ok" for each, with what is
# wrong below, and "N passed, N failed" at the end.

package Verdict;

use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(verdict finish);

my ($npassed, $nfailed) = (0, 0);

# verdict WHAT, FAULT...: right if there are no faults
sub verdict
{
	my ($what, @faults) = @_;

	print((@faults ? 'not ok' : 'ok') . " - $what\n");
	print "# $_\n" for @faults;
	@faults ? $nfailed++ : $npassed++;
}

# The last line, and the exit status
sub finish
{
	print "\n$npassed passed, $nfailed failed\n";
	exit($nfailed == 0 ? 0 : 1);
}

1;
