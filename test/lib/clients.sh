# shellcheck shell=bash disable=SC2154
#
# clients.sh
#		The libraries below clients/, each by its own tests, and compared with
#		the server.
#
# Needs common.sh, packages.sh, server.sh, and core.sh for a copy of the
# sources.

# need_clients
#		What the clients need of Debian; npm brings the rest.
need_clients()
{
	need_packages python3 python3-pytest python3-xxhash python3-numpy || return 1
	command -v npm >/dev/null && command -v node >/dev/null || need_packages nodejs npm
}

# client_count LOG PASSED FAILED
#		Add what these patterns find, each with the number as its first group.
client_count()
{
	local passed failed

	passed=$(sed -nE "s/$2/\\1/p" "$1" | tail -n 1)
	failed=$(sed -nE "s/$3/\\1/p" "$1" | tail -n 1)
	npassed=$((npassed + ${passed:-0}))
	nfailed=$((nfailed + ${failed:-0}))
	[ -n "$passed" ]
}

run_client_c()
{
	local log=$CORE_WORK/client-c.log status=0

	logged "$log" make -s --no-print-directory -C "$CORE_WORK/clients/c" -j2 \
		CFLAGS='-O2 -g -Werror' check || status=$?
	name_failed "$log"
	add_counts "$log" && ((status == 0)) || { show "$log"; return 1; }
}

run_client_js()
{
	local log=$CORE_WORK/client-js.log status=0 dir=$CORE_WORK/clients/js

	logged "$log" npm --prefix "$dir" ci --omit=dev --no-audit --no-fund ||
		{ show "$log"; return 1; }
	logged "$log" env -C "$dir" npm test || status=$?
	name_failed "$log"
	client_count "$log" '^[^a-z0-9]*pass ([0-9]+)$' '^[^a-z0-9]*fail ([0-9]+)$' &&
		((status == 0)) || { show "$log"; return 1; }
}

run_client_python()
{
	local log=$CORE_WORK/client-python.log status=0

	logged "$log" env -C "$CORE_WORK/clients/python" PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider || status=$?
	client_count "$log" '^.*\b([0-9]+) passed.*$' '^.*\b([0-9]+) failed.*$' &&
		((status == 0)) || { show "$log"; return 1; }
}

# run_cross
#		The same sets built by all, the same questions and changes, the same
#		mutated images.
run_cross()
{
	local log=$CORE_WORK/cross.log status=0 dir=$CORE_WORK/clients clients

	srv_start || return 1
	srv_as env PGHOST="$SRV_WORK/run" psql -qX -U postgres -c 'CREATE EXTENSION cuckoo_filter' ||
		return 1
	clients=("C=$dir/c/test/tool" "JavaScript=node $dir/js/test/tool.mjs"
		"Python=/usr/bin/python3 $dir/python/tests/tool.py")
	logged "$log" env PGHOST="$SRV_ROOT$SRV_WORK/run" PGUSER=postgres PATH="$SRV_BIN:$PATH" \
		perl "$CORE_WORK/test/clients/cross.pl" "${clients[@]}" || status=$?
	grep -E '^(ok|not ok|seed)' "$log" | sed 's/^/  /' || true
	name_failed "$log"
	add_counts "$log" && ((status == 0)) || { show "$log"; status=1; }
	srv_stop || status=1
	return "$status"
}

# client_suites
#		All of them, in a server that has been copied and built.
client_suites()
{
	need_clients || { suite "clients, packages" false; return 0; }
	core_copy
	suite "clients/c, make check" run_client_c
	suite "clients/js, npm test" run_client_js
	suite "clients/python, pytest" run_client_python
	suite "clients and server compared" run_cross
}
