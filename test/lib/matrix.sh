# shellcheck shell=bash disable=SC2034,SC2154
#
# matrix.sh
#		The long tier: every server that Debian has, upgrades between them, a
#		big-endian and a 32-bit machine.  TAP tests that only it runs are in
#		test/long; what they share with the plain tier's is in test/t.
#
# The other servers live in chroots that are only unpacked: no package script
# runs, nothing is mounted, no service exists.  They are kept in a cache folder
# under a name that changes with what makes them and with the month, since the
# younger suites move.
#
# Needs common.sh (and its counters), packages.sh, server.sh and core.sh.

# Majors to test, and where Debian may have them, the most stable place first.
MATRIX_MAJORS=(15 16 17 18 19)
MATRIX_SUITES=(bookworm trixie forky sid experimental)
MATRIX_LEAST=3			# with fewer majors than this the matrix has failed

CACHE=${XDG_CACHE_HOME:-/var/cache}/cuckoo_filter

# What every chroot needs to build and to run the tests.
CHROOT_BASE=base-files,base-passwd,bash,dash,coreutils,sed,grep,mawk,findutils,diffutils,tar,gzip,make,gcc,libc6-dev,libc-bin,libxxhash-dev,libipc-run-perl,perl,tzdata

# find_mirror VAR
#		The Debian mirror that apt uses here.
find_mirror()
{
	local found log

	make_temp log
	update_lists "$log/log" || { show "$log/log"; return 1; }
	# shellcheck disable=SC2016
	found=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' |
		sed -n 's/^Debian Debian //p' | head -n 1)
	rm -rf "$log"
	[ -n "$found" ] || return 1
	printf -v "$1" '%s' "${found%/}"
}

# source_line MIRROR SUITE
source_line()
{
	printf 'deb %s %s main\n' "$1" "$2"
}

# Where each major was found: MAJOR_SUITE[15]=bookworm.
declare -A MAJOR_SUITE=()
SUITES_HERE=()

# find_majors MIRROR
#		Ask the mirror which majors it has.
find_majors()
{
	local mirror=$1 state suite major options

	make_temp state
	for suite in "${MATRIX_SUITES[@]}"; do
		mkdir -p "$state/$suite/lists/partial" "$state/$suite/cache"
		source_line "$mirror" "$suite" >"$state/$suite/sources.list"
		options=(-o Dir::Etc::sourcelist="$state/$suite/sources.list"
			-o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$state/$suite/lists"
			-o Dir::Cache="$state/$suite/cache" -o Acquire::Languages=none
			-o Acquire::Check-Valid-Until=false -o APT::Sandbox::User=root)
		if ! logged "$state/log" apt-get -q "${options[@]}" update; then
			step "the mirror has no $suite"
			continue
		fi
		SUITES_HERE+=("$suite")
		for major in "${MATRIX_MAJORS[@]}"; do
			if [ -z "${MAJOR_SUITE[$major]:-}" ] &&
				apt-cache "${options[@]}" madison "postgresql-server-dev-$major" 2>/dev/null |
					grep "postgresql-server-dev-$major" >/dev/null; then
				MAJOR_SUITE[$major]=$suite
			fi
		done
	done
	rm -rf "$state"
}

# unpack_chroot DIR ARCHITECTURE PACKAGES DOWNLOADS PIN SOURCE...
#		Unpack packages with what they depend on into DIR, and the packages
#		DOWNLOADS (space separated) without that.  PIN is an apt preference.
unpack_chroot()
{
	local dir=$1 arch=$2 packages=$3 downloads=$4 pin=$5
	shift 5

	# The hooks' $1 and variables are for the shell that mmdebstrap starts.
	# shellcheck disable=SC2016
	PIN=$pin DOWNLOADS=$downloads logged "$dir.log" mmdebstrap --mode=root --variant=extract \
		--architectures="$arch" \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Install-Recommends "false"' --include="$packages" \
		--setup-hook='for i in bin sbin lib lib64; do mkdir -p "$1/usr/$i"; ln -sfn "usr/$i" "$1/$i"; done' \
		--setup-hook='mkdir -p "$1/etc/apt/preferences.d"; printf "$PIN" >"$1/etc/apt/preferences.d/pin"' \
		--extract-hook='test -z "$DOWNLOADS" || { cd "$1/tmp" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get download -q $DOWNLOADS && for f in *.deb; do dpkg-deb -x "$f" "$1"; done && rm -f *.deb; }' \
		"" "$dir" "$@" || return 1

	# What package scripts would have done.
	cp "$dir/usr/share/base-passwd/passwd.master" "$dir/etc/passwd"
	cp "$dir/usr/share/base-passwd/group.master" "$dir/etc/group"
	echo 'postgres:x:970:970::/var/lib/postgresql:/bin/bash' >>"$dir/etc/passwd"
	echo 'postgres:x:970:' >>"$dir/etc/group"
	ln -sf gcc "$dir/usr/bin/cc"
	ln -sf mawk "$dir/usr/bin/awk"
	# who uses it asks whether this kernel runs programs of the architecture
	if chroot "$dir" true 2>/dev/null; then
		chroot "$dir" ldconfig || return 1
	fi
	mkdir -p "$dir/dev/shm" "$dir/tmp"
	chmod 1777 "$dir/tmp" "$dir/dev/shm"
}

# cached_chroot VAR NAME ARGUMENT...
#		The chroot that CHROOT_MAKER makes of the arguments, made if need be.
#		VAR gets its folder.
CHROOT_MAKER=unpack_chroot
cached_chroot()
{
	local var=$1 name=$2 key dir making
	shift 2

	key=$(printf '%s\n' "$(declare -f "$CHROOT_MAKER")" "$@" "$(date +%Y%m)" | sha256sum | cut -c 1-12)
	dir=$CACHE/$name-$key
	if [ ! -d "$dir" ]; then
		step "making the chroot \"$name\" in $CACHE, once a month (a minute or two)"
		need_packages mmdebstrap || return 1
		mkdir -p "$CACHE"
		find "$CACHE" -mindepth 1 -maxdepth 1 -name "$name-*" -mtime +40 -exec rm -rf {} +
		make_temp making "$CACHE"
		CLEAN_DIRS+=("$making.log")
		if ! "$CHROOT_MAKER" "$making" "$@"; then
			show "$making.log"
			return 1
		fi
		rm -f "$making.log"
		touch "$making"
		# Another run may have been faster.
		mv -T "$making" "$dir" 2>/dev/null || [ -d "$dir" ]
	fi
	printf -v "$var" '%s' "$dir"
}

# matrix_chroot VAR
#		One chroot with all the majors found.
matrix_chroot()
{
	local mirror major suite packages=$CHROOT_BASE,clang downloads=libpq-dev pin='' sources=()

	find_mirror mirror || { step "no Debian mirror among apt's sources"; return 1; }
	find_majors "$mirror"
	for major in "${MATRIX_MAJORS[@]}"; do
		[ -n "${MAJOR_SUITE[$major]:-}" ] || continue
		packages+=,postgresql-$major
		downloads+=" postgresql-server-dev-$major"
		# Experimental is not installed from unless told to.
		if [ "${MAJOR_SUITE[$major]}" = experimental ]; then
			pin="Package: postgresql-*$major libpq5 libpq-dev\\nPin: release a=experimental\\nPin-Priority: 995\\n"
		fi
	done
	for suite in sid experimental "${SUITES_HERE[@]}"; do
		case " ${SUITES_HERE[*]} " in
			*" $suite "*) ;;
			*) continue ;;
		esac
		case " ${sources[*]-} " in
			*" $suite main"*) ;;
			*) sources+=("$(source_line "$mirror" "$suite")") ;;
		esac
	done
	cached_chroot "$1" servers "$(dpkg --print-architecture)" "$packages" "$downloads" "$pin" "${sources[@]}"
}

one_pass()
{
	"$@" && npassed=1
}

# matrix_major MAJOR CHROOT
#		All that can be tested in one server.
matrix_major()
{
	local title

	srv_copy "$1" "$2"
	title="PostgreSQL $(srv_version) of ${MAJOR_SUITE[$1]}"
	SRV_MAKE=(with_llvm=no)
	suite "$title, clang" one_pass srv_build_clang clang
	suite "$title, gcc" one_pass srv_build
	if ((nfailed == 0)); then
		suite "$title, regression" run_regress
		suite "$title, isolation" run_isolation
		suite "$title, aggregates split over servers" run_module
		suite "$title, TAP" run_all_tap
	fi
	SRV_MAKE=()
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# upgrade OLD NEW CHROOT
#		A database full of filters goes from one major to another, by pg_upgrade,
#		by dump and restore, and by logical replication.
upgrade()
{
	local old=$1 new=$2

	srv_copy "$new" "$3"
	copy_server "$old"
	srv_own
	SRV_MAKE=(with_llvm=no)
	srv_use "$old" && srv_build && srv_use "$new" && srv_build || return 1
	TAP_ENV=(CUCKOO_OLD_INSTALL="$SRV_WORK/pg/lib/postgresql/$old"
		CUCKOO_OLD_MAJOR="$old" CUCKOO_NEW_MAJOR="$new")
	run_tap test/long/pg_upgrade.pl test/long/dump_across.pl test/long/replicate_across.pl || return 1
	TAP_ENV=()
	SRV_MAKE=()
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# The servers, and the upgrades from each to the next one and from the oldest
# to the newest.
matrix_suites()
{
	local chroot major majors=() before='' nmajors=0

	say ""
	say "The servers that Debian has"
	if ! matrix_chroot chroot; then
		suite "making the chroot of the servers" false
		return 0
	fi
	for major in "${MATRIX_MAJORS[@]}"; do
		if [ -n "${MAJOR_SUITE[$major]:-}" ] && has_server "$major" "$chroot"; then
			majors+=("$major")
			nmajors=$((nmajors + 1))
		elif [ "$major" = 15 ] && grep -q '^VERSION_ID="12"' /etc/os-release; then
			step "PostgreSQL 15 is not to be had"
			suite "PostgreSQL 15" false
		else
			skip "PostgreSQL $major: no suite of Debian's mirror has it, nothing was tested with it"
		fi
	done
	step "majors: ${majors[*]}"
	if ((nmajors < MATRIX_LEAST)); then
		suite "at least $MATRIX_LEAST majors" false
	fi
	if wanted matrix; then
		for major in "${majors[@]}"; do
			matrix_major "$major" "$chroot"
		done
	fi
	if wanted upgrade; then
		for major in "${majors[@]}"; do
			[ -z "$before" ] || suite "pg_upgrade and dump, $before to $major" upgrade "$before" "$major" "$chroot"
			before=$major
		done
		if ((nmajors > 2)); then
			suite "pg_upgrade and dump, ${majors[0]} to $before" upgrade "${majors[0]}" "$before" "$chroot"
		fi
	fi
}

# host_suite
#		Code name of the Debian this machine runs.
host_suite()
{
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# core_in_chroot CHROOT LABEL ARGUMENT...
#		The unit tests of the core inside a chroot, in their shorter form.
core_in_chroot()
{
	local chroot=$1 work status=0
	shift 2

	make_temp work "$chroot/tmp"
	copy_source "$work/src"
	mkdir "$work/include"
	cp "$chroot/usr/include/"xx*h*.h "$work/include/"
	logged "$work/log" chroot "$chroot" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 CUCKOO_TEST_QUICK=1 \
		make -s --no-print-directory -C "${work#"$chroot"}/src/test/core" -j2 \
		EXTRA_CFLAGS="-I${work#"$chroot"}/include" "$@" check || status=$?
	name_failed "$work/log"
	if ! add_counts "$work/log" || ((status != 0 || nfailed > 0)); then
		show "$work/log"
		return 1
	fi
	drop_temp "$work"
}

# Big-endian: the core, built for s390x and run by qemu.
run_big_endian()
{
	local mirror chroot

	find_mirror mirror || return 1
	cached_chroot chroot cross "$(dpkg --print-architecture)" \
		"$CHROOT_BASE,gcc-s390x-linux-gnu,libc6-dev-s390x-cross,qemu-user" '' '' \
		"$(source_line "$mirror" "$(host_suite)")" || return 1
	step "the shorter form of the core's tests, built for s390x, run by qemu"
	core_in_chroot "$chroot" s390x CC=s390x-linux-gnu-gcc LDFLAGS=-static RUNNER=qemu-s390x
}

# 32-bit: the core and the extension in Debian for i386, which an amd64 kernel
# runs as it is.
bits32_suites()
{
	local mirror chroot major title

	find_major major
	if ! find_mirror mirror ||
		! cached_chroot chroot i386 i386 "$CHROOT_BASE,postgresql-$major" \
			"libpq-dev postgresql-server-dev-$major" '' "$(source_line "$mirror" "$(host_suite)")"; then
		suite "making the chroot for i386" false
		return 0
	fi
	if ! chroot "$chroot" /bin/true; then
		skip "32-bit: this machine's kernel does not run i386 programs"
		return 0
	fi
	suite "32-bit, core" core_in_chroot "$chroot" i386
	srv_copy "$major" "$chroot"
	title="32-bit, PostgreSQL $(srv_version)"
	SRV_MAKE=(with_llvm=no)
	suite "$title, gcc" one_pass srv_build
	if ((nfailed == 0)); then
		suite "$title, regression" run_regress
		suite "$title, isolation" run_isolation
	fi
	SRV_MAKE=()
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# srv_instrument
#		Make the private copy's server load what a module built with the
#		address sanitizer needs.
#
# Preloading libasan alone hangs at the start: something has to allocate
# memory before the server's other libraries do.
srv_instrument()
{
	local outside=$SRV_ROOT$SRV_WORK bin=$SRV_ROOT$SRV_BIN

	cat >"$outside/first.c" <<-'TXT'
		#include <stdlib.h>

		__attribute__((constructor)) static void
		first(void)
		{
			free(malloc(1));
		}
	TXT
	gcc -O0 -fPIC -shared -Wl,-z,initfirst -o "$outside/first.so" "$outside/first.c" || return 1
	mv "$bin/postgres" "$bin/postgres.real"
	cat >"$bin/postgres" <<-TXT
		#!/bin/sh
		LD_PRELOAD="$(gcc -print-file-name=libasan.so) $SRV_WORK/first.so"
		ASAN_OPTIONS=detect_leaks=0
		export LD_PRELOAD ASAN_OPTIONS
		exec "$SRV_BIN/postgres.real" "\$@"
	TXT
	chmod 0755 "$bin/postgres"
}

# srv_build_sanitized
#		Build with the sanitizers and install into the private copy.
srv_build_sanitized()
{
	local flags='-fsanitize=address,undefined -fno-sanitize-recover=undefined -O1 -g'
	local log=$SRV_ROOT$SRV_WORK/build.log status=0

	SRV_MAKE=(with_llvm=no)
	step "building with the address and undefined behaviour sanitizers"
	if ! { srv_make "$log" all COPT="$flags" &&
		srv_make "$log" install COPT="$flags" && srv_instrument; }; then
		show "$log"
		status=1
	fi
	SRV_MAKE=()
	srv_own
	return "$status"
}

# The extension built with the sanitizers, in the stock server.
asan_suites()
{
	local major

	find_major major
	srv_copy "$major"
	if ! srv_build_sanitized; then
		suite "sanitizers, build" false
		return 0
	fi
	suite "sanitizers, PostgreSQL $(srv_version), regression" run_regress
	suite "sanitizers, PostgreSQL $(srv_version), isolation" run_isolation
	TAP_ENV=(CUCKOO_TEST_MUTANTS=20000)
	suite "sanitizers, PostgreSQL $(srv_version), hostile input" run_tap test/t/006_hostile_input.pl
	TAP_ENV=()
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# faults_suites
#		The test of faults in its long form, with a disk that can be filled.
#
# That is a file system in memory, seen by the test's own processes only, so
# that it is gone when these are.
faults_suites()
{
	local major title small TIME_LIMIT=7200
	# shellcheck disable=SC2016
	local mount='mount -t tmpfs -o size=1m,mode=0700,uid=$(id -u postgres) tmpfs "$0" && exec "$@"'

	find_major major
	srv_copy "$major"
	title="PostgreSQL $(srv_version)"
	if ! srv_build; then
		suite "$title, build" false
		return 0
	fi
	TAP_ENV=(CUCKOO_TEST_LONG=1 CUCKOO_TEST_CRASHES=30)
	small=$SRV_WORK/small_disk
	mkdir "$small"
	if unshare -m bash -c "$mount" "$small" true 2>/dev/null; then
		TAP_ENV+=(CUCKOO_SMALL_DISK="$small")
		SRV_ENTER=(unshare -m bash -c "$mount" "$small")
	else
		skip "this machine allows no mounts: nothing was tested with a full disk"
	fi
	suite "$title, faults, long" run_tap test/t/005_faults.pl test/t/002_crash_recovery.pl \
		test/t/008_upkeep_stress.pl
	SRV_ENTER=()
	TAP_ENV=()
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# limits_suites
#		Filters as large as there can be.
#
# What the server and pg_dump take at once for one such value is 6 GB.
limits_suites()
{
	local major title available TIME_LIMIT=7200

	available=$(awk '/^MemAvailable:/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
	if ((available < 6)); then
		skip "the largest filters need 6 GB of memory, and $available are available"
		return 0
	fi
	available=$(df -Pk "${TMPDIR:-/tmp}" | awk 'NR == 2 { print int($4 / 1024 / 1024) }')
	if ((available < 12)); then
		skip "the largest filters need 12 GB of disk, and $available are available"
		return 0
	fi
	find_major major
	srv_copy "$major"
	title="PostgreSQL $(srv_version)"
	if ! srv_build; then
		suite "$title, build" false
		return 0
	fi
	suite "$title, the largest filters" run_tap test/long/limits.pl
	drop_temp "$SRV_ROOT$SRV_WORK"
}

# The whole long tier.
all_suites()
{
	if wanted asan; then
		asan_suites
	fi
	if wanted matrix || wanted upgrade; then
		matrix_suites
	fi
	if wanted endian; then
		suite "big-endian, core" run_big_endian
	fi
	if wanted bits32; then
		case $(dpkg --print-architecture) in
			amd64|i386) bits32_suites ;;
			*) skip "32-bit: only on amd64" ;;
		esac
	fi
	if wanted package; then
		package_suites
	fi
	# what takes longest comes last
	if wanted faults; then
		faults_suites
	fi
	if wanted limits; then
		limits_suites
	fi
}
