# A server that dies while clients are at work, in three ways.

package ServerCrash;

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

use Exporter 'import';
our @EXPORT = qw(start_load crash_server);

# pgbench that runs until the server stops; what it says is of no interest.
sub start_load
{
	my ($node, @options) = @_;
	my ($out, $err) = ('', '');

	return IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--time=600', '--host', $node->host, '--port', $node->port, @options, 'postgres' ],
		'>', \$out, '2>', \$err);
}

# every process but the postmaster
sub processes_of
{
	my ($node) = @_;

	return split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
}

# One client is killed, and the server restarts by itself.
sub kill_client
{
	my ($node, $load) = @_;
	my $pid = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC, wait_event_type NULLS FIRST LIMIT 1});

	like($pid, qr/^[0-9]+$/, 'a client is at work') or BAIL_OUT('the clients have ended');
	kill 'KILL', $pid;
	IPC::Run::finish($load);
	# No query: one written to a refused connection would end the test.
	$node->poll_query_until('postgres', undef, '')
	  or BAIL_OUT('the server did not come back');
	return;
}

# Every process dies at once, without a signal to be handled.
sub kill_all
{
	my ($node, $load) = @_;
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my @pids = processes_of($node);

	$node->kill9;
	kill 'KILL', @pids;
	IPC::Run::finish($load);
	# there is no starting before the last of them is gone
	for my $pid ($postmaster, @pids)
	{
		for (my $tries = 0; kill(0, $pid) && $tries < 1800; $tries++)
		{
			usleep(100_000);
		}
	}
	$node->start;
	return;
}

# Let the server crash under the load, each time in another way, and start it
# again.  The load ends with it.
sub crash_server
{
	my ($node, $round, $load) = @_;

	if ($round % 3 == 1)
	{
		kill_client($node, $load);
	}
	elsif ($round % 3 == 2)
	{
		# The server gives up everything at a signal.
		$node->stop('immediate');
		IPC::Run::finish($load);
		$node->start;
	}
	else
	{
		kill_all($node, $load);
	}
	return;
}

1;
