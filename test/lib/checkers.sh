# shellcheck shell=bash disable=SC2154
#
# checkers.sh
#		The tests once more with somebody looking on: the core's assertions in
#		a server, a server with assertions of its own, valgrind, and what lines
#		of the sources all of them reach.
#
# Needs common.sh (and its counters), packages.sh, server.sh, core.sh, and for
# the cache and the mirror matrix.sh.

# srv_build_as FLAGS
#		Build and install with these flags of the compiler.
srv_build_as()
{
	local log=$SRV_ROOT$SRV_WORK/build.log

	step "building with $1"
	SRV_MAKE=(with_llvm=no)
	if ! { srv_make "$log" clean && srv_make "$log" all COPT="$1" &&
		srv_make "$log" install COPT="$1"; }; then
		show "$log"
		SRV_MAKE=()
		return 1
	fi
	SRV_MAKE=()
}

# The regression tests with the assertions of the core: what it takes for
# granted has to hold for the damaged images as well that these contain.
run_asserts()
{
	srv_copy "$1"
	srv_build_as "-Werror -DCUCKOO_ASSERT_CHECKING" && run_regress || return 1
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# Everything that is run in one server, in a build that is slower than others.
run_server_tests()
{
	run_regress && run_isolation && run_module && run_all_tap
}

# Percentage of the lines that the tests have to reach.
COVERAGE_CORE=95
COVERAGE_GLUE=90

# coverage_table OBJECTS SOURCES LEAST
coverage_table()
{
	local log=$1/coverage status=0

	perl "$REPO/test/lib/coverage.pl" "$@" >"$log" || status=$?
	sed '$d; s/^/    /' "$log"
	add_counts "$log" && ((status == 0))
}

# The core's lines that its own tests reach.
run_core_coverage()
{
	step "building for gcov, and running the shorter form of the core's tests"
	core_copy
	TIME_LIMIT=7200 CUCKOO_TEST_QUICK=1 KEEP_BUILD=yes core_check coverage CC=gcc CFLAGS='-O0 -g' \
		EXTRA_CFLAGS=--coverage LDFLAGS=--coverage || return 1
	coverage_table "$CORE_WORK/build-coverage" "$CORE_WORK/src/core" "$COVERAGE_CORE"
}

# The glue's lines that the server's tests reach.  A process writes its counts
# when it ends by itself.
run_glue_coverage()
{
	local wing

	srv_copy "$1"
	srv_build_as '-O0 --coverage' || return 1
	TIME_LIMIT=7200 run_server_tests || return 1
	for wing in pg upkeep; do
		coverage_table "$SRV_WORK/src/src/$wing" "$SRV_WORK/src/src/$wing" "$COVERAGE_GLUE" || return 1
	done
	drop_temp "$SRV_WORK"
}

coverage_suites()
{
	suite "coverage of src/core by test/core" run_core_coverage
	suite "coverage of src/pg and src/upkeep by regression, isolation and TAP" run_glue_coverage "$1"
}

# build_checked_server SOURCE_ARCHIVE DIR
#		A server with assertions that tells valgrind what palloc does, without
#		what the tests do not need.  Runs without root's rights.
build_checked_server()
{
	local archive=$1 dir=$2

	mkdir "$dir/source" && tar -xf "$archive" -C "$dir/source" --strip-components=1 || return 1
	cd "$dir/source" || return 1
	./configure --prefix="$dir/pg" --enable-cassert --enable-debug --enable-tap-tests \
		--without-icu --without-readline --without-zlib CFLAGS='-O1 -g -fno-omit-frame-pointer' \
		CPPFLAGS=-DUSE_VALGRIND || return 1
	make -s -j2 && make -s install && make -s -C contrib/postgres_fdw install || return 1
	cp src/tools/valgrind.supp "$dir/pg/"
	cd / && rm -rf "$dir/source"
}

# checked_server VAR MAJOR
#		Its folder in the cache, made of Debian's source if need be.
checked_server()
{
	local var=$1 major=$2 mirror state options version key dir making user=(env)

	find_mirror mirror || { step "no Debian mirror among apt's sources"; return 1; }
	make_temp state
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	printf 'deb-src %s %s main\n' "$mirror" "$(host_suite)" >"$state/sources.list"
	options=(-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache"
		-o Acquire::Languages=none -o APT::Sandbox::User=root)
	logged "$state/log" apt-get -q "${options[@]}" update || { show "$state/log"; return 1; }
	version=$(apt-cache "${options[@]}" showsrc "postgresql-$major" |
		sed -n 's/^Version: //p' | tail -n 1)
	[ -n "$version" ] || { step "the mirror has no source of postgresql-$major"; return 1; }

	key=$(printf '%s\n' "$(declare -f build_checked_server)" "$version" | sha256sum | cut -c 1-12)
	dir=$CACHE/checked-$major-$key
	if [ ! -d "$dir" ]; then
		step "building PostgreSQL $version with assertions in $CACHE, once a version (about five minutes)"
		need_packages gcc libc6-dev make bison flex perl valgrind || return 1
		logged "$state/log" env -C "$state" apt-get -q "${options[@]}" source --download-only \
			"postgresql-$major" || { show "$state/log"; return 1; }
		if is_root; then
			user=(setpriv --reuid=postgres --regid=postgres --clear-groups -- env)
			chown -R postgres:postgres "$state"
		fi
		TIME_LIMIT=3600 logged "$state/log" "${user[@]}" -i PATH=/usr/bin:/bin HOME="$state" LC_ALL=C.UTF-8 \
			bash -c "$(declare -f build_checked_server); build_checked_server \"\$@\"" \
			build "$(echo "$state"/postgresql-*.orig.tar.*)" "$state" ||
			{ show "$state/log"; return 1; }
		mkdir -p "$CACHE"
		find "$CACHE" -mindepth 1 -maxdepth 1 -name "checked-$major-*" -exec rm -rf {} +
		make_temp making "$CACHE"
		cp -a "$state/pg/." "$making" || return 1
		# Another run may have been faster.
		mv -T "$making" "$dir" 2>/dev/null || [ -d "$dir" ] || return 1
	fi
	drop_temp "$state"
	printf -v "$var" '%s' "$dir"
}

# checked_copy MAJOR
#		What srv_copy does, with the server of checked_server.
checked_copy()
{
	local server outside

	checked_server server "$1" || return 1
	SRV_MAJOR=$1
	SRV_ROOT=
	make_temp outside
	SRV_WORK=$outside
	mkdir -p "$outside/tmp"
	cp -a "$server" "$outside/pg"
	copy_source "$outside/src"
	SRV_BIN=$outside/pg/bin
	SRV_CONFIG=$SRV_BIN/pg_config
	srv_own
}

# Everything once in a server with assertions, which also overwrites memory
# that is given back and checks what was written behind its end.
run_cassert()
{
	checked_copy "$1" || return 1
	srv_build_as "-Werror -DCUCKOO_ASSERT_CHECKING" || return 1
	TIME_LIMIT=7200 run_server_tests || return 1
	drop_temp "$SRV_WORK"
}

VALGRIND=(valgrind --quiet --leak-check=no --num-callers=20)

# The core's programs, memory leaks included.
run_core_valgrind()
{
	need_packages valgrind || return 1
	step "the shorter form of the core's tests under valgrind"
	TIME_LIMIT=7200 CUCKOO_TEST_QUICK=1 core_check valgrind CC=gcc CFLAGS='-O1 -g' \
		RUNNER='valgrind --quiet --error-exitcode=9 --leak-check=full'
}

# srv_valgrind
#		Make the private copy's server run under valgrind, each process with a
#		log of its own.
srv_valgrind()
{
	mkdir "$SRV_WORK/valgrind" || return 1
	mv "$SRV_BIN/postgres" "$SRV_BIN/postgres.real"
	# initdb's calls, which none of our code takes part in, go without.
	cat >"$SRV_BIN/postgres" <<-TXT
		#!/bin/sh
		case " \$* " in
			*" -D "*) exec ${VALGRIND[*]} --suppressions="$SRV_WORK/pg/valgrind.supp" \\
				--log-file="$SRV_WORK/valgrind/%p.log" "$SRV_BIN/postgres.real" "\$@" ;;
		esac
		exec "$SRV_BIN/postgres.real" "\$@"
	TXT
	chmod 0755 "$SRV_BIN/postgres"
	srv_own
}

# Regression under valgrind: every access to memory that palloc has not given,
# or has taken back, and every decision by a byte that nobody wrote.
run_valgrind()
{
	local file found=0 status=0

	need_packages valgrind || return 1
	checked_copy "$1" || return 1
	srv_build_as "-Werror -O1 -g" && srv_valgrind || return 1
	TIME_LIMIT=14400 run_regress || status=$?
	for file in "$SRV_WORK"/valgrind/*.log; do
		if [ -s "$file" ]; then
			show "$file" 40
			found=1
		fi
	done
	# one test more: that valgrind had nothing to say
	if ((found)); then
		nfailed=$((nfailed + 1))
		return 1
	fi
	npassed=$((npassed + 1))
	drop_temp "$SRV_WORK"
	return "$status"
}

# checker_suites MAJOR
#		The part of the long tier that looks on.
checker_suites()
{
	if wanted cassert; then
		suite "PostgreSQL with assertions" run_cassert "$1"
	fi
	if wanted valgrind; then
		suite "core, valgrind" run_core_valgrind
		suite "PostgreSQL under valgrind, regression" run_valgrind "$1"
	fi
}
