# shellcheck shell=bash
#
# packages.sh
#		Debian packages, installed only where they are missing.
#
# Needs common.sh.

have_package()
{
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need_packages PACKAGE...
#		Install what is missing.  A server that comes with it gets no cluster,
#		and none of the clusters already here is started or stopped.
need_packages()
{
	local package missing=() log shims

	for package in "$@"; do
		have_package "$package" || missing+=("$package")
	done
	((${#missing[@]})) || return 0

	step "installing ${missing[*]}"
	make_temp shims
	log=$shims/log
	# Debian's server package creates a cluster and starts all there are.  Its
	# scripts find these two commands by the path that apt gives them.
	printf '#!/bin/sh\nexit 0\n' >"$shims/pg_createcluster"
	cp "$shims/pg_createcluster" "$shims/invoke-rc.d"
	chmod 0755 "$shims/pg_createcluster" "$shims/invoke-rc.d"
	if ! { update_lists "$log" && apt_install "$log" "$shims" "${missing[@]}"; }; then
		show "$log"
		return 1
	fi
	rm -rf "$shims"
}

# apt_install LOG SHIMS PACKAGE...
#		The commands in SHIMS stand in front of the system's.
apt_install()
{
	local log=$1 shims=$2
	shift 2

	ask_root
	logged "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 -o DPkg::Path="$shims:/usr/sbin:/usr/bin:/sbin:/bin" \
		install --no-install-recommends --no-remove "$@"
}

# update_lists LOG
#		apt-get update, once in a run.
LISTS_UPDATED=no
update_lists()
{
	[ "$LISTS_UPDATED" = no ] || return 0
	ask_root
	logged "$1" as_root apt-get -q -o DPkg::Lock::Timeout=300 update || return 1
	LISTS_UPDATED=yes
}

# has_server MAJOR [ROOT]
#		Are the server and the files to build for it there?
has_server()
{
	[ -x "${2:-}/usr/lib/postgresql/$1/bin/postgres" ] &&
		[ -f "${2:-}/usr/lib/postgresql/$1/lib/pgxs/src/makefiles/pgxs.mk" ]
}

# find_major VAR
#		The server to test with: $PG_MAJOR if set, else the newest one that is
#		completely installed, else the one that the distribution has.
find_major()
{
	local found='' dir log

	if [ -n "${PG_MAJOR:-}" ]; then
		printf -v "$1" '%s' "$PG_MAJOR"
		return
	fi
	for dir in /usr/lib/postgresql/*; do
		dir=${dir##*/}
		if [[ $dir =~ ^[0-9]+$ ]] && has_server "$dir" &&
			((dir >= 15 && dir > ${found:-0})); then
			found=$dir
		fi
	done
	if [ -z "$found" ]; then
		make_temp log
		update_lists "$log/log" || { show "$log/log"; return 1; }
		found=$(apt-cache show postgresql |
			sed -n 's/^Depends:.*[ ,]postgresql-\([0-9][0-9]*\).*/\1/p' | sort -n | tail -n 1)
	fi
	[ -n "$found" ] || die "the distribution has no PostgreSQL server"
	printf -v "$1" '%s' "$found"
}

# say_cluster MAJOR
#		The packages are here: how to come to a server of one's own.
say_cluster()
{
	local cluster

	say ""
	for cluster in /etc/postgresql/"$1"/*/; do
		if [ -d "$cluster" ]; then
			cluster=$(basename "$cluster")
			say "pg_lsclusters lists your servers; pg_ctlcluster $1 $cluster start starts one that is down."
			return
		fi
	done
	say "The packages of PostgreSQL $1 are installed now, a server for you is not.  To make one:"
	say "  pg_createcluster $1 main --start    (pg_ctlcluster $1 main start starts one that is down)"
}

# need_server MAJOR
#		What building for a server and testing, with and without it, need.
need_server()
{
	need_packages gcc libc6-dev make libxxhash-dev perl libipc-run-perl \
		"postgresql-$1" "postgresql-server-dev-$1"
}

# find_clang VAR
#		Name of the newest clang here, or nothing.
find_clang()
{
	local found=''

	if command -v clang >/dev/null; then
		found=clang
	else
		found=$(compgen -c clang- | grep -E '^clang-[0-9]+$' | sort -t- -k2 -n | tail -n 1) || true
	fi
	printf -v "$1" '%s' "$found"
}
