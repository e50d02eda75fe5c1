# shellcheck shell=bash disable=SC2016,SC2034,SC2154
#
# package.sh
#		What a user gets: the archive for PGXN, Debian's packages, uninstalling.
#
# The packages are built, installed and removed in chroots in which Debian's
# own tools have run, of the stable releases that the mirror has.  What runs
# there has process numbers, a /proc and a network of its own, so that nothing
# outlives it and nothing is in its way.
#
# Needs common.sh (and its counters), packages.sh, server.sh and matrix.sh.

PACKAGE_SUITES=(bookworm trixie)

# configured_chroot DIR PACKAGES SOURCE
#		As unpack_chroot, but with packages that are installed properly.
configured_chroot()
{
	logged "$1.log" mmdebstrap --mode=root --variant=minbase --include="$2" \
		--aptopt='Acquire::Languages "none"' --aptopt='Apt::Install-Recommends "false"' \
		--essential-hook='mkdir -p "$1/etc/postgresql-common" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"' \
		"" "$1" "$3"
}

# in_chroot DIR USER CMD...
#		Without network, so that its servers have all ports for themselves.
in_chroot()
{
	local dir=$1 user=$2
	shift 2

	unshare --net --mount --pid --fork --kill-child --mount-proc="$dir/proc" \
		sh -c 'ip link set lo up && exec "$@"' - \
		chroot --userspec="$user:$user" "$dir" \
		env -i HOME=/var/lib/postgresql LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# passed WHAT CMD...
#		One test: does the command succeed?
passed()
{
	local what=$1
	shift

	if "$@"; then
		step "ok - $what"
		npassed=$((npassed + 1))
	else
		step "not ok - $what"
		nfailed=$((nfailed + 1))
	fi
}

run_meta()
{
	local status=0 log=$SRV_ROOT$SRV_WORK/meta.log

	logged "$log" srv_as perl src/test/package/check_meta.pl src || status=$?
	name_failed "$log"
	add_counts "$log" || status=1
	return "$status"
}

# run_dist
#		The archive of the last commit builds, passes its tests on a server that
#		runs, as a user's does, and is uninstalled without a trace.
run_dist()
{
	local outside=$SRV_ROOT$SRV_WORK log=$SRV_ROOT$SRV_WORK/dist.log before
	local -x GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'

	if ! need_packages git unzip; then
		return 1
	fi
	mkdir "$outside/dist"
	if ! logged "$log" make -s --no-print-directory -C "$outside/dist" -f "$REPO/Makefile" \
		VPATH="$REPO" PG_CONFIG="$outside${SRV_CONFIG#"$SRV_WORK"}" dist; then
		show "$log"
		return 1
	fi
	rm -rf "$outside/src"
	logged "$log" unzip -q "$outside"/dist/*.zip -d "$outside/dist" || { show "$log"; return 1; }
	mv "$outside"/dist/*/ "$outside/src"
	passed "nothing that only developers need" [ -z "$(find "$outside/src" -maxdepth 1 -name '.*')" ]
	srv_own
	before=$(files_of_copy)
	srv_build || return 1
	srv_start || return 1
	step "make installcheck"
	passed "make installcheck" logged "$log" srv_as env PGHOST="$SRV_WORK/run" PGUSER=postgres \
		make -s --no-print-directory -C src PG_CONFIG="$SRV_CONFIG" installcheck
	((nfailed == 0)) || show "$log"
	count_regress "$log" "$(grep -cE '^(ok|not ok) [0-9]+ |^(test | {5})[^ ].*\.\.\. ' "$log")"
	passed "make uninstall" srv_make "$log" uninstall
	passed "nothing is left of it" [ "$(files_of_copy)" = "$before" ]
	srv_stop
}

# Names of all files of the private server.
files_of_copy()
{
	find "$SRV_ROOT$SRV_WORK/pg/" ! -type d | sort
}

# run_debian SUITE
#		Debian packages: built, tested, installed, used, purged.
run_debian()
{
	local suite=$1 mirror cached work dir home log major deb before

	need_packages mmdebstrap util-linux iproute2 && find_mirror mirror || return 1
	CHROOT_MAKER=configured_chroot
	cached_chroot cached "package-$suite" \
		build-essential,debhelper,libipc-run-perl,libxxhash-dev,postgresql-all,postgresql-server-dev-all \
		"$(source_line "$mirror" "$suite")" || return 1
	CHROOT_MAKER=unpack_chroot
	make_temp work "$CACHE"
	dir=$work/root
	log=$work/log
	cp -a "$cached" "$dir"
	home=$dir/var/lib/postgresql
	mkdir -p "$dir/dev/shm"
	chmod 1777 "$dir/dev/shm"
	copy_source "$home/src"
	chroot "$dir" chown -R postgres:postgres /var/lib/postgresql

	step "make deb, which runs the tests on a server of $suite"
	passed "packages are built" logged "$log" in_chroot "$dir" postgres make -C /var/lib/postgresql/src deb
	if ((nfailed > 0)); then
		show "$log"
		return 1
	fi
	count_regress "$log" "$(grep -cE '^(ok|not ok) [0-9]+ |^(test | {5})[^ ].*\.\.\. ' "$log")"
	deb=$(cd "$home" && ls postgresql-*-cuckoo-filter_*.deb)
	major=${deb#postgresql-}
	major=${major%%-*}

	before=$(files_of_chroot "$dir")
	passed "$deb is installed" logged "$log" in_chroot "$dir" root apt-get install -y "/var/lib/postgresql/$deb"
	((nfailed == 0)) || show "$log"
	passed "its documents are there" [ -f "$dir/usr/share/doc/postgresql-$major-cuckoo-filter/README.md" ] ||
		ls "$dir/usr/share/doc/postgresql-$major-cuckoo-filter" || true
	cat >"$home/query.sql" <<-TXT
		CREATE EXTENSION cuckoo_filter;
		SELECT 'answers ' || (f @> 17) || ' ' || (f @> 20001) FROM (SELECT cf_agg(i) AS f FROM generate_series(1, 10000) i) x;
	TXT
	passed "CREATE EXTENSION and a query" logged "$log" in_chroot "$dir" postgres \
		sh -c "NONROOT=1 pg_virtualenv -v $major psql -XqAt -v ON_ERROR_STOP=1 -f /var/lib/postgresql/query.sql"
	passed "the answers are right" grep -qx 'answers true false' "$log"
	((nfailed == 0)) || show "$log"
	passed "it is purged" logged "$log" in_chroot "$dir" root apt-get purge -y "postgresql-$major-cuckoo-filter"
	passed "nothing is left of it" [ "$(files_of_chroot "$dir")" = "$before" ]
	((nfailed == 0)) || { diff <(printf '%s\n' "$before") <(files_of_chroot "$dir") || true; }
	drop_temp "$work"
}

# files_of_chroot DIR
#		Names of all files that a package could have brought.
files_of_chroot()
{
	(cd "$1" && find etc usr var/lib/postgresql -path var/lib/postgresql/src -prune -o ! -type d -print | grep -v '^var/lib/postgresql/[^/]*$' | sort)
}

package_suites()
{
	local major suite

	find_major major
	srv_copy "$major"
	suite "META.json" run_meta
	if [ -d "$REPO/.git" ] || [ -f "$REPO/.git" ]; then
		suite "the archive of make dist" run_dist
	else
		skip "make dist: the sources are not a git repository"
	fi
	drop_temp "$SRV_ROOT$SRV_WORK"
	for suite in "${PACKAGE_SUITES[@]}"; do
		suite "Debian packages, $suite" run_debian "$suite"
	done
}
