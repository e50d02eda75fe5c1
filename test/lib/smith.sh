# shellcheck shell=bash
#
# smith.sh
#		Queries that sqlsmith makes up, on tables with filters.
#
# Needs common.sh (and its counters), packages.sh, server.sh, and matrix.sh for
# srv_build_sanitized.

# run_smith SECONDS
#		In the server of the private copy, which is instrumented: no crash, no
#		report of a sanitizer, and no internal error from the extension.
run_smith()
{
	local log=$SRV_ROOT$SRV_WORK/smith.log server=$SRV_ROOT$SRV_WORK/data/log status=0
	local limit=$TIME_LIMIT queries wrong

	srv_start || return 1
	srv_as tee -a data/postgresql.auto.conf >/dev/null <<-TXT
		restart_after_crash = off
		log_error_verbosity = verbose
		log_min_error_statement = panic
	TXT
	srv_as pg_ctl -s -D data reload || return 1
	logged "$log" srv_as psql -h "$SRV_WORK/run" -U postgres -X -q -v ON_ERROR_STOP=1 \
		-f src/test/fuzz/smith.sql || { show "$log"; show "$server" 20; return 1; }

	TIME_LIMIT=$(($1 + 60))
	logged "$log" srv_as timeout "$1" sqlsmith --verbose --exclude-catalog \
		--seed="${CUCKOO_TEST_SEED:-1}" \
		--target="host=$SRV_WORK/run user=smith dbname=postgres" || status=$?
	TIME_LIMIT=$limit
	queries=$(grep -aoE '^[.eStC]+$' "$log" | tr -d '\n' | wc -c)
	step "$queries queries"

	# sqlsmith takes back what it does; what triggers did is counted all the same
	step "$(srv_as psql -h "$SRV_WORK/run" -U postgres -X -A -t -q -c "
		SELECT n_tup_ins + n_tup_upd || ' changes of filters that follow a table' FROM pg_stat_user_tables WHERE relname = 'kept'" || true)"

	# What is internal to the server itself is not ours to judge.
	wrong=$(grep -aE -A 5 'ERROR:  XX000' "$server" | grep -a 'LOCATION:.* cuckoo_' | sort | uniq -c) || true
	if [ -n "$wrong" ]; then
		step "internal errors:"
		printf '%s\n' "$wrong"
		status=1
	elif grep -aqE 'PANIC|terminated by signal|ERROR: AddressSanitizer|runtime error' "$server"; then
		show_crash "$server"
		status=1
	elif ((status == 124 && queries > 0)); then
		npassed=1
		status=0
	else
		step "sqlsmith ended with status $status"
		show "$log" 20
	fi
	srv_stop || status=1
	return "$status"
}

# smith_suite SECONDS MAJOR
smith_suite()
{
	srv_copy "$2"
	if ! srv_build_sanitized; then
		suite "sanitizers, build" false
		return 0
	fi
	suite "sanitizers, PostgreSQL $(srv_version), sqlsmith, $1 s" run_smith "$1"
	drop_temp "$SRV_ROOT$SRV_WORK"
}
