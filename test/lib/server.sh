# shellcheck shell=bash
#
# server.sh
#		A private copy of a server: build the extension for it, install it
#		there, run the suites that need a server.
#
# Nothing of the installed server is written to, no cluster of it is used, and
# several copies (of one major or of several, also at the same time) do not
# meet.  The same functions work in the machine's own root and in a chroot.
# Everything runs as the user postgres when the script runs as root, else as
# the user that started the script.
#
# Needs common.sh.  Paths beginning with SRV_WORK are as seen from inside
# SRV_ROOT; add SRV_ROOT in front to reach them from outside.
SRV_ROOT=				# chroot the server lives in, empty for none
SRV_MAJOR=				# its major version
SRV_WORK=				# folder that holds everything below
SRV_BIN=				# bin folder of the private copy
SRV_CONFIG=				# its pg_config
SRV_ENTER=()			# command that what is run inside is started through

# srv_as CMD...
#		Run a command inside, without root's rights, in the work folder.
srv_as()
{
	local env=(env -i -C "$SRV_WORK" HOME="$SRV_WORK" TMPDIR="$SRV_WORK/tmp"
		LC_ALL=C.UTF-8 TZ=UTC PG_CONFIG="$SRV_CONFIG"
		PATH="$SRV_BIN:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")

	if [ -n "$SRV_ROOT" ]; then
		chroot --userspec=postgres:postgres "$SRV_ROOT" "${env[@]}" "$@"
	elif is_root; then
		${SRV_ENTER[@]+"${SRV_ENTER[@]}"} setpriv --reuid=postgres --regid=postgres --clear-groups -- "${env[@]}" "$@"
	else
		"${env[@]}" "$@"
	fi
}

# srv_own
#		Give everything in the work folder to the user that runs it.
srv_own()
{
	if [ -n "$SRV_ROOT" ]; then
		chroot "$SRV_ROOT" chown -R postgres:postgres "$SRV_WORK"
	elif is_root; then
		chown -R postgres:postgres "$SRV_WORK"
	fi
}

# copy_source TO
#		The sources as they are now, without what a build left.  The original
#		may belong to somebody else and be read-only.
copy_source()
{
	mkdir -p "$1"
	tar -C "$REPO" --exclude=./.git --exclude='*.o' --exclude='*.bc' --exclude='*.so' \
		--exclude=./build --exclude=./test/core/build --exclude=./test/fuzz/build --exclude=./clients/c/build --exclude=./clients/c/test/tool --exclude=node_modules --exclude=./results --exclude=./tmp_check \
		--exclude=./output_iso --exclude=./tmp_check_iso --exclude=./log -cf - . |
		tar -C "$1" --no-same-owner -xf -
	chmod -R u+w "$1"
}

# srv_copy MAJOR [ROOT]
#		Make the private copy (about 50 MB, under a second).
srv_copy()
{
	local outside

	SRV_MAJOR=$1
	SRV_ROOT=${2:-}
	make_temp outside ${SRV_ROOT:+"$SRV_ROOT/tmp"}
	SRV_WORK=${outside#"$SRV_ROOT"}
	mkdir -p "$outside"/{tmp,pg/lib/postgresql,pg/share/postgresql,pg/include}
	copy_server "$1"
	copy_source "$outside/src"
	srv_use "$1"
	srv_own
}

# copy_server MAJOR
#		Put one server into the work folder.
copy_server()
{
	local outside=$SRV_ROOT$SRV_WORK

	cp -a "$SRV_ROOT/usr/lib/postgresql/$1" "$outside/pg/lib/postgresql/"
	cp -a "$SRV_ROOT/usr/share/postgresql/$1" "$outside/pg/share/postgresql/"
	# A tree of links, so that a header can be installed into it.
	[ -e "$outside/pg/include/postgresql" ] ||
		${SRV_ROOT:+chroot "$SRV_ROOT"} cp -as /usr/include/postgresql "$SRV_WORK/pg/include/"
}

# srv_use MAJOR
#		Work with this one of the servers in the work folder.
srv_use()
{
	SRV_MAJOR=$1
	SRV_BIN=$SRV_WORK/pg/lib/postgresql/$1/bin
	SRV_CONFIG=$SRV_BIN/pg_config
}

# srv_make LOG ARG...
#		make in the copied sources.  SRV_MAKE holds arguments for all calls.
SRV_MAKE=()
srv_make()
{
	local log=$1
	shift
	logged "$log" srv_as make -s -C src -j2 --no-print-directory PG_CONFIG="$SRV_CONFIG" \
		${SRV_MAKE[@]+"${SRV_MAKE[@]}"} "$@"
}

# srv_build
#		Build with warnings as errors and install into the private copy.
srv_build()
{
	local log=$SRV_ROOT$SRV_WORK/build.log

	step "building for PostgreSQL $SRV_MAJOR, warnings are errors"
	if ! { srv_make "$log" clean && srv_make "$log" all COPT=-Werror &&
		srv_make "$log" install COPT=-Werror; }; then
		show "$log"
		return 1
	fi
}

# Options that make clang take the flags of a server built with gcc.
CLANG_COPT='-Werror -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-unused-command-line-argument -Wno-ignored-attributes'

# srv_build_clang CLANG
#		Compile with clang as well, only for its warnings; nothing is installed.
srv_build_clang()
{
	local log=$SRV_ROOT$SRV_WORK/build.log

	step "building for PostgreSQL $SRV_MAJOR with $1, warnings are errors"
	if ! { srv_make "$log" clean &&
		srv_make "$log" all CC="$1" COPT="$CLANG_COPT" &&
		srv_make "$log" clean; }; then
		show "$log"
		return 1
	fi
}

# srv_version
#		Full version of the private copy's server.
srv_version()
{
	srv_as postgres --version | sed 's/^[^0-9]*\([^ ]*\).*/\1/'
}

# srv_start
#		Make a cluster in the private copy and start its server, for psql -h
#		$SRV_WORK/run -U postgres.  It listens nowhere else, and ends when the
#		work folder is dropped or the script leaves.
srv_start()
{
	local log=$SRV_ROOT$SRV_WORK/start.log

	step "starting a server of our own, without network, data in a temporary folder"
	srv_as mkdir -m 0700 run
	logged "$log" srv_as initdb -N -A trust -U postgres --no-locale -E UTF8 -D data ||
		{ show "$log"; return 1; }
	srv_as tee -a data/postgresql.conf >/dev/null <<-TXT
		listen_addresses = ''
		unix_socket_directories = '$SRV_WORK/run'
		fsync = off
		max_wal_size = 4GB
	TXT
	# pg_ctl ends while the server goes on: not a case for "logged".  PGHOST and
	# PGUSER are for connections that the server makes to itself.
	srv_as env PGHOST="$SRV_WORK/run" PGUSER=postgres \
		pg_ctl -s -w -D data -l data/log start </dev/null >/dev/null 2>"$log" ||
		{ show "$log"; show "$SRV_ROOT$SRV_WORK/data/log"; return 1; }
}

# srv_stop
#		End the server of srv_start and remove its cluster.
srv_stop()
{
	srv_as pg_ctl -s -w -m immediate -D data stop </dev/null || return 1
	rm -rf "$SRV_ROOT$SRV_WORK/data" "$SRV_ROOT$SRV_WORK/run"
}

# makefile_list NAME [ARG...]
#		A list that the Makefile holds, on one line.
makefile_list()
{
	srv_as make -C src -s --no-print-directory PG_CONFIG="$SRV_CONFIG" "${@:2}" "print-$1"
}

# pgxs_test
#		Folder with the server's own test tools.
pgxs_test()
{
	printf '%s/test' "$(dirname "$(dirname "$(srv_as "$SRV_CONFIG" --pgxs)")")"
}

# count_regress LOG WANTED
#		Count what pg_regress or pg_isolation_regress printed: "test x ... ok"
#		up to 15, TAP lines from 16 on.  A test that never reported has failed.
count_regress()
{
	local good

	good=$(grep -cE '^(ok [0-9]+ |(test | {5})[^ ].*\.\.\. ok )' "$1") || true
	npassed=$((npassed + good))
	nfailed=$((nfailed + $2 - good))
	name_failed "$1"
}

# run_pg_regress NAME PROGRAM INPUTDIR TESTS OPTION...
#		Run a list of tests in a server of their own and count them.
run_pg_regress()
{
	local name=$1 program=$2 input=$3 tests=$4 out=$SRV_ROOT$SRV_WORK/$1 log
	local names status=0
	shift 4

	read -r -a names <<<"$tests"
	if ((${#names[@]} == 0)); then
		step "the list of $name tests is empty"
		return 1
	fi
	step "${#names[@]} tests: ${names[*]}"
	log=$SRV_ROOT$SRV_WORK/$name.log
	rm -rf "$out" "$out.instance"
	logged "$log" srv_as "$(pgxs_test)/$program" "$@" --inputdir="$input" \
		--outputdir="$SRV_WORK/$name" --bindir="$SRV_BIN" \
		--temp-instance="$SRV_WORK/$name.instance" --no-locale --encoding=UTF8 \
		--dbname="cuckoo_$name" "${names[@]}" || status=$?
	count_regress "$log" "${#names[@]}"
	if ((status != 0 || nfailed > 0)); then
		show "$log" 40
		if [ -s "$out/regression.diffs" ]; then
			head -n 200 "$out/regression.diffs"
		fi
		show_crash "$out/log/postmaster.log"
		return 1
	fi
	rm -rf "$out.instance"
}

# show_crash LOG
#		The lines of a server's log that tell of its death.
show_crash()
{
	[ -f "$1" ] || return 0
	grep -E 'PANIC|TRAP|terminated by signal|ERROR: AddressSanitizer|runtime error' "$1" |
		head -n 20 | sed 's/^/    server log: /' || true
}

run_regress()
{
	local tests

	tests=$(makefile_list REGRESS) || { step "make print-REGRESS failed"; return 1; }
	# This server may connect to itself: no result but the full one counts.
	rm -f "$SRV_ROOT$SRV_WORK/src/expected/foreign_1.out"
	run_pg_regress regress regress/pg_regress "$SRV_WORK/src" "$tests" \
		--load-extension=cuckoo_filter
}

# run_inplace
#		Only the tests of changing in place.
run_inplace()
{
	srv_build || return 1
	run_pg_regress inplace regress/pg_regress "$SRV_WORK/src" inplace \
		--load-extension=cuckoo_filter
}

run_isolation()
{
	local tests

	tests=$(makefile_list ISOLATION) || { step "make print-ISOLATION failed"; return 1; }
	run_pg_regress isolation isolation/pg_isolation_regress \
		"$SRV_WORK/src/test/isolation" "$tests" --load-extension=cuckoo_filter
}

# run_module
#		Aggregates run as distributed engines run them: by a module of our own,
#		which is built here and installed into the private copy.
run_module()
{
	local log=$SRV_ROOT$SRV_WORK/module.log tests

	if ! srv_make "$log" -C test/module all install COPT=-Werror; then
		show "$log"
		return 1
	fi
	tests=$(makefile_list REGRESS -C test/module) ||
		{ step "make print-REGRESS failed"; return 1; }
	run_pg_regress module regress/pg_regress "$SRV_WORK/src/test/module" "$tests" \
		--load-extension=cuckoo_filter --load-extension=cuckoo_executor
}

# run_tap FILE...
#		Run TAP tests given relative to the sources, with the server's own
#		Perl modules.  Variables in TAP_ENV are passed on.
TAP_ENV=()
run_tap()
{
	local file status=0 log=$SRV_ROOT$SRV_WORK/tap.log tests files=()
	local good bad

	for file in "$@"; do
		files+=("$SRV_WORK/src/$file")
	done
	if ((${#files[@]} == 0)); then
		step "there are no TAP tests"
		return 1
	fi
	step "${#files[@]} files: ${*##*/}"
	tests=$(pgxs_test)
	mkdir -p "$SRV_ROOT$SRV_WORK/tap"
	srv_own
	logged "$log" srv_as env TESTDIR="$SRV_WORK/tap" TESTDATADIR="$SRV_WORK/tap/tmp_check" \
		TESTLOGDIR="$SRV_WORK/tap/log" PG_REGRESS="$tests/regress/pg_regress" \
		PG_TEST_NOCLEAN='' ${TAP_ENV[@]+"${TAP_ENV[@]}"} \
		prove -v -I "$tests/perl" -I "$SRV_WORK/src/test/t" "${files[@]}" || status=$?
	good=$(grep -cE '^ok [0-9]+' "$log") || true
	bad=$(grep -E '^not ok [0-9]+' "$log" | grep -cv '# TODO') || true
	npassed=$((npassed + good))
	nfailed=$((nfailed + bad))
	while IFS= read -r file; do
		skip "$file"
	done < <(grep -E '(^ok .*# skip|\.\. skipped)' "$log" || true)
	if ((status != 0 || bad > 0)); then
		name_failed "$log"
		show "$log" 120
		for file in "$@"; do
			show_tap_log "$log" "$file"
		done
		return 1
	fi
	rm -rf "$SRV_ROOT$SRV_WORK/tap"
}

# show_tap_log LOG FILE
#		The end of what a TAP test itself has logged, if it failed.
show_tap_log()
{
	local name=${2##*/}
	local own

	grep -qE "$name +\(Wstat" "$1" || return 0
	own=$SRV_ROOT$SRV_WORK/tap/tmp_check/log/regress_log_${name%.pl}
	[ -f "$own" ] || own=$SRV_ROOT$SRV_WORK/tap/log/regress_log_${name%.pl}
	[ -f "$own" ] || return 0
	step "the end of $name's own log:"
	show "$own" 40
}

run_all_tap()
{
	local tests files

	tests=$(makefile_list PROVE_TESTS) || { step "make print-PROVE_TESTS failed"; return 1; }
	read -r -a files <<<"$tests"
	run_tap ${files[@]+"${files[@]}"}
}

# run_documentation
#		Run what the documents show, and compare what they say it prints.
run_documentation()
{
	local documents status=0 log=$SRV_ROOT$SRV_WORK/documentation.log

	# every document that shows SQL, in the order of their names
	mapfile -t documents < <(cd "$SRV_ROOT$SRV_WORK/src" &&
		find . -name node_modules -prune -o -name '*.md' -exec grep -lE '^```(pg)?sql' {} + | sed 's|^\./||' | sort)
	step "${#documents[@]} documents: ${documents[*]}"
	srv_start || return 1
	logged "$log" srv_as env -C src PGHOST="$SRV_WORK/run" PGUSER=postgres \
		perl test/docs/check_docs.pl "${documents[@]}" || status=$?
	if ! add_counts "$log" || ((status != 0)); then
		cat "$log"
		show_crash "$SRV_ROOT$SRV_WORK/data/log"
		status=1
	fi
	srv_stop || status=1
	return "$status"
}
